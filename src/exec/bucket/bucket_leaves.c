/*-------------------------------------------------------------------------
 *
 * bucket_leaves.c
 *	  Planning of buckets over the leaves of a parent.
 *
 * Each leaf has a node that returns states, one of each bucket, below core's Append, whose parent
 * is the table that the query names; the node above merges them.  If leaves follow one another by
 * the key, buckets come out as they are asked for, and LIMIT ends before leaves behind it begin.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"

#include "exec/bucket/bucket_path.h"
#include "exec/compile/state_column.h"
#include "exec/price/price_constants.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/ordered_leaves.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

/* What is planned of a parent's leaves */
typedef struct GpbBucketLeaves
{
	const GpbGrouping *query;
	bool		wants_order;	/* the query can use that of the buckets, which is */
	bool		descends;
	bool		nulls_first;
	List	   *paths;			/* GpbBucketPaths, in the order of the leaves, if they have one */
	bool		in_order;		/* leaves follow one another; one that has NULLs has nothing else */
} GpbBucketLeaves;

/* ---- one leaf ---- */

/* What the query wants of a leaf: states */
static void
leaf_query(const GpbGrouping *query, RelOptInfo *leaf, GpbGrouping *grouping)
{
	gpb_grouping_of_leaf(query, leaf, grouping);
	grouping->having = NIL;
	grouping->target = gpb_state_target(gpb_state_expression(grouping->groups,
															 grouping->aggrefs));
}

/* Have the states of two leaves the same format, and the same meaning?  Items name terms. */
static bool
states_agree(const GpbBucketPlan *a, const GpbBucketPlan *b)
{
	const GpbProgram *p = &a->program.program;
	const GpbProgram *q = &b->program.program;
	List	   *items = NIL;
	List	   *others = NIL;

	if (a->has_program != b->has_program || p->nterms != q->nterms)
		return false;
	for (int i = 0; i < p->nterms; i++)
	{
		if (p->term[i].kind != q->term[i].kind || p->term[i].want != q->term[i].want)
			return false;
	}
	gpb_put_items(&items, a->items, a->nitems);
	gpb_put_items(&others, b->items, b->nitems);
	return equal(items, others) && equal(a->functions, b->functions) &&
		equal(a->arguments, b->arguments);
}

/* Add the path of a leaf.  Returns false if it has none, or one whose states do not agree. */
static bool
add_leaf(GpbBucketLeaves *leaves, RelOptInfo *leaf)
{
	PlannerInfo *root = leaves->query->root;
	GpbGrouping *grouping = palloc(sizeof(GpbGrouping));
	GpbBucketWish wish = {.descends = leaves->descends};
	GpbBucketPath *own;

	if (!gpb_rel_is_table(root, leaf))
		return false;
	leaf_query(leaves->query, leaf, grouping);
	wish.state = linitial(grouping->target->exprs);
	own = gpb_best_bucket_path(grouping, &wish);
	if (own == NULL ||
		(leaves->paths != NIL &&
		 !states_agree(&((GpbBucketPath *) linitial(leaves->paths))->plan, &own->plan)))
		return false;
	leaves->paths = lappend(leaves->paths, own);
	return true;
}

/* ---- the order of leaves ---- */

/* The key of the parent that a leaf's path cuts into buckets */
static Var *
parent_key(PlannerInfo *root, const GpbBucketPath *own)
{
	return (Var *) gpb_of_parent(root, own->index->rel, (Node *)
								 gpb_key_column_var(root, own->index, own->plan.column));
}

/* Put the leaves in the order of the key, if they have one. */
static void
order_leaves(GpbBucketLeaves *leaves)
{
	PlannerInfo *root = leaves->query->root;
	const GpbBucketPath *first = linitial(leaves->paths);
	GpbLeafOrder order = {.column = parent_key(root, first), .descends = leaves->descends,
	.nulls_first = leaves->nulls_first};
	List	   *ordered = gpb_ordered_leaves(root, leaves->query->rel, order);
	List	   *paths = NIL;
	ListCell   *lc;
	ListCell   *other;

	leaves->in_order = list_length(ordered) == list_length(leaves->paths);
	if (!leaves->in_order)
		return;
	foreach(lc, ordered)
	{
		foreach(other, leaves->paths)
		{
			if (((Path *) lfirst(other))->parent == lfirst(lc))
				paths = lappend(paths, lfirst(other));
		}
	}
	leaves->paths = paths;
}

/* Do all leaves cut the same key of the parent? */
static bool
keys_agree(const GpbBucketLeaves *leaves)
{
	PlannerInfo *root = leaves->query->root;
	Var		   *key = parent_key(root, linitial(leaves->paths));
	ListCell   *lc;

	foreach(lc, leaves->paths)
	{
		if (!equal(key, parent_key(root, lfirst(lc))))
			return false;
	}
	return true;
}

/* ---- the node that merges ---- */

/* Core's Append of the leaves */
static Path *
append_leaves(const GpbBucketLeaves *leaves)
{
	const GpbGrouping *query = leaves->query;
	AppendPath *append = create_append_path(query->root, query->rel, leaves->paths, NIL, NIL, NULL,
											0, false, -1);

	append->path.pathtarget = gpb_state_target(gpb_state_expression(query->groups,
																	query->aggrefs));
	return &append->path;
}

/* Fill in the plan: what it has of a leaf, and how it merges. */
static void
fill_plan(const GpbBucketLeaves *leaves, GpbBucketPath *own)
{
	const GpbGrouping *query = leaves->query;
	const GpbBucketPath *first = linitial(leaves->paths);
	GpbBucketPlan *plan = &own->plan;
	GpbBucketMerge *merge = &plan->merge;

	own->index = first->index;
	*plan = first->plan;
	plan->conditions = plan->filters = plan->program.constants = NIL;
	plan->backward = false;
	plan->returns_states = false;
	plan->having = query->having;
	plan->merges = true;
	merge->descends = leaves->descends;
	merge->nulls_first = leaves->nulls_first;
	merge->in_order = leaves->in_order;
	gpb_leaf_bounds(query->rel, parent_key(query->root, first), &merge->first, &merge->last);
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
	if (!leaves->in_order)
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
	foreach(lc, query->leaves)
	{
		if (!add_leaf(&leaves, lfirst(lc)))
			return false;
	}
	if (!keys_agree(&leaves) ||
		gpb_may_fail((Node *) ((GpbBucketPath *) linitial(leaves.paths))->plan.arguments))
		return false;
	order_leaves(&leaves);
	return gpb_offer_bucket_path(query, merging_path(&leaves));
}
