/*-------------------------------------------------------------------------
 *
 * aggregate_merge.c
 *	  Planning of states: the paths that return them, and the node above that merges them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/optimizer.h"

#include "exec/aggregate/aggregate_path.h"
#include "exec/aggregate/aggregate_price.h"
#include "exec/answer/ordinary.h"
#include "exec/compile/state_column.h"
#include "exec/shell/expressions.h"

/* ---- states wanted ---- */

void
gpb_want_states(GpbAggregateQuery *query, Expr *state, PathTarget *target)
{
	query->having = NIL;
	query->state = state;
	query->target = target;
}

/* ---- do states agree? ---- */

/* A type of a plan's words as that of words of a state, which has texts in the place of codes */
static GpbWordType
state_type(GpbWordType type)
{
	if (type.class == GPB_WORDS_CODE)
		type.column = 0;
	return type;
}

/* All that the format of a plan's states depends on, but for its program */
static List *
format_of(const GpbAggregatePlan *plan)
{
	List	   *format = NIL;

	gpb_put_items(&format, plan->items, plan->nitems);
	for (int i = 0; i < plan->ngroups; i++)
		gpb_put_word_type(&format, state_type(plan->group_types[i]));
	for (int i = 0; i < plan->nvalues; i++)
	{
		GpbValuesPlan values = plan->values[i];

		values.type = state_type(values.type);
		gpb_values_put(&format, &values);
	}
	gpb_sets_put(&format, &plan->sets);
	return format;
}

/* Do the answers of a plan have nothing but the number of entries? */
static bool
only_counts_entries(const GpbAggregatePlan *plan)
{
	for (int i = 0; i < plan->nitems; i++)
	{
		if (plan->items[i].function != GPB_COUNT_ENTRIES)
			return false;
	}
	return plan->program.program.nterms == 0;
}

/* Items name terms, whose numbers they have in format_of(). */
bool
gpb_states_agree(const GpbAggregatePlan *a, const GpbAggregatePlan *b)
{
	const GpbProgram *p = &a->program.program;
	const GpbProgram *q = &b->program.program;

	if (a->has_program != b->has_program && !(only_counts_entries(a) && only_counts_entries(b)))
		return false;
	return p->ngroups == q->ngroups && gpb_terms_agree(p, q) &&
		equal(format_of(a), format_of(b));
}

/* ---- the node that merges ---- */

void
gpb_translate_values(const GpbSibling *sibling, GpbAggregatePlan *plan)
{
	GpbValuesPlan *values = palloc(sizeof(GpbValuesPlan) * plan->nvalues);

	for (int i = 0; i < plan->nvalues; i++)
	{
		values[i] = plan->values[i];
		values[i].value = (List *) gpb_sibling_expression(sibling, (Node *) values[i].value);
	}
	plan->values = values;
}

/* Let the node have an ordinary plan of the whole query.  Returns NULL, or why there is none. */
static const char *
add_ordinary(const GpbAggregateQuery *query, const GpbAggregatePlan *leaf, GpbAggregatePath *own)
{
	if (gpb_has_subplan(query->root, (Node *) query->target->exprs) ||
		gpb_has_subplan(query->root, (Node *) query->having))
		return "the target list or HAVING has a subquery";
	return gpb_add_ordinary_path(query->root, query->grouped_rel, &own->path,
								 gpb_constants_may_fail(leaf)) ? NULL :
		"there is no ordinary plan that could take over";
}

/* The plan has the format of the states, and of the rows that are made of them. */
static void
fill_plan(const GpbAggregateQuery *query, const GpbAggregatePath *first, GpbAggregatePath *own)
{
	GpbAggregatePlan *plan = &own->plan;
	GpbSibling	parent;

	gpb_sibling_begin(query->root, first->index->rel, query->rel, &parent);
	own->index = first->index;
	own->values = own->columns = first->values;
	*plan = first->plan;
	plan->source = GPB_OF_STATES;
	plan->returns_states = false;
	plan->conditions = plan->arrays = plan->arms = plan->skips = plan->filters = NIL;
	plan->skip_prefix = 0;
	plan->program.constants = NIL;
	plan->having = query->having;
	gpb_translate_values(&parent, plan);
}

GpbAggregatePath *
gpb_merging_aggregate_path(const GpbAggregateQuery *query, const GpbAggregatePath *first,
						   Path *states, GpbShards *shards, bool may_give_up,
						   const char **refusal)
{
	GpbAggregatePath *own = gpb_make_aggregate_path(query->rel, query->target);

	own->path.custom_paths = list_make1(states);
	*refusal = may_give_up ? add_ordinary(query, &first->plan, own) : NULL;
	if (*refusal != NULL)
		return NULL;
	fill_plan(query, first, own);
	if (shards != NULL)
		gpb_shards_fill(shards, &own->plan);
	GPB_ADD_DISABLED(&own->path.path, states);
	*refusal = gpb_aggregate_merge_price(query, &own->plan, states, first->path.path.rows,
											&own->path.path);
	return *refusal == NULL ? own : NULL;
}
