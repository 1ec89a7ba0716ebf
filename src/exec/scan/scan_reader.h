/*-------------------------------------------------------------------------
 *
 * scan_reader.h
 *	  The rows of a range of an index with several key columns, in the index's order or its reverse.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SCAN_READER_H
#define GPB_SCAN_READER_H

#include "postgres.h"
#include "access/sdir.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "index/index.h"

typedef struct GpbRangeReader GpbRangeReader;

/*
 * Begin.  index_only: the index has all columns that are wanted.  want_entries: gpb_reader_key()
 * will be called.  Memory is of the current context.
 */
extern GpbRangeReader *gpb_reader_begin(Relation heap, Relation index, Snapshot snapshot,
										bool index_only, bool want_entries);

/* Begin with the rows of a range. */
extern void gpb_reader_start(GpbRangeReader *reader, GpbRange range, ScanDirection direction);

/* Go on to the next row that the snapshot sees; false if there are no more. */
extern bool gpb_reader_next(GpbRangeReader *reader);

/*
 * The row, unless only the index is read; if it is, one of its columns, by its place among the
 * index's columns, from 1 on.  Both are valid until the reader goes on.
 */
extern TupleTableSlot *gpb_reader_row(GpbRangeReader *reader);
extern Datum gpb_reader_column(GpbRangeReader *reader, AttrNumber column, bool *isnull);

/* The normalized key of the row's entry */
extern GpbKey gpb_reader_key(GpbRangeReader *reader, const GpbLayout *layout);

/* The number of rows fetched from the table, for EXPLAIN */
extern uint64 gpb_reader_heap_fetches(const GpbRangeReader *reader);

extern void gpb_reader_end(GpbRangeReader *reader);

#endif							/* GPB_SCAN_READER_H */
