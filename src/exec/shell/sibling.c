/*-------------------------------------------------------------------------
 *
 * sibling.c
 *	  Leaves of one parent that are alike.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"

#include "exec/shell/index_columns.h"
#include "exec/shell/never_null.h"
#include "exec/shell/node_shell.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/sibling.h"

/* ---- columns ---- */

/* The topmost parent's numbers of a relation's columns, from 1 on; 0 of those that it has not */
static AttrNumber *
top_columns(PlannerInfo *root, const RelOptInfo *rel)
{
	const AppendRelInfo *info = gpb_parent_table(root, rel->relid);
	AttrNumber *columns = palloc0(sizeof(AttrNumber) * (rel->max_attr + 1));

	for (AttrNumber c = 1; c <= rel->max_attr; c++)
		columns[c] = c;
	for (; info != NULL; info = gpb_parent_table(root, info->parent_relid))
	{
		for (AttrNumber c = 1; c <= rel->max_attr; c++)
		{
			if (columns[c] > 0)
				columns[c] = info->parent_colnos[columns[c] - 1];
		}
	}
	return columns;
}

/* Are the columns of two relations those of the same parent, with the same numbers? */
static bool
have_same_numbers(PlannerInfo *root, const RelOptInfo *a, const RelOptInfo *b)
{
	const AppendRelInfo *of_a = gpb_parent_table(root, a->relid);
	const AppendRelInfo *of_b = gpb_parent_table(root, b->relid);

	return a == b ||
		(of_a != NULL && of_b != NULL && of_a->parent_relid == of_b->parent_relid &&
		 of_a->num_child_cols == of_b->num_child_cols &&
		 memcmp(of_a->parent_colnos, of_b->parent_colnos,
				sizeof(AttrNumber) * of_a->num_child_cols) == 0);
}

void
gpb_sibling_begin(PlannerInfo *root, RelOptInfo *leaf, RelOptInfo *other, GpbSibling *sibling)
{
	AttrNumber *columns;
	AttrNumber *others;

	*sibling = (GpbSibling) {root, leaf, other, leaf->max_attr};
	if (have_same_numbers(root, leaf, other))
		return;
	columns = top_columns(root, leaf);
	others = top_columns(root, other);
	for (AttrNumber c = 1; c <= leaf->max_attr; c++)
	{
		AttrNumber	o = 1;

		while (o <= other->max_attr && others[o] != columns[c])
			o++;
		columns[c] = columns[c] > 0 && o <= other->max_attr ? o : 0;
	}
	sibling->column = columns;
}

/* The other's number of a column of the leaf; 0 if it has none such */
static AttrNumber
other_column(const GpbSibling *sibling, AttrNumber column)
{
	if (column <= 0 || column > sibling->ncolumns)
		return 0;
	return sibling->column == NULL ? column : sibling->column[column];
}

/* ---- expressions ---- */

/* The other's column for one of the leaf's */
static Var *
other_var(const GpbSibling *sibling, const Var *var)
{
	Var		   *other = palloc(sizeof(Var));

	*other = *var;
	other->varno = sibling->other->relid;
	other->varattno = other_column(sibling, var->varattno);
	if (other->varattno == 0)
		elog(ERROR, "a leaf lacks a column of another");
	other->varnosyn = other->varno;
	other->varattnosyn = other->varattno;
	return other;
}

/*
 * expression_tree_mutator: put columns of the other in the place of those of the leaf.  What core
 * never changes in a plan is not copied.
 */
static Node *
other_mutator(Node *node, void *context)
{
	const GpbSibling *sibling = context;

	if (node == NULL || IsA(node, Const) || IsA(node, Param))
		return node;
	if (IsA(node, Var) && ((Var *) node)->varno == sibling->leaf->relid &&
		((Var *) node)->varlevelsup == 0)
		return (Node *) other_var(sibling, (Var *) node);
	return expression_tree_mutator(node, other_mutator, context);
}

Node *
gpb_sibling_expression(const GpbSibling *sibling, Node *expression)
{
	return other_mutator(expression, (void *) sibling);
}

