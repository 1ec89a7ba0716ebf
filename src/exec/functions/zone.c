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

#include "exec/functions/zone.h"
#include "program/program_steps.h"

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

/* The second in which a moment is, of those that zones count */
static pg_time_t
second_of(TimestampTz moment)
{
	return moment / USECS_PER_SEC - (moment % USECS_PER_SEC < 0) + GPB_EPOCH_SECONDS;
}

bool
gpb_zone_is_steady(pg_tz *zone, TimestampTz from, TimestampTz to)
{
	pg_time_t	at = second_of(from);
	pg_time_t	change;
	long		before;
	long		after;
	int			before_dst;
	int			after_dst;

	return pg_next_dst_boundary(&at, &before, &before_dst, &change, &after, &after_dst,
								zone) != 1 || change > second_of(to);
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

/* ---- a zone's table ---- */

/* The last moment up to which a zone's changes are looked for: 2200-01-01 */
#define GPB_ZONE_LAST_SECOND	((int64) (2200 - 2000) * 36525 / 100 * SECS_PER_DAY)

/* A zone is said from 1970 on to the end of 2037, if there is room. */
#define GPB_ZONE_WANTED_BEGIN	(-GPB_EPOCH_SECONDS)
#define GPB_ZONE_WANTED_END		((int64) (38 * 36525 / 100) * SECS_PER_DAY)

/* A zone's changes, as words of a table: the first says what the offset was before them all. */
typedef struct GpbZoneChanges
{
	int			n;
	int			room;
	bool		ends;			/* is there no change after these? */
	int64	   *word;
} GpbZoneChanges;

static int64
local_offset(pg_tz *zone, pg_time_t at)
{
	return pg_localtime(&at, zone)->tm_gmtoff;
}

/* Add a change; false if core's functions do not agree on what the offset is. */
static bool
add_change(GpbZoneChanges *changes, pg_tz *zone, int64 moment, int64 offset)
{
	if (moment != GPB_ZONE_BEGIN && offset != local_offset(zone, moment + GPB_EPOCH_SECONDS))
		return false;
	if (changes->n == changes->room)
		changes->word = repalloc(changes->word, sizeof(int64) * (changes->room *= 2));
	changes->word[changes->n++] = gpb_zone_word(moment, offset);
	return Abs(offset) < GPB_MOST_OFFSET;
}

/*
 * Collect the zone's changes; false if there are too many, or it is no zone of the world.  Before
 * the first one, and after the last, the offset must be what both of core's functions say.
 */
static bool
find_changes(pg_tz *zone, GpbZoneChanges *changes)
{
	pg_time_t	at = GPB_TIMESTAMP_LEAST / USECS_PER_SEC + GPB_EPOCH_SECONDS - SECS_PER_DAY;
	pg_time_t	change;
	long		before;
	long		after;
	int			before_dst;
	int			after_dst;
	int			found;

	changes->n = 0;
	changes->room = 512;
	changes->word = palloc(sizeof(int64) * changes->room);
	while ((found = pg_next_dst_boundary(&at, &before, &before_dst, &change, &after, &after_dst,
										 zone)) == 1)
	{
		if (changes->n == 0 && before == local_offset(zone, at) &&
			!add_change(changes, zone, GPB_ZONE_BEGIN, before))
			return false;
		if (change - GPB_EPOCH_SECONDS > GPB_ZONE_LAST_SECOND)
			break;
		if (before != local_offset(zone, change - 1) || changes->n > 2000 ||
			!add_change(changes, zone, change - GPB_EPOCH_SECONDS, after))
			return false;
		at = change;
	}
	changes->ends = found == 0;
	if (found < 0 || (changes->ends && before != local_offset(zone, at)))
		return false;
	return changes->n > 0 || add_change(changes, zone, GPB_ZONE_BEGIN, before);
}

/*
 * The first of the changes to be said where there is room for so many: from 1970 on, but if these
 * do not reach to the end of 2037, a few years before now.
 */
static int
first_change(const GpbZoneChanges *changes, int room)
{
	int64		now = GetCurrentTimestamp() / USECS_PER_SEC;
	int			first = gpb_zone_find(changes->word, changes->n, GPB_ZONE_WANTED_BEGIN);
	int			last = gpb_zone_find(changes->word, changes->n, GPB_ZONE_WANTED_END);

	if (changes->n <= room)
		return 0;
	if (last - first < room)
		return Min(first, changes->n - room);
	return Min(Max(first, gpb_zone_find(changes->word, changes->n, now) - room / 2),
			   changes->n - room);
}

int
gpb_zone_words(pg_tz *zone, int room, int64 *words)
{
	/* That of the last call; a zone lives as long as the process. */
	static pg_tz *last_zone = NULL;
	static int	last_room;
	static int	last_n;
	static int64 last_words[GPB_MAX_TABLE_WORDS];

	GpbZoneChanges changes;
	int			n;
	int			first;
	int64		end;

	if (zone == last_zone && room == last_room)
	{
		memcpy(words, last_words, sizeof(int64) * last_n);
		return last_n;
	}
	if (room < 2 || !find_changes(zone, &changes))
		return 0;
	/* The last word says where the table ends. */
	first = first_change(&changes, room - 1);
	n = Min(changes.n - first, room - 1);
	if (first + n < changes.n)
		end = gpb_word_moment(changes.word[first + n]);
	else
		end = changes.ends ? GPB_ZONE_END : GPB_ZONE_LAST_SECOND;
	memcpy(words, changes.word + first, sizeof(int64) * n);
	words[n++] = gpb_zone_word(end, 0);
	pfree(changes.word);
	memcpy(last_words, words, sizeof(int64) * n);
	last_zone = zone;
	last_room = room;
	last_n = n;
	return n;
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
