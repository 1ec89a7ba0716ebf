/*-------------------------------------------------------------------------
 *
 * clause_order.c
 *	  In which order clauses are tested: as core has it.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "exec/shell/clause_order.h"

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
