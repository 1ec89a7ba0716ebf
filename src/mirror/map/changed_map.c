/*-------------------------------------------------------------------------
 *
 * changed_map.c
 *	  Which blocks of mirrored indexes differ from their images (rules M2, M3).
 *
 * Two bits for each block.  "changed" is set by whoever changes the page; "in
 * flight" takes over while a refresh copies it.  A block is clean if neither is
 * set.  The bits live in segments from one pool; a block in no segment counts
 * as changed.
 *
 * The order that never lets both bits of a block that differs from its image appear clear: the
 * refresh sets in-flight, full barrier, clears changed; the reader reads changed, full
 * barrier, reads in-flight.  Atomic read-modify-write operations
 * are full barriers in PostgreSQL.
 *
 * Segments change hands only while the mirror's refresh is owned by the one who
 * gives or takes them (ownership.c), so an owner may follow the segment table without a lock.
 * Markers follow it without any right: the worst they do, holding a stale
 * entry, is to set a bit of another mirror for nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/map/changed_map.h"

#include "port/pg_bitutils.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "hold.h"
#include "mirror/map/registry.h"
#include "mirror/settings.h"

/*
 * A segment: one bit for each of GPB_SEGMENT_BLOCKS blocks that is changed, then one for each that
 * is in flight (rules M2 and M3).
 */
typedef pg_atomic_uint32 GpbSegment;

#define GPB_SEGMENT_WORDS	(GPB_SEGMENT_BLOCKS / 32)

typedef struct GpbMap
{
	uint32		total;			/* segments in the pool */
	uint32		nfree;			/* under the registry lock, with free_list */
	GpbSegment *segments;		/* total segments, one after the other */
	uint32	   *free_list;		/* segment numbers */
	pg_atomic_uint32 *table;	/* [GPB_MIRRORS][total]: number + 1, 0: none */
} GpbMap;

static GpbMap *map = NULL;

/* The word of a segment that has the changed, or the in-flight, bits of blocks 32 * w and on. */
static inline pg_atomic_uint32 *
changed_word(GpbSegment *segment, uint32 w)
{
	return &segment[w];
}

static inline pg_atomic_uint32 *
in_flight_word(GpbSegment *segment, uint32 w)
{
	return &segment[GPB_SEGMENT_WORDS + w];
}

static inline GpbSegment *
segment_at(uint32 number)
{
	return map->segments + (Size) number * 2 * GPB_SEGMENT_WORDS;
}

uint32
gpb_map_segments_for(BlockNumber nblocks)
{
	return (uint32) (((uint64) nblocks + GPB_SEGMENT_BLOCKS - 1) / GPB_SEGMENT_BLOCKS);
}

uint32
gpb_map_segments_total(void)
{
	return gpb_map_segments_for((BlockNumber) gpb_max_mirrored_blocks);
}

Size
gpb_map_shmem_size(void)
{
	Size		total = gpb_map_segments_total();
	Size		size = MAXALIGN(sizeof(GpbMap)) + PG_CACHE_LINE_SIZE;

	size = add_size(size, mul_size(total, 2 * GPB_SEGMENT_WORDS * sizeof(GpbSegment)));
	size = add_size(size, MAXALIGN(mul_size(total, sizeof(uint32))));
	size = add_size(size, mul_size(total * GPB_MIRRORS, sizeof(pg_atomic_uint32)));
	return size;
}

/* Lay out the pool; called at server start, and in each process of EXEC_BACKEND. */
void
gpb_map_init_shmem(void)
{
	uint32		total = gpb_map_segments_total();
	bool		found;
	char	   *p = ShmemInitStruct("gpubtree changed map", gpb_map_shmem_size(), &found);
	uint32		i;

	map = (GpbMap *) p;
	if (found)
		return;
	p = (char *) CACHELINEALIGN(p + sizeof(GpbMap));
	map->total = total;
	map->nfree = total;
	map->segments = (GpbSegment *) p;
	p += (Size) total * 2 * GPB_SEGMENT_WORDS * sizeof(GpbSegment);
	map->free_list = (uint32 *) p;
	p += MAXALIGN(total * sizeof(uint32));
	map->table = (pg_atomic_uint32 *) p;
	for (i = 0; i < total; i++)
	{
		int			w;

		map->free_list[i] = total - 1 - i;
		for (w = 0; w < GPB_SEGMENT_WORDS; w++)
		{
			pg_atomic_init_u32(changed_word(segment_at(i), w), 0xFFFFFFFF);
			pg_atomic_init_u32(in_flight_word(segment_at(i), w), 0);
		}
	}
	for (i = 0; i < total * GPB_MIRRORS; i++)
		pg_atomic_init_u32(&map->table[i], 0);
}

