/*-------------------------------------------------------------------------
 *
 * least_price.c
 *	  What a path of ours costs at least, known before anything is matched.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/spccache.h"

#include "exec/price/least_price.h"
#include "exec/price/plan_costs.h"
#include "exec/price/skip_cost.h"
#include "exec/shell/plan_columns.h"
#include "mirror/mirror.h"

/* What differs less in its price is the same to add_path(). */
#define GPB_FUZZ	1.01

/* A visit that shares its page with others costs this part of cpu_tuple_cost at least. */
#define GPB_LEAST_VISIT	0.6

/* Is one of the key columns behind the first among the restricted ones? */
static bool
later_column_is_restricted(const IndexOptInfo *index, const Bitmapset *restricted)
{
	for (int c = 1; c < index->nkeycolumns; c++)
	{
		if (gpb_key_column_is_among(index, c, restricted))
			return true;
	}
	return false;
}

/* Without a condition on the first key column the ranges have all entries, if there are others. */
Cost
gpb_least_read_cost(PlannerInfo *root, IndexOptInfo *index, const Bitmapset *restricted,
					bool has_arrays, double rows)
{
	bool		first = gpb_key_column_is_among(index, 0, restricted);
	bool		later = later_column_is_restricted(index, restricted);
	double		entries = clamp_row_est(rows);
	Cost		cost;

	if (!first && !bms_is_empty(restricted))
		entries = Max(entries, clamp_row_est(index->tuples));
	if (!first && !later)
		return gpb_read_cost(root, index, entries, true);
	if (has_arrays || gpb_mirror_spares_cpu())
		return 0.0;
	cost = gpb_read_cost(root, index, entries, false);
	if (later)
		cost = Min(cost, gpb_least_skip_cost(root, index, first));
	return cost;
}

/* See gpb_heap_cost(): pages in a row, or at random for no less than a page in a row. */
Cost
gpb_least_heap_cost(PlannerInfo *root, IndexOptInfo *index, double entries)
{
	RelOptInfo *rel = index->rel;
	double		random_page_cost;
	double		seq_page_cost;
	double		pages;

	if (rel->pages == 0)
		return 0.0;
	get_tablespace_page_costs(rel->reltablespace, &random_page_cost, &seq_page_cost);
	pages = Min(ceil(entries / Max(rel->tuples, 1.0) * rel->pages),
				index_pages_fetched(entries, rel->pages, index->pages, root));
	return pages * Min(random_page_cost, seq_page_cost) +
		entries * GPB_LEAST_VISIT * cpu_tuple_cost;
}

bool
gpb_has_array_clause(List *restrictions)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		if (IsA(lfirst_node(RestrictInfo, lc)->clause, ScalarArrayOpExpr))
			return true;
	}
	return false;
}

/*
 * Of two paths that add_path() takes for equal it keeps the first, unless the other is better in
 * something.
 */
bool
gpb_path_is_beaten(RelOptInfo *rel, Cost startup, Cost total, double rows, List *pathkeys)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = lfirst(lc);

		if (GPB_DISABLED(path) == 0 && path->param_info == NULL && path->rows <= rows &&
			total >= path->total_cost && startup >= path->startup_cost &&
			pathkeys_contained_in(pathkeys, path->pathkeys))
			return true;
	}
	return false;
}

/*
 * A path that is cheaper may give way to one that costs a little more, and is better otherwise.
 */
bool
gpb_is_never_cheapest(RelOptInfo *rel, Cost total)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = lfirst(lc);

		if (GPB_DISABLED(path) == 0 && path->param_info == NULL &&
			total > path->total_cost * GPB_FUZZ)
			return true;
	}
	return false;
}
