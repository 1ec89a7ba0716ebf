/*-------------------------------------------------------------------------
 *
 * as_btree.c
 *	  Let core plan with a gpubtree index as with a B-tree.
 *
 * Core makes some index conditions of a B-tree alone (index/index_clauses.h says which).  And up to
 * PostgreSQL 17 it asks B-trees alone for their ends.  The histogram of a column ends where the
 * table ended when it was analyzed; for a condition that falls into the first or last part of it,
 * core asks an index for the least or greatest key that there is now (get_actual_variable_range in
 * selfuncs.c), so that rows which came since count.  All that it does is an index-only scan through
 * the general interface, which any ordered index answers.  It decides when the ends are worth
 * reading, who may know them, which entries count and when to give up; a look-up of one key, for
 * which core reads no ends, reads none here either.
 *
 * So the planner's description of each of our indexes says btree, and has B-tree families.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/plancat.h"

#include "exec/shell/as_btree.h"
#include "index/index.h"
#include "index/index_clauses.h"

static get_relation_info_hook_type previous_get_relation_info_hook = NULL;

/* The planner has collected what it knows about a table. */
static void
begin_as_btree(GPB_RELATION_ARGUMENTS)
{
	ListCell   *lc;

	if (previous_get_relation_info_hook)
		previous_get_relation_info_hook(GPB_RELATION_PASSED);
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		/* The cost function is how a planner node shows its access method. */
		if (index->amcostestimate == gpb_costestimate)
			gpb_show_as_btree(index);
	}
}

void
gpb_as_btree_init(void)
{
	previous_get_relation_info_hook = get_relation_info_hook;
	get_relation_info_hook = begin_as_btree;
}
