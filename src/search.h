/*-------------------------------------------------------------------------
 *
 * search.h
 *	  What a batch of searches asks for, and what it gets.
 *
 * Plain C for both compilers, like aggregate.h.  A batch takes many keys to the
 * leaf that each belongs to, by the separators of level 1 alone, and, if asked and
 * the leaf has an image, on to the position in it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SEARCH_H
#define GPB_SEARCH_H

#include "layout.h"

/* Which entry a key k is searched for, and the leaf where that search begins */
typedef enum GpbSearchBound
{
	GPB_SEARCH_LOWER,			/* first entry >= k: leaf of the last separator < k */
	GPB_SEARCH_UPPER,			/* first entry > k: leaf of the last separator <= k */
	GPB_SEARCH_EQUAL			/* first entry = k; leaf as LOWER, see below */
} GpbSearchBound;

/* In what order results are wanted */
typedef enum GpbSearchOrder
{
	GPB_ORDER_INPUT,			/* result i belongs to key i */
	GPB_ORDER_NEAR,				/* about ascending, as is cheapest; see permutation */
	GPB_ORDER_KEY				/* keys ascend; equal keys in any order */
} GpbSearchOrder;

/*
 * Positions.  LOWER and UPPER: 0 .. entries of the leaf; the number of entries says
 * that the entry is the first one to the right of this leaf.  EQUAL: a leaf further right
 * where the key first occurs, and the position there, or NONE.
 */
#define GPB_POSITION_NONE		((uint16) 0xFFFF)	/* EQUAL: no such key */
#define GPB_POSITION_UNCLEAN	((uint16) 0xFFFE)	/* leaf not clean (rule M4) */

/*
 * One caller's part of a batch.  All arrays are of n elements in host memory,
 * aligned as their elements; in the registered region they are read and written in
 * place, else copied.
 */
typedef struct GpbSearchPiece
{
	const void *keys;			/* normalized keys, of the layout's width */
	uint32	   *leaf;			/* block numbers */
	uint16	   *position;		/* NULL: not wanted, for all pieces or for none */
	uint32	   *permutation;	/* not with GPB_ORDER_INPUT: result i is of key
								 * permutation[i] of this piece */
	uint32		n;
} GpbSearchPiece;

#define GPB_SEARCH_PIECES	64	/* most in one batch; one, unless GPB_ORDER_INPUT */

typedef struct GpbSearchSpec
{
	GpbSearchBound bound;
	GpbSearchOrder order;
	bool		ascending;		/* keys are known to ascend in every piece */
	uint64		epoch;			/* for positions: leaves imaged later are unclean */
	uint32		npieces;
	GpbSearchPiece piece[GPB_SEARCH_PIECES];
} GpbSearchSpec;

#endif							/* GPB_SEARCH_H */
