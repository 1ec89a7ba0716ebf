/*-------------------------------------------------------------------------
 *
 * dictionary_shared.c
 *	  Copies of dictionaries in shared memory, for all backends of the server.
 *
 * A copy is read once, page by page, by whoever needs it first, or by several who share the work,
 * and goes on as values come (dictionary_page.c).  It is of one file of one index; who finds it
 * asks for the same identity as who looks for a mirror (rule M1).
 *
 * Memory is fixed at server start and handed out in pieces, which a copy keeps to its end.  A copy
 * ends when nobody has it pinned, and its file has gone or its memory is wanted.  A pin is a
 * backend's, of which each copy has one at most, and it goes with the backend; of a copy whose file
 * has gone it is taken away while the backend is in no transaction.  Where a copy finds no more
 * memory it stays as it is: whoever needs more reads a copy of his own.
 *
 * The lock of places and pieces is the last one: it may be taken with a page's and a copy's, and
 * nothing is taken after it.  A copy's lock may be taken with a page's (rule M9).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "index/dictionary.h"

#define GPB_DICTIONARY_TRANCHE	"gpubtree dictionaries"
/* Shared copies at the same time; a backend's pins are bits of a word */
#define GPB_SHARED_PLACES		64
#define GPB_NO_PIECE			PG_UINT32_MAX

/* gpubtree.dictionary_memory, in kB */
static int	dictionary_memory = 64 * 1024;

#ifdef GPB_HOLD_POINTS
int			gpb_shared_pieces = INT_MAX;
#else
#define gpb_shared_pieces INT_MAX
#endif

/* Of which file a copy is */
typedef struct GpbSharedFile
{
	RelFileNode file;
	Oid			index;
	TransactionId database_xmin;	/* of the database's row: its OID could be another's later */
} GpbSharedFile;

/* A place for a shared copy.  All but the copy is under the lock of places. */
typedef struct GpbSharedPlace
{
	bool		taken;
	bool		dropped;		/* nobody finds it any more; it is free when the last pin goes */
	uint32		exhausted;		/* pieces that it had when there were no more; 0: not yet */
	uint32		pins;
	uint32		npieces;
	uint32		piece;			/* the first of a list */
	uint64		used;			/* when it was pinned last: a count of pins */
	GpbSharedFile file;
	GpbDictionaryCopy copy;
} GpbSharedPlace;

typedef struct GpbSharedDictionaries
{
	LWLock	   *lock;			/* of places and pieces */
	uint64		clock;
	uint32		npieces;
	uint32		ntouched;		/* pieces behind these were never used */
	uint32		nfree;			/* pieces of the list and those that were never used */
	uint32		free;			/* the first of a list */
	GpbSharedPlace place[GPB_SHARED_PLACES];
	uint32		next[FLEXIBLE_ARRAY_MEMBER];	/* of a piece, in its list */
} GpbSharedDictionaries;

StaticAssertDecl(GPB_SHARED_PLACES <= 64, "a backend's pins must fit a word");

static GpbSharedDictionaries *shared = NULL;
/*
 * Places that each backend has pinned, by its number.  They are changed under the lock of places,
 * held exclusively.
 */
static pg_atomic_uint64 *pins_of = NULL;
static char *pieces = NULL;

/* ---- shared memory ---- */

static uint32
number_of_pieces(void)
{
	return (uint32) ((Size) dictionary_memory * 1024 / GPB_COPY_PIECE);
}

/* Where the words of backends' pins begin */
static Size
pins_offset(void)
{
	return MAXALIGN(offsetof(GpbSharedDictionaries, next) + number_of_pieces() * sizeof(uint32));
}

static Size
control_size(void)
{
	return TYPEALIGN(PG_CACHE_LINE_SIZE, pins_offset() + MaxBackends * sizeof(pg_atomic_uint64));
}

void
gpb_dictionary_define_settings(void)
{
	DefineCustomIntVariable("gpubtree.dictionary_memory",
							"Shared memory for the texts of INCLUDE columns.",
							"Sessions that find no room have copies of their own; 0 is none.",
							&dictionary_memory, 64 * 1024, 0, 16 * 1024 * 1024, PGC_POSTMASTER,
							GUC_UNIT_KB, NULL, NULL, NULL);
}

void
gpb_dictionary_request_shmem(void)
{
	RequestAddinShmemSpace(add_size(control_size(), number_of_pieces() * GPB_COPY_PIECE));
	RequestNamedLWLockTranche(GPB_DICTIONARY_TRANCHE, 1 + GPB_SHARED_PLACES);
}

