/*-------------------------------------------------------------------------
 *
 * program_whole.c
 *	  Tests of random programs over random leaves, beside their entries taken one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "program_tests.h"

#define RANGES		5

/* Entries that were added by value */
static int	valued;

#define MOST_GROUPS 4000

/* A leaf with random entries, and what is in them */
typedef struct Leaf
{
	char		page[GPB_PAGE_SIZE] __attribute__((aligned(8)));
	int			n;
	GpbValue	value[GPB_MAX_LEAF_ENTRIES][GPB_MAX_COLUMNS];
} Leaf;

/* Answers that were formed entry by entry */
typedef struct Model
{
	bool		fault;
	bool		unheld;			/* a narrow sum does not hold a value, or a part of a square */
	uint64		counted;
	int			n;				/* answers or groups */
	int64	   *answers;
	GpbGroup   *group[MOST_GROUPS];
} Model;

static void
random_layout(GpbLayout *layout)
{
	static const uint8 kinds[] = {GPB_KIND_INT4, GPB_KIND_INT8, GPB_KIND_INT2, GPB_KIND_FLOAT8};
	int			c;

	memset(layout, 0, sizeof(*layout));
	layout->key_width = below(2) ? 8 : 4;
	layout->key_kind = layout->key_width == 8 ? GPB_KIND_INT8 : GPB_KIND_INT4;
	layout->flags = (uint8) below(4);
	layout->ncolumns = (uint8) (below(3) ? 4 : 1);
	layout->row_width = GPB_LOCATOR_WIDTH;
	for (c = 0; c < layout->ncolumns; c++)
	{
		layout->kind[c] = kinds[c];
		layout->offset[c] = layout->row_width;
		layout->row_width += kinds[c] == GPB_KIND_INT4 || kinds[c] == GPB_KIND_INT2 ? 4 : 8;
	}
}

static void
fill_leaf(const GpbLayout *layout, Leaf *leaf, bool nulls)
{
	GpbPageSpecial *special = (GpbPageSpecial *) (leaf->page + GPB_SPECIAL_OFFSET);
	int			most = gpb_page_capacity(layout->key_width, layout->row_width);
	uint16		lower;
	int			i;
	int			c;

	leaf->n = below(3) ? most : below(most + 1);
	special->row_width = (uint8) layout->row_width;
	special->key_width = (uint8) layout->key_width;
	lower = (uint16) gpb_key_place(layout->key_width, leaf->n);
	memcpy(leaf->page + GPB_PD_LOWER, &lower, sizeof(lower));
	for (i = 0; i < leaf->n; i++)
	{
		GpbValue   *value = leaf->value[i];
		char	   *row = (char *) gpb_page_row(leaf->page, layout->row_width, i);
		char	   *key = leaf->page + GPB_PAGE_HEADER + i * layout->key_width;
		uint64		locator = next_random() & GPB_TID_MASK;
		uint64		normalized;

		for (c = 0; c <= layout->ncolumns; c++)
		{
			int			kind = gpb_column_kind(layout, c);

			value[c].is_null = nulls && below(5) == 0;
			value[c].word = kind == GPB_KIND_FLOAT8 ? random_word(FLOAT) : random_word(SMALL);
			if (kind == GPB_KIND_INT8 && below(20) == 0)
				value[c].word = random_word(INTEGER);
			if (c > 0)
			{
				memcpy(row + layout->offset[c - 1], &value[c].word,
					   kind == GPB_KIND_INT2 ? 2 : kind == GPB_KIND_INT4 ? 4 : 8);
				locator |= (uint64) value[c].is_null << (GPB_LOC_NULL_SHIFT + c - 1);
			}
		}
		normalized = gpb_key_encode(value[0].word, layout->key_width, layout->flags);
		if (value[0].is_null)
			normalized = layout->flags & GPB_LAYOUT_NULLS_FIRST ? 0 : ~(uint64) 0;
		if (value[0].is_null != ((layout->flags & GPB_LAYOUT_NULLS_FIRST) != 0))
			locator |= GPB_LOC_ORDER_BIT;
		memcpy(key, &normalized, layout->key_width);
		memcpy(row, &locator, sizeof(locator));
	}
}

