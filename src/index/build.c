/*-------------------------------------------------------------------------
 *
 * build.c
 *	  CREATE INDEX: scan the table, sort, load the tree bottom up.
 *
 * The work is done in build_scan.c (reading the table), build_sort.c (sorting in memory),
 * build_merge.c (what does not fit there), build_parallel.c (several processes), build_unique.c
 * (uniqueness) and build_load.c (writing the tree).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xact.h"
#include "access/xloginsert.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "hold.h"
#include "index/build.h"
#include "index/dictionary.h"
#include "mirror/mark.h"

#define GPB_PHASE_SCAN		2	/* 1 is PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE */
#define GPB_PHASE_SORT		3
#define GPB_PHASE_LOAD		4

void		(*gpb_built_hook) (Relation index) = NULL;

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

/*
 * What the metapage says of who builds the index: snapshots of a standby that do not see this
 * transaction may see rows that the build leaves out.  Of an empty table it leaves out none, unless
 * rows come and go meanwhile.  Without WAL there is no standby that has the index.
 */
static uint64
builder_of(Relation heap, Relation index, const IndexInfo *info)
{
	if (!RelationNeedsWAL(index) ||
		(!info->ii_Concurrent && RelationGetNumberOfBlocks(heap) == 0))
		return 0;
	return U64FromFullTransactionId(GetTopFullTransactionId());
}

/* Load the tree, in this process alone, but for what gpb_load_end() does. */
static GpbLoad *
build_load(Relation heap, Relation index, IndexInfo *info, const GpbLayout *layout,
		   const GpbRecordOrder *order, GpbSorter *sorter)
{
	GpbLoad    *load = gpb_load_begin(index, layout, order,
									  gpb_makes_runs(index, layout, heap));

	gpb_build_drain(sorter, heap, index, info->ii_Unique, layout, order, load);
	return load;
}

/* ambuild: build the index. */
IndexBuildResult *
gpb_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	GpbLayout	layout = *gpb_layout_for_build(index);
	GpbParallelBuild *parallel;
	GpbBuildCounts counts;
	GpbRecordOrder order;
	uint64		builder = builder_of(heap, index, info);
	GpbSorter  *sorter = NULL;
	GpbLoad    *load;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	if (gpb_layout_has_dictionary(&layout))
		gpb_dictionary_create(index);

	gpb_record_order(&layout, &order);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, GPB_PHASE_SCAN);
	parallel = gpb_parallel_build(heap, index, info, &layout, &counts);
	if (parallel == NULL)
	{
		sorter = gpb_sorter_begin(&order, (Size) maintenance_work_mem * 1024,
								  gpb_build_expected(heap, info), NULL, NULL);
		counts.heap_tuples = gpb_build_scan(heap, index, info, &layout, true, sorter, NULL);
		counts.index_tuples = gpb_sorter_count(sorter);
	}
	result->heap_tuples = counts.heap_tuples;
	result->index_tuples = counts.index_tuples;
	progress_scanned(result->index_tuples);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, GPB_PHASE_SORT);
	if (parallel == NULL)
		gpb_sorter_perform(sorter);
	GPB_HOLD("build-before-load");

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, GPB_PHASE_LOAD);
	load = parallel != NULL ? gpb_parallel_build_load(parallel) :
		build_load(heap, index, info, &layout, &order, sorter);
	GPB_HOLD("build-before-metapage");
	gpb_load_end(load, builder);
	if (parallel != NULL)
		gpb_parallel_build_end(parallel);
	else
		gpb_sorter_end(sorter);
	build_forget_mirror(index);
	if (gpb_built_hook != NULL)
		gpb_built_hook(index);
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
	bool		has_dictionary = gpb_layout_has_dictionary(&layout);
	BlockNumber root = has_dictionary ? GPB_DICTIONARY_BLOCK + 1 : GPB_META_BLOCK + 1;
	PGAlignedBlock block;

	gpb_meta_init((Page) block.data, &layout, root, 0);
	write_init_page(index, GPB_META_BLOCK, (Page) block.data);
	if (has_dictionary)
	{
		gpb_dictionary_page_init((Page) block.data, GPB_NO_BLOCK, 0);
		write_init_page(index, GPB_DICTIONARY_BLOCK, (Page) block.data);
	}
	gpb_page_init((Page) block.data, 0, 0, layout.key_width, layout.row_width);
	write_init_page(index, root, (Page) block.data);

	/* Sync the fork ourselves, for the reason given in gpb_load_end(). */
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
