/*-------------------------------------------------------------------------
 *
 * rel_cache.c
 *	  The layout of an index, derived from its columns, and what a relcache entry keeps of it.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "key_columns.h"
#include "page/base_type.h"
#include "page/page.h"

/* Types that one of several key columns can have, and INCLUDE columns, beside those of all keys */
#define GPB_SEVERAL_KEY_TYPES	"numeric(p, s) of up to 18 digits, time with time zone"
#define GPB_INCLUDE_TYPES \
	GPB_LONE_KEY_TYPES ", interval, text, character varying, character, bytea, " \
	"regclass and other names of OIDs, and enum types"

GpbCoding
gpb_core_type_coding(Oid type)
{
	switch (type)
	{
		case INT2OID:
			return GPB_CODING_INT2;
		case INT4OID:
		case DATEOID:
			return GPB_CODING_INT4;
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
		case MONEYOID:
			return GPB_CODING_INT8;
		case FLOAT8OID:
			return GPB_CODING_FLOAT8;
		case FLOAT4OID:
			return GPB_CODING_FLOAT4;
		case BOOLOID:
			return GPB_CODING_BOOL;
		case CHAROID:
			return GPB_CODING_CHAR;
		case OIDOID:
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGTYPEOID:
		case REGROLEOID:
		case REGNAMESPACEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
			return GPB_CODING_OID;
		case XID8OID:
		case LSNOID:
			return GPB_CODING_UINT8;
		case MACADDROID:
			return GPB_CODING_MACADDR;
		case MACADDR8OID:
			return GPB_CODING_MACADDR8;
		default:
			return GPB_CODING_NONE;
	}
}

GpbCoding
gpb_type_coding(Oid type)
{
	GpbCoding	coding = gpb_core_type_coding(type);

	if (coding != GPB_CODING_NONE)
		return coding;
	type = gpb_base_type(type);
	coding = gpb_core_type_coding(type);
	return coding == GPB_CODING_NONE && type_is_enum(type) ? GPB_CODING_OID : coding;
}

/* The coding of those of core's types whose values an index holds, but not as words */
static GpbCoding
wordless_type_coding(Oid type)
{
	switch (type)
	{
		case UUIDOID:
			return GPB_CODING_UUID;
		case INTERVALOID:
			return GPB_CODING_INTERVAL;
		case TIMETZOID:
			return GPB_CODING_TIMETZ;
		default:
			return GPB_CODING_NONE;
	}
}

/* Scans ask this of each condition, so core's own types cost no look at a catalog. */
GpbCoding
gpb_held_type_coding(Oid type)
{
	GpbCoding	coding = gpb_core_type_coding(type);

	if (coding == GPB_CODING_NONE)
		coding = wordless_type_coding(type);
	if (coding == GPB_CODING_NONE)
		coding = wordless_type_coding(gpb_base_type(type));
	return coding == GPB_CODING_NONE ? gpb_type_coding(type) : coding;
}

bool
gpb_type_has_dictionary(Oid type)
{
	type = gpb_base_type(type);
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == BYTEAOID;
}

/* Raise ERRCODE_FEATURE_NOT_SUPPORTED: this index column has a type that we cannot hold. */
static void
type_refused(Relation index, int column, bool is_key)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(index), column);
	bool		is_one_of_several = is_key && IndexRelationGetNumberOfKeyAttributes(index) > 1;

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 is_one_of_several ?
			 errmsg("column \"%s\" of type %s cannot be one of several key columns of a gpubtree "
					"index",
					NameStr(attribute->attname),
					format_type_be(attribute->atttypid)) :
			 is_key ?
			 errmsg("column \"%s\" of type %s cannot be the key of a gpubtree index",
					NameStr(attribute->attname),
					format_type_be(attribute->atttypid)) :
			 errmsg("column \"%s\" of type %s cannot be an INCLUDE column of a gpubtree index",
					NameStr(attribute->attname),
					format_type_be(attribute->atttypid)),
			 is_one_of_several ?
			 errdetail("Types allowed: %s, %s.", GPB_KEY_TYPES, GPB_SEVERAL_KEY_TYPES) :
			 errdetail("Types allowed: %s, %s.", GPB_KEY_TYPES,
					   is_key ? GPB_LONE_KEY_TYPES : GPB_INCLUDE_TYPES),
			 is_one_of_several ?
			 errhint("Put the column into the INCLUDE list, make it the only key column, or use an "
					 "access method such as btree.") :
			 errhint("Leave the column out of the index, or use an access method such as btree.")));
}

