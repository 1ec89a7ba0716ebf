/*-------------------------------------------------------------------------
 *
 * scan_tuple.c
 *	  The index tuples that index-only scans return.
 *
 * A tuple has the values of all columns, since nobody tells an access method which of them a query
 * wants.  So what it does for each is as little as can be: the tuple is an array of Datums, and
 * says so by its descriptor, in which each column is an integer of 8 bytes.  Whoever takes it apart
 * (index_deform_tuple()) finds those Datums at fixed places.  Values that are passed by reference
 * are no part of the tuple: what a Datum of a dictionary's column points to is the dictionary's,
 * and other such values have a place in the former.
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan_tuple.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key_columns.h"
#include "index/dictionary.h"

#define GPB_FORMED_COLUMNS		(GPB_MAX_KEYS + GPB_MAX_INCLUDE)

/* The most bytes of a value that has a place in the former */
#define GPB_FORMED_BYTES	32

StaticAssertDecl(VARHDRSZ + GPB_WIDE_NUMERIC_BYTES <= GPB_FORMED_BYTES &&
				 VARHDRSZ + GPB_NUMERIC_BYTES <= GPB_FORMED_BYTES,
				 "a numeric and its header must fit");
StaticAssertDecl(sizeof(Datum) == 8, "a Datum must be an integer of 8 bytes");

/* How the Datum of a column comes about */
typedef enum GpbForm
{
	GPB_FORM_WORD,				/* it is the word that the key has */
	GPB_FORM_INT2,				/* it is the integer of so many bytes that the row has */
	GPB_FORM_INT4,
	GPB_FORM_INT8,
	GPB_FORM_BYTES,				/* the row has the value's bytes */
	GPB_FORM_DICTIONARY,
	GPB_FORM_NUMERIC,
	GPB_FORM_WIDE_NUMERIC,
	GPB_FORM_OTHER				/* by a conversion of page/coding.h */
} GpbForm;

typedef struct GpbFormColumn
{
	uint8		form;			/* GpbForm */
	uint8		from;			/* offset of the value in the row; not used for the key */
	uint8		bytes;			/* of a value that is passed by reference and has a fixed width */
	int8		scale;			/* of a numeric */
} GpbFormColumn;

typedef struct GpbHalves
{
	uint64		lower;
	uint64		upper;
} GpbHalves;

/* An index tuple of which no column, or some column, is NULL */
typedef struct GpbFullTuple
{
	IndexTupleData header;
	Datum		values[GPB_FORMED_COLUMNS];
} GpbFullTuple;

typedef struct GpbNullTuple
{
	IndexTupleData header;
	IndexAttributeBitMapData present;
	Datum		values[GPB_FORMED_COLUMNS];	/* of columns that are not NULL */
} GpbNullTuple;

StaticAssertDecl(offsetof(GpbFullTuple, values) == MAXALIGN(sizeof(IndexTupleData)) &&
				 offsetof(GpbNullTuple, values) ==
				 MAXALIGN(sizeof(IndexTupleData) + sizeof(IndexAttributeBitMapData)),
				 "values must lie where index_deform_tuple() looks for them");

struct GpbFormer
{
	Relation	index;
	const GpbLayout *layout;
	GpbDictionary *dictionary;	/* NULL: the index has none */
	int			ncolumns;
	int			nkeys;
	GpbFormColumn column[GPB_FORMED_COLUMNS];

	/*
	 * Of a key with several columns: the one formed last, if any, and which columns are NULL.  Keys
	 * are in halves here, since a processor waits for a load of what it stored in halves.
	 */
	bool		has_key;
	GpbHalves	key;
	uint32		key_nulls;
	GpbHalves	field[GPB_MAX_KEYS];	/* the bits of each column */

	GpbFullTuple full;			/* Datums of values in "place" never change */
	GpbNullTuple *with_nulls;	/* made for the first tuple that has one */
	bool		lacks;			/* the tuple being formed lacks a value that is elsewhere */
	char		place[FLEXIBLE_ARRAY_MEMBER][GPB_FORMED_BYTES] pg_attribute_aligned(8);
};

/* ---- descriptors ---- */

