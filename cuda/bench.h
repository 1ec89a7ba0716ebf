/*-------------------------------------------------------------------------
 *
 * bench.h
 *	  What tests and benchmarks can ask of the cuda device beside its interface.
 *
 * Only an object that is compiled with GPB_BENCH exports these functions (Makefile:
 * test/kernel/cuda.so, test/kernel/emulated.so).  The object that is installed exports
 * gpb_cuda_device() alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BENCH_H
#define GPB_BENCH_H

#include "device/device.h"

/*
 * From now on read leaves in the given way, a GpbLeafVariant.  False: there is no way of that
 * number.
 */
typedef bool (*GpbChooseVariant) (GpbDevice *device, int variant);
#define GPB_VARIANT_ENTRY	"gpb_cuda_choose_variant"

/* From now on cut batches of searches into chunks of so many keys; 0: as planned. */
typedef void (*GpbChooseChunk) (GpbDevice *device, uint32 keys);
#define GPB_CHUNK_ENTRY	"gpb_cuda_choose_chunk"

/* From now on sort batches in GPB_ORDER_NEAR as GpbResidentBatch has it: 0: if it seems to pay. */
typedef void (*GpbChooseSorting) (int sorting);
#define GPB_SORTING_ENTRY	"gpb_cuda_choose_sorting"

/*
 * Run the kernels of the ranges that were finished on the channel so many times more, with their
 * input on the device.  *ms is the milliseconds of one round.
 */
typedef GpbDeviceStatus (*GpbTimeRanges) (GpbDevice *device, int channel, int rounds, float *ms);
#define GPB_TIME_RANGES_ENTRY	"gpb_cuda_time_ranges"

/* A batch of searches whose arrays are in device memory */
typedef struct GpbResidentBatch
{
	const void *keys;
	uint32		n;
	int			order;			/* GpbSearchOrder */
	int			bound;			/* GpbSearchBound; EQUAL is LOWER */
	bool		slots;			/* results are numbers of separators, not blocks */
	int			sorting;		/* 0: if it seems to pay, 1: never, 2: always */
	int			sort_bits;		/* 0: as planned */
	int			group;			/* lanes of a group, 1 .. 32; 0: as planned */
	uint32	   *result;
	uint32	   *permutation;	/* written unless results are in input order */

	/* set by the search */
	bool		sorted;
	int			chosen_group;
	void	   *stream;			/* that it was submitted to */
} GpbResidentBatch;

/* Submit the batch to the stream of channel 0, which must have no request in flight. */
typedef GpbDeviceStatus (*GpbResidentSearch) (GpbDevice *device, GpbDeviceMirror *mirror,
											  GpbResidentBatch *batch);
#define GPB_RESIDENT_ENTRY	"gpb_cuda_search_resident"

#endif							/* GPB_BENCH_H */
