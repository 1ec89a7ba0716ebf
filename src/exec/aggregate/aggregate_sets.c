/*-------------------------------------------------------------------------
 *
 * aggregate_sets.c
 *	  The grouping sets of a query, and the phases of a program that answer them: planning.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"

#include "exec/aggregate/aggregate_sets.h"

/* ---- GROUPING() ---- */

/* The bit of the group expression whose clause has this reference; 0 if none has */
static uint32
reference_bit(List *clauses, Index reference)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (lfirst_node(SortGroupClause, lc)->tleSortGroupRef == reference)
			return (uint32) 1 << foreach_current_index(lc);
	}
	return 0;
}

/*
 * GROUPING() in a set: a bit for each argument, the last one lowest, which says that it is not
 * there
 */
static int
grouping_value(const GroupingFunc *grouping, List *clauses, uint32 set)
{
	int			value = 0;
	ListCell   *lc;

	foreach(lc, grouping->refs)
		value = value << 1 | ((reference_bit(clauses, lfirst_int(lc)) & set) == 0);
	return value;
}

/* ---- sets ---- */

/* All n group expressions */
static uint32
whole_set(int n)
{
	return ((uint32) 1 << n) - 1;
}

/* The query's sets, which the planner has expanded to Lists of references */
static void
fill_sets(List *sets, List *clauses, GpbSetsPlan *plan)
{
	ListCell   *lc;

	foreach(lc, sets)
	{
		ListCell   *member;

		foreach(member, (List *) lfirst(lc))
			plan->set[plan->n] |= reference_bit(clauses, lfirst_int(member));
		plan->n++;
	}
}

const char *
gpb_sets_match(PlannerInfo *root, List *clauses, List *groups, List *groupings, GpbSetsPlan *plan)
{
	List	   *sets = root->parse->groupingSets;
	ListCell   *lc;
	int			i;

	memset(plan, 0, sizeof(*plan));
	/* more expressions than a program has group slots are refused later */
	if (list_length(groups) > 31)
		return "more than 31 expressions in GROUP BY";
	if (sets != NIL && list_length(groups) != list_length(clauses))
		return "its grouping sets have two columns of the same expression";
	plan->set = palloc0(sizeof(uint32) * Max(list_length(sets), 1));
	if (sets != NIL)
		fill_sets(sets, clauses, plan);
	else
		plan->set[plan->n++] = whole_set(list_length(groups));
	plan->ngroupings = list_length(groupings);
	plan->grouping = palloc(sizeof(int) * plan->ngroupings * plan->n);
	foreach(lc, groupings)
	{
		for (i = 0; i < plan->n; i++)
			plan->grouping[foreach_current_index(lc) * plan->n + i] =
				grouping_value(lfirst_node(GroupingFunc, lc), clauses, plan->set[i]);
	}
	return NULL;
}

/* ---- phases ---- */

void
gpb_sets_in_one_phase(GpbSetsPlan *plan)
{
	int			i;

	plan->nphases = 1;
	plan->phases = palloc0(sizeof(uint32));
	plan->phase = palloc0(sizeof(int) * plan->n);
	for (i = 0; i < plan->n; i++)
		plan->phases[0] |= plan->set[i];
}

/* Is the set a proper part of another one? */
static bool
is_within_another(const GpbSetsPlan *plan, uint32 set)
{
	int			i;

	for (i = 0; i < plan->n; i++)
	{
		if ((set & ~plan->set[i]) == 0 && set != plan->set[i])
			return true;
	}
	return false;
}

/* The first phase that has the set; nphases if none has. */
static int
find_phase(const GpbSetsPlan *plan, uint32 set)
{
	int			phase;

	for (phase = 0; phase < plan->nphases; phase++)
	{
		if ((set & ~plan->phases[phase]) == 0)
			break;
	}
	return phase;
}

void
gpb_sets_in_phases(GpbSetsPlan *plan)
{
	int			i;

	plan->nphases = 0;
	plan->phases = palloc0(sizeof(uint32) * plan->n);
	plan->phase = palloc0(sizeof(int) * plan->n);
	for (i = 0; i < plan->n; i++)
	{
		if (!is_within_another(plan, plan->set[i]) &&
			find_phase(plan, plan->set[i]) == plan->nphases)
			plan->phases[plan->nphases++] = plan->set[i];
	}
	for (i = 0; i < plan->n; i++)
		plan->phase[i] = find_phase(plan, plan->set[i]);
}

/* ---- what travels in the plan ---- */

void
gpb_sets_put(List **private, const GpbSetsPlan *plan)
{
	int			i;

	gpb_put_int(private, plan->n);
	gpb_put_int(private, plan->nphases);
	gpb_put_int(private, plan->ngroupings);
	for (i = 0; i < plan->n; i++)
	{
		gpb_put_int(private, (int) plan->set[i]);
		gpb_put_int(private, plan->phase[i]);
	}
	for (i = 0; i < plan->nphases; i++)
		gpb_put_int(private, (int) plan->phases[i]);
	for (i = 0; i < plan->ngroupings * plan->n; i++)
		gpb_put_int(private, plan->grouping[i]);
}

void
gpb_sets_get(GpbPrivateReader *reader, GpbSetsPlan *plan)
{
	int			i;

	plan->n = gpb_get_int(reader);
	plan->nphases = gpb_get_int(reader);
	plan->ngroupings = gpb_get_int(reader);
	plan->set = palloc(sizeof(uint32) * plan->n);
	plan->phase = palloc(sizeof(int) * plan->n);
	plan->phases = palloc(sizeof(uint32) * plan->nphases);
	plan->grouping = palloc(sizeof(int) * plan->ngroupings * plan->n);
	for (i = 0; i < plan->n; i++)
	{
		plan->set[i] = (uint32) gpb_get_int(reader);
		plan->phase[i] = gpb_get_int(reader);
	}
	for (i = 0; i < plan->nphases; i++)
		plan->phases[i] = (uint32) gpb_get_int(reader);
	for (i = 0; i < plan->ngroupings * plan->n; i++)
		plan->grouping[i] = gpb_get_int(reader);
}
