/*-------------------------------------------------------------------------
 *
 * sort.cu
 *	  Sorts of a build's records, which lie in device memory; see device/record_sort.h.
 *
 * A piece is copied behind the records that came before.  From the last word of its records to the
 * first, the word is taken into the order so far, and CUB sorts the records' numbers by it:
 *
 *		number  ->  take_words  ->  sort  ->  number		and so for each word
 *
 * A merge has two kernels.  find_splits finds for each tile of the merged run how many numbers of
 * the earlier run are before it (the merge path of Odeh, Green and others).  In merge_runs a block
 * merges a tile in shared memory, where it has the first words of the tile's records: others are
 * loaded only for records whose first words are equal.
 *
 * A sort's work is submitted to its channel's stream, which orders it.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "device/record_sort.h"

#include "psa.cuh"

#define GPB_USUAL_PIECE		65536	/* records that a piece is expected to have */
#define GPB_RECORD_THREADS	256
#define GPB_MERGE_THREADS	256
#define GPB_MERGE_EACH		8		/* numbers that a thread merges */
#define GPB_MERGE_TILE		(GPB_MERGE_THREADS * GPB_MERGE_EACH)

/* A channel's sort */
struct GpbSortWork
{
	GpbSortFormat format;
	GpbSortedRuns runs;
	GpbBuffer	record;			/* in the order in which they came */
	GpbBuffer	number;			/* of records, in runs */
	GpbBuffer	spare;			/* as many numbers */
	GpbBuffer	words;			/* two of each record of a piece, or the records that are read */
	GpbBuffer	temporary;		/* CUB's */
	GpbBuffer	split;			/* of a merge */
	cudaEvent_t ended;			/* what was launched last has ended */
	bool		launched;		/* something is, and was not finished */
	bool		read;			/* nothing can be added any more */
	bool		failed;			/* records are lost */
};

/* ---- kernels ---- */

/* The records, as kernels see them */
struct GpbRecords
{
	const char *data;
	uint32		width;
	int			key_width;
};

/* The two runs of a merge */
struct GpbRunPair
{
	const uint32 *first;		/* came earlier */
	const uint32 *second;
	uint32		nfirst;
	uint32		nsecond;
};

static __device__ __forceinline__ const char *
record_at(const GpbRecords &records, uint32 number)
{
	return records.data + (size_t) number * records.width;
}

/* words[i] = word number "word" of record number[i], for n of them */
static __global__ void __launch_bounds__(GPB_RECORD_THREADS)
take_words(GpbRecords records, const uint32 *number, int word, uint64 *words, uint32 n)
{
	uint32		i = blockIdx.x * GPB_RECORD_THREADS + threadIdx.x;

	if (i < n)
		words[i] = gpb_record_word(record_at(records, number[i]), records.key_width, word);
}

/*
 * How many of the first "place" things in the merge of two runs are of the first run?
 * second_is_less(j, i) says that thing j of the second comes before thing i of the first.
 */
template <typename SecondIsLess>
static __device__ __forceinline__ uint32
find_split(uint32 place, uint32 nfirst, uint32 nsecond, const SecondIsLess &second_is_less)
{
	uint32		lo = place > nsecond ? place - nsecond : 0;
	uint32		hi = place < nfirst ? place : nfirst;

	while (lo < hi)
	{
		uint32		middle = lo + (hi - lo) / 2;

		if (second_is_less(place - 1 - middle, middle))
			hi = middle;
		else
			lo = middle + 1;
	}
	return lo;
}

/*
 * split[t] = how many numbers of the first run are before tile t of the merge of two runs, and the
 * last split, how many there are
 */
