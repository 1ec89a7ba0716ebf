/*-------------------------------------------------------------------------
 *
 * check_unique.c
 *	  The part of gpubtree_check() for unique indexes: does a snapshot see two rows of one key?
 *
 * A snapshot is taken first, and then the leaves are walked from left to right.  Of entries with
 * equal keys all may be there but one: old versions of a row, deleted rows, those of transactions
 * that failed or are in progress.  So where several entries are equal, the table is asked which of
 * their rows the snapshot sees.  src/index/README, "Checking", argues that this raises no false
 * alarm.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"
#include "hold.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "index/index.h"
#include "index/unique.h"

typedef struct UniqueCheck
{
	Relation	index;
	Relation	heap;
	GpbLayout	layout;			/* a copy, since the relcache may free its own */
	bool		keys_are_same;	/* have equal values always the same key? */
	Snapshot	snapshot;
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;
	BlockNumber heap_blocks;	/* length of the table when it was last looked at */
	MemoryContext context;		/* for the values of one entry */
	PGAlignedBlock leaf;		/* a copy */

	/* The entry before the one at hand, and what is known of those that equal it */
	bool		is_first;		/* there is none */
	GpbBound	last;
	uint64		last_locator;
	bool		last_was_asked; /* the table has been asked about its row */
	bool		has_visible;	/* the snapshot sees the row of one of them, visible_locator */
	uint64		visible_locator;
} UniqueCheck;

/* Does the snapshot see a row that an entry leads to, at the TID or in the HOT chain from there? */
static bool
is_visible(UniqueCheck *check, uint64 locator)
{
	ItemPointerData tid;
	bool		call_again = false;

	ItemPointerSet(&tid, gpb_locator_block(locator), gpb_locator_offset(locator));
	/* The table is not truncated while its lock is held. */
	if (gpb_locator_block(locator) >= check->heap_blocks)
		check->heap_blocks = RelationGetNumberOfBlocks(check->heap);
	if (gpb_locator_block(locator) >= check->heap_blocks)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has an entry for row (%u,%u), beyond the end of table \"%s\"",
						RelationGetRelationName(check->index),
						gpb_locator_block(locator), gpb_locator_offset(locator),
						RelationGetRelationName(check->heap))));
	return table_index_fetch_tuple(check->fetch, &tid, check->snapshot, check->slot,
								   &call_again, NULL);
}

/* Raise the error of two visible rows with the same values. */
static void
raise_duplicate(UniqueCheck *check, uint64 locator, const Datum *values, const bool *isnull)
{
	char	   *key = BuildIndexValueDescription(check->index, (Datum *) values, (bool *) isnull);

	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("unique index \"%s\" has rows (%u,%u) and (%u,%u) of table \"%s\" with equal keys",
					RelationGetRelationName(check->index),
					gpb_locator_block(check->visible_locator),
					gpb_locator_offset(check->visible_locator),
					gpb_locator_block(locator), gpb_locator_offset(locator),
					RelationGetRelationName(check->heap)),
			 key != NULL ? errdetail("Both have key %s.", key) : 0,
			 errhint("Delete or change one of the rows, then REINDEX the index.")));
}

/*
 * Get the values of entry i of the leaf, and tell whether it is to be unique and equals the entry
 * before it.
 */
static bool
equals_last(UniqueCheck *check, int i, GpbBound bound, Datum *values, bool *isnull)
{
	const GpbLayout *layout = &check->layout;
	GpbSpreadRow spread;
	const char *row = gpb_spread_row(check->leaf.data, gpb_page_row_width(check->leaf.data), i,
									 &spread);
	GpbRange	equal;

	for (int c = 0; c < gpb_count_keys(layout); c++)
		values[c] = gpb_entry_datum(layout, bound.key, row, c + 1, &isnull[c]);
	if (!gpb_unique_binds(check->index, isnull))
		return false;
	equal = gpb_equal_range(check->index, layout, values, isnull, bound.key);
	return !gpb_bound_less(check->last, equal.lo);
}

