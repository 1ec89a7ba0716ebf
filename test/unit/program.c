/*-------------------------------------------------------------------------
 *
 * program.c
 *	  Tests of programs on the CPU: each operator, whole programs, groups.
 *
 * Operators are compared with what this file computes in another way: wider integers, a table of
 * the days on which years begin, comparisons of numbers one by one.  Programs are compared with
 * their entries taken one by one.  All is done with each form of the loops that this CPU has.
 *
 * usage: program_test [seed]; ends with "N passed, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "narrow_scatter.h"
#include "program_entries.h"
#include "program_terms.h"
#include "verdict.h"

#define LENGTH(array) ((int) (sizeof(array) / sizeof((array)[0])))

static uint64 state;

/* xorshift64* */
static uint64
next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545F4914F6CDD1DUL;
}

/* In [0, n) */
static int
below(int n)
{
	return (int) (next_random() % (uint64) n);
}

static void
verdict_of_form(bool ok, const char *what)
{
	char		named[200];

	snprintf(named, sizeof(named), "%s, %s", gpb_strip_name(), what);
	verdict(ok, named);
}

/* ---- operators by other means ---- */

/* A result, and whether the operator faulted */
typedef struct Result
{
	int64		word;
	bool		is_null;
	bool		fault;
} Result;

static Result
null_result(void)
{
	return (Result) {0, true, false};
}

/* A number that must be in [least, most] */
static Result
number(__int128 value, int64 least, int64 most)
{
	if (value < least || value > most)
		return (Result) {0, false, true};
	return (Result) {(int64) value, false, false};
}

static Result
truth(bool value)
{
	return (Result) {value, false, false};
}

static Result
any_number(__int128 value)
{
	return number(value, GPB_INT64_MIN, GPB_INT64_MAX);
}

static double
as_float(int64 word)
{
	double		value;

	memcpy(&value, &word, sizeof(value));
	return value;
}

/* A float that an operator gave, which faults if it overflowed or underflowed where it may not. */
static Result
float_result(double value, bool may_overflow, bool may_underflow)
{
	Result		result = {0, false, false};

	memcpy(&result.word, &value, sizeof(value));
	result.fault = (isinf(value) && !may_overflow) || (value == 0 && !may_underflow);
	return result;
}

