/*-------------------------------------------------------------------------
 *
 * device_index.h
 *	  Indexes for the benchmarks of devices: made in memory, loaded through the interface.
 *
 * Leaves nine tenths full of bigint keys 0, 1, 2 ..., alone or with an int4 or a float8 INCLUDE
 * column.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BENCH_DEVICE_INDEX_H
#define GPB_BENCH_DEVICE_INDEX_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device/device.h"

#define CHANNELS		32
#define HEAP_ROWS		185		/* of a heap block */
#define STAGING_PAGES	4096
#define STAGING_BYTES	((size_t) STAGING_PAGES * GPB_PAGE_SIZE)
#define EPOCH			7
#define INNER_FILL		280

static const GpbDeviceApi *api;
static GpbDevice *device;
static int	rounds = 30;
static char *staging;			/* registered */

/* One index: leaves are blocks 1 .. nleaves, level-1 pages follow. */
typedef struct Index
{
	const char *name;
	GpbLayout	layout;
	bool		heap_order;
	uint64		nentries;
	int			fill;			/* entries of a leaf */
	uint32		nleaves;
	uint32		ninner;
	uint32		nblocks;
	uint32		heap_blocks;
	char	   *pages;
	uint32	   *changed;
	uint8	   *visible;
	GpbDeviceMirror *mirror;
} Index;

static inline double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static inline int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static inline double
median(double *ms, int n)
{
	qsort(ms, n, sizeof(double), compare_doubles);
	return ms[n / 2];
}

static inline void
require(GpbDeviceStatus status, const char *what)
{
	if (status == GPB_DEVICE_OK)
		return;
	printf("%s: status %d: %s\n", what, status, device ? api->last_error(device) : "");
	exit(1);
}

/* ---- making pages ---- */

/* Number of different values, at most 2^24 */
static uint32 values = 1 << 24;

/* The value of entry i: an int4, and the same as a float8 */
static inline int32
value_of(uint64 i)
{
	return (int32) (((i * 0x9E3779B97F4A7C15ul) >> 40) % values) - (int32) (values / 2);
}

static inline uint64
tie_of(const Index *index, uint64 i)
{
	uint64		place = index->heap_order ? i : i * 2654435761ul % index->nentries;

	return place / HEAP_ROWS << 16 | (place % HEAP_ROWS + 1);
}

static inline char *
page_at(const Index *index, uint32 block)
{
	return index->pages + (size_t) block * GPB_PAGE_SIZE;
}

static inline void
init_page(char *page, int level, int key_width, int row_width, int count)
{
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);

	*(uint16 *) (page + GPB_PD_LOWER) = (uint16) (GPB_PAGE_HEADER + count * key_width);
	*(uint16 *) (page + GPB_PD_UPPER) = (uint16) (GPB_SPECIAL_OFFSET - count * row_width);
	special->left = special->right = GPB_NO_BLOCK;
	special->level = (uint16) level;
	special->key_width = (uint8) key_width;
	special->row_width = (uint8) row_width;
	special->page_id = GPB_PAGE_ID;
}

static inline void
set_high(const Index *index, char *page, uint32 right, uint64 entry)
{
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);

	if (right == GPB_NO_BLOCK)
		return;
	special->right = right;
	special->high_key = gpb_key_encode((int64) entry, 8, 0);
	special->high_tie = tie_of(index, entry);
}

static inline void
put_entry(const Index *index, char *page, int at, uint64 entry, int row_width)
{
	uint64		key = gpb_key_encode((int64) entry, 8, 0);
	uint64		tie = tie_of(index, entry);

	memcpy(page + GPB_PAGE_HEADER + at * 8, &key, 8);
	memcpy(page + GPB_SPECIAL_OFFSET - (at + 1) * row_width, &tie, 8);
}

static inline int
leaf_count(const Index *index, uint32 leaf)
{
	uint64		left = index->nentries - (uint64) leaf * index->fill;

	return left < (uint64) index->fill ? (int) left : index->fill;
}

