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
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "exec/shell/never_null.h"
#include "exec/where/column_conditions.h"
#include "exec/where/key_conditions.h"
#include "exec/where/node_ranges.h"
#include "hold.h"
#include "index/column_ranges.h"
#include "index/index_clauses.h"

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

	if (!OidIsValid(operator) || !op_in_opfamily(operator, gpb_own_family(index, c)))
		return InvalidStrategy;
	get_op_opfamily_properties(operator, gpb_own_family(index, c), false, &strategy, &left, &right);
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

/* "left OP element" for an array that is a constant of a single element, not NULL; else NULL */
static OpExpr *
element_comparison(const ScalarArrayOpExpr *clause)
{
	Const	   *array = lsecond(clause->args);
	Oid			type;
	int16		length;
	bool		by_value;
	char		align;
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	Const	   *element;
	OpExpr	   *comparison;

	if (!IsA(array, Const) || array->constisnull)
		return NULL;
	type = ARR_ELEMTYPE(DatumGetArrayTypeP(array->constvalue));
	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(DatumGetArrayTypeP(array->constvalue), type, length, by_value, align,
					  &elements, &nulls, &n);
	if (n != 1 || nulls[0])
		return NULL;
	element = makeConst(type, -1, array->constcollid, length, elements[0], false, by_value);
	comparison = (OpExpr *) make_opclause(clause->opno, BOOLOID, false, linitial(clause->args),
										  (Expr *) element, InvalidOid, clause->inputcollid);
	set_opfuncid(comparison);
	return comparison;
}

/* "column = ANY (array)" of column c, "column = element" if the array has one alone, or NULL */
static Expr *
match_array(PlannerInfo *root, IndexOptInfo *index, int c, ScalarArrayOpExpr *clause, bool *point)
{
	OpExpr	   *comparison;

	if (!clause->useOr || !match_index_to_operand(linitial(clause->args), c, index) ||
		column_strategy(index, c, clause->opno, point) != BTEqualStrategyNumber ||
		!gpb_is_bound_expression(root, lsecond(clause->args), index->rel->relid))
		return NULL;
	comparison = element_comparison(clause);
	if (comparison != NULL)
		return match_comparison(root, index, c, comparison, point);
	return copyObject((Expr *) clause);
}

/*
 * "column = true", or false, for a clause that is true exactly then: the column by itself, negated,
 * or tested with IS TRUE or IS FALSE.  NULL if it is none.
 */
static Expr *
match_boolean(IndexOptInfo *index, int c, Expr *clause, bool *point)
{
	Node	   *operand = (Node *) clause;
	bool		value = true;
	Expr	   *condition;

	if (is_notclause(clause))
	{
		operand = (Node *) get_notclausearg(clause);
		value = false;
	}
	else if (IsA(clause, BooleanTest))
	{
		BooleanTest *test = (BooleanTest *) clause;

		if (test->booltesttype != IS_TRUE && test->booltesttype != IS_FALSE)
			return NULL;
		operand = (Node *) test->arg;
		value = test->booltesttype == IS_TRUE;
	}
	if (!match_index_to_operand(operand, c, index) ||
		column_strategy(index, c, BooleanEqualOperator, point) == InvalidStrategy)
		return NULL;
	condition = make_opclause(BooleanEqualOperator, BOOLOID, false, copyObject((Expr *) operand),
							  (Expr *) makeBoolConst(value, false), InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) condition);
	return condition;
}

Expr *
gpb_match_column(PlannerInfo *root, IndexOptInfo *index, int c, Expr *clause, bool *point)
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
	if (index->opcintype[c] == BOOLOID)
		return match_boolean(index, c, clause, point);
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
		condition = gpb_match_column(root, index, c, rinfo->clause, &point);
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
		if (!gpb_is_always_true(root, index, lfirst_node(RestrictInfo, lc)))
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
			gpb_match_column(root, index, c, rinfo->clause, &point) != NULL && point)
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
		if (!gpb_is_always_true(root, index, lfirst_node(RestrictInfo, lc)))
			split->others = lappend(split->others, lfirst(lc));
	}
	for (c = 0; c < ncolumns; c++)
		(void) take_column(root, index, c, NIL, split);
}

bool
gpb_columns_may_be_lossy(const IndexOptInfo *index, const GpbRangeSplit *split)
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

/* Conditions all of which are to be satisfied */
typedef struct GpbConditionList
{
	int			n;
	GpbColumnCondition *conditions;
} GpbConditionList;

