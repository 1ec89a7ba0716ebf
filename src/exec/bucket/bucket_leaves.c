/*-------------------------------------------------------------------------
 *
 * bucket_leaves.c
 *	  Planning of buckets over the leaves of a parent.
 *
 * Each leaf has a node that returns states, one of each bucket, below core's Append, whose parent
 * is the table that the query names; the node above merges them.  If leaves follow one another by
 * the key, buckets come out as they are asked for, and LIMIT ends before leaves behind it begin.
 * Else core's MergeAppend has them in order, and LIMIT ends when each leaf has done a little.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"

#include "exec/bucket/bucket_path.h"
#include "exec/compile/state_column.h"
#include "exec/price/price_constants.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/never_null.h"
#include "exec/shell/ordered_leaves.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/ordered_column.h"
#include "exec/where/partition_match.h"

/* What is planned of a parent's leaves */
typedef struct GpbBucketLeaves
{
	const GpbGrouping *query;
	bool		wants_order;	/* the query can use that of the buckets, which is */
	bool		descends;
	bool		nulls_first;
	GpbBucketPath *model;		/* the path of the largest leaf; those of others are alike, or have
								 * states that agree with its */
	List	   *aggrefs;		/* of that leaf */
	List	   *leaves;			/* RelOptInfos, in their order, if they have one */
	List	   *paths;			/* of each */
	GpbStatesOrder order;
	int64		first;			/* as in GpbBucketMerge */
	int64		last;
} GpbBucketLeaves;

/* ---- one leaf ---- */

/* The target of what returns states: the state, and the bucket that it is of */
static PathTarget *
bucket_states(List *groups, List *aggrefs)
{
	PathTarget *target = gpb_state_target(gpb_state_expression(groups, aggrefs));

	add_column_to_pathtarget(target, linitial(groups), 0);
	return target;
}

/* What the query wants of a leaf: states */
static void
leaf_query(const GpbGrouping *query, RelOptInfo *leaf, GpbGrouping *grouping)
{
	gpb_grouping_of_leaf(query, leaf, grouping);
	grouping->having = NIL;
	grouping->target = bucket_states(grouping->groups, grouping->aggrefs);
}

/* Have the states of two leaves the same format, and the same meaning?  Items name terms. */
static bool
states_agree(const GpbBucketPlan *a, const GpbBucketPlan *b)
{
	const GpbProgram *p = &a->program.program;
	const GpbProgram *q = &b->program.program;
	List	   *items = NIL;
	List	   *others = NIL;

	if (a->has_program != b->has_program || !gpb_terms_agree(p, q))
		return false;
	gpb_put_items(&items, a->items, a->nitems);
	gpb_put_items(&others, b->items, b->nitems);
	return equal(items, others) && equal(a->functions, b->functions) &&
		equal(a->arguments, b->arguments);
}

/* The key of the parent that a leaf's path cuts into buckets */
static Var *
parent_key(PlannerInfo *root, const GpbBucketPath *own)
{
	return (Var *) gpb_of_parent(root, own->index->rel, (Node *)
								 gpb_key_column_var(root, own->index, own->plan.column));
}

/* The path of a leaf, found by itself; NULL if there is none. */
static GpbBucketPath *
match_leaf(const GpbBucketLeaves *leaves, RelOptInfo *leaf, List **aggrefs)
{
	GpbGrouping *grouping = palloc(sizeof(GpbGrouping));
	GpbBucketWish wish = {.descends = leaves->descends};

	leaf_query(leaves->query, leaf, grouping);
	wish.columns = grouping->target->exprs;
	*aggrefs = grouping->aggrefs;
	return gpb_best_bucket_path(grouping, &wish);
}

/*
 * Does each count() count all rows of the leaf if it does so of the model's?  Whether a column is
 * NOT NULL is each leaf's own.
 */
static bool
counts_agree(const GpbBucketLeaves *leaves, const GpbSibling *sibling)
{
	PlannerInfo *root = leaves->query->root;
	ListCell   *lc;

	foreach(lc, leaves->aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);

		if (aggref->aggfnoid == F_COUNT_ANY &&
			gpb_counts_rows(root, NULL, aggref) !=
			gpb_counts_rows(root, NULL,
							(Aggref *) gpb_sibling_expression(sibling, (Node *) aggref)))
			return false;
	}
	return true;
}

