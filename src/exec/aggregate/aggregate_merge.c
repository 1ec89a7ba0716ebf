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
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_path.h"
#include "exec/answer/ordinary.h"
#include "exec/bind/row_values.h"
#include "exec/price/price_constants.h"
#include "exec/shell/expressions.h"
#include "exec/shell/never_null.h"
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
	bool		portable;		/* programs are to be the same whatever the index */
	const GpbAggregatePath *first;	/* with whose states those of the others must agree */
	GpbAggregateQuery first_query;	/* of its leaf */
	const GpbAggregatePath *rows;	/* what a leaf without an index does, as if of the first leaf; NULL
									 * until it is asked for */
	const char *rows_refusal;	/* why that cannot be done, if it was asked for */
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

/* Have the states of two plans the same format, and the same meaning?  Items name terms. */
static bool
states_agree(const GpbAggregatePlan *a, const GpbAggregatePlan *b)
{
	const GpbProgram *p = &a->program.program;
	const GpbProgram *q = &b->program.program;

	if (a->has_program != b->has_program && !(only_counts_entries(a) && only_counts_entries(b)))
		return false;
	if (p->nterms != q->nterms || p->ngroups != q->ngroups)
		return false;
	for (int i = 0; i < p->nterms; i++)
	{
		if (p->term[i].kind != q->term[i].kind || p->term[i].want != q->term[i].want)
			return false;
	}
	return equal(format_of(a), format_of(b));
}

/* ---- expressions of several leaves ---- */

/* An expression of one leaf as that of another, or of the parent if "other" is that */
static Node *
of_other(PlannerInfo *root, RelOptInfo *leaf, RelOptInfo *other, Node *expression)
{
	return gpb_of_child(root, other, gpb_of_parent(root, leaf, expression));
}

/* Have a copy of a leaf's plan show the expressions of its values as those of another relation. */
static void
translate_values(PlannerInfo *root, RelOptInfo *leaf, RelOptInfo *other, GpbAggregatePlan *plan)
{
	GpbValuesPlan *values = palloc(sizeof(GpbValuesPlan) * plan->nvalues);

	for (int i = 0; i < plan->nvalues; i++)
	{
		values[i] = plan->values[i];
		values[i].value = (List *) of_other(root, leaf, other, (Node *) values[i].value);
	}
	plan->values = values;
}

/* ---- columns that are never NULL ---- */

/* Is the column of the leaf, which the query calls by this Var of the parent, never NULL? */
static bool
is_not_null(PlannerInfo *root, RelOptInfo *leaf, Node *var)
{
	/* what a foreign table declares nobody enforces */
	return planner_rt_fetch(leaf->relid, root)->relkind != RELKIND_FOREIGN_TABLE &&
		gpb_is_never_null(root, NULL, (Expr *) gpb_of_child(root, leaf, var));
}

/*
 * Is a column counted that is NOT NULL in some of the leaves alone?  It must be counted in the same
 * way in all of them.
 */
static bool
counts_disagree(const GpbMerge *merge)
{
	PlannerInfo *root = merge->query.root;
	ListCell   *lc;

	foreach(lc, merge->grouping->aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);
		Expr	   *argument;

		if (aggref->aggfnoid != F_COUNT_ANY)
			continue;
		argument = gpb_without_labels(linitial_node(TargetEntry, aggref->args)->expr);
		for (int i = 1; i < merge->n && IsA(argument, Var); i++)
		{
			if (is_not_null(root, merge->leaf[i], (Node *) argument) !=
				is_not_null(root, merge->leaf[0], (Node *) argument))
				return true;
		}
	}
	return false;
}

/* ---- a leaf ---- */

/* Fill in what the query wants of a leaf. */
static void
leaf_query(const GpbMerge *merge, RelOptInfo *leaf, GpbAggregateQuery *query)
{
	GpbGrouping *grouping = palloc(sizeof(GpbGrouping));

	gpb_grouping_of_leaf(merge->grouping, leaf, grouping);
	(void) gpb_aggregate_match_query(grouping, query);
	query->having = NIL;
	query->state = state_expression(grouping->groups, grouping->aggrefs);
	query->target = state_target(query->root, query->state);
	query->portable = merge->portable;
	if (merge->first != NULL)
		query->sets = merge->first->plan.sets;
}

