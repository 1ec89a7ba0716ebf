/*-------------------------------------------------------------------------
 *
 * batch_choice.c
 *	  Which engine answers a run the sooner, by what is known when the run begins.
 *
 * A plan may be cached and its parameters differ, so the choice is made anew for each run.  The CPU
 * pays for each range, for each entry and for what a program does with it; how many entries there
 * are is estimated from the tree.  The device has a fixed cost, which grows with the requests that
 * the service has already and with the blocks that a refresh would have to copy first.  These two
 * are looked at only where they can decide.
 *
 * Heap visits count for neither side as long as both engines visit the same pages.  They do not
 * where pages are settled (rule M11): the CPU asks about the pages of the entries that it has at
 * hand, the device about all blocks where entries may be, or, if these are too many, about none
 * (engine_price.h).  How many of the entries are on such pages a sample tells.
 *
 * Leaves that the CPU can pass by, since their cells hold (rule M14), cost it next to nothing.
 * Cells may not be there, or not hold, so some are tried, where that can decide (cells_sample.h).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/visibilitymap.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "index/index.h"
#include "mirror/mirror.h"
#include "engine/batch_engine.h"
#include "engine/cell_counts.h"
#include "engine/cells_sample.h"
#include "engine/heap_window.h"
#include "engine/settled_pages.h"

/*
 * What a request that the service has already, and a changed block, add to the device's fixed cost,
 * as parts of it.  Measured on the host of an H200: 80 us, 16 us more for each request that comes
 * before, 10 us for each changed block.
 */
#define GPB_REQUEST_DELAY	0.2
#define GPB_BLOCK_DELAY		0.125

/* The number of ranges of a run whose entries are estimated, to stand for all */
#define GPB_CHOICE_SAMPLES	8

/* The number of entries of one of them whose heap pages are looked at */
#define GPB_CHOICE_ENTRIES	16

/* What a sample of entries shows of their heap pages */
typedef struct ChoiceSample
{
	uint32		entries;
	uint32		unmarked;		/* entries on pages that are not all-visible */
	uint32		settled;		/* entries on those of them that are settled */
} ChoiceSample;

/* Get the heap blocks of some entries of a range, on the leaf where it begins or where it ends. */
static int
sample_blocks(const GpbBatch *batch, GpbRange range, bool begin, BlockNumber *blocks)
{
	const GpbLayout *layout = &batch->program.layout;
	Buffer		buffer = gpb_search(batch->index, layout, begin ? range.lo : range.hi,
									BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(buffer);
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	int			from = gpb_page_lower_bound(page, layout->key_width, row_width, count, range.lo);
	int			to = gpb_page_lower_bound(page, layout->key_width, row_width, count, range.hi);
	int			step = Max((to - from + GPB_CHOICE_ENTRIES - 1) / GPB_CHOICE_ENTRIES, 1);
	int			n = 0;

	for (; from < to; from += step)
		blocks[n++] = gpb_locator_block(gpb_page_locator(page, row_width, from));
	UnlockReleaseBuffer(buffer);
	return n;
}

/* Look at the heap pages of a few entries, from where ranges begin and from where they end. */
static ChoiceSample
sample_entries(const GpbBatch *batch)
{
	uint32		samples = (uint32) Min(2 * (uint64) batch->n, GPB_CHOICE_SAMPLES);
	ChoiceSample sample = {0};
	GpbSettledReader settled;
	Buffer		map = InvalidBuffer;
	uint32		i;

	gpb_settled_begin(&settled, batch->heap, batch->snapshot);
	for (i = 0; i < samples && settled.eligible; i++)
	{
		uint32		number = (uint32) ((2 * (uint64) i + 1) * batch->n / (2 * samples));
		GpbRange	range = gpb_range_at(batch->form, batch->ranges, number,
										 batch->program.layout.flags);
		BlockNumber blocks[GPB_CHOICE_ENTRIES];
		int			n = gpb_bound_less(range.lo, range.hi) ?
			sample_blocks(batch, range, i % 2 == 0, blocks) : 0;

		sample.entries += n;
		while (n-- > 0)
		{
			GpbSettledPage page;

			if (VM_ALL_VISIBLE(batch->heap, blocks[n], &map))
				continue;
			sample.unmarked++;
			sample.settled += gpb_settled_look(&settled, blocks[n], &page);
		}
	}
	if (BufferIsValid(map))
		ReleaseBuffer(map);
	return sample;
}

/*
 * Correct what the CPU pays more for the run by what heap pages cost that VACUUM has not marked.
 * None is looked at if "most" is paid even where the device has to look at all of them.
 */
static double
gain_with_pages(const GpbBatch *batch, GpbBatchShape *run, double most, GpbEngineChoice *choice)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(batch->heap);
	double		gain = gpb_device_gain(run);
	ChoiceSample sample;
	GpbHeapWindow window;

	if (gain - gpb_most_looks_cost(run->entries, blocks) >= most)
		return gain;
	sample = sample_entries(batch);
	if (sample.settled == 0)
		return gain;
	window = gpb_heap_window(batch->index, &batch->program.layout, batch->form, batch->ranges,
							 batch->n);
	run->blocks = Min(window.to, blocks) - Min(window.from, blocks);
	run->unmarked = (double) sample.unmarked / sample.entries;
	run->settled = (double) sample.settled / sample.entries;
	choice->looks = gpb_batch_looks(run);
	return gpb_device_gain(run);
}

