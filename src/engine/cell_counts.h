/*-------------------------------------------------------------------------
 *
 * cell_counts.h
 *	  What cells of leaves did for each index (rule M14); in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CELL_COUNTS_H
#define GPB_CELL_COUNTS_H

#include "postgres.h"

/* Counters of one index since the last reset; nothing exact depends on them. */
typedef struct GpbCellCounts
{
	Oid			database;
	Oid			index;
	uint64		passed;			/* leaves that the CPU passed by */
	uint64		recorded;		/* leaves that it recorded */
	uint64		unseen;			/* leaves that it visited, since rows might not be seen */
} GpbCellCounts;

extern void gpb_cell_counts_request_shmem(void);
extern void gpb_cell_counts_init_shmem(void);

/*
 * Add to the counters of an index of this database.  Of a few unseen leaves alone nothing is added,
 * so that short ranges write nothing that others read.
 */
extern void gpb_cell_counts_add(Oid index, uint64 passed, uint64 recorded, uint64 unseen);

/*
 * Get the counters at a place; returns false if no index has it, or if they are 0.  There are so
 * many places.
 */
extern bool gpb_cell_counts_get(int place, GpbCellCounts *counts);
extern int	gpb_cell_counts_places(void);

/* Set all counters to zero, and forget which indexes there were. */
extern void gpb_cell_counts_reset(void);

/*
 * Is it time to record the leaves of a run that a device would answer the sooner?
 *
 * Whoever can rent (the device, which costs "saving" more than cells would) or buy (the CPU, which
 * costs "price" more than the device, this once), and does not know how often he will ask, pays at
 * most twice what is needed if he buys once the rent has come to the price.  The rent is that of
 * all sessions.  Where what was bought is not used, since cells are taken from it or do not hold,
 * the price is doubled each time, until gpb_cells_were_used().
 */
extern bool gpb_cells_recording_pays(Oid index, double saving, double price);
extern void gpb_cells_were_used(Oid index);

#endif							/* GPB_CELL_COUNTS_H */
