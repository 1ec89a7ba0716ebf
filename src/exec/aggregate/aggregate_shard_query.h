/*-------------------------------------------------------------------------
 *
 * aggregate_shard_query.h
 *	  What a shard is asked for by one program of a node.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_SHARD_QUERY_H
#define GPB_AGGREGATE_SHARD_QUERY_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/aggregate/aggregate_shards.h"

#define GPB_MAX_SHARD_COLUMNS	100

/* Expressions are of the parent's columns. */
typedef struct GpbShardQuery
{
	Query	   *query;			/* which groups by the columns of groups, that of a clause being its
								 * reference */
	List	   *exprs;			/* one for each column */
	int			n;
	GpbShardColumn column[GPB_MAX_SHARD_COLUMNS];
	List	   *partial;		/* of partial aggregates: in the place of each expression what the
								 * scan returns it as; NIL otherwise */
	int		   *terms;			/* of each item: the term with its values */
	List	   *bins;			/* group expressions, of which shards make smaller bins, with
								 * CaseTestExpr in the place of the moment */
} GpbShardQuery;

/*
 * Fill in what is asked for by a program of a query of a parent whose other leaves return states
 * like those of "first".  Returns false if words of an answer can be made neither of core's
 * aggregates nor of partial states.
 */
extern bool gpb_shard_query(const GpbGrouping *grouping, const struct GpbAggregatePath *first,
							int program, GpbShardQuery *asked);

/* A query of the same tables that groups, and does nothing else, by nothing yet */
extern Query *gpb_shard_grouping_query(const Query *parse);

/*
 * The path of a foreign leaf's groups by what asked says, whose expressions are of the leaf's
 * columns; NULL if the wrapper has none (aggregate_shards.c).
 */
extern Path *gpb_shard_states_path(PlannerInfo *root, const GpbShardQuery *asked,
								   RelOptInfo *leaf);

/* ---- timestamps and dates (aggregate_shard_moments.c) ---- */

/* The type that a column of shards' rows has for values of this type: text for these */
extern Oid	gpb_shard_column_type(Oid type);

/* What a column of shards' rows is shown as that has the values of an expression */
extern Expr *gpb_shard_column(Expr *expression);

/* ---- groups by date_trunc() (aggregate_shard_bins.c) ---- */

/*
 * A call of date_bin(), whose second argument is the moment, by which a shard groups where the
 * query does by this call of date_trunc(); NULL if it is no such call, or none that bins are made
 * for.
 */
extern FuncExpr *gpb_shard_bin(Expr *expression);

/* The first or the last of moments, as an aggregate */
extern Expr *gpb_shard_moment(Expr *moment, bool last);

/* The call of date_trunc() with a CaseTestExpr for the moment */
extern Expr *gpb_shard_bin_result(const FuncExpr *call);

#endif							/* GPB_AGGREGATE_SHARD_QUERY_H */
