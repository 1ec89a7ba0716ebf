/*-------------------------------------------------------------------------
 *
 * scan_match.c
 *	  How an index answers a table's rows: which of its columns, conditions and order.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/sysattr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "exec/compile/program_match.h"
#include "exec/scan/scan_match.h"
#include "exec/shell/clause_order.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/arms.h"
#include "exec/where/arrays.h"
#include "exec/where/conditions.h"

/* ---- the first rows ---- */

/* What core supposes of a LIMIT or OFFSET that it does not know, as a part of the rows */
#define GPB_UNKNOWN_COUNT	0.1

/* The value of LIMIT or OFFSET, or -1 if it is NULL, or not known; 0 for one that is not there */
static int64
known_count(Node *count)
{
	if (count == NULL)
		return 0;
	if (!IsA(count, Const) || ((Const *) count)->constisnull)
		return -1;
	return DatumGetInt64(((Const *) count)->constvalue);
}

/*
 * Add LIMIT or OFFSET, which is not NULL, to the first rows that are wanted, of this many.  Returns
 * false if so many can't be wanted, or if it cannot be known when the node begins.
 */
static bool
add_count(Node *count, double rows, GpbScanFirst *first)
{
	int64		known = known_count(count);

	if (IsA(count, Const) && (known < 0 || known > GPB_MOST_FIRST))
		return false;
	if (contain_volatile_functions(count) || contain_subplans(count))
		return false;
	first->bound = lappend(first->bound, count);
	first->limit += IsA(count, Const) ? known :
		Min(clamp_row_est(rows * GPB_UNKNOWN_COUNT), GPB_MOST_FIRST);
	return true;
}

/*
 * Find out how many rows are wanted.  They are computed when the node begins, unless both are
 * constants.  Returns false if there is no LIMIT, or none that is of use.
 */
static bool
first_count(const Query *parse, double rows, GpbScanFirst *first)
{
	first->limit = 0;
	first->bound = NIL;
	if (parse->limitCount == NULL || !add_count(parse->limitCount, rows, first) ||
		(parse->limitOffset != NULL && !add_count(parse->limitOffset, rows, first)))
		return false;
	if (known_count(parse->limitCount) >= 0 && known_count(parse->limitOffset) >= 0)
		first->bound = NIL;
	return first->limit > 0 && known_count(parse->limitCount) != 0;
}

/*
 * Are the query's rows those of one table, with nothing between them and ORDER BY?  Not if there is
 * DISTINCT, which may be sorted by itself.
 */
static bool
query_has_one_table(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	return !parse->hasAggs && !parse->hasWindowFuncs && !parse->hasTargetSRFs &&
		parse->groupClause == NIL && parse->groupingSets == NIL && parse->havingQual == NULL &&
		parse->distinctClause == NIL && parse->setOperations == NULL &&
		bms_membership(root->all_baserels) == BMS_SINGLETON;
}

/* Is there nothing between the table's rows and ORDER BY with LIMIT? */
static bool
query_sorts_rows(PlannerInfo *root)
{
	return root->parse->sortClause != NIL && query_has_one_table(root) &&
		!root->hasPseudoConstantQuals;
}

bool
gpb_scan_shows_current_row(PlannerInfo *root)
{
	return gpb_planning_cursor != 0 && root->parse->sortClause == NIL && query_has_one_table(root);
}

/*
 * The first key of ORDER BY in which rows may differ; NULL if there is none.  Core's Sort leaves
 * out the others, too: those that the restrictions say are equal to a constant or a parameter.
 */
static SortGroupClause *
first_key(PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, root->parse->sortClause)
	{
		if (make_pathkeys_for_sortclauses(root, list_make1(lfirst(lc)),
										  root->processed_tlist) != NIL)
			return lfirst_node(SortGroupClause, lc);
	}
	return NULL;
}

/*
 * The query's Sort and Limit stand above the table's paths.  What equals the last of the first rows
 * in the first key of ORDER BY is among the entries listed, so further keys, and WITH TIES, find
 * what they need.
 */
