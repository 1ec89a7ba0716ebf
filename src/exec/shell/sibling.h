/*-------------------------------------------------------------------------
 *
 * sibling.h
 *	  Leaves of one parent that are alike: what was planned for one of them holds for another, with
 *	  other columns.
 *
 * A parent may have a thousand leaves, and what a node finds out about one of them, with which
 * index it answers and by which program, takes about as long as core's planning of the leaf.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SIBLING_H
#define GPB_SIBLING_H

#include "postgres.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* A leaf about which something is known, and another, or their topmost parent */
typedef struct GpbSibling
{
	PlannerInfo *root;
	RelOptInfo *leaf;
	RelOptInfo *other;
	int			ncolumns;
	const AttrNumber *column;	/* for each column of the leaf, from 1 on, that of the other, or 0;
								 * NULL: both have the same numbers */
} GpbSibling;

/* Both may be the same relation, and need not have a parent then. */
extern void gpb_sibling_begin(PlannerInfo *root, RelOptInfo *leaf, RelOptInfo *other,
							  GpbSibling *sibling);

/* The leaf's expression, or a List of such, as a copy with the other's columns */
extern Node *gpb_sibling_expression(const GpbSibling *sibling, Node *expression);

/*
 * Are the restrictions of both the same, one for one, and the same ones always true?  False also
 * where they have what is seldom in a restriction.
 */
extern bool gpb_sibling_restrictions_agree(const GpbSibling *sibling);

/*
 * The other's index that has the same columns as this one of the leaf's, in the same order and
 * coding, and the same predicate.  NULL if there is none, or if it is not usable.
 */
extern IndexOptInfo *gpb_sibling_index(const GpbSibling *sibling, const IndexOptInfo *index);

/* Are the leaf's expressions, one for one, the other's? */
extern bool gpb_sibling_lists_agree(const GpbSibling *sibling, List *of_leaf, List *of_other);

/*
 * Fill in rows and costs of a path of the other for what a path of the leaf does: what is not for
 * beginning, which costs "begin", is in proportion to the rows.
 */
extern void gpb_sibling_price(const GpbSibling *sibling, const Path *of_leaf, Cost begin,
							  Path *path);

/*
 * The plan node of the other for what a plan node of the leaf does.  What is beyond its expressions
 * is the same, but that the private list begins with the index; so are, and have the same
 * expressions, the first columns of the scan tuple that are "shared".
 */
extern CustomScan *gpb_sibling_plan(const GpbSibling *sibling, const CustomScan *of_leaf,
									Oid index, int shared);

#endif							/* GPB_SIBLING_H */
