/*-------------------------------------------------------------------------
 *
 * range_conditions.h
 *	  Conditions "key OP value" whose values come from rows: each row's range of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGE_CONDITIONS_H
#define GPB_RANGE_CONDITIONS_H

#include "postgres.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"

#include "exec/bind/row_program.h"
#include "exec/compile/items.h"
#include "exec/where/condition_match.h"
#include "program/ranges.h"

/* What is asked of one table for each row: a range of an index's keys, and aggregates over it */
typedef struct GpbRowRange
{
	Oid			index;
	const char *alias;			/* the table's alias, for EXPLAIN; NULL if it has only its name */
	int			nconditions;	/* at least one */
	GpbRangeCondition *conditions;
	int			nitems;
	GpbAggregateItem *items;
	GpbRowProgram program;		/* of the entries; its constants are the caller's to carry */
} GpbRowRange;

/* ---- planning ---- */

/* A clause as a condition on a key column, if it is one */
typedef struct GpbRangeClause
{
	RestrictInfo *rinfo;
	GpbRangeCondition condition;	/* column: GPB_NO_KEY_COLUMN if it is none */
	Expr	   *value;			/* an expression that is not volatile, has no subplan, and no Vars
								 * of the index's table */
} GpbRangeClause;

/* A column behind all of an index's, so that no condition is on a column up to any */
#define GPB_NO_KEY_COLUMN	PG_INT32_MAX

/*
 * Match clauses, RestrictInfos, with the key columns of a usable index: is each "column OP value",
 * or that commuted?  Returns an array, in the list's order.  *last is the last column, counted from
 * 0, that they can bound with a range for each row: those before it equal one value each.  So
 * conditions on the columns up to *last make the range.
 */
extern GpbRangeClause *gpb_match_range_clauses(PlannerInfo *root, IndexOptInfo *index,
											   List *rinfos, int *last);

/* ---- what travels in the plan ---- */

/* Append conditions to a plan's private list, without their values. */
extern void gpb_put_range_conditions(List **private, const GpbRangeCondition *conditions, int n);

/* Get what gpb_put_range_conditions() appended; returns their number. */
extern int	gpb_get_range_conditions(GpbPrivateReader *reader, GpbRangeCondition **conditions);

/* Append the range to a plan's private list. */
extern void gpb_put_row_range(List **private, const GpbRowRange *range);

/* Get what gpb_put_row_range() appended; arrays are palloc'd. */
extern void gpb_get_row_range(GpbPrivateReader *reader, GpbRowRange *range);

/* ---- execution ---- */

/* The conditions of a range, ready to be evaluated for rows */
typedef struct GpbRangeValues GpbRangeValues;

/* Stands for the number of a row's range in its batch if the row has no range. */
#define GPB_NO_RANGE	PG_UINT32_MAX

/*
 * Prepare n conditions, whose values are expressions over the node's scan tuple, one for each.  All
 * memory is of the current context.
 */
extern GpbRangeValues *gpb_range_values_begin(Relation index, int nconditions,
											  const GpbRangeCondition *conditions,
											  List *expressions, PlanState *ps);

/*
 * The form of the ranges in a batch's input: GPB_RANGE_POINTS if each row's range is one key, else
 * GPB_RANGE_KEYS.
 */
extern GpbRangeForm gpb_range_values_form(const GpbRangeValues *values);

/* Bytes of a range in a batch's input */
extern Size gpb_range_values_width(const GpbRangeValues *values);

/* Are all values plain columns of the row, so that gpb_range_of_row() needs no scan tuple? */
extern bool gpb_range_values_are_columns(const GpbRangeValues *values);

/*
 * Put the range of keys that satisfy all conditions at "range"; returns false if no key does.  The
 * row's columns are in the slot and, unless the values are plain columns, in the expression
 * context's scan tuple, too.
 */
extern bool gpb_range_of_row(GpbRangeValues *values, ExprContext *econtext,
							 TupleTableSlot *slot, void *range);

/*
 * Show the index, the table and the conditions of a range, or the parent of the partitions that are
 * asked, if that is not InvalidOid.  The conditions are put together from their parts, since the
 * plan has no Var of the table.  values has one expression over the node's scan tuple for each.
 */
extern void gpb_explain_row_range(const GpbRowRange *range, Oid parent, List *values,
								  CustomScanState *css,
								  List *ancestors, ExplainState *es);

#endif							/* GPB_RANGE_CONDITIONS_H */
