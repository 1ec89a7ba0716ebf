/*-------------------------------------------------------------------------
 *
 * join_aggregate_exec.c
 *	  The executor node of joins under aggregates.
 *
 * The node keeps only the key of each outer row; a batch of keys is answered by one total, and the
 * totals of all batches make the one row that comes out.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "exec/answer/kept_rows.h"
#include "exec/answer/ordinary_child.h"
#include "exec/answer/range_totals.h"
#include "exec/join/join_aggregate.h"
#include "exec/join/join_node.h"
#include "exec/price/growth.h"
#include "exec/shell/node_explain.h"

/* Keys there is room for at first */
#define GPB_JOIN_INITIAL_KEYS	1024

typedef struct GpbJoinAggregateScan
{
	GpbNode		node;
	GpbJoinAggregatePlan plan;
	GpbChildRows *child;
	GpbJoinKeys keys;
	GpbProgramConstants *constants; /* of the program, if there is one */
	uint32		most_keys;		/* of a batch */
	GpbRangeTotals *totals;		/* NULL until first needed */
	GpbKeptRows kept;			/* the ordinary plan, if there is one; no rows are kept */
	MemoryContext context;		/* the node's */
} GpbJoinAggregateScan;

static void
begin_join_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;
	GpbJoinAggregatePlan *plan = &scan->plan;
	List	   *custom_plans = castNode(CustomScan, css->ss.ps.plan)->custom_plans;

	gpb_join_aggregate_get(castNode(CustomScan, css->ss.ps.plan), plan);
	gpb_start_child(&scan->node, eflags);
	gpb_kept_begin(&scan->node, &scan->kept, list_length(custom_plans) > 1 ? llast(custom_plans) :
				   NULL, eflags);
	gpb_require_aggregates(plan->items, plan->nitems);
	gpb_require_row_program(&plan->program);
	if (!gpb_open_joined(&scan->node, plan->index, eflags))
		return;

	scan->child = gpb_child_rows_begin(scan->node.child);
	gpb_keys_init(&scan->keys, scan->node.index, plan->nconditions, plan->conditions,
				  plan->clauses, &css->ss.ps);
	if (plan->program.present)
		scan->constants = gpb_program_constants_init(&plan->program.plan, scan->node.index,
													 &css->ss.ps);
	scan->most_keys = Min(gpb_rows_memory() / scan->keys.width, GPB_MOST_ROWS);
	scan->context = CurrentMemoryContext;
	scan->node.work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree join aggregate",
											ALLOCSET_DEFAULT_SIZES);
}

/* ---- keys ---- */

/* Add the key of a row of the outer plan, if it has one. */
static void
add_key(GpbJoinAggregateScan *scan, TupleTableSlot *outer)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;

	if (!scan->keys.are_columns)
	{
		slot_getallattrs(outer);
		memcpy(tuple->tts_values, outer->tts_values, scan->plan.nouter * sizeof(Datum));
		memcpy(tuple->tts_isnull, outer->tts_isnull, scan->plan.nouter * sizeof(bool));
		econtext->ecxt_scantuple = tuple;
		ResetExprContext(econtext);
	}
	(void) gpb_keys_add(&scan->keys, econtext, outer);
}

/* Read the keys of the next batch; false if these are the last. */
static bool
read_keys(GpbJoinAggregateScan *scan)
{
	gpb_keys_clear(&scan->keys, GPB_JOIN_INITIAL_KEYS);
	for (;;)
	{
		TupleTableSlot *slot = gpb_child_next(scan->child);

		if (TupIsNull(slot))
			return false;
		add_key(scan, slot);
		if (scan->keys.n == scan->most_keys)
			return true;
		if (scan->keys.n == scan->keys.capacity)
			gpb_keys_grow(&scan->keys, scan->most_keys);
	}
}

/* ---- the answer ---- */

/* The planner has found the program to be certain, once it is bound. */
static void
report_no_answer(const GpbJoinAggregateScan *scan, const char *why)
{
	elog(ERROR, "program over index \"%s\" has no answer: %s",
		 RelationGetRelationName(scan->node.index), why);
}

/*
 * What answers the node's batches, made when first needed; NULL if the node gives up.  A program is
 * bound once: its constants are the same in each execution of the node, and no row that the
 * snapshot sees has a code that the dictionary gets later.
 */
