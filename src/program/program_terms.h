/*-------------------------------------------------------------------------
 *
 * program_terms.h
 *	  What the terms of a program add to answers, for a strip of entries whose steps are done.
 *
 * Plain C, free of PostgreSQL headers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_TERMS_H
#define GPB_PROGRAM_TERMS_H

#include "program/answer.h"
#include "program/program_strip.h"

/* Both return false if a narrow sum does not hold a value; then the answers mean nothing. */

/* Add the entries of the strip to one answer. */
extern bool gpb_terms_add(const GpbStrip *strip, const GpbAnswerFormat *format, int64 *answer);

/* Add each entry i of the strip to the answer at answers[i]; several may be the same one. */
extern bool gpb_terms_scatter(const GpbStrip *strip, const GpbAnswerFormat *format,
							  int64 *const *answers);

/*
 * Add each entry i of the strip weight[i] times to the answer at answers[i].  The words of slot s
 * are sums already if bit s of "sums" is set.  The format has no exact sums of float8.
 */
extern void gpb_terms_weigh(const GpbStrip *strip, const GpbAnswerFormat *format,
							const int64 *weight, uint32 sums, int64 *const *answers);

#endif							/* GPB_PROGRAM_TERMS_H */
