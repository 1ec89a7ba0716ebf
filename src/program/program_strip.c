/*-------------------------------------------------------------------------
 *
 * program_strip.c
 *	  Steps of a program over a strip of entries: AVX2, plain C.
 *
 * Each loop is written once, as a function that is inlined, and compiled in both forms.  No branch
 * depends on a value, but for operators that cannot do without.
 *
 *-------------------------------------------------------------------------
 */
/* The loops are worth the compiler's vectorizer at its fullest, which -O2 does not ask for. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("O3")
#define GPB_NO_DEPENDENCIES _Pragma("GCC ivdep")
#else
#define GPB_NO_DEPENDENCIES
#endif

#include "cpu_form.h"
#include "program/answer.h"
#include "program/program_strip.h"

/* The operands of a step and its result, as arrays */
typedef struct GpbStripStep
{
	const int64 *a;				/* an operand that the step does not have is zeros */
	const int64 *b;
	const int64 *c;
	const int64 *table;			/* the step's, of ntable words */
	int			ntable;
	int64	   *into;
	int			n;

	/* The rest is read only where there are NULLs or a guard. */
	const uint8 *a_nulls;		/* zeros if the operand has none */
	const uint8 *b_nulls;
	const uint8 *c_nulls;
	const int64 *guard;			/* not 0: the step may fault; NULL if there is no guard */
	uint8	   *nulls;			/* of the result */
	bool		has_nulls;		/* set: has the result any? */
} GpbStripStep;

static const int64 no_words[GPB_STRIP];
static const uint8 no_nulls[GPB_STRIP];

/* One set of the loops below, in a form */
typedef struct GpbStripLoops
{
	bool		(*values) (int op, const GpbStripStep *step);
	bool		(*nulls) (int op, GpbStripStep *step);
	int			(*truths) (const int64 *words, int n, uint8 *keep);
	void		(*sum) (const int64 *words, const int64 *mask, int n, uint64 *low, int64 *high);
	void		(*bounds) (const int64 *words, const int64 *mask, int n, bool floats, int64 *min,
						   int64 *max);
	bool		(*narrow_squares) (const int64 *words, const int64 *mask, int n, uint64 *sum);
	void		(*bits) (const int64 *words, const int64 *mask, int n, int64 *bits);
	bool		(*cut) (const int64 *words, const int64 *mask, int n, GpbStripPieces *pieces);
	bool		(*same) (const int64 *words, int n);
} GpbStripLoops;

/* ---- steps ---- */

/* Do a step whose operands have no NULLs and that has no guard.  Returns whether it faulted. */
GPB_FN bool
step_values(int op, const GpbStripStep *step)
{
	const int64 *a = step->a;
	const int64 *b = step->b;
	const int64 *c = step->c;
	int64	   *into = step->into;
	int			n = step->n;
	uint64		faults = 0;
	int			i;

	/* The result may lie where an operand does, element by element. */
	GPB_NO_DEPENDENCIES
	for (i = 0; i < n; i++)
	{
		int64		word;

		if (gpb_operator_takes_nulls(op))
		{
			GpbValue	x = {a[i], false};
			GpbValue	y = {b[i], false};
			GpbValue	z = {c[i], false};

			word = gpb_step_of_nulls(op, x, y, z).word;
		}
		else
			faults |= (uint64) gpb_step_of_values(op, a[i], b[i], c[i], step->table, step->ntable,
												  &word);
		into[i] = word;
	}
	return faults != 0;
}

/* Do a step whose operands may be NULL, or that has a guard.  Returns whether it faulted. */
GPB_FN bool
step_nulls(int op, GpbStripStep *step)
{
	/* A byte that is stored might, for all that the compiler knows, be one of *step. */
	const GpbStripStep from = *step;
	uint8		any_null = 0;
	bool		faults = false;
	int			i;

	for (i = 0; i < from.n; i++)
	{
		GpbValue	a = {from.a[i], from.a_nulls[i] != 0};
		GpbValue	b = {from.b[i], from.b_nulls[i] != 0};
		GpbValue	c = {from.c[i], from.c_nulls[i] != 0};
		GpbValue	result;

		if (gpb_operator_takes_nulls(op))
			result = gpb_step_of_nulls(op, a, b, c);
		else
		{
			bool		fault = gpb_step_of_values(op, a.word, b.word, c.word, from.table,
												   from.ntable, &result.word);

			result.is_null = a.is_null | b.is_null | c.is_null;
			fault &= !result.is_null;
			faults |= fault & (from.guard == NULL || from.guard[i] != 0);
			/* What no fault may come of must not overflow in a later step. */
			if (fault)
				result.word = 0;
		}
		from.into[i] = result.is_null ? 0 : result.word;
		from.nulls[i] = result.is_null;
		any_null |= result.is_null;
	}
	step->has_nulls = any_null != 0;
	return faults;
}