static bool same_expression(const GpbSibling *sibling, Node *a, Node *b);

static bool
same_list(const GpbSibling *sibling, List *a, List *b)
{
	ListCell   *of_a;
	ListCell   *of_b;

	if (list_length(a) != list_length(b))
		return false;
	forboth(of_a, a, of_b, b)
	{
		if (!same_expression(sibling, lfirst(of_a), lfirst(of_b)))
			return false;
	}
	return true;
}

static bool
same_var(const GpbSibling *sibling, const Var *a, const Var *b)
{
	if (a->varno != sibling->leaf->relid || a->varlevelsup != 0)
		return equal(a, b);
	return b->varno == sibling->other->relid && b->varlevelsup == 0 && b->varattno > 0 &&
		b->varattno == other_column(sibling, a->varattno);
}

/*
 * Is the leaf's expression a the other's expression b?  Both are made of the same one about their
 * parent, so of nodes of the same kind all but what is looked at here is the same.  Other kinds,
 * which are seldom in restrictions, are taken to differ.
 */
static bool
same_expression(const GpbSibling *sibling, Node *a, Node *b)
{
	if (a == NULL || b == NULL || nodeTag(a) != nodeTag(b))
		return a == b;
	switch (nodeTag(a))
	{
		case T_Var:
			return same_var(sibling, (Var *) a, (Var *) b);
		case T_Const:
		case T_Param:
			return equal(a, b);
		case T_List:
			return same_list(sibling, (List *) a, (List *) b);
		case T_OpExpr:
			return ((OpExpr *) a)->opno == ((OpExpr *) b)->opno &&
				((OpExpr *) a)->inputcollid == ((OpExpr *) b)->inputcollid &&
				same_list(sibling, ((OpExpr *) a)->args, ((OpExpr *) b)->args);
		case T_ScalarArrayOpExpr:
			return ((ScalarArrayOpExpr *) a)->opno == ((ScalarArrayOpExpr *) b)->opno &&
				((ScalarArrayOpExpr *) a)->useOr == ((ScalarArrayOpExpr *) b)->useOr &&
				((ScalarArrayOpExpr *) a)->inputcollid ==
				((ScalarArrayOpExpr *) b)->inputcollid &&
				same_list(sibling, ((ScalarArrayOpExpr *) a)->args,
						  ((ScalarArrayOpExpr *) b)->args);
		case T_FuncExpr:
			return ((FuncExpr *) a)->funcid == ((FuncExpr *) b)->funcid &&
				((FuncExpr *) a)->funcresulttype == ((FuncExpr *) b)->funcresulttype &&
				((FuncExpr *) a)->inputcollid == ((FuncExpr *) b)->inputcollid &&
				same_list(sibling, ((FuncExpr *) a)->args, ((FuncExpr *) b)->args);
		case T_BoolExpr:
			return ((BoolExpr *) a)->boolop == ((BoolExpr *) b)->boolop &&
				same_list(sibling, ((BoolExpr *) a)->args, ((BoolExpr *) b)->args);
		case T_NullTest:
			return ((NullTest *) a)->nulltesttype == ((NullTest *) b)->nulltesttype &&
				((NullTest *) a)->argisrow == ((NullTest *) b)->argisrow &&
				same_expression(sibling, (Node *) ((NullTest *) a)->arg,
								(Node *) ((NullTest *) b)->arg);
		case T_RelabelType:
			return ((RelabelType *) a)->resulttype == ((RelabelType *) b)->resulttype &&
				((RelabelType *) a)->resultcollid == ((RelabelType *) b)->resultcollid &&
				same_expression(sibling, (Node *) ((RelabelType *) a)->arg,
								(Node *) ((RelabelType *) b)->arg);
		default:
			return false;
	}
}

bool
gpb_sibling_lists_agree(const GpbSibling *sibling, List *of_leaf, List *of_other)
{
	return same_list(sibling, of_leaf, of_other);
}

/* ---- restrictions ---- */

