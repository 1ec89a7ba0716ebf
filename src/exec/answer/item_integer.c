/*-------------------------------------------------------------------------
 *
 * item_integer.c
 *	  Integers of 128 and 192 bits as numeric, and the variance of integers.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "exec/answer/item_final.h"
#include "exec/answer/item_number.h"
#include "exec/compile/program_words.h"
#include "page/numeric.h"
#include "page/numeric_core.h"

static Numeric
multiply(Numeric a, Numeric b)
{
	return gpb_numeric_of(numeric_mul, a, b);
}

/* ---- integers of many words ---- */

/* Negate n words in two's complement, the lowest first. */
static void
negate_words(int64 *word, int n)
{
	bool		carry = true;

	for (int i = 0; i < n; i++)
	{
		word[i] = (int64) (~(uint64) word[i] + carry);
		carry = carry && word[i] == 0;
	}
}

/* Add "b" to "a", both of n words. */
static void
add_words(int64 *a, const int64 *b, int n)
{
	uint128		carry = 0;

	for (int i = 0; i < n; i++)
	{
		carry += (uint128) (uint64) a[i] + (uint64) b[i];
		a[i] = (int64) carry;
		carry >>= 64;
	}
}

#define GPB_MAX_PIECES		6

/*
 * An integer of n words in two's complement, of which the lowest is first, as numeric.  The digits
 * come from long division by ten, of pieces of 32 bits.
 */
static Numeric
words_numeric(const int64 *word, int n)
{
	uint32		piece[GPB_MAX_PIECES];	/* the highest first */
	char		digits[GPB_MAX_PIECES * 10 + 2];
	char	   *p = digits + sizeof(digits);
	bool		negative = word[n - 1] < 0;
	uint64		carry = negative;
	bool		more;

	for (int i = 0; i < n; i++)
	{
		uint64		size = (negative ? ~(uint64) word[i] : (uint64) word[i]) + carry;

		carry = carry != 0 && size == 0;
		piece[2 * (n - 1 - i)] = size >> 32;
		piece[2 * (n - 1 - i) + 1] = size;
	}
	*--p = '\0';
	do
	{
		uint64		remainder = 0;

		more = false;
		for (int i = 0; i < 2 * n; i++)
		{
			remainder = (remainder << 32) | piece[i];
			piece[i] = remainder / 10;
			more |= piece[i] != 0;
			remainder %= 10;
		}
		*--p = '0' + remainder;
	} while (more);
	if (negative)
		*--p = '-';

	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(p),
											   ObjectIdGetDatum(InvalidOid),
											   Int32GetDatum(-1)));
}

/* Make n words ten times as much, and a digit more.  Returns false if they overflow. */
static bool
append_digit(int64 *word, int n, int digit)
{
	uint128		carry = digit;

	for (int i = 0; i < n; i++)
	{
		carry += (uint128) (uint64) word[i] * 10;
		word[i] = (int64) carry;
		carry >>= 64;
	}
	return carry == 0 && word[n - 1] >= 0;
}

/*
 * The reverse: value * 10^scale as n words.  Returns false if it has more words, or more digits
 * behind the point.
 */
static bool
numeric_words(Numeric value, int scale, int64 *word, int n)
{
	const char *text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value)));
	bool		negative = *text == '-';
	const char *point = strchr(text, '.');
	int			missing = scale - (point == NULL ? 0 : (int) strlen(point + 1));

	if (missing < 0)
		return false;
	memset(word, 0, sizeof(int64) * n);
	for (const char *p = text + negative; *p != '\0'; p++)
	{
		if (p != point && !append_digit(word, n, *p - '0'))
			return false;
	}
	while (missing-- > 0)
	{
		if (!append_digit(word, n, 0))
			return false;
	}
	if (negative)
		negate_words(word, n);
	return true;
}

Numeric
gpb_int128_numeric(uint64 low, int64 high)
{
	if (high == (int64) low >> 63)
		return int64_to_numeric((int64) low);
	return words_numeric((int64[]) {(int64) low, high}, 2);
}

