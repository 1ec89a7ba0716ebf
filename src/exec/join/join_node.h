/*-------------------------------------------------------------------------
 *
 * join_node.h
 *	  Inside the node GpubtreeJoin, and what its planning shares with that of GpubtreeJoinAggregate;
 *	  what the nodes do is in README.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_JOIN_NODE_H
#define GPB_JOIN_NODE_H

#include "postgres.h"
#include "commands/explain.h"
#include "executor/tuptable.h"
#include "nodes/pathnodes.h"

#include "exec/answer/list_rows.h"
#include "exec/answer/outer_batch.h"
#include "exec/answer/partitions.h"
#include "exec/compile/program_build.h"
#include "exec/price/outer_price.h"
#include "exec/shell/node_shell.h"
#include "exec/where/range_conditions.h"
#include "index/dictionary.h"
#include "index/index.h"

/* ---- the plan node ---- */

/*
 * The fields of the plan node, which joins the outer plan with one table.  Its scan tuple has the
 * outer plan's columns, in their order, then the columns of the inner table that are needed, and
 * then, never filled, the key columns that are not.  What an outer join tests on rows that come out
 * is plan.qual.
 */
typedef struct GpbJoinPlan
{
	Oid			index;
	JoinType	jointype;		/* INNER, LEFT, SEMI or ANTI */
	bool		index_only;		/* the index has all inner columns */
	bool		in_order;		/* rows come out in the outer order */
	bool		counts;			/* matches are counted, not listed */
	int			nouter;			/* columns of the outer plan */
	int			ninner;
	AttrNumber *inner;			/* column of the index, or of the table, of each inner column */
	GpbPartitionList partitions;	/* these are joined, and the index is of one; or empty */
	AttrNumber **partition_inner;	/* as inner, for each of them; NULL if index_only */

	/* "key column OP value" of an outer row: what makes its range of keys */
	int			nconditions;
	GpbRangeCondition *conditions;
	List	   *clauses;		/* the same as OpExprs */
	List	   *match;			/* clauses that decide about a match of an outer row */
	List	   *filters;		/* clauses that decide about an inner row alone */
	bool		has_program;	/* some of the filters are the list's */
	GpbProgramPlan program;
	List	   *rest;			/* those of the filters that are not the program's */
} GpbJoinPlan;

/* Put the fields into the plan node. */
extern void gpb_join_put(const GpbJoinPlan *plan, CustomScan *scan);

/* Get the fields of the plan node; plan->inner is palloc'd. */
extern void gpb_join_get(const CustomScan *scan, GpbJoinPlan *plan);

extern const GpbNodeKind gpb_join_node;

/* Offer our paths for a join; to be called from set_join_pathlist_hook. */
extern void gpb_join_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
							   RelOptInfo *innerrel, JoinType jointype,
							   JoinPathExtraData *extra);

/* ---- planning: can an index do a join? (join_match.c) ---- */

/* One way to do a join: an index and what it is asked for */
typedef struct GpbJoinCandidate
{
	JoinType	jointype;		/* INNER, LEFT, SEMI or ANTI */
	RelOptInfo *joinrel;
	RelOptInfo *outerrel;
	RelOptInfo *innerrel;
	List	   *leaves;			/* of innerrel, if they are several; else NIL */
	RelOptInfo *table;			/* innerrel, its only leaf, or a model of its leaves */
	Relids		relids;			/* of the join, the table's included */
	List	   *restrictlist;	/* like all clauses below, over the table's columns */
	SpecialJoinInfo *sjinfo;
	Relids		param_source_rels;	/* as in JoinPathExtraData */

	/*
	 * operands of the join's clauses, found by gpb_is_join_by_columns; a set as in plan_columns.h
	 */
	Bitmapset  *joining;

	/* found by gpb_collect_join_clauses */
	List	   *usable;			/* the join's clauses that may make a range */
	Bitmapset  *bounded;		/* as joining, and operands of the inner table's own conditions */

	/* found by gpb_match_join_index */
	IndexOptInfo *index;
	List	   *columns;		/* Vars of the inner table that are needed */
	List	   *filters;		/* RestrictInfos of the inner table that neither the index implies
								 * nor the ranges say */
	List	   *ranged;			/* RestrictInfos, of the join and of the inner table, that make an
								 * outer row's range of keys */
	int			nconditions;	/* their number */
	GpbRangeCondition *conditions;
	List	   *values;			/* what these compare with */
	bool		index_only;
	GpbPartitionMatch *partitions;	/* the leaves' indexes, or NULL */
	double		selectivity;	/* of these, of all pairs of rows */

	/* what gpb_join_distinct_keys found last, of whichever index */
	List	   *distinct_values;
	double		distinct_rows;
	double		distinct_keys;

	/* found by gpb_match_join_program */
	bool		has_program;
	GpbProgramPlan *program;
	List	   *rest;			/* of the filters, those that the program does not test */
	double		kept;			/* the share of the entries that the program lists */
	Cost		begin_cost;		/* the price of what the program has of constants */
	Cost		entry_cost;		/* the price of the program for an entry */

	/* for the paths of the index (join_plan.c) */
	List	   *match;			/* of restrictlist, clauses that decide about a match, */
	List	   *result;			/* and those that are tested on rows that come out */
	GpbOuterInput price;
	const struct GpbJoinCandidate *kept_copy;	/* NULL: no path refers to one yet */
} GpbJoinCandidate;

