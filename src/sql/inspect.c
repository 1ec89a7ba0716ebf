/*-------------------------------------------------------------------------
 *
 * inspect.c
 *	  Open an index to look inside, copy a page, say in words what is on it.
 *
 *-------------------------------------------------------------------------
 */
#include "sql/inspect.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "index/index.h"

/* ---- the index ---- */

void
gpb_inspect_open(GpbInspect *look, Oid indexid)
{
	TupleDesc	columns;
	int			i;

	look->index = gpb_open_named(indexid, AccessShareLock);
	gpb_require_readable_index(look->index);
	look->layout = *gpb_layout(look->index);
	look->dictionary = gpb_layout_has_dictionary(&look->layout) ?
		gpb_dictionary(look->index) : NULL;
	look->nblocks = RelationGetNumberOfBlocks(look->index);
	look->strategy = NULL;
	gpb_mirror_block_states(look->index, &look->states);

	columns = RelationGetDescr(look->index);
	for (i = 0; i < columns->natts; i++)
	{
		Oid			function;
		bool		is_varlena;

		look->type[i] = getBaseType(TupleDescAttr(columns, i)->atttypid);
		getTypeOutputInfo(TupleDescAttr(columns, i)->atttypid, &function, &is_varlena);
		fmgr_info(function, &look->output[i]);
	}
}

void
gpb_inspect_close(GpbInspect *look)
{
	relation_close(look->index, AccessShareLock);
}

/* ---- pages ---- */

