/*-------------------------------------------------------------------------
 *
 * aggregate_price.c
 *	  The price of GpubtreeAggregate.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "engine/batch.h"
#include "engine/cost.h"
#include "exec/aggregate/aggregate_price.h"
#include "exec/bind/row_values.h"
#include "exec/functions/core_function.h"
#include "exec/price/core_paths.h"
#include "exec/price/price_constants.h"
#include "exec/price/unknown_bounds.h"
#include "exec/shell/settings.h"
#include "exec/where/arrays.h"
#include "mirror/mirror.h"
#include "page/page.h"
#include "program/group_table.h"

/* ---- groups ---- */

/*
 * The number of groups by these expressions, as core estimates it.  That is asked of several sets,
 * parts and indexes, and takes a look at statistics: it is kept with the query.
 */
static double
estimate_groups(const GpbAggregateQuery *query, List *expressions)
{
	GpbGroupEstimate *estimate;
	ListCell   *lc;

	if (expressions == NIL)
		return 1.0;
	foreach(lc, *query->group_estimates)
	{
		estimate = lfirst(lc);
		if (equal(estimate->expressions, expressions))
			return estimate->groups;
	}
	estimate = palloc(sizeof(GpbGroupEstimate));
	estimate->expressions = expressions;
	estimate->groups = estimate_num_groups(query->root, expressions, query->rel->rows, NULL, NULL);
	*query->group_estimates = lappend(*query->group_estimates, estimate);
	return estimate->groups;
}

/* Does the function make a wider integer of one? */
static bool
is_widening(const FuncExpr *call)
{
	const GpbFunction *function = gpb_core_function(call->funcid);

	return function != NULL && function->call == GPB_CALL_SAME && function->rise == GPB_RISE_SAME;
}

/* What is known of the values of an expression */
typedef struct GpbValues
{
	Node	   *column;			/* it has as many values as this */
	double		most;			/* but no more than so many */
	double		divisor;		/* and may have so many times fewer */
} GpbValues;

/* Get the magnitude of an integer constant that is not 0; returns false if the node is none. */
static bool
constant_magnitude(Node *node, double *magnitude)
{
	Const	   *value = (Const *) node;

	if (!IsA(node, Const) || value->constisnull)
		return false;
	switch (value->consttype)
	{
		case INT2OID:
			*magnitude = fabs((double) DatumGetInt16(value->constvalue));
			break;
		case INT4OID:
			*magnitude = fabs((double) DatumGetInt32(value->constvalue));
			break;
		case INT8OID:
			*magnitude = fabs((double) DatumGetInt64(value->constvalue));
			break;
		default:
			return false;
	}
	return *magnitude > 0.0;
}

/* Does an operator of a program do what one of + - * / % does in SQL? */
static bool
is_arithmetic(int op)
{
	switch (op)
	{
		case GPB_OP_ADD:
		case GPB_OP_SUBTRACT:
		case GPB_OP_MULTIPLY:
		case GPB_OP_DIVIDE:
		case GPB_OP_MODULO:
		case GPB_OP_NEGATE:
		case GPB_OP_FLOAT_ADD:
		case GPB_OP_FLOAT_SUBTRACT:
		case GPB_OP_FLOAT_MULTIPLY:
		case GPB_OP_FLOAT_DIVIDE:
		case GPB_OP_FLOAT_NEGATE:
		case GPB_OP_DATE_ADD:
		case GPB_OP_DATE_SUBTRACT:
			return true;
		default:
			return false;
	}
}

/*
 * Go from an operator to the argument on whose values its own depend; false if that is not known.
 * A sum, a difference and a product with what has no column have as many values as the other
 * argument; remainders are at most as many as the divisor, and a quotient may have fewer values.
 */
