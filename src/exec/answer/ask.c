/*-------------------------------------------------------------------------
 *
 * ask.c
 *	  How every node asks the engine: aggregates over ranges of indexes, their groups, and lists.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "exec/answer/ask.h"
#include "exec/answer/item_final.h"
#include "exec/bind/program_bind_safe.h"
#include "exec/shell/expressions.h"
#include "exec/shell/node_explain.h"
#include "index/index.h"
#include "large_array.h"
#include "mirror/mirror.h"

/* A target, and what it is asked by */
typedef struct GpbAsked
{
	Relation	heap;
	Relation	index;
	GpbProgramConstants *constants; /* NULL: there are none, or they are another ask's */
	GpbBatch   *batch;			/* NULL before the first question */
	bool		replaced;		/* the program is none of the plan */
	bool		submitted;		/* a run of the batch has begun, and is to be completed */
	int64	   *share;			/* where its answers come, if it answers a share of the ranges */
	GpbBatchWant want;			/* of the batch: the program, of several kilobytes, is kept once */
} GpbAsked;

struct GpbAsk
{
	MemoryContext context;		/* the ask's; answers to ranges are in one of their own, if any */
	MemoryContext answers_context;
	Snapshot	snapshot;
	GpbAskWant	want;
	bool		may_fail;		/* evaluating the constants may raise an error */
	GpbAnswerFormat own_format; /* without a batch; one of a program with group slots changes it */
	const GpbAnswerFormat *format;	/* the batch's, or one's own */
	int		   *column;			/* the number in the format of each item's column; -1: count(*) */
	uint32		n;				/* number of ranges that were answered each */
	int64	   *answers;

	/*
	 * The answer over the group: "nothing", as long as the group is empty; the answer to its only
	 * range, where that lies; or "sum", once there was anything to be added up.
	 */
	const int64 *group;
	int64	   *nothing;
	int64	   *sum;

	GpbCollected *collected;	/* of an ask that collects, else NULL */
	GpbBatchCounters past;		/* of batches that have ended */
	char		past_engine[128];	/* the engine of the last of them, which goes with it */
	int			ntargets;
	GpbAsked	target[FLEXIBLE_ARRAY_MEMBER];
};

/* A group's number among those of all targets: the target, and the place among its own groups */
#define GPB_TARGET_SHIFT	48

/* ---- begin and end ---- */

/* The number, in the format, of a column that answers have */
static int
find_answer_column(const GpbAnswerFormat *format, int column)
{
	int			i;

	for (i = 0; i < format->ncolumns; i++)
	{
		if (format->column[i].column == column)
			return i;
	}
	elog(ERROR, "column %d is not among the %d that are aggregated", column, format->ncolumns);
}

/* Let a target have the program as the plan has it. */
static void
init_program(const GpbAskWant *want, GpbAsked *target)
{
	GpbProgram *program = &target->want.program;

	if (want->program != NULL || want->plan != NULL)
		memcpy(program, want->program != NULL ? want->program : &want->plan->program,
			   sizeof(GpbProgram));
	else
	{
		memset(program, 0, sizeof(GpbProgram));
		program->list_entries = want->list;
		gpb_aggregate_wants(want->items, want->nitems, program->want);
	}
	/* a copy: the relcache may rebuild its own at any time */
	program->layout = *gpb_layout(target->index);
	target->replaced = false;
}

/* Begin to collect. */
static void
begin_collected(GpbAsk *ask)
{
	Assert(ask->ntargets == 1);
	ask->collected = gpb_collected_begin(&ask->target[0].want.program,
										 ask->want.memory != 0 ? ask->want.memory :
										 get_hash_memory_limit());
	ask->format = gpb_collected_format(ask->collected);
}

