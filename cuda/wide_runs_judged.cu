/*-------------------------------------------------------------------------
 *
 * wide_runs_judged.cu
 *	  ranges_judged.cu for keys of 16 bytes, in leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide_runs.cuh"

#include "ranges_judged.cu"
