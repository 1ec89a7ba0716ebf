/*-------------------------------------------------------------------------
 *
 * aggregate_states.c
 *	  States: the answers of a node for a node above it, and their merging there.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "exec/aggregate/aggregate_node.h"

/* What states have of a subprogram, which is number "number" of the node's */
static GpbStatesForm
states_form(const GpbAggregatePlan *plan, const GpbSubprogram *sub, int number)
{
	GpbStatesForm form = {.number = number, .nslots = sub->program.ngroups};

	Assert(form.nslots <= GPB_MAX_GROUP_SLOTS);
	for (int i = 0; i < form.nslots; i++)
		form.type[i] = i < sub->ngroups ? plan->group_types[sub->group[i]] : sub->values.type;
	return form;
}

/* ---- returning ---- */

void
gpb_aggregate_first_state(GpbAggregateScan *scan)
{
	scan->state_sub = 0;
	scan->state = 0;
}

/* The next row of states; NULL after the last one */
static bytea *
next_state(GpbAggregateScan *scan)
{
	for (; scan->state_sub < scan->nsubs; scan->state_sub++)
	{
		GpbSubprogram *sub = &scan->subs[scan->state_sub];
		GpbStatesForm form = states_form(&scan->plan, sub, scan->state_sub);
		bytea	   *row;

		/* a batch that was not asked in this execution has no groups of it */
		if (form.nslots > 0 && scan->no_ranges)
			row = NULL;
		else if (form.nslots > 0 && scan->is_read_here && !gpb_states_have_codes(&form))
			row = scan->state++ == 0 ? gpb_states_here(&form, sub->ask) : NULL;
		else
			row = gpb_states_next(&form, &scan->codes, sub->ask, &scan->state);
		if (row != NULL)
			return row;
		scan->state = 0;
	}
	return NULL;
}

/* The only row of a node that has no answer; NULL after it */
static bytea *
next_refusal(GpbAggregateScan *scan)
{
	return scan->state++ == 0 ? gpb_states_refusal(scan->node.gave_up) : NULL;
}

bool
gpb_aggregate_next_state(GpbAggregateScan *scan)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	bytea	   *row = scan->node.gave_up != NULL ? next_refusal(scan) : next_state(scan);

	if (row == NULL)
		return false;
	ExecClearTuple(tuple);
	memset(tuple->tts_isnull, true, sizeof(bool) * tuple->tts_tupleDescriptor->natts);
	tuple->tts_values[0] = PointerGetDatum(row);
	tuple->tts_isnull[0] = false;
	ExecStoreVirtualTuple(tuple);
	return true;
}

/* ---- merging ---- */

/* Tell a plan that its rows are read here, as it returns them, if it returns states. */
static void
read_here(const GpbAggregateScan *above, PlanState *plan)
{
	GpbAggregateScan *node = (GpbAggregateScan *) plan;

	if (IsA(plan, CustomScanState) &&
		((CustomScanState *) plan)->methods == above->node.css.methods)
		node->is_read_here = node->plan.returns_states;
}

/* An Append returns the very row of its plan. */
void
gpb_aggregate_read_here(const GpbAggregateScan *above)
{
	AppendState *append = (AppendState *) above->node.child;

	read_here(above, above->node.child);
	for (int i = 0; IsA(append, AppendState) && i < append->as_nplans; i++)
		read_here(above, append->appendplans[i]);
}

/* Do the groups of all subprograms take more memory than the node has for them? */
static bool
is_full(const GpbAggregateScan *scan)
{
	Size		bytes = gpb_texts_bytes(scan->texts);

	for (int i = 0; i < scan->nsubs; i++)
		bytes += gpb_collected_bytes(gpb_ask_collected(scan->subs[i].ask));
	return bytes > scan->memory;
}

/* Merge a row of states.  Returns NULL, or why there is no answer. */
static const char *
merge_state(GpbAggregateScan *scan, const struct varlena *bytes)
{
	GpbStatesRow row;
	GpbStatesForm form;

	gpb_states_open(bytes, &row);
	if (row.kind == GPB_STATES_REFUSAL)
		return gpb_states_reason(&row);
	if (row.number >= scan->nsubs)
		elog(ERROR, "a row of states is of program %d of %d", row.number, scan->nsubs);
	form = states_form(&scan->plan, &scan->subs[row.number], row.number);
	scan->states += gpb_states_count(&row);
	return gpb_states_merge(&form, &row, scan->texts, scan->subs[row.number].ask) ? NULL :
		"more groups than hash_mem holds";
}

/*
 * Merge a row of the child, which has a state, or a shard's groups behind none.  Returns NULL, or
 * why there is no answer.
 */
static const char *
merge_row(GpbAggregateScan *scan, TupleTableSlot *row)
{
	bool		isnull;
	Datum		state = slot_getattr(row, 1, &isnull);
	const char *why;

	if (!isnull)
		why = merge_state(scan, DatumGetByteaPP(state));
	else if (scan->plan.nshards > 0)
		why = gpb_shards_merge(scan, row);
	else
		elog(ERROR, "a row of states is NULL");
	return why == NULL && is_full(scan) ? "more groups than hash_mem holds" : why;
}

const char *
gpb_aggregate_merge_states(GpbAggregateScan *scan)
{
	MemoryContext own = CurrentMemoryContext;
	const char *why = gpb_shards_try_sent(scan);
	bool		ahead;

	gpb_texts_reset(scan->texts);
	for (int i = 0; i < scan->nsubs; i++)
		gpb_ask_stop(scan->subs[i].ask);
	ahead = gpb_aggregate_begin_ahead(scan);
	while (why == NULL)
	{
		TupleTableSlot *row;

		/* what the child keeps must outlive this answer */
		MemoryContextSwitchTo(scan->node.css.ss.ps.state->es_query_cxt);
		row = ExecProcNode(scan->node.child);
		MemoryContextSwitchTo(own);
		if (TupIsNull(row))
			break;
		why = merge_row(scan, row);
	}
	if (ahead)
		gpb_aggregate_end_ahead(scan);
	/* no more is wanted of workers either */
	if (why != NULL)
		ExecShutdownNode(scan->node.child);
	for (int i = 0; i < scan->nsubs && why == NULL; i++)
	{
		if (scan->subs[i].program.ngroups == 0)
			gpb_ask_use_collected(scan->subs[i].ask);
	}
	return why;
}
