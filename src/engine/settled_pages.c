/*-------------------------------------------------------------------------
 *
 * settled_pages.c
 *	  What is known of heap pages whose transactions have all ended (rule M11).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"

#include "engine/settled_pages.h"

bool		gpb_enable_page_cache = true;
static int	page_cache_size = 32 * 1024;

void
gpb_settled_define_settings(void)
{
	DefineCustomBoolVariable("gpubtree.enable_page_cache",
							 "Enables the use of what other queries found out about heap pages.",
							 "Without it, entries on heap pages that are not all-visible are checked in the heap by each query.",
							 &gpb_enable_page_cache, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.page_cache_size",
							"Shared memory for what queries found out about heap pages.",
							"A heap page takes 64 bytes; 0 is none.",
							&page_cache_size, 32 * 1024, 0, 16 * 1024 * 1024, PGC_POSTMASTER,
							GUC_UNIT_KB, NULL, NULL, NULL);
}

void
gpb_settled_request_shmem(void)
{
}

void
gpb_settled_init_shmem(void)
{
}

void
gpb_settled_begin(GpbSettledReader *reader, Relation heap, Snapshot snapshot)
{
	memset(reader, 0, sizeof(*reader));
}

void
gpb_settled_prefetch(const GpbSettledReader *reader, BlockNumber block)
{
}

void
gpb_settled_prefetch_page(const GpbSettledReader *reader, BlockNumber block)
{
}

bool
gpb_settled_look(GpbSettledReader *reader, BlockNumber block, GpbSettledPage *page)
{
	return false;
}

uint32
gpb_settled_mark(GpbSettledReader *reader, BlockNumber first, uint32 n, uint8 *bits)
{
	return 0;
}
