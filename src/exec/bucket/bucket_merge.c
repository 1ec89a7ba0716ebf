/*-------------------------------------------------------------------------
 *
 * bucket_merge.c
 *	  States of buckets: those that a leaf returns, and their merging over several leaves.
 *
 * A leaf returns a row of states for each bucket, in the order of results.  Where leaves follow one
 * another too, equal neighbours are merged as they come: only at the seam between two leaves there
 * are such.  Leaves that do not are merged by core's MergeAppend.  Where neither can be, all states
 * are sorted by result first.
 *
 * Keys that follow one another have results that do so only if the function does not fall in
 * between, as a local time does when clocks are put back.  Within a leaf the leaf sees to that.
 * Between leaves nobody knows what comes, so the function is looked at over all keys that leaves
 * may have, before the first of them is asked.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "exec/answer/states.h"
#include "exec/bucket/bucket_node.h"
#include "exec/functions/zone.h"

/* What is sorted has two columns: the result, which may be NULL, and the row of states. */
#define GPB_SORT_COLUMNS	2

struct GpbStateStream
{
	MemoryContext context;		/* the node's */
	Size		width;			/* bytes of a group */
	GpbZoneSettings settings;	/* of the session, when the arguments were set */
	bool		sorts;			/* states are sorted in this execution */
	Tuplesortstate *sort;		/* NULL until then */
	TupleTableSlot *to_sort;
	TupleTableSlot *sorted;
	GpbGroup   *next;			/* a group that was read, and begins what is returned next */
	bool		has_next;
	bool		ended;			/* there are no more behind it */
	GpbGroup   *open;			/* the first state of the group at hand, where its answer may be */
	uint64		nmerged;
	uint64		nsorted;
};

/* What states have of buckets: the result is a group slot. */
static const GpbStatesForm states_form = {.nslots = 1, .type = {{.class = GPB_WORDS_SQL}}};

/* ---- what a leaf returns ---- */

void
gpb_bucket_fill_state(GpbBucketScan *scan)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	const GpbAsk *ask = gpb_bucket_ask(scan);
	const GpbAnswerFormat *format = gpb_ask_format(ask);
	int			width = gpb_answer_width(format);
	GpbGroup   *group = palloc0(sizeof(GpbGroup) + sizeof(int64) + width);

	group->nulls = scan->group_null;
	group->words[0] = scan->group_null ? 0 : scan->group_result;
	memcpy(group->words + 1, gpb_group_answer(ask), width);
	gpb_answer_normalize(format, group->words + 1);
	ExecClearTuple(tuple);
	memset(tuple->tts_isnull, true, sizeof(bool) * tuple->tts_tupleDescriptor->natts);
	tuple->tts_values[0] = PointerGetDatum(gpb_states_make(&states_form, NULL, format,
														   (const GpbGroup *const *) &group, 1));
	tuple->tts_isnull[0] = false;
	if (!scan->group_null)
	{
		tuple->tts_values[1] = gpb_bucket_datum(scan->function, scan->group_result);
		tuple->tts_isnull[1] = false;
	}
	ExecStoreVirtualTuple(tuple);
}

/* ---- begin and end ---- */

void
gpb_bucket_merge_begin(GpbBucketScan *scan)
{
	const GpbBucketPlan *plan = &scan->plan;
	PlanState  *ps = &scan->node.css.ss.ps;
	GpbAskWant	want = {GPB_ASK_NODE(&scan->node), .nitems = plan->nitems, .items = plan->items};
	GpbStateStream *stream = palloc0(sizeof(GpbStateStream));
	TupleDesc	descriptor = CreateTemplateTupleDesc(GPB_SORT_COLUMNS);

	want.program = plan->has_program ? &plan->program.program : NULL;
	scan->ask = gpb_ask_begin(ps, &want);
	stream->context = CurrentMemoryContext;
	stream->width = sizeof(GpbGroup) + sizeof(int64) + gpb_ask_answer_width(scan->ask);
	stream->open = palloc(stream->width);
	stream->next = palloc(stream->width);
	TupleDescInitEntry(descriptor, 1, "result", INT8OID, -1, 0);
	TupleDescInitEntry(descriptor, 2, "states", BYTEAOID, -1, 0);
	TupleDescFinalize(descriptor);
	stream->to_sort = ExecInitExtraTupleSlot(ps->state, descriptor, &TTSOpsVirtual);
	stream->sorted = ExecInitExtraTupleSlot(ps->state, descriptor, &TTSOpsMinimalTuple);
	scan->stream = stream;
}

