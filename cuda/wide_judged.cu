/*-------------------------------------------------------------------------
 *
 * wide_judged.cu
 *	  Lists by programs, for keys of 16 bytes; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide.cuh"

#include "ranges_judged.cu"
