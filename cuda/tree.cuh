/*-------------------------------------------------------------------------
 *
 * tree.cuh
 *	  The tree over the separators, as kernels see it.
 *
 * This is Harmonia's tree (Yan et al., PPoPP 2019): a key region, level after level from the root,
 * and a child region of prefix sums.  The lowest level is the separators of all level-1 pages, one
 * sorted array; key i of a level above is the first key of node i of the level below, and a node is
 * as many consecutive keys as one memory line holds.
 *
 *		level 2		| k0                                  |			a node
 *		level 1		| k0      k16      k32  ...           | ...
 *		level 0		| k0 k1 ..| k16 .. | k32 ..   |         separators
 *		children	  b0 b1 .. b16 ..                         leaf blocks
 *
 * So each level is a sorted array too.  All nodes but the last of a level are full, since the tree
 * is written anew wherever it changes.  Therefore the prefix sums of Harmonia's Equation 1,
 * child = first child of the node + number of keys passed, are multiples of the fanout:
 * node * fanout + passed.  Only the level-1 pages are filled unequally: their prefix sums say where
 * the separators of each begin (GpbPlacedPage in tree.cu), and thereby what a refresh has to write.
 *
 * A search goes, on each level, to the last key of the node below the one sought, or to the first
 * of the node where none is below.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TREE_CUH
#define GPB_TREE_CUH

#include "job.cuh"

/* A key of 16 bytes; no index has such keys yet, but level-1 pages can have them. */
typedef unsigned __int128 uint128;

#define GPB_NODE_BYTES		128 /* a line of the GPU's caches */
#define GPB_TREE_LEVELS		10	/* 2^32 separators at a fanout of 8, and one to spare */

struct GpbTree
{
	const void *key[GPB_TREE_LEVELS];	/* of each level, 0 the separators' */
	uint32		n[GPB_TREE_LEVELS]; /* keys of each level */
	const uint32 *child;		/* leaf block of each separator */
	int			top;			/* the root's level */
	uint8		key_width;
};

/* Load a key from a page, where keys of 16 bytes are aligned to 8 bytes alone. */
GPB_FN uint32
gpb_load_key(const uint32 *from)
{
	return *from;
}

GPB_FN uint64
gpb_load_key(const uint64 *from)
{
	return *from;
}

GPB_FN uint128
gpb_load_key(const uint128 *from)
{
	const uint64 *word = (const uint64 *) from;

	return (uint128) word[1] << 64 | word[0];
}

template <typename Key>
static constexpr uint32 gpb_fanout = GPB_NODE_BYTES / sizeof(Key);

template <typename Key>
GPB_FN const Key *
gpb_tree_keys(const GpbTree *tree, int level)
{
	return (const Key *) tree->key[level];
}

/*
 * Find the last separator below the key, going down from key "at" of "level", or from above the
 * root (level top + 1, key 0).  One thread does it alone, with a binary search in each node, all of
 * whose loads but the first find the memory line in the nearest cache.  Only the benchmark of node
 * sizes has nodes of other sizes.
 */
template <typename Key, uint32 FANOUT = gpb_fanout<Key>>
GPB_FN uint32
gpb_tree_descend(const GpbTree *tree, int level, uint32 at, Key key)
{
	while (level > 0)
	{
		const Key  *keys = gpb_tree_keys<Key>(tree, --level);
		uint32		first = at * FANOUT;
		uint32		rest = tree->n[level] - first;
		uint32		n = rest < FANOUT ? rest : FANOUT;

		at = first;
		while (n > 1)
		{
			uint32		half = n / 2;

			at = keys[at + half] < key ? at + half : at;
			n -= half;
		}
	}
	return at;
}

#endif							/* GPB_TREE_CUH */
