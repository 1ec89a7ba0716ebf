/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Ordered scans of the index, forward and backward, page at a time.
 *
 * A scan visits, in index order, the ranges that its keys amount to (scankey.c).
 * On each leaf it finds by binary search the entries of every range
 * that reaches the leaf, copies those under the share lock, unlocks, and returns
 * them from the copy.
 *
 * The leaf's pin is kept while its entries are being returned, unless the
 * snapshot is a plain MVCC one, the index is logged and the heap will be visited for
 * each entry (nbtree's rule).  VACUUM needs a cleanup lock on the leaf before
 * it removes an entry, so the pin keeps a heap line pointer from being reused,
 * and a heap page from being set all-visible, between our reading the entry and
 * the caller's acting on it.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "index/dictionary.h"
#include "index/column_ranges.h"
#include "index/leaf_queue.h"
#include "index/row_bound.h"
#include "index/scan_copy.h"
#include "index/scan_parallel.h"
#include "index/scan_tuple.h"
#include "index/skip.h"

/*
 * A leaf as it was read.  Of its entries, those in [place.lower, place.upper) that the keys want
 * have been copied.
 */
typedef struct GpbPosition
{
	GpbPlace	place;			/* its block is InvalidBlockNumber if there is no position */
	Buffer		buffer;			/* pinned and not locked, or InvalidBuffer */
	XLogRecPtr	lsn;			/* of the leaf when it was read, if its pin is dropped */
	int			item;			/* the entry of the copy that was returned last */
	GpbCopy		copy;
} GpbPosition;

typedef struct GpbScan
{
	GpbLayout	layout;
	bool		prepared;		/* ranges are those of the current keys */
	bool		recheck;		/* the keys do not say all of the conditions (row_bound.h) */
	bool		neighbours;		/* the next range is often on the next leaf */
	bool		drop_pin;
	int			marked_item;	/* item of the mark if it is on the current leaf, else -1 */
	int			nkilled;
	uint16	   *killed;			/* items of the current copy that the caller found dead */
	GpbFormer  *former;
	GpbRangeSet set;
	GpbColumnSets *columns;		/* of a key with several columns, else NULL */
	GpbLeafQueue *queue;		/* for many ranges; made when first needed */
	bool		queued;			/* the queue has the current ranges */
	MemoryContext context;		/* of the ranges, where there are many */
	GpbPosition current;
	GpbPosition *mark;			/* made with the first mark */
} GpbScan;

/* ---- positions ---- */

/* Is the scan on a leaf? */
static inline bool
position_is_valid(const GpbPosition *position)
{
	return position->place.block != InvalidBlockNumber;
}

static void
position_init(GpbPosition *position)
{
	position->place.block = InvalidBlockNumber;
	position->buffer = InvalidBuffer;
	gpb_copy_init(&position->copy);
}

/* Give up a position and its pin. */
static void
position_release(GpbPosition *position)
{
	if (BufferIsValid(position->buffer))
		ReleaseBuffer(position->buffer);
	position->buffer = InvalidBuffer;
	position->place.block = InvalidBlockNumber;
}

/* Make target, which has been released, equal to source, with a pin of its own. */
static void
position_assign(GpbScan *so, GpbPosition *target,
				const GpbPosition *source)
{
	Assert(!position_is_valid(target));
	gpb_copy_assign(&target->copy, &source->copy, &so->layout, so->context);
	memcpy(target, source, offsetof(GpbPosition, copy));
	if (BufferIsValid(target->buffer))
		IncrBufferRefCount(target->buffer);
}

/* ---- dead hints ---- */

/*
 * Set the dead hint of one entry, if the entry is still on the page.  Returns whether this has
 * changed the page.  The leaf is locked share.
 */
static bool
set_dead(GpbScan *so, Page page, GpbBound entry)
{
	int			key_width = so->layout.key_width;
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	int			i = gpb_page_lower_bound(page, key_width, row_width, count,
										 entry);

	if (i >= count ||
		gpb_bound_cmp(gpb_page_bound(page, key_width, row_width, i), entry) != 0)
		return false;
	return gpb_page_set_dead(page, i);
}

/*
 * Set the hints of the entries that the caller found dead.  No page is locked on entry and exit.
 *
 * If the leaf was not pinned all the while, an entry's TID may have been reused.  The leaf's
 * unchanged LSN proves that it was not, since the pin is dropped only where the index is logged.
 */
static void
set_dead_hints(IndexScanDesc scan)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	GpbPosition *position = &so->current;
	bool		pinned = BufferIsValid(position->buffer);
	int			nkilled = so->nkilled;
	bool		changed = false;
	Buffer		buffer;
	Page		page;

	so->nkilled = 0;
	if (pinned)
	{
		buffer = position->buffer;
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
	}
	else
		buffer = gpb_read(scan->indexRelation, position->place.block,
						  BUFFER_LOCK_SHARE, &so->layout);

	page = BufferGetPage(buffer);
	if ((pinned || BufferGetLSNAtomic(buffer) == position->lsn) && GPB_BEGIN_HINTS(buffer))
	{
		for (int i = 0; i < nkilled; i++)
		{
			int			item = so->killed[i];
			GpbBound	entry;

			entry.key = gpb_copy_key(&position->copy, so->layout.key_width, item);
			entry.tie = gpb_row_locator(gpb_copy_row(&position->copy,
													 so->layout.row_width,
													 item)) & GPB_TIE_MASK;
			changed |= set_dead(so, page, entry);
		}
		if (changed)
			MarkBufferDirtyHint(buffer, true);
	}

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (!pinned)
		ReleaseBuffer(buffer);
}