/* -1, 0, 1 as PostgreSQL orders floats: NaN last and equal to itself */
static int
compare_floats(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

#define FIRST_YEAR	(-4800)
#define LAST_YEAR	294400

/* Day of the first of January of each year, from 2000-01-01 */
static int64 year_day[LAST_YEAR - FIRST_YEAR + 1];

static bool
is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static void
fill_years(void)
{
	int			year;

	for (year = 2000; year < LAST_YEAR; year++)
		year_day[year + 1 - FIRST_YEAR] = year_day[year - FIRST_YEAR] + 365 + is_leap(year);
	for (year = 2000; year > FIRST_YEAR; year--)
		year_day[year - 1 - FIRST_YEAR] = year_day[year - FIRST_YEAR] - 365 - is_leap(year - 1);
}

/* The day on which the day's month, quarter or year began; "count" is 1, 3 or 12 months. */
static int64
months_began(int64 day, int count)
{
	static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int			low = 0;
	int			high = LAST_YEAR - FIRST_YEAR;
	int64		began;
	int			month;

	while (high - low > 1)
	{
		int			middle = (low + high) / 2;

		*(year_day[middle] <= day ? &low : &high) = middle;
	}
	began = year_day[low];
	for (month = 0; month < 12; month += count)
	{
		int64		next = began;
		int			i;

		for (i = month; i < month + count; i++)
			next += length[i] + (i == 1 && is_leap(low + FIRST_YEAR));
		if (day < next)
			return began;
		began = next;
	}
	return began;
}

static int64
floor_divide(int64 a, int64 b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

#define DAY		86400000000

/* The first day of a month that is counted from January of year 0, by steps of 400 years */
static int64
first_of(int64 month)
{
	static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64		eras = floor_divide(month, 4800);
	int			year = (int) floor_divide(month - eras * 4800, 12) + 2000;
	int64		day = year_day[year - FIRST_YEAR] + (eras - 5) * 146097;
	int			i;

	for (i = 0; i < month - eras * 4800 - (year - 2000) * 12; i++)
		day += length[i] + (i == 1 && is_leap(year));
	return day;
}

/* The month of a day, by halving */
static int64
month_of(int64 day)
{
	int64		low = -5000 * 12;
	int64		high = 5874899 * (int64) 12;

	while (high - low > 1)
	{
		int64		middle = (low + high) / 2;

		*(first_of(middle) <= day ? &low : &high) = middle;
	}
	return low;
}

static bool
is_infinite(int64 timestamp)
{
	return timestamp == GPB_INT64_MIN || timestamp == GPB_INT64_MAX;
}

static bool
is_infinite_date(int64 date)
{
	return date == INT32_MIN || date == INT32_MAX;
}

/* An exact product less the rounded one: numbers of 113 bits have room for it. */
static double
product_rest(double x, double y)
{
	double		rounded = x * y;

	return isfinite(rounded) ? (double) ((__float128) x * y - rounded) : 0;
}

/* ---- months and zones by other means ---- */

/* A year, its months and days counted one by one */
static Result
months_later(int64 timestamp, int64 months)
{
	int64		day = floor_divide(timestamp, DAY);
	int64		month = month_of(day);
	int64		of_month = day - first_of(month);
	__int128	target = (__int128) month + months;

	if (target < (FIRST_YEAR + 1) * 12 || target >= (LAST_YEAR - 1) * (__int128) 12)
		return (Result) {0, false, true};
	while (of_month >= first_of((int64) target + 1) - first_of((int64) target))
		of_month--;
	return number((__int128) (first_of((int64) target) + of_month) * DAY + (timestamp - day * DAY),
				  GPB_TIMESTAMP_LEAST, GPB_TIMESTAMP_END - 1);
}

#define SECOND	((int64) 1000000)

/* The offset of a zone's table at a second of UTC; false beyond the table */
static bool
offset_at(const int64 *table, int n, int64 second, int64 *offset)
{
	int			i;

	if (second < table[0] >> 18 || second >= table[n - 1] >> 18)
		return false;
	for (i = 0; i < n - 1; i++)
	{
		if (table[i] >> 18 <= second)
			*offset = (table[i] & 0x3FFFF) - 0x20000;
	}
	return true;
}

static Result
to_local(int64 timestamp, const int64 *table, int n)
{
	int64		offset;

	if (!offset_at(table, n, floor_divide(timestamp, SECOND), &offset))
		return (Result) {0, false, true};
	return number((__int128) timestamp + offset * SECOND, GPB_TIMESTAMP_LEAST,
				  GPB_TIMESTAMP_END - 1);
}

/* As core's DetermineTimeZoneOffset() goes about it */
static Result
of_local(int64 timestamp, const int64 *table, int n)
{
	int64		local = floor_divide(timestamp, SECOND);
	int64		before;
	int64		after;
	int64		change;
	int			i;

	if (!offset_at(table, n, local - 86400, &before))
		return (Result) {0, false, true};
	for (i = 0; table[i] >> 18 <= local - 86400; i++)
		;
	change = table[i] >> 18;
	if (i == n - 1 && change != GPB_ZONE_END)
		return (Result) {0, false, true};
	after = i == n - 1 ? before : (table[i] & 0x3FFFF) - 0x20000;
	if (local - before > change && local - after >= change)
		before = after;
	else if (!(local - before < change && local - after < change) &&
			 local - before <= local - after)
		before = after;
	return number((__int128) timestamp - before * SECOND, GPB_TIMESTAMP_LEAST,
				  GPB_TIMESTAMP_END - 1);
}

/* Is it in a set of codes, which is tested one by one? */
static bool
is_code_of(const int64 *list, int nlist, int64 code)
{
	int			i;

	for (i = 1; i < nlist; i++)
	{
		int			k;

		if (list[0] < 0 && list[i] == code)
			return true;
		for (k = 0; list[0] >= 0 && k < 64; k++)
		{
			if ((list[i] & (int64) ((uint64) 1 << k)) != 0 &&
				list[0] + (i - 1) * 64 + k == code)
				return true;
		}
	}
	return false;
}

/* The result of an operator whose operands are not NULL */
static Result
of_values(int op, int64 a, int64 b, int64 c, const int64 *list, int nlist)
{
	double		x = as_float(a);
	double		y = as_float(b);
	int			i;

	switch (op)
	{
		case GPB_OP_NOT:
			return truth(!a);
		case GPB_OP_EQ:
			return truth(a == b);
		case GPB_OP_NE:
			return truth(a != b);
		case GPB_OP_LT:
			return truth(a < b);
		case GPB_OP_LE:
			return truth(a <= b);
		case GPB_OP_GT:
			return truth(a > b);
		case GPB_OP_GE:
			return truth(a >= b);
		case GPB_OP_IN:
			for (i = 0; i < nlist; i++)
			{
				if (list[i] == a)
					return truth(true);
			}
			return truth(false);
		case GPB_OP_IN_CODES:
			return truth(is_code_of(list, nlist, a));
		case GPB_OP_ADD:
			return any_number((__int128) a + b);
		case GPB_OP_SUBTRACT:
			return any_number((__int128) a - b);
		case GPB_OP_MULTIPLY:
			return any_number((__int128) a * b);
		case GPB_OP_DIVIDE:
			return b == 0 ? (Result) {0, false, true} : any_number((__int128) a / b);
		case GPB_OP_MODULO:
			return b == 0 ? (Result) {0, false, true} : any_number((__int128) a % b);
		case GPB_OP_NEGATE:
			return any_number(-(__int128) a);
		case GPB_OP_ABS:
			return any_number(a < 0 ? -(__int128) a : a);
		case GPB_OP_TO_INT2:
			return number(a, INT16_MIN, INT16_MAX);
		case GPB_OP_TO_INT4:
			return number(a, INT32_MIN, INT32_MAX);
		case GPB_OP_FLOAT_ADD:
			return float_result(x + y, isinf(x) || isinf(y), true);
		case GPB_OP_FLOAT_SUBTRACT:
			return float_result(x - y, isinf(x) || isinf(y), true);
		case GPB_OP_FLOAT_MULTIPLY:
			return float_result(x * y, isinf(x) || isinf(y), x == 0 || y == 0);
		case GPB_OP_FLOAT_PRODUCT_REST:
			return float_result(product_rest(x, y), true, true);
		case GPB_OP_FLOAT_DIVIDE:
			if (y == 0 && !isnan(x))
				return (Result) {0, false, true};
			return float_result(x / y, isinf(x), x == 0 || isinf(y));
		case GPB_OP_FLOAT_NEGATE:
			return float_result(copysign(x, signbit(x) ? 1 : -1), true, true);
		case GPB_OP_FLOAT_ABS:
			return float_result(copysign(x, 1), true, true);
		case GPB_OP_INT_TO_FLOAT:
			return float_result((double) a, true, true);
		case GPB_OP_FLOAT_TO_INT:
			if (isnan(x) || !(x >= -0x1p63 && x < 0x1p63))
				return (Result) {0, false, true};
			return any_number((__int128) nearbyint(x));
		case GPB_OP_DATE_TO_TIMESTAMP:
			if (is_infinite_date(a))
				return any_number(a < 0 ? GPB_INT64_MIN : GPB_INT64_MAX);
			return number((__int128) a * DAY, GPB_INT64_MIN, GPB_TIMESTAMP_END - 1);
		case GPB_OP_TIMESTAMP_TO_DATE:
			if (is_infinite(a))
				return any_number(a < 0 ? INT32_MIN : INT32_MAX);
			return any_number(floor_divide(a, DAY));
		case GPB_OP_DATE_ADD:
			return is_infinite_date(a) ? any_number(a) :
				number((__int128) a + b, GPB_DATE_LEAST, GPB_DATE_END - 1);
		case GPB_OP_DATE_SUBTRACT:
			if (is_infinite_date(a) || is_infinite_date(b))
				return (Result) {0, false, true};
			return any_number((__int128) a - b);
		case GPB_OP_TIMESTAMP_ADD:
			return is_infinite(a) ? any_number(a) :
				number((__int128) a + b, GPB_TIMESTAMP_LEAST, GPB_TIMESTAMP_END - 1);
		case GPB_OP_TRUNCATE:
			if (is_infinite(a))
				return any_number(a);
			if (b <= 0 || any_number((__int128) a - c).fault)
				return (Result) {0, false, true};
			return any_number((__int128) c + (__int128) floor_divide(a - c, b) * b);
		case GPB_OP_FLOOR_DIVIDE:
			return b <= 0 ? (Result) {0, false, true} : any_number(floor_divide(a, b));
		case GPB_OP_DATE_TO_MONTH:
			if (a < GPB_DATE_LEAST || a >= GPB_DATE_END)
				return (Result) {0, false, true};
			return any_number(month_of(a));
		case GPB_OP_MONTH_TO_DATE:
			if (a < -4999 * 12 || a >= 5874898 * 12)
				return (Result) {0, false, true};
			return any_number(first_of(a));
		case GPB_OP_TRUNCATE_MONTHS:
			if (is_infinite(a))
				return any_number(a);
			return number((__int128) months_began(floor_divide(a, DAY), (int) b) * DAY,
						  GPB_TIMESTAMP_LEAST, GPB_INT64_MAX);
		case GPB_OP_ADD_MONTHS:
			return is_infinite(a) ? any_number(a) : months_later(a, b);
		case GPB_OP_TO_LOCAL:
			return is_infinite(a) ? any_number(a) : to_local(a, list, nlist);
		case GPB_OP_OF_LOCAL:
			return is_infinite(a) ? any_number(a) : of_local(a, list, nlist);
		default:
			return (Result) {0, false, true};
	}
}

/* The result of any operator */
static Result
of_any(int op, GpbValue a, GpbValue b, GpbValue c, const int64 *list, int nlist)
{
	bool		yes = !a.is_null && a.word != 0;
	bool		yes_b = !b.is_null && b.word != 0;
	Result		x = {a.word, a.is_null, false};
	Result		y = {b.word, b.is_null, false};
	Result		z = {c.word, c.is_null, false};
	bool		first;

	switch (op)
	{
		case GPB_OP_AND:
			if ((!a.is_null && !yes) || (!b.is_null && !yes_b))
				return truth(false);
			return a.is_null || b.is_null ? null_result() : truth(true);
		case GPB_OP_OR:
			if (yes || yes_b)
				return truth(true);
			return a.is_null || b.is_null ? null_result() : truth(false);
		case GPB_OP_IS_NULL:
			return truth(a.is_null);
		case GPB_OP_IS_TRUE:
			return truth(yes);
		case GPB_OP_DISTINCT:
			return truth(a.is_null || b.is_null ? a.is_null != b.is_null : a.word != b.word);
		case GPB_OP_SELECT:
			return yes ? y : z;
		case GPB_OP_COALESCE:
			return a.is_null ? y : x;
		case GPB_OP_LEAST:
		case GPB_OP_GREATEST:
			first = op == GPB_OP_LEAST ? a.word <= b.word : a.word >= b.word;
			return a.is_null ? y : b.is_null || first ? x : y;
		case GPB_OP_FLOAT_LEAST:
		case GPB_OP_FLOAT_GREATEST:
			first = op == GPB_OP_FLOAT_LEAST ?
				compare_floats(as_float(a.word), as_float(b.word)) <= 0 :
				compare_floats(as_float(a.word), as_float(b.word)) >= 0;
			return a.is_null ? y : b.is_null || first ? x : y;
	}
	if (a.is_null || (gpb_operands(op) > 1 && b.is_null) ||
		(gpb_operands(op) > 2 && c.is_null))
		return null_result();
	return of_values(op, a.word, b.word, c.word, list, nlist);
}

/* ---- values ---- */

/* What the operands of an operator are */
typedef enum Sort
{
	BOOLEAN,
	INTEGER,
	SMALL,						/* an integer whose like rarely faults */
	FLOAT,
	DATE,
	TIMESTAMP,
	UNIT,						/* of GPB_OP_TRUNCATE */
	MONTH,
	MONTHS,
	MOMENT,						/* a timestamp about where a zone changes */
	SOME_MONTHS
} Sort;

/* Are random floats only such as a narrow sum holds? */
static bool held_floats;

/* Zeros, values of all sizes that a narrow sum holds, and those at the ends of these */
static int64
held_float(void)
{
	int64		sign = below(2) ? GPB_INT64_MIN : 0;
	int64		mantissa = (int64) (next_random() >> 12);
	int64		exponent = 1023 - 126 + below(126 + 66);

	if (below(10) == 0)
		return sign;
	if (below(10) == 0)
		mantissa = below(2) ? 0 : ((int64) 1 << 52) - 1;
	if (below(3) > 0)
		exponent = 1023 + below(20) - 10;	/* whose squares are held too */
	return sign | exponent << 52 | mantissa;
}

static int64
random_word(Sort sort)
{
	static const int64 integers[] = {
		0, 1, -1, 2, -2, 7, 10, 1000, INT16_MAX, INT16_MIN, INT16_MAX + 1, INT16_MIN - 1,
		INT32_MAX, INT32_MIN, (int64) INT32_MAX + 1, (int64) INT32_MIN - 1, GPB_INT64_MAX,
		GPB_INT64_MIN, GPB_INT64_MAX - 1, GPB_INT64_MIN + 1, 3037000499, 3037000500
	};
	static const double floats[] = {
		0, -0.0, 1, -1, 0.5, 1.5, 2.5, -0.5, -1.5, 1e308, -1e308, 1.7976931348623157e308, 5e-324,
		2.2250738585072014e-308, 9223372036854775807.0, -9223372036854775808.0, 1e-200, 1e200,
		INFINITY, -INFINITY, NAN
	};
	static const int64 dates[] = {
		INT32_MIN, INT32_MAX, GPB_DATE_LEAST, GPB_DATE_END - 1, GPB_TIMESTAMP_END_DAY,
		GPB_TIMESTAMP_END_DAY - 1, 0, -1, 1, 59, 60, -730425
	};
	static const int64 timestamps[] = {
		GPB_INT64_MIN, GPB_INT64_MAX, GPB_TIMESTAMP_LEAST, GPB_TIMESTAMP_END - 1, 0, -1, DAY,
		-DAY, DAY - 1, 59 * DAY, 60 * DAY, 365 * DAY, 366 * DAY
	};
	static const int months[] = {1, 3, 12};
	int64		word = (int64) next_random();

	switch (sort)
	{
		case BOOLEAN:
			return below(2);
		case INTEGER:
			return below(3) == 0 ? word : integers[below(LENGTH(integers))];
		case SMALL:
			return below(2001) - 1000;
		case FLOAT:
			if (held_floats)
				return held_float();
			return below(3) == 0 ? word : gpb_float_bits(floats[below(LENGTH(floats))]);
		case DATE:
			return below(3) > 0 ? dates[below(LENGTH(dates))] :
				GPB_DATE_LEAST + (int64) (next_random() % (uint64) (GPB_DATE_END - GPB_DATE_LEAST));
		case TIMESTAMP:
			return below(3) == 0 ? timestamps[below(LENGTH(timestamps))] :
				(int64) ((uint64) GPB_TIMESTAMP_LEAST + next_random() %
						 ((uint64) GPB_TIMESTAMP_END - (uint64) GPB_TIMESTAMP_LEAST));
		case MONTH:
			return below(4) == 0 ? -4999 * 12 + below(3) - 1 :
				below(4) == 0 ? 5874898 * (int64) 12 - below(3) : below(60000000) - 60000;
		case UNIT:
			return below(4) == 0 ? random_word(INTEGER) : 1 + below(1000000000);
		case MOMENT:
			return below(10) == 0 ? random_word(TIMESTAMP) :
				(below(14) - 2) * 50000 * SECOND + (below(5) - 2) * 1800 * SECOND + below(3) - 1;
		case SOME_MONTHS:
			return below(10) == 0 ? random_word(INTEGER) : below(600) - 300;
		default:
			return months[below(3)];
	}
}

/* What operand number i of an operator is */
static Sort
operand_sort(int op, int i)
{
	switch (op)
	{
		case GPB_OP_AND:
		case GPB_OP_OR:
		case GPB_OP_NOT:
		case GPB_OP_IS_TRUE:
			return BOOLEAN;
		case GPB_OP_SELECT:
			return i == 0 ? BOOLEAN : INTEGER;
		case GPB_OP_FLOAT_ORDER:
		case GPB_OP_FLOAT_ADD:
		case GPB_OP_FLOAT_SUBTRACT:
		case GPB_OP_FLOAT_MULTIPLY:
		case GPB_OP_FLOAT_PRODUCT_REST:
		case GPB_OP_FLOAT_DIVIDE:
		case GPB_OP_FLOAT_NEGATE:
		case GPB_OP_FLOAT_ABS:
		case GPB_OP_FLOAT_LEAST:
		case GPB_OP_FLOAT_GREATEST:
		case GPB_OP_FLOAT_TO_INT:
			return FLOAT;
		case GPB_OP_DATE_TO_TIMESTAMP:
		case GPB_OP_DATE_SUBTRACT:
			return DATE;
		case GPB_OP_DATE_ADD:
			return i == 0 ? DATE : SMALL;
		case GPB_OP_TIMESTAMP_TO_DATE:
			return TIMESTAMP;
		case GPB_OP_TIMESTAMP_ADD:
			return i == 0 ? TIMESTAMP : INTEGER;
		case GPB_OP_TRUNCATE:
			return i == 0 ? (below(2) ? INTEGER : TIMESTAMP) : i == 1 ? UNIT : SMALL;
		case GPB_OP_FLOOR_DIVIDE:
			return i == 0 ? INTEGER : UNIT;
		case GPB_OP_DATE_TO_MONTH:
			return DATE;
		case GPB_OP_MONTH_TO_DATE:
			return below(4) == 0 ? INTEGER : MONTH;
		case GPB_OP_TRUNCATE_MONTHS:
			return i == 0 ? TIMESTAMP : MONTHS;
		case GPB_OP_ADD_MONTHS:
			return i == 0 ? TIMESTAMP : SOME_MONTHS;
		case GPB_OP_TO_LOCAL:
		case GPB_OP_OF_LOCAL:
			return MOMENT;
		default:
			return INTEGER;
	}
}

/* The same value: NaNs are one, whatever their bits, where an operator makes floats. */
static bool
same_value(int op, const Result *a, int64 word, bool is_null)
{
	if (a->is_null || is_null)
		return a->is_null && is_null && word == 0;
	return a->word == word || (op >= GPB_OP_FLOAT_ADD && op <= GPB_OP_INT_TO_FLOAT &&
							   isnan(as_float(a->word)) && isnan(as_float(word)));
}

/* ---- one step ---- */

static void
fill_slot(GpbStripSlot *slot, Sort sort, int n, bool nulls)
{
	int			i;

	slot->words = malloc(GPB_STRIP * sizeof(int64));
	slot->nulls = malloc(GPB_STRIP);
	slot->has_nulls = nulls;
	for (i = 0; i < n; i++)
	{
		slot->nulls[i] = nulls && below(4) == 0;
		slot->words[i] = slot->nulls[i] ? 0 : random_word(sort);
	}
}

/* A zone with n - 2 changes, each some hours from the last, which all begin at 2000-01-01 */
static void
fill_zone(int64 *word, int n)
{
	int64		moment = below(2) ? GPB_ZONE_BEGIN : -100000;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (i == n - 1 && below(2))
			moment = GPB_ZONE_END;
		word[i] = gpb_zone_word(moment, (below(9) - 4) * 1800 + (i == 0 ? 17 : 0));
		moment = i == 0 ? 0 : moment + 50000 + below(3) * 1800;
	}
}

/*
 * Do one step over a strip of n entries, and compare.  Where it may not fault, entries that would
 * are made such that do not, by drawing others.
 */
static bool
check_step(int op, int n, bool nulls, bool guarded, bool may_fault)
{
	static GpbProgram program;
	GpbStrip	strip;
	GpbStep		step = {(uint8) op, GPB_FIRST_TEMPORARY, 0, 1, 2, guarded ? 3 : GPB_NO_SLOT};
	Result		wanted[GPB_STRIP];
	bool		fault = false;
	const int64 *table;
	int			ntable;
	bool		ok;
	int			i;
	int			s;

	memset(&strip, 0, sizeof(strip));
	strip.program = &program;
	strip.n = n;
	program.nconstants = 8;
	if (op == GPB_OP_IN)
	{
		step.b = below(GPB_MAX_TABLES);
		program.tables.first[step.b] = below(4);
		program.tables.length[step.b] = below(5);
		for (i = 0; i < 8; i++)
			program.tables.word[i] = (int64) i * i * i - 9;
	}
	else if (op == GPB_OP_IN_CODES)
	{
		bool		listed = below(2) > 0;

		step.b = below(GPB_MAX_TABLES);
		program.tables.first[step.b] = below(4);
		program.tables.length[step.b] = below(5);
		for (i = 0; i < 8; i++)
			program.tables.word[i] = listed ? i * i : random_word(INTEGER);
		program.tables.word[program.tables.first[step.b]] = listed ? GPB_CODES_LISTED : below(40);
	}
	else if (gpb_step_has_table(&step))
	{
		step.b = below(GPB_MAX_TABLES);
		program.tables.first[step.b] = below(GPB_MAX_TABLE_WORDS - 10);
		program.tables.length[step.b] = 2 + below(8);
		fill_zone(program.tables.word + program.tables.first[step.b],
				  program.tables.length[step.b]);
	}
	for (s = 0; s < 3; s++)
		fill_slot(&strip.slot[s], operand_sort(op, s), n, nulls && below(3) > 0);
	fill_slot(&strip.slot[3], BOOLEAN, n, nulls);
	fill_slot(&strip.slot[GPB_FIRST_TEMPORARY], INTEGER, 0, false);
	if (op == GPB_OP_IN || op == GPB_OP_IN_CODES)
	{
		for (i = 0; i < n; i++)
			strip.slot[0].words[i] = strip.slot[0].has_nulls && strip.slot[0].nulls[i] ? 0 :
				random_word(SMALL) % (op == GPB_OP_IN ? 40 : 400);
	}
	for (i = 0; i < n; i++)
	{
		for (;;)
		{
			GpbValue	v[3];

			for (s = 0; s < 3; s++)
			{
				v[s].word = strip.slot[s].words[i];
				v[s].is_null = strip.slot[s].has_nulls && strip.slot[s].nulls[i];
			}
			table = gpb_step_table(&program.tables, &step, &ntable);
			wanted[i] = of_any(op, v[0], v[1], v[2], table, ntable);
			if (!wanted[i].fault || may_fault || (guarded && strip.slot[3].words[i] == 0))
				break;
			for (s = 0; s < 3; s++)
				strip.slot[s].words[i] = random_word(operand_sort(op, s));
		}
		fault |= wanted[i].fault && (!guarded || strip.slot[3].words[i] != 0);
	}
	ok = gpb_strip_step(&strip, &step) == !fault;
	for (i = 0; i < n && !fault; i++)
	{
		const GpbStripSlot *into = &strip.slot[GPB_FIRST_TEMPORARY];

		ok &= wanted[i].fault ||
			same_value(op, &wanted[i], into->words[i], into->has_nulls && into->nulls[i]);
	}
	for (s = 0; s < 4; s++)
	{
		free(strip.slot[s].words);
		free(strip.slot[s].nulls);
	}
	free(strip.slot[GPB_FIRST_TEMPORARY].words);
	free(strip.slot[GPB_FIRST_TEMPORARY].nulls);
	return ok;
}

static void
test_operator(int op)
{
	bool		ok = true;
	char		what[100];
	int			round;

	/* What GPB_OP_FLOAT_ORDER gives is for comparisons alone, and tested with these. */
	if (op == GPB_OP_FLOAT_ORDER)
		return;
	for (round = 0; round < 300; round++)
	{
		int			n = round < 40 ? round : below(GPB_STRIP + 1);
		bool		can_fault = gpb_operator_can_fault(op);

		if (round % 5 == 0)
			n = GPB_STRIP;
		ok &= check_step(op, n, false, false, false);
		ok &= check_step(op, n, true, false, false);
		ok &= check_step(op, n, round % 2 == 0, true, false);
		if (can_fault)
			ok &= check_step(op, 1 + n % 7, round % 3 == 0, round % 2 == 0, true);
	}
	snprintf(what, sizeof(what), "operator %d", op);
	verdict_of_form(ok, what);
}

/* The order of floats, which comparisons of GPB_OP_FLOAT_ORDER's results show. */
static void
test_float_order(void)
{
	bool		ok = true;
	int			round;

	for (round = 0; round < 20000; round++)
	{
		int64		a = random_word(FLOAT);
		int64		b = random_word(FLOAT);
		int64		x;
		int64		y;

		(void) gpb_step_of_values(GPB_OP_FLOAT_ORDER, a, 0, 0, NULL, 0, &x);
		(void) gpb_step_of_values(GPB_OP_FLOAT_ORDER, b, 0, 0, NULL, 0, &y);
		ok &= compare_floats(as_float(a), as_float(b)) == (x > y) - (x < y);
	}
	verdict_of_form(ok, "order of floats");
}

/* ---- whole programs ---- */

#define RANGES		5
#define MOST_GROUPS 4000

/* A leaf with random entries, and what is in them */
typedef struct Leaf
{
	char		page[GPB_PAGE_SIZE] __attribute__((aligned(8)));
	int			n;
	GpbValue	value[GPB_MAX_LEAF_ENTRIES][GPB_MAX_COLUMNS];
} Leaf;

/* Answers that were formed entry by entry */
typedef struct Model
{
	bool		fault;
	bool		unheld;			/* a narrow sum does not hold a value, or a part of a square */
	uint64		counted;
	int			n;				/* answers or groups */
	int64	   *answers;
	GpbGroup   *group[MOST_GROUPS];
} Model;

static void
random_layout(GpbLayout *layout)
{
	static const uint8 kinds[] = {GPB_KIND_INT4, GPB_KIND_INT8, GPB_KIND_INT2, GPB_KIND_FLOAT8};
	int			c;

	memset(layout, 0, sizeof(*layout));
	layout->key_width = below(2) ? 8 : 4;
	layout->key_kind = layout->key_width == 8 ? GPB_KIND_INT8 : GPB_KIND_INT4;
	layout->flags = (uint8) below(4);
	layout->ncolumns = (uint8) (below(3) ? 4 : 1);
	layout->row_width = GPB_LOCATOR_WIDTH;
	for (c = 0; c < layout->ncolumns; c++)
	{
		layout->kind[c] = kinds[c];
		layout->offset[c] = layout->row_width;
		layout->row_width += kinds[c] == GPB_KIND_INT4 || kinds[c] == GPB_KIND_INT2 ? 4 : 8;
	}
}

static void
fill_leaf(const GpbLayout *layout, Leaf *leaf, bool nulls)
{
	int			most = gpb_page_capacity(layout->key_width, layout->row_width);
	int			i;
	int			c;

	leaf->n = below(3) ? most : below(most + 1);
	for (i = 0; i < leaf->n; i++)
	{
		GpbValue   *value = leaf->value[i];
		char	   *row = (char *) gpb_page_row(leaf->page, layout->row_width, i);
		char	   *key = leaf->page + GPB_PAGE_HEADER + i * layout->key_width;
		uint64		locator = next_random() & GPB_TID_MASK;
		uint64		normalized;

		for (c = 0; c <= layout->ncolumns; c++)
		{
			int			kind = gpb_column_kind(layout, c);

			value[c].is_null = nulls && below(5) == 0;
			value[c].word = kind == GPB_KIND_FLOAT8 ? random_word(FLOAT) : random_word(SMALL);
			if (kind == GPB_KIND_INT8 && below(20) == 0)
				value[c].word = random_word(INTEGER);
			if (c > 0)
			{
				memcpy(row + layout->offset[c - 1], &value[c].word,
					   kind == GPB_KIND_INT2 ? 2 : kind == GPB_KIND_INT4 ? 4 : 8);
				locator |= (uint64) value[c].is_null << (GPB_LOC_NULL_SHIFT + c - 1);
			}
		}
		normalized = gpb_key_encode(value[0].word, layout->key_width, layout->flags);
		if (value[0].is_null)
			normalized = layout->flags & GPB_LAYOUT_NULLS_FIRST ? 0 : ~(uint64) 0;
		if (value[0].is_null != ((layout->flags & GPB_LAYOUT_NULLS_FIRST) != 0))
			locator |= GPB_LOC_ORDER_BIT;
		memcpy(key, &normalized, layout->key_width);
		memcpy(row, &locator, sizeof(locator));
	}
}

/* A slot whose values are of this sort, or -1.  sorts has the sort of each slot, or -1. */
static int
pick_slot(const int *sorts, Sort sort)
{
	int			found = -1;
	int			n = 0;
	int			s;

	for (s = 0; s < GPB_SLOTS; s++)
	{
		if (sorts[s] == (int) sort && below(++n) == 0)
			found = s;
	}
	return found;
}

/* Add a step with this operator, of operands of one sort.  Returns false if there are none. */
static bool
add_step(GpbProgram *program, int *sorts, int op, Sort operands, Sort result)
{
	GpbStep    *step = &program->step[program->nsteps];
	int			first = op == GPB_OP_SELECT ? (int) BOOLEAN : (int) operands;
	int			a = pick_slot(sorts, (Sort) first);
	int			b = pick_slot(sorts, operands);
	int			c = pick_slot(sorts, operands);
	int			guard = below(10) == 0 ? pick_slot(sorts, BOOLEAN) : -1;

	if (a < 0 || b < 0)
		return false;
	step->op = (uint8) op;
	step->into = (uint8) (GPB_FIRST_TEMPORARY + below(12));
	step->a = (uint8) a;
	step->b = (uint8) b;
	step->c = (uint8) c;
	step->guard = guard < 0 ? GPB_NO_SLOT : (uint8) guard;
	if (op == GPB_OP_IN)
		step->b = (uint8) below(2);
	if (op == GPB_OP_FILTER)
		step->into = 0;
	else
		sorts[step->into] = (int) result;
	program->nsteps++;
	return true;
}

static void
random_steps(GpbProgram *program, int *sorts)
{
	static const uint8 comparisons[] = {GPB_OP_EQ, GPB_OP_NE, GPB_OP_LT, GPB_OP_LE, GPB_OP_GT,
		GPB_OP_GE, GPB_OP_DISTINCT, GPB_OP_IN, GPB_OP_IS_NULL};
	static const uint8 booleans[] = {GPB_OP_AND, GPB_OP_OR, GPB_OP_NOT, GPB_OP_IS_TRUE};
	static const uint8 integers[] = {GPB_OP_SELECT, GPB_OP_COALESCE, GPB_OP_LEAST,
		GPB_OP_GREATEST, GPB_OP_ADD, GPB_OP_SUBTRACT, GPB_OP_MULTIPLY, GPB_OP_TO_INT4,
		GPB_OP_NEGATE, GPB_OP_ABS, GPB_OP_MODULO};
	static const uint8 floats[] = {GPB_OP_FLOAT_NEGATE, GPB_OP_FLOAT_ABS, GPB_OP_FLOAT_LEAST,
		GPB_OP_FLOAT_GREATEST, GPB_OP_FLOAT_ADD, GPB_OP_SELECT};
	int			n = below(12);

	while (n-- > 0)
	{
		switch (below(12))
		{
			case 0:
			case 1:
			case 2:
			case 3:
				(void) add_step(program, sorts, comparisons[below(LENGTH(comparisons))], SMALL,
								BOOLEAN);
				break;
			case 4:
			case 5:
				(void) add_step(program, sorts, booleans[below(LENGTH(booleans))], BOOLEAN,
								BOOLEAN);
				break;
			case 6:
			case 7:
			case 8:
				(void) add_step(program, sorts, integers[below(LENGTH(integers))], SMALL, SMALL);
				break;
			case 9:
				(void) add_step(program, sorts, floats[below(LENGTH(floats))], FLOAT, FLOAT);
				break;
			case 10:
				(void) add_step(program, sorts, GPB_OP_INT_TO_FLOAT, SMALL, FLOAT);
				break;
			default:
				(void) add_step(program, sorts, GPB_OP_FILTER, BOOLEAN, BOOLEAN);
				break;
		}
	}
}

/* A program over columns and constants of small integers, floats and booleans */
static void
random_program(GpbProgram *program, bool groups)
{
	int			sorts[GPB_SLOTS];
	int			i;

	memset(program, 0, sizeof(*program));
	random_layout(&program->layout);
	memset(sorts, 0xFF, sizeof(sorts));
	for (i = 0; i <= program->layout.ncolumns; i++)
		sorts[i] = gpb_column_kind(&program->layout, i) == GPB_KIND_FLOAT8 ? FLOAT : SMALL;
	program->nconstants = 9;
	for (i = 0; i < 9; i++)
	{
		program->constant[i] = i < 4 ? random_word(SMALL) : (i - 4) * 100 - 200;
		if (i < 4)
			sorts[GPB_FIRST_CONSTANT + i] = SMALL;
	}
	if (below(8) == 0)
		program->null_constants = 2;
	program->tables.first[1] = 1;
	program->tables.length[1] = (uint16) (1 + below(4));
	for (i = 0; i < 5; i++)
		program->tables.word[i] = i * 100 - 200;
	random_steps(program, sorts);
	program->nterms = (uint8) below(5);
	for (i = 0; i < program->nterms; i++)
	{
		GpbTerm    *term = &program->term[i];
		bool		is_float = below(4) == 0;
		int			slot = below(6) == 0 ? -1 : pick_slot(sorts, is_float ? FLOAT : SMALL);
		int			filter = below(3) == 0 ? pick_slot(sorts, BOOLEAN) : -1;

		term->slot = slot < 0 ? GPB_NO_SLOT : (uint8) slot;
		term->kind = is_float ? GPB_KIND_FLOAT8 : GPB_KIND_INT8;
		term->filter = filter < 0 ? GPB_NO_SLOT : (uint8) filter;
		term->want = GPB_WANT_COUNT;
		if (slot >= 0 && below(3) > 0)
			term->want |= GPB_WANT_SUM | (below(2) ? GPB_WANT_MINMAX : 0) |
				(below(2) ? GPB_WANT_SQUARES : 0);
		if (slot >= 0 && !is_float && below(3) == 0)
			term->want |= GPB_WANT_AND | GPB_WANT_OR | GPB_WANT_XOR;
	}
	if (groups)
	{
		program->ngroups = (uint8) (1 + below(GPB_MAX_GROUP_SLOTS));
		program->by_range = below(2);
		for (i = 0; i < program->ngroups; i++)
		{
			int			slot = pick_slot(sorts, below(2) ? BOOLEAN : SMALL);

			program->group[i] = slot < 0 ? 0 : (uint8) slot;
		}
	}
	else if (gpb_program_is_plain(program))
		program->nterms = 1, program->term[0] = (GpbTerm) {0, GPB_KIND_INT8, 3, GPB_NO_SLOT};
}

/* The model's answer to which an entry with these values is added, made if there is none */
static int64 *
model_answer(Model *model, const GpbProgram *program, const GpbAnswerFormat *format, uint32 range,
			 bool by_number, const GpbValue *value)
{
	GpbGroup   *group;
	int			i;
	int			g;

	if (program->ngroups == 0)
		return model->answers + (by_number ? range * format->words : 0);
	group = calloc(1, gpb_group_width(program, format));
	group->number = program->by_range ? range : 0;
	for (g = 0; g < program->ngroups; g++)
	{
		const GpbValue *of = &value[program->group[g]];

		group->nulls |= (uint32) of->is_null << g;
		group->words[g] = of->is_null ? 0 : of->word;
	}
	for (i = 0; i < model->n; i++)
	{
		if (memcmp(model->group[i], group, sizeof(GpbGroup) + program->ngroups * 8) == 0)
			break;
	}
	if (i < model->n)
		free(group);
	else
	{
		gpb_answer_init(format, group->words + program->ngroups);
		model->group[model->n++] = group;
	}
	return model->group[i]->words + program->ngroups;
}

static bool
is_held(double value)
{
	return value == 0 || (fabs(value) >= ldexp(1, -126) && fabs(value) < ldexp(1, 66));
}

/* Does a narrow sum not hold something of what a term adds to exact sums? */
static bool
is_unheld(const GpbAnswerColumn *column, double value)
{
	double		product = value * value;

	return column->float_sum != 0 &&
		(!is_held(value) || (column->float_squares != 0 &&
							 !(is_held(product) && is_held(fma(value, value, -product)))));
}

/* Add one entry to the model. */
static void
model_entry(Model *model, const GpbProgram *program, const GpbAnswerFormat *format, uint32 range,
			bool by_number, const GpbValue *columns)
{
	GpbValue	value[GPB_SLOTS];
	int64	   *answer;
	int			i;

	memset(value, 0, sizeof(value));
	memcpy(value, columns, (program->layout.ncolumns + 1) * sizeof(GpbValue));
	for (i = 0; i < program->nconstants; i++)
	{
		value[GPB_FIRST_CONSTANT + i].word = program->constant[i];
		value[GPB_FIRST_CONSTANT + i].is_null = (program->null_constants >> i) & 1;
	}
	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];
		GpbValue   *guard = step->guard == GPB_NO_SLOT ? NULL : &value[step->guard];
		Result		result;
		const int64 *table;
		int			ntable;

		if (step->op == GPB_OP_FILTER)
		{
			if (value[step->a].is_null || value[step->a].word == 0)
				return;
			continue;
		}
		table = gpb_step_table(&program->tables, step, &ntable);
		result = of_any(step->op, value[step->a], value[step->b], value[step->c], table, ntable);
		if (result.fault && (guard == NULL || (!guard->is_null && guard->word != 0)))
			model->fault = true;
		/* A fault that does not count gives 0 here, as in the loops; a program does not read it. */
		value[step->into].word = result.fault || result.is_null ? 0 : result.word;
		value[step->into].is_null = result.is_null;
	}
	if (model->fault)
		return;
	model->counted++;
	answer = model_answer(model, program, format, range, by_number, value);
	answer[0]++;
	for (i = 0; i < program->nterms; i++)
	{
		const GpbTerm *term = &program->term[i];
		const GpbAnswerColumn *column = &format->column[i];
		const GpbValue *filter = term->filter == GPB_NO_SLOT ? NULL : &value[term->filter];

		if (filter != NULL && (filter->is_null || filter->word == 0))
			continue;
		if (term->slot == GPB_NO_SLOT)
			answer[column->count]++;
		else if (!value[term->slot].is_null)
		{
			gpb_answer_add_value(column, answer, value[term->slot].word);
			model->unheld |= is_unheld(column, gpb_float_value(value[term->slot].word));
		}
	}
}

