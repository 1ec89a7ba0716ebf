/*-------------------------------------------------------------------------
 *
 * lateral_sublink.c
 *	  A scalar subquery that aggregates a range of an index, as a LATERAL subquery.
 *
 *	  SELECT b.id, (SELECT coalesce(sum(v), 0) FROM t WHERE k >= b.lo AND k < b.hi) FROM bins b
 *
 * becomes
 *
 *	  SELECT b.id, coalesce(s.sum, 0)
 *	  FROM bins b, LATERAL (SELECT sum(v) FROM t WHERE k >= b.lo AND k < b.hi) s
 *
 * An aggregate without GROUP BY always gives one row, so the join gives each row of bins once, as before.  References to
 * the outer row are one level up in both forms.  Whether an index can answer the subquery is decided by the planner, with
 * the same functions as here, but here only on what can be seen in the parse tree: what slips through
 * becomes a nested loop, which runs the subquery once for each row, as before.
 *
 * A LATERAL subquery that was written as such is parted in the same way, if it has more than bare aggregates: into an
 * inner one of these, and expressions over it, which core merges into the query around.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "../index/index.h"
#include "lateral.h"
#include "range_aggregate.h"

#define GPB_LATERAL_ALIAS	"subquery"

/* ---- is it one row of aggregates over one table? ---- */

/* The range table entry of the table, NULL if the query is of another kind. */
static RangeTblEntry *
gpb_sublink_table(Query *query)
{
	RangeTblRef *reference;
	RangeTblEntry *rte;

	if (query->commandType != CMD_SELECT || !query->hasAggs || query->hasWindowFuncs ||
		query->hasTargetSRFs || query->hasSubLinks || query->hasRowSecurity ||
		query->cteList != NIL || query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || query->distinctClause != NIL ||
		query->sortClause != NIL || query->limitCount != NULL ||
		query->limitOffset != NULL || query->rowMarks != NIL || query->setOperations != NULL ||
		list_length(query->rtable) != 1 || list_length(query->jointree->fromlist) != 1 ||
		contain_volatile_functions(query->jointree->quals))
		return NULL;
	reference = linitial(query->jointree->fromlist);
	if (!IsA(reference, RangeTblRef))
		return NULL;
	rte = linitial_node(RangeTblEntry, query->rtable);
	if (rte->rtekind != RTE_RELATION || rte->tablesample != NULL || rte->securityQuals != NIL ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW))
		return NULL;
	return rte;
}

/* Collect the distinct aggregates of the subquery in *argument; true if it has others, of an outer query. */
static bool
gpb_collect_sublink_aggrefs(Node *node, void *argument)
{
	List	  **aggrefs = argument;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		if (((Aggref *) node)->agglevelsup != 0)
			return true;
		*aggrefs = list_append_unique(*aggrefs, node);
		return false;
	}
	if (IsA(node, GroupingFunc))
		return true;
	return expression_tree_walker(node, gpb_collect_sublink_aggrefs, argument);
}

/* ---- can an index answer it? ---- */

/* The clause with Params for what is of an outer query, whose numbers must not be taken for this one's. */
static Node *
gpb_hide_outer_mutator(Node *node, void *argument)
{
	if (node != NULL && IsA(node, Var) && ((Var *) node)->varlevelsup > 0)
	{
		Param	   *param = makeNode(Param);

		param->paramkind = PARAM_EXEC;
		param->paramid = -1;
		param->paramtype = ((Var *) node)->vartype;
		param->paramtypmod = ((Var *) node)->vartypmod;
		param->paramcollid = ((Var *) node)->varcollid;
		param->location = -1;
		return (Node *) param;
	}
	return expression_tree_mutator(node, gpb_hide_outer_mutator, argument);
}

/* What matching asks of an index, without a planner; the table is the subquery's first. */
static IndexOptInfo *
gpb_sketch_index(Relation index)
{
	IndexOptInfo *sketch = makeNode(IndexOptInfo);
	int			i;

	sketch->rel = makeNode(RelOptInfo);
	sketch->rel->relid = 1;
	sketch->indexoid = RelationGetRelid(index);
	sketch->ncolumns = index->rd_index->indnatts;
	sketch->nkeycolumns = index->rd_index->indnkeyatts;
	sketch->indexkeys = palloc(sizeof(int) * sketch->ncolumns);
	for (i = 0; i < sketch->ncolumns; i++)
		sketch->indexkeys[i] = index->rd_index->indkey.values[i];
	sketch->opfamily = index->rd_opfamily;
	sketch->indpred = RelationGetIndexPredicate(index);
	return sketch;
}

/* A function that may raise an error: one that is not leakproof */
static bool
gpb_function_may_fail(Oid function, void *argument)
{
	return !get_func_leakproof(function);
}

