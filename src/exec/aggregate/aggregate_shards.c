/*-------------------------------------------------------------------------
 *
 * aggregate_shards.c
 *	  Planning of leaves that are foreign tables, whose shards aggregate.
 *
 * Core asks a foreign-data wrapper for grouped rows only where the whole query is of one foreign
 * table, or where partitions need no merging.  Here the wrapper is asked for each leaf by itself,
 * of a relation that nobody else knows, with the groups of the node's program.  postgres_fdw takes
 * these from the query that the planner's data say is planned, both when it makes the path and when
 * it makes the plan: so both are made with a copy of that data, whose query groups by them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paramassign.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_path.h"
#include "exec/aggregate/aggregate_shards.h"
#include "exec/functions/core_aggregate.h"
#include "exec/price/price_constants.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"

#define MAX_SHARD_COLUMNS	(GPB_MAX_GROUP_SLOTS + 1 + 4 * GPB_MAX_TERMS)

/* What is planned of shards; expressions are of the parent's columns. */
struct GpbShards
{
	PlannerInfo *root;			/* whose query has the groups of shards */
	List	   *exprs;			/* one for each column */
	int			n;
	GpbShardColumn column[MAX_SHARD_COLUMNS];
	int		   *terms;			/* of each item: the term with its values */
	List	   *bins;			/* group expressions, of which shards make smaller bins, with
								 * CaseTestExpr in the place of the moment */
	List	   *stable;			/* expressions whose values are sent, of no table */
	List	   *params;			/* a Param in the place of each */
};

/* ---- columns ---- */

/* Is there such a column of an item already, whose words are those of item "number" too? */
static bool
has_column(const GpbShards *shards, GpbShardPart part, int number, const Expr *expression)
{
	for (int i = 0; i < shards->n; i++)
	{
		const GpbShardColumn *column = &shards->column[i];

		if (column->part == part && part > GPB_SHARD_ROWS &&
			shards->terms[column->number] == shards->terms[number] &&
			equal(list_nth(shards->exprs, i), expression))
			return true;
	}
	return false;
}

/* Add a column, unless there is such a one; false if there are too many. */
static bool
add_column(GpbShards *shards, GpbShardPart part, int number, Expr *expression)
{
	if (has_column(shards, part, number, expression))
		return true;
	if (shards->n == MAX_SHARD_COLUMNS)
		return false;
	shards->column[shards->n++] = (GpbShardColumn) {part, number, exprType((Node *) expression)};
	shards->exprs = lappend(shards->exprs, expression);
	return true;
}

/* ---- aggregates ---- */

/* Core's aggregate "function" of the same argument, with the same FILTER */
static Expr *
other_aggregate(const Aggref *aggref, Oid function, Oid type)
{
	Aggref	   *other = copyObject((Aggref *) aggref);

	other->aggfnoid = function;
	other->aggtype = type;
	/* equal ones are one column, whatever number the query's has */
	other->aggtranstype = InvalidOid;
	other->aggno = other->aggtransno = -1;
	return (Expr *) other;
}

/* The same aggregate */
static Expr *
same_aggregate(const Aggref *aggref)
{
	return other_aggregate(aggref, aggref->aggfnoid, aggref->aggtype);
}

/* The number of rows of a group */
static Expr *
count_rows(Expr *filter)
{
	Aggref	   *count = makeNode(Aggref);

	count->aggfnoid = F_COUNT_;
	count->aggtype = INT8OID;
	count->aggtranstype = InvalidOid;
	count->aggstar = true;
	count->aggfilter = filter;
	count->aggkind = AGGKIND_NORMAL;
	count->aggsplit = AGGSPLIT_SIMPLE;
	count->aggno = -1;
	count->aggtransno = -1;
	count->location = -1;
	return (Expr *) count;
}

/* Core's sum of values of the item's type; InvalidOid if that is not exact, or not the same here */
static Oid
exact_sum(const GpbAggregateItem *item, Oid *type)
{
	*type = item->type.sql == INT2OID || item->type.sql == INT4OID ? INT8OID : NUMERICOID;
	switch (item->type.sql)
	{
		case INT2OID:
			return F_SUM_INT2;
		case INT4OID:
			return F_SUM_INT4;
		case INT8OID:
			return F_SUM_INT8;
		case NUMERICOID:
			return item->type.class == GPB_WORDS_WIDE ? InvalidOid : F_SUM_NUMERIC;
		default:
			return InvalidOid;
	}
}

