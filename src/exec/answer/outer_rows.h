/*-------------------------------------------------------------------------
 *
 * outer_rows.h
 *	  The rows of one batch that a node has read of its child.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_OUTER_ROWS_H
#define GPB_OUTER_ROWS_H

#include "postgres.h"
#include "executor/tuptable.h"
#include "nodes/bitmapset.h"

typedef struct GpbOuterRows GpbOuterRows;

/* Begin with no row.  All memory is of a child of the current context. */
extern GpbOuterRows *gpb_outer_begin(TupleDesc descriptor);

/* From the next row on keep the columns in this set alone, counted from 1; others become NULL. */
extern void gpb_outer_want(GpbOuterRows *rows, const Bitmapset *columns);

/* Forget all rows, and give back the memory that they take. */
extern void gpb_outer_release(GpbOuterRows *rows);

/* Forget all rows, and make room for "capacity" of them. */
extern void gpb_outer_clear(GpbOuterRows *rows, uint32 capacity);

/* Keep a copy of the row in the slot; there must be room for it. */
extern void gpb_outer_add(GpbOuterRows *rows, TupleTableSlot *slot);

/*
 * Copy the columns of a row into the caller's arrays.  What values point to is valid until the rows
 * are cleared.
 */
extern void gpb_outer_get(const GpbOuterRows *rows, uint32 row, Datum *values, bool *isnull);

/* The number of rows */
extern uint32 gpb_outer_count(const GpbOuterRows *rows);

/* Bytes of values that are not passed by value, of all rows */
extern Size gpb_outer_copied(const GpbOuterRows *rows);

/* Free all memory. */
extern void gpb_outer_end(GpbOuterRows *rows);

#endif							/* GPB_OUTER_ROWS_H */
