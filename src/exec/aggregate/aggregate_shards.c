/*-------------------------------------------------------------------------
 *
 * aggregate_shards.c
 *	  Planning of leaves that are foreign tables, whose shards aggregate.
 *
 * Core asks a foreign-data wrapper for grouped rows only where the whole query is of one foreign
 * table, or where partitions need no merging.  Here the wrapper is asked for each leaf by itself,
 * of a relation that nobody else knows, with the groups of the node's programs.  postgres_fdw takes
 * these from the query that is planned, when it makes the path and when it makes the plan.  So it
 * is shown another query meanwhile, which groups by them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
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
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_path.h"
#include "exec/aggregate/aggregate_shard_query.h"
#include "exec/compile/program_build.h"
#include "exec/price/price_constants.h"
#include "exec/shell/expressions.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"

/* What is planned of shards */
struct GpbShards
{
	PlannerInfo *root;
	int			n;				/* programs of the node */
	GpbShardQuery *asked;		/* what each asks a shard for */
	List	   *stable;			/* expressions whose values are sent, of no table */
	List	   *params;			/* a Param in the place of each */
};

/* ---- what is asked ---- */

GpbShards *
gpb_shards_match(const GpbGrouping *grouping, const GpbAggregatePath *first, const char **refusal)
{
	GpbShards  *shards = palloc0(sizeof(GpbShards));

	*refusal = NULL;
	shards->root = grouping->root;
	shards->n = first->plan.sets.nphases * Max(first->plan.nvalues, 1);
	shards->asked = palloc(sizeof(GpbShardQuery) * shards->n);
	for (int i = 0; i < shards->n; i++)
	{
		GpbShardQuery *asked = &shards->asked[i];

		if (!gpb_shard_query(grouping, first, i, asked))
		{
			*refusal = "an aggregate can be made neither of core's nor of partial states";
			return NULL;
		}
		asked->exprs = (List *) GPB_BEFORE_GROUPING(shards->root, asked->exprs);
	}
	return shards;
}

void
gpb_shards_fill(const GpbShards *shards, GpbAggregatePlan *plan)
{
	plan->nshards = shards->n;
	plan->shards = palloc(sizeof(GpbShardForm) * shards->n);
	plan->bins = NIL;
	for (int i = 0; i < shards->n; i++)
	{
		plan->shards[i].n = shards->asked[i].n;
		plan->shards[i].column = shards->asked[i].column;
		plan->bins = lappend(plan->bins, shards->asked[i].bins);
	}
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

bool
gpb_sent_may_fail(Node *expression)
{
	return !is_certain(expression) && gpb_may_fail(expression) && !gpb_is_of_moments(expression);
}

/* May what is sent raise an error? */
static bool
may_fail(const GpbShards *shards)
{
	ListCell   *lc;

	foreach(lc, shards->stable)
	{
		if (gpb_sent_may_fail(lfirst(lc)))
			return true;
	}
	return false;
}

bool
gpb_shards_may_give_up(const GpbShards *shards)
{
	if (may_fail(shards))
		return true;
	for (int i = 0; i < shards->n; i++)
	{
		const GpbShardQuery *asked = &shards->asked[i];

		for (int c = 0; c < asked->n; c++)
		{
			if (asked->column[c].part <= GPB_SHARD_BIN || asked->column[c].type == NUMERICOID)
				return true;
		}
	}
	return false;
}

/* Add columns that are NULL, of the rows of a program, to a target. */
static void
add_nulls(const GpbShardQuery *asked, PathTarget *target)
{
	for (int c = 0; c < asked->n; c++)
	{
		Oid			type = gpb_shard_column_type(asked->column[c].type);

		target->exprs = lappend(target->exprs,
								makeNullConst(type, -1, get_typcollation(type)));
	}
}

void
gpb_shards_widen(const GpbShards *shards, PathTarget *target)
{
	target->exprs = lappend(target->exprs, makeNullConst(INT4OID, -1, InvalidOid));
	for (int i = 0; i < shards->n; i++)
		add_nulls(&shards->asked[i], target);
}

/* ---- what is evaluated here ---- */

/* Does an expression refer to the value that a CASE above it tests, or the like? */
static bool
has_tested_value(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, CaseTestExpr) || IsA(node, CoerceToDomainValue) ||
		expression_tree_walker(node, has_tested_value, context);
}

/*
 * Is the value of an expression to be sent: has it no column, but a function that is not immutable,
 * and does it mean the same wherever it stands?
 */