/* Memory of a table, of which there may be too little */
static void *
allocate(void *arg, uint64 size)
{
	*(int64 *) arg += (int64) size;
	return malloc(size);
}

static void
release(void *arg, void *memory, uint64 size)
{
	*(int64 *) arg -= (int64) size;
	free(memory);
}

static bool
same_groups(const GpbGroupTable *table, Model *model, const GpbProgram *program,
			const GpbAnswerFormat *format)
{
	bool		ok = table->n == (uint32) model->n;
	GpbGroup   *group = malloc(gpb_group_width(program, format));
	uint32		i;
	int			m;

	for (i = 0; i < table->n && ok; i++)
	{
		memcpy(group, gpb_groups_at(table, i), table->width);
		if (program->narrow_sums)
			gpb_answer_widen(table->format, format, group->words + program->ngroups);
		for (m = 0; m < model->n; m++)
		{
			if (memcmp(model->group[m], group, gpb_group_width(program, format)) == 0)
				break;
		}
		ok &= m < model->n;
	}
	free(group);
	return ok;
}

/* Put the entries of a leaf through the evaluator and the model, some alone, some together. */
static void
add_leaf(GpbEvaluator *evaluator, Model *model, const GpbProgram *program,
		 const GpbAnswerFormat *format, const Leaf *leaf, bool by_number)
{
	const GpbLayout *layout = &program->layout;
	uint16		at[GPB_MAX_LEAF_ENTRIES];
	int			from;
	int			to;
	int			i;

	for (from = 0; from < leaf->n; from = to)
	{
		GpbLeafPick pick = {NULL, from, 0};
		uint32		range = (uint32) below(RANGES);
		int			way = below(3);

		to = from + 1 + below(leaf->n - from);
		for (i = from; i < to; i++)
		{
			if (way > 0 && below(4) == 0)
				continue;
			at[pick.n++] = (uint16) i;
			model_entry(model, program, format, range, by_number, leaf->value[i]);
			if (way == 1)
				gpb_evaluate_entry(evaluator, range, gpb_page_key(leaf->page, layout->key_width, i),
								   gpb_page_row(leaf->page, layout->row_width, i));
		}
		if (way == 2)
			pick.at = at;
		if (way != 1)
			gpb_evaluate_leaf(evaluator, range, leaf->page, &pick);
	}
}

