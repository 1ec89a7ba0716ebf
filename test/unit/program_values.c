/*-------------------------------------------------------------------------
 *
 * program_values.c
 *	  Random values for the tests of programs.
 *
 *-------------------------------------------------------------------------
 */
#include "program_tests.h"

static uint64 state;

/* The same seed leads to the same values. */
void
seed_random(uint64 seed)
{
	state = seed * 2 + 1;
}

/* xorshift64* */
uint64
next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545F4914F6CDD1DUL;
}

/* In [0, n) */
int
below(int n)
{
	return (int) (next_random() % (uint64) n);
}

bool		held_floats;

/* Zeros, values of all sizes that a narrow sum holds, and those at the ends of these */
static int64
held_float(void)
{
	int64		sign = below(2) ? GPB_INT64_MIN : 0;
	int64		mantissa = (int64) (next_random() >> 12);
	int64		exponent = 1023 - 126 + below(126 + 66);

	if (below(10) == 0)
		return sign;
	if (below(10) == 0)
		mantissa = below(2) ? 0 : ((int64) 1 << 52) - 1;
	if (below(3) > 0)
		exponent = 1023 + below(20) - 10;	/* whose squares are held too */
	return sign | exponent << 52 | mantissa;
}

int64
random_word(Sort sort)
{
	static const int64 integers[] = {
		0, 1, -1, 2, -2, 7, 10, 1000, INT16_MAX, INT16_MIN, INT16_MAX + 1, INT16_MIN - 1,
		INT32_MAX, INT32_MIN, (int64) INT32_MAX + 1, (int64) INT32_MIN - 1, GPB_INT64_MAX,
		GPB_INT64_MIN, GPB_INT64_MAX - 1, GPB_INT64_MIN + 1, 3037000499, 3037000500
	};
	static const double floats[] = {
		0, -0.0, 1, -1, 0.5, 1.5, 2.5, -0.5, -1.5, 1e308, -1e308, 1.7976931348623157e308, 5e-324,
		2.2250738585072014e-308, 9223372036854775807.0, -9223372036854775808.0, 1e-200, 1e200,
		INFINITY, -INFINITY, NAN
	};
	static const int64 dates[] = {
		INT32_MIN, INT32_MAX, GPB_DATE_LEAST, GPB_DATE_END - 1, GPB_TIMESTAMP_END_DAY,
		GPB_TIMESTAMP_END_DAY - 1, 0, -1, 1, 59, 60, -730425
	};
	static const int64 timestamps[] = {
		GPB_INT64_MIN, GPB_INT64_MAX, GPB_TIMESTAMP_LEAST, GPB_TIMESTAMP_END - 1, 0, -1, DAY,
		-DAY, DAY - 1, 59 * DAY, 60 * DAY, 365 * DAY, 366 * DAY
	};
	static const int months[] = {1, 3, 12, 12, 120, 1200, GPB_MOST_MONTHS, GPB_MOST_MONTHS + 1, 0};
	int64		word = (int64) next_random();

	switch (sort)
	{
		case BOOLEAN:
			return below(2);
		case INTEGER:
			return below(3) == 0 ? word : integers[below(LENGTH(integers))];
		case SMALL:
			return below(2001) - 1000;
		case FLOAT:
			if (held_floats)
				return held_float();
			return below(3) == 0 ? word : gpb_float_bits(floats[below(LENGTH(floats))]);
		case DATE:
			return below(3) > 0 ? dates[below(LENGTH(dates))] :
				GPB_DATE_LEAST + (int64) (next_random() % (uint64) (GPB_DATE_END - GPB_DATE_LEAST));
		case TIMESTAMP:
			return below(3) == 0 ? timestamps[below(LENGTH(timestamps))] :
				(int64) ((uint64) GPB_TIMESTAMP_LEAST + next_random() %
						 ((uint64) GPB_TIMESTAMP_END - (uint64) GPB_TIMESTAMP_LEAST));
		case MONTH:
			return below(4) == 0 ? -4999 * 12 + below(3) - 1 :
				below(4) == 0 ? 5874898 * (int64) 12 - below(3) : below(60000000) - 60000;
		case UNIT:
			return below(4) == 0 ? random_word(INTEGER) : 1 + below(1000000000);
		case MOMENT:
			return below(10) == 0 ? random_word(TIMESTAMP) :
				(below(14) - 2) * 50000 * SECOND + (below(5) - 2) * 1800 * SECOND + below(3) - 1;
		case SOME_MONTHS:
			return below(10) == 0 ? random_word(INTEGER) : below(600) - 300;
		default:
			return months[below(LENGTH(months))];
	}
}

/* What operand number i of an operator is */
Sort
operand_sort(int op, int i)
{
	switch (op)
	{
		case GPB_OP_AND:
		case GPB_OP_OR:
		case GPB_OP_NOT:
		case GPB_OP_IS_TRUE:
			return BOOLEAN;
		case GPB_OP_SELECT:
			return i == 0 ? BOOLEAN : INTEGER;
		case GPB_OP_FLOAT_ORDER:
		case GPB_OP_FLOAT_ADD:
		case GPB_OP_FLOAT_SUBTRACT:
		case GPB_OP_FLOAT_MULTIPLY:
		case GPB_OP_FLOAT_PRODUCT_REST:
		case GPB_OP_FLOAT_DIVIDE:
		case GPB_OP_FLOAT_NEGATE:
		case GPB_OP_FLOAT_ABS:
		case GPB_OP_FLOAT_LEAST:
		case GPB_OP_FLOAT_GREATEST:
		case GPB_OP_FLOAT_TO_INT:
			return FLOAT;
		case GPB_OP_DATE_TO_TIMESTAMP:
		case GPB_OP_DATE_SUBTRACT:
			return DATE;
		case GPB_OP_DATE_ADD:
			return i == 0 ? DATE : SMALL;
		case GPB_OP_TIMESTAMP_TO_DATE:
			return TIMESTAMP;
		case GPB_OP_TIMESTAMP_ADD:
			return i == 0 ? TIMESTAMP : INTEGER;
		case GPB_OP_TRUNCATE:
			return i == 0 ? (below(2) ? INTEGER : TIMESTAMP) : i == 1 ? UNIT : SMALL;
		case GPB_OP_FLOOR_DIVIDE:
			return i == 0 ? INTEGER : UNIT;
		case GPB_OP_DATE_TO_MONTH:
			return DATE;
		case GPB_OP_MONTH_TO_DATE:
			return below(4) == 0 ? INTEGER : MONTH;
		case GPB_OP_TRUNCATE_MONTHS:
			return i == 0 ? TIMESTAMP : MONTHS;
		case GPB_OP_ADD_MONTHS:
			return i == 0 ? TIMESTAMP : SOME_MONTHS;
		case GPB_OP_TO_LOCAL:
		case GPB_OP_OF_LOCAL:
			return MOMENT;
		default:
			return INTEGER;
	}
}