/*
 * Segment "number" of the mirror in a slot, or NULL.  Reads no memory but the table's, whatever the
 * arguments.
 */
static GpbSegment *
map_segment(int slot, uint32 number)
{
	uint32		entry;

	if (slot < 0 || slot >= GPB_MIRRORS || number >= map->total)
		return NULL;
	entry = pg_atomic_read_u32(&map->table[slot * map->total + number]);
	return entry == 0 ? NULL : segment_at(entry - 1);
}

/*
 * Mark a block of the mirror in a slot changed, as mark.h says.  The bit is read first, since a
 * page that takes many inserts is marked many times between refreshes: whoever clears a bit that
 * was found set here copies the page afterwards, and so waits for the lock that our caller holds.
 */
static void
mark_block(int slot, BlockNumber block)
{
	GpbSegment *segment;

	pg_memory_barrier();
	segment = map_segment(slot, block / GPB_SEGMENT_BLOCKS);
	if (segment != NULL)
	{
		uint32		within = block % GPB_SEGMENT_BLOCKS;
		pg_atomic_uint32 *word = changed_word(segment, within / 32);
		uint32		bit = (uint32) 1 << (within % 32);

		if ((pg_atomic_read_u32(word) & bit) == 0)
			pg_atomic_fetch_or_u32(word, bit);
	}
	pg_memory_barrier();
}

/*
 * Behind a mirror that was found there is another one of the file only if both are pieces, and
 * these are in slots below piece_limit, which is raised before their tag can be found.
 */
void
gpb_mirror_mark(const RelFileNode *file, BlockNumber block)
{
	int			slot;

	for (slot = gpb_mirror_find(file); slot != GPB_NOT_MIRRORED;
		 slot = gpb_mirror_find_from(file, slot + 1))
	{
		mark_block(slot, block);
		if ((uint32) slot + 1 >= pg_atomic_read_u32(&gpb_registry->piece_limit))
			return;
	}
}

/*
 * Give the mirror in a slot segments until it has nsegments, each with all bits set before it can
 * be found (rule M2).  Needs the registry lock, exclusively, and the mirror's ownership or a mirror
 * not yet published.  Returns false, with nothing done, if the pool has too few.
 */
bool
gpb_map_grow(int slot, uint32 nsegments)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	uint32		have = pg_atomic_read_u32(&mirror->nsegments);

	Assert(LWLockHeldByMeInMode(gpb_registry->lock, LW_EXCLUSIVE));
	if (nsegments > map->total)
		return false;
	if (nsegments <= have)
		return true;
	if (nsegments - have > map->nfree)
		return false;
	for (; have < nsegments; have++)
	{
		uint32		number = map->free_list[--map->nfree];
		GpbSegment *segment = segment_at(number);
		int			w;

		for (w = 0; w < GPB_SEGMENT_WORDS; w++)
		{
			pg_atomic_write_u32(changed_word(segment, w), 0xFFFFFFFF);
			pg_atomic_write_u32(in_flight_word(segment, w), 0);
		}
		pg_memory_barrier();
		pg_atomic_write_u32(&map->table[slot * map->total + have], number + 1);
	}
	pg_atomic_write_u32(&mirror->nsegments, nsegments);
	pg_memory_barrier();
	return true;
}

/*
 * Take all segments of the mirror in a slot away.  Needs the registry lock, exclusively, and
 * ownership.
 */
