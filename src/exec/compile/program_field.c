/*-------------------------------------------------------------------------
 *
 * program_field.c
 *	  Fields of dates and timestamps in a program, as extract() gives them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "exec/compile/program_field.h"
#include "program/program_steps.h"

/* Days from 1970 to 2000 */
#define GPB_EPOCH_DAYS		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

/* ---- arithmetic ---- */

static int
plus(GpbProgramBuilder *builder, int a, int64 b)
{
	return STEP2(GPB_OP_ADD, a, WORD(b));
}

static int
floor_quotient(GpbProgramBuilder *builder, int a, int64 b)
{
	return STEP2(GPB_OP_FLOOR_DIVIDE, a, WORD(b));
}

/* What is left of a, from 0 to b - 1 */
static int
rest(GpbProgramBuilder *builder, int a, int64 b)
{
	return STEP2(GPB_OP_SUBTRACT, a,
				 STEP2(GPB_OP_MULTIPLY, floor_quotient(builder, a, b), WORD(b)));
}

/* ---- days ---- */

/* The year of a month, as extract() counts it, where there is no year 0 */
static int
year_slot(GpbProgramBuilder *builder, int month)
{
	int			year = floor_quotient(builder, month, MONTHS_PER_YEAR);

	return STEP2(GPB_OP_SUBTRACT, year, STEP2(GPB_OP_LE, year, WORD(0)));
}

/* How many days after the first day of a month a day is */
static int
days_since(GpbProgramBuilder *builder, int day, int month)
{
	return STEP2(GPB_OP_SUBTRACT, day, STEP1(GPB_OP_MONTH_TO_DATE, month));
}

/* The January of a month's year */
static int
january(GpbProgramBuilder *builder, int month)
{
	return STEP2(GPB_OP_SUBTRACT, month, rest(builder, month, MONTHS_PER_YEAR));
}

static int
month_slot(GpbProgramBuilder *builder, int day)
{
	return STEP1(GPB_OP_DATE_TO_MONTH, day);
}

/* The Thursday of a day's week, which is in the week's year; 2000-01-06 was one. */
static int
thursday(GpbProgramBuilder *builder, int day)
{
	return plus(builder, STEP2(GPB_OP_SUBTRACT, day, rest(builder, plus(builder, day, -2), 7)), 3);
}

/* A field of a finite day */
static int
day_field_slot(GpbProgramBuilder *builder, int field, int day)
{
	int			month;

	switch (field)
	{
		case DTK_YEAR:
			return year_slot(builder, month_slot(builder, day));
		case DTK_QUARTER:
			month = rest(builder, month_slot(builder, day), MONTHS_PER_YEAR);
			return plus(builder, floor_quotient(builder, month, 3), 1);
		case DTK_MONTH:
			return plus(builder, rest(builder, month_slot(builder, day), MONTHS_PER_YEAR), 1);
		case DTK_DAY:
			return plus(builder, days_since(builder, day, month_slot(builder, day)), 1);
		case DTK_DOY:
			month = january(builder, month_slot(builder, day));
			return plus(builder, days_since(builder, day, month), 1);
		case DTK_DOW:
			return rest(builder, plus(builder, day, 6), 7);	/* 2000-01-01 was a Saturday. */
		case DTK_ISODOW:
			return plus(builder, rest(builder, plus(builder, day, 5), 7), 1);
		case DTK_ISOYEAR:
			return year_slot(builder, month_slot(builder, thursday(builder, day)));
		case DTK_WEEK:
			day = thursday(builder, day);
			month = january(builder, month_slot(builder, day));
			return plus(builder, floor_quotient(builder, days_since(builder, day, month), 7), 1);
		case DTK_EPOCH:
			return STEP2(GPB_OP_MULTIPLY, plus(builder, day, GPB_EPOCH_DAYS),
						 WORD(SECS_PER_DAY));
		default:
			return gpb_refuse(builder, "a field of extract()");
	}
}

/* ---- times ---- */

/* A field of the time that has passed since midnight, in microseconds */
static int
time_field_slot(GpbProgramBuilder *builder, int field, int time, int *scale)
{
	switch (field)
	{
		case DTK_HOUR:
			return floor_quotient(builder, time, USECS_PER_HOUR);
		case DTK_MINUTE:
			return floor_quotient(builder, rest(builder, time, USECS_PER_HOUR), USECS_PER_MINUTE);
		case DTK_SECOND:
			*scale = 6;
			break;
		case DTK_MILLISEC:
			*scale = 3;
			break;
		default:
			break;
	}
	return rest(builder, time, USECS_PER_MINUTE);
}

static bool
is_time_field(int field)
{
	return field == DTK_HOUR || field == DTK_MINUTE || field == DTK_SECOND ||
		field == DTK_MILLISEC || field == DTK_MICROSEC;
}

int
gpb_field_slot(GpbProgramBuilder *builder, int field, Oid type, int slot, int *scale)
{
	int			day = slot;
	int			time;
	int			epoch;

	*scale = 0;
	if (type == TIMESTAMPTZOID && field != DTK_EPOCH)
		slot = gpb_local_slot(builder, slot, NULL);
	if (type != DATEOID)
		day = STEP1(GPB_OP_TIMESTAMP_TO_DATE, slot);
	/* faults if the day is infinite */
	day = STEP2(GPB_OP_DATE_SUBTRACT, day, WORD(0));
	if (type == DATEOID || (field != DTK_EPOCH && !is_time_field(field)))
		return day_field_slot(builder, field, day);
	time = STEP2(GPB_OP_SUBTRACT, slot, STEP2(GPB_OP_MULTIPLY, day, WORD(USECS_PER_DAY)));
	if (field != DTK_EPOCH)
		return time_field_slot(builder, field, time, scale);
	*scale = 6;
	epoch = STEP2(GPB_OP_ADD, time, STEP2(GPB_OP_MULTIPLY, plus(builder, day, GPB_EPOCH_DAYS),
										  WORD(USECS_PER_DAY)));
	/* Core computes the greatest word otherwise, as it does what no word holds. */
	(void) gpb_slot_kept(builder, STEP2(GPB_OP_ADD, epoch, WORD(1)));
	return epoch;
}
