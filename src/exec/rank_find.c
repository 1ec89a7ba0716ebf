/*-------------------------------------------------------------------------
 *
 * rank_find.c
 *	  The key of a rank: where, in the order of an index, the n-th visible entry is.
 *
 * Parts are counted in the order of ranks, and only as far as the rank is expected to be, and then further: a small
 * rank of a large range costs little.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include <math.h>

#include "utils/memutils.h"
#include "utils/rel.h"

#include "../index/index.h"
#include "rank_find.h"

/* With so few visible entries left a further round costs more than what it saves. */
#define GPB_RANK_FEW_ENTRIES	128

/* Count so much more than what should be enough. */
#define GPB_RANK_MARGIN			1.1

/* If that was too little, at most so many times what was counted */
#define GPB_RANK_GROWTH			4.0

/* A range in parts, in the order of ranks */
typedef struct GpbRankParts
{
	GpbKeyRange *parts;
	GpbRangeAnswer *answers;
	uint32		n;
	uint32		counted;		/* parts with an answer */
	double		entries;		/* that a part has, about */
} GpbRankParts;

struct GpbRankFinder
{
	MemoryContext context;
	MemoryContext work;			/* the range's */
	MemoryContext round;		/* of one search */
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	GpbLayout	layout;
	bool		from_end;
	GpbRankParts range;
	GpbBatch   *count[2];		/* by the CPU, by the device; NULL until first needed */
	GpbBatch   *list;			/* likewise */
};

GpbRankFinder *
gpb_rank_begin(Relation heap, Relation index, Snapshot snapshot, bool from_end)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree rank",
												  ALLOCSET_DEFAULT_SIZES);
	GpbRankFinder *finder = MemoryContextAllocZero(context, sizeof(GpbRankFinder));

	finder->context = context;
	finder->work = AllocSetContextCreate(context, "gpubtree rank range",
										 ALLOCSET_DEFAULT_SIZES);
	finder->round = AllocSetContextCreate(context, "gpubtree rank round",
										  ALLOCSET_DEFAULT_SIZES);
	finder->heap = heap;
	finder->index = index;
	finder->snapshot = snapshot;
	finder->layout = *gpb_layout(index);
	finder->from_end = from_end;
	return finder;
}

/* ---- parts ---- */

/* Visible entries of a leaf, as far as the catalog knows */
static double
gpb_entries_per_leaf(const GpbRankFinder *finder)
{
	double		capacity = gpb_page_capacity(finder->layout.key_width, finder->layout.row_width);
	double		tuples = finder->index->rd_rel->reltuples;

	if (tuples <= 0)
		return capacity * 0.7;
	return Max(Min(tuples / Max(RelationGetNumberOfBlocks(finder->index), 1), capacity), 1.0);
}

/* Cut a range; memory is of the current context. */
static void
gpb_rank_parts_init(const GpbRankFinder *finder, GpbKeyRange range, GpbRankParts *parts)
{
	GpbRankCuts cuts;
	uint32		i;

	gpb_rank_cut(finder->index, &finder->layout, range, &cuts);
	parts->parts = cuts.parts;
	parts->n = cuts.n;
	parts->counted = 0;
	parts->entries = cuts.leaves * gpb_entries_per_leaf(finder);
	parts->answers = palloc(sizeof(GpbRangeAnswer) * cuts.n);
	for (i = 0; finder->from_end && i < cuts.n / 2; i++)
	{
		GpbKeyRange swap = parts->parts[i];

		parts->parts[i] = parts->parts[cuts.n - 1 - i];
		parts->parts[cuts.n - 1 - i] = swap;
	}
}

void
gpb_rank_set_range(GpbRankFinder *finder, GpbKeyRange range)
{
	MemoryContext caller;

	MemoryContextReset(finder->work);
	caller = MemoryContextSwitchTo(finder->work);
	gpb_rank_parts_init(finder, range, &finder->range);
	MemoryContextSwitchTo(caller);
}

/* The batch that counts so many entries */
static GpbBatch *
gpb_rank_batch(GpbRankFinder *finder, double entries)
{
	GpbEngine	engine = gpb_batch_engine_for(finder->index, entries);
	bool		device = engine == GPB_ENGINE_DEVICE;

	if (finder->count[device] == NULL)
	{
		GpbBatchWant want = {0};
		MemoryContext caller = MemoryContextSwitchTo(finder->context);

		finder->count[device] = gpb_batch_begin(finder->heap, finder->index, finder->snapshot,
												&want, engine);
		MemoryContextSwitchTo(caller);
	}
	return finder->count[device];
}

/* Count the next n parts. */
static void
gpb_rank_count_parts(GpbRankFinder *finder, GpbRankParts *parts, uint32 n)
{
	gpb_batch_run(gpb_rank_batch(finder, n * parts->entries), parts->parts + parts->counted, n,
				  parts->answers + parts->counted);
	parts->counted += n;
}

/*
 * Count on, as far as it should take to come to so many more entries; seen is how many there are in the parts counted
 * before, which tell better than the catalog what a part has.  Each time at least as far as before, and not much farther: the
 * parts to come may have more.
 */
