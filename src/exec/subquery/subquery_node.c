/*-------------------------------------------------------------------------
 *
 * subquery_node.c
 *	  The plan node GpubtreeSubquery: how its fields travel.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/subquery/subquery.h"

void
gpb_subquery_put(const GpbSubqueryPlan *plan, CustomScan *scan)
{
	List	  **private = &scan->custom_private;
	List	   *values = NIL;
	List	   *constants = NIL;
	int			i;

	gpb_put_int(private, plan->may_fail);
	gpb_put_int(private, plan->on_top);
	gpb_put_int(private, plan->ncolumns);
	gpb_put_int(private, plan->nranges);
	for (i = 0; i < plan->nranges; i++)
	{
		gpb_put_row_range(private, &plan->ranges[i]);
		gpb_put_partitions(private, &plan->partitions[i]);
		values = lappend(values, plan->values[i]);
		constants = lappend(constants, plan->ranges[i].program.plan.constants);
	}
	gpb_put_int(private, plan->nresults);
	for (i = 0; i < plan->nresults; i++)
		gpb_put_int(private, plan->result_range[i]);
	scan->custom_exprs = list_make5(values, plan->targets, plan->subplans,
									plan->bounded ?
									list_make2(plan->bound_offset, plan->bound_count) : NIL,
									constants);
}

void
gpb_subquery_get(const CustomScan *scan, GpbSubqueryPlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};
	List	   *values = linitial(scan->custom_exprs);
	List	   *bound = lfourth(scan->custom_exprs);
	List	   *constants = list_nth(scan->custom_exprs, 4);
	int			i;

	plan->may_fail = gpb_get_int(&reader);
	plan->on_top = gpb_get_int(&reader);
	plan->ncolumns = gpb_get_int(&reader);
	plan->nranges = gpb_get_int(&reader);
	plan->ranges = palloc(sizeof(GpbRowRange) * plan->nranges);
	plan->partitions = palloc(sizeof(GpbPartitionList) * plan->nranges);
	plan->values = palloc(sizeof(List *) * plan->nranges);
	for (i = 0; i < plan->nranges; i++)
	{
		gpb_get_row_range(&reader, &plan->ranges[i]);
		gpb_get_partitions(&reader, &plan->partitions[i]);
		plan->values[i] = list_nth(values, i);
		plan->ranges[i].program.plan.constants = list_nth(constants, i);
	}
	plan->nresults = gpb_get_int(&reader);
	plan->result_range = palloc(sizeof(int) * plan->nresults);
	for (i = 0; i < plan->nresults; i++)
		plan->result_range[i] = gpb_get_int(&reader);
	plan->targets = lsecond(scan->custom_exprs);
	plan->subplans = lthird(scan->custom_exprs);
	plan->bounded = bound != NIL;
	plan->bound_offset = plan->bounded ? linitial(bound) : NULL;
	plan->bound_count = plan->bounded ? lsecond(bound) : NULL;
}
