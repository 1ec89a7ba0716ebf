/*-------------------------------------------------------------------------
 *
 * aggregate_values_match.c
 *	  Which aggregates over the values of an expression a node answers: planning.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/typcache.h"

#include "exec/aggregate/aggregate_values.h"
#include "exec/compile/program_codes.h"
#include "exec/compile/program_words.h"
#include "exec/partial/partial.h"
#include "exec/shell/expressions.h"
#include "page/page.h"

/* ---- min() and max() of texts ---- */

/* An order in the aggregate makes no difference, nor does DISTINCT. */
static const char *
match_extreme(GpbProgramBuilder *builder, Aggref *aggref, const GpbAggregate *known, Expr *value,
			  GpbValuesItem *item)
{
	if (list_length(aggref->args) != 1 || !OidIsValid(aggref->inputcollid) ||
		gpb_code_column(builder, value) < 0)
		return psprintf("aggregate %s", format_procedure(aggref->aggfnoid));
	item->compare = known->compare;
	item->collation = aggref->inputcollid;
	return NULL;
}

/* ---- DISTINCT ---- */

bool
gpb_depends_on_values(const Aggref *aggref)
{
	const GpbAggregate *known = gpb_find_aggregate(aggref->aggfnoid);

	if (aggref->aggkind != AGGKIND_NORMAL ||
		(known != NULL && (known->input == GPB_INPUT_CODE || known->input == GPB_INPUT_EACH)))
		return true;
	return aggref->aggdistinct != NIL &&
		(known == NULL || !gpb_functions[known->function].ignores_repeats);
}

Aggref *
gpb_without_distinct(Aggref *aggref)
{
	Aggref	   *plain;

	if (aggref->aggdistinct == NIL)
		return aggref;
	plain = makeNode(Aggref);
	memcpy(plain, aggref, sizeof(Aggref));
	plain->aggdistinct = NIL;
	plain->aggorder = NIL;		/* which can only be that of the values */
	return plain;
}

static const char *
match_distinct(Aggref *aggref, const GpbAggregate *known, Expr *value)
{
	SortGroupClause *distinct = linitial_node(SortGroupClause, aggref->aggdistinct);
	Oid			type = exprType((Node *) value);

	if (list_length(aggref->args) != 1)
		return "an aggregate with DISTINCT has several arguments";
	if (lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr != distinct->eqop)
		return "an aggregate has DISTINCT by an equality that is not the type's own";
	if (known != NULL &&
		(known->input == GPB_INPUT_ANY ||
		 (known->input == GPB_INPUT_WORD && gpb_aggregate_takes(known, type) &&
		  (!gpb_word_is_float(known->type) ||
		   (gpb_function_want(known->function) & GPB_WANT_SQUARES) == 0))))
		return NULL;
	return psprintf("aggregate %s with DISTINCT", format_procedure(aggref->aggfnoid));
}

/* ---- states of values ---- */

/* The type of the item becomes that of the values. */
static const char *
match_each(Aggref *aggref, Expr *value, GpbAggregateItem *each)
{
	Oid			type = exprType((Node *) value);

	if (list_length(aggref->args) != 1 || aggref->aggdistinct != NIL ||
		gpb_partial_type(type) == NULL)
		return psprintf("aggregate %s with DISTINCT, ORDER BY or of type %s",
						format_procedure(aggref->aggfnoid), format_type_be(type));
	each->type = gpb_sql_type(getBaseType(type));
	return NULL;
}

/* ---- WITHIN GROUP ---- */

/*
 * What percentile_cont() orders by as float8 is an integer below the cast, whose order is the same.
 */
static Expr *
below_float(Expr *value)
{
	if (IsA(value, FuncExpr))
	{
		FuncExpr   *call = (FuncExpr *) value;

		if (call->funcid == F_FLOAT8_INT2 || call->funcid == F_FLOAT8_INT4 ||
			call->funcid == F_FLOAT8_INT8)
			return linitial(call->args);
	}
	return value;
}

