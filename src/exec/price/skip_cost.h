/*-------------------------------------------------------------------------
 *
 * skip_cost.h
 *	  The price of finding groups, and of reading the ranges of each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SKIP_COST_H
#define GPB_SKIP_COST_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* The conditions that make ranges of groups, and what is expected of them */
typedef struct GpbSkip
{
	List	   *conditions;		/* with arrays among them; NIL: there are none */
	int			prefix;			/* key columns whose values make a group */
	double		groups;			/* about so many */
	double		ranges;
	double		entries;		/* of the ranges */
} GpbSkip;

/*
 * The price of finding the groups and reading the entries of their ranges, with visibility, of
 * which so many columns are aggregated beside a first one
 */
extern Cost gpb_skip_cost(PlannerInfo *root, IndexOptInfo *index, const GpbSkip *skip,
						  int more_columns);

/*
 * The least price of a skip that gpb_match_skip() may find, where no device may search; infinite if
 * it finds none.  first_restricted: there may be a condition on the first key column, without which
 * there are as many groups at least as that has values.
 */
extern Cost gpb_least_skip_cost(PlannerInfo *root, IndexOptInfo *index, bool first_restricted);

#endif							/* GPB_SKIP_COST_H */
