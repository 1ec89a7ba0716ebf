/*-------------------------------------------------------------------------
 *
 * layout.h
 *	  The bytes of a gpubtree page, and the arithmetic on them.
 *
 * Plain C, free of PostgreSQL headers, accepted by the C compiler and by nvcc: the
 * access method, the host device and the CUDA kernels all read pages through
 * the functions below, so there is one definition of what a page means.
 *
 * A page, inner or leaf, is two arrays that grow toward each other, so that
 * the free space stays one hole between pd_lower and pd_upper:
 *
 *	 +--------------+-----------------+--------+-----------------+---------+
 *	 | page header  | key 0, key 1 ...|  hole  | ... row 1, row 0| special |
 *	 +--------------+-----------------+--------+-----------------+---------+
 *	 0              24                pd_lower pd_upper          pd_special
 *
 * Entry i is key i together with row i.  A key is a normalized key: an unsigned
 * integer of 4, 8 or 16 bytes whose integer order is the index's order (type,
 * ASC/DESC and NULLS FIRST/LAST included).  Keys of 16 bytes are the wide ones; where
 * they are, the upper halves of the page's high key and of its low bound come before them
 * (gpb_key_place).  A row starts with the 8-byte
 * locator; on a leaf the INCLUDE values follow, on an inner page the child's
 * block number.  An inner entry (key, tie, child) says: child holds entries
 * at or after (key, tie).  The first entry of the leftmost inner page of a
 * level is (0, 0), which is below every real entry.
 *
 * A leaf whose rows are bare locators may have runs instead, which its row width says.  Then each
 * key is there once, and behind the keys lies for each of them, in two bytes, the number of the
 * entry where its run ends.  A row is a short locator of six bytes:
 *
 *	 +--------------+-----------------+----------------+--------+-----------------+---------+
 *	 | page header  | key 0, key 1 ...| end 0, end 1 ..|  hole  | ... row 1, row 0| special |
 *	 +--------------+-----------------+----------------+--------+-----------------+---------+
 *
 * Entry i is row i, and the key of the first run that ends behind i.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LAYOUT_H
#define GPB_LAYOUT_H

#ifndef C_H						/* PostgreSQL's c.h not included */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <stdbool.h>
typedef uint8_t uint8;
typedef uint16_t uint16;
typedef uint32_t uint32;
typedef unsigned long int uint64;
typedef int16_t int16;
typedef int32_t int32;
typedef long int int64;
#endif

/* The functions here are of plain data, so both compilers build them, nvcc for host and device. */
#ifdef __CUDACC__
#define GPB_FN static __host__ __device__ __forceinline__
#else
#define GPB_FN static inline __attribute__((always_inline, unused))
#endif

/* A function of its own on the CPU: inline, it takes registers from the loop that it is beside */
#ifdef __CUDACC__
#define GPB_FN_APART GPB_FN
#else
#define GPB_FN_APART static __attribute__((noinline, unused))
#endif

#define GPB_PAGE_SIZE		8192	/* must equal BLCKSZ; asserted in page_check.c */
#define GPB_PAGE_HEADER		24	/* MAXALIGN(SizeOfPageHeaderData) */
#define GPB_PD_LOWER		12	/* offsetof(PageHeaderData, pd_lower) */
#define GPB_PD_UPPER		14
#define GPB_PD_SPECIAL		16

#define GPB_CACHE_LINE		64		/* bytes that one prefetch instruction brings */

#define GPB_NO_BLOCK		((uint32) 0xFFFFFFFF)	/* InvalidBlockNumber */
#define GPB_META_BLOCK		0
#define GPB_DICTIONARY_BLOCK	1	/* the dictionary begins here, in an index that has one */

#define GPB_PAGE_ID			0xFF9B	/* last two bytes of every page */
#define GPB_META_MAGIC		0x67706274	/* "gpbt" */
#define GPB_META_VERSION	1

/*
 * The special space of every page.  On the metapage the fields about keys and siblings mean
 * nothing, but for low_key: gpb_meta_builder().
 */
typedef struct GpbPageSpecial
{
	/* Of wide keys these are the lower halves: see GPB_WIDE_HIGH. */
	uint64		high_key;		/* every entry of this page is below */
	uint64		high_tie;		/* (high_key, high_tie); unset if rightmost */
	uint64		low_key;		/* every entry of this page is at or after */
	uint64		low_tie;		/* (low_key, low_tie); (0, 0) if leftmost */
	uint32		left;			/* left sibling, or GPB_NO_BLOCK */
	uint32		right;			/* right sibling, or GPB_NO_BLOCK if rightmost */
	uint16		level;			/* 0 is a leaf */
	uint16		flags;			/* GPB_PAGE_* */
	uint8		key_width;		/* bytes of a key: 4, 8 or 16 */
	uint8		row_width;		/* bytes of a row on this page */
	uint16		page_id;		/* always GPB_PAGE_ID */
} GpbPageSpecial;

#define GPB_PAGE_META				0x0001	/* the metapage */
#define GPB_PAGE_INCOMPLETE_SPLIT	0x0002	/* right sibling's downlink missing */
#define GPB_PAGE_HAS_DEAD			0x0004	/* hint: some entry is marked dead */
#define GPB_PAGE_DELETED			0x0008	/* unlinked from the tree; to be recycled */
#define GPB_PAGE_DICTIONARY			0x0020	/* of the dictionary, and no page of the tree */
#define GPB_PAGE_KNOWN_FLAGS		0x002F

#define GPB_SPECIAL_OFFSET	(GPB_PAGE_SIZE - (int) sizeof(GpbPageSpecial))
#define GPB_PAGE_SPACE		(GPB_SPECIAL_OFFSET - GPB_PAGE_HEADER)

