/*-------------------------------------------------------------------------
 *
 * partial_sums.c
 *	  Partial states whose values are words: sums of integers and of float8, and of pairs.
 *
 * Such a state is an answer in a format of its own, so it is added to, merged and made SQL values
 * by what does so for answers.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/partial/partial_internal.h"
#include "program/program_steps.h"

/* ---- the format ---- */

/* What a state of a kind has of its terms: one, or those of X, Y, products and rests */
static int
term_want(GpbPartialKind kind, int term)
{
	int			want = GPB_WANT_COUNT | GPB_WANT_SUM;

	if (kind != GPB_PARTIAL_OF_PAIRS)
		want |= GPB_WANT_MINMAX;
	if (kind != GPB_PARTIAL_OF_SUMS && term < GPB_PARTIAL_PRODUCTS)
		want |= GPB_WANT_SQUARES;
	return want;
}

static inline int
kind_terms(GpbPartialKind kind)
{
	return kind == GPB_PARTIAL_OF_PAIRS ? GPB_PARTIAL_RESTS + 1 : 1;
}

/* The format of the answers of states of words; it stays for good. */
static const GpbAnswerFormat *
partial_format(GpbPartialKind kind, const GpbPartialType *type)
{
	static GpbAnswerFormat formats[GPB_PARTIAL_OF_PAIRS + 1][2];
	bool		is_float = type->form == GPB_FORM_FLOAT;
	GpbAnswerFormat *format = &formats[kind][is_float];
	GpbProgram *program;

	if (format->words > 0)
		return format;
	program = palloc0(sizeof(GpbProgram));
	program->nterms = kind_terms(kind);
	for (int term = 0; term < program->nterms; term++)
		program->term[term] = (GpbTerm) {0, is_float ? GPB_KIND_FLOAT8 : GPB_KIND_INT8,
										 term_want(kind, term)};
	gpb_answer_format(program, format);
	pfree(program);
	return format;
}

void
gpb_sums_new(GpbPartial *partial)
{
	partial->format = partial_format(partial->kind, partial->type);
	partial->answer = palloc(gpb_answer_width(partial->format));
	gpb_answer_init(partial->format, partial->answer);
}

static inline const GpbAnswerColumn *
term_column(const GpbPartial *partial, int term)
{
	return &partial->format->column[term];
}

/* ---- values ---- */

void
gpb_partial_add_word(GpbPartial *partial, int64 word)
{
	(void) gpb_answer_add_value(term_column(partial, GPB_PARTIAL_X), partial->answer, word);
}

/* A piece has 32 bits and a sign: a bin has room for fewer values than so many. */
#define GPB_PIECES_TOGETHER		(INT64CONST(1) << 30)

/* Add a finite float8 "count" times to a sum: the doubled ones whose bits the count has. */
static void
add_float_often(GpbFloatSum *sum, int64 bits, int64 count)
{
	GpbFloatSum doubled = {0};

	gpb_float_sum_add(&doubled, bits);
	gpb_float_sum_normalize(&doubled);
	gpb_float_sum_normalize(sum);
	for (; count > 0; count >>= 1)
	{
		GpbFloatSum same = doubled;

		if ((count & 1) != 0)
			gpb_float_sum_merge(sum, &doubled);
		gpb_float_sum_merge(&doubled, &same);
	}
}

/* Add a float8, given by its bits, "count" times to a sum. */
static void
add_floats(GpbFloatSum *sum, int64 bits, int64 count)
{
	GpbFloatPieces pieces;

	if (!gpb_float_is_finite(bits))
	{
		GpbFloatSum one = {0};

		gpb_float_sum_add_special(&one, bits);
		sum->nans += one.nans * count;
		sum->positive_infinities += one.positive_infinities * count;
		sum->negative_infinities += one.negative_infinities * count;
		return;
	}
	if (count >= GPB_PIECES_TOGETHER)
	{
		add_float_often(sum, bits, count);
		return;
	}
	gpb_float_sum_normalize(sum);
	pieces = gpb_float_cut(bits);
	for (int i = 0; i < lengthof(pieces.piece); i++)
		sum->bin[pieces.first + i] += pieces.piece[i] * count;
	gpb_float_sum_normalize(sum);
}

