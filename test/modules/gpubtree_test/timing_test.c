/*-------------------------------------------------------------------------
 *
 * timing_test.c
 *	  How long searches take through the service.
 *
 * One backend sends batches of random keys, one after the other, as an executor node would, and
 * notes for each the time from submit to the moment it sees the results.  A sample of the results
 * is compared with the tree.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/relation.h"
#include "common/pg_prng.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "index/index.h"
#include "mirror/mirror.h"

#define GPB_SAMPLE			500		/* results compared with the tree */
/* The most leaves by which splits may have moved a sample's key to the right of its leaf */
#define GPB_SPLITS_ALLOWED	64

PG_FUNCTION_INFO_V1(gpb_test_request_timing);

/* ---- arguments ---- */

static GpbSearchOrder
order_from_name(const char *name)
{
	if (strcmp(name, "input") == 0)
		return GPB_ORDER_INPUT;
	if (strcmp(name, "near") == 0)
		return GPB_ORDER_NEAR;
	if (strcmp(name, "key") == 0)
		return GPB_ORDER_KEY;
	elog(ERROR, "unrecognized order \"%s\"", name);
}

static void
raise_no_answer(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the gpubtree service gave no answer"),
			 errhint("The view gpubtree_device and the server's log tell whether the device is ready and has memory; then try again.")));
}

/* Attach and refresh, or say why there is nothing to measure. */
static void
require_mirror(Relation index, const GpbLayout *layout, GpbMirrorRef *ref)
{
	uint64		blocks;

	if (!gpb_mirror_available())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("there is no device to measure"),
				 errhint("The view gpubtree_device says why. gpubtree.enabled and gpubtree.enable_device must be on; gpubtree.device = 'host' needs no GPU.")));
	if (!gpb_mirror_attach_search(index, layout, ref) ||
		!gpb_mirror_refresh(index, layout, ref, &blocks))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" has no mirror", RelationGetRelationName(index)),
				 errhint("It may be larger than gpubtree.memory_limit, or not valid; gpubtree_refresh() tries again at once.")));
}

/* Staging for the search, all of it at once. */
static GpbRequest *
require_staging(const GpbMirrorRef *ref, const GpbRequestSearch *search, int key_width,
				GpbSearchPiece *arrays)
{
	Size		bytes = gpb_search_arrange(search, key_width, NULL, arrays);
	GpbRequest *request = gpb_request_begin(ref, bytes);
	char	   *staging;
	Size		size;

	if (request == NULL)
		raise_no_answer();
	staging = gpb_request_staging(request, &size);
	if (size < bytes)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("%u keys and their results need %zu kB of shared memory, %zu kB can be had",
						search->n, bytes / 1024, size / 1024),
				 errhint("Raise gpubtree.batch_memory (a request gets half of what is free), or ask for fewer keys.")));
	gpb_search_arrange(search, key_width, staging, arrays);
	return request;
}

/* ---- keys ---- */

/*
 * The first or last key that is not NULL on the leaf that covers bound; "otherwise" if there is
 * none.
 */
