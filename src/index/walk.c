/*-------------------------------------------------------------------------
 *
 * walk.c
 *	  Find the entries of many key ranges, leaf by leaf in key order.
 *
 * The leaf where a range begins is looked up in a copy of the page of level 1 above it; one descent
 * serves all ranges below that page.  Such a copy may be old, as may leaves that the caller knows
 * from a mirror.  A leaf says itself whether it leads to what is wanted; if so right links do the
 * rest (Lehman and Yao), and else a descent (rule M7).
 *
 * What costs here is waiting for memory.  So leaves to come are prefetched: first the buffer's
 * header and the ends of the page, then the keys that a search of it reads first.  All keys of one
 * leaf are searched in step (Chen et al., Improving hash join performance through prefetching, ICDE
 * 2004; HB+-tree, SIGMOD 2016).
 *
 *-------------------------------------------------------------------------
 */
#include "index/walk.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "key_search.h"

/* Number of ranges whose leaves are looked up at a time */
#define GPB_WALK_WINDOW		256

/* Number of leaves that are prefetched, and the distance at which their keys are */
#define GPB_WALK_AHEAD		8	/* a power of two */
#define GPB_WALK_KEYS_AHEAD 4

/* Number of right links to be followed in search of one key, before a descent is the shorter way */
#define GPB_WALK_STEPS		4

/* Number of keys searched in step, and of entries compared one by one in search of a key's end */
#define GPB_WALK_GROUP		64
#define GPB_WALK_EQUAL		8

/* A leaf that was prefetched */
typedef struct GpbWalkAhead
{
	BlockNumber block;
	Buffer		buffer;			/* the buffer that had the leaf then; not pinned */
} GpbWalkAhead;

struct GpbWalk
{
	Relation	index;
	GpbLayout	layout;
	GpbWalkCounters *counters;

	/* The ranges, by where they begin */
	GpbNumberedKeys lows;
	const GpbKeyRange *ranges;
	const GpbPiece *pieces;		/* by place in lows, if pieces are walked; else NULL */
	const uint32 *leaves;
	uint32		n;
	uint32		next;			/* place in lows of the first range that has not begun */

	/* Ranges that reach beyond the last leaf visited, by their places in lows */
	uint32	   *active;
	uint32		nactive;
	uint32		active_room;
	uint32		active_at;		/* the next one to be done on this leaf */
	uint32		active_end;		/* those from here on began on this leaf */
	uint32		active_kept;	/* number of those done that reach beyond this leaf */

	/* The leaf visited last, as it was then */
	BlockNumber block;			/* InvalidBlockNumber before the first one */
	BlockNumber right;
	GpbBound	high;
	GpbBound	from;			/* what comes before was met on the leaf before */
	bool		clipped;		/* the leaf begins before that */
	Buffer		buffer;			/* where it was; pinned until the caller releases it */
	Buffer		right_buffer;	/* where the right sibling was when it was asked for, not pinned;
								 * InvalidBuffer if it was not */
	bool		by_link;		/* the walk came by a right link */
	BlockNumber target;			/* the block where the search for the leaf began */

	/* The copy of a page of level 1, and the children for lows [window, window_end) */
	BlockNumber image_block;	/* InvalidBlockNumber if there is no copy */
	PGAlignedBlock image;
	uint32		window;
	uint32		window_end;
	uint16		child[GPB_WALK_WINDOW];

	/* Leaves prefetched, the last of them for lows[ahead_at - 1] */
	uint32		ahead_at;
	uint32		nahead;
	GpbWalkAhead ahead[GPB_WALK_AHEAD];
	uint32		nvisited;		/* how many of those prefetched have been visited */

	/* Whether a link is given out for the range that began last, by its place in lows */
	uint32		linked;			/* that place, plus 1; 0 if none was asked for */
	uint32		links;			/* how often it was asked for */
	bool		is_long;		/* is the answer yes? */

	GpbWalkHit	hits[GPB_WALK_HITS];
};

