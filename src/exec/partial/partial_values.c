/*-------------------------------------------------------------------------
 *
 * partial_values.c
 *	  Partial states that have each value and how often it occurs.
 *
 * Values that are equal are one: 0 and -0, all NaNs, and numerics that differ in how many digits
 * are shown, of which the most are kept.  Texts are equal where their bytes are.
 *
 * Values that come one by one are in a hash table.  Those of other states come in order, and mostly
 * are there already: they are sought from where the one before was found.  What is new of a state
 * is a run of its own, and runs are merged so that each has at least twice as many values as the
 * next one: so a value is moved as often as the logarithm of their number says.
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
} GpbValueEntry;

/* The same in the hash table */
typedef struct GpbHashedValue
{
	GpbPartialValue value;
	int64		count;
	uint32		hash;
	char		status;
} GpbHashedValue;

static inline uint32
hash_value(GpbPartialValue value)
{
	return hash_bytes(gpb_partial_value_bytes(&value), (int) value.length);
}

#define SH_PREFIX values
#define SH_ELEMENT_TYPE GpbHashedValue
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

/* Values in the order of their bytes, each once */
typedef struct GpbValueRun
{
	GpbValueEntry *entries;
	uint64		n;
	uint64		size;			/* for how many there is room */
} GpbValueRun;

/* Each run has twice as many values as the next one, so memory is full before there are as many. */
#define GPB_VALUE_RUNS	40

struct GpbPartialValues
{
	int64		total;			/* of all counts */
	values_hash *table;			/* values that came one by one, or NULL */
	int			nruns;
	GpbValueRun runs[GPB_VALUE_RUNS];
};

#define GPB_FEW_VALUES	16

void
gpb_values_new(GpbPartial *partial)
{
	partial->values = palloc0(sizeof(GpbPartialValues));
}

static inline void
add_count(GpbPartialValue *into, int64 *count, const GpbPartialValue *value, int64 more)
{
	*count += more;
	into->scale = Max(into->scale, value->scale);
}

void
gpb_partial_add_value(GpbPartial *partial, Datum datum, int64 count)
{
	GpbPartialValues *values = partial->values;
	MemoryContext caller = MemoryContextSwitchTo(partial->context);
	GpbPartialValue value;
	bool		found;
	GpbHashedValue *entry;

	if (values->table == NULL)
		values->table = values_create(partial->context, GPB_FEW_VALUES, NULL);
	gpb_partial_encode(partial->type, datum, &value);
	values->total = gpb_add_counts(values->total, count);
	entry = values_insert(values->table, value, &found);
	if (found)
		gpb_partial_free(&value);
	else
		entry->count = 0;
	add_count(&entry->value, &entry->count, &value, count);
	MemoryContextSwitchTo(caller);
}

int64
gpb_values_count(const GpbPartial *partial)
{
	return partial->values->total;
}

/* ---- runs; the state's context is the current one ---- */

/* Room for another entry of the run */
static inline GpbValueEntry *
next_entry(GpbValueRun *run)
{
	if (unlikely(run->n == run->size))
	{
		run->size = Max(2 * run->size, GPB_FEW_VALUES);
		if (run->entries == NULL)
			run->entries = palloc(sizeof(GpbValueEntry) * run->size);
		else
			run->entries = repalloc_huge(run->entries, sizeof(GpbValueEntry) * run->size);
	}
	return &run->entries[run->n++];
}

/* Merge run b into a; the memory of both is that of the outcome, or freed. */
static void
merge_runs(GpbValueRun *a, const GpbValueRun *b)
{
	GpbValueRun both = {.size = a->n + b->n};
	const GpbValueEntry *x = a->entries;
	const GpbValueEntry *y = b->entries;

	both.entries = MemoryContextAllocHuge(CurrentMemoryContext,
										  sizeof(GpbValueEntry) * both.size);
	while (x < a->entries + a->n && y < b->entries + b->n)
	{
		int			order = gpb_compare_bytes(&x->value, &y->value);
		GpbValueEntry *entry = &both.entries[both.n++];

		CHECK_FOR_INTERRUPTS();
		*entry = order > 0 ? *y++ : *x++;
		if (order == 0)
		{
			add_count(&entry->value, &entry->count, &y->value, y->count);
			gpb_partial_free(unconstify(GpbPartialValue *, &y->value));
			y++;
		}
	}
	memcpy(both.entries + both.n, x, sizeof(*x) * (a->entries + a->n - x));
	both.n += a->entries + a->n - x;
	memcpy(both.entries + both.n, y, sizeof(*y) * (b->entries + b->n - y));
	both.n += b->entries + b->n - y;
	pfree(a->entries);
	pfree(b->entries);
	*a = both;
}

