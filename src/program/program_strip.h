/*-------------------------------------------------------------------------
 *
 * program_strip.h
 *	  Steps of a program over a strip of entries, column by column, on the CPU.
 *
 * Plain C, free of PostgreSQL headers.  A strip is some entries of which each value lies in an
 * array.  A step is one loop over the strip, with the operator as a constant of the loop, so that
 * the compiler makes vector instructions of it where there are such.  The loops exist in two forms,
 * AVX2 and what the compiler builds for any CPU (cpu_form.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_STRIP_H
#define GPB_PROGRAM_STRIP_H

#include "program/program_steps.h"

/* The most entries of a strip: few enough that a program's arrays stay in the nearest cache */
#define GPB_STRIP	256

/*
 * The values of one slot of the program.  The word of a NULL is 0, so a boolean is true if its word
 * is not 0.
 */
typedef struct GpbStripSlot
{
	int64	   *words;			/* GPB_STRIP of them; NULL if the program does not use the slot */
	uint8	   *nulls;			/* as many, 1 where the value is NULL; read only if has_nulls */
	bool		has_nulls;
} GpbStripSlot;

typedef struct GpbStrip
{
	const GpbProgram *program;
	int			n;				/* number of entries */
	GpbStripSlot slot[GPB_SLOTS];
} GpbStrip;

/* The bytes that the arrays of a slot take */
#define GPB_STRIP_SLOT_BYTES	(GPB_STRIP * (sizeof(int64) + sizeof(uint8)))

/*
 * Do a step, which is no filter, for all entries of the strip.  Returns false if it faulted for one
 * of them; then the values of the step's result mean nothing.
 */
extern bool gpb_strip_step(GpbStrip *strip, const GpbStep *step);

/* ---- loops over n words, for what follows the steps ---- */

/* Set keep[i] to 1 where word i is not 0, else to 0.  Returns the sum of keep. */
extern int	gpb_strip_truths(const int64 *words, int n, uint8 *keep);

/* Move the words, bytes or positions where keep is 1 to the front, in their order. */
extern void gpb_strip_compact_words(int64 *words, const uint8 *keep, int n);
extern void gpb_strip_compact_bytes(uint8 *bytes, const uint8 *keep, int n);

/*
 * The words with mask[i] = -1 count, those with 0 do not; if mask is NULL, all count.
 *
 * sum: add them to the 128-bit sum of *low and *high.  bounds: lower *min to the least of them, and
 * raise *max to the greatest; floats are compared as gpb_float_order() maps them.  squares: add
 * their squares to the 192-bit sum at sum.  bits: combine them, and, or, xor, with the words at
 * bits.
 */
extern void gpb_strip_sum(const int64 *words, const int64 *mask, int n, uint64 *low, int64 *high);
extern void gpb_strip_bounds(const int64 *words, const int64 *mask, int n, bool floats,
							 int64 *min, int64 *max);
extern void gpb_strip_squares(const int64 *words, const int64 *mask, int n, int64 *sum);
extern void gpb_strip_bits(const int64 *words, const int64 *mask, int n, int64 *bits);

/* What the finite float8 of a strip add to exact sums: see GpbFloatPieces */
typedef struct GpbStripPieces
{
	int64		first[GPB_STRIP];
	int64		piece[3][GPB_STRIP];
} GpbStripPieces;

/*
 * Cut the float8 words that count; those that do not are cut as zeros.  Returns false if one that
 * counts is not finite; then the pieces mean nothing.
 */
extern bool gpb_strip_cut(const int64 *words, const int64 *mask, int n, GpbStripPieces *pieces);

/* Are all n words the same? */
extern bool gpb_strip_same(const int64 *words, int n);

#endif							/* GPB_PROGRAM_STRIP_H */
