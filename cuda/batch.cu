/*-------------------------------------------------------------------------
 *
 * batch.cu
 *	  A batch of searches in device memory: sorted or not, by groups or by tiles.
 *
 * Sorting pays for many keys without order in a tree that the caches do not hold.  A look at some
 * tiles tells how much order there is (gpb_sample_launch); few keys are not even worth that look.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "batch_run.cuh"
#include "tuning.cuh"

/* ---- pipelines ---- */

void
gpb_pipeline_close(GpbDevice *device, GpbPipeline *pipeline)
{
	gpb_sort_memory_free(device, &pipeline->sort);
	gpb_buffer_free(device, &pipeline->keys);
	gpb_buffer_free(device, &pipeline->slots);
	gpb_buffer_free(device, &pipeline->leaves);
	gpb_buffer_free(device, &pipeline->positions);
	gpb_buffer_free(device, &pipeline->permutation);
	if (pipeline->sample != NULL)
		(void) cudaFreeHost(pipeline->sample);
	pipeline->sample = NULL;
}

/* ---- the plan ---- */

/* Set *profile to the profile of the mirror's tree, and wait until it has been written. */
GpbDeviceStatus
gpb_mirror_profile(GpbDevice *device, const GpbDeviceMirror *mirror,
				   const GpbTreeProfile **profile)
{
	*profile = mirror->tree.profile;
	if (!device->writing)
		return GPB_DEVICE_OK;
	return gpb_check(device, cudaEventSynchronize(device->uploaded), "profiling a tree");
}

/* Set *sort to whether the batch is to be sorted before it is searched. */
static GpbDeviceStatus
decide_sort(GpbDevice *device, GpbPipeline *pipeline, GpbSearchBatch *batch, bool *sort)
{
	*sort = batch->sorting == GPB_SORT_ALWAYS;
	if (batch->sorting != GPB_SORT_MAY || batch->n < GPB_SORT_KEYS)
		return GPB_DEVICE_OK;
	GPB_TRY(gpb_sample_launch(device, pipeline->stream, &batch->tree, batch->keys, batch->n,
							  pipeline->sample));
	GPB_TRY_CUDA(device, cudaStreamSynchronize(pipeline->stream));
	*sort = gpb_sample_says_sort(pipeline->sample);
	batch->together = !*sort;
	return GPB_DEVICE_OK;
}

/* The job of searching for n keys of the batch */
static GpbBatchJob
make_batch_job(const GpbSearchBatch *batch, const void *keys, uint32 n, uint32 *result)
{
	GpbBatchJob job;

	memset(&job, 0, sizeof(job));
	job.tree = batch->tree;
	job.or_equal = batch->or_equal;
	job.slots = batch->slots;
	job.npieces = 1;
	job.piece[0].keys = keys;
	job.piece[0].result = result;
	job.piece[0].n = n;
	return job;
}

/* ---- in input order ---- */

/* Search for all keys in the order in which they come. */
static GpbDeviceStatus
search_unsorted(GpbDevice *device, GpbPipeline *pipeline, const GpbSearchBatch *batch)
{
	GpbBatchJob job = make_batch_job(batch, batch->keys, batch->n, batch->result);

	if (batch->group != 0)
		return gpb_groups_launch(device, pipeline->stream, &job, batch->group);
	if (batch->n <= GPB_GROUPED_KEYS && !batch->together)
		return gpb_groups_launch(device, pipeline->stream, &job, gpb_choose_group(batch->profile));
	return gpb_tiles_launch(device, pipeline->stream, &job, batch->together);
}

/* Plan to sort by as many bits as serve the search, or as many as the batch asks for. */
static GpbSortPlan
plan_sort(const GpbSearchBatch *batch)
{
	GpbSortPlan plan = gpb_sort_plan(batch->profile, batch->tree.n[0], batch->tree.key_width);

	if (batch->sort_bits > 0)
		plan.first_bit = plan.end_bit > batch->sort_bits ? plan.end_bit - batch->sort_bits : 0;
	return plan;
}