/*
 * Put random leaves through a random program and the model, which has wide sums.  Where a step
 * faults and a narrow sum does not hold a value, either ends the evaluation.
 */
static bool
check_program(bool groups, int *faults, int *narrow, int *unheld)
{
	static Leaf leaf;
	static Model model;
	GpbProgram	program;
	GpbAnswerFormat format;
	GpbAnswerFormat wide;
	GpbGroupTable table;
	int64		used = 0;
	GpbGroupMemory memory = {allocate, release, &used, (uint64) 1 << 30};
	GpbEvaluator *evaluator;
	GpbEvaluation outcome;
	GpbEvaluatorSink sink = {NULL, below(2) == 0, NULL};
	bool		nulls = below(2);
	bool		ok;
	int			leaves = 1 + below(4);
	int			i;

	random_program(&program, groups);
	gpb_answer_format(&program, &wide);
	program.narrow_sums = groups && below(2);
	held_floats = program.narrow_sums && below(4) > 0;
	gpb_answer_format(&program, &format);
	memset(&model, 0, sizeof(model));
	model.answers = malloc(RANGES * gpb_answer_width(&format));
	sink.answers = malloc(RANGES * gpb_answer_width(&format));
	for (i = 0; i < RANGES; i++)
	{
		gpb_answer_init(&format, model.answers + i * format.words);
		gpb_answer_init(&format, sink.answers + i * format.words);
	}
	gpb_groups_init(&table, &program, &format, &memory);
	sink.groups = groups ? &table : NULL;
	evaluator = gpb_evaluator_init(malloc(gpb_evaluator_size(&program)), &program, &format);
	gpb_evaluator_begin(evaluator, &sink);
	ok = gpb_program_fault(&program) == NULL;
	for (i = 0; i < leaves; i++)
	{
		fill_leaf(&program.layout, &leaf, nulls);
		add_leaf(evaluator, &model, &program, &wide, &leaf, sink.by_number);
	}
	held_floats = false;
	gpb_evaluate_rest(evaluator);
	outcome = evaluator->outcome;
	model.unheld &= program.narrow_sums;
	ok &= (outcome == GPB_EVALUATED) == (!model.fault && !model.unheld);
	ok &= outcome != GPB_EVALUATION_FAULTED || model.fault;
	ok &= outcome != GPB_EVALUATION_UNHELD || model.unheld;
	*narrow += program.narrow_sums && gpb_answer_has_float_sums(&format) &&
		outcome == GPB_EVALUATED;
	*unheld += outcome == GPB_EVALUATION_UNHELD;
	if (outcome == GPB_EVALUATED)
	{
		for (i = 0; i < RANGES; i++)
		{
			gpb_answer_normalize(&format, sink.answers + i * format.words);
			gpb_answer_normalize(&format, model.answers + i * format.words);
		}
		for (i = 0; i < model.n; i++)
			gpb_answer_normalize(&wide, model.group[i]->words + program.ngroups);
		gpb_groups_normalize(&table);
		ok &= evaluator->counted == model.counted;
		ok &= memcmp(sink.answers, model.answers, RANGES * gpb_answer_width(&format)) == 0;
		ok &= same_groups(&table, &model, &program, &wide);
	}
	*faults += model.fault;
	gpb_groups_reset(&table);
	ok &= used == 0;
	for (i = 0; i < model.n; i++)
		free(model.group[i]);
	free(model.answers);
	free(sink.answers);
	free(evaluator);
	return ok;
}

