/*-------------------------------------------------------------------------
 *
 * psa.cuh
 *	  Sorting a batch of keys by a few bits; see psa.cu.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PSA_CUH
#define GPB_PSA_CUH

#include "batch.cuh"

/* The bits of a key by which a batch is sorted */
struct GpbSortPlan
{
	int			first_bit;		/* bits [first_bit, end_bit) */
	int			end_bit;
	bool		clamp;			/* sort the keys' distances from low; keys outside of
								 * [low, high] are taken for the nearer of the two */
	uint128		low;
	uint128		high;
};

/* Device memory of a sort, kept for later ones */
struct GpbSortMemory
{
	GpbBuffer	keys;			/* sorted */
	GpbBuffer	clamped;
	GpbBuffer	numbers;		/* 0, 1, 2 ... */
	GpbBuffer	order;
	GpbBuffer	results;
	GpbBuffer	temporary;
	uint32		numbered;		/* of numbers, how many are written */
};

/* For each sampled tile, the lowest level of the tree whose piece fits shared memory */
#define GPB_SAMPLED_TILES	64

struct GpbBatchSample
{
	uint32		level[GPB_SAMPLED_TILES];
};

GpbSortPlan gpb_sort_plan(const GpbTreeProfile *profile, uint32 nseparators, int key_width);
GpbSortPlan gpb_sort_plan_whole(int key_width);
bool		gpb_sample_says_sort(const GpbBatchSample *sample);
GpbDeviceStatus gpb_sample_launch(GpbDevice *device, cudaStream_t stream, const GpbTree *tree,
								  const void *keys, uint32 n, GpbBatchSample *sample);
GpbDeviceStatus gpb_sort_keys(GpbDevice *device, cudaStream_t stream, GpbSortMemory *memory,
							  const GpbSortPlan *plan, int key_width, const void *keys,
							  uint32 first, uint32 n, uint32 *order);
/*
 * Submit a stable sort of n words, and a number with each, by their low end_bit bits.  Memory of
 * CUB's is in "temporary", which grows if need be.
 */
GpbDeviceStatus gpb_sort_words(GpbDevice *device, cudaStream_t stream, GpbBuffer *temporary,
							   const uint64 *words, uint64 *sorted, const uint32 *numbers,
							   uint32 *sorted_numbers, uint32 n, int end_bit);
GpbDeviceStatus gpb_number_keys(GpbDevice *device, cudaStream_t stream, uint32 first, uint32 n,
								uint32 *order);
GpbDeviceStatus gpb_restore_order(GpbDevice *device, cudaStream_t stream, GpbSortMemory *memory,
								  uint32 *order, uint32 *value, uint32 n, uint32 *result);
void		gpb_sort_memory_free(GpbDevice *device, GpbSortMemory *memory);

#endif							/* GPB_PSA_CUH */
