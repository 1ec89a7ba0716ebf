/*-------------------------------------------------------------------------
 *
 * positions.cuh
 *	  Finding the positions of keys in leaves; see positions.cu.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_POSITIONS_CUH
#define GPB_POSITIONS_CUH

#include "batch.cuh"

/* A batch of n keys whose positions are to be found; arrays are in device memory. */
struct GpbPositions
{
	const void *keys;			/* as wide as the index's; base has been subtracted */
	uint64		base;
	const uint32 *slot;			/* separator at which the search of each begins */
	uint32	   *leaf;
	uint16_t   *position;
	uint32		n;
	GpbSearchBound bound;
};

/* Submit the search for positions.  The job needs all fields of GpbLeafJob. */
GpbDeviceStatus gpb_positions_launch(GpbDevice *device, cudaStream_t stream,
									 const GpbLeafJob *job, const GpbPositions *positions);

#endif							/* GPB_POSITIONS_CUH */
