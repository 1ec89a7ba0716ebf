/*-------------------------------------------------------------------------
 *
 * batch_engine.h
 *	  Inside a batch: what the object and its engines share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BATCH_ENGINE_H
#define GPB_BATCH_ENGINE_H

#include "engine/batch.h"
#include "engine/heap_visit.h"
#include "engine/visibility.h"
#include "mirror/mirror.h"
#include "program/leaf_aggregate.h"
#include "program/program_entries.h"

/* How a call of an engine's fill ended, or a part of it */
typedef enum GpbFillOutcome
{
	GPB_FILL_DONE,				/* all ranges of the call, or of the part, are done */
	GPB_FILL_FULL,				/* the list is full, or what comes next does not fit */
	GPB_FILL_FAILED,			/* the engine gives up, and another must go on from batch->first */
	GPB_FILL_GAVE_UP			/* the program does not go on: gpb_batch_gave_up() */
} GpbFillOutcome;

/*
 * An engine works on the run that the batch holds.  It adds entries with gpb_batch_add_visible and
 * gpb_batch_add_unknown, or many at a time to an answer, which it then counts as matches.
 */
typedef struct GpbBatchEngine
{
	const char *name;

	/*
	 * Does it store the answer to each range, whole, before it adds to it?  If not, the answers are
	 * those of no entries when it begins.
	 */
	bool		stores_answers;

	/* Begin a run with range batch->first. */
	void		(*start) (GpbBatch *batch);

	/*
	 * Ask for what a run of an aggregate wants before fill, which then takes it.  Returns false if
	 * nothing could be asked for as yet.  NULL: the engine does all in fill.
	 */
	bool		(*submit) (GpbBatch *batch);

	/* Go on with the run.  No lock is held on exit, and no pin on a leaf. */
	GpbFillOutcome (*fill) (GpbBatch *batch);

	/* Close what start and fill opened. */
	void		(*end) (GpbBatch *batch);
} GpbBatchEngine;

extern const GpbBatchEngine gpb_batch_cpu;
extern const GpbBatchEngine gpb_batch_device;
extern const GpbBatchEngine gpb_batch_scan;
extern const GpbBatchEngine gpb_batch_pieces;

/* Do devices answer by this engine, at once or by way of pieces? */
#define gpb_engine_is_device(engine) \
	((engine) == &gpb_batch_device || (engine) == &gpb_batch_pieces)

/*
 * A finder gets leaves for the CPU engine from elsewhere than the tree, such as a device that
 * mirrors inner pages.  The engine asks for the leaves of a portion of sorted keys at a time, from
 * left to right.
 */
typedef struct GpbLeafFinder
{
	/*
	 * Find leaves for keys [at, n), which are some, or the first of them; returns for how many.
	 * *leaves has for each of them the leaf where a range that begins there begins, or one to the
	 * left of that (rule M7), and is valid until the next call; if *leaves is NULL the caller looks
	 * in the tree.  The caller holds no lock and no pin.
	 */
	uint32		(*find) (GpbBatch *batch, GpbNumberedKeys sorted, uint32 n, uint32 at,
						 const uint32 **leaves);

	/*
	 * Give back what others may wait for, since the batch's caller has its turn, for as long as it
	 * likes, or the run ends.  *leaves stays valid.  A finder with nothing to give back has NULL
	 * here.
	 */
	void		(*pause) (GpbBatch *batch);
} GpbLeafFinder;

/* The mirror of the inner nodes (batch_inner.c) */
extern const GpbLeafFinder gpb_batch_inner;
/*
 * Take leaves from gpb_batch_inner in this run.  Returns false, with nothing changed, if the index
 * has no mirror of its inner nodes.
 */
extern bool gpb_batch_inner_begin(GpbBatch *batch);

/*
 * Is there a device, and is it the engine to answer the run of the batch the sooner?  What was
 * looked at to decide is in counters.choice.
 */
extern bool gpb_batch_device_pays_now(GpbBatch *batch);

/* A list that does not have all entries, by its program (batch_list.c) */
typedef struct GpbListing
{
	GpbEvaluator *evaluator;
	bool		limited;		/* is "best" in use? */
	GpbListBest best;			/* of the run's entries that are known to be visible */
	uint64	   *rank;			/* of each match; NULL if not limited */
	uint64		prune_from;		/* matches before this one are not pruned */
} GpbListing;

typedef struct GpbBatchPieces GpbBatchPieces;

