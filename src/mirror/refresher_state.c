/*-------------------------------------------------------------------------
 *
 * refresher_state.c
 *	  What every process knows of the refresher.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/refresher_state.h"

#include "storage/shmem.h"

#include "mirror/service_state.h"
#include "mirror/settings.h"

GpbRefresherState *gpb_refresher = NULL;

Size
gpb_refresher_state_size(void)
{
	return MAXALIGN(sizeof(GpbRefresherState));
}

void
gpb_refresher_state_init_shmem(void)
{
	bool		found;

	gpb_refresher = ShmemInitStruct("gpubtree refresher", gpb_refresher_state_size(), &found);
	if (found)
		return;
	pg_atomic_init_u32(&gpb_refresher->pgprocno, 0);
	pg_atomic_init_u32(&gpb_refresher->asleep, 0);
	pg_atomic_init_u64(&gpb_refresher->turns, 0);
	pg_atomic_init_u64(&gpb_refresher->pages, 0);
}

bool
gpb_refresher_works(void)
{
	return gpb_background_refresh && pg_atomic_read_u32(&gpb_refresher->pgprocno) != 0;
}

/*
 * Wake the refresher if it sleeps.  It says that it is asleep before it looks for hot mirrors for
 * the last time, and we look whether it is after "queried" was set: with a full barrier on both
 * sides, one of us sees what the other has written.
 */
void
gpb_wake_refresher(void)
{
	uint32		refresher;

	pg_memory_barrier();
	if (!gpb_background_refresh || pg_atomic_read_u32(&gpb_refresher->asleep) == 0)
		return;
	refresher = pg_atomic_read_u32(&gpb_refresher->pgprocno);
	if (refresher != 0)
		gpb_wake_process(refresher - 1);
}
