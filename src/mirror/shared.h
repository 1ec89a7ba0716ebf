/*-------------------------------------------------------------------------
 *
 * shared.h
 *	  What the backends and the service share; private to the mirror wing.
 *
 * All of it lies in PostgreSQL's shared memory, is sized by settings fixed at server
 * start, and is empty again after a crash restart.  Lock order: buffer content locks
 * first, then the registry lock or the pool lock, and nothing after either.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SHARED_H
#define GPB_SHARED_H

#include "compat.h"

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "mirror/mirror.h"
#include "leaf_aggregate.h"

#define GPB_MIRRORS			64	/* registry slots */
#ifndef GPB_HOLD_POINTS
#define GPB_SEGMENT_BLOCKS	65536	/* blocks that one map segment covers */
#else
#define GPB_SEGMENT_BLOCKS	1024	/* so that tests' indexes have several */
#endif
#define GPB_SEGMENT_WORDS	(GPB_SEGMENT_BLOCKS / 32)
#define GPB_REFUSALS		16	/* indexes remembered as too large */

/* ---- the changed map ---- */

/* One bit a block in each; rules M2 and M3 */
typedef struct GpbSegment
{
	pg_atomic_uint32 changed[GPB_SEGMENT_WORDS];
	pg_atomic_uint32 in_flight[GPB_SEGMENT_WORDS];
} GpbSegment;

/* ---- the registry ---- */

typedef enum GpbMirrorState
{
	GPB_MIRROR_FREE = 0,
	GPB_MIRROR_LIVE,
	GPB_MIRROR_DISCARDED		/* not to be used; the service frees it */
} GpbMirrorState;

/* What of an index is mirrored; as long as a mirror lives */
typedef enum GpbMirrorMode
{
	GPB_MIRROR_FULL = 0,		/* all pages */
	GPB_MIRROR_INNER_ONLY		/* those of level 1 */
} GpbMirrorMode;

/* What a mirror is the mirror of (rule M1) */
typedef struct GpbIdentity
{
	RelFileNode file;
	Oid			index;
	TransactionId database_xmin;	/* raw xmin of the pg_database row */
} GpbIdentity;

/*
 * A registry slot.  identity and layout change under the exclusive registry lock while the slot
 * is free; state too, but is read without it.  Segments are
 * added by the owner of the refresh and taken away by the service, both under the exclusive
 * lock and only while they hold "owner".
 */
typedef struct GpbMirrorSlot
{
	GpbIdentity identity;
	GpbLayout	layout;
	pg_atomic_uint32 state;		/* GpbMirrorState */
	pg_atomic_uint32 mode;		/* GpbMirrorMode */
	pg_atomic_uint64 generation;	/* one more for each mirror in the slot */
	pg_atomic_uint32 owner;		/* who refreshes: pgprocno + 1, or 0 */
	ConditionVariable owner_cv;
	pg_atomic_uint32 nsegments;
	pg_atomic_uint32 nblocks;	/* of the index at the last refresh */
	pg_atomic_uint64 epoch;		/* published (rule M5); 0: never refreshed */
	pg_atomic_uint64 last_used; /* TimestampTz */
	pg_atomic_uint64 refreshes; /* that copied something */
	pg_atomic_uint64 leaves;	/* in the inner image */
	pg_atomic_uint64 memory;	/* bytes on the device */
	pg_atomic_uint32 inner_blocks;	/* level-1 pages at the last refresh, if inner-only */
	pg_atomic_uint64 stale_moves;	/* since then, see refresh_inner.c */
	pg_atomic_uint64 balance;	/* GpbBalance */
} GpbMirrorSlot;

/* An index for which the device had no memory */
typedef struct GpbRefusal
{
	GpbIdentity identity;
	TimestampTz until[2];		/* by GpbMirrorMode */
	int			failures;		/* one after the other */
} GpbRefusal;

/* ---- requests ---- */

typedef enum GpbSlotState
{
	GPB_SLOT_FREE = 0,
	GPB_SLOT_CLAIMED,			/* the backend's: it may write slot and staging */
	GPB_SLOT_SUBMITTED,			/* the service's from here ... */
	GPB_SLOT_RUNNING,
	GPB_SLOT_DONE,				/* ... to here: the backend's again */
	GPB_SLOT_ABANDONED			/* its backend is gone; the service frees it */
} GpbSlotState;

