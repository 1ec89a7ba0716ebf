/*-------------------------------------------------------------------------
 *
 * runs.cuh
 *	  What runs_*.cu include first: rows have 8 bytes, and leaves may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RUNS_CUH
#define GPB_RUNS_CUH

#define GPB_CUDA_RUNS

#include "forms.cuh"

#endif							/* GPB_RUNS_CUH */
