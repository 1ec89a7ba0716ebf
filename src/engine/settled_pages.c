/*-------------------------------------------------------------------------
 *
 * settled_pages.c
 *	  What is known of heap pages whose transactions have all ended (rule M11).
 *
 * Shared memory has an array of cells of one cache line, in sets of four.  A cell has what is known
 * of one block of one relation file.  It is valid as long as the page's LSN is the one that the
 * cell names, so nobody who changes a page needs to know of cells, and none is ever taken back.
 * They live as long as shared memory does: after a crash pages come back as they were before, with
 * LSNs that were given out again.
 *
 * Neighbouring blocks of a file have neighbouring sets, so that a reader of several finds them in
 * adjacent memory.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "engine/page_look.h"
#include "engine/settled_pages.h"
#include "engine/shared_cells.h"
#include "engine/visibility.h"
#include "hold.h"

static bool enable_page_cache = true;
static int	page_cache_size = 32 * 1024;

/* ---- cells ---- */

/*
 * One page.  A cell is a seqlock (shared_cells.h), so the LSN, the newest transaction and the
 * unseen rows of a cell are those of one recorder.
 *
 * A hash names the file.  A look compares the whole identity, with the buffer's tag; so of two
 * files with one hash, each finds the other's cell only if its own page is in that buffer, has that
 * number and has the LSN.  An LSN is that of pages of one relation, or of copies of these, and then
 * the cell is right for both.
 */
typedef struct SettledCell
{
	pg_atomic_uint32 version;
	Buffer		buffer;			/* where the page was; InvalidBuffer if the cell is empty; less than
								 * 0 if the page was not settled for the recorder's snapshot */
	BlockNumber block;
	uint32		file;			/* hash of the relation file */
	XLogRecPtr	lsn;
	uint64		newest;			/* the newest transaction, or one that is in the way */
	GpbSettledPage page;
} SettledCell;

StaticAssertDecl(sizeof(SettledCell) == 64, "a cell is a cache line");

#define SET_CELLS		4

static SettledCell *cells;		/* in shared memory; NULL if there are none */
static uint32 set_mask;			/* number of sets, a power of two, less one */

/* The number of sets that fit gpubtree.page_cache_size, or 0. */
static uint32
number_of_sets(void)
{
	return gpb_cell_sets(page_cache_size, SET_CELLS * sizeof(SettledCell));
}

static Size
cells_size(void)
{
	return (Size) number_of_sets() * SET_CELLS * sizeof(SettledCell);
}

void
gpb_settled_define_settings(void)
{
	DefineCustomBoolVariable("gpubtree.enable_page_cache",
							 "Enables the use of what other queries found out about heap pages.",
							 "Without it, entries on heap pages that are not all-visible are checked in the heap by each query.",
							 &enable_page_cache, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.page_cache_size",
							"Shared memory for what queries found out about heap pages.",
							"A heap page takes 64 bytes; rounded down to a power of two; 0 is none.",
							&page_cache_size, 32 * 1024, 0, 16 * 1024 * 1024, PGC_POSTMASTER,
							GUC_UNIT_KB, NULL, NULL, NULL);
}

void
gpb_settled_request_shmem(void)
{
	RequestAddinShmemSpace(cells_size());
}

void
gpb_settled_init_shmem(void)
{
	Size		size = cells_size();
	bool		found;

	if (size == 0)
		return;
	set_mask = number_of_sets() - 1;
	cells = ShmemInitStruct("gpubtree settled pages", size, &found);
	/* Of an empty cell all bytes are zero: its version, its buffer, and its lsn, which none has. */
	if (!found)
		memset(cells, 0, size);
}

/*
 * Cell number i of those that may have a block of the reader's table.  The first one is another for
 * another table, so that tables which share sets find most of their pages in the first cell.
 */
static inline SettledCell *
candidate_cell(const GpbSettledReader *reader, BlockNumber block, int i)
{
	SettledCell *set = cells + (Size) ((reader->hash + block) & set_mask) * SET_CELLS;

	return set + ((reader->hash >> 24) + i) % SET_CELLS;
}

