/*-------------------------------------------------------------------------
 *
 * key.c
 *	  Types: encoding and decoding of an index's columns, and conditions on the key as ranges of the
 *	  index's order.
 *
 * Everything else in the index wing compares integers only; this file is where
 * SQL values become those integers.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "key_columns.h"
#include "index/index.h"

#if !defined(USE_FLOAT8_BYVAL) || defined(WORDS_BIGENDIAN)
#error "gpubtree needs a 64-bit little-endian machine"
#endif

/* ---- values ---- */

/* A wide key as an index has it that is descending; and back */
static inline GpbKey
turned_key(const GpbLayout *layout, GpbKey key)
{
	return (layout->flags & GPB_LAYOUT_DESC) ? ~key : key;
}

GpbKey
gpb_datum_key(const GpbLayout *layout, Datum value)
{
	if (gpb_coding_key_is_wide(layout->key_coding))
		return turned_key(layout, gpb_wide_key(layout->key_coding, value));
	return gpb_key_encode(gpb_coding_key(layout->key_coding, value),
						  layout->key_width, layout->flags);
}

Datum
gpb_key_datum(const GpbLayout *layout, GpbKey key)
{
	if (gpb_coding_key_is_wide(layout->key_coding))
		return gpb_wide_key_datum(layout->key_coding, turned_key(layout, key));
	return gpb_coding_key_datum(layout->key_coding,
								gpb_key_value((uint64) key, layout->key_width, layout->flags));
}

void
gpb_clip_to_type(const GpbLayout *layout, GpbKeyRange *keys)
{
	int64		least;
	int64		greatest;
	GpbKey		a;
	GpbKey		b;

	if (layout->key_coding == GPB_CODING_UUID)
		return;					/* each key is some value's */
	if (gpb_coding_is_wide_numeric(layout->key_coding))
	{
		a = turned_key(layout, gpb_wide_numeric_key(1 - GPB_WIDE_NUMERIC_BEYOND));
		b = turned_key(layout, gpb_wide_numeric_key(GPB_WIDE_NUMERIC_NAN));
	}
	else
	{
		gpb_coding_key_limits(layout->key_coding, &least, &greatest);
		a = gpb_key_encode(least, layout->key_width, layout->flags);
		b = gpb_key_encode(greatest, layout->key_width, layout->flags);
	}
	keys->lo = Max(keys->lo, Min(a, b));
	keys->hi = Min(keys->hi, Max(a, b));
}

int
gpb_column_without_null_code(const GpbLayout *layout, const bool *isnull)
{
	for (int c = 0; c < layout->nkeys; c++)
	{
		if (isnull[c] && !gpb_column_has_null(layout->key[c]))
			return c;
	}
	return -1;
}

void
gpb_require_null_codes(Relation index, const GpbLayout *layout, const bool *isnull)
{
	int			c = gpb_column_without_null_code(layout, isnull);

	if (c >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("null value in column \"%s\", for which index \"%s\" has no code",
						NameStr(TupleDescAttr(RelationGetDescr(index), c)->attname),
						RelationGetRelationName(index)),
				 errdetail("When the index was built the column was NOT NULL, or the index's predicate "
						   "ruled NULL out."),
				 errhint("REINDEX the index.  If its key has no room for NULL, drop it, or make one "
						 "with a predicate that rules NULL out.")));
}

/* Make the key of an index with several key columns, each of which has a code for its value. */
static GpbKey
columns_key(const GpbLayout *layout, const Datum *values, const bool *isnull)
{
	GpbKey		key = 0;

	for (int c = 0; c < layout->nkeys; c++)
	{
		GpbKeyColumn column = layout->key[c];
		GpbKey		field = isnull[c] ? gpb_null_field(column) :
			gpb_value_field(column, gpb_coding_key(column.coding, values[c]));

		key |= field << column.shift;
	}
	return key;
}