/* Where a page of wide keys has the upper halves of its high key and of its low bound */
#define GPB_WIDE_HIGH		GPB_PAGE_HEADER
#define GPB_WIDE_LOW		(GPB_PAGE_HEADER + 8)
/* The bytes that these take */
#define GPB_WIDE_HALVES		16

/* Key columns of one index, at most */
#define GPB_MAX_KEYS		8

/* A column of a key that has several: where its field lies, and what that means (key_columns.h) */
typedef struct GpbKeyColumn
{
	uint8		coding;			/* GpbCoding */
	uint8		flags;			/* GPB_COLUMN_* */
	uint8		bits;			/* of the field, the bit for NULL included */
	uint8		shift;			/* of the field in the key */
} GpbKeyColumn;

#define GPB_META_SCALES		24	/* not below GPB_MAX_KEYS + GPB_MAX_INCLUDE */

/* The metapage's contents, at GPB_PAGE_HEADER */
typedef struct GpbMeta
{
	uint32		magic;			/* GPB_META_MAGIC */
	uint32		version;		/* GPB_META_VERSION */
	uint32		root;			/* block of the root */
	uint32		level;			/* level of the root; 0 if it is a leaf */
	uint8		key_width;
	uint8		row_width;		/* bytes of a row on a leaf */
	uint8		layout_flags;	/* GPB_LAYOUT_* */
	uint8		key_kind;		/* GpbKind of the key; 0 if it has several columns */
	uint8		nkeys;			/* as in GpbLayout, and so is key */
	uint8		codes[3];		/* gpb_meta_codes() */
	GpbKeyColumn key[GPB_MAX_KEYS];
	uint8		scale[GPB_META_SCALES]; /* of numeric columns; 0 for others */
#define GPB_META_WIDE		0x80	/* in a scale: the column has 16 bytes */
} GpbMeta;

/*
 * A value of the dictionary (src/index/README).  A page of the dictionary has values from the page
 * header up to pd_lower, each at a multiple of 4 bytes.  Its low_key is the code of its first
 * value, and its high_key the code after that of its last; the other bounds are 0, and the level
 * too.
 */
typedef struct GpbDictionaryValue
{
	uint16		length;			/* of the bytes that follow */
	uint8		column;			/* INCLUDE column, counted from 0 */
	uint8		unused;
} GpbDictionaryValue;

/* The bytes that a value takes on its page */
#define GPB_DICTIONARY_BYTES(length)	(((int) sizeof(GpbDictionaryValue) + (length) + 3) & ~3)

/* Limits: codes of an index, and bytes of a row's values together */
#define GPB_DICTIONARY_CODES		1000000
#define GPB_DICTIONARY_ROW_BYTES	2700

/*
 * Codes that the pages of the dictionary have at least, so that a dictionary that ends before them
 * is known to be damaged.  0 in an index that has no dictionary, or to which no value came since it
 * was built by a gpubtree that did not count.  Less than three bytes are enough for
 * GPB_DICTIONARY_CODES.
 */
#define GPB_META_ELSEWHERE	0x80	/* in the last byte */
GPB_FN uint32
gpb_meta_codes(const GpbMeta *meta)
{
	return meta->codes[0] | (uint32) meta->codes[1] << 8 |
		(uint32) (meta->codes[2] & ~GPB_META_ELSEWHERE) << 16;
}

GPB_FN void
gpb_meta_set_codes(GpbMeta *meta, uint32 codes)
{
	meta->codes[0] = (uint8) codes;
	meta->codes[1] = (uint8) (codes >> 8);
	meta->codes[2] = (uint8) ((codes >> 16) | (meta->codes[2] & GPB_META_ELSEWHERE));
}

/* Has some entry a value that the dictionary has not?  See src/index/README. */
GPB_FN bool
gpb_meta_has_elsewhere(const GpbMeta *meta)
{
	return (meta->codes[2] & GPB_META_ELSEWHERE) != 0;
}

GPB_FN void
gpb_meta_set_elsewhere(GpbMeta *meta)
{
	meta->codes[2] |= GPB_META_ELSEWHERE;
}

/*
 * The INCLUDE columns of which some entry has a value that the dictionary has not, as bits: in the
 * place of a lower bound's tie on the dictionary's first page.
 */
GPB_FN uint64 *
gpb_elsewhere_columns(GpbPageSpecial *special)
{
	return &special->low_tie;
}

/*
 * Locator: 64 bits that lie 4-byte aligned at the start of each row.
 *
 *	 0..15 heap offset number, 16..47 heap block, 48 order bit,
 *	 49 dead hint, 50..63 one bit for each INCLUDE column that is NULL
 *
 * The order bit separates NULL keys from a non-NULL key with the same bits: with
 * NULLS LAST, NULL keys are all-ones and carry the bit; with NULLS FIRST,
 * NULL keys are all-zero and every *other* entry carries it.  So (key, tie),
 * the tie being the locator with the other flags masked off, is a strict
 * total order by integer comparison alone.
 */
#define GPB_LOC_ORDER_BIT	((uint64) 1 << 48)
#define GPB_LOC_DEAD		((uint64) 1 << 49)
#define GPB_LOC_NULL_SHIFT	50
#define GPB_MAX_INCLUDE		14
#define GPB_TIE_MASK		(((uint64) 1 << 49) - 1)
#define GPB_TID_MASK		(((uint64) 1 << 48) - 1)

#define GPB_LOCATOR_WIDTH	8
#define GPB_INNER_ROW_WIDTH (GPB_LOCATOR_WIDTH + 4)
#define GPB_MAX_ROW_WIDTH	(GPB_LOCATOR_WIDTH + 16 * GPB_MAX_INCLUDE)

