/*-------------------------------------------------------------------------
 *
 * leaf_cells.c
 *	  What all entries of a leaf add to an answer, remembered from an earlier visit (rule M14).
 *
 * Shared memory has an array of cells of two cache lines, in sets of four.  A leaf has one cell with
 * its bounds, its right link, the heap blocks that its entries lead to, and what one integer column
 * adds; each further column has a cell of its own, and so has a float8, whose exact sum is long.
 * Neighbouring blocks of a file have neighbouring sets.
 *
 * A cell holds no judgement of any row, so it suits every snapshot and may be of any age.  It is
 * valid as long as the page has the LSN that it names, so nobody who changes a page needs to know of
 * cells, and none is ever taken back.  They live as long as shared memory does.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "hold.h"
#include "leaf_aggregate.h"
#include "engine/leaf_cells.h"
#include "engine/page_look.h"
#include "page/page.h"

bool		gpb_enable_leaf_cache = true;
static int	leaf_cache_size = -1;	/* kB; -1: by shared_buffers */

/* ---- cells ---- */

/*
 * How a cell begins.  It is a seqlock: whoever writes to it makes the version odd before and even
 * after, and readers who find it odd, or changed after they have read the cell, do without.  Two
 * recorders never write to a cell at the same time: the one who finds the version odd gives up.  So
 * all of a cell is of one recorder, and of one state of the page.
 *
 * A hash names the file, and the column if the cell is a column's.  A look compares the whole
 * identity of the file with the buffer's tag; so of two files with one hash, each finds the other's
 * cell only if its own page is in that buffer, has that number and has the LSN.  An LSN is that of
 * pages of one relation, or of copies of these, and then the cell is right for both.
 */
typedef struct CellHead
{
	pg_atomic_uint32 version;
	Buffer		buffer;			/* where the page was; InvalidBuffer if the cell is empty */
	BlockNumber block;
	uint32		name;			/* hash of the relation file, or of file and column */
	XLogRecPtr	lsn;			/* of the page when it was read */
} CellHead;

/* No column: of the place for one in a leaf's cell */
#define NO_COLUMN	0xFF

/*
 * In the place of GPB_WANT_SUM: the narrow sum does not hold a value of the leaf, so there is no use
 * in recording it again.
 */
#define GPB_WANT_UNHELD	0x80

/* What all values of a column on a leaf add up to, if they are integers or no sum is wanted */
typedef struct CellColumn
{
	uint8		column;			/* as in program.h, or NO_COLUMN */
	uint8		want;			/* GPB_WANT_* */
	uint16		count;
	int16		sum_high;		/* enough for the sum of GPB_MAX_LEAF_ENTRIES values of 64 bits */
	uint64		sum_low;
	int64		min;
	int64		max;
} CellColumn;

/* The intervals of heap blocks that cover all blocks to which the entries lead */
#define COVER_INTERVALS		4

typedef struct BlockInterval
{
	BlockNumber first;
	BlockNumber last;			/* below first if there is no such interval */
} BlockInterval;

/* The cell of a leaf */
typedef struct LeafCell
{
	CellHead	head;
	uint64		low_key;		/* the leaf's bounds; of wide keys the lower halves */
	uint64		low_tie;
	uint64		high_key;
	uint64		high_tie;
	BlockNumber right;
	uint16		entries;
	uint16		wide;			/* are the keys wide?  Then the upper halves are in the column's place */
	BlockInterval cover[COVER_INTERVALS];
	union
	{
		CellColumn	column;
		uint64		upper[2];	/* of the low and of the high key */
	};
} LeafCell;

/* The cell of a column */
typedef struct ColumnCell
{
	CellHead	head;
	CellColumn	column;
	GpbNarrowSum sum;			/* of a float8 whose sum is wanted */
} ColumnCell;

typedef union Cell
{
	CellHead	head;
	LeafCell	leaf;
	ColumnCell	column;
	char		bytes[128];
} Cell;

