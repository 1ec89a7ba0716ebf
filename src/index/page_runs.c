/*-------------------------------------------------------------------------
 *
 * page_runs.c
 *	  Changing the bytes of a leaf that has runs (layout.h), and giving runs to one.
 *
 * What page.c says of locks, WAL and critical sections holds here.  Redo calls the same functions
 * on the same bytes, so what they do depends on nothing but these.  A page whose ends are damaged
 * stays so, but nothing outside of it is touched.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "index/page_runs.h"

/* A page with runs that is being changed */
typedef struct RunPage
{
	Page		page;
	int			key_width;
	int			nruns;
	int			count;			/* entries */
} RunPage;

static inline RunPage
run_page(Page page)
{
	RunPage		runs;

	runs.page = page;
	runs.key_width = gpb_special(page)->key_width;
	runs.nruns = gpb_page_runs(page, runs.key_width);
	runs.count = gpb_page_count(page);
	return runs;
}

/* The address of the key of run r. */
static inline char *
key_place(const RunPage *runs, int r)
{
	return (char *) runs->page + gpb_key_place(runs->key_width, r);
}

/* The ends, where they lie behind so many keys */
static inline uint16 *
ends_behind(const RunPage *runs, int nruns)
{
	return (uint16 *) key_place(runs, nruns);
}

/* The address of the row of entry i. */
static inline char *
row_place(const RunPage *runs, int i)
{
	return (char *) runs->page + GPB_SPECIAL_OFFSET - (i + 1) * GPB_RUN_ROW_WIDTH;
}

/* Set both ends of the hole. */
static inline void
set_bounds(const RunPage *runs, int nruns, int count)
{
	PageHeader	header = (PageHeader) runs->page;

	header->pd_lower = gpb_key_place(runs->key_width, 0) +
		nruns * (runs->key_width + GPB_RUN_END_WIDTH);
	header->pd_upper = GPB_SPECIAL_OFFSET - count * GPB_RUN_ROW_WIDTH;
}

/* Make room for a run before run r, or behind all, which has this key and ends where it begins. */
static void
add_run(RunPage *runs, int r, GpbKey key)
{
	int			n = runs->nruns;
	uint16	   *old = ends_behind(runs, n);
	uint16	   *ends = ends_behind(runs, n + 1);
	uint16		begin = r > 0 ? old[r - 1] : 0;

	memmove(ends + r + 1, old + r, (n - r) * sizeof(uint16));
	memmove(ends, old, r * sizeof(uint16));
	memmove(key_place(runs, r + 1), key_place(runs, r), (n - r) * runs->key_width);
	/* Keys lie in memory with their low bytes first. */
	memcpy(key_place(runs, r), &key, runs->key_width);
	ends[r] = begin;
	runs->nruns++;
}

void
gpb_runs_insert(Page page, int position, const void *key_bytes, const void *row)
{
	RunPage		runs = run_page(page);
	char	   *last_row = row_place(&runs, runs.count - 1);
	GpbKey		key = 0;
	uint64		locator;
	uint16	   *ends;
	int			r;

	Assert(position >= 0 && position <= runs.count);
	memcpy(&key, key_bytes, runs.key_width);
	memcpy(&locator, row, sizeof(locator));
	Assert(gpb_locator_offset(locator) < GPB_SHORT_OFFSETS);

	r = gpb_keys_lower_bound(page, runs.key_width, runs.nruns, key);
	if (r == runs.nruns || gpb_page_key(page, runs.key_width, r) != key)
		add_run(&runs, r, key);
	ends = ends_behind(&runs, runs.nruns);
	for (; r < runs.nruns; r++)
		ends[r]++;

	memmove(last_row - GPB_RUN_ROW_WIDTH, last_row,
			(runs.count - position) * GPB_RUN_ROW_WIDTH);
	gpb_put_short_row(row_place(&runs, position), locator);
	set_bounds(&runs, runs.nruns, runs.count + 1);
}

void
gpb_runs_truncate(Page page, int n)
{
	RunPage		runs = run_page(page);
	const uint16 *ends = ends_behind(&runs, runs.nruns);
	int			kept = 0;

	Assert(n >= 0 && n <= runs.count);
	if (n > 0)
	{
		kept = gpb_run_of(ends, runs.nruns, n - 1) + 1;
		memmove(ends_behind(&runs, kept), ends, kept * sizeof(uint16));
		ends_behind(&runs, kept)[kept - 1] = n;
	}
	set_bounds(&runs, kept, n);
}

/*
 * Take the entries at n ascending positions out of the ends, and the keys of runs that have no
 * entry left.  Returns the number of those that stay.
 */
