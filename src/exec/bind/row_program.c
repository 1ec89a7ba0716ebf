/*-------------------------------------------------------------------------
 *
 * row_program.c
 *	  What is done with the entries in each row's range, where that takes a program.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/index.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "exec/bind/row_program.h"
#include "exec/compile/program_match.h"

/* ---- planning ---- */

const char *
gpb_match_row_program(PlannerInfo *root, IndexOptInfo *index, List *filters, List *aggrefs,
					  GpbRowProgram *program, GpbAggregateItem **items)
{
	GpbEntriesQuery query = {.filters = filters, .aggrefs = aggrefs};
	GpbEntriesMatch match;
	const char *refusal = gpb_match_entries(root, index, &query, &match);

	memset(program, 0, sizeof(*program));
	*items = match.items;
	if (refusal != NULL || match.builder == NULL)
		return refusal;
	gpb_match_entries_end(&match);
	program->aggrefs = aggrefs;
	program->filters = match.filters;
	program->plan = *match.program;
	program->present = match.has_program;
	program->may_give_up = match.may_give_up;
	program->is_uncertain = match.is_uncertain;
	program->entry_cost = gpb_builder_cost(match.builder, 1.0, 1.0);
	program->begin_cost = gpb_builder_begin_cost(match.builder);
	return NULL;
}

bool
gpb_row_program_is_certain(const GpbRowProgram *program)
{
	ListCell   *lc;

	if (!program->present)
		return true;
	foreach(lc, program->plan.constants)
	{
		if (lfirst(lc) == NULL || !IsA(lfirst(lc), Const))
			return false;
	}
	return !program->is_uncertain;
}

bool
gpb_row_program_has_ranks(const GpbRowProgram *program)
{
	int			i;

	for (i = 0; program->present && i < list_length(program->plan.constants); i++)
	{
		if (program->plan.constant_type[i].class == GPB_TABLE_RANKS)
			return true;
	}
	return false;
}

/* ---- what travels in the plan ---- */

/*
 * expression_tree_mutator: have Vars, all of one table, refer to a range table of that alone.  A
 * parameter of the plan is shown as one of the query, $N: since 17 ruleutils.c looks for the
 * subplan that sets it, in a plan, which there is not yet.
 */
static Node *
only_table_mutator(Node *node, void *context)
{
	if (node != NULL && IsA(node, Var))
	{
		Var		   *var = copyObject((Var *) node);

		var->varno = 1;
		var->varnosyn = 0;
		return (Node *) var;
	}
	if (node != NULL && IsA(node, Param))
	{
		Param	   *param = copyObject((Param *) node);

		param->paramkind = PARAM_EXTERN;
		return (Node *) param;
	}
	return expression_tree_mutator(node, only_table_mutator, context);
}

/* An expression over the table of an index as text; no other table is in it. */
static char *
expression_text(Node *expression, Oid index, const char *alias)
{
	Oid			table = IndexGetRelation(index, false);

	if (alias == NULL)
		alias = get_rel_name(table);
	return deparse_expression(only_table_mutator(expression, NULL),
							  deparse_context_for(alias, table), false, false);
}

static bool
add_function(Oid function, void *functions)
{
	*(List **) functions = list_append_unique_oid(*(List **) functions, function);
	return false;
}

/* expression_tree_walker: collect the OIDs of functions, but not of aggregates. */
static bool
functions_walker(Node *node, void *functions)
{
	if (node == NULL)
		return false;
	if (!IsA(node, Aggref))
		(void) check_functions_in_node(node, add_function, functions);
	return expression_tree_walker(node, functions_walker, functions);
}

static void
put_oids(List **private, List *oids)
{
	ListCell   *lc;

	gpb_put_int(private, list_length(oids));
	foreach(lc, oids)
		gpb_put_oid(private, lfirst_oid(lc));
}

void
gpb_put_row_program(List **private, const GpbRowProgram *program, Oid index, const char *alias)
{
	List	   *functions = NIL;
	ListCell   *lc;

	gpb_put_int(private, program->present);
	if (!program->present)
		return;
	gpb_put_int(private, program->may_give_up);
	gpb_program_put(private, &program->plan);
	gpb_put_text(private, program->filters == NIL ? NULL :
				 expression_text((Node *) make_ands_explicit(program->filters), index, alias));
	gpb_put_int(private, list_length(program->aggrefs));
	foreach(lc, program->aggrefs)
		gpb_put_text(private, expression_text(lfirst(lc), index, alias));
	(void) functions_walker((Node *) program->filters, &functions);
	(void) functions_walker((Node *) program->aggrefs, &functions);
	put_oids(private, functions);
}

void
gpb_get_row_program(GpbPrivateReader *reader, GpbRowProgram *program)
{
	int			n;

	memset(program, 0, sizeof(*program));
	program->present = gpb_get_int(reader) != 0;
	if (!program->present)
		return;
	program->may_give_up = gpb_get_int(reader) != 0;
	gpb_program_get(reader, NIL, &program->plan);
	program->filter = gpb_get_text(reader);
	for (n = gpb_get_int(reader); n > 0; n--)
		program->item_texts = lappend(program->item_texts,
									  makeString(pstrdup(gpb_get_text(reader))));
	for (n = gpb_get_int(reader); n > 0; n--)
		program->functions = lappend_oid(program->functions, gpb_get_oid(reader));
}

/* ---- execution ---- */

void
gpb_require_row_program(const GpbRowProgram *program)
{
	ListCell   *lc;

	foreach(lc, program->functions)
		gpb_require_function(lfirst_oid(lc));
}
