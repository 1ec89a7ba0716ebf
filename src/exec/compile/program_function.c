/*-------------------------------------------------------------------------
 *
 * program_function.c
 *	  How steps of a program say the functions of words that core_function.c lists.
 *
 * Where core's function raises an error the steps fault.  They may fault where it does not, as a
 * comparison of a date beyond the range of timestamps does: the node then does without the program.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/timestamp.h"

#include "exec/compile/program_build_internal.h"
#include "exec/functions/date_units.h"
#include "program/program_steps.h"

bool
gpb_function_can_fault(Oid function)
{
	const GpbFunction *known = gpb_core_function(function);

	if (known == NULL)
		return true;
	switch (known->call)
	{
		case GPB_CALL_COMPARE:
		case GPB_CALL_COMPARE_FLOATS:
		case GPB_CALL_SAME:
		case GPB_CALL_NOT_ZERO:
			return false;
		case GPB_CALL_STEP:
			return gpb_operator_can_fault(known->op) || known->then != 0;
		default:
			return true;
	}
}

bool
gpb_function_takes_value(const GpbFunction *function, int argument)
{
	switch (function->call)
	{
		case GPB_CALL_SHIFT:
		case GPB_DECIMAL_QUOTIENT:
		case GPB_DECIMAL_TRUNC:
		case GPB_DECIMAL_ROUND:
			return argument == 0;
		case GPB_DECIMAL_FIELD:
		case GPB_CALL_TRUNC:
		case GPB_CALL_BIN:
		case GPB_CALL_AT_ZONE:
		case GPB_CALL_OF_ZONE:
			return argument == 1;
		default:
			return true;
	}
}

/* ---- local time ---- */

/* A step that looks up a zone's offset */
static int
zone_step(GpbProgramBuilder *builder, int op, int slot, Const *zone)
{
	int			unused;

	if (zone == NULL)
		zone = makeNullConst(TEXTOID, -1, InvalidOid);
	return gpb_slot_with_table(builder, op, slot, (Expr *) zone,
							   gpb_class_type(GPB_TABLE_ZONE, 0), &unused);
}

int
gpb_local_slot(GpbProgramBuilder *builder, int slot, Const *zone)
{
	return zone_step(builder, GPB_OP_TO_LOCAL, slot, zone);
}

int
gpb_of_local_slot(GpbProgramBuilder *builder, int slot, Const *zone)
{
	return zone_step(builder, GPB_OP_OF_LOCAL, slot, zone);
}

int
gpb_moment_slot(GpbProgramBuilder *builder, Oid type, int slot)
{
	if (type == DATEOID)
		slot = STEP1(GPB_OP_DATE_TO_TIMESTAMP, slot);
	return gpb_of_local_slot(builder, slot, NULL);
}

/* ---- intervals ---- */

/* An argument that is no word; NULL, with a refusal, unless it is a constant */
static Const *
constant_argument(GpbProgramBuilder *builder, List *args, int i)
{
	Const	   *value = list_nth(args, i);

	if (IsA(value, Const) && !value->constisnull)
		return value;
	(void) gpb_refuse(builder, "an interval, unit, origin or zone that is not constant");
	return NULL;
}

/* An operator of a timestamp and a number; that of a timestamptz is in the session's local time. */
static int
in_local_time(GpbProgramBuilder *builder, int op, int slot, int64 number, bool has_zone)
{
	if (number == 0)
		return slot;
	if (!has_zone)
		return STEP2(op, slot, WORD(number));
	slot = STEP2(op, gpb_local_slot(builder, slot, NULL), WORD(number));
	return gpb_of_local_slot(builder, slot, NULL);
}

/*
 * A date or timestamp shifted by an interval.  Core adds the months first, then the days and then
 * the time, and checks each sum, so days and time are one step only if they have the same sign.
 */
