/*-------------------------------------------------------------------------
 *
 * program_steps.h
 *	  What each operator of a program does with its operands.
 *
 * Plain C for both compilers, and the one place that knows: the CPU's loops over columns, the host
 * device and the kernels all call gpb_step_of_values() and gpb_step_of_nulls(), with the operator
 * as a constant or as a value that is the same for many entries.
 *
 * Integers follow core's int8 operators, float8 follows core's checks of overflow and underflow
 * (utils/float.h), dates and timestamps core's date.c and timestamp.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_STEPS_H
#define GPB_PROGRAM_STEPS_H

#include <math.h>

#include "program/program.h"

/* One value of an entry; the word means nothing if it is NULL. */
typedef struct GpbValue
{
	int64		word;
	bool		is_null;
} GpbValue;

#define GPB_INT64_MAX		((int64) 0x7FFFFFFFFFFFFFFF)
#define GPB_INT64_MIN		(-GPB_INT64_MAX - 1)
#define GPB_INT32_MAX		((int64) 0x7FFFFFFF)
#define GPB_INT32_MIN		(-GPB_INT32_MAX - 1)

/* ---- integers ---- */

/* Each of these returns true, and leaves something at *result, if the result does not fit. */

GPB_FN bool
gpb_int64_add(int64 a, int64 b, int64 *result)
{
	int64		sum = (int64) ((uint64) a + (uint64) b);

	*result = sum;
	return ((a ^ sum) & (b ^ sum)) < 0;
}

GPB_FN bool
gpb_int64_subtract(int64 a, int64 b, int64 *result)
{
	int64		difference = (int64) ((uint64) a - (uint64) b);

	*result = difference;
	return ((a ^ b) & (a ^ difference)) < 0;
}

GPB_FN bool
gpb_int64_multiply(int64 a, int64 b, int64 *result)
{
#ifdef __CUDA_ARCH__
	int64		high = __mul64hi(a, b);

	*result = (int64) ((uint64) a * (uint64) b);
	return high != *result >> 63;
#else
	return __builtin_mul_overflow(a, b, result);
#endif
}

GPB_FN bool
gpb_int64_abs(int64 a, int64 *result)
{
	if (a < 0)
		return gpb_int64_subtract(0, a, result);
	*result = a;
	return false;
}

GPB_FN bool
gpb_to_int2(int64 a, int64 *result)
{
	*result = a;
	return a != (int16) a;
}

GPB_FN bool
gpb_to_int4(int64 a, int64 *result)
{
	*result = a;
	return a != (int32) a;
}

/* A quotient toward 0; b is neither 0 nor, where a is the least, -1. */
GPB_FN bool
gpb_int64_divide(int64 a, int64 b, int64 *result)
{
	*result = 0;
	if (b == 0)
		return true;
	if (b == -1)
	{
		*result = (int64) (0 - (uint64) a);
		return a == GPB_INT64_MIN;
	}
	*result = a / b;
	return false;
}

GPB_FN bool
gpb_int64_modulo(int64 a, int64 b, int64 *result)
{
	*result = 0;
	if (b == 0)
		return true;
	if (b != -1)
		*result = a % b;
	return false;
}

/* A quotient toward -infinity; true if b is not positive. */
GPB_FN bool
gpb_int64_floor_divide(int64 a, int64 b, int64 *result)
{
	*result = 0;
	if (b <= 0)
		return true;
	*result = a / b - (a % b < 0);
	return false;
}

/* The greatest origin + n * unit that is not above a; unit > 0 */
GPB_FN bool
gpb_int64_truncate(int64 a, int64 unit, int64 origin, int64 *result)
{
	int64		distance;
	int64		rest;

	*result = a;
	if (unit <= 0 || gpb_int64_subtract(a, origin, &distance))
		return true;
	rest = distance % unit;
	if (rest < 0)
		rest += unit;
	return gpb_int64_subtract(a, rest, result);
}

