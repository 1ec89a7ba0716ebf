/*-------------------------------------------------------------------------
 *
 * wide_program.cu
 *	  Programs without groups, for keys of 16 bytes; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide.cuh"

#include "ranges_program.cu"
