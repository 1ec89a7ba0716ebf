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

#include "exec/compile/program_words.h"
#include "exec/functions/core_aggregate.h"
#include "exec/shell/node_private.h"
#include "program/program.h"

/*
 * The terms of an item beside that of its column, each GPB_NO_TERM if it has none such.  What the
 * item's values are says which it has.
 */
typedef struct GpbItemTerms
{
	/* of a function of pairs (Y, X), whose column is X */
	int			y;
	int			products;		/* of Y and X, rounded */
	int			rests;			/* what rounding took from them: GPB_OP_FLOAT_PRODUCT_REST */
	/* of numerics divided by a constant, whose column is the quotients */
	int			dividends;		/* their magnitudes */
	/* of numerics that are not all displayed with as many digits */
	int			digits;			/* how many each has behind the point */
	/* of numerics of 16 bytes, whose column is their upper halves */
	int			lower;
	int			cross_upper;	/* of the product of upper half and low word: its upper half */
	int			cross_lower;
} GpbItemTerms;

#define GPB_NO_TERM			(-1)

/*
 * How a sum of quotients is displayed: with the most digits behind the point that core gives one of
 * them, which is the dividend nearest to zero.  The item's type has the scale of the quotients.
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
								 * number of the term of its values */
	GpbItemTerms terms;
	GpbQuotient quotient;		/* zeros but for quotients */
	GpbWordType type;			/* of the argument; where that does not matter no SQL type */
	Oid			aggregate;		/* the SQL function that the item stands for */
} GpbAggregateItem;

/* ---- planning: which aggregates ---- */

/* Is it an ordinary aggregate, of this query's rows, whole and each row once? */
extern bool gpb_aggref_is_ordinary(const Aggref *aggref);

/* An item of no terms for one of core's aggregates, of the type that it takes */
extern GpbAggregateItem gpb_item(const GpbAggregate *known);

/*
 * The GPB_WANT_* that an item needs of its column or term: those of its function, the halves of the
 * least and greatest values of 16 bytes, and of a column of type numeric it must be known besides
 * whether it has NaN.
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

/*
 * Replace the number of each term that the item has by what "other" makes of it.
 */
extern void gpb_map_item_terms(GpbAggregateItem *item, int (*other) (int term, void *context),
							   void *context);

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
