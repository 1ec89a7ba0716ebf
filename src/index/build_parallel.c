/*-------------------------------------------------------------------------
 *
 * build_parallel.c
 *	  Building with parallel workers: each sorts a share of the table, and loads one of the tree.
 *
 * The leader and the workers share one parallel scan of the table.  Each sorts what it reads in its
 * share of maintenance_work_mem and writes sorted runs to a file of its own in a file set that lies
 * with the parallel context.  When all have done so, the leader plans the leaves.  Each process
 * then merges an equal share of the records, from the runs of all, and writes the leaves of it; the
 * separators before these go to a second file of its own.  The leader reads those and makes
 * the levels above.  Errors, cancellation and the removal of the files are the parallel context's
 * business.
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

/* What a participant leaves to others */
typedef struct Participant
{
	GpbSortedRunsFile file;
	GpbUniqueEnds ends;			/* of its share of the leaves, in a unique index */
} Participant;

typedef struct BuildShared
{
	Oid			heap;
	Oid			index;
	RelFileNode index_file;
	bool		concurrent;
	bool		is_unique;		/* CLUSTER and VACUUM FULL ask of no index that it is */
	GpbLayout	layout;			/* which a build decides: the index has no metapage to tell it */
	int			participants;	/* among whom maintenance_work_mem is divided */
	SharedFileSet files;

	ConditionVariable one_done; /* waited for by the leader */
	ConditionVariable planned;	/* waited for by workers */
	pg_atomic_uint64 loaded;	/* records */

	/* Set before may_load is */
	int			shares;			/* into which the leaves are divided; 0: the leader loads all */
	GpbLeaves	leaves;

	slock_t		mutex;			/* protects what follows */
	int			sorted;			/* participants that have sorted their share of the table */
	int			finished;		/* participants that have loaded their share of the leaves */
	bool		may_load;
	GpbBuildCounts counts;
	bool		broken_hot_chain;
	Participant participant[FLEXIBLE_ARRAY_MEMBER]; /* the leader is the last */
} BuildShared;

struct GpbParallelBuild
{
	ParallelContext *context;
	BuildShared *shared;
	Snapshot	snapshot;
	WalUsage   *wal_usage;
	BufferUsage *buffer_usage;
	Relation	heap;
	Relation	index;
};

PGDLLEXPORT void gpb_parallel_build_main(dsm_segment *segment, shm_toc *toc);

/* The names of a participant's files in the file set */
static void
runs_name(char *name, int participant)
{
	snprintf(name, MAXPGPATH, "%d", participant);
}

static void
separators_name(char *name, int share)
{
	snprintf(name, MAXPGPATH, "separators%d", share);
}

/* The memory of a participant */
static Size
participant_bytes(const BuildShared *shared)
{
	return (Size) maintenance_work_mem * 1024 / shared->participants;
}

/* A participant has done what *count counts. */
static void
count_participant(BuildShared *shared, int *count)
{
	SpinLockAcquire(&shared->mutex);
	(*count)++;
	SpinLockRelease(&shared->mutex);
	ConditionVariableSignal(&shared->one_done);
}

/* Read this participant's share of the table, sort it, and write it to its file. */
static void
sort_share(BuildShared *shared, ParallelTableScanDesc scan, int participant,
		   Relation heap, Relation index, bool is_leader)
{
	IndexInfo  *info = BuildIndexInfo(index);
	GpbRecordOrder order;
	GpbSorter  *sorter;
	GpbSortedRunsFile file;
	char		name[MAXPGPATH];
	double		heap_tuples;

	info->ii_Concurrent = shared->concurrent;
	info->ii_Unique = shared->is_unique;
	gpb_record_order(&shared->layout, &order);
	runs_name(name, participant);
	sorter = gpb_sorter_begin(&order, participant_bytes(shared),
							  gpb_build_expected(heap, info) / shared->participants,
							  &shared->files, name);
	heap_tuples = gpb_build_scan(heap, index, info, &shared->layout, is_leader, sorter,
								 table_beginscan_parallel(heap, scan));
	GPB_HOLD(is_leader ? "build-leader-has-read" : "build-worker-has-read");
	if (!is_leader)
		GPB_FAIL("build-worker");
	gpb_sorter_export(sorter, &file);

	SpinLockAcquire(&shared->mutex);
	shared->participant[participant].file = file;
	shared->counts.heap_tuples += heap_tuples;
	shared->counts.index_tuples += gpb_sorter_count(sorter);
	shared->broken_hot_chain |= info->ii_BrokenHotChain;
	SpinLockRelease(&shared->mutex);
	count_participant(shared, &shared->sorted);
	gpb_sorter_end(sorter);
}

