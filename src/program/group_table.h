/*-------------------------------------------------------------------------
 *
 * group_table.h
 *	  The groups of a program on the CPU: a hash table from the values of group slots to answers.
 *
 * Plain C, free of PostgreSQL headers.  The groups are GpbGroup records (ranges.h) that lie one
 * after the other in chunks and never move.  The table's memory comes from its owner, who says how
 * much it may be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_GROUP_TABLE_H
#define GPB_GROUP_TABLE_H

#include "program/ranges.h"

/* Where the memory of a table comes from */
typedef struct GpbGroupMemory
{
	void	   *(*allocate) (void *arg, uint64 size);	/* NULL: there is none */
	void		(*release) (void *arg, void *memory, uint64 size);
	void	   *arg;
	uint64		limit;			/* bytes that the table may take in all */
} GpbGroupMemory;

/* A place of the hash table */
typedef struct GpbGroupPlace
{
	uint32		hash;			/* upper half of the group's hash */
	uint32		group;			/* number of the group plus 1; 0 if the place is free */
} GpbGroupPlace;

#define GPB_GROUP_CHUNKS	40

typedef struct GpbGroupTable
{
	GpbGroupMemory memory;
	uint64		used;			/* bytes that it has taken */
	const GpbProgram *program;
	const GpbAnswerFormat *format;
	int			width;			/* bytes of a record */
	uint32		n;				/* number of groups */
	uint32		room;			/* number of groups for which the chunks have room */
	int			shift;			/* places are 2^(64 - shift) */
	GpbGroupPlace *places;		/* NULL until there is a group */
	int			nchunks;
	char	   *chunk[GPB_GROUP_CHUNKS];
	uint32		records[GPB_GROUP_CHUNKS];	/* of each: chunk 0 has GPB_FIRST_GROUPS, each other as
											 * many as all before it, or, where the memory ends,
											 * fewer */
} GpbGroupTable;

/* Number of groups for which there is room at first */
#define GPB_FIRST_GROUPS	64

/*
 * Begin an empty table.  The program must have group slots; it and the format must live as long as
 * the table.
 */
extern void gpb_groups_init(GpbGroupTable *table, const GpbProgram *program,
							const GpbAnswerFormat *format, const GpbGroupMemory *memory);
/* The least memory that a table of n groups, whose records have "width" bytes, can do with */
extern double gpb_groups_bytes(double n, double width);
/* Give all memory back; the table is empty then. */
extern void gpb_groups_reset(GpbGroupTable *table);

/*
 * Find the groups of n entries, and make those that are not there yet.  words[g][i] is the value of
 * group slot g of entry i, 0 where it is NULL; nulls[g] says where it is, and is NULL if nowhere;
 * numbers[i] is the range's number, and numbers NULL if all are 0.  answers[i] becomes the answer
 * of entry i's group.  Returns false, with some groups made, if there is no memory.
 */
extern bool gpb_groups_find(GpbGroupTable *table, int n, const int64 *const *words,
							const uint8 *const *nulls, const uint32 *numbers, int64 **answers);

/*
 * Take room for n more groups, or for as many as there are if that is less, so that finding groups
 * does not move many before then.  Without memory for that the table stays as it is.
 */
extern void gpb_groups_reserve(GpbGroupTable *table, uint32 n);
/* The same for n groups in all. */
extern void gpb_groups_expect(GpbGroupTable *table, uint32 n);

/*
 * Add the answer of a group from elsewhere, which has normalized sums, to that of the same group
 * here.  Returns false if there is no memory.
 */
extern bool gpb_groups_merge(GpbGroupTable *table, const GpbGroup *group);
/* The same for n groups that lie one after the other.  Those without entries are left out. */
extern bool gpb_groups_merge_adjacent(GpbGroupTable *table, const char *groups, uint64 n);

/* The group here with the key of a group from elsewhere, or NULL. */
extern GpbGroup *gpb_groups_lookup(const GpbGroupTable *table, const GpbGroup *group);

/* Make the exact sums of all answers ready to be read. */
extern void gpb_groups_normalize(GpbGroupTable *table);

/* Group number i, i < table->n. */
static inline GpbGroup *
gpb_groups_at(const GpbGroupTable *table, uint32 i)
{
	/* Chunks after the first begin at powers of two. */
	int			c = i < GPB_FIRST_GROUPS ? 0 :
		__builtin_clz(GPB_FIRST_GROUPS) + 1 - __builtin_clz(i);
	uint32		first = c == 0 ? 0 : (uint32) GPB_FIRST_GROUPS << (c - 1);

	return (GpbGroup *) (table->chunk[c] + (uint64) (i - first) * table->width);
}

/*
 * Groups that lie one after the other, from number i on: their first in *first.  Returns how many;
 * 0 if there is no group i.
 */
extern uint64 gpb_groups_adjacent(const GpbGroupTable *table, uint64 i, const char **first);

#endif							/* GPB_GROUP_TABLE_H */
