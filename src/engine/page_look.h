/*-------------------------------------------------------------------------
 *
 * page_look.h
 *	  Looks: has a page in shared buffers the LSN that somebody remembers?
 *
 * A look takes no pin and no content lock: 15 to 30 ns, most of which is waiting for memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PAGE_LOOK_H
#define GPB_PAGE_LOOK_H

#include "compat.h"

#include "access/xlogdefs.h"
#include "storage/block.h"
#include "storage/buf.h"

/*
 * Is block "block" of the file in this shared buffer, with this LSN, at some moment of the call?
 * If so, and if "use" is set, the look counts as a use of the buffer, as a pin would, so that
 * pages which are only looked at stay in shared buffers like others.  Nothing is raised.
 */
extern bool gpb_page_look(Buffer buffer, const RelFileNode *file, BlockNumber block,
						  XLogRecPtr lsn, bool use);

#endif							/* GPB_PAGE_LOOK_H */
