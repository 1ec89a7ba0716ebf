/*-------------------------------------------------------------------------
 *
 * leaf_cells.h
 *	  What all entries of a leaf add to an answer, remembered from an earlier visit (rule M14).
 *
 * A cell of a leaf has what its entries add up to, whoever sees their rows, and which heap blocks
 * they lead to.  A later reader who finds that the leaf has not changed, and that all rows on those
 * blocks are seen, takes what the cell has and does not visit the leaf.
 *
 * A reader goes from leaf to leaf by cells: it has visited a leaf, or passed it by, and asks for
 * the one to which that leaf's right link leads.
 *
 * The least and greatest values of a leaf may tell that all entries pass a program's filters, or
 * that none does (zone_cells.h).  Then the leaf is passed by too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LEAF_CELLS_H
#define GPB_LEAF_CELLS_H

#include "compat.h"

#include "access/xlogdefs.h"
#include "storage/buf.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "engine/cell_table.h"
#include "engine/seen_blocks.h"
#include "program/answer.h"
#include "program/program_entries.h"
#include "program/program_zone.h"

/* gpubtree.enable_leaf_cache */
extern bool gpb_enable_leaf_cache;

extern void gpb_leaf_cells_define_settings(void);
extern void gpb_leaf_cells_request_shmem(void);
extern void gpb_leaf_cells_init_shmem(void);

/* The most columns of a program whose leaves cells can answer for */
#define GPB_CELL_COLUMNS	8

/* How many leaves are best passed by in one call, which is not interrupted */
#define GPB_CELL_STEP		64

/* The entries of one value of a column, and the sums of other columns that go with it */
typedef struct GpbCountedValue
{
	int64		value;
	int64		count;
	int64		sum[GPB_VALUE_SUMS];
} GpbCountedValue;

/* With more values than this, totals are taken out before more leaves are passed by. */
#define GPB_FEW_VALUES		64

/* What was added up by value; where there was none of these, null.count is 0. */
typedef struct GpbValueTotals
{
	int			n;
	int			leaves;			/* whose cells were added */
	int64		entries;		/* of them */
	uint16		place[GPB_CELL_VALUES]; /* where those of the last cell are */
	GpbValuesCell last;
	GpbCountedValue null;
	GpbCountedValue of[GPB_FEW_VALUES + GPB_CELL_STEP * GPB_CELL_VALUES];	/* values ascend */
} GpbValueTotals;

/* What was added up from cells, in the order of the answer's format */
typedef struct GpbCellTotal
{
	int64		entries;		/* but those that are counted by value */
	int64		none;			/* leaves of which no entry passes the program's filters */
	GpbColumnState state[GPB_MAX_ANSWER_COLUMNS];
	GpbNarrowSum sum[GPB_MAX_ANSWER_COLUMNS];	/* of a float8 whose sum is wanted */
	GpbValueTotals values;		/* of a program that is a function of one column */
} GpbCellTotal;

/* Why a leaf could not be passed by.  Only one whose cell is absent is to be recorded. */
typedef enum GpbCellMiss
{
	GPB_CELL_ABSENT,			/* there is no cell, or it is of another state of the leaf, or has
								 * not what is wanted */
	GPB_CELL_UNSEEN,			/* some row may not be seen */
	GPB_CELL_YOUNGER,			/* the cell is of another reader, who came after E */
	GPB_CELL_UNHELD,			/* no cell could have what is wanted */
	GPB_CELL_MANY,				/* likewise, by value: there are too many values */
	GPB_CELL_MIXED,				/* some entries may pass the program's filters, and some not */
	GPB_CELL_ENDS				/* the range ends on the leaf */
} GpbCellMiss;

#define GPB_CELL_MISSES		(GPB_CELL_ENDS + 1)

/* The most leaves whose cells can be prefetched before the walk comes to them */
#define GPB_CELL_AHEAD		512

