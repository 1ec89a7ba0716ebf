/*-------------------------------------------------------------------------
 *
 * join_explain.c
 *	  EXPLAIN of batched index joins.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "commands/explain.h"
#include "exec/join/join_node.h"
#include "exec/common/node_explain.h"

static const char *
gpb_join_type_name(JoinType jointype)
{
	switch (jointype)
	{
		case JOIN_INNER:
			return "Inner";
		case JOIN_LEFT:
			return "Left";
		case JOIN_SEMI:
			return "Semi";
		case JOIN_ANTI:
			return "Anti";
		default:
			elog(ERROR, "unrecognized join type: %d", (int) jointype);
	}
}

/* Rows that a condition refused, of all loops, where there is such a condition. */
static void
gpb_explain_removed(const char *label, List *clauses, uint64 removed, ExplainState *es)
{
	if (clauses != NIL && (es->format != EXPLAIN_FORMAT_TEXT || removed > 0))
		ExplainPropertyInteger(label, NULL, (int64) removed, es);
}

void
gpb_join_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbJoinScan *join = (GpbJoinScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);

	ExplainPropertyText(GPB_LABEL_JOIN_TYPE, gpb_join_type_name(join->plan.jointype), es);
	gpb_explain_inner_index(join->plan.index, gpb_inner_alias(plan, es), es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, plan, linitial(plan->custom_exprs), ancestors, es);
	gpb_explain_clauses(GPB_LABEL_INNER_FILTER, plan, lthird(plan->custom_exprs), ancestors, es);
	if (es->analyze)
		gpb_explain_removed(GPB_LABEL_INNER_REMOVED, lthird(plan->custom_exprs),
							join->inner_removed, es);
	gpb_explain_clauses(GPB_LABEL_JOIN_FILTER, plan, lsecond(plan->custom_exprs), ancestors, es);
	if (es->analyze)
		gpb_explain_removed(GPB_LABEL_JOIN_REMOVED, lsecond(plan->custom_exprs),
							join->match_removed, es);
	ExplainPropertyText(GPB_LABEL_INNER_COLUMNS, join->plan.index_only ? "Index" : "Table", es);
	ExplainPropertyText(GPB_LABEL_OUTPUT_ORDER, join->plan.in_order ? "Outer" : "Any", es);
	if (!es->analyze)
		return;

	gpb_explain_batch(GPB_LABEL_KEYS, join->batch,
					  join->visit != NULL ? gpb_visit_count(join->visit) : 0, es);
	if (es->format != EXPLAIN_FORMAT_TEXT || join->redone > 0)
		ExplainPropertyInteger(GPB_LABEL_BATCHES_HALVED, NULL, (int64) join->redone, es);
}
