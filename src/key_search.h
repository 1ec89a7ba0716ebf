/*-------------------------------------------------------------------------
 *
 * key_search.h
 *	  Search among the keys of one page, for many keys with the widest
 *	  instructions that this CPU has.
 *
 * Plain C, free of PostgreSQL headers.  The search for many keys exists in three forms, AVX-512,
 * AVX2 and plain C (cpu_form.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEY_SEARCH_H
#define GPB_KEY_SEARCH_H

#include "layout.h"

/*
 * Return how many of the page's n ascending keys are below "key".  n may be any number that the
 * page can hold.  "key" fits the keys' width.
 */
extern int	gpb_page_keys_below(const void *page, int key_width, int n, GpbKey key);

/* Return how many of the page's n ascending keys are at or below "key". */
extern int	gpb_page_keys_upto(const void *page, int key_width, int n, GpbKey key);

/*
 * Search for nkeys keys in any order: below[i] becomes the number of the page's n ascending keys
 * that are below keys[i].  Several searches advance in step, so that they wait for memory together.
 */
extern void gpb_page_keys_below_many(const void *page, int key_width, int n,
									 const GpbKey *keys, int nkeys, uint16 *below);

/*
 * How many entries of a page of "count" entries, with rows of this width, have keys below "key"?
 * The page may have runs: what is counted is entries, not keys.
 */
static inline int
gpb_entries_below(const void *page, int key_width, int row_width, int count, GpbKey key)
{
	int			nruns;

	if (!gpb_has_runs(row_width))
		return gpb_page_keys_below(page, key_width, count, key);
	nruns = gpb_page_runs(page, key_width);
	return gpb_run_begin(gpb_run_ends(page, key_width, nruns),
						 gpb_page_keys_below(page, key_width, nruns, key), count);
}

static inline int
gpb_entries_upto(const void *page, int key_width, int row_width, int count, GpbKey key)
{
	int			nruns;

	if (!gpb_has_runs(row_width))
		return gpb_page_keys_upto(page, key_width, count, key);
	nruns = gpb_page_runs(page, key_width);
	return gpb_run_begin(gpb_run_ends(page, key_width, nruns),
						 gpb_page_keys_upto(page, key_width, nruns, key), count);
}

static inline void
gpb_entries_below_many(const void *page, int key_width, int row_width, int count,
					   const GpbKey *keys, int nkeys, uint16 *below)
{
	const uint16 *ends;
	int			nruns;
	int			i;

	if (!gpb_has_runs(row_width))
	{
		gpb_page_keys_below_many(page, key_width, count, keys, nkeys, below);
		return;
	}
	nruns = gpb_page_runs(page, key_width);
	ends = gpb_run_ends(page, key_width, nruns);
	gpb_page_keys_below_many(page, key_width, nruns, keys, nkeys, below);
	for (i = 0; i < nkeys; i++)
		below[i] = (uint16) gpb_run_begin(ends, below[i], count);
}

#endif							/* GPB_KEY_SEARCH_H */
