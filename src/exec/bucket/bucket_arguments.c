/*-------------------------------------------------------------------------
 *
 * bucket_arguments.c
 *	  The function of a node's buckets, and its arguments beside the key.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "exec/bucket/bucket_node.h"
#include "exec/shell/expressions.h"

void
gpb_bucket_begin_arguments(GpbBucketScan *scan)
{
	const GpbBucketPlan *plan = &scan->plan;
	PlanState  *ps = &scan->node.css.ss.ps;
	ListCell   *lc;

	scan->function = gpb_bucket_function_begin(plan->functions,
											   scan->node.index->rd_opcintype[plan->column]);
	gpb_bucket_function_check_rights(scan->function);
	scan->narguments = list_length(plan->arguments);
	Assert(scan->narguments == gpb_bucket_function_arguments(scan->function));
	scan->arguments = palloc(sizeof(ExprState *) * scan->narguments);
	foreach(lc, plan->arguments)
		scan->arguments[foreach_current_index(lc)] = ExecInitExpr(lfirst(lc), ps);
	scan->arguments_may_fail = gpb_may_fail((Node *) plan->arguments);
	scan->evaluation = AllocSetContextCreate(CurrentMemoryContext, "gpubtree bucket arguments",
											 ALLOCSET_SMALL_SIZES);
}

const GpbBucketOrder *
gpb_bucket_set_arguments(GpbBucketScan *scan)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	MemoryContext caller = MemoryContextSwitchTo(scan->evaluation);
	Datum	   *values = palloc(sizeof(Datum) * scan->narguments);
	bool	   *isnull = palloc(sizeof(bool) * scan->narguments);
	const GpbBucketOrder *order;
	int			i;

	/* not in the per-tuple memory, which goes with each group */
	for (i = 0; i < scan->narguments; i++)
		values[i] = ExecEvalExpr(scan->arguments[i], econtext, &isnull[i]);
	order = gpb_bucket_function_set(scan->function, values, isnull);
	MemoryContextSwitchTo(caller);
	return order;
}
