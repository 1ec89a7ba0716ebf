/*-------------------------------------------------------------------------
 *
 * partial_percentiles.h
 *	  States of values in the order of the values, and what results of states have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PARTIAL_PERCENTILES_H
#define GPB_PARTIAL_PERCENTILES_H

#include "postgres.h"
#include "fmgr.h"

#include "exec/partial/partial.h"

/* ---- states of values (partial_percentiles.c) ---- */

/* Read a state, which must be one of values. */
extern GpbPartial *gpb_partial_read_values(const struct varlena *bytes);

/* The value of row number "row", counted from 0, in the order of values, of texts by a collation */
extern Datum gpb_partial_rank(GpbPartial *partial, Oid collation, int64 row);

/* The value that occurs most often; of several, the first in that order */
extern Datum gpb_partial_mode(GpbPartial *partial, Oid collation);

/* ---- results (partial_result.c) ---- */

/* A result as the type that is wanted.  Raises an error if it is another, and no wider number. */
extern Datum gpb_partial_result(Datum value, Oid type, Oid wanted);

/* The type of an argument, which is that of the result */
extern Oid	gpb_partial_wanted(FunctionCallInfo fcinfo, int argument);

#endif							/* GPB_PARTIAL_PERCENTILES_H */
