/*-------------------------------------------------------------------------
 *
 * cub.cu
 *	  CUB's sort and prefix sum, for all who need them.
 *
 * No other source includes CUB: to read its headers takes nvcc ten times as long as all of this
 * project's, and to make one sort twice would leave both in the object.
 *
 *-------------------------------------------------------------------------
 */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "cub.cuh"

template <typename Key>
cudaError_t
gpb_cub_sort(void *temporary, size_t *size, const Key *keys, Key *sorted, const uint32 *numbers,
			 uint32 *sorted_numbers, uint32 n, int first_bit, int end_bit, cudaStream_t stream)
{
	return cub::DeviceRadixSort::SortPairs(temporary, *size, keys, sorted, numbers,
										   sorted_numbers, n, first_bit, end_bit, stream);
}

#define GPB_SORT_OF(Key) \
	template cudaError_t gpb_cub_sort(void *, size_t *, const Key *, Key *, const uint32 *, \
									  uint32 *, uint32, int, int, cudaStream_t)

GPB_SORT_OF(uint32);
GPB_SORT_OF(uint64);
GPB_SORT_OF(uint128);

cudaError_t
gpb_cub_sums(void *temporary, size_t *size, uint64 *sums, uint64 n, cudaStream_t stream)
{
	return cub::DeviceScan::InclusiveSum(temporary, *size, sums, sums, (int) n, stream);
}
