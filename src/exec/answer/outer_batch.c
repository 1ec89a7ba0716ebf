/*-------------------------------------------------------------------------
 *
 * outer_batch.c
 *	  Batches of outer rows, with the ranges of keys that they have.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/tupdesc.h"
#include "executor/executor.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "exec/answer/outer_batch.h"
#include "exec/price/growth.h"
#include "large_array.h"

/* Ranges there is room for at first where no rows are kept */
#define GPB_INITIAL_RANGES	1024

/* ---- begin ---- */

void
gpb_outer_begin(GpbOuter *outer, GpbNode *node, int nranges, Size mark_width, GpbOuterAdded added)
{
	int			i;

	outer->node = node;
	outer->added = added;
	outer->context = CurrentMemoryContext;
	outer->cells = AllocSetContextCreate(CurrentMemoryContext, "gpubtree outer rows",
										 ALLOCSET_DEFAULT_SIZES);
	outer->copies = AllocSetContextCreate(outer->cells, "gpubtree outer values",
										  ALLOCSET_DEFAULT_SIZES);
	outer->child = gpb_child_rows_begin(node->child);
	outer->limit = GPB_FIRST_BATCH;
	outer->descriptor = ExecGetResultType(node->child);
	outer->by_value = true;
	for (i = 0; i < outer->descriptor->natts; i++)
		outer->by_value &= TupleDescAttr(outer->descriptor, i)->attbyval;
	outer->mark_width = mark_width;
	outer->nranges = nranges;
	outer->ranges = palloc0(sizeof(GpbOuterRanges) * nranges);
}

void
gpb_outer_begin_ranges(GpbOuter *outer, int i, Relation index, int nconditions,
					   const GpbRangeCondition *conditions, List *values)
{
	GpbOuterRanges *ranges = &outer->ranges[i];

	ranges->values = gpb_range_values_begin(index, nconditions, conditions, values,
											&outer->node->css.ss.ps);
	ranges->form = gpb_range_values_form(ranges->values);
	ranges->width = gpb_range_values_width(ranges->values);
}

void
gpb_outer_set_bytes(GpbOuter *outer, Size more)
{
	outer->row_bytes = gpb_row_bytes(outer->descriptor->natts, more);
}

void
gpb_outer_want(GpbOuter *outer, const Bitmapset *columns)
{
	int			natts = outer->descriptor->natts;
	int			i;

	outer->wanted = MemoryContextAlloc(outer->context, natts * sizeof(bool) + 1);
	outer->by_value = true;
	for (i = 0; i < natts; i++)
	{
		outer->wanted[i] = bms_is_member(i + 1, columns);
		outer->by_value &= !outer->wanted[i] || TupleDescAttr(outer->descriptor, i)->attbyval;
	}
}

/* ---- memory ---- */

/* Forget all rows and ranges. */
static void
clear(GpbOuter *outer)
{
	int			i;

	outer->n = 0;
	outer->next = 0;
	outer->copied = 0;
	MemoryContextReset(outer->copies);
	for (i = 0; i < outer->nranges; i++)
		outer->ranges[i].n = 0;
}

void
gpb_outer_release(GpbOuter *outer)
{
	int			i;

	clear(outer);
	if (outer->capacity == 0)
		return;
	outer->capacity = 0;
	pfree(outer->values);
	pfree(outer->isnull);
	pfree(outer->marks);
	for (i = 0; i < outer->nranges; i++)
	{
		pfree(outer->ranges[i].ranges);
		pfree(outer->ranges[i].row);
	}
}

/* Make room for n rows; those there are have been forgotten. */
static void
reserve(GpbOuter *outer, uint32 n)
{
	Size		cells = (Size) n * Max(outer->descriptor->natts, 1);
	int			i;

	if (n <= outer->capacity)
		return;
	gpb_outer_release(outer);
	outer->values = gpb_alloc_array(outer->cells, cells * sizeof(Datum));
	outer->isnull = gpb_alloc_array(outer->cells, cells * sizeof(bool));
	outer->marks = gpb_alloc_array(outer->context, n * Max(outer->mark_width, 1));
	for (i = 0; i < outer->nranges; i++)
	{
		GpbOuterRanges *ranges = &outer->ranges[i];

		ranges->ranges = gpb_alloc_array(outer->context, n * ranges->width);
		ranges->row = gpb_alloc_array(outer->context, n * sizeof(uint32));
	}
	outer->capacity = n;
}

/* ---- rows ---- */

/* Copy the columns of one row, which has few, so that calls of memcpy() would take longer. */
static inline void
copy_columns(int natts, const Datum *from_values, const bool *from_isnull, Datum *values,
			 bool *isnull)
{
	int			i;

	for (i = 0; i < natts; i++)
	{
		values[i] = from_values[i];
		isnull[i] = from_isnull[i];
	}
}

/* Keep a copy of the row in the slot; there is room for it. */
static inline void
add_row(GpbOuter *outer, TupleTableSlot *slot)
{
	int			natts = outer->descriptor->natts;
	Datum	   *values = outer->values + (Size) outer->n * natts;
	bool	   *isnull = outer->isnull + (Size) outer->n * natts;
	MemoryContext caller;
	int			i;

	slot_getallattrs(slot);
	outer->n++;
	copy_columns(natts, slot->tts_values, slot->tts_isnull, values, isnull);
	for (i = 0; outer->wanted != NULL && i < natts; i++)
		isnull[i] |= !outer->wanted[i];
	if (outer->by_value)
		return;
	caller = MemoryContextSwitchTo(outer->copies);
	for (i = 0; i < natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(outer->descriptor, i);

		if (attribute->attbyval || isnull[i])
			continue;
		values[i] = datumCopy(values[i], false, attribute->attlen);
		outer->copied += GetMemoryChunkSpace(DatumGetPointer(values[i]));
	}
	MemoryContextSwitchTo(caller);
}