/* Every operator but GPB_OP_FILTER is a constant of a loop of its own. */
GPB_FN bool
any_step_values(int op, const GpbStripStep *step)
{
	switch (op)
	{
#define GPB_OPERATOR(name, operands, kind, range, does) \
		case GPB_OP_##name: \
			return GPB_OPERATOR_##kind == GPB_OPERATOR_FILTER || step_values(GPB_OP_##name, step);
#include "program/program_operators.h"
		default:
			return true;
	}
}

GPB_FN bool
any_step_nulls(int op, GpbStripStep *step)
{
	switch (op)
	{
#define GPB_OPERATOR(name, operands, kind, range, does) \
		case GPB_OP_##name: \
			return GPB_OPERATOR_##kind == GPB_OPERATOR_FILTER || step_nulls(GPB_OP_##name, step);
#include "program/program_operators.h"
		default:
			return true;
	}
}

/* ---- other loops ---- */

GPB_FN int
truths(const int64 *words, int n, uint8 *keep)
{
	int			sum = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		uint8		kept = words[i] != 0;

		keep[i] = kept;
		sum += kept;
	}
	return sum;
}

/*
 * The halves of at most GPB_STRIP words, taken as unsigned, and the number of negative words are
 * summed apart, so that no sum overflows.
 */
GPB_FN void
sum_words(const int64 *words, const int64 *mask, bool masked, int n, uint64 *low, int64 *high)
{
	uint64		lower = 0;
	uint64		upper = 0;
	uint64		negative = 0;
	uint64		sum;
	uint64		before = *low;
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64		word = (uint64) (masked ? words[i] & mask[i] : words[i]);

		lower += word & 0xFFFFFFFF;
		upper += word >> 32;
		negative += word >> 63;
	}
	sum = lower + (upper << 32);
	*high += (int64) ((upper >> 32) + (sum < lower)) - (int64) negative;
	*low += sum;
	*high += *low < before;
}

GPB_FN void
bound_words(const int64 *words, const int64 *mask, bool masked, int n, bool floats, int64 *min,
			int64 *max)
{
	int64		least = *min;
	int64		greatest = *max;
	int			i;

	for (i = 0; i < n; i++)
	{
		int64		word = floats ? gpb_float_order(words[i]) : words[i];
		int64		low = masked && mask[i] == 0 ? GPB_INT64_MAX : word;
		int64		high = masked && mask[i] == 0 ? GPB_INT64_MIN : word;

		least = low < least ? low : least;
		greatest = high > greatest ? high : greatest;
	}
	*min = least;
	*max = greatest;
}

/*
 * Sum the squares of words in [-2^27, 2^27), whose sum fits 64 bits.  Returns false if there is any
 * other word.
 */
GPB_FN bool
square_narrow_words(const int64 *words, const int64 *mask, bool masked, int n, uint64 *sum)
{
	uint64		squares = 0;
	uint64		wide = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		int64		word = masked ? words[i] & mask[i] : words[i];
		int64		narrow = (int32) word;

		wide |= (uint64) word + ((uint64) 1 << 27);
		squares += (uint64) (narrow * narrow);
	}
	*sum = squares;
	return wide >> 28 == 0;
}

GPB_FN void
combine_words(const int64 *words, const int64 *mask, bool masked, int n, int64 *bits)
{
	int64		all = bits[0];
	int64		any = bits[1];
	int64		odd = bits[2];
	int			i;

	for (i = 0; i < n; i++)
	{
		int64		use = masked ? mask[i] : -1;

		all &= words[i] | ~use;
		any |= words[i] & use;
		odd ^= words[i] & use;
	}
	bits[0] = all;
	bits[1] = any;
	bits[2] = odd;
}

/* As gpb_float_cut() does, in words of 64 bits throughout */
GPB_FN bool
cut_words(const int64 *words, const int64 *mask, bool masked, int n, GpbStripPieces *pieces)
{
	uint64		special = 0;
	int			i;

	GPB_NO_DEPENDENCIES
	for (i = 0; i < n; i++)
	{
		uint64		word = (uint64) (masked ? words[i] & mask[i] : words[i]);
		uint64		exponent = word >> 52 & 0x7FF;
		uint64		normal = (exponent + 0x7FF) >> 11;	/* 1 if the exponent is not 0 */
		uint64		mantissa = (word & (((uint64) 1 << 52) - 1)) | normal << 52;
		uint64		place = exponent - normal;
		uint64		shift = place & 31;
		uint64		low = mantissa << shift;
		uint64		high = mantissa >> 1 >> (63 - shift);
		uint64		sign = 0 - (word >> 63);

		special |= exponent + 1;
		pieces->first[i] = (int64) (place >> 5);
		pieces->piece[0][i] = (int64) (((low & 0xFFFFFFFF) ^ sign) - sign);
		pieces->piece[1][i] = (int64) ((low >> 32 ^ sign) - sign);
		pieces->piece[2][i] = (int64) ((high ^ sign) - sign);
	}
	return special >> 11 == 0;
}

