/*-------------------------------------------------------------------------
 *
 * bucket_node.c
 *	  The plan node GpubtreeBucketAggregate: how its fields travel.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/bucket/bucket_node.h"

void
gpb_bucket_put(const GpbBucketPlan *plan, CustomScan *scan)
{
	List	  **private = &scan->custom_private;
	ListCell   *lc;
	int			i;

	scan->custom_exprs = list_make5(plan->conditions, plan->arguments, plan->filters,
									plan->having, plan->program.constants);
	gpb_put_oid(private, plan->index);
	gpb_put_int(private, plan->column);
	gpb_put_int(private, plan->backward);
	gpb_put_items(private, plan->items, plan->nitems);
	gpb_put_int(private, list_length(plan->functions));
	foreach(lc, plan->functions)
		gpb_put_oid(private, lfirst_oid(lc));
	gpb_put_int(private, plan->ngroups);
	for (i = 0; i < plan->ngroups; i++)
		gpb_put_word_type(private, plan->group_types[i]);
	gpb_put_int(private, plan->has_program);
	if (plan->has_program)
		gpb_program_put(private, &plan->program);
}

void
gpb_bucket_get(const CustomScan *scan, GpbBucketPlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};
	int			n;
	int			i;

	memset(plan, 0, sizeof(*plan));
	plan->conditions = linitial(scan->custom_exprs);
	plan->arguments = lsecond(scan->custom_exprs);
	plan->filters = lthird(scan->custom_exprs);
	plan->having = lfourth(scan->custom_exprs);
	plan->index = gpb_get_oid(&reader);
	plan->column = gpb_get_int(&reader);
	plan->backward = gpb_get_int(&reader);
	plan->nitems = gpb_get_items(&reader, &plan->items);
	for (n = gpb_get_int(&reader); n > 0; n--)
		plan->functions = lappend_oid(plan->functions, gpb_get_oid(&reader));
	plan->ngroups = gpb_get_int(&reader);
	plan->group_types = palloc(sizeof(GpbWordType) * plan->ngroups);
	for (i = 0; i < plan->ngroups; i++)
		plan->group_types[i] = gpb_get_word_type(&reader);
	plan->has_program = gpb_get_int(&reader);
	if (plan->has_program)
		gpb_program_get(&reader, list_nth(scan->custom_exprs, 4), &plan->program);
}
