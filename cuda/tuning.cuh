/*-------------------------------------------------------------------------
 *
 * tuning.cuh
 *	  What was chosen by measurement rather than by necessity.
 *
 * Measured on an H200 with
 *
 *		test/bench/device_bench test/kernel/cuda.so 50 50
 *
 * Milliseconds from the call to the answer, for 10 and 45 million entries of 20 bytes
 * (float8: 24) in random heap order, medians of 50, by the way in which a warp reads
 * the rows of a leaf:
 *
 *									rows		quads
 *	count(*)						.073 .172	.064 .164
 *	count(*), sum(int4)				.091 .271	.069 .173
 *	min(key), max(key), sum(int4)	.190 .449	.135 .323
 *	count(*), sum(float8)			.158 .575	.128 .430
 *	sum(int4), 1 % of heap blocks not all-visible, their entries listed:
 *									.227 .607	.241 .782
 *
 * Rows and quads are GpbLeafVariant's.  Rows copied to shared memory ahead of their use, and
 * the next quad loaded while one is worked on, gained too little to be kept.  An
 * aggregate of few entries takes .03 to .04 ms, the upload of 1,000 scattered pages
 * .2 ms, and a first load runs at 42 to 46 GB/s.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TUNING_CUH
#define GPB_TUNING_CUH

#include "ranges.cuh"

/* How leaves are read unless a test or the benchmark says otherwise */
#define GPB_LEAF_VARIANT		GPB_LEAF_QUADS

/*
 * Threads of a block of the kernels that read leaves.  Then blocks that a multiprocessor should
 * hold: of the kernels that read whole leaves, and of these and those that read short ranges
 * fewer where two columns or a float8 sum want more registers.  Of short ranges with one column see
 * ranges_short.cu.
 */
#define GPB_LEAF_THREADS		256
#define GPB_LEAF_WARPS			(GPB_LEAF_THREADS / 32)
#define GPB_LEAF_BLOCKS			4
#define GPB_LEAF_BLOCKS_TWO	3
#define GPB_LEAF_BLOCKS_FLOAT	2

/* Lanes for a range within one leaf, and the ranges that a block has at once */
#define GPB_SHORT_LANES			4
#define GPB_SHORT_RANGES		(GPB_LEAF_THREADS / GPB_SHORT_LANES)

/* Blocks at once for so many columns; "blocks" unless they want more registers. */
static constexpr int
gpb_blocks_at_once(int blocks, int columns, bool float_sum)
{
	return float_sum ? GPB_LEAF_BLOCKS_FLOAT : columns > 1 ? GPB_LEAF_BLOCKS_TWO : blocks;
}

/*
 * Rows that a lane loads before it works on the first of them.  A row comes long after it was asked
 * for, so the memory is busy only while many loads are outstanding.
 */
#define GPB_ROWS_IN_FLIGHT		4

/*
 * Leaves that a warp judges at once, a lane each, before it reads them.  The loads of child, stamp,
 * extent and page header depend on each other, and so the warp waits for them once for all of
 * these leaves.
 */
#define GPB_LEAVES_AT_ONCE		8

/*
 * ---- programs with steps, terms or groups ----
 *
 * Their kernels were timed with these values (test/bench/programs_bench); of GPB_PROGRAM_ROWS,
 * GPB_PROGRAM_BLOCKS and the words in shared memory no others were tried.
 */

/*
 * Entries of a lane that a step is done for at once.  More would share the cost of finding out what
 * the step is; but the values of temporaries, 8 bytes for each entry, should stay in the nearest
 * cache.
 */
#define GPB_PROGRAM_ROWS		4

/* Blocks of GPB_LEAF_THREADS that a multiprocessor should hold of the kernels that interpret */
#define GPB_PROGRAM_BLOCKS		3

/*
 * Words of 4 bytes that a block has in shared memory for sums of groups.  If fewer than
 * GPB_GROUP_SHARED_LEAST groups fit, or a term wants what shared memory has no sums for, groups are
 * added up in device memory alone.
 */
#define GPB_GROUP_SHARED_WORDS	10240
#define GPB_GROUP_SHARED_LEAST	128
#define GPB_GROUP_SHARED_MOST	2048

/*
 * Words in shared memory of an exact sum, and how many groups a block should have slots for there
 * where such are wanted.  Without these the answers of groups have copies instead.
 */
#define GPB_SHARED_FLOAT_WORDS	5
#ifndef GPB_GROUP_SLOTS_LEAST
#define GPB_GROUP_SLOTS_LEAST	64
#endif

/*
 * Groups of a narrow column: places of a block's table in shared memory, how many of them are
 * looked at for a key, and blocks that a multiprocessor should hold.  Of so many entries of one
 * group a warp, which has up to 128 at a time, makes one addition; and of how many groups.
 */
#define GPB_COLUMN_PLACES		2048
#define GPB_COLUMN_TRIES		8
#define GPB_COLUMN_BLOCKS		3
#define GPB_COLUMN_ALIKE		24
#define GPB_COLUMN_ROUNDS		2

/* Places that are looked at for a slot */
#define GPB_GROUP_SLOT_TRIES	4

