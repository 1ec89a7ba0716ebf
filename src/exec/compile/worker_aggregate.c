/*-------------------------------------------------------------------------
 *
 * worker_aggregate.c
 *	  The aggregates by which Citus asks its workers for transition states of others.
 *
 * Of an aggregate with a combine function that it does not take apart itself, Citus asks a shard
 * for
 *
 *	worker_partial_agg('stddev(double precision)'::regprocedure, value)
 *	worker_partial_agg('corr(double precision,double precision)'::regprocedure, ROW(y, x))
 *
 * and from version 14 on worker_binary_partial_agg() likewise.  The result is the state as its type
 * writes it, or sends it; of a state of type internal, as its serial function does.  A state is
 * NULL where core's would be: an aggregate without an initial value that has seen no row.  (Citus's
 * utils/aggregate_utils.c, planner/multi_logical_optimizer.c.)
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "exec/compile/items.h"
#include "exec/compile/worker_aggregate.h"
#include "exec/shell/expressions.h"

/* Is it Citus's aggregate?  *binary is set if it returns what the state's type sends. */
static bool
is_of_citus(Oid aggregate, bool *binary)
{
	HeapTuple	tuple;
	Form_pg_proc form;
	bool		found;

	if (aggregate < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	*binary = form->prorettype == BYTEAOID;
	found = form->pronamespace == PG_CATALOG_NAMESPACE && form->pronargs == 2 &&
		form->proargtypes.values[0] == OIDOID && form->proargtypes.values[1] == ANYELEMENTOID &&
		(*binary || form->prorettype == CSTRINGOID) &&
		strcmp(NameStr(form->proname),
			   *binary ? "worker_binary_partial_agg" : "worker_partial_agg") == 0;
	ReleaseSysCache(tuple);
	return found;
}

/* Has an aggregate states of this type, with this initial value (NULL: none), as we know them? */
static bool
has_state(Oid aggregate, Oid type, const char *initial)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Form_pg_aggregate form;
	Datum		value;
	bool		isnull;
	bool		same;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	value = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &isnull);
	same = form->aggtranstype == type && isnull == (initial == NULL) &&
		(isnull || strcmp(TextDatumGetCString(value), initial) == 0) &&
		(type != INTERNALOID || form->aggserialfn == F_NUMERIC_SERIALIZE ||
		 (GPB_POLY_STATES_HAVE_DIGITS && form->aggserialfn == F_NUMERIC_POLY_SERIALIZE));
	ReleaseSysCache(tuple);
	return same;
}

static bool
is_variance(GpbAggregateFunction function)
{
	return function >= GPB_VAR_POP && function <= GPB_STDDEV_SAMP;
}

/*
 * Find out what the state of one of core's aggregates is made of.  Returns false if it has what no
 * answer tells: of numerics, how many are NaN; or is sent by a way that there is none of.
 */
static bool
find_state(const GpbAggregate *known, bool binary, bool has_filter, GpbAggregate *state)
{
	Oid			of = known->aggregate;
	bool		is_integer = known->type == INT2OID || known->type == INT4OID ||
		known->type == INT8OID;

	*state = *known;
	if (known->input == GPB_INPUT_PAIR)
	{
		state->function = GPB_STATE_COUNT;
		return has_state(of, INT8OID, "0");
	}
	if (gpb_input_is_pair(known->input))
	{
		state->function = GPB_STATE_PAIRS;
		state->input = GPB_INPUT_BOTH;
		return has_state(of, FLOAT8ARRAYOID, "{0,0,0,0,0,0}");
	}
	if (known->function == GPB_BIT_XOR)
	{
		state->function = GPB_STATE_XOR;
		return has_state(of, known->type, NULL);
	}
	if (!is_variance(known->function))
		return false;
	state->function = is_integer ? GPB_STATE_SQUARES : GPB_STATE_MOMENTS;
	if (known->type == FLOAT8OID || known->type == FLOAT4OID)
		return has_state(of, FLOAT8ARRAYOID, "{0,0,0}");
	/* whether a FILTER has let any NULL pass, of which there is a state, is not counted */
	return is_integer && binary && !has_filter && has_state(of, INTERNALOID, NULL);
}

/* The arguments of the aggregate whose state is asked for; NIL if they are not as it takes them */
static List *
own_arguments(const GpbAggregate *known, Expr *argument)
{
	const RowExpr *row = (RowExpr *) argument;

	if (!gpb_input_is_pair(known->input))
		return exprType((Node *) argument) != known->type ? NIL :
			list_make1(makeTargetEntry(argument, 1, NULL, false));
	if (!IsA(row, RowExpr) || list_length(row->args) != 2 ||
		exprType(linitial(row->args)) != known->type ||
		exprType(lsecond(row->args)) != known->type)
		return NIL;
	return list_make2(makeTargetEntry(linitial(row->args), 1, NULL, false),
					  makeTargetEntry(lsecond(row->args), 2, NULL, false));
}

Aggref *
gpb_worker_aggregate(const Aggref *aggref, GpbAggregate *state)
{
	const GpbAggregate *known;
	const Const *which;
	List	   *arguments;
	Aggref	   *own;
	bool		binary;

	if (!is_of_citus(aggref->aggfnoid, &binary) || !gpb_aggref_is_ordinary(aggref))
		return NULL;
	which = (Const *) gpb_without_labels(linitial_node(TargetEntry, aggref->args)->expr);
	if (!IsA(which, Const) || which->constisnull)
		return NULL;
	/* who may not execute it gets the error of Citus's */
	known = gpb_find_aggregate(DatumGetObjectId(which->constvalue));
	if (known == NULL || known->aggregate >= FirstNormalObjectId ||
		pg_proc_aclcheck(known->aggregate, GetUserId(), ACL_EXECUTE) != ACLCHECK_OK ||
		!find_state(known, binary, aggref->aggfilter != NULL, state))
		return NULL;
	arguments = own_arguments(known, lsecond_node(TargetEntry, aggref->args)->expr);
	if (arguments == NIL)
		return NULL;
	state->aggregate = aggref->aggfnoid;
	own = makeNode(Aggref);
	memcpy(own, aggref, sizeof(Aggref));
	own->aggfnoid = known->aggregate;
	own->args = arguments;
	return own;
}
