/*-------------------------------------------------------------------------
 *
 * arrays.c
 *	  Conditions "key = ANY (array)": what they cost, and what the planner knows of the arrays.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/optimizer.h"
#include "utils/float.h"
#include "utils/selfuncs.h"

#include "exec/price/price_constants.h"
#include "exec/where/arrays.h"

/* How many elements the arrays of the conditions have in common, at most, about */
static double
count_elements(PlannerInfo *root, List *arrays)
{
	double		least = get_float8_infinity();
	ListCell   *lc;

	foreach(lc, arrays)
	{
		double		n = GPB_ARRAY_LENGTH(root, lsecond(lfirst_node(ScalarArrayOpExpr, lc)->args));

		least = Min(least, n);
	}
	return clamp_row_est(least);
}

/* Does the planner know the length of each of the arrays? */
static bool
arrays_are_known(List *arrays)
{
	ListCell   *lc;

	foreach(lc, arrays)
	{
		Node	   *array = lsecond(lfirst_node(ScalarArrayOpExpr, lc)->args);

		if (!IsA(array, Const) && !IsA(array, ArrayExpr))
			return false;
	}
	return true;
}

void
gpb_price_arrays(GpbPriceInput *input, List *arrays)
{
	input->ranges = count_elements(input->root, arrays);
	input->known_ranges = true;
	input->begin = (arrays_are_known(arrays) ? GPB_KNOWN_START_COST : GPB_ARRAY_START_COST) *
		cpu_operator_cost;
}

bool
gpb_is_many_keys(double n)
{
	return n >= GPB_MANY_KEYS;
}

bool
gpb_arrays_have_many(PlannerInfo *root, List *arrays)
{
	return arrays != NIL && arrays_are_known(arrays) &&
		gpb_is_many_keys(count_elements(root, arrays));
}

const Param *
gpb_array_parameter(const Node *condition)
{
	const ScalarArrayOpExpr *clause = (const ScalarArrayOpExpr *) condition;
	const Param *array;

	if (!IsA(condition, ScalarArrayOpExpr) || !clause->useOr)
		return NULL;
	array = lsecond(clause->args);
	return IsA(array, Param) && array->paramkind == PARAM_EXTERN ? array : NULL;
}
