/*-------------------------------------------------------------------------
 *
 * aggregate_node.c
 *	  The plan node GpubtreeAggregate: how its fields travel.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/aggregate/aggregate_node.h"

void
gpb_aggregate_put(const GpbAggregatePlan *plan, CustomScan *scan)
{
	scan->custom_exprs = list_make2(plan->conditions, plan->arrays);
	gpb_put_oid(&scan->custom_private, plan->index);
	gpb_put_items(&scan->custom_private, plan->items, plan->nitems);
}

void
gpb_aggregate_get(const CustomScan *scan, GpbAggregatePlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};

	plan->conditions = linitial(scan->custom_exprs);
	plan->arrays = lsecond(scan->custom_exprs);
	plan->index = gpb_get_oid(&reader);
	plan->nitems = gpb_get_items(&reader, &plan->items);
}
