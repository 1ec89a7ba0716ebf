/*-------------------------------------------------------------------------
 *
 * where_equal.c
 *	  The function that EXPLAIN shows around a value of a row comparison.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "fmgr.h"

PG_FUNCTION_INFO_V1(gpubtree_where_equal);

/*
 * gpubtree_where_equal(value): the value itself.  In a condition of an index-only scan it says that
 * the condition holds for those entries alone whose columns before equal the values of theirs
 * (exec/shell/row_scans.c).
 */
Datum
gpubtree_where_equal(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}
