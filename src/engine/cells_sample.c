/*-------------------------------------------------------------------------
 *
 * cells_sample.c
 *	  What part of a run's leaves the CPU would pass by, by their cells (rule M14).
 *
 * A cell tells nothing of others, so cells are tried as a walk would try them: in a few places, in
 * each up to the first leaf that could not be passed by.  A place costs a descent to level 1 and
 * some 40 ns a leaf.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "index/index.h"
#include "engine/cells_sample.h"
#include "engine/leaf_cells.h"

/* The number of places */
#define GPB_SAMPLE_PLACES	4

/* What trying leaves takes */
typedef struct CellsTrial
{
	GpbCellReader reader;
	GpbVisibility *visibility;
	GpbSettledReader settled;
	GpbCellTotal total;			/* of no use */
} CellsTrial;

/*
 * A bound within the range, at place number "place" of so many: where a child of an inner page
 * begins, on the highest level where the range has enough of them as a whole.
 */
static GpbBound
place_within(const GpbBatch *batch, GpbRange range, uint32 place)
{
	const GpbLayout *layout = &batch->program.layout;
	GpbBound	bound = range.lo;
	uint32		level;

	for (level = gpb_least_height(batch->index, layout); level > 0; level--)
	{
		Buffer		buffer = gpb_search_level(batch->index, layout, range.lo, level,
											  BUFFER_LOCK_SHARE);
		Page		page = BufferGetPage(buffer);
		int			first = gpb_child_position(layout, page, range.lo);
		int			last = gpb_page_covers(page, range.hi) ?
			gpb_child_position(layout, page, range.hi) : gpb_page_count(page) - 1;
		int			whole = last - first - 1;
		GpbRange	child;

		if (whole >= GPB_SAMPLE_PLACES)
		{
			(void) gpb_child_at(batch->index, layout, BufferGetBlockNumber(buffer), page,
								first + 1 + whole * (int) place / GPB_SAMPLE_PLACES, &child);
			bound = child.lo;
		}
		UnlockReleaseBuffer(buffer);
		if (whole >= GPB_SAMPLE_PLACES)
			break;
	}
	return bound;
}

/* Try the leaves from the one that covers the bound on, and add what is found to the sample. */
static void
try_leaves(const GpbBatch *batch, CellsTrial *trial, GpbBound bound, GpbCellsSample *sample)
{
	const GpbLayout *layout = &batch->program.layout;
	Buffer		buffer = gpb_search_level(batch->index, layout, bound, 1, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buffer);
	GpbCellLink link = {.end = GPB_BOUND_MAX};
	GpbRange	leaf;
	int			passed;

	link.block = gpb_child_at(batch->index, layout, BufferGetBlockNumber(buffer), page,
							  gpb_child_position(layout, page, bound), &leaf);
	link.low = leaf.lo;
	UnlockReleaseBuffer(buffer);
	gpb_cells_total_init(&trial->reader, &trial->total);
	passed = gpb_cells_pass(&trial->reader, trial->visibility, &trial->settled, &link,
							&trial->total);
	sample->passed += passed;
	if (passed == GPB_CELL_STEP || link.block == GPB_NO_BLOCK)
		return;
	if (trial->reader.miss == GPB_CELL_ABSENT)
		sample->absent++;
	else
		sample->unseen++;
}

/* Try leaves in each place, but no more than two where none could be passed by. */
static void
try_places(const GpbBatch *batch, CellsTrial *trial, GpbCellsSample *sample)
{
	uint32		place;

	for (place = 0; place < GPB_SAMPLE_PLACES; place++)
	{
		uint32		number = (uint32) ((2 * (uint64) place + 1) * batch->n /
									   (2 * GPB_SAMPLE_PLACES));
		GpbRange	range = gpb_range_at(batch->form, batch->ranges, number,
										 batch->program.layout.flags);

		if (place == 2 && sample->passed == 0)
			break;
		if (gpb_bound_less(range.lo, range.hi))
			try_leaves(batch, trial, place_within(batch, range, place), sample);
	}
}

GpbCellsSample
gpb_cells_sample(const GpbBatch *batch)
{
	GpbCellsSample sample = {0};
	CellsTrial	trial;

	gpb_cells_begin(&trial.reader, batch->heap, batch->index, batch->snapshot, &batch->program,
					&batch->format, batch->evaluator);
	if (!trial.reader.eligible || gpb_least_height(batch->index, &batch->program.layout) == 0)
		return sample;
	gpb_settled_begin(&trial.settled, batch->heap, batch->snapshot);
	trial.visibility = gpb_visibility_begin(batch->heap);
	try_places(batch, &trial, &sample);
	gpb_visibility_end(trial.visibility);
	return sample;
}
