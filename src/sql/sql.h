/*-------------------------------------------------------------------------
 *
 * sql.h
 *	  What stands between SQL and the wings below, beside the executor nodes.
 *
 *	mirror_functions.c	SQL functions that show and manage mirrors
 *	mirror_drops.c		mirrors of files and databases that are dropped
 *	built_mirrors.c		mirrors of indexes that were built just now
 *	index_refusals.c	indexes that PostgreSQL refuses: why, and what to use
 *	probe.c				gpubtree_probe: a batch of keys from SQL
 *	partial_*.c			partial states: aggregates that make them, and what they say
 *	inspect*.c			a look inside an index (inspect.h)
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SQL_H
#define GPB_SQL_H

/* Load time: give up the mirrors of what is dropped. */
extern void gpb_watch_drops(void);

/* Load time: define a setting, and mirror indexes when transactions that built them commit. */
extern void gpb_watch_builds(void);

/* Load time: have indexes and constraints of ours refused with a reason and a hint. */
extern void gpb_explain_index_refusals(void);

#endif							/* GPB_SQL_H */
