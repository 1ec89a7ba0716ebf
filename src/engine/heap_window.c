/*-------------------------------------------------------------------------
 *
 * heap_window.c
 *	  Where in the heap the entries of ranges lie, about.
 *
 * On each level two pages are read: those that cover the two ends of a range.  On the level where
 * the ends part, the separators of the children between them are samples that lie evenly over the
 * range; on the levels below, the samples come closer to the ends.  Where heap order follows key
 * order the ends decide; where it does not, a few hundred samples reach nearly as far as all
 * entries do.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "index/index.h"
#include "engine/heap_window.h"

/* The most ranges that are looked up one by one */
#define GPB_WINDOW_RANGES	16

/* A window is widened by this part of itself on both sides, and by so many blocks at least. */
#define GPB_WINDOW_PART		16
#define GPB_WINDOW_LEAST	64

/* Of more ranges so many, evenly spread, tell how many entries all have, one each at least */
#define GPB_WINDOW_SAMPLES	8

/* The heap blocks that are sampled of one range */
typedef struct WindowSample
{
	BlockNumber least;
	BlockNumber greatest;		/* below least if there is no sample */
} WindowSample;

/* Take the heap blocks of entries [from, to) of a page. */
static void
sample_entries(WindowSample *sample, Page page, int from, int to)
{
	int			row_width = gpb_special(page)->row_width;
	int			i;

	for (i = from; i < to; i++)
	{
		BlockNumber block = gpb_locator_block(gpb_page_locator(page, row_width, i));

		sample->least = Min(sample->least, block);
		sample->greatest = Max(sample->greatest, block);
	}
}

/*
 * Take the entries of the range on the pages of a level that cover its ends.  On an inner page an
 * entry at or before the range's lower end is not in the range, though its child may be in part.
 */
static void
sample_level(WindowSample *sample, Relation index, const GpbLayout *layout, GpbRange range,
			 uint32 level)
{
	BlockNumber first = InvalidBlockNumber;
	int			i;

	for (i = 0; i < 2; i++)
	{
		Buffer		buffer = gpb_search_level(index, layout, i == 0 ? range.lo : range.hi, level,
											  BUFFER_LOCK_SHARE);
		Page		page = BufferGetPage(buffer);
		const GpbPageSpecial *special = gpb_special(page);
		int			count = gpb_page_count(page);
		int			from;
		int			to;

		from = gpb_page_lower_bound(page, special->key_width, special->row_width, count, range.lo);
		to = gpb_page_lower_bound(page, special->key_width, special->row_width, count, range.hi);
		/* The first entry of a level is no separator but the lowest bound of all. */
		if (level > 0 && special->left == GPB_NO_BLOCK && from == 0)
			from = Min(1, to);
		if (BufferGetBlockNumber(buffer) != first)
			sample_entries(sample, page, from, to);
		first = BufferGetBlockNumber(buffer);
		UnlockReleaseBuffer(buffer);
	}
}

/* Add one range to the window. */
static void
window_add(GpbHeapWindow *window, Relation index, const GpbLayout *layout, GpbRange range)
{
	WindowSample sample = {.least = InvalidBlockNumber};
	uint32		root;
	uint32		level;

	if (!gpb_bound_less(range.lo, range.hi))
		return;
	gpb_root_level(index, layout, &root);
	for (level = 0; level <= root; level++)
		sample_level(&sample, index, layout, range, level);
	if (sample.least <= sample.greatest)
	{
		BlockNumber more = Max((sample.greatest - sample.least) / GPB_WINDOW_PART,
							   GPB_WINDOW_LEAST);

		window->from = Min(window->from, sample.least - Min(sample.least, more));
		window->to = Max(window->to, sample.greatest + 1 +
						 Min(MaxBlockNumber - sample.greatest, more));
	}
	window->entries += gpb_estimate_entries(index, layout, range, true);
}

double
gpb_sampled_entries(Relation index, const GpbLayout *layout, GpbRangeForm form,
					const void *ranges, uint32 n, uint32 samples)
{
	double		entries = 0;
	uint32		i;

	samples = Min(n, samples);
	for (i = 0; i < samples; i++)
	{
		uint32		number = (uint32) ((2 * (uint64) i + 1) * n / (2 * samples));

		entries += gpb_estimate_entries(index, layout,
										gpb_range_at(form, ranges, number, layout->flags), n > 1);
	}
	return entries * n / Max(samples, 1);
}

GpbHeapWindow
gpb_heap_window(Relation index, const GpbLayout *layout, GpbRangeForm form, const void *ranges,
				uint32 n)
{
	GpbHeapWindow window = {InvalidBlockNumber, 0, 0};
	uint32		i;

	if (n > GPB_WINDOW_RANGES)
	{
		window.from = 0;
		window.to = InvalidBlockNumber;
		window.entries = Max(gpb_sampled_entries(index, layout, form, ranges, n,
												 GPB_WINDOW_SAMPLES), (double) n);
		return window;
	}
	for (i = 0; i < n; i++)
		window_add(&window, index, layout, gpb_range_at(form, ranges, i, layout->flags));
	window.from = Min(window.from, window.to);
	return window;
}
