/*-------------------------------------------------------------------------
 *
 * bucket_node.c
 *	  The plan node GpubtreeBucketAggregate: how its fields travel.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/bucket/bucket_node.h"

/* An integer of eight bytes, as two */
static void
put_wide(List **private, int64 value)
{
	gpb_put_int(private, (int) (value >> 32));
	gpb_put_int(private, (int) (uint32) value);
}

static int64
get_wide(GpbPrivateReader *reader)
{
	int64		upper = gpb_get_int(reader);

	return (int64) ((uint64) upper << 32 | (uint32) gpb_get_int(reader));
}

static void
put_merge(List **private, const GpbBucketMerge *merge)
{
	gpb_put_int(private, merge->descends);
	gpb_put_int(private, merge->nulls_first);
	gpb_put_int(private, merge->order);
	put_wide(private, merge->first);
	put_wide(private, merge->last);
}

static void
get_merge(GpbPrivateReader *reader, GpbBucketMerge *merge)
{
	merge->descends = gpb_get_int(reader);
	merge->nulls_first = gpb_get_int(reader);
	merge->order = gpb_get_int(reader);
	merge->first = get_wide(reader);
	merge->last = get_wide(reader);
}

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
	gpb_put_int(private, plan->returns_states);
	gpb_put_int(private, plan->merges);
	if (plan->merges)
		put_merge(private, &plan->merge);
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
	gpb_require_finished(scan);
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
	plan->returns_states = gpb_get_int(&reader);
	plan->merges = gpb_get_int(&reader);
	if (plan->merges)
		get_merge(&reader, &plan->merge);
	plan->has_program = gpb_get_int(&reader);
	if (plan->has_program)
		gpb_program_get(&reader, list_nth(scan->custom_exprs, 4), &plan->program);
}
