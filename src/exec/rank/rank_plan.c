/*-------------------------------------------------------------------------
 *
 * rank_plan.c
 *	  Planning of ORDER BY with OFFSET: which queries, at what price.
 *
 * The rows of one table in the order of a gpubtree index, from the n-th on: the key of rank n is
 * found by counting, and core's own scan of the index starts there.  So all that is asked of the
 * rows is that scan's affair (rule M10).  Where ORDER BY has further columns, core's incremental
 * sort of that scan's rows sorts those of equal keys: none of the rows before the start belongs
 * among them, since the scan starts with the first row of a key.
 *
 * No start at a key returns rows that are NULL in the ordered column.  Where they are wanted a
 * second scan returns them, before or after the rows of the first.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paramassign.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"

#include "exec/price/price.h"
#include "exec/price/price_constants.h"
#include "exec/rank/rank_find.h"
#include "exec/rank/rank_node.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_check.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/condition_match.h"
#include "exec/where/ordered_column.h"
#include "index/index.h"
#include "index/index_clauses.h"

static Plan *plan_rank(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					   List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods rank_path_methods = {
	.CustomName = "GpubtreeRank",
	.PlanCustomPath = plan_rank
};

typedef struct GpbRankPath
{
	CustomPath	path;
	IndexOptInfo *index;
	List	   *columns;		/* Vars of the query's that the children return, in their order */
	GpbRankPlan plan;
} GpbRankPath;

/* The rows of a query, in its order, as they are expected; numbers are from 0 on */
typedef struct GpbRankRows
{
	double		all;
	double		skipped;		/* the first ones, which OFFSET skips */
	double		first_null;		/* those that are NULL in the ordered column: [first_null, end) */
	double		end_of_nulls;
} GpbRankRows;

/* ---- is the query of our kind? ---- */

/* May OFFSET be evaluated ahead of the rows, and is it not known to be too small? */
static bool
offset_is_usable(Node *offset)
{
	if (offset == NULL)
		return false;
	if (IsA(offset, Const))
		return !((Const *) offset)->constisnull &&
			DatumGetInt64(((Const *) offset)->constvalue) > 0;
	return !contain_volatile_functions(offset) && !contain_subplans(offset);
}

/* The only expression of a class, as the query says it, if there is only one; else NULL */
static Expr *
only_member(const EquivalenceClass *class)
{
	Expr	   *only = NULL;
	ListCell   *lc;

	foreach(lc, class->ec_members)
	{
		EquivalenceMember *member = lfirst_node(EquivalenceMember, lc);

		if (member->em_is_child)
			continue;
		if (only != NULL)
			return NULL;
		only = member->em_expr;
	}
	return only;
}

/*
 * Does the query sort rows of equal keys by other columns of the table, or not at all?  Expressions
 * would be columns of the child, which setrefs.c might find elsewhere (rule M13).
 */
static bool
ties_are_by_columns(PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *lc;

	if (list_length(root->sort_pathkeys) > 1 && !enable_incremental_sort)
		return false;
	for_each_from(lc, root->sort_pathkeys, 1)
	{
		Var		   *column = (Var *) only_member(lfirst_node(PathKey, lc)->pk_eclass);

		if (column == NULL || !IsA(column, Var) || column->varno != rel->relid ||
			column->varlevelsup != 0 || column->varattno <= 0)
			return false;
	}
	return true;
}

List *
gpb_rank_columns(PlannerInfo *root)
{
	PathTarget *columns = create_empty_pathtarget();

	add_new_columns_to_pathtarget(columns,
								  pull_var_clause((Node *)
												  root->upper_targets[UPPERREL_FINAL]->exprs,
												  PVC_RECURSE_PLACEHOLDERS));
	return columns->exprs;
}

/* Are they columns of the table as well, and not its rows as those of its parent? */
static bool
columns_are_the_tables(PlannerInfo *root, RelOptInfo *table)
{
	ListCell   *lc;

	foreach(lc, (List *) gpb_of_child(root, table, (Node *) gpb_rank_columns(root)))
	{
		if (!IsA(lfirst(lc), Var))
			return false;
	}
	return gpb_rel_has_the_columns(root, table);
}

/*
 * Core evaluates the target list for rows that OFFSET skips as well: we do not, so it must have no
 * effects.
 */
