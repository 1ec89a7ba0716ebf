/*-------------------------------------------------------------------------
 *
 * refresh_due.c
 *	  When a query refreshes a mirror, and when it leaves that to the refresher.
 *
 * A leaf that has changed is not clean, and the CPU answers for it (rule M4).  So a refresh before
 * a query only saves time, and costs some: about as much for a changed page as the CPU takes for
 * its leaf, which most queries never touch, and a fixed part in which the query waits for the
 * service.  Where the refresher is about to copy the pages anyway, the query does without.
 *
 * Queries are not to pay again and again for pages that the refresher cannot copy (turn.c), since
 * they are not in shared buffers.  That is a matter of renting or buying: as soon as queries have
 * left as many such pages to the CPU as one refresh would copy, and what it costs besides, a query
 * makes it.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/refresh.h"

#include "utils/timestamp.h"

#include "mirror/map/changed_map.h"

/*
 * The most blocks that are left to the refresher.  A query that touches all of their leaves takes
 * some 5 to 10 us for each, and a refresh would have taken half of that.
 */
#define GPB_LEAVE_BLOCKS	4096
/* What a refresh costs whatever it copies, counted in leaves that the CPU answers for */
#define GPB_REFRESH_PRICE	64

/*
 * For so long, in milliseconds, nothing is counted after the refresher has seen all blocks and left
 * none: to look at the whole map takes some microseconds for each million entries of the index.
 */
#define GPB_PASSED_MS		50

/* Has the refresher just brought all blocks up to date? */
static bool
has_just_passed(GpbMirrorSlot *mirror)
{
	TimestampTz passed = (TimestampTz) pg_atomic_read_u64(&mirror->passed);

	return pg_atomic_read_u32(&mirror->left_over) == 0 &&
		!TimestampDifferenceExceeds(passed, GetCurrentTimestamp(), GPB_PASSED_MS);
}

bool
gpb_refresh_can_wait(const GpbMirrorRef *ref, BlockNumber nblocks)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[ref->slot];
	uint32		left_over;
	uint64		changed;

	/* only a query's refresh lets the map grow */
	if (pg_atomic_read_u32(&mirror->nsegments) < gpb_map_segments_for(nblocks))
		return false;
	if (has_just_passed(mirror))
		return true;
	/* blocks that the mirror does not cover have their bits set */
	changed = gpb_map_count(ref->slot, nblocks);
	if (changed == 0)
		return true;
	if (changed > GPB_LEAVE_BLOCKS)
		return false;
	left_over = Min(pg_atomic_read_u32(&mirror->left_over), changed);
	return left_over == 0 ||
		pg_atomic_fetch_add_u64(&mirror->rent, left_over) < left_over + GPB_REFRESH_PRICE;
}
