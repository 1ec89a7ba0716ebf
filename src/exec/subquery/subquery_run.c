/*-------------------------------------------------------------------------
 *
 * subquery_run.c
 *	  How many rows are read of a statement by whoever runs it.
 *
 * FETCH, a client's fetch size, a function in SQL, INTO and loops of PL/pgSQL run the executor for
 * some rows at a time, and may never come back for more.  A node that must not read a row that
 * nobody wants asks here.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"

#include "exec/subquery/subquery.h"

/* A run of the executor; statements run statements */
typedef struct Run
{
	EState	   *estate;
	uint64		count;			/* 0: all rows */
	struct Run *outer;
} Run;

static Run *current_run = NULL;
static ExecutorRun_hook_type previous_executor_run_hook = NULL;

static void
run_executor(GPB_RUN_ARGUMENTS)
{
	Run			run = {query->estate, count, current_run};

	current_run = &run;
	PG_TRY();
	{
		if (previous_executor_run_hook)
			previous_executor_run_hook(GPB_RUN_PASSED);
		else
			standard_ExecutorRun(GPB_RUN_PASSED);
	}
	PG_FINALLY();
	{
		current_run = run.outer;
	}
	PG_END_TRY();
}

/* The executor counts the rows that a run has returned in es_processed. */
uint64
gpb_rows_wanted(EState *estate)
{
	Run		   *run;

	for (run = current_run; run != NULL; run = run->outer)
	{
		if (run->estate != estate)
			continue;
		if (run->count == 0)
			return PG_UINT64_MAX;
		return run->count - Min(run->count, estate->es_processed);
	}
	return PG_UINT64_MAX;
}

void
gpb_subquery_run_init(void)
{
	previous_executor_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run_executor;
}