/* ---- numeric ---- */

/* The digits of a column of type numeric; false if its type, or its domain's, does not tell. */
static bool
numeric_digits(Relation index, int column, int *precision, int *scale)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(index), column);
	int32		typmod = attribute->atttypmod;

	(void) getBaseTypeAndTypmod(attribute->atttypid, &typmod);
	return gpb_numeric_typmod(typmod, precision, scale);
}

/* The type of a column as SQL writes it */
static const char *
column_type(Relation index, int column)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(index), column);

	return format_type_with_typemod(attribute->atttypid, attribute->atttypmod);
}

/* Raise ERRCODE_FEATURE_NOT_SUPPORTED: a numeric column has digits that we cannot hold. */
static void
numeric_refused(Relation index, int column, const char *type, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("column \"%s\" of type %s cannot be in a gpubtree index",
					NameStr(TupleDescAttr(RelationGetDescr(index), column)->attname), type),
			 errdetail("An index holds values of type numeric(p, s) of up to %d digits.",
					   GPB_WIDE_NUMERIC_DIGITS),
			 errhint("%s", hint)));
}

/*
 * Get the coding of a numeric column from the metapage.  Returns false if the index is not built
 * yet.  The page is not checked beyond what tells that it is the metapage: that takes a layout.
 */
static bool
stored_coding(Relation index, int column, GpbCoding *coding)
{
	Buffer		buffer;
	const GpbMeta *meta;
	bool		wide;
	int			scale;

	if (!RELKIND_HAS_STORAGE(index->rd_rel->relkind) || RelationGetNumberOfBlocks(index) == 0)
		return false;
	buffer = ReadBuffer(index, GPB_META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	meta = gpb_meta(BufferGetPage(buffer));
	wide = (meta->scale[column] & GPB_META_WIDE) != 0;
	scale = meta->scale[column] & ~GPB_META_WIDE;
	if (meta->magic != GPB_META_MAGIC ||
		scale > (wide ? GPB_WIDE_NUMERIC_DIGITS : GPB_NUMERIC_DIGITS))
		gpb_corrupted(index, GPB_META_BLOCK, "not a metapage");
	UnlockReleaseBuffer(buffer);
	*coding = wide ? gpb_wide_numeric_coding(scale) : gpb_numeric_coding(scale);
	return true;
}

/*
 * The coding of a numeric column.  The scale is the catalog's: ALTER TABLE builds the index anew if
 * that changes, or if there are to be fewer digits.  But it keeps the index of a column that gets
 * more digits, or becomes numeric without a precision; the values that the index has are as they
 * were, which the metapage tells, and others do not get in (gpb_require_numerics()).  Hence a
 * column of few digits had no more of them before, and needs no look there.
 */
static GpbCoding
numeric_coding(Relation index, int column, bool for_build)
{
	int			precision;
	int			scale;
	bool		known = numeric_digits(index, column, &precision, &scale);
	GpbCoding	coding;

	if (known)
	{
		/* Digits before the point that are always 0 count too. */
		precision -= Min(scale, 0);
		scale = Max(scale, 0);
		if (precision <= GPB_NUMERIC_DIGITS && scale <= GPB_NUMERIC_DIGITS)
			return gpb_numeric_coding(scale);
	}
	if (!for_build && stored_coding(index, column, &coding))
		return coding;
	if (IsBinaryUpgrade)		/* the old cluster's file says: see decide_key_bits() */
		return gpb_wide_numeric_coding(known ? Min(scale, GPB_WIDE_NUMERIC_DIGITS) : 0);
	if (!known)
		numeric_refused(index, column, "numeric, without a precision,",
						"Declare the column as numeric(p, s), or cast the expression to that.");
	if (precision > GPB_WIDE_NUMERIC_DIGITS || scale > GPB_WIDE_NUMERIC_DIGITS)
		numeric_refused(index, column, column_type(index, column),
						"Leave the column out of the index, or use an access method such as btree.");
	return gpb_wide_numeric_coding(scale);
}

int
gpb_column_digits(const GpbLayout *layout, int column)
{
	if (column < layout->nkeys)
		return gpb_numeric_bits_digits(gpb_column_code_bits(layout->key[column]));
	return gpb_coding_is_wide_numeric(gpb_column_coding(layout, column)) ?
		GPB_WIDE_NUMERIC_DIGITS : GPB_NUMERIC_DIGITS;
}

/* Does a value fit a numeric column, which is counted from 0? */
static bool
numeric_fits(const GpbLayout *layout, int column, Datum value)
{
	GpbCoding	coding = gpb_column_coding(layout, column);
	int64		word;
	int128		number;

	if (gpb_coding_is_wide_numeric(coding))
		return gpb_wide_numeric_fits(value, gpb_coding_scale(coding), &number);
	return gpb_numeric_fits(value, gpb_coding_scale(coding), &word) &&
		(column >= layout->nkeys ||
		 gpb_numeric_has_digits(word, gpb_column_digits(layout, column)));
}

void
gpb_require_numerics(Relation index, const GpbLayout *layout, const Datum *values,
					 const bool *isnull)
{
	for (int c = 0; c < gpb_layout_columns(layout); c++)
	{
		GpbCoding	coding = gpb_column_coding(layout, c);
		int			digits;

		if (!gpb_coding_is_numeric(coding) || isnull[c] || numeric_fits(layout, c, values[c]))
			continue;
		digits = gpb_column_digits(layout, c);
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value %s of column \"%s\" does not fit index \"%s\"",
						DatumGetCString(DirectFunctionCall1(numeric_out, values[c])),
						NameStr(TupleDescAttr(RelationGetDescr(index), c)->attname),
						RelationGetRelationName(index)),
				 errdetail("The index has room for numeric(%d, %d): values with %d digits "
						   "behind the point, and %d in all.",
						   digits, gpb_coding_scale(coding), gpb_coding_scale(coding), digits),
				 errhint("REINDEX the index, if the column is numeric(p, s) of up to %d digits, or "
						 "drop it.",
						 c < layout->nkeys ? GPB_NUMERIC_DIGITS : GPB_WIDE_NUMERIC_DIGITS)));
	}
}

