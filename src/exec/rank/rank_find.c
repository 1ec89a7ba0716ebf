/*-------------------------------------------------------------------------
 *
 * rank_find.c
 *	  The key of a rank: where, in the order of an index, the n-th visible entry is.
 *
 * For one rank, parts are counted in the order of ranks, and only as far as the rank is expected to
 * be, and then further: a small rank of a large range costs little.  For many ranks all parts are
 * counted, those that hold one are cut and counted together, and the entries of what is then left
 * are listed, so that no leaf is read more than a few times, however many ranks there are.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/index.h"
#include "mirror/mirror.h"
#include "exec/rank/rank_find.h"

/* With so few visible entries left a further round costs more than what it saves. */
#define GPB_RANK_FEW_ENTRIES	128

/* Count so many times what should be enough. */
#define GPB_RANK_MARGIN			1.1

/* If what was counted was not enough, count at most so many times as much. */
#define GPB_RANK_GROWTH			4.0

/* A range in parts, in the order of ranks */
typedef struct GpbRankParts
{
	GpbKeyRange *parts;
	int64	   *answers;		/* of so many entries each */
	uint32		n;
	uint32		counted;		/* parts with an answer */
	double		entries;		/* number of entries that a part has, about */
} GpbRankParts;

struct GpbRankFinder
{
	MemoryContext context;
	MemoryContext work;			/* the range's */
	MemoryContext round;		/* of one search */
	GpbNode    *node;
	Relation	index;
	GpbLayout	layout;
	GpbKey		behind;			/* bits in which keys of one place may differ */
	bool		from_end;
	uint32		parts;			/* that a range is cut into, about */
	GpbRankParts range;
	GpbAsk	   *count;			/* the entries of ranges */
	GpbPartitions *partitions;	/* those that are asked, if not the node's table */
	int			ntrees;			/* the indexes that are asked */
	const GpbAskTarget *trees;
	GpbAsk	  **list;			/* of each of these; NULL until first needed */
};

/* Begin to find ranks in these trees, which stay where they are. */
static GpbRankFinder *
begin_finder(GpbNode *node, GpbPartitions *partitions, int ntrees, const GpbAskTarget *trees,
			 GpbKey behind, bool few)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree rank",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	GpbRankFinder *finder = palloc0(sizeof(GpbRankFinder));
	/* nothing of any column: an answer is the number of entries */
	GpbAskWant	want = {ntrees, trees, .form = GPB_RANGE_KEYS};

	finder->context = context;
	finder->work = AllocSetContextCreate(context, "gpubtree rank range",
										 ALLOCSET_DEFAULT_SIZES);
	finder->round = AllocSetContextCreate(context, "gpubtree rank round",
										  ALLOCSET_DEFAULT_SIZES);
	finder->node = node;
	finder->index = node->index;
	finder->layout = *gpb_layout(node->index);
	finder->count = gpb_ask_begin(&node->css.ss.ps, &want);
	finder->behind = behind;
	finder->partitions = partitions;
	finder->ntrees = ntrees;
	finder->trees = trees;
	finder->list = palloc0(sizeof(GpbAsk *) * ntrees);
	finder->parts = few && !gpb_mirror_available() ? Min(GPB_RANK_CPU_PARTS, gpb_rank_parts) :
		gpb_rank_parts;
	MemoryContextSwitchTo(caller);
	return finder;
}

GpbRankFinder *
gpb_rank_begin(GpbNode *node, GpbKey behind, bool from_end, bool few)
{
	GpbAskTarget *tree = palloc(sizeof(GpbAskTarget));
	GpbRankFinder *finder;

	*tree = (GpbAskTarget) {node->heap, node->index};
	finder = begin_finder(node, NULL, 1, tree, behind, few);
	finder->from_end = from_end;
	return finder;
}

GpbRankFinder *
gpb_rank_begin_several(GpbNode *node, GpbPartitions *partitions, GpbKey behind, bool few)
{
	int			n;
	const GpbAskTarget *trees = gpb_partitions_targets(partitions, &n);

	return n == 0 ? NULL : begin_finder(node, partitions, n, trees, behind, few);
}

/* ---- one tree, or several ---- */

