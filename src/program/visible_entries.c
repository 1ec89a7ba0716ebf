/*-------------------------------------------------------------------------
 *
 * visible_entries.c
 *	  Which entries of a leaf are on all-visible heap pages: AVX2, plain C.
 *
 * What counts is that no branch depends on a single entry, and that the bits of many entries are
 * loaded without waiting for each other.  In a table that was loaded in key order, and in a small
 * one, a leaf's entries are covered by one map page, which makes their bits words of one array.
 *
 *-------------------------------------------------------------------------
 */
#include "cpu_form.h"
#include "program/visible_entries.h"

/* Number of entries that are tested together */
#define GPB_GROUP	8

/* One form of the test: "all" for a leaf that is expected to be visible, "each" for any other */
typedef struct GpbVisibleEntries
{
	bool		(*all) (const GpbVisibilityPages *pages, const void *page, int row_width,
						int from, int to, const char *next);
	int			(*each) (const GpbVisibilityPages *pages, const void *page, int row_width,
						 int from, int to, uint8 *visible);
	void		(*blocks) (const char *page, int row_width, int from, int to, uint32 *least,
						   uint32 *most);
} GpbVisibleEntries;

/* The bits of a map page that is not held */
static const uint8 no_bits[GPB_VM_PAGE_BYTES];

void
gpb_visibility_pages_clear(GpbVisibilityPages *pages, int slot)
{
	pages->tag[slot] = 0;
	pages->bits[slot] = no_bits;
}

void
gpb_visibility_pages_init(GpbVisibilityPages *pages)
{
	int			i;

	for (i = 0; i < GPB_VM_SLOTS; i++)
		gpb_visibility_pages_clear(pages, i);
}

void
gpb_visibility_pages_set(GpbVisibilityPages *pages, uint32 map_page, const void *bits)
{
	int			slot = map_page % GPB_VM_SLOTS;

	pages->tag[slot] = map_page + 1;
	pages->bits[slot] = bits != NULL ? bits : no_bits;
}

/* The heap block of the entry that has this row, of whatever width */
GPB_FN uint32
row_block(const char *row)
{
	uint32		block;

	memcpy(&block, row + 2, sizeof(block));
	return block;
}

/* Prefetch the rows of n entries, of which the first one's is at "row", in descending order. */
GPB_FN void
prefetch_rows(const char *row, int row_width, int n)
{
	const char *end = row - n * row_width;

	for (; row > end; row -= GPB_CACHE_LINE)
		__builtin_prefetch(row);
}

/* ---- plain C ---- */

/* The bit of a heap block in the map page that covers it. */
GPB_FN uint8
visibility_bit(const uint8 *bits, uint32 block)
{
	uint32		at = block % GPB_VM_PAGE_BLOCKS;
	uint8		byte = ((const volatile uint8 *) bits)[at / GPB_HEAPBLOCKS_PER_BYTE];

	return (byte >> (2 * (at % GPB_HEAPBLOCKS_PER_BYTE))) & 1;
}

static bool
all_plain(const GpbVisibilityPages *pages, const void *page, int row_width, int from, int to,
		  const char *next)
{
	const char *row = gpb_page_row(page, row_width, from);
	uint32		last = 0;
	int			i;

	prefetch_rows(next + (row - (const char *) page), row_width, to - from);
	for (i = from; i < to; i++, row -= row_width)
	{
		uint32		block = row_block(row);
		uint32		map_page = block / GPB_VM_PAGE_BLOCKS;
		int			slot = map_page % GPB_VM_SLOTS;

		/* Neighbours in a table that was loaded in key order share their block. */
		if (block == last && i > from)
			continue;
		if (pages->tag[slot] != map_page + 1 || !visibility_bit(pages->bits[slot], block))
			return false;
		last = block;
	}
	return true;
}

