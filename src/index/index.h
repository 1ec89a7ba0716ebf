/*-------------------------------------------------------------------------
 *
 * index.h
 *	  The index wing: pages, search, insert, build, scan, vacuum, WAL, check.
 *
 * Lock terms: "share" and "exclusive" are buffer content locks; every lock comes
 * with a pin.  src/README states the invariants.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_INDEX_H
#define GPB_INDEX_H

#include "postgres.h"
#include "access/amapi.h"
#include "access/genam.h"
#include "access/itup.h"
#include "access/relscan.h"
#include "access/sdir.h"
#include "access/xlogreader.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"

#include "layout.h"
#include "ranges.h"

#define GPB_DEFAULT_FILLFACTOR	90	/* leaves */
#define GPB_INNER_FILLFACTOR	70
#define GPB_MIN_FILLFACTOR		10

/* Support functions of an operator class */
#define GPB_COMPARE_PROC		1	/* as btree's: int4 cmp(left, right) */
#define GPB_NPROC				1

/* ---- settings.c / options ---- */
typedef struct GpbOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int			fillfactor;
} GpbOptions;

/* One entry in memory */
typedef struct GpbEntry
{
	uint64		key;
	char		row[GPB_MAX_ROW_WIDTH] pg_attribute_aligned(8);
} GpbEntry;

/* ---- key.c: types, encoding, ranges ---- */

/*
 * What a relation cache entry keeps for us, in rd_amcache.  Any invalidation
 * frees it, so nobody holds a pointer into it across a catalog access.
 */
typedef struct GpbRelCache
{
	GpbLayout	layout;
	BlockNumber root;			/* as last read; InvalidBlockNumber: unknown */
	uint32		level;			/* of that root */
	BlockNumber blocks;			/* the file has at least so many */
} GpbRelCache;

extern GpbRelCache *gpb_rel_cache(Relation index);

/*
 * The layout of an index, from its tuple descriptor and column options; cached in
 * the relcache entry (copy it to keep it).  Raises ERRCODE_FEATURE_NOT_SUPPORTED,
 * naming the column and the types allowed, for a type we cannot hold.
 */
extern const GpbLayout *gpb_layout(Relation index);

/* Build the entry for index values as aminsert and the build callback get them. */
extern void gpb_entry_form(const GpbLayout *layout, const Datum *values,
						   const bool *isnull, ItemPointer tid, GpbEntry *entry);

/* Datum of the key / INCLUDE column c of an entry; *isnull set. attno is 1-based index column. */
extern Datum gpb_entry_datum(const GpbLayout *layout, uint64 key,
							 const char *row, int attno, bool *isnull);

/* Normalized key of a non-NULL Datum of the key's type. */
extern uint64 gpb_datum_key(const GpbLayout *layout, Datum value);
/* The inverse; the key must be one of the type's. */
extern Datum gpb_key_datum(const GpbLayout *layout, uint64 key);

/* All entries with non-NULL keys; all with NULL keys. */
extern GpbRange gpb_range_not_null(const GpbLayout *layout);
extern GpbRange gpb_range_null(const GpbLayout *layout);
/*
 * The closed interval of keys that a range between two values' places, as gpb_comparison_narrow makes it, is;
 * false if it is empty.
 */
extern bool gpb_closed_range(const GpbLayout *layout, const GpbRange *range,
							 GpbKeyRange *keys);

/*
 * Narrow *range to the entries that satisfy "key OP value", OP a btree strategy, value non-NULL
 * of type "type" (any member of the key's operator family; InvalidOid: the key's own).  A value outside
 * the key type's range narrows to nothing or not at all.  An empty range has
 * !gpb_bound_less(lo, hi).
 */
extern void gpb_range_narrow(Relation index, const GpbLayout *layout,
							 StrategyNumber strategy, Oid type, Datum value,
							 GpbRange *range);

/*
 * The same in two steps, for many values of one type: everything that depends
 * on the type alone is looked up once.
 */
typedef struct GpbComparison
{
	int			width;			/* 2, 4, 8: plain integers; 0: ask procedure */
	FmgrInfo	procedure;		/* compares a key with a value */
} GpbComparison;

extern void gpb_comparison_init(Relation index, Oid type,
								GpbComparison *comparison);
extern void gpb_comparison_narrow(const GpbLayout *layout,
								  GpbComparison *comparison,
								  StrategyNumber strategy, Datum value,
								  GpbRange *range);

/* ---- page.c: reading, checking, changing a page ---- */

extern void gpb_page_init(Page page, uint16 level, uint16 flags, int key_width, int row_width);
extern void gpb_meta_init(Page page, const GpbLayout *layout, BlockNumber root, uint32 level);

