/*-------------------------------------------------------------------------
 *
 * workers.h
 *	  How many processes share an index, and what that makes of a price.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_WORKERS_H
#define GPB_WORKERS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* The number of workers for so many entries of the table's index, as core has it; 0: none */
extern int	gpb_count_workers(RelOptInfo *rel, const IndexOptInfo *index, double entries);

/* The processes that share the work, as core counts the leader among so many workers */
extern double gpb_count_shares(int workers);

/*
 * Do so many workers take less time to start than they save, of what costs so much to one process,
 * by a plain program or by another?  Prices, by which paths compete with core's, do not say: core's
 * has one for any number of workers, and the entries of a plain program have one above their time.
 */
extern bool gpb_workers_save_time(Cost work, bool plain, int workers);

#endif							/* GPB_WORKERS_H */
