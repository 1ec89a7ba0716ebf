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
#include "forms.cuh"

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
 * Submit the search for positions, in each form (forms.cuh).  The job needs all fields of
 * GpbLeafJob.
 */
#define GPB_DECLARE_POSITIONS(form) \
namespace form \
{ \
GpbDeviceStatus gpb_positions_launch(GpbDevice *device, cudaStream_t stream, \
									 const GpbLeafJob *job, const GpbPositions *positions); \
}

GPB_FOR_FORMS(GPB_DECLARE_POSITIONS)

#endif							/* GPB_POSITIONS_CUH */