void
gpb_bucket_merge_stop(GpbBucketScan *scan)
{
	GpbStateStream *stream = scan->stream;

	if (stream->sort != NULL)
	{
		ExecClearTuple(stream->sorted);
		tuplesort_end(stream->sort);
		stream->sort = NULL;
	}
	stream->has_next = false;
	stream->ended = false;
	scan->any_result = false;
	scan->started = false;
}

void
gpb_bucket_merge_rescan(GpbBucketScan *scan, bool changed)
{
	gpb_bucket_merge_stop(scan);
	if (changed)
		scan->evaluated = false;
	gpb_rescan_child(&scan->node);
}

void
gpb_bucket_merge_counts(const GpbBucketScan *scan, uint64 *merged, uint64 *sorted)
{
	*merged = scan->stream == NULL ? 0 : scan->stream->nmerged;
	*sorted = scan->stream == NULL ? 0 : scan->stream->nsorted;
}

/* ---- do leaves that follow one another have results that do? ---- */

/*
 * Does the function not fall between two keys that leaves may have?  Beyond its safe interval
 * nothing is known.
 */
static bool
function_rises(GpbBucketScan *scan, const GpbBucketOrder *order)
{
	const GpbBucketMerge *merge = &scan->plan.merge;
	const int64 *boundaries;
	int			n;

	if (order->safe_lo > order->safe_hi ||
		(order->infinities && (merge->first < order->safe_lo || merge->last > order->safe_hi)))
		return false;
	boundaries = gpb_bucket_boundaries(scan->function, &n);
	for (int i = 0; i < n; i++)
	{
		int64		at = boundaries[i];

		if (at > merge->first && at <= merge->last &&
			gpb_bucket_of(scan->function, at - 1) > gpb_bucket_of(scan->function, at))
			return false;
	}
	return true;
}

/*
 * Evaluate the function's arguments, on which the order of results depends, and save the settings
 * that all leaves are to have (rule M12).
 */
static void
evaluate_order(GpbBucketScan *scan)
{
	GpbStateStream *stream = scan->stream;
	const GpbBucketOrder *order;
	MemoryContext caller;

	MemoryContextReset(scan->evaluation);
	caller = MemoryContextSwitchTo(scan->evaluation);
	gpb_zone_settings_save(&stream->settings);
	MemoryContextSwitchTo(caller);
	order = gpb_bucket_set_arguments(scan);
	stream->sorts = scan->plan.merge.order == GPB_STATES_UNSORTED ||
		(scan->plan.merge.order == GPB_STATES_BY_LEAF && !order->null &&
		 !function_rises(scan, order));
	scan->evaluated = true;
}

/* ---- states, one after the other ---- */

/* Copy the only group of a row of states. */
static void
read_state(const GpbStateStream *stream, Datum bytes, GpbGroup *group)
{
	GpbStatesRow row;
	char	   *groups;

	gpb_states_open((const struct varlena *) DatumGetPointer(bytes), &row);
	if (row.kind != GPB_STATES_GROUPS || row.n != 1 || row.narrow)
		elog(ERROR, "a row of states is of no bucket");
	groups = gpb_states_groups(&states_form, &row, stream->width, NULL);
	memcpy(group, groups, stream->width);
	pfree(groups);
}

