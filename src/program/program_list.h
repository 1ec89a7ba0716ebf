/*-------------------------------------------------------------------------
 *
 * program_list.h
 *	  What becomes of an entry under a program that lists (program.h), and limited lists.
 *
 * Plain C, free of PostgreSQL headers; ranks are for both compilers.
 *
 * An entry's *rank* is an integer whose order is that of a limited list: the less, the nearer to
 * the list's beginning.  NULL has the rank of the least or of the greatest integer, so that a
 * list may have more entries than without that, and never fewer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_LIST_H
#define GPB_PROGRAM_LIST_H

#include "program/program_steps.h"

typedef enum GpbJudgement
{
	GPB_JUDGED_DROPPED,			/* by a filter, or since it is behind the limit's last entry */
	GPB_JUDGED_LISTED,
	GPB_JUDGED_FAULTED,			/* listed, with GPB_RANGE_ENTRY_FAULTED */
	GPB_JUDGED_COUNTED			/* listed, and counts for the limit already */
} GpbJudgement;

/* Does the program list entries, but not all of them? */
GPB_FN bool
gpb_program_judges(const GpbProgram *program)
{
	return program->list_entries && (program->nsteps > 0 || program->limit > 0);
}

/* The rank of an entry for which a step faulted: whatever the limit, it is listed. */
#define GPB_FAULTED_RANK	((uint64) 0)

/* The rank of an entry, by the value of its program's order. */
GPB_FN uint64
gpb_list_rank(bool descending, bool nulls_first, int64 word, bool is_null)
{
	uint64		rank = (uint64) word ^ (uint64) 1 << 63;

	if (is_null)
		return nulls_first ? 0 : ~(uint64) 0;
	return descending ? ~rank : rank;
}

/*
 * Judge one entry, step by step.  *rank is set unless it is dropped; it is 0 if the program has no
 * limit.
 */
extern GpbJudgement gpb_judge_entry(const GpbProgram *program, GpbKey key, const char *row,
									uint64 *rank);

/* ---- the best entries ---- */

/*
 * The ranks of the best entries that were added, as many as the limit or fewer.  Each of them must
 * be one that counts for the limit: seen by the snapshot, and without a fault.
 */
typedef struct GpbListBest
{
	uint32		limit;
	uint32		n;
	uint64	   *rank;			/* n of them; a heap with the greatest first once n is the limit */
} GpbListBest;

/* Forget all entries.  rank has room for the limit, which is not 0. */
extern void gpb_best_begin(GpbListBest *best, uint32 limit, uint64 *rank);

/*
 * Is an entry of this rank behind the limit's last one, whatever is to be added?  Those that are
 * equal to the last one are not.
 */
GPB_FN bool
gpb_best_is_behind(const GpbListBest *best, uint64 rank)
{
	return best->n == best->limit && rank > best->rank[0];
}

extern void gpb_best_add(GpbListBest *best, uint64 rank);

#endif							/* GPB_PROGRAM_LIST_H */
