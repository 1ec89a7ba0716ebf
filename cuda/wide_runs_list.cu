/*-------------------------------------------------------------------------
 *
 * wide_runs_list.cu
 *	  ranges_list.cu for keys of 16 bytes, in leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide_runs.cuh"

#include "ranges_list.cu"
