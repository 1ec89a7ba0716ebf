/*-------------------------------------------------------------------------
 *
 * bucket_cut.c
 *	  Cutting a range of keys into the buckets of a function.
 *
 * From the first entry on, a bucket's end is looked for by asking the function itself: first where
 * the bucket would end if it were as wide as the last one, which is two calls, else in growing
 * steps and then by halves.  The function is monotone in between, so equal results at both ends
 * mean equal results all the way.  Then a descent leads to the next entry: empty stretches cost
 * nothing.
 *
 * Backward is the same over the complements of keys, which are called places here: a bucket's end
 * is where it begins.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"

#include "exec/bucket/bucket_cut.h"

/* ---- keys, places and values ---- */

/* The normalized key of a place, and the place of a normalized key */
static inline uint64
cut_flip(const GpbBucketCut *cut, uint64 key)
{
	return cut->backward ? ~key : key;
}

GpbKeyRange
gpb_cut_lone_keys(const GpbBucketCut *cut, GpbKeyRange keys)
{
	const GpbLoneColumn *lone = &cut->lone;

	keys.lo = gpb_lone_key(lone, gpb_key_field(lone->column, keys.lo));
	keys.hi = gpb_lone_key(lone, gpb_key_field(lone->column, keys.hi));
	keys.hi = Min(keys.hi, lone->type.hi);
	return keys;
}

GpbKeyRange
gpb_cut_index_keys(const GpbBucketCut *cut, GpbKeyRange lone)
{
	GpbKeyColumn column = cut->lone.column;
	GpbKeyRange keys;

	if (!gpb_fields_of_keys(&cut->lone, lone, &keys))
		return (GpbKeyRange) {1, 0};
	keys.lo = cut->prefix | keys.lo << column.shift;
	keys.hi = cut->prefix | keys.hi << column.shift | gpb_field_ones(column.shift);
	return keys;
}

/* The keys of the index at the places from "first" to "last" */
static inline GpbKeyRange
cut_keys(const GpbBucketCut *cut, uint64 first, uint64 last)
{
	GpbKeyRange keys;

	keys.lo = cut_flip(cut, cut->backward ? last : first);
	keys.hi = cut_flip(cut, cut->backward ? first : last);
	return gpb_cut_index_keys(cut, keys);
}

/* Do values fall as places rise? */
static inline bool
cut_descends(const GpbBucketCut *cut)
{
	return ((cut->layout.flags & GPB_LAYOUT_DESC) != 0) != cut->backward;
}

static inline int64
cut_value(const GpbBucketCut *cut, uint64 place)
{
	return gpb_key_value(cut_flip(cut, place), cut->layout.key_width, cut->layout.flags);
}

static inline uint64
cut_place(const GpbBucketCut *cut, int64 value)
{
	return cut_flip(cut, gpb_key_encode(value, cut->layout.key_width, cut->layout.flags));
}

static inline int64
cut_result(const GpbBucketCut *cut, uint64 key)
{
	return gpb_bucket_of(cut->function, cut_value(cut, key));
}

static inline bool
cut_is_safe(const GpbBucketCut *cut, uint64 key)
{
	return key >= cut->safe_first && key <= cut->safe_last;
}

/* The place of the first entry from a place on, or of the last; false if there is none */
static bool
cut_entry(const GpbBucketCut *cut, uint64 from, bool last, uint64 *place)
{
	const GpbLayout *layout = &cut->index_layout;
	GpbKeyRange keys;
	GpbRange	range;
	GpbBound	entry;
	bool		found;

	if (from > cut->end)
		return false;
	keys = cut_keys(cut, from, cut->end);
	if (keys.lo > keys.hi)
		return false;
	range = gpb_key_range(keys, layout->flags);
	if (last != cut->backward)
		found = gpb_last_entry(cut->index, layout, range.hi, &entry) &&
			!gpb_bound_less(entry, range.lo);
	else
		found = gpb_first_entry(cut->index, layout, range.lo, &entry) &&
			gpb_bound_less(entry, range.hi);
	if (found)
	{
		keys.lo = keys.hi = entry.key;
		*place = cut_flip(cut, (uint64) gpb_cut_lone_keys(cut, keys).lo);
	}
	return found;
}

/* The first entry at or after a place, up to the end; false if there is none. */
static bool
cut_first(const GpbBucketCut *cut, uint64 from, uint64 *place)
{
	return cut_entry(cut, from, false, place);
}

