/*-------------------------------------------------------------------------
 *
 * array_keys.c
 *	  The keys that equal an element of an array.
 *
 * Arrays have up to millions of elements.  Integers, and values of the key's own type, are read
 * from the array's data as they lie there and encoded in one loop, without a Datum or a function
 * call for each; what may equal several keys is located by the operator family's comparison
 * (key.c).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "access/tupmacs.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "key_sort.h"
#include "large_array.h"
#include "index/array_keys.h"

/* Number of elements between two checks for interrupts */
#define GPB_ELEMENTS_AT_ONCE	65536

/* sort_closed_ranges() sorts closed ranges by where they begin. */
#define ST_SORT sort_closed_ranges
#define ST_ELEMENT_TYPE GpbKeyRange
#define ST_COMPARE(a, b) ((a)->lo < (b)->lo ? -1 : (a)->lo > (b)->lo)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/* ---- elements ---- */

/* The values of an array without its NULLs: n values of a fixed width, one after the other */
typedef struct GpbElements
{
	ArrayType  *array;
	const char *data;
	int			width;
	int			step;			/* bytes from one value to the next */
	bool		by_value;
	uint32		n;
} GpbElements;

/* Count the bits set among the first n bits of a bitmap. */
static uint32
count_bits(const uint8 *bitmap, uint32 n)
{
	uint32		count = pg_popcount((const char *) bitmap, n / 8);

	for (uint32 i = n / 8 * 8; i < n; i++)
		count += (bitmap[i / 8] >> (i % 8)) & 1;
	return count;
}

/* Find the values of an array, which is detoasted if need be. */
static void
elements_open(Datum value, GpbElements *elements)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int16		length;
	char		align;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &elements->by_value, &align);
	if (length <= 0)
		elog(ERROR, "array of type %u cannot be compared with a gpubtree index's key",
			 ARR_ELEMTYPE(array));
	elements->array = array;
	elements->data = ARR_DATA_PTR(array);
	elements->width = length;
	elements->step = att_align_nominal(length, align);
	elements->n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	/* NULL elements take no room in the array's data. */
	if (ARR_HASNULL(array))
		elements->n = count_bits(ARR_NULLBITMAP(array), elements->n);
}

static void
elements_close(GpbElements *elements, Datum value)
{
	if ((Pointer) elements->array != DatumGetPointer(value))
		pfree(elements->array);
}

/* ---- encoding ---- */

/*
 * Encode n integers of a width as keys of the index; those that the key's type does not have are
 * left out.  Returns the number of keys.  Callers pass width as a constant, so that each has a loop
 * of its own compiled.
 */
static pg_attribute_always_inline uint32
encode_integers(const GpbLayout *layout, const char *data, int width, uint32 n, uint64 *keys)
{
	int			key_width = layout->key_width;
	int			flags = layout->flags;
	int64		min = key_width == 8 ? PG_INT64_MIN : PG_INT32_MIN;
	int64		max = key_width == 8 ? PG_INT64_MAX : PG_INT32_MAX;
	uint32		kept = 0;

	for (uint32 i = 0; i < n; i++)
	{
		int64		value;

		if (width == 2)
			value = ((const int16 *) data)[i];
		else if (width == 4)
			value = ((const int32 *) data)[i];
		else
			value = ((const int64 *) data)[i];
		keys[kept] = (uint64) gpb_key_encode(value, key_width, flags);
		kept += value >= min && value <= max;
	}
	return kept;
}

/* The key of element i, which is of the key's own type. */
static inline GpbKey
element_key(const GpbLayout *layout, const GpbElements *elements, uint32 i)
{
	return gpb_datum_key(layout, fetch_att(elements->data + (Size) i * elements->step,
										   elements->by_value, elements->width));
}

/*
 * Encode elements each of which equals one key of at most 8 bytes, in their order.  Returns the
 * number of keys.
 */
static uint32
encode_elements(const GpbLayout *layout, GpbCoding coding, const GpbElements *elements,
				uint64 *keys)
{
	uint32		kept = 0;
	uint32		at;
	uint32		n;

	for (at = 0; at < elements->n; at += n)
	{
		const char *data = elements->data + (Size) at * elements->step;

		CHECK_FOR_INTERRUPTS();
		n = Min(elements->n - at, GPB_ELEMENTS_AT_ONCE);
		if (coding == GPB_CODING_INT2)
			kept += encode_integers(layout, data, 2, n, keys + kept);
		else if (coding == GPB_CODING_INT4)
			kept += encode_integers(layout, data, 4, n, keys + kept);
		else if (coding == GPB_CODING_INT8)
			kept += encode_integers(layout, data, 8, n, keys + kept);
		else
		{
			for (uint32 i = at; i < at + n; i++)
				keys[kept++] = (uint64) element_key(layout, elements, i);
		}
	}
	return kept;
}