static bool
step_below(GpbValues *values)
{
	OpExpr	   *call = (OpExpr *) values->column;
	const GpbFunction *function = gpb_core_function(get_opcode(call->opno));
	int			op = function == NULL ? GPB_OPERATORS : function->op;
	Node	   *first = linitial(call->args);
	Node	   *last = llast(call->args);
	double		magnitude;

	if (!is_arithmetic(op))
		return false;
	if (op == GPB_OP_DIVIDE || op == GPB_OP_FLOAT_DIVIDE || op == GPB_OP_MODULO)
	{
		if (!constant_magnitude(last, &magnitude))
			return false;
		if (op == GPB_OP_MODULO)
			values->most = Min(values->most, magnitude);
		else
			values->divisor *= magnitude;
	}
	else if (first != last && contain_var_clause(last))
	{
		if (contain_var_clause(first))
			return false;
		first = last;
	}
	values->column = first;
	return true;
}

/* What is known of the values of an expression: go down to a column if there is one alone. */
static GpbValues
expression_values(Node *expression)
{
	GpbValues	values = {expression, INFINITY, 1.0};

	for (;;)
	{
		if (IsA(values.column, RelabelType))
			values.column = (Node *) ((RelabelType *) values.column)->arg;
		else if (IsA(values.column, FuncExpr) && is_widening((FuncExpr *) values.column))
			values.column = linitial(((FuncExpr *) values.column)->args);
		else if (!IsA(values.column, OpExpr) || !step_below(&values))
			return values;
	}
}

/*
 * The number of groups by these expressions, as far as statistics say it; 0 if they do not.  Sets
 * *exact if it is no mere lower limit.  Of an expression core takes as many values as its columns
 * have, which often is far too many.
 */
static double
known_groups(const GpbAggregateQuery *query, List *expressions, bool *exact)
{
	List	   *columns = NIL;
	double		most = 1.0;
	double		divisor = 1.0;
	ListCell   *lc;

	*exact = true;
	foreach(lc, expressions)
	{
		GpbValues	values = expression_values(lfirst(lc));

		if (!IsA(values.column, Var))
		{
			*exact = false;
			return 0.0;
		}
		most *= Min(values.most, estimate_groups(query, list_make1(values.column)));
		divisor *= values.divisor;
		columns = lappend(columns, values.column);
	}
	if (divisor > 1.0)
		*exact = false;
	return Min(most, estimate_groups(query, columns)) / divisor;
}

/* The query's group expressions in the set */
static List *
set_expressions(const GpbAggregateQuery *query, uint32 set)
{
	List	   *expressions = NIL;
	ListCell   *lc;

	foreach(lc, query->groups)
	{
		if (gpb_set_has(set, foreach_current_index(lc)))
			expressions = lappend(expressions, lfirst(lc));
	}
	return expressions;
}

/* The bytes of a group of the match's program */
static double
group_size(const GpbAggregateMatch *match)
{
	double		width = gpb_batch_group_width(&match->plan.program.program);

	if (match->plan.nvalues > 0)
		width += gpb_values_width();
	return width;
}

/* The number of groups that fit into memory */
static double
most_groups(const GpbAggregateMatch *match)
{
	double		limit = get_hash_memory_limit();
	double		size = group_size(match);
	double		groups = floor(limit / size);

	while (groups > 1.0 && gpb_groups_bytes(groups, size) > limit)
		groups = floor(groups * 0.99);
	return groups;
}

/* So many groups, or as many as fit into memory, which is looked for only where it may be less */
static double
groups_in_memory(const GpbAggregateMatch *match, double groups)
{
	if (gpb_groups_bytes(groups * 2.0, group_size(match)) <= get_hash_memory_limit())
		return groups;
	return Min(groups, most_groups(match));
}

/*
 * The number of a subprogram's groups that the price is for: of a program with groups by the
 * expressions of the set and, if there are values, by those of number "values".  If there are more
 * of them than fit into memory after all, what was tried until then is little beside what core's
 * plan takes for so many.
 */
static double
priced_groups(const GpbAggregateQuery *query, const GpbAggregateMatch *match, uint32 set,
			  int values)
{
	List	   *expressions = set_expressions(query, set);
	double		groups;
	double		known;
	bool		exact;

	if (values < match->plan.nvalues)
		expressions = list_concat(expressions, match->plan.values[values].value);
	known = known_groups(query, expressions, &exact);
	if (exact)
		return known;
	groups = Min(estimate_groups(query, expressions),
				 ceil(query->rel->rows / GPB_GROUP_ENTRIES));
	return Max(known, groups_in_memory(match, groups));
}