GpbWalk *
gpb_walk_begin(Relation index, const GpbLayout *layout, GpbWalkCounters *counters)
{
	GpbWalk    *walk = palloc(sizeof(GpbWalk));

	/* gpb_walk_start() sets what comes after the image; most of a walk is never written. */
	memset(walk, 0, offsetof(GpbWalk, image));
	walk->index = index;
	walk->layout = *layout;
	walk->counters = counters;
	walk->active_room = 64;
	walk->active = palloc(sizeof(uint32) * walk->active_room);
	return walk;
}

void
gpb_walk_start(GpbWalk *walk, GpbNumberedKeys lows, const GpbKeyRange *ranges,
			   const uint32 *leaves, uint32 n)
{
	walk->lows = lows;
	walk->ranges = ranges;
	walk->pieces = NULL;
	walk->leaves = leaves;
	walk->n = n;
	walk->next = 0;
	walk->nactive = 0;
	walk->block = InvalidBlockNumber;
	walk->target = InvalidBlockNumber;
	walk->image_block = InvalidBlockNumber;
	walk->window = walk->window_end = 0;
	walk->ahead_at = walk->nahead = walk->nvisited = 0;
	walk->active_at = walk->active_end = 0;
	walk->linked = 0;
}

void
gpb_walk_start_pieces(GpbWalk *walk, GpbNumberedKeys lows, const GpbPiece *pieces,
					  uint32 n)
{
	gpb_walk_start(walk, lows, NULL, NULL, n);
	walk->pieces = pieces;
}

void
gpb_walk_end(GpbWalk *walk)
{
	pfree(walk->active);
	pfree(walk);
}

/* ---- the ranges ---- */

/* The closed interval of keys that is number i in lows; for a piece, the keys of its two bounds. */
static inline GpbKeyRange
walk_keys(const GpbWalk *walk, uint32 i)
{
	GpbKeyRange keys;

	if (walk->pieces != NULL)
	{
		keys.lo = walk->pieces[i].range.lo.key;
		keys.hi = walk->pieces[i].range.hi.key;
		return keys;
	}
	if (walk->ranges != NULL)
		return walk->ranges[gpb_key_number(walk->lows, i)];
	keys.lo = keys.hi = gpb_numbered_key(walk->lows, i);
	return keys;
}

/* The range that is number i in lows, from bound to bound. */
static inline GpbRange
walk_range(const GpbWalk *walk, uint32 i)
{
	if (walk->pieces != NULL)
		return walk->pieces[i].range;
	return gpb_key_range(walk_keys(walk, i), walk->layout.flags);
}

/* Remember that range i of lows reaches beyond this leaf. */
static void
walk_keep(GpbWalk *walk, uint32 i)
{
	if (walk->nactive == walk->active_room)
	{
		walk->active_room *= 2;
		walk->active = repalloc_huge(walk->active, sizeof(uint32) * walk->active_room);
	}
	walk->active[walk->nactive++] = i;
}

/* ---- which leaf ---- */

/*
 * Look up the children for the ranges from the next one on, as far as the copy of level 1 reaches.
 * The copy covers the next range.
 */
static void
walk_fill_window(GpbWalk *walk)
{
	const char *page = walk->image.data;
	int			width = walk->layout.key_width;
	int			count = gpb_page_count(page);
	GpbBound	high = gpb_page_high(page);
	GpbKey		keys[GPB_WALK_WINDOW];
	int			n = 0;
	int			i;

	while (n < GPB_WALK_WINDOW && walk->next + n < walk->n &&
		   gpb_bound_less(walk_range(walk, walk->next + n).lo, high))
	{
		keys[n] = gpb_numbered_key(walk->lows, walk->next + n);
		n++;
	}
	gpb_page_keys_below_many(page, width, count, keys, n, walk->child);
	for (i = 0; i < n; i++)
	{
		int			position = walk->child[i];

		/* The separator has this very key, so its tie decides. */
		if (position < count && gpb_page_key(page, width, position) == keys[i])
			position = gpb_child_position(&walk->layout, page,
										  walk_range(walk, walk->next + i).lo) + 1;
		if (position == 0)
			gpb_corrupted(walk->index, walk->image_block,
						  "first separator is above what its parent promises");
		walk->child[i] = position - 1;
	}
	walk->window = walk->next;
	walk->window_end = walk->next + n;
}

