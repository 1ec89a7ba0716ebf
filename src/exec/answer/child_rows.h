/*-------------------------------------------------------------------------
 *
 * child_rows.h
 *	  The rows of a node's child, which are read from the table's pages where the child is a
 *	  sequential scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CHILD_ROWS_H
#define GPB_CHILD_ROWS_H

#include "postgres.h"
#include "nodes/execnodes.h"

typedef struct GpbChildRows GpbChildRows;

/*
 * Prepare to read the rows of a child that has begun and is to be executed.  All memory is of the
 * current context; the table of slots of the child's executor state has the row's slot.
 */
extern GpbChildRows *gpb_child_rows_begin(PlanState *child);

/*
 * The next row, as ExecProcNode() would return it; NULL, or an empty slot, after the last one.  Its
 * values are valid until the next call.  To begin anew the caller calls ExecReScan() for the child,
 * or leaves that to the next call if parameters of the child have changed.
 */
extern TupleTableSlot *gpb_child_next(GpbChildRows *rows);

#endif							/* GPB_CHILD_ROWS_H */
