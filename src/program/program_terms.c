/*-------------------------------------------------------------------------
 *
 * program_terms.c
 *	  What the terms of a program add to answers, for a strip of entries whose steps are done.
 *
 *-------------------------------------------------------------------------
 */
#include "program/narrow_scatter.h"
#include "program/program_terms.h"

/*
 * Make the mask of the entries that count for a term: -1 where they do, else 0.  Returns their
 * number, and sets *masked to NULL, with no mask made, if all count.
 */
static int
term_mask(const GpbStrip *strip, const GpbTerm *term, int64 *mask, const int64 **masked)
{
	const GpbStripSlot *value = term->slot == GPB_NO_SLOT ? NULL : &strip->slot[term->slot];
	const int64 *filter = term->filter == GPB_NO_SLOT ? NULL : strip->slot[term->filter].words;
	const uint8 *nulls = value != NULL && value->has_nulls ? value->nulls : NULL;
	int64		count = 0;
	int			n = strip->n;
	int			i;

	*masked = NULL;
	if (filter == NULL && nulls == NULL)
		return n;
	for (i = 0; i < n; i++)
	{
		mask[i] = -(int64) ((filter == NULL || filter[i] != 0) &
							(nulls == NULL || nulls[i] == 0));
		count -= mask[i];
	}
	if (count < n)
		*masked = mask;
	return (int) count;
}

/* ---- one answer, or one for each entry: "each" says which ---- */

/* Add the squares of the float8 words that count; false if a narrow sum does not hold one. */
static bool
add_float_squares(const GpbAnswerColumn *column, const int64 *words, const int64 *mask, int n,
				  int64 *const *answers, bool each)
{
	bool		held = true;
	int			i;

	for (i = 0; i < n && held; i++)
	{
		if (mask == NULL || mask[i] != 0)
			held = gpb_exact_sum_add_square(column, answers[each ? i : 0] + column->float_squares,
											words[i]);
	}
	return held;
}

/* The words of the lower halves that a term takes, or NULL */
static const int64 *
lower_words(const GpbStrip *strip, const GpbTerm *term)
{
	int			lower = gpb_term_lower(term);

	return lower == GPB_NO_SLOT ? NULL : strip->slot[lower].words;
}

/* Take the values of two halves that count into a term's bounds. */
static void
add_halves(const GpbAnswerColumn *column, const GpbStrip *strip, const GpbTerm *term,
		   const int64 *mask, int64 *const *answers, bool each)
{
	const int64 *uppers = strip->slot[term->slot].words;
	const int64 *lowers = lower_words(strip, term);
	int			i;

	for (i = 0; i < strip->n; i++)
	{
		if (mask == NULL || mask[i] != 0)
			gpb_answer_add_halves(column, answers[each ? i : 0], uppers[i], lowers[i]);
	}
}

/* ---- one answer ---- */

/* Add what one finite value was cut into to the sum at "word" of an answer. */
static inline void
add_pieces(const GpbStripPieces *pieces, int i, int word, int64 *answer)
{
	int64	   *bin = answer + word + pieces->first[i];

	bin[0] += pieces->piece[0][i];
	bin[1] += pieces->piece[1][i];
	bin[2] += pieces->piece[2][i];
}

/*
 * Words of which those that do not count are 0, which adds nothing as a float8.  They are the words
 * themselves if all count, else in "room".
 */
static __attribute__((noinline)) const int64 *
masked_words(const int64 *words, const int64 *mask, int n, int64 *room)
{
	int			i;

	if (mask == NULL)
		return words;
	for (i = 0; i < n; i++)
		room[i] = words[i] & mask[i];
	return room;
}

/* Add the float8 words that count to a wide sum. */
static void
add_wide(const GpbAnswerColumn *column, const int64 *words, const int64 *mask, int n,
		 int64 *answer)
{
	GpbStripPieces pieces;
	bool		finite = gpb_strip_cut(words, mask, n, &pieces);
	int			i;

	for (i = 0; i < n; i++)
	{
		if (finite)
			add_pieces(&pieces, i, column->float_sum, answer);
		else if (mask == NULL || mask[i] != 0)
			gpb_float_sum_add(gpb_answer_float_sum(column, answer), words[i]);
	}
}

