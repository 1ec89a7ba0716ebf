/*-------------------------------------------------------------------------
 *
 * exec.h
 *	  The planner/executor wing: CustomScan nodes over gpubtree indexes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_EXEC_H
#define GPB_EXEC_H

#include "postgres.h"

/* Load time: settings, planner hook, CustomScan methods. */
extern void gpb_exec_init(void);

#endif							/* GPB_EXEC_H */
