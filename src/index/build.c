/*-------------------------------------------------------------------------
 *
 * build.c
 *	  CREATE INDEX: scan the table, sort, load the tree bottom up.
 *
 * The sort is PostgreSQL's tuplesort over minimal tuples (key, tie, INCLUDE values):
 * two bigint columns to sort by, compared inline without a call through fmgr,
 * and the rest of the row as the bytes the leaf will hold.  Tuplesort keeps to
 * maintenance_work_mem and spills.
 *
 * The tree is written once, page by page, outside shared buffers, with one
 * unfinished page for each level.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/nbtree.h"
#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/smgr.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "index/index.h"
#include "mirror/mark.h"

#define GPB_PHASE_SCAN		2	/* 1 is PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE */
#define GPB_PHASE_SORT		3
#define GPB_PHASE_LOAD		4

/*
 * What is sorted.  The tie is shifted up so that the NULL bits of the INCLUDE columns fit below it.
 * They cannot decide the order there, since ties are unique.
 */
typedef struct GpbSortRow
{
	int64		key;			/* normalized key, as a signed integer */
	int64		tie_and_nulls;
	char		include[FLEXIBLE_ARRAY_MEMBER]; /* bytes of the leaf's row, after the locator */
} GpbSortRow;

#define GPB_SIGN_BIT		((uint64) 1 << 63)
#define GPB_SORT_TIE_SHIFT	GPB_MAX_INCLUDE

StaticAssertDecl(49 + GPB_SORT_TIE_SHIFT <= 63, "a tie and the NULL bits must fit a bigint");

typedef struct GpbSort
{
	const GpbLayout *layout;
	Tuplesortstate *state;
	TupleTableSlot *slot;
	GpbSortRow *row;			/* within the slot's tuple; filled in for each entry */
	double		count;
} GpbSort;

/* A level of the tree, with the page of it that is being filled */
typedef struct GpbBuildLevel
{
	PGAlignedBlock page;
	BlockNumber block;
	GpbBound	low;			/* separator before this page */
	int			count;
	int			limit;			/* number of entries to put on a page */
} GpbBuildLevel;

typedef struct GpbLoad
{
	Relation	index;
	GpbLayout	layout;
	bool		use_wal;
	BlockNumber allocated;		/* number of blocks given to pages so far */
	BlockNumber extended;		/* number of blocks that the file has */
	int			nlevels;
	GpbBuildLevel   *level[GPB_MAX_LEVEL + 1];
} GpbLoad;

static void load_add(GpbLoad *load, int level, GpbBound bound, const char *row);

/* ---- sorting ---- */

/* Make the tuple descriptor for GpbSortRow: its two columns, then the row as columns of int4. */
static TupleDesc
sort_descriptor(const GpbLayout *layout)
{
	int			pieces = (layout->row_width - GPB_LOCATOR_WIDTH) / sizeof(int32);
	TupleDesc	descriptor = CreateTemplateTupleDesc(2 + pieces);

	TupleDescInitEntry(descriptor, 1, "key", INT8OID, -1, 0);
	TupleDescInitEntry(descriptor, 2, "tie", INT8OID, -1, 0);
	for (int i = 0; i < pieces; i++)
		TupleDescInitEntry(descriptor, 3 + i, "row", INT4OID, -1, 0);
	return descriptor;
}

static inline GpbSortRow *
sort_row(MinimalTuple tuple)
{
	return (GpbSortRow *) ((char *) tuple + tuple->t_hoff - MINIMAL_TUPLE_OFFSET);
}

static void
sort_begin(GpbSort *sort, const GpbLayout *layout)
{
	AttrNumber	columns[2] = {1, 2};
	Oid			operators[2] = {Int8LessOperator, Int8LessOperator};
	Oid			collations[2] = {InvalidOid, InvalidOid};
	bool		nulls_first[2] = {false, false};
	TupleDesc	descriptor = sort_descriptor(layout);
	Datum		zeros[2 + GPB_MAX_ROW_WIDTH / sizeof(int32)] = {0};
	bool		isnull[lengthof(zeros)] = {false};
	MinimalTuple tuple = heap_form_minimal_tuple(descriptor, zeros, isnull);

	sort->layout = layout;
	sort->count = 0;
	sort->state = tuplesort_begin_heap(descriptor, 2, columns, operators,
									   collations, nulls_first,
									   maintenance_work_mem, NULL,
									   TUPLESORT_NONE);
	sort->slot = MakeSingleTupleTableSlot(descriptor, &TTSOpsMinimalTuple);
	ExecStoreMinimalTuple(tuple, sort->slot, true);
	sort->row = sort_row(tuple);
}

