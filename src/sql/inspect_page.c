/*-------------------------------------------------------------------------
 *
 * inspect_page.c
 *	  gpubtree_metap, gpubtree_page_stats, gpubtree_page_items: one page in SQL.
 *
 * They show what pageinspect's functions bt_metap, bt_page_stats and bt_page_items show of a
 * built-in B-tree, and like them are for superusers and those to whom they are granted: pages have
 * keys of rows that a user may not be allowed to see.
 *
 *-------------------------------------------------------------------------
 */
#include "sql/inspect.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(gpubtree_metap);
PG_FUNCTION_INFO_V1(gpubtree_page_stats);
PG_FUNCTION_INFO_V1(gpubtree_page_items);

/* Form the row that a function returns. */
static Datum
result_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc	columns;

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

/* Set a column to a text, or to NULL. */
static void
set_text(Datum *values, bool *nulls, int column, const char *text)
{
	nulls[column] = text == NULL;
	if (text != NULL)
		values[column] = CStringGetTextDatum(text);
}

/* Set a column to a block number, or to NULL if there is none. */
static void
set_block(Datum *values, bool *nulls, int column, BlockNumber block)
{
	nulls[column] = block == GPB_NO_BLOCK;
	values[column] = Int64GetDatum((int64) block);
}

/* Copy the block that the user names, which is to be a tree page. */
static BlockNumber
copy_named(GpbInspect *look, int64 block, PGAlignedBlock *page)
{
	if (block == GPB_META_BLOCK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block 0 is the metapage of index \"%s\"",
						RelationGetRelationName(look->index)),
				 errhint("gpubtree_metap() shows it.")));
	if (block < 0 || block >= look->nblocks)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block number " INT64_FORMAT " is out of range for index \"%s\"",
						block, RelationGetRelationName(look->index)),
				 errdetail("The index has %u blocks.", look->nblocks)));
	gpb_inspect_copy(look, (BlockNumber) block, page);
	return (BlockNumber) block;
}

/*
 * gpubtree_metap(index): the metapage.  A page that is none of ours raises ERRCODE_INDEX_CORRUPTED,
 * since nothing of it can be shown; what else is wrong with it stands in the column "fault".
 */
Datum
gpubtree_metap(PG_FUNCTION_ARGS)
{
	GpbInspect	look;
	PGAlignedBlock page;
	const GpbMeta *meta = gpb_meta((Page) page.data);
	const char *fault;
	Datum		values[9];
	bool		nulls[9] = {false};

	gpb_inspect_open(&look, PG_GETARG_OID(0));
	if (look.nblocks == 0)
		gpb_corrupted(look.index, GPB_META_BLOCK, "the file is empty");
	gpb_inspect_copy(&look, GPB_META_BLOCK, &page);
	fault = gpb_meta_fault((Page) page.data, &look.layout);
	if (fault != NULL && meta->magic != GPB_META_MAGIC)
		gpb_corrupted(look.index, GPB_META_BLOCK, fault);
	values[0] = Int64GetDatum((int64) meta->magic);
	values[1] = Int32GetDatum((int32) meta->version);
	values[2] = Int64GetDatum((int64) meta->root);
	values[3] = Int64GetDatum((int64) meta->level);
	values[4] = Int32GetDatum(meta->key_width);
	values[5] = Int32GetDatum(meta->row_width);
	values[6] = BoolGetDatum((meta->layout_flags & GPB_LAYOUT_DESC) != 0);
	values[7] = BoolGetDatum((meta->layout_flags & GPB_LAYOUT_NULLS_FIRST) != 0);
	set_text(values, nulls, 8, fault);
	gpb_inspect_close(&look);
	return result_row(fcinfo, values, nulls);
}

/* What is wrong with a page of any kind but the metapage, or NULL */
static const char *
any_fault(GpbInspect *look, BlockNumber block, const PGAlignedBlock *page)
{
	return gpb_is_dictionary_page((Page) page->data) ?
		gpb_dictionary_page_fault((Page) page->data) : gpb_inspect_fault(look, block, page);
}

