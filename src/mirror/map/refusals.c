/*-------------------------------------------------------------------------
 *
 * refusals.c
 *	  Indexes for which a device had no memory, and until when they are not tried again.
 *
 * Without this their pages would be copied for nothing, again and again.  The registry lock
 * protects it.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/map/refusals.h"

#include "storage/shmem.h"
#include "utils/timestamp.h"

#define GPB_REFUSALS		(32 * GPB_MAX_DEVICES)	/* remembered */

/*
 * How long an index that found no memory is not tried again: the first time, and at most.  The time
 * doubles with each failure.
 */
#define GPB_REFUSAL_MS		60000
#define GPB_LONGEST_REFUSAL_MS	(64 * GPB_REFUSAL_MS)

/* An index for which a device had no memory */
typedef struct GpbRefusal
{
	GpbIdentity identity;
	int			device;
	TimestampTz until[GPB_MIRROR_MODES];		/* by GpbMirrorMode */
	int			failures;		/* one after the other */
} GpbRefusal;

typedef struct GpbRefusals
{
	GpbRefusal	refused[GPB_REFUSALS];
	int			next;			/* number of the one that is overwritten next */
} GpbRefusals;

static GpbRefusals *refusals = NULL;

Size
gpb_refusals_size(void)
{
	return MAXALIGN(sizeof(GpbRefusals));
}

void
gpb_refusals_init_shmem(void)
{
	bool		found;

	refusals = ShmemInitStruct("gpubtree refusals", gpb_refusals_size(), &found);
	if (!found)
		memset(refusals, 0, sizeof(*refusals));
}

/* The refusal of an index by a device, or NULL. */
static GpbRefusal *
refusal_of(const GpbIdentity *identity, int device)
{
	int			i;

	for (i = 0; i < GPB_REFUSALS; i++)
	{
		if (refusals->refused[i].failures != 0 && refusals->refused[i].device == device &&
			gpb_identity_equal(&refusals->refused[i].identity, identity))
			return &refusals->refused[i];
	}
	return NULL;
}

void
gpb_refuse_mirror(const GpbIdentity *identity, GpbMirrorMode mode, int device)
{
	GpbRefusal *refusal = refusal_of(identity, device);
	int64		ms;

	if (refusal == NULL)
	{
		refusal = &refusals->refused[refusals->next];
		refusals->next = (refusals->next + 1) % GPB_REFUSALS;
		memset(refusal, 0, sizeof(*refusal));
		refusal->identity = *identity;
		refusal->device = device;
	}
	ms = Min((int64) GPB_REFUSAL_MS << Min(refusal->failures, 16), GPB_LONGEST_REFUSAL_MS);
	refusal->failures++;
	refusal->until[mode] = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms);
}

bool
gpb_is_refused(const GpbIdentity *identity, GpbMirrorMode mode, int device)
{
	const GpbRefusal *refusal = refusal_of(identity, device);

	return refusal != NULL && refusal->until[mode] != 0 &&
		refusal->until[mode] > GetCurrentTimestamp();
}

void
gpb_forgive(const GpbIdentity *identity)
{
	int			i;

	LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < GPB_REFUSALS; i++)
	{
		GpbRefusal *refusal = &refusals->refused[i];

		if (gpb_identity_equal(&refusal->identity, identity))
			memset(refusal, 0, sizeof(*refusal));
	}
	LWLockRelease(gpb_registry->lock);
}

void
gpb_forgive_all(int device)
{
	int			i;

	for (i = 0; i < GPB_REFUSALS; i++)
	{
		GpbRefusal *refusal = &refusals->refused[i];

		if (refusal->device == device)
			memset(refusal, 0, sizeof(*refusal));
	}
}
