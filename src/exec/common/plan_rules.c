/*-------------------------------------------------------------------------
 *
 * plan_rules.c
 *	  What the planning of every node of ours asks: may a node of ours run in this query, over
 *	  this table, with this index (rule M10); and what heap visits cost.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/genam.h"
#include "access/heapam.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/prep.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/spccache.h"
#include "utils/syscache.h"

#include "index/index.h"
#include "mirror/mirror.h"
#include "engine/cost.h"
#include "engine/heap_visit.h"
#include "engine/settled_pages.h"
#include "exec/common/node_shell.h"
#include "exec/common/plan_rules.h"
#include "engine/visibility.h"

/* ---- queries ---- */

bool
gpb_query_allows_nodes(PlannerInfo *root)
{
	for (; root != NULL; root = root->parent_root)
	{
		CmdType		command = root->parse->commandType;

		if (command != CMD_SELECT && command != CMD_INSERT)
			return false;
		if (root->parse->rowMarks != NIL || root->rowMarks != NIL ||
			root->parse->onConflict != NULL)
			return false;
	}
	return true;
}

/* ---- clauses ---- */

/* What a clause's place is decided by */
typedef struct GpbClauseRank
{
	Index		security_level;
	Cost		cost;			/* of a test */
} GpbClauseRank;

/*
 * The rank of a clause.  A leakproof clause that is cheap may come ahead of its level, as in core.
 */
static GpbClauseRank
rank_clause(PlannerInfo *root, Node *clause)
{
	GpbClauseRank rank = {0};
	QualCost	cost;

	cost_qual_eval_node(&cost, clause, root);
	rank.cost = cost.per_tuple;
	if (IsA(clause, RestrictInfo) &&
		!(((RestrictInfo *) clause)->leakproof && rank.cost < 10 * cpu_operator_cost))
		rank.security_level = ((RestrictInfo *) clause)->security_level;
	return rank;
}

List *
gpb_order_clauses(PlannerInfo *root, List *clauses)
{
	int			n = list_length(clauses);
	GpbClauseRank *ranks = palloc(sizeof(GpbClauseRank) * (n + 1));
	List	   *ordered = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Node	   *clause = lfirst(lc);
		GpbClauseRank rank = rank_clause(root, clause);
		int			place = list_length(ordered);

		while (place > 0 && (ranks[place - 1].security_level > rank.security_level ||
							 (ranks[place - 1].security_level == rank.security_level &&
							  ranks[place - 1].cost > rank.cost)))
		{
			ranks[place] = ranks[place - 1];
			place--;
		}
		ranks[place] = rank;
		if (IsA(clause, RestrictInfo))
			clause = (Node *) ((RestrictInfo *) clause)->clause;
		ordered = list_insert_nth(ordered, place, clause);
	}
	return ordered;
}

/* ---- tables and indexes ---- */

/*
 * Are the table's rows those of its heap?  An extension may keep others elsewhere (a TimescaleDB
 * chunk that is compressed in part does, and has its indexes still); it replaces all paths that
 * core has made.  So one of them must be there, or one of ours that took its place in the list.
 * A path that gathers rows of workers never pushes a serial one out, which is parallel safe.
 */
static bool
rows_are_the_heaps(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = lfirst(lc);

		while (IsA(path, ProjectionPath))
			path = ((const ProjectionPath *) path)->subpath;
		if (path->parent != rel)
			continue;
		if (path->pathtype == T_SeqScan || path->pathtype == T_IndexScan ||
			path->pathtype == T_IndexOnlyScan || path->pathtype == T_BitmapHeapScan ||
			path->pathtype == T_TidScan || path->pathtype == T_TidRangeScan ||
			gpb_is_our_path(path))
			return true;
	}
	return false;
}

bool
gpb_rel_is_plain(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte;
	Relation	heap;
	bool		plain;

	if (rel->reloptkind != RELOPT_BASEREL || rel->rtekind != RTE_RELATION ||
		rel->indexlist == NIL || IS_DUMMY_REL(rel) ||
		!bms_is_empty(rel->lateral_relids) || !rows_are_the_heaps(rel))
		return false;
	rte = planner_rt_fetch(rel->relid, root);
	if (rte->inh || rte->tablesample != NULL ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW))
		return false;

	/* The planner holds a lock already. */
	heap = table_open(rte->relid, NoLock);
	plain = heap->rd_tableam == GetHeapamTableAmRoutine();
	table_close(heap, NoLock);
	return plain;
}

bool
gpb_index_is_usable(IndexOptInfo *index)
{
	/* The cost function is how a planner node shows its access method. */
	return index->amcostestimate == gpb_costestimate &&
		!index->hypothetical && index->indexkeys[0] != 0 &&
		index->nkeycolumns == 1 &&
		(index->indpred == NIL || index->predOK);
}

bool
gpb_index_has_several_keys(IndexOptInfo *index)
{
	int			c;

	if (index->amcostestimate != gpb_costestimate || index->hypothetical ||
		index->nkeycolumns < 2 || index->ncolumns + 1 > GPB_MAX_COLUMNS ||
		(index->indpred != NIL && !index->predOK))
		return false;
	/* No key column is an expression. */
	for (c = 0; c < index->nkeycolumns; c++)
	{
		if (index->indexkeys[c] == 0)
			return false;
	}
	return true;
}

/* The place of a table's column among those of the index, or -1 */
static int
index_position(IndexOptInfo *index, AttrNumber attno)
{
	int			c;

	for (c = 0; c < index->ncolumns; c++)
	{
		if (index->indexkeys[c] == attno)
			return c;
	}
	return -1;
}