/* Add the float8 words that count to the exact sums of a term. */
static bool
add_floats(const GpbAnswerColumn *column, const int64 *words, const int64 *mask, int n,
		   int64 *answer)
{
	int64		masked[GPB_STRIP];

	if (!column->narrow)
		add_wide(column, words, mask, n, answer);
	else
	{
		const int64 *counting = masked_words(words, mask, n, masked);

		if (!gpb_narrow_holds_all(counting, n))
			return false;
		gpb_narrow_add(counting, n, answer + column->float_sum);
	}
	return column->float_squares == 0 ||
		add_float_squares(column, words, mask, n, &answer, false);
}

/* Combine the words that count with those of the answer, bit by bit. */
static void
add_bits(const GpbAnswerColumn *column, const int64 *words, const int64 *mask, int n,
		 int64 *answer)
{
	int64		bits[3] = {-1, 0, 0};

	gpb_strip_bits(words, mask, n, bits);
	if (column->bits_and != 0)
		answer[column->bits_and] &= bits[0];
	if (column->bits_or != 0)
		answer[column->bits_or] |= bits[1];
	if (column->bits_xor != 0)
		answer[column->bits_xor] ^= bits[2];
}

/* Add the strip's values of one term to an answer; false if a narrow sum does not hold one. */
static bool
add_term(const GpbStrip *strip, const GpbTerm *term, const GpbAnswerColumn *column, int64 *answer)
{
	int64		buffer[GPB_STRIP];
	const int64 *mask;
	const int64 *words;
	int			n = strip->n;
	int			count = term_mask(strip, term, buffer, &mask);

	answer[column->count] += count;
	if (count == 0 || term->slot == GPB_NO_SLOT)
		return true;
	words = strip->slot[term->slot].words;
	if (column->sum != 0)
	{
		uint64		low = 0;
		int64		high = 0;

		gpb_strip_sum(words, mask, n, &low, &high);
		gpb_answer_add_sum(answer + column->sum, low, high);
	}
	if (column->minmax != 0)
		gpb_strip_bounds(words, mask, n, column->kind == GPB_KIND_FLOAT8,
						 &answer[column->minmax], &answer[column->minmax + 1]);
	if (column->squares != 0)
		gpb_strip_squares(words, mask, n, answer + column->squares);
	if (column->bits_and != 0 || column->bits_or != 0 || column->bits_xor != 0)
		add_bits(column, words, mask, n, answer);
	if (column->halves != 0)
		add_halves(column, strip, term, mask, &answer, false);
	return column->float_sum == 0 || add_floats(column, words, mask, n, answer);
}

bool
gpb_terms_add(const GpbStrip *strip, const GpbAnswerFormat *format, int64 *answer)
{
	int			t;

	answer[0] += strip->n;
	for (t = 0; t < strip->program->nterms; t++)
	{
		if (!add_term(strip, &strip->program->term[t], &format->column[t], answer))
			return false;
	}
	if (answer[0] / GPB_CARRY_VALUES != (answer[0] - strip->n) / GPB_CARRY_VALUES)
		gpb_answer_normalize(format, answer);
	return true;
}

/* ---- an answer for each entry ---- */

/* The kinds of loops over entries whose answers differ */
typedef enum GpbScatter
{
	GPB_SCATTER_COUNT,			/* nothing but the count */
	GPB_SCATTER_SUM,			/* and the sum of integers */
	GPB_SCATTER_FLOAT_SUM,		/* and the exact sum of float8 */
	GPB_SCATTER_ANY
} GpbScatter;

static GpbScatter
scatter_kind(const GpbTerm *term, const GpbAnswerColumn *column)
{
	if (term->slot == GPB_NO_SLOT || (term->want & ~GPB_WANT_COUNT) == 0)
		return GPB_SCATTER_COUNT;
	if ((term->want & ~(GPB_WANT_COUNT | GPB_WANT_SUM)) == 0)
		return column->sum != 0 ? GPB_SCATTER_SUM : GPB_SCATTER_FLOAT_SUM;
	return GPB_SCATTER_ANY;
}

/* Add to counts; the words of NULLs are 0, and of those that a filter leaves out, by the mask. */
static void
scatter_counts(int word, const int64 *mask, int n, int64 *const *answers)
{
	int			i;

	for (i = 0; i < n; i++)
		answers[i][word] += mask == NULL ? 1 : -mask[i];
}

