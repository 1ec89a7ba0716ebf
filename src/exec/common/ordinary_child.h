/*-------------------------------------------------------------------------
 *
 * ordinary_child.h
 *	  The ordinary plan as a child, for when a program has no answer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ORDINARY_CHILD_H
#define GPB_ORDINARY_CHILD_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/common/node_shell.h"

/*
 * The ordinary path that core would choose of the grouping's so far, with this target, as a copy of
 * its own: add_path() frees the paths that ours makes superfluous.  If "serial", one without
 * parallel workers is preferred, since constants that may fail cannot be evaluated in parallel mode
 * (program_constants.c).  NULL if there is none.
 */
extern Path *gpb_ordinary_child_path(PlannerInfo *root, RelOptInfo *grouped_rel,
									 const PathTarget *target, bool serial);

/*
 * Begin the child of a node that has one, of which most likely nothing is wanted but to be shown by
 * EXPLAIN: core's HashAggregate allocates its table when it begins, which with much work_mem takes
 * longer than the node (250 ms were measured).  So it is initialized as for EXPLAIN, and anew when
 * its first row is asked for.
 */
extern void gpb_ordinary_child_begin(GpbNode *node, int eflags);

/*
 * The next row of the child as one of the node's, which have the same columns: both have the
 * grouping's target, since the node projects nothing else.  NULL after the last one.
 */
extern TupleTableSlot *gpb_ordinary_child_row(GpbNode *node);

#endif							/* GPB_ORDINARY_CHILD_H */
