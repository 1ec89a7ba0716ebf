/*-------------------------------------------------------------------------
 *
 * range_aggregate_plan.c
 *	  Planning of joins with one table that are grouped by the other side.
 *
 *	  SELECT b.id, count(*), sum(t.v) FROM bins b JOIN t ON t.k >= b.lo AND t.k < b.hi GROUP BY b.id
 *
 * needs no joined row, if an index has all that the query wants of the table: what each outer row's
 * range holds is one answer of a batch, and those of a group are added up.  The outer rows come
 * sorted by the group columns, unless these are unique, so that each row is a group of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "exec/answer/ordinary.h"
#include "exec/compile/program_words.h"
#include "exec/range/range_aggregate.h"
#include "exec/shell/expressions.h"
#include "exec/shell/join_sides.h"
#include "exec/shell/never_null.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/condition_match.h"
#include "index/index_clauses.h"

static Plan *plan_range_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
								  List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods range_aggregate_path_methods = {
	.CustomName = "GpubtreeRangeAggregate",
	.PlanCustomPath = plan_range_aggregate
};

/* One way to answer the query: a table to be joined last, and an index of it */
typedef struct GpbRangeCandidate
{
	RelOptInfo *joinrel;
	RelOptInfo *grouped_rel;
	RelOptInfo *outerrel;
	RelOptInfo *innerrel;
	List	   *leaves;			/* of it, if they are several; else NIL */
	RelOptInfo *table;			/* the inner relation, its only leaf, or a model of its leaves */
	Relids		relids;			/* of the join, the table's included */
	GpbRangeColumns columns;	/* by which indexes are refused */
	bool		left;			/* a LEFT JOIN, with the table on the nullable side */
	List	   *clauses;		/* RestrictInfos that join the two, over the table's columns */
	List	   *groups;			/* expressions that are grouped by */
	List	   *having;			/* conditions on the groups */
	bool		unique;			/* no two outer rows are in one group */

	List	   *aggrefs;		/* as the query says them */
	List	   *meant;			/* and over the table's columns */

	/* found by match_range_index */
	GpbPartitionMatch *partitions;	/* NULL if one table is asked */
	double		entries;		/* in one outer row's range, before a program drops any */
	Path	   *ordinary;		/* NULL unless the program may have no answer */
	GpbRangeAggregatePlan plan; /* group columns: their places are not known yet */
} GpbRangeCandidate;

typedef struct GpbRangePath
{
	CustomPath	path;
	List	   *aggrefs;		/* of the items */
	List	   *groups;			/* expressions of the plan's group columns */
	List	   *having;			/* conditions on the groups */
	const GpbRangeAggregatePlan *plan;
} GpbRangePath;

/* ---- is the query of our kind? ---- */

/*
 * A query of groups, or of aggregates over all rows, without what core computes along with these,
 * or before them.
 */
static bool
query_is_grouped(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	if (parse->groupClause == NIL && (!parse->hasAggs || !gpb_enable_joinaggregate))
		return false;
	return parse->commandType == CMD_SELECT && parse->groupingSets == NIL &&
		!parse->hasTargetSRFs && !root->hasPseudoConstantQuals &&
		(grouping_is_sortable(parse->groupClause) || grouping_is_hashable(parse->groupClause)) &&
		gpb_query_allows_nodes(root);
}

/* Does the expression need nothing but the outer side? */
static bool
is_outer_expression(PlannerInfo *root, const GpbRangeCandidate *candidate, Node *expression)
{
	return bms_is_subset(pull_varnos(root, expression), candidate->outerrel->relids);
}

/*
 * Collect the distinct aggregates of what the grouping computes and of HAVING, if there are any;
 * false if these need anything else that is not of the outer side.
 */
static bool
collect_group_aggrefs(PlannerInfo *root, GpbRangeCandidate *candidate)
{
	List	   *needed = list_concat_copy(candidate->grouped_rel->reltarget->exprs,
										  candidate->having);
	ListCell   *lc;

	candidate->aggrefs = NIL;
	foreach(lc, pull_var_clause((Node *) needed,
								PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_PLACEHOLDERS))
	{
		Node	   *node = lfirst(lc);

		if (IsA(node, Aggref))
			candidate->aggrefs = gpb_append_aggref(candidate->aggrefs, (Aggref *) node);
		else if ((!IsA(node, Var) && !IsA(node, PlaceHolderVar)) ||
				 !is_outer_expression(root, candidate, node))
			return false;
	}
	return true;
}

