/*-------------------------------------------------------------------------
 *
 * map_image.c
 *	  Map images: copies of a table's visibility bits that requests share.
 *
 * A request for ranges is answered by the visibility bits that its backend read at Ta (rule M5).
 * Few queries find other bits than the query before them, so these bits are not sent with each
 * request.  They lie in images: copies in shared memory, each with a number that never comes again.
 * A mirror has at most one *current* image.  A backend reads the map at Ta as ever, compares what
 * it reads with the current image, and if all is equal its request refers to that image; else it
 * makes a new image of what it reads, which becomes the current one.  Equal bits are the bits that
 * it read itself at Ta, so rule M5 does not depend on who made an image, when, or for which table.
 *
 * An image never changes from the moment it is published until it is freed (rule M3: neither the
 * service that copies it nor a backend that compares with it sees half of one).
 *
 * Users of an image are the request slots that refer to it, and being current counts as one more.
 * A slot's reference goes when the slot is freed, by whoever frees it (slots.c), as its units do.
 * So ERROR, FATAL, an abandoned request and a service that exits need nothing of their own here.
 * Whoever takes the last user away frees the image and its units.  An image outlives the service:
 * it is host memory, and a number that a new service's device does not know yet.
 *
 * Nobody adds a user to an entry that has none, and whoever adds one looks again whether the entry
 * is current: so an entry that was freed and is being filled anew is never taken for an image.
 *
 * The memory of images is units of the pool of the device that has the mirror, at most a quarter of
 * it.  Images that nobody but their mirror uses are dropped when units are short.  No lock is held
 * but the pool's, for a moment.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/map_image.h"

#include "storage/shmem.h"

#include "hold.h"
#include "mirror/devices.h"
#include "mirror/pool.h"

/* Number of entries: those in use, and one current image for each mirror */
#define GPB_MAP_IMAGES		(3 * GPB_MIRRORS)

/* The "users" of an entry whose units are being given back */
#define GPB_IMAGE_FREEING	0x80000000

/* Images have at most the pool divided by this. */
#define GPB_IMAGES_SHARE	4

/* An entry.  All but users belongs to its maker, and changes no more once it is published. */
typedef struct GpbMapImage
{
	pg_atomic_uint32 users;		/* 0: the entry is free */
	uint64		number;
	uint64		n;				/* bytes of bits */
	GpbPoolSpan span;
} GpbMapImage;

typedef struct GpbMapImages
{
	pg_atomic_uint64 last_number;
	pg_atomic_uint32 units[GPB_MAX_DEVICES];	/* that images have, or are about to take */
	pg_atomic_uint32 current[GPB_MIRRORS];	/* entry + 1; 0: none */
	GpbMapImage entry[GPB_MAP_IMAGES];
} GpbMapImages;

static GpbMapImages *images = NULL;

/* ---- shared memory ---- */

Size
gpb_map_images_size(void)
{
	return MAXALIGN(sizeof(GpbMapImages));
}

void
gpb_map_images_init_shmem(void)
{
	bool		found;
	int			i;

	images = ShmemInitStruct("gpubtree map images", gpb_map_images_size(), &found);
	if (found)
		return;
	memset(images, 0, gpb_map_images_size());
	pg_atomic_init_u64(&images->last_number, 0);
	for (i = 0; i < GPB_MAX_DEVICES; i++)
		pg_atomic_init_u32(&images->units[i], 0);
	for (i = 0; i < GPB_MIRRORS; i++)
		pg_atomic_init_u32(&images->current[i], 0);
	for (i = 0; i < GPB_MAP_IMAGES; i++)
		pg_atomic_init_u32(&images->entry[i].users, 0);
}

/* ---- users ---- */

/* Add a user to an entry, unless it has none. */
static bool
add_user(GpbMapImage *image)
{
	uint32		users = pg_atomic_read_u32(&image->users);

	while (users != 0 && users != GPB_IMAGE_FREEING)
	{
		if (pg_atomic_compare_exchange_u32(&image->users, &users, users + 1))
			return true;
	}
	return false;
}

/* Give back an entry of which nobody else knows any more, with its units. */
static void
free_entry(GpbMapImage *image)
{
	uint32		units = image->span.nunits;

	if (units > 0)
		gpb_pool_give_back_span(&image->span);
	pg_atomic_fetch_sub_u32(&images->units[image->span.device], units);
	image->number = 0;
	image->n = 0;
	pg_memory_barrier();
	pg_atomic_write_u32(&image->users, 0);
}

/* Take a user away.  The last one frees the image. */
static void
remove_user(GpbMapImage *image)
{
	uint32		users = pg_atomic_read_u32(&image->users);
	uint32		left;

	do
	{
		Assert(users != 0 && users != GPB_IMAGE_FREEING);
		left = users == 1 ? GPB_IMAGE_FREEING : users - 1;
	} while (!pg_atomic_compare_exchange_u32(&image->users, &users, left));
	if (left == GPB_IMAGE_FREEING)
		free_entry(image);
}

static GpbMapImage *
slot_image(const GpbRequestSlot *slot)
{
	return slot->image == 0 ? NULL : &images->entry[slot->image - 1];
}

void
gpb_map_image_leave(GpbRequestSlot *slot)
{
	GpbMapImage *image = slot_image(slot);

	slot->image = 0;
	if (image != NULL)
		remove_user(image);
}

uint64
gpb_map_image_number(const GpbRequestSlot *slot)
{
	return slot->image == 0 ? 0 : slot_image(slot)->number;
}

const char *
gpb_map_image_bits(const GpbRequestSlot *slot, uint64 *n)
{
	const GpbMapImage *image = slot_image(slot);

	*n = image->n;
	return gpb_pool_span_memory(&image->span);
}

