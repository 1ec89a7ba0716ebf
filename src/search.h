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

/*
 * Which entry a key k is searched for.  Its leaf is that of the last separator of level 1 that is
 * below k, or, for UPPER, at or below k.
 */
typedef enum GpbSearchBound
{
	GPB_SEARCH_LOWER,			/* the first entry whose key is >= k */
	GPB_SEARCH_UPPER,			/* the first entry whose key is > k */
	GPB_SEARCH_EQUAL			/* the first entry whose key is k */
} GpbSearchBound;

/* The order in which the results of a batch are wanted */
typedef enum GpbSearchOrder
{
	GPB_ORDER_INPUT,			/* result i is that of key i */
	GPB_ORDER_NEAR,				/* about ascending, as is cheapest for the device */
	GPB_ORDER_KEY				/* keys ascend; equal keys are in any order */
} GpbSearchOrder;

/*
 * What a position says.  For LOWER and UPPER it is from 0 to the number of entries of the leaf, and
 * that number says that the entry sought is the first one to the right of this leaf.  For EQUAL the
 * leaf becomes the one further right where the key first occurs, and the position is the one there,
 * or one of these.
 */
#define GPB_POSITION_NONE		((uint16) 0xFFFF)	/* EQUAL: the index has no such key */
#define GPB_POSITION_UNCLEAN	((uint16) 0xFFFE)	/* the leaf is not clean (rule M4) */

/*
 * One caller's part of a batch.  All arrays have n elements in host memory, aligned as their
 * elements are.  Arrays in the registered region are read and written in place, others are copied.
 */
typedef struct GpbSearchPiece
{
	const void *keys;			/* normalized keys, of the layout's key width */
	uint32	   *leaf;			/* result: block numbers of leaves */
	uint16	   *position;		/* result, or NULL in all pieces if positions are not wanted */
	uint32	   *permutation;	/* result, unless the order is GPB_ORDER_INPUT: result i is that of
								 * key permutation[i] of this piece */
	uint32		n;
} GpbSearchPiece;

#define GPB_SEARCH_PIECES	64	/* most pieces of a batch; only a batch in GPB_ORDER_INPUT may have
								 * more than one */

/* A batch of searches */
typedef struct GpbSearchSpec
{
	GpbSearchBound bound;
	GpbSearchOrder order;
	bool		ascending;		/* the keys of every piece ascend */
	uint64		epoch;			/* for positions: leaves whose image is newer are unclean (rule
								 * M5) */
	uint32		npieces;
	GpbSearchPiece piece[GPB_SEARCH_PIECES];
} GpbSearchSpec;

#endif							/* GPB_SEARCH_H */
