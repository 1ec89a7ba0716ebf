/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  The settings that the planner's use of our nodes depends on.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <float.h>

#include "utils/guc.h"

#include "engine/cost.h"
#include "exec/shell/settings.h"

bool		gpb_enable_aggregate = true;
double		gpb_setup_cost = 1.0;
bool		gpb_enable_scan = true;
bool		gpb_enable_partitions = true;
bool		gpb_enable_batchjoin = true;
bool		gpb_enable_joinaggregate = true;
bool		gpb_enable_rangeaggregate = true;
bool		gpb_enable_subquery = true;
bool		gpb_enable_rank = true;
bool		gpb_enable_percentile = true;
bool		gpb_enable_bucketaggregate = true;
bool		gpb_explain_decisions = false;

int			gpb_planning_cursor = 0;

void
gpb_planning_define_settings(void)
{
	DefineCustomBoolVariable("gpubtree.enable_aggregate",
							 "Enables the planner's use of range aggregates over gpubtree indexes.",
							 NULL, &gpb_enable_aggregate, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomRealVariable("gpubtree.setup_cost",
							 "Sets the planner's estimate of the fixed cost of a range aggregate "
							 "over a gpubtree index.",
							 "Higher values leave more small queries to ordinary index scans.",
							 &gpb_setup_cost, 1.0, 0.0, DBL_MAX,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomRealVariable("gpubtree.batch_setup_cost",
							 "Sets the estimate of the fixed cost of answering a batch of keys or "
							 "ranges on a device.",
							 "Higher values leave larger batches to the CPU.",
							 &gpb_batch_setup_cost, 20.0, 0.0, DBL_MAX,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.enable_scan",
							 "Enables the planner's use of lists of filtered entries of gpubtree "
							 "indexes for the rows of a table.",
							 NULL, &gpb_enable_scan, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.enable_partitions",
							 "Enables the planner's use of other nodes for partitions, children "
							 "that inherit and members of UNION ALL.",
							 NULL, &gpb_enable_partitions, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.enable_batchjoin",
							 "Enables the planner's use of batched joins over gpubtree indexes.",
							 NULL, &gpb_enable_batchjoin, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.enable_joinaggregate",
							 "Enables the planner's use of aggregates over batched joins, without "
							 "joined rows.",
							 "Batched joins and range aggregates must be enabled too.",
							 &gpb_enable_joinaggregate, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.enable_rangeaggregate",
							 "Enables the planner's use of batches of ranges for aggregates of "
							 "each outer row or group.",
							 NULL, &gpb_enable_rangeaggregate, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.enable_subquery",
							 "Enables the planner's use of batches of ranges for scalar "
							 "subqueries that aggregate a range for each row.",
							 NULL, &gpb_enable_subquery, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.enable_rank",
							 "Enables the planner's use of counting in gpubtree indexes to find "
							 "the row of a rank.",
							 NULL, &gpb_enable_rank, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.enable_percentile",
							 "Enables the planner's use of counting in gpubtree indexes for "
							 "percentile_disc.",
							 NULL, &gpb_enable_percentile, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.enable_bucketaggregate",
							 "Enables the planner's use of batches of ranges for aggregates "
							 "grouped by a function of the key, such as date_trunc.",
							 NULL, &gpb_enable_bucketaggregate, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.explain_decisions",
							 "Says, when an aggregate is planned without GpubtreeAggregate, why.",
							 NULL, &gpb_explain_decisions, false,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
}
