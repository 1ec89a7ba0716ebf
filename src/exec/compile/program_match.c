/*-------------------------------------------------------------------------
 *
 * program_match.c
 *	  Which parts of a query of one table go into a program, and why not.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "exec/compile/program_codes.h"
#include "exec/compile/program_match.h"
#include "exec/compile/program_words.h"
#include "exec/shell/clause_order.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/never_null.h"

/* ---- columns ---- */

const char *
gpb_match_columns(PlannerInfo *root, IndexOptInfo *index, List *expressions)
{
	Oid			table = planner_rt_fetch(index->rel->relid, root)->relid;
	List	   *needed = NIL;
	ListCell   *lc;

	foreach(lc, expressions)
	{
		Aggref	   *aggref = lfirst(lc);

		/* counting rows takes no column but those of FILTER */
		if (IsA(aggref, Aggref) && gpb_counts_rows(root, index, aggref))
			needed = lappend(needed, aggref->aggfilter);
		else
			needed = lappend(needed, aggref);
	}
	needed = pull_var_clause((Node *) needed,
							 PVC_RECURSE_AGGREGATES | PVC_INCLUDE_PLACEHOLDERS);
	foreach(lc, needed)
	{
		Var		   *var = (Var *) lfirst(lc);

		if (IsA(var, Var) && var->varno != index->rel->relid)
			return "an aggregate or a condition needs columns of several tables";
	}
	foreach(lc, needed)
	{
		Var		   *var = (Var *) lfirst(lc);

		if (!IsA(var, Var) || var->varattno <= 0)
			return "it needs what is no column of the table";
		if (gpb_index_column(index, var->varattno) < 0)
			return psprintf("the index lacks column \"%s\"",
							get_attname(table, var->varattno, false));
	}
	return NULL;
}

/* ---- the program ---- */

/* The builder's reason, or one if it has none */
static const char *
builder_refusal(const GpbProgramBuilder *builder)
{
	const char *refusal = gpb_builder_refusal(builder);

	return refusal != NULL ? pstrdup(refusal) : "the program cannot say it";
}

/* May the program test this restriction ahead of whatever else is done with the row? */
static const char *
check_filter(PlannerInfo *root, RelOptInfo *rel, RestrictInfo *rinfo)
{
	if (rinfo->pseudoconstant)
		return "a condition has no column";
	if (!restriction_is_securely_promotable(rinfo, rel))
		return "a condition must not see rows before a security policy does";
	/* asked of the RestrictInfo, core remembers the answer there */
	if (contain_volatile_functions((Node *) rinfo))
		return "a condition has a volatile function";
	if (gpb_has_subplan(root, (Node *) rinfo->clause))
		return "a condition has a subquery";
	return NULL;
}

/*
 * Add the restrictions, RestrictInfos, to the program's filters in the order in which core would
 * test them.  *filters has them in this order, as bare clauses.
 */
static const char *
match_filters(PlannerInfo *root, RelOptInfo *rel, GpbProgramBuilder *builder,
			  List *restrictions, List **filters)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		const char *refusal = check_filter(root, rel, lfirst_node(RestrictInfo, lc));

		if (refusal != NULL)
			return refusal;
	}
	*filters = gpb_order_clauses(root, restrictions);
	foreach(lc, *filters)
	{
		if (!gpb_build_filter(builder, lfirst(lc)))
			return builder_refusal(builder);
	}
	return NULL;
}

void
gpb_split_filters(PlannerInfo *root, RelOptInfo *rel, GpbProgramBuilder *builder,
				  List *restrictions, List **filters, List **others)
{
	List	   *candidates = NIL;
	ListCell   *lc;

	*filters = *others = NIL;
	foreach(lc, restrictions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (check_filter(root, rel, rinfo) == NULL)
			candidates = lappend(candidates, rinfo);
	}
	foreach(lc, gpb_order_clauses(root, candidates))
	{
		if (gpb_build_filter(builder, lfirst(lc)))
			*filters = lappend(*filters, lfirst(lc));
	}
	foreach(lc, restrictions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!list_member_ptr(*filters, rinfo->clause))
			*others = lappend(*others, rinfo);
	}
}

