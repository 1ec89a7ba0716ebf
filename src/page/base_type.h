/*-------------------------------------------------------------------------
 *
 * base_type.h
 *	  The type that a domain is over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BASE_TYPE_H
#define GPB_BASE_TYPE_H

#include "postgres.h"
#include "access/transam.h"
#include "utils/lsyscache.h"

/*
 * getBaseType(), without a look at a catalog for a type of pg_type.dat, whose OIDs are below
 * FirstGenbkiObjectId: none of these is a domain [types.sql].  Planning asks for thousands.
 */
static inline Oid
gpb_base_type(Oid type)
{
	return type < FirstGenbkiObjectId ? type : getBaseType(type);
}

#endif							/* GPB_BASE_TYPE_H */
