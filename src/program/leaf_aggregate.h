/*-------------------------------------------------------------------------
 *
 * leaf_aggregate.h
 *	  Aggregate the entries of one leaf page, on the CPU.
 *
 * Plain C, free of PostgreSQL headers: the CPU engine of the executor and the host
 * device share the loop.  The caller chooses the positions and says what the
 * visibility map has for each; entries that it cannot vouch for come back as
 * positions to be checked in the heap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LEAF_AGGREGATE_H
#define GPB_LEAF_AGGREGATE_H

#include "program/answer.h"
#include "program/leaf_sum.h"

/* ---- one leaf ---- */

/*
 * The entries of a leaf that count: n of them, at the positions in "at", or, if "at" is NULL, one
 * after the other from position "first".  Of a table that was vacuumed nearly every leaf has them
 * so, which is why "contiguous" is passed as a constant: it makes the compiler build each loop
 * twice.
 */
typedef struct GpbLeafPick
{
	const uint16 *at;
	int			first;
	int			n;
} GpbLeafPick;

/* The position on the leaf of picked entry i. */
GPB_FN int
gpb_pick_position(const GpbLeafPick *pick, int i, bool contiguous)
{
	return contiguous ? pick->first + i : pick->at[i];
}

/* Where the values of an INCLUDE column lie on a leaf */
typedef struct GpbLeafColumn
{
	const char *rows;			/* row 0; row i lies i * stride before it */
	int			stride;
	int			offset;
	uint64		null_bit;		/* of this column, in the locator */
} GpbLeafColumn;

/* INCLUDE column number c, counted from 1, of a leaf */
GPB_FN GpbLeafColumn
gpb_leaf_column(const void *page, const GpbLayout *layout, int c)
{
	GpbLeafColumn column;

	column.rows = gpb_page_row(page, layout->row_width, 0);
	column.stride = layout->row_width;
	column.offset = layout->offset[c - 1];
	column.null_bit = (uint64) 1 << (GPB_LOC_NULL_SHIFT + c - 1);
	return column;
}

/*
 * Add the picked values of an integer column to its count, sum, min and max.  Callers pass nulls,
 * which says whether any of the values may be NULL, kind and want as constants, so that the
 * compiler builds a loop for each.
 *
 * Returns false, with nothing added, if nulls is false and a value is NULL.  The flags of entries
 * are gathered while the values are added, so nothing is tested for each entry.
 *
 * The values of a leaf are at most GPB_MAX_LEAF_ENTRIES, so neither the sum of their lower halves
 * nor that of their upper halves overflows 64 bits.
 */
GPB_FN bool
gpb_leaf_column_integers(const GpbLeafColumn *column, const GpbLeafPick *pick,
						 bool contiguous, bool nulls, int kind, int want, GpbColumnState *state)
{
	const char *row = column->rows - pick->first * column->stride;
	int64		count = 0;
	int64		low = 0;		/* the whole sum, if the values are int2 or int4 */
	int64		high = 0;
	int64		min = state->min;
	int64		max = state->max;
	uint64		bits = 0;		/* of the locators, all together */
	uint64		sum_low;
	int			i;

	for (i = 0; i < pick->n; i++)
	{
		bool		valid;
		int64		value;
		int64		term;

		if (!contiguous)
			row = column->rows - pick->at[i] * column->stride;
		if (!nulls)
			bits |= gpb_row_locator(row);
		valid = !nulls || (gpb_row_locator(row) & column->null_bit) == 0;
		value = gpb_row_value(row, column->offset, kind);
		term = valid ? value : 0;
		count += valid;
		if (want & GPB_WANT_SUM)
		{
			low += kind == GPB_KIND_INT8 ? (int64) (uint32) term : term;
			if (kind == GPB_KIND_INT8)
				high += term >> 32;
		}
		if (want & GPB_WANT_MINMAX)
		{
			min = valid && value < min ? value : min;
			max = valid && value > max ? value : max;
		}
		if (contiguous)
			row -= column->stride;
	}
	if (!nulls && (bits & column->null_bit) != 0)
		return false;
	sum_low = (uint64) low + ((uint64) high << 32);
	if (kind == GPB_KIND_INT8)
		high = (high >> 32) + (sum_low < (uint64) low);
	else
		high = low >> 63;
	gpb_column_state_add_many(state, count, sum_low, high, min, max);
	return true;
}

