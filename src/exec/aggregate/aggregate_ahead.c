/*-------------------------------------------------------------------------
 *
 * aggregate_ahead.c
 *	  Nodes that return states to one node, one after the other, have their requests in flight
 *	  together.
 *
 * A request takes a device much longer than it takes a processor to send one, and requests for
 * different indexes can't be one launch.  So before the first of neighbouring nodes below an Append
 * answers, those behind it submit theirs, and whenever one has answered, one more does.  The CPU
 * answers its own nodes meanwhile.
 *
 * Ranges and constants of all of them are evaluated before the first request slot is taken: others
 * wait for slots, so none is held while functions of users run (rule M9).  For the same reason only
 * nodes that ask an index, and follow each other directly, are ahead of each other.
 *
 * A mirror that one of these nodes has is not given up for that of another one, since the next
 * statement of this kind would make it again: where there is no other room the CPU answers.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/execPartition.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "exec/aggregate/aggregate_node.h"
#include "mirror/mirror.h"

/*
 * The most nodes that have begun and not answered: enough to keep a device at work, and few enough
 * to leave slots to others
 */
#define GPB_NODES_AHEAD		16

/* Neighbouring nodes, in the order in which they are executed */
struct GpbAggregateAhead
{
	TimestampTz keep_since;		/* when they were prepared */
	bool		prepared;
	int			n;
	int			done;			/* those before this one have answered */
	int			next;			/* those before this one have begun */
	int			waits;			/* this many have to have answered before there is room for more:
								 * the last of them found no slot */
	GpbAggregateScan **node;
};

/* ---- who is ahead of whom ---- */

/* The node that asks an index for states, if the plan is one; else NULL. */
static GpbAggregateScan *
node_of_index(const GpbAggregateScan *above, PlanState *plan)
{
	GpbAggregateScan *node = (GpbAggregateScan *) plan;

	if (!IsA(plan, CustomScanState) ||
		((CustomScanState *) plan)->methods != above->node.css.methods ||
		node->plan.source != GPB_OF_INDEX || !node->plan.returns_states ||
		gpb_conditions_form(node->conditions) != GPB_RANGE_BOUNDS)
		return NULL;
	return node;
}

/* The Append below a node, if it has its plans executed one after the other; else NULL. */
static AppendState *
append_below(GpbAggregateScan *above)
{
	PlanState  *child = above->node.child;
	AppendState *append = (AppendState *) child;

	if (!IsA(child, AppendState) || append->as_pstate != NULL || append->as_nasyncplans > 0)
		return NULL;
	/* what ExecProcNode() would do first */
	if (child->chgParam != NULL)
		ExecReScan(child);
	return append;
}

/* Let n neighbouring nodes know of each other. */
static void
set_neighbours(GpbAggregateScan **nodes, int n)
{
	GpbAggregateAhead *ahead;

	if (n < 2)
		return;
	ahead = palloc0(sizeof(GpbAggregateAhead));
	ahead->node = nodes;
	ahead->n = n;
	for (int i = 0; i < n; i++)
		nodes[i]->ahead = ahead;
}

bool
gpb_aggregate_begin_ahead(GpbAggregateScan *above)
{
	AppendState *append = gpb_mirror_available() ? append_below(above) : NULL;
	GpbAggregateScan **nodes;
	Bitmapset  *valid;
	int			i = -1;
	int			first = 0;
	int			n = 0;

	if (append == NULL || append->as_nplans < 2)
		return false;
	/* as the Append itself finds out when it is first executed */
	valid = GPB_APPEND_KNOWS(append) ? append->as_valid_subplans :
		ExecFindMatchingSubPlans(append->as_prune_state, false);
	nodes = palloc(sizeof(GpbAggregateScan *) * append->as_nplans);
	while ((i = bms_next_member(valid, i)) >= 0)
	{
		GpbAggregateScan *node = node_of_index(above, append->appendplans[i]);

		if (node != NULL)
			nodes[n++] = node;
		else
		{
			set_neighbours(nodes + first, n - first);
			first = n;
		}
	}
	set_neighbours(nodes + first, n - first);
	return true;
}

void
gpb_aggregate_end_ahead(GpbAggregateScan *above)
{
	AppendState *append = castNode(AppendState, above->node.child);

	for (int i = 0; i < append->as_nplans; i++)
	{
		GpbAggregateScan *node = node_of_index(above, append->appendplans[i]);

		if (node == NULL || node->ahead == NULL)
			continue;
		node->ahead = NULL;
		if (node->prepared)
			gpb_aggregate_stop(node);
	}
}

/* ---- preparing and submitting ---- */

/* Evaluate the ranges and constants of a node before its turn. */
static void
prepare_node(GpbAggregateScan *node)
{
	PlanState  *ps = &node->node.css.ss.ps;
	MemoryContext caller;

	if (ps->chgParam != NULL)
		ExecReScan(ps);
	if (node->node.answered)
		return;
	MemoryContextReset(node->node.work);
	caller = MemoryContextSwitchTo(node->node.work);
	ResetExprContext(ps->ps_ExprContext);
	gpb_aggregate_prepare(node);
	MemoryContextSwitchTo(caller);
}

/* Prepare all nodes, and count their mirrors as used. */
static void
prepare_all(GpbAggregateAhead *ahead)
{
	ahead->keep_since = GetCurrentTimestamp();
	ahead->prepared = true;
	for (int i = 0; i < ahead->n; i++)
	{
		prepare_node(ahead->node[i]);
		/* if one has no answer, that of no other is wanted */
		if (ahead->node[i]->prepared && ahead->node[i]->unprepared != NULL)
			ahead->next = ahead->n;
	}
	for (int i = 0; i < ahead->n && ahead->next == 0; i++)
		gpb_mirror_use(ahead->node[i]->node.index);
}

/*
 * Submit what the nodes that come next ask for, as far as there are slots.  A node that found none
 * takes one when its turn comes, before any behind it.
 */
static void
submit_next(GpbAggregateAhead *ahead)
{
	while (ahead->done >= ahead->waits && ahead->next < ahead->n &&
		   ahead->next - ahead->done < GPB_NODES_AHEAD)
	{
		GpbAggregateScan *node = ahead->node[ahead->next++];

		if (node->prepared && node->unprepared == NULL &&
			!gpb_aggregate_submit(node, ahead->keep_since))
			ahead->waits = ahead->next;
	}
}

void
gpb_aggregate_go_ahead(GpbAggregateScan *node)
{
	GpbAggregateAhead *ahead = node->ahead;

	if (!ahead->prepared)
		prepare_all(ahead);
	while (ahead->node[ahead->done] != node)
		ahead->done++;
	submit_next(ahead);
}
