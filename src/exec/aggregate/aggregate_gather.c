/*-------------------------------------------------------------------------
 *
 * aggregate_gather.c
 *	  Planning of aggregates that several processes answer together.
 *
 * Below core's Gather each process returns states, and above it the node of the query merges them.
 * Processes share one index, by a parallel-aware node, or take whole leaves of a parent from a
 * Parallel Append, in which a large leaf is shared too.  It is offered where the CPU is expected to
 * answer: a device is asked by one process, sooner than workers are there.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/genam.h"
#include "access/table.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "port/pg_bitutils.h"
#include "utils/snapmgr.h"

#include "engine/batch.h"
#include "exec/aggregate/aggregate_path.h"
#include "exec/answer/states.h"
#include "exec/compile/state_column.h"
#include "exec/price/price_constants.h"
#include "exec/price/workers.h"
#include "exec/shell/expressions.h"
#include "exec/shell/settings.h"
#include "exec/where/arms.h"
#include "mirror/mirror.h"

/* ---- may workers answer? ---- */

/*
 * May they, and may they pay for what it takes to start them, where one process costs so much?
 * This is cheap, and asked before paths are made.
 */
static bool
workers_may_pay(const GpbAggregateQuery *query, Cost serial)
{
	return query->rel->consider_parallel && max_parallel_workers_per_gather > 0 &&
		serial > parallel_setup_cost && !gpb_mirror_spares_cpu() &&
		is_parallel_safe(query->root, (Node *) list_make2(query->grouping->groups,
														  query->grouping->aggrefs));
}

/*
 * May a worker run the node of a leaf's path?  There is no subtransaction in which constants may
 * fail (program_bind_safe.c).  The table's restrictions are parallel safe, by core's
 * consider_parallel.
 */
static bool
leaf_is_safe(const CustomPath *leaf)
{
	const GpbAggregatePlan *plan = &gpb_aggregate_model(leaf)->plan;

	if (plan->source == GPB_OF_ROWS && !((Path *) linitial(leaf->custom_paths))->parallel_safe)
		return false;
	return leaf->path.parent->consider_parallel &&
		!gpb_may_fail((Node *) plan->program.constants) && !gpb_arms_may_fail(plan->arms);
}

/*
 * The number of workers that share the leaf's index, as core has it for a scan of so much of it; 0
 * if it is not to be shared.  Each process would look for all groups that are skipped to.  Of a
 * leaf that is alike another the price tells how much of that one's index it has.
 */
static int
count_workers(const CustomPath *leaf)
{
	const GpbAggregatePath *model = gpb_aggregate_model(leaf);
	double		entries = model->entries;

	if (model->plan.source != GPB_OF_INDEX || model->plan.skips != NIL)
		return 0;
	if (leaf != &model->path)
		entries *= leaf->path.total_cost / Max(model->path.path.total_cost, 1.0);
	return gpb_count_workers(leaf->path.parent, model->index, entries);
}

/* ---- leaves that are passed by ---- */

/*
 * About which part of the leaves of the path's index are passed by now, since cells have what they
 * add up to?  A program with constants is not asked about, since these are not known.
 */
static double
passed_share(PlannerInfo *root, const GpbAggregatePath *path)
{
	const GpbAggregatePlan *plan = &path->plan;
	Relation	heap;
	Relation	index;
	GpbProgram *program;
	double		share;

	if (!ActiveSnapshotSet() || plan->source != GPB_OF_INDEX || plan->nvalues > 0 ||
		plan->sets.nphases != 1 || plan->program.program.nconstants > 0)
		return 0.0;
	program = palloc(sizeof(GpbProgram));
	memcpy(program, &plan->program.program, sizeof(GpbProgram));
	if (!plan->has_program)
	{
		memset(program, 0, sizeof(GpbProgram));
		gpb_aggregate_wants(plan->items, plan->nitems, program->want);
	}
	/* the planner holds locks already */
	heap = table_open(planner_rt_fetch(path->index->rel->relid, root)->relid, NoLock);
	index = index_open(path->index->indexoid, NoLock);
	share = gpb_passed_share(heap, index, GetActiveSnapshot(), program);
	index_close(index, NoLock);
	table_close(heap, NoLock);
	pfree(program);
	return share;
}

/* What is left of a price where so many of the leaves are passed by */
static Cost
price_of_rest(Cost cost, double share)
{
	return gpb_setup_cost + Max(cost - gpb_setup_cost, 0.0) * (1.0 - GPB_PASSED_GAIN * share);
}

/*
 * Have a path of one index have the price that it has where so many of the leaves are passed by:
 * else a plan of core's with workers would take its place.
 */
static void
lower_price(Path *path, double share)
{
	Cost		run = path->total_cost - path->startup_cost;

	path->startup_cost = price_of_rest(path->startup_cost, share);
	path->total_cost = path->startup_cost + run;
}

/* ---- paths ---- */

/* The processes that return states */
static int
count_processes(int workers)
{
	return workers + (parallel_leader_participation ? 1 : 0);
}

