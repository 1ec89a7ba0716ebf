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

/*
 * A key of a batch and its number there, where keys have at most 8 bytes.  It has no padding, which
 * sorting would move, too.
 */
typedef struct __attribute__((packed, aligned(4))) GpbNarrowNumberedKey
{
	uint64		key;
	uint32		number;
} GpbNarrowNumberedKey;

/* A wide key of a batch and its number there */
typedef struct GpbWideNumberedKey
{
	GpbKey		key;
	uint32		number;
} GpbWideNumberedKey;

/*
 * An array of the one or the other.  Sorting moves each element several times, so narrow keys are
 * not kept as wide ones.
 */
typedef struct GpbNumberedKeys
{
	bool		wide;
	void	   *elements;
} GpbNumberedKeys;

/* The bytes of an element of an array of numbered keys */
static inline size_t
gpb_numbered_key_size(bool wide)
{
	return wide ? sizeof(GpbWideNumberedKey) : sizeof(GpbNarrowNumberedKey);
}

static inline GpbKey
gpb_numbered_key(GpbNumberedKeys keys, uint32 i)
{
	if (keys.wide)
		return ((const GpbWideNumberedKey *) keys.elements)[i].key;
	return ((const GpbNarrowNumberedKey *) keys.elements)[i].key;
}

static inline uint32
gpb_key_number(GpbNumberedKeys keys, uint32 i)
{
	if (keys.wide)
		return ((const GpbWideNumberedKey *) keys.elements)[i].number;
	return ((const GpbNarrowNumberedKey *) keys.elements)[i].number;
}

/* Set element i. */
static inline void
gpb_number_key(GpbNumberedKeys keys, uint32 i, GpbKey key, uint32 number)
{
	if (keys.wide)
	{
		((GpbWideNumberedKey *) keys.elements)[i].key = key;
		((GpbWideNumberedKey *) keys.elements)[i].number = number;
	}
	else
	{
		((GpbNarrowNumberedKey *) keys.elements)[i].key = (uint64) key;
		((GpbNarrowNumberedKey *) keys.elements)[i].number = number;
	}
}

/* The elements from i on */
static inline GpbNumberedKeys
gpb_numbered_keys_from(GpbNumberedKeys keys, uint32 i)
{
	keys.elements = (char *) keys.elements + i * gpb_numbered_key_size(keys.wide);
	return keys;
}

/*
 * Sort n numbered keys, ascending; equal keys keep their order.  spare has room for n as well, of
 * the same width.  Returns where the sorted ones are: keys or spare.
 */
extern GpbNumberedKeys gpb_sort_keys(GpbNumberedKeys keys, GpbNumberedKeys spare, uint32 n);

/*
 * Sort n keys, ascending.  spare has room for n as well.  Returns where the sorted ones are: keys
 * or spare.
 */
extern GpbKey *gpb_sort_plain_keys(GpbKey *keys, GpbKey *spare, uint32 n);
/*
 * Sort n keys of at most 8 bytes, ascending.  spare has room for n as well.  Returns where the
 * sorted ones are: keys or spare.
 */
extern uint64 *gpb_sort_narrow_keys(uint64 *keys, uint64 *spare, uint32 n);

/* Remove duplicates from n ascending keys.  Returns how many remain, at the start of the array. */
extern uint32 gpb_unique_keys(GpbKey *keys, uint32 n);

#endif							/* GPB_KEY_SORT_H */
