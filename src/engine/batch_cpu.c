/*-------------------------------------------------------------------------
 *
 * batch_cpu.c
 *	  Engine: a batch answered from leaf pages in shared buffers.
 *
 * The ranges are sorted a portion at a time, as memory allows, and walked leaf by leaf (walk.h).  A
 * leaf whose entries in the ranges are all on all-visible heap pages is read where it lies.  Of any
 * other leaf the entries are copied, and its pin is kept until the visibility map has been read for
 * them (visibility.h).
 *
 * Other engines have ranges of the batch, or pieces of them that they left over, answered here too
 * (gpb_cpu_answer_ranges(), gpb_cpu_answer_pieces()).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "hold.h"
#include "large_array.h"
#include "index/walk.h"
#include "engine/batch_cells.h"
#include "engine/judged_leaf.h"
#include "engine/heap_spans.h"

/*
 * The most entries that are read under a leaf's lock, since that cannot be cancelled.  One range
 * has fewer on a leaf; many that overlap have more.
 */
#define GPB_IN_PLACE_ENTRIES	4096

StaticAssertDecl(GPB_MAX_LEAF_ENTRIES <= GPB_IN_PLACE_ENTRIES, "a leaf fits");

/* Hits of at least so many entries are aggregated a column at a time */
#define GPB_LONG_HIT			16

/* sort_pieces() sorts pieces into the order of a walk. */
#define ST_SORT sort_pieces
#define ST_ELEMENT_TYPE GpbPiece
#define ST_COMPARE(a, b) gpb_bound_cmp((a)->range.lo, (b)->range.lo)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* The least number of ranges that are sorted together, however small work_mem is */
#define GPB_LEAST_PORTION			1024

struct GpbCpuAnswer
{
	GpbWalk    *walk;
	GpbVisibility *visibility;
	GpbSettledReader settled;
	bool		settled_begun;	/* not before a heap page is met that is not all-visible */
	bool		expect_settled; /* were all of the last leaf settled, all rows seen? */
	GpbJudgedLeaf *judged;		/* NULL if the program does not judge */
	GpbCellReader cells;

	/* Ranges [next, end) have not been sorted yet */
	uint32		next;
	uint32		end;
	uint32		portion;		/* number of ranges that are sorted together */
	GpbNumberedKeys keys;
	GpbNumberedKeys spare;		/* to sort keys; no elements if the ranges are bounds */
	GpbPiece *bounds;	/* the portion, if the ranges are bounds; else NULL */

	/* The sorted portion, and where the next walk begins in it */
	GpbNumberedKeys sorted;		/* keys or spare */
	uint32		nsorted;
	uint32		at_sorted;

	/* The leaf at hand, with hits that were not all added since the list was full */
	const GpbWalkHit *hits;
	int			nhits;
	bool		more;			/* the walk has more hits on the leaf */
	int			hit;			/* the next hit */
	int			at;				/* the next entry of that hit, if some of it were added */
	uint64		dead;			/* GPB_LOC_DEAD if dead hints are heeded on this leaf, else 0 */
	uint8		visible[GPB_MAX_LEAF_ENTRIES];	/* GpbEntryState of each entry in copy */
	GpbHeapSpan spans[GPB_MAX_LEAF_ENTRIES];
	PGAlignedBlock copy;
};

/* ---- begin and end ---- */

static inline bool
has_wide_keys(const GpbBatch *batch)
{
	return batch->program.layout.key_width == GPB_WIDE_KEY;
}

/* Make room for n numbered keys of the index's width. */
static GpbNumberedKeys
numbered_keys_alloc(const GpbBatch *batch, uint32 n)
{
	GpbNumberedKeys keys = {has_wide_keys(batch)};

	keys.elements = gpb_alloc_array(CurrentMemoryContext,
									gpb_numbered_key_size(keys.wide) * n);
	return keys;
}

/* Begin an answer of the CPU's that has nothing to do yet, with room for n sorted keys. */
static GpbCpuAnswer *
cpu_answer_begin(GpbBatch *batch, uint32 n)
{
	GpbCpuAnswer *cpu = palloc(sizeof(GpbCpuAnswer));

	memset(cpu, 0, offsetof(GpbCpuAnswer, visible));
	cpu->walk = gpb_walk_begin(batch->index, &batch->program.layout, &batch->counters.walk);
	cpu->visibility = gpb_visibility_begin(batch->heap);
	if (batch->listing != NULL)
		cpu->judged = palloc(sizeof(GpbJudgedLeaf));
	cpu->keys = numbered_keys_alloc(batch, n);
	return cpu;
}

