/*-------------------------------------------------------------------------
 *
 * status.h
 *	  The mirror as users see it: copies of what the registry, the service and the slots hold.
 *
 * For the SQL functions (src/sql).  Nothing that is read here takes part in an answer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_STATUS_H
#define GPB_STATUS_H

#include "compat.h"

#include "utils/timestamp.h"

#include "mirror/mirror.h"

/* ---- mirrors ---- */

typedef struct GpbMirrorStatus
{
	RelFileNode file;
	Oid			index;
	bool		discarded;		/* the service is about to free it */
	bool		inner_only;
	bool		piece;			/* of the index */
	double		share;			/* about how much of the index it is: 0 to 1 */
	int			device;			/* number of the service that has it */
	int			ordinal;		/* of its device; -1: none */
	uint32		nblocks;
	uint64		leaves;
	uint64		memory;
	uint64		changed;		/* blocks */
	uint64		epoch;			/* 0: never refreshed */
	TimestampTz last_used;
	uint64		refreshes;
	uint64		stale_moves;
	double		cpu_share;		/* of a batch's keys: 0 to 1 */
} GpbMirrorStatus;

/* How many registry slots there are. */
extern int	gpb_mirror_slots(void);
/* What is in a registry slot; false if it is free. */
extern bool gpb_mirror_status(int slot, GpbMirrorStatus *status);

/*
 * Is there room for a mirror of all pages of an index, or for its pieces, beside the mirrors there
 * are: memory of devices, registry slots, and changed map?  An estimate, true as of now.
 */
extern bool gpb_mirror_has_room(Relation index);

/* What the mirror of an index has of its blocks */
typedef struct GpbBlockStates
{
	bool		mirrored;
	bool		inner_only;		/* it has the pages of level 1 alone */
	uint32		nblocks;		/* at the last refresh: later blocks have no image */
	uint32	   *changed;		/* a bit for each block: changed, or being refreshed */
} GpbBlockStates;

/* Look at the mirror of an index; what is changed is allocated.  It may change at any time. */
extern void gpb_mirror_block_states(Relation index, GpbBlockStates *states);

/* ---- the services and their devices ---- */

typedef struct GpbServiceStatus
{
	bool		loaded;			/* is there shared memory of ours? */
	bool		present;		/* is there a device? */
	int			ordinal;		/* that it is to open; -1: none */
	GpbDeviceInfo device;
	char		device_kind[16];	/* "cuda", "host", "none" */
	char		status[128];
	int			pid;			/* 0: no service */
	int			mirrors;		/* live ones */
	uint64		requests;		/* aggregates answered since the last reset */
} GpbServiceStatus;

/* How many services there are; 1, and that without anything, if there is no shared memory. */
extern int	gpb_services_count(void);
extern void gpb_service_status(int device, GpbServiceStatus *status);

/* ---- the refresher ---- */

typedef struct GpbRefresherStatus
{
	int			pid;			/* 0: no process */
	uint64		turns;			/* that copied something, since the server started */
	uint64		pages;			/* copied since the server started */
} GpbRefresherStatus;

/* All is zero before there is shared memory. */
extern void gpb_refresher_status(GpbRefresherStatus *status);

/* ---- query slots and staging of all devices ---- */

typedef struct GpbBatchResources
{
	int			slots;
	int			free_slots;
	uint64		memory;			/* bytes */
	uint64		free_memory;
} GpbBatchResources;

extern void gpb_batch_resources(GpbBatchResources *resources);

/* ---- counters ---- */

/* Counters since the last reset; see statistics.h. */
typedef struct GpbCounters
{
	uint64		batches;
	uint64		keys;
	uint64		ranges;
	uint64		launches;
	uint64		joined;
	uint64		sorted;
	uint64		failed_over;
	uint64		cpu_requests;
	uint64		cpu_batches;
	uint64		cpu_keys;
	uint64		cpu_ranges;
	TimestampTz reset;
} GpbCounters;

/* Copy the counters; all are zero before there is shared memory. */
extern void gpb_read_counters(GpbCounters *counters);
/*
 * Set all counters to zero.  What is counted at the same moment may be lost, or be left in one
 * counter alone.
 */
extern void gpb_statistics_reset(void);

/* ---- one index ---- */

/*
 * Why an index has no mirror that is up to date, as far as that can be seen now; *hint says what
 * can be done, or is NULL.  Both are for users.
 */
extern const char *gpb_why_not_mirrored(Relation index, const char **hint);

#endif							/* GPB_STATUS_H */
