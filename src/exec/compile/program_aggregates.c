/*-------------------------------------------------------------------------
 *
 * program_aggregates.c
 *	  Aggregates of a program that is being built: their terms.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/regproc.h"

#include "exec/compile/program_codes.h"
#include "exec/compile/program_decimal.h"
#include "exec/compile/program_halves.h"
#include "exec/compile/program_words.h"
#include "exec/compile/worker_aggregate.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/never_null.h"

#define GPB_WANT_SUMS		(GPB_WANT_COUNT | GPB_WANT_SUM)
#define GPB_WANT_BOUNDS		(GPB_WANT_COUNT | GPB_WANT_MINMAX)

/* ---- terms ---- */

/*
 * Add to what is wanted of a term, which may have to be added too; *number becomes its number.
 * Returns false if a slot was refused, or there is no room.
 */
static bool
add_term(GpbProgramBuilder *builder, int slot, int kind, int want, int filter, int *number)
{
	GpbProgram *program = &builder->program;
	int			i;

	if (slot == GPB_REFUSED || filter == GPB_REFUSED)
		return false;
	for (i = 0; i < program->nterms; i++)
	{
		GpbTerm    *term = &program->term[i];

		if (term->slot == slot && term->kind == kind && term->filter == filter)
		{
			term->want |= want;
			if ((want & (GPB_WANT_MINMAX | GPB_WANT_HALVES)) != 0 &&
				term->lower == GPB_BOUNDS_FIND_NAN)
				term->lower = 0;
			*number = i;
			return true;
		}
	}
	if (program->nterms >= GPB_MAX_TERMS)
		return gpb_cannot(builder, "more than %d different aggregates", GPB_MAX_TERMS);
	program->term[i] = (GpbTerm) {slot, kind, want, filter, 0};
	*number = program->nterms++;
	return true;
}

/* Add what is wanted to a term of integers. */
static bool
add_integers(GpbProgramBuilder *builder, int slot, int want, int filter, int *number)
{
	return add_term(builder, slot, GPB_KIND_INT8, want, filter, number);
}

/*
 * Add what is wanted to a term of float8.  Where a square overflows there is no exact sum of
 * squares, so a step has to fault there.
 */
static bool
add_floats(GpbProgramBuilder *builder, int slot, int want, int filter, int *number)
{
	if (slot == GPB_REFUSED)
		return false;
	if ((want & GPB_WANT_SQUARES) != 0 &&
		gpb_slot_kept(builder, STEP2(GPB_OP_FLOAT_MULTIPLY, slot, slot)) == GPB_REFUSED)
		return false;
	return add_term(builder, slot, GPB_KIND_FLOAT8, want, filter, number);
}

/* ---- aggregates of one value: each function fills in the item ---- */

/*
 * An aggregate of words.  If bounds are wanted for no more than NaN, the term says so, unless
 * somebody else wants them.
 */
static bool
add_words(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbTyped *value, int kind,
		  int filter)
{
	int			want = gpb_function_want(item->function);
	GpbTerm    *term;

	if (!gpb_decimal_is_whole(builder, value))
		return false;
	if (item->type.sql == NUMERICOID)
		item->type = value->type;
	if (!(kind == GPB_KIND_FLOAT8 ?
		  add_floats(builder, value->slot, want, filter, &item->column) :
		  add_term(builder, value->slot, kind, want, filter, &item->column)))
		return false;
	term = &builder->program.term[item->column];
	if ((gpb_item_want(item) & ~want & GPB_WANT_MINMAX) != 0 &&
		(term->want & GPB_WANT_MINMAX) == 0 && term->lower == 0)
		term->lower = GPB_BOUNDS_FIND_NAN;
	term->want |= gpb_item_want(item);
	return true;
}

/* A sum or an average of quotients by a constant */
static bool
add_quotients(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbTyped *value,
			  int filter)
{
	int			slot;
	int			scale;
	int			magnitude;

	if (!gpb_decimal_quotient(builder, value, &slot, &scale, &magnitude))
		return false;
	item->type = gpb_number_type(GPB_WORDS_DECIMAL, scale);
	item->quotient = (GpbQuotient) {value->type.scale, (int) value->divisor, value->divisor_scale};
	return add_integers(builder, slot, GPB_WANT_SUMS, filter, &item->column) &&
		add_integers(builder, magnitude, GPB_WANT_BOUNDS, filter, &item->terms.dividends);
}

