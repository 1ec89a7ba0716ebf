/*-------------------------------------------------------------------------
 *
 * conditions.c
 *	  The conditions of a plan on the key columns of its index, at run time: ready to be evaluated,
 *	  and the ranges that satisfy them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "exec/compile/program_build.h"
#include "exec/where/conditions.h"
#include "hold.h"
#include "index/array_keys.h"

/* Conditions all of which are to be satisfied */
typedef struct GpbConditionList
{
	int			n;
	GpbCondition *conditions;
} GpbConditionList;

struct GpbConditions
{
	Relation	index;
	GpbRangeForm form;
	GpbConditionList all;
	GpbConditionList keys;		/* those with arrays, if the form is not GPB_RANGE_BOUNDS */
	int			narms;			/* of these one is to be satisfied too, if there are any */
	GpbConditionList *arms;
	GpbConditionList skip;		/* conditions that make ranges of groups */
	int			prefix;			/* columns by which they are groups, if there are such conditions */
	EState	   *estate;
	GpbSkipCounters skipped;
};

/* ---- begin ---- */

/* The key column, counted from 0, that is the left side of a plan's condition */
static int
condition_column(Relation index, Node *side, const CustomScan *plan)
{
	Var		   *var = (Var *) gpb_resolved((Expr *) side, plan->custom_scan_tlist);
	int			c;

	for (c = 0; IsA(var, Var) && c < IndexRelationGetNumberOfKeyAttributes(index); c++)
	{
		if (index->rd_index->indkey.values[c] == var->varattno)
			return c;
	}
	elog(ERROR, "condition of a plan is on no key column of index \"%s\"",
		 RelationGetRelationName(index));
	return -1;
}

/* Prepare "column OP value" with this operator. */
static void
comparison_init(Relation index, Node *side, Oid operator, const CustomScan *plan,
				GpbCondition *condition)
{
	int			strategy;
	Oid			left;
	Oid			right;

	condition->column = condition_column(index, side, plan);
	get_op_opfamily_properties(operator, index->rd_opfamily[condition->column], false, &strategy,
							   &left, &right);
	condition->strategy = strategy;
	gpb_column_comparison_init(index, condition->column, right, &condition->comparison);
}

/* Prepare one condition of the plan. */
static void
condition_init(Relation index, Node *clause, PlanState *ps, GpbCondition *condition)
{
	const CustomScan *plan = castNode(CustomScan, ps->plan);
	List	   *args;

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
	condition->value = ExecInitExpr(lsecond(args), ps);
	if (!condition->is_array)
		condition->function = gpb_key_function_begin((OpExpr *) clause, plan->custom_scan_tlist);
	if (condition->function != NULL)
	{
		/* It is of the only column, and leads to values of that column's type. */
		condition->strategy = BTEqualStrategyNumber;
		gpb_column_comparison_init(index, 0, InvalidOid, &condition->comparison);
	}
	else
		comparison_init(index, linitial(args), condition->is_array ?
						((ScalarArrayOpExpr *) clause)->opno : ((OpExpr *) clause)->opno,
						plan, condition);
}

/* Prepare conditions of the plan, all of which are to be satisfied. */
static void
list_init(Relation index, List *clauses, PlanState *ps, GpbConditionList *list)
{
	ListCell   *lc;

	list->n = list_length(clauses);
	list->conditions = palloc(sizeof(GpbCondition) * Max(list->n, 1));
	foreach(lc, clauses)
		condition_init(index, lfirst(lc), ps, &list->conditions[foreach_current_index(lc)]);
}

/* Prepare the arrays of the only column of a key. */
static void
keys_init(GpbConditions *conditions, List *arrays, PlanState *ps)
{
	list_init(conditions->index, arrays, ps, &conditions->keys);
	conditions->form = GPB_RANGE_KEYS;
	for (int i = 0; i < conditions->keys.n; i++)
	{
		if (gpb_comparison_is_point(&conditions->keys.conditions[i].comparison))
			conditions->form = GPB_RANGE_POINTS;
	}
}

GpbConditions *
gpb_conditions_init(Relation index, List *conditions, List *arrays, List *arms, PlanState *ps)
{
	GpbConditions *result = palloc0(sizeof(GpbConditions));
	ListCell   *lc;

	result->index = index;
	result->form = GPB_RANGE_BOUNDS;
	if (arrays != NIL && IndexRelationGetNumberOfKeyAttributes(index) == 1)
		keys_init(result, arrays, ps);
	else
		conditions = list_concat_copy(conditions, arrays);
	list_init(index, conditions, ps, &result->all);
	result->narms = list_length(arms);
	result->arms = palloc(sizeof(GpbConditionList) * Max(result->narms, 1));
	foreach(lc, arms)
		list_init(index, lfirst_node(List, lc), ps, &result->arms[foreach_current_index(lc)]);
	return result;
}

