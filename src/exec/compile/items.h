/*-------------------------------------------------------------------------
 *
 * items.h
 *	  The aggregates of a query: which of them an index can answer, and in which form they travel
 *	  from the planner to the executor.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ITEMS_H
#define GPB_ITEMS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/shell/node_private.h"
#include "program/program.h"

typedef enum GpbAggregateFunction
{
	GPB_COUNT_ENTRIES,			/* count(*) */
	GPB_COUNT_VALUES,
	GPB_SUM,
	GPB_MIN,
	GPB_MAX,
	GPB_AVG,
	/* by programs that are not plain alone */
	GPB_VAR_POP,
	GPB_VAR_SAMP,
	GPB_STDDEV_POP,
	GPB_STDDEV_SAMP,
	GPB_BOOL_AND,
	GPB_BOOL_OR,
	GPB_BIT_AND,
	GPB_BIT_OR,
	GPB_BIT_XOR,
	GPB_REGR_SXX,				/* of one argument: the squares of differences from the mean */
	GPB_WIDE_MIN,				/* of numerics of 16 bytes: the term has both halves */
	GPB_WIDE_MAX,
	/* of two arguments, (Y, X) */
	GPB_REGR_SXY,
	GPB_COVAR_POP,
	GPB_COVAR_SAMP,
	GPB_CORR,
	GPB_REGR_R2,
	GPB_REGR_SLOPE,
	GPB_REGR_INTERCEPT,
	/* of numerics divided by a constant */
	GPB_QUOTIENT_SUM,
	GPB_QUOTIENT_AVG,
	/* of numerics that are not all displayed with the same number of digits, which is Y */
	GPB_VARYING_SUM,
	GPB_VARYING_AVG,
	/* of numerics of 16 bytes, whose upper halves are the column's, and the lower ones Y */
	GPB_WIDE_SUM,
	GPB_WIDE_AVG,
	/* of numerics of 16 bytes, with halves as for GPB_WIDE_SUM; the products have the upper halves
	 * of upper half times low word, the rests the lower ones */
	GPB_WIDE_VAR_POP,
	GPB_WIDE_VAR_SAMP,
	GPB_WIDE_STDDEV_POP,
	GPB_WIDE_STDDEV_SAMP
} GpbAggregateFunction;

/* What core's aggregates of pairs (Y, X) take of those in which neither is NULL */
typedef enum GpbPairInput
{
	GPB_PAIR_ROWS,				/* their number: another function, of no argument */
	GPB_PAIR_X,					/* X or Y: another function, of one argument */
	GPB_PAIR_Y,
	GPB_PAIR_BOTH
} GpbPairInput;

/* The terms of a function of two arguments, besides that of X */
typedef struct GpbPairTerms
{
	int			y;
	int			products;		/* the rounded products */
	int			rests;			/* GPB_OP_FLOAT_PRODUCT_REST */
} GpbPairTerms;

/*
 * How a sum of quotients is displayed: with the most digits behind the point that core gives one of
 * them, which is the dividend nearest to zero.  The item's column is the term of the quotients, of
 * which type has the scale; that of the dividends' magnitudes is in the place of Y.
 */
typedef struct GpbQuotient
{
	int			scale;			/* of the dividends */
	int			divisor;		/* a word of divisor_scale */
	int			divisor_scale;
} GpbQuotient;

/* One aggregate of the query */
typedef struct GpbAggregateItem
{
	GpbAggregateFunction function;
	int			column;			/* of the index; 0 is the key.  Of a program that is not plain: the
								 * term's number, and of two arguments that of X */
	GpbPairTerms pair;			/* zeros but for functions of two arguments, and of quotients */
	GpbQuotient quotient;		/* zeros but for functions of quotients */
	Oid			type;			/* argument type, or one of decimals (program_words.h); InvalidOid
								 * where any will do */
	Oid			aggregate;		/* the SQL function that the item stands for */
} GpbAggregateItem;

/* ---- planning: which queries ---- */

/*
 * Does the query return one row of aggregates, and no HAVING clause, and may our nodes run in it?
 */
extern bool gpb_query_is_plain(PlannerInfo *root);

