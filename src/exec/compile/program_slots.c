/*-------------------------------------------------------------------------
 *
 * program_slots.c
 *	  Constants, steps and temporaries of a program that is being built.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"

#include "exec/compile/program_build_internal.h"
#include "exec/compile/program_words.h"
#include "program/program_steps.h"

int
gpb_refuse(GpbProgramBuilder *builder, const char *format,...)
{
	char		text[256];
	va_list		args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	builder->refusal = pstrdup(text);
	return GPB_REFUSED;
}

/* ---- constants ---- */

/* Append a constant. */
static int
add_constant(GpbProgramBuilder *builder, Expr *value, Oid type)
{
	int			n = list_length(builder->constants);

	if (n >= GPB_MAX_CONSTANTS)
		return gpb_refuse(builder, "more than %d constants", GPB_MAX_CONSTANTS);
	builder->constants = lappend(builder->constants, value);
	builder->constant_types = lappend_oid(builder->constant_types, type);
	builder->program.nconstants = n + 1;
	return GPB_FIRST_CONSTANT + n;
}

int
gpb_slot_constant(GpbProgramBuilder *builder, Expr *value, Oid type)
{
	ListCell   *lc;

	foreach(lc, builder->constants)
	{
		int			i = foreach_current_index(lc);

		if (list_nth_oid(builder->constant_types, i) == type && equal(lfirst(lc), value))
			return GPB_FIRST_CONSTANT + i;
	}
	return add_constant(builder, value, type);
}

/* A word as a constant expression */
static Expr *
word_expression(int64 word)
{
	return (Expr *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(word), false,
							  FLOAT8PASSBYVAL);
}

int
gpb_slot_word(GpbProgramBuilder *builder, int64 word)
{
	return gpb_slot_constant(builder, word_expression(word), INT8OID);
}

/* ---- tables ---- */

/*
 * The table that is filled from an expression when the program is bound; *slot is the constant that
 * goes with it.  "first" is the type of such constants that table 0 has.
 */
static int
table_of(GpbProgramBuilder *builder, Expr *value, Oid first, int *slot)
{
	ListCell   *lc;

	foreach(lc, builder->constants)
	{
		Oid			type = list_nth_oid(builder->constant_types, foreach_current_index(lc));

		*slot = GPB_FIRST_CONSTANT + foreach_current_index(lc);
		if (type >= first && type < first + GPB_MAX_TABLES && equal(lfirst(lc), value))
			return type - first;
	}
	if (builder->ntables >= GPB_MAX_TABLES)
		return gpb_refuse(builder, "more than %d arrays", GPB_MAX_TABLES);
	*slot = add_constant(builder, value, first + builder->ntables);
	return *slot == GPB_REFUSED ? GPB_REFUSED : builder->ntables++;
}

/* Words of the arrays that are known, of which there is room for GPB_MAX_TABLE_WORDS */
static int
known_words(const GpbProgramBuilder *builder)
{
	int			known = 0;
	ListCell   *lc;

	foreach(lc, builder->constants)
	{
		Const	   *value = lfirst(lc);

		if (gpb_is_array_type(list_nth_oid(builder->constant_types, foreach_current_index(lc))) &&
			IsA(value, Const) && !value->constisnull)
			known += ARR_DIMS(DatumGetArrayTypeP(value->constvalue))[0];
	}
	return known;
}

