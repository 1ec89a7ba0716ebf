/*-------------------------------------------------------------------------
 *
 * list_rows.h
 *	  The entries that a program lists, one after the other, and the rows that they lead to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LIST_ROWS_H
#define GPB_LIST_ROWS_H

#include "postgres.h"
#include "executor/tuptable.h"

#include "exec/answer/ask.h"
#include "exec/shell/node_shell.h"

typedef struct GpbListRows GpbListRows;

/*
 * Begin with no list of the target's index, by what "ask" asks, which the list ends.  If heap_rows,
 * the heap is visited for each entry, and its row handed out.  If in_order, entries come in the
 * order of their ranges; else they come in parts, in no order.  All memory is of a child of the
 * current context.
 */
extern GpbListRows *gpb_list_begin(GpbNode *node, const GpbAskTarget *target, GpbAsk *ask,
								   bool heap_rows, bool in_order);

/*
 * Begin with the entries of n ranges, each of so many bytes, which must live until the list was
 * read.  What was asked for before is forgotten.
 */
extern void gpb_list_start(GpbListRows *list, const void *ranges, Size range_width, uint32 n);

/* Is nothing more wanted of the entry's range? */
typedef bool (*GpbListSkip) (void *arg, uint32 range);

/*
 * The next entry whose row the snapshot sees, and in *range the number of its range; NULL after the
 * last one.  It is valid until the next call.  With heap_rows *row has its row, and a pin, until
 * then; "skip", which may be NULL, spares visits.
 */
extern const GpbRangeEntry *gpb_list_next(GpbListRows *list, GpbListSkip skip, void *arg,
										  uint32 *range, TupleTableSlot **row);

/* Forget what was asked for, and drop pins. */
extern void gpb_list_stop(GpbListRows *list);

/* For EXPLAIN: rows that were visited one by one; and how often a list did not fit into memory */
extern uint64 gpb_list_visits(const GpbListRows *list);
extern uint64 gpb_list_halved(const GpbListRows *list);

/* End the list, which may be NULL. */
extern void gpb_list_end(GpbListRows *list);

#endif							/* GPB_LIST_ROWS_H */
