/*-------------------------------------------------------------------------
 *
 * index.h
 *	  The index wing: pages, search, insert, build, scan, vacuum, WAL, check.
 *
 * In comments "share" and "exclusive" are buffer content locks; every lock comes with a pin.
 * src/index/README states the invariants.
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
#include "program/ranges.h"
#include "sort.h"

#define GPB_DEFAULT_FILLFACTOR	90	/* leaves */
#define GPB_WIDE_FILLFACTOR		92	/* leaves of a key of one column and 16 bytes */
#define GPB_INNER_FILLFACTOR	70
#define GPB_MIN_FILLFACTOR		10

/* The default of deduplicate_items */
#ifndef GPB_DEFAULT_DEDUPLICATE
#define GPB_DEFAULT_DEDUPLICATE	true
#endif

/* Support functions of an operator class */
#define GPB_COMPARE_PROC		1	/* like btree's: int4 cmp(left, right) */
#define GPB_NPROC				1

/* ---- options.c ---- */
typedef struct GpbOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int			fillfactor;		/* -1: the default for the key */
	bool		deduplicate_items;
} GpbOptions;

/* An entry in memory */
typedef struct GpbEntry
{
	GpbKey		key;
	char		row[GPB_MAX_ROW_WIDTH] pg_attribute_aligned(8);
} GpbEntry;

/* ---- key.c: encoding, ranges ---- */

/* Form the entry of a heap tuple from the values that aminsert or the build callback gets. */
extern void gpb_entry_form(const GpbLayout *layout, const Datum *values,
						   const bool *isnull, ItemPointer tid, GpbEntry *entry);

/* The first key column, from 0 on, in which a row is NULL that has no code for NULL; -1 if none */
extern int	gpb_column_without_null_code(const GpbLayout *layout, const bool *isnull);

/*
 * Raise ERRCODE_NOT_NULL_VIOLATION if a row is NULL in a key column that has no code for NULL.
 * Whoever is to form an entry calls this before.
 */
extern void gpb_require_null_codes(Relation index, const GpbLayout *layout, const bool *isnull);
/*
 * What is wrong with the key of an entry of an index that has several key columns, or NULL: whether
 * each column's field is one that a value, or NULL, can have.
 */
extern const char *gpb_columns_fault(const GpbLayout *layout, GpbKey key);

/*
 * Get the Datum of a column of an entry, by the column's number in the index: key columns are
 * first, the INCLUDE columns follow.  Sets *isnull.
 */
extern Datum gpb_entry_datum(const GpbLayout *layout, GpbKey key,
							 const char *row, int attno, bool *isnull);

/* Encode a non-NULL Datum of the key's type as a normalized key. */
extern GpbKey gpb_datum_key(const GpbLayout *layout, Datum value);
/* Decode a normalized key, which must be the key of some value of the type. */
extern Datum gpb_key_datum(const GpbLayout *layout, GpbKey key);

/* Narrow a range of keys to those that some value of the key's type may have. */
extern void gpb_clip_to_type(const GpbLayout *layout, GpbKeyRange *keys);

/* Get the range of all entries whose key is not NULL, or of all whose key is NULL. */
extern GpbRange gpb_range_not_null(const GpbLayout *layout);
extern GpbRange gpb_range_null(const GpbLayout *layout);
/*
 * Find the closed interval of keys that a range covers.  The range must lie between the places of
 * two values, as gpb_comparison_narrow() makes it.  Returns false if the interval is empty.
 */
extern bool gpb_closed_range(const GpbLayout *layout, const GpbRange *range,
							 GpbKeyRange *keys);

/*
 * Narrow *range to the entries that satisfy "key OP value".  OP is a btree strategy.  value is not
 * NULL and of type "type", which is any member of the key's operator family, or InvalidOid for the
 * key's own type.  A value outside the key type's range narrows to nothing or not at all.  An empty
 * range has !gpb_bound_less(lo, hi).
 */
extern void gpb_range_narrow(Relation index, const GpbLayout *layout,
							 StrategyNumber strategy, Oid type, Datum value,
							 GpbRange *range);

