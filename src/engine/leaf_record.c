/*-------------------------------------------------------------------------
 *
 * leaf_record.c
 *	  Recording leaves: what all entries of one add to an answer (rule M14).
 *
 * All entries count, whoever sees their rows: the recorder's snapshot plays no part.  Entries,
 * bounds and LSN are read under one hold of the leaf's lock.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "storage/bufmgr.h"

#include "engine/value_cells.h"
#include "engine/zone_cells.h"
#include "hold.h"
#include "page/page.h"
#include "program/leaf_aggregate.h"

/* ---- a leaf ---- */

/*
 * Find intervals that cover all blocks to which the entries of a leaf lead: one if the blocks are
 * near each other; several if a few rows of a table in the key's order lie elsewhere, where an
 * UPDATE moved them; and one again if even so many do not do.
 */
static void
find_cover(const char *page, int count, GpbBlockInterval *cover)
{
	int			row_width = gpb_page_row_width(page);
	BlockNumber first;
	BlockNumber last;
	int			n = 0;
	int			i;

	for (i = 0; i < GPB_COVER_INTERVALS; i++)
	{
		cover[i].first = 1;
		cover[i].last = 0;
	}
	if (count == 0)
		return;
	gpb_entry_blocks(page, row_width, 0, count, &first, &last);
	for (i = 0; i < count && last - first > (uint32) count && n <= GPB_COVER_INTERVALS; i++)
	{
		BlockNumber block = gpb_locator_block(gpb_page_locator(page, row_width, i));
		const BlockNumber near = 16;
		int			k;

		for (k = 0; k < n; k++)
		{
			if (block + near >= cover[k].first && block <= cover[k].last + near)
				break;
		}
		if (k == n && n++ < GPB_COVER_INTERVALS)
			cover[k].first = cover[k].last = block;
		if (k < GPB_COVER_INTERVALS)
		{
			cover[k].first = Min(cover[k].first, block);
			cover[k].last = Max(cover[k].last, block);
		}
	}
	if (n > 0 && n <= GPB_COVER_INTERVALS)
		return;
	for (i = 1; i < GPB_COVER_INTERVALS; i++)
	{
		cover[i].first = 1;
		cover[i].last = 0;
	}
	cover[0].first = first;
	cover[0].last = last;
}

/*
 * Add the values of an INCLUDE column of float8 on a leaf to *sum.  Returns false if it does not
 * hold one of them.
 */
static bool
sum_floats(const char *page, const GpbLayout *layout, int column, GpbNarrowSum *sum)
{
	int			count = gpb_page_count(page);
	int			i;

	for (i = 0; i < count; i++)
	{
		const char *row = gpb_page_row(page, layout->row_width, i);

		if (!gpb_locator_column_is_null(gpb_row_locator(row), column - 1) &&
			!gpb_narrow_sum_add(sum, gpb_row_value(row, layout->offset[column - 1],
												   GPB_KIND_FLOAT8)))
			return false;
	}
	gpb_narrow_sum_normalize(sum);
	return true;
}

/* Add up key column c, counted from 0, of a key that has several. */
static void
sum_key_column(const char *page, const GpbLayout *layout, int c, GpbColumnState *state)
{
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	GpbKeyReader reader;
	int			i;

	if (count == 0)
		return;
	reader = gpb_read_keys(page, layout->key_width, row_width, 0);
	for (i = 0; i < count; i++)
	{
		GpbKey		key = gpb_next_key(&reader, layout->key_width, row_width, i);

		if (!gpb_key_column_is_null(layout, c, key))
			gpb_column_state_add(state, gpb_key_column_value(layout, c, key));
	}
}

/*
 * Add up all entries of a leaf for one column, of which "want" is wanted.  *sum, which is zero,
 * takes the exact sum of a float8; it may be NULL if that is not wanted.
 */
static void
sum_column(const GpbCellReader *reader, const char *page, const GpbAnswerColumn *column, int want,
		   GpbCellColumn *to, GpbNarrowSum *sum)
{
	const GpbLayout *layout = &reader->program->layout;
	int			c = column->column;
	GpbLeafPick pick = {NULL, 0, gpb_page_count(page)};
	GpbColumnState state;

	gpb_column_state_init(&state);
	if (c > layout->ncolumns)
		sum_key_column(page, layout, c - layout->ncolumns - 1, &state);
	else if (c == 0 && gpb_has_runs(gpb_page_row_width(page)))
		gpb_leaf_column_runs(page, layout, &pick, &state);
	else if (c == 0)
		gpb_leaf_column_keys(page, layout, &pick, &state);
	else
		gpb_leaf_column_rows(page, layout, c, want, &pick, &state, NULL);
	if (column->kind == GPB_KIND_FLOAT8 && (want & GPB_WANT_SUM) != 0 &&
		!sum_floats(page, layout, c, sum))
		want = (want & ~GPB_WANT_SUM) | GPB_WANT_UNHELD;
	to->column = (uint8) c;
	to->want = (uint8) want;
	to->count = (uint16) state.count;
	to->sum_high = (int16) state.sum_high;
	to->sum_low = state.sum_low;
	to->min = state.min;
	to->max = state.max;
}

