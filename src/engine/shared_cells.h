/*-------------------------------------------------------------------------
 *
 * shared_cells.h
 *	  What tables of cells in shared memory have in common: their size, and how one cell is read and
 *	  written without a lock.
 *
 * A cell begins with a version and is a seqlock: whoever writes to it makes the version odd before
 * and even after.  Readers who find it odd, or changed after they have copied the cell, do without.
 * Two never write to a cell at the same time: the one who finds the version odd, or loses the
 * exchange, gives up.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SHARED_CELLS_H
#define GPB_SHARED_CELLS_H

#include "postgres.h"

#include "port/atomics.h"

/* The number of sets of so many bytes each that fit so many kilobytes: a power of two, or 0. */
static inline uint32
gpb_cell_sets(uint64 kilobytes, Size set_size)
{
	uint64		most = kilobytes * 1024 / set_size;
	uint32		n = 1;

	if (most == 0)
		return 0;
	while ((uint64) n * 2 <= most)
		n *= 2;
	return n;
}

/* Copy a cell of so many bytes, which has this version.  Returns false if it is being written. */
static inline bool
gpb_shared_cell_copy(pg_atomic_uint32 *version, void *copy, const void *cell, Size size)
{
	uint32		before = pg_atomic_read_u32(version);

	pg_read_barrier();
	memcpy(copy, cell, size);
	pg_read_barrier();
	return (before & 1) == 0 && pg_atomic_read_u32(version) == before;
}

/*
 * Begin to write to the cell with this version.  Returns false if another one does.  Between this
 * and gpb_shared_cell_written() nothing may fail.
 */
static inline bool
gpb_shared_cell_write(pg_atomic_uint32 *version)
{
	uint32		before = pg_atomic_read_u32(version);

	if ((before & 1) != 0 || !pg_atomic_compare_exchange_u32(version, &before, before + 1))
		return false;
	/* An exchange that is a pair of a load and a store may let later stores pass its own one. */
	pg_write_barrier();
	return true;
}

/* The cell has been written to. */
static inline void
gpb_shared_cell_written(pg_atomic_uint32 *version)
{
	pg_write_barrier();
	pg_atomic_write_u32(version, pg_atomic_read_u32(version) + 1);
}

#endif							/* GPB_SHARED_CELLS_H */
