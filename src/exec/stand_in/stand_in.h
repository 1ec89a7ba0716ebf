/*-------------------------------------------------------------------------
 *
 * stand_in.h
 *	  Executions with a large array have GpubtreeScan in the place of core's index scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_STAND_IN_H
#define GPB_STAND_IN_H

#include "postgres.h"
#include "nodes/plannodes.h"

/*
 * Put stand-ins (scan/scan_stand_in.h) into a finished plan, which nobody changes afterwards: each
 * behind the index scan in whose place it may be executed.
 */
extern void gpb_stand_ins_place(PlannedStmt *statement, List *stand_ins);

/* Has this session made a plan with a stand-in? */
extern bool gpb_stand_ins_placed;

/* Load time: the hook of ExecutorStart(). */
extern void gpb_stand_in_start_init(void);

#endif							/* GPB_STAND_IN_H */