/*
 * Refreshes have slots of their own, so that queries cannot starve them.  Batch slots have no staging of
 * their own but a run of units of the pool.
 */
typedef enum GpbSlotClass
{
	GPB_QUERY_SLOT = 0,
	GPB_REFRESH_SLOT,
	GPB_BATCH_SLOT,
	GPB_SLOT_CLASSES
} GpbSlotClass;

typedef enum GpbOperation
{
	GPB_OP_VISIBILITY,			/* staging: n bytes of the map from offset */
	GPB_OP_AGGREGATE,			/* spec -> result, sums */
	GPB_OP_FETCH,				/* records [offset, offset + n) -> staging */
	GPB_OP_UPLOAD,				/* staging: n block numbers; pages */
	GPB_OP_SEARCH,				/* staging: keys -> arrays, see gpb_mirror_batch_arrange */
	GPB_OP_RANGES				/* staging: ranges -> ranges_result */
} GpbOperation;

typedef struct GpbRequestSlot
{
	pg_atomic_uint32 state;		/* GpbSlotState */
	uint32		pgprocno;		/* whom to wake */
	uint64		generation;		/* of the claim */
	uint64		incarnation;	/* service that the request is meant for */

	/* request */
	GpbOperation op;
	int			mirror;
	uint64		mirror_generation;
	uint64		offset;
	uint64		n;
	GpbFetchWhat what;
	uint64		epoch;			/* upload: stamp of the pages */
	bool		last;			/* upload: the refresh's last chunk */
	GpbAggregateSpec spec;
	GpbBatchSearch search;
	GpbRangesSpec ranges;
	uint64		into;			/* fetch: offset of the records in staging */

	/* batch slot: its units; changed under the pool lock alone */
	uint32		first_unit;
	uint32		nunits;			/* 0: none */

	instr_time	submitted;

	/* answer */
	instr_time	answered;
	bool		ok;
	uint64		answered_generation;
	GpbAggregateResult result;
	GpbFloatSum sums[GPB_MAX_INCLUDE];
	GpbRangesResult ranges_result;
} GpbRequestSlot;

/* ---- the pool: staging of batches ---- */

#define GPB_POOL_UNIT	((Size) 64 * 1024)

/* Under the pool lock, but for nfree, which is read without it for show */
typedef struct GpbPool
{
	uint32		nunits;
	uint32		nfree;
	bool		taken[FLEXIBLE_ARRAY_MEMBER];
} GpbPool;

/* ---- statistics ---- */

/* Counters since the last reset; nothing depends on them. */
typedef struct GpbStatistics
{
	/* the device's, counted by the service */
	pg_atomic_uint64 requests;	/* aggregates answered */
	pg_atomic_uint64 batches;	/* batches answered ... */
	pg_atomic_uint64 keys;		/* ... their keys ... */
	pg_atomic_uint64 ranges;	/* ... and ranges */
	pg_atomic_uint64 launches;	/* of batches on the device ... */
	pg_atomic_uint64 joined;	/* ... of those, for several requests at once */
	pg_atomic_uint64 failed_over;	/* requests of all kinds without an answer */

	/* those of all other engines, counted by the backends */
	pg_atomic_uint64 cpu_requests;
	pg_atomic_uint64 cpu_batches;
	pg_atomic_uint64 cpu_keys;
	pg_atomic_uint64 cpu_ranges;

	pg_atomic_uint64 reset;		/* TimestampTz of the last reset, or of the server's start */
} GpbStatistics;

/* ---- the whole ---- */

