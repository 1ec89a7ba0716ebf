/*-------------------------------------------------------------------------
 *
 * least_price.h
 *	  What a path of ours costs at least, known before anything is matched.
 *
 * A path that costs more than those that there are is not built at all.  Nothing here is more than
 * the price that the path would have; so the same plans are chosen as if all were built.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LEAST_PRICE_H
#define GPB_LEAST_PRICE_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * The least price of finding, of an index of ours, the entries of so many rows of its table and
 * more, if the restrictions have conditions on no other columns than "restricted", a set of
 * plan_columns.h: of the ranges of the first key columns or, if there may be any, of those of
 * groups.  0 where keys come from arrays, or where a device may read.
 */
extern Cost gpb_least_read_cost(PlannerInfo *root, IndexOptInfo *index,
								const Bitmapset *restricted, bool has_arrays, double rows);

/* The least price of the heap visits for so many entries and more, if each of them needs one */
extern Cost gpb_least_heap_cost(PlannerInfo *root, IndexOptInfo *index, double entries);

/* Is one of the restrictions, RestrictInfos, on the elements of an array? */
extern bool gpb_has_array_clause(List *restrictions);

/*
 * Would add_path() refuse a path of ours of these costs and rows, or more, in this order, since the
 * relation has one that is no worse in anything?
 */
extern bool gpb_path_is_beaten(RelOptInfo *rel, Cost startup, Cost total, double rows,
							   List *pathkeys);

/* Is a path of so much, or more, not to be the relation's cheapest one, whatever is added yet? */
extern bool gpb_is_never_cheapest(RelOptInfo *rel, Cost total);

#endif							/* GPB_LEAST_PRICE_H */