static int
each_plain(const GpbVisibilityPages *pages, const void *page, int row_width, int from, int to,
		   uint8 *visible)
{
	const char *row = gpb_page_row(page, row_width, from);
	int			i;

	for (i = from; i < to; i++, row -= row_width)
	{
		uint32		block = row_block(row);
		uint32		map_page = block / GPB_VM_PAGE_BLOCKS;
		int			slot = map_page % GPB_VM_SLOTS;

		if (pages->tag[slot] != map_page + 1)
			return i;
		visible[i - from] = visibility_bit(pages->bits[slot], block);
	}
	return to;
}

static void
blocks_plain(const char *page, int row_width, int from, int to, uint32 *least, uint32 *most)
{
	int			i;

	*least = (uint32) -1;
	*most = 0;
	for (i = from; i < to; i++)
	{
		uint32		block = row_block(gpb_page_row(page, row_width, i));

		*least = block < *least ? block : *least;
		*most = block > *most ? block : *most;
	}
}

static const GpbVisibleEntries entries_plain = {all_plain, each_plain, blocks_plain};

#ifdef GPB_HAVE_X86_FORMS

/* ---- AVX2 ---- */

/*
 * A map page covers 32 * GPB_PAGE_FACTOR blocks.  The quotient of a number below 2^27 and
 * GPB_PAGE_FACTOR is got by a multiplication: with m = GPB_QUOTIENT_MULTIPLIER, which exceeds
 * 2^37 / GPB_PAGE_FACTOR by less than 1, x * m exceeds x * 2^37 / GPB_PAGE_FACTOR by less than
 * 2^37 / GPB_PAGE_FACTOR, since x is less than that.
 */
#define GPB_PAGE_FACTOR			(GPB_VM_PAGE_BLOCKS / 32)
#define GPB_QUOTIENT_SHIFT		37
#define GPB_QUOTIENT_MULTIPLIER (((uint64) 1 << GPB_QUOTIENT_SHIFT) / GPB_PAGE_FACTOR + 1)

/* Number of heap blocks whose bits one 32-bit word has */
#define GPB_WORD_BLOCKS			16
#define GPB_WORD_VISIBLE		((uint32) 0x55555555)	/* all of them all-visible */

/* The heap blocks of eight entries, whose rows lie one below the other from "row" on. */
GPB_FN_AVX2 __m256i
group_blocks(const char *row, int row_width)
{
	/*
	 * Rows of three words: those of eight entries fill three vectors, in which each entry's block
	 * has a place of its own, so blending gathers them; what follows brings them into order.
	 */
	if (row_width == 12)
	{
		const char *low = row - 7 * 12 + 2;
		__m256i		a = _mm256_loadu_si256((const __m256i *) low);
		__m256i		b = _mm256_loadu_si256((const __m256i *) (low + 32));
		__m256i		c = _mm256_loadu_si256((const __m256i *) (low + 64));

		a = _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x92), c, 0x24);
		return _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(5, 2, 7, 4, 1, 6, 3, 0));
	}
	return _mm256_setr_epi32((int) row_block(row),
							 (int) row_block(row - row_width),
							 (int) row_block(row - 2 * row_width),
							 (int) row_block(row - 3 * row_width),
							 (int) row_block(row - 4 * row_width),
							 (int) row_block(row - 5 * row_width),
							 (int) row_block(row - 6 * row_width),
							 (int) row_block(row - 7 * row_width));
}

/* The map page that most entries of a leaf have in common, if any */
typedef struct GpbCommonPage
{
	__m256i		first;			/* the first heap block that it covers, in every element */
	const int  *words;			/* its bits */
} GpbCommonPage;

/* Take the map page of heap block "block" for the common one.  Returns false if it is not held. */
GPB_FN_AVX2 bool
common_page(const GpbVisibilityPages *pages, uint32 block, GpbCommonPage *common)
{
	uint32		map_page = block / GPB_VM_PAGE_BLOCKS;
	int			slot = map_page % GPB_VM_SLOTS;

	common->first = _mm256_set1_epi32((int) (map_page * GPB_VM_PAGE_BLOCKS));
	common->words = (const int *) pages->bits[slot];
	return pages->tag[slot] == map_page + 1;
}

