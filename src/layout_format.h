/*-------------------------------------------------------------------------
 *
 * layout_format.h
 *	  What lies on the pages of an index: formats, limits, and the layout of one index.
 *
 * Plain C for both compilers.  layout.h says what a page looks like as a whole.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LAYOUT_FORMAT_H
#define GPB_LAYOUT_FORMAT_H

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

#endif							/* GPB_LAYOUT_FORMAT_H */
