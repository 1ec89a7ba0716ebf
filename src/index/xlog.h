/*-------------------------------------------------------------------------
 *
 * xlog.h
 *	  WAL records of gpubtree.
 *
 * One record for each atomic change of the tree.  Pages tell their own
 * widths, so that redo needs no catalog.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_XLOG_H
#define GPB_XLOG_H

#include "access/rmgr.h"
#include "storage/block.h"

#include "layout.h"

/* The one home of the resource manager's number */
#define GPB_RMGR_ID			RM_EXPERIMENTAL_ID
#define GPB_RMGR_NAME		"gpubtree"

/*
 * Block 0 is the page; its data is the position (uint16), the key and the row.
 * INSERT_INNER adds a downlink: block 1 is the left half of the split that it
 * completes, which loses GPB_PAGE_INCOMPLETE_SPLIT.
 */
#define GPB_XLOG_INSERT_LEAF	0x00
#define GPB_XLOG_INSERT_INNER	0x10

/*
 * Block 0 is the left half; its data is the new entry's key and row, if that
 * went there.  Block 1 is the right half, a new page; its data is all its keys and
 * then all its rows as they lie on the page.  Block 2, if any, is the old right
 * sibling.  Block 3, on inner levels, is the child whose split is completed.
 */
#define GPB_XLOG_SPLIT			0x20

typedef struct xl_gpb_split
{
	uint64		high_key;		/* new high key of the left half */
	uint64		high_tie;
	uint64		right_high_key; /* high key of the right half */
	uint64		right_high_tie;
	uint16		level;
	uint16		kept;			/* old entries that stay on the left */
	uint16		position;		/* of the new entry on the left, or ... */
	uint8		key_width;
	uint8		row_width;
} xl_gpb_split;

#define GPB_NOT_ON_LEFT			0xFFFF	/* ... this: it went to the right */

/*
 * Block 0 is the new root, a new page; block 1 the left half of the old one, whose
 * split is completed; block 2 the metapage.
 */
#define GPB_XLOG_NEW_ROOT		0x30

typedef struct xl_gpb_new_root
{
	uint64		key;			/* separator of the right child */
	uint64		tie;
	BlockNumber right;			/* right child */
	GpbMeta		meta;			/* new contents of the metapage */
} xl_gpb_new_root;

/* Block 0 is a leaf; its data is the ascending positions (uint16) of what goes. */
#define GPB_XLOG_VACUUM			0x40
#define GPB_XLOG_DELETE			0x50

/* Main data of DELETE */
typedef struct xl_gpb_delete
{
	TransactionId latest_removed_xid;
} xl_gpb_delete;

/* No block; main data is the RelFileNode of the index being built anew. */
#define GPB_XLOG_FORGET			0x60

/*
 * No block; main data is the RelFileNode of an index whose every leaf VACUUM has locked for
 * cleanup.  Logged at the end of the pass, before any row of the table is recycled.
 */
#define GPB_XLOG_VACUUM_PASS	0x70

/* A new root's two entries; the page is empty. */
extern void gpb_fill_root(char *page, BlockNumber left, BlockNumber right,
						  uint64 key, uint64 tie);

#endif							/* GPB_XLOG_H */