/* Are all bits of the vector set? */
GPB_FN_AVX2 bool
group_all(__m256i group)
{
	return _mm256_movemask_epi8(group) == -1;
}

/* The numbers of the map pages that cover eight heap blocks. */
GPB_FN_AVX2 __m256i
group_map_pages(__m256i blocks)
{
	const __m256i multiplier = _mm256_set1_epi64x((long long) GPB_QUOTIENT_MULTIPLIER);
	__m256i		x = _mm256_srli_epi32(blocks, 5);
	__m256i		even = _mm256_mul_epu32(x, multiplier);
	__m256i		odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), multiplier);

	/* An odd element's quotient goes to the upper half of its 64 bits. */
	even = _mm256_srli_epi64(even, GPB_QUOTIENT_SHIFT);
	odd = _mm256_slli_epi64(_mm256_srli_epi64(odd, GPB_QUOTIENT_SHIFT), 32);
	return _mm256_or_si256(even, odd);
}

/*
 * The 32-bit words that have the bits of eight heap blocks, from any map pages.  *held becomes all
 * ones where the map page of a block is held.
 */
GPB_FN_AVX2 __m256i
group_words(const GpbVisibilityPages *pages, __m256i blocks, __m256i *held)
{
	const __m256i page_words = _mm256_set1_epi32(GPB_VM_PAGE_BLOCKS / GPB_WORD_BLOCKS);
	const long long *bits = (const long long *) pages->bits;
	__m256i		map_page = group_map_pages(blocks);
	__m256i		slot = _mm256_and_si256(map_page, _mm256_set1_epi32(GPB_VM_SLOTS - 1));
	__m256i		tag = _mm256_i32gather_epi32((const int *) pages->tag, slot, 4);
	__m256i		word = _mm256_sub_epi32(_mm256_srli_epi32(blocks, 4),
										_mm256_mullo_epi32(map_page, page_words));
	__m256i		offset = _mm256_slli_epi32(word, 2);
	__m256i		low = _mm256_i32gather_epi64(bits, _mm256_castsi256_si128(slot), 8);
	__m256i		high = _mm256_i32gather_epi64(bits, _mm256_extracti128_si256(slot, 1), 8);

	*held = _mm256_cmpeq_epi32(tag, _mm256_add_epi32(map_page, _mm256_set1_epi32(1)));
	low = _mm256_add_epi64(low, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(offset)));
	high = _mm256_add_epi64(high, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(offset, 1)));
	return _mm256_set_m128i(_mm256_i64gather_epi32(NULL, high, 1),
							_mm256_i64gather_epi32(NULL, low, 1));
}

/*
 * The bits of eight heap blocks, each lowest in its element; what is above it is of other blocks.
 * Returns false if a block's map page is not held.
 */
GPB_FN_AVX2 bool
group_bits(const GpbVisibilityPages *pages, const GpbCommonPage *common, __m256i blocks,
		   __m256i *bits)
{
	__m256i		at = _mm256_sub_epi32(blocks, common->first);
	__m256i		inside = _mm256_min_epu32(at, _mm256_set1_epi32(GPB_VM_PAGE_BLOCKS - 1));
	__m256i		shift = _mm256_and_si256(blocks, _mm256_set1_epi32(GPB_WORD_BLOCKS - 1));
	__m256i		held = _mm256_cmpeq_epi32(at, inside);
	__m256i		words;

	if (group_all(held))
		words = _mm256_i32gather_epi32(common->words, _mm256_srli_epi32(at, 4), 4);
	else
		words = group_words(pages, blocks, &held);
	*bits = _mm256_srlv_epi32(words, _mm256_slli_epi32(shift, 1));
	return group_all(held);
}

/*
 * The most heap blocks whose bits are tested together, whether entries are on all of them or not.
 * In a table that was loaded in key order a leaf's entries are on fewer.
 */
#define GPB_NEAR_BLOCKS			512

