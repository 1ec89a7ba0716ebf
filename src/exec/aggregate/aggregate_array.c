/*-------------------------------------------------------------------------
 *
 * aggregate_array.c
 *	  Aggregates over the keys of arrays: "key = ANY (array)" as one batch.
 *
 * The keys of all such conditions together, sorted and each once, that are within the range of the
 * other conditions go to one batch (ask.h).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "exec/aggregate/aggregate_array.h"
#include "exec/answer/ask.h"
#include "exec/price/outer_cost.h"

/* ---- price ---- */

Cost
gpb_array_cost(PlannerInfo *root, IndexOptInfo *index, List *arrays, double entries,
			   const GpbAggregateItem *items, int nitems)
{
	GpbOuterInput input = {0};

	/* the elements are what a join has as outer rows */
	input.index = index;
	input.outer_rows = gpb_arrays_elements(root, arrays);
	input.matches = entries;
	input.known_ranges = true;
	input.aggregated = true;
	input.more_columns = gpb_count_columns(items, nitems) - 1;
	input.index_only = true;
	return gpb_inner_cost(root, &input, input.outer_rows, input.outer_rows) +
		gpb_arrays_start_cost(arrays);
}

/* ---- a run ---- */

const char *
gpb_arrays_run(GpbArrayScan *scan, Relation index, const GpbRange *range, GpbAsk *ask)
{
	GpbLayout	layout = *gpb_layout(index);
	GpbArrayKeys keys;
	const char *why;

	if (!gpb_arrays_keys(scan, &layout, *range, &keys))
		return NULL;
	why = gpb_ask_total(ask, keys.points ? (void *) keys.keys : (void *) keys.ranges, keys.n);
	gpb_array_keys_free(&keys);
	return why;
}
