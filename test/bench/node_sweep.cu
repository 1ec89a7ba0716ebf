/*-------------------------------------------------------------------------
 *
 * node_sweep.cu
 *	  The tree over the separators with nodes of 64 to 4,096 bytes: size, writing, search.
 *
 * usage: node_sweep [keys of a tree]...
 *
 * The tree, and the search of one thread, are those of cuda/tree.cuh; the nodes' size is a constant
 * of each form that is compiled.  nvcc makes the program that measures the device, a C++ compiler
 * the one that measures a core of the CPU.  Each line of the output has
 *
 *		what ran | keys | bytes of a node | levels | bytes above the keys |
 *			ms to write all levels | M keys/s
 *
 * Times are medians of rounds in which all sizes of nodes take turns; the first results of each size
 * are verified.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../cuda/tree.cuh"

#define ROUNDS			7
#define WIDTHS			7		/* nodes of 8, 16 .. 512 keys */
#define VERIFIED		(1u << 19)	/* queries whose results are verified */

#ifdef __CUDACC__
#define QUERIES			(1u << 25)
#define THREADS			256
#else
#define QUERIES			(1u << 19)
#endif

static uint64
mix(uint64 x)
{
	x += 0x9E3779B97F4A7C15ul;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ul;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBul;
	return x ^ (x >> 31);
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
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

/* ---- where it runs ---- */

#ifdef __CUDACC__

static const char *const place = "gpu";

static void
check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}

#define CUDA(call) check(call, #call)

static void *
place_alloc(size_t size)
{
	void	   *memory;

	CUDA(cudaMalloc(&memory, size));
	return memory;
}

static void
place_free(const void *memory)
{
	CUDA(cudaFree((void *) memory));
}

static void
copy_to_place(void *into, const void *from, size_t size)
{
	CUDA(cudaMemcpy(into, from, size, cudaMemcpyHostToDevice));
}

static void
copy_from_place(void *into, const void *from, size_t size)
{
	CUDA(cudaMemcpy(into, from, size, cudaMemcpyDeviceToHost));
}

/* Call function(i, argument...) for all i below n, and wait for the last. */
#define FOR_ALL(n, function, ...) \
	do { \
		for_all<<<((n) + THREADS - 1) / THREADS, THREADS>>>(n, function(__VA_ARGS__)); \
		CUDA(cudaGetLastError()); \
		CUDA(cudaDeviceSynchronize()); \
	} while (0)

template <typename Function>
static __global__ void
for_all(uint32 n, const __grid_constant__ Function function)
{
	uint32		i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		function(i);
}

#define ON_PLACE		__device__ __forceinline__

#else

static const char *const place = "cpu";

