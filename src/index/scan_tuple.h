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
 * The descriptor of the tuples of an index with so many columns: each column is a Datum, as an
 * integer of 8 bytes, whatever its type.  It lives as long as the session.
 */
extern TupleDesc gpb_former_descriptor(int ncolumns);
/*
 * Make a former of tuples of an index, which must stay open as long, in the context given.
 * layout must stay as long.
 */
extern GpbFormer *gpb_former_create(Relation index, const GpbLayout *layout,
									MemoryContext context);
/*
 * Form the tuple of an entry.  It is valid until the next one is formed, and so are the values to
 * which it points.  In t_info it has GPB_TUPLE_LACKS if it has empty values for such as are
 * elsewhere; the caller takes that away again.
 */
#define GPB_TUPLE_LACKS		INDEX_AM_RESERVED_BIT
extern IndexTuple gpb_former_tuple(GpbFormer *former, GpbKey key, const char *row,
								   ItemPointer tid);
/* Free a former. */
extern void gpb_former_free(GpbFormer *former);

#endif							/* GPB_SCAN_TUPLE_H */
