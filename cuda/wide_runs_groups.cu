/*-------------------------------------------------------------------------
 *
 * wide_runs_groups.cu
 *	  ranges_groups.cu for keys of 16 bytes, in leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide_runs.cuh"

#include "ranges_groups.cu"
