/*-------------------------------------------------------------------------
 *
 * batch_test.c
 *	  gpubtree_test_batch: a batch of ranges from SQL, in every way there is.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "hold.h"
#include "index/index.h"
#include "engine/batch_engine.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(gpubtree_test_batch);

/* One call's output */
typedef struct GpbBatchTest
{
	ReturnSetInfo *result;
	const GpbLayout *layout;
} GpbBatchTest;

/* Rows of the result: number, key, first INCLUDE column (also as a sum), entries, TID. */
static void
gpb_test_row(GpbBatchTest *test, uint32 number, const int64 *key, const int64 *value,
			 int64 entries, ItemPointer tid)
{
	Datum		values[5];
	bool		nulls[5] = {false, key == NULL, value == NULL, false, tid == NULL};

	values[0] = Int32GetDatum((int32) number + 1);
	values[1] = Int64GetDatum(key == NULL ? 0 : *key);
	values[2] = Int64GetDatum(value == NULL ? 0 : *value);
	values[3] = Int64GetDatum(entries);
	values[4] = PointerGetDatum(tid);
	tuplestore_putvalues(test->result->setResult, test->result->setDesc, values, nulls);
}

/* A range entry as a row. */
static void
gpb_test_entry(GpbBatchTest *test, const GpbRangeEntry *entry, ItemPointer tid)
{
	const GpbLayout *layout = test->layout;
	int64		key = gpb_key_value((uint64) gpb_entry_key(entry, layout),
										layout->key_width, layout->flags);
	int64		value = gpb_row_value(entry->row, layout->offset[0], layout->kind[0]);

	gpb_test_row(test, entry->number, &key,
				 gpb_locator_column_is_null(gpb_row_locator(entry->row), 0) ? NULL : &value, 1, tid);
}

/* Visit the heap for n entries, and return those whose rows are visible. */
static void
gpb_test_visit(GpbBatchTest *test, GpbHeapVisit *visit, GpbRangeEntry *records, uint64 n, int width)
{
	uint64		done;

	for (done = 0; done < n; done += GPB_HEAP_BATCH)
	{
		GpbRangeEntry *entry;
		TupleTableSlot *slot;

		gpb_visit_start(visit, gpb_entry_at(records, done, width), (int) Min(n - done, GPB_HEAP_BATCH),
						false);
		while ((entry = gpb_visit_next(visit, NULL, NULL, &slot)) != NULL)
			gpb_test_entry(test, entry, &slot->tts_tid);
	}
}

/* Leaves as they are now, which is before the hold point. */
static uint32
gpb_test_find_leaves(GpbBatch *batch, GpbNumberedKeys sorted, uint32 n, uint32 at,
					 const uint32 **found)
{
	uint32	   *leaves = palloc(n * sizeof(uint32));
	uint32		i;

	*found = leaves + at;
	for (i = at; i < n; i++)
	{
		GpbKey		key = gpb_numbered_key(sorted, i);
		GpbKeyRange keys = {key, key};
		Buffer		buffer = gpb_search(batch->index, &batch->program.layout,
										gpb_key_range(keys, batch->program.layout.flags).lo,
										BUFFER_LOCK_SHARE, NULL);

		leaves[i] = BufferGetBlockNumber(buffer);
		UnlockReleaseBuffer(buffer);
	}
	GPB_HOLD("batch-leaves-known");
	return n - at;
}

/* None, for a few keys at a time. */
static uint32
gpb_test_find_no_leaves(GpbBatch *batch, GpbNumberedKeys sorted, uint32 n, uint32 at,
						const uint32 **found)
{
	return Min(n - at, 7);
}

/* Every key the leftmost leaf: as old as can be. */
static uint32
gpb_test_find_first_leaf(GpbBatch *batch, GpbNumberedKeys sorted, uint32 n, uint32 at,
						 const uint32 **found)
{
	uint32	   *leaves = palloc(n * sizeof(uint32));
	uint32		i;

	for (i = 0; i < n; i++)
		leaves[i] = GPB_META_BLOCK + 1;
	*found = leaves;
	return n - at;
}

/* Every key the rightmost leaf, which is wrong: to be noticed. */
static uint32
gpb_test_find_last_leaf(GpbBatch *batch, GpbNumberedKeys sorted, uint32 n, uint32 at,
						 const uint32 **found)
{
	uint32	   *leaves = palloc(n * sizeof(uint32));
	Buffer		buffer = gpb_search(batch->index, &batch->program.layout, GPB_BOUND_MAX,
									BUFFER_LOCK_SHARE, NULL);
	uint32		i;

	for (i = 0; i < n; i++)
		leaves[i] = BufferGetBlockNumber(buffer);
	UnlockReleaseBuffer(buffer);
	*found = leaves;
	return n - at;
}

static const GpbLeafFinder gpb_test_old = {gpb_test_find_leaves, NULL};
static const GpbLeafFinder gpb_test_none = {gpb_test_find_no_leaves, NULL};
static const GpbLeafFinder gpb_test_first = {gpb_test_find_first_leaf, NULL};
static const GpbLeafFinder gpb_test_last = {gpb_test_find_last_leaf, NULL};

