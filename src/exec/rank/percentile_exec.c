/*-------------------------------------------------------------------------
 *
 * percentile_exec.c
 *	  The executor node of percentile_disc, and of other aggregates beside it.
 *
 * The node returns one row.  The visible entries of the range are counted part by part
 * (rank_find.h), which gives their number and so each percentile's rank; the parts that hold these
 * ranks are searched further, for the ranks of all percentiles together.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "commands/explain.h"
#include "executor/executor.h"
#include "utils/memutils.h"

#include "exec/answer/ask.h"
#include "exec/answer/fractions.h"
#include "exec/rank/rank_find.h"
#include "exec/rank/rank_node.h"
#include "exec/shell/node_explain.h"
#include "exec/where/conditions.h"
#include "exec/where/ordered_column.h"
#include "index/index.h"

typedef struct GpbPercentileScan
{
	GpbNode		node;
	GpbPercentilePlan plan;
	ExprState **fractions;		/* of each percentile */
	GpbOrderedColumn ordered;
	GpbAsk	   *others;			/* for the other aggregates; NULL if there are none */
	GpbPartitions *partitions;	/* NULL: there is one table */
	GpbRankFinder *finder;		/* NULL if all partitions were pruned when the node began */
} GpbPercentileScan;

/* Is it known before they are evaluated that only a few fractions are wanted? */
static bool
wants_few(const GpbPercentileScan *scan)
{
	int			i;

	for (i = 0; i < scan->plan.npercentiles; i++)
	{
		if (scan->plan.percentiles[i].many)
			return false;
	}
	return scan->plan.npercentiles <= GPB_RANK_FEW;
}

/* Open what is asked; false if nothing is to be executed. */
static bool
open_relations(GpbPercentileScan *scan, int eflags)
{
	GpbNode    *node = &scan->node;
	bool		executes;

	if (scan->plan.partitions.n == 0)
		return gpb_open_scanned(node, scan->plan.index, eflags);
	executes = gpb_open_above(node, scan->plan.index, eflags);
	scan->partitions = gpb_partitions_begin(node, &scan->plan.partitions, node->index, eflags);
	return executes;
}

/* Prepare what finds ranks, and what asks for the other aggregates. */
static void
begin_asking(GpbPercentileScan *scan)
{
	GpbNode    *node = &scan->node;
	GpbKey		behind = gpb_key_behind_column(gpb_layout(node->index), scan->plan.column);
	GpbAskWant	want = {GPB_ASK_NODE(node), .nitems = scan->plan.nitems, .items = scan->plan.items};

	scan->finder = scan->partitions != NULL ?
		gpb_rank_begin_several(node, scan->partitions, behind, wants_few(scan)) :
		gpb_rank_begin(node, behind, false, wants_few(scan));
	gpb_partitions_want(scan->partitions, &want);
	if (scan->plan.nitems > 0)
		scan->others = gpb_ask_begin(&node->css.ss.ps, &want);
}

static void
begin_percentile(CustomScanState *css, EState *estate, int eflags)
{
	GpbPercentileScan *scan = (GpbPercentileScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);
	ListCell   *lc;

	gpb_percentile_get(plan, &scan->plan);
	foreach(lc, plan->custom_scan_tlist)
	{
		Expr	   *expression = lfirst_node(TargetEntry, lc)->expr;

		if (IsA(expression, Aggref))
			gpb_require_aggregate(((Aggref *) expression)->aggfnoid);
	}
	if (!open_relations(scan, eflags))
		return;

	begin_asking(scan);
	gpb_ordered_column_init(scan->node.index, scan->plan.column, scan->plan.conditions,
							&css->ss.ps, &scan->ordered);
	scan->fractions = palloc(sizeof(ExprState *) * scan->plan.npercentiles);
	foreach(lc, scan->plan.fractions)
		scan->fractions[foreach_current_index(lc)] = ExecInitExpr(lfirst(lc), &css->ss.ps);
	scan->node.work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree percentile",
											ALLOCSET_DEFAULT_SIZES);
}

/* ---- which ranks are wanted ---- */

/* One fraction's rank, and where its key goes */
typedef struct GpbWantedRank
{
	int64		rank;
	uint64		place;
} GpbWantedRank;

#define ST_SORT sort_wanted
#define ST_ELEMENT_TYPE GpbWantedRank
#define ST_COMPARE(a, b) ((a)->rank < (b)->rank ? -1 : (a)->rank > (b)->rank)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * The ranks of all percentiles of one execution, in the order of percentiles and fractions, and the
 * keys of these ranks, when they have been found
 */
typedef struct GpbWantedRanks
{
	int64		total;			/* rows */
	bool		descending;		/* the index is */
	GpbWantedRank *wanted;
	GpbKey	   *keys;
	uint64		n;
	uint64		room;
} GpbWantedRanks;

/* What a percentile is to return, but for the keys */
typedef struct GpbPercentileForm
{
	bool		isnull;
	GpbFractions fractions;		/* of many */
} GpbPercentileForm;

