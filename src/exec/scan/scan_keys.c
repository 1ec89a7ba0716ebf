/*-------------------------------------------------------------------------
 *
 * scan_keys.c
 *	  One row of each key, when a node runs.
 *
 * From one key to the next the tree is descended.  Core's scan of the index looks for a row of each
 * that the snapshot sees, so keys all of whose rows are gone do not come out.  The descents take no
 * predicate locks, so a serializable transaction locks the whole index (rule M8).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/index.h"
#include "exec/scan/scan_node.h"

struct GpbEachKey
{
	Relation	index;
	GpbLayout	layout;
	IndexScanDesc scan;			/* of one key at a time */
	TupleTableSlot *slot;
	MemoryContext value;		/* of the scan key's value, if that is not passed by value */
	RegProcedure equal;
	const GpbRange *ranges;		/* disjoint, in the order of the index */
	uint32		nranges;
	uint32		range;			/* the range at hand */
	GpbBound	next;			/* where the next key of it is looked for */
	uint64		rows;			/* rows handed out, for EXPLAIN */
};

GpbEachKey *
gpb_scan_keys_begin(Relation heap, Relation index, Snapshot snapshot)
{
	GpbEachKey *keys = palloc0(sizeof(GpbEachKey));
	Oid			type = index->rd_opcintype[0];

	keys->index = index;
	keys->layout = *gpb_layout(index);
	keys->equal = get_opcode(get_opfamily_member(index->rd_opfamily[0], type, type,
												 BTEqualStrategyNumber));
	PredicateLockRelation(index, snapshot);
	keys->scan = index_beginscan(heap, index, snapshot, 1, 0);
	keys->slot = table_slot_create(heap, NULL);
	keys->value = AllocSetContextCreate(CurrentMemoryContext, "gpubtree scan key",
										ALLOCSET_SMALL_SIZES);
	return keys;
}

void
gpb_scan_keys_start(GpbEachKey *keys, const GpbRange *ranges, uint32 n)
{
	keys->ranges = ranges;
	keys->nranges = n;
	keys->range = 0;
	if (n > 0)
		keys->next = ranges[0].lo;
}

/* Find the next key that has an entry, dead or not; false if there is none. */
static bool
find_key(GpbEachKey *keys, GpbBound *entry)
{
	GpbKey		most = gpb_key_most(keys->layout.key_width);

	while (keys->range < keys->nranges)
	{
		/* a condition may have a bound beyond all keys of the index's width */
		if (keys->next.key <= most &&
			gpb_first_entry(keys->index, &keys->layout, keys->next, entry) &&
			gpb_bound_less(*entry, keys->ranges[keys->range].hi))
			return true;
		keys->range++;
		if (keys->range < keys->nranges)
			keys->next = keys->ranges[keys->range].lo;
	}
	return false;
}

/* Begin to look for rows of the entry's key, and have the next key looked for behind it. */
static void
scan_key(GpbEachKey *keys, GpbBound entry)
{
	GpbKeyRange closed = {entry.key, entry.key};
	ScanKeyData key;

	if (gpb_locator_is_null(entry.tie, keys->layout.flags))
	{
		ScanKeyEntryInitialize(&key, SK_ISNULL | SK_SEARCHNULL, 1, InvalidStrategy, InvalidOid,
							   InvalidOid, InvalidOid, (Datum) 0);
		keys->next = gpb_range_null(&keys->layout).hi;
	}
	else
	{
		MemoryContext caller;

		MemoryContextReset(keys->value);
		caller = MemoryContextSwitchTo(keys->value);
		ScanKeyInit(&key, 1, BTEqualStrategyNumber, keys->equal,
					gpb_key_datum(&keys->layout, entry.key));
		MemoryContextSwitchTo(caller);
		keys->next = gpb_key_range(closed, keys->layout.flags).hi;
	}
	index_rescan(keys->scan, &key, 1, NULL, 0);
}

TupleTableSlot *
gpb_scan_keys_next(GpbEachKey *keys)
{
	GpbBound	entry;

	while (find_key(keys, &entry))
	{
		CHECK_FOR_INTERRUPTS();
		scan_key(keys, entry);
		if (index_getnext_slot(keys->scan, ForwardScanDirection, keys->slot))
		{
			keys->rows++;
			return keys->slot;
		}
	}
	return NULL;
}

uint64
gpb_scan_keys_rows(const GpbEachKey *keys)
{
	return keys->rows;
}

void
gpb_scan_keys_end(GpbEachKey *keys)
{
	ExecDropSingleTupleTableSlot(keys->slot);
	index_endscan(keys->scan);
	MemoryContextDelete(keys->value);
	pfree(keys);
}
