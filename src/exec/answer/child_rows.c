/*-------------------------------------------------------------------------
 *
 * child_rows.c
 *	  The rows of a node's child, which are read from the table's pages where the child is a
 *	  sequential scan.
 *
 * A batch is searched in less time than the executor takes to hand its rows over one by one: node,
 * scan, slot and projection are called for each, and fetch a value or two.  So a sequential scan of
 * a heap whose columns come out as they are is not executed but read.  PostgreSQL's own scan
 * descriptor, the child's, goes from page to page, which is where it takes its pin, tests what the
 * snapshot sees, locks for SERIALIZABLE, shares pages with workers and answers interrupts; the rows
 * that it has found visible on a page are then fetched from there, under the scan's pin, as
 * heapgettup_pagemode() does.
 *
 * All state is the descriptor's, which after each row is as if heap_getnextslot() had returned it.
 * So rescans need no word here.  Conditions are tested as ExecScan() does, in the order of rows and
 * with the child's contexts, and the child's instrumentation and the table's statistics count the
 * same rows.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/tupmacs.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "exec/answer/child_rows.h"

/* How many rows ahead the processor is told of a row on a page */
#define GPB_ROWS_AHEAD		6

/* A column of the table, up to the last one that is fetched */
typedef struct GpbTableColumn
{
	int16		length;
	bool		by_value;
	char		align;
} GpbTableColumn;

/* A column of the child's rows */
typedef struct GpbChildColumn
{
	AttrNumber	attno;			/* in the table */
	int			offset;			/* in a row without NULLs; -1 if it is not the same in each */
} GpbChildColumn;

struct GpbChildRows
{
	PlanState  *child;
	SeqScanState *scan;			/* the child, if its rows are read; NULL: it is executed */
	TupleTableSlot *slot;		/* the row */
	AttrNumber	last;			/* last column of the table that is fetched */
	bool		fixed;			/* no column has an offset of -1 */
	GpbTableColumn *table;		/* columns 1 to last */
	Datum	   *values;			/* of these, of one row */
	bool	   *isnull;
	int			n;
	GpbChildColumn column[FLEXIBLE_ARRAY_MEMBER];
};

/* ---- begin ---- */

/*
 * Is the child a sequential scan of a heap by pages whose rows have columns of the table alone?
 * A plain MVCC snapshot makes the scan go by pages.
 */
static bool
is_readable(PlanState *child)
{
	EState	   *estate = child->state;
	ListCell   *lc;

	if (!IsA(child, SeqScanState) || estate->es_epq_active != NULL ||
		((SeqScanState *) child)->ss.ss_currentRelation->rd_tableam !=
		GetHeapamTableAmRoutine() ||
		estate->es_snapshot == NULL || !IsMVCCSnapshot(estate->es_snapshot))
		return false;
	foreach(lc, child->plan->targetlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(var, Var) || var->varattno <= 0)
			return false;
	}
	return true;
}

/*
 * Find where a column is in a row that has no NULL: behind columns of fixed width.  Returns -1 if
 * it is behind another, or if its own bytes may begin elsewhere.
 */
static int
fixed_offset(TupleDesc descriptor, AttrNumber attno)
{
	int			offset = 0;
	int			i;

	for (i = 0; i < attno; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
		int			aligned = att_align_nominal(offset, attribute->attalign);

		/* a short varlena is not aligned */
		if (attribute->attlen < 0 && (i + 1 < attno || aligned != offset))
			return -1;
		offset = aligned;
		if (i + 1 < attno)
			offset += attribute->attlen;
	}
	return offset;
}