/* Collect the expressions that the query groups by, all of the outer side, and their operators. */
static bool
collect_groups(PlannerInfo *root, GpbRangeCandidate *candidate)
{
	GpbRangeAggregatePlan *plan = &candidate->plan;
	int			n = list_length(root->parse->groupClause);
	ListCell   *lc;

	plan->group_operator = palloc(sizeof(Oid) * n);
	plan->group_collation = palloc(sizeof(Oid) * n);
	foreach(lc, root->parse->groupClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expression = get_sortgroupclause_expr(clause, root->processed_tlist);

		if (!is_outer_expression(root, candidate, expression) ||
			contain_volatile_functions(expression) || contain_subplans(expression))
			return false;
		plan->group_operator[plan->ngroup] = clause->eqop;
		plan->group_collation[plan->ngroup] = exprCollation(expression);
		plan->ngroup++;
		candidate->groups = lappend(candidate->groups, expression);
	}
	return true;
}

/* ---- are the groups unique? ---- */

/* Is there a group for each value, by the index's operator, of this column of it? */
static bool
column_is_grouped(const GpbRangeCandidate *candidate, const IndexOptInfo *index, int column)
{
	const GpbRangeAggregatePlan *plan = &candidate->plan;
	ListCell   *lc;

	foreach(lc, candidate->groups)
	{
		Var		   *var = (Var *) lfirst(lc);
		int			i = foreach_current_index(lc);

		if (IsA(var, Var) && var->varno == index->rel->relid &&
			var->varattno == index->indexkeys[column] &&
			plan->group_collation[i] == index->indexcollations[column] &&
			get_op_opfamily_strategy(plan->group_operator[i], gpb_own_family(index, column)) ==
			BTEqualStrategyNumber)
			return true;
	}
	return false;
}

/*
 * Is the outer side one table, with a unique index all of whose columns are grouped by?  NULLs make
 * one group, but are many rows to a unique index; so no column may be NULL.
 */
static bool
groups_are_unique(PlannerInfo *root, const GpbRangeCandidate *candidate)
{
	RelOptInfo *rel = candidate->outerrel;
	ListCell   *lc;

	if (rel->reloptkind != RELOPT_BASEREL || rel->rtekind != RTE_RELATION ||
		planner_rt_fetch(rel->relid, root)->inh)
		return false;
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		Oid			table = planner_rt_fetch(rel->relid, root)->relid;
		bool		unique = index->unique && index->immediate &&
			(index->indpred == NIL || index->predOK);
		int			c;

		for (c = 0; unique && c < index->nkeycolumns; c++)
			unique = column_is_grouped(candidate, index, c) &&
				gpb_column_is_not_null(table, index->indexkeys[c]);
		if (unique)
			return true;
	}
	return false;
}

/* ---- does an index answer it? ---- */

/* Add a condition, and its value, to the candidate's. */
static void
add_condition(GpbRangeCandidate *candidate, const GpbRangeCondition *condition, Expr *value)
{
	GpbRowRange *range = &candidate->plan.range;

	range->conditions[range->nconditions++] = *condition;
	candidate->plan.values = lappend(candidate->plan.values, value);
}

/*
 * Turn n clauses into conditions of the candidate's plan, on key columns up to "last".  Those on
 * the table alone that are none are added to *filters, all others to *ranges.  Returns NULL, or why
 * not: a clause that joins is no condition on the key, or one might tell what it saw ahead of a
 * row-level security policy, or belongs above the outer join.
 */
static const char *
add_clauses(GpbRangeCandidate *candidate, IndexOptInfo *index, int last,
			const GpbRangeClause *clauses, int n, bool joining, List **ranges, List **filters)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		RestrictInfo *rinfo = clauses[i].rinfo;

		if (rinfo->pseudoconstant)
			return "a condition has no column";
		if (!restriction_is_securely_promotable(rinfo, candidate->table))
			return "a condition must not see rows before a security policy does";
		if (joining && candidate->left &&
			RINFO_IS_PUSHED_DOWN(rinfo, candidate->relids))
			return "a condition is tested after the outer join";
		if (!joining && gpb_is_key_not_null(index, rinfo->clause))
			continue;
		if (clauses[i].condition.column <= last)
		{
			add_condition(candidate, &clauses[i].condition, clauses[i].value);
			*ranges = lappend(*ranges, rinfo);
		}
		else if (joining)
			return "a condition that joins is not one on the index's key";
		else
			*filters = lappend(*filters, rinfo);
	}
	return NULL;
}

