/*-------------------------------------------------------------------------
 *
 * group_memory.cu
 *	  Memory for the groups of a request; see group_rows.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "device.cuh"

void
gpb_groups_free(GpbDevice *device, GpbGroupMemory *memory)
{
	gpb_buffer_free(device, &memory->row);
	gpb_buffer_free(device, &memory->table);
	gpb_buffer_free(device, &memory->copy);
}

/* Sums in shared memory, or copies of answers, would be of few of the groups. */
static void
expect_many(GpbGroupJob *job)
{
	job->shared_groups = 0;
	job->copied_groups = 0;
}

/* Room for so many groups, and a table at least twice as large */
static GpbDeviceStatus
reserve_rows(GpbDevice *device, GpbGroupMemory *memory, GpbGroupJob *job, uint64 capacity)
{
	uint64		entries = 64;

	if (capacity > GPB_GROUP_MOST)
		return gpb_refuse(device, "more than %u groups are too many for one request",
						  (uint32) GPB_GROUP_MOST);
	while (entries < 2 * capacity)
		entries *= 2;
	GPB_TRY(gpb_buffer_reserve(device, &memory->row, capacity * job->row_words * sizeof(int64)));
	GPB_TRY(gpb_buffer_reserve(device, &memory->table, entries * sizeof(uint32)));
	GPB_TRY(gpb_buffer_reserve(device, &memory->copy, gpb_group_copies_size(job)));
	job->row = (int64 *) memory->row.data;
	job->capacity = (uint32) capacity;
	job->table = (uint32 *) memory->table.data;
	job->table_mask = (uint32) (entries - 1);
	job->copy = (int64 *) memory->copy.data;
	return GPB_DEVICE_OK;
}

/*
 * Reserve room for so many groups, or, if there is not enough memory, for fewer.  Without room for
 * these either, no memory is kept.
 */
static GpbDeviceStatus
reserve_some_rows(GpbDevice *device, GpbGroupMemory *memory, GpbGroupJob *job, uint64 capacity,
				  uint64 fewer)
{
	GpbDeviceStatus status = reserve_rows(device, memory, job, capacity);

	if (status != GPB_DEVICE_NO_MEMORY)
		return status;
	gpb_groups_free(device, memory);
	expect_many(job);
	status = reserve_rows(device, memory, job, fewer);
	if (status != GPB_DEVICE_OK)
		gpb_groups_free(device, memory);
	return status;
}

GpbDeviceStatus
gpb_groups_reserve(GpbDevice *device, GpbGroupMemory *memory, GpbGroupJob *job, uint64 most)
{
	uint64		capacity = GPB_GROUP_BYTES / (job->row_words * sizeof(int64));

	if (capacity > GPB_GROUP_CAPACITY)
		capacity = GPB_GROUP_CAPACITY;
	if (memory->found > capacity && most > capacity)
	{
		expect_many(job);
		capacity = memory->found + memory->found / 4;
	}
	if (capacity > most)
		capacity = most + 1;
	return reserve_some_rows(device, memory, job, capacity, capacity / GPB_GROUP_GROWTH + 1);
}

GpbDeviceStatus
gpb_groups_reserve_more(GpbDevice *device, GpbGroupMemory *memory, GpbGroupJob *job, uint64 most)
{
	uint64		before = job->capacity;
	uint64		capacity = before * GPB_GROUP_GROWTH;

	if (capacity > most && most > before)
		capacity = most;
	expect_many(job);
	return reserve_some_rows(device, memory, job, capacity, 2 * before);
}