void
gpb_conditions_skip(GpbConditions *conditions, List *further, int prefix, PlanState *ps)
{
	Assert(conditions->narms == 0);
	list_init(conditions->index, further, ps, &conditions->skip);
	conditions->prefix = prefix;
	conditions->estate = ps->state;
}

const GpbSkipCounters *
gpb_conditions_skipped(const GpbConditions *conditions)
{
	return &conditions->skipped;
}

GpbRangeForm
gpb_conditions_form(const GpbConditions *conditions)
{
	return conditions->form;
}

/* ---- sets ---- */

/* Narrow the sets to values for which the function satisfies its condition; false if none does. */
static bool
function_apply(GpbCondition *condition, Relation index, Datum value, GpbColumnSets *sets,
			   bool *lossy)
{
	Oid			type = index->rd_opcintype[condition->column];
	GpbKeyInterval interval = gpb_key_function_interval(condition->function, value);

	*lossy |= interval.lossy;
	if (interval.least > interval.greatest)
		return false;
	gpb_column_narrow(sets, condition->column, &condition->comparison,
					  BTGreaterEqualStrategyNumber,
					  gpb_word_datum(gpb_sql_type(type), interval.least));
	gpb_column_narrow(sets, condition->column, &condition->comparison,
					  BTLessEqualStrategyNumber,
					  gpb_word_datum(gpb_sql_type(type), interval.greatest));
	return true;
}

