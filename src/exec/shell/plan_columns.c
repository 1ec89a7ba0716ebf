/*-------------------------------------------------------------------------
 *
 * plan_columns.c
 *	  Sets of a table's columns, by which indexes are refused before anything is matched.
 *
 * A table may have a dozen indexes, and most of them have nothing to do with a query.  To match
 * conditions, build a program and estimate takes longer for each of them than core takes to plan
 * the query; the columns of the query are collected once for all indexes.  A set tells what can't
 * be, and never that an index will do: whoever asks must match what is left.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/sysattr.h"
#include "optimizer/optimizer.h"

#include "exec/shell/expressions.h"
#include "exec/shell/never_null.h"
#include "exec/shell/plan_columns.h"

#ifdef GPB_HOLD_POINTS
int			gpb_matched_indexes = 0;
#endif

/* A column's place in a set */
static inline int
place(AttrNumber column)
{
	return column - FirstLowInvalidHeapAttributeNumber;
}

/*
 * Add the columns of an operand, as pull_varattnos() does.  Most are a column or a constant, for
 * which core's walk takes several times as long.
 */
static void
add_operand(Bitmapset **columns, Node *operand, Index relid)
{
	const Var  *var = (const Var *) operand;

	if (!IsA(operand, Var))
	{
		if (!IsA(operand, Const))
			pull_varattnos(operand, relid, columns);
	}
	else if (var->varno == relid && var->varlevelsup == 0)
		*columns = bms_add_member(*columns, place(var->varattno));
}

/* Add the columns of an expression, which may be NULL. */
static void
add_expression(Bitmapset **columns, Node *expression, Index relid)
{
	ListCell   *lc;

	if (expression == NULL)
		return;
	if (IsA(expression, OpExpr))
	{
		foreach(lc, ((OpExpr *) expression)->args)
			add_operand(columns, lfirst(lc), relid);
	}
	else
		add_operand(columns, expression, relid);
}

Bitmapset *
gpb_add_column_numbers(Bitmapset *columns, List *expressions, Index relid)
{
	ListCell   *lc;

	foreach(lc, expressions)
		add_expression(&columns, lfirst(lc), relid);
	return columns;
}

Bitmapset *
gpb_restricted_columns(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index,
					   List *restrictions)
{
	Bitmapset  *columns = NULL;
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant && !gpb_is_always_true(root, index, rinfo))
			add_expression(&columns, (Node *) rinfo->clause, rel->relid);
	}
	return columns;
}

bool
gpb_has_array_clause(List *restrictions)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		if (IsA(lfirst_node(RestrictInfo, lc)->clause, ScalarArrayOpExpr))
			return true;
	}
	return false;
}

Bitmapset *
gpb_grouping_columns(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index, List *groups,
					 List *aggrefs)
{
	Bitmapset  *columns = gpb_add_column_numbers(NULL, groups, rel->relid);
	ListCell   *lc;

	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);
		Node	   *needed = gpb_counts_rows(root, index, aggref) ? (Node *) aggref->aggfilter :
			(Node *) aggref;

		add_expression(&columns, needed, rel->relid);
	}
	return columns;
}

Bitmapset *
gpb_add_operand_columns(Bitmapset *columns, List *restrictions, Index relid)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		Expr	   *clause = lfirst_node(RestrictInfo, lc)->clause;
		ListCell   *argument;

		if (!IsA(clause, OpExpr))
			continue;
		foreach(argument, ((OpExpr *) clause)->args)
		{
			Var		   *var = (Var *) gpb_without_labels(lfirst(argument));

			if (IsA(var, Var) && var->varno == relid && var->varlevelsup == 0)
				columns = bms_add_member(columns, place(var->varattno));
		}
	}
	return columns;
}

/* Is the column, as a member of a set, one of the index's? 0 in indexkeys is an expression. */
static bool
index_has_member(const IndexOptInfo *index, int member)
{
	for (int c = 0; c < index->ncolumns; c++)
	{
		if (index->indexkeys[c] != 0 && place(index->indexkeys[c]) == member)
			return true;
	}
	return false;
}

bool
gpb_index_covers(const IndexOptInfo *index, const Bitmapset *columns)
{
	int			member = -1;

	while ((member = bms_next_member(columns, member)) >= 0)
	{
		if (!index_has_member(index, member))
			return false;
	}
	return true;
}

bool
gpb_key_column_is_among(const IndexOptInfo *index, int c, const Bitmapset *columns)
{
	return bms_is_member(place(index->indexkeys[c]), columns);
}

bool
gpb_key_is_among(const IndexOptInfo *index, const Bitmapset *columns)
{
	for (int c = 0; c < index->nkeycolumns; c++)
	{
		if (gpb_key_column_is_among(index, c, columns))
			return true;
	}
	return false;
}

void
gpb_collect_range_columns(PlannerInfo *root, RelOptInfo *rel, List *joining, List *aggrefs,
						  GpbRangeColumns *columns)
{
	ListCell   *lc;

	columns->compared = gpb_add_operand_columns(NULL, joining, rel->relid);
	columns->compared = gpb_add_operand_columns(columns->compared, rel->baserestrictinfo,
												rel->relid);
	columns->needed = bms_add_members(gpb_restricted_columns(root, rel, NULL,
															 rel->baserestrictinfo),
									  gpb_grouping_columns(root, rel, NULL, NIL, aggrefs));
	foreach(lc, joining)
		add_expression(&columns->needed, (Node *) lfirst_node(RestrictInfo, lc)->clause,
					   rel->relid);
}

bool
gpb_may_have_ranges(const IndexOptInfo *index, const GpbRangeColumns *columns)
{
	return gpb_key_column_is_among(index, 0, columns->compared) &&
		(index->indpred != NIL || gpb_index_covers(index, columns->needed));
}
