/*-------------------------------------------------------------------------
 *
 * status.c
 *	  The mirror as users see it: SQL functions, the engine's name.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/shared.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "index/index.h"

PG_FUNCTION_INFO_V1(gpubtree_refresh);
PG_FUNCTION_INFO_V1(gpubtree_drop_mirror);
PG_FUNCTION_INFO_V1(gpubtree_mirrors);
PG_FUNCTION_INFO_V1(gpubtree_device);
PG_FUNCTION_INFO_V1(gpubtree_batches);

/*
 * Open a gpubtree index that the current user owns, with AccessShareLock.
 * Raises ERRCODE_UNDEFINED_TABLE, ERRCODE_WRONG_OBJECT_TYPE or ERRCODE_INSUFFICIENT_PRIVILEGE.
 */
static Relation
gpb_open_owned_index(Oid oid)
{
	Relation	index = gpb_open_named(oid, AccessShareLock);

	gpb_require_own_index(index);
	return index;
}

/* Tell the user why an index has no mirror that is up to date, as far as that can be seen now. */
static void
gpb_report_no_mirror(Relation index)
{
	char		device_status[sizeof(gpb_shared->status)];
	uint64		most_blocks;
	GpbIdentity identity;
	const char *reason;
	const char *hint = NULL;

	LWLockAcquire(gpb_shared->registry_lock, LW_SHARED);
	strlcpy(device_status, gpb_shared->status, sizeof(device_status));
	LWLockRelease(gpb_shared->registry_lock);
	most_blocks = (uint64) gpb_map_segments_total() * GPB_SEGMENT_BLOCKS;
	gpb_identity_of(index, &identity);

	if (!gpb_enabled)
		reason = "gpubtree.enabled is off.";
	else if (!gpb_enable_device)
		reason = "gpubtree.enable_device is off.";
	else if (index->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		reason = "Indexes of temporary tables are not mirrored.";
	else if (!gpb_may_mirror(index))
	{
		reason = "The index is not valid.";
		hint = "Build it anew with REINDEX.";
	}
	else if (pg_atomic_read_u64(&gpb_shared->available) == 0)
		reason = psprintf("The status of the device is \"%s\".", device_status);
	else if (!gpb_service_answers())
	{
		reason = "The GPU service does not answer.";
		hint = "The server's log says since when.";
	}
	else if (RelationGetNumberOfBlocks(index) > most_blocks)
	{
		reason = psprintf("The index has %u blocks, and changes of " UINT64_FORMAT " are tracked at most.",
						  RelationGetNumberOfBlocks(index), most_blocks);
		hint = "Raise gpubtree.max_mirrored_blocks, which needs a restart.";
	}
	else if (gpb_registry_is_refused(&identity))
	{
		reason = "The device has no memory for it.";
		hint = "Raise gpubtree.memory_limit.";
	}
	else
		reason = "The device did not answer, or other mirrors are in use.";

	ereport(NOTICE,
			(errmsg("index \"%s\" was not mirrored", RelationGetRelationName(index)),
			 errdetail_internal("%s", reason),
			 hint != NULL ? errhint("%s", hint) : 0));
}

/*
 * gpubtree_refresh(index): bring the mirror up to date, or make one, of all pages if the device has
 * the memory, else of the inner nodes.  Returns the number of blocks copied; NULL, with a NOTICE
 * that says why, if there is no mirror.
 */
Datum
gpubtree_refresh(PG_FUNCTION_ARGS)
{
	Relation	index = gpb_open_owned_index(PG_GETARG_OID(0));
	GpbLayout	layout = *gpb_layout(index);	/* the relcache may free its own */
	GpbIdentity identity;
	GpbMirrorRef ref;
	uint64		blocks = 0;
	bool		done = false;

	if (gpb_mirror_available())
	{
		gpb_identity_of(index, &identity);
		gpb_registry_forgive(&identity);
		done = (gpb_mirror_attach(index, &layout, &ref) &&
				gpb_mirror_refresh(index, &layout, &ref, &blocks)) ||
			(gpb_mirror_is_inner_only(index) &&
			 gpb_mirror_attach_search(index, &layout, &ref) &&
			 gpb_mirror_refresh(index, &layout, &ref, &blocks));
	}
	if (!done && gpb_shared != NULL)
		gpb_report_no_mirror(index);
	relation_close(index, AccessShareLock);
	if (!done)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) blocks);
}

/*
 * gpubtree_drop_mirror(index): discard its mirror, also one of a file that the index
 * had before; was there one?
 */
Datum
gpubtree_drop_mirror(PG_FUNCTION_ARGS)
{
	Relation	index = gpb_open_owned_index(PG_GETARG_OID(0));
	bool		dropped = gpb_registry_drop_index(MyDatabaseId, RelationGetRelid(index));

	relation_close(index, AccessShareLock);
	PG_RETURN_BOOL(dropped);
}

