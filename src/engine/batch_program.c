/*-------------------------------------------------------------------------
 *
 * batch_program.c
 *	  Programs that are not plain in a batch: the evaluator, groups, giving up.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"
#include "utils/rel.h"

#include "large_array.h"
#include "engine/batch_engine.h"

/* Bytes of groups that are copied together */
#define GPB_KEPT_AT_ONCE	8192

/* ---- memory of groups: the batch's own ---- */

static void *
groups_allocate(void *arg, uint64 size)
{
	return MemoryContextAllocExtended((MemoryContext) arg, size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

static void
groups_release(void *arg, void *memory, uint64 size)
{
	pfree(memory);
}

/* Group number i of those that a device made */
static inline GpbGroup *
made_group(const GpbBatch *batch, uint64 i)
{
	return (GpbGroup *) (batch->made + i * batch->groups->width);
}

/* Begin without groups, with all memory for them. */
static void
drop_groups(GpbBatch *batch)
{
	gpb_groups_reset(batch->groups);
	batch->groups->memory.limit = batch->memory;
	if (batch->made != NULL)
		pfree(batch->made);
	batch->made = NULL;
	batch->nmade = 0;
	batch->made_room = 0;
	batch->nmerged = 0;
}

/*
 * Add the groups of the table to those that a device made, where these have them.  A group that was
 * added is left with no entries.
 */
static void
merge_table(GpbBatch *batch)
{
	int			ngroups = batch->program.ngroups;
	uint64		i;

	for (i = 0; i < batch->nmade && batch->nmerged < batch->groups->n; i++)
	{
		GpbGroup   *group = made_group(batch, i);
		GpbGroup   *more = gpb_groups_lookup(batch->groups, group);

		if (more == NULL)
			continue;
		gpb_answer_merge(&batch->format, group->words + ngroups, more->words + ngroups);
		more->words[ngroups] = 0;
		batch->nmerged++;
	}
}

/* ---- exact sums, narrow and wide ---- */

/* Lay answers out with sums in the one form or in the other; there are no groups. */
static void
set_narrow(GpbBatch *batch, bool narrow)
{
	batch->program.narrow_sums = narrow;
	gpb_answer_format(&batch->program, &batch->format);
}

int
gpb_batch_group_width(const GpbProgram *program)
{
	GpbProgram	begun;
	GpbAnswerFormat format;

	/* the planner asks often, and the form of answers depends on nothing behind the terms */
	memcpy(&begun, program, offsetof(GpbProgram, step));
	begun.narrow_sums = program->ngroups > 0;
	gpb_answer_format(&begun, &format);
	return gpb_group_width(&begun, &format);
}

void
gpb_batch_use_wide_sums(GpbBatch *batch)
{
	if (batch->groups == NULL)
		return;
	drop_groups(batch);
	set_narrow(batch, false);
	batch->groups->width = gpb_group_width(&batch->program, &batch->format);
}

bool
gpb_batch_program_widen(GpbBatch *batch)
{
	if (batch->evaluator == NULL || batch->evaluator->outcome != GPB_EVALUATION_UNHELD)
		return false;
	gpb_batch_use_wide_sums(batch);
	batch->counters.widened++;
	return true;
}

/* ---- for the batch ---- */

void
gpb_batch_program_begin(GpbBatch *batch)
{
	const char *fault = gpb_program_fault(&batch->program);

	if (fault != NULL)
		elog(ERROR, "cannot evaluate a program on index \"%s\": %s",
			 RelationGetRelationName(batch->index), fault);
	if (batch->program.list_entries || gpb_program_is_plain(&batch->program))
		return;
	set_narrow(batch, batch->program.ngroups > 0);
	batch->evaluator = gpb_batch_evaluator(batch);
	if (batch->program.ngroups > 0)
	{
		GpbGroupMemory memory;

		memory.allocate = groups_allocate;
		memory.release = groups_release;
		memory.arg = batch->context;
		memory.limit = batch->memory;
		batch->groups = MemoryContextAlloc(batch->context, sizeof(GpbGroupTable));
		gpb_groups_init(batch->groups, &batch->program, &batch->format, &memory);
	}
}

void
gpb_batch_program_start(GpbBatch *batch)
{
	GpbEvaluatorSink sink;

	if (batch->evaluator == NULL)
		return;
	if (batch->groups != NULL)
		drop_groups(batch);
	sink.answers = batch->answers != NULL ? batch->answers : batch->total;
	sink.by_number = batch->answers != NULL;
	sink.groups = batch->groups;
	gpb_evaluator_begin(batch->evaluator, &sink);
}

void
gpb_batch_program_complete(GpbBatch *batch)
{
	if (batch->evaluator == NULL)
		return;
	gpb_evaluate_rest(batch->evaluator);
	batch->counters.matches += batch->evaluator->counted;
	if (batch->groups == NULL || gpb_batch_gave_up(batch, NULL))
		return;
	gpb_groups_normalize(batch->groups);
	merge_table(batch);
}

bool
gpb_batch_gave_up(const GpbBatch *batch, const char **why)
{
	GpbEvaluation outcome = batch->evaluator == NULL ? GPB_EVALUATED : batch->evaluator->outcome;

	if (why != NULL)
		*why = gpb_evaluation_fault(outcome);
	return outcome != GPB_EVALUATED;
}

/* ---- what a device made ---- */

/* The run ends, since there is no memory for another group. */
static bool
no_memory(GpbBatch *batch)
{
	batch->evaluator->outcome = GPB_EVALUATION_FULL;
	return false;
}

bool
gpb_batch_program_merge(GpbBatch *batch, const void *groups, uint64 n, uint32 first)
{
	uint64		i;

	for (i = 0; i < n; i++)
	{
		GpbGroup   *group = (GpbGroup *) ((char *) groups + i * batch->groups->width);

		if (batch->program.by_range)
			group->number += first;
		batch->counters.matches += group->words[batch->program.ngroups];
		if (!gpb_groups_merge(batch->groups, group))
			return no_memory(batch);
	}
	return true;
}

bool
gpb_batch_program_expect(GpbBatch *batch, uint64 n)
{
	GpbGroupTable *table = batch->groups;
	uint64		most = (batch->memory - Min(table->used, batch->memory)) / table->width;
	uint64		room = batch->nmade + n;

	if (room <= batch->made_room)
		return true;
	if (room > most)
		return no_memory(batch);
	/* One request is most often all. */
	if (batch->made == NULL)
		batch->made = groups_allocate(batch->context, room * table->width);
	else
	{
		room = Min(Max(room, 2 * batch->made_room), most);
		batch->made = gpb_realloc_array(batch->made, room * table->width);
	}
	if (batch->made == NULL)
		return no_memory(batch);
	batch->made_room = room;
	table->memory.limit = batch->memory - room * table->width;
	return true;
}

void
gpb_batch_program_keep(GpbBatch *batch, const void *groups, uint64 n, uint32 first)
{
	int			width = batch->groups->width;
	uint64		piece = Max(GPB_KEPT_AT_ONCE / width, 1);
	int64		matches = 0;
	uint64		done;
	uint64		i;

	Assert(batch->nmade + n <= batch->made_room);
	if (!batch->program.by_range)
		first = 0;
	/* What was copied is counted while it is in the nearest cache. */
	for (done = 0; done < n; done += piece)
	{
		char	   *group = (char *) made_group(batch, batch->nmade + done);

		piece = Min(piece, n - done);
		memcpy(group, (const char *) groups + done * width, piece * width);
		for (i = 0; i < piece; i++, group += width)
		{
			((GpbGroup *) group)->number += first;
			matches += ((GpbGroup *) group)->words[batch->program.ngroups];
		}
	}
	batch->counters.matches += matches;
	batch->nmade += n;
}

void
gpb_batch_program_fault(GpbBatch *batch)
{
	batch->evaluator->outcome = GPB_EVALUATION_FAULTED;
}

void
gpb_batch_program_unheld(GpbBatch *batch)
{
	batch->evaluator->outcome = GPB_EVALUATION_UNHELD;
}

/* ---- groups ---- */

const GpbGroup *
gpb_batch_next_group(const GpbBatch *batch, uint64 *at)
{
	if (*at < batch->nmade)
		return made_group(batch, (*at)++);
	while (batch->groups != NULL && *at - batch->nmade < batch->groups->n)
	{
		const GpbGroup *group = gpb_groups_at(batch->groups, (uint32) ((*at)++ - batch->nmade));

		if (group->words[batch->program.ngroups] != 0)
			return group;
	}
	return NULL;
}

uint64
gpb_batch_adjacent_groups(const GpbBatch *batch, uint64 at, const char **first)
{
	if (at < batch->nmade)
	{
		*first = (const char *) made_group(batch, at);
		return batch->nmade - at;
	}
	return batch->groups == NULL ? 0 : gpb_groups_adjacent(batch->groups, at - batch->nmade, first);
}

uint64
gpb_batch_group_count(const GpbBatch *batch)
{
	return batch->groups == NULL ? 0 : batch->nmade + batch->groups->n - batch->nmerged;
}
