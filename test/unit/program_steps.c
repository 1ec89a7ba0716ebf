/*-------------------------------------------------------------------------
 *
 * program_steps.c
 *	  Tests of each operator: one step over a strip, beside what program_model.c gives.
 *
 *-------------------------------------------------------------------------
 */
#include "program_tests.h"

/* The same value: NaNs are one, whatever their bits, where an operator makes floats. */
static bool
same_value(int op, const Result *a, int64 word, bool is_null)
{
	if (a->is_null || is_null)
		return a->is_null && is_null && word == 0;
	return a->word == word || (op >= GPB_OP_FLOAT_ADD && op <= GPB_OP_INT_TO_FLOAT &&
							   isnan(as_float(a->word)) && isnan(as_float(word)));
}

static void
fill_slot(GpbStripSlot *slot, Sort sort, int n, bool nulls)
{
	int			i;

	slot->words = malloc(GPB_STRIP * sizeof(int64));
	slot->nulls = malloc(GPB_STRIP);
	slot->has_nulls = nulls;
	for (i = 0; i < n; i++)
	{
		slot->nulls[i] = nulls && below(4) == 0;
		slot->words[i] = slot->nulls[i] ? 0 : random_word(sort);
	}
}

/* A zone with n - 2 changes, each some hours from the last, which all begin at 2000-01-01 */
static void
fill_zone(int64 *word, int n)
{
	int64		moment = below(2) ? GPB_ZONE_BEGIN : -100000;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (i == n - 1 && below(2))
			moment = GPB_ZONE_END;
		word[i] = gpb_zone_word(moment, (below(9) - 4) * 1800 + (i == 0 ? 17 : 0));
		moment = i == 0 ? 0 : moment + 50000 + below(3) * 1800;
	}
}

/*
 * Do one step over a strip of n entries, and compare.  Where it may not fault, entries that would
 * are made such that do not, by drawing others.
 */
