/*-------------------------------------------------------------------------
 *
 * answer.h
 *	  The answer to one range: a row of 64-bit words.
 *
 * Plain C for both compilers.  Every engine and device forms its answers in this one format, and
 * the nodes read it.  An answer has
 *
 * * the number of entries;
 * * for each column of which something is wanted, in the order of columns: the number of its
 *   non-NULL values; if its sum is wanted and it is an integer, the low and high word of the
 *   128-bit sum in two's complement; if its bounds are wanted, the least and the greatest value,
 *   which compare as in GpbColumnState;
 * * for each float8 column whose sum is wanted, a GpbFloatSum.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ANSWER_H
#define GPB_ANSWER_H

#include "program.h"

/*
 * Where the words of one column are in an answer.  Each number but count is 0 if the answer has no
 * such words.
 */
typedef struct GpbAnswerColumn
{
	uint8		column;			/* 0 is the key, as in program.h */
	uint8		kind;			/* GpbKind */
	uint8		offset;			/* of the value in the row; unused for the key */
	uint16		count;			/* word that has the number of values */
	uint16		sum;			/* first of 2 words with the sum */
	uint16		minmax;			/* first of 2 words with the bounds */
	uint16		float_sum;		/* first word of a GpbFloatSum */
} GpbAnswerColumn;

/* The format of the answers that a program asks for */
typedef struct GpbAnswerFormat
{
	uint16		words;			/* number of words of a whole answer */
	uint16		integers;		/* words before the first GpbFloatSum */
	int			ncolumns;
	GpbAnswerColumn column[GPB_MAX_COLUMNS];
} GpbAnswerFormat;

#define GPB_FLOAT_SUM_WORDS ((int) (sizeof(GpbFloatSum) / sizeof(int64)))

/* Lay out the answers to a program that aggregates. */
GPB_FN void
gpb_answer_format(const GpbProgram *program, GpbAnswerFormat *format)
{
	const GpbLayout *layout = &program->layout;
	int			words = 1;
	int			c;

	format->ncolumns = 0;
	for (c = 0; c <= layout->ncolumns; c++)
	{
		GpbAnswerColumn *column = &format->column[format->ncolumns];
		int			want = program->want[c];

		if (want == 0)
			continue;
		format->ncolumns++;
		column->column = (uint8) c;
		column->kind = (uint8) gpb_column_kind(layout, c);
		column->offset = c == 0 ? 0 : layout->offset[c - 1];
		column->count = (uint16) words++;
		column->sum = column->minmax = column->float_sum = 0;
		if ((want & GPB_WANT_SUM) != 0 && column->kind != GPB_KIND_FLOAT8)
		{
			column->sum = (uint16) words;
			words += 2;
		}
		if ((want & GPB_WANT_MINMAX) != 0)
		{
			column->minmax = (uint16) words;
			words += 2;
		}
	}
	format->integers = (uint16) words;
	for (c = 0; c < format->ncolumns; c++)
	{
		if (!gpb_column_has_float_sum(program, format->column[c].column))
			continue;
		format->column[c].float_sum = (uint16) words;
		words += GPB_FLOAT_SUM_WORDS;
	}
	format->words = (uint16) words;
}

/* The bytes of an answer in this format. */
GPB_FN int
gpb_answer_width(const GpbAnswerFormat *format)
{
	return format->words * (int) sizeof(int64);
}

/* Set the answer to that of no entries. */
GPB_FN void
gpb_answer_init(const GpbAnswerFormat *format, int64 *answer)
{
	int			i;

	for (i = 0; i < format->words; i++)
		answer[i] = 0;
	for (i = 0; i < format->ncolumns; i++)
	{
		const GpbAnswerColumn *column = &format->column[i];

		if (column->minmax == 0)
			continue;
		answer[column->minmax] = (int64) 0x7FFFFFFFFFFFFFFF;
		answer[column->minmax + 1] = -(int64) 0x7FFFFFFFFFFFFFFF - 1;
	}
}

/*
 * The GpbFloatSum of a column in an answer.  The column must have one: column->float_sum is not 0.
 */
GPB_FN GpbFloatSum *
gpb_answer_float_sum(const GpbAnswerColumn *column, int64 *answer)
{
	return (GpbFloatSum *) (answer + column->float_sum);
}

