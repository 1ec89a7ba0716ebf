/*-------------------------------------------------------------------------
 *
 * kept_rows.h
 *	  The rows of a node whose program may have no answer: all are kept before any is returned, so
 *	  that they can be dropped.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEPT_ROWS_H
#define GPB_KEPT_ROWS_H

#include "postgres.h"
#include "nodes/execnodes.h"
#include "utils/tuplestore.h"

typedef struct GpbKeptRows
{
	EState	   *estate;
	TupleTableSlot *into;		/* where rows are put when they are read */
	TupleTableSlot *stored;
	Tuplestorestate *store;		/* NULL before the first row */
} GpbKeptRows;

/* Begin with no rows.  Those that will be kept come out in this virtual slot. */
extern void gpb_kept_begin(GpbKeptRows *kept, EState *estate, TupleTableSlot *into);

/* Keep a row, which has the columns of that slot. */
extern void gpb_kept_add(GpbKeptRows *kept, TupleTableSlot *row);

/* The next row, NULL after the last one. */
extern TupleTableSlot *gpb_kept_next(GpbKeptRows *kept);

/* Begin again with the first row. */
extern void gpb_kept_rewind(GpbKeptRows *kept);

/* Forget all rows, and give back their memory. */
extern void gpb_kept_drop(GpbKeptRows *kept);

/* Put a row into a virtual slot with the same columns, and return that; NULL if there is none. */
extern TupleTableSlot *gpb_copy_row(TupleTableSlot *row, TupleTableSlot *into);

#endif							/* GPB_KEPT_ROWS_H */
