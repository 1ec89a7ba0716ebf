/*-------------------------------------------------------------------------
 *
 * build_load.c
 *	  Writing the tree of a build, bottom up and from left to right.
 *
 * There is one unfinished page for each level.  Finished pages are logged and written several at a
 * time, past shared buffers.
 *
 * Where several processes load a tree, each writes a share of its leaves, at the places that these
 * have in a tree loaded by one process, which follow from their numbers.  It notes the separator
 * before each leaf, and one process makes the upper levels of these.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/parallel.h"
#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "hold.h"
#include "index/build.h"
#include "index/dictionary.h"
#include "index/page_runs.h"

/* Finished pages that are logged in one record */
#define MAX_FINISHED	XLR_MAX_BLOCK_ID

/* A level of the tree, with the page of it that is being filled */
typedef struct LoadLevel
{
	char	   *page;
	BlockNumber block;
	GpbBound	low;			/* separator before this page */
	int			row_width;
	int			count;
	int			limit;			/* number of entries to put on a page */
} LoadLevel;

/* The leaf that is being filled, once it has runs; their ends go to the page when it is full. */
typedef struct LoadRuns
{
	int			n;				/* 0: it has none */
	int			bytes;			/* that its entries take */
	int			most;			/* bytes to put on a page */
	uint16		end[GPB_MAX_PLAIN_ENTRIES];
} LoadRuns;

struct GpbLoad
{
	Relation	index;
	GpbLayout	layout;
	GpbRecordOrder order;
	bool		use_wal;
	BlockNumber allocated;		/* number of blocks given to pages so far */
	BlockNumber extended;		/* number of blocks that the file has */
	int64		done;			/* records */
	int			leaf_limit;		/* of entries, on a leaf that has no runs */
	int			nlevels;

	/* Of a load of some of the leaves, or else of none: see gpb_load_begin_share() */
	GpbLeaves	leaves;
	int64		leaf;			/* number of the current leaf */
	BufFile	   *separators;		/* of this share's leaves; NULL in other loads */
	pg_atomic_uint64 *all_done; /* records of all shares; NULL in other loads */
	int64		added;			/* records of this share that were added to all_done */

	LoadLevel	level[GPB_MAX_LEVEL + 1];

	/* Of a load that gives runs to leaves; else NULL */
	LoadRuns   *runs;

	/* Pages that are finished and not written yet, and memory for pages to come */
	int			nfinished;
	BlockNumber finished_block[MAX_FINISHED];
	char	   *finished[MAX_FINISHED];
	int			nspare;
	char	   *spare[MAX_FINISHED + GPB_MAX_LEVEL + 1];
};

static void load_add(GpbLoad *load, int level, GpbBound bound, const char *row);

/* ---- writing pages ---- */

/*
 * Write a finished page.  Pages of the upper levels are finished after later blocks of the level
 * below, so blocks that were skipped are first filled with zeroes, which is not logged.
 */
static void
write_page(GpbLoad *load, BlockNumber block, char *page)
{
	SMgrRelation smgr = RelationGetSmgr(load->index);

	while (load->extended < block)
	{
		PGAlignedBlock zeroes;

		memset(zeroes.data, 0, BLCKSZ);
		smgrextend(smgr, MAIN_FORKNUM, load->extended++, zeroes.data, true);
	}

	PageSetChecksumInplace((Page) page, block);
	if (block == load->extended)
	{
		smgrextend(smgr, MAIN_FORKNUM, block, page, true);
		load->extended++;
	}
	else
		smgrwrite(smgr, MAIN_FORKNUM, block, page, true);
}

/* Report progress: the records loaded so far, by this process or, of a load in shares, by all. */
static void
report_done(GpbLoad *load)
{
	int64		done = load->done;

	if (load->all_done != NULL)
	{
		done = pg_atomic_add_fetch_u64(load->all_done, load->done - load->added);
		load->added = load->done;
	}
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
}

/* Log and write the finished pages. */
static void
flush_finished(GpbLoad *load)
{
	if (load->nfinished == 0)
		return;
	CHECK_FOR_INTERRUPTS();
	if (load->use_wal)
		log_newpages(&load->index->rd_node, MAIN_FORKNUM, load->nfinished,
					 load->finished_block, load->finished, true);
	for (int i = 0; i < load->nfinished; i++)
	{
		write_page(load, load->finished_block[i], load->finished[i]);
		load->spare[load->nspare++] = load->finished[i];
	}
	load->nfinished = 0;
	GPB_HOLD(IsParallelWorker() ? "build-worker-loads" : "build-loads");
	report_done(load);
}

