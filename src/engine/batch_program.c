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

#include "engine/batch_engine.h"

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
	batch->evaluator =
		gpb_evaluator_init(MemoryContextAlloc(batch->context,
											  gpb_evaluator_size(&batch->program)),
						   &batch->program, &batch->format);
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
		gpb_groups_reset(batch->groups);
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
	if (batch->groups != NULL && !gpb_batch_gave_up(batch, NULL))
		gpb_groups_normalize(batch->groups);
}

bool
gpb_batch_gave_up(const GpbBatch *batch, const char **why)
{
	GpbEvaluation outcome = batch->evaluator == NULL ? GPB_EVALUATED : batch->evaluator->outcome;

	if (why != NULL)
		*why = outcome == GPB_EVALUATION_FAULTED ? "a value is out of range" :
			outcome == GPB_EVALUATION_FULL ? "more groups than hash_mem holds" : NULL;
	return outcome != GPB_EVALUATED;
}

/* ---- what a device made ---- */

bool
gpb_batch_program_group(GpbBatch *batch, GpbGroup *group, uint32 first)
{
	if (batch->program.by_range)
		group->number += first;
	batch->counters.matches += group->words[batch->program.ngroups];
	if (gpb_groups_merge(batch->groups, group))
		return true;
	batch->evaluator->outcome = GPB_EVALUATION_FULL;
	return false;
}

void
gpb_batch_program_fault(GpbBatch *batch)
{
	batch->evaluator->outcome = GPB_EVALUATION_FAULTED;
}

/* ---- groups ---- */

const GpbGroup *
gpb_batch_next_group(const GpbBatch *batch, uint64 *at)
{
	if (batch->groups == NULL || *at >= batch->groups->n)
		return NULL;
	return gpb_groups_at(batch->groups, (uint32) (*at)++);
}

uint64
gpb_batch_group_count(const GpbBatch *batch)
{
	return batch->groups == NULL ? 0 : batch->groups->n;
}
