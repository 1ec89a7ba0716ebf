/*-------------------------------------------------------------------------
 *
 * layout.h
 *	  The bytes of a gpubtree page, and the arithmetic on them.
 *
 * Plain C, free of PostgreSQL headers, accepted by the C compiler and by nvcc: the access method,
 * the host device and the CUDA kernels all read pages through the functions below, so there is one
 * definition of what a page means.  Formats and limits are in layout_format.h, keys and bounds in
 * layout_key.h; whoever includes this file has these too.
 *
 * A page, inner or leaf, is two arrays that grow toward each other, so that
 * the free space stays one hole between pd_lower and pd_upper:
 *
 *	 +--------------+-----------------+--------+-----------------+---------+
 *	 | page header  | key 0, key 1 ...|  hole  | ... row 1, row 0| special |
 *	 +--------------+-----------------+--------+-----------------+---------+
 *	 0              24                pd_lower pd_upper          pd_special
 *
 * Entry i is key i together with row i.  A key is a normalized key: an unsigned
 * integer of 4, 8 or 16 bytes whose integer order is the index's order (type,
 * ASC/DESC and NULLS FIRST/LAST included).  Keys of 16 bytes are the wide ones; where
 * they are, the upper halves of the page's high key and of its low bound come before them
 * (gpb_key_place).  A row starts with the 8-byte
 * locator; on a leaf the INCLUDE values follow, on an inner page the child's
 * block number.  An inner entry (key, tie, child) says: child holds entries
 * at or after (key, tie).  The first entry of the leftmost inner page of a
 * level is (0, 0), which is below every real entry.
 *
 * A leaf whose rows are bare locators may have runs instead, which its row width says.  Then each
 * key is there once, and behind the keys lies for each of them, in two bytes, the number of the
 * entry where its run ends.  A row is a short locator of six bytes:
 *
 *	 +--------------+-----------------+----------------+--------+-----------------+---------+
 *	 | page header  | key 0, key 1 ...| end 0, end 1 ..|  hole  | ... row 1, row 0| special |
 *	 +--------------+-----------------+----------------+--------+-----------------+---------+
 *
 * Entry i is row i, and the key of the first run that ends behind i.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LAYOUT_H
#define GPB_LAYOUT_H

#include "layout_key.h"

/* ---- page access; "page" is the address of GPB_PAGE_SIZE bytes ---- */

GPB_FN const GpbPageSpecial *
gpb_page_special(const void *page)
{
	return (const GpbPageSpecial *) ((const char *) page + GPB_SPECIAL_OFFSET);
}

GPB_FN uint16
gpb_page_u16(const void *page, int offset)
{
	return *(const uint16 *) ((const char *) page + offset);
}

/* The bytes between a page's header and its first key */
GPB_FN int
gpb_key_halves(int key_width)
{
	return gpb_is_wide(key_width) ? GPB_WIDE_HALVES : 0;
}

/* The offset of key i in a page. */
GPB_FN int
gpb_key_place(int key_width, int i)
{
	return GPB_PAGE_HEADER + gpb_key_halves(key_width) + i * key_width;
}

/*
 * What looks at leaves is compiled for a GPU with GPB_CUDA_RUNS, for indexes some of whose leaves
 * have runs, and without: those kernels know that none has (cuda/forms.cuh).
 */
#if defined(__CUDACC__) && !defined(GPB_CUDA_RUNS)
#define GPB_MAY_HAVE_RUNS	false
#else
#define GPB_MAY_HAVE_RUNS	true
#endif

/* Has a page with rows of this width runs? */
GPB_FN bool
gpb_has_runs(int row_width)
{
	return GPB_MAY_HAVE_RUNS && row_width == GPB_RUN_ROW_WIDTH;
}

/* The width of a page's rows, which says whether it has runs */
GPB_FN int
gpb_page_row_width(const void *page)
{
	return gpb_page_special(page)->row_width;
}

/* The number of keys on a leaf that has runs.  The page must be sound. */
GPB_FN int
gpb_page_runs(const void *page, int key_width)
{
	int			used = gpb_page_u16(page, GPB_PD_LOWER) - gpb_key_place(key_width, 0);

	return gpb_is_wide(key_width) ? used / (GPB_WIDE_KEY + GPB_RUN_END_WIDTH) :
		key_width == 8 ? used / (8 + GPB_RUN_END_WIDTH) : used / (4 + GPB_RUN_END_WIDTH);
}

