/*-------------------------------------------------------------------------
 *
 * index.h
 *	  The index wing: pages, search, insert, build, scan, vacuum, WAL, check.
 *
 * Lock terms: "share" and "exclusive" are buffer content locks; every lock comes
 * with a pin.  src/index/README states the invariants.
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

#include "page/page.h"
#include "ranges.h"

#define GPB_DEFAULT_FILLFACTOR	90	/* leaves */
#define GPB_INNER_FILLFACTOR	70
#define GPB_MIN_FILLFACTOR		10

/* Support functions of an operator class */
#define GPB_COMPARE_PROC		1	/* like btree's: int4 cmp(left, right) */
#define GPB_NPROC				1

/* ---- options.c ---- */
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

/* ---- key.c: encoding, ranges ---- */

/* Build the entry for index values as aminsert and the build callback get them. */
extern void gpb_entry_form(const GpbLayout *layout, const Datum *values,
						   const bool *isnull, ItemPointer tid, GpbEntry *entry);

/* The Datum of an entry's column: attno 1 is the key, the INCLUDE columns follow.  Sets *isnull. */
extern Datum gpb_entry_datum(const GpbLayout *layout, uint64 key,
							 const char *row, int attno, bool *isnull);

/* The normalized key of a non-NULL Datum of the key's type. */
extern uint64 gpb_datum_key(const GpbLayout *layout, Datum value);
/* The Datum of a normalized key, which must be the key of some value of the type. */
extern Datum gpb_key_datum(const GpbLayout *layout, uint64 key);

/* The range of all entries with non-NULL keys, and that of all entries with NULL keys. */
extern GpbRange gpb_range_not_null(const GpbLayout *layout);
extern GpbRange gpb_range_null(const GpbLayout *layout);
/*
 * The closed interval of keys that a range is, which must lie between two values' places as
 * gpb_comparison_narrow() makes it.  Returns false if it is empty.
 */
extern bool gpb_closed_range(const GpbLayout *layout, const GpbRange *range,
							 GpbKeyRange *keys);

/*
 * Narrow *range to the entries that satisfy "key OP value": OP is a btree strategy, value is not
 * NULL and of type "type", which is any member of the key's operator family, or InvalidOid for the
 * key's own type.  A value outside the key type's range narrows to nothing or not at all.  An empty
 * range has !gpb_bound_less(lo, hi).
 */
extern void gpb_range_narrow(Relation index, const GpbLayout *layout,
							 StrategyNumber strategy, Oid type, Datum value,
							 GpbRange *range);

/*
 * gpb_range_narrow() in two steps, for many values of one type: init looks up once what depends on
 * the type alone, narrow does the rest for each value.
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

/* ---- page.c: changing a page ---- */

extern void gpb_page_init(Page page, uint16 level, uint16 flags, int key_width, int row_width);
extern void gpb_meta_init(Page page, const GpbLayout *layout, BlockNumber root, uint32 level);

/* Insert an entry at position.  key and row are as on a page of these widths, at any alignment. */
extern void gpb_page_insert(Page page, int position, const void *key, const void *row);
/* Keep only the first n entries of a page. */
extern void gpb_page_truncate(Page page, int n);
/* Remove the entries at n ascending positions of a page. */
extern void gpb_page_delete(Page page, const uint16 *positions, int n);
/* Append entries [from, to) of source to target. */
extern void gpb_page_append(Page target, Page source, int from, int to);

/*
 * Tell the mirror, if there is one, that a block changes (rule M2).  To be
 * called under the block's exclusive lock, before it is released.
 */
extern void gpb_mark_changed(Relation index, BlockNumber block);
/*
 * Add a page to the end of the relation: returns its buffer, pinned and exclusively locked.  The
 * page is not initialized yet.
 */
extern Buffer gpb_extend(Relation index);
/* Has the page room for one more entry? */
static inline bool
gpb_page_has_room(Page page)
{
	const GpbPageSpecial *special = gpb_special(page);

	return ((PageHeader) page)->pd_upper - ((PageHeader) page)->pd_lower >=
		special->key_width + special->row_width;
}

/* Write the row of an inner entry: row has room for GPB_INNER_ROW_WIDTH bytes. */
static inline void
gpb_inner_row(char *row, uint64 tie, BlockNumber child)
{
	memcpy(row, &tie, sizeof(tie));
	memcpy(row + GPB_LOCATOR_WIDTH, &child, sizeof(child));
}

/* ---- search.c ---- */

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
 * Descend to the page at the given level that covers bound.  With
 * BUFFER_LOCK_EXCLUSIVE also finish incomplete splits on the way.
 */