/* Has the item terms of numerics beside that of its column? */
static bool
has_decimal_terms(const GpbItemTerms *terms)
{
	return terms->dividends != GPB_NO_TERM || terms->digits != GPB_NO_TERM ||
		terms->lower != GPB_NO_TERM || terms->cross_upper != GPB_NO_TERM ||
		terms->cross_lower != GPB_NO_TERM;
}

/* Add a column of partial states of these, over the aggregate's arguments. */
static bool
add_state(GpbShards *shards, GpbAggregateFunction function, Oid type, int number,
		  const Aggref *aggref)
{
	Oid			partial = gpb_own_aggregate(function, type);

	return OidIsValid(partial) &&
		add_column(shards, GPB_SHARD_STATE, number, other_aggregate(aggref, partial, BYTEAOID));
}

/* Add what sums are made of: sums of core's, or a partial state. */
static bool
add_sums(GpbShards *shards, const GpbAggregateItem *item, int want, int number, Aggref *aggref)
{
	Oid			type;
	Oid			sum = exact_sum(item, &type);

	if ((want & GPB_WANT_SQUARES) == 0 && OidIsValid(sum))
		return add_column(shards, GPB_SHARD_COUNT, number,
						  other_aggregate(aggref, F_COUNT_ANY, INT8OID)) &&
			add_column(shards, GPB_SHARD_SUM, number, other_aggregate(aggref, sum, type));
	if (item->type.class != GPB_WORDS_SQL)
		return false;
	/* one state for all items of the term */
	return add_state(shards, (want & GPB_WANT_SQUARES) != 0 ? GPB_PARTIAL_MOMENTS :
					 GPB_PARTIAL_SUMS, item->type.sql, number, aggref);
}

/* Add the columns of an item that is not only counted, of whose term so much is wanted. */
static bool
add_values(GpbShards *shards, const GpbAggregateItem *item, int want, int number, Aggref *aggref)
{
	/* a state that the query wants has bounds beside sums, which columns of sums do not */
	if (item->type.sql == MONEYOID || has_decimal_terms(&item->terms) ||
		gpb_function_is_partial(item->function))
		return false;
	if (gpb_input_is_pair(gpb_find_aggregate(aggref->aggfnoid)->input))
		return add_state(shards, GPB_PARTIAL_PAIRS, FLOAT8OID, number, aggref);
	if ((gpb_function_want(item->function) & GPB_WANT_SUM) != 0)
		return add_sums(shards, item, want, number, aggref);
	if (!add_column(shards, GPB_SHARD_COUNT, number,
					other_aggregate(aggref, F_COUNT_ANY, INT8OID)))
		return false;
	switch (item->function)
	{
		case GPB_MIN:
			return add_column(shards, GPB_SHARD_LEAST, number, same_aggregate(aggref));
		case GPB_MAX:
			return add_column(shards, GPB_SHARD_GREATEST, number, same_aggregate(aggref));
		case GPB_BIT_AND:
			return add_column(shards, GPB_SHARD_AND, number, same_aggregate(aggref));
		case GPB_BIT_OR:
			return add_column(shards, GPB_SHARD_OR, number, same_aggregate(aggref));
		case GPB_BIT_XOR:
			return add_column(shards, GPB_SHARD_XOR, number, same_aggregate(aggref));
		default:
			return false;
	}
}

/* Add the columns of an item of whose term so much is wanted. */
static bool
add_item(GpbShards *shards, const GpbAggregateItem *item, int want, int number, Aggref *aggref)
{
	if (aggref->aggdistinct != NIL)
		aggref = gpb_without_distinct(aggref);
	if (item->function == GPB_COUNT_ENTRIES)
		return true;
	if (item->function == GPB_COUNT_VALUES)
		return add_column(shards, GPB_SHARD_COUNT, number, same_aggregate(aggref));
	return add_values(shards, item, want, number, aggref);
}

