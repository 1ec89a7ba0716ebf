/*-------------------------------------------------------------------------
 *
 * aggregate_groups.c
 *	  The rows of an answer: one, or one for each group of each grouping set.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/compile/program_codes.h"
#include "exec/compile/program_words.h"

/* ---- sets ---- */

void
gpb_aggregate_first_row(GpbAggregateScan *scan)
{
	scan->set = -1;
}

/* The first of the subprograms of the phase that has the set at hand */
static GpbSubprogram *
set_subs(GpbAggregateScan *scan)
{
	return &scan->subs[scan->plan.sets.phase[scan->set] * scan->subs_of_phase];
}

/* Make the groups of the set at hand, of those of the subprogram's program. */
static void
begin_sub(GpbAggregateScan *scan, GpbSubprogram *sub)
{
	sub->next = 0;
	if (sub->program.ngroups == 0)
		return;
	gpb_merge_groups(scan->no_ranges ? NULL : sub->ask, &sub->program,
					 gpb_subprogram_slots(sub, scan->plan.sets.set[scan->set]), sub->floats,
					 &sub->groups);
	if (sub->scan != NULL)
		gpb_values_collect(sub->scan, &sub->groups);
}

/* Begin with the next set; false if there is none. */
static bool
next_set(GpbAggregateScan *scan)
{
	MemoryContext caller;
	GpbSubprogram *subs;
	int			i;

	if (scan->set + 1 >= scan->plan.sets.n)
		return false;
	scan->set++;
	scan->set_rows = 0;
	MemoryContextReset(scan->set_context);
	caller = MemoryContextSwitchTo(scan->set_context);
	subs = set_subs(scan);
	for (i = 0; i < scan->subs_of_phase; i++)
		begin_sub(scan, &subs[i]);
	MemoryContextSwitchTo(caller);
	return true;
}

/* ---- groups ---- */

/*
 * Go to the next group of a subprogram, or to the only one of a query without groups.  Returns
 * false if there is none.  *group is one of the program's groups in it, NULL if it has none.
 */
static bool
next_of_sub(GpbSubprogram *sub, const GpbGroup **group)
{
	*group = NULL;
	if (sub->scan != NULL)
	{
		bool		found = gpb_values_next(sub->scan, &sub->next);

		*group = gpb_values_any(sub->scan);
		return found;
	}
	if (sub->program.ngroups == 0)
		return sub->next++ == 0;
	*group = gpb_group_list_next(&sub->groups, &sub->next);
	return *group != NULL;
}

/* Are groups of two subprograms of a phase one group of the query? */
static bool
is_one_group(const GpbSubprogram *sub, const GpbGroup *a, const GpbGroup *b)
{
	int			i;

	if (a == NULL || b == NULL)
		return a == b;
	for (i = 0; i < sub->ngroups; i++)
	{
		if ((a->nulls >> i & 1) != (b->nulls >> i & 1) ||
			gpb_group_identity(sub->floats, i, a->words[i]) !=
			gpb_group_identity(sub->floats, i, b->words[i]))
			return false;
	}
	return true;
}

/*
 * Go to the next group of the set, in all subprograms of its phase: where there are several, all
 * bring their groups into the same order.
 */
static bool
next_of_set(GpbAggregateScan *scan, const GpbGroup **group)
{
	GpbSubprogram *subs = set_subs(scan);
	bool		found = next_of_sub(&subs[0], group);
	int			i;

	for (i = 1; i < scan->subs_of_phase; i++)
	{
		const GpbGroup *other;

		if (next_of_sub(&subs[i], &other) != found || !is_one_group(&subs[i], *group, other))
			elog(ERROR, "programs of one query have different groups");
	}
	/* the empty set has a row even of no entries */
	if (!found && scan->plan.sets.set[scan->set] == 0 && scan->set_rows == 0)
		found = true;
	scan->set_rows += found;
	return found;
}

/* Have the group of the phase's first subprogram be this one. */
static void
total_group(GpbSubprogram *sub, const GpbGroup *group)
{
	if (sub->program.ngroups == 0)
		return;
	gpb_group_init(sub->ask);
	if (group == NULL || sub->nitems == 0)
		return;
	if (sub->scan != NULL)
		gpb_values_add(sub->scan, sub->ask);
	else
		gpb_group_add(sub->ask, group->words + sub->program.ngroups);
}

