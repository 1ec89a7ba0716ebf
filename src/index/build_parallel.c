/*-------------------------------------------------------------------------
 *
 * build_parallel.c
 *	  Building with parallel workers: each reads a part of the table and sorts it.
 *
 * The leader and the workers share one parallel scan of the table.  Each sorts what it reads in its
 * share of maintenance_work_mem and writes sorted runs to a file of its own in a file set that lies
 * with the parallel context.  The leader merges the runs of all and loads the tree.  Errors,
 * cancellation and the removal of the files are the parallel context's business.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "hold.h"
#include "index/build.h"

/* What is in the parallel context's memory */
#define KEY_SHARED			UINT64CONST(0x6770620000000001)
#define KEY_SCAN			UINT64CONST(0x6770620000000002)
#define KEY_QUERY			UINT64CONST(0x6770620000000003)
#define KEY_WAL_USAGE		UINT64CONST(0x6770620000000004)
#define KEY_BUFFER_USAGE	UINT64CONST(0x6770620000000005)

typedef struct BuildShared
{
	Oid			heap;
	Oid			index;
	bool		concurrent;
	GpbLayout	layout;			/* which a build decides: the index has no metapage to tell it */
	int			participants;	/* among whom maintenance_work_mem is divided */
	SharedFileSet files;

	ConditionVariable one_done;
	slock_t		mutex;			/* protects what follows */
	int			done;			/* participants that have finished */
	GpbBuildCounts counts;
	bool		broken_hot_chain;
	GpbRunsFile file[FLEXIBLE_ARRAY_MEMBER];	/* of each participant; the leader is the last */
} BuildShared;

struct GpbParallelBuild
{
	ParallelContext *context;
	BuildShared *shared;
	Snapshot	snapshot;
	WalUsage   *wal_usage;
	BufferUsage *buffer_usage;
	GpbSorter  *sorter;
};

PGDLLEXPORT void gpb_parallel_build_main(dsm_segment *segment, shm_toc *toc);

/* The name of a participant's file in the file set. */
static void
file_name(char *name, int participant)
{
	snprintf(name, MAXPGPATH, "%d", participant);
}

/* Read this participant's part of the table, sort it, and write it to its file. */
static void
participate(BuildShared *shared, ParallelTableScanDesc scan, int participant,
			Relation heap, Relation index, bool is_leader)
{
	Size		bytes = (Size) maintenance_work_mem * 1024 / shared->participants;
	IndexInfo  *info = BuildIndexInfo(index);
	GpbRecordOrder order;
	GpbSorter  *sorter;
	GpbRunsFile file;
	char		name[MAXPGPATH];
	double		heap_tuples;

	info->ii_Concurrent = shared->concurrent;
	gpb_record_order(&shared->layout, &order);
	file_name(name, participant);
	sorter = gpb_sorter_begin(&order, bytes, &shared->files, name);
	heap_tuples = gpb_build_scan(heap, index, info, &shared->layout, is_leader, sorter,
								 table_beginscan_parallel(heap, scan));
	GPB_HOLD(is_leader ? "build-leader-has-read" : "build-worker-has-read");
	if (!is_leader)
		GPB_FAIL("build-worker");
	gpb_sorter_export(sorter, &file);

	SpinLockAcquire(&shared->mutex);
	shared->file[participant] = file;
	shared->counts.heap_tuples += heap_tuples;
	shared->counts.index_tuples += gpb_sorter_count(sorter);
	shared->broken_hot_chain |= info->ii_BrokenHotChain;
	shared->done++;
	SpinLockRelease(&shared->mutex);
	ConditionVariableSignal(&shared->one_done);
	gpb_sorter_end(sorter);
}

/* ---- the leader ---- */

