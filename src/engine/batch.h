/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  A batch of ranges, answered from a gpubtree index.
 *
 * The caller gives one range or many at a time and gets, for each, an answer (answer.h): an
 * aggregate of columns over the range's entries that the snapshot sees.  Or it gets one answer over
 * all ranges, or a list of the entries.  A range aggregate is a batch of one range.  Which engine
 * answers is decided at each run; all give the same.
 *
 *	batch.c			the object: input, results
 *	batch_choice.c	the choice between the device and the CPU
 *	batch_cpu.c		engine: leaf pages in shared buffers
 *	batch_device.c	engine: the device that mirrors the index, and the CPU for what it leaves
 *	batch_pieces.c	engine: the devices that have the pieces of an index that was cut
 *	batch_inner.c	leaves for the CPU engine from a mirror of the inner nodes
 *	batch_scan.c	engine: an ordinary index scan for each range
 *	batch_source.c	ranges that come while others are answered
 *	batch_early.c	small parts first, for a list whose reader may stop soon
 *	batch_program.c	programs that are not plain: their evaluator, groups, giving up
 *	evaluator_memory.c	memory of evaluators, which the session keeps
 *	batch_engine.h	what they share
 *	cost.c			which engine the planner expects
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BATCH_H
#define GPB_BATCH_H

#include "postgres.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "engine/cost.h"
#include "engine/leaf_cells.h"
#include "index/walk.h"
#include "program/ranges.h"

/* What is wanted of a batch */
typedef struct GpbBatchWant
{
	GpbRangeForm form;			/* the form in which the ranges are given */
	GpbProgram	program;		/* layout and ignore_dead_hints are set by the batch */
	bool		heap_rows;		/* a list also has entries that the snapshot may not see, since the
								 * caller visits the heap for each; see gpb_visit_begin() */
	bool		early;			/* a list's first parts are small, since its reader may want no more
								 * than the first entries, and soon; their numbers mean nothing.
								 * One with a limit has no such parts. */
	Size		memory;			/* bytes to work in; 0 stands for hash_mem (work_mem times
								 * hash_mem_multiplier) */
} GpbBatchWant;

/*
 * Ranges that come a few at a time, as those that several processes share out: bounds, disjoint
 * from each other.  next() appends some, and then ranges may have moved; it returns false, and is
 * not called again, when there are no more.
 */
typedef struct GpbRangeSource
{
	bool		(*next) (struct GpbRangeSource *source);
	const GpbRange *ranges;		/* all that came */
	uint32		n;
} GpbRangeSource;

/* Numbers for EXPLAIN, summed over all runs */
typedef struct GpbBatchCounters
{
	const char *engine;			/* the engine of the last run */
	GpbEngineChoice choice;		/* what that engine was chosen by */
	uint64		runs;
	uint64		ranges;			/* number of ranges or keys */
	GpbWalkCounters walk;		/* leaves that the CPU visited */
	uint64		heap_fetches;	/* entries checked in the heap */
	uint64		heap_pages;		/* heap pages that were read for that, by whole pages */
	uint64		settled_pages;	/* looks at heap pages that were found settled (settled_pages.h) */
	uint64		cells;			/* leaves that the CPU passed by, by their cells (leaf_cells.h) */
	uint64		cells_none;		/* those of which no entry passes the program's filters */
	uint64		cells_recorded; /* leaves that it recorded */
	uint64		cell_misses[GPB_CELL_MISSES];	/* leaves that it could not pass by, by reason */
	const char *no_cells;		/* why cells were not asked at all, or NULL */
	uint64		matches;		/* entries aggregated or listed */
	uint64		requests;		/* requests sent to the device */
	uint64		unclean;		/* pieces of ranges that the device left to the CPU */
	uint64		refreshed_blocks;	/* blocks sent to the mirror by refreshes */
	uint64		fallbacks;		/* times that an engine gave up and another went on */
	uint64		widened;		/* times that a run began anew with wide exact sums */
	uint64		device_keys;	/* keys whose leaves a mirror of the inner nodes told */
	uint64		cpu_keys;		/* keys whose leaves were looked up in the tree instead */
	double		cpu_share;		/* the part of the keys of a request that the CPU looked up, in the
								 * last one */
} GpbBatchCounters;

typedef struct GpbBatch GpbBatch;

/*
 * Begin a batch over one index of a heap table.  The snapshot must be registered, or active, to the
 * end; both relations must be open and locked, by AccessShareLock at least, to the end.
 *
 * All memory is of a child of the current context, and about as much as is wanted of it at most,
 * but for answers, which are the caller's.  With a device, as much staging in shared memory is held
 * besides while gpb_batch_run() or gpb_batch_matches() runs.
 */
extern GpbBatch *gpb_batch_begin(Relation heap, Relation index, Snapshot snapshot,
								 const GpbBatchWant *want, GpbEngine engine);

/*
 * The bytes of a group of a program with group slots, as a batch begins.  For the planner: narrow
 * sums may turn out not to do.
 */
extern int	gpb_batch_group_width(const GpbProgram *program);

/*
 * Begin all runs with wide exact sums, since a narrow one did not hold a value before: see
 * "widened".  No run has begun yet.
 */
extern void gpb_batch_use_wide_sums(GpbBatch *batch);

