/*-------------------------------------------------------------------------
 *
 * scan_stand_in.h
 *	  GpubtreeScan in the place of core's index scan, for executions with a large array.
 *
 * Plans are made for a parameter "= ANY ($1)" as for an array of ten keys, for which core's index
 * scan is best.  While such a plan is made it is noted here how GpubtreeScan would return the same
 * rows; stand_in/ puts that into the finished plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SCAN_STAND_IN_H
#define GPB_SCAN_STAND_IN_H

#include "postgres.h"
#include "nodes/params.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* How GpubtreeScan returns the rows of a table that core may read by a scan of this index */
typedef struct GpbStandIn
{
	const Alias *table;			/* eref of its range table entry; finished plans have it */
	Index		relid;			/* the table's number in its query */
	Oid			index;
	CustomScan *scan;			/* without a target list; setrefs.c has not seen it */
} GpbStandIn;

/*
 * Begin to remember stand-ins, while a statement is planned.  Returns what gpb_stand_ins_end() must
 * be given, in an error too.  Calls nest.
 */
extern List *gpb_stand_ins_begin(void);

/* End what gpb_stand_ins_begin() began; returns the GpbStandIns. */
extern List *gpb_stand_ins_end(List *outer);

/*
 * Remember stand-ins for core's scans of the table's indexes by parameters' arrays, of which nobody
 * wants the order; to be called from set_rel_pathlist_hook.
 */
extern void gpb_stand_ins_consider(PlannerInfo *root, RelOptInfo *rel);

/*
 * Is the stand-in sooner than core's scan, with the parameters as they are?  The table is locked.
 */
extern bool gpb_stand_in_pays(const CustomScan *scan, ParamListInfo parameters);

#endif							/* GPB_SCAN_STAND_IN_H */
