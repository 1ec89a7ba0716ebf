/*-------------------------------------------------------------------------
 *
 * outer_rows.c
 *	  The rows of one batch that a node has read of its child.
 *
 * Rows are kept deformed, as arrays of Datums, since each is looked at about once and in any order:
 * forming and deforming tuples would cost more than the batch's search.  Values that are not passed
 * by value are copied to a memory context of their own.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/tupdesc.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "exec/answer/outer_rows.h"
#include "large_array.h"

struct GpbOuterRows
{
	MemoryContext context;
	MemoryContext copies;		/* values passed by reference */
	TupleDesc	descriptor;
	int			natts;
	bool	   *wanted;			/* columns that are kept; NULL if all are */
	bool		by_value;		/* all that are kept */
	Datum	   *values;			/* natts of each row */
	bool	   *isnull;
	uint32		n;
	uint32		capacity;
	Size		copied;			/* bytes in copies */
};

GpbOuterRows *
gpb_outer_begin(TupleDesc descriptor)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "gpubtree join rows",
												  ALLOCSET_DEFAULT_SIZES);
	GpbOuterRows *rows = MemoryContextAllocZero(context, sizeof(GpbOuterRows));
	int			i;

	rows->context = context;
	rows->copies = AllocSetContextCreate(context, "gpubtree join values",
										 ALLOCSET_DEFAULT_SIZES);
	rows->descriptor = descriptor;
	rows->natts = descriptor->natts;
	rows->by_value = true;
	for (i = 0; i < rows->natts; i++)
		rows->by_value &= TupleDescAttr(descriptor, i)->attbyval;
	return rows;
}

void
gpb_outer_want(GpbOuterRows *rows, const Bitmapset *columns)
{
	int			i;

	rows->wanted = MemoryContextAlloc(rows->context, rows->natts * sizeof(bool) + 1);
	rows->by_value = true;
	for (i = 0; i < rows->natts; i++)
	{
		rows->wanted[i] = bms_is_member(i + 1, columns);
		rows->by_value &= !rows->wanted[i] || TupleDescAttr(rows->descriptor, i)->attbyval;
	}
}

void
gpb_outer_release(GpbOuterRows *rows)
{
	gpb_outer_clear(rows, 0);
	if (rows->capacity == 0)
		return;
	pfree(rows->values);
	pfree(rows->isnull);
	rows->capacity = 0;
}

void
gpb_outer_clear(GpbOuterRows *rows, uint32 capacity)
{
	Size		cells = (Size) capacity * Max(rows->natts, 1);

	rows->n = 0;
	rows->copied = 0;
	MemoryContextReset(rows->copies);
	if (capacity <= rows->capacity)
		return;
	if (rows->capacity > 0)
	{
		pfree(rows->values);
		pfree(rows->isnull);
	}
	rows->values = gpb_alloc_array(rows->context, cells * sizeof(Datum));
	rows->isnull = gpb_alloc_array(rows->context, cells * sizeof(bool));
	rows->capacity = capacity;
}

/* Copy the columns of one row, which has few, so that calls of memcpy() would take longer. */
static inline void
copy_columns(const GpbOuterRows *rows, const Datum *from_values, const bool *from_isnull,
			 Datum *values, bool *isnull)
{
	int			i;

	for (i = 0; i < rows->natts; i++)
	{
		values[i] = from_values[i];
		isnull[i] = from_isnull[i];
	}
}

void
gpb_outer_add(GpbOuterRows *rows, TupleTableSlot *slot)
{
	Datum	   *values;
	bool	   *isnull;
	MemoryContext caller;
	int			i;

	Assert(rows->n < rows->capacity);
	slot_getallattrs(slot);
	values = rows->values + (Size) rows->n * rows->natts;
	isnull = rows->isnull + (Size) rows->n * rows->natts;
	rows->n++;
	copy_columns(rows, slot->tts_values, slot->tts_isnull, values, isnull);
	for (i = 0; rows->wanted != NULL && i < rows->natts; i++)
		isnull[i] |= !rows->wanted[i];
	if (rows->by_value)
		return;

	caller = MemoryContextSwitchTo(rows->copies);
	for (i = 0; i < rows->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(rows->descriptor, i);

		if (attribute->attbyval || isnull[i])
			continue;
		values[i] = datumCopy(values[i], false, attribute->attlen);
		rows->copied += GetMemoryChunkSpace(DatumGetPointer(values[i]));
	}
	MemoryContextSwitchTo(caller);
}

void
gpb_outer_get(const GpbOuterRows *rows, uint32 row, Datum *values, bool *isnull)
{
	copy_columns(rows, rows->values + (Size) row * rows->natts,
				 rows->isnull + (Size) row * rows->natts, values, isnull);
}

uint32
gpb_outer_count(const GpbOuterRows *rows)
{
	return rows->n;
}

Size
gpb_outer_copied(const GpbOuterRows *rows)
{
	return rows->copied;
}

void
gpb_outer_end(GpbOuterRows *rows)
{
	MemoryContextDelete(rows->context);
}