/* Remember that the entry returned last is dead to everybody. */
static void
remember_killed(GpbScan *so)
{
	if (so->killed == NULL)
		so->killed = MemoryContextAlloc(so->context,
										GPB_MAX_LEAF_ENTRIES * sizeof(uint16));
	/* A scan that turns around may meet an entry again; what there is no room for is dropped. */
	if (so->nkilled < GPB_MAX_LEAF_ENTRIES)
		so->killed[so->nkilled++] = so->current.item;
}

/* ---- reading leaves ---- */

static inline GpbBound
bound_max(GpbBound a, GpbBound b)
{
	return gpb_bound_less(a, b) ? b : a;
}

static inline GpbBound
bound_min(GpbBound a, GpbBound b)
{
	return gpb_bound_less(a, b) ? a : b;
}

/* Leave the current leaf: set its hints, save its copy if it has the mark, and drop the pin. */
static void
scan_leave(IndexScanDesc scan)
{
	GpbScan    *so = (GpbScan *) scan->opaque;

	if (!position_is_valid(&so->current))
		return;
	if (so->nkilled > 0)
		set_dead_hints(scan);
	if (so->marked_item >= 0)
	{
		position_assign(so, so->mark, &so->current);
		so->mark->item = so->marked_item;
		so->marked_item = -1;
	}
	position_release(&so->current);
}

/*
 * Describe a locked leaf to which the scan has come in this direction, for the ranges from "range"
 * on, which is the first of those that may be there or, backward, the last.  Sets *first and *last
 * to the ranges that reach the leaf.
 */
static void
scan_set_place(GpbScan *so, GpbPlace *place, Buffer buffer, int range, bool forward, bool walked,
			   int *first, int *last)
{
	Page		page = BufferGetPage(buffer);
	const GpbPageSpecial *special = gpb_special(page);
	const GpbRange *ranges = so->set.ranges;

	place->block = BufferGetBlockNumber(buffer);
	place->left = special->left;
	place->right = special->right;
	place->lower = place->low = gpb_page_low(page);
	place->upper = place->high = gpb_page_high(page);
	place->walked = walked;
	*first = *last = range;

	/* Ranges on the other side of "range" were read before, and may reach here. */
	if (forward)
	{
		while (*last + 1 < so->set.count &&
			   gpb_bound_less(ranges[*last + 1].lo, place->high))
			(*last)++;
		if (gpb_bound_less(place->lower, ranges[*first].lo))
			place->lower = ranges[*first].lo;
	}
	else
	{
		while (*first > 0 &&
			   gpb_bound_less(place->lower, ranges[*first - 1].hi))
			(*first)--;
		if (gpb_bound_less(ranges[*last].hi, place->high))
			place->upper = ranges[*last].hi;
	}
	place->range = forward ? *last : *first;
}

