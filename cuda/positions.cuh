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
	const void *keys;			/* as wide as the index's */
	const uint32 *place;		/* if not NULL result i is that of key place[i] */
	const uint32 *slot;			/* separator at which the search of each begins */
	uint32	   *leaf;
	uint16_t   *position;
	uint32		n;
	GpbSearchBound bound;
};

/*
 * Submit the search for positions; the second is for keys of 16 bytes, the
 * third for leaves that may have runs, and the last for both (forms.cuh).  The job needs
 * all fields of GpbLeafJob.
 */
GpbDeviceStatus gpb_positions_launch(GpbDevice *device, cudaStream_t stream,
									 const GpbLeafJob *job, const GpbPositions *positions);
GpbDeviceStatus gpb_positions_launch_wide(GpbDevice *device, cudaStream_t stream,
										  const GpbLeafJob *job, const GpbPositions *positions);
GpbDeviceStatus gpb_positions_launch_runs(GpbDevice *device, cudaStream_t stream,
										  const GpbLeafJob *job, const GpbPositions *positions);
GpbDeviceStatus gpb_positions_launch_wide_runs(GpbDevice *device, cudaStream_t stream,
										  const GpbLeafJob *job, const GpbPositions *positions);

#endif							/* GPB_POSITIONS_CUH */
