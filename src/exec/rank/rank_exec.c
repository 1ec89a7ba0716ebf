/*-------------------------------------------------------------------------
 *
 * rank_exec.c
 *	  The executor node of ORDER BY with OFFSET.
 *
 * At the first row the node finds the place of rank OFFSET (rank_find.h), makes its first key the
 * parameter from which the child, core's scan of the index, starts, skips the few rows before the
 * rank, and hands out what comes then.  Rows that are NULL in the ordered column are those of a
 * second child, whose turn is before or after that of the first.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/relscan.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "exec/rank/rank_find.h"
#include "exec/rank/rank_node.h"
#include "exec/shell/node_explain.h"
#include "exec/where/ordered_column.h"
#include "index/index.h"

typedef struct GpbRankScan
{
	GpbNode		node;
	GpbRankPlan plan;
	GpbOrderedColumn ordered;
	ExprState  *offset;
	MemoryContext context;		/* the node's */
	GpbRankFinder *finder;		/* NULL until first needed */

	PlanState  *nulls;			/* the second child, or NULL */

	bool		placed;			/* is the place below that of OFFSET in the ranges? */
	int64		rank;			/* OFFSET */
	GpbOrderedRanges ranges;
	bool		empty;			/* there are not so many rows */
	int64		rest;			/* then: what of the rank is left behind the last row */
	bool		at_nulls;		/* the place is in the second child */
	int64		skip;			/* rows that the child there returns first and nobody wants */
	bool		started;		/* the child has skipped them */
	PlanState  *child;			/* whose turn it is */
	uint64		skipped;		/* rows that were counted instead of read, for EXPLAIN */
} GpbRankScan;

/* ---- begin and end ---- */

/* Replace the right side of the last condition by the parameter of this number. */
static void
show_start(List *conditions, int number)
{
	OpExpr	   *condition = llast_node(OpExpr, conditions);
	Const	   *hidden = lsecond_node(Const, condition->args);
	Param	   *start = makeNode(Param);

	start->paramkind = PARAM_EXEC;
	start->paramid = number;
	start->paramtype = hidden->consttype;
	start->paramtypmod = -1;
	start->location = -1;
	lsecond(condition->args) = start;
}

/* A copy of the child's plan that starts at our parameter; the plan itself is not to be changed. */
static Plan *
child_plan(Plan *plan, const GpbRankPlan *own)
{
	Plan	   *rows;

	plan = copyObject(plan);
	rows = own->sorted ? outerPlan(plan) : plan;
	if (IsA(rows, IndexOnlyScan))
	{
		show_start(((IndexOnlyScan *) rows)->indexqual, own->start);
		show_start(((IndexOnlyScan *) rows)->recheckqual, own->start);
	}
	else
	{
		show_start(castNode(IndexScan, rows)->indexqual, own->start);
		show_start(((IndexScan *) rows)->indexqualorig, own->start);
	}
	return plan;
}

static void
begin_rank(CustomScanState *css, EState *estate, int eflags)
{
	GpbRankScan *scan = (GpbRankScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);
	Relation	table = css->ss.ss_currentRelation;
	bool		executed;

	gpb_rank_get(plan, &scan->plan);
	scan->node.child = ExecInitNode(child_plan(linitial(plan->custom_plans), &scan->plan),
									estate, eflags);
	if (scan->plan.nulls != GPB_RANK_NO_NULLS)
		scan->nulls = ExecInitNode(lsecond(plan->custom_plans), estate, eflags);
	if (scan->plan.nulls == GPB_RANK_NULLS_FIRST)
		gpb_show_child(&scan->node, scan->nulls);
	gpb_show_child(&scan->node, scan->node.child);
	if (scan->plan.nulls == GPB_RANK_NULLS_LAST)
		gpb_show_child(&scan->node, scan->nulls);
	executed = gpb_open_scanned(&scan->node, scan->plan.index, eflags);

	/*
	 * The table stays in its place: WHERE CURRENT OF finds the row's TID in the scan tuple.  Sorted
	 * rows have none, and core refuses WHERE CURRENT OF then as it does above a sort of its own.
	 */
	if (!scan->plan.sorted)
		css->ss.ss_currentRelation = table;
	if (!executed)
		return;

	gpb_ordered_column_init(scan->node.index, scan->plan.column, scan->plan.conditions,
							&css->ss.ps, &scan->ordered);
	if (scan->plan.offset != NULL)
		scan->offset = ExecInitExpr(scan->plan.offset, &css->ss.ps);
	scan->context = CurrentMemoryContext;
}