/* Copy what ranges [first, last] have on a locked leaf; "range" is narrowed there to skip. */
static void
scan_copy_leaf(IndexScanDesc scan, Page page, bool forward, int range, int first, int last)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	GpbPosition *position = &so->current;
	GpbRange   *ranges = so->set.ranges;
	GpbRange	whole = ranges[range];

	position->copy.count = 0;
	if (gpb_skips(so->columns))
		gpb_skip_on_leaf(so->columns, page, forward, &ranges[range]);
	if (!gpb_copy_ranges(&position->copy, &so->layout, so->context, page, position->place.high,
						 &ranges[first], &ranges[last], so->queued, scan->ignore_killed_tuples))
		gpb_corrupted(scan->indexRelation, position->place.block, "entries are out of order");
	ranges[range] = whole;
	position->item = forward ? -1 : position->copy.count;
}

/*
 * Read a leaf to which the scan has come in this direction, by a right link if "walked" says so.
 * "range" is the first of the ranges that may be there, or, backward, the last.  The leaf is pinned
 * and locked share on entry; on exit it is unlocked, and its pin is dropped if that is allowed.
 * Afterwards the current position is on the leaf, before its first item or, backward, after its
 * last; a parallel scan's other processes go on from there as soon as the place is known.
 */
static void
scan_read_leaf(IndexScanDesc scan, Buffer buffer, int range, ScanDirection direction, bool walked)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	GpbPosition *position = &so->current;
	Page		page = BufferGetPage(buffer);
	bool		forward = ScanDirectionIsForward(direction);
	int			first;
	int			last;

	TestForOldSnapshot(scan->xs_snapshot, scan->indexRelation, page);

	scan_set_place(so, &position->place, buffer, range, forward, walked, &first, &last);
	position->buffer = buffer;
	/* with data checksums this writes to the buffer's header, which other scans of the leaf read */
	position->lsn = so->drop_pin ? BufferGetLSNAtomic(buffer) : InvalidXLogRecPtr;
	if (scan->parallel_scan != NULL)
		gpb_parallel_scan_release(scan, &position->place);
	PredicateLockPage(scan->indexRelation, position->place.block, scan->xs_snapshot);
	scan_copy_leaf(scan, page, forward, range, first, last);

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (so->drop_pin)
	{
		ReleaseBuffer(buffer);
		position->buffer = InvalidBuffer;
	}
}

/*
 * Ask the queue for the leaf where a range begins or, backward, ends.  The scan has many ranges.
 * The leaf is pinned and locked share on return.
 */
static Buffer
scan_queued_leaf(IndexScanDesc scan, int range, ScanDirection direction)
{
	GpbScan    *so = (GpbScan *) scan->opaque;

	if (so->queue == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(so->context);

		so->queue = gpb_leaf_queue_create(scan->indexRelation, &so->layout);
		MemoryContextSwitchTo(old);
	}
	if (!so->queued || gpb_leaf_queue_direction(so->queue) != direction)
		gpb_leaf_queue_start(so->queue, &so->set, direction);
	so->queued = true;
	return gpb_leaf_queue_find(so->queue, range);
}

/*
 * Find the leaf where a range, or what is left of it from "bound" on, begins or, backward, ends;
 * and read it.
 */