/* A slot whose values are of this sort, or -1.  sorts has the sort of each slot, or -1. */
static int
pick_slot(const int *sorts, Sort sort)
{
	int			found = -1;
	int			n = 0;
	int			s;

	for (s = 0; s < GPB_SLOTS; s++)
	{
		if (sorts[s] == (int) sort && below(++n) == 0)
			found = s;
	}
	return found;
}

/* Add a step with this operator, of operands of one sort.  Returns false if there are none. */
static bool
add_step(GpbProgram *program, int *sorts, int op, Sort operands, Sort result)
{
	GpbStep    *step = &program->step[program->nsteps];
	int			first = op == GPB_OP_SELECT ? (int) BOOLEAN : (int) operands;
	int			a = pick_slot(sorts, (Sort) first);
	int			b = pick_slot(sorts, operands);
	int			c = pick_slot(sorts, operands);
	int			guard = below(10) == 0 ? pick_slot(sorts, BOOLEAN) : -1;

	if (a < 0 || b < 0)
		return false;
	step->op = (uint8) op;
	step->into = (uint8) (GPB_FIRST_TEMPORARY + below(12));
	step->a = (uint8) a;
	step->b = (uint8) b;
	step->c = (uint8) c;
	step->guard = guard < 0 ? GPB_NO_SLOT : (uint8) guard;
	if (op == GPB_OP_IN)
		step->b = (uint8) below(2);
	if (op == GPB_OP_FILTER)
		step->into = 0;
	else
		sorts[step->into] = (int) result;
	program->nsteps++;
	return true;
}

static void
random_steps(GpbProgram *program, int *sorts)
{
	static const uint8 comparisons[] = {GPB_OP_EQ, GPB_OP_NE, GPB_OP_LT, GPB_OP_LE, GPB_OP_GT,
		GPB_OP_GE, GPB_OP_DISTINCT, GPB_OP_IN, GPB_OP_IS_NULL};
	static const uint8 booleans[] = {GPB_OP_AND, GPB_OP_OR, GPB_OP_NOT, GPB_OP_IS_TRUE};
	static const uint8 integers[] = {GPB_OP_SELECT, GPB_OP_COALESCE, GPB_OP_LEAST,
		GPB_OP_GREATEST, GPB_OP_ADD, GPB_OP_SUBTRACT, GPB_OP_MULTIPLY, GPB_OP_TO_INT4,
		GPB_OP_NEGATE, GPB_OP_ABS, GPB_OP_MODULO};
	static const uint8 floats[] = {GPB_OP_FLOAT_NEGATE, GPB_OP_FLOAT_ABS, GPB_OP_FLOAT_LEAST,
		GPB_OP_FLOAT_GREATEST, GPB_OP_FLOAT_ADD, GPB_OP_SELECT};
	int			n = below(12);

	while (n-- > 0)
	{
		switch (below(12))
		{
			case 0:
			case 1:
			case 2:
			case 3:
				(void) add_step(program, sorts, comparisons[below(LENGTH(comparisons))], SMALL,
								BOOLEAN);
				break;
			case 4:
			case 5:
				(void) add_step(program, sorts, booleans[below(LENGTH(booleans))], BOOLEAN,
								BOOLEAN);
				break;
			case 6:
			case 7:
			case 8:
				(void) add_step(program, sorts, integers[below(LENGTH(integers))], SMALL, SMALL);
				break;
			case 9:
				(void) add_step(program, sorts, floats[below(LENGTH(floats))], FLOAT, FLOAT);
				break;
			case 10:
				(void) add_step(program, sorts, GPB_OP_INT_TO_FLOAT, SMALL, FLOAT);
				break;
			default:
				(void) add_step(program, sorts, GPB_OP_FILTER, BOOLEAN, BOOLEAN);
				break;
		}
	}
}

/*
 * A program over columns and constants of small integers, floats and booleans; some are functions
 * of one column, beside which they may want sums of others.
 */