static void
end_rank(CustomScanState *css)
{
	GpbRankScan *scan = (GpbRankScan *) css;

	if (scan->finder != NULL)
		gpb_rank_end(scan->finder);
	if (scan->nulls != NULL)
		ExecEndNode(scan->nulls);
	gpb_close_node(&scan->node);
}

/* ---- the place ---- */

int64
gpb_offset_value(ExprState *offset, ExprContext *econtext)
{
	bool		isnull;
	Datum		value = ExecEvalExprSwitchContext(offset, econtext, &isnull);

	return isnull ? 0 : Max(DatumGetInt64(value), 0);
}

/* How many rows are to be skipped: OFFSET's value or, of a leaf, what those before left of that */
static int64
rank_offset(GpbRankScan *scan)
{
	PlanState  *ps = &scan->node.css.ss.ps;

	if (scan->plan.remaining >= 0)
		return gpb_offset_remaining(ps->state, scan->plan.remaining);
	return gpb_offset_value(scan->offset, ps->ps_ExprContext);
}

/* Make a key the child's first. */
static void
set_start(GpbRankScan *scan, GpbKey key)
{
	GpbLayout	layout = *gpb_layout(scan->node.index);
	ParamExecData *start = &scan->node.css.ss.ps.state->es_param_exec_vals[scan->plan.start];

	start->execPlan = NULL;
	start->value = gpb_key_column_datum(&layout, scan->plan.column, key);
	start->isnull = false;
}

/* What finds ranks, with the snapshot that the children will use */
static GpbRankFinder *
rank_finder(GpbRankScan *scan)
{
	MemoryContext caller = MemoryContextSwitchTo(scan->context);

	if (scan->finder == NULL)
		scan->finder = gpb_rank_begin(&scan->node,
									  gpb_key_behind_column(gpb_layout(scan->node.index),
															scan->plan.column),
									  scan->plan.backward, true);
	MemoryContextSwitchTo(caller);
	return scan->finder;
}

/*
 * Does a leaf, of which others may have the rank, have fewer rows than that in its keys?  Then it
 * is enough to know how many, and the rank becomes the one behind them.  That is looked at where
 * the rank is beyond most entries that the index seems to have.
 */
static bool
is_behind_leaf(GpbRankScan *scan, int64 *rank)
{
	Relation	index = scan->node.index;
	GpbLayout	layout = *gpb_layout(index);
	int64		total;

	if (scan->plan.remaining < 0 ||
		*rank < RelationGetNumberOfBlocks(index) * gpb_entries_per_leaf(index, &layout) / 2)
		return false;
	total = gpb_rank_count_keys(rank_finder(scan), scan->ranges.keys);
	if (*rank < total)
		return false;
	*rank -= total;
	return true;
}

/*
 * Place the start at a rank of the first child's rows, which becomes the rank behind the last of
 * them if there are not so many.
 */
static bool
place_in_keys(GpbRankScan *scan, int64 *rank)
{
	GpbRankPlace place = {.keys = scan->ranges.keys, .rank = 0};

	if (!scan->ranges.has_keys)
		return false;
	if (*rank > 0)
	{
		if (is_behind_leaf(scan, rank))
			return false;
		gpb_rank_set_range(rank_finder(scan), scan->ranges.keys);
		if (!gpb_rank_find(scan->finder, *rank, &place))
		{
			*rank -= gpb_rank_total(scan->finder);
			return false;
		}
	}
	scan->skip = place.rank;
	set_start(scan, scan->plan.backward ? place.keys.hi : place.keys.lo);
	return true;
}

