/*-------------------------------------------------------------------------
 *
 * scan_node.c
 *	  The plan node GpubtreeScan: how its fields travel.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/scan/scan_node.h"

void
gpb_scan_put(const GpbScanPlan *plan, CustomScan *scan)
{
	int			i;

	scan->custom_exprs = list_make5(plan->conditions, plan->arrays, plan->arms, plan->filters,
									plan->all);
	scan->custom_exprs = lappend(scan->custom_exprs, plan->program.constants);
	scan->custom_exprs = lappend(scan->custom_exprs, plan->order);
	scan->custom_exprs = lappend(scan->custom_exprs, plan->ends.constants);
	scan->custom_exprs = lappend(scan->custom_exprs, plan->groups);
	scan->custom_exprs = lappend(scan->custom_exprs, plan->bound);
	scan->custom_exprs = lappend(scan->custom_exprs, plan->skips);
	gpb_put_oid(&scan->custom_private, plan->index);
	gpb_put_int(&scan->custom_private, plan->index_only);
	gpb_put_int(&scan->custom_private, plan->scattered);
	gpb_put_int(&scan->custom_private, plan->ncolumns);
	for (i = 0; i < plan->ncolumns; i++)
		gpb_put_int(&scan->custom_private, plan->columns[i]);
	gpb_program_put(&scan->custom_private, &plan->program);
	gpb_put_int(&scan->custom_private, plan->skip_prefix);
	gpb_put_int(&scan->custom_private, plan->has_each);
	gpb_put_int(&scan->custom_private, plan->walk.forward);
	gpb_put_int(&scan->custom_private, plan->walk.backward);
	gpb_put_int(&scan->custom_private, plan->walk.prefix);
	gpb_put_int(&scan->custom_private, plan->walk.ordered);
	gpb_put_int(&scan->custom_private, plan->walk.nulls);
	gpb_put_int(&scan->custom_private, plan->walk.ties);
	gpb_put_int(&scan->custom_private, plan->direction);
	gpb_put_int(&scan->custom_private, plan->has_ends);
	if (!plan->has_ends)
		return;
	gpb_program_put(&scan->custom_private, &plan->ends);
	gpb_put_items(&scan->custom_private, plan->end, 1);
}

void
gpb_scan_get(const CustomScan *scan, GpbScanPlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};
	int			i;

	memset(plan, 0, sizeof(*plan));
	gpb_require_finished(scan);
	plan->conditions = linitial(scan->custom_exprs);
	plan->arrays = lsecond(scan->custom_exprs);
	plan->arms = lthird(scan->custom_exprs);
	plan->filters = lfourth(scan->custom_exprs);
	plan->all = list_nth(scan->custom_exprs, 4);
	plan->order = list_nth(scan->custom_exprs, 6);
	plan->index = gpb_get_oid(&reader);
	plan->index_only = gpb_get_int(&reader);
	plan->scattered = gpb_get_int(&reader);
	plan->ncolumns = gpb_get_int(&reader);
	plan->columns = palloc(sizeof(AttrNumber) * plan->ncolumns);
	for (i = 0; i < plan->ncolumns; i++)
		plan->columns[i] = gpb_get_int(&reader);
	gpb_program_get(&reader, list_nth(scan->custom_exprs, 5), &plan->program);
	plan->groups = list_nth(scan->custom_exprs, 8);
	plan->bound = list_nth(scan->custom_exprs, 9);
	plan->skips = list_nth(scan->custom_exprs, 10);
	plan->skip_prefix = gpb_get_int(&reader);
	plan->has_each = gpb_get_int(&reader);
	plan->walk.forward = gpb_get_int(&reader);
	plan->walk.backward = gpb_get_int(&reader);
	plan->walk.prefix = gpb_get_int(&reader);
	plan->walk.ordered = gpb_get_int(&reader);
	plan->walk.nulls = gpb_get_int(&reader);
	plan->walk.ties = gpb_get_int(&reader);
	plan->direction = gpb_get_int(&reader);
	plan->has_ends = gpb_get_int(&reader);
	if (!plan->has_ends)
		return;
	gpb_program_get(&reader, list_nth(scan->custom_exprs, 7), &plan->ends);
	(void) gpb_get_items(&reader, &plan->end);
}
