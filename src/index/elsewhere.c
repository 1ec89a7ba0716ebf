/*-------------------------------------------------------------------------
 *
 * elsewhere.c
 *	  Values that an entry has not, from the row that it leads to.
 *
 * The row is fetched by the entry's TID with a snapshot.  If the snapshot sees it, nothing removes
 * it, and its TID is nobody else's, as long as the snapshot is used.  INCLUDE columns are columns
 * of the index, so all versions of a HOT chain have equal values in them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "utils/datum.h"
#include "utils/rel.h"

#include "index/dictionary.h"

bool
gpb_value_elsewhere(Relation heap, Relation index, Snapshot snapshot, ItemPointer tid, int attno,
					Datum *value, bool *isnull)
{
	AttrNumber	column = index->rd_index->indkey.values[attno - 1];
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	IndexFetchTableData *fetch = table_index_fetch_begin(heap);
	ItemPointerData root = *tid;
	bool		call_again = false;
	bool		all_dead = false;
	bool		found = table_index_fetch_tuple(fetch, &root, snapshot, slot, &call_again,
												&all_dead);

	if (found)
	{
		*value = slot_getattr(slot, column, isnull);
		if (!*isnull)
			*value = datumCopy(*value, false, -1);
	}
	/* Pins of the table's pages go at once. */
	ExecDropSingleTupleTableSlot(slot);
	table_index_fetch_end(fetch);
	return found;
}

Datum
gpb_seen_value_elsewhere(Relation heap, Relation index, Snapshot snapshot, const char *row,
						 int attno, bool *isnull)
{
	uint64		locator = gpb_row_locator(row);
	ItemPointerData tid;
	Datum		value;

	ItemPointerSet(&tid, gpb_locator_block(locator), gpb_locator_offset(locator));
	if (!gpb_value_elsewhere(heap, index, snapshot, &tid, attno, &value, isnull))
		elog(ERROR, "an entry of index \"%s\" leads to no row that is seen, at (%u,%u)",
			 RelationGetRelationName(index), ItemPointerGetBlockNumber(&tid),
			 ItemPointerGetOffsetNumber(&tid));
	return value;
}