/* Note which items are of the same values, and have the same FILTER: they have one term. */
static void
note_terms(GpbShards *shards, const GpbAggregatePlan *plan)
{
	int			nvalues = gpb_aggregate_count_values(plan);

	shards->terms = palloc(sizeof(int) * (plan->nitems + nvalues));
	for (int i = 0; i < plan->nitems; i++)
		shards->terms[i] = plan->items[i].column;
	for (int i = 0; i < nvalues; i++)
		shards->terms[plan->nitems + i] = plan->values[0].items[i].filter.column;
}

/* Add the columns of all aggregates of a plan, which "values" has in the order of its items. */
static bool
add_items(GpbShards *shards, const GpbAggregatePlan *plan, List *values)
{
	const GpbProgram *program = &plan->program.program;

	note_terms(shards, plan);
	for (int i = 0; i < plan->nitems; i++)
	{
		const GpbAggregateItem *item = &plan->items[i];
		int			want = item->column < program->nterms ? program->term[item->column].want : 0;

		if (!add_item(shards, item, want, i, list_nth_node(Aggref, values, i)))
			return false;
	}
	for (int i = 0; i < gpb_aggregate_count_values(plan); i++)
	{
		Aggref	   *aggref = list_nth_node(Aggref, values, plan->nitems + i);

		if (aggref->aggfilter != NULL &&
			!add_column(shards, GPB_SHARD_COUNT, plan->nitems + i, count_rows(aggref->aggfilter)))
			return false;
	}
	return true;
}

/* ---- groups ---- */

/* Add the clause by which the shards' query groups by the column that is added next. */
static void
add_clause(GpbShards *shards, Query *query, Expr *expression)
{
	SortGroupClause *clause = makeNode(SortGroupClause);
	TypeCacheEntry *type = lookup_type_cache(exprType((Node *) expression),
											 TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);

	clause->tleSortGroupRef = shards->n + 1;
	clause->eqop = type->eq_opr;
	clause->sortop = type->lt_opr;
	clause->hashable = true;
	query->groupClause = lappend(query->groupClause, clause);
}

/* Add a group, and its clause.  Of groups by date_trunc() the shards' are bins. */
static bool
add_group(GpbShards *shards, Query *query, Expr *expression)
{
	FuncExpr   *bin = gpb_shard_bin(expression);
	int			number = shards->n;

	add_clause(shards, query, bin != NULL ? (Expr *) bin : expression);
	return bin == NULL ? add_column(shards, GPB_SHARD_GROUP, number, expression) :
		add_column(shards, GPB_SHARD_BIN, number, (Expr *) bin);
}

/*
 * Add the first and the last moment of each bin, which stand behind all groups; "groups" has those,
 * and the value that DISTINCT or a percentile is about.
 */
static bool
add_moments(GpbShards *shards, List *groups)
{
	for (int i = 0; i < list_length(groups); i++)
	{
		Expr	   *moment;

		if (shards->column[i].part != GPB_SHARD_BIN)
			continue;
		moment = lsecond(((FuncExpr *) list_nth(shards->exprs, i))->args);
		if (!add_column(shards, GPB_SHARD_FIRST, i, gpb_shard_moment(moment, false)) ||
			!add_column(shards, GPB_SHARD_LAST, i, gpb_shard_moment(moment, true)))
			return false;
		shards->bins = lappend(shards->bins,
							   gpb_shard_bin_result(list_nth_node(FuncExpr, groups, i)));
	}
	return true;
}

/* A query of the same tables that groups, and does nothing else; its groups are added later. */
static Query *
grouping_query(const Query *parse)
{
	Query	   *query = makeNode(Query);

	*query = *parse;
	query->groupClause = query->groupingSets = query->distinctClause = query->sortClause = NIL;
	query->havingQual = NULL;
	query->hasAggs = true;
	query->hasDistinctOn = query->hasWindowFuncs = query->hasTargetSRFs = false;
	return query;
}

/*
 * Make *copy what the planner knows of the statement, but as if it were this query.  Nothing that
 * the planner collects for its own query is in it.
 */
static void
copy_root(const PlannerInfo *root, Query *query, PlannerInfo *copy)
{
	*copy = *root;
	copy->parse = query;
	GPB_SET_GROUP_CLAUSE(copy);
	copy->hasHavingQual = false;
	copy->init_plans = copy->plan_params = NIL;
	memset(copy->upper_rels, 0, sizeof(copy->upper_rels));
}