static __global__ void __launch_bounds__(GPB_RECORD_THREADS)
find_splits(GpbRecords records, GpbRunPair pair, uint32 *split, uint32 nsplits)
{
	uint32		t = blockIdx.x * GPB_RECORD_THREADS + threadIdx.x;
	uint32		n = pair.nfirst + pair.nsecond;
	uint32		place = t < nsplits - 1 ? t * GPB_MERGE_TILE : n;
	auto		second_is_less = [&](uint32 j, uint32 i)
	{
		return gpb_record_less(record_at(records, pair.second[j]),
							   record_at(records, pair.first[i]), records.key_width, 0);
	};

	if (t < nsplits)
		split[t] = find_split(place, pair.nfirst, pair.nsecond, second_is_less);
}

/* Merge tile blockIdx.x of two runs, whose splits were found. */
static __global__ void __launch_bounds__(GPB_MERGE_THREADS)
merge_runs(GpbRecords records, GpbRunPair pair, const uint32 *split, uint32 *merged)
{
	__shared__ uint64 head[GPB_MERGE_TILE];
	__shared__ uint32 number[GPB_MERGE_TILE];
	uint32		begin = blockIdx.x * GPB_MERGE_TILE;
	uint32		left = pair.nfirst + pair.nsecond - begin;
	uint32		n = left < GPB_MERGE_TILE ? left : GPB_MERGE_TILE;
	uint32		from_first = split[blockIdx.x];
	uint32		nfirst = split[blockIdx.x + 1] - from_first;
	uint32		nsecond = n - nfirst;
	uint32		from_second = begin - from_first;
	uint32		place = threadIdx.x * GPB_MERGE_EACH;
	uint32		taken[GPB_MERGE_EACH];

	/* those of the first run, and behind them those of the second */
	for (uint32 i = threadIdx.x; i < n; i += GPB_MERGE_THREADS)
	{
		number[i] = i < nfirst ? pair.first[from_first + i] :
			pair.second[from_second + i - nfirst];
		head[i] = gpb_record_word(record_at(records, number[i]), records.key_width, 0);
	}
	__syncthreads();

	auto		second_is_less = [&](uint32 j, uint32 i)
	{
		if (head[nfirst + j] != head[i])
			return head[nfirst + j] < head[i];
		return gpb_record_less(record_at(records, number[nfirst + j]),
							   record_at(records, number[i]), records.key_width, 1);
	};

	if (place < n)
	{
		uint32		i = find_split(place, nfirst, nsecond, second_is_less);
		uint32		j = place - i;

		for (uint32 k = 0; k < GPB_MERGE_EACH && place + k < n; k++)
		{
			bool		second = i == nfirst || (j < nsecond && second_is_less(j, i));

			taken[k] = number[second ? nfirst + j++ : i++];
		}
	}
	__syncthreads();
	for (uint32 k = 0; k < GPB_MERGE_EACH && place + k < n; k++)
		number[place + k] = taken[k];
	__syncthreads();
	for (uint32 i = threadIdx.x; i < n; i += GPB_MERGE_THREADS)
		merged[begin + i] = number[i];
}

/* Copy record number[i] to place i of "into", for all i; each thread copies 4 bytes of "total". */
static __global__ void __launch_bounds__(GPB_RECORD_THREADS)
gather(GpbRecords records, const uint32 *number, uint32 *into, uint32 total)
{
	uint32		at = blockIdx.x * GPB_RECORD_THREADS + threadIdx.x;
	uint32		words = records.width / sizeof(uint32);

	if (at < total)
		into[at] = ((const uint32 *) record_at(records, number[at / words]))[at % words];
}

static uint32
blocks_for(uint32 n, uint32 threads)
{
	return (uint32) (((uint64) n + threads - 1) / threads);
}

/* ---- memory ---- */

static GpbRecords
view(const GpbSortWork *work)
{
	GpbRecords	records;

	records.data = (const char *) work->record.data;
	records.width = work->format.width;
	records.key_width = work->format.key_width;
	return records;
}

static uint32
splits_of(uint64 n)
{
	return (uint32) ((n + GPB_MERGE_TILE - 1) / GPB_MERGE_TILE) + 1;
}

