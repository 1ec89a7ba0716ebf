/*-------------------------------------------------------------------------
 *
 * cell_table.h
 *	  The shared table of cells of leaves: their form, and how they are found, read and written.
 *
 * Shared memory has cells of two cache lines, in sets of four.  A leaf has one cell with its
 * bounds, its right link, the heap blocks that its entries lead to, and what one integer column
 * adds; each further column has a cell of its own, and so has a float8, whose exact sum is long.
 * What the entries of each value of a column are is in another one (value_cells.h), and so are the
 * sums of a second column by these values.
 *
 * Neighbouring blocks of a file have neighbouring sets, and the cells of one place in all sets are
 * an array of their own.  So the cells of an index as it was built, whose leaves follow each other,
 * adjoin: they take no more lines of a processor's caches than there are, few entries of its
 * translation buffers, and it foresees which comes next.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CELL_TABLE_H
#define GPB_CELL_TABLE_H

#include "compat.h"

#include "access/xlogdefs.h"
#include "port/atomics.h"
#include "storage/block.h"
#include "storage/buf.h"

#include "engine/shared_cells.h"
#include "program/answer.h"

/*
 * How a cell begins.  It is a seqlock (shared_cells.h), so all of a cell is of one recorder, and of
 * one state of the page.
 *
 * A name stands for the file, and for the columns if the cell is one of columns: it is a hash, but
 * for its lowest bits, which tell the forms of cells apart.  A look compares the whole identity of
 * the file with the buffer's tag; so of two files with one hash, each finds the other's cell only
 * if its own page is in that buffer, has that number and has the LSN.  An LSN is that of pages of
 * one relation, or of copies of these, and then the cell is right for both.
 */
typedef struct GpbCellHead
{
	pg_atomic_uint32 version;
	Buffer		buffer;			/* where the page was; InvalidBuffer if the cell is empty */
	BlockNumber block;
	uint32		name;			/* of the relation file, or of file and columns */
	XLogRecPtr	lsn;			/* of the page when it was read */
} GpbCellHead;

#define GPB_NAME_FORM	0x03	/* bits of a name: 0 is a leaf's cell */
#define GPB_COLUMN_NAME	0x01	/* a column's */
#define GPB_VALUES_NAME	0x02	/* how many entries each value of a column has */
#define GPB_SUMS_NAME	0x03	/* sums of a column by the values of another one */

/* No column: of the place for one in a leaf's cell */
#define GPB_CELL_NO_COLUMN	0xFF

/*
 * In the place of GPB_WANT_SUM: the narrow sum does not hold a value of the leaf, so there is no
 * use in recording it again.
 */
#define GPB_WANT_UNHELD	0x80

/* What all values of a column on a leaf add up to, if they are integers or no sum is wanted */
typedef struct GpbCellColumn
{
	uint8		column;			/* as in program.h, or GPB_CELL_NO_COLUMN */
	uint8		want;			/* GPB_WANT_* */
	uint16		count;
	int16		sum_high;		/* enough for the sum of GPB_MAX_LEAF_ENTRIES values of 64 bits */
	uint64		sum_low;
	int64		min;
	int64		max;
} GpbCellColumn;

/* The intervals of heap blocks that cover all blocks to which the entries lead */
#define GPB_COVER_INTERVALS		4

typedef struct GpbBlockInterval
{
	BlockNumber first;
	BlockNumber last;			/* below first if there is no such interval */
} GpbBlockInterval;

/* The cell of a leaf */
typedef struct GpbLeafCell
{
	GpbCellHead head;
	uint64		low_key;		/* the leaf's bounds; of wide keys the lower halves */
	uint64		low_tie;
	uint64		high_key;
	uint64		high_tie;
	BlockNumber right;
	uint16		entries;
	uint16		wide;			/* are the keys wide?  Then there is no column */
	GpbBlockInterval cover[GPB_COVER_INTERVALS];
	union
	{
		GpbCellColumn column;
		uint64		upper[2];	/* of the low and of the high key */
	};
} GpbLeafCell;

/* The cell of a column */
typedef struct GpbColumnCell
{
	GpbCellHead head;
	GpbCellColumn column;
	GpbNarrowSum sum;			/* of a float8 whose sum is wanted */
} GpbColumnCell;

/* The most values of a column, NULL among them, that the entries of a leaf may be counted by */
#define GPB_CELL_VALUES	16

/* In the place of their number: there are more values, or they are too far apart for a cell. */
#define GPB_VALUES_UNHELD	0xFF

/*
 * How many entries of a leaf have each value of a column.  The values ascend; number i > 0 is
 * first + (delta[i - 1] << shift), so that what lies within 2^32 fits, and dates as timestamps, and
 * simple fractions as float8.  NULL has the last count.
 */
typedef struct GpbValuesCell
{
	GpbCellHead head;
	uint8		slot;			/* of the column, in a program (program.h) */
	uint8		n;				/* number of values, or GPB_VALUES_UNHELD */
	uint8		nulls;			/* is one of them NULL? */
	uint8		shift;
	uint16		count[GPB_CELL_VALUES];
	uint32		delta[GPB_CELL_VALUES - 1];
	int64		first;
} GpbValuesCell;

/*
 * What the entries of each value of column "slot" have for a sum of another column, which has no
 * NULL on the leaf: in the order of the values' cell, which is of the same state of the page.
 */