/* Ranges from two arrays of the key's type; hi is NULL for keys. */
static void *
gpb_test_input(const GpbLayout *layout, Relation index, ArrayType *lo, ArrayType *hi, uint32 *n)
{
	Datum	   *values[2];
	bool	   *nulls;
	int			count[2] = {0, 0};
	int			width = layout->key_kind == GPB_KIND_INT2 ? 2 : layout->key_width;
	char		align = width == 2 ? TYPALIGN_SHORT : width == 4 ? TYPALIGN_INT : TYPALIGN_DOUBLE;
	GpbKey	   *keys;
	int			i;

	deconstruct_array(lo, ARR_ELEMTYPE(lo), width, true, align, &values[0], &nulls, &count[0]);
	keys = palloc(sizeof(GpbKey) * 2 * Max(count[0], 1));
	*n = count[0];
	if (hi == NULL)
	{
		for (i = 0; i < count[0]; i++)
			keys[i] = gpb_datum_key(layout, values[0][i]);
		return keys;
	}
	deconstruct_array(hi, ARR_ELEMTYPE(hi), width, true, align, &values[1], &nulls, &count[1]);
	for (i = 0; i < count[0]; i++)
	{
		GpbKey		a = gpb_datum_key(layout, values[0][i]);
		GpbKey		b = gpb_datum_key(layout, values[1][i]);
		bool		desc = (layout->flags & GPB_LAYOUT_DESC) != 0;

		keys[2 * i] = desc ? b : a;
		keys[2 * i + 1] = desc ? a : b;
	}
	return keys;
}

/*
 * gpubtree_test_batch(index regclass, lo anyarray, hi anyarray, mode text): mode is "aggregate",
 * "list" or "rows" (the caller visits the heap), and after a space may say "device", or "old", "first", "last",
 * "no" or "inner": the CPU, with leaves from elsewhere.
 */
Datum
gpubtree_test_batch(PG_FUNCTION_ARGS)
{
	Relation	heap;
	Relation	index = gpb_open_index(PG_GETARG_OID(0), AccessShareLock, &heap);
	GpbLayout	layout = *gpb_layout(index);
	char	   *mode = text_to_cstring(PG_GETARG_TEXT_PP(3));
	GpbBatchTest test = {(ReturnSetInfo *) fcinfo->resultinfo, &layout};
	GpbBatchWant want = {0};
	GpbBatch   *batch;
	void	   *input;
	uint32		n;
	uint32		i;

	InitMaterializedSRF(fcinfo, 0);
	want.form = PG_ARGISNULL(2) ? GPB_RANGE_POINTS : GPB_RANGE_KEYS;
	want.program.list_entries = strncmp(mode, "aggregate", 9) != 0;
	want.heap_rows = strncmp(mode, "rows", 4) == 0;
	want.program.want[1] = GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_MINMAX;
	input = gpb_test_input(&layout, index, PG_GETARG_ARRAYTYPE_P(1),
						   PG_ARGISNULL(2) ? NULL : PG_GETARG_ARRAYTYPE_P(2), &n);
	batch = gpb_batch_begin(heap, index, GetActiveSnapshot(), &want,
							strstr(mode, " device") ? GPB_ENGINE_DEVICE :
							strstr(mode, " inner") ? GPB_ENGINE_INNER : GPB_ENGINE_CPU);
	if (strstr(mode, " old"))
		batch->finder = &gpb_test_old;
	else if (strstr(mode, " first"))
		batch->finder = &gpb_test_first;
	else if (strstr(mode, " last"))
		batch->finder = &gpb_test_last;
	else if (strstr(mode, " no"))
		batch->finder = &gpb_test_none;

	if (!want.program.list_entries)
	{
		const GpbAnswerColumn *column = &gpb_batch_format(batch)->column[0];
		int64	   *answers = palloc(gpb_batch_answer_width(batch) * Max(n, 1));
		const int64 *answer = answers;

		gpb_batch_run(batch, input, n, answers);
		for (i = 0; i < n; i++, answer += gpb_batch_format(batch)->words)
			gpb_test_row(&test, i, NULL, answer[column->count] > 0 ? &answer[column->sum] : NULL,
						 answer[0], NULL);
	}
	else
	{
		GpbHeapVisit *visit = gpb_visit_begin(heap, index, GetActiveSnapshot(),
											  batch->match_width, NULL, NULL);
		GpbRangeEntry *records;
		uint64		nrecords;

		gpb_batch_run(batch, input, n, NULL);
		while ((records = gpb_batch_matches(batch, &nrecords)) != NULL)
		{
			uint64		r;

			if (want.heap_rows)
				gpb_test_visit(&test, visit, records, nrecords,
							   batch->match_width);
			GPB_HOLD("batch-part-taken");
			for (r = 0; r < nrecords && !want.heap_rows; r++)
				gpb_test_entry(&test, gpb_entry_at(records, r,
												   batch->match_width), NULL);
		}
		gpb_visit_end(visit);
	}
	gpb_batch_end(batch);
	index_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
	return (Datum) 0;
}
