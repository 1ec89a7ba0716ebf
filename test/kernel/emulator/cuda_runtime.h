/*-------------------------------------------------------------------------
 *
 * cuda_runtime.h
 *	  As much of CUDA as cuda/ uses, on the CPU, for its tests.
 *
 * A compiler that finds this file in place of CUDA's own makes an ordinary library of
 * cuda/: each thread of a block is a fiber, a warp's collective operations are
 * meetings of its 32 fibers, and "device memory" comes from malloc, so that the address
 * sanitizer sees every kernel's every access.  It is stricter than a GPU where it
 * can be: lanes that meet in different operations, or not at all, end the
 * program; memory starts as garbage; and work submitted to a stream is done as late as
 * possible, when something waits for it, so that memory given up or overwritten too
 * early shows.  Speed is no aim.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_EMULATED_CUDA_RUNTIME_H
#define GPB_EMULATED_CUDA_RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Kernels and emulator are one library, and reach each other without its tables. */
#pragma GCC visibility push(hidden)

/* ---- the language ---- */

#define __CUDACC__
#define __host__
#define __device__
#define __global__
#define __shared__		static
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__	__attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n)	__attribute__((aligned(n)))

struct dim3
{
	unsigned	x,
				y,
				z;
	dim3(unsigned x_ = 1): x(x_), y(1), z(1) {}
};

/* Whole sectors of pages are read as these, whatever lies there. */
struct __attribute__((may_alias, aligned(8))) uint2
{
	uint32_t	x,
				y;
};

struct __attribute__((may_alias, aligned(16))) uint4
{
	uint32_t	x,
				y,
				z,
				w;
};

/* Of the fiber that runs */
extern dim3 threadIdx;
extern dim3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

/* ---- within a warp and a block ---- */

/* All 32 lanes come with the same operation; each leaves a value and sees all. */
const uint64_t *emulated_meet(int operation, uint32_t mask, uint64_t value);
/* All 32 lanes come with a vote; returns those of all, that of lane 0 lowest. */
uint32_t	emulated_vote(int operation, uint32_t mask, bool vote);
void		__syncthreads(void);
/* Others may run now.  "waits" says that the fiber may have to wait for one of them. */
void		emulated_let_others_run(bool waits);

static inline void
__syncwarp(uint32_t mask = 0xFFFFFFFFu)
{
	emulated_meet(1, mask, 0);
}

template <typename T>
static inline T
emulated_take(int operation, uint32_t mask, T value, unsigned from)
{
	uint64_t	bits = 0;
	T			result;

	memcpy(&bits, &value, sizeof(T));
	bits = emulated_meet(operation, mask, bits)[from % 32];
	memcpy(&result, &bits, sizeof(T));
	return result;
}

template <typename T>
static inline T
__shfl_sync(uint32_t mask, T value, int lane)
{
	return emulated_take(2, mask, value, lane);
}

template <typename T>
static inline T
__shfl_xor_sync(uint32_t mask, T value, int lanes)
{
	return emulated_take(3, mask, value, (threadIdx.x % 32) ^ lanes);
}

static inline uint32_t
__ballot_sync(uint32_t mask, bool vote)
{
	return emulated_vote(4, mask, vote);
}

static inline int
__any_sync(uint32_t mask, bool vote)
{
	return __ballot_sync(mask, vote) != 0;
}

static inline int __popc(uint32_t x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned) x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long) x); }
static inline int __ffs(uint32_t x) { return __builtin_ffs((int) x); }
static inline int min(int a, int b) { return a < b ? a : b; }

/*
 * CUDA's atomics and loads that name a cache are of words of these widths, whatever type the program
 * has there: int64 is long, and never long long.
 */
template <typename T>
struct EmulatedWord
{
	typedef T	type __attribute__((may_alias));
};

template <typename T>
static inline T
emulated_load(const T *from)
{
	return *(const typename EmulatedWord<T>::type *) from;
}

static inline uint2 __ldcs(const uint2 *from) { return *from; }
static inline uint4 __ldcs(const uint4 *from) { return *from; }
static inline uint32_t __ldca(const uint32_t *from) { return emulated_load(from); }
static inline long long __ldcg(const long long *from) { return emulated_load(from); }

template <typename T>
static inline T
atomicAdd(T *address, T value)
{
	typename EmulatedWord<T>::type *into = address;
	T			before = *into;

	*into = before + value;
	return before;
}

static inline void
atomicMin(long long *address, long long value)
{
	EmulatedWord<long long>::type *into = address;

	*into = value < *into ? value : *into;
}

static inline void
atomicMax(long long *address, long long value)
{
	EmulatedWord<long long>::type *into = address;

	*into = value > *into ? value : *into;
}

template <typename T>
static inline T
atomicOr(T *address, T value)
{
	typename EmulatedWord<T>::type *into = address;
	T			before = *into;

	*into = before | value;
	return before;
}

static inline void
atomicAnd(unsigned long long *address, unsigned long long value)
{
	EmulatedWord<unsigned long long>::type *into = address;

	*into &= value;
}

