/*-------------------------------------------------------------------------
 *
 * program.cu
 *	  From a program to the code that kernels interpret, and to its passes; see program.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "program.cuh"
#include "tuning.cuh"

/* ---- sets of slots ---- */

static void
add_slot(GpbSlotSet *set, int slot)
{
	if (slot != GPB_NO_SLOT)
		set->bits[slot / 64] |= (uint64) 1 << (slot % 64);
}

static bool
has_slot(const GpbSlotSet *set, int slot)
{
	return slot != GPB_NO_SLOT && (set->bits[slot / 64] >> (slot % 64) & 1) != 0;
}

static void
remove_slot(GpbSlotSet *set, int slot)
{
	set->bits[slot / 64] &= ~((uint64) 1 << (slot % 64));
}

/* ---- code ---- */

static void
add_operands(GpbSlotSet *set, const GpbStep *step)
{
	int			operands = gpb_operands(step->op);

	add_slot(set, step->a);
	if (operands > 1)
		add_slot(set, step->b);
	if (operands > 2)
		add_slot(set, step->c);
	add_slot(set, step->guard);
}

/*
 * Mark the steps to be done: all, or only those that the filters and the slots that are read after
 * the last step need.  *read becomes the slots that must have a value before the first step.
 */
static void
mark_steps(const GpbProgram *program, bool all, GpbSlotSet *read, bool *wanted)
{
	for (int i = program->nsteps - 1; i >= 0; i--)
	{
		const GpbStep *step = &program->step[i];
		bool		filters = step->op == GPB_OP_FILTER;

		wanted[i] = all || filters || has_slot(read, step->into);
		if (!wanted[i])
			continue;
		if (!filters)
			remove_slot(read, step->into);
		add_operands(read, step);
	}
}

/* Copy a step.  Slots that hold the result of the step before are read from there. */
static GpbCodeStep
make_step(const GpbStep *step, int last)
{
	GpbCodeStep made;

	memset(&made, 0, sizeof(made));
	made.op = step->op;
	made.operands = (uint8) gpb_operands(step->op);
	made.into = step->op == GPB_OP_FILTER ? GPB_NO_SLOT : step->into;
	made.a = step->a == last ? GPB_LAST_RESULT : step->a;
	made.b = made.operands > 1 && step->b == last ? GPB_LAST_RESULT : step->b;
	made.c = made.operands > 2 && step->c == last ? GPB_LAST_RESULT : step->c;
	made.guard = step->guard != GPB_NO_SLOT && step->guard == last ? GPB_LAST_RESULT : step->guard;
	return made;
}

static bool
reads_slot(const GpbCodeStep *step, int slot)
{
	return step->a == slot || (step->operands > 1 && step->b == slot) ||
		(step->operands > 2 && step->c == slot) || step->guard == slot;
}

/* Is the result of step i read from its slot, by a later step or after the last? */
static bool
is_stored(const GpbCode *code, int i, const GpbSlotSet *read_after)
{
	int			slot = code->step[i].into;

	for (int j = i + 1; j < code->nsteps; j++)
	{
		if (reads_slot(&code->step[j], slot))
			return true;
		if (code->step[j].into == slot)
			return false;
	}
	return has_slot(read_after, slot);
}

