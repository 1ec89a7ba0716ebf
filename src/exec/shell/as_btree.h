/*-------------------------------------------------------------------------
 *
 * as_btree.h
 *	  Let core plan with a gpubtree index as with a B-tree.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AS_BTREE_H
#define GPB_AS_BTREE_H

#include "postgres.h"

/* Load time: set get_relation_info_hook. */
extern void gpb_as_btree_init(void);

#endif							/* GPB_AS_BTREE_H */
