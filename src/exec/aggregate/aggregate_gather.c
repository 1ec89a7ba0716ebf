/*-------------------------------------------------------------------------
 *
 * aggregate_gather.c
 *	  Planning of aggregates over an index that several processes read together.
 *
 * Below core's Gather is a parallel-aware node that returns states; above it is the node of the
 * query, which merges them.  It is offered where the CPU is expected to answer: a device is asked
 * by one process, sooner than workers are there.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "exec/aggregate/aggregate_path.h"
#include "exec/answer/states.h"
#include "exec/price/price_constants.h"
#include "exec/shell/expressions.h"
#include "exec/shell/settings.h"
#include "exec/where/arms.h"
#include "mirror/mirror.h"

/*
 * May workers answer, at a price that can be below that of one process?  In them constants that may
 * fail have no subtransaction to fail in (program_bind_safe.c), and groups to skip would be looked
 * for by each.
 */
static bool
workers_may_pay(const GpbAggregateQuery *query, const GpbAggregatePath *serial)
{
	const GpbAggregatePlan *plan = &serial->plan;

	return query->rel->consider_parallel && max_parallel_workers_per_gather > 0 &&
		serial->path.path.total_cost > parallel_setup_cost &&
		!gpb_mirror_spares_cpu() &&
		plan->skips == NIL &&
		!gpb_may_fail((Node *) plan->program.constants) && !gpb_arms_may_fail(plan->arms) &&
		is_parallel_safe(query->root, (Node *) list_make2(query->grouping->groups,
														  query->grouping->aggrefs));
}

/* The number of workers, as core has it for a scan of so much of the index */
static int
count_workers(const GpbAggregateQuery *query, const IndexOptInfo *index)
{
	double		share = Min(query->rel->rows / Max(index->tuples, 1.0), 1.0);

	return compute_parallel_worker(query->rel, -1, ceil(index->pages * share),
								   max_parallel_workers_per_gather);
}

/* The processes that share the work, as core counts the leader among so many workers */
static double
count_shares(int workers)
{
	double		leader = 1.0 - 0.3 * workers;

	return workers + (parallel_leader_participation && leader > 0 ? leader : 0.0);
}

/* Let the leaf's path be one that several processes share, each of which makes all of its groups. */
static void
make_partial(Path *leaf, int workers)
{
	Cost		work = Max(leaf->total_cost - gpb_setup_cost, 0.0);

	leaf->parallel_aware = true;
	leaf->parallel_safe = true;
	leaf->parallel_workers = workers;
	leaf->startup_cost = gpb_setup_cost + work / count_shares(workers);
	leaf->total_cost = leaf->startup_cost + leaf->rows * cpu_tuple_cost;
}

/* The path that gathers states, of so many groups in all; a row has GPB_STATES_TOGETHER of them. */
static Path *
make_gather(const GpbAggregateQuery *query, Path *leaf)
{
	double		processes = leaf->parallel_workers + (parallel_leader_participation ? 1 : 0);
	double		rows = ceil(leaf->rows / GPB_STATES_TOGETHER) * processes;
	GatherPath *gather = create_gather_path(query->root, query->rel, leaf, leaf->pathtarget, NULL,
											&rows);

	gather->path.rows = leaf->rows * processes;
	return &gather->path;
}

void
gpb_aggregate_add_gather_path(const GpbAggregateQuery *query, const GpbAggregatePath *serial)
{
	GpbAggregateQuery states = *query;
	GpbAggregatePath *leaf;
	GpbAggregatePath *merging;
	const char *refusal;
	int			workers;

	if (!workers_may_pay(query, serial) ||
		(workers = count_workers(query, serial->index)) == 0)
		return;
	gpb_want_states(&states);
	leaf = gpb_cheapest_aggregate_path(&states, makeStringInfo());
	if (leaf == NULL)
		return;
	make_partial(&leaf->path.path, workers);
	merging = gpb_merging_aggregate_path(query, leaf, make_gather(query, &leaf->path.path),
										 leaf->may_give_up, &refusal);
	if (merging != NULL)
		gpb_offer_aggregate_path(query->grouped_rel, merging);
}
