/*-------------------------------------------------------------------------
 *
 * narrow_scatter.h
 *	  Float8 values of a strip of entries, added to narrow sums of as many answers, on the CPU.
 *
 * Plain C, free of PostgreSQL headers.  All columns of an entry are added before those of the next,
 * so that an answer is fetched once.  There are three forms, AVX-512, AVX2 and what the compiler
 * builds for any CPU; which one runs is decided at the first call, as in visible_entries.h.  All
 * give the same.
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

typedef enum GpbNarrowForm
{
	GPB_NARROW_PLAIN,
	GPB_NARROW_AVX2,
	GPB_NARROW_AVX512
} GpbNarrowForm;

/* The name of the form in use: "AVX-512", "AVX2" or "plain". */
extern const char *gpb_narrow_name(void);

/* Use this form from now on, for tests.  Returns false if the CPU, or the build, lacks it. */
extern bool gpb_narrow_force(GpbNarrowForm form);

#endif							/* GPB_NARROW_SCATTER_H */
