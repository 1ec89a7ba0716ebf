/*-------------------------------------------------------------------------
 *
 * core_paths.c
 *	  How a path of ours stands beside those that a relation has.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/prep.h"

#include "exec/price/core_paths.h"

/* What differs less in its price is the same to add_path(): STD_FUZZ_FACTOR there. */
#define GPB_FUZZ	1.01

Path *
gpb_cheapest_path(const RelOptInfo *rel)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (bms_is_empty(PATH_REQ_OUTER(path)) &&
			(best == NULL || gpb_is_cheaper(path, best)))
			best = path;
	}
	return best;
}

bool
gpb_is_core_choice(PlannerInfo *root, const Path *path, const Path *other)
{
	double		fraction = root->tuple_fraction;

	/* A number of rows, or a part of all, as in get_cheapest_fractional_path() */
	if (fraction >= 1.0)
		fraction /= Max(path->rows, 1.0);
	return compare_fractional_path_costs((Path *) path, (Path *) other, fraction) < 0;
}

bool
gpb_hashing_is_cheaper(PlannerInfo *root, RelOptInfo *grouped_rel, Cost price, int columns,
					   double groups)
{
	AggPath    *best = (AggPath *) gpb_cheapest_path(grouped_rel);
	AggClauseCosts aggregates = {0};
	Path	   *rows;
	Path		hashed = {0};
	Path		ours = {0};

	if (best == NULL || !IsA(best, AggPath) || best->aggstrategy != AGG_HASHED ||
		best->aggsplit != AGGSPLIT_SIMPLE || groups > best->numGroups)
		return false;
	rows = best->subpath;
	/* what it reads costs more already */
	if (price <= rows->total_cost)
		return false;
	get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &aggregates);
	cost_agg(&hashed, root, AGG_HASHED, &aggregates, columns, groups, NIL, rows->startup_cost,
			 rows->total_cost, rows->rows, rows->pathtarget->width);
	GPB_ADD_DISABLED(&hashed, rows);
	ours.total_cost = price;
	return gpb_is_cheaper(&hashed, &ours);
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
