/*-------------------------------------------------------------------------
 *
 * page.h
 *	  Reading the pages of an index: layout, checks, locks, links.
 *
 *	rel_cache.c		the layout of an index, kept in its relcache entry
 *	page_check.c	is a page sound?  Errors about pages that are not
 *	page_read.c		pin, lock and check a page
 *	page_link.c		follow a link to a sibling or a child
 *	page_snapshot.c	has the index all rows that a snapshot of a standby sees?
 *
 * The index and the mirror both read pages by these functions.  Who changes a page, and how, is the
 * index's business (src/index).  "Share" and "exclusive" are buffer content locks; every lock comes
 * with a pin.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PAGE_H
#define GPB_PAGE_H

#include "compat.h"

#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "key_columns.h"
#include "layout.h"
#include "page/coding.h"

/* No tree is higher: levels are 0 to GPB_MAX_LEVEL. */
#define GPB_MAX_LEVEL	15

static inline GpbPageSpecial *
gpb_special(Page page)
{
	return (GpbPageSpecial *) ((char *) page + GPB_SPECIAL_OFFSET);
}

static inline GpbMeta *
gpb_meta(Page page)
{
	return (GpbMeta *) ((char *) page + GPB_PAGE_HEADER);
}

/*
 * The transaction that built the index, as a FullTransactionId, or 0; see gpb_require_snapshot().
 * It lies in a field of the metapage that was zero before there was a builder, and that an older
 * gpubtree passes by.
 */
static inline uint64
gpb_meta_builder(Page page)
{
	return gpb_special(page)->low_key;
}

static inline void
gpb_meta_set_builder(Page page, uint64 builder)
{
	gpb_special(page)->low_key = builder;
}

/* The high key that a page has, or bits that mean nothing if it is rightmost */
static inline GpbBound
gpb_stored_high(Page page)
{
	const GpbPageSpecial *special = gpb_special(page);
	GpbBound	high = {special->high_key, special->high_tie};

	if (special->key_width == GPB_WIDE_KEY)
		high.key |= (GpbKey) *(uint64 *) ((char *) page + GPB_WIDE_HIGH) << 64;
	return high;
}

/* Set the high key of a page, whose key width is set. */
static inline void
gpb_set_high(Page page, GpbBound high)
{
	GpbPageSpecial *special = gpb_special(page);
	uint64		upper = (uint64) (high.key >> 64);

	special->high_key = (uint64) high.key;
	special->high_tie = high.tie;
	if (special->key_width == GPB_WIDE_KEY)
		memcpy((char *) page + GPB_WIDE_HIGH, &upper, sizeof(upper));
}

/* Set the bound where a page begins, its low bound. */
static inline void
gpb_set_low(Page page, GpbBound low)
{
	GpbPageSpecial *special = gpb_special(page);
	uint64		upper = (uint64) (low.key >> 64);

	special->low_key = (uint64) low.key;
	special->low_tie = low.tie;
	if (special->key_width == GPB_WIDE_KEY)
		memcpy((char *) page + GPB_WIDE_LOW, &upper, sizeof(upper));
}

/* Does the page reach as far as the bound? */
static inline bool
gpb_page_covers(Page page, GpbBound bound)
{
	return gpb_special(page)->right == GPB_NO_BLOCK ||
		gpb_bound_less(bound, gpb_page_high(page));
}

/*
 * Does bound lie on the page or to the right of it?  A page of the level says so itself, whatever
 * link led to it, and however old the link is (rule M7).  The page is locked, or a copy of one that
 * was.
 */
static inline bool
gpb_page_leads_to(Page page, uint32 level, GpbBound bound)
{
	const GpbPageSpecial *special = gpb_special(page);

	return special->level == level && (special->flags & GPB_PAGE_DELETED) == 0 &&
		!gpb_bound_less(bound, gpb_page_low(page));
}

/*
 * Is it a page of the dictionary?  Such a page is none of the tree's, and mirrors have no image of
 * it.  The page may be any that was read, and is checked no further.
 */
static inline bool
gpb_is_dictionary_page(Page page)
{
	return ((PageHeader) page)->pd_special == GPB_SPECIAL_OFFSET &&
		gpb_special(page)->page_id == GPB_PAGE_ID &&
		(gpb_special(page)->flags & GPB_PAGE_DICTIONARY) != 0;
}

/* ---- rel_cache.c ---- */

