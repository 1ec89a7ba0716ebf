/*-------------------------------------------------------------------------
 *
 * bucket_batch.c
 *	  Batches of the ranges of buckets, sorted first where results do not come in order.
 *
 * Mostly the function's results come in the order of the index, and ranges are answered as they are
 * cut.  They may not: an offset of a time zone falls back over a bucket's end, a divisor is
 * negative, keys are near the end of their type.  Then all ranges are answered once, to know which
 * of them have a visible entry, for the function may be called for no other; and those are sorted
 * by result, and answered again in that order.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "exec/answer/ordinary.h"
#include "exec/bucket/bucket_node.h"
#include "exec/price/growth.h"

/* ---- memory ---- */

/*
 * Make room for the next batch, which may be larger than the last, as far as memory goes.  The
 * ranges of the last are lost.
 */
static void
reserve_ranges(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;
	Size		width = sizeof(GpbKeyRange) + sizeof(GpbBucketRange) +
	gpb_ask_answer_width(scan->ask);

	batches->limit = Min(batches->limit, gpb_most_rows(width));
	batches->n = 0;
	if (batches->limit <= batches->capacity)
		return;
	if (batches->capacity > 0)
	{
		pfree(batches->keys);
		pfree(batches->ranges);
	}
	batches->capacity = 0;
	batches->keys = MemoryContextAllocHuge(batches->context,
										   sizeof(GpbKeyRange) * batches->limit);
	batches->ranges = MemoryContextAllocHuge(batches->context,
											 sizeof(GpbBucketRange) * batches->limit);
	batches->capacity = batches->limit;
}

/* ---- cutting and answering ---- */

/* Answer the ranges of the batch; false if the program gave up. */
static bool
answer_ranges(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;
	const char *why = gpb_ask_each(scan->ask, batches->keys, batches->n);

	if (why != NULL)
		gpb_node_give_up(&scan->node, why);
	else
		batches->limit = gpb_grown_batch(batches->limit);
	return why == NULL;
}

/* Cut the next batch; false if there is none. */
static bool
cut_ranges(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;
	GpbKeyRange keys;
	GpbBucketRange range;

	batches->n = 0;
	/* mostly no key is unsafe, and then there is nothing to make ready */
	if (!gpb_cut_next(&batches->cut, &keys, &range))
		return false;
	reserve_ranges(scan);
	batches->keys[0] = keys;
	batches->ranges[0] = range;
	for (batches->n = 1; batches->n < batches->limit; batches->n++)
	{
		if (!gpb_cut_next(&batches->cut, &batches->keys[batches->n],
						  &batches->ranges[batches->n]))
			break;
	}
	return true;
}

/* The next batch as it is cut; false if there is none, or if the program gave up. */
static bool
cut_batch(GpbBucketScan *scan)
{
	return cut_ranges(scan) && answer_ranges(scan);
}

int64
gpb_bucket_batch_result(GpbBucketScan *scan, uint32 i)
{
	GpbBucketRange *range = &scan->batches.ranges[i];

	if (range->empty)
		gpb_corrupted_index(scan->node.index, "a descent did not find entries that a walk found");
	if (!range->known)
	{
		const GpbLayout *layout = &scan->batches.cut.layout;
		int			level = gpb_bucket_function_enter(scan->function);

		range->result = gpb_bucket_of(scan->function,
									  gpb_key_value(range->key, layout->key_width, layout->flags));
		range->known = true;
		gpb_bucket_function_leave(level);
	}
	return range->result;
}

/* ---- sorting ---- */

/* What is sorted has three columns: a range's result, and its first and its last key by itself. */
#define GPB_SORT_COLUMNS	3

void
gpb_bucket_batches_begin(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;
	EState	   *estate = scan->node.css.ss.ps.state;
	TupleDesc	descriptor = CreateTemplateTupleDesc(GPB_SORT_COLUMNS);

	TupleDescInitEntry(descriptor, 1, "result", INT8OID, -1, 0);
	TupleDescInitEntry(descriptor, 2, "first", INT8OID, -1, 0);
	TupleDescInitEntry(descriptor, 3, "last", INT8OID, -1, 0);
	TupleDescFinalize(descriptor);
	batches->context = CurrentMemoryContext;
	batches->to_sort = ExecInitExtraTupleSlot(estate, descriptor, &TTSOpsVirtual);
	batches->sorted = ExecInitExtraTupleSlot(estate, descriptor, &TTSOpsMinimalTuple);
}

