/*-------------------------------------------------------------------------
 *
 * aggregate_merge.c
 *	  Planning of aggregates over the leaves of a partitioned table, or of an inheritance parent.
 *
 * Each leaf has a node that returns states; core's Append has them, and the node above it, which is
 * that of the whole query, merges them (README).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_path.h"
#include "exec/answer/ordinary.h"
#include "exec/price/price_constants.h"
#include "exec/shell/expressions.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/arms.h"

/* What is planned of a parent's leaves */
typedef struct GpbMerge
{
	const GpbGrouping *grouping;
	GpbAggregateQuery query;	/* of the whole */
	int			n;
	RelOptInfo **leaf;
	GpbAggregatePath **own;		/* of each leaf */
	int			first;			/* the leaf with whose states those of the others must agree */
} GpbMerge;

/* ---- the column of states ---- */

/*
 * What a state says, as an expression of type bytea: the groups, and the aggregates, each in part.
 * Nobody evaluates it; it is what core's plan nodes and EXPLAIN know of the column.
 */
static Expr *
state_expression(List *groups, List *aggrefs)
{
	RowExpr    *row = makeNode(RowExpr);
	ListCell   *lc;

	row->args = list_copy(groups);
	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = makeNode(Aggref);

		*aggref = *lfirst_node(Aggref, lc);
		aggref->aggsplit = AGGSPLIT_INITIAL_SERIAL;
		row->args = lappend(row->args, aggref);
	}
	row->row_typeid = RECORDOID;
	row->row_format = COERCE_EXPLICIT_CALL;
	row->location = -1;
	return (Expr *) makeRelabelType((Expr *) row, BYTEAOID, -1, InvalidOid,
									COERCE_EXPLICIT_CAST);
}

/* The target of whatever returns states */
static PathTarget *
state_target(PlannerInfo *root, Expr *state)
{
	PathTarget *target = create_empty_pathtarget();

	add_column_to_pathtarget(target, state, 0);
	target->width = get_typavgwidth(BYTEAOID, -1);
	return target;
}

/* ---- do states agree? ---- */

/* All that the format of a plan's states depends on, but for its program */
static List *
format_of(const GpbAggregatePlan *plan)
{
	List	   *format = NIL;

	gpb_put_int(&format, plan->has_program);
	gpb_put_items(&format, plan->items, plan->nitems);
	for (int i = 0; i < plan->ngroups; i++)
		gpb_put_word_type(&format, plan->group_types[i]);
	for (int i = 0; i < plan->nvalues; i++)
		gpb_values_put(&format, &plan->values[i]);
	gpb_sets_put(&format, &plan->sets);
	return format;
}

/* Have the states of two plans the same format, and the same meaning?  Items name terms. */
static bool
states_agree(const GpbAggregatePlan *a, const GpbAggregatePlan *b)
{
	const GpbProgram *p = &a->program.program;
	const GpbProgram *q = &b->program.program;

	if (p->nterms != q->nterms || p->ngroups != q->ngroups)
		return false;
	for (int i = 0; i < p->nterms; i++)
	{
		if (p->term[i].kind != q->term[i].kind || p->term[i].want != q->term[i].want)
			return false;
	}
	return equal(format_of(a), format_of(b));
}

/* ---- leaves ---- */

/* Note why a leaf cannot answer. */
static const char *
refusal_of(const GpbMerge *merge, int i, const char *why)
{
	return psprintf("partition \"%s\": %s",
					get_rel_name(planner_rt_fetch(merge->leaf[i]->relid,
												  merge->query.root)->relid), why);
}

/* Find the path of leaf i.  Returns NULL, or why it has none. */
static const char *
match_leaf(GpbMerge *merge, int i)
{
	GpbGrouping *grouping = palloc(sizeof(GpbGrouping));
	GpbAggregateQuery query;
	StringInfoData refusals;
	const char *refusal;

	if (!gpb_rel_is_table(merge->query.root, merge->leaf[i]))
		return "it is no ordinary table with indexes";
	gpb_grouping_of_leaf(merge->grouping, merge->leaf[i], grouping);
	refusal = gpb_aggregate_match_query(grouping, &query);
	if (refusal != NULL)
		return refusal;
	query.having = NIL;
	query.state = state_expression(grouping->groups, grouping->aggrefs);
	query.target = state_target(query.root, query.state);
	if (merge->first >= 0)
		query.sets = merge->own[merge->first]->plan.sets;
	initStringInfo(&refusals);
	merge->own[i] = gpb_cheapest_aggregate_path(&query, &refusals);
	if (merge->own[i] == NULL)
		return refusals.data;
	if (merge->first >= 0 &&
		!states_agree(&merge->own[i]->plan, &merge->own[merge->first]->plan))
		return "its index has columns in another form";
	return NULL;
}

/* Find the paths of all leaves.  Returns NULL, or why there is no node. */
static const char *
match_leaves(GpbMerge *merge)
{
	merge->first = -1;
	for (int i = 0; i < merge->n; i++)
	{
		const char *refusal = match_leaf(merge, i);

		if (refusal != NULL)
			return refusal_of(merge, i, refusal);
		if (merge->first < 0)
			merge->first = i;
	}
	return NULL;
}

/* ---- the whole ---- */

