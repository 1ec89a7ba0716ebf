/*-------------------------------------------------------------------------
 *
 * outer_cost.c
 *	  The price of reading outer rows in batches and finding the index entries that each asks for.
 *
 * A nested loop pays for each outer row a descent and, up to what the cache holds, a leaf and a
 * heap page read at random.  A batch pays once to be set up, little for a row, and for each
 * distinct page once, in the file's order; on a device it reads no pages of the index at all.  So
 * few outer rows are cheaper in a nested loop, and where the two meet is decided by the constants
 * here; test/bench/join_sweep compares the choice with what is fastest.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/genam.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "engine/batch.h"
#include "exec/price/growth.h"
#include "exec/price/outer_cost.h"
#include "exec/price/plan_costs.h"
#include "mirror/mirror.h"

/* All in units of cpu_operator_cost */
#define GPB_OUTER_START_COST	2000	/* to begin: contexts, index, arrays */
#define GPB_OUTER_RUN_COST		1000	/* to set a batch up */
#define GPB_OUTER_ROW_COST		10	/* to keep an outer row, make its key and sort it */
#define GPB_OUTER_LEAF_COST		60	/* to find a leaf and search it */
#define GPB_OUTER_DEVICE_COST	1	/* to have a key searched by the device */
#define GPB_OUTER_MATCH_COST	4	/* to list an entry and combine it with its outer row */
#define GPB_OUTER_TEST_COST		1	/* to have an entry tested by a program */
#define GPB_OUTER_ORDER_COST	2	/* times log2 of a batch's matches: to sort one */

/*
 * The costs of having a leaf aggregated by the device, and an entry by the CPU, as gpb_count_cost()
 * has them
 */
#define GPB_OUTER_DEVICE_LEAF_COST	0.1
#define GPB_OUTER_COUNT_COST	0.6

/* How the outer rows come in batches */
typedef struct GpbOuterBatches
{
	double		first;			/* rows of the first */
	double		largest;
	double		count;
} GpbOuterBatches;

/*
 * Batches grow from small to what memory holds; most rows are in batches of the
 * largest size.
 */
static void
estimate_batches(const GpbOuterInput *input, GpbOuterBatches *batches)
{
	double		rows = input->outer_rows;
	PathTarget *target = input->outer->pathtarget;
	double		most = gpb_rows_memory() /
		(double) (gpb_row_bytes(list_length(target->exprs), sizeof(GpbKey)) + target->width);
	double		size = GPB_FIRST_BATCH;

	most = Max(Min(most, GPB_MOST_ROWS), GPB_FIRST_BATCH);
	batches->first = Min(rows, GPB_FIRST_BATCH);
	batches->largest = batches->first;
	batches->count = 0;
	while (rows > 0 && size < most)
	{
		batches->largest = Min(rows, size);
		batches->count++;
		rows -= batches->largest;
		size *= GPB_BATCH_GROWTH;
	}
	if (rows > 0)
	{
		batches->largest = Max(batches->largest, Min(rows, most));
		batches->count += ceil(rows / most);
	}
}

/*
 * Pages read for n visits at random to a file, in batches of so many that are each in the file's
 * order: as many as core would say, less those that a batch visits more than once; each cheaper
 * than a page read at random, as in a bitmap scan.
 */
static Cost
pages_cost(PlannerInfo *root, Oid tablespace, double pages, double index_pages,
		   double n, double batch)
{
	double		random_page_cost;
	double		seq_page_cost;
	double		fetched;
	double		distinct;

	if (n <= 0 || pages <= 0)
		return 0.0;
	get_tablespace_page_costs(tablespace, &random_page_cost, &seq_page_cost);
	batch = Min(Max(batch, 1.0), n);
	distinct = gpb_distinct_pages(batch, pages);
	fetched = index_pages_fetched(n, (BlockNumber) pages, index_pages, root);
	fetched = Min(fetched, ceil(n / batch * distinct));
	return fetched * (random_page_cost -
					  (random_page_cost - seq_page_cost) * sqrt(Min(distinct / pages, 1.0)));
}

/*
 * The price of reading the leaves of ranges in batches: the first of each range, and those that
 * follow it.  Of ranges that are known, these are read in a row, at the price that gpb_read_cost()
 * has for one range; ranges that overlap share leaves, and as pages at random each counts once.
 */
