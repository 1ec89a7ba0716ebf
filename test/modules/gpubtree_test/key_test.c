/*-------------------------------------------------------------------------
 *
 * key_test.c
 *	  gpubtree_test_key: the normalized key of a row.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "index/index.h"

PG_FUNCTION_INFO_V1(gpb_test_key);

/* Bytes of a key, and one for the order bit of its locator */
#define GPB_TEST_KEY_BYTES	(GPB_WIDE_KEY + 1)

/*
 * gpubtree_test_key(index regclass, key record) returns bytea.  The record has a value of each key
 * column of the index, which has no INCLUDE columns.  The bytes of the result have the order of the
 * index's entries, but for their heap TIDs.
 */
Datum
gpb_test_key(PG_FUNCTION_ARGS)
{
	Relation	index = index_open(PG_GETARG_OID(0), AccessShareLock);
	HeapTupleHeader record = PG_GETARG_HEAPTUPLEHEADER(1);
	TupleDesc	descriptor = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(record),
													HeapTupleHeaderGetTypMod(record));
	GpbLayout	layout = *gpb_layout(index);	/* looking up types may build that anew */
	bytea	   *result = palloc(VARHDRSZ + GPB_TEST_KEY_BYTES);
	unsigned char *bytes = (unsigned char *) VARDATA(result);
	Datum		values[GPB_MAX_KEYS];
	bool		isnull[GPB_MAX_KEYS];
	HeapTupleData tuple;
	ItemPointerData tid;
	GpbEntry	entry;

	if (layout.ncolumns > 0 || descriptor->natts != gpb_count_keys(&layout))
		elog(ERROR, "a record of %d columns is no key of index \"%s\"", descriptor->natts,
			 RelationGetRelationName(index));
	for (int c = 0; c < descriptor->natts; c++)
	{
		if (getBaseType(TupleDescAttr(descriptor, c)->atttypid) !=
			getBaseType(TupleDescAttr(RelationGetDescr(index), c)->atttypid))
			elog(ERROR, "column %d of the record is of another type than that of index \"%s\"",
				 c + 1, RelationGetRelationName(index));
	}
	tuple.t_len = HeapTupleHeaderGetDatumLength(record);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = record;
	heap_deform_tuple(&tuple, descriptor, values, isnull);

	gpb_require_null_codes(index, &layout, isnull);
	gpb_require_numerics(index, &layout, values, isnull);
	ItemPointerSet(&tid, 0, FirstOffsetNumber);
	gpb_entry_form(&layout, values, isnull, &tid, &entry);
	for (int i = 0; i < GPB_WIDE_KEY; i++)
		bytes[i] = (unsigned char) (entry.key >> (8 * (GPB_WIDE_KEY - 1 - i)));
	bytes[GPB_WIDE_KEY] = (gpb_row_locator(entry.row) & GPB_LOC_ORDER_BIT) != 0;
	SET_VARSIZE(result, VARHDRSZ + GPB_TEST_KEY_BYTES);

	ReleaseTupleDesc(descriptor);
	index_close(index, AccessShareLock);
	PG_RETURN_BYTEA_P(result);
}