/*
 * Place the start at a rank of the second child's rows, which are known to be so many only once
 * that child has skipped them.
 */
static bool
place_in_nulls(GpbRankScan *scan, int64 *rank)
{
	if (scan->plan.nulls == GPB_RANK_NO_NULLS || !gpb_ordered_has_nulls(&scan->ranges))
		return false;
	if (scan->plan.nulls == GPB_RANK_NULLS_FIRST && *rank > 0)
	{
		int64		nulls = gpb_rank_count_nulls(rank_finder(scan), scan->ranges.nulls);

		if (*rank >= nulls)
		{
			*rank -= nulls;
			return false;
		}
	}
	scan->skip = *rank;
	return true;
}

/*
 * Place the start at a rank of all rows.  Returns false if there are not so many, when the rank
 * becomes the one behind the last of them.
 */
static bool
place_start(GpbRankScan *scan, int64 *rank)
{
	bool		nulls_first = scan->plan.nulls == GPB_RANK_NULLS_FIRST;

	scan->at_nulls = nulls_first && place_in_nulls(scan, rank);
	if (scan->at_nulls)
	{
		int64		first = 0;
		int64		skip = scan->skip;

		/* the first child's rows follow, all of them */
		(void) place_in_keys(scan, &first);
		scan->skip = skip;
		return true;
	}
	if (place_in_keys(scan, rank))
		return true;
	scan->at_nulls = !nulls_first && place_in_nulls(scan, rank);
	return scan->at_nulls;
}

/* Are the ranges those that the place is in? */
static bool
same_ranges(const GpbOrderedRanges *a, const GpbOrderedRanges *b)
{
	return a->keys.lo == b->keys.lo && a->keys.hi == b->keys.hi &&
		gpb_bound_cmp(a->nulls.lo, b->nulls.lo) == 0 &&
		gpb_bound_cmp(a->nulls.hi, b->nulls.hi) == 0;
}

/*
 * Place the start where OFFSET is.  Conditions and OFFSET are evaluated at each start, as the
 * children's own are, so that all see the same settings of the session (rule M12); a place that is
 * known stays if they come to the same.
 */
static void
find_place(GpbRankScan *scan)
{
	int64		rank = rank_offset(scan);
	GpbOrderedRanges ranges;

	gpb_ordered_column_ranges(&scan->ordered, scan->node.css.ss.ps.ps_ExprContext, &ranges);
	if (scan->placed && rank == scan->rank && same_ranges(&ranges, &scan->ranges))
		return;
	scan->placed = true;
	scan->rank = rank;
	scan->ranges = ranges;
	scan->rest = rank;
	scan->empty = !place_start(scan, &scan->rest);
	if (!scan->empty)
		scan->skipped += rank - scan->skip;
	else if (scan->plan.remaining >= 0)
		scan->skipped += rank - scan->rest;
}

/* ---- the node ---- */

/* The child that comes after the one whose turn it is; NULL if none does */
static PlanState *
child_after(const GpbRankScan *scan)
{
	if (scan->plan.nulls == GPB_RANK_NULLS_LAST && !scan->at_nulls)
		return scan->nulls;
	if (scan->plan.nulls == GPB_RANK_NULLS_FIRST && scan->at_nulls && scan->ranges.has_keys)
		return scan->node.child;
	return NULL;
}

/*
 * The next row of the child whose turn it is, or the first of the one that comes after it; NULL
 * after the last.
 */
static TupleTableSlot *
next_row(GpbRankScan *scan)
{
	TupleTableSlot *row = ExecProcNode(scan->child);
	PlanState  *after = child_after(scan);

	if (!TupIsNull(row) || after == NULL || scan->child == after)
		return row;
	scan->child = after;
	return ExecProcNode(after);
}

