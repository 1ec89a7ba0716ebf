/*-------------------------------------------------------------------------
 *
 * program.h
 *	  What is done with the entries of ranges: the question's second half, beside ranges.h.
 *
 * Plain C for both compilers.  A program either aggregates the entries or lists them.  Every engine
 * and device takes it in this one struct.
 *
 * What a program computes of an entry are *values*: 64-bit words, each with a flag that says
 * whether it is NULL.  A value has a number, its *slot*:
 *
 *		[0, GPB_MAX_COLUMNS)					columns of the index: 0 is the key, c > 0 is INCLUDE
 *												column c - 1; of a key that has several columns
 *												these come last (gpb_key_column_slot())
 *												but for the lower halves of columns of 16 bytes,
 *												whose own slots have the upper ones
 *		[GPB_FIRST_CONSTANT, GPB_FIRST_TEMPORARY)	constants, the same for all entries
 *		[GPB_FIRST_TEMPORARY, GPB_SLOTS)		results of steps
 *
 * Beside constants a program has tables of words, in which steps look values up (GpbTables).  Long
 * ones lie in memory that is not the program's.
 *
 * A uuid, or a numeric of 128 bits, is two words, whose order is that of gpb_key_half(): steps
 * compare them one after the other.
 *
 * An integer, a date or a timestamp is its word; a boolean is 0 or 1; a float8 is its bits.  The
 * steps are done in their order for each entry (program_steps.h says what each does).  A step that
 * is a filter ends the work on the entry, which then does not count, unless its value is true.
 *
 * What remains is aggregated by terms, each over a slot and with a filter of its own.  A term that
 * takes the extremes of values of two halves has a slot for each.  With group
 * slots there is an answer for each combination of their values that occurs (NULLs are equal, as in
 * GROUP BY), and also for each range if by_range is set.
 *
 * A program that lists may have steps, but neither terms nor groups.  An entry for which a step
 * faults is listed and says so, unless a filter before that step has dropped it: whoever asked
 * decides about it by core's own evaluation.  A list with a limit has at least each entry that the
 * snapshot sees and that is not behind the limit's last one, in the order of the slot's values;
 * those that are equal to the last one are among them.  It may have more, and is not sorted so.
 *
 * A plain program has none of this: it aggregates the columns of which something is wanted (want)
 * over all entries.  Engines have loops of their own for it.
 *
 * Groups may have narrow sums.  Then a value that these do not hold ends the work, nothing of which
 * is used, and whoever asked begins anew with wide sums.
 *
 * A step may *fault* where core's operator would raise an error.  Then nothing of an aggregate is
 * used, and whoever asked does without the program: core's plan raises the error, or does not,
 * since it may not evaluate the expression for that row.  Only entries that the snapshot sees and
 * that no filter has dropped before can fault.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_H
#define GPB_PROGRAM_H

#include "key_columns.h"
#include "program/aggregate.h"

/* What is wanted of one column, as bits; each of the others implies GPB_WANT_COUNT. */
#define GPB_WANT_COUNT		0x01	/* number of non-NULL values */
#define GPB_WANT_SUM		0x02	/* 128-bit sum of integers, or exact sum of float8 */
#define GPB_WANT_MINMAX		0x04

/* ---- steps ---- */

#define GPB_MAX_CONSTANTS	49
#define GPB_MAX_TEMPORARIES	32
#define GPB_FIRST_CONSTANT	GPB_MAX_COLUMNS
#define GPB_FIRST_TEMPORARY (GPB_FIRST_CONSTANT + GPB_MAX_CONSTANTS)
#define GPB_SLOTS			(GPB_FIRST_TEMPORARY + GPB_MAX_TEMPORARIES)
#define GPB_NO_SLOT			0xFF

#define GPB_MAX_STEPS		80

/* The most columns of which a program reads the lower halves */
#define GPB_MAX_HALVES		6

/*
 * Tables, and words of all of those in the program: as many as a kernel's parameters hold beside
 * the rest; and words of all others
 */
#define GPB_MAX_TABLES		16
#define GPB_MAX_TABLE_WORDS		192
#define GPB_MAX_MORE_WORDS		((uint32) 1 << 20)

/* What a step does with the values a, b and c, which are slots: see program_operators.h. */
typedef enum GpbOperator
{
#define GPB_OPERATOR(name, operands, kind, range, does) GPB_OP_##name,
#include "program/program_operators.h"
	GPB_OPERATORS
} GpbOperator;

