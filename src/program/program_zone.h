/*-------------------------------------------------------------------------
 *
 * program_zone.h
 *	  What a program does with entries of which no more is known than bounds of their columns.
 *
 * Plain C, free of PostgreSQL headers.  A zone is a set of entries, such as those of a leaf.  Of
 * each slot of a program it has bounds, which hold for all entries; the steps are done with bounds
 * in the place of values.  So it may turn out that all entries pass the program's filters, or none.
 *
 * Bounds are never too narrow: whatever values the entries have within the bounds of the columns, a
 * step's result is within the bounds that are found, and NULL only if these say so.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_ZONE_H
#define GPB_PROGRAM_ZONE_H

#include "program/program_steps.h"

/* What is known of the values of a slot; of no entries it has neither values nor NULLs. */
typedef struct GpbZoneValue
{
	int64		least;			/* of what is not NULL; means nothing without values */
	int64		greatest;
	bool		has_values;		/* may there be entries with a value, */
	bool		has_nulls;		/* and with NULL? */
	bool		floats;			/* are the values float8?  Then the bounds are as gpb_float_order()
								 * maps them */
	uint8		column;			/* the slot of a column whose value is that of this slot in each
								 * entry, or GPB_NO_SLOT */
} GpbZoneValue;

typedef enum GpbZoneVerdict
{
	GPB_ZONE_NONE,				/* no entry passes the filters, and no step faults before that */
	GPB_ZONE_ALL,				/* all entries pass, and no step faults */
	GPB_ZONE_MIXED				/* it can't be told */
} GpbZoneVerdict;

/* Any value of a column that is no float8, or NULL */
extern GpbZoneValue gpb_zone_any(int column);

/* May the slot be true in some entry?  Is it true in all of them? */
extern bool gpb_zone_may_be_true(const GpbZoneValue *value);
extern bool gpb_zone_is_true(const GpbZoneValue *value);

/* Have all entries this one value, which is not NULL? */
extern bool gpb_zone_is_one(const GpbZoneValue *value);

/* Set the values of a program's constants, in an array of GPB_SLOTS. */
extern void gpb_zone_constants(const GpbProgram *program, GpbZoneValue *slot);

/*
 * The bounds of a step's result, given those of its operands, at *result.  Returns false if the
 * step may fault for some values within the bounds, whatever its guard is; then *result has the
 * bounds of any value.  The step's table has n words; "table" is NULL if they are not known.
 */
extern bool gpb_zone_step(const GpbStep *step, const GpbZoneValue *a, const GpbZoneValue *b,
						  const GpbZoneValue *c, const int64 *table, int n,
						  GpbZoneValue *result);

/*
 * Do a program's steps.  slot has the bounds of the columns that it reads, and its constants, and
 * gets those of all temporaries that were set by then.
 */
extern GpbZoneVerdict gpb_zone_judge(const GpbProgram *program, GpbZoneValue *slot);

#endif							/* GPB_PROGRAM_ZONE_H */
