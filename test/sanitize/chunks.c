/*-------------------------------------------------------------------------
 *
 * chunks.c
 *	  Gives each palloc'd chunk of a server that runs under AddressSanitizer an
 *	  allocation of its own.
 *
 * AddressSanitizer knows malloc's blocks.  An AllocSet cuts many chunks from one block: reading
 * past a chunk's end, or a chunk that was freed, goes unnoticed.  Here the functions that the
 * server calls for chunks of an AllocSet are replaced, for core's chunks as for gpubtree's.
 *
 * Only the suite "sanitize" of test/all links this file into gpubtree.so.  It depends on the memory
 * contexts of PostgreSQL 15, where what stands before a chunk names its context, or of 16 and later,
 * where it has the number of the kind of context, of which we take one that is not used.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fmgr.h"
#include "nodes/memnodes.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#define HAS_KINDS	(PG_VERSION_NUM >= 160000)
/* Where there is no memory a context raises the error itself; before, it returned NULL. */
#define RAISES		(PG_VERSION_NUM >= 170000)

#if HAS_KINDS
#include "utils/memutils_internal.h"
#include "varatt.h"
#endif

/*
 * What stands before a chunk, last what mcxt.c looks for there: the context on 15, and later the
 * kind of context, in the lowest bits of the mark.  On 15 the server's own chunks have their size
 * where ours have the mark; no size is that large.
 */
#if PG_VERSION_NUM >= 170000
#define CHUNK_KIND	MCTX_8_UNUSED_ID
#elif HAS_KINDS
#define CHUNK_KIND	MCTX_UNUSED4_ID
#else
#define CHUNK_KIND	0
#endif
#define CHUNK_MARK	(UINT64CONST(0xC0FFEE00C0FFEE00) + CHUNK_KIND)

typedef struct Chunk
{
	struct Chunk *previous;
	struct Chunk *next;
	Size		size;
	uint64		unused;			/* a chunk is aligned as malloc's blocks are */
#if HAS_KINDS
	MemoryContext context;
	uint64		mark;
#else
	uint64		mark;
	MemoryContext context;
#endif
} Chunk;

/*
 * The size of MemoryContextMethods in the server, which is built without the last member, that our
 * assertions bring along
 */
#ifdef MEMORY_CONTEXT_CHECKING
#define METHODS_SIZE	offsetof(MemoryContextMethods, check)
#else
#define METHODS_SIZE	sizeof(MemoryContextMethods)
#endif

#define CHUNK_OF(pointer)	((Chunk *) (pointer) - 1)
#define POINTER_OF(chunk)	((void *) ((chunk) + 1))

/* The chunks of one context, found by the context's address */
typedef struct Owner
{
	struct Owner *next;
	MemoryContext context;
	Chunk	   *chunks;
} Owner;

#define OWNERS	16384

static Owner *owners[OWNERS];
static MemoryContextMethods original;

/* Where the pointer to that context's owner is, or would be */
static Owner **
owner_place(MemoryContext context)
{
	Owner	  **place = &owners[((uintptr_t) context >> 6) % OWNERS];

	while (*place != NULL && (*place)->context != context)
		place = &(*place)->next;
	return place;
}

static void
link_chunk(Chunk *chunk)
{
	Owner	  **place = owner_place(chunk->context);
	Owner	   *owner = *place;

	if (owner == NULL)
	{
		owner = calloc(1, sizeof(Owner));
		if (owner == NULL)
			abort();
		owner->context = chunk->context;
		*place = owner;
	}
	chunk->previous = NULL;
	chunk->next = owner->chunks;
	if (chunk->next != NULL)
		chunk->next->previous = chunk;
	owner->chunks = chunk;
	chunk->context->mem_allocated += sizeof(Chunk) + chunk->size;
}

static void
unlink_chunk(Chunk *chunk)
{
	if (chunk->next != NULL)
		chunk->next->previous = chunk->previous;
	if (chunk->previous != NULL)
		chunk->previous->next = chunk->next;
	else
		(*owner_place(chunk->context))->chunks = chunk->next;
	chunk->context->mem_allocated -= sizeof(Chunk) + chunk->size;
}

/* Allocate a chunk.  Returns NULL if there is no memory. */
static void *
allocate(MemoryContext context, Size size)
{
	Chunk	   *chunk = malloc(sizeof(Chunk) + size);

	if (chunk == NULL)
		return NULL;
	chunk->size = size;
	chunk->mark = CHUNK_MARK;
	chunk->context = context;
	link_chunk(chunk);
	return POINTER_OF(chunk);
}

static void
free_chunk(Chunk *chunk)
{
	unlink_chunk(chunk);
	free(chunk);
}

/* Give a chunk another size.  It moves each time: nothing may rely on its staying. */
static void *
move_chunk(Chunk *chunk, Size size)
{
	void	   *moved = allocate(chunk->context, size);

	if (moved != NULL)
	{
		memcpy(moved, POINTER_OF(chunk), Min(size, chunk->size));
		free_chunk(chunk);
	}
	return moved;
}

/* What the context says that a chunk takes; palloc_aligned() counts on a header of 8 bytes. */
static Size
space_of(const Chunk *chunk)
{
	return sizeof(uint64) + chunk->size;
}

#if RAISES

static void *
separate_alloc(MemoryContext context, Size size, int flags)
{
	void	   *pointer;

	MemoryContextCheckSize(context, size, flags);
	pointer = allocate(context, size);
	return pointer != NULL ? pointer : MemoryContextAllocationFailure(context, size, flags);
}

