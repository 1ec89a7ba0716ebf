/*-------------------------------------------------------------------------
 *
 * subquery_match.h
 *	  Which subqueries an index can answer: one row of aggregates over one table, with conditions
 *	  on the index's key, and others that a program can test.  LATERAL and scalar subqueries are
 *	  alike in this.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SUBQUERY_MATCH_H
#define GPB_SUBQUERY_MATCH_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/price/outer_price.h"
#include "exec/shell/plan_columns.h"
#include "exec/where/partition_match.h"
#include "exec/where/range_conditions.h"

/* One way to answer a subquery: an index, its conditions and its aggregates */
typedef struct GpbSubqueryMatch
{
	IndexOptInfo *index;
	double		entries;		/* in the range of one outer row, before a program drops any */
	List	   *values;			/* what the key is compared with in each condition, over Params */
	GpbRowRange range;
	GpbPartitionMatch *partitions;	/* all leaves, or NULL */

	/*
	 * what a batch costs for the outer rows that it was last priced for, by their number and shape
	 */
	double		priced_rows;
	int			priced_columns;
	int			priced_width;
	GpbOuterPrice price;
} GpbSubqueryMatch;

/*
 * The table of a subquery that is one row of aggregates over it, or none where HAVING rejects it;
 * it may be the only leaf of the one that the subquery names, or a model of several, which *leaves
 * has then, else NIL (gpb_of_child()).  NULL if the subquery is anything else.  To be called when
 * the subquery's paths are made, or later.
 */
extern RelOptInfo *gpb_subquery_table(PlannerInfo *subroot, List **leaves);

/*
 * Add the distinct Aggrefs of an expression of the subquery's target list to *aggrefs, which may
 * have some already.  Returns false if the expression needs anything else of the table, or must not
 * be computed outside the subquery.
 */
extern bool gpb_subquery_aggrefs(Node *expression, List **aggrefs);

/*
 * Fill in the match for an index of the subquery's table, and of its leaves one like it; false if
 * the index cannot answer the Aggrefs, over that table's columns, under the subquery's conditions.
 * columns: as gpb_collect_range_columns() finds them.
 */
extern bool gpb_match_subquery(PlannerInfo *subroot, IndexOptInfo *index, List *leaves,
							   List *aggrefs, const GpbRangeColumns *columns,
							   GpbSubqueryMatch *match);

#endif							/* GPB_SUBQUERY_MATCH_H */