GpbShards *
gpb_shards_match(const GpbGrouping *grouping, const GpbAggregatePath *first, const char **refusal)
{
	const GpbAggregatePlan *plan = &first->plan;
	GpbShards  *shards = palloc0(sizeof(GpbShards));
	Query	   *query = grouping_query(grouping->root->parse);
	List	   *groups = list_copy(grouping->groups);
	GpbSibling	parent;
	bool		added = true;
	ListCell   *lc;

	*refusal = NULL;
	if (plan->sets.nphases * Max(plan->nvalues, 1) > 1)
	{
		*refusal = "several programs answer the query";
		return NULL;
	}
	gpb_sibling_begin(grouping->root, first->index->rel, grouping->rel, &parent);
	if (plan->nvalues > 0)
		groups = lappend(groups, gpb_sibling_expression(&parent,
														linitial(plan->values[0].value)));
	foreach(lc, groups)
		added = added && add_group(shards, query, lfirst(lc));
	shards->root = makeNode(PlannerInfo);
	copy_root(grouping->root, query, shards->root);
	added = added && add_moments(shards, groups);
	added = added && add_column(shards, GPB_SHARD_ROWS, 0, count_rows(NULL)) &&
		add_items(shards, plan, first->values);
	if (added)
		return shards;
	*refusal = "an aggregate can be made neither of core's nor of partial states";
	return NULL;
}

void
gpb_shards_fill(const GpbShards *shards, GpbAggregatePlan *plan)
{
	plan->nshard = shards->n;
	plan->shard = palloc(sizeof(GpbShardColumn) * shards->n);
	memcpy(plan->shard, shards->column, sizeof(GpbShardColumn) * shards->n);
	plan->bins = shards->bins;
}

bool
gpb_shards_may_give_up(const GpbShards *shards)
{
	for (int i = 0; i < shards->n; i++)
	{
		if (shards->column[i].part <= GPB_SHARD_BIN || shards->column[i].type == NUMERICOID)
			return true;
	}
	return false;
}

void
gpb_shards_widen(const GpbShards *shards, PathTarget *target)
{
	for (int i = 0; i < shards->n; i++)
	{
		Oid			type = shards->column[i].type;

		target->exprs = lappend(target->exprs,
								makeNullConst(type, -1, get_typcollation(type)));
	}
}

/* ---- what is evaluated here ---- */

/*
 * Is the value of an expression to be sent: has it no column, but a function that is not immutable?
 */
static bool
is_sent(Node *node)
{
	return !IsA(node, List) && !IsA(node, TargetEntry) && !IsA(node, Aggref) &&
		contain_mutable_functions(node) && !contain_volatile_functions(node) &&
		!contain_subplans(node) && !contain_var_clause(node) && !contain_agg_clause(node);
}

/* The Param that stands for an expression */
static Node *
param_for(GpbShards *shards, Node *expression)
{
	ListCell   *of;
	ListCell   *lc;
	Param	   *param = makeNode(Param);

	forboth(of, shards->stable, lc, shards->params)
	{
		if (equal(lfirst(of), expression))
			return (Node *) copyObject(lfirst_node(Param, lc));
	}
	param->paramkind = PARAM_EXEC;
	param->paramid = assign_special_exec_param(shards->root);
	param->paramtype = exprType(expression);
	param->paramtypmod = exprTypmod(expression);
	param->paramcollid = exprCollation(expression);
	param->location = -1;
	shards->stable = lappend(shards->stable, expression);
	shards->params = lappend(shards->params, param);
	return copyObject((Node *) param);
}

/* Is it now(), or what SQL has like that, which raises no error? */
static bool
is_certain(const Node *node)
{
	if (IsA(node, SQLValueFunction))
		return true;
	return IsA(node, FuncExpr) && (((const FuncExpr *) node)->funcid == F_NOW ||
								   ((const FuncExpr *) node)->funcid == F_TRANSACTION_TIMESTAMP ||
								   ((const FuncExpr *) node)->funcid == F_STATEMENT_TIMESTAMP);
}

/*
 * expression_tree_mutator for what is evaluated for some rows alone: what is sent is evaluated
 * before there is any, and must raise nothing then.
 */
static Node *
send_certain_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (is_certain(node))
		return param_for(context, node);
	return expression_tree_mutator(node, send_certain_mutator, context);
}

