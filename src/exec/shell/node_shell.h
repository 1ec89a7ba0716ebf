/*-------------------------------------------------------------------------
 *
 * node_shell.h
 *	  What all nodes of ours have in common: the path, the plan node, and the executor node's
 *	  relations, child, and the one row that some return.
 *
 * A kind of node is a constant GpbNodeKind.  Its executor state is a struct that begins with a
 * GpbNode; its paths are structs that begin with a CustomPath, which core allows since it never
 * copies paths.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_NODE_SHELL_H
#define GPB_NODE_SHELL_H

#include "postgres.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "utils/rel.h"

/* ---- planning ---- */

/*
 * A path of "size" bytes, which begins with a CustomPath and is zero beyond it, for rows of this
 * target that replace those of "parent".  It is not parallel safe, and projects.
 */
extern CustomPath *gpb_make_path(Size size, const CustomPathMethods *methods, RelOptInfo *parent,
								 PathTarget *target);

/* Is this the name of a node of ours, not of another module's? */
extern bool gpb_is_node_name(const char *name);

/* Is it a path of ours? */
extern bool gpb_is_our_path(const Path *path);

/* A kind of node, as core's executor is told about it */
typedef struct GpbNodeKind
{
	CustomScanMethods scan;		/* must be first: plan nodes point to it */
	CustomExecMethods exec;
	Size		state_size;		/* of the executor state, which begins with a GpbNode */
	void		(*answer) (CustomScanState *css);	/* for gpb_exec_one_row() */
} GpbNodeKind;

/*
 * The members of a GpbNodeKind that every kind needs: its name, and the type of its executor state
 */
#define GPB_NODE_KIND(name, state) \
	.scan = {.CustomName = (name), .CreateCustomScanState = gpb_create_node}, \
	.exec.CustomName = (name), \
	.state_size = sizeof(state)

/* The members for a node that returns one row, which this function puts into the scan tuple */
#define GPB_ONE_ROW(function) \
	.exec.ExecCustomScan = gpb_exec_one_row, \
	.exec.ReScanCustomScan = gpb_rescan_one_row, \
	.answer = (function)

/*
 * Make the plan node of a path.  columns: the expressions that the scan tuple has, in its order.
 * The scan tuple is of the table scanrelid or, if that is 0, of a join.  custom_exprs and
 * custom_private are left to the caller.
 */
extern CustomScan *gpb_make_node(const GpbNodeKind *kind, const CustomPath *path, Index scanrelid,
								 List *tlist, List *qual, List *plans, List *columns);

/* Raise an error if gpb_finish_alike_plans() has not seen the plan node (sibling.h). */
static inline void
gpb_require_finished(const CustomScan *scan)
{
	if (scan->custom_exprs == NIL)
		elog(ERROR, "plan of %s was not finished", scan->methods->CustomName);
}

/* The expressions that a plan returns */
extern List *gpb_plan_columns(const Plan *plan);

/* ---- the executor node ---- */

/* What the executor state of every node begins with */
typedef struct GpbNode
{
	CustomScanState css;
	PlanState  *child;			/* the plan that the node runs, or NULL */
	Plan	   *ordinary_plan;	/* for when a program has no answer, or NULL; this and what follows
								 * is of answer/ordinary.h */
	PlanState  *ordinary;		/* that plan, once it has begun */
	int			ordinary_flags; /* to begin it with */
	const char *gave_up;		/* why that, or another way, returns the rows of this execution;
								 * NULL if the node does */
	Relation	heap;
	Relation	index;			/* NULL under EXPLAIN without ANALYZE */
	bool		opened_heap;	/* the table was opened here, not by the executor */
	const char *once_gave_up;	/* why an execution was left to another way; NULL if none was */

	/* for nodes that return one row */
	MemoryContext work;			/* one execution's memory, which the row is in */
	bool		answered;		/* the scan tuple holds the answer */
	bool		returned;		/* and was handed out */
} GpbNode;

/*
 * Note, for EXPLAIN, why this execution of the node leaves its rows to another way.  Of several
 * executions the first reason is kept.
 */
extern void gpb_note_gave_up(GpbNode *node, const char *why);

/* CreateCustomScanState of every kind */
extern Node *gpb_create_node(CustomScan *plan);

/*
 * Both relations stay open until gpb_close_node(), so that no command of this session can change
 * them under the node (rule M10).  Each of the functions that open them returns false under EXPLAIN
 * without ANALYZE, when the index stays closed and nothing is to be executed.
 */

/*
 * Open the index of a node that scans one table (scanrelid is not 0), which the executor has opened
 * and will close.  The node is no place where WHERE CURRENT OF could look for a row's TID, so the
 * table is taken away from there.
 */
extern bool gpb_open_scanned(GpbNode *node, Oid index, int eflags);

/*
 * Like that for a node whose table its child scans, or the table's partitions or children: the
 * index tells how entries are laid out, is one of these, and is not read.
 */
extern bool gpb_open_above(GpbNode *node, Oid index, int eflags);

/*
 * Open the index of a node that joins its child with one table, and that table: the last column of
 * the scan tuple is a Var of it, or of the parent of which it is a leaf.
 */
extern bool gpb_open_joined(GpbNode *node, Oid index, int eflags);

/*
 * Open an index and its table, of which the plan node says nothing else, but which is in the
 * statement's range table, and so locked, if by another process than a worker.  The caller closes
 * both.  Raises ERRCODE_T_R_SERIALIZATION_FAILURE as the functions above do.
 */
extern void gpb_open_unnamed(EState *estate, Oid index, int eflags, Relation *heap_relation,
							 Relation *index_relation);

/*
 * Let EXPLAIN show a plan of the node that has begun, behind one shown before, of which there may
 * be one.  The executor has it as the node's outer or inner plan, not in custom_ps: pg_qualstats
 * collects the conditions of these alone.
 */
extern void gpb_show_child(GpbNode *node, PlanState *child);

/* Start the plan that the node runs, the first of custom_plans. */
extern void gpb_start_child(GpbNode *node, int eflags);

/* Let the child begin anew. */
extern void gpb_rescan_child(GpbNode *node);

/*
 * End the child and the ordinary plan, and close the relations; locks are kept to the end of the
 * transaction.
 */
extern void gpb_close_node(GpbNode *node);

/*
 * The row in the scan tuple as it comes out of the node; NULL if the condition refuses it, which
 * may be NULL itself.
 */
static inline TupleTableSlot *
gpb_node_result(GpbNode *node, ExprState *condition)
{
	PlanState  *ps = &node->css.ss.ps;

	ps->ps_ExprContext->ecxt_scantuple = node->css.ss.ss_ScanTupleSlot;
	if (condition != NULL && !ExecQual(condition, ps->ps_ExprContext))
	{
		InstrCountFiltered1(ps, 1);
		return NULL;
	}
	return ps->ps_ProjInfo == NULL ? node->css.ss.ss_ScanTupleSlot : ExecProject(ps->ps_ProjInfo);
}

/* ---- nodes that return one row ---- */

/*
 * Empty the scan tuple, and the memory of the answer before.  All columns are NULL then; the caller
 * stores the tuple when it has put in what is not.
 */
extern void gpb_clear_answer(GpbNode *node);

/*
 * ExecCustomScan: the one row, answered unless the answer at hand is still good, then no more.  The
 * node makes node->work when it begins.
 */
extern TupleTableSlot *gpb_exec_one_row(CustomScanState *css);

/* ReScanCustomScan: the answer stays good unless a parameter, also of the child, has changed. */
extern void gpb_rescan_one_row(CustomScanState *css);

#endif							/* GPB_NODE_SHELL_H */