/*
 * Does the aggregate leave the row of NULLs, which an outer join makes for the table, out of
 * account?  count(*) does not, but the node knows how to count such rows.
 */
static bool
aggref_ignores_nulls(const Aggref *aggref, Index relid)
{
	Node	   *argument;

	if (aggref->aggfilter != NULL &&
		bms_is_member(relid, find_nonnullable_rels((Node *) aggref->aggfilter)))
		return true;
	if (aggref->args == NIL)
		return aggref->aggfilter == NULL;
	argument = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	if (IsA(argument, Const))
		return aggref->aggfnoid == F_COUNT_ANY && aggref->aggfilter == NULL;
	return contain_var_clause(argument) && !contain_nonstrict_functions(argument);
}

/* Match the table's other conditions, and the aggregates; NULL, or why not. */
static const char *
match_entries(PlannerInfo *root, GpbRangeCandidate *candidate, IndexOptInfo *index,
			  List *filters)
{
	GpbRowRange *range = &candidate->plan.range;
	const char *refusal;
	ListCell   *lc;

	range->nitems = list_length(candidate->meant);
	refusal = gpb_match_row_program(root, index, filters, candidate->meant, &range->program,
									&range->items);
	if (refusal != NULL || !candidate->left)
		return refusal;
	foreach(lc, candidate->meant)
	{
		if (!aggref_ignores_nulls(lfirst_node(Aggref, lc), candidate->table->relid))
			return "an aggregate may count the NULLs of an outer join";
	}
	return NULL;
}

/*
 * Find an index like this one in each of the leaves; NULL, or why not.  Ranks of codes are an
 * index's own.
 */
static const char *
match_leaves(PlannerInfo *root, GpbRangeCandidate *candidate, IndexOptInfo *index)
{
	if (gpb_row_program_has_ranks(&candidate->plan.range.program))
		return "the order of texts is another one in each partition";
	candidate->partitions = palloc(sizeof(GpbPartitionMatch));
	return gpb_match_partitions(root, candidate->innerrel, candidate->leaves, index,
								candidate->partitions);
}

/* How many entries an outer row's range has that some of the clauses make */
static double
range_entries(PlannerInfo *root, const GpbRangeCandidate *candidate, IndexOptInfo *index,
			  List *ranges)
{
	if (candidate->partitions != NULL)
		return candidate->partitions->whole->tuples *
			gpb_partitions_selectivity(root, candidate->partitions, ranges, JOIN_INNER, NULL);
	return index->tuples *
		clauselist_selectivity(root, ranges, candidate->table->relid, JOIN_INNER, NULL);
}

/* Find the ordinary plan that takes over if the program has no answer; NULL, or why not. */
static const char *
find_ordinary(PlannerInfo *root, GpbRangeCandidate *candidate)
{
	candidate->ordinary = NULL;
	candidate->plan.has_ordinary = candidate->plan.range.program.may_give_up;
	if (!candidate->plan.has_ordinary)
		return NULL;
	candidate->ordinary = gpb_ordinary_path_beside(root, candidate->grouped_rel,
												   candidate->outerrel,
												   candidate->grouped_rel->reltarget);
	return candidate->ordinary != NULL ? NULL : "there is no ordinary plan that could take over";
}

/* Fill in the candidate for a usable index of its table; NULL, or why that has no answer. */
static const char *
match_range_index(PlannerInfo *root, GpbRangeCandidate *candidate, IndexOptInfo *index)
{
	GpbRowRange *range = &candidate->plan.range;
	List	   *ranges = NIL;
	List	   *filters = NIL;
	const char *refusal;
	GpbRangeClause *clauses;
	int			joining = list_length(candidate->clauses);
	int			restricting = list_length(index->indrestrictinfo);
	int			last;

	GPB_COUNT_MATCH();
	range->index = index->indexoid;
	range->nconditions = 0;
	range->conditions = palloc(sizeof(GpbRangeCondition) * (joining + restricting));
	candidate->plan.values = NIL;
	clauses = gpb_match_range_clauses(root, index, list_concat_copy(candidate->clauses,
																	 index->indrestrictinfo),
									  &last);
	refusal = add_clauses(candidate, index, last, clauses, joining, true, &ranges, &filters);
	if (refusal == NULL)
		refusal = add_clauses(candidate, index, last, clauses + joining, restricting, false,
							  &ranges, &filters);
	if (refusal == NULL)
		refusal = match_entries(root, candidate, index, filters);
	if (refusal == NULL && candidate->leaves != NIL)
		refusal = match_leaves(root, candidate, index);
	if (refusal == NULL)
		refusal = find_ordinary(root, candidate);
	if (refusal != NULL)
		return refusal;
	candidate->entries = range_entries(root, candidate, index, ranges);
	return NULL;
}