/* Wait until "participants" have finished.  Raises what a worker raised. */
static void
wait_for_participants(BuildShared *shared, int participants)
{
	ConditionVariablePrepareToSleep(&shared->one_done);
	while (true)
	{
		int			done;

		SpinLockAcquire(&shared->mutex);
		done = shared->done;
		SpinLockRelease(&shared->mutex);
		if (done == participants)
			break;
		ConditionVariableSleep(&shared->one_done, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	ConditionVariableCancelSleep();
}

/* Put what the workers are to know into the context's memory, which has just been made. */
static ParallelTableScanDesc
share(GpbParallelBuild *build, Relation heap, Relation index, const GpbLayout *layout,
	  bool concurrent, int participants, Size shared_size, Size scan_size)
{
	ParallelContext *context = build->context;
	BuildShared *shared = shm_toc_allocate(context->toc, shared_size);
	ParallelTableScanDesc scan = shm_toc_allocate(context->toc, scan_size);

	memset(shared, 0, shared_size);
	shared->heap = RelationGetRelid(heap);
	shared->index = RelationGetRelid(index);
	shared->concurrent = concurrent;
	shared->layout = *layout;
	shared->participants = participants;
	ConditionVariableInit(&shared->one_done);
	SpinLockInit(&shared->mutex);
	SharedFileSetInit(&shared->files, context->seg);
	shm_toc_insert(context->toc, KEY_SHARED, shared);
	build->shared = shared;

	table_parallelscan_initialize(heap, scan, build->snapshot);
	shm_toc_insert(context->toc, KEY_SCAN, scan);

	build->wal_usage = shm_toc_allocate(context->toc, context->nworkers * sizeof(WalUsage));
	shm_toc_insert(context->toc, KEY_WAL_USAGE, build->wal_usage);
	build->buffer_usage = shm_toc_allocate(context->toc, context->nworkers * sizeof(BufferUsage));
	shm_toc_insert(context->toc, KEY_BUFFER_USAGE, build->buffer_usage);

	if (debug_query_string != NULL)
	{
		char	   *query = shm_toc_allocate(context->toc, strlen(debug_query_string) + 1);

		strcpy(query, debug_query_string);
		shm_toc_insert(context->toc, KEY_QUERY, query);
	}
	return scan;
}

static void
leave_parallel_mode(GpbParallelBuild *build)
{
	if (IsMVCCSnapshot(build->snapshot))
		UnregisterSnapshot(build->snapshot);
	DestroyParallelContext(build->context);
	ExitParallelMode();
}

GpbParallelBuild *
gpb_parallel_build(Relation heap, Relation index, IndexInfo *info, const GpbLayout *layout,
				   GpbBuildCounts *counts)
{
	int			workers = 0;
	GpbParallelBuild *build;
	ParallelContext *context;
	ParallelTableScanDesc scan;
	Size		shared_size;
	Size		scan_size;
	GpbRecordOrder order;
	int			launched;

	if (RelationGetNumberOfBlocks(heap) > 0)
		workers = plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
	if (workers == 0)
		return NULL;
	build = palloc0(sizeof(GpbParallelBuild));
	EnterParallelMode();
	context = CreateParallelContext("gpubtree", "gpb_parallel_build_main", workers);
	build->context = context;

	/* As in a serial build: all rows that may be seen, or those of one snapshot if concurrent. */
	build->snapshot = SnapshotAny;
	if (info->ii_Concurrent)
		build->snapshot = RegisterSnapshot(GetTransactionSnapshot());

	shared_size = add_size(offsetof(BuildShared, file),
						   mul_size(workers + 1, sizeof(GpbRunsFile)));
	scan_size = table_parallelscan_estimate(heap, build->snapshot);
	shm_toc_estimate_chunk(&context->estimator, shared_size);
	shm_toc_estimate_chunk(&context->estimator, scan_size);
	shm_toc_estimate_chunk(&context->estimator, mul_size(workers, sizeof(WalUsage)));
	shm_toc_estimate_chunk(&context->estimator, mul_size(workers, sizeof(BufferUsage)));
	shm_toc_estimate_keys(&context->estimator, 4);
	if (debug_query_string != NULL)
	{
		shm_toc_estimate_chunk(&context->estimator, strlen(debug_query_string) + 1);
		shm_toc_estimate_keys(&context->estimator, 1);
	}
	InitializeParallelDSM(context);
	if (context->seg == NULL)
	{
		leave_parallel_mode(build);
		return NULL;
	}
	scan = share(build, heap, index, layout, info->ii_Concurrent, workers + 1,
				 shared_size, scan_size);

	LaunchParallelWorkers(context);
	launched = context->nworkers_launched;
	if (launched == 0)
	{
		leave_parallel_mode(build);
		return NULL;
	}

	/* A worker that could not start is not noticed by those who wait on the condition variable. */
	participate(build->shared, scan, workers, heap, index, true);
	WaitForParallelWorkersToAttach(context);
	wait_for_participants(build->shared, launched + 1);

	gpb_record_order(layout, &order);
	build->sorter = gpb_sorter_begin(&order, (Size) maintenance_work_mem * 1024, NULL, NULL);
	for (int p = 0; p <= workers; p++)
	{
		char		name[MAXPGPATH];

		file_name(name, p);
		gpb_sorter_import(build->sorter, &build->shared->files, name, &build->shared->file[p]);
	}
	*counts = build->shared->counts;
	info->ii_BrokenHotChain |= build->shared->broken_hot_chain;
	return build;
}

GpbSorter *
gpb_parallel_build_sorter(GpbParallelBuild *build)
{
	return build->sorter;
}

void
gpb_parallel_build_end(GpbParallelBuild *build)
{
	WaitForParallelWorkersToFinish(build->context);
	for (int i = 0; i < build->context->nworkers_launched; i++)
		InstrAccumParallelQuery(&build->buffer_usage[i], &build->wal_usage[i]);
	gpb_sorter_end(build->sorter);
	leave_parallel_mode(build);
	pfree(build);
}

/* ---- a worker ---- */

/* What a parallel worker runs. */
void
gpb_parallel_build_main(dsm_segment *segment, shm_toc *toc)
{
	BuildShared *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	ParallelTableScanDesc scan = shm_toc_lookup(toc, KEY_SCAN, false);
	WalUsage   *wal_usage = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	BufferUsage *buffer_usage = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);
	LOCKMODE	heap_lock = shared->concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE	index_lock = shared->concurrent ? RowExclusiveLock : AccessExclusiveLock;
	Relation	heap;
	Relation	index;

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);

	/* These are the leader's locks, which do not conflict with those of its workers. */
	heap = table_open(shared->heap, heap_lock);
	index = index_open(shared->index, index_lock);

	SharedFileSetAttach(&shared->files, segment);
	InstrStartParallelQuery();
	participate(shared, scan, ParallelWorkerNumber, heap, index, false);
	InstrEndParallelQuery(&buffer_usage[ParallelWorkerNumber], &wal_usage[ParallelWorkerNumber]);

	index_close(index, index_lock);
	table_close(heap, heap_lock);
}
