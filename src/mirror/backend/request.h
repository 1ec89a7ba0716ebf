/*-------------------------------------------------------------------------
 *
 * request.h
 *	  A backend's requests, as the files that make them see one: a slot that is claimed, filled and
 *	  submitted.  Waiting, and giving the slot back, are in mirror.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_REQUEST_H
#define GPB_REQUEST_H

#include "mirror/slots.h"

#include "utils/resowner.h"

/* A slot that this backend holds */
struct GpbRequest
{
	GpbSlotClass class;
	int			number;
	GpbRequestSlot *slot;
	char	   *staging;
	Size		staging_size;
	uint64		generation;
	uint64		incarnation;
	bool		pending;		/* submitted, answer not taken yet */
	bool		lost;			/* its service is gone, or it failed */
	GpbMirrorRef ref;
	ResourceOwner owner;
	struct GpbRequest *next;
};

/*
 * Claim a slot for requests about ref.  Returns NULL if there is no service, or one that hangs, or
 * if no slot is free and the caller does not wait.  Cancellable; no LWLock held.
 */
extern GpbRequest *gpb_request_claim(GpbSlotClass class, const GpbMirrorRef *ref, bool wait);
/* Hand the filled slot to the service, unless the request is lost: then return false. */
extern bool gpb_request_submit(GpbRequest *request, GpbOperation op);

#endif							/* GPB_REQUEST_H */