/* Remove duplicates from n ascending keys.  Returns how many remain, at the start of the array. */
static uint32
unique_narrow_keys(uint64 *keys, uint32 n)
{
	uint32		kept = 0;

	for (uint32 i = 0; i < n; i++)
	{
		keys[kept] = keys[i];
		kept += i + 1 == n || keys[i] != keys[i + 1];
	}
	return kept;
}

/*
 * Make a set of single keys of at most 8 bytes from elements that equal one key each.  They are
 * sorted as such, and take as many bytes as any key thereafter.  One array has both: two halves, of
 * which one is sorted into the other, and then all keys, which grow over what has been read.
 */
static void
narrow_point_keys(const GpbLayout *layout, GpbCoding coding, const GpbElements *elements,
				  GpbArrayKeys *set)
{
	uint64	   *lower;
	uint64	   *upper;
	uint64	   *sorted;
	uint32		n;

	set->keys = gpb_alloc_array(CurrentMemoryContext,
								sizeof(GpbKey) * Max((Size) elements->n, 1));
	lower = (uint64 *) set->keys;
	upper = lower + elements->n;
	n = encode_elements(layout, coding, elements, upper);
	sorted = gpb_sort_narrow_keys(upper, lower, n);
	set->n = unique_narrow_keys(sorted, n);
	if (sorted == upper)
	{
		for (uint32 i = 0; i < set->n; i++)
			set->keys[i] = upper[i];
	}
	else
	{
		for (uint32 i = set->n; i-- > 0;)
			set->keys[i] = lower[i];
	}
}

/* Make a set of single wide keys, which are of the elements' own type, and equal one each. */
static void
wide_point_keys(const GpbLayout *layout, const GpbElements *elements, GpbArrayKeys *set)
{
	Size		size = sizeof(GpbKey) * Max((Size) elements->n, 1);
	GpbKey	   *keys = gpb_alloc_array(CurrentMemoryContext, size);
	GpbKey	   *spare = gpb_alloc_array(CurrentMemoryContext, size);

	for (set->n = 0; set->n < elements->n; set->n++)
	{
		keys[set->n] = element_key(layout, elements, set->n);
		if ((set->n & 0xFFF) == 0xFFF)
			CHECK_FOR_INTERRUPTS();
	}
	set->keys = gpb_sort_plain_keys(keys, spare, set->n);
	pfree(set->keys == keys ? spare : keys);
	set->n = gpb_unique_keys(set->keys, set->n);
}

/* ---- ranges ---- */

/* Sort the set's ranges and unite those that overlap. */
static void
unite_ranges(GpbArrayKeys *set)
{
	uint32		kept = 0;

	sort_closed_ranges(set->ranges, set->n);
	for (uint32 i = 0; i < set->n; i++)
	{
		GpbKeyRange range = set->ranges[i];

		if (kept > 0 && range.lo <= set->ranges[kept - 1].hi)
			set->ranges[kept - 1].hi = Max(set->ranges[kept - 1].hi, range.hi);
		else
			set->ranges[kept++] = range;
	}
	set->n = kept;
}

/* Make a set of ranges from elements that may equal several keys each. */
static void
range_keys(const GpbLayout *layout, GpbComparison *comparison, const GpbElements *elements,
		   GpbArrayKeys *set)
{
	set->ranges = gpb_alloc_array(CurrentMemoryContext,
								  sizeof(GpbKeyRange) * Max((Size) elements->n, 1));
	for (uint32 i = 0; i < elements->n; i++)
	{
		GpbRange	range = {GPB_BOUND_MIN, GPB_BOUND_MAX};
		Datum		value = fetch_att(elements->data + (Size) i * elements->step,
									  elements->by_value, elements->width);

		gpb_comparison_narrow(layout, comparison, BTEqualStrategyNumber, value, &range);
		set->n += gpb_closed_range(layout, &range, &set->ranges[set->n]);
		if ((i & 0xFFF) == 0xFFF)
			CHECK_FOR_INTERRUPTS();
	}
	unite_ranges(set);
}

/*
 * Make a set of ranges from numerics, which are not passed by value.  Each equals one key at most,
 * and those that are equal make one range.
 */