void
gpb_map_release(int slot)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	uint32		n = pg_atomic_read_u32(&mirror->nsegments);
	uint32		i;

	Assert(LWLockHeldByMeInMode(gpb_registry->lock, LW_EXCLUSIVE));
	for (i = 0; i < n; i++)
	{
		pg_atomic_uint32 *entry = &map->table[slot * map->total + i];

		map->free_list[map->nfree++] = pg_atomic_read_u32(entry) - 1;
		pg_atomic_write_u32(entry, 0);
	}
	pg_atomic_write_u32(&mirror->nsegments, 0);
}

/*
 * Run body for each word of the first nblocks blocks that has a segment.  body may use segment, w
 * (the word's number within it), i (its number in the whole map) and mask (the bits of blocks below
 * nblocks).
 */
#define GPB_FOR_EACH_WORD(slot, nblocks, body) \
	do { \
		BlockNumber first_; \
		for (first_ = 0; first_ < (nblocks); first_ += GPB_SEGMENT_BLOCKS) \
		{ \
			GpbSegment *segment = map_segment(slot, first_ / GPB_SEGMENT_BLOCKS); \
			uint32		left_ = Min((nblocks) - first_, GPB_SEGMENT_BLOCKS); \
			uint32		w; \
			if (segment == NULL) \
				break; \
			for (w = 0; w < gpb_map_words(left_); w++) \
			{ \
				uint32		i = first_ / 32 + w; \
				uint32		mask = word_mask(left_ - w * 32); \
				body; \
				(void) i; (void) mask; \
			} \
			if (first_ > MaxBlockNumber - GPB_SEGMENT_BLOCKS) \
				break; \
		} \
	} while (0)

static inline uint32
word_mask(uint32 nbits)
{
	return nbits >= 32 ? 0xFFFFFFFF : ((uint32) 1 << nbits) - 1;
}

/*
 * Is a bit set among the first nblocks bits at "words"?  This is read for each query, so the words
 * are loaded plainly, many at a time; the callers' barriers say when.
 */
static bool
any_bit(const pg_atomic_uint32 *words, uint32 nblocks)
{
	const uint32 *word = (const uint32 *) words;
	uint32		n = nblocks / 32;
	uint32		any = 0;
	uint32		i;

	for (i = 0; i + 16 <= n && any == 0; i += 16)
	{
		uint64		four[8];

		memcpy(four, word + i, sizeof(four));
		any = ((four[0] | four[1]) | (four[2] | four[3]) |
			   ((four[4] | four[5]) | (four[6] | four[7]))) != 0;
	}
	for (; i < n; i++)
		any |= word[i];
	if (nblocks % 32 != 0)
		any |= word[n] & word_mask(nblocks % 32);
	return any != 0;
}

/* Is a changed bit, or one in flight, set among the first nblocks blocks of the mirror? */
static bool
any_set(int slot, BlockNumber nblocks, bool in_flight)
{
	uint32		number;

	for (number = 0; number < gpb_map_segments_for(nblocks); number++)
	{
		uint32		first = number * GPB_SEGMENT_BLOCKS;
		GpbSegment *segment = map_segment(slot, number);

		if (segment == NULL ||
			any_bit(in_flight ? in_flight_word(segment, 0) : changed_word(segment, 0),
					Min(nblocks - first, GPB_SEGMENT_BLOCKS)))
			return true;
	}
	return false;
}

StaticAssertDecl(sizeof(pg_atomic_uint32) == sizeof(uint32), "words of the map are adjoining");

/* Is no block below nblocks changed or in flight?  Changed is read first (rule M3). */
bool
gpb_map_is_clean(int slot, BlockNumber nblocks)
{
	pg_memory_barrier();
	if (any_set(slot, nblocks, false))
		return false;
	pg_memory_barrier();
	return !any_set(slot, nblocks, true);
}

/* Count the blocks below nblocks that are changed or in flight; for display. */
uint64
gpb_map_count(int slot, BlockNumber nblocks)
{
	uint64		count = 0;

	GPB_FOR_EACH_WORD(slot, nblocks,
					  count += pg_popcount32(mask &
											 (pg_atomic_read_u32(changed_word(segment, w)) |
											  pg_atomic_read_u32(in_flight_word(segment, w)))));
	return count;
}

