/*-------------------------------------------------------------------------
 *
 * kept_rows.h
 *	  The rows of a node that reads outer rows and has a program which may have no answer: all of
 *	  them are kept before any is returned, and the ordinary plan is at hand beside the outer one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEPT_ROWS_H
#define GPB_KEPT_ROWS_H

#include "postgres.h"
#include "nodes/pathnodes.h"
#include "utils/tuplestore.h"

#include "exec/shell/node_shell.h"

/* ---- planning ---- */

/*
 * The ordinary path that core would choose of the relation's so far, with this target and no
 * parameters, as a copy of its own: add_path() frees the paths that ours makes superfluous, of
 * which those that are still there have it as the second of custom_paths.  NULL if there is none,
 * or if the query is one whose plan must not have a part of it twice.
 */
extern Path *gpb_ordinary_path_beside(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *outerrel,
									  const PathTarget *target);

/* ---- execution ---- */

typedef struct GpbKeptRows
{
	const char *gave_up;		/* why it returns the rows; NULL if it does not */
	bool		complete;		/* all rows are kept, or the ordinary plan returns them */
	Tuplestorestate *store;		/* NULL before the first row */
	TupleTableSlot *stored;
} GpbKeptRows;

/*
 * Begin with no rows.  The ordinary plan returns what the node does (ordinary_child.h); if it is
 * NULL the node keeps no rows.
 */
extern void gpb_kept_begin(GpbNode *node, GpbKeptRows *kept, Plan *plan, int eflags);

/* Let the ordinary plan return the rows, for this reason.  Raises an error if there is none. */
extern void gpb_kept_give_up(GpbNode *node, GpbKeptRows *kept, const char *why);

/* Keep a row as the node returns it. */
extern void gpb_kept_add(GpbNode *node, GpbKeptRows *kept, TupleTableSlot *row);

/* All rows were added, unless it was given up. */
extern void gpb_kept_complete(GpbKeptRows *kept);

/* The next row to return, NULL after the last one. */
extern TupleTableSlot *gpb_kept_next(GpbNode *node, GpbKeptRows *kept);

/* Forget all rows: the node begins anew. */
extern void gpb_kept_rescan(GpbNode *node, GpbKeptRows *kept);

extern void gpb_kept_end(GpbKeptRows *kept);

#endif							/* GPB_KEPT_ROWS_H */