/* ---- layouts ---- */

/* The coding of a column of the index whose values are of "type", which may be a domain */
static GpbCoding
attribute_coding(Relation index, int column, Oid type, bool for_build)
{
	return gpb_base_type(type) == NUMERICOID ? numeric_coding(index, column, for_build) :
		gpb_held_type_coding(type);
}

/* Fill in the part of the layout that the key column decides. */
static void
layout_key(Relation index, bool for_build, GpbLayout *layout)
{
	int16		indoption = index->rd_indoption[0];

	/* A class of an enum type would have its OIDs for keys, which need not be in its order. */
	layout->key_coding = attribute_coding(index, 0, index->rd_opcintype[0], for_build);
	if (layout->key_coding == GPB_CODING_NONE || layout->key_coding == GPB_CODING_INTERVAL ||
		(layout->key_coding == GPB_CODING_OID && index->rd_opcintype[0] != OIDOID))
		type_refused(index, 0, true);
	layout->key_width = gpb_coding_key_width(layout->key_coding);
	layout->key_kind = gpb_coding_kind(layout->key_coding);
	if (layout->key_kind == GPB_KIND_FLOAT8 || layout->key_coding == GPB_CODING_TIMETZ)
		layout->key_kind = layout->key_width == 8 ? GPB_KIND_INT8 : GPB_KIND_INT4;
	if (indoption & INDOPTION_DESC)
		layout->flags |= GPB_LAYOUT_DESC;
	if (indoption & INDOPTION_NULLS_FIRST)
		layout->flags |= GPB_LAYOUT_NULLS_FIRST;
}

/* ---- keys of several columns ---- */

