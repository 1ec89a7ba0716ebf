/*-------------------------------------------------------------------------
 *
 * program_zone.c
 *	  Tests of what programs do with bounds of values: each operator, and whole filters, beside what
 *	  is done with the values themselves.
 *
 *-------------------------------------------------------------------------
 */
#include "program_tests.h"
#include "program/program_zone.h"

/* The most values of an operand, and the most entries of a zone */
#define MOST	5

/* An operand: its values, and the bounds of these */
typedef struct Operand
{
	GpbValue	value[MOST];
	int			n;
	GpbZoneValue zone;
} Operand;

static void
add_to_zone(GpbZoneValue *zone, GpbValue value, bool floats)
{
	int64		word = floats ? gpb_float_order(value.word) : value.word;

	if (value.is_null)
	{
		zone->has_nulls = true;
		return;
	}
	zone->least = zone->has_values && zone->least < word ? zone->least : word;
	zone->greatest = zone->has_values && zone->greatest > word ? zone->greatest : word;
	zone->has_values = true;
}

/* Random values, which often are near each other; some are one value, as constants are. */
static Operand
random_operand(Sort sort)
{
	Operand		operand = {.n = 1 + below(MOST), .zone.floats = sort == FLOAT};
	int64		first = random_word(sort);
	int			spread = below(3) == 0 ? 0 : 1 << below(20);
	int			nulls = below(3);

	for (int i = 0; i < operand.n; i++)
	{
		int64		word = first;

		if (i > 0 && (spread == 0 || sort == BOOLEAN || sort == FLOAT || sort == MONTHS))
			word = random_word(sort);
		else if (i > 0)
			word = (int64) ((uint64) first + (uint64) below(spread));
		/* There are no timestamps beyond these but the infinite ones. */
		if ((sort == TIMESTAMP || sort == MOMENT) && !gpb_timestamp_is_infinite(word) &&
			(word < GPB_TIMESTAMP_LEAST || word >= GPB_TIMESTAMP_END))
			word = first;
		/* Nor are there dates beyond these but the infinite ones. */
		if (sort == DATE && word != INT32_MIN && word != INT32_MAX &&
			(word < GPB_DATE_LEAST || word >= GPB_DATE_END))
			word = first = below(1000);
		operand.value[i] = (GpbValue) {word, nulls == 0 && below(3) == 0};
		if (operand.value[i].is_null)
			operand.value[i].word = 0;
	}
	if (below(4) == 0)
		operand.n = 1;
	for (int i = 0; i < operand.n; i++)
		add_to_zone(&operand.zone, operand.value[i], operand.zone.floats);
	/* Of a constant it is not known what it is. */
	if (operand.n == 1 && sort == FLOAT && below(2) == 0)
	{
		operand.zone.floats = false;
		operand.zone.least = operand.zone.greatest = operand.value[0].word;
	}
	return operand;
}

/* Is a value within the bounds? */
static bool
holds(const GpbZoneValue *zone, GpbValue value)
{
	int64		word = zone->floats ? gpb_float_order(value.word) : value.word;

	if (value.is_null)
		return zone->has_nulls;
	return zone->has_values && zone->least <= word && word <= zone->greatest;
}

static GpbValue
do_step(int op, GpbValue a, GpbValue b, GpbValue c, const int64 *table, int n, bool *fault)
{
	int			operands = gpb_operands(op);
	GpbValue	result = {0, false};

	*fault = false;
	if (gpb_operator_takes_nulls(op))
		return gpb_step_of_nulls(op, a, b, c);
	result.is_null = a.is_null || (operands > 1 && b.is_null) || (operands > 2 && c.is_null);
	if (!result.is_null)
		*fault = gpb_step_of_values(op, a.word, b.word, c.word, table, n, &result.word);
	return result;
}