StaticAssertDecl(sizeof(Cell) == 128, "a cell is two cache lines");
StaticAssertDecl(GPB_MAX_LEAF_ENTRIES < 1 << 14, "sums of a leaf fit a cell");

#define SET_CELLS		4

/*
 * In shared memory; NULL if there are none.  "used" tells of each cell whether a reader has passed
 * by its leaf since it was recorded, or since others looked for a cell to take: such a cell is kept
 * the longer.  It is written without a lock, since nothing but memory's use depends on it.
 */
static Cell *cells;
static volatile uint8 *used;
static uint32 set_mask;			/* number of sets, a power of two, less one */

/* The kilobytes that are wanted; by default a cell for each page of shared buffers, about. */
static uint64
wanted_size(void)
{
	if (leaf_cache_size >= 0)
		return leaf_cache_size;
	return Max((uint64) NBuffers * sizeof(Cell) / 1024, 1024);
}

/* The number of sets that fit gpubtree.leaf_cache_size, or 0. */
static uint32
number_of_sets(void)
{
	uint64		most = wanted_size() * 1024 / (SET_CELLS * (sizeof(Cell) + 1));
	uint32		n = 1;

	if (most == 0)
		return 0;
	while ((uint64) n * 2 <= most)
		n *= 2;
	return n;
}

static Size
cells_size(void)
{
	return (Size) number_of_sets() * SET_CELLS * (sizeof(Cell) + 1);
}

void
gpb_leaf_cells_define_settings(void)
{
	DefineCustomBoolVariable("gpubtree.enable_leaf_cache",
							 "Enables the use of what other queries found the entries of leaves to add up to.",
							 "Without it, each query without a device reads all entries of its ranges.",
							 &gpb_enable_leaf_cache, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.leaf_cache_size",
							"Shared memory for what the entries of leaves add up to.",
							"A leaf takes 128 bytes, and 128 more for each column beyond the first; rounded down to a power of two; 0 is none, -1 is 1/64 of shared_buffers.",
							&leaf_cache_size, -1, -1, 64 * 1024 * 1024, PGC_POSTMASTER,
							GUC_UNIT_KB, NULL, NULL, NULL);
}

void
gpb_leaf_cells_request_shmem(void)
{
	RequestAddinShmemSpace(cells_size());
}

void
gpb_leaf_cells_init_shmem(void)
{
	Size		size = cells_size();
	bool		found;

	if (size == 0)
		return;
	set_mask = number_of_sets() - 1;
	cells = ShmemInitStruct("gpubtree leaf cells", size, &found);
	used = (volatile uint8 *) (cells + (Size) (set_mask + 1) * SET_CELLS);
	/* Of an empty cell all bytes are zero: its version, its buffer, and its lsn, which none has. */
	if (!found)
		memset(cells, 0, size);
}

/* The name of the cells of a column's. */
static inline uint32
column_name(const GpbCellReader *reader, int column)
{
	return reader->hash ^ (uint32) (column + 1) * 0x9E3779B1;
}

/* The first cell of the set that may have this block. */
static inline Cell *
cell_set(uint32 name, BlockNumber block)
{
	return cells + (Size) ((name + block) & set_mask) * SET_CELLS;
}

static inline bool
cell_names(const CellHead *head, uint32 name, BlockNumber block)
{
	return head->block == block && head->buffer != InvalidBuffer && head->name == name;
}

/* The cell with this name, or NULL.  It may be another's as soon as this has returned. */
static inline Cell *
find_cell(uint32 name, BlockNumber block)
{
	Cell	   *set = cell_set(name, block);
	int			i;

	for (i = 0; i < SET_CELLS; i++)
	{
		if (cell_names(&set[i].head, name, block))
			return set + i;
	}
	return NULL;
}