/* The bytes that a range takes while its portion is walked. */
static Size
cpu_range_memory(const GpbBatch *batch)
{
	return batch->form == GPB_RANGE_BOUNDS ? GPB_PIECE_MEMORY :
		2 * gpb_numbered_key_size(has_wide_keys(batch));
}

GpbCpuAnswer *
gpb_cpu_answer_ranges(GpbBatch *batch, uint32 first, uint32 end)
{
	/* The rest of the memory is that of the list, or of the entries gathered for heap visits. */
	Size		memory = batch->memory / 4 * (batch->program.list_entries ? 2 : 3);
	/* of ranges that are still to come few come at a time */
	uint32		expected = Max(end - first, batch->source != NULL ? GPB_LEAST_PORTION : 1);
	uint32		portion = (uint32) Min(Max(memory / cpu_range_memory(batch), GPB_LEAST_PORTION),
									   expected);
	GpbCpuAnswer *cpu = cpu_answer_begin(batch, portion);

	cpu->next = first;
	cpu->end = end;
	cpu->portion = portion;
	if (!batch->program.list_entries || batch->listing != NULL)
		gpb_cells_begin(&cpu->cells, batch->heap, batch->index, batch->snapshot, &batch->program,
						&batch->format, batch->evaluator);
	batch->counters.no_cells = batch->program.list_entries ? NULL : cpu->cells.why_not;
	if (batch->form == GPB_RANGE_BOUNDS)
		cpu->bounds = gpb_alloc_array(CurrentMemoryContext,
									  sizeof(GpbPiece) * portion);
	else
		cpu->spare = numbered_keys_alloc(batch, portion);
	return cpu;
}

/*
 * Sort pieces, and fill in the keys where they begin, by which a walk looks for leaves.  A
 * condition such as k > 2147483647 makes a bound beyond all keys of the index's width; the key is
 * then one that fits the width.
 */
static void
cpu_sort_pieces(const GpbBatch *batch, GpbCpuAnswer *cpu, GpbPiece *pieces, uint32 n)
{
	GpbKey		most = gpb_key_most(batch->program.layout.key_width);
	uint32		i;

	if (n > 1)
		sort_pieces(pieces, n);
	for (i = 0; i < n; i++)
		gpb_number_key(cpu->keys, i, Min(pieces[i].range.lo.key, most), pieces[i].number);
}

GpbCpuAnswer *
gpb_cpu_answer_pieces(GpbBatch *batch, GpbPiece *pieces, uint32 n)
{
	GpbCpuAnswer *cpu = cpu_answer_begin(batch, Max(n, 1));

	cpu_sort_pieces(batch, cpu, pieces, n);
	gpb_walk_start_pieces(cpu->walk, cpu->keys, pieces, n);
	return cpu;
}

void
gpb_cpu_answer_end(GpbCpuAnswer *cpu)
{
	gpb_visibility_end(cpu->visibility);
	gpb_cells_end(&cpu->cells);
	gpb_walk_end(cpu->walk);
	pfree(cpu->keys.elements);
	if (cpu->judged != NULL)
		pfree(cpu->judged);
	if (cpu->spare.elements != NULL)
		pfree(cpu->spare.elements);
	if (cpu->bounds != NULL)
		pfree(cpu->bounds);
	pfree(cpu);
}

/* ---- portions ---- */

/* Sort ranges [cpu->next, cpu->next + n), which are bounds, as pieces.  Empty ones are left out. */
static void
cpu_sort_bounds(const GpbBatch *batch, GpbCpuAnswer *cpu, uint32 n)
{
	const GpbRange *ranges = (const GpbRange *) batch->ranges + cpu->next;
	uint32		i;

	cpu->nsorted = 0;
	for (i = 0; i < n; i++)
	{
		GpbPiece *piece = &cpu->bounds[cpu->nsorted];

		if (!gpb_bound_less(ranges[i].lo, ranges[i].hi))
			continue;
		piece->range = ranges[i];
		piece->block = GPB_NO_BLOCK;
		piece->number = cpu->next + i;
		cpu->nsorted++;
	}
	cpu_sort_pieces(batch, cpu, cpu->bounds, cpu->nsorted);
}

/*
 * Sort ranges [cpu->next, cpu->next + n), which are points or intervals of keys, by where they
 * begin.
 */
