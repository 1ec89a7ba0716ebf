/*-------------------------------------------------------------------------
 *
 * item_final.h
 *	  From answers to SQL values, with core's types, NULL rules and scales.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ITEM_FINAL_H
#define GPB_ITEM_FINAL_H

#include "postgres.h"
#include "utils/numeric.h"
#include "utils/relcache.h"

#include "exec/compile/items.h"
#include "program/answer.h"

/*
 * The value of one aggregate in an answer, whose sums are normalized, over entries of an index;
 * column says where the words of the item's column are, and is NULL for count(*).  What is not
 * passed by value is allocated in the current context.  Raises what core's aggregate would.
 */
extern Datum gpb_aggregate_final(Relation index, const GpbAggregateItem *item,
								 const GpbAnswerColumn *column, const int64 *answer, bool *isnull);

/* The two's complement 128-bit integer (high, low) as numeric */
extern Numeric gpb_int128_numeric(uint64 low, int64 high);

#endif							/* GPB_ITEM_FINAL_H */
