/*-------------------------------------------------------------------------
 *
 * key_interval.c
 *	  Which keys satisfy a condition on a function of the key.
 *
 * A function is a chain of steps, each of which rises: quotients by a positive divisor, dates of
 * timestamps, date_trunc(), date_bin(), years, epochs.  So does the chain, and the first key whose
 * result is at or above a value is found by halving.
 *
 * Steps with a time zone rise but where an offset of the zone changes, and only the first step may
 * have one, so that these moments are keys.  (One more may follow date_trunc() of days and more in
 * the same zone, whose results are local midnights, and rise whatever the offset is.)  Offsets are
 * within 168 hours of UTC (that is what POSIX specifications may say).  So results of two keys that
 * are four weeks apart are in order, and all keys at which the condition changes its mind lie
 * within four weeks of any one of them; there each piece between two changes is looked at.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "exec/functions/key_steps.h"
#include "exec/functions/zone.h"
#include "program/program_steps.h"
#include "page/page.h"

/* ---- values ---- */

/*
 * What results are compared with: those at or above the value are the ones at or above "ceiling",
 * those above it the ones above "floor".  "nothing": none is at or above it; "all": all are above
 * it.
 */
typedef struct GpbKeyValue
{
	int64		floor;
	int64		ceiling;
	bool		nothing;
	bool		all;
} GpbKeyValue;

static GpbKeyValue
whole_value(int64 word)
{
	return (GpbKeyValue) {word, word, false};
}

/* A finite value beyond all words, which is not infinite */
static GpbKeyValue
value_beyond(bool above)
{
	if (above)
		return (GpbKeyValue) {PG_INT64_MAX - 1, PG_INT64_MAX, false};
	return (GpbKeyValue) {PG_INT64_MIN, PG_INT64_MIN + 1, false};
}

/* Above and below all results, infinite ones too; NaN is above infinity. */
static const GpbKeyValue above_all = {PG_INT64_MAX, PG_INT64_MAX, true, false};
static const GpbKeyValue below_all = {PG_INT64_MIN, PG_INT64_MIN, false, true};

/* A number beyond the words of results, which may be infinite unless they are integers */
static GpbKeyValue
numeric_beyond(Numeric value, bool integers)
{
	bool		above = DatumGetBool(DirectFunctionCall2(numeric_gt, NumericGetDatum(value),
														 NumericGetDatum(int64_to_numeric(0))));

	if (integers)
		return above ? above_all : below_all;
	if (numeric_is_inf(value))
		return whole_value(above ? PG_INT64_MAX : PG_INT64_MIN);
	return value_beyond(above);
}

static GpbKeyValue
numeric_value(const GpbKeyFunction *function, Numeric value, bool integers)
{
	Datum		scaled = NumericGetDatum(value);
	Datum		most = NumericGetDatum(int64_to_numeric(PG_INT64_MAX - !integers));
	Datum		least = NumericGetDatum(int64_to_numeric(PG_INT64_MIN + !integers));
	int			i;

	if (numeric_is_nan(value))
		return above_all;
	if (numeric_is_inf(value))
		return numeric_beyond(value, integers);
	for (i = 0; i < function->decimals; i++)
		scaled = DirectFunctionCall2(numeric_mul, scaled, NumericGetDatum(int64_to_numeric(10)));
	scaled = DirectFunctionCall2(numeric_sub, scaled,
								 NumericGetDatum(int64_to_numeric(function->origin)));
	if (DatumGetBool(DirectFunctionCall2(numeric_gt, scaled, most)) ||
		DatumGetBool(DirectFunctionCall2(numeric_lt, scaled, least)))
		return numeric_beyond(value, integers);
	return (GpbKeyValue) {
		DatumGetInt64(DirectFunctionCall1(numeric_int8,
										  DirectFunctionCall1(numeric_floor, scaled))),
		DatumGetInt64(DirectFunctionCall1(numeric_int8,
										  DirectFunctionCall1(numeric_ceil, scaled))),
		false
	};
}

/* Results of type float8 are small integers, or infinite if they are years. */
static GpbKeyValue
float_value(double value)
{
	if (isnan(value))
		return above_all;
	if (isinf(value))
		return whole_value(value > 0 ? PG_INT64_MAX : PG_INT64_MIN);
	if (fabs(value) >= 1e18)
		return value_beyond(value > 0);
	return (GpbKeyValue) {(int64) floor(value), (int64) ceil(value), false};
}

static GpbKeyValue
key_value(const GpbKeyFunction *function, Datum value)
{
	GpbKeyStep	midnight = {.op = GPB_KEY_TO_MIDNIGHT};

	if (function->value_type == NUMERICOID)
		return numeric_value(function, DatumGetNumeric(value),
							 function->key_type == INT2OID || function->key_type == INT4OID ||
							 function->key_type == INT8OID);
	if (function->value_type == FLOAT8OID)
		return float_value(DatumGetFloat8(value));
	if (function->value_type == DATEOID && function->result_type == TIMESTAMPOID)
		return whole_value(gpb_key_step(&midnight, NULL, DatumGetDateADT(value)));
	return whole_value(gpb_coding_word(gpb_core_type_coding(function->value_type), value));
}

/* ---- cuts ---- */

/* The condition "result >= value" or, if above, "result > value", in an execution */
typedef struct GpbKeyCut
{
	const GpbKeyFunction *function;
	pg_tz	   *zone[GPB_KEY_MOST_STEPS];
	int64		value;
	bool		above;
} GpbKeyCut;

