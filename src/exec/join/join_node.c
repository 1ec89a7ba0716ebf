/*-------------------------------------------------------------------------
 *
 * join_node.c
 *	  The plan node GpubtreeJoin: how its fields travel.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/join/join_node.h"

void
gpb_join_put(const GpbJoinPlan *plan, CustomScan *scan)
{
	List	  **private = &scan->custom_private;
	int			i;

	scan->custom_exprs = list_make5(plan->clauses, plan->match, plan->filters,
									plan->rest, plan->program.constants);
	gpb_put_oid(private, plan->index);
	gpb_put_range_conditions(private, plan->conditions, plan->nconditions);
	gpb_put_int(private, plan->jointype);
	gpb_put_int(private, plan->index_only);
	gpb_put_int(private, plan->in_order);
	gpb_put_int(private, plan->counts);
	gpb_put_int(private, plan->nouter);
	gpb_put_int(private, plan->ninner);
	for (i = 0; i < plan->ninner; i++)
		gpb_put_int(private, plan->inner[i]);
	gpb_put_partitions(private, &plan->partitions);
	gpb_put_int(private, plan->partition_inner != NULL);
	for (i = 0; plan->partition_inner != NULL && i < plan->partitions.n * plan->ninner; i++)
		gpb_put_int(private, plan->partition_inner[i / plan->ninner][i % plan->ninner]);
	gpb_put_int(private, plan->has_program);
	if (plan->has_program)
		gpb_program_put(private, &plan->program);
}

/* Get the columns of each partition. */
static void
get_partition_columns(GpbPrivateReader *reader, GpbJoinPlan *plan)
{
	int			i;

	plan->partition_inner = NULL;
	if (gpb_get_int(reader) == 0)
		return;
	plan->partition_inner = palloc(sizeof(AttrNumber *) * plan->partitions.n);
	for (i = 0; i < plan->partitions.n; i++)
	{
		int			c;

		plan->partition_inner[i] = palloc(sizeof(AttrNumber) * Max(plan->ninner, 1));
		for (c = 0; c < plan->ninner; c++)
			plan->partition_inner[i][c] = gpb_get_int(reader);
	}
}

void
gpb_join_get(const CustomScan *scan, GpbJoinPlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};
	int			i;

	plan->clauses = linitial(scan->custom_exprs);
	plan->match = lsecond(scan->custom_exprs);
	plan->filters = lthird(scan->custom_exprs);
	plan->index = gpb_get_oid(&reader);
	plan->nconditions = gpb_get_range_conditions(&reader, &plan->conditions);
	plan->jointype = gpb_get_int(&reader);
	plan->index_only = gpb_get_int(&reader);
	plan->in_order = gpb_get_int(&reader);
	plan->counts = gpb_get_int(&reader) != 0;
	plan->nouter = gpb_get_int(&reader);
	plan->ninner = gpb_get_int(&reader);
	plan->inner = palloc(sizeof(AttrNumber) * plan->ninner);
	for (i = 0; i < plan->ninner; i++)
		plan->inner[i] = gpb_get_int(&reader);
	gpb_get_partitions(&reader, &plan->partitions);
	get_partition_columns(&reader, plan);
	plan->rest = lfourth(scan->custom_exprs);
	plan->has_program = gpb_get_int(&reader) != 0;
	if (plan->has_program)
		gpb_program_get(&reader, list_nth(scan->custom_exprs, 4), &plan->program);
}
