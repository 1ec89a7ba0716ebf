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
#include "engine/cell_reader.h"
#include "engine/page_look.h"
#include "engine/value_cells.h"

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
	if (!gpb_program_is_plain(program) && gpb_answer_has_float_sums(format))
		return "the query has filters, groups or expressions, and sums of double precision";
	if (program->list_entries || (!gpb_program_is_plain(program) && reader->by_value == NULL))
		return "the query has filters, groups or expressions of several columns";
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
	reader->format = format;
	reader->evaluator = evaluator;
	if (evaluator != NULL)
		reader->by_value = gpb_evaluator_by_value(evaluator);
	reader->why_not = why_not_eligible(reader, heap, index, snapshot);
	if (reader->why_not != NULL)
		return;
	reader->eligible = true;
	reader->file = index->rd_node;
	reader->name = hash_bytes((const unsigned char *) &reader->file, sizeof(RelFileNode)) &
		~GPB_NAME_FORM;
	if (reader->by_value != NULL)
		gpb_leaf_values_begin(reader);
	gpb_seen_begin(&reader->seen);
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
#define CELLS_AHEAD		(GPB_CELL_STEP / 2)

/*
 * Prefetch the cell of a leaf that is not next to the one before.  Its set is another mix of files,
 * so any cell of the set may be the one.
 */
static pg_attribute_always_inline void
prefetch_listed(const GpbCellReader *reader, BlockNumber block)
{
	gpb_cell_prefetch_set(reader->name, block);
	gpb_cells_prefetch(reader, block);
}

void
gpb_cells_set_ahead(GpbCellReader *reader, int n)
{
	int			i;

	reader->nahead = n;
	reader->ahead_at = 0;
	reader->jumps = 0;
	for (i = 0; i < Min(n, CELLS_AHEAD); i++)
		prefetch_listed(reader, reader->ahead[i]);
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
		gpb_cell_prefetch_set(reader->name, block + 1);
	if (at < reader->nahead && reader->ahead[at] != block)
		at++;
	if (at < reader->nahead && reader->ahead[at] == block)
	{
		reader->ahead_at = at + 1;
		if (at + CELLS_AHEAD < reader->nahead)
			prefetch_listed(reader, reader->ahead[at + CELLS_AHEAD]);
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
 * Rows that may not be seen cost a test of the map in vain, leaf after leaf where entries lead
 * to all of the table, and so do columns of too many values.  After so many such leaves cells
 * are not asked for a while, which becomes longer each time, until many leaves in a row are
 * passed by.  A leaf that is passed by makes up for two that are not.
 */
#define MOST_FAILURES	4
#define FIRST_PAUSE		16
#define LONGEST_PAUSE	65536
#define MADE_UP_FOR		2
#define SOME_PASSED		(GPB_CELL_STEP / 4)

/* Take note of how many leaves were passed by when that was tried. */
static void
note_outcome(GpbCellReader *reader, int passed)
{
	reader->known |= passed > 0;
	reader->passing = passed >= SOME_PASSED;
	reader->failures -= Min(reader->failures, (uint32) passed * MADE_UP_FOR);
	if (passed == GPB_CELL_STEP)
		reader->pauses = 0;
	if (reader->failures < MOST_FAILURES)
		return;
	reader->failures = 0;
	reader->pauses = Min(Max(reader->pauses * 4, FIRST_PAUSE), LONGEST_PAUSE);
	reader->pause = reader->pauses;
	reader->missed = InvalidBlockNumber;
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
			continue;
		gpb_seen_grant(&reader->seen, looks_granted(interval));
		seen = gpb_seen_blocks(&reader->seen, visibility, settled, interval->first,
							   interval->last);
		if (seen != GPB_SEEN_ALL)
			return seen;
	}
	return GPB_SEEN_ALL;
}

/*
 * Copy the cells of the leaf that *link names, and go on with *link behind it.  Returns false,
 * with the reason in reader->miss, if the leaf cannot be passed by.  What is left to be done is
 * the look.
 */
static bool
copy_leaf(GpbCellReader *reader, GpbVisibility *visibility, GpbSettledReader *settled,
		  GpbCellLink *link, GpbCellCopy *copy)
{
	const GpbLeafCell *cell = &copy->leaf.leaf;
	GpbSeen		seen;
	bool		unheld;

	reader->miss = GPB_CELL_ABSENT;
	copy->at = gpb_cell_read(reader->name, link->block, &reader->hint, &copy->leaf);
	/* Since links are believed of no page, the leaf must begin where the walk has come (M7). */
	if (copy->at == NULL || gpb_bound_cmp(cell_low(cell), link->low) != 0)
		return false;
	reader->miss = GPB_CELL_YOUNGER;
	if (cell->head.lsn > reader->upto)
		return false;
	reader->miss = GPB_CELL_ENDS;
	if (gpb_bound_less(link->end, cell_high(cell)))
		return false;
	if (!gpb_cell_copy_columns(reader, copy, &unheld))
	{
		reader->miss = unheld ? GPB_CELL_UNHELD : GPB_CELL_ABSENT;
		return false;
	}
	if (reader->by_value != NULL && !gpb_leaf_values_copy(reader, copy, &reader->miss))
	{
		/* What no cell holds on this leaf none may hold on others either. */
		if (reader->miss != GPB_CELL_ABSENT)
			gpb_cells_failed(reader, reader->miss);
		return false;
	}
	/* What the look will read comes from memory meanwhile. */
	__builtin_prefetch(GetBufferDescriptor(cell->head.buffer - 1), 1);
	__builtin_prefetch(BufferGetPage(cell->head.buffer));
	seen = cover_seen(reader, visibility, settled, cell);
	if (seen != GPB_SEEN_ALL)
	{
		reader->miss = GPB_CELL_UNSEEN;
		if (seen == GPB_SEEN_NOT_ALL)
			gpb_cells_failed(reader, GPB_CELL_UNSEEN);
		return false;
	}
	note_jump(reader, link->block, cell->right);
	link->from = link->block;
	link->buffer = cell->head.buffer;
	link->block = cell->right;
	link->low = cell_high(cell);
	return true;
}

/* Add what the cells of a leaf have to *total, and let them be kept the longer. */
static inline void
add_copy(const GpbCellReader *reader, const GpbCellCopy *copy, GpbCellTotal *total)
{
	int			i;

	gpb_cell_use(copy->at);
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		if (copy->column_at[i] != NULL)
			gpb_cell_use(copy->column_at[i]);
	}
	gpb_cell_add(reader, copy, total);
	if (reader->by_value != NULL)
		gpb_leaf_values_add(reader, copy, &total->values);
}