void
gpb_partial_add_words(GpbPartial *partial, int64 word, int64 count)
{
	const GpbAnswerColumn *column = term_column(partial, GPB_PARTIAL_X);
	int64	   *answer = partial->answer;
	int64		order = word;
	int128		sum = (int128) word * count;

	answer[column->count] = gpb_add_counts(answer[column->count], count);
	if (column->float_sum != 0)
	{
		add_floats((GpbFloatSum *) (answer + column->float_sum), word, count);
		order = gpb_float_order(word);
	}
	else
		gpb_answer_add_sum(answer + column->sum, (uint64) sum, (int64) (sum >> 64));
	answer[column->minmax] = Min(answer[column->minmax], order);
	answer[column->minmax + 1] = Max(answer[column->minmax + 1], order);
}

void
gpb_partial_add_pair(GpbPartial *partial, int64 y, int64 x)
{
	double		a = gpb_float_value(x);
	double		b = gpb_float_value(y);
	int64		word[] = {x, y, gpb_float_bits(a * b), gpb_float_product_rest(a, b)};

	for (int term = 0; term < lengthof(word); term++)
		(void) gpb_answer_add_value(term_column(partial, term), partial->answer, word[term]);
}

/* ---- columns of other answers ---- */

/* Add an exact sum, which is normalized, to a wide one. */
static void
add_exact_sum(const GpbAnswerColumn *from, const int64 *sum, int64 *into)
{
	GpbFloatSum wide;

	if (from->narrow)
	{
		gpb_narrow_sum_widen((const GpbNarrowSum *) sum, &wide);
		sum = (const int64 *) &wide;
	}
	gpb_float_sum_normalize((GpbFloatSum *) into);
	gpb_float_sum_merge((GpbFloatSum *) into, (const GpbFloatSum *) sum);
}

/* Does "from" have all that "into" has words for?  Each of these is a number of a word, or 0. */
static bool
column_has(const GpbAnswerColumn *from, const GpbAnswerColumn *into)
{
	return (from->kind == GPB_KIND_FLOAT8) == (into->kind == GPB_KIND_FLOAT8) &&
		(into->sum == 0 || from->sum != 0) && (into->minmax == 0 || from->minmax != 0) &&
		(into->squares == 0 || from->squares != 0) &&
		(into->float_sum == 0 || from->float_sum != 0) &&
		(into->float_squares == 0 || from->float_squares != 0) &&
		into->bits_and == 0 && into->bits_or == 0 && into->bits_xor == 0 && into->halves == 0;
}

/* Count values in a column, if there is one. */
static inline void
add_count(const GpbAnswerColumn *into, int64 count, int64 *answer)
{
	if (into->count != 0)
		answer[into->count] = gpb_add_counts(answer[into->count], count);
}

/* Take bounds into those of a column, if it has such. */
static inline void
add_bounds(const GpbAnswerColumn *into, int64 least, int64 greatest, int64 *answer)
{
	if (into->minmax == 0)
		return;
	answer[into->minmax] = Min(answer[into->minmax], least);
	answer[into->minmax + 1] = Max(answer[into->minmax + 1], greatest);
}

/* Add what a column of the answer "from" has to one of another format, whose sums are wide. */
static void
add_column(const GpbAnswerColumn *into, int64 *answer, const GpbAnswerColumn *column,
		   const int64 *from)
{
	if (!column_has(column, into) || into->narrow)
		elog(ERROR, "an aggregate state lacks what an answer needs");
	if (from[column->count] == 0)
		return;
	add_count(into, from[column->count], answer);
	if (into->sum != 0)
		gpb_answer_add_sum(answer + into->sum, (uint64) from[column->sum],
						   from[column->sum + 1]);
	add_bounds(into, from[column->minmax], from[column->minmax + 1], answer);
	if (into->squares != 0)
		gpb_answer_add_squares(answer + into->squares, from + column->squares);
	if (into->float_sum != 0)
		add_exact_sum(column, from + column->float_sum, answer + into->float_sum);
	if (into->float_squares != 0)
		add_exact_sum(column, from + column->float_squares, answer + into->float_squares);
}

