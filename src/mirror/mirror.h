/*-------------------------------------------------------------------------
 *
 * mirror.h
 *	  The mirror's face to the floors above.
 *
 * src/README has the rules (M1 to M9) that each function serves.  What the index wing uses is in
 * mark.h, what shows the mirror to users in status.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_MIRROR_H
#define GPB_MIRROR_H

#include "compat.h"

#include "datatype/timestamp.h"
#include "portability/instr_time.h"
#include "storage/block.h"
#include "utils/relcache.h"

#include "mirror/balance.h"
#include "mirror/devices.h"
#include "device/device.h"

/* ---- load time (gpubtree.c) ---- */

extern void gpb_mirror_define_settings(void);
extern void gpb_mirror_request_shmem(void);	/* shmem_request_hook */
extern void gpb_mirror_init_shmem(void);	/* shmem_startup_hook */
extern void gpb_mirror_register_workers(void);

/* ---- for the executor ---- */

#define GPB_MIRRORS			64	/* registry slots */

/* One backend's hold on a mirror; valid for one query execution. */
typedef struct GpbMirrorRef
{
	int			slot;			/* registry slot */
	int			device;			/* that has the mirror */
	uint64		generation;		/* of that slot: a reused slot does not match */
	RelFileNode file;
	Oid			index;
	bool		inner_only;		/* level 1 alone: serves searches without positions */
	bool		piece;			/* of the index; what lies outside of its range is not clean */
	TimestampTz keep_since;		/* no mirror that was used then or later makes room for this one; 0:
								 * any may */
} GpbMirrorRef;

/*
 * Is there a device with a service that answers, and do gpubtree.enabled and gpubtree.enable_device
 * let this session use it?  Cheap.
 */
extern bool gpb_mirror_available(void);

/*
 * Is there such a device, and does it work beside the CPU?  The host device does not; it is the
 * CPU.  For prices.
 */
extern bool gpb_mirror_spares_cpu(void);

/*
 * Attach to the mirror of all pages of an index, creating an empty one if there is none.  The
 * caller holds a lock on the index.  Returns false where there can be no such mirror (no device,
 * temporary relation, larger than the memory granted, no room in the registry, ...).  Raises only
 * on cancel.
 */
extern bool gpb_mirror_attach(Relation index, const GpbLayout *layout,
							  GpbMirrorRef *ref);

/*
 * Like gpb_mirror_attach(), but what is used at keep_since or later stays: no such mirror makes
 * room for this one or for what it grows by.  0: any may.
 */
extern bool gpb_mirror_attach_beside(Relation index, const GpbLayout *layout,
									 TimestampTz keep_since, GpbMirrorRef *ref);

/* Count the index's mirror, with all its pieces, if there is one, as used now. */
extern void gpb_mirror_use(Relation index);

/*
 * An index that is too large for each device has pieces, mirrors of a range of keys each.  A cut
 * parts all keys into such ranges, ascending, of whole keys: the first begins at GPB_BOUND_MIN, the
 * last ends at GPB_BOUND_MAX.  A range may have no mirror now, or lose it at any time.
 */
#define GPB_MOST_RANGES		(2 * GPB_MAX_DEVICES + 1)

typedef struct GpbMirrorCut
{
	int			n;
	GpbRange	range[GPB_MOST_RANGES];
} GpbMirrorCut;

typedef enum GpbCutOutcome
{
	GPB_CUT_NONE,				/* the index has, or is to have, no pieces */
	GPB_CUT_WANTED,				/* gpb_mirror_make_cut() is to cut it */
	GPB_CUT_FOUND
} GpbCutOutcome;

/* Into how many ranges bounds should part the index that gpb_mirror_make_cut() gets, about */
#define GPB_CUT_BOUNDS		1024

/*
 * Find the cut of an index, and use its pieces; a piece that was lost is made anew, empty, if there
 * is room.  Or cut it: n bounds part it into stretches of about as many entries each.  The caller
 * holds a lock on the index.  Raises only on cancel.
 */