static inline bool
cell_names(const SettledCell *cell, const GpbSettledReader *reader, BlockNumber block)
{
	return cell->block == block && cell->buffer != InvalidBuffer && cell->file == reader->hash;
}

/* The cell of this block, or NULL.  It may be another's as soon as this has returned. */
static inline SettledCell *
find_cell(const GpbSettledReader *reader, BlockNumber block)
{
	int			i;

	for (i = 0; i < SET_CELLS; i++)
	{
		SettledCell *cell = candidate_cell(reader, block, i);

		if (cell_names(cell, reader, block))
			return cell;
	}
	return NULL;
}

/* Copy the cell of this block.  Returns false if there is none, or if it is being written. */
static inline bool
read_cell(const GpbSettledReader *reader, BlockNumber block, SettledCell *copy)
{
	SettledCell *cell = find_cell(reader, block);

	return cell != NULL &&
		gpb_shared_cell_copy(&cell->version, copy, cell, sizeof(SettledCell)) &&
		cell_names(copy, reader, block);
}

/*
 * Write a cell.  Nothing in here can fail or be interrupted, but where a test holds it.
 */
static void
write_cell(SettledCell *cell, const SettledCell *from)
{
	if (!gpb_shared_cell_write(&cell->version))
		return;
	memcpy((char *) cell + offsetof(SettledCell, buffer),
		   (const char *) from + offsetof(SettledCell, buffer),
		   offsetof(SettledCell, newest) - offsetof(SettledCell, buffer));
	GPB_HOLD("settled-within-cell");
	cell->newest = from->newest;
	cell->page = from->page;
	gpb_shared_cell_written(&cell->version);
}

/* Was the page settled for the recorder's snapshot?  If so, the cell's buffer is a shared one. */
static inline bool
cell_is_settled(const SettledCell *cell)
{
	return cell->buffer > 0;
}

/* ---- a reader ---- */

static inline uint32
file_hash(const RelFileNode *file)
{
	return hash_bytes((const unsigned char *) file, sizeof(RelFileNode));
}

/*
 * Pages are looked up and recorded only where each change of a tuple sets a new LSN, and where the
 * snapshot alone decides what is seen.
 */
static bool
reader_eligible(Relation heap, Snapshot snapshot)
{
	return enable_page_cache && cells != NULL &&
		heap->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT &&
		XLogIsNeeded() && RelationNeedsWAL(heap) &&
		heap->rd_tableam == GetHeapamTableAmRoutine() &&
		!gpb_needs_plain_scan(snapshot);
}

void
gpb_settled_begin(GpbSettledReader *reader, Relation heap, Snapshot snapshot)
{
	FullTransactionId next;

	memset(reader, 0, sizeof(*reader));
	if (!reader_eligible(heap, snapshot))
		return;
	reader->eligible = true;
	reader->file = heap->rd_node;
	reader->hash = file_hash(&reader->file);
	next = ReadNextFullTransactionId();
	Assert(!TransactionIdFollows(snapshot->xmin, XidFromFullTransactionId(next)));
	reader->xmin = gpb_full_xid(next, snapshot->xmin);
}

void
gpb_settled_prefetch(const GpbSettledReader *reader, BlockNumber block)
{
	__builtin_prefetch(candidate_cell(reader, block, 0));
}

void
gpb_settled_prefetch_page(const GpbSettledReader *reader, BlockNumber block)
{
	const SettledCell *cell = find_cell(reader, block);
	Buffer		buffer = cell == NULL ? InvalidBuffer : cell->buffer;

	if (buffer <= 0 || buffer > NBuffers)
		return;
	__builtin_prefetch(GetBufferDescriptor(buffer - 1));
	__builtin_prefetch(BufferGetPage(buffer));
}

/*
 * Is the page in its buffer still, with the LSN that the cell names?
 *
 * One who has changed the page, but not its LSN yet, is of a transaction that the snapshot does not
 * see as ended, or replays a record of one, or prunes, freezes or locks rows; so what the cell says
 * is still right for the snapshot.
 */