/*
 * Find the path of leaf i by an index of its own.  Returns NULL, or why it has none.  Sets
 * *disagrees if that is the form of its states.
 */
static const char *
match_leaf(GpbMerge *merge, int i, bool *disagrees)
{
	GpbAggregateQuery query;
	StringInfoData refusals;
	GpbAggregatePath *own;

	if (!gpb_rel_is_table(merge->query.root, merge->leaf[i]))
		return "it is no ordinary table with indexes";
	leaf_query(merge, merge->leaf[i], &query);
	initStringInfo(&refusals);
	own = gpb_cheapest_aggregate_path(&query, &refusals);
	if (own == NULL)
		return refusals.data;
	if (merge->first == NULL)
	{
		merge->first = own;
		merge->first_query = query;
	}
	else if (!states_agree(&own->plan, &merge->first->plan))
	{
		*disagrees = true;
		return "its index has a column in another form";
	}
	merge->own[i] = own;
	return NULL;
}

/* ---- a leaf of rows ---- */

/*
 * Find out what leaves without an index do with their rows.  Returns NULL, or why nothing; sets
 * *disagrees if that is the form of their states.
 *
 * The program has no filters, since core's scan has tested the restrictions.  It could not test
 * them again: the scan need not have their columns.
 */
static const char *
match_rows(GpbMerge *merge, bool *disagrees)
{
	GpbAggregateQuery query = merge->first_query;
	const GpbAggregatePath *rows;

	if (merge->rows != NULL || merge->rows_refusal != NULL)
		return merge->rows_refusal;
	query.of_rows = true;
	query.sets = merge->first->plan.sets;
	rows = gpb_rows_aggregate_path(&query, merge->first->index, &merge->rows_refusal);
	if (rows != NULL && !states_agree(&rows->plan, &merge->first->plan))
	{
		*disagrees = true;
		merge->rows_refusal = "its rows have no states like those of the other partitions";
	}
	else
		merge->rows = rows;
	return merge->rows_refusal;
}

/* The columns that the program of rows reads, as the leaf's */
static PathTarget *
row_target(const GpbMerge *merge, RelOptInfo *leaf)
{
	PlannerInfo *root = merge->query.root;
	const GpbAggregatePlan *plan = &merge->rows->plan;
	IndexOptInfo *index = merge->rows->index;
	PathTarget *target = create_empty_pathtarget();
	Bitmapset  *columns = gpb_row_columns(&plan->program.program, plan->items, plan->nitems,
										  index->nkeycolumns, index->ncolumns);
	int			c = -1;

	while ((c = bms_next_member(columns, c)) >= 0)
	{
		TargetEntry *entry = list_nth_node(TargetEntry, index->indextlist, c);

		add_column_to_pathtarget(target,
								 (Expr *) of_other(root, index->rel, leaf, (Node *) entry->expr), 0);
	}
	return set_pathtarget_cost_width(root, target);
}

/*
 * Make the path of a leaf that aggregates the rows of core's own scan of it, which has tested all
 * restrictions.
 */
static GpbAggregatePath *
make_rows(const GpbMerge *merge, RelOptInfo *leaf)
{
	PlannerInfo *root = merge->query.root;
	Expr	   *state = (Expr *) of_other(root, merge->first->index->rel, leaf,
												 linitial(merge->rows->columns));
	GpbAggregatePath *own = gpb_make_aggregate_path(leaf, state_target(root, state));
	Path	   *rows = (Path *) create_projection_path(root, leaf, leaf->cheapest_total_path,
													   row_target(merge, leaf));

	own->index = merge->rows->index;
	own->may_give_up = true;
	own->columns = list_make1(state);
	own->plan = merge->rows->plan;
	translate_values(root, merge->first->index->rel, leaf, &own->plan);
	own->path.custom_paths = list_make1(rows);
	own->path.path.rows = merge->first->path.path.rows;
	own->path.path.startup_cost = rows->total_cost + rows->rows * merge->rows->row_cost;
	own->path.path.total_cost = own->path.path.startup_cost;
	return own;
}

