/*-------------------------------------------------------------------------
 *
 * aggregate_shard_query.c
 *	  What a shard is asked for: the groups of a program, and what its answers are made of.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_path.h"
#include "exec/aggregate/aggregate_shard_query.h"
#include "exec/functions/core_aggregate.h"

/* ---- columns ---- */

/* Is there such a column of an item already, whose words are those of item "number" too? */
static bool
has_column(const GpbShardQuery *asked, GpbShardPart part, int number, const Expr *expression)
{
	for (int i = 0; i < asked->n; i++)
	{
		const GpbShardColumn *column = &asked->column[i];

		if (column->part == part && part > GPB_SHARD_ROWS &&
			asked->terms[column->number] == asked->terms[number] &&
			equal(list_nth(asked->exprs, i), expression))
			return true;
	}
	return false;
}

/* Add a column, unless there is such a one; false if there are too many. */
static bool
add_column(GpbShardQuery *asked, GpbShardPart part, int number, Expr *expression)
{
	if (has_column(asked, part, number, expression))
		return true;
	if (asked->n == GPB_MAX_SHARD_COLUMNS)
		return false;
	asked->column[asked->n++] = (GpbShardColumn) {part, number, exprType((Node *) expression)};
	asked->exprs = lappend(asked->exprs, expression);
	return true;
}

/* ---- aggregates ---- */

/* Core's aggregate "function" of the same argument, with the same FILTER */
static Expr *
other_aggregate(const Aggref *aggref, Oid function, Oid type)
{
	Aggref	   *other = copyObject((Aggref *) aggref);

	other->aggfnoid = function;
	other->aggtype = type;
	/* equal ones are one column, whatever number the query's has */
	other->aggtranstype = InvalidOid;
	other->aggno = other->aggtransno = -1;
	return (Expr *) other;
}

/* The same aggregate */
static Expr *
same_aggregate(const Aggref *aggref)
{
	return other_aggregate(aggref, aggref->aggfnoid, aggref->aggtype);
}

/* The number of rows of a group */
static Expr *
count_rows(Expr *filter)
{
	Aggref	   *count = makeNode(Aggref);

	count->aggfnoid = F_COUNT_;
	count->aggtype = INT8OID;
	count->aggtranstype = InvalidOid;
	count->aggstar = true;
	count->aggfilter = filter;
	count->aggkind = AGGKIND_NORMAL;
	count->aggsplit = AGGSPLIT_SIMPLE;
	count->aggno = -1;
	count->aggtransno = -1;
	count->location = -1;
	return (Expr *) count;
}

/* Core's sum of values of the item's type; InvalidOid if that is not exact, or not the same here */
static Oid
exact_sum(const GpbAggregateItem *item, Oid *type)
{
	*type = item->type.sql == INT2OID || item->type.sql == INT4OID ? INT8OID : NUMERICOID;
	switch (item->type.sql)
	{
		case INT2OID:
			return F_SUM_INT2;
		case INT4OID:
			return F_SUM_INT4;
		case INT8OID:
			return F_SUM_INT8;
		case NUMERICOID:
			return item->type.class == GPB_WORDS_WIDE ? InvalidOid : F_SUM_NUMERIC;
		default:
			return InvalidOid;
	}
}

/* Are the item's values quotients, or do they vary in the digits that they are displayed with? */
static bool
has_varying_digits(const GpbItemTerms *terms)
{
	return terms->dividends != GPB_NO_TERM || terms->digits != GPB_NO_TERM;
}

/* Add a column of partial states of these, over the aggregate's arguments. */
static bool
add_state(GpbShardQuery *asked, GpbAggregateFunction function, Oid type, int number,
		  const Aggref *aggref)
{
	Oid			partial = gpb_own_aggregate(function, type);

	return OidIsValid(partial) &&
		add_column(asked, GPB_SHARD_STATE, number, other_aggregate(aggref, partial, BYTEAOID));
}

/*
 * Add what sums are made of: sums of core's, or a partial state, where the item is one, or core's
 * sums are not exact or do not say all.
 */
