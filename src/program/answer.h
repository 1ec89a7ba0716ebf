/*-------------------------------------------------------------------------
 *
 * answer.h
 *	  The answer to one range: a row of 64-bit words.
 *
 * Plain C for both compilers.  Every engine and device forms its answers in this one format, and
 * the nodes read it.  An answer has
 *
 * * the number of entries;
 * * for each column of which something is wanted, or each term of a program that is not plain, in
 *   their order: the number of its non-NULL values; if its sum is wanted and it is an integer, the
 *   low and high word of the 128-bit sum in two's complement; if its bounds are wanted, the least
 *   and the greatest value, which compare as in GpbColumnState; if the sum of its squares is wanted
 *   and it is an integer, three words of that, the lowest first; a word for each wanted combination
 *   of bits; if the bounds of values of two halves are wanted, GPB_HALVES_WORDS;
 * * an exact sum for each float8 whose sum is wanted, and another for the squares: a GpbNarrowSum
 *   if the program has narrow_sums, else a GpbFloatSum.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ANSWER_H
#define GPB_ANSWER_H

#include <math.h>

#include "program/program.h"

/*
 * Where the words of one column or term are in an answer.  Each number but count is 0 if the answer
 * has no such words.
 */
typedef struct GpbAnswerColumn
{
	uint8		column;			/* plain: 0 is the key, as in program.h; else number of the term */
	uint8		kind;			/* GpbKind */
	uint8		offset;			/* plain: of the value in the row; unused for the key */
	uint16		count;			/* word that has the number of values */
	uint16		sum;			/* first of 2 words with the sum */
	uint16		minmax;			/* first of 2 words with the bounds */
	uint16		squares;		/* first of 3 words with the sum of squares */
	uint16		bits_and;		/* a word each */
	uint16		bits_or;
	uint16		bits_xor;
	uint16		halves;			/* first of GPB_HALVES_WORDS */
	uint16		float_sum;		/* first word of an exact sum */
	uint16		float_squares;	/* first word of an exact sum */
	bool		narrow;			/* exact sums are GpbNarrowSums, not GpbFloatSums */
} GpbAnswerColumn;

#define GPB_MAX_ANSWER_COLUMNS \
	(GPB_MAX_TERMS > GPB_MAX_COLUMNS ? GPB_MAX_TERMS : GPB_MAX_COLUMNS)

/* The format of the answers that a program asks for */
typedef struct GpbAnswerFormat
{
	uint16		words;			/* number of words of a whole answer */
	uint16		integers;		/* words before the first exact sum */
	uint16		sum_words;		/* words of each exact sum */
	int			ncolumns;
	GpbAnswerColumn column[GPB_MAX_ANSWER_COLUMNS];
} GpbAnswerFormat;

/*
 * The bounds of values of two halves: the upper and the lower half of the least value, and those of
 * the greatest, and a latch.  Values compare by their upper halves, and by the lower ones where
 * these are equal, as signed integers.  The latch is 0, but while a GPU, which compares and
 * exchanges a word at a time, takes a value in.
 */
#define GPB_HALVES_WORDS	5
#define GPB_HALVES_LATCH	4

#define GPB_FLOAT_SUM_WORDS ((int) (sizeof(GpbFloatSum) / sizeof(int64)))
#define GPB_NARROW_SUM_WORDS ((int) (sizeof(GpbNarrowSum) / sizeof(int64)))

/*
 * The exact sums of an answer to which entries are added one by one are normalized whenever the
 * number of entries, or of values, reaches or passes a multiple of this.  So a bin takes about so
 * many, twice that of squares, and what gpb_float_sum_add() has counted, before it carries: less
 * than 2^31 values.
 */
#define GPB_CARRY_VALUES	((int64) 1 << 29)

/* Give n words of the answer out, if they are wanted.  Returns the first of them, else 0. */
GPB_FN uint16
gpb_answer_words(GpbAnswerFormat *format, bool wanted, int n)
{
	uint16		first = format->words;

	if (!wanted)
		return 0;
	format->words = (uint16) (format->words + n);
	return first;
}

