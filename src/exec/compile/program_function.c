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

const GpbFunction *
gpb_function_find(Oid function)
{
	const GpbFunction *found = gpb_core_function(function);

	if (found == NULL || found->call == GPB_CALL_NONE || found->call >= GPB_DECIMAL_FIELD)
		return NULL;
	return found;
}

bool
gpb_function_can_fault(Oid function)
{
	const GpbFunction *known = gpb_function_find(function);

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
gpb_function_takes_word(const GpbFunction *function, int argument)
{
	switch (function->call)
	{
		case GPB_CALL_SHIFT:
			return argument == 0;
		case GPB_CALL_TRUNC:
		case GPB_CALL_BIN:
		case GPB_CALL_AT_ZONE:
		case GPB_CALL_OF_ZONE:
			return argument == 1;
		default:
			return true;
	}
}

bool
gpb_function_is_equality(const GpbFunction *function, bool negated)
{
	return (function->call == GPB_CALL_COMPARE || function->call == GPB_CALL_COMPARE_FLOATS) &&
		function->op == (negated ? GPB_OP_NE : GPB_OP_EQ);
}

/* ---- comparisons ---- */

/* A date or timestamp of local time as a timestamptz */
static int
moment_of(GpbProgramBuilder *builder, Oid type, int slot)
{
	if (type == DATEOID)
		slot = gpb_slot_step(builder, GPB_OP_DATE_TO_TIMESTAMP, slot, 0, 0);
	return gpb_slot_of_local(builder, slot, NULL);
}

/* A comparison by an operator, which may be another than the function's */
static int
comparison(GpbProgramBuilder *builder, const GpbFunction *function, int op, const int *slot)
{
	int			operand[2] = {slot[0], slot[1]};
	int			i;

	for (i = 0; i < 2; i++)
	{
		if (function->call == GPB_CALL_COMPARE_FLOATS)
			operand[i] = gpb_slot_step(builder, GPB_OP_FLOAT_ORDER, slot[i], 0, 0);
		else if ((function->call == GPB_CALL_COMPARE_DATE && i == 0) ||
				 (function->call == GPB_CALL_COMPARE_WITH_DATE && i == 1))
			operand[i] = gpb_slot_step(builder, GPB_OP_DATE_TO_TIMESTAMP, slot[i], 0, 0);
		else if ((function->call == GPB_CALL_COMPARE_LOCAL && i == 0) ||
				 (function->call == GPB_CALL_COMPARE_WITH_LOCAL && i == 1))
			operand[i] = moment_of(builder, function->then, slot[i]);
	}
	return gpb_slot_step(builder, op, operand[0], operand[1], 0);
}

int
gpb_function_distinct(GpbProgramBuilder *builder, const GpbFunction *function, const int *slot)
{
	if (function->op != GPB_OP_EQ || function->call > GPB_CALL_COMPARE_WITH_DATE)
		return gpb_refuse(builder, "IS DISTINCT FROM of these types");
	return comparison(builder, function, GPB_OP_DISTINCT, slot);
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
		return gpb_slot_step(builder, op, slot, gpb_slot_word(builder, number), 0);
	slot = gpb_slot_step(builder, op, gpb_slot_local(builder, slot, NULL),
						 gpb_slot_word(builder, number), 0);
	return gpb_slot_of_local(builder, slot, NULL);
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
		slot = gpb_slot_step(builder, GPB_OP_DATE_TO_TIMESTAMP, slot, 0, 0);
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
		return gpb_slot_step(builder, GPB_OP_TRUNCATE_MONTHS, slot,
							 gpb_slot_word(builder, unit->months), 0);
	return gpb_slot_step(builder, GPB_OP_TRUNCATE, slot,
						 gpb_slot_word(builder, unit->length),
						 gpb_slot_word(builder, unit->origin));
}

/*
 * A timestamptz cut off at a unit of local time.  Core has what is shorter than a day keep the
 * offset that the moment has, and looks for that of the day's beginning otherwise.
 */
static int
truncate_local(GpbProgramBuilder *builder, const GpbTruncUnit *unit, int slot, Const *zone)
{
	int			local = gpb_slot_local(builder, slot, zone);
	int			truncated = truncate_to(builder, unit, local);

	if (unit->months > 0 || unit->length >= USECS_PER_DAY)
		return gpb_slot_of_local(builder, truncated, zone);
	return gpb_slot_step(builder, GPB_OP_TIMESTAMP_ADD, truncated,
						 gpb_slot_step(builder, GPB_OP_SUBTRACT, slot, local, 0), 0);
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
	slot = gpb_slot_step(builder, GPB_OP_TRUNCATE, slot, gpb_slot_word(builder, length),
						 gpb_slot_word(builder, origin));
	if (gpb_int64_truncate(GPB_TIMESTAMP_LEAST, length, origin, &least) ||
		least < GPB_TIMESTAMP_LEAST)
		slot = gpb_slot_step(builder, GPB_OP_TIMESTAMP_ADD, slot, gpb_slot_word(builder, 0), 0);
	return slot;
}

/* ---- to_timestamp() ---- */

static int
float_word(GpbProgramBuilder *builder, double value)
{
	return gpb_slot_constant(builder, (Expr *) makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
														 Float8GetDatum(value), false,
														 FLOAT8PASSBYVAL), FLOAT8OID);
}

