/*-------------------------------------------------------------------------
 *
 * aggregate_shard_states.c
 *	  States of the extension's aggregates over foreign leaves, merged by core's Agg.
 *
 * Where core aggregates each partition by itself (enable_partitionwise_aggregate) and then merges,
 * postgres_fdw has rows sent, since no SQL says "the transition state of an aggregate".  But of the
 * extension's aggregates the state, as it travels, is the very value; so it is of count(), and of
 * every other aggregate without a final function.  Then a shard is asked for the value, and the
 * foreign scan returns it as the partial aggregate that core merges.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "foreign/fdwapi.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/syscache.h"

#include "exec/aggregate/aggregate_shard_query.h"
#include "exec/functions/core_aggregate.h"

/* The wrapper's routines for a leaf: core's, but for one */
typedef struct GpbStatesRoutine
{
	FdwRoutine	routine;
	const FdwRoutine *core;
} GpbStatesRoutine;

/* ---- which aggregates ---- */

/*
 * Is what an aggregate returns its transition state, as a parallel worker would pass it on?  What
 * depends on a collation, as max() of texts, is none that a shard can tell: it may have another.
 */
static bool
is_own_state(const Aggref *aggref, bool is_own)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	Form_pg_aggregate form;
	bool		is_state;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	is_state = form->aggtranstype == INTERNALOID ?
		OidIsValid(form->aggserialfn) && form->aggfinalfn == form->aggserialfn :
		!OidIsValid(form->aggfinalfn);
	ReleaseSysCache(tuple);
	return is_state && (is_own || !OidIsValid(aggref->inputcollid));
}

/* ---- what is asked ---- */

/* A partial aggregate as an ordinary one, whose value is the same */
static Aggref *
whole_aggregate(const Aggref *partial)
{
	Aggref	   *whole = copyObject((Aggref *) partial);

	whole->aggsplit = AGGSPLIT_SIMPLE;
	return whole;
}

/* The clause by which a shard's query groups by column number "column", as that of the query */
static SortGroupClause *
group_clause(PlannerInfo *root, Index ref, int column)
{
	SortGroupClause *clause = copyObject(get_sortgroupref_clause(ref, GPB_GROUP_CLAUSE(root)));

	clause->tleSortGroupRef = column + 1;
	return clause;
}

/*
 * Fill in the query that groups a leaf as this target of partial aggregates does.  Returns false if
 * there is none, since an aggregate's state is another thing than its value, or if none of the
 * aggregates is the extension's.
 */
static bool
states_query(PlannerInfo *root, const PathTarget *target, GpbShardQuery *asked)
{
	bool		has_own = false;
	ListCell   *lc;

	memset(asked, 0, sizeof(*asked));
	asked->query = gpb_shard_grouping_query(root->parse);
	foreach(lc, target->exprs)
	{
		Index		ref = get_pathtarget_sortgroupref(target, foreach_current_index(lc));
		Expr	   *expression = lfirst(lc);
		GpbShardPart part = ref != 0 ? GPB_SHARD_GROUP : GPB_SHARD_STATE;

		if (asked->n == GPB_MAX_SHARD_COLUMNS)
			return false;
		if (ref != 0)
			asked->query->groupClause = lappend(asked->query->groupClause,
												group_clause(root, ref, asked->n));
		else
		{
			bool		is_own = IsA(expression, Aggref) &&
				gpb_is_own_aggregate(((Aggref *) expression)->aggfnoid);

			if (!IsA(expression, Aggref) || !is_own_state((Aggref *) expression, is_own))
				return false;
			has_own |= is_own;
			expression = (Expr *) whole_aggregate((Aggref *) expression);
		}
		asked->exprs = lappend(asked->exprs, expression);
		asked->column[asked->n++] = (GpbShardColumn) {part, 0, exprType((Node *) expression)};
	}
	asked->partial = target->exprs;
	return has_own;
}

/* ---- the path ---- */

/* GetForeignUpperPaths of a leaf: core's, and a path of partial aggregates, which core lacks */
static void
states_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
				   RelOptInfo *output, void *extra)
{
	const GpbStatesRoutine *own = (const GpbStatesRoutine *) input->fdwroutine;
	GpbShardQuery *asked = palloc(sizeof(GpbShardQuery));
	Path	   *path;

	if (stage != UPPERREL_PARTIAL_GROUP_AGG)
	{
		own->core->GetForeignUpperPaths(root, stage, input, output, extra);
		return;
	}
	if (!IS_SIMPLE_REL(input) || !states_query(root, output->reltarget, asked))
		return;
	path = gpb_shard_states_path(root, asked, input);
	if (path != NULL)
		add_path(output, (Path *) create_projection_path(root, output, path, output->reltarget));
}

void
gpb_shard_offer_states(PlannerInfo *root, RelOptInfo *leaf)
{
	GpbStatesRoutine *own;

	if (!enable_partitionwise_aggregate || !root->parse->hasAggs ||
		leaf->reloptkind != RELOPT_OTHER_MEMBER_REL || !gpb_is_shard(root, leaf))
		return;
	own = palloc(sizeof(GpbStatesRoutine));
	own->routine = *leaf->fdwroutine;
	own->routine.GetForeignUpperPaths = states_upper_paths;
	own->core = leaf->fdwroutine;
	leaf->fdwroutine = &own->routine;
}
