/*-------------------------------------------------------------------------
 *
 * narrow_scatter.h
 *	  Float8 values of a strip of entries, added to narrow sums of as many answers, on the CPU.
 *
 * Plain C, free of PostgreSQL headers.  All columns of an entry are added before those of the next,
 * so that an answer is fetched once.  There are three forms, AVX-512, AVX2 and what the compiler
 * builds for any CPU (cpu_form.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_NARROW_SCATTER_H
#define GPB_NARROW_SCATTER_H

#include "program/answer.h"

/* Values, and where they go */
typedef struct GpbNarrowTerm
{
	const int64 *words;			/* a float8 of each entry, which a narrow sum holds */
	int			sum;			/* first word of the narrow sum in each answer */
	int			count;			/* the word that counts them, by one for each entry */
} GpbNarrowTerm;

/* Does a narrow sum hold all n float8 words? */
extern bool gpb_narrow_holds_all(const int64 *words, int n);

/* Add the values of n entries, entry i to the answer at answers[i]; several may be the same. */
extern void gpb_narrow_scatter(const GpbNarrowTerm *terms, int nterms, int n,
							   int64 *const *answers);

/* Add n float8 words, all of which a narrow sum holds, to the one at "sum". */
extern void gpb_narrow_add(const int64 *words, int n, int64 *sum);

#endif							/* GPB_NARROW_SCATTER_H */
