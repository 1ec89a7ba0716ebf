/*-------------------------------------------------------------------------
 *
 * stand_in_place.c
 *	  Stand-ins in a finished plan: which index scan each is for, and what setrefs.c did to that.
 *
 * The stand-in returns the columns that the index scan returns, at the same places, so whoever
 * reads the one can read the other.  It hangs where the index scan, as any scan, has no child, and
 * where core's executor looks for none.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planmain.h"
#include "parser/parsetree.h"

#include "exec/scan/scan_stand_in.h"
#include "exec/stand_in/stand_in.h"
#include "exec/subquery/subquery_tree.h"

bool		gpb_stand_ins_placed = false;

/* References of a stand-in, while they are made what they are in a finished plan */
typedef struct Finishing
{
	Index		varno;			/* of the table's columns in what is finished */
	List	   *indextlist;		/* what INDEX_VAR refers to in it; NIL if it refers to nothing */
	List	   *columns;		/* custom_scan_tlist of the stand-in */
	bool		failed;			/* one of them is no column of the stand-in */
} Finishing;

/* The column of the stand-in's scan tuple that is this column of the table; NULL if none is. */
static Var *
stand_in_column(const Finishing *finishing, const Var *column)
{
	ListCell   *lc;

	foreach(lc, finishing->columns)
	{
		const Var  *held = (const Var *) lfirst_node(TargetEntry, lc)->expr;

		if (IsA(held, Var) && held->varattno == column->varattno)
		{
			Var		   *found = copyObject(unconstify(Var *, column));

			found->varno = INDEX_VAR;
			found->varattno = lfirst_node(TargetEntry, lc)->resno;
			return found;
		}
	}
	return NULL;
}

/*
 * The column of the table that a reference is to, which an index-only scan makes by way of the
 * columns of its index; NULL if it is to an expression.
 */
static const Var *
table_column(const Finishing *finishing, const Var *reference)
{
	const Node *column = (const Node *) reference;

	if (reference->varno == INDEX_VAR && finishing->indextlist != NIL)
		column = (const Node *) list_nth_node(TargetEntry, finishing->indextlist,
											  reference->varattno - 1)->expr;
	return IsA(column, Var) && ((const Var *) column)->varno == finishing->varno ?
		(const Var *) column : NULL;
}

/*
 * expression_tree_mutator: have the expression refer to columns of the stand-in's scan tuple.
 * setrefs.c takes away what the planner alone needs, and so does this.
 */
static Node *
finish_mutator(Node *node, Finishing *finishing)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, PlaceHolderVar))
		return finish_mutator((Node *) ((PlaceHolderVar *) node)->phexpr, finishing);
	if (IsA(node, Var))
	{
		const Var  *column = table_column(finishing, (Var *) node);
		Var		   *found = column != NULL ? stand_in_column(finishing, column) : NULL;

		finishing->failed |= found == NULL;
		return (Node *) found;
	}
	return expression_tree_mutator(node, finish_mutator, finishing);
}

static List *
finish(List *expressions, Finishing *finishing)
{
	List	   *finished = (List *) finish_mutator((Node *) expressions, finishing);

	fix_opfuncids((Node *) finished);
	return finished;
}

/*
 * Make the target list of the index scan that of the stand-in.  A scan below a node that wants a
 * few columns may return all: those that the stand-in does not have are wanted by nobody.
 */
static List *
finish_targets(List *targets, Finishing *finishing)
{
	List	   *finished = NIL;
	ListCell   *lc;

	foreach(lc, targets)
	{
		TargetEntry *target = flatCopyTargetEntry(lfirst_node(TargetEntry, lc));
		const Var  *column = (const Var *) target->expr;
		bool		wanted = !IsA(column, Var);

		if (IsA(column, Var))
		{
			column = table_column(finishing, column);
			wanted = column != NULL && stand_in_column(finishing, column) != NULL;
		}
		target->expr = wanted ? (Expr *) finish_mutator((Node *) target->expr, finishing) :
			(Expr *) makeNullConst(exprType((Node *) target->expr),
								   exprTypmod((Node *) target->expr),
								   exprCollation((Node *) target->expr));
		finished = lappend(finished, target);
	}
	return finished;
}

