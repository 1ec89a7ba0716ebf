/*-------------------------------------------------------------------------
 *
 * scan_price.c
 *	  The price of GpubtreeScan.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/spccache.h"

#include "engine/cost.h"
#include "exec/price/least_price.h"
#include "exec/price/outer_cost.h"
#include "exec/price/plan_costs.h"
#include "exec/price/unknown_bounds.h"
#include "exec/scan/scan_match.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/settings.h"
#include "exec/where/arrays.h"
#include "mirror/mirror.h"

/*
 * In units of cpu_operator_cost.  Measured with 2 M rows of 60 bytes on a busy machine, device off,
 * where core's sequential scan with one condition took 0.2 us a row and its price is 8 such units:
 * an entry that came out as a row took 0.17 us; a row that was visited in the heap 0.3 us more
 * where the heap follows the key, and 2.5 us where it does not, most of which is the price of
 * pages.  To begin took 6 us more than core's scan of the index, whose price for a few rows is that
 * of some pages.  So where rows are fetched, a filter has to save the fetch of ten of them before
 * that pays, with all pages in memory: 8 rows of 10 took 12 us where core's bitmap scan took 7, and
 * 40 rows of 50 took 19 us in both.
 */
#define GPB_SCAN_START_COST	3000	/* to begin an execution, beside gpubtree.setup_cost */
#define GPB_SCAN_FETCH_COST		12000	/* the same besides, if rows come from the heap */
#define GPB_SCAN_READ_COST		200		/* to begin to read rows in order, with a scan of core's */
#define GPB_SCAN_GROUP_COST	1	/* to find the group of an entry on the CPU */
#define GPB_SCAN_LIST_COST	4	/* to list an entry */
#define GPB_SCAN_ROW_COST	4	/* to make a row of an entry, beside its conditions */
#define GPB_SCAN_LEAF_ENTRIES	400	/* of the first leaf, about */
#define GPB_SCAN_VISIT_COST	14	/* to fetch a row of the heap, beyond what whole pages cost */

/*
 * In units of cpu_operator_cost: a descent of the tree.  Measured with 10,000 groups of 5 M entries
 * in memory: two descents and an entry took 3 us.
 */
#define GPB_WALK_GROUP_COST	100

/* The part of the list that is made before the first row comes out: a leaf's (batch_early.c) */
static double
first_part(const GpbScanMatch *match)
{
	return Min(GPB_SCAN_LEAF_ENTRIES / match->entries, 1.0);
}

/*
 * May a device be asked for the entries, and does that spare the CPU anything?  It is asked where
 * there is something to be left out.
 */
static bool
may_use_device(const GpbScanMatch *match)
{
	const GpbProgram *program = &match->plan.program.program;

	return (program->nsteps > 0 || program->limit > 0 || match->ends != NULL) &&
		gpb_mirror_spares_cpu();
}

/* Will a device find the entries? */
static bool
is_on_device(const GpbScanMatch *match)
{
	return may_use_device(match) && gpb_aggregate_device_pays(match->entries);
}

/*
 * The price of finding the entries of arrays' keys, with visibility: a leaf for each, as for the
 * outer rows of a join
 */
static Cost
arrays_cost(PlannerInfo *root, const GpbScanMatch *match)
{
	GpbOuterInput input = {0};

	input.index = match->index;
	input.outer_rows = gpb_arrays_elements(root, match->plan.arrays);
	input.matches = match->entries;
	input.known_ranges = true;
	input.aggregated = true;
	input.index_only = true;
	return gpb_inner_cost(root, &input, input.outer_rows, input.outer_rows) +
		gpb_arrays_start_cost(match->plan.arrays);
}

/* The price of finding the entries of the ranges that pass the filters, and of listing them */
static Cost
list_cost(PlannerInfo *root, const GpbScanMatch *match, double listed)
{
	IndexOptInfo *index = match->index;
	double		judged = Max(match->passed, listed);
	Cost		cost = listed * GPB_SCAN_LIST_COST * cpu_operator_cost;

	if (match->plan.skips != NIL)
		cost += gpb_skip_cost(root, index, &match->skip, 0);
	else if (match->plan.arrays != NIL)
		cost += arrays_cost(root, match);
	else
		cost += gpb_read_cost(root, index, match->entries, may_use_device(match));
	if (!is_on_device(match))
		cost += gpb_builder_cost(match->builder, match->entries, listed);
	/* filters are tested before anything is asked of the heap, and a limit after that */
	if ((match->plan.index_only || match->passed > 0.0) && match->plan.arrays == NIL &&
		match->plan.skips == NIL)
		cost += gpb_heap_cost(root, index, judged,
							  gpb_visited_fraction(root, index->rel, judged), false);
	return cost;
}

