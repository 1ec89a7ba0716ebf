/*-------------------------------------------------------------------------
 *
 * wide_groups.cu
 *	  Programs with groups, for keys of 16 bytes; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide.cuh"

#include "ranges_groups.cu"
