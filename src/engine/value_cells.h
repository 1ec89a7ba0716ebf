/*-------------------------------------------------------------------------
 *
 * value_cells.h
 *	  How many entries of a leaf have each value of a column, for programs that are functions of it.
 *
 * GROUP BY status, FILTER (WHERE status = 3), WHERE status IN (...): what such a program does with
 * an entry is decided by the value of one column.  So entries with equal values can be put through
 * it as one that counts so many times, and a leaf whose cell says how many there are of each value
 * need not be visited (rule M14).  Sums of a few other columns go with the values.
 *
 * All of it is put through the program only when leaves have been passed by: once a value, not once
 * a leaf.  Each value is that of an entry which the snapshot sees, so a step faults exactly if it
 * would have faulted for the entries one by one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_VALUE_CELLS_H
#define GPB_VALUE_CELLS_H

#include "engine/cell_reader.h"

/* Begin a reader whose program is a function of one column: reader->by_value is set. */
extern void gpb_leaf_values_begin(GpbCellReader *reader);

/*
 * Copy the cells of values and sums, of the same state of the page as the leaf's cell, which was
 * copied.  Returns false, with the reason, if they do not have what is wanted.
 */
extern bool gpb_leaf_values_copy(GpbCellReader *reader, GpbCellCopy *copy, GpbCellMiss *miss);

/*
 * Record the values of a leaf, whose cell was filled in: as gpb_cells_record().  Returns false,
 * with the reason, if no cell holds them, which is recorded too.
 */
extern bool gpb_leaf_values_record(const GpbCellReader *reader, const char *page,
								   GpbCellCopy *copy, GpbCellMiss *miss);

/* Write the cells that were copied anew, with the buffer where the leaf is now. */
extern void gpb_leaf_values_record_buffer(const GpbCellReader *reader, GpbCellCopy *copy,
										  Buffer buffer);

/* Nothing was added up. */
static inline void
gpb_leaf_values_init(GpbValueTotals *totals)
{
	totals->n = 0;
	totals->leaves = 0;
	totals->entries = 0;
	totals->last.n = 0;
	memset(&totals->null, 0, sizeof(totals->null));
}

/* Add what the cells of a leaf have.  There is room: see gpb_cells_total_is_full(). */
extern void gpb_leaf_values_add(const GpbCellReader *reader, const GpbCellCopy *copy,
								GpbValueTotals *totals);

/* Put what was added up through the program, as entries of range "number". */
extern void gpb_leaf_values_evaluate(const GpbCellReader *reader, const GpbValueTotals *totals,
									 uint32 number);

#endif							/* GPB_VALUE_CELLS_H */