bool
gpb_sibling_restrictions_agree(const GpbSibling *sibling)
{
	PlannerInfo *root = sibling->root;
	List	   *of_leaf = sibling->leaf->baserestrictinfo;
	List	   *of_other = sibling->other->baserestrictinfo;
	ListCell   *a;
	ListCell   *b;

	if (list_length(of_leaf) != list_length(of_other))
		return false;
	forboth(a, of_leaf, b, of_other)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, a);
		RestrictInfo *other = lfirst_node(RestrictInfo, b);

		if (rinfo->security_level != other->security_level ||
			!same_expression(sibling, (Node *) rinfo->clause, (Node *) other->clause) ||
			gpb_is_always_true(root, NULL, rinfo) != gpb_is_always_true(root, NULL, other))
			return false;
	}
	return true;
}

/* ---- indexes ---- */

/* Have the indexes the same columns, read in the same way? */
static bool
same_index(const GpbSibling *sibling, const IndexOptInfo *a, IndexOptInfo *b)
{
	if (a->ncolumns != b->ncolumns || a->nkeycolumns != b->nkeycolumns ||
		!same_list(sibling, a->indpred, b->indpred))
		return false;
	for (int c = 0; c < a->ncolumns; c++)
	{
		if (other_column(sibling, a->indexkeys[c]) != b->indexkeys[c])
			return false;
	}
	for (int c = 0; c < a->nkeycolumns; c++)
	{
		if (a->opfamily[c] != b->opfamily[c] || a->opcintype[c] != b->opcintype[c] ||
			a->indexcollations[c] != b->indexcollations[c] ||
			a->reverse_sort[c] != b->reverse_sort[c] || a->nulls_first[c] != b->nulls_first[c])
			return false;
	}
	return gpb_indexes_have_same_coding((IndexOptInfo *) a, b);
}

IndexOptInfo *
gpb_sibling_index(const GpbSibling *sibling, const IndexOptInfo *index)
{
	ListCell   *lc;

	foreach(lc, sibling->other->indexlist)
	{
		IndexOptInfo *other = lfirst_node(IndexOptInfo, lc);

		if (gpb_index_is_usable(other) && same_index(sibling, index, other))
			return other;
	}
	return NULL;
}

/* ---- paths and plans ---- */

void
gpb_sibling_price(const GpbSibling *sibling, const Path *of_leaf, Cost begin, Path *path)
{
	double		share = sibling->other->rows / Max(sibling->leaf->rows, 1.0);

	begin = Min(begin, of_leaf->startup_cost);
	path->startup_cost = begin + (of_leaf->startup_cost - begin) * share;
	path->total_cost = begin + (of_leaf->total_cost - begin) * share;
}

/* What a plan has in its private list, with another index, which comes first there */
static List *
with_index(const List *private, Oid index)
{
	List	   *changed = list_copy(private);
	List	   *numbers = list_copy(linitial(private));

	linitial_int(numbers) = (int) index;
	linitial(changed) = numbers;
	return changed;
}

CustomPath *
gpb_make_alike_path(const CustomPathMethods *methods, CustomPath *model, GpbAlikePlans *plans,
					const GpbSibling *sibling, const IndexOptInfo *index, PathTarget *target)
{
	CustomPath *path = gpb_make_path(sizeof(GpbAlikePath), methods, sibling->other, target);
	GpbAlikePath *alike = (GpbAlikePath *) path;

	alike->model = model;
	alike->plans = plans;
	alike->sibling = *sibling;
	alike->index = index->indexoid;
	return path;
}

bool
gpb_sibling_is_less_visible(const RelOptInfo *leaf, const RelOptInfo *other)
{
	return other->pages > 0 && other->allvisfrac < leaf->allvisfrac - 0.05;
}

List	  **gpb_unfinished_plans = NULL;

/* A node of which some parts are to be those of the first that is alike */
typedef struct GpbUnfinished
{
	CustomScan *scan;
	const CustomScan *first;
	int			shared;			/* so many columns of the scan tuple too, the first ones */
	bool		same_target;	/* and the target list */
} GpbUnfinished;