/* Kernels for up to so many group slots are compiled apart, since their keys fit registers. */
#define GPB_FEW_GROUP_SLOTS		2

/*
 * Copies of the answers of the first groups, where these are not added up in shared memory, and how
 * many bytes all copies may have.
 */
#define GPB_GROUP_COPIES		32
#define GPB_GROUP_COPY_BYTES	((size_t) 32 << 20)

/*
 * Room that a request has for groups at first, in rows and in bytes, whichever is less; and by how
 * much it grows when there are more.
 */
#define GPB_GROUP_CAPACITY		65536
#define GPB_GROUP_BYTES			((size_t) 16 << 20)
#define GPB_GROUP_GROWTH		8

/* A channel keeps so much memory for groups when it goes on to a request that has none. */
#define GPB_GROUP_KEPT_BYTES	((size_t) 64 << 20)

/* Groups of one request: the table of twice as many has 32 bits to number its entries */
#define GPB_GROUP_MOST			((uint32) 1 << 30)

/* Most pages of a scattered upload, whose block numbers are a kernel's parameter */
#define GPB_SCATTER_PAGES		960

/* From so many consecutive pages on they are copied straight to their place. */
#define GPB_SPAN_PAGES			64

/* ---- ranges ---- */

/* Room that a channel's lists have at first, and its tasks where entries are listed */
#define GPB_RANGE_ENTRY_CAPACITY	16384
#define GPB_RANGE_PIECE_CAPACITY	4096
#define GPB_RANGE_TASK_CAPACITY		4096

/* The most ranks that the last entry of a limited list is looked for among: 32 MB */
#define GPB_RANKS_MOST				((uint64) 4 << 20)

/* ---- batched search ---- */

/*
 * Threads of a tile, and bytes of the tree's piece in shared memory.  Then keys of each thread, and
 * blocks that a multiprocessor should hold: for sorted keys, a few of which share a piece, and for
 * random keys, where one copy of the tree's top should serve many.  In G keys/s for 1e8
 * uniform keys of 8 bytes, sort included, on trees of 2^23 and 2^26 separators:
 *
 *		keys, blocks	16, 1		16, 3		16, 4		12, 4		8, 4		8, 5
 *		sorted			31.5 24.7	35.2 28.5	35.5 29.5	35.1 31.4	36.2 32.7	36.3 32.4
 *		as they come	12.9  8.5	13.9  9.2	11.4  7.8	11.5  7.9	10.5  7.3	10.5  7.3
 */
#define GPB_TILE_THREADS		256
#define GPB_TILE_PIECE_BYTES	24576
#define GPB_SORTED_KEYS			8
#define GPB_SORTED_BLOCKS		4
#define GPB_RANDOM_KEYS			16
#define GPB_RANDOM_BLOCKS		3

#define GPB_GROUP_THREADS		128

/*
 * The constants of the model that chooses the size of groups: the wait of a level for its memory
 * lines, in steps; and the keys of a warp, each with a line of its own, that double a step's time.
 */
#define GPB_LEVEL_STEPS			6
#define GPB_KEYS_A_STEP			32

/* Up to so many keys of a batch are searched for where they lie in host memory, by groups. */
#define GPB_DIRECT_KEYS			65536

/* Up to so many keys that are not sorted are searched for by groups, and more by tiles. */
#define GPB_GROUPED_KEYS		262144

/* From so many keys on, of unknown order, a look is taken at whether sorting them pays. */
#define GPB_SORT_KEYS			1048576

/* At most so many keys are sorted at once; more are sorted in turns, in bounded memory. */
#define GPB_SORT_AT_ONCE		((uint32) 1 << 27)

/* A tile of sorted keys should span at most this power of two of the tree's keys. */
#define GPB_SORTED_SPAN_BITS	10

/* From so many ranges on they are sorted before they are answered. */
#define GPB_ORDERED_RANGES		32768

/* This power of two of results is put back in input order within shared memory. */
#define GPB_WINDOW_BITS			13

/* Up to so many results are put back one by one, since the L2 cache holds them all. */
#define GPB_SCATTERED_KEYS		((uint32) 1 << 21)

/*
 * The keys of a chunk (HB+-tree's M) are an eighth of the piece's, within these bounds, and so many
 * pipelines take the chunks in turn.  Small chunks leave the bus idle between them; large ones make
 * the caller wait longer for the search of the last one, which overlaps with no
 * transfer.  Milliseconds, four pipelines, a tree of 2^21 separators and keys of 8 bytes:
 *
 *		chunk			2^15	2^16	2^17	2^18	2^19	2^20	2^21	2^22
 *		2^24 keys				4.11	3.35	3.00	2.85	2.78	2.87	3.10
 *		2^20 keys		.362	.269	.236	.244	.272	.315
 *
 * Chunks that shrink toward the end gained nothing: 2.82 for 2^24 keys with a quarter or a half
 * of what was left up to 2^20, 3.06 up to 2^22.
 */
#define GPB_CHUNKS				8
#define GPB_CHUNK_KEYS			((uint32) 1 << 20)
#define GPB_CHUNK_LEAST			((uint32) 1 << 17)
#define GPB_PIPELINES			4

#endif							/* GPB_TUNING_CUH */