extern Buffer gpb_search_level(Relation index, const GpbLayout *layout, GpbBound bound,
							   uint32 level, int lock);
/*
 * Read the parent of a page on the level below, for a writer that holds that page: the page that
 * the writer's stack names, moved right to what covers bound.  Exclusively locked.
 */
extern Buffer gpb_read_parent(Relation index, const GpbLayout *layout, GpbBound bound,
							  uint32 level, const GpbStack *stack);
/*
 * Raise ERRCODE_INDEX_CORRUPTED unless the leaf, which had no right link when it was read, was the
 * last one.  Walks that came to the leaf by right links call this: a descent would have noticed.
 * No page may be locked.
 */
extern void gpb_require_last(Relation index, const GpbLayout *layout, BlockNumber block);
/*
 * Find the first entry at or after the bound, dead or not.  Returns false if there is none.  No
 * page may be locked.  The entry is not below the bound, whatever the page holds: if a search led
 * to one below it, this raises ERRCODE_INDEX_CORRUPTED.
 */
extern bool gpb_first_entry(Relation index, const GpbLayout *layout, GpbBound bound,
							GpbBound *entry);
/* Get the level of the root. */
extern void gpb_root_level(Relation index, const GpbLayout *layout, uint32 *level);

/* ---- insert.c ---- */
extern bool gpb_insert(Relation index, Datum *values, bool *isnull,
					   ItemPointer heap_tid, Relation heap,
					   IndexUniqueCheck check_unique, bool index_unchanged,
					   IndexInfo *index_info);
/*
 * Put an entry on an exclusively locked page, splitting it if it is full, and release it.  On an
 * inner page the entry is the missing downlink of child's right sibling: child, exclusively locked
 * and marked incomplete, is released too; on a leaf child is InvalidBuffer.
 */
extern void gpb_insert_on_page(Relation index, const GpbLayout *layout, Buffer buffer,
							   Buffer child, int position, uint64 key, const char *row,
							   const GpbStack *stack);

/* ---- split.c ---- */
/*
 * Split the page so that the entry gets in at position.  Locks and arguments are as in
 * gpb_insert_on_page().
 */
extern void gpb_split(Relation index, const GpbLayout *layout, Buffer left, Buffer child,
					  int position, uint64 key, const char *row, const GpbStack *stack);
/*
 * Complete a split whose left half is marked incomplete.  left is exclusively locked, and released.
 */
extern void gpb_finish_split(Relation index, const GpbLayout *layout, Buffer left,
							 const GpbStack *stack);

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

/* A set of disjoint ranges in index order, none empty */
typedef struct GpbRangeSet
{
	GpbRange   *ranges;
	int			count;
	int			capacity;
} GpbRangeSet;

/*
 * Find the ranges of all entries that satisfy every key.  set->ranges is enlarged as needed, in the
 * current memory context.
 */
extern void gpb_ranges_from_keys(Relation index, const GpbLayout *layout,
								 ScanKey keys, int nkeys, GpbRangeSet *set);

/* ---- scan.c ---- */
extern IndexScanDesc gpb_beginscan(Relation index, int nkeys, int norderbys);
extern void gpb_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
					   int norderbys);
extern bool gpb_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 gpb_getbitmap(IndexScanDesc scan, TIDBitmap *tbm);
extern void gpb_endscan(IndexScanDesc scan);
extern void gpb_markpos(IndexScanDesc scan);
extern void gpb_restrpos(IndexScanDesc scan);
extern bool gpb_canreturn(Relation index, int attno);

/* ---- vacuum.c ---- */
extern IndexBulkDeleteResult *gpb_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
											 IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *gpb_vacuumcleanup(IndexVacuumInfo *info,
												IndexBulkDeleteResult *stats);

/* ---- check.c ---- */
/*
 * Raise an error that a user understands unless the relation is a gpubtree index whose pages this
 * session can read (readable), or one that the current user owns as well (own).
 */
extern void gpb_require_readable_index(Relation index);
extern void gpb_require_own_index(Relation index);
/*
 * Open the relation that a caller of a function of ours has named as an index.  Raises
 * ERRCODE_UNDEFINED_TABLE if it is gone, as it may be if it was dropped since the caller looked it
 * up.
 */
extern Relation gpb_open_named(Oid oid, LOCKMODE lock);
/*
 * Open a gpubtree index whose pages this session can read, by OID, for a function of ours; its
 * table is locked first, lest we deadlock with those who lock in that order.  Raises what
 * gpb_open_named() does.
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
/*
 * Log that every leaf of the index was locked for cleanup, so that a standby waits for its scans.
 */
extern void gpb_xlog_log_vacuum_pass(Relation index);

#endif							/* GPB_INDEX_H */