/* What gpubtree_mirrors() shows of one slot; copied under the lock. */
typedef struct GpbMirrorStatus
{
	GpbIdentity identity;
	uint32		state;
	uint32		mode;
	uint32		nblocks;
	uint64		leaves;
	uint64		memory;
	uint64		changed;
	uint64		epoch;
	TimestampTz last_used;
	uint64		refreshes;
	uint64		stale_moves;
	GpbBalance	balance;
} GpbMirrorStatus;

static void
gpb_mirror_status(int slot, GpbMirrorStatus *status)
{
	GpbMirrorSlot *mirror = &gpb_shared->mirrors[slot];
	GpbMirrorRef ref;

	status->identity = mirror->identity;
	status->state = pg_atomic_read_u32(&mirror->state);
	status->mode = pg_atomic_read_u32(&mirror->mode);
	status->nblocks = pg_atomic_read_u32(&mirror->nblocks);
	status->leaves = pg_atomic_read_u64(&mirror->leaves);
	status->memory = pg_atomic_read_u64(&mirror->memory);
	status->changed = gpb_map_count(slot, status->nblocks);
	status->epoch = pg_atomic_read_u64(&mirror->epoch);
	status->last_used = (TimestampTz) pg_atomic_read_u64(&mirror->last_used);
	status->refreshes = pg_atomic_read_u64(&mirror->refreshes);
	status->stale_moves = pg_atomic_read_u64(&mirror->stale_moves);
	ref.slot = slot;
	status->balance = gpb_mirror_balance(&ref);
}

static const char *
gpb_state_name(const GpbMirrorStatus *status)
{
	if (status->state == GPB_MIRROR_DISCARDED)
		return "discarded";
	return status->epoch == 0 ? "empty" : "ready";
}