/* Make the code that gives the slots in read_after their values, with all steps or as few as do. */
static void
make_code(const GpbProgram *program, const GpbSlotSet *read_after, bool all, GpbCode *code)
{
	const GpbLayout *layout = &program->layout;
	bool		wanted[GPB_MAX_STEPS];
	GpbSlotSet	read = *read_after;
	int			last = -1;		/* slot of the last result; no operand is that */

	memset(code, 0, sizeof(*code));
	mark_steps(program, all, &read, wanted);
	for (int i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];

		if (!wanted[i])
			continue;
		code->step[code->nsteps++] = make_step(step, last);
		if (step->op != GPB_OP_FILTER)
			last = step->into;
	}
	/* from the front: whether a result is read does not depend on what is stored before it */
	for (int i = 0; i < code->nsteps; i++)
	{
		if (code->step[i].into != GPB_NO_SLOT && !is_stored(code, i, read_after))
			code->step[i].into = GPB_NO_SLOT;
	}
	for (int s = 0; s < gpb_read_slots(program); s++)
	{
		GpbCodeColumn *column = &code->column[code->ncolumns];
		bool		lower;
		int			c = gpb_slot_column(program, s, &lower);
		int			kind = gpb_column_kind(layout, c);

		if (!has_slot(&read, s))
			continue;
		column->slot = (uint8) s;
		column->column = (uint8) c;
		column->lower = lower;
		column->kind = (uint8) (lower ? gpb_lower_kind(kind) : kind);
		if (c > layout->ncolumns)
			column->field = layout->key[c - gpb_key_column_slot(layout, 0)];
		else if (c > 0)
			column->offset = layout->offset[c - 1];
		code->ncolumns++;
	}
	code->null_constants = program->null_constants;
	memcpy(code->constant, program->constant, sizeof(code->constant));
	code->tables = program->tables;
}

/* ---- passes ---- */

/* What the words of a term say of it that no other pass column can hold */
static bool
has_extra(const GpbAnswerColumn *words)
{
	return words->squares != 0 || words->bits_and != 0 || words->bits_or != 0 ||
		words->bits_xor != 0 || words->halves != 0;
}

static GpbPass
empty_pass(const GpbProgram *program)
{
	GpbPass		pass;

	memset(&pass, 0, sizeof(pass));
	pass.dead_mask = program->ignore_dead_hints ? 0 : GPB_LOC_DEAD;
	return pass;
}

/* Are the values of the term those of a column of at most 32 bits? */
static bool
is_narrow(const GpbProgram *program, const GpbAnswerColumn *words)
{
	return program->term[words->column].slot <= program->layout.ncolumns &&
		(words->kind == GPB_KIND_INT2 || words->kind == GPB_KIND_INT4);
}

static GpbPassColumn
make_term(const GpbProgram *program, const GpbAnswerColumn *words)
{
	GpbPassColumn column;

	memset(&column, 0, sizeof(column));
	column.want = GPB_WANT_COUNT;
	if (words->sum != 0 || words->float_sum != 0)
		column.want |= GPB_WANT_SUM;
	if (words->minmax != 0)
		column.want |= GPB_WANT_MINMAX;
	column.column = words->column;
	column.kind = words->kind;
	column.is_narrow = is_narrow(program, words);
	column.count = words->count;
	column.sum = words->sum;
	column.minmax = words->minmax;
	column.float_sum = words->float_sum;
	return column;
}

/* The pass that adds up squares of a float8, and nothing else */
static GpbPassColumn
make_float_squares(const GpbAnswerColumn *words)
{
	GpbPassColumn column;

	memset(&column, 0, sizeof(column));
	column.want = GPB_WANT_SQUARES;
	column.column = words->column;
	column.kind = words->kind;
	column.count = words->count;
	column.float_sum = words->float_squares;
	return column;
}

/*
 * Groups take one pass.  Else two terms a pass where registers hold them; then a pass for each term
 * with squares or bits, for each float8 sum, and for each of squares of float8.
 */
int
gpb_make_program_passes(const GpbProgram *program, const GpbAnswerFormat *format, GpbPass *pass)
{
	int			ncolumns = program->ngroups > 0 ? 0 : format->ncolumns;
	int			npasses = 0;
	int			n = 0;			/* terms of the last pass so far */

	for (int c = 0; c < ncolumns; c++)
	{
		const GpbAnswerColumn *words = &format->column[c];

		if (words->float_sum != 0 || has_extra(words))
			continue;
		if (n == 0)
			pass[npasses++] = empty_pass(program);
		pass[npasses - 1].column[n] = make_term(program, words);
		n = (n + 1) % GPB_PASS_COLUMNS;
	}
	for (int c = 0; c < ncolumns; c++)
	{
		const GpbAnswerColumn *words = &format->column[c];

		if (words->float_sum == 0 && !has_extra(words))
			continue;
		pass[npasses] = empty_pass(program);
		pass[npasses++].column[0] = make_term(program, words);
		if (words->float_squares == 0)
			continue;
		pass[npasses] = empty_pass(program);
		pass[npasses++].column[0] = make_float_squares(words);
	}
	if (npasses == 0)
		pass[npasses++] = empty_pass(program);
	pass[0].is_first = true;
	return npasses;
}