/* Prepare the answers, whose format does not depend on constants. */
static void
begin_answers(GpbAsk *ask)
{
	Size		width;
	int			i;

	gpb_answer_format(&ask->target[0].want.program, &ask->own_format);
	ask->format = &ask->own_format;
	if (ask->want.collects)
		begin_collected(ask);
	width = gpb_ask_answer_width(ask);
	ask->column = palloc(sizeof(int) * Max(ask->want.nitems, 1));
	for (i = 0; i < ask->want.nitems; i++)
		ask->column[i] = ask->want.items[i].function == GPB_COUNT_ENTRIES ? -1 :
			find_answer_column(ask->format, ask->want.items[i].column);
	ask->sum = palloc(width);
	/* Of no entries, narrow sums begin as wide ones do. */
	ask->nothing = palloc0(width);
	gpb_answer_init(ask->format, ask->nothing);
	gpb_group_init(ask);
}

/*
 * What is a term of the plan's program, of which only the count is wanted, may be a group of a part
 * of it: so columns whose codes are read are those of all parts.
 */
GpbAsk *
gpb_ask_begin(PlanState *ps, const GpbAskWant *want)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree ask",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	GpbAsk	   *ask = palloc(offsetof(GpbAsk, target) + sizeof(GpbAsked) * want->ntargets);
	GpbAsk	   *owner = want->constants_of != NULL ? want->constants_of : ask;
	int			i;

	Assert(want->ntargets > 0);
	memset(ask, 0, offsetof(GpbAsk, target));
	ask->context = context;
	ask->snapshot = ps->state->es_snapshot;
	ask->want = *want;
	ask->want.targets = NULL;
	ask->may_fail = want->plan != NULL && gpb_may_fail((Node *) want->plan->constants);
	ask->ntargets = want->ntargets;
	for (i = 0; i < want->ntargets; i++)
	{
		GpbAsked   *target = &ask->target[i];

		memset(target, 0, offsetof(GpbAsked, want));
		target->heap = want->targets[i].heap;
		target->index = want->targets[i].index;
		init_program(want, target);
		if (want->plan == NULL)
			continue;
		if (owner == ask)
		{
			target->constants = gpb_program_constants_init(want->plan, target->index, ps);
			target->constants->of_rows = want->collects;
		}
		owner->target[i].constants->columns |= gpb_program_columns(&target->want.program);
	}
	begin_answers(ask);
	MemoryContextSwitchTo(caller);
	return ask;
}

int
gpb_ask_targets(const GpbAsk *ask)
{
	return ask->ntargets;
}

/* The group's answer, to which more is to be added, or which is that of a range and goes with it */
static int64 *
group_sum(GpbAsk *ask)
{
	if (ask->group != ask->sum)
		memcpy(ask->sum, ask->group, gpb_answer_width(ask->format));
	ask->group = ask->sum;
	return ask->sum;
}

void
gpb_ask_forget(GpbAsk *ask)
{
	const char *answers = (const char *) ask->answers;
	const char *group = (const char *) ask->group;

	if (ask->n > 0 && group >= answers && group < answers + gpb_ask_answer_width(ask) * ask->n)
		(void) group_sum(ask);
	if (ask->answers_context != NULL)
		MemoryContextReset(ask->answers_context);
	ask->n = 0;
	ask->answers = NULL;
}

void
gpb_ask_stop(GpbAsk *ask)
{
	int			i;

	for (i = 0; i < ask->ntargets; i++)
	{
		GpbAsked   *target = &ask->target[i];
		const GpbBatchCounters *counters;

		if (target->batch == NULL)
			continue;
		counters = gpb_batch_counters(target->batch);
		gpb_batch_counters_add(&ask->past, counters);
		strlcpy(ask->past_engine, counters->engine, sizeof(ask->past_engine));
		ask->past.engine = ask->past_engine;
		gpb_batch_end(target->batch);
		target->batch = NULL;
		target->submitted = false;
	}
	if (ask->collected != NULL)
		gpb_collected_reset(ask->collected);
	else
		ask->format = &ask->own_format;
	gpb_group_init(ask);
}

void
gpb_ask_end(GpbAsk *ask)
{
	if (ask == NULL)
		return;
	gpb_ask_stop(ask);
	MemoryContextDelete(ask->context);
}

/* ---- the program ---- */

/*
 * The words of long tables are the constants', and are overwritten when these are bound again: so
 * what answered by them ends first, as that of other asks that share them does before it is asked.
 */
