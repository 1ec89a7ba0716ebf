/*-------------------------------------------------------------------------
 *
 * search.cuh
 *	  Functions of plain data: a step of the search among separators, whether a leaf is clean,
 *	  the visibility of a heap block.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SEARCH_CUH
#define GPB_SEARCH_CUH

#include "tree.cuh"

#define GPB_WARP			32
#define GPB_ALL_LANES		0xFFFFFFFFu

/* ---- 33-ary search: n sorted candidates, the answer one of n + 1 places ---- */

/* The distance between 32 probes that leaves the fewest candidates to the next step */
GPB_FN uint32
gpb_probe_stride(uint32 n)
{
	return (uint32) (((uint64) n + 1 + GPB_WARP) / (GPB_WARP + 1));
}

/* The number of the candidate that a lane looks at; there is none if that is n or more. */
GPB_FN uint64
gpb_probe(uint32 stride, int lane)
{
	return (uint64) (lane + 1) * stride - 1;
}

/* Separator i */
GPB_FN GpbBound
gpb_separator(const GpbSeparatorArray *separators, uint32 i)
{
	GpbBound	separator;

#ifdef GPB_CUDA_WIDE
	separator.key = ((const uint128 *) separators->key)[i];
#else
	separator.key = separators->key_width == 8 ? ((const uint64 *) separators->key)[i] :
		((const uint32 *) separators->key)[i];
#endif
	separator.tie = separators->tie[i];
	return separator;
}

/* Is separator i below the bound, or, if or_equal, at it? */
GPB_FN bool
gpb_separator_below(const GpbSeparatorArray *separators, uint32 i, GpbBound bound, bool or_equal)
{
	GpbBound	separator = gpb_separator(separators, i);

	return or_equal ? !gpb_bound_less(bound, separator) : gpb_bound_less(separator, bound);
}

/* The limit of leaf i, which is the next separator */
GPB_FN GpbBound
gpb_leaf_limit(const GpbSeparatorArray *separators, uint32 i)
{
	GpbBound	limit;

	limit.key = ~(GpbKey) 0;
	limit.tie = ~(uint64) 0;
	if (i + 1 < separators->n)
		limit = gpb_separator(separators, i + 1);
	return limit;
}

/*
 * Find the last separator, from "at" on, that is below the bound, or, if or_equal, at or below it.
 * That must be true of separator "at", unless it is the first of all.  One thread does it alone, in
 * doubling steps and then by halves.
 */
GPB_FN uint32
gpb_gallop_separators(const GpbSeparatorArray *separators, uint32 at, GpbBound bound, bool or_equal)
{
	uint64		step = 1;
	uint64		end;

	while (at + step < separators->n &&
		   gpb_separator_below(separators, (uint32) (at + step), bound, or_equal))
	{
		at += (uint32) step;
		step *= 2;
	}
	end = at + step < separators->n ? at + step : separators->n;
	while (end - at > 1)
	{
		uint32		mid = (uint32) (at + (end - at) / 2);

		if (gpb_separator_below(separators, mid, bound, or_equal))
			at = mid;
		else
			end = mid;
	}
	return at;
}

/*
 * Find the last separator at or below the bound: go down the tree with the bound's key, then on to
 * the right with its tie.
 */
GPB_FN uint32
gpb_last_separator(const GpbTree *tree, const GpbSeparatorArray *separators, GpbBound bound)
{
#ifdef GPB_CUDA_WIDE
	uint32		at = gpb_tree_descend<uint128>(tree, tree->top + 1, 0, bound.key);
#else
	uint32		at = separators->key_width == 8 ?
		gpb_tree_descend<uint64>(tree, tree->top + 1, 0, bound.key) :
		gpb_tree_descend<uint32>(tree, tree->top + 1, 0, (uint32) bound.key);
#endif

	return gpb_gallop_separators(separators, at, bound, true);
}

/* ---- judging a leaf (rule M4) ---- */

