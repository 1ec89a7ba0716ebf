/*-------------------------------------------------------------------------
 *
 * aggregate_leaves.c
 *	  Planning of aggregates over the leaves of a partitioned table, or of an inheritance parent.
 *
 * Each leaf has a node that returns states; core's Append has them, and the node above it, which is
 * that of the whole query, merges them (README).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_path.h"
#include "exec/bind/row_values.h"
#include "exec/shell/expressions.h"
#include "exec/shell/never_null.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

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
	gpb_want_states(query);
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
	else if (!gpb_states_agree(&own->plan, &merge->first->plan))
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
	if (rows != NULL && !gpb_states_agree(&rows->plan, &merge->first->plan))
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
								 (Expr *) gpb_of_other_leaf(root, index->rel, leaf, (Node *) entry->expr), 0);
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
	Expr	   *state = (Expr *) gpb_of_other_leaf(root, merge->first->index->rel, leaf,
												 linitial(merge->rows->columns));
	GpbAggregatePath *own = gpb_make_aggregate_path(leaf, gpb_state_target(state));
	Path	   *rows = (Path *) create_projection_path(root, leaf, leaf->cheapest_total_path,
													   row_target(merge, leaf));

	own->index = merge->rows->index;
	own->may_give_up = true;
	own->columns = list_make1(state);
	own->plan = merge->rows->plan;
	gpb_translate_values(root, merge->first->index->rel, leaf, &own->plan);
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
	Expr	   *state = gpb_state_expression(merge->grouping->groups, merge->grouping->aggrefs);
	List	   *paths = NIL;
	AppendPath *append;

	for (int i = 0; i < merge->n; i++)
		paths = lappend(paths, merge->own[i]);
	append = create_append_path(root, merge->query.rel, paths, NIL, NIL, NULL, 0, false, -1);
	append->path.pathtarget = gpb_state_target(state);
	return &append->path;
}

/* May one of the leaves have no answer? */
static bool
may_give_up(const GpbMerge *merge)
{
	for (int i = 0; i < merge->n; i++)
	{
		if (merge->own[i]->may_give_up)
			return true;
	}
	return false;
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
	GpbAggregatePath *own = NULL;
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
		own = gpb_merging_aggregate_path(&merge.query, merge.first, make_append(&merge),
										 may_give_up(&merge), &refusal);
	if (refusal != NULL)
		gpb_explain_aggregate_refusal(refusal);
	else
		gpb_offer_aggregate_path(grouping->grouped_rel, own);
}
