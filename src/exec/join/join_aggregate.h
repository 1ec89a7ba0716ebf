/*-------------------------------------------------------------------------
 *
 * join_aggregate.h
 *	  Inside the node GpubtreeJoinAggregate; what the node does is in README.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_JOIN_AGGREGATE_H
#define GPB_JOIN_AGGREGATE_H

#include "exec/bind/row_program.h"
#include "exec/compile/items.h"
#include "exec/shell/node_shell.h"
#include "exec/where/range_conditions.h"

/*
 * The fields of the plan node, which joins the outer plan with one table.  Its scan tuple has the
 * outer plan's columns, the value of each item and, never filled, the key columns.
 */
typedef struct GpbJoinAggregatePlan
{
	Oid			index;
	int			nouter;			/* columns of the outer plan */
	int			nitems;
	GpbAggregateItem *items;
	const char *alias;			/* the table's, while the query is planned */
	GpbRowProgram program;		/* where the items take one; gpb_row_program_is_certain() */
	int			nconditions;	/* "key column OP value" of an outer row, as in GpbJoinPlan */
	GpbRangeCondition *conditions;
	List	   *clauses;		/* the same as OpExprs */
} GpbJoinAggregatePlan;

/* Put the fields into the plan node. */
extern void gpb_join_aggregate_put(const GpbJoinAggregatePlan *plan, CustomScan *scan);

/* Get the fields of the plan node; items are palloc'd. */
extern void gpb_join_aggregate_get(const CustomScan *scan, GpbJoinAggregatePlan *plan);

extern const GpbNodeKind gpb_join_aggregate_node;

/* Offer our paths for the grouping of a join; to be called from create_upper_paths_hook. */
extern void gpb_join_aggregate_add_paths(PlannerInfo *root, RelOptInfo *input_rel,
										 RelOptInfo *grouped_rel);

#endif							/* GPB_JOIN_AGGREGATE_H */