typedef struct GpbShared
{
	LWLock	   *registry_lock;
	LWLock	   *pool_lock;

	/* the service; available is its incarnation while it serves, else 0 */
	pg_atomic_uint64 incarnation;
	pg_atomic_uint64 available;
	pg_atomic_uint32 service_pgprocno;	/* plus 1; 0: no service process */
	pg_atomic_uint64 hung_at;	/* heartbeats when it was last found hanging; 0: never */
	GpbStatistics statistics;
	pg_atomic_uint64 heartbeats;	/* signs of life; apart from what backends read (heartbeat.c) */
	pg_atomic_uint32 discards;	/* counts reasons for the service to look for
								 * mirrors to free */
	pg_atomic_uint64 epoch;		/* last stamp given out; never reset (M5) */

	/* under registry_lock */
	GpbDeviceInfo device;
	char		device_kind[16];	/* "cuda", "host", "none" */
	char		status[128];
	GpbRefusal	refused[GPB_REFUSALS];
	int			next_refusal;

	ConditionVariable freed_cv; /* registry slots and segments were freed */
	ConditionVariable slot_cv[GPB_SLOT_CLASSES];	/* request slots were freed */
	ConditionVariable pool_cv;	/* units were freed */

	/* lock-free look-up: tags of live mirrors in slots below tag_limit */
	pg_atomic_uint32 tag_limit;
	pg_atomic_uint64 tags[GPB_MIRRORS];

	GpbMirrorSlot mirrors[GPB_MIRRORS];
} GpbShared;

extern GpbShared *gpb_shared;

/* ---- settings.c ---- */

typedef enum GpbDeviceChoice
{
	GPB_CHOOSE_AUTO,
	GPB_CHOOSE_CUDA,
	GPB_CHOOSE_HOST,
	GPB_CHOOSE_OFF
} GpbDeviceChoice;

extern int	gpb_device_choice;
extern int	gpb_cuda_device;
extern int	gpb_memory_limit;	/* kB */
extern int	gpb_query_slots;
extern int	gpb_refresh_slots;
extern int	gpb_staging_size;	/* kB */
extern int	gpb_batch_slots;
extern int	gpb_batch_memory;	/* kB */
extern int	gpb_max_mirrored_blocks;
extern int	gpb_max_mirror_size;	/* kB; 0: no limit but the device's */
extern int	gpb_request_timeout;	/* ms; 0: none */

/* ---- statistics.c ---- */

extern void gpb_statistics_init(void);

/* ---- changed_map.c ---- */

extern Size gpb_map_shmem_size(void);
extern void gpb_map_init_shmem(void);
extern GpbSegment *gpb_map_segment(int slot, uint32 number);
extern uint32 gpb_map_segments_for(BlockNumber nblocks);
extern uint32 gpb_map_segments_total(void);

/* The registry lock must be held exclusively. */
extern bool gpb_map_grow(int slot, uint32 nsegments);
extern void gpb_map_release(int slot);

extern bool gpb_map_is_clean(int slot, BlockNumber nblocks);
extern uint64 gpb_map_count(int slot, BlockNumber nblocks);
extern uint32 gpb_map_move(int slot, BlockNumber nblocks, uint32 *todo);
extern void gpb_map_clear_in_flight(int slot, BlockNumber nblocks, const uint32 *todo);
extern bool gpb_map_take(int slot, BlockNumber block);
extern void gpb_map_put(int slot, BlockNumber block);
extern void gpb_map_read(int slot, BlockNumber nblocks, uint32 *bits);

#define gpb_map_words(nblocks) (((nblocks) + 31) / 32)

/* ---- registry.c ---- */

/*
 * Serves a live mirror of that generation?  The state first: a later mirror of the slot
 * raised the generation before it became live.
 */
static inline bool
gpb_mirror_is_live(int slot, uint64 generation)
{
	GpbMirrorSlot *mirror = &gpb_shared->mirrors[slot];

	if (pg_atomic_read_u32(&mirror->state) != GPB_MIRROR_LIVE)
		return false;
	pg_read_barrier();
	return pg_atomic_read_u64(&mirror->generation) == generation;
}

extern void gpb_registry_init(void);
extern void gpb_identity_of(Relation index, GpbIdentity *identity);
extern int	gpb_registry_lookup(const GpbIdentity *identity);
extern void gpb_registry_discard(int slot);
extern bool gpb_registry_was_used(void);
extern bool gpb_registry_drop_index(Oid database, Oid index);
extern void gpb_registry_drop_database(Oid database);
extern bool gpb_registry_grow(int slot, BlockNumber nblocks);
extern int	gpb_registry_least_used(int except);
extern bool gpb_registry_free_one(int except);
extern void gpb_registry_refuse(const GpbIdentity *identity, GpbMirrorMode mode);
extern bool gpb_registry_is_refused(const GpbIdentity *identity);
extern bool gpb_may_mirror(Relation index);
extern void gpb_registry_forgive(const GpbIdentity *identity);
extern bool gpb_own_try(int slot);
extern bool gpb_own(int slot);
extern void gpb_disown(int slot);

