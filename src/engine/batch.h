/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  A batch of key ranges, answered from a gpubtree index.
 *
 * The caller gives many ranges, or keys, at a time and gets, for each, an aggregate over its entries
 * that the snapshot sees, or a list of these entries.  Which engine answers is decided at each
 * run; all give the same.
 *
 *	  batch.c		the object: input, results, the choice of an engine
 *	  batch_cpu.c	engine: leaf pages in shared buffers
 *	  batch_device.c	engine: the device that mirrors the index, and the CPU for what it leaves over
 *	  batch_inner.c	leaves for the CPU engine from a mirror of the inner nodes
 *	  batch_scan.c	engine: an ordinary index scan for each range
 *	  batch_engine.h	what they share
 *	  batch_test.c	all of it for tests, where hold points are compiled in
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BATCH_H
#define GPB_BATCH_H

#include "postgres.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "index/walk.h"
#include "ranges.h"

/* What is wanted of a batch */
typedef struct GpbBatchWant
{
	bool		points;			/* the input is uint64 keys, each a range of its own, instead of
								 * GpbKeyRange */
	bool		list;			/* list the entries instead of aggregating */
	bool		heap_rows;		/* list: entries that the snapshot may not see are listed too, for the
								 * caller visits the heap for each; see gpb_visit_begin */
	uint8		column;			/* aggregate: of this column, as in aggregate.h */
	uint8		want;			/* GPB_WANT_* of it, 0 for none; no sum of a float8 */
	Size		memory;			/* bytes to work in; 0: hash_mem (work_mem times
								 * hash_mem_multiplier) */
} GpbBatchWant;

/* The aggregate over one range, or over all */
typedef struct GpbRangeAnswer
{
	int64		entries;
	GpbColumnState column;		/* min and max of a float8 as gpb_float_order has them */
} GpbRangeAnswer;

typedef enum GpbEngine
{
	GPB_ENGINE_AUTO,
	GPB_ENGINE_CPU,
	GPB_ENGINE_DEVICE,			/* however small the batch; the CPU if there is no device */
	GPB_ENGINE_INNER			/* the CPU, with leaves from the mirrored inner nodes if there are any */
} GpbEngine;

/* Numbers for EXPLAIN, summed over all runs */
typedef struct GpbBatchCounters
{
	const char *engine;			/* of the last run */
	uint64		runs;
	uint64		ranges;			/* or keys */
	GpbWalkCounters walk;		/* leaves that the CPU visited */
	uint64		heap_fetches;	/* entries checked in the heap */
	uint64		matches;		/* entries aggregated or listed */
	uint64		requests;		/* batches sent to the device ... */
	uint64		unclean;		/* ... and pieces of ranges that it left to the CPU */
	uint64		refreshed_blocks;	/* sent to the mirror beforehand */
	uint64		fallbacks;		/* times that an engine gave up, and another went on */
	uint64		device_keys;	/* walked with leaves that a mirror of the inner nodes told ... */
	uint64		cpu_keys;		/* ... and with leaves looked up in the tree */
	double		cpu_share;		/* part of each bucket that the latter have, at last: 0 to 1 */
} GpbBatchCounters;

typedef struct GpbBatch GpbBatch;

extern double gpb_batch_setup_cost; /* gpubtree.batch_setup_cost (exec.c) */

/*
 * A batch over one index of a heap table.  The snapshot is registered, or active, to the end; both
 * relations are open and locked, by AccessShareLock at least, to the end.  All memory is of a child of
 * the current context; about as much as is wanted of it at most, but for answers, which are the caller's.
 * With a device, staging in shared memory comes to that, while gpb_batch_run or gpb_batch_matches runs.
 */
extern GpbBatch *gpb_batch_begin(Relation heap, Relation index, Snapshot snapshot,
								 const GpbBatchWant *want, GpbEngine engine);

/*
 * Answer n ranges; input as want->points says, in any order, NULL keys left out.  answers has n
 * elements, one for each range; if it is NULL there is only the total over all of them.  For
 * a list answers is NULL, the input must live until the list was read, and nothing is
 * done yet: see gpb_batch_matches.
 */
extern void gpb_batch_run(GpbBatch *batch, const void *input, uint32 n,
						  GpbRangeAnswer *answers);

/* The total of the last run that was given no answers. */
extern const GpbRangeAnswer *gpb_batch_total(const GpbBatch *batch);

/*
 * The next part of the list, *n range entries (see gpb_range_entry_width); NULL at its end.  It is valid until
 * the next call.  Within a part, and over all parts as far as one engine's bunch of ranges goes,
 * entries come about in the order of keys, never in that of the ranges' numbers: sort them if that matters.
 */
extern char *gpb_batch_matches(GpbBatch *batch, uint64 *n);

/* Was the list handed out to its end?  If not, there may be another part. */
extern bool gpb_batch_at_end(const GpbBatch *batch);

extern const GpbBatchCounters *gpb_batch_counters(const GpbBatch *batch);

/* Does a batch of n ranges pay for the device's fixed costs? */
extern bool gpb_batch_device_pays(double n);

/* The same if the entries, so many in all ranges together, are aggregated. */
extern bool gpb_batch_aggregate_pays(double n, double entries);

/* The engine for a batch of ranges that are few and have many entries: so many in all */
extern GpbEngine gpb_batch_engine_for(Relation index, double entries);

/* Add the numbers of another batch; the engine stays, unless there was none. */
extern void gpb_batch_counters_add(GpbBatchCounters *counters, const GpbBatchCounters *more);

/* Close what is open and free.  After an error, the transaction's end does. */
extern void gpb_batch_end(GpbBatch *batch);

#endif							/* GPB_BATCH_H */