/* Slots are numbered as in program.h. */
int
gpb_index_column(IndexOptInfo *index, AttrNumber attno)
{
	int			c = index_position(index, attno);

	if (index->nkeycolumns < 2 || c < 0)
		return c;
	return c < index->nkeycolumns ? index->ncolumns - index->nkeycolumns + 1 + c :
		c - index->nkeycolumns + 1;
}

int
gpb_column_position(IndexOptInfo *index, int column)
{
	int			nincluded = index->ncolumns - index->nkeycolumns;

	if (index->nkeycolumns < 2)
		return column;
	return column > nincluded ? column - nincluded - 1 : column - 1 + index->nkeycolumns;
}

/* The coding of a column, by its number in programs */
static GpbCoding
column_coding(IndexOptInfo *index, int column)
{
	/* The planner holds a lock already. */
	Relation	relation = index_open(index->indexoid, NoLock);
	GpbCoding	coding = gpb_column_coding(gpb_layout(relation),
										   gpb_column_position(index, column));

	index_close(relation, NoLock);
	return coding;
}

bool
gpb_column_has_words(IndexOptInfo *index, int column)
{
	GpbCoding	coding = column_coding(index, column);

	return gpb_column_position(index, column) >= index->nkeycolumns ?
		gpb_coding_has_words(coding) : gpb_coding_key_is_word(coding);
}

bool
gpb_column_is_wide(IndexOptInfo *index, int column)
{
	return gpb_coding_key_is_wide(column_coding(index, column));
}

int
gpb_index_column_slots(IndexOptInfo *index)
{
	/* Nothing reads slot 0 of a key that has several columns. */
	return index->ncolumns + (index->nkeycolumns > 1);
}

int
gpb_column_scale(IndexOptInfo *index, int column)
{
	GpbCoding	coding = column_coding(index, column);

	return gpb_coding_is_numeric(coding) ? gpb_coding_scale(coding) : -1;
}

bool
gpb_index_has_columns(IndexOptInfo *index, List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		int			c = index_position(index, lfirst_node(Var, lc)->varattno);

		if (c < 0 || !index->canreturn[c])
			return false;
	}
	return true;
}

/* The column is no expression. */
Var *
gpb_key_column_var(PlannerInfo *root, IndexOptInfo *index, int c)
{
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(planner_rt_fetch(index->rel->relid, root)->relid,
						  index->indexkeys[c], &type, &typmod, &collation);
	return makeVar(index->rel->relid, index->indexkeys[c], type, typmod, collation, 0);
}

Var *
gpb_key_var(PlannerInfo *root, IndexOptInfo *index)
{
	return gpb_key_column_var(root, index, 0);
}

List *
gpb_key_vars(PlannerInfo *root, IndexOptInfo *index)
{
	List	   *vars = NIL;
	int			c;

	for (c = 0; c < index->nkeycolumns; c++)
		vars = list_append_unique(vars, gpb_key_column_var(root, index, c));
	return vars;
}

/* ---- joins ---- */

/*
 * With old_snapshot_threshold a row may go between the index's visit and the heap's, and nobody
 * would notice (rule M5).
 */
bool
gpb_join_is_possible(PlannerInfo *root, RelOptInfo *innerrel)
{
	return !OldSnapshotThresholdActive() && gpb_query_allows_nodes(root) &&
		gpb_rel_is_plain(root, innerrel);
}

bool
gpb_joined_last(PlannerInfo *root, RelOptInfo *innerrel, const SpecialJoinInfo *own)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);

		if (sjinfo == own)
			continue;
		if (bms_is_member(innerrel->relid, sjinfo->syn_righthand) ||
			bms_is_member(innerrel->relid, sjinfo->min_lefthand) ||
			(sjinfo->jointype == JOIN_FULL &&
			 bms_is_member(innerrel->relid, sjinfo->syn_lefthand)))
			return false;
	}
	return true;
}

RelOptInfo *
gpb_find_outer_side(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *innerrel)
{
	Relids		others = bms_del_member(bms_copy(joinrel->relids), innerrel->relid);
	RelOptInfo *outerrel;
	ListCell   *lc;

	/* the outer join that has the table on its right side is no part of the outer side */
	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);

		if (bms_is_member(innerrel->relid, sjinfo->syn_righthand) &&
			GPB_OUTER_JOIN_RELID(sjinfo) != 0)
			others = bms_del_member(others, GPB_OUTER_JOIN_RELID(sjinfo));
	}
	if (bms_membership(others) == BMS_MULTIPLE)
		outerrel = find_join_rel(root, others);
	else
		outerrel = find_base_rel(root, bms_singleton_member(others));
	if (outerrel == NULL || outerrel->cheapest_total_path == NULL ||
		IS_DUMMY_REL(outerrel) || !bms_is_empty(outerrel->lateral_relids) ||
		!bms_is_empty(PATH_REQ_OUTER(outerrel->cheapest_total_path)))
		return NULL;
	return outerrel;
}

List *
gpb_join_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
				 RelOptInfo *innerrel)
{
	List	   *clauses = generate_join_implied_equalities(root, joinrel->relids,
														   outerrel->relids, innerrel);
	ListCell   *lc;

	foreach(lc, innerrel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (bms_is_subset(rinfo->required_relids, joinrel->relids))
			clauses = list_append_unique_ptr(clauses, rinfo);
	}
	/* clauses without a column of the table wait for this join all the same */
	foreach(lc, outerrel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (bms_is_subset(rinfo->required_relids, joinrel->relids))
			clauses = list_append_unique_ptr(clauses, rinfo);
	}
	return clauses;
}

/* ---- costs ---- */

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
