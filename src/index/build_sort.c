/*-------------------------------------------------------------------------
 *
 * build_sort.c
 *	  Sorting records in memory, by the bits of their keys.
 *
 * Records come into chunks of a few kilobytes.  A set of records that is too large for the CPU's
 * cache is dealt out, by the next bits of a word, to up to 256 buckets, which are lists of chunks
 * too: a chunk that has been read is the next to be written, so dealing takes no second copy of the
 * set.  What fits the cache is sorted through items, a word and the record's address, first by as
 * many bits as leave a few items in each place, then by insertion.  A record is thus moved once or
 * twice, however wide it is.
 *
 * Both steps keep the order of records that are equal so far.  A table is read in the order of its
 * TIDs, nearly: where the keys are equal there is then nothing left to sort, and each set that is
 * found to be in order already is passed on as it is.  Therefore few distinct values cost less than
 * many, and ascending ones next to nothing.
 *
 * A device may sort the chunks while they come (build_device.c).  What it has not given back at the
 * end is sorted here.
 *
 *-------------------------------------------------------------------------
 */
#include "index/build_chunks.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "hold.h"

/* Buckets to which a set is dealt out */
#define MAX_BUCKETS				256
/* The least memory of a sort: for some chunks in each of the fewest buckets */
#define MIN_BUCKETS				16
#define MIN_SORT_BYTES			(4 * MIN_BUCKETS * MIN_CHUNK_BYTES)
/* Least and greatest size of a chunk, in bytes */
#define MIN_CHUNK_BYTES			2048
#define MAX_CHUNK_BYTES			65536
/* Sets up to this size are sorted through items: 16 bytes each, twice, beside the records */
#define MAX_ITEMS				16384
/* The most bits by which items are dealt out at once: the counts stay in the first cache */
#define MAX_ITEM_BITS			11
/* Up to so many items are sorted by insertion. */
#define MAX_INSERTION			16

/* A record, with the word of it by which items are being sorted */
typedef struct SortItem
{
	uint64		word;
	const char *record;
} SortItem;

struct GpbMemorySort
{
	GpbRecordOrder order;
	int			per_chunk;		/* records of a full chunk */
	int			nbuckets;
	int			chunks_left;	/* chunks that may still be allocated for records that come */
	MemoryContext context;		/* the chunks */
	GpbChunk   *free;
	GpbChunkList list;			/* what has come */
	GpbDeviceSort *device;		/* what the list is sorted by meanwhile, or NULL */
	SortItem   *items;
	SortItem   *other_items;

	GpbSink		sink;
	void	   *sink_state;
};

void
gpb_record_order(const GpbLayout *layout, GpbRecordOrder *order)
{
	memset(order, 0, sizeof(*order));
	order->key_width = layout->key_width;
	order->width = layout->key_width + layout->row_width;

	/* The bytes of a word may reach beyond a narrow key into the locator; the mask drops those. */
	for (int offset = Max(layout->key_width - 8, 0); offset >= 0; offset -= 8)
	{
		order->word[order->nwords].offset = offset;
		order->word[order->nwords].mask = layout->key_width < 8 ? PG_UINT32_MAX : PG_UINT64_MAX;
		order->nwords++;
	}
	order->word[order->nwords].offset = layout->key_width;
	order->word[order->nwords].mask = GPB_TIE_MASK;
	order->nwords++;
}

/* ---- chunks ---- */

static GpbChunk *
chunk_get(GpbMemorySort *sort)
{
	GpbChunk   *chunk = sort->free;

	if (chunk != NULL)
		sort->free = chunk->next;
	else
		chunk = MemoryContextAlloc(sort->context, offsetof(GpbChunk, records) +
								   (Size) sort->per_chunk * sort->order.width);
	chunk->next = NULL;
	chunk->count = 0;
	return chunk;
}

static inline void
chunk_free(GpbMemorySort *sort, GpbChunk *chunk)
{
	chunk->next = sort->free;
	sort->free = chunk;
}

/* Add an empty chunk to the end of a list. */
static void
chunks_extend(GpbMemorySort *sort, GpbChunkList *list)
{
	GpbChunk   *chunk = chunk_get(sort);

	if (list->tail == NULL)
		list->head = chunk;
	else
		list->tail->next = chunk;
	list->tail = chunk;
}

static inline void
chunks_clear(GpbChunkList *list)
{
	list->head = list->tail = NULL;
	list->count = 0;
}

