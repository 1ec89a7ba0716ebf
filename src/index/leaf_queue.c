/*-------------------------------------------------------------------------
 *
 * leaf_queue.c
 *	  The leaves where the ranges of a scan begin, prefetched.
 *
 * One copy of a page of level 1 names the leaves of all ranges below that page, in either
 * direction.  Each leaf is looked up once, whatever ranges are on it: the next leaf in the queue is
 * that of the first range beyond the one before.  Leaves in the queue are prefetched, from the disk
 * or to the CPU's cache.
 *
 * The copy may be old.  If the leaf found leads to what is wanted (rule M7), right links do the
 * rest; after a few of them, or if it does not, a descent.
 *
 *-------------------------------------------------------------------------
 */
#include "index/leaf_queue.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "hold.h"

/*
 * The most leaves in the queue.  At first there is one, then twice as many each time, since a scan
 * may end early.
 */
#define GPB_QUEUE_AHEAD			8	/* a power of two */
/* The distance in the queue at which the keys of a leaf are prefetched */
#define GPB_QUEUE_KEYS_AHEAD	3

/* Number of right links to be followed in search of a bound, before a descent is the shorter way */
#define GPB_QUEUE_STEPS			4

/*
 * A page of level 1 is copied if it has the leaves of at least so many ranges after the one wanted,
 * so that the copy serves not that one alone.
 */
#define GPB_QUEUE_WORTH			2

typedef struct GpbQueuedLeaf
{
	int			range;			/* the first range that begins on the leaf */
	int			position;		/* position of the leaf's separator in the copy */
	BlockNumber block;
	Buffer		recent;			/* the buffer that had the leaf when it was prefetched */
} GpbQueuedLeaf;

struct GpbLeafQueue
{
	Relation	index;
	const GpbLayout *layout;
	const GpbRangeSet *set;
	bool		forward;

	BlockNumber parent;			/* the block that was copied; InvalidBlockNumber if there is no
								 * copy */
	PGAlignedBlock image;

	/*
	 * The queue has leaves [head, tail), all from the copy.  The next leaf to be looked up is that
	 * of range "next".
	 */
	uint32		head;
	uint32		tail;
	uint32		most;			/* most leaves in the queue for now */
	int			next;
	GpbQueuedLeaf leaf[GPB_QUEUE_AHEAD];
};

GpbLeafQueue *
gpb_leaf_queue_create(Relation index, const GpbLayout *layout)
{
	GpbLeafQueue *queue = palloc(sizeof(GpbLeafQueue));

	queue->index = index;
	queue->layout = layout;
	queue->set = NULL;
	queue->forward = true;
	return queue;
}

void
gpb_leaf_queue_start(GpbLeafQueue *queue, const GpbRangeSet *set, ScanDirection direction)
{
	queue->set = set;
	queue->forward = ScanDirectionIsForward(direction);
	queue->parent = InvalidBlockNumber;
	queue->head = queue->tail = 0;
	queue->most = 1;
}

ScanDirection
gpb_leaf_queue_direction(const GpbLeafQueue *queue)
{
	return queue->forward ? ForwardScanDirection : BackwardScanDirection;
}

/* ---- ranges ---- */

/* The bound where the range begins, or, backward, ends. */
static inline GpbBound
queue_bound(const GpbLeafQueue *queue, int range)
{
	return queue->forward ? queue->set->ranges[range].lo : queue->set->ranges[range].hi;
}

/*
 * The range that is "by" ranges further on in the direction of the scan; it may be beyond the last
 * one.
 */
static inline int
queue_further(const GpbLeafQueue *queue, int range, int by)
{
	return queue->forward ? range + by : range - by;
}

static inline bool
queue_has(const GpbLeafQueue *queue, int range)
{
	return range >= 0 && range < queue->set->count;
}

