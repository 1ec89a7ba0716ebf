/*-------------------------------------------------------------------------
 *
 * partial_aggregates.c
 *	  Aggregates that return partial states (exec/partial/partial.h), and the one that merges them.
 *
 * They all have the same combine, serial, deserial and final functions: a state says in its bytes
 * what it is of.  A state of no value is NULL.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "exec/partial/partial.h"

PG_FUNCTION_INFO_V1(gpubtree_sums_step);
PG_FUNCTION_INFO_V1(gpubtree_moments_step);
PG_FUNCTION_INFO_V1(gpubtree_pairs_step);
PG_FUNCTION_INFO_V1(gpubtree_values_step);
PG_FUNCTION_INFO_V1(gpubtree_first_step);
PG_FUNCTION_INFO_V1(gpubtree_last_step);
PG_FUNCTION_INFO_V1(gpubtree_merge_step);
PG_FUNCTION_INFO_V1(gpubtree_merge_two);
PG_FUNCTION_INFO_V1(gpubtree_state_combine);
PG_FUNCTION_INFO_V1(gpubtree_state_write);
PG_FUNCTION_INFO_V1(gpubtree_state_read);

/* ---- a state's beginning ---- */

/* The context in which an aggregate's state lives */
static MemoryContext
state_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function was called outside of an aggregate")));
	return context;
}

/* The type of argument number "argument", of which there must be states */
static const GpbPartialType *
argument_type(FunctionCallInfo fcinfo, int argument)
{
	Oid			sql = get_fn_expr_argtype(fcinfo->flinfo, argument);
	const GpbPartialType *type = OidIsValid(sql) ? gpb_partial_type(sql) : NULL;

	if (type == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("there are no aggregate states of type %s", format_type_be(sql)),
				 errhint("Cast the value, for example to text.")));
	return type;
}

/* Raise an error where texts of different bytes may be equal, or may not be compared at all. */
static void
require_texts_by_bytes(FunctionCallInfo fcinfo)
{
	Oid			collation = PG_GET_COLLATION();

	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("there are no aggregate states of texts with a nondeterministic collation"),
				 errhint("Give the argument another collation, for example COLLATE \"C\".")));
}

static GpbPartial *
begin_state(FunctionCallInfo fcinfo, GpbPartialKind kind)
{
	const GpbPartialType *type = argument_type(fcinfo, 1);
	const GpbPartialType *by_type = NULL;
	MemoryContext caller;
	GpbPartial *state;

	if (kind == GPB_PARTIAL_OF_FIRST || kind == GPB_PARTIAL_OF_LAST)
	{
		by_type = argument_type(fcinfo, 2);
		if (by_type->form == GPB_FORM_TEXT)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("there are no aggregate states of values in the order of texts"),
					 errdetail("Two servers may have different orders.")));
	}
	if (kind == GPB_PARTIAL_OF_VALUES && type->form == GPB_FORM_TEXT)
		require_texts_by_bytes(fcinfo);
	caller = MemoryContextSwitchTo(state_context(fcinfo));
	state = gpb_partial_new(kind, type, by_type);
	MemoryContextSwitchTo(caller);
	return state;
}

/* The state so far, or a new one */
static inline GpbPartial *
the_state(FunctionCallInfo fcinfo, GpbPartialKind kind)
{
	return PG_ARGISNULL(0) ? begin_state(fcinfo, kind) : (GpbPartial *) PG_GETARG_POINTER(0);
}

/* Return the state as it was, or NULL. */
#define RETURN_AS_IT_WAS() \
	do { \
		if (PG_ARGISNULL(0)) \
			PG_RETURN_NULL(); \
		PG_RETURN_DATUM(PG_GETARG_DATUM(0)); \
	} while (0)

/* ---- transitions ---- */

/* Take a number into a state of sums. */
static Datum
number_step(FunctionCallInfo fcinfo, GpbPartialKind kind)
{
	GpbPartial *state;

	if (PG_ARGISNULL(1))
		RETURN_AS_IT_WAS();
	state = the_state(fcinfo, kind);
	if (state->numerics != NULL)
		gpb_partial_add_numerics(state, PG_GETARG_NUMERIC(1), 1);
	else
		gpb_partial_add_word(state, gpb_partial_word(state->type, PG_GETARG_DATUM(1)));
	PG_RETURN_POINTER(state);
}

/* gpubtree_sums_step(state, value): count, sum, least and greatest */
Datum
gpubtree_sums_step(PG_FUNCTION_ARGS)
{
	return number_step(fcinfo, GPB_PARTIAL_OF_SUMS);
}

/* gpubtree_moments_step(state, value): the same, and the sum of squares */
Datum
gpubtree_moments_step(PG_FUNCTION_ARGS)
{
	return number_step(fcinfo, GPB_PARTIAL_OF_MOMENTS);
}