/*
 * Let the buffer have at least size bytes; its first "used" bytes stay.  A buffer that grows gets
 * twice what it had, or what it needs if there is no memory for that.
 */
static GpbDeviceStatus
grow(GpbDevice *device, cudaStream_t stream, GpbBuffer *buffer, size_t used, size_t size)
{
	GpbBuffer	larger;
	GpbDeviceStatus status;

	if (size <= buffer->size)
		return GPB_DEVICE_OK;
	larger.size = size > 2 * buffer->size ? size : 2 * buffer->size;
	status = gpb_device_alloc(device, larger.size, &larger.data);
	if (status == GPB_DEVICE_NO_MEMORY && larger.size > size)
	{
		larger.size = size;
		status = gpb_device_alloc(device, larger.size, &larger.data);
	}
	GPB_TRY(status);
	if (used > 0)
		status = gpb_check(device, cudaMemcpyAsync(larger.data, buffer->data, used,
												   cudaMemcpyDeviceToDevice, stream),
						   "moving records");
	if (status != GPB_DEVICE_OK)
	{
		gpb_buffer_free(device, &larger);
		return status;
	}
	gpb_buffer_free(device, buffer);
	*buffer = larger;
	return GPB_DEVICE_OK;
}

/* See that there is memory for "total" records, which come and go in pieces of up to n. */
static GpbDeviceStatus
reserve(GpbDevice *device, cudaStream_t stream, GpbSortWork *work, uint64 total, uint32 n)
{
	size_t		each = 2 * sizeof(uint64);

	if (each < (size_t) work->format.width)
		each = work->format.width;
	GPB_TRY(grow(device, stream, &work->record, work->runs.records * work->format.width,
				 total * work->format.width));
	GPB_TRY(grow(device, stream, &work->number, work->runs.records * sizeof(uint32),
				 total * sizeof(uint32)));
	GPB_TRY(grow(device, stream, &work->spare, 0, total * sizeof(uint32)));
	GPB_TRY(grow(device, stream, &work->split, 0, splits_of(total) * sizeof(uint32)));
	return gpb_buffer_reserve(device, &work->words, n * each);
}

/* ---- submitting ---- */

/* Submit the sort of n numbers by one of their records' words. */
static GpbDeviceStatus
sort_by(GpbDevice *device, cudaStream_t stream, GpbSortWork *work, int word,
		const uint32 *number, uint32 *sorted, uint32 n)
{
	uint64	   *words = (uint64 *) work->words.data;

	GPB_TRY(gpb_launch_on(device, stream, "take_words", blocks_for(n, GPB_RECORD_THREADS),
						  GPB_RECORD_THREADS, take_words, view(work), number, word, words, n));
	return gpb_sort_words(device, stream, &work->temporary, words, words + n, number, sorted, n,
						  gpb_record_word_bits(work->format.key_width, word));
}

/* Submit the merge of the last two runs. */
static GpbDeviceStatus
merge_last(GpbDevice *device, cudaStream_t stream, GpbSortWork *work)
{
	uint32		begin = gpb_sorted_runs_pair(&work->runs);
	uint32		n = (uint32) (work->runs.records - begin);
	uint32		nsplits = splits_of(n);
	uint32	   *number = (uint32 *) work->number.data + begin;
	uint32	   *split = (uint32 *) work->split.data;
	uint32	   *merged = (uint32 *) work->spare.data;
	GpbRunPair	pair;

	pair.nfirst = work->runs.length[work->runs.n - 2];
	pair.nsecond = n - pair.nfirst;
	pair.first = number;
	pair.second = number + pair.nfirst;
	GPB_TRY(gpb_launch_on(device, stream, "find_splits", blocks_for(nsplits, GPB_RECORD_THREADS),
						  GPB_RECORD_THREADS, find_splits, view(work), pair, split, nsplits));
	GPB_TRY(gpb_launch_on(device, stream, "merge_runs", nsplits - 1, GPB_MERGE_THREADS,
						  merge_runs, view(work), pair, (const uint32 *) split, merged));
	GPB_TRY(gpb_check(device, cudaMemcpyAsync(number, merged, n * sizeof(uint32),
											  cudaMemcpyDeviceToDevice, stream),
					  "copying a run"));
	gpb_sorted_runs_merged(&work->runs);
	return GPB_DEVICE_OK;
}

