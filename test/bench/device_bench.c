/*-------------------------------------------------------------------------
 *
 * device_bench.c
 *	  Time of a device's loads, refreshes and aggregates, by size.
 *
 * usage: device_bench host|LIBRARY [million entries [rounds]]
 *
 * Without PostgreSQL: leaves nine tenths full of bigint keys are made in memory and
 * driven through the device interface.  Times are from the call to the answer in host
 * memory, medians; "GB/s" counts the bytes of whole leaves, so rows read without their
 * keys may exceed the memory's speed.  Counts and sums are checked.
 *
 *-------------------------------------------------------------------------
 */
#include "device_index.h"
#include "../../cuda/bench.h"

static GpbChooseVariant choose_variant;

/* ---- aggregates: requests of one range ---- */

/* What a channel's request reads and writes, in registered memory */
typedef struct Request
{
	GpbNarrowRange range;
	int64		answer[32 + GPB_FLOAT_SUM_WORDS];
} Request;

static Request *
request_of(int channel)
{
	return (Request *) staging + channel;
}

static GpbRangesSpec
make_spec(const Index *index, int want_key, int want_value)
{
	GpbRangesSpec spec;

	memset(&spec, 0, sizeof(spec));
	spec.program.layout = index->layout;
	spec.program.want[0] = (uint8) want_key;
	spec.program.want[1] = (uint8) want_value;
	spec.form = GPB_RANGE_BOUNDS;
	spec.n = 1;
	spec.epoch = EPOCH;
	spec.heap_blocks = index->heap_blocks;
	return spec;
}

/* The keys first .. first + n - 1 as the channel's range */
static void
set_range(int channel, uint64 first, uint64 n)
{
	GpbNarrowRange *range = &request_of(channel)->range;

	range->lo.key = gpb_key_encode((int64) first, 8, 0);
	range->hi.key = gpb_key_encode((int64) (first + n), 8, 0);
	range->lo.tie = range->hi.tie = 0;
}

static void
launch(const Index *index, int channel, const GpbRangesSpec *spec)
{
	Request    *request = request_of(channel);

	require(api->ranges_launch(device, index->mirror, channel, spec, &request->range,
							   request->answer, index->changed, index->nblocks),
			"ranges_launch");
}

static void
check(const Index *index, const GpbRangesSpec *spec, uint64 first, uint64 n,
	  const GpbRangesResult *result)
{
	const int64 *answer = request_of(0)->answer;
	GpbAnswerFormat format;
	const GpbAnswerColumn *value;
	int64		sum = 0;
	uint64		i;

	gpb_answer_format(&spec->program, &format);
	if (result->unclean != 0 || (uint64) answer[0] + result->entries != n)
	{
		printf("WRONG: %ld entries, %lu heap, %lu unclean for %lu\n", answer[0],
			   result->entries, result->unclean, n);
		exit(1);
	}
	if (result->entries > 0 || !(spec->program.want[1] & GPB_WANT_SUM) ||
		index->layout.row_width != 12)
		return;
	value = &format.column[format.ncolumns - 1];
	for (i = first; i < first + n; i++)
		sum += value_of(i);
	if (answer[value->sum] != sum)
	{
		printf("WRONG: sum %ld, expected %ld\n", answer[value->sum], sum);
		exit(1);
	}
}

static double
time_aggregate(const Index *index, uint64 n, int want_key, int want_value)
{
	uint64		first = (index->nentries - n) / 2;
	GpbRangesSpec spec = make_spec(index, want_key, want_value);
	GpbRangesResult result;
	double		ms[1000];
	int			r;

	set_range(0, first, n);
	for (r = -3; r < rounds; r++)
	{
		double		start = now();

		launch(index, 0, &spec);
		require(api->ranges_finish(device, 0, &result), "ranges_finish");
		if (r >= 0)
			ms[r] = now() - start;
	}
	check(index, &spec, first, n, &result);
	return median(ms, rounds);
}

/* Many requests in flight: time for each */
static double
time_channels(const Index *index, uint64 n)
{
	bool		has_value = index->layout.ncolumns > 0;
	GpbRangesSpec spec = make_spec(index, has_value ? 0 : GPB_WANT_SUM,
								   has_value ? GPB_WANT_SUM : 0);
	GpbRangesResult result;
	double		start;
	int			r;
	int			c;

	for (c = 0; c < CHANNELS; c++)
		set_range(c, 0, n);
	start = now();
	for (r = 0; r < rounds; r++)
	{
		for (c = 0; c < CHANNELS; c++)
			launch(index, c, &spec);
		for (c = 0; c < CHANNELS; c++)
			require(api->ranges_finish(device, c, &result), "ranges_finish");
	}
	return (now() - start) / rounds / CHANNELS;
}