/* ---- the current image ---- */

/*
 * Of an entry that is current after we have become its user, we are the user of an image: it was
 * complete when it became current, and stays as it is as long as it has users.
 */
const char *
gpb_map_image_current(GpbRequestSlot *slot, int mirror, uint64 n)
{
	uint32		entry = pg_atomic_read_u32(&images->current[mirror]);
	uint64		have;
	const char *bits;

	gpb_map_image_leave(slot);
	GPB_HOLD("map-image-found");
	if (entry == 0 || !add_user(&images->entry[entry - 1]))
		return NULL;
	slot->image = entry;
	if (pg_atomic_read_u32(&images->current[mirror]) != entry)
	{
		gpb_map_image_leave(slot);
		return NULL;
	}
	pg_memory_barrier();
	bits = gpb_map_image_bits(slot, &have);
	if (have == n)
		return bits;
	gpb_map_image_leave(slot);
	return NULL;
}

/* Let the mirror have this current image, which has a user for that; 0: none. */
static void
set_current(int mirror, uint32 entry)
{
	uint32		former;

	pg_memory_barrier();
	former = pg_atomic_exchange_u32(&images->current[mirror], entry);
	if (former != 0)
		remove_user(&images->entry[former - 1]);
}

void
gpb_map_image_publish(GpbRequestSlot *slot, int mirror)
{
	pg_atomic_fetch_add_u32(&slot_image(slot)->users, 1);
	set_current(mirror, slot->image);
}

void
gpb_map_image_forget(int mirror)
{
	set_current(mirror, 0);
}

/* ---- making images ---- */

/* Find an entry that is free, and be its one user; NULL if there is none. */
static GpbMapImage *
claim_entry(void)
{
	int			i;

	for (i = 0; i < GPB_MAP_IMAGES; i++)
	{
		uint32		users = 0;

		if (pg_atomic_read_u32(&images->entry[i].users) == 0 &&
			pg_atomic_compare_exchange_u32(&images->entry[i].users, &users, 1))
			return &images->entry[i];
	}
	return NULL;
}

/* Count so many units as taken by images, unless that is more than their share of a pool. */
static bool
reserve_units(int device, uint32 wanted)
{
	uint32		most = gpb_pool_units() / GPB_IMAGES_SHARE;

	if (wanted > most)
		return false;
	if (pg_atomic_add_fetch_u32(&images->units[device], wanted) <= most)
		return true;
	pg_atomic_fetch_sub_u32(&images->units[device], wanted);
	return false;
}

/* Take an entry with memory of a device's pool for n bytes; NULL if there is none. */
static GpbMapImage *
take_entry(int device, uint64 n)
{
	uint64		wanted = (n + GPB_POOL_UNIT - 1) / GPB_POOL_UNIT;
	GpbMapImage *image;

	if (n == 0 || wanted > gpb_pool_units() || !reserve_units(device, (uint32) wanted))
		return NULL;
	image = claim_entry();
	if (image != NULL && gpb_pool_take_span(device, &image->span, (uint32) wanted))
		return image;
	pg_atomic_fetch_sub_u32(&images->units[device], (uint32) wanted);
	if (image != NULL)
		remove_user(image);		/* it has no units; another may have become its user by mistake */
	return NULL;
}

char *
gpb_map_image_make(GpbRequestSlot *slot, uint64 n)
{
	GpbMapImage *image;

	gpb_map_image_leave(slot);
	image = take_entry(slot->device, n);
	if (image == NULL && gpb_map_images_drop(slot->device))
		image = take_entry(slot->device, n);
	if (image == NULL)
		return NULL;
	image->n = n;
	image->number = pg_atomic_add_fetch_u64(&images->last_number, 1);
	slot->image = (uint32) (image - images->entry) + 1;
	return gpb_pool_span_memory(&image->span);
}

/* ---- dropping ---- */

/* The current image of a mirror if nothing but the mirror uses it, else NULL; as of this moment */
static GpbMapImage *
idle_image(int mirror, uint32 *entry)
{
	*entry = pg_atomic_read_u32(&images->current[mirror]);
	if (*entry == 0 || pg_atomic_read_u32(&images->entry[*entry - 1].users) != 1)
		return NULL;
	return &images->entry[*entry - 1];
}

/* Which device an image is of is read without being its user: at worst another one is dropped. */
bool
gpb_map_images_drop(int device)
{
	bool		dropped = false;
	int			mirror;

	for (mirror = 0; mirror < GPB_MIRRORS; mirror++)
	{
		uint32		entry;
		const GpbMapImage *image = idle_image(mirror, &entry);

		if (image != NULL && image->span.device == device &&
			pg_atomic_compare_exchange_u32(&images->current[mirror], &entry, 0))
		{
			remove_user(&images->entry[entry - 1]);
			dropped = true;
		}
	}
	return dropped;
}

uint32
gpb_map_images_idle_units(void)
{
	uint32		units = 0;
	int			mirror;

	for (mirror = 0; mirror < GPB_MIRRORS; mirror++)
	{
		uint32		entry;
		const GpbMapImage *image = idle_image(mirror, &entry);

		if (image != NULL)
			units += image->span.nunits;
	}
	return units;
}

void
gpb_map_images_count(uint64 *made, uint32 *present, uint32 *users)
{
	int			i;

	*made = pg_atomic_read_u64(&images->last_number);
	*present = 0;
	*users = 0;
	for (i = 0; i < GPB_MAP_IMAGES; i++)
	{
		uint32		n = pg_atomic_read_u32(&images->entry[i].users);

		*present += n != 0;
		*users += n & ~GPB_IMAGE_FREEING;
	}
}
