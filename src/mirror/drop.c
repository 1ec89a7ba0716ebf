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

/*
 * RelFileNodes to give up when the transaction commits; relNode 0 stands for all of the
 * database.  In TopTransactionContext.
 */
static List *gpb_dropped = NIL;

static void
gpb_note_drop(const RelFileNode *file)
{
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);
	RelFileNode *copy = palloc(sizeof(RelFileNode));

	*copy = *file;
	gpb_dropped = lappend(gpb_dropped, copy);
	MemoryContextSwitchTo(caller);
}

/* The relation's row is still there, and it is locked. */
static void
gpb_relation_dropped(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Form_pg_class class;
	RelFileNode file;

	if (!HeapTupleIsValid(tuple))
		return;
	class = (Form_pg_class) GETSTRUCT(tuple);
	file.spcNode = OidIsValid(class->reltablespace) ?
		class->reltablespace : MyDatabaseTableSpace;
	file.dbNode = MyDatabaseId;
	file.relNode = class->relfilenode;
	if (class->relkind == RELKIND_INDEX &&
		class->relpersistence != RELPERSISTENCE_TEMP &&
		gpb_mirror_find(&file) != GPB_NOT_MIRRORED)
		gpb_note_drop(&file);
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
	{
		RelFileNode file = {0, object, 0};

		gpb_note_drop(&file);
	}
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
				const RelFileNode *file = lfirst(lc);

				if (OidIsValid(file->relNode))
					gpb_registry_drop(file);
				else
					gpb_registry_drop_database(file->dbNode);
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
