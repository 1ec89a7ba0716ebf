/*-------------------------------------------------------------------------
 *
 * tree.cu
 *	  Building the tree over the separators, and keeping it up to date.
 *
 * One kernel does both: each block of threads takes a level-1 page, writes its separators to where
 * the prefix sums of the pages' counts say, and writes each separator that begins a node to the
 * levels above as well.  Of a changed index only what differs is written: the pages whose images
 * are newer than the tree, and, from the first page that was inserted or has another count,
 * all pages to the end, since their separators move.
 *
 * The tree is written in place: the stream orders the writing after every request launched
 * before it (rule M3), and where memory is wanting, setting the inner image fails before it writes.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "batch.cuh"

/* ---- kernels ---- */

#define GPB_BUILD_THREADS	128

/* The tree, for writing */
struct GpbTreeOut
{
	void	   *key[GPB_TREE_LEVELS];
	uint64	   *tie;
	uint32	   *child;
	int			top;
};

/* A level-1 page, and where among the separators its own begin */
struct GpbPlacedPage
{
	uint32		block;
	uint32		first;
	uint32		count;
};

/* Write separator i, and its key as the first of each node above that begins with it. */
template <typename Key>
static __device__ void
write_separator(const GpbTreeOut *tree, uint32 i, Key key, uint64 tie, uint32 child)
{
	int			level = 0;

	tree->tie[i] = tie;
	tree->child[i] = child;
	((Key *) tree->key[0])[i] = key;
	while (level < tree->top && i % gpb_fanout<Key> == 0)
	{
		i /= gpb_fanout<Key>;
		((Key *) tree->key[++level])[i] = key;
	}
}

/*
 * Write the separators of a level-1 page; block p of the grid does the page that pages[p] names.
 * The first separator of the tree is taken for (0, 0), since the leftmost leaf has no lower bound.
 */
template <typename Key>
static __global__ void __launch_bounds__(GPB_BUILD_THREADS)
write_pages(GpbImages images, const GpbPlacedPage *pages,
			const __grid_constant__ GpbTreeOut tree)
{
	GpbPlacedPage place = pages[blockIdx.x];
	const char *page = images.extent[place.block / GPB_EXTENT_PAGES].page +
		(size_t) (place.block % GPB_EXTENT_PAGES) * GPB_PAGE_SIZE;
	const Key  *keys = (const Key *) (page + GPB_PAGE_HEADER +
									  (sizeof(Key) == GPB_WIDE_KEY ? GPB_WIDE_HALVES : 0));
	uint32		i;

	for (i = threadIdx.x; i < place.count; i += blockDim.x)
	{
		const char *row = gpb_page_row(page, GPB_INNER_ROW_WIDTH, (int) i);
		uint32		at = place.first + i;

		if (at == 0)
			write_separator<Key>(&tree, 0, 0, 0, gpb_row_child(row));
		else
			write_separator<Key>(&tree, at, gpb_load_key(keys + i),
								 gpb_row_locator(row) & GPB_TIE_MASK, gpb_row_child(row));
	}
}

/* Write the tree of an index that is one leaf. */
template <typename Key>
static __global__ void
write_root_leaf(const __grid_constant__ GpbTreeOut tree, uint32 leaf)
{
	write_separator<Key>(&tree, 0, 0, 0, leaf);
}

/* ---- the shape of the memory ---- */

static uint32
fanout(const GpbDeviceMirror *mirror)
{
	return GPB_NODE_BYTES / mirror->layout.key_width;
}

/* Set size[] to the keys of each level of a tree of n separators, and return the root's level. */
static int
level_sizes(uint32 n, uint32 fanout, uint32 *size)
{
	int			level = 0;

	size[0] = n;
	while (size[level] > fanout)
	{
		size[level + 1] = (uint32) (((uint64) size[level] + fanout - 1) / fanout);
		level++;
	}
	return level;
}

static size_t
line_aligned(size_t size)
{
	return (size + GPB_NODE_BYTES - 1) & ~(size_t) (GPB_NODE_BYTES - 1);
}

