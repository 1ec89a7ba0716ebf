/*-------------------------------------------------------------------------
 *
 * column_skip.h
 *	  Conditions on later key columns as ranges of each group: at planning.
 *
 * On an index on (tenant, ts), "ts BETWEEN x AND y" alone is no range.  But for each tenant that
 * has an entry it is one.  A node finds the tenants when it runs (index/groups.h).  The conditions
 * stay filters of the node's program, too: where there are too many groups it reads all entries of
 * the ranges that other conditions make.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_COLUMN_SKIP_H
#define GPB_COLUMN_SKIP_H

#include "postgres.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "exec/price/price.h"
#include "exec/where/conditions.h"
#include "exec/where/range_split.h"

/* The conditions that make ranges of groups, and what is expected of them */
typedef struct GpbSkip
{
	List	   *conditions;		/* with arrays among them; NIL: there are none */
	int			prefix;			/* key columns whose values make a group */
	double		groups;			/* about so many */
	double		ranges;
	double		entries;		/* of the ranges */
} GpbSkip;

/* Fill in that what is asked for is the groups and the entries of their ranges. */
extern void gpb_price_skip(GpbPriceInput *input, const GpbSkip *skip);

/*
 * Find conditions on key columns among what gpb_split_restrictions() leaves of the
 * restrictions, and the prefix by whose groups least is read.  None of them equals one of
 * "computed", the expressions that the node's scan tuple will have (rule M13).  Without any, or
 * where nothing is known of the columns, skip->conditions is NIL.
 */
extern void gpb_match_skip(PlannerInfo *root, IndexOptInfo *index, List *computed,
						   const GpbRangeSplit *split, GpbSkip *skip);

/* Show the conditions, and with ANALYZE what became of them; conditions may be NULL. */
extern void gpb_explain_skip(CustomScanState *css, List *skips,
							 const GpbConditions *conditions, List *ancestors,
							 ExplainState *es);

#endif							/* GPB_COLUMN_SKIP_H */