static inline void
make_leaf(const Index *index, uint32 leaf)
{
	char	   *page = page_at(index, 1 + leaf);
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);
	int			row_width = index->layout.row_width;
	int			count = leaf_count(index, leaf);
	int			i;

	init_page(page, 0, 8, row_width, count);
	/* The first leaf begins before any key. */
	if (leaf > 0)
	{
		special->low_key = gpb_key_encode((int64) ((uint64) leaf * index->fill), 8, 0);
		special->low_tie = tie_of(index, (uint64) leaf * index->fill);
	}
	set_high(index, page, leaf + 1 < index->nleaves ? leaf + 2 : GPB_NO_BLOCK,
			 ((uint64) leaf + 1) * index->fill);
	for (i = 0; i < count; i++)
	{
		uint64		entry = (uint64) leaf * index->fill + i;
		char	   *value = page + GPB_SPECIAL_OFFSET - (i + 1) * row_width + GPB_LOCATOR_WIDTH;
		int32		integer = value_of(entry);
		double		number = integer / 8.0;

		put_entry(index, page, i, entry, row_width);
		if (row_width == 16)
			memcpy(value, &number, 8);
		else if (row_width == 12)
			memcpy(value, &integer, 4);
	}
}

static inline uint32
inner_count(const Index *index, uint32 p)
{
	uint32		left = index->nleaves - p * INNER_FILL;

	return left < INNER_FILL ? left : INNER_FILL;
}

static inline void
make_inner(const Index *index, uint32 p)
{
	char	   *page = page_at(index, 1 + index->nleaves + p);
	uint32		i;

	init_page(page, 1, 8, GPB_INNER_ROW_WIDTH, (int) inner_count(index, p));
	for (i = 0; i < inner_count(index, p); i++)
	{
		uint32		leaf = p * INNER_FILL + i;
		uint32		child = 1 + leaf;

		put_entry(index, page, (int) i, (uint64) leaf * index->fill, GPB_INNER_ROW_WIDTH);
		memcpy(page + GPB_SPECIAL_OFFSET - (i + 1) * GPB_INNER_ROW_WIDTH + GPB_LOCATOR_WIDTH,
			   &child, 4);
	}
}

/* value_width: of the INCLUDE column, 8 for a float8, 4 for an int4, 0 for none */
static inline void
make_index(Index *index, const char *name, uint64 nentries, int value_width, bool heap_order)
{
	uint32		i;

	memset(index, 0, sizeof(*index));
	index->name = name;
	index->layout.key_width = 8;
	index->layout.key_kind = GPB_KIND_INT8;
	index->layout.row_width = GPB_LOCATOR_WIDTH + value_width;
	index->layout.ncolumns = value_width > 0;
	index->layout.kind[0] = value_width == 8 ? GPB_KIND_FLOAT8 : GPB_KIND_INT4;
	index->layout.offset[0] = GPB_LOCATOR_WIDTH;
	index->heap_order = heap_order;
	index->nentries = nentries;
	index->fill = gpb_page_capacity(8, index->layout.row_width) * 9 / 10;
	index->nleaves = (uint32) ((nentries + index->fill - 1) / index->fill);
	index->ninner = (index->nleaves + INNER_FILL - 1) / INNER_FILL;
	index->nblocks = 1 + index->nleaves + index->ninner;
	index->heap_blocks = (uint32) (nentries / HEAP_ROWS + 1);
	index->pages = calloc(index->nblocks, GPB_PAGE_SIZE);
	index->changed = calloc(index->nblocks / 32 + 1, 4);
	index->visible = malloc(index->heap_blocks / 4 + 1);
	memset(index->visible, 0x55, index->heap_blocks / 4 + 1);
	if (index->pages == NULL)
		exit(1);
	for (i = 0; i < index->nleaves; i++)
		make_leaf(index, i);
	for (i = 0; i < index->ninner; i++)
		make_inner(index, i);
}

/* ---- loading ---- */

/* Only the device's part is timed: pages are in staging when it is called. */
static inline double
upload(Index *index, const uint32 *blocks, uint32 n)
{
	double		ms = 0;
	uint32		done;
	uint32		i;

	for (done = 0; done < n; done += STAGING_PAGES)
	{
		uint32		part = n - done < STAGING_PAGES ? n - done : STAGING_PAGES;
		double		start;

		for (i = 0; i < part; i++)
			memcpy(staging + (size_t) i * GPB_PAGE_SIZE, page_at(index, blocks[done + i]),
				   GPB_PAGE_SIZE);
		start = now();
		require(api->upload(device, index->mirror, (int) part, blocks + done, staging, EPOCH),
				"upload");
		require(api->upload_wait(device), "upload_wait");
		ms += now() - start;
	}
	return ms;
}

