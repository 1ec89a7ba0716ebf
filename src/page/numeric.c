/*-------------------------------------------------------------------------
 *
 * numeric.c
 *	  Values of type numeric as integers, by the bytes in which core stores them.
 *
 * Going by core's functions would take several of them for each value.  The bytes are what tables
 * have on disk, which pg_upgrade keeps, so they stay as they are: a word with sign, scale and
 * weight, or two where the word has no room for them, and digits of base 10,000, the highest first,
 * of which the first counts 10,000^weight.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "fmgr.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"

#include "page/numeric.h"

/* The two highest bits of the first word */
#define KIND_MASK			0xC000
#define KIND_NEGATIVE		0x4000	/* of the long form; 0 is positive */
#define KIND_SHORT			0x8000
#define KIND_SPECIAL		0xC000

/* Special values, by the highest four bits */
#define SPECIAL_MASK		0xF000
#define SPECIAL_NAN			0xC000
#define SPECIAL_INFINITY	0xD000	/* 0xF000 is -infinity */

/* The rest of the first word: of the short form, and of the long one */
#define SHORT_NEGATIVE		0x2000
#define SHORT_SCALE_SHIFT	7
#define SHORT_SCALE_MASK	0x3F
#define SHORT_WEIGHT_SIGN	0x40
#define SHORT_WEIGHT_MASK	0x3F
#define LONG_SCALE_MASK		0x3FFF

#define DIGIT_BASE			10000

/* What the bytes of a value say */
typedef struct GpbNumericBytes
{
	uint16		special;		/* SPECIAL_*, or 0 for a number */
	bool		negative;
	int			scale;			/* digits behind the point that are displayed */
	int			weight;
	int			ndigits;
	const char *digits;			/* of 2 bytes each, at any alignment */
} GpbNumericBytes;

static const int64 powers_of_ten[GPB_NUMERIC_DIGITS + 1] = {
	INT64CONST(1), INT64CONST(10), INT64CONST(100), INT64CONST(1000), INT64CONST(10000),
	INT64CONST(100000), INT64CONST(1000000), INT64CONST(10000000), INT64CONST(100000000),
	INT64CONST(1000000000), INT64CONST(10000000000), INT64CONST(100000000000),
	INT64CONST(1000000000000), INT64CONST(10000000000000), INT64CONST(100000000000000),
	INT64CONST(1000000000000000), INT64CONST(10000000000000000),
	INT64CONST(100000000000000000), INT64CONST(1000000000000000000)
};

bool
gpb_numeric_typmod(int32 typmod, int *precision, int *scale)
{
	if (typmod < (int32) VARHDRSZ)
		return false;
	typmod -= VARHDRSZ;
	*precision = (typmod >> 16) & 0xFFFF;
	*scale = ((typmod & 0x7FF) ^ 1024) - 1024;
	return true;
}

/* ---- integers of fewer digits ---- */

/* Of n bits, 2^(n-1) is 10^digits + 2 at least. */
int
gpb_numeric_bits(int digits)
{
	return pg_leftmost_one_pos64((uint64) powers_of_ten[digits] + 1) + 2;
}

int
gpb_numeric_bits_digits(int bits)
{
	for (int digits = 1; digits <= GPB_NUMERIC_DIGITS; digits++)
	{
		if (gpb_numeric_bits(digits) == bits)
			return digits;
	}
	return 0;
}

bool
gpb_numeric_has_digits(int64 word, int digits)
{
	return word == GPB_NUMERIC_NAN ||
		(word > -powers_of_ten[digits] && word < powers_of_ten[digits]);
}

/* ---- reading ---- */

static inline uint16
read_word(const char *from)
{
	uint16		word;

	memcpy(&word, from, sizeof(word));
	return word;
}

/* Take apart a value that is not toasted; a varlena header of one byte will do. */
static inline void
read_bytes(const struct varlena *value, GpbNumericBytes *bytes)
{
	const char *from = VARDATA_ANY(value);
	int			length = (int) VARSIZE_ANY_EXHDR(value);
	uint16		first = read_word(from);

	bytes->special = 0;
	switch (first & KIND_MASK)
	{
		case KIND_SPECIAL:
			bytes->special = first & SPECIAL_MASK;
			bytes->ndigits = 0;
			return;
		case KIND_SHORT:
			bytes->negative = (first & SHORT_NEGATIVE) != 0;
			bytes->scale = first >> SHORT_SCALE_SHIFT & SHORT_SCALE_MASK;
			bytes->weight = (int) (first & SHORT_WEIGHT_MASK) -
				((first & SHORT_WEIGHT_SIGN) != 0 ? SHORT_WEIGHT_SIGN : 0);
			bytes->digits = from + 2;
			bytes->ndigits = (length - 2) / 2;
			return;
		default:
			bytes->negative = (first & KIND_MASK) == KIND_NEGATIVE;
			bytes->scale = first & LONG_SCALE_MASK;
			bytes->weight = (int16) read_word(from + 2);
			bytes->digits = from + 4;
			bytes->ndigits = (length - 4) / 2;
	}
}

