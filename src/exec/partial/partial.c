/*-------------------------------------------------------------------------
 *
 * partial.c
 *	  Partial states of every kind: new, merged, read, written.
 *
 * A state begins with a byte each for the version, the kind, and the type of its values; then, if
 * the kind has such, the type of what orders, and, if values may be texts, the encoding of the
 * database.  What follows is the kind's own.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "exec/partial/partial_internal.h"

#define GPB_PARTIAL_VERSION	1

/* ---- new ---- */

static inline bool
has_order(GpbPartialKind kind)
{
	return kind == GPB_PARTIAL_OF_FIRST || kind == GPB_PARTIAL_OF_LAST;
}

static inline bool
is_numerics(const GpbPartial *partial)
{
	return partial->numerics != NULL;
}

static void
set_header(GpbPartial *partial)
{
	uint8	   *at = partial->header;

	*at++ = GPB_PARTIAL_VERSION;
	*at++ = (uint8) partial->kind;
	*at++ = partial->type->number;
	if (has_order(partial->kind))
		*at++ = partial->extreme->by_type->number;
	if (partial->type->form == GPB_FORM_TEXT)
		*at++ = (uint8) GetDatabaseEncoding();
	partial->header_length = (int) (at - partial->header);
}

GpbPartial *
gpb_partial_new(GpbPartialKind kind, const GpbPartialType *type, const GpbPartialType *by_type)
{
	GpbPartial *partial = palloc0(sizeof(GpbPartial));

	partial->kind = kind;
	partial->type = type;
	partial->context = CurrentMemoryContext;
	if (has_order(kind))
		gpb_extreme_new(partial, by_type);
	else if (kind == GPB_PARTIAL_OF_VALUES)
		gpb_values_new(partial);
	else if (type->form == GPB_FORM_NUMERIC)
		gpb_numerics_new(partial);
	else
		gpb_sums_new(partial);
	set_header(partial);
	return partial;
}

int64
gpb_partial_count(const GpbPartial *partial)
{
	if (partial->extreme != NULL)
		return 1;
	if (partial->values != NULL)
		return gpb_values_count(partial);
	if (is_numerics(partial))
		return partial->numerics->count;
	return partial->answer[partial->format->column[0].count];
}

/* ---- headers ---- */

/* What a state begins with */
typedef struct GpbPartialHeader
{
	GpbPartialKind kind;
	const GpbPartialType *type;
	const GpbPartialType *by_type;	/* NULL if the kind has no order */
} GpbPartialHeader;

/* Raise an error unless there are states of this kind and types. */
static void
check_header(const GpbPartialHeader *header)
{
	bool		is_pair = header->kind == GPB_PARTIAL_OF_PAIRS;

	if ((header->kind <= GPB_PARTIAL_OF_PAIRS && !header->type->has_sums) ||
		(is_pair && header->type != gpb_partial_type(FLOAT8OID)) ||
		(header->by_type != NULL && header->by_type->form == GPB_FORM_TEXT))
		gpb_partial_damaged("it is of a type that its kind does not have");
}

/* Raise an error unless texts are in the database's encoding. */
static void
check_encoding(int encoding)
{
	if (!PG_VALID_BE_ENCODING(encoding))
		gpb_partial_damaged("it is in an unknown encoding");
	if (encoding != GetDatabaseEncoding())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("aggregate state has texts in encoding %s, but the database has %s",
						pg_encoding_to_char(encoding), GetDatabaseEncodingName()),
				 errhint("States of texts can be read in databases of one encoding alone.")));
}

static void
take_header(GpbPartialReader *reader, GpbPartialHeader *header)
{
	int			version = gpb_take_byte(reader);
	int			kind;

	if (version != GPB_PARTIAL_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("aggregate state has version %d, not %d", version, GPB_PARTIAL_VERSION),
				 errhint("Use the version of gpubtree that made the state, or a later one, "
						 "or compute the state anew from its rows.")));
	kind = gpb_take_byte(reader);
	if (kind < GPB_PARTIAL_OF_SUMS || kind > GPB_PARTIAL_OF_LAST)
		gpb_partial_damaged("it is of an unknown kind");
	header->kind = kind;
	header->type = gpb_partial_type_numbered(gpb_take_byte(reader));
	header->by_type = NULL;
	if (has_order(kind))
		header->by_type = gpb_partial_type_numbered(gpb_take_byte(reader));
	check_header(header);
	if (header->type->form == GPB_FORM_TEXT)
		check_encoding(gpb_take_byte(reader));
}