/* What kind of page it is, in a word */
static const char *
page_type(const PGAlignedBlock *page, const char *fault)
{
	const GpbPageSpecial *special = gpb_page_special(page->data);

	if (PageIsNew((Page) page->data))
		return "new";
	if (fault != NULL)
		return "damaged";
	if (gpb_is_dictionary_page((Page) page->data))
		return "dictionary";
	if (gpb_inspect_is_gone(page))
		return "deleted";
	if (special->left == GPB_NO_BLOCK && special->right == GPB_NO_BLOCK)
		return "root";
	return special->level > 0 ? "inner" : "leaf";
}

/* gpubtree_page_stats(index, block): one tree page as a whole. */
Datum
gpubtree_page_stats(PG_FUNCTION_ARGS)
{
	GpbInspect	look;
	PGAlignedBlock page;
	const GpbPageSpecial *special = gpb_special((Page) page.data);
	BlockNumber block;
	const char *fault;
	Datum		values[13];
	bool		nulls[13];

	gpb_inspect_open(&look, PG_GETARG_OID(0));
	block = copy_named(&look, PG_GETARG_INT64(1), &page);
	fault = any_fault(&look, block, &page);
	memset(nulls, true, sizeof(nulls));
	set_text(values, nulls, 0, page_type(&page, fault));
	if (fault == NULL)
	{
		bool		in_tree = !gpb_is_dictionary_page((Page) page.data);
		int			dead = in_tree ? gpb_inspect_dead(&page) : 0;
		int			items = in_tree ? gpb_page_count(page.data) :
			(int) (special->high_key - special->low_key);
		int			used = ((PageHeader) page.data)->pd_lower - GPB_PAGE_HEADER;

		values[1] = Int32GetDatum(special->level);
		values[2] = Int32GetDatum(items - dead);
		values[3] = Int32GetDatum(dead);
		values[4] = Int32GetDatum(!in_tree ? used / Max(items, 1) :
								  gpb_has_runs(special->row_width) ?
								  gpb_inspect_used(&page) / Max(items, 1) :
								  special->key_width + special->row_width);
		values[5] = Int32GetDatum(BLCKSZ);
		values[6] = Int32GetDatum(((PageHeader) page.data)->pd_upper -
								  ((PageHeader) page.data)->pd_lower);
		memset(nulls + 1, false, 6);
		set_block(values, nulls, 7, special->left);
		set_block(values, nulls, 8, special->right);
		if (in_tree && special->right != GPB_NO_BLOCK)
			set_text(values, nulls, 9,
					 gpb_inspect_bound(&look, gpb_page_high(page.data)));
		values[10] = gpb_inspect_flags(&page);
		nulls[10] = false;
		if (in_tree)
			set_text(values, nulls, 11, gpb_inspect_mirror(&look, block, special->level));
	}
	else if (!PageIsNew((Page) page.data))
		set_text(values, nulls, 12, fault);
	gpb_inspect_close(&look);
	return result_row(fcinfo, values, nulls);
}

/*
 * Collect the bytes of an entry, its key's first, then those of its run's end, if it has one.  Only
 * the first entry of a run has the key and the end.  Returns their number.
 */
static int
entry_bytes(const PGAlignedBlock *page, int i, char *bytes)
{
	const GpbPageSpecial *special = gpb_page_special(page->data);
	int			key_width = special->key_width;
	const char *row = gpb_page_row(page->data, special->row_width, i);
	int			key = i;
	int			n = 0;

	if (gpb_has_runs(special->row_width))
	{
		int			nruns = gpb_page_runs(page->data, key_width);
		const uint16 *ends = gpb_run_ends(page->data, key_width, nruns);
		int			r = gpb_run_of(ends, nruns, i);

		key = -1;
		if (i == gpb_run_begin(ends, r, i + 1))
		{
			key = r;
			n = sizeof(ends[r]);
			memcpy(bytes + key_width, &ends[r], n);
		}
	}
	if (key >= 0)
	{
		memcpy(bytes, page->data + gpb_key_place(key_width, key), key_width);
		n += key_width;
	}
	memcpy(bytes + n, row, special->row_width);
	return n + special->row_width;
}