/* Add a run, which may be empty, to the state's, and merge those that are not twice the next. */
static void
push_run(GpbPartialValues *values, const GpbValueRun *run)
{
	GpbValueRun *runs = values->runs;

	if (run->n == 0)
		return;
	runs[values->nruns++] = *run;
	for (; values->nruns > 1 &&
		 runs[values->nruns - 2].n < 2 * runs[values->nruns - 1].n; values->nruns--)
		merge_runs(&runs[values->nruns - 2], &runs[values->nruns - 1]);
}

/*
 * The place of a value in a run, looked for from place "from" on, as in ever wider steps: the first
 * entry that is not below it; *found: is it equal?
 */
static inline uint64
find_place(const GpbValueRun *run, uint64 from, const GpbPartialValue *value, bool *found)
{
	uint64		low = from;		/* all before it are below the value */
	uint64		high = from;	/* the one there is not below it, or there is none */
	int			order = 1;

	for (uint64 step = 1; high < run->n; step *= 2)
	{
		order = gpb_compare_bytes(&run->entries[high].value, value);
		if (order >= 0)
			break;
		low = high + 1;
		high = Min(low + step, run->n);
	}
	while (order != 0 && low < high)
	{
		uint64		middle = low + (high - low) / 2;

		order = gpb_compare_bytes(&run->entries[middle].value, value);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*found = order == 0;
	return high;
}

/* Values of another state, which come in order */
typedef struct GpbValuesInOrder
{
	GpbPartialValues *into;
	uint64		place;			/* in the first run, behind the value before */
	GpbValueRun rest;			/* those that are not in it */
} GpbValuesInOrder;

/*
 * Take the next value, whose bytes become the state's, or are freed; the total does not change.
 * Returns where the value is, until the next one is taken.
 */
static const GpbPartialValue *
take_next(GpbValuesInOrder *in_order, GpbPartialValue *value, int64 count)
{
	GpbValueRun *first = &in_order->into->runs[0];
	bool		found;
	GpbValueEntry *entry;

	in_order->place = find_place(first, in_order->place, value, &found);
	if (found)
	{
		entry = &first->entries[in_order->place++];
		add_count(&entry->value, &entry->count, value, count);
		gpb_partial_free(value);
	}
	else
	{
		entry = next_entry(&in_order->rest);
		*entry = (GpbValueEntry) {*value, count};
	}
	return &entry->value;
}

/* ---- all values in order ---- */

static int
compare_entries(const void *a, const void *b)
{
	return gpb_compare_bytes(&((const GpbValueEntry *) a)->value,
							 &((const GpbValueEntry *) b)->value);
}

/* All values in one run, which is that of the outcome */
static const GpbValueRun *
sort_values(GpbPartial *partial)
{
	GpbPartialValues *values = partial->values;
	MemoryContext caller = MemoryContextSwitchTo(partial->context);

	if (values->table != NULL)
	{
		GpbValueRun run = {0};
		values_iterator at;
		GpbHashedValue *entry;

		values_start_iterate(values->table, &at);
		while ((entry = values_iterate(values->table, &at)) != NULL)
			*next_entry(&run) = (GpbValueEntry) {entry->value, entry->count};
		values_destroy(values->table);
		values->table = NULL;
		qsort(run.entries, run.n, sizeof(GpbValueEntry), compare_entries);
		push_run(values, &run);
	}
	for (; values->nruns > 1; values->nruns--)
		merge_runs(&values->runs[values->nruns - 2], &values->runs[values->nruns - 1]);
	MemoryContextSwitchTo(caller);
	return &values->runs[0];
}

uint64
gpb_partial_nvalues(GpbPartial *partial)
{
	return sort_values(partial)->n;
}

Datum
gpb_partial_value(GpbPartial *partial, uint64 i, int64 *count)
{
	const GpbValueEntry *entry = &sort_values(partial)->entries[i];

	*count = entry->count;
	return gpb_partial_datum(partial->type, &entry->value);
}

void
gpb_values_merge(GpbPartial *into, GpbPartial *from)
{
	const GpbValueRun *run = sort_values(from);
	MemoryContext caller = MemoryContextSwitchTo(into->context);
	GpbValuesInOrder in_order = {.into = into->values};

	for (uint64 i = 0; i < run->n; i++)
	{
		GpbPartialValue value = run->entries[i].value;

		CHECK_FOR_INTERRUPTS();
		gpb_partial_keep(&value);
		(void) take_next(&in_order, &value, run->entries[i].count);
	}
	push_run(into->values, &in_order.rest);
	into->values->total = gpb_add_counts(into->values->total, from->values->total);
	MemoryContextSwitchTo(caller);
}

/* ---- bytes: the number of values; each, in the order of their bytes, with its count ---- */

void
gpb_values_put_all(StringInfo to, GpbPartial *partial)
{
	const GpbValueRun *run = sort_values(partial);

	gpb_put_count(to, (int64) run->n);
	for (uint64 i = 0; i < run->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		gpb_put_value(to, partial->type, &run->entries[i].value);
		gpb_put_count(to, run->entries[i].count);
	}
}

/* Are two pieces of memory of a value's length the same? */
static inline bool
same_bytes(const uint8 *a, const uint8 *b, int length)
{
	/* comparisons of a constant number of bytes are loads */
	if (length == sizeof(uint32))
		return memcmp(a, b, sizeof(uint32)) == 0;
	return length == sizeof(uint64) ? memcmp(a, b, sizeof(uint64)) == 0 :
		memcmp(a, b, length) == 0;
}

/*
 * Take the next value if it is the one that the first run has at the place.  It is one of the type
 * then, and above the value before.
 */
static inline GpbValueEntry *
take_expected(GpbPartialReader *reader, const GpbPartialType *type, GpbValuesInOrder *in_order)
{
	const GpbValueRun *first = &in_order->into->runs[0];
	uint64		place = in_order->place;

	if (type->length < 0 || place >= first->n || reader->end - reader->at < type->length ||
		!same_bytes(reader->at, first->entries[place].value.bytes.here, type->length))
		return NULL;
	reader->at += type->length;
	in_order->place++;
	return &first->entries[place];
}

static int64
take_occurrences(GpbPartialReader *reader, GpbPartialValues *values)
{
	int64		count = gpb_take_count(reader);

	if (count == 0)
		gpb_partial_damaged("a value does not occur");
	values->total = gpb_add_counts(values->total, count);
	return count;
}

/* No memory is taken by what the number of values says, but by values that are there. */
void
gpb_values_take(GpbPartialReader *reader, GpbPartial *partial)
{
	MemoryContext caller = MemoryContextSwitchTo(partial->context);
	GpbPartialValues *values = partial->values;
	GpbValuesInOrder in_order = {.into = values};
	int64		n = gpb_take_count(reader);
	const GpbPartialValue *before = NULL;

	if (n == 0)
		gpb_partial_damaged("it has no values");
	for (int64 i = 0; i < n; i++)
	{
		GpbValueEntry *entry = take_expected(reader, partial->type, &in_order);
		GpbPartialValue value;

		CHECK_FOR_INTERRUPTS();
		if (entry != NULL)
		{
			entry->count += take_occurrences(reader, values);
			before = &entry->value;
			continue;
		}
		gpb_take_value(reader, partial->type, &value);
		if (before != NULL && gpb_compare_bytes(before, &value) >= 0)
			gpb_partial_damaged("its values are out of order");
		before = take_next(&in_order, &value, take_occurrences(reader, values));
	}
	push_run(values, &in_order.rest);
	MemoryContextSwitchTo(caller);
}