/* The row width of a leaf that has runs, and the bytes of a run's end */
#define GPB_RUN_ROW_WIDTH	6
#define GPB_RUN_END_WIDTH	2

/* The most entries of any page: those of one run with a 4-byte key */
#define GPB_MAX_LEAF_ENTRIES \
	((GPB_PAGE_SPACE - 4 - GPB_RUN_END_WIDTH) / GPB_RUN_ROW_WIDTH)
/* The most entries of a page without runs: those with a 4-byte key and a bare locator */
#define GPB_MAX_PLAIN_ENTRIES	(GPB_PAGE_SPACE / (4 + GPB_LOCATOR_WIDTH))

/*
 * Short locator: 48 bits that lie at an even address.
 *
 *	 0..13 heap offset number, 14 order bit, 15 dead hint, 16..47 heap block
 *
 * The heap block lies where it lies in a locator.
 */
#define GPB_SHORT_FLAGS		((uint64) 0xC000)
#define GPB_SHORT_SHIFT		34	/* from these to where a locator has them */
#define GPB_SHORT_DEAD		0x8000
#define GPB_SHORT_OFFSETS	0x4000	/* heap offset numbers are below */

/*
 * How the bits of a column are read.  A date is an INT4; a timestamp or timestamptz is an INT8.
 * page/coding.h says which kind holds which type.
 */
typedef enum GpbKind
{
	GPB_KIND_INT2 = 1,
	GPB_KIND_INT4 = 2,
	GPB_KIND_INT8 = 3,
	GPB_KIND_FLOAT8 = 4,
	GPB_KIND_WIDE = 5,			/* values without words: read by no program */

	/* Values of 16 bytes, and their lower halves; programs read the two halves as words. */
	GPB_KIND_INT128 = 6,		/* an integer */
	GPB_KIND_BYTES16 = 7,		/* bytes, the first the most significant */
	GPB_KIND_INT128_LOWER = 8,	/* of no column */
	GPB_KIND_BYTES16_LOWER = 9
} GpbKind;

/* Has a value of this kind two halves, which are words? */
GPB_FN bool
gpb_kind_has_halves(int kind)
{
	return kind == GPB_KIND_INT128 || kind == GPB_KIND_BYTES16;
}

/* The kind of the lower half of a value of a kind that has halves */
GPB_FN int
gpb_lower_kind(int kind)
{
	return kind == GPB_KIND_INT128 ? GPB_KIND_INT128_LOWER : GPB_KIND_BYTES16_LOWER;
}

#define GPB_LAYOUT_DESC			0x01	/* keys are complemented */
#define GPB_LAYOUT_NULLS_FIRST	0x02

/*
 * What the leaves of one index hold: derived from the catalog, and fixed for the index's life.  A
 * key of several columns has no flags of its own, and is never NULL as a whole.
 */
typedef struct GpbLayout
{
	uint8		key_width;		/* 4, 8 or GPB_WIDE_KEY; int2 and int4 and date use 4 */
	uint8		row_width;		/* of leaf rows, a multiple of 4 */
	uint8		key_kind;		/* GpbKind; 0 if the key has several columns */
	uint8		flags;			/* GPB_LAYOUT_* */
	uint8		ncolumns;		/* INCLUDE columns */
	uint8		kind[GPB_MAX_INCLUDE];	/* GpbKind of each */
	uint8		offset[GPB_MAX_INCLUDE];	/* byte offset within the row */
	uint8		nkeys;			/* columns of the key if it has several, else 0 */
	GpbKeyColumn key[GPB_MAX_KEYS]; /* these, the most significant one first */
	/* What follows says how Datums become integers (GpbCoding): no device looks at it. */
	uint8		key_coding;
	uint8		coding[GPB_MAX_INCLUDE];
} GpbLayout;

/* Bytes of the wide keys */
#define GPB_WIDE_KEY		16

/*
 * A normalized key: an integer whose order is that of the index.  On pages, and in memory that
 * PostgreSQL allocates, it lies at multiples of 8 bytes, and so it says.
 *
 * CUDA's compiler compiles what looks at keys twice, so that narrow keys are integers of 64 bits:
 * with GPB_CUDA_WIDE all keys are wide, without it none is.  It has its GpbKey, and what is made of
 * that, in registers alone: in memory it would lie at multiples of 16 bytes.
 */
#ifndef __CUDACC__
#define GPB_MAY_BE_WIDE
typedef unsigned __int128 GpbKey __attribute__((aligned(8)));
#elif defined(GPB_CUDA_WIDE)
#define GPB_MAY_BE_WIDE
typedef unsigned __int128 GpbKey;
#else
typedef uint64 GpbKey;
#endif

/* Is it the width of wide keys?  What is compiled for narrow keys alone knows that it is not. */
GPB_FN bool
gpb_is_wide(int key_width)
{
#ifdef GPB_MAY_BE_WIDE
	return key_width == GPB_WIDE_KEY;
#else
	(void) key_width;
	return false;
#endif
}

/* A wide key of its halves; of narrow keys, the lower one */
GPB_FN GpbKey
gpb_key_of_halves(uint64 lower, uint64 upper)
{
#ifdef GPB_MAY_BE_WIDE
	return (GpbKey) upper << 64 | lower;
#else
	(void) upper;
	return lower;
#endif
}

/* The upper half of a key, which is 0 for narrow ones */
GPB_FN uint64
gpb_key_upper(GpbKey key)
{
#ifdef GPB_MAY_BE_WIDE
	return (uint64) (key >> 64);
#else
	(void) key;
	return 0;
#endif
}

/* The greatest normalized key of a width, which is that of NULL keys with NULLS LAST */
GPB_FN GpbKey
gpb_key_most(int key_width)
{
	if (gpb_is_wide(key_width))
		return ~(GpbKey) 0;
	return key_width == 8 ? ~(uint64) 0 : ~(uint32) 0;
}