/* Add a column of this kind, of which "want" is wanted, to the format; without float sums yet. */
GPB_FN GpbAnswerColumn *
gpb_answer_add_column(GpbAnswerFormat *format, int c, int kind, int want)
{
	GpbAnswerColumn *column = &format->column[format->ncolumns++];
	bool		is_float = kind == GPB_KIND_FLOAT8;
	bool		squares = (want & GPB_WANT_SQUARES) != 0;

	column->column = (uint8) c;
	column->kind = (uint8) kind;
	column->offset = 0;
	column->count = gpb_answer_words(format, true, 1);
	column->sum = gpb_answer_words(format, !is_float && (squares || (want & GPB_WANT_SUM) != 0), 2);
	column->minmax = gpb_answer_words(format, (want & GPB_WANT_MINMAX) != 0, 2);
	column->squares = gpb_answer_words(format, !is_float && squares, 3);
	column->bits_and = gpb_answer_words(format, (want & GPB_WANT_AND) != 0, 1);
	column->bits_or = gpb_answer_words(format, (want & GPB_WANT_OR) != 0, 1);
	column->bits_xor = gpb_answer_words(format, (want & GPB_WANT_XOR) != 0, 1);
	column->halves = gpb_answer_words(format, (want & GPB_WANT_HALVES) != 0, GPB_HALVES_WORDS);
	column->float_sum = 0;
	column->float_squares = 0;
	column->narrow = false;
	return column;
}

/* What is wanted of a column of the format: GPB_WANT_*. */
GPB_FN int
gpb_answer_want(const GpbProgram *program, const GpbAnswerColumn *column)
{
	return gpb_program_is_plain(program) ? program->want[column->column] :
		program->term[column->column].want;
}

/* Lay out the answers to a program that aggregates. */
GPB_FN void
gpb_answer_format(const GpbProgram *program, GpbAnswerFormat *format)
{
	const GpbLayout *layout = &program->layout;
	int			c;

	format->words = 1;
	format->ncolumns = 0;
	if (!gpb_program_is_plain(program))
	{
		for (c = 0; c < program->nterms; c++)
			(void) gpb_answer_add_column(format, c, program->term[c].kind, program->term[c].want);
	}
	else
	{
		for (c = 0; c <= layout->ncolumns; c++)
		{
			GpbAnswerColumn *column;

			if (program->want[c] == 0)
				continue;
			column = gpb_answer_add_column(format, c, gpb_column_kind(layout, c),
										   program->want[c]);
			column->offset = c == 0 ? 0 : layout->offset[c - 1];
		}
	}
	format->integers = format->words;
	format->sum_words = (uint16) (program->narrow_sums ? GPB_NARROW_SUM_WORDS :
								  GPB_FLOAT_SUM_WORDS);
	for (c = 0; c < format->ncolumns; c++)
	{
		GpbAnswerColumn *column = &format->column[c];
		int			want = gpb_answer_want(program, column);
		bool		is_float = column->kind == GPB_KIND_FLOAT8;
		bool		squares = is_float && (want & GPB_WANT_SQUARES) != 0;

		column->float_sum = gpb_answer_words(format, squares ||
											 (is_float && (want & GPB_WANT_SUM) != 0),
											 format->sum_words);
		column->float_squares = gpb_answer_words(format, squares, format->sum_words);
		column->narrow = program->narrow_sums;
	}
}

/* The bytes of an answer in this format. */
GPB_FN int
gpb_answer_width(const GpbAnswerFormat *format)
{
	return format->words * (int) sizeof(int64);
}

/* Does an answer have exact sums of float8? */
GPB_FN bool
gpb_answer_has_float_sums(const GpbAnswerFormat *format)
{
	return format->words > format->integers;
}

/* Set the bounds of values of two halves to those of no values. */
GPB_FN void
gpb_halves_init(int64 *halves)
{
	halves[0] = halves[1] = (int64) 0x7FFFFFFFFFFFFFFF;
	halves[2] = halves[3] = -(int64) 0x7FFFFFFFFFFFFFFF - 1;
	halves[GPB_HALVES_LATCH] = 0;
}

/* Is the value of these halves below that of the others? */
GPB_FN bool
gpb_halves_less(int64 upper, int64 lower, int64 other_upper, int64 other_lower)
{
	return upper < other_upper || (upper == other_upper && lower < other_lower);
}

/* Take the values at least[] and greatest[] into the bounds of values of two halves. */
GPB_FN void
gpb_halves_add(int64 *halves, const int64 *least, const int64 *greatest)
{
	if (gpb_halves_less(least[0], least[1], halves[0], halves[1]))
	{
		halves[0] = least[0];
		halves[1] = least[1];
	}
	if (gpb_halves_less(halves[2], halves[3], greatest[0], greatest[1]))
	{
		halves[2] = greatest[0];
		halves[3] = greatest[1];
	}
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

		if (column->bits_and != 0)
			answer[column->bits_and] = -1;
		if (column->halves != 0)
			gpb_halves_init(answer + column->halves);
		if (column->minmax == 0)
			continue;
		answer[column->minmax] = (int64) 0x7FFFFFFFFFFFFFFF;
		answer[column->minmax + 1] = -(int64) 0x7FFFFFFFFFFFFFFF - 1;
	}
}

