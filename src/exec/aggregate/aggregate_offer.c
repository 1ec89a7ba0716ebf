/*-------------------------------------------------------------------------
 *
 * aggregate_offer.c
 *	  Planning of aggregates over one table: what is offered.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_path.h"
#include "exec/shell/settings.h"

void
gpb_aggregate_add_path(const GpbGrouping *grouping, const char *refusal)
{
	GpbAggregateQuery query;
	GpbAggregatePath *best;
	StringInfoData refusals;

	if (!gpb_enable_aggregate)
		return;
	if (refusal == NULL)
		refusal = gpb_aggregate_match_query(grouping, &query);
	if (refusal != NULL)
	{
		gpb_explain_aggregate_refusal(refusal);
		return;
	}
	initStringInfo(&refusals);
	best = gpb_cheapest_aggregate_path(&query, &refusals, NULL);
	if (best == NULL)
		gpb_explain_aggregate_refusal(refusals.data);
	else
	{
		/* before the path is offered: add_path() may free it */
		gpb_aggregate_add_gather_path(&query, best);
		gpb_offer_aggregate_path(query.grouped_rel, best);
	}
}
