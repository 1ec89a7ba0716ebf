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
	bool		sorts;			/* the slot may have a sort, which ends with the request */
	GpbMirrorRef ref;
	ResourceOwner owner;
	struct GpbRequest *next;
};

/*
 * Claim a slot of ref's device for requests about ref.  Returns NULL if there is no service, or one
 * that hangs, or if no slot is free and the caller does not wait.  Cancellable; no LWLock held.
 */
extern GpbRequest *gpb_request_claim(GpbSlotClass class, const GpbMirrorRef *ref, bool wait);
/* Hand the filled slot to the service, unless the request is lost: then return false. */
extern bool gpb_request_submit(GpbRequest *request, GpbOperation op);

/* ---- request_query.c ---- */

/*
 * Claim a query slot with "bytes" of staging, or as much as there is.  Returns NULL as
 * gpb_request_claim() does, or if there is no staging and the caller does not wait.
 */
extern GpbRequest *gpb_request_claim_query(const GpbMirrorRef *ref, Size bytes, bool wait);
/* Hand a filled query slot over, as gpb_request_submit() does. */
extern bool gpb_request_submit_query(GpbRequest *request, GpbOperation op);

#endif							/* GPB_REQUEST_H */
