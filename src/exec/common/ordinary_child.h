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
 * The cheapest ordinary path of the grouping so far that has this target, as a copy of its own:
 * add_path() frees the paths that ours makes superfluous.  If "serial", one without parallel
 * workers is preferred, since constants that may fail cannot be evaluated in parallel mode
 * (program_constants.c).  NULL if there is none.
 */
extern Path *gpb_ordinary_child_path(RelOptInfo *grouped_rel, const PathTarget *target,
									 bool serial);

/*
 * The next row of the child as one of the node's, which have the same columns: both have the
 * grouping's target, since the node projects nothing else.  NULL after the last one.
 */
extern TupleTableSlot *gpb_ordinary_child_row(GpbNode *node);

#endif							/* GPB_ORDINARY_CHILD_H */