RelOptInfo *
gpb_rank_rel(PlannerInfo *root, const FinalPathExtraData *extra)
{
	Query	   *parse = root->parse;
	RelOptInfo *rel;
	int			relid;

	if (!gpb_enable_rank || !extra->limit_needed ||
		parse->commandType != CMD_SELECT || parse->hasAggs || parse->hasWindowFuncs ||
		parse->hasTargetSRFs || parse->groupClause != NIL || parse->groupingSets != NIL ||
		parse->havingQual != NULL || parse->distinctClause != NIL ||
		parse->setOperations != NULL || parse->limitOption == LIMIT_OPTION_WITH_TIES ||
		!offset_is_usable(parse->limitOffset) ||
		root->sort_pathkeys == NIL || !gpb_query_allows_nodes(root) ||
		!bms_get_singleton_member(root->all_baserels, &relid))
		return NULL;
	rel = find_base_rel(root, relid);
	if (!ties_are_by_columns(root, rel) ||
		contain_volatile_functions((Node *) root->upper_targets[UPPERREL_FINAL]->exprs))
		return NULL;
	return rel;
}

/* ---- does an index have the order, and nothing but rows wanted? ---- */

/* What the query sorts by first: the ordered column, if an index is of use */
static List *
key_pathkeys(PlannerInfo *root)
{
	return list_make1(linitial(root->sort_pathkeys));
}

/* Is this key column of the index what the query sorts by first? */
static bool
sorts_by_column(PlannerInfo *root, IndexOptInfo *index, int column)
{
	EquivalenceClass *class = linitial_node(PathKey, root->sort_pathkeys)->pk_eclass;
	ListCell   *lc;

	foreach(lc, class->ec_members)
	{
		const EquivalenceMember *member = lfirst_node(EquivalenceMember, lc);

		/* other leaves' columns are there too */
		if (!member->em_is_child && member->em_datatype == index->opcintype[column] &&
			match_index_to_operand(gpb_of_child(root, index->rel, (Node *) member->em_expr),
								   column, index))
			return true;
	}
	return false;
}

/*
 * Direction in which the index has the order of the query, which sorts by this column of it, but
 * for that of equal keys; NoMovementScanDirection if it does not.  The columns before it have
 * single values, which core does not know of all of them.  Core, asked for the order of the index,
 * would look for the column among those of all leaves.
 */
static ScanDirection
rank_direction(PlannerInfo *root, IndexOptInfo *index, int column)
{
	const PathKey *wanted = linitial_node(PathKey, root->sort_pathkeys);
	bool		forward = gpb_pathkey_descends(wanted) == index->reverse_sort[column];

	if (wanted->pk_opfamily != index->sortopfamily[column] ||
		wanted->pk_eclass->ec_collation != index->indexcollations[column] ||
		(wanted->pk_nulls_first == index->nulls_first[column]) != forward)
		return NoMovementScanDirection;
	return forward ? ForwardScanDirection : BackwardScanDirection;
}

/*
 * Has the index all columns that the target list needs, and can it return them, and those up to its
 * ordered column?
 */
