/*-------------------------------------------------------------------------
 *
 * host_sort.c
 *	  The host device's sorts of records; see device/record_sort.h.
 *
 * A launch makes room and takes the request down; poll does a step of it, at most
 * GPB_HOST_SORT_STEP records, and finish does what is left.
 *
 *	 sort_add:	TAKE -> (COUNT -> MOVE) for each digit of each word -> (MERGE -> RETURN) if due
 *	 sort_read:	(MERGE -> RETURN) until there is one run -> GIVE
 *
 * The sort of a piece's numbers is a radix sort, from the lowest digit of the last word up to the
 * highest of the first.  It keeps the order of records whose digits are equal.
 *
 *-------------------------------------------------------------------------
 */
#include "device/host/host_device.h"
#include "device/record_sort.h"

#define GPB_HOST_SORT_STEP		65536	/* most records that a step handles */
#define GPB_SEGMENT_RECORDS		4096
#define GPB_SORT_DIGIT_BITS		11
#define GPB_SORT_DIGITS			(1 << GPB_SORT_DIGIT_BITS)

typedef enum GpbHostSortPhase
{
	GPB_SORT_ENDED = 0,			/* nothing is to be done */
	GPB_SORT_TAKE,				/* copy the records from where they are given */
	GPB_SORT_COUNT,				/* count how many records have each digit */
	GPB_SORT_MOVE,				/* move each number to where those of its digit go */
	GPB_SORT_MERGE,				/* merge the last two runs in the spare array */
	GPB_SORT_RETURN,			/* copy them back */
	GPB_SORT_GIVE				/* copy records to where they are wanted */
} GpbHostSortPhase;

/* A channel's sort */
typedef struct GpbHostSort
{
	GpbSortFormat format;
	GpbSortedRuns runs;
	GpbHostBuffer segments;		/* char *: GPB_SEGMENT_RECORDS records each, as they came */
	GpbHostBuffer numbers[2];	/* uint32, of records: the runs, and the spare array */
	bool		launched;		/* something is, and was not finished */
	bool		read;			/* nothing can be added any more */
	bool		failed;			/* records are lost */

	/* What was launched last */
	GpbHostSortPhase phase;
	uint32		at;				/* how far the phase has come */
	const char *source;			/* of sort_add */
	char	   *into;			/* of sort_read */
	uint32		first;			/* record or place that the piece or what is read begins at */
	uint32		n;
	int			word;			/* of the digit that is sorted by */
	int			shift;
	int			sorted;			/* which of numbers[] has the piece's, in the order so far */
	uint32		taken;			/* of the earlier run, by MERGE */
	uint32		start[GPB_SORT_DIGITS];
} GpbHostSort;

/* ---- memory ---- */

static char *
record_at(const GpbHostSort *sort, uint32 number)
{
	char	  **segments = (char **) sort->segments.data;

	return segments[number / GPB_SEGMENT_RECORDS] +
		(uint64) (number % GPB_SEGMENT_RECORDS) * sort->format.width;
}

static uint64
segment_bytes(const GpbHostSort *sort)
{
	return (uint64) GPB_SEGMENT_RECORDS * sort->format.width;
}

/* The numbers of records from place "first" on, in one of the two arrays */
static uint32 *
numbers_at(const GpbHostSort *sort, int which, uint32 first)
{
	return (uint32 *) sort->numbers[which].data + first;
}

