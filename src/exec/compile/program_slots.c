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

/* The number of a constant of this type and value; -1 if the program has none. */
static int
find_constant(const GpbProgramBuilder *builder, Expr *value, GpbWordType type)
{
	ListCell   *lc;

	foreach(lc, builder->constants)
	{
		int			i = foreach_current_index(lc);

		if (gpb_same_type(builder->constant_type[i], type) && equal(lfirst(lc), value))
			return i;
	}
	return -1;
}

int
gpb_slot_constant(GpbProgramBuilder *builder, Expr *value, GpbWordType type)
{
	int			i = find_constant(builder, value, type);

	if (i < 0)
	{
		i = list_length(builder->constants);
		if (i >= GPB_MAX_CONSTANTS)
			return gpb_refuse(builder, "more than %d constants", GPB_MAX_CONSTANTS);
		builder->constants = lappend(builder->constants, value);
		builder->constant_type[i] = type;
		builder->program.nconstants = i + 1;
	}
	return GPB_FIRST_CONSTANT + i;
}

int
gpb_slot_const(GpbProgramBuilder *builder, Const *value)
{
	return gpb_slot_constant(builder, (Expr *) value, gpb_sql_type(value->consttype));
}

int
gpb_slot_word(GpbProgramBuilder *builder, int64 word)
{
	return gpb_slot_const(builder, makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
											 Int64GetDatum(word), false, FLOAT8PASSBYVAL));
}

int
gpb_slot_float(GpbProgramBuilder *builder, double value)
{
	return gpb_slot_const(builder, makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
											 Float8GetDatum(value), false, FLOAT8PASSBYVAL));
}

int
gpb_slot_boolean(GpbProgramBuilder *builder, bool value)
{
	return gpb_slot_const(builder, (Const *) makeBoolConst(value, false));
}

int
gpb_slot_null(GpbProgramBuilder *builder)
{
	return gpb_slot_const(builder, makeNullConst(INT8OID, -1, InvalidOid));
}

/* ---- tables ---- */

/*
 * The table that is filled from an expression when the program is bound; *slot is the constant that
 * goes with it, which has this type but for the table's number.
 */
static int
table_of(GpbProgramBuilder *builder, Expr *value, GpbWordType type, int *slot)
{
	for (type.table = 0; type.table < builder->ntables; type.table++)
	{
		int			i = find_constant(builder, value, type);

		*slot = GPB_FIRST_CONSTANT + i;
		if (i >= 0)
			return type.table;
	}
	if (builder->ntables >= GPB_MAX_TABLES)
		return gpb_refuse(builder, "more than %d arrays", GPB_MAX_TABLES);
	*slot = gpb_slot_constant(builder, value, type);
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

		if (builder->constant_type[foreach_current_index(lc)].class == GPB_TABLE_ARRAY &&
			IsA(value, Const) && !value->constisnull)
			known += ARR_DIMS(DatumGetArrayTypeP(value->constvalue))[0];
	}
	return known;
}

/* Words as a constant array of int8 */
static Expr *
words_expression(const int64 *words, int n)
{
	Datum	   *values = palloc(sizeof(Datum) * n);
	ArrayType  *array;
	int			i;

	for (i = 0; i < n; i++)
		values[i] = Int64GetDatum(words[i]);
	array = construct_array(values, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	return (Expr *) makeConst(INT8ARRAYOID, -1, InvalidOid, -1, PointerGetDatum(array), false,
							  false);
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
	if (!IsA(value, Const) || value->constisnull || gpb_has_table(builder->constant_type[i]))
		return false;
	*word = gpb_datum_word(builder->constant_type[i], value->constvalue);
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
gpb_slot_kept(GpbProgramBuilder *builder, int slot)
{
	if (slot >= GPB_FIRST_TEMPORARY)
		builder->kept[slot - GPB_FIRST_TEMPORARY] = true;
	return slot;
}

int
gpb_slot_with_table(GpbProgramBuilder *builder, int op, int a, Expr *value, GpbWordType type,
					int *constant)
{
	int			table = a == GPB_REFUSED ? GPB_REFUSED :
		table_of(builder, value, type, constant);

	return table == GPB_REFUSED ? GPB_REFUSED : add_step(builder, op, a, table, 0);
}

int
gpb_slot_in_words(GpbProgramBuilder *builder, int a, const int64 *words, int n)
{
	int			unused;
	int			slot = gpb_slot_with_table(builder, GPB_OP_IN, a,
										   words_expression(words, n),
										   gpb_class_type(GPB_TABLE_ARRAY, 0), &unused);

	if (slot != GPB_REFUSED && known_words(builder) > GPB_MAX_TABLE_WORDS)
		return gpb_refuse(builder, "arrays of more than %d values", GPB_MAX_TABLE_WORDS);
	return slot;
}

/*
 * What is not among the elements is unknown if one of them is NULL, or the array, and false for a
 * NULL too if there are no elements.
 */
int
gpb_slot_in_array(GpbProgramBuilder *builder, int a, Expr *array)
{
	GpbWordType type = gpb_class_type(GPB_TABLE_ARRAY, 0);
	int			unknown;
	int			slot = gpb_slot_with_table(builder, GPB_OP_IN, a, array, type, &unknown);

	if (slot == GPB_REFUSED)
		return GPB_REFUSED;
	type = builder->constant_type[unknown - GPB_FIRST_CONSTANT];
	type.class = GPB_TABLE_FILLED;
	a = gpb_slot_constant(builder, (Expr *) makeNullConst(BOOLOID, -1, InvalidOid), type);
	return STEP2(GPB_OP_AND, STEP2(GPB_OP_OR, slot, unknown), a);
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
		condition = STEP2(GPB_OP_AND, builder->guard, condition);
	if (condition != GPB_REFUSED)
		builder->guard = condition;
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