/* Cut a range at the separators of all trees that may have a part of it. */
static void
cut_range(const GpbRankFinder *finder, GpbKeyRange range, GpbRankCuts *cuts)
{
	const GpbAskShare *shares;
	Relation   *indexes;
	int			n = 0;

	if (finder->partitions == NULL)
	{
		gpb_rank_cut(finder->index, &finder->layout, range, finder->behind, finder->parts, cuts);
		return;
	}
	indexes = palloc(sizeof(Relation) * finder->ntrees);
	shares = gpb_partitions_share_total(finder->partitions, GPB_RANGE_KEYS, &range, 1);
	for (int i = 0; i < finder->ntrees; i++)
	{
		if (shares[i].n > 0)
			indexes[n++] = finder->trees[i].index;
	}
	gpb_rank_cut_several(indexes, n, &finder->layout, range, finder->behind, finder->parts, cuts);
	pfree(indexes);
}

/* Is there nothing in the range to be cut? */
static inline bool
is_one_place(const GpbRankFinder *finder, const GpbKeyRange *range)
{
	return range->hi - range->lo <= finder->behind;
}

/* ---- parts ---- */

/* Cut a range; memory is of the current context. */
static void
rank_parts_init(const GpbRankFinder *finder, GpbKeyRange range, GpbRankParts *parts)
{
	GpbRankCuts cuts;
	uint32		i;

	cut_range(finder, range, &cuts);
	parts->parts = cuts.parts;
	parts->n = cuts.n;
	parts->counted = 0;
	parts->entries = cuts.leaves * gpb_entries_per_leaf(finder->index, &finder->layout);
	parts->answers = palloc(sizeof(int64) * cuts.n);
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
	rank_parts_init(finder, range, &finder->range);
	MemoryContextSwitchTo(caller);
}

/* Count the entries of n ranges in this form. */
static void
rank_count(GpbRankFinder *finder, GpbRangeForm form, const void *ranges, uint32 n, int64 *entries)
{
	uint32		i;

	gpb_ask_set_form(finder->count, form);
	if (finder->partitions != NULL)
		(void) gpb_ask_each_share(finder->count,
								  gpb_partitions_share(finder->partitions, form, ranges, n), n);
	else
		(void) gpb_ask_each(finder->count, ranges, n);
	for (i = 0; i < n; i++)
		entries[i] = gpb_ask_answer(finder->count, i)[0];
}

/* Count the next n parts. */
static void
rank_count_parts(GpbRankFinder *finder, GpbRankParts *parts, uint32 n)
{
	rank_count(finder, GPB_RANGE_KEYS, parts->parts + parts->counted, n,
			   parts->answers + parts->counted);
	parts->counted += n;
}

/*
 * Count on, as far as it should take to come to so many more entries; seen is how many there are in
 * the parts counted before, which tell better than the catalog what a part has.  Each time at least
 * as far as before, and not much farther: the parts to come may have more.
 */
static void
rank_count_more(GpbRankFinder *finder, GpbRankParts *parts, int64 seen, double more)
{
	uint32		left = parts->n - parts->counted;
	double		wanted;

	if (parts->counted > 0)
		parts->entries = Max(seen / (double) parts->counted, 1.0);
	wanted = ceil(more * GPB_RANK_MARGIN / Max(parts->entries, 1.0)) + 1;
	if (parts->counted > 0)
		wanted = Max(Min(wanted, parts->counted * GPB_RANK_GROWTH), parts->counted);
	rank_count_parts(finder, parts, wanted < left ? (uint32) wanted : left);
}

/*
 * The part that has a rank, which becomes the rank within it; -1 if there are not so many entries.
 */