static bool
check_step(int op, int n, bool nulls, bool guarded, bool may_fault)
{
	static GpbProgram program;
	GpbStrip	strip;
	GpbStep		step = {(uint8) op, GPB_FIRST_TEMPORARY, 0, 1, 2, guarded ? 3 : GPB_NO_SLOT};
	Result		wanted[GPB_STRIP];
	bool		fault = false;
	const int64 *table;
	int			ntable;
	bool		ok;
	int			i;
	int			s;

	memset(&strip, 0, sizeof(strip));
	strip.program = &program;
	strip.n = n;
	program.nconstants = 8;
	if (op == GPB_OP_IN)
	{
		step.b = below(GPB_MAX_TABLES);
		program.tables.first[step.b] = below(4);
		program.tables.length[step.b] = below(5);
		for (i = 0; i < 8; i++)
			program.tables.word[i] = (int64) i * i * i - 9;
	}
	else if (op == GPB_OP_IN_CODES)
	{
		bool		listed = below(2) > 0;

		step.b = below(GPB_MAX_TABLES);
		program.tables.first[step.b] = below(4);
		program.tables.length[step.b] = below(5);
		for (i = 0; i < 8; i++)
			program.tables.word[i] = listed ? i * i : random_word(INTEGER);
		program.tables.word[program.tables.first[step.b]] = listed ? GPB_CODES_LISTED : below(40);
	}
	else if (op == GPB_OP_RANKED)
	{
		step.b = below(GPB_MAX_TABLES);
		program.tables.first[step.b] = below(4);
		program.tables.length[step.b] = below(6);
		for (i = 0; i < 8; i++)
			program.tables.word[i] = random_word(INTEGER);
		program.tables.word[program.tables.first[step.b]] = (int64) below(40) << 32 | below(40);
	}
	else if (gpb_step_has_table(&step))
	{
		step.b = below(GPB_MAX_TABLES);
		program.tables.first[step.b] = below(GPB_MAX_TABLE_WORDS - 10);
		program.tables.length[step.b] = 2 + below(8);
		fill_zone(program.tables.word + program.tables.first[step.b],
				  program.tables.length[step.b]);
	}
	for (s = 0; s < 3; s++)
		fill_slot(&strip.slot[s], operand_sort(op, s), n, nulls && below(3) > 0);
	fill_slot(&strip.slot[3], BOOLEAN, n, nulls);
	fill_slot(&strip.slot[GPB_FIRST_TEMPORARY], INTEGER, 0, false);
	if (op == GPB_OP_IN || op == GPB_OP_IN_CODES || op == GPB_OP_RANKED)
	{
		for (i = 0; i < n; i++)
			strip.slot[0].words[i] = strip.slot[0].has_nulls && strip.slot[0].nulls[i] ? 0 :
				random_word(SMALL) % (op == GPB_OP_IN ? 40 : op == GPB_OP_RANKED ? 100 : 400);
	}
	for (i = 0; i < n; i++)
	{
		for (;;)
		{
			GpbValue	v[3];

			for (s = 0; s < 3; s++)
			{
				v[s].word = strip.slot[s].words[i];
				v[s].is_null = strip.slot[s].has_nulls && strip.slot[s].nulls[i];
			}
			table = gpb_step_table(&program.tables, &step, &ntable);
			wanted[i] = of_any(op, v[0], v[1], v[2], table, ntable);
			if (!wanted[i].fault || may_fault || (guarded && strip.slot[3].words[i] == 0))
				break;
			for (s = 0; s < 3; s++)
				strip.slot[s].words[i] = random_word(operand_sort(op, s));
		}
		fault |= wanted[i].fault && (!guarded || strip.slot[3].words[i] != 0);
	}
	ok = gpb_strip_step(&strip, &step) == !fault;
	for (i = 0; i < n && !fault; i++)
	{
		const GpbStripSlot *into = &strip.slot[GPB_FIRST_TEMPORARY];

		ok &= wanted[i].fault ||
			same_value(op, &wanted[i], into->words[i], into->has_nulls && into->nulls[i]);
	}
	for (s = 0; s < 4; s++)
	{
		free(strip.slot[s].words);
		free(strip.slot[s].nulls);
	}
	free(strip.slot[GPB_FIRST_TEMPORARY].words);
	free(strip.slot[GPB_FIRST_TEMPORARY].nulls);
	return ok;
}

void
test_operator(int op)
{
	bool		ok = true;
	char		what[100];
	int			round;

	/* What GPB_OP_FLOAT_ORDER gives is for comparisons alone, and tested with these. */
	if (op == GPB_OP_FLOAT_ORDER)
		return;
	for (round = 0; round < 300; round++)
	{
		int			n = round < 40 ? round : below(GPB_STRIP + 1);
		bool		can_fault = gpb_operator_can_fault(op);

		if (round % 5 == 0)
			n = GPB_STRIP;
		ok &= check_step(op, n, false, false, false);
		ok &= check_step(op, n, true, false, false);
		ok &= check_step(op, n, round % 2 == 0, true, false);
		if (can_fault)
			ok &= check_step(op, 1 + n % 7, round % 3 == 0, round % 2 == 0, true);
	}
	snprintf(what, sizeof(what), "operator %d", op);
	verdict_of_form(ok, what);
}

/* The order of floats, which comparisons of GPB_OP_FLOAT_ORDER's results show. */
void
test_float_order(void)
{
	bool		ok = true;
	int			round;

	for (round = 0; round < 20000; round++)
	{
		int64		a = random_word(FLOAT);
		int64		b = random_word(FLOAT);
		int64		x;
		int64		y;

		(void) gpb_step_of_values(GPB_OP_FLOAT_ORDER, a, 0, 0, NULL, 0, &x);
		(void) gpb_step_of_values(GPB_OP_FLOAT_ORDER, b, 0, 0, NULL, 0, &y);
		ok &= compare_floats(as_float(a), as_float(b)) == (x > y) - (x < y);
	}
	verdict_of_form(ok, "order of floats");
}