static void *
place_alloc(size_t size)
{
	void	   *memory = aligned_alloc(4096, (size + 4095) & ~(size_t) 4095);

	if (memory == NULL)
	{
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	memset(memory, 0, size);
	return memory;
}

static void
place_free(const void *memory)
{
	free((void *) memory);
}

static void
copy_to_place(void *into, const void *from, size_t size)
{
	memcpy(into, from, size);
}

static void
copy_from_place(void *into, const void *from, size_t size)
{
	memcpy(into, from, size);
}

#define FOR_ALL(n, function, ...) \
	do { \
		function	f(__VA_ARGS__); \
		for (uint32 i = 0; i < (n); i++) \
			f(i); \
	} while (0)

#define ON_PLACE		inline __attribute__((always_inline))

#endif							/* __CUDACC__ */

/* ---- what is measured ---- */

/* Write key i to the lowest level, and to each level above where it begins a node. */
template <uint32 FANOUT>
struct WriteKey
{
	GpbTree		tree;
	const uint64 *keys;

	WriteKey(GpbTree tree_, const uint64 *keys_): tree(tree_), keys(keys_) {}

	ON_PLACE void
	operator()(uint32 i) const
	{
		uint64		key = keys[i];
		int			level = 0;

		((uint64 *) tree.key[0])[i] = key;
		while (level < tree.top && i % FANOUT == 0)
		{
			i /= FANOUT;
			((uint64 *) tree.key[++level])[i] = key;
		}
	}
};

/* Search for a key. */
template <uint32 FANOUT>
struct SearchKey
{
	GpbTree		tree;
	const uint64 *query;
	uint32	   *result;

	SearchKey(GpbTree tree_, const uint64 *query_, uint32 *result_):
		tree(tree_), query(query_), result(result_) {}

	ON_PLACE void
	operator()(uint32 i) const
	{
		result[i] = gpb_tree_descend<uint64, FANOUT>(&tree, tree.top + 1, 0, query[i]);
	}
};

/* A tree with nodes of one size over the keys, and what has been measured of it */
struct Sweep
{
	uint32		n;
	const uint64 *keys;			/* the sorted keys, where it runs, and here */
	const uint64 *keys_here;
	const uint64 *query;
	const uint64 *query_here;
	uint32	   *result;
	uint32	   *result_here;
	double		write_ms[WIDTHS][ROUNDS + 1];
	double		search_ms[WIDTHS][ROUNDS + 1];
};

template <uint32 FANOUT>
static GpbTree
make_tree(uint32 n, size_t *above)
{
	GpbTree		tree;

	memset(&tree, 0, sizeof(tree));
	tree.key_width = sizeof(uint64);
	tree.n[0] = n;
	*above = 0;
	while (tree.n[tree.top] > FANOUT)
	{
		tree.n[tree.top + 1] = (tree.n[tree.top] + FANOUT - 1) / FANOUT;
		tree.top++;
		*above += tree.n[tree.top] * sizeof(uint64);
	}
	for (int level = 0; level <= tree.top; level++)
		tree.key[level] = place_alloc(tree.n[level] * sizeof(uint64));
	return tree;
}

/* Is each result the last key below the one sought, or the first of all? */
static void
verify(const Sweep *sweep, uint32 fanout)
{
	copy_from_place(sweep->result_here, sweep->result, VERIFIED * sizeof(uint32));
	for (uint32 i = 0; i < VERIFIED; i++)
	{
		uint32		r = sweep->result_here[i];
		uint64		key = sweep->query_here[i];

		if (r >= sweep->n || (r > 0 && sweep->keys_here[r] >= key) ||
			(r + 1 < sweep->n && sweep->keys_here[r + 1] < key))
		{
			printf("nodes of %u keys: result %u is WRONG\n", fanout, i);
			exit(1);
		}
	}
}

/* One round, or, after the last, the line of the output. */
template <uint32 FANOUT>
static void
turn(Sweep *sweep, int width, int round)
{
	size_t		above;
	GpbTree		tree = make_tree<FANOUT>(sweep->n, &above);
	double		start = now_ms();

	if (round <= ROUNDS)
	{
		FOR_ALL(sweep->n, WriteKey<FANOUT>, tree, sweep->keys);
		sweep->write_ms[width][round] = now_ms() - start;
		start = now_ms();
		FOR_ALL(QUERIES, SearchKey<FANOUT>, tree, sweep->query, sweep->result);
		sweep->search_ms[width][round] = now_ms() - start;
		if (round == 0)
			verify(sweep, FANOUT);
	}
	else
		printf("%s %u %u %d %zu %.4f %.2f\n", place, sweep->n, (uint32) (FANOUT * sizeof(uint64)),
			   tree.top + 1, above, median(sweep->write_ms[width] + 1, ROUNDS),
			   QUERIES / median(sweep->search_ms[width] + 1, ROUNDS) / 1e3);
	for (int level = 0; level <= tree.top; level++)
		place_free(tree.key[level]);
}

static void
sweep_nodes(uint32 n)
{
	Sweep	   *sweep = (Sweep *) calloc(1, sizeof(Sweep));
	uint64	   *keys = (uint64 *) malloc(n * sizeof(uint64));
	uint64	   *query = (uint64 *) malloc(QUERIES * sizeof(uint64));
	uint64		step = ~(uint64) 0 / n;

	for (uint32 i = 0; i < n; i++)
		keys[i] = i * step + mix(i) % step;
	for (uint32 i = 0; i < QUERIES; i++)
		query[i] = mix(i + ((uint64) 1 << 40));
	sweep->n = n;
	sweep->keys_here = keys;
	sweep->query_here = query;
	sweep->keys = (const uint64 *) place_alloc(n * sizeof(uint64));
	sweep->query = (const uint64 *) place_alloc(QUERIES * sizeof(uint64));
	sweep->result = (uint32 *) place_alloc(QUERIES * sizeof(uint32));
	sweep->result_here = (uint32 *) malloc(VERIFIED * sizeof(uint32));
	copy_to_place((void *) sweep->keys, keys, n * sizeof(uint64));
	copy_to_place((void *) sweep->query, query, QUERIES * sizeof(uint64));
	for (int round = 0; round <= ROUNDS + 1; round++)
	{
		turn<8>(sweep, 0, round);
		turn<16>(sweep, 1, round);
		turn<32>(sweep, 2, round);
		turn<64>(sweep, 3, round);
		turn<128>(sweep, 4, round);
		turn<256>(sweep, 5, round);
		turn<512>(sweep, 6, round);
	}
	fflush(stdout);
	place_free(sweep->keys);
	place_free(sweep->query);
	place_free(sweep->result);
	free(sweep->result_here);
	free(keys);
	free(query);
	free(sweep);
}

int
main(int argc, char **argv)
{
	static const uint32 sizes[] = {10000, 100000, 1000000, 10000000};

	for (int i = 1; i < argc; i++)
		sweep_nodes((uint32) strtoul(argv[i], NULL, 10));
	for (int i = 0; argc == 1 && i < 4; i++)
		sweep_nodes(sizes[i]);
	return 0;
}