/* The number of entries on the page, from the ends of its hole.  It must be a sound tree page. */
GPB_FN int
gpb_page_count(const void *page)
{
	int			key_width = gpb_page_special(page)->key_width;

	if (gpb_has_runs(gpb_page_row_width(page)))
		return (GPB_SPECIAL_OFFSET - gpb_page_u16(page, GPB_PD_UPPER)) / GPB_RUN_ROW_WIDTH;
	return (gpb_page_u16(page, GPB_PD_LOWER) - gpb_key_place(key_width, 0)) / key_width;
}

/* The largest number of entries of these widths that fit a page that has no runs. */
GPB_FN int
gpb_page_capacity(int key_width, int row_width)
{
	return (GPB_PAGE_SPACE - (key_width == GPB_WIDE_KEY ? GPB_WIDE_HALVES : 0)) /
		(key_width + row_width);
}

/* A key that lies at this address, as on a page. */
GPB_FN GpbKey
gpb_load_key(const char *p, int key_width)
{
	if (gpb_is_wide(key_width))
		return gpb_key_of_halves(((const uint64 *) p)[0], ((const uint64 *) p)[1]);
	return key_width == 8 ? *(const uint64 *) p : *(const uint32 *) p;
}

/* Key number i of a page, which is that of entry i unless the page has runs. */
GPB_FN GpbKey
gpb_page_key(const void *page, int key_width, int i)
{
	return gpb_load_key((const char *) page + gpb_key_place(key_width, i), key_width);
}

/* The row of entry i of a page. */
GPB_FN const char *
gpb_page_row(const void *page, int row_width, int i)
{
	return (const char *) page + GPB_SPECIAL_OFFSET - (i + 1) * row_width;
}

/*
 * Load 64 bits from an address that is only 4-byte aligned.  Of two words not every compiler makes
 * one load, where there is one; a GPU has none.
 */
GPB_FN uint64
gpb_load64(const void *p)
{
#ifdef __CUDACC__
	const uint32 *w = (const uint32 *) p;

	return (uint64) w[0] | ((uint64) w[1] << 32);
#else
	uint64		bits;

	memcpy(&bits, p, sizeof(bits));
	return bits;
#endif
}

GPB_FN uint64
gpb_row_locator(const char *row)
{
	return gpb_load64(row);
}

/* The locator of which this is the short one, in its lower 48 bits */
GPB_FN uint64
gpb_locator_of_short(uint64 bits)
{
	return (bits & GPB_TID_MASK & ~GPB_SHORT_FLAGS) | (bits & GPB_SHORT_FLAGS) << GPB_SHORT_SHIFT;
}

/* The short locator of a locator, whose offset number must be below GPB_SHORT_OFFSETS */
GPB_FN uint64
gpb_short_of_locator(uint64 locator)
{
	return (locator & GPB_TID_MASK) | (locator >> GPB_SHORT_SHIFT & GPB_SHORT_FLAGS);
}

/*
 * The bits of a short locator, lowest; what is above them is of its neighbour, or of the special
 * space.
 */
GPB_FN uint64
gpb_load_short(const char *row)
{
#ifdef __CUDACC__
	uint64		at = (uint64) row;

	/* Words lie at multiples of 4, and two of them have it. */
	return gpb_load64((const void *) (at & ~(uint64) 3)) >> (at & 2) * 8;
#else
	uint64		bits;

	memcpy(&bits, row, sizeof(bits));
	return bits;
#endif
}

/* The locator in a row as it lies on a page with rows of this width */
GPB_FN uint64
gpb_stored_locator(const char *row, int row_width)
{
	return gpb_has_runs(row_width) ? gpb_locator_of_short(gpb_load_short(row)) :
		gpb_row_locator(row);
}

/* The locator of entry i of a page. */
GPB_FN uint64
gpb_page_locator(const void *page, int row_width, int i)
{
	return gpb_stored_locator(gpb_page_row(page, row_width, i), row_width);
}

/* The child's block number, from a row of an inner page. */
GPB_FN uint32
gpb_row_child(const char *row)
{
	return *(const uint32 *) (row + GPB_LOCATOR_WIDTH);
}

GPB_FN uint32
gpb_locator_block(uint64 locator)
{
	return (uint32) (locator >> 16);
}

GPB_FN uint16
gpb_locator_offset(uint64 locator)
{
	return (uint16) locator;
}

