/*-------------------------------------------------------------------------
 *
 * rel_cache.c
 *	  The layout of an index, derived from its columns, and what a relcache entry keeps of it.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "page/page.h"

#define GPB_KEY_TYPES \
	"smallint, integer, bigint, real, double precision, boolean, date, " \
	"timestamp without time zone, timestamp with time zone, time without time zone, money, oid, " \
	"\"char\", xid8, pg_lsn"

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
		default:
			return GPB_CODING_NONE;
	}
}

GpbCoding
gpb_type_coding(Oid type)
{
	GpbCoding	coding;

	type = getBaseType(type);
	coding = gpb_core_type_coding(type);
	return coding == GPB_CODING_NONE && type_is_enum(type) ? GPB_CODING_OID : coding;
}

int
gpb_kind_width(int kind)
{
	return kind == GPB_KIND_INT2 ? 2 : kind == GPB_KIND_INT4 ? 4 : 8;
}

/* Raise ERRCODE_FEATURE_NOT_SUPPORTED: this index column has a type that we cannot hold. */
static void
type_refused(Relation index, int column, bool is_key)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(index), column);

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 is_key ?
			 errmsg("column \"%s\" of type %s cannot be the key of a gpubtree index",
					NameStr(attribute->attname),
					format_type_be(attribute->atttypid)) :
			 errmsg("column \"%s\" of type %s cannot be an INCLUDE column of a gpubtree index",
					NameStr(attribute->attname),
					format_type_be(attribute->atttypid)),
			 is_key ? errdetail("Types allowed: %s.", GPB_KEY_TYPES) :
			 errdetail("Types allowed: %s, regclass and other names of OIDs, and enum types.",
					   GPB_KEY_TYPES),
			 errhint("Leave the column out of the index, or use an access method such as btree.")));
}

/* Fill in the part of the layout that the key column decides. */
static void
layout_key(Relation index, GpbLayout *layout)
{
	int16		indoption = index->rd_indoption[0];

	/* A class of an enum type would have its OIDs for keys, which need not be in its order. */
	layout->key_coding = gpb_type_coding(index->rd_opcintype[0]);
	if (layout->key_coding == GPB_CODING_NONE ||
		(layout->key_coding == GPB_CODING_OID && index->rd_opcintype[0] != OIDOID))
		type_refused(index, 0, true);
	layout->key_width = gpb_coding_key_width(layout->key_coding);
	layout->key_kind = gpb_coding_kind(layout->key_coding);
	if (layout->key_kind == GPB_KIND_FLOAT8)
		layout->key_kind = layout->key_width == 8 ? GPB_KIND_INT8 : GPB_KIND_INT4;
	if (indoption & INDOPTION_DESC)
		layout->flags |= GPB_LAYOUT_DESC;
	if (indoption & INDOPTION_NULLS_FIRST)
		layout->flags |= GPB_LAYOUT_NULLS_FIRST;
}

/*
 * Lay out the INCLUDE columns behind the locator: first those of 4 and 8
 * bytes, which want 4-byte alignment, then those of 2.
 */
static void
layout_include(Relation index, GpbLayout *layout)
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
		layout->coding[c] = gpb_type_coding(TupleDescAttr(descriptor, nkeys + c)->atttypid);
		if (layout->coding[c] == GPB_CODING_NONE)
			type_refused(index, nkeys + c, false);
		layout->kind[c] = gpb_coding_kind(layout->coding[c]);
		if (layout->kind[c] == GPB_KIND_INT2)
			continue;
		layout->offset[c] = offset;
		offset += gpb_kind_width(layout->kind[c]);
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

/* Get our part of a relation cache entry, made at first use. */
GpbRelCache *
gpb_rel_cache(Relation index)
{
	GpbRelCache cache;

	if (index->rd_amcache != NULL)
		return (GpbRelCache *) index->rd_amcache;

	memset(&cache, 0, sizeof(cache));
	layout_key(index, &cache.layout);
	layout_include(index, &cache.layout);
	cache.root = InvalidBlockNumber;

	/* the look-ups above may have built the entry anew, so assign last */
	if (index->rd_amcache == NULL)
		index->rd_amcache = MemoryContextAlloc(index->rd_indexcxt, sizeof(cache));
	memcpy(index->rd_amcache, &cache, sizeof(cache));
	return (GpbRelCache *) index->rd_amcache;
}

const GpbLayout *
gpb_layout(Relation index)
{
	return &gpb_rel_cache(index)->layout;
}
