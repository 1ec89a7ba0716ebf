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
#include "cpu_form.h"
#include "program_tests.h"
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

	snprintf(named, sizeof(named), "%s, %s", gpb_cpu_form_name(), what);
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
	for (form = GPB_CPU_PLAIN; form < GPB_CPU_FORMS; form++)
	{
		seed_random(seed);
		if (!gpb_cpu_force((GpbCpuForm) form))
		{
			printf("       form %d: not on this CPU\n", form);
			continue;
		}
		test_narrow_ends();
		test_narrow_sums();
		test_narrow_carry();
		/* Steps have no form of their own for AVX-512. */
		if (form == GPB_CPU_AVX512)
			continue;
		for (op = GPB_OP_FILTER + 1; op < GPB_OPERATORS; op++)
			test_operator(op);
		test_float_order();
		test_programs(false);
		test_programs(true);
	}
	test_programs(true);
	test_table((uint64) 1 << 30, 100);
	test_table((uint64) 1 << 30, 200000);
	test_table((uint64) 1 << 20, 200000);
	test_table(100000, 20000);
	test_table(4000, 20000);
	test_merging(1, 30, 22, (uint64) 1 << 30);
	test_merging(1, 5000, 10001, (uint64) 1 << 30);
	test_merging(2, 5000, 10002, (uint64) 1 << 30);
	test_merging(3, 20000, 20000, 100000);
	test_zones();
	return print_sums();
}
