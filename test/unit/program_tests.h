/*-------------------------------------------------------------------------
 *
 * program_tests.h
 *	  What the tests of programs share (program.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_TESTS_H
#define GPB_PROGRAM_TESTS_H

#include <stdio.h>
#include <stdlib.h>

#include "program/program_entries.h"
#include "program/program_terms.h"

#define LENGTH(array) ((int) (sizeof(array) / sizeof((array)[0])))
#define DAY		86400000000
#define SECOND	((int64) 1000000)

/* Count and print a verdict. */
extern void plain_verdict(bool ok, const char *what);
/* Count and print a verdict, with the name of the form of the loops to which it belongs. */
extern void verdict_of_form(bool ok, const char *what);

/* ---- program_model.c: operators by other means ---- */

/* A result, and whether the operator faulted */
typedef struct Result
{
	int64		word;
	bool		is_null;
	bool		fault;
} Result;

extern void fill_years(void);
extern double as_float(int64 word);
extern int	compare_floats(double a, double b);
extern double product_rest(double x, double y);
extern Result of_any(int op, GpbValue a, GpbValue b, GpbValue c, const int64 *list, int nlist);

/* ---- program_values.c: random values ---- */

/* What the operands of an operator are */
typedef enum Sort
{
	BOOLEAN,
	INTEGER,
	SMALL,						/* an integer whose like rarely faults */
	FLOAT,
	DATE,
	TIMESTAMP,
	UNIT,						/* of GPB_OP_TRUNCATE */
	MONTH,
	MONTHS,
	MOMENT,						/* a timestamp about where a zone changes */
	SOME_MONTHS
} Sort;

/* Are random floats only such as a narrow sum holds? */
extern bool held_floats;

extern void seed_random(uint64 seed);
extern uint64 next_random(void);
extern int	below(int n);
extern int64 random_word(Sort sort);
extern Sort operand_sort(int op, int i);

/* ---- program_groups.c: memory of a table of groups, which counts in *arg ---- */

extern void *allocate(void *arg, uint64 size);
extern void release(void *arg, void *memory, uint64 size);

/* ---- the tests ---- */

extern void test_operator(int op);
extern void test_float_order(void);
extern void test_programs(bool groups);
extern void test_narrow_ends(void);
extern void test_narrow_sums(void);
extern void test_narrow_carry(void);
extern void test_table(uint64 limit, int distinct);
extern void test_merging(int ngroups, int distinct, int n, uint64 limit);
extern void test_zones(void);

#endif							/* GPB_PROGRAM_TESTS_H */