static void
cpu_sort_keys(const GpbBatch *batch, GpbCpuAnswer *cpu, uint32 n)
{
	uint32		i;

	for (i = 0; i < n; i++)
		gpb_number_key(cpu->keys, i, gpb_batch_keys(batch, cpu->next + i).lo, cpu->next + i);
	cpu->sorted = gpb_sort_keys(cpu->keys, cpu->spare, n);
	cpu->nsorted = n;
}

/* Sort the next portion of the ranges.  Returns false if there is none. */
static bool
batch_next_portion(GpbBatch *batch, GpbCpuAnswer *cpu)
{
	uint32		n;

	if (cpu->next == cpu->end && gpb_batch_more_ranges(batch))
		cpu->end = batch->n;
	n = Min(cpu->portion, cpu->end - cpu->next);
	if (n == 0)
		return false;
	if (cpu->bounds != NULL)
		cpu_sort_bounds(batch, cpu, n);
	else
		cpu_sort_keys(batch, cpu, n);
	cpu->next += n;
	cpu->at_sorted = 0;
	return true;
}

/* Drop the pin on the heap page that was visited last. */
static void
batch_drop_heap_pin(GpbBatch *batch)
{
	if (batch->visit != NULL)
		gpb_visit_stop(batch->visit);
}

/*
 * Begin a walk of the next ranges: all of a portion, or those of it whose leaves the finder knows.
 * Returns false if there are none.  No pin is held, not even one of the visibility map, while a
 * device may be waited for (rule M9).
 */
static bool
batch_next_walk(GpbBatch *batch, GpbCpuAnswer *cpu)
{
	const uint32 *leaves = NULL;
	uint32		n;

	if (cpu->at_sorted == cpu->nsorted && !batch_next_portion(batch, cpu))
		return false;
	n = cpu->nsorted - cpu->at_sorted;
	if (cpu->bounds != NULL)
	{
		gpb_walk_start_pieces(cpu->walk, cpu->keys, cpu->bounds, n);
		cpu->at_sorted += n;
		return true;
	}
	if (batch->finder != NULL)
	{
		gpb_visibility_release(cpu->visibility);
		batch_drop_heap_pin(batch);
		n = batch->finder->find(batch, cpu->sorted, cpu->nsorted, cpu->at_sorted, &leaves);
	}
	if (leaves == NULL)
		batch->counters.cpu_keys += n;
	gpb_walk_start(cpu->walk, gpb_numbered_keys_from(cpu->sorted, cpu->at_sorted),
				   batch->form == GPB_RANGE_POINTS ? NULL : (const GpbKeyRange *) batch->ranges,
				   leaves, n);
	cpu->at_sorted += n;
	return true;
}

/* ---- a leaf in place ---- */

/*
 * Prefetch the cache lines of rows [from, to) of a leaf, in the order in which they will be read.
 * The loops that follow would wait for them a few at a time.
 */
static inline void
prefetch_rows(const char *page, int row_width, int from, int to)
{
	const char *line = gpb_page_row(page, row_width, to - 1);
	const char *end = gpb_page_row(page, row_width, from) + row_width;

	for (; line < end; line += GPB_CACHE_LINE)
		__builtin_prefetch(line);
}

/*
 * The leaf to which the walk will go next, if it is known, and if its rows are likely to be read:
 * it may be passed by, as those before it were.
 */
static inline const char *
batch_next_page(const GpbCpuAnswer *cpu)
{
	return cpu->cells.passing ? NULL : gpb_walk_next_page(cpu->walk);
}

/*
 * Prefetch the rows of the leaf to which the walk will go next, if it is known: those of a full
 * leaf.
 */
static void
batch_prefetch_next(const GpbBatch *batch, const GpbCpuAnswer *cpu)
{
	const GpbLayout *layout = &batch->program.layout;
	const char *next = batch_next_page(cpu);

	/* Of the rows of a leaf with runs, which may take half as much more, these are the first. */
	if (next != NULL)
		prefetch_rows(next, layout->row_width, 0,
					  gpb_page_capacity(layout->key_width, layout->row_width));
}

/* Count the entries of all hits, and prefetch their rows. */
static int
batch_hit_entries(const GpbCpuAnswer *cpu, const char *page, int row_width)
{
	int			entries = 0;
	int			i;

	for (i = 0; i < cpu->nhits; i++)
	{
		const GpbWalkHit *hit = &cpu->hits[i];

		if (hit->to - hit->from >= GPB_LONG_HIT && entries < GPB_MAX_LEAF_ENTRIES)
			prefetch_rows(page, row_width, hit->from, hit->to);
		else
			__builtin_prefetch(gpb_page_row(page, row_width, hit->from));
		entries += hit->to - hit->from;
	}
	return entries;
}

