/*-------------------------------------------------------------------------
 *
 * wide_runs_short.cu
 *	  ranges_short.cu for keys of 16 bytes, in leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide_runs.cuh"

#include "ranges_short.cu"
