/* CUB's sort of pairs; part of the emulated CUDA. */
#ifndef GPB_EMULATED_RADIX_SORT_CUH
#define GPB_EMULATED_RADIX_SORT_CUH

#include <algorithm>
#include <vector>

#include "cuda_runtime.h"

namespace cub
{
struct DeviceRadixSort
{
	template <typename Key, typename Value>
	static cudaError_t
	SortPairs(void *temporary, size_t &size, const Key *keys_in, Key *keys_out,
			  const Value *values_in, Value *values_out, unsigned n, int first_bit, int end_bit,
			  cudaStream_t stream)
	{
		if (temporary == nullptr)
		{
			size = 1;
			return cudaSuccess;
		}
		/* CUB has no passes for bits that a key has not */
		if (first_bit < 0 || first_bit > end_bit || end_bit > (int) sizeof(Key) * 8)
			return cudaErrorInvalidValue;
		cudaError_t error = emulated_begin_submission();

		if (error != cudaSuccess)
			return error;
		emulated_submit(stream, [=]()
		{
			Key			mask = end_bit < (int) sizeof(Key) * 8 ? ((Key) 1 << end_bit) - 1 : ~(Key) 0;
			std::vector<unsigned> order(n);

			for (unsigned i = 0; i < n; i++)
				order[i] = i;
			std::stable_sort(order.begin(), order.end(), [=](unsigned a, unsigned b)
			{
				return (keys_in[a] & mask) >> first_bit < (keys_in[b] & mask) >> first_bit;
			});
			for (unsigned i = 0; i < n; i++)
			{
				keys_out[i] = keys_in[order[i]];
				values_out[i] = values_in[order[i]];
			}
		});
		return cudaPeekAtLastError();
	}
};
}

#endif							/* GPB_EMULATED_RADIX_SORT_CUH */
