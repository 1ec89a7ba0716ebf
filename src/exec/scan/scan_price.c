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
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "exec/price/core_paths.h"
#include "exec/price/price.h"
#include "exec/price/price_constants.h"
#include "exec/price/unknown_bounds.h"
#include "exec/scan/scan_match.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/settings.h"
#include "exec/where/arrays.h"
#include "mirror/mirror.h"

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

/* What is asked for to find the entries of the ranges that pass the filters, and to list them */
static GpbPriceInput
list_input(PlannerInfo *root, const GpbScanMatch *match, double listed)
{
	GpbPriceInput input = {.root = root, .index = match->index, .entries = match->entries};

	if (match->plan.skips != NIL)
		gpb_price_skip(&input, &match->skip);
	else if (match->plan.arrays != NIL)
		gpb_price_arrays(&input, match->plan.arrays);
	input.no_device = !may_use_device(match);
	input.program = gpb_builder_cost(match->builder, match->entries, listed);
	/* filters are tested before anything is asked of the heap, and a limit after that */
	if (match->plan.index_only || match->passed > 0.0)
		input.seen = Max(match->passed, listed);
	return input;
}

/* The price of that */
static Cost
list_price(PlannerInfo *root, const GpbScanMatch *match)
{
	GpbPriceInput input = list_input(root, match, match->listed);

	return match->listed * GPB_SCAN_LIST_COST * cpu_operator_cost + gpb_price(&input);
}

/*
 * The price of finding the last keys of groups, of all entries that the ranges have, and then the
 * entries that have them, which is a batch of as many keys at most
 */
static Cost
last_price(PlannerInfo *root, const GpbScanMatch *match)
{
	double		passed = Min(match->entries, match->index->rel->rows);
	GpbPriceInput ends = {.root = root, .index = match->index, .entries = match->entries,
	.no_device = !may_use_device(match), .seen = match->entries};
	GpbPriceInput last = {.root = root, .index = match->index, .entries = match->listed,
	.ranges = match->groups, .listed = true, .from_heap = !match->plan.index_only};

	ends.program = gpb_builder_cost(match->ends, match->entries, passed) +
		passed * GPB_GROUP_ENTRY_COST * cpu_operator_cost;
	return gpb_price(&ends) + match->groups * cpu_tuple_cost + gpb_price(&last);
}

/* What the price of a path that lists entries is put together from; what is 0 is not there */
typedef struct GpbScanParts
{
	Cost		begin;			/* to evaluate values, beside what every execution takes */
	Cost		find;			/* to list entries, */
	double		first;			/* the share of that before the first row comes out */
	double		listed;			/* entries that are listed */
	Cost		test;			/* of what is evaluated for each of them */
	double		rows;			/* that come out */
	bool		fetches;		/* each row is fetched from the heap, */
	bool		all;			/* and there is no limit to them */
} GpbScanParts;

/* Put the parts together to the price of the path, whose target is there. */
static void
put_together(const GpbScanParts *parts, Path *path)
{
	const QualCost *target = &path->pathtarget->cost;
	Cost		entry = GPB_SCAN_ROW_COST * cpu_operator_cost + parts->test;
	Cost		startup = gpb_setup_cost + GPB_SCAN_START_COST * cpu_operator_cost +
		parts->begin + target->startup;

	if (parts->fetches && parts->all)
		startup += GPB_SCAN_FETCH_COST * cpu_operator_cost;
	if (parts->fetches)
		entry += GPB_SCAN_VISIT_COST * cpu_operator_cost;
	path->rows = parts->rows;
	path->startup_cost = startup + parts->find * parts->first;
	path->total_cost = startup + parts->find + parts->listed * entry +
		parts->rows * (cpu_tuple_cost + target->per_tuple);
}

/*
 * What an aggregate over the rows is charged besides to begin where values come from the rows of an
 * outer query, as GpubtreeAggregate is: batches of ranges do that better, though core's guesses of
 * the ranges make it look dearer.
 */
static Cost
each_row_price(PlannerInfo *root, const GpbScanPlan *plan)
{
	if (!root->parse->hasAggs ||
		!gpb_has_outer_value(root, (Node *) list_make3(plan->conditions, plan->arms,
													   plan->program.constants)))
		return 0.0;
	return gpb_setup_cost * GPB_EACH_ROW_SETUP;
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
	GpbPriceInput input = {.root = root, .index = index, .beside_index_scan = true};
	double		random_page_cost;
	QualCost	others;

	get_tablespace_page_costs(index->reltablespace, &random_page_cost, NULL);
	cost_qual_eval(&others, match->others, root);
	path->rows = clamp_row_est(index->rel->rows);
	path->pathkeys = match->pathkeys;
	path->startup_cost = gpb_bounds_price(root, match->plan.conditions, match->plan.arms) +
		others.startup + GPB_SCAN_READ_COST * cpu_operator_cost + path->pathtarget->cost.startup;
	path->total_cost = path->startup_cost + leaves * random_page_cost +
		match->entries * (cpu_index_tuple_cost + cpu_operator_cost + cpu_tuple_cost +
						  others.per_tuple) +
		gpb_heap_price(&input, match->entries, fetched) +
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
	whole = list_price(root, match);
	match->plan.skips = match->skip.conditions;
	match->plan.skip_prefix = match->skip.prefix;
	match->entries = match->skip.entries;
	if (list_price(root, match) < whole)
		return;
	match->plan.skips = NIL;
	match->entries = whole_entries;
}