/*
 * A place in the index's order, before or after entries.  Any two values make one, but if keys have
 * 8 bytes or less, the key fits 64 bits, or the bound is GPB_BOUND_MAX.
 */
typedef struct GpbBound
{
	GpbKey		key;
	uint64		tie;
} GpbBound;

/* A half-open range: every entry e with lo <= e < hi. */
typedef struct GpbRange
{
	GpbBound	lo;
	GpbBound	hi;
} GpbRange;

#define GPB_BOUND_MIN	((GpbBound) {0, 0})
#define GPB_BOUND_MAX	((GpbBound) {~(GpbKey) 0, ~(uint64) 0})	/* beyond all entries */

/*
 * Bounds and ranges as requests to a device have them, of an index of narrow keys.  GPB_BOUND_MAX
 * has all bits set here too.
 */
#if defined(__CUDACC__) && !defined(GPB_CUDA_WIDE)
typedef GpbBound GpbNarrowBound;
typedef GpbRange GpbNarrowRange;
#else
typedef struct GpbNarrowBound
{
	uint64		key;
	uint64		tie;
} GpbNarrowBound;

typedef struct GpbNarrowRange
{
	GpbNarrowBound lo;
	GpbNarrowBound hi;
} GpbNarrowRange;
#endif

/* Bound and range of wide keys: the bytes that GpbBound and GpbRange have outside of CUDA */
typedef struct GpbWideBound
{
	uint64		lower;
	uint64		upper;
	uint64		tie;
} GpbWideBound;

typedef struct GpbWideRange
{
	GpbWideBound lo;
	GpbWideBound hi;
} GpbWideRange;

/* A bound of an index whose keys have at most 8 bytes, as requests have it */
GPB_FN GpbNarrowBound
gpb_narrow_bound(GpbBound bound)
{
	GpbNarrowBound narrow;

	narrow.key = (uint64) bound.key;
	narrow.tie = bound.tie;
	return narrow;
}

/* The bound of which gpb_narrow_bound() made this */
GPB_FN GpbBound
gpb_widen_bound(GpbNarrowBound narrow)
{
	GpbBound	bound;

#ifdef GPB_MAY_BE_WIDE
	if ((narrow.key & narrow.tie) == ~(uint64) 0)
		return GPB_BOUND_MAX;
#endif
	bound.key = narrow.key;
	bound.tie = narrow.tie;
	return bound;
}

GPB_FN GpbNarrowRange
gpb_narrow_range(GpbRange range)
{
	GpbNarrowRange narrow;

	narrow.lo = gpb_narrow_bound(range.lo);
	narrow.hi = gpb_narrow_bound(range.hi);
	return narrow;
}

GPB_FN GpbRange
gpb_widen_range(GpbNarrowRange narrow)
{
	GpbRange	range;

	range.lo = gpb_widen_bound(narrow.lo);
	range.hi = gpb_widen_bound(narrow.hi);
	return range;
}

/* The bound behind all entries of a key, in an index whose keys have this width */
GPB_FN GpbBound
gpb_bound_behind(GpbKey key, int key_width)
{
	GpbBound	bound = GPB_BOUND_MAX;

	if (key < gpb_key_most(key_width))
	{
		bound.key = key + 1;
		bound.tie = 0;
	}
	return bound;
}

/* Compare two bounds: returns -1, 0 or 1 as a is before, equal to or after b. */
GPB_FN int
gpb_bound_cmp(GpbBound a, GpbBound b)
{
	if (a.key != b.key)
		return a.key < b.key ? -1 : 1;
	if (a.tie != b.tie)
		return a.tie < b.tie ? -1 : 1;
	return 0;
}

/* Is a before b? */
GPB_FN bool
gpb_bound_less(GpbBound a, GpbBound b)
{
	return a.key < b.key || (a.key == b.key && a.tie < b.tie);
}

/* ---- page access; "page" is the address of GPB_PAGE_SIZE bytes ---- */

GPB_FN const GpbPageSpecial *
gpb_page_special(const void *page)
{
	return (const GpbPageSpecial *) ((const char *) page + GPB_SPECIAL_OFFSET);
}

GPB_FN uint16
gpb_page_u16(const void *page, int offset)
{
	return *(const uint16 *) ((const char *) page + offset);
}

GPB_FN GpbWideBound
gpb_wide_bound(GpbBound bound)
{
	GpbWideBound wide;

	wide.lower = (uint64) bound.key;
	wide.upper = gpb_key_upper(bound.key);
	wide.tie = bound.tie;
	return wide;
}

/* The bound of which gpb_wide_bound() made this */
GPB_FN GpbBound
gpb_bound_of_wide(GpbWideBound wide)
{
	GpbBound	bound;

	bound.key = gpb_key_of_halves(wide.lower, wide.upper);
	bound.tie = wide.tie;
	return bound;
}

/* The bytes between a page's header and its first key */
GPB_FN int
gpb_key_halves(int key_width)
{
	return gpb_is_wide(key_width) ? GPB_WIDE_HALVES : 0;
}

/* The offset of key i in a page. */
GPB_FN int
gpb_key_place(int key_width, int i)
{
	return GPB_PAGE_HEADER + gpb_key_halves(key_width) + i * key_width;
}

/*
 * What looks at leaves is compiled for a GPU with GPB_CUDA_RUNS, for indexes some of whose leaves
 * have runs, and without: those kernels know that none has (cuda/forms.cuh).
 */
#if defined(__CUDACC__) && !defined(GPB_CUDA_RUNS)
#define GPB_MAY_HAVE_RUNS	false
#else
#define GPB_MAY_HAVE_RUNS	true
#endif

