/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  Which engine answers ranges the sooner: the device or the CPU.
 *
 * The device has a fixed cost: a look for changed pages, the visibility map, and a request's way to
 * the service and back.  gpubtree.batch_setup_cost is that cost, and the unit in which costs are
 * counted here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ENGINE_COST_H
#define GPB_ENGINE_COST_H

#include "postgres.h"
#include "utils/relcache.h"

/* The engine that a batch is to have */
typedef enum GpbEngine
{
	GPB_ENGINE_AUTO,			/* the cheaper one */
	GPB_ENGINE_CPU,
	GPB_ENGINE_DEVICE,			/* the device however small the batch; the CPU if there is no
								 * device */
	GPB_ENGINE_INNER			/* the CPU, with leaves from mirrored inner nodes if possible */
} GpbEngine;

extern double gpb_batch_setup_cost; /* gpubtree.batch_setup_cost (exec.c) */

/* Does a batch of n ranges pay for the device's fixed cost? */
extern bool gpb_batch_device_pays(double n);

/*
 * Does a batch of n ranges pay for the device's fixed cost, if their entries, "entries" in all, are
 * aggregated?
 */
extern bool gpb_batch_aggregate_pays(double n, double entries);

/* The engine for a batch of few ranges that have many entries, "entries" in all. */
extern GpbEngine gpb_batch_engine_for(Relation index, double entries);

#endif							/* GPB_ENGINE_COST_H */
