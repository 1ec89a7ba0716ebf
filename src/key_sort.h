/*-------------------------------------------------------------------------
 *
 * key_sort.h
 *	  Sort normalized keys, each with its number or alone.
 *
 * Plain C, free of PostgreSQL headers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEY_SORT_H
#define GPB_KEY_SORT_H

#include "layout.h"

/* A key of a batch and its number there */
typedef struct GpbNumberedKey
{
	GpbKey		key;
	uint32		number;
} GpbNumberedKey;

/*
 * Sort n numbered keys, ascending; equal keys keep their order.  spare has room for n as well.
 * Returns where the sorted ones are: keys or spare.
 */
extern GpbNumberedKey *gpb_sort_keys(GpbNumberedKey *keys, GpbNumberedKey *spare, uint32 n);

/*
 * Sort n keys, ascending.  spare has room for n as well.  Returns where the sorted ones are: keys
 * or spare.
 */
extern GpbKey *gpb_sort_plain_keys(GpbKey *keys, GpbKey *spare, uint32 n);

/* Remove duplicates from n ascending keys.  Returns how many remain, at the start of the array. */
extern uint32 gpb_unique_keys(GpbKey *keys, uint32 n);

#endif							/* GPB_KEY_SORT_H */