/*
 * What gpb_comparison_init() looks up once for a type of values, so that gpb_comparison_narrow()
 * does not look it up again for each of them.  The two together do what gpb_range_narrow() does.
 */
typedef struct GpbComparison
{
	GpbCoding	coding;			/* of the values; GPB_CODING_NONE: call procedure */
	bool		is_point;		/* a value equals one key at most, gpb_coding_key() */
	FmgrInfo	procedure;		/* compares a key with a value */
} GpbComparison;

extern void gpb_comparison_init(Relation index, Oid type,
								GpbComparison *comparison);
/*
 * Make a comparison for key column c, counted from 0, as if that were the key (column_ranges.c).
 */
extern void gpb_column_comparison_init(Relation index, int c, Oid type,
									   GpbComparison *comparison);
extern void gpb_comparison_narrow(const GpbLayout *layout,
								  GpbComparison *comparison,
								  StrategyNumber strategy, Datum value,
								  GpbRange *range);
/*
 * Get the key that equals a value of a comparison that is_point, which takes a tenth of the time of
 * a range that is narrowed to it.  Returns false if no key of the index's type does.
 */
extern bool gpb_comparison_key(const GpbLayout *layout, const GpbComparison *comparison,
							   Datum value, GpbKey *key);

/* ---- page.c: changing a page ---- */

extern void gpb_page_init(Page page, uint16 level, uint16 flags, int key_width, int row_width);
extern void gpb_meta_init(Page page, const GpbLayout *layout, BlockNumber root, uint32 level);

/*
 * Insert an entry at position.  The page must have room for it.  key and row are as on a page of
 * the index's widths that has no runs, at any alignment.
 */
extern void gpb_page_insert(Page page, int position, const void *key, const void *row);
/* Keep only the first n entries of a page. */
extern void gpb_page_truncate(Page page, int n);
/* Remove the entries at n ascending positions of a page. */
extern void gpb_page_delete(Page page, const uint16 *positions, int n);
/* Append entries [from, to) of source to target. */
extern void gpb_page_append(Page target, Page source, int from, int to);
/*
 * Set the dead hint of an entry of a leaf, which may be locked share: the word that holds the bit
 * is stored whole, and all who store it at the same time store the same bit.  Returns whether this
 * has changed the page.
 */
extern bool gpb_page_set_dead(Page page, int position);
/* Do so many entries with so many keys take at most three quarters of their room with runs? */
static inline bool
gpb_runs_are_shorter(int key_width, int keys, int entries)
{
	return keys * (key_width + GPB_RUN_END_WIDTH) + entries * GPB_RUN_ROW_WIDTH <=
		entries * (key_width + GPB_LOCATOR_WIDTH) / 4 * 3;
}

/*
 * Would a leaf that has no runs take at most three quarters of what it takes, if it got them?  Has
 * it rows of which short locators can be made?  The page may be any of the tree.
 */
extern bool gpb_runs_pay(Page page);
/* Give runs to a leaf for which gpb_runs_pay() returned true (page_runs.c). */
extern void gpb_page_give_runs(Page page);
/* Let a page begin at low; on an inner page the first separator becomes that. */
extern void gpb_page_set_low(Page page, GpbBound low);

/*
 * Mark a block as changed in the mirror, if the index has one (rule M2).  The caller holds the
 * block's exclusive lock, and has not released it since the change.
 */
extern void gpb_mark_changed(Relation index, BlockNumber block);
/* The width of the rows that an entry of this page has elsewhere: in WAL, or without runs */
static inline int
gpb_spread_row_width(Page page)
{
	int			row_width = gpb_page_row_width(page);

	return gpb_has_runs(row_width) ? GPB_LOCATOR_WIDTH : row_width;
}

/*
 * Does the page have room for one more entry?  With runs an entry takes as many bytes as without,
 * if it has a key of its own.
 */
static inline bool
gpb_page_has_room(Page page)
{
	StaticAssertStmt(GPB_RUN_ROW_WIDTH + GPB_RUN_END_WIDTH == GPB_LOCATOR_WIDTH, "equal room");
	return ((PageHeader) page)->pd_upper - ((PageHeader) page)->pd_lower >=
		gpb_special(page)->key_width + gpb_spread_row_width(page);
}