/*
 * Find the next stretch of entries [from, to) that are wanted: [*first, *end).  All are, unless the
 * program judges.  Returns false if there is none.
 */
static inline bool
batch_stretch(const GpbCpuAnswer *cpu, int from, int to, int *first, int *end)
{
	if (cpu->judged != NULL)
		return gpb_judged_stretch(cpu->judged, from, to, first, end);
	*first = from;
	*end = to;
	return from < to;
}

/*
 * Are all wanted entries of the hits on all-visible heap pages, as far as is known without I/O?
 * Rows of the next leaf are prefetched meanwhile.
 */
static bool
batch_hits_visible(const GpbCpuAnswer *cpu, const char *page, int row_width)
{
	const char *next = batch_next_page(cpu);
	int			first;
	int			end;
	int			i;

	for (i = 0; i < cpu->nhits; i++)
	{
		for (end = cpu->hits[i].from; batch_stretch(cpu, end, cpu->hits[i].to, &first, &end);)
		{
			if (!gpb_visibility_all_pinned(cpu->visibility, page, row_width, first, end, next))
				return false;
		}
	}
	return true;
}

/* Find the spans of the wanted entries among [from, to), and add them to the n spans found. */
static int
batch_spans_between(const GpbBatch *batch, GpbCpuAnswer *cpu, const char *page, int from, int to,
					int n)
{
	int			first;
	int			end;

	for (end = from; batch_stretch(cpu, end, to, &first, &end);)
		n = gpb_heap_spans(page, gpb_page_row_width(page), first, end, cpu->dead, cpu->spans, n);
	return n;
}

/*
 * Find the spans of the hits; of all [0, count) entries if the walk has more hits on the leaf.  No
 * entry is in two spans, though hits may overlap; they begin in ascending order.
 */
static int
batch_spans(const GpbBatch *batch, GpbCpuAnswer *cpu, const char *page, int count)
{
	int			end = 0;
	int			n = 0;
	int			i;

	if (cpu->more)
		return batch_spans_between(batch, cpu, page, 0, count, 0);
	for (i = 0; i < cpu->nhits; i++)
	{
		n = batch_spans_between(batch, cpu, page, Max(cpu->hits[i].from, end), cpu->hits[i].to, n);
		end = Max(end, cpu->hits[i].to);
	}
	return n;
}

/*
 * Are all entries of the hits on heap pages that are all-visible or known to be settled?  This is
 * asked only where it was so on the leaf before, since in vain it costs as much as with success.
 */
static bool
batch_hits_settled(GpbBatch *batch, GpbCpuAnswer *cpu, const char *page)
{
	uint64		hits = cpu->settled.hits;

	if (!cpu->expect_settled)
		return false;
	batch_prefetch_next(batch, cpu);
	cpu->expect_settled = gpb_spans_all_seen(&cpu->settled, cpu->visibility, page,
											 gpb_page_row_width(page), cpu->spans,
											 batch_spans(batch, cpu, page, 0));
	if (cpu->expect_settled)
		batch->counters.settled_pages += cpu->settled.hits - hits;
	return cpu->expect_settled;
}

/* List entry "at" of the leaf whose keys are read in order, if it is wanted. */
static inline void
batch_list_entry(GpbBatch *batch, const GpbCpuAnswer *cpu, uint32 number, bool seen,
				 GpbKeyReader *keys, int row_width, int at)
{
	int			key_width = batch->program.layout.key_width;
	GpbJudgement judgement = GPB_JUDGED_LISTED;
	uint64		rank = 0;
	GpbSpreadRow spread;

	if (cpu->judged != NULL)
	{
		judgement = cpu->judged->judged[at];
		rank = cpu->judged->rank[at];
	}
	if (judgement != GPB_JUDGED_DROPPED)
		gpb_batch_list_add(batch, number, seen, judgement, rank,
						   gpb_next_key(keys, key_width, row_width, at),
						   gpb_spread_row(keys->page, row_width, at, &spread));
}

/*
 * Aggregate the entries of a long hit, all of which are visible, a column at a time.  Neither this
 * nor the loop over the hits is inlined, so that the loop has the registers to itself.
 */
static pg_noinline void
batch_aggregate_hit(GpbBatch *batch, const char *page, const GpbWalkHit *hit)
{
	GpbLeafPick pick = {NULL, hit->from, hit->to - hit->from};

	gpb_leaf_answer(page, &batch->program, &batch->format, &pick,
					gpb_batch_answer(batch, hit->number));
}