void
gpb_make_program_pass(const GpbProgram *program, const GpbAnswerFormat *format,
					  const GpbPass *pass, GpbProgramPass *program_pass)
{
	GpbSlotSet	read;

	memset(&read, 0, sizeof(read));
	memset(program_pass, 0, sizeof(*program_pass));
	for (int c = 0; c < GPB_PASS_COLUMNS; c++)
	{
		const GpbTerm *term = &program->term[pass->column[c].column];
		bool		is_there = pass->column[c].want != 0;

		program_pass->slot[c] = is_there ? term->slot : GPB_NO_SLOT;
		program_pass->filter[c] = is_there ? term->filter : GPB_NO_SLOT;
		add_slot(&read, program_pass->slot[c]);
		add_slot(&read, program_pass->filter[c]);
	}
	program_pass->lower = GPB_NO_SLOT;
	program_pass->float_squares = pass->column[0].want == GPB_WANT_SQUARES;
	if (pass->column[0].want != 0)
	{
		const GpbAnswerColumn *words = &format->column[pass->column[0].column];

		program_pass->squares = words->squares;
		program_pass->bits_and = words->bits_and;
		program_pass->bits_or = words->bits_or;
		program_pass->bits_xor = words->bits_xor;
		program_pass->halves = words->halves;
		program_pass->lower = (uint8) gpb_term_lower(&program->term[pass->column[0].column]);
		add_slot(&read, program_pass->lower);
	}
	make_code(program, &read, pass->is_first, &program_pass->code);
}

GpbProgramShape
gpb_program_shape(const GpbPass *pass, const GpbProgramPass *program_pass)
{
	if (pass->column[0].float_sum != 0)
		return GPB_PROGRAM_FLOAT_SUM;
	if (program_pass->squares != 0 || program_pass->bits_and != 0 || program_pass->bits_or != 0 ||
		program_pass->bits_xor != 0 || program_pass->halves != 0)
		return GPB_PROGRAM_EXTRA;
	return pass->column[1].want != 0 ? GPB_PROGRAM_WIDE : GPB_PROGRAM_NARROW;
}

/* ---- groups ---- */

/*
 * Give out words of a block's shared memory for the term's bounds, *words being given out so far.
 * Returns false if the term wants something that shared memory has no sums for.
 */
static bool
share_term(GpbGroupTerm *term, int *words)
{
	if (term->words.float_squares != 0 || has_extra(&term->words))
		return false;
	/* bounds first, since they are 64 bits wide and the words before them are even in number */
	if (term->words.minmax != 0)
	{
		term->shared_minmax = (uint16) *words;
		*words += 4;
	}
	return true;
}

/* Lay out the sums of groups in shared memory; job->shared_groups remains 0 if that is no use. */
static void
share_groups(GpbGroupJob *job)
{
	int			words = 0;
	uint32		groups;
	uint32		least = GPB_GROUP_SHARED_LEAST;

	for (int t = 0; t < job->nterms; t++)
	{
		if (!share_term(&job->term[t], &words))
			return;
	}
	for (int t = 0; t < job->nterms; t++)
	{
		job->term[t].shared_missing = (uint16) words++;
		job->term[t].shared_sum = (uint16) words;
		if (job->term[t].words.sum != 0)
			words += 3;
		job->term[t].shared_float = (uint16) words;
		if (job->term[t].words.float_sum != 0)
		{
			words += GPB_SHARED_FLOAT_WORDS;
			job->has_slots = true;
			least = GPB_GROUP_SLOTS_LEAST;
		}
	}
	/* the last two are the slot's owner, if there are slots, and the number of entries */
	words += job->has_slots ? 2 : 1;
	job->shared_words = (uint16) words;
	groups = GPB_GROUP_SHARED_WORDS / words & ~1u;
	job->shared_groups = groups < least ? 0 :
		groups > GPB_GROUP_SHARED_MOST ? GPB_GROUP_SHARED_MOST : groups;
}