static bool
add_sums(GpbShardQuery *asked, const GpbAggregateItem *item, int want, int number, Aggref *aggref)
{
	Oid			type;
	Oid			sum = exact_sum(item, &type);

	if ((want & GPB_WANT_SQUARES) == 0 && OidIsValid(sum) &&
		!gpb_function_is_partial(item->function))
		return add_column(asked, GPB_SHARD_COUNT, number,
						  other_aggregate(aggref, F_COUNT_ANY, INT8OID)) &&
			add_column(asked, GPB_SHARD_SUM, number, other_aggregate(aggref, sum, type));
	/* one state for all items of the term */
	return add_state(asked, (want & GPB_WANT_SQUARES) != 0 ? GPB_PARTIAL_MOMENTS :
					 GPB_PARTIAL_SUMS, item->type.sql, number, aggref);
}

/* Add the columns of an item that is not only counted, of whose term so much is wanted. */
static bool
add_values(GpbShardQuery *asked, const GpbAggregateItem *item, int want, int number, Aggref *aggref)
{
	if (gpb_function_is_state(item->function) || item->type.sql == MONEYOID ||
		has_varying_digits(&item->terms))
		return false;
	if (gpb_input_is_pair(gpb_find_aggregate(aggref->aggfnoid)->input))
		return add_state(asked, GPB_PARTIAL_PAIRS, FLOAT8OID, number, aggref);
	if ((gpb_function_want(item->function) & GPB_WANT_SUM) != 0)
		return add_sums(asked, item, want, number, aggref);
	if (!add_column(asked, GPB_SHARD_COUNT, number,
					other_aggregate(aggref, F_COUNT_ANY, INT8OID)))
		return false;
	switch (item->function)
	{
		case GPB_MIN:
			return add_column(asked, GPB_SHARD_LEAST, number, same_aggregate(aggref));
		case GPB_MAX:
			return add_column(asked, GPB_SHARD_GREATEST, number, same_aggregate(aggref));
		case GPB_BIT_AND:
			return add_column(asked, GPB_SHARD_AND, number, same_aggregate(aggref));
		case GPB_BIT_OR:
			return add_column(asked, GPB_SHARD_OR, number, same_aggregate(aggref));
		case GPB_BIT_XOR:
			return add_column(asked, GPB_SHARD_XOR, number, same_aggregate(aggref));
		default:
			return false;
	}
}

/* Add the columns of an item of whose term so much is wanted. */
static bool
add_item(GpbShardQuery *asked, const GpbAggregateItem *item, int want, int number, Aggref *aggref)
{
	if (aggref->aggdistinct != NIL)
		aggref = gpb_without_distinct(aggref);
	if (item->function == GPB_COUNT_ENTRIES)
		return true;
	if (item->function == GPB_COUNT_VALUES)
		return add_column(asked, GPB_SHARD_COUNT, number, same_aggregate(aggref));
	return add_values(asked, item, want, number, aggref);
}

/* Note which items are of the same values, and have the same FILTER: they have one term. */
static void
note_terms(GpbShardQuery *asked, const GpbAggregatePlan *plan, int nitems,
		   const GpbValuesPlan *values)
{
	int			nvalues = values == NULL ? 0 : values->n;

	asked->terms = palloc(sizeof(int) * (nitems + nvalues));
	for (int i = 0; i < nitems; i++)
		asked->terms[i] = plan->items[i].column;
	for (int i = 0; i < nvalues; i++)
		asked->terms[nitems + i] = values->items[i].filter.column;
}

/* Add the columns of ordinary aggregates, with which the list "aggregates" begins. */
static bool
add_items(GpbShardQuery *asked, const GpbAggregatePlan *plan, List *aggregates)
{
	const GpbProgram *program = &plan->program.program;

	for (int i = 0; i < plan->nitems; i++)
	{
		const GpbAggregateItem *item = &plan->items[i];
		int			want = item->column < program->nterms ? program->term[item->column].want : 0;

		if (!add_item(asked, item, want, i, list_nth_node(Aggref, aggregates, i)))
			return false;
	}
	return true;
}

/*
 * Add the columns of the filters of n aggregates that depend on values, the first of which is
 * number "first" in the list.
 */
static bool
add_filters(GpbShardQuery *asked, int nitems, List *aggregates, int first, int n)
{
	for (int i = 0; i < n; i++)
	{
		Aggref	   *aggref = list_nth_node(Aggref, aggregates, first + i);

		if (aggref->aggfilter != NULL &&
			!add_column(asked, GPB_SHARD_COUNT, nitems + i, count_rows(aggref->aggfilter)))
			return false;
	}
	return true;
}

