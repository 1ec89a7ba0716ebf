/*-------------------------------------------------------------------------
 *
 * batch_entry.c
 *	  What engines do with an entry that they have found: add it to an answer, put it through the
 *	  program, list it, or ask the heap about it.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"

#include "engine/batch_engine.h"

/* Add one visible entry to the answer of its range, or put it through the program. */
static inline void
batch_aggregate(GpbBatch *batch, uint32 number, GpbKey key, const char *row)
{
	if (batch->evaluator != NULL)
	{
		gpb_evaluate_entry(batch->evaluator, number, key, row);
		return;
	}
	batch->counters.matches++;
	gpb_answer_add_entry(&batch->format, &batch->program.layout,
						 gpb_batch_answer(batch, number), key, row);
}

void
gpb_batch_add_visible(GpbBatch *batch, uint32 i, GpbKey key, const char *row)
{
	if (batch->program.list_entries)
		gpb_batch_list_judge(batch, i, true, key, row);
	else
		batch_aggregate(batch, i, key, row);
}

/*
 * Callback of heap visits: the row of this entry is visible, so the entry is added to its range's
 * answer, or marked visible in the list.
 */
static void
batch_row_visible(void *arg, GpbRangeEntry *entry)
{
	GpbBatch   *batch = (GpbBatch *) arg;

	if (batch->program.list_entries)
		gpb_batch_list_visible(batch, entry);
	else
		batch_aggregate(batch, entry->number, gpb_entry_key(entry, &batch->program.layout),
						entry->row);
}

GpbHeapVisit *
gpb_batch_visit(GpbBatch *batch)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);

	if (batch->visit == NULL)
		batch->visit = gpb_visit_begin(batch->heap, batch->index, batch->snapshot,
									   batch->match_width, batch_row_visible,
									   batch);
	MemoryContextSwitchTo(caller);
	return batch->visit;
}

void
gpb_batch_add_unknown(GpbBatch *batch, uint32 i, GpbKey key, const char *row)
{
	if (batch->program.list_entries)
		gpb_batch_list_judge(batch, i, false, key, row);
	else
		gpb_entry_record(gpb_visit_add(gpb_batch_visit(batch)), i, 0, key, row,
						 &batch->program.layout);
}
