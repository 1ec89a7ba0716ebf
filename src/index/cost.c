/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  What the planner is told about an index scan.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/genam.h"
#include "access/stratnum.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "storage/lockdefs.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "index/index.h"

/*
 * The leaves that a scan reads for each group of a column without a single value, beside those with
 * entries that it wants: one where it looks for the group, and one where the group's part begins.
 */
#define GPB_LEAVES_OF_GROUP		2

/* What core's estimator takes for the processing of a page of a descent, in cpu_operator_cost */
#define GPB_PAGE_OPERATORS		50

/* What a scan reads that skips (skip.h) */
typedef struct GpbSkipEstimate
{
	double		groups;			/* parts of the index that it searches for */
	double		tuples;			/* entries in these */
	double		leaves;
} GpbSkipEstimate;

/* The conditions of an index path on one column, as RestrictInfos */
static List *
column_quals(const IndexPath *path, int column)
{
	List	   *quals = NIL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (clause->indexcol == column)
			quals = list_concat(quals, clause->indexquals);
	}
	return quals;
}

double
gpb_count_points(PlannerInfo *root, const IndexOptInfo *index, int column, List *quals)
{
	ListCell   *lc;

	foreach(lc, quals)
	{
		Expr	   *qual = lfirst_node(RestrictInfo, lc)->clause;
		Oid			family = index->opfamily[column];

		if (IsA(qual, NullTest) && ((NullTest *) qual)->nulltesttype == IS_NULL)
			return 1.0;
		if (IsA(qual, OpExpr) &&
			get_op_opfamily_strategy(((OpExpr *) qual)->opno, family) == BTEqualStrategyNumber)
			return 1.0;
		if (IsA(qual, ScalarArrayOpExpr) &&
			get_op_opfamily_strategy(((ScalarArrayOpExpr *) qual)->opno,
									 family) == BTEqualStrategyNumber)
			return Max(GPB_ARRAY_LENGTH(root, lsecond(((ScalarArrayOpExpr *) qual)->args)), 1);
	}
	return 0.0;
}

double
gpb_count_values(PlannerInfo *root, const IndexOptInfo *index, int column, List *quals)
{
	TargetEntry *entry = list_nth_node(TargetEntry, index->indextlist, column);
	VariableStatData variable;
	bool		is_default;
	double		values;

	examine_variable(root, (Node *) entry->expr, 0, &variable);
	values = get_variable_numdistinct(&variable, &is_default);
	ReleaseVariableStats(variable);
	if (is_default)
		return 0.0;
	if (quals == NIL)
		return values + 1.0;
	return Max(values * clauselist_selectivity(root, quals, index->rel->relid, JOIN_INNER, NULL),
			   1.0);
}

/*
 * Estimate what a scan reads that skips.  Of the columns that have conditions, those up to one of
 * them are taken for what bounds the parts of the index that it reads, so that this reads least.
 * Returns false if there is nothing to skip, or nothing is known of the columns.
 *
 * The scan needs no such choice: from where it is, it looks for what satisfies all conditions, and
 * searches the tree only for what is not on the next leaf.
 */
static bool
estimate_skips(PlannerInfo *root, const IndexPath *path, GpbSkipEstimate *best)
{
	IndexOptInfo *index = path->indexinfo;
	double		groups = 1.0;
	bool		single = true;	/* have all columns before single values? */
	bool		found = false;
	List	   *before = NIL;
	/* core has the clauses in the order of the columns */
	int			last = path->indexclauses == NIL ? 0 :
		llast_node(IndexClause, path->indexclauses)->indexcol;

	if (last == 0 || index->tuples <= 0 || index->pages == 0)
		return false;
	for (int c = 0;; c++)
	{
		List	   *quals = column_quals(path, c);
		double		points = gpb_count_points(root, index, c, quals);

		before = list_concat(before, quals);
		if (quals != NIL && !single)
		{
			List	   *all = add_predicate_to_index_quals(index, before);
			GpbSkipEstimate estimate;

			estimate.groups = groups * Max(points, 1.0);
			estimate.tuples = index->rel->tuples *
				clauselist_selectivity(root, all, index->rel->relid, JOIN_INNER, NULL);
			estimate.leaves = estimate.groups * GPB_LEAVES_OF_GROUP +
				ceil(estimate.tuples * index->pages / index->tuples);
			if (!found || estimate.leaves < best->leaves)
				*best = estimate;
			found = true;
		}
		if (c == last)
			break;
		if (points == 0)
		{
			points = gpb_count_values(root, index, c, quals);
			single = false;
			if (points == 0)
				break;
		}
		groups = Min(groups * points, index->tuples);
	}
	return found;
}

/* The price of a scan that skips, with those parts that core's estimators have, too */
static Cost
price_skips(PlannerInfo *root, const IndexPath *path, double loop_count,
			const GpbSkipEstimate *estimate)
{
	IndexOptInfo *index = path->indexinfo;
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	double		leaves = estimate->leaves;
	Cost		descent = cpu_operator_cost *
		(ceil(log2(Max(index->tuples, 2.0))) + (index->tree_height + 1) * GPB_PAGE_OPERATORS);
	double		random_page_cost;

	get_tablespace_page_costs(index->reltablespace, &random_page_cost, NULL);
	if (loop_count > 1)
		leaves = index_pages_fetched(leaves * loop_count, index->pages, (double) index->pages,
									 root) / loop_count;
	return index_other_operands_eval_cost(root, quals) + leaves * random_page_cost +
		estimate->tuples * (cpu_index_tuple_cost + cpu_operator_cost * list_length(quals)) +
		estimate->groups * GPB_LEAVES_OF_GROUP * descent;
}

/*
 * A descent, a leaf and an entry cost here what they cost in a B-tree of the same size, so btree's
 * estimator is called, and of two equal indexes neither is preferred.  It reads operator strategies
 * through the families of the description, which number them alike.  It lacks the height of the
 * tree, which the planner looks up for btree alone; and, before PostgreSQL 18, what a scan saves
 * that skips.
 */
void
gpb_price_scan(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup_cost,
			   Cost *total_cost, Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	GpbSkipEstimate estimate = {0};

	if (info->tree_height < 0 && !info->hypothetical)
	{
		/* The planner holds a lock on every index of the query's tables. */
		Relation	index = index_open(info->indexoid, NoLock);

		info->tree_height = gpb_least_height(index, gpb_layout(index));
		index_close(index, NoLock);
	}
	btcostestimate(root, path, loop_count, startup_cost, total_cost,
				   selectivity, correlation, pages);
	if (info->nkeycolumns > 1 && estimate_skips(root, path, &estimate))
	{
		Cost		cost = price_skips(root, path, loop_count, &estimate);

		if (cost < *total_cost)
		{
			*total_cost = cost;
			*startup_cost = Min(*startup_cost, cost);
			*pages = Min(*pages, estimate.leaves);
		}
	}
}