static void
random_program(GpbProgram *program, bool groups)
{
	int			sorts[GPB_SLOTS];
	bool		of_one = below(4) == 0;
	int			one;
	int			i;

	memset(program, 0, sizeof(*program));
	random_layout(&program->layout);
	one = below(program->layout.ncolumns + 1);
	memset(sorts, 0xFF, sizeof(sorts));
	for (i = 0; i <= program->layout.ncolumns; i++)
		sorts[i] = of_one && i != one ? -1 :
			 gpb_column_kind(&program->layout, i) == GPB_KIND_FLOAT8 ? FLOAT : SMALL;
	program->nconstants = 9;
	for (i = 0; i < 9; i++)
	{
		program->constant[i] = i < 4 ? random_word(SMALL) : (i - 4) * 100 - 200;
		if (i < 4)
			sorts[GPB_FIRST_CONSTANT + i] = SMALL;
	}
	if (below(8) == 0)
		program->null_constants = 2;
	program->tables.first[1] = 1;
	program->tables.length[1] = (uint16) (1 + below(4));
	for (i = 0; i < 5; i++)
		program->tables.word[i] = i * 100 - 200;
	random_steps(program, sorts);
	program->nterms = (uint8) below(5);
	for (i = 0; i < program->nterms; i++)
	{
		GpbTerm    *term = &program->term[i];
		bool		is_float = !of_one && below(4) == 0;
		int			slot = below(6) == 0 ? -1 : pick_slot(sorts, is_float ? FLOAT : SMALL);
		int			filter = below(3) == 0 ? pick_slot(sorts, BOOLEAN) : -1;

		term->slot = slot < 0 ? GPB_NO_SLOT : (uint8) slot;
		term->kind = is_float ? GPB_KIND_FLOAT8 : GPB_KIND_INT8;
		term->filter = filter < 0 ? GPB_NO_SLOT : (uint8) filter;
		term->want = GPB_WANT_COUNT;
		if (slot >= 0 && below(3) > 0)
			term->want |= GPB_WANT_SUM | (below(2) ? GPB_WANT_MINMAX : 0) |
				(below(2) ? GPB_WANT_SQUARES : 0);
		if (slot >= 0 && !is_float && below(3) == 0)
			term->want |= GPB_WANT_AND | GPB_WANT_OR | GPB_WANT_XOR;
		if (of_one && below(3) == 0 && gpb_column_kind(&program->layout, i) != GPB_KIND_FLOAT8 &&
			i <= program->layout.ncolumns)
		{
			term->slot = (uint8) i;
			term->want = GPB_WANT_COUNT | (below(2) ? GPB_WANT_SUM : 0);
		}
	}
	if (groups)
	{
		program->ngroups = (uint8) (1 + below(GPB_MAX_GROUP_SLOTS));
		program->by_range = below(2);
		for (i = 0; i < program->ngroups; i++)
		{
			int			slot = pick_slot(sorts, below(2) ? BOOLEAN : SMALL);

			program->group[i] = slot < 0 ? 0 : (uint8) slot;
		}
	}
	else if (gpb_program_is_plain(program))
		program->nterms = 1, program->term[0] = (GpbTerm) {0, GPB_KIND_INT8, 3, GPB_NO_SLOT, 0};
}

/* The model's answer to which an entry with these values is added, made if there is none */
static int64 *
model_answer(Model *model, const GpbProgram *program, const GpbAnswerFormat *format, uint32 range,
			 bool by_number, const GpbValue *value)
{
	GpbGroup   *group;
	int			i;
	int			g;

	if (program->ngroups == 0)
		return model->answers + (by_number ? range * format->words : 0);
	group = calloc(1, gpb_group_width(program, format));
	group->number = program->by_range ? range : 0;
	for (g = 0; g < program->ngroups; g++)
	{
		const GpbValue *of = &value[program->group[g]];

		group->nulls |= (uint32) of->is_null << g;
		group->words[g] = of->is_null ? 0 : of->word;
	}
	for (i = 0; i < model->n; i++)
	{
		if (memcmp(model->group[i], group, sizeof(GpbGroup) + program->ngroups * 8) == 0)
			break;
	}
	if (i < model->n)
		free(group);
	else
	{
		gpb_answer_init(format, group->words + program->ngroups);
		model->group[model->n++] = group;
	}
	return model->group[i]->words + program->ngroups;
}

