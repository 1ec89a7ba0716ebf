/*-------------------------------------------------------------------------
 *
 * record_sort.h
 *	  What the devices share of sorts (sort.h): a record's words, and which runs are merged when.
 *
 * Both devices keep records in the order in which they came, and sort their numbers.  The numbers
 * of a piece are sorted by one word of the records after the other, from the last to the first, by
 * a sort that is stable.  That makes a run.  Runs lie side by side in one array, in the order in
 * which they came, and neighbours are merged, in another array:
 *
 *		number	| run 0            | run 1     | run 2 |
 *		spare	                   | run 1 with run 2  |		then it is copied back
 *
 * A record of an earlier run comes before one of a later run that is equal to it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RECORD_SORT_H
#define GPB_RECORD_SORT_H

#include "sort.h"

/* ---- words ---- */

#define GPB_TIE_BITS		49		/* that GPB_TIE_MASK has */

/* Words that records are compared by: those of the key, the highest first, and the tie */
GPB_FN int
gpb_record_words(int key_width)
{
	return key_width == GPB_WIDE_KEY ? 3 : 2;
}

/* Word number "word" of a record, which is 4-byte aligned */
GPB_FN uint64
gpb_record_word(const char *record, int key_width, int word)
{
	if (word == gpb_record_words(key_width) - 1)
		return gpb_row_locator(record + key_width) & GPB_TIE_MASK;
	if (key_width == 4)
		return *(const uint32 *) record;
	return gpb_load64(record + key_width - 8 * (word + 1));
}

/* No record has a bit at or above this one in its word number "word". */
GPB_FN int
gpb_record_word_bits(int key_width, int word)
{
	if (word == gpb_record_words(key_width) - 1)
		return GPB_TIE_BITS;
	return key_width == 4 ? 32 : 64;
}

/* Does record a come before record b by the words from number "word" on? */
GPB_FN bool
gpb_record_less(const char *a, const char *b, int key_width, int word)
{
	int			last = gpb_record_words(key_width) - 1;

	for (; word < last; word++)
	{
		uint64		x = gpb_record_word(a, key_width, word);
		uint64		y = gpb_record_word(b, key_width, word);

		if (x != y)
			return x < y;
	}
	return gpb_record_word(a, key_width, last) < gpb_record_word(b, key_width, last);
}

/* ---- runs ---- */

/*
 * Most runs of a sort.  But for the one that came last each is at least twice as long as the next,
 * and GPB_SORT_MOST records are 32 such runs at most.
 */
#define GPB_SORTED_RUNS		33

typedef struct GpbSortedRuns
{
	int			n;
	uint64		records;		/* of all runs */
	uint32		length[GPB_SORTED_RUNS];	/* in records */
} GpbSortedRuns;

/* Add a run, behind the others. */
static inline void
gpb_sorted_runs_add(GpbSortedRuns *runs, uint32 length)
{
	runs->length[runs->n++] = length;
	runs->records += length;
}

/* Are the last two runs to be merged now?  "all" says that one run is wanted. */
static inline bool
gpb_sorted_runs_merge_due(const GpbSortedRuns *runs, bool all)
{
	return runs->n > 1 &&
		(all || runs->length[runs->n - 2] < 2 * (uint64) runs->length[runs->n - 1]);
}

/* Where the last two runs begin, counted in records; they end at runs->records. */
static inline uint32
gpb_sorted_runs_pair(const GpbSortedRuns *runs)
{
	return (uint32) (runs->records - runs->length[runs->n - 1] - runs->length[runs->n - 2]);
}

/* The last two runs are one now. */
static inline void
gpb_sorted_runs_merged(GpbSortedRuns *runs)
{
	runs->n--;
	runs->length[runs->n - 1] += runs->length[runs->n];
}

#endif							/* GPB_RECORD_SORT_H */
