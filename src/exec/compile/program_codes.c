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
#include "exec/price/price_constants.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "index/dictionary.h"
#include "page/base_type.h"
#include "page/page.h"
#include "program/program_steps.h"

/* ---- columns ---- */

int
gpb_code_column(const GpbProgramBuilder *builder, Expr *expression)
{
	int			slot = gpb_var_slot(builder, expression);

	return slot >= 0 && gpb_slot_coding(builder->index, slot) == GPB_CODING_DICTIONARY ? slot : -1;
}

/* Is the column seen as character, and may it end in blanks that do not count? */
static bool
has_idle_blanks(Expr *expression, const Var *var)
{
	int32		typmod = var->vartypmod;
	Oid			type = getBaseTypeAndTypmod(var->vartype, &typmod);

	return gpb_base_type(exprType((Node *) expression)) == BPCHAROID &&
		(type != BPCHAROID || typmod < 0);
}

bool
gpb_slot_has_code(const GpbProgramBuilder *builder, int slot)
{
	IndexOptInfo *index = builder->index;

	return slot <= index->ncolumns - index->nkeycolumns &&
		gpb_slot_coding(index, slot) == GPB_CODING_DICTIONARY;
}

/*
 * The INCLUDE columns of the index that are known to have values elsewhere, as bits; that of a
 * partitioned table has no values at all.
 */
static uint32
known_elsewhere(const IndexOptInfo *index)
{
	/* The planner holds a lock already. */
	Relation	relation = index_open(index->indexoid, NoLock);
	GpbLayout	layout = *gpb_layout(relation);
	uint32		elsewhere = relation->rd_rel->relkind == RELKIND_PARTITIONED_INDEX ? 0 :
		gpb_dictionary_planned_elsewhere(relation, &layout);

	index_close(relation, NoLock);
	return elsewhere;
}

uint32
gpb_program_code_columns(IndexOptInfo *index, const GpbProgram *program)
{
	uint32		columns = gpb_program_columns(program);
	uint32		codes = 0;

	for (int slot = 1; slot <= index->ncolumns - index->nkeycolumns; slot++)
	{
		if ((columns >> (slot - 1) & 1) != 0 &&
			gpb_slot_coding(index, slot) == GPB_CODING_DICTIONARY)
			codes |= (uint32) 1 << (slot - 1);
	}
	return codes;
}

bool
gpb_codes_are_here(const IndexOptInfo *index, uint32 columns)
{
	return (known_elsewhere(index) & columns) == 0;
}

/*
 * Has the index all values of the column in this slot, as far as is known?  If not it is refused,
 * since a program of its codes would give up.  If values come later gpb_program_bind() finds them.
 */
static bool
is_here(GpbProgramBuilder *builder, int slot)
{
	if (builder->allows_elsewhere)
		return true;
	if (!builder->asked_elsewhere)
	{
		builder->elsewhere = known_elsewhere(builder->index);
		builder->asked_elsewhere = true;
	}
	return (builder->elsewhere >> (slot - 1) & 1) == 0 ||
		gpb_cannot(builder, "values that are not in the index");
}

void
gpb_builder_allow_elsewhere(GpbProgramBuilder *builder)
{
	builder->allows_elsewhere = true;
}

bool
gpb_code_tells_apart(GpbProgramBuilder *builder, Expr *expression, int slot)
{
	Oid			type = exprType((Node *) expression);
	Oid			collation = exprCollation((Node *) expression);

	/* A type of somebody else's making, as citext is, has an equality of its own. */
	if (!gpb_type_has_dictionary(type))
		return gpb_cannot(builder, "type %s", format_type_be(type));
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		return gpb_cannot(builder, "a collation that is not deterministic");
	if (has_idle_blanks(expression, (Var *) gpb_without_labels(expression)))
		return gpb_cannot(builder, "character without a length");
	return is_here(builder, slot);
}

/* ---- what a condition is about ---- */

