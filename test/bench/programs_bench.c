/*-------------------------------------------------------------------------
 *
 * programs_bench.c
 *	  Time of a device's programs with steps, terms and groups, and of those that list, over one range.
 *
 * usage: programs_bench host|LIBRARY [million entries [rounds]]
 *
 * Without PostgreSQL: leaves nine tenths full of bigint keys k with an int4 v, or a float8 v, are
 * made in memory and driven through the device interface.  The first time is the median from the
 * call to the answer in host memory, without the fetching of groups; the second is that of the
 * kernels alone, where a device can tell.  The number of groups is checked.
 *
 *-------------------------------------------------------------------------
 */
#include "device_index.h"
#include "program/program_steps.h"
#include "../../cuda/bench.h"

#define K					0	/* slots of the columns */
#define V					1
#define NOT_CHECKED			(~(uint64) 0)

static GpbTimeRanges time_ranges;

/* ---- building programs ---- */

static GpbProgram *program;

static void
begin(const Index *index)
{
	static GpbProgram made;

	memset(&made, 0, sizeof(made));
	made.layout = index->layout;
	program = &made;
}

static int
constant(int64 value)
{
	program->constant[program->nconstants] = value;
	return GPB_FIRST_CONSTANT + program->nconstants++;
}

static int
step(int op, int a, int b)
{
	GpbStep    *added = &program->step[program->nsteps];

	added->op = (uint8) op;
	added->into = (uint8) (GPB_FIRST_TEMPORARY + program->nsteps++);
	added->a = (uint8) a;
	added->b = (uint8) b;
	added->guard = GPB_NO_SLOT;
	return added->into;
}

static void
term(int slot, int kind, int want)
{
	GpbTerm    *added = &program->term[program->nterms++];

	added->slot = (uint8) slot;
	added->kind = (uint8) kind;
	added->want = (uint8) (want | GPB_WANT_COUNT);
	added->filter = GPB_NO_SLOT;
}

static void
group(int slot)
{
	program->group[program->ngroups++] = (uint8) slot;
}

/* ---- one program ---- */

static void
ask(const Index *index, const char *what, uint64 expected_groups)
{
	GpbNarrowRange range = {{0, 0}, {~(uint64) 0, ~(uint64) 0}};
	GpbRangesSpec spec;
	GpbRangesResult result;
	double		ms[1000];
	float		kernels = 0;
	int			r;

	memset(&spec, 0, sizeof(spec));
	spec.program = *program;
	spec.form = GPB_RANGE_BOUNDS;
	spec.n = 1;
	spec.epoch = EPOCH;
	spec.heap_blocks = index->heap_blocks;
	memcpy(staging, &range, sizeof(range));
	for (r = -3; r < rounds; r++)
	{
		double		start = now();

		require(api->ranges_launch(device, index->mirror, 0, &spec, staging,
								   staging + sizeof(range), index->changed, index->nblocks),
				"ranges_launch");
		memset(&result, 0, sizeof(result));
		require(api->ranges_finish(device, 0, &result), "ranges_finish");
		if (r >= 0)
			ms[r] = now() - start;
	}
	if (time_ranges != NULL)
		require(time_ranges(device, 0, rounds, &kernels), "time_ranges");
	if (result.unclean != 0 || result.faults != 0 ||
		(result.entries != 0) != program->list_entries ||
		(expected_groups != NOT_CHECKED && result.groups != expected_groups))
	{
		printf("WRONG: %lu groups for %lu, %lu unclean, %lu faults\n", result.groups,
			   expected_groups, result.unclean, result.faults);
		exit(1);
	}
	printf("  %-48s %9.3f ms   kernels %9.3f ms   %9lu groups\n", what, median(ms, rounds),
		   kernels, result.groups);
	fflush(stdout);
}

/* ---- programs over k and an int4 v ---- */

