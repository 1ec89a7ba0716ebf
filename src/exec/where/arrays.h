/*-------------------------------------------------------------------------
 *
 * arrays.h
 *	  Conditions "key = ANY (array)": what they cost, and what the planner knows of the arrays.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ARRAYS_H
#define GPB_ARRAYS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/price/price.h"

/*
 * Fill in that what is asked for is the entries of the elements, each of which is a range. To begin
 * a batch of an array of unknown length has a low price, for core guesses that it has ten elements.
 */
extern void gpb_price_arrays(GpbPriceInput *input, List *arrays);

/* Are these so many keys that a batch brings their rows no later than core's scan does? */
extern bool gpb_is_many_keys(double n);

/*
 * The array that a condition "expression OP ANY (array)" compares with, if that is a parameter of
 * the statement, of which the plan knows nothing; else NULL.
 */
extern const Param *gpb_array_parameter(const Node *condition);

/*
 * Have the arrays so many elements, as the planner knows, that a batch brings the rows of their
 * keys no later than core's scan?
 */
extern bool gpb_arrays_have_many(PlannerInfo *root, List *arrays);

#endif							/* GPB_ARRAYS_H */
