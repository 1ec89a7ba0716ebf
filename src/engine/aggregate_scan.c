/*-------------------------------------------------------------------------
 *
 * aggregate_scan.c
 *	  Engine: an ordinary index scan, for snapshots that only core may judge
 *	  (rule M8).
 *
 * Every row is fetched from the heap by core, which decides on visibility, takes
 * predicate locks and notices snapshots that are too old.  The values are the
 * heap's.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"

#include "leaf_aggregate.h"
#include "exec/aggregate/aggregate_node.h"

/* A column's value as gpb_key_value or gpb_row_value would have it. */
static int64
gpb_datum_value(Datum datum, int kind)
{
	switch (kind)
	{
		case GPB_KIND_INT2:
			return DatumGetInt16(datum);
		case GPB_KIND_INT4:
			return DatumGetInt32(datum);
		default:
			return DatumGetInt64(datum);	/* float8: its bits */
	}
}

/* Add the row in the slot to the totals. */
static void
gpb_add_row(GpbAggregateRun *run, TupleTableSlot *slot)
{
	const GpbAggregateSpec *spec = &run->spec;
	int			c;

	run->totals.state.entries++;
	for (c = 0; c <= spec->layout.ncolumns; c++)
	{
		int			kind = gpb_column_kind(&spec->layout, c);
		Datum		datum;
		bool		isnull;
		int64		value;

		if (!spec->want[c])
			continue;
		datum = slot_getattr(slot, run->index->rd_index->indkey.values[c], &isnull);
		if (isnull)
			continue;
		value = gpb_datum_value(datum, kind);
		if (gpb_column_has_float_sum(spec, c))
			gpb_float_sum_add(&run->totals.sums[gpb_column_float_sum(spec, c)], value);
		if (kind == GPB_KIND_FLOAT8)
			value = gpb_float_order(value);
		gpb_column_state_add(&run->totals.state.column[c], value);
	}
}

void
gpb_run_scan(GpbAggregateRun *run, ScanKey keys, int nkeys)
{
	TupleTableSlot *slot = table_slot_create(run->heap, NULL);
	IndexScanDesc scan;

	scan = index_beginscan(run->heap, run->index, run->snapshot, nkeys, 0);
	index_rescan(scan, keys, nkeys, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (scan->xs_recheck)
			elog(ERROR, "index \"%s\" returned a row to be rechecked",
				 RelationGetRelationName(run->index));
		gpb_add_row(run, slot);
		run->counters->heap_entries++;
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}
