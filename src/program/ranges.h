/*-------------------------------------------------------------------------
 *
 * ranges.h
 *	  A request: which ranges of the index, and what a program does with their entries.
 *
 * Plain C for both compilers.  One request carries many ranges, each with a number, its place in
 * the request.  An aggregate over one range is a request of one.  Of each range comes an answer
 * (answer.h), or one answer of them all; or a list of entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGES_H
#define GPB_RANGES_H

#include "program/answer.h"

/*
 * A closed interval of keys: every entry with lo <= key <= hi whose key is not NULL.  It has no
 * entries if lo > hi.
 */
typedef struct GpbKeyRange
{
	GpbKey		lo;				/* a normalized key, and so is hi */
	GpbKey		hi;
} GpbKeyRange;

/* A closed interval of narrow keys, as requests to a device have it */
#if defined(__CUDACC__) && !defined(GPB_CUDA_WIDE)
typedef GpbKeyRange GpbNarrowKeyRange;
#else
typedef struct GpbNarrowKeyRange
{
	uint64		lo;
	uint64		hi;
} GpbNarrowKeyRange;
#endif

/*
 * The form in which ranges are given, and, in brackets, in which a request to a device has them if
 * keys are narrow; those of wide keys it has as they are given
 */
typedef enum GpbRangeForm
{
	GPB_RANGE_POINTS,			/* each a GpbKey (uint64), and so a range of its own */
	GPB_RANGE_KEYS,				/* each a GpbKeyRange (GpbNarrowKeyRange) */
	GPB_RANGE_BOUNDS			/* each a GpbRange (GpbNarrowRange): a half-open interval of (key,
								 * tie), in which NULL keys may be; that from GPB_BOUND_MIN to
								 * GPB_BOUND_MAX has all entries */
} GpbRangeForm;

/*
 * A request: n ranges in one form, and what the program does with their entries.  The words of long
 * tables of the program come with the ranges.
 */
typedef struct GpbRangesSpec
{
	GpbProgram	program;
	GpbRangeForm form;
	uint32		n;
	bool		total;			/* one answer over all ranges; not for lists */
	uint64		epoch;			/* leaves whose image is newer are not clean (rule M5) */
	uint32		heap_blocks;	/* heap blocks that the visibility bits cover */
	uint32		exceptions;		/* number of exceptions at gpb_exceptions_offset(), behind the
								 * bits */
} GpbRangesSpec;

/* Copy a request; its program as gpb_program_copy() does. */
GPB_FN void
gpb_ranges_spec_copy(GpbRangesSpec *into, const GpbRangesSpec *from)
{
	gpb_program_copy(&into->program, &from->program);
	memcpy(&into->form, &from->form, sizeof(GpbRangesSpec) - offsetof(GpbRangesSpec, form));
}


/* The bytes of one range in this form, as a request to a device has it that holds such keys. */
GPB_FN int
gpb_range_width(GpbRangeForm form, int key_width)
{
	int			key = key_width == GPB_WIDE_KEY ? GPB_WIDE_KEY : (int) sizeof(uint64);

	return form == GPB_RANGE_POINTS ? key :
		form == GPB_RANGE_KEYS ? 2 * key : 2 * (key + (int) sizeof(uint64));
}

/* The number of answers to the request. */
GPB_FN uint32
gpb_count_answers(const GpbRangesSpec *spec)
{
	if (spec->program.list_entries || spec->program.ngroups > 0)
		return 0;
	return spec->total ? 1 : spec->n;
}

/*
 * Where a request's words of long tables lie in staging: behind its ranges and its answers, which
 * share their place, since whoever reads the words must not find answers there.
 */
GPB_FN uint64
gpb_request_more_offset(const GpbRangesSpec *spec)
{
	uint64		ranges = (uint64) spec->n *
		gpb_range_width(spec->form, spec->program.layout.key_width);
	uint64		answers;
	GpbAnswerFormat format;

	gpb_answer_format(&spec->program, &format);
	answers = (uint64) gpb_count_answers(spec) * gpb_answer_width(&format);
	return ranges > answers ? ranges : answers;
}