/* Copy the cell with this name.  Returns false if there is none, or if it is being written. */
static inline bool
read_cell(uint32 name, BlockNumber block, Cell *copy)
{
	Cell	   *cell = find_cell(name, block);
	uint32		version;

	if (cell == NULL)
		return false;
	version = pg_atomic_read_u32(&cell->head.version);
	pg_read_barrier();
	memcpy(copy, cell, sizeof(Cell));
	pg_read_barrier();
	if ((version & 1) != 0 || pg_atomic_read_u32(&cell->head.version) != version ||
		!cell_names(&copy->head, name, block))
		return false;
	return true;
}

/* Let the cell with this name be kept the longer, since it was of use. */
static inline void
use_cell(uint32 name, BlockNumber block)
{
	const Cell *cell = find_cell(name, block);

	if (cell != NULL && used[cell - cells] == 0)
		used[cell - cells] = 1;
}

/*
 * Is what a cell says void, since its page was changed, or has left its buffer?  The file is not
 * known, so a page of another one would do.
 */
static bool
cell_is_void(const Cell *cell)
{
	CellHead	head = cell->head;
	RelFileNode file;

	if (head.buffer <= 0 || head.buffer > NBuffers)
		return false;			/* it is being written */
	/* This is read without a lock: it is compared again under one. */
	file = BufTagGetRelFileLocator(&GetBufferDescriptor(head.buffer - 1)->tag);
	return !gpb_page_look(head.buffer, &file, head.block, head.lsn, false);
}

/* Of so many recorders that find a set full of cells in use, one takes the place of another. */
#define ADMIT_ONE_OF	8

/*
 * Choose the cell to be written for this name: its own, or an empty one, or one that was of no use
 * since it was recorded, or one whose page has changed.  If there is none, one of ADMIT_ONE_OF turns
 * takes the place of a cell in use, and the others get NULL: where more leaves are read again and
 * again than there are cells, most cells stay as they are, and are of use the next time.
 */
static Cell *
choose_cell(uint32 name, BlockNumber block, uint64 turn)
{
	bool		force = turn % ADMIT_ONE_OF == 0;
	Cell	   *own = find_cell(name, block);
	Cell	   *set = cell_set(name, block);
	int			i;

	if (own != NULL)
		return own;
	for (i = 0; i < SET_CELLS; i++)
	{
		if (set[i].head.buffer == InvalidBuffer)
			return set + i;
	}
	for (i = 0; i < SET_CELLS; i++)
	{
		if (used[set - cells + i] == 0)
			return set + i;
	}
	/* One of them in turn is tested: that may have to wait for memory. */
	if (cell_is_void(set + (turn % SET_CELLS)))
		return set + (turn % SET_CELLS);
	if (!force)
		return NULL;
	for (i = 0; i < SET_CELLS; i++)
		used[set - cells + i] = 0;
	return set + hash_bytes_uint32(block ^ name) % SET_CELLS;
}

/* Write a cell.  Nothing in here can fail or be interrupted, but where a test holds it. */
static void
write_cell(Cell *cell, const Cell *from)
{
	uint32		version = pg_atomic_read_u32(&cell->head.version);
	const Size	begin = offsetof(CellHead, buffer);
	const Size	middle = sizeof(CellHead);

	if ((version & 1) != 0 ||
		!pg_atomic_compare_exchange_u32(&cell->head.version, &version, version + 1))
		return;
	/* An exchange that is a pair of a load and a store may let later stores pass its own one. */
	pg_write_barrier();
	memcpy(cell->bytes + begin, from->bytes + begin, middle - begin);
	GPB_HOLD("leaf-within-cell");
	memcpy(cell->bytes + middle, from->bytes + middle, sizeof(Cell) - middle);
	used[cell - cells] = 0;
	pg_write_barrier();
	pg_atomic_write_u32(&cell->head.version, version + 2);
}

/* The bounds of a leaf's cell. */
static inline GpbBound
cell_low(const LeafCell *cell)
{
	GpbBound	low = {cell->low_key, cell->low_tie};

	if (cell->wide)
		low.key |= (GpbKey) cell->upper[0] << 64;
	return low;
}

