/*-------------------------------------------------------------------------
 *
 * key_columns.h
 *	  The fields of a key that has several columns.
 *
 * Plain C for both compilers.  Each column has a field of the normalized key, the first column the
 * most significant one, so that the order of keys is the order by the columns.  A field is made of
 * the value's code: the value less the least one of its type, complemented if the column is DESC.
 *
 * NULL has a code of its own in one of two ways.  Of GPB_COLUMN_NULL_BIT the field has a bit more
 * than codes: NULL is the bit alone and values lack it, or, with NULLS FIRST, NULL is 0 and values
 * have the bit.  GPB_COLUMN_NULL_SPARE is for types whose infinities are the least and the greatest
 * integer, and whose finite values do not come near these: NULL takes the last code, or the first
 * one, and the infinity that had it moves by one.  A column with neither has no NULLs.
 *
 * GPB_COLUMN_NAN is for numeric(p, s), whose values need fewer bits than the type's integers.  NaN,
 * the greatest of those (page/numeric.h), has the greatest code that the column's bits make, and
 * the code beside it is no number's: so NaN moves as an infinity does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEY_COLUMNS_H
#define GPB_KEY_COLUMNS_H

#include "layout.h"

#define GPB_COLUMN_DESC			0x01
#define GPB_COLUMN_NULLS_FIRST	0x02
#define GPB_COLUMN_NULL_BIT		0x04
#define GPB_COLUMN_NULL_SPARE	0x08
#define GPB_COLUMN_SIGNED		0x10	/* values go from -(2^(n-1)), for codes of n bits */
#define GPB_COLUMN_NAN			0x20	/* SIGNED too, and the greatest code is GPB_KEY_NAN's */

/* The key of NaN, which is above those of all numbers (GPB_NUMERIC_NAN) */
#define GPB_KEY_NAN				((int64) (~(uint64) 0 >> 1))

/* The number of bits that a normalized key can have */
#define GPB_MAX_KEY_BITS		((int) (8 * sizeof(GpbKey)))

/* The columns of an index's key */
GPB_FN int
gpb_count_keys(const GpbLayout *layout)
{
	return layout->nkeys > 0 ? layout->nkeys : 1;
}

/*
 * Key column c, counted from 0.  The only column of a key is a field that is all of it, without any
 * code for NULL, which is with the entry's locator; NULLS_FIRST says how that counts.
 */
GPB_FN GpbKeyColumn
gpb_key_column(const GpbLayout *layout, int c)
{
	GpbKeyColumn column = layout->key[c];

	if (layout->nkeys > 0)
		return column;
	column.coding = layout->key_coding;
	column.shift = 0;
	column.bits = 8 * layout->key_width;
	column.flags = ((layout->flags & GPB_LAYOUT_DESC) ? GPB_COLUMN_DESC : 0) |
		((layout->flags & GPB_LAYOUT_NULLS_FIRST) ? GPB_COLUMN_NULLS_FIRST : 0);
	return column;
}

/* A field of n bits, all of them ones */
GPB_FN GpbKey
gpb_field_ones(int n)
{
	return n >= GPB_MAX_KEY_BITS ? ~(GpbKey) 0 : ((GpbKey) 1 << n) - 1;
}

/* The field of a column in a key. */
GPB_FN GpbKey
gpb_key_field(GpbKeyColumn column, GpbKey key)
{
	return (key >> column.shift) & gpb_field_ones(column.bits);
}

/* The bits of a column's codes */
GPB_FN int
gpb_column_code_bits(GpbKeyColumn column)
{
	return column.bits - ((column.flags & GPB_COLUMN_NULL_BIT) != 0);
}

/* Does the column have a code for NULL? */
GPB_FN bool
gpb_column_has_null(GpbKeyColumn column)
{
	return (column.flags & (GPB_COLUMN_NULL_BIT | GPB_COLUMN_NULL_SPARE)) != 0;
}

