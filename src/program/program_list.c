/*-------------------------------------------------------------------------
 *
 * program_list.c
 *	  What becomes of an entry under a program that lists, one entry at a time; limited lists.
 *
 *-------------------------------------------------------------------------
 */
#include "program/program_list.h"
#include "program/program_load.h"

/* ---- one entry ---- */

/* The columns and constants of the program for one entry, at their slots. */
static void
load_values(const GpbProgram *program, GpbKey key, const char *row, GpbValue *values)
{
	int			i;

	for (i = 0; i < gpb_read_slots(program); i++)
	{
		bool		lower;
		int			column = gpb_slot_column(program, i, &lower);

		values[i] = gpb_entry_value(&program->layout, column, lower, key, row);
	}
	for (i = 0; i < program->nconstants; i++)
	{
		GpbValue   *value = &values[GPB_FIRST_CONSTANT + i];

		value->is_null = (program->null_constants >> i) & 1;
		value->word = value->is_null ? 0 : program->constant[i];
	}
}

/* Do a step that is no filter.  Returns true if it faults. */
static bool
do_step(const GpbProgram *program, const GpbStep *step, GpbValue *values)
{
	static const GpbValue none = {0, false};
	int			operands = gpb_operands(step->op);
	GpbValue	a = values[step->a];
	GpbValue	b = operands > 1 ? values[step->b] : none;
	GpbValue	c = operands > 2 ? values[step->c] : none;
	int			n;
	const int64 *table = gpb_step_table(&program->tables, step, &n);
	GpbValue	result;
	bool		fault;

	if (gpb_operator_takes_nulls(step->op))
	{
		values[step->into] = gpb_step_of_nulls(step->op, a, b, c);
		return false;
	}
	fault = gpb_step_of_values(step->op, a.word, b.word, c.word, table, n, &result.word);
	result.is_null = a.is_null || b.is_null || c.is_null;
	fault = fault && !result.is_null;
	if (fault || result.is_null)
		result.word = 0;
	/* The guard may be the slot where the result goes, so it is looked at before. */
	fault = fault && (step->guard == GPB_NO_SLOT || gpb_is_true(values[step->guard]));
	values[step->into] = result;
	return fault;
}

GpbJudgement
gpb_judge_entry(const GpbProgram *program, GpbKey key, const char *row, uint64 *rank)
{
	GpbValue	values[GPB_SLOTS];
	GpbValue	order;
	int			i;

	*rank = GPB_FAULTED_RANK;
	load_values(program, key, row, values);
	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];

		if (step->op != GPB_OP_FILTER)
		{
			if (do_step(program, step, values))
				return GPB_JUDGED_FAULTED;
		}
		else if (!gpb_is_true(values[step->a]))
			return GPB_JUDGED_DROPPED;
	}
	if (program->limit > 0)
	{
		order = values[program->order];
		*rank = gpb_list_rank(program->descending, program->nulls_first, order.word,
							  order.is_null);
	}
	return GPB_JUDGED_LISTED;
}

/* ---- the best entries ---- */

void
gpb_best_begin(GpbListBest *best, uint32 limit, uint64 *rank)
{
	best->limit = limit;
	best->n = 0;
	best->rank = rank;
}

/* Put a rank into the heap at "hole" or below it. */
static void
sift_down(GpbListBest *best, uint64 hole, uint64 rank)
{
	for (;;)
	{
		uint64		child = 2 * hole + 1;

		if (child >= best->n)
			break;
		if (child + 1 < best->n && best->rank[child + 1] > best->rank[child])
			child++;
		if (best->rank[child] <= rank)
			break;
		best->rank[hole] = best->rank[child];
		hole = child;
	}
	best->rank[hole] = rank;
}

void
gpb_best_add(GpbListBest *best, uint64 rank)
{
	if (best->n == best->limit)
	{
		if (rank < best->rank[0])
			sift_down(best, 0, rank);
		return;
	}
	best->rank[best->n++] = rank;
	if (best->n == best->limit)
	{
		uint64		i;

		for (i = best->n / 2; i-- > 0;)
			sift_down(best, i, best->rank[i]);
	}
}