/* ---- programs ---- */

/*
 * What all subprograms ask of the index. setup_cost is charged whatever the engine, so that plans
 * do not depend on it for small queries.
 */
static GpbPriceInput
price_input(const GpbAggregateQuery *query, const GpbAggregateMatch *match, double entries)
{
	const GpbAggregatePlan *plan = &match->plan;
	GpbPriceInput input = {.root = query->root, .index = match->index, .entries = entries};

	if (plan->arrays != NIL && plan->skips == NIL)
		gpb_price_arrays(&input, plan->arrays);
	else
		input.begin = gpb_setup_cost;
	if (plan->skips != NIL)
		gpb_price_skip(&input, &match->skip);
	if (input.ranges > 0)
		input.more_columns = gpb_count_columns(plan->items, plan->nitems) - 1;
	else
		input.seen = entries;
	return input;
}

/*
 * What one subprogram's program costs beyond reading the entries.  The query's rows are those of
 * the match's entries that pass the filters.
 */
static Cost
program_price(const GpbAggregateQuery *query, const GpbAggregateMatch *match, GpbPriceInput *input,
			  double groups)
{
	double		passed = input->entries * Min(query->rel->rows / Max(match->entries, 1.0), 1.0);
	double		bytes = groups * group_size(match);
	double		each = GPB_GROUP_ENTRY_COST;

	if (!match->plan.has_program)
		return 0.0;
	input->program = gpb_builder_cost(match->builder, input->entries, passed);
	if (bytes > GPB_CACHED_GROUPS)
		each += GPB_MANY_GROUPS_COST;
	if (bytes > GPB_NEAR_GROUPS)
		each += GPB_MOST_GROUPS_COST;
	if (match->plan.program.program.ngroups > 0)
		input->program += passed * each * cpu_operator_cost;
	return gpb_program_price(input);
}

/*
 * The price of all subprograms of the plan's phases, each over so many entries.  Adds to *bytes
 * what their groups have in all; those that are merged for a set may have as much again.
 */
static Cost
parts_cost(const GpbAggregateQuery *query, const GpbAggregateMatch *match, double entries,
		   double *bytes)
{
	const GpbSetsPlan *sets = &match->plan.sets;
	GpbPriceInput input = price_input(query, match, entries);
	Cost		read = gpb_price(&input);
	Cost		cost = 0.0;
	int			phase;
	int			values;

	for (phase = 0; phase < sets->nphases; phase++)
	{
		for (values = 0; values < Max(match->plan.nvalues, 1); values++)
		{
			double		groups = priced_groups(query, match, sets->phases[phase], values);

			cost += read + program_price(query, match, &input, groups);
			*bytes += gpb_groups_bytes(groups, group_size(match)) * (sets->n > 1 ? 2.0 : 1.0);
		}
	}
	return cost;
}

/*
 * The price of the sets' groups: those that differ from their phase's are merged, and values have
 * to be brought into order.
 */
static Cost
sets_cost(const GpbAggregateQuery *query, const GpbAggregateMatch *match)
{
	const GpbSetsPlan *sets = &match->plan.sets;
	Cost		cost = 0.0;
	int			set;
	int			values;

	for (set = 0; set < sets->n; set++)
	{
		for (values = 0; values < Max(match->plan.nvalues, 1); values++)
		{
			uint32		phase = sets->phases[sets->phase[set]];

			if (sets->set[set] != phase)
				cost += priced_groups(query, match, phase, values) * GPB_MERGE_COST *
					cpu_operator_cost;
			if (match->plan.nvalues > 0)
				cost += gpb_values_cost(priced_groups(query, match, sets->set[set], values));
		}
	}
	return cost;
}

/*
 * Choose the phases of the sets that cost less.  Returns their price; *bytes is that of their
 * groups.
 */
