/*-------------------------------------------------------------------------
 *
 * program_operators.h
 *	  The operators of a program (program.h), one a row: all that there is to say of each.
 *
 * Included wherever something is to be made of each row, with GPB_OPERATOR defined, which is
 * undefined at the end:
 *
 *		GPB_OPERATOR(name, operands, kind, range, does)
 *
 * A new operator is a row here and, if one expression does not say what it does, a function in
 * program_steps.h.  Plans have operators by number, but nothing keeps plans: rows may come in any
 * order, which is that of the branches of kernels.
 *
 * name: GPB_OP_name is the operator.
 *
 * operands: how many slots the operator has, which are a, b, c in this order.
 *
 * kind: what "does" is an expression of, and of what.
 *
 *		FILTER			nothing: the operator has no result
 *		NULLS			the result, a GpbValue, of the GpbValues a, b, c
 *		VALUES			the result, a word, of the words a, b, c; it is NULL if an operand is
 *		FAULTS			likewise, but it puts the result at *result, and is true if it faults
 *		TABLE			as VALUES, of the step's table besides, which has n words, and whose number
 *						is the step's b
 *		FAULTS_TABLE	as FAULTS, of the step's table besides
 *		LONG_TABLE		as TABLE, where the table may be a long one (GpbTables)
 *
 * range: which words the result may be whatever the operands are: those of a boolean or an int4, or
 * any word; and float8 if that is one (program_zone.c).
 *
 * "Fault" stands for an error of core's operator.
 *
 *-------------------------------------------------------------------------
 */

GPB_OPERATOR(FILTER, 1, FILTER, boolean, 0)	/* drop the entry unless a is true; no result */

/* booleans */
GPB_OPERATOR(AND, 2, NULLS, boolean, gpb_and(a, b)) /* of three-valued logic, and so the next two */
GPB_OPERATOR(OR, 2, NULLS, boolean, gpb_or(a, b))
GPB_OPERATOR(NOT, 1, VALUES, boolean, a == 0)
GPB_OPERATOR(IS_NULL, 1, NULLS, boolean, gpb_boolean(a.is_null))	/* never NULL */
GPB_OPERATOR(IS_TRUE, 1, NULLS, boolean, gpb_boolean(gpb_is_true(a)))	/* never NULL */

/* comparisons of integers, and of what GPB_OP_FLOAT_ORDER gave */
GPB_OPERATOR(EQ, 2, VALUES, boolean, a == b)
GPB_OPERATOR(NE, 2, VALUES, boolean, a != b)
GPB_OPERATOR(LT, 2, VALUES, boolean, a < b)
GPB_OPERATOR(LE, 2, VALUES, boolean, a <= b)
GPB_OPERATOR(GT, 2, VALUES, boolean, a > b)
GPB_OPERATOR(GE, 2, VALUES, boolean, a >= b)
GPB_OPERATOR(DISTINCT, 2, NULLS, boolean, gpb_boolean(gpb_are_distinct(a, b)))	/* never NULL */

/* a in a table: among words, which ascend; in a set of codes; below its rank */
GPB_OPERATOR(IN, 1, TABLE, boolean, gpb_is_among(table, n, a))
GPB_OPERATOR(IN_CODES, 1, LONG_TABLE, boolean, gpb_is_among_codes(table, n, a))
GPB_OPERATOR(RANKED, 1, LONG_TABLE, word, gpb_ranked_code(table, n, a))

/* choices, of any values; the last two of integers, and NULL only if both are */
GPB_OPERATOR(SELECT, 3, NULLS, word, gpb_is_true(a) ? b : c)
GPB_OPERATOR(COALESCE, 2, NULLS, word, a.is_null ? b : a)
GPB_OPERATOR(LEAST, 2, NULLS, word, b.is_null || (!a.is_null && a.word <= b.word) ? a : b)
GPB_OPERATOR(GREATEST, 2, NULLS, word, b.is_null || (!a.is_null && a.word >= b.word) ? a : b)

