/*-------------------------------------------------------------------------
 *
 * partial_bytes.c
 *	  Numbers and exact sums as bytes of a partial state.
 *
 * Each has one form: whoever reads refuses any other, so that equal states are equal bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/partial/partial_internal.h"

void
gpb_partial_damaged(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid aggregate state: %s", what),
			 errdetail("States are what gpubtree_partial() and its like return, and what "
					   "gpubtree_merge() makes of them."),
			 errhint("Compute the state anew from its rows.")));
}

void
gpb_too_many_values(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("aggregate states have too many values")));
}

/* ---- bytes and words ---- */

void
gpb_put_count(StringInfo to, int64 count)
{
	uint64		rest = count;

	for (; rest >= 0x80; rest >>= 7)
		appendStringInfoCharMacro(to, (char) (rest | 0x80));
	appendStringInfoCharMacro(to, (char) rest);
}

int64
gpb_take_rest_of_count(GpbPartialReader *reader, uint8 byte)
{
	uint64		count = byte & 0x7F;

	for (int shift = 7; (byte & 0x80) != 0; shift += 7)
	{
		byte = gpb_take_byte(reader);
		/* nine bytes have the 63 bits of the greatest count */
		if (shift == 63 || byte == 0)
			gpb_partial_damaged("a number is not in its shortest form");
		count |= (uint64) (byte & 0x7F) << shift;
	}
	return (int64) count;
}

void
gpb_put_word(StringInfo to, int64 word)
{
	uint64		bytes = pg_hton64((uint64) word);

	appendBinaryStringInfo(to, (char *) &bytes, sizeof(bytes));
}

/* ---- exact sums ---- */

/*
 * What a sum begins with: which values that are not finite have a count, and whether finite ones
 * add up to anything but 0
 */
#define GPB_SUM_NANS				1
#define GPB_SUM_INFINITIES			2
#define GPB_SUM_MINUS_INFINITIES	4
#define GPB_SUM_FINITE				8

/*
 * A finite sum is an integer in two's complement, of limbs of 32 bits: its first limb that is not
 * 0, how many follow from there, and they, the lowest first.  The last bin keeps the sign and has
 * two.
 */
#define GPB_LIMBS	(GPB_FLOAT_BINS + 1)

/*
 * No sum of as many values as can be counted has bits beyond those of the last bin's lower limb:
 * values end in bin 65.  So bins never overflow, however many sums are merged.
 */
#define GPB_LIMBS_READ	GPB_FLOAT_BINS

/* The limbs that say all of a sum, [*first, end); returns end. */
static int
cut_sum(const uint32 *limb, int *first)
{
	int			end = GPB_LIMBS;

	for (*first = 0; *first < GPB_LIMBS && limb[*first] == 0; (*first)++)
		;
	/* a limb that repeats the sign bit of the one below it says nothing */
	while (end - 1 > *first && limb[end - 1] == (uint32) ((int32) limb[end - 2] >> 31))
		end--;
	return end;
}

void
gpb_put_float_sum(StringInfo to, GpbFloatSum *sum)
{
	uint32		limb[GPB_LIMBS];
	int			first;
	int			end;
	uint8		flags = 0;

	gpb_float_sum_normalize(sum);
	for (int i = 0; i < GPB_FLOAT_BINS; i++)
		limb[i] = (uint32) sum->bin[i];
	limb[GPB_LIMBS - 1] = (uint32) (sum->bin[GPB_FLOAT_BINS - 1] >> 32);
	end = cut_sum(limb, &first);
	flags |= sum->nans > 0 ? GPB_SUM_NANS : 0;
	flags |= sum->positive_infinities > 0 ? GPB_SUM_INFINITIES : 0;
	flags |= sum->negative_infinities > 0 ? GPB_SUM_MINUS_INFINITIES : 0;
	flags |= first < GPB_LIMBS ? GPB_SUM_FINITE : 0;
	appendStringInfoChar(to, (char) flags);
	if (sum->nans > 0)
		gpb_put_count(to, sum->nans);
	if (sum->positive_infinities > 0)
		gpb_put_count(to, sum->positive_infinities);
	if (sum->negative_infinities > 0)
		gpb_put_count(to, sum->negative_infinities);
	if (first == GPB_LIMBS)
		return;
	appendStringInfoChar(to, (char) first);
	appendStringInfoChar(to, (char) (end - first));
	for (int i = first; i < end; i++)
	{
		uint32		bytes = pg_hton32(limb[i]);

		appendBinaryStringInfo(to, (char *) &bytes, sizeof(bytes));
	}
}

/* Read the count of values that are not finite, if there are such; *left goes down by it. */
static int64
take_special(GpbPartialReader *reader, bool there, int64 *left)
{
	int64		count;

	if (!there)
		return 0;
	count = gpb_take_count(reader);
	if (count == 0 || count > *left)
		gpb_partial_damaged("a sum has more values than the state");
	*left -= count;
	return count;
}

/*
 * Add the limbs of a finite sum to n bins, of which the first has number "lowest".  Returns false,
 * with nothing added, if these are not all that it needs.
 */
static bool
take_limbs(GpbPartialReader *reader, int lowest, int n, int64 *bin)
{
	int			first = gpb_take_byte(reader);
	int			limbs = gpb_take_byte(reader);
	const uint8 *bytes = gpb_take_bytes(reader, sizeof(uint32) * limbs);
	uint32		limb = 0;
	uint32		below = 0;

	if (limbs == 0 || first + limbs > GPB_LIMBS_READ)
		gpb_partial_damaged("a sum is beyond all sums");
	if (first < lowest || first + limbs > lowest + n)
		return false;
	bin += first - lowest;
	for (int i = 0; i < limbs; i++)
	{
		below = limb;
		memcpy(&limb, bytes + sizeof(uint32) * i, sizeof(limb));
		limb = pg_ntoh32(limb);
		if (i == 0 && limb == 0)
			gpb_partial_damaged("a sum is not in its shortest form");
		/* the last one has the sign */
		bin[i] += i < limbs - 1 ? (int64) limb : (int64) (int32) limb;
	}
	if (limbs > 1 && limb == (uint32) ((int32) below >> 31))
		gpb_partial_damaged("a sum is not in its shortest form");
	return true;
}

/*
 * "count" is the number of values of which it is the sum.  A narrow sum, which does not say when it
 * is to be normalized, has room for 2^31 sums that it holds.
 */
bool
gpb_take_exact_sum(GpbPartialReader *reader, int64 count, bool narrow, int64 *into)
{
	uint8		flags = gpb_take_byte(reader);
	int64		left = count;
	GpbFloatSum *sum = (GpbFloatSum *) into;

	if (flags >= GPB_SUM_FINITE * 2)
		gpb_partial_damaged("a sum has unknown parts");
	if (narrow)
		return (flags & ~GPB_SUM_FINITE) == 0 &&
			(flags == 0 || take_limbs(reader, GPB_NARROW_FIRST, GPB_NARROW_BINS, into));
	sum->nans += take_special(reader, (flags & GPB_SUM_NANS) != 0, &left);
	sum->positive_infinities += take_special(reader, (flags & GPB_SUM_INFINITIES) != 0, &left);
	sum->negative_infinities += take_special(reader, (flags & GPB_SUM_MINUS_INFINITIES) != 0,
											 &left);
	if ((flags & GPB_SUM_FINITE) != 0)
		(void) take_limbs(reader, 0, GPB_FLOAT_BINS, sum->bin);
	if (++sum->pending >= (int64) 1 << 30)
		gpb_float_sum_normalize(sum);
	return true;
}