/* Sort the ranges of the batch that have an entry. */
static void
sort_batch(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;
	TupleTableSlot *slot = batches->to_sort;
	uint32		i;

	for (i = 0; i < batches->n; i++)
	{
		GpbKeyRange keys = gpb_cut_lone_keys(&batches->cut, batches->keys[i]);

		CHECK_FOR_INTERRUPTS();
		if (gpb_ask_answer(scan->ask, i)[0] == 0)
			continue;
		ExecClearTuple(slot);
		slot->tts_values[0] = Int64GetDatum(gpb_bucket_batch_result(scan, i));
		slot->tts_values[1] = UInt64GetDatum((uint64) keys.lo);
		slot->tts_values[2] = UInt64GetDatum((uint64) keys.hi);
		memset(slot->tts_isnull, false, GPB_SORT_COLUMNS * sizeof(bool));
		ExecStoreVirtualTuple(slot);
		tuplesort_puttupleslot(batches->sort, slot);
		batches->nsorted++;
	}
}

/*
 * Cut and answer all ranges, and sort those that have an entry in the order that the node promises.
 */
static void
sort_bucket_ranges(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;
	AttrNumber	column = 1;
	TypeCacheEntry *type = lookup_type_cache(INT8OID, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	Oid			operator = gpb_bucket_descends(scan) ? type->gt_opr : type->lt_opr;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;
	MemoryContext caller = MemoryContextSwitchTo(batches->context);

	batches->sort = tuplesort_begin_heap(batches->sorted->tts_tupleDescriptor, 1, &column,
										 &operator, &collation, &nulls_first, work_mem, NULL,
										 TUPLESORT_NONE);
	MemoryContextSwitchTo(caller);
	while (cut_batch(scan))
		sort_batch(scan);
	tuplesort_performsort(batches->sort);
	batches->limit = GPB_FIRST_BATCH;
}

/* The next batch in sorted order; false if there is none. */
static bool
sorted_batch(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;
	TupleTableSlot *slot = batches->sorted;

	reserve_ranges(scan);
	while (batches->n < batches->limit &&
		   tuplesort_gettupleslot(batches->sort, true, false, slot, NULL))
	{
		GpbBucketRange *range = &batches->ranges[batches->n];
		GpbKeyRange keys;

		slot_getallattrs(slot);
		memset(range, 0, sizeof(*range));
		range->known = true;
		range->result = DatumGetInt64(slot->tts_values[0]);
		keys.lo = DatumGetUInt64(slot->tts_values[1]);
		keys.hi = DatumGetUInt64(slot->tts_values[2]);
		batches->keys[batches->n++] = gpb_cut_index_keys(&batches->cut, keys);
	}
	return batches->n > 0 && answer_ranges(scan);
}

/* ---- the object ---- */

void
gpb_bucket_batches_start(GpbBucketScan *scan, GpbKeyRange range, const GpbBucketOrder *order)
{
	GpbBucketBatches *batches = &scan->batches;

	int			level = gpb_bucket_function_enter(scan->function);

	gpb_bucket_batches_stop(scan);
	gpb_cut_begin(&batches->cut, scan->node.index, &scan->layout, scan->plan.column,
				  scan->function, order, range, scan->plan.backward);
	gpb_bucket_function_leave(level);
}

bool
gpb_bucket_batch_next(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;
	int			level = gpb_bucket_function_enter(scan->function);
	bool		found;

	if (batches->cut.mode == GPB_CUT_SORTED && batches->sort == NULL)
		sort_bucket_ranges(scan);
	if (scan->node.gave_up != NULL)
		found = false;
	else
		found = batches->cut.mode == GPB_CUT_SORTED ? sorted_batch(scan) : cut_batch(scan);
	gpb_bucket_function_leave(level);
	return found;
}

bool
gpb_bucket_batch_cut(GpbBucketScan *scan)
{
	int			level = gpb_bucket_function_enter(scan->function);
	bool		found = cut_ranges(scan);

	gpb_bucket_function_leave(level);
	return found;
}

void
gpb_bucket_batches_stop(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;

	if (batches->sort != NULL)
	{
		ExecClearTuple(batches->sorted);
		tuplesort_end(batches->sort);
		batches->sort = NULL;
	}
	batches->n = 0;
	batches->limit = GPB_FIRST_BATCH;
}
