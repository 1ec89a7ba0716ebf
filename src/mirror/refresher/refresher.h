/*-------------------------------------------------------------------------
 *
 * refresher.h
 *	  The refresher, by file; private to the refresher.
 *
 *	refresher.c		the process: which mirrors, when, at which rate
 *	turn.c			one turn: a refresh of the changed blocks that are in shared buffers
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_REFRESHER_H
#define GPB_REFRESHER_H

#include "compat.h"

#include "mirror/map/registry.h"

/* How far the refresher has come in one mirror's map */
typedef struct GpbPass
{
	uint64		generation;		/* of the mirror; of another one nothing here holds */
	uint32		word;			/* the next turn begins here; 0: a new pass */
	uint32		left;			/* blocks of this pass that are left to a query's refresh */
} GpbPass;

/* What a turn has done */
typedef struct GpbTurn
{
	uint32		pages;			/* copied */
	bool		more;			/* the budget ended it: there may be more to copy */
	bool		fruitless;		/* what has changed is not in shared buffers */
} GpbTurn;

extern PGDLLEXPORT void gpb_refresher_main(Datum arg);

/* ---- turn.c ---- */

/*
 * Refresh at most "budget" changed blocks of the mirror in a slot, beginning where "pass" says.  No
 * LWLock, pin or ownership held on entry or exit.
 */
extern GpbTurn gpb_refresher_turn(int slot, GpbPass *pass, uint32 budget);

#endif							/* GPB_REFRESHER_H */