/* integers; a fault if the result does not fit 64 bits, or b is 0 */
GPB_OPERATOR(ADD, 2, FAULTS, word, gpb_int64_add(a, b, result))
GPB_OPERATOR(SUBTRACT, 2, FAULTS, word, gpb_int64_subtract(a, b, result))
GPB_OPERATOR(MULTIPLY, 2, FAULTS, word, gpb_int64_multiply(a, b, result))
GPB_OPERATOR(DIVIDE, 2, FAULTS, word, gpb_int64_divide(a, b, result))
GPB_OPERATOR(MODULO, 2, FAULTS, word, gpb_int64_modulo(a, b, result))
GPB_OPERATOR(NEGATE, 1, FAULTS, word, gpb_int64_subtract(0, a, result))
GPB_OPERATOR(ABS, 1, FAULTS, word, gpb_int64_abs(a, result))
GPB_OPERATOR(TO_INT2, 1, FAULTS, word, gpb_to_int2(a, result))	/* a, if it fits 16 bits */
GPB_OPERATOR(TO_INT4, 1, FAULTS, word, gpb_to_int4(a, result))	/* a, if it fits 32 bits */

/*
 * Integers of 128 bits, by halves that are as gpb_key_half() has them: the upper one, and the low
 * word less 2^63.  LOWER_ADD has a carry if its result is below a, and LOWER_SUBTRACT a borrow if a
 * is below b.  No upper half but NaN's is the greatest word, so those of it fault where an
 * operand is that, and where the result is that or does not fit.
 */
GPB_OPERATOR(LOWER_ADD, 2, VALUES, word, gpb_lower_add(a, b))
GPB_OPERATOR(LOWER_SUBTRACT, 2, VALUES, word, gpb_lower_subtract(a, b))
/* The lower half of low word a times integer b, and the upper one */
GPB_OPERATOR(LOWER_MULTIPLY, 2, VALUES, word, gpb_lower_multiply(a, b))
GPB_OPERATOR(LOWER_CARRY, 2, VALUES, word, gpb_lower_carry(a, b))
/* Of upper halves: a + b and a carry c; a - b - c; a times integer b, and a carry c */
GPB_OPERATOR(UPPER_ADD, 3, FAULTS, word, gpb_upper_add(a, b, c, result))
GPB_OPERATOR(UPPER_SUBTRACT, 3, FAULTS, word, gpb_upper_subtract(a, b, c, result))
GPB_OPERATOR(UPPER_MULTIPLY, 3, FAULTS, word, gpb_upper_multiply(a, b, c, result))

/* float8; faults are core's: overflow, underflow, division by zero */
GPB_OPERATOR(FLOAT_ORDER, 1, VALUES, word, gpb_float_order(a))	/* an integer of the same order */
GPB_OPERATOR(FLOAT_ADD, 2, FAULTS, float8,
			 gpb_float_add(gpb_float_value(a), gpb_float_value(b), result))
GPB_OPERATOR(FLOAT_SUBTRACT, 2, FAULTS, float8,
			 gpb_float_subtract(gpb_float_value(a), gpb_float_value(b), result))
GPB_OPERATOR(FLOAT_MULTIPLY, 2, FAULTS, float8,
			 gpb_float_multiply(gpb_float_value(a), gpb_float_value(b), result))
/* The exact product of a and b, less the rounded one; 0 where that is not finite.  Never faults. */
GPB_OPERATOR(FLOAT_PRODUCT_REST, 2, VALUES, float8,
			 gpb_float_product_rest(gpb_float_value(a), gpb_float_value(b)))
GPB_OPERATOR(FLOAT_DIVIDE, 2, FAULTS, float8,
			 gpb_float_divide(gpb_float_value(a), gpb_float_value(b), result))
GPB_OPERATOR(FLOAT_NEGATE, 1, VALUES, float8, a ^ GPB_INT64_MIN)
GPB_OPERATOR(FLOAT_ABS, 1, VALUES, float8, a & GPB_INT64_MAX)
/* In the order of float8; NULL only if both are. */
GPB_OPERATOR(FLOAT_LEAST, 2, NULLS, float8,
			 b.is_null ||
			 (!a.is_null && gpb_float_order(a.word) <= gpb_float_order(b.word)) ? a : b)