/* expression_tree_mutator: put Params in the place of what is sent. */
static Node *
send_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (!IsA(node, Const) && !IsA(node, Param) && !IsA(node, Var) && is_sent(node))
		return param_for(context, node);
	return expression_tree_mutator(node, IsA(node, CaseExpr) || IsA(node, CoalesceExpr) ?
								   send_certain_mutator : send_mutator, context);
}

/* The reverse: a Param is evaluated as what it stands for. */
static Node *
evaluate_mutator(Node *node, void *context)
{
	const GpbShards *shards = context;
	ListCell   *of;
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	forboth(of, shards->stable, lc, shards->params)
	{
		const Param *param = lfirst_node(Param, lc);

		if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC &&
			((Param *) node)->paramid == param->paramid)
			return copyObject((Node *) lfirst(of));
	}
	return expression_tree_mutator(node, evaluate_mutator, context);
}

/* ---- the path of a leaf ---- */

bool
gpb_is_shard(PlannerInfo *root, RelOptInfo *leaf)
{
	ForeignServer *server;
	ForeignDataWrapper *wrapper;
	char	   *handler;

	if (planner_rt_fetch(leaf->relid, root)->relkind != RELKIND_FOREIGN_TABLE ||
		leaf->fdwroutine == NULL || leaf->fdwroutine->GetForeignUpperPaths == NULL ||
		leaf->fdw_private == NULL)
		return false;
	server = GetForeignServer(leaf->serverid);
	wrapper = GetForeignDataWrapper(server->fdwid);
	handler = get_func_name(wrapper->fdwhandler);
	return handler != NULL && strcmp(handler, "postgres_fdw_handler") == 0;
}

/* Restrictions with Params for what is sent; *changed is set if there is any. */
static List *
send_restrictions(GpbShards *shards, List *restrictions, bool *changed)
{
	List	   *sent = NIL;
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Node	   *clause = send_mutator((Node *) rinfo->clause, shards);

		if (!equal(clause, rinfo->clause))
		{
			RestrictInfo *other = makeNode(RestrictInfo);

			/* what is known of its selectivity is that of the values */
			*other = *rinfo;
			other->clause = (Expr *) clause;
			other->orclause = NULL;
			rinfo = other;
			*changed = true;
		}
		sent = lappend(sent, rinfo);
	}
	return sent;
}

/*
 * The leaf as the wrapper is to see it.  What it has found out about the leaf's restrictions is
 * found out anew if some of them change.
 */
static RelOptInfo *
input_of(GpbShards *shards, RelOptInfo *leaf)
{
	bool		changed = false;
	List	   *restrictions = send_restrictions(shards, leaf->baserestrictinfo, &changed);
	RelOptInfo *input;

	if (!changed)
		return leaf;
	input = makeNode(RelOptInfo);
	*input = *leaf;
	input->baserestrictinfo = restrictions;
	input->fdw_private = NULL;
	input->pathlist = NIL;
	leaf->fdwroutine->GetForeignRelSize(shards->root, input,
										planner_rt_fetch(leaf->relid, shards->root)->relid);
	return input;
}

/* A relation of the leaf's groups, which is in none of the planner's lists */
static RelOptInfo *
grouped_leaf(GpbShards *shards, RelOptInfo *leaf)
{
	RelOptInfo *grouped = makeNode(RelOptInfo);
	PathTarget *target = create_empty_pathtarget();
	List	   *exprs = (List *) gpb_of_child(shards->root, leaf, (Node *) shards->exprs);

	for (int i = 0; i < shards->n; i++)
		add_column_to_pathtarget(target, (Expr *) send_mutator(list_nth(exprs, i), shards),
								 shards->column[i].part <= GPB_SHARD_BIN ? i + 1 : 0);
	grouped->reloptkind = RELOPT_OTHER_UPPER_REL;
	grouped->relids = bms_copy(leaf->relids);
	grouped->reltarget = set_pathtarget_cost_width(shards->root, target);
	grouped->consider_startup = false;
	grouped->serverid = leaf->serverid;
	grouped->userid = leaf->userid;
	grouped->useridiscurrent = leaf->useridiscurrent;
	grouped->fdwroutine = leaf->fdwroutine;
	return grouped;
}