static bool
rank_is_index_only(PlannerInfo *root, IndexOptInfo *index, int column)
{
	Bitmapset  *columns = NULL;
	int			member = -1;
	int			i;

	if (!enable_indexonlyscan)
		return false;
	for (i = 0; i <= column; i++)
	{
		if (!index->canreturn[i])
			return false;
	}
	pull_varattnos((Node *) index->rel->reltarget->exprs, index->rel->relid, &columns);
	pull_varattnos(gpb_of_child(root, index->rel, (Node *) gpb_rank_columns(root)),
				   index->rel->relid, &columns);
	while ((member = bms_next_member(columns, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;
		int			c = attno > 0 ? gpb_index_column(index, attno) : -1;

		if (c < 0 || !index->canreturn[gpb_column_position(index, c)])
			return false;
	}
	return true;
}

/* Are all conditions such that core's index scan understands, not of a function of the one key? */
static bool
conditions_are_of_key(IndexOptInfo *index, List *conditions)
{
	ListCell   *lc;

	foreach(lc, conditions)
	{
		if (IsA(lfirst(lc), OpExpr) &&
			!match_index_to_operand(linitial(lfirst_node(OpExpr, lc)->args), 0, index))
			return false;
	}
	return true;
}

/*
 * The restriction in core's own form, if it is a condition on key column c, for which
 * gpb_match_ordered_column() has taken all of them; else NULL
 */
static IndexClause *
index_clause(PlannerInfo *root, IndexOptInfo *index, int c, RestrictInfo *rinfo)
{
	bool		point;
	Expr	   *condition = gpb_match_column(root, index, c, rinfo->clause, &point);
	IndexClause *clause;

	if (condition == NULL)
		return NULL;
	clause = makeNode(IndexClause);
	clause->rinfo = rinfo;
	clause->indexquals = list_make1(equal(condition, rinfo->clause) ? rinfo :
									make_simple_restrictinfo(root, condition));
	clause->indexcol = c;
	return clause;
}

/* The index's conditions on the columns up to this one in core's own form, in that order */
static List *
index_clauses(PlannerInfo *root, IndexOptInfo *index, int column)
{
	List	   *clauses = NIL;
	ListCell   *lc;
	int			c;

	for (c = 0; c <= column; c++)
	{
		foreach(lc, index->indrestrictinfo)
		{
			IndexClause *clause = index_clause(root, index, c, lfirst_node(RestrictInfo, lc));

			if (clause != NULL)
				clauses = lappend(clauses, clause);
		}
	}
	return clauses;
}

/*
 * The condition that makes the scan start at a key: the parameter's value of the ordered column, at
 * or after which rows are in the scan's direction.
 */
static IndexClause *
start_clause(PlannerInfo *root, IndexOptInfo *index, int column, ScanDirection direction,
			 Param *start)
{
	bool		upward = ScanDirectionIsForward(direction) != index->reverse_sort[column];
	Oid			type = index->opcintype[column];
	Oid			operator = get_opfamily_member(gpb_own_family(index, column), type, type,
											   upward ? BTGreaterEqualStrategyNumber :
											   BTLessEqualStrategyNumber);
	Expr	   *key = (Expr *) gpb_key_column_var(root, index, column);
	IndexClause *clause = makeNode(IndexClause);
	Expr	   *condition;

	if (!OidIsValid(operator))
		elog(ERROR, "missing comparison of type %u in operator family %u", type,
			 gpb_own_family(index, column));
	if (exprType((Node *) key) != type)
		key = (Expr *) makeRelabelType(key, type, -1, InvalidOid, COERCE_IMPLICIT_CAST);
	condition = make_opclause(operator, BOOLOID, false, key, (Expr *) start, InvalidOid,
							  InvalidOid);
	set_opfuncid((OpExpr *) condition);
	clause->rinfo = make_simple_restrictinfo(root, condition);
	clause->indexquals = list_make1(clause->rinfo);
	clause->indexcol = column;
	return clause;
}

/* "column IS NULL" of the ordered column */
static NullTest *
null_test(PlannerInfo *root, IndexOptInfo *index, int column)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = (Expr *) gpb_key_column_var(root, index, column);
	test->nulltesttype = IS_NULL;
	test->argisrow = false;
	test->location = -1;
	return test;
}

/* The condition of a scan for the rows that are NULL in the ordered column */
static IndexClause *
null_clause(PlannerInfo *root, IndexOptInfo *index, int column)
{
	IndexClause *clause = makeNode(IndexClause);

	clause->rinfo = make_simple_restrictinfo(root, (Expr *) null_test(root, index, column));
	clause->indexquals = list_make1(clause->rinfo);
	clause->indexcol = column;
	return clause;
}

/* ---- price ---- */

Cost
gpb_rank_price(PlannerInfo *root, IndexOptInfo *index, double entries, bool beside_index_scan)
{
	double		leaves = entries / Max(index->tuples, 1.0) * index->pages;
	GpbPriceInput input = {.root = root, .index = index, .entries = entries, .seen = entries,
	.beside_index_scan = beside_index_scan};

	input.begin = Min(leaves + 1, gpb_rank_parts) * GPB_RANK_PART_COST * cpu_operator_cost;
	return gpb_price(&input);
}

/* ---- path ---- */

double
gpb_rank_offset_rows(const FinalPathExtraData *extra, double rows)
{
	if (extra->offset_est < 0)
		return clamp_row_est(rows * 0.10);
	return Min((double) extra->offset_est, rows);
}

/* Estimate what rows there are. */
static void
estimate_rows(PlannerInfo *root, IndexOptInfo *index, double skipped, const GpbRankPlan *plan,
			  GpbRankRows *rows)
{
	double		nulls = 0.0;

	rows->all = clamp_row_est(index->rel->rows);
	rows->skipped = Min(skipped, rows->all);
	if (plan->nulls != GPB_RANK_NO_NULLS)
		nulls = rows->all * clause_selectivity(root, (Node *) null_test(root, index, plan->column),
											   0, JOIN_INNER, NULL);
	rows->first_null = plan->nulls == GPB_RANK_NULLS_LAST ? rows->all - nulls : 0.0;
	rows->end_of_nulls = rows->first_null + nulls;
}

/*
 * How many rows that are NULL, or have the value of the first row that is wanted, may come before
 * it: a child starts with the first row of a value, and reads them one by one.  At worst it is the
 * last of them.
 */
static double
rows_of_value_before(PlannerInfo *root, IndexOptInfo *index, int column, const GpbRankRows *rows)
{
	double		values;

	if (rows->skipped >= rows->first_null && rows->skipped < rows->end_of_nulls)
		return rows->skipped - rows->first_null;
	values = estimate_num_groups(root, list_make1(gpb_key_column_var(root, index, column)),
								 rows->all, NULL, NULL);
	return Min(rows->all / Max(values, 1.0) - 1.0, rows->skipped);
}

/*
 * What the scan returns: the columns that the query's target list needs, and no expression, which
 * setrefs.c might find in the conditions or in OFFSET (rule M13).  The node evaluates the target
 * list itself.
 */
PathTarget *
gpb_rank_child_target(PlannerInfo *root, RelOptInfo *rel)
{
	PathTarget *target = create_empty_pathtarget();

	add_new_columns_to_pathtarget(target,
								  (List *) gpb_of_child(root, rel,
														(Node *) gpb_rank_columns(root)));
	return set_pathtarget_cost_width(root, target);
}

/*
 * Core's own scan of the whole index in this direction, if it is among the table's paths; NULL if
 * it is not, or if there is a condition.
 */
static const IndexPath *
find_core_path(const IndexOptInfo *index, ScanDirection direction, bool index_only)
{
	ListCell   *lc;

	foreach(lc, index->rel->pathlist)
	{
		const Path *path = lfirst(lc);
		const IndexPath *scan;

		while (IsA(path, ProjectionPath))
			path = ((const ProjectionPath *) path)->subpath;
		scan = (const IndexPath *) path;
		if (IsA(path, IndexPath) && scan->indexinfo == index && scan->indexclauses == NIL &&
			scan->indexscandir == direction && path->param_info == NULL &&
			!path->parallel_aware && (path->pathtype == T_IndexOnlyScan) == index_only)
			return scan;
	}
	return NULL;
}

/*
 * Core's scan of the rows that satisfy the conditions on the columns up to this one.  Prices of
 * scans take long to find: one that core has made is not priced again.
 */
static IndexPath *
make_scan(PlannerInfo *root, IndexOptInfo *index, int column, ScanDirection direction)
{
	List	   *clauses = index_clauses(root, index, column);
	bool		index_only = rank_is_index_only(root, index, column);
	const IndexPath *core = NULL;

	if (clauses == NIL)
		core = find_core_path(index, direction, index_only);
	if (core != NULL)
	{
		IndexPath  *copy = makeNode(IndexPath);

		*copy = *core;
		copy->path.pathkeys = key_pathkeys(root);
		return copy;
	}
	return create_index_path(root, index, clauses, NIL, NIL, key_pathkeys(root), direction,
							 index_only, NULL, 1.0, false);
}

/*
 * Core's scan of the rows wanted that satisfy one condition more, which are expected to be these of
 * all rows, from the first to before the last.  Its price is that share of the one for all rows.
 * Where the query sorts equal keys by more, core does so as well.  Fills in the price of one row of
 * the scan.
 */
static Path *
make_child_path(PlannerInfo *root, IndexOptInfo *index, int column, ScanDirection direction,
				IndexClause *more, PathTarget *target, double first, double last, Cost *row_cost)
{
	IndexPath  *child = make_scan(root, index, column, direction);
	double		rows = Max(last - first, 0.0);

	child = (IndexPath *) apply_projection_to_path(root, index->rel, (Path *) child, target);
	Assert(IsA(child, IndexPath));
	child->indexclauses = lappend(child->indexclauses, more);
	*row_cost = (child->path.total_cost - child->path.startup_cost) / Max(child->path.rows, 1.0);
	child->path.total_cost = child->path.startup_cost + rows * *row_cost;
	child->path.rows = clamp_row_est(rows);
	if (list_length(root->sort_pathkeys) == 1)
		return (Path *) child;
	return (Path *) create_incremental_sort_path(root, index->rel, (Path *) child,
												 root->sort_pathkeys, 1, -1.0);
}

/*
 * Where rows come that are NULL in the ordered column.  Any condition on the one key column that is
 * none of the column's being not NULL is IS NULL, by which nothing is ordered: then returns false.
 */
static bool
place_of_nulls(PlannerInfo *root, IndexOptInfo *index, bool no_nulls, GpbRankPlan *plan)
{
	plan->nulls = GPB_RANK_NO_NULLS;
	if (no_nulls || gpb_key_column_is_not_null(root, index, plan->column))
		return true;
	plan->nulls = index->nulls_first[plan->column] != plan->backward ?
		GPB_RANK_NULLS_FIRST : GPB_RANK_NULLS_LAST;
	return index->nkeycolumns > 1 || plan->conditions == NIL;
}

/* What the plan is, for one index, but for its start; false if that cannot do this query. */
static bool
match_rank(PlannerInfo *root, IndexOptInfo *index, bool no_nulls, GpbRankPlan *plan)
{
	ScanDirection direction;

	/* The child starts at a key: at -0 if at 0, which come one after the other in the index. */
	if (!gpb_match_ordered_column(root, index, &plan->column, &plan->conditions) ||
		!sorts_by_column(root, index, plan->column) ||
		!gpb_key_column_is_exact(index, plan->column))
		return false;
	direction = rank_direction(root, index, plan->column);
	if (ScanDirectionIsNoMovement(direction) ||
		(index->nkeycolumns == 1 && !conditions_are_of_key(index, plan->conditions)))
		return false;
	plan->index = index->indexoid;
	plan->backward = ScanDirectionIsBackward(direction);
	plan->sorted = list_length(root->sort_pathkeys) > 1;
	return place_of_nulls(root, index, no_nulls, plan);
}

/* Add the price of a child whose rows come after those of the path's other children. */
static void
add_child(CustomPath *path, Path *child)
{
	path->path.rows += child->rows;
	path->path.total_cost += child->total_cost;
	path->custom_paths = lappend(path->custom_paths, child);
	GPB_ADD_DISABLED(&path->path, child);
}

/* The path for one index; NULL if it cannot do this query. */
static CustomPath *
make_rank_path(PlannerInfo *root, IndexOptInfo *index, const GpbRankWish *wish)
{
	PathTarget *target = wish->target;
	GpbRankPlan plan = {.offset = wish->offset, .remaining = wish->remaining};
	ScanDirection direction;
	CustomPath *path;
	GpbRankPath *own;
	GpbRankRows rows;
	Path	   *child;
	Param	   *start;
	Cost		row_cost;

	if (!match_rank(root, index, wish->no_nulls, &plan))
		return NULL;
	start = makeNode(Param);
	start->paramkind = PARAM_EXEC;
	start->paramid = plan.start = assign_special_exec_param(root);
	start->paramtype = index->opcintype[plan.column];
	start->paramtypmod = -1;
	start->location = -1;
	direction = plan.backward ? BackwardScanDirection : ForwardScanDirection;
	estimate_rows(root, index, wish->skipped, &plan, &rows);
	child = make_child_path(root, index, plan.column, direction,
							start_clause(root, index, plan.column, direction, start), wish->child,
							Max(rows.skipped,
								plan.nulls == GPB_RANK_NULLS_FIRST ? rows.end_of_nulls : 0.0),
							plan.nulls == GPB_RANK_NULLS_LAST ? rows.first_null : rows.all,
							&row_cost);

	path = gpb_make_path(sizeof(GpbRankPath), &rank_path_methods, index->rel, target);
	path->flags = 0;
	path->path.pathkeys = root->sort_pathkeys;
	path->path.startup_cost = child->startup_cost + gpb_setup_cost * GPB_RANK_SETUP +
		gpb_rank_price(root, index, rows.skipped, true) +
		Max(rows_of_value_before(root, index, plan.column, &rows) * row_cost,
			Min(GPB_RANK_SKIPPED_ROWS / Max(child->rows, 1.0), 1.0) *
			(child->total_cost - child->startup_cost));
	path->path.total_cost = path->path.startup_cost - child->startup_cost;
	add_child(path, child);
	if (plan.nulls != GPB_RANK_NO_NULLS)
		add_child(path, make_child_path(root, index, plan.column, direction,
										null_clause(root, index, plan.column), wish->child,
										Max(rows.skipped, rows.first_null), rows.end_of_nulls,
										&row_cost));
	path->path.startup_cost += target->cost.startup;
	path->path.total_cost += target->cost.startup + target->cost.per_tuple * path->path.rows;
	own = (GpbRankPath *) path;
	own->index = index;
	own->columns = wish->columns;
	own->plan = plan;
	return path;
}

/*
 * What core's Limit node is to do about OFFSET: raise its error if that is negative, ahead of
 * LIMIT's, and skip nothing.
 */
static Node *
offset_check(Node *offset)
{
	MinMaxExpr *least;

	if (IsA(offset, Const))
		return NULL;
	least = makeNode(MinMaxExpr);
	least->minmaxtype = INT8OID;
	least->op = IS_LEAST;
	least->args = list_make2(copyObject(offset),
							 makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
									   Int64GetDatum(0), false, FLOAT8PASSBYVAL));
	least->location = -1;
	return (Node *) least;
}