/* Aggregate the hits of a leaf, all of whose entries are visible. */
static pg_noinline void
batch_aggregate_hits(GpbBatch *batch, const GpbCpuAnswer *cpu, const char *page)
{
	const GpbAnswerFormat *format = &batch->format;
	const GpbLayout *layout = &batch->program.layout;
	bool		keys = format->ncolumns > 0 && format->column[0].column == 0;
	int			widest = gpb_has_runs(gpb_page_row_width(page)) ? 0 : GPB_LONG_HIT;
	int			i;

	for (i = 0; i < cpu->nhits; i++)
	{
		const GpbWalkHit *hit = &cpu->hits[i];
		int64	   *answer;
		int			at;

		if (hit->to - hit->from >= widest)
		{
			batch_aggregate_hit(batch, page, hit);
			continue;
		}
		answer = gpb_batch_answer(batch, hit->number);
		for (at = hit->from; at < hit->to; at++)
			gpb_answer_add_entry(format, layout, answer,
								 keys ? gpb_page_key(page, layout->key_width, at) : 0,
								 gpb_page_row(page, layout->row_width, at));
	}
}

/* Put the hits of a leaf, all of whose entries are visible, through the program. */
static void
batch_evaluate_hits(GpbBatch *batch, const GpbCpuAnswer *cpu, const char *page)
{
	int			i;

	for (i = 0; i < cpu->nhits; i++)
	{
		const GpbWalkHit *hit = &cpu->hits[i];
		GpbLeafPick pick = {NULL, hit->from, hit->to - hit->from};

		gpb_evaluate_leaf(batch->evaluator, hit->number, page, &pick);
	}
}

/*
 * List the wanted entries of the hits of a leaf, for which there is room.  All are visible, if the
 * list sees that.
 */
static void
batch_list_hits(GpbBatch *batch, const GpbCpuAnswer *cpu, const char *page)
{
	int			key_width = batch->program.layout.key_width;
	int			row_width = gpb_page_row_width(page);
	int			first;
	int			end;
	int			i;

	if (cpu->judged != NULL && batch->listing->limited)
		gpb_judged_count(batch->listing, cpu->judged, cpu->hits, cpu->nhits);
	for (i = 0; i < cpu->nhits; i++)
	{
		for (end = cpu->hits[i].from; batch_stretch(cpu, end, cpu->hits[i].to, &first, &end);)
		{
			GpbKeyReader keys = gpb_read_keys(page, key_width, row_width, first);

			for (; first < end; first++)
				batch_list_entry(batch, cpu, cpu->hits[i].number, true, &keys, row_width, first);
		}
	}
}

/*
 * Add the hits of a leaf where it lies.  This is done only if all their entries count, if it takes
 * no I/O to know that, and if a list need not grow.  Returns false, with nothing done, if not.
 *
 * The leaf is pinned and share-locked on entry and exit, so the map and the settled pages are read
 * while no entry can leave or enter the leaf.
 */
static bool
batch_leaf_in_place(GpbBatch *batch, GpbCpuAnswer *cpu, Buffer buffer, int entries)
{
	const char *page = BufferGetPage(buffer);
	int			row_width = gpb_page_row_width(page);
	bool		list = batch->program.list_entries;

	if (GPB_HOLD_WANTED("batch-after-leaf") ||
		cpu->more || entries > GPB_IN_PLACE_ENTRIES ||
		(list && !gpb_batch_list_has_room(batch, entries)) ||
		(gpb_page_special(page)->flags & GPB_PAGE_HAS_DEAD) != 0 ||
		(gpb_batch_list_sees(batch) && !batch_hits_visible(cpu, page, row_width) &&
		 !batch_hits_settled(batch, cpu, page)))
		return false;

	if (!gpb_batch_list_sees(batch))
		batch_prefetch_next(batch, cpu);
	if (list)
		batch_list_hits(batch, cpu, page);
	else if (batch->evaluator != NULL)
	{
		if (!gpb_batch_record_leaf(batch, &cpu->cells, buffer, cpu->hits, cpu->nhits))
			batch_evaluate_hits(batch, cpu, page);
	}
	else
	{
		if (!gpb_batch_record_leaf(batch, &cpu->cells, buffer, cpu->hits, cpu->nhits))
			batch_aggregate_hits(batch, cpu, page);
		batch->counters.matches += entries;
	}
	cpu->nhits = 0;
	return true;
}

/* ---- a leaf from a copy ---- */

