/* CUB's inclusive prefix sum; part of the emulated CUDA. */
#ifndef GPB_EMULATED_SCAN_CUH
#define GPB_EMULATED_SCAN_CUH

#include "cuda_runtime.h"

namespace cub
{
struct DeviceScan
{
	/* The sums are of the input's type, as CUB's are. */
	template <typename T>
	static cudaError_t
	InclusiveSum(void *temporary, size_t &size, const T *in, T *out, int n, cudaStream_t stream)
	{
		if (temporary == nullptr)
		{
			size = 1;
			return cudaSuccess;
		}
		emulated_submit(stream, [=]()
		{
			T			sum = 0;

			for (int i = 0; i < n; i++)
				out[i] = sum += in[i];
		});
		return cudaPeekAtLastError();
	}
};
}

#endif							/* GPB_EMULATED_SCAN_CUH */