static void
scatter_sums(const GpbAnswerColumn *column, const int64 *words, const int64 *mask, int n,
			 int64 *const *answers)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		int64		word = mask == NULL ? words[i] : words[i] & mask[i];

		gpb_answer_add_sum(answers[i] + column->sum, (uint64) word, word >> 63);
	}
}

/* Add values in any way, but not to narrow sums. */
static void
scatter_values(const GpbAnswerColumn *column, const int64 *words, const int64 *mask, int n,
			   int64 *const *answers)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		if (mask == NULL || mask[i] != 0)
			(void) gpb_answer_add_value(column, answers[i], words[i]);
	}
}

/* Add float8 words to counts and wide sums, of which only the three bins of a value are written. */
static void
scatter_wide(const GpbAnswerColumn *column, const int64 *words, const int64 *mask, int n,
			 int64 *const *answers)
{
	GpbStripPieces pieces;
	int			i;

	if (!gpb_strip_cut(words, mask, n, &pieces))
	{
		scatter_values(column, words, mask, n, answers);
		return;
	}
	for (i = 0; i < n; i++)
	{
		add_pieces(&pieces, i, column->float_sum, answers[i]);
		answers[i][column->count] += mask == NULL ? 1 : -mask[i];
	}
}

/* Terms of narrow sums that all entries of a strip count for, to be added together */
typedef struct GpbNarrowTerms
{
	int			n;
	GpbNarrowTerm term[GPB_MAX_TERMS];
} GpbNarrowTerms;

/*
 * Add float8 words to counts and narrow sums; those that all count are left for later.  Returns
 * false if a narrow sum does not hold one.
 */
static bool
scatter_narrow(const GpbAnswerColumn *column, const int64 *words, const int64 *mask, int n,
			   int64 *const *answers, GpbNarrowTerms *later)
{
	int64		masked[GPB_STRIP];
	GpbNarrowTerm term = {
		masked_words(words, mask, n, masked), column->float_sum, column->count
	};
	int			i;

	if (!gpb_narrow_holds_all(term.words, n))
		return false;
	if (mask == NULL)
	{
		later->term[later->n++] = term;
		return true;
	}
	gpb_narrow_scatter(&term, 1, n, answers);
	/* Entries that do not count were counted with the others. */
	for (i = 0; i < n; i++)
		answers[i][column->count] -= 1 + mask[i];
	return true;
}

/* Take the float8 words that count into bounds. */
static void
scatter_float_bounds(int minmax, const int64 *words, const int64 *mask, int n,
					 int64 *const *answers)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		int64	   *bounds = answers[i] + minmax;
		int64		word = gpb_float_order(words[i]);

		if (mask != NULL && mask[i] == 0)
			continue;
		bounds[0] = word < bounds[0] ? word : bounds[0];
		bounds[1] = word > bounds[1] ? word : bounds[1];
	}
}

/*
 * Add float8 words to narrow sums, and to what else the column has.  Those that all count are left
 * for later in the sums.  Returns false if a narrow sum does not hold one.
 */
static bool
scatter_any_narrow(const GpbAnswerColumn *column, const int64 *words, const int64 *mask, int n,
				   int64 *const *answers, GpbNarrowTerms *later)
{
	if (column->minmax != 0)
		scatter_float_bounds(column->minmax, words, mask, n, answers);
	return scatter_narrow(column, words, mask, n, answers, later) &&
		(column->float_squares == 0 ||
		 add_float_squares(column, words, mask, n, answers, true));
}

/* Count the entries; returns whether exact sums must carry then. */
static bool
scatter_entries(int n, int64 *const *answers)
{
	bool		carry = false;
	int			i;

	for (i = 0; i < n; i++)
		carry |= ++answers[i][0] % GPB_CARRY_VALUES == 0;
	return carry;
}