static GpbRangeTotals *
join_aggregate_totals(GpbJoinAggregateScan *scan)
{
	const GpbJoinAggregatePlan *plan = &scan->plan;
	Snapshot	snapshot = scan->node.css.ss.ps.state->es_snapshot;
	MemoryContext caller;

	if (scan->totals != NULL)
		return scan->totals;
	caller = MemoryContextSwitchTo(scan->context);
	if (plan->program.present)
	{
		GpbProgram	program = plan->program.plan.program;
		const char *refusal = gpb_program_bind(scan->constants,
											   scan->node.css.ss.ps.ps_ExprContext, &program);

		if (refusal != NULL)
		{
			MemoryContextSwitchTo(caller);
			gpb_kept_give_up(&scan->node, &scan->kept, refusal);
			return NULL;
		}
		scan->totals = gpb_range_totals_begin_program(scan->node.heap, scan->node.index, snapshot,
													  &program, plan->items, plan->nitems,
													  scan->keys.form, gpb_rows_memory(),
													  GPB_ENGINE_AUTO);
	}
	else
		scan->totals = gpb_range_totals_begin(scan->node.heap, scan->node.index, snapshot,
											  plan->items, plan->nitems, scan->keys.form,
											  gpb_rows_memory(), GPB_ENGINE_AUTO);
	MemoryContextSwitchTo(caller);
	return scan->totals;
}

/* Add what a batch of keys has to the answer. */
static void
add_batch(GpbJoinAggregateScan *scan)
{
	const char *why;

	gpb_range_totals_sum(scan->totals, scan->keys.keys, scan->keys.n);
	if (gpb_range_totals_gave_up(scan->totals, &why))
		report_no_answer(scan, why);
}

/* Put the answer into the scan tuple. */
static void
answer_join_aggregate(CustomScanState *css)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;
	TupleTableSlot *tuple = css->ss.ss_ScanTupleSlot;
	GpbRangeTotals *totals = join_aggregate_totals(scan);
	int			nouter = scan->plan.nouter;
	MemoryContext caller;
	bool		more;

	gpb_clear_answer(&scan->node);
	ExecStoreVirtualTuple(tuple);
	gpb_range_group_init(totals);
	do
	{
		more = read_keys(scan);
		if (scan->keys.n > 0)
			add_batch(scan);
	} while (more);

	caller = MemoryContextSwitchTo(scan->node.work);
	gpb_range_group_final(totals, tuple->tts_values + nouter, tuple->tts_isnull + nouter);
	/* an outer row's values are gone with the row */
	memset(tuple->tts_isnull, true, sizeof(bool) * nouter);
	MemoryContextSwitchTo(caller);
}

/* ---- the node ---- */

/* Nothing of the outer plan is read before the program is bound, or the node has given up. */
static TupleTableSlot *
exec_join_aggregate(CustomScanState *css)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;

	if (scan->kept.gave_up == NULL && join_aggregate_totals(scan) != NULL)
		return gpb_exec_one_row(css);
	return gpb_kept_next(&scan->node, &scan->kept);
}

static void
rescan_join_aggregate(CustomScanState *css)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;

	gpb_rescan_one_row(css);
	gpb_kept_rescan(&scan->node, &scan->kept);
}

static void
end_join_aggregate(CustomScanState *css)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;

	if (scan->totals != NULL)
		gpb_range_totals_end(scan->totals);
	gpb_kept_end(&scan->kept);
	gpb_close_node(&scan->node);
}

static void
explain_join_aggregate(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;

	gpb_ordinary_child_show(&scan->node);
	gpb_explain_inner_index(scan->plan.index, gpb_inner_alias(css, es), es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css, scan->plan.clauses, ancestors, es);
	if (!es->analyze)
		return;
	gpb_explain_gave_up(css, es);
	if (scan->totals == NULL)
		gpb_explain_batch(GPB_LABEL_KEYS, NULL, 0, es);
	else
		gpb_explain_counters(GPB_LABEL_KEYS, gpb_range_totals_counters(scan->totals), 0, es);
}

const GpbNodeKind gpb_join_aggregate_node = {
	GPB_NODE_KIND("GpubtreeJoinAggregate", GpbJoinAggregateScan),
	.answer = answer_join_aggregate,
	.exec.ExecCustomScan = exec_join_aggregate,
	.exec.ReScanCustomScan = rescan_join_aggregate,
	.exec.BeginCustomScan = begin_join_aggregate,
	.exec.EndCustomScan = end_join_aggregate,
	.exec.ExplainCustomScan = explain_join_aggregate
};
