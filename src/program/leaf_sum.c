/*-------------------------------------------------------------------------
 *
 * leaf_sum.c
 *	  The sum of a leaf's int4 values: AVX2, plain C.
 *
 * Three vectors hold eight rows of three words.  In each vector every third element is a value, and
 * no two of the vectors have values in the same element, so blending gathers the values; their
 * order does not matter.
 *
 *-------------------------------------------------------------------------
 */
#include "cpu_form.h"
#include "program/leaf_sum.h"

/* The flags of a locator are in the upper half of this word of its row. */
#define GPB_FLAGS_WORD	1
#define GPB_VALUE_WORD	2

typedef int64 (*GpbSumInt4) (const char *rows, int n, uint16 *flags);

static int64
sum_int4_plain(const char *rows, int n, uint16 *flags)
{
	const int32 *row = (const int32 *) rows;
	const int32 *end = row + n * (GPB_INT4_ROW_WIDTH / 4);
	uint32		bits = 0;
	int64		sum = 0;

	for (; row < end; row += GPB_INT4_ROW_WIDTH / 4)
	{
		bits |= (uint32) row[GPB_FLAGS_WORD];
		sum += row[GPB_VALUE_WORD];
	}
	*flags = (uint16) (bits >> 16);
	return sum;
}

#ifdef GPB_HAVE_X86_FORMS

/* Number of rows that are added up together */
#define GPB_GROUP	8

/*
 * The values are added up as unsigned ones, each larger than it is by 2^31, so that its upper half
 * in a sum of 64 bits is zero.
 */
static GPB_TARGET_AVX2 int64
sum_int4_avx2(const char *rows, int n, uint16 *flags)
{
	const __m256i bias = _mm256_set1_epi32((int) 0x80000000);
	const __m256i lower = _mm256_set1_epi64x(0xFFFFFFFF);
	__m256i		even = _mm256_setzero_si256();
	__m256i		odd = _mm256_setzero_si256();
	__m256i		bits = _mm256_setzero_si256();
	uint64		sums[4];
	uint32		words[8];
	uint16		rest;
	int			groups = n / GPB_GROUP;
	int64		sum;
	int			i;

	for (i = 0; i < groups; i++, rows += GPB_GROUP * GPB_INT4_ROW_WIDTH)
	{
		__m256i		a = _mm256_loadu_si256((const __m256i *) rows);
		__m256i		b = _mm256_loadu_si256((const __m256i *) (rows + 32));
		__m256i		c = _mm256_loadu_si256((const __m256i *) (rows + 64));
		__m256i		values = _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x49), c, 0x92);

		values = _mm256_xor_si256(values, bias);
		even = _mm256_add_epi64(even, _mm256_and_si256(values, lower));
		odd = _mm256_add_epi64(odd, _mm256_srli_epi64(values, 32));
		bits = _mm256_or_si256(bits, _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x24), c, 0x49));
	}
	_mm256_storeu_si256((__m256i *) sums, _mm256_add_epi64(even, odd));
	_mm256_storeu_si256((__m256i *) words, bits);
	sum = sum_int4_plain(rows, n % GPB_GROUP, &rest);
	sum += (int64) (sums[0] + sums[1] + sums[2] + sums[3]) - ((int64) groups * GPB_GROUP << 31);
	for (i = 1; i < GPB_GROUP; i++)
		words[0] |= words[i];
	*flags = (uint16) (words[0] >> 16) | rest;
	return sum;
}
#endif							/* x86-64 */

static const GpbSumInt4 sums[GPB_CPU_FORMS] =
GPB_FORMS(sum_int4_plain, sum_int4_avx2, sum_int4_avx2);

int64
gpb_sum_int4_rows(const char *rows, int n, uint16 *flags)
{
	return sums[gpb_cpu_form] (rows, n, flags);
}
