/*-------------------------------------------------------------------------
 *
 * aggregate_heap.c
 *	  Heap visits of an aggregate: visible entries are added to its totals.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "leaf_aggregate.h"
#include "exec/aggregate/aggregate_node.h"

/* Add an entry whose row is visible. */
static void
gpb_heap_entry_visible(void *arg, char *record, TupleTableSlot *slot)
{
	GpbAggregateRun *run = (GpbAggregateRun *) arg;

	gpb_entry_aggregate(&run->spec, *(const uint64 *) record, record + 8,
						&run->totals.state, run->totals.sums);
}

static GpbHeapVisit *
gpb_heap_visit_get(GpbAggregateRun *run)
{
	if (run->heap_visit == NULL)
		run->heap_visit = gpb_visit_begin(run->heap, run->index, run->snapshot,
										  run->spec.layout.row_width, false,
										  gpb_heap_entry_visible, run);
	return run->heap_visit;
}

/* Close what heap visits opened, if anything, and count them. */
void
gpb_heap_visit_release(GpbAggregateRun *run)
{
	GpbHeapVisit *visit = run->heap_visit;

	if (visit == NULL)
		return;
	run->heap_visit = NULL;
	run->counters->heap_entries += gpb_visit_count(visit);
	gpb_visit_end(visit);
}

void
gpb_heap_visit(GpbAggregateRun *run, char *records, int n)
{
	gpb_visit_records(gpb_heap_visit_get(run), records, n);
}

void
gpb_heap_add(GpbAggregateRun *run, uint64 key, const char *row)
{
	char	   *record = gpb_visit_add(gpb_heap_visit_get(run));

	*(uint64 *) record = key;
	memcpy(record + 8, row, run->spec.layout.row_width);
}

void
gpb_heap_flush(GpbAggregateRun *run)
{
	if (run->heap_visit != NULL)
		gpb_visit_flush(run->heap_visit);
}
