/*-------------------------------------------------------------------------
 *
 * scan_tuple.c
 *	  The index tuples that index-only scans return.
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan_tuple.h"

#include "access/tupmacs.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key_columns.h"
#include "index/dictionary.h"

/*
 * The most bytes of a value in a tuple, those to align the next one included; of a value of the
 * dictionary those beside its own
 */
#define GPB_TUPLE_VALUE		32

StaticAssertDecl(GPB_WIDE_NUMERIC_BYTES + 1 + 7 <= GPB_TUPLE_VALUE,
				 "a numeric and its header of one byte must fit");

/* Where the values of an entry go in a tuple, and a tuple to be patched */
struct GpbFormer
{
	Relation	index;
	const GpbLayout *layout;
	TupleDesc	descriptor;
	GpbDictionary *dictionary;	/* NULL: the index has none */
	Size		size;
	Size		room;			/* of the tuple */
	int			ncolumns;
	int			nkeys;
	struct
	{
		uint16		to;			/* offset of the value in the tuple */
		uint8		from;		/* offset of the value in the row; not used for the key */
		uint8		width;
		bool		is_coded;	/* the value has not the bytes that the entry has */
	}			column[GPB_MAX_KEYS + GPB_MAX_INCLUDE];
	bool		is_variable;	/* values have no fixed place */
	bool		lacks;			/* the tuple lacks a value that is elsewhere */
	char		tuple[FLEXIBLE_ARRAY_MEMBER] pg_attribute_aligned(8);
};

/* The most bytes of a tuple of so many columns, without values of the dictionary */
#define GPB_TUPLE_BYTES(ncolumns) \
	(MAXALIGN(sizeof(IndexTupleData) + sizeof(IndexAttributeBitMapData)) + \
	 GPB_TUPLE_VALUE * (ncolumns))

StaticAssertDecl(MAXALIGN(GPB_TUPLE_BYTES(GPB_MAX_KEYS + GPB_MAX_INCLUDE) +
						  GPB_DICTIONARY_ROW_BYTES) <= INDEX_SIZE_MASK,
				 "a tuple must fit its size");

/* Are the first bytes of a word not those of the value? */
static bool
word_is_coded(GpbCoding coding)
{
	return coding == GPB_CODING_FLOAT4 || coding == GPB_CODING_UINT8 ||
		coding == GPB_CODING_MACADDR || coding == GPB_CODING_MACADDR8;
}

/*
 * A tuple without NULLs has every value at a fixed place, so it is formed once here, and patched
 * for each entry.  Each scan that returns tuples makes a former, so its room is no more than the
 * index's columns need, and what is zeroed is no more than what nobody writes: all of a tuple whose
 * values have fixed places, and nothing of one that is formed for each entry.
 */
GpbFormer *
gpb_former_create(Relation index, const GpbLayout *layout, MemoryContext context)
{
	TupleDesc	descriptor = RelationGetDescr(index);
	bool		has_dictionary = gpb_layout_has_dictionary(layout);
	Size		room = MAXALIGN(GPB_TUPLE_BYTES(descriptor->natts) +
								(has_dictionary ? GPB_DICTIONARY_ROW_BYTES : 0));
	GpbFormer  *former = MemoryContextAlloc(context, offsetof(GpbFormer, tuple) + room);
	Size		offset = MAXALIGN(sizeof(IndexTupleData));

	memset(former, 0, offsetof(GpbFormer, tuple) + (has_dictionary ? 0 : room));
	former->index = index;
	former->layout = layout;
	former->descriptor = descriptor;
	former->room = room;
	if (has_dictionary)
		former->dictionary = gpb_dictionary(index);
	former->ncolumns = descriptor->natts;
	former->nkeys = gpb_count_keys(layout);
	for (int c = 0; c < descriptor->natts; c++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, c);

		former->is_variable |= former->dictionary != NULL ||
			gpb_coding_is_numeric(gpb_column_coding(layout, c));
		if (former->is_variable)
			continue;
		offset = att_align_nominal(offset, attribute->attalign);
		former->column[c].to = offset;
		former->column[c].width = attribute->attlen;
		if (c >= former->nkeys)
		{
			former->column[c].from = layout->offset[c - former->nkeys];
			former->column[c].is_coded = word_is_coded(layout->coding[c - former->nkeys]);
		}
		else
		{
			GpbCoding	coding = layout->nkeys > 0 ? layout->key[c].coding : layout->key_coding;

			former->column[c].is_coded = !gpb_coding_key_is_word(coding) || word_is_coded(coding);
		}
		offset += attribute->attlen;
	}
	former->size = MAXALIGN(offset);
	Assert(former->size <= room);
	return former;
}

