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

	scan->custom_exprs = list_make2(plan->conditions, plan->arguments);
	gpb_put_oid(private, plan->index);
	gpb_put_items(private, plan->items, plan->nitems);
	gpb_put_int(private, list_length(plan->functions));
	foreach(lc, plan->functions)
		gpb_put_oid(private, lfirst_oid(lc));
}

void
gpb_bucket_get(const CustomScan *scan, GpbBucketPlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};
	int			n;

	plan->conditions = linitial(scan->custom_exprs);
	plan->arguments = lsecond(scan->custom_exprs);
	plan->index = gpb_get_oid(&reader);
	plan->nitems = gpb_get_items(&reader, &plan->items);
	plan->functions = NIL;
	for (n = gpb_get_int(&reader); n > 0; n--)
		plan->functions = lappend_oid(plan->functions, gpb_get_oid(&reader));
}