/* Is a restriction one that a scan of the leaf does not test, since it has no column? */
static bool
has_pseudoconstant(const RelOptInfo *leaf)
{
	ListCell   *lc;

	foreach(lc, leaf->baserestrictinfo)
	{
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return true;
	}
	return false;
}

/* The rows of a leaf: no state, and the columns of groups */
static PathTarget *
rows_target(const RelOptInfo *grouped, Expr *state)
{
	PathTarget *target = create_empty_pathtarget();
	Oid			type = exprType((Node *) state);

	add_column_to_pathtarget(target, (Expr *) makeNullConst(type, -1, InvalidOid), 0);
	target->exprs = list_concat(target->exprs, grouped->reltarget->exprs);
	target->width = grouped->reltarget->width;
	target->cost = grouped->reltarget->cost;
	return target;
}

/*
 * To group rows takes a shard less than to send them: postgres_fdw's price of sending a row is that
 * of reading one, or less.  Where it expects few rows, as of bounds that are not known yet, small
 * differences of other leaves must not decide that rows are sent.
 */
static void
cap_price(const Path *rows, Path *path)
{
	/* as GpubtreeAggregate takes it of groups that core's statistics do not know */
	path->rows = clamp_row_est(Min(path->rows, rows->rows / GPB_GROUP_ENTRIES));
	path->total_cost = Min(path->total_cost, rows->total_cost * 0.9);
	path->startup_cost = Min(path->startup_cost, path->total_cost);
}

/* The parent of the path is the leaf: with another core would not know when to prune it. */
Path *
gpb_shard_path(GpbShards *shards, RelOptInfo *leaf, Expr *state)
{
	GroupPathExtraData extra = {.patype = PARTITIONWISE_AGGREGATE_NONE};
	RelOptInfo *grouped;
	Path	   *groups;
	Path	   *path;
	int			modes;

	if (has_pseudoconstant(leaf))
		return NULL;
	grouped = grouped_leaf(shards, leaf);
	/* with use_remote_estimate the shard is asked for a price now */
	modes = gpb_shard_modes_enter();
	leaf->fdwroutine->GetForeignUpperPaths(shards->root, UPPERREL_GROUP_AGG,
										   input_of(shards, leaf), grouped, &extra);
	gpb_shard_modes_leave(modes);
	if (grouped->pathlist == NIL)
		return NULL;
	groups = linitial(grouped->pathlist);
	path = (Path *) create_projection_path(shards->root, leaf, groups,
										   rows_target(grouped, state));
	cap_price(leaf->cheapest_total_path, path);
	return path;
}

/* ---- plan ---- */

/* Let a plan of a shard evaluate what it sends. */
static void
finish_plan(GpbShards *shards, Plan *plan)
{
	ForeignScan *scan = (ForeignScan *) plan;
	ListCell   *lc;

	if (IsA(plan, Append))
	{
		foreach(lc, ((Append *) plan)->appendplans)
			finish_plan(shards, lfirst(lc));
		return;
	}
	if (!IsA(plan, ForeignScan) || shards->params == NIL)
		return;
	plan->targetlist = (List *) evaluate_mutator((Node *) plan->targetlist, shards);
	scan->fdw_scan_tlist = (List *) evaluate_mutator((Node *) scan->fdw_scan_tlist, shards);
	scan->fdw_exprs = (List *) evaluate_mutator((Node *) scan->fdw_exprs, shards);
}

/* The labels of a path's columns, which have none */
static List *
labels(const Path *path)
{
	List	   *tlist = NIL;
	ListCell   *lc;

	foreach(lc, path->pathtarget->exprs)
		tlist = lappend(tlist, makeTargetEntry(lfirst(lc), list_length(tlist) + 1, NULL, false));
	return tlist;
}

Plan *
gpb_shards_plan(GpbShards *shards, PlannerInfo *root, Path *path)
{
	PlannerInfo *copy = shards->root;
	Plan	   *plan;
	int			modes;

	copy_root(root, copy->parse, copy);
	copy->processed_tlist = labels(path);
	modes = gpb_shard_modes_enter();
	plan = create_plan(copy, path);
	gpb_shard_modes_leave(modes);
	/* the pruning of an Append is the statement's */
	GPB_COPY_PRUNING(root, copy);
	finish_plan(shards, plan);
	return plan;
}