GPB_FN bool
same_words(const int64 *words, int n)
{
	int64		differing = 0;
	int			i;

	for (i = 0; i < n; i++)
		differing |= words[i] ^ words[0];
	return differing == 0;
}

/* ---- the forms ---- */

#define GPB_FORM(name) name ## _plain
#define GPB_FORM_TARGET
#include "program/program_strip_template.h"

#ifdef GPB_HAVE_X86_FORMS
#define GPB_FORM(name) name ## _avx2
#define GPB_FORM_TARGET GPB_TARGET_AVX2
#include "program/program_strip_template.h"
#endif

static const GpbStripLoops *const forms[GPB_CPU_FORMS] =
GPB_FORMS(&loops_plain, &loops_avx2, &loops_avx2);

static inline const GpbStripLoops *
loops(void)
{
	return forms[gpb_cpu_form];
}

/* ---- the interface ---- */

/* The words of an operand, and its NULLs; *any is set if it has some. */
static inline const int64 *
operand(const GpbStrip *strip, int slot, bool has, const uint8 **nulls, bool *any)
{
	const GpbStripSlot *from = &strip->slot[slot];

	*nulls = no_nulls;
	if (!has)
		return no_words;
	if (from->has_nulls)
	{
		*nulls = from->nulls;
		*any = true;
	}
	return from->words;
}

bool
gpb_strip_step(GpbStrip *strip, const GpbStep *step)
{
	int			operands = gpb_operands(step->op);
	GpbStripSlot *into = &strip->slot[step->into];
	bool		any_nulls = false;
	GpbStripStep args;

	args.a = operand(strip, step->a, true, &args.a_nulls, &any_nulls);
	args.b = operand(strip, step->b, operands > 1, &args.b_nulls, &any_nulls);
	args.c = operand(strip, step->c, operands > 2, &args.c_nulls, &any_nulls);
	args.table = gpb_step_table(&strip->program->tables, step, &args.ntable);
	args.into = into->words;
	args.n = strip->n;
	if (!any_nulls && (step->guard == GPB_NO_SLOT || !gpb_operator_can_fault(step->op)))
	{
		into->has_nulls = false;
		if (step->op == GPB_OP_IS_NULL)
		{
			memset(into->words, 0, strip->n * sizeof(int64));
			return true;
		}
		return !loops()->values(step->op, &args);
	}
	args.guard = step->guard == GPB_NO_SLOT ? NULL : strip->slot[step->guard].words;
	args.nulls = into->nulls;
	if (loops()->nulls(step->op, &args))
		return false;
	into->has_nulls = args.has_nulls;
	return true;
}

int
gpb_strip_truths(const int64 *words, int n, uint8 *keep)
{
	return loops()->truths(words, n, keep);
}

void
gpb_strip_compact_words(int64 *words, const uint8 *keep, int n)
{
	int			kept = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		words[kept] = words[i];
		kept += keep[i];
	}
}

void
gpb_strip_compact_bytes(uint8 *bytes, const uint8 *keep, int n)
{
	int			kept = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		bytes[kept] = bytes[i];
		kept += keep[i];
	}
}

void
gpb_strip_sum(const int64 *words, const int64 *mask, int n, uint64 *low, int64 *high)
{
	loops()->sum(words, mask, n, low, high);
}

void
gpb_strip_bounds(const int64 *words, const int64 *mask, int n, bool floats, int64 *min, int64 *max)
{
	loops()->bounds(words, mask, n, floats, min, max);
}

void
gpb_strip_squares(const int64 *words, const int64 *mask, int n, int64 *sum)
{
	uint64		low;
	int			i;

	if (loops()->narrow_squares(words, mask, n, &low))
	{
		gpb_answer_add_square(sum, low, 0);
		return;
	}
	for (i = 0; i < n; i++)
	{
		uint64		high;

		low = gpb_square(mask != NULL ? words[i] & mask[i] : words[i], &high);
		gpb_answer_add_square(sum, low, high);
	}
}

void
gpb_strip_bits(const int64 *words, const int64 *mask, int n, int64 *bits)
{
	loops()->bits(words, mask, n, bits);
}

bool
gpb_strip_cut(const int64 *words, const int64 *mask, int n, GpbStripPieces *pieces)
{
	return loops()->cut(words, mask, n, pieces);
}

bool
gpb_strip_same(const int64 *words, int n)
{
	return loops()->same(words, n);
}
