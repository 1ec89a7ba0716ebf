/*-------------------------------------------------------------------------
 *
 * aggregate_node.c
 *	  The plan node GpubtreeAggregate: how its fields travel.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/aggregate/aggregate_node.h"

int
gpb_aggregate_count_values(const GpbAggregatePlan *plan)
{
	int			n = 0;
	int			i;

	for (i = 0; i < plan->nvalues; i++)
		n += plan->values[i].n;
	return n;
}

/* Put what the plan has of the values of expressions, whose own expressions come to *exprs. */
static void
put_values(const GpbAggregatePlan *plan, List **private, List **exprs)
{
	List	   *values = NIL;
	List	   *fractions = NIL;
	int			i;

	gpb_put_int(private, plan->nvalues);
	for (i = 0; i < plan->nvalues; i++)
	{
		gpb_values_put(private, &plan->values[i]);
		values = lappend(values, linitial(plan->values[i].value));
		fractions = lappend(fractions, plan->values[i].fractions);
	}
	*exprs = lappend(lappend(*exprs, values), fractions);
}

/* Get what put_values() put. */
static void
get_values(GpbPrivateReader *reader, const List *values, const List *fractions,
		   GpbAggregatePlan *plan)
{
	int			i;

	plan->nvalues = gpb_get_int(reader);
	plan->values = palloc0(sizeof(GpbValuesPlan) * plan->nvalues);
	for (i = 0; i < plan->nvalues; i++)
	{
		gpb_values_get(reader, &plan->values[i]);
		plan->values[i].value = list_make1(list_nth(values, i));
		plan->values[i].fractions = list_nth(fractions, i);
	}
}

/* Put what the plan has of shards, but for the bins. */
static void
put_shards(const GpbAggregatePlan *plan, List **private)
{
	gpb_put_int(private, plan->nshards);
	for (int i = 0; i < plan->nshards; i++)
	{
		const GpbShardForm *form = &plan->shards[i];

		gpb_put_int(private, form->n);
		for (int c = 0; c < form->n; c++)
		{
			gpb_put_int(private, form->column[c].part);
			gpb_put_int(private, form->column[c].number);
			gpb_put_oid(private, form->column[c].type);
		}
	}
}

/* Get what put_shards() put. */
static void
get_shards(GpbPrivateReader *reader, GpbAggregatePlan *plan)
{
	plan->nshards = gpb_get_int(reader);
	plan->shards = palloc(sizeof(GpbShardForm) * Max(plan->nshards, 1));
	for (int i = 0; i < plan->nshards; i++)
	{
		GpbShardForm *form = &plan->shards[i];

		form->n = gpb_get_int(reader);
		form->column = palloc(sizeof(GpbShardColumn) * form->n);
		for (int c = 0; c < form->n; c++)
		{
			form->column[c].part = gpb_get_int(reader);
			form->column[c].number = gpb_get_int(reader);
			form->column[c].type = gpb_get_oid(reader);
		}
	}
}

void
gpb_aggregate_put(const GpbAggregatePlan *plan, CustomScan *scan)
{
	int			i;

	scan->custom_exprs = list_make5(plan->conditions, plan->arrays, plan->arms, plan->filters,
									plan->having);
	scan->custom_exprs = lappend(scan->custom_exprs, plan->program.constants);
	gpb_put_oid(&scan->custom_private, plan->index);
	gpb_put_int(&scan->custom_private, plan->source);
	gpb_put_int(&scan->custom_private, plan->returns_states);
	gpb_put_int(&scan->custom_private, plan->skip_prefix);
	gpb_put_items(&scan->custom_private, plan->items, plan->nitems);
	gpb_put_int(&scan->custom_private, plan->ngroups);
	for (i = 0; i < plan->ngroups; i++)
		gpb_put_word_type(&scan->custom_private, plan->group_types[i]);
	gpb_sets_put(&scan->custom_private, &plan->sets);
	put_values(plan, &scan->custom_private, &scan->custom_exprs);
	scan->custom_exprs = lappend(lappend(scan->custom_exprs, plan->skips), plan->bins);
	put_shards(plan, &scan->custom_private);
	gpb_put_int(&scan->custom_private, plan->has_program);
	if (plan->has_program)
		gpb_program_put(&scan->custom_private, &plan->program);
}

Oid
gpb_aggregate_index(const CustomScan *scan)
{
	GpbPrivateReader reader = {scan->custom_private};

	return gpb_get_oid(&reader);
}

void
gpb_aggregate_get(const CustomScan *scan, GpbAggregatePlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};
	int			i;

	memset(plan, 0, sizeof(*plan));
	gpb_require_finished(scan);
	plan->conditions = linitial(scan->custom_exprs);
	plan->arrays = lsecond(scan->custom_exprs);
	plan->arms = lthird(scan->custom_exprs);
	plan->filters = lfourth(scan->custom_exprs);
	plan->having = list_nth(scan->custom_exprs, 4);
	plan->index = gpb_get_oid(&reader);
	plan->source = gpb_get_int(&reader);
	plan->returns_states = gpb_get_int(&reader) != 0;
	plan->skip_prefix = gpb_get_int(&reader);
	plan->nitems = gpb_get_items(&reader, &plan->items);
	plan->ngroups = gpb_get_int(&reader);
	plan->group_types = palloc(sizeof(GpbWordType) * plan->ngroups);
	for (i = 0; i < plan->ngroups; i++)
		plan->group_types[i] = gpb_get_word_type(&reader);
	gpb_sets_get(&reader, &plan->sets);
	get_values(&reader, list_nth(scan->custom_exprs, 6), list_nth(scan->custom_exprs, 7), plan);
	plan->skips = list_nth(scan->custom_exprs, 8);
	plan->bins = list_nth(scan->custom_exprs, 9);
	get_shards(&reader, plan);
	plan->has_program = gpb_get_int(&reader);
	if (plan->has_program)
		gpb_program_get(&reader, list_nth(scan->custom_exprs, 5), &plan->program);
}