/* Find where the columns of the child's rows come from. */
static void
begin_columns(GpbChildRows *rows)
{
	TupleDesc	descriptor = RelationGetDescr(rows->scan->ss.ss_currentRelation);
	ListCell   *lc;
	int			i;

	rows->fixed = true;
	foreach(lc, rows->child->plan->targetlist)
	{
		GpbChildColumn *column = &rows->column[rows->n++];

		column->attno = ((Var *) lfirst_node(TargetEntry, lc)->expr)->varattno;
		column->offset = fixed_offset(descriptor, column->attno);
		rows->fixed &= column->offset >= 0;
		rows->last = Max(rows->last, column->attno);
	}
	rows->table = palloc(sizeof(GpbTableColumn) * rows->last);
	rows->values = palloc(sizeof(Datum) * rows->last);
	rows->isnull = palloc(sizeof(bool) * rows->last);
	for (i = 0; i < rows->last; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, i);

		rows->table[i].length = attribute->attlen;
		rows->table[i].by_value = attribute->attbyval;
		rows->table[i].align = attribute->attalign;
	}
}

GpbChildRows *
gpb_child_rows_begin(PlanState *child)
{
	GpbChildRows *rows = palloc0(offsetof(GpbChildRows, column) +
								 sizeof(GpbChildColumn) * list_length(child->plan->targetlist));

	rows->child = child;
	if (!is_readable(child))
		return rows;
	rows->scan = (SeqScanState *) child;
	rows->slot = ExecInitExtraTupleSlot(child->state, ExecGetResultType(child), &TTSOpsVirtual);
	ExecStoreAllNullTuple(rows->slot);
	begin_columns(rows);
	return rows;
}

/* ---- rows ---- */

/*
 * Go to the first row of the next page that has any, and let the scan's slot have it; false after
 * the last page.
 */
static bool
next_page(SeqScanState *scan)
{
	ScanState  *ss = &scan->ss;

	if (ss->ss_currentScanDesc == NULL)
		ss->ss_currentScanDesc = table_beginscan(ss->ss_currentRelation,
												 ss->ps.state->es_snapshot, 0, NULL);
	CHECK_FOR_INTERRUPTS();
	return table_scan_getnextslot(ss->ss_currentScanDesc, ForwardScanDirection,
								  ss->ss_ScanTupleSlot);
}

/* Let the scan's current tuple be the next one of its page; false if there is none. */
static inline bool
next_on_page(HeapScanDesc heap)
{
	Page		page;
	ItemId		item;
	OffsetNumber offset;

	if (heap == NULL || !heap->rs_inited || heap->rs_cindex + 1 >= heap->rs_ntuples)
		return false;
	Assert(heap->rs_base.rs_flags & SO_ALLOW_PAGEMODE);
	page = BufferGetPage(heap->rs_cbuf);
	if (heap->rs_cindex + GPB_ROWS_AHEAD < heap->rs_ntuples)
	{
		item = PageGetItemId(page, heap->rs_vistuples[heap->rs_cindex + GPB_ROWS_AHEAD]);
		__builtin_prefetch((char *) page + ItemIdGetOffset(item));
	}
	offset = heap->rs_vistuples[++heap->rs_cindex];
	item = PageGetItemId(page, offset);
	heap->rs_ctup.t_data = (HeapTupleHeader) PageGetItem(page, item);
	heap->rs_ctup.t_len = ItemIdGetLength(item);
	ItemPointerSetOffsetNumber(&heap->rs_ctup.t_self, offset);
	pgstat_count_heap_getnext(heap->rs_base.rs_rd);
	return true;
}

/* Put what the row has of the table's columns, as arrays, into the slot of rows. */
static inline void
fetch_columns(GpbChildRows *rows, const Datum *values, const bool *isnull)
{
	int			i;

	for (i = 0; i < rows->n; i++)
	{
		rows->slot->tts_values[i] = values[rows->column[i].attno - 1];
		rows->slot->tts_isnull[i] = isnull[rows->column[i].attno - 1];
	}
}

/* Put the row that is in the scan's slot into the slot of rows. */
static void
fetch_by_slot(GpbChildRows *rows)
{
	TupleTableSlot *tuple = rows->scan->ss.ss_ScanTupleSlot;

	slot_getsomeattrs(tuple, rows->last);
	fetch_columns(rows, tuple->tts_values, tuple->tts_isnull);
}

