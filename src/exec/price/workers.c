/*-------------------------------------------------------------------------
 *
 * workers.c
 *	  How many processes share an index, and what that makes of a price.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"

#include "exec/price/price_constants.h"
#include "exec/price/workers.h"

int
gpb_count_workers(RelOptInfo *rel, const IndexOptInfo *index, double entries)
{
	double		share = Min(entries / Max(index->tuples, 1.0), 1.0);

	return compute_parallel_worker(rel, -1, ceil(index->pages * share),
								   max_parallel_workers_per_gather);
}

double
gpb_count_shares(int workers)
{
	double		leader = 1.0 - 0.3 * workers;

	return workers + (parallel_leader_participation && leader > 0 ? leader : 0.0);
}

bool
gpb_workers_save_time(Cost work, bool plain, int workers)
{
	Cost		start = parallel_setup_cost * (GPB_WORKERS_START + GPB_WORKER_START * workers);

	if (plain)
		work *= GPB_PLAIN_TIME;
	return work * (1.0 - 1.0 / gpb_count_shares(workers)) >= start;
}