static Cost
leaf_pages_cost(PlannerInfo *root, const GpbOuterInput *input, double first, double further,
				double batches)
{
	const IndexOptInfo *index = input->index;
	Oid			tablespace = index->reltablespace;
	double		seq_page_cost;
	Cost		at_random;
	Cost		in_rows;

	at_random = pages_cost(root, tablespace, index->pages, index->pages, first + further,
						   (first + further) / batches);
	if (!input->known_ranges)
		return at_random;
	get_tablespace_page_costs(tablespace, NULL, &seq_page_cost);
	in_rows = pages_cost(root, tablespace, index->pages, index->pages, first, first / batches) +
		gpb_distinct_pages(further / batches, index->pages) * batches * seq_page_cost;
	return Min(at_random, in_rows);
}

/* Will batches of so many keys be answered by a device that mirrors the whole index? */
static bool
is_on_device(const GpbOuterInput *input, double batch)
{
	Relation	index;
	bool		all_pages;

	if (!gpb_mirror_spares_cpu() || !gpb_batch_device_pays(batch))
		return false;
	/* the planner holds a lock already */
	index = index_open(input->index->indexoid, NoLock);
	all_pages = !gpb_mirror_is_inner_only(index);
	index_close(index, NoLock);
	return all_pages;
}

/*
 * The price of finding the entries of "rows" outer rows, in batches of "batch", and reading the
 * leaves
 */
static Cost
leaves_cost(PlannerInfo *root, const GpbOuterInput *input, double rows, double matches,
			double batch)
{
	IndexOptInfo *index = input->index;
	double		entries_per_leaf = Max(index->tuples, 1.0) / Max(index->pages, 1.0);
	/* equal keys are on the same pages */
	double		distinct = input->keys > 0 ?
	Min(input->keys / Max(input->outer_rows, 1.0), 1.0) : 1.0;
	/* a key's entries, beyond its first, may fill further leaves */
	double		further = Max(matches - rows, 0) / entries_per_leaf;
	/* in a batch a leaf that several ranges share is read once */
	double		first = rows * distinct;
	double		batches = Max(rows, 1.0) / batch;
	double		leaves = gpb_distinct_pages((first + further) / batches, index->pages) * batches;

	if (is_on_device(input, batch))
		return cpu_operator_cost * (GPB_OUTER_DEVICE_COST * rows +
									GPB_OUTER_DEVICE_LEAF_COST * further) *
			(1 + input->more_columns);
	return cpu_operator_cost * GPB_OUTER_LEAF_COST * leaves +
		leaf_pages_cost(root, input, first, further, batches);
}

/*
 * The price of a match, in units of cpu_operator_cost; a device aggregates without the CPU, which
 * adds one value for each further column.
 */
static double
match_cost(const GpbOuterInput *input, double batch)
{
	if (!input->aggregated)
		return GPB_OUTER_MATCH_COST * (1.0 - input->dropped) +
			(input->entry_cost > 0 ? GPB_OUTER_TEST_COST : 0.0) +
			input->entry_cost / cpu_operator_cost;
	if (is_on_device(input, batch))
		return 0.0;
	return GPB_OUTER_COUNT_COST + GPB_VALUE_COST * input->more_columns +
		input->entry_cost / cpu_operator_cost;
}

/* The square of the index's correlation, which takes a while to find */
static double
squared_correlation(PlannerInfo *root, GpbOuterInput *input)
{
	if (!input->has_correlation)
	{
		double		correlation = gpb_index_correlation(root, input->index);

		input->correlation = correlation * correlation;
		input->has_correlation = true;
	}
	return input->correlation;
}

/*
 * How many heap pages so many visits come to.  Each visit comes to a page of its own or, where the
 * heap follows the key, all visits to the part of the range's pages that is not all-visible;
 * between the two it is interpolated by correlation.
 */
static double
visited_pages(PlannerInfo *root, GpbOuterInput *input, double rows, double visits)
{
	RelOptInfo *rel = input->index->rel;
	double		together;

	if (!input->index_only || visits <= rows)
		return visits;
	together = rows + visits / Max(rel->tuples, 1.0) * rel->pages;
	return visits - squared_correlation(root, input) * Max(visits - together, 0.0);
}

