/*-------------------------------------------------------------------------
 *
 * root_copy.c
 *	  Copies of roots, which this process keeps for its look-ups.
 *
 * A copy belongs to one part of a relation cache entry, by a number that no other one gets.  When
 * the entry is made anew, because the index may have another file, so is its part, which has no
 * copy then.  The copies themselves lie in a few places, so that they take little memory however
 * many indexes the process looks at; two indexes with the same place take it from each other.
 *
 *-------------------------------------------------------------------------
 */
#include "index/root_copy.h"

#include "storage/bufmgr.h"
#include "utils/memutils.h"

#define GPB_ROOT_COPIES			16	/* a power of two */

/*
 * Look-ups by the root itself before it is copied: a copy takes as long as a fraction of one of
 * them, and a session that looks up few keys makes none.
 */
#define GPB_ROOT_COPY_AFTER		16

/* Allocated when first needed */
static GpbRootCopy *copies[GPB_ROOT_COPIES];

static inline GpbRootCopy **
place_of(const GpbRelCache *cache)
{
	return &copies[cache->number % GPB_ROOT_COPIES];
}

const GpbRootCopy *
gpb_root_copy(const GpbRelCache *cache)
{
	const GpbRootCopy *copy = *place_of(cache);

	return copy != NULL && copy->owner == cache->number ? copy : NULL;
}

/* Copy the root, unless there is no memory for it. */
static void
copy_root(GpbRelCache *cache, Buffer root)
{
	GpbRootCopy **place = place_of(cache);

	if (*place == NULL)
		*place = MemoryContextAllocExtended(TopMemoryContext, sizeof(GpbRootCopy),
											MCXT_ALLOC_NO_OOM);
	if (*place == NULL)
		return;
	(*place)->owner = cache->number;
	(*place)->block = BufferGetBlockNumber(root);
	memcpy((*place)->page.data, BufferGetPage(root), BLCKSZ);
}

void
gpb_root_copy_consider(GpbRelCache *cache, Buffer root)
{
	const GpbPageSpecial *special = gpb_special(BufferGetPage(root));

	if (likely(++cache->root_reads < GPB_ROOT_COPY_AFTER))
		return;
	cache->root_reads = 0;
	if (special->level > 0 && special->right == GPB_NO_BLOCK)
		copy_root(cache, root);
}

void
gpb_root_copy_drop(GpbRelCache *cache)
{
	GpbRootCopy *copy = *place_of(cache);

	if (copy != NULL && copy->owner == cache->number)
		copy->owner = 0;
	cache->root_reads = 0;
}
