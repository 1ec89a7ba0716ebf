/*-------------------------------------------------------------------------
 *
 * subquery_place.h
 *	  Between the files that put GpubtreeSubquery nodes into a finished plan.
 *
 *	  subquery_place.c		where the nodes go
 *	  subquery_choose.c		which SubPlans they answer
 *	  subquery_make.c		the plan node, and what becomes of expressions
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SUBQUERY_PLACE_H
#define GPB_SUBQUERY_PLACE_H

#include "exec/subquery/subquery.h"

/* One statement */
typedef struct GpbPlacing
{
	PlannedStmt *statement;
	PlannerGlobal *glob;
	GpbSubqueryCandidate **of_plan; /* by plan_id */
	Bitmapset  *partly_read;	/* plan_ids of WITH queries that are not read to the end */
	Cost		saved;			/* in the plan that is being walked */
	bool		placed;			/* any node */
} GpbPlacing;

/* A SubPlan that a batch is to answer */
typedef struct GpbChoice
{
	SubPlan    *subplan;
	GpbSubqueryCandidate *candidate;
	GpbSubqueryMatch *match;
	int			range;			/* number of the range among the node's */
	int		   *items;			/* for each of the candidate's aggregates, its item of the range */
} GpbChoice;

/*
 * A walk over what is evaluated for each of some rows, to collect choices or to put them in place
 */
typedef struct GpbEachRow
{
	GpbPlacing *placing;
	Path	   *rows;			/* the rows, as a path without a price */
	bool		careful;		/* rows may be read that core does not come to: nothing that is
								 * evaluated for them may fail */
	bool		may_fail;		/* may an error be raised by bounds of a choice, or by what is
								 * evaluated below? */
	bool		on_top;			/* as in GpbSubqueryPlan */
	List	   *choices;
	Cost		stock;			/* what core's evaluation of the choices costs */
	AttrNumber	first_result;	/* 0: collect choices; else put their results in place, from this
								 * column on */
	Index		varno;			/* by which the results are referred to */
} GpbEachRow;

/* ---- subquery_choose.c ---- */

/*
 * Collect the choices of an expression that is evaluated for these rows.  What else is known of its
 * evaluation is taken from *like.
 */
extern GpbEachRow gpb_collect_choices(const GpbEachRow *like, Path *rows, void *expression);

/*
 * The expression, with choices collected or put in place (GpbEachRow.first_result) where they are
 * evaluated whenever the expression is.  The argument is a GpbEachRow.
 */
extern Node *gpb_each_row_mutator(Node *node, void *argument);

/*
 * The expression, with choices collected or put in place in the arguments of its aggregates that
 * have no filter: such an aggregate sees each row.  The argument is a GpbEachRow.
 */
extern Node *gpb_aggregated_mutator(Node *node, void *argument);

/* The price of answering the ranges of these rows, which have no price of their own, by a match */
extern GpbOuterPrice gpb_subquery_batch_price(const GpbSubqueryCandidate *candidate,
											  GpbSubqueryMatch *match, Path *rows);

/* ---- subquery_make.c ---- */

/*
 * The expression of a plan node over the columns that the node hands up, as OUTER_VAR; these leaves
 * are collected in the List that the argument points to.
 */
extern Node *gpb_leaf_mutator(Node *node, void *argument);

/* A target list of the columns of another, from 1 on, referred to by varno */
extern List *gpb_column_targets(List *targetlist, Index varno);

/* Append the expression to a target list. */
extern List *gpb_append_target(List *targets, Node *expression);

/*
 * Make the node above a child.  Target list and qual are over the child's columns, as OUTER_VAR,
 * with the choices in each->choices among them.  limit: the Limit that bounds what is read, or
 * NULL.
 */
extern Plan *gpb_make_subquery_node(GpbEachRow *each, Plan *child, List *targetlist, List *qual,
									Limit *limit);

#endif							/* GPB_SUBQUERY_PLACE_H */
