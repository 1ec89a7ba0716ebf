/*-------------------------------------------------------------------------
 *
 * batch_scan.c
 *	  Engine: an ordinary index scan for each range, where only core may judge (rule M8).
 *
 * Core fetches every row from the heap, decides on its visibility, takes predicate locks and
 * notices snapshots that are too old.  The values are the index's.
 *
 * Where the key has several columns, the index is handed the range itself.  Otherwise scan keys say
 * it.  A range given by its bounds may have NULL keys, which no comparison finds.  Such a range is
 * scanned in two steps, first keys that are not NULL and then keys that are, unless it covers the
 * whole index.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/dictionary.h"
#include "index/index.h"
#include "engine/batch_engine.h"

/* What of a range is scanned next */
typedef enum GpbScanStep
{
	GPB_SCAN_KEYS,				/* its entries whose key is not NULL */
	GPB_SCAN_NULLS,				/* its entries whose key is NULL */
	GPB_SCAN_STEPS
} GpbScanStep;

typedef struct GpbBatchScan
{
	IndexScanDesc scan;
	TupleTableSlot *slot;
	RegProcedure at_least;		/* the functions of ">=" and "<=" for the key's type */
	RegProcedure at_most;
	uint32		range;			/* the range that is being scanned, or is next */
	GpbScanStep step;			/* the step of that range */
	bool		scanning;
	MemoryContext values;		/* what the scan keys at hand point to */
} GpbBatchScan;

/* The function of a comparison of two keys. */
static RegProcedure
key_procedure(Relation index, StrategyNumber strategy)
{
	Oid			type = index->rd_opcintype[0];
	Oid			operator = get_opfamily_member(index->rd_opfamily[0], type, type, strategy);

	if (!OidIsValid(operator))
		elog(ERROR, "missing operator %d(%u,%u) in operator family %u of index \"%s\"",
			 strategy, type, type, index->rd_opfamily[0], RelationGetRelationName(index));
	return get_opcode(operator);
}

static void
batch_scan_start(GpbBatch *batch)
{
	GpbBatchScan *state = palloc0(sizeof(GpbBatchScan));

	batch->state = state;
	state->at_least = key_procedure(batch->index, BTGreaterEqualStrategyNumber);
	state->at_most = key_procedure(batch->index, BTLessEqualStrategyNumber);
	state->slot = table_slot_create(batch->heap, NULL);
	state->values = AllocSetContextCreate(CurrentMemoryContext, "gpubtree scan keys",
										  ALLOCSET_SMALL_SIZES);
	state->range = batch->first;
}

static void
batch_scan_end(GpbBatch *batch)
{
	GpbBatchScan *state = (GpbBatchScan *) batch->state;

	batch->state = NULL;
	if (state->scan != NULL)
		index_endscan(state->scan);
	ExecDropSingleTupleTableSlot(state->slot);
	MemoryContextDelete(state->values);
	pfree(state);
}

/* ---- scan keys ---- */

/*
 * Make scan keys of an interval of keys.  Returns their number, or -1 if the interval is empty.
 * The normalized keys of a smallint index could be beyond its type.
 */
static int
scan_keys_of_interval(const GpbBatch *batch, const GpbBatchScan *state, GpbKeyRange keys,
					  ScanKey key)
{
	const GpbLayout *layout = &batch->program.layout;
	bool		desc = (layout->flags & GPB_LAYOUT_DESC) != 0;

	gpb_clip_to_type(layout, &keys);
	if (keys.lo > keys.hi)
		return -1;
	ScanKeyInit(&key[0], 1, BTGreaterEqualStrategyNumber, state->at_least,
				gpb_key_datum(layout, desc ? keys.hi : keys.lo));
	ScanKeyInit(&key[1], 1, BTLessEqualStrategyNumber, state->at_most,
				gpb_key_datum(layout, desc ? keys.lo : keys.hi));
	return 2;
}

/*
 * Make scan keys of a range of (key, tie) for this step.  Returns their number, or -1 if the range
 * has nothing for this step.  Whoever gives ranges as bounds has all entries with the same key in
 * one range.
 */
static int
scan_keys_of_bounds(const GpbBatch *batch, const GpbBatchScan *state, GpbRange range,
					ScanKey key)
{
	const GpbLayout *layout = &batch->program.layout;
	GpbRange	nulls = gpb_range_null(layout);
	GpbRange	not_null = gpb_range_not_null(layout);
	bool		everything = gpb_bound_cmp(range.lo, GPB_BOUND_MIN) == 0 &&
		gpb_bound_cmp(range.hi, GPB_BOUND_MAX) == 0;
	GpbKeyRange keys;

	if (state->step == GPB_SCAN_KEYS)
	{
		if (everything)
			return 0;
		if (gpb_bound_less(range.lo, not_null.lo))
			range.lo = not_null.lo;
		if (gpb_bound_less(not_null.hi, range.hi))
			range.hi = not_null.hi;
		return gpb_closed_range(layout, &range, &keys) ?
			scan_keys_of_interval(batch, state, keys, key) : -1;
	}
	if (everything || !gpb_bound_less(range.lo, nulls.hi) || !gpb_bound_less(nulls.lo, range.hi))
		return -1;
	ScanKeyEntryInitialize(&key[0], SK_ISNULL | SK_SEARCHNULL, 1, InvalidStrategy, InvalidOid,
						   InvalidOid, InvalidOid, (Datum) 0);
	return 1;
}

