/*-------------------------------------------------------------------------
 *
 * aggregate_rows.c
 *	  Aggregates over the rows of a child plan, by the program of an index that does not have them.
 *
 * The child is core's own scan of a table, which has tested the restrictions.  Each row's values
 * become the words that an entry of the index would have (bind/row_values.h), and go through the
 * evaluator that the CPU engine uses.  So what comes out is what an index of that form over this
 * table would have given, bit by bit.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/answer/child_rows.h"
#include "exec/answer/collected.h"
#include "exec/bind/row_values.h"
#include "program/program_entries.h"

/* What a subprogram does with the rows */
typedef struct GpbRowsSub
{
	GpbProgram	program;		/* bound */
	void	   *memory;			/* of the evaluator */
	GpbEvaluator *evaluator;	/* NULL: the program is plain */
	GpbCollected *collected;
} GpbRowsSub;

struct GpbAggregateRows
{
	GpbChildRows *rows;
	GpbRowCodes *codes;			/* NULL: no codes are read */
	GpbRowReader *reader;
	MemoryContext work;			/* of the rows of a strip */
	GpbRowsSub	sub[FLEXIBLE_ARRAY_MEMBER];
};

/* ---- begin ---- */

/*
 * Prepare to read rows, when the first execution has bound the program's constants.  Memory here
 * and below is the query's.
 */
static void
begin_rows(GpbAggregateScan *scan)
{
	const GpbAggregatePlan *plan = &scan->plan;
	GpbAggregateRows *rows = palloc0(offsetof(GpbAggregateRows, sub) +
									 sizeof(GpbRowsSub) * scan->nsubs);
	GpbProgram *whole = palloc(sizeof(GpbProgram));

	*whole = plan->program.program;
	whole->layout = gpb_ask_program(scan->subs[0].ask)->layout;
	rows->rows = gpb_child_rows_begin(scan->node.child);
	rows->work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree rows",
									   ALLOCSET_DEFAULT_SIZES);
	if (plan->has_program)
		rows->codes = gpb_row_codes(&plan->program, gpb_ask_constants(scan->subs[0].ask),
									scan->texts, scan->memory);
	rows->reader = gpb_row_reader(whole, plan->items, plan->nitems, rows->codes);
	pfree(whole);
	scan->rows_read = rows;
}

/* Begin an execution of a subprogram: without entries, and with wide sums. */
static void
start_sub(GpbRowsSub *sub, GpbAsk *ask)
{
	GpbEvaluatorSink sink = {0};

	sub->program = *gpb_ask_program(ask);
	sub->program.narrow_sums = false;
	sub->collected = gpb_ask_collected(ask);
	(void) gpb_collected_widen(sub->collected);
	if (gpb_program_is_plain(&sub->program))
		return;
	if (sub->memory == NULL)
		sub->memory = palloc(gpb_evaluator_size(&sub->program));
	sub->evaluator = gpb_evaluator_init(sub->memory, &sub->program,
										gpb_collected_format(sub->collected));
	sink.answers = gpb_collected_total(sub->collected);
	sink.groups = gpb_collected_groups(sub->collected);
	gpb_evaluator_begin(sub->evaluator, &sink);
}

/* ---- rows ---- */

/* Add a row's values to the answer of a plain program. */
static void
add_plain(const GpbAnswerFormat *format, const GpbValue *values, int64 *answer)
{
	int			i;

	answer[0]++;
	for (i = 0; i < format->ncolumns; i++)
	{
		const GpbAnswerColumn *column = &format->column[i];
		GpbValue	value = values[column->column];

		if (!value.is_null)
			(void) gpb_answer_add_value(column, answer, value.word);
	}
}

/* Add the row that was read to all subprograms. */
static inline void
add_row(GpbAggregateRows *rows, int nsubs)
{
	int			i;

	for (i = 0; i < nsubs; i++)
	{
		GpbRowsSub *sub = &rows->sub[i];

		if (sub->evaluator != NULL)
			gpb_evaluate_values(sub->evaluator, rows->reader->value);
		else
			add_plain(gpb_collected_format(sub->collected), rows->reader->value,
					  gpb_collected_total(sub->collected));
	}
}

