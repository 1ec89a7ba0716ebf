/*-------------------------------------------------------------------------
 *
 * wide_positions.cu
 *	  The positions of searched keys in leaves, for keys of 16 bytes; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide.cuh"

#include "positions.cu"
