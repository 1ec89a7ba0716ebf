/*-------------------------------------------------------------------------
 *
 * shared_ranges.c
 *	  The ranges of a node that several processes run together: parts of the index that these share
 *	  out.
 *
 * Why each entry is met once: the parts cover all places of the index's order, each place lies in
 * one of them, and the counter gives each to one process.  That process reads of its ranges what
 * lies in the part, as it would read any range, so it meets what the snapshot sees there, wherever
 * splits and deletions have moved it.  Where the bounds come from matters to the time it takes
 * alone.  The processes need not have found the same ranges, as long as those of each have every
 * entry that the conditions admit and the snapshot sees, and no other that no filter drops.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "port/atomics.h"
#include "utils/memutils.h"

#include "engine/visibility.h"
#include "exec/where/shared_ranges.h"
#include "hold.h"
#include "index/index.h"
#include "large_array.h"

/*
 * Parts for each process: so many at most, and at least, if the tree has as many separators.  The
 * last process to end has one part to go on with when the others have none; to take a part costs a
 * descent.
 */
#define GPB_PARTS_MOST		48
#define GPB_PARTS_ENOUGH	16

struct GpbSharedParts
{
	pg_atomic_uint32 next;		/* number of the next part to be taken */
	uint32		n;				/* bounds, between n + 1 parts */
	GpbBound	bounds[FLEXIBLE_ARRAY_MEMBER];	/* ascending */
};

/* ---- the parts ---- */

Size
gpb_shared_parts_size(int workers)
{
	return offsetof(GpbSharedParts, bounds) +
		sizeof(GpbBound) * GPB_PARTS_MOST * (workers + 1);
}

/*
 * Where only core may judge rows there is one part: an index scan compares values, of which one may
 * have several keys.
 */
void
gpb_shared_parts_make(GpbSharedParts *parts, int workers, Relation index, Snapshot snapshot,
					  const GpbFoundRanges *found)
{
	GpbLayout	layout = *gpb_layout(index);
	GpbRange	span;

	pg_atomic_init_u32(&parts->next, 0);
	parts->n = 0;
	if (found->n == 0 || gpb_needs_plain_scan(snapshot))
		return;
	span = gpb_range_at(found->form, found->ranges, 0, layout.flags);
	span.hi = gpb_range_at(found->form, found->ranges, found->n - 1, layout.flags).hi;
	parts->n = gpb_part_range(index, &layout, span, GPB_PARTS_ENOUGH * (workers + 1),
							  GPB_PARTS_MOST * (workers + 1), parts->bounds);
}

void
gpb_shared_parts_find(GpbSharedParts *parts, int workers, Relation index, Snapshot snapshot,
					  GpbConditions *conditions, ExprContext *econtext)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree parts",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	GpbFoundRanges found;

	gpb_conditions_evaluate(conditions, econtext, &found);
	gpb_shared_parts_make(parts, workers, index, snapshot, &found);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/* ---- the ranges of a process ---- */

/* The number of the first of the ranges that ends behind the bound */
static uint32
first_behind(const GpbSharedRanges *shared, GpbBound bound)
{
	uint32		low = 0;
	uint32		high = shared->all->n;

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;
		GpbRange	range = gpb_range_at(shared->all->form, shared->all->ranges, middle,
										 shared->layout_flags);

		if (gpb_bound_less(bound, range.hi))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void
take_range(GpbSharedRanges *shared, GpbRange range)
{
	if (shared->source.n == shared->capacity)
	{
		shared->capacity *= 2;
		shared->taken = gpb_realloc_array(shared->taken, sizeof(GpbRange) * shared->capacity);
		shared->source.ranges = shared->taken;
	}
	shared->taken[shared->source.n++] = range;
}

/* Take what the ranges have in a part, which may be nothing. */
static void
take_part(GpbSharedRanges *shared, GpbRange part)
{
	const GpbFoundRanges *all = shared->all;

	for (uint32 i = first_behind(shared, part.lo); i < all->n; i++)
	{
		GpbRange	range = gpb_range_at(all->form, all->ranges, i, shared->layout_flags);

		if (!gpb_bound_less(range.lo, part.hi))
			return;
		if (gpb_bound_less(range.lo, part.lo))
			range.lo = part.lo;
		if (gpb_bound_less(part.hi, range.hi))
			range.hi = part.hi;
		take_range(shared, range);
	}
}

/* GpbRangeSource: take parts until one has something. */
static bool
next_part(GpbRangeSource *source)
{
	GpbSharedRanges *shared = (GpbSharedRanges *) source;
	GpbSharedParts *parts = shared->parts;
	uint32		before = source->n;

	while (source->n == before)
	{
		uint32		number = pg_atomic_fetch_add_u32(&parts->next, 1);
		GpbRange	part = {GPB_BOUND_MIN, GPB_BOUND_MAX};

		if (number > parts->n)
			return false;
		if (number > 0)
			part.lo = parts->bounds[number - 1];
		if (number < parts->n)
			part.hi = parts->bounds[number];
		take_part(shared, part);
		GPB_HOLD("part-taken");
	}
	shared->nparts++;
	return true;
}

void
gpb_shared_ranges_begin(GpbSharedRanges *shared, GpbSharedParts *parts, const GpbLayout *layout,
						const GpbFoundRanges *all)
{
	memset(shared, 0, sizeof(*shared));
	shared->source.next = next_part;
	shared->parts = parts;
	shared->layout_flags = layout->flags;
	shared->all = all;
	shared->capacity = 64;
	shared->taken = gpb_alloc_array(CurrentMemoryContext, sizeof(GpbRange) * shared->capacity);
	shared->source.ranges = shared->taken;
}
