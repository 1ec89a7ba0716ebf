/*-------------------------------------------------------------------------
 *
 * row_bound.c
 *	  Row comparisons as bounds of an index with several key columns.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "utils/rel.h"

#include "index/column_ranges.h"
#include "index/row_bound.h"

/* Where the entries end that may satisfy a row comparison, among those equal in columns before */
typedef struct GpbRowBound
{
	int			first;			/* the comparison's first key column, counted from 0 */
	bool		upper;			/* is it their last key, or their first? */
	GpbKey		key;			/* the fields of the comparison's columns, and zeros */
	int			rest;			/* bits behind these fields, which may be any */
} GpbRowBound;

/* Does the first scan key of a comparison bound its column above, in the order of the index? */
static bool
bounds_above(const GpbLayout *layout, const ScanKeyData *key)
{
	bool		descends = (layout->key[key->sk_attno - 1].flags & GPB_COLUMN_DESC) != 0;

	return (key->sk_strategy <= BTLessEqualStrategyNumber) != descends;
}

/* Find the fields that satisfy "column OP value".  Returns false if there are none. */
static bool
fields_of_value(const GpbLayout *layout, int c, GpbComparison *comparison,
				StrategyNumber strategy, Datum value, GpbKeyRange *fields)
{
	GpbRange	range = {GPB_BOUND_MIN, GPB_BOUND_MAX};
	GpbLoneColumn lone;

	gpb_lone_column(layout, c, &lone);
	gpb_comparison_narrow(&lone.layout, comparison, strategy, value, &range);
	return gpb_lone_fields(&lone, &range, fields);
}

/*
 * Add a column's field to the bound: the last one, or the first, that satisfies the scan key.  Of a
 * column that descends where the first ascends this is the end of all values, and bounds nothing
 * but NULLs.  Returns false if no column can follow, since the field is not that of the entries
 * whose column equals the value, and of no others.
 */
static bool
bound_add(Relation index, const GpbLayout *layout, const ScanKeyData *key, GpbRowBound *bound)
{
	int			c = key->sk_attno - 1;
	GpbComparison comparison;
	GpbKeyRange fields;
	GpbKeyRange equal;
	GpbKey		end;

	if (key->sk_flags & SK_ISNULL)
		return false;
	gpb_column_comparison_init(index, c, key->sk_subtype, &comparison);
	if (!fields_of_value(layout, c, &comparison, key->sk_strategy, key->sk_argument, &fields))
		return false;
	end = bound->upper ? fields.hi : fields.lo;
	bound->key |= end << layout->key[c].shift;
	bound->rest = layout->key[c].shift;
	return fields_of_value(layout, c, &comparison, BTEqualStrategyNumber, key->sk_argument,
						   &equal) && equal.lo == end && equal.hi == end;
}

/*
 * Make the bound of a row comparison, whose scan keys are the first of nkeys.  Returns false if
 * there is none.
 */
static bool
make_bound(Relation index, const GpbLayout *layout, const ScanKeyData *keys, int nkeys,
		   GpbRowBound *bound)
{
	int			i = 0;

	bound->first = keys[0].sk_attno - 1;
	bound->upper = bounds_above(layout, &keys[0]);
	bound->key = 0;
	bound->rest = GPB_MAX_KEY_BITS;
	while (bound_add(index, layout, &keys[i], bound))
	{
		if (++i == nkeys || keys[i].sk_collation != GPB_ROW_NEXT)
			break;
		Assert(keys[i].sk_attno == keys[i - 1].sk_attno + 1);
	}
	return bound->rest < GPB_MAX_KEY_BITS;
}

/* Narrow a range by a bound, if the columns before have the same values in all of it. */
static void
range_clip_row(const GpbLayout *layout, const GpbRowBound *bound, GpbRange *range)
{
	GpbKeyColumn column = layout->key[bound->first];
	GpbKey		below = gpb_field_ones(column.shift + column.bits);
	GpbKey		prefix = bound->first == 0 ? 0 : range->lo.key & ~below;
	GpbKey		key = prefix | bound->key;
	GpbBound	end;

	if (bound->first > 0 &&
		gpb_bound_less(gpb_bound_behind(prefix | below, layout->key_width), range->hi))
		return;
	if (bound->upper)
	{
		end = gpb_bound_behind(key | gpb_field_ones(bound->rest), layout->key_width);
		if (gpb_bound_less(end, range->hi))
			range->hi = end;
	}
	else
	{
		end = (GpbBound) {key, 0};
		if (gpb_bound_less(range->lo, end))
			range->lo = end;
	}
}

void
gpb_ranges_clip_rows(Relation index, const GpbLayout *layout, const ScanKeyData *keys, int nkeys,
					 GpbRangeSet *set)
{
	for (int i = 0; i < nkeys; i++)
	{
		GpbRowBound bound;
		int			kept = 0;

		if (keys[i].sk_collation != GPB_ROW_FIRST ||
			!make_bound(index, layout, &keys[i], nkeys - i, &bound))
			continue;
		for (int r = 0; r < set->count; r++)
		{
			range_clip_row(layout, &bound, &set->ranges[r]);
			if (gpb_bound_less(set->ranges[r].lo, set->ranges[r].hi))
				set->ranges[kept++] = set->ranges[r];
		}
		set->count = kept;
	}
}
