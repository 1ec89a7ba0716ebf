/*-------------------------------------------------------------------------
 *
 * core_aggregate.h
 *	  What gpubtree knows of core's aggregates, and of its own: a table of each.
 *
 * One of core's is known by its OID, as functions are (core_function.h); one of the extension's,
 * whose OID is another in each database, by the function that takes a row in.  A row says what it
 * computes, and of what of each row.  Whoever matches aggregates reads it: plain programs
 * (items.h), other programs (program_aggregates.c), aggregates that depend on how often each value
 * occurs (exec/aggregate/aggregate_values.h), and percentiles by rank (exec/rank).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CORE_AGGREGATE_H
#define GPB_CORE_AGGREGATE_H

#include "postgres.h"

#include "program/program.h"

/* What an aggregate computes */
typedef enum GpbAggregateFunction
{
	GPB_COUNT_ENTRIES,			/* the number of rows */
	GPB_COUNT_VALUES,			/* of those that are not NULL */
	GPB_SUM,
	GPB_AVG,
	GPB_MIN,
	GPB_MAX,
	GPB_VAR_POP,
	GPB_VAR_SAMP,
	GPB_STDDEV_POP,
	GPB_STDDEV_SAMP,
	GPB_BIT_AND,
	GPB_BIT_OR,
	GPB_BIT_XOR,
	GPB_REGR_SXX,				/* the squares of differences from the mean */
	/* of pairs (Y, X) */
	GPB_REGR_SXY,
	GPB_COVAR_POP,
	GPB_COVAR_SAMP,
	GPB_CORR,
	GPB_REGR_R2,
	GPB_REGR_SLOPE,
	GPB_REGR_INTERCEPT,
	/* of values in an order */
	GPB_PERCENTILE_DISC,
	GPB_PERCENTILE_CONT,
	GPB_MODE,
	/* transition states of core's aggregates, as Citus asks for them */
	GPB_STATE_MOMENTS,			/* float8[]: of variances of floats */
	GPB_STATE_PAIRS,			/* float8[]: of functions of pairs */
	GPB_STATE_SQUARES,			/* internal: of variances of integers */
	GPB_STATE_COUNT,
	GPB_STATE_XOR,
	/* states as SQL values (exec/partial/partial.h) */
	GPB_PARTIAL_SUMS,
	GPB_PARTIAL_MOMENTS,
	GPB_PARTIAL_PAIRS,
	GPB_PARTIAL_VALUES			/* of each value and how often it occurs */
} GpbAggregateFunction;

/* What an aggregate takes of each row */
typedef enum GpbAggregateInput
{
	GPB_INPUT_ROW,				/* nothing: there is one */
	GPB_INPUT_ANY,				/* a value of any type: is it NULL? */
	GPB_INPUT_WORD,				/* a value of the row's type */
	GPB_INPUT_CODE,				/* a text, which core compares by the row's function */
	/* of two values (Y, X) of type float8, neither of which is NULL: */
	GPB_INPUT_PAIR,				/* that there are two */
	GPB_INPUT_X,
	GPB_INPUT_Y,
	GPB_INPUT_BOTH,
	GPB_INPUT_ORDER,			/* a value in the order of WITHIN GROUP; the row's type is that of
								 * what stands before that */
	GPB_INPUT_EACH				/* a value of any type that has partial states */
} GpbAggregateInput;

typedef struct GpbAggregate
{
	Oid			aggregate;
	GpbAggregateFunction function;
	GpbAggregateInput input;
	Oid			type;
	Oid			compare;
} GpbAggregate;

/* Find an aggregate by its OID; NULL if we do not know it.  One of the extension's is palloc'd. */
extern const GpbAggregate *gpb_find_aggregate(Oid aggregate);

/*
 * The OID of the extension's aggregate that computes this function, GPB_PARTIAL_SUMS or one below
 * it, of values of this base type; InvalidOid if the extension, of an older version, has none.
 */
extern Oid	gpb_own_aggregate(GpbAggregateFunction function, Oid type);

/* Is an aggregate a member of the extension, whatever it computes? */
extern bool gpb_is_own_aggregate(Oid aggregate);

/* Is a value of this SQL type what the aggregate, of GPB_INPUT_WORD, takes? */
extern bool gpb_aggregate_takes(const GpbAggregate *known, Oid type);

static inline bool
gpb_input_is_pair(GpbAggregateInput input)
{
	return input >= GPB_INPUT_PAIR && input <= GPB_INPUT_BOTH;
}

/* What a function computes its result of */
typedef struct GpbFunctionNeeds
{
	uint8		want;			/* GPB_WANT_* of its values, of pairs of X */
	uint8		want_of_y;		/* of pairs */
	bool		ignores_repeats;	/* DISTINCT makes no difference */
	bool		of_sample;		/* one value has no result */
} GpbFunctionNeeds;

extern const GpbFunctionNeeds gpb_functions[];

static inline int
gpb_function_want(GpbAggregateFunction function)
{
	return gpb_functions[function].want;
}

static inline bool
gpb_function_is_percentile(GpbAggregateFunction function)
{
	return function == GPB_PERCENTILE_DISC || function == GPB_PERCENTILE_CONT;
}

/* Is it a transition state of core's? */
static inline bool
gpb_function_is_state(GpbAggregateFunction function)
{
	return function >= GPB_STATE_MOMENTS && function <= GPB_STATE_XOR;
}

/* Is it a state as an SQL value? */
static inline bool
gpb_function_is_partial(GpbAggregateFunction function)
{
	return function >= GPB_PARTIAL_SUMS;
}

#endif							/* GPB_CORE_AGGREGATE_H */