static inline GpbPageSpecial *
gpb_special(Page page)
{
	return (GpbPageSpecial *) ((char *) page + GPB_SPECIAL_OFFSET);
}

/*
 * NULL if the page is a sound tree page of this layout, else what is wrong with it (a constant
 * string).  Bounds only, O(1): enough that no reader of it leaves the page.
 */
extern const char *gpb_page_fault(const void *page, const GpbLayout *layout);

/*
 * Raise ERRCODE_INDEX_CORRUPTED, naming index and block, unless the page is sound.
 */
extern void gpb_page_require(Relation index, BlockNumber block, Page page,
							 const GpbLayout *layout);
extern void gpb_corrupted(Relation index, BlockNumber block, const char *what) pg_attribute_noreturn();
/* Likewise, where several pages together are wrong, or it is not known which of them is */
extern void gpb_corrupted_index(Relation index, const char *what) pg_attribute_noreturn();

/* Insert an entry at position; key and row as on a page of these widths, any alignment. */
extern void gpb_page_insert(Page page, int position, const void *key, const void *row);
/* Keep only the first n entries. */
extern void gpb_page_truncate(Page page, int n);
/* Remove the entries at the n ascending positions. */
extern void gpb_page_delete(Page page, const uint16 *positions, int n);
/* Entries [from, to) of source appended to target. */
extern void gpb_page_append(Page target, Page source, int from, int to);

/* Raise ERRCODE_INDEX_CORRUPTED if a link leads to a block beyond the end of the file. */
extern void gpb_require_block(Relation index, BlockNumber block);
/*
 * Read, lock (BUFFER_LOCK_SHARE / EXCLUSIVE) and check a tree page.
 */
extern Buffer gpb_read(Relation index, BlockNumber block, int lock,
					   const GpbLayout *layout);
/*
 * Ask for a page that is to be read soon: from the disk, or, if it is in shared buffers, its ends to the CPU's cache.  The buffer where
 * it is now, not pinned, or InvalidBuffer, is returned: then the keys that a search compares with first can be asked for, a little later,
 * and the page be read without a look-up, if it is there still.  Raises ERRCODE_INDEX_CORRUPTED for a block beyond the file's end.
 */
extern Buffer gpb_ask_for_page(Relation index, BlockNumber block);
extern void gpb_ask_for_keys(Buffer recent);
/* As gpb_read with a share lock. */
extern Buffer gpb_read_asked_for(Relation index, BlockNumber block, Buffer recent,
								 const GpbLayout *layout);
/*
 * Pin a block, in exchange for a pinned buffer or InvalidBuffer; neither is locked, nor
 * the page checked by us.  A page that PostgreSQL itself finds invalid raises
 * ERRCODE_INDEX_CORRUPTED, with a context that names index and block.  strategy may be NULL.
 */
extern Buffer gpb_pin(Relation index, Buffer buffer, BlockNumber block,
					  BufferAccessStrategy strategy);
/* The same in exchange for a pinned and unlocked buffer, or InvalidBuffer. */
extern Buffer gpb_exchange(Relation index, Buffer buffer, BlockNumber block,
						   int lock, const GpbLayout *layout);
/*
 * Tell the mirror, if there is one, that a block changes (rule M2).  To be
 * called under the block's exclusive lock, before it is released.
 */
extern void gpb_mark_changed(Relation index, BlockNumber block);
/* A new, locked (exclusive), pinned buffer at the end of the relation; page not yet initialized. */
extern Buffer gpb_extend(Relation index);
/* The metapage, checked and locked; its contents. */
extern Buffer gpb_lock_meta(Relation index, const GpbLayout *layout, int lock);

static inline GpbMeta *
gpb_meta(Page page)
{
	return (GpbMeta *) ((char *) page + GPB_PAGE_HEADER);
}

/* Is there room for one more entry? */
static inline bool
gpb_page_has_room(Page page)
{
	const GpbPageSpecial *special = gpb_special(page);

	return ((PageHeader) page)->pd_upper - ((PageHeader) page)->pd_lower >=
		special->key_width + special->row_width;
}

/* An inner row. */
static inline void
gpb_inner_row(char *row, uint64 tie, BlockNumber child)
{
	memcpy(row, &tie, sizeof(tie));
	memcpy(row + GPB_LOCATOR_WIDTH, &child, sizeof(child));
}

/* The metapage copied out. */
extern void gpb_read_meta(Relation index, const GpbLayout *layout, GpbMeta *meta);

/* ---- search.c ---- */

