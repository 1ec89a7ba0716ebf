/*-------------------------------------------------------------------------
 *
 * join_program.c
 *	  Conditions on the inner table that a program tests, where the entries are.
 *
 * Entries that fail are not listed, nor is the heap visited for them.  A program has no effects
 * but that: where a step would fault the entry is listed, and all conditions are tested on it, in
 * core's order.  So nobody learns of an entry that a security barrier hides; even so no condition
 * goes into the program that core would not test ahead of the join.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"

#include "exec/compile/program_match.h"
#include "exec/join/join_node.h"
#include "exec/shell/expressions.h"

/* May the program have the condition, and has the index its columns? */
static bool
may_be_programs(PlannerInfo *root, const GpbJoinCandidate *candidate, RestrictInfo *rinfo)
{
	Node	   *clause = (Node *) rinfo->clause;

	return restriction_is_securely_promotable(rinfo, candidate->table) &&
		!contain_volatile_functions(clause) && !contain_subplans(clause) &&
		gpb_match_columns(root, candidate->index, list_make1(clause)) == NULL;
}

/*
 * Does it cost more to evaluate the program's conditions for the values of a dictionary than to
 * test the conditions for each match?  Where rows come from the heap, the program spares visits.
 */
static bool
costs_more(PlannerInfo *root, const GpbJoinCandidate *candidate, List *conditions)
{
	double		matches = candidate->outerrel->rows * gpb_join_inner_entries(candidate) *
		candidate->selectivity;
	QualCost	test;

	if (!candidate->index_only)
		return false;
	cost_qual_eval(&test, conditions, root);
	return candidate->begin_cost > matches * (cpu_tuple_cost + test.per_tuple);
}

/*
 * A constant that may fail is evaluated for an inner row, if there is one, so the program must not
 * have it.
 */
void
gpb_match_join_program(PlannerInfo *root, GpbJoinCandidate *candidate)
{
	GpbProgramBuilder *builder = NULL;
	List	   *said = NIL;
	List	   *rest = NIL;
	ListCell   *lc;

	candidate->has_program = false;
	candidate->rest = candidate->filters;
	candidate->kept = 1.0;
	candidate->begin_cost = 0.0;
	candidate->entry_cost = 0.0;
	foreach(lc, candidate->filters)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		programs = may_be_programs(root, candidate, rinfo);

		/* most have no condition that the index has the columns of */
		if (programs && builder == NULL)
		{
			builder = gpb_builder_begin(root, candidate->index);
			gpb_builder_allow_elsewhere(builder);
		}
		if (programs && gpb_build_filter(builder, rinfo->clause))
			said = lappend(said, rinfo);
		else
			rest = lappend(rest, rinfo);
	}
	if (said == NIL)
		return;
	candidate->program = gpb_builder_end(builder);
	candidate->begin_cost = gpb_builder_begin_cost(builder);
	if (candidate->program->program.nsteps == 0 ||
		gpb_may_fail((Node *) candidate->program->constants) || costs_more(root, candidate, said))
	{
		candidate->begin_cost = 0.0;
		return;
	}
	candidate->has_program = true;
	candidate->program->program.list_entries = true;
	candidate->rest = rest;
	candidate->kept = clauselist_selectivity(root, said, candidate->table->relid, JOIN_INNER,
											 NULL);
	candidate->entry_cost = gpb_builder_cost(builder, 1.0, 1.0);
}