/* ---- reading ---- */

/* Raise an error unless all of a state has been read. */
static inline void
require_end(const GpbPartialReader *reader)
{
	if (reader->at != reader->end)
		gpb_partial_damaged("it is too long");
}

/* Add what follows the header to a state of that kind. */
static void
take_rest(GpbPartialReader *reader, GpbPartial *partial)
{
	if (partial->extreme != NULL)
		gpb_extreme_take(reader, partial);
	else if (partial->values != NULL)
		gpb_values_take(reader, partial);
	else if (is_numerics(partial))
		gpb_numerics_take(reader, partial);
	else
		gpb_sums_take(reader, partial);
	require_end(reader);
}

static inline GpbPartialReader
reader_of(const struct varlena *bytes)
{
	const uint8 *at = (const uint8 *) VARDATA_ANY(bytes);

	return (GpbPartialReader) {at, at + VARSIZE_ANY_EXHDR(bytes)};
}

GpbPartial *
gpb_partial_read(const struct varlena *bytes)
{
	GpbPartialReader reader = reader_of(bytes);
	GpbPartialHeader header;
	GpbPartial *partial;

	take_header(&reader, &header);
	partial = gpb_partial_new(header.kind, header.type, header.by_type);
	take_rest(&reader, partial);
	return partial;
}

bool
gpb_partial_is(const struct varlena *bytes, GpbPartialKind kind, const GpbPartialType *type)
{
	GpbPartialReader reader = reader_of(bytes);
	GpbPartialHeader header;

	take_header(&reader, &header);
	return header.kind == kind && header.type == type;
}

bool
gpb_partial_add_to_answer(const struct varlena *bytes, const GpbAnswerColumn *columns,
						  int64 *answer)
{
	GpbPartialReader reader = reader_of(bytes);
	GpbPartialHeader header;

	take_header(&reader, &header);
	if (header.kind > GPB_PARTIAL_OF_PAIRS || header.type->form == GPB_FORM_NUMERIC)
		elog(ERROR, "an aggregate state of kind %d has no words of an answer", header.kind);
	if (!gpb_sums_take_columns(&reader, header.kind, header.type, columns, answer))
		return false;
	require_end(&reader);
	return true;
}

/* Raise an error unless states of this kind and types can be merged into "into". */
static void
require_same(const GpbPartial *into, GpbPartialKind kind, const GpbPartialType *type,
			 const GpbPartialType *by_type)
{
	if (into->kind == kind && into->type == type &&
		(by_type == NULL || into->extreme->by_type == by_type))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("cannot merge aggregate states of different kinds or types"),
			 errdetail("One has values of type %s, the other of type %s.",
					   format_type_be(into->type->sql), format_type_be(type->sql)),
			 errhint("Merge states that one aggregate function made of values of one type.")));
}

void
gpb_partial_merge_bytes(GpbPartial *into, const struct varlena *bytes)
{
	GpbPartialReader reader = reader_of(bytes);
	GpbPartialHeader header;

	/* a header has one form, so most are known without being read */
	if (reader.end - reader.at >= into->header_length &&
		memcmp(reader.at, into->header, into->header_length) == 0)
		reader.at += into->header_length;
	else
	{
		take_header(&reader, &header);
		require_same(into, header.kind, header.type, header.by_type);
	}
	take_rest(&reader, into);
}

void
gpb_partial_merge(GpbPartial *into, GpbPartial *from)
{
	require_same(into, from->kind, from->type,
				 from->extreme != NULL ? from->extreme->by_type : NULL);
	if (into->extreme != NULL)
		gpb_extreme_merge(into, from->extreme);
	else if (into->values != NULL)
		gpb_values_merge(into, from);
	else if (is_numerics(into))
		gpb_partial_take_numerics(into, from->numerics);
	else
		gpb_sums_merge(into, from);
}

/* ---- writing ---- */

bytea *
gpb_partial_write(GpbPartial *partial)
{
	StringInfoData to;

	initStringInfo(&to);
	appendStringInfoSpaces(&to, VARHDRSZ);
	appendBinaryStringInfo(&to, (char *) partial->header, partial->header_length);
	if (partial->extreme != NULL)
		gpb_extreme_put(&to, partial);
	else if (partial->values != NULL)
		gpb_values_put_all(&to, partial);
	else if (is_numerics(partial))
		gpb_numerics_put(&to, partial);
	else
		gpb_sums_put(&to, partial);
	SET_VARSIZE(to.data, to.len);
	return (bytea *) to.data;
}
