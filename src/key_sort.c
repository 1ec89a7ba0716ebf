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

#define GPB_KEY_BYTES		((int) sizeof(GpbKey))

#define GPB_SORT gpb_sort_keys
#define GPB_ELEMENT GpbNumberedKey
#define GPB_ELEMENT_KEY(e) ((e).key)
#include "key_sort_template.h"

#define GPB_SORT gpb_sort_plain_keys
#define GPB_ELEMENT GpbKey
#define GPB_ELEMENT_KEY(e) (e)
#include "key_sort_template.h"

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