/*
 * Without sums in shared memory, have copies of the answers of the first rows instead, as many rows
 * as there is room for.
 */
static void
copy_groups(GpbGroupJob *job)
{
	size_t		rows = GPB_GROUP_COPY_BYTES / (GPB_GROUP_COPIES * job->words * sizeof(int64));

	job->copies = GPB_GROUP_COPIES;
	job->copied_groups = (uint32) (rows > GPB_GROUP_SHARED_MOST ? GPB_GROUP_SHARED_MOST : rows);
}

void
gpb_make_group_job(const GpbProgram *program, const GpbAnswerFormat *format, uint64 most_entries,
				   GpbGroupJob *job)
{
	GpbSlotSet	read;

	memset(&read, 0, sizeof(read));
	memset(job, 0, sizeof(*job));
	job->ngroups = program->ngroups;
	job->by_range = program->by_range;
	for (int i = 0; i < program->ngroups; i++)
	{
		job->slot[i] = program->group[i];
		add_slot(&read, program->group[i]);
	}
	job->nterms = program->nterms;
	for (int t = 0; t < program->nterms; t++)
	{
		job->term[t].words = format->column[t];
		job->term[t].slot = program->term[t].slot;
		job->term[t].filter = program->term[t].filter;
		job->term[t].lower = (uint8) gpb_term_lower(&program->term[t]);
		job->term[t].one_word = is_narrow(program, &format->column[t]) &&
			format->column[t].sum != 0 && most_entries <= (uint64) 1 << 31;
		add_slot(&read, program->term[t].slot);
		add_slot(&read, program->term[t].filter);
		add_slot(&read, job->term[t].lower);
	}
	job->words = format->words;
	job->integers = format->integers;
	job->row_words = (uint16) (gpb_group_width(program, format) / sizeof(int64));
	make_code(program, &read, true, &job->code);
	share_groups(job);
	if (job->shared_groups == 0)
		copy_groups(job);
}

/* A narrow INCLUDE column, as a pass reads it.  Returns false if the slot is none. */
static bool
make_narrow_column(const GpbLayout *layout, int slot, GpbPassColumn *column)
{
	int			kind;

	if (slot < 1 || slot > layout->ncolumns)
		return false;
	kind = gpb_column_kind(layout, slot);
	memset(column, 0, sizeof(*column));
	column->want = GPB_WANT_COUNT;
	column->column = (uint8) slot;
	column->kind = (uint8) kind;
	column->offset = layout->offset[slot - 1];
	column->is_narrow = true;
	column->null_mask = (uint64) 1 << (GPB_LOC_NULL_SHIFT + slot - 1);
	return kind == GPB_KIND_INT2 || kind == GPB_KIND_INT4;
}

int
gpb_group_columns(const GpbProgram *program, const GpbGroupJob *job, GpbPass *pass)
{
	const GpbGroupTerm *term = &job->term[0];

	if (program->nsteps > 0 || program->ngroups != 1 || program->nterms > 1 ||
		!make_narrow_column(&program->layout, program->group[0], &pass->column[0]))
		return 0;
	if (program->nterms == 0)
		return 1;
	if (term->filter != GPB_NO_SLOT || has_extra(&term->words) || term->words.minmax != 0 ||
		(term->words.sum != 0 && !term->one_word) ||
		!make_narrow_column(&program->layout, term->slot, &pass->column[1]))
		return 0;
	return 2;
}

/* ---- lists ---- */

void
gpb_make_list_job(const GpbProgram *program, GpbListJob *job)
{
	GpbSlotSet	read = {};

	memset(job, 0, sizeof(*job));
	job->limited = program->limit > 0;
	job->limit = program->limit;
	job->order = program->order;
	job->descending = program->descending;
	job->nulls_first = program->nulls_first;
	if (job->limited)
		add_slot(&read, program->order);
	make_code(program, &read, true, &job->code);
}
