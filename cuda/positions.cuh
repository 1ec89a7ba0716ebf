/*-------------------------------------------------------------------------
 *
 * positions.cuh
 *	  From leaves to positions in them; see positions.cu.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_POSITIONS_CUH
#define GPB_POSITIONS_CUH

#include "batch.cuh"

/* Arrays of n in device memory */
struct GpbPositions
{
	const void *keys;			/* as wide as the index's, less base */
	uint64		base;
	const uint32 *slot;			/* where the search of each begins */
	uint32	   *leaf;
	uint16_t   *position;
	uint32		n;
	GpbSearchBound bound;
};

/* Of the job: separators, images, epoch, changed bits and widths. */
GpbDeviceStatus gpb_positions_launch(GpbDevice *device, cudaStream_t stream,
									 const GpbLeafJob *job, const GpbPositions *positions);

#endif							/* GPB_POSITIONS_CUH */
