/*-------------------------------------------------------------------------
 *
 * key_sort.c
 *	  Sort normalized keys, each with its number.
 *
 * A radix sort, a byte at a time from the lowest, that leaves out the bytes in which all
 * keys agree: a pass moves each element once, and its order does not depend on branches.  Few
 * keys are merged instead, for whom the counting would cost more.
 *
 *-------------------------------------------------------------------------
 */
#include "key_sort.h"

/* With fewer keys than this, merging is quicker */
#define GPB_RADIX_LEAST		256

#define GPB_KEY_BYTES		8

static bool
gpb_keys_ascend(const GpbNumberedKey *keys, uint32 n)
{
	uint32		i;

	for (i = 1; i < n; i++)
	{
		if (keys[i].key < keys[i - 1].key)
			return false;
	}
	return true;
}

/* Sort runs of doubling length; n is small. */
static GpbNumberedKey *
gpb_merge_keys(GpbNumberedKey *from, GpbNumberedKey *to, uint32 n)
{
	uint32		run;

	for (run = 1; run < n; run *= 2)
	{
		GpbNumberedKey *swap = from;
		uint32		first;

		for (first = 0; first < n; first += 2 * run)
		{
			uint32		middle = first + run < n ? first + run : n;
			uint32		end = first + 2 * run < n ? first + 2 * run : n;
			uint32		a = first;
			uint32		b = middle;
			uint32		i;

			for (i = first; i < end; i++)
				to[i] = b >= end || (a < middle && from[a].key <= from[b].key) ?
					from[a++] : from[b++];
		}
		from = to;
		to = swap;
	}
	return from;
}

GpbNumberedKey *
gpb_sort_keys(GpbNumberedKey *keys, GpbNumberedKey *spare, uint32 n)
{
	uint32		count[GPB_KEY_BYTES][256];
	uint32		i;
	int			byte;

	if (gpb_keys_ascend(keys, n))
		return keys;
	if (n < GPB_RADIX_LEAST)
		return gpb_merge_keys(keys, spare, n);

	memset(count, 0, sizeof(count));
	for (i = 0; i < n; i++)
	{
		for (byte = 0; byte < GPB_KEY_BYTES; byte++)
			count[byte][(keys[i].key >> (8 * byte)) & 0xFF]++;
	}
	for (byte = 0; byte < GPB_KEY_BYTES; byte++)
	{
		int			shift = 8 * byte;
		GpbNumberedKey *swap = keys;
		uint32		at = 0;

		if (count[byte][(keys[0].key >> shift) & 0xFF] == n)
			continue;
		for (i = 0; i < 256; i++)
		{
			uint32		here = count[byte][i];

			count[byte][i] = at;
			at += here;
		}
		for (i = 0; i < n; i++)
			spare[count[byte][(keys[i].key >> shift) & 0xFF]++] = keys[i];
		keys = spare;
		spare = swap;
	}
	return keys;
}
