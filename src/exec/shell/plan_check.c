/*-------------------------------------------------------------------------
 *
 * plan_check.c
 *	  Which columns of the scan tuple the expressions of a plan node may refer to.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "exec/shell/plan_check.h"

/*
 * The columns that are filled when an expression is evaluated, and what is needed to find
 * references to others
 */
typedef struct GpbPlanCheck
{
	List	   *columns;		/* custom_scan_tlist */
	Relids		parameters;		/* relations whose columns will be parameters */
	int			first;
	int			last;
	const char *name;			/* of the node */
} GpbPlanCheck;

/*
 * The column that setrefs.c puts in the place of an expression, 0 if it does not; see
 * search_indexed_tlist_for_var there.
 */
static int
matching_column(const GpbPlanCheck *check, Expr *expression)
{
	TargetEntry *entry = NULL;
	ListCell   *lc;

	if (IsA(expression, Const))
		return 0;
	if (!IsA(expression, Var))
		entry = tlist_member(expression, check->columns);
	foreach(lc, check->columns)
	{
		Var		   *column = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (IsA(expression, Var) && IsA(column, Var) &&
			column->varno == ((Var *) expression)->varno &&
			column->varattno == ((Var *) expression)->varattno)
		{
			entry = lfirst_node(TargetEntry, lc);
			break;
		}
	}
	return entry == NULL ? 0 : entry->resno;
}

/*
 * Raises the error.  Of a path with parameters, Vars of other relations become Params when its plan
 * has been made; what a PlaceHolderVar will look like then is not known here, so its insides are
 * not looked at.
 */
static bool
check_walker(Node *node, void *argument)
{
	const GpbPlanCheck *check = argument;
	int			column;

	if (node == NULL)
		return false;
	if (IsA(node, List))
		return expression_tree_walker(node, check_walker, argument);
	column = matching_column(check, (Expr *) node);
	if (column != 0 && (column < check->first || column > check->last))
		elog(ERROR, "expression of %s would be taken from column %d of its scan tuple before that "
			 "is filled", check->name, column);
	if (column != 0 ||
		(IsA(node, PlaceHolderVar) && !bms_is_empty(check->parameters)))
		return false;
	if (IsA(node, Var) && !bms_is_member(((Var *) node)->varno, check->parameters))
		elog(ERROR, "scan tuple of %s lacks column %d of relation %d", check->name,
			 ((Var *) node)->varattno, ((Var *) node)->varno);
	return expression_tree_walker(node, check_walker, argument);
}

static void
check_init(GpbPlanCheck *check, const CustomPath *path, const CustomScan *scan, int first,
		   int last)
{
	check->columns = scan->custom_scan_tlist;
	check->parameters = PATH_REQ_OUTER(&path->path);
	check->first = first;
	check->last = last;
	check->name = path->methods->CustomName;
}

void
gpb_check_expressions(const CustomPath *path, const CustomScan *scan, List *expressions,
					  int first, int last)
{
	GpbPlanCheck check;

	check_init(&check, path, scan, first, last);
	(void) check_walker((Node *) expressions, &check);
}

void
gpb_check_conditions(const CustomPath *path, const CustomScan *scan, List *conditions,
					 int first, int last)
{
	GpbPlanCheck check;
	ListCell   *lc;

	check_init(&check, path, scan, first, last);
	foreach(lc, conditions)
	{
		Node	   *condition = lfirst(lc);

		if (matching_column(&check, (Expr *) condition) != 0)
			elog(ERROR, "index condition of %s would be taken from its scan tuple", check.name);
		if (IsA(condition, OpExpr))
			(void) check_walker(lsecond(((OpExpr *) condition)->args), &check);
		else if (IsA(condition, ScalarArrayOpExpr))
			(void) check_walker(lsecond(((ScalarArrayOpExpr *) condition)->args), &check);
		else
			(void) castNode(NullTest, condition);
	}
}

/* ---- outer joins ---- */

#ifdef GPB_HAS_NULLING_RELS

/* Like the reference that says the same column or placeholder, which of the joins may null it? */
static Relids
nulling_relids(const Node *reference, List *references)
{
	ListCell   *lc;

	foreach(lc, references)
	{
		const Node *other = lfirst(lc);

		if (IsA(reference, Var) && IsA(other, Var) &&
			((Var *) reference)->varno == ((Var *) other)->varno &&
			((Var *) reference)->varattno == ((Var *) other)->varattno)
			return ((Var *) other)->varnullingrels;
		if (IsA(reference, PlaceHolderVar) && IsA(other, PlaceHolderVar) &&
			((PlaceHolderVar *) reference)->phid == ((PlaceHolderVar *) other)->phid)
			return ((PlaceHolderVar *) other)->phnullingrels;
	}
	return NULL;
}

static Node *
nulling_mutator(Node *node, void *references)
{
	Node	   *copy;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0)
	{
		copy = copyObject(node);
		((Var *) copy)->varnullingrels = nulling_relids(node, references);
		return copy;
	}
	copy = expression_tree_mutator(node, nulling_mutator, references);
	if (IsA(node, PlaceHolderVar) && ((PlaceHolderVar *) node)->phlevelsup == 0)
		((PlaceHolderVar *) copy)->phnullingrels = nulling_relids(node, references);
	return copy;
}

/*
 * References within placeholders come last: outside of them more joins may have been made.  A plan
 * whose target list core is about to replace has none yet; what it will be made of is the path's.
 */
void
gpb_agree_on_nulling(const CustomPath *path, CustomScan *scan)
{
	const int	flags = PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS;
	List	   *shown = list_concat_copy(scan->scan.plan.targetlist, scan->scan.plan.qual);
	List	   *references;

	shown = list_concat(shown, path->path.pathtarget->exprs);
	references = pull_var_clause((Node *) shown, flags | PVC_INCLUDE_PLACEHOLDERS);
	references = list_concat(references,
							 pull_var_clause((Node *) shown, flags | PVC_RECURSE_PLACEHOLDERS));
	scan->custom_scan_tlist = (List *)
		nulling_mutator((Node *) scan->custom_scan_tlist, references);
	scan->custom_exprs = (List *) nulling_mutator((Node *) scan->custom_exprs, references);
}

/* expression_tree_mutator; columns of a grouping that are expressions are found as wholes. */
static Node *
columns_mutator(Node *node, void *columns)
{
	if (node == NULL || IsA(node, Aggref) || IsA(node, GroupingFunc) || IsA(node, PlaceHolderVar))
		return node;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0)
	{
		Node	   *copy = copyObject(node);

		((Var *) copy)->varnullingrels = nulling_relids(node, columns);
		return copy;
	}
	if (list_member(columns, node))
		return node;
	return expression_tree_mutator(node, columns_mutator, columns);
}

void
gpb_agree_with_columns(CustomScan *scan)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, scan->custom_scan_tlist)
		columns = lappend(columns, lfirst_node(TargetEntry, lc)->expr);
	scan->custom_exprs = (List *) columns_mutator((Node *) scan->custom_exprs, columns);
}

#else

void
gpb_agree_on_nulling(const CustomPath *path, CustomScan *scan)
{
}

void
gpb_agree_with_columns(CustomScan *scan)
{
}

#endif