bool
gpb_terms_scatter(const GpbStrip *strip, const GpbAnswerFormat *format, int64 *const *answers)
{
	int64		buffer[GPB_STRIP];
	GpbNarrowTerms later = {0};
	int			n = strip->n;
	bool		carry = scatter_entries(n, answers);
	int			t;
	int			i;

	for (t = 0; t < strip->program->nterms; t++)
	{
		const GpbTerm *term = &strip->program->term[t];
		const GpbAnswerColumn *column = &format->column[t];
		const int64 *words;
		const int64 *mask;

		if (term_mask(strip, term, buffer, &mask) == 0)
			continue;
		words = term->slot == GPB_NO_SLOT ? NULL : strip->slot[term->slot].words;
		switch (scatter_kind(term, column))
		{
			case GPB_SCATTER_SUM:
				scatter_sums(column, words, mask, n, answers);
				scatter_counts(column->count, mask, n, answers);
				break;
			case GPB_SCATTER_COUNT:
				scatter_counts(column->count, mask, n, answers);
				break;
			case GPB_SCATTER_FLOAT_SUM:
				if (!column->narrow)
					scatter_wide(column, words, mask, n, answers);
				else if (!scatter_narrow(column, words, mask, n, answers, &later))
					return false;
				break;
			case GPB_SCATTER_ANY:
				if (!column->narrow || column->float_sum == 0)
					scatter_values(column, words, mask, n, answers);
				else if (!scatter_any_narrow(column, words, mask, n, answers, &later))
					return false;
				if (column->halves != 0)
					add_halves(column, strip, term, mask, answers, true);
				break;
		}
	}
	gpb_narrow_scatter(later.term, later.n, n, answers);
	for (i = 0; i < n && carry; i++)
		gpb_answer_normalize(format, answers[i]);
	return true;
}

/* ---- entries that count many times ---- */

/* Add the square of a value, "weight" times, to the 192-bit sum at *sum. */
static void
weigh_square(int64 value, int64 weight, int64 *sum)
{
	uint64		high;
	uint64		low = gpb_square(value, &high);
	unsigned __int128 lower = (unsigned __int128) low * (uint64) weight;
	unsigned __int128 upper = (unsigned __int128) high * (uint64) weight + (uint64) (lower >> 64);
	int64		product[3] = {(int64) lower, (int64) upper, (int64) (upper >> 64)};

	gpb_answer_add_squares(sum, product);
}

/* Add a value, which is no NULL, "weight" times; if it is a sum already, that once. */
static void
weigh_value(const GpbAnswerColumn *column, int64 value, int64 weight, bool is_sum, int64 *answer)
{
	answer[column->count] += weight;
	if (column->sum != 0)
	{
		__int128	sum = (__int128) value * (is_sum ? 1 : weight);

		gpb_answer_add_sum(answer + column->sum, (uint64) sum, (int64) (sum >> 64));
	}
	if (column->squares != 0)
		weigh_square(value, weight, answer + column->squares);
	if (column->bits_and != 0)
		answer[column->bits_and] &= value;
	if (column->bits_or != 0)
		answer[column->bits_or] |= value;
	if (column->bits_xor != 0)
		answer[column->bits_xor] ^= weight % 2 != 0 ? value : 0;
	if (column->minmax != 0)
		gpb_strip_bounds(&value, NULL, 1, column->kind == GPB_KIND_FLOAT8,
						 &answer[column->minmax], &answer[column->minmax + 1]);
}

void
gpb_terms_weigh(const GpbStrip *strip, const GpbAnswerFormat *format, const int64 *weight,
				uint32 sums, int64 *const *answers)
{
	int64		buffer[GPB_STRIP];
	int			n = strip->n;
	int			t;
	int			i;

	for (i = 0; i < n; i++)
		answers[i][0] += weight[i];
	for (t = 0; t < strip->program->nterms; t++)
	{
		const GpbTerm *term = &strip->program->term[t];
		const GpbAnswerColumn *column = &format->column[t];
		bool		counts = term->slot == GPB_NO_SLOT;
		bool		is_sum = !counts && term->slot < GPB_FIRST_CONSTANT &&
			(sums >> term->slot & 1) != 0;
		const int64 *mask;

		if (term_mask(strip, term, buffer, &mask) == 0)
			continue;
		for (i = 0; i < n; i++)
		{
			if (mask != NULL && mask[i] == 0)
				continue;
			if (counts)
				answers[i][column->count] += weight[i];
			else
				weigh_value(column, strip->slot[term->slot].words[i], weight[i], is_sum,
							answers[i]);
			if (column->halves != 0)
				gpb_answer_add_halves(column, answers[i], strip->slot[term->slot].words[i],
									  lower_words(strip, term)[i]);
		}
	}
}
