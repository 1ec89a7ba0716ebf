/*-------------------------------------------------------------------------
 *
 * lateral_rewrite.c
 *	  Before planning: where in a query there is a scalar subquery that may become a LATERAL one.
 *
 * A LATERAL subquery is run for each row of the others in the FROM list.  So a scalar one may take its form only where
 * it would be evaluated for each row just the same: in a target list, or in an aggregate's argument, and not where an
 * expression may get by without it.  A query in FROM that core will merge into the one around it counts by what that
 * one does with its columns.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/prep.h"
#include "rewrite/rewriteManip.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "lateral.h"
#include "range_aggregate.h"

/*
 * Columns of a query that are evaluated for each of its rows, by number; 0 stands for all, as it does in a Var.
 */
#define GPB_ALL_COLUMNS		0

/* One query while it is walked */
typedef struct GpbLevel
{
	GpbLateralFrom from;
	int			n;				/* entries of its range table, before it got any of ours */
	Bitmapset **used;			/* by place there: columns that are evaluated for each row */
	bool		replaces;		/* replace scalar subqueries, else only look for columns */
} GpbLevel;

static void gpb_rewrite_query(Query *query, Bitmapset *used, bool joined);
static Node *gpb_each_row_mutator(Node *node, void *argument);

/* ---- expressions that are evaluated for each row ---- */

/* Is the function written in SQL?  When it is planned its body may take its place, where an argument need not be evaluated. */
static bool
gpb_is_sql_function(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		is_sql;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	is_sql = ((Form_pg_proc) GETSTRUCT(tuple))->prolang == SQLlanguageId;
	ReleaseSysCache(tuple);
	return is_sql;
}

/* Remember a column of one of the query's own subqueries, seen through joins. */
static void
gpb_use_column(GpbLevel *level, Var *var)
{
	RangeTblEntry *rte;

	if (var->varlevelsup != 0 || var->varno > level->n)
		return;
	rte = list_nth_node(RangeTblEntry, level->from.query->rtable, var->varno - 1);
	if (rte->rtekind == RTE_JOIN && var->varattno > 0)
	{
		bool		replaces = level->replaces;

		level->replaces = false;
		(void) gpb_each_row_mutator(list_nth(rte->joinaliasvars, var->varattno - 1), level);
		level->replaces = replaces;
	}
	else if ((rte->rtekind == RTE_SUBQUERY || rte->rtekind == RTE_CTE) && var->varattno >= 0)
		level->used[var->varno] = bms_add_member(level->used[var->varno], var->varattno);
}

/* The first argument is evaluated always, the others as need be. */
static Node *
gpb_each_row_coalesce(CoalesceExpr *coalesce, GpbLevel *level)
{
	CoalesceExpr *copy = makeNode(CoalesceExpr);

	*copy = *coalesce;
	copy->args = list_copy(coalesce->args);
	linitial(copy->args) = gpb_each_row_mutator(linitial(coalesce->args), level);
	return (Node *) copy;
}

/* The expression with subqueries replaced, where they are evaluated whenever the expression is */
static Node *
gpb_each_row_mutator(Node *node, void *argument)
{
	GpbLevel   *level = argument;
	Node	   *replacement;

	if (node == NULL)
		return NULL;
	switch (nodeTag(node))
	{
		case T_SubLink:
			replacement = level->replaces ?
				gpb_lateral_replace(&level->from, (SubLink *) node) : NULL;
			return replacement != NULL ? replacement : node;
		case T_Var:
			gpb_use_column(level, (Var *) node);
			return node;
		case T_CoalesceExpr:
			return gpb_each_row_coalesce((CoalesceExpr *) node, level);
		case T_BoolExpr:
			if (((BoolExpr *) node)->boolop != NOT_EXPR)
				return node;
			break;
		case T_FuncExpr:
			if (gpb_is_sql_function(((FuncExpr *) node)->funcid))
				return node;
			break;
		case T_OpExpr:
			set_opfuncid((OpExpr *) node);
			if (gpb_is_sql_function(((OpExpr *) node)->opfuncid))
				return node;
			break;
		case T_List:
		case T_TargetEntry:
		case T_NamedArgExpr:
		case T_DistinctExpr:
		case T_ScalarArrayOpExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_CoerceToDomain:
		case T_CollateExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_MinMaxExpr:
		case T_ArrayExpr:
		case T_RowExpr:
			break;
		default:
			return node;
	}
	return expression_tree_mutator(node, gpb_each_row_mutator, argument);
}

/*
 * The expression with subqueries replaced in aggregates' arguments.  An aggregate sees each row, wherever in
 * the expression it is, unless it has a filter.
 */
