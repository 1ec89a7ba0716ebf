/*-------------------------------------------------------------------------
 *
 * plan_costs.h
 *	  Prices that the nodes share: heap visits, reading entries, core's other ways.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PLAN_COSTS_H
#define GPB_PLAN_COSTS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* How far the order of the heap follows that of the key: from -1 to 1 */
extern double gpb_index_correlation(PlannerInfo *root, IndexOptInfo *index);

/* How many of so many pages n visits at random touch */
extern double gpb_distinct_pages(double n, double pages);

/*
 * The fraction of so many entries of an index on the table that need a heap visit: those on pages
 * that are neither all-visible nor, as a sample shows now, settled.
 */
extern double gpb_visited_fraction(PlannerInfo *root, RelOptInfo *rel, double entries);

/*
 * The price of the CPU time of so many heap visits, each to a page that others visit too.  squared:
 * the square of the index's correlation.  beside_index_scan: the only other way to answer the query
 * is likely to be core's scan of the index, whose price leaves out what it takes to wait for
 * memory; then so does this one.
 */
extern Cost gpb_visit_cost(const IndexOptInfo *index, double visits, double squared,
						   bool beside_index_scan);

/*
 * The price of the CPU time of so many heap visits at random that come to a page which an earlier
 * batch of visits has been to
 */
extern Cost gpb_again_cost(IndexOptInfo *index, double visits);

/*
 * The price of heap visits for the fraction of so many entries of the index that need one;
 * beside_index_scan is as for gpb_visit_cost().
 */
extern Cost gpb_heap_cost(PlannerInfo *root, IndexOptInfo *index, double entries,
						  double fraction, bool beside_index_scan);

/*
 * The price of reading so many entries of the index, without heap visits; by a device, if one may
 * be asked and is worth its while
 */
extern Cost gpb_read_cost(PlannerInfo *root, IndexOptInfo *index, double entries,
						  bool may_use_device);

/*
 * The price of aggregating so many entries of the index where they lie, heap visits included;
 * beside_index_scan is as for gpb_visit_cost().
 */
extern Cost gpb_count_cost(PlannerInfo *root, IndexOptInfo *index, double entries,
						   bool beside_index_scan);

/*
 * Would core execute this path rather than the other, for as many rows as the query's reader is
 * expected to fetch?  Where a program has no answer, errors have to be those of core's own choice.
 */
extern bool gpb_is_core_choice(PlannerInfo *root, const Path *path, const Path *other);

/*
 * Would core's hashing, if it is what core would do for this grouping by so many columns, be
 * cheaper than a path of ours of this price were it known how few groups there are?  Core may take
 * them to be as many as a column has values, and then hashing looks dearer than it is.
 */
extern bool gpb_hashing_is_cheaper(PlannerInfo *root, RelOptInfo *grouped_rel, Cost price,
								   int columns, double groups);

/*
 * What one more value of an entry that the CPU aggregates anyway costs, in units of
 * cpu_operator_cost.  Measured on one core: 3 M entries took 17.3 ms with one column's sum and 22.3
 * ms with the sums of three.
 */
#define GPB_VALUE_COST		0.1

/*
 * The price of adding up one more column of so many entries: a device reads the leaves once more,
 * and the CPU adds one more value of each entry.
 */
extern Cost gpb_column_cost(const IndexOptInfo *index, double entries);

/*
 * A range whose bounds come from the rows of an outer query is answered for each of them.  Batches
 * of ranges do that better, though core's guesses of the ranges make it look dearer; so a node
 * for one range is charged so many times as much to begin.
 */
#define GPB_EACH_ROW_SETUP		100.0

#endif							/* GPB_PLAN_COSTS_H */
