/*-------------------------------------------------------------------------
 *
 * ranks.cuh
 *	  Ranks of entries as the kernels compare them; see ranges_judged.cu and ranks.cu.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANKS_CUH
#define GPB_RANKS_CUH

#include "program.cuh"

/* Ranks are compared as signed integers here, for which there are atomic functions. */
static __device__ __forceinline__ long long
gpb_signed_rank(uint64 rank)
{
	return (long long) (rank ^ (uint64) 1 << 63);
}

#endif							/* GPB_RANKS_CUH */