/* What an operator takes and gives, as program_operators.h says */
typedef enum GpbOperatorKind
{
	GPB_OPERATOR_FILTER,
	GPB_OPERATOR_NULLS,
	GPB_OPERATOR_VALUES,
	GPB_OPERATOR_FAULTS,
	GPB_OPERATOR_TABLE,			/* those from here on have a table */
	GPB_OPERATOR_FAULTS_TABLE,
	GPB_OPERATOR_LONG_TABLE
} GpbOperatorKind;

/*
 * A step.  Where guard is a slot, the step faults only for entries for which that value is true: it
 * stands in a branch of CASE, say.
 */
typedef struct GpbStep
{
	uint8		op;				/* GpbOperator */
	uint8		into;			/* a temporary */
	uint8		a;
	uint8		b;
	uint8		c;
	uint8		guard;			/* GPB_NO_SLOT: none */
} GpbStep;

/*
 * The tables of a program, in any order, each with its words one after the other.  Those of a long
 * table, whose "first" is not below GPB_MAX_TABLE_WORDS, are elsewhere: the first of them is
 * more[first - GPB_MAX_TABLE_WORDS].
 *
 * "more" is an address of whoever does the steps, and nothing else in a program is one.  On the CPU
 * it is memory of whoever bound the program, which lives as long as a batch has the program.  A
 * request carries the words behind its ranges (gpb_request_more_offset()), and the service sets the
 * address.  A device reads them there, or in a copy that its channel has, until the launch is
 * complete (rule M3).
 */
typedef struct GpbTables
{
	uint32		first[GPB_MAX_TABLES];
	uint32		length[GPB_MAX_TABLES];
	int64		word[GPB_MAX_TABLE_WORDS];
	const int64 *more;
} GpbTables;

/* ---- terms ---- */

/* What is wanted of a term beyond GPB_WANT_COUNT, _SUM and _MINMAX; each implies GPB_WANT_COUNT. */
#define GPB_WANT_SQUARES	0x08	/* 192-bit sum of squares of integers, or exact sum of those of
									 * float8; implies GPB_WANT_SUM */
#define GPB_WANT_AND		0x10	/* all integers combined bit by bit */
#define GPB_WANT_OR			0x20
#define GPB_WANT_XOR		0x40
#define GPB_WANT_HALVES		0x80	/* the least and the greatest value of two halves, of which the
									 * term's slot has the upper one */

#define GPB_MAX_TERMS		16
#define GPB_MAX_GROUP_SLOTS 4

typedef struct GpbTerm
{
	uint8		slot;			/* GPB_NO_SLOT: each entry counts, and nothing else is wanted */
	uint8		kind;			/* GpbKind of the value; booleans are GPB_KIND_INT2 */
	uint8		want;			/* GPB_WANT_* */
	uint8		filter;			/* a slot that must be true, or GPB_NO_SLOT */
	uint8		lower;			/* with GPB_WANT_HALVES: the slot of the lower half, which is NULL
								 * where the upper one is; without, nothing but
								 * GPB_BOUNDS_FIND_NAN is read of it */
} GpbTerm;

/*
 * In the place of a term's lower half: GPB_WANT_MINMAX is wanted for no more than to find out
 * whether NaN, the greatest word, is among the values.
 */
#define GPB_BOUNDS_FIND_NAN	GPB_NO_SLOT

typedef struct GpbProgram
{
	GpbLayout	layout;
	bool		ignore_dead_hints;	/* set in a transaction that began in recovery (rule M4) */
	bool		list_entries;	/* list the entries that no filter drops; nothing is aggregated
								 * then */
	bool		descending;		/* of a limited list: the greatest value is first */
	bool		nulls_first;	/* of a limited list: where NULL is */
	uint8		order;			/* of a limited list: a slot whose value is an integer */
	uint32		limit;			/* how many entries are wanted of a list, see below; 0: all */
	uint8		nhalves;
	uint8		half[GPB_MAX_HALVES];	/* columns whose lower halves have slots, in this order */
	bool		by_range;		/* groups of different ranges are different; needs group slots */
	bool		narrow_sums;	/* exact sums are narrow (float_sum.h); needs group slots */
	uint8		want[GPB_MAX_COLUMNS];	/* plain: GPB_WANT_COUNT, _SUM, _MINMAX of each column */
	uint8		nsteps;
	uint8		nconstants;
	uint8		nterms;
	uint8		ngroups;		/* number of group slots */
	uint8		group[GPB_MAX_GROUP_SLOTS];
	GpbTerm		term[GPB_MAX_TERMS];
	GpbStep		step[GPB_MAX_STEPS];
	uint64		null_constants; /* bit i: constant i is NULL */
	int64		constant[GPB_MAX_CONSTANTS];
	GpbTables	tables;
} GpbProgram;

