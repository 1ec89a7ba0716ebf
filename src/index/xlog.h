/*-------------------------------------------------------------------------
 *
 * xlog.h
 *	  WAL records of gpubtree.
 *
 * There is one record for each atomic change of the tree.  Pages hold their own widths, so that
 * redo needs no catalog.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_XLOG_H
#define GPB_XLOG_H

#include "access/rmgr.h"
#include "storage/block.h"

#include "layout.h"

/*
 * The resource manager's number, 128 to 255, which is defined nowhere else.  It is in every record,
 * so all builds that read one server's WAL must have the same.  Who packages gpubtree beside an
 * extension with this number chooses another (make GPB_CFLAGS=-DGPB_RMGR_ID=N); 128 is PostgreSQL's
 * for experiments.
 */
#ifndef GPB_RMGR_ID
#define GPB_RMGR_ID			187
#endif
#define GPB_RMGR_NAME		"gpubtree"

/*
 * INSERT: block 0 is the page; its data is the position (uint16), the key and the row.
 * INSERT_INNER adds a downlink: block 1 is the left half of the split that it completes, which
 * loses GPB_PAGE_INCOMPLETE_SPLIT.
 */
#define GPB_XLOG_INSERT_LEAF	0x00
#define GPB_XLOG_INSERT_INNER	0x10

/*
 * SPLIT: block 0 is the left half; its data is the new entry's key and row, if the entry went
 * there.  Block 1 is the right half, a new page; its data is all its keys and then all its rows as
 * they lie on the page; with runs, pd_lower (uint16) is before the keys, and the ends of runs are
 * behind them.  Block 2, if any, is the old right sibling.  Block 3, on inner levels, is
 * the child whose split is completed.
 */
#define GPB_XLOG_SPLIT			0x20

typedef struct xl_gpb_split
{
	GpbBound	high;			/* new high key of the left half */
	GpbBound	right_high;		/* high key of the right half */
	uint16		level;
	uint16		kept;			/* old entries that stay on the left */
	uint16		position;		/* position of the new entry on the left half, or GPB_NOT_ON_LEFT */
	uint8		key_width;
	uint8		row_width;
} xl_gpb_split;

#define GPB_NOT_ON_LEFT			0xFFFF	/* the new entry went to the right half */

/*
 * NEW_ROOT: block 0 is the new root, a new page; block 1 is the left half of the old root, whose
 * split is completed; block 2 is the metapage.
 */
#define GPB_XLOG_NEW_ROOT		0x30

typedef struct xl_gpb_new_root
{
	GpbKey		key;			/* separator of the right child */
	uint64		tie;
	BlockNumber right;			/* right child */
	GpbMeta		meta;			/* new contents of the metapage */
	uint64		builder;		/* gpb_meta_builder(); older records end before it */
} xl_gpb_new_root;

/*
 * VACUUM and DELETE: block 0 is a leaf; its data is the ascending positions (uint16) of the entries
 * to be removed.
 */
#define GPB_XLOG_VACUUM			0x40
#define GPB_XLOG_DELETE			0x50

/* The main data of DELETE */
typedef struct xl_gpb_delete
{
	TransactionId latest_removed_xid;
	bool		is_catalog;		/* may logical decoding read the table as a catalog? */
} xl_gpb_delete;

/* without the padding at the end */
#define SizeOfGpbDelete (offsetof(xl_gpb_delete, is_catalog) + sizeof(bool))

/*
 * FORGET has no block; its main data is the RelFileNode of an index that is being built anew, or is
 * dropped when the transaction that logs it commits.
 */
#define GPB_XLOG_FORGET			0x60

/*
 * VACUUM_PASS has no block; its main data is the RelFileNode of an index whose every leaf VACUUM
 * has locked for cleanup.  It is logged at the end of the pass, before any row of the table is
 * recycled.
 */
#define GPB_XLOG_VACUUM_PASS	0x70

/*
 * UNLINK takes an empty leaf out of the tree, with the pages above it that have no other child.
 * For level i of these block 3i is the left sibling, if there is one, 3i + 1 the page, 3i + 2 the
 * right sibling.  The last block is the page above them.
 */
#define GPB_XLOG_UNLINK			0x80

typedef struct xl_gpb_unlink
{
	GpbKey		low_key;		/* the low bound of the pages, and then of the right siblings */
	uint64		low_tie;
	uint16		position;		/* of the downlink on the last block */
	uint8		nlevels;
} xl_gpb_unlink;

/*
 * DICTIONARY_PAGE: block 0 is a new page of the dictionary, without values; block 1, if any, is the
 * last page before it.  The main data is the code of the new page's first value (uint32).
 * DICTIONARY_VALUE: block 0 is a page of the dictionary; its data is the value that is appended, as
 * it lies there.  Block 1, if any, is the metapage, and the main data the number of codes that it
 * counts then (uint32); while an index is built it has no metapage.
 */
#define GPB_XLOG_DICTIONARY_PAGE	0x90
#define GPB_XLOG_DICTIONARY_VALUE	0xA0

/* GIVE_RUNS: block 0 is a leaf, which gets runs, and has no data. */
#define GPB_XLOG_GIVE_RUNS		0xB0

/*
 * MOVE moves a page to another block: block 0 is the one where it goes, always with an image; block
 * 1 is the one where it was, which becomes a deleted page; block 2 is what leads down to it, its
 * parent or the metapage; blocks 3 and 4, if any, are its left and right siblings.
 */
#define GPB_XLOG_MOVE			0xC0

typedef struct xl_gpb_move
{
	uint16		position;		/* of the downlink in the parent, or GPB_MOVED_ROOT */
} xl_gpb_move;

#define GPB_MOVED_ROOT			0xFFFF	/* the page is the root */

/*
 * UNLOCKED has no block; its main data is the id of a transaction that has given up its exclusive
 * locks, though it is not at its end.
 */
#define GPB_XLOG_UNLOCKED		0xD0

/*
 * What MOVE does to the page where it was, and to what leads down to it; "target" is the block
 * where it goes.
 */
extern void gpb_move_from(char *page, BlockNumber target);
extern void gpb_move_link(char *page, uint16 position, BlockNumber target);

/*
 * What UNLINK does to each of its pages: to a left sibling; to a page; to a right sibling, "left"
 * being the left one's block or GPB_NO_BLOCK; to the page above, "right" being the block of the
 * topmost right sibling.
 */
extern void gpb_unlink_left(char *page, BlockNumber right);
extern void gpb_unlink_page(char *page);
extern void gpb_unlink_right(char *page, BlockNumber left, GpbBound low);
extern void gpb_unlink_parent(char *page, uint16 position, BlockNumber right);

/*
 * Put the two entries of a new root on its page, which is empty: (0, 0) for the left child, (key,
 * tie) for the right one.
 */
extern void gpb_fill_root(char *page, BlockNumber left, BlockNumber right,
						  GpbKey key, uint64 tie);

#endif							/* GPB_XLOG_H */
