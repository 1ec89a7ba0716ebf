/*-------------------------------------------------------------------------
 *
 * row_scans.c
 *	  Index scans of a finished plan whose conditions are row comparisons.
 *
 * Up to PostgreSQL 17 the executor makes a scan key of a row comparison for the access method btree
 * alone.  So "(a, b) < (x, y)" becomes "a <= x" and "b <= y", with collations that tell the scan
 * what they stand for.  Nothing else reads them: whoever tests a row again, or explains an index
 * scan, has the condition as it was.  EXPLAIN of an index-only scan shows its scan keys themselves,
 * where "b <= y" would be wrong: there it becomes "b <= gpubtree_where_equal(y)".
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "exec/shell/row_scans.h"
#include "index/index.h"
#include "index/index_clauses.h"
#include "index/row_bound.h"

/* The index column that a key column of a comparison in a finished plan stands for */
static int
column_number(const RowCompareExpr *comparison, int i)
{
	Node	   *key = list_nth(comparison->largs, i);

	if (IsA(key, RelabelType))
		key = (Node *) ((RelabelType *) key)->arg;
	return castNode(Var, key)->varattno;
}

/* Have a cached plan made anew when a function, or the rights to it, change. */
static void
depend_on_function(PlannedStmt *statement, Oid function)
{
	PlanInvalItem *item = makeNode(PlanInvalItem);

	item->cacheId = PROCOID;
	item->hashValue = GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(function));
	statement->invalItems = lappend(statement->invalItems, item);
}

/*
 * Find the function gpubtree_where_equal() of the schema where the access method's handler is.
 * InvalidOid if it is not there, or if somebody may not execute it: the plan names it for EXPLAIN's
 * sake, and whoever executes the plan must not need a right that the statement does not ask for.
 * Nor does a right to use the schema matter.
 */
static Oid
where_equal(PlannedStmt *statement, Relation index)
{
	Oid			any = ANYELEMENTOID;
	oidvector  *arguments = buildoidvector(&any, 1);
	Oid			schema = get_func_namespace(index->rd_amhandler);
	Oid			function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
										   CStringGetDatum("gpubtree_where_equal"),
										   PointerGetDatum(arguments), ObjectIdGetDatum(schema));

	if (!OidIsValid(function))
		return InvalidOid;
	depend_on_function(statement, function);
	return pg_proc_aclcheck(function, ACL_ID_PUBLIC, ACL_EXECUTE) == ACLCHECK_OK ?
		function : InvalidOid;
}

/* Have EXPLAIN show that the condition is none by itself; false if that is not possible. */
static bool
show_where_equal(PlannedStmt *statement, Relation index, OpExpr *bound)
{
	Oid			function = where_equal(statement, index);
	Expr	   *value = lsecond(bound->args);

	if (!OidIsValid(function))
		return false;
	lsecond(bound->args) = makeFuncExpr(function, exprType((Node *) value), list_make1(value),
										InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	return true;
}

/*
 * Add the conditions that a row comparison becomes.  "shown" says whether EXPLAIN will show these
 * and not the comparison.  Columns alone that follow one another in the index are of use to the
 * scan.
 */
static List *
add_row_keys(PlannedStmt *statement, List *quals, Relation index,
			 const RowCompareExpr *comparison, bool shown)
{
	int			first = column_number(comparison, 0);

	for (int i = 0; i < list_length(comparison->largs); i++)
	{
		OpExpr	   *bound;

		if (column_number(comparison, i) != first + i)
			break;
		bound = gpb_row_column_bound(comparison, i, index->rd_opfamily[first + i - 1]);
		if (bound == NULL || (shown && i > 0 && !show_where_equal(statement, index, bound)))
			break;
		set_opfuncid(bound);
		bound->inputcollid = i == 0 ? GPB_ROW_FIRST : GPB_ROW_NEXT;
		quals = lappend(quals, bound);
	}
	return quals;
}

/* Make the conditions of an index scan what the scan is to get. */
static void
finish_quals(PlannedStmt *statement, Oid index_id, List **quals, bool shown)
{
	Relation	index;
	List	   *finished = NIL;
	bool		found = false;
	ListCell   *lc;

	foreach(lc, *quals)
		found |= IsA(lfirst(lc), RowCompareExpr);
	/* An index that exists for the planner alone can only be explained. */
	if (!found || !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(index_id)))
		return;

	index = index_open(index_id, NoLock);
	foreach(lc, *quals)
	{
		if (IsA(lfirst(lc), RowCompareExpr) &&
			index->rd_indam->amcostestimate == gpb_costestimate)
			finished = add_row_keys(statement, finished, index, lfirst(lc), shown);
		else
			finished = lappend(finished, lfirst(lc));
	}
	index_close(index, NoLock);
	*quals = finished;
}

static void finish_plan(PlannedStmt *statement, Plan *plan);

static void
finish_plans(PlannedStmt *statement, List *plans)
{
	ListCell   *lc;

	foreach(lc, plans)
		finish_plan(statement, lfirst(lc));
}

/* Finish the index scans of a plan node and of those below it; of a NULL there are none. */
static void
finish_plan(PlannedStmt *statement, Plan *plan)
{
	if (plan == NULL)
		return;
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_IndexScan:
			finish_quals(statement, ((IndexScan *) plan)->indexid,
						 &((IndexScan *) plan)->indexqual, false);
			break;
		case T_BitmapIndexScan:
			finish_quals(statement, ((BitmapIndexScan *) plan)->indexid,
						 &((BitmapIndexScan *) plan)->indexqual, false);
			break;
		case T_IndexOnlyScan:
			finish_quals(statement, ((IndexOnlyScan *) plan)->indexid,
						 &((IndexOnlyScan *) plan)->indexqual, true);
			break;
		case T_Append:
			finish_plans(statement, ((Append *) plan)->appendplans);
			break;
		case T_MergeAppend:
			finish_plans(statement, ((MergeAppend *) plan)->mergeplans);
			break;
		case T_BitmapAnd:
			finish_plans(statement, ((BitmapAnd *) plan)->bitmapplans);
			break;
		case T_BitmapOr:
			finish_plans(statement, ((BitmapOr *) plan)->bitmapplans);
			break;
		case T_SubqueryScan:
			finish_plan(statement, ((SubqueryScan *) plan)->subplan);
			break;
		case T_CustomScan:
			finish_plans(statement, ((CustomScan *) plan)->custom_plans);
			break;
		default:
			break;
	}
	finish_plan(statement, plan->lefttree);
	finish_plan(statement, plan->righttree);
}

void
gpb_finish_row_scans(PlannedStmt *statement)
{
	finish_plan(statement, statement->planTree);
	finish_plans(statement, statement->subplans);
}