/* Make a sort of all records, from the runs of all participants. */
static GpbSorter *
import_runs(BuildShared *shared, const GpbRecordOrder *order, Size bytes)
{
	GpbSorter  *sorter = gpb_sorter_begin(order, bytes, 0, NULL, NULL);
	char		name[MAXPGPATH];

	for (int p = 0; p < shared->participants; p++)
	{
		runs_name(name, p);
		gpb_sorter_import(sorter, &shared->files, name, &shared->participant[p].file);
	}
	return sorter;
}

/* Who loads a share: the worker of its number, or the leader, which comes last. */
static int
share_participant(const BuildShared *shared, int share)
{
	return share == shared->shares - 1 ? shared->participants - 1 : share;
}

/* The number of the first leaf of a share, or of the leaf behind the last share */
static int64
first_leaf(const BuildShared *shared, int share)
{
	return shared->leaves.count * share / shared->shares;
}

/* Merge the records of a share of the leaves, from the runs of all participants, and write it. */
static void
load_share(BuildShared *shared, int share, Relation heap, Relation index)
{
	Participant *self = &shared->participant[share_participant(shared, share)];
	const GpbLeaves *leaves = &shared->leaves;
	int64		first = first_leaf(shared, share);
	int64		end = first_leaf(shared, share + 1);
	GpbRecordOrder order;
	GpbSorter  *sorter;
	GpbLoad    *load;
	GpbCut		from = {.rank = first * leaves->limit};
	GpbCut		to = {.rank = Min(end * leaves->limit, leaves->records)};
	BufFile    *separators;
	char		name[MAXPGPATH];

	gpb_record_order(&shared->layout, &order);
	separators_name(name, share);
	separators = BufFileCreateFileSet(&shared->files.fs, name);
	if (first < end)
	{
		sorter = import_runs(shared, &order, participant_bytes(shared));
		gpb_sorter_perform_share(sorter, &from, &to);
		if (IsParallelWorker())
			GPB_FAIL("build-worker-merges");

		load = gpb_load_begin_share(index, &shared->layout, &order, leaves, first, &from,
									separators, &shared->loaded);
		if (shared->is_unique)
		{
			GpbUniqueLoad *unique = gpb_unique_load_begin(heap, index, &shared->layout, &order,
														  load);

			gpb_sorter_drain(sorter, gpb_unique_load_record, unique);
			self->ends = *gpb_unique_load_ends(unique);
			gpb_unique_load_end(unique);
		}
		else
			gpb_sorter_drain(sorter, gpb_load_record, load);
		gpb_load_end_share(load, &to);
		gpb_sorter_end(sorter);
	}
	else
		self->ends.is_empty = true;
	BufFileExportFileSet(separators);
	BufFileClose(separators);
}

/* ---- the leader ---- */

