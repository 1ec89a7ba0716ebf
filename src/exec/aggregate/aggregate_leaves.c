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
#include "exec/compile/program_codes.h"
#include "exec/compile/state_column.h"
#include "exec/price/price.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/never_null.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

/* A leaf is compared with so many others at most: few parents have leaves of more kinds. */
#define MAX_MODELS	8

/* What is planned of a parent's leaves */
typedef struct GpbMerge
{
	const GpbGrouping *grouping;
	GpbAggregateQuery query;	/* of the whole */
	Expr	   *state;			/* what the states say, of the parent's columns, for all leaves */
	PathTarget *target;			/* of that */
	int			n;
	RelOptInfo **leaf;
	CustomPath **path;			/* of each leaf that returns states */
	List	  **groups;			/* paths of each whose shard returns groups */
	GpbShards  *shards;			/* what these are asked; NULL: no shard is asked for groups */
	bool		may_give_up;	/* one of them may have no answer */
	bool		portable;		/* programs are to be the same whatever the index */
	GpbAggregatePath *first;	/* with whose states those of the others must agree */
	GpbAggregateQuery first_query;	/* of its leaf */
	List	   *models;			/* GpbAggregatePaths: leaves may be alike theirs */
	List	   *refused;		/* RelOptInfos of leaves that no index can answer; others that are
								 * alike one of them need not be tried */
	const GpbAggregatePath *rows;	/* what a leaf without an index does, as if of the first leaf;
									 * NULL until it is asked for */
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
		bool		not_null;

		if (aggref->aggfnoid != F_COUNT_ANY)
			continue;
		argument = gpb_without_labels(linitial_node(TargetEntry, aggref->args)->expr);
		if (!IsA(argument, Var))
			continue;
		not_null = is_not_null(root, merge->leaf[0], (Node *) argument);
		for (int i = 1; i < merge->n; i++)
		{
			if (is_not_null(root, merge->leaf[i], (Node *) argument) != not_null)
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
	gpb_want_states(query, merge->state, merge->target);
	query->portable = merge->portable;
	if (merge->first != NULL)
		query->sets = merge->first->plan.sets;
}

/* Let other leaves be alike this one, if there are not enough such yet. */
static void
add_model(GpbMerge *merge, GpbAggregatePath *own)
{
	if (list_length(merge->models) >= MAX_MODELS)
		return;
	merge->models = lappend(merge->models, own);
	own->codes = gpb_program_code_columns(own->index, &own->plan.program.program);
}

/*
 * The path of a leaf that does what the model's does; NULL if the leaves are not alike.  As many
 * pages of it must be visible to all, or more: else it has a price of its own.
 */
static CustomPath *
alike_path(const GpbMerge *merge, GpbAggregatePath *model, RelOptInfo *leaf)
{
	GpbSibling	sibling;
	IndexOptInfo *index;
	CustomPath *path;

	if (gpb_sibling_is_less_visible(model->index->rel, leaf))
		return NULL;
	gpb_sibling_begin(merge->query.root, model->index->rel, leaf, &sibling);
	index = gpb_sibling_index(&sibling, model->index);
	if (index == NULL || !gpb_sibling_restrictions_agree(&sibling) ||
		(model->codes != 0 && !gpb_codes_are_here(index, model->codes)))
		return NULL;
	path = gpb_alike_aggregate_path(model, &sibling, index);
	gpb_sibling_price(&sibling, &model->path.path, gpb_setup_cost, &path->path);
	path->path.rows = model->path.path.rows;
	return path;
}

/* The path of leaf i where it is alike one that was matched; NULL if it is alike none */
static CustomPath *
match_alike(const GpbMerge *merge, int i)
{
	ListCell   *lc;

	foreach(lc, merge->models)
	{
		CustomPath *path = alike_path(merge, lfirst(lc), merge->leaf[i]);

		if (path != NULL)
			return path;
	}
	return NULL;
}

/*
 * May others that are alike a leaf, which was refused, be taken to be refused as well?  Not where
 * that may be about the values which its indexes have.
 */
static bool
refusal_is_of_all(RelOptInfo *leaf)
{
	ListCell   *lc;

	foreach(lc, leaf->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		if (gpb_index_is_usable(index) && !gpb_codes_are_here(index, ~(uint32) 0))
			return false;
	}
	return true;
}

/* Has the other leaf no index but such as the leaf has, and the same restrictions? */
static bool
is_alike(PlannerInfo *root, RelOptInfo *leaf, RelOptInfo *other)
{
	GpbSibling	sibling;
	ListCell   *lc;

	gpb_sibling_begin(root, other, leaf, &sibling);
	if (!gpb_sibling_restrictions_agree(&sibling))
		return false;
	foreach(lc, other->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		if (gpb_index_is_usable(index) && gpb_sibling_index(&sibling, index) == NULL)
			return false;
	}
	return true;
}

/*
 * Is leaf i alike one that was refused?  Reasons name indexes, so where they are wanted each leaf
 * is tried.
 */
static bool
was_refused(const GpbMerge *merge, int i)
{
	ListCell   *lc;

	if (gpb_explain_decisions)
		return false;
	foreach(lc, merge->refused)
	{
		if (is_alike(merge->query.root, lfirst(lc), merge->leaf[i]))
			return true;
	}
	return false;
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
	bool		by_price;
	GpbAggregatePath *own;

	if (!gpb_rel_is_table(merge->query.root, merge->leaf[i]))
		return "it is no ordinary table with indexes";
	merge->path[i] = match_alike(merge, i);
	if (merge->path[i] != NULL)
		return NULL;
	if (was_refused(merge, i))
		return "an index like its own cannot answer the query";
	leaf_query(merge, merge->leaf[i], &query);
	initStringInfo(&refusals);
	own = gpb_cheapest_aggregate_path(&query, &refusals, &by_price);
	if (own == NULL)
	{
		if (!by_price && list_length(merge->refused) < MAX_MODELS &&
			refusal_is_of_all(merge->leaf[i]))
			merge->refused = lappend(merge->refused, merge->leaf[i]);
		return refusals.data;
	}
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
	add_model(merge, own);
	merge->path[i] = &own->path;
	merge->may_give_up |= own->may_give_up;
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
row_target(const GpbMerge *merge, const GpbSibling *sibling)
{
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
								 (Expr *) gpb_sibling_expression(sibling, (Node *) entry->expr),
								 0);
	}
	return set_pathtarget_cost_width(sibling->root, target);
}

