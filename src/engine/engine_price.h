/*-------------------------------------------------------------------------
 *
 * engine_price.h
 *	  What ranges cost the CPU's engine more than the device's, as plain C.
 *
 * The unit is that of gpubtree.batch_setup_cost, whose default of 20 stands for about 80 us.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ENGINE_PRICE_H
#define GPB_ENGINE_PRICE_H

/*
 * For a range, and for an entry that is aggregated.  A range costs a walk to a leaf that may not be
 * in the CPU's cache, an entry about 4 ns.
 */
#define GPB_RANGE_GAIN		0.02
#define GPB_ENTRY_GAIN		0.001

/*
 * What the CPU engine pays more for an entry for each step and each term of a program that is not
 * plain, about 1 ns, and for finding its group, about 10 ns
 */
#define GPB_STEP_GAIN		0.00025
#define GPB_GROUP_GAIN		0.0025

/*
 * A look at a heap page that is not all-visible and may be settled (rule M11), 20 ns; and a visit
 * of a heap page for one entry, 300 ns.
 */
#define GPB_LOOK_COST		0.005
#define GPB_LONE_VISIT_COST		0.075

/*
 * A leaf that the CPU passes by, since its cell holds (rule M14): 40 ns, whatever it has.
 */
#define GPB_CELL_COST			0.01

/*
 * A device's visibility bits need a look at each block of the heap, where the ranges' entries may
 * be, that is not all-visible.  So many are looked at, for each entry and in any case; of more
 * blocks none is, and all entries there are left to heap visits.
 */
#define GPB_LOOKS_OF_ENTRY	8
#define GPB_LOOKS_ALWAYS	4096

/* What is known of a run when its engine is chosen */
typedef struct GpbBatchShape
{
	double		ranges;
	double		entries;		/* of all ranges, about */
	double		entry_gain;		/* what the CPU pays more for one */
	double		unmarked;		/* the part of the entries on pages that are not all-visible */
	double		settled;		/* the part on those of them that are settled */
	double		blocks;			/* heap blocks where the entries may be */
	double		leaf;			/* entries of a leaf */
	double		passed;			/* the part of the leaves that cells let the CPU pass by, of those
								 * that are of one range as a whole */
} GpbBatchShape;

/* The entries of leaves that the CPU would pass by: none where a range begins or ends. */
static inline double
gpb_batch_passed_entries(const GpbBatchShape *run)
{
	double		whole = run->entries - run->ranges * run->leaf;

	return whole > 0 ? whole * run->passed : 0;
}

/* The heap pages that a device's run looks at; 0 if these are too many */
static inline double
gpb_batch_looks(const GpbBatchShape *run)
{
	double		looks = run->blocks * run->unmarked;

	return looks <= run->entries * GPB_LOOKS_OF_ENTRY + GPB_LOOKS_ALWAYS ? looks : 0;
}

/*
 * What the device pays at most for settled heap pages, where a run has so many entries on some of
 * so many blocks: looks, or visits where looks would be too many
 */
static inline double
gpb_most_looks_cost(double entries, double blocks)
{
	double		most = entries * GPB_LOOKS_OF_ENTRY + GPB_LOOKS_ALWAYS;
	double		visits = entries * GPB_LONE_VISIT_COST;

	if (blocks <= most)
		return blocks * GPB_LOOK_COST;
	return most * GPB_LOOK_COST > visits ? most * GPB_LOOK_COST : visits;
}

/*
 * What the CPU pays more than the device for a run, but for the device's fixed cost.
 *
 * Entries whose pages are neither all-visible nor settled are visited in the heap by both engines,
 * so they count for neither; nor do their pages, for the device tries a few blocks before it looks
 * at many.  About settled pages the CPU asks once an entry at most, while it has the entry at hand;
 * for a leaf that it passes by that is in the leaf's price.  The device asks about all blocks where
 * entries may be, however few of them have one.
 */
static inline double
gpb_device_gain(const GpbBatchShape *run)
{
	double		passed = gpb_batch_passed_entries(run);
	double		read = run->entries - passed;
	double		gain = run->ranges * GPB_RANGE_GAIN + read * run->entry_gain;
	double		settled = run->entries * run->settled;
	double		looks = gpb_batch_looks(run);

	if (passed > 0)
		gain += passed / run->leaf * GPB_CELL_COST;
	if (settled <= 0)
		return gain;
	gain += read * run->settled * GPB_LOOK_COST;
	return gain - (looks > 0 ? looks * GPB_LOOK_COST : settled * GPB_LONE_VISIT_COST);
}

#endif							/* GPB_ENGINE_PRICE_H */