static void *
separate_realloc(void *pointer, Size size, int flags)
{
	MemoryContext context = CHUNK_OF(pointer)->context;
	void	   *moved;

	MemoryContextCheckSize(context, size, flags);
	moved = move_chunk(CHUNK_OF(pointer), size);
	return moved != NULL ? moved : MemoryContextAllocationFailure(context, size, flags);
}

#else

static void *
separate_alloc(MemoryContext context, Size size)
{
	return allocate(context, size);
}

#endif

#if HAS_KINDS

#if !RAISES
static void *
separate_realloc(void *pointer, Size size)
{
	return move_chunk(CHUNK_OF(pointer), size);
}
#endif

static void
separate_free(void *pointer)
{
	free_chunk(CHUNK_OF(pointer));
}

static MemoryContext
separate_context(void *pointer)
{
	return CHUNK_OF(pointer)->context;
}

static Size
separate_chunk_space(void *pointer)
{
	return space_of(CHUNK_OF(pointer));
}

#else

static void
separate_free(MemoryContext context, void *pointer)
{
	if (CHUNK_OF(pointer)->mark != CHUNK_MARK)
		original.free_p(context, pointer);
	else
		free_chunk(CHUNK_OF(pointer));
}

static void *
separate_realloc(MemoryContext context, void *pointer, Size size)
{
	if (CHUNK_OF(pointer)->mark != CHUNK_MARK)
		return original.realloc(context, pointer, size);
	return move_chunk(CHUNK_OF(pointer), size);
}

static Size
separate_chunk_space(MemoryContext context, void *pointer)
{
	if (CHUNK_OF(pointer)->mark != CHUNK_MARK)
		return original.get_chunk_space(context, pointer);
	return space_of(CHUNK_OF(pointer));
}

#endif

static void
free_all(MemoryContext context)
{
	Owner	  **place = owner_place(context);
	Owner	   *owner = *place;

	if (owner == NULL)
		return;
	while (owner->chunks != NULL)
		free_chunk(owner->chunks);
	*place = owner->next;
	free(owner);
}

static void
separate_reset(MemoryContext context)
{
	free_all(context);
	original.reset(context);
}

static void
separate_delete(MemoryContext context)
{
	free_all(context);
	original.delete_context(context);
}

static void
separate_stats(MemoryContext context, MemoryStatsPrintFunc print, void *passthru,
			   MemoryContextCounters *totals, bool print_to_stderr)
{
	Owner	   *owner = *owner_place(context);
	Chunk	   *chunk;

	original.stats(context, print, passthru, totals, print_to_stderr);
	for (chunk = owner != NULL && totals != NULL ? owner->chunks : NULL; chunk != NULL;
		 chunk = chunk->next)
		totals->totalspace += sizeof(Chunk) + chunk->size;
}

/* When the postmaster loads the library: replace the functions of all AllocSets. */
__attribute__((constructor))
static void
separate_chunks(void)
{
	/* the server declares the table constant, for all contexts to share */
	MemoryContextMethods *methods = (MemoryContextMethods *) TopMemoryContext->methods;
	uintptr_t	page = sysconf(_SC_PAGESIZE);
	uintptr_t	begins = (uintptr_t) methods / page * page;
	uintptr_t	ends;

#if HAS_KINDS
	/* one table has the functions of all kinds, and palloc'd chunks of an AllocSet are of another one */
	MemoryContextMethods *ours = (MemoryContextMethods *)
		((char *) methods + (CHUNK_KIND - MCTX_ASET_ID) * METHODS_SIZE);

	StaticAssertStmt(offsetof(Chunk, mark) + sizeof(uint64) == sizeof(Chunk),
					 "the kind must stand right before the chunk");
	ends = (uintptr_t) (ours + 1);
#else
	MemoryContextMethods *ours = methods;

	StaticAssertStmt(offsetof(Chunk, context) + sizeof(MemoryContext) == sizeof(Chunk),
					 "the context must stand right before the chunk");
	ends = (uintptr_t) (methods + 1);
#endif
	if (mprotect((void *) begins, ends - begins, PROT_READ | PROT_WRITE) != 0)
		abort();
	original = *methods;
	methods->alloc = separate_alloc;
	methods->reset = separate_reset;
	methods->delete_context = separate_delete;
	methods->stats = separate_stats;
	ours->free_p = separate_free;
	ours->realloc = separate_realloc;
	ours->get_chunk_space = separate_chunk_space;
#if HAS_KINDS
	ours->get_chunk_context = separate_context;
#endif
}

/*
 * gpubtree_test_sanitizers(defect text): do what the sanitizers must catch, so that a
 * suite that finds nothing is known to look.
 */
PG_FUNCTION_INFO_V1(gpubtree_test_sanitizers);
Datum
gpubtree_test_sanitizers(PG_FUNCTION_ARGS)
{
	const char *defect = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *small = palloc(13);
	char	   *after = palloc(13);
	volatile char *ours = small;
	volatile int bits = 40;

	memset(small, 1, 13);
	memset(after, 1, 13);
	if (strcmp(defect, "read past a chunk") == 0)
		PG_RETURN_INT32(ours[13]);
	if (strcmp(defect, "write past a chunk") == 0)
		ours[13] = 1;
	if (strcmp(defect, "read past a core chunk") == 0)
	{
		text	   *theirs = PG_GETARG_TEXT_P(0);

		ours = (char *) theirs;
		PG_RETURN_INT32(ours[VARSIZE(theirs)]);
	}
	if (strcmp(defect, "read a freed chunk") == 0)
	{
		pfree(small);
		PG_RETURN_INT32(ours[0]);
	}
	if (strcmp(defect, "shift by too much") == 0)
		PG_RETURN_INT32(1 << bits);
	if (strcmp(defect, "assertion") == 0)
		Assert(bits == 41);
	PG_RETURN_INT32(0);
}