Numeric
gpb_integer_sum(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	int64		low = answer[column->sum];
	int64		high = answer[column->sum + 1];
	int			scale = item->type.scale;
	Numeric		sum;

	if (high == low >> 63 && low > -GPB_NUMERIC_BEYOND && low < GPB_NUMERIC_BEYOND &&
		scale <= GPB_NUMERIC_DIGITS)
		return DatumGetNumeric(gpb_numeric_datum(low, scale));
	sum = gpb_int128_numeric((uint64) low, high);
	if (item->type.sql != NUMERICOID)
		return sum;
	return multiply(sum, DatumGetNumeric(gpb_word_datum(item->type, 1)));
}

/*
 * A sum of squares, of three words of which the lowest is first, as numeric.  Each is below 2^127,
 * so the sum of as many as can be is below 2^191.
 */
static Numeric
squares_numeric(const int64 *squares)
{
	if (squares[2] == 0 && squares[1] >= 0)
		return gpb_int128_numeric((uint64) squares[0], squares[1]);
	return words_numeric(squares, 3);
}

/* A sum of squares of integers as that of squares of decimals of this scale */
static Numeric
scaled_squares(Numeric squares, int scale)
{
	return scale == 0 ? squares : multiply(squares, int64_div_fast_to_numeric(1, 2 * scale));
}

Numeric
gpb_integer_squares(const GpbAggregateItem *item, const GpbAnswerColumn *column,
					const int64 *answer)
{
	return scaled_squares(squares_numeric(answer + column->squares), item->type.scale);
}

/* A lower half is 2^63 less than the low word of its number, which has no sign. */
Numeric
gpb_halves_numeric(const int64 *upper, const int64 *lower, int64 count, int scale)
{
	uint128		sum = ((uint128) upper[1] << 64) + (uint64) upper[0];
	int128		lows = (int128) ((uint128) lower[1] << 64) + (uint64) lower[0] +
		((int128) count << 63);
	int64		word[3];
	int128		number;

	/* The sum of the low words is not negative; what it has above 64 bits belongs to the others. */
	sum += (uint64) (lows >> 64);
	word[0] = (int64) lows;
	word[1] = (int64) sum;
	word[2] = (int64) (sum >> 64);
	number = (int128) ((uint128) word[1] << 64 | (uint64) word[0]);
	if (word[2] == word[1] >> 63 && number > -GPB_WIDE_NUMERIC_BEYOND &&
		number < GPB_WIDE_NUMERIC_BEYOND)
		return DatumGetNumeric(gpb_wide_numeric_datum(number, scale));
	return multiply(words_numeric(word, 3), DatumGetNumeric(gpb_numeric_datum(1, scale)));
}

/* ---- variance ---- */

static Numeric
round_to(Numeric value, int scale)
{
	return DatumGetNumeric(DirectFunctionCall2(numeric_round, NumericGetDatum(value),
											   Int32GetDatum(scale)));
}

static Numeric
square_root(Numeric value)
{
	return DatumGetNumeric(DirectFunctionCall1(numeric_sqrt, NumericGetDatum(value)));
}

/*
 * The root of a variance with as many digits as that has, as core's stddev() rounds it.
 * numeric_sqrt() may give more, and to round those again might go wrong where they look like a tie.
 * So it is made to give so many digits that they cannot, unless it is one: a variance of s digits
 * has no root within 10^-(2s + m + 2) of a tie of s digits but the tie itself, if the root is below
 * 10^m.
 */
static Numeric
variance_root(Numeric variance, int m)
{
	int			scale = gpb_numeric_scale(variance);
	Numeric		root = square_root(variance);

	if (gpb_numeric_scale(root) == scale)
		return root;
	return round_to(square_root(round_to(variance, 2 * scale + m + 4)), scale);
}

