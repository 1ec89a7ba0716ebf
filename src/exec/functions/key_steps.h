/*-------------------------------------------------------------------------
 *
 * key_steps.h
 *	  Functions of the key, as steps on integers (key_function.h).
 *
 * A value is its integer, as in a program; -infinity and infinity of a date or timestamp, and of
 * the numbers that extract() makes of these, are the least and the greatest integer of the type.
 *
 *	key_function.c		from expressions to steps
 *	key_steps.c			what a step does
 *	key_interval.c		which keys satisfy a condition
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEY_STEPS_H
#define GPB_KEY_STEPS_H

#include "postgres.h"
#include "pgtime.h"

#include "exec/functions/key_function.h"

typedef enum GpbKeyOperator
{
	GPB_KEY_QUOTIENT,			/* by a */
	GPB_KEY_MULTIPLE,			/* the greatest b + n * a at or below a timestamp */
	GPB_KEY_MONTHS,				/* the first of its months, a at a time */
	GPB_KEY_TO_DAY,
	GPB_KEY_TO_MIDNIGHT,
	GPB_KEY_TO_LOCAL,
	GPB_KEY_LOCAL_MULTIPLE,		/* like GPB_KEY_MULTIPLE, of the local time of an instant */
	GPB_KEY_LOCAL_MONTHS,
	GPB_KEY_TO_YEAR,			/* of a timestamp */
	GPB_KEY_DATE_TO_YEAR,		/* of a date, which may be beyond all timestamps */
	GPB_KEY_TO_EPOCH,			/* of a timestamp, in microseconds since 2000 */
	GPB_KEY_DATE_TO_EPOCH		/* in seconds since 2000 */
} GpbKeyOperator;

typedef struct GpbKeyStep
{
	GpbKeyOperator op;
	int64		a;
	int64		b;
	const text *zone;			/* its name; NULL: the session's.  Of steps in a zone */
} GpbKeyStep;

#define GPB_KEY_MOST_STEPS	6

struct GpbKeyFunction
{
	Oid			key_type;
	Oid			result_type;
	int64		least;			/* the bounds of the key's type */
	int64		greatest;
	int			decimals;		/* results are multiples of 10 to the minus this */
	int64		origin;			/* of an epoch, what the value has more than our result, which
								 * counts from 2000, in units of results: so none overflows */
	int			nsteps;
	GpbKeyStep	step[GPB_KEY_MOST_STEPS];
	bool		has_zone;
	int			strategy;		/* of the condition, set with what follows */
	Oid			value_type;
};

/* The word of a finite timestamp; what does not fit is beyond all of them, but not infinite. */
extern int64 gpb_key_in_range(int128 value);

/* The offset of a zone from UTC at an instant, in microseconds */
extern int64 gpb_zone_offset(pg_tz *zone, int64 instant);

/* A step's result, in a zone if it needs one; infinities stay what they are. */
extern int64 gpb_key_step(const GpbKeyStep *step, pg_tz *zone, int64 value);

#endif							/* GPB_KEY_STEPS_H */
