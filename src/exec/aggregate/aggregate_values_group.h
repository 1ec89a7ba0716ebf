/*-------------------------------------------------------------------------
 *
 * aggregate_values_group.h
 *	  The groups of a program that are one group of the query: what aggregate_values.c hands to
 *	  aggregate_values_final.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_VALUES_GROUP_H
#define GPB_AGGREGATE_VALUES_GROUP_H

#include "postgres.h"
#include "fmgr.h"
#include "nodes/execnodes.h"

#include "exec/aggregate/aggregate_values.h"
#include "exec/compile/program_words.h"

/*
 * A group of the program.  "first" is what identifies the word of its first slot, or the greatest
 * if it is NULL.
 */
typedef struct GpbValuesRecord
{
	int64		first;
	const GpbGroup *group;
} GpbValuesRecord;

/*
 * The records of one group of the query, one for each value, NULL included.  They are in the order
 * of values, with NULL last, where that matters.
 */
typedef struct GpbValuesGroup
{
	const GpbValuesRecord *records;
	uint64		n;
	int			slot;			/* of the value's first word in a record's group */
	int			answer;			/* of the first word of the group's answer there */
	const GpbAnswerFormat *format;	/* of its answer */
} GpbValuesGroup;

/* An aggregate over such groups */
typedef struct GpbValuesFinal
{
	GpbValuesItem item;
	GpbWordType type;			/* of the words of the values */
	int			count;			/* the word of an answer that has the number of entries */
	GpbAnswerFormat each;		/* with DISTINCT: the answer over the values, of one column */
	GpbCodeSource codes;		/* whose codes values are */
	FmgrInfo	compare;		/* of min() and max(): compares two values */
	ExprState  *fraction;		/* of a percentile */
	bool		evaluated;		/* what follows is set */
	bool		fraction_is_null;
	Datum		fraction_value;
} GpbValuesFinal;

/*
 * Prepare an aggregate over values whose words are of this type; fraction is that of a percentile.
 * Memory is of the current context.
 */
extern void gpb_values_final_init(GpbValuesFinal *final, const GpbValuesItem *item,
								  GpbWordType type, const GpbAnswerFormat *format,
								  const GpbCodeSource *codes, Expr *fraction, PlanState *ps);

/*
 * The aggregate's value over the group.  Its fraction is evaluated when it is first needed, and
 * kept in the context "lasting".  Raises what core's aggregate would.
 */
extern Datum gpb_values_final_value(GpbValuesFinal *final, const GpbValuesGroup *of_group,
									ExprContext *econtext, MemoryContext lasting, bool *isnull);

#endif							/* GPB_AGGREGATE_VALUES_GROUP_H */