extern GpbCutOutcome gpb_mirror_find_cut(Relation index, const GpbLayout *layout,
										 GpbMirrorCut *cut);
extern bool gpb_mirror_make_cut(Relation index, const GpbLayout *layout, TimestampTz keep_since,
								const GpbBound *bounds, uint32 n, GpbMirrorCut *cut);

/*
 * Attach to the piece that is the mirror of a range of a cut.  Otherwise as
 * gpb_mirror_attach_beside(), but none is made.
 */
extern bool gpb_mirror_attach_piece(Relation index, const GpbRange *range, TimestampTz keep_since,
									GpbMirrorRef *ref);

/*
 * Attach to the mirror of an index for searches without positions, which a mirror of the inner
 * nodes alone serves as well.  A mirror that is there is taken as it is; where there is none, or
 * one of all pages that has grown too large, the index's size decides which kind is made.
 * Otherwise as gpb_mirror_attach().
 */
extern bool gpb_mirror_attach_search(Relation index, const GpbLayout *layout,
									 GpbMirrorRef *ref);

/*
 * Is the index too large for all of its pages to be mirrored, with a device that has its inner
 * nodes?  If it has a mirror of all pages, which it has outgrown, that is discarded.
 */
extern bool gpb_mirror_is_inner_only(Relation index);

/*
 * Try to mirror the index again even if the device had no memory for it lately: someone asked for
 * it.
 */
extern void gpb_mirror_forgive(Relation index);

/*
 * How busy the service is that has the index's mirror, or would be the least busy one for a new
 * mirror: the requests of queries that it has and has not answered, at most
 * gpb_mirror_load_limit().  No lock is taken.
 */
extern int	gpb_mirror_load(Relation index);
extern int	gpb_mirror_load_limit(void);
/*
 * How many blocks a refresh of the index's mirror would have to copy; more than "most" are not
 * counted.  It is "most" while a mirror is being made, and 0 if there is none: then someone has to
 * make it.  The mirror counts as used.
 */
extern int	gpb_mirror_changed(Relation index, int most);

/* Has the index a mirror that was filled once?  Who uses it has no more to do than refresh it. */
extern bool gpb_mirror_is_filled(Relation index);

/* Has there ever been a mirror?  Cheap. */
extern bool gpb_mirror_was_used(void);
/*
 * Discard the mirrors of the files that an index has and had; was there one?  Discard the mirrors
 * of a database.  No LWLock held on entry or exit.
 */
extern bool gpb_mirror_drop_index(Oid database, Oid index);
extern void gpb_mirror_drop_database(Oid database);

/*
 * Bring the mirror up to date with the index as it is at the call (rule M3).  Holds no buffer lock
 * or LWLock while it waits; cancellable.  *blocks counts pages copied.  Returns false if the mirror
 * is lost or its memory exhausted: use the CPU path.  Raises ERRCODE_INDEX_CORRUPTED on a damaged
 * page.
 */
extern bool gpb_mirror_refresh(Relation index, const GpbLayout *layout,
							   const GpbMirrorRef *ref, uint64 *blocks);

/*
 * Bring the mirror as far up to date as pays for a query: where the refresher works and has few
 * blocks to copy, they are left to it, and their leaves are not clean.  Otherwise as
 * gpb_mirror_refresh().
 */
extern bool gpb_mirror_refresh_for_query(Relation index, const GpbLayout *layout,
										 const GpbMirrorRef *ref, uint64 *blocks);

/*
 * Bring the separators up to date if the mirror has none yet, or if that costs no more than what
 * searches have paid for their age (see refresh_inner.c): rule M7 asks for no more.  Otherwise as
 * gpb_mirror_refresh().
 */
extern bool gpb_mirror_refresh_separators(Relation index, const GpbLayout *layout,
										  const GpbMirrorRef *ref, uint64 *blocks);
/* Note that so many right links were followed from leaves that a search in this mirror gave. */
extern void gpb_mirror_note_stale(const GpbMirrorRef *ref, uint64 moves);