Cost
gpb_inner_cost(PlannerInfo *root, GpbOuterInput *input, double rows, double batch)
{
	IndexOptInfo *index = input->index;
	RelOptInfo *rel = index->rel;
	double		share = input->outer_rows > 0 ? rows / input->outer_rows : 0.0;
	double		matches = input->matches * share;
	double		visits;
	double		pages;
	Cost		cost;

	batch = Max(Min(batch, rows), 1.0);
	cost = cpu_operator_cost *
		(GPB_OUTER_ROW_COST * rows + match_cost(input, batch) * matches) +
		leaves_cost(root, input, rows, matches, batch);
	matches *= 1.0 - input->dropped;
	if (input->in_order)
		cost += cpu_operator_cost * GPB_OUTER_ORDER_COST * matches *
			log2(Max(matches / Max(rows, 1.0) * batch, 2.0));

	visits = input->index_only ? matches * gpb_visited_fraction(root, rel, matches) : matches;
	pages = visited_pages(root, input, rows, visits);
	cost += pages_cost(root, rel->reltablespace, rel->pages, index->pages,
					   ceil(pages), batch * pages / Max(rows, 1.0));
	if (input->index_only && visits > 0)
		cost += gpb_visit_cost(index, visits, squared_correlation(root, input), false);
	else if (!input->index_only)
	{
		/* entries beyond the first of each row: see leaves_cost() */
		double		further = Max(visits - rows, 0.0);

		cost += visits * cpu_tuple_cost;
		if (further > 0)
			cost += (1.0 - squared_correlation(root, input)) * gpb_again_cost(index, further);
	}
	return cost;
}

/*
 * Each page costs no less than one in a row, whatever the batch covers of the index; the entries
 * themselves are not charged.
 */
Cost
gpb_least_inner_cost(IndexOptInfo *index, double rows)
{
	double		leaves = gpb_distinct_pages(rows, index->pages);
	double		random_page_cost;
	double		seq_page_cost;

	get_tablespace_page_costs(index->reltablespace, &random_page_cost, &seq_page_cost);
	return cpu_operator_cost * (GPB_OUTER_ROW_COST * rows + GPB_OUTER_LEAF_COST * leaves) +
		leaves * Min(random_page_cost, seq_page_cost);
}

GpbOuterPrice
gpb_least_outer_cost(const Path *outer)
{
	Cost		begin = cpu_operator_cost * (GPB_OUTER_START_COST + GPB_OUTER_RUN_COST);
	GpbOuterPrice least;

	least.startup_cost = outer->startup_cost + begin;
	least.total_cost = outer->total_cost + begin +
		outer->rows * GPB_OUTER_ROW_COST * cpu_operator_cost;
	return least;
}

GpbOuterPrice
gpb_outer_total_cost(PlannerInfo *root, GpbOuterInput *input)
{
	GpbOuterBatches batches;
	Path	   *outer = input->outer;
	QualCost	filters;
	Cost		startup = cpu_operator_cost * (GPB_OUTER_START_COST + GPB_OUTER_RUN_COST);
	Cost		outer_run = outer->total_cost - outer->startup_cost;
	GpbOuterPrice price;

	estimate_batches(input, &batches);
	cost_qual_eval(&filters, input->filters, root);
	startup += filters.startup + input->target->cost.startup + input->begin_cost;
	price.total_cost = outer->total_cost + startup +
		cpu_operator_cost * GPB_OUTER_RUN_COST * Max(batches.count - 1, 0) +
		gpb_inner_cost(root, input, input->outer_rows, batches.largest) +
		input->matches * (1.0 - input->dropped) * filters.per_tuple +
		input->rows * (cpu_tuple_cost + input->target->cost.per_tuple);
	price.startup_cost = outer->startup_cost + startup +
		outer_run * batches.first / Max(input->outer_rows, 1.0);
	return price;
}

GpbOuterPrice
gpb_outer_full_cost(PlannerInfo *root, GpbOuterInput *input, const GpbOuterPrice *total)
{
	const Path *outer = input->outer;
	double		first = Min(input->outer_rows, GPB_FIRST_BATCH);
	GpbOuterPrice price = *total;

	price.startup_cost += gpb_inner_cost(root, input, first, first);
	price.total_cost = Max(price.total_cost,
						   outer->total_cost + price.startup_cost - outer->startup_cost);
	return price;
}

void
gpb_outer_cost(PlannerInfo *root, GpbOuterInput *input,
			   Cost *startup_cost, Cost *total_cost)
{
	GpbOuterPrice price = gpb_outer_total_cost(root, input);

	price = gpb_outer_full_cost(root, input, &price);
	*startup_cost = price.startup_cost;
	*total_cost = price.total_cost;
}
