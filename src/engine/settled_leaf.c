/*-------------------------------------------------------------------------
 *
 * settled_leaf.c
 *	  Which entries of a leaf are on heap pages that are known to be settled?  (rule M11)
 *
 * Neighbouring entries that are on one heap page, a run, need one look.  A look waits for memory
 * three times: for the cell, then for the buffer's header and for the page's; so both steps are
 * taken ahead for runs to come.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/settled_leaf.h"
#include "leaf_aggregate.h"

/* Number of runs that a look is preceded by its prefetches */
#define CELL_AHEAD		24
#define PAGE_AHEAD		12

/* Entries [first, end), of those that are looked for, which are on one heap page */
typedef struct LeafRun
{
	BlockNumber block;
	uint16		first;
	uint16		end;
} LeafRun;

static inline uint64
leaf_locator(const char *page, int row_width, int at)
{
	return gpb_row_locator(gpb_page_row(page, row_width, at));
}

/* Look at run number i of n; prefetch what the looks at later ones need. */
static inline bool
look_at_run(GpbSettledReader *reader, const LeafRun *runs, int n, int i, GpbSettledPage *page)
{
	if (i + CELL_AHEAD < n)
		gpb_settled_prefetch(reader, runs[i + CELL_AHEAD].block);
	if (i + PAGE_AHEAD < n)
		gpb_settled_prefetch_page(reader, runs[i + PAGE_AHEAD].block);
	return gpb_settled_look(reader, runs[i].block, page);
}

int
gpb_settled_entries(GpbSettledReader *reader, const char *page, int row_width,
					uint16 *at, int n, uint8 *visible)
{
	LeafRun		runs[GPB_MAX_LEAF_ENTRIES];
	int			nruns = 0;
	int			left = 0;
	int			i;
	int			j;

	for (i = 0; i < n; i++)
	{
		BlockNumber block = gpb_locator_block(leaf_locator(page, row_width, at[i]));

		if (nruns == 0 || runs[nruns - 1].block != block)
		{
			runs[nruns].block = block;
			runs[nruns++].first = (uint16) i;
		}
		runs[nruns - 1].end = (uint16) (i + 1);
	}
	for (i = 0; i < nruns; i++)
	{
		GpbSettledPage settled;

		if (!look_at_run(reader, runs, nruns, i, &settled))
		{
			for (j = runs[i].first; j < runs[i].end; j++)
				at[left++] = at[j];
			continue;
		}
		for (j = runs[i].first; j < runs[i].end; j++)
			visible[at[j]] =
				gpb_settled_sees(&settled,
								 gpb_locator_offset(leaf_locator(page, row_width, at[j]))) ?
				GPB_ENTRY_SEEN : GPB_ENTRY_UNSEEN;
	}
	return left;
}

/* Does the page say of all entries of a run, which lie at [first, end) of a leaf, that they are seen? */
static inline bool
run_seen(const GpbSettledPage *settled, const char *page, int row_width, const LeafRun *run)
{
	int			at;

	for (at = run->first; settled->nunseen > 0 && at < run->end; at++)
	{
		if (!gpb_settled_sees(settled, gpb_locator_offset(leaf_locator(page, row_width, at))))
			return false;
	}
	return true;
}

bool
gpb_settled_all_seen(GpbSettledReader *reader, const GpbVisibility *visibility,
					 const char *page, int row_width, int from, int to)
{
	LeafRun		runs[GPB_MAX_LEAF_ENTRIES];
	int			nruns = 0;
	int			at = from;
	int			i;

	while (at < to)
	{
		BlockNumber block = gpb_locator_block(leaf_locator(page, row_width, at));
		LeafRun    *run = &runs[nruns];

		run->block = block;
		run->first = (uint16) at;
		do
			at++;
		while (at < to && gpb_locator_block(leaf_locator(page, row_width, at)) == block);
		run->end = (uint16) at;
		nruns += !gpb_visibility_all_pinned(visibility, page, row_width, run->first,
											run->first + 1);
	}
	for (i = 0; i < nruns; i++)
	{
		GpbSettledPage settled;

		if (!look_at_run(reader, runs, nruns, i, &settled) ||
			!run_seen(&settled, page, row_width, &runs[i]))
			return false;
	}
	return true;
}
