/*-------------------------------------------------------------------------
 *
 * check_heap.c
 *	  The second half of gpubtree_check(): does every row of the table have its entry?
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "key_columns.h"
#include "index/dictionary.h"
#include "index/index.h"

/* The state of the search for the entries of rows */
typedef struct GpbProbe
{
	GpbLayout	layout;
	Relation	heap;
	bool		have_leaf;		/* leaf has the image of the leaf that was searched last */
	PGAlignedBlock leaf;
} GpbProbe;

/* Is the bound's place certainly on the leaf image that the probe has? */
static bool
leaf_covers(GpbProbe *probe, GpbBound bound)
{
	const GpbLayout *layout = &probe->layout;
	const void *leaf = probe->leaf.data;

	return probe->have_leaf &&
		gpb_page_count(leaf) > 0 &&
		!gpb_bound_less(bound, gpb_page_bound(leaf, layout->key_width,
											  gpb_page_row_width(leaf), 0)) &&
		gpb_bound_less(bound, gpb_page_high(leaf));
}

/*
 * Check one row of the table.  The table's scan calls this for each row that our snapshot sees: a
 * search must find its entry, with the same INCLUDE values.
 *
 * The image of a leaf that was found for an earlier row is good enough, however old it is: all rows
 * of the snapshot had their entries before any image was taken, and nobody may remove them.
 */
static void
probe_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		  bool alive, void *state)
{
	GpbProbe   *probe = (GpbProbe *) state;
	const GpbLayout *layout = &probe->layout;
	int			row_width;
	const char *row;
	uint64		locator;
	uint64		found;
	Datum		coded[GPB_MAX_KEYS + GPB_MAX_INCLUDE];
	GpbEntry	entry;
	GpbBound	bound;
	int			count;
	int			position;

	CHECK_FOR_INTERRUPTS();

	gpb_require_null_codes(index, layout, isnull);
	gpb_require_numerics(index, layout, values, isnull);
	if (gpb_layout_has_dictionary(layout))
		values = gpb_dictionary_recode(index, layout, values, isnull, coded);
	gpb_entry_form(layout, values, isnull, tid, &entry);
	locator = gpb_row_locator(entry.row);
	bound.key = entry.key;
	bound.tie = locator & GPB_TIE_MASK;

	if (!leaf_covers(probe, bound))
	{
		Buffer		buffer = gpb_search(index, layout, bound, BUFFER_LOCK_SHARE,
										NULL);

		memcpy(probe->leaf.data, BufferGetPage(buffer), BLCKSZ);
		UnlockReleaseBuffer(buffer);
		probe->have_leaf = true;
	}

	row_width = gpb_page_row_width(probe->leaf.data);
	count = gpb_page_count(probe->leaf.data);
	position = gpb_page_lower_bound(probe->leaf.data, layout->key_width,
									row_width, count, bound);
	if (position >= count ||
		gpb_bound_cmp(gpb_page_bound(probe->leaf.data, layout->key_width,
									 row_width, position), bound) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" lacks an entry for row (%u,%u) of table \"%s\"",
						RelationGetRelationName(index),
						ItemPointerGetBlockNumber(tid),
						ItemPointerGetOffsetNumber(tid),
						RelationGetRelationName(probe->heap)),
				 errdetail("The entry's key would be %016llx.",
						   (unsigned long long) bound.key)));

	row = gpb_page_row(probe->leaf.data, row_width, position);
	found = gpb_stored_locator(row, row_width);
	for (int i = 0; i < layout->ncolumns; i++)
	{
		bool		null = gpb_locator_column_is_null(locator, i);

		if (null != gpb_locator_column_is_null(found, i) ||
			(!null &&
			 memcmp(row + layout->offset[i], entry.row + layout->offset[i],
					gpb_coding_row_width(layout->coding[i])) != 0))
			ereport(ERROR,
					(errcode(ERRCODE_INDEX_CORRUPTED),
					 errmsg("index \"%s\" has another value than row (%u,%u) of table \"%s\" in column %d",
							RelationGetRelationName(index),
							ItemPointerGetBlockNumber(tid),
							ItemPointerGetOffsetNumber(tid),
							RelationGetRelationName(probe->heap),
							i + 1 + gpb_count_keys(layout))));
	}
}

/*
 * Every row that a new snapshot sees must have its entry.
 *
 * An entry is a (key, row) pair, so a search for it is exact.  A Bloom filter over the entries,
 * which needs no search, would overlook some missing ones, and more of them the larger the index
 * is.  The searches also show that a search finds what the leaves hold.
 */
void
gpb_check_heap(Relation index, Relation heap)
{
	IndexInfo  *info = BuildIndexInfo(index);
	GpbProbe   *probe = palloc(sizeof(GpbProbe));
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());

	/* A transaction's old snapshot may see rows that this index never got. */
	if (IsolationUsesXactSnapshot() && index->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
							   snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" cannot be checked against this transaction's snapshot",
						RelationGetRelationName(index))));

	gpb_require_snapshot(index, snapshot);

	probe->layout = *gpb_layout(index);
	probe->heap = heap;
	probe->have_leaf = false;

	/*
	 * Scan as a concurrent build does: the rows of an MVCC snapshot, without waiting for anybody.
	 */
	info->ii_Concurrent = true;
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	table_index_build_scan(heap, index, info, true, false, probe_row,
						   probe, table_beginscan_strat(heap, snapshot, 0, NULL,
														true, true));
	UnregisterSnapshot(snapshot);
	pfree(probe);
}
