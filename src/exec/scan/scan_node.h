/*-------------------------------------------------------------------------
 *
 * scan_node.h
 *	  Inside the node GpubtreeScan; what the node does is in README.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SCAN_NODE_H
#define GPB_SCAN_NODE_H

#include "postgres.h"
#include "access/parallel.h"
#include "commands/explain.h"
#include "nodes/pathnodes.h"

#include "exec/answer/list_rows.h"
#include "exec/compile/program_build.h"
#include "exec/functions/zone.h"
#include "exec/scan/scan_reader.h"
#include "exec/shell/node_shell.h"
#include "exec/where/conditions.h"
#include "exec/where/shared_ranges.h"
#include "index/dictionary.h"

/* ---- the plan node ---- */

/* Where NULL is looked for in the order of a group */
typedef enum GpbWalkNulls
{
	GPB_WALK_NULLS_IN_PLACE,	/* where the index has it */
	GPB_WALK_NULLS_FIRST,
	GPB_WALK_NULLS_LAST
} GpbWalkNulls;

/*
 * A walk from group to group of an index with several key columns (scan_walk.c): which of a group's
 * rows are wanted.  If neither end is, the node does not walk.
 */
typedef struct GpbScanWalk
{
	bool		forward;		/* the row that is first in the index's order */
	bool		backward;		/* the row that is last */
	int			prefix;			/* key columns whose values make a group */
	int			ordered;		/* columns behind these that decide which row is first */
	GpbWalkNulls nulls;			/* of the first of these */
	bool		ties;			/* all rows that are equal in these are wanted */
} GpbScanWalk;

/*
 * The fields of the plan node.  Its scan tuple has the columns of the table that are needed, and
 * then, never filled, the key unless it is among them.  What neither ranges nor the program test is
 * plan.qual.
 */
typedef struct GpbScanPlan
{
	Oid			index;
	bool		index_only;		/* the index has all columns */
	bool		scattered;		/* rows of the heap that are fetched do not follow the key */
	int			ncolumns;
	AttrNumber *columns;		/* column of the index, or of the table, of each filled column */
	GpbProgramPlan program;		/* it lists entries; with a limit, the first ones in an order */
	List	   *conditions;		/* "key OP expression" and "key IS [NOT] NULL" */
	List	   *arrays;			/* "key = ANY (expression)" */
	List	   *arms;			/* of an OR: for each a List of what conditions has */
	List	   *skips;			/* conditions that make ranges of groups (column_skip.h) */
	int			skip_prefix;	/* key columns by which they are groups */
	List	   *filters;		/* the conditions that the program tests, for EXPLAIN */
	List	   *all;			/* filters and plan.qual in core's order, for rows about which the
								 * program decides nothing; NIL if it always does */
	List	   *order;			/* the expression of a limited list's order, for EXPLAIN */
	List	   *bound;			/* expressions whose sum is the limit; NIL if that is known */
	bool		has_each;		/* one row of each key is enough; the program lists nothing */
	GpbScanWalk walk;			/* from group to group; the program lists nothing if there is one */
	ScanDirection direction;	/* rows come in the index's order, or its reverse, and the program
								 * lists nothing; NoMovementScanDirection if not */
	bool		has_ends;		/* of the entries those with the last key of a group are enough */
	GpbProgramPlan ends;		/* has groups, and as its only term the last key of each */
	GpbAggregateItem *end;
	List	   *groups;			/* their expressions, for EXPLAIN */
} GpbScanPlan;

/* The most entries of a limited list that are worth finding: they are sorted above the node. */
#define GPB_MOST_FIRST	1000000

/* Put the fields into the plan node. */
extern void gpb_scan_put(const GpbScanPlan *plan, CustomScan *scan);

/* Get the fields of the plan node; columns are palloc'd. */
extern void gpb_scan_get(const CustomScan *scan, GpbScanPlan *plan);

extern const GpbNodeKind gpb_scan_node;

/* Offer our paths for a table; to be called from set_rel_pathlist_hook. */
extern void gpb_scan_add_paths(PlannerInfo *root, RelOptInfo *rel);

/* ---- the executor node ---- */

/* One row of each key (scan_keys.c) */
typedef struct GpbEachKey GpbEachKey;

/* Begin; memory is of the current context. */
extern GpbEachKey *gpb_scan_keys_begin(Relation heap, Relation index, Snapshot snapshot);

/*
 * Look for the keys of n ranges, which are disjoint, in the order of the index, and must live until
 * the last row was handed out.
 */
extern void gpb_scan_keys_start(GpbEachKey *keys, const GpbRange *ranges, uint32 n);

