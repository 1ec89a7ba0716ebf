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
 *	  percentile_plan.c	node GpubtreePercentile, percentile_disc: which queries, at what price
 *	  percentile_exec.c	its executor
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

#include "layout.h"
#include "ranges.h"
#include "exec/aggregate/aggregate_node.h"
#include "engine/batch.h"

/* ---- settings (exec.c) ---- */

extern bool gpb_enable_rank;	/* gpubtree.enable_rank */
extern bool gpb_enable_percentile;	/* gpubtree.enable_percentile */

/* ---- where to cut (rank_cuts.c) ---- */

/* About as many parts as one round counts, and the most.  Tests get by with little data. */
#ifdef GPB_HOLD_POINTS
#define GPB_RANK_PARTS		48
#else
#define GPB_RANK_PARTS		2048
#endif
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

/*
 * Find the keys of n ranks at once: keys[i] is that of ranks[i].  Ranks ascend, may repeat, and are all below gpb_rank_total().  Not
 * for ranks from_end.
 */
extern void gpb_rank_keys(GpbRankFinder *finder, const int64 *ranks, uint64 n, uint64 *keys);

/* What all batches counted; engine is that of the largest part of the work. */
extern void gpb_rank_counters(const GpbRankFinder *finder, GpbBatchCounters *counters);

extern void gpb_rank_end(GpbRankFinder *finder);

/* ---- planning (rank_plan.c) ---- */

/* Price of finding a rank among so many entries of an index, where only a scan of the index could do it, too, or others (plan_rules.h) */
extern Cost gpb_rank_cost(PlannerInfo *root, IndexOptInfo *index, double entries,
						  bool beside_index_scan);

/* Has no row that the query wants of the table a NULL key? */
extern bool gpb_key_is_not_null(PlannerInfo *root, IndexOptInfo *index);

/* ---- the node GpubtreeRank (rank_plan.c, rank_exec.c) ---- */

/*
 * custom_plans: core's scan of the index, or index-only scan, of the rows wanted; the last of its
 * index conditions is "key >= NULL" ("<=" if it goes to smaller keys), whose right side the node
 * replaces by a parameter of its own.
 * custom_scan_tlist: the child's columns, which are Vars, then a Var of the key, never filled, for
 * the conditions to refer to.
 * custom_exprs: the list of the conditions on the key, then OFFSET: all evaluated before the first
 * row.
 * custom_private: OID of the index; whether the scan goes backward, and the parameter's number.
 */
extern const CustomScanMethods gpb_rank_scan_methods;

/* Offer our path for a query's final rows. */
extern void gpb_rank_add_path(PlannerInfo *root, RelOptInfo *final_rel,
							  const FinalPathExtraData *extra);

/* ---- the node GpubtreePercentile (percentile_plan.c, percentile_exec.c) ---- */

/* One percentile_disc */
typedef struct GpbPercentile
{
	bool		many;			/* an array of fractions, and of values */
	bool		descending;
	Oid			type;			/* of a value */
} GpbPercentile;

/*
 * custom_scan_tlist: the Aggrefs, percentiles last, then a Var of the key, never filled, for the conditions to refer to.
 * custom_exprs: the list of the conditions on the key, then the list of the percentiles' fractions.
 * custom_private: of the other aggregates as gpb_aggregate_private makes it; of percentiles, as gpb_percentile_private does.
 */
extern const CustomScanMethods gpb_percentile_scan_methods;

/* Is this aggregate, over keys none of which is NULL, the number of rows? */
static inline bool
gpb_item_counts_rows(const GpbAggregateItem *item)
{
	return item->function == GPB_COUNT_ENTRIES ||
		(item->function == GPB_COUNT_VALUES && item->column == 0);
}

extern List *gpb_percentile_private(const GpbPercentile *percentiles, int n);
/* Number of percentiles, which are palloc'd */
extern int	gpb_percentile_read_private(List *private, GpbPercentile **percentiles);

/* Offer our path for a query's aggregates. */
extern void gpb_percentile_add_path(PlannerInfo *root, RelOptInfo *input_rel,
									RelOptInfo *grouped_rel);

#endif							/* GPB_RANK_FIND_H */
