/*-------------------------------------------------------------------------
 *
 * sort.cu
 *	  Put an aggregate's lists in order, on the device.
 *
 *-------------------------------------------------------------------------
 */
#include <cub/device/device_radix_sort.cuh>

#include "device.cuh"

/* ---- kernels ---- */

static __global__ void __launch_bounds__(256)
number_records(uint32 *number, uint32 n)
{
	uint32		i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		number[i] = i;
}

/* Record i of the result is record number[i]; a thread for each 8 bytes. */
static __global__ void __launch_bounds__(256)
gather_records(const uint64 *record, const uint32 *number, uint64 *result, uint32 words,
			   uint64 total)
{
	uint64		at = blockIdx.x * (uint64) blockDim.x + threadIdx.x;

	if (at < total)
		result[at] = record[(uint64) number[at / words] * words + at % words];
}

/* ---- host ---- */

/* The scratch memory of a sort */
struct SortScratch
{
	uint64	   *order;
	uint32	   *unsorted;
	uint32	   *sorted;
	void	   *temporary;
	size_t		temporary_size;
};

static size_t
aligned(size_t size)
{
	return (size + 255) & ~(size_t) 255;
}

static cudaError_t
sort_pairs(const SortScratch *scratch, size_t *size, const uint64 *order, uint32 n, int bits,
		   cudaStream_t stream)
{
	return cub::DeviceRadixSort::SortPairs(scratch->temporary, *size, order, scratch->order,
										   scratch->unsorted, scratch->sorted, n, 0, bits,
										   stream);
}

static GpbDeviceStatus
reserve_scratch(GpbDevice *device, SortScratch *scratch, uint32 n, int bits)
{
	size_t		orders = aligned(n * sizeof(uint64));
	size_t		numbers = aligned(n * sizeof(uint32));
	char	   *memory;

	memset(scratch, 0, sizeof(*scratch));
	GPB_TRY(gpb_check(device, sort_pairs(scratch, &scratch->temporary_size, NULL, n, bits,
										 device->stream),
					  "planning a sort"));
	GPB_TRY(gpb_buffer_reserve(device, &device->scratch,
							   orders + 2 * numbers + scratch->temporary_size));
	memory = (char *) device->scratch.data;
	scratch->order = (uint64 *) memory;
	scratch->unsorted = (uint32 *) (memory + orders);
	scratch->sorted = (uint32 *) (memory + orders + numbers);
	scratch->temporary = memory + orders + 2 * numbers;
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_list_sort(GpbDevice *device, GpbListMemory *list, uint64 n, int order_bits)
{
	SortScratch scratch;
	uint32		words = list->width / sizeof(uint64);

	list->result = list->record.data;
	if (n < 2)
		return GPB_DEVICE_OK;
	if (n > 0x7FFFFFFF)
		return gpb_refuse(device, "%llu records are too many to sort", (unsigned long long) n);
	GPB_TRY(reserve_scratch(device, &scratch, (uint32) n, order_bits));
	GPB_TRY(gpb_buffer_reserve(device, &list->sorted, n * list->width));
	list->result = list->sorted.data;

	GPB_TRY(gpb_launch(device, "number_records", (uint32) ((n + 255) / 256), 256,
					   number_records, scratch.unsorted, (uint32) n));
	GPB_TRY(gpb_check(device, sort_pairs(&scratch, &scratch.temporary_size,
										 (const uint64 *) list->order.data, (uint32) n,
										 order_bits, device->stream),
					  "sorting records"));
	return gpb_launch(device, "gather_records", (uint32) ((n * words + 255) / 256), 256,
					  gather_records, (const uint64 *) list->record.data,
					  (const uint32 *) scratch.sorted, (uint64 *) list->sorted.data, words,
					  n * words);
}
