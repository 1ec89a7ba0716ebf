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
 * Fill in rows and costs of the path for a match, whose grouping sets get their runs.  Returns
 * NULL, or why the path is not to be offered.
 */
extern const char *gpb_aggregate_price(const GpbAggregateQuery *query,
									   GpbAggregateMatch *match, Path *path);

#endif							/* GPB_AGGREGATE_PRICE_H */
