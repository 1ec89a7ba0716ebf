/*-------------------------------------------------------------------------
 *
 * bucket_function.c
 *	  Functions that put keys into buckets, as date_trunc does, and what is known of their order.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/scansup.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "exec/bucket/bucket_function.h"
#include "exec/functions/core_function.h"
#include "exec/functions/zone.h"
#include "exec/shell/expressions.h"

/* ---- which functions ---- */

/* Units of date_trunc, with their length */
static const struct
{
	int			unit;
	double		microseconds;
}			gpb_units[] = {
	{DTK_MICROSEC, 1.0},
	{DTK_MILLISEC, 1000.0},
	{DTK_SECOND, (double) USECS_PER_SEC},
	{DTK_MINUTE, (double) USECS_PER_MINUTE},
	{DTK_HOUR, (double) USECS_PER_HOUR},
	{DTK_DAY, (double) USECS_PER_DAY},
	{DTK_WEEK, 7.0 * USECS_PER_DAY},
	{DTK_MONTH, 30.4 * USECS_PER_DAY},
	{DTK_QUARTER, 91.3 * USECS_PER_DAY},
	{DTK_YEAR, 365.25 * USECS_PER_DAY},
	{DTK_DECADE, 3652.5 * USECS_PER_DAY},
	{DTK_CENTURY, 36525.0 * USECS_PER_DAY},
	{DTK_MILLENNIUM, 365250.0 * USECS_PER_DAY},
};

/*
 * Ends of the safe interval, as days before and after 2000-01-01.  It begins with the year 2: from
 * there on calendars are simple, and nothing truncated falls out of the type's range.  It ends
 * where the difference to an origin within it, and the longest stride, cannot overflow: about the
 * year 100000; and, where time zones matter, with the year 2100, so that there are not too many
 * boundaries to look at.
 */
#define GPB_SAFE_FIRST_DAY	(-729754)	/* 0002-01-01 */
#define GPB_SAFE_LAST_DAY	35000000
#define GPB_SAFE_ZONE_DAY	36524	/* 2099-12-31 */
#define GPB_SAFE_STRIDE		(INT64CONST(365250) * USECS_PER_DAY)

#define GPB_MOST_STEPS		4

/* The row of a function that puts keys into buckets; NULL if it is none */
static const GpbFunction *
step_type(Oid function)
{
	const GpbFunction *found = gpb_core_function(function);

	return found != NULL && (found->use & GPB_FOR_BUCKETS) != 0 ? found : NULL;
}

/* ---- matching ---- */

/* Are the first functions date_trunc() and a cast to date, both in the session's zone? */
static bool
is_date_of_midnight(List *functions)
{
	return list_length(functions) > 1 &&
		linitial_oid(functions) == F_DATE_TRUNC_TEXT_TIMESTAMPTZ &&
		lsecond_oid(functions) == F_DATE_TIMESTAMPTZ;
}

/*
 * Where the offset of a zone may begin a function anew, boundaries are keys only if the zone is
 * applied to the key itself; or if the key is a date, which first becomes midnight in the session's
 * zone: then they are the days around.  Midnights of date_trunc() in the session's zone may be
 * taken to a date in that zone again: the date depends on the midnight alone, and rises with it
 * (steps_are_safe() sees that they are midnights).
 */
static bool
zones_are_followed(List *functions, Oid key_type)
{
	ListCell   *lc;

	foreach(lc, functions)
	{
		int			step = foreach_current_index(lc);

		if (step_type(lfirst_oid(lc))->zone == GPB_NO_ZONE)
			continue;
		if (step > 1 ||
			(step == 1 && linitial_oid(functions) != F_TIMESTAMPTZ_DATE &&
			 !is_date_of_midnight(functions)) ||
			(step == 0 && key_type != TIMESTAMPTZOID && key_type != DATEOID))
			return false;
	}
	return true;
}