/*
 * Their fields follow from the columns' types and options, but for two things: which columns have a
 * bit for NULL, and how many bits a numeric column has.  A build decides these by what cannot be
 * NULL then, by declaration or by the index's predicate, and by the column's digits.  The metapage
 * keeps them, since DROP NOT NULL leaves the index as it is, and so do CREATE OR REPLACE of a
 * function of the predicate, and ALTER TABLE that gives a column more digits.
 */

bool
gpb_implies_not_null(List *predicate, Expr *expression)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = expression;
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	return predicate_implied_by(list_make1(test), predicate, false);
}

/* The expression that index column c, counted from 0, has the values of; "heap" is its table. */
static Expr *
column_expression(Relation index, Relation heap, int c)
{
	AttrNumber	attno = index->rd_index->indkey.values[c];
	Form_pg_attribute attribute;
	int			place = 0;

	if (attno != 0)
	{
		/* 1 is the number of the table in expressions and predicates that the catalog has */
		attribute = TupleDescAttr(RelationGetDescr(heap), attno - 1);
		return (Expr *) makeVar(1, attno, attribute->atttypid, attribute->atttypmod,
								attribute->attcollation, 0);
	}
	for (int i = 0; i < c; i++)
		place += index->rd_index->indkey.values[i] == 0;
	return list_nth(RelationGetIndexExpressions(index), place);
}

/*
 * May index column c, counted from 0, be NULL, as far as the catalog knows?  A row for which the
 * index's predicate is not true never comes to the index, not even a dead one to a build.
 */
static bool
column_is_nullable(Relation index, int c)
{
	AttrNumber	attno = index->rd_index->indkey.values[c];
	Relation	heap;
	bool		nullable;

	/* who builds an index has locked its table */
	heap = table_open(index->rd_index->indrelid, NoLock);
	nullable = (attno == 0 || !GPB_NEVER_NULL(RelationGetDescr(heap), attno - 1)) &&
		!gpb_implies_not_null(RelationGetIndexPredicate(index),
							  column_expression(index, heap, c));
	table_close(heap, NoLock);
	return nullable;
}

/*
 * The coding of numeric key column c, and the digits that its values have at most.  For pg_upgrade
 * an index that is being built has one digit, which takes the least room: see decide_key_bits().
 */
static GpbCoding
numeric_key_coding(Relation index, int c, bool building, int *digits)
{
	GpbCoding	coding = numeric_coding(index, c, building);
	int			scale;

	if (!numeric_digits(index, c, digits, &scale))
		*digits = GPB_NUMERIC_DIGITS;
	else
		*digits = Min(*digits - Min(scale, 0), GPB_NUMERIC_DIGITS);
	if (building && IsBinaryUpgrade)
	{
		*digits = 1;
		return gpb_numeric_coding(Min(gpb_coding_scale(coding), GPB_NUMERIC_DIGITS));
	}
	if (gpb_coding_is_wide_numeric(coding))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of type %s cannot be one of several key columns of a gpubtree "
						"index",
						NameStr(TupleDescAttr(RelationGetDescr(index), c)->attname),
						column_type(index, c)),
				 errdetail("Among several key columns a numeric has up to %d digits.",
						   GPB_NUMERIC_DIGITS),
				 errhint("Put the column into the INCLUDE list, make it the only key column, or "
						 "use an access method such as btree.")));
	return coding;
}

/*
 * Describe column c without its code for NULL, if a bit makes that, and without its place.  Of an
 * index that is built already, read_key_bits() has more to say.
 */
