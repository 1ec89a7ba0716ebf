/*-------------------------------------------------------------------------
 *
 * row_values.c
 *	  The values of rows, which no index has, as those that a program over an index reads.
 *
 * What an entry gives is said by gpb_entry_form(), which makes it of the values, and by
 * gpb_entry_value(), which takes the words out again.  Here the two are one, without the entry.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/bind/row_values.h"
#include "exec/compile/program_build.h"
#include "key_columns.h"
#include "page/coding.h"
#include "program/program_work.h"

/* ---- which columns ---- */

/* The column of the index, counted from 0, in a program's slot; *lower: is it the lower half? */
static int
slot_index_column(const GpbProgram *program, int slot, bool *lower)
{
	const GpbLayout *layout = &program->layout;
	int			c = gpb_slot_column(program, slot, lower);

	if (c == 0)
		return 0;
	return c <= layout->ncolumns ? gpb_count_keys(layout) + c - 1 : c - layout->ncolumns - 1;
}

/* The slots of columns and halves that a program reads, or of which a plain one wants something */
static uint32
read_slots(const GpbProgram *program, const GpbAggregateItem *items, int n)
{
	GpbSlotSet	used = gpb_used_slots(program);
	uint8		want[GPB_MAX_COLUMNS] = {0};
	uint32		slots = 0;
	int			s;

	if (gpb_program_is_plain(program))
		gpb_aggregate_wants(items, n, want);
	for (s = 0; s < GPB_MAX_COLUMNS; s++)
	{
		if (gpb_slots_have(&used, s) || want[s] != 0)
			slots |= (uint32) 1 << s;
	}
	return slots;
}

Bitmapset *
gpb_row_columns(const GpbProgram *program, const GpbAggregateItem *items, int n, int nkeys,
				int ncolumns)
{
	GpbProgram	placed = *program;
	uint32		slots = read_slots(program, items, n);
	Bitmapset  *columns = NULL;
	bool		lower;
	int			s;

	/* the planner's has no layout yet, by which slots are counted */
	placed.layout.nkeys = nkeys > 1 ? nkeys : 0;
	placed.layout.ncolumns = ncolumns - nkeys;
	for (s = 0; s < GPB_MAX_COLUMNS; s++)
	{
		if ((slots >> s & 1) != 0)
			columns = bms_add_member(columns, slot_index_column(&placed, s, &lower));
	}
	return columns;
}

/* ---- how words are made ---- */

typedef enum GpbRowWay
{
	GPB_ROW_UNREAD,				/* whether it is NULL is all that is asked */
	GPB_ROW_INT4,				/* the most frequent ways, which are of GPB_ROW_WORD or _KEY too */
	GPB_ROW_INT8,				/* also float8 of an INCLUDE column */
	GPB_ROW_WORD,
	GPB_ROW_KEY,
	GPB_ROW_NUMERIC,
	GPB_ROW_WIDE_NUMERIC,
	GPB_ROW_UUID,
	GPB_ROW_CODE
} GpbRowWay;

/* How the words of a column of the index with this coding are made */
static GpbRowWay
row_way(GpbCoding coding, bool is_key, bool reads_code)
{
	if (coding == GPB_CODING_DICTIONARY)
		return reads_code ? GPB_ROW_CODE : GPB_ROW_UNREAD;
	if (coding == GPB_CODING_UUID)
		return GPB_ROW_UUID;
	if (gpb_coding_is_wide_numeric(coding))
		return GPB_ROW_WIDE_NUMERIC;
	if (gpb_coding_is_numeric(coding))
		return GPB_ROW_NUMERIC;
	if (coding == GPB_CODING_INT4)
		return GPB_ROW_INT4;
	if (coding == GPB_CODING_INT8 || (coding == GPB_CODING_FLOAT8 && !is_key))
		return GPB_ROW_INT8;
	/* of a key, too, a program reads no such value, but may count those that are not NULL */
	if (!gpb_coding_has_words(coding))
		return GPB_ROW_UNREAD;
	return is_key ? GPB_ROW_KEY : GPB_ROW_WORD;
}

/* Fill in the column of the index, counted from 0, whose rows have it as column "at". */
static void
init_column(const GpbProgram *program, uint32 codes, int c, int at, GpbRowColumn *column)
{
	const GpbLayout *layout = &program->layout;
	int			nkeys = gpb_count_keys(layout);
	bool		is_key = c < nkeys;
	bool		reads_code = !is_key && (codes >> (c - nkeys) & 1) != 0;

	memset(column, 0, sizeof(*column));
	column->at = at;
	column->coding = is_key ? gpb_key_column(layout, c).coding : layout->coding[c - nkeys];
	column->way = (uint8) row_way(column->coding, is_key, reads_code);
	if (is_key && layout->nkeys > 0)
		column->field = layout->key[c];
}

