/*-------------------------------------------------------------------------
 *
 * program_field.h
 *	  Fields of dates and timestamps in a program, as extract() gives them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_FIELD_H
#define GPB_PROGRAM_FIELD_H

#include "exec/compile/program_build_internal.h"

/*
 * The field, a DTK_*, of a date, timestamp or timestamptz as an integer, of which *scale digits are
 * behind the point.  Fields of a timestamptz that depend on the zone are refused.  Infinities
 * fault: for some fields core has an infinite number, for others NULL.
 */
extern int	gpb_field_slot(GpbProgramBuilder *builder, int field, Oid type, int slot, int *scale);

#endif							/* GPB_PROGRAM_FIELD_H */
