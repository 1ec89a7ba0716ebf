/*-------------------------------------------------------------------------
 *
 * node_table.h
 *	  The table of a node, at execution.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_NODE_TABLE_H
#define GPB_NODE_TABLE_H

#include "postgres.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

/*
 * The one table of a node that scans it (scanrelid is not 0), which the executor has opened and
 * will close.  The node is no place for WHERE CURRENT OF to look for a row's TID, so it is taken
 * away from there.
 */
extern Relation gpb_scanned_table(CustomScanState *css);

/*
 * Raise core's error if the table is a materialized view without data, unless the node is only
 * explained.  The executor does so for the table that a node scans; nodes that join have to ask.
 */
extern void gpb_require_data(Relation table, int eflags);

#endif							/* GPB_NODE_TABLE_H */
