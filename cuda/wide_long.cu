/*-------------------------------------------------------------------------
 *
 * wide_long.cu
 *	  A pass over the items of ranges that touch several leaves, for keys of 16 bytes; see
 *	  forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide.cuh"

#include "ranges_long.cu"
