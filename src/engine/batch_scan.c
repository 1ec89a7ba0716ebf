/*-------------------------------------------------------------------------
 *
 * batch_scan.c
 *	  Engine: an ordinary index scan for each range, for snapshots that only core may judge
 *	  (rule M8).
 *
 * Every row is fetched from the heap by core, which decides on visibility, takes
 * predicate locks and notices snapshots that are too old.  The values are the index's.
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
#include "utils/rel.h"

#include "index/index.h"
#include "engine/batch_engine.h"

typedef struct GpbBatchScan
{
	IndexScanDesc scan;
	TupleTableSlot *slot;
	RegProcedure at_least;		/* ">=" and "<=" of the key's type */
	RegProcedure at_most;
	uint32		next;			/* range to be scanned next; that before it is being */
	bool		scanning;
} GpbBatchScan;

/* The function of a comparison of keys */
static RegProcedure
gpb_key_procedure(Relation index, StrategyNumber strategy)
{
	Oid			type = index->rd_opcintype[0];
	Oid			operator = get_opfamily_member(index->rd_opfamily[0], type, type, strategy);

	if (!OidIsValid(operator))
		elog(ERROR, "missing operator %d(%u,%u) in operator family %u of index \"%s\"",
			 strategy, type, type, index->rd_opfamily[0], RelationGetRelationName(index));
	return get_opcode(operator);
}

static void
gpb_batch_scan_start(GpbBatch *batch)
{
	GpbBatchScan *state = palloc0(sizeof(GpbBatchScan));

	batch->state = state;
	state->at_least = gpb_key_procedure(batch->index, BTGreaterEqualStrategyNumber);
	state->at_most = gpb_key_procedure(batch->index, BTLessEqualStrategyNumber);
	state->slot = table_slot_create(batch->heap, NULL);
	state->scan = index_beginscan(batch->heap, batch->index, batch->snapshot, 2, 0);
	state->scan->xs_want_itup = true;
}

static void
gpb_batch_scan_end(GpbBatch *batch)
{
	GpbBatchScan *state = (GpbBatchScan *) batch->state;

	batch->state = NULL;
	index_endscan(state->scan);
	ExecDropSingleTupleTableSlot(state->slot);
	pfree(state);
}

/*
 * Begin the scan of range i; false if it is empty.  The normalized keys of a smallint index
 * could be beyond the type.
 */
static bool
gpb_batch_scan_range(GpbBatch *batch, GpbBatchScan *state, uint32 i)
{
	const GpbLayout *layout = &batch->spec.layout;
	GpbKeyRange keys = gpb_batch_range(batch, i);
	bool		desc = (layout->flags & GPB_LAYOUT_DESC) != 0;
	ScanKeyData key[2];

	if (layout->key_kind == GPB_KIND_INT2)
	{
		keys.lo = Max(keys.lo, gpb_key_encode(desc ? PG_INT16_MAX : PG_INT16_MIN, 4, layout->flags));
		keys.hi = Min(keys.hi, gpb_key_encode(desc ? PG_INT16_MIN : PG_INT16_MAX, 4, layout->flags));
	}
	if (keys.lo > keys.hi)
		return false;
	ScanKeyInit(&key[0], 1, BTGreaterEqualStrategyNumber, state->at_least,
				gpb_key_datum(layout, desc ? keys.hi : keys.lo));
	ScanKeyInit(&key[1], 1, BTLessEqualStrategyNumber, state->at_most,
				gpb_key_datum(layout, desc ? keys.lo : keys.hi));
	index_rescan(state->scan, key, 2, NULL, 0);
	return true;
}

/* Add the row that the scan is at. */
static void
gpb_batch_scan_add(GpbBatch *batch, GpbBatchScan *state, uint32 i, ItemPointer tid)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	GpbEntry	entry;

	index_deform_tuple(state->scan->xs_itup, state->scan->xs_itupdesc, values, isnull);
	gpb_entry_form(&batch->spec.layout, values, isnull, tid, &entry);
	gpb_batch_add_visible(batch, i, entry.key, entry.row);
}

static bool
gpb_batch_scan_fill(GpbBatch *batch)
{
	GpbBatchScan *state = (GpbBatchScan *) batch->state;

	for (;;)
	{
		ItemPointer found;
		ItemPointerData tid;

		CHECK_FOR_INTERRUPTS();
		if (gpb_batch_list_full(batch))
			return false;
		if (!state->scanning)
		{
			if (state->next == batch->n)
				return true;
			state->scanning = gpb_batch_scan_range(batch, state, state->next++);
			continue;
		}
		found = index_getnext_tid(state->scan, ForwardScanDirection);
		if (found == NULL)
		{
			state->scanning = false;
			continue;
		}
		tid = *found;			/* of the chain's root: the fetch moves on to the visible one */
		if (index_fetch_heap(state->scan, state->slot))
			gpb_batch_scan_add(batch, state, state->next - 1, &tid);
		batch->counters.heap_fetches++;
		ExecClearTuple(state->slot);
	}
}

const GpbBatchEngine gpb_batch_scan = {
	.name = "index scan",
	.start = gpb_batch_scan_start,
	.fill = gpb_batch_scan_fill,
	.end = gpb_batch_scan_end
};