const char *
gpb_ask_bind(GpbAsk *ask, ExprContext *econtext)
{
	int			i;

	gpb_ask_stop(ask);
	for (i = 0; i < ask->ntargets; i++)
	{
		GpbAsked   *target = &ask->target[i];
		const char *refusal;

		if (ask->want.constants_of != NULL)
		{
			gpb_program_copy_bound(&target->want.program,
								   &ask->want.constants_of->target[i].want.program);
			continue;
		}
		if (target->replaced)
			init_program(&ask->want, target);
		refusal = gpb_program_constants_bind(target->constants, ask->may_fail, econtext,
											 &target->want.program);
		if (refusal != NULL)
			return refusal;
	}
	return NULL;
}

const GpbProgramConstants *
gpb_ask_constants(const GpbAsk *ask)
{
	Assert(ask->ntargets == 1);
	return ask->target[0].constants;
}

bool
gpb_ask_binds_early(const GpbAsk *ask, const EState *estate)
{
	return ask->may_fail && estate->es_plannedstmt->parallelModeNeeded &&
		bms_is_empty(ask->target[0].constants->params);
}

void
gpb_ask_set_program(GpbAsk *ask, const GpbProgram *program, GpbRangeForm form)
{
	GpbAsked   *target = &ask->target[0];
	GpbProgram *own = &target->want.program;
	GpbLayout	layout = own->layout;
	bool		same;

	Assert(ask->ntargets == 1);
	/* the layout is the target's, whatever the caller's program has there */
	own->layout = program->layout;
	same = target->batch != NULL && ask->want.form == form &&
		memcmp(program, own, sizeof(GpbProgram)) == 0;
	if (!same)
	{
		gpb_ask_stop(ask);
		memcpy(own, program, sizeof(GpbProgram));
		target->replaced = true;
		ask->want.form = form;
	}
	own->layout = layout;
}

void
gpb_ask_set_form(GpbAsk *ask, GpbRangeForm form)
{
	if (ask->want.form == form)
		return;
	gpb_ask_stop(ask);
	ask->want.form = form;
}

/* ---- questions ---- */

/*
 * What answers for a target, which begins with wide sums where narrow ones did not hold a value in
 * an execution before, or where answers of several targets have to have one format.
 */
static GpbBatch *
require_batch(GpbAsk *ask, GpbAsked *target)
{
	MemoryContext caller;

	if (target->batch != NULL)
		return target->batch;
	target->want.form = ask->want.form;
	target->want.heap_rows = ask->want.heap_rows && target->want.program.limit == 0;
	target->want.early = ask->want.early;
	target->want.memory = ask->want.memory;
	caller = MemoryContextSwitchTo(ask->context);
	target->batch = gpb_batch_begin(target->heap, target->index, ask->snapshot,
									&target->want, ask->want.engine);
	if (ask->past.widened > 0 || ask->ntargets > 1)
		gpb_batch_use_wide_sums(target->batch);
	ask->format = gpb_batch_format(target->batch);
	MemoryContextSwitchTo(caller);
	return target->batch;
}

/*
 * Have a target answer ranges, which may have been submitted, or those of a source, if there is
 * one.  If its sums become wide by that, so do those of the group that is added up.  Returns NULL,
 * or why there is no answer.
 */
static const char *
run_target(GpbAsk *ask, GpbAsked *target, const void *ranges, uint32 n, GpbRangeSource *source,
		   int64 *answers)
{
	GpbBatch   *batch = require_batch(ask, target);
	GpbAnswerFormat before = *ask->format;
	const char *why;

	if (target->submitted)
		gpb_batch_finish(batch);
	else if (source != NULL)
		gpb_batch_run_source(batch, source);
	else
		gpb_batch_run(batch, ranges, n, answers);
	target->submitted = false;
	if (before.words != ask->format->words && ask->group == ask->sum)
		gpb_answer_widen(&before, ask->format, ask->sum);
	return gpb_batch_gave_up(batch, &why) ? why : NULL;
}

/* Room for the answers to so many ranges */
static int64 *
alloc_share(GpbAsk *ask, uint32 n)
{
	return gpb_alloc_array(ask->answers_context, gpb_ask_answer_width(ask) * n);
}

