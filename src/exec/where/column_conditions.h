/*-------------------------------------------------------------------------
 *
 * column_conditions.h
 *	  Restrictions that are ranges of an index with several key columns: at planning, and at run
 *	  time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_COLUMN_CONDITIONS_H
#define GPB_COLUMN_CONDITIONS_H

#include "postgres.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"

#include "exec/where/range_split.h"
#include "index/groups.h"
#include "layout.h"

/* ---- planning ---- */

/*
 * Part the restrictions as gpb_split_restrictions() does.  What is on a prefix of the key columns
 * makes ranges: as far as each column before has a condition by which it equals single values.  The
 * rest is among the others; column_arms.h takes more.
 */
extern void gpb_split_by_columns(PlannerInfo *root, IndexOptInfo *index, List *restrictions,
								 List *computed, GpbRangeSplit *split);

/*
 * The clause as a condition on key column c, or NULL.  *point is set if the column equals single
 * values by it.
 */
extern Expr *gpb_match_column(PlannerInfo *root, IndexOptInfo *index, int c, Expr *clause,
							  bool *point);

/* Does "=" of the index's key column c, counted from 0, hold for one value at most of that type? */
extern bool gpb_column_equals_one(IndexOptInfo *index, int c, Oid type);

/* Do the restrictions, RestrictInfos, let key column c, counted from 0, have one value at most? */
extern bool gpb_column_is_fixed(PlannerInfo *root, IndexOptInfo *index, int c, List *restrictions);

/*
 * Part the restrictions into conditions on the first ncolumns key columns, whether or not they make
 * ranges, and others.
 */
extern void gpb_split_leading(PlannerInfo *root, IndexOptInfo *index, List *restrictions,
							  int ncolumns, GpbRangeSplit *split);

/* May the product of the conditions' arrays be too many ranges? */
extern bool gpb_columns_may_be_lossy(const IndexOptInfo *index, const GpbRangeSplit *split);

/* ---- run time ---- */

typedef struct GpbColumnConditions GpbColumnConditions;

/*
 * Prepare the conditions of a plan, with arrays and without, and the arms of an OR: for each a List
 * of conditions.  Memory is of the current context.
 */
extern GpbColumnConditions *gpb_column_conditions_init(Relation index, List *conditions,
													   List *arrays, List *arms,
													   PlanState *ps);

/*
 * Have ranges made of each group by the first "prefix" key columns, by further conditions, which
 * the entries that are read are to be tested for all the same (column_skip.h).  There are no arms.
 */
extern void gpb_column_conditions_skip(GpbColumnConditions *columns, List *conditions, int prefix,
									   PlanState *ps);

/* What came of that, in all executions */
typedef struct GpbSkipCounters
{
	GpbGroupCounters groups;
	uint64		gave_up;		/* executions in which there were too many ranges */
} GpbSkipCounters;

extern const GpbSkipCounters *gpb_column_conditions_skipped(const GpbColumnConditions *columns);

/*
 * Evaluate the conditions.  Returns the number of ranges that satisfy them, which are disjoint and
 * in *found, palloc'd.  If *lossy is set there would be so many that they are fewer, and have
 * entries that do not satisfy the conditions.
 */
extern uint32 gpb_column_conditions_evaluate(GpbColumnConditions *conditions,
											 ExprContext *econtext, GpbRange **found,
											 bool *lossy);

/*
 * Evaluate the conditions, without arms, as what they leave of each column.  layout must stay as
 * long as the sets are used.  Returns false if no entry satisfies them.
 */
extern bool gpb_column_conditions_sets(GpbColumnConditions *conditions, ExprContext *econtext,
									   const GpbLayout *layout, GpbColumnSets *sets);

#endif							/* GPB_COLUMN_CONDITIONS_H */