/* Is there anything in the expression but columns, constants, parameters, and functions of them that cannot fail? */
static bool
gpb_expression_may_fail(Node *node, void *argument)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Var:
		case T_Const:
		case T_Param:
		case T_RelabelType:
		case T_CollateExpr:
		case T_FuncExpr:
		case T_OpExpr:
			break;
		default:
			return true;
	}
	if (check_functions_in_node(node, gpb_function_may_fail, argument))
		return true;
	return expression_tree_walker(node, gpb_expression_may_fail, argument);
}

/*
 * Could evaluating what the clause compares the key with raise an error?  Where rows are joined, a LATERAL subquery may be run for a row
 * that a scalar one never comes to, so it must not.
 */
static bool
gpb_value_may_fail(Expr *clause)
{
	ListCell   *lc;

	foreach(lc, ((OpExpr *) clause)->args)
	{
		Node	   *value = lfirst(lc);

		if (!contain_vars_of_level(value, 0) && gpb_expression_may_fail(value, NULL))
			return true;
	}
	return false;
}

/*
 * Are all conditions ranges of the index's key, and one of them correlated with the query around?  What a partial index's
 * predicate may imply is let pass.
 */
static bool
gpb_sketch_has_conditions(IndexOptInfo *index, List *clauses, bool joined)
{
	bool		correlated = false;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Expr	   *clause = lfirst(lc);
		bool		outer = contain_vars_of_level((Node *) clause, 1);
		GpbRangeCondition condition;
		Expr	   *value;

		if (!gpb_match_range_condition(NULL, index,
									   (Expr *) gpb_hide_outer_mutator((Node *) clause, NULL),
									   &condition, &value))
		{
			if (outer || index->indpred == NIL)
				return false;
			continue;
		}
		if (joined && gpb_value_may_fail(clause))
			return false;
		correlated |= outer;
	}
	return correlated;
}

/* Is there an index that may answer the aggregates under these conditions? */
static bool
gpb_table_has_index(RangeTblEntry *rte, List *clauses, List *aggrefs, bool joined)
{
	/* the parser, or who revived a cached plan, has locked the table */
	Relation	heap = table_open(rte->relid, NoLock);
	bool		found = false;
	ListCell   *lc;

	foreach(lc, heap->rd_rel->relhasindex ? RelationGetIndexList(heap) : NIL)
	{
		Relation	index = index_open(lfirst_oid(lc), rte->rellockmode);
		GpbAggregateItem *items;

		if (index->rd_indam->amcostestimate == gpb_costestimate &&
			index->rd_index->indkey.values[0] != 0)
		{
			IndexOptInfo *sketch = gpb_sketch_index(index);

			found = gpb_sketch_has_conditions(sketch, clauses, joined) &&
				gpb_match_range_aggrefs(sketch, aggrefs, &items);
		}
		index_close(index, NoLock);
		if (found)
			break;
	}
	table_close(heap, NoLock);
	return found;
}

/* The conjunction's members, and theirs */
static List *
gpb_flatten_ands(Node *quals)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	if (quals == NULL)
		return NIL;
	if (!is_andclause(quals))
		return list_make1(quals);
	foreach(lc, ((BoolExpr *) quals)->args)
		clauses = list_concat(clauses, gpb_flatten_ands(lfirst(lc)));
	return clauses;
}

/* ---- the FROM list ---- */

/* What must be equal for two subqueries to read the same rows */
static Query *
gpb_lateral_key(Query *subquery)
{
	Query	   *key = copyObject(subquery);

	key->targetList = NIL;
	linitial_node(RangeTblEntry, key->rtable)->selectedCols = NULL;
	return key;
}

/* Append a subquery, without targets so far, to the range table and the FROM list. */
static Index
gpb_append_lateral(Query *query, Query *subquery)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	RangeTblRef *reference = makeNode(RangeTblRef);

	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = copyObject(subquery);
	rte->subquery->targetList = NIL;
	rte->lateral = true;
	rte->alias = makeAlias(GPB_LATERAL_ALIAS, NIL);
	rte->eref = makeAlias(GPB_LATERAL_ALIAS, NIL);
	rte->inFromCl = true;
	query->rtable = lappend(query->rtable, rte);
	reference->rtindex = list_length(query->rtable);
	query->jointree->fromlist = lappend(query->jointree->fromlist, reference);
	return reference->rtindex;
}

/* Place of the subquery in the range table: that of an equal one, if there is one; 0 if there is no room. */
static Index
gpb_find_lateral(GpbLateralFrom *from, Query *subquery)
{
	Query	   *key = gpb_lateral_key(subquery);
	ListCell   *lc;
	ListCell   *rti;

	forboth(lc, from->keys, rti, from->rtis)
	{
		RangeTblEntry *table;

		if (!equal(lfirst(lc), key))
			continue;
		table = linitial_node(RangeTblEntry,
							  list_nth_node(RangeTblEntry, from->query->rtable,
											lfirst_int(rti) - 1)->subquery->rtable);
		table->selectedCols = bms_add_members(table->selectedCols,
											  linitial_node(RangeTblEntry,
															subquery->rtable)->selectedCols);
		return lfirst_int(rti);
	}
	if (from->room <= 0)
		return 0;
	from->room--;
	from->keys = lappend(from->keys, key);
	from->rtis = lappend_int(from->rtis, gpb_append_lateral(from->query, subquery));
	return llast_int(from->rtis);
}

