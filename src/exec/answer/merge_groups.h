/*-------------------------------------------------------------------------
 *
 * merge_groups.h
 *	  The groups of a grouping set, or of several targets, made of the groups of a program.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_MERGE_GROUPS_H
#define GPB_MERGE_GROUPS_H

#include "postgres.h"

#include "exec/answer/ask.h"
#include "program/group_table.h"

/* Groups to be taken one after the other; all zeros if there are none */
typedef struct GpbGroupList
{
	GpbAsk	   *ask;			/* whose last question has the groups, unless there is a table */
	GpbGroupTable *table;
} GpbGroupList;

/*
 * Merge the groups of an ask's last question, by this program, that agree in the group slots
 * "kept".  There are none if ask is NULL.  Bit i of kept and of "floats", the slots of float8,
 * stands for slot i.  Floats agree if they are equal for PostgreSQL: 0 and -0, all NaNs; the group
 * has the value of one of them.  Other slots than those kept are 0, and not NULL.  Of several
 * targets words must mean the same: codes of a dictionary are one target's, so who asks several has
 * made one numbering of them before.
 *
 * Program and answers must stay as long as the list, whose memory is of the current context.
 */
extern void gpb_merge_groups(GpbAsk *ask, const GpbProgram *program, uint32 kept,
							 uint32 floats, GpbGroupList *list);

/* The number of groups */
extern uint64 gpb_group_list_count(const GpbGroupList *list);

/* As gpb_ask_adjacent_groups(), of the list */
extern uint64 gpb_group_list_adjacent(const GpbGroupList *list, uint64 at, const char **first);

/* The next group; *at is 0 at first.  NULL after the last one. */
extern const GpbGroup *gpb_group_list_next(const GpbGroupList *list, uint64 *at);

/* Something that is the same for words of a group slot that agree */
static inline int64
gpb_group_identity(uint32 floats, int slot, int64 word)
{
	return (floats >> slot & 1) != 0 ? gpb_float_order(word) : word;
}

#endif							/* GPB_MERGE_GROUPS_H */