/* No tree is higher: levels are 0 to GPB_MAX_LEVEL. */
#define GPB_MAX_LEVEL	15

/* Where a writer's descent passed: one inner page of each level. */
typedef struct GpbStack
{
	uint32		height;			/* level of the root, when it was visited */
	BlockNumber block[GPB_MAX_LEVEL + 1];	/* by level; 0 is not used */
} GpbStack;

/*
 * Descend to the leaf that covers bound and lock it in the mode given.  A writer
 * gives a stack, where the path is left, and finishes the incomplete splits it
 * meets; a reader gives NULL.  Allocates nothing.
 */
extern Buffer gpb_search(Relation index, const GpbLayout *layout, GpbBound bound,
						 int lock, GpbStack *stack);
/*
 * Read and lock the right sibling of a page of this level that had, when its right link was
 * read, the high key low; left is that page's block.  Raises ERRCODE_INDEX_CORRUPTED if it
 * can't be that: another level, entries or high key out of order, no link back.  So a walk to the
 * right ends, and passes nothing over, whatever the links say.  No other page of the level
 * may be locked.
 */
extern Buffer gpb_read_right(Relation index, const GpbLayout *layout,
							 BlockNumber left, BlockNumber block, uint16 level,
							 GpbBound low, int lock);
/* Of that all but the link back, for a locked page. */
extern void gpb_require_right(Relation index, Buffer buffer, uint16 level, GpbBound low);
/*
 * Descend to the page at the given level that covers bound.  With
 * BUFFER_LOCK_EXCLUSIVE also finish incomplete splits on the way.
 */
extern Buffer gpb_search_level(Relation index, const GpbLayout *layout, GpbBound bound,
							   uint32 level, int lock);
/*
 * The parent of a page on the level below, for a writer that holds that page: the page
 * its stack names, moved right to what covers bound; exclusively locked.
 */
extern Buffer gpb_read_parent(Relation index, const GpbLayout *layout, GpbBound bound,
							  uint32 level, const GpbStack *stack);
/* Does the page reach as far as the bound? */
static inline bool
gpb_page_covers(Page page, GpbBound bound)
{
	return gpb_special(page)->right == GPB_NO_BLOCK ||
		gpb_bound_less(bound, gpb_page_high(page));
}

/*
 * Which child of an inner page leads to bound: position of the last separator at or before
 * it, -1 if there is none.
 */
extern int	gpb_child_position(const GpbLayout *layout, const void *page, GpbBound bound);
/*
 * That child's block; *range is from its separator to the next one.  page is block's page, or a
 * copy of it.  Raises ERRCODE_INDEX_CORRUPTED for position -1.
 */
extern BlockNumber gpb_child_at(Relation index, const GpbLayout *layout, BlockNumber block,
								const void *page, int position, GpbRange *range);
/*
 * Raise ERRCODE_INDEX_CORRUPTED unless the locked page can be the child that began and ended
 * with the range when its parent was read; if it was split since, it ends earlier.  Any other page of the
 * level lies all to one side of the range, and what is between might be missed.
 */
extern void gpb_require_child(Relation index, Buffer buffer, uint16 level, GpbRange range);
/*
 * Raise ERRCODE_INDEX_CORRUPTED unless the leaf, which had no right link when it was
 * read, was the last one.  For walks that came there by right links: a descent would have
 * noticed.  No page may be locked.
 */
extern void gpb_require_last(Relation index, const GpbLayout *layout, BlockNumber block);
/*
 * The first entry at or after the bound, dead or not; false if there is none.  No page may be locked.  The entry is not below
 * the bound, whatever the page holds: raises ERRCODE_INDEX_CORRUPTED if a search led to such a one.
 */
extern bool gpb_first_entry(Relation index, const GpbLayout *layout, GpbBound bound,
							GpbBound *entry);
/* Level of the root. */
extern void gpb_root_level(Relation index, const GpbLayout *layout, uint32 *level);

/* ---- insert.c ---- */
extern bool gpb_insert(Relation index, Datum *values, bool *isnull,
					   ItemPointer heap_tid, Relation heap,
					   IndexUniqueCheck check_unique, bool index_unchanged,
					   IndexInfo *index_info);
/*
 * Put an entry on an exclusively locked page, splitting it if it is full, and release it.  On an
 * inner page the entry is the missing downlink of child's right sibling: child, exclusively locked and
 * marked incomplete, is released too; on a leaf child is InvalidBuffer.
 */
extern void gpb_insert_on_page(Relation index, const GpbLayout *layout, Buffer buffer,
							   Buffer child, int position, uint64 key, const char *row,
							   const GpbStack *stack);

