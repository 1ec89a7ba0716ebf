/*-------------------------------------------------------------------------
 *
 * unique_refusal.c
 *	  Refuses CREATE UNIQUE INDEX ... USING gpubtree on servers before 18, and says why, and what to
 *	  use.
 *
 * PostgreSQL refuses it as well, since the access method says that it has no unique indexes, but in
 * one sentence, and before it asks the access method anything.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/parsenodes.h"
#include "tcop/utility.h"

#include "sql/sql.h"

static ProcessUtility_hook_type previous_utility_hook = NULL;

/* Raise ERRCODE_FEATURE_NOT_SUPPORTED if the statement creates a unique index of ours. */
static void
refuse_unique(const IndexStmt *statement)
{
	if (!statement->unique || statement->accessMethod == NULL ||
		strcmp(statement->accessMethod, "gpubtree") != 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("access method \"gpubtree\" does not support unique indexes"),
			 errdetail("Before version 18 PostgreSQL takes every unique index for a B-tree, and "
					   "INSERT ... ON CONFLICT fails on others."),
			 errhint("Create the unique index USING btree, and a gpubtree index beside it, or use a "
					 "constraint EXCLUDE USING gpubtree (column WITH =).")));
}

static void
process_utility(PlannedStmt *planned, const char *query, bool read_only_tree,
				ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *environment,
				DestReceiver *receiver, QueryCompletion *completion)
{
	if (IsA(planned->utilityStmt, IndexStmt))
		refuse_unique((const IndexStmt *) planned->utilityStmt);
	(previous_utility_hook ? previous_utility_hook : standard_ProcessUtility)
		(planned, query, read_only_tree, context, params, environment, receiver, completion);
}

void
gpb_refuse_unique_indexes(void)
{
	if (GPB_CAN_UNIQUE)
		return;
	previous_utility_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
