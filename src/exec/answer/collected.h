/*-------------------------------------------------------------------------
 *
 * collected.h
 *	  The answer of a program that is put together from elsewhere, not by a batch: of groups that
 *	  others have found, or of rows.
 *
 * It has what a batch has after a run: the groups, or the answer over everything.  Its exact sums
 * are narrow as long as all that comes has such, and wide from the first that has not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_COLLECTED_H
#define GPB_COLLECTED_H

#include "postgres.h"

#include "program/group_table.h"

typedef struct GpbCollected GpbCollected;

/*
 * Begin without entries.  The program, which must stay, says how answers are laid out; its
 * constants may be set later.  Groups take so many bytes at most.  All memory is of a child of the
 * current context.
 */
extern GpbCollected *gpb_collected_begin(const GpbProgram *program, Size memory);

/* Forget all entries. */
extern void gpb_collected_reset(GpbCollected *collected);

/*
 * Have wide sums from now on, also in the groups that are there.  Returns false if there is no
 * memory for that.
 */
extern bool gpb_collected_widen(GpbCollected *collected);

/* The format of answers as it is now, at the same place always */
extern const GpbAnswerFormat *gpb_collected_format(const GpbCollected *collected);

/* The groups; of a program without group slots NULL, and it has the answer over all entries. */
extern GpbGroupTable *gpb_collected_groups(GpbCollected *collected);
extern int64 *gpb_collected_total(GpbCollected *collected);

/*
 * The bytes of a group with narrow sums or with wide ones.  Of a program without group slots there
 * is one "group", the answer over all its entries, whose sums are wide.
 */
extern Size gpb_collected_width(const GpbCollected *collected, bool narrow);

/*
 * Merge n groups whose sums are normalized, and narrow if "narrow", which lie one after the other.
 * Groups without entries are none.  Returns false if there is no memory; what is there then means
 * nothing.
 */
extern bool gpb_collected_merge(GpbCollected *collected, const char *groups, uint64 n,
								bool narrow);

/* Take room for so many groups in all. */
extern void gpb_collected_expect(GpbCollected *collected, uint64 n);

/* The bytes that groups take, without those that the table has got for more */
extern Size gpb_collected_bytes(const GpbCollected *collected);

#endif							/* GPB_COLLECTED_H */
