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

#include "hold.h"
#include "index/dictionary.h"

/* What the callback of a table's scan needs */
typedef struct BuildScan
{
	GpbLayout	layout;
	bool		has_dictionary;
	bool		is_unique;
	GpbSorter  *sorter;
} BuildScan;

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
	gpb_require_null_codes(index, &scan->layout, isnull);
	gpb_require_numerics(index, &scan->layout, values, isnull);
	if (scan->has_dictionary)
		values = gpb_dictionary_build(index, &scan->layout, values, isnull, coded);
	gpb_entry_form(&scan->layout, values, isnull, tid, &entry);
	if (scan->is_unique && !tuple_is_alive)
	{
		uint64		locator = gpb_row_locator(entry.row) | GPB_LOC_DEAD;

		memcpy(entry.row, &locator, sizeof(locator));
	}
	gpb_sorter_put(scan->sorter, &entry);
}

double
gpb_build_scan(Relation heap, Relation index, IndexInfo *info, const GpbLayout *layout,
			   bool progress, GpbSorter *sorter, TableScanDesc scan)
{
	BuildScan	state;

	state.layout = *layout;
	state.has_dictionary = gpb_layout_has_dictionary(layout);
	state.is_unique = info->ii_Unique;
	state.sorter = sorter;
	return table_index_build_scan(heap, index, info, true, progress, build_callback, &state,
								  scan);
}