void
gpb_entry_form(const GpbLayout *layout, const Datum *values,
			   const bool *isnull, ItemPointer tid, GpbEntry *entry)
{
	bool		nulls_first = (layout->flags & GPB_LAYOUT_NULLS_FIRST) != 0;
	int			nkeys = gpb_count_keys(layout);
	uint64		locator;

	locator = (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
	if (layout->nkeys == 0 && isnull[0] != nulls_first)
		locator |= GPB_LOC_ORDER_BIT;

	if (layout->nkeys > 0)
		entry->key = columns_key(layout, values, isnull);
	else if (!isnull[0])
		entry->key = gpb_datum_key(layout, values[0]);
	else if (nulls_first)
		entry->key = 0;
	else
		entry->key = gpb_key_most(layout->key_width);

	/* Padding and NULL columns are zero, so that equal entries have equal bytes. */
	memset(entry->row, 0, layout->row_width);
	for (int c = 0; c < layout->ncolumns; c++)
	{
		int64		value;

		if (isnull[c + nkeys])
		{
			locator |= (uint64) 1 << (GPB_LOC_NULL_SHIFT + c);
			continue;
		}
		/* Integers are little-endian, so the low bytes come first whatever the width. */
		if (!gpb_coding_has_words(layout->coding[c]))
		{
			gpb_row_store(layout->coding[c], values[c + nkeys], entry->row + layout->offset[c]);
			continue;
		}
		value = gpb_coding_word(layout->coding[c], values[c + nkeys]);
		memcpy(entry->row + layout->offset[c], &value, gpb_coding_row_width(layout->coding[c]));
	}
	memcpy(entry->row, &locator, GPB_LOCATOR_WIDTH);
}

Datum
gpb_entry_datum(const GpbLayout *layout, GpbKey key, const char *row,
				int attno, bool *isnull)
{
	uint64		locator = gpb_row_locator(row);
	int			c = attno - 1 - gpb_count_keys(layout);

	if (c < 0 && layout->nkeys > 0)
	{
		*isnull = gpb_key_column_is_null(layout, attno - 1, key);
		if (*isnull)
			return (Datum) 0;
		return gpb_coding_key_datum(layout->key[attno - 1].coding,
									gpb_key_column_value(layout, attno - 1, key));
	}
	if (c < 0)
	{
		*isnull = gpb_locator_is_null(locator, layout->flags);
		if (*isnull)
			return (Datum) 0;
		return gpb_key_datum(layout, key);
	}
	*isnull = gpb_locator_column_is_null(locator, c);
	if (*isnull)
		return (Datum) 0;
	if (!gpb_coding_has_words(layout->coding[c]))
		return gpb_row_datum(layout->coding[c], row + layout->offset[c]);
	return gpb_coding_datum(layout->coding[c],
							gpb_row_value(row, layout->offset[c], layout->kind[c]));
}

const char *
gpb_columns_fault(const GpbLayout *layout, GpbKey key)
{
	int			bits = layout->key[0].shift + layout->key[0].bits;

	if ((key & ~gpb_field_ones(bits)) != 0)
		return "a key has more bits than its columns";
	for (int c = 0; c < layout->nkeys; c++)
	{
		GpbKeyColumn column = layout->key[c];
		GpbKey		field = gpb_key_field(column, key);

		if (!gpb_field_is_null(column, field) &&
			(gpb_code_field(column, gpb_field_code(column, field), true) != field ||
			 ((column.flags & GPB_COLUMN_NAN) &&
			  !gpb_numeric_has_digits(gpb_field_value(column, field),
									  gpb_column_digits(layout, c)))))
			return "a column of a key is neither a value nor null";
	}
	return NULL;
}

/* ---- ranges ---- */

/* Leave out what is below the bound. */
static inline void
range_begin_at(GpbRange *range, GpbBound lo)
{
	if (gpb_bound_less(range->lo, lo))
		range->lo = lo;
}

/* Leave out what is not below the bound. */
static inline void
range_end_at(GpbRange *range, GpbBound hi)
{
	if (gpb_bound_less(hi, range->hi))
		range->hi = hi;
}

/* The bound at which NULL keys and the others meet. */
static GpbBound
null_boundary(const GpbLayout *layout)
{
	GpbBound	bound;

	bound.tie = GPB_LOC_ORDER_BIT;
	if (layout->flags & GPB_LAYOUT_NULLS_FIRST)
		bound.key = 0;
	else
		bound.key = gpb_key_most(layout->key_width);
	return bound;
}

GpbRange
gpb_range_not_null(const GpbLayout *layout)
{
	GpbRange	range = {GPB_BOUND_MIN, GPB_BOUND_MAX};

	if (layout->flags & GPB_LAYOUT_NULLS_FIRST)
		range.lo = null_boundary(layout);
	else
		range.hi = null_boundary(layout);
	return range;
}

GpbRange
gpb_range_null(const GpbLayout *layout)
{
	GpbRange	range = {GPB_BOUND_MIN, GPB_BOUND_MAX};

	if (layout->flags & GPB_LAYOUT_NULLS_FIRST)
		range.hi = null_boundary(layout);
	else
		range.lo = null_boundary(layout);
	return range;
}

/* With NULLS LAST the greatest key has the same bits as NULL keys; see layout.h. */
bool
gpb_closed_range(const GpbLayout *layout, const GpbRange *range, GpbKeyRange *keys)
{
	GpbKey		most = gpb_key_most(layout->key_width);

	if (!gpb_bound_less(range->lo, range->hi))
		return false;
	keys->lo = range->lo.key;
	keys->hi = range->hi.key;
	if (range->hi.tie == 0)
	{
		if (keys->hi == 0)
			return false;
		keys->hi--;
	}
	keys->hi = Min(keys->hi, most);
	return keys->lo <= keys->hi;
}

/*
 * A cut of the key type's values: into those below "value" and those at or above it.  With "beyond"
 * set every value is below.
 */
typedef struct GpbCut
{
	int64		value;
	bool		beyond;
} GpbCut;

/* Find the bound in the index's order at which the two sides of a cut meet. */
static GpbBound
cut_bound(const GpbLayout *layout, GpbCut cut)
{
	bool		desc = (layout->flags & GPB_LAYOUT_DESC) != 0;
	GpbBound	bound;

	if (cut.beyond)
		return desc ? GPB_BOUND_MIN : GPB_BOUND_MAX;
	bound.key = gpb_key_encode(cut.value, layout->key_width, layout->flags);
	bound.tie = 0;
	if (desc)
	{
		/*
		 * The values at or above come first in the index, so the cut is after the value's entries.
		 */
		bound = gpb_bound_behind(bound.key, layout->key_width);
	}
	return bound;
}

/* Make the cuts before and after a plain integer, which may lie outside the key's type. */
static void
integer_cuts(const GpbLayout *layout, int64 value,
			 GpbCut *before, GpbCut *after)
{
	int64		min = layout->key_width == 8 ? PG_INT64_MIN : PG_INT32_MIN;
	int64		max = layout->key_width == 8 ? PG_INT64_MAX : PG_INT32_MAX;

	before->beyond = value > max;
	before->value = Max(value, min);
	after->beyond = value >= max;
	after->value = value < min ? min : value + (value < max);
}

/*
 * Dates and timestamps are searched by ordinal: 0 is -infinity, then comes every finite value of
 * the type, then infinity.  Integers outside these are no values of the type, and comparing them
 * would overflow.
 */
static uint64
datetime_last(const GpbLayout *layout)
{
	if (layout->key_width == 8)
		return (uint64) (END_TIMESTAMP - 1) - (uint64) MIN_TIMESTAMP + 2;
	return (uint64) (DATE_END_JULIAN - 1 - DATETIME_MIN_JULIAN) + 2;
}

/* The value with this ordinal. */
static int64
datetime_value(const GpbLayout *layout, uint64 ordinal)
{
	if (ordinal == 0)
		return layout->key_width == 8 ? DT_NOBEGIN : DATEVAL_NOBEGIN;
	if (ordinal == datetime_last(layout))
		return layout->key_width == 8 ? DT_NOEND : DATEVAL_NOEND;
	if (layout->key_width == 8)
		return (int64) ((uint64) MIN_TIMESTAMP + (ordinal - 1));
	return (int64) (DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE) +
		(int64) (ordinal - 1);
}

/* Compare the value with this ordinal with a value of the comparison's type. */
static int
datetime_compare(const GpbLayout *layout, GpbComparison *comparison,
				 uint64 ordinal, Datum value)
{
	Datum		key = gpb_coding_key_datum(layout->key_coding, datetime_value(layout, ordinal));

	return DatumGetInt32(FunctionCall2(&comparison->procedure, key, value));
}

/*
 * Find the first ordinal in [low, high) that is not below the value, or, with beyond_equal, is
 * above it.  Returns high if there is none.
 */
static uint64
datetime_search(const GpbLayout *layout, GpbComparison *comparison,
				Datum value, bool beyond_equal, uint64 low, uint64 high)
{
	while (low < high)
	{
		uint64		middle = low + (high - low) / 2;
		int			order = datetime_compare(layout, comparison,
											 middle, value);

		if (order < 0 || (order == 0 && beyond_equal))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Make the cuts before and after a value of another date or time type.  The operator family's own
 * comparison decides, so infinities, values that overflow on conversion and the session's time zone
 * mean what they mean to core.
 */
static void
datetime_cuts(const GpbLayout *layout, GpbComparison *comparison,
			  Datum value, GpbCut *before, GpbCut *after)
{
	uint64		end = datetime_last(layout) + 1;
	uint64		first;
	uint64		step = 1;
	uint64		low;

	first = datetime_search(layout, comparison, value, false, 0, end);
	before->beyond = first == end;
	before->value = before->beyond ? 0 : datetime_value(layout, first);

	/* Few keys equal one value, so look for their end in growing steps. */
	low = first;
	while (step < end - low &&
		   datetime_compare(layout, comparison, low + step - 1, value) <= 0)
	{
		low += step;
		step *= 2;
	}
	low = datetime_search(layout, comparison, value, true, low,
						  low + Min(step, end - low));
	after->beyond = low == end;
	after->value = after->beyond ? 0 : datetime_value(layout, low);
}

/*
 * Make the cuts before and after a float, which may be of another width than the key.  The number
 * is rounded to the key's type, which leaves it at one of the two keys that it lies between, and
 * all keys of zeros, and all of NaNs, are on one side of a cut.
 */
static void
float_cuts(const GpbLayout *layout, GpbCoding coding, Datum value, GpbCut *before, GpbCut *after)
{
	bool		narrow = layout->key_coding == GPB_CODING_FLOAT4;
	float8		wanted = coding == GPB_CODING_FLOAT4 ? (float8) DatumGetFloat4(value) :
		DatumGetFloat8(value);
	float8		rounded = narrow ? (float8) (float4) wanted : wanted;
	GpbCoding	key_coding = layout->key_coding;
	int64		key;

	before->beyond = after->beyond = false;
	if (isnan(wanted))
	{
		before->value = 1 + (narrow ?
							 gpb_coding_key(key_coding, Float4GetDatum(get_float4_infinity())) :
							 gpb_coding_key(key_coding, Float8GetDatum(get_float8_infinity())));
		after->beyond = true;
		after->value = 0;
		return;
	}
	if (rounded == 0)
		rounded = 0;			/* not -0, whose key is the one before */
	key = gpb_coding_key(key_coding, narrow ? Float4GetDatum((float4) rounded) :
						 Float8GetDatum(rounded));
	before->value = rounded < wanted ? key + 1 : rounded == 0 ? key - 1 : key;
	after->value = rounded <= wanted ? key + 1 : before->value;
}

/*
 * Make the cuts before and after a numeric, which may have digits that no key has, or be beyond all
 * keys, below or above.
 */
static void
numeric_cuts(const GpbLayout *layout, Datum value, GpbCut *before, GpbCut *after)
{
	bool		equal;

	before->beyond = after->beyond = false;
	before->value = gpb_numeric_ceiling(value, gpb_coding_scale(layout->key_coding), &equal);
	after->value = before->value;
	if (equal && before->value == GPB_NUMERIC_NAN)
		after->beyond = true;
	else if (equal)
		after->value++;
}

/* Make the cuts before and after a timetz, whose zone may be one that no key has. */
static void
timetz_cuts(Datum value, GpbCut *before, GpbCut *after)
{
	int32		zone;
	int64		utc = gpb_timetz_utc(value, &zone);
	bool		fits = gpb_timetz_fits(utc, zone);

	before->beyond = utc >= GPB_TIMETZ_MOST_UTC;
	if (fits)
		before->value = gpb_timetz_key(utc, zone);
	else if (utc < -GPB_TIMETZ_MOST_UTC)
		before->value = PG_INT64_MIN;
	else
	{
		/* It lies before all zones of its time, or behind them. */
		utc += zone > 0;
		before->beyond = utc >= GPB_TIMETZ_MOST_UTC;
		before->value = before->beyond ? 0 : utc * GPB_TIMETZ_ZONES;
	}
	*after = *before;
	if (fits)
	{
		after->beyond = before->value == PG_INT64_MAX;
		after->value += !after->beyond;
	}
}

/*
 * Find the bounds before and after a value that is compared with wide keys, in the order of values:
 * of a descending index the bound before it is behind its entries.  A numeric may lie between keys.
 */
static void
wide_bounds(const GpbLayout *layout, Datum value, GpbBound *before, GpbBound *after)
{
	GpbCoding	coding = layout->key_coding;
	bool		desc = (layout->flags & GPB_LAYOUT_DESC) != 0;
	bool		equal = true;
	GpbKey		key;
	GpbBound	first;
	GpbBound	last;

	if (gpb_coding_is_wide_numeric(coding))
		key = gpb_wide_numeric_key(gpb_wide_numeric_ceiling(value, gpb_coding_scale(coding),
															&equal));
	else
		key = gpb_wide_key(coding, value);
	key = turned_key(layout, key);
	first = (GpbBound) {key, 0};
	last = gpb_bound_behind(key, layout->key_width);
	*before = desc ? last : first;
	*after = desc == equal ? first : last;
}

/*
 * Prepare to compare keys of the index with values of a type, which is any member of the key's
 * operator family, or InvalidOid for the key's own type.
 */
void
gpb_comparison_init(Relation index, Oid type, GpbComparison *comparison)
{
	gpb_column_comparison_init(index, 0, type, comparison);
}

void
gpb_column_comparison_init(Relation index, int c, Oid type, GpbComparison *comparison)
{
	Oid			key_type = index->rd_opcintype[c];
	Oid			family = index->rd_opfamily[c];
	Oid			procedure;

	if (key_type == NUMERICOID || key_type == TIMETZOID)
	{
		/* A value with more digits than the keys, or a zone that they do not have, equals none. */
		comparison->coding = gpb_column_coding(gpb_layout(index), c);
		comparison->is_point = false;
		return;
	}
	comparison->coding = gpb_held_type_coding(OidIsValid(type) ? type : key_type);
	comparison->is_point = gpb_coding_key_is_exact(comparison->coding);
	if (!OidIsValid(type) || type == key_type || type == INT2OID || type == INT4OID ||
		type == INT8OID || !comparison->is_point)
		return;
	comparison->coding = GPB_CODING_NONE;
	comparison->is_point = false;

	procedure = get_opfamily_proc(family, key_type, type, GPB_COMPARE_PROC);
	if (!OidIsValid(procedure))
		elog(ERROR, "missing support function %d(%u,%u) in operator family %u of index \"%s\"",
			 GPB_COMPARE_PROC, key_type, type, family,
			 RelationGetRelationName(index));
	fmgr_info(procedure, &comparison->procedure);
}

/*
 * Find the bounds before and after a value of the comparison's type, in the order of values: of a
 * descending index the bound before it is behind its entries.
 */
static inline void
word_bounds(const GpbLayout *layout, GpbComparison *comparison, Datum value, GpbBound *before,
			GpbBound *after)
{
	GpbCut		cut_before;
	GpbCut		cut_after;

	if (comparison->is_point)
		integer_cuts(layout, gpb_coding_key(comparison->coding, value), &cut_before, &cut_after);
	else if (gpb_coding_is_numeric(comparison->coding))
		numeric_cuts(layout, value, &cut_before, &cut_after);
	else if (comparison->coding == GPB_CODING_TIMETZ)
		timetz_cuts(value, &cut_before, &cut_after);
	else if (comparison->coding != GPB_CODING_NONE)
		float_cuts(layout, comparison->coding, value, &cut_before, &cut_after);
	else
		datetime_cuts(layout, comparison, value, &cut_before, &cut_after);
	*before = cut_bound(layout, cut_before);
	*after = cut_bound(layout, cut_after);
}

bool
gpb_comparison_key(const GpbLayout *layout, const GpbComparison *comparison, Datum value,
				   GpbKey *key)
{
	int64		word;

	Assert(comparison->is_point);
	if (gpb_coding_key_is_wide(comparison->coding))
	{
		*key = turned_key(layout, gpb_wide_key(comparison->coding, value));
		return true;
	}
	if (comparison->coding == GPB_CODING_INT8)
		word = DatumGetInt64(value);
	else if (comparison->coding == GPB_CODING_INT4)
		word = DatumGetInt32(value);
	else
		word = gpb_coding_key(comparison->coding, value);
	if (layout->key_width == 4 && word != (int32) word)
		return false;
	*key = gpb_key_encode(word, layout->key_width, layout->flags);
	return true;
}

void
gpb_comparison_narrow(const GpbLayout *layout, GpbComparison *comparison,
					  StrategyNumber strategy, Datum value, GpbRange *range)
{
	GpbRange	not_null = gpb_range_not_null(layout);
	GpbBound	before;			/* in the order of values, not that of the index */
	GpbBound	after;

	if (gpb_coding_key_is_wide(comparison->coding))
		wide_bounds(layout, value, &before, &after);
	else
		word_bounds(layout, comparison, value, &before, &after);

	/* A descending index has the greater values first. */
	if (layout->flags & GPB_LAYOUT_DESC)
	{
		GpbBound	swap = before;

		before = after;
		after = swap;
		strategy = BTCommuteStrategyNumber(strategy);
	}

	range_begin_at(range, not_null.lo);
	range_end_at(range, not_null.hi);
	switch (strategy)
	{
		case BTLessStrategyNumber:
			range_end_at(range, before);
			break;
		case BTLessEqualStrategyNumber:
			range_end_at(range, after);
			break;
		case BTEqualStrategyNumber:
			range_begin_at(range, before);
			range_end_at(range, after);
			break;
		case BTGreaterEqualStrategyNumber:
			range_begin_at(range, before);
			break;
		case BTGreaterStrategyNumber:
			range_begin_at(range, after);
			break;
		default:
			elog(ERROR, "unrecognized strategy number: %d", strategy);
	}
}

void
gpb_range_narrow(Relation index, const GpbLayout *layout,
				 StrategyNumber strategy, Oid type, Datum value,
				 GpbRange *range)
{
	GpbComparison comparison;

	gpb_comparison_init(index, type, &comparison);
	gpb_comparison_narrow(layout, &comparison, strategy, value, range);
}
