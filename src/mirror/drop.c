/*-------------------------------------------------------------------------
 *
 * drop.c
 *	  Gives up the mirrors of indexes and databases that are dropped.
 *
 * This frees memory; exactness does not need it, since nobody finds the mirror of
 * a file that is gone (rule M1).  So it may be wrong in either direction: a drop that is rolled
 * back to a savepoint costs a mirror that is then made anew, and what is not noticed (a drop by
 * COMMIT PREPARED or by WAL replay; a session that uses an index once more while it is dropped
 * concurrently) stays until its memory or slot is needed.
 *
 *-------------------------------------------------------------------------
 */
#include "shared.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

static object_access_hook_type previous_object_access_hook = NULL;

/* What is dropped: an index, or a whole database (index 0) */
typedef struct GpbDropped
{
	Oid			database;
	Oid			index;
} GpbDropped;

/* To be given up when the transaction commits; in TopTransactionContext */
static List *gpb_dropped = NIL;

static void
gpb_note_drop(Oid database, Oid index)
{
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);
	GpbDropped *dropped = palloc(sizeof(GpbDropped));

	dropped->database = database;
	dropped->index = index;
	gpb_dropped = lappend(gpb_dropped, dropped);
	MemoryContextSwitchTo(caller);
}

/*
 * The relation's row is still there, and it is locked.  Mirrors go by the index, not by
 * its file: there may be one of a file that it had before.
 */
static void
gpb_relation_dropped(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Form_pg_class class;

	if (!HeapTupleIsValid(tuple))
		return;
	class = (Form_pg_class) GETSTRUCT(tuple);
	if (class->relkind == RELKIND_INDEX &&
		class->relpersistence != RELPERSISTENCE_TEMP &&
		gpb_registry_has_index(MyDatabaseId, relation))
		gpb_note_drop(MyDatabaseId, relation);
	ReleaseSysCache(tuple);
}

static void
gpb_object_access(ObjectAccessType access, Oid class, Oid object, int column, void *arg)
{
	if (previous_object_access_hook)
		previous_object_access_hook(access, class, object, column, arg);
	if (access != OAT_DROP || column != 0)
		return;
	if (class == RelationRelationId)
		gpb_relation_dropped(object);
	else if (class == DatabaseRelationId)
		gpb_note_drop(object, InvalidOid);
}

/* At commit the locks are still held: nobody has attached again. */
static void
gpb_drops_at_end(XactEvent event, void *arg)
{
	ListCell   *lc;

	switch (event)
	{
		case XACT_EVENT_COMMIT:
			foreach(lc, gpb_dropped)
			{
				const GpbDropped *dropped = lfirst(lc);

				if (OidIsValid(dropped->index))
					gpb_registry_drop_index(dropped->database, dropped->index);
				else
					gpb_registry_drop_database(dropped->database);
			}
			gpb_dropped = NIL;
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			gpb_dropped = NIL;
			break;
		default:
			break;
	}
}

void
gpb_mirror_watch_drops(void)
{
	previous_object_access_hook = object_access_hook;
	object_access_hook = gpb_object_access;
	RegisterXactCallback(gpb_drops_at_end, NULL);
}