/* Get the memory of a page. */
static char *
page_memory(GpbLoad *load)
{
	if (load->nspare > 0)
		return load->spare[--load->nspare];
	return palloc(BLCKSZ);
}

/* A page is finished; its memory is no longer the caller's. */
static void
finish_page(GpbLoad *load, BlockNumber block, char *page)
{
	load->finished_block[load->nfinished] = block;
	load->finished[load->nfinished] = page;
	if (++load->nfinished == MAX_FINISHED)
		flush_finished(load);
}

/* ---- where leaves lie ---- */

/*
 * The number of pages above the leaves that have been begun when so many downlinks of leaves have
 * been added.  The last page of a level has no downlink yet.
 */
static BlockNumber
upper_pages(const GpbLeaves *leaves, int64 downlinks)
{
	BlockNumber pages = 0;

	while (downlinks > 0)
	{
		int64		of_level = (downlinks - 1) / leaves->inner_limit + 1;

		pages += of_level;
		downlinks = of_level - 1;
	}
	return pages;
}

/* The block of a leaf.  Before it is begun, the downlinks of all before it but one were added. */
static BlockNumber
leaf_block(const GpbLeaves *leaves, int64 leaf)
{
	return leaves->base + leaf + upper_pages(leaves, leaf - 1);
}

/* ---- the levels ---- */

/* Begin a page of a level, with the separator "low" before it, in this block. */
static void
level_begin_page(GpbLoad *load, int level, BlockNumber block, GpbBound low)
{
	LoadLevel  *l = &load->level[level];

	l->page = page_memory(load);
	gpb_page_init((Page) l->page, level, 0, load->layout.key_width, l->row_width);
	l->block = block;
	l->low = low;
	l->count = 0;
}

/* Write on the page of a level, which has no runs, how many entries it has. */
static void
level_set_count(GpbLoad *load, int level)
{
	LoadLevel  *l = &load->level[level];
	PageHeader	header = (PageHeader) l->page;

	header->pd_lower = gpb_key_place(load->layout.key_width, l->count);
	header->pd_upper = GPB_SPECIAL_OFFSET - l->count * l->row_width;
}

/* Has the page of a level runs? */
static inline bool
has_runs(const GpbLoad *load, int level)
{
	return level == 0 && load->runs != NULL && load->runs->n > 0;
}

/* The leaf, which has runs, is full: write their ends, and how many entries it has. */
static void
end_runs(GpbLoad *load)
{
	LoadLevel  *l = &load->level[0];
	LoadRuns   *runs = load->runs;
	PageHeader	header = (PageHeader) l->page;
	int			ends = gpb_key_place(load->layout.key_width, runs->n);

	memcpy(l->page + ends, runs->end, runs->n * sizeof(uint16));
	header->pd_lower = ends + runs->n * GPB_RUN_END_WIDTH;
	header->pd_upper = GPB_SPECIAL_OFFSET - l->count * GPB_RUN_ROW_WIDTH;
	runs->n = 0;
	l->limit = load->leaf_limit;
}

/* The page of a level is finished: note how many entries it has. */
static void
level_finish_page(GpbLoad *load, int level)
{
	LoadLevel  *l = &load->level[level];

	if (has_runs(load, level))
		end_runs(load);
	else
		level_set_count(load, level);
	finish_page(load, l->block, l->page);
	l->page = NULL;
}

/* The number of entries that a build puts on a page of a level. */
static int
level_limit(Relation index, const GpbLayout *layout, int level)
{
	int			most = level == 0 ?
		gpb_page_capacity(layout->key_width, layout->row_width) * gpb_fillfactor(index, layout) :
		gpb_inner_limit(layout->key_width) * GPB_INNER_FILLFACTOR;

	return Max(most / 100, 2);
}

/* Add a level on top of the tree, without a page. */
static LoadLevel *
load_new_level(GpbLoad *load)
{
	int			level = load->nlevels;
	LoadLevel  *l = &load->level[level];

	if (level > GPB_MAX_LEVEL)
		elog(ERROR, "index \"%s\" would have too many levels",
			 RelationGetRelationName(load->index));
	load->nlevels++;
	l->row_width = level == 0 ? load->layout.row_width : GPB_INNER_ROW_WIDTH;
	l->limit = level_limit(load->index, &load->layout, level);
	if (level == 0)
		load->leaf_limit = l->limit;
	return l;
}

