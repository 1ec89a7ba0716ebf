/*-------------------------------------------------------------------------
 *
 * items.c
 *	  The aggregates of a query: which of them an index can answer, and in which form they travel
 *	  from the planner to the executor.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

#include "exec/compile/items.h"
#include "exec/compile/program_words.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "program/program.h"

/* ---- which aggregates ---- */

bool
gpb_aggref_is_ordinary(const Aggref *aggref)
{
	return aggref->aggkind == AGGKIND_NORMAL && aggref->agglevelsup == 0 &&
		aggref->aggsplit == AGGSPLIT_SIMPLE && aggref->aggdirectargs == NIL &&
		aggref->aggorder == NIL && aggref->aggdistinct == NIL;
}

GpbAggregateItem
gpb_item(const GpbAggregate *known)
{
	GpbAggregateItem item = {
		.function = known->function,
		.type = gpb_sql_type(known->type),
		.aggregate = known->aggregate
	};

	memset(&item.terms, 0xFF, sizeof(item.terms));	/* GPB_NO_TERM */
	return item;
}

/*
 * NaN is the greatest word, so the greatest tells whether it is among those summed; and no other
 * numeric of 16 bytes has its upper half.
 */
int
gpb_item_want(const GpbAggregateItem *item)
{
	int			want = gpb_function_want(item->function);

	if (gpb_type_is_wide(item->type) && (want & GPB_WANT_MINMAX) != 0)
		return (want & ~GPB_WANT_MINMAX) | GPB_WANT_HALVES;
	if (gpb_may_be_nan(item->type) && (want & GPB_WANT_SUM) != 0)
		want |= GPB_WANT_MINMAX;
	return want;
}

/* ---- does an index hold what is asked for? ---- */

/* A domain column shown as its base type comes below relabelings, which are stepped over. */
Var *
gpb_argument_var(Expr *argument, Index relid)
{
	Var		   *var = (Var *) gpb_without_labels(argument);

	return IsA(var, Var) && var->varno == relid && var->varlevelsup == 0 && var->varattno > 0 ?
		var : NULL;
}

/*
 * Can the index answer this aggregate of a bare column by a plain program?  That reads no columns
 * of a key that has several.  Fills in *item if so.
 */
static bool
match_aggref(Aggref *aggref, IndexOptInfo *index, GpbAggregateItem *item)
{
	const GpbAggregate *known = gpb_find_aggregate(aggref->aggfnoid);
	Expr	   *argument;
	Var		   *var;
	GpbCoding	coding;

	if (known == NULL || known->input > GPB_INPUT_WORD || !gpb_aggref_is_ordinary(aggref) ||
		aggref->aggfilter != NULL)
		return false;
	*item = gpb_item(known);
	if (known->input == GPB_INPUT_ROW)
		return true;

	argument = linitial_node(TargetEntry, aggref->args)->expr;
	if (known->input == GPB_INPUT_ANY && IsA(argument, Const))
	{
		item->function = GPB_COUNT_ENTRIES;
		return !((Const *) argument)->constisnull;
	}
	var = gpb_argument_var(argument, index->rel->relid);
	if (var == NULL)
		return false;
	item->column = gpb_index_column(index, var->varattno);
	if (item->column < 0 ||
		(index->nkeycolumns > 1 && gpb_column_position(index, item->column) < index->nkeycolumns))
		return false;
	if (known->input == GPB_INPUT_ANY)
		return true;
	coding = gpb_slot_coding(index, item->column);
	if (!gpb_column_has_words(index, item->column, coding) ||
		!gpb_want_is_plain(gpb_function_want(item->function)) ||
		!gpb_aggregate_takes(known, var->vartype))
		return false;
	if (item->type.sql == NUMERICOID)
		item->type = gpb_number_type(GPB_WORDS_NUMERIC, gpb_coding_scale(coding));
	return true;
}

bool
gpb_match_batch_aggrefs(IndexOptInfo *index, List *aggrefs, GpbAggregateItem **items)
{
	ListCell   *lc;

	*items = palloc0(sizeof(GpbAggregateItem) * list_length(aggrefs));
	foreach(lc, aggrefs)
	{
		GpbAggregateItem *item = &(*items)[foreach_current_index(lc)];

		if (!match_aggref(lfirst_node(Aggref, lc), index, item))
			return false;
	}
	return true;
}