Path *
gpb_rank_path(PlannerInfo *root, RelOptInfo *table, const GpbRankWish *wish)
{
	CustomPath *best = NULL;
	ListCell   *lc;

	if (!columns_are_the_tables(root, table))
		return NULL;
	foreach(lc, table->indexlist)
	{
		CustomPath *path = make_rank_path(root, lfirst_node(IndexOptInfo, lc), wish);

		if (path != NULL && (best == NULL || path->path.total_cost < best->path.total_cost))
			best = path;
	}
	return (Path *) best;
}

void
gpb_rank_add_limit_path(PlannerInfo *root, RelOptInfo *final_rel, Path *path,
						const FinalPathExtraData *extra)
{
	Query	   *parse = root->parse;

	add_path(final_rel, (Path *)
			 create_limit_path(root, final_rel, path, offset_check(parse->limitOffset),
							   parse->limitCount, parse->limitOption, 0, extra->count_est));
}

void
gpb_rank_add_path(PlannerInfo *root, RelOptInfo *final_rel, RelOptInfo *rel,
				  const FinalPathExtraData *extra)
{
	RelOptInfo *table = gpb_only_table(root, rel);
	GpbRankWish wish = {.offset = (Expr *) root->parse->limitOffset, .remaining = -1};
	Path	   *path;

	if (table == NULL)
		return;
	wish.skipped = gpb_rank_offset_rows(extra, table->rows);
	wish.target = root->upper_targets[UPPERREL_FINAL];
	wish.child = gpb_rank_child_target(root, table);
	wish.columns = gpb_rank_columns(root);
	path = gpb_rank_path(root, table, &wish);
	if (path != NULL)
		gpb_rank_add_limit_path(root, final_rel, path, extra);
}

