/*-------------------------------------------------------------------------
 *
 * device.h
 *	  What the service asks of a device.
 *
 * It is implemented twice: by host/ on the CPU, inside the service, and by cuda/, the shared object
 * gpubtree_cuda that the service alone loads.
 *
 * Plain C, free of PostgreSQL headers.  All calls are made by one thread of the service process.
 * Addresses are of host memory unless said otherwise.  A device orders its work: a request does not
 * see what is uploaded after its launch, and nothing that a launched request may read is
 * overwritten or freed before it is complete (rule M3).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_DEVICE_H
#define GPB_DEVICE_H

#include "program/ranges.h"
#include "search.h"
#include "sort.h"

#define GPB_DEVICE_ABI		11

typedef enum GpbDeviceStatus
{
	GPB_DEVICE_OK = 0,
	GPB_DEVICE_NO_MEMORY,		/* this request failed; the device works */
	GPB_DEVICE_LOST				/* the device is unusable, and the service must exit */
} GpbDeviceStatus;

typedef struct GpbDevice GpbDevice;
typedef struct GpbDeviceMirror GpbDeviceMirror;
typedef struct GpbDeviceMap GpbDeviceMap;

typedef struct GpbDeviceInfo
{
	char		name[64];		/* "NVIDIA H200", "host" */
	int			ordinal;		/* of CUDA devices, or of host devices */
	int			compute_major;
	int			compute_minor;
	int			multiprocessors;
	uint64		memory_total;	/* bytes in all */
	uint64		memory_used;	/* bytes used by mirrors and buffers of this device */
	uint64		memory_limit;	/* bytes that the device may use */
} GpbDeviceInfo;

/* The records that ranges leave behind beside their answers */
typedef enum GpbFetchWhat
{
	GPB_FETCH_PIECES,			/* GpbUncleanPiece; of wide keys, GpbWidePiece */
	GPB_FETCH_ENTRIES,			/* GpbRangeEntry */
	GPB_FETCH_BLOCKS,			/* uint32: gpb_count_block_words() words of a bitmap of those heap
								 * blocks where the entries are that must be checked in the heap */
	GPB_FETCH_GROUPS			/* GpbGroup, gpb_group_width() bytes apart */
} GpbFetchWhat;

#define GPB_FETCH_KINDS		(GPB_FETCH_GROUPS + 1)

/*
 * An implementation.  Channels are independent requests in flight, numbered from 0 to channels - 1;
 * each owns its buffers on the device.
 */