/* Is a column of the entry, counted from 0, NULL? */
static inline bool
entry_column_is_null(const GpbLayout *layout, GpbKey key, uint64 locator, int c)
{
	int			nkeys = gpb_count_keys(layout);

	if (c >= nkeys)
		return gpb_locator_column_is_null(locator, c - nkeys);
	return layout->nkeys > 0 ? gpb_key_column_is_null(layout, c, key) :
		gpb_locator_is_null(locator, layout->flags);
}

/* Is some column of the entry NULL? */
static inline bool
entry_has_null(const GpbLayout *layout, GpbKey key, uint64 locator)
{
	if ((locator >> GPB_LOC_NULL_SHIFT) != 0)
		return true;
	for (int c = 0; c < gpb_count_keys(layout); c++)
	{
		if (entry_column_is_null(layout, key, locator, c))
			return true;
	}
	return false;
}

/* The word of a column that is not NULL; of one of the key it is the integer that orders it. */
static inline int64
entry_word(const GpbLayout *layout, GpbKey key, const char *row, int c)
{
	int			nkeys = gpb_count_keys(layout);

	if (c >= nkeys)
		return gpb_row_value(row, layout->offset[c - nkeys], layout->kind[c - nkeys]);
	return layout->nkeys > 0 ? gpb_key_column_value(layout, c, key) :
		gpb_key_value((uint64) key, layout->key_width, layout->flags);
}

/* Store the value of a column, which is neither NULL nor a numeric, from "offset" on. */
static void
store_value(GpbFormer *former, GpbKey key, const char *row, int c, Size offset)
{
	Form_pg_attribute attribute = TupleDescAttr(former->descriptor, c);
	bool		isnull;
	Datum		value = gpb_entry_datum(former->layout, key, row, c + 1, &isnull);

	if (attribute->attbyval)
	{
		store_att_byval(former->tuple + offset, value, attribute->attlen);
		return;
	}
	memcpy(former->tuple + offset, DatumGetPointer(value), attribute->attlen);
	pfree(DatumGetPointer(value));
}

/*
 * Leave the tuple's bytes [from, to) without values.  Core compares tuples by their bytes now and
 * then, so what lies between values is zero.
 */
static inline Size
skip_to(GpbFormer *former, Size from, Size to)
{
	memset(former->tuple + from, 0, to - from);
	return to;
}

/* Store the value of a column that is no numeric, from "offset" on.  Returns where it ends. */
static Size
store_fixed(GpbFormer *former, GpbKey key, const char *row, int c, Size offset)
{
	Form_pg_attribute attribute = TupleDescAttr(former->descriptor, c);

	offset = skip_to(former, offset, att_align_nominal(offset, attribute->attalign));
	store_value(former, key, row, c, offset);
	return offset + attribute->attlen;
}

/* The integer of a column that is a wide numeric and not NULL */
static inline int128
entry_wide_numeric(const GpbLayout *layout, GpbKey key, const char *row, int c)
{
	int			nkeys = gpb_count_keys(layout);

	if (c >= nkeys)
		return gpb_row_wide_numeric(row + layout->offset[c - nkeys]);
	if (layout->flags & GPB_LAYOUT_DESC)
		key = ~key;
	return (int128) gpb_wide_numeric_key((int128) key);
}

/*
 * Store a numeric, as core does, with a header of one byte that no alignment precedes.  Returns
 * where it ends.
 */
