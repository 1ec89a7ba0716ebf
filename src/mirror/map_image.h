/*-------------------------------------------------------------------------
 *
 * map_image.h
 *	  Map images: copies of a table's visibility bits that requests share; see map_image.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_MAP_IMAGE_H
#define GPB_MAP_IMAGE_H

#include "compat.h"

#include "mirror/request_slot.h"

extern Size gpb_map_images_size(void);
extern void gpb_map_images_init_shmem(void);

/* ---- the backend's side; the slot is CLAIMED by the caller ---- */

/*
 * Let the slot refer to the current image of its mirror, if that has n bytes, and return its bits;
 * else NULL, and the slot refers to none.
 */
extern const char *gpb_map_image_current(GpbRequestSlot *slot, int mirror, uint64 n);
/*
 * Let the slot refer to a new image of n bytes, in the place of the one that it refers to, and
 * return the memory for its bits; or NULL if there is none to be had.
 */
extern char *gpb_map_image_make(GpbRequestSlot *slot, uint64 n);
/* Make the slot's new image, whose bits are complete, the current one of a mirror. */
extern void gpb_map_image_publish(GpbRequestSlot *slot, int mirror);

/* ---- both sides ---- */

/* The number of the image that the slot refers to; 0: to none. */
extern uint64 gpb_map_image_number(const GpbRequestSlot *slot);
/* The bits of the image that the slot refers to, and how many bytes they are. */
extern const char *gpb_map_image_bits(const GpbRequestSlot *slot, uint64 *n);
/* Let the slot refer to no image.  No LWLock held; raises nothing. */
extern void gpb_map_image_leave(GpbRequestSlot *slot);

/* Let a mirror have no current image. */
extern void gpb_map_image_forget(int mirror);
/* Free the images in a device's pool that only their mirrors use; were there any? */
extern bool gpb_map_images_drop(int device);
/* How many images were ever made, how many there are, and their users in all.  Tests ask. */
extern void gpb_map_images_count(uint64 *made, uint32 *present, uint32 *users);
/* Units of all pools that gpb_map_images_drop() would free; for display. */
extern uint32 gpb_map_images_idle_units(void);

#endif							/* GPB_MAP_IMAGE_H */