static void
test_programs(bool groups)
{
	bool		ok = true;
	int			faults = 0;
	int			narrow = 0;
	int			unheld = 0;
	char		what[150];
	int			round;

	for (round = 0; round < 1500; round++)
		ok &= check_program(groups, &faults, &narrow, &unheld);
	snprintf(what, sizeof(what),
			 "programs%s, %d of 1500 faulted, %d had narrow sums and %d values that these do not hold",
			 groups ? " with groups" : "", faults, narrow, unheld);
	verdict_of_form(ok && faults > 30 && faults < 1200 && (!groups || (narrow > 30 && unheld > 30)),
					what);
}

/* ---- narrow sums ---- */

/* The number that a narrow sum is, as a wide one */
static GpbFloatSum
widened(const GpbNarrowSum *sum)
{
	GpbNarrowSum copy = *sum;
	GpbFloatSum wide;

	gpb_narrow_sum_normalize(&copy);
	gpb_narrow_sum_widen(&copy, &wide);
	return wide;
}

/* Values at the ends of what a narrow sum holds, and next to these */
static void
test_narrow_ends(void)
{
	static const struct
	{
		double		value;
		bool		held;
	}			cases[] = {
		{0, true}, {-0.0, true}, {0x1p-126, true}, {-0x1p-126, true}, {0x1.fffffffffffffp-127, false},
		{0x1p-1074, false}, {-0x1p-1074, false}, {0x1p-1022, false}, {0x1.fffffffffffffp65, true},
		{-0x1.fffffffffffffp65, true}, {0x1p66, false}, {-0x1p66, false}, {0x1p1023, false},
		{INFINITY, false}, {-INFINITY, false}, {NAN, false}, {1, true}, {-1, true}
	};
	bool		ok = true;
	int			i;

	for (i = 0; i < LENGTH(cases); i++)
	{
		int64		bits = gpb_float_bits(cases[i].value);
		int64		words[3] = {gpb_float_bits(1), bits, 0};
		GpbNarrowSum narrow;
		GpbFloatSum wide;
		GpbFloatSum other;

		memset(&narrow, 0, sizeof(narrow));
		memset(&wide, 0, sizeof(wide));
		ok &= gpb_narrow_sum_holds(bits) == cases[i].held;
		ok &= gpb_narrow_holds_all(words, 3) == cases[i].held;
		ok &= gpb_narrow_sum_add(&narrow, bits) == cases[i].held;
		if (!cases[i].held)
			continue;
		gpb_float_sum_add(&wide, bits);
		gpb_float_sum_normalize(&wide);
		other = widened(&narrow);
		ok &= memcmp(&wide, &other, sizeof(wide)) == 0;
		memset(&narrow, 0, sizeof(narrow));
		gpb_narrow_add(&bits, 1, narrow.bin);
		other = widened(&narrow);
		ok &= memcmp(&wide, &other, sizeof(wide)) == 0;
	}
	verdict_of_form(ok, "the ends of what a narrow sum holds");
}

