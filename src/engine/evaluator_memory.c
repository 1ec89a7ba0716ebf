/*-------------------------------------------------------------------------
 *
 * evaluator_memory.c
 *	  Evaluators of batches, in memory that the session keeps.
 *
 * An evaluator has some 100 kB.  With that much malloc() goes to the system for a statement, and
 * the system clears the pages, and takes them back at the statement's end: a fourth of what a
 * statement over some hundred entries took.  So one piece of memory stays for the next evaluator.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"

#include "engine/batch_engine.h"

/* Larger pieces are not kept. */
#define GPB_KEPT_EVALUATOR	(256 * 1024)

/* A piece of memory in TopMemoryContext, in use by the batch of the context that calls back */
typedef struct GpbEvaluatorMemory
{
	MemoryContextCallback callback;
	void	   *memory;
	Size		size;
} GpbEvaluatorMemory;

/* The piece that no evaluator uses, or NULL */
static void *kept = NULL;
static Size kept_size = 0;

/* Callback of a batch's context: keep the piece, if it is larger than the one that is kept. */
static void
give_back(void *arg)
{
	GpbEvaluatorMemory *piece = arg;
	void	   *other = piece->memory;

	if (other == NULL)
		return;
	if (piece->size <= GPB_KEPT_EVALUATOR && piece->size > kept_size)
	{
		other = kept;
		kept = piece->memory;
		kept_size = piece->size;
	}
	if (other != NULL)
		pfree(other);
}

GpbEvaluator *
gpb_batch_evaluator(GpbBatch *batch)
{
	GpbEvaluatorMemory *piece = MemoryContextAllocZero(batch->context, sizeof(*piece));
	Size		size = gpb_evaluator_size(&batch->program);

	piece->callback.func = give_back;
	piece->callback.arg = piece;
	MemoryContextRegisterResetCallback(batch->context, &piece->callback);
	if (kept_size >= size)
	{
		piece->memory = kept;
		piece->size = kept_size;
		kept = NULL;
		kept_size = 0;
	}
	else
	{
		piece->memory = MemoryContextAlloc(TopMemoryContext, size);
		piece->size = size;
	}
	return gpb_evaluator_init(piece->memory, &batch->program, &batch->format);
}