/* Merge what a target has in the ranges of its share into the answers at hand. */
static const char *
merge_share(GpbAsk *ask, GpbAsked *target, const GpbAskShare *share)
{
	int64	   *more = target->submitted ? target->share : alloc_share(ask, share->n);
	const char *why = run_target(ask, target, share->ranges, share->n, NULL, more);
	int			words = ask->format->words;
	uint32		i;

	for (i = 0; i < share->n && why == NULL; i++)
	{
		const int64 *answer = more + (Size) i * words;
		Size		number = share->number == NULL ? i : share->number[i];
		int64	   *into = (int64 *) ask->answers + number * words;

		/* most ranges are asked of one target */
		if (into[0] == 0)
			memcpy(into, answer, words * sizeof(int64));
		else
			gpb_answer_merge(ask->format, into, answer);
	}
	pfree(more);
	return why;
}

/* Make room for the answers to n ranges; those before are forgotten. */
static void
reserve_answers(GpbAsk *ask, uint32 n)
{
	gpb_ask_forget(ask);
	ask->n = n;
	if (n == 0)
		return;
	if (ask->answers_context == NULL)
		ask->answers_context = AllocSetContextCreate(ask->context, "gpubtree answers",
													 ALLOCSET_DEFAULT_SIZES);
	ask->answers = gpb_alloc_array(ask->answers_context, gpb_ask_answer_width(ask) * n);
}

const char *
gpb_ask_each(GpbAsk *ask, const void *ranges, uint32 n)
{
	const char *why;
	int			i;

	reserve_answers(ask, n);
	if (n == 0)
		return NULL;
	why = run_target(ask, &ask->target[0], ranges, n, NULL, ask->answers);
	for (i = 1; i < ask->ntargets && why == NULL; i++)
		why = merge_share(ask, &ask->target[i], &(GpbAskShare) {ranges, n, NULL});
	return why;
}

/*
 * Add a target's answer over all ranges, given as for run_target(), to the group, unless its groups
 * are wanted.
 */
static const char *
total_of_target(GpbAsk *ask, GpbAsked *target, const void *ranges, uint32 n,
				GpbRangeSource *source)
{
	const char *why = run_target(ask, target, ranges, n, source, NULL);

	if (why == NULL && target->want.program.ngroups == 0)
		gpb_answer_merge(ask->format, group_sum(ask), gpb_batch_total(target->batch));
	return why;
}

/*
 * The most targets that have begun and not answered: enough to keep a device at work, and few
 * enough to leave request slots to others
 */
#define GPB_TARGETS_AHEAD	16

/* Where several targets have a share, note that their mirrors are used; returns when. */
static TimestampTz
use_mirrors(const GpbAsk *ask, const GpbAskShare *shares)
{
	TimestampTz now = GetCurrentTimestamp();
	int			i;

	for (i = 0; i < ask->ntargets; i++)
	{
		if (shares[i].n > 0)
			gpb_mirror_use(ask->target[i].index);
	}
	return now;
}

/* Begin what a target is asked; false if there is no request slot for it. */
static bool
submit_share(GpbAsk *ask, GpbAsked *target, const GpbAskShare *share, bool each,
			 TimestampTz keep_since)
{
	GpbBatch   *batch = require_batch(ask, target);

	target->share = each ? alloc_share(ask, share->n) : NULL;
	target->submitted = true;
	return gpb_batch_submit(batch, share->ranges, share->n, target->share, keep_since);
}

/*
 * Have each target answer its share, and merge the answers to each range, or add up those over all.
 * A device needs longer for a request than a processor to send it, so requests of several targets
 * are in flight together; no function of a user runs meanwhile.  Returns NULL, or why there is no
 * answer: then nothing is left in flight.
 */
