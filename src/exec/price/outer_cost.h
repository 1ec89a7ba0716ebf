/*-------------------------------------------------------------------------
 *
 * outer_cost.h
 *	  The price of reading outer rows in batches and finding the index entries that each asks for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_OUTER_COST_H
#define GPB_OUTER_COST_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* What is known of the outer rows, and of the entries that they ask for */
typedef struct GpbOuterInput
{
	IndexOptInfo *index;
	Path	   *outer;
	double		outer_rows;
	double		keys;			/* distinct values of the outer rows; 0: as many as rows */
	double		rows;			/* number of rows that come out */
	double		matches;		/* index entries found */
	bool		known_ranges;	/* statistics say how long they are; of an outer row's bounds core
								 * guesses it */
	bool		aggregated;		/* matches are counted, not handed out */
	int			more_columns;	/* that are aggregated beside a first one */
	Cost		begin_cost;		/* what a program costs before the first outer row */
	Cost		entry_cost;		/* what a program costs for a match on the CPU */
	double		dropped;		/* the share of the matches that a program does not list */
	bool		index_only;
	bool		in_order;
	List	   *filters;		/* RestrictInfos that are evaluated for each match */
	PathTarget *target;

	/* found when it is needed, and kept for the prices of further outer paths */
	bool		has_correlation;
	double		correlation;	/* of the index, squared */
} GpbOuterInput;

/* The price of a whole path; startup_cost is up to the first row of the first batch. */
typedef struct GpbOuterPrice
{
	Cost		startup_cost;
	Cost		total_cost;
} GpbOuterPrice;

/*
 * At most what gpb_outer_cost() finds over the outer path, whatever the index, but for what rows
 * that come out cost: for paths that are beaten by far.
 */
extern GpbOuterPrice gpb_least_outer_cost(const Path *outer);

/*
 * The first part of gpb_outer_cost(), and nearly all of it: the total cost, and a startup cost that
 * lacks what it takes to find the entries of the first batch.
 */
extern GpbOuterPrice gpb_outer_total_cost(PlannerInfo *root, GpbOuterInput *input);

/* What a whole path costs; total is the result of gpb_outer_total_cost(). */
extern GpbOuterPrice gpb_outer_full_cost(PlannerInfo *root, GpbOuterInput *input,
										 const GpbOuterPrice *total);

/* Both parts together */
extern void gpb_outer_cost(PlannerInfo *root, GpbOuterInput *input, Cost *startup_cost,
						   Cost *total_cost);

/*
 * The part of gpb_outer_cost() that finding the entries of "rows" outer rows has, in batches of
 * "batch" rows, without what it costs to set a batch up.  It does not look at input->outer.
 */
extern Cost gpb_inner_cost(PlannerInfo *root, GpbOuterInput *input, double rows,
						   double batch);

/*
 * At most what gpb_inner_cost() finds for one batch of so many outer rows or more, whose matches
 * are aggregated.  Not where a device may search.
 */
extern Cost gpb_least_inner_cost(IndexOptInfo *index, double rows);

#endif							/* GPB_OUTER_COST_H */
