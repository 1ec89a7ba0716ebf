/*-------------------------------------------------------------------------
 *
 * array_keys.h
 *	  The keys that equal an element of an array.
 *
 * The index scan and the nodes of src/exec use them for "key = ANY (array)".
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ARRAY_KEYS_H
#define GPB_ARRAY_KEYS_H

#include "index/index.h"

/*
 * A set of non-NULL keys in index order.  It has single keys, or, where a value may equal several
 * keys, as -0 and values of another type than the key's do, disjoint closed ranges.
 */
typedef struct GpbArrayKeys
{
	bool		points;
	uint32		n;
	GpbKey	   *keys;			/* the keys, each once, if the set is of single keys; palloc'd */
	GpbKeyRange *ranges;		/* the ranges, if it is not; palloc'd */
} GpbArrayKeys;

/* Does a value that is compared like this equal one key at most? */
static inline bool
gpb_comparison_is_point(const GpbComparison *comparison)
{
	return comparison->is_point;
}

/*
 * Find the keys that equal some element of an array.  The elements are of the type that the
 * comparison was made for, or of one with the same form, such as a domain.  The set has single keys
 * if gpb_comparison_is_point() says so.  NULL elements equal no key.
 */
extern void gpb_array_keys(const GpbLayout *layout, GpbComparison *comparison, Datum array,
						   GpbArrayKeys *set);

/*
 * Remove from "set" what is not in "other".  Either may have single keys and the other one ranges.
 */
extern void gpb_array_keys_intersect(GpbArrayKeys *set, const GpbArrayKeys *other);

/* Remove from "set" what lies outside the closed range "by". */
extern void gpb_array_keys_clip(GpbArrayKeys *set, GpbKeyRange by);

extern void gpb_array_keys_free(GpbArrayKeys *set);

#endif							/* GPB_ARRAY_KEYS_H */