/* gpubtree_pairs_step(state, y, x) */
Datum
gpubtree_pairs_step(PG_FUNCTION_ARGS)
{
	GpbPartial *state;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		RETURN_AS_IT_WAS();
	state = the_state(fcinfo, GPB_PARTIAL_OF_PAIRS);
	gpb_partial_add_pair(state, gpb_float_bits(PG_GETARG_FLOAT8(1)),
						 gpb_float_bits(PG_GETARG_FLOAT8(2)));
	PG_RETURN_POINTER(state);
}

/* gpubtree_values_step(state, value): each value and how often it occurs */
Datum
gpubtree_values_step(PG_FUNCTION_ARGS)
{
	GpbPartial *state;

	if (PG_ARGISNULL(1))
		RETURN_AS_IT_WAS();
	state = the_state(fcinfo, GPB_PARTIAL_OF_VALUES);
	gpb_partial_add_value(state, PG_GETARG_DATUM(1), 1);
	PG_RETURN_POINTER(state);
}

/* Take a row into the state of a value by the order of another; one without order is none. */
static Datum
ordered_step(FunctionCallInfo fcinfo, GpbPartialKind kind)
{
	GpbPartial *state;

	if (PG_ARGISNULL(2))
		RETURN_AS_IT_WAS();
	state = the_state(fcinfo, kind);
	gpb_partial_add_row(state, PG_GETARG_DATUM(1), PG_ARGISNULL(1), PG_GETARG_DATUM(2));
	PG_RETURN_POINTER(state);
}

/* gpubtree_first_step(state, value, by) */
Datum
gpubtree_first_step(PG_FUNCTION_ARGS)
{
	return ordered_step(fcinfo, GPB_PARTIAL_OF_FIRST);
}

/* gpubtree_last_step(state, value, by) */
Datum
gpubtree_last_step(PG_FUNCTION_ARGS)
{
	return ordered_step(fcinfo, GPB_PARTIAL_OF_LAST);
}

/* gpubtree_merge_step(state, bytes): merge a state that was written. */
Datum
gpubtree_merge_step(PG_FUNCTION_ARGS)
{
	bytea	   *bytes;
	GpbPartial *state;

	if (PG_ARGISNULL(1))
		RETURN_AS_IT_WAS();
	bytes = PG_GETARG_BYTEA_PP(1);
	if (PG_ARGISNULL(0))
	{
		MemoryContext caller = MemoryContextSwitchTo(state_context(fcinfo));

		state = gpb_partial_read(bytes);
		MemoryContextSwitchTo(caller);
	}
	else
	{
		state = (GpbPartial *) PG_GETARG_POINTER(0);
		gpb_partial_merge_bytes(state, bytes);
	}
	PG_RETURN_POINTER(state);
}

/* gpubtree_merge(state, other): both as one; NULL is a state of no value. */
Datum
gpubtree_merge_two(PG_FUNCTION_ARGS)
{
	GpbPartial *state;

	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	state = gpb_partial_read(PG_GETARG_BYTEA_PP(PG_ARGISNULL(0) ? 1 : 0));
	if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1))
		gpb_partial_merge_bytes(state, PG_GETARG_BYTEA_PP(1));
	PG_RETURN_BYTEA_P(gpb_partial_write(state));
}

/* ---- between processes ---- */

/* gpubtree_state_combine(state, other): merge the other state, which is as before. */
Datum
gpubtree_state_combine(PG_FUNCTION_ARGS)
{
	GpbPartial *state;
	GpbPartial *other;

	if (PG_ARGISNULL(1))
		RETURN_AS_IT_WAS();
	other = (GpbPartial *) PG_GETARG_POINTER(1);
	if (!PG_ARGISNULL(0))
		state = (GpbPartial *) PG_GETARG_POINTER(0);
	else
	{
		MemoryContext caller = MemoryContextSwitchTo(state_context(fcinfo));

		state = gpb_partial_new(other->kind, other->type,
								other->extreme != NULL ? other->extreme->by_type : NULL);
		MemoryContextSwitchTo(caller);
	}
	gpb_partial_merge(state, other);
	PG_RETURN_POINTER(state);
}

/* gpubtree_state_write(state): the state as bytes, which is how it travels too */
Datum
gpubtree_state_write(PG_FUNCTION_ARGS)
{
	(void) state_context(fcinfo);
	PG_RETURN_BYTEA_P(gpb_partial_write((GpbPartial *) PG_GETARG_POINTER(0)));
}

/* gpubtree_state_read(bytes, NULL): the state of bytes */
Datum
gpubtree_state_read(PG_FUNCTION_ARGS)
{
	(void) state_context(fcinfo);
	PG_RETURN_POINTER(gpb_partial_read(PG_GETARG_BYTEA_PP(0)));
}
