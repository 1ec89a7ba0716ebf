/*-------------------------------------------------------------------------
 *
 * scankey.c
 *	  Scan keys, arrays included, as sorted disjoint ranges of the index.
 *
 * Every condition on the key is a range or, for "= ANY (array)", a set of
 * ranges, and their conjunction is an intersection; so a scan never tests a
 * condition on an entry, and its results come in index order whatever the
 * order of an array's elements.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/skey.h"
#include "access/stratnum.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "large_array.h"
#include "index/array_keys.h"
#include "index/index.h"

/* sort_ranges() sorts ranges by where they begin. */
#define ST_SORT sort_ranges
#define ST_ELEMENT_TYPE GpbRange
#define ST_COMPARE(a, b) gpb_bound_cmp((a)->lo, (b)->lo)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

#define GPB_EVERYTHING ((GpbRange) {GPB_BOUND_MIN, GPB_BOUND_MAX})

static inline bool
range_is_empty(const GpbRange *range)
{
	return !gpb_bound_less(range->lo, range->hi);
}

/* Narrow *range to what lies in *by too. */
static inline void
range_clip(GpbRange *range, const GpbRange *by)
{
	if (gpb_bound_less(range->lo, by->lo))
		range->lo = by->lo;
	if (gpb_bound_less(by->hi, range->hi))
		range->hi = by->hi;
}

void
gpb_ranges_reserve(GpbRangeSet *set, int n)
{
	if (n <= set->capacity)
		return;
	if (set->ranges)
		pfree(set->ranges);
	set->ranges = gpb_alloc_array(CurrentMemoryContext,
								  n * sizeof(GpbRange));
	set->capacity = n;
}

/*
 * Get the non-NULL elements of the array that a key compares with.  Returns their number; *elements
 * is palloc'd, and so is what they point to.
 */
static int
array_elements(ScanKey key, Datum **elements)
{
	ArrayType  *array = DatumGetArrayTypeP(key->sk_argument);
	int16		length;
	bool		by_value;
	char		align;
	bool	   *nulls;
	int			n;
	int			kept = 0;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align,
					  elements, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i])
			(*elements)[kept++] = (*elements)[i];
	}
	pfree(nulls);
	/* Elements that are passed by reference lie in the array. */
	if (by_value && (Pointer) array != DatumGetPointer(key->sk_argument))
		pfree(array);
	return kept;
}

/* Sort the set's ranges, and unite those that overlap or touch. */
static void
ranges_normalize(GpbRangeSet *set)
{
	int			kept = 0;

	sort_ranges(set->ranges, set->count);
	for (int i = 0; i < set->count; i++)
	{
		GpbRange   *last = &set->ranges[Max(kept - 1, 0)];
		GpbRange   *range = &set->ranges[i];

		if (kept > 0 && !gpb_bound_less(last->hi, range->lo))
		{
			if (gpb_bound_less(last->hi, range->hi))
				last->hi = range->hi;
		}
		else
			set->ranges[kept++] = *range;
	}
	set->count = kept;
}

/*
 * Find the ranges of "key = ANY (array)".  Neighbours among the keys that equal an element make one
 * range.
 */
static void
ranges_of_equality(Relation index, const GpbLayout *layout, ScanKey key, GpbRangeSet *set)
{
	GpbRange	not_null = gpb_range_not_null(layout);
	GpbComparison comparison;
	GpbArrayKeys keys;

	gpb_comparison_init(index, key->sk_subtype, &comparison);
	gpb_array_keys(layout, &comparison, key->sk_argument, &keys);
	gpb_ranges_reserve(set, keys.n);
	set->count = 0;
	for (uint32 i = 0; i < keys.n; i++)
	{
		GpbKey		lo = keys.points ? keys.keys[i] : keys.ranges[i].lo;
		GpbKey		hi = keys.points ? keys.keys[i] : keys.ranges[i].hi;
		GpbRange   *range = &set->ranges[Max(set->count - 1, 0)];

		if (set->count == 0 || range->hi.key != lo)
		{
			range = &set->ranges[set->count++];
			range->lo = (GpbBound) {lo, 0};
		}
		range->hi = gpb_bound_behind(hi, layout->key_width);
	}
	if (set->count > 0)
	{
		range_clip(&set->ranges[0], &not_null);
		range_clip(&set->ranges[set->count - 1], &not_null);
	}
	gpb_array_keys_free(&keys);
}

/*
 * Find the ranges of "key OP ANY (array)" for the other operators.  The ranges of the elements are
 * nested, so their union is the loosest one.
 */
