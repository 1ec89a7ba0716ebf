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
	int			groups = plan->nitems + plan->values.n; /* the first of the columns for groups */
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
		gpb_group_values(group, plan->ngroups, plan->group_types,
						 tuple->tts_values + groups, tuple->tts_isnull + groups);
	ExecStoreVirtualTuple(tuple);
	return true;
}