/* What is wanted of a column of the format */
typedef struct GpbCellWant
{
	uint8		column;			/* as in program.h */
	uint8		want;			/* GPB_WANT_* */
	bool		sums_floats;	/* an exact sum, which only a cell of its own has */
} GpbCellWant;

/*
 * One reader: an index, a snapshot and a program.  If the program is a function of one column, the
 * format has no column at first, and the entries of each value of that column are wanted instead.
 * Where a leaf has too many values, and filters may decide leaves, the reader goes over to that.
 */
typedef struct GpbCellReader
{
	bool		eligible;		/* may leaves be passed by and recorded at all? */
	const char *why_not;		/* if not, why, in words for users; NULL if they want no cells */
	const GpbProgram *program;
	const GpbAnswerFormat *answers; /* of the program */
	const GpbAnswerFormat *format;	/* of the columns whose cells are read; so the program's, if it
									 * is plain */
	GpbCellWant wants[GPB_CELL_COLUMNS];	/* by place in the format */
	GpbEvaluator *evaluator;	/* of a program that is not plain, and lists nothing */
	const GpbValueForm *by_value;	/* its form, if it is a function of one column, or NULL */
	bool		counts;			/* are leaves passed by with counts by value (value_cells.h)? */
	bool		counts_only;	/* and is there no other way? */
	bool		filters;		/* do filters decide about leaves (zone_cells.h)?  Then there is */
	struct GpbZoneCells *zone;	/* what that wants of cells, or NULL before the first leaf */
	MemoryContext context;		/* its memory */
	RelFileNode file;
	uint32		name;			/* of the cells of the file's leaves */
	uint32		value_name[1 + GPB_VALUE_SUMS]; /* of those of values, and of sums by value */
	XLogRecPtr	upto;			/* E of rule M14; 0 if not read yet */
	GpbSeenBlocks seen;			/* since E was read */

	bool		passing;		/* were some leaves passed by when that was tried last? */
	BlockNumber missed;			/* the leaf that could not be passed by last; InvalidBlockNumber if
								 * cells were not asked */
	GpbCellMiss miss;			/* why */
	uint32		failures;		/* leaves that could not be, less those made up for */
	GpbCellMiss failed;			/* why the last of them could not be */
	uint32		pause;			/* how many leaves are visited before cells are asked again */
	uint32		pauses;			/* how long the next pause is */
	bool		known;			/* was any leaf passed by? */
	uint64		turn;			/* counts leaves that were to be recorded */

	GpbCellHint hint;			/* where cells of leaves are */
	GpbCellHint column_hint[GPB_CELL_COLUMNS];
	GpbCellHint value_hint[1 + GPB_VALUE_SUMS];
	uint32		apart;			/* bit i: column i of the format has cells of its own */
	uint32		jumps;			/* right links that led elsewhere than to the next block */
	int			nahead;
	int			ahead_at;		/* the leaf that comes next, if the level above knows it */
	BlockNumber ahead[GPB_CELL_AHEAD];	/* leaves to come, as the level above has them */
} GpbCellReader;

/* The leaf that comes next, as the leaf before it says */
typedef struct GpbCellLink
{
	BlockNumber block;			/* GPB_NO_BLOCK if there is none */
	Buffer		buffer;			/* after leaves were passed by: where the last of them was */
	BlockNumber from;			/* likewise: its block */
	GpbBound	low;			/* where the leaf begins */
	GpbBound	end;			/* leaves that end beyond this are not passed by */
} GpbCellLink;

/*
 * Begin a reader.  Program, format and both relations stay as they are to its end; the snapshot is
 * registered or active.  A program that is not plain has an evaluator, unless it lists entries.
 * The reader is not eligible if no cell can answer for the program, or if the files or the snapshot
 * are not such as the rule needs.  Memory is of the current context, if any is needed, and freed by
 * gpb_cells_end().
 */
