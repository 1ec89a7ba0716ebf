/*-------------------------------------------------------------------------
 *
 * key_function.c
 *	  Conditions on functions of the key: which functions, and how they become steps.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "exec/functions/core_function.h"
#include "exec/functions/date_units.h"
#include "exec/functions/key_steps.h"
#include "exec/functions/zone.h"
#include "page/page.h"

/* ---- from expressions to steps ---- */

static bool
add_step(GpbKeyFunction *function, GpbKeyOperator op, int64 a, int64 b)
{
	GpbKeyStep *step = &function->step[function->nsteps];

	if (function->nsteps == GPB_KEY_MOST_STEPS)
		return false;
	function->nsteps++;
	*step = (GpbKeyStep) {.op = op, .a = a, .b = b};
	return true;
}

/* Is the last step date_trunc() of days or more, of instants in the session's zone? */
static bool
ends_at_midnight(const GpbKeyFunction *function)
{
	const GpbKeyStep *last = &function->step[function->nsteps - 1];

	return function->nsteps == 1 && last->zone == NULL &&
		(last->op == GPB_KEY_LOCAL_MONTHS ||
		 (last->op == GPB_KEY_LOCAL_MULTIPLE && last->a >= USECS_PER_DAY));
}

/* Add a step in a zone, which is a constant's text, or the session's if that is NULL. */
static bool
add_zone_step(GpbKeyFunction *function, GpbKeyOperator op, int64 a, int64 b, Const *zone)
{
	if (function->key_type != TIMESTAMPTZOID ||
		(function->nsteps > 0 && !(zone == NULL && ends_at_midnight(function))) ||
		(zone != NULL && gpb_zone_by_name(DatumGetTextPP(zone->constvalue)) == NULL) ||
		!add_step(function, op, a, b))
		return false;
	if (zone != NULL)
		function->step[function->nsteps - 1].zone = DatumGetTextPP(zone->constvalue);
	function->has_zone = true;
	return true;
}

/* date_trunc(); of instants, units up to seconds are the same in all zones. */
static bool
add_trunc(GpbKeyFunction *function, bool local, const text *name, Const *zone)
{
	const GpbTruncUnit *unit = gpb_trunc_unit(name);

	if (unit == NULL ||
		(zone != NULL && gpb_zone_by_name(DatumGetTextPP(zone->constvalue)) == NULL))
		return false;
	if (local && (unit->months > 0 || unit->length > USECS_PER_SEC))
	{
		if (unit->months > 0)
			return add_zone_step(function, GPB_KEY_LOCAL_MONTHS, unit->months, 0, zone);
		return add_zone_step(function, GPB_KEY_LOCAL_MULTIPLE, unit->length, unit->origin, zone);
	}
	if (unit->months > 0)
		return add_step(function, GPB_KEY_MONTHS, unit->months, 0);
	return add_step(function, GPB_KEY_MULTIPLE, unit->length, unit->origin);
}

static bool
add_bin(GpbKeyFunction *function, Const *stride, Const *origin)
{
	int64		length;

	return gpb_interval_length(DatumGetIntervalP(stride->constvalue), &length) && length > 0 &&
		!TIMESTAMP_NOT_FINITE(DatumGetTimestamp(origin->constvalue)) &&
		gpb_bins_begin_themselves() &&
		add_step(function, GPB_KEY_MULTIPLE, length, DatumGetTimestamp(origin->constvalue));
}

/* Fields that rise: the year, and the epoch, which date_part() has rounded. */
static bool
add_field(GpbKeyFunction *function, const GpbFunction *type, const text *name)
{
	int			field = gpb_date_field(name);
	bool		of_date = type->key_type == DATEOID;

	if (field == DTK_EPOCH && function->result_type == NUMERICOID)
	{
		function->decimals = of_date ? 0 : 6;
		function->origin = (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) *
			(of_date ? SECS_PER_DAY : USECS_PER_DAY);
		return add_step(function, of_date ? GPB_KEY_DATE_TO_EPOCH : GPB_KEY_TO_EPOCH, 0, 0);
	}
	if (field != DTK_YEAR)
		return false;
	if (of_date)
		return add_step(function, GPB_KEY_DATE_TO_YEAR, 0, 0);
	if (type->zone == GPB_SESSION_ZONE &&
		!add_zone_step(function, GPB_KEY_TO_LOCAL, 0, 0, NULL))
		return false;
	return add_step(function, GPB_KEY_TO_YEAR, 0, 0);
}

/* Add what a function does with the key, its other arguments being constants. */
static bool
add_function(GpbKeyFunction *function, const GpbFunction *type, List *args)
{
	Const	   *zone = type->zone >= 0 ? list_nth(args, type->zone) : NULL;
	Const	   *first = linitial(args);
	int64		divisor;

	switch ((GpbRise) type->rise)
	{
		case GPB_RISE_SAME:
			return true;
		case GPB_RISE_DIVIDE:
			divisor = gpb_coding_word(gpb_core_type_coding(getBaseType(exprType(lsecond(args)))),
									  ((Const *) lsecond(args))->constvalue);
			return divisor > 0 && add_step(function, GPB_KEY_QUOTIENT, divisor, 0);
		case GPB_RISE_DAY:
			return (type->zone == GPB_NO_ZONE ||
					add_zone_step(function, GPB_KEY_TO_LOCAL, 0, 0, NULL)) &&
				add_step(function, GPB_KEY_TO_DAY, 0, 0);
		case GPB_RISE_MIDNIGHT:
			return add_step(function, GPB_KEY_TO_MIDNIGHT, 0, 0);
		case GPB_RISE_LOCAL:
			return add_zone_step(function, GPB_KEY_TO_LOCAL, 0, 0, zone);
		case GPB_RISE_TRUNC:
			return add_trunc(function, type->zone != GPB_NO_ZONE,
							 DatumGetTextPP(first->constvalue), zone);
		case GPB_RISE_BIN:
			return add_bin(function, first, lthird(args));
		case GPB_RISE_FIELD:
			return add_field(function, type, DatumGetTextPP(first->constvalue));
		default:
			return false;
	}
}

