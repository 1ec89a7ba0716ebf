/*-------------------------------------------------------------------------
 *
 * aggregate_values.h
 *	  Aggregates that depend on how often each value of an expression occurs: those with DISTINCT,
 *	  percentiles, mode(), and states of values; and min() and max() of texts, whose words, the
 *	  codes of a dictionary, have another order.
 *
 * The program has one group slot more than the query has groups, for the expression.  So its
 * answers say, for each group of the query, which values there are and how many entries have each.
 * The node puts those of a group together, in the order of values.  Of several expressions each
 * has a program of its own (aggregate_subprograms.h).
 *
 *	aggregate_values_match.c	which aggregates
 *	aggregate_values.c			the records of the program's groups, in order
 *	aggregate_values_final.c	an aggregate's value over the records of one group
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_VALUES_H
#define GPB_AGGREGATE_VALUES_H

#include "postgres.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "utils/rel.h"

#include "exec/answer/merge_groups.h"
#include "exec/compile/items.h"
#include "exec/compile/program_words.h"
#include "exec/compile/program_build.h"

/*
 * One such aggregate.  What is none of texts, no percentile, not mode() and no state has DISTINCT.
 */
typedef struct GpbValuesItem
{
	GpbAggregateItem each;		/* its function; with DISTINCT: what is done with each value */
	bool		many;			/* of a percentile: an array of fractions */
	bool		descending;		/* the order of a percentile or mode() */
	Oid			type;			/* of the result or, if there are many, of each */
	Oid			compare;		/* of min() and max() of texts: core's function that compares two */
	Oid			collation;		/* by which it does */
	GpbAggregateItem filter;	/* with FILTER: the term that counts the entries it admits */
	bool		has_filter;
} GpbValuesItem;

/* The fields of a plan node that are about such aggregates of one expression */
typedef struct GpbValuesPlan
{
	int			n;
	GpbValuesItem *items;
	GpbWordType type;			/* of the words of the values */
	int			term;			/* the program's term over the expression; -1: the slots are those
								 * of its last group */
	List	   *value;			/* the expression */
	List	   *fractions;		/* an Expr for each percentile, in the order of items */
} GpbValuesPlan;

/* ---- planning ---- */

/*
 * Does the aggregate depend on how often each value occurs, or is it min() or max() of codes?
 * Those with DISTINCT of which that makes no difference, as min(DISTINCT x) of an integer, do not:
 * gpb_without_distinct() is as good.
 */
extern bool gpb_depends_on_values(const Aggref *aggref);

/* The aggregate without DISTINCT */
extern Aggref *gpb_without_distinct(Aggref *aggref);

/*
 * Match the aggregates, for all of which gpb_depends_on_values() is true, and add what they need to
 * the program: the values of the first expression are its last group slot, those of others have
 * terms.  There is a plan for each of the *n expressions.  *ordered has the aggregates in the order
 * of the plans' items.  Returns NULL, or why they cannot be answered.
 */
extern const char *gpb_values_match(GpbProgramBuilder *builder, List *aggrefs,
									GpbValuesPlan **plans, int *n, List **ordered);

/* The bytes of memory that the node needs for each group of the program, beside the batch */
extern Size gpb_values_width(void);

/* The price of bringing so many groups of the program into order, and of taking each in turn */
extern Cost gpb_values_cost(double groups);

/* Append the fields to a plan's private list.  The expressions are left to the caller. */
extern void gpb_values_put(List **private, const GpbValuesPlan *plan);

/* Read what gpb_values_put() appended. */
extern void gpb_values_get(GpbPrivateReader *reader, GpbValuesPlan *plan);

/* ---- execution ---- */

typedef struct GpbValuesScan GpbValuesScan;

/*
 * Prepare the aggregates of a plan over a program, whose last group slot is that of the values; bit
 * i of floats says that group slot i is a float8.  Plan and program must live as long.
 * Memory is of the current context.
 */
extern GpbValuesScan *gpb_values_begin(const GpbValuesPlan *plan, const GpbProgram *program,
									   uint32 floats, const GpbCodeSource *codes,
									   PlanState *ps);

/*
 * Take the groups of the list, which must stay as they are.  Memory is of the current context,
 * which must live until the next call.
 */
extern void gpb_values_collect(GpbValuesScan *scan, const GpbGroupList *groups);

/*
 * Go to the next group of the query; *at is 0 at first.  There is one, if the query has no group
 * expressions; else there are those of the records.  Returns false after the last one.
 */
extern bool gpb_values_next(GpbValuesScan *scan, uint64 *at);

/* One of the program's groups within the group of the query, or NULL if there is none */
extern const GpbGroup *gpb_values_any(const GpbValuesScan *scan);

/* Add the answers to the group of the query to the ask's group. */
extern void gpb_values_add(const GpbValuesScan *scan, GpbAsk *ask);

/*
 * The aggregates' values over the group of the query.  values and isnull are of their number; what
 * is not passed by value is allocated in the current context.  Raises what core's would.
 */
extern void gpb_values_final(GpbValuesScan *scan, ExprContext *econtext, Datum *values,
							 bool *isnull);

#endif							/* GPB_AGGREGATE_VALUES_H */