static inline GpbBound
cell_high(const LeafCell *cell)
{
	GpbBound	high = {cell->high_key, cell->high_tie};

	if (cell->wide)
		high.key |= (GpbKey) cell->upper[1] << 64;
	return high;
}

/* ---- a reader ---- */

/* What the program wants of a column of the format. */
static inline int
column_want(const GpbCellReader *reader, int i)
{
	return reader->program->want[reader->format->column[i].column];
}

/* Is an exact sum wanted of column i of the format? */
static inline bool
column_sums_floats(const GpbCellReader *reader, int i)
{
	return reader->format->column[i].kind == GPB_KIND_FLOAT8 &&
		(column_want(reader, i) & GPB_WANT_SUM) != 0;
}

/*
 * Leaves are passed by and recorded only where each change of a page of the index sets a new LSN,
 * and where the snapshot alone decides what is seen.
 */
static bool
reader_eligible(Relation heap, Relation index, Snapshot snapshot, const GpbProgram *program,
				const GpbAnswerFormat *format)
{
	return gpb_enable_leaf_cache && cells != NULL &&
		index->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT &&
		heap->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT &&
		XLogIsNeeded() && RelationNeedsWAL(index) &&
		gpb_program_is_plain(program) && !program->list_entries &&
		format->ncolumns <= GPB_CELL_COLUMNS &&
		!gpb_needs_plain_scan(snapshot);
}

void
gpb_cells_begin(GpbCellReader *reader, Relation heap, Relation index, Snapshot snapshot,
				const GpbProgram *program, const GpbAnswerFormat *format)
{
	memset(reader, 0, sizeof(*reader));
	reader->missed = InvalidBlockNumber;
	if (!reader_eligible(heap, index, snapshot, program, format))
		return;
	reader->eligible = true;
	reader->program = program;
	reader->format = format;
	reader->file = index->rd_node;
	reader->hash = hash_bytes((const unsigned char *) &reader->file, sizeof(RelFileNode));
	reader->unclean = PG_UINT64_MAX;
}

/* Read E: the position up to which WAL is inserted, or, in recovery, replayed. */
static void
read_position(GpbCellReader *reader)
{
	GPB_HOLD("cells-before-position");
	reader->upto = RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetXLogInsertRecPtr();
	/* What is read of heap pages from now on is read after it. */
	pg_memory_barrier();
}

/* ---- are all rows seen? ---- */

/* The most heap pages without a bit that are looked at for one interval */
#define COVER_LOOKS		4096

/*
 * Are all rows of heap blocks [first, last] seen?  Blocks that were found so before, since E was
 * read, are not asked again; one that was found otherwise stays so.
 */
static bool
interval_seen(GpbCellReader *reader, GpbVisibility *visibility, GpbSettledReader *settled,
			  BlockNumber first, BlockNumber last)
{
	bool		extends = first >= reader->clean && first <= reader->clean_end;
	uint64		block = extends ? reader->clean_end : first;
	int			looks;

	if (extends && last < reader->clean_end)
		return true;
	if (reader->unclean >= first && reader->unclean <= last)
		return false;
	for (looks = 0; block <= last; looks++)
	{
		GpbSettledPage page;

		block = gpb_visibility_first_unmarked(visibility, (BlockNumber) block, last);
		if (block > last)
			break;
		if (looks == COVER_LOOKS || !settled->eligible ||
			!gpb_settled_look(settled, (BlockNumber) block, &page) ||
			!gpb_settled_sees_all(&page))
		{
			reader->unclean = block;
			break;
		}
		block++;
	}
	if (!extends)
		reader->clean = first;
	reader->clean_end = Max(Min(block, (uint64) last + 1), extends ? reader->clean_end : 0);
	return block > last;
}