/*
 * Correct what the CPU pays more for the run by the leaves that it can pass by.  Nothing is looked
 * at if these can't make it less than "fixed", or if "most" is paid even where all are passed by.
 */
static double
gain_with_cells(const GpbBatch *batch, GpbBatchShape *run, double fixed, double most,
				GpbEngineChoice *choice)
{
	double		gain = gpb_device_gain(run);
	double		least;
	GpbCellsSample sample;
	uint32		tried;

	run->leaf = gpb_entries_per_leaf(batch->index, &batch->program.layout);
	run->passed = 1.0;
	least = gpb_device_gain(run);
	run->passed = 0.0;
	if (gain < fixed || least >= most)
		return gain;
	sample = gpb_cells_sample(batch);
	tried = sample.passed + sample.absent + sample.unseen;
	if (tried == 0)
		return gain;
	run->passed = (double) sample.passed / tried;
	choice->saw_cells = true;
	choice->passed = run->passed;
	choice->absent = (double) sample.absent / tried;
	if (sample.passed > tried / 4)
		gpb_cells_were_used(RelationGetRelid(batch->index));
	return gpb_device_gain(run);
}

/*
 * Is the CPU to answer a run that the device would answer the sooner, by "gain" against "fixed", so
 * that it records leaves, and later runs need neither the device nor these leaves?
 */
static bool
recording_pays(const GpbBatch *batch, const GpbBatchShape *run, double gain, double fixed,
			   GpbEngineChoice *choice)
{
	GpbBatchShape later = *run;
	double		saving;

	if (choice->absent <= 0)
		return false;
	later.passed += choice->absent;
	saving = fixed - gpb_device_gain(&later);
	/* To record a leaf takes about as long as to add it up. */
	if (saving <= 0 ||
		!gpb_cells_recording_pays(RelationGetRelid(batch->index), saving, gain - fixed +
								  choice->absent * run->entries * run->entry_gain))
		return false;
	choice->records = true;
	return true;
}

/* Is the device the sooner?  What was looked at to decide is filled in. */
static bool
choose_device(const GpbBatch *batch, GpbEngineChoice *choice)
{
	bool		aggregates = !batch->program.list_entries || batch->listing != NULL;
	GpbBatchShape run = {.ranges = batch->n, .entry_gain = gpb_entry_gain(&batch->program)};
	double		fixed = gpb_batch_setup_cost;
	double		most = fixed * (1.0 + GPB_REQUEST_DELAY * gpb_mirror_load_limit() +
								GPB_BLOCK_DELAY * GPB_CHOICE_BLOCKS);
	double		gain = gpb_device_gain(&run);

	/* who wants the device however small the batch sets no cost */
	if (fixed <= 0 || (gain >= most && !aggregates))
		return true;
	/*
	 * What is listed is brought back and handed out whichever engine finds it; but a program may
	 * drop most of what it looks at.
	 */
	if (aggregates)
	{
		choice->saw_entries = true;
		choice->entries = run.entries =
			gpb_sampled_entries(batch->index, &batch->program.layout, batch->form, batch->ranges,
								batch->n, GPB_CHOICE_SAMPLES);
		gain = gain_with_cells(batch, &run, fixed, most, choice);
		if (gain >= fixed)
			gain = gain_with_pages(batch, &run, most, choice);
	}
	if (gain < fixed || (gain >= most && choice->absent <= 0))
		return gain >= fixed;
	choice->saw_requests = true;
	choice->requests = gpb_mirror_load(batch->index);
	fixed += gpb_batch_setup_cost * GPB_REQUEST_DELAY * choice->requests;
	if (gain < fixed)
		return false;
	choice->saw_blocks = true;
	choice->blocks = gpb_mirror_changed(batch->index, GPB_CHOICE_BLOCKS);
	fixed += gpb_batch_setup_cost * GPB_BLOCK_DELAY * choice->blocks;
	return gain >= fixed && !recording_pays(batch, &run, gain, fixed, choice);
}

bool
gpb_batch_device_pays_now(GpbBatch *batch)
{
	return gpb_mirror_available() && choose_device(batch, &batch->counters.choice) &&
		!gpb_mirror_is_inner_only(batch->index);
}