void
gpb_partial_take_column(GpbPartial *partial, int term, const GpbAnswerColumn *column,
						const int64 *answer)
{
	add_column(term_column(partial, term), partial->answer, column, answer);
}

/* Each of two answers has fewer values than can be counted; have both? */
void
gpb_sums_merge(GpbPartial *into, GpbPartial *from)
{
	const GpbAnswerFormat *format = into->format;

	(void) gpb_add_counts(into->answer[format->column[0].count],
						  from->answer[format->column[0].count]);
	gpb_answer_normalize(format, into->answer);
	gpb_answer_normalize(format, from->answer);
	gpb_answer_merge(format, into->answer, from->answer);
}

/* ---- bytes ---- */

/*
 * The words of an integer are: the sum, the upper word first, and the bounds; and of moments the
 * three words of the sum of squares, the highest first.
 */
static void
put_integers(StringInfo to, const GpbAnswerColumn *column, const int64 *answer)
{
	gpb_put_word(to, answer[column->sum + 1]);
	gpb_put_word(to, answer[column->sum]);
	gpb_put_word(to, answer[column->minmax]);
	gpb_put_word(to, answer[column->minmax + 1]);
	for (int i = 2; column->squares != 0 && i >= 0; i--)
		gpb_put_word(to, answer[column->squares + i]);
}

/* Is a word that of an integer of so many bytes? */
static inline bool
fits_bytes(int64 word, int bytes)
{
	return bytes == 8 || (word >= -(INT64CONST(1) << (8 * bytes - 1)) &&
						  word < INT64CONST(1) << (8 * bytes - 1));
}

static inline int128
int128_of(const int64 *low_first)
{
	return (int128) ((uint128) low_first[1] << 64 | (uint64) low_first[0]);
}

/*
 * Read the words of "count" integers of a column "from" of a state's own format, and add what the
 * column "into" has words for.  The sum lies between count times the least and the greatest, and so
 * do sums of such sums; neither they nor those of squares overflow then.
 */
static void
take_integers(GpbPartialReader *reader, const GpbAnswerColumn *from, int width, int64 count,
			  const GpbAnswerColumn *into, int64 *answer)
{
	int64		sum[2];
	int64		least;
	int64		greatest;
	int64		squares[3] = {0};

	sum[1] = gpb_take_word(reader);
	sum[0] = gpb_take_word(reader);
	least = gpb_take_word(reader);
	greatest = gpb_take_word(reader);
	if (least > greatest || !fits_bytes(least, width) || !fits_bytes(greatest, width) ||
		int128_of(sum) < (int128) least * count || int128_of(sum) > (int128) greatest * count)
		gpb_partial_damaged("its sum and its bounds contradict each other");
	for (int i = 2; from->squares != 0 && i >= 0; i--)
		squares[i] = gpb_take_word(reader);
	/* a square is at most 2^126, and there may be 2^63 of them */
	if (squares[2] < 0 || squares[2] > count / 4)
		gpb_partial_damaged("its sum of squares is beyond all sums");
	add_count(into, count, answer);
	if (into->sum != 0)
		gpb_answer_add_sum(answer + into->sum, (uint64) sum[0], sum[1]);
	add_bounds(into, least, greatest, answer);
	if (into->squares != 0)
		gpb_answer_add_squares(answer + into->squares, squares);
}

/* The sums of a column of float8, and its bounds, if it has such */
static void
put_floats(StringInfo to, const GpbAnswerColumn *column, int64 *answer)
{
	if (column->minmax != 0)
	{
		gpb_put_word(to, answer[column->minmax]);
		gpb_put_word(to, answer[column->minmax + 1]);
	}
	gpb_put_float_sum(to, (GpbFloatSum *) (answer + column->float_sum));
	if (column->float_squares != 0)
		gpb_put_float_sum(to, (GpbFloatSum *) (answer + column->float_squares));
}

