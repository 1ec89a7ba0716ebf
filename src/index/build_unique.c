/*-------------------------------------------------------------------------
 *
 * build_unique.c
 *	  Uniqueness in a build.
 *
 * Records come in index order, so those of equal rows follow each other.  Rows that are dead, but
 * that some snapshot may still see, need entries and are no duplicates.  nbtree sorts them apart
 * from the others; here their records have the dead hint, which no entry of a build has otherwise,
 * until they are loaded.
 *
 * Where several processes load the tree, each tells the duplicates of its share, and one those on
 * both sides of a seam, by what each share has at its ends.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/build.h"
#include "index/unique.h"

struct GpbUniqueLoad
{
	Relation	index;
	Relation	heap;
	const GpbLayout *layout;
	const GpbRecordOrder *order;
	GpbLoad    *load;
	bool		keys_are_same;	/* have equal values always the same key? */
	GpbUniqueEnds ends;			/* of what came */
	char	   *record;			/* one without its hint */
	MemoryContext context;		/* for the values of one record */
};

GpbUniqueLoad *
gpb_unique_load_begin(Relation heap, Relation index, const GpbLayout *layout,
					  const GpbRecordOrder *order, GpbLoad *load)
{
	GpbUniqueLoad *state = palloc(sizeof(GpbUniqueLoad));

	state->index = index;
	state->heap = heap;
	state->layout = layout;
	state->order = order;
	state->load = load;
	state->keys_are_same = gpb_equal_keys_are_same(layout);
	state->ends.is_empty = true;
	state->record = palloc(order->width);
	state->context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree unique build",
										   ALLOCSET_DEFAULT_SIZES);
	return state;
}

/* Raise ERRCODE_UNIQUE_VIOLATION if a record equals that of the live row before it. */
static void
require_unique(GpbUniqueLoad *state, const char *record)
{
	const GpbLayout *layout = state->layout;
	GpbKey		key = gpb_record_key(state->order, record);
	MemoryContext old = MemoryContextSwitchTo(state->context);
	Datum		values[GPB_MAX_KEYS];
	bool		isnull[GPB_MAX_KEYS];

	for (int c = 0; c < gpb_count_keys(layout); c++)
		values[c] = gpb_entry_datum(layout, key, record + state->order->key_width, c + 1,
									&isnull[c]);
	if (gpb_unique_binds(state->index, isnull))
	{
		GpbRange	equal = gpb_equal_range(state->index, layout, values, isnull, key);

		if (!gpb_bound_less(state->ends.last, equal.lo))
		{
			char	   *description = BuildIndexValueDescription(state->index, values, isnull);

			ereport(ERROR,
					(errcode(ERRCODE_UNIQUE_VIOLATION),
					 errmsg("could not create unique index \"%s\"",
							RelationGetRelationName(state->index)),
					 description != NULL ? errdetail("Key %s is duplicated.", description) :
					 errdetail("Duplicate keys exist."),
					 errtableconstraint(state->heap, RelationGetRelationName(state->index))));
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->context);
}

/*
 * A record of a live row has come.  The cheap test comes first: few records have the key of the one
 * before.
 */
static inline void
live_record(GpbUniqueLoad *state, const char *record)
{
	if (state->ends.is_empty)
	{
		state->ends.is_empty = false;
		memcpy(state->ends.first, record, state->order->width);
	}
	else if (!state->keys_are_same ||
			 gpb_record_key(state->order, record) == state->ends.last.key)
		require_unique(state, record);
	state->ends.last = gpb_record_bound(state->order, record);
}

void
gpb_unique_load_record(void *arg, const char *record)
{
	GpbUniqueLoad *state = arg;
	int			key_width = state->order->key_width;
	uint64		locator = gpb_row_locator(record + key_width);

	if ((locator & GPB_LOC_DEAD) != 0)
	{
		locator &= ~GPB_LOC_DEAD;
		memcpy(state->record, record, state->order->width);
		memcpy(state->record + key_width, &locator, sizeof(locator));
		gpb_load_record(state->load, state->record);
		return;
	}
	live_record(state, record);
	gpb_load_record(state->load, record);
}

const GpbUniqueEnds *
gpb_unique_load_ends(const GpbUniqueLoad *state)
{
	return &state->ends;
}

void
gpb_unique_load_share(GpbUniqueLoad *state, const GpbUniqueEnds *ends)
{
	if (ends->is_empty)
		return;
	live_record(state, ends->first);
	state->ends.last = ends->last;
}

void
gpb_unique_load_end(GpbUniqueLoad *state)
{
	MemoryContextDelete(state->context);
	pfree(state->record);
	pfree(state);
}

void
gpb_build_drain(GpbSorter *sorter, Relation heap, Relation index, bool is_unique,
				const GpbLayout *layout, const GpbRecordOrder *order, GpbLoad *load)
{
	if (is_unique)
	{
		GpbUniqueLoad *unique = gpb_unique_load_begin(heap, index, layout, order, load);

		gpb_sorter_drain(sorter, gpb_unique_load_record, unique);
		gpb_unique_load_end(unique);
	}
	else
		gpb_sorter_drain(sorter, gpb_load_record, load);
}