/* The next row of states of the child, with the settings that all leaves have; NULL after it */
static TupleTableSlot *
child_state(GpbBucketScan *scan)
{
	int			level = gpb_zone_settings_enter(&scan->stream->settings);
	TupleTableSlot *slot = ExecProcNode(scan->node.child);

	gpb_zone_settings_leave(level);
	if (TupIsNull(slot))
		return NULL;
	slot_getallattrs(slot);
	if (slot->tts_isnull[0])
		elog(ERROR, "a row of states is NULL");
	scan->stream->nmerged++;
	return slot;
}

/* Sort the states of all leaves, in the order that the node promises. */
static void
sort_states(GpbBucketScan *scan)
{
	GpbStateStream *stream = scan->stream;
	const GpbBucketMerge *merge = &scan->plan.merge;
	TypeCacheEntry *type = lookup_type_cache(INT8OID, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	Oid			operator = merge->descends ? type->gt_opr : type->lt_opr;
	Oid			collation = InvalidOid;
	bool		nulls_first = merge->nulls_first;
	AttrNumber	column = 1;
	MemoryContext caller = MemoryContextSwitchTo(stream->context);
	TupleTableSlot *slot;

	stream->sort = tuplesort_begin_heap(stream->to_sort->tts_tupleDescriptor, 1, &column,
										&operator, &collation, &nulls_first, work_mem, NULL,
										TUPLESORT_NONE);
	MemoryContextSwitchTo(caller);
	while ((slot = child_state(scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		read_state(stream, slot->tts_values[0], stream->next);
		ExecClearTuple(stream->to_sort);
		stream->to_sort->tts_values[0] = Int64GetDatum(stream->next->words[0]);
		stream->to_sort->tts_isnull[0] = stream->next->nulls != 0;
		stream->to_sort->tts_values[1] = slot->tts_values[0];
		stream->to_sort->tts_isnull[1] = false;
		ExecStoreVirtualTuple(stream->to_sort);
		tuplesort_puttupleslot(stream->sort, stream->to_sort);
		stream->nsorted++;
	}
	tuplesort_performsort(stream->sort);
}

/* Read the next state; false if there are no more. */
static bool
next_state(GpbBucketScan *scan, GpbGroup *group)
{
	GpbStateStream *stream = scan->stream;
	TupleTableSlot *slot = stream->sorted;

	if (stream->ended)
		return false;
	if (!stream->sorts)
		slot = child_state(scan);
	else if (!tuplesort_gettupleslot(stream->sort, true, false, slot, NULL))
		slot = NULL;
	stream->ended = slot == NULL;
	if (stream->ended)
		return false;
	slot_getallattrs(slot);
	read_state(stream, slot->tts_values[stream->sorts ? 1 : 0], group);
	return true;
}

/* ---- groups ---- */

/* Are two states of the same bucket? */
static inline bool
same_bucket(const GpbGroup *a, const GpbGroup *b)
{
	return a->nulls == b->nulls && a->words[0] == b->words[0];
}

/* Begin the group of the state that is "open".  Its result must come after that of the last one. */
static void
open_group(GpbBucketScan *scan)
{
	const GpbGroup *group = scan->stream->open;
	int64		result = group->words[0];

	scan->group_null = group->nulls != 0;
	if (!scan->group_null)
	{
		if (scan->any_result && (scan->plan.merge.descends ? result >= scan->group_result :
								 result <= scan->group_result))
			elog(ERROR, "buckets of partitions are out of order");
		scan->any_result = true;
		scan->group_result = result;
	}
	gpb_group_init(scan->ask);
	gpb_group_add(scan->ask, group->words + 1);
}

bool
gpb_bucket_merged_group(GpbBucketScan *scan)
{
	GpbStateStream *stream = scan->stream;
	GpbGroup   *open = stream->next;

	if (!scan->evaluated)
		evaluate_order(scan);
	if (!scan->started && stream->sorts)
		sort_states(scan);
	scan->started = true;
	if (!stream->has_next && !next_state(scan, stream->next))
		return false;
	stream->next = stream->open;
	stream->open = open;
	open_group(scan);
	while ((stream->has_next = next_state(scan, stream->next)) &&
		   same_bucket(stream->open, stream->next))
		gpb_group_add(scan->ask, stream->next->words + 1);
	return true;
}
