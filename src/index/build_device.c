/*-------------------------------------------------------------------------
 *
 * build_device.c
 *	  A sort in memory whose records a device sorts meanwhile.
 *
 * While the table is read, full chunks are copied to staging, a piece at a time, and the device
 * sorts each piece as it comes and merges what it has.  At the end the records come back in order,
 * through the same staging, half of which is filled while the other half is read.
 *
 * The records stay in the backend's memory all the while, in the chunks where they came.  So
 * whatever becomes of the device, nothing is lost: the CPU sorts the chunks, and passes over as
 * many records as the device had given back.  That is sound because the order of records is total
 * but for equal ones, which both sorts leave in the order in which they came.
 *
 * A page with a wrong entry would stay, as no answer to a query does.  So what comes back is
 * compared with what was sent: the records must ascend, and their checksums must add up to the
 * same.  Where the device failed before all came, they are compared with the records that the CPU
 * passes over.
 *
 * Feeding never waits, as a scan of the table has a pin then: while the device has a piece, chunks
 * wait for the next look.
 *
 *-------------------------------------------------------------------------
 */
#include "index/build_chunks.h"

#include "miscadmin.h"

#include "hold.h"

const GpbSortDevice *gpb_sort_device = NULL;

/* Staging of a sort */
#define STAGING_BYTES	((Size) 1024 * 1024)
/* Records that are looked at to see whether a device is worth asking */
#define SAMPLED			256
/* Up to so many distinct keys among them, the CPU's sort costs little. */
#define FEW_DISTINCT	(SAMPLED / 4)

int			gpb_piece_records = GPB_SORT_PIECE;

struct GpbDeviceSort
{
	GpbRecordOrder order;
	uint64		expected;
	struct GpbRequest *request; /* NULL until the device is asked for the first time */
	bool		failed;			/* the CPU has to do it */
	bool		pending;		/* something was submitted, and not waited for */
	char	   *staging;
	Size		staging_size;
	const GpbChunk *sent_last;	/* the last chunk that was sent; NULL: none was */
	uint64		sent;			/* records sent */
	uint64		looked;			/* records that it was found not to be worth it for */
	const GpbChunk *looked_last;	/* the last chunk of these; NULL: there are none */
	uint64		sum;			/* checksum of the records sent */
	uint64		given_sum;		/* of those that came back at the last drain */
};

GpbDeviceSort *
gpb_device_sort_begin(const GpbRecordOrder *order, uint64 expected)
{
	GpbDeviceSort *sort;

	if (gpb_sort_device == NULL || expected > GPB_SORT_MOST || !gpb_sort_device->available())
		return NULL;
	sort = palloc0(sizeof(GpbDeviceSort));
	sort->order = *order;
	sort->expected = expected;
	return sort;
}

/* Do without the device, for good.  What it has is freed. */
static void
give_up(GpbDeviceSort *sort)
{
	if (sort->request != NULL)
		gpb_sort_device->end(sort->request);
	sort->request = NULL;
	sort->pending = false;
	sort->failed = true;
}

/* Wait for what was submitted, if anything was.  Returns false if the device has failed. */
static bool
await_answer(GpbDeviceSort *sort)
{
	if (sort->pending && !gpb_sort_device->wait(sort->request))
		give_up(sort);
	sort->pending = false;
	return !sort->failed;
}

/* ---- whether it is worth it ---- */

/* A qsort_arg() comparison of two addresses of records, by their keys */
static int
compare_keys(const void *a, const void *b, void *order)
{
	return gpb_record_cmp((const GpbRecordOrder *) order, *(const char *const *) a,
						  *(const char *const *) b, 0);
}

/* The first chunk that was not sent yet; NULL if there is none */
static const GpbChunk *
first_unsent(const GpbDeviceSort *sort, const GpbChunkList *list)
{
	return sort->sent_last == NULL ? list->head : sort->sent_last->next;
}

/*
 * Are n records, from a chunk on, worth a device's sort?  The CPU sorts what is nearly in order, or
 * has few distinct keys, in about the time that it takes to copy them there and back.
 */
static bool
is_worth_it(const GpbRecordOrder *order, const GpbChunk *chunk, uint64 n)
{
	GpbRecordOrder by_key = *order;
	const char *records[SAMPLED];
	uint64		every = n / SAMPLED;
	uint64		next = 0;
	uint64		before = 0;
	int			sampled = 0;
	int			distinct = 1;
	bool		ascend = true;

	if (every == 0)
		return false;
	by_key.nwords--;
	for (; sampled < SAMPLED && chunk != NULL; chunk = chunk->next)
	{
		for (; sampled < SAMPLED && next < before + chunk->count; next += every)
			records[sampled++] = chunk->records + (next - before) * order->width;
		before += chunk->count;
	}
	for (int i = 1; i < sampled; i++)
		ascend &= gpb_record_cmp(&by_key, records[i - 1], records[i], 0) <= 0;
	if (ascend)
		return false;
	qsort_arg(records, sampled, sizeof(records[0]), compare_keys, &by_key);
	for (int i = 1; i < sampled; i++)
		distinct += gpb_record_cmp(&by_key, records[i - 1], records[i], 0) != 0;
	return distinct > FEW_DISTINCT;
}