/* The price of finding the last keys of groups, of all entries that the ranges have */
static Cost
ends_cost(PlannerInfo *root, const GpbScanMatch *match)
{
	IndexOptInfo *index = match->index;
	Cost		cost = gpb_read_cost(root, index, match->entries, may_use_device(match)) +
		gpb_heap_cost(root, index, match->entries,
					  gpb_visited_fraction(root, index->rel, match->entries), false) +
		match->groups * cpu_tuple_cost;
	double		passed = Min(match->entries, index->rel->rows);

	if (!is_on_device(match))
		cost += gpb_builder_cost(match->ends, match->entries, passed) +
			passed * GPB_SCAN_GROUP_COST * cpu_operator_cost;
	return cost;
}

/*
 * The price of finding the last keys of groups and then the entries that have them, which is a
 * batch of as many keys at most.
 */
static Cost
last_cost(PlannerInfo *root, const GpbScanMatch *match)
{
	GpbOuterInput input = {0};

	input.index = match->index;
	input.outer_rows = match->groups;
	input.matches = match->listed;
	input.index_only = match->plan.index_only;
	return ends_cost(root, match) + gpb_inner_cost(root, &input, match->groups, match->groups);
}

/* The price of beginning an execution */
static Cost
start_cost(void)
{
	return gpb_setup_cost + GPB_SCAN_START_COST * cpu_operator_cost;
}

/*
 * What an aggregate over the rows is charged besides to begin where values come from the rows of an
 * outer query, as GpubtreeAggregate is: batches of ranges do that better, though core's guesses of
 * the ranges make it look dearer.
 */
static Cost
each_row_cost(PlannerInfo *root, const GpbScanMatch *match)
{
	const GpbScanPlan *plan = &match->plan;

	if (!root->parse->hasAggs ||
		!(gpb_has_outer_value(root, (Node *) plan->conditions) ||
		  gpb_has_outer_value(root, (Node *) plan->arms) ||
		  gpb_has_outer_value(root, (Node *) plan->program.constants)))
		return 0.0;
	return gpb_setup_cost * GPB_EACH_ROW_SETUP;
}

/* The price of evaluating the values of the conditions on the key */
static Cost
bounds_cost(PlannerInfo *root, const GpbScanPlan *plan)
{
	QualCost	cost;
	Cost		total;
	ListCell   *lc;

	cost_qual_eval(&cost, plan->conditions, root);
	total = cost.startup + cost.per_tuple;
	foreach(lc, plan->arms)
	{
		cost_qual_eval(&cost, lfirst_node(List, lc), root);
		total += cost.startup + cost.per_tuple;
	}
	return total;
}

/* The price of evaluating what the programs have of constants */
static Cost
constants_cost(const GpbScanMatch *match)
{
	Cost		cost = gpb_builder_begin_cost(match->builder);

	return match->ends != NULL ? cost + gpb_builder_begin_cost(match->ends) : cost;
}

/* Fill in the rows and the price of a path that returns one row of each key. */
static void
price_each(PlannerInfo *root, const GpbScanMatch *match, Path *path)
{
	Cost		cost = gpb_scan_each_cost(root, match, &path->rows);

	path->startup_cost = start_cost() + bounds_cost(root, &match->plan) +
		path->pathtarget->cost.startup;
	path->total_cost = path->startup_cost + cost +
		path->rows * (cpu_tuple_cost + path->pathtarget->cost.per_tuple);
}