/* The path of a leaf that is alike the model's; NULL if it is not. */
static CustomPath *
match_alike(const GpbBucketLeaves *leaves, RelOptInfo *leaf, IndexOptInfo **index)
{
	GpbBucketPath *model = leaves->model;
	const Path *of_model = &model->path.path;
	GpbSibling	sibling;
	CustomPath *path;

	if (gpb_sibling_is_less_visible(model->index->rel, leaf))
		return NULL;
	gpb_sibling_begin(leaves->query->root, model->index->rel, leaf, &sibling);
	*index = gpb_sibling_index(&sibling, model->index);
	if (*index == NULL || !gpb_sibling_restrictions_agree(&sibling) ||
		!counts_agree(leaves, &sibling))
		return NULL;
	path = gpb_alike_bucket_path(model, &sibling, *index);
	gpb_sibling_price(&sibling, of_model, of_model->startup_cost, &path->path);
	path->path.rows = clamp_row_est(of_model->rows * leaf->rows /
									Max(model->index->rel->rows, 1.0));
	return path;
}

/* Does a leaf with this index return its NULLs where they are wanted, if it has any? */
static bool
nulls_fit(const GpbBucketLeaves *leaves, IndexOptInfo *index)
{
	int			column = leaves->model->plan.column;
	bool		backward = leaves->descends != index->reverse_sort[column];

	return (index->nulls_first[column] != backward) == leaves->nulls_first ||
		gpb_key_column_is_not_null(leaves->query->root, index, column);
}

/* The path of a leaf other than the model's; NULL if it has none whose states agree. */
static CustomPath *
other_leaf_path(const GpbBucketLeaves *leaves, RelOptInfo *leaf, IndexOptInfo **index)
{
	PlannerInfo *root = leaves->query->root;
	CustomPath *path = match_alike(leaves, leaf, index);
	GpbBucketPath *own;
	List	   *aggrefs;

	if (path != NULL)
		return path;
	own = match_leaf(leaves, leaf, &aggrefs);
	if (own == NULL || own->plan.column != leaves->model->plan.column ||
		!states_agree(&leaves->model->plan, &own->plan) ||
		!equal(parent_key(root, own), parent_key(root, leaves->model)))
		return NULL;
	*index = own->index;
	return &own->path;
}

/* Add the path of a leaf.  Returns false if it has none that is of use. */
static bool
add_leaf(GpbBucketLeaves *leaves, RelOptInfo *leaf)
{
	CustomPath *path = &leaves->model->path;
	IndexOptInfo *index = leaves->model->index;

	if (!gpb_rel_is_table(leaves->query->root, leaf))
		return false;
	if (leaf != index->rel)
		path = other_leaf_path(leaves, leaf, &index);
	if (path == NULL)
		return false;
	if (leaves->order == GPB_STATES_MERGED && !nulls_fit(leaves, index))
		leaves->order = GPB_STATES_UNSORTED;
	leaves->paths = lappend(leaves->paths, path);
	return true;
}

/* Find the path of the largest leaf with an index; false if it has none. */
static bool
find_model(GpbBucketLeaves *leaves)
{
	RelOptInfo *largest = gpb_model_partition(leaves->query->root, leaves->query->leaves);

	if (largest == NULL)
		return false;
	leaves->model = match_leaf(leaves, largest, &leaves->aggrefs);
	return leaves->model != NULL;
}

/* ---- the order of leaves ---- */

/*
 * May the function rise over all keys that the leaves may have?  Not over dates and times that are
 * without a bound: beyond its safe interval nothing is known of it.
 */
static bool
may_rise(const GpbBucketLeaves *leaves, Oid type)
{
	return (type != DATEOID && type != TIMESTAMPOID && type != TIMESTAMPTZOID) ||
		(leaves->first != PG_INT64_MIN && leaves->last != PG_INT64_MAX);
}

/*
 * Put the leaves in the order of the key, if they have one.  One that has NULLs has nothing else
 * then.
 */
static void
order_leaves(GpbBucketLeaves *leaves)
{
	PlannerInfo *root = leaves->query->root;
	RelOptInfo *rel = leaves->query->rel;
	Var		   *key = parent_key(root, leaves->model);
	GpbLeafOrder order = {.column = key, .descends = leaves->descends,
	.nulls_first = leaves->nulls_first};

	leaves->leaves = gpb_ordered_leaves(root, rel, order);
	gpb_leaf_bounds(rel, key, &leaves->first, &leaves->last);
	if (leaves->leaves != NIL && may_rise(leaves, key->vartype))
		leaves->order = GPB_STATES_BY_LEAF;
	else
	{
		leaves->leaves = leaves->query->leaves;
		leaves->order = leaves->wants_order ? GPB_STATES_MERGED : GPB_STATES_UNSORTED;
	}
}

/* ---- the node that merges ---- */

