/*-------------------------------------------------------------------------
 *
 * ownership.h
 *	  Ownership of a mirror's refresh: one refresh at a time (rule M3); see ownership.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_OWNERSHIP_H
#define GPB_OWNERSHIP_H

#include "compat.h"

/* Take ownership if nobody has it. */
extern bool gpb_own_try(int slot);
/* Take ownership, waiting for it.  Returns false if the service hangs. */
extern bool gpb_own(int slot);
/* Give it back. */
extern void gpb_disown(int slot);

#endif							/* GPB_OWNERSHIP_H */