/*
 * Let the path, which is the caller's own, be one that so many workers share.  Each process makes
 * all of its groups.
 */
static void
make_shared(Path *leaf, int workers)
{
	Cost		work = Max(leaf->total_cost - gpb_setup_cost, 0.0);

	leaf->parallel_aware = true;
	leaf->parallel_workers = workers;
	leaf->startup_cost = gpb_setup_cost + work / gpb_count_shares(workers);
	leaf->total_cost = leaf->startup_cost + leaf->rows * cpu_tuple_cost;
}

/* The path that gathers states of so many groups; a row has GPB_STATES_TOGETHER of them. */
static Path *
make_gather(const GpbAggregateQuery *query, Path *states, double groups)
{
	double		rows = ceil(groups / GPB_STATES_TOGETHER);
	GatherPath *gather = create_gather_path(query->root, query->rel, states, states->pathtarget,
											NULL, &rows);

	gather->path.rows = groups;
	return &gather->path;
}

/* Offer the node that merges what the path gathers, states that agree with those of "first". */
static void
offer(const GpbAggregateQuery *query, const GpbAggregatePath *first, Path *gather,
	  bool may_give_up)
{
	const char *refusal;
	GpbAggregatePath *merging = gpb_merging_aggregate_path(query, first, gather, NULL,
														   may_give_up, &refusal);

	if (merging != NULL)
		gpb_offer_aggregate_path(query->grouped_rel, merging);
}

/* ---- one index ---- */

void
gpb_aggregate_add_gather_path(const GpbAggregateQuery *query, GpbAggregatePath *serial)
{
	GpbAggregateQuery states = *query;
	Expr	   *state;
	GpbAggregatePath *leaf;
	Path	   *path;
	double		share;
	int			workers;

	if (!workers_may_pay(query, serial->path.path.total_cost) || !leaf_is_safe(&serial->path))
		return;
	share = passed_share(query->root, serial);
	lower_price(&serial->path.path, share);
	workers = count_workers(&serial->path);
	if (workers == 0 ||
		!gpb_workers_save_time(serial->path.path.total_cost, !serial->plan.has_program, workers))
		return;
	state = gpb_state_expression(query->groups, query->grouping->aggrefs);
	gpb_want_states(&states, state, gpb_state_target(state));
	leaf = gpb_cheapest_aggregate_path(&states, makeStringInfo(), NULL);
	if (leaf == NULL || !leaf_is_safe(&leaf->path))
		return;
	path = &leaf->path.path;
	lower_price(path, share);
	path->parallel_safe = true;
	make_shared(path, workers);
	offer(query, leaf, make_gather(query, path, path->rows * count_processes(workers)),
		  leaf->may_give_up);
}

/* ---- leaves ---- */

/* The number of workers for a Parallel Append of these leaves, as core has it */
static int
count_append_workers(CustomPath **leaves, int n)
{
	int			workers = pg_leftmost_one_pos32(n) + 1;

	for (int i = 0; i < n; i++)
		workers = Max(workers, count_workers(leaves[i]));
	return Min(workers, max_parallel_workers_per_gather);
}

/*
 * Collect copies of the leaves' paths for a Parallel Append: those that one process is to do as a
 * whole, and those that several share, since each of these alone would take longer than its share
 * of all.  Returns how many groups' states all processes return.
 */
static double
part_leaves(CustomPath **leaves, int n, int workers, Cost total, List **whole, List **shared)
{
	double		groups = 0.0;

	for (int i = 0; i < n; i++)
	{
		CustomPath *leaf = gpb_copy_aggregate_path(leaves[i]);
		Path	   *path = &leaf->path;
		int			sharing = 0;

		path->parallel_safe = true;
		if (path->total_cost * count_processes(workers) > total)
			sharing = count_workers(leaf);
		groups += path->rows * (sharing > 0 ? count_processes(workers) : 1);
		if (sharing > 0)
		{
			make_shared(path, sharing);
			*shared = lappend(*shared, leaf);
		}
		else
			*whole = lappend(*whole, leaf);
	}
	return groups;
}

void
gpb_aggregate_gather_leaves(const GpbAggregateQuery *query, const GpbAggregatePath *first,
							CustomPath **leaves, int n, const Path *append, bool may_give_up)
{
	List	   *whole = NIL;
	List	   *shared = NIL;
	AppendPath *parallel;
	double		groups;
	int			workers;

	if (!enable_parallel_append || !workers_may_pay(query, append->total_cost))
		return;
	for (int i = 0; i < n; i++)
	{
		if (!leaf_is_safe(leaves[i]))
			return;
	}
	workers = count_append_workers(leaves, n);
	if (!gpb_workers_save_time(price_of_rest(append->total_cost, passed_share(query->root, first)),
							   !first->plan.has_program, workers))
		return;
	groups = part_leaves(leaves, n, workers, append->total_cost, &whole, &shared);
	parallel = create_append_path(query->root, query->rel, whole, shared, NIL, NULL, workers, true,
								  groups);
	parallel->path.pathtarget = append->pathtarget;
	offer(query, first, make_gather(query, &parallel->path, groups), may_give_up);
}