static int
shift(GpbProgramBuilder *builder, const GpbFunction *function, int slot, List *args)
{
	Const	   *value = constant_argument(builder, args, 1);
	int64		sign = function->op == GPB_OP_SUBTRACT ? -1 : 1;
	bool		has_zone = function->then == TIMESTAMPTZOID;
	Interval	days = {0};
	Interval   *interval;
	int64		length;

	if (value == NULL)
		return GPB_REFUSED;
	interval = DatumGetIntervalP(value->constvalue);
	days.day = interval->day;
	if (interval->time == PG_INT64_MIN || !gpb_interval_length(&days, &length))
		return gpb_refuse(builder, "an interval that is too long");
	if (function->then == DATEOID)
		slot = STEP1(GPB_OP_DATE_TO_TIMESTAMP, slot);
	slot = in_local_time(builder, GPB_OP_ADD_MONTHS, slot, sign * interval->month, has_zone);
	days.time = interval->time;
	if (!has_zone && (length < 0) == (days.time < 0) && gpb_interval_length(&days, &length))
		return in_local_time(builder, GPB_OP_TIMESTAMP_ADD, slot, sign * length, false);
	slot = in_local_time(builder, GPB_OP_TIMESTAMP_ADD, slot, sign * length, has_zone);
	return in_local_time(builder, GPB_OP_TIMESTAMP_ADD, slot, sign * interval->time, false);
}

/* ---- date_trunc() and date_bin() ---- */

/* A timestamp cut off at a unit */
static int
truncate_to(GpbProgramBuilder *builder, const GpbTruncUnit *unit, int slot)
{
	if (unit->months > 0)
		return STEP2(GPB_OP_TRUNCATE_MONTHS, slot, WORD(unit->months));
	return STEP3(GPB_OP_TRUNCATE, slot, WORD(unit->length), WORD(unit->origin));
}

/*
 * A timestamptz cut off at a unit of local time.  Core has what is shorter than a day keep the
 * offset that the moment has, and looks for that of the day's beginning otherwise.
 */
static int
truncate_local(GpbProgramBuilder *builder, const GpbTruncUnit *unit, int slot, Const *zone)
{
	int			local = gpb_local_slot(builder, slot, zone);
	int			truncated = truncate_to(builder, unit, local);

	if (unit->months > 0 || unit->length >= USECS_PER_DAY)
		return gpb_of_local_slot(builder, truncated, zone);
	return STEP2(GPB_OP_TIMESTAMP_ADD, truncated, STEP2(GPB_OP_SUBTRACT, slot, local));
}

/*
 * date_trunc().  The offsets of time zones are whole seconds, so for a timestamptz units up to
 * seconds are independent of the zone; others are of local time.
 */
static int
truncation(GpbProgramBuilder *builder, const GpbFunction *function, int slot, List *args)
{
	Const	   *value = constant_argument(builder, args, 0);
	Const	   *zone = list_length(args) > 2 ? constant_argument(builder, args, 2) : NULL;
	const GpbTruncUnit *unit;

	if (value == NULL || (zone == NULL && list_length(args) > 2))
		return GPB_REFUSED;
	unit = gpb_trunc_unit(DatumGetTextPP(value->constvalue));
	if (unit == NULL)
		return gpb_refuse(builder, "unit of date_trunc()");
	if (function->then != TIMESTAMPTZOID ||
		(zone == NULL && unit->months == 0 && unit->length <= USECS_PER_SEC))
		return truncate_to(builder, unit, slot);
	return truncate_local(builder, unit, slot, zone);
}

/*
 * date_bin().  Core checks the result of a timestamp before the origin, which is beyond the range
 * of timestamps if a bin begins there.
 */