static void
sort_end(GpbSort *sort)
{
	tuplesort_end(sort->state);
	ExecDropSingleTupleTableSlot(sort->slot);
}

/*
 * Add a tuple of the table to the sort.  The table's scan calls this for each tuple that needs an
 * entry, dead ones that some snapshot may still see included.
 */
static void
build_callback(Relation index, ItemPointer tid, Datum *values,
			   bool *isnull, bool tuple_is_alive, void *state)
{
	GpbSort    *sort = (GpbSort *) state;
	const GpbLayout *layout = sort->layout;
	GpbEntry	entry;
	uint64		locator;

	gpb_require_null_codes(index, layout, isnull);
	gpb_require_numerics(index, layout, values, isnull);
	gpb_entry_form(layout, values, isnull, tid, &entry);
	locator = gpb_row_locator(entry.row);
	sort->row->key = (int64) (entry.key ^ GPB_SIGN_BIT);
	sort->row->tie_and_nulls =
		(int64) ((locator & GPB_TIE_MASK) << GPB_SORT_TIE_SHIFT |
				 locator >> GPB_LOC_NULL_SHIFT);
	memcpy(sort->row->include, entry.row + GPB_LOCATOR_WIDTH,
		   layout->row_width - GPB_LOCATOR_WIDTH);
	tuplesort_puttupleslot(sort->state, sort->slot);
	sort->count++;
}

/* Get the next entry in index order.  Returns false at the end. */
static bool
sort_next(GpbSort *sort, GpbEntry *entry)
{
	MinimalTuple tuple;
	GpbSortRow *row;
	uint64		locator;

	if (!tuplesort_gettupleslot(sort->state, true, false, sort->slot, NULL))
		return false;
	tuple = ((MinimalTupleTableSlot *) sort->slot)->mintuple;
	row = sort_row(tuple);
	entry->key = (uint64) row->key ^ GPB_SIGN_BIT;
	locator = (uint64) row->tie_and_nulls;
	locator = locator >> GPB_SORT_TIE_SHIFT | locator << GPB_LOC_NULL_SHIFT;
	memcpy(entry->row, &locator, GPB_LOCATOR_WIDTH);
	memcpy(entry->row + GPB_LOCATOR_WIDTH, row->include,
		   sort->layout->row_width - GPB_LOCATOR_WIDTH);
	return true;
}

/* ---- writing pages ---- */

/*
 * Write a finished page.  Pages of the upper levels are finished after later blocks of the level
 * below, so blocks that were skipped are first filled with zeroes, which is not logged.
 */
static void
load_write(GpbLoad *load, BlockNumber block, Page page)
{
	SMgrRelation smgr = RelationGetSmgr(load->index);

	if (load->use_wal)
		log_newpage(&load->index->rd_node, MAIN_FORKNUM, block, page, true);

	while (load->extended < block)
	{
		PGAlignedBlock zeroes;

		memset(zeroes.data, 0, BLCKSZ);
		smgrextend(smgr, MAIN_FORKNUM, load->extended++, zeroes.data, true);
	}

	PageSetChecksumInplace(page, block);
	if (block == load->extended)
	{
		smgrextend(smgr, MAIN_FORKNUM, block, (char *) page, true);
		load->extended++;
	}
	else
		smgrwrite(smgr, MAIN_FORKNUM, block, (char *) page, true);
}

/* ---- the levels ---- */

/* The bytes of a key on pages of every level. */
static inline int
level_key_width(GpbLoad *load)
{
	return load->layout.key_width;
}

static inline int
level_row_width(GpbLoad *load, int level)
{
	return level == 0 ? load->layout.row_width : GPB_INNER_ROW_WIDTH;
}