/*
 * The magnitude of a number times 10^scale without its fraction; *fraction is whether it has one.
 * Returns GPB_NUMERIC_BEYOND for all that are not below it.
 */
static int64
magnitude(const GpbNumericBytes *bytes, int scale, bool *fraction)
{
	int64		result = 0;
	int			exponent = 4 * bytes->weight + scale;	/* a digit counts 10^exponent */
	int			i;

	*fraction = false;
	for (i = 0; i < bytes->ndigits; i++, exponent -= 4)
	{
		int			digit = read_word(bytes->digits + 2 * i);

		if (exponent >= 0)
		{
			if (result >= GPB_NUMERIC_BEYOND / DIGIT_BASE)
				return GPB_NUMERIC_BEYOND;
			result = result * DIGIT_BASE + digit;
		}
		else if (exponent > -4)
		{
			int64		kept = powers_of_ten[4 + exponent];
			int64		cut = powers_of_ten[-exponent];

			if (result >= GPB_NUMERIC_BEYOND / kept)
				return GPB_NUMERIC_BEYOND;
			result = result * kept + digit / cut;
			*fraction |= digit % cut != 0;
		}
		else
			*fraction |= digit != 0;
	}
	/* What the last digit counts may be more than 1, since zeros at the end are not stored. */
	exponent += 4;
	if (exponent > 0 && result != 0)
	{
		if (exponent > GPB_NUMERIC_DIGITS ||
			result >= GPB_NUMERIC_BEYOND / powers_of_ten[exponent])
			return GPB_NUMERIC_BEYOND;
		result *= powers_of_ten[exponent];
	}
	return result;
}

/* The power of ten with this exponent, which is GPB_WIDE_NUMERIC_DIGITS at most */
static inline uint128
wide_power(int exponent)
{
	int			low = Min(exponent, GPB_NUMERIC_DIGITS);
	int			middle = Min(exponent - low, GPB_NUMERIC_DIGITS);

	return (uint128) powers_of_ten[low] * (uint64) powers_of_ten[middle] *
		(uint64) powers_of_ten[exponent - low - middle];
}

/* As magnitude(), of a wide integer: most + 1 for all that are above "most" */
static pg_attribute_always_inline uint128
wide_magnitude(const GpbNumericBytes *bytes, int scale, uint128 most, bool *fraction)
{
	uint128		result = 0;
	int			exponent = 4 * bytes->weight + scale;	/* a digit counts 10^exponent */
	int			i;

	*fraction = false;
	for (i = 0; i < bytes->ndigits; i++, exponent -= 4)
	{
		int			digit = read_word(bytes->digits + 2 * i);

		if (exponent >= 0)
		{
			if (result > most / DIGIT_BASE)
				return most + 1;
			result = result * DIGIT_BASE + digit;
		}
		else if (exponent > -4)
		{
			uint64		kept = powers_of_ten[4 + exponent];
			int			cut = (int) powers_of_ten[-exponent];

			if (result > most / kept)
				return most + 1;
			result = result * kept + digit / cut;
			*fraction |= digit % cut != 0;
		}
		else
			*fraction |= digit != 0;
	}
	/* What the last digit counts may be more than 1, since zeros at the end are not stored. */
	exponent += 4;
	if (exponent > 0 && result != 0)
	{
		if (exponent > GPB_WIDE_NUMERIC_DIGITS || result > most / wide_power(exponent))
			return most + 1;
		result *= wide_power(exponent);
	}
	return Min(result, most + 1);
}

/* The value without compression or a place of its own; what that takes is left to its context. */
static inline const struct varlena *
plain_value(Datum value)
{
	return PG_DETOAST_DATUM_PACKED(value);
}

bool
gpb_numeric_fits(Datum value, int scale, int64 *word)
{
	GpbNumericBytes bytes;
	bool		fraction;

	read_bytes(plain_value(value), &bytes);
	if (bytes.special != 0)
	{
		*word = GPB_NUMERIC_NAN;
		return bytes.special == SPECIAL_NAN;
	}
	*word = magnitude(&bytes, scale, &fraction);
	if (bytes.scale != scale || fraction || *word >= GPB_NUMERIC_BEYOND)
		return false;
	if (bytes.negative)
		*word = -*word;
	return true;
}