void
gpb_inspect_copy(GpbInspect *look, BlockNumber block, PGAlignedBlock *page)
{
	Buffer		buffer = gpb_pin(look->index, InvalidBuffer, block, look->strategy);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(page->data, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
}

const char *
gpb_inspect_fault(GpbInspect *look, BlockNumber block, const PGAlignedBlock *page)
{
	return gpb_page_fault_at(block, (Page) page->data, &look->layout);
}

int
gpb_inspect_dead(const PGAlignedBlock *page)
{
	const GpbPageSpecial *special = gpb_page_special(page->data);
	int			count = gpb_page_count(page->data);
	int			dead = 0;
	int			i;

	if (special->level > 0)
		return 0;
	for (i = 0; i < count; i++)
		dead += (gpb_page_locator(page->data, special->row_width, i) & GPB_LOC_DEAD) != 0;
	return dead;
}

int
gpb_inspect_used(const PGAlignedBlock *page)
{
	return gpb_page_u16(page->data, GPB_PD_LOWER) -
		gpb_key_place(gpb_page_special(page->data)->key_width, 0) +
		GPB_SPECIAL_OFFSET - gpb_page_u16(page->data, GPB_PD_UPPER);
}

double
gpb_inspect_fill(const PGAlignedBlock *page)
{
	return 100.0 * gpb_inspect_used(page) / GPB_PAGE_SPACE;
}

/* ---- flags ---- */

/* What people are told of the flags of a page */
static const struct
{
	uint16		flag;
	const char *name;
	bool		gone;			/* is a page with it out of the tree? */
}			page_flags[] =
{
	{GPB_PAGE_META, "meta", false},
	{GPB_PAGE_INCOMPLETE_SPLIT, "incomplete split", false},
	{GPB_PAGE_HAS_DEAD, "has dead", false},
	{GPB_PAGE_DELETED, "deleted", true},
	{GPB_PAGE_DICTIONARY, "dictionary", false},
};

bool
gpb_inspect_is_gone(const PGAlignedBlock *page)
{
	uint16		flags = gpb_page_special(page->data)->flags;
	int			i;

	for (i = 0; i < lengthof(page_flags); i++)
	{
		if ((flags & page_flags[i].flag) != 0 && page_flags[i].gone)
			return true;
	}
	return false;
}

/* The most names that a page's flags have, and that it has runs */
#define FLAG_NAMES	(lengthof(page_flags) + 1)

/* Collect the names of a page's flags, and "runs".  Returns their number. */
static int
flag_names(const PGAlignedBlock *page, const char **names)
{
	uint16		flags = gpb_page_special(page->data)->flags;
	int			n = 0;
	int			i;

	for (i = 0; i < lengthof(page_flags); i++)
	{
		if ((flags & page_flags[i].flag) != 0)
			names[n++] = page_flags[i].name;
	}
	if (gpb_has_runs(gpb_page_row_width(page->data)))
		names[n++] = "runs";
	return n;
}

Datum
gpb_inspect_flags(const PGAlignedBlock *page)
{
	const char *names[FLAG_NAMES];
	Datum		texts[FLAG_NAMES];
	int			n = flag_names(page, names);
	int			i;

	for (i = 0; i < n; i++)
		texts[i] = CStringGetTextDatum(names[i]);
	return PointerGetDatum(construct_array(texts, n, TEXTOID, -1, false, TYPALIGN_INT));
}

const char *
gpb_inspect_flag_text(const PGAlignedBlock *page)
{
	const char *names[FLAG_NAMES];
	int			n = flag_names(page, names);
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	for (i = 0; i < n; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", names[i]);
	return text.data;
}

/* ---- values ---- */

/*
 * Can the type's output function print these bits?  A damaged page may hold bits that are no value
 * of the type, for which the function would raise an error.
 */
static bool
is_printable(Oid type, Datum value)
{
	switch (type)
	{
		case DATEOID:
			{
				DateADT		date = DatumGetDateADT(value);

				return DATE_NOT_FINITE(date) || IS_VALID_DATE(date);
			}
		case TIMEOID:
			return DatumGetTimeADT(value) >= 0 && DatumGetTimeADT(value) <= USECS_PER_DAY;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			{
				Timestamp	timestamp = DatumGetTimestamp(value);

				return TIMESTAMP_NOT_FINITE(timestamp) || IS_VALID_TIMESTAMP(timestamp);
			}
		default:
			return !type_is_enum(type) ||
				SearchSysCacheExists1(ENUMOID, ObjectIdGetDatum(DatumGetObjectId(value)));
	}
}

/* The value of an index column, counted from 1, of an entry; NULL if it is NULL */
static const char *
column_text(GpbInspect *look, GpbKey key, const char *row, int attno)
{
	bool		isnull;
	Datum		value = gpb_entry_datum(&look->layout, key, row, attno, &isnull);

	if (isnull)
		return NULL;
	if (gpb_column_coding(&look->layout, attno - 1) == GPB_CODING_DICTIONARY)
	{
		int			column = attno - 1 - IndexRelationGetNumberOfKeyAttributes(look->index);

		if (DatumGetUInt32(value) == GPB_ELSEWHERE)
			return "(in the table alone)";
		if (!gpb_dictionary_has(look->index, look->dictionary, column, DatumGetUInt32(value)))
			return "(not a code of the dictionary)";
		value = gpb_dictionary_value(look->index, look->dictionary, column, DatumGetUInt32(value));
	}
	if (!is_printable(look->type[attno - 1], value))
		return "(not a value of its type)";
	return OutputFunctionCall(&look->output[attno - 1], value);
}

/*
 * A separator or high key may leave out the tie, and with it the order bit, which says under NULLS
 * FIRST that a key is not NULL.  NULL's key is 0 there.
 */
const char *
gpb_inspect_key(GpbInspect *look, GpbKey key, uint64 locator)
{
	int			columns = IndexRelationGetNumberOfKeyAttributes(look->index);
	StringInfoData text;
	int			i;

	if ((look->layout.flags & GPB_LAYOUT_NULLS_FIRST) != 0 && key != 0 &&
		(locator & GPB_TID_MASK) == 0)
		locator |= GPB_LOC_ORDER_BIT;
	if (columns == 1)
		return column_text(look, key, (const char *) &locator, 1);

	initStringInfo(&text);
	for (i = 1; i <= columns; i++)
	{
		const char *value = column_text(look, key, (const char *) &locator, i);

		appendStringInfo(&text, "%s%s", i > 1 ? ", " : "", value != NULL ? value : "NULL");
	}
	return text.data;
}

const char *
gpb_inspect_bound(GpbInspect *look, GpbBound bound)
{
	const char *key = gpb_inspect_key(look, bound.key, bound.tie);

	if (key == NULL)
		key = "NULL";
	if ((bound.tie & GPB_TID_MASK) == 0)
		return key;
	return psprintf("%s (%u,%u)", key, gpb_locator_block(bound.tie),
					gpb_locator_offset(bound.tie));
}

const char *
gpb_inspect_included(GpbInspect *look, const char *row, int column)
{
	return column_text(look, 0, row,
					   IndexRelationGetNumberOfKeyAttributes(look->index) + 1 + column);
}

/* ---- the mirror ---- */

const char *
gpb_inspect_mirror(const GpbInspect *look, BlockNumber block, int level)
{
	const GpbBlockStates *states = &look->states;

	if (!states->mirrored || block >= states->nblocks || (states->inner_only && level != 1))
		return NULL;
	return states->changed[block / 32] & ((uint32) 1 << block % 32) ? "changed" : "current";
}