static int
shrink_runs(const RunPage *runs, const uint16 *positions, int n)
{
	uint16	   *ends = ends_behind(runs, runs->nruns);
	int			removed = 0;
	int			before = 0;
	int			kept = 0;

	for (int r = 0; r < runs->nruns; r++)
	{
		while (removed < n && positions[removed] < ends[r])
			removed++;
		if (ends[r] - removed <= before)
			continue;
		before = ends[r] - removed;
		ends[kept] = before;
		if (kept < r)
			memcpy(key_place(runs, kept), key_place(runs, r), runs->key_width);
		kept++;
	}
	memmove(ends_behind(runs, kept), ends, kept * sizeof(uint16));
	return kept;
}

void
gpb_runs_delete(Page page, const uint16 *positions, int n)
{
	RunPage		runs = run_page(page);
	int			kept = positions[0];

	for (int i = 0; i < n; i++)
	{
		int			from = positions[i] + 1;
		int			to = i + 1 < n ? positions[i + 1] : runs.count;

		Assert(from <= to);
		kept += to - from;
		memmove(row_place(&runs, kept - 1), row_place(&runs, to - 1),
				(to - from) * GPB_RUN_ROW_WIDTH);
	}
	set_bounds(&runs, shrink_runs(&runs, positions, n), kept);
}

void
gpb_runs_append(Page target, Page source, int from, int to)
{
	RunPage		source_runs = run_page(source);
	RunPage		runs = run_page(target);
	const uint16 *ends = ends_behind(&source_runs, source_runs.nruns);
	uint16	   *into;
	int			first;

	Assert(runs.count == 0 && from <= to && to <= source_runs.count);
	if (from == to)
		return;
	first = gpb_run_of(ends, source_runs.nruns, from);
	runs.nruns = gpb_run_of(ends, source_runs.nruns, to - 1) + 1 - first;
	into = ends_behind(&runs, runs.nruns);
	memcpy(key_place(&runs, 0), key_place(&source_runs, first), runs.nruns * runs.key_width);
	for (int r = 0; r < runs.nruns; r++)
		into[r] = Min(ends[first + r], to) - from;
	memcpy(row_place(&runs, to - from - 1), row_place(&source_runs, to - 1),
		   (to - from) * GPB_RUN_ROW_WIDTH);
	set_bounds(&runs, runs.nruns, to - from);
}

bool
gpb_runs_ascend(Page page)
{
	int			key_width = gpb_special(page)->key_width;
	int			n = gpb_page_runs(page, key_width);
	const uint16 *ends = gpb_run_ends(page, key_width, n);

	for (int r = 1; r < n; r++)
	{
		if (ends[r] <= ends[r - 1] ||
			gpb_page_key(page, key_width, r) <= gpb_page_key(page, key_width, r - 1))
			return false;
	}
	return n == 0 || ends[0] > 0;
}

/* ---- giving runs to a leaf ---- */

bool
gpb_runs_pay(Page page)
{
	const GpbPageSpecial *special = gpb_special(page);
	int			key_width = special->key_width;
	int			count = gpb_page_count(page);
	int			runs = 0;

	if (special->level > 0 || special->row_width != GPB_LOCATOR_WIDTH)
		return false;
	for (int i = 0; i < count; i++)
	{
		runs += i == 0 ||
			gpb_page_key(page, key_width, i) != gpb_page_key(page, key_width, i - 1);
		if (gpb_locator_offset(gpb_page_locator(page, GPB_LOCATOR_WIDTH, i)) >= GPB_SHORT_OFFSETS)
			return false;
	}
	return gpb_runs_are_shorter(key_width, runs, count);
}

void
gpb_page_give_runs(Page page)
{
	GpbPageSpecial *special = gpb_special(page);
	uint16		ends[GPB_MAX_PLAIN_ENTRIES];
	RunPage		runs;

	Assert(special->level == 0 && special->row_width == GPB_LOCATOR_WIDTH);
	runs.page = page;
	runs.key_width = special->key_width;
	runs.nruns = 0;
	runs.count = gpb_page_count(page);

	/* A key moves to a lower place, and a row to a higher one, so none is lost. */
	for (int i = 0; i < runs.count; i++)
	{
		uint64		locator = gpb_page_locator(page, GPB_LOCATOR_WIDTH, i);
		GpbKey		key = gpb_page_key(page, runs.key_width, i);

		if (i == 0 || key != gpb_page_key(page, runs.key_width, runs.nruns - 1))
		{
			memcpy(key_place(&runs, runs.nruns), &key, runs.key_width);
			runs.nruns++;
		}
		ends[runs.nruns - 1] = i + 1;
		gpb_put_short_row(row_place(&runs, i), locator);
	}
	memcpy(ends_behind(&runs, runs.nruns), ends, runs.nruns * sizeof(uint16));
	special->row_width = GPB_RUN_ROW_WIDTH;
	set_bounds(&runs, runs.nruns, runs.count);
}