/* Narrow the sets by a condition.  Returns false if no entry satisfies it. */
static bool
condition_apply(GpbCondition *condition, Relation index, ExprContext *econtext,
				GpbColumnSets *sets, bool *lossy)
{
	Datum		value;

	if (condition->strategy == InvalidStrategy)
	{
		gpb_column_narrow_null(sets, condition->column, condition->is_null);
		return true;
	}
	if (!gpb_condition_value(condition, econtext, NULL, &value))
		return false;
	if (condition->function != NULL)
		return function_apply(condition, index, value, sets, lossy);
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
list_apply(const GpbConditions *conditions, const GpbConditionList *list, ExprContext *econtext,
		   GpbColumnSets *sets, bool *lossy)
{
	for (int i = 0; i < list->n; i++)
	{
		if (!condition_apply(&list->conditions[i], conditions->index, econtext, sets, lossy))
			return false;
	}
	return true;
}

bool
gpb_conditions_sets(GpbConditions *conditions, ExprContext *econtext, const GpbLayout *layout,
					GpbColumnSets *sets)
{
	bool		lossy = false;
	bool		some;

	Assert(conditions->narms == 0 && conditions->form == GPB_RANGE_BOUNDS);
	gpb_column_sets_init(sets, layout, CurrentMemoryContext);
	some = list_apply(conditions, &conditions->all, econtext, sets, &lossy);
	Assert(!lossy);
	return some;
}

/* ---- ranges ---- */

/* qsort: by where ranges begin */
static int
compare_ranges(const void *a, const void *b)
{
	const GpbRange *left = a;
	const GpbRange *right = b;

	if (gpb_bound_less(left->lo, right->lo))
		return -1;
	return gpb_bound_less(right->lo, left->lo) ? 1 : 0;
}

uint32
gpb_unite_ranges(GpbRange *ranges, uint32 n)
{
	uint32		united = 0;
	uint32		i;

	qsort(ranges, n, sizeof(GpbRange), compare_ranges);
	for (i = 0; i < n; i++)
	{
		GpbRange   *last = united == 0 ? NULL : &ranges[united - 1];

		if (last == NULL || gpb_bound_less(last->hi, ranges[i].lo))
			ranges[united++] = ranges[i];
		else if (gpb_bound_less(last->hi, ranges[i].hi))
			last->hi = ranges[i].hi;
	}
	return united;
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
narrow_to_groups(GpbConditions *conditions, ExprContext *econtext, GpbColumnSets *sets,
				 GpbRangeSet *set, bool *lossy)
{
	GpbRangeSet found = {NULL, 0, 0};

	if (!list_apply(conditions, &conditions->skip, econtext, sets, lossy))
	{
		set->count = 0;
		return;
	}
	if (set->count == 0 || OldSnapshotThresholdActive())
		return;
	PredicateLockRelation(conditions->index, conditions->estate->es_snapshot);
	if (gpb_group_ranges(conditions->index, sets, conditions->prefix,
						 RelationGetNumberOfBlocks(conditions->index), &found,
						 &conditions->skipped.groups))
		*set = found;
	else
		conditions->skipped.gave_up++;
	GPB_HOLD("skip-groups-found");
}

/* Add the ranges of a set to those of others, which may overlap them. */
static void
add_ranges(GpbRangeSet *all, const GpbRangeSet *set)
{
	int			n = all->count + set->count;

	if (set->count == 0)
		return;
	if (all->count == 0)
	{
		*all = *set;
		return;
	}
	if (n > all->capacity)
	{
		all->capacity = Max(n, 2 * all->capacity);
		all->ranges = repalloc_huge(all->ranges, sizeof(GpbRange) * (Size) all->capacity);
	}
	memcpy(&all->ranges[all->count], set->ranges, sizeof(GpbRange) * (Size) set->count);
	all->count = n;
}

/* Find the ranges of all arms, each together with what the other conditions leave. */
static void
find_arms(GpbConditions *conditions, ExprContext *econtext, const GpbColumnSets *others,
		  GpbFoundRanges *found)
{
	GpbRangeSet all = {NULL, 0, 0};

	for (int i = 0; i < conditions->narms; i++)
	{
		GpbRangeSet set = {NULL, 0, 0};
		GpbColumnSets sets;

		gpb_column_sets_init(&sets, others->layout, CurrentMemoryContext);
		gpb_column_sets_narrow(&sets, others);
		if (!list_apply(conditions, &conditions->arms[i], econtext, &sets, &found->lossy))
			continue;
		gpb_column_ranges(&sets, &set);
		found->lossy |= sets.ntested > 0;
		add_ranges(&all, &set);
	}
	found->ranges = all.ranges;
	found->n = conditions->narms == 1 ? all.count : gpb_unite_ranges(all.ranges, all.count);
}

/* Find the ranges of conditions that make no keys. */
static void
find_ranges(GpbConditions *conditions, ExprContext *econtext, const GpbLayout *layout,
			GpbFoundRanges *found)
{
	GpbRangeSet set = {NULL, 0, 0};
	GpbColumnSets sets;

	gpb_column_sets_init(&sets, layout, CurrentMemoryContext);
	if (!list_apply(conditions, &conditions->all, econtext, &sets, &found->lossy))
		return;
	if (conditions->narms > 0)
	{
		find_arms(conditions, econtext, &sets, found);
		return;
	}
	gpb_column_ranges(&sets, &set);
	found->lossy |= sets.ntested > 0;
	if (conditions->skip.n > 0)
		narrow_to_groups(conditions, econtext, &sets, &set, &found->lossy);
	found->ranges = set.ranges;
	found->n = set.count;
}

/* Find the range of keys that the other conditions leave for arrays; false if it is empty. */
static bool
find_clip(GpbConditions *conditions, ExprContext *econtext, const GpbLayout *layout,
		  GpbKeyRange *clip, bool *lossy)
{
	GpbColumnSets sets;

	gpb_column_sets_init(&sets, layout, CurrentMemoryContext);
	if (!list_apply(conditions, &conditions->all, econtext, &sets, lossy))
		return false;
	gpb_column_narrow_null(&sets, 0, false);	/* no element equals a NULL key */
	*clip = sets.column[0].single;
	return sets.column[0].n > 0;
}

/* Find the keys that are in all arrays, within what the other conditions leave. */
static void
find_keys(GpbConditions *conditions, ExprContext *econtext, const GpbLayout *layout,
		  GpbFoundRanges *found)
{
	GpbArrayKeys keys;
	GpbKeyRange clip;

	if (!find_clip(conditions, econtext, layout, &clip, &found->lossy))
		return;
	for (int i = 0; i < conditions->keys.n; i++)
	{
		GpbCondition *condition = &conditions->keys.conditions[i];
		GpbArrayKeys more;
		Datum		array;

		if (!gpb_condition_value(condition, econtext, NULL, &array))
			return;
		gpb_array_keys(layout, &condition->comparison, array, i == 0 ? &keys : &more);
		if (i == 0)
			continue;
		gpb_array_keys_intersect(&keys, &more);
		gpb_array_keys_free(&more);
	}
	gpb_array_keys_clip(&keys, clip);
	Assert(keys.points == (conditions->form == GPB_RANGE_POINTS));
	found->ranges = keys.points ? (void *) keys.keys : (void *) keys.ranges;
	found->n = keys.n;
}

void
gpb_conditions_evaluate(GpbConditions *conditions, ExprContext *econtext, GpbFoundRanges *found)
{
	/* a copy: the relcache may rebuild its own at any time */
	GpbLayout	layout = *gpb_layout(conditions->index);

	*found = (GpbFoundRanges) {conditions->form};
	if (conditions->form == GPB_RANGE_BOUNDS)
		find_ranges(conditions, econtext, &layout, found);
	else
		find_keys(conditions, econtext, &layout, found);
}

bool
gpb_conditions_one_range(GpbConditions *conditions, ExprContext *econtext, GpbRange *range,
						 bool *lossy)
{
	GpbFoundRanges found;

	gpb_conditions_evaluate(conditions, econtext, &found);
	if (found.n > 1)
		elog(ERROR, "conditions on index \"%s\" are not one range",
			 RelationGetRelationName(conditions->index));
	*lossy = found.lossy;
	if (found.n == 1)
		*range = *(GpbRange *) found.ranges;
	return found.n == 1;
}
