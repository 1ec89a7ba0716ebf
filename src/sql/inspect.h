/*-------------------------------------------------------------------------
 *
 * inspect.h
 *	  A look inside an index, for people: what the inspect*.c files share.
 *
 *	inspect.c			open an index, copy a page, say in words what is on it
 *	inspect_page.c		gpubtree_metap, gpubtree_page_stats, gpubtree_page_items
 *	inspect_bloat.c		gpubtree_bloat: how full are the pages?
 *	inspect_tree.c		gpubtree_tree: the pages of each level, and how they hang together
 *	inspect_draw.c		gpubtree_tree_dot, gpubtree_tree_svg: the same as a picture
 *
 * Pages are copied under a share lock, one at a time, and looked at without any lock.  So what is
 * said of several pages need not have been true at one moment.  A page that is damaged is no error
 * here: what is wrong with it is shown in the place of its contents.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_INSPECT_H
#define GPB_INSPECT_H

#include "compat.h"

#include "fmgr.h"
#include "storage/bufmgr.h"
#include "utils/relcache.h"

#include "index/dictionary.h"
#include "mirror/status.h"
#include "page/page.h"

/* ---- inspect.c ---- */

/* An index that is looked at */
typedef struct GpbInspect
{
	Relation	index;
	GpbLayout	layout;			/* a copy, since the relcache may free its own */
	GpbDictionary *dictionary;	/* NULL: the index has none */
	BlockNumber nblocks;		/* length of the file when the look began */
	GpbBlockStates states;		/* of the mirror */
	BufferAccessStrategy strategy;	/* NULL: the default */
	Oid			type[INDEX_MAX_KEYS];	/* of each column, without its domain */
	FmgrInfo	output[INDEX_MAX_KEYS]; /* its output function */
} GpbInspect;

/*
 * Open a gpubtree index with AccessShareLock.  Raises ERRCODE_UNDEFINED_TABLE,
 * ERRCODE_WRONG_OBJECT_TYPE or ERRCODE_FEATURE_NOT_SUPPORTED if there is none that can be read.
 */
extern void gpb_inspect_open(GpbInspect *look, Oid indexid);
extern void gpb_inspect_close(GpbInspect *look);

/*
 * Copy a page.  Raises what gpb_pin() does if PostgreSQL itself cannot read the block, which must
 * be less than look->nblocks.
 */
extern void gpb_inspect_copy(GpbInspect *look, BlockNumber block, PGAlignedBlock *page);
/* What is wrong with the copy of a block, or NULL if it is a sound tree page; a new page is not. */
extern const char *gpb_inspect_fault(GpbInspect *look, BlockNumber block,
									 const PGAlignedBlock *page);

/* Number of entries of a sound page that are marked dead */
extern int	gpb_inspect_dead(const PGAlignedBlock *page);
/* The bytes that the entries of a sound tree page take */
extern int	gpb_inspect_used(const PGAlignedBlock *page);
/* How much of the room for entries a sound page uses, in percent */
extern double gpb_inspect_fill(const PGAlignedBlock *page);
/* Has a sound page been taken out of the tree? */
extern bool gpb_inspect_is_gone(const PGAlignedBlock *page);
/* The names of a page's flags, in an array of text */
extern Datum gpb_inspect_flags(const PGAlignedBlock *page);
/* The names of a page's flags, separated by ", "; an empty string if there are none */
extern const char *gpb_inspect_flag_text(const PGAlignedBlock *page);

/*
 * The key of an entry with this locator as text: the key columns, separated by ", "; NULL if it is
 * NULL.
 */
extern const char *gpb_inspect_key(GpbInspect *look, GpbKey key, uint64 locator);
/* A bound as text: the key and, unless the bound is before all entries of that key, the TID */
extern const char *gpb_inspect_bound(GpbInspect *look, GpbBound bound);
/* The value of an INCLUDE column, counted from 0, as text; NULL if it is NULL */
extern const char *gpb_inspect_included(GpbInspect *look, const char *row, int column);
/*
 * What the mirror has of a block on that level: "current", "changed", or NULL if it has no image.
 */
extern const char *gpb_inspect_mirror(const GpbInspect *look, BlockNumber block, int level);

/* ---- inspect_tree.c ---- */

/* A page of the tree as the walk met it */
typedef struct GpbTreePage
{
	BlockNumber block;
	int			level;
	int			number;			/* of the page on its level, from 0 at the left */
	const char *fault;			/* what is wrong; then only what stands above is known, else NULL */
	BlockNumber left;
	BlockNumber right;
	int			entries;
	int			dead;
	double		fill;			/* percent */
	const char *low;			/* NULL: none */
	const char *high;			/* NULL: none */
	Datum		flags;			/* array of text */
	const char *flag_text;
	bool		gone;			/* out of the tree */
	bool		incomplete;		/* the right sibling's downlink is missing */
	const char *mirror;			/* as gpb_inspect_mirror() */
	BlockNumber *children;		/* "entries" of them, on an inner page */
} GpbTreePage;

/* Pages level by level, the root's first, and from left to right in each */
typedef struct GpbTree
{
	GpbTreePage *pages;
	int			count;
	int			levels;
} GpbTree;

/* Read the first pages of each level, "most" of them at most. */
extern void gpb_inspect_tree(GpbInspect *look, int most, GpbTree *tree);
/*
 * Raise ERRCODE_INVALID_PARAMETER_VALUE unless from 1 to "limit" pages of a level are asked for.
 */
extern void gpb_inspect_require_limit(int most, int limit);

#endif							/* GPB_INSPECT_H */