/* Raise an error: a value does not fit a column of this scale. */
static void
value_refused(Datum value, int scale)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("numeric value %s does not fit a column of scale %d in a gpubtree index",
					DatumGetCString(DirectFunctionCall1(numeric_out, value)), scale)));
}

int64
gpb_numeric_word(Datum value, int scale)
{
	int64		word;

	if (!gpb_numeric_fits(value, scale, &word))
		value_refused(value, scale);
	return word;
}

bool
gpb_wide_numeric_fits(Datum value, int scale, int128 *number)
{
	GpbNumericBytes bytes;
	bool		fraction;

	read_bytes(plain_value(value), &bytes);
	if (bytes.special != 0)
	{
		*number = GPB_WIDE_NUMERIC_NAN;
		return bytes.special == SPECIAL_NAN;
	}
	*number = (int128) wide_magnitude(&bytes, scale, (uint128) GPB_WIDE_NUMERIC_BEYOND - 1,
									  &fraction);
	if (bytes.scale != scale || fraction || *number >= GPB_WIDE_NUMERIC_BEYOND)
		return false;
	if (bytes.negative)
		*number = -*number;
	return true;
}

int128
gpb_wide_numeric(Datum value, int scale)
{
	int128		number;

	if (!gpb_wide_numeric_fits(value, scale, &number))
		value_refused(value, scale);
	return number;
}

int64
gpb_numeric_ceiling(Datum value, int scale, bool *equal)
{
	GpbNumericBytes bytes;
	bool		fraction;
	int64		size;

	*equal = false;
	read_bytes(plain_value(value), &bytes);
	if (bytes.special != 0)
	{
		*equal = bytes.special == SPECIAL_NAN;
		return *equal || bytes.special == SPECIAL_INFINITY ? GPB_NUMERIC_NAN : PG_INT64_MIN;
	}
	size = magnitude(&bytes, scale, &fraction);
	if (size >= GPB_NUMERIC_BEYOND)
		return bytes.negative ? PG_INT64_MIN : GPB_NUMERIC_NAN;
	*equal = !fraction;
	if (bytes.negative)
		return -size;
	size += fraction;
	return size >= GPB_NUMERIC_BEYOND ? GPB_NUMERIC_NAN : size;
}

/*
 * What a program computes may have a digit more than a column, and may be the least of all
 * integers, but has not NaN's upper half.
 */
int128
gpb_wide_numeric_ceiling(Datum value, int scale, bool *equal)
{
	const uint128 most = (uint128) 1 << 127;
	const int128 least = -GPB_WIDE_NUMERIC_NAN - 1;
	GpbNumericBytes bytes;
	bool		fraction;
	uint128		size;

	*equal = false;
	read_bytes(plain_value(value), &bytes);
	if (bytes.special != 0)
	{
		*equal = bytes.special == SPECIAL_NAN;
		return *equal || bytes.special == SPECIAL_INFINITY ? GPB_WIDE_NUMERIC_NAN : least;
	}
	size = wide_magnitude(&bytes, scale, most, &fraction);
	if (bytes.negative)
	{
		*equal = !fraction && size <= most;
		return size < most ? -(int128) size : least;
	}
	size += fraction;
	if (size >> 64 >= PG_INT64_MAX)
		return GPB_WIDE_NUMERIC_NAN;
	*equal = !fraction;
	return (int128) size;
}

/* ---- writing ---- */

/*
 * Take the last 1 to 3 decimal digits off a magnitude, as a digit of base 10,000 that is not full.
 * With constants the compiler multiplies where it would divide.
 */
static inline uint64
take_last(uint64 size, int last, int16 *digit)
{
	uint64		left = last == 1 ? size / 10 : last == 2 ? size / 100 : size / 1000;

	*digit = (int16) ((size - left * powers_of_ten[last]) * powers_of_ten[4 - last]);
	return left;
}

/*
 * The digits of base 10,000 of a magnitude, the lowest first, as many as there are; those behind
 * the point are (scale + 3) / 4 of them.
 */
static inline int
split_digits(uint64 size, int scale, int16 *digits)
{
	int			n = 0;
	int			last = scale % 4;	/* decimal digits of a last digit that is not full */

	if (last > 0)
		size = take_last(size, last, &digits[n++]);
	for (; size > 0; size /= DIGIT_BASE)
		digits[n++] = (int16) (size % DIGIT_BASE);
	return n;
}