static const char *
run_shares(GpbAsk *ask, const GpbAskShare *shares, bool each)
{
	TimestampTz keep_since = use_mirrors(ask, shares);
	const char *why = NULL;
	int			ahead = 0;
	int			next = 0;
	int			i;

	for (i = 0; i < ask->ntargets && why == NULL; i++)
	{
		bool		room = true;

		for (; room && next < ask->ntargets && ahead < GPB_TARGETS_AHEAD; next++)
		{
			if (shares[next].n == 0)
				continue;
			room = submit_share(ask, &ask->target[next], &shares[next], each, keep_since);
			ahead++;
		}
		if (shares[i].n == 0)
			continue;
		why = each ? merge_share(ask, &ask->target[i], &shares[i]) :
			total_of_target(ask, &ask->target[i], shares[i].ranges, shares[i].n, NULL);
		ahead--;
	}
	if (why != NULL)
		gpb_ask_stop(ask);
	return why;
}

const char *
gpb_ask_each_share(GpbAsk *ask, const GpbAskShare *shares, uint32 n)
{
	uint32		range;
	int			i;

	reserve_answers(ask, n);
	for (i = 0; i < ask->ntargets; i++)
	{
		if (shares[i].n > 0)
			(void) require_batch(ask, &ask->target[i]);
	}
	for (range = 0; range < n; range++)
		gpb_answer_init(ask->format, (int64 *) ask->answers + (Size) range * ask->format->words);
	return run_shares(ask, shares, true);
}

const char *
gpb_ask_total(GpbAsk *ask, const void *ranges, uint32 n)
{
	const char *why = NULL;
	int			i;

	for (i = 0; i < ask->ntargets && why == NULL; i++)
		why = total_of_target(ask, &ask->target[i], ranges, n, NULL);
	return why;
}

bool
gpb_ask_submit_total(GpbAsk *ask, const void *ranges, uint32 n, TimestampTz keep_since)
{
	GpbAsked   *target = &ask->target[0];

	Assert(ask->ntargets == 1 && !target->submitted);
	target->submitted = true;
	return gpb_batch_submit(require_batch(ask, target), ranges, n, NULL, keep_since);
}

const char *
gpb_ask_total_shares(GpbAsk *ask, const GpbAskShare *shares)
{
	return run_shares(ask, shares, false);
}

const char *
gpb_ask_total_source(GpbAsk *ask, GpbRangeSource *source)
{
	Assert(ask->ntargets == 1);
	return total_of_target(ask, &ask->target[0], NULL, 0, source);
}

/* A list is of one target, since who reads it goes to that one's table. */
void
gpb_ask_list(GpbAsk *ask, const void *ranges, uint32 n)
{
	Assert(ask->ntargets == 1);
	gpb_batch_run(require_batch(ask, &ask->target[0]), ranges, n, NULL);
}

GpbRangeEntry *
gpb_ask_matches(GpbAsk *ask, uint64 *n)
{
	return gpb_batch_matches(ask->target[0].batch, n);
}

bool
gpb_ask_at_end(const GpbAsk *ask)
{
	return gpb_batch_at_end(ask->target[0].batch);
}

/* ---- an answer that is put together ---- */

GpbCollected *
gpb_ask_collected(const GpbAsk *ask)
{
	return ask->collected;
}

void
gpb_ask_use_collected(GpbAsk *ask)
{
	ask->group = gpb_collected_total(ask->collected);
}

const GpbProgram *
gpb_ask_program(const GpbAsk *ask)
{
	return &ask->target[0].want.program;
}

/* ---- answers ---- */

Size
gpb_ask_answer_width(const GpbAsk *ask)
{
	return gpb_answer_width(&ask->own_format);
}

const GpbAnswerFormat *
gpb_ask_format(const GpbAsk *ask)
{
	return ask->format;
}

const int64 *
gpb_ask_answer(const GpbAsk *ask, uint32 range)
{
	Assert(range < ask->n);
	return ask->answers + (Size) range * ask->format->words;
}

const GpbAnswerColumn *
gpb_ask_column(const GpbAsk *ask, int item)
{
	return ask->column[item] < 0 ? NULL : &ask->format->column[ask->column[item]];
}

uint64
gpb_ask_group_count(const GpbAsk *ask)
{
	uint64		n = 0;
	int			i;

	if (ask->collected != NULL)
		return gpb_collected_groups(ask->collected)->n;
	for (i = 0; i < ask->ntargets && ask->target[i].batch != NULL; i++)
		n += gpb_batch_group_count(ask->target[i].batch);
	return n;
}

