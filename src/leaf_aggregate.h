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

#include "aggregate.h"

/* No page holds more entries: 4-byte keys with a bare locator. */
#define GPB_MAX_LEAF_ENTRIES \
	(GPB_PAGE_SPACE / (4 + GPB_LOCATOR_WIDTH))

/* ---- columns ---- */

/* GpbKind of a column: 0 is the key. */
GPB_FN int
gpb_column_kind(const GpbLayout *layout, int column)
{
	return column == 0 ? layout->key_kind : layout->kind[column - 1];
}

/* Does the column have a GpbFloatSum of its own? */
GPB_FN bool
gpb_column_has_float_sum(const GpbAggregateSpec *spec, int column)
{
	return (spec->want[column] & GPB_WANT_SUM) != 0 &&
		gpb_column_kind(&spec->layout, column) == GPB_KIND_FLOAT8;
}

/* Position of the column's GpbFloatSum among those of the request. */
GPB_FN int
gpb_column_float_sum(const GpbAggregateSpec *spec, int column)
{
	int			n = 0;
	int			c;

	for (c = 0; c < column; c++)
		n += gpb_column_has_float_sum(spec, c);
	return n;
}

/* How many GpbFloatSum a request needs; one for each such column, in order. */
GPB_FN int
gpb_count_float_sums(const GpbAggregateSpec *spec)
{
	return gpb_column_float_sum(spec, spec->layout.ncolumns + 1);
}

GPB_FN void
gpb_aggregate_state_init(GpbAggregateState *state)
{
	int			c;

	state->entries = 0;
	for (c = 0; c < GPB_MAX_COLUMNS; c++)
		gpb_column_state_init(&state->column[c]);
}

/* Both over the same columns. */
GPB_FN void
gpb_aggregate_state_merge(GpbAggregateState *into, const GpbAggregateState *from)
{
	int			c;

	into->entries += from->entries;
	for (c = 0; c < GPB_MAX_COLUMNS; c++)
	{
		if (from->column[c].count > 0)
			gpb_column_state_merge(&into->column[c], &from->column[c]);
	}
}

/* ---- one entry ---- */

/*
 * Add one entry that is known to be visible.  sums as in
 * GpbDeviceApi.aggregate_finish.
 */
GPB_FN void
gpb_entry_aggregate(const GpbAggregateSpec *spec, uint64 key, const char *row,
					GpbAggregateState *state, GpbFloatSum *sums)
{
	const GpbLayout *layout = &spec->layout;
	uint64		locator = gpb_row_locator(row);
	int			c;

	state->entries++;
	if (spec->want[0] && !gpb_locator_is_null(locator, layout->flags))
		gpb_column_state_add(&state->column[0],
							 gpb_key_value(key, layout->key_width, layout->flags));
	for (c = 1; c <= layout->ncolumns; c++)
	{
		int64		value;

		if (!spec->want[c] || gpb_locator_column_is_null(locator, c - 1))
			continue;
		value = gpb_row_value(row, layout->offset[c - 1], layout->kind[c - 1]);
		if (gpb_column_has_float_sum(spec, c))
			gpb_float_sum_add(&sums[gpb_column_float_sum(spec, c)], value);
		if (layout->kind[c - 1] == GPB_KIND_FLOAT8)
			value = gpb_float_order(value);
		gpb_column_state_add(&state->column[c], value);
	}
}

/* ---- one leaf ---- */

/*
 * The entries of a leaf that count: n of them, at the positions given or, where
 * "at" is NULL, one after the other from "first".  On a table that was vacuumed the latter is
 * nearly every leaf, so each loop below exists twice: "contiguous" is a
 * constant wherever it is passed.
 */
typedef struct GpbLeafPick
{
	const uint16 *at;
	int			first;
	int			n;
} GpbLeafPick;

GPB_FN int
gpb_pick_position(const GpbLeafPick *pick, int i, bool contiguous)
{
	return contiguous ? pick->first + i : pick->at[i];
}

/* Where a column's values lie */
typedef struct GpbLeafColumn
{
	const char *rows;			/* row 0; row i lies i * stride before it */
	int			stride;
	int			offset;
	uint64		null_bit;		/* in the locator */
} GpbLeafColumn;

/* count, sum, min and max of an integer column; kind and want are constants. */
GPB_FN void
gpb_leaf_column_integers(const GpbLeafColumn *column, const GpbLeafPick *pick,
						 bool contiguous, int kind, int want, GpbColumnState *state)
{
	int64		count = 0;
	uint64		low = 0;		/* of int2 and int4 the whole sum */
	int64		high = 0;
	int64		min = state->min;
	int64		max = state->max;
	int			i;

	for (i = 0; i < pick->n; i++)
	{
		const char *row = column->rows -
			gpb_pick_position(pick, i, contiguous) * column->stride;
		bool		valid = (gpb_row_locator(row) & column->null_bit) == 0;
		int64		value = gpb_row_value(row, column->offset, kind);
		int64		term = valid ? value : 0;

		count += valid;
		if (want & GPB_WANT_SUM)
		{
			low += (uint64) term;
			if (kind == GPB_KIND_INT8)
				high += (term >> 63) + (low < (uint64) term);
		}
		if (want & GPB_WANT_MINMAX)
		{
			min = valid && value < min ? value : min;
			max = valid && value > max ? value : max;
		}
	}
	if (kind != GPB_KIND_INT8)
		high = (int64) low >> 63;
	state->count += count;
	state->sum_low += low;
	state->sum_high += high + (state->sum_low < low);
	state->min = min;
	state->max = max;
}

