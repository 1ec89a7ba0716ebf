/*-------------------------------------------------------------------------
 *
 * cub.cuh
 *	  CUB's sort and prefix sum, see cub.cu.
 *
 * Each is called twice: without temporary memory it only sets *size to how much of it the call
 * takes, and submits nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CUB_CUH
#define GPB_CUB_CUH

#include "device.cuh"

/*
 * Submit a stable sort of n keys, and a number with each, by the bits [first_bit, end_bit).  Keys
 * are of the types of GPB_BY_KEY_WIDTH.
 */
template <typename Key>
cudaError_t gpb_cub_sort(void *temporary, size_t *size, const Key *keys, Key *sorted,
						 const uint32 *numbers, uint32 *sorted_numbers, uint32 n, int first_bit,
						 int end_bit, cudaStream_t stream);

/* Submit the inclusive prefix sum of n words, in place. */
cudaError_t gpb_cub_sums(void *temporary, size_t *size, uint64 *sums, uint64 n,
						 cudaStream_t stream);

#endif							/* GPB_CUB_CUH */
