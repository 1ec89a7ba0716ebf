/*-------------------------------------------------------------------------
 *
 * program_load.c
 *	  The columns of entries on a leaf, as values of a strip.
 *
 *-------------------------------------------------------------------------
 */
#include "program/program_load.h"

/* The bits that the locators of any of the entries have; contiguous is a constant. */
GPB_FN uint64
or_locators(const GpbStripSource *source, int row_width, bool contiguous)
{
	GpbLeafPick pick = source->pick;
	const char *rows = gpb_page_row(source->page, row_width, 0);
	const char *row = rows - pick.first * row_width;
	uint64		even = 0;
	uint64		odd = 0;
	int			i;

	for (i = 0; i + 1 < pick.n; i += 2)
	{
		even |= gpb_stored_locator(contiguous ? row : rows - pick.at[i] * row_width, row_width);
		odd |= gpb_stored_locator(contiguous ? row - row_width :
								  rows - pick.at[i + 1] * row_width, row_width);
		row -= 2 * row_width;
	}
	if (i < pick.n)
		even |= gpb_stored_locator(contiguous ? row : rows - pick.at[i] * row_width, row_width);
	return even | odd;
}

static uint64
source_locators(const GpbStripSource *source)
{
	if (gpb_has_runs(source->row_width))
		return source->pick.at == NULL ? or_locators(source, GPB_RUN_ROW_WIDTH, true) :
			or_locators(source, GPB_RUN_ROW_WIDTH, false);
	return source->pick.at == NULL ? or_locators(source, source->row_width, true) :
		or_locators(source, source->row_width, false);
}

/* ---- keys of a leaf with runs ---- */

/* Load what keys say of column c, or a half, which is the same for all entries of a run. */
static void
load_runs(const GpbLayout *layout, const GpbStripSource *source, int c, bool lower,
		  GpbStripSlot *slot)
{
	int			key_width = layout->key_width;
	const GpbLeafPick *pick = &source->pick;
	GpbKeyReader reader = gpb_read_keys(source->page, key_width, GPB_RUN_ROW_WIDTH,
										gpb_pick_position(pick, 0, pick->at == NULL));
	int			end;
	int			i;

	slot->has_nulls = false;
	for (i = 0; i < pick->n; i = end)
	{
		GpbKey		key = gpb_next_key(&reader, key_width, GPB_RUN_ROW_WIDTH,
									   gpb_pick_position(pick, i, pick->at == NULL));
		bool		is_null = c > 0 &&
			gpb_key_column_is_null(layout, c - layout->ncolumns - 1, key);
		int64		word = is_null ? 0 : gpb_key_word(layout, c, lower, key);
		int			at;

		end = gpb_pick_run_end(&reader, pick, i);
		for (at = i; at < end; at++)
			slot->words[at] = word;
		if (c > 0)
			memset(slot->nulls + i, is_null, end - i);
		slot->has_nulls |= is_null;
	}
}

/* ---- keys of other leaves ---- */

/* Load the keys as values; key_width, descending and contiguous are constants. */
GPB_FN void
load_key_values(const GpbStripSource *source, int key_width, int flags, bool contiguous,
				int64 *words)
{
	const char *page = source->page;
	GpbLeafPick pick = source->pick;
	int			i;

	for (i = 0; i < pick.n; i++)
	{
		GpbKey		key = gpb_page_key(page, key_width, gpb_pick_position(&pick, i, contiguous));

		words[i] = gpb_key_value((uint64) key, key_width, flags);
	}
}

/* Load halves of wide keys; lower and contiguous are constants. */
GPB_FN void
load_key_halves(const GpbStripSource *source, int flags, bool lower, bool contiguous, int64 *words)
{
	const char *page = source->page;
	GpbLeafPick pick = source->pick;
	int			i;

	for (i = 0; i < pick.n; i++)
	{
		GpbKey		key = gpb_page_key(page, GPB_WIDE_KEY,
									   gpb_pick_position(&pick, i, contiguous));

		words[i] = gpb_key_half(key, flags, lower);
	}
}

static void
load_wide_keys(const GpbLayout *layout, const GpbStripSource *source, bool lower, int64 *words)
{
	if (source->pick.at == NULL && !lower)
		load_key_halves(source, layout->flags, false, true, words);
	else if (source->pick.at == NULL)
		load_key_halves(source, layout->flags, true, true, words);
	else
		load_key_halves(source, layout->flags, lower, false, words);
}

/*
 * Load the keys, or a half of each.  With NULLS FIRST each locator says whether its key is NULL.
 */
static void
load_keys(const GpbLayout *layout, const GpbStripSource *source, bool lower, GpbStripSlot *slot)
{
	bool		ascending = (layout->flags & GPB_LAYOUT_DESC) == 0;
	int			i;

	if (gpb_has_runs(source->row_width))
		load_runs(layout, source, 0, lower, slot);
	else if (gpb_is_wide(layout->key_width))
		load_wide_keys(layout, source, lower, slot->words);
	else if (source->pick.at != NULL)
		load_key_values(source, layout->key_width, layout->flags, false, slot->words);
	else if (layout->key_width == 8 && ascending)
		load_key_values(source, 8, 0, true, slot->words);
	else if (layout->key_width == 4 && ascending)
		load_key_values(source, 4, 0, true, slot->words);
	else
		load_key_values(source, layout->key_width, layout->flags, true, slot->words);
	slot->has_nulls = false;
	if ((layout->flags & GPB_LAYOUT_NULLS_FIRST) == 0 &&
		(source->locators & GPB_LOC_ORDER_BIT) == 0)
		return;
	for (i = 0; i < source->pick.n; i++)
	{
		int			at = gpb_pick_position(&source->pick, i, source->pick.at == NULL);
		uint64		locator = gpb_page_locator(source->page, source->row_width, at);
		bool		is_null = gpb_locator_is_null(locator, layout->flags);

		slot->nulls[i] = is_null;
		slot->has_nulls |= is_null;
		if (is_null)
			slot->words[i] = 0;
	}
}

