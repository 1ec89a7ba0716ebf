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
#include "nodes/extensible.h"
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
 * The plan nodes of leaves that are alike.  Zero at first, but for the model, which is in no plan.
 */
typedef struct GpbAlikePlans
{
	const CustomScan *model;
	CustomScan *first;			/* that was made; NULL: none yet */
	bool		may_share;		/* others have what setrefs.c makes of the first's expressions */
} GpbAlikePlans;

/* A path that differs from the model, another leaf's, in the table and the index alone */
typedef struct GpbAlikePath
{
	CustomPath	path;
	CustomPath *model;
	GpbAlikePlans *plans;		/* of the model */
	GpbSibling	sibling;		/* from the model's leaf to this one */
	Oid			index;
} GpbAlikePath;

/*
 * A path without costs, of this target, that does with the sibling's other leaf, whose index this
 * is, what the model does with the sibling's leaf.  Restrictions and indexes of both must have been
 * found to be the same.
 */
extern CustomPath *gpb_make_alike_path(const CustomPathMethods *methods, CustomPath *model,
									   GpbAlikePlans *plans, const GpbSibling *sibling,
									   const IndexOptInfo *index, PathTarget *target);

/*
 * Are fewer pages of the other visible to all than of the leaf, so that what it does has another
 * price?
 */
extern bool gpb_sibling_is_less_visible(const RelOptInfo *leaf, const RelOptInfo *other);

/*
 * The plan node of the path, with this target list, of whose model's plans the model is known.
 * What is beyond its expressions is the same, but that the private list begins with the index; so
 * are, and have the same expressions, the first columns of the scan tuple that are "shared".
 * same_target: the target list has nothing but these, so it is the same for all nodes too, and
 * nobody looks into it before the statement has been planned, as a sort would.
 *
 * What the node evaluates refers to columns of its scan tuple when setrefs.c has seen it, and is
 * the same for all nodes then.  So it is only once given to setrefs.c, which takes as long as the
 * rest of a leaf's planning: other nodes have the result when the statement has been planned
 * (gpb_finish_alike_plans()).  Not where it has parameters of the executor or subqueries, which are
 * collected for each node before; nor where nobody will finish the plan.
 */
extern CustomScan *gpb_sibling_plan(const GpbAlikePath *path, int shared, List *tlist,
									bool same_target);

/*
 * Where the statement that is being planned has its nodes that are to be finished, a List; NULL
 * outside of planning.  Whoever plans a statement within it sets another.
 */
extern List **gpb_unfinished_plans;

/* Finish the nodes of a list, when their statement has been planned. */
extern void gpb_finish_alike_plans(List *unfinished);

#endif							/* GPB_SIBLING_H */
