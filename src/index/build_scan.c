/*-------------------------------------------------------------------------
 *
 * build_scan.c
 *	  Reading the table for a build.
 *
 *-------------------------------------------------------------------------
 */
#include "index/build.h"

#include "access/parallel.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "optimizer/plancat.h"

#include "hold.h"
#include "index/dictionary.h"

/* What the callback of a table's scan needs */
typedef struct BuildScan
{
	GpbLayout	layout;
	bool		has_dictionary;
	IndexInfo  *info;
	GpbSorter  *sorter;
} BuildScan;

/*
 * Is a tuple to be left out of the index, as it has NULL in a column that has no code for NULL?
 * Such a tuple is dead: it is older than the column's NOT NULL.  Who may still see it must not use
 * the index, which is what index_build() sees to where a HOT chain is broken.  It does not where an
 * index is built anew, for that was in use: an error then.
 */
static bool
leave_out_null(Relation index, BuildScan *scan, const bool *isnull, bool tuple_is_alive)
{
	int			c = gpb_column_without_null_code(&scan->layout, isnull);

	if (c < 0)
		return false;
	if (tuple_is_alive)
		gpb_require_null_codes(index, &scan->layout, isnull);	/* raises the error */
	if (ReindexIsProcessingIndex(RelationGetRelid(index)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" cannot be built anew while a transaction may see null values "
						"in column \"%s\"",
						RelationGetRelationName(index),
						NameStr(TupleDescAttr(RelationGetDescr(index), c)->attname)),
				 errdetail("The column is NOT NULL now, but a deleted or changed row has a null "
						   "value."),
				 errhint("Try again when the transactions that are running now have ended.")));
	scan->info->ii_BrokenHotChain = true;
	return true;
}

/*
 * Add a tuple of the table to the sort.  The table's scan calls this for each tuple that needs an
 * entry, dead ones that some snapshot may still see included.
 */
static void
build_callback(Relation index, ItemPointer tid, Datum *values,
			   bool *isnull, bool tuple_is_alive, void *state)
{
	BuildScan  *scan = (BuildScan *) state;
	Datum		coded[GPB_MAX_KEYS + GPB_MAX_INCLUDE];
	GpbEntry	entry;

	GPB_HOLD(IsParallelWorker() ? "build-worker-scans" : "build-leader-scans");
	if (leave_out_null(index, scan, isnull, tuple_is_alive))
		return;
	gpb_require_numerics(index, &scan->layout, values, isnull);
	if (scan->has_dictionary)
		values = gpb_dictionary_build(index, &scan->layout, values, isnull, coded);
	gpb_entry_form(&scan->layout, values, isnull, tid, &entry);
	if (scan->info->ii_Unique && !tuple_is_alive)
	{
		uint64		locator = gpb_row_locator(entry.row) | GPB_LOC_DEAD;

		memcpy(entry.row, &locator, sizeof(locator));
	}
	gpb_sorter_put(scan->sorter, &entry);
}

uint64
gpb_build_expected(Relation heap, const IndexInfo *info)
{
	BlockNumber pages;
	double		tuples;
	double		all_visible;

	estimate_rel_size(heap, NULL, &pages, &tuples, &all_visible);
	if (info->ii_Predicate != NIL)
		tuples = Min(tuples, GPB_SORT_PIECE);	/* how many it has is not known */
	return (uint64) Max(tuples, 1);
}

double
gpb_build_scan(Relation heap, Relation index, IndexInfo *info, const GpbLayout *layout,
			   bool progress, GpbSorter *sorter, TableScanDesc scan)
{
	BuildScan	state;

	state.layout = *layout;
	state.has_dictionary = gpb_layout_has_dictionary(layout);
	state.info = info;
	state.sorter = sorter;
	return table_index_build_scan(heap, index, info, true, progress, build_callback, &state,
								  scan);
}
