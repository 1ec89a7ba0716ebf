/*-------------------------------------------------------------------------
 *
 * batch_source.c
 *	  Ranges that come to a run while an engine answers others.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/batch_engine.h"
#include "mirror/mirror.h"

bool
gpb_batch_more_ranges(GpbBatch *batch)
{
	GpbRangeSource *source = batch->source;
	uint32		before = batch->n;

	if (source == NULL)
		return false;
	if (!source->next(source))
	{
		batch->source = NULL;
		return false;
	}
	batch->ranges = source->ranges;
	batch->n = source->n;
	batch->counters.ranges += batch->n - before;
	gpb_count_cpu_batch(batch->form, batch->n - before);
	return true;
}