/* The step that the expression is, a call of a function in our list, with its arguments; or NULL */
static const GpbFunction *
match_step(Expr *expression, List **arguments)
{
	Oid			function;
	const GpbFunction *type;

	if (IsA(expression, FuncExpr))
	{
		function = ((FuncExpr *) expression)->funcid;
		*arguments = ((FuncExpr *) expression)->args;
	}
	else if (IsA(expression, OpExpr))
	{
		function = get_opcode(((OpExpr *) expression)->opno);
		*arguments = ((OpExpr *) expression)->args;
	}
	else
		return NULL;
	type = step_type(function);
	return type != NULL && list_length(*arguments) == type->nargs ? type : NULL;
}

/* May the expression be an argument beside the key? */
static bool
is_fixed(PlannerInfo *root, Node *argument)
{
	return bms_is_empty(pull_varnos(root, argument)) && !contain_volatile_functions(argument) &&
		!contain_subplans(argument);
}

/* Is the expression the key column, or under relabelings (a domain shown as its base type)? */
static bool
is_key(Expr *expression, IndexOptInfo *index, int column)
{
	Var		   *var = (Var *) gpb_without_labels(expression);

	return IsA(var, Var) && var->varno == index->rel->relid && var->varlevelsup == 0 &&
		var->varattno == index->indexkeys[column];
}

bool
gpb_match_bucket_function(PlannerInfo *root, IndexOptInfo *index, int column,
						  Expr *expression, List **functions, List **arguments)
{
	*functions = NIL;
	*arguments = NIL;
	while (!is_key(expression, index, column))
	{
		List	   *args;
		List	   *others = NIL;
		const GpbFunction *type = match_step(expression, &args);
		ListCell   *lc;

		if (type == NULL || list_length(*functions) == GPB_MOST_STEPS)
			return false;
		foreach(lc, args)
		{
			if (foreach_current_index(lc) == type->key)
				continue;
			if (!is_fixed(root, lfirst(lc)))
				return false;
			others = lappend(others, lfirst(lc));
		}
		*functions = lcons_oid(type->function, *functions);
		*arguments = list_concat(others, *arguments);
		expression = list_nth(args, type->key);
	}
	return *functions != NIL &&
		step_type(linitial_oid(*functions))->key_type == index->opcintype[column] &&
		zones_are_followed(*functions, index->opcintype[column]);
}

/* ---- the object ---- */

typedef struct GpbBucketStep
{
	const GpbFunction *type;
	FmgrInfo	procedure;
	FunctionCallInfo call;
} GpbBucketStep;

struct GpbBucketFunction
{
	Oid			key_type;
	int			nsteps;
	GpbBucketStep step[GPB_MOST_STEPS];
	int			ncalled;		/* steps that are called: those before the first with a NULL
								 * argument, since steps are strict */
	MemoryContext calls;		/* what calls leave behind; reset now and then */
	int			ncalls;
	MemoryContext arguments;	/* what depends on the arguments */
	GpbBucketOrder order;
	GpbZoneSettings settings;	/* when the arguments were set, if order.zone */
	int			nzones;			/* number of zones that the steps are in */
	pg_tz	   *zone[GPB_MOST_STEPS];
	bool		boundaries_known;
	int64	   *boundaries;
	int			nboundaries;
};

/* Calls between two resets of their memory */
#define GPB_CALLS_BETWEEN	256

GpbBucketFunction *
gpb_bucket_function_begin(List *functions, Oid key_type)
{
	GpbBucketFunction *function = palloc0(sizeof(GpbBucketFunction));
	ListCell   *lc;

	function->key_type = key_type;
	function->nsteps = list_length(functions);
	function->calls = AllocSetContextCreate(CurrentMemoryContext, "gpubtree bucket calls",
											ALLOCSET_SMALL_SIZES);
	function->arguments = AllocSetContextCreate(CurrentMemoryContext,
												"gpubtree bucket arguments",
												ALLOCSET_SMALL_SIZES);
	foreach(lc, functions)
	{
		GpbBucketStep *step = &function->step[foreach_current_index(lc)];
		Oid			procedure = lfirst_oid(lc);

		step->type = step_type(procedure);
		Assert(step->type != NULL);
		fmgr_info(procedure, &step->procedure);
		step->call = palloc0(SizeForFunctionCallInfo(step->type->nargs));
		InitFunctionCallInfoData(*step->call, &step->procedure, step->type->nargs, InvalidOid,
								 NULL, NULL);
	}
	return function;
}