static Cost
choose_phases(const GpbAggregateQuery *query, GpbAggregateMatch *match, double *bytes)
{
	double		bytes_apart = 0.0;
	Cost		together;
	Cost		apart;

	*bytes = 0.0;
	if (match->plan.sets.nphases > 0)
		return parts_cost(query, match, match->entries, bytes) + sets_cost(query, match);
	gpb_sets_in_one_phase(&match->plan.sets);
	together = parts_cost(query, match, match->entries, bytes) + sets_cost(query, match);
	if (match->plan.sets.n == 1)
		return together;
	gpb_sets_in_phases(&match->plan.sets);
	apart = parts_cost(query, match, match->entries, &bytes_apart) + sets_cost(query, match);
	if (apart < together)
	{
		*bytes = bytes_apart;
		return apart;
	}
	gpb_sets_in_one_phase(&match->plan.sets);
	return together;
}

/*
 * Have the plan skip if that costs less.  Returns the price of the phases; *bytes is that of their
 * groups.  Each choice of phases makes arrays of its own, so the former one's can be put back.
 */
static Cost
choose_skip(const GpbAggregateQuery *query, GpbAggregateMatch *match, double *bytes)
{
	Cost		whole = choose_phases(query, match, bytes);
	double		whole_bytes = *bytes;
	double		whole_entries = match->entries;
	GpbSetsPlan whole_sets = match->plan.sets;
	Cost		skipping;

	if (match->skip.conditions == NIL)
		return whole;
	match->plan.skips = match->skip.conditions;
	match->plan.skip_prefix = match->skip.prefix;
	match->entries = match->skip.entries;
	skipping = choose_phases(query, match, bytes);
	if (skipping < whole)
		return skipping;
	match->plan.skips = NIL;
	match->plan.sets = whole_sets;
	match->entries = whole_entries;
	*bytes = whole_bytes;
	return whole;
}

/* ---- the whole ---- */

/* What the plan node is charged whatever its programs do */
static Cost
begin_cost(const GpbAggregateQuery *query, const GpbAggregateMatch *match)
{
	const GpbAggregatePlan *plan = &match->plan;
	Cost		cost = gpb_bounds_price(query->root, plan->conditions, plan->arms);

	if (plan->has_program)
		cost += gpb_builder_begin_cost(match->builder);
	if (plan->arrays == NIL && gpb_has_outer_value(query->root, (Node *)
												   list_make3(plan->conditions, plan->arms,
															  plan->program.constants)))
		cost += gpb_setup_cost * (GPB_EACH_ROW_SETUP - 1.0);
	return cost;
}

/* The number of rows before HAVING: as core estimates it, and as the price is for */
static void
estimate_rows(const GpbAggregateQuery *query, const GpbAggregateMatch *match, double *estimated,
			  double *priced)
{
	const GpbSetsPlan *sets = &match->plan.sets;
	int			set;

	*estimated = 0.0;
	*priced = 0.0;
	for (set = 0; set < sets->n; set++)
	{
		double		rows = estimate_groups(query, set_expressions(query, sets->set[set]));
		double		groups = priced_groups(query, match, sets->set[set], 0);

		*estimated += rows;
		*priced += match->plan.nvalues > 0 ? Min(groups, rows) : groups;
	}
}

/*
 * By how much the price of the match is below that for the estimate of its entries: by nothing, but
 * for unknown bounds
 */
static Cost
lowered_cost(const GpbAggregateQuery *query, const GpbAggregateMatch *match)
{
	const GpbAggregatePlan *plan = &match->plan;
	double		bytes = 0.0;
	double		entries;

	if (plan->skips != NIL || plan->arrays != NIL)
		return 0.0;
	entries = gpb_priced_entries(query->root, match->index, plan->conditions, plan->arms,
								 match->others, match->entries);
	if (entries >= match->entries)
		return 0.0;
	return parts_cost(query, match, match->entries, &bytes) -
		parts_cost(query, match, entries, &bytes);
}

/*
 * Fill in rows and costs of a path: "cost" is that of the answer, and "bytes" what its groups have.
 * Returns NULL, or why the path is not to be offered.
 */