static bool
cover_seen(GpbCellReader *reader, GpbVisibility *visibility, GpbSettledReader *settled,
		   const LeafCell *cell)
{
	int			i;

	for (i = 0; i < COVER_INTERVALS; i++)
	{
		const BlockInterval *interval = &cell->cover[i];

		if (interval->first <= interval->last &&
			!interval_seen(reader, visibility, settled, interval->first, interval->last))
			return false;
	}
	return true;
}

/* ---- passing leaves by ---- */

/* One leaf that is about to be passed by: its cell, and those of its columns */
typedef struct CellCopy
{
	Cell		leaf;
	Cell		column[GPB_CELL_COLUMNS];	/* by place in the format; unset if the leaf's cell has it */
} CellCopy;

/* Has the cell all that is wanted of its column? */
static inline bool
column_has(const CellColumn *have, int column, int want)
{
	return have->column == column && (want & ~have->want) == 0;
}

static inline bool
leaf_has_column(const LeafCell *cell, int column, int want)
{
	return !cell->wide && column_has(&cell->column, column, want);
}

/*
 * Get what the cells have of the columns that the program wants, of the same state of the page as
 * the leaf's cell.  Returns false if they do not have all of it; then the reason is in
 * reader->miss.
 */
static bool
copy_columns(GpbCellReader *reader, CellCopy *copy)
{
	int			i;

	for (i = 0; i < reader->format->ncolumns; i++)
	{
		int			column = reader->format->column[i].column;
		int			want = column_want(reader, i);
		Cell	   *cell = &copy->column[i];

		if (!column_sums_floats(reader, i) && leaf_has_column(&copy->leaf.leaf, column, want))
			continue;
		reader->miss = GPB_CELL_ABSENT;
		if (!read_cell(column_name(reader, column), copy->leaf.head.block, cell) ||
			cell->head.lsn != copy->leaf.head.lsn ||
			cell->column.column.column != column)
			return false;
		if ((want & ~cell->column.column.want) != 0)
		{
			if (cell->column.column.want & GPB_WANT_UNHELD)
				reader->miss = GPB_CELL_UNSEEN;
			return false;
		}
	}
	return true;
}

/*
 * Copy the cells of the leaf that *link names, and go on with *link behind it.  Returns false, with
 * the reason in reader->miss, if the leaf cannot be passed by.  What is left to be done is the look.
 */
static bool
copy_leaf(GpbCellReader *reader, GpbVisibility *visibility, GpbSettledReader *settled,
		  GpbCellLink *link, CellCopy *copy)
{
	LeafCell   *cell = &copy->leaf.leaf;

	reader->miss = GPB_CELL_ABSENT;
	if (!read_cell(reader->hash, link->block, &copy->leaf) ||
		gpb_bound_cmp(cell_low(cell), link->low) != 0)
		return false;
	if (cell->head.lsn > reader->upto || gpb_bound_less(link->end, cell_high(cell)))
	{
		/* It is another reader's, who came later, or the range ends on this leaf. */
		reader->miss = GPB_CELL_UNSEEN;
		return false;
	}
	if (!copy_columns(reader, copy))
		return false;
	/* What the looks will read comes from memory meanwhile. */
	__builtin_prefetch(GetBufferDescriptor(cell->head.buffer - 1));
	__builtin_prefetch(BufferGetPage(cell->head.buffer));
	if (!cover_seen(reader, visibility, settled, cell))
	{
		reader->miss = GPB_CELL_UNSEEN;
		reader->failures++;
		return false;
	}
	link->from = link->block;
	link->buffer = cell->head.buffer;
	link->block = cell->right;
	link->low = cell_high(cell);
	return true;
}

/* Add a column of a cell to what was added up. */
static inline void
add_column(GpbColumnState *state, const CellColumn *column)
{
	uint64		low = state->sum_low + column->sum_low;

	state->sum_high += column->sum_high + (low < state->sum_low);
	state->sum_low = low;
	state->count += column->count;
	state->min = Min(state->min, column->min);
	state->max = Max(state->max, column->max);
}

