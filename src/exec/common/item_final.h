/*-------------------------------------------------------------------------
 *
 * item_final.h
 *	  From running state to SQL values, with core's types, NULL rules and scales.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ITEM_FINAL_H
#define GPB_ITEM_FINAL_H

#include "postgres.h"
#include "utils/numeric.h"

#include "aggregate.h"
#include "exec/common/items.h"

/* Running state, and one GpbFloatSum for each column that needs one */
typedef struct GpbTotals
{
	GpbAggregateState state;
	GpbFloatSum *sums;			/* gpb_count_float_sums(spec) of them */
} GpbTotals;

/*
 * The value of one aggregate, of the totals that the spec asked for; sums of double precision must
 * be normalized.  What is not passed by value is allocated in the current context.  Raises what
 * core's aggregate would.
 */
extern Datum gpb_aggregate_final(const GpbAggregateItem *item, const GpbAggregateSpec *spec,
								 const GpbTotals *totals, bool *isnull);

/* The two's complement 128-bit integer (high, low) as numeric */
extern Numeric gpb_int128_numeric(uint64 low, int64 high);

#endif							/* GPB_ITEM_FINAL_H */