/* ---- integers of 128 bits, by halves ---- */

#define GPB_HALF_SIGN		((uint64) 1 << 63)

/* The high word of the product of a word without a sign and an integer */
GPB_FN int64
gpb_mixed_high(uint64 a, int64 b)
{
#ifdef __CUDA_ARCH__
	uint64		high = __umul64hi(a, (uint64) b);
#else
	uint64		high = (uint64) ((unsigned __int128) a * (uint64) b >> 64);
#endif

	return (int64) (high - (b < 0 ? a : 0));
}

GPB_FN int64
gpb_lower_add(int64 a, int64 b)
{
	return (int64) ((uint64) a + (uint64) b + GPB_HALF_SIGN);
}

GPB_FN int64
gpb_lower_subtract(int64 a, int64 b)
{
	return (int64) ((uint64) a - (uint64) b + GPB_HALF_SIGN);
}

GPB_FN int64
gpb_lower_multiply(int64 a, int64 b)
{
	return (int64) (((uint64) a ^ GPB_HALF_SIGN) * (uint64) b ^ GPB_HALF_SIGN);
}

GPB_FN int64
gpb_lower_carry(int64 a, int64 b)
{
	return gpb_mixed_high((uint64) a ^ GPB_HALF_SIGN, b);
}

/* Each of these returns true where GPB_OP_UPPER_ADD and its neighbours fault. */

GPB_FN bool
gpb_upper_add(int64 a, int64 b, int64 carry, int64 *result)
{
	bool		beyond = gpb_int64_add(a, b, result);

	beyond |= gpb_int64_add(*result, carry, result);
	return beyond | (a == GPB_INT64_MAX) | (b == GPB_INT64_MAX) | (*result == GPB_INT64_MAX);
}

GPB_FN bool
gpb_upper_subtract(int64 a, int64 b, int64 borrow, int64 *result)
{
	bool		beyond = gpb_int64_subtract(a, b, result);

	beyond |= gpb_int64_subtract(*result, borrow, result);
	return beyond | (a == GPB_INT64_MAX) | (b == GPB_INT64_MAX) | (*result == GPB_INT64_MAX);
}

GPB_FN bool
gpb_upper_multiply(int64 a, int64 b, int64 carry, int64 *result)
{
	bool		beyond = gpb_int64_multiply(a, b, result);

	beyond |= gpb_int64_add(*result, carry, result);
	return beyond | (a == GPB_INT64_MAX) | (*result == GPB_INT64_MAX);
}

/* ---- float8 ---- */

GPB_FN bool
gpb_float_is_infinite(double value)
{
	return value - value != value - value && value == value;
}

/* A sum or difference of a and b, as its bits; true if it overflowed. */
GPB_FN bool
gpb_float_checked_sum(double a, double b, double sum, int64 *result)
{
	*result = gpb_float_bits(sum);
	return gpb_float_is_infinite(sum) && !gpb_float_is_infinite(a) && !gpb_float_is_infinite(b);
}

GPB_FN bool
gpb_float_add(double a, double b, int64 *result)
{
	return gpb_float_checked_sum(a, b, a + b, result);
}

GPB_FN bool
gpb_float_subtract(double a, double b, int64 *result)
{
	return gpb_float_checked_sum(a, b, a - b, result);
}

GPB_FN bool
gpb_float_multiply(double a, double b, int64 *result)
{
	double		product = a * b;

	*result = gpb_float_bits(product);
	return (gpb_float_is_infinite(product) && !gpb_float_is_infinite(a) &&
			!gpb_float_is_infinite(b)) ||
		(product == 0.0 && a != 0.0 && b != 0.0);
}

/*
 * What rounding took from the product of a and b: exact if the product is at least 2^-969, else
 * rounded to a multiple of 2^-1074.  It is 0 where the rounded product is not finite.
 */