/* Add what the cells of a leaf have to *total. */
static void
add_copy(const GpbCellReader *reader, const CellCopy *copy, GpbCellTotal *total)
{
	const LeafCell *cell = &copy->leaf.leaf;
	int			i;

	total->entries += cell->entries;
	use_cell(reader->hash, cell->head.block);
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		bool		floats = column_sums_floats(reader, i);
		bool		inlined = !floats &&
			leaf_has_column(cell, reader->format->column[i].column, column_want(reader, i));

		if (!inlined)
			use_cell(copy->column[i].head.name, cell->head.block);
		add_column(&total->state[i], inlined ? &cell->column : &copy->column[i].column.column);
		if (floats)
			gpb_narrow_sum_merge(&total->sum[i], &copy->column[i].column.sum);
	}
}

/*
 * Rows that may not be seen cost a test of the map in vain, leaf after leaf where entries lead to
 * all of the table.  After so many such leaves in a row cells are not asked for a while, which
 * becomes longer each time.
 */
#define MOST_FAILURES	8
#define FIRST_PAUSE		64
#define LONGEST_PAUSE	65536

static void
note_failure(GpbCellReader *reader)
{
	if (reader->failures < MOST_FAILURES)
		return;
	reader->failures = 0;
	reader->pauses = Min(Max(reader->pauses * 4, FIRST_PAUSE), LONGEST_PAUSE);
	reader->pause = reader->pauses;
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
	CellCopy	copies[GPB_CELL_STEP];
	GpbCellLink links[GPB_CELL_STEP + 1];
	int			n = 0;
	int			i;

	if (reader->pause > 0)
	{
		reader->pause--;
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
		if (links[n].block == GPB_NO_BLOCK ||
			!copy_leaf(reader, visibility, settled, &links[n + 1], &copies[n]))
			break;
		__builtin_prefetch(cell_set(reader->hash, links[n].block + GPB_CELL_STEP / 2));
		n++;
	}
	GPB_HOLD("cells-before-looks");
	pg_memory_barrier();
	for (i = 0; i < n; i++)
	{
		const CellHead *head = &copies[i].leaf.head;

		if (!gpb_page_look(head->buffer, &reader->file, head->block, head->lsn, true))
		{
			reader->missed = head->block;
			reader->miss = GPB_CELL_ABSENT;
			break;
		}
		add_copy(reader, &copies[i], total);
	}
	if (i > 0)
	{
		reader->passed += i;
		reader->failures = 0;
		reader->pauses = 0;
		*link = links[i];
	}
	else
		note_failure(reader);
	return i;
}

/* ---- recording ---- */

/*
 * Find intervals that cover all blocks to which the entries of a leaf lead: one if the blocks are
 * near each other; several if a few rows of a table in the key's order lie elsewhere, where an
 * UPDATE moved them; and one again if even so many do not do.
 */
static void
find_cover(const char *page, int count, BlockInterval *cover)
{
	int			row_width = gpb_page_row_width(page);
	BlockNumber first;
	BlockNumber last;
	int			n = 0;
	int			i;

	for (i = 0; i < COVER_INTERVALS; i++)
	{
		cover[i].first = 1;
		cover[i].last = 0;
	}
	if (count == 0)
		return;
	gpb_entry_blocks(page, row_width, 0, count, &first, &last);
	for (i = 0; i < count && last - first > (uint32) count && n <= COVER_INTERVALS; i++)
	{
		BlockNumber block = gpb_locator_block(gpb_page_locator(page, row_width, i));
		const BlockNumber near = 16;
		int			k;

		for (k = 0; k < n; k++)
		{
			if (block + near >= cover[k].first && block <= cover[k].last + near)
				break;
		}
		if (k == n && n++ < COVER_INTERVALS)
			cover[k].first = cover[k].last = block;
		if (k < COVER_INTERVALS)
		{
			cover[k].first = Min(cover[k].first, block);
			cover[k].last = Max(cover[k].last, block);
		}
	}
	if (n > 0 && n <= COVER_INTERVALS)
		return;
	for (i = 1; i < COVER_INTERVALS; i++)
	{
		cover[i].first = 1;
		cover[i].last = 0;
	}
	cover[0].first = first;
	cover[0].last = last;
}