/* Core's Append or MergeAppend of the leaves */
static Path *
append_leaves(const GpbBucketLeaves *leaves)
{
	const GpbGrouping *query = leaves->query;
	PlannerInfo *root = query->root;
	Path	   *append;
	ListCell   *lc;

	if (leaves->order == GPB_STATES_MERGED)
	{
		foreach(lc, leaves->paths)
			lfirst_node(CustomPath, lc)->path.pathkeys = root->group_pathkeys;
		append = (Path *) create_merge_append_path(root, query->rel, leaves->paths,
												   root->group_pathkeys, NULL);
	}
	else
		append = (Path *) create_append_path(root, query->rel, leaves->paths, NIL, NIL, NULL, 0,
											 false, -1);
	append->pathtarget = bucket_states(query->groups, query->aggrefs);
	return append;
}

/* Fill in the plan: what it has of a leaf, and how it merges. */
static void
fill_plan(const GpbBucketLeaves *leaves, GpbBucketPath *own)
{
	const GpbGrouping *query = leaves->query;
	const GpbBucketPath *model = leaves->model;
	GpbBucketPlan *plan = &own->plan;
	GpbBucketMerge *merge = &plan->merge;

	own->index = model->index;
	*plan = model->plan;
	plan->conditions = plan->filters = plan->program.constants = NIL;
	plan->backward = false;
	plan->returns_states = false;
	plan->having = query->having;
	plan->merges = true;
	merge->descends = leaves->descends;
	merge->nulls_first = leaves->nulls_first;
	merge->order = leaves->order;
	merge->first = leaves->first;
	merge->last = leaves->last;
}

/* Fill in the price: that of the leaves, and of merging and perhaps sorting what they return. */
static void
fill_price(const GpbBucketLeaves *leaves, const Path *append, GpbBucketPath *own)
{
	const GpbGrouping *query = leaves->query;
	const PathTarget *target = query->target;
	Path	   *path = &own->path.path;
	Cost		row = GPB_MERGE_COST * cpu_operator_cost;
	Cost		startup;
	QualCost	having;

	cost_qual_eval(&having, query->having, query->root);
	startup = having.startup + target->cost.startup;
	path->total_cost = append->total_cost + startup +
		append->rows * (row + cpu_tuple_cost + having.per_tuple + target->cost.per_tuple);
	path->startup_cost = append->startup_cost + startup;
	if (leaves->order == GPB_STATES_UNSORTED)
	{
		path->startup_cost = append->total_cost + startup + append->rows * row;
		path->total_cost += append->rows * cpu_operator_cost;
	}
	own->groups = append->rows;
	path->rows = clamp_row_est(own->groups * clauselist_selectivity(query->root, query->having, 0,
																	JOIN_INNER, NULL));
}

/* The path of the node above the leaves */
static GpbBucketPath *
merging_path(const GpbBucketLeaves *leaves)
{
	const GpbGrouping *query = leaves->query;
	GpbBucketPath *own = gpb_make_bucket_path(query->rel, query->target);
	Path	   *append = append_leaves(leaves);

	own->path.custom_paths = list_make1(append);
	own->columns = list_concat_copy(query->aggrefs, query->groups);
	own->having = query->having;
	if (leaves->wants_order)
		own->path.path.pathkeys = query->root->group_pathkeys;
	fill_plan(leaves, own);
	fill_price(leaves, append, own);
	return own;
}

/* Note which order the query can use. */
static void
match_order(GpbBucketLeaves *leaves)
{
	const List *pathkeys = leaves->query->root->group_pathkeys;
	const PathKey *pathkey;

	if (list_length(pathkeys) != 1)
		return;
	pathkey = linitial_node(PathKey, pathkeys);
	leaves->wants_order = true;
	leaves->descends = gpb_pathkey_descends(pathkey);
	leaves->nulls_first = pathkey->pk_nulls_first;
}

/* An argument that fails must not be evaluated where there is no row: only a leaf can know that. */
bool
gpb_bucket_add_merge_path(const GpbGrouping *query)
{
	GpbBucketLeaves leaves = {.query = query};
	ListCell   *lc;

	if (!gpb_enable_bucketaggregate || list_length(query->groups) != 1 ||
		!gpb_bucket_may_answer(query))
		return false;
	match_order(&leaves);
	if (!find_model(&leaves) || gpb_may_fail((Node *) leaves.model->plan.arguments))
		return false;
	order_leaves(&leaves);
	foreach(lc, leaves.leaves)
	{
		if (!add_leaf(&leaves, lfirst(lc)))
			return false;
	}
	return gpb_offer_bucket_path(query, merging_path(&leaves));
}
