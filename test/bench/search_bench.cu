/*-------------------------------------------------------------------------
 *
 * search_bench.cu
 *	  The search engine's kernels, measured beside thrust and a sorted array.
 *
 * usage: search_bench LIBRARY [all|engine|bits|groups|refresh|host] [log2 of keys]...
 *
 * Builds trees over 2^20 .. 2^27 separators (or as told) of each key width, from level-1
 * pages as an index has them, and searches them for keys of several distributions
 * that lie in device memory.  Times are medians of events around each way; every
 * result of every way is verified, on the device, against the sorted keys.
 *
 *-------------------------------------------------------------------------
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>
#include <thrust/binary_search.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>

#include "../../cuda/bench.h"

typedef unsigned __int128 uint128;

#define ROUNDS			5
#define QUERIES			100000000u
#define THREADS			16
#define EPOCH			1

static const GpbDeviceApi *api;
static GpbResidentSearch search_resident;
static GpbChooseChunk choose_chunk;
static GpbDevice *device;

static void
check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}

static void
check_status(GpbDeviceStatus status, const char *what)
{
	if (status == GPB_DEVICE_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, api->last_error(device));
	exit(1);
}

#define CUDA(call) check(call, #call)

/* ---- keys ---- */

enum Distribution
{
	UNIFORM,
	NORMAL,
	GAMMA,
	ZIPF,
	SORTED,
	DISTRIBUTIONS
};

static const char *const distribution_name[] = {"uniform", "normal", "gamma", "zipf", "sorted"};

__host__ __device__ static inline uint64
mix(uint64 x)
{
	x += 0x9E3779B97F4A7C15ul;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ul;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBul;
	return x ^ (x >> 31);
}