/*
 * Add the downlink of a level's current page to the level above.  Who loads a share of the leaves
 * notes the leaf's separator in its place.
 */
static void
load_downlink(GpbLoad *load, int level)
{
	LoadLevel  *l = &load->level[level];
	char		row[GPB_INNER_ROW_WIDTH];

	if (load->separators != NULL)
	{
		BufFileWrite(load->separators, &l->low, sizeof(l->low));
		return;
	}
	if (level + 1 == load->nlevels)
	{
		load_new_level(load);
		level_begin_page(load, level + 1, load->allocated++, GPB_BOUND_MIN);
	}
	gpb_inner_row(row, l->low.tie, l->block);
	load_add(load, level + 1, l->low, row);
}

/*
 * Choose the separator between two leaves, by the key of the last entry on the left, and the first
 * one on the right.  The tie is left out where the keys alone tell the two apart: then a search for
 * the key goes straight to the right page.
 */
static GpbBound
leaf_separator(GpbKey before, GpbBound next)
{
	if (before != next.key)
		next.tie = 0;
	return next;
}

/* Choose the high key between the last entry of a level's page and the level's entry "next". */
static GpbBound
load_separator(GpbLoad *load, int level, GpbBound next)
{
	LoadLevel  *l = &load->level[level];

	if (level > 0)
		return next;
	return leaf_separator(gpb_page_key(l->page, load->layout.key_width,
									   (has_runs(load, 0) ? load->runs->n : l->count) - 1),
						  next);
}

/* Give the block to the page that comes behind the current one of a level. */
static BlockNumber
load_allocate(GpbLoad *load)
{
	if (load->separators != NULL)
		return leaf_block(&load->leaves, ++load->leaf);
	return load->allocated++;
}

/* Finish a page of a level that has a right sibling: its block, and the separator before it. */
static void
load_finish_left(GpbLoad *load, int level, BlockNumber right, GpbBound separator)
{
	LoadLevel  *l = &load->level[level];

	gpb_special((Page) l->page)->right = right;
	gpb_set_high((Page) l->page, separator);
	load_downlink(load, level);
	level_finish_page(load, level);
}

/* Begin a page of a level that has a left sibling. */
static void
load_begin_right(GpbLoad *load, int level, BlockNumber block, BlockNumber left, GpbBound separator)
{
	LoadLevel  *l = &load->level[level];

	level_begin_page(load, level, block, separator);
	gpb_special((Page) l->page)->left = left;
	gpb_set_low((Page) l->page, separator);
}

/* Finish the full page of a level, and begin its right sibling, whose first entry will be "next" */
static void
load_next_page(GpbLoad *load, int level, GpbBound next)
{
	LoadLevel  *l = &load->level[level];
	GpbBound	separator = load_separator(load, level, next);
	BlockNumber old = l->block;
	BlockNumber new = load_allocate(load);

	load_finish_left(load, level, new, separator);
	load_begin_right(load, level, new, old, separator);
}

/* Add an entry at the end of a level's page, which has room for it. */
static pg_attribute_always_inline void
level_put(LoadLevel *l, int key_width, int row_width, const void *key, const char *row)
{
	char	   *key_at = l->page + gpb_key_place(key_width, l->count);
	char	   *row_at = l->page + GPB_SPECIAL_OFFSET - (l->count + 1) * row_width;

	memcpy(key_at, key, key_width);
	memcpy(row_at, row, row_width);
	l->count++;
}

/* Add a downlink at the end of a level. */
static void
load_add(GpbLoad *load, int level, GpbBound bound, const char *row)
{
	LoadLevel  *l = &load->level[level];

	if (l->count >= l->limit)
		load_next_page(load, level, bound);
	/* Keys lie in memory with their low bytes first. */
	level_put(l, load->layout.key_width, l->row_width, &bound.key, row);
}

/* Give runs to the leaf, which is full, if that pays.  Returns whether it did. */
static bool
begin_runs(GpbLoad *load)
{
	LoadLevel  *l = &load->level[0];
	LoadRuns   *runs = load->runs;
	Page		page = (Page) l->page;
	int			key_width = load->layout.key_width;

	level_set_count(load, 0);
	if (!gpb_runs_pay(page))
		return false;
	gpb_page_give_runs(page);
	runs->n = gpb_page_runs(page, key_width);
	runs->bytes = runs->n * (key_width + GPB_RUN_END_WIDTH) + l->count * GPB_RUN_ROW_WIDTH;
	memcpy(runs->end, gpb_run_ends(page, key_width, runs->n), runs->n * sizeof(uint16));
	l->limit = 0;				/* whether there is room, runs->bytes says */
	return true;
}

