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
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "exec/compile/items.h"
#include "exec/compile/program_words.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_rules.h"
#include "program/program.h"

/* Core's aggregates that we know, by the type of their argument */
static const struct
{
	Oid			aggregate;
	GpbAggregateFunction function;
	Oid			type;
}			gpb_aggregates[] = {
	{F_SUM_INT2, GPB_SUM, INT2OID},
	{F_SUM_INT4, GPB_SUM, INT4OID},
	{F_SUM_INT8, GPB_SUM, INT8OID},
	{F_SUM_FLOAT8, GPB_SUM, FLOAT8OID},
	{F_SUM_FLOAT4, GPB_SUM, FLOAT4OID},
	{F_SUM_MONEY, GPB_SUM, MONEYOID},
	{F_SUM_NUMERIC, GPB_SUM, NUMERICOID},
	{F_AVG_NUMERIC, GPB_AVG, NUMERICOID},
	{F_MIN_NUMERIC, GPB_MIN, NUMERICOID},
	{F_MAX_NUMERIC, GPB_MAX, NUMERICOID},
	{F_AVG_INT2, GPB_AVG, INT2OID},
	{F_AVG_INT4, GPB_AVG, INT4OID},
	{F_AVG_INT8, GPB_AVG, INT8OID},
	{F_AVG_FLOAT8, GPB_AVG, FLOAT8OID},
	{F_AVG_FLOAT4, GPB_AVG, FLOAT4OID},
	{F_MIN_INT2, GPB_MIN, INT2OID},
	{F_MIN_INT4, GPB_MIN, INT4OID},
	{F_MIN_INT8, GPB_MIN, INT8OID},
	{F_MIN_FLOAT8, GPB_MIN, FLOAT8OID},
	{F_MIN_DATE, GPB_MIN, DATEOID},
	{F_MIN_TIMESTAMP, GPB_MIN, TIMESTAMPOID},
	{F_MIN_TIMESTAMPTZ, GPB_MIN, TIMESTAMPTZOID},
	{F_MIN_FLOAT4, GPB_MIN, FLOAT4OID},
	{F_MIN_TIME, GPB_MIN, TIMEOID},
	{F_MIN_MONEY, GPB_MIN, MONEYOID},
	{F_MIN_XID8, GPB_MIN, XID8OID},
	{F_MIN_PG_LSN, GPB_MIN, LSNOID},
	{F_MAX_INT2, GPB_MAX, INT2OID},
	{F_MAX_INT4, GPB_MAX, INT4OID},
	{F_MAX_INT8, GPB_MAX, INT8OID},
	{F_MAX_FLOAT8, GPB_MAX, FLOAT8OID},
	{F_MAX_DATE, GPB_MAX, DATEOID},
	{F_MAX_TIMESTAMP, GPB_MAX, TIMESTAMPOID},
	{F_MAX_TIMESTAMPTZ, GPB_MAX, TIMESTAMPTZOID},
	{F_MAX_FLOAT4, GPB_MAX, FLOAT4OID},
	{F_MAX_TIME, GPB_MAX, TIMEOID},
	{F_MAX_MONEY, GPB_MAX, MONEYOID},
	{F_MAX_XID8, GPB_MAX, XID8OID},
	{F_MAX_PG_LSN, GPB_MAX, LSNOID},
	{F_VAR_POP_INT2, GPB_VAR_POP, INT2OID},
	{F_VAR_POP_INT4, GPB_VAR_POP, INT4OID},
	{F_VAR_POP_INT8, GPB_VAR_POP, INT8OID},
	{F_VAR_POP_FLOAT8, GPB_VAR_POP, FLOAT8OID},
	{F_VAR_POP_FLOAT4, GPB_VAR_POP, FLOAT4OID},
	{F_VAR_POP_NUMERIC, GPB_VAR_POP, NUMERICOID},
	{F_VAR_SAMP_INT2, GPB_VAR_SAMP, INT2OID},
	{F_VAR_SAMP_INT4, GPB_VAR_SAMP, INT4OID},
	{F_VAR_SAMP_INT8, GPB_VAR_SAMP, INT8OID},
	{F_VAR_SAMP_FLOAT8, GPB_VAR_SAMP, FLOAT8OID},
	{F_VAR_SAMP_FLOAT4, GPB_VAR_SAMP, FLOAT4OID},
	{F_VAR_SAMP_NUMERIC, GPB_VAR_SAMP, NUMERICOID},
	{F_VARIANCE_INT2, GPB_VAR_SAMP, INT2OID},
	{F_VARIANCE_INT4, GPB_VAR_SAMP, INT4OID},
	{F_VARIANCE_INT8, GPB_VAR_SAMP, INT8OID},
	{F_VARIANCE_FLOAT8, GPB_VAR_SAMP, FLOAT8OID},
	{F_VARIANCE_FLOAT4, GPB_VAR_SAMP, FLOAT4OID},
	{F_VARIANCE_NUMERIC, GPB_VAR_SAMP, NUMERICOID},
	{F_STDDEV_POP_INT2, GPB_STDDEV_POP, INT2OID},
	{F_STDDEV_POP_INT4, GPB_STDDEV_POP, INT4OID},
	{F_STDDEV_POP_INT8, GPB_STDDEV_POP, INT8OID},
	{F_STDDEV_POP_FLOAT8, GPB_STDDEV_POP, FLOAT8OID},
	{F_STDDEV_POP_FLOAT4, GPB_STDDEV_POP, FLOAT4OID},
	{F_STDDEV_POP_NUMERIC, GPB_STDDEV_POP, NUMERICOID},
	{F_STDDEV_SAMP_INT2, GPB_STDDEV_SAMP, INT2OID},
	{F_STDDEV_SAMP_INT4, GPB_STDDEV_SAMP, INT4OID},
	{F_STDDEV_SAMP_INT8, GPB_STDDEV_SAMP, INT8OID},
	{F_STDDEV_SAMP_FLOAT8, GPB_STDDEV_SAMP, FLOAT8OID},
	{F_STDDEV_SAMP_FLOAT4, GPB_STDDEV_SAMP, FLOAT4OID},
	{F_STDDEV_SAMP_NUMERIC, GPB_STDDEV_SAMP, NUMERICOID},
	{F_STDDEV_INT2, GPB_STDDEV_SAMP, INT2OID},
	{F_STDDEV_INT4, GPB_STDDEV_SAMP, INT4OID},
	{F_STDDEV_INT8, GPB_STDDEV_SAMP, INT8OID},
	{F_STDDEV_FLOAT8, GPB_STDDEV_SAMP, FLOAT8OID},
	{F_STDDEV_FLOAT4, GPB_STDDEV_SAMP, FLOAT4OID},
	{F_STDDEV_NUMERIC, GPB_STDDEV_SAMP, NUMERICOID},
	{F_BOOL_AND, GPB_BOOL_AND, BOOLOID},
	{F_EVERY, GPB_BOOL_AND, BOOLOID},
	{F_BOOL_OR, GPB_BOOL_OR, BOOLOID},
	{F_BIT_AND_INT2, GPB_BIT_AND, INT2OID},
	{F_BIT_AND_INT4, GPB_BIT_AND, INT4OID},
	{F_BIT_AND_INT8, GPB_BIT_AND, INT8OID},
	{F_BIT_OR_INT2, GPB_BIT_OR, INT2OID},
	{F_BIT_OR_INT4, GPB_BIT_OR, INT4OID},
	{F_BIT_OR_INT8, GPB_BIT_OR, INT8OID},
	{F_BIT_XOR_INT2, GPB_BIT_XOR, INT2OID},
	{F_BIT_XOR_INT4, GPB_BIT_XOR, INT4OID},
	{F_BIT_XOR_INT8, GPB_BIT_XOR, INT8OID},
};

