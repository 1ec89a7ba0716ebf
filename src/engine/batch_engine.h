/*-------------------------------------------------------------------------
 *
 * batch_engine.h
 *	  Inside a batch: what the object and its engines share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BATCH_ENGINE_H
#define GPB_BATCH_ENGINE_H

#include "leaf_aggregate.h"
#include "engine/batch.h"
#include "engine/heap_visit.h"
#include "engine/visibility.h"

/*
 * An engine works on the run that the batch holds.  It adds entries with gpb_batch_add_visible and
 * gpb_batch_add_unknown.
 */
typedef struct GpbBatchEngine
{
	const char *name;

	/* Begin a run. */
	void		(*start) (GpbBatch *batch);

	/*
	 * Go on; true: all ranges are done, false: the list is full.  No lock is held on return, and no
	 * pin on a leaf.
	 */
	bool		(*fill) (GpbBatch *batch);

	/* Close what start and fill opened. */
	void		(*end) (GpbBatch *batch);
} GpbBatchEngine;

extern const GpbBatchEngine gpb_batch_cpu;
extern const GpbBatchEngine gpb_batch_device;
extern const GpbBatchEngine gpb_batch_scan;

/*
 * Leaves from elsewhere than the tree, such as a device that mirrors inner pages, for the engine "CPU".  Keys
 * are asked for a bunch at a time, sorted, and within it from left to right.
 */
typedef struct GpbLeafFinder
{
	/*
	 * Leaves for the keys from sorted[at] on, at < n: for how many is returned, at least one.  *leaves has for
	 * each of them where a range that begins there begins, or to the left of that (rule M7), until the
	 * next call; NULL: look in the tree.  No lock and no pin is held by the caller.
	 */
	uint32		(*find) (GpbBatch *batch, const GpbNumberedKey *sorted, uint32 n, uint32 at,
						 const uint32 **leaves);

	/*
	 * The caller's turn, for as long as it likes, or the end of the run: hold nothing that others may wait
	 * for.  *leaves stays.  May be NULL.
	 */
	void		(*pause) (GpbBatch *batch);
} GpbLeafFinder;

/* batch_inner.c: the mirror of the inner nodes */
extern const GpbLeafFinder gpb_batch_inner;
/* Take leaves from there in this run; false, with nothing changed, if there is none. */
extern bool gpb_batch_inner_begin(GpbBatch *batch);

struct GpbBatch
{
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	GpbBatchWant want;
	GpbAggregateSpec spec;		/* layout, wanted column, dead hints */
	MemoryContext context;
	GpbEngine	wish;
	Size		memory;			/* bytes that it may take, about */
	GpbBatchCounters counters;
	char		device_name[128];	/* what counters.engine points to, if a device answers */

	/* the run */
	const GpbBatchEngine *engine;	/* NULL: none, or it has ended */
	const void *input;
	uint32		n;
	uint32		first;			/* list: ranges before this one were handed out, by an engine that gave
								 * up afterwards */
	GpbRangeAnswer *answers;	/* NULL: all to total */
	GpbRangeAnswer total;

	const GpbLeafFinder *finder;	/* for the engine "CPU"; NULL: it looks in the tree */
	void	   *finder_state;

	/* the list */
	char	   *matches;
	int			match_width;
	uint64		nmatches;
	uint64		nunknown;		/* of those, to be checked in the heap */
	uint64		room;			/* for so many matches there is memory ... */
	uint64		most_matches;	/* ... and may be for so many */

	GpbHeapVisit *visit;		/* NULL until first needed */
	uint64		visited;		/* its count when last looked at */
	void	   *state;			/* the engine's; NULL when it has ended */
};

/* ---- batch_cpu.c, for other engines ---- */

/*
 * A part of the batch that the CPU answers: ranges [first, end) of the input, or n pieces that a device left over
 * (rule M4), with the ranges' numbers in the input; these are sorted here and belong to the answer until
 * its end.  It keeps pins on the visibility map, so end it before waiting for the service (rule M9).
 */
typedef struct GpbCpuAnswer GpbCpuAnswer;

extern GpbCpuAnswer *gpb_cpu_answer_ranges(GpbBatch *batch, uint32 first, uint32 end);
extern GpbCpuAnswer *gpb_cpu_answer_pieces(GpbBatch *batch, GpbUncleanPiece *pieces, uint32 n);
/* As the engine's fill */
extern bool gpb_cpu_answer_fill(GpbBatch *batch, GpbCpuAnswer *cpu);
extern void gpb_cpu_answer_end(GpbCpuAnswer *cpu);

/* Bytes that n pieces and their answering take */
#define GPB_PIECE_MEMORY	(sizeof(GpbUncleanPiece) + sizeof(GpbNumberedKey))

/* ---- batch.c, for engines ---- */

/*
 * The engine at work gives up: go on with the CPU engine, from range "first" on.  All or nothing (rule M4): an aggregate begins
 * anew, first is 0; of a list, whose part at hand is dropped, the parts handed out before stay.
 */
extern void gpb_batch_fall_back(GpbBatch *batch, uint32 first);

/* The range number i of the input */
static inline GpbKeyRange
gpb_batch_range(const GpbBatch *batch, uint32 i)
{
	GpbKeyRange keys;

	if (!batch->want.points)
		return ((const GpbKeyRange *) batch->input)[i];
	keys.lo = keys.hi = ((const uint64 *) batch->input)[i];
	return keys;
}

/* Count the list back to n entries, of which so many must be checked in the heap. */
static inline void
gpb_batch_list_reset(GpbBatch *batch, uint64 n, uint64 nunknown)
{
	batch->nmatches = n;
	batch->nunknown = nunknown;
}

/* Make room for n matches, which the list may have. */
extern void gpb_batch_list_reserve(GpbBatch *batch, uint64 n);

/* Where entries of range i are aggregated */
static inline GpbRangeAnswer *
gpb_batch_answer(GpbBatch *batch, uint32 i)
{
	return batch->answers != NULL ? &batch->answers[i] : &batch->total;
}

/* Can n more matches be added without memory for them being allocated? */
static inline bool
gpb_batch_list_has_room(const GpbBatch *batch, uint64 n)
{
	return batch->nmatches + n <= batch->room;
}

static inline bool
gpb_batch_list_full(const GpbBatch *batch)
{
	return batch->want.list && batch->nmatches == batch->most_matches;
}

/*
 * Add an entry of range i: one that is visible, or, if heap_rows is wanted, may be; a list must
 * not be full.  The list grows as need be: where a buffer is locked, only after gpb_batch_list_has_room().
 */
extern void gpb_batch_add_visible(GpbBatch *batch, uint32 i, uint64 key, const char *row);
/*
 * Add one that the heap must decide about (rule M6); the heap may be visited, so no buffer lock may be
 * held.
 */
extern void gpb_batch_add_unknown(GpbBatch *batch, uint32 i, uint64 key, const char *row);

#endif							/* GPB_BATCH_ENGINE_H */
