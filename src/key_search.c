/*-------------------------------------------------------------------------
 *
 * key_search.c
 *	  Search among the keys of one page: for one key in plain C, for many with AVX-512, AVX2 or
 *	  plain C.
 *
 * One key is searched for by gpb_keys_lower_bound(), whatever the CPU has.  A gather of the keys
 * that a step compares with takes longer than the loads one by one: 40 to 49 ns a page against 26,
 * and far longer on processors whose gathers wait for the mitigation of Downfall.  Nor does a
 * statement that looks up one key slow its core down with wide vectors.
 *
 * Many keys are searched for by halving, each in an element of a vector of its own.  The number of
 * steps depends on the number of keys on the page alone, so the searches never diverge, and the
 * loads of a step do not wait for each other (the idea of Kim et al., FAST, SIGMOD 2010, and of
 * group prefetching, Chen et al., ICDE 2004).
 *
 *-------------------------------------------------------------------------
 */
#include "cpu_form.h"
#include "key_search.h"

/* Number of searches that advance in step in plain C */
#define GPB_SEARCH_GROUP	8

/* Number of keys of at most 8 bytes that are brought to this width at a time */
#define GPB_NARROWED		64

/* One form of the search for many keys, of 4, 8 and 16 bytes */
typedef struct GpbKeySearcher
{
	void		(*many4) (const void *page, int n, const uint64 *keys, int nkeys, uint16 *below);
	void		(*many8) (const void *page, int n, const uint64 *keys, int nkeys, uint16 *below);
	void		(*many16) (const void *page, int n, const GpbKey *keys, int nkeys, uint16 *below);
} GpbKeySearcher;

/* ---- plain C ---- */

/* Search for many keys of 4 or 8 bytes in plain C.  Callers pass key_width as a constant. */
GPB_FN void
gpb_many_plain(const void *page, int key_width, int n, const uint64 *keys, int nkeys,
			   uint16 *below)
{
	int			first;
	int			i;

	for (first = 0; first + GPB_SEARCH_GROUP <= nkeys; first += GPB_SEARCH_GROUP)
	{
		int			base[GPB_SEARCH_GROUP] = {0};
		int			left = n;

		while (left > 1)
		{
			int			half = left / 2;

			for (i = 0; i < GPB_SEARCH_GROUP; i++)
				base[i] += (uint64) gpb_page_key(page, key_width, base[i] + half - 1) <
					keys[first + i] ? half : 0;
			left -= half;
		}
		for (i = 0; i < GPB_SEARCH_GROUP; i++)
			below[first + i] = (uint16) (base[i] + (left > 0 &&
													(uint64) gpb_page_key(page, key_width,
																		  base[i]) <
													keys[first + i]));
	}
	for (; first < nkeys; first++)
		below[first] = (uint16) gpb_keys_lower_bound(page, key_width, n, keys[first]);
}

static void
many4_plain(const void *page, int n, const uint64 *keys, int nkeys, uint16 *below)
{
	gpb_many_plain(page, 4, n, keys, nkeys, below);
}

static void
many8_plain(const void *page, int n, const uint64 *keys, int nkeys, uint16 *below)
{
	gpb_many_plain(page, 8, n, keys, nkeys, below);
}

static void
many16_plain(const void *page, int n, const GpbKey *keys, int nkeys, uint16 *below)
{
	int			i;

	for (i = 0; i < nkeys; i++)
		below[i] = (uint16) gpb_keys_lower_bound(page, GPB_WIDE_KEY, n, keys[i]);
}

static const GpbKeySearcher searcher_plain = {
	many4_plain, many8_plain, many16_plain
};

#ifdef GPB_HAVE_X86_FORMS

/* ---- AVX2 ---- */

/* AVX2 compares signed integers only, so both sides get their sign bit flipped. */
static GPB_TARGET_AVX2 void
many4_avx2(const void *page, int n, const uint64 *keys, int nkeys, uint16 *below)
{
	const int  *all = (const int *) ((const char *) page + GPB_PAGE_HEADER);
	const __m256i sign = _mm256_set1_epi32((int) 0x80000000u);
	int			first;
	int			i;

	for (first = 0; first + 8 <= nkeys; first += 8)
	{
		uint32		wanted[8];
		uint32		found[8];
		__m256i		base = _mm256_setzero_si256();
		__m256i		k;
		int			left = n;

		for (i = 0; i < 8; i++)
			wanted[i] = (uint32) keys[first + i];
		k = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *) wanted), sign);
		while (left > 0)
		{
			int			half = left > 1 ? left / 2 : 1;
			__m256i		v = _mm256_i32gather_epi32(all + half - 1, base, 4);
			__m256i		less = _mm256_cmpgt_epi32(k, _mm256_xor_si256(v, sign));

			base = _mm256_add_epi32(base, _mm256_and_si256(less, _mm256_set1_epi32(half)));
			left -= half;
		}
		_mm256_storeu_si256((__m256i *) found, base);
		for (i = 0; i < 8; i++)
			below[first + i] = (uint16) found[i];
	}
	for (; first < nkeys; first++)
		below[first] = (uint16) gpb_keys_lower_bound(page, 4, n, keys[first]);
}

