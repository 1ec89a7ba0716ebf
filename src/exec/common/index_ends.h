/*-------------------------------------------------------------------------
 *
 * index_ends.h
 *	  Let core's estimates know the first and last key of a gpubtree index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_INDEX_ENDS_H
#define GPB_INDEX_ENDS_H

#include "postgres.h"

/* Load time: set get_relation_info_hook. */
extern void gpb_index_ends_init(void);

#endif							/* GPB_INDEX_ENDS_H */