/* Is the key NULL of the entry that has this locator? */
GPB_FN bool
gpb_locator_is_null(uint64 locator, int layout_flags)
{
	bool		bit = (locator & GPB_LOC_ORDER_BIT) != 0;

	return bit != ((layout_flags & GPB_LAYOUT_NULLS_FIRST) != 0);
}

/* Is INCLUDE column number "column", counted from 0, NULL in the entry that has this locator? */
GPB_FN bool
gpb_locator_column_is_null(uint64 locator, int column)
{
	return (locator >> (GPB_LOC_NULL_SHIFT + column)) & 1;
}

/*
 * ---- runs ----
 *
 * Only the end of a leaf's last run is known to be right (gpb_page_fault()), so whoever takes other
 * ends for numbers of entries limits them to the number that there are.
 */

/* The ends of a leaf's runs */
GPB_FN const uint16 *
gpb_run_ends(const void *page, int key_width, int nruns)
{
	return (const uint16 *) ((const char *) page + gpb_key_place(key_width, nruns));
}

/* The number of the entry where run r of a leaf begins, for r up to the number of runs */
GPB_FN int
gpb_run_begin(const uint16 *ends, int r, int count)
{
	int			begin = r == 0 ? 0 : ends[r - 1];

	return begin < count ? begin : count;
}

/* The run of entry i: the first of n that ends behind it, or the last one; n is not 0. */
GPB_FN int
gpb_run_of(const uint16 *ends, int n, int i)
{
	int			base = 0;

	while (n > 1)
	{
		int			half = n / 2;

		base += ends[base + half - 1] <= i ? half : 0;
		n -= half;
	}
	return base;
}

/* The number of keys that a sound page has */
GPB_FN int
gpb_page_keys(const void *page, int key_width)
{
	return gpb_has_runs(gpb_page_row_width(page)) ? gpb_page_runs(page, key_width) :
		gpb_page_count(page);
}

/* The first entry that has key number i, or the number of all if there is no such key */
GPB_FN int
gpb_key_position(const void *page, int key_width, int i)
{
	return gpb_has_runs(gpb_page_row_width(page)) ?
		gpb_run_begin(gpb_run_ends(page, key_width, gpb_page_runs(page, key_width)), i,
					  gpb_page_count(page)) : i;
}

/* The run of entry i, looked for from that of an entry before it: in doubling steps, then halves */
GPB_FN int
gpb_run_from(const uint16 *ends, int n, int run, int i)
{
	int			last = n - 1;
	int			high = run;
	int			step = 1;

	while (high < last && ends[high] <= i)
	{
		run = high + 1;
		high += step;
		step *= 2;
	}
	high = high < last ? high : last;
	while (run < high)
	{
		int			mid = (run + high) / 2;

		if (ends[mid] <= i)
			run = mid + 1;
		else
			high = mid;
	}
	return run;
}

/* The key of entry i of a page, which has rows of this width. */
GPB_FN GpbKey
gpb_leaf_key(const void *page, int key_width, int row_width, int i)
{
	if (gpb_has_runs(row_width))
	{
		int			nruns = gpb_page_runs(page, key_width);

		i = gpb_run_of(gpb_run_ends(page, key_width, nruns), nruns, i);
	}
	return gpb_page_key(page, key_width, i);
}

/*
 * Reads the keys of entries in ascending order.  On a page that has no runs it is the page alone.
 */
typedef struct GpbKeyReader
{
	const char *page;
	const uint16 *ends;
	int			last;			/* number of the last run */
	int			run;			/* of the entry that was read last */
	int			end;			/* where the run ends */
} GpbKeyReader;

/* Begin to read the keys of a page's entries, from entry "first" on. */
GPB_FN GpbKeyReader
gpb_read_keys(const void *page, int key_width, int row_width, int first)
{
	GpbKeyReader reader;

	reader.page = (const char *) page;
	reader.ends = NULL;
	reader.last = reader.run = reader.end = 0;
	if (gpb_has_runs(row_width))
	{
		int			nruns = gpb_page_runs(page, key_width);

		reader.ends = gpb_run_ends(page, key_width, nruns);
		reader.last = nruns - 1;
		reader.run = nruns > 0 ? gpb_run_of(reader.ends, nruns, first) : 0;
		reader.end = nruns > 0 ? reader.ends[reader.run] : 0;
	}
	return reader;
}