/*
 * Fill in column i of the format, in a cell of its own.  What others wanted of it, of the same
 * state of the page, stays.
 */
static void
fill_column(const GpbCellReader *reader, const char *page, int i, const GpbCellHead *head,
			GpbCell *cell)
{
	const GpbAnswerColumn *column = &reader->format->column[i];
	int			want = gpb_cell_want(reader, i);
	GpbCellHint hint = {0};
	GpbCell		old;

	memset(cell, 0, sizeof(*cell));
	cell->head = *head;
	cell->head.name = gpb_cell_column_name(reader, column->column);
	if (gpb_cell_read(cell->head.name, head->block, &hint, &old) != NULL &&
		old.head.lsn == head->lsn && old.column.column.column == column->column)
		want |= old.column.column.want & ~GPB_WANT_UNHELD;
	sum_column(reader, page, column, want, &cell->column.column, &cell->column.sum);
}

/*
 * Which column of the format is to be in the leaf's cell itself?  The one that is there, of the
 * same state of the page; if none is, the first one that fits.  Returns -1 if none is.
 */
static int
inlined_column(const GpbCellReader *reader, const GpbLeafCell *cell)
{
	const GpbCellColumn *old = &cell->column;
	int			i;

	if (cell->wide)
		return -1;
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		if (!gpb_cell_sums_floats(reader, i) &&
			(old->column == GPB_CELL_NO_COLUMN ||
			 old->column == reader->format->column[i].column))
			return i;
	}
	return -1;
}

/* Fill in the leaf's bounds and links. */
static void
fill_bounds(const char *page, GpbLeafCell *cell)
{
	GpbBound	low = gpb_page_low(page);
	GpbBound	high = gpb_page_high((Page) page);

	cell->low_key = (uint64) low.key;
	cell->low_tie = low.tie;
	cell->high_key = (uint64) high.key;
	cell->high_tie = high.tie;
	cell->right = gpb_page_special(page)->right;
	cell->entries = (uint16) gpb_page_count(page);
	cell->wide = gpb_page_special(page)->key_width == GPB_WIDE_KEY;
	if (cell->wide)
	{
		cell->upper[0] = (uint64) (low.key >> 64);
		cell->upper[1] = (uint64) (high.key >> 64);
	}
	else
		cell->column.column = GPB_CELL_NO_COLUMN;
}

/*
 * Fill in the column of the leaf's cell.  One that another cell had of the same state of the page
 * stays.  Returns which column of the format the cell has, or -1.
 */
static int
fill_inlined(const GpbCellReader *reader, const char *page, GpbLeafCell *cell)
{
	GpbCellHint hint = {0};
	GpbCell		old;
	int			i;

	if (!cell->wide && gpb_cell_read(cell->head.name, cell->head.block, &hint, &old) != NULL &&
		old.head.lsn == cell->head.lsn && !old.leaf.wide)
		cell->column = old.leaf.column;
	i = inlined_column(reader, cell);
	if (i >= 0 && !gpb_leaf_cell_has(reader, cell, i, gpb_cell_want(reader, i)))
		sum_column(reader, page, &reader->format->column[i],
				   gpb_cell_want(reader, i) |
				   (cell->column.column == GPB_CELL_NO_COLUMN ? 0 : cell->column.want),
				   &cell->column, NULL);
	return i;
}

/* ---- recording ---- */

/*
 * Do the cells of the leaf have all that is wanted already, but for the buffer where it is now?  A
 * page that comes back into shared buffers often does so unchanged.  Then they are written anew
 * with the buffer, and *copy has them.
 */
static bool
record_buffer(GpbCellReader *reader, BlockNumber block, XLogRecPtr lsn, Buffer buffer,
			  GpbCellCopy *copy)
{
	GpbCellMiss miss;
	bool		unheld;
	int			i;

	copy->at = gpb_cell_read(reader->name, block, &reader->hint, &copy->leaf);
	if (copy->at == NULL || copy->leaf.head.lsn != lsn ||
		!gpb_cell_copy_columns(reader, copy, &unheld) ||
		(reader->counts && !gpb_leaf_values_copy(reader, copy, &miss)))
		return false;
	if (copy->leaf.head.buffer == buffer)
		return true;
	copy->leaf.head.buffer = buffer;
	gpb_cell_write(copy->at, &copy->leaf);
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		if (copy->column_at[i] == NULL)
			continue;
		copy->column[i].head.buffer = buffer;
		gpb_cell_write(copy->column_at[i], &copy->column[i]);
	}
	if (reader->counts)
		gpb_leaf_values_record_buffer(reader, copy, buffer);
	return true;
}