/* Words as a constant array of int8, without those that are there twice */
static Const *
words_expression(const int64 *words, int n)
{
	Datum	   *values = palloc(sizeof(Datum) * n);
	ArrayType  *array;
	bool		has_null;
	int			i;

	for (i = 0; i < n; i++)
		values[i] = Int64GetDatum(words[i]);
	words = gpb_array_words(construct_array(values, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
											TYPALIGN_DOUBLE), &n, &has_null);
	for (i = 0; i < n; i++)
		values[i] = Int64GetDatum(words[i]);
	array = construct_array(values, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	return makeConst(INT8ARRAYOID, -1, InvalidOid, -1, PointerGetDatum(array), false, false);
}

/* Is the slot a constant whose word is known at planning? */
static bool
slot_word(const GpbProgramBuilder *builder, int slot, int64 *word)
{
	int			i = slot - GPB_FIRST_CONSTANT;
	Const	   *value;

	if (i < 0 || slot >= GPB_FIRST_TEMPORARY)
		return false;
	value = list_nth(builder->constants, i);
	if (!IsA(value, Const) || value->constisnull ||
		gpb_is_table_type(list_nth_oid(builder->constant_types, i)))
		return false;
	*word = gpb_datum_word(list_nth_oid(builder->constant_types, i), value->constvalue);
	return true;
}

/* ---- steps ---- */

/*
 * Can the operator be done at planning, since its operands are known?  If so, *word is its result.
 */
static bool
fold_step(const GpbProgramBuilder *builder, int op, const int *operand, int64 *word)
{
	GpbValue	value[3] = {0};
	int			i;

	for (i = 0; i < gpb_operands(op); i++)
	{
		if (!slot_word(builder, operand[i], &value[i].word))
			return false;
	}
	if (!gpb_operator_takes_nulls(op))
		return !gpb_step_of_values(op, value[0].word, value[1].word, value[2].word, NULL, 0, word);
	*word = gpb_step_of_nulls(op, value[0], value[1], value[2]).word;
	return true;
}

/* Is the condition "guard" true wherever the condition "slot" is? */
static bool
guard_implies(const GpbProgram *program, int slot, int guard)
{
	const GpbStep *step;

	if (guard == GPB_NO_SLOT || slot == guard)
		return true;
	if (slot == GPB_NO_SLOT || slot < GPB_FIRST_TEMPORARY)
		return false;
	step = &program->step[slot - GPB_FIRST_TEMPORARY];
	return step->op == GPB_OP_AND &&
		(guard_implies(program, step->a, guard) || guard_implies(program, step->b, guard));
}

/* The slot of a step that has this result already; GPB_REFUSED if none has it. */
static int
find_step(const GpbProgramBuilder *builder, const GpbStep *wanted)
{
	const GpbProgram *program = &builder->program;
	int			i;

	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];

		if (step->op == wanted->op && step->a == wanted->a && step->b == wanted->b &&
			step->c == wanted->c && guard_implies(program, wanted->guard, step->guard))
			return GPB_FIRST_TEMPORARY + i;
	}
	return GPB_REFUSED;
}

/* The result of a step, which is added unless there is one like it. */
static int
add_step(GpbProgramBuilder *builder, int op, int a, int b, int c)
{
	GpbProgram *program = &builder->program;
	GpbStep		step = {op, 0, a, b, c, GPB_NO_SLOT};
	int			found;

	if (gpb_operator_can_fault(op))
		step.guard = builder->guard;
	found = find_step(builder, &step);
	if (found != GPB_REFUSED)
		return found;
	if (program->nsteps >= GPB_MAX_STEPS)
		return gpb_refuse(builder, "more than %d steps", GPB_MAX_STEPS);
	step.into = GPB_FIRST_TEMPORARY + program->nsteps;
	program->step[program->nsteps++] = step;
	return step.into;
}

int
gpb_slot_step(GpbProgramBuilder *builder, int op, int a, int b, int c)
{
	int			operand[3] = {a, b, c};
	int64		word;

	if (a == GPB_REFUSED || b == GPB_REFUSED || c == GPB_REFUSED)
		return GPB_REFUSED;
	if (fold_step(builder, op, operand, &word))
		return gpb_slot_word(builder, word);
	return add_step(builder, op, a, b, c);
}

int
gpb_slot_in_words(GpbProgramBuilder *builder, int a, const int64 *words, int n)
{
	int			slot;
	int			table;

	if (a == GPB_REFUSED)
		return GPB_REFUSED;
	table = table_of(builder, (Expr *) words_expression(words, n), GPB_ARRAY_TYPE(0), &slot);
	if (table == GPB_REFUSED)
		return GPB_REFUSED;
	if (known_words(builder) > GPB_MAX_TABLE_WORDS)
		return gpb_refuse(builder, "arrays of more than %d values", GPB_MAX_TABLE_WORDS);
	return add_step(builder, GPB_OP_IN, a, table, 0);
}

