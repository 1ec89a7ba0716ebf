/*-------------------------------------------------------------------------
 *
 * wide_locate.cu
 *	  The kernels before the passes of a request and after them, for keys of 16 bytes; see
 *	  forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide.cuh"

#include "ranges_locate.cu"
