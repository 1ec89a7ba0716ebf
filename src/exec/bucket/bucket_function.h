/*-------------------------------------------------------------------------
 *
 * bucket_function.h
 *	  Functions that put keys into buckets, as date_trunc does, and what is known of their order.
 *
 * A bucket function is an expression over the key column, made of one or more of the functions that
 * bucket_function.c lists, such as date_trunc('month', k)::date; all other arguments are
 * fixed while the index is read.
 *
 * What is promised of it, for the arguments of one execution: for keys within its safe interval it
 * raises no error, and its result does not fall as the key rises, but for the boundaries.  These
 * are keys where it may begin anew, since an offset of a time zone changes.  Of keys outside the
 * interval nothing is known but that the two infinities come first and last.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BUCKET_FUNCTION_H
#define GPB_BUCKET_FUNCTION_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* ---- planning ---- */

/*
 * Is the expression a bucket function of the index's key column "column"?  Fills in *functions, a
 * List of OIDs that begins with the function which gets the key, and *arguments, what they are
 * called with beside the key, in the order of functions and arguments.
 */
extern bool gpb_match_bucket_function(PlannerInfo *root, IndexOptInfo *index, int column,
									  Expr *expression, List **functions,
									  List **arguments);

/* ---- evaluation ---- */

typedef struct GpbBucketFunction GpbBucketFunction;

/*
 * What is known of the function with the arguments at hand.  Keys and results are integers here:
 * the value itself, days of a date, or microseconds of a timestamp.
 */
typedef struct GpbBucketOrder
{
	bool		null;			/* is an argument NULL, and so each result? */
	bool		silent;			/* if null, is no error raised for any key?  Then the rest is not
								 * set. */
	int64		safe_lo;		/* the safe interval; empty if lo > hi */
	int64		safe_hi;
	bool		infinities;		/* has the key's type infinite values? */
	int64		least_infinity; /* they are the type's least and greatest integer */
	int64		most_infinity;
	bool		zone;			/* may there be boundaries? */
	double		width;			/* about how many units of the key a bucket spans; 0 if unknown */
} GpbBucketOrder;

/*
 * Prepare to call the functions, OIDs as gpb_match_bucket_function() has them, for keys of a type.
 * Memory is of the current context.
 */
extern GpbBucketFunction *gpb_bucket_function_begin(List *functions, Oid key_type);

/* A value of an integer, date or timestamp type as an integer */
extern int64 gpb_datum_integer(Oid type, Datum value);

/* Raise an error if the user may not call one of the functions, as core does when a plan begins. */
extern void gpb_bucket_function_check_rights(const GpbBucketFunction *function);

/* How many arguments the functions have beside the key */
extern int	gpb_bucket_function_arguments(const GpbBucketFunction *function);

/*
 * Set the arguments, which are not copied.  Settings of the session count as they are now.  What is
 * returned is good until the next call.
 */
extern const GpbBucketOrder *gpb_bucket_function_set(GpbBucketFunction *function,
													 const Datum *values, const bool *isnull);

/*
 * Let the session's time zone be what it was when the arguments were set (rule M12), since the
 * functions read it.  Returns what gpb_bucket_function_leave() must be given; after an error, the
 * end of the transaction leaves.  Calls nest.
 */
extern int	gpb_bucket_function_enter(const GpbBucketFunction *function);

/* Let the session's time zone be its own again. */
extern void gpb_bucket_function_leave(int level);

/*
 * The function's result for a key, with the session's settings as they are now.  Raises what the
 * SQL expression would.  If an argument is NULL, the functions before the one that has it are
 * called, as in SQL, and what they make of the key is returned.
 */
extern int64 gpb_bucket_of(GpbBucketFunction *function, int64 key);

/* A result as a Datum of the result's type */
extern Datum gpb_bucket_datum(const GpbBucketFunction *function, int64 result);

/*
 * The boundaries within the safe interval, ascending, and their number *n, which is 0 unless a time
 * zone matters.  Valid until the next arguments are set.
 */
extern const int64 *gpb_bucket_boundaries(GpbBucketFunction *function, int *n);

#endif							/* GPB_BUCKET_FUNCTION_H */
