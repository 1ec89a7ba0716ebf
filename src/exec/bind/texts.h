/*-------------------------------------------------------------------------
 *
 * texts.h
 *	  Numbers for values of variable width, in the place of the codes of an index's dictionary.
 *
 * A code is one index's own.  Who puts together what comes from several indexes, or from rows,
 * gives each value a number of its own, by the value's bytes, which tell values apart as the
 * equality of deterministic collations does; columns of others have no codes (program_codes.h).
 * Values of several columns share the numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TEXTS_H
#define GPB_TEXTS_H

#include "postgres.h"

typedef struct GpbTexts GpbTexts;

/* Begin without values.  All memory is of a child of the current context. */
extern GpbTexts *gpb_texts_begin(void);

/* Forget all values and numbers. */
extern void gpb_texts_reset(GpbTexts *texts);

/* The number of a value of so many bytes, which is given one if it has none yet */
extern uint32 gpb_texts_number(GpbTexts *texts, const char *bytes, int length);

/* The value that has a number: a varlena, which stays until gpb_texts_reset() */
extern Datum gpb_texts_value(const GpbTexts *texts, uint32 number);

/* The bytes of memory that values and numbers take */
extern Size gpb_texts_bytes(const GpbTexts *texts);

#endif							/* GPB_TEXTS_H */