struct GpbBatch
{
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	GpbRangeForm form;
	GpbProgram	program;
	bool		heap_rows;		/* as in GpbBatchWant */
	GpbAnswerFormat format;		/* format of answers */
	int			widest;			/* bytes of an answer whose sums are wide */
	MemoryContext context;
	GpbEngine	wish;
	Size		memory;			/* bytes that the batch may take, about */
	GpbBatchCounters counters;
	char		device_name[128];	/* counters.engine points here, if a device answers */

	/* The run */
	const GpbBatchEngine *engine;	/* NULL if there is none, or it has ended */
	const void *ranges;
	uint32		n;
	GpbRangeSource *source;		/* of more ranges; NULL if these are all */
	uint32		first;			/* of a list: ranges before this one were handed out */
	int64	   *answers;		/* NULL if all entries are added to total */
	int64	   *total;
	uint64		matches_before; /* counters.matches when the run began */
	TimestampTz keep_since;		/* as in gpb_batch_submit(); 0: any mirror may make room */

	/* The parts of a list whose reader may stop soon (batch_early.c) */
	bool		early;
	uint64		later_leaves;	/* counters.walk.leaves when a device may be asked to go on */
	uint64		part_leaves;	/* leaves of the next part */
	uint64		end_leaves;		/* counters.walk.leaves at which the part at hand ends */
	uint64		end_matches;	/* nmatches at which it ends */
	GpbRange   *rest;			/* what is left of the ranges, for the engine that goes on */

	GpbEvaluator *evaluator;	/* NULL if the program is plain, or lists */
	GpbGroupTable *groups;		/* NULL if it has no group slots */
	GpbListing *listing;		/* NULL if it aggregates, or lists all entries */
	char	   *made;			/* groups that a device made, GpbGroup records; NULL: none */
	uint64		nmade;
	uint64		made_room;		/* number of records for which there is memory */
	uint64		nmerged;		/* groups of the table that were merged into them */

	const GpbRange *piece;		/* of an index that was cut, for the device; NULL: the whole */
	GpbBatchPieces *pieces;		/* the batches of its pieces; NULL until there are some */

	const GpbLeafFinder *finder;	/* for the CPU engine; NULL if it looks in the tree */
	void	   *finder_state;

	/* The list */
	char	   *matches;		/* GpbRangeEntry records */
	int			match_width;
	uint64		nmatches;
	uint64		nunknown;		/* number of matches that must be checked in the heap */
	uint64		room;			/* number of matches for which there is memory */
	uint64		most_matches;	/* the most matches for which there may be memory */

	GpbHeapVisit *visit;		/* NULL until first needed */
	uint64		visited;		/* gpb_visit_count() when it was last read */
	uint64		visited_pages;	/* gpb_visit_pages_count() when it was last read */
	void	   *state;			/* the engine's state; NULL when it has ended */
	GpbBatchCounters shown;		/* with what the batches of pieces count */
};

/* ---- batch_pieces.c ---- */

/* Have the batch's next run use this cut of the index. */
extern void gpb_batch_pieces_use(GpbBatch *batch, const GpbMirrorCut *cut);
/* How many ranges that has, 0 if there is none; add what was counted for one of them. */
extern int	gpb_batch_pieces_number(const GpbBatch *batch);
extern void gpb_batch_pieces_count(const GpbBatch *batch, GpbBatchCounters *counters, int p);
/* End the batches of pieces, if there are any. */
extern void gpb_batch_pieces_end(GpbBatch *batch);

/* ---- batch_source.c ---- */

/*
 * More ranges are wanted, since an engine is done with all that the run has.  Returns false if
 * there are none.  No page is locked.
 */
extern bool gpb_batch_more_ranges(GpbBatch *batch);

/* ---- batch_cpu.c, for other engines ---- */

/*
 * A part of the batch that the CPU answers: ranges [first, end), or n pieces that a device left
 * over (rule M4), which have the ranges' numbers in the batch.  The pieces are sorted here, and
 * belong to the GpbCpuAnswer until its end.  It keeps pins on the visibility map, so end it before
 * waiting for the service (rule M9).
 */
typedef struct GpbCpuAnswer GpbCpuAnswer;

extern GpbCpuAnswer *gpb_cpu_answer_ranges(GpbBatch *batch, uint32 first, uint32 end);
extern GpbCpuAnswer *gpb_cpu_answer_pieces(GpbBatch *batch, GpbPiece *pieces, uint32 n);
/*
 * Go on with a part of the batch, as an engine's fill does.  This never fails, but the program may
 * give up.
 */
