/*-------------------------------------------------------------------------
 *
 * resident.h
 *	  The cuda device's search of keys that lie in its memory, for the benchmark.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RESIDENT_H
#define GPB_RESIDENT_H

#include "device/device.h"

typedef struct GpbResidentBatch
{
	const void *keys;			/* device memory, as all arrays here */
	uint32		n;
	int			order;			/* GpbSearchOrder */
	int			bound;			/* GpbSearchBound; EQUAL is LOWER */
	bool		slots;			/* results are numbers of separators, not blocks */
	int			sorting;		/* 0: if it seems to pay, 1: never, 2: always */
	int			sort_bits;		/* 0: as planned */
	int			group;			/* lanes of a group, 1 .. 32; 0: as planned */
	uint32	   *result;
	uint32	   *permutation;	/* not in input order */

	/* told */
	bool		sorted;
	int			chosen_group;
	void	   *stream;			/* that it was submitted to */
} GpbResidentBatch;

typedef GpbDeviceStatus (*GpbResidentSearch) (GpbDevice *, GpbDeviceMirror *,
											  GpbResidentBatch *);
#define GPB_RESIDENT_ENTRY	"gpb_cuda_search_resident"

/* Keys of a chunk from now on; 0: as planned */
typedef void (*GpbChooseChunk) (GpbDevice *, uint32);
#define GPB_CHUNK_ENTRY	"gpb_cuda_choose_chunk"

#endif							/* GPB_RESIDENT_H */