/* Sort n of the batch's keys from "first" on, search for them, and write results in input order. */
static GpbDeviceStatus
search_and_restore(GpbDevice *device, GpbPipeline *pipeline, const GpbSearchBatch *batch,
				   const GpbSortPlan *plan, uint32 first, uint32 n)
{
	const char *keys = (const char *) batch->keys + (size_t) first * batch->tree.key_width;
	bool		direct = n <= GPB_SCATTERED_KEYS;
	uint32	   *order;
	GpbBatchJob job;

	GPB_TRY(gpb_buffer_reserve(device, &pipeline->sort.order, (size_t) n * sizeof(uint32)));
	GPB_TRY(gpb_buffer_reserve(device, &pipeline->slots, (size_t) n * sizeof(uint32)));
	order = (uint32 *) pipeline->sort.order.data;
	GPB_TRY(gpb_sort_keys(device, pipeline->stream, &pipeline->sort, plan,
						  batch->tree.key_width, keys, 0, n, order));
	job = make_batch_job(batch, pipeline->sort.keys.data, n,
				   direct ? batch->result + first : (uint32 *) pipeline->slots.data);
	job.base = plan->clamp ? plan->low : 0;
	job.place = direct ? order : NULL;
	GPB_TRY(gpb_tiles_launch(device, pipeline->stream, &job, true));
	if (direct)
		return GPB_DEVICE_OK;
	return gpb_restore_order(device, pipeline->stream, &pipeline->sort, order,
							 (uint32 *) pipeline->slots.data, n, batch->result + first);
}

static GpbDeviceStatus
search_in_input_order(GpbDevice *device, GpbPipeline *pipeline, GpbSearchBatch *batch)
{
	GpbSortPlan plan;
	bool		sort;
	uint32		n;

	GPB_TRY(decide_sort(device, pipeline, batch, &sort));
	batch->sorted = sort;
	if (!sort)
		return search_unsorted(device, pipeline, batch);
	plan = plan_sort(batch);
	for (uint32 first = 0; first < batch->n; first += n)
	{
		n = batch->n - first < GPB_SORT_AT_ONCE ? batch->n - first : GPB_SORT_AT_ONCE;
		GPB_TRY(search_and_restore(device, pipeline, batch, &plan, first, n));
	}
	return GPB_DEVICE_OK;
}

/* ---- in sorted order ---- */

/*
 * Search with results in the order in which the keys were sorted, by all bits if "whole", and with
 * the permutation that was applied.
 */
static GpbDeviceStatus
search_in_sorted_order(GpbDevice *device, GpbPipeline *pipeline, GpbSearchBatch *batch, bool whole)
{
	bool		sort = true;
	GpbSortPlan plan = whole ? gpb_sort_plan_whole(batch->tree.key_width) : plan_sort(batch);
	uint32		n;

	if (whole && batch->n > GPB_SORT_AT_ONCE)
		return gpb_refuse(device, "%u keys are too many to be put in order at once", batch->n);
	if (batch->sorting == GPB_SORT_NEVER)
		sort = false;
	else if (!whole)
		GPB_TRY(decide_sort(device, pipeline, batch, &sort));
	batch->sorted = sort;
	if (!sort)
	{
		GPB_TRY(search_unsorted(device, pipeline, batch));
		return gpb_number_keys(device, pipeline->stream, 0, batch->n, batch->permutation);
	}
	for (uint32 first = 0; first < batch->n; first += n)
	{
		const char *keys = (const char *) batch->keys + (size_t) first * batch->tree.key_width;
		GpbBatchJob job;

		n = batch->n - first < GPB_SORT_AT_ONCE ? batch->n - first : GPB_SORT_AT_ONCE;
		GPB_TRY(gpb_sort_keys(device, pipeline->stream, &pipeline->sort, &plan,
							  batch->tree.key_width, keys, first, n, batch->permutation + first));
		job = make_batch_job(batch, pipeline->sort.keys.data, n, batch->result + first);
		job.base = plan.clamp ? plan.low : 0;
		GPB_TRY(gpb_tiles_launch(device, pipeline->stream, &job, true));
	}
	batch->clamped = plan.clamp;
	return GPB_DEVICE_OK;
}

/*
 * Search the batch on the pipeline's stream.  On return batch->sorted tells whether results are in
 * the order of pipeline->sort.keys (with more than GPB_SORT_AT_ONCE keys, the last of them).
 */
GpbDeviceStatus
gpb_search_batch_run(GpbDevice *device, GpbPipeline *pipeline, GpbSearchBatch *batch)
{
	if (batch->n == 0)
		return GPB_DEVICE_OK;
	if (batch->order == GPB_ORDER_INPUT)
		return search_in_input_order(device, pipeline, batch);
	return search_in_sorted_order(device, pipeline, batch, batch->order == GPB_ORDER_KEY);
}
