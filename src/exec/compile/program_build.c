/*-------------------------------------------------------------------------
 *
 * program_build.c
 *	  Filters, groups and the order of a program that is being built; the whole.
 *
 * Each of them, and each aggregate (program_aggregates.c), is added as a whole or not at all.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"

#include "exec/compile/program_codes.h"
#include "exec/compile/program_decimal.h"
#include "exec/compile/program_words.h"
#include "exec/price/price_constants.h"
#include "exec/shell/index_columns.h"
#include "hold.h"
#include "program/program_steps.h"

GpbProgramBuilder *
gpb_builder_begin(PlannerInfo *root, IndexOptInfo *index)
{
	GpbProgramBuilder *builder = palloc0(sizeof(GpbProgramBuilder));

	builder->root = root;
	builder->index = index;
	builder->value = gpb_expression_value;
	builder->guard = GPB_NO_SLOT;
	builder->case_value = GPB_REFUSED;
	return builder;
}

void
gpb_builder_be_portable(GpbProgramBuilder *builder)
{
	builder->is_portable = true;
}

const char *
gpb_builder_refusal(const GpbProgramBuilder *builder)
{
	return builder->refusal;
}

/* ---- what tests compare ---- */

/*
 * Write what the builder refuses, or a program that it has made, to the server's log, in one line.
 * Called where a test has asked for it, in builds with hold points.  A program is one integer List,
 * "(i 1 2)", and is written as "(1 2)".
 */
static void
log_refusal(const GpbProgramBuilder *builder)
{
	ereport(LOG_SERVER_ONLY,
			(errmsg_internal("program refused: %s", builder->refusal),
			 errhidestmt(true), errhidecontext(true)));
}

static void
log_program(const GpbProgramBuilder *builder, const GpbProgramPlan *plan)
{
	List	   *private = NIL;

	gpb_program_put(&private, plan);
	ereport(LOG_SERVER_ONLY,
			(errmsg_internal("program%s: (%s %s",
							 gpb_builder_can_fault(builder) ? " that can fault" : "",
							 nodeToString(linitial(private)) + strlen("(i "),
							 nodeToString(plan->constants)),
			 errhidestmt(true), errhidecontext(true)));
}

/* ---- all or nothing ---- */

/*
 * Do the results of steps that are needed at a time fit the temporaries?  Steps that are no more
 * than these need not share them.
 */
static bool
fits(GpbProgramBuilder *builder)
{
	GpbProgram	program;

	return builder->program.nsteps <= GPB_MAX_TEMPORARIES ||
		gpb_program_assign(builder, &program) ||
		gpb_cannot(builder, "more than %d values at a time", GPB_MAX_TEMPORARIES);
}

bool
gpb_settle(GpbProgramBuilder *builder, const GpbProgramBuilder *before, bool added)
{
	const char *refusal;
	int			nconstants = before->program.nconstants;
	int			nitems = list_length(before->items);

	if (added && fits(builder))
		return true;
	if (GPB_HOLD_WANTED("programs-in-log"))
		log_refusal(builder);
	refusal = builder->refusal;
	*builder = *before;
	builder->constants = list_truncate(builder->constants, nconstants);
	builder->items = list_truncate(builder->items, nitems);
	builder->refusal = refusal;
	return false;
}

/* ---- filters ---- */

/* Each part of a conjunction is a filter of its own, which drops entries before the next. */
bool
gpb_build_filter(GpbProgramBuilder *builder, Expr *condition)
{
	GpbProgramBuilder before = *builder;
	List	   *conditions = make_ands_implicit(condition);
	bool		added = true;
	ListCell   *lc;

	foreach(lc, conditions)
		added = added &&
			gpb_slot_filter(builder, gpb_word_slot(builder, lfirst(lc))) != GPB_REFUSED;
	return gpb_settle(builder, &before, added);
}

/* ---- the order of a list ---- */

/* The value of an expression as an integer in whose order core sorts it */
static int
order_slot(GpbProgramBuilder *builder, Expr *expression)
{
	GpbTyped	value = gpb_any_value(builder, expression);
	Oid			type = gpb_word_type(exprType((Node *) expression));

	if (!gpb_word_is_ordered(type) || value.type.class == GPB_WORDS_CODE)
		return gpb_refuse(builder, "order of type %s",
						  format_type_be(exprType((Node *) expression)));
	if (!gpb_is_plain(builder, expression, &value) || !gpb_decimal_is_whole(builder, &value))
		return GPB_REFUSED;
	return gpb_word_is_float(type) ? STEP1(GPB_OP_FLOAT_ORDER, value.slot) : value.slot;
}