extern GpbFillOutcome gpb_cpu_answer_fill(GpbBatch *batch, GpbCpuAnswer *cpu);
extern void gpb_cpu_answer_end(GpbCpuAnswer *cpu);
/*
 * What ranges of the batch, which are bounds, have left to be read; for n of them there is room for
 * n in rest, in the order of keys.  Returns their number, or -1 if a leaf is not done yet.
 */
extern int	gpb_cpu_answer_rest(const GpbCpuAnswer *cpu, GpbRange *rest);

/* The bytes that a piece takes, and its answering */
#define GPB_PIECE_MEMORY	(sizeof(GpbPiece) + sizeof(GpbWideNumberedKey))

/* ---- evaluator_memory.c ---- */

/* Make an evaluator of the batch's program, which lives as long as the batch's context. */
extern GpbEvaluator *gpb_batch_evaluator(GpbBatch *batch);

/* ---- batch_program.c ---- */

/* Prepare to evaluate the batch's program, if it is not plain.  It is an error if it is unsound. */
extern void gpb_batch_program_begin(GpbBatch *batch);
/* Begin the program anew: no entry was added. */
extern void gpb_batch_program_start(GpbBatch *batch);
/* All entries were added: make groups ready to be read, and count the entries that count. */
extern void gpb_batch_program_complete(GpbBatch *batch);

/*
 * Take n groups of a device's request whose ranges are those of the batch from "first" on.
 *
 * merge: add them to the table.  expect and keep: keep them as they lie, for which each group must
 * be in one request alone; keep is called for as many in all as were expected.  Groups of the table
 * are added to those at the end.  Merge and expect return false if the program gives up.
 */
extern bool gpb_batch_program_merge(GpbBatch *batch, const void *groups, uint64 n, uint32 first);
extern bool gpb_batch_program_expect(GpbBatch *batch, uint64 n);
extern void gpb_batch_program_keep(GpbBatch *batch, const void *groups, uint64 n, uint32 first);
/* A step faulted elsewhere, or a narrow sum does not hold a value there. */
extern void gpb_batch_program_fault(GpbBatch *batch);
extern void gpb_batch_program_unheld(GpbBatch *batch);
/*
 * If the program ended because a narrow sum does not hold a value, let this run and all later ones
 * have wide sums, and return true.  The run must begin anew then.
 */
extern bool gpb_batch_program_widen(GpbBatch *batch);

/* ---- batch_list.c ---- */

/* Number of matches for which a list has room at first */
#define GPB_LIST_INITIAL	1024

/* Prepare to list, by a sound program.  The batch's memory and match_width are set. */
extern void gpb_batch_list_begin(GpbBatch *batch);
/* Begin a run: no entry was added. */
extern void gpb_batch_list_start(GpbBatch *batch);

/* Drop all but n entries of the list, nunknown of which must be checked in the heap. */
static inline void
gpb_batch_list_reset(GpbBatch *batch, uint64 n, uint64 nunknown)
{
	batch->nmatches = n;
	batch->nunknown = nunknown;
	if (batch->listing != NULL)
		batch->listing->prune_from = Min(batch->listing->prune_from, n);
}

/*
 * Drop all but n entries of the list, nunknown of which must be checked in the heap, where those
 * that are dropped are found anew later on.  For a limit nothing counts that was found before,
 * since it would count twice.
 */
extern void gpb_batch_list_take_back(GpbBatch *batch, uint64 n, uint64 nunknown);

/*
 * Add a record that a device listed, as one of range i.  It may turn out to be behind the limit.
 * The list must not be full.
 */
extern void gpb_batch_list_record(GpbBatch *batch, uint32 i, const GpbRangeEntry *record);
/* The records from number "from" on were brought into another order. */
extern void gpb_batch_list_reordered(GpbBatch *batch, uint64 from);

/* Get memory for n matches in all.  The list must be allowed so many. */
extern void gpb_batch_list_reserve(GpbBatch *batch, uint64 n);

/* Record number i of the list. */
static inline GpbRangeEntry *
gpb_batch_match(const GpbBatch *batch, uint64 i)
{
	return gpb_entry_at(batch->matches, i, batch->match_width);
}

/* Can n more matches be added without memory being allocated for them? */
static inline bool
gpb_batch_list_has_room(const GpbBatch *batch, uint64 n)
{
	return batch->nmatches + n <= batch->room;
}