/*
 * Set the pointers of *tree to where everything lies in memory for "capacity" separators: first the
 * key region from the root down, then ties, then children.  Returns the bytes of all.
 */
static size_t
lay_out_tree(const GpbDeviceMirror *mirror, uint32 capacity, char *memory, GpbTreeOut *tree)
{
	uint32		size[GPB_TREE_LEVELS];
	size_t		offset = 0;
	int			level;

	memset(tree, 0, sizeof(*tree));
	for (level = level_sizes(capacity, fanout(mirror), size); level >= 0; level--)
	{
		tree->key[level] = memory + offset;
		offset += line_aligned((size_t) size[level] * mirror->layout.key_width);
	}
	tree->tie = (uint64 *) (memory + offset);
	offset += line_aligned((size_t) capacity * sizeof(uint64));
	tree->child = (uint32 *) (memory + offset);
	return offset + line_aligned((size_t) capacity * sizeof(uint32));
}

/* The mirror's tree, for writing n separators to it */
static GpbTreeOut
tree_out(const GpbDeviceMirror *mirror, uint32 n)
{
	uint32		size[GPB_TREE_LEVELS];
	GpbTreeOut	tree;

	(void) lay_out_tree(mirror, mirror->tree.capacity, (char *) mirror->tree.memory.data, &tree);
	tree.top = level_sizes(n, fanout(mirror), size);
	return tree;
}

GpbTree
gpb_mirror_tree(const GpbDeviceMirror *mirror)
{
	GpbTreeOut	out = tree_out(mirror, mirror->tree.n);
	GpbTree		tree;
	int			level;

	memset(&tree, 0, sizeof(tree));
	tree.top = level_sizes(mirror->tree.n, fanout(mirror), tree.n);
	for (level = 0; level <= tree.top; level++)
		tree.key[level] = out.key[level];
	tree.child = out.child;
	tree.key_width = mirror->layout.key_width;
	return tree;
}

GpbSeparatorArray
gpb_mirror_separators(const GpbDeviceMirror *mirror)
{
	GpbTreeOut	out = tree_out(mirror, mirror->tree.n);
	GpbSeparatorArray separators;

	separators.key = out.key[0];
	separators.tie = out.tie;
	separators.child = out.child;
	separators.n = mirror->tree.n;
	separators.key_width = mirror->layout.key_width;
	return separators;
}

/*
 * See that the tree has room for n separators.  *moved says that it lies elsewhere now and must be
 * written whole.  On failure the old tree stays.
 */
static GpbDeviceStatus
reserve_tree(GpbDevice *device, GpbDeviceMirror *mirror, uint32 n, bool *moved)
{
	GpbTreeMemory *tree = &mirror->tree;
	uint64		wanted = (uint64) n + n / 4 + 64;
	uint32		capacity = wanted < GPB_NO_BLOCK ? (uint32) wanted : GPB_NO_BLOCK;
	GpbBuffer	larger;
	GpbTreeOut	out;

	*moved = n > tree->capacity;
	if (!*moved)
		return GPB_DEVICE_OK;
	larger.size = lay_out_tree(mirror, capacity, NULL, &out);
	GPB_TRY(gpb_device_alloc(device, larger.size, &larger.data));
	mirror->bytes += larger.size - tree->memory.size;
	gpb_buffer_free(device, &tree->memory);
	tree->memory = larger;
	tree->capacity = capacity;
	tree->n = 0;
	tree->npages = 0;
	return GPB_DEVICE_OK;
}

void
gpb_tree_free(GpbDevice *device, GpbDeviceMirror *mirror)
{
	gpb_buffer_free(device, &mirror->tree.memory);
	free(mirror->tree.page);
	mirror->tree.page = NULL;
	if (mirror->tree.profile != NULL && !device->lost)
		(void) gpb_check(device, cudaFreeHost(mirror->tree.profile), "cudaFreeHost");
	mirror->tree.profile = NULL;
}

/* ---- what has to be written ---- */

