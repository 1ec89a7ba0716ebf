/*-------------------------------------------------------------------------
 *
 * mirror_functions.c
 *	  SQL functions that show and manage mirrors, and show counters.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/relation.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "engine/cell_counts.h"
#include "engine/mirror_reader.h"
#include "index/index.h"
#include "mirror/status.h"

PG_FUNCTION_INFO_V1(gpubtree_refresh);
PG_FUNCTION_INFO_V1(gpubtree_drop_mirror);
PG_FUNCTION_INFO_V1(gpubtree_mirrors);
PG_FUNCTION_INFO_V1(gpubtree_device);
PG_FUNCTION_INFO_V1(gpubtree_batches);
PG_FUNCTION_INFO_V1(gpubtree_refresher);
PG_FUNCTION_INFO_V1(gpubtree_leaf_cells);
PG_FUNCTION_INFO_V1(gpubtree_stat_reset);

/*
 * Open a gpubtree index that the current user owns, with AccessShareLock.  Raises
 * ERRCODE_UNDEFINED_TABLE, ERRCODE_WRONG_OBJECT_TYPE or ERRCODE_INSUFFICIENT_PRIVILEGE.
 */
static Relation
open_owned_index(Oid oid)
{
	Relation	index = gpb_open_named(oid, AccessShareLock);

	gpb_require_own_index(index);
	return index;
}

/* Tell the user why an index has no mirror that is up to date, as far as that can be seen now. */
static void
report_no_mirror(Relation index)
{
	const char *hint;
	const char *reason = gpb_why_not_mirrored(index, &hint);

	ereport(NOTICE,
			(errmsg("index \"%s\" was not mirrored", RelationGetRelationName(index)),
			 errdetail_internal("%s", reason),
			 hint != NULL ? errhint("%s", hint) : 0));
}

/*
 * gpubtree_refresh(index): bring the mirror up to date, or make one, of all pages if the device has
 * the memory, in pieces if all devices together have it, else of the inner nodes.  Returns the
 * number of blocks copied, by all pieces; NULL, with a NOTICE that says why, if there is no mirror.
 */
Datum
gpubtree_refresh(PG_FUNCTION_ARGS)
{
	Relation	index = open_owned_index(PG_GETARG_OID(0));
	GpbLayout	layout = *gpb_layout(index);	/* the relcache may free its own */
	GpbMirrorRef ref;
	uint64		blocks = 0;
	bool		done = false;

	if (gpb_mirror_available())
	{
		gpb_mirror_forgive(index);
		done = gpb_reader_fill(index, &layout, &blocks) ||
			(gpb_mirror_is_inner_only(index) &&
			 gpb_mirror_attach_search(index, &layout, &ref) &&
			 gpb_mirror_refresh(index, &layout, &ref, &blocks));
	}
	if (!done && gpb_mirror_slots() > 0)
		report_no_mirror(index);
	relation_close(index, AccessShareLock);
	if (!done)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) blocks);
}

/*
 * gpubtree_drop_mirror(index): discard the mirror of an index, also of a file that the index had
 * before; was there one?
 */
Datum
gpubtree_drop_mirror(PG_FUNCTION_ARGS)
{
	Relation	index = open_owned_index(PG_GETARG_OID(0));
	bool		dropped = gpb_mirror_drop_index(MyDatabaseId, RelationGetRelid(index));

	relation_close(index, AccessShareLock);
	PG_RETURN_BOOL(dropped);
}

static const char *
state_name(const GpbMirrorStatus *status)
{
	if (status->discarded)
		return "discarded";
	return status->epoch == 0 ? "empty" : "ready";
}

static const char *
mode_name(const GpbMirrorStatus *status)
{
	return status->inner_only ? "inner-only" : status->piece ? "piece" : "full";
}

/*
 * gpubtree_mirrors(): one row for each mirror.  Before 0.2.0 rows have no device and no share, the
 * last columns.
 */