static const char *
fill_price(const GpbAggregateQuery *query, const GpbAggregateMatch *match, Cost cost,
		   double bytes, Path *path)
{
	PathTarget *target = query->target;
	double		estimated;
	double		rows;
	Selectivity kept;
	QualCost	having;
	Cost		row;

	if (match->plan.program.program.ngroups > 0 && bytes > get_hash_memory_limit())
		return "its groups do not fit into hash_mem";
	estimate_rows(query, match, &estimated, &rows);
	kept = clauselist_selectivity(query->root, query->having, 0, JOIN_INNER, NULL);
	cost_qual_eval(&having, query->having, query->root);
	row = having.per_tuple + target->cost.per_tuple;
	if (query->groups != NIL)
		row += cpu_tuple_cost;
	path->rows = clamp_row_est(estimated * kept);
	path->startup_cost = cost + having.startup + target->cost.startup;
	path->total_cost = path->startup_cost + rows * row;
	/* core hashes rows that shards send, of whose way it has no price worth the name */
	if (match->plan.nvalues == 0 && query->state == NULL && match->plan.nshards == 0 &&
		gpb_hashing_is_cheaper(query->root, query->grouped_rel, path->total_cost,
							   list_length(query->groups), rows))
		return "an ordinary plan that hashes groups is cheaper";
	return NULL;
}

const char *
gpb_aggregate_price(const GpbAggregateQuery *query, GpbAggregateMatch *match, Path *path,
					Cost *estimated_cost)
{
	double		bytes;
	Cost		phases = choose_skip(query, match, &bytes);
	Cost		lowered = lowered_cost(query, match);
	const char *refusal = fill_price(query, match, begin_cost(query, match) + phases - lowered,
									 bytes, path);

	*estimated_cost = path->total_cost + lowered;
	return refusal;
}

/*
 * The groups of all subprograms are merged, and then those of the sets are made of them.  There are
 * as many as one part has at least: nobody may have analyzed the parent, of which core's estimate
 * is.  Those of several sets may take as much again, as in parts_cost().
 */
const char *
gpb_aggregate_merge_price(const GpbAggregateQuery *query, const GpbAggregatePlan *plan,
						  const Path *states, double of_part, Path *path)
{
	GpbAggregateMatch match = {.plan = *plan};
	double		bytes = 0.0;

	for (int phase = 0; phase < plan->sets.nphases; phase++)
	{
		for (int values = 0; values < Max(plan->nvalues, 1); values++)
			bytes += gpb_groups_bytes(priced_groups(query, &match, plan->sets.phases[phase],
													values), group_size(&match));
	}
	bytes = Max(bytes, gpb_groups_bytes(of_part, group_size(&match)));
	if (plan->sets.n > 1)
		bytes *= 2.0;
	return fill_price(query, &match, states->total_cost + sets_cost(query, &match) +
					  states->rows * GPB_MERGE_COST * cpu_operator_cost, bytes, path);
}

/* The price of having the columns that the program reads of a row as words */
static Cost
row_values_cost(const GpbAggregateMatch *match)
{
	const GpbAggregatePlan *plan = &match->plan;
	const IndexOptInfo *index = match->index;
	Bitmapset  *columns = gpb_row_columns(&plan->program.program, plan->items, plan->nitems,
										  index->nkeycolumns, index->ncolumns);
	Cost		cost = 0.0;
	int			c = -1;

	while ((c = bms_next_member(columns, c)) >= 0)
	{
		TargetEntry *column = list_nth_node(TargetEntry, index->indextlist, c);
		Oid			type = exprType((Node *) column->expr);

		cost += GPB_ROW_VALUE_COST;
		if (gpb_is_numeric(type))
			cost += GPB_ROW_NUMERIC_COST;
		if (gpb_type_has_dictionary(type))
			cost += GPB_ROW_TEXT_COST;
	}
	return cost * cpu_operator_cost;
}

/* All programs read the same row; each evaluates it and finds its group. */
Cost
gpb_aggregate_row_cost(const GpbAggregateMatch *match)
{
	const GpbAggregatePlan *plan = &match->plan;
	Cost		cost = 0.0;

	if (match->builder != NULL)
		cost += gpb_builder_cost(match->builder, 1.0, 1.0);
	if (plan->program.program.ngroups > 0)
		cost += GPB_GROUP_ENTRY_COST * cpu_operator_cost;
	return row_values_cost(match) + cost * plan->sets.nphases * Max(plan->nvalues, 1);
}
