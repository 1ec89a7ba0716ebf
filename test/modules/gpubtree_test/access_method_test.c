/*-------------------------------------------------------------------------
 *
 * access_method_test.c
 *	  A table access method that is another than heap, though it stores rows in the same way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "fmgr.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(gpb_test_heap_handler);

/*
 * What builds an index.  heap_getnext() reads no table of another method than heap, so the table is
 * of heap meanwhile.
 */
static double
build_range_scan(Relation table, Relation index, struct IndexInfo *info, bool allow_sync,
				 bool anyvisible, bool progress, BlockNumber start, BlockNumber nblocks,
				 IndexBuildCallback callback, void *callback_state, TableScanDesc scan)
{
	const TableAmRoutine *other = table->rd_tableam;
	double		rows = 0;

	table->rd_tableam = GetHeapamTableAmRoutine();
	PG_TRY();
	{
		rows = table->rd_tableam->index_build_range_scan(table, index, info, allow_sync,
														 anyvisible, progress, start, nblocks,
														 callback, callback_state, scan);
	}
	PG_FINALLY();
	{
		table->rd_tableam = other;
	}
	PG_END_TRY();
	return rows;
}

/*
 * gpubtree_test_heap_handler(internal) returns table_am_handler: heap's routines, at an address of
 * their own.
 */
Datum
gpb_test_heap_handler(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	routine.index_build_range_scan = build_range_scan;
	PG_RETURN_POINTER(&routine);
}