/*
 * Does the query return one row of aggregates, or none where HAVING rejects it, and may our nodes
 * run in it?
 */
extern bool gpb_query_is_one_row(PlannerInfo *root);

/*
 * Collect the distinct Aggrefs of the grouping target into *aggrefs.  Returns false if the target
 * needs anything else of the tables, or has no aggregate.
 */
extern bool gpb_collect_aggrefs(PathTarget *target, List **aggrefs);

/* ---- planning: which aggregates ---- */

/*
 * Is it one of core's aggregates that we know?  If so, fill in the function and its argument's
 * type.
 */
extern bool gpb_find_aggregate(Oid aggregate, GpbAggregateFunction *function, Oid *type);

/*
 * Is it one of core's aggregates of two arguments of type float8 that we know?  If so, fill in the
 * function, and of what in the pairs it is.
 */
extern bool gpb_find_pair_aggregate(Oid aggregate, GpbAggregateFunction *function,
									GpbPairInput *input);

/* Is it a function of two arguments, or another whose items name several terms? */
static inline bool
gpb_function_is_of_pairs(GpbAggregateFunction function)
{
	return function >= GPB_REGR_SXY;
}

/*
 * The GPB_WANT_* that a function of two arguments needs of the term of Y; gpb_function_want() has
 * those of X.
 */
extern int	gpb_function_want_of_y(GpbAggregateFunction function);

/* The GPB_WANT_* that an aggregate of this function needs of its column or term */
extern int	gpb_function_want(GpbAggregateFunction function);

/*
 * The GPB_WANT_* that an item needs of its column or term: those of its function, and of a column
 * of type numeric it must be known besides whether it has NaN.
 */
extern int	gpb_item_want(const GpbAggregateItem *item);

/* Is a plain program, which aggregates columns alone, enough for what is wanted? */
static inline bool
gpb_want_is_plain(int want)
{
	return (want & ~(GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_MINMAX)) == 0;
}

/* ---- planning: does an index hold what is asked for? ---- */

/* The column of table "relid" that an aggregate's argument is; NULL if it is anything else. */
extern Var *gpb_argument_var(Expr *argument, Index relid);

/*
 * Fill in *items, palloc'd, one for each of the Aggrefs.  Returns false unless the index answers
 * all of them.
 */
extern bool gpb_match_batch_aggrefs(IndexOptInfo *index, List *aggrefs,
									GpbAggregateItem **items);

/* The number of columns that the n items aggregate, at least one: each makes a batch dearer. */
extern int	gpb_count_columns(const GpbAggregateItem *items, int n);

/* Is this aggregate, over entries whose keys are not NULL, the number of rows? */
static inline bool
gpb_item_counts_rows(const GpbAggregateItem *item)
{
	return item->function == GPB_COUNT_ENTRIES ||
		(item->function == GPB_COUNT_VALUES && item->column == 0);
}

/* ---- what travels in the plan ---- */

/* Append the n items to a plan's private list. */
extern void gpb_put_items(List **private, const GpbAggregateItem *items, int n);

/* Read what gpb_put_items() appended.  Returns the number of items, which are palloc'd. */
extern int	gpb_get_items(GpbPrivateReader *reader, GpbAggregateItem **items);

/* ---- execution ---- */

/*
 * Raise an error unless the current user may execute the aggregate, as core's Agg does when it
 * begins; to be called when a node begins, under EXPLAIN too.
 */
extern void gpb_require_aggregate(Oid aggregate);

/*
 * Raise an error unless the current user may execute the function; to be called when a node begins,
 * under EXPLAIN too.
 */
extern void gpb_require_function(Oid function);

/* Call gpb_require_aggregate() for the aggregates of n items. */
extern void gpb_require_aggregates(const GpbAggregateItem *items, int n);

/*
 * Raise an error unless the current user may execute all functions and aggregates in the
 * expressions, as core does when it prepares them.
 */
extern void gpb_require_functions(List *expressions);

/*
 * Add to want[column], for each column of the index, the GPB_WANT_* that the n items need of it.
 * The array has GPB_MAX_COLUMNS elements.
 */
extern void gpb_aggregate_wants(const GpbAggregateItem *items, int n, uint8 *want);

#endif							/* GPB_ITEMS_H */
