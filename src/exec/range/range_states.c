/*-------------------------------------------------------------------------
 *
 * range_states.c
 *	  The executor node of joins under aggregates, where several processes have a share of the outer
 *	  rows each: below Gather a node returns a state, and above it one merges them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "exec/answer/states.h"
#include "exec/range/range_aggregate.h"

/* The states are of one program, without group slots. */
static const GpbStatesForm states_form = {0};

void
gpb_range_put_state(GpbRangeAggregateScan *scan)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	uint64		at = 0;

	tuple->tts_values[scan->plan.nouter] =
		PointerGetDatum(gpb_states_next(&states_form, NULL, scan->ask, &at));
	tuple->tts_isnull[scan->plan.nouter] = false;
}

void
gpb_range_merge_states(GpbRangeAggregateScan *scan)
{
	MemoryContext own = CurrentMemoryContext;

	gpb_ask_stop(scan->ask);
	for (;;)
	{
		TupleTableSlot *slot;
		GpbStatesRow row;
		bool		isnull;

		/* what the child keeps must outlive this answer */
		MemoryContextSwitchTo(scan->node.css.ss.ps.state->es_query_cxt);
		slot = ExecProcNode(scan->node.child);
		MemoryContextSwitchTo(own);
		if (TupIsNull(slot))
			break;
		gpb_states_open((struct varlena *) DatumGetPointer(slot_getattr(slot, 1, &isnull)), &row);
		if (row.kind != GPB_STATES_GROUPS ||
			!gpb_states_merge(&states_form, &row, NULL, scan->ask))
			elog(ERROR, "a state of a join has no answer");
	}
	gpb_ask_use_collected(scan->ask);
}