/* Read an exact sum, and add it to that at a word of the answer, if there is one. */
static bool
take_sum(GpbPartialReader *reader, int64 count, const GpbAnswerColumn *into, uint16 word,
		 int64 *answer)
{
	GpbFloatSum nobodys;

	if (word != 0)
		return gpb_take_exact_sum(reader, count, into->narrow, answer + word);
	memset(&nobodys, 0, sizeof(nobodys));
	return gpb_take_exact_sum(reader, count, false, (int64 *) &nobodys);
}

/* As take_integers(), of floats; false if a narrow sum does not hold what it is to take. */
static bool
take_floats(GpbPartialReader *reader, const GpbAnswerColumn *from, const GpbPartialType *type,
			int64 count, const GpbAnswerColumn *into, int64 *answer)
{
	if (from->minmax != 0)
	{
		int64		least = gpb_take_word(reader);
		int64		greatest = gpb_take_word(reader);

		if (least > greatest || !gpb_is_order_of(type, least) ||
			!gpb_is_order_of(type, greatest))
			gpb_partial_damaged("its bounds are none");
		add_bounds(into, least, greatest, answer);
	}
	add_count(into, count, answer);
	return take_sum(reader, count, into, into->float_sum, answer) &&
		(from->float_squares == 0 ||
		 take_sum(reader, count, into, into->float_squares, answer));
}

/* What rounding took from products is part of their sum. */
static void
merge_rests(const GpbAnswerFormat *format, int64 *answer)
{
	const GpbAnswerColumn *rests = &format->column[GPB_PARTIAL_RESTS];
	GpbFloatSum *sum = gpb_answer_float_sum(rests, answer);

	gpb_answer_normalize(format, answer);
	gpb_float_sum_merge(gpb_answer_float_sum(&format->column[GPB_PARTIAL_PRODUCTS], answer), sum);
	memset(sum, 0, sizeof(*sum));
}

void
gpb_sums_put(StringInfo to, GpbPartial *partial)
{
	const GpbAnswerFormat *format = partial->format;
	int64	   *answer = partial->answer;

	gpb_put_count(to, answer[format->column[0].count]);
	if (partial->type->form != GPB_FORM_FLOAT)
	{
		put_integers(to, &format->column[0], answer);
		return;
	}
	if (partial->kind == GPB_PARTIAL_OF_PAIRS)
		merge_rests(format, answer);
	for (int term = 0; term < Min(format->ncolumns, GPB_PARTIAL_RESTS); term++)
		put_floats(to, &format->column[term], answer);
}

/* A column that has none of an answer's words */
static const GpbAnswerColumn no_column;

/*
 * Read a state, and add what the columns into[], one for each of its terms, have words for.
 * Returns false if a narrow sum does not hold what it is to take.
 */
bool
gpb_sums_take_columns(GpbPartialReader *reader, GpbPartialKind kind, const GpbPartialType *type,
					  const GpbAnswerColumn *into, int64 *answer)
{
	const GpbAnswerFormat *format = partial_format(kind, type);
	int64		count = gpb_take_count(reader);

	if (count == 0)
		gpb_partial_damaged("it has no values");
	for (int term = 0; into != format->column && term < format->ncolumns; term++)
	{
		if (into[term].count != 0 && !column_has(&format->column[term], &into[term]))
			elog(ERROR, "an aggregate state lacks what an answer needs");
	}
	if (type->form != GPB_FORM_FLOAT)
	{
		take_integers(reader, &format->column[0], type->length, count, &into[0], answer);
		return true;
	}
	for (int term = 0; term < Min(format->ncolumns, GPB_PARTIAL_RESTS); term++)
	{
		if (!take_floats(reader, &format->column[term], type, count,
						 into[term].count != 0 ? &into[term] : &no_column, answer))
			return false;
	}
	if (kind == GPB_PARTIAL_OF_PAIRS)
		add_count(&into[GPB_PARTIAL_RESTS], count, answer);
	return true;
}

/* Read a state, and add it to one whose sums are wide. */
void
gpb_sums_take(GpbPartialReader *reader, GpbPartial *partial)
{
	(void) gpb_sums_take_columns(reader, partial->kind, partial->type, partial->format->column,
								 partial->answer);
}
