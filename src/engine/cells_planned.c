/*-------------------------------------------------------------------------
 *
 * cells_planned.c
 *	  What part of an index's leaves the CPU would pass by, for the planner (rule M14).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/cells_sample.h"
#include "engine/leaf_cells.h"

double
gpb_passed_share(Relation heap, Relation index, Snapshot snapshot, const GpbProgram *program)
{
	GpbRange	everything = {GPB_BOUND_MIN, GPB_BOUND_MAX};
	GpbBatchWant *want;
	GpbBatch   *batch;
	GpbCellsSample sample;
	uint32		tried;

	if (!gpb_enable_leaf_cache)
		return 0.0;
	want = palloc0(sizeof(GpbBatchWant));
	want->form = GPB_RANGE_BOUNDS;
	memcpy(&want->program, program, sizeof(GpbProgram));
	batch = gpb_batch_begin(heap, index, snapshot, want, GPB_ENGINE_CPU);
	batch->ranges = &everything;
	batch->n = 1;
	sample = gpb_cells_sample(batch);
	gpb_batch_end(batch);
	pfree(want);
	tried = sample.passed + sample.absent + sample.unseen;
	return tried == 0 ? 0.0 : (double) sample.passed / tried;
}