/* Types of keys as errors name them: of each of several columns, and of a lone column besides */
#define GPB_KEY_TYPES \
	"smallint, integer, bigint, real, double precision, boolean, date, " \
	"timestamp without time zone, timestamp with time zone, time without time zone, money, oid, " \
	"\"char\", xid8, pg_lsn, macaddr, macaddr8"
#define GPB_LONE_KEY_TYPES	"numeric(p, s), uuid, time with time zone"

/*
 * What a relation cache entry keeps for us, in rd_amcache.  Any invalidation frees it, so nobody
 * holds a pointer into it across a catalog access.  It outlives the lock of the index under which
 * it was made: the root may have become another page since, or have been cut off the file.
 */
typedef struct GpbRelCache
{
	GpbLayout	layout;
	BlockNumber root;			/* as last read; InvalidBlockNumber: unknown */
	uint32		level;			/* of that root */
	bool		knows_builder;
	uint64		builder;		/* gpb_meta_builder(), if that is known */
	uint64		number;			/* no other cache of this process has or had it */
	uint32		root_reads;		/* look-ups by the root itself since a copy of it was lacking */
} GpbRelCache;

extern GpbRelCache *gpb_rel_cache(Relation index);

/*
 * The layout of an index, from its tuple descriptor and column options; cached in the relcache
 * entry (copy it to keep it).  Raises ERRCODE_FEATURE_NOT_SUPPORTED, naming the column and the
 * types allowed, for a type we cannot hold.  Reads the metapage where the catalog does not have the
 * scale of a numeric column any more, and where the key has several columns, so no page may be
 * locked.
 */
extern const GpbLayout *gpb_layout(Relation index);

/*
 * Derive the layout anew from the catalog alone, for a build: of an index of several key columns
 * the metapage says which have a code for NULL, and of numeric columns how many digits they have,
 * and it is the build that decides this.
 */
extern const GpbLayout *gpb_layout_for_build(Relation index);

/*
 * Is the expression, which has no mutable function, not NULL wherever this predicate is true?  Both
 * are in the form that the planner has them in, the predicate as a list of what is ANDed.  By
 * PostgreSQL's own proof: false where that finds none, as with no predicate.
 */
extern bool gpb_implies_not_null(List *predicate, Expr *expression);

/*
 * How values of a type are held as words: GPB_CODING_NONE if they are not, or if a type does not
 * say all of it, which goes for numeric.
 */
extern GpbCoding gpb_type_coding(Oid type);
/*
 * How an index holds values of a type, as words or otherwise: GPB_CODING_NONE if it holds none, or
 * if a type does not say all of it, which goes for numeric
 */
extern GpbCoding gpb_held_type_coding(Oid type);
/*
 * gpb_type_coding() of a type that is no domain, and no enum type; without a look at a catalog
 */
extern GpbCoding gpb_core_type_coding(Oid type);
/* Is a type one whose values INCLUDE columns hold by way of a dictionary? */
extern bool gpb_type_has_dictionary(Oid type);

/* Has the index a dictionary? */
static inline bool
gpb_layout_has_dictionary(const GpbLayout *layout)
{
	for (int c = 0; c < layout->ncolumns; c++)
	{
		if (layout->coding[c] == GPB_CODING_DICTIONARY)
			return true;
	}
	return false;
}

/* The number of columns: those of the key, and INCLUDE columns */
static inline int
gpb_layout_columns(const GpbLayout *layout)
{
	return gpb_count_keys(layout) + layout->ncolumns;
}

/* The coding of a column, counted from 0: key columns come first, the INCLUDE columns follow. */
static inline GpbCoding
gpb_column_coding(const GpbLayout *layout, int column)
{
	int			nkeys = gpb_count_keys(layout);

	if (column >= nkeys)
		return (GpbCoding) layout->coding[column - nkeys];
	return (GpbCoding) (layout->nkeys > 0 ? layout->key[column].coding : layout->key_coding);
}

/* The most digits of a value of a numeric column, counted from 0 */
extern int	gpb_column_digits(const GpbLayout *layout, int column);

/* Raise an error, naming the column, if a numeric among an entry's values does not fit. */
extern void gpb_require_numerics(Relation index, const GpbLayout *layout, const Datum *values,
								 const bool *isnull);

/* ---- page_check.c ---- */

/*
 * NULL if the page is a sound tree page of this layout, else what is wrong with it (a constant
 * string).  Tests bounds only, at constant cost: enough that no reader of the page leaves it.
 */