GPB_FN int64
gpb_float_product_rest(double a, double b)
{
	double		product = a * b;

	if (!gpb_float_is_finite(gpb_float_bits(product)))
		return 0;
	return gpb_float_bits(fma(a, b, -product));
}

GPB_FN bool
gpb_float_divide(double a, double b, int64 *result)
{
	double		quotient = a / b;

	*result = gpb_float_bits(quotient);
	if (b == 0.0)
		return a == a;			/* NaN / 0 is NaN */
	return (gpb_float_is_infinite(quotient) && !gpb_float_is_infinite(a)) ||
		(quotient == 0.0 && a != 0.0 && !gpb_float_is_infinite(b));
}

/* Round to the nearest integer, ties to even; true if it does not fit 64 bits. */
GPB_FN bool
gpb_float_to_int64(double value, int64 *result)
{
	double		rounded = rint(value);

	*result = 0;
	if (!(rounded >= -9223372036854775808.0 && rounded < 9223372036854775808.0))
		return true;
	*result = (int64) rounded;
	return false;
}

/* ---- dates and timestamps ---- */

#define GPB_USECS_PER_DAY	((int64) 86400000000)

/* Finite dates and timestamps are in [least, end), as in datatype/timestamp.h. */
#define GPB_TIMESTAMP_LEAST ((int64) -211813488000000000)
#define GPB_TIMESTAMP_END	((int64) 9223371331200000000)
#define GPB_DATE_LEAST		((int64) -2451545)	/* 4714-11-24 BC */
#define GPB_DATE_END		((int64) 2145031949)	/* 5874898-01-01 */
/* Days from 2000-01-01 on whose timestamps are out of range: TIMESTAMP_END_JULIAN */
#define GPB_TIMESTAMP_END_DAY	((int64) 106751983)

GPB_FN bool
gpb_date_is_infinite(int64 date)
{
	return date == GPB_INT32_MIN || date == GPB_INT32_MAX;
}

GPB_FN bool
gpb_timestamp_is_infinite(int64 timestamp)
{
	return timestamp == GPB_INT64_MIN || timestamp == GPB_INT64_MAX;
}

GPB_FN bool
gpb_date_to_timestamp(int64 date, int64 *result)
{
	*result = 0;
	if (gpb_date_is_infinite(date))
		*result = date < 0 ? GPB_INT64_MIN : GPB_INT64_MAX;
	else if (date >= GPB_TIMESTAMP_END_DAY)
		return true;
	else
		*result = date * GPB_USECS_PER_DAY;
	return false;
}

GPB_FN int64
gpb_timestamp_to_date(int64 timestamp)
{
	int64		day;

	if (gpb_timestamp_is_infinite(timestamp))
		return timestamp < 0 ? GPB_INT32_MIN : GPB_INT32_MAX;
	day = timestamp / GPB_USECS_PER_DAY;
	return day - (timestamp % GPB_USECS_PER_DAY < 0);
}

GPB_FN bool
gpb_date_add(int64 date, int64 days, int64 *result)
{
	*result = date;
	if (gpb_date_is_infinite(date))
		return false;
	*result = date + days;
	return *result < GPB_DATE_LEAST || *result >= GPB_DATE_END;
}

GPB_FN bool
gpb_date_subtract(int64 a, int64 b, int64 *result)
{
	*result = a - b;
	return gpb_date_is_infinite(a) || gpb_date_is_infinite(b);
}

GPB_FN bool
gpb_timestamp_add(int64 timestamp, int64 microseconds, int64 *result)
{
	*result = timestamp;
	if (gpb_timestamp_is_infinite(timestamp))
		return false;
	return gpb_int64_add(timestamp, microseconds, result) ||
		*result < GPB_TIMESTAMP_LEAST || *result >= GPB_TIMESTAMP_END;
}