/*
 * The timestamptz of seconds since 1970, by the same operations on float8 as core's.  The least
 * word would be -infinity, where core raises an error.
 */
static int
timestamp_of_epoch(GpbProgramBuilder *builder, int slot)
{
	double		epoch = (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (double) SECS_PER_DAY;
	int			check;

	slot = gpb_slot_step(builder, GPB_OP_FLOAT_SUBTRACT, slot, float_word(builder, epoch), 0);
	slot = gpb_slot_step(builder, GPB_OP_FLOAT_MULTIPLY, slot,
						 float_word(builder, (double) USECS_PER_SEC), 0);
	slot = gpb_slot_step(builder, GPB_OP_FLOAT_TO_INT, slot, 0, 0);
	check = gpb_slot_step(builder, GPB_OP_NEGATE, slot, 0, 0);
	if (check >= GPB_FIRST_TEMPORARY)
		builder->kept[check - GPB_FIRST_TEMPORARY] = true;
	return gpb_slot_step(builder, GPB_OP_TIMESTAMP_ADD, slot, gpb_slot_word(builder, 0), 0);
}

/* ---- AT TIME ZONE ---- */

static int
in_zone(GpbProgramBuilder *builder, const GpbFunction *function, int slot, List *args)
{
	Const	   *zone = constant_argument(builder, args, 0);

	if (zone == NULL)
		return GPB_REFUSED;
	return function->call == GPB_CALL_AT_ZONE ? gpb_slot_local(builder, slot, zone) :
		gpb_slot_of_local(builder, slot, zone);
}

/* ---- all functions ---- */

int
gpb_function_slot(GpbProgramBuilder *builder, const GpbFunction *function, const int *slot,
				  List *args)
{
	int			result;

	switch ((GpbCall) function->call)
	{
		case GPB_CALL_COMPARE:
		case GPB_CALL_COMPARE_FLOATS:
		case GPB_CALL_COMPARE_DATE:
		case GPB_CALL_COMPARE_WITH_DATE:
		case GPB_CALL_COMPARE_LOCAL:
		case GPB_CALL_COMPARE_WITH_LOCAL:
			return comparison(builder, function, function->op, slot);
		case GPB_CALL_STEP:
			result = gpb_slot_step(builder, function->op, slot[0], slot[1], 0);
			return function->then == 0 ? result :
				gpb_slot_step(builder, function->then, result, 0, 0);
		case GPB_CALL_SAME:
			return slot[0];
		case GPB_CALL_NOT_ZERO:
			return gpb_slot_step(builder, function->op, slot[0], gpb_slot_word(builder, 0), 0);
		case GPB_CALL_MINUS_DAYS:
			return gpb_slot_step(builder, function->op, slot[0],
								 gpb_slot_step(builder, GPB_OP_NEGATE, slot[1], 0, 0), 0);
		case GPB_CALL_SHIFT:
			return shift(builder, function, slot[0], args);
		case GPB_CALL_TO_TIMESTAMP:
			return timestamp_of_epoch(builder, slot[0]);
		case GPB_CALL_TRUNC:
			return truncation(builder, function, slot[1], args);
		case GPB_CALL_BIN:
			return bin(builder, slot[1], args);
		case GPB_CALL_LOCAL:
			return gpb_slot_local(builder, slot[0], NULL);
		case GPB_CALL_LOCAL_DATE:
			return gpb_slot_step(builder, GPB_OP_TIMESTAMP_TO_DATE,
								 gpb_slot_local(builder, slot[0], NULL), 0, 0);
		case GPB_CALL_OF_LOCAL:
			return moment_of(builder, TIMESTAMPOID, slot[0]);
		case GPB_CALL_OF_LOCAL_DATE:
			return moment_of(builder, DATEOID, slot[0]);
		case GPB_CALL_AT_ZONE:
		case GPB_CALL_OF_ZONE:
			return in_zone(builder, function, slot[1], args);
		default:
			return GPB_REFUSED;
	}
}