/*
 * The most entries of an inner page, where that is fewer than fit it; at least 2.  A variable for
 * the sake of hold.h: tests get high trees of few rows, and a benchmark looks at other fan-outs.  A
 * page that has more is split when one is added.
 */
extern int	gpb_inner_entries;

/* How many entries an inner page with keys of this width may have. */
static inline int
gpb_inner_limit(int key_width)
{
	return Min(gpb_page_capacity(key_width, GPB_INNER_ROW_WIDTH), Max(gpb_inner_entries, 2));
}

/* Write the row of an inner entry to "row", which has room for GPB_INNER_ROW_WIDTH bytes. */
static inline void
gpb_inner_row(char *row, uint64 tie, BlockNumber child)
{
	memcpy(row, &tie, sizeof(tie));
	memcpy(row + GPB_LOCATOR_WIDTH, &child, sizeof(child));
}

/* ---- search.c ---- */

/* The way of a writer's descent: one inner page of each level */
typedef struct GpbStack
{
	uint32		height;			/* level of the root when the descent visited it */
	BlockNumber block[GPB_MAX_LEVEL + 1];	/* by level; number 0 is not used */
} GpbStack;

/*
 * Descend to the leaf that covers bound, and lock it in the mode "lock".  The leaf is pinned and
 * locked on return; no other page is.  A writer gives a stack, where the descent leaves its path,
 * and finishes the incomplete splits that it meets; a reader gives NULL.  Allocates nothing.
 */
extern Buffer gpb_search(Relation index, const GpbLayout *layout, GpbBound bound,
						 int lock, GpbStack *stack);
/*
 * Descend to the page at the given level that covers bound, and lock it in the mode "lock".  With
 * BUFFER_LOCK_EXCLUSIVE the descent also finishes incomplete splits on its way.  Pages of lower
 * levels may be locked by the caller: this locks none of those.
 */
extern Buffer gpb_search_level(Relation index, const GpbLayout *layout, GpbBound bound,
							   uint32 level, int lock);
/*
 * Read the parent of a page on the level below, for a writer that holds that page.  The search
 * begins at the page that the writer's stack names for "level", and moves right to what covers
 * bound.  The parent is exclusively locked on return, and its own split is finished.
 */
extern Buffer gpb_read_parent(Relation index, const GpbLayout *layout, GpbBound bound,
							  uint32 level, const GpbStack *stack);
/*
 * Raise ERRCODE_INDEX_CORRUPTED unless the leaf, which had no right link when it was read, was the
 * last one.  A walk that came to the leaf by right links calls this; a descent would have noticed.
 * No page may be locked.
 */
extern void gpb_require_last(Relation index, const GpbLayout *layout, BlockNumber block);
/*
 * Find the first entry at or after the bound, dead or not.  Returns false if there is none.  No
 * page may be locked on entry, and none is on exit.  The entry is never below the bound: if a
 * damaged page leads to one that is, this raises ERRCODE_INDEX_CORRUPTED.
 */
extern bool gpb_first_entry(Relation index, const GpbLayout *layout, GpbBound bound,
							GpbBound *entry);
/*
 * Find the last entry before the bound, dead or not; else as gpb_first_entry().  Entries that come
 * while it looks may be passed over.
 */
extern bool gpb_last_entry(Relation index, const GpbLayout *layout, GpbBound bound,
						   GpbBound *entry);
/*
 * Lock share the page to the right of a page of this level, block "left", that was read earlier and
 * had then this right link and high key: the one that covers the high key now, so that it may begin
 * before that.  "recent" is where the right sibling was when it was asked for, or InvalidBuffer.
 * No page of the level may be locked on entry.
 */
extern Buffer gpb_read_next(Relation index, const GpbLayout *layout, BlockNumber left,
							BlockNumber right, Buffer recent, uint16 level, GpbBound high);
/*
 * Lock share the leaf to the left of a leaf, "block", that was read earlier and had then this left
 * link and low bound, which is not GPB_BOUND_MIN: the leaf that covers what comes just before the
 * low bound now, so that it may end behind that.  If block is InvalidBlockNumber, "left" is no
 * more than a guess.  No page may be locked on entry.
 */