/*
 * A group of a program with group slots: the values of these, and the answer of the group's
 * entries, whose exact sums are normalized.  Records lie gpb_group_width() bytes apart.
 */
typedef struct GpbGroup
{
	uint32		number;			/* of the range in the request if the program is by_range, else 0 */
	uint32		nulls;			/* bit i: group slot i is NULL, and its word is 0 */
	int64		words[];		/* program.ngroups values, then the words of the answer */
} GpbGroup;

/* The bytes from one GpbGroup of a program to the next. */
GPB_FN int
gpb_group_width(const GpbProgram *program, const GpbAnswerFormat *format)
{
	return (int) sizeof(GpbGroup) +
		(program->ngroups + format->words) * (int) sizeof(int64);
}

/*
 * The number of words in the bitmap of the heap blocks where the entries are that the request
 * leaves to be checked in the heap: bit b % 32 of word b / 32 stands for block b.  It has the
 * blocks that the visibility bits cover.  A request that lists entries has no such bitmap.
 */
GPB_FN uint32
gpb_count_block_words(const GpbRangesSpec *spec)
{
	return spec->program.list_entries ? 0 : spec->heap_blocks / 32 + (spec->heap_blocks % 32 != 0);
}

/*
 * Make a closed interval of non-NULL keys a half-open range of (key, tie).  With NULLS LAST, NULL
 * keys are all-ones and carry the order bit; with NULLS FIRST they are zero and all others carry
 * it.
 */
GPB_FN GpbRange
gpb_key_range(GpbKeyRange keys, int layout_flags)
{
	GpbRange	range;

	range.lo.key = keys.lo;
	range.lo.tie = (layout_flags & GPB_LAYOUT_NULLS_FIRST) ? GPB_LOC_ORDER_BIT : 0;
	range.hi.key = keys.hi;
	range.hi.tie = (layout_flags & GPB_LAYOUT_NULLS_FIRST) ? ~(uint64) 0 : GPB_LOC_ORDER_BIT;
	return range;
}

#ifndef __CUDACC__

/* Range number i of ranges in the form given. */
GPB_FN GpbRange
gpb_range_at(GpbRangeForm form, const void *ranges, uint32 i, int layout_flags)
{
	GpbKeyRange keys;

	if (form == GPB_RANGE_BOUNDS)
		return ((const GpbRange *) ranges)[i];
	if (form == GPB_RANGE_POINTS)
		keys.lo = keys.hi = ((const GpbKey *) ranges)[i];
	else
		keys = ((const GpbKeyRange *) ranges)[i];
	return gpb_key_range(keys, layout_flags);
}

#endif

/* Range number i of the ranges of a request to a device, in the form given, if keys are wide */
GPB_FN GpbRange
gpb_wide_input_range(GpbRangeForm form, const void *ranges, uint32 i, int layout_flags)
{
	GpbKeyRange keys;
	const uint64 *word;

	if (form == GPB_RANGE_BOUNDS)
	{
		const GpbWideRange *wide = (const GpbWideRange *) ranges + i;
		GpbRange	range;

		range.lo = gpb_bound_of_wide(wide->lo);
		range.hi = gpb_bound_of_wide(wide->hi);
		return range;
	}
	word = (const uint64 *) ranges + (size_t) i * (form == GPB_RANGE_POINTS ? 2 : 4);
	keys.lo = keys.hi = gpb_key_of_halves(word[0], word[1]);
	if (form == GPB_RANGE_KEYS)
		keys.hi = gpb_key_of_halves(word[2], word[3]);
	return gpb_key_range(keys, layout_flags);
}