/* Is "want" all that the program says of how to aggregate? */
GPB_FN bool
gpb_program_is_plain(const GpbProgram *program)
{
	return program->nsteps == 0 && program->nterms == 0 && program->ngroups == 0;
}

/*
 * The slot of key column c, counted from 0, of a key that has several.  They come behind the
 * INCLUDE columns, and nothing reads slot 0 then.
 */
GPB_FN int
gpb_key_column_slot(const GpbLayout *layout, int c)
{
	return layout->ncolumns + 1 + c;
}

/* The number of slots that columns have */
GPB_FN int
gpb_column_slots(const GpbLayout *layout)
{
	return layout->ncolumns + 1 + layout->nkeys;
}

/* The slots of columns and of lower halves */
GPB_FN int
gpb_read_slots(const GpbProgram *program)
{
	return gpb_column_slots(&program->layout) + program->nhalves;
}

/* The column whose value a slot below gpb_read_slots() has, or whose half; is it the lower one? */
GPB_FN int
gpb_slot_column(const GpbProgram *program, int slot, bool *lower)
{
	int			half = slot - gpb_column_slots(&program->layout);

	*lower = half >= 0;
	return half >= 0 ? program->half[half] : slot;
}

/* The GpbKind of a column. */
GPB_FN int
gpb_column_kind(const GpbLayout *layout, int column)
{
	if (column > layout->ncolumns)
	{
		GpbKeyColumn key = layout->key[column - layout->ncolumns - 1];
		int			bits = gpb_column_code_bits(key);

		if (key.flags & GPB_COLUMN_NAN)
			return GPB_KIND_INT8;	/* NaN is far from the numbers */
		return bits <= 16 ? GPB_KIND_INT2 : bits <= 32 ? GPB_KIND_INT4 : GPB_KIND_INT8;
	}
	return column == 0 ? layout->key_kind : layout->kind[column - 1];
}