static int
bin(GpbProgramBuilder *builder, int slot, List *args)
{
	Const	   *stride = constant_argument(builder, args, 0);
	Const	   *start = constant_argument(builder, args, 2);
	int64		length;
	int64		origin;
	int64		least;

	if (stride == NULL || start == NULL)
		return GPB_REFUSED;
	origin = DatumGetTimestamp(start->constvalue);
	if (!gpb_interval_length(DatumGetIntervalP(stride->constvalue), &length) || length <= 0 ||
		TIMESTAMP_NOT_FINITE(origin) || !gpb_bins_begin_themselves())
		return gpb_refuse(builder, "stride or origin of date_bin()");
	slot = STEP3(GPB_OP_TRUNCATE, slot, WORD(length), WORD(origin));
	if (gpb_int64_truncate(GPB_TIMESTAMP_LEAST, length, origin, &least) ||
		least < GPB_TIMESTAMP_LEAST)
		slot = STEP2(GPB_OP_TIMESTAMP_ADD, slot, WORD(0));
	return slot;
}

/* ---- to_timestamp() ---- */

/*
 * The timestamptz of seconds since 1970, by the same operations on float8 as core's.  The least
 * word would be -infinity, where core raises an error.
 */
static int
timestamp_of_epoch(GpbProgramBuilder *builder, int slot)
{
	double		epoch = (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (double) SECS_PER_DAY;

	slot = STEP2(GPB_OP_FLOAT_SUBTRACT, slot, gpb_slot_float(builder, epoch));
	slot = STEP2(GPB_OP_FLOAT_MULTIPLY, slot, gpb_slot_float(builder, (double) USECS_PER_SEC));
	slot = STEP1(GPB_OP_FLOAT_TO_INT, slot);
	(void) gpb_slot_kept(builder, STEP1(GPB_OP_NEGATE, slot));
	return STEP2(GPB_OP_TIMESTAMP_ADD, slot, WORD(0));
}

/* ---- AT TIME ZONE ---- */

static int
in_zone(GpbProgramBuilder *builder, const GpbFunction *function, int slot, List *args)
{
	Const	   *zone = constant_argument(builder, args, 0);

	if (zone == NULL)
		return GPB_REFUSED;
	return function->call == GPB_CALL_AT_ZONE ? gpb_local_slot(builder, slot, zone) :
		gpb_of_local_slot(builder, slot, zone);
}

/* ---- all functions ---- */

int
gpb_function_slot(GpbProgramBuilder *builder, const GpbFunction *function, const GpbTyped *value,
				  List *args)
{
	int			result;

	switch ((GpbCall) function->call)
	{
		case GPB_CALL_STEP:
			result = STEP2(function->op, value[0].slot, value[1].slot);
			return function->then == 0 ? result :
				STEP1(function->then, result);
		case GPB_CALL_SAME:
			return value[0].slot;
		case GPB_CALL_NOT_ZERO:
			return STEP2(function->op, value[0].slot, WORD(0));
		case GPB_CALL_MINUS_DAYS:
			return STEP2(function->op, value[0].slot, STEP1(GPB_OP_NEGATE, value[1].slot));
		case GPB_CALL_SHIFT:
			return shift(builder, function, value[0].slot, args);
		case GPB_CALL_TO_TIMESTAMP:
			return timestamp_of_epoch(builder, value[0].slot);
		case GPB_CALL_TRUNC:
			return truncation(builder, function, value[1].slot, args);
		case GPB_CALL_BIN:
			return bin(builder, value[1].slot, args);
		case GPB_CALL_LOCAL:
			return gpb_local_slot(builder, value[0].slot, NULL);
		case GPB_CALL_LOCAL_DATE:
			return STEP1(GPB_OP_TIMESTAMP_TO_DATE, gpb_local_slot(builder, value[0].slot, NULL));
		case GPB_CALL_OF_LOCAL:
			return gpb_moment_slot(builder, TIMESTAMPOID, value[0].slot);
		case GPB_CALL_OF_LOCAL_DATE:
			return gpb_moment_slot(builder, DATEOID, value[0].slot);
		case GPB_CALL_AT_ZONE:
		case GPB_CALL_OF_ZONE:
			return in_zone(builder, function, value[1].slot, args);
		default:
			return GPB_REFUSED;
	}
}