/* Range number i of the ranges of a request to a device, which are in the form given. */
GPB_FN GpbRange
gpb_input_range(GpbRangeForm form, const void *ranges, uint32 i, int key_width, int layout_flags)
{
	GpbKeyRange keys;

	if (gpb_is_wide(key_width))
		return gpb_wide_input_range(form, ranges, i, layout_flags);
	if (form == GPB_RANGE_BOUNDS)
		return gpb_widen_range(((const GpbNarrowRange *) ranges)[i]);
	if (form == GPB_RANGE_POINTS)
		keys.lo = keys.hi = ((const uint64 *) ranges)[i];
	else
	{
		keys.lo = ((const GpbNarrowKeyRange *) ranges)[i].lo;
		keys.hi = ((const GpbNarrowKeyRange *) ranges)[i].hi;
	}
	return gpb_key_range(keys, layout_flags);
}

#ifndef __CUDACC__

/* Write n ranges from number "first" on as a request to a device that holds such keys has them. */
GPB_FN void
gpb_put_ranges(GpbRangeForm form, const void *ranges, uint32 first, uint32 n, int key_width,
				   void *into)
{
	uint32		i;

	if (gpb_is_wide(key_width))
	{
		size_t		width = gpb_range_width(form, key_width);

		memcpy(into, (const char *) ranges + first * width, n * width);
		return;
	}
	switch (form)
	{
		case GPB_RANGE_POINTS:
			for (i = 0; i < n; i++)
				((uint64 *) into)[i] = (uint64) ((const GpbKey *) ranges)[first + i];
			break;
		case GPB_RANGE_KEYS:
			for (i = 0; i < n; i++)
			{
				const GpbKeyRange *keys = (const GpbKeyRange *) ranges + first + i;

				((GpbNarrowKeyRange *) into)[i].lo = (uint64) keys->lo;
				((GpbNarrowKeyRange *) into)[i].hi = (uint64) keys->hi;
			}
			break;
		case GPB_RANGE_BOUNDS:
			for (i = 0; i < n; i++)
				((GpbNarrowRange *) into)[i] =
					gpb_narrow_range(((const GpbRange *) ranges)[first + i]);
			break;
	}
}

#endif

/*
 * A piece of a range that the device could not answer.  The CPU answers all of it, [range.lo,
 * range.hi), from the real tree, starting at block and moving right.  If keys are wide it is a
 * GpbWidePiece.
 */
typedef struct GpbUncleanPiece
{
	GpbNarrowRange range;		/* the piece, within one leaf of the image */
	uint32		block;			/* that leaf, or GPB_NO_BLOCK if the image has none */
	uint32		number;			/* the range's number in the request */
} GpbUncleanPiece;

typedef struct GpbWidePiece
{
	GpbWideRange range;
	uint32		block;
	uint32		number;
} GpbWidePiece;

/* The bytes from one of these to the next */
GPB_FN int
gpb_piece_width(int key_width)
{
	return key_width == GPB_WIDE_KEY ? (int) sizeof(GpbWidePiece) : (int) sizeof(GpbUncleanPiece);
}

/* A piece of a range that the CPU answers, with a block as in GpbUncleanPiece */
typedef struct GpbPiece
{
	GpbRange	range;
	uint32		block;
	uint32		number;			/* the range's number in its batch */
} GpbPiece;

/* Write a piece as number i of a list that a request leaves. */
GPB_FN void
gpb_put_piece(void *list, uint64 i, int key_width, GpbRange range, uint32 block, uint32 number)
{
	if (gpb_is_wide(key_width))
	{
		GpbWidePiece *piece = (GpbWidePiece *) list + i;

		piece->range.lo = gpb_wide_bound(range.lo);
		piece->range.hi = gpb_wide_bound(range.hi);
		piece->block = block;
		piece->number = number;
	}
	else
	{
		GpbUncleanPiece *piece = (GpbUncleanPiece *) list + i;

		piece->range = gpb_narrow_range(range);
		piece->block = block;
		piece->number = number;
	}
}

#ifndef __CUDACC__

