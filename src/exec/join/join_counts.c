/*-------------------------------------------------------------------------
 *
 * join_counts.c
 *	  Which outer rows of a semi-join or anti-join have a match, by counts of entries.
 *
 * Where nothing but the key decides about a match, and no inner column comes out but as NULL, it is
 * enough to know of each key how many entries the snapshot sees.  That is an aggregate: eight bytes
 * a key come back in place of a record of each entry, no list has to fit into memory, and a key
 * with many entries takes no more to bring back than one with a single entry.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/optimizer.h"

#include "exec/join/join_node.h"

/* An anti-join returns inner columns only as NULLs. */
bool
gpb_join_counts(PlannerInfo *root, const GpbJoinPlan *plan, Index innerrel, List *result)
{
	if (plan->match != NIL || plan->filters != NIL)
		return false;
	if (plan->jointype == JOIN_SEMI)
		return !bms_is_member(innerrel, pull_varnos(root, (Node *) result));
	return plan->jointype == JOIN_ANTI;
}

void
gpb_join_count(GpbJoinScan *join, GpbBatch *batch)
{
	if (join->keys.n == 0)
		return;
	gpb_batch_run(batch, join->keys.keys, join->keys.n, join->count);
	for (uint32 i = 0; i < join->keys.n; i++)
		join->matched[join->key_row[i]] = join->count[i] > 0;
}