/*
 * Look up where the next range begins, reading a page of level 1 if the copy does not cover it.
 * Returns false if the tree is one leaf.
 */
static bool
walk_look_up(GpbWalk *walk)
{
	GpbBound	bound = walk_range(walk, walk->next).lo;
	Buffer		buffer;

	if (walk->next < walk->window_end)
		return true;
	if (walk->image_block == InvalidBlockNumber ||
		!gpb_page_covers(walk->image.data, bound))
	{
		if (gpb_least_height(walk->index, &walk->layout) == 0)
			return false;
		buffer = gpb_search_level(walk->index, &walk->layout, bound, 1,
								  BUFFER_LOCK_SHARE);
		memcpy(walk->image.data, BufferGetPage(buffer), BLCKSZ);
		walk->image_block = BufferGetBlockNumber(buffer);
		UnlockReleaseBuffer(buffer);
		walk->counters->descents++;
	}
	walk_fill_window(walk);
	return true;
}

/* The leaf that was looked up for range i of lows, which is in the window. */
static inline BlockNumber
walk_child(const GpbWalk *walk, uint32 i)
{
	return gpb_row_child(gpb_page_row(walk->image.data, GPB_INNER_ROW_WIDTH,
									  walk->child[i - walk->window]));
}

/* ---- asking for leaves ahead of time ---- */

/* Prefetch a leaf, and remember it. */
static void
walk_ask(GpbWalk *walk, BlockNumber block)
{
	GpbWalkAhead *ahead = &walk->ahead[walk->nahead++ % GPB_WALK_AHEAD];

	ahead->block = block;
	ahead->buffer = gpb_ask_for_page(walk->index, block);
}

/* Prefetch the leaves of the ranges after the next one, as far as they are known. */
static void
walk_prefetch(GpbWalk *walk)
{
	uint32		end = walk->leaves != NULL ? walk->n : walk->window_end;
	uint32		i = Max(walk->ahead_at, walk->next);

	for (; i < end && walk->nahead - walk->nvisited < GPB_WALK_AHEAD; i++)
	{
		BlockNumber block = walk->leaves != NULL ? walk->leaves[i] : walk_child(walk, i);

		if (walk->leaves != NULL && unlikely(!gpb_is_in_file(walk->index, block)))
			continue;
		if (walk->nahead == 0 ||
			walk->ahead[(walk->nahead - 1) % GPB_WALK_AHEAD].block != block)
			walk_ask(walk, block);
	}
	walk->ahead_at = i;
	if (walk->nahead - walk->nvisited > GPB_WALK_KEYS_AHEAD)
		gpb_ask_for_keys(walk->ahead[(walk->nvisited + GPB_WALK_KEYS_AHEAD) %
									 GPB_WALK_AHEAD].buffer);
}

/* The buffer where a leaf was when it was prefetched, or InvalidBuffer. */
static Buffer
walk_recent(GpbWalk *walk, BlockNumber block)
{
	while (walk->nvisited < walk->nahead)
	{
		GpbWalkAhead *ahead = &walk->ahead[walk->nvisited++ % GPB_WALK_AHEAD];

		/* Other leaves were passed by, since their ranges were met on the way. */
		if (ahead->block == block)
			return ahead->buffer;
	}
	return InvalidBuffer;
}

/*
 * Read a leaf, with what is known from prefetching it.  It is pinned and locked share on return.
 * Returns InvalidBuffer if there is no such page: a mirror's inner pages, from which the caller
 * knows it, may be older than our lock of the index.
 */
