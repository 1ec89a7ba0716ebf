/*-------------------------------------------------------------------------
 *
 * node_ranges.c
 *	  The ranges of a node's conditions on its key: one, or the arms of an OR.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/where/node_ranges.h"
#include "index/index.h"

void
gpb_node_ranges_init(List *conditions, List *arms, Relation index, PlanState *ps,
					 GpbNodeRanges *ranges)
{
	ListCell   *lc;

	ranges->index = index;
	ranges->nconditions = list_length(conditions);
	ranges->conditions = gpb_conditions_init(index, conditions, ps);
	ranges->narms = list_length(arms);
	ranges->narm_conditions = palloc(sizeof(int) * ranges->narms);
	ranges->arms = palloc(sizeof(GpbCondition *) * ranges->narms);
	foreach(lc, arms)
	{
		int			i = foreach_current_index(lc);

		ranges->narm_conditions[i] = list_length(lfirst_node(List, lc));
		ranges->arms[i] = gpb_conditions_init(index, lfirst_node(List, lc), ps);
	}
}

/* qsort: by where ranges begin */
static int
compare_ranges(const void *a, const void *b)
{
	const GpbRange *left = a;
	const GpbRange *right = b;

	if (gpb_bound_less(left->lo, right->lo))
		return -1;
	return gpb_bound_less(right->lo, left->lo) ? 1 : 0;
}

uint32
gpb_unite_ranges(GpbRange *ranges, uint32 n)
{
	uint32		united = 0;
	uint32		i;

	qsort(ranges, n, sizeof(GpbRange), compare_ranges);
	for (i = 0; i < n; i++)
	{
		GpbRange   *last = united == 0 ? NULL : &ranges[united - 1];

		if (last == NULL || gpb_bound_less(last->hi, ranges[i].lo))
			ranges[united++] = ranges[i];
		else if (gpb_bound_less(last->hi, ranges[i].hi))
			last->hi = ranges[i].hi;
	}
	return united;
}

uint32
gpb_node_ranges_evaluate(const GpbNodeRanges *ranges, ExprContext *econtext, GpbRange **found,
						 bool *lossy)
{
	/* a copy: the relcache may rebuild its own at any time */
	GpbLayout	layout = *gpb_layout(ranges->index);
	GpbRange	whole;
	uint32		n = 0;
	int			i;

	*found = palloc(sizeof(GpbRange) * Max(ranges->narms, 1));
	if (!gpb_conditions_evaluate(ranges->conditions, ranges->nconditions, ranges->index, &layout,
								 econtext, &whole, NULL, lossy))
		return 0;
	if (ranges->narms == 0)
	{
		(*found)[0] = whole;
		return 1;
	}
	for (i = 0; i < ranges->narms; i++)
	{
		GpbRange   *range = &(*found)[n];
		bool		arm_is_lossy;

		if (!gpb_conditions_evaluate(ranges->arms[i], ranges->narm_conditions[i], ranges->index,
									 &layout, econtext, range, NULL, &arm_is_lossy))
			continue;
		*lossy |= arm_is_lossy;
		if (gpb_bound_less(range->lo, whole.lo))
			range->lo = whole.lo;
		if (gpb_bound_less(whole.hi, range->hi))
			range->hi = whole.hi;
		if (gpb_bound_less(range->lo, range->hi))
			n++;
	}
	return gpb_unite_ranges(*found, n);
}
