/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  The settings that the planner's use of our nodes depends on (exec.c defines them).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_EXEC_SETTINGS_H
#define GPB_EXEC_SETTINGS_H

#include "postgres.h"

extern bool gpb_enable_aggregate;	/* gpubtree.enable_aggregate */
extern bool gpb_enable_scan;	/* gpubtree.enable_scan */
extern bool gpb_enable_batchjoin;	/* gpubtree.enable_batchjoin */
extern bool gpb_enable_joinaggregate;	/* gpubtree.enable_joinaggregate */
extern bool gpb_enable_rangeaggregate;	/* gpubtree.enable_rangeaggregate */
extern bool gpb_enable_subquery;	/* gpubtree.enable_subquery */
extern bool gpb_enable_rank;	/* gpubtree.enable_rank */
extern bool gpb_enable_percentile;	/* gpubtree.enable_percentile */
extern bool gpb_enable_bucketaggregate; /* gpubtree.enable_bucketaggregate */
extern bool gpb_explain_decisions;	/* gpubtree.explain_decisions */

extern double gpb_setup_cost;	/* gpubtree.setup_cost */

#endif							/* GPB_EXEC_SETTINGS_H */