/* Add a record at the end of the leaf, which has runs.  Returns false if it has no room. */
static bool
add_to_runs(GpbLoad *load, const char *record)
{
	LoadLevel  *l = &load->level[0];
	LoadRuns   *runs = load->runs;
	int			key_width = load->layout.key_width;
	char	   *key_at = l->page + gpb_key_place(key_width, runs->n);
	bool		begins = memcmp(key_at - key_width, record, key_width) != 0;
	int			bytes = GPB_RUN_ROW_WIDTH + (begins ? key_width + GPB_RUN_END_WIDTH : 0);

	if (runs->bytes + bytes > runs->most)
		return false;
	if (begins)
	{
		memcpy(key_at, record, key_width);
		runs->n++;
	}
	runs->bytes += bytes;
	gpb_put_short_row(l->page + GPB_SPECIAL_OFFSET - (l->count + 1) * GPB_RUN_ROW_WIDTH,
					  gpb_row_locator(record + key_width));
	runs->end[runs->n - 1] = ++l->count;
	return true;
}

/*
 * The leaf, if it has no runs, is full: make room for a record, or add it to a leaf with runs.
 * Returns whether it was added.
 */
static bool
load_beyond_limit(GpbLoad *load, const char *record)
{
	if (load->runs != NULL && (load->runs->n > 0 || begin_runs(load)) && add_to_runs(load, record))
		return true;
	load_next_page(load, 0, gpb_record_bound(&load->order, record));
	return false;
}

void
gpb_load_record(void *state, const char *record)
{
	GpbLoad    *load = (GpbLoad *) state;
	LoadLevel  *l = &load->level[0];
	int			key_width = load->layout.key_width;

	if (unlikely(l->count >= l->limit) && load_beyond_limit(load, record))
	{
		load->done++;
		return;
	}
	load->done++;
	if (key_width == 8 && l->row_width == GPB_LOCATOR_WIDTH)
		level_put(l, 8, GPB_LOCATOR_WIDTH, record, record + 8);
	else if (key_width == 4 && l->row_width == GPB_LOCATOR_WIDTH)
		level_put(l, 4, GPB_LOCATOR_WIDTH, record, record + 4);
	else
		level_put(l, key_width, l->row_width, record, record + key_width);
}

/* ---- begin and end ---- */

/* Make a load with one level, which has no page. */
static GpbLoad *
load_make(Relation index, const GpbLayout *layout, const GpbRecordOrder *order)
{
	GpbLoad    *load = palloc0(sizeof(GpbLoad));

	load->index = index;
	load->layout = *layout;
	load->order = *order;
	load->use_wal = RelationNeedsWAL(index);
	load_new_level(load);
	return load;
}

static void
load_free(GpbLoad *load)
{
	while (load->nspare > 0)
		pfree(load->spare[--load->nspare]);
	if (load->runs != NULL)
		pfree(load->runs);
	pfree(load);
}

/* The first block of the tree.  The dictionary is there already, or nothing. */
static BlockNumber
first_block(Relation index)
{
	return Max(RelationGetNumberOfBlocks(index), GPB_META_BLOCK + 1);
}

GpbLoad *
gpb_load_begin(Relation index, const GpbLayout *layout, const GpbRecordOrder *order, bool runs)
{
	GpbLoad    *load = load_make(index, layout, order);

	if (runs)
	{
		load->runs = palloc0(sizeof(LoadRuns));
		load->runs->most = (GPB_PAGE_SPACE - gpb_key_halves(layout->key_width)) *
			gpb_fillfactor(index, layout) / 100;
	}
	/* Without a dictionary, a page of zeroes comes where the metapage will be. */
	load->extended = RelationGetNumberOfBlocks(index);
	load->allocated = first_block(index);
	/* An empty index has a root too. */
	level_begin_page(load, 0, load->allocated++, GPB_BOUND_MIN);
	return load;
}