static inline bool
page_unchanged(const SettledCell *cell, const RelFileNode *file)
{
	return gpb_page_look(cell->buffer, file, cell->block, cell->lsn, false);
}

bool
gpb_settled_look(GpbSettledReader *reader, BlockNumber block, GpbSettledPage *page)
{
	SettledCell cell;

	if (!read_cell(reader, block, &cell) || !cell_is_settled(&cell) ||
		cell.newest >= reader->xmin || !page_unchanged(&cell, &reader->file))
		return false;
	*page = cell.page;
	reader->hits++;
	return true;
}

/* Number of pages in a sample: its looks take a few microseconds */
#define SAMPLE_PAGES	64

double
gpb_settled_share(Relation heap, Snapshot snapshot, BlockNumber nblocks)
{
	GpbSettledReader reader;
	GpbSettledPage page;
	int			settled = 0;
	int			i;

	gpb_settled_begin(&reader, heap, snapshot);
	if (!reader.eligible)
		return 0.0;
	for (i = 0; i < SAMPLE_PAGES; i++)
		settled += gpb_settled_look(&reader, (BlockNumber) ((uint64) nblocks * i / SAMPLE_PAGES),
									&page);
	return (double) settled / SAMPLE_PAGES;
}

/* ---- recording ---- */

bool
gpb_settled_wanted(const GpbSettledReader *reader, BlockNumber block, Buffer buffer)
{
	SettledCell cell;

	if (!reader->eligible)
		return false;
	if (!read_cell(reader, block, &cell) || cell.lsn != BufferGetLSNAtomic(buffer))
		return true;
	if (!cell_is_settled(&cell))
		return cell.newest < reader->xmin;
	return cell.buffer != buffer && cell.newest < reader->xmin;
}

/*
 * Is what a cell says void, since its page was changed, or has left its buffer?  The page may have
 * been dropped with its table.  The file is not known, so a page of another one with the same hash
 * would do.
 */
static bool
cell_is_void(SettledCell *cell)
{
	SettledCell copy;
	RelFileNode file;

	if (!gpb_shared_cell_copy(&cell->version, &copy, cell, sizeof(copy)) ||
		!cell_is_settled(&copy))
		return false;
	/* This is read without a lock: it is compared again under one. */
	file = BufTagGetRelFileLocator(&GetBufferDescriptor(copy.buffer - 1)->tag);
	return file_hash(&file) != copy.file || !page_unchanged(&copy, &file);
}

/*
 * Choose the cell for a page: its own, or the first candidate if what that says is void, since this
 * is the one which readers prefetch; or an empty one, or one of a page that is not settled.  If
 * there is none, another page loses its cell if "force" is set; else this returns NULL.
 */
static SettledCell *
choose_cell(const GpbSettledReader *reader, BlockNumber block, XLogRecPtr lsn, bool force)
{
	SettledCell *cell = find_cell(reader, block);
	int			i;

	if (cell != NULL)
		return cell;
	for (i = 0; i < SET_CELLS; i++)
	{
		cell = candidate_cell(reader, block, i);
		if (!cell_is_settled(cell) ||
			(i == 0 && cell_is_void(cell)))
			return cell;
	}
	if (!force)
		return NULL;
	return candidate_cell(reader, block,
						  hash_bytes_uint32(block ^ (uint32) lsn) % SET_CELLS);
}

void
gpb_settled_record(const GpbSettledReader *reader, BlockNumber block, Buffer buffer,
				   XLogRecPtr lsn, uint64 newest, const GpbSettledPage *page)
{
	bool		settled = newest < reader->xmin;
	SettledCell from;
	SettledCell *cell;

	if (!reader->eligible || XLogRecPtrIsInvalid(lsn))
		return;
	cell = choose_cell(reader, block, lsn, settled);
	if (cell == NULL)
		return;
	memset(&from, 0, sizeof(from));
	from.buffer = settled ? buffer : -buffer;
	from.file = reader->hash;
	from.block = block;
	from.lsn = lsn;
	from.newest = newest;
	if (settled)
		from.page = *page;
	write_cell(cell, &from);
}