/* Pieces are not touched before they are needed, so that they take no memory until then. */
void
gpb_dictionary_init_shmem(void)
{
	bool		found;
	char	   *memory;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	memory = ShmemInitStruct("gpubtree dictionaries",
							 control_size() + number_of_pieces() * GPB_COPY_PIECE, &found);
	shared = (GpbSharedDictionaries *) memory;
	pins_of = (pg_atomic_uint64 *) (memory + pins_offset());
	pieces = memory + control_size();
	if (!found)
	{
		memset(shared, 0, control_size());
		for (int i = 0; i < MaxBackends; i++)
			pg_atomic_init_u64(&pins_of[i], 0);
		shared->lock = &GetNamedLWLockTranche(GPB_DICTIONARY_TRANCHE)->lock;
		shared->npieces = shared->nfree = number_of_pieces();
		shared->free = GPB_NO_PIECE;
	}
	LWLockRelease(AddinShmemInitLock);
}

/* ---- places; their lock is held exclusively ---- */

/* Free a place that nobody has pinned. */
static void
free_place(GpbSharedPlace *place)
{
	Assert(place->taken && place->pins == 0);
	while (place->npieces > 0)
	{
		uint32		piece = place->piece;

		place->piece = shared->next[piece];
		shared->next[piece] = shared->free;
		shared->free = piece;
		shared->nfree++;
		place->npieces--;
	}
	place->taken = false;
}

/* The bit of a place in a backend's word */
static inline uint64
bit_of(const GpbSharedPlace *place)
{
	return (uint64) 1 << (place - shared->place);
}

/*
 * Take away the pins of backends that are in no transaction, and free the place if it has no other;
 * it was dropped.
 *
 * A backend sets its transaction's number, passes a barrier, and looks at its pin before it uses
 * the copy; here the pin is taken away, and after a barrier the number looked at.  So either the
 * backend finds no pin, and waits for our lock to see whether that is so, or we find its
 * transaction, and give the pin back.  The number goes when the transaction ends, after its last
 * use of a value.
 */
static void
free_dropped(GpbSharedPlace *place)
{
	uint64		bit = bit_of(place);

	for (int i = 0; i < MaxBackends && place->pins > 0; i++)
	{
		volatile PGPROC *proc = &ProcGlobal->allProcs[i];

		if ((pg_atomic_read_u64(&pins_of[i]) & bit) == 0)
			continue;
		pg_atomic_fetch_and_u64(&pins_of[i], ~bit);	/* a barrier */
		if (LocalTransactionIdIsValid(GPB_LOCAL_TRANSACTION(proc)))
			pg_atomic_fetch_or_u64(&pins_of[i], bit);
		else
			place->pins--;
	}
	if (place->pins == 0)
		free_place(place);
}

/* Let nobody find a place any more. */
static void
drop_place(GpbSharedPlace *place)
{
	place->dropped = true;
	free_dropped(place);
}

/*
 * Free a place that was dropped, or that which was pinned least lately of those that nobody has
 * pinned; false: there is none.
 */
static bool
evict_place(void)
{
	GpbSharedPlace *oldest = NULL;

	for (int i = 0; i < GPB_SHARED_PLACES; i++)
	{
		GpbSharedPlace *place = &shared->place[i];

		if (!place->taken || !place->dropped)
			continue;
		free_dropped(place);
		if (!place->taken)
			return true;
	}

	for (int i = 0; i < GPB_SHARED_PLACES; i++)
	{
		GpbSharedPlace *place = &shared->place[i];

		if (place->taken && place->pins == 0 && (oldest == NULL || place->used < oldest->used))
			oldest = place;
	}
	if (oldest != NULL)
		free_place(oldest);
	return oldest != NULL;
}

static GpbSharedPlace *
find_place(const GpbSharedFile *file)
{
	for (int i = 0; i < GPB_SHARED_PLACES; i++)
	{
		GpbSharedPlace *place = &shared->place[i];

		if (place->taken && !place->dropped && place->file.index == file->index &&
			RelFileNodeEquals(place->file.file, file->file) &&
			place->file.database_xmin == file->database_xmin)
			return place;
	}
	return NULL;
}

/* Take a place that is free, or is made so; NULL if there is none. */
static GpbSharedPlace *
take_place(const GpbSharedFile *file, uint32 columns, uint32 codes)
{
	do
	{
		for (int i = 0; i < GPB_SHARED_PLACES; i++)
		{
			GpbSharedPlace *place = &shared->place[i];

			if (place->taken)
				continue;
			memset(place, 0, offsetof(GpbSharedPlace, copy));
			place->taken = true;
			place->piece = GPB_NO_PIECE;
			place->file = *file;
			gpb_copy_begin(&place->copy,
						   &GetNamedLWLockTranche(GPB_DICTIONARY_TRANCHE)[1 + i].lock, i, NULL,
						   columns);
			place->copy.expected = codes;
			place->copy.serial = ++shared->clock;
			return place;
		}
	} while (evict_place());
	return NULL;
}

