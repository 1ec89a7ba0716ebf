/*-------------------------------------------------------------------------
 *
 * aggregate_groups.c
 *	  The rows of an answer: one, or one for each group.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/common/range_totals.h"

/* Put the values of a group's expressions behind those of the items. */
static void
fill_group_values(const GpbAggregatePlan *plan, const GpbGroup *group, TupleTableSlot *tuple)
{
	int			i;

	for (i = 0; i < plan->ngroups; i++)
	{
		int			column = plan->nitems + plan->values.n + i;

		tuple->tts_isnull[column] = (group->nulls >> i & 1) != 0;
		if (!tuple->tts_isnull[column])
			tuple->tts_values[column] = gpb_word_datum(plan->group_types[i], group->words[i]);
	}
}

/* Go to the next group of a plan with aggregates that depend on values. */
static bool
next_values(GpbAggregateScan *scan, const GpbGroup **group)
{
	if (!gpb_values_next(scan->values, &scan->next_group))
		return false;
	*group = gpb_values_any(scan->values);
	gpb_range_group_init(scan->totals);
	if (scan->plan.nitems > 0)
		gpb_values_add(scan->values, scan->totals);
	return true;
}

/*
 * Go to the next group, or to the only one of a plan without groups.  Returns false if there is
 * none.  *group is one of the program's groups in it, if there are any.
 */
static bool
next_group(GpbAggregateScan *scan, const GpbGroup **group)
{
	*group = NULL;
	if (scan->values != NULL)
		return next_values(scan, group);
	if (scan->plan.ngroups == 0)
		return scan->next_group++ == 0;
	if (scan->no_ranges)
		return false;
	*group = gpb_range_totals_next_group(scan->totals, &scan->next_group);
	return *group != NULL;
}

bool
gpb_aggregate_next_row(GpbAggregateScan *scan)
{
	const GpbAggregatePlan *plan = &scan->plan;
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	const GpbGroup *group;

	if (!next_group(scan, &group))
		return false;
	ExecClearTuple(tuple);
	memset(tuple->tts_isnull, true, sizeof(bool) * tuple->tts_tupleDescriptor->natts);
	gpb_range_group_final(scan->totals, tuple->tts_values, tuple->tts_isnull);
	if (scan->values != NULL)
		gpb_values_final(scan->values, scan->node.css.ss.ps.ps_ExprContext,
						 tuple->tts_values + plan->nitems, tuple->tts_isnull + plan->nitems);
	if (group != NULL)
		fill_group_values(plan, group, tuple);
	ExecStoreVirtualTuple(tuple);
	return true;
}