/* A table for the operator: words or codes that ascend, or a zone of few changes. */
static int
random_table(int op, int64 *table)
{
	int			n = 2 + below(5);

	for (int i = 0; i < n; i++)
		table[i] = op == GPB_OP_IN ? i * 3 - 4 : op == GPB_OP_IN_CODES ? i * 2 :
			op == GPB_OP_RANKED ? random_word(INTEGER) :
			gpb_zone_word(i == 0 ? GPB_ZONE_BEGIN : i == n - 1 ? GPB_ZONE_END : i * 50000,
						  (below(9) - 4) * 1800);
	if (op == GPB_OP_IN_CODES)
		table[0] = GPB_CODES_LISTED;
	if (op == GPB_OP_RANKED)
		table[0] = (int64) below(8) << 32;
	return n;
}

/* Do a step with bounds, and with all combinations of values within them. */
static bool
check_bounds(int op)
{
	GpbStep		step = {(uint8) op, 0, 0, 0, 0, GPB_NO_SLOT};
	Sort		choice = below(2) ? FLOAT : INTEGER;
	bool		chooses = op == GPB_OP_SELECT || op == GPB_OP_COALESCE;
	bool		looks_up = op == GPB_OP_IN || op == GPB_OP_IN_CODES || op == GPB_OP_RANKED;
	Operand		operand[3];
	int64		table[8];
	int			n = random_table(op, table);
	GpbZoneValue result;
	bool		sound;

	for (int i = 0; i < 3; i++)
	{
		Sort		sort = operand_sort(op, i);

		if (op == GPB_OP_TRUNCATE && i == 0)
			sort = TIMESTAMP;
		if (chooses && (op == GPB_OP_COALESCE || i > 0))
			sort = choice;
		operand[i] = random_operand(looks_up ? SMALL : sort);
		if (!looks_up)
			continue;
		/* values that are about as large as those of the table */
		operand[i].zone = (GpbZoneValue) {0};
		for (int k = 0; k < operand[i].n; k++)
		{
			operand[i].value[k].word %= 12;
			add_to_zone(&operand[i].zone, operand[i].value[k], false);
		}
	}
	sound = gpb_zone_step(&step, &operand[0].zone, &operand[1].zone, &operand[2].zone,
						  below(20) == 0 && looks_up ? NULL : table, n, &result);
	for (int i = 0; i < MOST * MOST * MOST; i++)
	{
		GpbValue	value;
		bool		fault;

		if (i % MOST >= operand[0].n || i / MOST % MOST >= operand[1].n ||
			i / MOST / MOST >= operand[2].n)
			continue;
		value = do_step(op, operand[0].value[i % MOST], operand[1].value[i / MOST % MOST],
						operand[2].value[i / MOST / MOST], table, n, &fault);
		if (fault ? sound : !holds(&result, value))
			return false;
	}
	return true;
}

/* ---- whole filters ---- */

#define COLUMNS		3
#define CONSTANTS	3

static const uint8 filter_operators[] = {
	GPB_OP_EQ, GPB_OP_NE, GPB_OP_LT, GPB_OP_LE, GPB_OP_GT, GPB_OP_GE, GPB_OP_LT, GPB_OP_GE,
	GPB_OP_DISTINCT, GPB_OP_AND, GPB_OP_OR, GPB_OP_NOT, GPB_OP_IS_NULL, GPB_OP_IS_TRUE, GPB_OP_ADD,
	GPB_OP_SUBTRACT, GPB_OP_MULTIPLY, GPB_OP_DIVIDE, GPB_OP_MODULO, GPB_OP_SELECT, GPB_OP_COALESCE,
	GPB_OP_LEAST, GPB_OP_GREATEST, GPB_OP_IN, GPB_OP_TO_INT2
};

/* A slot that has a value before step number "step" */
static uint8
random_slot(int step)
{
	int			i = below(COLUMNS + CONSTANTS + step);

	if (i < COLUMNS)
		return (uint8) i;
	if (i < COLUMNS + CONSTANTS)
		return (uint8) (GPB_FIRST_CONSTANT + i - COLUMNS);
	return (uint8) (GPB_FIRST_TEMPORARY + i - COLUMNS - CONSTANTS);
}

