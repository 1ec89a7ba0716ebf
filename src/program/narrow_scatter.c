/*-------------------------------------------------------------------------
 *
 * narrow_scatter.c
 *	  Float8 values of a strip of entries, added to narrow sums of as many answers: AVX-512, AVX2,
 *	  plain C.
 *
 * A narrow sum has as many bins as a register of AVX-512 has lanes.  What a value adds to the bins
 * is then made in all lanes at once: lane b takes the 32 bits from bit 32 b on of the mantissa,
 * shifted as far as the exponent says, which are none for most lanes.
 *
 *-------------------------------------------------------------------------
 */
/* The loop over all words is worth the compiler's vectorizer, as in program_strip.c. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("O3")
#endif

#include "cpu_form.h"
#include "program/narrow_scatter.h"

/* One set of functions, in a form */
typedef struct GpbNarrowLoops
{
	bool		(*holds_all) (const int64 *words, int n);
	void		(*scatter) (const GpbNarrowTerm *terms, int nterms, int n, int64 *const *answers);
	void		(*add) (const int64 *words, int n, int64 *sum);
} GpbNarrowLoops;

/* ---- plain ---- */

GPB_FN bool
all_held(const int64 *words, int n)
{
	uint64		unheld = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64		word = (uint64) words[i];
		uint64		shift = (word >> 52 & 0x7FF) - (32 * GPB_NARROW_FIRST + 1);

		unheld |= (uint64) ((shift >= GPB_NARROW_SHIFTS) & (word << 1 != 0));
	}
	return unheld == 0;
}

static bool
holds_all_plain(const int64 *words, int n)
{
	return all_held(words, n);
}

static void
scatter_plain(const GpbNarrowTerm *terms, int nterms, int n, int64 *const *answers)
{
	int			i;
	int			t;

	for (i = 0; i < n; i++)
	{
		for (t = 0; t < nterms; t++)
		{
			answers[i][terms[t].count]++;
			(void) gpb_narrow_sum_add((GpbNarrowSum *) (answers[i] + terms[t].sum),
									  terms[t].words[i]);
		}
	}
}

static void
add_plain(const int64 *words, int n, int64 *sum)
{
	int			i;

	for (i = 0; i < n; i++)
		(void) gpb_narrow_sum_add((GpbNarrowSum *) sum, words[i]);
}

static const GpbNarrowLoops loops_plain = {holds_all_plain, scatter_plain, add_plain};

#ifdef GPB_HAVE_X86_FORMS

_Static_assert(GPB_NARROW_BINS == 8, "the forms below have eight bins");

#define GPB_MANTISSA		(((int64) 1 << 52) - 1)
#define GPB_HIDDEN_BIT		((int64) 1 << 52)

/* What is to be subtracted from an exponent for the shift in bin b; see gpb_narrow_shift() */
#define GPB_LANE_SHIFT(b)	(32 * (GPB_NARROW_FIRST + (b)) + 1)

/* ---- AVX2 ---- */

/* What is the same in all lanes: of a value and of all values */
typedef struct GpbCut256
{
	__m256i		exponent;
	__m256i		mantissa;
	__m256i		sign;			/* -1 if it is negative, else 0 */
} GpbCut256;

GPB_FN_AVX2 GpbCut256
cut_avx2(int64 bits)
{
	__m256i		word = _mm256_set1_epi64x(bits);
	GpbCut256	cut;

	cut.exponent = _mm256_and_si256(_mm256_srli_epi64(word, 52), _mm256_set1_epi64x(0x7FF));
	cut.mantissa = _mm256_or_si256(_mm256_and_si256(word, _mm256_set1_epi64x(GPB_MANTISSA)),
								   _mm256_set1_epi64x(GPB_HIDDEN_BIT));
	cut.sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), word);
	return cut;
}

/*
 * What the value adds to four bins, which have these shifts.  Shifts by 64 bits or more, of which
 * those by less than 0 are, leave nothing; so a zero adds nothing.
 */
GPB_FN_AVX2 __m256i
pieces_avx2(GpbCut256 cut, __m256i shifts)
{
	__m256i		left = _mm256_sllv_epi64(cut.mantissa, _mm256_sub_epi64(cut.exponent, shifts));
	__m256i		right = _mm256_srlv_epi64(cut.mantissa, _mm256_sub_epi64(shifts, cut.exponent));
	__m256i		piece = _mm256_and_si256(_mm256_or_si256(left, right),
										 _mm256_set1_epi64x(0xFFFFFFFF));

	return _mm256_sub_epi64(_mm256_xor_si256(piece, cut.sign), cut.sign);
}

GPB_FN_AVX2 __m256i
low_shifts_avx2(void)
{
	return _mm256_setr_epi64x(GPB_LANE_SHIFT(0), GPB_LANE_SHIFT(1), GPB_LANE_SHIFT(2),
							  GPB_LANE_SHIFT(3));
}

GPB_FN_AVX2 __m256i
high_shifts_avx2(void)
{
	return _mm256_setr_epi64x(GPB_LANE_SHIFT(4), GPB_LANE_SHIFT(5), GPB_LANE_SHIFT(6),
							  GPB_LANE_SHIFT(7));
}

GPB_FN_AVX2 void
store_more_avx2(int64 *words, __m256i more)
{
	__m256i    *at = (__m256i *) words;

	_mm256_storeu_si256(at, _mm256_add_epi64(_mm256_loadu_si256(at), more));
}