/*
 * Add the values of an INCLUDE column of float8 on a leaf to *sum.  Returns false if it does not
 * hold one of them.
 */
static bool
sum_floats(const char *page, const GpbLayout *layout, int column, GpbNarrowSum *sum)
{
	int			count = gpb_page_count(page);
	int			i;

	for (i = 0; i < count; i++)
	{
		const char *row = gpb_page_row(page, layout->row_width, i);

		if (!gpb_locator_column_is_null(gpb_row_locator(row), column - 1) &&
			!gpb_narrow_sum_add(sum, gpb_row_value(row, layout->offset[column - 1],
												   GPB_KIND_FLOAT8)))
			return false;
	}
	gpb_narrow_sum_normalize(sum);
	return true;
}

/*
 * Add up all entries of a leaf for one column, of which "want" is wanted.  *sum, which is zero,
 * takes the exact sum of a float8; it may be NULL if that is not wanted.
 */
static void
sum_column(const GpbCellReader *reader, const char *page, const GpbAnswerColumn *column, int want,
		   CellColumn *to, GpbNarrowSum *sum)
{
	const GpbLayout *layout = &reader->program->layout;
	int			c = column->column;
	GpbLeafPick pick = {NULL, 0, gpb_page_count(page)};
	GpbColumnState state;

	gpb_column_state_init(&state);
	if (c == 0 && gpb_has_runs(gpb_page_row_width(page)))
		gpb_leaf_column_runs(page, layout, &pick, &state);
	else if (c == 0)
		gpb_leaf_column_keys(page, layout, &pick, &state);
	else
		gpb_leaf_column_rows(page, layout, c, want, &pick, &state, NULL);
	if (column->kind == GPB_KIND_FLOAT8 && (want & GPB_WANT_SUM) != 0 &&
		!sum_floats(page, layout, c, sum))
		want = (want & ~GPB_WANT_SUM) | GPB_WANT_UNHELD;
	to->column = (uint8) c;
	to->want = (uint8) want;
	to->count = (uint16) state.count;
	to->sum_high = (int16) state.sum_high;
	to->sum_low = state.sum_low;
	to->min = state.min;
	to->max = state.max;
}

/*
 * Fill in column i of the format, in a cell of its own.  What others wanted of it, of the same state
 * of the page, stays.
 */
static void
fill_column(const GpbCellReader *reader, const char *page, int i, const CellHead *head, Cell *cell)
{
	const GpbAnswerColumn *column = &reader->format->column[i];
	int			want = column_want(reader, i);
	Cell		old;

	memset(cell, 0, sizeof(*cell));
	cell->head = *head;
	cell->head.name = column_name(reader, column->column);
	if (read_cell(cell->head.name, head->block, &old) && old.head.lsn == head->lsn &&
		old.column.column.column == column->column)
		want |= old.column.column.want & ~GPB_WANT_UNHELD;
	sum_column(reader, page, column, want, &cell->column.column, &cell->column.sum);
}

/*
 * Which column of the format is to be in the leaf's cell itself?  The one that is there, of the same
 * state of the page; if none is, the first one that fits.  Returns -1 if none is.
 */
static int
inlined_column(const GpbCellReader *reader, const LeafCell *cell)
{
	const CellColumn *old = &cell->column;
	int			i;

	if (cell->wide)
		return -1;
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		if (!column_sums_floats(reader, i) &&
			(old->column == NO_COLUMN || old->column == reader->format->column[i].column))
			return i;
	}
	return -1;
}

/*
 * Fill in the leaf's cell.  A column that another cell had of the same state of the page stays.
 * Returns which column of the format the cell has, or -1.
 */