/* Submit the merges that are due; see gpb_sorted_runs_merge_due(). */
static GpbDeviceStatus
merge(GpbDevice *device, cudaStream_t stream, GpbSortWork *work, bool all)
{
	while (gpb_sorted_runs_merge_due(&work->runs, all))
		GPB_TRY(merge_last(device, stream, work));
	return GPB_DEVICE_OK;
}

/* Submit what sort_add launches. */
static GpbDeviceStatus
submit_add(GpbDevice *device, cudaStream_t stream, GpbSortWork *work, const void *records,
		   uint32 n)
{
	uint32		first = (uint32) work->runs.records;
	size_t		width = work->format.width;
	int			words = gpb_record_words(work->format.key_width);
	uint32	   *number[2];

	GPB_TRY(reserve(device, stream, work, first + (uint64) n, n));
	GPB_TRY(gpb_check(device, cudaMemcpyAsync((char *) work->record.data + first * width, records,
											  n * width, cudaMemcpyHostToDevice, stream),
					  "copying records"));
	/* the sort by the first word, which comes last, leaves its numbers in number[0] */
	number[0] = (uint32 *) work->number.data + first;
	number[1] = (uint32 *) work->spare.data + first;
	GPB_TRY(gpb_number_keys(device, stream, first, n, number[words % 2]));
	for (int w = words - 1; w >= 0; w--)
		GPB_TRY(sort_by(device, stream, work, w, number[(w + 1) % 2], number[w % 2], n));
	gpb_sorted_runs_add(&work->runs, n);
	return merge(device, stream, work, false);
}

/* Submit what sort_read launches. */
static GpbDeviceStatus
submit_read(GpbDevice *device, cudaStream_t stream, GpbSortWork *work, uint64 first, uint32 n,
			void *into)
{
	size_t		size = (size_t) n * work->format.width;
	uint32		total = (uint32) (size / sizeof(uint32));

	GPB_TRY(reserve(device, stream, work, work->runs.records, n));
	GPB_TRY(merge(device, stream, work, true));
	GPB_TRY(gpb_launch_on(device, stream, "gather", blocks_for(total, GPB_RECORD_THREADS),
						  GPB_RECORD_THREADS, gather, view(work),
						  (const uint32 *) work->number.data + first,
						  (uint32 *) work->words.data, total));
	return gpb_check(device, cudaMemcpyAsync(into, work->words.data, size,
											 cudaMemcpyDeviceToHost, stream),
					 "copying records");
}

/*
 * End a launch, of which something may have been submitted, with this outcome.  After a failure
 * that something is waited for, since the caller has its memory back.
 */
static GpbDeviceStatus
end_launch(GpbDevice *device, GpbChannel *channel, GpbDeviceStatus outcome)
{
	GpbSortWork *work = channel->sort;
	GpbDeviceStatus recorded = gpb_record(device, work->ended, channel->stream);

	if (outcome == GPB_DEVICE_OK)
		outcome = recorded;
	work->launched = outcome == GPB_DEVICE_OK;
	if (outcome == GPB_DEVICE_NO_MEMORY && recorded == GPB_DEVICE_OK)
		GPB_TRY_CUDA(device, cudaEventSynchronize(work->ended));
	return recorded == GPB_DEVICE_LOST ? recorded : outcome;
}

/* ---- the interface ---- */

