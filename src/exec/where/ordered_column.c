/*-------------------------------------------------------------------------
 *
 * ordered_column.c
 *	  The key column in whose order an index has the rows of a query.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "exec/shell/index_columns.h"
#include "exec/shell/never_null.h"
#include "exec/shell/plan_rules.h"
#include "exec/where/condition_match.h"
#include "exec/where/ordered_column.h"
#include "exec/where/range_split.h"
#include "index/column_ranges.h"
#include "index/index.h"

/* ---- planning ---- */

/* Are all restrictions of the table conditions on the only column, none of them lossy? */
static bool
match_only_column(PlannerInfo *root, IndexOptInfo *index, List **conditions)
{
	ListCell   *lc;

	*conditions = NIL;
	foreach(lc, index->indrestrictinfo)
	{
		bool		point;
		Expr	   *condition = gpb_match_one_range(root, index, 0, lfirst_node(RestrictInfo, lc),
													&point);

		if (condition == NULL)
			return false;
		*conditions = lappend(*conditions, condition);
	}
	return !gpb_may_be_lossy(*conditions);
}

/*
 * Among the conditions on an only column is one that it is not NULL, where it never is, so that
 * EXPLAIN shows it.
 */
bool
gpb_match_ordered_column(PlannerInfo *root, IndexOptInfo *index, int *column, List **conditions)
{
	GpbRangeSplit split;

	*column = 0;
	if (!gpb_index_is_usable(index))
		return false;
	if (index->nkeycolumns == 1)
		return match_only_column(root, index, conditions);
	if (!gpb_split_by_order(root, index, index->indrestrictinfo, NIL, column, &split))
		return false;
	*conditions = split.conditions;
	return split.others == NIL;
}

/* Is the restriction a condition on key column c that no NULL satisfies? */
static bool
rules_out_null(PlannerInfo *root, IndexOptInfo *index, int c, RestrictInfo *rinfo)
{
	bool		point;
	Expr	   *condition = gpb_match_one_range(root, index, c, rinfo, &point);

	return condition != NULL &&
		!(IsA(condition, NullTest) && ((NullTest *) condition)->nulltesttype == IS_NULL);
}

/* The condition may be one that the index's predicate implies. */
bool
gpb_key_column_is_not_null(PlannerInfo *root, IndexOptInfo *index, int c)
{
	RelOptInfo *rel = index->rel;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		if (rules_out_null(root, index, c, lfirst_node(RestrictInfo, lc)))
			return true;
	}
	return gpb_index_has_no_null(index, gpb_key_column_var(root, index, c)) ||
		gpb_column_is_not_null(planner_rt_fetch(rel->relid, root)->relid, index->indexkeys[c]);
}

bool
gpb_key_column_is_exact(IndexOptInfo *index, int c)
{
	return gpb_coding_key_is_exact(gpb_held_type_coding(index->opcintype[c]));
}

/* ---- run time ---- */

void
gpb_ordered_column_init(Relation index, int column, List *conditions, PlanState *ps,
						GpbOrderedColumn *ordered)
{
	memset(ordered, 0, sizeof(*ordered));
	ordered->index = index;
	ordered->column = column;
	ordered->conditions = gpb_conditions_init(index, conditions, NIL, NIL, ps);
}

/* What two ranges have in common */
static GpbRange
intersection(GpbRange a, GpbRange b)
{
	if (gpb_bound_less(a.lo, b.lo))
		a.lo = b.lo;
	if (gpb_bound_less(b.hi, a.hi))
		a.hi = b.hi;
	return a;
}

/* gpb_split_nulls() for a column of several that has a code for NULL */
static void
part_null_fields(const GpbLayout *layout, int c, GpbRange range, GpbRange *not_null,
				 GpbRange *nulls)
{
	GpbKeyColumn column = layout->key[c];
	GpbKey		key = range.lo.key & ~gpb_field_ones(column.shift + column.bits);

	key |= gpb_null_field(column) << column.shift;
	nulls->lo = (GpbBound) {key, 0};
	nulls->hi = gpb_bound_behind(key | gpb_field_ones(column.shift), layout->key_width);
	*not_null = range;
	if (column.flags & GPB_COLUMN_NULLS_FIRST)
		not_null->lo = nulls->hi;
	else
		not_null->hi = nulls->lo;
}

void
gpb_split_nulls(const GpbLayout *layout, int c, GpbRange range, GpbRange *not_null,
				GpbRange *nulls)
{
	if (layout->nkeys == 0)
	{
		*not_null = gpb_range_not_null(layout);
		*nulls = gpb_range_null(layout);
	}
	else if (gpb_column_has_null(layout->key[c]))
		part_null_fields(layout, c, range, not_null, nulls);
	else
	{
		*not_null = range;
		*nulls = (GpbRange) {range.lo, range.lo};
	}
	*not_null = intersection(range, *not_null);
	*nulls = intersection(range, *nulls);
}

void
gpb_ordered_column_ranges(const GpbOrderedColumn *ordered, ExprContext *econtext,
						  GpbOrderedRanges *ranges)
{
	/* a copy: the relcache may rebuild its own at any time */
	GpbLayout	layout = *gpb_layout(ordered->index);
	GpbRange	range;
	GpbRange	not_null;
	bool		lossy;

	*ranges = (GpbOrderedRanges) {false, {1, 0}, {GPB_BOUND_MIN, GPB_BOUND_MIN}};
	if (!gpb_conditions_one_range(ordered->conditions, econtext, &range, &lossy))
		return;
	Assert(!lossy);
	gpb_split_nulls(&layout, ordered->column, range, &not_null, &ranges->nulls);
	ranges->has_keys = gpb_closed_range(&layout, &not_null, &ranges->keys);
	if (!ranges->has_keys)
		ranges->keys = (GpbKeyRange) {1, 0};
}

GpbKey
gpb_key_behind_column(const GpbLayout *layout, int c)
{
	return gpb_field_ones(gpb_key_column(layout, c).shift);
}

bool
gpb_key_column_descends(const GpbLayout *layout, int c)
{
	return (gpb_key_column(layout, c).flags & GPB_COLUMN_DESC) != 0;
}

bool
gpb_key_column_nulls_first(const GpbLayout *layout, int c)
{
	return (gpb_key_column(layout, c).flags & GPB_COLUMN_NULLS_FIRST) != 0;
}

/*
 * Keys of a smallint index are wider than the type, and fields wider than the values of a type that
 * has a least and a greatest one.
 */
Datum
gpb_key_column_datum(const GpbLayout *layout, int c, GpbKey key)
{
	GpbLoneColumn lone;
	GpbKeyRange type = {0, ~(GpbKey) 0};
	GpbKey		lone_key;

	gpb_lone_column(layout, c, &lone);
	gpb_clip_to_type(&lone.layout, &type);
	lone_key = gpb_lone_key(&lone, gpb_key_field(lone.column, key));
	return gpb_key_datum(&lone.layout, Max(Min(lone_key, type.hi), type.lo));
}
