/*-------------------------------------------------------------------------
 *
 * growth.h
 *	  How large the batches of a node are: small at first, larger as memory allows.
 *
 * A query that wants few rows should read few, so the first batch is small and each further one has
 * several times as many rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_GROWTH_H
#define GPB_GROWTH_H

#include "postgres.h"
#include "miscadmin.h"

#include "program/ranges.h"

/* Rows, or ranges, of the first batch */
#define GPB_FIRST_BATCH		32

/* A batch that was full is followed by one of so many times its rows. */
#define GPB_BATCH_GROWTH	4

/* Most rows of a batch, whatever memory there is */
#define GPB_MOST_ROWS		(16 * 1024 * 1024)

/* Half of hash_mem is for the rows of a batch; the other half is for what the engine works with. */
static inline Size
gpb_rows_memory(void)
{
	return get_hash_memory_limit() / 2;
}

/* Bytes of a row of n columns that are passed by value, with its key or range, and its marks */
static inline Size
gpb_row_bytes(int n, Size range_width)
{
	return n * (sizeof(Datum) + sizeof(bool)) + range_width + sizeof(uint32) + sizeof(bool);
}

/* The most rows of so many bytes that a batch may have */
static inline uint32
gpb_most_rows(Size row_bytes)
{
	Size		most = gpb_rows_memory() / row_bytes;

	return (uint32) Min(Max(most, GPB_FIRST_BATCH), GPB_MOST_ROWS);
}

/* How many rows the batch after a full one of n rows may have, as far as memory allows */
static inline uint32
gpb_grown_batch(uint32 n)
{
	return (uint32) Min((uint64) n * GPB_BATCH_GROWTH, GPB_MOST_ROWS);
}

#endif							/* GPB_GROWTH_H */
