/*-------------------------------------------------------------------------
 *
 * join_node.h
 *	  Inside the join node: what planning hands to execution, and what the
 *	  files share.
 *
 *	  join_match.c		can an index do a join?
 *	  join_plan.c		by which paths; the plan node
 *	  join_cost.c		at what price
 *	  join_exec.c		the executor node
 *	  join_outer.c		the outer rows of one batch
 *	  join_keys.c		the keys of one batch
 *	  join_aggregate_plan.c	joins under aggregates: which, and the plan node
 *	  join_aggregate_exec.c	the executor node of these
 *	  join_explain.c	EXPLAIN
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_JOIN_NODE_H
#define GPB_JOIN_NODE_H

#include "postgres.h"
#include "commands/explain.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"

#include "index/index.h"
#include "engine/batch.h"
#include "engine/heap_visit.h"

/* ---- settings (exec.c) ---- */

extern bool gpb_enable_batchjoin;	/* gpubtree.enable_batchjoin */
extern bool gpb_enable_joinaggregate;	/* gpubtree.enable_joinaggregate */

/* ---- batches ---- */

/*
 * Outer rows of the first batch, and how many times as many each further one has, as far as memory
 * allows: a query that wants few rows reads few.
 */
#define GPB_JOIN_FIRST_BATCH	32
#define GPB_JOIN_GROWTH			4

/* Most rows of a batch, whatever memory there is */
#define GPB_JOIN_MOST_ROWS		(16 * 1024 * 1024)

/* Half of hash_mem is the outer rows', the other half the batch's. */
static inline Size
gpb_join_memory(void)
{
	return get_hash_memory_limit() / 2;
}

/* Bytes of an outer row of n columns that are passed by value, its key and its marks included */
static inline Size
gpb_join_row_bytes(int n)
{
	return n * (sizeof(Datum) + sizeof(bool)) + sizeof(GpbKeyRange) + sizeof(uint32) +
		sizeof(bool);
}

/* ---- the plan node ---- */

/*
 * custom_scan_tlist: the columns of the outer plan, in its order, then the columns of the
 * inner table that are needed, the key being the last.
 * custom_exprs: three lists, of the clause "key = outer expression", of the
 * clauses that decide about a match of an outer row, and of those about an inner row alone.  What is left for rows that
 * come out, in an outer join, is plan.qual.
 * custom_plans: the outer plan.
 * custom_private: as gpb_join_private makes it.
 */
typedef struct GpbJoinPlan
{
	Oid			index;
	Oid			value_type;		/* of the equality operator's side that is not the key */
	JoinType	jointype;		/* INNER, LEFT, SEMI or ANTI */
	bool		index_only;		/* the index has all inner columns */
	bool		in_order;		/* rows come out in the outer order */
	int			nouter;			/* columns of the outer plan */
	int			ninner;
	AttrNumber *inner;			/* column of the index, or of the table, of each inner column */
} GpbJoinPlan;

extern List *gpb_join_private(const GpbJoinPlan *plan);
extern void gpb_join_read_private(List *private, GpbJoinPlan *plan);

extern const CustomScanMethods gpb_join_scan_methods;

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
	List	   *restrictlist;
	SpecialJoinInfo *sjinfo;
	Relids		param_source_rels;	/* as in JoinPathExtraData */

	/* found by gpb_match_join_index */
	IndexOptInfo *index;
	List	   *columns;		/* Vars of the inner table that are needed, the key last */
	List	   *filters;		/* RestrictInfos of the inner table that the index does not imply */
	RestrictInfo *equality;		/* the clause that the index answers */
	OpExpr	   *condition;		/* the same as "key = outer expression" */
	Oid			value_type;
	bool		index_only;
	double		selectivity;	/* of the equality, of all pairs of rows */
} GpbJoinCandidate;

/* May there be a batched join with this inner table, in this query? */
extern bool gpb_join_is_possible(PlannerInfo *root, RelOptInfo *innerrel);
/* Fill in the candidate for an index of the inner table; false if it cannot do this join. */
extern bool gpb_match_join_index(PlannerInfo *root, GpbJoinCandidate *candidate,
								 IndexOptInfo *index);

/* ---- price (join_cost.c) ---- */

typedef struct GpbJoinInput
{
	IndexOptInfo *index;
	Path	   *outer;
	double		outer_rows;
	double		keys;			/* distinct values of the outer rows; 0: as many as rows */
	double		rows;			/* that come out */
	double		matches;		/* index entries found */
	bool		aggregated;		/* matches are counted, not handed out */
	bool		index_only;
	bool		in_order;
	List	   *filters;		/* RestrictInfos that are evaluated for each match */
	PathTarget *target;
} GpbJoinInput;

/* How many values "key = outer expression" is asked for by so many outer rows */
extern double gpb_join_distinct_keys(PlannerInfo *root, OpExpr *condition, double outer_rows);
extern void gpb_join_cost(PlannerInfo *root, const GpbJoinInput *input,
						  Cost *startup_cost, Cost *total_cost);