Expr *
gpb_resolved(Expr *expression, List *columns)
{
	for (;;)
	{
		if (IsA(expression, RelabelType))
			expression = ((RelabelType *) expression)->arg;
		else if (IsA(expression, Var) && ((Var *) expression)->varno == INDEX_VAR)
			expression = list_nth_node(TargetEntry, columns,
									   ((Var *) expression)->varattno - 1)->expr;
		else
			return expression;
	}
}

static bool
is_value(Node *node)
{
	return IsA(node, Const) && !((Const *) node)->constisnull;
}

/* The bounds of a key's type; false if it is none that functions take. */
static bool
set_key_type(GpbKeyFunction *function, Oid type)
{
	function->key_type = type;
	function->least = PG_INT64_MIN;
	function->greatest = PG_INT64_MAX;
	switch (type)
	{
		case INT2OID:
			function->least = PG_INT16_MIN;
			function->greatest = PG_INT16_MAX;
			return true;
		case INT4OID:
		case DATEOID:
			function->least = PG_INT32_MIN;
			function->greatest = PG_INT32_MAX;
			return true;
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			return false;
	}
}

/*
 * Add the steps of an expression to the function; false if it is no function of a column that the
 * list of functions allows.  *key is the column.
 */
static bool
add_expression(GpbKeyFunction *function, Expr *expression, List *columns, Var **key)
{
	const GpbFunction *type;
	List	   *args;
	ListCell   *lc;

	expression = gpb_resolved(expression, columns);
	if (IsA(expression, Var))
	{
		*key = (Var *) expression;
		return set_key_type(function, getBaseType((*key)->vartype));
	}
	if (IsA(expression, FuncExpr))
	{
		type = gpb_core_function(((FuncExpr *) expression)->funcid);
		args = ((FuncExpr *) expression)->args;
	}
	else if (IsA(expression, OpExpr))
	{
		type = gpb_core_function(get_opcode(((OpExpr *) expression)->opno));
		args = ((OpExpr *) expression)->args;
	}
	else
		return false;
	if (type == NULL || (type->use & GPB_FOR_CONDITIONS) == 0 || list_length(args) != type->nargs)
		return false;
	foreach(lc, args)
	{
		if (foreach_current_index(lc) != type->key && !is_value(lfirst(lc)))
			return false;
	}
	if (!add_expression(function, list_nth(args, type->key), columns, key))
		return false;
	function->result_type = exprType((Node *) expression);
	return add_function(function, type, args);
}

/* ---- the condition ---- */

/*
 * Set the operator that compares the results with values; false if it is none of an order that the
 * results have.
 */
static bool
set_operator(GpbKeyFunction *function, Oid operator)
{
	Oid			family = lookup_type_cache(function->result_type,
										   TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	Oid			left;

	if (!op_in_opfamily(operator, family))
		return false;
	get_op_opfamily_properties(operator, family, false, &function->strategy, &left,
							   &function->value_type);
	if (left != function->result_type)
		return false;
	if (left == DATEOID && function->value_type == TIMESTAMPOID)
		return add_step(function, GPB_KEY_TO_MIDNIGHT, 0, 0);
	return left == function->value_type ||
		(left == TIMESTAMPOID && function->value_type == DATEOID) ||
		function->value_type == INT2OID || function->value_type == INT4OID ||
		function->value_type == INT8OID;
}

/* Make the function of a condition's left side; NULL if it is none. */
static GpbKeyFunction *
make_function(Expr *expression, Oid operator, List *columns, Var **key)
{
	GpbKeyFunction *function;

	if (IsA(gpb_resolved(expression, columns), Var))
		return NULL;
	function = palloc0(sizeof(GpbKeyFunction));
	return add_expression(function, expression, columns, key) &&
		set_operator(function, operator) ? function : NULL;
}

bool
gpb_match_key_function(IndexOptInfo *index, Expr *expression, Oid operator)
{
	Var		   *key;

	return make_function(expression, operator, NIL, &key) != NULL &&
		key->varno == index->rel->relid && key->varlevelsup == 0 &&
		key->varattno == index->indexkeys[0];
}

bool
gpb_condition_may_be_lossy(Expr *condition)
{
	Var		   *key;
	GpbKeyFunction *function;

	if (!IsA(condition, OpExpr))
		return false;
	function = make_function(linitial(((OpExpr *) condition)->args),
							 ((OpExpr *) condition)->opno, NIL, &key);
	return function != NULL && function->has_zone;
}

GpbKeyFunction *
gpb_key_function_begin(OpExpr *condition, List *columns)
{
	Var		   *key;
	GpbKeyFunction *function;

	if (IsA(gpb_resolved(linitial(condition->args), columns), Var))
		return NULL;
	function = make_function(linitial(condition->args), condition->opno, columns, &key);
	if (function == NULL)
		elog(ERROR, "index condition has an unknown function of the key");
	return function;
}
