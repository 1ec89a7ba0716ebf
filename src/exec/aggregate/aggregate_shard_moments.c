/*-------------------------------------------------------------------------
 *
 * aggregate_shard_moments.c
 *	  Timestamps and dates in shards' rows, as the texts that travel.
 *
 * A row of bins has three timestamps, and core's input functions, which read whatever a person may
 * write, take longer than all else that is done with the row.  So the scan returns these columns as
 * text, and here the form is read that sessions of postgres_fdw write, in DateStyle ISO and zone
 * GMT; any other, as of years before Christ, by core's functions.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"

#include "exec/aggregate/aggregate_shard_query.h"

/* ---- planning ---- */

static inline bool
is_text(Oid type)
{
	return type == TIMESTAMPTZOID || type == TIMESTAMPOID || type == DATEOID;
}

Oid
gpb_shard_column_type(Oid type)
{
	return is_text(type) ? TEXTOID : type;
}

Expr *
gpb_shard_column(Expr *expression)
{
	return !is_text(exprType((Node *) expression)) ? expression :
		(Expr *) makeRelabelType(expression, TEXTOID, -1, DEFAULT_COLLATION_OID,
								 COERCE_IMPLICIT_CAST);
}

/* ---- reading ---- */

/* The lengths of "2026-01-31" and of "2026-01-31 23:59:59", and digits of a second's fraction */
#define DATE_LENGTH		10
#define SECOND_LENGTH	19
#define FRACTION_DIGITS	6

/* The number of n digits; one above all of those if some character is none. */
static inline uint32
take_digits(const char *at, int n)
{
	uint32		number = 0;

	for (int i = 0; i < n; i++)
	{
		uint32		digit = (uint32) (uint8) at[i] - '0';

		if (digit > 9)
			return PG_UINT32_MAX;
		number = number * 10 + digit;
	}
	return number;
}

/* Read a day, as a number of days since 2000-01-01; false if it has another form, or is none. */
static bool
take_day(const char *at, int32 *day)
{
	uint32		y = take_digits(at, 4);
	uint32		m = take_digits(at + 5, 2);
	uint32		d = take_digits(at + 8, 2);

	if (at[4] != '-' || at[7] != '-' || y - 1 > 9998 || m - 1 > MONTHS_PER_YEAR - 1 ||
		d - 1 > (uint32) day_tab[isleap((int) y)][m - 1] - 1)
		return false;
	*day = date2j((int) y, (int) m, (int) d) - POSTGRES_EPOCH_JDATE;
	return true;
}

/* Read what follows the day, up to "end", as microseconds; false if it has another form. */
static bool
take_time(const char *at, const char *end, bool has_zone, int64 *time)
{
	uint32		hour = take_digits(at + 1, 2);
	uint32		minute = take_digits(at + 4, 2);
	uint32		second = take_digits(at + 7, 2);
	uint32		fraction = 0;

	if (at[0] != ' ' || at[3] != ':' || at[6] != ':' || hour > HOURS_PER_DAY - 1 ||
		minute > MINS_PER_HOUR - 1 || second > SECS_PER_MINUTE - 1)
		return false;
	at += SECOND_LENGTH - DATE_LENGTH;
	if (has_zone)
	{
		end -= strlen("+00");
		if (end < at || memcmp(end, "+00", strlen("+00")) != 0)
			return false;
	}
	if (at < end)
	{
		int			digits = (int) (end - ++at);

		if (at[-1] != '.' || digits < 1 || digits > FRACTION_DIGITS ||
			(fraction = take_digits(at, digits)) == PG_UINT32_MAX)
			return false;
		for (; digits < FRACTION_DIGITS; digits++)
			fraction *= 10;
	}
	*time = ((hour * MINS_PER_HOUR + minute) * SECS_PER_MINUTE + second) * USECS_PER_SEC +
		fraction;
	return true;
}

/* Read a text of the usual form; false if it has another. */
static bool
take_usual(Oid type, const char *at, int length, Datum *value)
{
	int32		day;
	int64		time;

	if (length < (type == DATEOID ? DATE_LENGTH : SECOND_LENGTH) || !take_day(at, &day))
		return false;
	if (type == DATEOID)
	{
		*value = DateADTGetDatum(day);
		return length == DATE_LENGTH;
	}
	if (!take_time(at + DATE_LENGTH, at + length, type == TIMESTAMPTZOID, &time))
		return false;
	*value = Int64GetDatum(day * USECS_PER_DAY + time);
	return true;
}

Datum
gpb_shard_value(Oid type, Datum column)
{
	const text *written;
	Datum		value;
	Oid			input;
	Oid			parameter;

	if (!is_text(type))
		return column;
	written = DatumGetTextPP(column);
	if (take_usual(type, VARDATA_ANY(written), (int) VARSIZE_ANY_EXHDR(written), &value))
		return value;
	getTypeInputInfo(type, &input, &parameter);
	return OidInputFunctionCall(input, text_to_cstring(written), parameter, -1);
}