/* Empty the scan tuple, in which outer rows are to be put one after the other. */
static void
open_scan_tuple(GpbOuter *outer)
{
	TupleTableSlot *tuple = outer->node->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(tuple);
	memset(tuple->tts_isnull, true, tuple->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(tuple);
	outer->node->css.ss.ps.ps_ExprContext->ecxt_scantuple = tuple;
}

/*
 * Add the ranges of the outer row in the slot, number "row" of its batch.  Where a value is more
 * than a column the row stands in the scan tuple meanwhile.
 */
static inline void
add_ranges(GpbOuter *outer, TupleTableSlot *slot, uint32 row)
{
	TupleTableSlot *tuple = outer->node->css.ss.ss_ScanTupleSlot;
	ExprContext *econtext = outer->node->css.ss.ps.ps_ExprContext;
	bool		loaded = false;
	int			i;

	for (i = 0; i < outer->nranges; i++)
	{
		GpbOuterRanges *ranges = &outer->ranges[i];

		if (!loaded && !gpb_range_values_are_columns(ranges->values))
		{
			slot_getallattrs(slot);
			copy_columns(outer->descriptor->natts, slot->tts_values, slot->tts_isnull,
						 tuple->tts_values, tuple->tts_isnull);
			ResetExprContext(econtext);
			loaded = true;
		}
		if (!gpb_range_of_row(ranges->values, econtext, slot,
							  ranges->ranges + ranges->n * ranges->width))
			continue;
		if (ranges->row != NULL)
			ranges->row[ranges->n] = row;
		ranges->n++;
	}
}

/* The next row of the child, or NULL, having noted that there are no more */
static inline TupleTableSlot *
next_row(GpbOuter *outer)
{
	TupleTableSlot *slot = gpb_child_next(outer->child);

	if (!TupIsNull(slot))
		return slot;
	outer->done = true;
	return NULL;
}

bool
gpb_outer_read(GpbOuter *outer, uint64 most)
{
	uint32		limit = Min(Min(outer->limit, gpb_most_rows(outer->row_bytes)), most);
	Size		memory = gpb_rows_memory();
	uint32		row;

	clear(outer);
	if (outer->done)
		return false;
	reserve(outer, limit);
	open_scan_tuple(outer);
	for (row = 0; row < limit; row++)
	{
		TupleTableSlot *slot;

		if (row > 0 && row * outer->row_bytes + outer->copied > memory)
			break;
		slot = next_row(outer);
		if (slot == NULL)
			break;
		add_row(outer, slot);
		if (outer->added != NULL)
			outer->added(outer->node, slot, row);
		add_ranges(outer, slot, row);
	}
	/* a batch that was cut short by memory is not followed by a larger one */
	if (row == limit)
		outer->limit = gpb_grown_batch(limit);
	return row > 0;
}

bool
gpb_outer_read_one(GpbOuter *outer)
{
	TupleTableSlot *slot;

	clear(outer);
	if (outer->done)
		return false;
	reserve(outer, 1);
	slot = next_row(outer);
	if (slot != NULL)
		add_row(outer, slot);
	return slot != NULL;
}

bool
gpb_outer_read_ranges(GpbOuter *outer, uint32 most)
{
	GpbOuterRanges *ranges = &outer->ranges[0];
	TupleTableSlot *slot;

	clear(outer);
	if (ranges->ranges == NULL)
	{
		outer->capacity = Min(GPB_INITIAL_RANGES, most);
		ranges->ranges = gpb_alloc_array(outer->context, outer->capacity * ranges->width);
	}
	open_scan_tuple(outer);
	while ((slot = next_row(outer)) != NULL)
	{
		add_ranges(outer, slot, 0);
		if (ranges->n == most)
			return true;
		if (ranges->n < outer->capacity)
			continue;
		outer->capacity = (uint32) Min((uint64) outer->capacity * 2, most);
		ranges->ranges = gpb_realloc_array(ranges->ranges, outer->capacity * ranges->width);
	}
	return false;
}

void
gpb_outer_get(const GpbOuter *outer, uint32 row, Datum *values, bool *isnull)
{
	Size		first = (Size) row * outer->descriptor->natts;

	copy_columns(outer->descriptor->natts, outer->values + first, outer->isnull + first, values,
				 isnull);
}

void
gpb_outer_load(const GpbOuter *outer, uint32 row)
{
	TupleTableSlot *tuple = outer->node->css.ss.ss_ScanTupleSlot;
	int			natts = outer->descriptor->natts;

	ExecClearTuple(tuple);
	gpb_outer_get(outer, row, tuple->tts_values, tuple->tts_isnull);
	memset(tuple->tts_isnull + natts, true,
		   (tuple->tts_tupleDescriptor->natts - natts) * sizeof(bool));
	ExecStoreVirtualTuple(tuple);
}

/* What was read and not used is forgotten; batches begin small again. */
void
gpb_outer_rescan(GpbOuter *outer)
{
	clear(outer);
	outer->limit = GPB_FIRST_BATCH;
	outer->done = false;
	gpb_rescan_child(outer->node);
}