static void
describe_column(Relation index, int c, bool building, GpbKeyColumn *column)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	int16		options = index->rd_indoption[c];
	Oid			type = index->rd_opcintype[c];
	int64		least;
	int64		greatest;
	int			digits = 0;

	column->coding = type == NUMERICOID ? numeric_key_coding(index, c, building, &digits) :
		type == TIMETZOID ? GPB_CODING_TIMETZ : gpb_type_coding(type);
	if (column->coding == GPB_CODING_NONE ||
		(column->coding == GPB_CODING_OID && type != OIDOID))
		type_refused(index, c, true);

	/* Of equal values with different keys those of the next column would not be in order. */
	if (!gpb_coding_key_is_exact(column->coding) && c + 1 < nkeys)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of type %s can be the last key column only",
						NameStr(TupleDescAttr(RelationGetDescr(index), c)->attname),
						format_type_be(type)),
				 errdetail("Equal values of the type can differ, as 0 and -0 do."),
				 errhint("Put the column last, or into the INCLUDE list.")));

	gpb_coding_key_limits(column->coding, &least, &greatest);
	column->bits = digits > 0 ? gpb_numeric_bits(digits) :
		pg_leftmost_one_pos64((uint64) greatest - (uint64) least) + 1;
	column->flags = 0;
	if (least < 0)
		column->flags |= GPB_COLUMN_SIGNED;
	if (options & INDOPTION_DESC)
		column->flags |= GPB_COLUMN_DESC;
	if (options & INDOPTION_NULLS_FIRST)
		column->flags |= GPB_COLUMN_NULLS_FIRST;
	if (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID)
		column->flags |= GPB_COLUMN_NULL_SPARE;
	if (type == NUMERICOID)
		column->flags |= GPB_COLUMN_NULL_SPARE | GPB_COLUMN_NAN;
}

/* Give the column a bit for NULL. */
static void
add_null_bit(GpbKeyColumn *column)
{
	column->flags |= GPB_COLUMN_NULL_BIT;
	column->bits++;
}

/* Take the bit for NULL from the column.  Returns 0 if it has none, else 1. */
static int
take_null_bit(GpbKeyColumn *column)
{
	if ((column->flags & GPB_COLUMN_NULL_BIT) == 0)
		return 0;
	column->flags &= ~GPB_COLUMN_NULL_BIT;
	column->bits--;
	return 1;
}

/*
 * Make the hint that says how to do without so many, "wanted", bits for NULL; NULL if the columns
 * have fewer.  It names columns as pg_get_indexdef() does: the index may call one that is there
 * twice "a1", and calls an expression "expr".  An expression cannot be declared NOT NULL.
 */
static const char *
null_bits_hint(Relation index, const GpbLayout *layout, int wanted)
{
	bool		are_columns = true;
	int			spared = 0;
	StringInfoData names;
	StringInfoData condition;

	initStringInfo(&names);
	initStringInfo(&condition);
	for (int c = 0; c < layout->nkeys && spared < wanted; c++)
	{
		const char *name;

		if ((layout->key[c].flags & GPB_COLUMN_NULL_BIT) == 0)
			continue;
		name = TextDatumGetCString(DirectFunctionCall3(pg_get_indexdef_ext,
													   ObjectIdGetDatum(RelationGetRelid(index)),
													   Int32GetDatum(c + 1), BoolGetDatum(true)));
		appendStringInfo(&names, "%s%s", spared > 0 ? ", " : "", name);
		appendStringInfo(&condition, "%s%s IS NOT NULL", spared > 0 ? " AND " : "", name);
		are_columns &= index->rd_index->indkey.values[c] != 0;
		spared++;
	}
	if (spared < wanted)
		return NULL;
	if (!are_columns)
		return psprintf("Add WHERE %s to the index, which needs no code for NULL then.",
						condition.data);
	return psprintf("Make %s %s NOT NULL, or add WHERE %s to the index, which needs no code for "
					"NULL then.",
					spared > 1 ? "columns" : "column", names.data, condition.data);
}

/* Raise an error: the fields need this many bits, which is too many. */
static void
refuse_keys(Relation index, const GpbLayout *layout, int bits)
{
	const char *hint = null_bits_hint(index, layout, bits - GPB_MAX_KEY_BITS);
	StringInfoData columns;

	initStringInfo(&columns);
	for (int c = 0; c < layout->nkeys; c++)
		appendStringInfo(&columns, "%s\"%s\" %d", c > 0 ? ", " : "",
						 NameStr(TupleDescAttr(RelationGetDescr(index), c)->attname),
						 layout->key[c].bits);
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("the key columns of index \"%s\" do not fit a key of %d bytes",
					RelationGetRelationName(index), GPB_MAX_KEY_BITS / 8),
			 errdetail("They need %d bits: %s.", bits, columns.data),
			 hint != NULL ?
			 errhint("%s", hint) :
			 errhint("Make the last of them INCLUDE columns, or use an access method such as "
					 "btree.")));
}