static int
fill_leaf(const GpbCellReader *reader, const char *page, LeafCell *cell)
{
	GpbBound	low = gpb_page_low(page);
	GpbBound	high = gpb_page_high((Page) page);
	Cell		old;
	int			i;

	cell->low_key = (uint64) low.key;
	cell->low_tie = low.tie;
	cell->high_key = (uint64) high.key;
	cell->high_tie = high.tie;
	cell->right = gpb_page_special(page)->right;
	cell->entries = (uint16) gpb_page_count(page);
	cell->wide = gpb_page_special(page)->key_width == GPB_WIDE_KEY;
	find_cover(page, cell->entries, cell->cover);
	if (cell->wide)
	{
		cell->upper[0] = (uint64) (low.key >> 64);
		cell->upper[1] = (uint64) (high.key >> 64);
		return -1;
	}
	cell->column.column = NO_COLUMN;
	if (read_cell(cell->head.name, cell->head.block, &old) && old.head.lsn == cell->head.lsn &&
		!old.leaf.wide)
		cell->column = old.leaf.column;
	i = inlined_column(reader, cell);
	if (i >= 0 &&
		!column_has(&cell->column, reader->format->column[i].column, column_want(reader, i)))
		sum_column(reader, page, &reader->format->column[i],
				   column_want(reader, i) |
				   (cell->column.column == NO_COLUMN ? 0 : cell->column.want),
				   &cell->column, NULL);
	return i;
}

/*
 * The LSN is read under the same hold of the lock as the entries.  Who only writes hints may change
 * it meanwhile, which changes nothing of what is recorded.
 */
bool
gpb_cells_record(GpbCellReader *reader, Buffer buffer, GpbCellTotal *total)
{
	const char *page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);
	uint64		turn = ++reader->tried;
	Cell	   *place = choose_cell(reader->hash, block, turn);
	XLogRecPtr	lsn = BufferGetLSNAtomic(buffer);
	CellCopy	copy;
	int			inlined;
	int			i;

	Assert(gpb_page_special(page)->level == 0 && gpb_page_special(page)->right != GPB_NO_BLOCK &&
		   (gpb_page_special(page)->flags & GPB_PAGE_HAS_DEAD) == 0);
	if (XLogRecPtrIsInvalid(lsn) || place == NULL)
		return false;
	GPB_HOLD("leaf-within-record");
	memset(&copy.leaf, 0, sizeof(copy.leaf));
	copy.leaf.head.buffer = buffer;
	copy.leaf.head.block = block;
	copy.leaf.head.name = reader->hash;
	copy.leaf.head.lsn = lsn;
	inlined = fill_leaf(reader, page, &copy.leaf.leaf);
	write_cell(place, &copy.leaf);
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		if (i == inlined)
			continue;
		fill_column(reader, page, i, &copy.leaf.head, &copy.column[i]);
		place = choose_cell(copy.column[i].head.name, block, turn);
		if (place != NULL)
			write_cell(place, &copy.column[i]);
		if ((column_want(reader, i) & ~copy.column[i].column.column.want) != 0)
			return false;		/* its narrow sum does not hold a value */
	}
	reader->recorded++;
	add_copy(reader, &copy, total);
	return true;
}

/* ---- what was added up ---- */

void
gpb_cells_total_init(const GpbCellReader *reader, GpbCellTotal *total)
{
	int			i;

	total->entries = 0;
	for (i = 0; i < reader->format->ncolumns; i++)
	{
		gpb_column_state_init(&total->state[i]);
		if (column_sums_floats(reader, i))
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
		if (!column_sums_floats(reader, i))
			continue;
		gpb_narrow_sum_widen(&total->sum[i], &wide);
		gpb_float_sum_normalize(gpb_answer_float_sum(column, answer));
		gpb_float_sum_merge(gpb_answer_float_sum(column, answer), &wide);
	}
}