/* The field that is NULL, of a column that has one. */
GPB_FN GpbKey
gpb_null_field(GpbKeyColumn column)
{
	if (column.flags & GPB_COLUMN_NULLS_FIRST)
		return 0;
	if (column.flags & GPB_COLUMN_NULL_BIT)
		return (GpbKey) 1 << gpb_column_code_bits(column);
	return gpb_field_ones(column.bits);
}

GPB_FN bool
gpb_field_is_null(GpbKeyColumn column, GpbKey field)
{
	return gpb_column_has_null(column) && field == gpb_null_field(column);
}

/*
 * The field of a code.  "up" matters for a code that no value has, which is the one that an
 * infinity moves to: it becomes the field of the next code above or, without up, of that below.
 */
GPB_FN GpbKey
gpb_code_field(GpbKeyColumn column, uint64 code, bool up)
{
	bool		first = (column.flags & GPB_COLUMN_NULLS_FIRST) != 0;
	uint64		most = (uint64) gpb_field_ones(gpb_column_code_bits(column));

	if (column.flags & GPB_COLUMN_NULL_BIT)
		return (GpbKey) code | (first ? (GpbKey) 1 << gpb_column_code_bits(column) : 0);
	if (column.flags & GPB_COLUMN_NULL_SPARE)
	{
		if (first)
			return (GpbKey) code + (code == 0 || (code == 1 && up));
		return (GpbKey) code - (code == most || (code == most - 1 && !up));
	}
	return code;
}

/* The code of a field that is not NULL; the inverse of gpb_code_field(). */
GPB_FN uint64
gpb_field_code(GpbKeyColumn column, GpbKey field)
{
	uint64		most = (uint64) gpb_field_ones(gpb_column_code_bits(column));
	uint64		code = (uint64) field & most;

	if (column.flags & GPB_COLUMN_NULL_SPARE)
	{
		if (column.flags & GPB_COLUMN_NULLS_FIRST)
			return code - (code == 1);
		return code + (code == most - 1);
	}
	return code;
}

/* The field of a value's key (page/coding.h), which is not NULL. */
GPB_FN GpbKey
gpb_value_field(GpbKeyColumn column, int64 value)
{
	int			bits = gpb_column_code_bits(column);
	uint64		code = (uint64) value;

	if ((column.flags & GPB_COLUMN_NAN) && value == GPB_KEY_NAN)
		code = ((uint64) 1 << (bits - 1)) - 1;
	if (column.flags & GPB_COLUMN_SIGNED)
		code += (uint64) 1 << (bits - 1);
	if (column.flags & GPB_COLUMN_DESC)
		code = ~code;
	return gpb_code_field(column, code & (uint64) gpb_field_ones(bits), true);
}

/* The value's key of a field that is not NULL; the inverse of gpb_value_field(). */
GPB_FN int64
gpb_field_value(GpbKeyColumn column, GpbKey field)
{
	int			bits = gpb_column_code_bits(column);
	uint64		code = gpb_field_code(column, field);

	if (column.flags & GPB_COLUMN_DESC)
		code = ~code & (uint64) gpb_field_ones(bits);
	if ((column.flags & GPB_COLUMN_NAN) && code == (uint64) gpb_field_ones(bits))
		return GPB_KEY_NAN;
	if (column.flags & GPB_COLUMN_SIGNED)
		code -= (uint64) 1 << (bits - 1);
	return (int64) code;
}

/* Is key column c, counted from 0, NULL in an entry with this key?  The key has several columns. */
GPB_FN bool
gpb_key_column_is_null(const GpbLayout *layout, int c, GpbKey key)
{
	return gpb_field_is_null(layout->key[c], gpb_key_field(layout->key[c], key));
}

/* The value of key column c, which must not be NULL, as gpb_key_value() gives that of a key. */
GPB_FN int64
gpb_key_column_value(const GpbLayout *layout, int c, GpbKey key)
{
	return gpb_field_value(layout->key[c], gpb_key_field(layout->key[c], key));
}

#endif							/* GPB_KEY_COLUMNS_H */