/* Begin a page of a level, with the separator "low" before it, in this block. */
static void
level_begin_page(GpbLoad *load, int level, BlockNumber block, GpbBound low)
{
	GpbBuildLevel   *l = load->level[level];

	gpb_page_init((Page) l->page.data, level, 0, level_key_width(load),
				  level_row_width(load, level));
	l->block = block;
	l->low = low;
	l->count = 0;
}

/* Add a level on top of the tree, with an empty page. */
static void
load_new_level(GpbLoad *load)
{
	int			level = load->nlevels;
	int			fillfactor = GPB_INNER_FILLFACTOR;
	int			capacity;

	if (level == 0)
		fillfactor = gpb_fillfactor(load->index);
	if (level > GPB_MAX_LEVEL)
		elog(ERROR, "index \"%s\" would have too many levels",
			 RelationGetRelationName(load->index));
	load->level[level] = palloc(sizeof(GpbBuildLevel));
	load->nlevels++;
	capacity = gpb_page_capacity(level_key_width(load),
								 level_row_width(load, level));
	load->level[level]->limit = Max(capacity * fillfactor / 100, 2);
	level_begin_page(load, level, load->allocated++, GPB_BOUND_MIN);
}

/* Add the downlink of a level's current page to the level above. */
static void
load_downlink(GpbLoad *load, int level)
{
	GpbBuildLevel   *l = load->level[level];
	char		row[GPB_INNER_ROW_WIDTH];

	if (level + 1 == load->nlevels)
		load_new_level(load);
	memcpy(row, &l->low.tie, GPB_LOCATOR_WIDTH);
	memcpy(row + GPB_LOCATOR_WIDTH, &l->block, sizeof(BlockNumber));
	load_add(load, level + 1, l->low, row);
}

/*
 * Choose the high key between the last entry of a level's page and the entry "next" of that level.
 * On leaves the tie is left out where the keys alone tell the two apart: then a search for the key
 * goes straight to the right page.
 */
static GpbBound
load_separator(GpbLoad *load, int level, GpbBound next)
{
	GpbBuildLevel   *l = load->level[level];
	int			key_width = level_key_width(load);

	if (level == 0 &&
		gpb_page_key(l->page.data, key_width, l->count - 1) != next.key)
		next.tie = 0;
	return next;
}

/* Write the full page of a level, and begin its right sibling, whose first entry will be "next". */
static void
load_next_page(GpbLoad *load, int level, GpbBound next)
{
	GpbBuildLevel   *l = load->level[level];
	GpbPageSpecial *special = gpb_special((Page) l->page.data);
	GpbBound	separator = load_separator(load, level, next);
	BlockNumber old = l->block;
	BlockNumber new = load->allocated++;

	CHECK_FOR_INTERRUPTS();
	special->right = new;
	special->high_key = separator.key;
	special->high_tie = separator.tie;
	load_downlink(load, level);
	load_write(load, old, (Page) l->page.data);

	level_begin_page(load, level, new, separator);
	gpb_special((Page) l->page.data)->left = old;
}

/* Add an entry at the end of a level. */
static void
load_add(GpbLoad *load, int level, GpbBound bound, const char *row)
{
	GpbBuildLevel   *l = load->level[level];
	uint32		narrow = (uint32) bound.key;

	if (l->count >= l->limit)
		load_next_page(load, level, bound);
	gpb_page_insert((Page) l->page.data, l->count,
					level_key_width(load) == 8 ?
					(void *) &bound.key : (void *) &narrow, row);
	l->count++;
}

/* Write the last page of each level, then the metapage, which makes it an index. */
static void
load_finish(GpbLoad *load)
{
	PGAlignedBlock meta;

	/* A downlink may add a page to the level above, or add that level. */
	for (int level = 0; level < load->nlevels; level++)
	{
		if (level + 1 < load->nlevels)
			load_downlink(load, level);
		load_write(load, load->level[level]->block,
				   (Page) load->level[level]->page.data);
	}

	gpb_meta_init((Page) meta.data, &load->layout,
				  load->level[load->nlevels - 1]->block, load->nlevels - 1);
	load_write(load, GPB_META_BLOCK, (Page) meta.data);
}

