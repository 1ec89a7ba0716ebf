/*-------------------------------------------------------------------------
 *
 * index_ends.c
 *	  Let core's estimates know the first and last key of a gpubtree index.
 *
 * The histogram of a column ends where the table ended when it was analyzed.  For a condition that
 * falls into the first or last part of it, core asks an index for the least or greatest key that
 * there is now (get_actual_variable_range in selfuncs.c), so that rows which came since count.
 * Up to PostgreSQL 17 it asks indexes of the access method btree alone.  All that it does with one
 * is an index-only scan through the general interface, which any ordered index answers.
 *
 * So each gpubtree index gets a second entry in the planner's list of the table's indexes, one that
 * is called a btree and offers core nothing but its ends: no key column that a clause could match,
 * no column to return, no kind of scan, so no path is made from it.  Core decides when the ends are
 * worth reading, who may know them, which entries count (those not known dead to everyone) and when
 * to give up (after a hundred heap pages without one), and reads them at no other time: a look-up
 * of one key, for which core reads no ends, reads none here either.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_am.h"
#include "nodes/pathnodes.h"
#include "optimizer/plancat.h"

#include "index/index.h"
#include "exec/common/index_ends.h"

static get_relation_info_hook_type previous_get_relation_info_hook = NULL;

/*
 * A copy of the index's description that serves to read its ends and for nothing else.  Core reads
 * these of its fields: the first element of indexkeys (with indexprs), indexcollations,
 * sortopfamily and reverse_sort, all shared with the original.
 */
static IndexOptInfo *
ends_of(IndexOptInfo *index)
{
	IndexOptInfo *ends = makeNode(IndexOptInfo);

	*ends = *index;
	ends->relam = BTREE_AM_OID;
	ends->nkeycolumns = 0;
	ends->indextlist = NIL;
	ends->canreturn = palloc0(sizeof(bool) * index->ncolumns);
	ends->unique = false;
	ends->amhasgettuple = false;
	ends->amhasgetbitmap = false;
	ends->amcanparallel = false;
	return ends;
}

/*
 * The planner has collected what it knows about a table.  Entries for ends come last in its list of
 * indexes: a btree of the table is asked first, and whoever looks for an index by its OID
 * finds the original.
 */
static void
add_index_ends(PlannerInfo *root, Oid relation, bool inhparent, RelOptInfo *rel)
{
	List	   *all_ends = NIL;
	ListCell   *lc;

	if (previous_get_relation_info_hook)
		previous_get_relation_info_hook(root, relation, inhparent, rel);
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		/* The cost function is how a planner node shows its access method. */
		if (index->amcostestimate == gpb_costestimate && !index->hypothetical &&
			index->indpred == NIL)
			all_ends = lappend(all_ends, ends_of(index));
	}
	rel->indexlist = list_concat(rel->indexlist, all_ends);
}

void
gpb_index_ends_init(void)
{
	previous_get_relation_info_hook = get_relation_info_hook;
	get_relation_info_hook = add_index_ends;
}