/* The key of entry i, which is not before the one that was read last. */
GPB_FN GpbKey
gpb_next_key(GpbKeyReader *reader, int key_width, int row_width, int i)
{
	if (!gpb_has_runs(row_width))
		return gpb_page_key(reader->page, key_width, i);
	while (i >= reader->end && reader->run < reader->last)
		reader->end = reader->ends[++reader->run];
	return gpb_page_key(reader->page, key_width, reader->run);
}

/*
 * A row of a leaf that has runs, which is no more than its locator, spread out.  Rows are read as
 * words of 4 bytes, so it is written as such: a compiler may take an object of 8 bytes for another
 * one, and read the words before it writes them.
 */
typedef struct GpbSpreadRow
{
	uint32		word[GPB_LOCATOR_WIDTH / 4];
} GpbSpreadRow;

/*
 * The row of entry i of a page, as rows lie on a page without runs: there, or, spread out, at
 * "spread".
 */
GPB_FN const char *
gpb_spread_row(const void *page, int row_width, int i, GpbSpreadRow *spread)
{
	const char *row = gpb_page_row(page, row_width, i);
	uint64		locator;

	if (!gpb_has_runs(row_width))
		return row;
	locator = gpb_stored_locator(row, row_width);
	spread->word[0] = (uint32) locator;
	spread->word[1] = (uint32) (locator >> 32);
	return (const char *) spread->word;
}

/* The place of entry i of a page in the index's order: its key and tie. */
GPB_FN GpbBound
gpb_page_bound(const void *page, int key_width, int row_width, int i)
{
	GpbBound	b;

	b.key = gpb_leaf_key(page, key_width, row_width, i);
	b.tie = gpb_page_locator(page, row_width, i) & GPB_TIE_MASK;
	return b;
}

/* The page's upper limit: its high key, or GPB_BOUND_MAX if the page is rightmost. */
GPB_FN GpbBound
gpb_page_high(const void *page)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	GpbBound	b;

	if (special->right == GPB_NO_BLOCK)
	{
		b.key = ~(GpbKey) 0;
		b.tie = ~(uint64) 0;
		return b;
	}
	b.key = special->high_key;
	if (gpb_is_wide(special->key_width))
		b.key = gpb_key_of_halves(special->high_key,
								  *(const uint64 *) ((const char *) page + GPB_WIDE_HIGH));
	b.tie = special->high_tie;
	return b;
}

/* The bound where the page begins: GPB_BOUND_MIN if it is the leftmost of its level. */
GPB_FN GpbBound
gpb_page_low(const void *page)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	GpbBound	b;

	b.key = special->low_key;
	if (gpb_is_wide(special->key_width))
		b.key = gpb_key_of_halves(special->low_key,
								  *(const uint64 *) ((const char *) page + GPB_WIDE_LOW));
	b.tie = special->low_tie;
	return b;
}

/*
 * Find the first of the page's n keys that is not below "key"; returns its position, or n if there
 * is none.  Callers pass key_width as a constant.
 *
 * What costs here is waiting for cache lines, so each step compares with seven keys whose loads do
 * not depend on each other, instead of three times with one (the k-ary search of Schlegel et al.,
 * DaMoN 2009).  No branch depends on a key.
 *
 * Keys of 4 and 8 bytes are compared as 64 bits, which for GPB_BOUND_MAX are all set.
 */
GPB_FN int
gpb_keys_lower_bound(const void *page, int key_width, int n, GpbKey key)
{
	uint64		low = (uint64) key;
	int			base = 0;
	int			below = 0;
	int			i;

#define GPB_IS_BELOW(i) \
	(gpb_is_wide(key_width) ? gpb_page_key(page, key_width, i) < key : \
	 (uint64) gpb_page_key(page, key_width, i) < low)
	while (n > 16)
	{
		int			step = n / 8;
		int			passed = 0;

		for (i = 1; i < 8; i++)
			passed += GPB_IS_BELOW(base + i * step - 1);
		base += passed * step;
		n = passed == 7 ? n - 7 * step : step;
	}
	for (i = 0; i < n; i++)
		below += GPB_IS_BELOW(base + i);
#undef GPB_IS_BELOW
	return base + below;
}

/*
 * The number of entries of a leaf with runs, or -1 if the ends of its hole say that it is damaged.
 * The page is one of ours, with keys of this width.
 */