/*
 * Copy the wanted entries of the hits, each to its place, and the special space; with runs also the
 * header and all keys.  The whole leaf is copied where that is about as much, or where the walk is
 * to find more hits on it.
 */
static void
batch_copy_hits(const GpbBatch *batch, GpbCpuAnswer *cpu, const char *page, int entries)
{
	int			key_width = batch->program.layout.key_width;
	int			row_width = gpb_page_row_width(page);
	char	   *copy = cpu->copy.data;
	int			first;
	int			end;
	int			i;

	if (cpu->more || entries > gpb_page_count(page) / 4)
	{
		gpb_copy_leaf(copy, page);
		return;
	}
	memcpy(copy + GPB_SPECIAL_OFFSET, page + GPB_SPECIAL_OFFSET, sizeof(GpbPageSpecial));
	if (gpb_has_runs(row_width))
		memcpy(copy, page, gpb_page_u16(page, GPB_PD_LOWER));
	for (i = 0; i < cpu->nhits; i++)
	{
		for (end = cpu->hits[i].from; batch_stretch(cpu, end, cpu->hits[i].to, &first, &end);)
		{
			int			key = gpb_key_place(key_width, first);
			int			row = GPB_SPECIAL_OFFSET - end * row_width;

			if (!gpb_has_runs(row_width))
				memcpy(copy + key, page + key, (end - first) * key_width);
			memcpy(copy + row, page + row, (end - first) * row_width);
		}
	}
}

/* Begin to look up settled pages, if that was not done. */
static void
batch_begin_settled(GpbBatch *batch, GpbCpuAnswer *cpu)
{
	if (!cpu->settled_begun)
		gpb_settled_begin(&cpu->settled, batch->heap, batch->snapshot);
	cpu->settled_begun = true;
}

/*
 * Read the visibility map for the entries that were copied, and the settled pages where it shows
 * nothing.  The leaf is pinned.  Returns the number of spans whose entries are still unknown; they
 * are in cpu->spans.
 */
static int
batch_read_visibility(GpbBatch *batch, GpbCpuAnswer *cpu, int count)
{
	const char *copy = cpu->copy.data;
	int			row_width = gpb_page_row_width(copy);
	int			n = batch_spans(batch, cpu, copy, count);
	uint64		hits;
	uint64		unseen;

	n = gpb_spans_visible(cpu->visibility, copy, row_width, cpu->spans, n, cpu->visible);
	if (n == 0)
		return 0;
	batch_begin_settled(batch, cpu);
	if (!cpu->settled.eligible)
		return n;
	hits = cpu->settled.hits;
	unseen = cpu->settled.unseen;
	n = gpb_spans_settled(&cpu->settled, copy, row_width, cpu->spans, n, cpu->visible);
	batch->counters.settled_pages += cpu->settled.hits - hits;
	cpu->expect_settled = n == 0 && cpu->settled.unseen == unseen;
	return n;
}

/*
 * Copy what the hits have on a leaf, and learn which of it is visible.  The leaf is pinned and
 * share-locked on entry.  It is unlocked on exit, and its pin, for which VACUUM must wait, is
 * dropped, since the map has been read.
 *
 * Entries that are unknown after that are visited in the heap now, if they are on few pages, as
 * they are in a table that was loaded in the order of keys.
 */
static void
batch_leaf_copied(GpbBatch *batch, GpbCpuAnswer *cpu, Buffer buffer, int entries)
{
	const char *page = BufferGetPage(buffer);
	int			count = gpb_page_count(page);
	int			unknown = 0;

	batch_prefetch_next(batch, cpu);
	batch_copy_hits(batch, cpu, page, entries);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	GPB_HOLD("batch-after-leaf");
	if (gpb_batch_list_sees(batch))
		unknown = batch_read_visibility(batch, cpu, count);
	ReleaseBuffer(buffer);
	if (unknown > 0 && !batch->heap_rows)
		(void) gpb_visit_leaf(gpb_batch_visit(batch), cpu->copy.data,
							  gpb_page_row_width(cpu->copy.data), cpu->spans, unknown,
							  cpu->visible);
}

/*
 * List entry "at" of the copied leaf, in range number "number", unless it is not wanted, or known
 * not to be visible.
 */
