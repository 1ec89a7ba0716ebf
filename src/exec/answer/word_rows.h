/*-------------------------------------------------------------------------
 *
 * word_rows.h
 *	  Rows made straight from the groups of a program.
 *
 * A node with groups fills its scan tuple, which core then projects to the node's own columns.
 * Where each of those is a column of the scan tuple or a constant, as mostly, the projection is
 * left out, and columns that nobody asks for are not made: each column of the result is a word of
 * the group's record, or an aggregate that is computed from it.  There may be hundreds of thousands
 * of groups, and the device finds them in less time than a projection takes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_WORD_ROWS_H
#define GPB_WORD_ROWS_H

#include "postgres.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"

#include "exec/answer/merge_groups.h"
#include "exec/compile/program_words.h"

typedef struct GpbWordRows GpbWordRows;

/* What the columns of a scan tuple are, counted from 0 */
typedef struct GpbRowSources
{
	GpbCodeSource codes;		/* whose codes groups are, and the entries of the answers */
	int			nitems;			/* aggregates, which come first */
	const GpbAggregateItem *items;
	int			ngroups;		/* group slots of the program */
	int			column[GPB_MAX_GROUP_SLOTS];	/* of each group slot; of values of two words the
												 * slots have one column */
	GpbWordType type[GPB_MAX_GROUP_SLOTS];	/* of each */
	int			by_number;		/* the column that follows from a group's number; -1: none */
} GpbRowSources;

/*
 * Begin for a node whose scan tuple and projection are there, and that tests no row.  Returns NULL
 * if its columns are not all columns of the scan tuple or constants.  Memory is of the current
 * context.
 */
extern GpbWordRows *gpb_word_rows_begin(CustomScanState *css);

/*
 * Rows will be those of groups of an ask's last question.  "datums", which must stay, has
 * the value of the column by_number for each number.
 */
extern void gpb_word_rows_start(GpbWordRows *rows, const GpbRowSources *sources,
								const GpbAsk *ask, const Datum *datums);

/*
 * The next row, in the node's result slot, of the groups in the list that lie at *at, which is 0 at
 * first; NULL after the last one.  Groups of no entries are none.
 */
extern TupleTableSlot *gpb_word_rows_next(GpbWordRows *rows, const GpbGroupList *groups,
										  uint64 *at);

#endif							/* GPB_WORD_ROWS_H */