/* Core's aggregates of two arguments that we know */
static const struct
{
	Oid			aggregate;
	GpbAggregateFunction function;
	GpbPairInput input;
}			gpb_pair_aggregates[] = {
	{F_REGR_COUNT, GPB_COUNT_VALUES, GPB_PAIR_ROWS},
	{F_REGR_AVGX, GPB_AVG, GPB_PAIR_X},
	{F_REGR_AVGY, GPB_AVG, GPB_PAIR_Y},
	{F_REGR_SXX, GPB_REGR_SXX, GPB_PAIR_X},
	{F_REGR_SYY, GPB_REGR_SXX, GPB_PAIR_Y},
	{F_REGR_SXY, GPB_REGR_SXY, GPB_PAIR_BOTH},
	{F_COVAR_POP, GPB_COVAR_POP, GPB_PAIR_BOTH},
	{F_COVAR_SAMP, GPB_COVAR_SAMP, GPB_PAIR_BOTH},
	{F_CORR, GPB_CORR, GPB_PAIR_BOTH},
	{F_REGR_R2, GPB_REGR_R2, GPB_PAIR_BOTH},
	{F_REGR_SLOPE, GPB_REGR_SLOPE, GPB_PAIR_BOTH},
	{F_REGR_INTERCEPT, GPB_REGR_INTERCEPT, GPB_PAIR_BOTH},
};