/*
 * Set pages[] to the blocks with the prefix sums of their counts, and *total to the sum of all.
 * False: a page has no image, or has more entries than fit a page, so that the device would read
 * outside of it.
 */
static bool
place_pages(const GpbDeviceMirror *mirror, uint32 npages, const uint32 *blocks,
			const uint32 *counts, GpbPlacedPage *pages, uint32 *total)
{
	uint32		most = gpb_page_capacity(mirror->layout.key_width, GPB_INNER_ROW_WIDTH);
	uint64		first = 0;
	uint32		i;

	for (i = 0; i < npages; i++)
	{
		if (!gpb_mirror_has_image(mirror, blocks[i]) || counts[i] > most)
			return false;
		pages[i].block = blocks[i];
		pages[i].first = (uint32) first;
		pages[i].count = counts[i];
		first += counts[i];
	}
	*total = (uint32) first;
	return first > 0 && first < GPB_NO_BLOCK;
}

static bool
same_place(const GpbPlacedPage *a, const GpbPlacedPage *b)
{
	return a->block == b->block && a->first == b->first && a->count == b->count;
}

/* Copy to out[] the pages that differ from what the tree has.  Returns how many. */
static uint32
choose_pages(const GpbDeviceMirror *mirror, const GpbPlacedPage *pages, uint32 npages,
			 GpbPlacedPage *out)
{
	const GpbTreeMemory *tree = &mirror->tree;
	uint32		n = 0;
	uint32		i;

	for (i = 0; i < npages; i++)
	{
		if (i >= tree->npages || !same_place(&pages[i], &tree->page[i]) ||
			gpb_mirror_is_fresh(mirror, pages[i].block))
			out[n++] = pages[i];
	}
	return n;
}

static GpbDeviceStatus
launch_write(GpbDevice *device, const GpbDeviceMirror *mirror, uint32 n, uint32 total)
{
	const GpbPlacedPage *pages = (const GpbPlacedPage *) device->scratch.data;
	GpbImages	images = gpb_mirror_images(mirror);
	GpbTreeOut	tree = tree_out(mirror, total);

	switch (mirror->layout.key_width)
	{
		case 4:
			return gpb_launch(device, "write_pages", n, GPB_BUILD_THREADS, write_pages<uint32>,
							  images, pages, tree);
		case 8:
			return gpb_launch(device, "write_pages", n, GPB_BUILD_THREADS, write_pages<uint64>,
							  images, pages, tree);
		default:
			return gpb_launch(device, "write_pages", n, GPB_BUILD_THREADS, write_pages<uint128>,
							  images, pages, tree);
	}
}

/*
 * Would the tree have as many levels with "total" separators as it has now?  Where a level is
 * added, pages that are not written again would lack their keys there.
 */
static bool
same_levels(const GpbDeviceMirror *mirror, uint32 total)
{
	uint32		size[GPB_TREE_LEVELS];

	return level_sizes(total, fanout(mirror), size) ==
		level_sizes(mirror->tree.n, fanout(mirror), size);
}

/*
 * Submit the writing of a tree of "total" separators over the given pages, which become the
 * mirror's on success.  chosen is room for as many pages.
 */
static GpbDeviceStatus
write_tree(GpbDevice *device, GpbDeviceMirror *mirror, GpbPlacedPage *pages, uint32 npages,
		   uint32 total, GpbPlacedPage *chosen)
{
	bool		moved;
	uint32		n;
	uint32		i;

	GPB_TRY(gpb_buffer_reserve(device, &device->scratch, npages * sizeof(GpbPlacedPage)));
	GPB_TRY(reserve_tree(device, mirror, total, &moved));
	if (!same_levels(mirror, total))
		mirror->tree.npages = 0;
	n = choose_pages(mirror, pages, npages, chosen);
	mirror->tree.npages = 0;	/* if the writing fails, the next refresh writes all pages */
	if (n > 0)
	{
		/* from pageable memory: the list may be freed as soon as this returns */
		GPB_TRY_CUDA(device, cudaMemcpyAsync(device->scratch.data, chosen,
											 n * sizeof(GpbPlacedPage),
											 cudaMemcpyHostToDevice, device->stream));
		GPB_TRY(launch_write(device, mirror, n, total));
	}
	free(mirror->tree.page);
	mirror->tree.page = pages;
	mirror->tree.npages = npages;
	mirror->tree.n = total;
	for (i = 0; i < n; i++)
		gpb_mirror_not_fresh(mirror, chosen[i].block);
	return GPB_DEVICE_OK;
}

