/*-------------------------------------------------------------------------
 *
 * program_codes.c
 *	  Columns whose values are codes of the dictionary, in a program that is being built.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/genam.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"

#include "exec/compile/program_codes.h"
#include "exec/compile/program_words.h"
#include "exec/shell/index_columns.h"
#include "index/dictionary.h"
#include "page/page.h"
#include "program/program_steps.h"

/*
 * To evaluate a condition for a value of the dictionary, beside core's price of the condition, and
 * to pass by a value of another column; in units of cpu_operator_cost.  Measured with LIKE over
 * 200,000 values of 30 bytes: 60 ns of CPU time each, where core's index-only scan took 130 ns for
 * a row and its price is 13 such units.
 */
#define GPB_CODE_COST		4.0
#define GPB_OTHER_CODE_COST 0.1

/* To compare two values by a collation, in the same units */
#define GPB_COMPARE_COST	4.0

/* ---- columns ---- */

/* The number of the slot of a code's column; -1 if the Var is none */
static int
var_slot(const GpbProgramBuilder *builder, const Var *var)
{
	if (!IsA(var, Var) || var->varno != builder->index->rel->relid || var->varlevelsup != 0 ||
		var->varattno <= 0 || !gpb_type_has_dictionary(var->vartype))
		return -1;
	return gpb_index_column(builder->index, var->varattno);
}

bool
gpb_is_code_column(GpbProgramBuilder *builder, Expr *expression, int *slot)
{
	while (IsA(expression, RelabelType))
		expression = ((RelabelType *) expression)->arg;
	*slot = var_slot(builder, (Var *) expression);
	return *slot >= 0;
}

/* Is the column seen as character, and may it end in blanks that do not count? */
static bool
has_idle_blanks(Expr *expression, const Var *var)
{
	int32		typmod = var->vartypmod;
	Oid			type = getBaseTypeAndTypmod(var->vartype, &typmod);

	return getBaseType(exprType((Node *) expression)) == BPCHAROID &&
		(type != BPCHAROID || typmod < 0);
}

bool
gpb_slot_has_code(const GpbProgramBuilder *builder, int slot)
{
	IndexOptInfo *index = builder->index;
	TargetEntry *entry;

	if (slot > index->ncolumns - index->nkeycolumns)
		return false;
	entry = list_nth_node(TargetEntry, index->indextlist, gpb_column_position(index, slot));
	return gpb_type_has_dictionary(exprType((Node *) entry->expr));
}

/*
 * Is the column in this slot known to have a value that the index has not?  Then a program of its
 * codes would give up.  If values come later gpb_program_bind() finds them.
 */
static bool
is_elsewhere(GpbProgramBuilder *builder, int slot)
{
	if (builder->allows_elsewhere)
		return false;
	if (!builder->asked_elsewhere)
	{
		/* The planner holds a lock already. */
		Relation	index = index_open(builder->index->indexoid, NoLock);
		GpbLayout	layout = *gpb_layout(index);

		builder->elsewhere = gpb_dictionary_planned_elsewhere(index, &layout);
		builder->asked_elsewhere = true;
		index_close(index, NoLock);
	}
	return (builder->elsewhere >> (slot - 1) & 1) != 0;
}

void
gpb_builder_allow_elsewhere(GpbProgramBuilder *builder)
{
	builder->allows_elsewhere = true;
}

/* The slot that a program has for a column's codes, or GPB_REFUSED */
static int
readable_slot(GpbProgramBuilder *builder, int slot)
{
	return is_elsewhere(builder, slot) ? gpb_refuse(builder, "values that are not in the index") :
		slot;
}

