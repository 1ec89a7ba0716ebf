/*-------------------------------------------------------------------------
 *
 * price.h
 *	  The price of asking the engine for entries of an index, whichever node asks.
 *
 * A node fills in what it asks for, and adds what only it does: to begin, and what its rows take.
 * README says what a price is made of; price_constants.h what each step costs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PRICE_H
#define GPB_PRICE_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * What a node asks for.  What is 0 is not there, so that an aggregate over all entries of one range
 * fills in the first three members and "seen".
 */
typedef struct GpbPriceInput
{
	PlannerInfo *root;
	IndexOptInfo *index;
	double		entries;		/* of all ranges */
	Cost		begin;			/* to begin, beside what follows */

	/* the ranges */
	double		ranges;			/* so many, each of which is looked for by itself, as for outer
								 * rows; 0: one */
	double		keys;			/* of them that differ; 0: all do */
	double		searches;		/* groups that are looked for before, to know the ranges */
	bool		known_ranges;	/* statistics say how long they are; of an outer row's bounds core
								 * guesses it */

	double		processes;		/* that ask for as much each, side by side; 0: one */
	bool		exchanged;		/* and have exchanged ranges before, so that each asks for a stretch
								 * of the keys of all */

	/* what is done with the entries */
	bool		no_device;		/* one range: no device is asked for it */
	int			more_columns;	/* that are aggregated beside a first one */
	Cost		program;		/* what a program, with its groups, costs the CPU in all */
	bool		listed;			/* ranges: entries are handed out, not aggregated */
	bool		in_order;		/* ranges: and sorted, by outer row */
	Cost		entry_cost;		/* ranges: what a program costs the CPU for an entry */
	double		dropped;		/* ranges: the share of the entries that a program does not list */

	/* the heap */
	double		seen;			/* one range: entries that are aggregated or listed only if they are
								 * visible */
	bool		from_heap;		/* ranges: each entry's row is fetched */
	bool		beside_index_scan;	/* see gpb_heap_price() */

	/*
	 * Each part is to be the least that it can be where no device is asked: for ranges, entries and
	 * searches that may be more, in whichever order the heap and the ranges are.  Nothing is known
	 * of what has to be seen.
	 */
	bool		least;

	/* found when it is needed, and kept for further prices over the index */
	bool		has_correlation;
	double		correlation;	/* of the index, squared */
} GpbPriceInput;

/* The price of what is asked for, in one batch if it is for several ranges */
extern Cost gpb_price(GpbPriceInput *input);

/* The part of gpb_price() that a program has: none where a device has enough to do */
extern Cost gpb_program_price(const GpbPriceInput *input);

/*
 * The price of so many of the input's ranges, in batches of "batch" of them, without what it costs
 * to set a batch up
 */
extern Cost gpb_ranges_price(GpbPriceInput *input, double ranges, double batch);

/*
 * The price of heap visits for that fraction of so many entries of the input's index.
 * beside_index_scan in the input: the only other way to answer the query is likely to be core's
 * scan of the index, whose price leaves out what it takes to wait for memory; then so does this
 * one.
 */
extern Cost gpb_heap_price(GpbPriceInput *input, double entries, double fraction);

/*
 * The fraction of so many entries of an index on the table that need a heap visit: those on pages
 * that are neither all-visible nor, as a sample shows now, settled.
 */
extern double gpb_visited_fraction(PlannerInfo *root, RelOptInfo *rel, double entries);

/*
 * The price of evaluating the values of conditions on the key, bare clauses, and of arms, Lists of
 * such
 */
extern Cost gpb_bounds_price(PlannerInfo *root, List *conditions, List *arms);

/* How far the order of the heap follows that of the key: from -1 to 1 */
extern double gpb_index_correlation(PlannerInfo *root, IndexOptInfo *index);

/*
 * The least that gpb_price() may be, whatever is matched, for an index of ours and restrictions
 * that have conditions on no other columns than "restricted", a set of plan_columns.h, and so many
 * rows or more. 0 where keys come from arrays, or where a device may search for ranges.
 */
extern Cost gpb_least_price(PlannerInfo *root, IndexOptInfo *index, const Bitmapset *restricted,
							bool has_arrays, double rows);

#endif							/* GPB_PRICE_H */
