/*-------------------------------------------------------------------------
 *
 * wide_runs_long.cu
 *	  ranges_long.cu for keys of 16 bytes, in leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide_runs.cuh"

#include "ranges_long.cu"
