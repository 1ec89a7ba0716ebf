/*-------------------------------------------------------------------------
 *
 * partial_extreme.c
 *	  Partial states that have the value of the row where another value is the least or greatest.
 *
 * Where several rows have that least or greatest, the first is the one with the least value, by
 * its bytes if it is a text, and the last is the one with the greatest; so the order of rows is of
 * no account.  NULL is above all values.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/partial/partial_internal.h"

void
gpb_extreme_new(GpbPartial *partial, const GpbPartialType *by_type)
{
	partial->extreme = palloc0(sizeof(GpbPartialExtreme));
	partial->extreme->by_type = by_type;
}

/*
 * The order of two rows.  Of numerics that are equal the one with more digits is taken by both
 * kinds.
 */
static int
compare_rows(const GpbPartial *partial, const GpbPartialExtreme *a, const GpbPartialExtreme *b)
{
	int			towards = partial->kind == GPB_PARTIAL_OF_LAST ? 1 : -1;
	int			order = gpb_compare_values(a->by_type, &a->by, &b->by);

	if (order == 0)
		order = a->is_null - b->is_null;
	if (order == 0 && !a->is_null)
		order = gpb_compare_values(partial->type, &a->value, &b->value);
	if (order == 0)
		order = towards * (a->by.scale != b->by.scale ? a->by.scale - b->by.scale :
						   a->value.scale - b->value.scale);
	return order;
}

/* The values of "from" are copied. */
void
gpb_extreme_merge(GpbPartial *into, const GpbPartialExtreme *from)
{
	GpbPartialExtreme *extreme = into->extreme;
	bool		is_first = into->kind == GPB_PARTIAL_OF_FIRST;
	bool		empty = extreme->by.length == 0;
	MemoryContext caller;

	if (!empty)
	{
		int			order = compare_rows(into, from, extreme);

		if (is_first ? order >= 0 : order <= 0)
			return;
		gpb_partial_free(&extreme->by);
		gpb_partial_free(&extreme->value);
	}
	caller = MemoryContextSwitchTo(into->context);
	*extreme = *from;
	gpb_partial_keep(&extreme->by);
	gpb_partial_keep(&extreme->value);
	MemoryContextSwitchTo(caller);
}

void
gpb_partial_add_row(GpbPartial *partial, Datum value, bool is_null, Datum by)
{
	GpbPartialExtreme row = {.by_type = partial->extreme->by_type, .is_null = is_null};

	gpb_partial_encode(row.by_type, by, &row.by);
	if (!is_null)
		gpb_partial_encode(partial->type, value, &row.value);
	gpb_extreme_merge(partial, &row);
	gpb_partial_free(&row.by);
	gpb_partial_free(&row.value);
}

/* ---- bytes: what orders; whether the value is NULL; the value ---- */

void
gpb_extreme_put(StringInfo to, GpbPartial *partial)
{
	const GpbPartialExtreme *extreme = partial->extreme;

	gpb_put_value(to, extreme->by_type, &extreme->by);
	appendStringInfoChar(to, extreme->is_null);
	if (!extreme->is_null)
		gpb_put_value(to, partial->type, &extreme->value);
}

void
gpb_extreme_take(GpbPartialReader *reader, GpbPartial *partial)
{
	GpbPartialExtreme row = {.by_type = partial->extreme->by_type};
	uint8		is_null;

	gpb_take_value(reader, row.by_type, &row.by);
	is_null = gpb_take_byte(reader);
	if (is_null > 1)
		gpb_partial_damaged("it does not say whether its value is NULL");
	row.is_null = is_null != 0;
	if (!row.is_null)
		gpb_take_value(reader, partial->type, &row.value);
	gpb_extreme_merge(partial, &row);
}
