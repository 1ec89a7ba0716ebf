/*-------------------------------------------------------------------------
 *
 * waits.c
 *	  Names of wait events.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "waits.h"

uint32		gpb_waits[GPB_WAITS];

static const char *const names[GPB_WAITS] = {
	[GPB_WAIT_ANSWER] = "GpubtreeAnswer",
	[GPB_WAIT_SLOT] = "GpubtreeSlot",
	[GPB_WAIT_BATCH_MEMORY] = "GpubtreeBatchMemory",
	[GPB_WAIT_REFRESH] = "GpubtreeRefresh",
	[GPB_WAIT_EVICTION] = "GpubtreeEviction",
	[GPB_WAIT_KEY_EXCHANGE] = "GpubtreeKeyExchange",
	[GPB_WAIT_SERVICE] = "GpubtreeService",
	[GPB_WAIT_REFRESHER] = "GpubtreeRefresher",
};

/*
 * shmem_startup_hook: make the names known.  All processes inherit the numbers, so none asks for
 * one later, when there might be no room for it: that is an error, which no query is to meet.
 */
void
gpb_waits_init(void)
{
	int			i;

	for (i = 0; i < GPB_WAITS; i++)
		gpb_waits[i] = GPB_NEW_WAIT_EVENT(names[i]);
}
