/*-------------------------------------------------------------------------
 *
 * key_arrays.h
 *	  Conditions "key = ANY (array)": which, and the keys that arrays have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEY_ARRAYS_H
#define GPB_KEY_ARRAYS_H

#include "postgres.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"

#include "exec/price/price.h"
#include "index/array_keys.h"
#include "program/ranges.h"

/* ---- planning ---- */

/* The restriction as a condition "key = ANY (array)" of the index, or NULL if it is not one */
extern Expr *gpb_match_array_condition(PlannerInfo *root, RestrictInfo *rinfo,
									   IndexOptInfo *index);

/* How many elements the arrays of the conditions have in common, at most, about */
extern double gpb_arrays_elements(PlannerInfo *root, List *arrays);

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

/* ---- execution ---- */

/* The conditions of a node */
typedef struct GpbArrayScan GpbArrayScan;

/* Prepare the conditions "arrays".  Memory is of the current context, but for what a run needs. */
extern GpbArrayScan *gpb_arrays_begin(Relation index, List *arrays, PlanState *ps);

/* GPB_RANGE_POINTS if the arrays' keys are single ones, else GPB_RANGE_KEYS */
extern GpbRangeForm gpb_arrays_form(const GpbArrayScan *scan);

/*
 * Evaluate the arrays, and fill in the keys within the range that are in all of them.  Returns
 * false if there are none, also because an array is NULL.  Memory is of the current context.
 */
extern bool gpb_arrays_keys(GpbArrayScan *scan, const GpbLayout *layout, GpbRange range,
							GpbArrayKeys *keys);

#endif							/* GPB_KEY_ARRAYS_H */
