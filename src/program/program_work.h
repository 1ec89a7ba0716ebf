/*-------------------------------------------------------------------------
 *
 * program_work.h
 *	  What an evaluator does with each strip of entries, in which order: planned once for a program.
 *
 * Plain C, free of PostgreSQL headers.  Each column is loaded where it is first needed, and a
 * filter moves those values together that something after it reads.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_WORK_H
#define GPB_PROGRAM_WORK_H

#include "program/program_steps.h"

/* A set of slots */
typedef struct GpbSlotSet
{
	uint64		word[2];
} GpbSlotSet;

static inline bool
gpb_slots_have(const GpbSlotSet *set, int slot)
{
	return (set->word[slot / 64] >> (slot % 64)) & 1;
}

typedef enum GpbEvaluatorWhat
{
	GPB_EVALUATE_LOAD,			/* load a column */
	GPB_EVALUATE_STEP,
	GPB_EVALUATE_FILTER
} GpbEvaluatorWhat;

typedef struct GpbEvaluatorOp
{
	uint8		what;			/* GpbEvaluatorWhat */
	uint8		which;			/* the column's slot, or the number of the step */
	uint16		loads_later;	/* a filter: bit s is set if slot s is loaded after it */
	GpbSlotSet	later;			/* a filter: the slots that something after it reads before they
								 * are set again */
} GpbEvaluatorOp;

typedef struct GpbEvaluatorWork
{
	int			nops;
	GpbEvaluatorOp op[GPB_MAX_STEPS + GPB_MAX_COLUMNS];
	int			ncolumns;		/* slots of columns that the program reads */
	uint8		column[GPB_MAX_COLUMNS];
} GpbEvaluatorWork;

/* Plan the work of a program, which is sound. */
extern void gpb_plan_work(const GpbProgram *program, GpbEvaluatorWork *work);

/* The slots that a program reads or writes */
extern GpbSlotSet gpb_used_slots(const GpbProgram *program);

/* ---- programs of one column ---- */

/* The most columns whose sums can go with a value */
#define GPB_VALUE_SUMS		3

/*
 * A program that is a function of one column: what it does with an entry is decided by that
 * column's value, so entries with equal values can be added together.  It may want sums of other
 * columns too, and how many of their values are not NULL.
 */
typedef struct GpbValueForm
{
	int			slot;			/* of the column */
	int			nsums;
	uint8		sum[GPB_VALUE_SUMS];	/* slots of the other columns */
} GpbValueForm;

/* Is the program, which is no list and has no exact sums of float8, such a one?  *form says how. */
extern bool gpb_work_by_value(const GpbProgram *program, const GpbEvaluatorWork *work,
							  GpbValueForm *form);

#endif							/* GPB_PROGRAM_WORK_H */
