/*-------------------------------------------------------------------------
 *
 * range_groups.c
 *	  Groups of outer rows that come in any order, and one group of all rows.
 *
 * An answer for each group is kept until the outer rows end; to it is added what each row's range
 * has.  With group columns a hash table finds it, whose entry also has the group's first row.  The
 * planner has seen to it that all groups are likely to fit into hash_mem; like core's hashed
 * SubPlans and set operations, the table is not written to disk if there are more.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/range/range_aggregate.h"

/* ---- begin ---- */

/* Make the hash table, which is empty. */
static void
make_table(GpbRangeAggregateScan *scan)
{
	const GpbRangeAggregatePlan *plan = &scan->plan;
	GpbRangeGroups *groups = &scan->groups;
	PlanState  *ps = &scan->node.css.ss.ps;
	MemoryContext caller = MemoryContextSwitchTo(groups->context);
	Oid		   *equal;
	FmgrInfo   *hash;

	execTuplesHashPrepare(plan->ngroup, plan->group_operator, &equal, &hash);
	groups->table = BuildTupleHashTableExt(ps, ExecGetResultType(scan->node.child), plan->ngroup,
										   plan->group, equal, hash, plan->group_collation,
										   256, 0, groups->context, groups->context,
										   ps->ps_ExprContext->ecxt_per_tuple_memory, false);
	MemoryContextSwitchTo(caller);
}

void
gpb_range_groups_begin(GpbRangeAggregateScan *scan)
{
	GpbRangeGroups *groups = &scan->groups;

	groups->context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree range groups",
											ALLOCSET_DEFAULT_SIZES);
	if (scan->plan.ngroup == 0)
		return;
	groups->first = ExecInitExtraTupleSlot(scan->node.css.ss.ps.state,
										   ExecGetResultType(scan->node.child),
										   &TTSOpsMinimalTuple);
}

void
gpb_range_groups_reset(GpbRangeAggregateScan *scan)
{
	GpbRangeGroups *groups = &scan->groups;

	if (groups->context == NULL)
		return;
	if (groups->first != NULL)
		ExecClearTuple(groups->first);
	MemoryContextReset(groups->context);
	groups->table = NULL;
	groups->only = NULL;
	groups->complete = false;
}

/* ---- rows ---- */

bool
gpb_range_is_total(const GpbRangeAggregateScan *scan)
{
	return scan->plan.gathered && scan->plan.ngroup == 0 && scan->plan.empty_count == 0 &&
		scan->outer.ranges[0].form == GPB_RANGE_POINTS;
}

/* A new answer, of no entries */
static int64 *
make_answer(GpbRangeAggregateScan *scan)
{
	const GpbAnswerFormat *format = gpb_ask_format(scan->ask);
	int64	   *answer = MemoryContextAlloc(scan->groups.context, gpb_answer_width(format));

	gpb_answer_init(format, answer);
	return answer;
}

void
gpb_range_find_group(GpbNode *node, TupleTableSlot *slot, uint32 row)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) node;
	GpbRangeGroups *groups = &scan->groups;
	int64	  **answer = (int64 **) scan->outer.marks + row;
	TupleHashEntry entry;
	bool		is_new;

	if (scan->plan.ngroup == 0)
	{
		if (groups->only == NULL)
			groups->only = make_answer(scan);
		*answer = groups->only;
		return;
	}
	if (groups->table == NULL)
		make_table(scan);
	ResetExprContext(node->css.ss.ps.ps_ExprContext);
	entry = LookupTupleHashEntry(groups->table, slot, &is_new, NULL);
	if (is_new)
		GPB_ENTRY_POINTER(groups->table, entry) = make_answer(scan);
	*answer = GPB_ENTRY_POINTER(groups->table, entry);
}

void
gpb_range_gather_batch(GpbRangeAggregateScan *scan)
{
	const GpbAnswerFormat *format = gpb_ask_format(scan->ask);
	int64	  **answers = scan->outer.marks;
	uint32		n = gpb_range_is_total(scan) ? 0 : scan->outer.n;
	uint32		row;

	for (row = 0; row < n; row++)
	{
		uint32		range = gpb_outer_range(&scan->outer, 0, row);

		if (range != GPB_NO_RANGE && gpb_ask_answer(scan->ask, range)[0] > 0)
			gpb_answer_merge(format, answers[row], gpb_ask_answer(scan->ask, range));
		else
			answers[row][0] += scan->plan.empty_count;
	}
}

/* ---- groups ---- */

/* Put a group's first row into the scan tuple; the results are NULL. */
static void
load_first_row(GpbRangeAggregateScan *scan, MinimalTuple first)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	TupleTableSlot *row = scan->groups.first;
	int			nouter = scan->plan.nouter;

	ExecClearTuple(tuple);
	memset(tuple->tts_isnull, true, tuple->tts_tupleDescriptor->natts * sizeof(bool));
	if (first != NULL)
	{
		ExecStoreMinimalTuple(first, row, false);
		slot_getallattrs(row);
		memcpy(tuple->tts_values, row->tts_values, nouter * sizeof(Datum));
		memcpy(tuple->tts_isnull, row->tts_isnull, nouter * sizeof(bool));
	}
	ExecStoreVirtualTuple(tuple);
}

void
gpb_range_groups_complete(GpbRangeAggregateScan *scan)
{
	GpbRangeGroups *groups = &scan->groups;

	groups->complete = true;
	groups->returned = false;
	if (groups->table != NULL)
		InitTupleHashIterator(groups->table, &groups->iterator);
}

/* The one group of all rows */
static bool
next_of_all(GpbRangeAggregateScan *scan)
{
	GpbRangeGroups *groups = &scan->groups;

	if (groups->returned)
		return false;
	groups->returned = true;
	load_first_row(scan, NULL);
	if (groups->only != NULL && !gpb_range_is_total(scan))
		gpb_group_set(scan->ask, groups->only);
	return true;
}

bool
gpb_range_next_gathered(GpbRangeAggregateScan *scan)
{
	GpbRangeGroups *groups = &scan->groups;
	TupleHashEntry entry;

	if (scan->plan.ngroup == 0)
		return next_of_all(scan);
	if (groups->table == NULL)
		return false;
	entry = ScanTupleHashTable(groups->table, &groups->iterator);
	if (entry == NULL)
		return false;
	load_first_row(scan, entry->firstTuple);
	gpb_group_set(scan->ask, GPB_ENTRY_POINTER(groups->table, entry));
	return true;
}
