/*-------------------------------------------------------------------------
 *
 * aggregate_mirror.c
 *	  Engine: the device answers from the mirror; the CPU what it leaves over.
 *
 * The order of steps is rule M5's, with a full barrier between each:
 *
 *		snapshot, refresh, epoch, visibility map, launch
 *
 * Then the CPU answers the pieces of the range whose leaves were not clean, reading the
 * visibility map anew, and visits the heap for entries on pages that are not
 * all-visible.  An answer is all or nothing: if any step fails, everything
 * is left to the CPU engine.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"

#include "hold.h"
#include "leaf_aggregate.h"
#include "mirror/mirror.h"
#include "exec/aggregate/aggregate_node.h"
#include "engine/mirror_reader.h"

/* Records fetched at a time */
#define GPB_UNCLEAN_BATCH	1024
#define GPB_HEAP_FETCH		16384

/* ---- what the device leaves over ---- */

/*
 * Answer the pieces of the range whose leaves were not clean (rule M4).  Pins on the
 * visibility map are dropped before each wait for the service.
 */
static bool
gpb_answer_unclean(GpbAggregateRun *run, GpbRequest *request, uint64 n)
{
	GpbUncleanLeaf *leaves = palloc(sizeof(GpbUncleanLeaf) * GPB_UNCLEAN_BATCH);
	uint64		first;
	uint64		batch;

	for (first = 0; first < n; first += batch)
	{
		uint64		i;

		batch = Min(n - first, GPB_UNCLEAN_BATCH);
		gpb_visibility_cache_release(run);
		if (!gpb_request_fetch(request, GPB_FETCH_UNCLEAN, first, batch, leaves))
			return false;
		for (i = 0; i < batch; i++)
		{
			GpbRange	range = leaves[i].range;

			/* neighbours in one walk */
			while (i + 1 < batch &&
				   gpb_bound_cmp(range.hi, leaves[i + 1].range.lo) == 0)
				range.hi = leaves[++i].range.hi;
			gpb_run_cpu_range(run, range);
		}
	}
	gpb_visibility_cache_release(run);
	pfree(leaves);
	return true;
}

/* Visit the heap for entries of clean leaves on pages not all-visible. */
static bool
gpb_answer_heap(GpbAggregateRun *run, GpbRequest *request, uint64 n)
{
	char	   *records;
	uint64		first;
	uint64		batch;

	if (n == 0)
		return true;
	records = palloc(gpb_heap_entry_width(run->spec.layout.row_width) *
					 Min(n, GPB_HEAP_FETCH));
	for (first = 0; first < n; first += batch)
	{
		batch = Min(n - first, GPB_HEAP_FETCH);
		if (!gpb_request_fetch(request, GPB_FETCH_HEAP, first, batch, records))
			return false;
		gpb_heap_visit(run, records, (int) batch);
	}
	pfree(records);
	return true;
}

/* Add the device's part to the totals. */
static void
gpb_add_device(GpbAggregateRun *run, const GpbAggregateResult *result,
			   GpbFloatSum *sums)
{
	int			i;

	gpb_aggregate_state_merge(&run->totals.state, &result->state);
	for (i = 0; i < gpb_count_float_sums(&run->spec); i++)
	{
		gpb_float_sum_normalize(&sums[i]);
		gpb_float_sum_normalize(&run->totals.sums[i]);
		gpb_float_sum_merge(&run->totals.sums[i], &sums[i]);
	}
	pgstat_count_index_tuples(run->index, result->state.entries + result->heap);
}

/* ---- the request ---- */

/* Everything that needs the request's slot; false if any of it fails. */
static bool
gpb_answer_request(GpbAggregateRun *run, GpbRequest *request)
{
	int			nsums = gpb_count_float_sums(&run->spec);
	GpbFloatSum *sums = palloc(sizeof(GpbFloatSum) * Max(nsums, 1));
	GpbAggregateResult result;

	if (!gpb_reader_visibility(request, run->heap, &run->spec.heap_blocks))
		return false;
	GPB_HOLD("aggregate-after-visibility-map");
	pg_memory_barrier();

	if (!gpb_request_aggregate(request, &run->spec, &result,
							   nsums > 0 ? sums : NULL))
		return false;
	gpb_add_device(run, &result, sums);
	if (!gpb_answer_unclean(run, request, result.unclean) ||
		!gpb_answer_heap(run, request, result.heap))
		return false;
	gpb_heap_flush(run);
	return true;
}

/*
 * Run the aggregate on the mirror.  The request's slot is given back whatever happens.
 */
bool
gpb_run_mirror(GpbAggregateRun *run)
{
	GpbMirrorRef ref;
	GpbRequest *request;
	uint64		blocks = 0;
	volatile bool answered = false;

	if (!gpb_reader_refresh(run->index, &run->spec.layout, &ref, &blocks))
		return false;
	run->counters->refreshed_blocks += blocks;
	GPB_HOLD("aggregate-after-refresh");

	request = gpb_request_begin(&ref);
	if (request == NULL)
		return false;
	PG_TRY();
	{
		run->spec.epoch = gpb_reader_epoch(&ref);
		if (run->spec.epoch != 0)
			answered = gpb_answer_request(run, request);
	}
	PG_FINALLY();
	{
		gpb_request_end(request);
	}
	PG_END_TRY();
	return answered;
}