/*
 * Give numeric columns the digits for which there is room, from the first column on: the fields
 * need "bits" as yet, and may need "limit".
 */
static void
add_digits(GpbLayout *layout, int bits, int limit)
{
	for (int c = 0; c < layout->nkeys; c++)
	{
		int			most = layout->key[c].bits + limit - bits;
		int			digits = GPB_NUMERIC_DIGITS;

		if (!gpb_coding_is_numeric(layout->key[c].coding))
			continue;
		while (gpb_numeric_bits(digits) > most)
			digits--;
		bits += gpb_numeric_bits(digits) - layout->key[c].bits;
		layout->key[c].bits = gpb_numeric_bits(digits);
	}
}

/*
 * Decide which columns have a bit for NULL.  Those that can be NULL must have one.  Of the others,
 * those for which there is room get one too, so that DROP NOT NULL does no harm.  Numeric columns
 * get more digits than they have if there is room still, so that ALTER TABLE may give them more.
 */
static void
decide_key_bits(Relation index, GpbLayout *layout)
{
	int			bits = 0;
	int			limit;

	for (int c = 0; c < layout->nkeys; c++)
	{
		if (!(layout->key[c].flags & GPB_COLUMN_NULL_SPARE) && column_is_nullable(index, c))
			add_null_bit(&layout->key[c]);
		bits += layout->key[c].bits;
	}

	/*
	 * pg_upgrade builds an index of an empty table, and puts the old cluster's file in its place,
	 * which may be of a time when more columns were NOT NULL.  So any layout will do.
	 */
	for (int c = layout->nkeys - 1; IsBinaryUpgrade && bits > GPB_MAX_KEY_BITS && c >= 0; c--)
		bits -= take_null_bit(&layout->key[c]);
	if (bits > GPB_MAX_KEY_BITS)
		refuse_keys(index, layout, bits);

	limit = bits <= 32 ? 32 : bits <= 64 ? 64 : GPB_MAX_KEY_BITS;
	for (int c = 0; c < layout->nkeys && bits < limit; c++)
	{
		if (gpb_column_has_null(layout->key[c]))
			continue;
		add_null_bit(&layout->key[c]);
		bits++;
	}
	add_digits(layout, bits, limit);
}

/* Take from the metapage which columns have a bit for NULL, and how many bits numeric ones have. */
static void
read_key_bits(Relation index, GpbLayout *layout)
{
	Buffer		buffer = gpb_pin(index, InvalidBuffer, GPB_META_BLOCK, NULL);
	Page		page = BufferGetPage(buffer);
	GpbMeta		meta;
	const char *fault;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	fault = gpb_meta_frame_fault(page);
	meta = *gpb_meta(page);
	UnlockReleaseBuffer(buffer);
	if (fault != NULL)
		gpb_meta_refuse(index, &meta, fault);

	/* Whoever reads the metapage next finds out whether all else in it is right. */
	for (int c = 0; c < layout->nkeys; c++)
	{
		if (!gpb_column_has_null(layout->key[c]) &&
			(meta.key[c].flags & GPB_COLUMN_NULL_BIT))
			add_null_bit(&layout->key[c]);
		if (!gpb_coding_is_numeric(layout->key[c].coding))
			continue;
		if (gpb_numeric_bits_digits(meta.key[c].bits) == 0)
			gpb_corrupted(index, GPB_META_BLOCK,
						  "the metapage describes other columns than the catalog");
		layout->key[c].bits = meta.key[c].bits;
	}
}

/*
 * Fill in the part of the layout that several key columns decide.  Raises
 * ERRCODE_FEATURE_NOT_SUPPORTED, saying what would help, if their fields do not fit a key.
 */