static void
without_groups(const Index *index)
{
	int			kind = index->layout.kind[0];
	int			product;
	int			i;

	begin(index);
	program->want[V] = GPB_WANT_SUM | GPB_WANT_COUNT;
	ask(index, "plain: count(*), sum(v)", 0);
	begin(index);
	term(V, kind, GPB_WANT_SUM);
	ask(index, "no step: count(*), sum(v)", 0);
	begin(index);
	term(V, kind, GPB_WANT_SUM | GPB_WANT_SQUARES);
	ask(index, "no step: variance(v)", 0);
	if (kind == GPB_KIND_FLOAT8)
		return;
	begin(index);
	(void) step(GPB_OP_FILTER, step(GPB_OP_GT, V, constant(0)), 0);
	term(V, kind, GPB_WANT_SUM);
	ask(index, "sum(v) where v > 0", 0);
	begin(index);
	term(step(GPB_OP_MULTIPLY, V, step(GPB_OP_ADD, V, constant(3))), GPB_KIND_INT8, GPB_WANT_SUM);
	ask(index, "sum(v * (v + 3))", 0);
	begin(index);
	(void) step(GPB_OP_FILTER, step(GPB_OP_GT, V, constant(0)), 0);
	product = V;
	for (i = 0; i < 10; i++)
		product = step(GPB_OP_ADD, product, K);
	term(product, GPB_KIND_INT8, GPB_WANT_SUM);
	term(K, GPB_KIND_INT8, GPB_WANT_MINMAX);
	ask(index, "12 steps, sum and min(k), max(k)", 0);
}

/* A zone whose offset changes twice a year, from 2000 on */
static int
zone(void)
{
	int			i;

	program->tables.length[0] = 60;
	for (i = 0; i < 60; i++)
		program->tables.word[i] = gpb_zone_word(i == 0 ? GPB_ZONE_BEGIN : i == 59 ? GPB_ZONE_END :
												(int64) i * 182 * GPB_SECONDS_PER_DAY,
												3600 + 3600 * (i % 2));
	return 0;
}

/* Timestamps, an entry every minute from 2000 on, and what the calendar makes of them */
static void
calendar(const Index *index)
{
	static const struct
	{
		int			op;
		int64		b;
		const char *what;
	}			cases[] = {
		{GPB_OP_TRUNCATE, INT64_C(3600000000), "min, max of timestamps by the hour"},
		{GPB_OP_TRUNCATE_MONTHS, 1, "min, max of timestamps by the month"},
		{GPB_OP_ADD_MONTHS, 1, "min, max of timestamps a month later"},
		{GPB_OP_TO_LOCAL, 0, "min, max of timestamps in a zone"},
		{GPB_OP_OF_LOCAL, 0, "min, max of timestamps of a zone"}
	};
	int			i;

	for (i = 0; i < (int) (sizeof(cases) / sizeof(cases[0])); i++)
	{
		int			time;
		int			b;

		begin(index);
		time = step(GPB_OP_MULTIPLY, K, constant(60000000));
		b = cases[i].b != 0 ? constant(cases[i].b) : zone();
		time = step(cases[i].op, time, b);
		program->step[program->nsteps - 1].c = (uint8) (cases[i].op == GPB_OP_TRUNCATE ?
														constant(0) : 0);
		term(time, GPB_KIND_INT8, GPB_WANT_MINMAX);
		ask(index, cases[i].what, 0);
	}
}

/* Entries that a filter lets pass, one in a thousand, and the first ones in an order */
static void
lists(const Index *index)
{
	begin(index);
	(void) step(GPB_OP_FILTER, step(GPB_OP_LT, step(GPB_OP_MODULO, V, constant(1000)), constant(1)),
				0);
	program->list_entries = true;
	ask(index, "entries where v % 1000 < 1", 0);
	begin(index);
	(void) step(GPB_OP_FILTER, step(GPB_OP_GT, V, constant(0)), 0);
	program->list_entries = true;
	program->limit = 10;
	program->order = V;
	ask(index, "ten entries where v > 0, by v", 0);
}