static int64
rank_part(GpbRankFinder *finder, GpbRankParts *parts, int64 *rank)
{
	int64		seen = 0;
	uint32		i;

	for (i = 0; i < parts->n; i++)
	{
		if (i == parts->counted)
			rank_count_more(finder, parts, seen, (double) (*rank - seen) + 1);
		if (*rank - seen < parts->answers[i])
		{
			*rank -= seen;
			return i;
		}
		seen += parts->answers[i];
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
		rank_count_parts(finder, parts, parts->n - parts->counted);
	for (i = 0; i < parts->n; i++)
		total += parts->answers[i];
	return total;
}

int64
gpb_rank_count_keys(GpbRankFinder *finder, GpbKeyRange range)
{
	int64		entries;

	rank_count(finder, GPB_RANGE_KEYS, &range, 1, &entries);
	return entries;
}

int64
gpb_rank_count_nulls(GpbRankFinder *finder, GpbRange nulls)
{
	int64		entries;

	rank_count(finder, GPB_RANGE_BOUNDS, &nulls, 1, &entries);
	return entries;
}

static void
rank_lost(const GpbRankFinder *finder)
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
	i = rank_part(finder, parts, &rank);
	while (i >= 0)
	{
		place->keys = parts->parts[i];
		place->rank = rank;
		place->entries = parts->answers[i];
		if (place->entries <= GPB_RANK_FEW_ENTRIES ||
			is_one_place(finder, &place->keys))
			break;
		rank_parts_init(finder, place->keys, &next);
		if (next.n == 1)
			break;
		parts = &next;
		i = rank_part(finder, parts, &rank);
		/* one snapshot sees the same entries each time */
		if (i < 0)
			rank_lost(finder);
	}
	MemoryContextSwitchTo(caller);
	return i >= 0;
}

/* ---- keys of many ranks ---- */

/* Entries of a range of keys, with ranks [next, end) of those that are searched among them */
typedef struct GpbRankSpan
{
	GpbKeyRange keys;
	int64		before;			/* visible entries before it */
	int64		entries;		/* visible entries that it has */
	uint64		next;			/* the lowest rank whose key is not found */
	uint64		end;
	int64		seen;			/* entries that were listed */
	GpbKey		last;			/* key of the last of these */
} GpbRankSpan;

typedef struct GpbRankSpans
{
	GpbRankSpan *spans;
	uint32		n;
	uint32		room;
	int64		entries;		/* of all */
} GpbRankSpans;

/* A search for the keys of ascending ranks */
typedef struct GpbRankSearch
{
	GpbRankFinder *finder;
	const int64 *ranks;
	GpbKey	   *keys;
	int64		dense;			/* with so many entries for each rank, or fewer, all are listed */
	GpbRankSpans coarse;		/* to be cut */
	GpbRankSpans fine;			/* to be listed */
} GpbRankSearch;

/* Parts that are counted together, about */
#define GPB_RANK_TOGETHER		65536

/* Entries that are listed together, about */
#define GPB_RANK_LISTED			1000000

/*
 * If ranks hit one leaf in so many, all entries are listed: to count the leaves first, so as to
 * list only those that are hit, would read them all and save no more than a part of the listing.
 */
#define GPB_RANK_SPARSE			8

static void
rank_push(GpbRankSpans *spans, const GpbRankSpan *span)
{
	if (spans->n == spans->room)
	{
		spans->room = Max(2 * spans->room, 256);
		spans->spans = spans->spans == NULL ?
			palloc(sizeof(GpbRankSpan) * spans->room) :
			repalloc_huge(spans->spans, sizeof(GpbRankSpan) * spans->room);
	}
	spans->spans[spans->n++] = *span;
	spans->entries += span->entries;
}

/*
 * Is it time to list the span's entries, since they are few, or many of their leaves have a rank?
 */
static bool
rank_is_fine(const GpbRankSearch *search, const GpbRankSpan *span)
{
	return span->entries <= GPB_RANK_FEW_ENTRIES ||
		span->entries / search->dense <= (int64) (span->end - span->next);
}

/*
 * Give the ranks that were in a span to the parts it was cut into, which were counted.  Keys of
 * parts that are one key are known.
 */
static void
rank_spread(GpbRankSearch *search, GpbRankSpan span, const GpbKeyRange *parts,
			const int64 *answers, uint32 n)
{
	GpbRankSpan part = {.before = span.before, .end = span.next};
	uint32		i;

	for (i = 0; i < n && part.end < span.end; i++)
	{
		part.keys = parts[i];
		part.entries = answers[i];
		part.next = part.end;
		while (part.end < span.end && search->ranks[part.end] < part.before + part.entries)
			part.end++;
		if (is_one_place(search->finder, &part.keys))
		{
			while (part.next < part.end)
				search->keys[part.next++] = part.keys.lo;
		}
		if (part.next < part.end)
			rank_push(rank_is_fine(search, &part) ? &search->fine : &search->coarse, &part);
		part.before += part.entries;
	}
	/* one snapshot sees the same entries each time */
	if (part.end < span.end)
		rank_lost(search->finder);
}