/* Piece number i of such a list */
GPB_FN GpbPiece
gpb_piece_at(const void *list, uint64 i, int key_width)
{
	GpbPiece	piece;

	if (gpb_is_wide(key_width))
	{
		const GpbWidePiece *wide = (const GpbWidePiece *) list + i;

		piece.range.lo = gpb_bound_of_wide(wide->range.lo);
		piece.range.hi = gpb_bound_of_wide(wide->range.hi);
		piece.block = wide->block;
		piece.number = wide->number;
	}
	else
	{
		const GpbUncleanPiece *narrow = (const GpbUncleanPiece *) list + i;

		piece.range = gpb_widen_range(narrow->range);
		piece.block = narrow->block;
		piece.number = narrow->number;
	}
	return piece;
}

#endif

/*
 * An entry that was listed, or that must be checked in the heap.  The row is row_width bytes as on
 * the leaf, and behind it lies the upper half of a wide key; records lie gpb_entry_record_width()
 * bytes apart.
 */
typedef struct GpbRangeEntry
{
	uint32		number;			/* the range's number in the request */
	uint32		flags;
	uint64		key;			/* the normalized key, or its lower half: see gpb_entry_key() */
	char		row[];
} GpbRangeEntry;

#define GPB_RANGE_ENTRY_VISIBLE	0x01	/* seen by the snapshot, so it needs no heap visit */
#define GPB_RANGE_ENTRY_FAULTED	0x02	/* a step of the program that lists faulted for it */

/* The bytes of a GpbRangeEntry whose row has row_width bytes, without what is behind the row */
GPB_FN int
gpb_range_entry_width(int row_width)
{
	return 16 + ((row_width + 7) & ~7);
}

/* The bytes from one GpbRangeEntry to the next in a list of entries of these widths */
GPB_FN int
gpb_entry_width(int key_width, int row_width)
{
	return gpb_range_entry_width(row_width) +
		(key_width == GPB_WIDE_KEY ? (int) sizeof(uint64) : 0);
}

/* The bytes from one GpbRangeEntry to the next in a list of entries of an index of this layout */
GPB_FN int
gpb_entry_record_width(const GpbLayout *layout)
{
	return gpb_entry_width(layout->key_width, layout->row_width);
}

/* Where the upper half of a wide key is: behind the row */
GPB_FN uint64 *
gpb_entry_upper_half(const GpbRangeEntry *entry, const GpbLayout *layout)
{
	return (uint64 *) ((char *) entry + gpb_range_entry_width(layout->row_width));
}

/* The normalized key of an entry in a list, of an index of this layout */
GPB_FN GpbKey
gpb_entry_key(const GpbRangeEntry *entry, const GpbLayout *layout)
{
	if (gpb_is_wide(layout->key_width))
		return gpb_key_of_halves(entry->key, *gpb_entry_upper_half(entry, layout));
	return entry->key;
}

/* Fill in the record of an entry of range number "number". */
GPB_FN void
gpb_entry_record(GpbRangeEntry *entry, uint32 number, uint32 flags, GpbKey key, const char *row,
				 const GpbLayout *layout)
{
	entry->number = number;
	entry->flags = flags;
	entry->key = (uint64) key;
	memcpy(entry->row, row, layout->row_width);
	if (gpb_is_wide(layout->key_width))
		*gpb_entry_upper_half(entry, layout) = gpb_key_upper(key);
}

/* What a request left to be fetched beside its answers */
typedef struct GpbRangesResult
{
	uint64		leaves;			/* number of leaf visits by the device */
	uint64		unclean;		/* GpbUncleanPiece records to fetch, one for each unclean leaf of
								 * each range, sorted by the range's number and then in key order */
	uint64		entries;		/* GpbRangeEntry records to fetch: for a program that lists, its
								 * list, sorted by the range's number and then in key order; else
								 * those to be checked in the heap, sorted by TID */
	uint64		groups;			/* GpbGroup records to fetch, in any order */
	uint64		faults;			/* not 0: a step of a program that aggregates faulted, and nothing
								 * else of the result counts */
	uint64		unheld;			/* not 0: a narrow sum does not hold a value, and nothing else of
								 * the result counts */
} GpbRangesResult;

#endif							/* GPB_RANGES_H */