/* Go on to a row of the next key that has one; false if there is none. */
extern bool gpb_scan_keys_next(GpbEachKey *keys);

/* What reads the rows; the caller ends it. */
extern GpbRangeReader *gpb_scan_keys_reader(GpbEachKey *keys);

/* Does the node walk from group to group? */
static inline bool
gpb_scan_walks(const GpbScanPlan *plan)
{
	return plan->walk.forward || plan->walk.backward;
}

/* First and last rows of groups, at run time (scan_walk.c) */
typedef struct GpbGroupWalk GpbGroupWalk;

/* Begin; plan must stay as long.  Memory is of the current context. */
extern GpbGroupWalk *gpb_group_walk_begin(Relation heap, Relation index, Snapshot snapshot,
										  const GpbScanWalk *plan, bool index_only);

/*
 * Look for the groups that the sets admit; NULL: for none.  They must stay, and the current context
 * too, until the last row was handed out.
 */
extern void gpb_group_walk_start(GpbGroupWalk *walk, const GpbColumnSets *sets);

/* Go on to the next row; false if there are no more. */
extern bool gpb_group_walk_next(GpbGroupWalk *walk);

/* What has the row; and how often the tree was descended, for EXPLAIN */
extern GpbRangeReader *gpb_group_walk_reader(GpbGroupWalk *walk);
extern uint64 gpb_group_walk_descents(const GpbGroupWalk *walk);

extern void gpb_group_walk_end(GpbGroupWalk *walk);

typedef struct GpbScanRows
{
	GpbNode		node;
	GpbScanPlan plan;
	GpbLayout	layout;
	GpbDictionary *dictionary;	/* NULL: the index has none */
	GpbConditions *conditions;
	GpbProgramConstants *constants;
	bool		constants_may_fail; /* evaluating them may raise an error */
	GpbAsk	   *ends;			/* for plan.ends, or NULL */
	List	   *bound;			/* plan.bound, as ExprStates */
	ExprState  *all;			/* plan.all */
	GpbZoneSettings settings;	/* as they were at the first row (rule M12) */
	bool		settings_matter;	/* may plan.all or the node's qual depend on them? */
	AttrNumber	last_column;	/* the last column of the table that is needed by itself */
	ExprState  *whole_row;		/* the row as a value; NULL if that is not needed */
	GpbAsk	   *ask;
	GpbListRows *list;			/* of what is asked */
	GpbEachKey *keys;			/* NULL unless plan.has_each, and before the first row */
	GpbGroupWalk *walk;			/* NULL unless plan.walk is one, and before the first row */
	GpbRangeReader *reader;		/* of the walk, or if plan.direction is one; else NULL */
	const GpbRange *to_read;	/* by that, in the order of the index */
	uint32		nto_read;		/* how many are left */
	bool		reading;		/* the reader has begun with one of them */
	bool		asked;			/* the list of this execution was asked for */
	GpbSharedParts *parts;		/* of the index, which several processes share out; NULL: this one
								 * has all of it */
	GpbFoundRanges found;		/* if so: the ranges of this execution, */
	GpbSharedRanges taken;		/* what of them this process has taken, */
	uint32		nlisted;		/* and how many of these were listed */
	const char *unfiltered;		/* why the program cannot be used; NULL if it can */
	uint64		groups;			/* whose last keys were found, for EXPLAIN */
	uint64		rechecked;		/* rows about which the program decided nothing, for EXPLAIN */
} GpbScanRows;

/* Prepare to find the last keys of groups. */
extern void gpb_scan_begin_ends(GpbScanRows *scan);

/*
 * Find the last key of each group in n ranges, which are in this form.  Returns false, and notes
 * why, if that cannot be.  Else *keys has *nkeys ranges, in GPB_RANGE_BOUNDS form, where
 * the last rows of all groups are.  Memory is of the current context.
 */
extern bool gpb_scan_find_ends(GpbScanRows *scan, GpbRangeForm form, const void *ranges, uint32 n,
							   GpbRange **keys, uint32 *nkeys);

/* ---- a node that several processes run (scan_parallel.c) ---- */

extern Size gpb_scan_estimate_shared(CustomScanState *css, ParallelContext *pcxt);
extern void gpb_scan_make_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate);
extern void gpb_scan_find_shared(CustomScanState *css, shm_toc *toc, void *coordinate);
extern void gpb_scan_leave_shared(CustomScanState *css);

/* Begin to take parts of scan->found; the ask has its program. */
extern void gpb_scan_start_shared(GpbScanRows *scan);

/* Have the list be of another part; false if there are no more. */
extern bool gpb_scan_next_part(GpbScanRows *scan);

extern void gpb_scan_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* GPB_SCAN_NODE_H */
