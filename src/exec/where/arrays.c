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

#include "exec/where/arrays.h"

double
gpb_arrays_elements(PlannerInfo *root, List *arrays)
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

/*
 * In units of cpu_operator_cost.  Measured with all pages in memory (2 M rows): four keys of a
 * counting query took 11 us where the index-only scan took 7, nine 18 and 10, and a hundred 60 and
 * 62.  Per key the price of a batch is some 0.6 below core's, which pays for pages read at random.
 */
#define GPB_ARRAY_START_COST	300 /* to begin a batch */
#define GPB_KNOWN_START_COST	16000	/* if the array's length is known */

/*
 * From so many keys on a batch brings the rows as soon as core's scan of the index does, and a
 * device sooner.  Measured on the CPU, 8 M rows, index-only: 1,000 keys 0.45 ms and 0.43, 3,000
 * keys 0.9 and 1.2, 100,000 keys 31 and 29; with rows of the heap 0.55 and 0.7, 1.7 and 1.5, 74
 * and 70.
 */
#define GPB_MANY_KEYS			1000

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

Cost
gpb_arrays_start_cost(List *arrays)
{
	return (arrays_are_known(arrays) ? GPB_KNOWN_START_COST : GPB_ARRAY_START_COST) *
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
		gpb_is_many_keys(gpb_arrays_elements(root, arrays));
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
