/*-------------------------------------------------------------------------
 *
 * offset_exec.c
 *	  The executor node of ORDER BY with OFFSET over partitions that follow one another.
 *
 * How many rows are still to be skipped is a parameter, which is OFFSET at first.  Core's Append
 * comes to a leaf when those before it have no more rows.  A leaf that is a GpubtreeRank then
 * counts its rows, skips what it has of these, and leaves the rest in the parameter; rows of other
 * leaves are skipped here, one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "commands/explain.h"
#include "executor/executor.h"

#include "exec/rank/rank_node.h"
#include "exec/shell/node_explain.h"

typedef struct GpbOffsetScan
{
	GpbNode		node;
	GpbOffsetPlan plan;
	ExprState  *offset;
	bool		started;		/* the parameter is set */
} GpbOffsetScan;

static void
begin_offset(CustomScanState *css, EState *estate, int eflags)
{
	GpbOffsetScan *scan = (GpbOffsetScan *) css;

	/* it has no rows of its own */
	css->ss.ss_currentRelation = NULL;
	gpb_offset_get(castNode(CustomScan, css->ss.ps.plan), &scan->plan);
	gpb_start_child(&scan->node, eflags);
	scan->offset = ExecInitExpr(scan->plan.offset, &css->ss.ps);
}

/* The next row of the leaves that is not to be skipped; NULL after the last */
static TupleTableSlot *
next_row(GpbOffsetScan *scan)
{
	EState	   *estate = scan->node.css.ss.ps.state;

	for (;;)
	{
		TupleTableSlot *row = ExecProcNode(scan->node.child);
		int64		remaining = gpb_offset_remaining(estate, scan->plan.remaining);

		if (TupIsNull(row))
			return NULL;
		if (remaining == 0)
			return row;
		gpb_offset_set_remaining(estate, scan->plan.remaining, remaining - 1);
	}
}

static TupleTableSlot *
exec_offset(CustomScanState *css)
{
	GpbOffsetScan *scan = (GpbOffsetScan *) css;
	TupleTableSlot *tuple = css->ss.ss_ScanTupleSlot;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	TupleTableSlot *row;
	int			natts = tuple->tts_tupleDescriptor->natts;

	ResetExprContext(econtext);
	if (!scan->started)
		gpb_offset_set_remaining(css->ss.ps.state, scan->plan.remaining,
								 gpb_offset_value(scan->offset, econtext));
	scan->started = true;
	row = next_row(scan);
	if (row == NULL)
		return NULL;
	slot_getallattrs(row);
	ExecClearTuple(tuple);
	memcpy(tuple->tts_values, row->tts_values, natts * sizeof(Datum));
	memcpy(tuple->tts_isnull, row->tts_isnull, natts * sizeof(bool));
	ExecStoreVirtualTuple(tuple);
	econtext->ecxt_scantuple = tuple;
	return css->ss.ps.ps_ProjInfo == NULL ? tuple : ExecProject(css->ss.ps.ps_ProjInfo);
}

static void
rescan_offset(CustomScanState *css)
{
	GpbOffsetScan *scan = (GpbOffsetScan *) css;

	scan->started = false;
	gpb_rescan_child(&scan->node);
}

static void
end_offset(CustomScanState *css)
{
	gpb_close_node((GpbNode *) css);
}

static void
explain_offset(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbOffsetScan *scan = (GpbOffsetScan *) css;

	gpb_explain_clauses(GPB_LABEL_OFFSET, css, list_make1(scan->plan.offset), ancestors, es);
}

const GpbNodeKind gpb_offset_node = {
	GPB_NODE_KIND("GpubtreeOffset", GpbOffsetScan),
	.exec.BeginCustomScan = begin_offset,
	.exec.ExecCustomScan = exec_offset,
	.exec.EndCustomScan = end_offset,
	.exec.ReScanCustomScan = rescan_offset,
	.exec.ExplainCustomScan = explain_offset
};
