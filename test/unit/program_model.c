/*-------------------------------------------------------------------------
 *
 * program_model.c
 *	  What operators of programs should give, computed in another way.
 *
 * The ways are wider integers, a table of the days on which years begin, and comparisons of numbers
 * one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "program_tests.h"

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

double
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
int
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

void
fill_years(void)
{
	int			year;

	for (year = 2000; year < LAST_YEAR; year++)
		year_day[year + 1 - FIRST_YEAR] = year_day[year - FIRST_YEAR] + 365 + is_leap(year);
	for (year = 2000; year > FIRST_YEAR; year--)
		year_day[year - 1 - FIRST_YEAR] = year_day[year - FIRST_YEAR] - 365 - is_leap(year - 1);
}

static int64
floor_divide(int64 a, int64 b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

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
double
product_rest(double x, double y)
{
	double		rounded = x * y;

	return isfinite(rounded) ? (double) ((_Float128) x * y - rounded) : 0;
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

/* A code below its rank, which a list has as GPB_OP_RANKED takes them, bit by bit */
static int64
ranked_code_of(const int64 *list, int nlist, int64 code)
{
	int			bits = nlist == 0 ? 1 : (int) (((uint64) list[0] >> 32) % 31) + 1;
	int64		next = nlist == 0 ? 0 : list[0] & 0xFFFFFFFF;
	int64		word = code & 0xFFFFFFFF;
	int			i;

	for (i = 1; i < nlist; i++)
	{
		int			at;

		for (at = 0; at + bits <= 64; at += bits, next++)
		{
			int			k;

			for (k = 0; k < bits && next == code; k++)
			{
				if ((list[i] & (int64) ((uint64) 1 << (at + k))) != 0)
					word += (int64) 1 << (32 + k);
			}
		}
	}
	return word;
}

/* The low word of which a lower half is 2^63 less */
static __int128
low_word(int64 lower)
{
	return (__int128) lower + ((__int128) 1 << 63);
}

/* The lower half of an integer of 128 bits */
static Result
lower_of(__int128 number)
{
	__int128	low = number & (((__int128) 1 << 64) - 1);

	return any_number(low - ((__int128) 1 << 63));
}

/* An upper half and a carry, neither of them beyond a word, nor NaN's */
static Result
upper_of(__int128 upper, __int128 carry, bool is_nan)
{
	if (is_nan || any_number(upper).fault)
		return (Result) {0, false, true};
	return number(upper + carry, GPB_INT64_MIN, GPB_INT64_MAX - 1);
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
		case GPB_OP_RANKED:
			return any_number(ranked_code_of(list, nlist, a));
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
		case GPB_OP_LOWER_ADD:
			return lower_of(low_word(a) + low_word(b));
		case GPB_OP_LOWER_SUBTRACT:
			return lower_of(low_word(a) - low_word(b));
		case GPB_OP_LOWER_MULTIPLY:
			return lower_of((__int128) ((unsigned __int128) low_word(a) * (unsigned __int128) b));
		case GPB_OP_LOWER_CARRY:
			/* The product is below 2^127, whatever its sign. */
			return any_number(low_word(a) * b >> 64);
		case GPB_OP_UPPER_ADD:
			return upper_of((__int128) a + b, c, a == GPB_INT64_MAX || b == GPB_INT64_MAX);
		case GPB_OP_UPPER_SUBTRACT:
			return upper_of((__int128) a - b, -(__int128) c,
							a == GPB_INT64_MAX || b == GPB_INT64_MAX);
		case GPB_OP_UPPER_MULTIPLY:
			return upper_of((__int128) a * b, c, a == GPB_INT64_MAX);
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
			if (b <= 0 || b > GPB_MOST_MONTHS)
				return (Result) {0, false, true};
			return number((__int128) first_of(floor_divide(month_of(floor_divide(a, DAY)), b) * b) *
						  DAY, GPB_TIMESTAMP_LEAST, GPB_INT64_MAX);
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
Result
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
