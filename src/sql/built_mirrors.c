/*-------------------------------------------------------------------------
 *
 * built_mirrors.c
 *	  Mirrors an index that was built as soon as others can see it; its first query need not.
 *
 * Nobody may read a mirror of an index before the transaction that builds it commits, and a backend
 * can run no transaction in the end of one.  So the commit starts a background worker, which opens
 * the index as anybody would, under a lock, and makes the mirror as gpubtree_refresh() does (rules
 * M1 to M3).  If there is no worker for it, or it fails, the first query makes the mirror.
 *
 * CREATE INDEX CONCURRENTLY and REINDEX CONCURRENTLY take several transactions, and the index is
 * not valid before the last; so what was built is remembered until a transaction finds it valid.
 * An error forgets all.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "engine/mirror_reader.h"
#include "hold.h"
#include "index/index.h"
#include "mirror/status.h"
#include "sql/sql.h"

/* What the worker is told, in bgw_extra */
#define GPB_MOST_BUILT	((BGW_EXTRALEN - 2 * sizeof(Oid)) / sizeof(Oid))

typedef struct GpbBuilt
{
	Oid			database;
	uint32		n;
	Oid			index[GPB_MOST_BUILT];
} GpbBuilt;

StaticAssertDecl(sizeof(GpbBuilt) <= BGW_EXTRALEN, "bgw_extra holds the indexes of a worker");

extern PGDLLEXPORT void gpb_built_mirrors_main(Datum arg) pg_attribute_noreturn();

/* gpubtree.min_built_mirror_size, in kB; negative: no index is mirrored so */
static int	min_size = 16 * 1024;

/* Indexes that this session has built and that were not valid yet when it last looked */
static GpbBuilt built;

/* Those that the commit going on makes visible to others */
static GpbBuilt committed;

/* ---- what was built ---- */

static void
add_index(GpbBuilt *list, Oid index)
{
	uint32		i;

	for (i = 0; i < list->n; i++)
		if (list->index[i] == index)
			return;
	if (list->n < GPB_MOST_BUILT)
		list->index[list->n++] = index;
}

/* gpb_built_hook: remember an index that is worth it. */
static void
note_built(Relation index)
{
	if (min_size < 0 || RelationUsesLocalBuffers(index) || !gpb_mirror_available() ||
		RelationGetNumberOfBlocks(index) < (uint64) min_size * 1024 / BLCKSZ)
		return;
	add_index(&built, RelationGetRelid(index));
}

/* Move the indexes that are valid now from built to committed, and forget those that are gone. */
static void
look_at_built(void)
{
	GpbBuilt	all = built;
	uint32		i;

	built.n = 0;
	/* This transaction may have made one valid with its last command. */
	CommandCounterIncrement();
	for (i = 0; i < all.n; i++)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(all.index[i]));

		if (!HeapTupleIsValid(tuple))
			continue;
		add_index(((Form_pg_index) GETSTRUCT(tuple))->indisvalid ? &committed : &built,
				  all.index[i]);
		ReleaseSysCache(tuple);
	}
}

/*
 * Start the worker that mirrors what was committed.  Called where an error would be fatal; there
 * being no free worker is none.
 */
static void
start_worker(void)
{
	BackgroundWorker worker;

	committed.database = MyDatabaseId;
	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "gpubtree", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "gpb_built_mirrors_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, "gpubtree mirror of built indexes", sizeof(worker.bgw_name));
	strlcpy(worker.bgw_type, "gpubtree built mirrors", sizeof(worker.bgw_type));
	memcpy(worker.bgw_extra, &committed, sizeof(committed));
	RegisterDynamicBackgroundWorker(&worker, NULL);
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			committed.n = 0;
			if (built.n > 0)
				look_at_built();
			break;
		case XACT_EVENT_COMMIT:
			if (committed.n > 0)
				start_worker();
			committed.n = 0;
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			built.n = 0;
			committed.n = 0;
			break;
		default:
			break;
	}
}

/* ---- the worker ---- */

/*
 * Mirror one index, unless it is gone, is not to be mirrored, or would take the place of a mirror
 * that queries use.
 */
static void
mirror_one(Oid oid)
{
	Relation	index;

	StartTransactionCommand();
	index = try_relation_open(oid, AccessShareLock);
	if (index != NULL)
	{
		if (index->rd_rel->relkind == RELKIND_INDEX && index->rd_indam->ambuild == gpb_build &&
			gpb_mirror_available() && gpb_mirror_has_room(index))
		{
			GpbLayout	layout = *gpb_layout(index);	/* the relcache may free its own */
			uint64		blocks;

			pgstat_report_activity(STATE_RUNNING, RelationGetRelationName(index));
			GPB_HOLD_SERVICE("built-mirror");
			(void) gpb_reader_fill(index, &layout, &blocks);
		}
		relation_close(index, AccessShareLock);
	}
	CommitTransactionCommand();
	pgstat_report_activity(STATE_IDLE, NULL);
}

/* The worker's main function. */
void
gpb_built_mirrors_main(Datum arg)
{
	GpbBuilt	list;
	uint32		i;

	memcpy(&list, MyBgworkerEntry->bgw_extra, sizeof(list));
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(list.database, InvalidOid, 0);
	for (i = 0; i < list.n; i++)
		mirror_one(list.index[i]);
	proc_exit(0);
}

/* ---- load time ---- */

void
gpb_watch_builds(void)
{
	DefineCustomIntVariable("gpubtree.min_built_mirror_size",
							"Smallest index that is mirrored at once when it was built.",
							"A background worker makes the mirror when the building transaction commits; -1: the first query that wants it does.",
							&min_size, 16 * 1024, -1, INT_MAX, PGC_USERSET,
							GUC_UNIT_KB, NULL, NULL, NULL);
	gpb_built_hook = note_built;
	RegisterXactCallback(at_transaction_end, NULL);
}