static const char *
match_ordered_set(Aggref *aggref, const GpbAggregate *known, Expr **value, GpbValuesItem *item)
{
	TypeCacheEntry *type = lookup_type_cache(exprType((Node *) *value),
											 TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	Oid			order;

	if (known == NULL)
		return psprintf("aggregate %s", format_procedure(aggref->aggfnoid));
	if (!gpb_word_is_ordered(gpb_word_type(exprType((Node *) *value))) ||
		gpb_type_has_dictionary(exprType((Node *) *value)))
		return psprintf("WITHIN GROUP of type %s", format_type_be(exprType((Node *) *value)));
	if (contain_var_clause((Node *) aggref->aggdirectargs))
		return "a fraction has a column";
	order = linitial_node(SortGroupClause, aggref->aggorder)->sortop;
	if (order != type->lt_opr && order != type->gt_opr)
		return "WITHIN GROUP has an order that is not the type's own";
	item->many = known->type == FLOAT8ARRAYOID;
	item->descending = order == type->gt_opr;
	item->type = exprType((Node *) *value);
	if (known->function == GPB_PERCENTILE_CONT)
		*value = below_float(*value);
	return NULL;
}

/* ---- all of them ---- */

/*
 * Are different codes different values of the expression, if its words are codes?  That depends on
 * its labels, which have the type and the collation by which it is compared.
 */
static bool
codes_are_values(GpbProgramBuilder *builder, Expr *value)
{
	int			slot = gpb_code_column(builder, value);

	return slot < 0 || gpb_code_tells_apart(builder, value, slot);
}

/* Match one aggregate to an item, and find out what its values are. */
static const char *
match_item(GpbProgramBuilder *builder, Aggref *aggref, GpbValuesItem *item, Expr **value)
{
	const GpbAggregate *known = gpb_find_aggregate(aggref->aggfnoid);
	const char *refusal;

	if (known != NULL)
		item->each = gpb_item(known);
	if (aggref->agglevelsup != 0 || aggref->aggsplit != AGGSPLIT_SIMPLE ||
		list_length(aggref->args) < 1)
		return "an aggregate is not of the query's rows";
	*value = linitial_node(TargetEntry, aggref->args)->expr;
	if (aggref->aggkind != AGGKIND_NORMAL)
		refusal = match_ordered_set(aggref, known, value, item);
	else if (known != NULL && known->input == GPB_INPUT_CODE)
		refusal = match_extreme(builder, aggref, known, *value, item);
	else if (known != NULL && known->input == GPB_INPUT_EACH)
		refusal = match_each(aggref, *value, &item->each);
	else
		refusal = match_distinct(aggref, known, *value);
	if (refusal != NULL)
		return refusal;
	if (contain_volatile_functions((Node *) aggref) || contain_subplans((Node *) aggref))
		return "an aggregate has a volatile function or a subquery";
	if (!codes_are_values(builder, *value))
		return gpb_builder_refusal(builder);
	/* Some aggregates of a domain's values are of its base type. */
	*value = gpb_without_labels(*value);
	if (!contain_var_clause((Node *) *value))
		return "an aggregate depends on the values of a constant";
	item->has_filter = aggref->aggfilter != NULL;
	if (item->has_filter && !gpb_build_count(builder, aggref->aggfilter, &item->filter))
		return gpb_builder_refusal(builder);
	return NULL;
}

/* The number of the plan for a value; -1 if there is none yet */
static int
find_value(const GpbValuesPlan *plans, int n, Expr *value)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		if (equal(linitial(plans[i].value), value))
			return i;
	}
	return -1;
}

/*
 * Have the program compute the value of the last of n plans: as a group if it is the first, else
 * for a term, by which a program groups in the place of the first.
 */
static bool
build_value(GpbProgramBuilder *builder, Expr *value, int n, GpbValuesPlan *plans)
{
	GpbValuesPlan *plan = &plans[n - 1];

	plan->value = list_make1(value);
	plan->term = -1;
	if (n == 1)
		return gpb_build_group(builder, value, true, &plan->type);
	return gpb_build_values(builder, value, gpb_type_words(plans[0].type), &plan->type,
							&plan->term);
}

/*
 * The words of an aggregate of numerics with DISTINCT are those of its values, as is how a sum is
 * put together from columns 0 and 1 of an answer, which are of the halves of numerics of 16 bytes.
 */
