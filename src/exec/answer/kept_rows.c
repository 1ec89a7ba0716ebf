/*-------------------------------------------------------------------------
 *
 * kept_rows.c
 *	  The rows of a node whose program may have no answer.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "exec/answer/kept_rows.h"

void
gpb_kept_begin(GpbKeptRows *kept, EState *estate, TupleTableSlot *into)
{
	kept->estate = estate;
	kept->into = into;
	kept->stored = ExecInitExtraTupleSlot(estate, into->tts_tupleDescriptor, &TTSOpsMinimalTuple);
}

void
gpb_kept_add(GpbKeptRows *kept, TupleTableSlot *row)
{
	if (kept->store == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(kept->estate->es_query_cxt);

		kept->store = tuplestore_begin_heap(false, false, work_mem);
		MemoryContextSwitchTo(caller);
	}
	tuplestore_puttupleslot(kept->store, row);
}

TupleTableSlot *
gpb_copy_row(TupleTableSlot *row, TupleTableSlot *into)
{
	int			n = into->tts_tupleDescriptor->natts;

	if (TupIsNull(row))
		return NULL;
	slot_getallattrs(row);
	ExecClearTuple(into);
	memcpy(into->tts_values, row->tts_values, sizeof(Datum) * n);
	memcpy(into->tts_isnull, row->tts_isnull, sizeof(bool) * n);
	return ExecStoreVirtualTuple(into);
}

/* A store that is at its end does not look for more. */
TupleTableSlot *
gpb_kept_next(GpbKeptRows *kept)
{
	if (kept->store == NULL || tuplestore_ateof(kept->store) ||
		!tuplestore_gettupleslot(kept->store, true, false, kept->stored))
		return NULL;
	return gpb_copy_row(kept->stored, kept->into);
}

void
gpb_kept_rewind(GpbKeptRows *kept)
{
	if (kept->store != NULL)
		tuplestore_rescan(kept->store);
}

void
gpb_kept_drop(GpbKeptRows *kept)
{
	if (kept->store == NULL)
		return;
	ExecClearTuple(kept->stored);
	tuplestore_end(kept->store);
	kept->store = NULL;
}
