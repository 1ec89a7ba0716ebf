/*-------------------------------------------------------------------------
 *
 * program_model.h
 *	  What a program with steps, terms or groups should give, entry by entry.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TEST_PROGRAM_MODEL_H
#define GPB_TEST_PROGRAM_MODEL_H

#include "harness.h"

/* What a request with a program should leave beside pieces and entries to be checked */
typedef struct TestProgramAnswers
{
	uint64		faults;			/* of steps; not 0: the rest is not to be used */
	uint64		unheld;			/* values, and parts of squares, that a narrow sum does not hold */
	uint64		counted;		/* entries that passed the filters */
	GpbAnswerFormat format;		/* with wide sums */
	uint64		nanswers;
	int64	   *answers;		/* normalized */
	int			group_width;
	uint64		ngroups;
	uint64		room;
	char	   *groups;			/* GpbGroup, as test_sort_groups() sorts them */
} TestProgramAnswers;

/* Do the program for each visible entry of the request's ranges; to be given back. */
extern TestProgramAnswers *test_model_program(const TestMirror *mirror, const GpbRangesSpec *spec,
											  const void *ranges);
extern void test_program_answers_free(TestProgramAnswers *answers);

/* Sort GpbGroup records of that width by range, then by values. */
extern void test_sort_groups(const GpbProgram *program, void *groups, uint64 n, int width);

/*
 * What a program that lists should list: in the entries of "listed", with their flags, is all that
 * the list may have, in its order; required[i] says that it must have entry i.
 */
typedef struct TestListModel
{
	TestExpected *listed;
	bool	   *required;
	uint64		nrequired;
	uint64		nextreme;		/* entries whose order is NULL, or an integer that may have NULL's
								 * rank */
} TestListModel;

extern TestListModel *test_model_list(const TestMirror *mirror, const GpbRangesSpec *spec,
									  const void *ranges);
extern void test_list_model_free(TestListModel *model);

#endif							/* GPB_TEST_PROGRAM_MODEL_H */