/* The bytes of a float8 are a word's; to and from its bits */
GPB_FN double
gpb_float_value(int64 bits)
{
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

GPB_FN int64
gpb_float_bits(double value)
{
	int64		bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Is it one of the program's slots, which has a value before step "before" is done? */
GPB_FN bool
gpb_slot_is_set(const GpbProgram *program, int slot, int before)
{
	int			i;

	if (slot < GPB_FIRST_CONSTANT)
		return slot < gpb_read_slots(program);
	if (slot < GPB_FIRST_TEMPORARY)
		return slot - GPB_FIRST_CONSTANT < program->nconstants;
	for (i = 0; i < before; i++)
	{
		if (program->step[i].op != GPB_OP_FILTER && program->step[i].into == slot)
			return true;
	}
	return false;
}

/* How many operands does an operator have?  They are a, b, c in this order. */
GPB_FN int
gpb_operands(int op)
{
	switch (op)
	{
#define GPB_OPERATOR(name, operands, kind, range, does) case GPB_OP_##name: return operands;
#include "program/program_operators.h"
		default:
			return 2;
	}
}

/* The kind of an operator; of what is none, one of no consequence */
GPB_FN GpbOperatorKind
gpb_operator_kind(int op)
{
	switch (op)
	{
#define GPB_OPERATOR(name, operands, kind, range, does) \
		case GPB_OP_##name: return GPB_OPERATOR_##kind;
#include "program/program_operators.h"
		default:
			return GPB_OPERATOR_VALUES;
	}
}

/* Does the step look its value up in a table, whose number is b? */
GPB_FN bool
gpb_step_has_table(const GpbStep *step)
{
	return gpb_operator_kind(step->op) >= GPB_OPERATOR_TABLE;
}

/*
 * The bytes of a program from its beginning that say all of it: most programs are far from the
 * limits, and requests carry them from process to process.
 */
GPB_FN size_t
gpb_program_bytes(const GpbProgram *program)
{
	int			i;

	if (program->nsteps == 0 && program->nterms == 0 && program->nconstants == 0)
		return offsetof(GpbProgram, term);
	for (i = 0; i < program->nsteps; i++)
	{
		if (gpb_step_has_table(&program->step[i]))
			return sizeof(GpbProgram);
	}
	return offsetof(GpbProgram, tables);
}

/* Copy a program; what it does not use of "into" stays as it is. */
GPB_FN void
gpb_program_copy(GpbProgram *into, const GpbProgram *from)
{
	memcpy(into, from, gpb_program_bytes(from));
}

/* Is the table a long one, whose words are not in the program? */
GPB_FN bool
gpb_is_long_table(const GpbTables *tables, int t)
{
	return tables->first[t] >= GPB_MAX_TABLE_WORDS;
}

/* How many words that are not in the program, from the first on, have the tables of its steps? */
GPB_FN uint32
gpb_more_words(const GpbProgram *program)
{
	const GpbTables *tables = &program->tables;
	uint32		words = 0;
	int			i;

	for (i = 0; i < program->nsteps; i++)
	{
		int			t = program->step[i].b;
		uint32		end;

		if (!gpb_step_has_table(&program->step[i]) || t >= GPB_MAX_TABLES ||
			!gpb_is_long_table(tables, t))
			continue;
		end = tables->first[t] - GPB_MAX_TABLE_WORDS + tables->length[t];
		words = end > words ? end : words;
	}
	return words;
}

/*
 * Do two programs do the same with entries of the same index?  The words of long tables are not
 * compared: programs that have such are taken for different ones.
 */
GPB_FN bool
gpb_program_equal(const GpbProgram *a, const GpbProgram *b)
{
	size_t		bytes = gpb_program_bytes(a);

	return bytes == gpb_program_bytes(b) && gpb_more_words(a) == 0 && memcmp(a, b, bytes) == 0;
}

/* The words of a step's table, and how many these are; none if it has no table. */
GPB_FN const int64 *
gpb_step_table(const GpbTables *tables, const GpbStep *step, int *n)
{
	*n = 0;
	if (!gpb_step_has_table(step))
		return tables->word;
	*n = (int) tables->length[step->b];
	if (gpb_is_long_table(tables, step->b))
		return tables->more + (tables->first[step->b] - GPB_MAX_TABLE_WORDS);
	return tables->word + tables->first[step->b];
}

/*
 * Has the step a table with words where it may have none?  Long ones are for codes alone: kernels
 * look for the words of others in their parameters.
 */
GPB_FN bool
gpb_table_is_at_fault(const GpbTables *tables, const GpbStep *step)
{
	uint64		end;

	if (step->b >= GPB_MAX_TABLES)
		return true;
	end = (uint64) tables->first[step->b] + tables->length[step->b];
	if (!gpb_is_long_table(tables, step->b))
		return end > GPB_MAX_TABLE_WORDS;
	return end > (uint64) GPB_MAX_TABLE_WORDS + GPB_MAX_MORE_WORDS || tables->more == NULL ||
		gpb_operator_kind(step->op) != GPB_OPERATOR_LONG_TABLE;
}

/* The slot of the lower half that a term takes, or GPB_NO_SLOT */
GPB_FN int
gpb_term_lower(const GpbTerm *term)
{
	return (term->want & GPB_WANT_HALVES) != 0 ? term->lower : GPB_NO_SLOT;
}

/* Return what is wrong with a term, or NULL. */
GPB_FN const char *
gpb_term_fault(const GpbProgram *program, const GpbTerm *term)
{
	int			lower = gpb_term_lower(term);

	if ((term->slot != GPB_NO_SLOT && !gpb_slot_is_set(program, term->slot, program->nsteps)) ||
		(term->filter != GPB_NO_SLOT && !gpb_slot_is_set(program, term->filter, program->nsteps)) ||
		(lower != GPB_NO_SLOT && !gpb_slot_is_set(program, lower, program->nsteps)))
		return "a term uses a slot that has no value";
	if ((term->want & GPB_WANT_HALVES) != 0 &&
		(lower == GPB_NO_SLOT || term->slot == GPB_NO_SLOT || term->kind != GPB_KIND_INT8))
		return "a term takes halves of what has none";
	return NULL;
}

/* Return what is wrong with step i, or NULL. */
GPB_FN const char *
gpb_step_fault(const GpbProgram *program, int i)
{
	const GpbStep *step = &program->step[i];
	int			operands = gpb_operands(step->op);

	if (step->op >= GPB_OPERATORS)
		return "no such operator; use one of GpbOperator";
	if (step->op != GPB_OP_FILTER &&
		(step->into < GPB_FIRST_TEMPORARY || step->into >= GPB_SLOTS))
		return "a step must have its result in a temporary";
	if (!gpb_slot_is_set(program, step->a, i) ||
		(operands > 1 && !gpb_slot_is_set(program, step->b, i)) ||
		(operands > 2 && !gpb_slot_is_set(program, step->c, i)) ||
		(step->guard != GPB_NO_SLOT && !gpb_slot_is_set(program, step->guard, i)))
		return "a step uses a slot that has no value yet";
	if (gpb_step_has_table(step) && gpb_table_is_at_fault(&program->tables, step))
		return "a step has a table that is not there";
	return NULL;
}

/* Return what is wrong with a program that is not plain, or NULL. */
GPB_FN const char *
gpb_general_fault(const GpbProgram *program)
{
	const char *fault;
	int			i;

	if (program->nsteps > GPB_MAX_STEPS || program->nconstants > GPB_MAX_CONSTANTS ||
		program->nterms > GPB_MAX_TERMS || program->ngroups > GPB_MAX_GROUP_SLOTS)
		return "the program is too long; ask for less at a time";
	for (i = 0; i < program->nsteps; i++)
	{
		fault = gpb_step_fault(program, i);
		if (fault != NULL)
			return fault;
	}
	for (i = 0; i < program->nterms; i++)
	{
		fault = gpb_term_fault(program, &program->term[i]);
		if (fault != NULL)
			return fault;
	}
	for (i = 0; i < program->ngroups; i++)
	{
		if (!gpb_slot_is_set(program, program->group[i], program->nsteps))
			return "a group uses a slot that has no value";
	}
	if (program->narrow_sums && program->ngroups == 0)
		return "a program without groups has wide sums alone";
	for (i = 0; i < GPB_MAX_COLUMNS; i++)
	{
		if (program->want[i] != 0)
			return "a program with steps, terms or groups aggregates by terms alone";
	}
	return NULL;
}

/* Return what is wrong with a program that lists, or NULL. */
GPB_FN const char *
gpb_list_fault(const GpbProgram *program)
{
	if (program->nterms > 0 || program->ngroups > 0)
		return "a program that lists entries has neither terms nor groups";
	if (program->limit > 0 && !gpb_slot_is_set(program, program->order, program->nsteps))
		return "the order of a list uses a slot that has no value";
	return program->nsteps > 0 ? gpb_general_fault(program) : NULL;
}

/* Does the program take the key, or its upper half, for a word? */
GPB_FN bool
gpb_program_reads_key(const GpbProgram *program)
{
	int			i;

	for (i = 0; i < program->nsteps; i++)
	{
		int			operands = gpb_operands(program->step[i].op);

		if (program->step[i].a == 0 || (operands > 1 && program->step[i].b == 0) ||
			(operands > 2 && program->step[i].c == 0))
			return true;
	}
	for (i = 0; i < program->nterms; i++)
	{
		const GpbTerm *term = &program->term[i];

		/* how many keys are not NULL can be counted */
		if ((term->slot == 0 && (term->want & ~GPB_WANT_COUNT) != 0) || term->filter == 0)
			return true;
	}
	for (i = 0; i < program->ngroups; i++)
	{
		if (program->group[i] == 0)
			return true;
	}
	return (program->want[0] & ~GPB_WANT_COUNT) != 0 || (program->limit > 0 && program->order == 0);
}

/* Has a column a value of two halves? */
GPB_FN bool
gpb_column_has_halves(const GpbLayout *layout, int column)
{
	if (column == 0)
		return layout->key_width > 8 && layout->nkeys == 0;
	return column <= layout->ncolumns && gpb_kind_has_halves(layout->kind[column - 1]);
}

/* Return what is wrong with the halves that the program reads, or NULL. */
GPB_FN const char *
gpb_halves_fault(const GpbProgram *program)
{
	const GpbLayout *layout = &program->layout;
	int			i;

	if (program->nhalves > GPB_MAX_HALVES || gpb_read_slots(program) > GPB_MAX_COLUMNS)
		return "the program reads too many columns of 16 bytes; ask for less at a time";
	for (i = 0; i < program->nhalves; i++)
	{
		if (!gpb_column_has_halves(layout, program->half[i]))
			return "a column has no halves; name a uuid or a numeric of 16 bytes";
	}
	if (layout->key_width > 8 && (layout->nkeys > 0 || gpb_program_is_plain(program)) &&
		gpb_program_reads_key(program))
		return "a wide key is no word";
	return NULL;
}

/* Return what is wrong with the program, or NULL. */
GPB_FN const char *
gpb_program_fault(const GpbProgram *program)
{
	const char *fault = gpb_halves_fault(program);
	int			c;

	if (fault != NULL)
		return fault;
	if (program->list_entries)
		return gpb_list_fault(program);
	if (!gpb_program_is_plain(program))
		return gpb_general_fault(program);
	if (program->narrow_sums)
		return "a program without groups has wide sums alone";
	for (c = program->layout.ncolumns + 1; c < GPB_MAX_COLUMNS; c++)
	{
		if (program->want[c] != 0)
			return "no such column in the index; name the key or an INCLUDE column";
	}
	return NULL;
}

#endif							/* GPB_PROGRAM_H */
