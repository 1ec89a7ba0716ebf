/*-------------------------------------------------------------------------
 *
 * scan_reader.c
 *	  The rows of a range of an index with several key columns, in the index's order or its reverse.
 *
 * Core's scan of the index judges each row with the snapshot, takes predicate locks (rule M8), and
 * holds the pin that lets the visibility map be believed where the index has all columns.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "exec/scan/scan_reader.h"

struct GpbRangeReader
{
	Relation	heap;
	bool		index_only;
	ScanDirection direction;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	Buffer		map;			/* pinned page of the visibility map, or InvalidBuffer */
	uint64		heap_fetches;
};

GpbRangeReader *
gpb_reader_begin(Relation heap, Relation index, Snapshot snapshot, bool index_only,
				 bool want_entries)
{
	GpbRangeReader *reader = palloc0(sizeof(GpbRangeReader));

	reader->heap = heap;
	reader->index_only = index_only;
	reader->scan = index_beginscan(heap, index, snapshot, 0, 0);
	reader->scan->xs_want_itup = index_only || want_entries;
	reader->slot = table_slot_create(heap, NULL);
	reader->map = InvalidBuffer;
	return reader;
}

void
gpb_reader_start(GpbRangeReader *reader, GpbRange range, ScanDirection direction)
{
	reader->direction = direction;
	index_rescan(reader->scan, NULL, 0, NULL, 0);
	gpb_scan_use_range(reader->scan, range);
}

/* Where the index has all columns this is what core's index-only scan does. */
bool
gpb_reader_next(GpbRangeReader *reader)
{
	IndexScanDesc scan = reader->scan;
	ItemPointer tid;

	if (!reader->index_only)
	{
		bool		found = index_getnext_slot(scan, reader->direction, reader->slot);

		reader->heap_fetches += found;
		return found;
	}
	while ((tid = index_getnext_tid(scan, reader->direction)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (VM_ALL_VISIBLE(reader->heap, ItemPointerGetBlockNumber(tid), &reader->map))
		{
			PredicateLockPage(reader->heap, ItemPointerGetBlockNumber(tid), scan->xs_snapshot);
			return true;
		}
		reader->heap_fetches++;
		if (index_fetch_heap(scan, reader->slot))
		{
			ExecClearTuple(reader->slot);
			return true;
		}
	}
	return false;
}

TupleTableSlot *
gpb_reader_row(GpbRangeReader *reader)
{
	return reader->slot;
}

Datum
gpb_reader_column(GpbRangeReader *reader, AttrNumber column, bool *isnull)
{
	if (reader->scan->xs_hitup != NULL)
		return heap_getattr(reader->scan->xs_hitup, column, reader->scan->xs_hitupdesc, isnull);
	return index_getattr(reader->scan->xs_itup, column, reader->scan->xs_itupdesc, isnull);
}

GpbKey
gpb_reader_key(GpbRangeReader *reader, const GpbLayout *layout)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	GpbEntry	entry;

	index_deform_tuple(reader->scan->xs_itup, reader->scan->xs_itupdesc, values, isnull);
	gpb_entry_form(layout, values, isnull, &reader->scan->xs_heaptid, &entry);
	return entry.key;
}

uint64
gpb_reader_heap_fetches(const GpbRangeReader *reader)
{
	return reader->heap_fetches;
}

void
gpb_reader_end(GpbRangeReader *reader)
{
	if (BufferIsValid(reader->map))
		ReleaseBuffer(reader->map);
	ExecDropSingleTupleTableSlot(reader->slot);
	index_endscan(reader->scan);
	pfree(reader);
}
