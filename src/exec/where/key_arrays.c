/*-------------------------------------------------------------------------
 *
 * key_arrays.c
 *	  Conditions "key = ANY (array)": which, and the keys that arrays have in common.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "exec/price/price_constants.h"
#include "exec/where/key_arrays.h"
#include "exec/where/key_conditions.h"
#include "index/index_clauses.h"

/* One "key = ANY (array)" */
typedef struct GpbArrayCondition
{
	GpbComparison comparison;	/* of a key with an element */
	ExprState  *array;
} GpbArrayCondition;

struct GpbArrayScan
{
	ExprContext *econtext;
	int			n;
	GpbArrayCondition *conditions;
	bool		points;			/* single keys satisfy them all, not ranges of keys */
};

/* ---- planning ---- */

Expr *
gpb_match_array_condition(PlannerInfo *root, RestrictInfo *rinfo, IndexOptInfo *index)
{
	ScalarArrayOpExpr *clause = (ScalarArrayOpExpr *) rinfo->clause;

	if (!IsA(clause, ScalarArrayOpExpr) || !clause->useOr || rinfo->pseudoconstant ||
		!restriction_is_securely_promotable(rinfo, index->rel) ||
		get_op_opfamily_strategy(clause->opno, gpb_own_family(index, 0)) != BTEqualStrategyNumber ||
		!match_index_to_operand(linitial(clause->args), 0, index) ||
		!gpb_is_bound_expression(root, lsecond(clause->args), index->rel->relid))
		return NULL;
	return (Expr *) copyObject(clause);
}

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
	input->ranges = gpb_arrays_elements(input->root, arrays);
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

/* ---- begin ---- */

static void
array_condition_init(Relation index, ScalarArrayOpExpr *clause, PlanState *ps,
					 GpbArrayCondition *condition)
{
	int			strategy;
	Oid			left;
	Oid			right;

	get_op_opfamily_properties(clause->opno, index->rd_opfamily[0], false, &strategy, &left,
							   &right);
	gpb_comparison_init(index, right, &condition->comparison);
	condition->array = ExecInitExpr(lsecond(clause->args), ps);
}

GpbArrayScan *
gpb_arrays_begin(Relation index, List *arrays, PlanState *ps)
{
	GpbArrayScan *scan = palloc0(sizeof(GpbArrayScan));
	ListCell   *lc;

	scan->econtext = ps->ps_ExprContext;
	scan->n = list_length(arrays);
	scan->conditions = palloc(sizeof(GpbArrayCondition) * scan->n);
	foreach(lc, arrays)
	{
		GpbArrayCondition *condition = &scan->conditions[foreach_current_index(lc)];

		array_condition_init(index, lfirst_node(ScalarArrayOpExpr, lc), ps, condition);
		scan->points |= gpb_comparison_is_point(&condition->comparison);
	}
	return scan;
}

GpbRangeForm
gpb_arrays_form(const GpbArrayScan *scan)
{
	return scan->points ? GPB_RANGE_POINTS : GPB_RANGE_KEYS;
}

/* ---- a run ---- */

bool
gpb_arrays_keys(GpbArrayScan *scan, const GpbLayout *layout, GpbRange range,
				GpbArrayKeys *keys)
{
	GpbRange	not_null = gpb_range_not_null(layout);
	GpbKeyRange closed;
	int			i;

	/* no element equals a NULL key */
	if (gpb_bound_less(range.lo, not_null.lo))
		range.lo = not_null.lo;
	if (gpb_bound_less(not_null.hi, range.hi))
		range.hi = not_null.hi;
	if (!gpb_closed_range(layout, &range, &closed))
		return false;
	for (i = 0; i < scan->n; i++)
	{
		GpbArrayCondition *condition = &scan->conditions[i];
		GpbArrayKeys more;
		Datum		array;
		bool		isnull;

		array = ExecEvalExprSwitchContext(condition->array, scan->econtext, &isnull);
		if (isnull)
			return false;
		gpb_array_keys(layout, &condition->comparison, array, i == 0 ? keys : &more);
		if (i == 0)
			continue;
		gpb_array_keys_intersect(keys, &more);
		gpb_array_keys_free(&more);
	}
	gpb_array_keys_clip(keys, closed);
	Assert(keys->points == scan->points);
	return keys->n > 0;
}
