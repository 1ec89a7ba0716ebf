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

#include "answer.h"

/*
 * A closed interval of keys: every entry with lo <= key <= hi whose key is not NULL.  It has no
 * entries if lo > hi.
 */
typedef struct GpbKeyRange
{
	GpbKey		lo;				/* a normalized key, and so is hi */
	GpbKey		hi;
} GpbKeyRange;

/* The same as requests to a device have it */
#ifdef __CUDACC__
typedef GpbKeyRange GpbNarrowKeyRange;
#else
typedef struct GpbNarrowKeyRange
{
	uint64		lo;
	uint64		hi;
} GpbNarrowKeyRange;
#endif

/* The form in which ranges are given, and, in brackets, in which a request to a device has them */
typedef enum GpbRangeForm
{
	GPB_RANGE_POINTS,			/* each a GpbKey (uint64), and so a range of its own */
	GPB_RANGE_KEYS,				/* each a GpbKeyRange (GpbNarrowKeyRange) */
	GPB_RANGE_BOUNDS			/* each a GpbRange (GpbNarrowRange): a half-open interval of (key,
								 * tie), in which NULL keys may be; that from GPB_BOUND_MIN to
								 * GPB_BOUND_MAX has all entries */
} GpbRangeForm;

/* A request: n ranges in one form, and what the program does with their entries */
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


/* The bytes of one range in this form, as a request to a device has it. */
GPB_FN int
gpb_range_width(GpbRangeForm form)
{
	return form == GPB_RANGE_POINTS ? (int) sizeof(uint64) :
		form == GPB_RANGE_KEYS ? (int) sizeof(GpbNarrowKeyRange) : (int) sizeof(GpbNarrowRange);
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

/* Range number i of the ranges of a request to a device, which are in the form given. */
GPB_FN GpbRange
gpb_input_range(GpbRangeForm form, const void *ranges, uint32 i, int layout_flags)
{
	GpbKeyRange keys;

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

/*
 * Write n ranges from number "first" on as a request to a device has them.  The index's keys have
 * at most 8 bytes.
 */
GPB_FN void
gpb_narrow_ranges(GpbRangeForm form, const void *ranges, uint32 first, uint32 n, void *into)
{
	uint32		i;

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

/*
 * A piece of a range that the device could not answer.  The CPU answers all of it, [range.lo,
 * range.hi), from the real tree, starting at block and moving right.
 */
typedef struct GpbUncleanPiece
{
	GpbNarrowRange range;		/* the piece, within one leaf of the image */
	uint32		block;			/* that leaf, or GPB_NO_BLOCK if the image has none */
	uint32		number;			/* the range's number in the request */
} GpbUncleanPiece;

/* A piece of a range that the CPU answers, with a block as in GpbUncleanPiece */
typedef struct GpbPiece
{
	GpbRange	range;
	uint32		block;
	uint32		number;			/* the range's number in its batch */
} GpbPiece;

/*
 * An entry that was listed, or that must be checked in the heap.  The row is row_width bytes as on
 * the leaf; records lie gpb_range_entry_width() bytes apart, or, where keys may be of any width,
 * gpb_entry_record_width().
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

/*
 * The bytes from one GpbRangeEntry to the next in a list of entries whose rows have row_width
 * bytes.
 */
GPB_FN int
gpb_range_entry_width(int row_width)
{
	return 16 + ((row_width + 7) & ~7);
}

/* The same for entries of an index of this layout, which a device need not hold */
GPB_FN int
gpb_entry_record_width(const GpbLayout *layout)
{
	return gpb_range_entry_width(layout->row_width) +
		(layout->key_width == GPB_WIDE_KEY ? (int) sizeof(uint64) : 0);
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
	GpbKey		key = entry->key;

#ifdef __CUDACC__
	(void) layout;				/* to a device no key is wide */
#else
	if (layout->key_width == GPB_WIDE_KEY)
		key |= (GpbKey) *gpb_entry_upper_half(entry, layout) << 64;
#endif
	return key;
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
#ifndef __CUDACC__
	if (layout->key_width == GPB_WIDE_KEY)
		*gpb_entry_upper_half(entry, layout) = (uint64) (key >> 64);
#endif
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
	uint64		unheld;			/* not 0: a narrow sum does not hold a value, likewise */
} GpbRangesResult;

#endif							/* GPB_RANGES_H */