/* Load the values of an INCLUDE column; kind, contiguous and nulls are constants. */
GPB_FN void
load_values(const GpbLeafColumn *column, const GpbLeafPick *pick, int kind, bool contiguous,
			bool nulls, GpbStripSlot *slot)
{
	const GpbLeafColumn from = *column;
	const char *row = from.rows - pick->first * from.stride;
	int64	   *words = slot->words;
	uint8	   *null_bytes = slot->nulls;
	int			n = pick->n;
	int			i;

	for (i = 0; i < n; i++)
	{
		int64		word;

		if (!contiguous)
			row = from.rows - pick->at[i] * from.stride;
		word = gpb_row_value(row, from.offset, kind);
		if (nulls)
		{
			bool		is_null = (gpb_row_locator(row) & from.null_bit) != 0;

			null_bytes[i] = is_null;
			word &= (int64) is_null - 1;
		}
		words[i] = word;
		if (contiguous)
			row -= from.stride;
	}
}

/* Choose the loop by how the entries lie, and by whether any of the values may be NULL. */
GPB_FN void
load_kind(const GpbLeafColumn *column, const GpbLeafPick *pick, int kind, GpbStripSlot *slot)
{
	if (slot->has_nulls && pick->at == NULL)
		load_values(column, pick, kind, true, true, slot);
	else if (slot->has_nulls)
		load_values(column, pick, kind, false, true, slot);
	else if (pick->at == NULL)
		load_values(column, pick, kind, true, false, slot);
	else
		load_values(column, pick, kind, false, false, slot);
}

/* Load the values of a key column; the widths of keys, and contiguous, are constants. */
GPB_FN void
load_fields(const GpbStripSource *source, GpbKeyColumn column, int key_width, bool contiguous,
			GpbStripSlot *slot)
{
	bool		may_be_null = gpb_column_has_null(column);
	GpbKey		null = gpb_null_field(column);
	int64	   *words = slot->words;
	uint8	   *nulls = slot->nulls;
	GpbLeafPick pick = source->pick;
	uint8		any = 0;
	int			i;

	for (i = 0; i < pick.n; i++)
	{
		GpbKey		key = gpb_page_key(source->page, key_width,
									   gpb_pick_position(&pick, i, contiguous));
		GpbKey		field = gpb_key_field(column, key);
		bool		is_null = may_be_null && field == null;

		nulls[i] = is_null;
		any |= is_null;
		words[i] = gpb_field_value(column, field) & ((int64) is_null - 1);
	}
	slot->has_nulls = any != 0;
}

/* Load column c of a program, which is one of a key that has several. */
static void
load_key_column(const GpbLayout *layout, const GpbStripSource *source, int c, GpbStripSlot *slot)
{
	GpbKeyColumn column = layout->key[c - layout->ncolumns - 1];

	if (gpb_has_runs(source->row_width))
		load_runs(layout, source, c, false, slot);
	else if (source->pick.at != NULL)
		load_fields(source, column, layout->key_width, false, slot);
	else if (layout->key_width == 8)
		load_fields(source, column, 8, true, slot);
	else
		load_fields(source, column, layout->key_width, true, slot);
}

/* Choose the loop by the kind of an INCLUDE column's values, or of their lower halves. */
static void
load_kinds(const GpbLeafColumn *column, const GpbLeafPick *pick, int kind, GpbStripSlot *slot)
{
	switch (kind)
	{
		case GPB_KIND_INT2:
			load_kind(column, pick, GPB_KIND_INT2, slot);
			break;
		case GPB_KIND_INT4:
			load_kind(column, pick, GPB_KIND_INT4, slot);
			break;
		case GPB_KIND_INT128:
			load_kind(column, pick, GPB_KIND_INT128, slot);
			break;
		case GPB_KIND_INT128_LOWER:
			load_kind(column, pick, GPB_KIND_INT128_LOWER, slot);
			break;
		case GPB_KIND_BYTES16:
			load_kind(column, pick, GPB_KIND_BYTES16, slot);
			break;
		case GPB_KIND_BYTES16_LOWER:
			load_kind(column, pick, GPB_KIND_BYTES16_LOWER, slot);
			break;
		default:
			load_kind(column, pick, GPB_KIND_INT8, slot);
			break;
	}
}

void
gpb_load_column(const GpbProgram *program, GpbStripSource *source, int s,
				const GpbStripSlot *room, GpbStripSlot *slot)
{
	const GpbLayout *layout = &program->layout;
	GpbLeafColumn column;
	bool		lower;
	int			c = gpb_slot_column(program, s, &lower);
	int			kind;

	if (!source->has_locators)
		source->locators = source_locators(source);
	source->has_locators = true;
	*slot = *room;
	if (c == 0)
	{
		load_keys(layout, source, lower, slot);
		return;
	}
	if (c > layout->ncolumns)
	{
		load_key_column(layout, source, c, slot);
		return;
	}
	column = gpb_leaf_column(source->page, layout, c);
	slot->has_nulls = (source->locators & column.null_bit) != 0;
	kind = layout->kind[c - 1];
	load_kinds(&column, &source->pick, lower ? gpb_lower_kind(kind) : kind, slot);
}
