/*-------------------------------------------------------------------------
 *
 * subquery_tree.h
 *	  What the nodes of a finished plan read of their children, and what they evaluate.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SUBQUERY_TREE_H
#define GPB_SUBQUERY_TREE_H

#include "postgres.h"
#include "nodes/plannodes.h"

/* How many of a node's rows will be read */
typedef enum GpbReading
{
	GPB_READ_ALL,				/* to the end, unless the client stops */
	GPB_READ_BOUNDED,			/* as many as the Limit above says */
	GPB_READ_MOST,				/* probably to the end */
	GPB_READ_SOME				/* it is not known when the reader stops */
} GpbReading;

/* A child of a plan node: where it hangs, and what the node reads of it */
typedef struct GpbPlanChild
{
	Plan	  **plan;
	GpbReading	reading;
} GpbPlanChild;

/*
 * The children of a node, of whose own rows so many are read, as a List of GpbPlanChild.  Children
 * of Gather are left out: they run in workers.
 */
extern List *gpb_plan_children(Plan *plan, GpbReading reading);

/*
 * Does the node, or a plan below it or behind its SubPlans, evaluate an expression for its rows
 * that passes the test?  Of the node's own target list only "leaves", which it hands up, count.  An
 * expression that is not known passes.
 */
extern bool gpb_plan_evaluates(PlannedStmt *statement, Plan *plan, List *leaves,
							   bool (*test) (Node *));

/*
 * Does the plan of a subquery that aggregates a range evaluate all bounds each time that it is run?
 * An index scan does; a sequential scan evaluates none for an empty table.
 */
extern bool gpb_evaluates_bounds(PlannedStmt *statement, Plan *plan);

#endif							/* GPB_SUBQUERY_TREE_H */
