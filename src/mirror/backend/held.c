/*-------------------------------------------------------------------------
 *
 * held.c
 *	  What this backend holds of the mirror: request slots and ownerships of refreshes.
 *
 * Each is tied to the resource owner under which it was taken.  So ERROR, FATAL and subtransaction
 * abort all give it back in one place, release_owner().
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/held.h"

#include "utils/memutils.h"
#include "utils/resowner.h"

#include "mirror/map/ownership.h"
#include "mirror/service_state.h"

typedef struct GpbOwnership
{
	int			slot;
	ResourceOwner owner;
	struct GpbOwnership *next;
} GpbOwnership;

static GpbRequest *held_requests = NULL;
static GpbOwnership *held_ownerships = NULL;
static bool release_registered = false;

/*
 * The current resource owner goes: give back what was taken under it.  Requests go before
 * ownerships: the next owner of a refresh must find our uploads done or abandoned
 * (see service_refresh.c).
 */
static void
release_owner(ResourceReleasePhase phase, bool commit, bool top, void *arg)
{
	GpbRequest *request = held_requests;
	GpbOwnership **link = &held_ownerships;

	if (phase != RESOURCE_RELEASE_BEFORE_LOCKS)
		return;
	while (request != NULL)
	{
		GpbRequest *next = request->next;

		if (request->owner == CurrentResourceOwner)
			gpb_request_end(request);
		request = next;
	}
	while (*link != NULL)
	{
		GpbOwnership *ownership = *link;

		if (ownership->owner != CurrentResourceOwner)
		{
			link = &ownership->next;
			continue;
		}
		*link = ownership->next;
		gpb_disown(ownership->slot);
		pfree(ownership);
	}
}

void
gpb_held_prepare(void)
{
	if (!release_registered)
		RegisterResourceReleaseCallback(release_owner, NULL);
	release_registered = true;
}

/* ---- requests ---- */

void
gpb_hold_request(GpbRequest *request)
{
	request->owner = CurrentResourceOwner;
	request->next = held_requests;
	held_requests = request;
}

void
gpb_request_end(GpbRequest *request)
{
	GpbRequest **link = &held_requests;

	if (request == NULL)
		return;
	while (*link != request)
		link = &(*link)->next;
	*link = request->next;
	gpb_slot_give_back(request->class, request->slot);
	if (request->sorts)
		gpb_wake_service(request->slot->device);	/* it frees the sort, see service_sort.c */
	pfree(request);
}

/*
 * May this backend wait for a slot, or for units?  Not if it already holds a query slot (one
 * query with several nodes, double buffering): two such backends could wait for each other.  A
 * refresh's slots are no reason: who holds one waits for none of these.
 */
bool
gpb_request_may_wait(void)
{
	GpbRequest *held;

	for (held = held_requests; held != NULL; held = held->next)
	{
		if (held->class != GPB_REFRESH_SLOT)
			return false;
	}
	return true;
}

/* ---- ownerships ---- */

/*
 * Take ownership of a mirror's refresh, to be given back on any exit.  Returns false if the service
 * hangs and somebody else has it.
 */
bool
gpb_hold_ownership(int slot)
{
	GpbOwnership *ownership;
	bool		owned;

	gpb_held_prepare();
	ownership = MemoryContextAlloc(TopMemoryContext, sizeof(GpbOwnership));
	ownership->slot = slot;
	ownership->owner = CurrentResourceOwner;
	PG_TRY();
	{
		owned = gpb_own(slot);
	}
	PG_CATCH();
	{
		pfree(ownership);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (!owned)
	{
		pfree(ownership);
		return false;
	}
	ownership->next = held_ownerships;
	held_ownerships = ownership;
	return true;
}

/* Like gpb_hold_ownership(), but without waiting: returns false if somebody else has it. */
bool
gpb_try_hold_ownership(int slot)
{
	GpbOwnership *ownership;

	gpb_held_prepare();
	ownership = MemoryContextAlloc(TopMemoryContext, sizeof(GpbOwnership));
	if (!gpb_own_try(slot))
	{
		pfree(ownership);
		return false;
	}
	ownership->slot = slot;
	ownership->owner = CurrentResourceOwner;
	ownership->next = held_ownerships;
	held_ownerships = ownership;
	return true;
}

void
gpb_release_ownership(int slot)
{
	GpbOwnership **link = &held_ownerships;
	GpbOwnership *ownership;

	while ((*link)->slot != slot)
		link = &(*link)->next;
	ownership = *link;
	*link = ownership->next;
	gpb_disown(slot);
	pfree(ownership);
}