/* Is there anything of which the executor has to be told for each node that evaluates it? */
static bool
executor_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind != PARAM_EXTERN;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, PlaceHolderVar))
		return true;
	return expression_tree_walker(node, executor_walker, context);
}

/* The other's columns of the scan tuple for those of the leaf, the first "from" of them left out */
static List *
other_columns(const GpbSibling *sibling, const List *columns, int from)
{
	List	   *others = NIL;
	ListCell   *lc;

	for_each_from(lc, columns, from)
	{
		const TargetEntry *column = lfirst_node(TargetEntry, lc);
		TargetEntry *other = palloc(sizeof(TargetEntry));

		*other = *column;
		other->expr = (Expr *) gpb_sibling_expression(sibling, (Node *) column->expr);
		others = lappend(others, other);
	}
	return others;
}

/* May nodes have what setrefs.c has made of the expressions of another that is alike? */
static bool
may_share(const CustomScan *scan)
{
	return gpb_unfinished_plans != NULL &&
		!executor_walker((Node *) scan->custom_exprs, NULL) &&
		!executor_walker((Node *) scan->scan.plan.qual, NULL) &&
		!executor_walker((Node *) scan->scan.plan.targetlist, NULL);
}

/* Fill in what the node has of its own, which is all, and what it evaluates. */
static void
set_expressions(const GpbSibling *sibling, const CustomScan *model, int shared, List *own_columns,
				CustomScan *scan)
{
	scan->custom_scan_tlist = list_concat(list_copy_head(model->custom_scan_tlist, shared),
										  own_columns);
	scan->scan.plan.qual = (List *)
		gpb_sibling_expression(sibling, (Node *) model->scan.plan.qual);
	scan->custom_exprs = (List *) gpb_sibling_expression(sibling, (Node *) model->custom_exprs);
}

/* Leave out what the node is to have of the first one, until the statement has been planned. */
static void
wait_for_first(CustomScan *scan, const CustomScan *first, int shared, List *own_columns,
			   bool same_target)
{
	GpbUnfinished *unfinished = palloc(sizeof(GpbUnfinished));

	*unfinished = (GpbUnfinished) {scan, first, shared, same_target};
	*gpb_unfinished_plans = lappend(*gpb_unfinished_plans, unfinished);
	scan->custom_scan_tlist = own_columns;
	scan->scan.plan.qual = NIL;
	scan->custom_exprs = NIL;
	if (same_target)
		scan->scan.plan.targetlist = NIL;
}

CustomScan *
gpb_sibling_plan(const GpbAlikePath *path, int shared, List *tlist, bool same_target)
{
	const GpbSibling *sibling = &path->sibling;
	GpbAlikePlans *plans = path->plans;
	const CustomScan *model = plans->model;
	List	   *own_columns = other_columns(sibling, model->custom_scan_tlist, shared);
	CustomScan *scan = palloc(sizeof(CustomScan));

	*scan = *model;
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = sibling->other->relid;
	scan->custom_private = with_index(model->custom_private, path->index);
	if (plans->first != NULL && plans->may_share)
	{
		wait_for_first(scan, plans->first, shared, own_columns, same_target);
		return scan;
	}
	set_expressions(sibling, model, shared, own_columns, scan);
	if (plans->first == NULL)
	{
		plans->first = scan;
		plans->may_share = may_share(scan);
	}
	return scan;
}

void
gpb_finish_alike_plans(List *unfinished)
{
	ListCell   *lc;

	foreach(lc, unfinished)
	{
		const GpbUnfinished *plan = lfirst(lc);
		CustomScan *scan = plan->scan;
		const CustomScan *first = plan->first;

		scan->custom_scan_tlist = list_concat(list_copy_head(first->custom_scan_tlist,
															 plan->shared),
											  scan->custom_scan_tlist);
		scan->scan.plan.qual = first->scan.plan.qual;
		scan->custom_exprs = first->custom_exprs;
		if (plan->same_target)
			scan->scan.plan.targetlist = first->scan.plan.targetlist;
	}
}