/*
 * The GpbFloatSum of a column in an answer.  The column must have one: column->float_sum is not 0,
 * and it is not narrow.
 */
GPB_FN GpbFloatSum *
gpb_answer_float_sum(const GpbAnswerColumn *column, int64 *answer)
{
	return (GpbFloatSum *) (answer + column->float_sum);
}

/* ---- the exact sums of a column, at "sum" in an answer, in the column's form ---- */

/* Add a float8, given by its bits; false if the sum is narrow and does not hold it. */
GPB_FN bool
gpb_exact_sum_add(const GpbAnswerColumn *column, int64 *sum, int64 bits)
{
	if (column->narrow)
		return gpb_narrow_sum_add((GpbNarrowSum *) sum, bits);
	gpb_float_sum_add((GpbFloatSum *) sum, bits);
	return true;
}

/*
 * Add the square of a float8: the rounded product, and the rest.  An infinite product of finite
 * factors counts as an infinity, which the sum of the values then lacks.
 */
GPB_FN bool
gpb_exact_sum_add_square(const GpbAnswerColumn *column, int64 *sum, int64 bits)
{
	double		value = gpb_float_value(bits);
	double		product = value * value;

	return gpb_exact_sum_add(column, sum, gpb_float_bits(product)) &&
		(!gpb_float_is_finite(gpb_float_bits(product)) ||
		 gpb_exact_sum_add(column, sum, gpb_float_bits(fma(value, value, -product))));
}

GPB_FN void
gpb_exact_sum_normalize(const GpbAnswerColumn *column, int64 *sum)
{
	if (column->narrow)
		gpb_narrow_sum_normalize((GpbNarrowSum *) sum);
	else
		gpb_float_sum_normalize((GpbFloatSum *) sum);
}

GPB_FN void
gpb_exact_sum_merge(const GpbAnswerColumn *column, int64 *into, const int64 *from)
{
	if (column->narrow)
		gpb_narrow_sum_merge((GpbNarrowSum *) into, (const GpbNarrowSum *) from);
	else
		gpb_float_sum_merge((GpbFloatSum *) into, (const GpbFloatSum *) from);
}

/* Normalize the exact sums of a column in an answer. */
GPB_FN void
gpb_answer_carry(const GpbAnswerColumn *column, int64 *answer)
{
	if (column->float_sum != 0)
		gpb_exact_sum_normalize(column, answer + column->float_sum);
	if (column->float_squares != 0)
		gpb_exact_sum_normalize(column, answer + column->float_squares);
}

/* ---- words of integers ---- */

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

/* Add a number of 128 bits that is not negative to the 192-bit sum at *sum. */
GPB_FN void
gpb_answer_add_square(int64 *sum, uint64 low, uint64 high)
{
	uint64		before = (uint64) sum[1];

	gpb_answer_add_sum(sum, low, 0);
	sum[2] += (uint64) sum[1] < before;
	before = (uint64) sum[1];
	sum[1] = (int64) (before + high);
	sum[2] += (uint64) sum[1] < before;
}

/* Add the 192-bit sum "from" to the sum at *sum. */
GPB_FN void
gpb_answer_add_squares(int64 *sum, const int64 *from)
{
	gpb_answer_add_square(sum, (uint64) from[0], (uint64) from[1]);
	sum[2] += from[2];
}

/* The square of an integer, in two words that are not negative */
GPB_FN uint64
gpb_square(int64 value, uint64 *high)
{
	uint64		v = value < 0 ? 0 - (uint64) value : (uint64) value;
	uint64		low = v & 0xFFFFFFFF;
	uint64		top = v >> 32;
	uint64		middle = low * top;	/* counts twice: at most (2^32 - 1)^2 */
	uint64		result = low * low;
	uint64		sum = result + (middle << 33);

	*high = top * top + (middle >> 31) + (sum < result);
	return sum;
}

/*
 * Add one non-NULL value of a column or term, as gpb_key_value(), gpb_row_value() or a step gave
 * it, to the answer.  Returns false if a narrow sum does not hold the value: then the answer means
 * nothing.
 */
