/*-------------------------------------------------------------------------
 *
 * search_arrays.c
 *	  Where the keys and results of a search lie in staging: backend and service agree here.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/mirror.h"

/* Each array of a search begins at a multiple of this: whole cache lines for the device */
#define GPB_ARRAY_ALIGN		128

/* Put an array of n elements behind the used bytes of staging. */
static char *
add_array(char *staging, Size *used, uint32 n, Size width)
{
	char	   *array = staging + *used;

	*used = TYPEALIGN(GPB_ARRAY_ALIGN, *used + n * width);
	return array;
}

Size
gpb_search_arrange(const GpbRequestSearch *search, int key_width, char *staging,
				   GpbSearchPiece *arrays)
{
	Size		used = 0;

	arrays->n = search->n;
	arrays->keys = add_array(staging, &used, search->n, key_width);
	arrays->leaf = (uint32 *) add_array(staging, &used, search->n, sizeof(uint32));
	arrays->position = NULL;
	arrays->permutation = NULL;
	if (search->positions)
		arrays->position = (uint16 *) add_array(staging, &used, search->n, sizeof(uint16));
	if (search->order != GPB_ORDER_INPUT)
		arrays->permutation = (uint32 *) add_array(staging, &used, search->n, sizeof(uint32));
	return used;
}

uint32
gpb_search_capacity(const GpbRequestSearch *search, int key_width, Size bytes)
{
	Size		width = key_width + sizeof(uint32) +
	(search->positions ? sizeof(uint16) : 0) +
	(search->order != GPB_ORDER_INPUT ? sizeof(uint32) : 0);
	Size		most = search->order != GPB_ORDER_INPUT ? GPB_SEARCH_CHUNK : PG_INT32_MAX;

	bytes -= Min(bytes, 4 * GPB_ARRAY_ALIGN);
	return (uint32) Min(bytes / width, most);
}
