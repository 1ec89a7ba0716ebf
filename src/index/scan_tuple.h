/*-------------------------------------------------------------------------
 *
 * scan_tuple.h
 *	  The index tuples that index-only scans return.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SCAN_TUPLE_H
#define GPB_SCAN_TUPLE_H

#include "index/index.h"

typedef struct GpbFormer GpbFormer;

/* One for tuples of this form, in the context given; free it by pfree.  Layout and descriptor stay. */
extern GpbFormer *gpb_former_create(const GpbLayout *layout, TupleDesc descriptor,
									MemoryContext context);
/* The tuple of an entry, valid till the next one is made. */
extern IndexTuple gpb_former_tuple(GpbFormer *former, uint64 key, const char *row,
								   ItemPointer tid);

#endif							/* GPB_SCAN_TUPLE_H */
