/*-------------------------------------------------------------------------
 *
 * node_ranges.h
 *	  The ranges of a node's conditions on its key: one, or the arms of an OR.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_NODE_RANGES_H
#define GPB_NODE_RANGES_H

#include "postgres.h"

#include "exec/where/key_conditions.h"

/* The conditions of a node on its key, ready to be evaluated */
typedef struct GpbNodeRanges
{
	Relation	index;
	int			nconditions;
	GpbCondition *conditions;
	int			narms;
	int		   *narm_conditions;
	GpbCondition **arms;
} GpbNodeRanges;

/*
 * Prepare the conditions of a plan, and the arms of an OR: for each a List of conditions.  Memory
 * is of the current context.
 */
extern void gpb_node_ranges_init(List *conditions, List *arms, Relation index, PlanState *ps,
								 GpbNodeRanges *ranges);

/*
 * Sort ranges, and make those that overlap, or that follow each other, one.  Returns how many are
 * left.
 */
extern uint32 gpb_unite_ranges(GpbRange *ranges, uint32 n);

/*
 * Evaluate the conditions.  Returns the number of ranges that satisfy them, which are disjoint and
 * in *found, palloc'd.  If *lossy is set they may have entries that do not.
 */
extern uint32 gpb_node_ranges_evaluate(const GpbNodeRanges *ranges, ExprContext *econtext,
									   GpbRange **found, bool *lossy);

#endif							/* GPB_NODE_RANGES_H */