/* The price of walking from group to group */
static Cost
walk_cost(PlannerInfo *root, const GpbScanMatch *match)
{
	IndexOptInfo *index = match->index;
	double		leaves = Min(match->groups, index->pages);
	double		rows = Max(match->listed, 1.0);
	double		pages = index_pages_fetched(rows, index->rel->pages, index->pages, root);
	double		random_page_cost;
	double		seq_page_cost;

	get_tablespace_page_costs(index->rel->reltablespace, &random_page_cost, &seq_page_cost);
	if (match->plan.index_only)
		pages *= gpb_visited_fraction(root, index->rel, rows);
	/* leaves are read in their order */
	return leaves * seq_page_cost + pages * random_page_cost +
		match->groups * (1 + match->plan.walk.forward + match->plan.walk.backward) *
		GPB_WALK_GROUP_COST * cpu_operator_cost;
}

/* Fill in the rows and the price of a path that walks from group to group. */
static void
price_walk(PlannerInfo *root, const GpbScanMatch *match, Path *path)
{
	path->rows = match->listed;
	path->pathkeys = match->pathkeys;
	path->startup_cost = start_cost() + bounds_cost(root, &match->plan) +
		path->pathtarget->cost.startup;
	path->total_cost = path->startup_cost + walk_cost(root, match) +
		path->rows * (cpu_tuple_cost + path->pathtarget->cost.per_tuple);
}

/*
 * Fill in the rows and the price of a path whose rows come in the order of the index: as core's
 * scan of the ranges would have, if it knew them.
 */
static void
price_ordered(PlannerInfo *root, const GpbScanMatch *match, Path *path)
{
	IndexOptInfo *index = match->index;
	double		leaves = ceil(match->entries / Max(index->tuples, 1.0) * index->pages);
	double		fetched = match->plan.index_only ?
		gpb_visited_fraction(root, index->rel, match->entries) : 1.0;
	double		random_page_cost;
	QualCost	others;

	get_tablespace_page_costs(index->reltablespace, &random_page_cost, NULL);
	cost_qual_eval(&others, match->others, root);
	path->rows = clamp_row_est(index->rel->rows);
	path->pathkeys = match->pathkeys;
	path->startup_cost = bounds_cost(root, &match->plan) + others.startup +
		GPB_SCAN_READ_COST * cpu_operator_cost + path->pathtarget->cost.startup;
	path->total_cost = path->startup_cost + leaves * random_page_cost +
		match->entries * (cpu_index_tuple_cost + cpu_operator_cost + cpu_tuple_cost +
						  others.per_tuple) +
		gpb_heap_cost(root, index, match->entries, fetched, true) +
		path->rows * path->pathtarget->cost.per_tuple;
}

void
gpb_scan_choose_skip(PlannerInfo *root, GpbScanMatch *match)
{
	double		whole_entries = match->entries;
	Cost		whole;

	/* only a program's filters leave out what the ranges have in vain */
	if (match->skip.conditions == NIL || match->ends != NULL)
		return;
	whole = list_cost(root, match, match->listed);
	match->plan.skips = match->skip.conditions;
	match->plan.skip_prefix = match->skip.prefix;
	match->entries = match->skip.entries;
	if (list_cost(root, match, match->listed) < whole)
		return;
	match->plan.skips = NIL;
	match->entries = whole_entries;
}

/*
 * Is any path of the table that costs so much beaten by one that it has?  Where the query sorts the
 * table's rows, core sorts those of the cheapest path, and a path of ours that has no order of its
 * own is of no other use, however few rows it returns.
 */
static bool
price_is_beaten(RelOptInfo *rel, bool sorted, Cost startup, Cost total)
{
	return (sorted && gpb_is_never_cheapest(rel, total)) ||
		!add_path_precheck(rel, startup, total, NIL, NULL);
}

/*
 * What gpb_scan_price() charges a path at least that lists entries of an index for all rows that
 * pass the restrictions, whatever the ranges and filters are, but for reading the entries and the
 * heap's pages
 */
static void
least_cost(const RelOptInfo *rel, bool index_only, Cost *startup, Cost *total)
{
	const QualCost *target = &rel->reltarget->cost;
	Cost		row = (GPB_SCAN_LIST_COST + GPB_SCAN_ROW_COST) * cpu_operator_cost +
		cpu_tuple_cost + target->per_tuple;

	*startup = start_cost() + target->startup;
	if (!index_only)
	{
		*startup += GPB_SCAN_FETCH_COST * cpu_operator_cost;
		row += GPB_SCAN_VISIT_COST * cpu_operator_cost;
	}
	*total = *startup + rel->rows * row;
}