static Buffer
walk_read(GpbWalk *walk, BlockNumber block)
{
	Buffer		recent = walk_recent(walk, block);

	return walk->leaves != NULL ?
		gpb_read_old_link(walk->index, block, recent, &walk->layout) :
		gpb_read_asked_for(walk->index, block, recent, &walk->layout);
}

/*
 * Ask for the right sibling of the leaf at hand, to which a range reaches.  The leaf may be locked;
 * if it is not even pinned any more, its buffer serves as a guess.
 */
static void
walk_ask_right(GpbWalk *walk)
{
	if (walk->right != GPB_NO_BLOCK && !BufferIsValid(walk->right_buffer))
		walk->right_buffer = gpb_ask_for_sibling(walk->index, walk->buffer, walk->block,
												 walk->right);
}

const char *
gpb_walk_next_page(const GpbWalk *walk)
{
	return BufferIsValid(walk->right_buffer) ? BufferGetPage(walk->right_buffer) : NULL;
}

/* ---- going to a leaf ---- */

/*
 * Go from the last leaf, which is not locked, to its right sibling.  That one is pinned and locked
 * share on return.
 */
static Buffer
walk_right(GpbWalk *walk)
{
	walk->counters->right_moves++;
	return gpb_read_next(walk->index, &walk->layout, walk->block, walk->right,
						 walk->right_buffer, 0, walk->high);
}

/*
 * Take note of a locked leaf to which the walk has come.  If it came by a link, and the leaf
 * between has been deleted since the link was read, this one begins before the last one's end.
 */
static void
walk_arrive(GpbWalk *walk, Buffer buffer, bool by_link)
{
	const GpbPageSpecial *special = gpb_special(BufferGetPage(buffer));

	walk->clipped = by_link && gpb_bound_less(gpb_page_low(BufferGetPage(buffer)), walk->high);
	walk->from = walk->high;
	walk->block = BufferGetBlockNumber(buffer);
	walk->buffer = buffer;
	walk->right_buffer = InvalidBuffer;
	walk->right = special->right;
	walk->high = gpb_page_high(BufferGetPage(buffer));
	walk->by_link = by_link;
	walk->counters->leaves++;
}

/*
 * Descend to the leaf where the next range begins, at bound.  What was looked up for it is too old
 * to be of use.  The leaf is pinned and locked share on return.
 */
static Buffer
walk_descend(GpbWalk *walk, GpbBound bound)
{
	walk->image_block = InvalidBlockNumber;
	walk->window_end = walk->window;
	walk->counters->descents++;
	return gpb_search(walk->index, &walk->layout, bound, BUFFER_LOCK_SHARE, NULL);
}

/*
 * Read the leaf that was looked up for the next range.  If that is where the search for the last
 * leaf began, read the right sibling of the last leaf instead: all ranges that begin before it were
 * met.  *by_link tells which.  The leaf is pinned and locked share on return.
 */
static Buffer
walk_read_target(GpbWalk *walk, GpbBound bound, bool *by_link)
{
	BlockNumber target;
	GpbRange	range;
	Buffer		buffer;

	*by_link = false;
	if (walk->leaves != NULL)
		target = walk->leaves[walk->next];
	else if (walk_look_up(walk))
		target = gpb_child_at(walk->index, &walk->layout, walk->image_block,
							  walk->image.data, walk->child[walk->next - walk->window],
							  &range);
	else
		return walk_descend(walk, bound);

	walk_prefetch(walk);
	if (target == walk->target && walk->block != InvalidBlockNumber)
	{
		*by_link = true;
		return walk_right(walk);
	}
	walk->target = target;
	buffer = walk_read(walk, target);
	if (unlikely(!BufferIsValid(buffer)))
	{
		walk->counters->stale_moves++;
		return walk_descend(walk, bound);
	}
	if (!gpb_page_leads_to(BufferGetPage(buffer), 0, bound))
	{
		/* It was deleted since it was looked up, or the caller gave a wrong one. */
		UnlockReleaseBuffer(buffer);
		buffer = walk_descend(walk, bound);
	}
	return buffer;
}

