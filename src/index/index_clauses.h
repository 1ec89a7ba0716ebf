/*-------------------------------------------------------------------------
 *
 * index_clauses.h
 *	  Index conditions as the planner makes them for a B-tree.
 *
 * Some of what core does for an index's conditions it does for the access method btree alone, or
 * for its operator families: it takes row comparisons and bare boolean columns for conditions,
 * drops a boolean column that has one value from the order of an index, and asks an index for its
 * ends.  All of that holds for an index of ours, whose families have the same operators under the
 * same numbers.  So core is shown B-trees, and the paths that it makes are fitted to what the
 * executor does with an index of ours.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_INDEX_CLAUSES_H
#define GPB_INDEX_CLAUSES_H

#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

#include "index/index.h"

/*
 * Make core take the index for a B-tree: its description says btree, and has B-tree families, with
 * the index's own behind them.  An index whose order core has found no B-tree families for stays as
 * it is.
 */
extern void gpb_show_as_btree(IndexOptInfo *index);

/*
 * The operator family of key column c, counted from 0, of an index of any access method, whatever
 * core is shown.
 */
static inline Oid
gpb_own_family(const IndexOptInfo *index, int c)
{
	bool		shown = index->amcostestimate == gpb_costestimate &&
		index->opfamily == index->sortopfamily;

	return index->opfamily[shown ? index->nkeycolumns + c : c];
}

/*
 * The query whose plan gpb_finish_row_scans() will see, or NULL; and whether a path of it has a row
 * comparison for a condition.  Conditions of other queries are fitted to all that the executor does
 * by itself.
 */
extern const Query *gpb_row_query;
extern bool gpb_row_query_has_paths;

/*
 * "column OP value" of column i of a row comparison whose key columns are on the left: what a row
 * must satisfy, if its columns before equal their values, to satisfy the comparison.  OP is "<=" or
 * ">=", but for the last column, which has the comparison's own operator.  NULL if the family does
 * not have it.
 */
extern OpExpr *gpb_row_column_bound(const RowCompareExpr *comparison, int i, Oid family);

#endif							/* GPB_INDEX_CLAUSES_H */
