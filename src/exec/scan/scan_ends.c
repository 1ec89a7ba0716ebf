/*-------------------------------------------------------------------------
 *
 * scan_ends.c
 *	  The last keys of groups, when a node runs: ranges in which the last rows of all groups are.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

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
collect_keys(GpbScanRows *scan, GpbKey **keys)
{
	uint64		at = 0;
	uint32		n = 0;
	uint32		distinct = 0;
	uint32		i;

	*keys = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(GpbKey) *
								   Max(gpb_ask_group_count(scan->ends), 1));
	while (gpb_ask_next_group(scan->ends, &at) != NULL)
	{
		Datum		value;
		bool		isnull;

		gpb_group_final(scan->ends, &value, &isnull);
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

void
gpb_scan_begin_ends(GpbScanRows *scan)
{
	GpbAskWant	want = {GPB_ASK_NODE(&scan->node), .plan = &scan->plan.ends, .nitems = 1,
	.items = scan->plan.end};

	scan->ends = gpb_ask_begin(&scan->node.css.ss.ps, &want);
}

bool
gpb_scan_find_ends(GpbScanRows *scan, GpbRangeForm form, const void *ranges, uint32 n,
				   GpbRange **keys, uint32 *nkeys)
{
	const char *why = gpb_ask_bind(scan->ends, scan->node.css.ss.ps.ps_ExprContext);
	GpbKey	   *found;
	uint32		nfound;
	uint32		i;

	if (why == NULL)
	{
		gpb_ask_set_form(scan->ends, form);
		why = gpb_ask_total(scan->ends, ranges, n);
	}
	if (why != NULL)
	{
		gpb_note_gave_up(&scan->node, why);
		gpb_ask_stop(scan->ends);
		return false;
	}
	nfound = collect_keys(scan, &found);
	gpb_ask_stop(scan->ends);
	*keys = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(GpbRange) * (nfound + n));
	for (i = 0; i < nfound; i++)
		(*keys)[i] = gpb_key_range((GpbKeyRange) {found[i], found[i]}, scan->layout.flags);
	*nkeys = nfound;
	if (form == GPB_RANGE_BOUNDS)
		add_nulls(scan, ranges, n, *keys, nkeys);
	return true;
}
