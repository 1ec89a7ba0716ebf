/*-------------------------------------------------------------------------
 *
 * outer_price.h
 *	  The price of reading outer rows in batches and finding the index entries that each asks for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_OUTER_PRICE_H
#define GPB_OUTER_PRICE_H

#include "exec/price/price.h"

/* What is known of the outer rows, and of the entries that they ask for */
typedef struct GpbOuterInput
{
	GpbPriceInput ask;			/* a range for each outer row */
	Path	   *outer;
	double		partitions;		/* how many indexes are asked with each batch; 0: one */
	double		asked;			/* and how many of them for each range */
	double		rows;			/* number of rows that come out */
	Cost		begin_cost;		/* what a program costs before the first outer row */
	List	   *filters;		/* RestrictInfos that are evaluated for each match */
	PathTarget *target;
} GpbOuterInput;

/* The price of a whole path; startup_cost is up to the first row of the first batch. */
typedef struct GpbOuterPrice
{
	Cost		startup_cost;
	Cost		total_cost;
} GpbOuterPrice;

/*
 * The first part of gpb_outer_price(), and nearly all of it: the total cost, and a startup cost
 * that lacks what it takes to find the entries of the first batch.  Without an index in what is
 * asked it is the least for any index: nothing is found.
 */
extern GpbOuterPrice gpb_outer_total_price(GpbOuterInput *input);

/* What a whole path costs; total is the result of gpb_outer_total_price(). */
extern GpbOuterPrice gpb_outer_full_price(GpbOuterInput *input, const GpbOuterPrice *total);

/* Both parts together */
extern GpbOuterPrice gpb_outer_price(GpbOuterInput *input);

#endif							/* GPB_OUTER_PRICE_H */
