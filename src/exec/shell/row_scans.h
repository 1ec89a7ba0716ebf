/*-------------------------------------------------------------------------
 *
 * row_scans.h
 *	  Index scans of a finished plan whose conditions are row comparisons.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ROW_SCANS_H
#define GPB_ROW_SCANS_H

#include "postgres.h"
#include "nodes/plannodes.h"

/*
 * Make each row comparison that is a condition of an index of ours conditions on its columns, as
 * scan keys for index/row_bound.h, wherever it is in the plan of a statement.  Locks on the indexes
 * are held.
 */
extern void gpb_finish_row_scans(PlannedStmt *statement);

#endif							/* GPB_ROW_SCANS_H */
