/*-------------------------------------------------------------------------
 *
 * request_slot.h
 *	  A request as it lies in shared memory, between a backend and the service.
 *
 * slots.c says whose a slot is in which state.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_REQUEST_SLOT_H
#define GPB_REQUEST_SLOT_H

#include "compat.h"

#include "port/atomics.h"
#include "portability/instr_time.h"

#include "mirror/mirror.h"

typedef enum GpbSlotState
{
	GPB_SLOT_FREE = 0,
	GPB_SLOT_CLAIMED,			/* the backend's: it may write slot and staging */
	GPB_SLOT_SUBMITTED,			/* the service's: it is to run the request */
	GPB_SLOT_RUNNING,			/* the service's: the request is in flight */
	GPB_SLOT_DONE,				/* the backend's again: answered, or failed */
	GPB_SLOT_ABANDONED			/* its backend is gone; the service frees it */
} GpbSlotState;

/*
 * Refreshes have slots of their own, so that queries cannot starve them.  Query slots have no
 * staging of their own but a run of units of the pool (pool.c).
 */
typedef enum GpbSlotClass
{
	GPB_REFRESH_SLOT = 0,
	GPB_QUERY_SLOT,
	GPB_SLOT_CLASSES
} GpbSlotClass;

typedef enum GpbOperation
{
	GPB_OP_VISIBILITY,			/* staging: n bytes of the map from offset */
	GPB_OP_FETCH,				/* records [offset, offset + n) -> staging */
	GPB_OP_UPLOAD,				/* staging: n block numbers; pages */
	GPB_OP_SEARCH,				/* staging: keys -> arrays, see gpb_search_arrange */
	GPB_OP_RANGES,				/* staging: ranges -> answers; ranges_result */
	GPB_OP_SORT_FIRST,			/* begin a sort; then as GPB_OP_SORT_ADD */
	GPB_OP_SORT_ADD,			/* staging: n records of the slot's sort */
	GPB_OP_SORT_READ			/* records [offset, offset + n) of the slot's sort -> staging */
} GpbOperation;

typedef struct GpbRequestSlot
{
	pg_atomic_uint32 state;		/* GpbSlotState */
	int			device;			/* whose service has it; never changes */
	uint32		pgprocno;		/* whom to wake */
	pg_atomic_uint32 sleeps;	/* 1: the backend is to be woken; 0: it looks by itself */
	uint64		generation;		/* of the claim */
	uint64		incarnation;	/* service that the request is meant for */
	bool		sorts;			/* of the claim: it may have a sort */

	/* request */
	GpbOperation op;
	int			mirror;
	uint64		mirror_generation;
	TimestampTz keep_since;		/* as in GpbMirrorRef */
	uint64		offset;
	uint64		n;
	GpbFetchWhat what;
	uint64		epoch;			/* upload: stamp of the pages */
	bool		last;			/* upload: the refresh's last transfer */
	GpbRequestSearch search;
	GpbRangesSpec ranges;
	GpbSortFormat sort_format;	/* first records of a sort */
	uint64		sort_expected;	/* first records of a sort: how many are expected in all */
	uint64		into;			/* fetch, read of a sort: offset of the records in staging */

	/* query slot: its units; changed under the pool lock alone */
	uint32		first_unit;
	uint32		nunits;			/* 0: none */

	/*
	 * The map image that the slot refers to, whose bits its ranges are answered by: entry + 1; 0:
	 * none, and the bits are those that were sent (map_image.c).
	 */
	uint32		image;

	instr_time	submitted;

	/* answer */
	instr_time	answered;
	bool		ok;
	uint64		answered_generation;
	GpbRangesResult ranges_result;
	uint64		staged_groups;	/* the first groups of these ranges, which lie in staging already */
} GpbRequestSlot;

#endif							/* GPB_REQUEST_SLOT_H */
