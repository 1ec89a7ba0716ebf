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
#include "nodes/pathnodes.h"

#include "exec/answer/ask.h"
#include "exec/price/outer_price.h"
#include "exec/shell/node_shell.h"
#include "exec/where/range_conditions.h"

/* ---- the plan ---- */

/* A partition as a plan node has it */
typedef struct GpbPartition
{
	Oid			index;
	bool		only_null;		/* its bounds allow no key that is not NULL */
	int			nconditions;	/* conditions on the first key column that its bounds imply */
	GpbRangeCondition *conditions;
	List	   *values;			/* a Const for each */
} GpbPartition;

typedef struct GpbPartitionList
{
	Oid			table;			/* the parent */
	int			n;				/* 0: the node asks one table */
	GpbPartition *partition;
} GpbPartitionList;

/* Append the list to a plan's private list, and get it; arrays are palloc'd. */
extern void gpb_put_partitions(List **private, const GpbPartitionList *list);
extern void gpb_get_partitions(GpbPrivateReader *reader, GpbPartitionList *list);

/* ---- planning (partitions_plan.c) ---- */

/* Partitions that have an index like that of one of them, the model */
typedef struct GpbPartitionMatch
{
	RelOptInfo *parent;
	List	   *indexes;		/* IndexOptInfos, one of each partition */
	GpbPartitionList list;
	IndexOptInfo *whole;		/* the model as all of them together have it, for prices */
	int			bounded;		/* partitions whose bounds are on the first key column */
} GpbPartitionMatch;

/*
 * The partition of which plans are made: the largest that has an index that could be asked.  NULL
 * if there is none.
 */
extern RelOptInfo *gpb_model_partition(PlannerInfo *root, List *leaves);

/*
 * Find in each of the leaves of a parent an index that is like the model, one of these: with the
 * same columns, in the same form, and conditions of the query that are the same.  Then a plan made
 * for the model is one for each of them.  Returns NULL, or why there is none, which names the
 * partition.
 */
extern const char *gpb_match_partitions(PlannerInfo *root, RelOptInfo *parent, List *leaves,
										IndexOptInfo *model, GpbPartitionMatch *match);

/* Have a price be that of asking all of them for ranges of so many entries each. */
extern void gpb_price_partitions(GpbOuterInput *input, const GpbPartitionMatch *match,
								 double entries);

/* The fraction of the rows of them all that some of the model's clauses, RestrictInfos, let pass */
extern double gpb_partitions_selectivity(PlannerInfo *root, const GpbPartitionMatch *match,
										 List *clauses, JoinType jointype,
										 SpecialJoinInfo *sjinfo);

/*
 * Core's Append over the partitions, which a node has among its plans and never runs: whatever
 * prunes partitions, locks them, or shows them does so there.
 */
extern Path *gpb_partitions_path(PlannerInfo *root, const GpbPartitionMatch *match);

extern const GpbNodeKind gpb_partition_node;

/* ---- the executor ---- */

typedef struct GpbPartitions GpbPartitions;

/*
 * Open those partitions that are not pruned when the statement begins.  plan: what
 * gpb_partitions_path() has become, or NULL, where none is pruned; the node shows it.  Ranges have
 * the form of node->index.  Under EXPLAIN without ANALYZE none is opened.  All memory is of the
 * current context.
 */
extern GpbPartitions *gpb_partitions_begin(GpbNode *node, const GpbPartitionList *list, Plan *plan,
										   int eflags);

/* The tables that are asked; there may be none. */
extern const GpbAskTarget *gpb_partitions_targets(const GpbPartitions *partitions, int *n);

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

/* Close what gpb_partitions_begin() opened; partitions may be NULL. */
extern void gpb_partitions_end(GpbPartitions *partitions);

#endif							/* GPB_PARTITIONS_H */
