/*-------------------------------------------------------------------------
 *
 * bench.cu
 *	  The functions that tests and benchmarks call beside the device's interface; see bench.h.
 *
 * Not part of the object that is installed.
 *
 *-------------------------------------------------------------------------
 */
#include "batch_run.cuh"
#include "bench.h"

#ifndef GPB_BENCH
#error "bench.cu is compiled with GPB_BENCH alone"
#endif

#define GPB_EXPORT extern "C" __attribute__((visibility("default")))

GPB_EXPORT bool gpb_cuda_choose_variant(GpbDevice *device, int variant);
GPB_EXPORT void gpb_cuda_choose_chunk(GpbDevice *device, uint32 keys);
GPB_EXPORT void gpb_cuda_choose_sorting(int sorting);
GPB_EXPORT GpbDeviceStatus gpb_cuda_time_ranges(GpbDevice *device, int channel, int rounds,
												float *ms);
GPB_EXPORT GpbDeviceStatus gpb_cuda_search_resident(GpbDevice *device, GpbDeviceMirror *mirror,
													GpbResidentBatch *resident);

bool
gpb_cuda_choose_variant(GpbDevice *device, int variant)
{
	if (variant < 0 || variant >= GPB_LEAF_VARIANTS)
		return false;
	device->variant = (GpbLeafVariant) variant;
	return true;
}

void
gpb_cuda_choose_chunk(GpbDevice *device, uint32 keys)
{
	device->chunk_keys = keys;
}

void
gpb_cuda_choose_sorting(int sorting)
{
	gpb_near_sorting = (GpbSorting) sorting;
}

/* ---- ranges ---- */

static GpbDeviceStatus
repeat_ranges(GpbDevice *device, int number, int rounds, cudaEvent_t begin, cudaEvent_t end)
{
	cudaStream_t stream = device->channel[number].stream;

	GPB_TRY_CUDA(device, cudaEventRecord(begin, stream));
	for (int i = 0; i < rounds; i++)
		GPB_TRY(gpb_ranges_repeat(device, number));
	GPB_TRY_CUDA(device, cudaEventRecord(end, stream));
	return gpb_check(device, cudaEventSynchronize(end), "timing ranges");
}

GpbDeviceStatus
gpb_cuda_time_ranges(GpbDevice *device, int channel, int rounds, float *ms)
{
	cudaEvent_t begin;
	cudaEvent_t end;
	GpbDeviceStatus status;

	GPB_ENTER(device);
	GPB_TRY_CUDA(device, cudaEventCreateWithFlags(&begin, cudaEventDefault));
	GPB_TRY_CUDA(device, cudaEventCreateWithFlags(&end, cudaEventDefault));
	status = repeat_ranges(device, channel, rounds, begin, end);
	if (status == GPB_DEVICE_OK)
		status = gpb_check(device, cudaEventElapsedTime(ms, begin, end), "timing ranges");
	if (status == GPB_DEVICE_OK)
		*ms /= rounds;
	(void) cudaEventDestroy(begin);
	(void) cudaEventDestroy(end);
	return status;
}

/* ---- searches ---- */

GpbDeviceStatus
gpb_cuda_search_resident(GpbDevice *device, GpbDeviceMirror *mirror, GpbResidentBatch *resident)
{
	GpbChannel *channel = &device->channel[0];
	GpbPipeline *pipeline;
	GpbSearchBatch batch;
	GpbDeviceStatus status;

	GPB_ENTER(device);
	GPB_TRY(gpb_search_pipeline(device, channel, &pipeline));
	memset(&batch, 0, sizeof(batch));
	GPB_TRY(gpb_mirror_profile(device, mirror, &batch.profile));
	batch.tree = gpb_mirror_tree(mirror);
	batch.keys = resident->keys;
	batch.n = resident->n;
	batch.order = (GpbSearchOrder) resident->order;
	batch.or_equal = resident->bound == GPB_SEARCH_UPPER;
	batch.slots = resident->slots;
	batch.sorting = (GpbSorting) resident->sorting;
	batch.sort_bits = resident->sort_bits;
	batch.group = resident->group;
	batch.result = resident->result;
	batch.permutation = resident->permutation;
	GPB_TRY(gpb_reader_begin(device, channel));
	status = gpb_search_batch_run(device, pipeline, &batch);
	GPB_TRY(gpb_reader_end(device, channel));
	resident->sorted = batch.sorted;
	resident->chosen_group = gpb_choose_group(batch.profile);
	resident->stream = (void *) channel->stream;
	return status;
}
