/*-------------------------------------------------------------------------
 *
 * program.c
 *	  Runs the tests of programs on the CPU.
 *
 * They are of each operator (program_steps.c), whole programs (program_whole.c), narrow sums
 * (program_sums.c), and groups (program_groups.c), with each form of the loops that this CPU has;
 * and of programs that are done with bounds of values (program_zone.c).
 *
 * usage: program_test [seed]; ends with "N passed, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include "program/narrow_scatter.h"
#include "program/program.h"
#include "verdict.h"

void
plain_verdict(bool ok, const char *what)
{
	verdict(ok, what);
}

void
verdict_of_form(bool ok, const char *what)
{
	char		named[200];

	snprintf(named, sizeof(named), "%s, %s", gpb_strip_name(), what);
	verdict(ok, named);
}

int
main(int argc, char **argv)
{
	uint64		seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	int			form;
	int			op;

	printf("seed %lu\n", seed);
	fill_years();
	for (form = GPB_STRIP_PLAIN; form <= GPB_STRIP_AVX2; form++)
	{
		seed_random(seed);
		if (!gpb_strip_force((GpbStripForm) form))
		{
			printf("       form %d: not on this CPU\n", form);
			continue;
		}
		(void) gpb_narrow_force(form == GPB_STRIP_PLAIN ? GPB_NARROW_PLAIN : GPB_NARROW_AVX2);
		for (op = GPB_OP_FILTER + 1; op < GPB_OPERATORS; op++)
			test_operator(op);
		test_float_order();
		test_programs(false);
		test_programs(true);
	}
	for (form = GPB_NARROW_PLAIN; form <= GPB_NARROW_AVX512; form++)
	{
		if (!gpb_narrow_force((GpbNarrowForm) form))
		{
			printf("       narrow sums, form %d: not on this CPU\n", form);
			continue;
		}
		printf("       narrow sums: %s\n", gpb_narrow_name());
		test_narrow_ends();
		test_narrow_sums();
		test_narrow_carry();
	}
	test_programs(true);
	test_table((uint64) 1 << 30, 100);
	test_table((uint64) 1 << 30, 200000);
	test_table((uint64) 1 << 20, 200000);
	test_table(100000, 20000);
	test_table(4000, 20000);
	test_zones();
	return print_sums();
}