/*
 * Go to the leaf that covers the beginning of the next range.  It is pinned and locked share on
 * return.
 */
static Buffer
walk_find(GpbWalk *walk)
{
	GpbBound	bound = walk_range(walk, walk->next).lo;
	bool		by_link;
	Buffer		buffer = walk_read_target(walk, bound, &by_link);
	bool		descended = false;
	int			steps = 0;

	walk_arrive(walk, buffer, by_link);
	walk->counters->stale_moves += by_link;
	while (!gpb_page_covers(BufferGetPage(buffer), bound))
	{
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		by_link = descended || steps++ < GPB_WALK_STEPS;
		walk->counters->stale_moves += by_link;
		descended |= !by_link;
		buffer = by_link ? walk_right(walk) : walk_descend(walk, bound);
		walk_arrive(walk, buffer, by_link);
	}
	return buffer;
}

bool
gpb_walk_leaf(GpbWalk *walk, Buffer *buffer)
{
	CHECK_FOR_INTERRUPTS();

	if (walk->block != InvalidBlockNumber && walk->right == GPB_NO_BLOCK)
	{
		if (walk->by_link)
			gpb_require_last(walk->index, &walk->layout, walk->block);
		return false;			/* all ranges begin before the index's end */
	}
	if (walk->nactive > 0)
	{
		*buffer = walk_right(walk);
		walk_arrive(walk, *buffer, true);
	}
	else
	{
		while (walk->next < walk->n &&
			   walk_keys(walk, walk->next).lo > walk_keys(walk, walk->next).hi)
			walk->next++;
		if (walk->next == walk->n)
			return false;
		*buffer = walk_find(walk);
	}
	walk->active_at = 0;
	walk->active_kept = 0;
	walk->active_end = walk->nactive;
	return true;
}

/* ---- leaves that the caller may pass by ---- */

/* With fewer leaves to go before a range ends or begins they are best visited. */
#define GPB_WALK_LONG		4

/*
 * Are there GPB_WALK_LONG leaves, about, before this bound, as far as the copy of level 1 tells by
 * one comparison?  Where the copy does not tell, they are expected behind as many links.  place is
 * that of the range that began last: on the last leaf visited, if it was not asked about before.
 */
static bool
walk_expects_leaves(GpbWalk *walk, uint32 place, GpbBound end)
{
	const char *page = walk->image.data;
	int			count;
	int			position;

	if (walk->linked != place + 1)
	{
		walk->linked = place + 1;
		walk->links = 0;
		walk->is_long = false;
		if (walk->image_block != InvalidBlockNumber &&
			place >= walk->window && place < walk->window_end)
		{
			count = gpb_page_count(page);
			position = walk->child[place - walk->window] + GPB_WALK_LONG;
			walk->is_long = position < count ?
				gpb_page_key(page, walk->layout.key_width, position) < end.key :
				gpb_page_high(page).key < end.key;
		}
	}
	if (++walk->links > GPB_WALK_LONG)
		walk->is_long = true;
	return walk->is_long;
}

bool
gpb_walk_link(GpbWalk *walk, GpbWalkLink *link)
{
	uint32		i;

	if (walk->nactive == 0 || walk->block == InvalidBlockNumber || walk->right == GPB_NO_BLOCK)
		return false;
	link->block = walk->right;
	link->low = walk->high;
	link->end = walk_range(walk, walk->active[0]).hi;
	for (i = 1; i < walk->nactive; i++)
	{
		GpbBound	end = walk_range(walk, walk->active[i]).hi;

		if (gpb_bound_less(end, link->end))
			link->end = end;
	}
	if (walk->next < walk->n)
	{
		GpbBound	next = walk_range(walk, walk->next).lo;

		if (gpb_bound_less(next, link->end))
			link->end = next;
	}
	return gpb_bound_less(link->low, link->end) &&
		walk_expects_leaves(walk, walk->active[walk->nactive - 1], link->end);
}

uint32
gpb_walk_active(const GpbWalk *walk)
{
	return walk->nactive;
}