extern const char *gpb_page_fault(const void *page, const GpbLayout *layout);
/* Like gpb_page_fault(), and tests the links of a page that is block number "block". */
extern const char *gpb_page_fault_at(BlockNumber block, Page page, const GpbLayout *layout);
/*
 * NULL if the page is one of the dictionary, with bounds that no reader of its values leaves, else
 * what is wrong with it.  Its values are not looked at.
 */
extern const char *gpb_dictionary_page_fault(Page page);
/* NULL if the page is the metapage of an index of any layout, else what is wrong with it. */
extern const char *gpb_meta_frame_fault(Page page);
/* NULL if the page is the metapage of an index of this layout, else what is wrong with it. */
extern const char *gpb_meta_fault(Page page, const GpbLayout *layout);

/* Raise ERRCODE_INDEX_CORRUPTED, naming index and block, unless the tree page is sound. */
extern void gpb_page_require(Relation index, BlockNumber block, Page page,
							 const GpbLayout *layout);
/* Raise ERRCODE_INDEX_CORRUPTED, naming index and block; "what" says what is wrong with it. */
extern void gpb_corrupted(Relation index, BlockNumber block,
						  const char *what) pg_attribute_noreturn();
/*
 * Raise ERRCODE_INDEX_CORRUPTED where several pages are wrong together, or it is unknown which one
 * is.
 */
extern void gpb_corrupted_index(Relation index, const char *what) pg_attribute_noreturn();
/*
 * Raise what gpb_meta_fault() or gpb_meta_frame_fault() has found wrong with a metapage.  One of
 * another version is not damaged: another gpubtree made the index, and the message says so.
 */
extern void gpb_meta_refuse(Relation index, const GpbMeta *meta, const char *fault)
			pg_attribute_noreturn();

/* ---- page_read.c ---- */

/*
 * Is the block before the end of the file?  That is asked of a link that was read under an earlier
 * lock of the index, before it is even prefetched: see gpb_read_old_link().  Other links are to be
 * followed without it, and raise an error where there is no block.
 */
extern bool gpb_is_in_file(Relation index, BlockNumber block);
/*
 * Pin a block, in exchange for a pinned buffer or InvalidBuffer; neither is locked, nor the page
 * checked by us.  A page that PostgreSQL itself finds invalid raises ERRCODE_INDEX_CORRUPTED, with
 * a context that names index and block.  strategy may be NULL.
 */
extern Buffer gpb_pin(Relation index, Buffer buffer, BlockNumber block,
					  BufferAccessStrategy strategy);
/*
 * Pin the next block that a stream of the index's blocks has read, as gpb_pin() does; InvalidBuffer
 * where the callback names no more.  Blocks that the stream has read ahead are pinned too, not
 * locked, until they are taken, or read_stream_reset().
 */
extern Buffer gpb_stream_pin(Relation index, ReadStream *stream);
/* Read, lock (BUFFER_LOCK_SHARE or _EXCLUSIVE) and check a tree page. */
extern Buffer gpb_read(Relation index, BlockNumber block, int lock,
					   const GpbLayout *layout);
/*
 * Read, lock and check a tree page in exchange for a pinned and unlocked buffer, or InvalidBuffer.
 */
extern Buffer gpb_exchange(Relation index, Buffer buffer, BlockNumber block,
						   int lock, const GpbLayout *layout);
/* Read, lock and check the metapage. */
extern Buffer gpb_lock_meta(Relation index, const GpbLayout *layout, int lock);
/* Copy the metapage's contents out. */
extern void gpb_read_meta(Relation index, const GpbLayout *layout, GpbMeta *meta);

/*
 * The buffer where a block of this file is, not pinned, or InvalidBuffer: it may be another block's
 * at any time, which ReadRecentBuffer() finds out.
 */
extern Buffer gpb_find_buffer(const RelFileNode *file, BlockNumber block);
/*
 * Ask for a page that is to be read soon: from the disk, or, if it is in shared buffers, its ends
 * to the CPU's cache.  Returns the buffer where it is now, not pinned, or InvalidBuffer.  With that
 * buffer the keys that a search compares with first can be asked for, a little later, and the page
 * be read without a look-up if it is there still.  Raises ERRCODE_INDEX_CORRUPTED for a block
 * beyond the file's end.
 */
extern Buffer gpb_ask_for_page(Relation index, BlockNumber block);
extern void gpb_ask_for_keys(Buffer recent);
/*
 * Like gpb_ask_for_page(), for a sibling of the leaf that is in this buffer and has this block.  A
 * sibling that is not in shared buffers is not asked for, so this does no
 * I/O, and the leaf may be locked.
 */