/* ---- the index of a parent ---- */

/* Fill in the parent's index as one of the leaf's.  Returns false if the leaf lacks a column. */
static bool
fill_index(PlannerInfo *root, RelOptInfo *leaf, const AttrNumber *columns, Relation relation,
		   IndexOptInfo *index)
{
	Oid			table = planner_rt_fetch(leaf->relid, root)->relid;

	for (int c = 0; c < index->ncolumns; c++)
	{
		AttrNumber	attno = relation->rd_index->indkey.values[c];
		Oid			type;
		int32		typmod;
		Oid			collation;

		if (attno <= 0)
			return false;
		attno = columns == NULL ? attno : columns[attno];
		get_atttypetypmodcoll(table, attno, &type, &typmod, &collation);
		index->indexkeys[c] = attno;
		index->canreturn[c] = true;
		index->indextlist = lappend(index->indextlist,
									makeTargetEntry((Expr *) makeVar(leaf->relid, attno, type,
																	 typmod, collation, 0),
													c + 1, NULL, false));
	}
	for (int c = 0; c < index->nkeycolumns; c++)
	{
		index->indexcollations[c] = relation->rd_indcollation[c];
		index->opfamily[c] = relation->rd_opfamily[c];
		index->opcintype[c] = relation->rd_opcintype[c];
		index->reverse_sort[c] = (relation->rd_indoption[c] & INDOPTION_DESC) != 0;
		index->nulls_first[c] = (relation->rd_indoption[c] & INDOPTION_NULLS_FIRST) != 0;
	}
	return true;
}

/*
 * What the planner would know of the parent's index, were it one of the leaf's; NULL if it cannot
 * be
 */
static IndexOptInfo *
index_of_leaf(PlannerInfo *root, RelOptInfo *leaf, const AttrNumber *columns, Relation relation)
{
	IndexOptInfo *index = makeNode(IndexOptInfo);
	int			n = index->ncolumns = relation->rd_index->indnatts;
	int			nkeys = index->nkeycolumns = relation->rd_index->indnkeyatts;

	index->indexoid = RelationGetRelid(relation);
	index->rel = leaf;
	index->indexkeys = palloc(sizeof(int) * n);
	index->canreturn = palloc(sizeof(bool) * n);
	index->indexcollations = palloc(sizeof(Oid) * nkeys);
	index->opfamily = palloc(sizeof(Oid) * nkeys);
	index->opcintype = palloc(sizeof(Oid) * nkeys);
	index->reverse_sort = palloc(sizeof(bool) * nkeys);
	index->nulls_first = palloc(sizeof(bool) * nkeys);
	index->relam = relation->rd_rel->relam;
	index->amcostestimate = relation->rd_indam->amcostestimate;
	index->predOK = true;
	return fill_index(root, leaf, columns, relation, index) ? index : NULL;
}

IndexOptInfo *
gpb_shard_index(const GpbGrouping *grouping, RelOptInfo *leaf)
{
	PlannerInfo *root = grouping->root;
	IndexOptInfo *found = NULL;
	GpbSibling	parent;
	Relation	table;
	List	   *indexes;
	ListCell   *lc;

	if (planner_rt_fetch(grouping->rel->relid, root)->relkind != RELKIND_PARTITIONED_TABLE)
		return NULL;
	gpb_sibling_begin(root, grouping->rel, leaf, &parent);
	table = table_open(planner_rt_fetch(grouping->rel->relid, root)->relid, NoLock);
	indexes = RelationGetIndexList(table);
	foreach(lc, indexes)
	{
		/* the lock that the executor takes, and that is kept as those of other indexes are */
		Relation	relation = index_open(lfirst_oid(lc), AccessShareLock);
		GpbGrouping of_leaf;

		if (found == NULL && relation->rd_index->indisvalid &&
			RelationGetIndexPredicate(relation) == NIL)
		{
			gpb_grouping_of_leaf(grouping, leaf, &of_leaf);
			found = index_of_leaf(root, leaf, parent.column, relation);
			if (found != NULL && (!gpb_index_is_usable(found) ||
								  !gpb_index_covers(found, of_leaf.columns)))
				found = NULL;
		}
		index_close(relation, NoLock);
	}
	table_close(table, NoLock);
	return found;
}