static void
chunks_free(GpbMemorySort *sort, GpbChunkList *list)
{
	if (list->tail != NULL)
	{
		list->tail->next = sort->free;
		sort->free = list->head;
	}
	chunks_clear(list);
}

/* Give the records of a list to the sink as they lie there, and free their chunks. */
static void
chunks_emit(GpbMemorySort *sort, GpbChunkList *list)
{
	int			width = sort->order.width;

	for (GpbChunk *chunk = list->head; chunk != NULL; chunk = chunk->next)
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < chunk->count; i++)
			sort->sink(sort->sink_state, chunk->records + i * width);
	}
	chunks_free(sort, list);
}

/* ---- sorting items ---- */

/* Is item a before item b, whose words number "word" they hold? */
static inline bool
item_less(const GpbRecordOrder *order, const SortItem *a, const SortItem *b, int word)
{
	if (a->word != b->word)
		return a->word < b->word;
	return gpb_record_cmp(order, a->record, b->record, word + 1) < 0;
}

/* Sort n items by insertion, while copying them from one array to another, or within one. */
static inline void
items_insertion(const GpbRecordOrder *order, const SortItem *from, SortItem *to, int n, int word)
{
	for (int i = 0; i < n; i++)
	{
		SortItem	item = from[i];
		int			j = i;

		for (; j > 0 && item_less(order, &item, &to[j - 1], word); j--)
			to[j] = to[j - 1];
		to[j] = item;
	}
}

/* The number of bits to shift away so that differences up to "range" become "bits" bits. */
static inline int
shift_to(uint64 range, int bits)
{
	return range == 0 ? 0 : Max(pg_leftmost_one_pos64(range) + 1 - bits, 0);
}

/* Sort n items, which hold their records' words number "word".  other is as large as items. */
static void
items_sort(const GpbRecordOrder *order, SortItem *items, SortItem *other, int n, int word)
{
	uint16		end[1 << MAX_ITEM_BITS];
	uint64		least;
	uint64		greatest;
	bool		sorted;
	int			bits;
	int			shift;
	int			sum = 0;

	check_stack_depth();
	if (n <= MAX_INSERTION)
	{
		items_insertion(order, items, items, n, word);
		return;
	}

	for (;;)
	{
		least = greatest = items[0].word;
		sorted = true;
		for (int i = 1; i < n; i++)
		{
			least = Min(least, items[i].word);
			greatest = Max(greatest, items[i].word);
			sorted &= items[i - 1].word <= items[i].word;
		}
		if (sorted)
		{
			int			i = 1;

			while (i < n && !item_less(order, &items[i], &items[i - 1], word))
				i++;
			if (i == n)
				return;
		}
		if (least != greatest || word + 1 == order->nwords)
			break;
		word++;
		for (int i = 0; i < n; i++)
			items[i].word = gpb_record_word(order, items[i].record, word);
	}
	if (least == greatest)
		return;

	bits = Min(Max(pg_leftmost_one_pos32(n) - 2, 1), MAX_ITEM_BITS);
	shift = shift_to(greatest - least, bits);
	bits = (int) ((greatest - least) >> shift) + 1;
	memset(end, 0, bits * sizeof(end[0]));
	for (int i = 0; i < n; i++)
		end[(items[i].word - least) >> shift]++;
	for (int b = 0; b < bits; b++)
	{
		int			count = end[b];

		end[b] = sum;
		sum += count;
	}
	for (int i = 0; i < n; i++)
		other[end[(items[i].word - least) >> shift]++] = items[i];

	for (int b = 0, from = 0; b < bits; from = end[b], b++)
	{
		int			count = end[b] - from;

		if (count <= MAX_INSERTION)
			items_insertion(order, other + from, items + from, count, word);
		else
		{
			memcpy(items + from, other + from, count * sizeof(SortItem));
			items_sort(order, items + from, other + from, count, word);
		}
	}
}