/* ---- paths ---- */

/* The outer path with the group expressions among its columns */
static Path *
add_group_columns(PlannerInfo *root, const GpbRangeCandidate *candidate, Path *outer)
{
	PathTarget *target = copy_pathtarget(outer->pathtarget);
	bool		added = false;
	ListCell   *lc;

	foreach(lc, candidate->groups)
	{
		Expr	   *expression = lfirst(lc);

		if (list_member(target->exprs, expression))
			continue;
		add_column_to_pathtarget(target, expression, 0);
		added = true;
	}
	if (!added)
		return outer;
	set_pathtarget_cost_width(root, target);
	return (Path *) create_projection_path(root, candidate->outerrel, outer, target);
}

/*
 * The order that is promised of what comes out, as far as anybody wants it: between paths of about
 * the same price one in any order wins, and an outer order is not for nothing.
 */
static List *
result_order(PlannerInfo *root, const GpbRangeCandidate *candidate, Path *outer)
{
	if (candidate->plan.gathered)
		return NIL;
	if (candidate->plan.ngroup > 0)
		return root->group_pathkeys;
	if (pathkeys_contained_in(root->sort_pathkeys, outer->pathkeys))
		return root->sort_pathkeys;
	return NIL;
}

/* The candidate's plan as a path has it */
static const GpbRangeAggregatePlan *
shared_plan(const GpbRangeCandidate *candidate)
{
	GpbRangeAggregatePlan *plan = memcpy(palloc(sizeof(*plan)), &candidate->plan, sizeof(*plan));

	if (candidate->partitions != NULL)
		plan->partitions = candidate->partitions->list;
	plan->partitions.has_append = candidate->partitions != NULL;
	return plan;
}

/* Offer the path over an outer path that is in the order that the node needs. */
static void
add_range_path(PlannerInfo *root, const GpbRangeCandidate *candidate, IndexOptInfo *index,
			   Path *outer, double rows)
{
	const GpbRangeAggregatePlan *plan = &candidate->plan;
	CustomPath *path = gpb_make_path(sizeof(GpbRangePath), &range_aggregate_path_methods,
									 candidate->joinrel, candidate->grouped_rel->reltarget);
	GpbRangePath *own = (GpbRangePath *) path;
	GpbOuterPrice price = gpb_range_aggregate_price(root, index, candidate->partitions, outer,
													&plan->range, candidate->entries, rows,
													path->path.pathtarget);
	QualCost	having;

	path->path.rows = rows;
	path->custom_paths = list_make1(outer);
	cost_qual_eval(&having, candidate->having, root);
	path->path.startup_cost = price.startup_cost + having.startup;
	path->path.total_cost = price.total_cost + having.startup + having.per_tuple * rows;
	path->path.pathkeys = result_order(root, candidate, outer);
	if (plan->gathered)
	{
		/* to find each row's group, as core has it for hashing */
		path->path.total_cost += cpu_operator_cost * plan->ngroup * outer->rows;
		path->path.startup_cost = path->path.total_cost;
	}
	if (candidate->ordinary != NULL)
		gpb_range_aggregate_beside(path, candidate->ordinary);
	if (candidate->partitions != NULL)
		path->custom_paths = lappend(path->custom_paths,
									 gpb_partitions_path(root, candidate->partitions));
	GPB_ADD_DISABLED(&path->path, outer);
	own->aggrefs = candidate->aggrefs;
	own->groups = plan->ngroup == 0 ? NIL : candidate->groups;
	own->having = candidate->having;
	own->plan = shared_plan(candidate);
	add_path(candidate->grouped_rel, (Path *) path);
}

/* Will so many groups, gathered, fit into memory? */
static bool
groups_fit(const GpbRangeCandidate *candidate, const Path *outer, double groups)
{
	const GpbRowRange *range = &candidate->plan.range;
	GpbAnswerFormat format;
	GpbProgram	program = range->program.plan.program;

	/* without a program an answer is no wider than with a term for each item */
	if (!range->program.present)
	{
		int			i;

		for (i = 0; i < range->nitems && i < GPB_MAX_TERMS; i++)
			program.term[program.nterms++] = (GpbTerm) {
			0, gpb_word_is_float(range->items[i].type.sql) ? GPB_KIND_FLOAT8 : GPB_KIND_INT8,
			gpb_item_want(&range->items[i]), GPB_NO_SLOT, 0
		};
	}
	gpb_answer_format(&program, &format);
	return groups * (gpb_answer_width(&format) + outer->pathtarget->width +
					 sizeof(TupleHashEntryData) + MAXALIGN(SizeofMinimalTupleHeader)) <=
		get_hash_memory_limit();
}