void
gpb_bucket_function_check_rights(const GpbBucketFunction *function)
{
	int			i;

	for (i = 0; i < function->nsteps; i++)
	{
		Oid			procedure = function->step[i].type->function;
		AclResult	allowed = pg_proc_aclcheck(procedure, GetUserId(), ACL_EXECUTE);

		if (allowed != ACLCHECK_OK)
			aclcheck_error(allowed, OBJECT_FUNCTION, get_func_name(procedure));
	}
}

int
gpb_bucket_function_arguments(const GpbBucketFunction *function)
{
	int			n = 0;
	int			i;

	for (i = 0; i < function->nsteps; i++)
		n += function->step[i].type->nargs - 1;
	return n;
}

/* ---- values ---- */

static Datum
integer_datum(Oid type, int64 value)
{
	switch (type)
	{
		case INT2OID:
			return Int16GetDatum((int16) value);
		case INT4OID:
		case DATEOID:
			return Int32GetDatum((int32) value);
		default:
			return Int64GetDatum(value);
	}
}

int64
gpb_datum_integer(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
		case DATEOID:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

int64
gpb_bucket_of(GpbBucketFunction *function, int64 key)
{
	MemoryContext caller;
	Datum		value = integer_datum(function->key_type, key);
	int			i;

	if (++function->ncalls % GPB_CALLS_BETWEEN == 0)
		MemoryContextReset(function->calls);
	Assert(function->ncalled > 0);
	caller = MemoryContextSwitchTo(function->calls);
	for (i = 0; i < function->ncalled; i++)
	{
		GpbBucketStep *step = &function->step[i];

		step->call->args[step->type->key].value = value;
		step->call->args[step->type->key].isnull = false;
		step->call->isnull = false;
		value = FunctionCallInvoke(step->call);
		if (step->call->isnull)
			elog(ERROR, "function %u returned NULL", step->type->function);
	}
	MemoryContextSwitchTo(caller);
	return gpb_datum_integer(function->step[function->ncalled - 1].type->result_type, value);
}

Datum
gpb_bucket_datum(const GpbBucketFunction *function, int64 result)
{
	return integer_datum(function->step[function->nsteps - 1].type->result_type, result);
}

/* ---- order ---- */

/* Length of a unit of date_trunc, in microseconds; 0 if date_trunc has no such unit. */
static double
unit_length(Datum units)
{
	text	   *name = DatumGetTextPP(units);
	int			value;
	int			i;

	if (DecodeUnits(0, downcase_truncate_identifier(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name),
													false), &value) != UNITS)
		return 0.0;
	for (i = 0; i < lengthof(gpb_units); i++)
	{
		if (gpb_units[i].unit == value)
			return gpb_units[i].microseconds;
	}
	return 0.0;
}

/*
 * Length of a stride of date_bin, in microseconds; 0 if the function would raise an error, or if it
 * is very long.
 */
static int64
stride_length(const Interval *stride)
{
	int64		length;

	if (stride->month != 0 ||
		pg_mul_s64_overflow(stride->day, USECS_PER_DAY, &length) ||
		pg_add_s64_overflow(length, stride->time, &length) ||
		length <= 0 || length > GPB_SAFE_STRIDE)
		return 0;
	return length;
}

/*
 * Is the order of a step known, with its arguments?  *length is about how much it puts together: a
 * factor if it divides, else microseconds.
 */