/* ---- rows ---- */

/* Fill in the group expressions that the set at hand has. */
static void
fill_groups(const GpbAggregateScan *scan, const GpbSubprogram *sub, const GpbGroup *group,
			Datum *values, bool *isnull)
{
	const GpbAggregatePlan *plan = &scan->plan;
	int			i;

	for (i = 0; i < sub->ngroups; i += gpb_type_words(plan->group_types[sub->group[i]]))
	{
		int			expression = sub->group[i];

		if (!gpb_set_has(plan->sets.set[scan->set], expression) || (group->nulls >> i & 1) != 0)
			continue;
		values[expression] = gpb_words_value(&scan->codes, plan->group_types[expression],
											 &group->words[i]);
		isnull[expression] = false;
	}
}

/* Fill in the calls of GROUPING(). */
static void
fill_groupings(const GpbAggregateScan *scan, Datum *values, bool *isnull)
{
	const GpbSetsPlan *sets = &scan->plan.sets;
	int			i;

	for (i = 0; i < sets->ngroupings; i++)
	{
		values[i] = Int32GetDatum(sets->grouping[i * sets->n + scan->set]);
		isnull[i] = false;
	}
}

/* Fill in the aggregates that depend on values, of all subprograms; returns their number. */
static int
fill_values(GpbAggregateScan *scan, GpbSubprogram *subs, Datum *values, bool *isnull)
{
	int			n = 0;
	int			i;

	for (i = 0; i < scan->plan.nvalues; i++)
	{
		gpb_values_final(subs[i].scan, scan->node.css.ss.ps.ps_ExprContext, values + n,
						 isnull + n);
		n += subs[i].values.n;
	}
	return n;
}

/* Fill in the scan tuple for the group. */
static void
fill_tuple(GpbAggregateScan *scan, const GpbGroup *group)
{
	const GpbAggregatePlan *plan = &scan->plan;
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	Datum	   *values = tuple->tts_values;
	bool	   *isnull = tuple->tts_isnull;
	GpbSubprogram *subs = set_subs(scan);
	int			n = plan->nitems;

	ExecClearTuple(tuple);
	memset(isnull, true, sizeof(bool) * tuple->tts_tupleDescriptor->natts);
	total_group(&subs[0], group);
	gpb_group_final(subs[0].ask, values, isnull);
	n += fill_values(scan, subs, values + n, isnull + n);
	if (group != NULL)
		fill_groups(scan, &subs[0], group, values + n, isnull + n);
	n += plan->ngroups;
	fill_groupings(scan, values + n, isnull + n);
	ExecStoreVirtualTuple(tuple);
}

bool
gpb_aggregate_next_row(GpbAggregateScan *scan)
{
	const GpbGroup *group;

	while (scan->set < 0 || !next_of_set(scan, &group))
	{
		if (!next_set(scan))
			return false;
	}
	fill_tuple(scan, group);
	return true;
}

/* ---- rows without a scan tuple ---- */

bool
gpb_aggregate_has_rows(const GpbAggregatePlan *plan)
{
	return plan->has_program && plan->sets.n == 1 && plan->ngroups > 0 && plan->nvalues == 0 &&
		plan->sets.set[0] == ((uint32) 1 << plan->ngroups) - 1 && plan->sets.ngroupings == 0 &&
		plan->having == NIL;
}

/* Begin with the only set, which has one subprogram. */
static void
begin_rows(GpbAggregateScan *scan)
{
	const GpbAggregatePlan *plan = &scan->plan;
	const GpbSubprogram *sub = &scan->subs[0];
	GpbRowSources sources = {scan->codes, sub->nitems, sub->items, sub->ngroups};
	int			i;

	(void) next_set(scan);
	sources.by_number = -1;
	for (i = 0; i < sub->ngroups; i++)
	{
		sources.column[i] = plan->nitems + sub->group[i];
		sources.type[i] = plan->group_types[sub->group[i]];
	}
	gpb_word_rows_start(scan->rows, &sources, sub->ask, NULL);
}

TupleTableSlot *
gpb_aggregate_next_of_rows(GpbAggregateScan *scan)
{
	if (scan->set < 0)
		begin_rows(scan);
	return gpb_word_rows_next(scan->rows, &scan->subs[0].groups, &scan->subs[0].next);
}