GPB_OPERATOR(FLOAT_GREATEST, 2, NULLS, float8,
			 b.is_null ||
			 (!a.is_null && gpb_float_order(a.word) >= gpb_float_order(b.word)) ? a : b)
GPB_OPERATOR(INT_TO_FLOAT, 1, VALUES, float8, gpb_float_bits((double) a))
/* Rounded to nearest, ties to even; a fault if it does not fit 64 bits. */
GPB_OPERATOR(FLOAT_TO_INT, 1, FAULTS, word, gpb_float_to_int64(gpb_float_value(a), result))

/*
 * Dates count days, timestamps microseconds, from 2000-01-01.  The least and the greatest word of a
 * date (32 bits) or timestamp (64 bits) are -infinity and infinity.
 */
/* A fault beyond the range of timestamps. */
GPB_OPERATOR(DATE_TO_TIMESTAMP, 1, FAULTS, word, gpb_date_to_timestamp(a, result))
GPB_OPERATOR(TIMESTAMP_TO_DATE, 1, VALUES, int4, gpb_timestamp_to_date(a))
/* Date a + b days; an infinite date stays; a fault out of range. */
GPB_OPERATOR(DATE_ADD, 2, FAULTS, int4, gpb_date_add(a, b, result))
/* Date a - date b, in days; a fault if one is infinite. */
GPB_OPERATOR(DATE_SUBTRACT, 2, FAULTS, int4, gpb_date_subtract(a, b, result))
/* Timestamp a + b microseconds; an infinite one stays; a fault out of range. */
GPB_OPERATOR(TIMESTAMP_ADD, 2, FAULTS, word, gpb_timestamp_add(a, b, result))
/*
 * The greatest c + n * b that is not above a, for an integer n; b > 0.  An infinite timestamp
 * stays.  A fault if it does not fit 64 bits.
 */
GPB_OPERATOR(TRUNCATE, 3, FAULTS, word, gpb_timestamp_truncate(a, b, c, result))
/* The greatest integer that is not above a / b; b > 0. */
GPB_OPERATOR(FLOOR_DIVIDE, 2, FAULTS, word, gpb_int64_floor_divide(a, b, result))
/* The calendar month of date a, counted from January of year 0; a fault unless it is finite. */
GPB_OPERATOR(DATE_TO_MONTH, 1, FAULTS, word, gpb_date_to_month(a, result))
/* The first day of such a month; a fault before 5000 BC, and beyond the range of dates. */
GPB_OPERATOR(MONTH_TO_DATE, 1, FAULTS, word, gpb_month_to_date(a, result))
/*
 * The first microsecond of the calendar months of timestamp a whose number since year 0 is a
 * multiple of b: 1, 3, 12.  An infinite timestamp stays.  A fault if it is out of range.
 */
GPB_OPERATOR(TRUNCATE_MONTHS, 2, FAULTS, word, gpb_truncate_months(a, b, result))
/*
 * Timestamp a on the same day of the calendar, b months later, or on the last of that month;
 * otherwise as TIMESTAMP_ADD.
 */
GPB_OPERATOR(ADD_MONTHS, 2, FAULTS, word, gpb_add_months(a, b, result))
/*
 * A timestamptz as a timestamp of a zone, whose offsets the table has (gpb_zone_word()); otherwise
 * as TIMESTAMP_ADD, and a fault where the table does not reach.
 */
GPB_OPERATOR(TO_LOCAL, 1, FAULTS_TABLE, word, gpb_to_local(a, table, n, result))
/* The reverse; of a time that a zone has twice, or skips, what DetermineTimeZoneOffset() says. */
GPB_OPERATOR(OF_LOCAL, 1, FAULTS_TABLE, word, gpb_of_local(a, table, n, result))

#undef GPB_OPERATOR