/* See that there is memory for so many records in all. */
static GpbDeviceStatus
reserve(GpbDevice *device, GpbHostSort *sort, uint64 total)
{
	uint64		nsegments = (total + GPB_SEGMENT_RECORDS - 1) / GPB_SEGMENT_RECORDS;

	sort->numbers[0].used = sort->runs.records * sizeof(uint32);
	if (gpb_host_reserve(device, &sort->segments, nsegments * sizeof(char *)) != GPB_DEVICE_OK ||
		gpb_host_reserve(device, &sort->numbers[0], total * sizeof(uint32)) != GPB_DEVICE_OK ||
		gpb_host_reserve(device, &sort->numbers[1], total * sizeof(uint32)) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	while (sort->segments.used < nsegments * sizeof(char *))
	{
		char	   *segment = gpb_host_alloc(device, segment_bytes(sort));

		if (segment == NULL)
			return GPB_DEVICE_NO_MEMORY;
		((char **) sort->segments.data)[sort->segments.used / sizeof(char *)] = segment;
		sort->segments.used += sizeof(char *);
	}
	return GPB_DEVICE_OK;
}

void
gpb_host_sort_free(GpbDevice *device, GpbHostChannel *channel)
{
	GpbHostSort *sort = channel->sort;
	uint64		i;

	if (sort == NULL)
		return;
	for (i = 0; i < sort->segments.used / sizeof(char *); i++)
		gpb_host_free(device, ((char **) sort->segments.data)[i], segment_bytes(sort));
	gpb_host_free(device, sort->segments.data, sort->segments.size);
	for (i = 0; i < 2; i++)
		gpb_host_free(device, sort->numbers[i].data, sort->numbers[i].size);
	gpb_host_free(device, sort, sizeof(GpbHostSort));
	channel->sort = NULL;
}

/* ---- phases ---- */

static void
enter(GpbHostSort *sort, GpbHostSortPhase phase)
{
	sort->phase = phase;
	sort->at = 0;
}

/* Go on when all numbers are in runs: to a merge that is due, to what is read, or to the end. */
static void
next_merge(GpbHostSort *sort)
{
	sort->taken = 0;
	if (gpb_sorted_runs_merge_due(&sort->runs, sort->read))
		enter(sort, GPB_SORT_MERGE);
	else
		enter(sort, sort->read ? GPB_SORT_GIVE : GPB_SORT_ENDED);
}

/* Go on to the digit from bit "shift" of the word on, to the word before, or to merges. */
static void
next_digit(GpbHostSort *sort, int shift)
{
	if (shift >= gpb_record_word_bits(sort->format.key_width, sort->word))
	{
		if (sort->word == 0)
		{
			gpb_sorted_runs_add(&sort->runs, sort->n);
			next_merge(sort);
			return;
		}
		sort->word--;
		shift = 0;
	}
	sort->shift = shift;
	memset(sort->start, 0, sizeof(sort->start));
	enter(sort, GPB_SORT_COUNT);
}

static uint32
digit_of(const GpbHostSort *sort, uint32 number)
{
	uint64		word = gpb_record_word(record_at(sort, number), sort->format.key_width,
									   sort->word);

	return (uint32) (word >> sort->shift) % GPB_SORT_DIGITS;
}

/* Is the number of digits by which a piece is sorted odd? */
static int
odd_digits(const GpbHostSort *sort)
{
	int			digits = 0;
	int			word;

	for (word = 0; word < gpb_record_words(sort->format.key_width); word++)
		digits += (gpb_record_word_bits(sort->format.key_width, word) +
				   GPB_SORT_DIGIT_BITS - 1) / GPB_SORT_DIGIT_BITS;
	return digits % 2;
}

/*
 * Phase TAKE, up to record "end" of the piece: copy the records, and number them where the last
 * digit's move, the last of so many, leaves them in the first array.
 */
static void
take_records(GpbHostSort *sort, uint32 end)
{
	uint32	   *number = numbers_at(sort, sort->sorted, sort->first);
	int			width = sort->format.width;

	for (; sort->at < end; sort->at++)
	{
		memcpy(record_at(sort, sort->first + sort->at),
			   sort->source + (uint64) sort->at * width, width);
		number[sort->at] = sort->first + sort->at;
	}
	if (end < sort->n)
		return;
	sort->word = gpb_record_words(sort->format.key_width) - 1;
	next_digit(sort, 0);
}

/*
 * Phase COUNT, up to record "end" of the piece: count the records that have each digit.  After the
 * last compute where those of each digit begin.
 */
static void
count_digits(GpbHostSort *sort, uint32 end)
{
	const uint32 *number = numbers_at(sort, sort->sorted, sort->first);
	uint32		sum = 0;
	int			digit;

	for (; sort->at < end; sort->at++)
		sort->start[digit_of(sort, number[sort->at])]++;
	if (end < sort->n)
		return;
	for (digit = 0; digit < GPB_SORT_DIGITS; digit++)
	{
		uint32		count = sort->start[digit];

		sort->start[digit] = sum;
		sum += count;
	}
	enter(sort, GPB_SORT_MOVE);
}

/*
 * Phase MOVE, up to record "end" of the piece: move each number to where those of its digit go, in
 * the other array.  After the last go on to the next digit.
 */
static void
move_numbers(GpbHostSort *sort, uint32 end)
{
	const uint32 *number = numbers_at(sort, sort->sorted, sort->first);
	uint32	   *moved = numbers_at(sort, 1 - sort->sorted, sort->first);

	for (; sort->at < end; sort->at++)
		moved[sort->start[digit_of(sort, number[sort->at])]++] = number[sort->at];
	if (end < sort->n)
		return;
	sort->sorted = 1 - sort->sorted;
	next_digit(sort, sort->shift + GPB_SORT_DIGIT_BITS);
}

/* Phase MERGE, up to place "end" of the run that the last two make */
static void
merge_runs(GpbHostSort *sort, uint32 end)
{
	uint32		begin = gpb_sorted_runs_pair(&sort->runs);
	uint32		nfirst = sort->runs.length[sort->runs.n - 2];
	uint32		n = (uint32) sort->runs.records - begin;
	const uint32 *first = numbers_at(sort, 0, begin);
	const uint32 *second = first + nfirst;
	uint32	   *merged = numbers_at(sort, 1, begin);

	for (; sort->at < end; sort->at++)
	{
		uint32		i = sort->taken;
		uint32		j = sort->at - i;

		if (i == nfirst ||
			(j < n - nfirst && gpb_record_less(record_at(sort, second[j]),
											   record_at(sort, first[i]),
											   sort->format.key_width, 0)))
			merged[sort->at] = second[j];
		else
		{
			merged[sort->at] = first[i];
			sort->taken++;
		}
	}
	if (end == n)
		enter(sort, GPB_SORT_RETURN);
}

/* Phase RETURN, up to place "end" of the run that was merged; then the two runs are one. */
static void
return_run(GpbHostSort *sort, uint32 end)
{
	uint32		begin = gpb_sorted_runs_pair(&sort->runs);

	memcpy(numbers_at(sort, 0, begin + sort->at), numbers_at(sort, 1, begin + sort->at),
		   (end - sort->at) * sizeof(uint32));
	sort->at = end;
	if (end < sort->runs.records - begin)
		return;
	gpb_sorted_runs_merged(&sort->runs);
	next_merge(sort);
}

/* Phase GIVE, up to record "end" of those that are read */
static void
give_records(GpbHostSort *sort, uint32 end)
{
	int			width = sort->format.width;

	for (; sort->at < end; sort->at++)
		memcpy(sort->into + (uint64) sort->at * width,
			   record_at(sort, *numbers_at(sort, 0, sort->first + sort->at)), width);
	if (end == sort->n)
		sort->phase = GPB_SORT_ENDED;
}

/* Do one step of the phase at hand. */
static void
step(GpbHostSort *sort)
{
	bool		merging = sort->phase == GPB_SORT_MERGE || sort->phase == GPB_SORT_RETURN;
	uint64		n = merging ? sort->runs.records - gpb_sorted_runs_pair(&sort->runs) : sort->n;
	uint32		end = (uint32) Min(n, (uint64) sort->at + GPB_HOST_SORT_STEP);

	switch (sort->phase)
	{
		case GPB_SORT_TAKE:
			take_records(sort, end);
			break;
		case GPB_SORT_COUNT:
			count_digits(sort, end);
			break;
		case GPB_SORT_MOVE:
			move_numbers(sort, end);
			break;
		case GPB_SORT_MERGE:
			merge_runs(sort, end);
			break;
		case GPB_SORT_RETURN:
			return_run(sort, end);
			break;
		case GPB_SORT_GIVE:
			give_records(sort, end);
			break;
		case GPB_SORT_ENDED:
			break;
	}
}

/* ---- the interface ---- */

static GpbDeviceStatus
refuse(GpbDevice *device, const char *why)
{
	device->error = why;
	return GPB_DEVICE_NO_MEMORY;
}

/* Do all that was launched on the sort. */
static void
complete(GpbHostSort *sort)
{
	while (sort->phase != GPB_SORT_ENDED)
		step(sort);
}

GpbDeviceStatus
gpb_host_sort_begin(GpbDevice *device, int channel, const GpbSortFormat *format,
					uint64 expected)
{
	GpbHostChannel *c = &device->channels[channel];

	gpb_host_sort_free(device, c);
	if (!gpb_sort_format_is_valid(format) || expected > GPB_SORT_MOST)
		return refuse(device, "not a sort that a device does");
	c->sort = gpb_host_alloc(device, sizeof(GpbHostSort));
	if (c->sort == NULL)
		return GPB_DEVICE_NO_MEMORY;
	c->sort->format = *format;
	if (reserve(device, c->sort, expected) == GPB_DEVICE_OK)
		return GPB_DEVICE_OK;
	gpb_host_sort_free(device, c);
	return GPB_DEVICE_NO_MEMORY;
}

GpbDeviceStatus
gpb_host_sort_add(GpbDevice *device, int channel, const void *records, uint32 n)
{
	GpbHostSort *sort = device->channels[channel].sort;
	GpbDeviceStatus status;

	if (sort == NULL || sort->failed)
		return refuse(device, "the channel has no sort that goes on");
	complete(sort);
	if (n == 0 || n > GPB_SORT_PIECE || n > GPB_SORT_MOST - sort->runs.records || sort->read)
		status = refuse(device, "the records cannot be added");
	else
		status = reserve(device, sort, sort->runs.records + n);
	sort->failed = status != GPB_DEVICE_OK;
	if (sort->failed)
		return status;
	sort->source = records;
	sort->first = (uint32) sort->runs.records;
	sort->n = n;
	sort->sorted = odd_digits(sort);
	sort->launched = true;
	enter(sort, GPB_SORT_TAKE);
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_host_sort_read(GpbDevice *device, int channel, uint64 first, uint32 n, void *into)
{
	GpbHostSort *sort = device->channels[channel].sort;

	if (sort == NULL || sort->failed)
		return refuse(device, "the channel has no sort that goes on");
	complete(sort);
	if (n == 0 || n > GPB_SORT_PIECE || first > sort->runs.records ||
		n > sort->runs.records - first)
		return refuse(device, "the records cannot be read");
	sort->into = into;
	sort->first = (uint32) first;
	sort->n = n;
	sort->read = true;
	sort->launched = true;
	next_merge(sort);
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_host_sort_finish(GpbDevice *device, int channel)
{
	GpbHostSort *sort = device->channels[channel].sort;

	if (sort == NULL || !sort->launched)
		return refuse(device, "the channel has nothing of a sort to finish");
	complete(sort);
	sort->launched = false;
	return GPB_DEVICE_OK;
}

void
gpb_host_sort_end(GpbDevice *device, int channel)
{
	gpb_host_sort_free(device, &device->channels[channel]);
}

void
gpb_host_sort_abandon(GpbHostChannel *channel)
{
	GpbHostSort *sort = channel->sort;

	if (sort == NULL || !sort->launched)
		return;
	sort->failed = true;
	sort->launched = false;
	sort->phase = GPB_SORT_ENDED;
}

bool
gpb_host_sort_poll(GpbDevice *device, int channel)
{
	GpbHostSort *sort = device->channels[channel].sort;

	if (sort == NULL)
		return true;
	step(sort);
	return sort->phase == GPB_SORT_ENDED;
}