/* The distance of two heap blocks. */
GPB_FN uint32
block_distance(uint32 a, uint32 b)
{
	return a < b ? b - a : a - b;
}

/*
 * The least of eight unsigned elements.  The greatest is the complement of the least complement.
 */
GPB_FN_AVX2 uint32
group_least(__m256i group)
{
	__m128i		least = _mm_min_epu32(_mm256_castsi256_si128(group),
									  _mm256_extracti128_si256(group, 1));

	least = _mm_min_epu32(least, _mm_shuffle_epi32(least, _MM_SHUFFLE(1, 0, 3, 2)));
	least = _mm_min_epu32(least, _mm_shuffle_epi32(least, _MM_SHUFFLE(2, 3, 0, 1)));
	return (uint32) _mm_cvtsi128_si32(least);
}

/*
 * Are all heap blocks [least, most], which are at most GPB_NEAR_BLOCKS, all-visible by one map page
 * that is held?
 */
GPB_FN bool
near_blocks_visible(const GpbVisibilityPages *pages, uint32 least, uint32 most)
{
	uint32		map_page = least / GPB_VM_PAGE_BLOCKS;
	int			slot = map_page % GPB_VM_SLOTS;
	const uint8 *bits = pages->bits[slot];
	uint64		block;			/* goes beyond the last block that there can be */

	if (most / GPB_VM_PAGE_BLOCKS != map_page || pages->tag[slot] != map_page + 1)
		return false;
	for (block = least; block <= most && block % GPB_WORD_BLOCKS != 0; block++)
	{
		if (!visibility_bit(bits, (uint32) block))
			return false;
	}
	for (; block + GPB_WORD_BLOCKS - 1 <= most; block += GPB_WORD_BLOCKS)
	{
		uint32		at = (uint32) block % GPB_VM_PAGE_BLOCKS;
		uint32		word = ((const volatile uint32 *) bits)[at / GPB_WORD_BLOCKS];

		if ((word & GPB_WORD_VISIBLE) != GPB_WORD_VISIBLE)
			return false;
	}
	for (; block <= most; block++)
	{
		if (!visibility_bit(bits, (uint32) block))
			return false;
	}
	return true;
}

/*
 * Are entries [from, to), at least GPB_GROUP, on heap blocks that are near each other, and are
 * these and all blocks between them all-visible?  If not, the entries may still be visible.  The
 * rows of the next leaf are prefetched a group at a time, since a burst of prefetches would keep
 * this leaf's own rows waiting.
 */
GPB_FN_AVX2 bool
all_near(const GpbVisibilityPages *pages, const void *page, int row_width, int from, int to,
		 const char *next)
{
	const char *row = gpb_page_row(page, row_width, from);
	const char *last = gpb_page_row(page, row_width, to - GPB_GROUP);
	__m256i		blocks = group_blocks(last, row_width);
	__m256i		least = blocks;
	__m256i		most = blocks;
	uint32		first_block;
	uint32		last_block;

	if (block_distance(row_block(row), row_block(last)) >= GPB_NEAR_BLOCKS)
		return false;
	for (; row > last; row -= GPB_GROUP * row_width)
	{
		prefetch_rows(next + (row - (const char *) page), row_width, GPB_GROUP);
		blocks = group_blocks(row, row_width);
		least = _mm256_min_epu32(least, blocks);
		most = _mm256_max_epu32(most, blocks);
	}
	first_block = group_least(least);
	last_block = ~group_least(_mm256_xor_si256(most, _mm256_set1_epi32(-1)));
	return last_block - first_block < GPB_NEAR_BLOCKS &&
		near_blocks_visible(pages, first_block, last_block);
}