/* Has a page with rows of this width runs? */
GPB_FN bool
gpb_has_runs(int row_width)
{
	return GPB_MAY_HAVE_RUNS && row_width == GPB_RUN_ROW_WIDTH;
}

/* The width of a page's rows, which says whether it has runs */
GPB_FN int
gpb_page_row_width(const void *page)
{
	return gpb_page_special(page)->row_width;
}

/* The number of keys on a leaf that has runs.  The page must be sound. */
GPB_FN int
gpb_page_runs(const void *page, int key_width)
{
	int			used = gpb_page_u16(page, GPB_PD_LOWER) - gpb_key_place(key_width, 0);

	return gpb_is_wide(key_width) ? used / (GPB_WIDE_KEY + GPB_RUN_END_WIDTH) :
		key_width == 8 ? used / (8 + GPB_RUN_END_WIDTH) : used / (4 + GPB_RUN_END_WIDTH);
}

/* The number of entries on the page, from the ends of its hole.  It must be a sound tree page. */
GPB_FN int
gpb_page_count(const void *page)
{
	int			key_width = gpb_page_special(page)->key_width;

	if (gpb_has_runs(gpb_page_row_width(page)))
		return (GPB_SPECIAL_OFFSET - gpb_page_u16(page, GPB_PD_UPPER)) / GPB_RUN_ROW_WIDTH;
	return (gpb_page_u16(page, GPB_PD_LOWER) - gpb_key_place(key_width, 0)) / key_width;
}

/* The largest number of entries of these widths that fit a page that has no runs. */
GPB_FN int
gpb_page_capacity(int key_width, int row_width)
{
	return (GPB_PAGE_SPACE - (key_width == GPB_WIDE_KEY ? GPB_WIDE_HALVES : 0)) /
		(key_width + row_width);
}

/* A key that lies at this address, as on a page. */
GPB_FN GpbKey
gpb_load_key(const char *p, int key_width)
{
	if (gpb_is_wide(key_width))
		return gpb_key_of_halves(((const uint64 *) p)[0], ((const uint64 *) p)[1]);
	return key_width == 8 ? *(const uint64 *) p : *(const uint32 *) p;
}

/* Key number i of a page, which is that of entry i unless the page has runs. */
GPB_FN GpbKey
gpb_page_key(const void *page, int key_width, int i)
{
	return gpb_load_key((const char *) page + gpb_key_place(key_width, i), key_width);
}

/* The row of entry i of a page. */
GPB_FN const char *
gpb_page_row(const void *page, int row_width, int i)
{
	return (const char *) page + GPB_SPECIAL_OFFSET - (i + 1) * row_width;
}

/* Load 64 bits from an address that is only 4-byte aligned. */
GPB_FN uint64
gpb_load64(const void *p)
{
	const uint32 *w = (const uint32 *) p;

	return (uint64) w[0] | ((uint64) w[1] << 32);
}

GPB_FN uint64
gpb_row_locator(const char *row)
{
	return gpb_load64(row);
}

/* The locator of which this is the short one, in its lower 48 bits */
GPB_FN uint64
gpb_locator_of_short(uint64 bits)
{
	return (bits & GPB_TID_MASK & ~GPB_SHORT_FLAGS) | (bits & GPB_SHORT_FLAGS) << GPB_SHORT_SHIFT;
}

/* The short locator of a locator, whose offset number must be below GPB_SHORT_OFFSETS */
GPB_FN uint64
gpb_short_of_locator(uint64 locator)
{
	return (locator & GPB_TID_MASK) | (locator >> GPB_SHORT_SHIFT & GPB_SHORT_FLAGS);
}

/*
 * The bits of a short locator, lowest; what is above them is of its neighbour, or of the special
 * space.
 */
GPB_FN uint64
gpb_load_short(const char *row)
{
#ifdef __CUDACC__
	uint64		at = (uint64) row;

	/* Words lie at multiples of 4, and two of them have it. */
	return gpb_load64((const void *) (at & ~(uint64) 3)) >> (at & 2) * 8;
#else
	uint64		bits;

	memcpy(&bits, row, sizeof(bits));
	return bits;
#endif
}

/* The locator in a row as it lies on a page with rows of this width */
GPB_FN uint64
gpb_stored_locator(const char *row, int row_width)
{
	return gpb_has_runs(row_width) ? gpb_locator_of_short(gpb_load_short(row)) :
		gpb_row_locator(row);
}

/* The locator of entry i of a page. */
GPB_FN uint64
gpb_page_locator(const void *page, int row_width, int i)
{
	return gpb_stored_locator(gpb_page_row(page, row_width, i), row_width);
}

/* The child's block number, from a row of an inner page. */
GPB_FN uint32
gpb_row_child(const char *row)
{
	return *(const uint32 *) (row + GPB_LOCATOR_WIDTH);
}

GPB_FN uint32
gpb_locator_block(uint64 locator)
{
	return (uint32) (locator >> 16);
}

GPB_FN uint16
gpb_locator_offset(uint64 locator)
{
	return (uint16) locator;
}

/* Is the key NULL of the entry that has this locator? */
GPB_FN bool
gpb_locator_is_null(uint64 locator, int layout_flags)
{
	bool		bit = (locator & GPB_LOC_ORDER_BIT) != 0;

	return bit != ((layout_flags & GPB_LAYOUT_NULLS_FIRST) != 0);
}

/* Is INCLUDE column number "column", counted from 0, NULL in the entry that has this locator? */
GPB_FN bool
gpb_locator_column_is_null(uint64 locator, int column)
{
	return (locator >> (GPB_LOC_NULL_SHIFT + column)) & 1;
}