struct GpbColumnConditions
{
	Relation	index;
	GpbConditionList all;
	int			narms;			/* of these one is to be satisfied too, if there are any */
	GpbConditionList *arms;
	GpbConditionList skip;		/* conditions that make ranges of groups */
	int			prefix;			/* columns by which they are groups, if there are such conditions */
	EState	   *estate;
	GpbSkipCounters skipped;
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

/* Prepare conditions of the plan, all of which are to be satisfied. */
static void
list_init(Relation index, List *clauses, PlanState *ps, GpbConditionList *list)
{
	ListCell   *lc;

	list->n = list_length(clauses);
	list->conditions = palloc(sizeof(GpbColumnCondition) * Max(list->n, 1));
	foreach(lc, clauses)
		condition_init(index, lfirst(lc), ps, &list->conditions[foreach_current_index(lc)]);
}

GpbColumnConditions *
gpb_column_conditions_init(Relation index, List *conditions, List *arrays, List *arms,
						   PlanState *ps)
{
	GpbColumnConditions *result = palloc0(sizeof(GpbColumnConditions));
	ListCell   *lc;

	result->index = index;
	list_init(index, list_concat_copy(conditions, arrays), ps, &result->all);
	result->narms = list_length(arms);
	result->arms = palloc(sizeof(GpbConditionList) * Max(result->narms, 1));
	foreach(lc, arms)
		list_init(index, lfirst_node(List, lc), ps, &result->arms[foreach_current_index(lc)]);
	return result;
}

void
gpb_column_conditions_skip(GpbColumnConditions *columns, List *conditions, int prefix,
						   PlanState *ps)
{
	Assert(columns->narms == 0);
	list_init(columns->index, conditions, ps, &columns->skip);
	columns->prefix = prefix;
	columns->estate = ps->state;
}

const GpbSkipCounters *
gpb_column_conditions_skipped(const GpbColumnConditions *columns)
{
	return &columns->skipped;
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

/* Narrow the sets by conditions.  Returns false if no entry satisfies them. */
static bool
list_apply(const GpbConditionList *list, ExprContext *econtext, GpbColumnSets *sets)
{
	int			i;

	for (i = 0; i < list->n; i++)
	{
		if (!condition_apply(&list->conditions[i], econtext, sets))
			return false;
	}
	return true;
}

bool
gpb_column_conditions_sets(GpbColumnConditions *conditions, ExprContext *econtext,
						   const GpbLayout *layout, GpbColumnSets *sets)
{
	Assert(conditions->narms == 0);
	gpb_column_sets_init(sets, layout, CurrentMemoryContext);
	return list_apply(&conditions->all, econtext, sets);
}

/*
 * Narrow the ranges of the sets to those of groups, by the further conditions: what they leave has
 * every row that satisfies all of them, since its entry was in the index when the snapshot was
 * taken, and is there as long as that is used.
 *
 * With old_snapshot_threshold it need not be.  The groups are found without predicate locks, so a
 * serializable transaction locks the whole index (rule M8).  More ranges than the index has pages
 * would not pay.
 */
static void
narrow_to_groups(GpbColumnConditions *columns, ExprContext *econtext, GpbColumnSets *sets,
				 GpbRangeSet *set)
{
	GpbRangeSet found = {NULL, 0, 0};

	if (!list_apply(&columns->skip, econtext, sets))
	{
		set->count = 0;
		return;
	}
	if (set->count == 0 || OldSnapshotThresholdActive())
		return;
	PredicateLockRelation(columns->index, columns->estate->es_snapshot);
	if (gpb_group_ranges(columns->index, sets, columns->prefix,
						 RelationGetNumberOfBlocks(columns->index), &found,
						 &columns->skipped.groups))
		*set = found;
	else
		columns->skipped.gave_up++;
	GPB_HOLD("skip-groups-found");
}

/*
 * Find the ranges of one arm, NULL for that of a plan without arms, and add them to the others.
 */
static void
add_arm(GpbColumnConditions *conditions, const GpbConditionList *arm, ExprContext *econtext,
		const GpbLayout *layout, GpbRangeSet *all, bool *lossy)
{
	GpbRangeSet set = {NULL, 0, 0};
	GpbColumnSets sets;

	gpb_column_sets_init(&sets, layout, CurrentMemoryContext);
	if (!list_apply(&conditions->all, econtext, &sets) ||
		(arm != NULL && !list_apply(arm, econtext, &sets)))
		return;
	gpb_column_ranges(&sets, &set);
	*lossy |= sets.ntested > 0;
	if (conditions->skip.n > 0)
		narrow_to_groups(conditions, econtext, &sets, &set);
	if (all->count == 0)
	{
		*all = set;
		return;
	}
	if (set.count == 0)
		return;
	all->ranges = repalloc_huge(all->ranges,
								sizeof(GpbRange) * ((Size) all->count + set.count));
	memcpy(&all->ranges[all->count], set.ranges, sizeof(GpbRange) * set.count);
	all->count += set.count;
}

uint32
gpb_column_conditions_evaluate(GpbColumnConditions *conditions, ExprContext *econtext,
							   GpbRange **found, bool *lossy)
{
	/* a copy: the relcache may rebuild its own at any time */
	GpbLayout	layout = *gpb_layout(conditions->index);
	GpbRangeSet set = {NULL, 0, 0};
	int			i;

	*lossy = false;
	if (conditions->narms == 0)
		add_arm(conditions, NULL, econtext, &layout, &set, lossy);
	for (i = 0; i < conditions->narms; i++)
		add_arm(conditions, &conditions->arms[i], econtext, &layout, &set, lossy);
	*found = set.ranges;
	return conditions->narms < 2 ? set.count : gpb_unite_ranges(set.ranges, set.count);
}