/* ---- leaves ---- */

/* The leaf with the most rows, by whose index the others go if it has one */
static int
largest_leaf(const GpbMerge *merge)
{
	int			largest = 0;

	for (int i = 1; i < merge->n; i++)
	{
		if (merge->leaf[i]->tuples > merge->leaf[largest]->tuples)
			largest = i;
	}
	return largest;
}

/* Name the partition in a reason that is about it. */
static const char *
about_leaf(const GpbMerge *merge, int i, const char *why)
{
	Oid			table = planner_rt_fetch(merge->leaf[i]->relid, merge->query.root)->relid;

	return psprintf("partition \"%s\": %s", get_rel_name(table), why);
}

/*
 * Make the paths of the leaves that have none, for these reasons.  Returns NULL, or why there is no
 * node; sets *disagrees if that is the form of their states.
 */
static const char *
make_all_rows(GpbMerge *merge, const char **refusal, bool *disagrees)
{
	for (int i = 0; i < merge->n; i++)
	{
		const char *why;

		if (merge->own[i] != NULL)
			continue;
		why = match_rows(merge, disagrees);
		if (why != NULL)
			return about_leaf(merge, i, psprintf("%s; %s", refusal[i], why));
		if (gpb_explain_decisions)
			ereport(NOTICE,
					(errmsg("GpubtreeAggregate is to read rows of %s",
							about_leaf(merge, i, refusal[i]))));
		merge->own[i] = make_rows(merge, merge->leaf[i]);
	}
	return NULL;
}

/*
 * Find the paths of all leaves.  Returns NULL, or why there is no node.  Sets *disagrees, and ends,
 * if two leaves have states of different forms, unless the programs are portable.
 */
static const char *
match_leaves(GpbMerge *merge, bool *disagrees)
{
	int			largest = largest_leaf(merge);
	const char **refusal = palloc0(sizeof(char *) * merge->n);

	merge->first = NULL;
	merge->rows = NULL;
	merge->rows_refusal = NULL;
	*disagrees = false;
	refusal[largest] = match_leaf(merge, largest, disagrees);
	for (int i = 0; i < merge->n; i++)
	{
		if (i == largest)
			continue;
		refusal[i] = match_leaf(merge, i, disagrees);
		if (*disagrees && !merge->portable)
			return refusal[i];
	}
	if (merge->first == NULL)
		return about_leaf(merge, largest, refusal[largest]);
	return make_all_rows(merge, refusal, disagrees);
}

/*
 * Likewise, by programs that are portable if others do not agree.  These are faster, and there is
 * less to be looked for in an index.
 */
static const char *
match_leaves_in_one_form(GpbMerge *merge)
{
	const char *refusal;
	bool		disagrees;

	merge->portable = counts_disagree(merge);
	refusal = match_leaves(merge, &disagrees);
	if (!disagrees || merge->portable)
		return refusal;
	merge->portable = true;
	memset(merge->own, 0, sizeof(GpbAggregatePath *) * merge->n);
	return match_leaves(merge, &disagrees);
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
	const GpbAggregatePath *first = merge->first;
	GpbAggregatePlan *plan = &own->plan;

	own->index = first->index;
	*plan = first->plan;
	plan->source = GPB_OF_STATES;
	plan->returns_states = false;
	plan->conditions = plan->arrays = plan->arms = plan->skips = plan->filters = NIL;
	plan->skip_prefix = 0;
	plan->program.constants = NIL;
	plan->having = merge->query.having;
	translate_values(merge->query.root, first->index->rel, merge->query.rel, plan);
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
	own->values = own->columns = merge->first->values;
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
		refusal = match_leaves_in_one_form(&merge);
	}
	if (refusal == NULL)
		refusal = make_merge(&merge, &own);
	if (refusal != NULL)
		gpb_explain_aggregate_refusal(refusal);
	else
		gpb_offer_aggregate_path(grouping->grouped_rel, own);
}
