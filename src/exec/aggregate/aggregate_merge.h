/*-------------------------------------------------------------------------
 *
 * aggregate_merge.h
 *	  Planning of a node that merges states, which nodes of leaves return, or of one index that
 *	  several processes read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_MERGE_H
#define GPB_AGGREGATE_MERGE_H

#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_path.h"

/* What is planned of leaves; of a table by itself that is one */
typedef struct GpbMerge
{
	const GpbGrouping *grouping;
	GpbAggregateQuery query;	/* of the whole */
	int			n;
	RelOptInfo **leaf;
	GpbAggregatePath **own;		/* of each leaf */
	int			first;			/* the leaf with whose states those of the others must agree; -1 as long
								 * as none is matched */
} GpbMerge;

/*
 * Find the path of leaf i, which returns states, by what the query wants of it.  Returns NULL, or
 * why it has none.
 */
extern const char *gpb_merge_match(GpbMerge *merge, int i, const GpbGrouping *grouping);

/*
 * Make the path of the node that merges the states of a path below, as many as that has rows.
 * Returns NULL, or why there is none.
 */
extern const char *gpb_merge_path(const GpbMerge *merge, Path *states, GpbAggregatePath **merged);

/*
 * Offer a path by which workers answer the query together with the leader, if that may pay; serial
 * is the path of one process.
 */
extern void gpb_aggregate_add_gather_path(const GpbGrouping *grouping,
										  const GpbAggregateQuery *query,
										  const GpbAggregatePath *serial);

#endif							/* GPB_AGGREGATE_MERGE_H */