/* ---- do results come in order? ---- */

/*
 * Is there an entry outside the safe interval whose key is finite?  *first is the first finite one.
 */
static bool
cut_leaves_interval(const GpbBucketCut *cut, uint64 *first, bool *found)
{
	const GpbBucketOrder *order = cut->order;
	uint64		least = cut_place(cut, order->least_infinity);
	uint64		most = cut_place(cut, order->most_infinity);
	uint64		key;

	if (cut_descends(cut))
	{
		uint64		swap = least;

		least = most;
		most = swap;
	}
	*found = cut_first(cut, cut->next, first);
	if (*found && order->infinities && *first == least)
		*found = cut_first(cut, least + 1, first);
	if (!*found || (order->infinities && *first == most))
		return false;
	if (!cut_is_safe(cut, *first))
		return true;
	if (cut->safe_last >= cut->end || !cut_first(cut, cut->safe_last + 1, &key))
		return false;
	return !order->infinities || key != most;
}

/*
 * Between boundaries results do not fall, so they come in order if they do not fall at any
 * boundary.  It is enough to look at those between the first entry and the last, if that is known,
 * or the end.
 */
static bool
cut_rises(const GpbBucketCut *cut, uint64 first)
{
	int64		from = cut_value(cut, first);
	int64		to = cut_value(cut, Min(cut->last_entry, cut->safe_last));
	int			i;

	if (from > to)
	{
		int64		swap = from;

		from = to;
		to = swap;
	}
	for (i = 0; i < cut->nboundaries; i++)
	{
		int64		at = cut->boundaries[i];

		if (at > from && at <= to &&
			gpb_bucket_of(cut->function, at - 1) > gpb_bucket_of(cut->function, at))
			return false;
	}
	return true;
}

void
gpb_cut_begin(GpbBucketCut *cut, Relation index, const GpbLayout *layout, int column,
			  GpbBucketFunction *function, const GpbBucketOrder *order, GpbKeyRange range,
			  bool backward)
{
	uint64		first;
	bool		found;

	memset(cut, 0, sizeof(*cut));
	cut->index = index;
	cut->index_layout = *layout;
	gpb_lone_column(layout, column, &cut->lone);
	cut->layout = cut->lone.layout;
	cut->prefix = range.lo & ~gpb_field_ones(cut->lone.column.shift + cut->lone.column.bits);
	range = gpb_cut_lone_keys(cut, range);
	cut->function = function;
	cut->order = order;
	cut->backward = backward;
	cut->next = cut_flip(cut, (uint64) (backward ? range.hi : range.lo));
	cut->end = cut_flip(cut, (uint64) (backward ? range.lo : range.hi));
	cut->last_entry = cut->end;
	cut->safe_first = 1;
	cut->mode = order->null ? GPB_CUT_UNSAFE : GPB_CUT_SORTED;
	if (order->safe_lo > order->safe_hi)
		return;
	cut->safe_first = cut_place(cut, cut_descends(cut) ? order->safe_hi : order->safe_lo);
	cut->safe_last = cut_place(cut, cut_descends(cut) ? order->safe_lo : order->safe_hi);
	if (order->null)
		return;
	if (order->zone)
		cut->boundaries = gpb_bucket_boundaries(function, &cut->nboundaries);
	/* a zone has many changes before the first entry, few after the last */
	if (backward && cut->nboundaries > 0 && cut_entry(cut, cut->next, true, &first))
		cut->last_entry = first;
	if (!cut_leaves_interval(cut, &first, &found) &&
		!(found && cut_is_safe(cut, first) && !cut_rises(cut, first)))
		cut->mode = GPB_CUT_IN_ORDER;
}

/* ---- the end of a bucket ---- */

/* The last key before which the function may begin anew, at or after a safe key */
static uint64
cut_piece_end(const GpbBucketCut *cut, uint64 key)
{
	int64		value = cut_value(cut, key);
	int			low = 0;
	int			high = cut->nboundaries;

	/* the first boundary above the value */
	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (cut->boundaries[middle] <= value)
			low = middle + 1;
		else
			high = middle;
	}
	if (cut_descends(cut))
		return low > 0 ? cut_place(cut, cut->boundaries[low - 1]) : cut->safe_last;
	return low < cut->nboundaries ? cut_place(cut, cut->boundaries[low] - 1) : cut->safe_last;
}

