/*-------------------------------------------------------------------------
 *
 * piece_images.c
 *	  Tests of mirror/service/piece_images.c and mirror/backend/refresh_transfer.c: which pages are
 *	  sent, which of them a piece keeps, whatever blocks become, and which of its images are changed.
 *
 * usage: piece_images_test; ends with "N passed, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdlib.h>

#include "utils/memutils.h"

#include "mirror/backend/refresh.h"
#include "mirror/service/piece_images.h"

/* The C library's, not PostgreSQL's */
#undef printf
#include "verdict.h"

/* ---- what the sources call ---- */

MemoryContext TopMemoryContext = NULL;

MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name, Size min, Size initial,
							  Size most)
{
	return NULL;
}

void
MemoryContextDelete(MemoryContext context)
{
}

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	return calloc(1, size);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return malloc(size);
}

void *
repalloc_huge(void *pointer, Size size)
{
	return realloc(pointer, size);
}

void
pfree(void *pointer)
{
	free(pointer);
}

GpbRegistry *gpb_registry = NULL;

/* No transfer is sent here. */
GpbRequest *
gpb_request_claim(GpbSlotClass class, const GpbMirrorRef *ref, bool wait)
{
	return NULL;
}

bool
gpb_request_submit(GpbRequest *request, GpbOperation op)
{
	return false;
}

bool
gpb_request_wait(GpbRequest *request)
{
	return false;
}

Size
gpb_slot_staging_size(GpbSlotClass class)
{
	return 0;
}

void *
palloc(Size size)
{
	return malloc(size);
}

/* ---- pages ---- */

#define LEAF_ROW_WIDTH	GPB_LOCATOR_WIDTH

static union
{
	char		bytes[GPB_PAGE_SIZE];
	uint64		align;
} page;

/* Let "page" be one without entries for keys from low up to high, UINT64_MAX: the last of its level. */
static void
make_page(int level, uint64 low, uint64 high)
{
	GpbPageSpecial *special = (GpbPageSpecial *) (page.bytes + GPB_SPECIAL_OFFSET);

	memset(&page, 0, sizeof(page));
	special->low_key = low;
	special->high_key = high;
	special->left = GPB_NO_BLOCK;
	special->right = high == UINT64_MAX ? GPB_NO_BLOCK : 1;
	special->level = (uint16) level;
	special->key_width = 8;
	special->row_width = level == 0 ? LEAF_ROW_WIDTH : GPB_INNER_ROW_WIDTH;
	special->page_id = GPB_PAGE_ID;
	*(uint16 *) (page.bytes + GPB_PD_LOWER) = (uint16) gpb_key_place(8, 0);
	*(uint16 *) (page.bytes + GPB_PD_UPPER) = GPB_SPECIAL_OFFSET;
	((PageHeader) page.bytes)->pd_special = GPB_SPECIAL_OFFSET;
}

/* Let the page, of level 1, have another child, which begins with a key. */
static void
add_child(uint64 key, uint32 block)
{
	int			i = gpb_page_count(&page);

	*(uint64 *) (page.bytes + gpb_key_place(8, i)) = key;
	*(uint16 *) (page.bytes + GPB_PD_LOWER) += 8;
	*(uint16 *) (page.bytes + GPB_PD_UPPER) -= GPB_INNER_ROW_WIDTH;
	*(uint32 *) (gpb_page_row(&page, GPB_INNER_ROW_WIDTH, i) + GPB_LOCATOR_WIDTH) = block;
}

static uint32
child(int i)
{
	return gpb_row_child(gpb_page_row(&page, GPB_INNER_ROW_WIDTH, i));
}

static bool
keep_leaf(GpbPieceImages *images, BlockNumber block, uint64 low, uint64 high)
{
	make_page(0, low, high);
	return gpb_piece_keep(images, block, page.bytes);
}

/* Are these the changed images of n, which are no more than a word has bits? */
static bool
are_changed(const uint32 *changed, uint32 n, uint32 bits)
{
	return changed != NULL && n <= 32 && changed[0] == bits;
}

/* ---- which pages are sent ---- */

/* Does a refresh send the page? */
static bool
is_sent(bool piece, bool first)
{
	static char staging[2 * GPB_PAGE_SIZE];
	GpbRequest	request = {.staging = staging};
	GpbMirrorRef ref = {.piece = piece};
	GpbRefresh	refresh = {.ref = &ref, .first = first, .request = {&request}};

	gpb_refresh_put_if_wanted(&refresh, 50, page.bytes);
	return refresh.npages == 1;
}

static void
test_sending(GpbRange range)
{
	gpb_registry = calloc(1, sizeof(GpbRegistry));
	gpb_registry->mirrors[0].range = range;
	make_page(0, 1100, 1200);
	verdict(is_sent(false, true) && is_sent(true, true), "a leaf is sent");
	make_page(0, 2000, 2100);
	verdict(is_sent(false, true) && !is_sent(true, true),
			"one outside of a piece is not, by the first refresh");
	verdict(is_sent(true, false), "but later, also where the first one failed");
	memset(&page, 0, sizeof(page));
	verdict(!is_sent(false, true) && is_sent(false, false), "so is an empty page");
	make_page(0, 1100, 1200);
	((GpbPageSpecial *) (page.bytes + GPB_SPECIAL_OFFSET))->flags = GPB_PAGE_DICTIONARY;
	verdict(!is_sent(false, true) && is_sent(false, false), "and one of a dictionary");
}

