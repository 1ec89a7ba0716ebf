/*-------------------------------------------------------------------------
 *
 * skip.c
 *	  Where a scan goes on that skips what its conditions on several columns do not admit.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "index/skip.h"

/* The greatest key that the columns can make */
static inline GpbKey
greatest_key(const GpbLayout *layout)
{
	return gpb_field_ones(layout->key[0].shift + layout->key[0].bits);
}

/*
 * Raise *bound to the first bound from which on an entry may satisfy the conditions.  Returns false
 * if none does.
 */
static bool
raise_bound(const GpbColumnSets *sets, GpbBound *bound)
{
	GpbKey		key = bound->key;

	if (key > greatest_key(sets->layout) ||
		!gpb_fields_next(sets, sets->layout->nkeys, &key))
		return false;
	if (key > bound->key)
		*bound = (GpbBound) {key, 0};
	return true;
}

/*
 * Lower *bound to the last bound before which an entry may satisfy the conditions.  Returns false
 * if none does.
 */
static bool
lower_bound(const GpbColumnSets *sets, GpbBound *bound)
{
	GpbKey		key = bound->key;
	GpbKey		last;

	if (bound->tie == 0 && key-- == 0)
		return false;
	key = last = Min(key, greatest_key(sets->layout));
	if (!gpb_fields_previous(sets, sets->layout->nkeys, &key))
		return false;
	if (key < last)
		*bound = gpb_bound_behind(key, sets->layout->key_width);
	return true;
}

/* All that satisfies the conditions is in some range, so the bound is not in a gap afterwards. */
bool
gpb_skip_right(const GpbColumnSets *sets, const GpbRangeSet *set, int *range, GpbBound *bound)
{
	if (!raise_bound(sets, bound))
		return false;
	while (*range < set->count && !gpb_bound_less(*bound, set->ranges[*range].hi))
		(*range)++;
	if (*range == set->count)
		return false;
	if (gpb_bound_less(*bound, set->ranges[*range].lo))
		*bound = set->ranges[*range].lo;
	return true;
}

bool
gpb_skip_left(const GpbColumnSets *sets, const GpbRangeSet *set, int *range, GpbBound *bound)
{
	if (!lower_bound(sets, bound))
		return false;
	while (*range >= 0 && !gpb_bound_less(set->ranges[*range].lo, *bound))
		(*range)--;
	if (*range < 0)
		return false;
	if (gpb_bound_less(set->ranges[*range].hi, *bound))
		*bound = set->ranges[*range].hi;
	return true;
}

void
gpb_skip_on_leaf(const GpbColumnSets *sets, Page page, bool forward, GpbRange *range)
{
	const GpbLayout *layout = sets->layout;
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	GpbBound	bound = forward ? range->lo : range->hi;
	int			position = gpb_page_lower_bound(page, layout->key_width, row_width, count,
												bound) - !forward;

	if (position < 0 || position >= count)
		return;
	bound.key = gpb_leaf_key(page, layout->key_width, row_width, position);
	if (forward)
	{
		bound.tie = 0;
		if (!raise_bound(sets, &bound) || gpb_bound_less(range->hi, bound))
			range->lo = range->hi;
		else if (gpb_bound_less(range->lo, bound))
			range->lo = bound;
	}
	else
	{
		bound = gpb_bound_behind(bound.key, layout->key_width);
		if (!lower_bound(sets, &bound) || gpb_bound_less(bound, range->lo))
			range->hi = range->lo;
		else if (gpb_bound_less(bound, range->hi))
			range->hi = bound;
	}
}
