/*-------------------------------------------------------------------------
 *
 * rank_find.h
 *	  The key of a rank: where, in the order of an index, the n-th visible entry is.
 *
 * A range of keys is cut into parts, the visible entries of each part are counted in one batch (batch.h), and the part that
 * holds the rank is cut again, until what is left fits a leaf or is one key.  All rounds use one
 * snapshot, so that their counts agree with each other and with what a scan with this snapshot returns.
 *
 *	  rank_cuts.c		where to cut
 *	  rank_find.c		counting and choosing
 *	  rank_plan.c		node GpubtreeRank, ORDER BY with OFFSET: which queries, at what price
 *	  rank_exec.c		its executor
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANK_FIND_H
#define GPB_RANK_FIND_H

#include "postgres.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "../layout.h"
#include "../ranges.h"
#include "batch.h"

/* ---- settings (exec.c) ---- */

extern bool gpb_enable_rank;	/* gpubtree.enable_rank */

/* ---- where to cut (rank_cuts.c) ---- */

/* About as many parts as one round counts, and the most */
#define GPB_RANK_PARTS		2048
#define GPB_RANK_MOST_PARTS (2 * GPB_RANK_PARTS)

/* A range of keys in parts, ascending, without gaps */
typedef struct GpbRankCuts
{
	GpbKeyRange *parts;			/* palloc'd */
	uint32		n;				/* at least 1; 1: it fits a leaf, or is one key */
	double		leaves;			/* that a part has, about */
} GpbRankCuts;

/*
 * Cut a range, which is not empty, into at most GPB_RANK_MOST_PARTS parts of about as many entries each, at separators that the inner
 * pages have.  Locks one page at a time, share.
 */
extern void gpb_rank_cut(Relation index, const GpbLayout *layout, GpbKeyRange range,
						 GpbRankCuts *cuts);

/* ---- finding (rank_find.c) ---- */

typedef struct GpbRankFinder GpbRankFinder;

/* Where a rank was found */
typedef struct GpbRankPlace
{
	GpbKeyRange keys;			/* it is the key of one of these entries ... */
	int64		rank;			/* ... which has this rank among them ... */
	int64		entries;		/* ... that are visible */
} GpbRankPlace;

/*
 * Ranks, from 0 on, among the visible entries of a closed range of keys, in the order of the index or, from_end, in the
 * reverse.  Snapshot and relations are as for gpb_batch_begin; all memory is of a child of the current context.
 */
extern GpbRankFinder *gpb_rank_begin(Relation heap, Relation index, Snapshot snapshot,
									 bool from_end);

/* Look at this range from now on; what was counted of another is forgotten. */
extern void gpb_rank_set_range(GpbRankFinder *finder, GpbKeyRange range);

/* The number of visible entries of the range */
extern int64 gpb_rank_total(GpbRankFinder *finder);

/* Find the place of a rank; false if there are not so many visible entries. */
extern bool gpb_rank_find(GpbRankFinder *finder, int64 rank, GpbRankPlace *place);

/* The key at a place that was found */
extern uint64 gpb_rank_key(GpbRankFinder *finder, const GpbRankPlace *place);

/* What all batches counted; engine is that of the largest part of the work. */
extern void gpb_rank_counters(const GpbRankFinder *finder, GpbBatchCounters *counters);

extern void gpb_rank_end(GpbRankFinder *finder);

/* Price of finding a rank among so many entries of an index (rank_plan.c) */
extern Cost gpb_rank_cost(PlannerInfo *root, IndexOptInfo *index, double entries);

/* ---- the node GpubtreeRank (rank_plan.c, rank_exec.c) ---- */

/*
 * custom_plans: core's scan of the index, or index-only scan, of the rows wanted; the last of its index conditions is
 * "key >= NULL" ("<=" if it goes to smaller keys), whose right side the node replaces by a parameter of its own.
 * custom_scan_tlist: the child's columns, then a Var of the key, never filled, for the conditions to refer to.
 * custom_exprs: the list of the conditions on the key, then OFFSET.
 * custom_private: OID of the index; whether the scan goes backward, and the parameter's number.
 */
extern const CustomScanMethods gpb_rank_scan_methods;

/* Offer our path for a query's final rows. */
extern void gpb_rank_add_path(PlannerInfo *root, RelOptInfo *final_rel,
							  const FinalPathExtraData *extra);

#endif							/* GPB_RANK_FIND_H */