static inline void
batch_list_copied(GpbBatch *batch, GpbCpuAnswer *cpu, uint32 number, GpbKeyReader *keys,
				  int row_width, int at)
{
	int			state = gpb_batch_list_sees(batch) ? cpu->visible[at] : GPB_ENTRY_UNKNOWN;

	/* Of an entry that is not wanted neither the copy nor "visible" has anything. */
	if (cpu->judged != NULL && cpu->judged->judged[at] == GPB_JUDGED_DROPPED)
		return;
	if ((gpb_page_locator(keys->page, row_width, at) & cpu->dead) ||
		state == GPB_ENTRY_UNSEEN)
		return;
	batch_list_entry(batch, cpu, number, state == GPB_ENTRY_SEEN, keys, row_width, at);
}

/* Aggregate entry "at" of the copied leaf, in range number "number". */
static inline void
batch_add_copied(GpbBatch *batch, GpbCpuAnswer *cpu, uint32 number, GpbKeyReader *keys,
				 int row_width, int at)
{
	GpbSpreadRow spread;
	const char *row = gpb_spread_row(keys->page, row_width, at, &spread);
	GpbKey		key = gpb_next_key(keys, batch->program.layout.key_width, row_width, at);

	if (gpb_row_locator(row) & cpu->dead)
		return;
	if (cpu->visible[at] == GPB_ENTRY_SEEN)
		gpb_batch_add_visible(batch, number, key, row);
	else if (cpu->visible[at] == GPB_ENTRY_UNKNOWN)
		gpb_batch_add_unknown(batch, number, key, row);
}

/*
 * Aggregate the entries of a hit on the copied leaf, which are many, a column at a time.  None of
 * them has been added.
 */
static void
batch_add_long_hit(GpbBatch *batch, GpbCpuAnswer *cpu, const GpbWalkHit *hit)
{
	const GpbLayout *layout = &batch->program.layout;
	const char *page = cpu->copy.data;
	int			row_width = gpb_page_row_width(page);
	uint16		counted[GPB_MAX_LEAF_ENTRIES];
	uint16		unknown[GPB_MAX_LEAF_ENTRIES];
	GpbLeafPick pick;
	int			nunknown = gpb_leaf_pick(page, &batch->program, hit->from, hit->to,
										 cpu->visible + hit->from, &pick, counted, unknown);
	int			i;

	if (batch->evaluator != NULL)
		gpb_evaluate_leaf(batch->evaluator, hit->number, page, &pick);
	else
	{
		gpb_leaf_answer(page, &batch->program, &batch->format, &pick,
						gpb_batch_answer(batch, hit->number));
		batch->counters.matches += pick.n;
	}
	for (i = 0; i < nunknown; i++)
	{
		GpbSpreadRow spread;

		gpb_batch_add_unknown(batch, hit->number,
							  gpb_leaf_key(page, layout->key_width, row_width, unknown[i]),
							  gpb_spread_row(page, row_width, unknown[i], &spread));
	}
}

/*
 * Add what is left of the copied leaf.  Returns false if the list is full before that, or if its
 * part has enough.
 */
static bool
batch_drain(GpbBatch *batch, GpbCpuAnswer *cpu)
{
	for (;;)
	{
		for (; cpu->hit < cpu->nhits; cpu->hit++)
		{
			const GpbWalkHit *hit = &cpu->hits[cpu->hit];

			if (!batch->program.list_entries && hit->to - hit->from >= GPB_LONG_HIT)
				batch_add_long_hit(batch, cpu, hit);
			else
			{
				const char *page = cpu->copy.data;
				int			row_width = gpb_page_row_width(page);
				GpbKeyReader keys;

				cpu->at = Max(cpu->at, hit->from);
				keys = gpb_read_keys(page, batch->program.layout.key_width, row_width, cpu->at);
				for (; cpu->at < hit->to; cpu->at++)
				{
					if (gpb_batch_list_full(batch) || gpb_batch_part_has_enough(batch))
						return false;
					if (batch->program.list_entries)
						batch_list_copied(batch, cpu, hit->number, &keys, row_width, cpu->at);
					else
						batch_add_copied(batch, cpu, hit->number, &keys, row_width, cpu->at);
				}
				cpu->at = 0;
			}
			CHECK_FOR_INTERRUPTS();
		}
		cpu->nhits = cpu->hit = 0;
		if (!cpu->more)
			return true;
		cpu->nhits = gpb_walk_hits(cpu->walk, cpu->copy.data, &cpu->hits, &cpu->more);
	}
}

/*
 * Add the entries of a leaf.  It is pinned and share-locked on entry, and released on exit.
 * Entries for which the list has no room are left for batch_drain().
 */
