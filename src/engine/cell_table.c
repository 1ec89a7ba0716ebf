/*-------------------------------------------------------------------------
 *
 * cell_table.c
 *	  The shared table of cells of leaves (rule M14).
 *
 * A cell is valid as long as the page has the LSN that it names, so nobody who changes a page needs
 * to know of cells, and none is ever taken back.  They live as long as shared memory does: after a
 * crash pages come back as they were before, with LSNs that were given out again.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"

#include "hold.h"
#include "engine/cell_table.h"
#include "engine/leaf_cells.h"
#include "engine/page_look.h"

bool		gpb_enable_leaf_cache = true;
static int	leaf_cache_size = -1;	/* kB; -1: by shared_buffers */

GpbCell    *gpb_cells;
volatile uint8 *gpb_cells_used;
uint32		gpb_cells_set_mask;

/* ---- memory ---- */

/* The least of the default, in kilobytes */
#define LEAST_SIZE	1024

/* The kilobytes that are wanted; by default a cell for each page of shared buffers, about. */
static uint64
wanted_size(void)
{
	if (leaf_cache_size >= 0)
		return leaf_cache_size;
	return Max((uint64) NBuffers * sizeof(GpbCell) / 1024, LEAST_SIZE);
}

/* The number of sets that fit gpubtree.leaf_cache_size, or 0. */
static uint32
number_of_sets(void)
{
	return gpb_cell_sets(wanted_size(), GPB_SET_CELLS * (sizeof(GpbCell) + 1));
}

static Size
cells_size(void)
{
	return (Size) number_of_sets() * GPB_SET_CELLS * (sizeof(GpbCell) + 1);
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
							"A leaf takes 128 bytes, and 128 more for each column beyond the first, and for the values of a column; rounded down to a power of two; 0 is none, -1 is 1/64 of shared_buffers.",
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
	gpb_cells_set_mask = number_of_sets() - 1;
	gpb_cells = ShmemInitStruct("gpubtree leaf cells", size, &found);
	gpb_cells_used = (volatile uint8 *)
		(gpb_cells + (Size) (gpb_cells_set_mask + 1) * GPB_SET_CELLS);
	/* Of an empty cell all bytes are zero: its version, its buffer, and its lsn, which none has. */
	if (!found)
		memset(gpb_cells, 0, size);
}

/* ---- writing ---- */

/*
 * Is what a cell says void, since its page was changed, or has left its buffer?  The file is not
 * known, so a page of another one would do.
 */
static bool
cell_is_void(const GpbCell *cell)
{
	GpbCellHead head = cell->head;
	RelFileNode file;

	if (head.buffer <= 0 || head.buffer > NBuffers)
		return false;			/* it is being written */
	/* This is read without a lock: it is compared again under one. */
	file = BufTagGetRelFileLocator(&GetBufferDescriptor(head.buffer - 1)->tag);
	return !gpb_page_look(head.buffer, &file, head.block, head.lsn, false);
}

/* Of so many recorders that find a set full of cells in use, one takes the place of another. */
#define ADMIT_ONE_OF	8

GpbCell *
gpb_cell_choose(uint32 name, BlockNumber block, uint64 turn)
{
	GpbCellHint hint = {0};
	GpbCell    *cell = gpb_cell_find(name, block, &hint);
	int			i;

	if (cell != NULL)
		return cell;
	for (i = 0; i < GPB_SET_CELLS; i++)
	{
		cell = gpb_cell_candidate(name, block, i);
		if (cell->head.buffer == InvalidBuffer)
			return cell;
	}
	for (i = 0; i < GPB_SET_CELLS; i++)
	{
		cell = gpb_cell_candidate(name, block, i);
		if (gpb_cells_used[cell - gpb_cells] == 0)
			return cell;
	}
	/* One of them in turn is tested: that may have to wait for memory. */
	cell = gpb_cell_candidate(name, block, turn % GPB_SET_CELLS);
	if (cell_is_void(cell))
		return cell;
	if (turn % ADMIT_ONE_OF != 0)
		return NULL;
	for (i = 0; i < GPB_SET_CELLS; i++)
		gpb_cells_used[gpb_cell_candidate(name, block, i) - gpb_cells] = 0;
	return gpb_cell_candidate(name, block, hash_bytes_uint32(block ^ name) % GPB_SET_CELLS);
}

void
gpb_cell_write(GpbCell *cell, const GpbCell *from)
{
	const Size	begin = offsetof(GpbCellHead, buffer);
	const Size	middle = sizeof(GpbCellHead);

	if (!gpb_shared_cell_write(&cell->head.version))
		return;
	memcpy(cell->bytes + begin, from->bytes + begin, middle - begin);
	GPB_HOLD("leaf-within-cell");
	memcpy(cell->bytes + middle, from->bytes + middle, sizeof(GpbCell) - middle);
	gpb_cells_used[cell - gpb_cells] = 0;
	gpb_shared_cell_written(&cell->head.version);
}