static bool
is_sent(Node *node)
{
	return !IsA(node, List) && !IsA(node, TargetEntry) && !IsA(node, Aggref) &&
		!has_tested_value(node, NULL) &&
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

static Node *send_mutator(Node *node, void *context);

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

/*
 * A CASE with Params in the place of what is sent.  Of its parts what it tests, and the first
 * condition, are evaluated for each row.
 */
static Node *
send_in_case(const CaseExpr *given, GpbShards *shards)
{
	CaseExpr   *sent = copyObject((CaseExpr *) given);
	ListCell   *lc;

	sent->arg = (Expr *) send_mutator((Node *) sent->arg, shards);
	foreach(lc, sent->args)
	{
		CaseWhen   *when = lfirst_node(CaseWhen, lc);

		when->expr = (Expr *) (lc == list_head(sent->args) ?
							   send_mutator((Node *) when->expr, shards) :
							   send_certain_mutator((Node *) when->expr, shards));
		when->result = (Expr *) send_certain_mutator((Node *) when->result, shards);
	}
	sent->defresult = (Expr *) send_certain_mutator((Node *) sent->defresult, shards);
	return (Node *) sent;
}

/* expression_tree_mutator: put Params in the place of what is sent. */
static Node *
send_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (!IsA(node, Const) && !IsA(node, Param) && !IsA(node, Var) && is_sent(node))
		return param_for(context, node);
	if (IsA(node, CaseExpr))
		return send_in_case((CaseExpr *) node, context);
	return expression_tree_mutator(node, IsA(node, CoalesceExpr) ? send_certain_mutator :
								   send_mutator, context);
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

/* The columns of a scan that returns partial aggregates, for which the shard is asked by values */
static List *
partial_columns(const GpbShardQuery *asked, List *columns)
{
	ListCell   *column;
	ListCell   *whole;
	ListCell   *partial;

	foreach(column, columns)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, column);

		forboth(whole, asked->exprs, partial, asked->partial)
		{
			if (!equal(entry->expr, lfirst(whole)))
				continue;
			entry->expr = copyObject(lfirst(partial));
			break;
		}
	}
	return columns;
}

/* The columns of a scan that returns groups, as its rows have them */
static List *
group_columns(List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		entry->expr = gpb_shard_column(entry->expr);
	}
	return columns;
}

/* ---- another query ---- */

/* What the planner's data say of the query that is planned */
typedef struct GpbShownQuery
{
	Query	   *parse;
	List	   *group_clause;
	bool		has_having;
} GpbShownQuery;

/* Have the planner's data show this query, and return what they showed. */
static GpbShownQuery
show_query(PlannerInfo *root, GpbShownQuery query)
{
	GpbShownQuery shown = {root->parse, GPB_GROUP_CLAUSE(root), root->hasHavingQual};

	root->parse = query.parse;
	GPB_SET_GROUP_CLAUSE(root, query.group_clause);
	root->hasHavingQual = query.has_having;
	return shown;
}

static GpbShownQuery
query_of(const GpbShardQuery *asked)
{
	return (GpbShownQuery) {asked->query, asked->query->groupClause, false};
}

/* The wrapper's routines for a relation of groups: core's, but for one that shows the query */
typedef struct GpbShardRoutine
{
	FdwRoutine	routine;
	const FdwRoutine *core;
	GpbShards  *shards;
	const GpbShardQuery *asked;
} GpbShardRoutine;

/*
 * GetForeignPlan of a relation of groups.  What is sent is evaluated here: the plan must not have
 * the Params any more, since nobody sets them.
 */
static ForeignScan *
plan_groups(PlannerInfo *root, RelOptInfo *grouped, Oid table, ForeignPath *path, List *tlist,
			List *clauses, Plan *outer)
{
	const GpbShardRoutine *own = (const GpbShardRoutine *) grouped->fdwroutine;
	GpbShownQuery shown = show_query(root, query_of(own->asked));
	int			modes = gpb_shard_modes_enter();
	ForeignScan *scan = own->core->GetForeignPlan(root, grouped, table, path, tlist, clauses,
												  outer);

	gpb_shard_modes_leave(modes);
	(void) show_query(root, shown);
	scan->fdw_scan_tlist = (List *) evaluate_mutator((Node *) scan->fdw_scan_tlist, own->shards);
	scan->fdw_scan_tlist = own->asked->partial != NIL ?
		partial_columns(own->asked, scan->fdw_scan_tlist) : group_columns(scan->fdw_scan_tlist);
	scan->fdw_exprs = (List *) evaluate_mutator((Node *) scan->fdw_exprs, own->shards);
	return scan;
}