/* ---- which queries ---- */

bool
gpb_query_is_one_row(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	return parse->commandType == CMD_SELECT && parse->hasAggs &&
		parse->groupClause == NIL && parse->groupingSets == NIL &&
		!parse->hasWindowFuncs && !parse->hasTargetSRFs && gpb_query_allows_nodes(root);
}

bool
gpb_query_is_plain(PlannerInfo *root)
{
	return root->parse->havingQual == NULL && gpb_query_is_one_row(root);
}

bool
gpb_collect_aggrefs(PathTarget *target, List **aggrefs)
{
	List	   *nodes;
	ListCell   *lc;

	*aggrefs = NIL;
	nodes = pull_var_clause((Node *) target->exprs,
							PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_PLACEHOLDERS);
	foreach(lc, nodes)
	{
		if (!IsA(lfirst(lc), Aggref))
			return false;
		*aggrefs = gpb_append_aggref(*aggrefs, lfirst(lc));
	}
	return *aggrefs != NIL;
}

/* ---- which aggregates ---- */

bool
gpb_find_aggregate(Oid aggregate, GpbAggregateFunction *function, Oid *type)
{
	int			i;

	for (i = 0; i < lengthof(gpb_aggregates); i++)
	{
		if (gpb_aggregates[i].aggregate == aggregate)
		{
			*function = gpb_aggregates[i].function;
			*type = gpb_aggregates[i].type;
			return true;
		}
	}
	return false;
}

bool
gpb_find_pair_aggregate(Oid aggregate, GpbAggregateFunction *function, GpbPairInput *input)
{
	int			i;

	for (i = 0; i < lengthof(gpb_pair_aggregates); i++)
	{
		if (gpb_pair_aggregates[i].aggregate == aggregate)
		{
			*function = gpb_pair_aggregates[i].function;
			*input = gpb_pair_aggregates[i].input;
			return true;
		}
	}
	return false;
}

int
gpb_function_want_of_y(GpbAggregateFunction function)
{
	if (function == GPB_CORR || function == GPB_REGR_R2 || function >= GPB_WIDE_VAR_POP)
		return GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_SQUARES;
	if (function >= GPB_QUOTIENT_SUM && function < GPB_WIDE_SUM)
		return GPB_WANT_COUNT | GPB_WANT_MINMAX;
	return GPB_WANT_COUNT | GPB_WANT_SUM;
}

int
gpb_function_want(GpbAggregateFunction function)
{
	switch (function)
	{
		case GPB_COUNT_ENTRIES:
			return 0;
		case GPB_COUNT_VALUES:
			return GPB_WANT_COUNT;
		case GPB_SUM:
		case GPB_AVG:
		case GPB_REGR_SXY:
		case GPB_COVAR_POP:
		case GPB_COVAR_SAMP:
		case GPB_QUOTIENT_SUM:
		case GPB_QUOTIENT_AVG:
		case GPB_VARYING_SUM:
		case GPB_VARYING_AVG:
		case GPB_WIDE_SUM:
		case GPB_WIDE_AVG:
			return GPB_WANT_COUNT | GPB_WANT_SUM;
		case GPB_MIN:
		case GPB_MAX:
		case GPB_BOOL_AND:
		case GPB_BOOL_OR:
			return GPB_WANT_COUNT | GPB_WANT_MINMAX;
		case GPB_VAR_POP:
		case GPB_VAR_SAMP:
		case GPB_STDDEV_POP:
		case GPB_STDDEV_SAMP:
		case GPB_REGR_SXX:
		case GPB_CORR:
		case GPB_REGR_R2:
		case GPB_REGR_SLOPE:
		case GPB_REGR_INTERCEPT:
		case GPB_WIDE_VAR_POP:
		case GPB_WIDE_VAR_SAMP:
		case GPB_WIDE_STDDEV_POP:
		case GPB_WIDE_STDDEV_SAMP:
			return GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_SQUARES;
		case GPB_WIDE_MIN:
		case GPB_WIDE_MAX:
			return GPB_WANT_COUNT | GPB_WANT_HALVES;
		case GPB_BIT_AND:
			return GPB_WANT_COUNT | GPB_WANT_AND;
		case GPB_BIT_OR:
			return GPB_WANT_COUNT | GPB_WANT_OR;
		case GPB_BIT_XOR:
			return GPB_WANT_COUNT | GPB_WANT_XOR;
	}
	return 0;
}

/*
 * NaN is the greatest word, so the greatest tells whether it is among those summed; and no other
 * numeric of 16 bytes has its upper half.
 */
