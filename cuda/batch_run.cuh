/*-------------------------------------------------------------------------
 *
 * batch_run.cuh
 *	  A batch of searches in device memory; see batch.cu.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BATCH_RUN_CUH
#define GPB_BATCH_RUN_CUH

#include "psa.cuh"

/* A stream, and the memory of what runs on it */
struct GpbPipeline
{
	cudaStream_t stream;
	GpbBuffer	keys;			/* of a chunk, copied from the host */
	GpbBuffer	slots;
	GpbBuffer	leaves;
	GpbBuffer	positions;
	GpbBuffer	permutation;
	GpbSortMemory sort;
	GpbBatchSample *sample;		/* pinned */
};

enum GpbSorting
{
	GPB_SORT_MAY,				/* if it seems to pay */
	GPB_SORT_NEVER,
	GPB_SORT_ALWAYS
};

/* Of batches in GPB_ORDER_NEAR; tests choose it (bench.h). */
extern GpbSorting gpb_near_sorting;

/* A batch of searches; its arrays are in device memory. */
struct GpbSearchBatch
{
	GpbTree		tree;
	const GpbTreeProfile *profile;
	const void *keys;
	uint32		n;
	GpbSearchOrder order;
	bool		or_equal;		/* last separator <= key, not < key */
	bool		slots;			/* results are numbers of separators, not blocks */
	bool		together;		/* keys are known to be near their neighbours */
	GpbSorting	sorting;
	int			sort_bits;		/* 0: as planned */
	int			group;			/* lanes of a group; 0: as planned */
	uint32	   *result;
	uint32	   *permutation;	/* written unless results are in input order */

	/* set by gpb_search_batch_run */
	bool		sorted;
	bool		clamped;		/* sorted keys are distances from the tree's least separator; those
								 * beyond its limits became these */
};

void		gpb_pipeline_close(GpbDevice *device, GpbPipeline *pipeline);
GpbDeviceStatus gpb_mirror_profile(GpbDevice *device, const GpbDeviceMirror *mirror,
								   const GpbTreeProfile **profile);
GpbDeviceStatus gpb_search_batch_run(GpbDevice *device, GpbPipeline *pipeline,
									 GpbSearchBatch *batch);

#endif							/* GPB_BATCH_RUN_CUH */
