/*-------------------------------------------------------------------------
 *
 * program_bind_safe.c
 *	  The constants of a node's program.
 *
 * Core evaluates an expression without columns where it stands, for a row that gets there, if there
 * is one.  The node evaluates it before it has seen any.  So an error of a function must not be
 * raised: the ordinary plan, which takes over then, raises it, or does not.
 *
 * A subquery is evaluated ahead of that, and its error is raised.  Its plan keeps buffers and
 * relations until the query ends, which must not be a subtransaction's, and a plan that an error
 * stopped cannot go on.  Core does the same for parallel workers and for the keys of index scans.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/nodeSubplan.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "exec/bind/program_bind_safe.h"

/*
 * Is it an error of the evaluated functions, so that another plan may never meet it?  Others are of
 * resources, of the server, or say that the query or the transaction is to end.
 */
static bool
is_avoidable(const ErrorData *error)
{
	switch (ERRCODE_TO_CATEGORY(error->sqlerrcode))
	{
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_SYSTEM_ERROR:
		case ERRCODE_TO_CATEGORY(ERRCODE_INTERNAL_ERROR):
		case ERRCODE_TO_CATEGORY(ERRCODE_SNAPSHOT_TOO_OLD):
			return false;
		default:
			return true;
	}
}

/* The constants of a program, and where to put them */
typedef struct GpbBinding
{
	const GpbProgramConstants *constants;
	ExprContext *econtext;
	GpbProgram *program;
} GpbBinding;

/* Evaluate the constants of a GpbBinding; NULL, or why the program cannot be used. */
static const char *
bind(void *argument)
{
	GpbBinding *binding = argument;

	return gpb_program_bind(binding->constants, binding->econtext, binding->program);
}

/* Call evaluate(argument) in a subtransaction, which an error ends; NULL, or why not. */
static const char *
evaluate_in_subtransaction(const char *(*evaluate) (void *argument), void *argument)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	const char *volatile refusal = "an error in a constant";

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(caller);
	PG_TRY();
	{
		refusal = evaluate(argument);
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
		if (!is_avoidable(error))
			ReThrowError(error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	return refusal;
}

const char *
gpb_evaluate_safely(const char *(*evaluate) (void *argument), void *argument,
					const Bitmapset *params, ExprContext *econtext)
{
	if (IsInParallelMode())
		return "constants that may fail, in parallel mode";
	ExecSetParamPlanMulti(params, econtext);
	return evaluate_in_subtransaction(evaluate, argument);
}

const char *
gpb_program_constants_bind(const GpbProgramConstants *constants, bool may_fail,
						   ExprContext *econtext, GpbProgram *program)
{
	GpbBinding	binding = {constants, econtext, program};

	if (!may_fail)
		return bind(&binding);
	return gpb_evaluate_safely(bind, &binding, constants->params, econtext);
}