Expr *
gpb_code_equal_to(Expr *condition)
{
	OpExpr	   *op = (OpExpr *) condition;
	Expr	   *left;
	Expr	   *right;

	if (!IsA(op, OpExpr) || (op->opfuncid != F_TEXTEQ && op->opfuncid != F_BYTEAEQ) ||
		(op->opfuncid == F_TEXTEQ &&
		 (!OidIsValid(op->inputcollid) || !get_collation_isdeterministic(op->inputcollid))))
		return NULL;
	left = linitial(op->args);
	right = lsecond(op->args);
	if (IsA(gpb_without_labels(right), CaseTestExpr))
	{
		right = linitial(op->args);
		left = lsecond(op->args);
	}
	if (!IsA(gpb_without_labels(left), CaseTestExpr) ||
		!(IsA(gpb_without_labels(right), Const) || IsA(gpb_without_labels(right), Param)))
		return NULL;
	return right;
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
			return gpb_code_column(builder, (Expr *) node) < 0;
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

		if (gpb_code_column(builder, entry->expr) >= 0)
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

	return (values * (log2(Max(values, 2.0)) * GPB_COLLATE_COST + GPB_CODE_COST) +
			estimated_codes(builder) * GPB_OTHER_CODE_COST) * cpu_operator_cost;
}

Cost
gpb_builder_begin_cost(const GpbProgramBuilder *builder)
{
	Cost		cost = 0.0;
	ListCell   *lc;

	foreach(lc, builder->constants)
	{
		GpbWordType type = builder->constant_type[foreach_current_index(lc)];

		if (type.class == GPB_TABLE_RANKS)
			cost += order_cost(builder, type.column + 1);
		else if (type.class == GPB_TABLE_CODES && gpb_code_equal_to(lfirst(lc)) == NULL)
			cost += condition_cost(builder, type.column + 1, lfirst(lc));
	}
	return cost;
}

int
gpb_condition_on_code(GpbProgramBuilder *builder, Expr *condition)
{
	Var		   *column;
	int			slot;
	int			negated;

	if (exprType((Node *) condition) != BOOLOID)
		return GPB_REFUSED;
	column = only_code_column(builder, condition);
	if (column == NULL || contain_nonstrict_functions((Node *) condition) ||
		contain_mutable_functions((Node *) condition))
		return GPB_REFUSED;
	/* A subquery is evaluated when core asks for it. */
	if (builder->guard != GPB_NO_SLOT && gpb_executor_params((Node *) condition) != NULL)
		return gpb_refuse(builder, "a subquery that must not be evaluated before the first row");
	slot = gpb_code_column(builder, (Expr *) column);
	if (!is_here(builder, slot))
		return GPB_REFUSED;
	/* The constant says whether the table has the codes for which the condition is false. */
	slot = gpb_slot_with_table(builder, GPB_OP_IN_CODES, slot,
							   (Expr *) value_mutator((Node *) condition, NULL),
							   gpb_class_type(GPB_TABLE_CODES, slot - 1), &negated);
	return slot == GPB_REFUSED ? GPB_REFUSED : STEP2(GPB_OP_NE, slot, negated);
}

/* ---- min() and max() ---- */

/* About how many words the tables of all orders of the program take */
static double
estimated_words(const GpbProgramBuilder *builder)
{
	double		words = 0.0;
	int			i;

	for (i = 0; i < builder->program.nconstants; i++)
	{
		if (builder->constant_type[i].class == GPB_TABLE_RANKS)
		{
			int			slot = builder->constant_type[i].column + 1;
			int			bits = gpb_rank_bits(estimated_column_values(builder, slot));

			words += 1.0 + ceil(estimated_codes(builder) / (64 / bits));
		}
	}
	return words;
}

/* The comparison travels as a constant of its own collation. */
GpbTyped
gpb_code_ranked(GpbProgramBuilder *builder, Expr *expression, Oid compare, Oid collation)
{
	GpbTyped	value = gpb_value(builder, expression);
	int			unused;

	if (!OidIsValid(collation) || value.type.class != GPB_WORDS_CODE)
		return gpb_no_value(builder, "the order of what is no column of the index");
	if (!gpb_code_tells_apart(builder, expression, value.slot))
		return GPB_NO_VALUE;
	value.type.class = GPB_WORDS_RANKED;
	value.slot = gpb_slot_with_table(builder, GPB_OP_RANKED, value.slot,
									 (Expr *) makeConst(OIDOID, -1, collation, sizeof(Oid),
														ObjectIdGetDatum(compare), false, true),
									 gpb_class_type(GPB_TABLE_RANKS, value.type.column), &unused);
	if (estimated_words(builder) > GPB_MAX_MORE_WORDS)
		value.slot = gpb_refuse(builder, "the order of more values than tables have room for");
	return value;
}
