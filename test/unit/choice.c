/*-------------------------------------------------------------------------
 *
 * choice.c
 *	  Tests of engine/engine_price.h: which engine is the cheaper for runs of given shapes.
 *
 * usage: choice_test; ends with "N passed, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include "engine/engine_price.h"
#include "verdict.h"

/* The default of gpubtree.batch_setup_cost, which stands for 80 us */
#define SETUP_COST	20

static bool
on_device(GpbBatchShape run)
{
	return gpb_device_gain(&run) >= SETUP_COST;
}

/* A run of so many entries in ranges, all of them on settled pages that VACUUM did not mark */
static GpbBatchShape
fresh(double ranges, double entries, double blocks)
{
	return (GpbBatchShape) {.ranges = ranges, .entries = entries, .entry_gain = GPB_ENTRY_GAIN,
		.unmarked = 1, .settled = 1, .blocks = blocks};
}

static GpbBatchShape
vacuumed(double ranges, double entries)
{
	return (GpbBatchShape) {.ranges = ranges, .entries = entries, .entry_gain = GPB_ENTRY_GAIN,
		.blocks = 1e6};
}

/* A run of one range of vacuumed pages, this part of whose leaves the CPU can pass by */
static GpbBatchShape
by_cells(double entries, double passed)
{
	GpbBatchShape run = vacuumed(1, entries);

	run.leaf = 360;
	run.passed = passed;
	return run;
}

/* Cells make the CPU cheaper, the more leaves they let it pass by. */
static void
check_cells(void)
{
	GpbBatchShape buckets = by_cells(1e6, 1);
	GpbBatchShape narrow = by_cells(30000, 1);
	double		passed;
	bool		descends = true;

	verdict(!on_device(by_cells(500000, 1)), "half a million entries by cells: the CPU");
	verdict(on_device(by_cells(2e6, 1)), "two millions, when it is idle: the device");
	verdict(on_device(by_cells(500000, 0.9)), "a tenth of half a million entries is read: the device");
	verdict(!on_device(by_cells(100000, 0.9)), "a tenth of 100,000 is read: the CPU");
	buckets.ranges = 100;
	verdict(gpb_device_gain(&buckets) > gpb_device_gain(&(GpbBatchShape) {.ranges = 1,
				.entries = 1e6, .entry_gain = GPB_ENTRY_GAIN, .leaf = 360, .passed = 1}),
			"leaves where ranges begin and end are read");
	narrow.ranges = 100;
	verdict(on_device(narrow), "ranges within a leaf: cells are of no use");
	for (passed = 0; passed < 1; passed += 0.01)
	{
		GpbBatchShape less = by_cells(1e6, passed);
		GpbBatchShape more = by_cells(1e6, passed + 0.01);

		descends &= gpb_device_gain(&more) < gpb_device_gain(&less);
	}
	verdict(descends, "each leaf that is passed by makes the CPU cheaper");
}

/* Whatever heap pages turn out to be, they cost no more than is said before one is looked at. */
static void
check_most_looks(void)
{
	bool		bounded = true;
	bool		reached = false;

	for (double entries = 10; entries <= 1e8; entries *= 7)
	{
		for (double blocks = 1; blocks <= 1e8; blocks *= 5)
		{
			for (int i = 0; i < 6 * 6 * 6; i++)
			{
				GpbBatchShape run = vacuumed(3, entries);
				double		gain;
				double		worst;

				run.leaf = 360;
				run.passed = i % 6 / 5.0;
				gain = gpb_device_gain(&run);
				worst = gain - gpb_most_looks_cost(entries, blocks);
				run.unmarked = i / 6 % 6 / 5.0;
				run.settled = run.unmarked * (i / 36) / 5.0;
				run.blocks = blocks * (1 + i % 4) / 4;
				bounded &= gpb_device_gain(&run) >= worst - 1e-6 * gain;
				reached |= gpb_device_gain(&run) < gain - 0.5 * (gain - worst);
			}
		}
	}
	verdict(bounded && reached, "heap pages cost no more than their most, and more than half of it");
}

int
main(void)
{
	GpbBatchShape part = fresh(1, 50000, 1e6);
	GpbBatchShape unsettled = fresh(100, 1e6, 1e6);
	GpbBatchShape filtered = fresh(1, 50000, 200000);
	double		blocks;
	bool		descends = true;

	verdict(!on_device(vacuumed(1, 100)), "few entries: the CPU");
	verdict(on_device(vacuumed(1, 30000)), "30,000 entries of vacuumed pages: the device");
	verdict(on_device(vacuumed(2000, 0)), "2,000 ranges: the device");
	verdict(on_device(vacuumed(100, 1e6)), "a million entries of 100 ranges: the device");

	/* a look each for the CPU, and one a block for the device, whose blocks are fewer */
	verdict(on_device(fresh(100, 1e6, 300000)), "many entries for each block to look at: the device");
	verdict(gpb_device_gain(&(GpbBatchShape) {.ranges = 100, .entries = 1e6,
				.entry_gain = GPB_ENTRY_GAIN, .unmarked = 1, .settled = 1, .blocks = 300000}) <
			100 * GPB_RANGE_GAIN + 1e6 * (GPB_ENTRY_GAIN + GPB_LOOK_COST),
			"the looks at the blocks are paid for");
	/* 5 blocks to look at for each entry */
	verdict(!on_device(fresh(100, 100000, 500000)), "more blocks to look at than entries: the CPU");
	/* too many blocks to look at: entries are visited that the CPU need not visit */
	verdict(!on_device(fresh(100, 30000, 2e6)), "entries that only the device visits: the CPU");
	verdict(!on_device(fresh(20000, 100000, 2e6)), "20,000 ranges of five such entries: the CPU");

	/* both visit what is not settled */
	unsettled.settled = 0;
	verdict(on_device(unsettled), "pages that are not settled count for neither engine");
	part.unmarked = part.settled = 0.001;
	verdict(on_device(part), "a thousandth of the pages are not all-visible: the device");
	part.unmarked = part.settled = 0.5;
	verdict(!on_device(part), "half of them are not: the CPU");
	filtered.entry_gain = 20 * GPB_ENTRY_GAIN;
	verdict(on_device(filtered), "a long program: the device, in spite of the looks");

	for (blocks = 1; blocks < 1e9; blocks *= 2)
	{
		GpbBatchShape less = fresh(1, 1e5, blocks);
		GpbBatchShape more = fresh(1, 1e5, 2 * blocks);

		if (2 * blocks <= 1e5 * GPB_LOOKS_OF_ENTRY)
			descends &= gpb_device_gain(&more) < gpb_device_gain(&less);
	}
	verdict(descends, "each block to look at makes the device dearer");
	check_most_looks();
	check_cells();
	return print_sums();
}
