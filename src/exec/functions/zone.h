/*-------------------------------------------------------------------------
 *
 * zone.h
 *	  Time zones, and when their offsets change.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ZONE_H
#define GPB_ZONE_H

#include "postgres.h"
#include "datatype/timestamp.h"
#include "pgtime.h"

/*
 * The zone that date_trunc and AT TIME ZONE mean by a name; NULL if they would raise an error, or
 * if it is an abbreviation whose offset changes with time.
 */
extern pg_tz *gpb_zone_by_name(const text *name);

/*
 * The moments after "from", up to "to", at which the zone's offset changes, or only its name.
 * Fills in *changes, ascending and palloc'd, and returns their number.
 */
extern int	gpb_zone_changes(pg_tz *zone, TimestampTz from, TimestampTz to, TimestampTz **changes);

/* Has the zone one offset, and one name, from the moment "from" to "to", both included? */
extern bool gpb_zone_is_steady(pg_tz *zone, TimestampTz from, TimestampTz to);

/*
 * Do the zone's offsets lie within a day of each other, and within 16 hours of UTC?  The zones of
 * the world are so; a POSIX specification can be otherwise.
 */
extern bool gpb_zone_is_usual(pg_tz *zone);

/*
 * Fill in the words of a zone's table (gpb_zone_word()), of which there is room for so many, and
 * return their number; 0 if a table cannot say what core's functions say of the zone.  It reaches
 * over all time if there is room, as for UTC, else over the years around now.
 */
extern int	gpb_zone_words(pg_tz *zone, int room, int64 *words);

/*
 * The settings of a session that say what an instant is in local time (rule M12): TimeZone, and
 * timezone_abbreviations, which say what some names of zones mean.
 */
typedef struct GpbZoneSettings
{
	pg_tz	   *zone;
	char	   *zone_name;
	char	   *abbreviations;
} GpbZoneSettings;

/* Save the session's settings as they are now; strings are of the current context. */
extern void gpb_zone_settings_save(GpbZoneSettings *settings);

/*
 * Let the saved settings be the session's until gpb_zone_settings_leave() is given what this
 * returns, or until an error is raised: then the end of the subtransaction restores the session's
 * own, as it does for a function with a SET clause.
 */
extern int	gpb_zone_settings_enter(const GpbZoneSettings *settings);

/* Let the session's settings be its own again. */
extern void gpb_zone_settings_leave(int level);

#endif							/* GPB_ZONE_H */