/* In (0, 1) */
__host__ __device__ static inline double
unit(uint64 random)
{
	return ((double) (random >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}

/* In [0, 1): where in the domain the quantile p of the distribution lies */
__host__ __device__ static inline double
quantile(int distribution, double p)
{
	double		t;
	double		z;

	if (distribution != NORMAL && distribution != GAMMA)
		return p;
	/* the normal quantile, after Abramowitz and Stegun 26.2.23: close enough for a shape */
	t = sqrt(-2.0 * log(p < 0.5 ? p : 1.0 - p));
	z = t - (2.515517 + 0.802853 * t + 0.010328 * t * t) /
		(1.0 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
	if (p < 0.5)
		z = -z;
	if (distribution == GAMMA)
	{
		/* shape 2, Wilson and Hilferty's cube */
		double		g = 2.0 * pow(1.0 - 1.0 / 18.0 + z / sqrt(18.0), 3.0);

		g = g < 0 ? 0 : g / 40.0;
		return g >= 1 ? 0.9999999 : g;
	}
	z = 0.5 + z / 14.0;
	return z < 0 ? 0 : z >= 1 ? 0.9999999 : z;
}

/* A place in the domain and what tells keys of one place apart, both in [0, 1) */
template <typename Key>
__host__ __device__ static inline Key
key_at(double place, double within)
{
	uint64		top = (uint64) (place * 18014398509481984.0) << 10 | (uint64) (within * 1024);

	if constexpr (sizeof(Key) == 16)
		return (Key) top << 64 | (Key) (within * 9007199254740992.0) << 11;
	else
		return (Key) (top >> (64 - sizeof(Key) * 8));
}

/* Keys of the tree ascend: key i of n is drawn from the i-th of n equal parts. */
template <typename Key>
static Key
tree_key(int distribution, uint64 i, uint64 n)
{
	uint64		random = mix(i * 7919 + 11);

	return key_at<Key>(quantile(distribution, ((double) i + unit(random)) / (double) n),
					   (double) i / (double) n);
}

template <typename Key>
static __global__ void
make_queries(Key *query, uint32 n, int distribution, const Key *tree, uint32 tree_keys,
			 uint64 seed)
{
	uint32		i = blockIdx.x * blockDim.x + threadIdx.x;
	uint64		random = mix(i + seed);

	if (i >= n)
		return;
	if (distribution == ZIPF)
	{
		/* rank r with probability about 1 / r, ranks scattered over the tree */
		double		rank = exp(unit(random) * log((double) tree_keys));

		query[i] = tree[mix((uint64) rank) % tree_keys];
	}
	else if (distribution == SORTED)
		query[i] = key_at<Key>(((double) i + 0.5) / n, unit(random));
	else
		query[i] = key_at<Key>(quantile(distribution, unit(random)), unit(mix(random)));
}

/* ---- the tree ---- */

template <typename Key>
struct PageJob
{
	char	   *pages;
	uint32	   *counts;
	Key		   *keys;
	uint64		n;
	uint32		per_page;
	uint32		first_page;
	uint32		end_page;
	int			distribution;
};

/* Level-1 pages first_page .. end_page, full; separator i's child is block i. */
template <typename Key>
static void *
write_pages(void *argument)
{
	PageJob<Key> *job = (PageJob<Key> *) argument;

	for (uint32 p = job->first_page; p < job->end_page; p++)
	{
		char	   *page = job->pages + (size_t) p * GPB_PAGE_SIZE;
		uint64		first = (uint64) p * job->per_page;
		uint32		count = (uint32) (job->n - first < job->per_page ? job->n - first :
									  job->per_page);

		memset(page, 0, GPB_PAGE_SIZE);
		for (uint32 i = 0; i < count; i++)
		{
			Key			key = tree_key<Key>(job->distribution, first + i, job->n);
			char	   *row = page + GPB_SPECIAL_OFFSET - (i + 1) * GPB_INNER_ROW_WIDTH;
			uint64		locator = (uint64) (i + 1);
			uint32		child = (uint32) (first + i);

			if (first + i == 0)
				key = 0;
			job->keys[first + i] = key;
			memcpy(page + GPB_PAGE_HEADER + (sizeof(Key) == GPB_WIDE_KEY ? GPB_WIDE_HALVES : 0) +
				   i * sizeof(Key), &key, sizeof(Key));
			memcpy(row, &locator, sizeof(locator));
			memcpy(row + GPB_LOCATOR_WIDTH, &child, sizeof(child));
		}
		job->counts[p] = count;
	}
	return NULL;
}

template <typename Key>
struct Tree
{
	GpbDeviceMirror *mirror;
	uint32		n;
	Key		   *keys;			/* on the device, sorted */
	uint32		npages;
	uint32	   *blocks;
	uint32	   *counts;
	char	   *pages;			/* pinned */
	double		build_ms;
};

template <typename Key>
static void
fill_pages(Tree<Key> *tree, int distribution)
{
	uint32		per_page = (uint32) gpb_page_capacity(sizeof(Key), GPB_INNER_ROW_WIDTH);
	pthread_t	thread[THREADS];
	PageJob<Key> job[THREADS];
	Key		   *keys = (Key *) malloc((size_t) tree->n * sizeof(Key));

	tree->npages = (tree->n + per_page - 1) / per_page;
	tree->blocks = (uint32 *) malloc(tree->npages * sizeof(uint32));
	tree->counts = (uint32 *) malloc(tree->npages * sizeof(uint32));
	CUDA(cudaHostAlloc((void **) &tree->pages, (size_t) tree->npages * GPB_PAGE_SIZE, 0));
	for (uint32 i = 0; i < tree->npages; i++)
		tree->blocks[i] = i + 1;
	for (int t = 0; t < THREADS; t++)
	{
		job[t] = {tree->pages, tree->counts, keys, tree->n, per_page,
			(uint32) ((uint64) tree->npages * t / THREADS),
			(uint32) ((uint64) tree->npages * (t + 1) / THREADS), distribution};
		pthread_create(&thread[t], NULL, write_pages<Key>, &job[t]);
	}
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	CUDA(cudaMalloc((void **) &tree->keys, (size_t) tree->n * sizeof(Key)));
	CUDA(cudaMemcpy(tree->keys, keys, (size_t) tree->n * sizeof(Key), cudaMemcpyHostToDevice));
	free(keys);
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

template <typename Key>
static void
set_inner(Tree<Key> *tree)
{
	check_status(api->set_inner(device, tree->mirror, tree->npages, tree->blocks, tree->counts,
								0), "set_inner");
	check_status(api->upload_wait(device), "upload_wait");
}

template <typename Key>
static Tree<Key>
build(uint32 n, int distribution)
{
	Tree<Key>	tree = {};
	GpbLayout	layout = {};
	double		start;

	tree.n = n;
	fill_pages(&tree, distribution);
	layout.key_width = sizeof(Key);
	layout.row_width = GPB_LOCATOR_WIDTH;
	layout.key_kind = GPB_KIND_INT8;
	check_status(api->mirror_create(device, &layout, &tree.mirror), "mirror_create");
	for (uint32 i = 0; i < tree.npages; i += 8192)
		check_status(api->upload(device, tree.mirror,
								 (int) (tree.npages - i < 8192 ? tree.npages - i : 8192),
								 tree.blocks + i, tree.pages + (size_t) i * GPB_PAGE_SIZE, EPOCH),
					 "upload");
	check_status(api->upload_wait(device), "upload_wait");
	start = now_ms();
	set_inner(&tree);
	tree.build_ms = now_ms() - start;
	return tree;
}

template <typename Key>
static void
destroy(Tree<Key> *tree)
{
	api->mirror_destroy(device, tree->mirror);
	CUDA(cudaFree(tree->keys));
	CUDA(cudaFreeHost(tree->pages));
	free(tree->blocks);
	free(tree->counts);
}

/* ---- verifying and timing ---- */

static uint32 *wrong;			/* pinned */

/* Is result i the last separator below its key, or the first? */
template <typename Key>
static __global__ void
verify(const Key *query, uint32 n, const Key *keys, uint32 nkeys, const uint32 *permutation,
	   const uint32 *result, uint32 *wrong)
{
	uint32		i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
	{
		Key			key = query[permutation != NULL ? permutation[i] : i];
		uint32		r = result[i];

		if (r >= nkeys || (r > 0 && keys[r] >= key) || (r + 1 < nkeys && keys[r + 1] < key))
			atomicAdd(wrong, 1u);
	}
}

/* Every key just once */
static __global__ void
count_permutation(const uint32 *permutation, uint32 n, uint32 *seen)
{
	uint32		i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		atomicAdd(&seen[permutation[i]], 1u);
}

static __global__ void
check_permutation(const uint32 *seen, uint32 n, uint32 *wrong)
{
	uint32		i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n && seen[i] != 1)
		atomicAdd(wrong, 1u);
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static double
median(double *values, int n)
{
	qsort(values, n, sizeof(double), compare_doubles);
	return values[n / 2];
}

template <typename Key>
struct Bench
{
	Tree<Key>	tree;
	Key		   *query;
	uint32	   *result;
	uint32	   *permutation;
	uint32	   *seen;
	int			distribution;
};

#define BLOCKS(n)	(((n) + 255) / 256)

template <typename Key>
static void
verify_results(Bench<Key> *bench, bool permuted, bool lower_bound, const char *what)
{
	*wrong = 0;
	CUDA(cudaDeviceSynchronize());
	if (!lower_bound)
		verify<<<BLOCKS(QUERIES), 256>>>(bench->query, QUERIES, bench->tree.keys, bench->tree.n,
										 permuted ? bench->permutation : NULL, bench->result,
										 wrong);
	if (permuted)
	{
		CUDA(cudaMemset(bench->seen, 0, QUERIES * sizeof(uint32)));
		count_permutation<<<BLOCKS(QUERIES), 256>>>(bench->permutation, QUERIES, bench->seen);
		check_permutation<<<BLOCKS(QUERIES), 256>>>(bench->seen, QUERIES, wrong);
	}
	CUDA(cudaDeviceSynchronize());
	if (*wrong != 0)
	{
		printf("%s: %u results are WRONG\n", what, *wrong);
		exit(1);
	}
}

/* One way, in G keys/s; -1: it can't be done. */
template <typename Key>
static double
run(Bench<Key> *bench, GpbSearchOrder order, int sorting, int bits, int group, bool *sorted)
{
	GpbResidentBatch batch = {};
	double		ms[ROUNDS + 1];
	char		what[64];

	batch.keys = bench->query;
	batch.n = QUERIES;
	batch.order = order;
	batch.bound = GPB_SEARCH_LOWER;
	batch.sorting = sorting;
	batch.sort_bits = bits;
	batch.group = group;
	batch.result = bench->result;
	batch.permutation = bench->permutation;
	for (int i = 0; i <= ROUNDS; i++)
	{
		double		start;

		CUDA(cudaDeviceSynchronize());
		start = now_ms();
		check_status(search_resident(device, bench->tree.mirror, &batch), "search");
		CUDA(cudaStreamSynchronize((cudaStream_t) batch.stream));
		ms[i] = now_ms() - start;
	}
	snprintf(what, sizeof(what), "order %d sorting %d bits %d group %d", order, sorting, bits,
			 group);
	verify_results(bench, order != GPB_ORDER_INPUT, false, what);
	if (sorted != NULL)
		*sorted = batch.sorted;
	return QUERIES / median(ms + 1, ROUNDS) / 1e6;
}

template <typename Key>
static double
run_thrust(Bench<Key> *bench)
{
	double		ms[ROUNDS + 1];

	for (int i = 0; i <= ROUNDS; i++)
	{
		double		start;

		CUDA(cudaDeviceSynchronize());
		start = now_ms();
		thrust::lower_bound(thrust::device, bench->tree.keys, bench->tree.keys + bench->tree.n,
							bench->query, bench->query + QUERIES, bench->result);
		CUDA(cudaDeviceSynchronize());
		ms[i] = now_ms() - start;
	}
	return QUERIES / median(ms + 1, ROUNDS) / 1e6;
}

/* A plain binary search of the sorted array, a thread a key */
template <typename Key>
static __global__ void
search_array(const Key *keys, uint32 n, const Key *query, uint32 nqueries, uint32 *result)
{
	uint32		i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32		at = 0;

	if (i >= nqueries)
		return;
	while (n > 1)
	{
		uint32		half = n / 2;

		at = keys[at + half] < query[i] ? at + half : at;
		n -= half;
	}
	result[i] = at;
}

template <typename Key>
static double
run_array(Bench<Key> *bench)
{
	double		ms[ROUNDS + 1];

	for (int i = 0; i <= ROUNDS; i++)
	{
		double		start;

		CUDA(cudaDeviceSynchronize());
		start = now_ms();
		search_array<<<BLOCKS(QUERIES), 256>>>(bench->tree.keys, bench->tree.n, bench->query,
											   QUERIES, bench->result);
		CUDA(cudaDeviceSynchronize());
		ms[i] = now_ms() - start;
	}
	verify_results(bench, false, false, "sorted array");
	return QUERIES / median(ms + 1, ROUNDS) / 1e6;
}

/* ---- the tables ---- */

template <typename Key>
static Bench<Key>
open_bench(uint32 n, int distribution)
{
	Bench<Key>	bench = {};

	bench.distribution = distribution;
	bench.tree = build<Key>(n, distribution == NORMAL || distribution == GAMMA ? distribution :
							UNIFORM);
	CUDA(cudaMalloc((void **) &bench.query, (size_t) QUERIES * sizeof(Key)));
	CUDA(cudaMalloc((void **) &bench.result, QUERIES * sizeof(uint32)));
	CUDA(cudaMalloc((void **) &bench.permutation, QUERIES * sizeof(uint32)));
	CUDA(cudaMalloc((void **) &bench.seen, QUERIES * sizeof(uint32)));
	make_queries<Key><<<BLOCKS(QUERIES), 256>>>(bench.query, QUERIES, distribution,
												bench.tree.keys, n, (uint64) 1 << 40);
	CUDA(cudaDeviceSynchronize());
	return bench;
}

template <typename Key>
static void
close_bench(Bench<Key> *bench)
{
	destroy(&bench->tree);
	CUDA(cudaFree(bench->query));
	CUDA(cudaFree(bench->result));
	CUDA(cudaFree(bench->permutation));
	CUDA(cudaFree(bench->seen));
}

template <typename Key>
static void
engine_row(int log2, int distribution)
{
	Bench<Key>	bench = open_bench<Key>((uint32) 1 << log2, distribution);
	bool		sorted;
	double		thrust = run_thrust(&bench);
	double		array = run_array(&bench);
	double		unsorted = run(&bench, GPB_ORDER_INPUT, 1, 0, 0, NULL);
	double		near = run(&bench, GPB_ORDER_NEAR, 0, 0, 0, &sorted);
	double		input = run(&bench, GPB_ORDER_INPUT, 0, 0, 0, NULL);

	printf("%2d bytes  2^%-2d  %-8s %8.1f %8.1f %8.1f %8.1f %8.1f   %s\n", (int) sizeof(Key), log2,
		   distribution_name[distribution], thrust, array, unsorted, near, input,
		   sorted ? "sorted" : "as they come");
	fflush(stdout);
	close_bench(&bench);
}

static void
engine_table(int log2, int distribution)
{
	engine_row<uint64>(log2, distribution);
	engine_row<uint32>(log2, distribution);
	engine_row<uint128>(log2, distribution);
}

/* Bits to sort by: Harmonia's Equation 2 and ours */
static void
bits_table(int log2)
{
	Bench<uint64> bench = open_bench<uint64>((uint32) 1 << log2, UNIFORM);

	printf("2^%d keys, sorted by so many bits (Equation 2 with a line's 16 keys: %d):", log2,
		   log2 - 4);
	for (int bits = 8; bits <= 24; bits += 2)
		printf("  %d: %.1f", bits, run(&bench, GPB_ORDER_NEAR, 2, bits, 0, NULL));
	printf("\n");
	close_bench(&bench);
}

/* Groups of lanes: each size, and the one that Equation 4 chooses */
template <typename Key>
static void
groups_row(int log2)
{
	Bench<Key>	bench = open_bench<Key>((uint32) 1 << log2, UNIFORM);
	GpbResidentBatch batch = {};

	batch.keys = bench.query;
	batch.n = 1024;
	batch.result = bench.result;
	check_status(search_resident(device, bench.tree.mirror, &batch), "search");
	printf("%2d bytes  2^%-2d  lanes to a key:", (int) sizeof(Key), log2);
	for (int group = 1; group <= 32; group *= 2)
		printf("  %d: %.2f", group, run(&bench, GPB_ORDER_INPUT, 1, 0, group, NULL));
	printf("   chosen: %d\n", batch.chosen_group);
	fflush(stdout);
	close_bench(&bench);
}

/* The tree after one in a hundred of its level-1 pages has changed */
static void
refresh_row(int log2)
{
	Tree<uint64> tree = build<uint64>((uint32) 1 << log2, UNIFORM);
	uint32		changed = tree.npages / 100 > 0 ? tree.npages / 100 : 1;
	uint32	   *blocks = (uint32 *) malloc(changed * sizeof(uint32));
	char	   *pages;
	double		ms[ROUNDS + 1];
	double		tail[ROUNDS + 1];

	CUDA(cudaHostAlloc((void **) &pages, (size_t) changed * GPB_PAGE_SIZE, 0));
	for (uint32 i = 0; i < changed; i++)
	{
		blocks[i] = tree.blocks[(uint64) tree.npages * i / changed];
		memcpy(pages + (size_t) i * GPB_PAGE_SIZE,
			   tree.pages + (size_t) (blocks[i] - 1) * GPB_PAGE_SIZE, GPB_PAGE_SIZE);
	}
	for (int round = 0; round <= ROUNDS; round++)
	{
		double		start = now_ms();

		for (uint32 i = 0; i < changed; i += 512)
			check_status(api->upload(device, tree.mirror,
									 (int) (changed - i < 512 ? changed - i : 512), blocks + i,
									 pages + (size_t) i * GPB_PAGE_SIZE, EPOCH + 1), "upload");
		set_inner(&tree);
		ms[round] = now_ms() - start;
		/* another count on the first page moves every separator */
		tree.counts[0] -= 1;
		start = now_ms();
		set_inner(&tree);
		tail[round] = now_ms() - start;
	}
	printf("2^%d separators, %u pages: built in %.2f ms; %u changed ones in %.3f ms (%.2f us each); "
		   "all moved in %.3f ms\n", log2, tree.npages, tree.build_ms, changed,
		   median(ms + 1, ROUNDS), median(ms + 1, ROUNDS) * 1e3 / changed,
		   median(tail + 1, ROUNDS));
	fflush(stdout);
	CUDA(cudaFreeHost(pages));
	free(blocks);
	destroy(&tree);
}

/* ---- host to host ---- */

/* Keys and results in one registered region, as the service has them */
struct Region
{
	char	   *base;
	size_t		size;
};

static double
bare_copy(const void *keys, void *results, uint32 n, int width)
{
	cudaStream_t in;
	cudaStream_t out;
	void	   *data;
	double		ms[ROUNDS + 1];

	CUDA(cudaStreamCreate(&in));
	CUDA(cudaStreamCreate(&out));
	CUDA(cudaMalloc(&data, (size_t) n * (width + 4)));
	for (int i = 0; i <= ROUNDS; i++)
	{
		double		start = now_ms();

		CUDA(cudaMemcpyAsync(data, keys, (size_t) n * width, cudaMemcpyHostToDevice, in));
		CUDA(cudaMemcpyAsync(results, (char *) data + (size_t) n * width, (size_t) n * 4,
							 cudaMemcpyDeviceToHost, out));
		CUDA(cudaStreamSynchronize(in));
		CUDA(cudaStreamSynchronize(out));
		ms[i] = now_ms() - start;
	}
	CUDA(cudaFree(data));
	CUDA(cudaStreamDestroy(in));
	CUDA(cudaStreamDestroy(out));
	return median(ms + 1, ROUNDS);
}

static double
host_search(const Tree<uint64> *tree, const uint64 *keys, uint32 *results, uint32 n,
			GpbSearchOrder order, uint32 *permutation, int rounds)
{
	GpbSearchSpec spec;
	double	   *ms = (double *) malloc((rounds + 1) * sizeof(double));
	double		result;

	memset(&spec, 0, sizeof(spec));
	spec.bound = GPB_SEARCH_LOWER;
	spec.order = order;
	spec.npieces = 1;
	spec.piece[0].keys = keys;
	spec.piece[0].leaf = results;
	spec.piece[0].permutation = permutation;
	spec.piece[0].n = n;
	for (int i = 0; i <= rounds; i++)
	{
		double		start = now_ms();

		check_status(api->search_launch(device, tree->mirror, 1, &spec, NULL, 0), "search_launch");
		check_status(api->search_finish(device, 1), "search_finish");
		ms[i] = now_ms() - start;
	}
	result = median(ms + 1, rounds);
	free(ms);
	return result;
}

static void
host_table(void)
{
	Tree<uint64> tree = build<uint64>((uint32) 1 << 21, UNIFORM);
	const uint32 most = (uint32) 1 << 24;
	size_t		size = (size_t) most * 16;
	char	   *region = (char *) aligned_alloc(4096, size);
	uint64	   *keys = (uint64 *) region;
	uint32	   *results = (uint32 *) (region + (size_t) most * 8);
	uint32	   *permutation = (uint32 *) (region + (size_t) most * 12);
	Bench<uint64> bench = {};
	static const uint32 sizes[] = {1, 1024, 16384, 65536, 262144, 1048576, 4194304, 16777216};

	memset(region, 0, size);
	check_status(api->register_region(device, region, size), "register_region");
	for (uint32 i = 0; i < most; i++)
		keys[i] = mix(i + ((uint64) 1 << 41));
	CUDA(cudaMalloc((void **) &bench.query, (size_t) most * 8));
	CUDA(cudaMalloc((void **) &bench.result, (size_t) most * 4));
	CUDA(cudaMemcpy(bench.query, keys, (size_t) most * 8, cudaMemcpyHostToDevice));
	printf("host to host, tree of 2^21 separators, 8-byte keys\n");
	for (int i = 0; i < (int) (sizeof(sizes) / sizeof(sizes[0])); i++)
	{
		uint32		n = sizes[i];
		double		copy = bare_copy(keys, results, n, 8);
		double		ms = host_search(&tree, keys, results, n, GPB_ORDER_INPUT, NULL,
									 n > 100000 ? 9 : 201);

		*wrong = 0;
		CUDA(cudaMemcpy(bench.result, results, (size_t) n * 4, cudaMemcpyHostToDevice));
		verify<uint64><<<BLOCKS(n), 256>>>(bench.query, n, tree.keys, tree.n, NULL, bench.result,
										   wrong);
		CUDA(cudaDeviceSynchronize());
		if (*wrong != 0)
		{
			printf("host to host: %u results are WRONG\n", *wrong);
			exit(1);
		}
		printf("%9u keys: %9.4f ms  %6.3f G keys/s   bare copy %9.4f ms: %5.1f %%", n, ms,
			   n / ms / 1e6, copy, 100 * copy / ms);
		printf("   in key order %9.4f ms\n",
			   host_search(&tree, keys, results, n, GPB_ORDER_KEY, permutation, 9));
		fflush(stdout);
	}
	printf("2^24 keys in chunks of:");
	for (uint32 chunk = 1 << 16; chunk <= most; chunk *= 2)
	{
		choose_chunk(device, chunk);
		printf("  %u: %.2f ms", chunk,
			   host_search(&tree, keys, results, most, GPB_ORDER_INPUT, NULL, 9));
	}
	printf("\n1 M keys in chunks of:");
	for (uint32 chunk = 1 << 14; chunk <= 1 << 20; chunk *= 2)
	{
		choose_chunk(device, chunk);
		printf("  %u: %.3f ms", chunk,
			   host_search(&tree, keys, results, 1 << 20, GPB_ORDER_INPUT, NULL, 21));
	}
	choose_chunk(device, 0);
	printf("\n");
	CUDA(cudaFree(bench.query));
	CUDA(cudaFree(bench.result));
	destroy(&tree);
}

/* ---- main ---- */

static void
load(const char *path)
{
	void	   *library = dlopen(path, RTLD_NOW);
	GpbDeviceEntry entry = library == NULL ? NULL :
		(GpbDeviceEntry) dlsym(library, GPB_CUDA_ENTRY);
	const char *message;

	if (entry == NULL)
	{
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	search_resident = (GpbResidentSearch) dlsym(library, GPB_RESIDENT_ENTRY);
	choose_chunk = (GpbChooseChunk) dlsym(library, GPB_CHUNK_ENTRY);
	api = entry();
	if (search_resident == NULL || api->open(0, 0, 4, &device, &message) != GPB_DEVICE_OK)
	{
		fprintf(stderr, "the device can't be opened: %s\n", message);
		exit(1);
	}
	CUDA(cudaHostAlloc((void **) &wrong, sizeof(uint32), 0));
}

static bool
wanted(const char *what, const char *table)
{
	return strcmp(what, "all") == 0 || strcmp(what, table) == 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "all";
	int			sizes[16] = {20, 21, 22, 23, 24, 25, 26, 27};
	int			nsizes = 8;
	GpbDeviceInfo info;

	if (argc < 2)
	{
		fprintf(stderr, "usage: %s LIBRARY [all|engine|bits|groups|refresh|host] [log2 of keys]...\n",
				argv[0]);
		return 1;
	}
	if (argc > 3)
	{
		nsizes = argc - 3 < 16 ? argc - 3 : 16;
		for (int i = 0; i < nsizes; i++)
			sizes[i] = atoi(argv[3 + i]);
	}
	load(argv[1]);
	api->describe(device, &info);
	printf("%s; %u keys a batch, medians of %d\n", info.name, QUERIES, ROUNDS);
	if (wanted(what, "engine"))
	{
		printf("G keys/s                    thrust    array unsorted permuted  ordered\n");
		for (int i = 0; i < nsizes; i++)
			for (int d = 0; d < DISTRIBUTIONS; d++)
				engine_table(sizes[i], d);
	}
	if (wanted(what, "bits"))
	{
		bits_table(23);
		bits_table(26);
	}
	if (wanted(what, "groups"))
		for (int i = 20; i <= 26; i += 3)
		{
			groups_row<uint64>(i);
			groups_row<uint32>(i);
			groups_row<uint128>(i);
		}
	if (wanted(what, "refresh"))
	{
		refresh_row(18);
		refresh_row(26);
	}
	if (wanted(what, "host"))
		host_table();
	return 0;
}