typedef struct GpbDeviceApi
{
	uint32		abi;			/* GPB_DEVICE_ABI */
	const char *name;			/* "cuda" or "host" */

	/*
	 * Open device number "ordinal", which may use memory_limit bytes, or, if that is 0, four fifths
	 * of what is free.  On failure *message says why, for the log; it stays valid.
	 */
	GpbDeviceStatus (*open) (int ordinal, uint64 memory_limit, int channels,
							 GpbDevice **device, const char **message);
	void		(*close) (GpbDevice *device);
	void		(*describe) (GpbDevice *device, GpbDeviceInfo *info);

	/* Why the last call did not return OK */
	const char *(*last_error) (GpbDevice *device);

	/*
	 * Make the region that the device reads and writes, which is shared memory, fit for direct
	 * transfer.  A failure is not fatal, but transfers are slower then.
	 */
	GpbDeviceStatus (*register_region) (GpbDevice *device, void *base, size_t size);

	/* Make an empty mirror, in which no block has an image. */
	GpbDeviceStatus (*mirror_create) (GpbDevice *device, const GpbLayout *layout,
									  GpbDeviceMirror **mirror);
	/* Wait for the requests that read the mirror, then free it. */
	void		(*mirror_destroy) (GpbDevice *device, GpbDeviceMirror *mirror);
	uint64		(*mirror_bytes) (GpbDeviceMirror *mirror);

	/*
	 * Take n page images, which lie GPB_PAGE_SIZE bytes apart at "pages" and have their block
	 * numbers at "blocks", and stamp them with epoch.  The source may be reused after upload_wait,
	 * or once a later upload_done says so.
	 */
	GpbDeviceStatus (*upload) (GpbDevice *device, GpbDeviceMirror *mirror, int n,
							   const uint32 *blocks, const void *pages,
							   uint64 epoch);
	GpbDeviceStatus (*upload_wait) (GpbDevice *device);

	/*
	 * Replace the inner image by the level-1 pages "blocks" in key order, whose images were
	 * uploaded, with counts[i] entries on each.  If nblocks is 0 the index is the one leaf
	 * "root_leaf".  The pages' separators are flattened to one sorted array of (bound, leaf block);
	 * the first separator counts as (0, 0).
	 */
	GpbDeviceStatus (*set_inner) (GpbDevice *device, GpbDeviceMirror *mirror,
								  uint32 nblocks, const uint32 *blocks,
								  const uint32 *counts, uint32 root_leaf);

	/*
	 * Set bytes [offset, offset + n) of the channel's visibility bits, or of the exceptions that
	 * lie behind them (gpb_exceptions_offset()).  The source may be reused
	 * when the call returns.  Offset 0 begins anew: bytes not set since then count as not visible.
	 */
	GpbDeviceStatus (*set_visibility) (GpbDevice *device, int channel,
									   uint64 offset, const void *bits, uint64 n);

	/*
	 * Visibility bits apart from channels, which launches on any number of channels may read.  A
	 * map is made without bits.  map_set gives it n bytes of bits in the place of those it has; no
	 * launch that reads the map may be in flight then.  The transfer is ordered with the channel's
	 * work, and launches on other channels that use the map wait for it.  The source may be reused
	 * when the call returns.  A map that could not be set must be set anew before it is used.
	 */
	GpbDeviceStatus (*map_create) (GpbDevice *device, GpbDeviceMap **map);
	GpbDeviceStatus (*map_set) (GpbDevice *device, GpbDeviceMap *map, int channel,
								const void *bits, uint64 n);
	/* Free the map.  No launch that reads it may be in flight. */
	void		(*map_destroy) (GpbDevice *device, GpbDeviceMap *map);
	/*
	 * Let the channel's later launches of ranges read this map, or, if it is NULL, the channel's
	 * own bits.
	 */
	GpbDeviceStatus (*map_use) (GpbDevice *device, int channel, GpbDeviceMap *map);

	/*
	 * Launch a request over the mirror.
	 *
	 * "ranges" has spec->n ranges in the form of the spec, with keys of the mirror's width
	 * (gpb_range_width()).  "changed" has one bit for each of
	 * nblocks blocks, bit b % 32 of word b / 32 for block b; it is NULL if none of these bits is
	 * set, which spares the transfer.  A leaf is unclean (rule M4) if its bit is set, if its block
	 * is at or beyond nblocks, if it has no image or one with a stamp above spec->epoch, or if its
	 * high key is not the next separator.  Without an inner image each range that is not empty is
	 * one unclean piece at GPB_NO_BLOCK.
	 *
	 * When finish returns, "answers" has gpb_count_answers(spec) answers, laid out as
	 * gpb_answer_format() says, of those entries of clean leaves that are visible by the bits.
	 * Entries at exceptions are left out of answers and of what the heap is to decide about; a
	 * list has them as if they were to be checked.
	 * Their exact sums are normalized.
	 *
	 * The call copies spec and changed before it returns.  ranges and answers, which may be the
	 * same memory, belong to the device until finish, and so do the words of the program's long
	 * tables (GpbTables), which are other memory.
	 */
	GpbDeviceStatus (*ranges_launch) (GpbDevice *device, GpbDeviceMirror *mirror,
									  int channel, const GpbRangesSpec *spec,
									  const void *ranges, void *answers,
									  const uint32 *changed, uint32 nblocks);
	/* Wait for the channel's ranges.  No answer may be used unless this returns OK. */
	GpbDeviceStatus (*ranges_finish) (GpbDevice *device, int channel,
									  GpbRangesResult *result);

	/* Copy records [first, first + n) that the channel's finished ranges left behind to *into. */
	GpbDeviceStatus (*fetch) (GpbDevice *device, int channel, GpbFetchWhat what,
							  uint64 first, uint64 n, void *into);

	/*
	 * Launch a batch of searches in the mirror's inner image.  spec is copied; the arrays of its
	 * pieces belong to the device until finish.  "changed" is as for ranges_launch; it is read
	 * only for positions.  Fails if there is no inner image.  Stale
	 * separators are harmless (rule M7).
	 */
	GpbDeviceStatus (*search_launch) (GpbDevice *device, GpbDeviceMirror *mirror,
									  int channel, const GpbSearchSpec *spec,
									  const uint32 *changed, uint32 nblocks);
	/* Wait for the channel's searches.  Their results are in the pieces' arrays then. */
	GpbDeviceStatus (*search_finish) (GpbDevice *device, int channel);

	/*
	 * Sorts of records (sort.h), which have to do with no mirror.  A channel has at most one, apart
	 * from its ranges and searches.  sort_begin begins one, without records, in the place of the
	 * one before; it makes room for as many records as "expected" says, and more come to their
	 * place where memory allows.
	 *
	 * sort_add launches: n records at "records", 1 to GPB_SORT_PIECE of them, are added to the
	 * channel's sort.  sort_read launches: records [first, first + n) of the sort, in order and no
	 * more of them than sort_add takes, are written to "into".  Records that are equal in key and
	 * tie keep the order in which they came.  Nothing can be added after the first read.  The
	 * memory at "records" and "into", in the registered region or not, belongs to the device until
	 * sort_finish.
	 *
	 * A sort of which sort_add or sort_finish failed has lost records, and can only be ended.
	 */
	GpbDeviceStatus (*sort_begin) (GpbDevice *device, int channel, const GpbSortFormat *format,
								   uint64 expected);
	GpbDeviceStatus (*sort_add) (GpbDevice *device, int channel, const void *records, uint32 n);
	GpbDeviceStatus (*sort_read) (GpbDevice *device, int channel, uint64 first, uint32 n,
								  void *into);
	/* Wait for what sort_add or sort_read launched. */
	GpbDeviceStatus (*sort_finish) (GpbDevice *device, int channel);
	/* Free the channel's sort, if it has one, after what was launched on it has ended. */
	void		(*sort_end) (GpbDevice *device, int channel);

	/*
	 * Is what was launched last on the channel complete, so that its finish will not wait?  A
	 * device without threads of its own does a bounded part of the work here.
	 */
	GpbDeviceStatus (*poll) (GpbDevice *device, int channel, bool *ended);
} GpbDeviceApi;

/* The host device, which is part of this library */
extern const GpbDeviceApi gpb_host_device;

/*
 * The one symbol that gpubtree_cuda exports: a function that returns its table and makes no CUDA
 * call
 */
#define GPB_CUDA_ENTRY "gpb_cuda_device"
typedef const GpbDeviceApi *(*GpbDeviceEntry) (void);

#endif							/* GPB_DEVICE_H */