static GPB_TARGET_AVX2 void
many8_avx2(const void *page, int n, const uint64 *keys, int nkeys, uint16 *below)
{
	const long long *all = (const long long *) ((const char *) page + GPB_PAGE_HEADER);
	const __m256i sign = _mm256_set1_epi64x((long long) ((uint64) 1 << 63));
	int			first;
	int			i;

	for (first = 0; first + 8 <= nkeys; first += 8)
	{
		__m256i		base[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
		__m256i		k[2];
		uint64		found[8];
		int			left = n;

		for (i = 0; i < 2; i++)
			k[i] = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *) (keys + first + 4 * i)),
									sign);
		while (left > 0)
		{
			int			half = left > 1 ? left / 2 : 1;
			const __m256i skip = _mm256_set1_epi64x(half);

			for (i = 0; i < 2; i++)
			{
				__m256i		v = _mm256_i64gather_epi64(all + half - 1, base[i], 8);
				__m256i		less = _mm256_cmpgt_epi64(k[i], _mm256_xor_si256(v, sign));

				base[i] = _mm256_add_epi64(base[i], _mm256_and_si256(less, skip));
			}
			left -= half;
		}
		for (i = 0; i < 2; i++)
			_mm256_storeu_si256((__m256i *) (found + 4 * i), base[i]);
		for (i = 0; i < 8; i++)
			below[first + i] = (uint16) found[i];
	}
	for (; first < nkeys; first++)
		below[first] = (uint16) gpb_keys_lower_bound(page, 8, n, keys[first]);
}

static GPB_TARGET_AVX2 void
many16_avx2(const void *page, int n, const GpbKey *keys, int nkeys, uint16 *below)
{
	const long long *all = (const long long *) ((const char *) page +
												gpb_key_place(GPB_WIDE_KEY, 0));
	const __m256i sign = _mm256_set1_epi64x((long long) ((uint64) 1 << 63));
	int			first;
	int			i;

	for (first = 0; first + 4 <= nkeys; first += 4)
	{
		const __m256i a = _mm256_loadu_si256((const __m256i *) (keys + first));
		const __m256i b = _mm256_loadu_si256((const __m256i *) (keys + first + 2));
		/* Lanes are keys 0, 2, 1, 3. */
		const __m256i low = _mm256_xor_si256(_mm256_unpacklo_epi64(a, b), sign);
		const __m256i high = _mm256_xor_si256(_mm256_unpackhi_epi64(a, b), sign);
		__m256i		base = _mm256_setzero_si256();	/* twice the positions */
		uint64		found[4];
		int			left = n;

		while (left > 0)
		{
			int			half = left > 1 ? left / 2 : 1;
			const long long *at = all + 2 * (half - 1);
			__m256i		v = _mm256_xor_si256(_mm256_i64gather_epi64(at, base, 8), sign);
			__m256i		w = _mm256_xor_si256(_mm256_i64gather_epi64(at + 1, base, 8), sign);
			__m256i		less = _mm256_or_si256(_mm256_cmpgt_epi64(high, w),
											   _mm256_and_si256(_mm256_cmpeq_epi64(high, w),
																_mm256_cmpgt_epi64(low, v)));

			base = _mm256_add_epi64(base, _mm256_and_si256(less, _mm256_set1_epi64x(2 * half)));
			left -= half;
		}
		_mm256_storeu_si256((__m256i *) found, base);
		for (i = 0; i < 4; i++)
			below[first + i] = (uint16) (found[(i & 1) * 2 + i / 2] / 2);
	}
	for (; first < nkeys; first++)
		below[first] = (uint16) gpb_keys_lower_bound(page, GPB_WIDE_KEY, n, keys[first]);
}

static const GpbKeySearcher searcher_avx2 = {
	many4_avx2, many8_avx2, many16_avx2
};

/* ---- AVX-512 ---- */

static GPB_TARGET_AVX512 void
many4_avx512(const void *page, int n, const uint64 *keys, int nkeys, uint16 *below)
{
	const int  *all = (const int *) ((const char *) page + GPB_PAGE_HEADER);
	int			first;

	for (first = 0; first + 16 <= nkeys; first += 16)
	{
		__m256i		low = _mm512_cvtepi64_epi32(_mm512_loadu_si512(keys + first));
		__m256i		high = _mm512_cvtepi64_epi32(_mm512_loadu_si512(keys + first + 8));
		__m512i		k = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
		__m512i		base = _mm512_setzero_si512();
		int			left = n;

		while (left > 0)
		{
			int			half = left > 1 ? left / 2 : 1;
			__m512i		v = _mm512_i32gather_epi32(base, all + half - 1, 4);

			base = _mm512_mask_add_epi32(base, _mm512_cmplt_epu32_mask(v, k), base,
										 _mm512_set1_epi32(half));
			left -= half;
		}
		_mm256_storeu_si256((__m256i *) (below + first), _mm512_cvtepi32_epi16(base));
	}
	for (; first < nkeys; first++)
		below[first] = (uint16) gpb_keys_lower_bound(page, 4, n, keys[first]);
}