/* ---- plan ---- */

/*
 * The parameter is ours to set: it must not be taken for one that something above supplies, which
 * core would look for.  So the plan has a NULL in its place, until execution.
 */
static void
hide_start(List *conditions)
{
	OpExpr	   *condition = llast_node(OpExpr, conditions);
	Param	   *start = lsecond_node(Param, condition->args);

	lsecond(condition->args) = makeNullConst(start->paramtype, -1, InvalidOid);
}

/* PlanCustomPath */
static Plan *
plan_rank(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		  List *custom_plans)
{
	GpbRankPath *own = (GpbRankPath *) path;
	GpbRankPlan *plan = &own->plan;
	Plan	   *child = linitial(custom_plans);
	Plan	   *rows = plan->sorted ? outerPlan(child) : child;
	List	   *columns = list_copy(own->columns);
	int			nfilled = list_length(columns);
	CustomScan *scan;

	Assert(list_length(gpb_plan_columns(child)) == nfilled);
	if (IsA(rows, IndexOnlyScan))
	{
		hide_start(((IndexOnlyScan *) rows)->indexqual);
		hide_start(((IndexOnlyScan *) rows)->recheckqual);
	}
	else
	{
		hide_start(castNode(IndexScan, rows)->indexqual);
		hide_start(((IndexScan *) rows)->indexqualorig);
	}
	columns = list_concat(columns, gpb_key_vars(root, own->index));
	scan = gpb_make_node(&gpb_rank_node, path, rel->relid, tlist, NIL, custom_plans, columns);
	gpb_rank_put(plan, scan);
	gpb_check_conditions(path, scan, plan->conditions, 1, 0);
	gpb_check_expressions(path, scan, list_make1(plan->offset), 1, 0);
	gpb_check_expressions(path, scan, tlist, 1, nfilled);
	return &scan->scan.plan;
}