static void
gpb_rank_count_more(GpbRankFinder *finder, GpbRankParts *parts, int64 seen, double more)
{
	uint32		left = parts->n - parts->counted;
	double		wanted;

	if (parts->counted > 0)
		parts->entries = Max(seen / (double) parts->counted, 1.0);
	wanted = ceil(more * GPB_RANK_MARGIN / Max(parts->entries, 1.0)) + 1;
	if (parts->counted > 0)
		wanted = Max(Min(wanted, parts->counted * GPB_RANK_GROWTH), parts->counted);
	gpb_rank_count_parts(finder, parts, wanted < left ? (uint32) wanted : left);
}

/*
 * The part that has a rank, which becomes the rank within it; -1 if there are not so many entries.
 */
static int64
gpb_rank_part(GpbRankFinder *finder, GpbRankParts *parts, int64 *rank)
{
	int64		seen = 0;
	uint32		i;

	for (i = 0; i < parts->n; i++)
	{
		if (i == parts->counted)
			gpb_rank_count_more(finder, parts, seen, (double) (*rank - seen) + 1);
		if (*rank - seen < parts->answers[i].entries)
		{
			*rank -= seen;
			return i;
		}
		seen += parts->answers[i].entries;
	}
	return -1;
}

/* ---- ranks ---- */

int64
gpb_rank_total(GpbRankFinder *finder)
{
	GpbRankParts *parts = &finder->range;
	int64		total = 0;
	uint32		i;

	if (parts->counted < parts->n)
		gpb_rank_count_parts(finder, parts, parts->n - parts->counted);
	for (i = 0; i < parts->n; i++)
		total += parts->answers[i].entries;
	return total;
}

static void
gpb_rank_lost(const GpbRankFinder *finder)
{
	gpb_corrupted_index(finder->index, "visible entries were not counted the same twice");
}

bool
gpb_rank_find(GpbRankFinder *finder, int64 rank, GpbRankPlace *place)
{
	GpbRankParts *parts = &finder->range;
	GpbRankParts next;
	MemoryContext caller;
	int64		i;

	MemoryContextReset(finder->round);
	caller = MemoryContextSwitchTo(finder->round);
	i = gpb_rank_part(finder, parts, &rank);
	while (i >= 0)
	{
		place->keys = parts->parts[i];
		place->rank = rank;
		place->entries = parts->answers[i].entries;
		if (place->entries <= GPB_RANK_FEW_ENTRIES || place->keys.lo == place->keys.hi)
			break;
		gpb_rank_parts_init(finder, place->keys, &next);
		if (next.n == 1)
			break;
		parts = &next;
		i = gpb_rank_part(finder, parts, &rank);
		/* one snapshot sees the same entries each time */
		if (i < 0)
			gpb_rank_lost(finder);
	}
	MemoryContextSwitchTo(caller);
	return i >= 0;
}

static int
gpb_compare_keys(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a;
	uint64		right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/* The keys at a place, ascending; palloc'd in the round's context */
static uint64 *
gpb_rank_list(GpbRankFinder *finder, const GpbRankPlace *place)
{
	uint64	   *keys = MemoryContextAllocHuge(finder->round, sizeof(uint64) * place->entries);
	int64		filled = 0;
	char	   *records;
	uint64		n;

	if (finder->list == NULL)
	{
		GpbBatchWant want = {.list = true};
		MemoryContext caller = MemoryContextSwitchTo(finder->context);

		finder->list = gpb_batch_begin(finder->heap, finder->index, finder->snapshot, &want,
									   GPB_ENGINE_CPU);
		MemoryContextSwitchTo(caller);
	}
	gpb_batch_run(finder->list, &place->keys, 1, NULL);
	while ((records = gpb_batch_matches(finder->list, &n)) != NULL)
	{
		int			width = gpb_range_entry_width(finder->layout.row_width);
		uint64		i;

		for (i = 0; i < n && filled < place->entries; i++)
			keys[filled++] = *(uint64 *) (records + i * width + 8);
	}
	if (filled != place->entries)
		gpb_rank_lost(finder);
	qsort(keys, filled, sizeof(uint64), gpb_compare_keys);
	return keys;
}

uint64
gpb_rank_key(GpbRankFinder *finder, const GpbRankPlace *place)
{
	uint64	   *keys;

	if (place->keys.lo == place->keys.hi)
		return place->keys.lo;
	keys = gpb_rank_list(finder, place);
	return keys[finder->from_end ? place->entries - 1 - place->rank : place->rank];
}

/* ---- counters and end ---- */

void
gpb_rank_counters(const GpbRankFinder *finder, GpbBatchCounters *counters)
{
	const GpbBatch *batches[] = {finder->count[1], finder->count[0], finder->list};
	int			i;

	memset(counters, 0, sizeof(*counters));
	counters->engine = "none";
	for (i = 0; i < lengthof(batches); i++)
	{
		if (batches[i] != NULL)
			gpb_batch_counters_add(counters, gpb_batch_counters(batches[i]));
	}
}

void
gpb_rank_end(GpbRankFinder *finder)
{
	int			i;

	for (i = 0; i < lengthof(finder->count); i++)
	{
		if (finder->count[i] != NULL)
			gpb_batch_end(finder->count[i]);
	}
	if (finder->list != NULL)
		gpb_batch_end(finder->list);
	MemoryContextDelete(finder->context);
}