/* Bytes in hexadecimal */
static const char *
hexadecimal(const char *bytes, int n)
{
	char	   *text = palloc(3 * n + 1);
	int			length = 0;

	text[0] = '\0';
	for (int b = 0; b < n; b++)
		length += sprintf(text + length, "%s%02x", b > 0 ? " " : "", (uint8) bytes[b]);
	return text;
}

/* The INCLUDE columns of an entry of a leaf, in an array of text */
static Datum
included_columns(GpbInspect *look, const char *row)
{
	Datum		texts[GPB_MAX_INCLUDE];
	bool		nulls[GPB_MAX_INCLUDE];
	int			n = look->layout.ncolumns;
	int			lower_bound = 1;
	int			i;

	for (i = 0; i < n; i++)
		set_text(texts, nulls, i, gpb_inspect_included(look, row, i));
	return PointerGetDatum(construct_md_array(texts, nulls, 1, &n, &lower_bound, TEXTOID, -1,
											  false, TYPALIGN_INT));
}

/* Set a column to the TID in a locator, or to NULL if it has none. */
static void
set_tid(Datum *values, bool *nulls, int column, uint64 locator)
{
	ItemPointer tid = palloc(sizeof(ItemPointerData));

	ItemPointerSet(tid, gpb_locator_block(locator), gpb_locator_offset(locator));
	values[column] = PointerGetDatum(tid);
	nulls[column] = (locator & GPB_TID_MASK) == 0;
}

/*
 * gpubtree_page_items(index, block): one row for each entry of a tree page.  A page that is not
 * sound raises ERRCODE_INDEX_CORRUPTED, naming it: where its entries are is unknown.
 */
Datum
gpubtree_page_items(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	GpbInspect	look;
	PGAlignedBlock page;
	const GpbPageSpecial *special = gpb_special((Page) page.data);
	BlockNumber block;
	const char *fault;
	int			i;

	InitMaterializedSRF(fcinfo, 0);
	gpb_inspect_open(&look, PG_GETARG_OID(0));
	block = copy_named(&look, PG_GETARG_INT64(1), &page);
	fault = gpb_inspect_fault(&look, block, &page);
	if (gpb_is_dictionary_page((Page) page.data))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block %u of index \"%s\" is a page of the dictionary", block,
						RelationGetRelationName(look.index)),
				 errhint("gpubtree_page_stats() shows what it has.")));
	if (fault != NULL && !PageIsNew((Page) page.data))
		gpb_corrupted(look.index, block, fault);
	for (i = 0; fault == NULL && i < gpb_page_count(page.data); i++)
	{
		GpbSpreadRow spread;
		const char *row = gpb_spread_row(page.data, special->row_width, i, &spread);
		char		bytes[GPB_WIDE_KEY + GPB_RUN_END_WIDTH + GPB_MAX_ROW_WIDTH];
		int			nbytes = entry_bytes(&page, i, bytes);
		uint64		locator = gpb_row_locator(row);
		GpbBound	bound = gpb_page_bound(page.data, special->key_width, special->row_width, i);
		Datum		values[8];
		bool		nulls[8] = {false};

		values[0] = Int32GetDatum(i + 1);
		values[1] = Int32GetDatum(nbytes);
		if (special->level == 0)
		{
			set_text(values, nulls, 2, gpb_inspect_key(&look, bound.key, locator));
			values[4] = BoolGetDatum((locator & GPB_LOC_DEAD) != 0);
			nulls[5] = true;
			values[6] = included_columns(&look, row);
		}
		else
		{
			/* The first separator of a level is below all keys. */
			set_text(values, nulls, 2, bound.key == 0 && bound.tie == 0 ? NULL :
					 gpb_inspect_key(&look, bound.key, locator));
			nulls[4] = nulls[6] = true;
			set_block(values, nulls, 5, gpb_row_child(row));
		}
		set_tid(values, nulls, 3, locator);
		set_text(values, nulls, 7, hexadecimal(bytes, nbytes));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	gpb_inspect_close(&look);
	return (Datum) 0;
}
