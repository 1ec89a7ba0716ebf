/*-------------------------------------------------------------------------
 *
 * column_conditions.c
 *	  Restrictions that are ranges of an index with several key columns: at planning, and at run
 *	  time.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "index/column_ranges.h"
#include "exec/common/column_conditions.h"
#include "exec/common/key_conditions.h"
#include "exec/common/never_null.h"

/* ---- planning ---- */

bool
gpb_column_equals_one(IndexOptInfo *index, int c, Oid type)
{
	return gpb_coding_key_is_exact(gpb_type_coding(index->opcintype[c])) &&
		(type == index->opcintype[c] || type == INT2OID || type == INT4OID || type == INT8OID);
}

/*
 * The strategy of an operator of the index's column c.  *point is set if the column equals one
 * value by it.
 */
static int
column_strategy(IndexOptInfo *index, int c, Oid operator, bool *point)
{
	int			strategy;
	Oid			left;
	Oid			right;

	if (!OidIsValid(operator) || !op_in_opfamily(operator, index->opfamily[c]))
		return InvalidStrategy;
	get_op_opfamily_properties(operator, index->opfamily[c], false, &strategy, &left, &right);
	*point = strategy == BTEqualStrategyNumber && gpb_column_equals_one(index, c, right);
	return strategy;
}

/* "column OP expression" of column c, commuted if need be; NULL if the clause is none */
static Expr *
match_comparison(PlannerInfo *root, IndexOptInfo *index, int c, OpExpr *clause, bool *point)
{
	Node	   *left;
	Node	   *right;

	if (list_length(clause->args) != 2)
		return NULL;
	left = linitial(clause->args);
	right = lsecond(clause->args);
	if (match_index_to_operand(left, c, index) &&
		gpb_is_bound_expression(root, right, index->rel->relid) &&
		column_strategy(index, c, clause->opno, point) != InvalidStrategy)
		return copyObject((Expr *) clause);
	if (match_index_to_operand(right, c, index) &&
		gpb_is_bound_expression(root, left, index->rel->relid) &&
		column_strategy(index, c, get_commutator(clause->opno), point) != InvalidStrategy)
	{
		clause = copyObject(clause);
		CommuteOpExpr(clause);
		return (Expr *) clause;
	}
	return NULL;
}

/* "column = ANY (array)" of column c, or NULL */
static Expr *
match_array(PlannerInfo *root, IndexOptInfo *index, int c, ScalarArrayOpExpr *clause, bool *point)
{
	if (!clause->useOr || !match_index_to_operand(linitial(clause->args), c, index) ||
		column_strategy(index, c, clause->opno, point) != BTEqualStrategyNumber ||
		!gpb_is_bound_expression(root, lsecond(clause->args), index->rel->relid))
		return NULL;
	return copyObject((Expr *) clause);
}

/*
 * The clause as a condition on column c, or NULL.  *point is set if the column equals single values
 * by it.
 */
static Expr *
match_column(PlannerInfo *root, IndexOptInfo *index, int c, Expr *clause, bool *point)
{
	*point = false;
	if (IsA(clause, OpExpr))
		return match_comparison(root, index, c, (OpExpr *) clause, point);
	if (IsA(clause, ScalarArrayOpExpr))
		return match_array(root, index, c, (ScalarArrayOpExpr *) clause, point);
	if (IsA(clause, NullTest) && !((NullTest *) clause)->argisrow &&
		match_index_to_operand((Node *) ((NullTest *) clause)->arg, c, index))
	{
		*point = ((NullTest *) clause)->nulltesttype == IS_NULL;
		return copyObject(clause);
	}
	return NULL;
}

/* Take from the others what is a condition on column c.  Returns whether one of them is a point. */
static bool
take_column(PlannerInfo *root, IndexOptInfo *index, int c, List *computed, GpbRangeSplit *split)
{
	bool		points = false;
	ListCell   *lc;

	foreach(lc, split->others)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		point;
		Expr	   *condition;

		if (rinfo->pseudoconstant || !restriction_is_securely_promotable(rinfo, index->rel))
			continue;
		condition = match_column(root, index, c, rinfo->clause, &point);
		if (condition == NULL || list_member(computed, condition))
			continue;
		if (IsA(condition, ScalarArrayOpExpr))
			split->arrays = lappend(split->arrays, condition);
		else
			split->conditions = lappend(split->conditions, condition);
		split->ranges = lappend(split->ranges, rinfo);
		split->others = foreach_delete_current(split->others, lc);
		points |= point;
	}
	return points;
}

void
gpb_split_by_columns(PlannerInfo *root, IndexOptInfo *index, List *restrictions,
					 List *computed, GpbRangeSplit *split)
{
	ListCell   *lc;
	int			c;

	memset(split, 0, sizeof(*split));
	foreach(lc, restrictions)
	{
		if (!gpb_is_always_true(root, lfirst_node(RestrictInfo, lc)))
			split->others = lappend(split->others, lfirst(lc));
	}
	for (c = 0; c < index->nkeycolumns; c++)
	{
		/* A column that is there twice has its conditions where it comes first. */
		if (!take_column(root, index, c, computed, split))
			break;
	}
}

bool
gpb_column_is_fixed(PlannerInfo *root, IndexOptInfo *index, int c, List *restrictions)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		point;

		if (!rinfo->pseudoconstant && !IsA(rinfo->clause, ScalarArrayOpExpr) &&
			restriction_is_securely_promotable(rinfo, index->rel) &&
			match_column(root, index, c, rinfo->clause, &point) != NULL && point)
			return true;
	}
	return false;
}