/* Sort a list of at most MAX_ITEMS records that are equal before "word", and emit them. */
static void
small_sort(GpbMemorySort *sort, GpbChunkList *list, int word)
{
	const GpbRecordOrder *order = &sort->order;
	int			width = order->width;
	int			n = 0;

	CHECK_FOR_INTERRUPTS();
	GPB_HOLD(IsParallelWorker() ? "build-worker-sorts" : "build-leader-sorts");
	for (GpbChunk *chunk = list->head; chunk != NULL; chunk = chunk->next)
		for (int i = 0; i < chunk->count; i++, n++)
		{
			const char *record = chunk->records + i * width;

			sort->items[n].record = record;
			sort->items[n].word = gpb_record_word(order, record, word);
		}
	items_sort(order, sort->items, sort->other_items, n, word);
	for (int i = 0; i < n; i++)
		sort->sink(sort->sink_state, sort->items[i].record);
	chunks_free(sort, list);
}

/* ---- sorting lists ---- */

/*
 * Deal out the records of a list, which is empty afterwards, to buckets, by how far their words lie
 * above "least".  Inlined with each usual width, so that a record is copied by a few moves.
 */
static pg_attribute_always_inline void
deal_width(GpbMemorySort *sort, GpbChunkList *list, GpbChunkList *buckets, GpbSortWord word,
		   uint64 least, int shift, int width)
{
	int			per_chunk = sort->per_chunk;
	GpbChunk   *chunk = list->head;

	while (chunk != NULL)
	{
		GpbChunk   *next = chunk->next;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < chunk->count; i++)
		{
			const char *record = chunk->records + i * width;
			uint64		bits;
			GpbChunkList *bucket;

			memcpy(&bits, record + word.offset, sizeof(bits));
			bucket = &buckets[((bits & word.mask) - least) >> shift];
			if (bucket->tail == NULL || bucket->tail->count == per_chunk)
				chunks_extend(sort, bucket);
			memcpy(bucket->tail->records + bucket->tail->count * width, record, width);
			bucket->tail->count++;
			bucket->count++;
		}
		chunk_free(sort, chunk);
		chunk = next;
	}
	chunks_clear(list);
}

static void
deal(GpbMemorySort *sort, GpbChunkList *list, GpbChunkList *buckets, GpbSortWord word,
	 uint64 least, int shift)
{
	switch (sort->order.width)
	{
		case 12:
			deal_width(sort, list, buckets, word, least, shift, 12);
			break;
		case 16:
			deal_width(sort, list, buckets, word, least, shift, 16);
			break;
		case 20:
			deal_width(sort, list, buckets, word, least, shift, 20);
			break;
		case 24:
			deal_width(sort, list, buckets, word, least, shift, 24);
			break;
		case 28:
			deal_width(sort, list, buckets, word, least, shift, 28);
			break;
		case 32:
			deal_width(sort, list, buckets, word, least, shift, 32);
			break;
		default:
			deal_width(sort, list, buckets, word, least, shift, sort->order.width);
			break;
	}
}

/*
 * Look through a list whose records are equal before "word": set the least and greatest of their
 * words, and return whether all are in order.
 */
static bool
chunks_survey(GpbMemorySort *sort, const GpbChunkList *list, int word, uint64 *least,
			  uint64 *greatest)
{
	const GpbRecordOrder *order = &sort->order;
	const char *before = list->head->records;
	bool		sorted = true;

	*least = *greatest = gpb_record_word(order, before, word);
	for (GpbChunk *chunk = list->head; chunk != NULL; chunk = chunk->next)
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < chunk->count; i++)
		{
			const char *record = chunk->records + i * order->width;
			uint64		bits = gpb_record_word(order, record, word);

			*least = Min(*least, bits);
			*greatest = Max(*greatest, bits);
			if (sorted)
				sorted = gpb_record_cmp(order, before, record, word) <= 0;
			before = record;
		}
	}
	return sorted;
}

/* Sort a list of records that are equal before "word", emit them, and empty the list. */
static void
chunks_sort(GpbMemorySort *sort, GpbChunkList *list, int word)
{
	GpbChunkList buckets[MAX_BUCKETS];
	uint64		least;
	uint64		greatest;
	int			shift;

	check_stack_depth();
	if (list->count <= MAX_ITEMS)
	{
		small_sort(sort, list, word);
		return;
	}
	while (true)
	{
		if (chunks_survey(sort, list, word, &least, &greatest))
		{
			chunks_emit(sort, list);
			return;
		}
		if (least != greatest)
			break;
		word++;
	}

	shift = shift_to(greatest - least, pg_leftmost_one_pos32(sort->nbuckets));
	memset(buckets, 0, sizeof(buckets));
	deal(sort, list, buckets, sort->order.word[word], least, shift);
	for (int b = 0; b < lengthof(buckets); b++)
		if (buckets[b].count > 0)
			chunks_sort(sort, &buckets[b], word);
}