static void
ranges_of_inequality(Relation index, const GpbLayout *layout, ScanKey key,
					GpbRangeSet *set)
{
	GpbComparison comparison;
	Datum	   *elements;
	int			n = array_elements(key, &elements);

	gpb_comparison_init(index, key->sk_subtype, &comparison);
	gpb_ranges_reserve(set, n);
	set->count = 0;
	for (int i = 0; i < n; i++)
	{
		GpbRange   *range = &set->ranges[set->count];

		*range = GPB_EVERYTHING;
		gpb_comparison_narrow(layout, &comparison, key->sk_strategy,
							  elements[i], range);
		if (!range_is_empty(range))
			set->count++;
		if ((i & 0xFFF) == 0xFFF)
			CHECK_FOR_INTERRUPTS();
	}
	pfree(elements);
	ranges_normalize(set);
}

/* Find the ranges of a scan key that compares with an array. */
static void
ranges_of_key(Relation index, const GpbLayout *layout, ScanKey key, GpbRangeSet *set)
{
	if (key->sk_strategy == BTEqualStrategyNumber)
		ranges_of_equality(index, layout, key, set);
	else
		ranges_of_inequality(index, layout, key, set);
}

/* Narrow the set to what is in "other" too.  The two are merged as sorted lists. */
static void
ranges_intersect(GpbRangeSet *set, const GpbRangeSet *other)
{
	GpbRangeSet result = {NULL, 0, 0};
	int			i = 0;
	int			j = 0;

	/* Each step but the first uses up a range of one of the sets. */
	gpb_ranges_reserve(&result, set->count + other->count);
	while (i < set->count && j < other->count)
	{
		GpbRange	common = set->ranges[i];

		range_clip(&common, &other->ranges[j]);
		if (!range_is_empty(&common))
			result.ranges[result.count++] = common;
		if (gpb_bound_less(set->ranges[i].hi, other->ranges[j].hi))
			i++;
		else
			j++;
	}
	if (set->ranges)
		pfree(set->ranges);
	*set = result;
}

/* Narrow a range by a condition without an array.  A NULL constant leaves nothing. */
static void
range_apply(Relation index, const GpbLayout *layout, ScanKey key,
			GpbRange *range)
{
	GpbRange	by;

	if (key->sk_flags & SK_SEARCHNULL)
		by = gpb_range_null(layout);
	else if (key->sk_flags & SK_SEARCHNOTNULL)
		by = gpb_range_not_null(layout);
	else if (key->sk_flags & SK_ISNULL)
		by = (GpbRange) {GPB_BOUND_MAX, GPB_BOUND_MAX};
	else
	{
		gpb_range_narrow(index, layout, key->sk_strategy, key->sk_subtype,
						 key->sk_argument, range);
		return;
	}
	range_clip(range, &by);
}

void
gpb_ranges_from_keys(Relation index, const GpbLayout *layout,
					 ScanKey keys, int nkeys, GpbRangeSet *set)
{
	GpbRange	range = GPB_EVERYTHING;
	int			narrays = 0;
	int			kept = 0;

	/* The cheap conditions come first: they may leave nothing to do. */
	for (int i = 0; i < nkeys; i++)
	{
		if (keys[i].sk_attno != 1 || (keys[i].sk_flags & SK_ROW_HEADER))
			elog(ERROR, "unexpected scan key on column %d of index \"%s\"",
				 keys[i].sk_attno, RelationGetRelationName(index));
		if ((keys[i].sk_flags & (SK_SEARCHARRAY | SK_ISNULL)) == SK_SEARCHARRAY)
			narrays++;
		else
			range_apply(index, layout, &keys[i], &range);
	}

	set->count = 0;
	if (range_is_empty(&range))
		return;
	if (narrays == 0)
	{
		gpb_ranges_reserve(set, 1);
		set->ranges[0] = range;
		set->count = 1;
		return;
	}

	for (int i = 0, seen = 0; i < nkeys; i++)
	{
		GpbRangeSet other = {NULL, 0, 0};

		if (!(keys[i].sk_flags & SK_SEARCHARRAY))
			continue;
		if (seen++ == 0)
			ranges_of_key(index, layout, &keys[i], set);
		else
		{
			ranges_of_key(index, layout, &keys[i], &other);
			ranges_intersect(set, &other);
			if (other.ranges)
				pfree(other.ranges);
		}
	}

	if (gpb_bound_cmp(range.lo, GPB_BOUND_MIN) == 0 && gpb_bound_cmp(range.hi, GPB_BOUND_MAX) == 0)
		return;
	for (int i = 0; i < set->count; i++)
	{
		range_clip(&set->ranges[i], &range);
		if (!range_is_empty(&set->ranges[i]))
			set->ranges[kept++] = set->ranges[i];
	}
	set->count = kept;
}
