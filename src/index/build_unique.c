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
	bool		is_first;		/* has no record of a live row come yet? */
	GpbBound	last;			/* of the last live row */
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
	state->is_first = true;
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

		if (!gpb_bound_less(state->last, equal.lo))
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

/* The cheap test comes first: few records have the key of the one before. */
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
	if (!state->is_first &&
		(!state->keys_are_same || gpb_record_key(state->order, record) == state->last.key))
		require_unique(state, record);
	state->is_first = false;
	state->last = gpb_record_bound(state->order, record);
	gpb_load_record(state->load, record);
}

void
gpb_unique_load_end(GpbUniqueLoad *state)
{
	MemoryContextDelete(state->context);
	pfree(state->record);
	pfree(state);
}