/*
 * As core's numeric_stddev_internal(): (N * sum of squares - square of sum) / (N * N), or / (N *
 * (N - 1)) for a sample, where the quotient gets the digits of numeric division.  The sums are of
 * integers, and the squares of decimals have twice their scale.  The root is below 10^m.
 */
static Numeric
variance_of(int64 count, Numeric sum, Numeric squares, int scale, bool sample, bool root, int m)
{
	Numeric		n = int64_to_numeric(count);
	Numeric		above = gpb_numeric_of(numeric_sub, multiply(n, squares), multiply(sum, sum));
	Numeric		below = multiply(n, sample ? int64_to_numeric(count - 1) : n);
	Numeric		zero = int64_to_numeric(0);
	Numeric		variance;

	if (gpb_numeric_compare(above, zero) <= 0)
		return zero;
	if (scale > 0)
		above = multiply(above, int64_div_fast_to_numeric(1, 2 * scale));
	variance = gpb_numeric_of(numeric_div, above, below);
	return root ? variance_root(variance, m) : variance;
}

Numeric
gpb_integer_variance(const GpbAnswerColumn *column, const int64 *answer, int scale, bool sample,
					 bool root)
{
	return variance_of(answer[column->count],
					   gpb_int128_numeric((uint64) answer[column->sum], answer[column->sum + 1]),
					   squares_numeric(answer + column->squares), scale, sample, root, 20);
}

/* The digits that a numeric has before the point, or more */
static int
whole_digits(Numeric value)
{
	Datum		whole = DirectFunctionCall2(numeric_trunc, NumericGetDatum(value),
											Int32GetDatum(0));

	return (int) strlen(numeric_normalize(DatumGetNumeric(whole)));
}

Numeric
gpb_numeric_variance(int64 count, Numeric sum, Numeric squares, bool sample, bool root)
{
	/* no value is above the root of the squares' sum, nor is what they deviate by */
	return variance_of(count, sum, squares, 0, sample, root, whole_digits(squares) / 2 + 2);
}

/* a + b * 2^bits */
static Numeric
shifted_sum(Numeric a, Numeric b, int bits)
{
	Numeric		power = int64_to_numeric(1);

	for (; bits > 0; bits -= Min(bits, 32))
		power = multiply(power, int64_to_numeric(INT64CONST(1) << Min(bits, 32)));
	return gpb_numeric_of(numeric_add, a, multiply(b, power));
}

/*
 * The sum of the squares of integers.  That of one, u * 2^64 + v by its upper half and low word, is
 * u^2 * 2^128 + u * v * 2^65 + v^2; and v is the lower half w + 2^63, so v^2 is w^2 + w * 2^64 +
 * 2^126.
 */
static Numeric
halves_squares(const GpbAggregateItem *item, const GpbAnswerColumn *columns, const int64 *answer)
{
	const GpbItemTerms *terms = &item->terms;
	const GpbAnswerColumn *upper = &columns[item->column];
	const GpbAnswerColumn *lower = &columns[terms->lower];
	int64		count = answer[upper->count];
	Numeric		products = gpb_halves_numeric(answer + columns[terms->cross_upper].sum,
											  answer + columns[terms->cross_lower].sum, count, 0);
	Numeric		lowers = gpb_int128_numeric((uint64) answer[lower->sum], answer[lower->sum + 1]);
	Numeric		squares = squares_numeric(answer + lower->squares);

	squares = shifted_sum(squares, lowers, 64);
	squares = shifted_sum(squares, int64_to_numeric(count), 126);
	squares = shifted_sum(squares, products, 65);
	return shifted_sum(squares, squares_numeric(answer + upper->squares), 128);
}

/* The sum of an item's integers, with this scale */
static Numeric
halves_sum(const GpbAggregateItem *item, const GpbAnswerColumn *columns, const int64 *answer,
		   int scale)
{
	const GpbAnswerColumn *upper = &columns[item->column];

	return gpb_halves_numeric(answer + upper->sum, answer + columns[item->terms.lower].sum,
							  answer[upper->count], scale);
}

