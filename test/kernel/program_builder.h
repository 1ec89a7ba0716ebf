/*-------------------------------------------------------------------------
 *
 * program_builder.h
 *	  Programs with steps, terms and groups: how tests make them, and ask for what they give.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TEST_PROGRAM_BUILDER_H
#define GPB_TEST_PROGRAM_BUILDER_H

#include "harness.h"

/* ---- making programs ---- */

/* The words that random programs have of long tables */
#define TEST_MORE_WORDS		4096

/* What a slot has; of the last three the integers are as in program.h */
typedef enum SlotType
{
	TYPE_NONE,
	TYPE_BOOLEAN,
	TYPE_INTEGER,
	TYPE_FLOAT,
	TYPE_DATE,
	TYPE_TIMESTAMP,
	TYPE_SAME,					/* of an operator: what its operands have */
	TYPE_HALF					/* of a value of 16 bytes: compared with such, and no more */
} SlotType;

typedef struct TestBuilder
{
	GpbProgram *program;
	SlotType	type[GPB_SLOTS];
	int			next;			/* temporary that is given out next */
} TestBuilder;

/* The types that an operator takes and gives */
typedef struct TestSignature
{
	uint8		op;
	uint8		result;
	uint8		operand[3];
} TestSignature;

extern const TestSignature test_signatures[];
extern const int test_nsignatures;

/* A program without steps over the index of the request, of which nothing is wanted yet */
extern void test_begin(TestBuilder *builder, GpbRangesSpec *spec);
/* The slot of the lower halves of a column that has such, whose own slot has the upper ones */
extern int test_lower_slot(TestBuilder *builder, int column);
extern int test_add_constant(TestBuilder *builder, SlotType type, int64 value, bool is_null);
/* Add a step; returns the slot of its result.  Temporaries are used anew in the end. */
extern int test_add_step(TestBuilder *builder, int op, SlotType type, int a, int b, int c,
						 int guard);
extern void test_add_filter(TestBuilder *builder, int slot);
extern void test_add_term(TestBuilder *builder, int slot, int kind, int want, int filter);
/* A term that has the bounds of values of two halves, which are NULL together */
extern void test_add_halves_term(TestBuilder *builder, int upper, int lower, int want,
								 int filter);

/* Any slot of the type, a recent one often; the columns and constants include one of each type. */
extern int test_random_slot(const TestBuilder *builder, SlotType type);
/* Constants of all types but TYPE_HALF, and tables */
extern void test_add_random_constants(TestBuilder *builder);
/* A step of any operator whose operands there are; guarded now and then */
extern void test_add_random_step(TestBuilder *builder);
extern void test_add_random_terms(TestBuilder *builder, int n);
extern void test_add_random_groups(TestBuilder *builder, int n);
extern void test_random_program(GpbRangesSpec *spec, int nsteps, int nterms, int ngroups);
/* A list of random steps, now and then with a limit */
extern void test_random_list(GpbRangesSpec *spec, int nsteps, uint32 most);

/* ---- asking ---- */

/* Does the finished request give what the model says? */
extern void test_compare_program(const TestMirror *mirror, int channel,
								 const GpbRangesSpec *spec, const void *ranges,
								 const GpbRangesResult *result, const int64 *answers);
/*
 * Does the request give what the model says?  Returns its faults.  A request for groups is also
 * asked with narrow sums.
 */
extern uint64 test_ask_program(TestMirror *mirror, const GpbRangesSpec *spec, const void *ranges);
/* One range over all, or many: an answer each or one of them all, or groups of these */
extern void test_ask_program_forms(TestMirror *mirror, GpbRangesSpec *spec);

/* Requests that were answered with narrow sums */
extern uint64 test_narrow_requests;

/* ---- mirrors ---- */

extern const int test_small_kinds[];

/* Of any shape; values seldom make a step fault, unless they are odd */
extern TestMirror *test_mirror_of_layout(const GpbLayout *layout, uint32 nentries, bool odd);
/* Of narrow keys, and columns of test_small_kinds */
extern TestMirror *test_small_mirror(uint32 nentries, bool odd);

#endif							/* GPB_TEST_PROGRAM_BUILDER_H */
