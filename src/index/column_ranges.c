/*-------------------------------------------------------------------------
 *
 * column_ranges.c
 *	  Conditions on the columns of a key, as ranges of the index.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/array_keys.h"
#include "index/column_ranges.h"
#include "index/row_bound.h"

/*
 * The most ranges that conditions on several columns are made into.  Conditions on later columns,
 * with which there would be more, are tested for each entry.
 */
#define GPB_MAX_COLUMN_RANGES	262144

void
gpb_lone_column(const GpbLayout *layout, int c, GpbLoneColumn *lone)
{
	GpbKeyColumn column = gpb_key_column(layout, c);

	lone->column = column;
	lone->is_key = layout->nkeys == 0;
	memset(&lone->layout, 0, sizeof(lone->layout));
	lone->layout.key_coding = column.coding;
	lone->layout.key_width = lone->is_key ? layout->key_width : gpb_coding_key_width(column.coding);
	lone->layout.flags = (column.flags & GPB_COLUMN_DESC) ? GPB_LAYOUT_DESC : 0;
	lone->type.lo = 0;
	if (lone->is_key)
	{
		lone->type.hi = gpb_key_most(layout->key_width);
		return;
	}
	lone->type.hi = ~(GpbKey) 0;
	gpb_clip_to_type(&lone->layout, &lone->type);
	lone->first = lone->type.lo;
	if (column.flags & GPB_COLUMN_NAN)
	{
		int64		beyond = (int64) 1 << (gpb_column_code_bits(column) - 1);

		lone->first = gpb_key_encode((column.flags & GPB_COLUMN_DESC) ? beyond - 1 : -beyond,
									 lone->layout.key_width, lone->layout.flags);
	}
}

/* The code and the key of NaN, of a column that has it.  NaN is above all numbers. */
static inline uint64
nan_code(GpbKeyColumn column)
{
	return (column.flags & GPB_COLUMN_DESC) ? 0 :
		(uint64) gpb_field_ones(gpb_column_code_bits(column));
}

static inline GpbKey
nan_key(const GpbLoneColumn *lone)
{
	return (lone->column.flags & GPB_COLUMN_DESC) ? lone->type.lo : lone->type.hi;
}

/*
 * Find the codes from *lo to *hi of the keys in a closed range, of a column that has NaN.  Returns
 * false if there are none.  A range may begin or end amid the keys that no value has.
 */
static bool
codes_with_nan(const GpbLoneColumn *lone, GpbKeyRange keys, uint64 *lo, uint64 *hi)
{
	uint64		nan = nan_code(lone->column);
	bool		has_nan = keys.lo <= nan_key(lone) && keys.hi >= nan_key(lone);
	GpbKeyRange numbers;

	numbers.lo = lone->first + (nan == 0);
	numbers.hi = lone->first + gpb_field_ones(gpb_column_code_bits(lone->column)) - (nan != 0);
	keys.lo = Max(keys.lo, numbers.lo);
	keys.hi = Min(keys.hi, numbers.hi);
	*lo = *hi = nan;
	if (keys.lo > keys.hi)
		return has_nan;
	if (!has_nan || nan != 0)
		*lo = (uint64) (keys.lo - lone->first);
	if (!has_nan || nan == 0)
		*hi = (uint64) (keys.hi - lone->first);
	return true;
}

bool
gpb_fields_of_keys(const GpbLoneColumn *lone, GpbKeyRange keys, GpbKeyRange *fields)
{
	uint64		lo;
	uint64		hi;

	if (lone->is_key)
	{
		*fields = keys;
		return keys.lo <= keys.hi;
	}
	keys.lo = Max(keys.lo, lone->type.lo);
	keys.hi = Min(keys.hi, lone->type.hi);
	if (keys.lo > keys.hi)
		return false;
	if ((lone->column.flags & GPB_COLUMN_NAN) == 0)
	{
		lo = (uint64) (keys.lo - lone->first);
		hi = (uint64) (keys.hi - lone->first);
	}
	else if (!codes_with_nan(lone, keys, &lo, &hi))
		return false;
	fields->lo = gpb_code_field(lone->column, lo, true);
	fields->hi = gpb_code_field(lone->column, hi, false);
	return fields->lo <= fields->hi;
}

bool
gpb_lone_fields(const GpbLoneColumn *lone, const GpbRange *range, GpbKeyRange *fields)
{
	GpbKeyRange keys;

	return gpb_closed_range(&lone->layout, range, &keys) && gpb_fields_of_keys(lone, keys, fields);
}