static const char *
settle_numeric(GpbWordType type, GpbValuesItem *item)
{
	GpbAggregateItem *each = &item->each;

	if (each->type.sql != NUMERICOID || each->function == GPB_PARTIAL_VALUES)
		return NULL;
	each->type = type;
	if (!gpb_type_is_wide(type))
		return NULL;
	if (each->function != GPB_SUM && each->function != GPB_AVG)
		return psprintf("aggregate %s with DISTINCT, of values of 16 bytes",
						format_procedure(each->aggregate));
	each->terms.lower = 1;
	return NULL;
}

/* Append an item, and the fraction of a percentile, to the plan of its values. */
static void
add_item(GpbValuesPlan *plan, const GpbValuesItem *item, Aggref *aggref)
{
	plan->items[plan->n++] = *item;
	if (gpb_function_is_percentile(item->each.function))
		plan->fractions = lappend(plan->fractions, linitial(aggref->aggdirectargs));
}

const char *
gpb_values_match(GpbProgramBuilder *builder, List *aggrefs, GpbValuesPlan **plans, int *n,
				 List **ordered)
{
	int			most = list_length(aggrefs);
	List	  **members = palloc0(sizeof(List *) * most);
	ListCell   *lc;
	int			i;

	*n = 0;
	*plans = palloc0(sizeof(GpbValuesPlan) * most);
	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);
		GpbValuesItem *item = palloc0(sizeof(GpbValuesItem));
		Expr	   *value;
		const char *refusal = match_item(builder, aggref, item, &value);

		if (refusal != NULL)
			return refusal;
		i = find_value(*plans, *n, value);
		if (i < 0)
		{
			i = (*n)++;
			(*plans)[i].items = palloc0(sizeof(GpbValuesItem) * most);
			if (!build_value(builder, value, *n, *plans))
				return gpb_builder_refusal(builder);
		}
		refusal = settle_numeric((*plans)[i].type, item);
		if (refusal != NULL)
			return refusal;
		add_item(&(*plans)[i], item, aggref);
		members[i] = lappend(members[i], aggref);
	}
	*ordered = NIL;
	for (i = 0; i < *n; i++)
		*ordered = list_concat(*ordered, members[i]);
	return NULL;
}

/* ---- what travels in the plan ---- */

void
gpb_values_put(List **private, const GpbValuesPlan *plan)
{
	int			i;

	gpb_put_int(private, plan->n);
	gpb_put_word_type(private, plan->type);
	gpb_put_int(private, plan->term);
	for (i = 0; i < plan->n; i++)
	{
		const GpbValuesItem *item = &plan->items[i];

		gpb_put_int(private, item->many);
		gpb_put_int(private, item->descending);
		gpb_put_oid(private, item->type);
		gpb_put_oid(private, item->compare);
		gpb_put_oid(private, item->collation);
		gpb_put_items(private, &item->each, 1);
		gpb_put_items(private, &item->filter, 1);
		gpb_put_int(private, item->has_filter);
	}
}

/* Read the one item that gpb_put_items() appended. */
static GpbAggregateItem
get_one_item(GpbPrivateReader *reader)
{
	GpbAggregateItem *item;

	(void) gpb_get_items(reader, &item);
	return *item;
}

void
gpb_values_get(GpbPrivateReader *reader, GpbValuesPlan *plan)
{
	int			i;

	plan->n = gpb_get_int(reader);
	plan->type = gpb_get_word_type(reader);
	plan->term = gpb_get_int(reader);
	plan->items = palloc0(sizeof(GpbValuesItem) * plan->n);
	for (i = 0; i < plan->n; i++)
	{
		GpbValuesItem *item = &plan->items[i];

		item->many = gpb_get_int(reader);
		item->descending = gpb_get_int(reader);
		item->type = gpb_get_oid(reader);
		item->compare = gpb_get_oid(reader);
		item->collation = gpb_get_oid(reader);
		item->each = get_one_item(reader);
		item->filter = get_one_item(reader);
		item->has_filter = gpb_get_int(reader);
	}
}
