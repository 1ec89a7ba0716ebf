/*-------------------------------------------------------------------------
 *
 * request.h
 *	  A backend's requests: claim a slot, submit, wait for the answer, give the slot back.
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
/* Hand the filled slot to the service. */
extern void gpb_request_submit(GpbRequest *request);
/* Wait for the answer.  Returns false if there is none to be used. */
extern bool gpb_request_wait(GpbRequest *request);

/*
 * Send bytes of the visibility map (rule M5: read after the epoch), of any length, in pieces of the
 * size of the slot's staging.
 */
extern bool gpb_request_visibility(GpbRequest *request, uint64 offset, const void *bits, uint64 n);
/*
 * Give the slot back, in every state; NULL is allowed.  A slot that the service still has is
 * abandoned: the service frees it when the device is done with it.
 */
extern void gpb_request_end(GpbRequest *request);

#endif							/* GPB_REQUEST_H */
