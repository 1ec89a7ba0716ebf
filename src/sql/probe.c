/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  gpubtree_probe: a batch of keys from SQL, for measuring and testing.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "engine/batch.h"
#include "exec/answer/item_final.h"
#include "index/index.h"

PG_FUNCTION_INFO_V1(gpubtree_probe);

static GpbEngine
engine_from_name(const char *name)
{
	if (strcmp(name, "auto") == 0)
		return GPB_ENGINE_AUTO;
	if (strcmp(name, "cpu") == 0)
		return GPB_ENGINE_CPU;
	if (strcmp(name, "device") == 0)
		return GPB_ENGINE_DEVICE;
	if (strcmp(name, "inner") == 0)
		return GPB_ENGINE_INNER;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized engine: \"%s\"", name),
			 errhint("Engines are \"auto\", \"cpu\", \"device\" and \"inner\".")));
}

/*
 * The answers tell what is in the table, and no query's rewriter has seen to it that the user may
 * know: the right to read all columns is needed, and no policy may hide rows.
 */
static void
require_select(Relation heap)
{
	Oid			relid = RelationGetRelid(heap);
	AclResult	allowed = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, get_relkind_objtype(heap->rd_rel->relkind),
					   RelationGetRelationName(heap));
	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot probe an index of table \"%s\", which has row-level security",
						RelationGetRelationName(heap)),
				 errhint("Write a query instead: its policies are applied.")));
}

/* May this transaction use the index for an answer (rule M10)? */
static void
require_usable(Relation heap, Relation index)
{
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(index)),
				 errhint("Drop it, or build it anew with REINDEX.")));
	if (index->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
							   TransactionXmin))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" cannot be used by this transaction yet",
						RelationGetRelationName(index)),
				 errhint("Transactions that are older than the index must end first; then start "
						 "another one.")));
	if (IndexRelationGetNumberOfKeyAttributes(index) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has several key columns", RelationGetRelationName(index)),
				 errhint("Write a query instead.")));
	if (heap->rd_tableam != GetHeapamTableAmRoutine())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" is not of the access method heap",
						RelationGetRelationName(heap)),
				 errhint("Write a query instead.")));
}

/* The form of the ranges that keys_of_array() makes */
static GpbRangeForm
keys_form(Relation index)
{
	GpbCoding	coding = gpb_layout(index)->key_coding;

	/* Not each numeric is a key, nor each timetz. */
	return gpb_coding_key_is_exact(coding) && !gpb_coding_is_numeric(coding) &&
		coding != GPB_CODING_TIMETZ ? GPB_RANGE_POINTS : GPB_RANGE_KEYS;
}

/*
 * The keys that equal the array's elements: a normalized key, or a range of these, for each of the
 * *n elements that are not NULL.
 */
static void *
keys_of_array(Relation index, ArrayType *array, uint32 *n)
{
	bool		points = keys_form(index) == GPB_RANGE_POINTS;
	Oid			type = ARR_ELEMTYPE(array);
	const GpbLayout layout = *gpb_layout(index);
	void	   *keys;
	GpbComparison comparison;
	Datum	   *elements;
	bool	   *nulls;
	int			nelements;
	int16		length;
	bool		by_value;
	char		align;
	int			i;

	if (getBaseType(type) != index->rd_opcintype[0])
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("keys are of type %s, those of index \"%s\" of type %s",
						format_type_be(type), RelationGetRelationName(index),
						format_type_be(index->rd_opcintype[0])),
				 errhint("Cast the array to %s[].", format_type_be(index->rd_opcintype[0]))));
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("keys must be a one-dimensional array"),
				 errhint("array_agg(k) over unnest(keys) makes one.")));
	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(array, type, length, by_value, align, &elements, &nulls, &nelements);
	keys = palloc((points ? sizeof(GpbKey) : sizeof(GpbKeyRange)) * Max(nelements, 1));
	gpb_comparison_init(index, InvalidOid, &comparison);
	*n = 0;
	for (i = 0; i < nelements; i++)
	{
		GpbRange	range = {GPB_BOUND_MIN, GPB_BOUND_MAX};

		if (nulls[i])
			continue;
		if (points)
			((GpbKey *) keys)[(*n)++] = gpb_datum_key(&layout, elements[i]);
		else
		{
			gpb_comparison_narrow(&layout, &comparison, BTEqualStrategyNumber, elements[i],
								  &range);
			*n += gpb_closed_range(&layout, &range, (GpbKeyRange *) keys + *n);
		}
	}
	pfree(elements);
	pfree(nulls);
	return keys;
}

/* Sum the first INCLUDE column if its type is an integer. */
static void
probe_want(Relation index, GpbBatchWant *want)
{
	memset(want, 0, sizeof(*want));
	want->form = keys_form(index);
	if (gpb_layout(index)->ncolumns == 0)
		return;
	switch (getBaseType(TupleDescAttr(RelationGetDescr(index), 1)->atttypid))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			want->program.want[1] = GPB_WANT_COUNT | GPB_WANT_SUM;
	}
}

/*
 * gpubtree_probe(index regclass, keys anyarray, engine text): search for all keys as one
 * batch; one row of what was found and what it took.
 */
Datum
gpubtree_probe(PG_FUNCTION_ARGS)
{
	Relation	heap;
	Relation	index = gpb_open_index(PG_GETARG_OID(0), AccessShareLock, &heap);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	GpbEngine	engine = engine_from_name(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	const GpbBatchCounters *counters;
	const GpbAnswerColumn *column;
	const int64 *total;
	GpbBatchWant want;
	GpbBatch   *batch;
	TupleDesc	descriptor;
	instr_time	start;
	instr_time	time;
	void	   *keys;
	uint32		n;
	Datum		values[14];
	bool		nulls[14] = {false};

	require_select(heap);
	require_usable(heap, index);
	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	gpb_require_snapshot(index, GetActiveSnapshot());
	keys = keys_of_array(index, array, &n);
	probe_want(index, &want);

	INSTR_TIME_SET_CURRENT(start);
	batch = gpb_batch_begin(heap, index, GetActiveSnapshot(), &want, engine);
	gpb_batch_run(batch, keys, n, NULL);
	INSTR_TIME_SET_CURRENT(time);
	INSTR_TIME_SUBTRACT(time, start);

	total = gpb_batch_total(batch);
	counters = gpb_batch_counters(batch);
	values[0] = Int64GetDatum(ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
	values[1] = Int64GetDatum(total[0]);
	column = &gpb_batch_format(batch)->column[0];
	nulls[2] = gpb_batch_format(batch)->ncolumns == 0 || total[column->count] == 0;
	values[2] = nulls[2] ? (Datum) 0 :
		NumericGetDatum(gpb_int128_numeric((uint64) total[column->sum], total[column->sum + 1]));
	values[3] = Int64GetDatum((int64) counters->walk.leaves);
	values[4] = Int64GetDatum((int64) counters->heap_fetches);
	values[5] = CStringGetTextDatum(counters->engine);
	values[6] = Int64GetDatum((int64) counters->requests);
	values[7] = Int64GetDatum((int64) counters->unclean);
	values[8] = Int64GetDatum((int64) counters->fallbacks);
	values[9] = Float8GetDatum(INSTR_TIME_GET_MILLISEC(time));
	values[10] = Int64GetDatum((int64) counters->walk.right_moves);
	values[11] = Int64GetDatum((int64) counters->device_keys);
	values[12] = Int64GetDatum((int64) counters->cpu_keys);
	values[13] = Float8GetDatum(counters->cpu_share);

	gpb_batch_end(batch);
	index_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(descriptor, values, nulls)));
}