static void
scan_descend(IndexScanDesc scan, int range, GpbBound bound, ScanDirection direction)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	bool		forward = ScanDirectionIsForward(direction);
	GpbBound   *end = forward ? &so->set.ranges[range].lo : &so->set.ranges[range].hi;
	GpbBound	whole = *end;
	Buffer		buffer;

	/* the queue would prefetch what other processes read */
	if (so->set.count < GPB_QUEUE_LEAST_RANGES || gpb_bound_cmp(bound, whole) != 0 ||
		scan->parallel_scan != NULL)
		buffer = gpb_search(scan->indexRelation, &so->layout, bound,
							BUFFER_LOCK_SHARE, NULL);
	else
		buffer = scan_queued_leaf(scan, range, direction);
	*end = bound;
	scan_read_leaf(scan, buffer, range, direction, false);
	*end = whole;
}

/*
 * Go on to the right of where "from" was read to, usually to the right sibling as it was linked
 * then. If "from" has been split since, the entries that moved to the new page have been read.  If
 * the sibling has been deleted, the leaf that took over its keys begins before the place where the
 * scan is, and may have entries there: those are left out.
 */
static void
scan_step_right(IndexScanDesc scan, const GpbPlace *from, int range)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	GpbRange   *first = &so->set.ranges[range];
	GpbBound	lo = first->lo;
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	if (gpb_bound_cmp(from->upper, from->high) == 0)
		buffer = gpb_read_next(scan->indexRelation, &so->layout, from->block, from->right,
							   InvalidBuffer, 0, from->high);
	else
		buffer = gpb_search(scan->indexRelation, &so->layout, from->upper, BUFFER_LOCK_SHARE,
							NULL);
	if (gpb_bound_less(lo, from->upper))
		first->lo = from->upper;
	scan_read_leaf(scan, buffer, range, ForwardScanDirection, true);
	first->lo = lo;
}

/*
 * Go on to the left of where "from" was read from, usually to the left sibling.  If that has been
 * deleted, the leaf that took over its keys may be "from" itself: entries where the scan has been
 * are left out.
 */
static void
scan_step_left(IndexScanDesc scan, const GpbPlace *from, int range)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	GpbRange   *last = &so->set.ranges[range];
	GpbBound	hi = last->hi;
	bool		whole = gpb_bound_cmp(from->lower, from->low) == 0;
	Buffer		buffer = gpb_read_left(scan->indexRelation, &so->layout,
									   whole ? from->left : from->block,
									   whole ? from->block : InvalidBlockNumber, from->lower);

	if (gpb_bound_less(from->lower, hi))
		last->hi = from->lower;
	scan_read_leaf(scan, buffer, range, BackwardScanDirection, false);
	last->hi = hi;
}

/*
 * Go on from a place to the next leaf that may hold wanted entries, to the right.  "found" says
 * that the leaf before had some.  Returns false if there is none.
 */
static bool
scan_next_leaf(IndexScanDesc scan, const GpbPlace *from, bool found)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	GpbRange   *ranges = so->set.ranges;
	int			range = from->range;
	bool		to_page_end;
	GpbBound	bound;

	if (from->right == GPB_NO_BLOCK && from->walked)
		gpb_require_last(scan->indexRelation, &so->layout, from->block);

	while (range < so->set.count &&
		   !gpb_bound_less(from->upper, ranges[range].hi))
		range++;
	if (range >= so->set.count)
		return false;

	bound = bound_max(ranges[range].lo, from->upper);
	if (gpb_skips(so->columns) && !gpb_skip_right(so->columns, &so->set, &range, &bound))
		return false;
	to_page_end = !gpb_bound_less(from->upper, from->high);
	if (gpb_bound_less(ranges[range].lo, from->upper) && !gpb_bound_less(from->upper, bound))
		scan_step_right(scan, from, range);
	else if (so->neighbours && to_page_end && from->right != GPB_NO_BLOCK)
	{
		/* If the bound is not on that leaf, nothing is copied, and the scan comes back here. */
		scan_step_right(scan, from, range);
		so->neighbours = gpb_bound_less(bound, so->current.place.high);
	}
	else
	{
		scan_descend(scan, range, bound, ForwardScanDirection);
		/*
		 * The queue knows which leaf is next, and has prefetched it.  A leaf that had nothing says
		 * nothing of how far it is from one that has something to the next such leaf.
		 */
		so->neighbours = so->current.place.block == from->right && found &&
			so->set.count < GPB_QUEUE_LEAST_RANGES;
	}
	return true;
}

