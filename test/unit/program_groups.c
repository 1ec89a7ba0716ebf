/*-------------------------------------------------------------------------
 *
 * program_groups.c
 *	  Tests of the table of groups, with enough memory and with too little.
 *
 *-------------------------------------------------------------------------
 */
#include "program_tests.h"

/* Memory of a table, of which there may be too little */
void *
allocate(void *arg, uint64 size)
{
	*(int64 *) arg += (int64) size;
	return malloc(size);
}

void
release(void *arg, void *memory, uint64 size)
{
	*(int64 *) arg -= (int64) size;
	free(memory);
}

/* Do the runs of groups that lie one after the other have each group once, in order? */
static bool
runs_are_whole(const GpbGroupTable *table)
{
	uint64		at = 0;
	const char *first;
	uint64		n;
	uint64		i;

	for (; (n = gpb_groups_adjacent(table, at, &first)) > 0; at += n)
	{
		for (i = 0; i < n; i++)
		{
			if (first + i * table->width != (const char *) gpb_groups_at(table, (uint32) (at + i)))
				return false;
		}
		/* from within a run on, the rest of it */
		if (gpb_groups_adjacent(table, at + n - 1, &first) != 1)
			return false;
	}
	return at == table->n;
}

/* As many groups as fit this many bytes: all that were made are there, and no others. */
void
test_table(uint64 limit, int distinct)
{
	GpbProgram	program;
	GpbAnswerFormat format;
	GpbGroupTable table;
	int64		used = 0;
	GpbGroupMemory memory = {allocate, release, &used, limit};
	int64	   *counts = calloc(distinct, sizeof(int64));
	bool		full = false;
	bool		ok = true;
	char		what[100];
	int			groups = 0;
	int			round;
	int			i;

	memset(&program, 0, sizeof(program));
	program.ngroups = 2;
	program.group[1] = 1;
	program.layout.ncolumns = 1;
	gpb_answer_format(&program, &format);
	gpb_groups_init(&table, &program, &format, &memory);
	for (round = 0; round < 4 * distinct / 100 && !full; round++)
	{
		int64		words[2][100];
		uint8		nulls[100];
		const int64 *word[2] = {words[0], words[1]};
		const uint8 *null[2] = {NULL, nulls};
		int64	   *answers[100];

		for (i = 0; i < 100; i++)
		{
			int			which = below(distinct);

			words[0][i] = (int64) (which / 3) * 86400000000;
			nulls[i] = which % 3 == 0;
			words[1][i] = which % 3 == 0 ? 0 : which % 3;
		}
		gpb_groups_reserve(&table, 100);
		full = !gpb_groups_find(&table, 100, word, null, NULL, answers);
		for (i = 0; i < 100 && !full; i++)
		{
			int64		which = words[0][i] / 86400000000 * 3 + words[1][i];

			groups += counts[which] == 0;
			counts[which]++;
			answers[i][0]++;
		}
		ok &= (uint64) used <= limit && (uint64) used == table.used;
	}
	if (!full)
		ok &= table.n == (uint32) groups;
	for (i = 0; i < (int) table.n; i++)
	{
		const GpbGroup *group = gpb_groups_at(&table, i);

		ok &= group->number == 0 && group->nulls == (group->words[1] == 0 ? 2 : 0);
		ok &= group->words[2] == counts[group->words[0] / 86400000000 * 3 + group->words[1]];
	}
	ok &= runs_are_whole(&table);
	/* What is said to be the least memory for so many is there, and less than half is none. */
	ok &= gpb_groups_bytes(table.n, table.width) <= (double) limit;
	if (full && table.n > 2 * GPB_FIRST_GROUPS)
		ok &= gpb_groups_bytes(2.2 * table.n, table.width) > (double) limit;
	snprintf(what, sizeof(what), "%u groups in %lu bytes%s", table.n, limit, full ? ", full" : "");
	ok &= full == ((uint64) distinct * 24 > limit);
	/* Most of the memory has records when it is full. */
	ok &= !full || (uint64) table.n * table.width > limit / 4;
	gpb_groups_reset(&table);
	verdict_of_form(ok && used == 0, what);
	free(counts);
}

/* ---- groups from elsewhere ---- */

