/*-------------------------------------------------------------------------
 *
 * key_steps.c
 *	  What the steps of a function of the key do.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "exec/functions/key_steps.h"
#include "program/program_steps.h"

int64
gpb_key_in_range(int128 value)
{
	return (int64) Max(Min(value, (int128) PG_INT64_MAX - 1), (int128) PG_INT64_MIN + 1);
}

static int64
multiple_below(int64 value, int64 length, int64 origin)
{
	int128		distance = (int128) value - origin;
	int128		past = distance % length;

	return gpb_key_in_range((int128) value - past - (past < 0 ? length : 0));
}

static int64
months_below(int64 timestamp, int64 months)
{
	int64		month = gpb_month_of_day(gpb_timestamp_to_date(timestamp));

	month -= (month % months + months) % months;
	return gpb_key_in_range((int128) gpb_days_of_month(month) * USECS_PER_DAY);
}

int64
gpb_zone_offset(pg_tz *zone, int64 instant)
{
	pg_time_t	seconds = instant / USECS_PER_SEC - (instant % USECS_PER_SEC < 0);
	struct pg_tm *local;

	seconds += (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY;
	local = pg_localtime(&seconds, zone);
	return local == NULL ? 0 : local->tm_gmtoff * USECS_PER_SEC;
}

/* The instant of a local time of a zone, as date_trunc() has it */
static int64
instant_of(pg_tz *zone, int64 local)
{
	struct pg_tm tm;
	fsec_t		fraction;

	if (timestamp2tm(local, NULL, &tm, &fraction, NULL, NULL) != 0)
		return local;
	return gpb_key_in_range((int128) local + DetermineTimeZoneOffset(&tm, zone) * USECS_PER_SEC);
}

/* The year of a day; days that no date has are in the first year or the last. */
static int64
year_of_day(int64 day)
{
	int64		month = gpb_month_of_day(Max(Min(day, GPB_DATE_END - 1), GPB_DATE_LEAST));
	int64		year = month >= 0 ? month / 12 : -((11 - month) / 12);

	return year > 0 ? year : year - 1;	/* there is no year 0 */
}

/*
 * Since 2000.  Where those since 1970 are no int64, from a moment of 294247 on, extract() divides
 * numerics, which leaves four decimals of the seconds.  Of the 43 microseconds from that moment on
 * its result is below those of the 6 before, which no interval tells.
 */
static int64
epoch_of(int64 timestamp)
{
	if (timestamp < PG_INT64_MAX - (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)
		return timestamp;
	return gpb_key_in_range(((int128) timestamp + 50) / 100 * 100);
}

/* A step's result for a finite date or timestamp, or an integer */
static int64
finite_result(const GpbKeyStep *step, pg_tz *zone, int64 value)
{
	int64		offset;
	int64		result;

	switch (step->op)
	{
		case GPB_KEY_QUOTIENT:
			return value / step->a;
		case GPB_KEY_MULTIPLE:
			return multiple_below(value, step->a, step->b);
		case GPB_KEY_MONTHS:
			return months_below(value, step->a);
		case GPB_KEY_TO_DAY:
			return gpb_timestamp_to_date(value);
		case GPB_KEY_TO_MIDNIGHT:
			return gpb_key_in_range((int128) value * USECS_PER_DAY);
		case GPB_KEY_TO_LOCAL:
			return gpb_key_in_range((int128) value + gpb_zone_offset(zone, value));
		case GPB_KEY_LOCAL_MULTIPLE:
			offset = gpb_zone_offset(zone, value);
			result = multiple_below(gpb_key_in_range((int128) value + offset), step->a, step->b);
			return step->a < USECS_PER_DAY ? gpb_key_in_range((int128) result - offset) :
				instant_of(zone, result);
		case GPB_KEY_LOCAL_MONTHS:
			offset = gpb_zone_offset(zone, value);
			result = months_below(gpb_key_in_range((int128) value + offset), step->a);
			return instant_of(zone, result);
		case GPB_KEY_TO_YEAR:
			return year_of_day(gpb_timestamp_to_date(value));
		case GPB_KEY_DATE_TO_YEAR:
			return year_of_day(value);
		case GPB_KEY_TO_EPOCH:
			return epoch_of(value);
		case GPB_KEY_DATE_TO_EPOCH:
			return value * SECS_PER_DAY;
	}
	return value;
}

static bool
takes_date(GpbKeyOperator op)
{
	return op == GPB_KEY_TO_MIDNIGHT || op == GPB_KEY_DATE_TO_YEAR ||
		op == GPB_KEY_DATE_TO_EPOCH;
}

int64
gpb_key_step(const GpbKeyStep *step, pg_tz *zone, int64 value)
{
	if (takes_date(step->op) && gpb_date_is_infinite(value))
		return value < 0 ? PG_INT64_MIN : PG_INT64_MAX;
	if (step->op != GPB_KEY_QUOTIENT && !takes_date(step->op) &&
		gpb_timestamp_is_infinite(value))
	{
		if (step->op != GPB_KEY_TO_DAY)
			return value;
		return value < 0 ? PG_INT32_MIN : PG_INT32_MAX;
	}
	return finite_result(step, zone, value);
}