extern Buffer gpb_ask_for_sibling(Relation index, Buffer buffer, BlockNumber block,
								  BlockNumber sibling);
/* Read a page that was asked for, as gpb_read() does with a share lock. */
extern Buffer gpb_read_asked_for(Relation index, BlockNumber block, Buffer recent,
								 const GpbLayout *layout);
/*
 * The same for a link that is older than the caller's lock of the index, whether the page was asked
 * for or not: returns InvalidBuffer, with nothing locked, where no page of the tree is any more.
 * VACUUM may have cut off the block since, and somebody may have appended it anew, as a page of the
 * dictionary or one that is still empty.
 */
extern Buffer gpb_read_old_link(Relation index, BlockNumber block, Buffer recent,
								const GpbLayout *layout);

/* ---- page_link.c ---- */

/*
 * Follow the right link of a page of this level, block "left", as it was when that page was read
 * and had the high key "bound".  Locks the page that the link leads to, which covers the bound.
 * Returns InvalidBuffer if the link is out of date, because the page has been deleted and perhaps
 * recycled; then a descent for the bound finds the way.  Raises ERRCODE_INDEX_CORRUPTED if the
 * left page has that link still.  No other page of the level may be locked.
 */
extern Buffer gpb_read_right(Relation index, const GpbLayout *layout,
							 BlockNumber left, BlockNumber block, uint16 level,
							 GpbBound bound, int lock);
/* Like gpb_read_right() with a share lock, for a page that was asked for. */
extern Buffer gpb_read_right_asked_for(Relation index, const GpbLayout *layout, BlockNumber left,
									   BlockNumber block, Buffer recent, uint16 level,
									   GpbBound bound);
/*
 * Raise ERRCODE_INDEX_CORRUPTED unless the locked page is the right sibling of the page "left" of
 * this level, which has the high key "bound" and is locked by the caller, too.
 */
extern void gpb_require_right(Relation index, Buffer buffer, BlockNumber left, uint16 level,
							  GpbBound bound);
/*
 * Which child of an inner page leads to bound: the position of the last separator at or before it,
 * or -1 if there is none.
 */
extern int	gpb_child_position(const GpbLayout *layout, const void *page, GpbBound bound);
/*
 * The block of the child at a position; *range is from its separator to the next one.  page is
 * block's page, or a copy of it.  Raises ERRCODE_INDEX_CORRUPTED for position -1.
 */
extern BlockNumber gpb_child_at(Relation index, const GpbLayout *layout, BlockNumber block,
								const void *page, int position, GpbRange *range);
/*
 * Exchange a locked inner page for a child on the level below it, where the search for the bound
 * goes on; lock is the child's.  Returns InvalidBuffer, with nothing locked, if the child does not
 * lead to the bound: it has been deleted since the parent was unlocked, or is damaged.
 */
extern Buffer gpb_step_down(Relation index, const GpbLayout *layout, Buffer buffer,
							BlockNumber child, GpbBound bound, int lock);

/* ---- page_snapshot.c ---- */

/*
 * May the index lack rows that the snapshot sees?  It may if the snapshot was taken on a standby
 * before the end of the transaction that built the index was replayed: src/index/README,
 * "Standbys".  Reads the metapage the first time, so no page may be locked.
 */
extern bool gpb_may_lack_rows(Relation index, Snapshot snapshot);
/* Raise ERRCODE_T_R_SERIALIZATION_FAILURE: the index may lack rows that a snapshot sees. */
extern void gpb_lacks_rows(Relation index) pg_attribute_noreturn();

/* Was the snapshot taken on a standby?  Only an MVCC snapshot has all its fields filled. */
static inline bool
gpb_is_standby_snapshot(Snapshot snapshot)
{
	return snapshot->snapshot_type == SNAPSHOT_MVCC && snapshot->takenDuringRecovery;
}

/*
 * Raise ERRCODE_T_R_SERIALIZATION_FAILURE if the index may lack rows that the snapshot sees.
 * Whoever answers a query from the index has called this, with the query's snapshot.  No page may
 * be locked.
 */
static inline void
gpb_require_snapshot(Relation index, Snapshot snapshot)
{
	if (unlikely(gpb_is_standby_snapshot(snapshot)) && gpb_may_lack_rows(index, snapshot))
		gpb_lacks_rows(index);
}

#endif							/* GPB_PAGE_H */
