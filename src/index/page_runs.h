/*-------------------------------------------------------------------------
 *
 * page_runs.h
 *	  What page.c does on a leaf that has runs.
 *
 * Each function does what that of page.c does which has its name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PAGE_RUNS_H
#define GPB_PAGE_RUNS_H

#include "index/index.h"

/* Write a locator as a row of a leaf with runs. */
static inline void
gpb_put_short_row(char *row, uint64 locator)
{
	uint64		bits = gpb_short_of_locator(locator);

	memcpy(row, &bits, GPB_RUN_ROW_WIDTH);
}

/* The row is a locator, as on a page without runs. */
extern void gpb_runs_insert(Page page, int position, const void *key, const void *row);
extern void gpb_runs_truncate(Page page, int n);
/* At least one entry is removed; the hint that entries are dead stays. */
extern void gpb_runs_delete(Page page, const uint16 *positions, int n);
/* The target is empty. */
extern void gpb_runs_append(Page target, Page source, int from, int to);

/* Has each run of the page entries, and a greater key than the one before? */
extern bool gpb_runs_ascend(Page page);

#endif							/* GPB_PAGE_RUNS_H */
