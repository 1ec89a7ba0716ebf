/*-------------------------------------------------------------------------
 *
 * key_sort.c
 *	  Sort normalized keys, each with its number or alone.
 *
 *-------------------------------------------------------------------------
 */
#include "key_sort.h"

/* Fewer keys than this are merged, which is quicker */
#define GPB_RADIX_LEAST		256

/* So many keys, more than a second-level cache holds, are parted by so many bits first */
#define GPB_PART_LEAST		524288
#define GPB_PART_BITS		10
#define GPB_PART_MASK		((1 << GPB_PART_BITS) - 1)

/* Turn counts of n kinds of elements into where the first of each kind goes. */
static void
counts_to_starts(uint32 *count, int n)
{
	uint32		at = 0;

	for (int i = 0; i < n; i++)
	{
		uint32		here = count[i];

		count[i] = at;
		at += here;
	}
}

#define GPB_SORT sort_narrow_numbered
#define GPB_SORT_SCOPE static
#define GPB_SORT_KEY uint64
#define GPB_ELEMENT GpbNarrowNumberedKey
#define GPB_ELEMENT_KEY(e) ((e).key)
#include "key_sort_template.h"

#define GPB_SORT sort_wide_numbered
#define GPB_SORT_SCOPE static
#define GPB_SORT_KEY GpbKey
#define GPB_ELEMENT GpbWideNumberedKey
#define GPB_ELEMENT_KEY(e) ((e).key)
#include "key_sort_template.h"

#define GPB_SORT gpb_sort_narrow_keys
#define GPB_SORT_SCOPE
#define GPB_SORT_KEY uint64
#define GPB_ELEMENT uint64
#define GPB_ELEMENT_KEY(e) (e)
#include "key_sort_template.h"

#define GPB_SORT gpb_sort_plain_keys
#define GPB_SORT_SCOPE
#define GPB_SORT_KEY GpbKey
#define GPB_ELEMENT GpbKey
#define GPB_ELEMENT_KEY(e) (e)
#include "key_sort_template.h"

GpbNumberedKeys
gpb_sort_keys(GpbNumberedKeys keys, GpbNumberedKeys spare, uint32 n)
{
	if (keys.wide)
		keys.elements = sort_wide_numbered(keys.elements, spare.elements, n);
	else
		keys.elements = sort_narrow_numbered(keys.elements, spare.elements, n);
	return keys;
}

uint32
gpb_unique_keys(GpbKey *keys, uint32 n)
{
	uint32		kept = 0;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		keys[kept] = keys[i];
		kept += i + 1 == n || keys[i] != keys[i + 1];
	}
	return kept;
}