static void
layout_keys(Relation index, bool for_build, GpbLayout *layout)
{
	/* An index without a metapage is one that is being built. */
	bool		building = for_build || RelationGetNumberOfBlocks(index) == 0;
	int			bits = 0;

	layout->nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	if (layout->nkeys > GPB_MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a gpubtree index cannot have more than %d key columns", GPB_MAX_KEYS),
				 errhint("Make the last of them INCLUDE columns.")));
	for (int c = 0; c < layout->nkeys; c++)
		describe_column(index, c, building, &layout->key[c]);

	if (building)
		decide_key_bits(index, layout);
	else
		read_key_bits(index, layout);

	for (int c = layout->nkeys - 1; c >= 0; c--)
	{
		layout->key[c].shift = bits;
		bits += layout->key[c].bits;
	}
	if (bits > GPB_MAX_KEY_BITS)
		gpb_corrupted(index, GPB_META_BLOCK,
					  "the metapage describes other columns than the catalog");
	layout->key_width = bits <= 32 ? 4 : bits <= 64 ? 8 : GPB_WIDE_KEY;
}

/* ---- INCLUDE columns ---- */

/*
 * Lay out the INCLUDE columns behind the locator: first those that want 4-byte alignment, then
 * those of 2 bytes.
 */
static void
layout_include(Relation index, bool for_build, GpbLayout *layout)
{
	TupleDesc	descriptor = RelationGetDescr(index);
	int			offset = GPB_LOCATOR_WIDTH;
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	int			ncolumns = descriptor->natts - nkeys;

	if (ncolumns > GPB_MAX_INCLUDE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a gpubtree index cannot have more than %d INCLUDE columns",
						GPB_MAX_INCLUDE),
				 errdetail("Column \"%s\" is one too many.",
						   NameStr(TupleDescAttr(descriptor, nkeys + GPB_MAX_INCLUDE)->attname)),
				 errhint("Leave columns out of the INCLUDE list.")));

	layout->ncolumns = ncolumns;
	for (int c = 0; c < ncolumns; c++)
	{
		Oid			type = TupleDescAttr(descriptor, nkeys + c)->atttypid;

		layout->coding[c] = gpb_type_has_dictionary(type) ? GPB_CODING_DICTIONARY :
			attribute_coding(index, nkeys + c, type, for_build);
		if (layout->coding[c] == GPB_CODING_NONE)
			type_refused(index, nkeys + c, false);
		layout->kind[c] = gpb_coding_kind(layout->coding[c]);
		if (layout->kind[c] == GPB_KIND_INT2)
			continue;
		layout->offset[c] = offset;
		offset += gpb_coding_row_width(layout->coding[c]);
	}
	for (int c = 0; c < ncolumns; c++)
	{
		if (layout->kind[c] != GPB_KIND_INT2)
			continue;
		layout->offset[c] = offset;
		offset += 2;
	}
	layout->row_width = TYPEALIGN(4, offset);
}

/* Make our part of a relation cache entry, in place of the one that there may be. */
static GpbRelCache *
make_rel_cache(Relation index, bool for_build)
{
	static uint64 caches_made = 0;
	GpbRelCache cache;

	memset(&cache, 0, sizeof(cache));
	cache.number = ++caches_made;
	if (IndexRelationGetNumberOfKeyAttributes(index) > 1)
		layout_keys(index, for_build, &cache.layout);
	else
		layout_key(index, for_build, &cache.layout);
	layout_include(index, for_build, &cache.layout);
	cache.root = InvalidBlockNumber;

	/* the look-ups above may have built the entry anew, so assign last */
	if (index->rd_amcache == NULL)
		index->rd_amcache = MemoryContextAlloc(index->rd_indexcxt, sizeof(cache));
	memcpy(index->rd_amcache, &cache, sizeof(cache));
	return (GpbRelCache *) index->rd_amcache;
}

/*
 * Get our part of a relation cache entry, made at first use.  The index of a partitioned table has
 * no pages: it is laid out as if one were built now.
 */
GpbRelCache *
gpb_rel_cache(Relation index)
{
	if (index->rd_amcache != NULL)
		return (GpbRelCache *) index->rd_amcache;
	return make_rel_cache(index, index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX);
}

const GpbLayout *
gpb_layout_for_build(Relation index)
{
	return &make_rel_cache(index, true)->layout;
}

const GpbLayout *
gpb_layout(Relation index)
{
	return &gpb_rel_cache(index)->layout;
}