/* A sum or an average of what varies in the digits that it is displayed with */
static bool
add_varying(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbTyped *value,
			int filter)
{
	int			shown = gpb_decimal_shown(builder, value);

	item->type = gpb_number_type(GPB_WORDS_DECIMAL, value->type.scale);
	return shown != GPB_REFUSED &&
		add_integers(builder, value->slot, GPB_WANT_SUMS, filter, &item->column) &&
		add_integers(builder, shown, GPB_WANT_BOUNDS, filter, &item->terms.digits);
}

/* The least and greatest values of 16 bytes, whose halves one term has */
static bool
add_extreme_halves(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbTyped *value,
				   int filter)
{
	GpbTerm    *term;

	if (!add_integers(builder, value->slot, gpb_item_want(item), filter, &item->column))
		return false;
	/* Different constants may have one slot for their upper halves; other values have not. */
	term = &builder->program.term[item->column];
	if (term->lower != 0 && term->lower != value->lower)
		return gpb_cannot(builder, "constants of 16 bytes that have equal upper halves");
	term->lower = value->lower;
	return true;
}

/*
 * An aggregate of numerics of 16 bytes.  A sum is put together from those of both halves, of 128
 * bits each; that of squares, from the squares of both halves and the products of one and the
 * other.
 */
static bool
add_halves(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbTyped *value,
		   int filter)
{
	GpbItemTerms *terms = &item->terms;
	int			want = gpb_function_want(item->function) & ~GPB_WANT_MINMAX;
	bool		bounds = want != gpb_function_want(item->function);
	GpbTyped	cross;

	/* A uuid's are counted alone. */
	if (item->function == GPB_COUNT_VALUES)
		return add_integers(builder, value->slot, GPB_WANT_COUNT, filter, &item->column);
	item->type = value->type;
	if (item->function == GPB_MIN || item->function == GPB_MAX)
		return add_extreme_halves(builder, item, value, filter);
	if (!(bounds ? add_extreme_halves(builder, item, value, filter) :
		  add_integers(builder, value->slot, gpb_item_want(item), filter, &item->column)) ||
		!add_integers(builder, value->lower, want, filter, &terms->lower))
		return false;
	if ((want & GPB_WANT_SQUARES) == 0)
		return true;
	cross = gpb_halves_cross(builder, value);
	return cross.slot != GPB_REFUSED &&
		add_integers(builder, cross.slot, GPB_WANT_SUMS, filter, &terms->cross_upper) &&
		add_integers(builder, cross.lower, GPB_WANT_SUMS, filter, &terms->cross_lower);
}

/* An aggregate of any value */
static bool
add_value(GpbProgramBuilder *builder, GpbAggregateItem *item, Expr *argument, int filter)
{
	int			upper;
	GpbTyped	value;

	/* Of a column whose values are counted the lower halves are not read. */
	if (item->function == GPB_COUNT_VALUES && gpb_is_counted_wide(builder, argument, &upper))
		return add_integers(builder, upper, GPB_WANT_COUNT, filter, &item->column);
	value = gpb_any_value(builder, argument);
	if (value.slot == GPB_REFUSED)
		return false;
	if (value.lower != 0)
		return add_halves(builder, item, &value, filter);
	if (item->type.sql == NUMERICOID && (item->function == GPB_SUM || item->function == GPB_AVG))
	{
		if (value.divisor != 0)
			return add_quotients(builder, item, &value, filter);
		if (value.shown != 0)
			return add_varying(builder, item, &value, filter);
	}
	return add_words(builder, item, &value, value.type.class == GPB_WORDS_SQL ?
					 gpb_word_kind(value.type) : GPB_KIND_INT8, filter);
}

/* The least or greatest text, of codes below their ranks */
static bool
add_codes(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbAggregate *known,
		  const Aggref *aggref, int filter)
{
	GpbTyped	value = gpb_code_ranked(builder, linitial_node(TargetEntry, aggref->args)->expr,
										known->compare, aggref->inputcollid);

	item->type = value.type;
	return add_integers(builder, value.slot, gpb_function_want(item->function), filter,
						&item->column);
}

/* ---- aggregates of pairs ---- */