static bool
step_is_safe(GpbBucketFunction *function, const GpbBucketStep *step, double *length)
{
	NullableDatum *args = step->call->args;
	int64		number;

	*length = 1.0;
	if (step->type->zone >= 0)
	{
		pg_tz	   *zone = gpb_zone_by_name(DatumGetTextPP(args[step->type->zone].value));

		if (zone == NULL)
			return false;
		function->zone[function->nzones++] = zone;
	}
	else if (step->type->zone == GPB_SESSION_ZONE)
		function->zone[function->nzones++] = session_timezone;

	switch ((GpbRise) step->type->rise)
	{
		case GPB_RISE_TRUNC:
			*length = unit_length(args[0].value);
			return *length > 0.0;
		case GPB_RISE_BIN:
			*length = stride_length(DatumGetIntervalP(args[0].value));
			number = DatumGetTimestamp(args[2].value);
			return *length > 0.0 && number >= GPB_SAFE_FIRST_DAY * USECS_PER_DAY &&
				number <= GPB_SAFE_LAST_DAY * USECS_PER_DAY;
		case GPB_RISE_DIVIDE:
			number = gpb_datum_integer(step->type->divisor_type, args[1].value);
			*length = number;
			return number > 0;
		case GPB_RISE_DAY:
			*length = (double) USECS_PER_DAY;
			return true;
		case GPB_RISE_SAME:
		case GPB_RISE_MIDNIGHT:
		case GPB_RISE_LOCAL:
			return true;
		default:
			return false;
	}
}

/*
 * Is the order of all steps that are called known?  Fills in the width of a bucket, and the zones.
 */
static bool
steps_are_safe(GpbBucketFunction *function)
{
	double		factor = 1.0;
	double		longest = 1.0;
	int			i;

	function->nzones = 0;
	for (i = 0; i < function->ncalled; i++)
	{
		const GpbBucketStep *step = &function->step[i];
		double		length;

		if (!step_is_safe(function, step, &length))
			return false;
		if (i == 0 && function->ncalled > 1 && step->type->zone == GPB_SESSION_ZONE &&
			step->type->rise == GPB_RISE_TRUNC && length < USECS_PER_DAY &&
			function->step[1].type->zone == GPB_SESSION_ZONE)
			return false;
		if (step->type->rise == GPB_RISE_DIVIDE)
			factor *= length;
		else
			longest = Max(longest, length);
	}
	if (function->key_type == DATEOID)
		longest = Max(longest / USECS_PER_DAY, 1.0);
	function->order.width = factor * longest;
	for (i = 0; i < function->nzones; i++)
	{
		if (!gpb_zone_is_usual(function->zone[i]))
			return false;
	}
	return true;
}

/*
 * Fill in the safe interval for the type of the key, all steps being safe.  It may be longer where
 * all results are NULL, since there are no boundaries to look at then.
 */
static void
set_interval(GpbBucketFunction *function)
{
	GpbBucketOrder *order = &function->order;
	int64		last = order->zone && !order->null ? GPB_SAFE_ZONE_DAY : GPB_SAFE_LAST_DAY;

	switch (function->key_type)
	{
		case INT2OID:
			order->safe_lo = PG_INT16_MIN;
			order->safe_hi = PG_INT16_MAX;
			break;
		case INT4OID:
			order->safe_lo = PG_INT32_MIN;
			order->safe_hi = PG_INT32_MAX;
			break;
		case INT8OID:
			order->safe_lo = PG_INT64_MIN;
			order->safe_hi = PG_INT64_MAX;
			break;
		case DATEOID:
			order->safe_lo = GPB_SAFE_FIRST_DAY;
			order->safe_hi = last;
			break;
		default:
			order->safe_lo = GPB_SAFE_FIRST_DAY * USECS_PER_DAY;
			order->safe_hi = last * USECS_PER_DAY;
			break;
	}
}