/* split_digits() of a wide magnitude, by parts of four digits of base 10,000 */
static int
split_wide_digits(uint128 size, int scale, int16 *digits)
{
	const uint64 four_digits = (uint64) powers_of_ten[16];
	int			n = 0;
	int			last = scale % 4;

	if (last > 0)
	{
		digits[n++] = (int16) ((int) (size % (uint64) powers_of_ten[last]) *
							   powers_of_ten[4 - last]);
		size /= (uint64) powers_of_ten[last];
	}
	for (; size >> 64 != 0; size /= four_digits)
	{
		uint64		part = (uint64) (size % four_digits);

		for (int i = 0; i < 4; i++, part /= DIGIT_BASE)
			digits[n++] = (int16) (part % DIGIT_BASE);
	}
	return n + split_digits((uint64) size, 0, digits + n);
}

static int
store_nan(char *to)
{
	uint16		first = SPECIAL_NAN;

	memcpy(to, &first, 2);
	return 2;
}

/* Store the word that comes before the digits. */
static inline void
store_first(bool negative, int weight, int scale, char *to)
{
	uint16		first = KIND_SHORT | scale << SHORT_SCALE_SHIFT |
		(weight & (SHORT_WEIGHT_SIGN | SHORT_WEIGHT_MASK)) | (negative ? SHORT_NEGATIVE : 0);

	memcpy(to, &first, 2);
}

/* Store a number of which the digits are known, "n" of them. */
static inline int
store_number(bool negative, const int16 *digits, int n, int scale, char *to)
{
	int			behind = (scale + 3) / 4;
	int			highest = n - 1;
	int			lowest = 0;
	char	   *at = to + 2;

	while (highest >= 0 && digits[highest] == 0)
		highest--;
	while (lowest <= highest && digits[lowest] == 0)
		lowest++;
	store_first(negative, highest < 0 ? 0 : highest - behind, scale, to);
	for (; highest >= lowest; highest--, at += 2)
		memcpy(at, &digits[highest], 2);
	return (int) (at - to);
}

/*
 * Store a number of up to 12 decimal digits.  Its digits of base 10,000, four at most, are found
 * from the lowest to the highest, and stored the other way round: so they are gathered in an
 * integer, whose lowest bits come first in memory, and whose highest ones are zero where digits at
 * the end are.
 */
static inline int
store_short_number(bool negative, uint64 size, int scale, char *to)
{
	uint64		digits = 0;
	int			last = scale % 4;
	int			weight = -1 - (scale + 3) / 4;
	int16		digit;

	if (last > 0)
	{
		size = take_last(size, last, &digit);
		digits = (uint64) digit;
		weight++;
	}
	for (; size > 0; size /= DIGIT_BASE, weight++)
		digits = digits << 16 | size % DIGIT_BASE;
	store_first(negative, digits == 0 ? 0 : weight, scale, to);
	memcpy(to + 2, &digits, sizeof(digits));
	return digits == 0 ? 2 : 2 + 2 * (pg_leftmost_one_pos64(digits) / 16 + 1);
}

int
gpb_numeric_store(int64 word, int scale, char *to)
{
	uint64		size = word < 0 ? -(uint64) word : (uint64) word;
	int16		digits[8];

	if (size < (uint64) powers_of_ten[12])
		return store_short_number(word < 0, size, scale, to);
	if (word == GPB_NUMERIC_NAN)
		return store_nan(to);
	return store_number(word < 0, digits, split_digits(size, scale, digits), scale, to);
}

int
gpb_wide_numeric_store(int128 number, int scale, char *to)
{
	int16		digits[16];
	int			n;

	if (number == GPB_WIDE_NUMERIC_NAN)
		return store_nan(to);
	n = split_wide_digits(number < 0 ? -(uint128) number : (uint128) number, scale, digits);
	return store_number(number < 0, digits, n, scale, to);
}

Datum
gpb_wide_numeric_datum(int128 number, int scale)
{
	struct varlena *value = palloc(VARHDRSZ + GPB_WIDE_NUMERIC_BYTES + 2);

	SET_VARSIZE(value, VARHDRSZ + gpb_wide_numeric_store(number, scale, VARDATA(value)));
	return PointerGetDatum(value);
}

Datum
gpb_numeric_datum(int64 word, int scale)
{
	struct varlena *value = palloc(VARHDRSZ + GPB_NUMERIC_BYTES + 2);

	SET_VARSIZE(value, VARHDRSZ + gpb_numeric_store(word, scale, VARDATA(value)));
	return PointerGetDatum(value);
}
