/*-------------------------------------------------------------------------
 *
 * old_snapshots.h
 *	  Plan without the indexes that may lack rows which a standby's snapshot sees.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_OLD_SNAPSHOTS_H
#define GPB_OLD_SNAPSHOTS_H

#include "postgres.h"

/* Load time: set get_relation_info_hook, ahead of gpb_as_btree_init(). */
extern void gpb_old_snapshots_init(void);

#endif							/* GPB_OLD_SNAPSHOTS_H */
