/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  The settings that the planner's use of our nodes depends on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_EXEC_SETTINGS_H
#define GPB_EXEC_SETTINGS_H

#include "postgres.h"

extern bool gpb_enable_aggregate;	/* gpubtree.enable_aggregate */
extern bool gpb_enable_scan;	/* gpubtree.enable_scan */
extern bool gpb_enable_partitions;	/* gpubtree.enable_partitions */
extern bool gpb_enable_batchjoin;	/* gpubtree.enable_batchjoin */
extern bool gpb_enable_joinaggregate;	/* gpubtree.enable_joinaggregate */
extern bool gpb_enable_rangeaggregate;	/* gpubtree.enable_rangeaggregate */
extern bool gpb_enable_subquery;	/* gpubtree.enable_subquery */
extern bool gpb_enable_rank;	/* gpubtree.enable_rank */
extern bool gpb_enable_percentile;	/* gpubtree.enable_percentile */
extern bool gpb_enable_bucketaggregate; /* gpubtree.enable_bucketaggregate */
extern bool gpb_explain_decisions;	/* gpubtree.explain_decisions */

extern double gpb_setup_cost;	/* gpubtree.setup_cost */

extern void gpb_planning_define_settings(void);

/*
 * The options of the cursor that is being planned, if a user can name it; else 0.  Of these
 * CURSOR_OPT_FAST_PLAN is that of DECLARE and of OPEN.
 */
extern int	gpb_planning_cursor;

#define GPB_NAMED_CURSOR	(CURSOR_OPT_FAST_PLAN | CURSOR_OPT_SCROLL | CURSOR_OPT_HOLD)

#endif							/* GPB_EXEC_SETTINGS_H */