static bool
is_held(double value)
{
	return value == 0 || (fabs(value) >= ldexp(1, -126) && fabs(value) < ldexp(1, 66));
}

/* Does a narrow sum not hold something of what a term adds to exact sums? */
static bool
is_unheld(const GpbAnswerColumn *column, double value)
{
	double		product = value * value;

	return column->float_sum != 0 &&
		(!is_held(value) || (column->float_squares != 0 &&
							 !(is_held(product) && is_held(fma(value, value, -product)))));
}

/* Add one entry to the model. */
static void
model_entry(Model *model, const GpbProgram *program, const GpbAnswerFormat *format, uint32 range,
			bool by_number, const GpbValue *columns)
{
	GpbValue	value[GPB_SLOTS];
	int64	   *answer;
	int			i;

	memset(value, 0, sizeof(value));
	memcpy(value, columns, (program->layout.ncolumns + 1) * sizeof(GpbValue));
	for (i = 0; i < program->nconstants; i++)
	{
		value[GPB_FIRST_CONSTANT + i].word = program->constant[i];
		value[GPB_FIRST_CONSTANT + i].is_null = (program->null_constants >> i) & 1;
	}
	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];
		GpbValue   *guard = step->guard == GPB_NO_SLOT ? NULL : &value[step->guard];
		Result		result;
		const int64 *table;
		int			ntable;

		if (step->op == GPB_OP_FILTER)
		{
			if (value[step->a].is_null || value[step->a].word == 0)
				return;
			continue;
		}
		table = gpb_step_table(&program->tables, step, &ntable);
		result = of_any(step->op, value[step->a], value[step->b], value[step->c], table, ntable);
		if (result.fault && (guard == NULL || (!guard->is_null && guard->word != 0)))
			model->fault = true;
		/* A fault that does not count gives 0 here, as in the loops; a program does not read it. */
		value[step->into].word = result.fault || result.is_null ? 0 : result.word;
		value[step->into].is_null = result.is_null;
	}
	if (model->fault)
		return;
	model->counted++;
	answer = model_answer(model, program, format, range, by_number, value);
	answer[0]++;
	for (i = 0; i < program->nterms; i++)
	{
		const GpbTerm *term = &program->term[i];
		const GpbAnswerColumn *column = &format->column[i];
		const GpbValue *filter = term->filter == GPB_NO_SLOT ? NULL : &value[term->filter];

		if (filter != NULL && (filter->is_null || filter->word == 0))
			continue;
		if (term->slot == GPB_NO_SLOT)
			answer[column->count]++;
		else if (!value[term->slot].is_null)
		{
			gpb_answer_add_value(column, answer, value[term->slot].word);
			model->unheld |= is_unheld(column, gpb_float_value(value[term->slot].word));
		}
	}
}

static bool
same_groups(const GpbGroupTable *table, Model *model, const GpbProgram *program,
			const GpbAnswerFormat *format)
{
	bool		ok = table->n == (uint32) model->n;
	GpbGroup   *group = malloc(gpb_group_width(program, format));
	uint32		i;
	int			m;

	for (i = 0; i < table->n && ok; i++)
	{
		memcpy(group, gpb_groups_at(table, i), table->width);
		if (program->narrow_sums)
			gpb_answer_widen(table->format, format, group->words + program->ngroups);
		for (m = 0; m < model->n; m++)
		{
			if (memcmp(model->group[m], group, gpb_group_width(program, format)) == 0)
				break;
		}
		ok &= m < model->n;
	}
	free(group);
	return ok;
}

/* Has an entry no NULL in the columns of which a program wants sums beside its own column? */
static bool
can_be_summed(const GpbValueForm *form, const GpbValue *value)
{
	int			i;

	for (i = 0; i < form->nsums && !value[form->sum[i]].is_null; i++)
		;
	return i == form->nsums;
}