/*
 * Make the path of a leaf that aggregates the rows of core's own scan of it, which has tested all
 * restrictions.
 */
static CustomPath *
make_rows(const GpbMerge *merge, RelOptInfo *leaf)
{
	PlannerInfo *root = merge->query.root;
	GpbAggregatePath *own;
	Path	   *rows;
	GpbSibling	sibling;

	gpb_sibling_begin(root, merge->first->index->rel, leaf, &sibling);
	own = gpb_make_aggregate_path(leaf, merge->target);
	rows = (Path *) create_projection_path(root, leaf, leaf->cheapest_total_path,
										   row_target(merge, &sibling));
	own->index = merge->rows->index;
	own->may_give_up = true;
	own->columns = merge->rows->columns;
	own->plan = merge->rows->plan;
	gpb_translate_values(&sibling, &own->plan);
	own->path.custom_paths = list_make1(rows);
	own->path.path.rows = merge->first->path.path.rows;
	own->path.path.startup_cost = rows->total_cost + rows->rows * merge->rows->row_cost;
	own->path.path.total_cost = own->path.path.startup_cost;
	GPB_ADD_DISABLED(&own->path.path, rows);
	return &own->path;
}

/* ---- shards ---- */

/*
 * Find out what shards are asked, if there is any.  Where no leaf has an index, the partitioned
 * table has one that says what states are like.  Returns NULL, or why no shard is asked.
 */
static const char *
match_shards(GpbMerge *merge)
{
	PlannerInfo *root = merge->query.root;
	const char *refusal;
	int			i = 0;

	while (i < merge->n && !gpb_is_shard(root, merge->leaf[i]))
		i++;
	if (i == merge->n)
		return NULL;
	if (merge->first == NULL)
	{
		IndexOptInfo *index = gpb_shard_index(merge->grouping, merge->leaf[i]);

		if (index == NULL)
			return "neither a partition nor the partitioned table has an index with all columns";
		merge->portable = true;
		leaf_query(merge, merge->leaf[i], &merge->first_query);
		merge->first_query.of_rows = true;
		gpb_sets_in_one_phase(&merge->first_query.sets);
		merge->first = gpb_rows_aggregate_path(&merge->first_query, index, &refusal);
		if (merge->first == NULL)
			return refusal;
	}
	merge->shards = gpb_shards_match(merge->grouping, merge->first, &refusal);
	return refusal;
}

/* Make the paths of the leaves without an index whose shards return groups. */
static void
make_groups(GpbMerge *merge, const char **refusal)
{
	bool		any = false;

	for (int i = 0; i < merge->n; i++)
	{
		if (merge->path[i] != NULL || !gpb_is_shard(merge->query.root, merge->leaf[i]))
			continue;
		merge->groups[i] = gpb_shard_paths(merge->shards, merge->leaf[i]);
		if (merge->groups[i] == NIL)
			refusal[i] = "its server cannot be asked for groups";
		any |= merge->groups[i] != NIL;
	}
	if (!any)
		merge->shards = NULL;
	else
	{
		gpb_shards_widen(merge->shards, merge->target);
		merge->may_give_up |= gpb_shards_may_give_up(merge->shards);
	}
}

/* ---- leaves ---- */

/*
 * The leaf of which the query reads most, by whose index the others go if it has one; of equal
 * ones the largest
 */
static int
largest_leaf(const GpbMerge *merge)
{
	int			largest = 0;

	for (int i = 1; i < merge->n; i++)
	{
		const RelOptInfo *leaf = merge->leaf[i];
		const RelOptInfo *other = merge->leaf[largest];

		if (leaf->rows > other->rows || (leaf->rows == other->rows && leaf->tuples > other->tuples))
			largest = i;
	}
	return largest;
}

