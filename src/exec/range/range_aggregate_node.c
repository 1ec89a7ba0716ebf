/*-------------------------------------------------------------------------
 *
 * range_aggregate_node.c
 *	  How the fields of the plan node GpubtreeRangeAggregate travel.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/range/range_aggregate.h"

void
gpb_range_aggregate_put(const GpbRangeAggregatePlan *plan, CustomScan *scan)
{
	List	  **private = &scan->custom_private;
	int			i;

	scan->custom_exprs = list_make5(plan->values, plan->computed, plan->having,
									plan->range.program.plan.constants, plan->clauses);
	gpb_put_row_range(private, &plan->range);
	gpb_put_partitions(private, &plan->partitions);
	gpb_put_int(private, plan->nouter);
	gpb_put_int(private, plan->gathered);
	gpb_put_int(private, plan->ngroup);
	for (i = 0; i < plan->ngroup; i++)
	{
		gpb_put_int(private, plan->group[i]);
		gpb_put_oid(private, plan->group_operator[i]);
		gpb_put_oid(private, plan->group_collation[i]);
	}
	gpb_put_int(private, plan->keep_empty);
	gpb_put_int(private, plan->empty_count);
	gpb_put_int(private, plan->has_ordinary);
	gpb_put_int(private, plan->joined);
	gpb_put_int(private, plan->returns_state);
	gpb_put_int(private, plan->merges_states);
}

void
gpb_range_aggregate_get(const CustomScan *scan, GpbRangeAggregatePlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};
	int			i;

	plan->values = linitial(scan->custom_exprs);
	plan->computed = lsecond(scan->custom_exprs);
	plan->having = lthird(scan->custom_exprs);
	gpb_get_row_range(&reader, &plan->range);
	gpb_get_partitions(&reader, &plan->partitions);
	plan->range.program.plan.constants = lfourth(scan->custom_exprs);
	plan->nouter = gpb_get_int(&reader);
	plan->gathered = gpb_get_int(&reader) != 0;
	plan->ngroup = gpb_get_int(&reader);
	plan->group = palloc(sizeof(AttrNumber) * plan->ngroup);
	plan->group_operator = palloc(sizeof(Oid) * plan->ngroup);
	plan->group_collation = palloc(sizeof(Oid) * plan->ngroup);
	for (i = 0; i < plan->ngroup; i++)
	{
		plan->group[i] = gpb_get_int(&reader);
		plan->group_operator[i] = gpb_get_oid(&reader);
		plan->group_collation[i] = gpb_get_oid(&reader);
	}
	plan->keep_empty = gpb_get_int(&reader);
	plan->empty_count = gpb_get_int(&reader);
	plan->has_ordinary = gpb_get_int(&reader) != 0;
	plan->joined = gpb_get_int(&reader) != 0;
	plan->returns_state = gpb_get_int(&reader) != 0;
	plan->merges_states = gpb_get_int(&reader) != 0;
	plan->clauses = list_nth(scan->custom_exprs, 4);
}