static Size
store_numeric(GpbFormer *former, GpbKey key, const char *row, int c, Size offset)
{
	const GpbLayout *layout = former->layout;
	GpbCoding	coding = gpb_column_coding(layout, c);
	int			scale = gpb_coding_scale(coding);
	char	   *to = former->tuple + offset;
	int			length = 1 + (gpb_coding_is_wide_numeric(coding) ?
							  gpb_wide_numeric_store(entry_wide_numeric(layout, key, row, c), scale,
													 to + 1) :
							  gpb_numeric_store(entry_word(layout, key, row, c), scale, to + 1));

	SET_VARSIZE_SHORT(to, length);
	return offset + length;
}

/*
 * Store a value of the dictionary, with the shortest header, as core does where it can.  Of a value
 * that is elsewhere there is an empty one.
 */
static Size
store_dictionary(GpbFormer *former, uint32 code, int column, Size offset)
{
	struct varlena *value;
	int			length;

	if (unlikely(code == GPB_ELSEWHERE))
	{
		former->lacks = true;
		SET_VARSIZE_SHORT(former->tuple + offset, VARHDRSZ_SHORT);
		return offset + VARHDRSZ_SHORT;
	}
	value = (struct varlena *)
		DatumGetPointer(gpb_dictionary_value(former->index, former->dictionary, column, code));
	length = VARSIZE(value) - VARHDRSZ;
	if (VARATT_CAN_MAKE_SHORT(value))
	{
		SET_VARSIZE_SHORT(former->tuple + offset, VARHDRSZ_SHORT + length);
		memcpy(former->tuple + offset + VARHDRSZ_SHORT, VARDATA(value), length);
		return offset + VARHDRSZ_SHORT + length;
	}
	offset = skip_to(former, offset, INTALIGN(offset));
	memcpy(former->tuple + offset, value, VARHDRSZ + length);
	return offset + VARHDRSZ + length;
}

/* Form the tuple of an entry that has values of variable width, and may have NULLs. */
static void
form_variable(GpbFormer *former, GpbKey key, const char *row)
{
	const GpbLayout *layout = former->layout;
	uint64		locator = gpb_row_locator(row);
	bool		has_nulls = entry_has_null(layout, key, locator);
	bits8	   *present = (bits8 *) (former->tuple + sizeof(IndexTupleData));
	Size		start = MAXALIGN(sizeof(IndexTupleData) +
								 (has_nulls ? sizeof(IndexAttributeBitMapData) : 0));
	Size		offset = skip_to(former, 0, start);

	former->lacks = false;
	for (int c = 0; c < former->ncolumns; c++)
	{
		GpbCoding	coding = gpb_column_coding(layout, c);

		if (entry_column_is_null(layout, key, locator, c))
			continue;
		if (has_nulls)
			present[c / 8] |= 1 << (c % 8);
		if (gpb_coding_is_numeric(coding))
			offset = store_numeric(former, key, row, c, offset);
		else if (coding == GPB_CODING_DICTIONARY)
			offset = store_dictionary(former, (uint32) entry_word(layout, key, row, c),
									  c - former->nkeys, offset);
		else
			offset = store_fixed(former, key, row, c, offset);
	}
	offset = skip_to(former, offset, MAXALIGN(offset));
	Assert(offset <= former->room);
	((IndexTuple) former->tuple)->t_info = (unsigned short) offset |
		(has_nulls ? INDEX_NULL_MASK : 0) | INDEX_VAR_MASK |
		(former->lacks ? GPB_TUPLE_LACKS : 0);
}

/* Form the tuple of an entry in which some value is NULL. */
static void
form_with_nulls(GpbFormer *former, GpbKey key, const char *row)
{
	Datum		values[GPB_MAX_KEYS + GPB_MAX_INCLUDE];
	bool		isnull[GPB_MAX_KEYS + GPB_MAX_INCLUDE];
	IndexTuple	tuple;

	for (int c = 0; c < former->ncolumns; c++)
		values[c] = gpb_entry_datum(former->layout, key, row, c + 1, &isnull[c]);
	tuple = index_form_tuple(former->descriptor, values, isnull);
	Assert(IndexTupleSize(tuple) <= former->room);
	memcpy(former->tuple, tuple, IndexTupleSize(tuple));
	pfree(tuple);
}

