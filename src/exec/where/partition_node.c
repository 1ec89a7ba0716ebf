/*-------------------------------------------------------------------------
 *
 * partition_node.c
 *	  How the partitions that a node asks travel in its plan, and the plan node of each below core's
 *	  Append, which never runs.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/shell/node_explain.h"
#include "exec/where/partition_match.h"
#include "exec/where/range_conditions.h"

/* ---- what travels in the plan ---- */

void
gpb_put_partitions(List **private, const GpbPartitionList *list)
{
	int			i;

	gpb_put_oid(private, list->table);
	gpb_put_int(private, list->n);
	gpb_put_int(private, list->has_append);
	for (i = 0; i < list->n; i++)
	{
		const GpbPartition *partition = &list->partition[i];

		gpb_put_oid(private, partition->index);
		gpb_put_int(private, partition->only_null);
		gpb_put_range_conditions(private, partition->conditions, partition->nconditions);
	}
	for (i = 0; i < list->n; i++)
		gpb_put_nodes(private, list->partition[i].values);
}

void
gpb_get_partitions(GpbPrivateReader *reader, GpbPartitionList *list)
{
	int			i;

	list->table = gpb_get_oid(reader);
	list->n = gpb_get_int(reader);
	list->has_append = gpb_get_int(reader) != 0;
	list->partition = palloc0(sizeof(GpbPartition) * list->n);
	for (i = 0; i < list->n; i++)
	{
		GpbPartition *partition = &list->partition[i];

		partition->index = gpb_get_oid(reader);
		partition->only_null = gpb_get_int(reader) != 0;
		partition->nconditions = gpb_get_range_conditions(reader, &partition->conditions);
	}
	for (i = 0; i < list->n; i++)
		list->partition[i].values = gpb_get_nodes(reader);
}

/* ---- the partition's plan, which never runs ---- */

typedef struct GpbPartitionScan
{
	GpbNode		node;
} GpbPartitionScan;

Oid
gpb_partition_index(const CustomScan *plan)
{
	GpbPrivateReader reader = {plan->custom_private};

	return gpb_get_oid(&reader);
}

/* The executor has opened the table, which is all that is done here. */
static void
begin_partition(CustomScanState *css, EState *estate, int eflags)
{
}

static TupleTableSlot *
exec_partition(CustomScanState *css)
{
	elog(ERROR, "a partition's plan is asked for rows");
}

static void
end_partition(CustomScanState *css)
{
}

static void
explain_partition(CustomScanState *css, List *ancestors, ExplainState *es)
{
	gpb_explain_index(gpb_partition_index(castNode(CustomScan, css->ss.ps.plan)), es);
}

const GpbNodeKind gpb_partition_node = {
	GPB_NODE_KIND("GpubtreePartition", GpbPartitionScan),
	.exec.BeginCustomScan = begin_partition,
	.exec.ExecCustomScan = exec_partition,
	.exec.EndCustomScan = end_partition,
	.exec.ReScanCustomScan = end_partition,
	.exec.ExplainCustomScan = explain_partition
};
