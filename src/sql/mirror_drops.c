/*-------------------------------------------------------------------------
 *
 * mirror_drops.c
 *	  Gives up the mirrors and shared dictionaries of files and databases that are dropped.
 *
 * This frees memory; exactness does not need it, since nobody finds the mirror of
 * a file that is gone (rule M1).
 *
 * A file goes when the transaction commits that dropped or replaced it, or when the transaction or
 * subtransaction ends in an abort that made it: which may have been mirrored meanwhile, by itself
 * alone.  PostgreSQL keeps the list of these files (smgrGetPendingDeletes), and it is read while
 * the locks are still held, so nobody attaches again.
 *
 * Once a transaction is prepared, no code of ours runs in its end.  So its PREPARE gives up the
 * mirrors of the files that go if it commits and of those that go if it is rolled back.  Nobody
 * else can use either until then: the former are locked, and nobody sees the latter.  Those that
 * stay are mirrored anew on demand.
 *
 * On a standby no code of ours runs when a drop is replayed.  So who drops an index logs, before it
 * commits, a record whose redo gives up the mirror of its file there, as that of a build does.  The
 * standby has the index locked against everybody until it has replayed the commit, so nobody
 * attaches again; if the transaction is aborted after all, the standby mirrors the index anew on
 * demand.
 *
 * What is not noticed stays until its memory or slot is needed: on a standby, a dropped database,
 * and the former file of an index that has got another one (an aborted transaction's files have no
 * mirror there, since nobody there has seen them).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/amapi.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "index/dictionary.h"
#include "index/index.h"
#include "mirror/mark.h"
#include "mirror/mirror.h"
#include "sql/sql.h"

static object_access_hook_type previous_object_access_hook = NULL;

/*
 * Files of our permanent indexes (RelFileNode *) that a DROP was about, in TopMemoryContext.  They
 * go when this transaction commits, or a later one of the statement, as in DROP INDEX CONCURRENTLY.
 */
static List *dropped_files = NIL;

/* OIDs of databases that go when the transaction commits; in TopTransactionContext */
static List *dropped_databases = NIL;

/* ---- what is dropped ---- */

static void
note_database(Oid database)
{
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);

	dropped_databases = lappend_oid(dropped_databases, database);
	MemoryContextSwitchTo(caller);
}

/* Is the access method ours?  Those of PostgreSQL itself, which most indexes have, are not. */
static bool
is_our_method(Oid method)
{
	const IndexAmRoutine *routine;

	if (method < FirstNormalObjectId)
		return false;
	routine = GetIndexAmRoutineByAmId(method, true);
	return routine != NULL && routine->ambuild == gpb_build;
}

/* Note the file of a relation that is to be dropped, if it is a permanent index of ours. */
static void
note_relation(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Form_pg_class class;

	if (!HeapTupleIsValid(tuple))
		return;
	class = (Form_pg_class) GETSTRUCT(tuple);
	if (class->relkind == RELKIND_INDEX && class->relpersistence == RELPERSISTENCE_PERMANENT &&
		is_our_method(class->relam))
	{
		MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
		RelFileNode *file = palloc(sizeof(RelFileNode));

		file->spcNode = OidIsValid(class->reltablespace) ? class->reltablespace :
			MyDatabaseTableSpace;
		file->dbNode = MyDatabaseId;
		file->relNode = class->relfilenode;
		dropped_files = lappend(dropped_files, file);
		MemoryContextSwitchTo(caller);
	}
	ReleaseSysCache(tuple);
}

static void
note_drop(ObjectAccessType access, Oid class, Oid object, int column, void *arg)
{
	if (previous_object_access_hook)
		previous_object_access_hook(access, class, object, column, arg);
	if (access != OAT_DROP)
		return;
	if (class == DatabaseRelationId)
		note_database(object);
	else if (class == RelationRelationId && column == 0)
		note_relation(object);
}

/* ---- databases ---- */

static void
drop_databases(void)
{
	ListCell   *lc;

	foreach(lc, dropped_databases)
	{
		gpb_mirror_drop_database(lfirst_oid(lc));
		gpb_dictionary_drop_database(lfirst_oid(lc));
	}
}

/* ---- files ---- */

/*
 * Give up what is shared of the files that go with the current transaction or subtransaction: if it
 * commits, or if it aborts.  Called where an error would be fatal; what it allocates, the list,
 * PostgreSQL allocates itself at the same places.
 */
static void
drop_files(bool commit)
{
	RelFileNode *files;
	int			n;
	int			i;

	if (!gpb_mirror_was_used() && !gpb_dictionary_was_shared())
		return;
	n = smgrGetPendingDeletes(commit, &files);
	for (i = 0; i < n; i++)
	{
		gpb_mirror_forget(&files[i]);
		gpb_dictionary_drop_file(&files[i]);
	}
	if (files != NULL)
		pfree(files);
}

/* Is the file among these n ones? */
static bool
is_among(const RelFileNode *file, const RelFileNode *files, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (RelFileNodeEquals(*file, files[i]))
			return true;
	}
	return false;
}

/*
 * Log that files go, for standbys, if the transaction commits.  Those that it leaves stay on the
 * list.
 */
static void
log_dropped_files(void)
{
	RelFileNode *files = NULL;
	ListCell   *lc;
	int			n;

	if (dropped_files == NIL)
		return;
	n = smgrGetPendingDeletes(true, &files);
	foreach(lc, dropped_files)
	{
		RelFileNode *file = lfirst(lc);

		if (!is_among(file, files, n))
			continue;
		if (XLogStandbyInfoActive())
			gpb_xlog_log_forget_file(file);
		dropped_files = foreach_delete_current(dropped_files, lc);
		pfree(file);
	}
	if (files != NULL)
		pfree(files);
}

/* ---- ends of transactions ---- */

static void
at_transaction_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			log_dropped_files();
			return;
		case XACT_EVENT_COMMIT:
			drop_files(true);
			drop_databases();
			break;
		case XACT_EVENT_ABORT:
			drop_files(false);
			list_free_deep(dropped_files);
			dropped_files = NIL;
			break;
		case XACT_EVENT_PREPARE:
			drop_files(true);
			drop_files(false);
			break;
		default:
			return;
	}
	dropped_databases = NIL;
}

/*
 * At the abort of a subtransaction: what it made goes.  What it dropped is decided when its parents
 * end.
 */
static void
at_subtransaction_end(SubXactEvent event, SubTransactionId sub, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		drop_files(false);
}

void
gpb_watch_drops(void)
{
	previous_object_access_hook = object_access_hook;
	object_access_hook = note_drop;
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
}
