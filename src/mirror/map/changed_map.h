/*-------------------------------------------------------------------------
 *
 * changed_map.h
 *	  Which blocks of mirrored indexes differ from their images (rules M2, M3); see changed_map.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CHANGED_MAP_H
#define GPB_CHANGED_MAP_H

#include "compat.h"

#include "storage/block.h"

/* Words of a bitmap of that many blocks */
#define gpb_map_words(nblocks) (((nblocks) + 31) / 32)

extern Size gpb_map_shmem_size(void);
extern void gpb_map_init_shmem(void);

/* Segments that an index of that size needs; segments that there are. */
extern uint32 gpb_map_segments_for(BlockNumber nblocks);
extern uint32 gpb_map_segments_total(void);

/* Give a mirror segments; take all of them away.  The registry lock must be held exclusively. */
extern bool gpb_map_grow(int slot, uint32 nsegments);
extern void gpb_map_release(int slot);

/* ---- a refresh's owner ---- */

extern bool gpb_map_is_clean(int slot, BlockNumber nblocks);
extern uint32 gpb_map_move(int slot, BlockNumber nblocks, uint32 *todo);
extern void gpb_map_clear_in_flight(int slot, BlockNumber nblocks, const uint32 *todo);
extern bool gpb_map_take(int slot, BlockNumber block);
extern void gpb_map_put(int slot, BlockNumber block);

/* ---- readers ---- */

extern uint64 gpb_map_count(int slot, BlockNumber nblocks);
/* How many blocks are changed or in flight, where the count ends at "most" */
extern int	gpb_map_count_upto(int slot, BlockNumber nblocks, int most);
extern bool gpb_map_read(int slot, BlockNumber nblocks, uint32 *bits);

#endif							/* GPB_CHANGED_MAP_H */
