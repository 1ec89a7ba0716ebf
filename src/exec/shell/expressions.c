/*-------------------------------------------------------------------------
 *
 * expressions.c
 *	  What an expression refers to, and whether evaluating it may raise an error.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "exec/shell/expressions.h"

/* ---- errors ---- */

/* A function that is not leakproof may raise an error. */
static bool
function_may_fail(Oid function, void *argument)
{
	return !get_func_leakproof(function);
}

/*
 * May a call raise an error of its collation, though the function is leakproof?  Comparisons do
 * where there is none, and starts_with() where it is not deterministic.
 */
static bool
collation_may_fail(Oid function, Oid collation, List *args)
{
	if (OidIsValid(collation))
		return function == F_STARTS_WITH && !get_collation_isdeterministic(collation);
	return args != NIL && type_is_collatable(exprType(linitial(args)));
}

/* Is there anything but columns, constants, parameters, and functions of them that cannot fail? */
static bool
may_fail_walker(Node *node, void *argument)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_TargetEntry:
		case T_Var:
		case T_Const:
		case T_Param:
		case T_CaseTestExpr:
		case T_RelabelType:
		case T_CollateExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_BoolExpr:
			break;
		case T_FuncExpr:
			{
				FuncExpr   *call = (FuncExpr *) node;

				if (collation_may_fail(call->funcid, call->inputcollid, call->args))
					return true;
				break;
			}
		case T_OpExpr:
			{
				OpExpr	   *call = (OpExpr *) node;

				set_opfuncid(call);
				if (collation_may_fail(call->opfuncid, call->inputcollid, call->args))
					return true;
				break;
			}
		default:
			return true;
	}
	if (check_functions_in_node(node, function_may_fail, argument))
		return true;
	return expression_tree_walker(node, may_fail_walker, argument);
}

bool
gpb_may_fail(Node *expression)
{
	return may_fail_walker(expression, NULL);
}

/* ---- aggregates ---- */

List *
gpb_append_aggref(List *aggrefs, Aggref *aggref)
{
	ListCell   *lc;

	foreach(lc, aggrefs)
	{
		if (lfirst_node(Aggref, lc)->aggno == aggref->aggno && equal(lfirst(lc), aggref))
			return aggrefs;
	}
	return lappend(aggrefs, aggref);
}

/* ---- columns ---- */

/* What columns_walker() looks for, and what it has found */
typedef struct GpbColumnSearch
{
	Index		varno;
	Bitmapset  *columns;
} GpbColumnSearch;

static bool
columns_walker(Node *node, void *argument)
{
	GpbColumnSearch *search = argument;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varno == search->varno)
		search->columns = bms_add_member(search->columns, ((Var *) node)->varattno);
	return expression_tree_walker(node, columns_walker, argument);
}

Bitmapset *
gpb_add_columns(Bitmapset *columns, Node *expression, Index varno)
{
	GpbColumnSearch search = {varno, columns};

	(void) columns_walker(expression, &search);
	return search.columns;
}

/* ---- row comparisons ---- */

/*
 * "left OP right" of column i of a row comparison, where OP has this strategy in the family of the
 * comparison's own operator; NULL if there is none.
 */
static Expr *
column_comparison(const RowCompareExpr *comparison, int i, StrategyNumber strategy)
{
	Oid			family = list_nth_oid(comparison->opfamilies, i);
	int			own;
	Oid			left;
	Oid			right;
	Oid			operator;

	get_op_opfamily_properties(list_nth_oid(comparison->opnos, i), family, false, &own, &left,
							   &right);
	operator = get_opfamily_member(family, left, right, strategy);
	if (!OidIsValid(operator))
		return NULL;
	return make_opclause(operator, BOOLOID, false, list_nth(comparison->largs, i),
						 list_nth(comparison->rargs, i), InvalidOid,
						 list_nth_oid(comparison->inputcollids, i));
}

/* The strategy of a comparison's columns but the last: that without equality */
static StrategyNumber
strict_strategy(StrategyNumber strategy)
{
	return strategy == BTLessStrategyNumber || strategy == BTLessEqualStrategyNumber ?
		BTLessStrategyNumber : BTGreaterStrategyNumber;
}

List *
gpb_row_comparison_arms(const RowCompareExpr *comparison)
{
	int			ncolumns = list_length(comparison->largs);
	List	   *arms = NIL;
	List	   *equal = NIL;

	for (int i = 0; i < ncolumns; i++)
	{
		StrategyNumber whole = GPB_ROW_COMPARE_STRATEGY(comparison);
		StrategyNumber strategy = i < ncolumns - 1 ? strict_strategy(whole) : whole;
		Expr	   *last = column_comparison(comparison, i, strategy);
		Expr	   *same = column_comparison(comparison, i, BTEqualStrategyNumber);

		if (last == NULL || same == NULL)
			return NIL;
		arms = lappend(arms, lappend(list_copy(equal), last));
		equal = lappend(equal, same);
	}
	return arms;
}