/*
 * The format of the answers of this batch, which stays where it is.  A run whose groups have exact
 * sums may change it from narrow to wide sums, which gpb_answer_widen() follows.
 */
extern const GpbAnswerFormat *gpb_batch_format(const GpbBatch *batch);
/* The bytes of an answer of this batch, whichever form its sums have. */
extern Size gpb_batch_answer_width(const GpbBatch *batch);

/*
 * Answer n ranges, in the form that is wanted and in any order.  answers has room for n answers,
 * one after the other; if it is NULL there is only the total over all ranges.  The exact sums in
 * answers are normalized.  For a list answers is NULL, the ranges must live until the list was
 * read, and nothing is done yet: see gpb_batch_matches().
 */
extern void gpb_batch_run(GpbBatch *batch, const void *ranges, uint32 n, int64 *answers);

/*
 * Answer, all together, ranges that come while they are answered, by the CPU, whose turn it is to
 * take the next ones whenever it is done with those that came.  The batch's form is
 * GPB_RANGE_BOUNDS, and its program does not list.  Where a run begins anew, it begins with all
 * that came.
 */
extern void gpb_batch_run_source(GpbBatch *batch, GpbRangeSource *source);

/*
 * Begin a run like gpb_batch_run(), which gpb_batch_finish() completes.  If a device is to answer,
 * it is asked before this returns, unless there is no request slot: then this returns false, and it
 * is asked when the run is completed.  The ranges, and the answers, must stay till then.
 *
 * So several batches of one statement can be in flight.  Their slots, and others wait for such, are
 * held until each is completed: between the first submit and the last completion nothing may be
 * done that can take long or wait for other sessions, such as functions of users.
 *
 * The mirror that answers does not take the place of one that was used at keep_since or later; if
 * there is no other room, the CPU answers.
 */
extern bool gpb_batch_submit(GpbBatch *batch, const void *ranges, uint32 n, int64 *answers,
							 TimestampTz keep_since);
extern void gpb_batch_finish(GpbBatch *batch);

/*
 * The answer over all ranges of the last run that was given no answers.  It is valid until the next
 * run.
 */
extern const int64 *gpb_batch_total(const GpbBatch *batch);

/*
 * Did a step of the program fault in the last run, or did its groups need more than the batch's
 * memory?  Then the run has no answers, and the caller does without the program; *why says which,
 * for EXPLAIN.
 */
extern bool gpb_batch_gave_up(const GpbBatch *batch, const char **why);

/*
 * The groups of the last run of a program with group slots, one after the other and in any order:
 * *at is 0 at first.  Returns NULL after the last one.  A group is valid until the next run.
 */
extern const GpbGroup *gpb_batch_next_group(const GpbBatch *batch, uint64 *at);

/*
 * Many groups of the last run at a time: those that lie one after the other from number "at" on,
 * their first in *first.  Those of no entries are none.  Returns how many; 0 if there are no more.
 */
extern uint64 gpb_batch_adjacent_groups(const GpbBatch *batch, uint64 at, const char **first);

/* The number of groups of the last run */
extern uint64 gpb_batch_group_count(const GpbBatch *batch);

/*
 * Get the next part of the list: *n records, which lie gpb_entry_record_width() bytes apart.
 * Returns NULL at the end of the list.  The part is valid until the next call.
 *
 * Of an entry whose flags have GPB_RANGE_ENTRY_FAULTED the caller evaluates the conditions itself.
 * A list with a limit (program.h) may have more entries than are wanted.
 *
 * Within a part entries come about in the order of keys, and so they do over all parts of ranges
 * that one engine sorted together.  They never come in the order of the ranges' numbers: sort them
 * if that matters.
 */
extern GpbRangeEntry *gpb_batch_matches(GpbBatch *batch, uint64 *n);

/* Was the list handed out to its end?  If not, there may be another part. */
extern bool gpb_batch_at_end(const GpbBatch *batch);

extern const GpbBatchCounters *gpb_batch_counters(const GpbBatch *batch);

/*
 * Add the numbers of another batch to *counters.  The engine's name stays, unless there was none.
 */
extern void gpb_batch_counters_add(GpbBatchCounters *counters, const GpbBatchCounters *more);

/* Close what the batch opened, and free it.  After an error, the end of the transaction does so. */
extern void gpb_batch_end(GpbBatch *batch);

/*
 * About which part of all leaves of an index would the CPU pass by for a program without
 * constants, by cells that there are now?  For the planner.  Nothing may be locked; it takes some
 * microseconds.
 */
extern double gpb_passed_share(Relation heap, Relation index, Snapshot snapshot,
							   const GpbProgram *program);

/*
 * The least and the most ranges of a request to the device, and the most entries that are visited
 * in the heap without asking the device again (batch_device.c).  They are variables for the sake of
 * hold.h.
 */
extern int	gpb_chunk_least;
extern int	gpb_chunk_most;
extern int	gpb_unknown_least;

/* Record number i of several that lie "width" bytes apart. */
static inline GpbRangeEntry *
gpb_entry_at(void *records, uint64 i, int width)
{
	return (GpbRangeEntry *) ((char *) records + i * width);
}

#endif							/* GPB_BATCH_H */