/*
 * Want the rank of the first row, in the percentile's order, such that this row and those before it
 * are at least this fraction of all rows.  There is at least one row.
 */
static void
want_fraction(GpbWantedRanks *ranks, bool descending, float8 fraction)
{
	int64		rank = Max((int64) ceil(fraction * ranks->total), 1) - 1;

	if (ranks->n == ranks->room)
	{
		ranks->room = Max(2 * ranks->room, 64);
		ranks->wanted = ranks->wanted == NULL ?
			palloc(sizeof(GpbWantedRank) * ranks->room) :
			repalloc_huge(ranks->wanted, sizeof(GpbWantedRank) * ranks->room);
	}
	if (descending != ranks->descending)
		rank = ranks->total - 1 - rank;
	ranks->wanted[ranks->n].rank = rank;
	ranks->wanted[ranks->n].place = ranks->n;
	ranks->n++;
}

/* percentile_disc(fraction); errors come before the question whether there are rows, as in core. */
static void
want_one(GpbWantedRanks *ranks, const GpbPercentile *percentile, Datum fraction,
		 GpbPercentileForm *form)
{
	gpb_require_fraction(DatumGetFloat8(fraction));
	form->isnull = ranks->total == 0;
	if (!form->isnull)
		want_fraction(ranks, percentile->descending, DatumGetFloat8(fraction));
}

/* percentile_disc(array): the result has the array's form, and NULL where that has. */
static void
want_many(GpbWantedRanks *ranks, const GpbPercentile *percentile, Datum array,
		  GpbPercentileForm *form)
{
	int			i;

	form->isnull = ranks->total == 0;
	if (form->isnull)
		return;
	gpb_fractions_open(array, &form->fractions);
	for (i = 0; i < form->fractions.n; i++)
	{
		if (!form->fractions.nulls[i])
			want_fraction(ranks, percentile->descending,
						  DatumGetFloat8(form->fractions.values[i]));
	}
}

/* ---- keys ---- */

/* Find the keys of all ranks together. */
static void
find_wanted(GpbWantedRanks *ranks, GpbRankFinder *finder)
{
	MemoryContext context = CurrentMemoryContext;
	int64	   *sorted;
	GpbKey	   *found;
	uint64		i;

	if (ranks->n == 0)
		return;
	sorted = MemoryContextAllocHuge(context, sizeof(int64) * ranks->n);
	found = MemoryContextAllocHuge(context, sizeof(GpbKey) * ranks->n);
	ranks->keys = MemoryContextAllocHuge(context, sizeof(GpbKey) * ranks->n);
	sort_wanted(ranks->wanted, ranks->n);
	for (i = 0; i < ranks->n; i++)
		sorted[i] = ranks->wanted[i].rank;
	gpb_rank_keys(finder, sorted, ranks->n, found);
	for (i = 0; i < ranks->n; i++)
		ranks->keys[ranks->wanted[i].place] = found[i];
	pfree(sorted);
	pfree(found);
}

/* The value of a percentile whose keys begin at *keys, which moves beyond them. */
static Datum
percentile_value(const GpbLayout *layout, int column, const GpbPercentile *percentile,
				 const GpbPercentileForm *form, const GpbKey **keys)
{
	const GpbFractions *fractions = &form->fractions;
	Datum	   *values;
	int			i;

	if (!percentile->many)
		return gpb_key_column_datum(layout, column, *(*keys)++);
	values = palloc0(sizeof(Datum) * fractions->n);
	for (i = 0; i < fractions->n; i++)
	{
		if (!fractions->nulls[i])
			values[i] = gpb_key_column_datum(layout, column, *(*keys)++);
	}
	return gpb_fractions_result(fractions, values, percentile->type);
}

/* ---- the answer ---- */

/* Evaluate the fractions: errors are those of the first percentile that has one. */
static GpbPercentileForm *
want_percentiles(GpbPercentileScan *scan, GpbWantedRanks *ranks)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	GpbPercentileForm *forms = palloc0(sizeof(GpbPercentileForm) * scan->plan.npercentiles);
	int			i;

	for (i = 0; i < scan->plan.npercentiles; i++)
	{
		GpbPercentileForm *form = &forms[i];
		Datum		fraction = ExecEvalExprSwitchContext(scan->fractions[i], econtext,
														 &form->isnull);

		if (!form->isnull)
			(scan->plan.percentiles[i].many ? want_many : want_one)
				(ranks, &scan->plan.percentiles[i], fraction, form);
	}
	return forms;
}

/*
 * Put the percentiles over a range of keys, which is NULL if no key satisfies the conditions, into
 * the arrays.  Returns the number of rows.
 */