Datum
gpubtree_mirrors(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			slot;

	InitMaterializedSRF(fcinfo, 0);
	for (slot = 0; slot < gpb_mirror_slots(); slot++)
	{
		GpbMirrorStatus status;
		Datum		values[16];
		bool		nulls[16] = {false};

		if (!gpb_mirror_status(slot, &status))
			continue;
		values[0] = ObjectIdGetDatum(status.file.dbNode);
		values[1] = ObjectIdGetDatum(status.index);
		values[2] = ObjectIdGetDatum(status.file.relNode);
		values[3] = CStringGetTextDatum(state_name(&status));
		values[4] = Int64GetDatum(status.nblocks);
		values[5] = Int64GetDatum((int64) status.leaves);
		values[6] = Int64GetDatum((int64) status.memory);
		values[7] = Int64GetDatum((int64) status.changed);
		nulls[7] = status.inner_only;	/* changes of leaves do not matter */
		values[8] = Int64GetDatum((int64) status.epoch);
		values[9] = TimestampTzGetDatum(status.last_used);
		values[10] = Int64GetDatum((int64) status.refreshes);
		values[11] = CStringGetTextDatum(mode_name(&status));
		values[12] = Int64GetDatum((int64) status.stale_moves);
		values[13] = Float8GetDatum(status.cpu_share);
		values[14] = Int32GetDatum(status.ordinal);
		nulls[14] = status.ordinal < 0;
		values[15] = Float8GetDatum(status.share);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* The row of gpubtree_device() for one service */
static void
put_device(ReturnSetInfo *result, int number)
{
	GpbServiceStatus status;
	GpbCounters counters;
	const GpbDeviceInfo *device = &status.device;
	Datum		values[14];
	bool		nulls[14] = {false};

	gpb_service_status(number, &status);
	gpb_read_counters(&counters);
	values[0] = CStringGetTextDatum(status.device_kind);
	values[1] = CStringGetTextDatum(device->name);
	values[2] = Int32GetDatum(status.ordinal);
	values[3] = CStringGetTextDatum(psprintf("%d.%d", device->compute_major,
											 device->compute_minor));
	values[4] = Int32GetDatum(device->multiprocessors);
	values[5] = Int64GetDatum((int64) device->memory_total);
	values[6] = Int64GetDatum((int64) device->memory_used);
	values[7] = Int64GetDatum((int64) device->memory_limit);
	values[8] = Int32GetDatum(status.mirrors);
	values[9] = Int64GetDatum((int64) status.requests);
	values[10] = CStringGetTextDatum(status.status);
	values[11] = Int32GetDatum(status.pid);
	values[12] = Int64GetDatum((int64) counters.cpu_requests);
	values[13] = TimestampTzGetDatum(counters.reset);
	nulls[1] = !status.present;
	nulls[2] = status.ordinal < 0;
	nulls[3] = nulls[4] = strcmp(status.device_kind, "cuda") != 0;
	nulls[5] = nulls[6] = nulls[7] = !status.present;
	nulls[11] = status.pid == 0;
	nulls[13] = !status.loaded;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* gpubtree_device(): one row for each device, and one if there is none. */
Datum
gpubtree_device(PG_FUNCTION_ARGS)
{
	int			number;

	InitMaterializedSRF(fcinfo, 0);
	for (number = 0; number < gpb_services_count(); number++)
		put_device((ReturnSetInfo *) fcinfo->resultinfo, number);
	return (Datum) 0;
}

/*
 * gpubtree_batches(): one row: the batches that were answered, by the device and by the CPU, and
 * what there is to send more.
 */
Datum
gpubtree_batches(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	GpbBatchResources resources;
	GpbCounters counters;
	Datum		values[15];
	bool		nulls[15] = {false};

	InitMaterializedSRF(fcinfo, 0);
	if (gpb_mirror_slots() == 0)
		return (Datum) 0;
	gpb_batch_resources(&resources);
	gpb_read_counters(&counters);
	values[0] = Int64GetDatum((int64) counters.batches);
	values[1] = Int64GetDatum((int64) counters.keys);
	values[2] = Int64GetDatum((int64) counters.ranges);
	values[3] = Int64GetDatum((int64) counters.launches);
	values[4] = Int64GetDatum((int64) counters.joined);
	values[5] = Int64GetDatum((int64) counters.failed_over);
	values[6] = Int32GetDatum(resources.slots);
	values[7] = Int32GetDatum(resources.free_slots);
	values[8] = Int64GetDatum((int64) resources.memory);
	values[9] = Int64GetDatum((int64) resources.free_memory);
	values[10] = Int64GetDatum((int64) counters.cpu_batches);
	values[11] = Int64GetDatum((int64) counters.cpu_keys);
	values[12] = Int64GetDatum((int64) counters.cpu_ranges);
	values[13] = Int64GetDatum((int64) counters.sorted);
	values[14] = TimestampTzGetDatum(counters.reset);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}

/* gpubtree_refresher(): one row, whether there is a refresher or not. */
Datum
gpubtree_refresher(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	GpbRefresherStatus status;
	Datum		values[3];
	bool		nulls[3] = {false};

	InitMaterializedSRF(fcinfo, 0);
	gpb_refresher_status(&status);
	values[0] = Int32GetDatum(status.pid);
	values[1] = Int64GetDatum((int64) status.turns);
	values[2] = Int64GetDatum((int64) status.pages);
	nulls[0] = status.pid == 0;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}

/* gpubtree_leaf_cells(): one row for each index of any database for which cells did anything. */
Datum
gpubtree_leaf_cells(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			place;

	InitMaterializedSRF(fcinfo, 0);
	for (place = 0; place < gpb_cell_counts_places(); place++)
	{
		GpbCellCounts counts;
		Datum		values[5];
		bool		nulls[5] = {false};

		if (!gpb_cell_counts_get(place, &counts))
			continue;
		values[0] = ObjectIdGetDatum(counts.database);
		values[1] = ObjectIdGetDatum(counts.index);
		values[2] = Int64GetDatum((int64) counts.passed);
		values[3] = Int64GetDatum((int64) counts.recorded);
		values[4] = Int64GetDatum((int64) counts.unseen);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* gpubtree_stat_reset(): set all counters of the views of counters to zero. */
Datum
gpubtree_stat_reset(PG_FUNCTION_ARGS)
{
	gpb_statistics_reset();
	gpb_cell_counts_reset();
	PG_RETURN_VOID();
}