/*
 * Go on from a place to the next leaf that may hold wanted entries, to the left.  Returns false if
 * there is none.
 *
 * A descent for a bound may come to a leaf that begins there.  Then what is wanted is further left,
 * though nothing of the leaf was read.
 */
static bool
scan_previous_leaf(IndexScanDesc scan, const GpbPlace *from)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	GpbRange   *ranges = so->set.ranges;
	int			range = from->range;
	GpbBound	bound;

	while (range >= 0 && !gpb_bound_less(ranges[range].lo, from->lower))
		range--;
	if (range < 0)
		return false;
	bound = bound_min(ranges[range].hi, from->lower);
	if (gpb_skips(so->columns) && !gpb_skip_left(so->columns, &so->set, &range, &bound))
		return false;
	if (gpb_bound_less(bound, from->lower))
		scan_descend(scan, range, bound, BackwardScanDirection);
	else
		scan_step_left(scan, from, range);
	return true;
}

/* Turn the scan keys into ranges. */
static void
scan_prepare(IndexScanDesc scan)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	MemoryContext old = MemoryContextSwitchTo(so->context);

	so->recheck = gpb_keys_need_recheck(scan->keyData, scan->numberOfKeys);
	if (so->columns != NULL)
	{
		gpb_column_sets_reset(so->columns);
		gpb_columns_from_keys(scan->indexRelation, scan->keyData, scan->numberOfKeys,
							  so->columns, &so->set);
		if (so->recheck)
			gpb_ranges_clip_rows(scan->indexRelation, &so->layout, scan->keyData,
								 scan->numberOfKeys, &so->set);
	}
	else
		gpb_ranges_from_keys(scan->indexRelation, &so->layout, scan->keyData,
							 scan->numberOfKeys, &so->set);
	MemoryContextSwitchTo(old);
	so->prepared = true;
	so->queued = false;
}

/* Read the leaf where the first or last range begins.  Returns false if nothing is wanted. */
static bool
scan_end_leaf(IndexScanDesc scan, bool forward)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	int			range = forward ? 0 : so->set.count - 1;
	GpbBound	bound = forward ? so->set.ranges[range].lo : so->set.ranges[range].hi;

	if (gpb_skips(so->columns) &&
		!(forward ? gpb_skip_right(so->columns, &so->set, &range, &bound) :
		  gpb_skip_left(so->columns, &so->set, &range, &bound)))
		return false;
	scan_descend(scan, range, bound, forward ? ForwardScanDirection : BackwardScanDirection);
	return true;
}

/*
 * Go on to the next leaf in this direction, from the current position or, without one, from the end
 * that the direction names.  Returns false, without a position, if there is none.  In a parallel
 * scan the place to go on from is that of whoever read a leaf last.
 */
static bool
scan_go_on(IndexScanDesc scan, ScanDirection direction)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	bool		forward = ScanDirectionIsForward(direction);
	GpbPlace	from = so->current.place;
	bool		had_entries = so->current.copy.count > 0;
	bool		found;

	scan_leave(scan);
	if (scan->parallel_scan != NULL && !gpb_parallel_scan_seize(scan, &from))
		return false;
	if (from.block == InvalidBlockNumber)
		found = scan_end_leaf(scan, forward);
	else
		found = forward ? scan_next_leaf(scan, &from, had_entries) :
			scan_previous_leaf(scan, &from);
	if (!found && scan->parallel_scan != NULL)
		gpb_parallel_scan_done(scan);
	return found;
}