/* Sums of many values in several answers, added in strips, one by one, and merged */
static void
test_narrow_sums(void)
{
	bool		ok = true;
	int			round;
	int			i;
	int			t;

	held_floats = true;
	for (round = 0; round < 200; round++)
	{
		int64		words[3][100];
		int64		answer[4][1 + 3 + 3 * GPB_NARROW_SUM_WORDS] = {{0}};
		int64	   *answers[100];
		GpbNarrowTerm terms[3];
		GpbFloatSum wide[4][3];
		int			n = 1 + below(100);

		memset(wide, 0, sizeof(wide));
		for (i = 0; i < n; i++)
		{
			int			which = below(4);

			answers[i] = answer[which];
			for (t = 0; t < 3; t++)
			{
				words[t][i] = random_word(FLOAT);
				gpb_float_sum_add(&wide[which][t], words[t][i]);
			}
		}
		for (t = 0; t < 3; t++)
			terms[t] = (GpbNarrowTerm) {words[t], 4 + t * GPB_NARROW_SUM_WORDS, 1 + t};
		gpb_narrow_scatter(terms, 3, n, answers);
		for (i = 0; i < 4; i++)
		{
			for (t = 0; t < 3; t++)
			{
				GpbFloatSum other = widened((GpbNarrowSum *) (answer[i] + terms[t].sum));

				ok &= answer[i][1 + t] == wide[i][t].pending;
				gpb_float_sum_normalize(&wide[i][t]);
				ok &= memcmp(&wide[i][t], &other, sizeof(other)) == 0;
			}
		}
		/* all into one, by two ways */
		for (t = 0; t < 3; t++)
		{
			GpbNarrowSum all;
			GpbNarrowSum merged;
			GpbFloatSum other;

			memset(&all, 0, sizeof(all));
			memset(&merged, 0, sizeof(merged));
			gpb_narrow_add(words[t], n, all.bin);
			for (i = 0; i < 4; i++)
			{
				GpbNarrowSum *sum = (GpbNarrowSum *) (answer[i] + terms[t].sum);

				gpb_narrow_sum_normalize(sum);
				gpb_narrow_sum_merge(&merged, sum);
				if (i > 0)
					gpb_float_sum_merge(&wide[0][t], &wide[i][t]);
			}
			other = widened(&all);
			gpb_narrow_sum_normalize(&all);
			ok &= memcmp(&all, &merged, sizeof(all)) == 0;
			ok &= memcmp(&wide[0][t], &other, sizeof(other)) == 0;
		}
	}
	held_floats = false;
	verdict_of_form(ok, "narrow sums of many values");
}

