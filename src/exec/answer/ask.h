/*-------------------------------------------------------------------------
 *
 * ask.h
 *	  How every node asks the engine: aggregates over ranges of indexes, their groups, and lists.
 *
 * A node begins one GpbAsk for each thing that it wants to know, when it begins itself; that costs
 * nothing of the engine.  For each execution it sets the constants of the program, if there is one,
 * and asks for ranges as often as it likes.  The batch (batch.h) that answers is begun with the
 * first question.  Whatever ends a batch keeps what it counted, and its engine's name, for EXPLAIN.
 *
 * Answers are added up by groups, of one range or of several, and a group's answer becomes the
 * aggregates' values.  There is one group at a time.
 *
 * An ask that collects has no batch, but an answer that its node puts together, and then reads in
 * the same way.
 *
 * An ask has an array of targets, each a table with an index, so that one question can be put to
 * several indexes.  Each has its own constants, since codes are those of an index's dictionary, and
 * its own batch; their answers are merged in ask.c, groups where merge_groups.h merges those of one
 * program.  Nodes over partitions have several, each of which is asked for its share of the ranges
 * (partitions.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ASK_H
#define GPB_ASK_H

#include "postgres.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"

#include "engine/batch.h"
#include "exec/answer/collected.h"
#include "exec/compile/items.h"
#include "exec/compile/program_build.h"

typedef struct GpbAsk GpbAsk;

/* One of the tables that are asked; both relations stay open and locked to the end. */
typedef struct GpbAskTarget
{
	Relation	heap;
	Relation	index;
} GpbAskTarget;

/*
 * What is asked.  What pointers point to must live as long as the ask, but for the targets, which
 * are copied.
 */
typedef struct GpbAskWant
{
	int			ntargets;
	const GpbAskTarget *targets;
	const GpbProgramPlan *plan; /* the program; NULL: there is none, as for bare columns of all
								 * entries, or a list of them, or it comes with
								 * gpb_ask_set_program() */
	const GpbProgram *program;	/* a part of the plan's program that is done; NULL: all of it */
	GpbAsk	   *constants_of;	/* an ask of the same plan that has the constants; NULL: this one */
	int			nitems;
	const GpbAggregateItem *items;	/* over the program's terms or, without one, over columns */
	bool		list;			/* without a plan: is it the entries that are asked for? */
	bool		collects;		/* nobody is asked: the caller puts the answer together, from groups
								 * that others have found, or from rows (gpb_ask_collected()).  The
								 * one target's index tells how entries are laid out. */
	GpbRangeForm form;			/* of the ranges */
	bool		heap_rows;		/* of a list, as in GpbBatchWant; one with a limit has none */
	bool		early;			/* as in GpbBatchWant, like what follows */
	Size		memory;
	GpbEngine	engine;
} GpbAskWant;

/*
 * Begin, with the snapshot of the node's statement.  All memory is of a child of the current
 * context.
 */
extern GpbAsk *gpb_ask_begin(PlanState *ps, const GpbAskWant *want);

/* The relations of a node that asks one index */
#define GPB_ASK_NODE(node) \
	.ntargets = 1, .targets = &(GpbAskTarget) {(node)->heap, (node)->index}

/* The number of targets */
extern int	gpb_ask_targets(const GpbAsk *ask);

/* End the ask, which may be NULL. */
extern void gpb_ask_end(GpbAsk *ask);

/* ---- the program ---- */

/*
 * Evaluate the constants for one execution, where they may fail in a way that raises no error of
 * theirs (program_bind_safe.h).  What answered with others ends.  An ask that has constants_of
 * takes those over, which were bound just before.  Returns NULL, or why the program has no answer.
 */
extern const char *gpb_ask_bind(GpbAsk *ask, ExprContext *econtext);

/*
 * Must the constants be bound when the node begins?  They may fail, the statement has parallel
 * workers, and no subtransaction can begin once it is in parallel mode; and they need no value of a
 * subquery, which is not there yet.
 */
extern bool gpb_ask_binds_early(const GpbAsk *ask, const EState *estate);

/*
 * Ask by this program, whose constants are set, and with ranges of this form, until constants are
 * bound again.  What answers goes on if neither has changed.
 */
extern void gpb_ask_set_program(GpbAsk *ask, const GpbProgram *program, GpbRangeForm form);

/* Ask with ranges of this form from now on. */
extern void gpb_ask_set_form(GpbAsk *ask, GpbRangeForm form);

/* ---- questions ---- */

/*
 * Answer each of n ranges, or all together.  The answers to each are good until the next question.
 * One over all of n disjoint ranges is added to the group or, if the program has group slots, is
 * the groups.  Returns NULL, or why there is no answer: a step faulted, or groups took too much
 * memory.
 */
extern const char *gpb_ask_each(GpbAsk *ask, const void *ranges, uint32 n);
extern const char *gpb_ask_total(GpbAsk *ask, const void *ranges, uint32 n);

/* What one target is asked of a question */
typedef struct GpbAskShare
{
	const void *ranges;
	uint32		n;
	const uint32 *number;		/* of each, its number in the question; NULL: its own place */
} GpbAskShare;