static inline double
set_inner(Index *index)
{
	uint32	   *blocks = calloc(index->ninner, 4);
	uint32	   *counts = calloc(index->ninner, 4);
	double		start;
	double		ms;
	uint32		i;

	for (i = 0; i < index->ninner; i++)
	{
		blocks[i] = 1 + index->nleaves + i;
		counts[i] = inner_count(index, i);
	}
	start = now();
	require(api->set_inner(device, index->mirror, index->ninner, blocks, counts, 0),
			"set_inner");
	require(api->upload_wait(device), "upload_wait");
	ms = now() - start;
	free(blocks);
	free(counts);
	return ms;
}

static inline void
load(Index *index)
{
	uint32	   *blocks = calloc(index->nblocks, 4);
	double		gigabytes = (double) index->nblocks * GPB_PAGE_SIZE / 1e9;
	double		ms[1000];
	double		all;
	uint32		i;
	int			r;

	require(api->mirror_create(device, &index->layout, &index->mirror), "mirror_create");
	for (i = 0; i < index->nblocks; i++)
		blocks[i] = i;
	all = upload(index, blocks, index->nblocks);
	printf("%-24s first load %.2f GB: %.1f ms, %.1f GB/s; ", index->name, gigabytes, all,
		   gigabytes / all * 1e3);
	printf("inner image %.3f ms; ", set_inner(index));
	for (r = 0; r < rounds; r++)
	{
		for (i = 0; i < 1000; i++)
			blocks[i] = 1 + (uint32) ((i * 7919ul + r * 104729ul) % index->nleaves);
		ms[r] = upload(index, blocks, 1000 < index->nleaves ? 1000 : 1);
	}
	printf("1000 scattered pages %.3f ms\n", median(ms, rounds));
	free(blocks);
}

static inline void
set_visibility(const Index *index, int channel)
{
	require(api->set_visibility(device, channel, 0, index->visible,
								(index->heap_blocks + 3) / 4), "set_visibility");
}

/* ---- the device ---- */

/* Open "host" or a library, with so many bytes of registered memory; the library, or NULL. */
static inline void *
open_device(const char *name, size_t registered)
{
	const char *message = "";
	GpbDeviceEntry entry = NULL;
	void	   *library = NULL;

	api = &gpb_host_device;
	if (strcmp(name, "host") != 0)
	{
		library = dlopen(name, RTLD_NOW);
		if (library != NULL)
			*(void **) &entry = dlsym(library, GPB_CUDA_ENTRY);
		if (entry == NULL)
		{
			printf("%s\n", dlerror());
			exit(1);
		}
		api = entry();
	}
	if (api->open(0, 0, CHANNELS, &device, &message) != GPB_DEVICE_OK)
	{
		printf("cannot open: %s\n", message);
		exit(1);
	}
	if (posix_memalign((void **) &staging, 4096, registered) != 0)
		exit(1);
	require(api->register_region(device, staging, registered), "register_region");
	return library;
}

/*
 * Read a benchmark's arguments, "host|LIBRARY [million entries [rounds]]" and what more it takes, and
 * open the device with so many bytes of registered memory.  The library, or NULL.
 */
static inline void *
begin_bench(int argc, char **argv, uint64 millions, const char *more, size_t registered,
			uint64 *nentries)
{
	*nentries = (argc > 2 ? strtoul(argv[2], NULL, 10) : millions) * 1000000;
	if (argc < 2 || *nentries == 0)
	{
		printf("usage: %s host|LIBRARY [million entries [rounds%s]]\n", argv[0], more);
		exit(1);
	}
	if (argc > 3)
		rounds = atoi(argv[3]) < 1 ? 1 : atoi(argv[3]) > 1000 ? 1000 : atoi(argv[3]);
	return open_device(argv[1], registered);
}

static inline void
free_index(Index *index)
{
	api->mirror_destroy(device, index->mirror);
	free(index->pages);
	free(index->changed);
	free(index->visible);
}

#endif							/* GPB_BENCH_DEVICE_INDEX_H */