GPB_FN bool
gpb_timestamp_truncate(int64 timestamp, int64 unit, int64 origin, int64 *result)
{
	*result = timestamp;
	return !gpb_timestamp_is_infinite(timestamp) &&
		gpb_int64_truncate(timestamp, unit, origin, result);
}

/*
 * Months are counted from January of year 0 (1 BC) of the proleptic Gregorian calendar, days from
 * 2000-01-01.  The calendar repeats itself every 400 years, an era; years that begin in March put
 * the leap day at their end.
 *
 * Both are computed in words of 32 bits without a sign, since device code for a division of 64 bits
 * is several times as long, and as slow.  So they are counted from an era that is before all days
 * that a word has as a timestamp, and months up to GPB_MOST_MONTHS before.
 */
#define GPB_ERA_DAYS		146097
#define GPB_ERA_MONTHS		4800
#define GPB_ERAS_BEFORE		1000
#define GPB_MARCH_OF_YEAR_0 (-730425)

/* The most months that timestamps are truncated to */
#define GPB_MOST_MONTHS		12000

/*
 * Days from 2000-01-01 to the first of a month, which is before the end of the calendar and not
 * more than GPB_MOST_MONTHS before the month of the least word as a timestamp.
 */
GPB_FN int64
gpb_days_of_month(int64 month)
{
	uint32		shifted = (uint32) (month - 2 + GPB_ERAS_BEFORE * GPB_ERA_MONTHS);
	uint32		year = shifted / 12;
	uint32		of_year = shifted % 12; /* 0 is March */
	uint32		of_era = year % 400;

	return (int64) (year / 400 * GPB_ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 +
					(153 * of_year + 2) / 5) -
		GPB_ERAS_BEFORE * GPB_ERA_DAYS + GPB_MARCH_OF_YEAR_0;
}

/* The month of a day, which is that of a finite date, or of any word as a timestamp */
GPB_FN int64
gpb_month_of_day(int64 day)
{
	uint32		shifted = (uint32) (day - GPB_MARCH_OF_YEAR_0 + GPB_ERAS_BEFORE * GPB_ERA_DAYS);
	uint32		of_era = shifted % GPB_ERA_DAYS;
	uint32		year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint32		of_year = of_era - (365 * year + year / 4 - year / 100);

	return (int64) (shifted / GPB_ERA_DAYS * GPB_ERA_MONTHS + year * 12 + (5 * of_year + 2) / 153) +
		2 - GPB_ERAS_BEFORE * GPB_ERA_MONTHS;
}

/* The month of a date; true if that is not finite. */
GPB_FN bool
gpb_date_to_month(int64 date, int64 *result)
{
	*result = 0;
	if (date < GPB_DATE_LEAST || date >= GPB_DATE_END)
		return true;
	*result = gpb_month_of_day(date);
	return false;
}

/* Months from 5000 BC to the end of the calendar */
#define GPB_MONTH_LEAST		((int64) -4999 * 12)
#define GPB_MONTH_END		((int64) 5874898 * 12)

GPB_FN bool
gpb_month_to_date(int64 month, int64 *result)
{
	*result = 0;
	if (month < GPB_MONTH_LEAST || month >= GPB_MONTH_END)
		return true;
	*result = gpb_days_of_month(month);
	return false;
}

GPB_FN bool
gpb_truncate_months(int64 timestamp, int64 months, int64 *result)
{
	int32		month;
	int32		rest;

	*result = timestamp;
	if (gpb_timestamp_is_infinite(timestamp))
		return false;
	if (months <= 0 || months > GPB_MOST_MONTHS)
		return true;
	month = (int32) gpb_month_of_day(gpb_timestamp_to_date(timestamp));
	rest = month % (int32) months;
	if (rest < 0)
		rest += (int32) months;
	*result = gpb_days_of_month(month - rest) * GPB_USECS_PER_DAY;
	return *result < GPB_TIMESTAMP_LEAST;
}