Numeric
gpb_numerics_sum(const GpbAggregateItem *item, const GpbAnswerColumn *columns, const int64 *answer)
{
	return halves_sum(item, columns, answer, item->type.scale);
}

Numeric
gpb_numerics_squares(const GpbAggregateItem *item, const GpbAnswerColumn *columns,
					 const int64 *answer)
{
	return scaled_squares(halves_squares(item, columns, answer), item->type.scale);
}

Numeric
gpb_halves_variance(const GpbAggregateItem *item, const GpbAnswerColumn *columns,
					const int64 *answer, int scale, bool sample, bool root)
{
	return variance_of(answer[columns[item->column].count], halves_sum(item, columns, answer, 0),
					   halves_squares(item, columns, answer), scale, sample, root, 40);
}

/* ---- words of sums ---- */

/* Words of the sum of squares of numerics of 128 bits */
#define GPB_WIDE_SQUARES	5

/* The words of an integer of 128 bits shifted to the left, so many as squares have */
static void
shifted_words(int128 number, int bits, int64 *word)
{
	int			first = bits / 64;
	int			shift = bits % 64;

	for (int i = 0; i < GPB_WIDE_SQUARES; i++)
		word[i] = number < 0 ? -1 : 0;
	memset(word, 0, sizeof(int64) * first);
	word[first] = (int64) ((uint128) number << shift);
	word[first + 1] = (int64) (number >> (64 - shift));
	if (shift > 0)
		word[first + 2] = (int64) (number >> 64 >> (64 - shift));
}

/*
 * Halves of which halves_squares() makes the squares' sum: with no products, what the lower halves'
 * own sum adds is taken from the squares.
 */
static bool
squares_words(Numeric squares, int64 count, int128 lows, int scale, GpbNumericsWords *words)
{
	int64		rest[GPB_WIDE_SQUARES];
	int64		term[GPB_WIDE_SQUARES];
	int128		bias = -((int128) count << 63);

	if (!numeric_words(squares, 2 * scale, rest, GPB_WIDE_SQUARES))
		return false;
	shifted_words(-lows, 64, term);
	add_words(rest, term, GPB_WIDE_SQUARES);
	shifted_words(-(int128) count, 126, term);
	add_words(rest, term, GPB_WIDE_SQUARES);
	memcpy(words->squares[GPB_NUMERICS_LOWER], rest, sizeof(int64) * 2);
	memcpy(words->squares[GPB_NUMERICS_UPPER], rest + 2, sizeof(int64) * 3);
	words->sum[GPB_NUMERICS_CROSS_LOWER][0] = (int64) bias;
	words->sum[GPB_NUMERICS_CROSS_LOWER][1] = (int64) (bias >> 64);
	return true;
}

bool
gpb_numerics_words(Numeric sum, Numeric squares, int64 count, int scale, bool wide,
				   GpbNumericsWords *words)
{
	int64		word[3];
	int128		lows;

	memset(words, 0, sizeof(*words));
	/* a sum shows as many digits as its values */
	if (gpb_numeric_scale(sum) != scale || !numeric_words(sum, scale, word, lengthof(word)))
		return false;
	if (!wide)
	{
		memcpy(words->sum[GPB_NUMERICS_UPPER], word, sizeof(int64) * 2);
		return word[2] == word[1] >> 63 &&
			(squares == NULL || numeric_words(squares, 2 * scale,
											  words->squares[GPB_NUMERICS_UPPER], 3));
	}
	lows = (int128) (uint64) word[0] - ((int128) count << 63);
	words->sum[GPB_NUMERICS_LOWER][0] = (int64) lows;
	words->sum[GPB_NUMERICS_LOWER][1] = (int64) (lows >> 64);
	memcpy(words->sum[GPB_NUMERICS_UPPER], word + 1, sizeof(int64) * 2);
	return squares == NULL || squares_words(squares, count, lows, scale, words);
}