/*
 * Copy a value of 1, 2, 4 or 8 bytes.  Values are little-endian, so a narrower one is the first
 * bytes of a wide one.  The switch avoids a call of memcpy() for a width known only at run time.
 */
static inline void
copy_value(char *to, const char *from, int width)
{
	if (width == 8)
		memcpy(to, from, 8);
	else if (width == 4)
		memcpy(to, from, 4);
	else if (width == 2)
		memcpy(to, from, 2);
	else
		*to = *from;
}

/* Likewise, of a row, where values may have 12 or 16 bytes too */
static inline void
copy_row_value(char *to, const char *from, int width)
{
	if (width <= 8)
		copy_value(to, from, width);
	else if (width == 16)
		memcpy(to, from, 16);
	else
		memcpy(to, from, 12);
}

/* Store the value of a column that is not NULL, and whose bytes the entry has not. */
static void
store_coded(GpbFormer *former, GpbKey key, const char *row, int c)
{
	if (c == 0 && former->layout->key_coding == GPB_CODING_UUID)
	{
		gpb_uuid_of_key((former->layout->flags & GPB_LAYOUT_DESC) ? ~key : key,
						former->tuple + former->column[0].to);
		return;
	}
	store_value(former, key, row, c, former->column[c].to);
}

/*
 * Store the values of a key of several columns.  Returns false, with some of them stored, if one is
 * NULL.
 */
static inline bool
store_columns(GpbFormer *former, GpbKey key)
{
	for (int c = 0; c < former->nkeys; c++)
	{
		GpbKeyColumn column = former->layout->key[c];
		GpbKey		field = gpb_key_field(column, key);
		int64		value;

		if (gpb_field_is_null(column, field))
			return false;
		if (former->column[c].is_coded)
			continue;
		value = gpb_field_value(column, field);
		copy_value(former->tuple + former->column[c].to, (const char *) &value,
				   former->column[c].width);
	}
	return true;
}

/* Store the value of a lone key column.  Returns false if it is NULL. */
static inline bool
store_lone(GpbFormer *former, GpbKey key, uint64 locator)
{
	const GpbLayout *layout = former->layout;
	int64		value;

	if (gpb_locator_is_null(locator, layout->flags))
		return false;
	if (former->column[0].is_coded)
		return true;
	value = gpb_key_value((uint64) key, layout->key_width, layout->flags);
	copy_value(former->tuple + former->column[0].to, (const char *) &value,
			   former->column[0].width);
	return true;
}

/* Store the values of the key.  Returns false, with some of them stored, if one is NULL. */
static inline bool
store_key(GpbFormer *former, GpbKey key, uint64 locator)
{
	return former->layout->nkeys > 0 ? store_columns(former, key) :
		store_lone(former, key, locator);
}

IndexTuple
gpb_former_tuple(GpbFormer *former, GpbKey key, const char *row, ItemPointer tid)
{
	uint64		locator = gpb_row_locator(row);
	IndexTuple	tuple = (IndexTuple) former->tuple;

	if (former->is_variable)
		form_variable(former, key, row);
	else if ((locator >> GPB_LOC_NULL_SHIFT) != 0 || !store_key(former, key, locator))
		form_with_nulls(former, key, row);
	else
	{
		tuple->t_info = former->size;
		for (int c = former->nkeys; c < former->ncolumns; c++)
			copy_row_value(former->tuple + former->column[c].to, row + former->column[c].from,
						   former->column[c].width);
		for (int c = 0; c < former->ncolumns; c++)
		{
			if (former->column[c].is_coded)
				store_coded(former, key, row, c);
		}
	}
	tuple->t_tid = *tid;
	return tuple;
}