int
main(void)
{
	GpbLayout	layout = {.key_width = 8, .row_width = LEAF_ROW_WIDTH};
	GpbRange	range = {{1000, 0}, {2000, 0}};
	GpbPieceImages *images = gpb_piece_images_create(&layout, range);
	uint32		changed[2000 / 32 + 1] = {0};
	uint32		n;

	test_sending(range);

	/* ---- numbers ---- */

	verdict(keep_leaf(images, 50, 1100, 1200), "a leaf in the range is kept");
	verdict(keep_leaf(images, 40, 900, 1001) && keep_leaf(images, 60, 1999, UINT64_MAX),
			"leaves that straddle its ends are");
	verdict(!keep_leaf(images, 70, 0, 1000) && !keep_leaf(images, 71, 2000, UINT64_MAX),
			"those that end or begin there are not");
	verdict(gpb_piece_image(images, 50) == 1 && gpb_piece_image(images, 40) == 2 &&
			gpb_piece_image(images, 60) == 3, "blocks are numbered as they come");
	verdict(gpb_piece_image(images, GPB_META_BLOCK) == 0, "the metapage is number 0");

	/* ---- what blocks become ---- */

	verdict(keep_leaf(images, 50, 3000, 3100), "a block that has left the range gets a new image");
	make_page(0, 1100, 1200);
	((GpbPageSpecial *) (page.bytes + GPB_SPECIAL_OFFSET))->flags = GPB_PAGE_DELETED;
	verdict(gpb_piece_keep(images, 40, page.bytes), "so does one that is deleted");
	verdict(!gpb_piece_keep(images, 41, page.bytes), "a deleted page that had no image gets none");
	memset(&page, 0, sizeof(page));
	verdict(gpb_piece_keep(images, 60, page.bytes), "an empty page that had an image gets a new one");
	verdict(gpb_piece_image(images, 50) == 1 && keep_leaf(images, 50, 1500, 1600) &&
			gpb_piece_image(images, 50) == 1, "a number stays its block's");
	verdict(keep_leaf(images, 70, 999, 1100) && gpb_piece_image(images, 70) == 4,
			"a leaf that comes into the range is kept from then on");

	/* ---- level 1 ---- */

	make_page(1, 0, UINT64_MAX);
	add_child(0, 80);
	add_child(500, 70);
	add_child(1000, 50);
	add_child(1500, 1700);
	add_child(2000, 60);
	verdict(gpb_piece_keep(images, 30, page.bytes) && gpb_piece_image(images, 30) == 5,
			"a page of level 1 is kept");
	verdict(child(2) == 1 && child(3) == 6, "children are named by their numbers");
	verdict(child(0) == GPB_OUTSIDE && child(1) == GPB_OUTSIDE && child(4) == GPB_OUTSIDE,
			"those outside by none, whether or not they had images");
	make_page(2, 0, UINT64_MAX);
	add_child(0, 30);
	verdict(!gpb_piece_keep(images, 31, page.bytes), "a page above level 1 is not kept");
	verdict(gpb_piece_keep(images, 50, page.bytes) && child(0) == 30,
			"unless it was a leaf before, and then it is no page of level 1");

	make_page(1, 0, UINT64_MAX);
	add_child(1000, 90);
	((GpbPageSpecial *) (page.bytes + GPB_SPECIAL_OFFSET))->flags = GPB_PAGE_DICTIONARY;
	verdict(gpb_piece_keep(images, 50, page.bytes) && child(0) == 90,
			"bytes of a page of no tree are not taken for children");

	/* ---- the changed map ---- */

	verdict(gpb_piece_changed(images, NULL, 1701, &n) == NULL && n == 7,
			"nothing changed in the index, nothing in the piece");
	changed[0] = 1;
	changed[50 / 32] |= 1u << 50 % 32;
	changed[80 / 32] |= 1u << 80 % 32;
	changed[1700 / 32] |= 1u << 1700 % 32;
	verdict(are_changed(gpb_piece_changed(images, changed, 1701, &n), n, 1 << 0 | 1 << 1 | 1 << 6),
			"changed blocks are so by their numbers, and others count for nothing");
	verdict(are_changed(gpb_piece_changed(images, changed, 1700, &n), n, 1 << 0 | 1 << 1 | 1 << 6),
			"a block beyond the map is changed");
	verdict(are_changed(gpb_piece_changed(images, NULL, 60, &n), n, 1 << 3 | 1 << 4 | 1 << 6),
			"also if nothing else is");
	gpb_piece_images_destroy(images);

	return print_sums();
}
