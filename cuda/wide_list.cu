/*-------------------------------------------------------------------------
 *
 * wide_list.cu
 *	  Lists of all entries, for keys of 16 bytes; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide.cuh"

#include "ranges_list.cu"
