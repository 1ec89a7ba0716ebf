/*-------------------------------------------------------------------------
 *
 * unknown_bounds.h
 *	  Ranges whose bounds are not known when the query is planned: what they are priced for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_UNKNOWN_BOUNDS_H
#define GPB_UNKNOWN_BOUNDS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * Does the expression, or a List of some, have a value that comes from the rows of an outer query?
 * That of a subquery which is evaluated once (an InitPlan) does not.
 */
extern bool gpb_has_outer_value(PlannerInfo *root, Node *expression);

/* Has one of the RestrictInfos a parameter of the statement, as in a generic plan? */
extern bool gpb_have_statement_param(List *restrictions);

/*
 * About how many entries of the index satisfy its ranges, RestrictInfos, and the arms of ORs, which
 * leave that share; "rows" of them satisfy all restrictions.  That is core's estimate, or more
 * where it is a guess for two bounds and core would read fewer rows by another index.
 */
extern double gpb_range_entries(PlannerInfo *root, IndexOptInfo *index, List *ranges,
								Selectivity arms, double rows);

/*
 * The number of entries for which a node over ranges of the index is priced, once it has been
 * chosen among all indexes of ours at the estimate, "entries".  conditions and arms are what the
 * ranges are made of, bare clauses, others the RestrictInfos that are tested for each entry.
 *
 * Where a bound is a parameter of a generic plan this is a small number, if planning anew for each
 * execution could find nothing better.
 */
extern double gpb_priced_entries(PlannerInfo *root, IndexOptInfo *index, List *conditions,
								 List *arms, List *others, double entries);

#endif							/* GPB_UNKNOWN_BOUNDS_H */