/*
 * The same where each target is asked for ranges of its own, a share each.  The answer to one is
 * added to that number of the question, which has n.
 */
extern const char *gpb_ask_each_share(GpbAsk *ask, const GpbAskShare *shares, uint32 n);
extern const char *gpb_ask_total_shares(GpbAsk *ask, const GpbAskShare *shares);

/*
 * gpb_ask_total() over ranges that come while they are answered; the form of ranges is
 * GPB_RANGE_BOUNDS, and the target is one.
 */
extern const char *gpb_ask_total_source(GpbAsk *ask, GpbRangeSource *source);

/*
 * Ask for what gpb_ask_total() will be called for next, with the same ranges, so that a device
 * answers meanwhile: gpb_batch_submit() says what that takes, and returns.  There is one target.
 */
extern bool gpb_ask_submit_total(GpbAsk *ask, const void *ranges, uint32 n,
								 TimestampTz keep_since);

/* Ask for a list of entries, and get its parts, as gpb_batch_run() and gpb_batch_matches() do. */
extern void gpb_ask_list(GpbAsk *ask, const void *ranges, uint32 n);
extern GpbRangeEntry *gpb_ask_matches(GpbAsk *ask, uint64 *n);

/* Was the list handed out to its end? */
extern bool gpb_ask_at_end(const GpbAsk *ask);

/* Give back the memory that answers to each range take. */
extern void gpb_ask_forget(GpbAsk *ask);

/* End what answers, and with it groups and lists; the next question begins it anew. */
extern void gpb_ask_stop(GpbAsk *ask);

/* ---- an answer that is put together ---- */

/*
 * Of an ask that collects: its answer, without entries since it began, its constants were bound, or
 * it stopped.  Once it is complete gpb_ask_use_collected() makes the answer over all entries of a
 * program without group slots the group at hand, as gpb_ask_total() does.
 */
extern GpbCollected *gpb_ask_collected(const GpbAsk *ask);
extern void gpb_ask_use_collected(GpbAsk *ask);

/* The constants of an ask of one target that has them, and of those that take them over */
extern const GpbProgramConstants *gpb_ask_constants(const GpbAsk *ask);

/* The program that is done, with the constants that were bound last */
extern const GpbProgram *gpb_ask_program(const GpbAsk *ask);

/* ---- answers ---- */

/* The bytes of an answer, at most, and the format that answers have now */
extern Size gpb_ask_answer_width(const GpbAsk *ask);
extern const GpbAnswerFormat *gpb_ask_format(const GpbAsk *ask);

/* The answer to one range of the last question; its first word is the number of entries. */
extern const int64 *gpb_ask_answer(const GpbAsk *ask, uint32 range);

/* Where the words of an item's column are in answers; NULL for count(*) */
extern const GpbAnswerColumn *gpb_ask_column(const GpbAsk *ask, int item);

/*
 * The groups of the last question: their number; those that lie one after the other from number
 * "at" on, as gpb_batch_adjacent_groups() has them; and the next one, *at being 0 at first, NULL
 * after the last.  What gpb_ask_next_group() returns is the group at hand.
 */
extern uint64 gpb_ask_group_count(const GpbAsk *ask);
extern uint64 gpb_ask_adjacent_groups(const GpbAsk *ask, uint64 at, const char **first);
extern const GpbGroup *gpb_ask_next_group(GpbAsk *ask, uint64 *at);

/* ---- the group at hand ---- */

/* Begin a group: it has no entries. */
extern void gpb_group_init(GpbAsk *ask);

/* Have the group be one whose answer the caller has added up, and keeps. */
extern void gpb_group_set(GpbAsk *ask, const int64 *answer);

/* Add an answer, which stays where it is until the next question. */
extern void gpb_group_add(GpbAsk *ask, const int64 *answer);

/* Add n entries of which nothing but their number is known, or also that keys are not NULL. */
extern void gpb_group_count(GpbAsk *ask, int64 n, bool keys);

/* The answer over the group; its first word is the number of entries. */
extern const int64 *gpb_group_answer(const GpbAsk *ask);

/*
 * The aggregates' values over the group.  values and isnull are of the items' number; what is not
 * passed by value is allocated in the current context.
 */
extern void gpb_group_final(const GpbAsk *ask, Datum *values, bool *isnull);

/* ---- EXPLAIN ---- */

/*
 * What all batches counted is added to *counters; where these are all zeros, they get the name of
 * the engine of the last question too, "none" if there was no batch.  ask is NULL where the node
 * began for EXPLAIN alone, as an ordinary plan that is shown does.
 */
extern void gpb_ask_counters(const GpbAsk *ask, GpbBatchCounters *counters);

/* Show that of one ask; inputs as for gpb_explain_counters() */
extern void gpb_ask_explain(const GpbAsk *ask, const char *inputs, ExplainState *es);

/* The engine of the last question */
extern const char *gpb_ask_engine(const GpbAsk *ask);

#endif							/* GPB_ASK_H */
