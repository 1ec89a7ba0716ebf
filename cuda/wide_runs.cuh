/*-------------------------------------------------------------------------
 *
 * wide_runs.cuh
 *	  What wide_runs_*.cu include first: keys have 16 bytes, and leaves may have runs; see
 *	  forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_WIDE_RUNS_CUH
#define GPB_WIDE_RUNS_CUH

#define GPB_CUDA_WIDE
#define GPB_CUDA_RUNS

#include "forms.cuh"

#endif							/* GPB_WIDE_RUNS_CUH */
