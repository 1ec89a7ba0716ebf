/*-------------------------------------------------------------------------
 *
 * join_keys.c
 *	  From rows of the outer side of a join to the keys of a batch.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "large_array.h"
#include "exec/join/join_node.h"

void
gpb_keys_init(GpbJoinKeys *keys, Relation index, int n, const GpbRangeCondition *conditions,
			  List *clauses, PlanState *ps)
{
	List	   *values = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
		values = lappend(values, get_rightop(lfirst(lc)));
	keys->layout = *gpb_layout(index);
	keys->values = gpb_range_values_begin(index, n, conditions, values, ps);
	keys->form = gpb_range_values_form(keys->values);
	keys->width = gpb_range_values_width(keys->values);
	keys->are_columns = gpb_range_values_are_columns(keys->values);
	keys->context = CurrentMemoryContext;
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
	keys->keys = gpb_alloc_array(keys->context, (Size) capacity * keys->width);
	keys->capacity = capacity;
}

void
gpb_keys_grow(GpbJoinKeys *keys, uint32 most)
{
	uint32		capacity = (uint32) Min((uint64) keys->capacity * 2, most);

	keys->keys = gpb_realloc_array(keys->keys, (Size) capacity * keys->width);
	keys->capacity = capacity;
}

bool
gpb_keys_add(GpbJoinKeys *keys, ExprContext *econtext, TupleTableSlot *slot)
{
	Assert(keys->n < keys->capacity);
	if (!gpb_range_of_row(keys->values, econtext, slot, keys->keys + keys->n * keys->width))
		return false;
	keys->n++;
	return true;
}