/* Offer the paths whose groups are gathered from the cheapest outer path. */
static void
add_gathering_path(PlannerInfo *root, const GpbRangeCandidate *candidate, IndexOptInfo *index,
				   double rows)
{
	GpbRangeCandidate gathering = *candidate;
	Path	   *outer = candidate->outerrel->cheapest_total_path;

	if ((candidate->plan.ngroup > 0 && !enable_hashagg) ||
		!grouping_is_hashable(root->parse->groupClause) || !groups_fit(candidate, outer, rows))
		return;
	gathering.plan.gathered = true;
	if (candidate->plan.ngroup > 0)
		outer = add_group_columns(root, candidate, outer);
	add_range_path(root, &gathering, index, outer, rows);
}

/* Offer the paths over each outer path in the order of the groups, and over one that is sorted. */
static void
add_sorted_paths(PlannerInfo *root, const GpbRangeCandidate *candidate, IndexOptInfo *index,
				 double rows)
{
	RelOptInfo *outerrel = candidate->outerrel;
	bool		sorted = false;
	ListCell   *lc;

	foreach(lc, outerrel->pathlist)
	{
		Path	   *outer = lfirst(lc);

		if (!bms_is_empty(PATH_REQ_OUTER(outer)) ||
			(candidate->plan.ngroup > 0 &&
			 !pathkeys_contained_in(root->group_pathkeys, outer->pathkeys)))
			continue;
		sorted |= outer == outerrel->cheapest_total_path;
		if (candidate->plan.ngroup > 0)
			outer = add_group_columns(root, candidate, outer);
		add_range_path(root, candidate, index, outer, rows);
	}
	if (!sorted)
	{
		Path	   *outer = add_group_columns(root, candidate,
											  outerrel->cheapest_total_path);

		outer = (Path *) create_sort_path(root, outerrel, outer, root->group_pathkeys, -1.0);
		add_range_path(root, candidate, index, outer, rows);
	}
}

/* Does a key column equal a value of the outer row? */
static bool
has_equality(const GpbRangeCandidate *candidate)
{
	const GpbRangeAggregatePlan *plan = &candidate->plan;
	int			i;

	for (i = 0; i < plan->range.nconditions; i++)
	{
		if (plan->range.conditions[i].strategy == BTEqualStrategyNumber &&
			contain_var_clause(list_nth(plan->values, i)))
			return true;
	}
	return false;
}

/* Is it a program that GpubtreeJoinAggregate has, if the settings let it? */
static bool
is_join_program(const GpbRowProgram *program)
{
	return gpb_enable_batchjoin && gpb_enable_aggregate && program->filters == NIL &&
		gpb_row_program_is_certain(program);
}

/* Is it what GpubtreeJoinAggregate does with less? */
static bool
is_join_aggregate(const GpbRangeCandidate *candidate, const IndexOptInfo *index)
{
	const GpbRowRange *range = &candidate->plan.range;

	return candidate->groups == NIL && !candidate->left && candidate->having == NIL &&
		(!range->program.present || is_join_program(&range->program)) &&
		(index->nkeycolumns > 1 || range->nconditions == 1) &&
		has_equality(candidate);
}

/* Offer the paths for an index. */
static void
add_range_index_paths(PlannerInfo *root, const GpbRangeCandidate *candidate, IndexOptInfo *index)
{
	double		rows;

	if (is_join_aggregate(candidate, index))
		return;
	if (candidate->groups == NIL)
	{
		add_gathering_path(root, candidate, index, 1.0);
		return;
	}
	rows = estimate_num_groups(root, candidate->groups, candidate->outerrel->rows, NULL, NULL);
	if (grouping_is_sortable(root->parse->groupClause))
		add_sorted_paths(root, candidate, index, rows);
	if (candidate->plan.ngroup > 0)
		add_gathering_path(root, candidate, index, rows);
}

/* The outer join whose nullable side is the table alone, or NULL */
static SpecialJoinInfo *
find_left_join(PlannerInfo *root, RelOptInfo *innerrel)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);

		if (sjinfo->jointype == JOIN_LEFT && bms_equal(sjinfo->syn_righthand, innerrel->relids))
			return sjinfo;
	}
	return NULL;
}