static void
batch_leaf(GpbBatch *batch, GpbCpuAnswer *cpu, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	int			entries;

	TestForOldSnapshot(batch->snapshot, batch->index, page);
	cpu->nhits = gpb_walk_hits(cpu->walk, page, &cpu->hits, &cpu->more);
	cpu->hit = 0;
	cpu->at = 0;
	cpu->dead = 0;
	if ((gpb_page_special(page)->flags & GPB_PAGE_HAS_DEAD) != 0 &&
		!batch->program.ignore_dead_hints)
		cpu->dead = GPB_LOC_DEAD;
	entries = batch_hit_entries(cpu, page, gpb_page_row_width(page));
	if (entries > 0)
		pgstat_count_index_tuples(batch->index, entries);
	if (cpu->cells.zone != NULL && entries > 0 && !cpu->more &&
		gpb_batch_none_passes(batch, &cpu->cells, buffer))
		entries = cpu->nhits = 0;
	if (cpu->judged != NULL && (entries > 0 || cpu->more))
		entries = gpb_judge_hits(batch->listing, cpu->judged, page, cpu->hits, cpu->nhits,
								 cpu->more);
	if ((entries == 0 && !cpu->more) || batch_leaf_in_place(batch, cpu, buffer, entries))
		UnlockReleaseBuffer(buffer);
	else
		batch_leaf_copied(batch, cpu, buffer, entries);
}

/*
 * Pass by the leaves to which the walk would go next, as far as their cells hold (rule M14).  No
 * leaf is locked or pinned.
 */
static inline void
batch_pass_leaves(GpbBatch *batch, GpbCpuAnswer *cpu)
{
	GpbWalkLink at;

	if (!cpu->cells.eligible)
		return;
	if (gpb_cells_pause(&cpu->cells))
	{
		batch->counters.cell_misses[cpu->cells.failed]++;
		return;
	}
	if (!gpb_walk_link(cpu->walk, &at))
		return;
	batch_begin_settled(batch, cpu);
	gpb_batch_pass_leaves(batch, &cpu->cells, cpu->walk, &at, cpu->visibility, &cpu->settled);
}

/*
 * Go on leaf by leaf until all is done, until the list is full or at the end of a part, or until
 * the program gives up.
 */
static GpbFillOutcome
batch_walk(GpbBatch *batch, GpbCpuAnswer *cpu)
{
	for (;;)
	{
		Buffer		buffer;

		if (!batch_drain(batch, cpu) || gpb_batch_list_full(batch) || gpb_batch_part_ends(batch))
			return GPB_FILL_FULL;
		if (gpb_batch_gave_up(batch, NULL))
			return GPB_FILL_GAVE_UP;
		/* So many groups are not moved while the leaf is locked. */
		if (batch->groups != NULL)
			gpb_groups_reserve(batch->groups, GPB_IN_PLACE_ENTRIES + GPB_STRIP);
		batch_pass_leaves(batch, cpu);
		if (gpb_walk_leaf(cpu->walk, &buffer))
			batch_leaf(batch, cpu, buffer);
		else if (!batch_next_walk(batch, cpu))
			return GPB_FILL_DONE;
	}
}

GpbFillOutcome
gpb_cpu_answer_fill(GpbBatch *batch, GpbCpuAnswer *cpu)
{
	GpbFillOutcome outcome = batch_walk(batch, cpu);

	batch_drop_heap_pin(batch);
	return outcome;
}

int
gpb_cpu_answer_rest(const GpbCpuAnswer *cpu, GpbRange *rest)
{
	if (cpu->bounds == NULL || cpu->nhits > 0 || cpu->more || cpu->next < cpu->end)
		return -1;
	return gpb_walk_rest(cpu->walk, rest);
}

/* ---- the engine ---- */

static void
batch_cpu_start(GpbBatch *batch)
{
	batch->state = gpb_cpu_answer_ranges(batch, batch->first, batch->n);
}

static GpbFillOutcome
batch_cpu_fill(GpbBatch *batch)
{
	GpbFillOutcome outcome = gpb_cpu_answer_fill(batch, (GpbCpuAnswer *) batch->state);

	if (batch->finder != NULL && batch->finder->pause != NULL)
		batch->finder->pause(batch);
	return outcome;
}

static void
batch_cpu_end(GpbBatch *batch)
{
	GpbCpuAnswer *cpu = (GpbCpuAnswer *) batch->state;

	batch->state = NULL;
	gpb_cpu_answer_end(cpu);
}

const GpbBatchEngine gpb_batch_cpu = {
	.name = "CPU",
	.start = batch_cpu_start,
	.fill = batch_cpu_fill,
	.end = batch_cpu_end
};
