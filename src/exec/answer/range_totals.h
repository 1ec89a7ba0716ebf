/*-------------------------------------------------------------------------
 *
 * range_totals.h
 *	  SQL aggregates over ranges of an index: a batch of ranges, and values of aggregates.
 *
 * One batch (batch.h) aggregates all columns that a query's aggregates are over.  Its answers are
 * added up by groups, of one range or of several, and a group's answer becomes the aggregates'
 * values.  There is one group at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGE_TOTALS_H
#define GPB_RANGE_TOTALS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "engine/batch.h"
#include "exec/compile/items.h"

typedef struct GpbRangeTotals GpbRangeTotals;

/*
 * Begin totals for the aggregates "items"; snapshot, relations, form and memory of the ranges, and
 * engine are as in GpbBatchWant and gpb_batch_begin.  All memory is of a child of the current
 * context.
 */
extern GpbRangeTotals *gpb_range_totals_begin(Relation heap, Relation index, Snapshot snapshot,
											  const GpbAggregateItem *items, int nitems,
											  GpbRangeForm form, Size memory, GpbEngine engine);

/*
 * Begin totals for a program whose constants are set; the columns of items are its terms.  If it
 * has group slots, the totals of a run are read group by group.
 */
extern GpbRangeTotals *gpb_range_totals_begin_program(Relation heap, Relation index,
													  Snapshot snapshot,
													  const GpbProgram *program,
													  const GpbAggregateItem *items, int nitems,
													  GpbRangeForm form, Size memory,
													  GpbEngine engine);

/* Answer n ranges, given as for gpb_batch_run.  Answers are good until the next run. */
extern void gpb_range_totals_run(GpbRangeTotals *totals, const void *ranges, uint32 n);

/*
 * Add one total over all of n disjoint ranges to the group, without an answer for each.  Of a
 * program with group slots nothing is added: gpb_range_totals_next_group() reads the groups.
 */
extern void gpb_range_totals_sum(GpbRangeTotals *totals, const void *ranges, uint32 n);

/* Did the batch give up in the last run, and why: gpb_batch_gave_up() */
extern bool gpb_range_totals_gave_up(const GpbRangeTotals *totals, const char **why);

/*
 * The batch of the totals, which whoever has these may ask for its groups, or how many bytes an
 * answer has.  Only the functions above run it.
 */
extern GpbBatch *gpb_range_totals_batch(const GpbRangeTotals *totals);

/*
 * The next group of the last run of a program with group slots; *at is 0 at first.  It becomes the
 * group whose values gpb_range_group_final() returns.  NULL after the last one.
 */
extern const GpbGroup *gpb_range_totals_next_group(GpbRangeTotals *totals, uint64 *at);

/* Where the words of an item's column are in the answers of the last run; NULL for count(*) */
extern const GpbAnswerColumn *gpb_range_totals_column(const GpbRangeTotals *totals, int item);

/*
 * The values of a group's expressions, n of these types, which are no domains, and each of one
 * word
 */
extern void gpb_group_values(Relation index, const GpbGroup *group, int n, const GpbWordType *types,
							 Datum *values, bool *isnull);

/* Entries of one range of the last run */
extern int64 gpb_range_totals_entries(const GpbRangeTotals *totals, uint32 range);

/* The answer to one range of the last run, and the format of answers */
extern const int64 *gpb_range_totals_answer(const GpbRangeTotals *totals, uint32 range);
extern const GpbAnswerFormat *gpb_range_totals_format(const GpbRangeTotals *totals);

/* Begin a group: it has no entries. */
extern void gpb_range_group_init(GpbRangeTotals *totals);
/* Have the group be one whose answer the caller has added up, and keeps. */
extern void gpb_range_group_set(GpbRangeTotals *totals, const int64 *answer);
/* Add the answer to a range of the last run to the group, which may go on over several runs. */
extern void gpb_range_group_add(GpbRangeTotals *totals, uint32 range);
/* Add to the group the answer of a group of the last run. */
extern void gpb_range_group_add_group(GpbRangeTotals *totals, const GpbGroup *group);
/*
 * Add n entries of which nothing but their number is known, or also that their keys are not NULL.
 */
extern void gpb_range_group_count(GpbRangeTotals *totals, int64 n, bool keys);
/* Entries of the group */
extern int64 gpb_range_group_entries(const GpbRangeTotals *totals);
/*
 * The aggregates' values over the group.  values and isnull are of the items' number; what is not
 * passed by value is allocated in the current context.
 */
extern void gpb_range_group_final(const GpbRangeTotals *totals, Datum *values, bool *isnull);

/* gpb_batch_counters() of the batch */
extern const GpbBatchCounters *gpb_range_totals_counters(const GpbRangeTotals *totals);

extern void gpb_range_totals_end(GpbRangeTotals *totals);

#endif							/* GPB_RANGE_TOTALS_H */
