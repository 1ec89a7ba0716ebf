/*-------------------------------------------------------------------------
 *
 * slots.h
 *	  Request slots and their staging: how a backend asks the service; see slots.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SLOTS_H
#define GPB_SLOTS_H

#include "compat.h"

#include "storage/condition_variable.h"

#include "mirror/request_slot.h"

extern Size gpb_slots_shmem_size(void);
extern void gpb_slots_init_shmem(void);

/* The memory that a device's slots and staging lie in, for it to register. */
extern void gpb_slots_region(int device, void **base, Size *size);

/* How many slots each device has of a class. */
extern int	gpb_slot_count(GpbSlotClass class);
extern GpbRequestSlot *gpb_slot_at(int device, GpbSlotClass class, int number);
/* Staging of a refresh slot; that of a query slot is the pool's. */
extern char *gpb_slot_staging(int device, GpbSlotClass class, int number);
extern Size gpb_slot_staging_size(GpbSlotClass class);
/*
 * How many builds may have a sort on a device at a time, and units for each: a build keeps both for
 * as long as it reads its table, and queries wait where there are none.  0 where there are too few
 * of either.
 */
extern int	gpb_sorts_at_most(void);
extern uint32 gpb_sort_units(void);
/* Signalled whenever a slot of the device and class is freed. */
extern ConditionVariable *gpb_slot_freed_cv(int device, GpbSlotClass class);

/* ---- the backend's side ---- */

/* Claim a free slot of a device; NULL if there is none. */
extern GpbRequestSlot *gpb_slot_try_claim(int device, GpbSlotClass class, int *number);
/* Give a slot back, whatever its state.  Raises nothing. */
extern void gpb_slot_give_back(GpbSlotClass class, GpbRequestSlot *slot);

/* ---- the service's side ---- */

/* Take a slot in which something was submitted.  Returns false if nothing was. */
extern bool gpb_slot_take(GpbRequestSlot *slot);
/* Answer a running request and wake its backend, or free the slot if the backend has gone. */
extern void gpb_slot_answer(GpbSlotClass class, GpbRequestSlot *slot, bool ok);
/* Free a slot that an absent backend abandoned.  No LWLock held. */
extern void gpb_slot_free(GpbSlotClass class, GpbRequestSlot *slot);
extern void gpb_slots_reclaim(int device);
extern void gpb_slots_wake_all(int device);

/* ---- a service's own staging ---- */

/* Joined launches of ranges that may be in flight, and the staging of each */
#define GPB_JOINED_BUFFERS	4
#define GPB_JOINED_STAGING	((Size) 64 * 1024)

extern char *gpb_joined_staging(int device, int buffer);

/* ---- uploads ---- */

/* Staging of a refresh slot: block numbers in the first page, then the pages. */
#define GPB_UPLOAD_PAGES \
	((int) Min(gpb_slot_staging_size(GPB_REFRESH_SLOT) / BLCKSZ - 1, \
			   BLCKSZ / sizeof(uint32)))

#endif							/* GPB_SLOTS_H */