extern Buffer gpb_read_left(Relation index, const GpbLayout *layout, BlockNumber left,
							BlockNumber block, GpbBound low);
/* Get the level of the root. */
extern void gpb_root_level(Relation index, const GpbLayout *layout, uint32 *level);

/* ---- separators.c ---- */

/*
 * Find bounds within a range, ascending, that part it into stretches of about as many entries each:
 * "most" of them at most, and at least "enough" if the tree has so many.  No page may be locked.
 * Returns their number, for which there is room in bounds.  Raises ERRCODE_INDEX_CORRUPTED if
 * separators do not ascend.
 */
extern uint32 gpb_part_range(Relation index, const GpbLayout *layout, GpbRange range,
							 uint32 enough, uint32 most, GpbBound *bounds);
/*
 * A level that the root has or had: the one that the relcache remembers, without a look at a page,
 * unless that is a leaf's.  A tree never loses a level, so the root is there or above.
 */
extern uint32 gpb_least_height(Relation index, const GpbLayout *layout);

/* ---- estimate.c ---- */

/* Entries of a leaf, on average, as far as the catalog knows */
extern double gpb_entries_per_leaf(Relation index, const GpbLayout *layout);
/*
 * About how many entries the range has, dead ones included: from the places of its ends on inner
 * pages, so within a leaf or two of the truth where it ends below the page of level 1 where it
 * begins, and elsewhere mostly within a fifth.  A range within one leaf is taken for half of it or,
 * if "narrow" asks for that, its entries are counted there.  No page may be locked.  Raises
 * ERRCODE_INDEX_CORRUPTED on a damaged page.
 */
extern double gpb_estimate_entries(Relation index, const GpbLayout *layout, GpbRange range,
								   bool narrow);

/* ---- insert.c ---- */
extern bool gpb_insert(Relation index, Datum *values, bool *isnull,
					   ItemPointer heap_tid, Relation heap,
					   IndexUniqueCheck check_unique, bool index_unchanged,
					   IndexInfo *index_info);
/*
 * Put an entry on an exclusively locked page, splitting the page if it is full, and release it.  On
 * an inner page the entry is the missing downlink of child's right sibling; child is exclusively
 * locked and marked incomplete, and is released too.  On a leaf child is InvalidBuffer.
 */
extern void gpb_insert_on_page(Relation index, const GpbLayout *layout, Buffer buffer,
							   Buffer child, int position, GpbKey key, const char *row,
							   const GpbStack *stack);

/* ---- split.c ---- */
/*
 * Split a full page so that the entry gets in at position.  Locks and arguments are as in
 * gpb_insert_on_page().
 */
extern void gpb_split(Relation index, const GpbLayout *layout, Buffer left, Buffer child,
					  int position, GpbKey key, const char *row, const GpbStack *stack);
/*
 * Complete a split whose left half, "left", is marked incomplete.  left is exclusively locked on
 * entry, and released on exit.
 */
extern void gpb_finish_split(Relation index, const GpbLayout *layout, Buffer left,
							 const GpbStack *stack);

/* ---- delete.c ---- */
/*
 * Remove the entries at n ascending positions, for VACUUM.  The buffer is a leaf under a cleanup
 * lock, which is kept.
 */
extern void gpb_delete_entries(Relation index, Buffer buffer, const uint16 *positions, int n);
/*
 * Simple deletion: make room on a leaf by removing entries whose dead hint is set.  coming is the
 * heap block of the entry that wants the room.  The leaf is exclusively locked on entry and exit.
 * Returns the number of entries removed.
 */
extern int	gpb_delete_dead(Relation index, const GpbLayout *layout, Relation heap,
							Buffer buffer, BlockNumber coming);
/*
 * Bottom-up deletion: make room on a leaf by removing entries of old versions of rows, found by way
 * of the table.  coming is the key of the entry that wants the room.  The leaf is exclusively
 * locked on entry and exit.  Returns the number of entries removed.
 */
extern int	gpb_delete_versions(Relation index, const GpbLayout *layout, Relation heap,
								Buffer buffer, GpbKey coming);

/* ---- recycle.c ---- */