/*
 * ---- runs ----
 *
 * Only the end of a leaf's last run is known to be right (gpb_page_fault()), so whoever takes other
 * ends for numbers of entries limits them to the number that there are.
 */

/* The ends of a leaf's runs */
GPB_FN const uint16 *
gpb_run_ends(const void *page, int key_width, int nruns)
{
	return (const uint16 *) ((const char *) page + gpb_key_place(key_width, nruns));
}

/* The number of the entry where run r of a leaf begins, for r up to the number of runs */
GPB_FN int
gpb_run_begin(const uint16 *ends, int r, int count)
{
	int			begin = r == 0 ? 0 : ends[r - 1];

	return begin < count ? begin : count;
}

/* The run of entry i: the first of n that ends behind it, or the last one; n is not 0. */
GPB_FN int
gpb_run_of(const uint16 *ends, int n, int i)
{
	int			base = 0;

	while (n > 1)
	{
		int			half = n / 2;

		base += ends[base + half - 1] <= i ? half : 0;
		n -= half;
	}
	return base;
}

/* The number of keys that a sound page has */
GPB_FN int
gpb_page_keys(const void *page, int key_width)
{
	return gpb_has_runs(gpb_page_row_width(page)) ? gpb_page_runs(page, key_width) :
		gpb_page_count(page);
}

/* The first entry that has key number i, or the number of all if there is no such key */
GPB_FN int
gpb_key_position(const void *page, int key_width, int i)
{
	return gpb_has_runs(gpb_page_row_width(page)) ?
		gpb_run_begin(gpb_run_ends(page, key_width, gpb_page_runs(page, key_width)), i,
					  gpb_page_count(page)) : i;
}

/* The run of entry i, looked for from that of an entry before it: in doubling steps, then halves */
GPB_FN int
gpb_run_from(const uint16 *ends, int n, int run, int i)
{
	int			last = n - 1;
	int			high = run;
	int			step = 1;

	while (high < last && ends[high] <= i)
	{
		run = high + 1;
		high += step;
		step *= 2;
	}
	high = high < last ? high : last;
	while (run < high)
	{
		int			mid = (run + high) / 2;

		if (ends[mid] <= i)
			run = mid + 1;
		else
			high = mid;
	}
	return run;
}

/* The key of entry i of a page, which has rows of this width. */
GPB_FN GpbKey
gpb_leaf_key(const void *page, int key_width, int row_width, int i)
{
	if (gpb_has_runs(row_width))
	{
		int			nruns = gpb_page_runs(page, key_width);

		i = gpb_run_of(gpb_run_ends(page, key_width, nruns), nruns, i);
	}
	return gpb_page_key(page, key_width, i);
}

/*
 * Reads the keys of entries in ascending order.  On a page that has no runs it is the page alone.
 */
typedef struct GpbKeyReader
{
	const char *page;
	const uint16 *ends;
	int			last;			/* number of the last run */
	int			run;			/* of the entry that was read last */
	int			end;			/* where the run ends */
} GpbKeyReader;

/* Begin to read the keys of a page's entries, from entry "first" on. */
GPB_FN GpbKeyReader
gpb_read_keys(const void *page, int key_width, int row_width, int first)
{
	GpbKeyReader reader;

	reader.page = (const char *) page;
	reader.ends = NULL;
	reader.last = reader.run = reader.end = 0;
	if (gpb_has_runs(row_width))
	{
		int			nruns = gpb_page_runs(page, key_width);

		reader.ends = gpb_run_ends(page, key_width, nruns);
		reader.last = nruns - 1;
		reader.run = nruns > 0 ? gpb_run_of(reader.ends, nruns, first) : 0;
		reader.end = nruns > 0 ? reader.ends[reader.run] : 0;
	}
	return reader;
}

/* The key of entry i, which is not before the one that was read last. */
GPB_FN GpbKey
gpb_next_key(GpbKeyReader *reader, int key_width, int row_width, int i)
{
	if (!gpb_has_runs(row_width))
		return gpb_page_key(reader->page, key_width, i);
	while (i >= reader->end && reader->run < reader->last)
		reader->end = reader->ends[++reader->run];
	return gpb_page_key(reader->page, key_width, reader->run);
}

/*
 * A row of a leaf that has runs, which is no more than its locator, spread out.  Rows are read as
 * words of 4 bytes, so it is written as such: a compiler may take an object of 8 bytes for another
 * one, and read the words before it writes them.
 */
typedef struct GpbSpreadRow
{
	uint32		word[GPB_LOCATOR_WIDTH / 4];
} GpbSpreadRow;

/*
 * The row of entry i of a page, as rows lie on a page without runs: there, or, spread out, at
 * "spread".
 */
GPB_FN const char *
gpb_spread_row(const void *page, int row_width, int i, GpbSpreadRow *spread)
{
	const char *row = gpb_page_row(page, row_width, i);
	uint64		locator;

	if (!gpb_has_runs(row_width))
		return row;
	locator = gpb_stored_locator(row, row_width);
	spread->word[0] = (uint32) locator;
	spread->word[1] = (uint32) (locator >> 32);
	return (const char *) spread->word;
}

/* The place of entry i of a page in the index's order: its key and tie. */
GPB_FN GpbBound
gpb_page_bound(const void *page, int key_width, int row_width, int i)
{
	GpbBound	b;

	b.key = gpb_leaf_key(page, key_width, row_width, i);
	b.tie = gpb_page_locator(page, row_width, i) & GPB_TIE_MASK;
	return b;
}