int
gpb_map_count_upto(int slot, BlockNumber nblocks, int most)
{
	int			count = 0;

	GPB_FOR_EACH_WORD(slot, nblocks,
					  if (count >= most)
						  return most;
					  count += pg_popcount32(mask &
											 (pg_atomic_read_u32(changed_word(segment, w)) |
											  pg_atomic_read_u32(in_flight_word(segment, w)))));
	return Min(count, most);
}

/*
 * Do rule M3's move.  Afterwards todo (gpb_map_words(nblocks) words) has every block in flight,
 * blocks that an earlier refresh left behind included; returns their number.  Blocks at or beyond
 * nblocks keep their bits.  Needs ownership.
 */
uint32
gpb_map_move(int slot, BlockNumber nblocks, uint32 *todo)
{
	uint32		count = 0;

	memset(todo, 0, gpb_map_words(nblocks) * sizeof(uint32));
	GPB_FOR_EACH_WORD(slot, nblocks,
	{
		uint32		bits = mask & pg_atomic_read_u32(changed_word(segment, w));

		if (bits)
		{
			pg_atomic_fetch_or_u32(in_flight_word(segment, w), bits);
			pg_memory_barrier();
			GPB_HOLD("refresh-in-move");
			pg_atomic_fetch_and_u32(changed_word(segment, w), ~bits);
		}
		todo[i] = mask & pg_atomic_read_u32(in_flight_word(segment, w));
		count += pg_popcount32(todo[i]);
	});
	pg_memory_barrier();
	return count;
}

/*
 * Note that the blocks of todo have their images: they are no longer in flight.  Needs ownership.
 */
void
gpb_map_clear_in_flight(int slot, BlockNumber nblocks, const uint32 *todo)
{
	pg_memory_barrier();
	GPB_FOR_EACH_WORD(slot, nblocks,
	{
		if (todo[i])
			pg_atomic_fetch_and_u32(in_flight_word(segment, w), ~todo[i]);
	});
}

/*
 * Do rule M3's move for a single block.  Returns false if it is neither changed nor in flight.  A
 * block that has no segment counts as changed.  Needs ownership.
 */
bool
gpb_map_take(int slot, BlockNumber block)
{
	GpbSegment *segment = map_segment(slot, block / GPB_SEGMENT_BLOCKS);
	uint32		w = block % GPB_SEGMENT_BLOCKS / 32;
	uint32		bit = (uint32) 1 << (block % 32);

	if (segment == NULL)
		return true;
	if ((pg_atomic_read_u32(changed_word(segment, w)) & bit) != 0)
	{
		pg_atomic_fetch_or_u32(in_flight_word(segment, w), bit);
		pg_memory_barrier();
		pg_atomic_fetch_and_u32(changed_word(segment, w), ~bit);
	}
	return (pg_atomic_read_u32(in_flight_word(segment, w)) & bit) != 0;
}

/* Note that a block taken has its image: it is no longer in flight.  Needs ownership. */
void
gpb_map_put(int slot, BlockNumber block)
{
	GpbSegment *segment = map_segment(slot, block / GPB_SEGMENT_BLOCKS);

	pg_memory_barrier();
	if (segment != NULL)
		pg_atomic_fetch_and_u32(in_flight_word(segment, block % GPB_SEGMENT_BLOCKS / 32),
								~((uint32) 1 << (block % 32)));
}

/*
 * Read the bits that make a leaf unclean at this moment: changed, full barrier, in-flight.  bits
 * has gpb_map_words(nblocks) words.  Returns false if none of the bits is set; then bits is not
 * written.  The quick look comes first, since most launches find nothing.
 */
bool
gpb_map_read(int slot, BlockNumber nblocks, uint32 *bits)
{
	bool		any = any_set(slot, nblocks, false);

	pg_memory_barrier();
	GPB_HOLD_SERVICE("map-read");
	if (!any && !any_set(slot, nblocks, true))
		return false;
	memset(bits, 0xFF, gpb_map_words(nblocks) * sizeof(uint32));
	GPB_FOR_EACH_WORD(slot, nblocks, bits[i] = pg_atomic_read_u32(changed_word(segment, w)));
	pg_memory_barrier();
	GPB_FOR_EACH_WORD(slot, nblocks, bits[i] |= pg_atomic_read_u32(in_flight_word(segment, w)));
	return true;
}