/* ---- the expression above ---- */

typedef struct GpbLateralColumns
{
	RangeTblEntry *rte;			/* the LATERAL subquery */
	Index		rti;
} GpbLateralColumns;

/* A Var of the subquery's column for the aggregate, which is added if need be. */
static Var *
gpb_lateral_column(GpbLateralColumns *columns, Aggref *aggref)
{
	Query	   *subquery = columns->rte->subquery;
	TargetEntry *target = NULL;
	ListCell   *lc;

	foreach(lc, subquery->targetList)
	{
		if (equal(lfirst_node(TargetEntry, lc)->expr, aggref))
			target = lfirst(lc);
	}
	if (target == NULL)
	{
		char	   *name = get_func_name(aggref->aggfnoid);

		target = makeTargetEntry((Expr *) copyObject(aggref),
								 list_length(subquery->targetList) + 1, name, false);
		subquery->targetList = lappend(subquery->targetList, target);
		columns->rte->eref->colnames = lappend(columns->rte->eref->colnames, makeString(name));
	}
	return makeVarFromTargetEntry(columns->rti, target);
}

static Node *
gpb_lateral_column_mutator(Node *node, void *argument)
{
	if (node != NULL && IsA(node, Aggref))
		return (Node *) gpb_lateral_column(argument, (Aggref *) node);
	return expression_tree_mutator(node, gpb_lateral_column_mutator, argument);
}

/*
 * May a query that a batch of ranges can answer be made of the subquery?  joined: it is to be run for rows for which it would not
 * have been run otherwise.
 */
static bool
gpb_may_be_lateral(Query *subquery, bool joined)
{
	RangeTblEntry *table = gpb_sublink_table(subquery);
	List	   *aggrefs = NIL;

	return table != NULL &&
		!gpb_collect_sublink_aggrefs((Node *) subquery->targetList, &aggrefs) &&
		aggrefs != NIL &&
		gpb_table_has_index(table, gpb_flatten_ands(subquery->jointree->quals), aggrefs, joined);
}

Node *
gpb_lateral_replace(GpbLateralFrom *from, SubLink *sublink)
{
	Query	   *subquery = (Query *) sublink->subselect;
	Node	   *expression;
	GpbLateralColumns columns;

	if (sublink->subLinkType != EXPR_SUBLINK || !IsA(subquery, Query) ||
		list_length(subquery->targetList) != 1 ||
		!gpb_may_be_lateral(subquery, from->joined))
		return NULL;
	columns.rti = gpb_find_lateral(from, subquery);
	if (columns.rti == 0)
		return NULL;
	columns.rte = list_nth_node(RangeTblEntry, from->query->rtable, columns.rti - 1);
	expression = (Node *) linitial_node(TargetEntry, subquery->targetList)->expr;
	expression = gpb_lateral_column_mutator(expression, &columns);
	/* columns of the outer row, which were one level up; the new ones are of this level already */
	IncrementVarSublevelsUp(expression, -1, 1);
	return expression;
}

/* ---- subqueries that are LATERAL already ---- */

static bool
gpb_has_bare_aggregates(Query *subquery)
{
	ListCell   *lc;

	foreach(lc, subquery->targetList)
	{
		if (!IsA(lfirst_node(TargetEntry, lc)->expr, Aggref))
			return false;
	}
	return true;
}

void
gpb_lateral_part(RangeTblEntry *rte)
{
	Query	   *subquery = rte->subquery;
	Query	   *above;
	GpbLateralColumns columns;

	if (!rte->lateral || rte->security_barrier || !subquery->hasAggs ||
		gpb_has_bare_aggregates(subquery) || !gpb_may_be_lateral(subquery, false))
		return;
	above = makeNode(Query);
	above->commandType = CMD_SELECT;
	above->querySource = subquery->querySource;
	above->canSetTag = subquery->canSetTag;
	above->jointree = makeFromExpr(NIL, NULL);
	columns.rti = gpb_append_lateral(above, subquery);
	columns.rte = list_nth_node(RangeTblEntry, above->rtable, columns.rti - 1);
	/* the outer row is one level further up */
	IncrementVarSublevelsUp((Node *) columns.rte->subquery, 1, 1);
	above->targetList = (List *) gpb_lateral_column_mutator((Node *) subquery->targetList,
															&columns);
	rte->subquery = above;
}