/* ---- the interface ---- */

static GpbDeviceStatus
set_one_leaf(GpbDevice *device, GpbDeviceMirror *mirror, uint32 leaf)
{
	GpbTreeOut	tree;
	bool		moved;

	GPB_TRY(reserve_tree(device, mirror, 1, &moved));
	mirror->tree.npages = 0;
	tree = tree_out(mirror, 1);
	switch (mirror->layout.key_width)
	{
		case 4:
			GPB_TRY(gpb_launch(device, "write_root_leaf", 1, 1, write_root_leaf<uint32>, tree,
							   leaf));
			break;
		case 8:
			GPB_TRY(gpb_launch(device, "write_root_leaf", 1, 1, write_root_leaf<uint64>, tree,
							   leaf));
			break;
		default:
			GPB_TRY(gpb_launch(device, "write_root_leaf", 1, 1, write_root_leaf<uint128>, tree,
							   leaf));
	}
	mirror->tree.n = 1;
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
set_pages(GpbDevice *device, GpbDeviceMirror *mirror, uint32 nblocks, const uint32 *blocks,
		  const uint32 *counts)
{
	size_t		size = (size_t) nblocks * sizeof(GpbPlacedPage);
	GpbPlacedPage *pages = (GpbPlacedPage *) malloc(size);
	GpbPlacedPage *chosen = (GpbPlacedPage *) malloc(size);
	GpbDeviceStatus status;
	uint32		total;

	if (pages == NULL || chosen == NULL)
		status = gpb_refuse(device, "out of memory");
	else if (!place_pages(mirror, nblocks, blocks, counts, pages, &total))
		status = gpb_refuse(device, "inner page without an image, or of impossible size");
	else
		status = write_tree(device, mirror, pages, nblocks, total, chosen);
	free(chosen);
	if (mirror->tree.page != pages)
		free(pages);
	return status;
}

/*
 * Submit the profile of the tree whose writing was submitted.  If that fails there is no tree,
 * since searches rely on the profile's limits.
 */
static GpbDeviceStatus
finish_tree(GpbDevice *device, GpbDeviceMirror *mirror)
{
	GpbTree		tree = gpb_mirror_tree(mirror);
	GpbDeviceStatus status = gpb_profile_launch(device, device->stream, &tree,
												mirror->tree.profile);
	GpbDeviceStatus ended = gpb_writer_end(device);

	if (status == GPB_DEVICE_OK)
		status = ended;
	if (status != GPB_DEVICE_OK)
	{
		mirror->tree.n = 0;
		mirror->tree.npages = 0;
	}
	return status;
}

GpbDeviceStatus
gpb_cuda_set_inner(GpbDevice *device, GpbDeviceMirror *mirror, uint32 nblocks,
				   const uint32 *blocks, const uint32 *counts, uint32 root_leaf)
{
	GpbDeviceStatus status;

	GPB_ENTER(device);
	if (mirror->tree.profile == NULL)
		GPB_TRY_CUDA(device, cudaHostAlloc((void **) &mirror->tree.profile,
										   sizeof(GpbTreeProfile), cudaHostAllocDefault));
	GPB_TRY(gpb_writer_begin(device));
	if (nblocks == 0)
		status = set_one_leaf(device, mirror, root_leaf);
	else
		status = set_pages(device, mirror, nblocks, blocks, counts);
	if (status == GPB_DEVICE_OK)
		return finish_tree(device, mirror);
	(void) gpb_writer_end(device);
	return status;
}
