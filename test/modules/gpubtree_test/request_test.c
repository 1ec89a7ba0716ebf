/*-------------------------------------------------------------------------
 *
 * request_test.c
 *	  Requests to the service, for the TAP tests: positions and ranges.
 *
 * Each function compares with, or completes from, the real tree, as an executor node would.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/visibilitymap.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "hold.h"
#include "index/index.h"
#include "mirror/map_image.h"
#include "mirror/mirror.h"

PG_FUNCTION_INFO_V1(gpb_test_positions);
PG_FUNCTION_INFO_V1(gpb_test_ranges);
PG_FUNCTION_INFO_V1(gpb_test_refused);
PG_FUNCTION_INFO_V1(gpb_test_sort_refused);
PG_FUNCTION_INFO_V1(gpb_test_sorts);
PG_FUNCTION_INFO_V1(gpb_test_map_images);

/* A place in the tree */
typedef struct GpbTestPlace
{
	BlockNumber leaf;			/* InvalidBlockNumber: beyond all entries */
	int			position;
	GpbKey		key;
} GpbTestPlace;

static void
gpb_test_attach(Relation index, const GpbLayout *layout, GpbMirrorRef *ref)
{
	uint64		blocks;

	if (!gpb_mirror_attach(index, layout, ref) || !gpb_mirror_refresh(index, layout, ref, &blocks))
		elog(ERROR, "no mirror");
}

static GpbRequest *
gpb_test_begin(const GpbMirrorRef *ref, Size bytes, char **staging)
{
	GpbRequest *request = gpb_request_begin(ref, bytes);
	Size		size;

	if (request == NULL)
		elog(ERROR, "no request");
	*staging = gpb_request_staging(request, &size);
	if (size < bytes)
		elog(ERROR, "%zu bytes of staging instead of %zu", size, bytes);
	return request;
}

static void
gpb_test_require(bool answered)
{
	if (!answered)
		elog(ERROR, "no answer");
}

/* From a leaf and position to the entry there, which may be on a leaf further right. */
static GpbTestPlace
gpb_test_place(Relation index, const GpbLayout *layout, BlockNumber leaf, int position)
{
	Buffer		buffer = gpb_read(index, leaf, BUFFER_LOCK_SHARE, layout);
	GpbTestPlace place = {leaf, position, 0};

	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		GpbBound	high = gpb_page_high(page);
		BlockNumber left = place.leaf;

		if (place.position < gpb_page_count(page))
		{
			place.key = gpb_leaf_key(page, layout->key_width, gpb_page_row_width(page),
									 place.position);
			break;
		}
		place.position = 0;
		place.leaf = gpb_special(page)->right;
		if (place.leaf == GPB_NO_BLOCK)
			break;
		UnlockReleaseBuffer(buffer);
		buffer = gpb_read_right(index, layout, left, place.leaf, 0, high, BUFFER_LOCK_SHARE);
	}
	UnlockReleaseBuffer(buffer);
	return place;
}