#define WISHES	4

typedef struct Wish
{
	const char *name;
	int			key;
	int			value;
} Wish;

static const Wish wishes[WISHES] =
{
	{"count(*)", 0, 0},
	{"count(*), sum(v)", 0, GPB_WANT_SUM},
	{"min(k), max(k), sum(v)", GPB_WANT_MINMAX, GPB_WANT_SUM},
	{"all of k and v", 7, 7}
};

/* of an index that has keys alone */
static const Wish key_wishes[WISHES] =
{
	{"count(*)", 0, 0},
	{"count(*), sum(k)", GPB_WANT_SUM, 0},
	{"min(k), max(k)", GPB_WANT_MINMAX, 0},
	{"all of k", 7, 0}
};

static void
sizes_row(const Index *index, const char *what, int key, int value)
{
	static const uint64 size[] = {1, 1000, 100000, 1000000, 10000000, 45000000};
	int			i;

	printf("  %-34s", what);
	for (i = 0; i < 6; i++)
	{
		double		ms;

		if (size[i] > index->nentries)
			continue;
		ms = time_aggregate(index, size[i], key, value);
		printf(" %8.4f", ms);
		if (size[i] >= 10000000)
			printf(" (%4.0f GB/s)", size[i] * (8.0 + index->layout.row_width) / ms / 1e6);
	}
	printf("\n");
	fflush(stdout);
}

static void
aggregates(Index *index, const char *variant)
{
	bool		has_value = index->layout.ncolumns > 0;
	const Wish *wish = has_value ? wishes : key_wishes;
	uint32		b;
	int			w;
	int			c;

	printf("%s, %s; ms for 1, 1 k, 100 k, 1 M, 10 M, 45 M entries\n", index->name, variant);
	memset(index->visible, 0x55, index->heap_blocks / 4 + 1);
	for (c = 0; c < CHANNELS; c++)
		set_visibility(index, c);
	for (w = 0; w < WISHES; w++)
		sizes_row(index, wish[w].name, wish[w].key, wish[w].value);
	if (index->nentries >= 1000)
		printf("  %-34s %8.4f\n", "1 k, each of 32 in flight", time_channels(index, 1000));
	/* one heap block in 100 not all-visible: no summary bit helps, lists are made */
	for (b = 0; b < index->heap_blocks; b += 100)
		index->visible[b / 4] &= (uint8) ~(1 << (b % 4 * 2));
	set_visibility(index, 0);
	if (has_value)
		sizes_row(index, "sum(v), 1 % not all-visible", 0, GPB_WANT_SUM);
	else
		sizes_row(index, "sum(k), 1 % not all-visible", GPB_WANT_SUM, 0);
}

static void
run_index(const char *name, uint64 nentries, int value_width, bool heap_order)
{
	static const char *const variants[] = {"rows", "quads"};
	Index		index;
	int			v;

	make_index(&index, name, nentries, value_width, heap_order);
	load(&index);
	if (choose_variant == NULL)
		aggregates(&index, api->name);
	else
	{
		for (v = 0; v < 2 && choose_variant(device, v); v++)
			aggregates(&index, variants[v]);
	}
	free_index(&index);
}

int
main(int argc, char **argv)
{
	uint64		nentries;
	GpbDeviceInfo info;
	void	   *library = begin_bench(argc, argv, 50, "", STAGING_BYTES, &nentries);

	if (library != NULL)
		*(void **) &choose_variant = dlsym(library, GPB_VARIANT_ENTRY);
	api->describe(device, &info);
	printf("%s, %lu M entries, medians of %d\n", info.name, nentries / 1000000, rounds);
	run_index("int4, heap order", nentries, 4, true);
	run_index("int4, random heap order", nentries, 4, false);
	run_index("float8, random heap order", nentries, 8, false);
	run_index("keys alone, heap order", nentries, 0, true);
	run_index("keys alone, random heap order", nentries, 0, false);
	api->close(device);
	return 0;
}
