/*-------------------------------------------------------------------------
 *
 * dictionary.c
 *	  From values to the codes of an index's dictionary, and back.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/detoast.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key_columns.h"
#include "index/dictionary.h"

GpbDictionary *
gpb_dictionary_read(Relation index)
{
	GpbDictionary *dictionary = gpb_dictionary_begin(index, CurrentMemoryContext);

	gpb_dictionary_read_on(index, dictionary, gpb_layout(index));
	return dictionary;
}

bool
gpb_dictionary_has(Relation index, GpbDictionary *dictionary, int column, uint32 code)
{
	if (unlikely(code >= dictionary->ncodes))
		gpb_dictionary_look(dictionary);
	if (unlikely(code >= dictionary->ncodes))
	{
		GpbLayout	layout = *gpb_layout(index);

		gpb_dictionary_read_some(index, dictionary, &layout, code + 1);
	}
	return code < dictionary->ncodes && gpb_copied_value(dictionary->copy, code)->column == column;
}

Datum
gpb_dictionary_read_value(Relation index, GpbDictionary *dictionary, int column, uint32 code)
{
	gpb_dictionary_look(dictionary);
	if (code >= dictionary->ncodes && !dictionary->complete &&
		code - dictionary->ncodes >= gpb_far_codes)
	{
		const struct varlena *value = gpb_dictionary_single_value(index, dictionary, column, code);

		if (value != NULL)
			return PointerGetDatum(value);
	}
	if (!gpb_dictionary_has(index, dictionary, column, code))
		gpb_corrupted_index(index, "an entry has a code that the dictionary lacks");
	return PointerGetDatum(gpb_copied_value(dictionary->copy, code)->header);
}

/* Append a value that the copy lacks, and return its code; GPB_NO_CODE if it has none. */
static uint32
append(Relation index, GpbDictionary *dictionary, const GpbLayout *layout, int column,
	   const char *bytes, int length, uint32 hash)
{
	GpbPageValue value;

	gpb_page_value(&value, column, bytes, length);
	gpb_dictionary_append(index, dictionary, layout, &value.value, hash);
	return gpb_dictionary_find(dictionary, column, bytes, length, hash);
}

/*
 * The code of a value that the copy lacks: of one more that the pages have, or that is appended if
 * "add"; else GPB_NO_CODE.
 */
static uint32
code_of_pages(Relation index, GpbDictionary *dictionary, const GpbLayout *layout, int column,
			  const char *bytes, int length, uint32 hash, bool add)
{
	uint32		code;

	if (layout != NULL && gpb_dictionary_is_far(index, dictionary, layout))
		return gpb_dictionary_single_code(index, dictionary, layout, column, bytes, length, add);
	gpb_dictionary_read_on(index, dictionary, layout);
	code = gpb_dictionary_find(dictionary, column, bytes, length, hash);
	if (code == GPB_NO_CODE && add)
		code = append(index, dictionary, layout, column, bytes, length, hash);
	return code;
}

/*
 * The code of a value; it is appended if "add", and GPB_NO_CODE if not there.  layout is NULL while
 * the index is being built.
 */
static uint32
code_of(Relation index, GpbDictionary *dictionary, const GpbLayout *layout, int column,
		Datum value, bool add)
{
	struct varlena *plain = PG_DETOAST_DATUM_PACKED(value);
	const char *bytes = VARDATA_ANY(plain);
	int			length = VARSIZE_ANY_EXHDR(plain);
	uint32		hash = gpb_dictionary_hash(column, bytes, length);
	uint32		code = gpb_dictionary_find(dictionary, column, bytes, length, hash);

	/* A copy of as many values as can be is complete. */
	if (unlikely(code == GPB_NO_CODE && dictionary->ncodes < gpb_dictionary_codes))
		code = code_of_pages(index, dictionary, layout, column, bytes, length, hash, add);
	if ((Pointer) plain != DatumGetPointer(value))
		pfree(plain);
	return code;
}

uint32
gpb_dictionary_code(Relation index, GpbDictionary *dictionary, int column, Datum value)
{
	GpbLayout	layout = *gpb_layout(index);

	return code_of(index, dictionary, &layout, column, value, false);
}

/* What gpb_dictionary_encode(), _build() and _recode() do */
static Datum *
code_row(Relation index, const GpbLayout *layout, const Datum *values, const bool *isnull,
		 Datum *coded, bool add, bool building)
{
	GpbDictionary *dictionary = building ? gpb_dictionary_of_build(index) : gpb_dictionary(index);
	int			nkeys = gpb_count_keys(layout);
	Size		bytes = 0;

	memcpy(coded, values, gpb_layout_columns(layout) * sizeof(Datum));
	for (int c = 0; c < layout->ncolumns; c++)
	{
		Size		length;
		uint32		code = GPB_NO_CODE;

		if (layout->coding[c] != GPB_CODING_DICTIONARY || isnull[nkeys + c])
			continue;
		/* Which values are too long follows from the row: so whoever checks finds the same. */
		length = toast_raw_datum_size(values[nkeys + c]) - VARHDRSZ;
		if (bytes + length <= GPB_DICTIONARY_ROW_BYTES)
		{
			bytes += length;
			code = code_of(index, dictionary, building ? NULL : layout, c, values[nkeys + c],
						   add);
		}
		if (unlikely(code == GPB_NO_CODE))
		{
			code = GPB_ELSEWHERE;
			if (add)
				gpb_dictionary_note_elsewhere(index, dictionary, building ? NULL : layout, c);
		}
		coded[nkeys + c] = UInt32GetDatum(code);
	}
	return coded;
}

Datum *
gpb_dictionary_encode(Relation index, const GpbLayout *layout, const Datum *values,
					  const bool *isnull, Datum *coded)
{
	return code_row(index, layout, values, isnull, coded, true, false);
}

Datum *
gpb_dictionary_build(Relation index, const GpbLayout *layout, const Datum *values,
					 const bool *isnull, Datum *coded)
{
	return code_row(index, layout, values, isnull, coded, true, true);
}

uint32
gpb_dictionary_built(Relation index)
{
	GpbDictionary *dictionary = gpb_dictionary_of_build(index);
	uint32		codes;

	gpb_dictionary_read_on(index, dictionary, NULL);
	codes = dictionary->ncodes;
	gpb_dictionary_forget(index);
	return codes;
}

Datum *
gpb_dictionary_recode(Relation index, const GpbLayout *layout, const Datum *values,
					  const bool *isnull, Datum *coded)
{
	return code_row(index, layout, values, isnull, coded, false, false);
}
