/*-------------------------------------------------------------------------
 *
 * program.h
 *	  What is done with the entries of ranges: the question's second half, beside ranges.h.
 *
 * Plain C for both compilers.  A program either aggregates columns of the entries or lists the
 * entries.  Every engine and device takes it in this one struct, so what else may once be done with
 * an entry (a filter, an expression, a group) is added here, and where this struct is read.
 *
 * Column 0 is the key, column c > 0 is INCLUDE column c - 1.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_H
#define GPB_PROGRAM_H

#include "aggregate.h"

/* What is wanted of one column, as bits; each of the others implies GPB_WANT_COUNT. */
#define GPB_WANT_COUNT		0x01	/* number of non-NULL values */
#define GPB_WANT_SUM		0x02	/* 128-bit sum of integers, or exact sum of float8 */
#define GPB_WANT_MINMAX		0x04

typedef struct GpbProgram
{
	GpbLayout	layout;
	bool		ignore_dead_hints;	/* set in a transaction that began in recovery (rule M4) */
	bool		list_entries;	/* list the entries; "want" is not read then */
	uint8		want[GPB_MAX_COLUMNS];	/* GPB_WANT_* of each column */
} GpbProgram;

/* The GpbKind of a column. */
GPB_FN int
gpb_column_kind(const GpbLayout *layout, int column)
{
	return column == 0 ? layout->key_kind : layout->kind[column - 1];
}

/* Does the program form an exact sum of this float8 column? */
GPB_FN bool
gpb_column_has_float_sum(const GpbProgram *program, int column)
{
	return (program->want[column] & GPB_WANT_SUM) != 0 &&
		gpb_column_kind(&program->layout, column) == GPB_KIND_FLOAT8;
}

/*
 * The position of a column's GpbFloatSum among those that the program needs, which are in the order
 * of columns.
 */
GPB_FN int
gpb_column_float_sum(const GpbProgram *program, int column)
{
	int			n = 0;
	int			c;

	for (c = 0; c < column; c++)
		n += gpb_column_has_float_sum(program, c);
	return n;
}

/* The number of GpbFloatSums that the program needs. */
GPB_FN int
gpb_count_float_sums(const GpbProgram *program)
{
	return gpb_column_float_sum(program, program->layout.ncolumns + 1);
}

/* Return why no device can run the program, or NULL if one can. */
GPB_FN const char *
gpb_program_fault(const GpbProgram *program)
{
	int			c;

	if (program->list_entries)
		return NULL;
	for (c = program->layout.ncolumns + 1; c < GPB_MAX_COLUMNS; c++)
	{
		if (program->want[c] != 0)
			return "no such column in the index; name the key or an INCLUDE column";
	}
	return NULL;
}

#endif							/* GPB_PROGRAM_H */