/* Put a tuple that has no NULL, and all columns at fixed offsets, into the slot of rows. */
static inline void
fetch_fixed(GpbChildRows *rows, HeapTupleHeader tuple)
{
	char	   *data = (char *) tuple + tuple->t_hoff;
	int			i;

	for (i = 0; i < rows->n; i++)
	{
		const GpbChildColumn *column = &rows->column[i];
		const GpbTableColumn *table = &rows->table[column->attno - 1];

		rows->slot->tts_values[i] = fetch_att(data + column->offset, table->by_value,
											  table->length);
		rows->slot->tts_isnull[i] = false;
	}
}

/* Put a tuple into the slot of rows, column by column, as slot_deform_heap_tuple() does. */
static void
fetch_deformed(GpbChildRows *rows, HeapTupleHeader tuple)
{
	char	   *data = (char *) tuple + tuple->t_hoff;
	bool		has_nulls = (tuple->t_infomask & HEAP_HASNULL) != 0;
	int			offset = 0;
	int			i;

	for (i = 0; i < rows->last; i++)
	{
		const GpbTableColumn *table = &rows->table[i];

		rows->isnull[i] = has_nulls && att_isnull(i, tuple->t_bits);
		if (rows->isnull[i])
		{
			rows->values[i] = (Datum) 0;
			continue;
		}
		offset = att_align_pointer(offset, table->align, table->length, data + offset);
		rows->values[i] = fetch_att(data + offset, table->by_value, table->length);
		offset = att_addlength_pointer(offset, table->length, data + offset);
	}
	fetch_columns(rows, rows->values, rows->isnull);
}

/*
 * Put a tuple of the page into the slot of rows; false if it was stored before the table got all of
 * the columns.
 */
static inline bool
fetch_from_page(GpbChildRows *rows, HeapTupleHeader tuple)
{
	if (HeapTupleHeaderGetNatts(tuple) < rows->last)
		return false;
	if (rows->fixed && (tuple->t_infomask & HEAP_HASNULL) == 0)
		fetch_fixed(rows, tuple);
	else
		fetch_deformed(rows, tuple);
	return true;
}

/* Does the row in the scan's slot satisfy the child's conditions, if there are any? */
static inline bool
passes(SeqScanState *scan)
{
	ExprContext *econtext = scan->ss.ps.ps_ExprContext;

	if (scan->ss.ps.qual == NULL)
		return true;
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = scan->ss.ss_ScanTupleSlot;
	if (ExecQual(scan->ss.ps.qual, econtext))
		return true;
	InstrCountFiltered1(scan, 1);
	return false;
}

/* ExecProcNode() of the child */
static TupleTableSlot *
next_row(GpbChildRows *rows)
{
	SeqScanState *scan = rows->scan;

	for (;;)
	{
		HeapScanDesc heap = (HeapScanDesc) scan->ss.ss_currentScanDesc;

		if (!next_on_page(heap))
		{
			if (!next_page(scan))
				return NULL;
		}
		else if (scan->ss.ps.qual == NULL && fetch_from_page(rows, heap->rs_ctup.t_data))
			return rows->slot;
		else
			ExecStoreBufferHeapTuple(&heap->rs_ctup, scan->ss.ss_ScanTupleSlot, heap->rs_cbuf);
		if (passes(scan))
		{
			fetch_by_slot(rows);
			return rows->slot;
		}
	}
}

TupleTableSlot *
gpb_child_next(GpbChildRows *rows)
{
	PlanState  *child = rows->child;
	TupleTableSlot *row;

	if (rows->scan == NULL)
		return ExecProcNode(child);
	if (child->chgParam != NULL)
		ExecReScan(child);
	if (child->instrument == NULL)
		return next_row(rows);
	InstrStartNode(child->instrument);
	row = next_row(rows);
	InstrStopNode(child->instrument, TupIsNull(row) ? 0.0 : 1.0);
	return row;
}