/* What may be kept from happening to an index for a while */
typedef enum GpbGate
{
	GPB_GATE_RECYCLE = 1,		/* blocks are recycled: closed while VACUUM makes a pass */
	GPB_GATE_DELETE				/* pages are deleted: closed while gpubtree_check runs */
} GpbGate;

/* Close a gate, waiting for those who pass it; until it is opened, or the transaction ends. */
extern void gpb_close_gate(Relation index, GpbGate gate);
extern void gpb_open_gate(Relation index, GpbGate gate);
/* Pass a gate, until it is left.  Returns false, without waiting, if the gate is closed. */
extern bool gpb_enter_gate(Relation index, GpbGate gate);
extern void gpb_leave_gate(Relation index, GpbGate gate);
/*
 * Get a block for a new page: one that was deleted, or a new one at the end of the relation.
 * Returns its buffer, pinned and exclusively locked.  The page is not initialized yet.
 */
extern Buffer gpb_new_block(Relation index);
/*
 * Get a new block at the end of the relation.  Returns its buffer, pinned and exclusively locked.
 * The page is not initialized yet.
 */
extern Buffer gpb_extend(Relation index);

/* Is the page a deleted one, or one of zeroes, so that its block may be any page's? */
extern bool gpb_is_free_page(Page page);
/*
 * Get the first block that the free space map proposes, if it is before the limit: pinned,
 * exclusively locked, and free.  Returns InvalidBuffer if there is none.  For VACUUM alone.
 */
extern Buffer gpb_free_block_before(Relation index, BlockNumber limit);

/* ---- page_delete.c ---- */
/*
 * Delete a leaf that begins at low, if it is empty and that can be done without waiting for a scan,
 * with all pages above it that have no other child.  The blocks are written to deleted[], which has
 * room for a page of each level; returns their number, 0 if nothing was deleted.  *next becomes
 * another leaf to try, which begins at low too, or InvalidBlockNumber.  No page may be locked.
 */
extern int	gpb_delete_page(Relation index, const GpbLayout *layout, BlockNumber block,
							GpbBound low, BlockNumber *deleted, BlockNumber *next);
/* ---- build.c ---- */
extern IndexBuildResult *gpb_build(Relation heap, Relation index, IndexInfo *info);
/* Called at the end of each build, with the index; NULL where nobody wants to know */
extern void (*gpb_built_hook) (Relation index);

/*
 * What sorts a build's records while the table is read: see "sorts of builds" in mirror/mirror.h,
 * whose functions these are.  NULL where there is none.
 */
struct GpbRequest;

typedef struct GpbSortDevice
{
	bool		(*available) (void);
	struct GpbRequest *(*begin) (Size bytes);
	char	   *(*staging) (const struct GpbRequest *request, Size *size);
	bool		(*submit_first) (struct GpbRequest *request, const GpbSortFormat *format,
								 uint64 expected, uint32 n);
	bool		(*submit) (struct GpbRequest *request, uint32 n);
	bool		(*submit_read) (struct GpbRequest *request, uint64 first, uint32 n, Size offset);
	bool		(*answered) (const struct GpbRequest *request);
	bool		(*wait) (struct GpbRequest *request);
	void		(*end) (struct GpbRequest *request);
} GpbSortDevice;

extern const GpbSortDevice *gpb_sort_device;

/* Records of a piece that the device sorts, at most.  Tests set it (hold.h). */
extern int	gpb_piece_records;
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
 * Find the ranges of all entries that satisfy all of the keys, of an index with one key column.
 * set->ranges is enlarged as needed, in the current memory context.
 */
extern void gpb_ranges_from_keys(Relation index, const GpbLayout *layout,
								 ScanKey keys, int nkeys, GpbRangeSet *set);
/* Make room for n ranges; the set's ranges are lost. */
extern void gpb_ranges_reserve(GpbRangeSet *set, int n);

/* ---- scan.c ---- */
extern IndexScanDesc gpb_beginscan(Relation index, int nkeys, int norderbys);
extern void gpb_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
					   int norderbys);
/* Let a scan without keys that has begun anew return the entries of a range alone. */
extern void gpb_scan_use_range(IndexScanDesc scan, GpbRange range);
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