/* What lists the entries of a tree */
static GpbAsk *
rank_list(GpbRankFinder *finder, int tree)
{
	if (finder->list[tree] == NULL)
	{
		GpbAskWant	want = {1, &finder->trees[tree], .list = true, .form = GPB_RANGE_KEYS,
		.engine = GPB_ENGINE_CPU};
		MemoryContext caller = MemoryContextSwitchTo(finder->context);

		finder->list[tree] = gpb_ask_begin(&finder->node->css.ss.ps, &want);
		MemoryContextSwitchTo(caller);
	}
	return finder->list[tree];
}

/* Take note of the next entry of a span; entries of a span come in the order of keys. */
static inline void
rank_see(GpbRankSearch *search, GpbRankSpan *span, GpbKey key)
{
	if (key < span->last)
		rank_lost(search->finder);
	while (span->next < span->end && search->ranks[span->next] - span->before == span->seen)
		search->keys[span->next++] = key;
	span->seen++;
	span->last = key;
}

/* An entry of a span that was listed in one of several trees */
typedef struct GpbListedKey
{
	GpbKey		key;
	uint32		span;
} GpbListedKey;

#define ST_SORT sort_listed
#define ST_ELEMENT_TYPE GpbListedKey
#define ST_COMPARE(a, b) ((a)->span != (b)->span ? ((a)->span < (b)->span ? -1 : 1) : \
						  (a)->key < (b)->key ? -1 : (a)->key > (b)->key)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* List the entries of the spans in the only tree. */
static void
list_only(GpbRankSearch *search, const GpbKeyRange *ranges)
{
	const GpbLayout *layout = &search->finder->layout;
	GpbRankSpans *fine = &search->fine;
	int			width = gpb_entry_record_width(layout);
	GpbAsk	   *list = rank_list(search->finder, 0);
	GpbRangeEntry *records;
	uint64		n;

	gpb_ask_list(list, ranges, fine->n);
	while ((records = gpb_ask_matches(list, &n)) != NULL)
	{
		for (uint64 i = 0; i < n; i++)
		{
			const GpbRangeEntry *entry = gpb_entry_at(records, i, width);

			rank_see(search, &fine->spans[entry->number], gpb_entry_key(entry, layout));
		}
	}
}

/*
 * List the entries that a tree has of its share of the spans, behind the *n that were listed before
 * and of which there may be "room".
 */
static void
list_tree(GpbRankFinder *finder, int tree, const GpbAskShare *share, GpbListedKey *listed,
		  uint64 room, uint64 *n)
{
	int			width = gpb_entry_record_width(&finder->layout);
	GpbAsk	   *list = rank_list(finder, tree);
	GpbRangeEntry *records;
	uint64		found;

	gpb_ask_list(list, share->ranges, share->n);
	while ((records = gpb_ask_matches(list, &found)) != NULL)
	{
		for (uint64 i = 0; i < found; i++)
		{
			const GpbRangeEntry *entry = gpb_entry_at(records, i, width);

			/* as many were counted, with the same snapshot */
			if (*n == room)
				rank_lost(finder);
			listed[*n].span = share->number == NULL ? entry->number : share->number[entry->number];
			listed[(*n)++].key = gpb_entry_key(entry, &finder->layout);
		}
	}
}

/* List the entries of the spans in several trees, and put them in order. */
static void
list_several(GpbRankSearch *search, const GpbKeyRange *ranges)
{
	GpbRankFinder *finder = search->finder;
	GpbRankSpans *fine = &search->fine;
	const GpbAskShare *shares = gpb_partitions_share(finder->partitions, GPB_RANGE_KEYS, ranges,
													 fine->n);
	GpbListedKey *listed = MemoryContextAllocHuge(finder->round,
												  sizeof(GpbListedKey) * (fine->entries + 1));
	uint64		n = 0;

	for (int tree = 0; tree < finder->ntrees; tree++)
	{
		if (shares[tree].n > 0)
			list_tree(finder, tree, &shares[tree], listed, fine->entries, &n);
	}
	sort_listed(listed, n);
	for (uint64 i = 0; i < n; i++)
		rank_see(search, &fine->spans[listed[i].span], listed[i].key);
	pfree(listed);
}