/* The same, the loop chosen by what is wanted and how the entries lie. */
GPB_FN void
gpb_leaf_column_kind(const GpbLeafColumn *column, const GpbLeafPick *pick,
					 int kind, int want, GpbColumnState *state)
{
	const int	all = GPB_WANT_SUM | GPB_WANT_MINMAX;

	if (pick->at != NULL)
		gpb_leaf_column_integers(column, pick, false, kind, all, state);
	else if ((want & GPB_WANT_MINMAX) == 0)
		gpb_leaf_column_integers(column, pick, true, kind, GPB_WANT_SUM, state);
	else
		gpb_leaf_column_integers(column, pick, true, kind, all, state);
}

/* float8; sum is NULL if no sum is wanted. */
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
		state->count++;
		if (order < state->min)
			state->min = order;
		if (order > state->max)
			state->max = order;
		if (sum != NULL)
			gpb_float_sum_add(sum, bits);
	}
}

/* The key column, from the key array. */
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
							 gpb_key_value(gpb_page_key(page, layout->key_width, at),
										   layout->key_width, layout->flags));
	}
}

/* INCLUDE column c - 1. */
GPB_FN void
gpb_leaf_column_rows(const void *page, const GpbAggregateSpec *spec, int c,
					 const GpbLeafPick *pick, GpbColumnState *state,
					 GpbFloatSum *sum)
{
	const GpbLayout *layout = &spec->layout;
	int			want = spec->want[c];
	GpbLeafColumn column;

	column.rows = gpb_page_row(page, layout->row_width, 0);
	column.stride = layout->row_width;
	column.offset = layout->offset[c - 1];
	column.null_bit = (uint64) 1 << (GPB_LOC_NULL_SHIFT + c - 1);

	switch (layout->kind[c - 1])
	{
		case GPB_KIND_INT2:
			gpb_leaf_column_kind(&column, pick, GPB_KIND_INT2, want, state);
			break;
		case GPB_KIND_INT4:
			gpb_leaf_column_kind(&column, pick, GPB_KIND_INT4, want, state);
			break;
		case GPB_KIND_INT8:
			gpb_leaf_column_kind(&column, pick, GPB_KIND_INT8, want, state);
			break;
		default:
			gpb_leaf_column_floats(&column, pick, state, sum);
			break;
	}
}

/* Add the picked entries of a leaf. */
GPB_FN void
gpb_leaf_add(const void *page, const GpbAggregateSpec *spec, const GpbLeafPick *pick,
			 GpbAggregateState *state, GpbFloatSum *sums)
{
	const GpbLayout *layout = &spec->layout;
	int			c;

	state->entries += pick->n;
	if (spec->want[0])
		gpb_leaf_column_keys(page, layout, pick, &state->column[0]);
	for (c = 1; c <= layout->ncolumns; c++)
	{
		GpbFloatSum *sum = NULL;

		if (!spec->want[c])
			continue;
		if (gpb_column_has_float_sum(spec, c))
			sum = &sums[gpb_column_float_sum(spec, c)];
		gpb_leaf_column_rows(page, spec, c, pick, &state->column[c], sum);
	}
}

/*
 * Aggregate the entries at positions [from, to) of a sound leaf page.
 *
 * visible[i - from] says whether entry i's heap block is all-visible (1) or not
 * (0); NULL stands for all ones.  Entries that are are added to *state and *sums; the positions of the others
 * go to *unknown, ascending, which has room for to - from of them; their number is returned.
 * Entries hinted dead are left out of both, unless the spec ignores the hints.  (A hint
 * on a page without GPB_PAGE_HAS_DEAD may be overlooked: it saves a visit, no more.)
 */
GPB_FN int
gpb_leaf_aggregate(const void *page, const GpbAggregateSpec *spec, int from, int to,
				   const uint8 *visible, GpbAggregateState *state,
				   GpbFloatSum *sums, uint16 *unknown)
{
	bool		hints = !spec->ignore_dead_hints &&
		(gpb_page_special(page)->flags & GPB_PAGE_HAS_DEAD) != 0;
	uint16		counted[GPB_MAX_LEAF_ENTRIES];
	GpbLeafPick pick = {NULL, from, to - from};
	int			nunknown = 0;
	int			i;

	if (from >= to)
		return 0;
	if (hints || (visible != NULL && memchr(visible, 0, to - from) != NULL))
	{
		uint64		dead = hints ? GPB_LOC_DEAD : 0;

		pick.at = counted;
		pick.n = 0;
		for (i = from; i < to; i++)
		{
			const char *row = gpb_page_row(page, spec->layout.row_width, i);
			bool		alive = (gpb_row_locator(row) & dead) == 0;
			bool		known = visible == NULL || visible[i - from];

			counted[pick.n] = (uint16) i;
			unknown[nunknown] = (uint16) i;
			pick.n += alive & known;
			nunknown += alive & !known;
		}
	}
	gpb_leaf_add(page, spec, &pick, state, sums);
	return nunknown;
}

#endif							/* GPB_LEAF_AGGREGATE_H */
