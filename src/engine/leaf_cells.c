/*-------------------------------------------------------------------------
 *
 * leaf_cells.c
 *	  A reader who passes leaves by, since their cells have what they add (rule M14).
 *
 * A cell holds no judgement of any row, so it suits every snapshot and may be of any age.  What
 * makes it count is what the reader finds: see src/README.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "common/hashfn.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "hold.h"
#include "engine/page_look.h"
#include "engine/value_cells.h"
#include "engine/zone_cells.h"

/* ---- a reader ---- */

/*
 * Leaves are passed by and recorded only where each change of a page of the index sets a new LSN,
 * and where the snapshot alone decides what is seen.  Returns why they are not, for users, or NULL.
 */
static const char *
why_not_eligible(const GpbCellReader *reader, Relation heap, Relation index, Snapshot snapshot)
{
	const GpbProgram *program = reader->program;
	const GpbAnswerFormat *format = reader->format;

	if (gpb_cells == NULL)
		return "gpubtree.leaf_cache_size is 0";
	if (index->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT ||
		heap->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		return "the table is unlogged or temporary";
	if (!XLogIsNeeded() || !RelationNeedsWAL(index))
		return "wal_level is minimal";
	if ((program->list_entries || reader->filters) && program->nsteps == 0)
		return "the query has groups or expressions of several columns, and no filters";
	if (gpb_program_is_plain(program) && format->ncolumns > GPB_CELL_COLUMNS)
		return "the query has too many columns";
	if (gpb_needs_plain_scan(snapshot))
		return "the snapshot is no plain one";
	return NULL;
}

void
gpb_cells_begin(GpbCellReader *reader, Relation heap, Relation index, Snapshot snapshot,
				const GpbProgram *program, const GpbAnswerFormat *format, GpbEvaluator *evaluator)
{
	memset(reader, 0, offsetof(GpbCellReader, ahead));
	reader->missed = InvalidBlockNumber;
	if (!gpb_enable_leaf_cache)
		return;
	reader->program = program;
	reader->answers = format;
	reader->format = format;
	reader->context = CurrentMemoryContext;
	reader->evaluator = evaluator;
	if (evaluator != NULL)
		reader->by_value = gpb_evaluator_by_value(evaluator);
	reader->counts = reader->by_value != NULL;
	reader->filters = !gpb_program_is_plain(program) && !reader->counts;
	reader->why_not = why_not_eligible(reader, heap, index, snapshot);
	if (reader->why_not != NULL)
		return;
	reader->eligible = true;
	reader->file = index->rd_node;
	reader->name = hash_bytes((const unsigned char *) &reader->file, sizeof(RelFileNode)) &
		~GPB_NAME_FORM;
	if (reader->counts)
		gpb_leaf_values_begin(reader);
	else if (!reader->filters)
		gpb_cells_note_wants(reader, program->want);
	gpb_seen_begin(&reader->seen);
}

void
gpb_cells_end(GpbCellReader *reader)
{
	if (reader->zone != NULL)
		pfree(reader->zone);
	reader->zone = NULL;
}

/* Filters can decide nothing: stay with counts by value. */
static void
return_to_counts(GpbCellReader *reader, const GpbAnswerFormat *answers)
{
	gpb_cells_end(reader);
	reader->filters = false;
	reader->counts = true;
	reader->counts_only = true;
	reader->answers = answers;
	gpb_leaf_values_begin(reader);
}

bool
gpb_cells_prepare(GpbCellReader *reader)
{
	const GpbAnswerFormat *answers = reader->answers;
	const char *why_not;

	if (likely(!reader->filters || reader->zone != NULL))
		return reader->eligible;
	why_not = gpb_zone_cells_begin(reader);
	if (why_not == NULL)
		return true;
	if (reader->by_value != NULL)
	{
		return_to_counts(reader, answers);
		return true;
	}
	reader->why_not = why_not;
	reader->eligible = false;
	return false;
}

/*
 * Read E: the position up to which WAL is inserted, or, in recovery, replayed.  Whoever changed a
 * page and inserted, or replayed, the record by then had changed it before, so a cell of a page
 * that has an LSN up to E speaks of entries that were in the index at E [what came later may lead
 * to rows that the map shows visible, and that our snapshot does not see].
 */
static void
read_position(GpbCellReader *reader)
{
	GPB_HOLD("cells-before-position");
	reader->upto = RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetXLogInsertRecPtr();
	GPB_HOLD("cells-after-position");
	/* What is read of the map and of heap pages from now on is read after it. */
	pg_memory_barrier();
}

/* ---- prefetching ---- */

/* How many leaves ahead cells are prefetched */
#define CELLS_AHEAD		8

void
gpb_cells_set_ahead(GpbCellReader *reader, int n)
{
	int			i;

	reader->nahead = n;
	reader->ahead_at = 0;
	reader->jumps = 0;
	for (i = 0; i < Min(n, CELLS_AHEAD); i++)
		gpb_cells_prefetch(reader, reader->ahead[i]);
}

/* Prefetch what is needed to record a leaf: the sets of its cells, of a program with filters. */
static pg_attribute_always_inline void
prefetch_sets(const GpbCellReader *reader, BlockNumber block)
{
	int			i;

	gpb_cell_prefetch_set(reader->name, block);
	for (i = 0; i < reader->format->ncolumns && reader->filters; i++)
		gpb_cell_prefetch_set(gpb_cell_column_name(reader, reader->format->column[i].column),
							  block);
}

/*
 * The reader has come to this leaf: prefetch the cell of one that comes later.  The level above may
 * not know of the leaf, or of one that is not there any more.
 */
static inline void
prefetch_ahead(GpbCellReader *reader, BlockNumber block)
{
	int			at = reader->ahead_at;

	/* Where there are no cells leaves are recorded. */
	if (!reader->passing)
		prefetch_sets(reader, block + 1);
	if (at < reader->nahead && reader->ahead[at] != block)
		at++;
	if (at < reader->nahead && reader->ahead[at] == block)
	{
		reader->ahead_at = at + 1;
		if (at + CELLS_AHEAD < reader->nahead)
			gpb_cells_prefetch(reader, reader->ahead[at + CELLS_AHEAD]);
	}
	else
		gpb_cells_prefetch(reader, block + CELLS_AHEAD);
}

/* The link of this leaf leads to "right".  Count jumps that no list of leaves to come foresees. */
static inline void
note_jump(GpbCellReader *reader, BlockNumber block, BlockNumber right)
{
	if (right != block + 1 &&
		(reader->ahead_at >= reader->nahead || reader->ahead[reader->ahead_at] != right))
		reader->jumps++;
}

/* ---- what is not worth the while ---- */

/*
 * Who is the first to read a wide range records half of it, and the next one the other half: so
 * neither has much to pay.  The first leaves are always recorded, for ranges that are not wide.
 */
#define FIRST_LEAVES	32
#define GROUP_BLOCKS	64

static inline bool
left_to_others(const GpbCellReader *reader, BlockNumber block)
{
	return !reader->known && reader->turn > FIRST_LEAVES && block / GROUP_BLOCKS % 2 == 1;
}

/*
 * Rows that may not be seen cost a test of the map in vain, leaf after leaf where entries lead to
 * all of the table, and so do columns of too many values.  After so many such leaves cells are not
 * asked for a while, which becomes longer each time, until many leaves in a row are passed by.  A
 * leaf that is passed by makes up for two that are not.  Where filters do not decide leaves, trying
 * costs less beside what a program does with the entries of one: a leaf makes up for more, and
 * pauses are not as long.
 */
#define MOST_FAILURES	4
#define FIRST_PAUSE		16
#define LONGEST_PAUSE	65536
#define LONGEST_OF_MIXED	512
#define MADE_UP_FOR		2
#define MADE_UP_FOR_MIXED	8
#define SOME_PASSED		4
#define MANY_PASSED		16

/* Visit some leaves without asking for cells, if too many were asked for in vain. */
static inline void
pause_if_due(GpbCellReader *reader)
{
	if (reader->failures < MOST_FAILURES)
		return;
	reader->failures = 0;
	reader->pauses = Min(Max(reader->pauses * 4, FIRST_PAUSE),
						 reader->failed == GPB_CELL_MIXED ? LONGEST_OF_MIXED : LONGEST_PAUSE);
	reader->pause = reader->pauses;
	reader->missed = InvalidBlockNumber;
}

/* Take note of how many leaves were passed by when that was tried. */
static void
note_outcome(GpbCellReader *reader, int passed)
{
	int			made_up = passed * (reader->filters ? MADE_UP_FOR_MIXED : MADE_UP_FOR);

	reader->known |= passed > 0;
	reader->passing = passed >= SOME_PASSED;
	reader->failures -= Min(reader->failures, (uint32) made_up);
	if (passed >= MANY_PASSED)
		reader->pauses = 0;
	pause_if_due(reader);
}

/* A leaf could not be passed by, for a reason that others may have too. */
static inline void
fail(GpbCellReader *reader, GpbCellMiss reason)
{
	reader->failed = reason;
	reader->failures++;
}

/*
 * No cell holds the values of a leaf, and so it may be on others.  Filters may decide these as a
 * whole; who has none pays as for any other failure.
 */
static void
note_unheld(GpbCellReader *reader, GpbCellMiss reason)
{
	if (reader->counts_only || reader->program->nsteps == 0)
		fail(reader, reason);
	else
	{
		reader->counts = false;
		reader->filters = true;
	}
}

void
gpb_cells_note_failure(GpbCellReader *reader, GpbCellMiss reason)
{
	if (reason == GPB_CELL_MANY || reason == GPB_CELL_UNHELD)
		note_unheld(reader, reason);
	else
		fail(reader, reason);
	pause_if_due(reader);
}

/* ---- passing leaves by ---- */

/* The bounds of a leaf's cell. */
static inline GpbBound
cell_low(const GpbLeafCell *cell)
{
	GpbBound	low = {cell->low_key, cell->low_tie};

	if (cell->wide)
		low.key |= (GpbKey) cell->upper[0] << 64;
	return low;
}

static inline GpbBound
cell_high(const GpbLeafCell *cell)
{
	GpbBound	high = {cell->high_key, cell->high_tie};

	if (cell->wide)
		high.key |= (GpbKey) cell->upper[1] << 64;
	return high;
}

/*
 * How many heap pages may be looked at for an interval of blocks, beyond those left over by
 * earlier ones.  A look takes 20 to 100 ns, and a leaf whose rows the map does not show 2 to 10 us
 * to visit. So all of a narrow interval may be looked at, and the blocks of a wide one a few at a
 * time: what was found serves later leaves, if there are any.
 */
#define NARROW_BLOCKS	32
#define LOOKS_OF_WIDE	4

static inline int
looks_granted(const GpbBlockInterval *interval)
{
	BlockNumber more = interval->last - interval->first;

	return more < NARROW_BLOCKS ? more + 1 : LOOKS_OF_WIDE;
}

/* Are all rows seen to which a leaf's entries lead? */
static inline GpbSeen
cover_seen(GpbCellReader *reader, GpbVisibility *visibility, GpbSettledReader *settled,
		   const GpbLeafCell *cell)
{
	int			i;

	for (i = 0; i < GPB_COVER_INTERVALS; i++)
	{
		const GpbBlockInterval *interval = &cell->cover[i];
		GpbSeen		seen;

		if (interval->first > interval->last)
			break;
		gpb_seen_grant(&reader->seen, looks_granted(interval));
		if (gpb_seen_lately(&reader->seen, interval->first, interval->last))
			continue;
		seen = gpb_seen_blocks(&reader->seen, visibility, settled, interval->first,
							   interval->last);
		if (seen != GPB_SEEN_ALL)
			return seen;
	}
	return GPB_SEEN_ALL;
}

/* The leaf to which a reader has come: its block, and where it begins */
typedef struct CellsPlace
{
	BlockNumber block;
	GpbBound	low;
} CellsPlace;

/* Go on behind the leaf at *place, whose cell was copied. */
static inline void
go_on(GpbCellReader *reader, const GpbLeafCell *cell, CellsPlace *place)
{
	note_jump(reader, place->block, cell->right);
	place->block = cell->right;
	place->low = cell_high(cell);
}

/*
 * What do the program's filters do with the leaf whose cell was copied?  Copies the cells of the
 * columns by which that is decided.  Returns false, with the reason in reader->miss, if it can't be
 * told.
 */
static bool
judge_leaf(GpbCellReader *reader, GpbCellCopy *copy)
{
	bool		unheld;
	int			i;

	reader->miss = GPB_CELL_ABSENT;
	for (i = 0; i < reader->zone->ninputs; i++)
	{
		int			want = gpb_cell_want(reader, i) & ~GPB_WANT_SUM;

		if (!gpb_cell_copy_column(reader, copy, i, want, &unheld))
			return false;
	}
	copy->verdict = gpb_zone_cells_judge(reader, copy);
	if (copy->verdict != GPB_ZONE_MIXED)
		return true;
	reader->miss = GPB_CELL_MIXED;
	fail(reader, GPB_CELL_MIXED);
	return false;
}

/*
 * Copy the cells of values of the leaf whose cell was copied.  Returns false, with the reason in
 * reader->miss, if they do not have what is wanted.
 */
static bool
copy_values(GpbCellReader *reader, GpbCellCopy *copy)
{
	if (gpb_leaf_values_copy(reader, copy, &reader->miss))
		return true;
	if (reader->miss != GPB_CELL_ABSENT)
		note_unheld(reader, reader->miss);
	return false;
}

/*
 * Copy the cells of the leaf at *place, which must not end beyond "end", and go on with *place
 * behind it.  Returns false, with the reason in reader->miss, if the leaf cannot be passed by.
 * What is left to be done is the look.
 */
static bool
copy_leaf(GpbCellReader *reader, GpbVisibility *visibility, GpbSettledReader *settled,
		  CellsPlace *place, const GpbBound *end, GpbCellCopy *copy)
{
	const GpbLeafCell *cell = &copy->leaf.leaf;
	GpbSeen		seen;
	bool		unheld;

	reader->miss = GPB_CELL_ABSENT;
	copy->counted = reader->counts;
	copy->at = gpb_cell_read(reader->name, place->block, &reader->hint, &copy->leaf);
	/* Since links are believed of no page, the leaf must begin where the walk has come (M7). */
	if (copy->at == NULL || gpb_bound_cmp(cell_low(cell), place->low) != 0)
		return false;
	/* What the look will read comes from memory meanwhile. */
	__builtin_prefetch(GetBufferDescriptor(cell->head.buffer - 1), 1);
	__builtin_prefetch(BufferGetPage(cell->head.buffer));
	reader->miss = GPB_CELL_YOUNGER;
	if (cell->head.lsn > reader->upto)
		return false;
	reader->miss = GPB_CELL_ENDS;
	if (gpb_bound_less(*end, cell_high(cell)))
		return false;
	if (reader->filters && !judge_leaf(reader, copy))
		return false;
	if (reader->filters && copy->verdict == GPB_ZONE_NONE)
	{
		/* No row of the leaf counts, so it does not matter which ones are seen. */
		go_on(reader, cell, place);
		return true;
	}
	if (!gpb_cell_copy_columns(reader, copy, &unheld))
	{
		reader->miss = unheld ? GPB_CELL_UNHELD : GPB_CELL_ABSENT;
		return false;
	}
	if (reader->counts && !copy_values(reader, copy))
		return false;
	seen = cover_seen(reader, visibility, settled, cell);
	if (seen != GPB_SEEN_ALL)
	{
		reader->miss = GPB_CELL_UNSEEN;
		if (seen == GPB_SEEN_NOT_ALL)
			fail(reader, GPB_CELL_UNSEEN);
		return false;
	}
	go_on(reader, cell, place);
	return true;
}

/* Add what the cells of a leaf have to *total, and let them be kept the longer. */
static inline void
add_copy(const GpbCellReader *reader, const GpbCellCopy *copy, GpbCellTotal *total)
{
	int			ncolumns = reader->format->ncolumns;
	int			i;

	gpb_cell_use(copy->at);
	if (copy->counted)
		ncolumns = 0;
	else if (reader->filters && copy->verdict == GPB_ZONE_NONE)
		ncolumns = reader->zone->ninputs;
	for (i = 0; i < ncolumns; i++)
	{
		if (copy->column_at[i] != NULL)
			gpb_cell_use(copy->column_at[i]);
	}
	if (copy->counted)
		gpb_leaf_values_add(reader, copy, &total->values);
	else if (!reader->filters)
		gpb_cell_add(reader, copy, total);
	else if (copy->verdict == GPB_ZONE_ALL)
		gpb_zone_cells_add(reader, copy, total);
	else
		total->none++;
}

/*
 * Cells are copied in turns of so many.  While those of a turn are looked at, what the looks of the
 * next one will read is on its way.
 */
#define CELLS_TURN		8

/* The copies of two turns */
typedef struct CellsCopied
{
	int			n;
	CellsPlace	place;			/* behind the last of them */
	GpbCellCopy copy[2 * CELLS_TURN];
} CellsCopied;

static inline GpbCellCopy *
copy_number(CellsCopied *copied, int i)
{
	return &copied->copy[i % lengthof(copied->copy)];
}

/*
 * Copy the cells of up to CELLS_TURN leaves more, but not beyond number "most".  Returns whether to
 * go on behind them; if not since a leaf cannot be passed by, it is reader->missed.
 */
static bool
copy_turn(GpbCellReader *reader, GpbVisibility *visibility, GpbSettledReader *settled,
		  const GpbBound *end, int most, CellsCopied *copied)
{
	int			upto = Min(copied->n + CELLS_TURN, most);

	for (; copied->n < upto; copied->n++)
	{
		BlockNumber block = copied->place.block;

		reader->missed = block;
		if (block == GPB_NO_BLOCK)
			return false;
		prefetch_ahead(reader, block);
		if (!copy_leaf(reader, visibility, settled, &copied->place, end,
					   copy_number(copied, copied->n)))
			return false;
	}
	/* The caller can say which leaves come next. */
	return upto < most && !gpb_cells_want_ahead(reader);
}

/* Does a look find the leaf as its cell has it?  If so add that; if not, the leaf was missed. */
static inline bool
look_at_leaf(GpbCellReader *reader, const GpbCellCopy *copy, GpbCellTotal *total)
{
	const GpbCellHead *head = &copy->leaf.head;

	if (!gpb_page_look(head->buffer, &reader->file, head->block, head->lsn, true))
	{
		reader->missed = head->block;
		reader->miss = GPB_CELL_ABSENT;
		return false;
	}
	add_copy(reader, copy, total);
	return true;
}

/* The reader has passed by the leaf with this cell: set *link to what comes behind it. */
static void
go_behind(const GpbLeafCell *cell, GpbCellLink *link)
{
	link->from = cell->head.block;
	link->buffer = cell->head.buffer;
	link->block = cell->right;
	link->low = cell_high(cell);
}

/*
 * The order is rule M14's for each leaf: E, then map and settled pages, then the look, with full
 * barriers between.
 */
int
gpb_cells_pass(GpbCellReader *reader, GpbVisibility *visibility, GpbSettledReader *settled,
			   int most, GpbCellLink *link, GpbCellTotal *total)
{
	CellsCopied copied;
	int			passed = 0;
	bool		more = true;

	if (left_to_others(reader, link->block))
	{
		reader->passing = false;
		reader->missed = InvalidBlockNumber;
		return 0;
	}
	if (reader->upto == 0)
		read_position(reader);
	copied.n = 0;
	copied.place.block = link->block;
	copied.place.low = link->low;
	while (more)
	{
		int			due = copied.n;
		int			done = passed;

		more = copy_turn(reader, visibility, settled, &link->end, most, &copied);
		if (!more)
			due = copied.n;
		if (due == 0)
			continue;
		GPB_HOLD("cells-before-looks");
		/* What the map and the heap pages showed was so before the looks. */
		pg_memory_barrier();
		while (passed < due && look_at_leaf(reader, copy_number(&copied, passed), total))
			passed++;
		more = more && passed == due;
		if (passed > done)
			go_behind(&copy_number(&copied, passed - 1)->leaf.leaf, link);
	}
	note_outcome(reader, passed);
	return passed;
}

/* ---- what was added up ---- */

void
gpb_cells_total_init(const GpbCellReader *reader, GpbCellTotal *total)
{
	int			i;

	total->entries = 0;
	total->none = 0;
	gpb_leaf_values_init(&total->values);
	for (i = 0; i < reader->answers->ncolumns; i++)
	{
		gpb_column_state_init(&total->state[i]);
		if (reader->answers->column[i].float_sum != 0)
			memset(&total->sum[i], 0, sizeof(total->sum[i]));
	}
}

void
gpb_cells_total_add(const GpbCellReader *reader, const GpbCellTotal *total, int64 *answer)
{
	int			i;

	answer[0] += total->entries;
	for (i = 0; i < reader->answers->ncolumns; i++)
	{
		const GpbAnswerColumn *column = &reader->answers->column[i];
		GpbFloatSum wide;

		gpb_answer_add_state(column, answer, &total->state[i]);
		if (column->float_sum == 0)
			continue;
		gpb_narrow_sum_widen(&total->sum[i], &wide);
		gpb_float_sum_normalize(gpb_answer_float_sum(column, answer));
		gpb_float_sum_merge(gpb_answer_float_sum(column, answer), &wide);
	}
}