/* Let all subprograms know of texts that have come since; NULL, or why there is no answer. */
static const char *
judge_texts(GpbAggregateScan *scan)
{
	GpbAggregateRows *rows = scan->rows_read;
	const char *why;
	int			i;

	if (rows->codes == NULL || !gpb_row_codes_wait(rows->codes))
		return NULL;
	why = gpb_row_codes_judge(rows->codes, scan->node.css.ss.ps.ps_ExprContext,
							  &rows->sub[0].program);
	for (i = 0; i < scan->nsubs && why == NULL; i++)
	{
		GpbRowsSub *sub = &rows->sub[i];

		if (i > 0)
			gpb_program_copy_bound(&sub->program, &rows->sub[0].program);
		if (sub->evaluator != NULL)
			gpb_evaluator_renew_constants(sub->evaluator);
	}
	return why;
}

/* Why does a subprogram not go on, if one does not? */
static const char *
find_outcome(const GpbAggregateScan *scan)
{
	int			i;

	for (i = 0; i < scan->nsubs; i++)
	{
		const GpbEvaluator *evaluator = scan->rows_read->sub[i].evaluator;
		const char *why = evaluator == NULL ? NULL : gpb_evaluation_fault(evaluator->outcome);

		if (why != NULL)
			return why;
	}
	return NULL;
}

/*
 * Before the row that was read last fills a strip, which then goes through the programs: see to
 * what is done once for a strip.
 */
static const char *
before_strip(GpbAggregateScan *scan)
{
	const char *why = find_outcome(scan);

	CHECK_FOR_INTERRUPTS();
	return why != NULL ? why : judge_texts(scan);
}

/* Read all rows into the subprograms.  Returns NULL, or why there is no answer. */
static const char *
read_rows(GpbAggregateScan *scan)
{
	GpbAggregateRows *rows = scan->rows_read;
	uint64		n = 0;

	for (;;)
	{
		TupleTableSlot *row = gpb_child_next(rows->rows);
		const char *why;
		MemoryContext caller;
		bool		has_words;

		if (TupIsNull(row))
			return judge_texts(scan);
		caller = MemoryContextSwitchTo(rows->work);
		has_words = gpb_row_read(rows->reader, row);
		MemoryContextSwitchTo(caller);
		if (!has_words)
			return rows->reader->refusal;
		if (++n % GPB_STRIP == 0)
		{
			why = before_strip(scan);
			if (why != NULL)
				return why;
			MemoryContextReset(rows->work);
		}
		add_row(rows, scan->nsubs);
	}
}

/* All rows were added: make the answer of a subprogram ready to be read. */
static void
complete_sub(GpbRowsSub *sub)
{
	GpbGroupTable *groups = gpb_collected_groups(sub->collected);

	if (sub->evaluator != NULL)
		gpb_evaluate_rest(sub->evaluator);
	if (groups != NULL)
		gpb_groups_normalize(groups);
	else
		gpb_answer_normalize(gpb_collected_format(sub->collected),
							 gpb_collected_total(sub->collected));
}

const char *
gpb_aggregate_collect_rows(GpbAggregateScan *scan)
{
	/* what the child keeps must outlive this answer */
	MemoryContext own = MemoryContextSwitchTo(scan->node.css.ss.ps.state->es_query_cxt);
	GpbAggregateRows *rows;
	const char *why;
	int			i;

	if (scan->rows_read == NULL)
		begin_rows(scan);
	rows = scan->rows_read;
	MemoryContextReset(rows->work);
	if (rows->codes != NULL)
		gpb_row_codes_start(rows->codes);
	for (i = 0; i < scan->nsubs; i++)
		start_sub(&rows->sub[i], scan->subs[i].ask);
	why = read_rows(scan);
	for (i = 0; i < scan->nsubs && why == NULL; i++)
		complete_sub(&rows->sub[i]);
	MemoryContextSwitchTo(own);
	return why != NULL ? why : find_outcome(scan);
}