/*
 * The last key up to "most" for which the function has the result that it has for "good"; for
 * "bad", the key after it or a later one, it has another.
 */
static uint64
cut_halve(const GpbBucketCut *cut, uint64 good, uint64 bad, int64 result)
{
	while (bad - good > 1)
	{
		uint64		middle = good + (bad - good) / 2;

		if (cut_result(cut, middle) == result)
			good = middle;
		else
			bad = middle;
	}
	return good;
}

/*
 * The last key up to "most" with the result of "key", looked for from "guess" on, which is between
 * the two.
 */
static uint64
cut_search(const GpbBucketCut *cut, uint64 key, uint64 guess, uint64 most, int64 result)
{
	uint64		good = guess;
	uint64		step = 1;

	if (guess > key && cut_result(cut, guess) != result)
		return cut_halve(cut, key, guess, result);
	while (good < most)
	{
		uint64		next = good + Min(step, most - good);

		if (cut_result(cut, next) != result)
			return cut_halve(cut, good, next, result);
		good = next;
		step *= 2;
	}
	return good;
}

/* Where the key's bucket ends if all buckets are as wide as the last one; at most "most" */
static uint64
cut_guess(const GpbBucketCut *cut, uint64 key, uint64 most)
{
	uint64		past;

	if (cut->width == 0 || key <= cut->bucket_end)
		return key;
	past = (key - cut->bucket_end) % cut->width;
	if (past == 0)
		return key;
	return key + Min(cut->width - past, most - key);
}

/*
 * The end of a safe key's bucket, at most "most".  Learns how wide buckets are: from the last one
 * if there is nothing between the two, else from the next one.
 */
static uint64
cut_bucket_end(GpbBucketCut *cut, uint64 key, uint64 most, int64 result)
{
	uint64		guess = cut_guess(cut, key, most);
	uint64		end = cut_search(cut, key, guess, most, result);

	if (end == most)
		return end;
	if (cut->width == 0)
	{
		uint64		next = cut_search(cut, end + 1, end + 1, most,
									  cut_result(cut, end + 1));

		if (next < most)
			cut->width = next - end;
	}
	else if (end != guess && cut_result(cut, cut->bucket_end + 1) == result)
		cut->width = end - cut->bucket_end;
	cut->bucket_end = end;
	return end;
}

/*
 * The next key outside the safe interval that has an entry, as a range; false if there are no more.
 */
static bool
cut_next_unsafe(GpbBucketCut *cut, GpbKeyRange *keys, GpbBucketRange *range)
{
	uint64		key;

	if (!cut_first(cut, cut->next, &key) ||
		(cut_is_safe(cut, key) &&
		 (cut->safe_last >= cut->end || !cut_first(cut, cut->safe_last + 1, &key))))
	{
		cut->done = true;
		return false;
	}
	memset(range, 0, sizeof(*range));
	range->key = cut_flip(cut, key);
	*keys = cut_keys(cut, key, key);
	cut->done = key >= cut->end;
	cut->next = key + 1;
	return true;
}

bool
gpb_cut_next(GpbBucketCut *cut, GpbKeyRange *keys, GpbBucketRange *range)
{
	uint64		entry;
	uint64		last;
	uint64		most;

	CHECK_FOR_INTERRUPTS();
	if (cut->done)
		return false;
	if (cut->mode == GPB_CUT_UNSAFE)
		return cut_next_unsafe(cut, keys, range);
	memset(range, 0, sizeof(*range));
	if (!cut_first(cut, cut->next, &entry) || entry > cut->last_entry)
	{
		last = cut->end;
		range->empty = true;
	}
	else if (!cut_is_safe(cut, entry))
		last = entry;
	else
	{
		most = Min(cut->last_entry, cut->safe_last);
		if (cut->mode == GPB_CUT_SORTED && cut->nboundaries > 0)
			most = Min(most, cut_piece_end(cut, entry));
		range->known = true;
		range->result = cut_result(cut, entry);
		last = cut_bucket_end(cut, entry, most, range->result);
		range->complete = cut->mode == GPB_CUT_IN_ORDER;
	}
	if (!range->empty)
		range->key = cut_flip(cut, entry);
	*keys = cut_keys(cut, cut->next, last);
	cut->done = last >= cut->end;
	cut->next = last + 1;
	return true;
}
