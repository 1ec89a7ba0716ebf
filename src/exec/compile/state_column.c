/*-------------------------------------------------------------------------
 *
 * state_column.c
 *	  The column of a path that returns states.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "exec/compile/state_column.h"

Expr *
gpb_state_expression(List *groups, List *aggrefs)
{
	RowExpr    *row = makeNode(RowExpr);
	ListCell   *lc;

	row->args = list_copy(groups);
	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = makeNode(Aggref);

		*aggref = *lfirst_node(Aggref, lc);
		aggref->aggsplit = AGGSPLIT_INITIAL_SERIAL;
		row->args = lappend(row->args, aggref);
	}
	row->row_typeid = RECORDOID;
	row->row_format = COERCE_EXPLICIT_CALL;
	row->location = -1;
	return (Expr *) makeRelabelType((Expr *) row, BYTEAOID, -1, InvalidOid,
									COERCE_EXPLICIT_CAST);
}

PathTarget *
gpb_state_target(Expr *state)
{
	PathTarget *target = create_empty_pathtarget();

	add_column_to_pathtarget(target, state, 0);
	target->width = get_typavgwidth(BYTEAOID, -1);
	return target;
}

bool
gpb_terms_agree(const GpbProgram *a, const GpbProgram *b)
{
	if (a->nterms != b->nterms)
		return false;
	for (int i = 0; i < a->nterms; i++)
	{
		if (a->term[i].kind != b->term[i].kind || a->term[i].want != b->term[i].want)
			return false;
	}
	return true;
}