static void
with_groups(const Index *index, uint64 groups)
{
	char		what[80];

	begin(index);
	group(step(GPB_OP_MODULO, K, constant((int64) groups)));
	term(V, index->layout.kind[0], GPB_WANT_SUM);
	snprintf(what, sizeof(what), "sum(v) by k %% %lu: neighbours differ", groups);
	ask(index, what, groups < index->nentries ? groups : index->nentries);
}

static void
with_groups_in_order(const Index *index, uint64 entries)
{
	char		what[80];

	begin(index);
	group(step(GPB_OP_DIVIDE, K, constant((int64) entries)));
	term(V, index->layout.kind[0], GPB_WANT_SUM);
	snprintf(what, sizeof(what), "sum(v) by k / %lu: neighbours are alike", entries);
	ask(index, what, (index->nentries + entries - 1) / entries);
}

/* Groups without a step: those of the column itself */
static void
run_values(const char *name, uint64 nentries, uint32 nvalues, bool floats)
{
	Index		index;
	char		what[80];

	values = nvalues;
	make_index(&index, name, nentries, floats ? 8 : 4, true);
	load(&index);
	set_visibility(&index, 0);
	begin(&index);
	group(V);
	term(V, index.layout.kind[0], GPB_WANT_SUM);
	snprintf(what, sizeof(what), "sum(v) by v: %u values", nvalues);
	ask(&index, what, nvalues);
	begin(&index);
	group(V);
	snprintf(what, sizeof(what), "count(*) by v: %u values", nvalues);
	ask(&index, what, nvalues);
	free_index(&index);
	values = 1 << 24;
}

static void
run_index(const char *name, uint64 nentries, bool floats)
{
	static const uint64 groups[] = {2, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
	Index		index;
	int			i;

	make_index(&index, name, nentries, floats ? 8 : 4, true);
	load(&index);
	set_visibility(&index, 0);
	without_groups(&index);
	if (!floats)
	{
		calendar(&index);
		lists(&index);
	}
	for (i = 0; i < 8; i++)
	{
		/* with exact sums, so many rows would have 640 bytes each */
		if (!floats || groups[i] <= 100000)
			with_groups(&index, groups[i]);
	}
	with_groups_in_order(&index, 100);
	with_groups_in_order(&index, 10000);
	with_groups_in_order(&index, 10000000);
	if (floats)
	{
		/* ten metrics of a hundred hosts by twelve hours */
		begin(&index);
		group(step(GPB_OP_MODULO, K, constant(100)));
		group(step(GPB_OP_DIVIDE, K, constant((int64) (nentries / 12))));
		for (i = 0; i < 10; i++)
			term(V, GPB_KIND_FLOAT8, GPB_WANT_SUM);
		ask(&index, "ten sums by k % 100, k / (a twelfth)", NOT_CHECKED);
	}
	else
	{
		/* hours of a second's row each, by eight kinds */
		begin(&index);
		group(step(GPB_OP_DIVIDE, K, constant(800)));
		group(step(GPB_OP_MODULO, V, constant(8)));
		term(V, GPB_KIND_INT4, GPB_WANT_SUM);
		ask(&index, "sum(v) by k / 800, v % 8", NOT_CHECKED);
	}
	api->mirror_destroy(device, index.mirror);
	free(index.pages);
	free(index.changed);
	free(index.visible);
}

int
main(int argc, char **argv)
{
	uint64		nentries;
	GpbDeviceInfo info;
	void	   *library = begin_bench(argc, argv, 10, "", STAGING_BYTES, &nentries);

	if (library != NULL)
		*(void **) &time_ranges = dlsym(library, GPB_TIME_RANGES_ENTRY);
	api->describe(device, &info);
	printf("%s, %lu M entries, medians of %d\n", info.name, nentries / 1000000, rounds);
	run_values("int4, two", nentries, 2, false);
	run_values("int4, few", nentries, 1000, false);
	run_values("int4, more", nentries, 100000, false);
	run_index("int4", nentries, false);
	run_index("float8", nentries, true);
	api->close(device);
	return 0;
}
