/*-------------------------------------------------------------------------
 *
 * aggregate_price.h
 *	  The price of GpubtreeAggregate.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_PRICE_H
#define GPB_AGGREGATE_PRICE_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/aggregate/aggregate_match.h"

/*
 * Fill in rows and costs of the path for a match, whose grouping sets get their phases.  Where
 * bounds are unknown its costs may be those of a shorter range (exec/price/unknown_bounds.h); by
 * *estimated_cost, the total at the estimate of the range, it is compared with those of other
 * indexes.  Returns NULL, or why the path is not to be offered.
 */
extern const char *gpb_aggregate_price(const GpbAggregateQuery *query,
									   GpbAggregateMatch *match, Path *path,
									   Cost *estimated_cost);

/*
 * Fill in rows and costs of the path of a node that merges the states of a path, of which one part
 * returns so many by itself.  Returns NULL, or why it is not to be offered.
 */
extern const char *gpb_aggregate_merge_price(const GpbAggregateQuery *query,
											 const GpbAggregatePlan *plan, const Path *states,
											 double of_part, Path *path);

/* What the programs of a match take for a row of a table, which is not read from an index */
extern Cost gpb_aggregate_row_cost(const GpbAggregateMatch *match);

#endif							/* GPB_AGGREGATE_PRICE_H */