GpbKey
gpb_lone_key(const GpbLoneColumn *lone, GpbKey field)
{
	uint64		code;

	if (lone->is_key)
		return field;
	code = gpb_field_code(lone->column, Max(field, gpb_code_field(lone->column, 0, true)));
	if ((lone->column.flags & GPB_COLUMN_NAN) && code == nan_code(lone->column))
		return nan_key(lone);
	return lone->first + code;
}

/* ---- sets ---- */

void
gpb_column_sets_init(GpbColumnSets *sets, const GpbLayout *layout, MemoryContext context)
{
	sets->layout = layout;
	sets->context = context;
	sets->ntested = 0;
	sets->narrowed = false;
	for (int c = 0; c < gpb_count_keys(layout); c++)
	{
		sets->column[c].all = true;
		sets->column[c].null = false;
		sets->column[c].n = 0;
		sets->column[c].ranges = &sets->column[c].single;
	}
}

/* Free what a set has allocated. */
static inline void
fields_free(GpbFieldSet *set)
{
	if (set->ranges != &set->single)
		pfree(set->ranges);
}

void
gpb_column_sets_reset(GpbColumnSets *sets)
{
	if (!sets->narrowed)
		return;
	for (int c = 0; c < gpb_count_keys(sets->layout); c++)
		fields_free(&sets->column[c]);
	gpb_column_sets_init(sets, sets->layout, sets->context);
}

/* Make room for n ranges of fields. */
static GpbKeyRange *
fields_alloc(GpbColumnSets *sets, uint32 n)
{
	return MemoryContextAllocHuge(sets->context, sizeof(GpbKeyRange) * Max((Size) n, 1));
}

/*
 * Keep of column c's fields, which are one range at most or all, what lies in another range too;
 * NULL is for no range.
 */
static void
fields_intersect_one(GpbColumnSets *sets, int c, const GpbKeyRange *by)
{
	GpbFieldSet *set = &sets->column[c];
	GpbKeyRange common;

	if (by == NULL || !(set->all || set->n == 1))
		set->n = 0;
	else
	{
		common.lo = set->all ? by->lo : Max(set->ranges->lo, by->lo);
		common.hi = set->all ? by->hi : Min(set->ranges->hi, by->hi);
		*set->ranges = common;
		set->n = common.lo <= common.hi;
	}
	set->all = false;
}

/* Keep of column c's fields what lies in n disjoint ranges too, which are in ascending order. */
static void
fields_intersect(GpbColumnSets *sets, int c, const GpbKeyRange *by, uint32 n)
{
	GpbFieldSet *set = &sets->column[c];
	GpbKeyRange *result;
	uint32		kept = 0;

	sets->narrowed = true;
	set->null = false;
	if (n <= 1 && set->n <= 1)
	{
		fields_intersect_one(sets, c, n == 0 ? NULL : by);
		return;
	}
	result = fields_alloc(sets, (set->all ? 0 : set->n) + n);
	if (set->all)
	{
		memcpy(result, by, sizeof(GpbKeyRange) * n);
		kept = n;
	}
	else
	{
		/* Each step uses up a range of one of the two. */
		for (uint32 i = 0, j = 0; i < set->n && j < n;)
		{
			GpbKeyRange common;

			common.lo = Max(set->ranges[i].lo, by[j].lo);
			common.hi = Min(set->ranges[i].hi, by[j].hi);

			if (common.lo <= common.hi)
				result[kept++] = common;
			if (set->ranges[i].hi < by[j].hi)
				i++;
			else
				j++;
		}
		fields_free(set);
	}
	set->all = false;
	set->n = kept;
	set->ranges = result;
}

/* Add a condition that no entry satisfies. */
static void
narrow_to_nothing(GpbColumnSets *sets, int c)
{
	fields_intersect(sets, c, NULL, 0);
}

/* gpb_column_narrow_null() for the only column of a key */
static void
narrow_lone_null(GpbColumnSets *sets, bool is_null)
{
	GpbFieldSet *set = &sets->column[0];
	GpbKeyRange fields = {0, gpb_key_most(sets->layout->key_width)};
	bool		null = is_null && (set->all || set->null);

	fields_intersect(sets, 0, &fields, is_null ? 0 : 1);
	set->null = null;
}

