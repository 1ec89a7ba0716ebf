/*-------------------------------------------------------------------------
 *
 * scan_parallel.c
 *	  A node below Gather whose index several processes read together, each some parts of it.
 *
 * Parts are made in the leader, whenever Gather begins, by the ranges that it finds then.  A
 * process lists one part after the other, each as if it were all.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"

#include "exec/scan/scan_node.h"
#include "index/index.h"

/* EstimateDSMCustomScan */
Size
gpb_scan_estimate_shared(CustomScanState *css, ParallelContext *pcxt)
{
	return gpb_shared_parts_size(pcxt->nworkers);
}

/* InitializeDSMCustomScan, ReInitializeDSMCustomScan: no worker has begun. */
void
gpb_scan_make_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpbScanRows *scan = (GpbScanRows *) css;

	scan->parts = coordinate;
	gpb_shared_parts_find(scan->parts, pcxt->nworkers, scan->node.index,
						  css->ss.ps.state->es_snapshot, scan->conditions,
						  css->ss.ps.ps_ExprContext);
}

/* InitializeWorkerCustomScan */
void
gpb_scan_find_shared(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	((GpbScanRows *) css)->parts = coordinate;
}

/* ShutdownCustomScan: no more rows are wanted. */
void
gpb_scan_leave_shared(CustomScanState *css)
{
	((GpbScanRows *) css)->parts = NULL;
}

void
gpb_scan_start_shared(GpbScanRows *scan)
{
	gpb_shared_ranges_begin(&scan->taken, scan->parts, &scan->layout, &scan->found);
	scan->nlisted = 0;
}

bool
gpb_scan_next_part(GpbScanRows *scan)
{
	GpbRangeSource *source = &scan->taken.source;
	uint32		first = scan->nlisted;

	if (scan->parts == NULL || scan->found.n == 0 || !source->next(source))
		return false;
	scan->nlisted = source->n;
	gpb_list_start(scan->list, &source->ranges[first], sizeof(GpbRange), source->n - first);
	return true;
}