/* ---- pins ---- */

/* Raises no error after the pin. */
GpbDictionaryCopy *
gpb_shared_pin(Relation index, uint32 columns, uint32 codes)
{
	HeapTuple	tuple;
	GpbSharedFile file = {0};
	GpbSharedPlace *place;

	if (shared->npieces == 0 || MyProcNumber >= MaxBackends)
		return NULL;
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
	file.file = index->rd_node;
	file.index = RelationGetRelid(index);
	file.database_xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	ReleaseSysCache(tuple);

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	place = find_place(&file);
	/* What needed more memory than there was is tried again once there is more. */
	if (place != NULL && place->exhausted > 0 && place->pins == 0 &&
		place->npieces + shared->nfree > place->exhausted)
	{
		free_place(place);
		place = NULL;
	}
	if (place == NULL)
		place = take_place(&file, columns, codes);
	if (place != NULL && place->exhausted > 0)
		place = NULL;
	if (place != NULL)
	{
		Assert((pg_atomic_read_u64(&pins_of[MyProcNumber]) & bit_of(place)) == 0);
		pg_atomic_fetch_or_u64(&pins_of[MyProcNumber], bit_of(place));
		place->pins++;
		place->used = ++shared->clock;
	}
	LWLockRelease(shared->lock);
	return place == NULL ? NULL : &place->copy;
}

/*
 * Is a copy pinned by us?  Without the lock of places a pin that is seen may not be one, and a copy
 * that is pinned keeps its number.
 */
static inline bool
has_pin(const GpbSharedPlace *place, uint64 serial)
{
	return (pg_atomic_read_u64(&pins_of[MyProcNumber]) & bit_of(place)) != 0 &&
		place->copy.serial == serial;
}

bool
gpb_shared_is_pinned(int number, uint64 serial)
{
	const GpbSharedPlace *place = &shared->place[number];
	bool		pinned;

	/* Behind the number of our transaction: see free_dropped(). */
	pg_memory_barrier();
	if (likely(has_pin(place, serial)))
		return true;
	/* Whoever takes it away may be about to give it back. */
	LWLockAcquire(shared->lock, LW_SHARED);
	pinned = has_pin(place, serial);
	LWLockRelease(shared->lock);
	return pinned;
}

void
gpb_shared_unpin(int number, uint64 serial)
{
	GpbSharedPlace *place = &shared->place[number];

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	if (has_pin(place, serial))
	{
		Assert(place->taken && place->pins > 0);
		pg_atomic_fetch_and_u64(&pins_of[MyProcNumber], ~bit_of(place));
		if (--place->pins == 0 && place->dropped)
			free_place(place);
	}
	LWLockRelease(shared->lock);
}

void
gpb_shared_exhausted(int number)
{
	GpbSharedPlace *place = &shared->place[number];

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	place->exhausted = place->npieces + 1;
	LWLockRelease(shared->lock);
}

void *
gpb_shared_piece(int number)
{
	GpbSharedPlace *place = &shared->place[number];
	uint32		piece;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	while (shared->nfree == 0 && evict_place())
		;
	if (shared->nfree == 0 || place->npieces >= gpb_shared_pieces)
	{
		LWLockRelease(shared->lock);
		return NULL;
	}
	if (shared->free != GPB_NO_PIECE)
	{
		piece = shared->free;
		shared->free = shared->next[piece];
	}
	else
		piece = shared->ntouched++;
	shared->nfree--;
	shared->next[piece] = place->piece;
	place->piece = piece;
	place->npieces++;
	LWLockRelease(shared->lock);
	return pieces + (Size) piece * GPB_COPY_PIECE;
}

/* ---- files that go ---- */

bool
gpb_dictionary_was_shared(void)
{
	return shared->clock > 0;
}

void
gpb_dictionary_drop_file(const RelFileNode *file)
{
	if (!gpb_dictionary_was_shared())
		return;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < GPB_SHARED_PLACES; i++)
	{
		GpbSharedPlace *place = &shared->place[i];

		if (place->taken && !place->dropped && RelFileNodeEquals(place->file.file, *file))
			drop_place(place);
	}
	LWLockRelease(shared->lock);
}

void
gpb_dictionary_drop_database(Oid database)
{
	if (!gpb_dictionary_was_shared())
		return;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < GPB_SHARED_PLACES; i++)
	{
		GpbSharedPlace *place = &shared->place[i];

		if (place->taken && !place->dropped && place->file.file.dbNode == database)
			drop_place(place);
	}
	LWLockRelease(shared->lock);
}