/* Does the range begin beyond the leaf that covers "leaf"? */
static inline bool
queue_beyond(const GpbLeafQueue *queue, int range, const GpbRange *leaf)
{
	return queue->forward ? !gpb_bound_less(queue->set->ranges[range].lo, leaf->hi) :
		!gpb_bound_less(leaf->lo, queue->set->ranges[range].hi);
}

/*
 * Find the first range after "range" that begins beyond the leaf that covers "leaf"; there may be
 * none.  Usually it is near, so the search gallops.
 */
static int
queue_skip(const GpbLeafQueue *queue, int range, const GpbRange *leaf)
{
	int			on = 0;			/* the range so many further on begins on the leaf */
	int			beyond = 1;		/* the range so many further on may not */

	while (queue_has(queue, queue_further(queue, range, beyond)) &&
		   !queue_beyond(queue, queue_further(queue, range, beyond), leaf))
	{
		on = beyond;
		beyond *= 2;
	}
	while (beyond - on > 1)
	{
		int			middle = on + (beyond - on) / 2;
		int			there = queue_further(queue, range, middle);

		if (!queue_has(queue, there) || queue_beyond(queue, there, leaf))
			beyond = middle;
		else
			on = middle;
	}
	return queue_further(queue, range, beyond);
}

/* ---- the queue ---- */

/* Find the child of the copied page that covers where the range begins; -1 if there is none. */
static inline int
queue_child(GpbLeafQueue *queue, int range)
{
	GpbBound	bound = queue_bound(queue, range);

	if (queue->parent == InvalidBlockNumber ||
		!gpb_page_covers(queue->image.data, bound))
		return -1;
	return gpb_child_position(queue->layout, queue->image.data, bound);
}

/* Look up leaves and prefetch them, until the queue is full or the copy has no more. */
static void
queue_fill(GpbLeafQueue *queue)
{
	while (queue->tail - queue->head < queue->most && queue_has(queue, queue->next))
	{
		GpbQueuedLeaf *leaf = &queue->leaf[queue->tail % GPB_QUEUE_AHEAD];
		GpbRange	keys;

		leaf->position = queue_child(queue, queue->next);
		if (leaf->position < 0)
			return;
		leaf->range = queue->next;
		leaf->block = gpb_child_at(queue->index, queue->layout, queue->parent,
								   queue->image.data, leaf->position, &keys);
		leaf->recent = gpb_ask_for_page(queue->index, leaf->block);
		queue->tail++;
		queue->next = queue_skip(queue, leaf->range, &keys);
	}
}

/* Does range a come before range b in the direction of the scan? */
static inline bool
queue_before(const GpbLeafQueue *queue, int a, int b)
{
	return queue->forward ? a < b : a > b;
}

/*
 * Make the range's leaf the head of the queue; returns false if the copy does not have that leaf.
 * Leaves before it leave the queue.  Those after it stay, unless the leaf was none of those that
 * were looked up.
 */
static bool
queue_seek(GpbLeafQueue *queue, int range)
{
	while (queue->head < queue->tail &&
		   queue_before(queue, queue->leaf[queue->head % GPB_QUEUE_AHEAD].range, range))
		queue->head++;
	if (queue->head == queue->tail ||
		queue->leaf[queue->head % GPB_QUEUE_AHEAD].range != range)
	{
		queue->head = queue->tail;
		queue->next = range;
	}
	queue_fill(queue);
	return queue->head < queue->tail;
}

/* ---- finding a leaf ---- */

/* Descend to the leaf that covers the bound, since the copy is too old to be of use. */
static Buffer
queue_search(GpbLeafQueue *queue, GpbBound bound)
{
	queue->parent = InvalidBlockNumber;
	queue->head = queue->tail;
	return gpb_search(queue->index, queue->layout, bound, BUFFER_LOCK_SHARE, NULL);
}

/*
 * Exchange a locked leaf, to which its parent's copy led, for the one that covers the bound.  That
 * one is pinned and locked share on return.
 */