/*
 * Turn the scan keys into ranges, and begin at the first or last of them.  Returns false if there
 * are none.
 */
static bool
scan_first_leaf(IndexScanDesc scan, ScanDirection direction)
{
	GpbScan    *so = (GpbScan *) scan->opaque;

	gpb_require_snapshot(scan->indexRelation, scan->xs_snapshot);
	if (!so->prepared)
		scan_prepare(scan);

	pgstat_count_index_scan(scan->indexRelation);
	GPB_COUNT_SEARCH(scan);
	if (so->set.count == 0)
		return false;
	so->drop_pin = !scan->xs_want_itup &&
		IsMVCCSnapshot(scan->xs_snapshot) &&
		RelationNeedsWAL(scan->indexRelation);
	so->neighbours = false;
	so->current.copy.count = 0;
	return scan->parallel_scan != NULL ? scan_go_on(scan, direction) :
		scan_end_leaf(scan, ScanDirectionIsForward(direction));
}

/* ---- returning entries ---- */

/*
 * Do the keys want this entry of the current leaf's copy?  Where the key has several columns there
 * may be conditions that the ranges do not say.
 */
static inline bool
is_wanted(GpbScan *so, int item)
{
	return so->columns == NULL ||
		gpb_column_sets_pass(so->columns,
							 gpb_copy_key(&so->current.copy, so->layout.key_width, item));
}

/* Does the scan heed dead hints, and is this entry hinted dead? */
static inline bool
is_dead(IndexScanDesc scan, uint64 locator)
{
	return (locator & GPB_LOC_DEAD) != 0 && scan->ignore_killed_tuples;
}

/* Set xs_heaptid to the row that an entry of the current leaf points to. */
static inline void
locator_tid(IndexScanDesc scan, uint64 locator, ItemPointer tid)
{
	if (unlikely(gpb_locator_offset(locator) == InvalidOffsetNumber))
		gpb_corrupted(scan->indexRelation,
					  ((GpbScan *) scan->opaque)->current.place.block,
					  "entry points to no heap tuple");
	ItemPointerSet(tid, gpb_locator_block(locator),
				   gpb_locator_offset(locator));
}

/*
 * Set xs_hitup to a tuple like xs_itup, with the values that this lacks, from the entry's row in
 * the table.  Returns false if the scan's snapshot does not see the row: the caller wants none
 * then.
 */
static bool
scan_complete_tuple(IndexScanDesc scan)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	Datum		values[GPB_MAX_KEYS + GPB_MAX_INCLUDE];
	bool		isnull[GPB_MAX_KEYS + GPB_MAX_INCLUDE];
	const char *row = gpb_copy_row(&so->current.copy, so->layout.row_width, so->current.item);
	int			nkeys = gpb_count_keys(&so->layout);
	MemoryContext work = AllocSetContextCreate(so->context, "gpubtree row", ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(work);
	bool		seen = true;

	index_deform_tuple(scan->xs_itup, scan->xs_itupdesc, values, isnull);
	for (int c = 0; c < so->layout.ncolumns && seen; c++)
	{
		if (so->layout.coding[c] == GPB_CODING_DICTIONARY && !isnull[nkeys + c] &&
			(uint32) gpb_row_value(row, so->layout.offset[c], so->layout.kind[c]) == GPB_ELSEWHERE)
			seen = gpb_value_elsewhere(scan->heapRelation, scan->indexRelation, scan->xs_snapshot,
									   &scan->xs_heaptid, nkeys + c + 1, &values[nkeys + c],
									   &isnull[nkeys + c]);
	}
	MemoryContextSwitchTo(so->context);
	if (seen)
		scan->xs_hitup = heap_form_tuple(scan->xs_hitupdesc, values, isnull);
	scan->xs_itup->t_info &= ~GPB_TUPLE_LACKS;
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
	return seen;
}