/* ---- split.c ---- */
/* Split the page so that the entry gets in at position; as gpb_insert_on_page. */
extern void gpb_split(Relation index, const GpbLayout *layout, Buffer left, Buffer child,
					  int position, uint64 key, const char *row, const GpbStack *stack);
/* Complete a split whose left half (exclusively locked) is marked incomplete; releases it. */
extern void gpb_finish_split(Relation index, const GpbLayout *layout, Buffer left, const GpbStack *stack);

/* ---- delete.c ---- */
/*
 * Remove the entries at n ascending positions for VACUUM.  The buffer is a leaf under a
 * cleanup lock, which is kept.
 */
extern void gpb_delete_entries(Relation index, Buffer buffer, const uint16 *positions, int n);
/*
 * Simple deletion: make room on an exclusively locked leaf by removing entries whose dead
 * hint is set.  coming is the heap block of the entry that wants the room.  Returns the number
 * removed; the lock is kept.
 */
extern int	gpb_delete_dead(Relation index, const GpbLayout *layout, Relation heap,
							Buffer buffer, BlockNumber coming);

/* ---- build.c ---- */
extern IndexBuildResult *gpb_build(Relation heap, Relation index, IndexInfo *info);
extern void gpb_buildempty(Relation index);
extern char *gpb_buildphasename(int64 phase);

/* ---- scankey.c ---- */

/* Disjoint ranges in index order, none empty. */
typedef struct GpbRangeSet
{
	GpbRange   *ranges;
	int			count;
	int			capacity;
} GpbRangeSet;

/*
 * The ranges of all entries that satisfy every key.  set->ranges is enlarged as
 * needed, in the current memory context.
 */
extern void gpb_ranges_from_keys(Relation index, const GpbLayout *layout,
								 ScanKey keys, int nkeys, GpbRangeSet *set);

/* ---- scan.c ---- */
extern IndexScanDesc gpb_beginscan(Relation index, int nkeys, int norderbys);
extern void gpb_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys);
extern bool gpb_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 gpb_getbitmap(IndexScanDesc scan, TIDBitmap *tbm);
extern void gpb_endscan(IndexScanDesc scan);
extern void gpb_markpos(IndexScanDesc scan);
extern void gpb_restrpos(IndexScanDesc scan);
extern bool gpb_canreturn(Relation index, int attno);

/* ---- vacuum.c ---- */
extern IndexBulkDeleteResult *gpb_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
											 IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *gpb_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);

/*
 * Remove the entries at the n ascending positions of a leaf that has its cleanup
 * lock; WAL-logged, and the mirror told.
 */
extern void gpb_delete_entries(Relation index, Buffer buffer,
							   const uint16 *positions, int n);

/* ---- check.c ---- */
/*
 * Raise a clear error unless the relation is a gpubtree index whose pages this session can read;
 * and that the current user owns.
 */
extern void gpb_require_readable_index(Relation index);
extern void gpb_require_own_index(Relation index);
/*
 * Open the relation that a caller of a function of ours has named as an index.  Raises
 * ERRCODE_UNDEFINED_TABLE if it is gone, as it may be if it was dropped since the caller looked it up.
 */
extern Relation gpb_open_named(Oid oid, LOCKMODE lock);
/*
 * Open a gpubtree index whose pages this session can read, by OID, for a function of ours; its table
 * first, lest we deadlock with those who lock in that order.  Errors as gpb_open_named().
 */
extern Relation gpb_open_index(Oid indexid, LOCKMODE lock, Relation *heap);

/* ---- check_heap.c ---- */
/*
 * Raise ERRCODE_INDEX_CORRUPTED unless each row of the table that a new snapshot sees has its
 * entry, with the same INCLUDE values.
 */
extern void gpb_check_heap(Relation index, Relation heap);

/* ---- cost.c, validate.c, options.c ---- */
extern void gpb_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
							 Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
							 double *correlation, double *pages);
extern bool gpb_validate(Oid opclass);
extern bytea *gpb_options(Datum reloptions, bool validate);
extern void gpb_init_options(void);
extern int	gpb_fillfactor(Relation index);

/* ---- xlog.c ---- */
extern void gpb_register_rmgr(void);
/* Log that the index is being built anew, so that a standby drops its mirror (rule M1). */
extern void gpb_xlog_log_forget(Relation index);
/* Log that every leaf of the index was locked for cleanup, so that a standby waits for its scans. */
extern void gpb_xlog_log_vacuum_pass(Relation index);

#endif							/* GPB_INDEX_H */
