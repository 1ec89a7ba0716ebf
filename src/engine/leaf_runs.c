/*-------------------------------------------------------------------------
 *
 * leaf_runs.c
 *	  Runs: neighbouring entries of a leaf that are on one heap page (rules M5 and M11).
 *
 * A look at a settled page waits for memory three times: for the cell, then for the buffer's header
 * and for the page's.  So both steps are taken ahead for runs to come.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "port/atomics.h"

#include "engine/leaf_runs.h"

/*
 * Number of runs whose prefetches are made together.  A look takes a lock, and so waits for what
 * went before; many prefetches in a row wait for each other less.
 */
#define LOOK_GROUP		16

/* Find the runs for gpb_leaf_runs(); GPB_RUN_ROW_WIDTH is given as a constant. */
static pg_attribute_always_inline int
find_runs(const char *page, int row_width, int from, int to, uint64 dead, GpbLeafRun *runs, int n)
{
	const char *row = gpb_page_row(page, row_width, from);
	GpbLeafRun *run = &runs[n] - 1;
	BlockNumber last = InvalidBlockNumber;
	int			at;

	for (at = from; at < to; at++, row -= row_width)
	{
		uint64		locator = gpb_stored_locator(row, row_width);
		BlockNumber block = gpb_locator_block(locator);

		if ((locator & dead) != 0)
		{
			last = InvalidBlockNumber;
			continue;
		}
		if (block != last)
		{
			run++;
			run->block = block;
			run->first = (uint16) at;
			last = block;
		}
		run->end = (uint16) (at + 1);
	}
	return (int) (run + 1 - runs);
}

int
gpb_leaf_runs(const char *page, int row_width, int from, int to, uint64 dead, GpbLeafRun *runs,
			  int n)
{
	return gpb_has_runs(row_width) ?
		find_runs(page, GPB_RUN_ROW_WIDTH, from, to, dead, runs, n) :
		find_runs(page, row_width, from, to, dead, runs, n);
}

/* Runs are so short, on average, that the map is read entry by entry */
#define SHORT_RUN		4

/*
 * Read the visibility map for all entries of the runs, those of adjacent runs at a time.  What lies
 * between other runs was not copied perhaps.
 */
static void
read_adjacent(GpbVisibility *visibility, const char *page, int row_width, const GpbLeafRun *runs,
			  int n, uint8 *visible)
{
	int			i = 0;

	while (i < n)
	{
		int			first = runs[i].first;

		while (i + 1 < n && runs[i + 1].first == runs[i].end)
			i++;
		gpb_visibility_read(visibility, page, row_width, first, runs[i].end, visible + first);
		i++;
	}
}

int
gpb_runs_visible(GpbVisibility *visibility, const char *page, int row_width, GpbLeafRun *runs,
				 int n, uint8 *visible)
{
	int			left = 0;
	int			i;

	if (n == 0)
		return 0;
	if (runs[n - 1].end - runs[0].first < SHORT_RUN * n)
	{
		read_adjacent(visibility, page, row_width, runs, n, visible);
		for (i = 0; i < n; i++)
		{
			/* No branch, since none could be foretold where bits are set at random. */
			runs[left] = runs[i];
			left += visible[runs[i].first] == GPB_ENTRY_UNKNOWN;
		}
		return left;
	}
	for (i = 0; i < n; i++)
	{
		const GpbLeafRun *run = &runs[i];
		uint8		state;

		gpb_visibility_read(visibility, page, row_width, run->first, run->first + 1, &state);
		memset(visible + run->first, state, run->end - run->first);
		if (state == GPB_ENTRY_UNKNOWN)
			runs[left++] = *run;
	}
	return left;
}

/* Prefetch, on coming to the first run of a group, what the looks at later groups need. */
static inline void
prefetch_groups(const GpbSettledReader *reader, const GpbLeafRun *runs, int n, int at)
{
	int			cells = at == 0 ? 0 : at + 2 * LOOK_GROUP;
	int			pages = at == 0 ? 0 : at + LOOK_GROUP;
	int			i;

	for (i = cells; i < Min(at + 3 * LOOK_GROUP, n); i++)
		gpb_settled_prefetch(reader, runs[i].block);
	for (i = pages; i < Min(at + 2 * LOOK_GROUP, n); i++)
		gpb_settled_prefetch_page(reader, runs[i].block);
}

/* Look at run number i of n. */
static inline bool
look_at_run(GpbSettledReader *reader, const GpbLeafRun *runs, int n, int i, GpbSettledPage *page)
{
	if (i % LOOK_GROUP == 0)
		prefetch_groups(reader, runs, n, i);
	return gpb_settled_look(reader, runs[i].block, page);
}

static inline OffsetNumber
leaf_offset(const char *page, int row_width, int at)
{
	return gpb_locator_offset(gpb_page_locator(page, row_width, at));
}

/* Set visible[] for the entries of a run on a settled page. */
static inline void
settle_run(GpbSettledReader *reader, const GpbSettledPage *settled, const char *page,
		   int row_width, const GpbLeafRun *run, uint8 *visible)
{
	int			at;

	memset(visible + run->first, GPB_ENTRY_SEEN, run->end - run->first);
	if (gpb_settled_sees_all(settled))
		return;
	for (at = run->first; at < run->end; at++)
	{
		if (gpb_settled_sees(settled, leaf_offset(page, row_width, at)))
			continue;
		visible[at] = GPB_ENTRY_UNSEEN;
		reader->unseen++;
	}
}

int
gpb_runs_settled(GpbSettledReader *reader, const char *page, int row_width, GpbLeafRun *runs,
				 int n, uint8 *visible)
{
	int			left = 0;
	int			i;

	pg_read_barrier();			/* the entries were read before */
	for (i = 0; i < n; i++)
	{
		GpbSettledPage settled;

		if (look_at_run(reader, runs, n, i, &settled))
			settle_run(reader, &settled, page, row_width, &runs[i], visible);
		else
			runs[left++] = runs[i];
	}
	return left;
}

/* Does a settled page show that the snapshot sees all entries of a run? */
static inline bool
run_seen(const GpbSettledPage *settled, const char *page, int row_width, const GpbLeafRun *run)
{
	int			at;

	if (gpb_settled_sees_all(settled))
		return true;
	for (at = run->first; at < run->end; at++)
	{
		if (!gpb_settled_sees(settled, leaf_offset(page, row_width, at)))
			return false;
	}
	return true;
}

bool
gpb_runs_all_seen(GpbSettledReader *reader, const GpbVisibility *visibility, const char *page,
				  int row_width, GpbLeafRun *runs, int n)
{
	int			left = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (!gpb_visibility_all_pinned(visibility, page, row_width, runs[i].first,
									   runs[i].first + 1, NULL))
			runs[left++] = runs[i];
	}
	pg_read_barrier();			/* the entries were read before */
	for (i = 0; i < left; i++)
	{
		GpbSettledPage settled;

		if (!look_at_run(reader, runs, left, i, &settled) ||
			!run_seen(&settled, page, row_width, &runs[i]))
			return false;
	}
	return true;
}