GPB_FN int
gpb_page_run_count(const void *page, int key_width)
{
	int			keys = gpb_key_place(key_width, 0);
	int			lower = gpb_page_u16(page, GPB_PD_LOWER);
	int			upper = gpb_page_u16(page, GPB_PD_UPPER);
	int			nruns;
	int			count;

	if (lower < keys || lower > upper || upper > GPB_SPECIAL_OFFSET)
		return -1;
	nruns = gpb_page_runs(page, key_width);
	count = (GPB_SPECIAL_OFFSET - upper) / GPB_RUN_ROW_WIDTH;
	if (lower != keys + nruns * (key_width + GPB_RUN_END_WIDTH) ||
		upper != GPB_SPECIAL_OFFSET - count * GPB_RUN_ROW_WIDTH)
		return -1;
	return gpb_run_begin(gpb_run_ends(page, key_width, nruns), nruns, count + 1) == count ?
		count : -1;
}

/* What gpb_page_leaf_count() returns for a page whose row width says that it has runs */
GPB_FN int
gpb_run_leaf_count(const void *page, int key_width, GpbBound low, GpbBound limit)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	GpbBound	begin = gpb_page_low(page);
	GpbBound	high = gpb_page_high(page);
	bool		sound = (special->page_id == GPB_PAGE_ID) &
		(special->level == 0) &
		((special->flags & (GPB_PAGE_META | GPB_PAGE_DELETED | GPB_PAGE_DICTIONARY |
							(uint16) ~GPB_PAGE_KNOWN_FLAGS)) == 0) &
		(special->key_width == key_width) &
		(begin.key == low.key) & (begin.tie == low.tie) &
		(high.key == limit.key) & (high.tie == limit.tie);

	return sound ? gpb_page_run_count(page, key_width) : -1;
}

/*
 * Return the number of entries if the page is a sound leaf of these widths that begins exactly at
 * low and ends exactly at limit, else -1 (rule M4).  All fields are read before any is tested, so
 * that on a GPU they arrive together.  A leaf of bare locators may have runs.
 */
GPB_FN int
gpb_page_leaf_count(const void *page, int key_width, int row_width, GpbBound low, GpbBound limit)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	GpbBound	begin = gpb_page_low(page);
	GpbBound	high = gpb_page_high(page);
	int			used = (int) gpb_page_u16(page, GPB_PD_LOWER) - gpb_key_place(key_width, 0);
	int			count = gpb_is_wide(key_width) ? used / GPB_WIDE_KEY :
		key_width == 8 ? used / 8 : used / 4;
	bool		sound = (special->page_id == GPB_PAGE_ID) &
		(special->level == 0) &
		((special->flags & (GPB_PAGE_META | GPB_PAGE_DELETED | GPB_PAGE_DICTIONARY |
							(uint16) ~GPB_PAGE_KNOWN_FLAGS)) == 0) &
		(special->key_width == key_width) &
		(special->row_width == row_width) &
		(used >= 0) &
		(count * key_width == used) &
		(count * (key_width + row_width) <= GPB_PAGE_SPACE - gpb_key_halves(key_width));

	if (row_width == GPB_LOCATOR_WIDTH && gpb_has_runs(special->row_width))
		return gpb_run_leaf_count(page, key_width, low, limit);
	sound &= (begin.key == low.key) & (begin.tie == low.tie);
	return (sound & (high.key == limit.key) & (high.tie == limit.tie)) ? count : -1;
}

/* Do a key of a page and a bound's agree in the bits that keys of this width have? */
GPB_FN bool
gpb_key_is_bounds(GpbKey key, int key_width, GpbBound bound)
{
	if (gpb_is_wide(key_width))
		return key == bound.key;
	return (uint64) key == (uint64) bound.key;
}

/*
 * Find the first of a leaf's entries at or after the bound, where run r is the first that is not
 * below the bound's key.
 */
GPB_FN int
gpb_run_lower_bound(const void *page, int key_width, int nruns, int count, int r, GpbBound bound)
{
	const uint16 *ends = gpb_run_ends(page, key_width, nruns);
	int			lo = gpb_run_begin(ends, r, count);

	if (r < nruns && bound.tie != 0 &&
		gpb_key_is_bounds(gpb_page_key(page, key_width, r), key_width, bound))
	{
		int			hi = gpb_run_begin(ends, r + 1, count);

		while (lo < hi)
		{
			int			mid = (lo + hi) / 2;

			if ((gpb_page_locator(page, GPB_RUN_ROW_WIDTH, mid) & GPB_TIE_MASK) < bound.tie)
				lo = mid + 1;
			else
				hi = mid;
		}
	}
	return lo;
}

/*
 * Find the first of the page's "count" entries that is at or after the bound; returns its position,
 * or count if there is none.  Rows are read, for their ties, only if the bound's key occurs on the
 * page.
 */
