/*-------------------------------------------------------------------------
 *
 * column_skip.c
 *	  Conditions on later key columns as ranges of each group: at planning.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "optimizer/optimizer.h"

#include "exec/price/unknown_bounds.h"
#include "exec/shell/explain_labels.h"
#include "exec/shell/node_explain.h"
#include "exec/where/column_skip.h"
#include "exec/where/condition_match.h"
#include "index/index.h"

/* ---- which conditions ---- */

/* What the restrictions say of one key column */
typedef struct GpbColumnQuals
{
	List	   *quals;			/* RestrictInfos */
	List	   *conditions;		/* of those of them that make no ranges yet */
	double		points;			/* single values that they leave of the column; 0: they do not */
} GpbColumnQuals;

/* Add to the column's quals those RestrictInfos that are conditions on it. */
static void
add_quals(PlannerInfo *root, IndexOptInfo *index, int c, List *computed, List *restrictions,
		  bool ranges, GpbColumnQuals *column)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Expr	   *condition;
		bool		point;

		if (list_member_ptr(column->quals, rinfo))
			continue;
		condition = gpb_match_restriction(root, index, c, rinfo, &point);
		if (condition == NULL || list_member(computed, condition))
			continue;
		column->quals = lappend(column->quals, rinfo);
		if (!ranges)
			column->conditions = lappend(column->conditions, condition);
		if (point)
			column->points = Max(column->points,
								 Max(gpb_count_points(root, index, c, list_make1(rinfo)), 1.0));
	}
}

/*
 * Estimate what is read of the groups by the first "prefix" columns, of which there are so many:
 * the columns from there on make ranges as far as each one before has single values.
 */
static void
estimate_prefix(PlannerInfo *root, IndexOptInfo *index, const GpbColumnQuals *columns, int prefix,
				double groups, GpbSkip *skip)
{
	List	   *quals = NIL;
	int			end = prefix;

	memset(skip, 0, sizeof(*skip));
	skip->prefix = prefix;
	skip->groups = groups;
	skip->ranges = groups;
	while (end < index->nkeycolumns && columns[end].quals != NIL)
	{
		skip->ranges *= Max(columns[end].points, 1.0);
		if (columns[end++].points == 0)
			break;
	}
	for (int c = 0; c < end; c++)
	{
		quals = list_concat(quals, columns[c].quals);
		skip->conditions = list_concat(skip->conditions, columns[c].conditions);
	}
	skip->entries = gpb_range_entries(root, index, quals, 1.0, index->rel->rows);
}

/* The last key column, behind the first, with a condition that makes no ranges yet; 0: none has. */
static int
last_condition(const IndexOptInfo *index, const GpbColumnQuals *columns)
{
	int			c = index->nkeycolumns - 1;

	while (c > 0 && columns[c].conditions == NIL)
		c--;
	return c;
}

void
gpb_price_skip(GpbPriceInput *input, const GpbSkip *skip)
{
	input->searches = skip->groups;
	input->ranges = skip->ranges;
	input->entries = skip->entries;
}

void
gpb_match_skip(PlannerInfo *root, IndexOptInfo *index, List *computed, const GpbRangeSplit *split,
			   GpbSkip *skip)
{
	GpbColumnQuals columns[INDEX_MAX_KEYS] = {0};
	double		groups = 1.0;
	Cost		least = 0.0;
	int			last;

	memset(skip, 0, sizeof(*skip));
	if (index->nkeycolumns < 2 || split->arms != NIL || split->others == NIL ||
		index->tuples <= 0 || index->pages == 0)
		return;
	for (int c = 0; c < index->nkeycolumns; c++)
	{
		add_quals(root, index, c, computed, split->ranges, true, &columns[c]);
		add_quals(root, index, c, computed, split->others, false, &columns[c]);
	}
	last = last_condition(index, columns);
	for (int c = 0; c <= last; c++)
	{
		double		values = columns[c].points;

		/* Behind a single value the column is part of the ranges of the groups before. */
		if (c > 0 && columns[c].conditions != NIL && columns[c - 1].points == 0)
		{
			GpbPriceInput input = {.root = root, .index = index};
			GpbSkip		candidate;
			Cost		cost;

			estimate_prefix(root, index, columns, c, groups, &candidate);
			gpb_price_skip(&input, &candidate);
			cost = gpb_price(&input);
			if (skip->conditions == NIL || cost < least)
			{
				*skip = candidate;
				least = cost;
			}
		}
		if (c == last)
			return;
		if (values == 0)
			values = gpb_count_values(root, index, c, columns[c].quals);
		if (values == 0)
			return;
		groups = Min(groups * values, index->tuples);
	}
}

/* ---- EXPLAIN ---- */

void
gpb_explain_skip(CustomScanState *css, List *skips, const GpbConditions *conditions,
				 List *ancestors, ExplainState *es)
{
	const GpbSkipCounters *counters;

	if (skips == NIL)
		return;
	gpb_explain_clauses(GPB_LABEL_SKIP_COND, css, skips, ancestors, es);
	if (!es->analyze || conditions == NULL)
		return;
	counters = gpb_conditions_skipped(conditions);
	ExplainPropertyInteger(GPB_LABEL_SKIP_GROUPS, NULL, (int64) counters->groups.groups, es);
	ExplainPropertyInteger(GPB_LABEL_SKIP_SEARCHES, NULL, (int64) counters->groups.descents, es);
	if (es->format != EXPLAIN_FORMAT_TEXT || counters->gave_up > 0)
		ExplainPropertyInteger(GPB_LABEL_SKIPS_GIVEN_UP, NULL, (int64) counters->gave_up, es);
}