/* The Append of the leaves.  The table is its parent, so core prunes the leaves as it runs. */
static Path *
make_append(const GpbMerge *merge)
{
	PlannerInfo *root = merge->query.root;
	Expr	   *state = state_expression(merge->grouping->groups, merge->grouping->aggrefs);
	List	   *paths = NIL;
	AppendPath *append;

	for (int i = 0; i < merge->n; i++)
		paths = lappend(paths, merge->own[i]);
	append = create_append_path(root, merge->query.rel, paths, NIL, NIL, NULL, 0, false, -1);
	append->path.pathtarget = state_target(root, state);
	return &append->path;
}

/* Let the node have an ordinary plan of the whole query, where that may be needed. */
static const char *
add_ordinary(const GpbMerge *merge, GpbAggregatePath *own)
{
	Path	   *ordinary;

	for (int i = 0; i < merge->n; i++)
		own->may_give_up |= merge->own[i]->may_give_up;
	if (!own->may_give_up)
		return NULL;
	if (gpb_has_subplan(merge->query.root, (Node *) merge->query.target->exprs) ||
		gpb_has_subplan(merge->query.root, (Node *) merge->query.having))
		return "the target list or HAVING has a subquery";
	ordinary = gpb_ordinary_path(merge->query.root, merge->query.grouped_rel,
								 merge->query.target, true);
	if (ordinary == NULL)
		return "there is no ordinary plan that could take over";
	own->path.flags &= ~CUSTOMPATH_SUPPORT_PROJECTION;
	own->path.custom_paths = lappend(own->path.custom_paths, ordinary);
	return NULL;
}

/* The plan of the node that merges: the format of its states is that of the first leaf's. */
static void
fill_plan(const GpbMerge *merge, GpbAggregatePath *own)
{
	const GpbAggregatePath *first = merge->own[merge->first];
	GpbAggregatePlan *plan = &own->plan;

	own->index = first->index;
	*plan = first->plan;
	plan->source = GPB_OF_STATES;
	plan->returns_states = false;
	plan->conditions = plan->arrays = plan->arms = plan->skips = plan->filters = NIL;
	plan->skip_prefix = 0;
	plan->program.constants = NIL;
	plan->having = merge->query.having;
	plan->values = palloc(sizeof(GpbValuesPlan) * plan->nvalues);
	for (int i = 0; i < plan->nvalues; i++)
	{
		plan->values[i] = first->plan.values[i];
		plan->values[i].value = (List *) gpb_of_parent(merge->query.root, first->index->rel,
													   (Node *) plan->values[i].value);
	}
}

/* Fill in the price: of the leaves, and of merging their states. */
static void
fill_price(const GpbMerge *merge, const Path *append, Path *path)
{
	const GpbAggregateQuery *query = &merge->query;
	QualCost	having;

	path->rows = 1.0;
	if (query->groups != NIL)
		path->rows = estimate_num_groups(query->root, query->groups, query->rel->rows, NULL,
										 NULL);
	path->startup_cost = append->total_cost +
		append->rows * GPB_MERGE_COST * cpu_operator_cost;
	cost_qual_eval(&having, query->having, query->root);
	path->startup_cost += having.startup + query->target->cost.startup;
	path->total_cost = path->startup_cost +
		path->rows * (cpu_tuple_cost + having.per_tuple + query->target->cost.per_tuple);
	path->rows = clamp_row_est(path->rows * clauselist_selectivity(query->root, query->having, 0,
																   JOIN_INNER, NULL));
}

/* Make the path of the node that merges.  Returns NULL, or why there is none. */
static const char *
make_merge(const GpbMerge *merge, GpbAggregatePath **merged)
{
	const GpbAggregateQuery *query = &merge->query;
	GpbAggregatePath *own = gpb_make_aggregate_path(query->rel, query->target);
	Path	   *append = make_append(merge);
	const char *refusal;

	own->path.custom_paths = list_make1(append);
	refusal = add_ordinary(merge, own);
	if (refusal != NULL)
		return refusal;
	fill_plan(merge, own);
	fill_price(merge, append, &own->path.path);
	own->values = own->columns = merge->own[merge->first]->values;
	*merged = own;
	return NULL;
}

/* Does a restriction have no column?  Core tests it once, above the node, which it would silence. */
static bool
has_gate(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return true;
	}
	return false;
}

void
gpb_aggregate_add_merge_path(const GpbGrouping *grouping)
{
	GpbMerge	merge = {grouping};
	GpbAggregatePath *own;
	const char *refusal;
	ListCell   *lc;

	if (!gpb_enable_aggregate)
		return;
	refusal = gpb_aggregate_match_query(grouping, &merge.query);
	if (refusal == NULL && has_gate(grouping->rel))
		refusal = "a condition has no column";
	if (refusal == NULL)
	{
		merge.leaf = palloc(sizeof(RelOptInfo *) * list_length(grouping->leaves));
		merge.own = palloc0(sizeof(GpbAggregatePath *) * list_length(grouping->leaves));
		foreach(lc, grouping->leaves)
			merge.leaf[merge.n++] = lfirst(lc);
		refusal = match_leaves(&merge);
	}
	if (refusal == NULL)
		refusal = make_merge(&merge, &own);
	if (refusal != NULL)
		gpb_explain_aggregate_refusal(refusal);
	else
		gpb_offer_aggregate_path(grouping->grouped_rel, own);
}
