/*-------------------------------------------------------------------------
 *
 * aggregate_shards.h
 *	  Leaves of a parent that are foreign tables: a shard, the server that has the rows, aggregates
 *	  them, and returns groups.
 *
 * What is asked of a shard is SQL: the groups of the node's program, and of each group the number
 * of its rows and core's aggregates, of which the words of an answer can be made, which any
 * PostgreSQL answers; for exact sums of float8, and of squares, partial states, for which the shard
 * must have the extension, and its server the option extensions 'gpubtree'.  By-value aggregates
 * make groups of their values too.  Expressions that do not change while a statement runs, as
 * now(), are evaluated here and sent as parameters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_SHARDS_H
#define GPB_AGGREGATE_SHARDS_H

#include "postgres.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "exec/compile/grouping.h"
#include "exec/functions/date_units.h"
#include "exec/shell/node_private.h"

struct GpbAggregatePath;
struct GpbAggregatePlan;
struct GpbAggregateScan;

/* ---- what a shard's rows have ---- */

/* What becomes of a column of a shard's rows */
typedef enum GpbShardPart
{
	GPB_SHARD_GROUP,			/* the words of a group slot, or the number of a text */
	GPB_SHARD_BIN,				/* nothing: the moments of the row's bin have one result of the
								 * group expression, which is that of */
	GPB_SHARD_FIRST,			/* the first of them, and */
	GPB_SHARD_LAST,				/* the last */
	GPB_SHARD_ROWS,				/* the number of the group's rows */
	GPB_SHARD_COUNT,			/* of an item: the number of values, and so on */
	GPB_SHARD_SUM,
	GPB_SHARD_LEAST,
	GPB_SHARD_GREATEST,
	GPB_SHARD_AND,
	GPB_SHARD_OR,
	GPB_SHARD_XOR,
	GPB_SHARD_STATE				/* a partial state (exec/partial), of all terms of the item */
} GpbShardPart;

typedef struct GpbShardColumn
{
	GpbShardPart part;
	int			number;			/* of a group slot's value: the group expression, counted from 0, or
								 * behind them that of by-value aggregates; of first and last
								 * moments: the group expression's; else of the item, behind them
								 * those of filters of by-value aggregates */
	Oid			type;			/* of the values; a shard's rows may have texts of them */
} GpbShardColumn;

/* The columns of a program's groups */
typedef struct GpbShardForm
{
	int			n;
	GpbShardColumn *column;
} GpbShardForm;

/* ---- planning ---- */

typedef struct GpbShards GpbShards;

/*
 * Can a relation be asked for groups?  It is a foreign table of core's own postgres_fdw, whose way
 * to find out what may be sent is relied upon.
 */
extern bool gpb_is_shard(PlannerInfo *root, RelOptInfo *leaf);

/*
 * Find out what shards are to be asked for by a query of a parent whose other leaves return states
 * like those of "first".  Returns NULL, with *refusal set, if words of an answer can be made
 * neither of core's aggregates nor of partial states.
 */
extern GpbShards *gpb_shards_match(const GpbGrouping *grouping,
								   const struct GpbAggregatePath *first, const char **refusal);

/*
 * The paths of a leaf's groups, one for each program of the node, whose rows have no state, the
 * program's number, and columns for the groups of each program, all NULL but its own.  NIL if the
 * foreign-data wrapper has none.
 */
extern List *gpb_shard_paths(GpbShards *shards, RelOptInfo *leaf);

/*
 * May a row of a shard have what no words say, or an expression whose value is sent raise an error?
 * To be asked when the paths of all leaves have been made.
 */
extern bool gpb_shards_may_give_up(const GpbShards *shards);

/* Add columns to the target of states, so that rows of states and of groups can come together. */
extern void gpb_shards_widen(const GpbShards *shards, PathTarget *target);

/* Let the plan know the columns of shards' rows. */
extern void gpb_shards_fill(const GpbShards *shards, struct GpbAggregatePlan *plan);

/*
 * An index that the foreign leaf would have if it were a table, as the partitioned table above it
 * has one that holds all columns of the query; NULL if there is none.
 */
extern IndexOptInfo *gpb_shard_index(const GpbGrouping *grouping, RelOptInfo *leaf);

/*
 * Let a foreign leaf of a parent offer states of the extension's aggregates to core, where core
 * aggregates partitions by themselves (aggregate_shard_states.c).
 */
extern void gpb_shard_offer_states(PlannerInfo *root, RelOptInfo *leaf);

/*
 * May evaluating an expression whose value is sent raise an error, to which core might not come, as
 * it evaluates it for rows?
 */
extern bool gpb_sent_may_fail(Node *expression);

/* ---- execution ---- */

/* The value of this type that a column of a shard's row has (aggregate_shard_moments.c) */
extern Datum gpb_shard_value(Oid type, Datum column);

/*
 * Has the zone of a call of date_trunc(), as of a plan's bins, one offset from the first moment to
 * the last?
 */
extern bool gpb_shard_bin_is_steady(const FuncExpr *call, int64 first, int64 last);

/*
 * Is it clear, without evaluating the call for it, that "last" is in the group that the call makes
 * of a moment that is not later, and so is all between?  "unit" is the call's.
 */
extern bool gpb_shard_bin_reaches(const FuncExpr *call, const GpbTruncUnit *unit, int64 group,
								  int64 last);

/*
 * Let constants be written so that shards read them, whatever the session's settings are, until the
 * level that is returned is left (aggregate_shard_modes.c).  An error leaves it, too.
 */
extern int	gpb_shard_modes_enter(void);
extern void gpb_shard_modes_leave(int level);

typedef struct GpbShardRows GpbShardRows;

/* Prepare to read rows of groups, and let errors that a shard raises name it. */
extern void gpb_shards_begin(struct GpbAggregateScan *scan);

/*
 * Before a shard is asked, try what is sent to it.  Returns NULL, or that a value cannot be had
 * without an error, which the ordinary plan raises if it comes to it.
 */
extern const char *gpb_shards_try_sent(struct GpbAggregateScan *scan);

/*
 * Merge a row of groups into the answers of the node.  Returns NULL, or why there is no answer.
 */
extern const char *gpb_shards_merge(struct GpbAggregateScan *scan, TupleTableSlot *row);

#endif							/* GPB_AGGREGATE_SHARDS_H */
