/*-------------------------------------------------------------------------
 *
 * ordered_leaves.c
 *	  Partitions whose rows follow one another in the order of a column.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "partitioning/partbounds.h"
#include "utils/typcache.h"

#include "exec/shell/ordered_leaves.h"
#include "exec/shell/plan_rules.h"

/* Is this the first column of the partition key, by the order that its type has by itself? */
static bool
is_first_key(const RelOptInfo *rel, const Var *column)
{
	const PartitionSchemeData *scheme = rel->part_scheme;

	return equal(linitial(rel->partexprs[0]), column) &&
		scheme->partcollation[0] == column->varcollid &&
		scheme->partopfamily[0] == lookup_type_cache(column->vartype,
													 TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

/*
 * Do the partitions that planning has left follow one another by the column?  In the order of their
 * bounds one that has NULLs is the last.
 */
static bool
are_ordered(const RelOptInfo *rel, const GpbLeafOrder *order)
{
	const PartitionBoundInfo bounds = rel->boundinfo;

	return partitions_are_ordered(bounds, rel->live_parts) && is_first_key(rel, order->column) &&
		(!order->apart || rel->part_scheme->partnatts == 1) &&
		(order->nulls_first == order->descends || !partition_bound_accepts_nulls(bounds) ||
		 !bms_is_member(bounds->null_index, rel->live_parts));
}

/* The children that planning has left of the table, in the order of their bounds or in reverse */
static List *
live_children(const RelOptInfo *rel, bool backward)
{
	List	   *children = NIL;
	int			part = -1;

	while ((part = bms_next_member(rel->live_parts, part)) >= 0)
	{
		RelOptInfo *child = rel->part_rels[part];

		if (child == NULL || IS_DUMMY_REL(child))
			continue;
		children = backward ? lcons(child, children) : lappend(children, child);
	}
	return children;
}

List *
gpb_ordered_leaves(PlannerInfo *root, RelOptInfo *rel, GpbLeafOrder order)
{
	List	   *leaves = NIL;
	List	   *children;
	ListCell   *lc;

	if (rel->part_scheme == NULL)
		return NIL;
	children = live_children(rel, order.descends);
	/* one is in order, whatever it is one of */
	if (list_length(children) > 1 && !are_ordered(rel, &order))
		return NIL;
	foreach(lc, children)
	{
		RelOptInfo *child = lfirst(lc);
		List	   *below = list_make1(child);

		if (planner_rt_fetch(child->relid, root)->inh)
		{
			GpbLeafOrder child_order = order;

			child_order.column = castNode(Var, gpb_of_child(root, child, (Node *) order.column));
			below = gpb_ordered_leaves(root, child, child_order);
		}
		if (below == NIL)
			return NIL;
		leaves = list_concat(leaves, below);
	}
	return leaves;
}

/* ---- what bounds say ---- */

/* A bound of a partition as an integer; false if it is none that its type has */
static bool
bound_integer(const RelOptInfo *rel, int bound, int64 *value)
{
	const PartitionBoundInfoData *bounds = rel->boundinfo;
	Datum		datum = bounds->datums[bound][0];

	if (bounds->kind[bound][0] != PARTITION_RANGE_DATUM_VALUE)
		return false;
	switch (rel->part_scheme->parttyplen[0])
	{
		case sizeof(int16):
			*value = DatumGetInt16(datum);
			return true;
		case sizeof(int32):
			*value = DatumGetInt32(datum);
			return true;
		case sizeof(int64):
			*value = DatumGetInt64(datum);
			return true;
		default:
			return false;
	}
}

bool
gpb_leaves_have_no_null(const RelOptInfo *rel, const Var *column)
{
	return rel->part_scheme != NULL && rel->boundinfo->strategy == PARTITION_STRATEGY_RANGE &&
		partitions_are_ordered(rel->boundinfo, rel->live_parts) && is_first_key(rel, column);
}

/* The partition behind bound number i begins there; the one that ends there comes before. */
void
gpb_leaf_bounds(const RelOptInfo *rel, const Var *column, int64 *first, int64 *last)
{
	const PartitionBoundInfoData *bounds = rel->boundinfo;
	bool		found = false;

	*first = PG_INT64_MIN;
	*last = PG_INT64_MAX;
	if (!gpb_leaves_have_no_null(rel, column))
		return;
	for (int i = 1; i < bounds->ndatums; i++)
	{
		int			part = bounds->indexes[i];

		if (part < 0 || !bms_is_member(part, rel->live_parts))
			continue;
		if (!found && !bound_integer(rel, i - 1, first))
			*first = PG_INT64_MIN;
		if (!bound_integer(rel, i, last))
			*last = PG_INT64_MAX;
		found = true;
	}
}
