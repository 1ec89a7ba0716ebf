/*-------------------------------------------------------------------------
 *
 * aggregate.h
 *	  The running state of aggregates, and how one value is added to it.
 *
 * Plain C for both compilers, like layout.h: the CPU engine, the host device and
 * the CUDA kernels accumulate with the same functions.  Column 0 is the key,
 * column c > 0 is INCLUDE column c - 1.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_H
#define GPB_AGGREGATE_H

#include "layout.h"
#include "program/float_sum.h"

#define GPB_MAX_COLUMNS		(GPB_MAX_INCLUDE + 1)

/*
 * The running state of one column.  min and max compare as ordered integers: those of an integer
 * column as they are, those of a float8 column as gpb_float_order() maps them.  Both are
 * meaningless while count is 0.
 */
typedef struct GpbColumnState
{
	int64		count;			/* non-NULL values seen */
	uint64		sum_low;		/* low and high word of a 128-bit sum in two's complement */
	int64		sum_high;
	int64		min;
	int64		max;
} GpbColumnState;

/*
 * Map the bits of a float8 to an integer whose order is PostgreSQL's order of float8: -Infinity
 * first, all NaNs equal and last.  -0 and 0 are equal there, so both map to 0.
 */
GPB_FN int64
gpb_float_order(int64 bits)
{
	uint64		magnitude = (uint64) bits & ~((uint64) 1 << 63);

	if (magnitude > ((uint64) 0x7FF << 52))
		return (int64) 0x7FFFFFFFFFFFFFFF;
	return bits < 0 ? -(int64) magnitude : (int64) magnitude;
}

/* Return the bits of the float8 that gpb_float_order() mapped to "order". */
GPB_FN int64
gpb_float_unorder(int64 order)
{
	if (order == (int64) 0x7FFFFFFFFFFFFFFF)
		return (int64) ((uint64) 0x7FF8 << 48);
	return order < 0 ? (int64) ((uint64) (-order) | ((uint64) 1 << 63)) : order;
}

/* Set the state to that of no values. */
GPB_FN void
gpb_column_state_init(GpbColumnState *state)
{
	state->count = 0;
	state->sum_low = 0;
	state->sum_high = 0;
	state->min = (int64) 0x7FFFFFFFFFFFFFFF;
	state->max = -(int64) 0x7FFFFFFFFFFFFFFF - 1;
}

/* Add n values, none of them NULL, which have this sum of 128 bits and these bounds. */
GPB_FN void
gpb_column_state_add_many(GpbColumnState *state, int64 n, uint64 low, int64 high, int64 min,
						  int64 max)
{
	uint64		sum = state->sum_low + low;

	state->sum_high += high + (sum < low);
	state->sum_low = sum;
	state->count += n;
	if (min < state->min)
		state->min = min;
	if (max > state->max)
		state->max = max;
}

/* Add one non-NULL value: an integer, or a float8 as gpb_float_order() mapped it. */
GPB_FN void
gpb_column_state_add(GpbColumnState *state, int64 value)
{
	gpb_column_state_add_many(state, 1, (uint64) value, value >> 63, value, value);
}

/* Add all that "from" has seen to "into". */
GPB_FN void
gpb_column_state_merge(GpbColumnState *into, const GpbColumnState *from)
{
	gpb_column_state_add_many(into, from->count, from->sum_low, from->sum_high, from->min,
							  from->max);
}

/*
 * Visibility bits lie as in PostgreSQL's visibility map without its page headers: two bits for each
 * heap block, of which the lower one says "all visible".
 */
#define GPB_HEAPBLOCKS_PER_BYTE 4

/*
 * Is the heap block all-visible by this map of the first heap_blocks blocks?  Blocks beyond them
 * are not.
 */
GPB_FN bool
gpb_heap_all_visible(const uint8 *map, uint32 heap_blocks, uint32 block)
{
	if (block >= heap_blocks)
		return false;
	return (map[block / GPB_HEAPBLOCKS_PER_BYTE] >> (2 * (block % GPB_HEAPBLOCKS_PER_BYTE))) & 1;
}

/*
 * Behind the visibility bits there may be exceptions: TIDs, ascending, without duplicates.  Only if
 * there are any, the upper bit of a heap block that is not all-visible says that it is trusted: the
 * snapshot sees all rows there to which entries lead, but those at the exceptions, which it does
 * not see.
 */
GPB_FN uint64
gpb_exceptions_offset(uint32 heap_blocks)
{
	return ((uint64) heap_blocks / GPB_HEAPBLOCKS_PER_BYTE + 1 + 15) / 16 * 16;
}

/* The two bits of a heap block below heap_blocks, the lower one first. */
GPB_FN int
gpb_heap_bits(const uint8 *map, uint32 block)
{
	return (map[block / GPB_HEAPBLOCKS_PER_BYTE] >> (2 * (block % GPB_HEAPBLOCKS_PER_BYTE))) & 3;
}

/* Is the TID among n exceptions? */
GPB_FN bool
gpb_is_exception(const uint64 *exceptions, uint32 n, uint64 tid)
{
	uint32		low = 0;

	while (n > 0)
	{
		uint32		half = n / 2;

		if (exceptions[low + half] < tid)
		{
			low += half + 1;
			n -= half + 1;
		}
		else if (exceptions[low + half] > tid)
			n = half;
		else
			return true;
	}
	return false;
}

#endif							/* GPB_AGGREGATE_H */