/*
 * The order is rule M14's: E, then map and settled pages, then the looks, with full barriers
 * between.  All cells of a step are read before the first look, so that what the looks read can be
 * prefetched.
 */
int
gpb_cells_pass(GpbCellReader *reader, GpbVisibility *visibility, GpbSettledReader *settled,
			   GpbCellLink *link, GpbCellTotal *total)
{
	GpbCellCopy copies[GPB_CELL_STEP];
	GpbCellLink links[GPB_CELL_STEP + 1];
	int			n = 0;
	int			i;

	if (left_to_others(reader, link->block))
	{
		reader->passing = false;
		reader->missed = InvalidBlockNumber;
		return 0;
	}
	if (reader->upto == 0)
		read_position(reader);
	links[0] = *link;
	while (n < GPB_CELL_STEP)
	{
		links[n + 1] = links[n];
		reader->missed = links[n].block;
		if (links[n].block == GPB_NO_BLOCK)
			break;
		prefetch_ahead(reader, links[n].block);
		if (!copy_leaf(reader, visibility, settled, &links[n + 1], &copies[n]))
			break;
		n++;
	}
	GPB_HOLD("cells-before-looks");
	/* What the map and the heap pages showed was so before the looks. */
	pg_memory_barrier();
	for (i = 0; i < n; i++)
	{
		const GpbCellHead *head = &copies[i].leaf.head;

		if (!gpb_page_look(head->buffer, &reader->file, head->block, head->lsn, true))
		{
			reader->missed = head->block;
			reader->miss = GPB_CELL_ABSENT;
			break;
		}
		add_copy(reader, &copies[i], total);
	}
	note_outcome(reader, i);
	if (i > 0)
		*link = links[i];
	return i;
}

/* ---- what was added up ---- */

void
gpb_cells_total_init(const GpbCellReader *reader, GpbCellTotal *total)
{
	int			i;

	total->entries = 0;
	gpb_leaf_values_init(&total->values);
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		gpb_column_state_init(&total->state[i]);
		if (gpb_cell_sums_floats(reader, i))
			memset(&total->sum[i], 0, sizeof(total->sum[i]));
	}
}

void
gpb_cells_total_add(const GpbCellReader *reader, const GpbCellTotal *total, int64 *answer)
{
	int			i;

	answer[0] += total->entries;
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		const GpbAnswerColumn *column = &reader->format->column[i];
		GpbFloatSum wide;

		gpb_answer_add_state(column, answer, &total->state[i]);
		if (!gpb_cell_sums_floats(reader, i))
			continue;
		gpb_narrow_sum_widen(&total->sum[i], &wide);
		gpb_float_sum_normalize(gpb_answer_float_sum(column, answer));
		gpb_float_sum_merge(gpb_answer_float_sum(column, answer), &wide);
	}
}
