/*-------------------------------------------------------------------------
 *
 * program_once.c
 *	  What of an expression may be evaluated once, before the first entry.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "exec/compile/program_build_internal.h"
#include "exec/shell/expressions.h"

/* ---- one value for all entries ---- */

static bool varies_walker(Node *node, void *in_case);

/*
 * Does one of these arguments vary?  The last comes first: in "a + b + c + d" the others are the
 * first argument, and this is asked of each sum in it.
 */
static bool
arguments_vary(List *args, void *in_case)
{
	for (int i = list_length(args) - 1; i >= 0; i--)
	{
		if (varies_walker(list_nth(args, i), in_case))
			return true;
	}
	return false;
}

/*
 * Is there anything that has another value for each row?  in_case says whether a CASE with an
 * operand is around, so that a CaseTestExpr is part of what is looked at.
 */
static bool
varies_walker(Node *node, void *in_case)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_PlaceHolderVar:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_CoerceToDomainValue:
		case T_SetToDefault:
		case T_CurrentOfExpr:
			return true;
		case T_OpExpr:
			check_stack_depth();
			return arguments_vary(((OpExpr *) node)->args, in_case);
		case T_CaseTestExpr:
			return in_case == NULL;
		case T_CaseExpr:
			if (((CaseExpr *) node)->arg != NULL)
			{
				if (varies_walker((Node *) ((CaseExpr *) node)->arg, in_case))
					return true;
				in_case = node;
			}
			break;
		default:
			break;
	}
	return expression_tree_walker(node, varies_walker, in_case);
}

bool
gpb_is_constant(Expr *expression)
{
	return !varies_walker((Node *) expression, NULL) &&
		!contain_volatile_functions((Node *) expression) &&
		!expression_returns_set((Node *) expression);
}

/* ---- errors ---- */

/* Is it anything but one of core's functions of moments? */
static bool
no_function_of_moments(Oid function, void *argument)
{
	const GpbFunction *found = gpb_core_function(function);

	return found == NULL || (found->use & GPB_OF_MOMENTS) == 0;
}

/* Is there anything that is not a function of moments, by the clock or constant? */
static bool
no_moment_walker(Node *node, void *argument)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Const:
		case T_FuncExpr:
		case T_OpExpr:
		case T_RelabelType:
			break;
		case T_SQLValueFunction:
			return ((SQLValueFunction *) node)->op > SVFOP_LOCALTIMESTAMP_N;
		default:
			return true;
	}
	return check_functions_in_node(node, no_function_of_moments, argument) ||
		expression_tree_walker(node, no_moment_walker, argument);
}

bool
gpb_is_of_moments(Node *expression)
{
	return !no_moment_walker(expression, NULL);
}

/* Is it the parameter for a value of an outer query, which is set before this query begins? */
static bool
is_outer_value(const PlannerInfo *root, const Param *param)
{
	for (root = root->parent_root; root != NULL; root = root->parent_root)
	{
		ListCell   *lc;

		foreach(lc, root->plan_params)
		{
			if (lfirst_node(PlannerParamItem, lc)->paramId == param->paramid)
				return true;
		}
	}
	return false;
}

/*
 * Is it a parameter that may be the value of a subquery, which is evaluated when it is asked for?
 */
static bool
is_subquery_value(const PlannerInfo *root, Node *node)
{
	return IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC &&
		!is_outer_value(root, (Param *) node);
}

/* The argument is the PlannerInfo. */
static bool
subquery_walker(Node *node, void *root)
{
	return node != NULL &&
		(is_subquery_value(root, node) || expression_tree_walker(node, subquery_walker, root));
}

bool
gpb_has_subquery_value(PlannerInfo *root, Node *expression)
{
	return subquery_walker(expression, root);
}

/*
 * What is computed from the clock might raise one, with an interval of 100,000 years, but core's
 * planner evaluates it for its estimates too.
 */
bool
gpb_is_harmless(GpbProgramBuilder *builder, Expr *constant)
{
	if (!no_moment_walker((Node *) constant, NULL))
		return true;
	return !gpb_may_fail((Node *) constant) && !subquery_walker((Node *) constant, builder->root);
}

/* ---- guards ---- */

static bool
function_can_fault(Oid function, void *argument)
{
	return gpb_function_can_fault(function);
}

/*
 * Is there a step that can fault, or what might raise an error if it is evaluated beforehand?  The
 * argument is the builder.
 */
static bool
can_fault_walker(Node *node, void *builder)
{
	if (node == NULL || !no_moment_walker(node, NULL))
		return false;
	switch (nodeTag(node))
	{
		case T_Param:
			return is_subquery_value(((GpbProgramBuilder *) builder)->root, node);
		case T_List:
		case T_Var:
		case T_RelabelType:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, function_can_fault, builder) ||
		expression_tree_walker(node, can_fault_walker, builder);
}

bool
gpb_needs_guard(GpbProgramBuilder *builder, Node *expression)
{
	return can_fault_walker(expression, builder);
}