/* Make the columns of the scan tuple refer to the table by its number in the finished plan. */
static List *
finish_columns(List *columns, Index relid)
{
	List	   *finished = copyObject(columns);
	ListCell   *lc;

	foreach(lc, finished)
	{
		Var		   *column = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(column, Var))
			return NIL;
		if (column->varnosyn != 0)
			column->varnosyn += relid - column->varno;
		column->varno = relid;
	}
	return finished;
}

/*
 * Make the stand-in for an index scan of a finished plan, over the columns of indextlist if that is
 * not NIL.  NULL if it cannot return what the scan returns.
 */
static CustomScan *
finish_stand_in(const GpbStandIn *stand_in, const Scan *scan, List *indextlist)
{
	CustomScan *finished = copyObject(stand_in->scan);
	Plan	   *plan = &finished->scan.plan;
	Finishing	own = {.varno = stand_in->relid};
	Finishing	theirs = {.varno = scan->scanrelid,.indextlist = indextlist};

	finished->custom_scan_tlist = finish_columns(finished->custom_scan_tlist, scan->scanrelid);
	own.columns = theirs.columns = finished->custom_scan_tlist;
	*plan = scan->plan;
	plan->type = T_CustomScan;
	plan->parallel_safe = false;
	plan->righttree = NULL;
	plan->targetlist = finish_targets(scan->plan.targetlist, &theirs);
	plan->qual = finish(stand_in->scan->scan.plan.qual, &own);
	finished->custom_exprs = finish(finished->custom_exprs, &own);
	finished->scan.scanrelid = scan->scanrelid;
	finished->custom_relids = bms_make_singleton(scan->scanrelid);
	return own.columns == NIL || own.failed || theirs.failed ? NULL : finished;
}

/* expression_tree_walker: does the expression need values of other nodes of the plan? */
static bool
needs_nodes(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind != PARAM_EXTERN;
	return expression_tree_walker(node, needs_nodes, context);
}

/*
 * Put the stand-in for an index scan behind it, if there is one.  Conditions that need values of
 * other nodes are those of a nested loop's inner side, of which the stand-in knows nothing.
 */
static void
place_behind(PlannedStmt *statement, List *stand_ins, Scan *scan, Oid index, List *conditions,
			 List *indextlist)
{
	const RangeTblEntry *table = rt_fetch(scan->scanrelid, statement->rtable);
	ListCell   *lc;

	if (scan->plan.parallel_aware || needs_nodes((Node *) conditions, NULL) ||
		needs_nodes((Node *) scan->plan.qual, NULL))
		return;
	foreach(lc, stand_ins)
	{
		const GpbStandIn *stand_in = lfirst(lc);

		if (stand_in->table != table->eref || stand_in->index != index)
			continue;
		scan->plan.righttree = (Plan *) finish_stand_in(stand_in, scan, indextlist);
		gpb_stand_ins_placed |= scan->plan.righttree != NULL;
	}
}

/*
 * Put stand-ins behind the index scans of a plan whose rows are all read, most likely: of others
 * the first rows come sooner by core's scan.
 */
static void
place(PlannedStmt *statement, List *stand_ins, Plan *plan, GpbReading reading)
{
	ListCell   *lc;

	check_stack_depth();
	/* before there is anything behind a scan */
	foreach(lc, gpb_plan_children(plan, reading))
	{
		GpbPlanChild *child = lfirst(lc);

		place(statement, stand_ins, *child->plan, child->reading);
	}
	if (reading != GPB_READ_ALL && reading != GPB_READ_MOST)
		return;
	if (IsA(plan, IndexScan))
		place_behind(statement, stand_ins, (Scan *) plan, ((IndexScan *) plan)->indexid,
					 ((IndexScan *) plan)->indexqualorig, NIL);
	else if (IsA(plan, IndexOnlyScan))
		place_behind(statement, stand_ins, (Scan *) plan, ((IndexOnlyScan *) plan)->indexid,
					 ((IndexOnlyScan *) plan)->indexqual, ((IndexOnlyScan *) plan)->indextlist);
}

void
gpb_stand_ins_place(PlannedStmt *statement, List *stand_ins)
{
	ListCell   *lc;

	if (stand_ins == NIL || statement->rowMarks != NIL)
		return;
	place(statement, stand_ins, statement->planTree, GPB_READ_ALL);
	foreach(lc, statement->subplans)
	{
		if (lfirst(lc) != NULL)
			place(statement, stand_ins, lfirst(lc), GPB_READ_SOME);
	}
}