/* The timestamp "months" later, on the same day or on the month's last */
GPB_FN bool
gpb_add_months(int64 timestamp, int64 months, int64 *result)
{
	int64		day;
	int64		month;
	int64		of_month;		/* days since the first of its month */
	int64		last;

	*result = timestamp;
	if (gpb_timestamp_is_infinite(timestamp))
		return false;
	day = gpb_timestamp_to_date(timestamp);
	month = gpb_month_of_day(day);
	of_month = day - gpb_days_of_month(month);
	timestamp -= day * GPB_USECS_PER_DAY;
	if (gpb_int64_add(month, months, &month) || month < GPB_MONTH_LEAST ||
		month >= GPB_MONTH_END)
		return true;
	last = gpb_days_of_month(month + 1) - gpb_days_of_month(month) - 1;
	day = gpb_days_of_month(month) + (of_month < last ? of_month : last);
	/* No day before the least timestamp's, or from this one on, has any. */
	if (day < GPB_DATE_LEAST || day >= GPB_TIMESTAMP_END_DAY)
		return true;
	return gpb_timestamp_add(day * GPB_USECS_PER_DAY, timestamp, result);
}

/* ---- time zones ---- */

/*
 * A zone's offsets in a table, whose words ascend: each has a moment, in seconds from 2000-01-01
 * UTC, and by how many seconds local time is ahead of UTC from then on.  The last one only says up
 * to when the table reaches; without it the table reaches nowhere.  A zone is there with all
 * moments at which core sees a change, even if the offset stays what it was.
 */
#define GPB_ZONE_BITS		18
#define GPB_ZONE_BIAS		((int64) 1 << 17)

/* Moments before and after all timestamps: the zone has no change before, or after, the others. */
#define GPB_ZONE_BEGIN		(-((int64) 1 << 44))
#define GPB_ZONE_END		((int64) 1 << 44)

#define GPB_SECONDS_PER_DAY	86400
#define GPB_USECS_PER_SECOND	((int64) 1000000)

GPB_FN int64
gpb_zone_word(int64 moment, int64 offset)
{
	return moment * ((int64) 1 << GPB_ZONE_BITS) + (offset + GPB_ZONE_BIAS);
}

GPB_FN int64
gpb_word_moment(int64 word)
{
	return word >> GPB_ZONE_BITS;
}

GPB_FN int64
gpb_word_offset(int64 word)
{
	return (word & (((int64) 1 << GPB_ZONE_BITS) - 1)) - GPB_ZONE_BIAS;
}

/* The last of n words whose moment is not after "seconds", or the first */
GPB_FN int
gpb_zone_find(const int64 *table, int n, int64 seconds)
{
	int			at = 0;

	while (n > 1)
	{
		int			half = n / 2;

		at += gpb_word_moment(table[at + half]) <= seconds ? half : 0;
		n -= half;
	}
	return at;
}

GPB_FN int64
gpb_timestamp_seconds(int64 timestamp)
{
	return timestamp / GPB_USECS_PER_SECOND - (timestamp % GPB_USECS_PER_SECOND < 0);
}

GPB_FN bool
gpb_to_local(int64 timestamp, const int64 *table, int n, int64 *result)
{
	int64		seconds = gpb_timestamp_seconds(timestamp);
	int			at = gpb_zone_find(table, n, seconds);

	*result = timestamp;
	if (gpb_timestamp_is_infinite(timestamp))
		return false;
	return at >= n - 1 || seconds < gpb_word_moment(table[0]) ||
		gpb_timestamp_add(timestamp, gpb_word_offset(table[at]) * GPB_USECS_PER_SECOND, result);
}

/*
 * Core looks for the first change later than a day before the local time, taken as UTC, and takes
 * the offset before or after it; where neither fits, or both do, that which makes the later moment.
 */