/* Start at the place; false if there is no row. */
static bool
start_children(GpbRankScan *scan)
{
	int64		i;

	find_place(scan);
	if (scan->empty)
		return false;
	scan->child = scan->at_nulls ? scan->nulls : scan->node.child;
	ExecReScan(scan->child);
	/* now, since the conditions are evaluated then */
	if (child_after(scan) != NULL)
		ExecReScan(child_after(scan));
	for (i = 0; i < scan->skip; i++)
	{
		TupleTableSlot *row = ExecProcNode(scan->child);

		if (TupIsNull(row))
		{
			/* a start at the same place would find none either */
			scan->empty = true;
			scan->rest = scan->skip - i;
			return false;
		}
	}
	return true;
}

/* Start, and tell the leaves behind this one how many rows they are to skip. */
static void
start_rank(GpbRankScan *scan)
{
	bool		some = start_children(scan);

	scan->started = true;
	if (scan->plan.remaining >= 0)
		gpb_offset_set_remaining(scan->node.css.ss.ps.state, scan->plan.remaining,
								 some ? 0 : scan->rest);
}

/* Where a child's current row is in the table, for WHERE CURRENT OF */
static ItemPointer
child_tid(PlanState *child)
{
	if (IsA(child, IndexOnlyScanState))
		return &((IndexOnlyScanState *) child)->ioss_ScanDesc->xs_heaptid;
	return &castNode(IndexScanState, child)->ss.ss_ScanTupleSlot->tts_tid;
}

static TupleTableSlot *
exec_rank(CustomScanState *css)
{
	GpbRankScan *scan = (GpbRankScan *) css;
	TupleTableSlot *tuple = css->ss.ss_ScanTupleSlot;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	TupleTableSlot *row;
	int			natts;

	ResetExprContext(econtext);
	if (!scan->started)
		start_rank(scan);
	if (scan->empty)
		return NULL;
	row = next_row(scan);
	if (TupIsNull(row))
		return NULL;

	/* the key's columns, the last, are not filled */
	natts = row->tts_tupleDescriptor->natts;
	slot_getallattrs(row);
	ExecClearTuple(tuple);
	memcpy(tuple->tts_values, row->tts_values, natts * sizeof(Datum));
	memcpy(tuple->tts_isnull, row->tts_isnull, natts * sizeof(bool));
	memset(tuple->tts_isnull + natts, true,
		   (tuple->tts_tupleDescriptor->natts - natts) * sizeof(bool));
	ExecStoreVirtualTuple(tuple);
	if (!scan->plan.sorted)
		tuple->tts_tid = *child_tid(scan->child);
	tuple->tts_tableOid = RelationGetRelid(scan->node.heap);
	econtext->ecxt_scantuple = tuple;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

static void
rescan_rank(CustomScanState *css)
{
	GpbRankScan *scan = (GpbRankScan *) css;

	scan->started = false;
}

static void
explain_rank(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbRankScan *scan = (GpbRankScan *) css;
	GpbBatchCounters counters = {.engine = "none"};

	gpb_explain_index(scan->plan.index, es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css, scan->plan.conditions, ancestors, es);
	if (scan->plan.offset != NULL)
		gpb_explain_clauses(GPB_LABEL_OFFSET, css, list_make1(scan->plan.offset), ancestors, es);
	if (!es->analyze)
		return;
	if (scan->finder != NULL)
		gpb_rank_counters(scan->finder, &counters);
	ExplainPropertyInteger(GPB_LABEL_ROWS_SKIPPED, NULL, (int64) scan->skipped, es);
	gpb_explain_counters(GPB_LABEL_RANGES, &counters, 0, es);
}

const GpbNodeKind gpb_rank_node = {
	GPB_NODE_KIND("GpubtreeRank", GpbRankScan),
	.exec.BeginCustomScan = begin_rank,
	.exec.ExecCustomScan = exec_rank,
	.exec.EndCustomScan = end_rank,
	.exec.ReScanCustomScan = rescan_rank,
	.exec.ExplainCustomScan = explain_rank
};
