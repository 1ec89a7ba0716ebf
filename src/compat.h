/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Every difference between server versions, in one place.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_COMPAT_H
#define GPB_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 160000
#error "gpubtree 0.1 supports PostgreSQL 15"
#endif

#endif							/* GPB_COMPAT_H */