GPB_FN int
gpb_page_lower_bound(const void *page, int key_width, int row_width,
					 int count, GpbBound bound)
{
	int			keys = gpb_has_runs(row_width) ? gpb_page_runs(page, key_width) : count;
	int			base = key_width == 8 ?
		gpb_keys_lower_bound(page, 8, keys, bound.key) :
		gpb_is_wide(key_width) ?
		gpb_keys_lower_bound(page, GPB_WIDE_KEY, keys, bound.key) :
		gpb_keys_lower_bound(page, 4, keys, bound.key);

	if (gpb_has_runs(row_width))
		return gpb_run_lower_bound(page, key_width, keys, count, base, bound);
	if (base < count && bound.tie != 0 &&
		gpb_key_is_bounds(gpb_page_key(page, key_width, base), key_width, bound))
	{
		int			lo = base;
		int			hi = count;

		while (lo < hi)
		{
			int			mid = (lo + hi) / 2;

			if (gpb_bound_less(gpb_page_bound(page, key_width, row_width, mid), bound))
				lo = mid + 1;
			else
				hi = mid;
		}
		base = lo;
	}
	return base;
}

/* ---- values ---- */

/*
 * The value of a key as a sign-extended integer: int2, int4, int8, the days of a date, or the
 * microseconds of a timestamp.  The key must not be NULL, nor wide.
 */
GPB_FN int64
gpb_key_value(uint64 key, int key_width, int layout_flags)
{
	if (key_width == 4)
	{
		uint32		k = (uint32) key;

		if (layout_flags & GPB_LAYOUT_DESC)
			k = ~k;
		return (int64) (int32) (k ^ 0x80000000u);
	}
	if (layout_flags & GPB_LAYOUT_DESC)
		key = ~key;
	return (int64) (key ^ ((uint64) 1 << 63));
}

/*
 * A half of the value of a wide key, which must not be NULL.  The order of values is that of their
 * upper halves, and of the lower ones where these are equal, both as signed integers.
 */
GPB_FN int64
gpb_key_half(GpbKey key, int layout_flags, bool lower)
{
	return gpb_key_value(lower ? (uint64) key : gpb_key_upper(key), 8, layout_flags);
}

/* The normalized key of a value; the inverse of gpb_key_value(). */
GPB_FN uint64
gpb_key_encode(int64 value, int key_width, int layout_flags)
{
	uint64		key;

	if (key_width == 4)
	{
		uint32		k = (uint32) (int32) value ^ 0x80000000u;

		return (layout_flags & GPB_LAYOUT_DESC) ? (uint32) ~k : k;
	}
	key = (uint64) value ^ ((uint64) 1 << 63);
	return (layout_flags & GPB_LAYOUT_DESC) ? ~key : key;
}

/* A word whose order as a signed integer is that of these 8 bytes */
GPB_FN int64
gpb_bytes_word(const char *bytes)
{
	uint64		word = gpb_load64(bytes);

	word = (word & 0x00FF00FF00FF00FF) << 8 | (word >> 8 & 0x00FF00FF00FF00FF);
	word = (word & 0x0000FFFF0000FFFF) << 16 | (word >> 16 & 0x0000FFFF0000FFFF);
	return (int64) ((word << 32 | word >> 32) ^ (uint64) 1 << 63);
}

/*
 * The bits of an INCLUDE value: integers are sign-extended, a float8 has its IEEE bits.  Of a value
 * that has halves it is the upper one, or, of the kinds for that, the lower one; their order is
 * that of gpb_key_half().  The value must not be NULL.
 */
GPB_FN int64
gpb_row_value(const char *row, int offset, int kind)
{
	switch (kind)
	{
		case GPB_KIND_INT2:
			return *(const int16 *) (row + offset);
		case GPB_KIND_INT4:
			return *(const int32 *) (row + offset);
		case GPB_KIND_INT128:
			return (int64) gpb_load64(row + offset + 8);
		case GPB_KIND_INT128_LOWER:
			return (int64) (gpb_load64(row + offset) ^ (uint64) 1 << 63);
		case GPB_KIND_BYTES16:
			return gpb_bytes_word(row + offset);
		case GPB_KIND_BYTES16_LOWER:
			return gpb_bytes_word(row + offset + 8);
		default:
			return (int64) gpb_load64(row + offset);
	}
}

#endif							/* GPB_LAYOUT_H */