/*
 * How the CPU and the device are to share the keys of this mirror's searches; and a sample of what
 * came of it: the times that each of them took for the keys of one chunk, with the balance that it
 * was shared by.
 */
extern GpbBalance gpb_mirror_balance(const GpbMirrorRef *ref);
extern void gpb_mirror_balance_sample(const GpbMirrorRef *ref, GpbBalance then, double device_us,
									  double cpu_us);

/* The epoch published for this mirror; 0 if it was lost (rule M5). */
extern uint64 gpb_mirror_epoch(const GpbMirrorRef *ref);

/*
 * A request: one or many searches or ranges for the device, or several such requests one after the
 * other.  Keys and results lie in staging that the device reads and writes, so nothing is copied
 * between backend and device.  False from any function means that nothing of the answer may be
 * used: take the CPU path.
 *
 * Staging is the backend's except from submit to the end of wait.  An ERROR in between (a cancel,
 * for one) abandons the request: the service frees slot and staging when the device has done with
 * them.  Several requests may be held at once, one being filled or read while the device has
 * others.
 */
typedef struct GpbRequest GpbRequest;

/*
 * Take a query slot and "bytes" of staging, or as much as there is, but at least 64 kB.  Waits,
 * cancellably, for a slot and for staging; a backend that already holds a request does not wait,
 * and gets NULL if there is none.  Returns NULL, too, without a service.  No buffer lock, pin or
 * LWLock may be held (rule M9).
 */
extern GpbRequest *gpb_request_begin(const GpbMirrorRef *ref, Size bytes);
/* The request's staging, aligned to 8 kB, and its size. */
extern char *gpb_request_staging(const GpbRequest *request, Size *size);
/*
 * Give slot and staging back, in every state; NULL is allowed.  What the service still has is
 * abandoned.
 */
extern void gpb_request_end(GpbRequest *request);

/*
 * Most keys of a search in another order than GPB_ORDER_INPUT.  The service cuts searches in input
 * order that have more keys into chunks of so many.
 */
#define GPB_SEARCH_CHUNK	((uint32) 1 << 20)

/* The searches of a request: see search.h.  Without positions they need no refresh (rule M7). */
typedef struct GpbRequestSearch
{
	GpbSearchBound bound;
	GpbSearchOrder order;
	bool		ascending;		/* keys are known to ascend */
	bool		positions;		/* wanted; needs the epoch */
	uint32		n;
	uint64		epoch;			/* gpb_mirror_epoch(), read beforehand (rule M5) */
} GpbRequestSearch;

/*
 * Where keys and results of a search lie in staging: keys at its start, then the arrays of
 * search->n elements that it asks for.  Returns the bytes needed.
 */
extern Size gpb_search_arrange(const GpbRequestSearch *search, int key_width, char *staging,
							   GpbSearchPiece *arrays);
/* The largest n for which such a search fits that many bytes. */
extern uint32 gpb_search_capacity(const GpbRequestSearch *search, int key_width, Size bytes);

/*
 * The visibility bits of ranges, which the backend reads after the epoch (rule M5), n bytes in all.
 * It takes the current bits, those of a map image that other requests use, and compares them with
 * what it reads.  If all are equal, the ranges are answered by them.  Else it takes memory for new
 * bits, fills that with what it reads, and publishes it: then the ranges are answered by those, and
 * they become the current ones.  Either may be NULL: then the bits are sent, see below.  Nothing is
 * to be given back, whatever happens; the bits taken last are the request's until it ends.
 */
extern const char *gpb_request_current_bits(GpbRequest *request, uint64 n);
extern char *gpb_request_new_bits(GpbRequest *request, uint64 n);
extern void gpb_request_publish_bits(GpbRequest *request);

/*
 * Send bytes of the visibility map for ranges, of any length, in pieces of the size of staging.
 * They go through staging and overwrite it, so this comes before the ranges are put there.  The
 * ranges are then answered by these bits, and no others.
 */
extern bool gpb_request_visibility(GpbRequest *request, uint64 offset, const void *bits, uint64 n);