static Node *
gpb_aggregated_mutator(Node *node, void *argument)
{
	if (node == NULL || IsA(node, SubLink))
		return node;
	if (IsA(node, Aggref))
	{
		Aggref	   *copy = makeNode(Aggref);

		*copy = *(Aggref *) node;
		if (copy->agglevelsup == 0 && copy->aggfilter == NULL)
			copy->args = (List *) gpb_each_row_mutator((Node *) copy->args, argument);
		return (Node *) copy;
	}
	return expression_tree_mutator(node, gpb_aggregated_mutator, argument);
}

/* ---- one query ---- */

static bool
gpb_is_grouped(Query *query)
{
	return query->hasAggs || query->groupClause != NIL || query->havingQual != NULL;
}

/*
 * Is each row that the FROM list gives seen by the target list, or by aggregates, once?  With LIMIT it may be few,
 * unless they are aggregated first.
 */
static bool
gpb_sees_each_row(Query *query)
{
	return query->commandType == CMD_SELECT && query->setOperations == NULL &&
		query->groupingSets == NIL && !query->hasWindowFuncs && !query->hasTargetSRFs &&
		!query->hasDistinctOn && query->jointree->fromlist != NIL &&
		(gpb_is_grouped(query) ||
		 (query->limitCount == NULL && query->limitOffset == NULL));
}

/*
 * Does the query join what is in its FROM list, perhaps with what is in its conditions?  A volatile condition counts as a
 * join: without Vars it is tested above all that is in the FROM list.
 */
static bool
gpb_joins(Query *query)
{
	List	   *from = query->jointree->fromlist;

	return list_length(from) > 1 || (from != NIL && !IsA(linitial(from), RangeTblRef)) ||
		checkExprHasSubLink(query->jointree->quals) ||
		contain_volatile_functions(query->jointree->quals);
}

/* Does this function in FROM become a query when it is planned? */
static bool
gpb_is_inlined(RangeTblEntry *rte)
{
	ListCell   *lc;

	foreach(lc, rte->functions)
	{
		Node	   *function = lfirst_node(RangeTblFunction, lc)->funcexpr;

		if (IsA(function, FuncExpr) && gpb_is_sql_function(((FuncExpr *) function)->funcid))
			return true;
	}
	return false;
}

/* Is one of its members a query, which may join in its turn? */
static bool
gpb_reads_subquery(Query *query)
{
	ListCell   *lc;

	foreach(lc, query->jointree->fromlist)
	{
		Node	   *member = lfirst(lc);
		RangeTblEntry *rte;

		if (!IsA(member, RangeTblRef))
			continue;
		rte = list_nth_node(RangeTblEntry, query->rtable, ((RangeTblRef *) member)->rtindex - 1);
		if (rte->rtekind == RTE_SUBQUERY || rte->rtekind == RTE_CTE ||
			(rte->rtekind == RTE_FUNCTION && gpb_is_inlined(rte)))
			return true;
	}
	return false;
}

/*
 * How many LATERAL subqueries the query may get: no more than core would join without limits to
 * the order that it looks at.
 */
static int
gpb_lateral_room(Query *query)
{
	Relids		joined = get_relids_in_jointree((Node *) query->jointree, false);
	int			most = Min(from_collapse_limit, join_collapse_limit);

	if (enable_geqo)
		most = Min(most, geqo_threshold - 1);
	return most - bms_num_members(joined);
}

static inline bool
gpb_is_used(Bitmapset *used, AttrNumber column)
{
	return bms_is_member(column, used) || bms_is_member(GPB_ALL_COLUMNS, used);
}

/* Walk what the query evaluates for each row. */
static void
gpb_walk_targets(GpbLevel *level, Bitmapset *used)
{
	Query	   *query = level->from.query;
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *target = lfirst_node(TargetEntry, lc);

		if (gpb_is_used(used, target->resno) || target->ressortgroupref != 0)
			target->expr = (Expr *) gpb_each_row_mutator((Node *) target->expr, level);
	}
}

/* The same of a query that aggregates; what it groups by is seen for each row, too. */
static void
gpb_walk_aggregates(GpbLevel *level, Bitmapset *used)
{
	Query	   *query = level->from.query;
	bool		replaces = level->replaces;
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *target = lfirst_node(TargetEntry, lc);

		if (gpb_is_used(used, target->resno) || target->ressortgroupref != 0)
			target->expr = (Expr *) gpb_aggregated_mutator((Node *) target->expr, level);
	}
	query->havingQual = gpb_aggregated_mutator(query->havingQual, level);

	level->replaces = false;
	foreach(lc, query->groupClause)
		(void) gpb_each_row_mutator(get_sortgroupclause_expr(lfirst(lc), query->targetList),
									level);
	level->replaces = replaces;
}

/* ---- queries within the query ---- */

static bool
gpb_is_union_all(Node *setop)
{
	SetOperationStmt *operation = (SetOperationStmt *) setop;

	if (IsA(setop, RangeTblRef))
		return true;
	return operation->op == SETOP_UNION && operation->all &&
		gpb_is_union_all(operation->larg) && gpb_is_union_all(operation->rarg);
}

