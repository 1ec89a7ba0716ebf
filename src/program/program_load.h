/*-------------------------------------------------------------------------
 *
 * program_load.h
 *	  The columns of entries, as values of a program: of many on a leaf, or of a single one.
 *
 * Plain C, free of PostgreSQL headers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_LOAD_H
#define GPB_PROGRAM_LOAD_H

#include "program/leaf_aggregate.h"
#include "program/program_strip.h"

/* ---- one entry ---- */

/*
 * What a key says of column c of a program, which is the key, or its upper or lower half, or one of
 * the columns of a key that has several.
 */
GPB_FN int64
gpb_key_word(const GpbLayout *layout, int c, bool lower, GpbKey key)
{
	if (c > 0)
		return gpb_key_column_value(layout, c - layout->ncolumns - 1, key);
	return gpb_is_wide(layout->key_width) ? gpb_key_half(key, layout->flags, lower) :
		gpb_key_value((uint64) key, layout->key_width, layout->flags);
}

/*
 * The value of column c of an entry, or its upper or lower half: see gpb_slot_column().  The word
 * of a NULL is 0.
 */
GPB_FN GpbValue
gpb_entry_value(const GpbLayout *layout, int c, bool lower, GpbKey key, const char *row)
{
	uint64		locator = gpb_row_locator(row);
	GpbValue	value;

	if (c > 0 && c <= layout->ncolumns)
	{
		int			kind = layout->kind[c - 1];

		value.is_null = gpb_locator_column_is_null(locator, c - 1);
		value.word = gpb_row_value(row, layout->offset[c - 1],
								   lower ? gpb_lower_kind(kind) : kind);
	}
	else
	{
		value.is_null = c == 0 ? gpb_locator_is_null(locator, layout->flags) :
			gpb_key_column_is_null(layout, c - layout->ncolumns - 1, key);
		value.word = gpb_key_word(layout, c, lower, key);
	}
	if (value.is_null)
		value.word = 0;
	return value;
}

/* ---- entries of a leaf ---- */

/* The entries of a strip on a leaf; at is NULL as long as they lie one after the other. */
typedef struct GpbStripSource
{
	const char *page;			/* NULL: the columns were loaded as entries were gathered */
	int			row_width;		/* of the page */
	GpbLeafPick pick;
	uint64		locators;		/* a bit is set if it is in any entry's locator */
	bool		has_locators;	/* is "locators" set? */
	const uint32 *number;		/* of the entries' ranges; NULL if all belong to one */
	uint32		one_number;
	const int64 *weight;		/* how often each counts; NULL: once */
} GpbStripSource;

/*
 * Load the column of slot s of a program, or the halves that it has, of the source's entries, into
 * *slot, whose arrays are those of "room".
 */
extern void gpb_load_column(const GpbProgram *program, GpbStripSource *source, int s,
							const GpbStripSlot *room, GpbStripSlot *slot);

#endif							/* GPB_PROGRAM_LOAD_H */