/* Begin the scan of a range of an index with several key columns; false if there is none. */
static bool
batch_scan_columns(GpbBatch *batch, GpbBatchScan *state)
{
	GpbRange	range = batch->form == GPB_RANGE_BOUNDS ?
		((const GpbRange *) batch->ranges)[state->range] :
		gpb_key_range(gpb_batch_keys(batch, state->range), 0);

	if (state->step != GPB_SCAN_KEYS)
		return false;
	if (state->scan == NULL)
	{
		state->scan = index_beginscan(batch->heap, batch->index, batch->snapshot, 0, 0);
		state->scan->xs_want_itup = true;
	}
	index_rescan(state->scan, NULL, 0, NULL, 0);
	gpb_scan_use_range(state->scan, range);
	return true;
}

/* Begin the scan of a range's step.  Returns false if there is nothing to scan. */
static bool
batch_scan_step(GpbBatch *batch, GpbBatchScan *state)
{
	ScanKeyData key[2];
	int			nkeys;
	MemoryContext caller;

	if (batch->program.layout.nkeys > 0)
		return batch_scan_columns(batch, state);
	MemoryContextReset(state->values);
	caller = MemoryContextSwitchTo(state->values);
	if (batch->form == GPB_RANGE_BOUNDS)
		nkeys = scan_keys_of_bounds(batch, state,
									((const GpbRange *) batch->ranges)[state->range], key);
	else if (state->step == GPB_SCAN_KEYS)
		nkeys = scan_keys_of_interval(batch, state, gpb_batch_keys(batch, state->range), key);
	else
		nkeys = -1;
	MemoryContextSwitchTo(caller);
	if (nkeys < 0)
		return false;
	/* A scan keeps its number of keys each time that it begins anew. */
	if (state->scan != NULL && state->scan->numberOfKeys != nkeys)
	{
		index_endscan(state->scan);
		state->scan = NULL;
	}
	if (state->scan == NULL)
	{
		state->scan = index_beginscan(batch->heap, batch->index, batch->snapshot, nkeys, 0);
		state->scan->xs_want_itup = true;
	}
	index_rescan(state->scan, key, nkeys, NULL, 0);
	return true;
}

/* ---- rows ---- */

/* Add the row at which the scan is. */
static void
batch_scan_add(GpbBatch *batch, GpbBatchScan *state, ItemPointer tid)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	Datum		coded[INDEX_MAX_KEYS];
	Datum	   *words = values;
	GpbEntry	entry;

	if (state->scan->xs_recheck)
		elog(ERROR, "index \"%s\" returned a row to be rechecked",
			 RelationGetRelationName(batch->index));
	if (state->scan->xs_hitup != NULL)
		heap_deform_tuple(state->scan->xs_hitup, state->scan->xs_hitupdesc, values, isnull);
	else
		index_deform_tuple(state->scan->xs_itup, state->scan->xs_itupdesc, values, isnull);
	if (gpb_layout_has_dictionary(&batch->program.layout))
		words = gpb_dictionary_recode(batch->index, &batch->program.layout, values, isnull, coded);
	gpb_entry_form(&batch->program.layout, words, isnull, tid, &entry);
	gpb_batch_add_visible(batch, state->range, entry.key, entry.row);
}

/* Go on to the next step of the range, or to the next range. */
static void
batch_scan_next(GpbBatchScan *state)
{
	state->scanning = false;
	if (++state->step == GPB_SCAN_STEPS)
	{
		state->step = GPB_SCAN_KEYS;
		state->range++;
	}
}

/* Go on, row by row, until the list is full, its part has enough, or all ranges are done. */
static GpbFillOutcome
batch_scan_fill(GpbBatch *batch)
{
	GpbBatchScan *state = (GpbBatchScan *) batch->state;

	for (;;)
	{
		ItemPointer found;
		ItemPointerData tid;

		CHECK_FOR_INTERRUPTS();
		if (gpb_batch_list_full(batch) || gpb_batch_part_has_enough(batch))
			return GPB_FILL_FULL;
		if (gpb_batch_gave_up(batch, NULL))
			return GPB_FILL_GAVE_UP;
		if (!state->scanning)
		{
			if (state->range == batch->n && !gpb_batch_more_ranges(batch))
				return GPB_FILL_DONE;
			state->scanning = batch_scan_step(batch, state);
			if (!state->scanning)
				batch_scan_next(state);
			continue;
		}
		found = index_getnext_tid(state->scan, ForwardScanDirection);
		if (found == NULL)
		{
			batch_scan_next(state);
			continue;
		}
		/* This is the TID of the chain's root; the fetch moves on to that of the visible tuple. */
		tid = *found;
		if (index_fetch_heap(state->scan, state->slot))
			batch_scan_add(batch, state, &tid);
		batch->counters.heap_fetches++;
		ExecClearTuple(state->slot);
	}
}

const GpbBatchEngine gpb_batch_scan = {
	.name = "index scan",
	.start = batch_scan_start,
	.fill = batch_scan_fill,
	.end = batch_scan_end
};