bool
gpb_scan_wants_first(PlannerInfo *root, RelOptInfo *rel, GpbScanFirst *first)
{
	Query	   *parse = root->parse;
	SortGroupClause *clause;
	TypeCacheEntry *type;
	Node	   *expression;

	if (!query_sorts_rows(root) || !first_count(parse, rel->rows, first) ||
		(clause = first_key(root)) == NULL)
		return false;
	expression = gpb_of_child(root, rel, get_sortgroupclause_expr(clause, root->processed_tlist));
	type = lookup_type_cache(exprType(expression), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	first->expression = (Expr *) expression;
	first->descending = clause->sortop == type->gt_opr;
	first->nulls_first = clause->nulls_first;
	return (first->descending || clause->sortop == type->lt_opr) &&
		bms_is_member(rel->relid, pull_varnos(root, expression)) &&
		!contain_volatile_functions(expression) && !contain_subplans(expression);
}

/* ---- columns ---- */

/* Collect the columns that the expressions need, system columns and whole rows included. */
static void
add_columns(List **columns, List *expressions)
{
	*columns = list_concat_unique(*columns,
								  pull_var_clause((Node *) expressions, PVC_RECURSE_PLACEHOLDERS));
}

/* Can all columns be had from entries of the index?  The table's OID is known. */
static bool
index_has_columns(IndexOptInfo *index, List *columns)
{
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, columns)
	{
		AttrNumber	attno = lfirst_node(Var, lc)->varattno;

		if (attno <= 0 && attno != TableOidAttributeNumber)
			return false;
		if (attno > 0)
			others = lappend(others, lfirst(lc));
	}
	return gpb_index_has_columns(index, others);
}

/* Note where each of the columns comes from, the index or the table. */
static void
set_columns(GpbScanMatch *match)
{
	GpbScanPlan *plan = &match->plan;
	int			i;

	for (i = 0; i < plan->ncolumns; i++)
	{
		AttrNumber	attno = list_nth_node(Var, match->columns, i)->varattno;

		plan->columns[i] = plan->index_only && attno > 0 ?
			gpb_column_position(match->index, gpb_index_column(match->index, attno)) + 1 : attno;
	}
}

void
gpb_scan_match_columns(PlannerInfo *root, GpbScanMatch *match)
{
	GpbScanPlan *plan = &match->plan;

	add_columns(&match->columns, match->index->rel->reltarget->exprs);
	add_columns(&match->columns, extract_actual_clauses(match->others, false));
	add_columns(&match->columns, plan->filters);
	plan->index_only = index_has_columns(match->index, match->columns) &&
		!gpb_scan_shows_current_row(root);
	plan->ncolumns = list_length(match->columns);
	plan->columns = palloc(sizeof(AttrNumber) * plan->ncolumns);
	set_columns(match);
	match->columns = list_concat_unique(match->columns, gpb_key_vars(root, match->index));
}

/* ---- conditions ---- */

List *
gpb_scan_row_restrictions(IndexOptInfo *index)
{
	List	   *restrictions = NIL;
	ListCell   *lc;

	foreach(lc, index->indrestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant)
			restrictions = lappend(restrictions, rinfo);
	}
	return restrictions;
}

/* About how many entries pass the filters */
static double
estimate_listed(PlannerInfo *root, const GpbScanMatch *match)
{
	RelOptInfo *rel = match->index->rel;

	if (match->others == NIL)
		return clamp_row_est(rel->rows);
	return clamp_row_est(Max(rel->rows, match->entries *
							 clauselist_selectivity(root, match->filters, rel->relid, JOIN_INNER,
													NULL)));
}

/* The ranges may have entries that do not satisfy their conditions: test these for each entry. */
static void
test_ranges_again(GpbRangeSplit *split)
{
	split->others = list_concat(list_copy(split->ranges), split->others);
	split->others = list_concat(split->others, split->arms_clauses);
}

void
gpb_scan_match_ranges(PlannerInfo *root, GpbScanMatch *match)
{
	GpbScanPlan *plan = &match->plan;

	gpb_split_restrictions(root, match->index, gpb_scan_row_restrictions(match->index), NIL,
						   &match->split);
	plan->conditions = match->split.conditions;
	plan->arrays = match->split.arrays;
	plan->arms = match->split.arms;
	match->entries = gpb_split_entries(root, match->index, &match->split, match->index->rel->rows);
	if (gpb_split_may_be_lossy(match->index, &match->split))
		test_ranges_again(&match->split);
}

/* Of the others take what the program tests. */
static void
match_filters(PlannerInfo *root, GpbScanMatch *match)
{
	GpbScanPlan *plan = &match->plan;
	RelOptInfo *rel = match->index->rel;

	match->builder = gpb_builder_begin(root, match->index);
	gpb_builder_allow_elsewhere(match->builder);
	gpb_split_filters(root, rel, match->builder, match->split.others, &plan->filters,
					  &match->others);
	match->filters = list_difference_ptr(match->split.others, match->others);
	match->listed = estimate_listed(root, match);
}

/*
 * About how many entries a list of the first ones has: those that are equal to the last one come
 * besides, and all whose value is NULL, if these are the first.
 */