static FdwRoutine *
routine_of(GpbShards *shards, const GpbShardQuery *asked, const RelOptInfo *leaf)
{
	GpbShardRoutine *own = palloc(sizeof(GpbShardRoutine));

	own->routine = *leaf->fdwroutine;
	own->routine.GetForeignPlan = plan_groups;
	own->core = leaf->fdwroutine;
	own->shards = shards;
	own->asked = asked;
	return &own->routine;
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

/*
 * A relation of the leaf's groups, of these expressions, which is in none of the planner's lists
 */
static RelOptInfo *
grouped_leaf(GpbShards *shards, const GpbShardQuery *asked, RelOptInfo *leaf, List *exprs)
{
	RelOptInfo *grouped = makeNode(RelOptInfo);
	PathTarget *target = create_empty_pathtarget();

	for (int i = 0; i < asked->n; i++)
		add_column_to_pathtarget(target, (Expr *) send_mutator(list_nth(exprs, i), shards),
								 asked->column[i].part <= GPB_SHARD_BIN ? i + 1 : 0);
	grouped->reloptkind = RELOPT_OTHER_UPPER_REL;
	grouped->relids = bms_copy(leaf->relids);
	grouped->reltarget = set_pathtarget_cost_width(shards->root, target);
	grouped->serverid = leaf->serverid;
	grouped->userid = leaf->userid;
	grouped->useridiscurrent = leaf->useridiscurrent;
	grouped->fdwroutine = routine_of(shards, asked, leaf);
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

/*
 * The rows of a leaf for a program: no state, the program's number, and the columns of groups,
 * where the program has its own
 */
static PathTarget *
rows_target(const GpbShards *shards, int program, List *exprs, const PathTarget *grouped)
{
	PathTarget *target = create_empty_pathtarget();

	target->exprs = list_make2(makeNullConst(BYTEAOID, -1, InvalidOid),
							   makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
										 Int32GetDatum(program), false, true));
	for (int i = 0; i < shards->n; i++)
	{
		ListCell   *lc;

		if (i != program)
		{
			add_nulls(&shards->asked[i], target);
			continue;
		}
		foreach(lc, exprs)
			target->exprs = lappend(target->exprs, gpb_shard_column(lfirst(lc)));
	}
	target->width = grouped->width;
	target->cost = grouped->cost;
	return target;
}

/*
 * To group rows takes a shard less than to send them, even by n programs: postgres_fdw's price of
 * sending a row is that of reading one, or less.  Where it expects few rows, as of bounds that are
 * not known yet, small differences of other leaves must not decide that rows are sent.
 */
static void
cap_price(const Path *rows, int n, Path *path)
{
	/* as GpubtreeAggregate takes it of groups that core's statistics do not know */
	path->rows = clamp_row_est(Min(path->rows, rows->rows / GPB_GROUP_ENTRIES));
	path->total_cost = Min(path->total_cost, rows->total_cost * 0.9 / n);
	path->startup_cost = Min(path->startup_cost, path->total_cost);
}

/*
 * The path of a leaf's groups, as the wrapper makes it of expressions of the leaf's columns; NULL
 * if it makes none
 */
static Path *
grouped_path(GpbShards *shards, const GpbShardQuery *asked, RelOptInfo *leaf, RelOptInfo *input,
			 List *exprs)
{
	PlannerInfo *root = shards->root;
	GroupPathExtraData extra = {.patype = PARTITIONWISE_AGGREGATE_NONE};
	RelOptInfo *grouped = grouped_leaf(shards, asked, leaf, exprs);
	GpbShownQuery shown = show_query(root, query_of(asked));
	/* with use_remote_estimate the shard is asked for a price now */
	int			modes = gpb_shard_modes_enter();

	leaf->fdwroutine->GetForeignUpperPaths(root, UPPERREL_GROUP_AGG, input, grouped, &extra);
	gpb_shard_modes_leave(modes);
	(void) show_query(root, shown);
	return grouped->pathlist == NIL ? NULL : linitial(grouped->pathlist);
}

/*
 * The path of a leaf's groups of a program, NULL if there is none.  Its parent is the leaf: with
 * another core would not know when to prune it.
 */
static Path *
program_path(GpbShards *shards, int program, RelOptInfo *leaf, RelOptInfo *input)
{
	PlannerInfo *root = shards->root;
	const GpbShardQuery *asked = &shards->asked[program];
	List	   *exprs = (List *) gpb_of_child(root, leaf, (Node *) asked->exprs);
	Path	   *path = grouped_path(shards, asked, leaf, input, exprs);

	if (path == NULL)
		return NULL;
	path = (Path *) create_projection_path(root, leaf, path,
										   rows_target(shards, program, exprs, path->pathtarget));
	cap_price(leaf->cheapest_total_path, shards->n, path);
	return path;
}

Path *
gpb_shard_states_path(PlannerInfo *root, const GpbShardQuery *asked, RelOptInfo *leaf)
{
	GpbShards  *shards = palloc0(sizeof(GpbShards));
	Path	   *path;

	if (has_pseudoconstant(leaf))
		return NULL;
	shards->root = root;
	path = grouped_path(shards, asked, leaf, input_of(shards, leaf), asked->exprs);
	/* core's Agg has no other plan, to which it could turn after an error */
	if (may_fail(shards))
		return NULL;
	if (path != NULL)
		cap_price(leaf->cheapest_total_path, 1, path);
	return path;
}

List *
gpb_shard_paths(GpbShards *shards, RelOptInfo *leaf)
{
	RelOptInfo *input;
	List	   *paths = NIL;

	if (has_pseudoconstant(leaf))
		return NIL;
	input = input_of(shards, leaf);
	for (int i = 0; i < shards->n; i++)
	{
		Path	   *path = program_path(shards, i, leaf, input);

		if (path == NULL)
			return NIL;
		paths = lappend(paths, path);
	}
	return paths;
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
