/*-------------------------------------------------------------------------
 *
 * price.c
 *	  The price of asking the engine for entries of an index, whichever node asks.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/spccache.h"
#include "utils/syscache.h"

#include "engine/cost.h"
#include "engine/heap_visit.h"
#include "engine/settled_pages.h"
#include "engine/visibility.h"
#include "exec/price/price.h"
#include "exec/price/price_constants.h"
#include "exec/shell/plan_columns.h"
#include "index/index.h"
#include "mirror/mirror.h"

/* ---- the order of the heap ---- */

/*
 * The table's statistics of the index's first key column, which is no expression, as core's
 * estimators look them up.  The caller releases them; the tuple is NULL if there are none.
 */
static void
look_up_statistics(PlannerInfo *root, IndexOptInfo *index, VariableStatData *statistics)
{
	RangeTblEntry *rte = planner_rt_fetch(index->rel->relid, root);

	memset(statistics, 0, sizeof(*statistics));
	if (get_relation_stats_hook != NULL &&
		get_relation_stats_hook(root, rte, index->indexkeys[0], statistics))
		return;
	statistics->statsTuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(rte->relid),
											 Int16GetDatum(index->indexkeys[0]),
											 BoolGetDatum(rte->inh));
	statistics->freefunc = ReleaseSysCache;
}

#ifdef USE_ASSERT_CHECKING
/* What the access method's cost function says of a scan of the whole index */
static double
estimated_correlation(PlannerInfo *root, IndexOptInfo *index)
{
	IndexPath  *path = makeNode(IndexPath);
	Cost		startup_cost;
	Cost		total_cost;
	Selectivity selectivity;
	double		correlation;
	double		pages;

	path->path.pathtype = T_IndexOnlyScan;
	path->path.parent = index->rel;
	path->path.pathtarget = index->rel->reltarget;
	path->indexinfo = index;
	path->indexscandir = ForwardScanDirection;
	index->amcostestimate(root, path, 1.0, &startup_cost, &total_cost,
						  &selectivity, &correlation, &pages);
	return correlation;
}
#endif

/*
 * Core's estimator, which also says what it costs to scan the index, would take ten times as long.
 */
