/*-------------------------------------------------------------------------
 *
 * ordinary.h
 *	  The ordinary plan that a node has beside it, for when its program has no answer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ORDINARY_H
#define GPB_ORDINARY_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/shell/node_shell.h"

/* ---- planning ---- */

/*
 * Let the node of a path have, behind its other plans, the ordinary path that core would choose of
 * the grouping's so far, with the same target: the node projects nothing else then.  It is a copy
 * of its own, since add_path() frees the paths that ours makes superfluous.  If "serial", one
 * without parallel workers is preferred, since constants that may fail cannot be evaluated in
 * parallel mode (program_bind_safe.c).  It scans partitions below an Append of theirs alone, as the
 * node does, so that both have those that were not pruned when the statement began.  Returns false
 * if there is none.
 */
extern bool gpb_add_ordinary_path(PlannerInfo *root, RelOptInfo *grouped_rel, CustomPath *own,
								  bool serial);

/*
 * Such a path for a node that has an outer plan, and the ordinary one as the second of
 * custom_paths; NULL if there is none.  Both have the outer rows, one after the other, if at all:
 * NULL also if the query is one whose plan must not have a part of it twice.
 */
extern Path *gpb_ordinary_path_beside(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *outerrel,
									  const PathTarget *target);

/* ---- execution ---- */

/*
 * Let the node have this ordinary plan, which may be NULL.  Most likely nothing is wanted of it, so
 * it begins only when a row of it is asked for, or when EXPLAIN shows it: core's HashAggregate
 * allocates its table when it begins, which with much work_mem takes longer than the node (250 ms
 * were measured), and what is left took a tenth of a statement of 15 us.
 *
 * It begins once at most, whatever it was wanted for: PostgreSQL 18 keeps the state of an Append's
 * run-time pruning in the EState, and the second Append to begin with it finds that no partition is
 * valid.
 */
extern void gpb_ordinary_begin(GpbNode *node, Plan *plan, int eflags);

/*
 * Leave the rows of this execution to the ordinary plan, for this reason, which node->gave_up has
 * from then on.  Raises an error if there is none: then the planner has found the program to be
 * certain.
 */
extern void gpb_node_give_up(GpbNode *node, const char *why);

/*
 * For the node's ExplainCustomScan: have the ordinary plan, if there is one, among the node's
 * children, which EXPLAIN looks at afterwards.
 */
extern void gpb_ordinary_show(GpbNode *node);

/*
 * The next row of the ordinary plan as one of the node's, which have the same columns: both have
 * the grouping's target, since the node projects nothing else.  NULL after the last one.
 */
extern TupleTableSlot *gpb_ordinary_row(GpbNode *node);

/*
 * Let the ordinary plan begin anew.  One that has not begun will find the parameters as they are
 * then.
 */
extern void gpb_ordinary_rescan(GpbNode *node);

#endif							/* GPB_ORDINARY_H */