/* ---- page_move.c ---- */
/*
 * Move a page of the tree to a free block before it.  Returns false if there is none, or if the
 * page is not found.  The caller has the index locked AccessExclusive, and no page of it.
 */
extern bool gpb_move_page(Relation index, const GpbLayout *layout, BlockNumber block);

/* ---- shorten.c ---- */
/*
 * Cut off the end of the file if nearly all of it is free, that pays, and nobody uses the index.
 * For VACUUM; stats is what it has found, or NULL if it has not read the index.  Returns stats, or
 * new ones if they are NULL and the file is shorter now.
 */
extern IndexBulkDeleteResult *gpb_shorten(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);

/* ---- check.c ---- */
/*
 * Raise an error that a user understands unless the relation is a gpubtree index whose pages this
 * session can read, or, for gpb_require_own_index(), one that the current user owns as well.
 */
extern void gpb_require_readable_index(Relation index);
extern void gpb_require_own_index(Relation index);
/*
 * Open the relation that the caller of an SQL function has named as an index.  Raises
 * ERRCODE_UNDEFINED_TABLE if it was dropped since the caller looked it up.
 */
extern Relation gpb_open_named(Oid oid, LOCKMODE lock);
/*
 * Open a gpubtree index by OID, for an SQL function.  Its table is locked first, lest there be a
 * deadlock with those who lock in that order.  Raises what gpb_open_named() does, and an error
 * unless this session can read the index's pages.
 */
extern Relation gpb_open_index(Oid indexid, LOCKMODE lock, Relation *heap);

/* ---- check_heap.c ---- */
/*
 * Raise ERRCODE_INDEX_CORRUPTED unless each row of the table that a new snapshot sees has its
 * entry, with the same INCLUDE values.
 */
extern void gpb_check_heap(Relation index, Relation heap);

/* ---- check_unique.c ---- */
/*
 * Raise ERRCODE_INDEX_CORRUPTED if a new snapshot sees two rows of the table whose entries in this
 * unique index have equal keys.
 */
extern void gpb_check_unique(Relation index, Relation heap);

/* ---- index_clauses.c, cost.c, validate.c, options.c ---- */
extern void gpb_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
							 Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
							 double *correlation, double *pages);
/* gpb_costestimate() for a path whose conditions are those of its plan */
extern void gpb_price_scan(PlannerInfo *root, IndexPath *path, double loop_count,
						   Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
						   double *correlation, double *pages);
/* The number of single values that one of the conditions leaves of a column; 0 if none does. */
extern double gpb_count_points(PlannerInfo *root, const IndexOptInfo *index, int column,
							   List *quals);
/*
 * About how many values of a column satisfy the conditions on it, RestrictInfos, NULL included.
 * Returns 0 if nothing is known of the column.
 */
extern double gpb_count_values(PlannerInfo *root, const IndexOptInfo *index, int column,
							   List *quals);
extern bool gpb_validate(Oid opclass);
extern void gpb_adjustmembers(Oid family, Oid opclass, List *operators, List *functions);
extern bytea *gpb_options(Datum reloptions, bool validate);
extern void gpb_init_options(void);
extern int	gpb_fillfactor(Relation index, const GpbLayout *layout);
/* May leaves of the index get runs?  heap is its table. */
extern bool gpb_makes_runs(Relation index, const GpbLayout *layout, Relation heap);

/* ---- xlog.c ---- */
extern void gpb_register_rmgr(void);
/* Log that the index is being built anew, so that a standby drops its mirror (rule M1). */
extern void gpb_xlog_log_forget(Relation index);
/* Log that the file of a permanent index is dropped when this transaction commits. */
extern void gpb_xlog_log_forget_file(const RelFileNode *file);
/*
 * Log that every leaf of the index was locked for cleanup, so that a standby waits for its scans.
 */
extern void gpb_xlog_log_vacuum_pass(Relation index);
/*
 * Log that this transaction gives up the exclusive locks that it has, so that standbys do not keep
 * them to its end.
 */
extern void gpb_xlog_log_unlocked(void);

#endif							/* GPB_INDEX_H */
