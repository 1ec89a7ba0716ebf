/*-------------------------------------------------------------------------
 *
 * item_partial.c
 *	  From answers to partial states as SQL values.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"

#include "exec/answer/item_number.h"
#include "exec/compile/program_words.h"
#include "exec/partial/partial.h"
#include "page/numeric.h"

/*
 * The sums of an item's numerics as those of a state.  With NaN among them, which is the greatest,
 * sums mean nothing.  No other value of 16 bytes has its upper half.
 */
static void
take_numerics(GpbPartial *partial, const GpbAggregateItem *item, const GpbAnswerColumn *columns,
			  const int64 *answer)
{
	const GpbAnswerColumn *column = &columns[item->column];
	bool		wide = gpb_type_is_wide(item->type);
	const int64 *least = answer + (wide ? column->halves : column->minmax);
	const int64 *greatest = least + (wide ? 2 : 1);
	GpbPartialNumerics numerics = {.count = answer[column->count]};

	numerics.nan = gpb_may_be_nan(item->type) && *greatest == GPB_NUMERIC_NAN;
	numerics.least = DatumGetNumeric(gpb_words_datum(item->type, least));
	numerics.greatest = DatumGetNumeric(gpb_words_datum(item->type, greatest));
	if (!numerics.nan)
		numerics.sum = wide ? gpb_numerics_sum(item, columns, answer) :
			gpb_integer_sum(item, column, answer);
	if (!numerics.nan && column->squares != 0)
		numerics.squares = wide ? gpb_numerics_squares(item, columns, answer) :
			gpb_integer_squares(item, column, answer);
	gpb_partial_take_numerics(partial, &numerics);
}

bytea *
gpb_item_partial(const GpbAggregateItem *item, const GpbAnswerColumn *columns,
				 const int64 *answer)
{
	GpbPartialKind kind = item->function == GPB_PARTIAL_SUMS ? GPB_PARTIAL_OF_SUMS :
		item->function == GPB_PARTIAL_MOMENTS ? GPB_PARTIAL_OF_MOMENTS : GPB_PARTIAL_OF_PAIRS;
	GpbPartial *partial = gpb_partial_new(kind, gpb_partial_type(item->type.sql), NULL);

	if (partial->numerics != NULL)
		take_numerics(partial, item, columns, answer);
	else
		gpb_partial_take_column(partial, GPB_PARTIAL_X, &columns[item->column], answer);
	if (kind == GPB_PARTIAL_OF_PAIRS)
	{
		gpb_partial_take_column(partial, GPB_PARTIAL_Y, &columns[item->terms.y], answer);
		gpb_partial_take_column(partial, GPB_PARTIAL_PRODUCTS, &columns[item->terms.products],
								answer);
		gpb_partial_take_column(partial, GPB_PARTIAL_RESTS, &columns[item->terms.rests], answer);
	}
	return gpb_partial_write(partial);
}