/* A program of some steps, of which the last ones are filters */
static void
random_filter(GpbProgram *program)
{
	int			steps = 1 + below(6);

	memset(program, 0, sizeof(*program));
	program->nconstants = CONSTANTS;
	for (int i = 0; i < CONSTANTS; i++)
		program->constant[i] = below(3) == 0 ? below(70000) : below(21) - 10;
	program->null_constants = below(10) == 0;
	if (program->null_constants)
		program->constant[0] = 0;
	program->tables.length[0] = 3;
	for (int i = 0; i < 3; i++)
		program->tables.word[i] = i * 4 - 4;
	for (int i = 0; i < steps; i++)
	{
		GpbStep    *step = &program->step[program->nsteps++];

		*step = (GpbStep) {filter_operators[below(LENGTH(filter_operators))],
						   (uint8) (GPB_FIRST_TEMPORARY + i), random_slot(i), random_slot(i),
						   random_slot(i), below(4) == 0 ? random_slot(i) : GPB_NO_SLOT};
		if (step->op == GPB_OP_IN)
			step->b = 0;
	}
	for (int i = below(2); i < 2; i++)
		program->step[program->nsteps++] = (GpbStep) {GPB_OP_FILTER, 0, random_slot(steps), 0, 0,
														   GPB_NO_SLOT};
	program->step[program->nsteps - 1].a = (uint8) (GPB_FIRST_TEMPORARY + steps - 1);
}

/* Does an entry pass?  *fault tells whether a step faulted before that was known. */
static bool
passes(const GpbProgram *program, GpbValue *slot, bool *fault)
{
	for (int i = 0; i < program->nconstants; i++)
		slot[GPB_FIRST_CONSTANT + i] = (GpbValue) {program->constant[i],
												   program->null_constants >> i & 1};
	for (int i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];
		int			n;
		const int64 *table = gpb_step_table(&program->tables, step, &n);

		if (step->op == GPB_OP_FILTER && !gpb_is_true(slot[step->a]))
			return false;
		if (step->op == GPB_OP_FILTER)
			continue;
		slot[step->into] = do_step(step->op, slot[step->a], slot[step->b], slot[step->c], table,
								   n, fault);
		if (*fault && (step->guard == GPB_NO_SLOT || gpb_is_true(slot[step->guard])))
			return false;
		*fault = false;
	}
	return true;
}

/* Judge a zone of a few entries, and count what becomes of it. */
static bool
check_filter(int *verdicts)
{
	GpbProgram	program;
	GpbZoneValue zone[GPB_SLOTS];
	GpbValue	slot[MOST][GPB_SLOTS];
	int			n = 1 + below(MOST);
	bool		spread = below(3) == 0;
	GpbZoneVerdict verdict;

	random_filter(&program);
	memset(zone, 0, sizeof(zone));
	memset(slot, 0, sizeof(slot));
	for (int c = 0; c < COLUMNS; c++)
	{
		int			base = below(3) == 0 ? below(70000) : below(25) - 12;
		int			nulls = below(4);

		zone[c].column = (uint8) c;
		for (int i = 0; i < n; i++)
		{
			slot[i][c] = (GpbValue) {base + below(spread ? 40 : 4), nulls == 0 && below(2) == 0};
			if (slot[i][c].is_null || nulls == 1)
				slot[i][c].word = 0;
			add_to_zone(&zone[c], slot[i][c], false);
		}
	}
	gpb_zone_constants(&program, zone);
	verdict = gpb_zone_judge(&program, zone);
	verdicts[verdict]++;
	for (int i = 0; i < n && verdict != GPB_ZONE_MIXED; i++)
	{
		bool		fault = false;

		if (passes(&program, slot[i], &fault) != (verdict == GPB_ZONE_ALL) || fault)
			return false;
		/* What is said to have the value of a column has it. */
		for (int k = 0; k < program.nsteps; k++)
		{
			int			into = program.step[k].into;
			int			column = verdict == GPB_ZONE_ALL && program.step[k].op != GPB_OP_FILTER ?
				zone[into].column : GPB_NO_SLOT;

			if (column != GPB_NO_SLOT &&
				(slot[i][into].is_null != slot[i][column].is_null ||
				 slot[i][into].word != slot[i][column].word))
				return false;
		}
	}
	return true;
}