GpbDeviceStatus
gpb_cuda_sort_begin(GpbDevice *device, int number, const GpbSortFormat *format, uint64 expected)
{
	GpbChannel *channel = &device->channel[number];
	GpbSortWork *work;
	GpbDeviceStatus status;

	GPB_ENTER(device);
	gpb_sort_free(device, channel);
	GPB_ENTER(device);			/* it may have been lost meanwhile */
	if (!gpb_sort_format_is_valid(format) || expected > GPB_SORT_MOST)
		return gpb_refuse(device, "not a sort that a device does");
	work = (GpbSortWork *) calloc(1, sizeof(GpbSortWork));
	if (work == NULL)
		return gpb_refuse(device, "out of memory");
	channel->sort = work;
	work->format = *format;
	status = gpb_check(device, cudaEventCreateWithFlags(&work->ended, cudaEventDisableTiming),
					   "making an event for a sort");
	if (status == GPB_DEVICE_OK && expected > 0)
		status = reserve(device, channel->stream, work, expected,
						 expected < GPB_USUAL_PIECE ? (uint32) expected : GPB_USUAL_PIECE);
	if (status != GPB_DEVICE_OK)
		gpb_sort_free(device, channel);
	return status;
}

GpbDeviceStatus
gpb_cuda_sort_add(GpbDevice *device, int number, const void *records, uint32 n)
{
	GpbChannel *channel = &device->channel[number];
	GpbSortWork *work = channel->sort;
	GpbDeviceStatus status;

	GPB_ENTER(device);
	if (work == NULL || work->failed)
		return gpb_refuse(device, "channel %d has no sort that goes on", number);
	if (n == 0 || n > GPB_SORT_PIECE || n > GPB_SORT_MOST - work->runs.records || work->read)
		status = gpb_refuse(device, "%u records cannot be added", n);
	else
		status = end_launch(device, channel,
							submit_add(device, channel->stream, work, records, n));
	work->failed = status != GPB_DEVICE_OK;
	return status;
}

GpbDeviceStatus
gpb_cuda_sort_read(GpbDevice *device, int number, uint64 first, uint32 n, void *into)
{
	GpbChannel *channel = &device->channel[number];
	GpbSortWork *work = channel->sort;

	GPB_ENTER(device);
	if (work == NULL || work->failed)
		return gpb_refuse(device, "channel %d has no sort that goes on", number);
	if (n == 0 || n > GPB_SORT_PIECE || first > work->runs.records ||
		n > work->runs.records - first)
		return gpb_refuse(device, "%u records from %llu on cannot be read", n,
						  (unsigned long long) first);
	work->read = true;
	return end_launch(device, channel,
					  submit_read(device, channel->stream, work, first, n, into));
}

GpbDeviceStatus
gpb_cuda_sort_finish(GpbDevice *device, int number)
{
	GpbSortWork *work = device->channel[number].sort;

	GPB_ENTER(device);
	if (work == NULL || !work->launched)
		return gpb_refuse(device, "channel %d has nothing of a sort to finish", number);
	work->launched = false;
	return gpb_check(device, cudaEventSynchronize(work->ended), "waiting for a sort");
}

void
gpb_cuda_sort_end(GpbDevice *device, int number)
{
	gpb_sort_free(device, &device->channel[number]);
}

void
gpb_sort_free(GpbDevice *device, GpbChannel *channel)
{
	GpbSortWork *work = channel->sort;

	if (work == NULL)
		return;
	if (work->launched && !device->lost)
		(void) gpb_check(device, cudaEventSynchronize(work->ended), "waiting for a sort");
	gpb_buffer_free(device, &work->record);
	gpb_buffer_free(device, &work->number);
	gpb_buffer_free(device, &work->spare);
	gpb_buffer_free(device, &work->words);
	gpb_buffer_free(device, &work->temporary);
	gpb_buffer_free(device, &work->split);
	if (work->ended != NULL)
		(void) cudaEventDestroy(work->ended);
	free(work);
	channel->sort = NULL;
}

cudaError_t
gpb_sort_query(const GpbChannel *channel)
{
	if (channel->sort == NULL || !channel->sort->launched)
		return cudaSuccess;
	return gpb_query(channel->sort->ended);
}