const GpbBucketOrder *
gpb_bucket_function_set(GpbBucketFunction *function, const Datum *values, const bool *isnull)
{
	GpbBucketOrder *order = &function->order;
	MemoryContext caller;
	int			n = 0;
	int			i;

	MemoryContextReset(function->arguments);
	function->boundaries_known = false;
	memset(order, 0, sizeof(*order));
	order->safe_lo = 1;			/* nothing is safe */
	order->infinities = function->key_type == DATEOID ||
		function->key_type == TIMESTAMPOID || function->key_type == TIMESTAMPTZOID;
	order->least_infinity = function->key_type == DATEOID ? DATEVAL_NOBEGIN : DT_NOBEGIN;
	order->most_infinity = function->key_type == DATEOID ? DATEVAL_NOEND : DT_NOEND;
	function->ncalled = function->nsteps;
	for (i = 0; i < function->nsteps; i++)
	{
		const GpbBucketStep *step = &function->step[i];
		int			a;

		for (a = 0; a < step->type->nargs; a++)
		{
			if (a == step->type->key)
				continue;
			step->call->args[a].value = values[n];
			step->call->args[a].isnull = isnull[n];
			if (isnull[n++])
			{
				order->null = true;
				function->ncalled = Min(function->ncalled, i);
			}
		}
		order->zone |= step->type->zone != GPB_NO_ZONE;
	}
	order->silent = function->ncalled == 0;
	if (order->silent)
		return order;

	caller = MemoryContextSwitchTo(function->arguments);
	if (order->zone)
		gpb_zone_settings_save(&function->settings);
	if (steps_are_safe(function))
		set_interval(function);
	MemoryContextSwitchTo(caller);
	return order;
}

int
gpb_bucket_function_enter(const GpbBucketFunction *function)
{
	return function->order.zone ? gpb_zone_settings_enter(&function->settings) : 0;
}

void
gpb_bucket_function_leave(int level)
{
	gpb_zone_settings_leave(level);
}

/* ---- boundaries ---- */

static int
compare_integers(const void *a, const void *b)
{
	int64		left = *(const int64 *) a;
	int64		right = *(const int64 *) b;

	return (left > right) - (left < right);
}

/*
 * A key that is an instant begins anew with each change of an offset.  One that is a date stands
 * for its midnight, which is within a day of it, whatever the zone, and the change may be in a zone
 * of the next step: the days around are taken.
 */
static void
add_boundaries(GpbBucketFunction *function, TimestampTz change)
{
	int64		first = change;
	int64		last = change;

	if (function->key_type == DATEOID)
	{
		int64		day = (change - GPB_SAFE_FIRST_DAY * USECS_PER_DAY) / USECS_PER_DAY +
		GPB_SAFE_FIRST_DAY;

		first = day - 2;
		last = day + 3;
	}
	for (; first <= last; first++)
	{
		if (first > function->order.safe_lo && first <= function->order.safe_hi)
			function->boundaries[function->nboundaries++] = first;
	}
}

/* Boundaries that one change of an offset makes at most */
#define GPB_CHANGE_BOUNDARIES	6

const int64 *
gpb_bucket_boundaries(GpbBucketFunction *function, int *n)
{
	MemoryContext caller = MemoryContextSwitchTo(function->arguments);
	int			zone;
	int			kept = 0;
	int			i;

	if (!function->boundaries_known)
	{
		function->boundaries = NULL;
		function->nboundaries = 0;
		for (zone = 0; zone < function->nzones; zone++)
		{
			TimestampTz *changes;
			int			nchanges = gpb_zone_changes(function->zone[zone],
													GPB_SAFE_FIRST_DAY * USECS_PER_DAY,
													(GPB_SAFE_ZONE_DAY + 2) * USECS_PER_DAY,
													&changes);
			Size		room = sizeof(int64) *
			Max(function->nboundaries + nchanges * GPB_CHANGE_BOUNDARIES, 1);

			function->boundaries = function->boundaries == NULL ? palloc(room) :
				repalloc(function->boundaries, room);
			for (i = 0; i < nchanges; i++)
				add_boundaries(function, changes[i]);
		}
		if (function->nboundaries > 0)
			qsort(function->boundaries, function->nboundaries, sizeof(int64),
				  compare_integers);
		for (i = 0; i < function->nboundaries; i++)
		{
			if (kept == 0 || function->boundaries[kept - 1] != function->boundaries[i])
				function->boundaries[kept++] = function->boundaries[i];
		}
		function->nboundaries = kept;
		function->boundaries_known = true;
	}
	MemoryContextSwitchTo(caller);
	*n = function->nboundaries;
	return function->boundaries;
}
