/*-------------------------------------------------------------------------
 *
 * range_totals.c
 *	  SQL aggregates over ranges of an index: a batch of ranges, and values of aggregates.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"
#include "utils/rel.h"

#include "exec/answer/item_final.h"
#include "exec/answer/range_totals.h"
#include "exec/compile/program_build.h"
#include "exec/compile/program_codes.h"
#include "large_array.h"

struct GpbRangeTotals
{
	MemoryContext context;		/* the object's; answers are in one of their own */
	MemoryContext answers_context;
	Relation	index;
	int			nitems;
	GpbAggregateItem *items;
	const GpbAnswerColumn **columns;	/* of each item's column; NULL for count(*) */
	GpbBatch   *batch;
	const GpbAnswerFormat *format;
	int			ngroups;		/* group slots of the batch's program */
	uint32		n;				/* number of ranges of the last run */
	int64	   *answers;		/* the answers to those ranges */

	/*
	 * The answer over the group: "nothing", as long as the group is empty; the answer to its only
	 * range, where that lies; or "sum", once there was anything to be added up.
	 */
	const int64 *group;
	int64	   *nothing;
	int64	   *sum;
};

/* ---- begin and end ---- */

/* Where a column's words are in an answer that has them */
static const GpbAnswerColumn *
find_answer_column(const GpbAnswerFormat *format, int column)
{
	int			i;

	for (i = 0; i < format->ncolumns; i++)
	{
		if (format->column[i].column == column)
			return &format->column[i];
	}
	elog(ERROR, "column %d is not among the %d that are aggregated", column, format->ncolumns);
}

/* Begin totals for the items, which the batch that is wanted computes. */
static GpbRangeTotals *
begin_totals(Relation heap, Relation index, Snapshot snapshot, const GpbBatchWant *want,
			 const GpbAggregateItem *items, int nitems, GpbEngine engine)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree range totals",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	GpbRangeTotals *totals = palloc0(sizeof(GpbRangeTotals));
	int			i;

	totals->context = context;
	totals->answers_context = AllocSetContextCreate(context, "gpubtree range answers",
													ALLOCSET_DEFAULT_SIZES);
	totals->index = index;
	totals->nitems = nitems;
	totals->items = palloc(sizeof(GpbAggregateItem) * nitems);
	if (nitems > 0)				/* DISTINCT has no items */
		memcpy(totals->items, items, sizeof(GpbAggregateItem) * nitems);

	totals->batch = gpb_batch_begin(heap, index, snapshot, want, engine);
	totals->format = gpb_batch_format(totals->batch);
	totals->ngroups = want->program.ngroups;
	totals->columns = palloc0(sizeof(GpbAnswerColumn *) * nitems);
	for (i = 0; i < nitems; i++)
	{
		if (items[i].function != GPB_COUNT_ENTRIES)
			totals->columns[i] = find_answer_column(totals->format, items[i].column);
	}
	totals->sum = palloc(gpb_batch_answer_width(totals->batch));
	/* Of no entries, wide sums begin as narrow ones do. */
	totals->nothing = palloc0(gpb_batch_answer_width(totals->batch));
	gpb_answer_init(totals->format, totals->nothing);
	gpb_range_group_init(totals);
	MemoryContextSwitchTo(caller);
	return totals;
}

GpbRangeTotals *
gpb_range_totals_begin(Relation heap, Relation index, Snapshot snapshot,
					   const GpbAggregateItem *items, int nitems,
					   GpbRangeForm form, Size memory, GpbEngine engine)
{
	GpbBatchWant want = {.form = form, .memory = memory};

	gpb_aggregate_wants(items, nitems, want.program.want);
	return begin_totals(heap, index, snapshot, &want, items, nitems, engine);
}

GpbRangeTotals *
gpb_range_totals_begin_program(Relation heap, Relation index, Snapshot snapshot,
							   const GpbProgram *program,
							   const GpbAggregateItem *items, int nitems,
							   GpbRangeForm form, Size memory, GpbEngine engine)
{
	GpbBatchWant want = {.form = form, .program = *program, .memory = memory};

	return begin_totals(heap, index, snapshot, &want, items, nitems, engine);
}

void
gpb_range_totals_end(GpbRangeTotals *totals)
{
	gpb_batch_end(totals->batch);
	MemoryContextDelete(totals->context);
}

/* ---- answers ---- */

/* The group's answer, to which more is to be added, or whose range's answer goes */
static int64 *
group_sum(GpbRangeTotals *totals)
{
	if (totals->group != totals->sum)
		memcpy(totals->sum, totals->group, gpb_answer_width(totals->format));
	totals->group = totals->sum;
	return totals->sum;
}