/* The page's upper limit: its high key, or GPB_BOUND_MAX if the page is rightmost. */
GPB_FN GpbBound
gpb_page_high(const void *page)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	GpbBound	b;

	if (special->right == GPB_NO_BLOCK)
	{
		b.key = ~(GpbKey) 0;
		b.tie = ~(uint64) 0;
		return b;
	}
	b.key = special->high_key;
	if (gpb_is_wide(special->key_width))
		b.key = gpb_key_of_halves(special->high_key,
								  *(const uint64 *) ((const char *) page + GPB_WIDE_HIGH));
	b.tie = special->high_tie;
	return b;
}

/* The bound where the page begins: GPB_BOUND_MIN if it is the leftmost of its level. */
GPB_FN GpbBound
gpb_page_low(const void *page)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	GpbBound	b;

	b.key = special->low_key;
	if (gpb_is_wide(special->key_width))
		b.key = gpb_key_of_halves(special->low_key,
								  *(const uint64 *) ((const char *) page + GPB_WIDE_LOW));
	b.tie = special->low_tie;
	return b;
}

/*
 * Find the first of the page's n keys that is not below "key"; returns its position, or n if there
 * is none.  Callers pass key_width as a constant.
 *
 * What costs here is waiting for cache lines, so each step compares with seven keys whose loads do
 * not depend on each other, instead of three times with one (the k-ary search of Schlegel et al.,
 * DaMoN 2009).  No branch depends on a key.
 *
 * Keys of 4 and 8 bytes are compared as 64 bits, which for GPB_BOUND_MAX are all set.
 */
GPB_FN int
gpb_keys_lower_bound(const void *page, int key_width, int n, GpbKey key)
{
	uint64		low = (uint64) key;
	int			base = 0;
	int			below = 0;
	int			i;

#define GPB_IS_BELOW(i) \
	(gpb_is_wide(key_width) ? gpb_page_key(page, key_width, i) < key : \
	 (uint64) gpb_page_key(page, key_width, i) < low)
	while (n > 16)
	{
		int			step = n / 8;
		int			passed = 0;

		for (i = 1; i < 8; i++)
			passed += GPB_IS_BELOW(base + i * step - 1);
		base += passed * step;
		n = passed == 7 ? n - 7 * step : step;
	}
	for (i = 0; i < n; i++)
		below += GPB_IS_BELOW(base + i);
#undef GPB_IS_BELOW
	return base + below;
}

/*
 * The number of entries of a leaf with runs, or -1 if the ends of its hole say that it is damaged.
 * The page is one of ours, with keys of this width.
 */
GPB_FN int
gpb_page_run_count(const void *page, int key_width)
{
	int			keys = gpb_key_place(key_width, 0);
	int			lower = gpb_page_u16(page, GPB_PD_LOWER);
	int			upper = gpb_page_u16(page, GPB_PD_UPPER);
	int			nruns;
	int			count;

	if (lower < keys || lower > upper || upper > GPB_SPECIAL_OFFSET)
		return -1;
	nruns = gpb_page_runs(page, key_width);
	count = (GPB_SPECIAL_OFFSET - upper) / GPB_RUN_ROW_WIDTH;
	if (lower != keys + nruns * (key_width + GPB_RUN_END_WIDTH) ||
		upper != GPB_SPECIAL_OFFSET - count * GPB_RUN_ROW_WIDTH)
		return -1;
	return gpb_run_begin(gpb_run_ends(page, key_width, nruns), nruns, count + 1) == count ?
		count : -1;
}

/* What gpb_page_leaf_count() returns for a page whose row width says that it has runs */
GPB_FN int
gpb_run_leaf_count(const void *page, int key_width, GpbBound low, GpbBound limit)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	GpbBound	begin = gpb_page_low(page);
	GpbBound	high = gpb_page_high(page);
	bool		sound = (special->page_id == GPB_PAGE_ID) &
		(special->level == 0) &
		((special->flags & (GPB_PAGE_META | GPB_PAGE_DELETED | GPB_PAGE_DICTIONARY |
							(uint16) ~GPB_PAGE_KNOWN_FLAGS)) == 0) &
		(special->key_width == key_width) &
		(begin.key == low.key) & (begin.tie == low.tie) &
		(high.key == limit.key) & (high.tie == limit.tie);

	return sound ? gpb_page_run_count(page, key_width) : -1;
}

/*
 * Return the number of entries if the page is a sound leaf of these widths that begins exactly at
 * low and ends exactly at limit, else -1 (rule M4).  All fields are read before any is tested, so
 * that on a GPU they arrive together.  A leaf of bare locators may have runs.
 */
GPB_FN int
gpb_page_leaf_count(const void *page, int key_width, int row_width, GpbBound low, GpbBound limit)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	GpbBound	begin = gpb_page_low(page);
	GpbBound	high = gpb_page_high(page);
	int			used = (int) gpb_page_u16(page, GPB_PD_LOWER) - gpb_key_place(key_width, 0);
	int			count = gpb_is_wide(key_width) ? used / GPB_WIDE_KEY :
		key_width == 8 ? used / 8 : used / 4;
	bool		sound = (special->page_id == GPB_PAGE_ID) &
		(special->level == 0) &
		((special->flags & (GPB_PAGE_META | GPB_PAGE_DELETED | GPB_PAGE_DICTIONARY |
							(uint16) ~GPB_PAGE_KNOWN_FLAGS)) == 0) &
		(special->key_width == key_width) &
		(special->row_width == row_width) &
		(used >= 0) &
		(count * key_width == used) &
		(count * (key_width + row_width) <= GPB_PAGE_SPACE - gpb_key_halves(key_width));

	if (row_width == GPB_LOCATOR_WIDTH && gpb_has_runs(special->row_width))
		return gpb_run_leaf_count(page, key_width, low, limit);
	sound &= (begin.key == low.key) & (begin.tie == low.tie);
	return (sound & (high.key == limit.key) & (high.tie == limit.tie)) ? count : -1;
}

