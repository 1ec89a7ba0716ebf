/*-------------------------------------------------------------------------
 *
 * aggregate_answer.c
 *	  The answer of a node that asks an index, or that reads rows.
 *
 * Ranges and constants are evaluated first, for one execution: a node below one that merges states
 * may be prepared, and its questions put to a device, before its turn comes (aggregate_ahead.c).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/bind/program_bind_safe.h"
#include "index/index.h"

void
gpb_aggregate_stop(GpbAggregateScan *scan)
{
	int			i;

	for (i = 0; i < scan->nsubs; i++)
		gpb_ask_stop(scan->subs[i].ask);
	scan->prepared = false;
}

/* ---- ranges and constants ---- */

/* Set the program's constants in all subprograms.  Returns NULL, or why it cannot be used. */
static const char *
bind_program(GpbAggregateScan *scan)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	const char *refusal = scan->unbound;
	int			i;

	for (i = scan->bound_early ? 1 : 0; i < scan->nsubs && refusal == NULL; i++)
		refusal = gpb_ask_bind(scan->subs[i].ask, econtext);
	return refusal;
}

/* Evaluate the ranges of a node.  Returns NULL, or why the program cannot be used. */
static const char *
evaluate_ranges(void *argument)
{
	GpbAggregateScan *scan = argument;
	GpbNode    *node = &scan->node;

	gpb_conditions_evaluate(scan->conditions, node->css.ss.ps.ps_ExprContext, &scan->found);
	if (scan->found.n == 0 || !scan->found.lossy)
		return NULL;
	return gpb_layout(node->index)->nkeys > 0 ? "arrays that make too many ranges" :
		"a condition for which a change of the time zone's offset matters";
}

void
gpb_aggregate_prepare(GpbAggregateScan *scan)
{
	if (scan->plan.has_program)
		gpb_aggregate_stop(scan);
	memset(&scan->found, 0, sizeof(scan->found));
	scan->unprepared = scan->ranges_may_fail ?
		gpb_evaluate_safely(evaluate_ranges, scan, scan->range_params,
							scan->node.css.ss.ps.ps_ExprContext) :
		evaluate_ranges(scan);
	scan->no_ranges = scan->found.n == 0;
	/* constants are not needed if there is nothing to be asked */
	if (scan->unprepared == NULL && scan->plan.has_program && scan->found.n > 0)
		scan->unprepared = bind_program(scan);
	scan->prepared = true;
}

/* ---- the index ---- */

bool
gpb_aggregate_submit(GpbAggregateScan *scan, TimestampTz keep_since)
{
	bool		room = true;

	Assert(scan->prepared && scan->unprepared == NULL);
	for (int i = 0; i < scan->nsubs && room && scan->found.n > 0; i++)
		room = gpb_ask_submit_total(scan->subs[i].ask, scan->found.ranges, scan->found.n,
									keep_since);
	return room;
}

/* Have a subprogram answer the ranges.  Returns NULL, or why there is no answer. */
static const char *
run_sub(GpbAggregateScan *scan, GpbSubprogram *sub)
{
	gpb_group_init(sub->ask);
	if (scan->found.n == 0)
		return NULL;
	scan->last = sub->ask;
	return gpb_ask_total(sub->ask, scan->found.ranges, scan->found.n);
}

/*
 * Have all subprograms answer the ranges, or what those have in the parts of this process.  Returns
 * NULL, or why there is no answer.
 */
static const char *
ask_subs(GpbAggregateScan *scan)
{
	const char *why = NULL;

	if (scan->shared != NULL && scan->found.n > 0)
		return gpb_aggregate_ask_shared(scan, &scan->found);
	for (int i = 0; i < scan->nsubs && why == NULL; i++)
		why = run_sub(scan, &scan->subs[i]);
	return why;
}

const char *
gpb_aggregate_answer_ranges(GpbAggregateScan *scan)
{
	const char *why;

	if (!scan->prepared)
		gpb_aggregate_prepare(scan);
	scan->prepared = false;
	why = scan->unprepared != NULL ? scan->unprepared : ask_subs(scan);
	/* The answer is kept, but not the keys of arrays, which may be millions. */
	if (scan->found.form != GPB_RANGE_BOUNDS && scan->found.ranges != NULL)
		pfree(scan->found.ranges);
	return why;
}

/* ---- rows ---- */

const char *
gpb_aggregate_answer_rows(GpbAggregateScan *scan)
{
	const char *why = NULL;
	int			i;

	gpb_texts_reset(scan->texts);
	gpb_aggregate_stop(scan);
	if (scan->plan.has_program)
		why = bind_program(scan);
	if (why == NULL)
		why = gpb_aggregate_collect_rows(scan);
	for (i = 0; i < scan->nsubs && why == NULL; i++)
	{
		if (scan->subs[i].program.ngroups == 0)
			gpb_ask_use_collected(scan->subs[i].ask);
	}
	return why;
}
