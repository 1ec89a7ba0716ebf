/*-------------------------------------------------------------------------
 *
 * outer_batch.h
 *	  Batches of outer rows: the rows that a node reads of its child, with the range of keys that
 *	  each has in an index, or in several.
 *
 * Rows are read until a batch is full, the memory is, or there are no more.  The first batch is
 * small and each further one larger (growth.h).  The node asks for the ranges of a batch together
 * (ask.h), and then deals with its rows one after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_OUTER_BATCH_H
#define GPB_OUTER_BATCH_H

#include "postgres.h"
#include "executor/tuptable.h"
#include "nodes/bitmapset.h"

#include "exec/answer/child_rows.h"
#include "exec/shell/node_shell.h"
#include "exec/where/range_conditions.h"

/* The ranges that rows of the batch have in one index, in the order of the rows */
typedef struct GpbOuterRanges
{
	GpbRangeValues *values;
	GpbRangeForm form;
	Size		width;			/* of a range in this form */
	char	   *ranges;			/* what is asked for */
	uint32		n;
	uint32	   *row;			/* of each range, the number of its row */
	uint32		at;				/* where gpb_outer_range() goes on */
} GpbOuterRanges;

/* Called for each row that was added, which is in the slot too, before its ranges are found */
typedef void (*GpbOuterAdded) (GpbNode *node, TupleTableSlot *slot, uint32 row);

/*
 * Rows are kept deformed, as arrays of Datums, since each is looked at about once and in any order:
 * forming and deforming tuples would cost more than the batch's search.  Values that are not passed
 * by value are copied to a memory context of their own.
 */
typedef struct GpbOuter
{
	GpbNode    *node;
	GpbOuterAdded added;		/* or NULL */
	MemoryContext context;		/* the node's, of marks and ranges */
	MemoryContext cells;		/* the columns of rows */
	MemoryContext copies;		/* values passed by reference */
	Size		copied;			/* bytes of these */
	GpbChildRows *child;
	bool		done;			/* the child has no more rows */
	uint32		limit;			/* rows of the next batch at most */
	Size		row_bytes;		/* what a row takes, its ranges and their answers included, but for
								 * values passed by reference */

	/* the batch */
	TupleDesc	descriptor;
	bool	   *wanted;			/* columns that are kept; NULL if all are */
	bool		by_value;		/* all that are kept */
	uint32		n;
	uint32		next;			/* first row that the node has not dealt with */
	uint32		capacity;
	Datum	   *values;			/* those of each row, one row after the other */
	bool	   *isnull;
	void	   *marks;			/* the node's, one for each row */
	Size		mark_width;
	int			nranges;		/* indexes in which each row may have a range */
	GpbOuterRanges *ranges;
} GpbOuter;

/*
 * Begin with no row, for a node whose child has begun.  Each row has a mark of mark_width bytes,
 * which is the node's.  Then tell of each of nranges indexes how rows make a range; values are
 * expressions over the node's scan tuple, which begins with the child's columns.  All memory is of
 * the current context.
 */
extern void gpb_outer_begin(GpbOuter *outer, GpbNode *node, int nranges, Size mark_width,
							GpbOuterAdded added);
extern void gpb_outer_begin_ranges(GpbOuter *outer, int i, Relation index, int nconditions,
								   const GpbRangeCondition *conditions, List *values);

/*
 * Rows are not followed by larger batches than memory allows: a row takes "more" bytes beside its
 * columns, with its ranges and answers.
 */
extern void gpb_outer_set_bytes(GpbOuter *outer, Size more);

/* From the next row on keep the columns in this set alone, counted from 1; others become NULL. */
extern void gpb_outer_want(GpbOuter *outer, const Bitmapset *columns);

/*
 * Read the next batch, of "most" rows at most, each with its ranges; false if there is none.  The
 * rows of the last batch are lost, and the scan tuple has none.
 */
extern bool gpb_outer_read(GpbOuter *outer, uint64 most);

/* Read one row alone, without ranges, in the same way as a batch. */
extern bool gpb_outer_read_one(GpbOuter *outer);

/*
 * Read no rows but ranges in the first index, "most" at most; false if these are the last, which
 * may be none.
 */
extern bool gpb_outer_read_ranges(GpbOuter *outer, uint32 most);

/*
 * Copy the columns of a row into the caller's arrays.  What values point to is valid until the next
 * batch is read.
 */
extern void gpb_outer_get(const GpbOuter *outer, uint32 row, Datum *values, bool *isnull);

/* Put a row into the scan tuple; columns behind the child's are NULL. */
extern void gpb_outer_load(const GpbOuter *outer, uint32 row);

/* Let the child, and the batches, begin anew. */
extern void gpb_outer_rescan(GpbOuter *outer);

/* Forget all rows, and give back the memory that they take. */
extern void gpb_outer_release(GpbOuter *outer);

/*
 * The number of a row's range in index i, or GPB_NO_RANGE.  Rows are asked about in their order;
 * all begins anew with row 0.
 */
static inline uint32
gpb_outer_range(GpbOuter *outer, int i, uint32 row)
{
	GpbOuterRanges *ranges = &outer->ranges[i];

	if (row == 0)
		ranges->at = 0;
	while (ranges->at < ranges->n && ranges->row[ranges->at] < row)
		ranges->at++;
	return ranges->at < ranges->n && ranges->row[ranges->at] == row ? ranges->at : GPB_NO_RANGE;
}

#endif							/* GPB_OUTER_BATCH_H */