/* A program that groups by so many slots, and wants the sum and, or not, bounds of an integer */
static void
make_summing(int ngroups, bool bounds, GpbProgram *program, GpbAnswerFormat *format)
{
	memset(program, 0, sizeof(*program));
	program->ngroups = ngroups;
	for (int i = 0; i < ngroups; i++)
		program->group[i] = 1;
	program->layout.ncolumns = 1;
	program->nterms = 1;
	program->term[0] = (GpbTerm) {1, GPB_KIND_INT8,
		(uint8) (GPB_WANT_COUNT | GPB_WANT_SUM | (bounds ? GPB_WANT_MINMAX : 0)),
	GPB_NO_SLOT, GPB_NO_SLOT};
	gpb_answer_format(program, format);
}

/*
 * Make a record of group "which", as an entry of this value leaves it, or one without entries, whose
 * other words mean nothing.
 */
static void
make_record(const GpbGroupTable *table, int which, int64 value, bool has_entry, GpbGroup *record)
{
	const GpbAnswerColumn *column = &table->format->column[0];
	int			ngroups = table->program->ngroups;
	int64	   *answer = record->words + ngroups;

	memset(record, 0, table->width);
	record->nulls = which == 0 ? 1 : 0;
	for (int g = 0; g < ngroups; g++)
		record->words[g] = g == 0 ? which : which / 7;
	gpb_answer_init(table->format, answer);
	answer[0] = has_entry;
	if (value == 0)
		return;					/* NULL */
	answer[column->count] = 1;
	answer[column->sum] = value;
	answer[column->sum + 1] = value < 0 ? -1 : 0;
	if (column->minmax != 0)
		answer[column->minmax] = answer[column->minmax + 1] = value;
}

/* Have both tables the same groups with the same answers? */
static bool
same_groups(const GpbGroupTable *a, const GpbGroupTable *b)
{
	for (uint32 i = 0; i < a->n; i++)
	{
		const GpbGroup *other = gpb_groups_lookup(b, gpb_groups_at(a, i));

		if (other == NULL || memcmp(other, gpb_groups_at(a, i), a->width) != 0)
			return false;
	}
	return a->n == b->n;
}

/*
 * Groups that are merged together give what those give that are merged one by one, whether the
 * table expected them or not; without memory that is told.
 */
void
test_merging(int ngroups, int distinct, int n, uint64 limit)
{
	GpbProgram	program;
	GpbAnswerFormat format;
	GpbGroupTable one;
	GpbGroupTable together;
	int64		used[2] = {0, 0};
	GpbGroupMemory memory[2] = {{allocate, release, &used[0], (uint64) 1 << 30},
	{allocate, release, &used[1], limit}};
	char	   *records;
	bool		merged = true;
	bool		ok = true;
	char		what[100];

	make_summing(ngroups, n % 3 == 1, &program, &format);
	gpb_groups_init(&one, &program, &format, &memory[0]);
	gpb_groups_init(&together, &program, &format, &memory[1]);
	records = malloc((size_t) n * one.width + 1);
	for (int i = 0; i < n; i++)
	{
		GpbGroup   *record = (GpbGroup *) (records + (size_t) i * one.width);

		make_record(&one, below(distinct), below(1000) - 500, below(20) > 0, record);
		if (record->words[ngroups] != 0)
			ok &= gpb_groups_merge(&one, record);
	}
	if (n % 2 == 1)
		gpb_groups_expect(&together, n);
	/* in parts, since the first finds an empty table and the others do not */
	for (int at = 0, part; at < n && merged; at += part)
	{
		part = 1 + below(n - at);
		merged = gpb_groups_merge_adjacent(&together, records + (size_t) at * one.width, part);
	}
	ok &= merged ? same_groups(&one, &together) : together.n < one.n;
	ok &= (uint64) used[1] <= limit && runs_are_whole(&together);
	ok &= merged == (limit > (uint64) n * one.width);
	snprintf(what, sizeof(what), "%d records of %d groups merged, %d slots%s", n, distinct, ngroups,
			 merged ? "" : ", full");
	gpb_groups_reset(&one);
	gpb_groups_reset(&together);
	verdict_of_form(ok && used[0] == 0 && used[1] == 0, what);
	free(records);
}
