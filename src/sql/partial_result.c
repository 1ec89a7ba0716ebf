/*-------------------------------------------------------------------------
 *
 * partial_result.c
 *	  The type of what a partial state says.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "sql/partial_percentiles.h"

/* A value of a type of numbers as another type; returns false if it would lose what it says. */
static bool
as_number(Datum value, Oid type, Oid wanted, Datum *result)
{
	int64		integer = 0;

	if (type == INT2OID)
		integer = DatumGetInt16(value);
	else if (type == INT4OID)
		integer = DatumGetInt32(value);
	else if (type == INT8OID)
		integer = DatumGetInt64(value);
	else if (type == FLOAT4OID && wanted == FLOAT8OID)
	{
		*result = Float8GetDatum((float8) DatumGetFloat4(value));
		return true;
	}
	else if (type == NUMERICOID && wanted == FLOAT8OID)
	{
		*result = DirectFunctionCall1(numeric_float8, value);
		return true;
	}
	else
		return false;
	if (wanted == FLOAT8OID)
		*result = Float8GetDatum((float8) integer);
	else if (wanted == NUMERICOID)
		*result = NumericGetDatum(int64_to_numeric(integer));
	else if (wanted == INT8OID)
		*result = Int64GetDatum(integer);
	else
		return false;
	return true;
}

Datum
gpb_partial_result(Datum value, Oid type, Oid wanted)
{
	Datum		result;

	if (type == wanted || (type == TEXTOID && wanted == VARCHAROID))
		return value;
	if (!as_number(value, type, wanted, &result))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("result is of type %s, not %s", format_type_be(type),
						format_type_be(wanted)),
				 errhint("Say NULL::%s as the last argument.", format_type_be(type))));
	return result;
}

Oid
gpb_partial_wanted(FunctionCallInfo fcinfo, int argument)
{
	Oid			wanted = get_fn_expr_argtype(fcinfo->flinfo, argument);

	if (!OidIsValid(wanted))
		elog(ERROR, "could not determine the type of the result");
	return wanted;
}