const char *
gpb_match_groups(GpbProgramBuilder *builder, List *groups, bool merges_floats,
				 GpbWordType **types)
{
	ListCell   *lc;

	*types = palloc(sizeof(GpbWordType) * list_length(groups));
	foreach(lc, groups)
	{
		if (!gpb_build_group(builder, lfirst(lc), merges_floats,
							 &(*types)[foreach_current_index(lc)]))
			return builder_refusal(builder);
	}
	return NULL;
}

/*
 * Add the Aggrefs to the program.  *items has an item for each, palloc'd; gpb_builder_end() may
 * change them.
 */
static const char *
match_items(GpbProgramBuilder *builder, List *aggrefs, GpbAggregateItem **items)
{
	ListCell   *lc;

	*items = palloc0(sizeof(GpbAggregateItem) * list_length(aggrefs));
	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);

		if (contain_volatile_functions((Node *) aggref) ||
			gpb_has_subplan(builder->root, (Node *) aggref))
			return "an aggregate has a volatile function or a subquery";
		if (!gpb_build_aggref(builder, aggref, &(*items)[foreach_current_index(lc)]))
			return builder_refusal(builder);
	}
	return NULL;
}

/* May gpb_program_bind() find no room for what a table is filled from? */
static bool
tables_may_be_long(const GpbProgramPlan *plan)
{
	int			orders = 0;
	ListCell   *lc;

	foreach(lc, plan->constants)
	{
		int			class = plan->constant_type[foreach_current_index(lc)].class;

		orders += class == GPB_TABLE_RANKS;
		if (class == GPB_TABLE_ZONE || class == GPB_TABLE_CODES ||
			(class == GPB_TABLE_ARRAY && !IsA(lfirst(lc), Const)))
			return true;
	}
	return orders > GPB_CERTAIN_ORDERS;
}

/* Does the program read codes?  Their values may be elsewhere. */
static bool
reads_codes(const GpbProgramBuilder *builder, const GpbProgram *program)
{
	uint32		columns = gpb_program_columns(program);

	for (int c = 0; columns >> c != 0; c++)
	{
		if ((columns >> c & 1) != 0 && gpb_slot_has_code(builder, c + 1))
			return true;
	}
	return false;
}

/* May the program have no answer for another reason than values that are elsewhere? */
static bool
is_uncertain(const GpbProgramBuilder *builder, const GpbProgramPlan *plan)
{
	return plan->program.ngroups > 0 || gpb_builder_can_fault(builder) ||
		gpb_may_fail((Node *) plan->constants) || tables_may_be_long(plan);
}

bool
gpb_program_may_give_up(const GpbProgramBuilder *builder, const GpbProgramPlan *plan)
{
	return is_uncertain(builder, plan) || reads_codes(builder, &plan->program);
}

/* ---- a query's parts ---- */

const char *
gpb_match_entries(PlannerInfo *root, IndexOptInfo *index, const GpbEntriesQuery *query,
				  GpbEntriesMatch *match)
{
	List	   *needed;
	const char *refusal;
	ListCell   *lc;

	memset(match, 0, sizeof(*match));
	if (!query->portable && query->filters == NIL && query->groups == NIL && query->others == NIL &&
		gpb_match_batch_aggrefs(index, query->aggrefs, &match->items))
		return NULL;
	needed = list_concat(list_concat_copy(query->groups, query->aggrefs), query->others);
	foreach(lc, query->filters)
		needed = lappend(needed, lfirst_node(RestrictInfo, lc)->clause);
	refusal = gpb_match_columns(root, index, needed);
	if (refusal != NULL)
		return refusal;
	match->builder = gpb_builder_begin(root, index);
	if (query->portable)
		gpb_builder_be_portable(match->builder);
	refusal = match_filters(root, index->rel, match->builder, query->filters, &match->filters);
	if (refusal == NULL)
		refusal = gpb_match_groups(match->builder, query->groups, query->merges_floats,
								   &match->group_types);
	if (refusal == NULL)
		refusal = match_items(match->builder, query->aggrefs, &match->items);
	return refusal;
}

void
gpb_match_entries_end(GpbEntriesMatch *match)
{
	const GpbProgramBuilder *builder = match->builder;

	if (builder == NULL)
		return;
	match->program = gpb_builder_end(match->builder);
	match->has_program = !gpb_program_is_plain(&match->program->program);
	match->is_uncertain = is_uncertain(builder, match->program);
	match->may_give_up = match->is_uncertain || reads_codes(builder, &match->program->program);
}
