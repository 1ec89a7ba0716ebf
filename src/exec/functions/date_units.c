/*-------------------------------------------------------------------------
 *
 * date_units.c
 *	  What date_trunc() and date_bin() are called with, as numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "common/int.h"
#include "parser/scansup.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"

#include "exec/functions/date_units.h"

static const GpbTruncUnit gpb_trunc_units[] = {
	{DTK_MICROSEC, 1, 0, 0},
	{DTK_MILLISEC, 1000, 0, 0},
	{DTK_SECOND, USECS_PER_SEC, 0, 0},
	{DTK_MINUTE, USECS_PER_MINUTE, 0, 0},
	{DTK_HOUR, USECS_PER_HOUR, 0, 0},
	{DTK_DAY, USECS_PER_DAY, 0, 0},
	{DTK_WEEK, 7 * USECS_PER_DAY, 2 * USECS_PER_DAY, 0},	/* 2000-01-03 is a Monday. */
	{DTK_MONTH, 0, 0, 1},
	{DTK_QUARTER, 0, 0, 3},
	{DTK_YEAR, 0, 0, 12}
};

const GpbTruncUnit *
gpb_trunc_unit(const text *name)
{
	int			unit;
	int			i;

	if (DecodeUnits(0, downcase_truncate_identifier(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name),
													false), &unit) != UNITS)
		return NULL;
	for (i = 0; i < lengthof(gpb_trunc_units); i++)
	{
		if (gpb_trunc_units[i].unit == unit)
			return &gpb_trunc_units[i];
	}
	return NULL;
}

int
gpb_date_field(const text *name)
{
	char	   *lower = downcase_truncate_identifier(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name),
													 false);
	int			field;
	int			type = DecodeUnits(0, lower, &field);

	if (type == UNKNOWN_FIELD)
		type = DecodeSpecial(0, lower, &field);
	return type == UNITS || type == RESERV ? field : -1;
}

bool
gpb_interval_length(const Interval *interval, int64 *length)
{
	return interval->month == 0 &&
		!pg_mul_s64_overflow(interval->day, USECS_PER_DAY, length) &&
		!pg_add_s64_overflow(*length, interval->time, length) &&
		*length != PG_INT64_MIN;
}

bool
gpb_bins_begin_themselves(void)
{
	Interval	stride = {.time = 2};

	return DatumGetTimestamp(DirectFunctionCall3(timestamp_bin, IntervalPGetDatum(&stride),
												 TimestampGetDatum(-2),
												 TimestampGetDatum(0))) == -2;
}
