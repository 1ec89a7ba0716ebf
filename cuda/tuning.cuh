/*-------------------------------------------------------------------------
 *
 * tuning.cuh
 *	  What was chosen by measurement rather than by necessity.
 *
 * test/bench/device_bench times the variants side by side.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TUNING_CUH
#define GPB_TUNING_CUH

#include "job.cuh"

/* How leaves are read unless the benchmark says otherwise */
#define GPB_LEAF_VARIANT		GPB_LEAF_QUADS

/*
 * Threads of a block of the leaf kernels; blocks that a multiprocessor should hold, fewer
 * where two columns, a float8 sum or rows read ahead want more registers.
 */
#define GPB_LEAF_THREADS		256
#define GPB_LEAF_WARPS			(GPB_LEAF_THREADS / 32)
#define GPB_LEAF_BLOCKS			4
#define GPB_LEAF_BLOCKS_WIDE	3
#define GPB_LEAF_BLOCKS_FLOAT	2

/*
 * Rows that a lane has in flight.  A row is worked on long after it was asked for, so
 * bytes in flight are what fills the memory's pipe.
 */
#define GPB_ROWS_IN_FLIGHT		4

/*
 * Leaves that a warp judges at once, a lane each, before it reads them: the loads of
 * child, stamp, chunk and page header depend on each other, and so are waited for
 * once for all of them.
 */
#define GPB_LEAVES_AT_ONCE		8

/* Bytes of rows that a warp of the staged variant copies ahead, twice */
#define GPB_STAGE_BYTES			2048

/* Pages in a batch of scattered uploads: their numbers are a kernel's parameter */
#define GPB_SCATTER_PAGES		960

/* Consecutive pages from which on they are copied straight to their place */
#define GPB_RUN_PAGES			64

/* Heap entries and unclean leaves that a channel has room for at first */
#define GPB_HEAP_CAPACITY		16384
#define GPB_UNCLEAN_CAPACITY	4096

#endif							/* GPB_TUNING_CUH */