/* Does the query read all of its rows before it returns one?  Then what is done with its columns does not matter. */
static bool
gpb_reads_all_first(Query *query)
{
	return gpb_is_grouped(query) || query->distinctClause != NIL ||
		(query->setOperations != NULL && !gpb_is_union_all(query->setOperations));
}

/* Columns of a subquery in FROM, or of what a set operation is over, that are evaluated for each row */
static Bitmapset *
gpb_subquery_columns(GpbLevel *level, Bitmapset *used, Index rti, Query *subquery)
{
	Query	   *query = level->from.query;

	if (query->setOperations != NULL && gpb_is_union_all(query->setOperations))
		return query->limitCount == NULL && query->limitOffset == NULL ? used : NULL;
	if (query->setOperations != NULL || gpb_reads_all_first(subquery))
		return bms_make_singleton(GPB_ALL_COLUMNS);
	return level->used[rti];
}

/* The same of a WITH query: if it is not merged into this one, none of its columns is left out. */
static Bitmapset *
gpb_cte_columns(GpbLevel *level, CommonTableExpr *cte)
{
	bool		merged = cte->ctematerialized == CTEMaterializeNever ||
		(cte->ctematerialized == CTEMaterializeDefault && cte->cterefcount == 1);
	Bitmapset  *columns = NULL;
	Index		rti = 0;
	ListCell   *lc;

	if (gpb_reads_all_first((Query *) cte->ctequery))
		return bms_make_singleton(GPB_ALL_COLUMNS);
	foreach(lc, level->from.query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (++rti <= level->n && rte->rtekind == RTE_CTE && rte->ctelevelsup == 0 &&
			strcmp(rte->ctename, cte->ctename) == 0)
			columns = bms_add_members(columns, level->used[rti]);
	}
	return merged || columns == NULL ? columns : bms_make_singleton(GPB_ALL_COLUMNS);
}

static void
gpb_rewrite_ctes(GpbLevel *level, bool joined)
{
	ListCell   *lc;

	foreach(lc, level->from.query->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		if (!cte->cterecursive && cte->cterefcount > 0)
			gpb_rewrite_query(castNode(Query, cte->ctequery), gpb_cte_columns(level, cte),
							  joined);
	}
}

/*
 * Rewrite a query of which these columns are evaluated for each row.  joined: the query around joins those rows with others,
 * and may drop some before it comes to the columns.
 */
static void
gpb_rewrite_query(Query *query, Bitmapset *used, bool joined)
{
	GpbLevel	level = {0};
	int			i;

	check_stack_depth();
	/* rows may be rechecked: no node of ours takes part in that */
	if (query->rowMarks != NIL || query->onConflict != NULL ||
		(query->commandType != CMD_SELECT && query->commandType != CMD_INSERT))
		return;
	joined |= gpb_joins(query);
	level.from.query = query;
	level.from.joined = joined || gpb_reads_subquery(query);
	level.n = list_length(query->rtable);
	level.used = palloc0(sizeof(Bitmapset *) * (level.n + 1));
	if (query->commandType == CMD_INSERT)
		gpb_walk_targets(&level, used);
	else if (gpb_sees_each_row(query))
	{
		level.replaces = query->hasSubLinks;
		level.from.room = gpb_lateral_room(query);
		if (gpb_is_grouped(query))
			gpb_walk_aggregates(&level, used);
		else
			gpb_walk_targets(&level, used);
	}

	/* those that were there before */
	for (i = 1; i <= level.n; i++)
	{
		RangeTblEntry *rte = list_nth_node(RangeTblEntry, query->rtable, i - 1);

		if (rte->rtekind != RTE_SUBQUERY)
			continue;
		gpb_rewrite_query(rte->subquery,
						  gpb_subquery_columns(&level, used, i, rte->subquery), joined);
		gpb_lateral_part(rte);
	}
	gpb_rewrite_ctes(&level, joined);
}

/* Is there any subquery in an expression, or one that is LATERAL and aggregates, in this query or one in its FROM or WITH? */
static bool
gpb_has_candidates(Query *query)
{
	ListCell   *lc;

	check_stack_depth();
	if (query->hasSubLinks)
		return true;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY &&
			((rte->lateral && rte->subquery->hasAggs) || gpb_has_candidates(rte->subquery)))
			return true;
	}
	foreach(lc, query->cteList)
	{
		if (gpb_has_candidates(castNode(Query, lfirst_node(CommonTableExpr, lc)->ctequery)))
			return true;
	}
	return false;
}

void
gpb_lateral_rewrite(Query *query)
{
	if (gpb_enable_rangeaggregate && !OldSnapshotThresholdActive() &&
		gpb_has_candidates(query))
		gpb_rewrite_query(query, bms_make_singleton(GPB_ALL_COLUMNS), false);
}