/*
 * Has the join a clause on a column of the inner table?  If not no index of that can do the join,
 * nor if a clause has no column at all: core tests such clauses once, above a join of its own.
 */
extern bool gpb_is_join_by_columns(GpbJoinCandidate *candidate);

/*
 * Collect the clauses that may make ranges, and the columns on which there are conditions, by which
 * most indexes are refused.  Returns false if no index can do the join.
 */
extern bool gpb_collect_join_clauses(GpbJoinCandidate *candidate);

/*
 * Fill in the candidate for an index of the inner table, and of other leaves one like it; false if
 * it cannot do this join.
 */
extern bool gpb_match_join_index(PlannerInfo *root, GpbJoinCandidate *candidate,
								 IndexOptInfo *index);

/*
 * Find out which of the filters a program can test on the entries (join_program.c).  The other
 * filters, or all if there is no program, are the "rest".
 */
extern void gpb_match_join_program(PlannerInfo *root, GpbJoinCandidate *candidate);

/* The clauses that make an outer row's range of keys, as OpExprs "key column OP value" */
extern List *gpb_join_range_clauses(const GpbJoinCandidate *candidate);

/* How many entries the candidate's index has, or those of all leaves together */
extern double gpb_join_inner_entries(const GpbJoinCandidate *candidate);

/* How many distinct ranges so many outer rows ask for */
extern double gpb_join_distinct_keys(PlannerInfo *root, GpbJoinCandidate *candidate,
									 double outer_rows);

/* ---- the executor node ---- */

typedef enum GpbJoinPhase
{
	GPB_JOIN_LOAD,				/* a batch of outer rows is to be read */
	GPB_JOIN_NEXT,				/* the next match is to be found */
	GPB_JOIN_ROWS,				/* outer rows that come out alone, up to rows_end */
	GPB_JOIN_MATCH				/* the match at hand */
} GpbJoinPhase;

/* A table that is joined: the only one, or a partition */
typedef struct GpbJoinTarget
{
	GpbAskTarget table;
	const AttrNumber *inner;	/* as in the plan node */
	AttrNumber	last_inner;		/* last column of the table that is needed */
	GpbDictionary *dictionary;	/* NULL: the index has none */
	GpbAsk	   *ask;			/* NULL if matches are counted */
	GpbListRows *list;			/* of what it asks */
	bool		filtered;		/* the list has the program */
} GpbJoinTarget;

typedef struct GpbJoinScan
{
	GpbNode		node;
	GpbJoinPlan plan;
	ExprState  *match_qual;
	ExprState  *inner_qual;		/* all filters */
	ExprState  *rest_qual;		/* those that are left where the list has the program */
	bool		bound;			/* the program's constants are those of this execution */
	bool		wants_rows;		/* outer rows come out alone: LEFT, ANTI, SEMI by counts */
	bool		wants_matched;	/* those with a match, not those without */
	GpbLayout	layout;			/* of all indexes */

	/*
	 * A batch of outer rows, and the ranges of keys of those that have one.  The mark of each row
	 * is a bool: a match of it passed.
	 */
	GpbOuter	outer;

	/* what is asked: one table or, one after the other, partitions */
	GpbPartitions *partitions;	/* NULL: one table */
	int			ntargets;
	GpbJoinTarget *targets;
	GpbAskShare *shares;		/* of the batch at hand, for each target */
	GpbJoinTarget *target;		/* whose list is at hand; NULL before the first */
	GpbAsk	   *counts;			/* asks all targets, if matches are counted; else NULL */

	/* the match at hand, and rows that come out alone */
	GpbJoinPhase phase;
	uint32		row;
	const GpbRangeEntry *record;
	TupleTableSlot *inner_slot; /* the inner row, unless the index has all of it */
	uint32		rows_end;		/* rows from outer.next on up to this one come out */
	GpbJoinPhase after_rows;
	int64		loaded_row;		/* the row whose values the scan tuple has; -1 if it has none */

	/* for EXPLAIN */
	uint64		inner_removed;
	uint64		match_removed;
} GpbJoinScan;

extern void gpb_join_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* GPB_JOIN_NODE_H */
