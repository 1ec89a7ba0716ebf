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
