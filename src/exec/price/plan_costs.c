/*-------------------------------------------------------------------------
 *
 * plan_costs.c
 *	  Prices that the nodes share: heap visits, reading entries, core's other ways.
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
#include "optimizer/pathnode.h"
#include "optimizer/prep.h"
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
#include "exec/price/plan_costs.h"
#include "exec/shell/node_shell.h"
#include "index/index.h"
#include "mirror/mirror.h"

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

double
gpb_distinct_pages(double n, double pages)
{
	return pages <= 1 ? Min(n, 1) : pages * (1.0 - exp(-n / pages));
}

/*
 * CPU time of heap visits, in units of cpu_tuple_cost.  Measured with all pages in memory (rows of
 * 80 bytes; 10,000 and 1 M of them, in heap order and at random), where core's sequential scan with
 * two aggregates took 0.06 us a row, which is priced at 0.025: sorting took up to 0.1 us, if visits
 * did not come in the order of the heap; and a page that an earlier batch had visited already took
 * 0.4.  From a device they come in no order, but not again for pages that were visited once; so the
 * price is that of the CPU's, and plans do not depend on the device.
 *
 * Of a page that is visited as a whole, a row takes some 16 ns, where a row of the sequential scan
 * takes 24: 10 M rows that were never vacuumed, in heap order, took 160 ms.
 */
#define GPB_VISIT_COST		0.6		/* to see a row */
#define GPB_VISIT_SORT_COST	0.15	/* times log2 of a batch: to sort a visit */
/* To find and lock a page again, whose rows have left the CPU's caches */
#define GPB_PAGE_AGAIN_COST	18.0

/*
 * Pages of a table that the CPU's caches hold.  Core's price for an index scan of a larger one
 * leaves out what it takes to wait for memory, row by row, where the heap does not follow the key:
 * more than all that a visit of ours takes beyond the price of a row.
 */
#define GPB_CACHED_PAGES	1024.0

/* From so many heap visits on, a look at which pages are settled is worth its microseconds */
#define GPB_SAMPLED_VISITS	10000.0

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

Cost
gpb_visit_cost(const IndexOptInfo *index, double visits, double squared, bool beside_index_scan)
{
	double		disorder = 1.0 - squared;
	double		together = Max(Min(visits, visits_together(index)), 2.0);
	double		beyond;			/* what a visit costs beyond core's price for a row */

	beyond = GPB_VISIT_COST - 1.0 +
		GPB_VISIT_SORT_COST * log2(together) * disorder;
	if (beside_index_scan && index->rel->pages > GPB_CACHED_PAGES)
		beyond *= 1.0 - disorder * (1.0 - GPB_CACHED_PAGES / index->rel->pages);
	return visits * (1.0 + beyond) * cpu_tuple_cost;
}

/*
 * How often so many heap visits at random come to a page that an earlier batch has visited, since
 * only the visits of one batch are in the order of the heap.  fraction: of the table's pages, those
 * that are not all-visible.
 */
static double
pages_again(IndexOptInfo *index, double visits, double fraction)
{
	double		pages = ceil(index->rel->pages * fraction);
	double		batch = visits_together(index);

	if (visits <= batch)
		return 0.0;
	return visits / batch * gpb_distinct_pages(batch, pages) - gpb_distinct_pages(visits, pages);
}

Cost
gpb_again_cost(IndexOptInfo *index, double visits)
{
	return pages_again(index, visits, 1.0) * GPB_PAGE_AGAIN_COST * cpu_tuple_cost;
}

/*
 * Visits of a batch are in the order of TIDs, so a batch reads each page once at most.
 * Interpolated by correlation as core does for index scans.  The CPU time of a visit that is alone
 * on its page is in the page's price.
 */