GPB_FN bool
gpb_answer_add_value(const GpbAnswerColumn *column, int64 *answer, int64 value)
{
	answer[column->count]++;
	if (column->sum != 0)
		gpb_answer_add_sum(answer + column->sum, (uint64) value, value >> 63);
	if (column->float_sum != 0 &&
		!gpb_exact_sum_add(column, answer + column->float_sum, value))
		return false;
	if (column->float_squares != 0 &&
		!gpb_exact_sum_add_square(column, answer + column->float_squares, value))
		return false;
	if (column->narrow && answer[column->count] % GPB_CARRY_VALUES == 0)
		gpb_answer_carry(column, answer);
	if (column->squares != 0)
	{
		uint64		high;
		uint64		low = gpb_square(value, &high);

		gpb_answer_add_square(answer + column->squares, low, high);
	}
	if (column->bits_and != 0)
		answer[column->bits_and] &= value;
	if (column->bits_or != 0)
		answer[column->bits_or] |= value;
	if (column->bits_xor != 0)
		answer[column->bits_xor] ^= value;
	if (column->minmax != 0)
	{
		int64	   *minmax = answer + column->minmax;

		if (column->kind == GPB_KIND_FLOAT8)
			value = gpb_float_order(value);
		minmax[0] = value < minmax[0] ? value : minmax[0];
		minmax[1] = value > minmax[1] ? value : minmax[1];
	}
	return true;
}

/*
 * Take one value of two halves into a term's bounds of such, if it has them.  The value is counted,
 * and all else is done with its upper half, by gpb_answer_add_value().
 */
GPB_FN void
gpb_answer_add_halves(const GpbAnswerColumn *column, int64 *answer, int64 upper, int64 lower)
{
	int64		value[2] = {upper, lower};

	if (column->halves != 0)
		gpb_halves_add(answer + column->halves, value, value);
}

/* Add one visible entry, given by its key and row, to the answer of a plain program. */
GPB_FN void
gpb_answer_add_entry(const GpbAnswerFormat *format, const GpbLayout *layout, int64 *answer,
					 GpbKey key, const char *row)
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
				(void) gpb_answer_add_value(column, answer,
											gpb_key_value((uint64) key, layout->key_width,
														  layout->flags));
		}
		else if (!gpb_locator_column_is_null(locator, c - 1))
			(void) gpb_answer_add_value(column, answer,
										gpb_row_value(row, column->offset, column->kind));
	}
}

/*
 * Add the answer "from" to the answer "into", which has the same format.  Both exact sums of a
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
		if (column->squares != 0)
			gpb_answer_add_squares(into + column->squares, from + column->squares);
		if (column->bits_and != 0)
			into[column->bits_and] &= from[column->bits_and];
		if (column->bits_or != 0)
			into[column->bits_or] |= from[column->bits_or];
		if (column->bits_xor != 0)
			into[column->bits_xor] ^= from[column->bits_xor];
		if (column->halves != 0)
			gpb_halves_add(into + column->halves, from + column->halves,
						   from + column->halves + 2);
		if (column->float_sum != 0)
			gpb_exact_sum_merge(column, into + column->float_sum, from + column->float_sum);
		if (column->float_squares != 0)
			gpb_exact_sum_merge(column, into + column->float_squares,
								from + column->float_squares);
	}
}

/*
 * Give an answer that has narrow sums, which are normalized, the format "wide", which is the same
 * but for its sums.  "answer" has room for it.
 */
GPB_FN void
gpb_answer_widen(const GpbAnswerFormat *narrow, const GpbAnswerFormat *wide, int64 *answer)
{
	int			i;

	/* From the last sum on, what is written lies behind all that is yet to be read. */
	for (i = (narrow->words - narrow->integers) / narrow->sum_words - 1; i >= 0; i--)
	{
		GpbNarrowSum sum = ((const GpbNarrowSum *) (answer + narrow->integers))[i];

		gpb_narrow_sum_widen(&sum, (GpbFloatSum *) (answer + wide->integers) + i);
	}
}

/* Normalize every exact sum of the answer. */
GPB_FN void
gpb_answer_normalize(const GpbAnswerFormat *format, int64 *answer)
{
	int			i;

	for (i = 0; i < format->ncolumns; i++)
		gpb_answer_carry(&format->column[i], answer);
}

#endif							/* GPB_ANSWER_H */