/*
 * Search for the n keys that lie in staging; wait; the results are where gpb_search_arrange() says.
 */
extern bool gpb_request_search(GpbRequest *request, const GpbRequestSearch *search);
/*
 * Copy records [first, first + n) that the ranges just answered left behind to staging, "offset"
 * bytes from its start; wait.
 */
extern bool gpb_request_fetch(GpbRequest *request, GpbFetchWhat what, uint64 first, uint64 n,
							  Size offset);

/*
 * Submit a search, ranges or a fetch without waiting; gpb_request_wait() waits for the answer,
 * before anything else is done with the request.  After a submit that returned false the wait
 * returns false too.  The wait is cancellable; its caller holds no buffer lock, pin or LWLock.
 *
 * The ranges lie at the start of staging, in the form of the spec.  The answers, if there are any,
 * lie there after the wait: gpb_count_answers() of them, see answer.h.
 */
extern bool gpb_request_submit_search(GpbRequest *request, const GpbRequestSearch *search);
extern bool gpb_request_submit_ranges(GpbRequest *request, const GpbRangesSpec *spec);
extern bool gpb_request_submit_fetch(GpbRequest *request, GpbFetchWhat what, uint64 first, uint64 n,
									 Size offset);
extern bool gpb_request_wait(GpbRequest *request);
/* When the last request waited for was submitted, and when the service answered it. */
extern void gpb_request_times(const GpbRequest *request, instr_time *submitted,
							  instr_time *answered);
/* The result of the last ranges waited for. */
extern void gpb_request_ranges_result(const GpbRequest *request, GpbRangesResult *result);

/*
 * How many of the groups that the last ranges waited for left lie at the beginning of staging, as
 * if they had been fetched: at most as many as half of it holds.
 */
extern uint64 gpb_request_staged_groups(const GpbRequest *request);

/* ---- sorts of builds (request_sort.c) ---- */

/* May builds sort on a device now: is there one, and do the settings say so? */
extern bool gpb_sort_available(void);
/*
 * Take a query slot for a sort of records (sort.h), and "bytes" of staging, or what a build may
 * have or there is, but at least 64 kB.  The sort is the slot's, on the device that is least busy
 * with others, and ends with the request.  This never waits, so it may be called with a pin held:
 * it returns NULL if there is no service, no slot or no staging.
 */
extern GpbRequest *gpb_request_begin_sort(Size bytes);
/*
 * Submit n records that lie at the start of staging.  The first ones of a sort, in the place of the
 * one that the slot had, say what records look like and about how many there will be.
 */
extern bool gpb_request_submit_first_records(GpbRequest *request, const GpbSortFormat *format,
											 uint64 expected, uint32 n);
extern bool gpb_request_submit_records(GpbRequest *request, uint32 n);
/*
 * Ask for records [first, first + n) of the sort, in order, at "offset" of staging.  No records can
 * be submitted afterwards, but for those of another sort.
 */
extern bool gpb_request_submit_read(GpbRequest *request, uint64 first, uint32 n, Size offset);
/* Will gpb_request_wait() return without waiting for the device? */
extern bool gpb_request_answered(const GpbRequest *request);

/* "CUDA device 0 (NVIDIA H200)", "host device", or "host device 1" of several; for EXPLAIN. */
extern const char *gpb_mirror_engine_name(int device);

/* ---- settings ---- */

/* gpubtree.enabled: nodes of ours may be planned, and the device used */
extern bool gpb_enabled;
/* gpubtree.enable_device: the device may be used */
extern bool gpb_enable_device;

/* ---- statistics (statistics.c) ---- */

/* Is a request for n ranges a range aggregate, which is counted apart from batches? */
static inline bool
gpb_is_aggregate(GpbRangeForm form, uint32 n)
{
	return form == GPB_RANGE_BOUNDS && n == 1;
}

/* Count n ranges that another engine than the device answers at a time. */
extern void gpb_count_cpu_batch(GpbRangeForm form, uint32 n);

#endif							/* GPB_MIRROR_H */
