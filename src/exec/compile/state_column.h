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

#include "program/program.h"

/*
 * What a state says, as an expression of type bytea: the groups, and the aggregates, each in part.
 * Nobody evaluates it; it is what core's plan nodes and EXPLAIN know of the column.
 */
extern Expr *gpb_state_expression(List *groups, List *aggrefs);

/* The target of whatever returns states */
extern PathTarget *gpb_state_target(Expr *state);

/* Have the terms of two programs, whose states are to be merged, the same words in answers? */
extern bool gpb_terms_agree(const GpbProgram *a, const GpbProgram *b);

#endif							/* GPB_STATE_COLUMN_H */