GPB_FN bool
gpb_of_local(int64 timestamp, const int64 *table, int n, int64 *result)
{
	int64		seconds = gpb_timestamp_seconds(timestamp);
	int			at = gpb_zone_find(table, n, seconds - GPB_SECONDS_PER_DAY);
	int64		offset;

	*result = timestamp;
	if (gpb_timestamp_is_infinite(timestamp))
		return false;
	if (at >= n - 1 || seconds - GPB_SECONDS_PER_DAY < gpb_word_moment(table[0]))
		return true;
	offset = gpb_word_offset(table[at]);
	if (at < n - 2)
	{
		int64		change = gpb_word_moment(table[at + 1]);
		int64		after = gpb_word_offset(table[at + 1]);
		bool		before_fits = seconds - offset < change;
		bool		after_fits = seconds - after >= change;

		if (before_fits == after_fits ? seconds - offset <= seconds - after : after_fits)
			offset = after;
	}
	else if (gpb_word_moment(table[n - 1]) != GPB_ZONE_END)
		return true;
	return gpb_timestamp_add(timestamp, -offset * GPB_USECS_PER_SECOND, result);
}

/* ---- values that may be NULL ---- */

/* The truth of a boolean: 1 if it is true, 0 if it is false or NULL */
GPB_FN bool
gpb_is_true(GpbValue value)
{
	return !value.is_null && value.word != 0;
}

GPB_FN GpbValue
gpb_boolean(bool truth)
{
	GpbValue	value = {0, false};

	value.word = truth;
	return value;
}

GPB_FN GpbValue
gpb_and(GpbValue a, GpbValue b)
{
	GpbValue	result = {0, false};

	result.is_null = (a.is_null && (b.is_null || b.word != 0)) ||
		(b.is_null && a.word != 0 && !a.is_null);
	result.word = gpb_is_true(a) && gpb_is_true(b);
	return result;
}

GPB_FN GpbValue
gpb_or(GpbValue a, GpbValue b)
{
	GpbValue	result = {0, false};

	result.word = gpb_is_true(a) || gpb_is_true(b);
	result.is_null = (a.is_null || b.is_null) && result.word == 0;
	return result;
}

GPB_FN bool
gpb_are_distinct(GpbValue a, GpbValue b)
{
	return a.is_null != b.is_null || (!a.is_null && a.word != b.word);
}

/* ---- tables ---- */

