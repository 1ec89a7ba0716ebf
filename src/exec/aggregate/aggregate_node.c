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
	int			i;

	scan->custom_exprs = list_make5(plan->conditions, plan->arrays, plan->arms, plan->filters,
									plan->having);
	scan->custom_exprs = lappend(scan->custom_exprs, plan->program.constants);
	scan->custom_exprs = lappend(scan->custom_exprs, plan->values.value);
	scan->custom_exprs = lappend(scan->custom_exprs, plan->values.fractions);
	gpb_put_oid(&scan->custom_private, plan->index);
	gpb_put_items(&scan->custom_private, plan->items, plan->nitems);
	gpb_put_int(&scan->custom_private, plan->ngroups);
	for (i = 0; i < plan->ngroups; i++)
		gpb_put_oid(&scan->custom_private, plan->group_types[i]);
	gpb_values_put(&scan->custom_private, &plan->values);
	gpb_put_int(&scan->custom_private, plan->has_program);
	if (plan->has_program)
		gpb_program_put(&scan->custom_private, &plan->program);
}

void
gpb_aggregate_get(const CustomScan *scan, GpbAggregatePlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};
	int			i;

	memset(plan, 0, sizeof(*plan));
	plan->conditions = linitial(scan->custom_exprs);
	plan->arrays = lsecond(scan->custom_exprs);
	plan->arms = lthird(scan->custom_exprs);
	plan->filters = lfourth(scan->custom_exprs);
	plan->having = list_nth(scan->custom_exprs, 4);
	plan->index = gpb_get_oid(&reader);
	plan->nitems = gpb_get_items(&reader, &plan->items);
	plan->ngroups = gpb_get_int(&reader);
	plan->group_types = palloc(sizeof(Oid) * plan->ngroups);
	for (i = 0; i < plan->ngroups; i++)
		plan->group_types[i] = gpb_get_oid(&reader);
	gpb_values_get(&reader, &plan->values);
	plan->values.value = list_nth(scan->custom_exprs, 6);
	plan->values.fractions = list_nth(scan->custom_exprs, 7);
	plan->has_program = gpb_get_int(&reader);
	if (plan->has_program)
		gpb_program_get(&reader, list_nth(scan->custom_exprs, 5), &plan->program);
}
