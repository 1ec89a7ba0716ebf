/*-------------------------------------------------------------------------
 *
 * expressions.c
 *	  What an expression refers to, and whether evaluating it may raise an error.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "exec/common/expressions.h"

/* ---- errors ---- */

/* A function that is not leakproof may raise an error. */
static bool
function_may_fail(Oid function, void *argument)
{
	return !get_func_leakproof(function);
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
		case T_FuncExpr:
		case T_OpExpr:
			break;
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
