/*-------------------------------------------------------------------------
 *
 * batch_cells.c
 *	  What the CPU engine does with cells of leaves (rule M14).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "engine/batch_cells.h"
#include "engine/value_cells.h"

/* Let the cells of leaves to come be prefetched, where these are not one after the other. */
static void
ask_ahead(GpbCellReader *cells, GpbWalk *walk, const GpbCellLink *link)
{
	if (gpb_cells_want_ahead(cells))
		gpb_cells_set_ahead(cells, gpb_walk_leaves_ahead(walk, link->low, cells->ahead,
														 GPB_CELL_AHEAD));
}

/* Add what cells have to the answer of a range. */
static void
add_to_range(GpbBatch *batch, const GpbCellReader *cells, const GpbCellTotal *total,
			 uint32 number)
{
	if (total->values.leaves > 0)
		gpb_leaf_values_evaluate(cells, &total->values, number);
	if (total->entries > 0)
		gpb_cells_total_add(cells, total, gpb_batch_answer(batch, number));
}

/*
 * Add what the cells of n leaves have to the answers of the ranges that the walk is in.  Each range
 * counts their entries, in the statistics too; those that are put through a program it counts, and
 * those of leaves of which none passes are none.
 */
static void
add_cells(GpbBatch *batch, const GpbCellReader *cells, const GpbWalk *walk,
		  const GpbCellTotal *total)
{
	uint32		active = gpb_walk_active(walk);
	uint32		i;

	for (i = 0; i < active; i++)
		add_to_range(batch, cells, total, gpb_walk_active_number(walk, i));
	pgstat_count_index_tuples(batch->index, (total->entries + total->values.entries) * active);
	batch->counters.matches += total->entries * active;
	batch->counters.cells_none += total->none;
}

/*
 * Count why the leaf to which the walk goes next is visited.  Where cells are not asked, that is
 * for what leaves before were like, or else since others are to record the leaf.
 */
static inline void
count_miss(GpbBatch *batch, const GpbCellReader *cells, BlockNumber block)
{
	if (cells->missed == block)
		batch->counters.cell_misses[cells->miss]++;
	else if (cells->missed == InvalidBlockNumber)
		batch->counters.cell_misses[cells->pauses > 0 ? cells->failed : GPB_CELL_ABSENT]++;
}

void
gpb_batch_pass_leaves(GpbBatch *batch, GpbCellReader *cells, GpbWalk *walk, const GpbWalkLink *at,
					  GpbVisibility *visibility, GpbSettledReader *settled)
{
	uint64		hits = settled->hits;
	GpbCellLink link = {.block = at->block, .low = at->low, .end = at->end};
	GpbCellTotal total;
	int			n = 0;
	int			passed;

	if (!gpb_cells_prepare(cells))
	{
		batch->counters.no_cells = batch->program.list_entries ? NULL : cells->why_not;
		return;
	}
	gpb_cells_total_init(cells, &total);
	do
	{
		CHECK_FOR_INTERRUPTS();
		ask_ahead(cells, walk, &link);
		passed = gpb_cells_pass(cells, visibility, settled, GPB_CELL_STEP, &link, &total);
		n += passed;
		if (gpb_cells_total_is_full(&total))
		{
			add_cells(batch, cells, walk, &total);
			gpb_cells_total_init(cells, &total);
		}
	} while (passed > 0 && cells->missed != link.block && gpb_bound_less(link.low, link.end));
	batch->counters.settled_pages += settled->hits - hits;
	count_miss(batch, cells, link.block);
	if (n == 0)
		return;
	add_cells(batch, cells, walk, &total);
	batch->counters.cells += n;
	gpb_walk_passed(walk, link.from, link.buffer, link.block, link.low);
}

/* Do all hits have all entries of the leaf? */
static bool
hits_are_whole(const char *page, const GpbWalkHit *hits, int nhits)
{
	int			count = gpb_page_count(page);
	int			i;

	for (i = 0; i < nhits; i++)
	{
		if (hits[i].from > 0 || hits[i].to < count)
			return false;
	}
	return true;
}

bool
gpb_batch_record_leaf(GpbBatch *batch, GpbCellReader *cells, Buffer buffer, const GpbWalkHit *hits,
					  int nhits)
{
	const char *page = BufferGetPage(buffer);
	GpbCellTotal total;
	int			i;

	if (!cells->eligible || cells->filters ||
		!gpb_cells_wanted(cells, BufferGetBlockNumber(buffer)) ||
		gpb_page_special(page)->right == GPB_NO_BLOCK || !hits_are_whole(page, hits, nhits))
		return false;
	gpb_cells_total_init(cells, &total);
	if (!gpb_cells_record(cells, buffer, &total))
		return false;
	for (i = 0; i < nhits; i++)
		add_to_range(batch, cells, &total, hits[i].number);
	batch->counters.cells_recorded++;
	return true;
}

bool
gpb_batch_none_passes(GpbBatch *batch, GpbCellReader *cells, Buffer buffer)
{
	const GpbPageSpecial *special = gpb_page_special(BufferGetPage(buffer));
	uint64		turn = cells->turn;
	GpbZoneVerdict verdict;

	if (cells->zone == NULL || !gpb_cells_wanted(cells, BufferGetBlockNumber(buffer)) ||
		special->right == GPB_NO_BLOCK || (special->flags & GPB_PAGE_HAS_DEAD) != 0)
		return false;
	verdict = gpb_cells_record_zone(cells, buffer);
	batch->counters.cells_recorded += cells->turn != turn;
	return verdict == GPB_ZONE_NONE;
}