/*
 * Is any path of the table that costs as much as this one beaten by one that it has? Where the
 * query sorts the table's rows, core sorts those of the cheapest path, and a path of ours that has
 * no order of its own is of no other use, however few rows it returns.
 */
static bool
price_is_beaten(RelOptInfo *rel, bool sorted, const Path *path)
{
	return (sorted && gpb_is_never_cheapest(rel, path->total_cost)) ||
		!add_path_precheck(rel, path->startup_cost, path->total_cost, NIL, NULL);
}

bool
gpb_scan_is_beaten_at_once(PlannerInfo *root, IndexOptInfo *index, const GpbScanColumns *columns,
						   Cost *least)
{
	RelOptInfo *rel = index->rel;
	bool		fetches = !gpb_index_covers(index, columns->needed);
	GpbScanParts parts = {.listed = rel->rows, .rows = rel->rows, .fetches = fetches, .all = true};
	Path		path = {.pathtarget = rel->reltarget};

	/* a look-up of few rows is left here, before anything else is computed for the index */
	parts.find = rel->rows * GPB_SCAN_LIST_COST * cpu_operator_cost;
	put_together(&parts, &path);
	if (price_is_beaten(rel, columns->sorted, &path))
		return true;
	if (fetches)
	{
		GpbPriceInput input = {.root = root, .index = index, .least = true};

		path.total_cost += gpb_heap_price(&input, rel->rows, 1.0);
		if (price_is_beaten(rel, columns->sorted, &path))
			return true;
	}
	path.total_cost += gpb_least_price(root, index, columns->restricted, columns->has_arrays,
									   rel->rows);
	*least = path.total_cost;
	return price_is_beaten(rel, columns->sorted, &path);
}

bool
gpb_scan_first_is_beaten_at_once(PlannerInfo *root, IndexOptInfo *index,
								 const GpbScanColumns *columns, Cost *least)
{
	RelOptInfo *rel = index->rel;
	GpbScanParts parts = {.find = gpb_least_price(root, index, columns->restricted,
												  columns->has_arrays, rel->rows)};
	Path		path = {.pathtarget = rel->reltarget};

	put_together(&parts, &path);
	*least = path.total_cost;
	return gpb_is_never_cheapest(rel, path.total_cost);
}

bool
gpb_scan_is_beaten(PlannerInfo *root, const GpbScanMatch *match)
{
	GpbPriceInput input = {.root = root, .index = match->index, .entries = match->entries};
	GpbScanParts parts = {0};
	Path		path = {.pathtarget = match->index->rel->reltarget};

	if (match->skip.conditions != NIL)
		input.entries = Min(input.entries, match->skip.entries);
	/* keys of arrays have leaves of their own */
	if (match->plan.arrays == NIL)
		parts.find = gpb_price(&input);
	put_together(&parts, &path);
	return price_is_beaten(match->index->rel, false, &path);
}

/* The price of a path that lists entries, of all rows or of the first or last ones */
static void
price_listed(PlannerInfo *root, const GpbScanMatch *match, Path *path)
{
	const GpbScanPlan *plan = &match->plan;
	bool		all = plan->program.program.limit == 0 && match->ends == NULL;
	GpbPriceInput input = {.root = root, .index = match->index};
	GpbScanParts parts = {.listed = match->listed, .fetches = !plan->index_only, .all = all};
	QualCost	others;

	cost_qual_eval(&others, match->others, root);
	parts.begin = gpb_bounds_price(root, plan->conditions, plan->arms) +
		gpb_builder_begin_cost(match->builder) + others.startup + each_row_price(root, plan);
	if (match->ends != NULL)
		parts.begin += gpb_builder_begin_cost(match->ends);
	parts.find = match->ends != NULL ? last_price(root, match) : list_price(root, match);
	parts.first = all ? first_part(match) : 1.0;
	parts.test = others.per_tuple;
	parts.rows = all ? clamp_row_est(match->index->rel->rows) : match->listed;
	put_together(&parts, path);
	if (parts.fetches && match->ends == NULL)
		path->total_cost += gpb_heap_price(&input, match->listed, 1.0);
}

/* The price of finding one row of each key; *keys is about their number. */
static Cost
each_price(PlannerInfo *root, const GpbScanMatch *match, double *keys)
{
	IndexOptInfo *index = match->index;
	List	   *key = list_make1(gpb_key_var(root, index));

	*keys = estimate_num_groups(root, key, match->entries, NULL, NULL);
	return *keys * GPB_SCAN_EACH_COST * cpu_operator_cost +
		index_pages_fetched(*keys, index->rel->pages, index->pages, root) * random_page_cost;
}

/* The price of walking from group to group */
static Cost
walk_price(PlannerInfo *root, const GpbScanMatch *match)
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

/* The price of a path that goes from key to key, or from group to group */
static void
price_walk(PlannerInfo *root, const GpbScanMatch *match, Path *path)
{
	GpbScanParts parts = {.begin = gpb_bounds_price(root, match->plan.conditions,
													match->plan.arms)};

	if (match->plan.has_each)
		parts.find = each_price(root, match, &parts.rows);
	else
	{
		parts.rows = match->listed;
		path->pathkeys = match->pathkeys;
		parts.find = walk_price(root, match);
	}
	put_together(&parts, path);
}

void
gpb_scan_price(PlannerInfo *root, const GpbScanMatch *match, Path *path)
{
	if (match->plan.has_each || gpb_scan_walks(&match->plan))
		price_walk(root, match, path);
	else if (match->plan.direction != NoMovementScanDirection)
		price_ordered(root, match, path);
	else
		price_listed(root, match, path);
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