typedef struct GpbSumsCell
{
	GpbCellHead head;
	uint8		slot;
	uint8		column;			/* slot of the column that is summed */
	uint8		held;			/* are the sums here?  Else they are too large, or NULLs */
	uint32		low[GPB_CELL_VALUES];
	int16		high[GPB_CELL_VALUES];
} GpbSumsCell;

typedef union GpbCell
{
	GpbCellHead head;
	GpbLeafCell leaf;
	GpbColumnCell column;
	GpbValuesCell values;
	GpbSumsCell sums;
	char		bytes[128];
} GpbCell;

StaticAssertDecl(sizeof(GpbValuesCell) == 128 && sizeof(GpbSumsCell) == 128,
				 "values take as much as a leaf");
StaticAssertDecl(sizeof(GpbCell) == 128, "a cell is two cache lines");
StaticAssertDecl(GPB_MAX_LEAF_ENTRIES < 1 << 14, "sums of a leaf fit a cell");

#define GPB_SET_CELLS	4

/*
 * In shared memory; NULL if there are none.  "used" tells of each cell whether a reader has passed
 * by its leaf since it was recorded, or since others looked for a cell to take: such a cell is kept
 * the longer.  It is written without a lock, since nothing but memory's use depends on it.
 */
extern GpbCell *gpb_cells;
extern volatile uint8 *gpb_cells_used;
extern uint32 gpb_cells_set_mask;	/* number of sets, a power of two, less one */

/*
 * Cell number i of those that may have this name and block.  The first one is another for another
 * file, so that files which share sets find most of their leaves in the first cell.
 */
static inline GpbCell *
gpb_cell_candidate(uint32 name, BlockNumber block, int i)
{
	Size		sets = (Size) gpb_cells_set_mask + 1;

	return gpb_cells + ((name >> 24) + i) % GPB_SET_CELLS * sets +
		((name + block) & gpb_cells_set_mask);
}

/*
 * What a reader remembers of the cells with one name: which candidate the last one was.  The next
 * leaf's is likely to be the same one.
 */
typedef struct GpbCellHint
{
	uint8		candidate;
} GpbCellHint;

/*
 * Prefetch the cell that this block is likely to have.  A function that does nothing but prefetch
 * must be inlined always: calls of it are left out by compilers, who see no effect.
 */
static pg_attribute_always_inline void
gpb_cell_prefetch(uint32 name, BlockNumber block, const GpbCellHint *hint)
{
	const GpbCell *cell = gpb_cell_candidate(name, block, hint->candidate);

	__builtin_prefetch(cell);
	__builtin_prefetch((const char *) cell + GPB_CACHE_LINE);
}

/* Prefetch the heads of all cells that this block may have, for one who is to choose one. */
static pg_attribute_always_inline void
gpb_cell_prefetch_set(uint32 name, BlockNumber block)
{
	int			i;

	for (i = 0; i < GPB_SET_CELLS; i++)
		__builtin_prefetch(gpb_cell_candidate(name, block, i));
}

static inline bool
gpb_cell_names(const GpbCellHead *head, uint32 name, BlockNumber block)
{
	return head->block == block && head->buffer != InvalidBuffer && head->name == name;
}

/* The cell with this name, or NULL.  It may be another's as soon as this has returned. */
static inline GpbCell *
gpb_cell_find(uint32 name, BlockNumber block, GpbCellHint *hint)
{
	int			i;

	for (i = 0; i < GPB_SET_CELLS; i++)
	{
		GpbCell    *cell = gpb_cell_candidate(name, block, hint->candidate + i);

		if (gpb_cell_names(&cell->head, name, block))
		{
			hint->candidate = (hint->candidate + i) % GPB_SET_CELLS;
			return cell;
		}
	}
	return NULL;
}

/*
 * Copy the cell with this name.  Returns where it was, or NULL if there is none, or if it is being
 * written.
 */
static inline GpbCell *
gpb_cell_read(uint32 name, BlockNumber block, GpbCellHint *hint, GpbCell *copy)
{
	GpbCell    *cell = gpb_cell_find(name, block, hint);

	if (cell == NULL ||
		!gpb_shared_cell_copy(&cell->head.version, copy, cell, sizeof(GpbCell)) ||
		!gpb_cell_names(&copy->head, name, block))
		return NULL;
	return cell;
}

/* Let a cell be kept the longer, since it was of use. */
static inline void
gpb_cell_use(const GpbCell *cell)
{
	if (gpb_cells_used[cell - gpb_cells] == 0)
		gpb_cells_used[cell - gpb_cells] = 1;
}

/*
 * Choose the cell to be written for this name: its own, or an empty one, or one that was of no use
 * since it was recorded, or one whose page has changed.  If there is none, some turns of many take
 * the place of a cell in use, and the others get NULL: where more leaves are read again and again
 * than there are cells, most cells stay as they are, and are of use the next time.
 */
extern GpbCell *gpb_cell_choose(uint32 name, BlockNumber block, uint64 turn);

/*
 * Write a cell.  If another one writes to it, nothing is done.  Nothing in here can fail or be
 * interrupted, but where a test holds it.
 */
extern void gpb_cell_write(GpbCell *cell, const GpbCell *from);

#endif							/* GPB_CELL_TABLE_H */
