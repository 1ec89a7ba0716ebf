/*-------------------------------------------------------------------------
 *
 * device.h
 *	  What the GPU service asks of a device.  Implemented twice: host_device.c
 *	  (the CPU, inside the service) and cuda/ (the shared object
 *	  gpubtree_cuda, loaded by the service alone).
 *
 * Plain C, free of PostgreSQL headers.  All calls are made by one thread of the
 * service process.  Addresses are host memory unless said otherwise.  A
 * device orders its work: what is uploaded after a request was launched is not
 * seen by it, and nothing a launched request may read is overwritten or
 * freed before it ended (rule M3).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_DEVICE_H
#define GPB_DEVICE_H

#include "ranges.h"
#include "search.h"

#define GPB_DEVICE_ABI		3

typedef enum GpbDeviceStatus
{
	GPB_DEVICE_OK = 0,
	GPB_DEVICE_NO_MEMORY,		/* this request failed; the device is well */
	GPB_DEVICE_LOST				/* unusable: the service must exit */
} GpbDeviceStatus;

typedef struct GpbDevice GpbDevice;
typedef struct GpbDeviceMirror GpbDeviceMirror;

typedef struct GpbDeviceInfo
{
	char		name[64];		/* "NVIDIA H200", "host" */
	int			ordinal;		/* CUDA device number; 0 for host */
	int			compute_major;
	int			compute_minor;
	int			multiprocessors;
	uint64		memory_total;	/* bytes */
	uint64		memory_used;	/* by mirrors and buffers of this device */
	uint64		memory_limit;	/* bytes it may use */
} GpbDeviceInfo;

/* Records that ranges leave behind, beside their answers */
typedef enum GpbFetchWhat
{
	GPB_FETCH_PIECES,			/* GpbUncleanPiece */
	GPB_FETCH_ENTRIES			/* GpbRangeEntry */
} GpbFetchWhat;

/*
 * An implementation.  "channel" numbers 0 .. channels-1 name independent
 * requests in flight; each owns its buffers on the device.
 */
typedef struct GpbDeviceApi
{
	uint32		abi;			/* GPB_DEVICE_ABI */
	const char *name;			/* "cuda" or "host" */

	/*
	 * Open device "ordinal", which may use memory_limit bytes (0: four fifths of
	 * what is free).  On failure *message says why, for the log; it stays valid.
	 */
	GpbDeviceStatus (*open) (int ordinal, uint64 memory_limit, int channels,
							 GpbDevice **device, const char **message);
	void		(*close) (GpbDevice *device);
	void		(*describe) (GpbDevice *device, GpbDeviceInfo *info);

	/* Why the last call did not return OK. */
	const char *(*last_error) (GpbDevice *device);

	/*
	 * Make the region the device reads and writes (shared memory) fit for
	 * direct transfer.  Failure is not fatal: transfers are slower.
	 */
	GpbDeviceStatus (*register_region) (GpbDevice *device, void *base, size_t size);

	/* An empty mirror: no block has an image. */
	GpbDeviceStatus (*mirror_create) (GpbDevice *device, const GpbLayout *layout,
									  GpbDeviceMirror **mirror);
	/* Waits for requests that read it, then frees. */
	void		(*mirror_destroy) (GpbDevice *device, GpbDeviceMirror *mirror);
	uint64		(*mirror_bytes) (GpbDeviceMirror *mirror);

	/*
	 * Take n page images (n * GPB_PAGE_SIZE bytes at pages, block numbers at
	 * blocks) and stamp them with epoch.  The source may be reused after upload_wait, or
	 * once a later upload_done says so.
	 */
	GpbDeviceStatus (*upload) (GpbDevice *device, GpbDeviceMirror *mirror, int n,
							   const uint32 *blocks, const void *pages,
							   uint64 epoch);
	GpbDeviceStatus (*upload_wait) (GpbDevice *device);

	/*
	 * Replace the inner image: the level-1 pages in key order (images that were
	 * uploaded), counts[i] entries on each.  nblocks 0: the index is the one
	 * leaf "root_leaf".  Flattens their separators to one sorted array of
	 * (bound, leaf block); the first separator counts as (0, 0).
	 */
	GpbDeviceStatus (*set_inner) (GpbDevice *device, GpbDeviceMirror *mirror,
								  uint32 nblocks, const uint32 *blocks,
								  const uint32 *counts, uint32 root_leaf);

	/*
	 * Bytes [offset, offset + n) of the channel's visibility bits.  The source may be reused when
	 * the call returns.  Offset 0 begins anew: bytes not set since then count as not visible.
	 */
	GpbDeviceStatus (*set_visibility) (GpbDevice *device, int channel,
									   uint64 offset, const void *bits, uint64 n);

	/*
	 * Start a request over the mirror.  ranges has spec->n ranges in the form of the spec.  changed has one
	 * bit for each of nblocks blocks (bit b % 32 of word b / 32); a leaf whose bit is set, whose
	 * block is at or beyond nblocks, that has no image or one with a stamp above spec->epoch, or whose
	 * high key is not the next separator, is unclean (rule M4).  Without an inner image each
	 * range that is not empty is one unclean piece at GPB_NO_BLOCK.
	 *
	 * The call copies spec and changed before it returns; ranges and answers are the device's until
	 * finish.  gpb_count_answers(spec) answers, each as gpb_answer_format() says, will be at answers,
	 * which may be the same memory as ranges, when finish returns; of entries of clean leaves that are visible by
	 * the map.  Their GpbFloatSums are normalized.
	 */
	GpbDeviceStatus (*ranges_launch) (GpbDevice *device, GpbDeviceMirror *mirror,
									  int channel, const GpbRangesSpec *spec,
									  const void *ranges, void *answers,
									  const uint32 *changed, uint32 nblocks);
	/* Wait for it.  No answer may be used unless the call returns OK. */
	GpbDeviceStatus (*ranges_finish) (GpbDevice *device, int channel,
									  GpbRangesResult *result);

	/* Copy records [first, first + n) that the channel's finished ranges left behind. */
	GpbDeviceStatus (*fetch) (GpbDevice *device, int channel, GpbFetchWhat what,
							  uint64 first, uint64 n, void *into);

	/*
	 * Start a batch of searches in the mirror's inner image; spec is copied, the
	 * arrays of its pieces are the device's until finish.  changed as for
	 * ranges_launch; needed only for positions, else may be NULL.  Fails
	 * without an inner image.  Stale separators are harmless (rule M7).
	 */
	GpbDeviceStatus (*search_launch) (GpbDevice *device, GpbDeviceMirror *mirror,
									  int channel, const GpbSearchSpec *spec,
									  const uint32 *changed, uint32 nblocks);
	/* Wait for it; the results are in the pieces' arrays. */
	GpbDeviceStatus (*search_finish) (GpbDevice *device, int channel);

	/*
	 * Has what was launched last on the channel ended, so that its finish will not wait?  A
	 * device without threads of its own does a bounded part of the work here.
	 */
	GpbDeviceStatus (*poll) (GpbDevice *device, int channel, bool *ended);
} GpbDeviceApi;

/* The host device, in this library. */
extern const GpbDeviceApi gpb_host_device;

/*
 * The one symbol of gpubtree_cuda: returns its table.  Makes no CUDA call.
 */
#define GPB_CUDA_ENTRY "gpb_cuda_device"
typedef const GpbDeviceApi *(*GpbDeviceEntry) (void);

#endif							/* GPB_DEVICE_H */
