/*-------------------------------------------------------------------------
 *
 * program_words.h
 *	  SQL values as words of a program (program.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_WORDS_H
#define GPB_PROGRAM_WORDS_H

#include "postgres.h"

/* The base type of a type whose values are words; InvalidOid if it is another */
extern Oid	gpb_word_type(Oid type);

/* The GpbKind of words of this base type */
extern int	gpb_word_kind(Oid type);

/* The word of a value of this base type, which is not NULL; gpb_word_datum() is the inverse. */
extern int64 gpb_datum_word(Oid type, Datum value);

#endif							/* GPB_PROGRAM_WORDS_H */
