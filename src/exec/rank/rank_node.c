/*-------------------------------------------------------------------------
 *
 * rank_node.c
 *	  The plan nodes GpubtreeRank, GpubtreeOffset and GpubtreePercentile: how their fields travel.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/rank/rank_node.h"

void
gpb_rank_put(const GpbRankPlan *plan, CustomScan *scan)
{
	scan->custom_exprs = list_make2(plan->conditions, plan->offset);
	gpb_put_oid(&scan->custom_private, plan->index);
	gpb_put_int(&scan->custom_private, plan->backward);
	gpb_put_int(&scan->custom_private, plan->sorted);
	gpb_put_int(&scan->custom_private, plan->nulls);
	gpb_put_int(&scan->custom_private, plan->column);
	gpb_put_int(&scan->custom_private, plan->start);
	gpb_put_int(&scan->custom_private, plan->remaining);
}

void
gpb_rank_get(const CustomScan *scan, GpbRankPlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};

	plan->conditions = linitial(scan->custom_exprs);
	plan->offset = lsecond(scan->custom_exprs);
	plan->index = gpb_get_oid(&reader);
	plan->backward = gpb_get_int(&reader);
	plan->sorted = gpb_get_int(&reader);
	plan->nulls = gpb_get_int(&reader);
	plan->column = gpb_get_int(&reader);
	plan->start = gpb_get_int(&reader);
	plan->remaining = gpb_get_int(&reader);
}

void
gpb_offset_put(const GpbOffsetPlan *plan, CustomScan *scan)
{
	scan->custom_exprs = list_make1(plan->offset);
	gpb_put_int(&scan->custom_private, plan->remaining);
}

void
gpb_offset_get(const CustomScan *scan, GpbOffsetPlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};

	plan->offset = linitial(scan->custom_exprs);
	plan->remaining = gpb_get_int(&reader);
}

void
gpb_percentile_put(const GpbPercentilePlan *plan, CustomScan *scan)
{
	List	  **private = &scan->custom_private;
	int			i;

	scan->custom_exprs = list_make2(plan->conditions, plan->fractions);
	gpb_put_oid(private, plan->index);
	gpb_put_int(private, plan->column);
	gpb_put_int(private, plan->nulls);
	gpb_put_items(private, plan->items, plan->nitems);
	gpb_put_int(private, plan->npercentiles);
	for (i = 0; i < plan->npercentiles; i++)
	{
		gpb_put_int(private, plan->percentiles[i].many);
		gpb_put_int(private, plan->percentiles[i].descending);
		gpb_put_oid(private, plan->percentiles[i].type);
	}
	gpb_put_partitions(private, &plan->partitions);
}

void
gpb_percentile_get(const CustomScan *scan, GpbPercentilePlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};
	int			i;

	plan->conditions = linitial(scan->custom_exprs);
	plan->fractions = lsecond(scan->custom_exprs);
	plan->index = gpb_get_oid(&reader);
	plan->column = gpb_get_int(&reader);
	plan->nulls = gpb_get_int(&reader);
	plan->nitems = gpb_get_items(&reader, &plan->items);
	plan->npercentiles = gpb_get_int(&reader);
	plan->percentiles = palloc(sizeof(GpbPercentile) * plan->npercentiles);
	for (i = 0; i < plan->npercentiles; i++)
	{
		plan->percentiles[i].many = gpb_get_int(&reader);
		plan->percentiles[i].descending = gpb_get_int(&reader);
		plan->percentiles[i].type = gpb_get_oid(&reader);
	}
	gpb_get_partitions(&reader, &plan->partitions);
}