static Buffer
queue_move_right(GpbLeafQueue *queue, Buffer buffer, GpbBound bound)
{
	int			steps = 0;

	if (!gpb_page_leads_to(BufferGetPage(buffer), 0, bound))
	{
		/* The leaf was deleted after the copy was taken. */
		UnlockReleaseBuffer(buffer);
		return queue_search(queue, bound);
	}
	while (!gpb_page_covers(BufferGetPage(buffer), bound))
	{
		BlockNumber block = BufferGetBlockNumber(buffer);
		BlockNumber right = gpb_special(BufferGetPage(buffer))->right;
		GpbBound	high = gpb_page_high(BufferGetPage(buffer));

		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		if (++steps > GPB_QUEUE_STEPS)
			return queue_search(queue, bound);
		buffer = gpb_read_next(queue->index, queue->layout, block, right, InvalidBuffer, 0, high);
	}
	return buffer;
}

/*
 * Remove the leaf at the head from the queue, and read it.  It is pinned and locked share on
 * return.
 */
static Buffer
queue_take(GpbLeafQueue *queue)
{
	GpbQueuedLeaf *leaf = &queue->leaf[queue->head % GPB_QUEUE_AHEAD];
	Buffer		buffer;

	if (queue->tail - queue->head > GPB_QUEUE_KEYS_AHEAD)
		gpb_ask_for_keys(queue->leaf[(queue->head + GPB_QUEUE_KEYS_AHEAD) %
									 GPB_QUEUE_AHEAD].recent);
	queue->head++;
	queue->most = Min(queue->most * 2, GPB_QUEUE_AHEAD);
	GPB_HOLD("queue-leaf");
	buffer = gpb_read_asked_for(queue->index, leaf->block, leaf->recent, queue->layout);
	return queue_move_right(queue, buffer, queue_bound(queue, leaf->range));
}

/* Does the tree have a level 1?  A tree never gets lower, so an old answer will do. */
static bool
queue_has_parents(const GpbLeafQueue *queue)
{
	const GpbRelCache *cache = gpb_rel_cache(queue->index);
	uint32		level;

	if (cache->root != InvalidBlockNumber && cache->level > 0)
		return true;
	gpb_root_level(queue->index, queue->layout, &level);
	return level > 0;
}

/*
 * Descend to the leaf of a range that the copy does not have.  Take a copy of the level-1 page on
 * the way, if it has the leaves of further ranges.  The leaf is pinned and locked share on return.
 */
static Buffer
queue_descend(GpbLeafQueue *queue, int range)
{
	GpbBound	bound = queue_bound(queue, range);
	int			further = queue_further(queue, range, GPB_QUEUE_WORTH);
	Buffer		buffer;
	Page		page;
	BlockNumber child;
	GpbRange	keys;

	if (!queue_has(queue, further) || !queue_has_parents(queue))
		return gpb_search(queue->index, queue->layout, bound, BUFFER_LOCK_SHARE, NULL);

	buffer = gpb_search_level(queue->index, queue->layout, bound, 1, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	further = gpb_page_covers(page, queue_bound(queue, further)) ?
		gpb_child_position(queue->layout, page, queue_bound(queue, further)) : -1;
	if (further >= 0)
	{
		queue->parent = BufferGetBlockNumber(buffer);
		memcpy(queue->image.data, page, BLCKSZ);
		UnlockReleaseBuffer(buffer);
		if (!queue_seek(queue, range))
			gpb_corrupted(queue->index, queue->parent,
						  "first separator is above what its parent promises");
		return queue_take(queue);
	}
	child = gpb_child_at(queue->index, queue->layout, BufferGetBlockNumber(buffer), page,
						 gpb_child_position(queue->layout, page, bound), &keys);
	UnlockReleaseBuffer(buffer);
	buffer = gpb_read(queue->index, child, BUFFER_LOCK_SHARE, queue->layout);
	return queue_move_right(queue, buffer, bound);
}

Buffer
gpb_leaf_queue_find(GpbLeafQueue *queue, int range)
{
	if (queue_seek(queue, range))
		return queue_take(queue);
	return queue_descend(queue, range);
}
