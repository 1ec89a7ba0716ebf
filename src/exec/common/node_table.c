/*-------------------------------------------------------------------------
 *
 * node_table.c
 *	  The table of a node, at execution.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"

#include "exec/common/node_table.h"

Relation
gpb_scanned_table(CustomScanState *css)
{
	Relation	table = css->ss.ss_currentRelation;

	Assert(table != NULL);
	css->ss.ss_currentRelation = NULL;
	return table;
}

void
gpb_require_data(Relation table, int eflags)
{
	if ((eflags & (EXEC_FLAG_EXPLAIN_ONLY | EXEC_FLAG_WITH_NO_DATA)) == 0 &&
		!RelationIsScannable(table))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("materialized view \"%s\" has not been populated",
						RelationGetRelationName(table)),
				 errhint("Use the REFRESH MATERIALIZED VIEW command.")));
}