/* Add the low and high word of a 128-bit sum to those at *sum. */
GPB_FN void
gpb_answer_add_sum(int64 *sum, uint64 low, int64 high)
{
	uint64		total = (uint64) sum[0] + low;

	sum[1] += high + (total < low);
	sum[0] = (int64) total;
}

/* Add what the running state of a column has to that column's words of the answer. */
GPB_FN void
gpb_answer_add_state(const GpbAnswerColumn *column, int64 *answer, const GpbColumnState *state)
{
	if (state->count == 0)
		return;
	answer[column->count] += state->count;
	if (column->sum != 0)
		gpb_answer_add_sum(answer + column->sum, state->sum_low, state->sum_high);
	if (column->minmax != 0)
	{
		int64	   *minmax = answer + column->minmax;

		minmax[0] = state->min < minmax[0] ? state->min : minmax[0];
		minmax[1] = state->max > minmax[1] ? state->max : minmax[1];
	}
}

/*
 * Add one non-NULL value of a column, as gpb_key_value() or gpb_row_value() gave it, to the answer.
 */
GPB_FN void
gpb_answer_add_value(const GpbAnswerColumn *column, int64 *answer, int64 value)
{
	answer[column->count]++;
	if (column->sum != 0)
		gpb_answer_add_sum(answer + column->sum, (uint64) value, value >> 63);
	if (column->float_sum != 0)
		gpb_float_sum_add(gpb_answer_float_sum(column, answer), value);
	if (column->minmax != 0)
	{
		int64	   *minmax = answer + column->minmax;

		if (column->kind == GPB_KIND_FLOAT8)
			value = gpb_float_order(value);
		minmax[0] = value < minmax[0] ? value : minmax[0];
		minmax[1] = value > minmax[1] ? value : minmax[1];
	}
}

/* Add one visible entry, given by its key and row, to the answer. */
GPB_FN void
gpb_answer_add_entry(const GpbAnswerFormat *format, const GpbLayout *layout, int64 *answer,
					 uint64 key, const char *row)
{
	uint64		locator = gpb_row_locator(row);
	int			i;

	answer[0]++;
	for (i = 0; i < format->ncolumns; i++)
	{
		const GpbAnswerColumn *column = &format->column[i];
		int			c = column->column;

		if (c == 0)
		{
			if (!gpb_locator_is_null(locator, layout->flags))
				gpb_answer_add_value(column, answer,
									 gpb_key_value(key, layout->key_width, layout->flags));
		}
		else if (!gpb_locator_column_is_null(locator, c - 1))
			gpb_answer_add_value(column, answer, gpb_row_value(row, column->offset, column->kind));
	}
}

/*
 * Add the answer "from" to the answer "into", which has the same format.  Both GpbFloatSums of a
 * column must be normalized, or have taken few enough values that their sum cannot overflow a bin.
 */
GPB_FN void
gpb_answer_merge(const GpbAnswerFormat *format, int64 *into, const int64 *from)
{
	int			i;

	into[0] += from[0];
	for (i = 0; i < format->ncolumns; i++)
	{
		const GpbAnswerColumn *column = &format->column[i];

		if (from[column->count] == 0)
			continue;
		into[column->count] += from[column->count];
		if (column->sum != 0)
			gpb_answer_add_sum(into + column->sum, (uint64) from[column->sum],
							   from[column->sum + 1]);
		if (column->minmax != 0)
		{
			const int64 *minmax = from + column->minmax;

			if (minmax[0] < into[column->minmax])
				into[column->minmax] = minmax[0];
			if (minmax[1] > into[column->minmax + 1])
				into[column->minmax + 1] = minmax[1];
		}
		if (column->float_sum != 0)
			gpb_float_sum_merge(gpb_answer_float_sum(column, into),
								(const GpbFloatSum *) (from + column->float_sum));
	}
}

/* Normalize every GpbFloatSum of the answer. */
GPB_FN void
gpb_answer_normalize(const GpbAnswerFormat *format, int64 *answer)
{
	int			i;

	for (i = 0; i < format->ncolumns; i++)
	{
		if (format->column[i].float_sum != 0)
			gpb_float_sum_normalize(gpb_answer_float_sum(&format->column[i], answer));
	}
}

#endif							/* GPB_ANSWER_H */
