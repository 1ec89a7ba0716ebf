/*-------------------------------------------------------------------------
 *
 * gpubtree.c
 *	  Loading: settings, hooks, resource manager, shared memory, workers.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/guc.h"

#include "engine/batch.h"
#include "engine/cell_counts.h"
#include "engine/leaf_cells.h"
#include "engine/mirror_reader.h"
#include "engine/settled_pages.h"
#include "exec/exec.h"
#include "hold.h"
#include "index/dictionary.h"
#include "index/index.h"
#include "mirror/mirror.h"
#include "sql/sql.h"
#include "waits.h"

PG_MODULE_MAGIC;

/* What index/build_device.c has of the mirror */
static const GpbSortDevice sort_device = {
	.available = gpb_sort_available,
	.begin = gpb_request_begin_sort,
	.staging = gpb_request_staging,
	.submit_first = gpb_request_submit_first_records,
	.submit = gpb_request_submit_records,
	.submit_read = gpb_request_submit_read,
	.answered = gpb_request_answered,
	.wait = gpb_request_wait,
	.end = gpb_request_end
};

void		_PG_init(void);

static shmem_request_hook_type previous_shmem_request_hook = NULL;
static shmem_startup_hook_type previous_shmem_startup_hook = NULL;

/*
 * shmem_request_hook: ask for shared memory, of the mirror, settled pages, cells of leaves and
 * dictionaries.
 */
static void
shmem_request(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
	gpb_mirror_request_shmem();
	gpb_settled_request_shmem();
	gpb_leaf_cells_request_shmem();
	gpb_cell_counts_request_shmem();
	gpb_dictionary_request_shmem();
}

/* shmem_startup_hook: create what shmem_request() asked for, or attach to it. */
static void
shmem_startup(void)
{
	if (previous_shmem_startup_hook)
		previous_shmem_startup_hook();
	gpb_waits_init();
	gpb_mirror_init_shmem();
	gpb_settled_init_shmem();
	gpb_leaf_cells_init_shmem();
	gpb_cell_counts_init_shmem();
	gpb_dictionary_init_shmem();
}

/*
 * Entry point of the library.  The WAL resource manager and the shared memory of the
 * mirror must exist before the first index page is read, so the library
 * refuses to be loaded at any time but server start.
 */
void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("gpubtree must be loaded through shared_preload_libraries"),
				 errhint("Add gpubtree to shared_preload_libraries in postgresql.conf and restart the server.")));

	gpb_register_rmgr();
	gpb_init_options();
	gpb_mirror_define_settings();
	gpb_settled_define_settings();
	gpb_leaf_cells_define_settings();
	gpb_dictionary_define_settings();
	gpb_watch_builds();
	gpb_sort_device = &sort_device;
	gpb_exec_init();
#ifdef GPB_HOLD_POINTS
	gpb_hold_init();
	gpb_hold_number("gpubtree.chunk_least", "Ranges of a request to the device, at least.",
					&gpb_chunk_least);
	gpb_hold_number("gpubtree.chunk_most", "Ranges of a request to the device, at most.",
					&gpb_chunk_most);
	gpb_hold_number("gpubtree.unknown_least",
					"Entries that are visited in the heap without asking the device again, at most.",
					&gpb_unknown_least);
	gpb_hold_number("gpubtree.most_exceptions", "Exceptions of a request, at most.",
					&gpb_most_exceptions);
	gpb_hold_number("gpubtree.inner_entries", "Entries of an inner page, at most.",
					&gpb_inner_entries);
	gpb_hold_number("gpubtree.piece_records",
					"Records of a piece of a build that the device sorts, at most.",
					&gpb_piece_records);
	gpb_hold_number("gpubtree.dictionary_codes", "Values of a dictionary, at most.",
					&gpb_dictionary_codes);
	gpb_hold_number("gpubtree.shared_codes", "Codes from which on a dictionary is shared.",
					&gpb_shared_codes);
	gpb_hold_number("gpubtree.far_codes",
					"Codes that a copy of a dictionary lacks, from which on single ones are looked up.",
					&gpb_far_codes);
	gpb_hold_number("gpubtree.shared_pieces", "Pieces of memory of a shared dictionary, at most.",
					&gpb_shared_pieces);
	gpb_hold_number("gpubtree.shared_bits", "Bytes of visibility bits that are shared, at most.",
					&gpb_shared_bits);
#endif
	MarkGUCPrefixReserved("gpubtree");

	previous_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = shmem_request;
	previous_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = shmem_startup;
	gpb_mirror_register_workers();
	gpb_watch_drops();
	gpb_explain_index_refusals();
}
