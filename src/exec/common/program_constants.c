/*-------------------------------------------------------------------------
 *
 * program_constants.c
 *	  The constants of a node's program.
 *
 * Core evaluates an expression without columns where it stands, for a row that gets there, if there
 * is one.  The node evaluates it before it has seen any.  So an error in the data must not be
 * raised: the ordinary plan, which takes over then, raises it, or does not.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "exec/common/program_constants.h"

/* Is it an error in the data, and not one of resources, or that the query is to end? */
static bool
is_data_error(const ErrorData *error)
{
	return ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_DATA_EXCEPTION;
}

/* Evaluate the constants; NULL, or why the program cannot be used. */
static const char *
bind(const GpbProgramConstants *constants, ExprContext *econtext, GpbProgram *program)
{
	return gpb_program_bind(constants, econtext, program) ? NULL :
		"a constant that the program cannot say";
}

/* Evaluate the constants in a subtransaction, which an error in the data ends; NULL, or why not. */
static const char *
bind_in_subtransaction(const GpbProgramConstants *constants, ExprContext *econtext,
					   GpbProgram *program)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	const char *volatile refusal = "an error in a constant";

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(caller);
	PG_TRY();
	{
		refusal = bind(constants, econtext, program);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(caller);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(caller);
		CurrentResourceOwner = owner;
		if (!is_data_error(error))
			ReThrowError(error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	return refusal;
}

const char *
gpb_program_constants_bind(const GpbProgramConstants *constants, bool may_fail,
						   ExprContext *econtext, GpbProgram *program)
{
	if (!may_fail)
		return bind(constants, econtext, program);
	if (IsInParallelMode())
		return "constants that may fail, in parallel mode";
	return bind_in_subtransaction(constants, econtext, program);
}