static GPB_TARGET_AVX2 bool
holds_all_avx2(const int64 *words, int n)
{
	return all_held(words, n);
}

static GPB_TARGET_AVX2 void
scatter_avx2(const GpbNarrowTerm *terms, int nterms, int n, int64 *const *answers)
{
	__m256i		low = low_shifts_avx2();
	__m256i		high = high_shifts_avx2();
	int			i;
	int			t;

	for (i = 0; i < n; i++)
	{
		int64	   *answer = answers[i];

		for (t = 0; t < nterms; t++)
		{
			GpbCut256	cut = cut_avx2(terms[t].words[i]);
			int64	   *sum = answer + terms[t].sum;

			answer[terms[t].count]++;
			store_more_avx2(sum, pieces_avx2(cut, low));
			store_more_avx2(sum + 4, pieces_avx2(cut, high));
		}
	}
}

static GPB_TARGET_AVX2 void
add_avx2(const int64 *words, int n, int64 *sum)
{
	__m256i		low = low_shifts_avx2();
	__m256i		high = high_shifts_avx2();
	__m256i		low_sum = _mm256_setzero_si256();
	__m256i		high_sum = _mm256_setzero_si256();
	int			i;

	for (i = 0; i < n; i++)
	{
		GpbCut256	cut = cut_avx2(words[i]);

		low_sum = _mm256_add_epi64(low_sum, pieces_avx2(cut, low));
		high_sum = _mm256_add_epi64(high_sum, pieces_avx2(cut, high));
	}
	store_more_avx2(sum, low_sum);
	store_more_avx2(sum + 4, high_sum);
}

static const GpbNarrowLoops loops_avx2 = {holds_all_avx2, scatter_avx2, add_avx2};

/* ---- AVX-512 ---- */

GPB_FN_AVX512 __m512i
shifts_avx512(void)
{
	return _mm512_setr_epi64(GPB_LANE_SHIFT(0), GPB_LANE_SHIFT(1), GPB_LANE_SHIFT(2),
							 GPB_LANE_SHIFT(3), GPB_LANE_SHIFT(4), GPB_LANE_SHIFT(5),
							 GPB_LANE_SHIFT(6), GPB_LANE_SHIFT(7));
}

/* What the value adds to all bins, as in the form for AVX2 */
GPB_FN_AVX512 __m512i
pieces_avx512(int64 bits, __m512i shifts)
{
	__m512i		word = _mm512_set1_epi64(bits);
	__m512i		exponent = _mm512_and_si512(_mm512_srli_epi64(word, 52), _mm512_set1_epi64(0x7FF));
	__m512i		mantissa = _mm512_or_si512(_mm512_and_si512(word, _mm512_set1_epi64(GPB_MANTISSA)),
										   _mm512_set1_epi64(GPB_HIDDEN_BIT));
	__m512i		left = _mm512_sllv_epi64(mantissa, _mm512_sub_epi64(exponent, shifts));
	__m512i		right = _mm512_srlv_epi64(mantissa, _mm512_sub_epi64(shifts, exponent));
	__m512i		piece = _mm512_and_si512(_mm512_or_si512(left, right),
										 _mm512_set1_epi64(0xFFFFFFFF));
	__m512i		sign = _mm512_srai_epi64(word, 63);

	return _mm512_sub_epi64(_mm512_xor_si512(piece, sign), sign);
}

GPB_FN_AVX512 void
store_more_avx512(int64 *words, __m512i more)
{
	_mm512_storeu_si512(words, _mm512_add_epi64(_mm512_loadu_si512(words), more));
}

static GPB_TARGET_AVX512 bool
holds_all_avx512(const int64 *words, int n)
{
	return all_held(words, n);
}

static GPB_TARGET_AVX512 void
scatter_avx512(const GpbNarrowTerm *terms, int nterms, int n, int64 *const *answers)
{
	__m512i		shifts = shifts_avx512();
	int			i;
	int			t;

	for (i = 0; i < n; i++)
	{
		int64	   *answer = answers[i];

		for (t = 0; t < nterms; t++)
		{
			answer[terms[t].count]++;
			store_more_avx512(answer + terms[t].sum, pieces_avx512(terms[t].words[i], shifts));
		}
	}
}

static GPB_TARGET_AVX512 void
add_avx512(const int64 *words, int n, int64 *sum)
{
	__m512i		shifts = shifts_avx512();
	__m512i		total = _mm512_setzero_si512();
	int			i;

	for (i = 0; i < n; i++)
		total = _mm512_add_epi64(total, pieces_avx512(words[i], shifts));
	store_more_avx512(sum, total);
}

static const GpbNarrowLoops loops_avx512 = {
	holds_all_avx512, scatter_avx512, add_avx512
};

#endif							/* x86-64 */

static const GpbNarrowLoops *const forms[GPB_CPU_FORMS] =
GPB_FORMS(&loops_plain, &loops_avx2, &loops_avx512);

bool
gpb_narrow_holds_all(const int64 *words, int n)
{
	return forms[gpb_cpu_form]->holds_all(words, n);
}

void
gpb_narrow_scatter(const GpbNarrowTerm *terms, int nterms, int n, int64 *const *answers)
{
	forms[gpb_cpu_form]->scatter(terms, nterms, n, answers);
}

void
gpb_narrow_add(const int64 *words, int n, int64 *sum)
{
	forms[gpb_cpu_form]->add(words, n, sum);
}
