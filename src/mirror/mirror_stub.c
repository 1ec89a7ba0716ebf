/*-------------------------------------------------------------------------
 *
 * mirror_stub.c
 *	  The mirror's face with nothing behind it, until the mirror is here.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror.h"

bool		gpb_enabled = true;

void
gpb_mirror_define_settings(void)
{
}

void
gpb_mirror_request_shmem(void)
{
}

void
gpb_mirror_init_shmem(void)
{
}

void
gpb_mirror_register_service(void)
{
}

int
gpb_mirror_find(const RelFileNode *file)
{
	return GPB_NOT_MIRRORED;
}

void
gpb_mirror_mark(int slot, BlockNumber block)
{
}

void
gpb_mirror_forget(const RelFileNode *file)
{
}

bool
gpb_mirror_available(void)
{
	return false;
}

bool
gpb_mirror_attach(Relation index, const GpbLayout *layout, GpbMirrorRef *ref)
{
	return false;
}

bool
gpb_mirror_refresh(Relation index, const GpbLayout *layout,
				   const GpbMirrorRef *ref, uint64 *blocks)
{
	return false;
}

uint64
gpb_mirror_epoch(const GpbMirrorRef *ref)
{
	return 0;
}

GpbRequest *
gpb_request_begin(const GpbMirrorRef *ref)
{
	return NULL;
}

void
gpb_request_end(GpbRequest *request)
{
}

bool
gpb_request_visibility(GpbRequest *request, uint64 offset, const void *bits,
					   uint64 n)
{
	return false;
}

bool
gpb_request_aggregate(GpbRequest *request, const GpbAggregateSpec *spec,
					  GpbAggregateResult *result, GpbFloatSum *sums)
{
	return false;
}

bool
gpb_request_fetch(GpbRequest *request, GpbFetchWhat what, uint64 first,
				  uint64 n, void *into)
{
	return false;
}

const char *
gpb_mirror_engine_name(void)
{
	return "none";
}