/* ---- groups ---- */

/* Add the clause by which the shards' query groups by the column that is added next. */
static void
add_clause(GpbShardQuery *asked, Expr *expression)
{
	SortGroupClause *clause = makeNode(SortGroupClause);
	TypeCacheEntry *type = lookup_type_cache(exprType((Node *) expression),
											 TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);

	clause->tleSortGroupRef = asked->n + 1;
	clause->eqop = type->eq_opr;
	clause->sortop = type->lt_opr;
	clause->hashable = true;
	asked->query->groupClause = lappend(asked->query->groupClause, clause);
}

/* Add group number "number", and its clause.  Of groups by date_trunc() the shards' are bins. */
static bool
add_group(GpbShardQuery *asked, int number, Expr *expression)
{
	FuncExpr   *bin = gpb_shard_bin(expression);

	add_clause(asked, bin != NULL ? (Expr *) bin : expression);
	if (bin == NULL)
		return add_column(asked, GPB_SHARD_GROUP, number, expression);
	asked->bins = lappend(asked->bins, gpb_shard_bin_result((FuncExpr *) expression));
	return add_column(asked, GPB_SHARD_BIN, number, (Expr *) bin);
}

/* Add the first and the last moment of each bin. */
static bool
add_moments(GpbShardQuery *asked)
{
	int			ngroups = asked->n;

	for (int i = 0; i < ngroups; i++)
	{
		int			number = asked->column[i].number;
		Expr	   *moment;

		if (asked->column[i].part != GPB_SHARD_BIN)
			continue;
		moment = lsecond(((FuncExpr *) list_nth(asked->exprs, i))->args);
		if (!add_column(asked, GPB_SHARD_FIRST, number, gpb_shard_moment(moment, false)) ||
			!add_column(asked, GPB_SHARD_LAST, number, gpb_shard_moment(moment, true)))
			return false;
	}
	return true;
}

/* Add the groups of a phase, and those of values, if there are any. */
static bool
add_groups(GpbShardQuery *asked, const GpbGrouping *grouping, uint32 phase, Expr *value)
{
	int			ngroups = list_length(grouping->groups);

	for (int i = 0; i < ngroups; i++)
	{
		if (gpb_set_has(phase, i) && !add_group(asked, i, list_nth(grouping->groups, i)))
			return false;
	}
	return (value == NULL || add_group(asked, ngroups, value)) && add_moments(asked);
}

/* ---- the query ---- */

Query *
gpb_shard_grouping_query(const Query *parse)
{
	Query	   *query = makeNode(Query);

	*query = *parse;
	query->groupClause = query->groupingSets = query->distinctClause = query->sortClause = NIL;
	query->havingQual = NULL;
	query->hasAggs = true;
	query->hasDistinctOn = query->hasWindowFuncs = query->hasTargetSRFs = false;
	return query;
}

bool
gpb_shard_query(const GpbGrouping *grouping, const GpbAggregatePath *first, int program,
				GpbShardQuery *asked)
{
	const GpbAggregatePlan *plan = &first->plan;
	int			subs = Max(plan->nvalues, 1);
	int			of_values = program % subs;
	int			nitems = of_values == 0 ? plan->nitems : 0;
	const GpbValuesPlan *values = of_values < plan->nvalues ? &plan->values[of_values] : NULL;
	int			before = plan->nitems;
	Expr	   *value = NULL;

	for (int i = 0; i < of_values; i++)
		before += plan->values[i].n;
	if (values != NULL)
	{
		GpbSibling	parent;

		gpb_sibling_begin(grouping->root, first->index->rel, grouping->rel, &parent);
		value = (Expr *) gpb_sibling_expression(&parent, linitial(values->value));
	}
	memset(asked, 0, sizeof(*asked));
	asked->query = gpb_shard_grouping_query(grouping->root->parse);
	note_terms(asked, plan, nitems, values);
	return add_groups(asked, grouping, plan->sets.phases[program / subs], value) &&
		add_column(asked, GPB_SHARD_ROWS, 0, count_rows(NULL)) &&
		(nitems == 0 || add_items(asked, plan, first->values)) &&
		(values == NULL || add_filters(asked, nitems, first->values, before, values->n));
}