int
gpb_code_slot(GpbProgramBuilder *builder, Expr *expression, Oid *type)
{
	Oid			collation = exprCollation((Node *) expression);
	Expr	   *column = expression;
	int			slot;

	if (!gpb_is_code_column(builder, expression, &slot))
		return GPB_REFUSED;
	/* A type of somebody else's making, as citext is, has an equality of its own. */
	if (!gpb_type_has_dictionary(exprType((Node *) expression)))
		return gpb_refuse(builder, "type %s", format_type_be(exprType((Node *) expression)));
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		return gpb_refuse(builder, "a collation that is not deterministic");
	while (IsA(column, RelabelType))
		column = ((RelabelType *) column)->arg;
	if (has_idle_blanks(expression, (Var *) column))
		return gpb_refuse(builder, "character without a length");
	*type = gpb_code_type(slot - 1);
	return readable_slot(builder, slot);
}

/* ---- conditions ---- */

/* A function that is not core's: it might tell what it sees */
static bool
is_foreign(Oid function, void *argument)
{
	return function >= FirstNormalObjectId;
}

/* Is there anything that cannot be evaluated for a code alone, a column of another type, too? */
static bool
unfit_walker(Node *node, void *builder)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			return var_slot(builder, (Var *) node) < 0;
		case T_List:
		case T_Const:
		case T_Param:
		case T_RelabelType:
		case T_CollateExpr:
		case T_FuncExpr:
		case T_OpExpr:
		case T_ScalarArrayOpExpr:
		case T_ArrayExpr:
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, is_foreign, NULL) ||
		expression_tree_walker(node, unfit_walker, builder);
}

/* The column that is the only one of the condition; NULL if there is none such */
static Var *
only_code_column(GpbProgramBuilder *builder, Expr *condition)
{
	Var		   *only = NULL;
	ListCell   *lc;

	if (unfit_walker((Node *) condition, builder))
		return NULL;
	foreach(lc, pull_var_clause((Node *) condition, 0))
	{
		Var		   *var = lfirst_node(Var, lc);

		if (only != NULL && only->varattno != var->varattno)
			return NULL;
		only = var;
	}
	return only;
}

/* expression_tree_mutator: put what stands for the value at hand in the place of the column. */
static Node *
value_mutator(Node *node, void *context)
{
	if (node != NULL && IsA(node, Var))
	{
		CaseTestExpr *value = makeNode(CaseTestExpr);

		value->typeId = ((Var *) node)->vartype;
		value->typeMod = ((Var *) node)->vartypmod;
		value->collation = ((Var *) node)->varcollid;
		return (Node *) value;
	}
	return expression_tree_mutator(node, value_mutator, context);
}

/* The planner's estimate of the values that a column has in all rows of the table */
static double
estimated_values(const GpbProgramBuilder *builder, Var *column)
{
	VariableStatData statistics;
	bool		is_default;
	double		values;

	examine_variable(builder->root, (Node *) column, 0, &statistics);
	values = get_variable_numdistinct(&statistics, &is_default);
	ReleaseVariableStats(statistics);
	return values;
}

/* The planner's estimate of the codes that the dictionary has, of all columns */
static double
estimated_codes(const GpbProgramBuilder *builder)
{
	IndexOptInfo *index = builder->index;
	double		codes = 0;
	ListCell   *lc;

	foreach(lc, index->indextlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (IsA(entry->expr, Var) && var_slot(builder, (Var *) entry->expr) >= 0)
			codes += estimated_values(builder, (Var *) entry->expr);
	}
	return codes;
}

/* The planner's estimate of the values that the INCLUDE column in this slot has */
static double
estimated_column_values(const GpbProgramBuilder *builder, int slot)
{
	TargetEntry *entry = list_nth_node(TargetEntry, builder->index->indextlist,
									   gpb_column_position(builder->index, slot));

	return estimated_values(builder, (Var *) entry->expr);
}

/* The price of evaluating a condition on the INCLUDE column in this slot for each of its values */
static Cost
condition_cost(const GpbProgramBuilder *builder, int slot, Expr *condition)
{
	double		values = estimated_column_values(builder, slot);
	QualCost	each;

	cost_qual_eval_node(&each, (Node *) condition, builder->root);
	return each.startup + values * each.per_tuple +
		(values * GPB_CODE_COST + estimated_codes(builder) * GPB_OTHER_CODE_COST) *
		cpu_operator_cost;
}