/*
 * Add the picked values of the only INCLUDE column, which is int4 and of which the count and the
 * sum are wanted.  The entries lie one after the other.  Returns false, with nothing added, if a
 * value is NULL.
 */
GPB_FN bool
gpb_leaf_column_int4_sum(const GpbLeafColumn *column, const GpbLeafPick *pick,
						 GpbColumnState *state)
{
	const char *rows = column->rows - (pick->first + pick->n - 1) * GPB_INT4_ROW_WIDTH;
	uint16		flags;
	int64		sum = gpb_sum_int4_rows(rows, pick->n, &flags);

	if (((uint64) flags << 48 & column->null_bit) != 0)
		return false;
	gpb_column_state_add_many(state, pick->n, (uint64) sum, sum >> 63, state->min, state->max);
	return true;
}

/*
 * Choose the loop of gpb_leaf_column_integers() for this kind of column, by what is wanted of it,
 * by how the picked entries lie, and by whether any of the values is NULL.
 */
GPB_FN void
gpb_leaf_column_kind(const GpbLeafColumn *column, const GpbLeafPick *pick,
					 int kind, int want, GpbColumnState *state)
{
	const int	all = GPB_WANT_SUM | GPB_WANT_MINMAX;

	if (pick->at == NULL && kind == GPB_KIND_INT4 && (want & GPB_WANT_MINMAX) == 0 &&
		column->stride == GPB_INT4_ROW_WIDTH && gpb_leaf_column_int4_sum(column, pick, state))
		return;
	if (pick->at != NULL)
		(void) gpb_leaf_column_integers(column, pick, false, true, kind, all, state);
	else if (!((want & GPB_WANT_MINMAX) == 0 ?
			   gpb_leaf_column_integers(column, pick, true, false, kind, GPB_WANT_SUM, state) :
			   gpb_leaf_column_integers(column, pick, true, false, kind, all, state)))
		(void) gpb_leaf_column_integers(column, pick, true, true, kind, all, state);
}

/*
 * Add the picked values of a float8 column to its state and to the exact sum, which is NULL if no
 * sum is wanted.
 */
GPB_FN void
gpb_leaf_column_floats(const GpbLeafColumn *column, const GpbLeafPick *pick,
					   GpbColumnState *state, GpbFloatSum *sum)
{
	bool		contiguous = pick->at == NULL;
	int			i;

	for (i = 0; i < pick->n; i++)
	{
		const char *row = column->rows -
			gpb_pick_position(pick, i, contiguous) * column->stride;
		int64		bits;
		int64		order;

		if (gpb_row_locator(row) & column->null_bit)
			continue;
		bits = gpb_row_value(row, column->offset, GPB_KIND_FLOAT8);
		order = gpb_float_order(bits);
		gpb_column_state_add_many(state, 1, 0, 0, order, order);
		if (sum != NULL)
			gpb_float_sum_add(sum, bits);
	}
}

/* Add one value n times to the state of a column. */
GPB_FN void
gpb_column_state_add_times(GpbColumnState *state, int64 value, int n)
{
	__int128	sum = (__int128) value * n;

	if (n > 0)
		gpb_column_state_add_many(state, n, (uint64) sum, (int64) (sum >> 64), value, value);
}

/* How many of the picked entries [first, end) of a leaf have keys that are not NULL? */
GPB_FN int
gpb_pick_count_keys(const void *page, int row_width, const GpbLeafPick *pick, int first, int end,
					int layout_flags)
{
	bool		contiguous = pick->at == NULL;
	int			n = 0;

	for (; first < end; first++)
		n += !gpb_locator_is_null(gpb_page_locator(page, row_width,
												   gpb_pick_position(pick, first, contiguous)),
								  layout_flags);
	return n;
}

/*
 * Find the end of the picked entries, from number "first" on, that are of the run whose key the
 * reader has just read for that one.
 */