/* Say why no path of ours was made with an index, if anybody wants to know. */
static void
explain_refusal(const IndexOptInfo *index, const char *refusal)
{
	if (gpb_explain_decisions)
		ereport(NOTICE,
				(errmsg("GpubtreeRangeAggregate does not answer this join: index \"%s\": %s",
						get_rel_name(index->indexoid), refusal)));
}

/* Offer the paths in which one table is the inner one. */
static void
add_range_table(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *grouped_rel,
				RelOptInfo *innerrel, List *having)
{
	GpbRangeCandidate candidate = {0};
	SpecialJoinInfo *left = find_left_join(root, innerrel);
	RelOptInfo *table;
	ListCell   *lc;

	candidate.leaves = gpb_join_leaves(root, innerrel);
	table = candidate.leaves == NIL ? gpb_join_table(root, innerrel) :
		gpb_model_partition(root, candidate.leaves);
	if (table == NULL || !gpb_joined_last(root, innerrel, left))
		return;
	candidate.innerrel = innerrel;
	candidate.joinrel = joinrel;
	candidate.grouped_rel = grouped_rel;
	candidate.table = table;
	candidate.relids = bms_union(joinrel->relids, table->relids);
	candidate.outerrel = gpb_find_outer_side(root, joinrel, innerrel);
	candidate.left = left != NULL;
	candidate.having = having;
	if (candidate.outerrel == NULL || !collect_group_aggrefs(root, &candidate) ||
		!collect_groups(root, &candidate))
		return;
	candidate.clauses = gpb_join_clauses(root, joinrel, candidate.outerrel, innerrel, left);
	if (candidate.clauses == NIL)
		return;
	candidate.clauses = (List *) gpb_of_child(root, table, (Node *) candidate.clauses);
	candidate.meant = (List *) gpb_of_child(root, table, (Node *) candidate.aggrefs);
	gpb_collect_range_columns(root, table, candidate.clauses, candidate.meant,
							  &candidate.columns);
	candidate.plan.range.alias = planner_rt_fetch(innerrel->relid, root)->eref->aliasname;
	candidate.plan.keep_empty = candidate.left;
	candidate.plan.empty_count = candidate.left ? 1 : 0;
	if (candidate.groups != NIL && groups_are_unique(root, &candidate))
		candidate.plan.ngroup = 0;

	foreach(lc, table->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		const char *refusal;

		if (!gpb_index_is_usable(index) ||
			!(gpb_explain_decisions || gpb_may_have_ranges(index, &candidate.columns)))
			continue;
		refusal = match_range_index(root, &candidate, index);
		if (refusal != NULL)
			explain_refusal(index, refusal);
		else
			add_range_index_paths(root, &candidate, index);
	}
}

void
gpb_range_aggregate_add_paths(PlannerInfo *root, RelOptInfo *input_rel,
							  RelOptInfo *grouped_rel)
{
	int			relid = -1;
	Relids		tables;

	if (!gpb_enable_rangeaggregate || input_rel->reloptkind != RELOPT_JOINREL ||
		IS_DUMMY_REL(input_rel) || !query_is_grouped(root))
		return;
	tables = GPB_TABLES(root, input_rel->relids);
	while ((relid = bms_next_member(tables, relid)) >= 0)
	{
		RelOptInfo *innerrel = find_base_rel(root, relid);

		add_range_table(root, input_rel, grouped_rel, innerrel,
						(List *) root->parse->havingQual);
	}
}

/* ---- plan ---- */

/* PlanCustomPath: now the outer plan tells where the group columns are. */
static Plan *
plan_range_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					 List *tlist, List *clauses, List *custom_plans)
{
	GpbRangePath *own = (GpbRangePath *) path;
	GpbRangeAggregatePlan plan = *own->plan;
	Plan	   *outer = linitial(custom_plans);
	ListCell   *lc;

	plan.group = palloc(sizeof(AttrNumber) * plan.ngroup);
	foreach(lc, own->groups)
	{
		TargetEntry *column = tlist_member(lfirst(lc), outer->targetlist);

		if (column == NULL)
			elog(ERROR, "group column not found among those of the outer plan");
		plan.group[foreach_current_index(lc)] = column->resno;
	}
	return gpb_make_range_aggregate(path, tlist, own->having, outer,
									list_copy_tail(custom_plans, 1), own->aggrefs, &plan);
}
