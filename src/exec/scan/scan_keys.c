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

#include "miscadmin.h"
#include "storage/predicate.h"

#include "exec/scan/scan_node.h"
#include "exec/scan/scan_reader.h"
#include "index/index.h"

struct GpbEachKey
{
	Relation	index;
	GpbLayout	layout;
	GpbRangeReader *reader;		/* of one key at a time */
	const GpbRange *ranges;		/* disjoint, in the order of the index */
	uint32		nranges;
	uint32		range;			/* the range at hand */
	GpbBound	next;			/* where the next key of it is looked for */
};

GpbEachKey *
gpb_scan_keys_begin(Relation heap, Relation index, Snapshot snapshot)
{
	GpbEachKey *keys = palloc0(sizeof(GpbEachKey));

	keys->index = index;
	keys->layout = *gpb_layout(index);
	PredicateLockRelation(index, snapshot);
	keys->reader = gpb_reader_begin(heap, index, snapshot, false, false);
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
read_key(GpbEachKey *keys, GpbBound entry)
{
	int			flags = keys->layout.flags;
	GpbRange	range = gpb_key_range((GpbKeyRange) {entry.key, entry.key}, flags);

	if (gpb_locator_is_null(entry.tie, flags))
		range = gpb_range_null(&keys->layout);
	gpb_reader_start(keys->reader, range, ForwardScanDirection);
	keys->next = range.hi;
}

bool
gpb_scan_keys_next(GpbEachKey *keys)
{
	GpbBound	entry;

	while (find_key(keys, &entry))
	{
		CHECK_FOR_INTERRUPTS();
		read_key(keys, entry);
		if (gpb_reader_next(keys->reader))
			return true;
	}
	return false;
}

GpbRangeReader *
gpb_scan_keys_reader(GpbEachKey *keys)
{
	return keys->reader;
}