uint64
gpb_ask_adjacent_groups(const GpbAsk *ask, uint64 at, const char **first)
{
	Assert(ask->ntargets == 1);
	if (ask->collected != NULL)
		return gpb_groups_adjacent(gpb_collected_groups(ask->collected), at, first);
	if (ask->target[0].batch == NULL)
		return 0;
	return gpb_batch_adjacent_groups(ask->target[0].batch, at, first);
}

/* The next of the groups that were collected */
static const GpbGroup *
next_collected(GpbAsk *ask, uint64 *at)
{
	GpbGroupTable *groups = gpb_collected_groups(ask->collected);
	const GpbGroup *group;

	if (*at >= groups->n)
		return NULL;
	group = gpb_groups_at(groups, (uint32) (*at)++);
	ask->group = group->words + groups->program->ngroups;
	return group;
}

const GpbGroup *
gpb_ask_next_group(GpbAsk *ask, uint64 *at)
{
	int			i;

	if (ask->collected != NULL)
		return next_collected(ask, at);
	for (i = *at >> GPB_TARGET_SHIFT; i < ask->ntargets && ask->target[i].batch != NULL; i++)
	{
		uint64		base = (uint64) i << GPB_TARGET_SHIFT;
		uint64		own = Max(*at, base) - base;
		const GpbGroup *group = gpb_batch_next_group(ask->target[i].batch, &own);

		*at = base + own;
		if (group == NULL)
			continue;
		ask->group = group->words + ask->target[i].want.program.ngroups;
		return group;
	}
	return NULL;
}

/* ---- the group at hand ---- */

void
gpb_group_set(GpbAsk *ask, const int64 *answer)
{
	ask->group = answer;
}

void
gpb_group_init(GpbAsk *ask)
{
	ask->group = ask->nothing;
}

void
gpb_group_add(GpbAsk *ask, const int64 *answer)
{
	if (ask->group == ask->nothing)
		ask->group = answer;
	else
		gpb_answer_merge(ask->format, group_sum(ask), answer);
}

void
gpb_group_count(GpbAsk *ask, int64 n, bool keys)
{
	const GpbAnswerFormat *format = ask->format;
	int64	   *sum;

	if (n == 0)
		return;
	sum = group_sum(ask);
	sum[0] += n;
	if (keys && format->ncolumns > 0 && format->column[0].column == 0)
		sum[format->column[0].count] += n;
}

const int64 *
gpb_group_answer(const GpbAsk *ask)
{
	return ask->group;
}

void
gpb_group_final(const GpbAsk *ask, Datum *values, bool *isnull)
{
	int			i;

	for (i = 0; i < ask->want.nitems; i++)
		values[i] = gpb_aggregate_final(ask->target[0].index, &ask->want.items[i],
										gpb_ask_column(ask, i), ask->group, &isnull[i]);
}

/* ---- EXPLAIN ---- */

const char *
gpb_ask_engine(const GpbAsk *ask)
{
	int			i;

	for (i = ask->ntargets - 1; i >= 0; i--)
	{
		const GpbBatch *batch = ask->target[i].batch;

		if (batch != NULL && (i == 0 || gpb_batch_counters(batch)->runs > 0))
			return gpb_batch_counters(batch)->engine;
	}
	return ask->past.engine != NULL ? ask->past.engine : "none";
}

void
gpb_ask_counters(const GpbAsk *ask, GpbBatchCounters *counters)
{
	bool		first = counters->runs == 0;
	int			i;

	if (first)
		counters->engine = "none";
	if (ask == NULL)
		return;
	gpb_batch_counters_add(counters, &ask->past);
	for (i = 0; i < ask->ntargets; i++)
	{
		if (ask->target[i].batch != NULL)
			gpb_batch_counters_add(counters, gpb_batch_counters(ask->target[i].batch));
	}
	if (first)
		counters->engine = gpb_ask_engine(ask);
}

void
gpb_ask_explain(const GpbAsk *ask, const char *inputs, ExplainState *es)
{
	GpbBatchCounters counters = {0};

	gpb_ask_counters(ask, &counters);
	gpb_explain_counters(inputs, &counters, 0, es);
}
