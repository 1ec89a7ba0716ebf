/*-------------------------------------------------------------------------
 *
 * partial_numerics.c
 *	  Partial states of sums of numerics.
 *
 * Core's sums of numerics are exact already.  A sum is shown with as many digits behind the point
 * as the value that has most, and so is kept; of equal values the bounds are the one with most.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"

#include "exec/partial/partial_internal.h"
#include "page/numeric_core.h"

void
gpb_numerics_new(GpbPartial *partial)
{
	partial->numerics = palloc0(sizeof(GpbPartialNumerics));
}

/* ---- numerics ---- */

static Numeric
copy_of(Numeric value)
{
	Numeric		copy = palloc(VARSIZE_ANY(value));

	memcpy(copy, value, VARSIZE_ANY(value));
	return copy;
}

/* Add to a sum that may be NULL, which is 0 then. */
static void
add_to(Numeric *sum, Numeric value)
{
	Numeric		before = *sum;

	if (before == NULL)
	{
		*sum = copy_of(value);
		return;
	}
	*sum = gpb_numeric_of(numeric_add, before, value);
	pfree(before);
}

/* Take a value into a bound that may be NULL; sign is 1 for the greatest, -1 for the least. */
static void
take_bound(Numeric *bound, Numeric value, int sign)
{
	int			order = *bound == NULL ? 1 : gpb_numeric_compare(value, *bound) * sign;

	if (order < 0 || (order == 0 && (numeric_is_nan(value) || numeric_is_inf(value) ||
									 gpb_numeric_scale(value) <= gpb_numeric_scale(*bound))))
		return;
	if (*bound != NULL)
		pfree(*bound);
	*bound = copy_of(value);
}

/* Forget sums where a value is not finite. */
static void
forget_sums(GpbPartialNumerics *numerics)
{
	if (!numerics->nan && !numerics->infinity && !numerics->minus_infinity)
		return;
	if (numerics->sum != NULL)
		pfree(numerics->sum);
	if (numerics->squares != NULL)
		pfree(numerics->squares);
	numerics->sum = numerics->squares = NULL;
}

static bool
is_minus_infinity(Numeric value)
{
	return numeric_is_inf(value) && gpb_numeric_compare(value, int64_to_numeric(0)) < 0;
}

void
gpb_partial_add_numerics(GpbPartial *partial, Numeric value, int64 count)
{
	GpbPartialNumerics some = {.count = count};

	some.least = some.greatest = value;
	if (numeric_is_nan(value))
		some.nan = true;
	else if (numeric_is_inf(value))
		*(is_minus_infinity(value) ? &some.minus_infinity : &some.infinity) = true;
	else
		some.sum = count == 1 ? value :
			gpb_numeric_of(numeric_mul, value, int64_to_numeric(count));
	if (some.sum != NULL && partial->kind == GPB_PARTIAL_OF_MOMENTS)
		some.squares = gpb_numeric_of(numeric_mul, some.sum, value);
	gpb_partial_take_numerics(partial, &some);
	if (some.squares != NULL)
		pfree(some.squares);
	if (some.sum != NULL && some.sum != value)
		pfree(some.sum);
}

/* "from" may be of any memory. */
void
gpb_partial_take_numerics(GpbPartial *into, const GpbPartialNumerics *from)
{
	GpbPartialNumerics *numerics = into->numerics;
	MemoryContext caller = MemoryContextSwitchTo(into->context);

	numerics->count = gpb_add_counts(numerics->count, from->count);
	numerics->nan |= from->nan;
	numerics->infinity |= from->infinity;
	numerics->minus_infinity |= from->minus_infinity;
	take_bound(&numerics->least, from->least, -1);
	take_bound(&numerics->greatest, from->greatest, 1);
	if (from->sum != NULL)
		add_to(&numerics->sum, from->sum);
	if (from->squares != NULL)
		add_to(&numerics->squares, from->squares);
	forget_sums(numerics);
	MemoryContextSwitchTo(caller);
}

/* ---- bytes ---- */

/* Which values that are not finite there are; without such, sums follow the bounds. */
#define GPB_NUMERIC_HAS_NAN				1
#define GPB_NUMERIC_HAS_INFINITY		2
#define GPB_NUMERIC_HAS_MINUS_INFINITY	4

void
gpb_numerics_put(StringInfo to, GpbPartial *partial)
{
	const GpbPartialNumerics *numerics = partial->numerics;
	int			flags = (numerics->nan ? GPB_NUMERIC_HAS_NAN : 0) |
		(numerics->infinity ? GPB_NUMERIC_HAS_INFINITY : 0) |
		(numerics->minus_infinity ? GPB_NUMERIC_HAS_MINUS_INFINITY : 0);

	gpb_put_count(to, numerics->count);
	appendStringInfoChar(to, (char) flags);
	gpb_put_numeric(to, numerics->least);
	gpb_put_numeric(to, numerics->greatest);
	if (flags != 0)
		return;
	gpb_put_numeric(to, numerics->sum);
	if (partial->kind == GPB_PARTIAL_OF_MOMENTS)
		gpb_put_numeric(to, numerics->squares);
}

/* Do the bounds say the same of values that are not finite? */
static bool
bounds_agree(const GpbPartialNumerics *numerics)
{
	Numeric		least = numerics->least;
	Numeric		greatest = numerics->greatest;
	bool		is_infinite = numeric_is_inf(greatest) && !is_minus_infinity(greatest);

	/* between -Infinity and NaN there may be an infinity that is no bound */
	return gpb_numeric_compare(least, greatest) <= 0 && numerics->nan == numeric_is_nan(greatest) &&
		numerics->minus_infinity == is_minus_infinity(least) &&
		(numerics->nan ? numerics->infinity || !numeric_is_inf(least) || is_minus_infinity(least) :
		 numerics->infinity == is_infinite);
}

/* Take the sums of finite values. */
static void
take_sums(GpbPartialReader *reader, const GpbPartial *partial, GpbPartialNumerics *numerics)
{
	numerics->sum = gpb_take_numeric(reader);
	if (partial->kind == GPB_PARTIAL_OF_MOMENTS)
		numerics->squares = gpb_take_numeric(reader);
	if (numeric_is_nan(numerics->sum) || numeric_is_inf(numerics->sum) ||
		(numerics->squares != NULL &&
		 (numeric_is_nan(numerics->squares) || numeric_is_inf(numerics->squares) ||
		  gpb_numeric_compare(numerics->squares, int64_to_numeric(0)) < 0)))
		gpb_partial_damaged("its sums are none of finite values");
}

void
gpb_numerics_take(GpbPartialReader *reader, GpbPartial *partial)
{
	GpbPartialNumerics numerics = {.count = gpb_take_count(reader)};
	int			flags = gpb_take_byte(reader);

	if (numerics.count == 0)
		gpb_partial_damaged("it has no values");
	if (flags >= GPB_NUMERIC_HAS_MINUS_INFINITY * 2)
		gpb_partial_damaged("it has unknown parts");
	numerics.nan = (flags & GPB_NUMERIC_HAS_NAN) != 0;
	numerics.infinity = (flags & GPB_NUMERIC_HAS_INFINITY) != 0;
	numerics.minus_infinity = (flags & GPB_NUMERIC_HAS_MINUS_INFINITY) != 0;
	numerics.least = gpb_take_numeric(reader);
	numerics.greatest = gpb_take_numeric(reader);
	if (!bounds_agree(&numerics))
		gpb_partial_damaged("its bounds contradict its values");
	if (flags == 0)
		take_sums(reader, partial, &numerics);
	gpb_partial_take_numerics(partial, &numerics);
}