/* Is the value among n words, which ascend? */
GPB_FN bool
gpb_is_among(const int64 *words, int n, int64 value)
{
	int			low = 0;
	int			high = n;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (words[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && words[low] == value;
}

/*
 * Sets of codes, which are not negative.  The first word of a table says how it has one: if it is
 * GPB_CODES_LISTED, the other words are the codes, ascending.  Else it is a code, from which on
 * there is a bit for each, from the least significant of each word on; codes without a bit are not
 * in the set.  A table without words is an empty set.
 */
#define GPB_CODES_LISTED	((int64) -1)
#define GPB_CODES_IN_WORD	64

GPB_FN bool
gpb_is_among_codes(const int64 *table, int n, int64 code)
{
	uint64		bit;

	if (n == 0)
		return false;
	if (table[0] == GPB_CODES_LISTED)
		return gpb_is_among(table + 1, n - 1, code);
	/* A code before the first bit's becomes a bit far behind the last. */
	bit = (uint64) code - (uint64) table[0];
	return bit < (uint64) (n - 1) * GPB_CODES_IN_WORD &&
		((uint64) table[1 + bit / GPB_CODES_IN_WORD] >> bit % GPB_CODES_IN_WORD & 1) != 0;
}

/*
 * Ranks of codes, so that the order of words is that of what the codes stand for.  The first word
 * of a table has the first code, and from GPB_RANK_BITS_AT on the bits of a rank less one; the
 * others have the ranks of the codes from it on, as many as fit into a word, from the least
 * significant bits on.  The result has the rank in its upper half, and the code in its lower one;
 * the rank of a code without one is 0.
 */
#define GPB_RANK_BITS_AT	32
#define GPB_MAX_RANK_BITS	31

GPB_FN int64
gpb_ranked_code(const int64 *table, int n, int64 code)
{
	uint32		bits;
	uint32		in_word;
	uint64		place;
	uint64		rank = 0;

	if (n > 0)
	{
		bits = ((uint64) table[0] >> GPB_RANK_BITS_AT) % GPB_MAX_RANK_BITS + 1;
		in_word = 64 / bits;
		/* A code before the first one becomes a place far behind the last. */
		place = (uint64) code - (uint32) table[0];
		if (place < (uint64) (n - 1) * in_word)
			rank = (uint64) table[1 + (uint32) place / in_word] >>
				(uint32) place % in_word * bits & (((uint64) 1 << bits) - 1);
	}
	return (int64) (rank << 32 | (uint32) code);
}

/* ---- all operators ---- */

/* Is the result of the operator more than NULL where an operand is? */
GPB_FN bool
gpb_operator_takes_nulls(int op)
{
	return gpb_operator_kind(op) == GPB_OPERATOR_NULLS;
}

/* Can the operator fault? */
GPB_FN bool
gpb_operator_can_fault(int op)
{
	return gpb_operator_kind(op) == GPB_OPERATOR_FAULTS ||
		gpb_operator_kind(op) == GPB_OPERATOR_FAULTS_TABLE;
}

#define GPB_NO_CASE(op, does)
#define GPB_CASE_RETURN(op, does)	case op: return does;
#define GPB_CASE_RESULT(op, does)	case op: *result = does; return false;

#define GPB_OF_NULLS_FILTER			GPB_NO_CASE
#define GPB_OF_NULLS_NULLS			GPB_CASE_RETURN
#define GPB_OF_NULLS_VALUES			GPB_NO_CASE
#define GPB_OF_NULLS_FAULTS			GPB_NO_CASE
#define GPB_OF_NULLS_TABLE			GPB_NO_CASE
#define GPB_OF_NULLS_FAULTS_TABLE	GPB_NO_CASE
#define GPB_OF_NULLS_LONG_TABLE		GPB_NO_CASE

#define GPB_OF_VALUES_FILTER		GPB_NO_CASE
#define GPB_OF_VALUES_NULLS			GPB_NO_CASE
#define GPB_OF_VALUES_VALUES		GPB_CASE_RESULT
#define GPB_OF_VALUES_FAULTS		GPB_CASE_RETURN
#define GPB_OF_VALUES_TABLE			GPB_CASE_RESULT
#define GPB_OF_VALUES_FAULTS_TABLE	GPB_CASE_RETURN
#define GPB_OF_VALUES_LONG_TABLE	GPB_CASE_RESULT

/* The result of an operator that takes NULLs, of operands that may be NULL. */
GPB_FN GpbValue
gpb_step_of_nulls(int op, GpbValue a, GpbValue b, GpbValue c)
{
	switch (op)
	{
#define GPB_OPERATOR(name, operands, kind, range, does) GPB_OF_NULLS_##kind(GPB_OP_##name, does)
#include "program/program_operators.h"
		default:
			return gpb_boolean(false);
	}
}

/*
 * The result of an operator that takes no NULLs, at *result.  Returns true if it faults.  The words
 * of the step's table are table[0] to table[n - 1]; they are not read if it has none.
 */
GPB_FN bool
gpb_step_of_values(int op, int64 a, int64 b, int64 c, const int64 *table, int n, int64 *result)
{
	switch (op)
	{
#define GPB_OPERATOR(name, operands, kind, range, does) GPB_OF_VALUES_##kind(GPB_OP_##name, does)
#include "program/program_operators.h"
		default:
			*result = 0;
			return true;
	}
}

#endif							/* GPB_PROGRAM_STEPS_H */
