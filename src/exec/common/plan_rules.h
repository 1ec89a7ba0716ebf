/*-------------------------------------------------------------------------
 *
 * plan_rules.h
 *	  What the planning of every node of ours asks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PLAN_RULES_H
#define GPB_PLAN_RULES_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* ---- queries and clauses ---- */

/*
 * Is the query a SELECT, or the SELECT of an INSERT, and not below a statement that may recheck
 * rows by running plan trees again (EvalPlanQual)?
 */
extern bool gpb_query_allows_nodes(PlannerInfo *root);

/*
 * The clauses, RestrictInfos or bare ones, as bare clauses in the order in which core would test
 * them: by security level, then by cost, then as they stand.
 */
extern List *gpb_order_clauses(PlannerInfo *root, List *clauses);

/* ---- tables and indexes ---- */

/*
 * Is the relation one ordinary table of the heap access method, without children, sampling or
 * lateral references, whose rows are all in its heap?  Asked when other modules have had their say
 * about the table's paths.
 */
extern bool gpb_rel_is_plain(PlannerInfo *root, RelOptInfo *rel);

/* Is it a gpubtree index on a plain column, whose predicate, if it has one, the query implies? */
extern bool gpb_index_is_usable(IndexOptInfo *index);

/*
 * Is it a gpubtree index with several key columns, none of them an expression, whose predicate, if
 * it has one, the query implies?  Only some nodes know such indexes; those that ask for
 * gpb_index_is_usable() alone know none.
 */
extern bool gpb_index_has_several_keys(IndexOptInfo *index);

/* The slot that programs have for a table column, or -1 if it is not in the index */
extern int	gpb_index_column(IndexOptInfo *index, AttrNumber attno);

/* The place among the index's columns, counted from 0, of the one that has a slot */
extern int	gpb_column_position(IndexOptInfo *index, int column);

/* Is what the index holds of a column what programs take for its values? */
extern bool gpb_column_has_words(IndexOptInfo *index, int column);

/* Has a column values of two halves: is it a uuid, or a numeric of 128 bits? */
extern bool gpb_column_is_wide(IndexOptInfo *index, int column);

/* The number of slots that columns have in programs, as gpb_column_slots() says */
extern int	gpb_index_column_slots(IndexOptInfo *index);

/* The scale in which the index holds a column of type numeric; -1 if it is of another type */
extern int	gpb_column_scale(IndexOptInfo *index, int column);

/* Has the index all of these columns, Vars of its table, and can it return them? */
extern bool gpb_index_has_columns(IndexOptInfo *index, List *columns);

/* A Var of the index's key column */
extern Var *gpb_key_var(PlannerInfo *root, IndexOptInfo *index);

/* A Var of the index's key column c, counted from 0 */
extern Var *gpb_key_column_var(PlannerInfo *root, IndexOptInfo *index, int c);

/* Vars of all of the index's key columns */
extern List *gpb_key_vars(PlannerInfo *root, IndexOptInfo *index);

/* ---- joins ---- */

/* May there be a batched join with this inner table, in this query? */
extern bool gpb_join_is_possible(PlannerInfo *root, RelOptInfo *innerrel);

/*
 * Is the table joined to all others by inner joins alone, but for the outer join "own", which may
 * be NULL?  Then it can be the last to be joined, if core found a way to join the others by
 * themselves.
 */
extern bool gpb_joined_last(PlannerInfo *root, RelOptInfo *innerrel, const SpecialJoinInfo *own);

/* All of the join but the inner table; NULL unless core can compute that by itself. */
extern RelOptInfo *gpb_find_outer_side(PlannerInfo *root, RelOptInfo *joinrel,
									   RelOptInfo *innerrel);

/* The clauses, RestrictInfos, that join the two sides, as core would apply them to this join */
extern List *gpb_join_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
							  RelOptInfo *innerrel);

/* ---- costs ---- */

/* How far the order of the heap follows that of the key: from -1 to 1 */
extern double gpb_index_correlation(PlannerInfo *root, IndexOptInfo *index);

/* How many of so many pages n visits at random touch */
extern double gpb_distinct_pages(double n, double pages);

/*
 * The fraction of so many entries of an index on the table that need a heap visit: those on pages
 * that are neither all-visible nor, as a sample shows now, settled.
 */
extern double gpb_visited_fraction(PlannerInfo *root, RelOptInfo *rel, double entries);

/*
 * The price of the CPU time of so many heap visits, each to a page that others visit too.  squared:
 * the square of the index's correlation.  beside_index_scan: the only other way to answer the query
 * is likely to be core's scan of the index, whose price leaves out what it takes to wait for
 * memory; then so does this one.
 */
extern Cost gpb_visit_cost(const IndexOptInfo *index, double visits, double squared,
						   bool beside_index_scan);

/*
 * The price of the CPU time of so many heap visits at random that come to a page which an earlier
 * batch of visits has been to
 */
extern Cost gpb_again_cost(IndexOptInfo *index, double visits);

/*
 * The price of heap visits for the fraction of so many entries of the index that need one;
 * beside_index_scan is as for gpb_visit_cost().
 */
extern Cost gpb_heap_cost(PlannerInfo *root, IndexOptInfo *index, double entries,
						  double fraction, bool beside_index_scan);

/*
 * The price of reading so many entries of the index, without heap visits; by a device, if one may
 * be asked and is worth its while
 */
extern Cost gpb_read_cost(PlannerInfo *root, IndexOptInfo *index, double entries,
						  bool may_use_device);

/*
 * The price of aggregating so many entries of the index where they lie, heap visits included;
 * beside_index_scan is as for gpb_visit_cost().
 */
extern Cost gpb_count_cost(PlannerInfo *root, IndexOptInfo *index, double entries,
						   bool beside_index_scan);

/*
 * Would core execute this path rather than the other, for as many rows as the query's reader is
 * expected to fetch?  Where a program has no answer, errors have to be those of core's own choice.
 */
extern bool gpb_is_core_choice(PlannerInfo *root, const Path *path, const Path *other);

/*
 * Would core's hashing, if it is what core would do for this grouping by so many columns, be
 * cheaper than a path of ours of this price were it known how few groups there are?  Core may take
 * them to be as many as a column has values, and then hashing looks dearer than it is.
 */
extern bool gpb_hashing_is_cheaper(PlannerInfo *root, RelOptInfo *grouped_rel, Cost price,
								   int columns, double groups);

/*
 * What one more value of an entry that the CPU aggregates anyway costs, in units of
 * cpu_operator_cost.  Measured on one core: 3 M entries took 17.3 ms with one column's sum and 22.3
 * ms with the sums of three.
 */
#define GPB_VALUE_COST		0.1

/*
 * The price of adding up one more column of so many entries: a device reads the leaves once more,
 * and the CPU adds one more value of each entry.
 */
extern Cost gpb_column_cost(const IndexOptInfo *index, double entries);

/*
 * A range whose bounds come from the rows of an outer query is answered for each of them.  Batches
 * of ranges do that better, though core's guesses of the ranges make it look dearer; so a node
 * for one range is charged so many times as much to begin.
 */
#define GPB_EACH_ROW_SETUP		100.0

#endif							/* GPB_PLAN_RULES_H */