bool
gpb_scan_is_beaten_at_once(PlannerInfo *root, IndexOptInfo *index, const GpbScanColumns *columns)
{
	RelOptInfo *rel = index->rel;
	bool		index_only = gpb_index_covers(index, columns->needed);
	Cost		startup;
	Cost		total;

	/* a look-up of few rows is left here, before anything else is computed for the index */
	least_cost(rel, index_only, &startup, &total);
	if (price_is_beaten(rel, columns->sorted, startup, total))
		return true;
	if (!index_only)
	{
		total += gpb_least_heap_cost(root, index, rel->rows);
		if (price_is_beaten(rel, columns->sorted, startup, total))
			return true;
	}
	total += gpb_least_read_cost(root, index, columns->restricted, columns->has_arrays,
								 rel->rows);
	return price_is_beaten(rel, columns->sorted, startup, total);
}

bool
gpb_scan_first_is_beaten_at_once(PlannerInfo *root, IndexOptInfo *index,
								 const GpbScanColumns *columns)
{
	RelOptInfo *rel = index->rel;

	return gpb_is_never_cheapest(rel, start_cost() + rel->reltarget->cost.startup +
								 gpb_least_read_cost(root, index, columns->restricted,
													 columns->has_arrays, rel->rows));
}

bool
gpb_scan_is_beaten(PlannerInfo *root, const GpbScanMatch *match)
{
	double		entries = match->entries;
	Cost		least = start_cost();

	if (match->skip.conditions != NIL)
		entries = Min(entries, match->skip.entries);
	/* keys of arrays have leaves of their own */
	if (match->plan.arrays == NIL)
		least += gpb_read_cost(root, match->index, entries, true);
	return price_is_beaten(match->index->rel, false, start_cost(), least);
}

void
gpb_scan_price(PlannerInfo *root, const GpbScanMatch *match, Path *path)
{
	bool		all = match->plan.program.program.limit == 0 && match->ends == NULL;
	double		listed = match->listed;
	double		first = all ? first_part(match) : 1.0;
	Cost		list;
	QualCost	others;

	if (match->plan.has_each)
	{
		price_each(root, match, path);
		return;
	}
	if (match->plan.direction != NoMovementScanDirection)
	{
		price_ordered(root, match, path);
		return;
	}
	if (gpb_scan_walks(&match->plan))
	{
		price_walk(root, match, path);
		return;
	}
	list = match->ends != NULL ? last_cost(root, match) : list_cost(root, match, listed);
	cost_qual_eval(&others, match->others, root);
	path->rows = all ? clamp_row_est(match->index->rel->rows) : listed;
	path->startup_cost = start_cost() + bounds_cost(root, &match->plan) + constants_cost(match) +
		list * first + others.startup + path->pathtarget->cost.startup;
	path->total_cost = path->startup_cost + list * (1.0 - first) +
		listed * (GPB_SCAN_ROW_COST * cpu_operator_cost + others.per_tuple) +
		path->rows * (cpu_tuple_cost + path->pathtarget->cost.per_tuple);
	path->startup_cost += each_row_cost(root, match);
	path->total_cost += each_row_cost(root, match);
	if (all && !match->plan.index_only)
	{
		path->startup_cost += GPB_SCAN_FETCH_COST * cpu_operator_cost;
		path->total_cost += GPB_SCAN_FETCH_COST * cpu_operator_cost;
	}
	if (!match->plan.index_only)
		path->total_cost += listed * GPB_SCAN_VISIT_COST * cpu_operator_cost;
	if (!match->plan.index_only && match->ends == NULL)
		path->total_cost += gpb_heap_cost(root, match->index, listed, 1.0, false);
}

bool
gpb_scan_walk_is_beaten(PlannerInfo *root, GpbScanMatch *match, const GpbScanColumns *columns)
{
	RelOptInfo *rel = match->index->rel;
	Path		path = {.pathtarget = rel->reltarget};

	match->plan.index_only = gpb_index_covers(match->index, columns->needed);
	gpb_scan_price(root, match, &path);
	return gpb_path_is_beaten(rel, path.startup_cost, path.total_cost, path.rows, path.pathkeys);
}