/* ---- checksums ---- */

/*
 * The sum of the checksums of n records, whatever their order is.  The last step makes the highest
 * bits of the last word, which one multiplication moves nowhere, change others by what the record
 * has beside: the same bit lost in two records must not cancel out.
 */
static pg_attribute_always_inline uint64
sum_records_width(const char *records, uint32 n, int width)
{
	uint64		sum = 0;

	for (uint32 i = 0; i < n; i++, records += width)
	{
		uint64		hash = 0;
		int			at = 0;

		for (; at + 8 <= width; at += 8)
		{
			uint64		bits;

			memcpy(&bits, records + at, sizeof(bits));
			hash = (hash ^ bits) * UINT64CONST(0x9E3779B97F4A7C15);
			hash ^= hash >> 32;
		}
		if (at < width)
		{
			uint32		bits;

			memcpy(&bits, records + at, sizeof(bits));
			hash = (hash ^ bits) * UINT64CONST(0x9E3779B97F4A7C15);
			hash ^= hash >> 32;
		}
		hash *= UINT64CONST(0xD6E8FEB86659FD93);
		sum += hash ^ hash >> 29;
	}
	return sum;
}

static uint64
sum_records(const char *records, uint32 n, int width)
{
	switch (width)
	{
		case 12:
			return sum_records_width(records, n, 12);
		case 16:
			return sum_records_width(records, n, 16);
		case 24:
			return sum_records_width(records, n, 24);
		default:
			return sum_records_width(records, n, width);
	}
}

uint64
gpb_record_sum(const GpbRecordOrder *order, const char *record)
{
	return sum_records(record, 1, order->width);
}

/* The device gives back something else than it was given; how much of it went on is not known. */
static void
wrong_records(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the device gave back other records than it was given to sort"),
			 errhint("Set gpubtree.device_sort to off and build the index again.")));
}

/* ---- giving records to the device ---- */

/* How many records a piece has, where chunks have per_chunk: whole chunks */
static uint64
piece_records(const GpbDeviceSort *sort, uint64 per_chunk)
{
	Size		bytes = sort->request != NULL ? sort->staging_size : STAGING_BYTES;
	uint64		most = Min(bytes / sort->order.width, gpb_piece_records);

	return Max(most / per_chunk, 1) * per_chunk;
}

/* Begin to ask the device, if that is worth it for the records that were not looked at yet. */
static bool
begin_request(GpbDeviceSort *sort, const GpbChunkList *list)
{
	const GpbChunk *chunk = sort->looked_last == NULL ? list->head : sort->looked_last->next;

	if (!is_worth_it(&sort->order, chunk, list->count - sort->looked))
	{
		sort->looked = list->count;
		sort->looked_last = list->tail;
		return false;
	}
	sort->request = gpb_sort_device->begin(STAGING_BYTES);
	if (sort->request == NULL)
	{
		sort->failed = true;
		return false;
	}
	sort->staging = gpb_sort_device->staging(sort->request, &sort->staging_size);
	return true;
}

/* Send as many chunks as a piece of "most" records has, at least one. */
static void
send_piece(GpbDeviceSort *sort, const GpbChunkList *list, uint64 most)
{
	GpbSortFormat format = {sort->order.key_width, sort->order.width};
	uint32		n = 0;

	for (const GpbChunk *chunk = first_unsent(sort, list);
		 chunk != NULL && (n == 0 || n + chunk->count <= most); chunk = chunk->next)
	{
		memcpy(sort->staging + (Size) n * sort->order.width, chunk->records,
			   (Size) chunk->count * sort->order.width);
		sort->sum += sum_records(chunk->records, chunk->count, sort->order.width);
		n += chunk->count;
		sort->sent_last = chunk;
	}
	GPB_HOLD("build-piece-copied");
	sort->pending = sort->sent == 0 ?
		gpb_sort_device->submit_first(sort->request, &format, Max(sort->expected, n), n) :
		gpb_sort_device->submit(sort->request, n);
	GPB_HOLD("build-piece-submitted");
	sort->sent += n;
	if (!sort->pending)
		give_up(sort);
}