TupleDesc
gpb_former_descriptor(int ncolumns)
{
	static TupleDesc descriptors[GPB_FORMED_COLUMNS + 1];
	MemoryContext old;
	TupleDesc	made;

	Assert(ncolumns > 0 && ncolumns <= GPB_FORMED_COLUMNS);
	if (likely(descriptors[ncolumns] != NULL))
		return descriptors[ncolumns];
	old = MemoryContextSwitchTo(TopMemoryContext);
	made = CreateTemplateTupleDesc(ncolumns);
	for (int c = 1; c <= ncolumns; c++)
		TupleDescInitBuiltinEntry(made, c, "datum", INT8OID, -1, 0);
	TupleDescFinalize(made);
	MemoryContextSwitchTo(old);
	return descriptors[ncolumns] = made;
}

/* How the Datum of a value with this coding comes about, in a key or an INCLUDE column */
static GpbForm
form_of(GpbCoding coding, bool in_key, bool is_lone)
{
	if (coding == GPB_CODING_DICTIONARY)
		return GPB_FORM_DICTIONARY;
	if (gpb_coding_is_wide_numeric(coding))
		return GPB_FORM_WIDE_NUMERIC;
	if (gpb_coding_is_numeric(coding))
		return GPB_FORM_NUMERIC;
	if (coding == GPB_CODING_INT2 || coding == GPB_CODING_INT4 || coding == GPB_CODING_INT8)
		return in_key ? GPB_FORM_WORD : coding == GPB_CODING_INT2 ? GPB_FORM_INT2 :
			coding == GPB_CODING_INT4 ? GPB_FORM_INT4 : GPB_FORM_INT8;
	if (in_key)
		return is_lone && coding == GPB_CODING_UUID ? GPB_FORM_BYTES : GPB_FORM_OTHER;
	if (coding == GPB_CODING_FLOAT8)
		return GPB_FORM_INT8;
	return gpb_coding_has_words(coding) ? GPB_FORM_OTHER : GPB_FORM_BYTES;
}

/* ---- values ---- */

/* A lone key that is wide, as ascending keys are */
static inline GpbKey
ascending_key(const GpbLayout *layout, GpbKey key)
{
	return (layout->flags & GPB_LAYOUT_DESC) ? ~key : key;
}

/*
 * Put a numeric into the place of its column.  It has a header of 4 bytes, so that core's functions
 * need not copy it.
 */
static inline void
form_numeric(GpbFormer *former, int c, int64 word)
{
	char	   *to = former->place[c];

	SET_VARSIZE(to, VARHDRSZ + gpb_numeric_store(word, former->column[c].scale, to + VARHDRSZ));
}

static pg_noinline void
form_wide_numeric(GpbFormer *former, int c, int128 number)
{
	char	   *to = former->place[c];

	SET_VARSIZE(to, VARHDRSZ + gpb_wide_numeric_store(number, former->column[c].scale,
													  to + VARHDRSZ));
}

/* Keep a value that was made for a column, palloc'd if it is not passed by value. */
static pg_noinline void
keep_value(GpbFormer *former, int c, Datum value)
{
	int			bytes = former->column[c].bytes;

	if (bytes == 0)
	{
		former->full.values[c] = value;
		return;
	}
	memcpy(former->place[c], DatumGetPointer(value), bytes);
	pfree(DatumGetPointer(value));
}

/* Form the value of a lone key that is not NULL. */
static inline void
form_lone_key(GpbFormer *former, GpbKey key)
{
	const GpbLayout *layout = former->layout;

	switch (former->column[0].form)
	{
		case GPB_FORM_WORD:
			former->full.values[0] = Int64GetDatum(gpb_key_value((uint64) key, layout->key_width,
																 layout->flags));
			break;
		case GPB_FORM_NUMERIC:
			form_numeric(former, 0, gpb_key_value((uint64) key, layout->key_width,
												  layout->flags));
			break;
		case GPB_FORM_WIDE_NUMERIC:
			form_wide_numeric(former, 0, (int128)
							  gpb_wide_numeric_key((int128) ascending_key(layout, key)));
			break;
		case GPB_FORM_BYTES:
			gpb_uuid_of_key(ascending_key(layout, key), former->place[0]);
			break;
		default:
			keep_value(former, 0, gpb_key_datum(layout, key));
	}
}

