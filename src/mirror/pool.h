/*-------------------------------------------------------------------------
 *
 * pool.h
 *	  The staging of batches: shared memory handed out to query slots in spans of units; see pool.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_POOL_H
#define GPB_POOL_H

#include "compat.h"

#include "storage/condition_variable.h"
#include "storage/lwlock.h"

#include "mirror/request_slot.h"

#define GPB_POOL_UNIT	((Size) 64 * 1024)

/* A span of adjoining units of a device's pool that somebody has */
typedef struct GpbPoolSpan
{
	int			device;
	uint32		first;
	uint32		nunits;			/* 0: none */
} GpbPoolSpan;

/* How many units each device's pool has in all. */
extern uint32 gpb_pool_units(void);
extern Size gpb_pool_size(void);
extern Size gpb_pool_shmem_size(void);
/* The locks of the pools are those of a tranche from this one on. */
extern void gpb_pool_init_shmem(LWLockPadded *locks);
extern void gpb_pool_set_memory(int device, char *memory);

/* Give a query slot units; take them away. */
extern bool gpb_pool_take(GpbRequestSlot *slot, Size bytes);
extern void gpb_pool_give_back(GpbRequestSlot *slot);
/* Where the slot's units lie. */
extern char *gpb_pool_staging(const GpbRequestSlot *slot);
/* Take exactly so many units of a device's pool, or none; give them back; where they lie. */
extern bool gpb_pool_take_span(int device, GpbPoolSpan *span, uint32 nunits);
extern void gpb_pool_give_back_span(GpbPoolSpan *span);
extern char *gpb_pool_span_memory(const GpbPoolSpan *span);
/* Broadcast whenever units of a device's pool are given back. */
extern ConditionVariable *gpb_pool_freed_cv(int device);
/* How many units there are of all devices, and how many nobody has. */
extern void gpb_pool_status(uint32 *nunits, uint32 *nfree);

#endif							/* GPB_POOL_H */