Datum
gpubtree_mirrors(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			slot;

	InitMaterializedSRF(fcinfo, 0);
	for (slot = 0; gpb_shared != NULL && slot < GPB_MIRRORS; slot++)
	{
		GpbMirrorStatus status;
		Datum		values[14];
		bool		nulls[14] = {false};

		LWLockAcquire(gpb_shared->registry_lock, LW_SHARED);
		gpb_mirror_status(slot, &status);
		LWLockRelease(gpb_shared->registry_lock);
		if (status.state == GPB_MIRROR_FREE)
			continue;
		values[0] = ObjectIdGetDatum(status.identity.file.dbNode);
		values[1] = ObjectIdGetDatum(status.identity.index);
		values[2] = ObjectIdGetDatum(status.identity.file.relNode);
		values[3] = CStringGetTextDatum(gpb_state_name(&status));
		values[4] = Int64GetDatum(status.nblocks);
		values[5] = Int64GetDatum((int64) status.leaves);
		values[6] = Int64GetDatum((int64) status.memory);
		values[7] = Int64GetDatum((int64) status.changed);
		nulls[7] = status.mode == GPB_MIRROR_INNER_ONLY;	/* those of leaves do not matter */
		values[8] = Int64GetDatum((int64) status.epoch);
		values[9] = TimestampTzGetDatum(status.last_used);
		values[10] = Int64GetDatum((int64) status.refreshes);
		values[11] = CStringGetTextDatum(status.mode == GPB_MIRROR_FULL ? "full" : "inner-only");
		values[12] = Int64GetDatum((int64) status.stale_moves);
		values[13] = Float8GetDatum((double) status.balance.share / GPB_SHARE_ALL);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* Live mirrors.  Registry lock held. */
static int
gpb_count_mirrors(void)
{
	int			n = 0;
	int			slot;

	for (slot = 0; slot < GPB_MIRRORS; slot++)
		n += pg_atomic_read_u32(&gpb_shared->mirrors[slot].state) == GPB_MIRROR_LIVE;
	return n;
}

/* One row, whether there is a device or not. */
Datum
gpubtree_device(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	GpbDeviceInfo info;
	char		kind[sizeof(gpb_shared->device_kind)] = "none";
	char		status[sizeof(gpb_shared->status)] = "not loaded at server start";
	bool		present = false;
	int			mirrors = 0;
	uint64		requests = 0;
	uint64		cpu_requests = 0;
	TimestampTz reset = 0;
	uint32		service = 0;
	Datum		values[14];
	bool		nulls[14] = {false};

	InitMaterializedSRF(fcinfo, 0);
	memset(&info, 0, sizeof(info));
	if (gpb_shared != NULL)
	{
		present = pg_atomic_read_u64(&gpb_shared->available) != 0;
		requests = pg_atomic_read_u64(&gpb_shared->statistics.requests);
		cpu_requests = pg_atomic_read_u64(&gpb_shared->statistics.cpu_requests);
		reset = (TimestampTz) pg_atomic_read_u64(&gpb_shared->statistics.reset);
		LWLockAcquire(gpb_shared->registry_lock, LW_SHARED);
		info = gpb_shared->device;
		strlcpy(status, gpb_shared->status, sizeof(status));
		if (present)
			strlcpy(kind, gpb_shared->device_kind, sizeof(kind));
		mirrors = gpb_count_mirrors();
		LWLockRelease(gpb_shared->registry_lock);
		service = pg_atomic_read_u32(&gpb_shared->service_pgprocno);
		if (service == 0)
			strlcpy(status, "no service", sizeof(status));
		else if (!gpb_service_answers())
			strlcpy(status, "not answering", sizeof(status));
	}
	values[0] = CStringGetTextDatum(kind);
	values[1] = CStringGetTextDatum(info.name);
	values[2] = Int32GetDatum(info.ordinal);
	values[3] = CStringGetTextDatum(psprintf("%d.%d", info.compute_major, info.compute_minor));
	values[4] = Int32GetDatum(info.multiprocessors);
	values[5] = Int64GetDatum((int64) info.memory_total);
	values[6] = Int64GetDatum((int64) info.memory_used);
	values[7] = Int64GetDatum((int64) info.memory_limit);
	values[8] = Int32GetDatum(mirrors);
	values[9] = Int64GetDatum((int64) requests);
	values[10] = CStringGetTextDatum(status);
	values[11] = Int32GetDatum(service == 0 ? 0 : ProcGlobal->allProcs[service - 1].pid);
	values[12] = Int64GetDatum((int64) cpu_requests);
	values[13] = TimestampTzGetDatum(reset);
	nulls[1] = !present;
	nulls[2] = nulls[3] = nulls[4] = strcmp(kind, "cuda") != 0;
	nulls[5] = nulls[6] = nulls[7] = !present;
	nulls[11] = service == 0;
	nulls[13] = gpb_shared == NULL;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}

/* Batch slots that nobody holds */
static int
gpb_count_free_batch_slots(void)
{
	int			n = 0;
	int			i;

	for (i = 0; i < gpb_slot_count(GPB_BATCH_SLOT); i++)
		n += pg_atomic_read_u32(&gpb_slot_at(GPB_BATCH_SLOT, i)->state) == GPB_SLOT_FREE;
	return n;
}

/*
 * One row: the batches that were answered, by the device and by the CPU, and what there is to send
 * more.
 */
Datum
gpubtree_batches(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	uint32		nunits;
	uint32		nfree;
	GpbStatistics *statistics;
	Datum		values[14];
	bool		nulls[14] = {false};

	InitMaterializedSRF(fcinfo, 0);
	if (gpb_shared == NULL)
		return (Datum) 0;
	statistics = &gpb_shared->statistics;
	gpb_pool_status(&nunits, &nfree);
	values[0] = Int64GetDatum((int64) pg_atomic_read_u64(&statistics->batches));
	values[1] = Int64GetDatum((int64) pg_atomic_read_u64(&statistics->keys));
	values[2] = Int64GetDatum((int64) pg_atomic_read_u64(&statistics->ranges));
	values[3] = Int64GetDatum((int64) pg_atomic_read_u64(&statistics->launches));
	values[4] = Int64GetDatum((int64) pg_atomic_read_u64(&statistics->joined));
	values[5] = Int64GetDatum((int64) pg_atomic_read_u64(&statistics->failed_over));
	values[6] = Int32GetDatum(gpb_slot_count(GPB_BATCH_SLOT));
	values[7] = Int32GetDatum(gpb_count_free_batch_slots());
	values[8] = Int64GetDatum((int64) (nunits * GPB_POOL_UNIT));
	values[9] = Int64GetDatum((int64) (nfree * GPB_POOL_UNIT));
	values[10] = Int64GetDatum((int64) pg_atomic_read_u64(&statistics->cpu_batches));
	values[11] = Int64GetDatum((int64) pg_atomic_read_u64(&statistics->cpu_keys));
	values[12] = Int64GetDatum((int64) pg_atomic_read_u64(&statistics->cpu_ranges));
	values[13] = TimestampTzGetDatum((TimestampTz) pg_atomic_read_u64(&statistics->reset));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}

/* The result is valid until the next call. */
const char *
gpb_mirror_engine_name(void)
{
	static char name[128];

	if (gpb_shared == NULL || pg_atomic_read_u64(&gpb_shared->available) == 0)
		return "no device";
	LWLockAcquire(gpb_shared->registry_lock, LW_SHARED);
	if (strcmp(gpb_shared->device_kind, "cuda") == 0)
		snprintf(name, sizeof(name), "CUDA device %d (%s)", gpb_shared->device.ordinal,
				 gpb_shared->device.name);
	else
		snprintf(name, sizeof(name), "%s device", gpb_shared->device_kind);
	LWLockRelease(gpb_shared->registry_lock);
	return name;
}