/* a IS NOT NULL */
static int
known_slot(GpbProgramBuilder *builder, int a)
{
	return STEP1(GPB_OP_NOT, STEP1(GPB_OP_IS_NULL, a));
}

/* A function of both: of X and Y, and of their products */
static bool
add_both(GpbProgramBuilder *builder, GpbAggregateItem *item, int x, int y, int filter)
{
	const GpbFunctionNeeds *needs = &gpb_functions[item->function];
	int			a = Min(x, y);
	int			b = Max(x, y);

	return add_floats(builder, x, needs->want, filter, &item->column) &&
		add_floats(builder, y, needs->want_of_y, filter, &item->terms.y) &&
		add_floats(builder, STEP2(GPB_OP_FLOAT_MULTIPLY, a, b),
				   GPB_WANT_SUMS, filter, &item->terms.products) &&
		add_floats(builder, STEP2(GPB_OP_FLOAT_PRODUCT_REST, a, b),
				   GPB_WANT_SUMS, filter, &item->terms.rests);
}

/* An aggregate of pairs (Y, X); what is done with those of which one is NULL is a filter. */
static bool
add_pairs(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbAggregate *known,
		  const Aggref *aggref, int filter)
{
	int			y = gpb_word_slot(builder, linitial_node(TargetEntry, aggref->args)->expr);
	int			x = gpb_word_slot(builder, lsecond_node(TargetEntry, aggref->args)->expr);
	int			both;

	if (x == GPB_REFUSED || y == GPB_REFUSED)
		return false;
	/* In one order of both, so that corr(a, b) and corr(b, a) share terms. */
	both = known_slot(builder, Min(x, y));
	both = STEP2(GPB_OP_AND, both, known_slot(builder, Max(x, y)));
	if (filter != GPB_NO_SLOT)
		both = STEP2(GPB_OP_AND, filter, both);
	if (both == GPB_REFUSED)
		return false;
	builder->guard = GPB_NO_SLOT;
	gpb_guard_by(builder, both);
	switch (known->input)
	{
		case GPB_INPUT_PAIR:
			return add_integers(builder, GPB_NO_SLOT, GPB_WANT_COUNT, both, &item->column);
		case GPB_INPUT_BOTH:
			return add_both(builder, item, x, y, both);
		default:
			return add_floats(builder, known->input == GPB_INPUT_X ? x : y,
							  gpb_function_want(item->function), both, &item->column);
	}
}

/* ---- any aggregate ---- */

/* Count the entries that a filter admits; all entries are counted without a term. */
static bool
add_count(GpbProgramBuilder *builder, Expr *filter, GpbAggregateItem *item)
{
	item->function = GPB_COUNT_VALUES;
	builder->items = lappend(builder->items, item);
	return add_term(builder, GPB_NO_SLOT, GPB_KIND_INT8, GPB_WANT_COUNT,
					gpb_word_slot(builder, filter), &item->column);
}

bool
gpb_build_count(GpbProgramBuilder *builder, Expr *filter, GpbAggregateItem *item)
{
	GpbProgramBuilder before = *builder;

	*item = gpb_item(gpb_find_aggregate(F_COUNT_));
	return gpb_settle(builder, &before, add_count(builder, filter, item));
}

/* The aggregate, if a program could say it; NULL, and the builder says why, if not */
static const GpbAggregate *
recognize(GpbProgramBuilder *builder, const Aggref *aggref)
{
	const GpbAggregate *known = gpb_find_aggregate(aggref->aggfnoid);
	int			arguments = known != NULL && gpb_input_is_pair(known->input) ? 2 : 1;

	if (!gpb_aggref_is_ordinary(aggref) || list_length(aggref->args) > arguments)
	{
		(void) gpb_refuse(builder, "DISTINCT, ORDER BY or several arguments of an aggregate");
		return NULL;
	}
	if (known == NULL || known->input == GPB_INPUT_EACH ||
		(known->input == GPB_INPUT_WORD &&
		 !gpb_aggregate_takes(known, exprType((Node *) linitial_node(TargetEntry,
																	 aggref->args)->expr))))
	{
		(void) gpb_refuse(builder, "aggregate %s", format_procedure(aggref->aggfnoid));
		return NULL;
	}
	return known;
}