/*
 * What is not among the elements is unknown if one of them is NULL, or the array, and false for a
 * NULL too if there are no elements.
 */
int
gpb_slot_in_array(GpbProgramBuilder *builder, int a, Expr *array)
{
	int			unknown;
	int			table;
	int			filled;

	if (a == GPB_REFUSED)
		return GPB_REFUSED;
	table = table_of(builder, array, GPB_ARRAY_TYPE(0), &unknown);
	if (table == GPB_REFUSED)
		return GPB_REFUSED;
	filled = gpb_slot_constant(builder, (Expr *) makeNullConst(BOOLOID, -1, InvalidOid),
							   GPB_FILLED_TYPE(table));
	a = gpb_slot_step(builder, GPB_OP_OR, add_step(builder, GPB_OP_IN, a, table, 0), unknown, 0);
	return gpb_slot_step(builder, GPB_OP_AND, a, filled, 0);
}

/* The constant says whether the table has the codes for which the condition is false. */
int
gpb_slot_in_codes(GpbProgramBuilder *builder, int column, Expr *condition)
{
	int			negated;
	int			table = table_of(builder, condition, GPB_CODES_TYPE(column - 1, 0), &negated);

	if (table == GPB_REFUSED)
		return GPB_REFUSED;
	return gpb_slot_step(builder, GPB_OP_NE, add_step(builder, GPB_OP_IN_CODES, column, table, 0),
						 negated, 0);
}

int
gpb_slot_ranked(GpbProgramBuilder *builder, int column, Expr *order)
{
	int			unused;
	int			table = table_of(builder, order, GPB_RANKS_TYPE(column - 1, 0), &unused);

	if (table == GPB_REFUSED)
		return GPB_REFUSED;
	return add_step(builder, GPB_OP_RANKED, column, table, 0);
}

int
gpb_slot_filter(GpbProgramBuilder *builder, int a)
{
	return a == GPB_REFUSED ? GPB_REFUSED : add_step(builder, GPB_OP_FILTER, a, 0, 0);
}

void
gpb_guard_by(GpbProgramBuilder *builder, int condition)
{
	if (builder->guard != GPB_NO_SLOT)
		condition = gpb_slot_step(builder, GPB_OP_AND, builder->guard, condition, 0);
	if (condition != GPB_REFUSED)
		builder->guard = condition;
}

/* ---- local time ---- */

/* A step that looks up a zone's offset, in a table that is filled when the program is bound */
static int
zone_step(GpbProgramBuilder *builder, int op, int slot, Const *zone)
{
	int			unused;
	int			table;

	if (slot == GPB_REFUSED)
		return GPB_REFUSED;
	if (zone == NULL)
		zone = makeNullConst(TEXTOID, -1, InvalidOid);
	table = table_of(builder, (Expr *) zone, GPB_ZONE_TYPE(0), &unused);
	return table == GPB_REFUSED ? GPB_REFUSED : add_step(builder, op, slot, table, 0);
}

int
gpb_slot_local(GpbProgramBuilder *builder, int slot, Const *zone)
{
	return zone_step(builder, GPB_OP_TO_LOCAL, slot, zone);
}

int
gpb_slot_of_local(GpbProgramBuilder *builder, int slot, Const *zone)
{
	return zone_step(builder, GPB_OP_OF_LOCAL, slot, zone);
}

/* ---- temporaries ---- */

/* When the result of each step is needed last: number of the step */
typedef struct GpbLastUse
{
	int			step[GPB_MAX_STEPS];	/* -1: never; nsteps: by a term, group or order */
} GpbLastUse;