static GPB_TARGET_AVX512 void
many8_avx512(const void *page, int n, const uint64 *keys, int nkeys, uint16 *below)
{
	const long long *all = (const long long *) ((const char *) page + GPB_PAGE_HEADER);
	int			first;

	for (first = 0; first + 8 <= nkeys; first += 8)
	{
		__m512i		k = _mm512_loadu_si512(keys + first);
		__m512i		base = _mm512_setzero_si512();
		int			left = n;

		while (left > 0)
		{
			int			half = left > 1 ? left / 2 : 1;
			__m512i		v = _mm512_i64gather_epi64(base, all + half - 1, 8);

			base = _mm512_mask_add_epi64(base, _mm512_cmplt_epu64_mask(v, k), base,
										 _mm512_set1_epi64(half));
			left -= half;
		}
		_mm_storeu_si128((__m128i *) (below + first), _mm512_cvtepi64_epi16(base));
	}
	for (; first < nkeys; first++)
		below[first] = (uint16) gpb_keys_lower_bound(page, 8, n, keys[first]);
}

static GPB_TARGET_AVX512 void
many16_avx512(const void *page, int n, const GpbKey *keys, int nkeys, uint16 *below)
{
	const long long *all = (const long long *) ((const char *) page +
												gpb_key_place(GPB_WIDE_KEY, 0));
	const __m512i lower = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
	const __m512i upper = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
	int			first;

	for (first = 0; first + 8 <= nkeys; first += 8)
	{
		const __m512i a = _mm512_loadu_si512(keys + first);
		const __m512i b = _mm512_loadu_si512(keys + first + 4);
		const __m512i low = _mm512_permutex2var_epi64(a, lower, b);
		const __m512i high = _mm512_permutex2var_epi64(a, upper, b);
		__m512i		base = _mm512_setzero_si512();	/* twice the positions */
		int			left = n;

		while (left > 0)
		{
			int			half = left > 1 ? left / 2 : 1;
			const long long *at = all + 2 * (half - 1);
			__m512i		v = _mm512_i64gather_epi64(base, at, 8);
			__m512i		w = _mm512_i64gather_epi64(base, at + 1, 8);
			__mmask8	less = _mm512_cmplt_epu64_mask(w, high) |
				(_mm512_cmpeq_epi64_mask(w, high) & _mm512_cmplt_epu64_mask(v, low));

			base = _mm512_mask_add_epi64(base, less, base, _mm512_set1_epi64(2 * half));
			left -= half;
		}
		_mm_storeu_si128((__m128i *) (below + first),
						 _mm512_cvtepi64_epi16(_mm512_srli_epi64(base, 1)));
	}
	for (; first < nkeys; first++)
		below[first] = (uint16) gpb_keys_lower_bound(page, GPB_WIDE_KEY, n, keys[first]);
}

static const GpbKeySearcher searcher_avx512 = {
	many4_avx512, many8_avx512, many16_avx512
};
#endif							/* x86-64 */

static const GpbKeySearcher *const searchers[GPB_CPU_FORMS] =
GPB_FORMS(&searcher_plain, &searcher_avx2, &searcher_avx512);

int
gpb_page_keys_below(const void *page, int key_width, int n, GpbKey key)
{
	if (key_width == GPB_WIDE_KEY)
		return gpb_keys_lower_bound(page, GPB_WIDE_KEY, n, key);
	return key_width == 8 ? gpb_keys_lower_bound(page, 8, n, key) :
		gpb_keys_lower_bound(page, 4, n, key);
}

int
gpb_page_keys_upto(const void *page, int key_width, int n, GpbKey key)
{
	return key == gpb_key_most(key_width) ? n : gpb_page_keys_below(page, key_width, n, key + 1);
}

void
gpb_page_keys_below_many(const void *page, int key_width, int n, const GpbKey *keys,
						 int nkeys, uint16 *below)
{
	const GpbKeySearcher *searcher = searchers[gpb_cpu_form];
	uint64		narrow[GPB_NARROWED];
	int			most;
	int			i;

	if (key_width == GPB_WIDE_KEY)
	{
		searcher->many16(page, n, keys, nkeys, below);
		return;
	}
	for (; nkeys > 0; nkeys -= most, keys += most, below += most)
	{
		most = nkeys < GPB_NARROWED ? nkeys : GPB_NARROWED;
		for (i = 0; i < most; i++)
			narrow[i] = (uint64) keys[i];
		(key_width == 8 ? searcher->many8 : searcher->many4) (page, n, narrow, most, below);
	}
}