static void
numeric_keys(const GpbLayout *layout, GpbComparison *comparison, Datum value, GpbArrayKeys *set)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Datum	   *elements;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_INT, &elements, &nulls, &n);
	set->ranges = gpb_alloc_array(CurrentMemoryContext,
								  sizeof(GpbKeyRange) * Max((Size) n, 1));
	for (int i = 0; i < n; i++)
	{
		GpbRange	range = {GPB_BOUND_MIN, GPB_BOUND_MAX};

		if (nulls[i])
			continue;
		gpb_comparison_narrow(layout, comparison, BTEqualStrategyNumber, elements[i], &range);
		set->n += gpb_closed_range(layout, &range, &set->ranges[set->n]);
		if ((i & 0xFFF) == 0xFFF)
			CHECK_FOR_INTERRUPTS();
	}
	unite_ranges(set);
	pfree(elements);
	pfree(nulls);
	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
}

void
gpb_array_keys(const GpbLayout *layout, GpbComparison *comparison, Datum array, GpbArrayKeys *set)
{
	GpbElements elements;

	memset(set, 0, sizeof(*set));
	if (gpb_coding_is_numeric(comparison->coding))
	{
		numeric_keys(layout, comparison, array, set);
		return;
	}
	set->points = gpb_comparison_is_point(comparison);
	elements_open(array, &elements);
	if (set->points)
	{
		if (elements.width != gpb_coding_width(comparison->coding))
			elog(ERROR, "array of type %u has elements of %d bytes instead of %d",
				 ARR_ELEMTYPE(elements.array), elements.width,
				 gpb_coding_width(comparison->coding));
		if (layout->key_width == GPB_WIDE_KEY)
			wide_point_keys(layout, &elements, set);
		else
			narrow_point_keys(layout, comparison->coding, &elements, set);
	}
	else
		range_keys(layout, comparison, &elements, set);
	elements_close(&elements, array);
}

void
gpb_array_keys_free(GpbArrayKeys *set)
{
	if (set->keys != NULL)
		pfree(set->keys);
	if (set->ranges != NULL)
		pfree(set->ranges);
	memset(set, 0, sizeof(*set));
}

/* ---- conjunctions ---- */

/* The range number i of the set; a single key is the range from itself to itself. */
static inline GpbKeyRange
array_range(const GpbArrayKeys *set, uint32 i)
{
	GpbKeyRange range;

	if (!set->points)
		return set->ranges[i];
	range.lo = range.hi = set->keys[i];
	return range;
}

/*
 * Store range number i of the set that is being made in place of the old one, whose range i has
 * been read by then.
 */
static inline void
array_put(GpbArrayKeys *set, uint32 i, GpbKeyRange range)
{
	if (set->points)
		set->keys[i] = range.lo;
	else
		set->ranges[i] = range;
}

/*
 * The sets are merged as two sorted, disjoint lists: each step but the last uses up a range of one
 * of them.
 */
void
gpb_array_keys_intersect(GpbArrayKeys *set, const GpbArrayKeys *other)
{
	GpbArrayKeys result = {0};
	uint32		i = 0;
	uint32		j = 0;

	result.points = set->points || other->points;
	if (result.points)
		result.keys = gpb_alloc_array(CurrentMemoryContext, sizeof(GpbKey) *
									  ((Size) set->n + other->n + 1));
	else
		result.ranges = gpb_alloc_array(CurrentMemoryContext, sizeof(GpbKeyRange) *
										((Size) set->n + other->n + 1));
	while (i < set->n && j < other->n)
	{
		GpbKeyRange a = array_range(set, i);
		GpbKeyRange b = array_range(other, j);
		GpbKeyRange common = {Max(a.lo, b.lo), Min(a.hi, b.hi)};

		if (common.lo <= common.hi)
			array_put(&result, result.n++, common);
		if (a.hi < b.hi)
			i++;
		else
			j++;
	}
	gpb_array_keys_free(set);
	*set = result;
}

void
gpb_array_keys_clip(GpbArrayKeys *set, GpbKeyRange by)
{
	uint32		kept = 0;

	/* They ascend, so the first and the last tell whether anything is clipped. */
	if (set->n == 0 ||
		(array_range(set, 0).lo >= by.lo && array_range(set, set->n - 1).hi <= by.hi))
		return;
	for (uint32 i = 0; i < set->n; i++)
	{
		GpbKeyRange range = array_range(set, i);

		range.lo = Max(range.lo, by.lo);
		range.hi = Min(range.hi, by.hi);
		if (range.lo <= range.hi)
			array_put(set, kept++, range);
	}
	set->n = kept;
}