/* First entry at or after the bound. */
static GpbTestPlace
gpb_test_find(Relation index, const GpbLayout *layout, GpbBound bound)
{
	Buffer		buffer = gpb_search(index, layout, bound, BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(buffer);
	BlockNumber leaf = BufferGetBlockNumber(buffer);
	int			position = gpb_page_lower_bound(page, layout->key_width, gpb_page_row_width(page),
												gpb_page_count(page), bound);

	UnlockReleaseBuffer(buffer);
	return gpb_test_place(index, layout, leaf, position);
}

/* Is the position what the tree says?  Nobody else writes meanwhile. */
static void
gpb_test_check_position(Relation index, const GpbLayout *layout, GpbSearchBound bound,
						GpbKey key, BlockNumber leaf, uint16 position)
{
	GpbBound	begin = {key, bound == GPB_SEARCH_UPPER ? PG_UINT64_MAX : 0};
	GpbTestPlace expected = gpb_test_find(index, layout, begin);
	GpbTestPlace found;

	if (position == GPB_POSITION_NONE)
	{
		if (bound != GPB_SEARCH_EQUAL ||
			(expected.leaf != GPB_NO_BLOCK && expected.key == key))
			elog(ERROR, "key %016lx%016lx not found", gpb_key_upper(key), (uint64) key);
		return;
	}
	found = gpb_test_place(index, layout, leaf, position);
	if (found.leaf != expected.leaf || found.position != expected.position ||
		(bound == GPB_SEARCH_EQUAL && found.key != key))
		elog(ERROR, "key %016lx%016lx at %u, %d; expected %u, %d", gpb_key_upper(key), (uint64) key,
			 found.leaf, found.position, expected.leaf, expected.position);
}

/* The key of any entry of any leaf, or one beside it in either half; 0 if there is no such leaf */
static GpbKey
gpb_test_key_around(Relation index, const GpbLayout *layout, pg_prng_state *prng)
{
	BlockNumber block = (BlockNumber) pg_prng_uint64_range(prng, 0,
														   RelationGetNumberOfBlocks(index) - 1);
	GpbTestPlace place;
	Buffer		buffer;
	bool		leaf;
	int			count;

	if (block == GPB_META_BLOCK)
		return 0;
	buffer = gpb_read(index, block, BUFFER_LOCK_SHARE, layout);
	leaf = gpb_special(BufferGetPage(buffer))->level == 0;
	count = gpb_page_count(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	if (!leaf || count == 0)
		return 0;
	place = gpb_test_place(index, layout, block, (int) pg_prng_uint64_range(prng, 0, count - 1));
	switch (pg_prng_uint64_range(prng, 0, 3))
	{
		case 0:
			return place.key + 1;
		case 1:
			return place.key ^ (GpbKey) 1 << pg_prng_uint64_range(prng, 0, 8 * layout->key_width - 1);
		default:
			return place.key;
	}
}

/*
 * gpb_test_positions(index, n, bound, largest) -> number of keys whose leaf was not clean.  Search
 * for n keys in order KEY, random ones up to the value "largest", or, if keys have 16 bytes, around
 * the entries; check all positions.
 */
Datum
gpb_test_positions(PG_FUNCTION_ARGS)
{
	Relation	index = relation_open(PG_GETARG_OID(0), AccessShareLock);
	GpbLayout	layout = *gpb_layout(index);
	GpbRequestSearch search = {.bound = (GpbSearchBound) PG_GETARG_INT32(2),
		.order = GPB_ORDER_KEY, .positions = true, .n = (uint32) PG_GETARG_INT32(1)};
	GpbMirrorRef ref;
	GpbRequest *request;
	GpbSearchPiece arrays;
	pg_prng_state prng;
	char	   *staging;
	int64		unclean = 0;
	uint32		i;

	gpb_test_attach(index, &layout, &ref);
	search.epoch = gpb_mirror_epoch(&ref);
	request = gpb_test_begin(&ref, gpb_search_arrange(&search, layout.key_width, NULL, &arrays),
							 &staging);
	gpb_search_arrange(&search, layout.key_width, staging, &arrays);
	pg_prng_seed(&prng, 1);
	for (i = 0; i < search.n; i++)
	{
		GpbKey		key = layout.key_width == GPB_WIDE_KEY ?
		gpb_test_key_around(index, &layout, &prng) :
		gpb_key_encode((int64) pg_prng_uint64_range(&prng, 0, PG_GETARG_INT64(3)),
					   layout.key_width, layout.flags);

		memcpy((char *) arrays.keys + (Size) i * layout.key_width, &key, layout.key_width);
	}
	gpb_test_require(gpb_request_search(request, &search));
	for (i = 0; i < search.n; i++)
	{
		GpbKey		key = 0;

		memcpy(&key, (const char *) arrays.keys + (Size) arrays.permutation[i] * layout.key_width,
			   layout.key_width);
		if (arrays.position[i] == GPB_POSITION_UNCLEAN)
			unclean++;
		else
			gpb_test_check_position(index, &layout, search.bound, key, arrays.leaf[i],
									arrays.position[i]);
	}
	gpb_request_end(request);
	relation_close(index, AccessShareLock);
	PG_RETURN_INT64(unclean);
}

/*
 * gpb_test_refused(index): does the service itself refuse positions, ranges and a range aggregate
 * in the mirror that is there for searches, and answer a search?
 */
Datum
gpb_test_refused(PG_FUNCTION_ARGS)
{
	Relation	index = relation_open(PG_GETARG_OID(0), AccessShareLock);
	GpbLayout	layout = *gpb_layout(index);
	GpbRequestSearch search = {.bound = GPB_SEARCH_LOWER, .n = 1};
	GpbRangesSpec ranges = {.program.layout = layout, .n = 1};
	GpbRequest *request;
	GpbMirrorRef ref;
	char	   *staging;
	bool		refused = true;
	int			what;

	if (!gpb_mirror_attach_search(index, &layout, &ref))
		elog(ERROR, "no mirror");
	for (what = 0; what < 4; what++)
	{
		request = gpb_test_begin(&ref, 1024, &staging);
		memset(staging, 0, 1024);
		search.positions = what == 1;
		search.epoch = ranges.epoch = gpb_mirror_epoch(&ref);
		ranges.form = what == 2 ? GPB_RANGE_KEYS : GPB_RANGE_BOUNDS;
		if (what < 2)
			refused = refused && gpb_request_search(request, &search) == (what == 0);
		else
			refused = refused && !(gpb_request_submit_ranges(request, &ranges) &&
								   gpb_request_wait(request));
		gpb_request_end(request);
	}
	relation_close(index, AccessShareLock);
	PG_RETURN_BOOL(refused);
}

/* ---- sorts ---- */

/* Submit n records of zeroes as the first of a sort of a new request.  Are they accepted? */
static bool
gpb_test_first_records(GpbRequest **request, GpbSortFormat format, uint32 n)
{
	*request = gpb_request_begin_sort(65536);
	if (*request == NULL)
		elog(ERROR, "no request");
	return gpb_request_submit_first_records(*request, &format, n, n) &&
		gpb_request_wait(*request);
}

/*
 * gpb_test_sort_refused() -> what the service does not refuse of what no build asks for, '' if it
 * refuses all.
 */
Datum
gpb_test_sort_refused(PG_FUNCTION_ARGS)
{
	const GpbSortFormat good = {8, 16};
	const GpbSortFormat bad = {8, 12};
	const uint32 most = 65536 / 16;
	const char *wrong = "";
	GpbRequest *request;

	if (gpb_test_first_records(&request, bad, 1))
		wrong = "a wrong format";
	gpb_request_end(request);
	if (gpb_test_first_records(&request, good, most + 1))
		wrong = "more records than staging has room for";
	gpb_request_end(request);
	for (int what = 0; what < 3; what++)
	{
		gpb_test_require(gpb_test_first_records(&request, good, most));
		if (gpb_request_submit_read(request, 0, most, what * 32768) && gpb_request_wait(request) &&
			what > 0)
			wrong = "a read to a place beyond staging";
		gpb_request_end(request);
	}
	/* The service ends a sort at one of its looks; until then a new claim has its slot. */
	for (int turn = 0; turn < 3000; turn++)
	{
		gpb_test_require(gpb_test_first_records(&request, good, most));
		gpb_request_end(request);
		request = gpb_request_begin_sort(65536);
		if (request != NULL &&
			(turn % 2 == 0 ? gpb_request_submit_records(request, 1) :
			 gpb_request_submit_read(request, 0, 1, 0)) && gpb_request_wait(request))
			wrong = "another claim's sort";
		gpb_request_end(request);
	}
	PG_RETURN_TEXT_P(cstring_to_text(wrong));
}

/* gpb_test_sorts() -> how many sorts there may be at a time */
Datum
gpb_test_sorts(PG_FUNCTION_ARGS)
{
	const GpbSortFormat format = {8, 16};
	GpbRequest *requests[64];
	int			n = 0;
	int			sorts;

	while (n < lengthof(requests) && gpb_test_first_records(&requests[n], format, 1))
		n++;
	sorts = n;
	if (n == lengthof(requests))
		n--;
	for (; n >= 0; n--)
		gpb_request_end(requests[n]);
	PG_RETURN_INT32(sorts);
}

/* ---- ranges ---- */

/* Entries of the tree in a range */
static int64
gpb_test_count(Relation index, const GpbLayout *layout, GpbRange range)
{
	GpbTestPlace place = gpb_test_find(index, layout, range.lo);
	GpbTestPlace end = gpb_test_find(index, layout, range.hi);
	int64		n = 0;

	while (place.leaf != end.leaf || place.position != end.position)
	{
		n++;
		place = gpb_test_place(index, layout, place.leaf, place.position + 1);
	}
	return n;
}

/* The whole visibility map, a page at a time */
static void
gpb_test_ship_visibility(GpbRequest *request, Relation heap, uint32 *heap_blocks)
{
	Buffer		pin = InvalidBuffer;
	uint8		bits[1024];
	BlockNumber block;

	*heap_blocks = RelationGetNumberOfBlocks(heap);
	for (block = 0; block < *heap_blocks; block++)
	{
		if (block % 4 == 0)
			bits[block / 4 % sizeof(bits)] = 0;
		bits[block / 4 % sizeof(bits)] |= visibilitymap_get_status(heap, block, &pin) << (block % 4 * 2);
		if (block % (4 * sizeof(bits)) == 4 * sizeof(bits) - 1 || block + 1 == *heap_blocks)
			gpb_test_require(gpb_request_visibility(request,
													block / 4 / sizeof(bits) * sizeof(bits), bits,
													block / 4 % sizeof(bits) + 1));
	}
	if (BufferIsValid(pin))
		ReleaseBuffer(pin);
}

/* One request's share of the ranges */
typedef struct GpbTestRanges
{
	GpbRequest *request;
	char	   *staging;
	GpbRangesSpec spec;
	GpbKeyRange *ranges;
	int64	   *counts;			/* result */
	int64	   *totals;			/* of all: from answers, pieces, entries */
} GpbTestRanges;

static void
gpb_test_submit_ranges(GpbTestRanges *part, Relation heap)
{
	gpb_test_ship_visibility(part->request, heap, &part->spec.heap_blocks);
	gpb_put_ranges(GPB_RANGE_KEYS, part->ranges, 0, part->spec.n,
					   part->spec.program.layout.key_width, part->staging);
	gpb_test_require(gpb_request_submit_ranges(part->request, &part->spec));
}

/* Add up the answers, and what the device left behind, fetched record by record to a place behind them. */
static void
gpb_test_take_ranges(GpbTestRanges *part, Relation index)
{
	const GpbLayout *layout = &part->spec.program.layout;
	Size		offset = part->spec.n * sizeof(GpbNarrowKeyRange);
	GpbRangeEntry *entry = (GpbRangeEntry *) (part->staging + offset);
	GpbRangesResult result;
	uint64		i;

	gpb_test_require(gpb_request_wait(part->request));
	gpb_request_ranges_result(part->request, &result);
	/* nothing is wanted of any column, so that an answer is the number of entries */
	for (i = 0; i < gpb_count_answers(&part->spec); i++)
	{
		int64		entries = ((const int64 *) part->staging)[i];

		part->counts[i] += entries;
		part->totals[0] += entries;
	}
	for (i = 0; i < result.unclean; i++)
	{
		GpbUncleanPiece *piece = (GpbUncleanPiece *) (part->staging + offset);
		int64		entries;

		gpb_test_require(gpb_request_fetch(part->request, GPB_FETCH_PIECES, i, 1, offset));
		entries = gpb_test_count(index, layout, gpb_widen_range(piece->range));
		part->counts[piece->number] += entries;
		part->totals[1] += entries;
	}
	for (i = 0; i < result.entries; i++)
	{
		gpb_test_require(gpb_request_fetch(part->request, GPB_FETCH_ENTRIES, i, 1, offset));
		part->counts[entry->number]++;
		part->totals[2]++;
	}
	/* one record too many is refused, and with it the request */
	if (gpb_request_fetch(part->request, GPB_FETCH_ENTRIES, result.entries, 1, offset))
		elog(ERROR, "a record that is not there was fetched");
}

/*
 * gpb_test_ranges(index, lo bigint[], hi bigint[], list) -> entries of each range, then how many of all
 * came from answers, unclean pieces, single entries.  Two requests, each with half of the ranges,
 * are in flight together.
 */
Datum
gpb_test_ranges(PG_FUNCTION_ARGS)
{
	Relation	index = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Relation	heap = relation_open(IndexGetRelation(RelationGetRelid(index), false), AccessShareLock);
	GpbLayout	layout = *gpb_layout(index);
	Datum	   *bound[2];
	GpbTestRanges part[2];
	GpbKeyRange *ranges;
	GpbMirrorRef ref;
	int64	   *counts;
	Datum	   *values;
	uint64		epoch;
	int			n;
	int			i;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), INT8OID, 8, true, 'd', &bound[0], NULL, &n);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), INT8OID, 8, true, 'd', &bound[1], NULL, &n);
	ranges = palloc(n * sizeof(GpbKeyRange));
	counts = palloc0((n + 3) * sizeof(int64));
	for (i = 0; i < n; i++)
	{
		ranges[i].lo = gpb_key_encode(DatumGetInt64(bound[0][i]), layout.key_width, layout.flags);
		ranges[i].hi = gpb_key_encode(DatumGetInt64(bound[1][i]), layout.key_width, layout.flags);
	}
	gpb_test_attach(index, &layout, &ref);
	epoch = gpb_mirror_epoch(&ref);
	memset(part, 0, sizeof(part));
	for (i = 0; i < 2; i++)
	{
		part[i].spec.program.layout = layout;
		part[i].spec.form = GPB_RANGE_KEYS;
		part[i].spec.n = i == 0 ? n / 2 : n - n / 2;
		part[i].spec.program.list_entries = PG_GETARG_BOOL(3);
		part[i].spec.epoch = epoch;
		part[i].ranges = ranges + (i == 0 ? 0 : n / 2);
		part[i].counts = counts + (i == 0 ? 0 : n / 2);
		part[i].totals = counts + n;
		part[i].request = gpb_test_begin(&ref, n * (sizeof(GpbKeyRange) + 64) + 1024, &part[i].staging);
		gpb_test_submit_ranges(&part[i], heap);
	}
	for (i = 0; i < 2; i++)
	{
		gpb_test_take_ranges(&part[i], index);
		gpb_request_end(part[i].request);
	}
	relation_close(heap, AccessShareLock);
	relation_close(index, AccessShareLock);
	values = palloc((n + 3) * sizeof(Datum));
	for (i = 0; i < n + 3; i++)
		values[i] = Int64GetDatum(counts[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(values, n + 3, INT8OID, 8, true, 'd'));
}

/* ---- map images ---- */

Datum
gpb_test_map_images(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Datum		values[3];
	bool		nulls[3] = {false, false, false};
	uint64		made;
	uint32		present;
	uint32		users;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	gpb_map_images_count(&made, &present, &users);
	values[0] = Int64GetDatum((int64) made);
	values[1] = Int32GetDatum((int32) present);
	values[2] = Int32GetDatum((int32) users);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}
