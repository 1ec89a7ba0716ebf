/*-------------------------------------------------------------------------
 *
 * row_values.h
 *	  The values of rows, which no index has, as those that a program over an index reads.
 *
 * A row's columns become the words that an entry of the index with the same values would give: the
 * index says how, by its layout, and no page of it is read.  What the index would refuse, as a
 * numeric of too many digits or a NULL for which its key has no code, no word says: then the
 * program has no answer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ROW_VALUES_H
#define GPB_ROW_VALUES_H

#include "postgres.h"
#include "executor/tuptable.h"
#include "nodes/bitmapset.h"

#include "exec/bind/row_codes.h"
#include "exec/compile/items.h"
#include "program/program_steps.h"

/*
 * The columns of an index, counted from 0, that a program over it reads, of which the first nkeys
 * of ncolumns are its key.  The rows have these, in ascending order, and nothing else.  Those of a
 * plain program are those of the n items.
 */
extern Bitmapset *gpb_row_columns(const GpbProgram *program, const GpbAggregateItem *items, int n,
								  int nkeys, int ncolumns);

/* A column of the rows */
typedef struct GpbRowColumn
{
	int			at;				/* in the rows, counted from 0 */
	uint8		way;			/* how its words are made; of row_values.c */
	uint8		coding;			/* GpbCoding */
	uint8		slot;			/* of the program, for the word or the upper half */
	uint8		lower;			/* that of the lower half, or GPB_NO_SLOT */
	GpbKeyColumn field;			/* of a column of a key that has several; all zeros of others */
} GpbRowColumn;

typedef struct GpbRowReader
{
	GpbRowCodes *codes;			/* of texts; NULL: the program reads none */
	const char *refusal;		/* why no words say the row that was read last, if so */
	GpbValue	value[GPB_MAX_COLUMNS]; /* its values, by the program's slots */
	int			n;
	GpbRowColumn column[GPB_MAX_COLUMNS];
} GpbRowReader;

/*
 * Prepare to read rows whose columns are those of gpb_row_columns(), for a program with this layout
 * and parts of it.  codes may be NULL if the program reads none.
 */
extern GpbRowReader *gpb_row_reader(const GpbProgram *program, const GpbAggregateItem *items,
									int n, GpbRowCodes *codes);

/*
 * Read a row into reader->value; false if no words say it.  What is detoasted is left to the
 * current context.
 */
extern bool gpb_row_read(GpbRowReader *reader, TupleTableSlot *row);

#endif							/* GPB_ROW_VALUES_H */
