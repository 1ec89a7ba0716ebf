/*-------------------------------------------------------------------------
 *
 * outer_price.c
 *	  The price of reading outer rows in batches and finding the index entries that each asks for.
 *
 * A nested loop pays for each outer row, a batch once to be set up: so few outer rows are cheaper
 * in a nested loop (price_constants.h).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "exec/price/growth.h"
#include "exec/price/outer_price.h"
#include "exec/price/price_constants.h"

/* How the outer rows come in batches */
typedef struct GpbOuterBatches
{
	double		first;			/* rows of the first */
	double		largest;
	double		count;
} GpbOuterBatches;

/*
 * Batches grow from small to what memory holds; most rows are in batches of the
 * largest size.
 */
static void
estimate_batches(const Path *outer, GpbOuterBatches *batches)
{
	double		rows = outer->rows;
	PathTarget *target = outer->pathtarget;
	double		most = gpb_rows_memory() /
		(double) (gpb_row_bytes(list_length(target->exprs), sizeof(GpbKey)) + target->width);
	double		size = GPB_FIRST_BATCH;

	most = Max(Min(most, GPB_MOST_ROWS), GPB_FIRST_BATCH);
	batches->first = Min(rows, GPB_FIRST_BATCH);
	batches->largest = batches->first;
	batches->count = 0;
	while (rows > 0 && size < most)
	{
		batches->largest = Min(rows, size);
		batches->count++;
		rows -= batches->largest;
		size *= GPB_BATCH_GROWTH;
	}
	if (rows > 0)
	{
		batches->largest = Max(batches->largest, Min(rows, most));
		batches->count += ceil(rows / most);
	}
}

/* The price of so many outer rows' ranges; of any index: of the rows alone */
static Cost
ranges_price(GpbOuterInput *input, double ranges, double batch)
{
	if (input->ask.index == NULL)
		return ranges * GPB_OUTER_ROW_COST * cpu_operator_cost;
	/* a range that several indexes are asked for is as many */
	input->ask.ranges = input->outer->rows * Max(input->asked, 1.0);
	return gpb_ranges_price(&input->ask, ranges * Max(input->asked, 1.0),
							batch * Max(input->asked, 1.0));
}

GpbOuterPrice
gpb_outer_total_price(GpbOuterInput *input)
{
	GpbOuterBatches batches;
	Path	   *outer = input->outer;
	QualCost	filters;
	Cost		startup = cpu_operator_cost * (GPB_OUTER_START_COST + GPB_OUTER_RUN_COST);
	Cost		outer_run = outer->total_cost - outer->startup_cost;
	GpbOuterPrice price;

	estimate_batches(outer, &batches);
	cost_qual_eval(&filters, input->filters, input->ask.root);
	startup += filters.startup + input->target->cost.startup + input->begin_cost;
	startup += cpu_operator_cost * (GPB_OUTER_OPEN_COST + GPB_OUTER_RUN_COST) *
		Max(input->partitions - 1, 0);
	price.total_cost = outer->total_cost + startup +
		cpu_operator_cost * GPB_OUTER_RUN_COST * Max(batches.count - 1, 0) *
		Max(input->partitions, 1.0) +
		ranges_price(input, outer->rows, batches.largest) +
		input->ask.entries * (1.0 - input->ask.dropped) * filters.per_tuple +
		input->rows * (cpu_tuple_cost + input->target->cost.per_tuple);
	price.startup_cost = outer->startup_cost + startup +
		outer_run * batches.first / Max(outer->rows, 1.0);
	return price;
}

GpbOuterPrice
gpb_outer_full_price(GpbOuterInput *input, const GpbOuterPrice *total)
{
	const Path *outer = input->outer;
	double		first = Min(outer->rows, GPB_FIRST_BATCH);
	GpbOuterPrice price = *total;

	price.startup_cost += ranges_price(input, first, first);
	price.total_cost = Max(price.total_cost,
						   outer->total_cost + price.startup_cost - outer->startup_cost);
	return price;
}

GpbOuterPrice
gpb_outer_price(GpbOuterInput *input)
{
	GpbOuterPrice price = gpb_outer_total_price(input);

	return gpb_outer_full_price(input, &price);
}