/* List the fine spans and find the keys of their ranks. */
static void
rank_list_spans(GpbRankSearch *search)
{
	GpbRankSpans *fine = &search->fine;
	GpbKeyRange *ranges;
	uint64		i;

	ranges = MemoryContextAllocHuge(search->finder->round, sizeof(GpbKeyRange) * fine->n);
	for (i = 0; i < fine->n; i++)
		ranges[i] = fine->spans[i].keys;
	if (search->finder->partitions != NULL)
		list_several(search, ranges);
	else
		list_only(search, ranges);
	for (i = 0; i < fine->n; i++)
	{
		if (fine->spans[i].seen != fine->spans[i].entries)
			rank_lost(search->finder);
	}
	pfree(ranges);
	fine->n = 0;
	fine->entries = 0;
}

/*
 * Cut coarse spans, as many as give parts enough to be counted together, and give their ranks to
 * the parts.
 */
static void
rank_cut_spans(GpbRankSearch *search)
{
	GpbRankFinder *finder = search->finder;
	GpbRankSpans *coarse = &search->coarse;
	GpbRankSpans cut = {0};
	uint32	   *ends = palloc(sizeof(uint32) * coarse->n); /* of each span's parts */
	GpbKeyRange *parts = palloc(sizeof(GpbKeyRange) *
								(GPB_RANK_TOGETHER + GPB_RANK_MOST_PARTS));
	int64	   *answers;
	uint32		n = 0;
	uint32		i;

	while (coarse->n > 0 && n < GPB_RANK_TOGETHER)
	{
		GpbRankSpan *span = &coarse->spans[--coarse->n];
		GpbRankCuts cuts;

		CHECK_FOR_INTERRUPTS();
		coarse->entries -= span->entries;
		cut_range(finder, span->keys, &cuts);
		if (cuts.n == 1)
			rank_push(&search->fine, span);
		else
		{
			memcpy(parts + n, cuts.parts, sizeof(GpbKeyRange) * cuts.n);
			n += cuts.n;
			ends[cut.n] = n;
			rank_push(&cut, span);
		}
		pfree(cuts.parts);
	}
	answers = palloc(sizeof(int64) * Max(n, 1));
	rank_count(finder, GPB_RANGE_KEYS, parts, n, answers);
	for (i = 0, n = 0; i < cut.n; n = ends[i++])
		rank_spread(search, cut.spans[i], parts + n, answers + n, ends[i] - n);
	pfree(ends);
	pfree(parts);
	pfree(answers);
	if (cut.spans != NULL)
		pfree(cut.spans);
}

void
gpb_rank_keys(GpbRankFinder *finder, const int64 *ranks, uint64 n, GpbKey *keys)
{
	const GpbRankParts *range = &finder->range;
	GpbRankSpan all = {.end = n};
	GpbRankSearch search = {.finder = finder, .ranks = ranks, .keys = keys};
	MemoryContext caller;

	Assert(!finder->from_end);
	MemoryContextReset(finder->round);
	caller = MemoryContextSwitchTo(finder->round);
	(void) gpb_rank_total(finder);
	search.dense = Max((int64) (gpb_entries_per_leaf(finder->index, &finder->layout) *
								GPB_RANK_SPARSE), 1);
	rank_spread(&search, all, range->parts, range->answers, range->n);
	while (search.coarse.n > 0 || search.fine.n > 0)
	{
		if (search.coarse.n == 0 || search.fine.entries >= GPB_RANK_LISTED)
			rank_list_spans(&search);
		else
			rank_cut_spans(&search);
	}
	MemoryContextSwitchTo(caller);
}

/* ---- counters and end ---- */

void
gpb_rank_counters(const GpbRankFinder *finder, GpbBatchCounters *counters)
{
	gpb_ask_counters(finder->count, counters);
	for (int i = 0; i < finder->ntrees; i++)
	{
		if (finder->list[i] != NULL)
			gpb_ask_counters(finder->list[i], counters);
	}
}

void
gpb_rank_end(GpbRankFinder *finder)
{
	gpb_ask_end(finder->count);
	for (int i = 0; i < finder->ntrees; i++)
		gpb_ask_end(finder->list[i]);
	MemoryContextDelete(finder->context);
}