extern void gpb_cells_begin(GpbCellReader *reader, Relation heap, Relation index,
							Snapshot snapshot, const GpbProgram *program,
							const GpbAnswerFormat *format, GpbEvaluator *evaluator);
extern void gpb_cells_end(GpbCellReader *reader);

/*
 * Prepare to read or record cells of leaves, of a program with filters, which is not done for
 * ranges that have none in the middle.  Returns false if it turns out that the reader is not
 * eligible.  No lock may be held.
 */
extern bool gpb_cells_prepare(GpbCellReader *reader);

/*
 * Is the leaf that comes next to be visited without a look at its cell, since too many were asked
 * for in vain?  To be called once a leaf.
 */
static inline bool
gpb_cells_pause(GpbCellReader *reader)
{
	if (likely(reader->pause == 0))
		return false;
	reader->pause--;
	return true;
}

/*
 * Pass by the leaf that *link names, and those after it, up to "most" in all and no more than
 * GPB_CELL_STEP, as long as their cells hold.  What they have is added to *total, and *link becomes
 * that of the last of them.  Returns how many were passed by.  If that is 0, *link is as it was,
 * and the leaf is to be visited.  *total must not be full (gpb_cells_total_is_full()).  The map and
 * settled pages are read on the way, so nothing may be locked; "settled" must have begun, with the
 * reader's snapshot.
 */
extern int	gpb_cells_pass(GpbCellReader *reader, GpbVisibility *visibility,
						   GpbSettledReader *settled, int most, GpbCellLink *link,
						   GpbCellTotal *total);

/* So many jumps that were not foreseen are enough to ask which leaves come next. */
#define GPB_CELL_JUMPS		4

/*
 * Would it help to know which leaves come next?  Their cells are prefetched by that, since leaves
 * of an index that grew are not one after the other in the file.  Nothing is believed of it.  The
 * caller may put up to GPB_CELL_AHEAD of them into reader->ahead, and call gpb_cells_set_ahead().
 */
static inline bool
gpb_cells_want_ahead(const GpbCellReader *reader)
{
	return reader->jumps >= GPB_CELL_JUMPS;
}

extern void gpb_cells_set_ahead(GpbCellReader *reader, int n);

/* Is this leaf, which the walk visits now, to be recorded? */
static inline bool
gpb_cells_wanted(const GpbCellReader *reader, BlockNumber block)
{
	return reader->missed == block && reader->miss == GPB_CELL_ABSENT;
}

/*
 * Record the leaf in this buffer, which is pinned and locked, share at least, and add what all of
 * its entries have to *total.  It is a leaf of the reader's index that has a right sibling, and no
 * dead hints.  Returns false if nothing was added, since the leaf is not to be recorded.  Nothing
 * is raised, and no other lock is taken but a header lock, for a look.
 */
extern bool gpb_cells_record(GpbCellReader *reader, Buffer buffer, GpbCellTotal *total);

/*
 * Record the leaf in this buffer for a reader whose program has filters, whoever sees its rows, and
 * return what the filters do with all of its entries.  What is asked of the leaf and of the caller
 * is what gpb_cells_record() says.
 */
extern GpbZoneVerdict gpb_cells_record_zone(GpbCellReader *reader, Buffer buffer);

/* Set *total to that of no leaves. */
extern void gpb_cells_total_init(const GpbCellReader *reader, GpbCellTotal *total);

/* Are there so many values in *total that no more may be added? */
static inline bool
gpb_cells_total_is_full(const GpbCellTotal *total)
{
	return total->values.n > GPB_FEW_VALUES || total->values.leaves > PG_INT16_MAX;
}

/*
 * Add *total to an answer in the reader's format.  That of values is put through the program in the
 * place of entries: see gpb_leaf_values_evaluate().
 */
extern void gpb_cells_total_add(const GpbCellReader *reader, const GpbCellTotal *total,
								int64 *answer);

#endif							/* GPB_LEAF_CELLS_H */