/* What the bounds "least" and "greatest" of a column make of least <= column <= greatest */
static GpbZoneVerdict
between(int64 least, int64 greatest, bool values, bool nulls, int64 from, int64 to, bool floats)
{
	GpbProgram	program;
	GpbZoneValue zone[GPB_SLOTS];
	int			compared = floats ? GPB_FIRST_TEMPORARY + 2 : 0;

	memset(&program, 0, sizeof(program));
	memset(zone, 0, sizeof(zone));
	program.constant[0] = from;
	program.constant[1] = to;
	program.nconstants = 2;
	program.step[0] = (GpbStep) {GPB_OP_FLOAT_ORDER, GPB_FIRST_TEMPORARY + 2, 0, 0, 0, GPB_NO_SLOT};
	program.step[1] = (GpbStep) {GPB_OP_GE, GPB_FIRST_TEMPORARY, (uint8) compared,
								 GPB_FIRST_CONSTANT, 0, GPB_NO_SLOT};
	program.step[2] = (GpbStep) {GPB_OP_LE, GPB_FIRST_TEMPORARY + 1, (uint8) compared,
								 GPB_FIRST_CONSTANT + 1, 0, GPB_NO_SLOT};
	program.step[3] = (GpbStep) {GPB_OP_FILTER, 0, GPB_FIRST_TEMPORARY, 0, 0, GPB_NO_SLOT};
	program.step[4] = (GpbStep) {GPB_OP_FILTER, 0, GPB_FIRST_TEMPORARY + 1, 0, 0, GPB_NO_SLOT};
	program.nsteps = 5;
	zone[0] = (GpbZoneValue) {least, greatest, values, nulls, floats, 0};
	gpb_zone_constants(&program, zone);
	return gpb_zone_judge(&program, zone);
}

static int64
order(double value)
{
	return gpb_float_order(gpb_float_bits(value));
}

static void
test_ranges(void)
{
	bool		ok = between(10, 20, true, false, 5, 25, false) == GPB_ZONE_ALL &&
		between(10, 20, true, false, 10, 20, false) == GPB_ZONE_ALL &&
		between(10, 20, true, true, 5, 25, false) == GPB_ZONE_MIXED &&
		between(10, 20, true, false, 11, 25, false) == GPB_ZONE_MIXED &&
		between(10, 20, true, true, 21, 25, false) == GPB_ZONE_NONE &&
		between(10, 20, true, false, 0, 9, false) == GPB_ZONE_NONE &&
		between(GPB_INT64_MAX, GPB_INT64_MIN, false, true, 0, 9, false) == GPB_ZONE_NONE;
	bool		floats = between(order(-0.0), order(2), true, false, order(0), order(9), true) ==
		GPB_ZONE_ALL &&
		between(order(1), order(NAN), true, false, order(0), order(INFINITY), true) ==
		GPB_ZONE_MIXED &&
		between(order(NAN), order(NAN), true, false, order(0), order(INFINITY), true) ==
		GPB_ZONE_NONE &&
		between(order(-INFINITY), order(-1), true, false, order(0), order(9), true) ==
		GPB_ZONE_NONE;

	plain_verdict(ok, "a column's bounds, and NULLs, decide");
	plain_verdict(floats, "bounds of float8 decide, with -0, infinities and NaN");
}

void
test_zones(void)
{
	int			verdicts[3] = {0, 0, 0};
	bool		ok = true;
	char		what[100];

	for (int op = GPB_OP_FILTER + 1; op < GPB_OPERATORS; op++)
	{
		ok = true;
		for (int round = 0; round < 3000; round++)
			ok &= check_bounds(op);
		snprintf(what, sizeof(what), "bounds of operator %d", op);
		plain_verdict(ok, what);
	}
	ok = true;
	for (int round = 0; round < 100000; round++)
		ok &= check_filter(verdicts);
	snprintf(what, sizeof(what), "filters: none passes %d zones, all %d, mixed %d",
			 verdicts[GPB_ZONE_NONE], verdicts[GPB_ZONE_ALL], verdicts[GPB_ZONE_MIXED]);
	plain_verdict(ok && verdicts[GPB_ZONE_NONE] > 10000 && verdicts[GPB_ZONE_ALL] > 10000, what);
	test_ranges();
}
