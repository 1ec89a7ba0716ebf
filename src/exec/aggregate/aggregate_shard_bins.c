/*-------------------------------------------------------------------------
 *
 * aggregate_shard_bins.c
 *	  Groups by date_trunc(), as a shard can make them.
 *
 * postgres_fdw sends no function with an argument of type text that is a constant, and sessions on
 * shards have another time zone.  So the shard makes bins of fixed length by date_bin(), and says
 * which are the first and the last moment of each: the group is that of both here.  It is that of
 * all moments between too, since date_trunc() does not fall where the zone's offset is the same.
 * Where it is not, or the bin lies in two groups, the node has no answer.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "exec/aggregate/aggregate_shard_query.h"
#include "exec/functions/date_units.h"
#include "exec/functions/zone.h"

/* Is it date_trunc() of a moment, with or without a zone, and constants? */
static bool
is_trunc(const FuncExpr *call)
{
	if (!IsA(call, FuncExpr) ||
		(call->funcid != F_DATE_TRUNC_TEXT_TIMESTAMP &&
		 call->funcid != F_DATE_TRUNC_TEXT_TIMESTAMPTZ &&
		 call->funcid != F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT))
		return false;
	return IsA(linitial(call->args), Const) && !linitial_node(Const, call->args)->constisnull &&
		(list_length(call->args) < 3 ||
		 (IsA(lthird(call->args), Const) && !lthird_node(Const, call->args)->constisnull));
}

/* The constant zone of a call of date_trunc(), or the session's; NULL if that is unknown */
static pg_tz *
zone_of(const FuncExpr *call)
{
	if (list_length(call->args) < 3)
		return session_timezone;
	return gpb_zone_by_name(DatumGetTextPP(lthird_node(Const, call->args)->constvalue));
}

/* Is the zone's offset at this moment so many whole hours? */
static bool
is_whole(pg_tz *zone, TimestampTz moment)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			offset;

	return timestamp2tm(moment, &offset, &tm, &fsec, NULL, zone) == 0 &&
		offset % SECS_PER_HOUR == 0;
}

/* Is the zone whole hours from UTC in these years? */
static bool
has_whole_hours(pg_tz *zone)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz *changes;
	int			n = gpb_zone_changes(zone, now - 5 * 366 * USECS_PER_DAY,
									 now + 2 * 366 * USECS_PER_DAY, &changes);

	for (int i = 0; i < n; i++)
	{
		if (!is_whole(zone, changes[i]))
			return false;
	}
	return is_whole(zone, now);
}

/*
 * The length of bins, in microseconds, of which groups of this unit are made: as long as the unit,
 * or an hour where an offset may change in it; a day instead of months; a quarter of an hour where
 * the zone is not whole hours from UTC.
 */
static int64
bin_length(const GpbTruncUnit *unit, const FuncExpr *call)
{
	int64		length = unit->length > 0 ? Min(unit->length, USECS_PER_DAY) : USECS_PER_DAY;
	pg_tz	   *zone;

	if (call->funcid == F_DATE_TRUNC_TEXT_TIMESTAMP || length < USECS_PER_HOUR)
		return length;
	zone = zone_of(call);
	if (zone == NULL)
		return 0;
	return has_whole_hours(zone) ? USECS_PER_HOUR : 15 * USECS_PER_MINUTE;
}

FuncExpr *
gpb_shard_bin(Expr *expression)
{
	const FuncExpr *call = (FuncExpr *) expression;
	const GpbTruncUnit *unit;
	Interval   *length;
	Oid			type;
	List	   *arguments;

	if (!is_trunc(call))
		return NULL;
	unit = gpb_trunc_unit(DatumGetTextPP(linitial_node(Const, call->args)->constvalue));
	if (unit == NULL)
		return NULL;
	length = palloc0(sizeof(Interval));
	length->time = bin_length(unit, call);
	if (length->time == 0)
		return NULL;
	type = call->funcresulttype;
	arguments = list_make3(makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval),
									 PointerGetDatum(length), false, false),
						   copyObject((Node *) lsecond(call->args)),
						   makeConst(type, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false,
									 FLOAT8PASSBYVAL));
	return makeFuncExpr(type == TIMESTAMPOID ? F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP :
						F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ, type, arguments, InvalidOid,
						InvalidOid, COERCE_EXPLICIT_CALL);
}

Expr *
gpb_shard_moment(Expr *moment, bool last)
{
	Aggref	   *aggref = makeNode(Aggref);
	Oid			type = exprType((Node *) moment);

	if (type == TIMESTAMPOID)
		aggref->aggfnoid = last ? F_MAX_TIMESTAMP : F_MIN_TIMESTAMP;
	else
		aggref->aggfnoid = last ? F_MAX_TIMESTAMPTZ : F_MIN_TIMESTAMPTZ;
	aggref->aggtype = type;
	aggref->aggargtypes = list_make1_oid(type);
	aggref->args = list_make1(makeTargetEntry(moment, 1, NULL, false));
	aggref->aggkind = AGGKIND_NORMAL;
	aggref->aggsplit = AGGSPLIT_SIMPLE;
	aggref->aggno = aggref->aggtransno = -1;
	aggref->location = -1;
	return (Expr *) aggref;
}

Expr *
gpb_shard_bin_result(const FuncExpr *call)
{
	FuncExpr   *result = copyObject((FuncExpr *) call);
	CaseTestExpr *moment = makeNode(CaseTestExpr);

	moment->typeId = call->funcresulttype;
	moment->typeMod = -1;
	lsecond(result->args) = moment;
	return (Expr *) result;
}

bool
gpb_shard_bin_is_steady(const FuncExpr *call, int64 first, int64 last)
{
	pg_tz	   *zone;

	if (call->funcid == F_DATE_TRUNC_TEXT_TIMESTAMP || TIMESTAMP_NOT_FINITE(first) ||
		TIMESTAMP_NOT_FINITE(last))
		return true;
	zone = zone_of(call);
	return zone != NULL && gpb_zone_is_steady(zone, first, last);
}

/* The shortest that a group of this unit is where its zone's offset does not change */
static int64
shortest(const GpbTruncUnit *unit)
{
	return unit->length > 0 ? unit->length : unit->months * 28 * USECS_PER_DAY;
}

bool
gpb_shard_bin_reaches(const FuncExpr *call, const GpbTruncUnit *unit, int64 group, int64 last)
{
	return !TIMESTAMP_NOT_FINITE(group) && !TIMESTAMP_NOT_FINITE(last) && last >= group &&
		(uint64) last - (uint64) group < (uint64) shortest(unit) &&
		gpb_shard_bin_is_steady(call, group, last);
}