uint32
gpb_walk_active_number(const GpbWalk *walk, uint32 i)
{
	return gpb_key_number(walk->lows, walk->active[i]);
}

void
gpb_walk_passed(GpbWalk *walk, BlockNumber block, Buffer buffer, BlockNumber right, GpbBound high)
{
	uint32		kept = 0;
	uint32		i;

	walk->block = block;
	walk->buffer = buffer;
	walk->right_buffer = InvalidBuffer;
	walk->right = right;
	walk->high = high;
	walk->by_link = true;
	for (i = 0; i < walk->nactive; i++)
	{
		if (gpb_bound_less(high, walk_range(walk, walk->active[i]).hi))
			walk->active[kept++] = walk->active[i];
	}
	walk->nactive = walk->active_at = walk->active_end = kept;
}

int
gpb_walk_leaves_ahead(GpbWalk *walk, GpbBound bound, BlockNumber *leaves, int most)
{
	Page		page = walk->image.data;
	Buffer		buffer = InvalidBuffer;
	int			n = 0;
	int			i;

	if (walk->image_block == InvalidBlockNumber || !gpb_page_covers(page, bound))
	{
		if (gpb_least_height(walk->index, &walk->layout) == 0)
			return 0;
		buffer = gpb_search_level(walk->index, &walk->layout, bound, 1, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buffer);
		walk->counters->descents++;
	}
	for (i = Max(gpb_child_position(&walk->layout, page, bound), 0);
		 i < gpb_page_count(page) && n < most; i++)
		leaves[n++] = gpb_row_child(gpb_page_row(page, GPB_INNER_ROW_WIDTH, i));
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
	return n;
}

/* ---- hits ---- */

/*
 * Do ties decide which entries with this key a range has?  They do where the range ends among them,
 * as a piece may, and for the key that entries with NULL keys share.
 */
static inline bool
walk_ties_decide(const GpbWalk *walk, GpbKey key)
{
	if (walk->pieces != NULL)
		return true;
	if (walk->layout.flags & GPB_LAYOUT_NULLS_FIRST)
		return key == 0;
	return key == gpb_key_most(walk->layout.key_width);
}

/*
 * Find the first position in [from, count) that lies at or after the end of range i of lows, whose
 * last key is "key".
 */
static inline int
walk_end_position(const GpbWalk *walk, const char *page, int count, int from, uint32 i,
				  GpbKey key)
{
	int			width = walk->layout.key_width;
	int			row_width = gpb_page_row_width(page);
	int			to = from;

	if (walk_ties_decide(walk, key))
		return gpb_page_lower_bound(page, width, row_width, count, walk_range(walk, i).hi);
	if (gpb_has_runs(row_width))
		return gpb_entries_upto(page, width, row_width, count, key);

	/* The end of a range is nearly always near. */
	while (to < count && to < from + GPB_WALK_EQUAL && gpb_page_key(page, width, to) <= key)
		to++;
	return to < from + GPB_WALK_EQUAL ? to : gpb_page_keys_upto(page, width, count, key);
}

/*
 * Add the entries [from, to), if there are any, as a hit of range i of lows.  Returns the number of
 * hits.
 */
static inline int
walk_hit(GpbWalk *walk, int nhits, uint32 i, int from, int to)
{
	if (from >= to)
		return nhits;
	walk->hits[nhits].number = gpb_key_number(walk->lows, i);
	walk->hits[nhits].from = from;
	walk->hits[nhits].to = to;
	return nhits + 1;
}

/*
 * Find the hits of at most *most ranges that began on earlier leaves.  *most is lowered by the
 * number of ranges done.  Returns the number of hits.
 */
