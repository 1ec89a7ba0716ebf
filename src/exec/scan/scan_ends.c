/*-------------------------------------------------------------------------
 *
 * scan_ends.c
 *	  The last keys of groups, when a node runs: ranges in which the last rows of all groups are.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/answer/range_totals.h"
#include "exec/bind/program_bind_safe.h"
#include "exec/scan/scan_node.h"
#include "index/index.h"

/* qsort: ascending */
static int
compare_keys(const void *a, const void *b)
{
	GpbKey		x = *(const GpbKey *) a;
	GpbKey		y = *(const GpbKey *) b;

	return x < y ? -1 : x > y;
}

/* Collect the groups' last keys, ascending and each once.  Returns their number. */
static uint32
collect_keys(GpbScanRows *scan, GpbRangeTotals *totals, GpbKey **keys)
{
	uint64		at = 0;
	uint32		n = 0;
	uint32		distinct = 0;
	uint32		i;

	*keys = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(GpbKey) *
								   Max(gpb_batch_group_count(gpb_range_totals_batch(totals)), 1));
	while (gpb_range_totals_next_group(totals, &at) != NULL)
	{
		Datum		value;
		bool		isnull;

		gpb_range_group_final(totals, &value, &isnull);
		if (!isnull)
			(*keys)[n++] = gpb_datum_key(&scan->layout, value);
		scan->groups++;
	}
	qsort(*keys, n, sizeof(GpbKey), compare_keys);
	for (i = 0; i < n; i++)
	{
		if (i == 0 || (*keys)[i] != (*keys)[distinct - 1])
			(*keys)[distinct++] = (*keys)[i];
	}
	return distinct;
}

/*
 * Add to ranges, *n of them, what the ranges asked for have of NULL keys.  These come before all
 * others of a group if NULL is first, and else are the only ones of some groups; which groups have
 * any is not known.
 */
static void
add_nulls(const GpbScanRows *scan, const GpbRange *asked, uint32 nasked, GpbRange *ranges,
		  uint32 *n)
{
	GpbRange	nulls = gpb_range_null(&scan->layout);
	uint32		i;

	for (i = 0; i < nasked; i++)
	{
		GpbRange	range = asked[i];

		if (gpb_bound_less(range.lo, nulls.lo))
			range.lo = nulls.lo;
		if (gpb_bound_less(nulls.hi, range.hi))
			range.hi = nulls.hi;
		if (gpb_bound_less(range.lo, range.hi))
			ranges[(*n)++] = range;
	}
}

/* Make what finds the last keys; NULL, having noted why, if its program cannot be used. */
static GpbRangeTotals *
begin_totals(GpbScanRows *scan, GpbRangeForm form)
{
	GpbNode    *node = &scan->node;
	GpbProgram	program = scan->plan.ends.program;
	const char *why = gpb_program_constants_bind(scan->end_constants, scan->constants_may_fail,
												 node->css.ss.ps.ps_ExprContext, &program);

	if (why != NULL)
	{
		gpb_note_gave_up(node, why);
		return NULL;
	}
	return gpb_range_totals_begin_program(node->heap, node->index,
										  node->css.ss.ps.state->es_snapshot, &program,
										  scan->plan.end, 1, form, 0, GPB_ENGINE_AUTO);
}

bool
gpb_scan_find_ends(GpbScanRows *scan, GpbRangeForm form, const void *ranges, uint32 n,
				   GpbRange **keys, uint32 *nkeys)
{
	GpbRangeTotals *totals = begin_totals(scan, form);
	GpbKey	   *found;
	uint32		nfound;
	uint32		i;
	const char *why;

	if (totals == NULL)
		return false;
	gpb_range_group_init(totals);
	gpb_range_totals_sum(totals, ranges, n);
	gpb_batch_counters_add(&scan->end_counters, gpb_range_totals_counters(totals));
	if (gpb_range_totals_gave_up(totals, &why))
	{
		gpb_note_gave_up(&scan->node, why);
		gpb_range_totals_end(totals);
		return false;
	}
	nfound = collect_keys(scan, totals, &found);
	gpb_range_totals_end(totals);
	*keys = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(GpbRange) * (nfound + n));
	for (i = 0; i < nfound; i++)
		(*keys)[i] = gpb_key_range((GpbKeyRange) {found[i], found[i]}, scan->layout.flags);
	*nkeys = nfound;
	if (form == GPB_RANGE_BOUNDS)
		add_nulls(scan, ranges, n, *keys, nkeys);
	return true;
}
