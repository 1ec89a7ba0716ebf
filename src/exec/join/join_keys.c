/*-------------------------------------------------------------------------
 *
 * join_keys.c
 *	  From values of the outer side of a join to the keys of a batch.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "exec/join/join_node.h"

void
gpb_keys_init(GpbJoinKeys *keys, Relation index, Oid value_type, OpExpr *condition,
			  PlanState *ps)
{
	Expr	   *expression = (Expr *) get_rightop((Expr *) condition);

	keys->layout = *gpb_layout(index);
	gpb_comparison_init(index, value_type, &keys->comparison);
	keys->points = keys->comparison.is_point;
	keys->width = keys->points ? sizeof(GpbKey) : sizeof(GpbKeyRange);
	keys->context = CurrentMemoryContext;
	if (IsA(expression, Var) && ((Var *) expression)->varno == INDEX_VAR)
		keys->column = ((Var *) expression)->varattno;
	else
		keys->expression = ExecInitExpr(expression, ps);
}

void
gpb_keys_clear(GpbJoinKeys *keys, uint32 capacity)
{
	keys->n = 0;
	if (capacity <= keys->capacity)
		return;
	if (keys->capacity > 0)
		pfree(keys->keys);
	keys->capacity = 0;
	keys->keys = MemoryContextAllocHuge(keys->context, (Size) capacity * keys->width);
	keys->capacity = capacity;
}

void
gpb_keys_grow(GpbJoinKeys *keys, uint32 most)
{
	uint32		capacity = (uint32) Min((uint64) keys->capacity * 2, most);

	keys->keys = repalloc_huge(keys->keys, (Size) capacity * keys->width);
	keys->capacity = capacity;
}

bool
gpb_keys_add(GpbJoinKeys *keys, Datum value)
{
	GpbRange	range = {GPB_BOUND_MIN, GPB_BOUND_MAX};
	GpbKeyRange closed;

	Assert(keys->n < keys->capacity);
	gpb_comparison_narrow(&keys->layout, &keys->comparison, BTEqualStrategyNumber, value, &range);
	if (!gpb_closed_range(&keys->layout, &range, &closed))
		return false;
	if (keys->points)
		((GpbKey *) keys->keys)[keys->n] = closed.lo;
	else
		((GpbKeyRange *) keys->keys)[keys->n] = closed;
	keys->n++;
	return true;
}
