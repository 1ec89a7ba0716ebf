/*-------------------------------------------------------------------------
 *
 * build_load.c
 *	  Writing the tree of a build, bottom up and from left to right.
 *
 * There is one unfinished page for each level.  Finished pages are logged and written several at a
 * time, past shared buffers.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "hold.h"
#include "index/build.h"

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

struct GpbLoad
{
	Relation	index;
	GpbLayout	layout;
	GpbRecordOrder order;
	bool		use_wal;
	BlockNumber allocated;		/* number of blocks given to pages so far */
	BlockNumber extended;		/* number of blocks that the file has */
	int64		done;			/* records */
	int			nlevels;
	LoadLevel	level[GPB_MAX_LEVEL + 1];

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
	GPB_HOLD("build-loads");
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, load->done);
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

/* The page of a level is finished: note how many entries it has. */
static void
level_finish_page(GpbLoad *load, int level)
{
	LoadLevel  *l = &load->level[level];
	PageHeader	header = (PageHeader) l->page;

	header->pd_lower = gpb_key_place(load->layout.key_width, l->count);
	header->pd_upper = GPB_SPECIAL_OFFSET - l->count * l->row_width;
	finish_page(load, l->block, l->page);
	l->page = NULL;
}

/* Add a level on top of the tree, with an empty page. */
static void
load_new_level(GpbLoad *load)
{
	int			level = load->nlevels;
	int			key_width = load->layout.key_width;
	int			fillfactor = GPB_INNER_FILLFACTOR;
	LoadLevel  *l = &load->level[level];

	if (level == 0)
		fillfactor = gpb_fillfactor(load->index, &load->layout);
	if (level > GPB_MAX_LEVEL)
		elog(ERROR, "index \"%s\" would have too many levels",
			 RelationGetRelationName(load->index));
	load->nlevels++;
	l->row_width = level == 0 ? load->layout.row_width : GPB_INNER_ROW_WIDTH;
	l->limit = Max(gpb_page_capacity(key_width, l->row_width) * fillfactor / 100, 2);
	level_begin_page(load, level, load->allocated++, GPB_BOUND_MIN);
}

/* Add the downlink of a level's current page to the level above. */
static void
load_downlink(GpbLoad *load, int level)
{
	LoadLevel  *l = &load->level[level];
	char		row[GPB_INNER_ROW_WIDTH];

	if (level + 1 == load->nlevels)
		load_new_level(load);
	gpb_inner_row(row, l->low.tie, l->block);
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
	LoadLevel  *l = &load->level[level];

	if (level == 0 &&
		gpb_page_key(l->page, load->layout.key_width, l->count - 1) != next.key)
		next.tie = 0;
	return next;
}

/* Finish the full page of a level, and begin its right sibling, whose first entry will be "next" */
static void
load_next_page(GpbLoad *load, int level, GpbBound next)
{
	LoadLevel  *l = &load->level[level];
	GpbBound	separator = load_separator(load, level, next);
	BlockNumber old = l->block;
	BlockNumber new = load->allocated++;

	gpb_special((Page) l->page)->right = new;
	gpb_set_high((Page) l->page, separator);
	load_downlink(load, level);
	level_finish_page(load, level);

	level_begin_page(load, level, new, separator);
	gpb_special((Page) l->page)->left = old;
	gpb_set_low((Page) l->page, separator);
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

void
gpb_load_record(void *state, const char *record)
{
	GpbLoad    *load = (GpbLoad *) state;
	LoadLevel  *l = &load->level[0];
	int			key_width = load->layout.key_width;

	if (unlikely(l->count >= l->limit))
		load_next_page(load, 0, gpb_record_bound(&load->order, record));
	load->done++;
	if (key_width == 8 && l->row_width == GPB_LOCATOR_WIDTH)
		level_put(l, 8, GPB_LOCATOR_WIDTH, record, record + 8);
	else if (key_width == 4 && l->row_width == GPB_LOCATOR_WIDTH)
		level_put(l, 4, GPB_LOCATOR_WIDTH, record, record + 4);
	else
		level_put(l, key_width, l->row_width, record, record + key_width);
}

/* ---- begin and end ---- */

GpbLoad *
gpb_load_begin(Relation index, const GpbLayout *layout, const GpbRecordOrder *order)
{
	GpbLoad    *load = palloc0(sizeof(GpbLoad));

	load->index = index;
	load->layout = *layout;
	load->order = *order;
	load->use_wal = RelationNeedsWAL(index);
	/* The dictionary is there already, and a page of zeroes where the metapage will be. */
	load->extended = RelationGetNumberOfBlocks(index);
	load->allocated = Max(load->extended, GPB_META_BLOCK + 1);
	load_new_level(load);		/* an empty index has a root too */
	return load;
}

/* Finish the last page of each level, then the metapage, which makes it an index. */
void
gpb_load_end(GpbLoad *load)
{
	char	   *meta;

	/* A downlink may add a page to the level above, or add that level. */
	for (int level = 0; level < load->nlevels; level++)
	{
		if (level + 1 < load->nlevels)
			load_downlink(load, level);
		level_finish_page(load, level);
	}
	flush_finished(load);

	meta = page_memory(load);
	gpb_meta_init((Page) meta, &load->layout,
				  load->level[load->nlevels - 1].block, load->nlevels - 1);
	finish_page(load, GPB_META_BLOCK, meta);
	flush_finished(load);

	/*
	 * The pages did not pass through shared buffers, so a checkpoint that began after they were
	 * logged knows nothing of them: sync them ourselves.  A file that is not logged is synced at
	 * commit (wal_level = minimal) or need not survive a crash.
	 */
	if (load->use_wal)
		smgrimmedsync(RelationGetSmgr(load->index), MAIN_FORKNUM);
	while (load->nspare > 0)
		pfree(load->spare[--load->nspare]);
	pfree(load);
}
