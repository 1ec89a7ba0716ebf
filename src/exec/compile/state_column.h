/*-------------------------------------------------------------------------
 *
 * state_column.h
 *	  The column of a path that returns states.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_STATE_COLUMN_H
#define GPB_STATE_COLUMN_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * What a state says, as an expression of type bytea: the groups, and the aggregates, each in part.
 * Nobody evaluates it; it is what core's plan nodes and EXPLAIN know of the column.
 */
extern Expr *gpb_state_expression(List *groups, List *aggrefs);

/* The target of whatever returns states */
extern PathTarget *gpb_state_target(Expr *state);

#endif							/* GPB_STATE_COLUMN_H */