/* A slot is needed by step "user". */
static void
note_use(GpbLastUse *last, int slot, int user)
{
	if (slot >= GPB_FIRST_TEMPORARY && slot != GPB_NO_SLOT)
		last->step[slot - GPB_FIRST_TEMPORARY] =
			Max(last->step[slot - GPB_FIRST_TEMPORARY], user);
}

/* Find what is needed how long, from the last step to the first. */
static void
find_last_uses(const GpbProgramBuilder *builder, GpbLastUse *last)
{
	const GpbProgram *program = &builder->program;
	int			i;

	for (i = 0; i < program->nsteps; i++)
		last->step[i] = -1;
	for (i = 0; i < program->nterms; i++)
	{
		note_use(last, program->term[i].slot, program->nsteps);
		note_use(last, program->term[i].filter, program->nsteps);
		note_use(last, gpb_term_lower(&program->term[i]), program->nsteps);
	}
	for (i = 0; i < program->ngroups; i++)
		note_use(last, program->group[i], program->nsteps);
	if (program->limit > 0)
		note_use(last, program->order, program->nsteps);
	for (i = program->nsteps - 1; i >= 0; i--)
	{
		const GpbStep *step = &program->step[i];
		int			operands = gpb_operands(step->op);

		if (builder->kept[i] || step->op == GPB_OP_FILTER)
			last->step[i] = Max(last->step[i], i);
		if (last->step[i] < 0)
			continue;
		note_use(last, step->a, i);
		if (operands > 1)
			note_use(last, step->b, i);
		if (operands > 2)
			note_use(last, step->c, i);
		note_use(last, step->guard, i);
	}
}

/* The temporary of a slot, given those of the results of steps */
static uint8
assigned(const uint8 *temporary, int slot)
{
	return slot < GPB_FIRST_TEMPORARY || slot == GPB_NO_SLOT ? slot :
		temporary[slot - GPB_FIRST_TEMPORARY];
}

/* A temporary that is free before step i, or GPB_NO_SLOT */
static uint8
free_temporary(const GpbLastUse *last, const uint8 *temporary, int i)
{
	uint8		slot;
	int			j;

	for (slot = GPB_FIRST_TEMPORARY; slot < GPB_SLOTS; slot++)
	{
		for (j = 0; j < i; j++)
		{
			/* An operand of step i is not overwritten by it. */
			if (temporary[j] == slot && last->step[j] >= i)
				break;
		}
		if (j == i)
			return slot;
	}
	return GPB_NO_SLOT;
}

bool
gpb_program_assign(const GpbProgramBuilder *builder, GpbProgram *out)
{
	const GpbProgram *program = &builder->program;
	uint8		temporary[GPB_MAX_STEPS];
	GpbLastUse	last;
	int			i;

	/* what is behind the steps is not known before the program is bound */
	memcpy(out, program, offsetof(GpbProgram, null_constants));
	out->nsteps = 0;
	find_last_uses(builder, &last);
	for (i = 0; i < program->nsteps; i++)
	{
		GpbStep		step = program->step[i];

		temporary[i] = GPB_NO_SLOT;
		if (last.step[i] < 0)
			continue;
		if (step.op != GPB_OP_FILTER)
		{
			temporary[i] = free_temporary(&last, temporary, i);
			if (temporary[i] == GPB_NO_SLOT)
				return false;
		}
		step.into = step.op == GPB_OP_FILTER ? 0 : temporary[i];
		step.a = assigned(temporary, step.a);
		step.b = assigned(temporary, step.b);
		step.c = assigned(temporary, step.c);
		step.guard = assigned(temporary, step.guard);
		out->step[out->nsteps++] = step;
	}
	for (i = 0; i < out->nterms; i++)
	{
		out->term[i].slot = assigned(temporary, out->term[i].slot);
		out->term[i].filter = assigned(temporary, out->term[i].filter);
		out->term[i].lower = assigned(temporary, out->term[i].lower);
	}
	for (i = 0; i < out->ngroups; i++)
		out->group[i] = assigned(temporary, out->group[i]);
	if (out->limit > 0)
		out->order = assigned(temporary, out->order);
	return true;
}
