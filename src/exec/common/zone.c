/*-------------------------------------------------------------------------
 *
 * zone.c
 *	  Time zones, and when their offsets change.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "exec/common/zone.h"

/* Seconds from 1970 to 2000 */
#define GPB_EPOCH_SECONDS \
	((POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY)

/* Offsets of the world's zones, local mean times included, are within 16 hours of UTC. */
#define GPB_MOST_OFFSET			(16 * SECS_PER_HOUR)

pg_tz *
gpb_zone_by_name(const text *name)
{
	char		zone[TZ_STRLEN_MAX + 1];
	char	   *lower;
	pg_tz	   *tz;
	int			offset;
	int			type;

	/* as timestamptz_zone() looks it up */
	text_to_cstring_buffer(name, zone, sizeof(zone));
	lower = downcase_truncate_identifier(zone, strlen(zone), false);
	type = DecodeTimezoneAbbrev(0, lower, &offset, &tz);
	if (type == TZ || type == DTZ)
		return pg_tzset_offset(-offset);
	if (type == DYNTZ)
		return NULL;
	return pg_tzset(zone);
}

int
gpb_zone_changes(pg_tz *zone, TimestampTz from, TimestampTz to, TimestampTz **changes)
{
	pg_time_t	at = from / USECS_PER_SEC + GPB_EPOCH_SECONDS;
	pg_time_t	end = to / USECS_PER_SEC + GPB_EPOCH_SECONDS;
	pg_time_t	change;
	long		before;
	long		after;
	int			before_dst;
	int			after_dst;
	int			n = 0;
	int			room = 64;

	*changes = palloc(sizeof(TimestampTz) * room);
	while (pg_next_dst_boundary(&at, &before, &before_dst, &change, &after, &after_dst,
								zone) == 1 && change <= end)
	{
		if (n == room)
			*changes = repalloc(*changes, sizeof(TimestampTz) * (room *= 2));
		(*changes)[n++] = (change - GPB_EPOCH_SECONDS) * USECS_PER_SEC;
		at = change;
	}
	return n;
}

bool
gpb_zone_is_usual(pg_tz *zone)
{
	/* from the year 1 on; after 2037 the rules of that year go on */
	pg_time_t	at = INT64CONST(-62135596800);
	pg_time_t	end = INT64CONST(2145916800);
	long		least = pg_localtime(&at, zone)->tm_gmtoff;
	long		most = least;
	pg_time_t	change;
	long		before;
	long		after;
	int			before_dst;
	int			after_dst;

	while (pg_next_dst_boundary(&at, &before, &before_dst, &change, &after, &after_dst,
								zone) == 1 && change <= end)
	{
		least = Min(least, after);
		most = Max(most, after);
		at = change;
	}
	return most - least <= SECS_PER_DAY &&
		least >= -GPB_MOST_OFFSET && most <= GPB_MOST_OFFSET;
}

bool
gpb_zone_is_fixed(pg_tz *zone, int64 *offset)
{
	long		seconds;

	if (!pg_get_timezone_offset(zone, &seconds))
		return false;
	*offset = seconds * USECS_PER_SEC;
	return true;
}

/* ---- settings of the session ---- */

#define GPB_ZONE_SETTING			"TimeZone"
#define GPB_ABBREVIATIONS_SETTING	"timezone_abbreviations"

/* Returned where the session's settings are the saved ones; levels of settings begin with 1. */
#define GPB_NO_LEVEL	0

void
gpb_zone_settings_save(GpbZoneSettings *settings)
{
	settings->zone = session_timezone;
	settings->zone_name = pstrdup(GetConfigOption(GPB_ZONE_SETTING, false, false));
	settings->abbreviations = pstrdup(GetConfigOption(GPB_ABBREVIATIONS_SETTING, false, false));
}

int
gpb_zone_settings_enter(const GpbZoneSettings *settings)
{
	int			level;

	if (session_timezone == settings->zone &&
		strcmp(GetConfigOption(GPB_ABBREVIATIONS_SETTING, false, false),
			   settings->abbreviations) == 0)
		return GPB_NO_LEVEL;
	level = NewGUCNestLevel();
	(void) set_config_option(GPB_ZONE_SETTING, settings->zone_name, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option(GPB_ABBREVIATIONS_SETTING, settings->abbreviations, PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	return level;
}

void
gpb_zone_settings_leave(int level)
{
	if (level != GPB_NO_LEVEL)
		AtEOXact_GUC(true, level);
}