/* ---- the sort as a whole ---- */

GpbMemorySort *
gpb_memory_sort_begin(const GpbRecordOrder *order, Size bytes, uint64 expected)
{
	GpbMemorySort *sort = palloc0(sizeof(GpbMemorySort));
	Size		chunk;
	Size		chunks;

	bytes = Max(bytes, MIN_SORT_BYTES);
	chunk = Min(Max(bytes / 4096, MIN_CHUNK_BYTES), MAX_CHUNK_BYTES);
	sort->order = *order;
	sort->context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree sort",
										  ALLOCSET_DEFAULT_SIZES);
	sort->per_chunk = (chunk - offsetof(GpbChunk, records)) / order->width;

	/* Items, and the chunks that dealing leaves partly filled, are of this memory too. */
	chunks = (bytes - Min(2 * MAX_ITEMS * sizeof(SortItem), bytes / 2)) / chunk;
	sort->nbuckets = MAX_BUCKETS;
	while (sort->nbuckets > MIN_BUCKETS && sort->nbuckets > chunks / 8)
		sort->nbuckets /= 2;
	sort->chunks_left = (int) Min(chunks - sort->nbuckets, INT_MAX);
	if (expected > 0)
		sort->device = gpb_device_sort_begin(order,
											 Min(expected,
												 (uint64) sort->chunks_left * sort->per_chunk));
	return sort;
}

char *
gpb_memory_sort_place(GpbMemorySort *sort)
{
	GpbChunk   *chunk = sort->list.tail;

	if (chunk == NULL || chunk->count == sort->per_chunk)
	{
		if (sort->device != NULL)
			gpb_device_sort_feed(sort->device, &sort->list);
		if (sort->chunks_left == 0)
			return NULL;
		sort->chunks_left--;
		chunks_extend(sort, &sort->list);
		chunk = sort->list.tail;
	}
	return chunk->records + chunk->count * sort->order.width;
}

void
gpb_memory_sort_add(GpbMemorySort *sort)
{
	sort->list.tail->count++;
	sort->list.count++;
}

uint64
gpb_memory_sort_count(const GpbMemorySort *sort)
{
	return sort->list.count;
}

/* What comes after the records that a sink has had already */
typedef struct Rest
{
	const GpbMemorySort *sort;
	uint64		had;			/* records still to be passed over */
	uint64		sum;			/* checksum of those that were */
	GpbSink		sink;
	void	   *state;
} Rest;

/* A GpbSink: pass over a record, or give it to the rest's sink. */
static void
rest_put(void *state, const char *record)
{
	Rest	   *rest = (Rest *) state;

	if (rest->had == 0)
	{
		rest->sink(rest->state, record);
		return;
	}
	rest->sum += gpb_record_sum(&rest->sort->order, record);
	if (--rest->had == 0)
		gpb_device_sort_verify(rest->sort->device, rest->sum);
}

/* Sort the records that have come, and give them to the sink, but for the first "had" in order. */
static void
sort_list(GpbMemorySort *sort, uint64 had, GpbSink sink, void *state)
{
	Rest		rest = {sort, had, 0, sink, state};

	if (sort->items == NULL)
	{
		sort->items = palloc(2 * MAX_ITEMS * sizeof(SortItem));
		sort->other_items = sort->items + MAX_ITEMS;
	}
	sort->sink = had > 0 ? rest_put : sink;
	sort->sink_state = had > 0 ? &rest : state;
	chunks_sort(sort, &sort->list, 0);
}

void
gpb_memory_sort_drain(GpbMemorySort *sort, GpbSink sink, void *state)
{
	uint64		had = 0;

	for (GpbChunk *chunk = sort->list.head; chunk != NULL; chunk = chunk->next)
		sort->chunks_left++;
	if (sort->device != NULL)
		had = gpb_device_sort_drain(sort->device, &sort->list, sink, state);
	if (had < sort->list.count)
		sort_list(sort, had, sink, state);
	else
		chunks_free(sort, &sort->list);
}

void
gpb_memory_sort_end(GpbMemorySort *sort)
{
	if (sort->device != NULL)
		gpb_device_sort_end(sort->device);
	MemoryContextDelete(sort->context);
	if (sort->items != NULL)
		pfree(sort->items);
	pfree(sort);
}