/* An answer's sums carry when its entries pass a multiple of GPB_CARRY_VALUES, and not before. */
static void
test_narrow_carry(void)
{
	GpbProgram	program;
	GpbAnswerFormat format;
	GpbStrip	strip;
	int64		words[GPB_STRIP];
	int64		answer[2 + GPB_NARROW_SUM_WORDS];
	int64	   *answers[GPB_STRIP];
	bool		ok = true;
	int			scatter;
	int			i;

	memset(&program, 0, sizeof(program));
	program.layout.ncolumns = 1;
	program.ngroups = program.nterms = 1;
	program.narrow_sums = true;
	program.term[0] = (GpbTerm) {1, GPB_KIND_FLOAT8, GPB_WANT_SUM, GPB_NO_SLOT};
	gpb_answer_format(&program, &format);
	memset(&strip, 0, sizeof(strip));
	strip.program = &program;
	strip.n = 100;
	strip.slot[1].words = words;
	for (i = 0; i < GPB_STRIP; i++)
	{
		words[i] = gpb_float_bits(-1.5);
		answers[i] = answer;
	}
	for (scatter = 0; scatter < 2; scatter++)
	{
		gpb_answer_init(&format, answer);
		answer[0] = answer[1] = 3 * GPB_CARRY_VALUES - 150;
		ok &= scatter ? gpb_terms_scatter(&strip, &format, answers) :
			gpb_terms_add(&strip, &format, answer);
		ok &= answer[format.words - 1] == 0;
		ok &= scatter ? gpb_terms_scatter(&strip, &format, answers) :
			gpb_terms_add(&strip, &format, answer);
		ok &= answer[format.words - 1] == -1;
		for (i = 2; i < format.words - 1; i++)
			ok &= answer[i] >= 0 && answer[i] >> 32 == 0;
	}
	verdict_of_form(ok, "narrow sums carry in time");
}