/* Free what scan_complete_tuple() made. */
static inline void
scan_free_tuple(IndexScanDesc scan)
{
	if (unlikely(scan->xs_hitup != NULL))
		heap_freetuple(scan->xs_hitup);
	scan->xs_hitup = NULL;
}

/*
 * Set xs_itup, and xs_itupdesc to its descriptor, or xs_hitup if there are values that are
 * elsewhere, to the tuple of an entry of the current leaf, which stays valid until the next entry
 * is returned.  Returns false if the entry is not wanted.
 */
static inline bool
scan_form_tuple(IndexScanDesc scan, int item, const char *row)
{
	GpbScan    *so = (GpbScan *) scan->opaque;

	if (so->former == NULL)
	{
		so->former = gpb_former_create(scan->indexRelation, &so->layout, so->context);
		scan->xs_itupdesc = gpb_former_descriptor(gpb_layout_columns(&so->layout));
	}
	scan->xs_itup = gpb_former_tuple(so->former,
									 gpb_copy_key(&so->current.copy, so->layout.key_width, item),
									 row, &scan->xs_heaptid);
	scan_free_tuple(scan);
	return likely((scan->xs_itup->t_info & GPB_TUPLE_LACKS) == 0) || scan_complete_tuple(scan);
}

/*
 * Step to the next entry of the current leaf's copy that is not known to be dead, and return it to
 * the caller.  Returns false if there is none.
 */
static inline bool
scan_next_item(IndexScanDesc scan, ScanDirection direction)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	GpbPosition *position = &so->current;
	int			step = ScanDirectionIsForward(direction) ? 1 : -1;
	int			item = position->item;

	while ((item += step) >= 0 && item < position->copy.count)
	{
		const char *row = gpb_copy_row(&position->copy, so->layout.row_width,
									   item);
		uint64		locator = gpb_row_locator(row);

		if (is_dead(scan, locator) || !is_wanted(so, item))
			continue;
		position->item = item;
		locator_tid(scan, locator, &scan->xs_heaptid);
		if (scan->xs_want_itup && !scan_form_tuple(scan, item, row))
			continue;
		return true;
	}
	position->item = item;
	return false;
}

/*
 * amgettuple: return the next entry.  After false the scan has no position, and the next call
 * begins anew from the end that its direction names.
 */
bool
gpb_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	bool		found;

	Assert(!ScanDirectionIsNoMovement(direction));

	if (!position_is_valid(&so->current))
		found = scan_first_leaf(scan, direction);
	else
	{
		if (scan->kill_prior_tuple)
			remember_killed(so);
		found = true;
	}

	/* Entries hold the keys themselves, and all that the scan keys say is tested. */
	scan->xs_recheck = so->recheck;
	while (found)
	{
		if (scan_next_item(scan, direction))
			return true;
		found = scan_go_on(scan, direction);
	}
	return false;
}

/* amgetbitmap: add all entries to a bitmap. */
int64
gpb_getbitmap(IndexScanDesc scan, TIDBitmap *tbm)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	GpbCopy    *copy = &so->current.copy;
	ItemPointerData tids[GPB_MAX_LEAF_ENTRIES];
	int64		total = 0;
	bool		found = scan_first_leaf(scan, ForwardScanDirection);

	while (found)
	{
		int			ntids = 0;

		for (int i = 0; i < copy->count; i++)
		{
			uint64		locator = gpb_row_locator(gpb_copy_row(copy,
															   so->layout.row_width,
															   i));

			if (!is_dead(scan, locator) && is_wanted(so, i))
				locator_tid(scan, locator, &tids[ntids++]);
		}
		if (ntids > 0)
			tbm_add_tuples(tbm, tids, ntids, so->recheck);
		total += ntids;
		found = scan_go_on(scan, ForwardScanDirection);
	}
	return total;
}

/* ---- beginning, ending, marking ---- */

