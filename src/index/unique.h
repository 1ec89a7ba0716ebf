/*-------------------------------------------------------------------------
 *
 * unique.h
 *	  Unique indexes: which entries are equal, and whether a new one may be inserted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_UNIQUE_H
#define GPB_UNIQUE_H

#include "index/index.h"

/* A row that is to be unique */
typedef struct GpbUnique
{
	IndexUniqueCheck mode;		/* any but UNIQUE_CHECK_NO */
	GpbRange	range;			/* of the entries that equal it */
	ItemPointerData tid;
	const Datum *values;		/* of the key columns */
	const bool *isnull;
	bool		is_unique;		/* the answer: false if PARTIAL has found what may be a duplicate */
} GpbUnique;

/* Is a row with these NULLs in its key columns to be unique? */
extern bool gpb_unique_binds(Relation index, const bool *isnull);
/* Have equal values always the same key? */
extern bool gpb_equal_keys_are_same(const GpbLayout *layout);
/*
 * Find the range of the entries whose key columns equal the values, as the operator class has it;
 * NULLs are equal here.  "key" is the key of an entry of the values.
 */
extern GpbRange gpb_equal_range(Relation index, const GpbLayout *layout, const Datum *values,
								const bool *isnull, GpbKey key);
/*
 * Make sure that no other row equals this one, as far as its mode asks for that.  leaf covers
 * unique->range.lo and is exclusively locked; to the end of the insert nobody else passes this
 * check with an equal row, as long as the leaf is unlocked only when a leaf to the right of it, to
 * which the entry goes, is locked exclusively, and so on up to the insert.
 *
 * Returns true, with the leaf still locked, if the check has ended.  Returns false if a transaction
 * had to be waited for: the leaf is released, and the search must begin anew.  Raises
 * ERRCODE_UNIQUE_VIOLATION, and for UNIQUE_CHECK_EXISTING an error if the row has no entry.
 */
extern bool gpb_unique_check(Relation index, const GpbLayout *layout, Relation heap, Buffer leaf,
							 GpbUnique *unique);

#endif							/* GPB_UNIQUE_H */
