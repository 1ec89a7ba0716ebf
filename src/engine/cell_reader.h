/*-------------------------------------------------------------------------
 *
 * cell_reader.h
 *	  What passing leaves by and recording them have in common: the cells of one leaf.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CELL_READER_H
#define GPB_CELL_READER_H

#include "port/pg_bitutils.h"

#include "engine/leaf_cells.h"

/*
 * What a term of a program with filters takes of a leaf as a whole: what a cell has of a column,
 * whose place in the format this is, or something else
 */
#define GPB_TERM_NOTHING	(-1)
#define GPB_TERM_ENTRIES	(-2)	/* each entry counts */
#define GPB_TERM_VALUE		(-3)	/* each entry has this value */

typedef struct GpbZoneTerm
{
	int			from;
	int64		value;
} GpbZoneTerm;

/* Copies of the cells of one leaf, with the places where they were */
typedef struct GpbCellCopy
{
	bool		counted;		/* are these counts by value? */
	GpbZoneVerdict verdict;		/* if not: of a program with filters */
	GpbZoneTerm term[GPB_MAX_TERMS];	/* likewise, if all entries pass */
	GpbCell    *at;
	GpbCell    *column_at[GPB_CELL_COLUMNS];	/* NULL if the leaf's cell has the column */
	GpbCell		leaf;
	GpbCell		column[GPB_CELL_COLUMNS];	/* by place in the format; or that of values, and
											 * those of sums by value */
} GpbCellCopy;

/* The name of the cells of a column's. */
static inline uint32
gpb_cell_column_name(const GpbCellReader *reader, int column)
{
	return ((reader->name ^ (uint32) (column + 1) * 0x9E3779B1) & ~GPB_NAME_FORM) |
		GPB_COLUMN_NAME;
}

/*
 * Prefetch the cells of a leaf, with those of columns that were found to have their own.
 */
static pg_attribute_always_inline void
gpb_cells_prefetch(const GpbCellReader *reader, BlockNumber block)
{
	uint32		apart = reader->apart;
	int			n = reader->counts ? 1 + reader->by_value->nsums : 0;

	gpb_cell_prefetch(reader->name, block, &reader->hint);
	while (n-- > 0)
		gpb_cell_prefetch(reader->value_name[n], block, &reader->value_hint[n]);
	for (; apart != 0; apart &= apart - 1)
	{
		int			i = pg_rightmost_one_pos32(apart);

		gpb_cell_prefetch(gpb_cell_column_name(reader, reader->wants[i].column), block,
						  &reader->column_hint[i]);
	}
}

/* Put together what is wanted of each column of the format: want[] has it by column. */
static inline void
gpb_cells_note_wants(GpbCellReader *reader, const uint8 *want)
{
	int			i;

	for (i = 0; i < reader->format->ncolumns; i++)
	{
		const GpbAnswerColumn *column = &reader->format->column[i];

		reader->wants[i].column = column->column;
		reader->wants[i].want = want[column->column];
		reader->wants[i].sums_floats = column->kind == GPB_KIND_FLOAT8 &&
			(want[column->column] & GPB_WANT_SUM) != 0;
	}
}

/* What the program wants of a column of the format. */
static inline int
gpb_cell_want(const GpbCellReader *reader, int i)
{
	return reader->wants[i].want;
}

/* Is an exact sum wanted of column i of the format? */
static inline bool
gpb_cell_sums_floats(const GpbCellReader *reader, int i)
{
	return reader->wants[i].sums_floats;
}

/* Has the cell all that is wanted of its column? */
static inline bool
gpb_cell_column_has(const GpbCellColumn *have, int column, int want)
{
	return have->column == column && (want & ~have->want) == 0;
}

/* Has the leaf's cell itself this of column i of the format? */
static inline bool
gpb_leaf_cell_has(const GpbCellReader *reader, const GpbLeafCell *cell, int i, int want)
{
	return !gpb_cell_sums_floats(reader, i) && !cell->wide &&
		gpb_cell_column_has(&cell->column, reader->wants[i].column, want);
}

/*
 * Copy the cell of column i of the format, of which this is wanted, if it is not the leaf's, which
 * was copied; it must be of the same state of the page.  Returns false if it has not all of it;
 * then *unheld tells whether a narrow sum does not hold a value, so that no cell could.
 */
static inline bool
gpb_cell_copy_column(GpbCellReader *reader, GpbCellCopy *copy, int i, int want, bool *unheld)
{
	int			column = reader->wants[i].column;
	const GpbColumnCell *cell = &copy->column[i].column;

	*unheld = false;
	copy->column_at[i] = NULL;
	if (gpb_leaf_cell_has(reader, &copy->leaf.leaf, i, want))
		return true;
	copy->column_at[i] = gpb_cell_read(gpb_cell_column_name(reader, column),
									   copy->leaf.head.block, &reader->column_hint[i],
									   &copy->column[i]);
	reader->apart |= 1 << i;
	if (copy->column_at[i] == NULL || cell->head.lsn != copy->leaf.head.lsn ||
		cell->column.column != column)
		return false;
	*unheld = (cell->column.want & GPB_WANT_UNHELD) != 0;
	return (want & ~cell->column.want) == 0;
}

/* Copy the cells of all columns of the format: see gpb_cell_copy_column(). */
static inline bool
gpb_cell_copy_columns(GpbCellReader *reader, GpbCellCopy *copy, bool *unheld)
{
	int			i;

	*unheld = false;
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		if (!gpb_cell_copy_column(reader, copy, i, gpb_cell_want(reader, i), unheld))
			return false;
	}
	return true;
}

/* Add a column of a cell to what was added up. */
static inline void
gpb_cell_add_column(GpbColumnState *state, const GpbCellColumn *column)
{
	gpb_column_state_add_many(state, column->count, column->sum_low, column->sum_high, column->min,
							  column->max);
}

/* Add what the cells of a leaf have to *total. */
static inline void
gpb_cell_add(const GpbCellReader *reader, const GpbCellCopy *copy, GpbCellTotal *total)
{
	int			i;

	total->entries += copy->leaf.leaf.entries;
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		if (copy->column_at[i] == NULL)
			gpb_cell_add_column(&total->state[i], &copy->leaf.leaf.column);
		else
			gpb_cell_add_column(&total->state[i], &copy->column[i].column.column);
		if (gpb_cell_sums_floats(reader, i))
			gpb_narrow_sum_merge(&total->sum[i], &copy->column[i].column.sum);
	}
}

/*
 * A leaf could not be passed by, for a reason that is likely to be one of leaves to come as well:
 * after some of them cells are not asked for a while.
 */
extern void gpb_cells_note_failure(GpbCellReader *reader, GpbCellMiss reason);

#endif							/* GPB_CELL_READER_H */
