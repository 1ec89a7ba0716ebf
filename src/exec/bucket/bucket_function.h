/*-------------------------------------------------------------------------
 *
 * bucket_function.h
 *	  Functions that put keys into buckets, as date_trunc does, and what is known of their order.
 *
 * A bucket function is an expression over the key column, made of one or more of the functions that
 * bucket_function.c lists, such as date_trunc('month', k)::date; all other arguments are
 * fixed while the index is read.
 *
 * What is promised of it, for the arguments of one execution: within its safe interval of keys it raises nothing, and it
 * does not fall as the key rises, but for the boundaries, which are keys where it may begin anew: where an offset of a time zone
 * changes.  Of keys outside the interval nothing is known but that the two infinities come first and
 * last.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BUCKET_FUNCTION_H
#define GPB_BUCKET_FUNCTION_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* ---- planning ---- */

/*
 * Is the expression a bucket function of the index's key?  Fills in the functions, as OIDs, the one that gets the
 * key first, and their other arguments, in the order of functions and arguments.
 */
extern bool gpb_match_bucket_function(PlannerInfo *root, IndexOptInfo *index, Expr *expression,
									  List **functions, List **arguments);

/* ---- evaluation ---- */

typedef struct GpbBucketFunction GpbBucketFunction;

/* Values of the key are integers: its own, days of a date or microseconds of a timestamp; so are results. */
typedef struct GpbBucketOrder
{
	bool		null;			/* an argument is NULL, and so is each result ... */
	bool		silent;			/* ... and nothing is raised for any key; the rest is not set */
	int64		safe_lo;		/* the safe interval; empty if lo > hi */
	int64		safe_hi;
	int64		least_infinity; /* keys that are infinite; the type's least and greatest integer ... */
	int64		most_infinity;
	bool		infinities;		/* ... unless it has none */
	bool		zone;			/* there may be boundaries */
	double		width;			/* of a bucket, about, in units of the key; 0 if unknown */
} GpbBucketOrder;

/* Memory is of the current context. */
extern GpbBucketFunction *gpb_bucket_function_begin(List *functions, Oid key_type);

/* A value of an integer, date or timestamp type as an integer */
extern int64 gpb_datum_integer(Oid type, Datum value);

/* Raise an error if the user may not call one of the functions, as the executor does when it begins. */
extern void gpb_bucket_function_check_rights(const GpbBucketFunction *function);

/* Number of arguments besides keys */
extern int	gpb_bucket_function_arguments(const GpbBucketFunction *function);

/*
 * Set the arguments; values are not copied.  Settings of the session count as they are now.  The order of the function with them is good until the next call.
 */
extern const GpbBucketOrder *gpb_bucket_function_set(GpbBucketFunction *function,
													 const Datum *values, const bool *isnull);

/*
 * The functions read the session's time zone.  Between these two calls, which nest, it is what it was when the arguments were set
 * (rule M12); after an error, the transaction's end is the second.
 */
extern int	gpb_bucket_function_enter(const GpbBucketFunction *function);
extern void gpb_bucket_function_leave(int level);

/*
 * The function of a key, with the session's settings as they are now.  Raises what the SQL expression would.  If an argument is
 * NULL, the functions before the one that has it are called, as in SQL, and what they make of the key is returned.
 */
extern int64 gpb_bucket_of(GpbBucketFunction *function, int64 key);
/* As a Datum of the result's type */
extern Datum gpb_bucket_datum(const GpbBucketFunction *function, int64 result);

/*
 * The boundaries within the safe interval, ascending; *n of them, none if !zone.  Valid until arguments are set.
 */
extern const int64 *gpb_bucket_boundaries(GpbBucketFunction *function, int *n);

#endif							/* GPB_BUCKET_FUNCTION_H */