/* Finish the last page of each level, then the metapage, which makes it an index. */
void
gpb_load_end(GpbLoad *load, uint64 builder)
{
	char	   *meta;

	/* A downlink may add a page to the level above, or add that level. */
	for (int level = 0; level < load->nlevels; level++)
	{
		if (level + 1 < load->nlevels)
			load_downlink(load, level);
		if (load->level[level].page != NULL)
			level_finish_page(load, level);
	}
	flush_finished(load);

	meta = page_memory(load);
	gpb_meta_init((Page) meta, &load->layout,
				  load->level[load->nlevels - 1].block, load->nlevels - 1);
	if (gpb_layout_has_dictionary(&load->layout))
	{
		gpb_meta_set_codes(gpb_meta((Page) meta), gpb_dictionary_built(load->index));
		if (gpb_dictionary_elsewhere(load->index, NULL) != 0)
			gpb_meta_set_elsewhere(gpb_meta((Page) meta));
	}
	gpb_meta_set_builder((Page) meta, builder);
	finish_page(load, GPB_META_BLOCK, meta);
	flush_finished(load);

	/*
	 * The pages did not pass through shared buffers, so a checkpoint that began after they were
	 * logged knows nothing of them, nor does that of a shutdown, which an unlogged index survives:
	 * sync them ourselves.  With wal_level = minimal the commit does.
	 */
	if (load->use_wal || load->index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		smgrimmedsync(RelationGetSmgr(load->index), MAIN_FORKNUM);
	load_free(load);
}

/* ---- a load in shares ---- */

/*
 * The file gets its length before any share is loaded: extending it, a process fills the segments
 * of the file before with zeroes to their end, which must not happen while another writes there.
 */
void
gpb_leaves_plan(Relation index, const GpbLayout *layout, uint64 records, GpbLeaves *leaves)
{
	PGAlignedBlock zeroes;
	BlockNumber last;

	leaves->base = first_block(index);
	leaves->limit = level_limit(index, layout, 0);
	leaves->inner_limit = level_limit(index, layout, 1);
	leaves->records = records;
	leaves->count = records == 0 ? 1 : (records - 1) / leaves->limit + 1;

	last = leaf_block(leaves, leaves->count - 1);
	memset(zeroes.data, 0, BLCKSZ);
	smgrextend(RelationGetSmgr(index), MAIN_FORKNUM, last, zeroes.data, true);
}

GpbLoad *
gpb_load_begin_share(Relation index, const GpbLayout *layout, const GpbRecordOrder *order,
					 const GpbLeaves *leaves, int64 first, const GpbCut *cut,
					 BufFile *separators, pg_atomic_uint64 *all_done)
{
	GpbLoad    *load = load_make(index, layout, order);

	/* Not what this process thinks of the storage parameters, which may have changed meanwhile. */
	load->level[0].limit = leaves->limit;
	load->leaves = *leaves;
	load->leaf = first;
	load->separators = separators;
	load->all_done = all_done;
	load->extended = leaf_block(leaves, leaves->count - 1) + 1;
	if (first == 0)
		level_begin_page(load, 0, leaf_block(leaves, first), GPB_BOUND_MIN);
	else
		load_begin_right(load, 0, leaf_block(leaves, first), leaf_block(leaves, first - 1),
						 leaf_separator(cut->before.key, cut->next));
	return load;
}

void
gpb_load_end_share(GpbLoad *load, const GpbCut *cut)
{
	if (load->leaf + 1 < load->leaves.count)
		load_finish_left(load, 0, leaf_block(&load->leaves, load->leaf + 1),
						 load_separator(load, 0, cut->next));
	else
	{
		load_downlink(load, 0);
		level_finish_page(load, 0);
	}
	flush_finished(load);
	report_done(load);
	load_free(load);
}

GpbLoad *
gpb_load_begin_upper(Relation index, const GpbLayout *layout, const GpbRecordOrder *order,
					 const GpbLeaves *leaves, pg_atomic_uint64 *all_done)
{
	GpbLoad    *load = load_make(index, layout, order);

	load->leaves = *leaves;
	load->leaf = -1;
	load->all_done = all_done;
	load->extended = leaf_block(leaves, leaves->count - 1) + 1;
	load->allocated = leaves->base;
	return load;
}

void
gpb_load_leaf(GpbLoad *load, GpbBound separator)
{
	LoadLevel  *l = &load->level[0];
	BlockNumber block = load->allocated++;

	if (++load->leaf > 0)
		load_downlink(load, 0);
	if (block != leaf_block(&load->leaves, load->leaf))
		elog(ERROR, "leaf %lld of index \"%s\" is not at block %u",
			 (long long) load->leaf, RelationGetRelationName(load->index), block);
	l->block = block;
	l->low = separator;
}