/* Load the sorted entries into an empty file. */
static void
load_tree(Relation index, GpbSort *sort)
{
	GpbLoad		load;
	GpbEntry	entry;
	int64		done = 0;

	memset(&load, 0, sizeof(load));
	load.index = index;
	load.layout = *sort->layout;
	load.use_wal = RelationNeedsWAL(index);
	load.allocated = GPB_FIRST_ROOT;
	load_new_level(&load);	/* an empty index has a root too */

	while (sort_next(sort, &entry))
	{
		GpbBound	bound;

		bound.key = entry.key;
		bound.tie = gpb_row_locator(entry.row) & GPB_TIE_MASK;
		load_add(&load, 0, bound, entry.row);
		if ((++done & 0xFF) == 0)
			pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
	}
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
	load_finish(&load);

	/*
	 * The pages did not pass through shared buffers, so a checkpoint that began after
	 * they were logged knows nothing of them: sync them ourselves.  A file
	 * that is not logged is synced at commit (wal_level = minimal) or need
	 * not survive a crash.
	 */
	if (load.use_wal)
		smgrimmedsync(RelationGetSmgr(index), MAIN_FORKNUM);
	for (int level = 0; level < load.nlevels; level++)
		pfree(load.level[level]);
}

/*
 * Discard the mirror of whatever was indexed under this file's identity before, here and on
 * standbys (rule M1).
 */
static void
build_forget_mirror(Relation index)
{
	if (RelationUsesLocalBuffers(index))
		return;
	gpb_mirror_forget(&index->rd_node);
	if (RelationNeedsWAL(index))
		gpb_xlog_log_forget(index);
}

/* Report progress: the table has been read, and "count" entries are to be loaded. */
static void
progress_scanned(double count)
{
	const int	parameter[] = {
		PROGRESS_CREATEIDX_TUPLES_TOTAL,
		PROGRESS_SCAN_BLOCKS_TOTAL,
		PROGRESS_SCAN_BLOCKS_DONE
	};
	const int64 value[] = {(int64) count, 0, 0};

	pgstat_progress_update_multi_param(3, parameter, value);
}

/* ambuild: build the index. */
IndexBuildResult *
gpb_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	GpbLayout	layout = *gpb_layout_for_build(index);
	GpbSort		sort;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	gpb_require_narrow_numerics(index);

	sort_begin(&sort, &layout);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, GPB_PHASE_SCAN);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true,
												 build_callback, &sort,
												 NULL);
	progress_scanned(sort.count);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, GPB_PHASE_SORT);
	tuplesort_performsort(sort.state);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, GPB_PHASE_LOAD);
	load_tree(index, &sort);
	build_forget_mirror(index);

	result->index_tuples = sort.count;
	sort_end(&sort);
	return result;
}

/* Write, log and sync one page of the init fork. */
static void
write_init_page(Relation index, BlockNumber block, Page page)
{
	SMgrRelation smgr = RelationGetSmgr(index);

	/*
	 * Logged even at wal_level = minimal: recovery may remove the file while it
	 * replays the creation of a database or tablespace.
	 */
	PageSetChecksumInplace(page, block);
	smgrextend(smgr, INIT_FORKNUM, block, (char *) page, true);
	log_newpage(&GPB_BACKEND_FILE(smgr->smgr_rnode), INIT_FORKNUM, block, page, true);
}

/* ambuildempty: write the init fork, to which an unlogged index is reset after a crash. */
void
gpb_buildempty(Relation index)
{
	GpbLayout	layout = *gpb_layout(index);
	PGAlignedBlock block;

	gpb_meta_init((Page) block.data, &layout, GPB_FIRST_ROOT, 0);
	write_init_page(index, GPB_META_BLOCK, (Page) block.data);
	gpb_page_init((Page) block.data, 0, 0, layout.key_width, layout.row_width);
	write_init_page(index, GPB_FIRST_ROOT, (Page) block.data);

	/* Sync the fork ourselves, for the reason given in load_tree(). */
	smgrimmedsync(RelationGetSmgr(index), INIT_FORKNUM);
}

/* ambuildphasename: name a phase for pg_stat_progress_create_index. */
char *
gpb_buildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case GPB_PHASE_SCAN:
			return "scanning table";
		case GPB_PHASE_SORT:
			return "sorting tuples";
		case GPB_PHASE_LOAD:
			return "loading tuples in tree";
		default:
			return NULL;
	}
}