static int
walk_active_hits(GpbWalk *walk, const char *page, int count, int *most)
{
	int			nhits = 0;
	int			from = 0;

	if (unlikely(walk->clipped))
		from = gpb_page_lower_bound(page, walk->layout.key_width, gpb_page_row_width(page), count,
									walk->from);
	for (; walk->active_at < walk->active_end && *most > 0; (*most)--)
	{
		uint32		i = walk->active[walk->active_at++];
		GpbBound	end = walk_range(walk, i).hi;
		int			to = count;

		if (gpb_bound_less(walk->high, end))
			walk->active[walk->active_kept++] = i;
		else
			to = walk_end_position(walk, page, count, from, i, walk_keys(walk, i).hi);
		nhits = walk_hit(walk, nhits, i, from, to);
	}
	if (walk->active_at == walk->active_end)
		walk->nactive = walk->active_at = walk->active_end = walk->active_kept;
	return nhits;
}

/*
 * Does range i, which has not begun, begin on this leaf?  The ranges before it have begun, or begin
 * here.
 */
static inline bool
walk_begins(const GpbWalk *walk, uint32 i)
{
	if (i >= walk->n)
		return false;
	/* Nearly always the key decides. */
	return gpb_numbered_key(walk->lows, i) < walk->high.key ||
		gpb_bound_less(walk_range(walk, i).lo, walk->high);
}

/*
 * Find the hits of at most "most" ranges that begin on this leaf, and add them to the nhits that
 * there are.  *met becomes the number of those ranges.  Returns the number of all hits.
 */
static int
walk_new_hits(GpbWalk *walk, const char *page, int count, int most, int nhits, int *met)
{
	int			width = walk->layout.key_width;
	int			row_width = gpb_page_row_width(page);
	GpbKey		keys[GPB_WALK_GROUP] = {0};
	uint16		below[GPB_WALK_GROUP];
	int			n = 0;
	int			k;

	while (n < most && walk_begins(walk, walk->next + n))
	{
		keys[n] = gpb_numbered_key(walk->lows, walk->next + n);
		n++;
	}
	*met = n;
	gpb_entries_below_many(page, width, row_width, count, keys, n, below);
	for (k = 0; k < n; k++)
	{
		uint32		i = walk->next + k;
		GpbKeyRange closed = walk_keys(walk, i);
		int			from = below[k];
		int			to = count;

		if (closed.lo > closed.hi)
			continue;
		if (walk_ties_decide(walk, closed.lo))
			from = gpb_page_lower_bound(page, width, row_width, count, walk_range(walk, i).lo);
		if (closed.hi >= walk->high.key && gpb_bound_less(walk->high, walk_range(walk, i).hi))
			walk_keep(walk, i);
		else
			to = walk_end_position(walk, page, count, from, i, closed.hi);
		nhits = walk_hit(walk, nhits, i, from, to);
	}
	walk->next += n;
	return nhits;
}

/*
 * Ranges that began before come first: those that begin here are added to the list of active
 * ranges, and must not be met twice.
 */
int
gpb_walk_hits(GpbWalk *walk, const char *page, const GpbWalkHit **hits, bool *more)
{
	int			count = gpb_page_count(page);
	int			most = GPB_WALK_HITS;
	int			nhits = 0;

	*hits = walk->hits;
	if (walk->active_at < walk->active_end)
		nhits = walk_active_hits(walk, page, count, &most);
	while (most > 0 && walk->active_at == walk->active_end && walk_begins(walk, walk->next))
	{
		int			met;

		nhits = walk_new_hits(walk, page, count, Min(GPB_WALK_GROUP, most), nhits, &met);
		most -= met;
	}
	*more = walk->active_at < walk->active_end || walk_begins(walk, walk->next);
	if (!*more && walk->nactive > 0)
		walk_ask_right(walk);
	return nhits;
}

int
gpb_walk_rest(const GpbWalk *walk, GpbRange *rest)
{
	uint32		i;
	int			n = 0;

	Assert(walk->pieces != NULL && walk->active_at == walk->active_end);
	for (i = 0; i < walk->nactive; i++)
	{
		rest[n].lo = walk->high;
		rest[n++].hi = walk_range(walk, walk->active[i]).hi;
	}
	for (i = walk->next; i < walk->n; i++)
		rest[n++] = walk_range(walk, i);
	return n;
}