static double
estimate_first(PlannerInfo *root, const GpbScanMatch *match, const GpbScanFirst *first)
{
	double		values = estimate_num_groups(root, list_make1(first->expression), match->listed,
											 NULL, NULL);
	double		ties = match->listed / Max(values, 1.0);

	if (first->nulls_first)
	{
		NullTest   *test = makeNode(NullTest);

		test->arg = first->expression;
		test->nulltesttype = IS_NULL;
		test->location = -1;
		ties = Max(ties, match->listed * clause_selectivity(root, (Node *) test,
															match->index->rel->relid, JOIN_INNER,
															NULL));
	}
	return clamp_row_est(Min(match->listed, first->limit + ties));
}

/* Is one of the conditions on an array? */
static bool
has_array_condition(List *conditions)
{
	ListCell   *lc;

	foreach(lc, conditions)
	{
		if (IsA(lfirst(lc), ScalarArrayOpExpr))
			return true;
	}
	return false;
}

/*
 * Does core's scan of this index return the rows in the order of the query, and read no others?
 * Equal ones are sorted by more.  With arrays core does not know the order of all scans.
 */
static bool
core_reads_in_order(PlannerInfo *root, const GpbScanMatch *match)
{
	List	   *wanted = enable_incremental_sort ? list_make1(linitial(root->sort_pathkeys)) :
		root->sort_pathkeys;

	if (!enable_indexscan || match->filters != NIL || match->plan.arrays != NIL ||
		match->plan.arms != NIL || has_array_condition(match->plan.conditions))
		return false;
	return pathkeys_contained_in(wanted, build_index_pathkeys(root, match->index,
															  ForwardScanDirection)) ||
		pathkeys_contained_in(wanted, build_index_pathkeys(root, match->index,
														   BackwardScanDirection));
}

/*
 * Have the program list the first entries alone.  Not where core's scan of the index comes to them
 * first, and stops there: whatever the price of so few rows, the list would take longer.
 */
static bool
match_first(PlannerInfo *root, GpbScanMatch *match, const GpbScanFirst *first)
{
	/* what is evaluated outside the program would drop some of the first rows */
	if (match->others != NIL || core_reads_in_order(root, match) ||
		!gpb_build_order(match->builder, first->expression, first->descending,
						 first->nulls_first, first->limit))
		return false;
	match->plan.order = list_make1(first->expression);
	match->plan.bound = first->bound;
	match->passed = match->listed;
	match->listed = estimate_first(root, match, first);
	return true;
}

/* Match one row of each key, which comes from the table; the restrictions are matched. */
static bool
match_each(PlannerInfo *root, GpbScanMatch *match, Var *column)
{
	/* the node would raise an error that core may not come to */
	if (!gpb_scan_match_each(match, column) || gpb_arms_may_fail(match->split.arms))
		return false;
	match->listed = estimate_listed(root, match);
	gpb_scan_match_columns(root, match);
	match->plan.index_only = false;
	set_columns(match);
	return true;
}

bool
gpb_scan_match_index(PlannerInfo *root, IndexOptInfo *index, GpbScanWish wish,
					 GpbScanMatch *match)
{
	GpbScanPlan *plan = &match->plan;
	bool		all = wish.first == NULL && wish.last == NULL;
	bool		many;

	memset(match, 0, sizeof(*match));
	match->index = index;
	plan->index = index->indexoid;
	GPB_COUNT_MATCH();
	gpb_scan_match_ranges(root, match);
	gpb_match_skip(root, index, NIL, &match->split, &match->skip);
	/* without filters, found out before anything is built */
	if (wish.first != NULL && match->split.others == NIL && core_reads_in_order(root, match))
		return false;
	if (wish.each != NULL)
		return match_each(root, match, wish.each);
	many = all && (wish.many || gpb_arrays_have_many(root, plan->arrays));
	/* most look-ups end here, and cost the planner no more than this */
	if (all && ((match->split.others == NIL && plan->arms == NIL && !many) ||
				(!wish.many && gpb_scan_is_beaten(root, match))))
		return false;
	match_filters(root, match);
	/* the node would raise an error that core may not come to */
	if (gpb_arms_may_fail(match->split.arms))
		return false;
	gpb_scan_match_columns(root, match);
	if (wish.first != NULL && !match_first(root, match, wish.first))
		return false;
	if (wish.last != NULL && !gpb_scan_match_last(root, match, wish.last))
		return false;
	if (all && plan->filters == NIL && plan->arms == NIL && !many)
		return false;			/* core's own scan of the index does as much */
	plan->program = *gpb_builder_end(match->builder);
	plan->program.program.list_entries = true;
	gpb_scan_choose_skip(root, match);
	if (gpb_program_may_give_up(match->builder, &plan->program))
		plan->all = gpb_order_clauses(root, match->split.others);
	return true;
}
