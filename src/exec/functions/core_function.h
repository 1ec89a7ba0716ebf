/*-------------------------------------------------------------------------
 *
 * core_function.h
 *	  What gpubtree knows of core's functions: one table.
 *
 * A function is known by its OID, so that neither operators of the same name nor search_path
 * matter; operators are their functions.  A row says how steps of a program say the function, over
 * words (program_function.c) or numerics (program_decimal.c), and whether its result rises with an
 * argument, so that a condition on it is one on ranges of keys (key_function.c), and equal results
 * are buckets of keys (exec/bucket/bucket_function.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CORE_FUNCTION_H
#define GPB_CORE_FUNCTION_H

#include "postgres.h"

#include "program/program.h"

/* How a call becomes steps.  The arguments are x and y. */
typedef enum GpbCall
{
	GPB_CALL_NONE,				/* steps cannot say it */

	GPB_CALL_COMPARE,			/* x op y */
	GPB_CALL_COMPARE_FLOATS,	/* x op y by GPB_OP_FLOAT_ORDER of both */
	GPB_CALL_COMPARE_DATE,		/* x is a date, y a timestamp */
	GPB_CALL_COMPARE_WITH_DATE, /* x is a timestamp, y a date */
	GPB_CALL_COMPARE_LOCAL,		/* x, of type "then", is in local time, y a timestamptz */
	GPB_CALL_COMPARE_WITH_LOCAL,	/* x is a timestamptz, y, of type "then", in local time */
	GPB_CALL_COMPARE_NUMERICS,
	GPB_CALL_COMPARE_UUIDS,

	GPB_CALL_STEP,				/* op of the arguments, and of the result the operator "then" */
	GPB_CALL_SAME,				/* x */
	GPB_CALL_NOT_ZERO,			/* x op 0 */
	GPB_CALL_MINUS_DAYS,		/* x op -y */
	GPB_CALL_SHIFT,				/* x, of type "then", plus or minus a constant interval */
	GPB_CALL_TRUNC,				/* date_trunc() of y, of type "then", with a constant unit */
	GPB_CALL_TO_TIMESTAMP,		/* to_timestamp() of x, a float8 */
	GPB_CALL_BIN,				/* date_bin() of y with a constant stride and origin */
	GPB_CALL_LOCAL,				/* x, a timestamptz, as a timestamp in the session's zone */
	GPB_CALL_LOCAL_DATE,		/* x, a timestamptz, as a date in the session's zone */
	GPB_CALL_OF_LOCAL,			/* x, a timestamp in the session's zone, as a timestamptz */
	GPB_CALL_OF_LOCAL_DATE,		/* x, a date in the session's zone, as a timestamptz */
	GPB_CALL_AT_ZONE,			/* y, a timestamptz, as a timestamp in a zone, which is constant */
	GPB_CALL_OF_ZONE,			/* y, a timestamp in such a zone, as a timestamptz */

	/* of numerics, or with a numeric result */
	GPB_DECIMAL_FIELD,			/* extract(), and date_part(), whose result is float8 */
	GPB_DECIMAL_OF_INTEGER,
	GPB_DECIMAL_SUM,			/* op of both */
	GPB_DECIMAL_PRODUCT,
	GPB_DECIMAL_QUOTIENT,		/* by a constant */
	GPB_DECIMAL_SIGN,			/* op of the word */
	GPB_DECIMAL_SAME,
	GPB_DECIMAL_FLOOR,
	GPB_DECIMAL_CEILING,
	GPB_DECIMAL_TRUNC,			/* to a constant number of digits */
	GPB_DECIMAL_ROUND,
	GPB_DECIMAL_TO_INTEGER,		/* op of the rounded value; 0: none */
	GPB_DECIMAL_TO_FLOAT
} GpbCall;

/* How the result rises with an argument, if the others are constants */
typedef enum GpbRise
{
	GPB_RISE_NONE,				/* it does not, or it is not known */
	GPB_RISE_SAME,				/* a cast of an integer to a type that has its value */
	GPB_RISE_DIVIDE,
	GPB_RISE_DAY,				/* a date: the time of day is forgotten */
	GPB_RISE_MIDNIGHT,			/* the timestamp or timestamptz of a date */
	GPB_RISE_LOCAL,				/* an instant as a timestamp, in a zone */
	GPB_RISE_TRUNC,				/* date_trunc() */
	GPB_RISE_BIN,				/* date_bin() */
	GPB_RISE_FIELD				/* extract() or date_part(), of some fields */
} GpbRise;

/* Where a function gets its time zone from */
#define GPB_NO_ZONE			(-1)
#define GPB_SESSION_ZONE	(-2)	/* any other value is the number of its argument */

/* What a function may be used for, as bits */
#define GPB_FOR_CONDITIONS	0x01	/* index conditions on a function that rises */
#define GPB_FOR_BUCKETS		0x02	/* buckets of one that rises; all of these are strict */
#define GPB_FOR_RISES		(GPB_FOR_CONDITIONS | GPB_FOR_BUCKETS)
#define GPB_OF_MOMENTS		0x04	/* of dates, moments, the clock: core's planner evaluates it */

typedef struct GpbFunction
{
	Oid			function;
	uint8		call;			/* GpbCall */
	uint8		op;				/* GpbOperator; 0: none */
	Oid			then;			/* what the call says, an operator or a type; 0: none */
	uint8		use;			/* GPB_FOR_*, GPB_OF_MOMENTS */

	/* The rest is set if the result rises. */
	uint8		rise;			/* GpbRise */
	int8		nargs;
	int8		key;			/* the number of the argument with which it rises */
	int8		zone;
	Oid			key_type;		/* of that argument */
	Oid			result_type;
	Oid			divisor_type;
} GpbFunction;

/* The row of a function of this OID; NULL if there is none. */
extern const GpbFunction *gpb_core_function(Oid function);

#endif							/* GPB_CORE_FUNCTION_H */