static inline GpbHalves
halves_of(GpbKey key)
{
	GpbHalves	halves = {(uint64) key, gpb_key_upper(key)};

	return halves;
}

/* Form the value of column c of a key that has several, or note that it is NULL. */
static inline void
form_field(GpbFormer *former, GpbKey key, int c)
{
	GpbKeyColumn column = former->layout->key[c];
	GpbKey		field = gpb_key_field(column, key);
	uint32		bit = (uint32) 1 << c;
	int64		word;

	if (unlikely(gpb_field_is_null(column, field)))
	{
		former->key_nulls |= bit;
		return;
	}
	if (unlikely(former->key_nulls != 0))
		former->key_nulls &= ~bit;
	word = gpb_field_value(column, field);
	if (former->column[c].form == GPB_FORM_WORD)
		former->full.values[c] = Int64GetDatum(word);
	else if (former->column[c].form == GPB_FORM_NUMERIC)
		form_numeric(former, c, word);
	else
		keep_value(former, c, gpb_coding_key_datum(column.coding, word));
}

/*
 * Form the columns of a key that has several, and return which are NULL.  From one entry to the
 * next the first columns change seldom: only those that do are formed anew.
 */
static inline uint32
form_fields(GpbFormer *former, GpbKey key)
{
	GpbHalves	halves = halves_of(key);
	GpbHalves	changed = {~(uint64) 0, ~(uint64) 0};

	if (likely(former->has_key))
	{
		changed.lower = halves.lower ^ former->key.lower;
		changed.upper = halves.upper ^ former->key.upper;
	}
	former->key = halves;
	former->has_key = true;
	for (int c = 0; c < former->nkeys; c++)
	{
		if (((changed.lower & former->field[c].lower) |
			 (changed.upper & former->field[c].upper)) != 0)
			form_field(former, key, c);
	}
	return former->key_nulls;
}

/* Copy a value of 12 or 16 bytes, which are those that rows have without words. */
static inline void
copy_bytes(char *to, const char *from, int bytes)
{
	if (bytes == 16)
		memcpy(to, from, 16);
	else
		memcpy(to, from, 12);
}

/* The value of a code.  Of one that is elsewhere there is an empty value, and a note. */
static inline Datum
form_dictionary(GpbFormer *former, int column, uint32 code)
{
	static struct varlena *empty = NULL;

	if (likely(code != GPB_ELSEWHERE))
		return gpb_dictionary_value(former->index, former->dictionary, column, code);
	if (empty == NULL)
	{
		empty = MemoryContextAlloc(TopMemoryContext, VARHDRSZ);
		SET_VARSIZE(empty, VARHDRSZ);
	}
	former->lacks = true;
	return PointerGetDatum(empty);
}

/* Form the value of an INCLUDE column that is not NULL. */
static inline void
form_row_value(GpbFormer *former, const char *row, int c)
{
	GpbFormColumn column = former->column[c];
	const char *from = row + column.from;
	Datum	   *value = &former->full.values[c];

	switch (column.form)
	{
		case GPB_FORM_INT2:
			*value = Int16GetDatum(*(const int16 *) from);
			break;
		case GPB_FORM_INT4:
			*value = Int32GetDatum(*(const int32 *) from);
			break;
		case GPB_FORM_INT8:
			*value = Int64GetDatum((int64) gpb_load64(from));
			break;
		case GPB_FORM_BYTES:
			copy_bytes(former->place[c], from, column.bytes);
			break;
		case GPB_FORM_DICTIONARY:
			*value = form_dictionary(former, c - former->nkeys, *(const uint32 *) from);
			break;
		case GPB_FORM_NUMERIC:
			form_numeric(former, c, (int64) gpb_load64(from));
			break;
		case GPB_FORM_WIDE_NUMERIC:
			form_wide_numeric(former, c, gpb_row_wide_numeric(from));
			break;
		default:
			keep_value(former, c,
					   gpb_coding_datum(former->layout->coding[c - former->nkeys],
										gpb_row_value(row, column.from,
													  former->layout->kind[c - former->nkeys])));
	}
}

