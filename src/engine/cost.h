/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  Which engine answers ranges the sooner: the device or the CPU.
 *
 * The device has a fixed cost: a look for changed pages, the visibility map, and a request's way to
 * the service and back.  gpubtree.batch_setup_cost is that cost while the device has nothing else
 * to do and no page has changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ENGINE_COST_H
#define GPB_ENGINE_COST_H

#include "postgres.h"
#include "utils/relcache.h"

#include "engine/engine_price.h"
#include "program/program.h"

/* The engine that a batch is to have */
typedef enum GpbEngine
{
	GPB_ENGINE_AUTO,			/* the cheaper one */
	GPB_ENGINE_CPU,
	GPB_ENGINE_DEVICE,			/* the device however small the batch; the CPU if there is no
								 * device */
	GPB_ENGINE_INNER			/* the CPU, with leaves from mirrored inner nodes if possible */
} GpbEngine;

extern double gpb_batch_setup_cost; /* gpubtree.batch_setup_cost */

/* What the CPU engine pays more than the device for an entry of this program. */
extern double gpb_entry_gain(const GpbProgram *program);

/*
 * Does a batch of n ranges pay for the fixed cost of a device that has nothing else to do?  For the
 * planner.
 */
extern bool gpb_batch_device_pays(double n);
/*
 * Do few ranges, of so many entries in all, which are aggregated, pay for the fixed cost of a
 * device that has nothing else to do?  For the planner.
 */
extern bool gpb_aggregate_device_pays(double entries);

/*
 * What the choice between the CPU and the device was made by (batch_choice.c).  Members that were
 * not looked at are 0.
 */
typedef struct GpbEngineChoice
{
	bool		saw_entries;	/* looked at: entries; requests; blocks */
	bool		saw_requests;
	bool		saw_blocks;
	bool		saw_cells;		/* likewise: passed, absent */
	bool		records;		/* is it the CPU's so that it records leaves for later runs? */
	double		entries;		/* about how many entries the ranges have */
	double		looks;			/* heap pages that a device would have to look at; 0: none, or
								 * they are too many, and none would be */
	double		passed;			/* the part of the leaves that cells let the CPU pass by */
	double		absent;			/* the part of which it has no cells that would do */
	int			requests;		/* requests that the service had then */
	int			blocks;			/* blocks that a refresh would have had to copy first; no more than
								 * GPB_CHOICE_BLOCKS are counted */
} GpbEngineChoice;

#define GPB_CHOICE_BLOCKS	64

#endif							/* GPB_ENGINE_COST_H */
