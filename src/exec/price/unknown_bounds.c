/*-------------------------------------------------------------------------
 *
 * unknown_bounds.c
 *	  Ranges whose bounds are not known when the query is planned: what they are priced for.
 *
 * Core estimates such a range: a third of the table for "k >= $1", a two hundredth for two bounds.
 * Ways to answer a query are compared at that estimate, whichever form the unknown bound has: a
 * parameter, a subquery's value or one of an outer row.  But a node of ours reads an entry for a
 * tenth of the price that core's scan has, so a guess that is too small would have it taken where
 * core, for the same guess, takes an index on another column.  There each unknown bound counts by
 * itself, as if there were no other.  Joins need no such care: an index that finds one range for
 * all outer rows is read once by core, for less than a batch of ranges costs to begin.
 *
 * Another comparison is core's own: it prices the generic plan of a prepared statement at the
 * estimate, and plans each execution anew if the first five, whose bounds it knew, were cheaper.
 * That takes as long as aggregating 10,000 entries, and where all of the query's ways read the same
 * range it finds the same plan each time.  So there a node has the price of a small range, which
 * keeps the plan generic.  Not where an index has a column of a condition that the range leaves to
 * be tested for each entry: a look-up by a primary key, say, or by a status that few rows have.
 * There the length of the range decides what is better.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "access/sysattr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "exec/price/core_paths.h"
#include "exec/price/price_constants.h"
#include "exec/price/unknown_bounds.h"

/* ---- where values come from ---- */

/* Is the parameter the value of a subquery, of this query or one around it, evaluated once? */
static bool
is_of_subquery(PlannerInfo *root, const Param *param)
{
	ListCell   *lc;

	for (; root != NULL; root = root->parent_root)
	{
		foreach(lc, root->init_plans)
		{
			if (list_member_int(lfirst_node(SubPlan, lc)->setParam, param->paramid))
				return true;
		}
	}
	return false;
}

/* What parameters are looked for: those of one kind, or all */
typedef enum GpbParamKind
{
	GPB_ANY_PARAM,
	GPB_STATEMENT_PARAM,		/* of the statement, whose value is not known */
	GPB_OUTER_PARAM				/* that the rows of a query around this one set */
} GpbParamKind;

typedef struct GpbParamSearch
{
	GpbParamKind kind;
	PlannerInfo *root;			/* for GPB_OUTER_PARAM */
} GpbParamSearch;

/* expression_tree_walker */
static bool
param_walker(Node *node, void *context)
{
	const GpbParamSearch *search = context;
	const Param *param = (const Param *) node;

	if (node == NULL)
		return false;
	if (!IsA(node, Param))
		return expression_tree_walker(node, param_walker, context);
	return search->kind == GPB_ANY_PARAM ||
		(search->kind == GPB_STATEMENT_PARAM && param->paramkind == PARAM_EXTERN) ||
		(search->kind == GPB_OUTER_PARAM && param->paramkind == PARAM_EXEC &&
		 !is_of_subquery(search->root, param));
}

/* Is there such a parameter in the expression, or a List of some? */
static bool
has_param(void *expression, GpbParamKind kind)
{
	GpbParamSearch search = {kind, NULL};

	return param_walker(expression, &search);
}

bool
gpb_has_outer_value(PlannerInfo *root, Node *expression)
{
	GpbParamSearch search = {GPB_OUTER_PARAM, root};

	/* most statements have no parameter of the executor at all */
	return root->glob->paramExecTypes != NIL && param_walker(expression, &search);
}

bool
gpb_have_statement_param(List *restrictions)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		if (has_param(lfirst_node(RestrictInfo, lc)->clause, GPB_STATEMENT_PARAM))
			return true;
	}
	return false;
}

/*
 * May the restrictions have two bounds of a column, of which one is unknown?  An equality, which
 * can be merged by, is no bound.
 */
static bool
is_guessed(List *ranges)
{
	int			bounds = 0;
	bool		unknown = false;
	ListCell   *lc;

	foreach(lc, ranges)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->mergeopfamilies != NIL)
			continue;
		bounds++;
		unknown |= has_param(rinfo->clause, GPB_ANY_PARAM);
	}
	return unknown && bounds > 1;
}

/* ---- other ways to the rows ---- */

/* Is the condition of an index path an equality, or one with the elements of an array? */
static bool
is_equality(const IndexOptInfo *index, const IndexClause *clause)
{
	Expr	   *expression = clause->rinfo->clause;

	return IsA(expression, ScalarArrayOpExpr) ||
		(IsA(expression, OpExpr) &&
		 get_op_opfamily_strategy(((OpExpr *) expression)->opno,
								  index->opfamily[clause->indexcol]) == BTEqualStrategyNumber);
}

/*
 * Is the part of the index that core's path reads bounded by a condition that is not among our
 * ranges, or by the index's predicate?  Not if it begins with one of our inequalities: then it
 * reads what our ranges have, too.
 */
static bool
is_bounded_otherwise(const IndexPath *path, List *ranges)
{
	ListCell   *lc;

	if (path->indexinfo->indpred != NIL)
		return true;
	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (!list_member_ptr(ranges, clause->rinfo))
			return true;
		if (!is_equality(path->indexinfo, clause))
			return false;
	}
	return false;
}

