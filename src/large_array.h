/*-------------------------------------------------------------------------
 *
 * large_array.h
 *	  Memory for arrays of a batch, which has up to millions of keys, rows and entries.
 *
 * A fresh array of many megabytes is filled once and freed.  In pages of 4 kB the kernel takes
 * longer to bring its memory, page by page, than keys take to be encoded and sorted: so it is asked
 * for large pages, where it has them and leaves it to programs to ask (transparent_hugepage =
 * madvise, which most distributions set).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LARGE_ARRAY_H
#define GPB_LARGE_ARRAY_H

#include "postgres.h"

#include <sys/mman.h>

#include "utils/memutils.h"

/* A large page of x86-64 and, with base pages of 4 kB, of arm64 */
#define GPB_LARGE_PAGE		((Size) 2 * 1024 * 1024)

/*
 * Ask for large pages for those of an array that lie within it as a whole.  Whether there are any
 * is the kernel's affair.
 */
static inline void
gpb_want_large_pages(void *array, Size size)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	from = TYPEALIGN(GPB_LARGE_PAGE, (uintptr_t) array);
	uintptr_t	to = TYPEALIGN_DOWN(GPB_LARGE_PAGE, (uintptr_t) array + size);

	if (from < to)
		(void) madvise((void *) from, to - from, MADV_HUGEPAGE);
#endif
}

/* Allocate an array of any size in a memory context. */
static inline void *
gpb_alloc_array(MemoryContext context, Size size)
{
	void	   *array = MemoryContextAllocHuge(context, size);

	if (size >= 2 * GPB_LARGE_PAGE)
		gpb_want_large_pages(array, size);
	return array;
}

/* Make an array larger. */
static inline void *
gpb_realloc_array(void *array, Size size)
{
	array = repalloc_huge(array, size);
	if (size >= 2 * GPB_LARGE_PAGE)
		gpb_want_large_pages(array, size);
	return array;
}

#endif							/* GPB_LARGE_ARRAY_H */