/*
 * Has core a path of the largest leaf that is cheaper than any by an index of ours?  Then most
 * likely it has of all, and the query looks up a few rows.
 */
static bool
is_look_up(const GpbMerge *merge)
{
	RelOptInfo *leaf = merge->leaf[largest_leaf(merge)];
	bool		dearer = false;
	ListCell   *lc;

	if (gpb_explain_decisions || merge->query.has_unknown_bounds)
		return false;
	foreach(lc, leaf->indexlist)
	{
		GpbPriceInput input = {
			.root = merge->query.root, .index = lfirst_node(IndexOptInfo, lc), .entries = 1.0
		};

		if (!gpb_index_is_usable(input.index))
			continue;
		if (gpb_setup_cost + gpb_price(&input) < leaf->cheapest_total_path->total_cost)
			return false;
		dearer = true;
	}
	return dearer;
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

		if (merge->path[i] != NULL || merge->groups[i] != NIL)
			continue;
		why = match_rows(merge, disagrees);
		if (why != NULL)
			return about_leaf(merge, i, psprintf("%s; %s", refusal[i], why));
		if (gpb_explain_decisions)
			ereport(NOTICE,
					(errmsg("GpubtreeAggregate is to read rows of %s",
							about_leaf(merge, i, refusal[i]))));
		merge->path[i] = make_rows(merge, merge->leaf[i]);
		merge->may_give_up = true;
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
	const char *why;

	merge->first = NULL;
	merge->models = NIL;
	merge->refused = NIL;
	merge->may_give_up = false;
	merge->rows = NULL;
	merge->rows_refusal = NULL;
	merge->shards = NULL;
	memset(merge->groups, 0, sizeof(List *) * merge->n);
	merge->target->exprs = list_truncate(merge->target->exprs, 1);
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
	why = match_shards(merge);
	if (merge->first == NULL)
		return about_leaf(merge, largest, why == NULL ? refusal[largest] :
						  psprintf("%s; %s", refusal[largest], why));
	if (merge->shards != NULL)
		make_groups(merge, refusal);
	if (merge->shards == NULL && !gpb_rel_is_table(merge->query.root, merge->first_query.rel))
		return about_leaf(merge, largest, refusal[largest]);
	return make_all_rows(merge, refusal, disagrees);
}

/*
 * Find the paths of all leaves.  Returns NULL, or why there is no node.  Programs that are portable
 * come last: others are faster, but may not agree.
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
	memset(merge->path, 0, sizeof(CustomPath *) * merge->n);
	return match_leaves(merge, &disagrees);
}

/* ---- the whole ---- */

/* The Append of the leaves.  The table is its parent, so core prunes the leaves as it runs. */
static Path *
make_append(const GpbMerge *merge)
{
	PlannerInfo *root = merge->query.root;
	List	   *paths = NIL;
	AppendPath *append;

	for (int i = 0; i < merge->n; i++)
		paths = merge->groups[i] != NIL ? list_concat(paths, merge->groups[i]) :
			lappend(paths, merge->path[i]);
	append = create_append_path(root, merge->query.rel, paths, NIL, NIL, NULL, 0, false, -1);
	append->path.pathtarget = merge->target;
	return &append->path;
}

/*
 * Does a restriction have no column?  Core tests it once, above the node, which would return no row
 * where one of aggregates is due.
 */
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
	Path	   *append = NULL;
	const char *refusal;
	ListCell   *lc;

	if (!gpb_enable_aggregate)
		return;
	refusal = gpb_aggregate_match_query(grouping, &merge.query);
	if (refusal == NULL && has_gate(grouping->rel))
		refusal = "a condition has no column";
	if (refusal == NULL)
	{
		merge.state = gpb_state_expression(grouping->groups, grouping->aggrefs);
		merge.target = gpb_state_target(merge.state);
		merge.leaf = palloc(sizeof(RelOptInfo *) * list_length(grouping->leaves));
		merge.path = palloc0(sizeof(CustomPath *) * list_length(grouping->leaves));
		merge.groups = palloc0(sizeof(List *) * list_length(grouping->leaves));
		foreach(lc, grouping->leaves)
			merge.leaf[merge.n++] = lfirst(lc);
		refusal = is_look_up(&merge) ? "an ordinary plan is cheaper" :
			match_leaves_in_one_form(&merge);
	}
	if (refusal == NULL)
	{
		append = make_append(&merge);
		own = gpb_merging_aggregate_path(&merge.query, merge.first, append, merge.shards,
										 merge.may_give_up, &refusal);
	}
	if (refusal != NULL)
	{
		gpb_explain_aggregate_refusal(refusal);
		return;
	}
	if (merge.shards == NULL)
		gpb_aggregate_gather_leaves(&merge.query, merge.first, merge.path, merge.n, append,
									merge.may_give_up);
	gpb_offer_aggregate_path(grouping->grouped_rel, own);
}