void
gpb_split_leading(PlannerInfo *root, IndexOptInfo *index, List *restrictions, int ncolumns,
				  GpbRangeSplit *split)
{
	ListCell   *lc;
	int			c;

	memset(split, 0, sizeof(*split));
	foreach(lc, restrictions)
	{
		if (!gpb_is_always_true(root, lfirst_node(RestrictInfo, lc)))
			split->others = lappend(split->others, lfirst(lc));
	}
	for (c = 0; c < ncolumns; c++)
		(void) take_column(root, index, c, NIL, split);
}

bool
gpb_columns_may_be_wide(const IndexOptInfo *index, const GpbRangeSplit *split)
{
	return index->nkeycolumns > 1 && list_length(split->arrays) > 1;
}

/* ---- run time ---- */

/* One condition, ready to be evaluated */
typedef struct GpbColumnCondition
{
	int			column;			/* of the key, counted from 0 */
	StrategyNumber strategy;	/* InvalidStrategy: a NULL test */
	bool		is_null;		/* NULL test: IS NULL, else IS NOT NULL */
	bool		is_array;		/* = ANY */
	GpbComparison comparison;
	ExprState  *value;
} GpbColumnCondition;

struct GpbColumnConditions
{
	Relation	index;
	int			n;
	GpbColumnCondition *conditions;
};

/* The expression without casts that change nothing */
static Node *
strip_relabels(Node *node)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node;
}

/* The key column, counted from 0, that is the left side of a plan's condition */
static int
condition_column(Relation index, Node *side, const CustomScan *plan)
{
	Var		   *var = (Var *) strip_relabels(side);
	int			c;

	if (IsA(var, Var) && var->varno == INDEX_VAR)
		var = (Var *) list_nth_node(TargetEntry, plan->custom_scan_tlist, var->varattno - 1)->expr;
	for (c = 0; IsA(var, Var) && c < IndexRelationGetNumberOfKeyAttributes(index); c++)
	{
		if (index->rd_index->indkey.values[c] == var->varattno)
			return c;
	}
	elog(ERROR, "condition of a plan is on no key column of index \"%s\"",
		 RelationGetRelationName(index));
	return -1;
}

/* Prepare one condition of the plan. */
static void
condition_init(Relation index, Node *clause, PlanState *ps, GpbColumnCondition *condition)
{
	const CustomScan *plan = castNode(CustomScan, ps->plan);
	List	   *args;
	Oid			operator;
	int			strategy;
	Oid			left;
	Oid			right;

	memset(condition, 0, sizeof(*condition));
	if (IsA(clause, NullTest))
	{
		condition->column = condition_column(index, (Node *) ((NullTest *) clause)->arg, plan);
		condition->strategy = InvalidStrategy;
		condition->is_null = ((NullTest *) clause)->nulltesttype == IS_NULL;
		return;
	}
	condition->is_array = IsA(clause, ScalarArrayOpExpr);
	args = condition->is_array ? ((ScalarArrayOpExpr *) clause)->args :
		castNode(OpExpr, clause)->args;
	operator = condition->is_array ? ((ScalarArrayOpExpr *) clause)->opno :
		((OpExpr *) clause)->opno;
	condition->column = condition_column(index, linitial(args), plan);
	get_op_opfamily_properties(operator, index->rd_opfamily[condition->column], false, &strategy,
							   &left, &right);
	condition->strategy = strategy;
	gpb_column_comparison_init(index, condition->column, right, &condition->comparison);
	condition->value = ExecInitExpr(lsecond(args), ps);
}

GpbColumnConditions *
gpb_column_conditions_init(Relation index, List *conditions, List *arrays, PlanState *ps)
{
	GpbColumnConditions *result = palloc(sizeof(GpbColumnConditions));
	List	   *all = list_concat_copy(conditions, arrays);
	ListCell   *lc;

	result->index = index;
	result->n = list_length(all);
	result->conditions = palloc(sizeof(GpbColumnCondition) * Max(result->n, 1));
	foreach(lc, all)
		condition_init(index, lfirst(lc), ps, &result->conditions[foreach_current_index(lc)]);
	return result;
}

/* Narrow the sets by a condition.  Returns false if its right side is NULL. */
static bool
condition_apply(GpbColumnCondition *condition, ExprContext *econtext, GpbColumnSets *sets)
{
	Datum		value;
	bool		isnull;

	if (condition->strategy == InvalidStrategy)
	{
		gpb_column_narrow_null(sets, condition->column, condition->is_null);
		return true;
	}
	value = ExecEvalExprSwitchContext(condition->value, econtext, &isnull);
	if (isnull)
		return false;
	if (condition->is_array)
		gpb_column_narrow_any(sets, condition->column, &condition->comparison,
							  condition->strategy, value);
	else
		gpb_column_narrow(sets, condition->column, &condition->comparison, condition->strategy,
						  value);
	return true;
}

bool
gpb_column_conditions_sets(GpbColumnConditions *conditions, ExprContext *econtext,
						   const GpbLayout *layout, GpbColumnSets *sets)
{
	int			i;

	gpb_column_sets_init(sets, layout, CurrentMemoryContext);
	for (i = 0; i < conditions->n; i++)
	{
		if (!condition_apply(&conditions->conditions[i], econtext, sets))
			return false;
	}
	return true;
}

uint32
gpb_column_conditions_evaluate(GpbColumnConditions *conditions, ExprContext *econtext,
							   GpbRange **found, bool *wide)
{
	/* a copy: the relcache may rebuild its own at any time */
	GpbLayout	layout = *gpb_layout(conditions->index);
	GpbRangeSet set = {NULL, 0, 0};
	GpbColumnSets sets;

	*wide = false;
	*found = NULL;
	if (!gpb_column_conditions_sets(conditions, econtext, &layout, &sets))
		return 0;
	gpb_column_ranges(&sets, &set);
	*wide = sets.ntested > 0;
	*found = set.ranges;
	return set.count;
}
