/*-------------------------------------------------------------------------
 *
 * partition_match.h
 *	  Planning for several partitions of a table, or children that inherit from one, whose indexes
 *	  are asked for the same ranges.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PARTITION_MATCH_H
#define GPB_PARTITION_MATCH_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/price/outer_price.h"
#include "exec/shell/node_private.h"
#include "exec/shell/node_shell.h"
#include "exec/where/condition_match.h"

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
	bool		has_append;		/* the last of the node's plans is gpb_partitions_path() */
	GpbPartition *partition;
} GpbPartitionList;

/* Append the list to a plan's private list, and get it; arrays are palloc'd. */
extern void gpb_put_partitions(List **private, const GpbPartitionList *list);
extern void gpb_get_partitions(GpbPrivateReader *reader, GpbPartitionList *list);

/* ---- planning ---- */

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
 * same columns, in the same form, and conditions of the query that are the same; and no NULLs where
 * the model's table has none.  Then a plan made for the model is one for each of them.  Returns
 * NULL, or why there is none, which names the partition.
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

/* The node of a partition below the Append, which never runs. */
extern const GpbNodeKind gpb_partition_node;

/* The index of the partition that such a node stands for */
extern Oid	gpb_partition_index(const CustomScan *plan);

#endif							/* GPB_PARTITION_MATCH_H */