/* ---- many groups ---- */

/* Do the runs of groups that lie one after the other have each group once, in order? */
static bool
runs_are_whole(const GpbGroupTable *table)
{
	uint64		at = 0;
	const char *first;
	uint64		n;
	uint64		i;

	for (; (n = gpb_groups_run(table, at, &first)) > 0; at += n)
	{
		for (i = 0; i < n; i++)
		{
			if (first + i * table->width != (const char *) gpb_groups_at(table, (uint32) (at + i)))
				return false;
		}
		/* from within a run on, the rest of it */
		if (gpb_groups_run(table, at + n - 1, &first) != 1)
			return false;
	}
	return at == table->n;
}

/* As many groups as fit this many bytes: all that were made are there, and no others. */
static void
test_table(uint64 limit, int distinct)
{
	GpbProgram	program;
	GpbAnswerFormat format;
	GpbGroupTable table;
	int64		used = 0;
	GpbGroupMemory memory = {allocate, release, &used, limit};
	int64	   *counts = calloc(distinct, sizeof(int64));
	bool		full = false;
	bool		ok = true;
	char		what[100];
	int			groups = 0;
	int			round;
	int			i;

	memset(&program, 0, sizeof(program));
	program.ngroups = 2;
	program.group[1] = 1;
	program.layout.ncolumns = 1;
	gpb_answer_format(&program, &format);
	gpb_groups_init(&table, &program, &format, &memory);
	for (round = 0; round < 4 * distinct / 100 && !full; round++)
	{
		int64		words[2][100];
		uint8		nulls[100];
		const int64 *word[2] = {words[0], words[1]};
		const uint8 *null[2] = {NULL, nulls};
		int64	   *answers[100];

		for (i = 0; i < 100; i++)
		{
			int			which = below(distinct);

			words[0][i] = (int64) (which / 3) * 86400000000;
			nulls[i] = which % 3 == 0;
			words[1][i] = which % 3 == 0 ? 0 : which % 3;
		}
		gpb_groups_reserve(&table, 100);
		full = !gpb_groups_find(&table, 100, word, null, NULL, answers);
		for (i = 0; i < 100 && !full; i++)
		{
			int64		which = words[0][i] / 86400000000 * 3 + words[1][i];

			groups += counts[which] == 0;
			counts[which]++;
			answers[i][0]++;
		}
		ok &= (uint64) used <= limit && (uint64) used == table.used;
	}
	if (!full)
		ok &= table.n == (uint32) groups;
	for (i = 0; i < (int) table.n; i++)
	{
		const GpbGroup *group = gpb_groups_at(&table, i);

		ok &= group->number == 0 && group->nulls == (group->words[1] == 0 ? 2 : 0);
		ok &= group->words[2] == counts[group->words[0] / 86400000000 * 3 + group->words[1]];
	}
	ok &= runs_are_whole(&table);
	/* What is said to be the least memory for so many is there, and less than half is none. */
	ok &= gpb_groups_bytes(table.n, table.width) <= (double) limit;
	if (full && table.n > 2 * GPB_FIRST_GROUPS)
		ok &= gpb_groups_bytes(2.2 * table.n, table.width) > (double) limit;
	snprintf(what, sizeof(what), "%u groups in %lu bytes%s", table.n, limit, full ? ", full" : "");
	ok &= full == ((uint64) distinct * 24 > limit);
	/* Most of the memory has records when it is full. */
	ok &= !full || (uint64) table.n * table.width > limit / 4;
	gpb_groups_reset(&table);
	verdict_of_form(ok && used == 0, what);
	free(counts);
}

int
main(int argc, char **argv)
{
	uint64		seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	int			form;
	int			op;

	printf("seed %lu\n", seed);
	fill_years();
	for (form = GPB_STRIP_PLAIN; form <= GPB_STRIP_AVX2; form++)
	{
		state = seed * 2 + 1;
		if (!gpb_strip_force((GpbStripForm) form))
		{
			printf("       form %d: not on this CPU\n", form);
			continue;
		}
		(void) gpb_narrow_force(form == GPB_STRIP_PLAIN ? GPB_NARROW_PLAIN : GPB_NARROW_AVX2);
		for (op = GPB_OP_FILTER + 1; op < GPB_OPERATORS; op++)
			test_operator(op);
		test_float_order();
		test_programs(false);
		test_programs(true);
	}
	for (form = GPB_NARROW_PLAIN; form <= GPB_NARROW_AVX512; form++)
	{
		if (!gpb_narrow_force((GpbNarrowForm) form))
		{
			printf("       narrow sums, form %d: not on this CPU\n", form);
			continue;
		}
		printf("       narrow sums: %s\n", gpb_narrow_name());
		test_narrow_ends();
		test_narrow_sums();
		test_narrow_carry();
	}
	test_programs(true);
	test_table((uint64) 1 << 30, 100);
	test_table((uint64) 1 << 30, 200000);
	test_table((uint64) 1 << 20, 200000);
	test_table(100000, 20000);
	test_table(4000, 20000);
	return print_sums();
}