void
gpb_device_sort_feed(GpbDeviceSort *sort, const GpbChunkList *list)
{
	uint64		unsent = list->count - sort->sent;
	uint64		piece;

	if (sort->failed || list->head == NULL)
		return;
	if (sort->pending && !gpb_sort_device->answered(sort->request))
		return;
	piece = piece_records(sort, list->head->count);
	if (unsent < piece || !await_answer(sort))
		return;
	if (sort->request == NULL &&
		(list->count - sort->looked < piece || !begin_request(sort, list)))
		return;
	send_piece(sort, list, piece_records(sort, list->head->count));
}

/* ---- taking them back ---- */

/* Give n records to the sink.  *last is the record before them, or has none; it gets the last. */
static void
sink_records(const GpbRecordOrder *order, const char *records, uint32 n, char *last, bool has_last,
			 GpbSink sink, void *state)
{
	const char *before = has_last ? last : records;

	for (uint32 i = 0; i < n; i++, records += order->width)
	{
		if (unlikely(gpb_record_cmp(order, before, records, 0) > 0))
			wrong_records();
		sink(state, records);
		before = records;
	}
	memcpy(last, before, order->width);
}

/* Do to records, two at least, what a test wants a device to have done wrong. */
static void
damage(const GpbRecordOrder *order, char *records)
{
	char		first[GPB_WIDE_KEY + GPB_MAX_ROW_WIDTH];
	char	   *second = records + order->width;

	memcpy(first, records, order->width);
	if (GPB_HOLD_WANTED("build-damaged-record"))
		records[0] ^= 1;
	if (GPB_HOLD_WANTED("build-damaged-flags"))
	{
		second[-1] ^= 0x80;
		second[order->width - 1] ^= 0x80;
	}
	if (GPB_HOLD_WANTED("build-repeated-record") || GPB_HOLD_WANTED("build-swapped-records"))
		memcpy(records, second, order->width);
	if (GPB_HOLD_WANTED("build-swapped-records"))
		memcpy(second, first, order->width);
}

/* Ask for records from number "first" on, as many as half of staging holds.  Was that accepted? */
static bool
ask_for(GpbDeviceSort *sort, uint64 first, int half)
{
	Size		half_size = sort->staging_size / 2;
	uint64		n = Min(sort->sent - first, half_size / sort->order.width);

	sort->pending = gpb_sort_device->submit_read(sort->request, first, (uint32) n,
												 half * half_size);
	return sort->pending;
}

/* Give all records, which the device has, to the sink.  Returns how many came. */
static uint64
read_back(GpbDeviceSort *sort, GpbSink sink, void *state)
{
	const GpbRecordOrder *order = &sort->order;
	Size		half_size = sort->staging_size / 2;
	uint32		most = (uint32) (half_size / order->width);
	char	   *last = palloc(order->width);
	uint64		sum = 0;
	uint64		first = 0;
	bool		asked = ask_for(sort, 0, 0);

	for (int half = 0; first < sort->sent; half = 1 - half)
	{
		char	   *records = sort->staging + half * half_size;
		uint32		n = (uint32) Min(sort->sent - first, most);

		CHECK_FOR_INTERRUPTS();
		GPB_HOLD("build-reads-back");
		GPB_HOLD("build-damaged-record");
		if (!asked)
			give_up(sort);		/* not before what it gave has been read from staging */
		if (!await_answer(sort))
			break;
		if (first + n < sort->sent)
			asked = ask_for(sort, first + n, 1 - half);
		damage(order, records);
		sum += sum_records(records, n, order->width);
		sink_records(order, records, n, last, first > 0, sink, state);
		first += n;
	}
	pfree(last);
	if (first == sort->sent && sum != sort->sum)
		wrong_records();
	sort->given_sum = sum;
	return first;
}

uint64
gpb_device_sort_drain(GpbDeviceSort *sort, const GpbChunkList *list, GpbSink sink, void *state)
{
	uint64		done = 0;

	if (sort->request != NULL && list->count > 0)
	{
		/* If none of this list was sent yet, it may have become one that is not worth it. */
		bool		wanted = sort->sent > 0 ||
			is_worth_it(&sort->order, list->head, list->count);

		while (wanted && await_answer(sort) && sort->sent < list->count)
		{
			CHECK_FOR_INTERRUPTS();
			send_piece(sort, list, piece_records(sort, list->head->count));
		}
		if (wanted && !sort->failed)
			done = read_back(sort, sink, state);
	}
	sort->sent_last = NULL;
	sort->sent = 0;
	sort->looked = 0;
	sort->looked_last = NULL;
	sort->sum = 0;
	return done;
}

void
gpb_device_sort_verify(const GpbDeviceSort *sort, uint64 sum)
{
	if (sum != sort->given_sum)
		wrong_records();
}

void
gpb_device_sort_end(GpbDeviceSort *sort)
{
	if (sort->request != NULL)
		gpb_sort_device->end(sort->request);
	pfree(sort);
}