int
gpb_item_want(const GpbAggregateItem *item)
{
	int			want = gpb_function_want(item->function);

	if (gpb_is_numeric_column_type(item->type) && (want & GPB_WANT_SUM) != 0)
		want |= GPB_WANT_MINMAX;
	return want;
}

/* ---- does an index hold what is asked for? ---- */

/* A domain column shown as its base type comes below relabelings, which are stepped over. */
Var *
gpb_argument_var(Expr *argument, Index relid)
{
	Var		   *var;

	while (IsA(argument, RelabelType))
		argument = ((RelabelType *) argument)->arg;
	if (!IsA(argument, Var))
		return NULL;
	var = (Var *) argument;
	if (var->varno != relid || var->varlevelsup != 0 || var->varattno <= 0)
		return NULL;
	return var;
}

/* Can the index answer this aggregate of a bare column?  Fills in *item if so. */
static bool
match_aggref(Aggref *aggref, IndexOptInfo *index, GpbAggregateItem *item)
{
	Expr	   *argument;
	Var		   *var;

	if (aggref->aggkind != AGGKIND_NORMAL || aggref->agglevelsup != 0 ||
		aggref->aggsplit != AGGSPLIT_SIMPLE ||
		aggref->aggdirectargs != NIL || aggref->aggorder != NIL ||
		aggref->aggdistinct != NIL || aggref->aggfilter != NULL)
		return false;

	item->aggregate = aggref->aggfnoid;
	item->column = 0;
	item->type = InvalidOid;
	item->function = GPB_COUNT_ENTRIES;
	if (aggref->aggfnoid == F_COUNT_)
		return true;

	if (list_length(aggref->args) != 1)
		return false;
	argument = linitial_node(TargetEntry, aggref->args)->expr;

	/* count(1) is count(*) */
	if (aggref->aggfnoid == F_COUNT_ANY && IsA(argument, Const))
		return !((Const *) argument)->constisnull;

	var = gpb_argument_var(argument, index->rel->relid);
	if (var == NULL)
		return false;
	item->column = gpb_index_column(index, var->varattno);
	if (item->column < 0)
		return false;
	/* A plain program reads no columns of a key that has several. */
	if (index->nkeycolumns > 1 && gpb_column_position(index, item->column) < index->nkeycolumns)
		return false;
	if (aggref->aggfnoid == F_COUNT_ANY)
	{
		item->function = GPB_COUNT_VALUES;
		return true;
	}
	if (!gpb_column_has_words(index, item->column) ||
		!gpb_find_aggregate(aggref->aggfnoid, &item->function, &item->type) ||
		!gpb_want_is_plain(gpb_function_want(item->function)) ||
		getBaseType(var->vartype) != item->type)
		return false;
	if (item->type == NUMERICOID)
		item->type = gpb_numeric_column_type(gpb_column_scale(index, item->column));
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

/* ---- what travels in the plan ---- */

void
gpb_put_items(List **private, const GpbAggregateItem *items, int n)
{
	int			i;

	gpb_put_int(private, n);
	for (i = 0; i < n; i++)
	{
		gpb_put_int(private, items[i].function);
		gpb_put_int(private, items[i].column);
		gpb_put_int(private, items[i].pair.y);
		gpb_put_int(private, items[i].pair.products);
		gpb_put_int(private, items[i].pair.rests);
		gpb_put_int(private, items[i].quotient.scale);
		gpb_put_int(private, items[i].quotient.divisor);
		gpb_put_int(private, items[i].quotient.divisor_scale);
		gpb_put_oid(private, items[i].type);
		gpb_put_oid(private, items[i].aggregate);
	}
}

int
gpb_get_items(GpbPrivateReader *reader, GpbAggregateItem **items)
{
	int			n = gpb_get_int(reader);
	int			i;

	*items = palloc(sizeof(GpbAggregateItem) * n);
	for (i = 0; i < n; i++)
	{
		(*items)[i].function = gpb_get_int(reader);
		(*items)[i].column = gpb_get_int(reader);
		(*items)[i].pair.y = gpb_get_int(reader);
		(*items)[i].pair.products = gpb_get_int(reader);
		(*items)[i].pair.rests = gpb_get_int(reader);
		(*items)[i].quotient.scale = gpb_get_int(reader);
		(*items)[i].quotient.divisor = gpb_get_int(reader);
		(*items)[i].quotient.divisor_scale = gpb_get_int(reader);
		(*items)[i].type = gpb_get_oid(reader);
		(*items)[i].aggregate = gpb_get_oid(reader);
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