void
gpb_column_narrow_null(GpbColumnSets *sets, int c, bool is_null)
{
	GpbKeyColumn column;
	GpbKey		null;
	GpbKeyRange fields;

	if (sets->layout->nkeys == 0)
	{
		narrow_lone_null(sets, is_null);
		return;
	}
	column = sets->layout->key[c];
	null = gpb_null_field(column);
	fields = (GpbKeyRange) {0, gpb_field_ones(column.bits)};
	if (!gpb_column_has_null(column))
	{
		if (is_null)
			narrow_to_nothing(sets, c);
		return;
	}
	if (is_null)
		fields = (GpbKeyRange) {null, null};
	else if (column.flags & GPB_COLUMN_NULLS_FIRST)
		fields.lo = null + 1;
	else
		fields.hi = null - 1;
	fields_intersect(sets, c, &fields, 1);
}

void
gpb_column_sets_narrow(GpbColumnSets *sets, const GpbColumnSets *by)
{
	for (int c = 0; c < gpb_count_keys(sets->layout); c++)
	{
		const GpbFieldSet *set = &by->column[c];

		if (set->null)
			gpb_column_narrow_null(sets, c, true);
		else if (!set->all)
			fields_intersect(sets, c, set->ranges, set->n);
	}
}

/* Find the fields that satisfy "column OP value".  Returns false if there are none. */
static bool
fields_of_comparison(const GpbLoneColumn *lone, GpbComparison *comparison,
					 StrategyNumber strategy, Datum value, GpbKeyRange *fields)
{
	GpbRange	range = {GPB_BOUND_MIN, GPB_BOUND_MAX};

	gpb_comparison_narrow(&lone->layout, comparison, strategy, value, &range);
	return gpb_lone_fields(lone, &range, fields);
}

/* Find the field of a value that is_point says has a key.  Returns false if the column has none. */
static bool
field_of_point(const GpbLayout *layout, int c, const GpbComparison *comparison, Datum value,
			   GpbKeyRange *fields)
{
	GpbKeyColumn column = layout->key[c];
	int64		key;
	int64		least;
	int64		greatest;

	if (layout->nkeys == 0)
	{
		if (!gpb_comparison_key(layout, comparison, value, &fields->lo))
			return false;
		fields->hi = fields->lo;
		return true;
	}
	key = gpb_coding_key(comparison->coding, value);
	gpb_coding_key_limits(column.coding, &least, &greatest);
	if (key < least || key > greatest)
		return false;
	fields->lo = fields->hi = gpb_value_field(column, key);
	return true;
}

/* Look-ups of single keys come here for each column, so these do without the column's ranges. */
void
gpb_column_narrow(GpbColumnSets *sets, int c, GpbComparison *comparison,
				  StrategyNumber strategy, Datum value)
{
	GpbLoneColumn lone;
	GpbKeyRange fields;
	bool		some;

	if (strategy == BTEqualStrategyNumber && comparison->is_point)
	{
		some = field_of_point(sets->layout, c, comparison, value, &fields);
		fields_intersect(sets, c, &fields, some ? 1 : 0);
		return;
	}
	gpb_lone_column(sets->layout, c, &lone);
	some = fields_of_comparison(&lone, comparison, strategy, value, &fields);
	fields_intersect(sets, c, &fields, some ? 1 : 0);
}

/* Add "column = ANY (array)". */
static void
narrow_equal_any(GpbColumnSets *sets, int c, const GpbLoneColumn *lone,
				 GpbComparison *comparison, Datum array)
{
	GpbArrayKeys keys;
	GpbKeyRange *fields;
	uint32		n = 0;

	gpb_array_keys(&lone->layout, comparison, array, &keys);
	fields = fields_alloc(sets, keys.n);
	for (uint32 i = 0; i < keys.n; i++)
	{
		GpbKeyRange range;

		if (keys.points)
			range.lo = range.hi = keys.keys[i];
		else
			range = keys.ranges[i];
		n += gpb_fields_of_keys(lone, range, &fields[n]);
	}
	gpb_array_keys_free(&keys);
	fields_intersect(sets, c, fields, n);
	pfree(fields);
}