GPB_FN int
gpb_pick_run_end(const GpbKeyReader *reader, const GpbLeafPick *pick, int first)
{
	int			end = first + 1;

	if (pick->at == NULL)
	{
		if (reader->end > pick->first + end)
			end = reader->end - pick->first;
		return end < pick->n ? end : pick->n;
	}
	while (end < pick->n && pick->at[end] < reader->end)
		end++;
	return end;
}

/* Add the picked keys of a leaf with runs to the state of column 0. */
GPB_FN void
gpb_leaf_column_runs(const void *page, const GpbLayout *layout, const GpbLeafPick *pick,
					 GpbColumnState *state)
{
	int			key_width = layout->key_width;
	GpbKey		null_key = (layout->flags & GPB_LAYOUT_NULLS_FIRST) ? 0 : gpb_key_most(key_width);
	GpbKeyReader reader;
	int			end;
	int			i;

	if (pick->n == 0)
		return;
	reader = gpb_read_keys(page, key_width, GPB_RUN_ROW_WIDTH,
						   gpb_pick_position(pick, 0, pick->at == NULL));
	for (i = 0; i < pick->n; i = end)
	{
		GpbKey		key = gpb_next_key(&reader, key_width, GPB_RUN_ROW_WIDTH,
									   gpb_pick_position(pick, i, pick->at == NULL));
		int			n;

		end = gpb_pick_run_end(&reader, pick, i);
		n = key != null_key ? end - i :
			gpb_pick_count_keys(page, GPB_RUN_ROW_WIDTH, pick, i, end, layout->flags);
		gpb_column_state_add_times(state, gpb_key_value((uint64) key, key_width, layout->flags), n);
	}
}

/* Add the picked keys of a leaf without runs to the state of column 0. */
GPB_FN void
gpb_leaf_column_keys(const void *page, const GpbLayout *layout,
					 const GpbLeafPick *pick, GpbColumnState *state)
{
	bool		contiguous = pick->at == NULL;
	int			i;

	for (i = 0; i < pick->n; i++)
	{
		int			at = gpb_pick_position(pick, i, contiguous);
		uint64		locator = gpb_row_locator(gpb_page_row(page, layout->row_width, at));

		if (gpb_locator_is_null(locator, layout->flags))
			continue;
		gpb_column_state_add(state,
							 gpb_key_value((uint64) gpb_page_key(page, layout->key_width, at),
										   layout->key_width, layout->flags));
	}
}

/*
 * Add the picked values of column c, INCLUDE column c - 1 of which "want" is wanted, to its state,
 * and, if it is float8 and its sum is wanted, to the exact sum.
 */
GPB_FN void
gpb_leaf_column_rows(const void *page, const GpbLayout *layout, int c, int want,
					 const GpbLeafPick *pick, GpbColumnState *state, GpbFloatSum *sum)
{
	GpbLeafColumn column = gpb_leaf_column(page, layout, c);

	switch (layout->kind[c - 1])
	{
		case GPB_KIND_INT2:
			gpb_leaf_column_kind(&column, pick, GPB_KIND_INT2, want, state);
			break;
		case GPB_KIND_INT4:
			gpb_leaf_column_kind(&column, pick, GPB_KIND_INT4, want, state);
			break;
		case GPB_KIND_INT8:
		case GPB_KIND_WIDE:		/* counted, and no more, and so the next */
		case GPB_KIND_INT128:
		case GPB_KIND_BYTES16:
			gpb_leaf_column_kind(&column, pick, GPB_KIND_INT8, want, state);
			break;
		default:
			gpb_leaf_column_floats(&column, pick, state, sum);
			break;
	}
}

/* What is known of an entry's row without a visit to the heap */
typedef enum GpbEntryState
{
	GPB_ENTRY_UNKNOWN = 0,
	GPB_ENTRY_SEEN = 1,			/* the snapshot sees it, since its heap page is all-visible, say */
	GPB_ENTRY_UNSEEN = 2		/* the snapshot does not see it */
} GpbEntryState;

/*
 * Pick the entries that are seen, one by one, for gpb_leaf_pick(), and write the positions of those
 * that are unknown.  Entries whose locators have a bit of "dead" are neither.
 */