static GpbKey
key_at_end(Relation index, const GpbLayout *layout, GpbBound bound, bool last,
		   GpbKey otherwise)
{
	Buffer		buffer = gpb_search(index, layout, bound, BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(buffer);
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	int			i;

	for (i = 0; i < count; i++)
	{
		int			at = last ? count - 1 - i : i;
		uint64		locator = gpb_page_locator(page, row_width, at);

		if (gpb_locator_is_null(locator, layout->flags))
			continue;
		otherwise = gpb_leaf_key(page, layout->key_width, row_width, at);
		break;
	}
	UnlockReleaseBuffer(buffer);
	return otherwise;
}

/* A random key between lo and hi, both included */
static GpbKey
random_key(pg_prng_state *prng, GpbKey lo, GpbKey hi)
{
	GpbKey		span = hi - lo;
	GpbKey		drawn;

	if (span <= PG_UINT64_MAX)
		return lo + pg_prng_uint64_range(prng, 0, (uint64) span);
	drawn = gpb_key_of_halves(pg_prng_uint64(prng), pg_prng_uint64(prng));
	return span == ~(GpbKey) 0 ? drawn : lo + drawn % (span + 1);
}

/* Random keys between the smallest and the largest of the index. */
static void
fill_keys(Relation index, const GpbLayout *layout, void *keys, uint32 n)
{
	GpbKey		largest = gpb_key_most(layout->key_width);
	GpbKey		lo = key_at_end(index, layout, GPB_BOUND_MIN, false, 0);
	GpbKey		hi = key_at_end(index, layout, GPB_BOUND_MAX, true, largest);
	pg_prng_state prng;
	uint32		i;

	pg_prng_seed(&prng, (uint64) MyProcPid * 1000003 + n);
	for (i = 0; i < n; i++)
	{
		GpbKey		key = random_key(&prng, Min(lo, hi), hi);

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		/* little-endian: the key's low bytes come first */
		memcpy((char *) keys + (Size) i * layout->key_width, &key, layout->key_width);
	}
}

/* ---- checking ---- */

/*
 * Does the leaf lead to the key?  It does if it is the leaf to which a descent leads, or if a few
 * right links lead from it to that leaf (rule M7).
 */
static bool
leads_to(Relation index, const GpbLayout *layout, BlockNumber leaf, GpbKey key)
{
	GpbBound	bound = {key, 0};
	Buffer		buffer = gpb_search(index, layout, bound, BUFFER_LOCK_SHARE, NULL);
	BlockNumber target = BufferGetBlockNumber(buffer);
	BlockNumber block = leaf;
	int			steps;

	UnlockReleaseBuffer(buffer);
	if (leaf == GPB_META_BLOCK || leaf >= RelationGetNumberOfBlocks(index))
		return false;
	buffer = gpb_read(index, leaf, BUFFER_LOCK_SHARE, layout);
	for (steps = 0; block != target && steps < GPB_SPLITS_ALLOWED; steps++)
	{
		const GpbPageSpecial *special = gpb_special(BufferGetPage(buffer));
		GpbBound	high = gpb_page_high(BufferGetPage(buffer));
		BlockNumber left = block;

		if (special->level != 0 || gpb_bound_less(bound, high))
			break;
		block = special->right;
		UnlockReleaseBuffer(buffer);
		buffer = gpb_read_next(index, layout, left, block, InvalidBuffer, 0, high);
		block = BufferGetBlockNumber(buffer);
	}
	UnlockReleaseBuffer(buffer);
	return block == target;
}

/* Raise an error unless a sample of the results is right. */
static void
check_sample(Relation index, const GpbLayout *layout, const GpbSearchPiece *arrays)
{
	uint32		step = Max(arrays->n / GPB_SAMPLE, 1);
	uint32		i;

	for (i = 0; i < arrays->n; i += step)
	{
		uint32		place = arrays->permutation != NULL ? arrays->permutation[i] : i;
		GpbKey		key = place >= arrays->n ? 0 :
		gpb_load_key((const char *) arrays->keys + (Size) place * layout->key_width,
					 layout->key_width);

		CHECK_FOR_INTERRUPTS();
		if (place >= arrays->n || !leads_to(index, layout, arrays->leaf[i], key))
			elog(ERROR, "index \"%s\": result %u, block %u, is not the leaf of its key %016lx%016lx",
				 RelationGetRelationName(index), i, arrays->leaf[i], gpb_key_upper(key),
				 (uint64) key);
	}
}

/* ---- measuring ---- */

/*
 * One request.  Returns microseconds.  The first and last result are made useless before, and must
 * have been written after.
 */
static double
time_request(GpbRequest *request, const GpbRequestSearch *search, const GpbSearchPiece *arrays)
{
	volatile uint32 *leaf = arrays->leaf;
	instr_time	start,
				end;

	leaf[0] = GPB_NO_BLOCK;
	leaf[search->n - 1] = GPB_NO_BLOCK;
	INSTR_TIME_SET_CURRENT(start);
	if (!gpb_request_search(request, search))
		raise_no_answer();
	if (leaf[0] == GPB_NO_BLOCK || leaf[search->n - 1] == GPB_NO_BLOCK)
		elog(ERROR, "a search of %u keys was answered without its results", search->n);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	return INSTR_TIME_GET_DOUBLE(end) * 1e6;
}

static int
compare_times(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

/* The value that a fraction of the n sorted ones does not exceed */
static double
quantile(const double *sorted, int n, double fraction)
{
	int			rank = (int) ceil(fraction * n);

	return sorted[Max(rank, 1) - 1];
}

/*
 * gpubtree_test_request_timing(index, keys, requests, result_order): keys a second, and the median, 99th
 * percentile and maximum of a request's microseconds.
 */
Datum
gpb_test_request_timing(PG_FUNCTION_ARGS)
{
	int			nkeys = PG_GETARG_INT32(1);
	int			nrequests = PG_GETARG_INT32(2);
	GpbRequestSearch search = {.bound = GPB_SEARCH_LOWER, .n = (uint32) nkeys};
	Relation	index;
	GpbLayout	layout;
	GpbMirrorRef ref;
	GpbRequest *request;
	GpbSearchPiece arrays;
	double	   *times;
	double		total = 0;
	TupleDesc	desc;
	Datum		values[4];
	bool		nulls[4] = {false};
	int			i;

	search.order = order_from_name(text_to_cstring(PG_GETARG_TEXT_PP(3)));
	if (nkeys < 1 || (search.order != GPB_ORDER_INPUT && nkeys > GPB_SEARCH_CHUNK) || nrequests < 1)
		elog(ERROR, "%d requests of %d keys cannot be made", nrequests, nkeys);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	index = gpb_open_named(PG_GETARG_OID(0), AccessShareLock);
	layout = *gpb_layout(index);	/* the relcache may free its own */
	require_mirror(index, &layout, &ref);
	request = require_staging(&ref, &search, layout.key_width, &arrays);
	fill_keys(index, &layout, (void *) arrays.keys, arrays.n);

	times = MemoryContextAllocHuge(CurrentMemoryContext, nrequests * sizeof(double));
	for (i = 0; i < nrequests; i++)
	{
		CHECK_FOR_INTERRUPTS();
		times[i] = time_request(request, &search, &arrays);
		total += times[i];
	}
	check_sample(index, &layout, &arrays);
	gpb_request_end(request);
	relation_close(index, AccessShareLock);

	qsort(times, nrequests, sizeof(double), compare_times);
	values[0] = Float8GetDatum((double) nkeys * nrequests / (total / 1e6));
	values[1] = Float8GetDatum(quantile(times, nrequests, 0.5));
	values[2] = Float8GetDatum(quantile(times, nrequests, 0.99));
	values[3] = Float8GetDatum(times[nrequests - 1]);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