/* ambeginscan: begin a scan. */
IndexScanDesc
gpb_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	GpbScan    *so = palloc(sizeof(GpbScan));

	Assert(norderbys == 0);
	so->layout = *gpb_layout(index);
	so->prepared = false;
	so->recheck = false;
	so->neighbours = false;
	so->drop_pin = false;
	so->marked_item = -1;
	so->nkilled = 0;
	so->killed = NULL;
	so->former = NULL;
	so->set.ranges = NULL;
	so->set.count = 0;
	so->set.capacity = 0;
	so->columns = NULL;
	if (so->layout.nkeys > 0)
	{
		so->columns = palloc(sizeof(GpbColumnSets));
		gpb_column_sets_init(so->columns, &so->layout, CurrentMemoryContext);
	}
	so->queue = NULL;
	so->queued = false;
	so->context = CurrentMemoryContext;
	position_init(&so->current);
	so->mark = NULL;

	scan->xs_itupdesc = RelationGetDescr(index);
	scan->xs_hitupdesc = RelationGetDescr(index);
	scan->opaque = so;
	return scan;
}

/* Give up the current position and the mark. */
static void
scan_reset(IndexScanDesc scan)
{
	GpbScan    *so = (GpbScan *) scan->opaque;

	so->marked_item = -1;
	scan_leave(scan);
	if (so->mark)
		position_release(so->mark);
}

/* amrescan: begin the scan anew, with other keys. */
void
gpb_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
		   ScanKey orderbys, int norderbys)
{
	GpbScan    *so = (GpbScan *) scan->opaque;

	scan_reset(scan);
	if (keys && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	so->prepared = false;
}

void
gpb_scan_use_range(IndexScanDesc scan, GpbRange range)
{
	GpbScan    *so = (GpbScan *) scan->opaque;
	MemoryContext old = MemoryContextSwitchTo(so->context);

	Assert(scan->numberOfKeys == 0);
	scan_prepare(scan);
	so->set.ranges[0] = range;
	so->set.count = gpb_bound_less(range.lo, range.hi) ? 1 : 0;
	MemoryContextSwitchTo(old);
}

/* amendscan: end the scan. */
void
gpb_endscan(IndexScanDesc scan)
{
	GpbScan    *so = (GpbScan *) scan->opaque;

	scan_reset(scan);
	scan_free_tuple(scan);
	if (so->set.ranges)
		pfree(so->set.ranges);
	if (so->columns)
	{
		gpb_column_sets_reset(so->columns);
		pfree(so->columns);
	}
	if (so->queue)
		pfree(so->queue);
	if (so->killed)
		pfree(so->killed);
	if (so->former)
		gpb_former_free(so->former);
	if (so->mark)
	{
		gpb_copy_free(&so->mark->copy);
		pfree(so->mark);
	}
	gpb_copy_free(&so->current.copy);
	pfree(so);
}

/*
 * ammarkpos: mark the current position.  As long as the scan stays on the leaf, the mark is the
 * item's number; the copy of the leaf is saved when the scan leaves it.
 */
void
gpb_markpos(IndexScanDesc scan)
{
	GpbScan    *so = (GpbScan *) scan->opaque;

	if (so->mark == NULL)
	{
		so->mark = MemoryContextAlloc(so->context, sizeof(GpbPosition));
		position_init(so->mark);
	}
	position_release(so->mark);
	so->marked_item = position_is_valid(&so->current) ?
		so->current.item : -1;
}

/* amrestrpos: go back to the mark. */
void
gpb_restrpos(IndexScanDesc scan)
{
	GpbScan    *so = (GpbScan *) scan->opaque;

	if (so->marked_item >= 0)
	{
		so->current.item = so->marked_item;
		return;
	}
	scan_leave(scan);
	if (so->mark && position_is_valid(so->mark))
		position_assign(so, &so->current, so->mark);
}

/* amcanreturn: an index-only scan can return every column, since entries hold their values. */
bool
gpb_canreturn(Relation index, int attno)
{
	return true;
}
