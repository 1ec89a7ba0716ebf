/*-------------------------------------------------------------------------
 *
 * core_paths.h
 *	  How a path of ours stands beside those that a relation has.
 *
 * A path that costs more than those that there are is not built at all, or not offered.  What is
 * asked about the least price of a path (gpb_least_price()) leads to the same plans as if all were
 * built.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CORE_PATHS_H
#define GPB_CORE_PATHS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* The cheapest path of the relation that needs no rows of others; NULL if it has none */
extern Path *gpb_cheapest_path(const RelOptInfo *rel);

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
 * Would add_path() refuse a path of ours of these costs and rows, or more, in this order, since the
 * relation has one that is no worse in anything?
 */
extern bool gpb_path_is_beaten(RelOptInfo *rel, Cost startup, Cost total, double rows,
							   List *pathkeys);

/* Is a path of so much, or more, not to be the relation's cheapest one, whatever is added yet? */
extern bool gpb_is_never_cheapest(RelOptInfo *rel, Cost total);

#endif							/* GPB_CORE_PATHS_H */
