/*-------------------------------------------------------------------------
 *
 * program_build.c
 *	  Filters, aggregates and groups of a program that is being built.
 *
 * Each of them is added as a whole or not at all.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

#include "exec/compile/program_codes.h"
#include "exec/compile/program_decimal.h"
#include "exec/compile/program_halves.h"
#include "exec/compile/program_wide.h"
#include "exec/compile/program_words.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/never_null.h"
#include "hold.h"
#include "program/program_steps.h"

/*
 * The price of a step and of a term for one entry, in units of cpu_operator_cost.  Where core took
 * 40 ns for an operator (sums of 3 M rows), the CPU engine took from 0.6 to 1.5 ns for a step, 6.5
 * ns for a term of integers and 24 ns for one of float8.  To look a value up in a table of 192
 * words took some 20 ns, of a zone or of an array.
 */
#define GPB_STEP_COST		0.03
#define GPB_TABLE_COST		0.4 /* besides */
#define GPB_TERM_COST		0.2

GpbProgramBuilder *
gpb_builder_begin(PlannerInfo *root, IndexOptInfo *index)
{
	GpbProgramBuilder *builder = palloc0(sizeof(GpbProgramBuilder));

	builder->root = root;
	builder->index = index;
	builder->guard = GPB_NO_SLOT;
	builder->case_value = GPB_REFUSED;
	return builder;
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
 * Does what was added fit the temporaries, or was it refused?  Steps that are no more than these
 * need not share them.
 */
static bool
fits(GpbProgramBuilder *builder, int slot)
{
	GpbProgram	program;

	if (slot == GPB_REFUSED)
		return false;
	if (builder->program.nsteps <= GPB_MAX_TEMPORARIES)
		return true;
	if (!gpb_program_assign(builder, &program))
		return gpb_cannot(builder, "more than %d values at a time", GPB_MAX_TEMPORARIES);
	return true;
}

/* Take back what was added since *before was a copy of the builder, unless it is to stay. */
static bool
settle(GpbProgramBuilder *builder, const GpbProgramBuilder *before, bool stays)
{
	const char *refusal = builder->refusal;
	int			nconstants = before->program.nconstants;
	int			nitems = list_length(before->items);

	if (stays)
		return true;
	if (GPB_HOLD_WANTED("programs-in-log"))
		log_refusal(builder);
	*builder = *before;
	builder->constants = list_truncate(builder->constants, nconstants);
	builder->constant_types = list_truncate(builder->constant_types, nconstants);
	builder->items = list_truncate(builder->items, nitems);
	builder->refusal = refusal;
	return false;
}

/* ---- filters ---- */

/* Each part of a conjunction is a filter of its own, which drops entries before the next. */
static int
filter_slots(GpbProgramBuilder *builder, Expr *condition)
{
	List	   *conditions = make_ands_implicit(condition);
	int			slot = 0;
	ListCell   *lc;

	foreach(lc, conditions)
	{
		slot = gpb_slot_filter(builder, gpb_expression_slot(builder, lfirst(lc)));
		if (slot == GPB_REFUSED)
			break;
	}
	return slot;
}

bool
gpb_build_filter(GpbProgramBuilder *builder, Expr *condition)
{
	GpbProgramBuilder before = *builder;

	return settle(builder, &before, fits(builder, filter_slots(builder, condition)));
}

/* ---- the order of a list ---- */

/* The value of an expression as an integer in whose order core sorts it */
static int
order_slot(GpbProgramBuilder *builder, Expr *expression)
{
	Oid			type;
	int			slot = gpb_typed_expression_slot(builder, expression, &type);

	if (!gpb_word_is_ordered(gpb_word_type(exprType((Node *) expression))) ||
		(slot != GPB_REFUSED && gpb_is_code_type(type)))
		return gpb_refuse(builder, "order of type %s",
						  format_type_be(exprType((Node *) expression)));
	if (slot == GPB_REFUSED || !gpb_word_is_float(gpb_word_type(exprType((Node *) expression))))
		return slot;
	return gpb_slot_step(builder, GPB_OP_FLOAT_ORDER, slot, 0, 0);
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
	return settle(builder, &before, fits(builder, slot));
}

/* ---- groups ---- */

/* The group slot of a value, or two of one of 16 bytes */
static int
group_slot(GpbProgramBuilder *builder, Expr *expression, Oid *type)
{
	GpbProgram *program = &builder->program;
	GpbDecimal	value = gpb_any_expression(builder, expression);
	bool		wide = value.lower != 0;

	if (wide && value.slot == GPB_REFUSED)
		return GPB_REFUSED;
	if (program->ngroups + (wide ? 2 : 1) > GPB_MAX_GROUP_SLOTS)
		return gpb_refuse(builder, "more than %d expressions in GROUP BY, where one of 16 bytes "
						  "counts twice", GPB_MAX_GROUP_SLOTS);
	if (!wide && !gpb_decimal_is_whole(builder, &value))
		return GPB_REFUSED;
	*type = gpb_value_type(&value);
	program->group[program->ngroups++] = value.slot;
	if (wide)
		program->group[program->ngroups++] = value.lower;
	return value.slot;
}

bool
gpb_build_group_of_words(GpbProgramBuilder *builder, Expr *expression, Oid *type)
{
	GpbProgramBuilder before = *builder;

	return settle(builder, &before, fits(builder, group_slot(builder, expression, type)));
}

bool
gpb_build_group(GpbProgramBuilder *builder, Expr *expression, Oid *type)
{
	/* -0 and 0 are one group, and so are all NaNs. */
	if (gpb_word_is_float(gpb_word_type(exprType((Node *) expression))))
		return gpb_cannot(builder, "GROUP BY of type %s",
						  format_type_be(exprType((Node *) expression)));
	return gpb_build_group_of_words(builder, expression, type);
}

/* ---- aggregates ---- */

/* Is it an ordinary aggregate, of this query's rows, whole and each row once? */
static bool
aggref_is_ordinary(const Aggref *aggref)
{
	return aggref->aggkind == AGGKIND_NORMAL && aggref->agglevelsup == 0 &&
		aggref->aggsplit == AGGSPLIT_SIMPLE && aggref->aggdirectargs == NIL &&
		aggref->aggorder == NIL && aggref->aggdistinct == NIL;
}

/* Add to what is wanted of a term, which may have to be added too.  Returns its number. */
static int
add_term(GpbProgramBuilder *builder, int slot, int kind, int want, int filter)
{
	GpbProgram *program = &builder->program;
	int			i;

	for (i = 0; i < program->nterms; i++)
	{
		GpbTerm    *term = &program->term[i];

		if (term->slot == slot && term->kind == kind && term->filter == filter)
		{
			term->want |= want;
			if ((want & (GPB_WANT_MINMAX | GPB_WANT_HALVES)) != 0 &&
				term->lower == GPB_BOUNDS_FIND_NAN)
				term->lower = 0;
			return i;
		}
	}
	if (program->nterms >= GPB_MAX_TERMS)
		return gpb_refuse(builder, "more than %d different aggregates", GPB_MAX_TERMS);
	program->term[i] = (GpbTerm) {slot, kind, want, filter, 0};
	return program->nterms++;
}

/*
 * Add what is wanted for an item to a term.  If bounds are wanted for no more than NaN, the term
 * says so, unless somebody else wants them.  Returns the term's number.
 */
static int
add_item_term(GpbProgramBuilder *builder, int slot, int kind, const GpbAggregateItem *item,
			  int filter)
{
	int			more = gpb_item_want(item) & ~gpb_function_want(item->function);
	int			i = add_term(builder, slot, kind, gpb_function_want(item->function), filter);
	GpbTerm    *term;

	if (i == GPB_REFUSED)
		return i;
	term = &builder->program.term[i];
	if ((more & GPB_WANT_MINMAX) != 0 && (term->want & GPB_WANT_MINMAX) == 0 && term->lower == 0)
		term->lower = GPB_BOUNDS_FIND_NAN;
	term->want |= more;
	return i;
}

/* What an aggregate is and of which type, into *item; the argument is NULL for count(*). */
static bool
recognize_aggregate(GpbProgramBuilder *builder, Aggref *aggref, GpbAggregateItem *item,
					Expr **argument)
{
	Oid			type;

	item->function = GPB_COUNT_ENTRIES;
	item->column = 0;
	item->type = InvalidOid;
	item->aggregate = aggref->aggfnoid;
	*argument = aggref->args == NIL ? NULL : linitial_node(TargetEntry, aggref->args)->expr;
	if (!aggref_is_ordinary(aggref) || list_length(aggref->args) > 1)
		return gpb_cannot(builder, "DISTINCT, ORDER BY or several arguments of an aggregate");
	if (aggref->aggfnoid == F_COUNT_)
		return true;
	if (*argument != NULL && aggref->aggfnoid == F_COUNT_ANY)
	{
		if (gpb_counts_rows(builder->root, builder->index, aggref))
			*argument = NULL;
		else
			item->function = GPB_COUNT_VALUES;
		return true;
	}
	if (*argument == NULL || !gpb_find_aggregate(aggref->aggfnoid, &item->function, &type) ||
		(type != NUMERICOID && type != gpb_word_type(exprType((Node *) *argument))))
		return gpb_cannot(builder, "aggregate %s", format_procedure(aggref->aggfnoid));
	item->type = type;
	return true;
}

/*
 * Return the slot of a value of which "want" is wanted.  Of a float8 whose square overflows there
 * is no exact sum of squares, so a step has to fault there.
 */
static int
slot_with_square(GpbProgramBuilder *builder, int slot, int kind, int want)
{
	if (kind == GPB_KIND_FLOAT8 && (want & GPB_WANT_SQUARES) != 0)
	{
		int			square = gpb_slot_step(builder, GPB_OP_FLOAT_MULTIPLY, slot, slot, 0);

		if (square == GPB_REFUSED)
			return GPB_REFUSED;
		if (square >= GPB_FIRST_TEMPORARY)
			builder->kept[square - GPB_FIRST_TEMPORARY] = true;
	}
	return slot;
}

/* ---- sums of quotients ---- */

/* Is it a sum or an average of numerics that have no scale, since they are quotients or vary? */
static bool
is_sum_without_scale(const GpbAggregateItem *item, const GpbDecimal *value)
{
	return (item->function == GPB_SUM || item->function == GPB_AVG) &&
		item->type == NUMERICOID && value->slot != GPB_REFUSED &&
		(value->divisor != 0 || value->varies);
}

/* The terms of a sum or an average of quotients, whose numbers go into the item */
static int
quotient_terms(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbDecimal *value,
			   int filter)
{
	int			slot = GPB_REFUSED;
	int			scale = 0;
	int			magnitude = GPB_REFUSED;

	if (!gpb_decimal_quotient(builder, value, &slot, &scale, &magnitude))
		return GPB_REFUSED;
	item->function = item->function == GPB_SUM ? GPB_QUOTIENT_SUM : GPB_QUOTIENT_AVG;
	item->type = gpb_decimal_type(scale);
	item->quotient = (GpbQuotient) {value->scale, (int) value->divisor, value->divisor_scale};
	item->column = add_term(builder, slot, GPB_KIND_INT8, gpb_function_want(item->function),
							filter);
	item->pair.y = add_term(builder, magnitude, GPB_KIND_INT8,
							gpb_function_want_of_y(item->function), filter);
	item->pair.products = item->pair.rests = item->pair.y;
	return item->pair.y == GPB_REFUSED ? GPB_REFUSED : item->column;
}

/* The terms of a sum or an average of what varies in the digits that it is displayed with */
static int
varying_terms(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbDecimal *value,
			  int filter)
{
	int			shown = gpb_decimal_shown(builder, value);

	if (shown == GPB_REFUSED)
		return GPB_REFUSED;
	item->function = item->function == GPB_SUM ? GPB_VARYING_SUM : GPB_VARYING_AVG;
	item->type = gpb_decimal_type(value->scale);
	item->column = add_term(builder, value->slot, GPB_KIND_INT8, gpb_function_want(item->function),
							filter);
	item->pair.y = add_term(builder, shown, GPB_KIND_INT8, gpb_function_want_of_y(item->function),
							filter);
	item->pair.products = item->pair.rests = item->pair.y;
	return item->pair.y == GPB_REFUSED ? GPB_REFUSED : item->column;
}

/* ---- aggregates of values of 16 bytes ---- */

/* The term of the least or greatest value of a column of 16 bytes, whose number is the item's */
static int
halves_term(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbWideValue *value,
			int filter)
{
	GpbTerm    *term;

	item->function = item->function == GPB_MIN ? GPB_WIDE_MIN : GPB_WIDE_MAX;
	item->type = gpb_wide_numeric_type(value->scale);
	item->column = add_term(builder, value->upper, GPB_KIND_INT8,
							gpb_function_want(item->function), filter);
	if (item->column == GPB_REFUSED)
		return GPB_REFUSED;
	/* Different constants may have one slot for their upper halves; other values have not. */
	term = &builder->program.term[item->column];
	if (term->lower != 0 && term->lower != value->lower)
		return gpb_refuse(builder, "constants of 16 bytes that have equal upper halves");
	term->lower = value->lower;
	return item->column;
}

/* The terms of the products of both halves of values, whose numbers go into the item */
static int
cross_terms(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbWideValue *value,
			int filter)
{
	GpbWideValue cross = gpb_halves_cross(builder, value);
	int			want = GPB_WANT_COUNT | GPB_WANT_SUM;

	if (cross.upper == GPB_REFUSED || cross.lower == GPB_REFUSED)
		return GPB_REFUSED;
	item->pair.products = add_term(builder, cross.upper, GPB_KIND_INT8, want, filter);
	item->pair.rests = add_term(builder, cross.lower, GPB_KIND_INT8, want, filter);
	return item->pair.products == GPB_REFUSED || item->pair.rests == GPB_REFUSED ? GPB_REFUSED :
		item->column;
}

/* The function of values of 16 bytes that is one of words, or GPB_COUNT_ENTRIES if there is none */
static GpbAggregateFunction
wide_function(GpbAggregateFunction function)
{
	switch (function)
	{
		case GPB_SUM:
			return GPB_WIDE_SUM;
		case GPB_AVG:
			return GPB_WIDE_AVG;
		case GPB_VAR_POP:
			return GPB_WIDE_VAR_POP;
		case GPB_VAR_SAMP:
			return GPB_WIDE_VAR_SAMP;
		case GPB_STDDEV_POP:
			return GPB_WIDE_STDDEV_POP;
		case GPB_STDDEV_SAMP:
			return GPB_WIDE_STDDEV_SAMP;
		default:
			return GPB_COUNT_ENTRIES;
	}
}

/*
 * The terms of an aggregate of values of 16 bytes, whose numbers go into the item.  A sum is put
 * together from those of both halves, of 128 bits each; that of squares, from the squares of both
 * halves and the products of one and the other.
 */
static int
wide_terms(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbWideValue *value,
		   int filter)
{
	if (value->upper == GPB_REFUSED)
		return GPB_REFUSED;
	/* To count values their upper halves are enough. */
	if (item->function == GPB_COUNT_VALUES)
		return add_term(builder, value->upper, GPB_KIND_INT8, GPB_WANT_COUNT, filter);
	if (item->function == GPB_MIN || item->function == GPB_MAX)
		return halves_term(builder, item, value, filter);
	if (wide_function(item->function) == GPB_COUNT_ENTRIES)
		return gpb_refuse(builder, "aggregate %s of values of 16 bytes",
						  format_procedure(item->aggregate));
	item->function = wide_function(item->function);
	item->type = gpb_wide_numeric_type(value->scale);
	item->column = add_term(builder, value->upper, GPB_KIND_INT8, gpb_item_want(item), filter);
	item->pair.y = add_term(builder, value->lower, GPB_KIND_INT8,
							gpb_function_want_of_y(item->function), filter);
	item->pair.products = item->pair.rests = item->pair.y;
	if (item->pair.y == GPB_REFUSED)
		return GPB_REFUSED;
	return item->function >= GPB_WIDE_VAR_POP ? cross_terms(builder, item, value, filter) :
		item->column;
}

/* ---- min() and max() of texts ---- */

/* Is it one of these?  Then *compare is the function of core that compares values. */
static bool
is_code_extreme(const Aggref *aggref, GpbAggregateItem *item, Oid *compare)
{
	bool		least;

	if (!aggref_is_ordinary(aggref) || list_length(aggref->args) != 1 ||
		!gpb_find_code_extreme(aggref->aggfnoid, &least, compare))
		return false;
	item->function = least ? GPB_MIN : GPB_MAX;
	item->aggregate = aggref->aggfnoid;
	return true;
}

/* The term of the least or greatest code below its rank, whose number goes into the item */
static int
code_extreme_term(GpbProgramBuilder *builder, GpbAggregateItem *item, const Aggref *aggref,
				  Oid compare, int filter)
{
	int			slot = gpb_ranked_code_slot(builder,
											linitial_node(TargetEntry, aggref->args)->expr,
											compare, aggref->inputcollid, &item->type);

	if (slot == GPB_REFUSED)
		return GPB_REFUSED;
	item->column = add_term(builder, slot, GPB_KIND_INT8, gpb_function_want(item->function),
							filter);
	return item->column;
}

/* ---- aggregates of one argument ---- */

/* The term of an aggregate of a word, whose number is the item's */
static int
word_term(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbDecimal *value, int kind,
		  int filter)
{
	int			slot;

	if (!gpb_decimal_is_whole(builder, value))
		return GPB_REFUSED;
	slot = slot_with_square(builder, value->slot, kind, gpb_function_want(item->function));
	if (slot == GPB_REFUSED)
		return GPB_REFUSED;
	if (item->type == NUMERICOID)
		item->type = gpb_value_type(value);
	return add_item_term(builder, slot, kind, item, filter);
}

/* The terms of an aggregate of an argument, whose numbers go into the item */
static int
argument_terms(GpbProgramBuilder *builder, GpbAggregateItem *item, Expr *argument, int filter)
{
	Oid			type = gpb_word_type(exprType((Node *) argument));
	GpbWideValue wide = {0};
	GpbDecimal	value;

	/* Of a column whose values are counted the lower halves are not read. */
	if (item->function == GPB_COUNT_VALUES && gpb_is_counted_wide(builder, argument, &wide.upper))
		return wide_terms(builder, item, &wide, filter);
	value = gpb_any_expression(builder, argument);
	wide = (GpbWideValue) {value.slot, value.lower, value.scale};
	if (value.lower != 0)
		return wide_terms(builder, item, &wide, filter);
	if (is_sum_without_scale(item, &value))
		return value.divisor != 0 ? quotient_terms(builder, item, &value, filter) :
			varying_terms(builder, item, &value, filter);
	return word_term(builder, item, &value, OidIsValid(type) ? gpb_word_kind(type) : GPB_KIND_INT8,
					 filter);
}

/* The term of an aggregate, whose number goes into the item; the filter guards the argument. */
static int
aggregate_term(GpbProgramBuilder *builder, GpbAggregateItem *item, Expr *argument, int filter)
{
	if (argument == NULL)
		item->column = add_term(builder, GPB_NO_SLOT, GPB_KIND_INT8,
								gpb_function_want(item->function), filter);
	else
	{
		if (filter != GPB_NO_SLOT)
			gpb_guard_by(builder, filter);
		item->column = argument_terms(builder, item, argument, filter);
		builder->guard = GPB_NO_SLOT;
	}
	return item->column;
}

/* ---- aggregates of pairs ---- */

/* The value of argument number i, of type float8 */
static int
pair_argument_slot(GpbProgramBuilder *builder, const Aggref *aggref, int i)
{
	return gpb_expression_slot(builder, list_nth_node(TargetEntry, aggref->args, i)->expr);
}

/* a IS NOT NULL */
static int
known_slot(GpbProgramBuilder *builder, int a)
{
	return gpb_slot_step(builder, GPB_OP_NOT,
						 gpb_slot_step(builder, GPB_OP_IS_NULL, a, 0, 0), 0, 0);
}

/* Is neither x nor y NULL, and the filter, if there is one, true? */
static int
pair_filter_slot(GpbProgramBuilder *builder, int x, int y, int filter)
{
	/* In one order of both, so that corr(a, b) and corr(b, a) share terms. */
	int			first = known_slot(builder, Min(x, y));
	int			both = gpb_slot_step(builder, GPB_OP_AND, first, known_slot(builder, Max(x, y)), 0);

	return filter == GPB_NO_SLOT ? both : gpb_slot_step(builder, GPB_OP_AND, filter, both, 0);
}

/* The term of a float8, or GPB_REFUSED */
static int
float_term(GpbProgramBuilder *builder, int slot, int want, int filter)
{
	slot = slot_with_square(builder, slot, GPB_KIND_FLOAT8, want);
	return slot == GPB_REFUSED ? GPB_REFUSED :
		add_term(builder, slot, GPB_KIND_FLOAT8, want, filter);
}

/* Add the terms of both arguments and of their products, whose numbers go into the item. */
static int
both_terms(GpbProgramBuilder *builder, GpbAggregateItem *item, int x, int y, int filter)
{
	int			want = GPB_WANT_COUNT | GPB_WANT_SUM;
	int			a = Min(x, y);
	int			b = Max(x, y);

	item->column = float_term(builder, x, gpb_function_want(item->function), filter);
	item->pair.y = float_term(builder, y, gpb_function_want_of_y(item->function), filter);
	item->pair.products =
		float_term(builder, gpb_slot_step(builder, GPB_OP_FLOAT_MULTIPLY, a, b, 0), want, filter);
	item->pair.rests =
		float_term(builder, gpb_slot_step(builder, GPB_OP_FLOAT_PRODUCT_REST, a, b, 0), want,
				   filter);
	if (item->column == GPB_REFUSED || item->pair.y == GPB_REFUSED ||
		item->pair.products == GPB_REFUSED)
		return GPB_REFUSED;
	return item->pair.rests;
}

/* The terms of an aggregate of pairs (Y, X), of which the item has the function. */
static int
pair_terms(GpbProgramBuilder *builder, Aggref *aggref, GpbPairInput input, GpbAggregateItem *item,
		   int filter)
{
	int			x;
	int			y;
	int			term;

	if (filter != GPB_NO_SLOT)
		gpb_guard_by(builder, filter);
	y = pair_argument_slot(builder, aggref, 0);
	x = pair_argument_slot(builder, aggref, 1);
	builder->guard = GPB_NO_SLOT;
	if (x == GPB_REFUSED || y == GPB_REFUSED)
		return GPB_REFUSED;
	filter = pair_filter_slot(builder, x, y, filter);
	if (filter == GPB_REFUSED)
		return GPB_REFUSED;
	gpb_guard_by(builder, filter);
	switch (input)
	{
		case GPB_PAIR_ROWS:
			term = add_term(builder, GPB_NO_SLOT, GPB_KIND_INT8, GPB_WANT_COUNT, filter);
			break;
		case GPB_PAIR_BOTH:
			term = both_terms(builder, item, x, y, filter);
			break;
		default:
			term = float_term(builder, input == GPB_PAIR_X ? x : y,
							  gpb_function_want(item->function), filter);
			break;
	}
	builder->guard = GPB_NO_SLOT;
	if (input != GPB_PAIR_BOTH)
		item->column = term;
	return term;
}

/* ---- any aggregate ---- */

/* The slot of an aggregate's FILTER, GPB_NO_SLOT if it has none, or GPB_REFUSED */
static int
aggregate_filter_slot(GpbProgramBuilder *builder, const Aggref *aggref)
{
	return aggref->aggfilter == NULL ? GPB_NO_SLOT :
		gpb_expression_slot(builder, aggref->aggfilter);
}

/* Add the terms of an aggregate of two arguments that gpb_find_pair_aggregate() has found. */
static int
pair_aggref_terms(GpbProgramBuilder *builder, Aggref *aggref, GpbPairInput input,
				  GpbAggregateItem *item)
{
	int			filter = aggregate_filter_slot(builder, aggref);
	int			term = GPB_REFUSED;

	item->type = FLOAT8OID;
	item->aggregate = aggref->aggfnoid;
	if (filter != GPB_REFUSED)
		term = pair_terms(builder, aggref, input, item, filter);
	if (term != GPB_REFUSED)
		builder->items = lappend(builder->items, item);
	return term;
}

static int
aggref_term(GpbProgramBuilder *builder, Aggref *aggref, GpbAggregateItem *item)
{
	GpbPairInput input;
	int			filter;
	Expr	   *argument = NULL;
	Oid			compare = InvalidOid;
	int			term;

	memset(&item->pair, 0, sizeof(item->pair));
	memset(&item->quotient, 0, sizeof(item->quotient));
	if (aggref_is_ordinary(aggref) &&
		gpb_find_pair_aggregate(aggref->aggfnoid, &item->function, &input))
		return pair_aggref_terms(builder, aggref, input, item);
	if (!is_code_extreme(aggref, item, &compare) &&
		!recognize_aggregate(builder, aggref, item, &argument))
		return GPB_REFUSED;
	filter = aggregate_filter_slot(builder, aggref);
	if (filter == GPB_REFUSED)
		return GPB_REFUSED;
	/* All entries count without a term, but not those of a filter. */
	if (filter != GPB_NO_SLOT && item->function == GPB_COUNT_ENTRIES)
		item->function = GPB_COUNT_VALUES;
	if (item->function == GPB_COUNT_ENTRIES)
		return 0;
	term = OidIsValid(compare) ? code_extreme_term(builder, item, aggref, compare, filter) :
		aggregate_term(builder, item, argument, filter);
	if (term != GPB_REFUSED)
		builder->items = lappend(builder->items, item);
	return term;
}

bool
gpb_build_aggref(GpbProgramBuilder *builder, Aggref *aggref, GpbAggregateItem *item)
{
	GpbProgramBuilder before = *builder;

	return settle(builder, &before, fits(builder, aggref_term(builder, aggref, item)));
}

/*
 * The term of the values of any expression.  Steps whose result no term takes are dropped, so lower
 * halves have one too unless they are a column's.
 */
static int
values_term(GpbProgramBuilder *builder, Expr *expression, Oid *type)
{
	GpbDecimal	value = gpb_any_expression(builder, expression);
	int			term;

	if (value.slot == GPB_REFUSED ||
		(value.lower == 0 && !gpb_decimal_is_whole(builder, &value)))
		return GPB_REFUSED;
	*type = gpb_value_type(&value);
	term = add_term(builder, value.slot, gpb_word_kind(*type), GPB_WANT_COUNT, GPB_NO_SLOT);
	if (term == GPB_REFUSED || value.lower == 0)
		return term;
	builder->program.term[term].lower = value.lower;
	if (value.lower >= GPB_FIRST_TEMPORARY &&
		add_term(builder, value.lower, GPB_KIND_INT8, GPB_WANT_COUNT, GPB_NO_SLOT) == GPB_REFUSED)
		return GPB_REFUSED;
	return term;
}

bool
gpb_build_values(GpbProgramBuilder *builder, Expr *value, Oid *type, int *term)
{
	GpbProgramBuilder before = *builder;

	*term = values_term(builder, value, type);
	return settle(builder, &before, fits(builder, *term));
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
	if (can_be_plain(builder->index, &plan->program))
		make_plain(builder, &plan->program);
	else
	{
		plan->constants = copyObject(builder->constants);
		plan->constant_types = list_copy(builder->constant_types);
	}
	if (GPB_HOLD_WANTED("programs-in-log"))
		log_program(builder, plan);
	return plan;
}