/* Add "column OP ANY (array)" for another operator.  The elements' ranges are nested. */
static void
narrow_unequal_any(GpbColumnSets *sets, int c, const GpbLoneColumn *lone,
				   GpbComparison *comparison, StrategyNumber strategy, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	GpbKeyRange all = {0, 0};
	bool		some = false;
	int16		length;
	bool		by_value;
	char		align;
	Datum	   *elements;
	bool	   *nulls;
	int			n;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		GpbKeyRange fields;

		if (nulls[i] ||
			!fields_of_comparison(lone, comparison, strategy, elements[i], &fields))
			continue;
		all.lo = some ? Min(all.lo, fields.lo) : fields.lo;
		all.hi = some ? Max(all.hi, fields.hi) : fields.hi;
		some = true;
		if ((i & 0xFFF) == 0xFFF)
			CHECK_FOR_INTERRUPTS();
	}
	pfree(elements);
	pfree(nulls);
	fields_intersect(sets, c, &all, some ? 1 : 0);
}

void
gpb_column_narrow_any(GpbColumnSets *sets, int c, GpbComparison *comparison,
					  StrategyNumber strategy, Datum array)
{
	GpbLoneColumn lone;

	gpb_lone_column(sets->layout, c, &lone);
	if (strategy == BTEqualStrategyNumber)
		narrow_equal_any(sets, c, &lone, comparison, array);
	else
		narrow_unequal_any(sets, c, &lone, comparison, strategy, array);
}

/* ---- ranges ---- */

/* What make_ranges() is making */
typedef struct GpbColumnProduct
{
	const GpbColumnSets *sets;
	GpbRangeSet *set;
	int			depth;			/* columns of which the product is made */
	int			bounded;		/* all ranges bound so many columns */
} GpbColumnProduct;

/*
 * The number of leading columns whose fields, combined from column "first" on, are not too many
 * ranges; and these.
 */
static int
product_depth(const GpbColumnSets *sets, int first, uint64 *n)
{
	int			depth = first;

	*n = 1;
	for (int c = first; c < sets->layout->nkeys && !sets->column[c].all; c++)
	{
		if (*n > 1 && sets->column[c].n > 1 && *n * sets->column[c].n > GPB_MAX_COLUMN_RANGES)
			break;
		*n *= sets->column[c].n;
		depth = c + 1;
	}
	return depth;
}

/* Add the closed range of keys, which begins after those that are there. */
static void
product_add(GpbRangeSet *set, int key_width, GpbKey lo, GpbKey hi)
{
	GpbRange   *last = &set->ranges[Max(set->count - 1, 0)];
	GpbBound	end = gpb_bound_behind(hi, key_width);

	if (set->count > 0 && last->hi.key == lo)
		last->hi = end;
	else
		set->ranges[set->count++] = (GpbRange) {{lo, 0}, end};
}

/* Make the ranges of the keys that have "prefix" in the columns before c. */
static void
make_ranges(GpbColumnProduct *product, int c, GpbKey prefix)
{
	const GpbFieldSet *fields = &product->sets->column[c];
	GpbKeyColumn column = product->sets->layout->key[c];

	for (uint32 i = 0; i < fields->n; i++)
	{
		GpbKey		lo = prefix | fields->ranges[i].lo << column.shift;
		GpbKey		hi = prefix | fields->ranges[i].hi << column.shift;

		if ((i & 0xFFF) == 0xFFF)
			CHECK_FOR_INTERRUPTS();
		if (c + 1 < product->depth && lo == hi)
		{
			make_ranges(product, c + 1, lo);
			continue;
		}
		product_add(product->set, product->sets->layout->key_width, lo,
					hi | gpb_field_ones(column.shift));
		product->bounded = Min(product->bounded, c + 1);
	}
}

/* Make the ranges of a key of one column. */
static void
make_lone_ranges(const GpbColumnSets *sets, GpbRangeSet *set)
{
	const GpbFieldSet *fields = &sets->column[0];
	const GpbLayout *layout = sets->layout;
	GpbRange	not_null = gpb_range_not_null(layout);

	gpb_ranges_reserve(set, (int) Max(fields->n, 1));
	if (fields->all)
		set->ranges[set->count++] = (GpbRange) {GPB_BOUND_MIN, GPB_BOUND_MAX};
	else if (fields->null)
		set->ranges[set->count++] = gpb_range_null(layout);
	for (uint32 i = 0; i < fields->n; i++)
	{
		GpbBound	lo = {fields->ranges[i].lo, 0};
		GpbBound	hi = gpb_bound_behind(fields->ranges[i].hi, layout->key_width);

		set->ranges[set->count].lo = gpb_bound_less(lo, not_null.lo) ? not_null.lo : lo;
		set->ranges[set->count++].hi = gpb_bound_less(not_null.hi, hi) ? not_null.hi : hi;
	}
}

