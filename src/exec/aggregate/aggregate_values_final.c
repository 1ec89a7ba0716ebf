/*-------------------------------------------------------------------------
 *
 * aggregate_values_final.c
 *	  An aggregate's value over the values of one group, each with the number of its entries.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "exec/aggregate/aggregate_values_group.h"
#include "exec/answer/fractions.h"
#include "exec/answer/item_final.h"
#include "exec/compile/program_codes.h"
#include "exec/compile/program_words.h"
#include "exec/partial/partial.h"

/* ---- begin ---- */

/* The format of the answer over the values of an aggregate with DISTINCT, a column for each word */
static void
init_each(GpbAnswerFormat *each, const GpbAggregateItem *item, GpbWordType type)
{
	int			want = gpb_item_want(item);
	GpbAnswerColumn *column;

	each->words = 1;
	column = gpb_answer_add_column(each, 0, gpb_word_kind(type), want);
	if (gpb_type_is_wide(type))
		(void) gpb_answer_add_column(each, 1, gpb_word_kind(type), want);
	each->integers = each->words;
	column->float_sum = gpb_answer_words(each,
										 gpb_word_is_float(type.sql) && (want & GPB_WANT_SUM) != 0,
										 GPB_FLOAT_SUM_WORDS);
}

void
gpb_values_final_init(GpbValuesFinal *final, const GpbValuesItem *item, GpbWordType type,
					  const GpbAnswerFormat *format, const GpbCodeSource *codes,
					  Expr *fraction, PlanState *ps)
{
	final->item = *item;
	final->type = type;
	final->codes = *codes;
	final->count = item->has_filter ? format->column[item->filter.column].count : 0;
	if (!OidIsValid(item->compare) && fraction == NULL && item->each.function != GPB_MODE &&
		item->each.function != GPB_PARTIAL_VALUES)
		init_each(&final->each, &item->each, type);
	if (OidIsValid(item->compare))
		fmgr_info(item->compare, &final->compare);
	if (fraction != NULL)
		final->fraction = ExecInitExpr(fraction, ps);
}

/* ---- values and their entries ---- */

/* The words of a value */
static inline const int64 *
record_value(const GpbValuesGroup *of_group, uint64 i)
{
	return &of_group->records[i].group->words[of_group->slot];
}

/* How many entries with the value of this record count for the aggregate?  None if it is NULL. */
static inline int64
record_entries(const GpbValuesFinal *final, const GpbValuesGroup *of_group, uint64 i)
{
	const GpbGroup *group = of_group->records[i].group;

	if (group->nulls >> of_group->slot & 1)
		return 0;
	return group->words[of_group->answer + final->count];
}

/* An aggregate with DISTINCT: each value counts once. */
static Datum
distinct_value(const GpbValuesFinal *final, const GpbValuesGroup *of_group, bool *isnull)
{
	const GpbAnswerFormat *each = &final->each;
	int64	   *answer = palloc(gpb_answer_width(each));
	uint64		i;
	int			c;

	gpb_answer_init(each, answer);
	for (i = 0; i < of_group->n; i++)
	{
		if (record_entries(final, of_group, i) == 0)
			continue;
		for (c = 0; c < each->ncolumns; c++)
			gpb_answer_add_value(&each->column[c], answer, record_value(of_group, i)[c]);
	}
	gpb_answer_normalize(each, answer);
	return gpb_aggregate_final(final->codes.index, &final->item.each, &each->column[0], answer,
							   isnull);
}

/* mode(): of the values that most entries have, the first in its order */
static Datum
mode_value(const GpbValuesFinal *final, const GpbValuesGroup *of_group, bool *isnull)
{
	int64		most = 0;
	const int64 *value = NULL;
	uint64		i;

	for (i = 0; i < of_group->n; i++)
	{
		int64		entries = record_entries(final, of_group, i);

		if (entries > most || (entries == most && entries > 0 && final->item.descending))
		{
			most = entries;
			value = record_value(of_group, i);
		}
	}
	*isnull = most == 0;
	return *isnull ? (Datum) 0 : gpb_words_datum(final->type, value);
}

/*
 * min() and max() of codes, which are compared as what they stand for.  Different codes are never
 * equal, so it makes no difference which comes first.
 */
static Datum
extreme_value(GpbValuesFinal *final, const GpbValuesGroup *of_group, bool *isnull)
{
	Datum		extreme = (Datum) 0;

	*isnull = true;
	for (uint64 i = 0; i < of_group->n; i++)
	{
		Datum		value;
		int			order;

		CHECK_FOR_INTERRUPTS();
		if (record_entries(final, of_group, i) == 0)
			continue;
		value = gpb_words_value(&final->codes, final->type, record_value(of_group, i));
		order = *isnull ? 0 : DatumGetInt32(FunctionCall2Coll(&final->compare,
															  final->item.collation, value,
															  extreme));
		if (*isnull || (final->item.each.function == GPB_MIN ? order < 0 : order > 0))
			extreme = value;
		*isnull = false;
	}
	return extreme;
}

/* ---- percentiles ---- */

/* The entries of a group in the order of a percentile: record i ends before ends[i]. */
typedef struct GpbValuesRows
{
	const GpbValuesFinal *final;
	const GpbValuesGroup *of_group;
	int64	   *ends;			/* in ascending order */
	int64		total;
} GpbValuesRows;

