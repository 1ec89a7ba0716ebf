/*-------------------------------------------------------------------------
 *
 * date_units.h
 *	  What date_trunc() and date_bin() are called with, as numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_DATE_UNITS_H
#define GPB_DATE_UNITS_H

#include "postgres.h"
#include "utils/timestamp.h"

/* A unit of date_trunc(): multiples of a length from an origin, or of calendar months */
typedef struct GpbTruncUnit
{
	int			unit;			/* DTK_* */
	int64		length;			/* microseconds; 0: months */
	int64		origin;
	int			months;
} GpbTruncUnit;

/* The unit of this name; NULL if it is none, or none of fixed length or months. */
extern const GpbTruncUnit *gpb_trunc_unit(const text *name);

/* The field that a name means for extract(), a DTK_*; -1 if it means none. */
extern int	gpb_date_field(const text *name);

/* The length of an interval of days and microseconds; false if it is none, or too long. */
extern bool gpb_interval_length(const Interval *interval, int64 *length);

/*
 * Does the server's date_bin() leave a timestamp that is before the origin, and begins a bin, where
 * it is?  Early releases of PostgreSQL 15 put it into the bin before.
 */
extern bool gpb_bins_begin_themselves(void);

#endif							/* GPB_DATE_UNITS_H */