/* Add the terms of an aggregate, where its filter is true, which guards the argument. */
static bool
add_terms(GpbProgramBuilder *builder, GpbAggregateItem *item, const GpbAggregate *known,
		  const Aggref *aggref, int filter)
{
	if (known->input == GPB_INPUT_CODE)
		return add_codes(builder, item, known, aggref, filter);
	if (gpb_input_is_pair(known->input))
		return add_pairs(builder, item, known, aggref, filter);
	return add_value(builder, item, linitial_node(TargetEntry, aggref->args)->expr, filter);
}

/* Is it a count of rows, as far as the program may say so? */
static bool
counts_rows(const GpbProgramBuilder *builder, const Aggref *aggref)
{
	if (builder->is_portable && aggref->args != NIL &&
		!IsA(linitial_node(TargetEntry, aggref->args)->expr, Const))
		return false;
	return gpb_counts_rows(builder->root, builder->index, aggref);
}

static bool
add_aggref(GpbProgramBuilder *builder, const Aggref *aggref, GpbAggregateItem *item)
{
	GpbAggregate state;
	const Aggref *of_state = gpb_worker_aggregate(aggref, &state);
	const GpbAggregate *known;
	int			filter = GPB_NO_SLOT;
	bool		added;

	if (of_state != NULL)
		aggref = of_state;
	known = recognize(builder, aggref);
	if (known == NULL)
		return false;
	if (of_state != NULL)
		known = &state;
	*item = gpb_item(known);
	if (counts_rows(builder, aggref))
	{
		item->function = GPB_COUNT_ENTRIES;
		return aggref->aggfilter == NULL || add_count(builder, aggref->aggfilter, item);
	}
	if (aggref->aggfilter != NULL)
	{
		filter = gpb_word_slot(builder, aggref->aggfilter);
		if (filter == GPB_REFUSED)
			return false;
		gpb_guard_by(builder, filter);
	}
	added = add_terms(builder, item, known, aggref, filter);
	builder->guard = GPB_NO_SLOT;
	if (added)
		builder->items = lappend(builder->items, item);
	return added;
}

bool
gpb_build_aggref(GpbProgramBuilder *builder, Aggref *aggref, GpbAggregateItem *item)
{
	GpbProgramBuilder before = *builder;

	return gpb_settle(builder, &before, add_aggref(builder, aggref, item));
}

bool
gpb_build_extreme(GpbProgramBuilder *builder, Expr *value, bool greatest, GpbAggregateItem *item)
{
	GpbProgramBuilder before = *builder;
	GpbAggregate of_type = {
		InvalidOid, greatest ? GPB_MAX : GPB_MIN, GPB_INPUT_WORD,
		gpb_word_type(exprType((Node *) value))
	};

	*item = gpb_item(&of_type);
	builder->items = lappend(builder->items, item);
	return gpb_settle(builder, &before, add_value(builder, item, value, GPB_NO_SLOT));
}

/*
 * Add terms of the values of any expression, which a program groups by in the place of the last
 * "instead" group slots.  Steps whose result no term takes are dropped, so lower halves have one
 * too unless they are a column's.
 */
static bool
add_counted_values(GpbProgramBuilder *builder, Expr *expression, int instead, GpbWordType *type,
				   int *term)
{
	GpbTyped	value = gpb_any_value(builder, expression);
	int			unused;

	if (value.slot == GPB_REFUSED ||
		(value.lower == 0 && !gpb_decimal_is_whole(builder, &value)))
		return false;
	if (builder->program.ngroups - instead + (value.lower != 0 ? 2 : 1) > GPB_MAX_GROUP_SLOTS)
		return gpb_cannot(builder, "more than %d expressions in GROUP BY and values of 16 bytes, "
						  "which count twice", GPB_MAX_GROUP_SLOTS);
	*type = value.type;
	if (!add_term(builder, value.slot, gpb_word_kind(*type), GPB_WANT_COUNT, GPB_NO_SLOT, term))
		return false;
	if (value.lower == 0)
		return true;
	builder->program.term[*term].lower = value.lower;
	return value.lower < GPB_FIRST_TEMPORARY ||
		add_integers(builder, value.lower, GPB_WANT_COUNT, GPB_NO_SLOT, &unused);
}

bool
gpb_build_values(GpbProgramBuilder *builder, Expr *value, int instead, GpbWordType *type,
				 int *term)
{
	GpbProgramBuilder before = *builder;

	return gpb_settle(builder, &before,
					  add_counted_values(builder, value, instead, type, term));
}