/* ---- heartbeat.c ---- */

/* A backend's wait for the service */
typedef struct GpbServiceWait
{
	uint64		heartbeat;		/* the last one seen ... */
	double		silent_ms;		/* ... and how long there has been no other */
	instr_time	looked;			/* when that was last looked at */
} GpbServiceWait;

extern void gpb_heartbeat(void);
extern bool gpb_service_answers(void);
extern void gpb_service_wait_begin(GpbServiceWait *wait);
extern long gpb_service_wait_ms(const GpbServiceWait *wait);
extern bool gpb_service_hangs(GpbServiceWait *wait);

/* ---- request.c ---- */

extern Size gpb_requests_shmem_size(void);
extern void gpb_requests_init_shmem(void);
extern void gpb_requests_region(void **base, Size *size);
extern int	gpb_slot_count(GpbSlotClass class);
extern GpbRequestSlot *gpb_slot_at(GpbSlotClass class, int number);
extern char *gpb_slot_staging(GpbSlotClass class, int number);
extern Size gpb_slot_staging_size(GpbSlotClass class);
extern void gpb_slots_reclaim(void);
extern void gpb_slots_wake_all(void);
extern void gpb_slot_answer(GpbSlotClass class, GpbRequestSlot *slot, bool ok);
extern void gpb_slot_free(GpbSlotClass class, GpbRequestSlot *slot);
extern void gpb_wake_service(void);

/* ---- pool.c ---- */

extern Size gpb_pool_size(void);
extern Size gpb_pool_shmem_size(void);
extern void gpb_pool_init_shmem(char *memory);
extern char *gpb_pool_staging(const GpbRequestSlot *slot);
extern bool gpb_pool_take(GpbRequestSlot *slot, Size bytes);
extern void gpb_pool_give_back(GpbRequestSlot *slot);
extern void gpb_pool_status(uint32 *nunits, uint32 *nfree);

/* ---- request.c, the backend's side ---- */

/*
 * For refresh.c and batch.c: claim (waiting if told to; else NULL when none is
 * free), submit, wait for the answer, give back.
 */
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

extern GpbRequest *gpb_request_claim(GpbSlotClass class, const GpbMirrorRef *ref, bool wait);
extern void gpb_request_submit(GpbRequest *request);
extern bool gpb_request_wait(GpbRequest *request);
extern bool gpb_request_may_wait(void);
extern bool gpb_hold_ownership(int slot);
extern void gpb_drop_ownership(int slot);

/* Staging of a refresh slot: block numbers in the first page, then pages */
#define GPB_UPLOAD_PAGES \
	((int) Min(gpb_slot_staging_size(GPB_REFRESH_SLOT) / BLCKSZ - 1, \
			   BLCKSZ / sizeof(uint32)))

/* ---- inner.c (service only) ---- */

typedef struct GpbInner GpbInner;

extern GpbInner *gpb_inner_create(const GpbLayout *layout, bool dense);
extern void gpb_inner_destroy(GpbInner *inner);
extern void gpb_inner_note(GpbInner *inner, BlockNumber block, const char *page);
extern uint32 gpb_inner_image(GpbInner *inner, BlockNumber block);

typedef enum GpbInnerOutcome
{
	GPB_INNER_SAME,				/* nothing changed, or no chain: keep the old */
	GPB_INNER_NEW
} GpbInnerOutcome;

typedef struct GpbInnerChain
{
	uint32		nblocks;
	uint32	   *blocks;			/* images on the device; palloc'd */
	uint32	   *counts;
	uint32		root_leaf;
	uint64		leaves;
} GpbInnerChain;

extern GpbInnerOutcome gpb_inner_chain(GpbInner *inner, GpbInnerChain *chain);

/* ---- service.c ---- */

extern PGDLLEXPORT void gpb_service_main(Datum arg);

#endif							/* GPB_SHARED_H */