/* Compare entry i of the leaf with the one before it. */
static void
check_entry(UniqueCheck *check, int i)
{
	const GpbLayout *layout = &check->layout;
	int			row_width = gpb_page_row_width(check->leaf.data);
	GpbBound	bound = gpb_page_bound(check->leaf.data, layout->key_width, row_width, i);
	uint64		locator = gpb_page_locator(check->leaf.data, row_width, i);
	Datum		values[GPB_MAX_KEYS];
	bool		isnull[GPB_MAX_KEYS];
	bool		is_asked = false;

	/* The cheap test comes first: few entries have the key of the one before. */
	if (!check->is_first && (!check->keys_are_same || bound.key == check->last.key))
	{
		MemoryContext old = MemoryContextSwitchTo(check->context);

		if (equals_last(check, i, bound, values, isnull))
		{
			if (!check->last_was_asked && is_visible(check, check->last_locator))
			{
				check->has_visible = true;
				check->visible_locator = check->last_locator;
			}
			is_asked = true;
			if (is_visible(check, locator))
			{
				if (check->has_visible)
					raise_duplicate(check, locator, values, isnull);
				check->has_visible = true;
				check->visible_locator = locator;
			}
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(check->context);
	}
	if (!is_asked)
		check->has_visible = false;
	check->is_first = false;
	check->last = bound;
	check->last_locator = locator;
	check->last_was_asked = is_asked;
}

/*
 * Walk the leaves.  A leaf that took over the keys of a deleted one begins before the place where
 * the walk is, and may have entries there, which have come since: those are left out.
 */
static void
check_leaves(UniqueCheck *check)
{
	const GpbLayout *layout = &check->layout;
	GpbBound	from = GPB_BOUND_MIN;
	Buffer		buffer = gpb_search(check->index, layout, from, BUFFER_LOCK_SHARE, NULL);

	for (;;)
	{
		BlockNumber block = BufferGetBlockNumber(buffer);
		const char *leaf = check->leaf.data;
		BlockNumber right;
		int			count;

		memcpy(check->leaf.data, BufferGetPage(buffer), BLCKSZ);
		UnlockReleaseBuffer(buffer);
		GPB_HOLD("check-unique");
		CHECK_FOR_INTERRUPTS();

		count = gpb_page_count(leaf);
		for (int i = gpb_page_lower_bound(leaf, layout->key_width, gpb_page_row_width(leaf), count,
										  from);
			 i < count; i++)
			check_entry(check, i);
		/* Let go of the heap page: VACUUM may wait for it. */
		table_index_fetch_reset(check->fetch);
		ExecClearTuple(check->slot);

		right = gpb_page_special(leaf)->right;
		from = gpb_page_high(leaf);
		if (right == GPB_NO_BLOCK)
		{
			gpb_require_last(check->index, layout, block);
			return;
		}
		buffer = gpb_read_next(check->index, layout, block, right, InvalidBuffer, 0, from);
	}
}

void
gpb_check_unique(Relation index, Relation heap)
{
	UniqueCheck *check = palloc(sizeof(UniqueCheck));

	check->index = index;
	check->heap = heap;
	check->layout = *gpb_layout(index);
	check->keys_are_same = gpb_equal_keys_are_same(&check->layout);

	/*
	 * The snapshot is new, whatever the transaction has: an older one may see versions of rows that
	 * were in HOT chains before the index was built, and have other values than the entries.
	 */
	check->snapshot = RegisterSnapshot(GetLatestSnapshot());
	check->fetch = table_index_fetch_begin(heap);
	check->slot = table_slot_create(heap, NULL);
	check->heap_blocks = 0;
	check->context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree unique check",
										   ALLOCSET_DEFAULT_SIZES);
	check->is_first = true;
	check->has_visible = false;
	check->last_was_asked = false;
	check_leaves(check);

	MemoryContextDelete(check->context);
	ExecDropSingleTupleTableSlot(check->slot);
	table_index_fetch_end(check->fetch);
	UnregisterSnapshot(check->snapshot);
	pfree(check);
}
