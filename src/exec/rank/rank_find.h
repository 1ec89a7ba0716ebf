/*-------------------------------------------------------------------------
 *
 * rank_find.h
 *	  The key of a rank: where, in the order of an index, the n-th visible entry is.
 *
 * A range of keys is cut into parts (rank_cuts.c), the visible entries of each part are counted in
 * one batch (batch.h), and the part that holds the rank is cut again, until what is left fits a
 * leaf or is one key (rank_find.c).  All rounds use one snapshot, so that their counts agree with
 * each other and with what a scan with this snapshot returns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANK_FIND_H
#define GPB_RANK_FIND_H

#include "postgres.h"

#include "exec/answer/ask.h"
#include "exec/answer/partitions.h"
#include "exec/shell/node_shell.h"
#include "layout.h"
#include "program/ranges.h"

/* ---- where to cut (rank_cuts.c) ---- */

/*
 * About as many parts as one round counts, and the most parts that a range is cut into.  The
 * first is a setting where hold points are compiled in, for tests that have little data.
 */
extern int	gpb_rank_parts;

#define GPB_RANK_PARTS		2048
#define GPB_RANK_MOST_PARTS (2 * gpb_rank_parts)

/*
 * So many are enough for a few ranks without a device.  A part costs the CPU a visit of the leaf
 * where it ends, and the leaves between may be passed by (engine/leaf_cells.h); what is cut again
 * is one part for each rank.
 */
#define GPB_RANK_CPU_PARTS	256
#define GPB_RANK_FEW		8

/* A range of keys in parts, ascending, without gaps */
typedef struct GpbRankCuts
{
	GpbKeyRange *parts;			/* palloc'd */
	uint32		n;				/* at least 1; 1: the range fits a leaf, or is one key */
	double		leaves;			/* number of leaves that a part has, about */
} GpbRankCuts;

/*
 * Cut a range, which is not empty, into so many parts, at most twice as many, of about as many
 * entries each, at separators that the inner pages have.  Keys that differ in no bit but those of
 * "behind", which are the lowest ones, come into one part; the range has all or none of them.
 * Locks one page at a time, share.
 */
extern void gpb_rank_cut(Relation index, const GpbLayout *layout, GpbKeyRange range,
						 GpbKey behind, uint32 parts, GpbRankCuts *cuts);

/*
 * Likewise for n indexes of the same form, whose separators all cut the range: into so many parts
 * together, about.
 */
extern void gpb_rank_cut_several(const Relation *indexes, int n, const GpbLayout *layout,
								 GpbKeyRange range, GpbKey behind, uint32 parts,
								 GpbRankCuts *cuts);

/* ---- finding (rank_find.c) ---- */

typedef struct GpbRankFinder GpbRankFinder;

/*
 * Where a rank was found: its key is the key of one entry of a range of keys.  The range begins and
 * ends between keys that differ in other bits than "behind" (gpb_rank_begin()).
 */
typedef struct GpbRankPlace
{
	GpbKeyRange keys;
	int64		rank;			/* of that entry among the range's visible entries, from 0 on */
	int64		entries;		/* visible entries of the range */
} GpbRankPlace;

/*
 * Begin to find ranks, from 0 on, among the visible entries of a closed range of keys, in the
 * order of the index or, with from_end, in the reverse.  Places have all or none of the keys that
 * differ only in the bits of "behind", as of an ordered column those of the columns behind it;
 * ranges must too.  "few" tells that no more than GPB_RANK_FEW ranks will be asked for.  Snapshot
 * and relations are the node's; all memory is of a child of the current context.
 */
extern GpbRankFinder *gpb_rank_begin(GpbNode *node, GpbKey behind, bool from_end, bool few);

/*
 * Likewise among the entries of all partitions, whose indexes have the form of the node's; NULL if
 * none is left.  Such a finder has a total and keys of ranks, but no places.
 */
extern GpbRankFinder *gpb_rank_begin_several(GpbNode *node, GpbPartitions *partitions,
											 GpbKey behind, bool few);

/* Look at this range from now on; what was counted of another is forgotten. */
extern void gpb_rank_set_range(GpbRankFinder *finder, GpbKeyRange range);

/* The number of visible entries of the range */
extern int64 gpb_rank_total(GpbRankFinder *finder);

/*
 * The number of visible entries of a range of keys beside that of the finder, without a look at its
 * parts.  It takes less than to find a rank beyond them.
 */
extern int64 gpb_rank_count_keys(GpbRankFinder *finder, GpbKeyRange range);

/* Find the place of a rank; false if the range does not have so many visible entries. */
extern bool gpb_rank_find(GpbRankFinder *finder, int64 rank, GpbRankPlace *place);

/*
 * The number of visible entries of a range beside that of the finder: those that are NULL in the
 * ordered column, which no range of keys has
 */
extern int64 gpb_rank_count_nulls(GpbRankFinder *finder, GpbRange nulls);

/*
 * Find the keys of n ranks at once: keys[i] is that of ranks[i].  Ranks ascend, may repeat, and are
 * all below gpb_rank_total().  Not for a finder that counts from the end.
 */
extern void gpb_rank_keys(GpbRankFinder *finder, const int64 *ranks, uint64 n, GpbKey *keys);

/* Add what all batches counted to *counters, as gpb_ask_counters() does. */
extern void gpb_rank_counters(const GpbRankFinder *finder, GpbBatchCounters *counters);

/* End all batches and free all memory. */
extern void gpb_rank_end(GpbRankFinder *finder);

#endif							/* GPB_RANK_FIND_H */
