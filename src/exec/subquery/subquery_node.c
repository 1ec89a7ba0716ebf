/*-------------------------------------------------------------------------
 *
 * subquery_node.c
 *	  The plan node GpubtreeSubquery: what travels in custom_private.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/subquery/subquery.h"

/*
 * A list of the ranges, each as gpb_range_aggregate_private makes it; the ranges of the results;
 * numbers.  OIDs, integers and names only, so that plans can be copied.
 */
List *
gpb_subquery_private(const GpbSubqueryPlan *plan)
{
	List	   *ranges = NIL;
	List	   *results = NIL;
	int			i;

	for (i = 0; i < plan->nranges; i++)
	{
		GpbRangeAggregatePlan range = {0};

		range.index = plan->ranges[i].index;
		range.alias = plan->ranges[i].alias;
		range.nitems = plan->ranges[i].nitems;
		range.items = plan->ranges[i].items;
		range.nconditions = plan->ranges[i].nconditions;
		range.conditions = plan->ranges[i].conditions;
		ranges = lappend(ranges, gpb_range_aggregate_private(&range));
	}
	for (i = 0; i < plan->nresults; i++)
		results = lappend_int(results, plan->result_range[i]);
	return list_make3(ranges, results,
					  list_make3_int(plan->may_fail, plan->on_top, plan->ncolumns));
}

void
gpb_subquery_read_private(List *private, GpbSubqueryPlan *plan)
{
	List	   *ranges = linitial(private);
	List	   *results = lsecond(private);
	int			i;

	plan->may_fail = linitial_int(lthird(private));
	plan->on_top = lsecond_int(lthird(private));
	plan->ncolumns = lthird_int(lthird(private));
	plan->nranges = list_length(ranges);
	plan->ranges = palloc(sizeof(GpbSubqueryRange) * plan->nranges);
	for (i = 0; i < plan->nranges; i++)
	{
		GpbRangeAggregatePlan range;

		gpb_range_aggregate_read_private(list_nth(ranges, i), &range);
		plan->ranges[i].index = range.index;
		plan->ranges[i].alias = range.alias;
		plan->ranges[i].nitems = range.nitems;
		plan->ranges[i].items = range.items;
		plan->ranges[i].nconditions = range.nconditions;
		plan->ranges[i].conditions = range.conditions;
	}
	plan->nresults = list_length(results);
	plan->result_range = palloc(sizeof(int) * plan->nresults);
	for (i = 0; i < plan->nresults; i++)
		plan->result_range[i] = list_nth_int(results, i);
}