static void
count_rows(GpbValuesRows *rows, const GpbValuesFinal *final, const GpbValuesGroup *of_group)
{
	uint64		i;

	rows->final = final;
	rows->of_group = of_group;
	rows->ends = MemoryContextAllocHuge(CurrentMemoryContext,
										sizeof(int64) * Max(of_group->n, 1));
	rows->total = 0;
	for (i = 0; i < of_group->n; i++)
	{
		rows->total += record_entries(final, of_group, i);
		rows->ends[i] = rows->total;
	}
}

/* The words of row number "row", counted from 0, in the percentile's order */
static const int64 *
row_value(const GpbValuesRows *rows, int64 row)
{
	uint64		low = 0;
	uint64		high = rows->of_group->n - 1;

	if (rows->final->item.descending)
		row = rows->total - 1 - row;
	while (low < high)
	{
		uint64		middle = low + (high - low) / 2;

		if (rows->ends[middle] > row)
			high = middle;
		else
			low = middle + 1;
	}
	return record_value(rows->of_group, low);
}

/* The value of row number "row" as a float8 */
static float8
row_float(const GpbValuesRows *rows, int64 row)
{
	int64		value = *row_value(rows, row);

	return gpb_word_is_float(rows->final->type.sql) ? gpb_float_value(value) : (float8) value;
}

/* The value of a fraction for percentile_cont, as core computes it from two neighbouring rows */
static float8
interpolate(const GpbValuesRows *rows, float8 fraction)
{
	float8		row = fraction * (rows->total - 1);
	int64		before = floor(row);
	int64		after = ceil(row);
	float8		low = row_float(rows, before);

	if (after == before)
		return low;
	return gpb_between_rows(fraction, rows->final->item.many, rows->total - 1, before, low,
							row_float(rows, after));
}

/* The value of a fraction, of at least one row */
static Datum
fraction_value(const GpbValuesRows *rows, float8 fraction)
{
	if (rows->final->item.each.function == GPB_PERCENTILE_CONT)
		return Float8GetDatum(interpolate(rows, fraction));
	return gpb_words_datum(rows->final->type,
						   row_value(rows, Max((int64) ceil(fraction * rows->total), 1) - 1));
}

/* The values of an array of fractions */
static Datum
fractions_value(const GpbValuesRows *rows, Datum array)
{
	GpbFractions fractions;
	Datum	   *values;
	int			i;

	gpb_fractions_open(array, &fractions);
	values = palloc0(sizeof(Datum) * fractions.n);
	for (i = 0; i < fractions.n; i++)
	{
		if (!fractions.nulls[i])
			values[i] = fraction_value(rows, DatumGetFloat8(fractions.values[i]));
	}
	return gpb_fractions_result(&fractions, values, rows->final->item.type);
}

/* Evaluate the fraction of a percentile, which stays the same for all groups. */
static void
evaluate_fraction(GpbValuesFinal *final, ExprContext *econtext, MemoryContext lasting)
{
	Datum		value = ExecEvalExprSwitchContext(final->fraction, econtext,
												  &final->fraction_is_null);
	MemoryContext caller = MemoryContextSwitchTo(lasting);

	if (!final->fraction_is_null)
		final->fraction_value = final->item.many ? datumCopy(value, false, -1) :
			datumCopy(value, FLOAT8PASSBYVAL, sizeof(float8));
	MemoryContextSwitchTo(caller);
	final->evaluated = true;
}

/* A percentile.  As in core, an array of fractions is not looked at if there are no rows. */
static Datum
percentile_value(GpbValuesFinal *final, const GpbValuesGroup *of_group, bool *isnull)
{
	GpbValuesRows rows;

	*isnull = true;
	if (final->fraction_is_null)
		return (Datum) 0;
	if (!final->item.many)
		gpb_require_fraction(DatumGetFloat8(final->fraction_value));
	count_rows(&rows, final, of_group);
	if (rows.total == 0)
		return (Datum) 0;
	*isnull = false;
	if (final->item.many)
		return fractions_value(&rows, final->fraction_value);
	return fraction_value(&rows, DatumGetFloat8(final->fraction_value));
}

/* ---- states ---- */

/* The state of all values and their entries */
static Datum
partial_value(const GpbValuesFinal *final, const GpbValuesGroup *of_group, bool *isnull)
{
	const GpbPartialType *type = gpb_partial_type(final->item.each.type.sql);
	GpbPartial *partial = gpb_partial_new(GPB_PARTIAL_OF_VALUES, type, NULL);

	for (uint64 i = 0; i < of_group->n; i++)
	{
		int64		entries = record_entries(final, of_group, i);

		if (entries > 0)
			gpb_partial_add_value(partial,
								  gpb_words_value(&final->codes, final->type,
												  record_value(of_group, i)),
								  entries);
	}
	*isnull = gpb_partial_nvalues(partial) == 0;
	return *isnull ? (Datum) 0 : PointerGetDatum(gpb_partial_write(partial));
}

/* ---- any of them ---- */

Datum
gpb_values_final_value(GpbValuesFinal *final, const GpbValuesGroup *of_group, ExprContext *econtext,
					   MemoryContext lasting, bool *isnull)
{
	switch (final->item.each.function)
	{
		case GPB_PARTIAL_VALUES:
			return partial_value(final, of_group, isnull);
		case GPB_MODE:
			return mode_value(final, of_group, isnull);
		case GPB_MIN:
		case GPB_MAX:
			return extreme_value(final, of_group, isnull);
		case GPB_PERCENTILE_DISC:
		case GPB_PERCENTILE_CONT:
			if (!final->evaluated)
				evaluate_fraction(final, econtext, lasting);
			return percentile_value(final, of_group, isnull);
		default:
			return distinct_value(final, of_group, isnull);
	}
}
