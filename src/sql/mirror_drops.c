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
 * What is not noticed stays until its memory or slot is needed: a drop by WAL replay (an aborted
 * transaction's files have no mirror on a standby, since nobody there has seen them).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_database.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/dictionary.h"
#include "mirror/mark.h"
#include "mirror/mirror.h"
#include "sql/sql.h"

static object_access_hook_type previous_object_access_hook = NULL;

/* OIDs of databases that go when the transaction commits; in TopTransactionContext */
static List *dropped_databases = NIL;

/* ---- databases ---- */

static void
note_dropped_database(ObjectAccessType access, Oid class, Oid object, int column, void *arg)
{
	MemoryContext caller;

	if (previous_object_access_hook)
		previous_object_access_hook(access, class, object, column, arg);
	if (access != OAT_DROP || class != DatabaseRelationId)
		return;
	caller = MemoryContextSwitchTo(TopTransactionContext);
	dropped_databases = lappend_oid(dropped_databases, object);
	MemoryContextSwitchTo(caller);
}

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

/* ---- ends of transactions ---- */

static void
at_transaction_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
			drop_files(true);
			drop_databases();
			break;
		case XACT_EVENT_ABORT:
			drop_files(false);
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
	object_access_hook = note_dropped_database;
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
}