/*
 * Let the column of the index have its slots in the program.  A part of that may read a half that
 * the whole does not, as the values of a term do that is only counted.
 */
static void
place_column(const GpbProgram *program, int c, GpbRowColumn *column)
{
	int			s;

	column->slot = column->lower = GPB_NO_SLOT;
	for (s = 0; s < gpb_read_slots(program); s++)
	{
		bool		lower;

		/* slot 0 of a key of several columns is nobody's, and its first column has a later one */
		if (slot_index_column(program, s, &lower) != c)
			continue;
		if (lower)
			column->lower = (uint8) s;
		else
			column->slot = (uint8) s;
	}
	Assert(column->slot != GPB_NO_SLOT);
}

GpbRowReader *
gpb_row_reader(const GpbProgram *program, const GpbAggregateItem *items, int n,
			   GpbRowCodes *codes)
{
	GpbRowReader *reader = palloc0(sizeof(GpbRowReader));
	const GpbLayout *layout = &program->layout;
	int			nkeys = gpb_count_keys(layout);
	Bitmapset  *columns = gpb_row_columns(program, items, n, nkeys, nkeys + layout->ncolumns);
	uint32		coded = codes == NULL ? 0 : gpb_row_codes_columns(codes);
	int			c = -1;

	reader->codes = codes;
	while ((c = bms_next_member(columns, c)) >= 0)
	{
		GpbRowColumn *column = &reader->column[reader->n];

		init_column(program, coded, c, reader->n, column);
		place_column(program, c, column);
		reader->n++;
	}
	return reader;
}

/* ---- rows ---- */

/*
 * Is there a field for the word, or for NULL, in a key of several columns?  A column may have got
 * more digits since the index was built, or have NULLs in one table only.
 */
static inline bool
has_field(GpbKeyColumn field, GpbValue value)
{
	if (value.is_null)
		return gpb_column_has_null(field);
	return gpb_field_value(field, gpb_value_field(field, value.word)) == value.word;
}

/* Make the halves of a numeric of 16 bytes, as of gpb_key_half(); false if it does not fit. */
static bool
wide_halves(GpbCoding coding, Datum datum, int64 *upper, int64 *lower)
{
	int128		number;

	if (!gpb_wide_numeric_fits(datum, gpb_coding_scale(coding), &number))
		return false;
	*upper = (int64) (number >> 64);
	*lower = (int64) ((uint64) number ^ (uint64) 1 << 63);
	return true;
}

/* Make the words of a value that is not NULL; false if it has none. */
static inline bool
make_words(GpbRowCodes *codes, const GpbRowColumn *column, Datum datum, int64 *word,
		   int64 *lower)
{
	const char *bytes;

	switch (column->way)
	{
		case GPB_ROW_INT4:
			*word = DatumGetInt32(datum);
			return true;
		case GPB_ROW_INT8:
			*word = DatumGetInt64(datum);
			return true;
		case GPB_ROW_WORD:
			*word = gpb_coding_word(column->coding, datum);
			return true;
		case GPB_ROW_KEY:
			*word = gpb_coding_key(column->coding, datum);
			return true;
		case GPB_ROW_NUMERIC:
			return gpb_numeric_fits(datum, gpb_coding_scale(column->coding), word);
		case GPB_ROW_WIDE_NUMERIC:
			return wide_halves(column->coding, datum, word, lower);
		case GPB_ROW_UUID:
			bytes = DatumGetPointer(datum);
			*word = gpb_bytes_word(bytes);
			*lower = gpb_bytes_word(bytes + 8);
			return true;
		case GPB_ROW_CODE:
			/* slots of INCLUDE columns are counted from 1 */
			return gpb_row_code(codes, column->slot - 1, datum, word);
		default:
			*word = 0;
			return true;
	}
}

bool
gpb_row_read(GpbRowReader *reader, TupleTableSlot *row)
{
	const GpbRowColumn *column = reader->column;
	const GpbRowColumn *end = column + reader->n;

	slot_getallattrs(row);
	for (; column < end; column++)
	{
		GpbValue   *value = &reader->value[column->slot];
		int64		lower = 0;

		value->is_null = row->tts_isnull[column->at];
		value->word = 0;
		if (!value->is_null &&
			!make_words(reader->codes, column, row->tts_values[column->at], &value->word, &lower))
			break;
		if (column->field.bits > 0 && !has_field(column->field, *value))
			break;
		if (column->lower != GPB_NO_SLOT)
			reader->value[column->lower] = (GpbValue) {lower, value->is_null};
	}
	if (column == end)
		return true;
	reader->refusal = column->way == GPB_ROW_CODE ? "more values than hash_mem holds" :
		"a value for which the index has no room";
	return false;
}