/* Add an entry some times, to the model one by one, and to the evaluator by its value. */
static void
add_by_value(GpbEvaluator *evaluator, Model *model, const GpbProgram *program,
			 const GpbAnswerFormat *format, uint32 range, bool by_number, const GpbValue *value)
{
	const GpbValueForm *form = gpb_evaluator_by_value(evaluator);
	int64		sums[GPB_VALUE_SUMS];
	int			times = 1 + below(4);
	int			i;

	for (i = 0; i < form->nsums; i++)
		sums[i] = value[form->sum[i]].word / 8 * times;
	for (i = 0; i < times; i++)
	{
		GpbValue	entry[GPB_MAX_COLUMNS];
		int			k;

		memcpy(entry, value, sizeof(entry));
		for (k = 0; k < form->nsums; k++)
			entry[form->sum[k]].word /= 8;
		model_entry(model, program, format, range, by_number, entry);
	}
	gpb_evaluate_value(evaluator, range, value[form->slot].word, value[form->slot].is_null, times,
					   sums);
	valued++;
}

/* Has the evaluator, of a leaf, the values of the columns that the program reads? */
static bool
loads_leaf(GpbEvaluator *evaluator, const Leaf *leaf)
{
	bool		ok = true;
	int			first;
	int			n;
	int			c;
	int			i;

	for (first = 0; (n = gpb_evaluator_load(evaluator, leaf->page, first)) > 0; first += n)
	{
		for (c = 0; c < evaluator->work.ncolumns; c++)
		{
			const GpbStripSlot *slot = &evaluator->strip.slot[evaluator->work.column[c]];

			for (i = 0; i < n; i++)
			{
				const GpbValue *value = &leaf->value[first + i][evaluator->work.column[c]];

				ok &= (slot->has_nulls && slot->nulls[i]) == value->is_null &&
					slot->words[i] == (value->is_null ? 0 : value->word);
			}
		}
	}
	return ok && first == leaf->n;
}

/* Add an entry by its key and its row or, of range 0, now and then by its values. */
static void
add_entry(GpbEvaluator *evaluator, const GpbLayout *layout, const Leaf *leaf, uint32 range, int i)
{
	GpbValue	entry[GPB_MAX_COLUMNS];
	int			c;

	if (range > 0 || below(2) == 0)
	{
		gpb_evaluate_entry(evaluator, range, gpb_page_key(leaf->page, layout->key_width, i),
						   gpb_page_row(leaf->page, layout->row_width, i));
		return;
	}
	for (c = 0; c < GPB_MAX_COLUMNS; c++)
	{
		entry[c] = leaf->value[i][c];
		if (entry[c].is_null)
			entry[c].word = 0;
	}
	gpb_evaluate_values(evaluator, entry);
}

/*
 * Put the entries of a leaf through the evaluator and the model, some alone, some together, and
 * some as values that count many times.
 */
static void
add_leaf(GpbEvaluator *evaluator, Model *model, const GpbProgram *program,
		 const GpbAnswerFormat *format, const Leaf *leaf, bool by_number)
{
	const GpbLayout *layout = &program->layout;
	uint16		at[GPB_MAX_LEAF_ENTRIES];
	int			from;
	int			to;
	int			i;

	for (from = 0; from < leaf->n; from = to)
	{
		GpbLeafPick pick = {NULL, from, 0};
		uint32		range = (uint32) below(RANGES);
		const GpbValueForm *form = gpb_evaluator_by_value(evaluator);
		int			way = below(form != NULL ? 5 : 3);

		to = from + 1 + below(leaf->n - from);
		for (i = from; i < to; i++)
		{
			if (way > 0 && below(4) == 0)
				continue;
			if (way >= 3 && can_be_summed(form, leaf->value[i]))
			{
				add_by_value(evaluator, model, program, format, range, by_number, leaf->value[i]);
				continue;
			}
			at[pick.n++] = (uint16) i;
			model_entry(model, program, format, range, by_number, leaf->value[i]);
			if (way == 1 || way >= 3)
				add_entry(evaluator, layout, leaf, range, i);
		}
		if (way == 2)
			pick.at = at;
		if (way == 0 || way == 2)
			gpb_evaluate_leaf(evaluator, range, leaf->page, &pick);
	}
}

/*
 * Put random leaves through a random program and the model, which has wide sums.  Where a step
 * faults and a narrow sum does not hold a value, either ends the evaluation.
 */
