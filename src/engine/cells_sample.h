/*-------------------------------------------------------------------------
 *
 * cells_sample.h
 *	  What part of a run's leaves the CPU would pass by, by their cells (rule M14).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CELLS_SAMPLE_H
#define GPB_CELLS_SAMPLE_H

#include "engine/batch_engine.h"

/* What was found of the leaves of a sample */
typedef struct GpbCellsSample
{
	uint32		passed;			/* leaves that the CPU would pass by */
	uint32		absent;			/* leaves without a cell that would do, which could be recorded */
	uint32		unseen;			/* leaves of which not all rows are seen */
} GpbCellsSample;

/*
 * Test the cells of some leaves of the run, in a few places that lie evenly over its ranges.  All
 * of the sample is 0 if no leaf of the run can be passed by, whatever cells there are.  Inner
 * pages, the map and heap pages' headers are read, so nothing may be locked.  Raises
 * ERRCODE_INDEX_CORRUPTED on a damaged inner page.
 */
extern GpbCellsSample gpb_cells_sample(const GpbBatch *batch);

#endif							/* GPB_CELLS_SAMPLE_H */
