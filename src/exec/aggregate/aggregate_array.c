/*-------------------------------------------------------------------------
 *
 * aggregate_array.c
 *	  Aggregates over the keys of arrays: "key = ANY (array)" as one batch.
 *
 * The keys of all such conditions together, sorted and each once, that are within the range of the
 * other conditions go to one batch (range_totals.h).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/aggregate/aggregate_array.h"
#include "exec/answer/range_totals.h"

/* ---- a run ---- */

void
gpb_arrays_run(GpbArrayScan *scan, Relation index, const GpbRange *range,
			   GpbRangeTotals *totals)
{
	GpbLayout	layout = *gpb_layout(index);
	GpbArrayKeys keys;

	if (!gpb_arrays_keys(scan, &layout, *range, &keys))
		return;
	gpb_range_totals_sum(totals, keys.points ? (void *) keys.keys : (void *) keys.ranges, keys.n);
	gpb_array_keys_free(&keys);
}
