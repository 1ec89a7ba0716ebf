/*-------------------------------------------------------------------------
 *
 * partitions.h
 *	  Several partitions of a table, or children that inherit from one, whose indexes are asked with
 *	  the same batch of outer rows.
 *
 * A node has the ranges of a batch, which are those of any of the indexes, since these are alike;
 * here each partition gets those that its bounds allow it.  Answers are added by range (ask.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PARTITIONS_H
#define GPB_PARTITIONS_H

#include "postgres.h"

#include "exec/answer/ask.h"
#include "exec/shell/node_shell.h"
#include "exec/where/partition_match.h"

typedef struct GpbPartitions GpbPartitions;

/*
 * Open those partitions that are not pruned when the statement begins, which the node shows; with
 * no Append among its plans none is.  Ranges have the form of this index.  NULL if the list is
 * empty; under EXPLAIN without ANALYZE, when index is NULL, no partition is opened.  All memory is
 * of the current context.
 */
extern GpbPartitions *gpb_partitions_begin(GpbNode *node, const GpbPartitionList *list,
										   Relation index, int eflags);

/* The tables that are asked; there may be none. */
extern const GpbAskTarget *gpb_partitions_targets(const GpbPartitions *partitions, int *n);

/*
 * Let these be the targets of an ask.  Where there are none, or partitions is NULL, it keeps what
 * it has: an ask needs a table, also one that gets no share.
 */
extern void gpb_partitions_want(const GpbPartitions *partitions, GpbAskWant *want);

/* The place in the list of the partition that is target number i */
extern int	gpb_partitions_place(const GpbPartitions *partitions, int i);

/* A new execution of the node begins: parameters may prune other partitions. */
extern void gpb_partitions_restart(GpbPartitions *partitions);

/*
 * What each partition is asked, in the order of the targets: those of n ranges that its bounds
 * allow, none if it is pruned in this execution.  It is valid until the next call.
 */
extern const GpbAskShare *gpb_partitions_share(GpbPartitions *partitions, GpbRangeForm form,
											   const void *ranges, uint32 n);

/* The same without the ranges' numbers, for one answer over all of them */
extern const GpbAskShare *gpb_partitions_share_total(GpbPartitions *partitions, GpbRangeForm form,
													 const void *ranges, uint32 n);

/*
 * The same for ranges that come in pieces, which need not stay where they are: begin, part each
 * piece, and get what each partition is asked.  False if no bounds are known, so that all ranges
 * are for all partitions: then they are to be shared as above.
 */
extern bool gpb_partitions_begin_parts(GpbPartitions *partitions);
extern void gpb_partitions_part(GpbPartitions *partitions, GpbRangeForm form, const void *ranges,
								uint32 n);
extern const GpbAskShare *gpb_partitions_parts(GpbPartitions *partitions);

/*
 * About so many ranges are going to be parted: partitions get room for them at once, in one piece
 * of memory, which the next execution is likely to get again without page faults.
 */
extern void gpb_partitions_expect(GpbPartitions *partitions, GpbRangeForm form, uint64 n);

/* Close what gpb_partitions_begin() opened; partitions may be NULL. */
extern void gpb_partitions_end(GpbPartitions *partitions);

#endif							/* GPB_PARTITIONS_H */