Cost
gpb_heap_cost(PlannerInfo *root, IndexOptInfo *index, double entries, double fraction,
			  bool beside_index_scan)
{
	RelOptInfo *rel = index->rel;
	double		random_page_cost;
	double		seq_page_cost;
	double		scattered;
	double		clustered;
	double		correlation;
	double		share;
	double		shared_page;
	Cost		cost;

	if (fraction <= 0.0 || rel->pages == 0)
		return 0.0;
	get_tablespace_page_costs(rel->reltablespace, &random_page_cost, &seq_page_cost);

	scattered = index_pages_fetched(entries, rel->pages, index->pages, root);
	clustered = ceil(entries / Max(rel->tuples, 1.0) * rel->pages);
	clustered = Min(clustered, scattered);
	/* the more of the table a visit covers, the more it reads it in order */
	share = sqrt(Min(scattered / rel->pages, 1.0));
	correlation = gpb_index_correlation(root, index);
	correlation *= correlation;

	/* of pages in a row the first has the price that core's index scans have for it, too */
	cost = fraction *
		(correlation * (clustered * seq_page_cost +
						Min(clustered, 1.0) * (random_page_cost - seq_page_cost)) +
		 (1.0 - correlation) * scattered *
		 (random_page_cost - (random_page_cost - seq_page_cost) * share));

	shared_page = fraction * Max(entries - correlation * clustered -
								 (1.0 - correlation) * scattered, 0.0);
	cost += (fraction * entries - shared_page) * cpu_tuple_cost +
		gpb_visit_cost(index, shared_page, correlation, beside_index_scan);
	if (!beside_index_scan)
		cost += (1.0 - correlation) * pages_again(index, fraction * entries, fraction) *
			GPB_PAGE_AGAIN_COST * cpu_tuple_cost;
	return cost;
}

/*
 * Reading entries costs a tenth of what an index scan is charged for them on the CPU, and next to
 * nothing beyond a request on a device, which few entries do not go to.  The request is charged, so
 * that a look-up of one row by another index, which takes a fifth of its time, is the cheaper plan.
 */
Cost
gpb_read_cost(PlannerInfo *root, IndexOptInfo *index, double entries, bool may_use_device)
{
	double		leaves;
	double		random_page_cost;
	double		seq_page_cost;

	get_tablespace_page_costs(index->reltablespace, &random_page_cost, &seq_page_cost);
	leaves = ceil(entries / Max(index->tuples, 1.0) * index->pages);
	leaves = Min(leaves, index->pages);
	if (may_use_device && gpb_mirror_spares_cpu() && gpb_aggregate_device_pays(entries))
		return gpb_batch_setup_cost + leaves * 0.1 * cpu_operator_cost +
			index->rel->pages / (double) GPB_VM_PAGE_BLOCKS * seq_page_cost;
	return random_page_cost + leaves * seq_page_cost +
		entries * 0.1 * (cpu_index_tuple_cost + cpu_tuple_cost);
}

Cost
gpb_count_cost(PlannerInfo *root, IndexOptInfo *index, double entries, bool beside_index_scan)
{
	return gpb_read_cost(root, index, entries, true) +
		gpb_heap_cost(root, index, entries, gpb_visited_fraction(root, index->rel, entries),
					  beside_index_scan);
}

bool
gpb_is_core_choice(PlannerInfo *root, const Path *path, const Path *other)
{
	double		fraction = root->tuple_fraction;

	/* A number of rows, or a part of all, as in get_cheapest_fractional_path() */
	if (fraction >= 1.0)
		fraction /= Max(path->rows, 1.0);
	return compare_fractional_path_costs((Path *) path, (Path *) other, fraction) < 0;
}

bool
gpb_hashing_is_cheaper(PlannerInfo *root, RelOptInfo *grouped_rel, Cost price, int columns,
					   double groups)
{
	AggPath    *best = NULL;
	AggClauseCosts aggregates = {0};
	Path	   *rows;
	Path		hashed = {0};
	Path		ours = {0};
	ListCell   *lc;

	foreach(lc, grouped_rel->pathlist)
	{
		if (best == NULL || gpb_is_cheaper(lfirst(lc), &best->path))
			best = lfirst(lc);
	}
	if (best == NULL || !IsA(best, AggPath) || best->aggstrategy != AGG_HASHED ||
		best->aggsplit != AGGSPLIT_SIMPLE || groups > best->numGroups)
		return false;
	rows = best->subpath;
	/* what it reads costs more already */
	if (price <= rows->total_cost)
		return false;
	get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &aggregates);
	cost_agg(&hashed, root, AGG_HASHED, &aggregates, columns, groups, NIL, rows->startup_cost,
			 rows->total_cost, rows->rows, rows->pathtarget->width);
	GPB_ADD_DISABLED(&hashed, rows);
	ours.total_cost = price;
	return gpb_is_cheaper(&hashed, &ours);
}

Cost
gpb_column_cost(const IndexOptInfo *index, double entries)
{
	double		leaves = ceil(entries / Max(index->tuples, 1.0) * index->pages);

	if (gpb_mirror_spares_cpu())
		return Min(leaves, index->pages) * 0.1 * cpu_operator_cost;
	return entries * GPB_VALUE_COST * cpu_operator_cost;
}
