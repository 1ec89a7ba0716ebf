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
		int			column = plan->nitems + i;

		tuple->tts_isnull[column] = (group->nulls >> i & 1) != 0;
		if (!tuple->tts_isnull[column])
			tuple->tts_values[column] = gpb_word_datum(plan->group_types[i], group->words[i]);
	}
}

bool
gpb_aggregate_next_row(GpbAggregateScan *scan)
{
	const GpbAggregatePlan *plan = &scan->plan;
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	const GpbGroup *group = NULL;

	if (plan->ngroups > 0)
	{
		if (scan->no_ranges)
			return false;
		group = gpb_range_totals_next_group(scan->totals, &scan->next_group);
		if (group == NULL)
			return false;
	}
	else if (scan->next_group++ > 0)
		return false;

	ExecClearTuple(tuple);
	memset(tuple->tts_isnull, true, sizeof(bool) * tuple->tts_tupleDescriptor->natts);
	gpb_range_group_final(scan->totals, tuple->tts_values, tuple->tts_isnull);
	if (group != NULL)
		fill_group_values(plan, group, tuple);
	ExecStoreVirtualTuple(tuple);
	return true;
}