static inline void
atomicXor(unsigned long long *address, unsigned long long value)
{
	EmulatedWord<unsigned long long>::type *into = address;

	*into ^= value;
}

static inline uint32_t
atomicCAS(uint32_t *address, uint32_t expected, uint32_t value)
{
	EmulatedWord<uint32_t>::type *into = address;
	uint32_t	before = *into;

	if (before == expected)
		*into = value;
	else
		emulated_let_others_run(true);
	return before;
}

static inline unsigned long long
atomicCAS(unsigned long long *address, unsigned long long expected, unsigned long long value)
{
	EmulatedWord<unsigned long long>::type *into = address;
	unsigned long long before = *into;

	if (before == expected)
		*into = value;
	return before;
}

static inline void
atomicExch(uint32_t *address, uint32_t value)
{
	EmulatedWord<uint32_t>::type *into = address;

	*into = value;
}

/* Who orders what others may read or write meanwhile finds that they did. */
static inline void __threadfence(void) { emulated_let_others_run(false); }

/* ---- the runtime ---- */

enum cudaError_t
{
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInvalidDevice = 101,
	cudaErrorNotReady = 600,
	cudaErrorHostMemoryAlreadyRegistered = 712,
	cudaErrorLaunchFailure = 719
};

enum cudaMemcpyKind
{
	cudaMemcpyHostToDevice = 1,
	cudaMemcpyDeviceToHost = 2,
	cudaMemcpyDeviceToDevice = 3
};

#define cudaHostAllocDefault		0
#define cudaHostRegisterDefault		0
#define cudaEventDefault			0
#define cudaEventDisableTiming		2
#define cudaStreamNonBlocking		1

typedef struct EmulatedStream *cudaStream_t;
typedef struct EmulatedEvent *cudaEvent_t;

struct cudaDeviceProp
{
	char		name[256];
	int			major;
	int			minor;
	int			multiProcessorCount;
};

struct cudaLaunchConfig_t
{
	dim3		gridDim;
	dim3		blockDim;
	size_t		dynamicSmemBytes;
	cudaStream_t stream;
};

cudaError_t cudaSetDevice(int ordinal);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int ordinal);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

cudaError_t cudaMalloc(void **data, size_t size);
cudaError_t cudaFree(void *data);
cudaError_t cudaHostAlloc(void **data, size_t size, unsigned flags);
cudaError_t cudaFreeHost(void *data);
cudaError_t cudaHostRegister(void *base, size_t size, unsigned flags);
cudaError_t cudaHostUnregister(void *base);
cudaError_t cudaMemcpyAsync(void *into, const void *from, size_t size, cudaMemcpyKind kind,
							cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *into, int value, size_t size, cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);

/*
 * The n-th CUDA call from now on, of those that can, fails: for want of memory, as any call
 * that submits or allocates may; or with an error that stays, of which any call
 * may tell.  0: none does, and an error that stayed is forgotten.  For tests, by dlsym.
 */
extern "C" __attribute__((visibility("default"))) void emulated_fail(int n, bool lost);
/* Has it? */
extern "C" __attribute__((visibility("default"))) bool emulated_has_failed(void);
/* Allocations, streams and events that were not given back */
extern "C" __attribute__((visibility("default"))) long emulated_live(void);
/*
 * From now on threads run in orders that follow from the seed and from what is launched, so that a
 * test run alone finds the same ones.  For tests, by dlsym.
 */
extern "C" __attribute__((visibility("default"))) void emulated_begin_test(unsigned seed);

cudaError_t emulated_begin_submission(void);

/* What is done later or often: a function of no arguments, like std::function, which compiles slowly */
struct EmulatedWork
{
	virtual ~EmulatedWork() {}
	virtual void run() = 0;
};

template <typename Function>
struct EmulatedFunction: EmulatedWork
{
	Function	function;

	EmulatedFunction(const Function &function_): function(function_) {}
	void run() override { function(); }
};

/* The stream deletes the work when it is done. */
void		emulated_submit_work(cudaStream_t stream, EmulatedWork *work);
void		emulated_grid(unsigned blocks, unsigned threads, EmulatedWork *kernel);

template <typename Function>
static inline void
emulated_submit(cudaStream_t stream, const Function &work)
{
	emulated_submit_work(stream, new EmulatedFunction<Function>(work));
}

template <typename... Parameters, typename... Arguments>
static inline cudaError_t
cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel) (Parameters...),
				   Arguments... arguments)
{
	unsigned	blocks = config->gridDim.x;
	unsigned	threads = config->blockDim.x;
	cudaError_t error = emulated_begin_submission();

	if (error != cudaSuccess)
		return error;
	emulated_submit(config->stream, [=]()
	{
		auto		call = [&]() { kernel(arguments...); };
		EmulatedFunction<decltype(call)> thread(call);

		emulated_grid(blocks, threads, &thread);
	});
	return cudaSuccess;
}

template <typename Kernel>
static inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel, int, size_t)
{
	*blocks = 2;
	return cudaSuccess;
}

#pragma GCC visibility pop

#endif							/* GPB_EMULATED_CUDA_RUNTIME_H */
