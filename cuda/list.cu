/*-------------------------------------------------------------------------
 *
 * list.cu
 *	  The lists that requests leave behind: their memory, and how they are sorted.
 *
 *-------------------------------------------------------------------------
 */
#include "cub.cuh"
#include "device.cuh"

/* ---- kernels ---- */

/* Set number[i] = i for n records. */
static __global__ void __launch_bounds__(256)
number_records(uint32 *number, uint32 n)
{
	uint32		i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		number[i] = i;
}

/*
 * Copy record number[i] to place i of the result, for all i; a record is "words" words of 8 bytes,
 * and each thread copies one word.
 */
static __global__ void __launch_bounds__(256)
gather_records(const uint64 *record, const uint32 *number, uint64 *result, uint32 words,
			   uint64 total)
{
	uint64		at = blockIdx.x * (uint64) blockDim.x + threadIdx.x;

	if (at < total)
		result[at] = record[(uint64) number[at / words] * words + at % words];
}

/*
 * Set the bits of the heap blocks of n TIDs, as far as they are below heap_blocks and in words
 * [first, first + nwords), which lie at "words".  Entries of one heap block are often neighbours,
 * so a bit is looked at before it is set.
 */
static __global__ void __launch_bounds__(256)
mark_blocks(const uint64 *tid, uint64 n, uint32 heap_blocks, uint32 first, uint32 nwords,
			uint32 *words)
{
	uint64		i = blockIdx.x * (uint64) blockDim.x + threadIdx.x;
	uint32		block = i < n ? gpb_locator_block(tid[i]) : 0;
	uint32		word = block / 32 - first;
	uint32		bit = 1u << (block % 32);

	if (i < n && block < heap_blocks && word < nwords &&
		(*(volatile uint32 *) &words[word] & bit) == 0)
		atomicOr(&words[word], bit);
}

/* ---- memory ---- */

uint64
gpb_list_capacity(const GpbListMemory *list)
{
	uint64		orders = list->order.size / sizeof(uint64);
	uint64		records = list->width ? list->record.size / list->width : 0;

	return orders < records ? orders : records;
}

GpbDeviceStatus
gpb_list_reserve(GpbDevice *device, GpbListMemory *list, uint64 capacity, uint32 width)
{
	list->width = width;
	if (capacity <= gpb_list_capacity(list))
		return GPB_DEVICE_OK;
	GPB_TRY(gpb_buffer_reserve(device, &list->order, capacity * sizeof(uint64)));
	return gpb_buffer_reserve(device, &list->record, capacity * width);
}

GpbList
gpb_list_view(const GpbListMemory *memory)
{
	GpbList		list;

	list.order = (uint64 *) memory->order.data;
	list.record = (char *) memory->record.data;
	list.capacity = gpb_list_capacity(memory);
	return list;
}

void
gpb_list_free(GpbDevice *device, GpbListMemory *list)
{
	gpb_buffer_free(device, &list->order);
	gpb_buffer_free(device, &list->record);
	gpb_buffer_free(device, &list->sorted);
}

/* ---- order ---- */

/* The parts of the scratch memory of a sort */
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

/*
 * Sort the numbers of n records by the low bits of order[].  Without temporary memory in scratch,
 * only set *size to how much of it the sort takes.
 */
static cudaError_t
sort_numbers(const SortScratch *scratch, size_t *size, const uint64 *order, uint32 n, int bits,
		   cudaStream_t stream)
{
	return gpb_cub_sort(scratch->temporary, size, order, scratch->order, scratch->unsorted,
						scratch->sorted, n, 0, bits, stream);
}

/* Give the buffer room for a sort of n records, and set *scratch to its parts. */
static GpbDeviceStatus
reserve_scratch(GpbDevice *device, cudaStream_t stream, GpbBuffer *buffer, SortScratch *scratch,
				uint32 n, int bits)
{
	size_t		orders = aligned(n * sizeof(uint64));
	size_t		numbers = aligned(n * sizeof(uint32));
	char	   *memory;

	memset(scratch, 0, sizeof(*scratch));
	GPB_TRY(gpb_check(device, sort_numbers(scratch, &scratch->temporary_size, NULL, n, bits,
										   stream),
					  "planning a sort"));
	GPB_TRY(gpb_buffer_reserve(device, buffer, orders + 2 * numbers + scratch->temporary_size));
	memory = (char *) buffer->data;
	scratch->order = (uint64 *) memory;
	scratch->unsorted = (uint32 *) (memory + orders);
	scratch->sorted = (uint32 *) (memory + orders + numbers);
	scratch->temporary = memory + orders + 2 * numbers;
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_list_sort(GpbDevice *device, cudaStream_t stream, GpbBuffer *buffer, GpbListMemory *list,
			  uint64 n, int order_bits)
{
	SortScratch scratch;
	uint32		words = list->width / sizeof(uint64);

	list->result = list->record.data;
	if (n < 2)
		return GPB_DEVICE_OK;
	if (n > 0x7FFFFFFF)
		return gpb_refuse(device, "%llu records are too many to sort", (unsigned long long) n);
	GPB_TRY(reserve_scratch(device, stream, buffer, &scratch, (uint32) n, order_bits));
	GPB_TRY(gpb_buffer_reserve(device, &list->sorted, n * list->width));
	list->result = list->sorted.data;

	GPB_TRY(gpb_launch_on(device, stream, "number_records", (uint32) ((n + 255) / 256), 256,
						  number_records, scratch.unsorted, (uint32) n));
	GPB_TRY(gpb_check(device, sort_numbers(&scratch, &scratch.temporary_size,
										   (const uint64 *) list->order.data, (uint32) n,
										   order_bits, stream),
					  "sorting records"));
	return gpb_launch_on(device, stream, "gather_records",
						 (uint32) ((n * words + 255) / 256), 256, gather_records,
						 (const uint64 *) list->record.data, (const uint32 *) scratch.sorted,
						 (uint64 *) list->sorted.data, words, n * words);
}

/* ---- heap blocks ---- */

GpbDeviceStatus
gpb_list_blocks(GpbDevice *device, cudaStream_t stream, const GpbListMemory *list, uint64 n,
				uint32 heap_blocks, uint32 first, uint32 nwords, GpbBuffer *words)
{
	GPB_TRY(gpb_buffer_reserve(device, words, nwords * sizeof(uint32)));
	GPB_TRY_CUDA(device, cudaMemsetAsync(words->data, 0, nwords * sizeof(uint32), stream));
	if (n == 0)
		return GPB_DEVICE_OK;
	return gpb_launch_on(device, stream, "mark_blocks", (uint32) ((n + 255) / 256), 256,
						 mark_blocks, (const uint64 *) list->order.data, n, heap_blocks, first,
						 nwords, (uint32 *) words->data);
}