/* The image of a block if it may be used: if it is not changed and not newer than the request */
GPB_FN const char *
gpb_unchanged_image(const GpbLeafJob *job, uint32 block)
{
	uint32		number = block / GPB_EXTENT_PAGES;
	uint32		at = block % GPB_EXTENT_PAGES;

	if (block >= job->changed_blocks || number >= job->images.nextents ||
		(job->changed != NULL && ((job->changed[block / 32] >> (block % 32)) & 1) != 0) ||
		job->images.extent[number].page == NULL ||
		job->images.extent[number].stamp[at] > job->epoch)
		return NULL;
	return job->images.extent[number].page + (size_t) at * GPB_PAGE_SIZE;
}

/* The image of a leaf that is to be read */
struct GpbLeafView
{
	const char *page;			/* NULL: the leaf is not clean */
	int			count;
#ifdef GPB_CUDA_RUNS
	bool		runs;			/* has it runs? */
#endif
};

/* The width of the job's keys, a constant where there are wide keys alone */
GPB_FN int
gpb_job_key_width(const GpbLeafJob *job)
{
#ifdef GPB_CUDA_WIDE
	(void) job;
	return GPB_WIDE_KEY;
#else
	return job->key_width;
#endif
}

/* Judge the leaf of separator i; its page is NULL if it is not clean. */
GPB_FN GpbLeafView
gpb_judge_leaf(const GpbLeafJob *job, uint32 i)
{
	GpbLeafView leaf;

	leaf.count = 0;
#ifdef GPB_CUDA_RUNS
	leaf.runs = false;
#endif
	leaf.page = gpb_unchanged_image(job, job->separators.child[i]);
	if (leaf.page == NULL)
		return leaf;
	leaf.count = gpb_page_leaf_count(leaf.page, gpb_job_key_width(job), job->row_width,
									 gpb_separator(&job->separators, i),
									 gpb_leaf_limit(&job->separators, i));
	if (leaf.count < 0)
		leaf.page = NULL;
#ifdef GPB_CUDA_RUNS
	else
		leaf.runs = gpb_has_runs(gpb_page_row_width(leaf.page));
#endif
	return leaf;
}

/* ---- visibility ---- */

/* Does the snapshot see the entry with this locator, by the bits? */
GPB_FN bool
gpb_entry_seen(const GpbVisibilityBits *visibility, uint64 locator)
{
	uint32		block = gpb_locator_block(locator);
	uint32		group = block / GPB_SUMMARY_BLOCKS;
	int			bits;

	if (block >= visibility->heap_blocks)
		return false;
	if ((visibility->summary[group / 32] >> (group % 32)) & 1)
		return true;
	bits = gpb_heap_bits(visibility->bits, block);
	return (bits & 1) != 0 ||
		(bits != 0 && visibility->nexceptions > 0 &&
		 !gpb_is_exception(visibility->exceptions, visibility->nexceptions,
						   locator & GPB_TID_MASK));
}

/* Is every heap block that the summary's bit "group" stands for all-visible?  The map has them. */
GPB_FN bool
gpb_group_all_visible(const uint8 *map, uint32 group)
{
	const uint64 *words = (const uint64 *) (map + (size_t) group * GPB_SUMMARY_BYTES);
	uint64		all = words[0] & words[1] & words[2] & words[3];

	return (all & 0x5555555555555555ul) == 0x5555555555555555ul;
}

#ifdef __CUDACC__

/*
 * Write a word of the summary of the visibility bits, which has a bit for each whole group of heap
 * blocks.  The whole warp calls, each lane with a group of its own.
 */
static __device__ __forceinline__ void
gpb_summarize_visibility(const GpbVisibilityBits *visibility, uint32 group)
{
	uint32	   *summary = (uint32 *) visibility->summary;
	bool		whole = group < visibility->heap_blocks / GPB_SUMMARY_BLOCKS;
	bool		all = whole && gpb_group_all_visible(visibility->bits, group);
	uint32		word = __ballot_sync(GPB_ALL_LANES, all);

	if (group % 32 == 0 && group / 32 < gpb_summary_words(visibility->heap_blocks))
		summary[group / 32] = word;
}

#endif							/* __CUDACC__ */

#endif							/* GPB_SEARCH_CUH */