int
gpb_count_columns(const GpbAggregateItem *items, int n)
{
	Bitmapset  *columns = NULL;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (items[i].function != GPB_COUNT_ENTRIES)
			columns = bms_add_member(columns, items[i].column);
	}
	return Max(bms_num_members(columns), 1);
}

#define GPB_ITEM_TERMS		((int) (sizeof(GpbItemTerms) / sizeof(int)))

void
gpb_map_item_terms(GpbAggregateItem *item, int (*other) (int term, void *context), void *context)
{
	int		   *term = (int *) &item->terms;

	if (item->function == GPB_COUNT_ENTRIES)
		return;
	item->column = other(item->column, context);
	for (int i = 0; i < GPB_ITEM_TERMS; i++)
	{
		if (term[i] != GPB_NO_TERM)
			term[i] = other(term[i], context);
	}
}

/* ---- what travels in the plan ---- */

/* Most items have no other terms, and fewer nodes travel faster. */
static bool
has_terms(const GpbAggregateItem *item)
{
	const int  *term = (const int *) &item->terms;
	int			i = 0;

	while (i < GPB_ITEM_TERMS && term[i] == GPB_NO_TERM)
		i++;
	return i < GPB_ITEM_TERMS;
}

void
gpb_put_items(List **private, const GpbAggregateItem *items, int n)
{
	gpb_put_int(private, n);
	for (int i = 0; i < n; i++)
	{
		const GpbAggregateItem *item = &items[i];

		gpb_put_int(private, item->function);
		gpb_put_int(private, item->column);
		gpb_put_word_type(private, item->type);
		gpb_put_oid(private, item->aggregate);
		gpb_put_int(private, has_terms(item));
		if (!has_terms(item))
			continue;
		for (int t = 0; t < GPB_ITEM_TERMS; t++)
			gpb_put_int(private, ((const int *) &item->terms)[t]);
		gpb_put_int(private, item->quotient.scale);
		gpb_put_int(private, item->quotient.divisor);
		gpb_put_int(private, item->quotient.divisor_scale);
	}
}

int
gpb_get_items(GpbPrivateReader *reader, GpbAggregateItem **items)
{
	int			n = gpb_get_int(reader);

	*items = palloc0(sizeof(GpbAggregateItem) * n);
	for (int i = 0; i < n; i++)
	{
		GpbAggregateItem *item = &(*items)[i];

		item->function = gpb_get_int(reader);
		item->column = gpb_get_int(reader);
		item->type = gpb_get_word_type(reader);
		item->aggregate = gpb_get_oid(reader);
		memset(&item->terms, 0xFF, sizeof(item->terms));	/* GPB_NO_TERM */
		if (!gpb_get_int(reader))
			continue;
		for (int t = 0; t < GPB_ITEM_TERMS; t++)
			((int *) &item->terms)[t] = gpb_get_int(reader);
		item->quotient.scale = gpb_get_int(reader);
		item->quotient.divisor = gpb_get_int(reader);
		item->quotient.divisor_scale = gpb_get_int(reader);
	}
	return n;
}

/* ---- execution ---- */

void
gpb_require_aggregate(Oid aggregate)
{
	AclResult	allowed = pg_proc_aclcheck(aggregate, GetUserId(), ACL_EXECUTE);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_AGGREGATE, get_func_name(aggregate));
	InvokeFunctionExecuteHook(aggregate);
}

void
gpb_require_aggregates(const GpbAggregateItem *items, int n)
{
	int			i;

	for (i = 0; i < n; i++)
		gpb_require_aggregate(items[i].aggregate);
}

void
gpb_require_function(Oid function)
{
	AclResult	allowed = pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

/* check_functions_in_node: raise the error for a function, and for an aggregate. */
static bool
require_function(Oid function, void *context)
{
	gpb_require_function(function);
	return false;
}

static bool
require_functions_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		gpb_require_aggregate(((Aggref *) node)->aggfnoid);
	else
		(void) check_functions_in_node(node, require_function, context);
	return expression_tree_walker(node, require_functions_walker, context);
}

void
gpb_require_functions(List *expressions)
{
	(void) require_functions_walker((Node *) expressions, NULL);
}

void
gpb_aggregate_wants(const GpbAggregateItem *items, int n, uint8 *want)
{
	int			i;

	for (i = 0; i < n; i++)
		want[items[i].column] |= gpb_item_want(&items[i]);
}