/* The price of sorting the values of the INCLUDE column in this slot */
static Cost
order_cost(const GpbProgramBuilder *builder, int slot)
{
	double		values = estimated_column_values(builder, slot);

	return (values * (log2(Max(values, 2.0)) * GPB_COMPARE_COST + GPB_CODE_COST) +
			estimated_codes(builder) * GPB_OTHER_CODE_COST) * cpu_operator_cost;
}

Cost
gpb_builder_begin_cost(const GpbProgramBuilder *builder)
{
	Cost		cost = 0.0;
	ListCell   *value;
	ListCell   *type;

	forboth(value, builder->constants, type, builder->constant_types)
	{
		int			slot = gpb_column_of_code_type(lfirst_oid(type)) + 1;

		if (gpb_is_ranks_type(lfirst_oid(type)))
			cost += order_cost(builder, slot);
		else if (gpb_is_codes_type(lfirst_oid(type)) && gpb_code_equal_to(lfirst(value)) == NULL)
			cost += condition_cost(builder, slot, lfirst(value));
	}
	return cost;
}

int
gpb_condition_on_code(GpbProgramBuilder *builder, Expr *condition)
{
	Var		   *column;
	int			slot;

	if (exprType((Node *) condition) != BOOLOID)
		return GPB_REFUSED;
	column = only_code_column(builder, condition);
	if (column == NULL || contain_nonstrict_functions((Node *) condition) ||
		contain_mutable_functions((Node *) condition))
		return GPB_REFUSED;
	/* A subquery is evaluated when core asks for it. */
	if (builder->guard != GPB_NO_SLOT && gpb_executor_params((Node *) condition) != NULL)
		return gpb_refuse(builder, "a subquery that must not be evaluated before the first row");
	slot = readable_slot(builder, var_slot(builder, column));
	return slot == GPB_REFUSED ? GPB_REFUSED :
		gpb_slot_in_codes(builder, slot, (Expr *) value_mutator((Node *) condition, NULL));
}

/* ---- min() and max() ---- */

bool
gpb_find_code_extreme(Oid aggregate, bool *least, Oid *compare)
{
	switch (aggregate)
	{
		case F_MIN_TEXT:
		case F_MAX_TEXT:
			*compare = F_BTTEXTCMP;
			break;
		case F_MIN_BPCHAR:
		case F_MAX_BPCHAR:
			*compare = F_BPCHARCMP;
			break;
		default:
			return false;
	}
	*least = aggregate == F_MIN_TEXT || aggregate == F_MIN_BPCHAR;
	return true;
}

/* About how many words the tables of all orders of the program take */
static double
estimated_words(const GpbProgramBuilder *builder)
{
	double		words = 0.0;
	ListCell   *lc;

	foreach(lc, builder->constant_types)
	{
		if (gpb_is_ranks_type(lfirst_oid(lc)))
		{
			int			slot = gpb_column_of_code_type(lfirst_oid(lc)) + 1;
			int			bits = gpb_rank_bits(estimated_column_values(builder, slot));

			words += 1.0 + ceil(estimated_codes(builder) / (64 / bits));
		}
	}
	return words;
}

/* The comparison travels as a constant of its own collation. */
int
gpb_ranked_code_slot(GpbProgramBuilder *builder, Expr *expression, Oid compare, Oid collation,
					 Oid *type)
{
	int			slot;
	int			ranked;

	if (!OidIsValid(collation) || !gpb_is_code_column(builder, expression, &slot))
		return gpb_refuse(builder, "the order of what is no column of the index");
	if (gpb_code_slot(builder, expression, type) == GPB_REFUSED)
		return GPB_REFUSED;
	*type = GPB_RANKED_TYPE(slot - 1);
	ranked = gpb_slot_ranked(builder, slot,
							 (Expr *) makeConst(OIDOID, -1, collation, sizeof(Oid),
												ObjectIdGetDatum(compare), false, true));
	if (estimated_words(builder) > GPB_MAX_MORE_WORDS)
		return gpb_refuse(builder, "the order of more values than tables have room for");
	return ranked;
}
