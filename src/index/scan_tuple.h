/*-------------------------------------------------------------------------
 *
 * scan_tuple.h
 *	  The index tuples that index-only scans return.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SCAN_TUPLE_H
#define GPB_SCAN_TUPLE_H

#include "compat.h"

#include "access/itup.h"

#include "index/index.h"

typedef struct GpbFormer GpbFormer;

/*
 * Make a former of tuples of an index, which must stay open as long, in the context given; free it
 * by pfree().  layout must stay as long.
 */
extern GpbFormer *gpb_former_create(Relation index, const GpbLayout *layout,
									MemoryContext context);
/*
 * Form the tuple of an entry.  It is valid until the next one is formed.  In t_info it has
 * GPB_TUPLE_LACKS if it has empty values for such as are elsewhere.
 */
#define GPB_TUPLE_LACKS		INDEX_AM_RESERVED_BIT
extern IndexTuple gpb_former_tuple(GpbFormer *former, GpbKey key, const char *row,
								   ItemPointer tid);

#endif							/* GPB_SCAN_TUPLE_H */
