/*-------------------------------------------------------------------------
 *
 * build_chunks.h
 *	  Chunks of records, and lists of them: what a sort in memory has, and what the device is given.
 *
 * Private to build_sort.c and build_device.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BUILD_CHUNKS_H
#define GPB_BUILD_CHUNKS_H

#include "index/build.h"

/* Some records, one behind the other; all chunks of a list but the last are full */
typedef struct GpbChunk
{
	struct GpbChunk *next;
	int			count;
	char		records[FLEXIBLE_ARRAY_MEMBER];
} GpbChunk;

typedef struct GpbChunkList
{
	GpbChunk   *head;
	GpbChunk   *tail;
	uint64		count;			/* records */
} GpbChunkList;

/* ---- build_device.c ---- */

/* A sort on the device of the records that a list has */
typedef struct GpbDeviceSort GpbDeviceSort;

/*
 * Begin, in the current context, with an empty list, which is to have about "expected" records.
 * Returns NULL if there is no device that sorts.
 */
extern GpbDeviceSort *gpb_device_sort_begin(const GpbRecordOrder *order, uint64 expected);
/* Let the device have what the list, all of whose chunks are full, has for it.  Never waits. */
extern void gpb_device_sort_feed(GpbDeviceSort *sort, const GpbChunkList *list);
/*
 * The list is complete: give its records to the sink, sorted.  Returns how many of them came: fewer
 * than the list has, if the device was not asked to sort it or has failed.  Those that are missing
 * are the last ones in order.  The sort is ready for another list afterwards.
 */
extern uint64 gpb_device_sort_drain(GpbDeviceSort *sort, const GpbChunkList *list, GpbSink sink,
									void *state);
/* The checksum of a record.  Those of several are added up. */
extern uint64 gpb_record_sum(const GpbRecordOrder *order, const char *record);
/*
 * Fewer came than the list has, and in their place others were passed over, whose checksum is this:
 * raise an error if they were not the same.
 */
extern void gpb_device_sort_verify(const GpbDeviceSort *sort, uint64 sum);
extern void gpb_device_sort_end(GpbDeviceSort *sort);

#endif							/* GPB_BUILD_CHUNKS_H */