/* ---- formers ---- */

/*
 * Each scan that returns tuples makes a former, so it asks no catalog, and has no more room than
 * the index's columns need.
 */
GpbFormer *
gpb_former_create(Relation index, const GpbLayout *layout, MemoryContext context)
{
	TupleDesc	descriptor = RelationGetDescr(index);
	int			ncolumns = descriptor->natts;
	GpbFormer  *former = MemoryContextAlloc(context, offsetof(GpbFormer, place) +
											ncolumns * GPB_FORMED_BYTES);

	former->index = index;
	former->layout = layout;
	former->dictionary = gpb_layout_has_dictionary(layout) ? gpb_dictionary(index) : NULL;
	former->ncolumns = ncolumns;
	former->nkeys = gpb_count_keys(layout);
	former->with_nulls = NULL;
	former->lacks = false;
	former->full.header.t_info = offsetof(GpbFullTuple, values) + ncolumns * sizeof(Datum);
	for (int c = 0; c < ncolumns; c++)
	{
		GpbFormColumn *column = &former->column[c];
		Form_pg_attribute attribute = TupleDescAttr(descriptor, c);
		GpbCoding	coding = gpb_column_coding(layout, c);
		bool		in_key = c < former->nkeys;

		column->form = form_of(coding, in_key, layout->nkeys == 0);
		column->from = in_key ? 0 : layout->offset[c - former->nkeys];
		column->bytes = attribute->attbyval || attribute->attlen < 0 ? 0 : attribute->attlen;
		column->scale = gpb_coding_is_numeric(coding) ? gpb_coding_scale(coding) : 0;
		former->full.values[c] = PointerGetDatum(former->place[c]);
	}
	former->has_key = false;
	former->key_nulls = 0;
	for (int c = 0; c < layout->nkeys; c++)
		former->field[c] = halves_of(gpb_field_ones(layout->key[c].bits) << layout->key[c].shift);
	return former;
}

void
gpb_former_free(GpbFormer *former)
{
	if (former->with_nulls != NULL)
		pfree(former->with_nulls);
	pfree(former);
}

/* ---- tuples ---- */

/* The tuple in which the columns of "nulls" are NULL, and the others have the Datums formed */
static pg_noinline IndexTuple
tuple_with_nulls(GpbFormer *former, uint32 nulls)
{
	GpbNullTuple *tuple = former->with_nulls;
	int			n = 0;

	if (tuple == NULL)
		tuple = former->with_nulls = MemoryContextAlloc(GetMemoryChunkContext(former),
														sizeof(GpbNullTuple));
	memset(&tuple->present, 0, sizeof(tuple->present));
	for (int c = 0; c < former->ncolumns; c++)
	{
		if ((nulls & (uint32) 1 << c) != 0)
			continue;
		tuple->present.bits[c / 8] |= 1 << (c % 8);
		tuple->values[n++] = former->full.values[c];
	}
	tuple->header.t_info = (offsetof(GpbNullTuple, values) + n * sizeof(Datum)) | INDEX_NULL_MASK;
	return &tuple->header;
}

IndexTuple
gpb_former_tuple(GpbFormer *former, GpbKey key, const char *row, ItemPointer tid)
{
	const GpbLayout *layout = former->layout;
	uint64		locator = gpb_row_locator(row);
	uint32		nulls = (uint32) (locator >> GPB_LOC_NULL_SHIFT) << former->nkeys;
	IndexTuple	tuple = &former->full.header;

	if (layout->nkeys > 0)
		nulls |= form_fields(former, key);
	else if (gpb_locator_is_null(locator, layout->flags))
		nulls |= 1;
	else
		form_lone_key(former, key);
	for (int c = former->nkeys; c < former->ncolumns; c++)
	{
		if ((nulls & (uint32) 1 << c) == 0)
			form_row_value(former, row, c);
	}
	if (unlikely(nulls != 0))
		tuple = tuple_with_nulls(former, nulls);
	if (unlikely(former->lacks))
	{
		former->lacks = false;
		tuple->t_info |= GPB_TUPLE_LACKS;
	}
	tuple->t_tid = *tid;
	return tuple;
}