double
gpb_index_correlation(PlannerInfo *root, IndexOptInfo *index)
{
	Oid			type = index->opcintype[0];
	Oid			order = get_opfamily_member(index->opfamily[0], type, type, BTLessStrategyNumber);
	VariableStatData statistics;
	AttStatsSlot slot;
	double		correlation = 0.0;

	Assert(index->indexkeys[0] != 0);
	look_up_statistics(root, index, &statistics);
	if (HeapTupleIsValid(statistics.statsTuple) && OidIsValid(order) &&
		get_attstatsslot(&slot, statistics.statsTuple, STATISTIC_KIND_CORRELATION, order,
						 ATTSTATSSLOT_NUMBERS))
	{
		correlation = index->reverse_sort[0] ? -slot.numbers[0] : slot.numbers[0];
		/* the columns behind the first dilute it, as core has it */
		if (index->nkeycolumns > 1)
			correlation *= 0.75;
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(statistics);
	Assert(correlation == estimated_correlation(root, index));
	return correlation;
}

/* The square of the index's correlation, which takes a while to find; at least: the best order */
static double
squared_correlation(GpbPriceInput *input)
{
	if (input->least)
		return 1.0;
	if (!input->has_correlation)
	{
		double		correlation = gpb_index_correlation(input->root, input->index);

		input->correlation = correlation * correlation;
		input->has_correlation = true;
	}
	return input->correlation;
}

/* ---- pages ---- */

/*
 * Core's prices of the tablespace's pages; for the least price a page that may be read in either
 * way has the lower of them.
 */
static void
page_prices(const GpbPriceInput *input, Oid tablespace, double *random, double *seq)
{
	get_tablespace_page_costs(tablespace, random, seq);
	if (input->least)
		*random = *seq = Min(*random, *seq);
}

/* How many of so many pages n visits at random touch */
static double
distinct_pages(double n, double pages)
{
	return pages <= 1 ? Min(n, 1) : pages * (1.0 - exp(-n / pages));
}

/* The number of leaves that so many entries in a row fill */
static double
leaves_in_row(const IndexOptInfo *index, double entries)
{
	return Min(ceil(entries / Max(index->tuples, 1.0) * index->pages), index->pages);
}

/*
 * Pages read for n visits at random to a file, in batches of so many that are each in the file's
 * order: as many as core would say, less those that a batch visits more than once; each cheaper
 * than a page read at random, as in a bitmap scan.  A page that several processes visit is read by
 * one of them: each pays its share.
 */
static Cost
pages_price(const GpbPriceInput *input, Oid tablespace, double pages, double n, double batch)
{
	double		random_page_cost;
	double		seq_page_cost;
	double		fetched;
	double		distinct;

	double		processes = Max(input->processes, 1.0);

	if (n <= 0 || pages <= 0)
		return 0.0;
	page_prices(input, tablespace, &random_page_cost, &seq_page_cost);
	n *= processes;
	batch = Min(Max(batch * processes, 1.0), n);
	distinct = distinct_pages(batch, pages);
	fetched = index_pages_fetched(n, (BlockNumber) pages, input->index->pages, input->root);
	fetched = Min(fetched, ceil(n / batch * distinct));
	return fetched / processes *
		(random_page_cost -
		 (random_page_cost - seq_page_cost) * sqrt(Min(distinct / pages, 1.0)));
}

/* ---- heap visits ---- */

double
gpb_visited_fraction(PlannerInfo *root, RelOptInfo *rel, double entries)
{
	double		fraction = 1.0 - rel->allvisfrac;
	Relation	heap;

	if (fraction * entries < GPB_SAMPLED_VISITS || rel->pages == 0 || !ActiveSnapshotSet())
		return fraction;
	heap = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	fraction -= gpb_settled_share(heap, GetActiveSnapshot(), rel->pages);
	table_close(heap, NoLock);
	return Max(fraction, 0.0);
}

/* How many heap visits are gathered and sorted together (heap_visit.c) */
static double
visits_together(const IndexOptInfo *index)
{
	return gpb_visit_batch_size(gpb_range_entry_width(sizeof(uint64) * index->ncolumns));
}

/*
 * The CPU time of so many heap visits, each to a page that others visit too; squared is the square
 * of the index's correlation.
 */
static Cost
visits_price(const GpbPriceInput *input, double visits, double squared)
{
	double		disorder = 1.0 - squared;
	double		together = Max(Min(visits, visits_together(input->index)), 2.0);
	double		pages = input->index->rel->pages;
	double		beyond;			/* what a visit costs beyond core's price for a row */

	beyond = GPB_VISIT_COST - 1.0 +
		GPB_VISIT_SORT_COST * log2(together) * disorder;
	if (input->beside_index_scan && pages > GPB_CACHED_PAGES)
		beyond *= 1.0 - disorder * (1.0 - GPB_CACHED_PAGES / pages);
	return visits * (1.0 + beyond) * cpu_tuple_cost;
}

/*
 * The CPU time of those of so many heap visits at random that come to a page that an earlier batch
 * has visited, since only the visits of one batch are in the order of the heap.  fraction: of the
 * table's pages, those that are not all-visible.
 */
static Cost
again_price(const GpbPriceInput *input, double visits, double fraction)
{
	double		pages = ceil(input->index->rel->pages * fraction);
	double		batch = visits_together(input->index);

	if (visits <= batch)
		return 0.0;
	return (visits / batch * distinct_pages(batch, pages) - distinct_pages(visits, pages)) *
		GPB_PAGE_AGAIN_COST * cpu_tuple_cost;
}

/*
 * Visits of a batch are in the order of TIDs, so a batch reads each page once at most.
 * Interpolated by correlation as core does for index scans.  The CPU time of a visit that is alone
 * on its page is in the page's price.
 */
Cost
gpb_heap_price(GpbPriceInput *input, double entries, double fraction)
{
	RelOptInfo *rel = input->index->rel;
	double		random_page_cost;
	double		seq_page_cost;
	double		scattered;
	double		clustered;
	double		squared;
	double		share;
	double		shared_page;
	Cost		cost;

	if (fraction <= 0.0 || rel->pages == 0)
		return 0.0;
	page_prices(input, rel->reltablespace, &random_page_cost, &seq_page_cost);

	scattered = index_pages_fetched(entries, rel->pages, input->index->pages, input->root);
	clustered = ceil(entries / Max(rel->tuples, 1.0) * rel->pages);
	clustered = Min(clustered, scattered);
	/* the more of the table a visit covers, the more it reads it in order */
	share = sqrt(Min(scattered / rel->pages, 1.0));
	squared = squared_correlation(input);

	/* of pages in a row the first has the price that core's index scans have for it, too */
	cost = fraction *
		(squared * (clustered * seq_page_cost +
					Min(clustered, 1.0) * (random_page_cost - seq_page_cost)) +
		 (1.0 - squared) * scattered *
		 (random_page_cost - (random_page_cost - seq_page_cost) * share));

	shared_page = fraction * Max(entries - squared * clustered - (1.0 - squared) * scattered, 0.0);
	cost += (fraction * entries - shared_page) * cpu_tuple_cost +
		visits_price(input, shared_page, squared);
	if (!input->beside_index_scan)
		cost += (1.0 - squared) * again_price(input, fraction * entries, fraction);
	return cost;
}

/* ---- one range ---- */

/* Will a device be asked for the entries, since it has enough to do? */
static bool
is_for_device(const GpbPriceInput *input)
{
	return !input->no_device && gpb_aggregate_device_pays(input->entries) &&
		gpb_mirror_spares_cpu();
}

/*
 * Reading entries costs a tenth of what an index scan is charged for them on the CPU, and next to
 * nothing beyond a request on a device, which few entries do not go to.  The request is charged, so
 * that a look-up of one row by another index, which takes a fifth of its time, is the cheaper plan.
 */
static Cost
entries_price(const GpbPriceInput *input)
{
	IndexOptInfo *index = input->index;
	double		leaves = leaves_in_row(index, input->entries);
	double		random_page_cost;
	double		seq_page_cost;

	get_tablespace_page_costs(index->reltablespace, &random_page_cost, &seq_page_cost);
	if (is_for_device(input))
		return gpb_batch_setup_cost + leaves * GPB_DEVICE_LEAF_COST * cpu_operator_cost +
			index->rel->pages / (double) GPB_VM_PAGE_BLOCKS * seq_page_cost;
	return random_page_cost + leaves * seq_page_cost +
		input->entries * GPB_ENTRY_PART * (cpu_index_tuple_cost + cpu_tuple_cost);
}

/*
 * The price of adding up one more column: a device reads the leaves once more, and the CPU adds one
 * more value of each entry.
 */
static Cost
column_price(const GpbPriceInput *input)
{
	if (gpb_mirror_spares_cpu())
		return leaves_in_row(input->index, input->entries) * GPB_DEVICE_LEAF_COST *
			cpu_operator_cost;
	return input->entries * GPB_VALUE_COST * cpu_operator_cost;
}

static Cost
range_price(GpbPriceInput *input)
{
	Cost		cost = entries_price(input);

	if (input->seen > 0.0)
		cost += gpb_heap_price(input, input->seen,
							   gpb_visited_fraction(input->root, input->index->rel, input->seen));
	if (input->more_columns > 0)
		cost += input->more_columns * column_price(input);
	return cost;
}

/* ---- many ranges ---- */

/* Will batches of so many ranges be answered by a device that mirrors the whole index? */
static bool
batch_is_for_device(const GpbPriceInput *input, double batch)
{
	Relation	index;
	bool		all_pages;

	if (input->least || !gpb_mirror_spares_cpu() || !gpb_batch_device_pays(batch))
		return false;
	/* the planner holds a lock already */
	index = index_open(input->index->indexoid, NoLock);
	all_pages = !gpb_mirror_is_inner_only(index);
	index_close(index, NoLock);
	return all_pages;
}

/*
 * The price of reading the leaves of ranges in batches: the first of each range, and those that
 * follow it.  Of ranges that are known, these are read in a row, at the price that entries_price()
 * has for one range; ranges that overlap share leaves, and as pages at random each counts once.
 */
static Cost
leaf_pages_price(const GpbPriceInput *input, double first, double further, double batches)
{
	const IndexOptInfo *index = input->index;
	double		random_page_cost;
	double		seq_page_cost;
	Cost		at_random;
	Cost		in_rows;

	at_random = pages_price(input, index->reltablespace, index->pages, first + further,
							(first + further) / batches);
	if (!input->known_ranges)
		return at_random;
	page_prices(input, index->reltablespace, &random_page_cost, &seq_page_cost);
	in_rows = pages_price(input, index->reltablespace, index->pages, first, first / batches) +
		distinct_pages(further / batches, index->pages) * batches * seq_page_cost;
	return Min(at_random, in_rows);
}

/*
 * The price of finding the entries of so many ranges, in batches of "batch", and reading the leaves
 */
static Cost
leaves_price(const GpbPriceInput *input, double ranges, double entries, double batch)
{
	IndexOptInfo *index = input->index;
	double		entries_per_leaf = Max(index->tuples, 1.0) / Max(index->pages, 1.0);
	/* equal keys are on the same pages */
	double		distinct = input->keys > 0 ?
	Min(input->keys / Max(input->ranges, 1.0), 1.0) : 1.0;
	/* a range's entries, beyond its first, may fill further leaves */
	double		further = Max(entries - ranges, 0) / entries_per_leaf;
	/* in a batch a leaf that several ranges share is read once */
	double		first = ranges * distinct;
	double		batches = Max(ranges, 1.0) / batch;
	/* processes that have exchanged ranges share no leaf */
	double		together = input->exchanged ? Max(input->processes, 1.0) : 1.0;
	double		leaves = distinct_pages((first + further) * together / batches, index->pages) *
	batches / together;

	if (batch_is_for_device(input, batch))
		return cpu_operator_cost * (GPB_OUTER_DEVICE_COST * ranges +
									GPB_DEVICE_LEAF_COST * further) *
			(1 + input->more_columns);
	return cpu_operator_cost * GPB_OUTER_LEAF_COST * leaves +
		leaf_pages_price(input, first, further, batches);
}

/*
 * The price of an entry of the ranges, in units of cpu_operator_cost; a device aggregates without
 * the CPU, which adds one value for each further column.
 */
static double
match_price(const GpbPriceInput *input, double batch)
{
	if (input->listed)
		return GPB_OUTER_MATCH_COST * (1.0 - input->dropped) +
			(input->entry_cost > 0 ? GPB_OUTER_TEST_COST : 0.0) +
			input->entry_cost / cpu_operator_cost;
	if (batch_is_for_device(input, batch))
		return 0.0;
	return GPB_OUTER_COUNT_COST + GPB_VALUE_COST * input->more_columns +
		input->entry_cost / cpu_operator_cost;
}

/*
 * How many heap pages so many visits come to.  Each visit comes to a page of its own or, where the
 * heap follows the key, all visits to the part of the range's pages that is not all-visible;
 * between the two it is interpolated by correlation.
 */
static double
visited_pages(GpbPriceInput *input, double ranges, double visits)
{
	RelOptInfo *rel = input->index->rel;
	double		together;

	if (input->from_heap || visits <= ranges)
		return visits;
	together = ranges + visits / Max(rel->tuples, 1.0) * rel->pages;
	return visits - squared_correlation(input) * Max(visits - together, 0.0);
}

/* The price of the heap visits for so many entries of ranges, in batches of "batch" ranges */
static Cost
ranges_heap_price(GpbPriceInput *input, double ranges, double entries, double batch)
{
	RelOptInfo *rel = input->index->rel;
	double		fraction = input->from_heap ? 1.0 : gpb_visited_fraction(input->root, rel, entries);
	double		visits = entries * fraction;
	double		pages = visited_pages(input, ranges, visits);
	/* of each range the first entry is charged for its page: see leaves_price() */
	double		further = Max(visits - ranges, 0.0);
	Cost		cost;

	cost = pages_price(input, rel->reltablespace, rel->pages, ceil(pages),
					   batch * pages / Max(ranges, 1.0));
	if (!input->from_heap && visits > 0)
		cost += visits_price(input, visits, squared_correlation(input));
	else if (input->from_heap)
		cost += visits * cpu_tuple_cost;
	if (input->from_heap && further > 0)
		cost += (1.0 - squared_correlation(input)) * again_price(input, further, 1.0);
	return cost;
}

Cost
gpb_ranges_price(GpbPriceInput *input, double ranges, double batch)
{
	double		share = input->ranges > 0 ? ranges / input->ranges : 0.0;
	double		entries = input->entries * share;
	Cost		cost;

	batch = Max(Min(batch, ranges), 1.0);
	cost = cpu_operator_cost *
		((GPB_OUTER_ROW_COST + (input->exchanged ? GPB_EXCHANGE_COST : 0)) * ranges +
		 match_price(input, batch) * entries) +
		leaves_price(input, ranges, entries, batch);
	entries *= 1.0 - input->dropped;
	if (input->in_order)
		cost += cpu_operator_cost * GPB_OUTER_ORDER_COST * entries *
			log2(Max(entries / Max(ranges, 1.0) * batch, 2.0));
	return cost + ranges_heap_price(input, ranges, entries, batch);
}

/*
 * The price of looking for groups, a leaf for each.  They are found in the order of the index, like
 * the ranges of outer rows.
 */
static Cost
searches_price(const GpbPriceInput *input)
{
	GpbPriceInput groups = {.root = input->root, .index = input->index,
	.ranges = input->searches, .least = input->least};

	return gpb_ranges_price(&groups, groups.ranges, groups.ranges);
}

/* ---- the whole ---- */

Cost
gpb_program_price(const GpbPriceInput *input)
{
	return input->program == 0.0 || is_for_device(input) ? 0.0 : input->program;
}

Cost
gpb_price(GpbPriceInput *input)
{
	Cost		cost = input->begin;

	if (input->searches > 0)
		cost += searches_price(input);
	cost += input->ranges > 0 ? gpb_ranges_price(input, input->ranges, input->ranges) :
		range_price(input);
	return cost + gpb_program_price(input);
}

Cost
gpb_bounds_price(PlannerInfo *root, List *conditions, List *arms)
{
	QualCost	bounds;
	Cost		cost;
	ListCell   *lc;

	cost_qual_eval(&bounds, conditions, root);
	cost = bounds.startup + bounds.per_tuple;
	foreach(lc, arms)
	{
		cost_qual_eval(&bounds, lfirst_node(List, lc), root);
		cost += bounds.startup + bounds.per_tuple;
	}
	return cost;
}

/* ---- the least ---- */

/* Is one of the key columns behind the first among the restricted ones? */
static bool
later_column_is_restricted(const IndexOptInfo *index, const Bitmapset *restricted)
{
	for (int c = 1; c < index->nkeycolumns; c++)
	{
		if (gpb_key_column_is_among(index, c, restricted))
			return true;
	}
	return false;
}

/*
 * The number of groups at least that conditions on later key columns may be looked for in, with a
 * condition on the first one or without; 0 if there is nothing to skip.
 */
static double
least_searches(PlannerInfo *root, IndexOptInfo *index, bool first_restricted)
{
	double		values;

	if (index->nkeycolumns < 2 || index->tuples <= 0 || index->pages == 0)
		return 0.0;
	if (first_restricted)
		return 1.0;
	values = gpb_count_values(root, index, 0, NIL);
	return values == 0 ? 0.0 : Max(Min(values, index->tuples), 1.0);
}

/*
 * Without a condition on the first key column the ranges have all entries, if there are others.
 * Those a device may be asked for, even at a higher price than the CPU's, or the CPU alone.
 */
Cost
gpb_least_price(PlannerInfo *root, IndexOptInfo *index, const Bitmapset *restricted,
				bool has_arrays, double rows)
{
	bool		first = gpb_key_column_is_among(index, 0, restricted);
	bool		later = later_column_is_restricted(index, restricted);
	GpbPriceInput input = {.root = root, .index = index, .least = true};
	Cost		cost;

	input.entries = clamp_row_est(rows);
	if (!first && !bms_is_empty(restricted))
		input.entries = Max(input.entries, clamp_row_est(index->tuples));
	input.no_device = first || later;
	if (input.no_device && (has_arrays || gpb_mirror_spares_cpu()))
		return 0.0;
	cost = gpb_price(&input);
	if (is_for_device(&input))
	{
		input.no_device = true;
		cost = Min(cost, gpb_price(&input));
	}
	input.searches = input.ranges = later ? least_searches(root, index, first) : 0.0;
	input.entries = 0.0;
	return input.searches > 0 ? Min(cost, gpb_price(&input)) : cost;
}
