/*-------------------------------------------------------------------------
 *
 * ranges_bench.c
 *	  Time of a device's batches of ranges, by their length.
 *
 * usage: ranges_bench host|LIBRARY [million entries [rounds [divisor of the numbers of ranges]]]
 *
 * For each length: "on device" is the time of the kernels alone, from the search of the first
 * separator to the answers, ranges and answers lying on the device: between two events around
 * so many runs in a row (gpb_cuda_time_ranges).  "To the end" is from the call to the
 * answers in registered host memory, from where the ranges and the maps are copied too: a median.
 * "With answers" is the same time; tables of older versions had the answers copied in a call of
 * its own.  Each range counts entries and values and sums an int4 column; every answer is compared
 * with prefix sums.
 *
 *-------------------------------------------------------------------------
 */
#include "device_index.h"
#include "../../cuda/bench.h"

#define MOST_RANGES		1000000
#define RANGES_BYTES	((size_t) MOST_RANGES * sizeof(GpbNarrowKeyRange))
#define ANSWER_WORDS	4		/* entries, values, and a sum of 128 bits */
#define ANSWERS_BYTES	((size_t) MOST_RANGES * ANSWER_WORDS * 8)

static GpbTimeRanges time_ranges;
static uint32 divisor = 1;
static GpbNarrowKeyRange *ranges;		/* in registered memory, as are the answers */
static int64 *answers;
static uint32 *first;			/* of each range, its first entry */
static uint32 *length;
static int64 *sum_before;		/* of each entry, the sum of all values before it */

static uint64
next_random(void)
{
	static uint64 state = 88172645463325252ul;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545F4914F6CDD1Dul >> 16;
}

/* n ranges at random places; entries 0: of lengths 1, 2, 4 .. 131072, as often each */
static uint64
make_ranges(const Index *index, uint32 n, uint32 entries)
{
	uint64		total = 0;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		uint64		want = entries ? entries : (uint64) 1 << next_random() % 18;

		length[i] = (uint32) (want < index->nentries ? want : index->nentries);
		first[i] = (uint32) (next_random() % (index->nentries - length[i] + 1));
		ranges[i].lo = gpb_key_encode(first[i], 8, 0);
		ranges[i].hi = gpb_key_encode((int64) first[i] + length[i] - 1, 8, 0);
		total += length[i];
	}
	return total;
}

static void
check_answers(uint32 n, const GpbRangesResult *result)
{
	uint32		i;

	if (result->unclean != 0 || result->entries != 0)
	{
		printf("WRONG: %lu unclean pieces, %lu entries listed\n", result->unclean,
			   result->entries);
		exit(1);
	}
	for (i = 0; i < n; i++)
	{
		const int64 *answer = answers + (uint64) i * ANSWER_WORDS;
		int64		sum = sum_before[first[i] + length[i]] - sum_before[first[i]];

		if (answer[0] == length[i] && answer[1] == length[i] && answer[2] == sum &&
			answer[3] == sum >> 63)
			continue;
		printf("WRONG: range %u of %u entries: %ld entries, sum %ld, expected %ld\n", i,
			   length[i], answer[0], answer[2], sum);
		exit(1);
	}
}

static void
run_length(const Index *index, const char *what, uint32 n, uint32 entries)
{
	uint64		total;
	GpbRangesSpec spec;
	GpbRangesResult result;
	double		end[1000];
	float		kernels = 0;
	double		ms;
	int			r;

	n = n / divisor > 0 ? n / divisor : 1;
	total = make_ranges(index, n, entries);
	memset(&spec, 0, sizeof(spec));
	spec.program.layout = index->layout;
	spec.program.want[1] = GPB_WANT_SUM;
	spec.form = GPB_RANGE_KEYS;
	spec.n = n;
	spec.epoch = EPOCH;
	spec.heap_blocks = index->heap_blocks;
	for (r = -2; r < rounds; r++)
	{
		double		start;

		memset(answers, 0x77, (size_t) n * ANSWER_WORDS * 8);
		start = now();
		require(api->ranges_launch(device, index->mirror, 0, &spec, ranges, answers,
								   index->changed, index->nblocks), "ranges_launch");
		require(api->ranges_finish(device, 0, &result), "ranges_finish");
		if (r >= 0)
			end[r] = now() - start;
	}
	check_answers(n, &result);
	if (time_ranges != NULL)
		require(time_ranges(device, 0, rounds, &kernels), "time_ranges");
	ms = median(end, rounds);
	printf("  %-10s %8u %12lu  ", what, n, total);
	if (time_ranges != NULL)
		printf("%9.4f %7.1f", kernels, total / kernels / 1e6);
	else
		printf("%9s %7s", "-", "-");
	printf("   %9.4f %7.1f   %9.4f\n", ms, total / ms / 1e6, ms);
	fflush(stdout);
}

static void
run_index(const char *name, uint64 nentries, bool heap_order)
{
	Index		index;
	uint64		i;

	make_index(&index, name, nentries, 4, heap_order);
	load(&index);
	set_visibility(&index, 0);
	sum_before = malloc((nentries + 1) * sizeof(int64));
	for (i = 0, sum_before[0] = 0; i < nentries; i++)
		sum_before[i + 1] = sum_before[i] + value_of(i);
	printf("%s\n  %-10s %8s %12s  %9s %7s   %9s %7s   %9s\n", name, "length", "ranges",
		   "entries", "on device", "G/s", "to end", "G/s", "w. answers");
	run_length(&index, "1", 1000000, 1);
	run_length(&index, "8", 1000000, 8);
	run_length(&index, "32", 1000000, 32);
	run_length(&index, "128", 500000, 128);
	run_length(&index, "1024", 100000, 1024);
	run_length(&index, "16384", 8000, 16384);
	run_length(&index, "131072", 1000, 131072);
	run_length(&index, "mixed", 10000, 0);
	free_index(&index);
	free(sum_before);
}

int
main(int argc, char **argv)
{
	uint64		nentries;
	GpbDeviceInfo info;
	void	   *library = begin_bench(argc, argv, 50, " [divisor]",
									  STAGING_BYTES + RANGES_BYTES + ANSWERS_BYTES, &nentries);

	if (argc > 4 && atoi(argv[4]) > 0)
		divisor = (uint32) atoi(argv[4]);
	if (library != NULL)
		*(void **) &time_ranges = dlsym(library, GPB_TIME_RANGES_ENTRY);
	ranges = (GpbNarrowKeyRange *) (staging + STAGING_BYTES);
	answers = (int64 *) (staging + STAGING_BYTES + RANGES_BYTES);
	first = malloc(MOST_RANGES * sizeof(uint32));
	length = malloc(MOST_RANGES * sizeof(uint32));
	api->describe(device, &info);
	printf("%s, %lu M entries, %d rounds; milliseconds, and 10^9 entries a second\n", info.name,
		   nentries / 1000000, rounds);
	run_index("int4, heap order", nentries, true);
	run_index("int4, random heap order", nentries, false);
	api->close(device);
	return 0;
}