/* Do a key of a page and a bound's agree in the bits that keys of this width have? */
GPB_FN bool
gpb_key_is_bounds(GpbKey key, int key_width, GpbBound bound)
{
	if (gpb_is_wide(key_width))
		return key == bound.key;
	return (uint64) key == (uint64) bound.key;
}

/*
 * Find the first of a leaf's entries at or after the bound, where run r is the first that is not
 * below the bound's key.
 */
GPB_FN int
gpb_run_lower_bound(const void *page, int key_width, int nruns, int count, int r, GpbBound bound)
{
	const uint16 *ends = gpb_run_ends(page, key_width, nruns);
	int			lo = gpb_run_begin(ends, r, count);

	if (r < nruns && bound.tie != 0 &&
		gpb_key_is_bounds(gpb_page_key(page, key_width, r), key_width, bound))
	{
		int			hi = gpb_run_begin(ends, r + 1, count);

		while (lo < hi)
		{
			int			mid = (lo + hi) / 2;

			if ((gpb_page_locator(page, GPB_RUN_ROW_WIDTH, mid) & GPB_TIE_MASK) < bound.tie)
				lo = mid + 1;
			else
				hi = mid;
		}
	}
	return lo;
}

/*
 * Find the first of the page's "count" entries that is at or after the bound; returns its position,
 * or count if there is none.  Rows are read, for their ties, only if the bound's key occurs on the
 * page.
 */
GPB_FN int
gpb_page_lower_bound(const void *page, int key_width, int row_width,
					 int count, GpbBound bound)
{
	int			keys = gpb_has_runs(row_width) ? gpb_page_runs(page, key_width) : count;
	int			base = key_width == 8 ?
		gpb_keys_lower_bound(page, 8, keys, bound.key) :
		gpb_is_wide(key_width) ?
		gpb_keys_lower_bound(page, GPB_WIDE_KEY, keys, bound.key) :
		gpb_keys_lower_bound(page, 4, keys, bound.key);

	if (gpb_has_runs(row_width))
		return gpb_run_lower_bound(page, key_width, keys, count, base, bound);
	if (base < count && bound.tie != 0 &&
		gpb_key_is_bounds(gpb_page_key(page, key_width, base), key_width, bound))
	{
		int			lo = base;
		int			hi = count;

		while (lo < hi)
		{
			int			mid = (lo + hi) / 2;

			if (gpb_bound_less(gpb_page_bound(page, key_width, row_width, mid), bound))
				lo = mid + 1;
			else
				hi = mid;
		}
		base = lo;
	}
	return base;
}

/* ---- values ---- */

/*
 * The value of a key as a sign-extended integer: int2, int4, int8, the days of a date, or the
 * microseconds of a timestamp.  The key must not be NULL, nor wide.
 */
GPB_FN int64
gpb_key_value(uint64 key, int key_width, int layout_flags)
{
	if (key_width == 4)
	{
		uint32		k = (uint32) key;

		if (layout_flags & GPB_LAYOUT_DESC)
			k = ~k;
		return (int64) (int32) (k ^ 0x80000000u);
	}
	if (layout_flags & GPB_LAYOUT_DESC)
		key = ~key;
	return (int64) (key ^ ((uint64) 1 << 63));
}

/*
 * A half of the value of a wide key, which must not be NULL.  The order of values is that of their
 * upper halves, and of the lower ones where these are equal, both as signed integers.
 */
GPB_FN int64
gpb_key_half(GpbKey key, int layout_flags, bool lower)
{
	return gpb_key_value(lower ? (uint64) key : gpb_key_upper(key), 8, layout_flags);
}

/* The normalized key of a value; the inverse of gpb_key_value(). */
GPB_FN uint64
gpb_key_encode(int64 value, int key_width, int layout_flags)
{
	uint64		key;

	if (key_width == 4)
	{
		uint32		k = (uint32) (int32) value ^ 0x80000000u;

		return (layout_flags & GPB_LAYOUT_DESC) ? (uint32) ~k : k;
	}
	key = (uint64) value ^ ((uint64) 1 << 63);
	return (layout_flags & GPB_LAYOUT_DESC) ? ~key : key;
}

/* A word whose order as a signed integer is that of these 8 bytes */
GPB_FN int64
gpb_bytes_word(const char *bytes)
{
	uint64		word = gpb_load64(bytes);

	word = (word & 0x00FF00FF00FF00FF) << 8 | (word >> 8 & 0x00FF00FF00FF00FF);
	word = (word & 0x0000FFFF0000FFFF) << 16 | (word >> 16 & 0x0000FFFF0000FFFF);
	return (int64) ((word << 32 | word >> 32) ^ (uint64) 1 << 63);
}

/*
 * The bits of an INCLUDE value: integers are sign-extended, a float8 has its IEEE bits.  Of a value
 * that has halves it is the upper one, or, of the kinds for that, the lower one; their order is
 * that of gpb_key_half().  The value must not be NULL.
 */
GPB_FN int64
gpb_row_value(const char *row, int offset, int kind)
{
	switch (kind)
	{
		case GPB_KIND_INT2:
			return *(const int16 *) (row + offset);
		case GPB_KIND_INT4:
			return *(const int32 *) (row + offset);
		case GPB_KIND_INT128:
			return (int64) gpb_load64(row + offset + 8);
		case GPB_KIND_INT128_LOWER:
			return (int64) (gpb_load64(row + offset) ^ (uint64) 1 << 63);
		case GPB_KIND_BYTES16:
			return gpb_bytes_word(row + offset);
		case GPB_KIND_BYTES16_LOWER:
			return gpb_bytes_word(row + offset + 8);
		default:
			return (int64) gpb_load64(row + offset);
	}
}

#endif							/* GPB_LAYOUT_H */
