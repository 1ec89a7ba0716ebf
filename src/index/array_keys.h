/*-------------------------------------------------------------------------
 *
 * array_keys.h
 *	  The keys that equal an element of an array.
 *
 * For "key = ANY (array)", in the index scan and in nodes of the executor's wing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ARRAY_KEYS_H
#define GPB_ARRAY_KEYS_H

#include "index/index.h"

/*
 * A set of non-NULL keys, in index order: single keys, or, where values of another type than the key's may equal several of
 * its values, disjoint closed ranges.
 */
typedef struct GpbArrayKeys
{
	bool		points;
	uint32		n;
	uint64	   *keys;			/* if points, each once; palloc'd */
	GpbKeyRange *ranges;		/* else; palloc'd */
} GpbArrayKeys;

/* Does a value of this kind equal one key at most? */
static inline bool
gpb_comparison_is_point(const GpbComparison *comparison)
{
	return comparison->width != 0;
}

/*
 * The keys that equal some element of an array, whose elements are of the type that the comparison was made for, or
 * one of the same form, such as a domain; they are points if gpb_comparison_is_point says so.  NULL elements equal none.
 */
extern void gpb_array_keys(const GpbLayout *layout, GpbComparison *comparison, Datum array,
						   GpbArrayKeys *set);

/* The set becomes what is in the other one, too; that may be points and the set ranges, or the other way round. */
extern void gpb_array_keys_intersect(GpbArrayKeys *set, const GpbArrayKeys *other);

/* The set becomes what lies within the closed range. */
extern void gpb_array_keys_clip(GpbArrayKeys *set, GpbKeyRange by);

extern void gpb_array_keys_free(GpbArrayKeys *set);

#endif							/* GPB_ARRAY_KEYS_H */