void
gpb_column_ranges(GpbColumnSets *sets, GpbRangeSet *set)
{
	GpbColumnProduct product = {sets, set, 0, sets->layout->nkeys};
	uint64		n;

	sets->ntested = 0;
	set->count = 0;
	if (sets->layout->nkeys == 0)
	{
		make_lone_ranges(sets, set);
		return;
	}
	for (int c = 0; c < sets->layout->nkeys; c++)
	{
		if (!sets->column[c].all && sets->column[c].n == 0)
			return;
	}
	product.depth = product_depth(sets, 0, &n);
	gpb_ranges_reserve(set, (int) n);
	if (product.depth == 0)
	{
		product.bounded = 0;
		set->ranges[set->count++] = (GpbRange) {GPB_BOUND_MIN, GPB_BOUND_MAX};
	}
	else
		make_ranges(&product, 0, 0);
	for (int c = product.bounded; c < sets->layout->nkeys; c++)
	{
		if (!sets->column[c].all)
			sets->tested[sets->ntested++] = c;
	}
}

/* Make room for n ranges more. */
static void
add_room(GpbRangeSet *set, uint64 n)
{
	uint64		needed = (uint64) set->count + n;

	if (needed <= set->capacity)
		return;
	set->capacity = (int) Max(needed, 2 * (uint64) set->capacity);
	if (set->ranges == NULL)
		set->ranges = MemoryContextAllocHuge(CurrentMemoryContext,
											 set->capacity * sizeof(GpbRange));
	else
		set->ranges = repalloc_huge(set->ranges, set->capacity * sizeof(GpbRange));
}

bool
gpb_column_ranges_of_group(const GpbColumnSets *sets, int prefix, GpbKey group, uint32 most,
						   GpbRangeSet *set)
{
	GpbColumnProduct product = {sets, set, 0, sets->layout->nkeys};
	GpbKeyColumn column = sets->layout->key[prefix];
	uint64		n;

	product.depth = product_depth(sets, prefix, &n);
	if (set->count + n > Min(most, GPB_MAX_COLUMN_RANGES))
		return false;
	add_room(set, n);
	if (product.depth == prefix)
		product_add(set, sets->layout->key_width, group,
					group | gpb_field_ones(column.shift + column.bits));
	else
		make_ranges(&product, prefix, group);
	return true;
}

