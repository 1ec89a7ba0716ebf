/*-------------------------------------------------------------------------
 *
 * program_entries.h
 *	  Entries of leaves, and single ones, put through a program on the CPU.
 *
 * Plain C, free of PostgreSQL headers: the CPU engine of the executor and the host device share it.
 * It does for programs that are not plain what leaf_aggregate.h does for plain ones.
 *
 * An evaluator works on strips of entries, of which it loads those columns that the program uses,
 * each where it is first needed: what a filter has dropped before is not loaded.  Many neighbouring
 * entries of a leaf are strips by themselves.  Others are gathered to a strip, of any ranges, whose
 * columns are loaded as entries are added.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_ENTRIES_H
#define GPB_PROGRAM_ENTRIES_H

#include "program/group_table.h"
#include "program/leaf_aggregate.h"
#include "program/program_list.h"
#include "program/program_strip.h"
#include "program/program_work.h"

/* Why an evaluator has no answers */
typedef enum GpbEvaluation
{
	GPB_EVALUATED,				/* it has answers */
	GPB_EVALUATION_FAULTED,		/* a step faulted */
	GPB_EVALUATION_FULL,		/* there is no memory for more groups */
	GPB_EVALUATION_UNHELD		/* a narrow sum does not hold a value */
} GpbEvaluation;

/* Why an evaluator with this outcome has no answers, for EXPLAIN; NULL if it has */
static inline const char *
gpb_evaluation_fault(GpbEvaluation outcome)
{
	return outcome == GPB_EVALUATION_FAULTED ? "a value is out of range" :
		outcome == GPB_EVALUATION_FULL ? "more groups than hash_mem holds" : NULL;
}

/* Where an evaluator adds entries to */
typedef struct GpbEvaluatorSink
{
	int64	   *answers;		/* the one answer, or that to range 0; unused if there are groups */
	bool		by_number;		/* is there an answer for each range? */
	GpbGroupTable *groups;		/* NULL if the program has no group slots */
} GpbEvaluatorSink;

typedef struct GpbEvaluator
{
	const GpbProgram *program;
	const GpbAnswerFormat *format;
	GpbEvaluatorSink sink;
	GpbEvaluation outcome;
	uint64		counted;		/* entries that no filter has dropped */

	GpbEvaluatorWork work;

	GpbStrip	strip;
	GpbStripSlot leaf[GPB_MAX_COLUMNS]; /* arrays of the columns, for entries of a leaf */
	GpbStripSlot gathered[GPB_MAX_COLUMNS]; /* and for those that are gathered */
	int			ngathered;
	uint32	   *number;			/* of the range of each entry that is gathered, and then of the
								 * strip's */
	uint32	   *leaf_number;	/* of the range of each entry of a leaf; used where groups want
								 * it */
	bool		weighted;		/* has any of those that are gathered a weight other than 1? */
	int64	   *weight;			/* if so, of all entries of the strip */
	GpbValueForm form;			/* see gpb_evaluator_by_value() */
	uint16	   *position;		/* of the strip's entries on the leaf */
	uint8	   *keep;
	int64	  **answers;		/* of the strip's entries */
} GpbEvaluator;

/* The bytes that the evaluator of a program takes. */
extern size_t gpb_evaluator_size(const GpbProgram *program);

/*
 * Make an evaluator in memory of that size, aligned to 8 bytes.  The program must be sound, and not
 * plain or one that judges; it, its format and what the sink names must live as long as the
 * evaluator.
 */
extern GpbEvaluator *gpb_evaluator_init(void *memory, const GpbProgram *program,
										const GpbAnswerFormat *format);

/* Begin anew, with another sink.  What was gathered is forgotten. */
extern void gpb_evaluator_begin(GpbEvaluator *evaluator, const GpbEvaluatorSink *sink);

/*
 * Add the picked entries of a leaf, which belong to range "number".  Where they are few they are
 * gathered.  Once the outcome is no longer GPB_EVALUATED, this does nothing, and so do the
 * functions below.
 */
extern void gpb_evaluate_leaf(GpbEvaluator *evaluator, uint32 number, const void *page,
							  const GpbLeafPick *pick);
/* Add one entry of range "number".  It may be gathered. */
extern void gpb_evaluate_entry(GpbEvaluator *evaluator, uint32 number, GpbKey key,
							   const char *row);


/*
 * Add one entry of range 0 whose columns, and halves of such, have these values, by their slots:
 * those that the program reads are set, and the word of a NULL is 0.  Each call gathers one entry:
 * what was gathered is put through the program with the entry that makes GPB_STRIP of them, or by
 * gpb_evaluate_rest().
 */
extern void gpb_evaluate_values(GpbEvaluator *evaluator, const GpbValue *values);

/* The program has other NULLs among its constants than when the evaluator was made. */
extern void gpb_evaluator_renew_constants(GpbEvaluator *evaluator);

/* ---- many entries with one value ---- */

/* The form of the evaluator's program, if it is a function of one column; else NULL. */
extern const GpbValueForm *gpb_evaluator_by_value(GpbEvaluator *evaluator);

/*
 * Add "weight" entries, more than none, of range "number" which have this value in the column of
 * which the program is a function.  Of the columns that the form sums they have these sums, and no
 * NULL.  gpb_evaluator_by_value() must have been called.
 */
extern void gpb_evaluate_value(GpbEvaluator *evaluator, uint32 number, int64 value, bool is_null,
							   int64 weight, const int64 *sums);

/*
 * Load the columns that the program reads of up to GPB_STRIP entries of a leaf, from number "first"
 * on, into evaluator->strip.  Returns how many; 0 if the leaf has no more.
 */
extern int	gpb_evaluator_load(GpbEvaluator *evaluator, const void *page, int first);

/* Add what was gathered, before answers are read. */
extern void gpb_evaluate_rest(GpbEvaluator *evaluator);

/*
 * Judge the picked entries of a leaf, by a program that lists and judges (program_list.h): for each
 * entry judged[], by its position on the leaf, becomes what gpb_judge_entry() returns, and rank[]
 * its rank, unless it is dropped or there is no limit.  Returns how many entries are to be listed.
 */
extern int	gpb_judge_leaf(GpbEvaluator *evaluator, const void *page, const GpbLeafPick *pick,
						   uint8 *judged, uint64 *rank);

#endif							/* GPB_PROGRAM_ENTRIES_H */