static GPB_TARGET_AVX2 bool
all_avx2(const GpbVisibilityPages *pages, const void *page, int row_width, int from, int to,
		 const char *next)
{
	const char *row = gpb_page_row(page, row_width, from);
	GpbCommonPage common;
	int			i = from;

	if (to - from < GPB_GROUP)
		return all_plain(pages, page, row_width, from, to, next);
	if (!common_page(pages, row_block(row), &common) ||
		!visibility_bit((const uint8 *) common.words, row_block(row)))
		return false;
	if (all_near(pages, page, row_width, from, to, next))
		return true;
	for (;;)
	{
		__m256i		bits;

		prefetch_rows(next + (row - (const char *) page), row_width, GPB_GROUP);
		if (!group_bits(pages, &common, group_blocks(row, row_width), &bits))
			return false;
		/* The sign of an element becomes its bit. */
		bits = _mm256_slli_epi32(bits, 31);
		if (_mm256_movemask_ps(_mm256_castsi256_ps(bits)) != 0xFF)
			return false;
		if (i + GPB_GROUP == to)
			return true;
		/* The last group may share entries with the one before. */
		i = i + 2 * GPB_GROUP <= to ? i + GPB_GROUP : to - GPB_GROUP;
		row = gpb_page_row(page, row_width, i);
	}
}

static GPB_TARGET_AVX2 int
each_avx2(const GpbVisibilityPages *pages, const void *page, int row_width, int from, int to,
		  uint8 *visible)
{
	GpbCommonPage common;
	int			i = from;

	if (to - from < GPB_GROUP)
		return each_plain(pages, page, row_width, from, to, visible);
	if (!common_page(pages, row_block(gpb_page_row(page, row_width, from)), &common))
		return from;
	for (; i + GPB_GROUP <= to; i += GPB_GROUP)
	{
		__m256i		blocks = group_blocks(gpb_page_row(page, row_width, i), row_width);
		__m256i		bits;
		__m128i		bytes;

		if (!group_bits(pages, &common, blocks, &bits))
			break;
		bits = _mm256_and_si256(bits, _mm256_set1_epi32(1));
		bytes = _mm_packs_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
		bytes = _mm_packs_epi16(bytes, bytes);
		_mm_storel_epi64((__m128i *) (visible + (i - from)), bytes);
	}
	return each_plain(pages, page, row_width, i, to, visible + (i - from));
}

static GPB_TARGET_AVX2 void
blocks_avx2(const char *page, int row_width, int from, int to, uint32 *least, uint32 *most)
{
	__m256i		blocks;
	__m256i		low;
	__m256i		high;
	int			i;

	if (to - from < GPB_GROUP)
	{
		blocks_plain(page, row_width, from, to, least, most);
		return;
	}
	low = high = group_blocks(gpb_page_row(page, row_width, to - GPB_GROUP), row_width);
	for (i = from; i + GPB_GROUP < to; i += GPB_GROUP)
	{
		blocks = group_blocks(gpb_page_row(page, row_width, i), row_width);
		low = _mm256_min_epu32(low, blocks);
		high = _mm256_max_epu32(high, blocks);
	}
	*least = group_least(low);
	*most = ~group_least(_mm256_xor_si256(high, _mm256_set1_epi32(-1)));
}

static const GpbVisibleEntries entries_avx2 = {all_avx2, each_avx2, blocks_avx2};
#endif							/* x86-64 */

static const GpbVisibleEntries *const forms[GPB_CPU_FORMS] =
GPB_FORMS(&entries_plain, &entries_avx2, &entries_avx2);

bool
gpb_all_entries_visible(const GpbVisibilityPages *pages, const void *page, int row_width,
						int from, int to, const char *next)
{
	return forms[gpb_cpu_form]->all(pages, page, row_width, from, to,
								 next != NULL ? next : (const char *) page);
}

int
gpb_visible_entries(const GpbVisibilityPages *pages, const void *page, int row_width,
					int from, int to, uint8 *visible)
{
	return forms[gpb_cpu_form]->each(pages, page, row_width, from, to, visible);
}

void
gpb_entry_blocks(const char *page, int row_width, int from, int to, uint32 *least, uint32 *most)
{
	forms[gpb_cpu_form]->blocks(page, row_width, from, to, least, most);
}
