/*-------------------------------------------------------------------------
 *
 * index_columns.h
 *	  The columns of an index: their slots in programs, what the index holds of them, Vars.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_INDEX_COLUMNS_H
#define GPB_INDEX_COLUMNS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "page/coding.h"

/* The slot that programs have for a table column, or -1 if it is not in the index */
extern int	gpb_index_column(IndexOptInfo *index, AttrNumber attno);

/* The place among the index's columns, counted from 0, of the one that has a slot */
extern int	gpb_column_position(IndexOptInfo *index, int column);

/* The coding of the column that has a slot */
extern GpbCoding gpb_slot_coding(IndexOptInfo *index, int column);

/* Have two indexes, whose columns have the same types, the same coding of each? */
extern bool gpb_indexes_have_same_coding(IndexOptInfo *a, IndexOptInfo *b);

/* Is what the index holds of a column, of this coding, what programs take for its values? */
extern bool gpb_column_has_words(IndexOptInfo *index, int column, GpbCoding coding);

/* The number of slots that columns have in programs, as gpb_column_slots() says */
extern int	gpb_index_column_slots(IndexOptInfo *index);

/* Has the index all of these columns, Vars of its table, and can it return them? */
extern bool gpb_index_has_columns(IndexOptInfo *index, List *columns);

/* A Var of the index's key column */
extern Var *gpb_key_var(PlannerInfo *root, IndexOptInfo *index);

/* A Var of the index's key column c, counted from 0 */
extern Var *gpb_key_column_var(PlannerInfo *root, IndexOptInfo *index, int c);

/* Vars of all of the index's key columns */
extern List *gpb_key_vars(PlannerInfo *root, IndexOptInfo *index);

#endif							/* GPB_INDEX_COLUMNS_H */