/*
 * Drop what is behind the limit from the list.  Returns false if there is no limit, or if that
 * leaves the list more than half full.
 */
extern bool gpb_batch_list_prune(GpbBatch *batch);

/* Is the list full?  A limited one is pruned before it is. */
static inline bool
gpb_batch_list_full(GpbBatch *batch)
{
	return batch->program.list_entries && batch->nmatches == batch->most_matches &&
		!gpb_batch_list_prune(batch);
}

/* Does the list want to know which entries are visible, even if heap_rows is wanted? */
static inline bool
gpb_batch_list_sees(const GpbBatch *batch)
{
	return !batch->heap_rows || (batch->listing != NULL && batch->listing->limited);
}

/*
 * Add an entry of range i, of which it is known that the snapshot sees it, or not known.  What its
 * program says of it, and its rank, are given; it may turn out to be behind the limit.  Memory may
 * be allocated, unless there is room; the list must not be full.
 */
extern void gpb_batch_list_add(GpbBatch *batch, uint32 i, bool seen, GpbJudgement judgement,
							   uint64 rank, GpbKey key, const char *row);
/* Judge an entry, and add it if it is to be listed. */
extern void gpb_batch_list_judge(GpbBatch *batch, uint32 i, bool seen, GpbKey key,
								 const char *row);
/* An entry of the list turned out to be visible. */
extern void gpb_batch_list_visible(GpbBatch *batch, GpbRangeEntry *entry);
/* The heap was asked: drop entries that are not visible, or that are behind the limit. */
extern void gpb_batch_list_complete(GpbBatch *batch);

/* ---- batch_early.c ---- */

/*
 * A list whose reader may stop soon is handed out in parts that begin small and grow.  Each of them
 * is what an engine has found when it stops at the end of the part, as it does when a list is full;
 * so each is exact by itself.
 */

/* Does the CPU begin the run, whatever a device might do? */
extern bool gpb_batch_early_waits(const GpbBatch *batch);
/* Begin a run, whose engine is chosen and has not begun. */
extern void gpb_batch_early_start(GpbBatch *batch);
/* Begin a part: say where it ends. */
extern void gpb_batch_early_part(GpbBatch *batch);
/*
 * Is it time for a device to go on?  Then the batch's ranges become what is left of them.  The
 * engine at work has not been closed.
 */
extern bool gpb_batch_early_hands_over(GpbBatch *batch);
/* Has the part at hand enough entries? */
static inline bool
gpb_batch_part_has_enough(const GpbBatch *batch)
{
	return batch->nmatches >= batch->end_matches;
}

/* Is the part at hand at its end?  An engine asks between two leaves. */
static inline bool
gpb_batch_part_ends(const GpbBatch *batch)
{
	return batch->counters.walk.leaves >= batch->end_leaves || gpb_batch_part_has_enough(batch);
}

/* ---- batch_entry.c ---- */

/*
 * Range number i of the batch as an interval of keys.  The batch's ranges must not be
 * GPB_RANGE_BOUNDS.
 */
static inline GpbKeyRange
gpb_batch_keys(const GpbBatch *batch, uint32 i)
{
	GpbKeyRange keys;

	if (batch->form == GPB_RANGE_KEYS)
		return ((const GpbKeyRange *) batch->ranges)[i];
	keys.lo = keys.hi = ((const GpbKey *) batch->ranges)[i];
	return keys;
}

/* The answer to which entries of range i are added. */
static inline int64 *
gpb_batch_answer(GpbBatch *batch, uint32 i)
{
	return batch->answers != NULL ? batch->answers + (Size) i * batch->format.words : batch->total;
}

/*
 * Add an entry of range i that is visible, or, if heap_rows is wanted, may be.  A list must not be
 * full.  The list may grow, so where a buffer is locked this may be called only after
 * gpb_batch_list_has_room().
 */
extern void gpb_batch_add_visible(GpbBatch *batch, uint32 i, GpbKey key, const char *row);
/*
 * Add an entry of range i that the heap must decide about (rule M6).  The heap may be visited, so
 * no buffer lock may be held.
 */
extern void gpb_batch_add_unknown(GpbBatch *batch, uint32 i, GpbKey key, const char *row);
/* The heap visits of the batch, prepared at the first call. */
extern GpbHeapVisit *gpb_batch_visit(GpbBatch *batch);

#endif							/* GPB_BATCH_ENGINE_H */