/*
 * Of that the inner side's part, for so many of the outer rows in batches of a size, without what a batch costs to
 * set up.  It does not look at the outer path.
 */
extern Cost gpb_inner_cost(PlannerInfo *root, const GpbJoinInput *input, double rows,
						   double batch);

/* ---- keys (join_keys.c) ---- */

/* The keys of one batch, as gpb_batch_run takes them */
typedef struct GpbJoinKeys
{
	GpbLayout	layout;
	GpbComparison comparison;
	bool		points;			/* equal means one key, not a range of them */
	Size		width;			/* of a uint64 if points, else of a GpbKeyRange */
	AttrNumber	column;			/* of the scan tuple, if the outer expression is that, or 0 */
	ExprState  *expression;		/* else */
	MemoryContext context;
	char	   *keys;
	uint32		n;
	uint32		capacity;
} GpbJoinKeys;

/* condition is "key = outer expression", the key's operand of value_type. */
extern void gpb_keys_init(GpbJoinKeys *keys, Relation index, Oid value_type,
						  OpExpr *condition, PlanState *ps);
/* Forget all keys; there is room for so many then. */
extern void gpb_keys_clear(GpbJoinKeys *keys, uint32 capacity);
/* Make room for twice as many keys, but for no more than "most"; those that there are stay. */
extern void gpb_keys_grow(GpbJoinKeys *keys, uint32 most);
/* Add the key, or keys, that equal a value, for which there must be room; false if none can. */
extern bool gpb_keys_add(GpbJoinKeys *keys, Datum value);

/* ---- outer rows (join_outer.c) ---- */

/* Rows of one batch, deformed */
typedef struct GpbOuterRows GpbOuterRows;

/* All memory is of a child of the current context. */
extern GpbOuterRows *gpb_outer_begin(TupleDesc descriptor);
/* Keep these columns alone, counted from 1 on; the others are NULL. */
extern void gpb_outer_want(GpbOuterRows *rows, const Bitmapset *columns);
/* Forget all rows, and give back the memory that they take. */
extern void gpb_outer_release(GpbOuterRows *rows);
/* Forget all rows; there is room for so many then. */
extern void gpb_outer_clear(GpbOuterRows *rows, uint32 capacity);
/* Keep a copy of the row, for which there must be room. */
extern void gpb_outer_add(GpbOuterRows *rows, TupleTableSlot *slot);
/* Put the values of a row into arrays of the caller's; what they point to is valid until the rows are cleared. */
extern void gpb_outer_get(const GpbOuterRows *rows, uint32 row, Datum *values, bool *isnull);
extern uint32 gpb_outer_count(const GpbOuterRows *rows);
/* Bytes of values that are not passed by value */
extern Size gpb_outer_copied(const GpbOuterRows *rows);
extern void gpb_outer_end(GpbOuterRows *rows);

/* ---- the executor node ---- */

typedef enum GpbJoinPhase
{
	GPB_JOIN_LOAD,				/* a batch of outer rows is to be read */
	GPB_JOIN_NEXT,				/* the next match is to be found */
	GPB_JOIN_UNMATCHED,			/* rows without a match, up to unmatched_end */
	GPB_JOIN_MATCH				/* the match at hand */
} GpbJoinPhase;

typedef struct GpbJoinScan
{
	CustomScanState css;
	GpbJoinPlan plan;
	PlanState  *outer;
	Relation	heap;
	Relation	index;			/* NULL under EXPLAIN without ANALYZE */
	MemoryContext context;		/* the node's */
	ExprState  *match_qual;
	ExprState  *inner_qual;
	AttrNumber	last_inner;		/* last column of the table that is needed */
	bool		wants_unmatched;	/* LEFT and ANTI */

	/* a batch: outer rows, and keys of those whose key is not NULL, in the rows' order */
	GpbOuterRows *rows;
	bool		outer_done;		/* the outer plan has no more */
	uint32		limit;			/* rows of the next batch at most */
	GpbJoinKeys keys;
	uint32	   *key_row;		/* row of each key */
	bool	   *matched;		/* of each row: a match of it passed */
	uint32		capacity;		/* rows there is room for in these two */

	/* keys [first, end) have been asked for; window: how many at a time */
	uint32		first;
	uint32		end;
	uint32		window;
	GpbBatch   *batch;
	GpbHeapVisit *visit;
	char	   *records;		/* part of the list, NULL if none */
	uint64		nrecords;
	uint64		next;			/* next record, or next to be visited */
	bool		visiting;

	/* the match at hand, and rows that have none */
	GpbJoinPhase phase;
	uint32		row;
	char	   *record;
	TupleTableSlot *inner_slot; /* the inner row, unless the index has all of it */
	uint32		unmatched;		/* first row not looked at */
	uint32		unmatched_end;
	GpbJoinPhase after_unmatched;
	int64		loaded_row;		/* whose values the scan tuple has; -1: none */

	/* for EXPLAIN, beside those of the batch */
	uint64		inner_removed;
	uint64		match_removed;
	uint64		redone;			/* windows that were halved since their list was too long */
} GpbJoinScan;

extern void gpb_join_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* GPB_JOIN_NODE_H */
