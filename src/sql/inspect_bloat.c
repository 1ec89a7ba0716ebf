/*-------------------------------------------------------------------------
 *
 * inspect_bloat.c
 *	  gpubtree_bloat: how full the pages of an index are.
 *
 * The columns are those of pgstattuple's pgstatindex, and so are the rights.
 *
 *-------------------------------------------------------------------------
 */
#include "sql/inspect.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(gpubtree_bloat);

/* What is counted on all pages but the metapage */
typedef struct Bloat
{
	int64		inner;
	int64		leaves;
	int64		empty;			/* of these, the ones without an entry */
	int64		deleted;		/* out of the tree, or never in it */
	int64		dictionary;
	int64		damaged;
	int64		backward;		/* leaves whose right sibling comes earlier in the file */
	double		fill;			/* the leaves' percents, added up */
} Bloat;

static void
count_page(GpbInspect *look, BlockNumber block, Bloat *bloat)
{
	PGAlignedBlock page;
	const GpbPageSpecial *special = gpb_special((Page) page.data);

	gpb_inspect_copy(look, block, &page);
	if (PageIsNew((Page) page.data))
		bloat->deleted++;
	else if (gpb_is_dictionary_page((Page) page.data))
	{
		if (gpb_dictionary_page_fault((Page) page.data) == NULL)
			bloat->dictionary++;
		else
			bloat->damaged++;
	}
	else if (gpb_inspect_fault(look, block, &page) != NULL)
		bloat->damaged++;
	else if (gpb_inspect_is_gone(&page))
		bloat->deleted++;
	else if (special->level > 0)
		bloat->inner++;
	else
	{
		bloat->leaves++;
		bloat->empty += gpb_page_count(page.data) == 0;
		bloat->fill += gpb_inspect_fill(&page);
		bloat->backward += special->right != GPB_NO_BLOCK && special->right < block;
	}
}

/* gpubtree_bloat(index): one row.  Reads the whole index. */
Datum
gpubtree_bloat(PG_FUNCTION_ARGS)
{
	GpbInspect	look;
	Bloat		bloat = {0};
	GpbMeta		meta;
	BlockNumber block;
	TupleDesc	columns;
	Datum		values[12];
	bool		nulls[12] = {false};

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	gpb_inspect_open(&look, PG_GETARG_OID(0));
	gpb_read_meta(look.index, &look.layout, &meta);
	look.strategy = GetAccessStrategy(BAS_BULKREAD);
	for (block = GPB_META_BLOCK + 1; block < look.nblocks; block++)
	{
		CHECK_FOR_INTERRUPTS();
		count_page(&look, block, &bloat);
	}
	FreeAccessStrategy(look.strategy);

	values[0] = Int32GetDatum((int32) meta.version);
	values[1] = Int32GetDatum((int32) meta.level);
	values[2] = Int64GetDatum((int64) look.nblocks * BLCKSZ);
	values[3] = Int64GetDatum((int64) meta.root);
	values[4] = Int64GetDatum(bloat.inner);
	values[5] = Int64GetDatum(bloat.leaves);
	values[6] = Int64GetDatum(bloat.empty);
	values[7] = Int64GetDatum(bloat.deleted);
	values[8] = Float8GetDatum(bloat.leaves > 0 ?
							   rint(bloat.fill / bloat.leaves * 100) / 100 : get_float8_nan());
	values[9] = Float8GetDatum(bloat.leaves > 0 ?
							   rint(10000.0 * bloat.backward / bloat.leaves) / 100 :
							   get_float8_nan());
	values[10] = Int64GetDatum(bloat.damaged);
	values[11] = Int64GetDatum(bloat.dictionary);
	gpb_inspect_close(&look);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}
