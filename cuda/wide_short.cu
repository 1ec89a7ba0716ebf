/*-------------------------------------------------------------------------
 *
 * wide_short.cu
 *	  A pass over ranges within one leaf, for keys of 16 bytes; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide.cuh"

#include "ranges_short.cu"
