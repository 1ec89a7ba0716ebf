/*-------------------------------------------------------------------------
 *
 * worker_aggregate.h
 *	  The aggregates by which Citus asks its workers for transition states of others.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_WORKER_AGGREGATE_H
#define GPB_WORKER_AGGREGATE_H

#include "postgres.h"
#include "nodes/primnodes.h"

#include "exec/functions/core_aggregate.h"

/*
 * The aggregate whose state this one returns, with its own arguments and the same FILTER; NULL if
 * it is none of Citus's, or of a state that no node makes.  *state is filled in: what is to be
 * computed.
 */
extern Aggref *gpb_worker_aggregate(const Aggref *aggref, GpbAggregate *state);

#endif							/* GPB_WORKER_AGGREGATE_H */
