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
 * Begin with no list of the node's index.  If heap_rows, the heap is visited for each entry, and
 * its row handed out; under a limit the batch itself decides which entries are visible all the
 * same: else all of unknown visibility would be listed, since none counts for the limit.  All
 * memory is of a child of the current context.
 */
extern GpbListRows *gpb_list_begin(GpbNode *node, bool heap_rows);

/*
 * Ask for the entries that the program lists of n ranges in this form, which must live until the
 * list was read.  What was asked for before is forgotten.  The program's constants are set; it is
 * copied.
 */
extern void gpb_list_ask(GpbListRows *list, const GpbProgram *program, GpbRangeForm form,
						 const void *ranges, uint32 n);

/*
 * The next entry whose row the snapshot sees, NULL after the last one; it is valid until the next
 * call.  With heap_rows *row has its row, and a pin, until then.
 */
extern const GpbRangeEntry *gpb_list_next(GpbListRows *list, TupleTableSlot **row);

/* Forget what was asked for, and drop pins. */
extern void gpb_list_stop(GpbListRows *list);

/*
 * Add what all batches counted so far to *counters, as gpb_ask_counters() does; *visits: the rows
 * that were visited one by one.
 */
extern void gpb_list_counters(const GpbListRows *list, GpbBatchCounters *counters,
							  uint64 *visits);

/* End the list, which may be NULL. */
extern void gpb_list_end(GpbListRows *list);

#endif							/* GPB_LIST_ROWS_H */