bool
gpb_build_order(GpbProgramBuilder *builder, Expr *expression, bool descending, bool nulls_first,
				uint32 limit)
{
	GpbProgramBuilder before = *builder;
	int			slot = order_slot(builder, expression);

	builder->program.list_entries = true;
	builder->program.descending = descending;
	builder->program.nulls_first = nulls_first;
	builder->program.limit = limit;
	builder->program.order = slot == GPB_REFUSED ? 0 : slot;
	return gpb_settle(builder, &before, slot != GPB_REFUSED);
}

/* ---- groups ---- */

/* Add the group slot of a value, or two of one of 16 bytes. */
static bool
add_group(GpbProgramBuilder *builder, Expr *expression, GpbWordType *type)
{
	GpbProgram *program = &builder->program;
	GpbTyped	value = gpb_any_value(builder, expression);
	bool		wide = value.lower != 0;

	if (value.slot == GPB_REFUSED)
		return false;
	if (program->ngroups + (wide ? 2 : 1) > GPB_MAX_GROUP_SLOTS)
		return gpb_cannot(builder, "more than %d expressions in GROUP BY, where one of 16 bytes "
						  "counts twice", GPB_MAX_GROUP_SLOTS);
	if (!wide && !gpb_decimal_is_whole(builder, &value))
		return false;
	*type = value.type;
	program->group[program->ngroups++] = value.slot;
	if (wide)
		program->group[program->ngroups++] = value.lower;
	return true;
}

bool
gpb_build_group(GpbProgramBuilder *builder, Expr *expression, bool merges_floats,
				GpbWordType *type)
{
	GpbProgramBuilder before = *builder;

	/* -0 and 0 are one group, and so are all NaNs. */
	if (!merges_floats && gpb_word_is_float(gpb_word_type(exprType((Node *) expression))))
		return gpb_cannot(builder, "GROUP BY of type %s",
						  format_type_be(exprType((Node *) expression)));
	return gpb_settle(builder, &before, add_group(builder, expression, type));
}

/* ---- the whole ---- */

Cost
gpb_builder_cost(const GpbProgramBuilder *builder, double entries, double passed)
{
	const GpbProgram *program = &builder->program;
	double		steps = program->nsteps * GPB_STEP_COST;
	int			i;

	for (i = 0; i < program->nsteps; i++)
		steps += gpb_step_has_table(&program->step[i]) ? GPB_TABLE_COST : 0.0;
	return cpu_operator_cost * (entries * steps + passed * program->nterms * GPB_TERM_COST);
}

/*
 * Are there only terms of bare columns, such as a plain program aggregates?  That reads no columns
 * of a key that has several.
 */
static bool
can_be_plain(IndexOptInfo *index, const GpbProgram *program)
{
	int			i;

	if (program->nsteps > 0 || program->ngroups > 0 || program->nhalves > 0)
		return false;
	for (i = 0; i < program->nterms; i++)
	{
		const GpbTerm *term = &program->term[i];

		if (term->slot >= GPB_FIRST_CONSTANT || term->filter != GPB_NO_SLOT ||
			!gpb_want_is_plain(term->want) ||
			(index->nkeycolumns > 1 &&
			 gpb_column_position(index, term->slot) < index->nkeycolumns))
			return false;
	}
	return true;
}

/* Have the items name columns in the place of terms. */
static void
make_plain(GpbProgramBuilder *builder, GpbProgram *program)
{
	ListCell   *lc;

	foreach(lc, builder->items)
	{
		GpbAggregateItem *item = lfirst(lc);

		item->column = program->term[item->column].slot;
	}
	builder->items = NIL;
	memset(program->term, 0, sizeof(program->term));
	program->nterms = 0;
	program->nconstants = 0;
}

GpbProgramPlan *
gpb_builder_end(GpbProgramBuilder *builder)
{
	GpbProgramPlan *plan = palloc0(sizeof(GpbProgramPlan));

	/* Each part was tested for this when it was added. */
	if (!gpb_program_assign(builder, &plan->program))
		elog(ERROR, "program needs too many temporaries");
	if (!builder->is_portable && can_be_plain(builder->index, &plan->program))
		make_plain(builder, &plan->program);
	else
	{
		plan->constants = copyObject(builder->constants);
		memcpy(plan->constant_type, builder->constant_type, sizeof(plan->constant_type));
	}
	if (GPB_HOLD_WANTED("programs-in-log"))
		log_program(builder, plan);
	return plan;
}