/* Does a leaf lead to a heap block that is known not to be all seen? */
static bool
leads_to_unseen(const GpbCellReader *reader, const GpbLeafCell *cell)
{
	int			i;

	for (i = 0; i < GPB_COVER_INTERVALS; i++)
	{
		if (gpb_seen_knows_unseen(&reader->seen, cell->cover[i].first, cell->cover[i].last))
			return true;
	}
	return false;
}

/*
 * Record the columns of the format in cells of their own, but for number "inlined".  Returns false
 * if a narrow sum does not hold a value.
 */
static bool
record_columns(const GpbCellReader *reader, const char *page, int inlined, GpbCellCopy *copy)
{
	bool		held = true;
	int			i;

	for (i = 0; i < reader->format->ncolumns; i++)
	{
		GpbCell    *cell = &copy->column[i];

		copy->column_at[i] = NULL;
		if (i == inlined)
			continue;
		fill_column(reader, page, i, &copy->leaf.head, cell);
		copy->column_at[i] = gpb_cell_choose(cell->head.name, cell->head.block, reader->turn);
		if (copy->column_at[i] != NULL)
			gpb_cell_write(copy->column_at[i], cell);
		else
			copy->column_at[i] = cell;
		held &= (gpb_cell_want(reader, i) & ~cell->column.column.want) == 0;
	}
	return held;
}

/* What came of recording a leaf */
typedef enum Recorded
{
	NOT_RECORDED,
	NOT_HELD,					/* but for a sum, since no narrow sum holds it */
	RECORDED
} Recorded;

/*
 * Record the leaf in this buffer.  *copy has its cells, unless it was not recorded.
 *
 * The LSN is read under the same hold of the lock as the entries [read after it, it may be that of
 * other entries].  Who only writes hints may change it meanwhile, which changes nothing of what is
 * recorded.
 */
static Recorded
record_leaf(GpbCellReader *reader, Buffer buffer, GpbCellCopy *copy)
{
	const char *page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);
	XLogRecPtr	lsn = BufferGetLSNAtomic(buffer);
	GpbLeafCell *cell = &copy->leaf.leaf;
	GpbCellMiss miss;
	bool		held;

	Assert(gpb_page_special(page)->level == 0 && gpb_page_special(page)->right != GPB_NO_BLOCK &&
		   (gpb_page_special(page)->flags & (GPB_PAGE_HAS_DEAD | GPB_PAGE_DELETED)) == 0);
	if (XLogRecPtrIsInvalid(lsn))
		return NOT_RECORDED;
	GPB_HOLD("cells-recording");
	reader->turn++;
	copy->counted = reader->counts;
	if (record_buffer(reader, block, lsn, buffer, copy))
		return RECORDED;
	copy->at = gpb_cell_choose(reader->name, block, reader->turn);
	if (copy->at == NULL)
		return NOT_RECORDED;
	memset(&copy->leaf, 0, sizeof(copy->leaf));
	cell->head.buffer = buffer;
	cell->head.block = block;
	cell->head.name = reader->name;
	cell->head.lsn = lsn;
	fill_bounds(page, cell);
	find_cover(page, cell->entries, cell->cover);
	/* Filters may pass a leaf by whose rows are not seen. */
	if (!reader->filters && leads_to_unseen(reader, cell))
	{
		gpb_cells_note_failure(reader, GPB_CELL_UNSEEN);
		return NOT_RECORDED;
	}
	held = record_columns(reader, page, fill_inlined(reader, page, cell), copy);
	if (reader->counts && !gpb_leaf_values_record(reader, page, copy, &miss))
	{
		gpb_cells_note_failure(reader, miss);
		held = false;
	}
	/* with it readers find out that no cell holds a sum, and do not record the leaf again */
	gpb_cell_write(copy->at, &copy->leaf);
	return held ? RECORDED : NOT_HELD;
}

bool
gpb_cells_record(GpbCellReader *reader, Buffer buffer, GpbCellTotal *total)
{
	GpbCellCopy copy;

	if (record_leaf(reader, buffer, &copy) != RECORDED)
		return false;
	if (copy.counted)
		gpb_leaf_values_add(reader, &copy, &total->values);
	else
		gpb_cell_add(reader, &copy, total);
	return true;
}

GpbZoneVerdict
gpb_cells_record_zone(GpbCellReader *reader, Buffer buffer)
{
	GpbCellCopy copy;
	GpbZoneVerdict verdict;

	if (record_leaf(reader, buffer, &copy) == NOT_RECORDED)
		return GPB_ZONE_MIXED;
	verdict = gpb_zone_cells_judge(reader, &copy);
	if (verdict == GPB_ZONE_MIXED)
		gpb_cells_note_failure(reader, GPB_CELL_MIXED);
	return verdict;
}
