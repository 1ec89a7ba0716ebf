/*-------------------------------------------------------------------------
 *
 * partial_values.c
 *	  Partial states that have each value and how often it occurs.
 *
 * Values that are equal are one: 0 and -0, all NaNs, and numerics that differ in how many digits
 * are shown, of which the most are kept.  Texts are equal where their bytes are.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "exec/partial/partial_internal.h"

/* A value and its count */
typedef struct GpbValueEntry
{
	GpbPartialValue value;
	int64		count;
	uint32		hash;
	char		status;			/* of the hash table */
} GpbValueEntry;

static inline uint32
hash_value(GpbPartialValue value)
{
	return hash_bytes(gpb_partial_value_bytes(&value), (int) value.length);
}

#define SH_PREFIX values
#define SH_ELEMENT_TYPE GpbValueEntry
#define SH_KEY_TYPE GpbPartialValue
#define SH_KEY value
#define SH_HASH_KEY(table, key) hash_value(key)
#define SH_EQUAL(table, a, b) (gpb_compare_bytes(&(a), &(b)) == 0)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry) ((entry)->hash)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct GpbPartialValues
{
	values_hash *table;
	int64		total;			/* of all counts */
	const GpbValueEntry **sorted;	/* by bytes, or NULL; as many as the table has */
};

#define GPB_FEW_VALUES	16

void
gpb_values_new(GpbPartial *partial)
{
	GpbPartialValues *values = palloc0(sizeof(GpbPartialValues));

	values->table = values_create(partial->context, GPB_FEW_VALUES, NULL);
	partial->values = values;
}

/*
 * Add a value, whose bytes are copied where they are elsewhere; the state's context must be the
 * current one.
 */
static void
add_entry(GpbPartialValues *values, const GpbPartialValue *value, int64 count)
{
	bool		found;
	GpbValueEntry *entry;

	values->total = gpb_add_counts(values->total, count);
	entry = values_insert(values->table, *value, &found);
	if (!found)
	{
		entry->count = 0;
		gpb_partial_keep(&entry->value);
	}
	entry->count += count;
	entry->value.scale = Max(entry->value.scale, value->scale);
	if (values->sorted != NULL)
	{
		pfree(values->sorted);
		values->sorted = NULL;
	}
}

void
gpb_partial_add_value(GpbPartial *partial, Datum datum, int64 count)
{
	MemoryContext caller = MemoryContextSwitchTo(partial->context);
	GpbPartialValue value;

	gpb_partial_encode(partial->type, datum, &value);
	add_entry(partial->values, &value, count);
	gpb_partial_free(&value);
	MemoryContextSwitchTo(caller);
}

void
gpb_values_merge(GpbPartial *into, GpbPartial *from)
{
	MemoryContext caller = MemoryContextSwitchTo(into->context);
	values_iterator at;
	GpbValueEntry *entry;

	values_start_iterate(from->values->table, &at);
	while ((entry = values_iterate(from->values->table, &at)) != NULL)
		add_entry(into->values, &entry->value, entry->count);
	MemoryContextSwitchTo(caller);
}

int64
gpb_values_count(const GpbPartial *partial)
{
	return partial->values->total;
}

uint64
gpb_partial_nvalues(const GpbPartial *partial)
{
	return partial->values->table->members;
}

/* ---- in order ---- */

static int
compare_entries(const void *a, const void *b)
{
	return gpb_compare_bytes(&(*(const GpbValueEntry *const *) a)->value,
							 &(*(const GpbValueEntry *const *) b)->value);
}

static void
sort_values(GpbPartial *partial)
{
	GpbPartialValues *values = partial->values;
	values_iterator at;
	GpbValueEntry *entry;
	uint64		n = 0;

	if (values->sorted != NULL)
		return;
	values->sorted = MemoryContextAllocHuge(partial->context,
											sizeof(GpbValueEntry *) *
											Max(values->table->members, 1));
	values_start_iterate(values->table, &at);
	while ((entry = values_iterate(values->table, &at)) != NULL)
		values->sorted[n++] = entry;
	qsort(values->sorted, n, sizeof(GpbValueEntry *), compare_entries);
}

Datum
gpb_partial_value(GpbPartial *partial, uint64 i, int64 *count)
{
	const GpbValueEntry *entry;

	sort_values(partial);
	entry = partial->values->sorted[i];
	*count = entry->count;
	return gpb_partial_datum(partial->type, &entry->value);
}

/* ---- bytes: the number of values; each, in the order of their bytes, with its count ---- */

void
gpb_values_put_all(StringInfo to, GpbPartial *partial)
{
	uint64		n = gpb_partial_nvalues(partial);

	sort_values(partial);
	gpb_put_count(to, (int64) n);
	for (uint64 i = 0; i < n; i++)
	{
		const GpbValueEntry *entry = partial->values->sorted[i];

		CHECK_FOR_INTERRUPTS();
		gpb_put_value(to, partial->type, &entry->value);
		gpb_put_count(to, entry->count);
	}
}

/* No memory is taken by what the number of values says, but by values that are there. */
void
gpb_values_take(GpbPartialReader *reader, GpbPartial *partial)
{
	MemoryContext caller = MemoryContextSwitchTo(partial->context);
	int64		n = gpb_take_count(reader);
	GpbPartialValue before;
	GpbPartialValue value;

	if (n == 0)
		gpb_partial_damaged("it has no values");
	for (int64 i = 0; i < n; i++)
	{
		int64		count;

		CHECK_FOR_INTERRUPTS();
		gpb_take_value(reader, partial->type, &value);
		count = gpb_take_count(reader);
		if (count == 0)
			gpb_partial_damaged("a value does not occur");
		if (i > 0)
		{
			if (gpb_compare_bytes(&before, &value) >= 0)
				gpb_partial_damaged("its values are out of order");
			gpb_partial_free(&before);
		}
		add_entry(partial->values, &value, count);
		before = value;
	}
	gpb_partial_free(&before);
	MemoryContextSwitchTo(caller);
}