/* The number of the set's first range that does not end before the field */
static inline uint32
field_range(const GpbFieldSet *set, GpbKey field)
{
	uint32		low = 0;
	uint32		high = set->n;

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if (set->ranges[middle].hi < field)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Is the field in the set? */
static inline bool
field_passes(const GpbFieldSet *set, GpbKey field)
{
	uint32		i = field_range(set, field);

	return i < set->n && set->ranges[i].lo <= field;
}

bool
gpb_fields_pass(const GpbColumnSets *sets, GpbKey key)
{
	for (int i = 0; i < sets->ntested; i++)
	{
		int			c = sets->tested[i];

		if (!field_passes(&sets->column[c], gpb_key_field(sets->layout->key[c], key)))
			return false;
	}
	return true;
}

/* The key with this field in column c, and nothing but zeros in what comes behind */
static inline GpbKey
key_from_field(GpbKeyColumn column, GpbKey key, GpbKey field)
{
	return (key & ~gpb_field_ones(column.shift + column.bits)) | field << column.shift;
}

/*
 * Where a column has no field left that is great enough, the one before it takes the next field,
 * and the columns behind that begin anew.
 */
bool
gpb_fields_next(const GpbColumnSets *sets, int ncolumns, GpbKey *key)
{
	for (int c = 0; c < ncolumns; c++)
	{
		const GpbFieldSet *set = &sets->column[c];
		GpbKeyColumn column = sets->layout->key[c];
		GpbKey		field = gpb_key_field(column, *key);
		uint32		i = set->all ? 0 : field_range(set, field);

		if (set->all)
			continue;
		if (set->n == 0)
			return false;
		if (i < set->n)
		{
			if (set->ranges[i].lo > field)
				*key = key_from_field(column, *key, set->ranges[i].lo);
			continue;
		}
		do
		{
			if (c-- == 0)
				return false;
			column = sets->layout->key[c];
			field = gpb_key_field(column, *key);
		} while (field == gpb_field_ones(column.bits));
		*key = key_from_field(column, *key, field + 1);
		c--;					/* the next field may not be in the set */
	}
	return true;
}

/* The key with this field in column c, and nothing but ones in what comes behind */
static inline GpbKey
key_to_field(GpbKeyColumn column, GpbKey key, GpbKey field)
{
	return key_from_field(column, key, field) | gpb_field_ones(column.shift);
}

/* The mirror image of gpb_fields_next() */
bool
gpb_fields_previous(const GpbColumnSets *sets, int ncolumns, GpbKey *key)
{
	for (int c = 0; c < ncolumns; c++)
	{
		const GpbFieldSet *set = &sets->column[c];
		GpbKeyColumn column = sets->layout->key[c];
		GpbKey		field = gpb_key_field(column, *key);
		uint32		i;

		if (set->all)
			continue;
		if (set->n == 0)
			return false;
		/* the last range that begins at or before the field, if range 0 does */
		i = field_range(set, field);
		if (i == set->n || (i > 0 && set->ranges[i].lo > field))
			i--;
		if (set->ranges[i].lo <= field)
		{
			if (set->ranges[i].hi < field)
				*key = key_to_field(column, *key, set->ranges[i].hi);
			continue;
		}
		do
		{
			if (c-- == 0)
				return false;
			column = sets->layout->key[c];
			field = gpb_key_field(column, *key);
		} while (field == 0);
		*key = key_to_field(column, *key, field - 1);
		c--;					/* the field before may not be in the set */
	}
	return true;
}

/* ---- scan keys ---- */

/* Is a value of a column of this coding as good as its key, with no value equal to it beside it? */
static inline bool
has_points(GpbCoding coding)
{
	return gpb_coding_key_is_exact(coding) && !gpb_coding_is_numeric(coding) &&
		coding != GPB_CODING_TIMETZ;
}

/*
 * Find the one key that entries have if the scan keys are "column = value" for each key column in
 * turn, and the values are of the columns' own types.  Returns false if the scan keys are others,
 * or a value has no key.  Look-ups of single rows come here, and run all of this code once for a
 * statement, so what counts is how little code it is.
 */
static bool
point_of_keys(Relation index, const GpbLayout *layout, const ScanKeyData *keys, int nkeys,
			  GpbKey *point)
{
	if (nkeys != layout->nkeys)
		return false;
	*point = 0;
	for (int c = 0; c < nkeys; c++)
	{
		const ScanKeyData *key = &keys[c];
		GpbKeyColumn column = layout->key[c];
		int64		least;
		int64		greatest;
		int64		value;

		if (key->sk_attno != c + 1 || key->sk_flags != 0 ||
			key->sk_strategy != BTEqualStrategyNumber ||
			(OidIsValid(key->sk_subtype) && key->sk_subtype != index->rd_opcintype[c]) ||
			!has_points(column.coding))
			return false;
		value = gpb_coding_key(column.coding, key->sk_argument);
		gpb_coding_key_limits(column.coding, &least, &greatest);
		if (value < least || value > greatest)
			return false;
		*point |= gpb_value_field(column, value) << column.shift;
	}
	return true;
}

void
gpb_columns_from_keys(Relation index, ScanKey keys, int nkeys, GpbColumnSets *sets,
					  GpbRangeSet *set)
{
	GpbKey		point;

	if (point_of_keys(index, sets->layout, keys, nkeys, &point))
	{
		gpb_ranges_reserve(set, 1);
		set->ranges[0].lo = (GpbBound) {point, 0};
		set->ranges[0].hi = gpb_bound_behind(point, sets->layout->key_width);
		set->count = 1;
		return;
	}
	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];
		int			c = key->sk_attno - 1;
		GpbComparison comparison;

		if (key->sk_collation == GPB_ROW_NEXT)
			continue;			/* it makes no condition, but a bound (row_bound.h) */
		if (c < 0 || c >= sets->layout->nkeys || (key->sk_flags & SK_ROW_HEADER))
			elog(ERROR, "unexpected scan key on column %d of index \"%s\"",
				 key->sk_attno, RelationGetRelationName(index));
		if (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL))
			gpb_column_narrow_null(sets, c, (key->sk_flags & SK_SEARCHNULL) != 0);
		else if (key->sk_flags & SK_ISNULL)
			narrow_to_nothing(sets, c);
		else
		{
			gpb_column_comparison_init(index, c, key->sk_subtype, &comparison);
			if (key->sk_flags & SK_SEARCHARRAY)
				gpb_column_narrow_any(sets, c, &comparison, key->sk_strategy, key->sk_argument);
			else
				gpb_column_narrow(sets, c, &comparison, key->sk_strategy, key->sk_argument);
		}
	}
	gpb_column_ranges(sets, set);
}
