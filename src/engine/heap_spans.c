/*-------------------------------------------------------------------------
 *
 * heap_spans.c
 *	  Spans: neighbouring entries of a leaf that are on one heap page (rules M5 and M11).
 *
 * A look at a settled page waits for memory three times: for the cell, then for the buffer's header
 * and for the page's.  So both steps are taken ahead for spans to come.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "port/atomics.h"

#include "engine/heap_spans.h"

/*
 * Number of spans whose prefetches are made together.  A look takes a lock, and so waits for what
 * went before; many prefetches in a row wait for each other less.
 */
#define LOOK_GROUP		16

/* Find the spans for gpb_heap_spans(); GPB_RUN_ROW_WIDTH is given as a constant. */
static pg_attribute_always_inline int
find_spans(const char *page, int row_width, int from, int to, uint64 dead, GpbHeapSpan *spans,
		   int n)
{
	const char *row = gpb_page_row(page, row_width, from);
	GpbHeapSpan *span = &spans[n] - 1;
	BlockNumber last = InvalidBlockNumber;
	int			at;

	for (at = from; at < to; at++, row -= row_width)
	{
		uint64		locator = gpb_stored_locator(row, row_width);
		BlockNumber block = gpb_locator_block(locator);

		if ((locator & dead) != 0)
		{
			last = InvalidBlockNumber;
			continue;
		}
		if (block != last)
		{
			span++;
			span->block = block;
			span->first = (uint16) at;
			last = block;
		}
		span->end = (uint16) (at + 1);
	}
	return (int) (span + 1 - spans);
}

int
gpb_heap_spans(const char *page, int row_width, int from, int to, uint64 dead, GpbHeapSpan *spans,
			   int n)
{
	return gpb_has_runs(row_width) ?
		find_spans(page, GPB_RUN_ROW_WIDTH, from, to, dead, spans, n) :
		find_spans(page, row_width, from, to, dead, spans, n);
}

/* Spans are so short, on average, that the map is read entry by entry */
#define SHORT_SPAN		4

/*
 * Read the visibility map for all entries of the spans, those of adjacent spans at a time.  What
 * lies between other spans was not copied perhaps.
 */
static void
read_adjacent(GpbVisibility *visibility, const char *page, int row_width, const GpbHeapSpan *spans,
			  int n, uint8 *visible)
{
	int			i = 0;

	while (i < n)
	{
		int			first = spans[i].first;

		while (i + 1 < n && spans[i + 1].first == spans[i].end)
			i++;
		gpb_visibility_read(visibility, page, row_width, first, spans[i].end, visible + first);
		i++;
	}
}

int
gpb_spans_visible(GpbVisibility *visibility, const char *page, int row_width, GpbHeapSpan *spans,
				  int n, uint8 *visible)
{
	int			left = 0;
	int			i;

	if (n == 0)
		return 0;
	if (spans[n - 1].end - spans[0].first < SHORT_SPAN * n)
	{
		read_adjacent(visibility, page, row_width, spans, n, visible);
		for (i = 0; i < n; i++)
		{
			/* No branch, since none could be foretold where bits are set at random. */
			spans[left] = spans[i];
			left += visible[spans[i].first] == GPB_ENTRY_UNKNOWN;
		}
		return left;
	}
	for (i = 0; i < n; i++)
	{
		const GpbHeapSpan *span = &spans[i];
		uint8		state;

		gpb_visibility_read(visibility, page, row_width, span->first, span->first + 1, &state);
		memset(visible + span->first, state, span->end - span->first);
		if (state == GPB_ENTRY_UNKNOWN)
			spans[left++] = *span;
	}
	return left;
}

/* Prefetch, on coming to the first span of a group, what the looks at later groups need. */
static inline void
prefetch_groups(const GpbSettledReader *reader, const GpbHeapSpan *spans, int n, int at)
{
	int			cells = at == 0 ? 0 : at + 2 * LOOK_GROUP;
	int			pages = at == 0 ? 0 : at + LOOK_GROUP;
	int			i;

	for (i = cells; i < Min(at + 3 * LOOK_GROUP, n); i++)
		gpb_settled_prefetch(reader, spans[i].block);
	for (i = pages; i < Min(at + 2 * LOOK_GROUP, n); i++)
		gpb_settled_prefetch_page(reader, spans[i].block);
}

/* Look at span number i of n. */
static inline bool
look_at_span(GpbSettledReader *reader, const GpbHeapSpan *spans, int n, int i, GpbSettledPage *page)
{
	if (i % LOOK_GROUP == 0)
		prefetch_groups(reader, spans, n, i);
	return gpb_settled_look(reader, spans[i].block, page);
}

static inline OffsetNumber
leaf_offset(const char *page, int row_width, int at)
{
	return gpb_locator_offset(gpb_page_locator(page, row_width, at));
}

/* Set visible[] for the entries of a span on a settled page. */
static inline void
settle_span(GpbSettledReader *reader, const GpbSettledPage *settled, const char *page,
			int row_width, const GpbHeapSpan *span, uint8 *visible)
{
	int			at;

	memset(visible + span->first, GPB_ENTRY_SEEN, span->end - span->first);
	if (gpb_settled_sees_all(settled))
		return;
	for (at = span->first; at < span->end; at++)
	{
		if (gpb_settled_sees(settled, leaf_offset(page, row_width, at)))
			continue;
		visible[at] = GPB_ENTRY_UNSEEN;
		reader->unseen++;
	}
}

int
gpb_spans_settled(GpbSettledReader *reader, const char *page, int row_width, GpbHeapSpan *spans,
				  int n, uint8 *visible)
{
	int			left = 0;
	int			i;

	pg_read_barrier();			/* the entries were read before */
	for (i = 0; i < n; i++)
	{
		GpbSettledPage settled;

		if (look_at_span(reader, spans, n, i, &settled))
			settle_span(reader, &settled, page, row_width, &spans[i], visible);
		else
			spans[left++] = spans[i];
	}
	return left;
}

/* Does a settled page show that the snapshot sees all entries of a span? */
static inline bool
span_seen(const GpbSettledPage *settled, const char *page, int row_width, const GpbHeapSpan *span)
{
	int			at;

	if (gpb_settled_sees_all(settled))
		return true;
	for (at = span->first; at < span->end; at++)
	{
		if (!gpb_settled_sees(settled, leaf_offset(page, row_width, at)))
			return false;
	}
	return true;
}

bool
gpb_spans_all_seen(GpbSettledReader *reader, const GpbVisibility *visibility, const char *page,
				   int row_width, GpbHeapSpan *spans, int n)
{
	int			left = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (!gpb_visibility_all_pinned(visibility, page, row_width, spans[i].first,
									   spans[i].first + 1, NULL))
			spans[left++] = spans[i];
	}
	pg_read_barrier();			/* the entries were read before */
	for (i = 0; i < left; i++)
	{
		GpbSettledPage settled;

		if (!look_at_span(reader, spans, left, i, &settled) ||
			!span_seen(&settled, page, row_width, &spans[i]))
			return false;
	}
	return true;
}