/* Does a key satisfy it? */
static bool
satisfies(const GpbKeyCut *cut, int64 key)
{
	int			i;

	for (i = 0; i < cut->function->nsteps; i++)
		key = gpb_key_step(&cut->function->step[i], cut->zone[i], key);
	return cut->above ? key > cut->value : key >= cut->value;
}

/* A key from "least" on that satisfies it, where the one before does not.  "greatest" satisfies. */
static int64
first_key(const GpbKeyCut *cut, int64 least, int64 greatest)
{
	while (least < greatest)
	{
		int64		middle = least + (int64) (((uint64) greatest - (uint64) least) / 2);

		if (satisfies(cut, middle))
			greatest = middle;
		else
			least = middle + 1;
	}
	return least;
}

/* The keys within which results are not in order, around one at which the condition changes */
#define GPB_KEY_UNCERTAIN	(28 * USECS_PER_DAY)

/*
 * Find the first key that satisfies it, and the first from which on all do, around a key where that
 * changes.  An offset that changes by more than a day, as a POSIX specification may say, leaves all
 * uncertain.
 */
static void
look_around(const GpbKeyCut *cut, int64 key, int64 *first, int64 *all)
{
	int64		begin = gpb_key_in_range((int128) key - GPB_KEY_UNCERTAIN);
	int64		last = gpb_key_in_range((int128) key + GPB_KEY_UNCERTAIN);
	TimestampTz *changes;
	int			n = gpb_zone_changes(cut->zone[0], begin, last, &changes);
	bool		found = false;
	int			i;

	*first = begin;
	*all = last;
	for (i = 0; i < n; i++)
	{
		if (Abs(gpb_zone_offset(cut->zone[0], changes[i]) -
				gpb_zone_offset(cut->zone[0], changes[i] - 1)) > USECS_PER_DAY)
			return;
	}
	for (i = 0; i <= n; i++)
	{
		int64		end = i < n ? changes[i] - 1 : last;
		int64		from;

		if (!satisfies(cut, end))
			*all = end + 1;
		else
		{
			from = first_key(cut, begin, end);
			if (!found)
				*first = from;
			if (!found || from > begin)
				*all = from;
			found = true;
		}
		begin = end + 1;
	}
	pfree(changes);
}

/*
 * Find the first key that satisfies it, and the first from which on all do; false if there is none.
 */
static bool
find_cut(const GpbKeyCut *cut, int64 *first, int64 *all)
{
	const GpbKeyFunction *function = cut->function;

	if (!satisfies(cut, function->greatest))
		return false;
	*first = *all = first_key(cut, function->least, function->greatest);
	if (function->has_zone && *first > function->least && *first < function->greatest)
		look_around(cut, *first, first, all);
	return true;
}

/*
 * Set the zones as they are now; false if the name of one has come to mean an abbreviation whose
 * offset changes with time.
 */
static bool
set_zones(GpbKeyCut *cut)
{
	int			i;

	for (i = 0; i < cut->function->nsteps; i++)
	{
		const text *name = cut->function->step[i].zone;

		cut->zone[i] = name == NULL ? session_timezone : gpb_zone_by_name(name);
		if (cut->zone[i] == NULL)
			return false;
	}
	return true;
}

static const GpbKeyInterval no_keys = {1, 0, false};

/* Take the keys below those of a condition "result >= value" or "result > value" away. */
static void
begin_at(GpbKeyCut *cut, const GpbKeyValue *value, bool above, GpbKeyInterval *keys)
{
	int64		all;

	cut->above = above;
	cut->value = above ? value->floor : value->ceiling;
	if (value->all)
		return;
	if ((value->nothing && !above) || !find_cut(cut, &keys->least, &all))
		*keys = no_keys;
	else
		keys->lossy |= keys->least != all;
}

/* Take the keys away from which on all satisfy such a condition. */
static void
end_before(GpbKeyCut *cut, const GpbKeyValue *value, bool above, GpbKeyInterval *keys)
{
	int64		first;
	int64		all;

	cut->above = above;
	cut->value = above ? value->floor : value->ceiling;
	if (!value->all && (value->nothing || !find_cut(cut, &first, &all)))
		return;
	if (value->all || all == cut->function->least)
		*keys = no_keys;
	else
	{
		keys->greatest = all - 1;
		keys->lossy |= first != all;
	}
}

GpbKeyInterval
gpb_key_function_interval(const GpbKeyFunction *function, Datum datum)
{
	GpbKeyValue value = key_value(function, datum);
	GpbKeyInterval keys = {function->least, function->greatest, false};
	GpbKeyCut	cut = {.function = function};

	if (!set_zones(&cut))
	{
		keys.lossy = true;
		return keys;
	}
	switch (function->strategy)
	{
		case BTGreaterEqualStrategyNumber:
		case BTGreaterStrategyNumber:
			begin_at(&cut, &value, function->strategy == BTGreaterStrategyNumber, &keys);
			break;
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			end_before(&cut, &value, function->strategy == BTLessEqualStrategyNumber, &keys);
			break;
		default:
			begin_at(&cut, &value, false, &keys);
			if (keys.least <= keys.greatest)
				end_before(&cut, &value, true, &keys);
			break;
	}
	return keys;
}