/* Wait until *count has reached a number of participants.  Raises what a worker raised. */
static void
wait_for_participants(BuildShared *shared, const int *count, int participants)
{
	ConditionVariablePrepareToSleep(&shared->one_done);
	while (true)
	{
		int			done;

		SpinLockAcquire(&shared->mutex);
		done = *count;
		SpinLockRelease(&shared->mutex);
		if (done == participants)
			break;
		ConditionVariableSleep(&shared->one_done, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	ConditionVariableCancelSleep();
}

/* Put what the workers are to know into the context's memory, which has just been made. */
static ParallelTableScanDesc
share(GpbParallelBuild *build, Relation heap, Relation index, const IndexInfo *info,
	  const GpbLayout *layout, int participants, Size shared_size, Size scan_size)
{
	ParallelContext *context = build->context;
	BuildShared *shared = shm_toc_allocate(context->toc, shared_size);
	ParallelTableScanDesc scan = shm_toc_allocate(context->toc, scan_size);

	memset(shared, 0, shared_size);
	shared->heap = RelationGetRelid(heap);
	shared->index = RelationGetRelid(index);
	shared->index_file = index->rd_node;
	shared->concurrent = info->ii_Concurrent;
	shared->is_unique = info->ii_Unique;
	shared->layout = *layout;
	shared->participants = participants;
	ConditionVariableInit(&shared->one_done);
	ConditionVariableInit(&shared->planned);
	pg_atomic_init_u64(&shared->loaded, 0);
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
	int			launched;

	if (RelationGetNumberOfBlocks(heap) > 0)
		workers = plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
	if (workers == 0)
		return NULL;
	build = palloc0(sizeof(GpbParallelBuild));
	build->heap = heap;
	build->index = index;
	EnterParallelMode();
	context = CreateParallelContext("gpubtree", "gpb_parallel_build_main", workers);
	build->context = context;

	/* As in a serial build: all rows that may be seen, or those of one snapshot if concurrent. */
	build->snapshot = SnapshotAny;
	if (info->ii_Concurrent)
		build->snapshot = RegisterSnapshot(GetTransactionSnapshot());

	shared_size = add_size(offsetof(BuildShared, participant),
						   mul_size(workers + 1, sizeof(Participant)));
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
	scan = share(build, heap, index, info, layout, workers + 1, shared_size, scan_size);

	LaunchParallelWorkers(context);
	launched = context->nworkers_launched;
	if (launched == 0)
	{
		leave_parallel_mode(build);
		return NULL;
	}

	/* A worker that could not start is not noticed by those who wait on the condition variable. */
	sort_share(build->shared, scan, workers, heap, index, true);
	WaitForParallelWorkersToAttach(context);
	wait_for_participants(build->shared, &build->shared->sorted, launched + 1);
	*counts = build->shared->counts;
	info->ii_BrokenHotChain |= build->shared->broken_hot_chain;
	return build;
}

/* Add the leaves that the shares have to the tree, and tell duplicates at the seams. */
static void
join_shares(GpbParallelBuild *build, GpbLoad *load, const GpbRecordOrder *order)
{
	BuildShared *shared = build->shared;
	GpbUniqueLoad *unique = NULL;

	if (shared->is_unique)
		unique = gpb_unique_load_begin(build->heap, build->index, &shared->layout, order, load);
	for (int share = 0; share < shared->shares; share++)
	{
		int			participant = share_participant(shared, share);
		int64		leaves = first_leaf(shared, share + 1) - first_leaf(shared, share);
		BufFile    *separators;
		GpbBound	separator;
		char		name[MAXPGPATH];

		if (unique != NULL)
			gpb_unique_load_share(unique, &shared->participant[participant].ends);
		separators_name(name, share);
		separators = BufFileOpenFileSet(&shared->files.fs, name, O_RDONLY, false);
		for (int64 i = 0; i < leaves; i++)
		{
			if (BufFileRead(separators, &separator, sizeof(separator)) != sizeof(separator))
				ereport(ERROR,
						(errcode_for_file_access(),
						 errmsg("could not read separators from a temporary file")));
			gpb_load_leaf(load, separator);
		}
		BufFileClose(separators);
	}
	if (unique != NULL)
		gpb_unique_load_end(unique);
}

/* ---- whether leaves get runs ---- */

/*
 * Stretches of the records that are looked at, each as many as go on a leaf, and how many of them
 * must be better with runs
 */
#define STRETCHES			16
#define STRETCHES_WANTED	4

/* Records that are counted, and the keys that they have */
typedef struct Stretch
{
	const GpbRecordOrder *order;
	GpbKey		last;
	int			records;
	int			keys;
} Stretch;

/* A GpbSink: count a record. */
static void
stretch_add(void *state, const char *record)
{
	Stretch    *stretch = (Stretch *) state;
	GpbKey		key = gpb_record_key(stretch->order, record);

	stretch->keys += stretch->records == 0 || key != stretch->last;
	stretch->records++;
	stretch->last = key;
}

/*
 * Will leaves be better with runs?  How many entries a leaf has is not known beforehand then, nor
 * where the share of a process begins.  So this is asked of some stretches of the records, and
 * where runs pay one process loads all leaves.
 */
static bool
runs_pay(GpbParallelBuild *build, const GpbRecordOrder *order)
{
	BuildShared *shared = build->shared;
	uint64		records = shared->counts.index_tuples;
	int			width = gpb_page_capacity(shared->layout.key_width, shared->layout.row_width);
	int			better = 0;

	if (!gpb_makes_runs(build->index, &shared->layout, build->heap))
		return false;
	for (int i = 0; i < STRETCHES && records > 0; i++)
	{
		Stretch		stretch = {order};
		GpbCut		from = {.rank = records * i / STRETCHES};
		GpbCut		to = {.rank = Min(from.rank + width, records)};
		GpbSorter  *sorter = import_runs(shared, order, (Size) maintenance_work_mem * 1024);

		gpb_sorter_perform_share(sorter, &from, &to);
		gpb_sorter_drain(sorter, stretch_add, &stretch);
		gpb_sorter_end(sorter);
		better += gpb_runs_are_shorter(shared->layout.key_width, stretch.keys, stretch.records);
	}
	return better >= STRETCHES_WANTED;
}

/* Load all leaves in this process. */
static GpbLoad *
load_alone(GpbParallelBuild *build, const GpbRecordOrder *order)
{
	BuildShared *shared = build->shared;
	GpbLoad    *load = gpb_load_begin(build->index, &shared->layout, order, true);
	GpbCut		from = {.rank = 0};
	GpbCut		to = {.rank = shared->counts.index_tuples};
	GpbSorter  *sorter = import_runs(shared, order, (Size) maintenance_work_mem * 1024);

	gpb_sorter_perform_share(sorter, &from, &to);
	gpb_build_drain(sorter, build->heap, build->index, shared->is_unique, &shared->layout, order,
					load);
	gpb_sorter_end(sorter);
	return load;
}

/* ---- the load ---- */

GpbLoad *
gpb_parallel_build_load(GpbParallelBuild *build)
{
	BuildShared *shared = build->shared;
	int			workers = build->context->nworkers_launched;
	GpbRecordOrder order;
	GpbLoad    *load;
	bool		alone;

	gpb_record_order(&shared->layout, &order);
	alone = runs_pay(build, &order);
	shared->shares = alone ? 0 : workers + 1;
	if (!alone)
		gpb_leaves_plan(build->index, &shared->layout, shared->counts.index_tuples,
						&shared->leaves);
	SpinLockAcquire(&shared->mutex);
	shared->may_load = true;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->planned);
	if (alone)
		return load_alone(build, &order);

	load_share(shared, workers, build->heap, build->index);
	wait_for_participants(shared, &shared->finished, workers);
	load = gpb_load_begin_upper(build->index, &shared->layout, &order, &shared->leaves,
								&shared->loaded);
	join_shares(build, load, &order);
	return load;
}

void
gpb_parallel_build_end(GpbParallelBuild *build)
{
	WaitForParallelWorkersToFinish(build->context);
	for (int i = 0; i < build->context->nworkers_launched; i++)
		InstrAccumParallelQuery(&build->buffer_usage[i], &build->wal_usage[i]);
	leave_parallel_mode(build);
	pfree(build);
}

/* ---- a worker ---- */

/* Wait until the leader has planned the leaves.  If it fails, it terminates its workers. */
static void
wait_for_plan(BuildShared *shared)
{
	ConditionVariablePrepareToSleep(&shared->planned);
	while (true)
	{
		bool		may_load;

		SpinLockAcquire(&shared->mutex);
		may_load = shared->may_load;
		SpinLockRelease(&shared->mutex);
		if (may_load)
			break;
		ConditionVariableSleep(&shared->planned, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	ConditionVariableCancelSleep();
}

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
	if (!RelFileNodeEquals(index->rd_node, shared->index_file))
		elog(ERROR, "index \"%s\" has another file than the leader's",
			 RelationGetRelationName(index));

	SharedFileSetAttach(&shared->files, segment);
	InstrStartParallelQuery();
	sort_share(shared, scan, ParallelWorkerNumber, heap, index, false);
	wait_for_plan(shared);
	if (shared->shares > 0)
		load_share(shared, ParallelWorkerNumber, heap, index);
	count_participant(shared, &shared->finished);
	InstrEndParallelQuery(&buffer_usage[ParallelWorkerNumber], &wal_usage[ParallelWorkerNumber]);

	index_close(index, index_lock);
	table_close(heap, heap_lock);
}