static int64
answer_percentiles(GpbPercentileScan *scan, const GpbKeyRange *keys, Datum *values,
				   bool *isnull)
{
	GpbLayout	layout = *gpb_layout(scan->node.index);
	GpbWantedRanks ranks = {.descending = gpb_key_column_descends(&layout, scan->plan.column)};
	GpbPercentileForm *forms;
	const GpbKey *next;
	int			i;

	if (keys != NULL && scan->finder != NULL)
	{
		gpb_rank_set_range(scan->finder, *keys);
		ranks.total = gpb_rank_total(scan->finder);
	}
	forms = want_percentiles(scan, &ranks);
	find_wanted(&ranks, scan->finder);
	next = ranks.keys;
	for (i = 0; i < scan->plan.npercentiles; i++)
	{
		isnull[i] = forms[i].isnull;
		if (!isnull[i])
			values[i] = percentile_value(&layout, scan->plan.column, &scan->plan.percentiles[i],
										 &forms[i], &next);
	}
	return ranks.total;
}

/*
 * Put the other aggregates over the ranges into the arrays.  The number of entries that are not
 * NULL in the ordered column is known: total.  It is an aggregate itself.
 */
static void
answer_others(GpbPercentileScan *scan, const GpbOrderedRanges *ranges, int64 total, Datum *values,
			  bool *isnull)
{
	bool		nulls = scan->plan.nulls && gpb_ordered_has_nulls(ranges);
	bool		counts = !nulls;
	int			i;

	if (scan->others == NULL)
		return;
	for (i = 0; i < scan->plan.nitems; i++)
		counts &= gpb_item_counts_rows(&scan->plan.items[i]);
	gpb_group_init(scan->others);
	gpb_ask_set_form(scan->others, nulls ? GPB_RANGE_BOUNDS : GPB_RANGE_KEYS);
	if (counts)
		gpb_group_count(scan->others, total, true);
	else if (nulls)
	{
		GpbRange	bounds[2] = {ranges->nulls};

		if (ranges->has_keys)
			bounds[1] = gpb_key_range(ranges->keys, gpb_layout(scan->node.index)->flags);
		(void) gpb_ask_total(scan->others, bounds,
							 gpb_unite_ranges(bounds, ranges->has_keys ? 2 : 1));
	}
	else if (ranges->has_keys && scan->partitions != NULL && scan->finder != NULL)
		(void) gpb_ask_total_shares(scan->others,
									gpb_partitions_share_total(scan->partitions, GPB_RANGE_KEYS,
															   &ranges->keys, 1));
	else if (ranges->has_keys && scan->partitions == NULL)
		(void) gpb_ask_total(scan->others, &ranges->keys, 1);
	gpb_group_final(scan->others, values, isnull);
}

/*
 * Put the answer into the scan tuple.  All memory, the values' included, is of the node's work
 * context.
 */
static void
answer_all(CustomScanState *css)
{
	GpbPercentileScan *scan = (GpbPercentileScan *) css;
	TupleTableSlot *tuple = css->ss.ss_ScanTupleSlot;
	int			nitems = scan->plan.nitems;
	MemoryContext caller;
	GpbOrderedRanges ranges;
	int64		total;

	gpb_clear_answer(&scan->node);
	gpb_partitions_restart(scan->partitions);
	caller = MemoryContextSwitchTo(scan->node.work);
	gpb_ordered_column_ranges(&scan->ordered, css->ss.ps.ps_ExprContext, &ranges);
	total = answer_percentiles(scan, ranges.has_keys ? &ranges.keys : NULL,
							   tuple->tts_values + nitems, tuple->tts_isnull + nitems);
	answer_others(scan, &ranges, total, tuple->tts_values, tuple->tts_isnull);
	ExecStoreVirtualTuple(tuple);
	MemoryContextSwitchTo(caller);
}

/* ---- the node ---- */

static void
end_percentile(CustomScanState *css)
{
	GpbPercentileScan *scan = (GpbPercentileScan *) css;

	if (scan->finder != NULL)
		gpb_rank_end(scan->finder);
	gpb_ask_end(scan->others);
	gpb_partitions_end(scan->partitions);
	gpb_close_node(&scan->node);
}

static void
explain_percentile(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbPercentileScan *scan = (GpbPercentileScan *) css;
	GpbBatchCounters counters = {0};

	if (scan->plan.partitions.n == 0)
		gpb_explain_index(scan->plan.index, es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css, scan->plan.conditions, ancestors, es);
	if (!es->analyze)
		return;
	counters.engine = "none";
	if (scan->finder != NULL)
		gpb_rank_counters(scan->finder, &counters);
	gpb_ask_counters(scan->others, &counters);
	gpb_explain_counters(GPB_LABEL_RANGES, &counters, 0, es);
}

const GpbNodeKind gpb_percentile_node = {
	GPB_NODE_KIND("GpubtreePercentile", GpbPercentileScan),
	GPB_ONE_ROW(answer_all),
	.exec.BeginCustomScan = begin_percentile,
	.exec.EndCustomScan = end_percentile,
	.exec.ExplainCustomScan = explain_percentile
};