/* Run the batch.  If its sums become wide by that, so do those of the group that is added up. */
static void
run_batch(GpbRangeTotals *totals, const void *ranges, uint32 n, int64 *answers)
{
	GpbAnswerFormat before = *totals->format;

	gpb_batch_run(totals->batch, ranges, n, answers);
	if (before.words != totals->format->words && totals->group == totals->sum)
		gpb_answer_widen(&before, totals->format, totals->sum);
}

void
gpb_range_totals_run(GpbRangeTotals *totals, const void *ranges, uint32 n)
{
	if (totals->group != totals->nothing)
		(void) group_sum(totals);
	MemoryContextReset(totals->answers_context);
	totals->n = n;
	totals->answers = NULL;
	if (n == 0)
		return;
	totals->answers = gpb_alloc_array(totals->answers_context,
									  gpb_batch_answer_width(totals->batch) * n);
	run_batch(totals, ranges, n, totals->answers);
}

void
gpb_range_totals_sum(GpbRangeTotals *totals, const void *ranges, uint32 n)
{
	const char *why;

	run_batch(totals, ranges, n, NULL);
	if (totals->ngroups == 0 && !gpb_batch_gave_up(totals->batch, &why))
		gpb_answer_merge(totals->format, group_sum(totals), gpb_batch_total(totals->batch));
}

bool
gpb_range_totals_gave_up(const GpbRangeTotals *totals, const char **why)
{
	return gpb_batch_gave_up(totals->batch, why);
}

GpbBatch *
gpb_range_totals_batch(const GpbRangeTotals *totals)
{
	return totals->batch;
}

const GpbGroup *
gpb_range_totals_next_group(GpbRangeTotals *totals, uint64 *at)
{
	const GpbGroup *group = gpb_batch_next_group(totals->batch, at);

	if (group != NULL)
		totals->group = group->words + totals->ngroups;
	return group;
}

const GpbAnswerColumn *
gpb_range_totals_column(const GpbRangeTotals *totals, int item)
{
	return totals->columns[item];
}

void
gpb_group_values(Relation index, const GpbGroup *group, int n, const GpbWordType *types,
				 Datum *values,
				 bool *isnull)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		isnull[i] = (group->nulls >> i & 1) != 0;
		if (!isnull[i])
			values[i] = gpb_words_value(index, types[i], &group->words[i]);
	}
}

static inline const int64 *
range_answer(const GpbRangeTotals *totals, uint32 range)
{
	Assert(range < totals->n);
	return totals->answers + (Size) range * totals->format->words;
}

int64
gpb_range_totals_entries(const GpbRangeTotals *totals, uint32 range)
{
	return range_answer(totals, range)[0];
}

const int64 *
gpb_range_totals_answer(const GpbRangeTotals *totals, uint32 range)
{
	return range_answer(totals, range);
}

const GpbAnswerFormat *
gpb_range_totals_format(const GpbRangeTotals *totals)
{
	return totals->format;
}

/* ---- the group ---- */

void
gpb_range_group_set(GpbRangeTotals *totals, const int64 *answer)
{
	totals->group = answer;
}

void
gpb_range_group_init(GpbRangeTotals *totals)
{
	totals->group = totals->nothing;
}

/* Add an answer, which stays where it is as long as the group may be its own. */
static void
add_answer(GpbRangeTotals *totals, const int64 *answer)
{
	if (totals->group == totals->nothing)
		totals->group = answer;
	else
		gpb_answer_merge(totals->format, group_sum(totals), answer);
}

void
gpb_range_group_add(GpbRangeTotals *totals, uint32 range)
{
	add_answer(totals, range_answer(totals, range));
}

void
gpb_range_group_add_group(GpbRangeTotals *totals, const GpbGroup *group)
{
	add_answer(totals, group->words + totals->ngroups);
}

void
gpb_range_group_count(GpbRangeTotals *totals, int64 n, bool keys)
{
	const GpbAnswerFormat *format = totals->format;
	int64	   *sum;

	if (n == 0)
		return;
	sum = group_sum(totals);
	sum[0] += n;
	if (keys && format->ncolumns > 0 && format->column[0].column == 0)
		sum[format->column[0].count] += n;
}

int64
gpb_range_group_entries(const GpbRangeTotals *totals)
{
	return totals->group[0];
}

void
gpb_range_group_final(const GpbRangeTotals *totals, Datum *values, bool *isnull)
{
	int			i;

	for (i = 0; i < totals->nitems; i++)
		values[i] = gpb_aggregate_final(totals->index, &totals->items[i], totals->columns[i],
										totals->group, &isnull[i]);
}

const GpbBatchCounters *
gpb_range_totals_counters(const GpbRangeTotals *totals)
{
	return gpb_batch_counters(totals->batch);
}