GPB_FN int
gpb_pick_entries(const void *page, int row_width, int from, int to, uint64 dead,
				 const uint8 *visible, GpbLeafPick *pick, uint16 *counted, uint16 *unknown)
{
	int			nunknown = 0;
	int			n = 0;
	int			i;

	for (i = from; i < to; i++)
	{
		bool		alive = (gpb_page_locator(page, row_width, i) & dead) == 0;
		int			state = visible == NULL ? GPB_ENTRY_SEEN : visible[i - from];

		counted[n] = (uint16) i;
		unknown[nunknown] = (uint16) i;
		n += alive & (state == GPB_ENTRY_SEEN);
		nunknown += alive & (state == GPB_ENTRY_UNKNOWN);
	}
	pick->n = n;
	return nunknown;
}

/*
 * Choose among the entries at positions [from, to), from < to, of a sound leaf page.
 *
 * visible[i - from] is a GpbEntryState of entry i; NULL stands for all seen.  Entries that are seen
 * make up *pick, whose positions, where they are needed, are at *counted.  The positions of those
 * of which it is not known go to *unknown, ascending, and their number is returned.  Both arrays
 * have room for to - from positions.
 *
 * Entries hinted dead are left out of both, unless the program ignores the hints.  A hint on a page
 * without GPB_PAGE_HAS_DEAD may be overlooked, which costs a heap visit and no more.
 */
GPB_FN int
gpb_leaf_pick(const void *page, const GpbProgram *program, int from, int to,
			  const uint8 *visible, GpbLeafPick *pick, uint16 *counted, uint16 *unknown)
{
	int			row_width = gpb_page_row_width(page);
	bool		hints = !program->ignore_dead_hints &&
		(gpb_page_special(page)->flags & GPB_PAGE_HAS_DEAD) != 0;
	uint64		dead = hints ? GPB_LOC_DEAD : 0;

	pick->at = NULL;
	pick->first = from;
	pick->n = to - from;
	if (!hints && (visible == NULL ||
				   (memchr(visible, GPB_ENTRY_UNKNOWN, to - from) == NULL &&
					memchr(visible, GPB_ENTRY_UNSEEN, to - from) == NULL)))
		return 0;
	pick->at = counted;
	return gpb_has_runs(row_width) ?
		gpb_pick_entries(page, GPB_RUN_ROW_WIDTH, from, to, dead, visible, pick, counted,
						 unknown) :
		gpb_pick_entries(page, row_width, from, to, dead, visible, pick, counted, unknown);
}

/* Add the picked keys of a leaf with runs to what an answer has of column 0. */
GPB_FN_APART void
gpb_leaf_answer_runs(const void *page, const GpbLayout *layout, const GpbAnswerColumn *column,
					 const GpbLeafPick *pick, int64 *answer)
{
	GpbColumnState state;

	gpb_column_state_init(&state);
	gpb_leaf_column_runs(page, layout, pick, &state);
	gpb_answer_add_state(column, answer, &state);
}

/* Add the picked entries of a leaf to an answer, column by column. */
GPB_FN void
gpb_leaf_answer(const void *page, const GpbProgram *program, const GpbAnswerFormat *format,
				const GpbLeafPick *pick, int64 *answer)
{
	int			i;

	answer[0] += pick->n;
	for (i = 0; i < format->ncolumns; i++)
	{
		const GpbAnswerColumn *column = &format->column[i];
		GpbColumnState state;

		if (column->column == 0 && gpb_has_runs(gpb_page_row_width(page)))
		{
			gpb_leaf_answer_runs(page, &program->layout, column, pick, answer);
			continue;
		}
		gpb_column_state_init(&state);
		if (column->column == 0)
			gpb_leaf_column_keys(page, &program->layout, pick, &state);
		else
			gpb_leaf_column_rows(page, &program->layout, column->column,
								 program->want[column->column], pick, &state,
								 column->float_sum == 0 ? NULL :
								 gpb_answer_float_sum(column, answer));
		gpb_answer_add_state(column, answer, &state);
	}
}

#endif							/* GPB_LEAF_AGGREGATE_H */