static bool
check_program(bool groups, int *faults, int *narrow, int *unheld)
{
	static Leaf leaf;
	static Model model;
	GpbProgram	program;
	GpbAnswerFormat format;
	GpbAnswerFormat wide;
	GpbGroupTable table;
	int64		used = 0;
	GpbGroupMemory memory = {allocate, release, &used, (uint64) 1 << 30};
	GpbEvaluator *evaluator;
	GpbEvaluation outcome;
	GpbEvaluatorSink sink = {NULL, below(2) == 0, NULL};
	bool		nulls = below(2);
	bool		ok;
	int			leaves = 1 + below(4);
	int			i;

	random_program(&program, groups);
	gpb_answer_format(&program, &wide);
	program.narrow_sums = groups && below(2);
	held_floats = program.narrow_sums && below(4) > 0;
	gpb_answer_format(&program, &format);
	memset(&model, 0, sizeof(model));
	model.answers = malloc(RANGES * gpb_answer_width(&format));
	sink.answers = malloc(RANGES * gpb_answer_width(&format));
	for (i = 0; i < RANGES; i++)
	{
		gpb_answer_init(&format, model.answers + i * format.words);
		gpb_answer_init(&format, sink.answers + i * format.words);
	}
	gpb_groups_init(&table, &program, &format, &memory);
	sink.groups = groups ? &table : NULL;
	evaluator = gpb_evaluator_init(malloc(gpb_evaluator_size(&program)), &program, &format);
	gpb_evaluator_begin(evaluator, &sink);
	ok = gpb_program_fault(&program) == NULL;
	for (i = 0; i < leaves; i++)
	{
		fill_leaf(&program.layout, &leaf, nulls);
		ok &= loads_leaf(evaluator, &leaf);
		add_leaf(evaluator, &model, &program, &wide, &leaf, sink.by_number);
	}
	held_floats = false;
	gpb_evaluate_rest(evaluator);
	outcome = evaluator->outcome;
	model.unheld &= program.narrow_sums;
	ok &= (outcome == GPB_EVALUATED) == (!model.fault && !model.unheld);
	ok &= outcome != GPB_EVALUATION_FAULTED || model.fault;
	/* Behind an entry that faults the model adds nothing more, but the rest of its strip is added. */
	ok &= outcome != GPB_EVALUATION_UNHELD || model.unheld ||
		(model.fault && program.narrow_sums);
	*narrow += program.narrow_sums && gpb_answer_has_float_sums(&format) &&
		outcome == GPB_EVALUATED;
	*unheld += outcome == GPB_EVALUATION_UNHELD;
	if (outcome == GPB_EVALUATED)
	{
		for (i = 0; i < RANGES; i++)
		{
			gpb_answer_normalize(&format, sink.answers + i * format.words);
			gpb_answer_normalize(&format, model.answers + i * format.words);
		}
		for (i = 0; i < model.n; i++)
			gpb_answer_normalize(&wide, model.group[i]->words + program.ngroups);
		gpb_groups_normalize(&table);
		ok &= evaluator->counted == model.counted;
		ok &= memcmp(sink.answers, model.answers, RANGES * gpb_answer_width(&format)) == 0;
		ok &= same_groups(&table, &model, &program, &wide);
	}
	*faults += model.fault;
	gpb_groups_reset(&table);
	ok &= used == 0;
	for (i = 0; i < model.n; i++)
		free(model.group[i]);
	free(model.answers);
	free(sink.answers);
	free(evaluator);
	return ok;
}

void
test_programs(bool groups)
{
	bool		ok = true;
	int			faults = 0;
	int			narrow = 0;
	int			unheld = 0;
	char		what[200];
	int			round;

	valued = 0;

	for (round = 0; round < 1500; round++)
		ok &= check_program(groups, &faults, &narrow, &unheld);
	snprintf(what, sizeof(what),
			 "programs%s, %d of 1500 faulted, %d had narrow sums and %d values that these do not hold, "
			 "%d entries were added by value",
			 groups ? " with groups" : "", faults, narrow, unheld, valued);
	verdict_of_form(ok && valued > 20000 && faults > 30 && faults < 1200 &&
					(!groups || (narrow > 15 && unheld > 15)),
					what);
}
