/*-------------------------------------------------------------------------
 *
 * index_columns.c
 *	  The columns of an index: their slots in programs, what the index holds of them, Vars.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "exec/shell/index_columns.h"
#include "index/index.h"
#include "page/page.h"

/* The place of a table's column among those of the index, or -1 */
static int
index_position(IndexOptInfo *index, AttrNumber attno)
{
	int			c;

	for (c = 0; c < index->ncolumns; c++)
	{
		if (index->indexkeys[c] == attno)
			return c;
	}
	return -1;
}

/* Slots are numbered as in program.h. */
int
gpb_index_column(IndexOptInfo *index, AttrNumber attno)
{
	int			c = index_position(index, attno);

	if (index->nkeycolumns < 2 || c < 0)
		return c;
	return c < index->nkeycolumns ? index->ncolumns - index->nkeycolumns + 1 + c :
		c - index->nkeycolumns + 1;
}

int
gpb_column_position(IndexOptInfo *index, int column)
{
	int			nincluded = index->ncolumns - index->nkeycolumns;

	if (index->nkeycolumns < 2)
		return column;
	return column > nincluded ? column - nincluded - 1 : column - 1 + index->nkeycolumns;
}

/* The coding of a column, by its place, as the index itself says it */
static GpbCoding
stored_coding(IndexOptInfo *index, int position)
{
	/* The planner holds a lock already. */
	Relation	relation = index_open(index->indexoid, NoLock);
	GpbCoding	coding = gpb_column_coding(gpb_layout(relation), position);

	index_close(relation, NoLock);
	return coding;
}

/*
 * The coding that a column has in every index, by its place; GPB_CODING_NONE where it depends on
 * what was built, as that of numerics does.
 */
static GpbCoding
certain_coding(IndexOptInfo *index, int position)
{
	bool		is_key = position < index->nkeycolumns;
	TargetEntry *entry = list_nth_node(TargetEntry, index->indextlist, position);
	Oid			type = is_key ? index->opcintype[position] : exprType((Node *) entry->expr);
	GpbCoding	coding = gpb_core_type_coding(type);

	return !is_key && gpb_type_has_dictionary(type) ? GPB_CODING_DICTIONARY : coding;
}

/* Of most types the index is not opened. */
GpbCoding
gpb_slot_coding(IndexOptInfo *index, int column)
{
	int			position = gpb_column_position(index, column);
	GpbCoding	coding = certain_coding(index, position);

	if (coding == GPB_CODING_NONE)
		return stored_coding(index, position);
	Assert(coding == stored_coding(index, position));
	return coding;
}

bool
gpb_indexes_have_same_coding(IndexOptInfo *a, IndexOptInfo *b)
{
	for (int position = 0; position < a->ncolumns; position++)
	{
		if (certain_coding(a, position) == GPB_CODING_NONE &&
			stored_coding(a, position) != stored_coding(b, position))
			return false;
	}
	return true;
}

bool
gpb_column_has_words(IndexOptInfo *index, int column, GpbCoding coding)
{
	return gpb_column_position(index, column) >= index->nkeycolumns ?
		gpb_coding_has_words(coding) : gpb_coding_key_is_word(coding);
}

int
gpb_index_column_slots(IndexOptInfo *index)
{
	/* Nothing reads slot 0 of a key that has several columns. */
	return index->ncolumns + (index->nkeycolumns > 1);
}

bool
gpb_index_has_columns(IndexOptInfo *index, List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		int			c = index_position(index, lfirst_node(Var, lc)->varattno);

		if (c < 0 || !index->canreturn[c])
			return false;
	}
	return true;
}

/* The column is no expression, so core's description of the index has it as a Var. */
Var *
gpb_key_column_var(PlannerInfo *root, IndexOptInfo *index, int c)
{
	Var		   *var = castNode(Var, list_nth_node(TargetEntry, index->indextlist, c)->expr);

	return makeVar(var->varno, var->varattno, var->vartype, var->vartypmod, var->varcollid, 0);
}

Var *
gpb_key_var(PlannerInfo *root, IndexOptInfo *index)
{
	return gpb_key_column_var(root, index, 0);
}

List *
gpb_key_vars(PlannerInfo *root, IndexOptInfo *index)
{
	List	   *vars = NIL;
	int			c;

	for (c = 0; c < index->nkeycolumns; c++)
		vars = list_append_unique(vars, gpb_key_column_var(root, index, c));
	return vars;
}