static double most_rows_read(List *paths, List *ranges);

/*
 * About how many entries or rows of its table a path reads; all, if it reads what our ranges have.
 * A BitmapOr, whose arms are no bounds of ours, has what core says of it.
 */
static double
rows_read(Path *path, List *ranges)
{
	double		all = path->parent->tuples;
	Cost		cost;
	Selectivity share;

	switch (nodeTag(path))
	{
		case T_IndexPath:
			return is_bounded_otherwise((IndexPath *) path, ranges) ?
				((IndexPath *) path)->indexselectivity * all : all;
		case T_BitmapHeapPath:
			return rows_read(((BitmapHeapPath *) path)->bitmapqual, ranges);
		case T_BitmapAndPath:
			return most_rows_read(((BitmapAndPath *) path)->bitmapquals, ranges);
		case T_BitmapOrPath:
			cost_bitmap_tree_node(path, &cost, &share);
			return share * all;
		case T_TidPath:
			return path->rows;
		case T_ProjectionPath:
			return rows_read(((ProjectionPath *) path)->subpath, ranges);
		case T_GatherPath:
			return rows_read(((GatherPath *) path)->subpath, ranges);
		default:
			return all;
	}
}

/* The most that one of the paths, of which a bitmap is made, reads */
static double
most_rows_read(List *paths, List *ranges)
{
	double		most = 0.0;
	ListCell   *lc;

	foreach(lc, paths)
		most = Max(most, rows_read(lfirst(lc), ranges));
	return most;
}

/*
 * Of a range with so many entries, as core estimates it: how many to compare with other ways to the
 * rows.  Where that is a guess on which core's cheapest path does not rest, each unknown bound
 * counts by itself.
 */
static double
compared_entries(PlannerInfo *root, IndexOptInfo *index, List *ranges, double entries)
{
	Index		relid = index->rel->relid;
	List	   *known = NIL;
	Selectivity alone;
	Selectivity together;
	Path	   *other;
	ListCell   *lc;

	if (!is_guessed(ranges))
		return entries;
	other = gpb_cheapest_path(index->rel);
	if (other == NULL || rows_read(other, ranges) >= entries * GPB_SAME_ENTRIES)
		return entries;
	foreach(lc, ranges)
	{
		if (!has_param(lfirst_node(RestrictInfo, lc)->clause, GPB_ANY_PARAM))
			known = lappend(known, lfirst(lc));
	}
	alone = clauselist_selectivity(root, known, relid, JOIN_INNER, NULL);
	foreach(lc, list_difference_ptr(ranges, known))
		alone *= clause_selectivity(root, lfirst(lc), relid, JOIN_INNER, NULL);
	together = clauselist_selectivity(root, ranges, relid, JOIN_INNER, NULL);
	if (together <= 0.0 || alone <= together)
		return entries;
	return Min(entries * alone / together, index->tuples);
}

double
gpb_range_entries(PlannerInfo *root, IndexOptInfo *index, List *ranges, Selectivity arms,
				  double rows)
{
	Selectivity share = clauselist_selectivity(root, ranges, index->rel->relid, JOIN_INNER, NULL);
	double		entries = clamp_row_est(Max(index->tuples * share * arms, rows));

	return clamp_row_est(compared_entries(root, index, ranges, entries));
}

/* ---- prices of generic plans ---- */

/*
 * Has an index of the table, this one or another, one of the columns that the others test, or has
 * its predicate?  Not counted are key columns that bound the ranges already.
 */
static bool
others_have_index(IndexOptInfo *index, List *conditions, List *arms, List *others)
{
	Index		relid = index->rel->relid;
	Bitmapset  *tested = NULL;
	Bitmapset  *bounding = NULL;
	Bitmapset  *wanted;
	ListCell   *lc;

	foreach(lc, others)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, relid, &tested);
	pull_varattnos((Node *) conditions, relid, &bounding);
	pull_varattnos((Node *) arms, relid, &bounding);
	wanted = bms_difference(tested, bounding);
	foreach(lc, index->rel->indexlist)
	{
		IndexOptInfo *other = lfirst_node(IndexOptInfo, lc);
		Bitmapset  *besides = NULL;

		if (other->indpred != NIL && !other->predOK)
			continue;
		for (int c = 0; c < other->nkeycolumns; c++)
		{
			if (bms_is_member(other->indexkeys[c] - FirstLowInvalidHeapAttributeNumber, wanted))
				return true;
		}
		pull_varattnos((Node *) other->indexprs, relid, &besides);
		pull_varattnos((Node *) other->indpred, relid, &besides);
		if (bms_overlap(besides, tested))
			return true;
	}
	return false;
}

/* A node in a subquery is compared with batches of ranges, and has the price of the estimate. */
double
gpb_priced_entries(PlannerInfo *root, IndexOptInfo *index, List *conditions, List *arms,
				   List *others, double entries)
{
	if (entries <= GPB_UNKNOWN_ENTRIES || root->parent_root != NULL ||
		!(has_param(conditions, GPB_STATEMENT_PARAM) || has_param(arms, GPB_STATEMENT_PARAM)) ||
		others_have_index(index, conditions, arms, others))
		return entries;
	return GPB_UNKNOWN_ENTRIES;
}
