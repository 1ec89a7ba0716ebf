/*-------------------------------------------------------------------------
 *
 * partitions.c
 *	  Several partitions that are asked with the same batch of outer rows.
 *
 * The keys that a partition's bounds allow are an interval of the index's keys.  Sorted by where
 * they begin, those that a range of keys meets are found by a binary search and a walk back, as far
 * as one of the intervals before may reach the range: intervals of lists, and of partitions of
 * partitions, may overlap.  What has no bounds meets every range.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/instrument.h"

#include "exec/answer/partitions.h"
#include "exec/where/range_conditions.h"
#include "large_array.h"

/* Into so many places the keys are parted by which partitions begin */
#define GPB_PLACES	1024

/* Ranges for which a partition has room at first */
#define GPB_INITIAL_SHARE	64

/* A partition that is open */
typedef struct GpbOpenPartition
{
	Relation	heap;
	Relation	index;
	int			entry;			/* in the list */
	GpbKeyRange keys;			/* that its bounds allow */
	int			place;			/* among the Append's plans; -1 without one */
	PlanState  *shown;			/* its plan there; NULL without one */
	bool		valid;			/* in this execution */
	char	   *ranges;			/* what it is asked, if not everything */
	uint32	   *number;
	uint32		capacity;
	bool		in_block;		/* the ranges lie in the block of all partitions */
} GpbOpenPartition;

struct GpbPartitions
{
	MemoryContext context;
	GpbNode    *node;
	Relation	form;			/* an index in whose form ranges come */
	PlanState  *child;			/* the Append, or what is left of it; NULL without one */
	bool		pruned;			/* in each execution parameters may prune some */
	bool		checked;		/* it is known which are valid in this one */
	bool		bounded;		/* bounds are known of some */
	int			n;
	GpbOpenPartition *open;		/* sorted by where their keys begin */
	GpbKey	   *begin;			/* for each, its first key, */
	GpbKey	   *reach;			/* and where the keys of it and those before end */
	uint16	   *by_place;		/* how many begin at each place's first key, or before; or NULL */
	uint64		first;			/* the first key of the first place, where the first begins that is
								 * not as low as can be */
	int			before_first;	/* those that are */
	int			shift;			/* a place has so many bits of keys */
	uint64	   *last;			/* the last key of each, if there are places and no two have keys in
								 * common; else NULL */
	GpbAskTarget *targets;
	GpbAskShare *shares;
	char	   *block;			/* room for ranges of all partitions; NULL: none was expected */
};

/* ---- where a key is ---- */

/* The number of partitions whose keys begin at this key or before it */
static pg_noinline int
search_beginning(const GpbPartitions *partitions, GpbKey key)
{
	int			low = 0;
	int			high = partitions->n;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (partitions->begin[middle] <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The same for a narrow key with the help of a table by the key's leading bits, since a search for
 * each of many keys has as many jumps that no processor foresees.
 */
static inline int
count_beginning_places(const GpbPartitions *partitions, uint64 key)
{
	uint64		place;
	int			n;

	if (key < partitions->first)
		return partitions->before_first;
	place = (key - partitions->first) >> partitions->shift;
	n = partitions->by_place[Min(place, GPB_PLACES - 1)];
	while (n < partitions->n && partitions->begin[n] <= key)
		n++;
	return n;
}

static inline int
count_beginning(const GpbPartitions *partitions, GpbKey key)
{
	if (partitions->by_place == NULL || key != (uint64) key)
		return search_beginning(partitions, key);
	return count_beginning_places(partitions, (uint64) key);
}

/* Note where the keys of each partition end, if each key is one partition's. */
static void
begin_last(GpbPartitions *partitions)
{
	int			i;

	for (i = 1; i < partitions->n; i++)
	{
		if (partitions->reach[i - 1] >= partitions->begin[i])
			return;
	}
	partitions->last = palloc(sizeof(uint64) * partitions->n);
	for (i = 0; i < partitions->n; i++)
		partitions->last[i] = (uint64) Min(partitions->open[i].keys.hi, (GpbKey) PG_UINT64_MAX);
}

/* Make the table, if keys are narrow. */
static void
begin_places(GpbPartitions *partitions)
{
	GpbKey		last = partitions->n > 0 ? partitions->begin[partitions->n - 1] : 0;
	int			i = 0;

	while (i < partitions->n && partitions->begin[i] == 0)
		i++;
	if (i == partitions->n || partitions->n > PG_UINT16_MAX || last != (uint64) last)
		return;
	partitions->before_first = i;
	partitions->first = (uint64) partitions->begin[i];
	while (((uint64) last - partitions->first) >> partitions->shift >= GPB_PLACES)
		partitions->shift++;
	partitions->by_place = palloc(sizeof(uint16) * GPB_PLACES);
	for (i = 0; i < GPB_PLACES; i++)
		partitions->by_place[i] =
			search_beginning(partitions, partitions->first + ((GpbKey) i << partitions->shift));
	begin_last(partitions);
}

/* ---- begin ---- */

/* Open a partition of the list. */
static void
open_partition(GpbPartitions *partitions, const GpbPartitionList *list, int entry,
			   PlanState *shown, int place, int eflags)
{
	PlanState  *ps = &partitions->node->css.ss.ps;
	const GpbPartition *partition = &list->partition[entry];
	GpbOpenPartition *open = &partitions->open[partitions->n++];
	GpbRangeValues *bounds;

	memset(open, 0, sizeof(*open));
	gpb_open_unnamed(ps->state, partition->index, eflags, &open->heap, &open->index);
	open->entry = entry;
	open->shown = shown;
	open->place = place;
	open->valid = true;
	open->keys = (GpbKeyRange) {0, ~(GpbKey) 0};
	if (partition->nconditions == 0 && !partition->only_null)
		return;
	partitions->bounded = true;
	bounds = partition->only_null ? NULL :
		gpb_range_values_begin(partitions->form, partition->nconditions,
							   partition->conditions, partition->values, ps);
	if (bounds == NULL || !gpb_range_of_row(bounds, ps->ps_ExprContext, NULL, &open->keys))
		open->keys = (GpbKeyRange) {~(GpbKey) 0, 0};
}

/* The place in the list of the partition that a plan below the Append stands for */
static int
find_partition(const GpbPartitionList *list, const PlanState *ps, int hint)
{
	Oid			index = gpb_partition_index(castNode(CustomScan, ps->plan));
	int			i;

	for (i = 0; i < list->n; i++)
	{
		int			entry = (hint + i) % list->n;

		if (list->partition[entry].index == index)
			return entry;
	}
	elog(ERROR, "index %u is none of the node's", index);
}

/*
 * Open those partitions that the Append has, which is what pruning has left.  Of an Append with one
 * plan setrefs.c leaves that alone.
 */
static void
open_shown(GpbPartitions *partitions, const GpbPartitionList *list, int eflags)
{
	AppendState *append;
	int			i;

	if (!IsA(partitions->child, AppendState))
	{
		open_partition(partitions, list, find_partition(list, partitions->child, 0),
					   partitions->child, 0, eflags);
		return;
	}
	append = (AppendState *) partitions->child;
	for (i = 0; i < append->as_nplans; i++)
		open_partition(partitions, list, find_partition(list, append->appendplans[i], i),
					   append->appendplans[i], i, eflags);
	partitions->pruned = append->as_prune_state != NULL && append->as_prune_state->do_exec_prune;
}

static int
compare_keys(const void *a, const void *b)
{
	GpbKey		i = ((const GpbOpenPartition *) a)->keys.lo;
	GpbKey		j = ((const GpbOpenPartition *) b)->keys.lo;

	return i < j ? -1 : i > j;
}

GpbPartitions *
gpb_partitions_begin(GpbNode *node, const GpbPartitionList *list, Relation index, int eflags)
{
	GpbPartitions *partitions;
	int			i;

	if (list->n == 0)
		return NULL;
	partitions = palloc0(sizeof(GpbPartitions));
	partitions->context = CurrentMemoryContext;
	partitions->node = node;
	partitions->form = index;
	if (list->has_append)
	{
		CustomScan *plan = castNode(CustomScan, node->css.ss.ps.plan);

		partitions->child = ExecInitNode(llast(plan->custom_plans), node->css.ss.ps.state, eflags);
		node->css.custom_ps = lappend(node->css.custom_ps, partitions->child);
	}
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return partitions;
	partitions->open = palloc(sizeof(GpbOpenPartition) * list->n);
	if (list->has_append)
		open_shown(partitions, list, eflags);
	for (i = 0; !list->has_append && i < list->n; i++)
		open_partition(partitions, list, i, NULL, -1, eflags);
	pg_qsort(partitions->open, partitions->n, sizeof(GpbOpenPartition), compare_keys);
	partitions->begin = palloc(sizeof(GpbKey) * list->n);
	partitions->reach = palloc(sizeof(GpbKey) * list->n);
	partitions->targets = palloc(sizeof(GpbAskTarget) * list->n);
	/* an ask has a target also where none is open; it has no share */
	partitions->shares = palloc0(sizeof(GpbAskShare) * list->n);
	for (i = 0; i < partitions->n; i++)
	{
		const GpbOpenPartition *open = &partitions->open[i];

		partitions->begin[i] = open->keys.lo;
		partitions->reach[i] = i == 0 ? open->keys.hi :
			Max(partitions->reach[i - 1], open->keys.hi);
		partitions->targets[i] = (GpbAskTarget) {open->heap, open->index};
	}
	begin_places(partitions);
	return partitions;
}

const GpbAskTarget *
gpb_partitions_targets(const GpbPartitions *partitions, int *n)
{
	*n = partitions->n;
	return partitions->targets;
}

void
gpb_partitions_want(const GpbPartitions *partitions, GpbAskWant *want)
{
	if (partitions != NULL && partitions->n > 0)
		want->targets = gpb_partitions_targets(partitions, &want->ntargets);
}

int
gpb_partitions_place(const GpbPartitions *partitions, int i)
{
	return partitions->open[i].entry;
}

/* ---- each execution ---- */

void
gpb_partitions_restart(GpbPartitions *partitions)
{
	if (partitions != NULL)
		partitions->checked = false;
}

/* Find out which partitions the parameters of this execution leave. */
static void
check_valid(GpbPartitions *partitions)
{
	Bitmapset  *valid;
	int			i;

	partitions->checked = true;
	if (!partitions->pruned)
		return;
	valid = ExecFindMatchingSubPlans(((AppendState *) partitions->child)->as_prune_state, false);
	for (i = 0; i < partitions->n; i++)
		partitions->open[i].valid = bms_is_member(partitions->open[i].place, valid);
	bms_free(valid);
}

/* ---- parting ranges ---- */

/* Make room for one more range in what a partition is asked, and for its number if it has one. */
static pg_noinline void
grow_share(GpbPartitions *partitions, GpbOpenPartition *open, Size width, bool numbered)
{
	uint32		before = open->capacity;

	open->capacity = Max(2 * before, GPB_INITIAL_SHARE);
	if (before == 0 || open->in_block)
	{
		char	   *ranges = gpb_alloc_array(partitions->context, open->capacity * width);

		if (before > 0)
			memcpy(ranges, open->ranges, before * width);
		open->ranges = ranges;
		open->in_block = false;
	}
	else
		open->ranges = gpb_realloc_array(open->ranges, open->capacity * width);
	if (numbered || open->number != NULL)
		open->number = open->number == NULL ?
			gpb_alloc_array(partitions->context, open->capacity * sizeof(uint32)) :
			gpb_realloc_array(open->number, open->capacity * sizeof(uint32));
}

void
gpb_partitions_expect(GpbPartitions *partitions, GpbRangeForm form, uint64 n)
{
	Size		width = form == GPB_RANGE_POINTS ? sizeof(GpbKey) : sizeof(GpbKeyRange);
	uint64		each = n / Max(partitions->n, 1);
	int			i;

	/* somewhat more than the same for all, since keys are never parted evenly */
	each += each / 8;
	if (!partitions->bounded || partitions->block != NULL || each < GPB_INITIAL_SHARE)
		return;
	partitions->block = gpb_alloc_array(partitions->context, partitions->n * each * width);
	for (i = 0; i < partitions->n; i++)
	{
		GpbOpenPartition *open = &partitions->open[i];

		if (open->capacity > 0)
			continue;
		open->ranges = partitions->block + i * each * width;
		open->capacity = (uint32) each;
		open->in_block = true;
	}
}

/*
 * Part the ranges, all of this form, among the partitions that they meet.  Joins come here with
 * millions of keys.
 */
static inline void
part_ranges_of(GpbPartitions *partitions, GpbRangeForm form, const void *ranges, uint32 n,
			   bool numbered)
{
	Size		width = form == GPB_RANGE_POINTS ? sizeof(GpbKey) : sizeof(GpbKeyRange);
	uint32		i;

	for (i = 0; i < n; i++)
	{
		GpbKeyRange keys;
		int			p;

		if (form == GPB_RANGE_POINTS)
			keys.lo = keys.hi = ((const GpbKey *) ranges)[i];
		else
			keys = ((const GpbKeyRange *) ranges)[i];
		p = count_beginning(partitions, keys.hi);
		while (p-- > 0 && partitions->reach[p] >= keys.lo)
		{
			GpbOpenPartition *open = &partitions->open[p];
			GpbAskShare *share = &partitions->shares[p];

			if (!open->valid || open->keys.hi < keys.lo || open->keys.lo > open->keys.hi)
				continue;
			if (share->n == open->capacity)
				grow_share(partitions, open, width, numbered);
			/* room that was made where ranges had no numbers has none for them */
			if (numbered && open->number == NULL)
				open->number = gpb_alloc_array(partitions->context,
											   open->capacity * sizeof(uint32));
			if (form == GPB_RANGE_POINTS)
				((GpbKey *) open->ranges)[share->n] = keys.lo;
			else
				((GpbKeyRange *) open->ranges)[share->n] = keys;
			if (numbered)
				open->number[share->n] = i;
			share->n++;
		}
	}
}

/* Part keys among partitions of which none has a key in common with another one. */
static void
part_points(GpbPartitions *partitions, const GpbKey *keys, uint32 n)
{
	uint32		i;

	for (i = 0; i < n; i++)
	{
		GpbKey		key = keys[i];
		int			p;
		GpbOpenPartition *open;
		GpbAskShare *share;

		if (key != (uint64) key)
		{
			part_ranges_of(partitions, GPB_RANGE_POINTS, &keys[i], 1, false);
			continue;
		}
		p = count_beginning_places(partitions, (uint64) key) - 1;
		if (p < 0 || (uint64) key > partitions->last[p])
			continue;
		open = &partitions->open[p];
		share = &partitions->shares[p];
		if (!open->valid)
			continue;
		if (share->n == open->capacity)
			grow_share(partitions, open, sizeof(GpbKey), false);
		((GpbKey *) open->ranges)[share->n++] = key;
	}
}

static void
part_ranges(GpbPartitions *partitions, GpbRangeForm form, const void *ranges, uint32 n,
			bool numbered)
{
	if (form == GPB_RANGE_POINTS && !numbered && partitions->last != NULL)
		part_points(partitions, ranges, n);
	else if (form == GPB_RANGE_POINTS && !numbered)
		part_ranges_of(partitions, GPB_RANGE_POINTS, ranges, n, false);
	else if (form == GPB_RANGE_POINTS)
		part_ranges_of(partitions, GPB_RANGE_POINTS, ranges, n, true);
	else
		part_ranges_of(partitions, GPB_RANGE_KEYS, ranges, n, numbered);
}

/* Let EXPLAIN ANALYZE tell a partition that was asked from one that never was. */
static void
note_asked(PlanState *shown)
{
	if (shown == NULL || shown->instrument == NULL || shown->instrument->running)
		return;
	InstrStartNode(shown->instrument);
	InstrStopNode(shown->instrument, 0.0);
}

/* Empty all shares. */
static void
begin_shares(GpbPartitions *partitions)
{
	if (!partitions->checked)
		check_valid(partitions);
	memset(partitions->shares, 0, sizeof(GpbAskShare) * partitions->n);
}

/* The shares into which ranges were parted */
static const GpbAskShare *
parted_shares(GpbPartitions *partitions, bool numbered)
{
	int			i;

	for (i = 0; i < partitions->n; i++)
	{
		GpbAskShare *share = &partitions->shares[i];

		if (partitions->bounded)
		{
			share->ranges = partitions->open[i].ranges;
			share->number = numbered ? partitions->open[i].number : NULL;
		}
		if (share->n > 0)
		{
			note_asked(partitions->child);
			note_asked(partitions->open[i].shown);
		}
	}
	return partitions->shares;
}

static const GpbAskShare *
share_ranges(GpbPartitions *partitions, GpbRangeForm form, const void *ranges, uint32 n,
			 bool numbered)
{
	int			i;

	begin_shares(partitions);
	if (partitions->bounded)
		part_ranges(partitions, form, ranges, n, numbered);
	else
	{
		for (i = 0; i < partitions->n; i++)
		{
			if (partitions->open[i].valid)
				partitions->shares[i] = (GpbAskShare) {ranges, n, NULL};
		}
	}
	return parted_shares(partitions, numbered);
}

const GpbAskShare *
gpb_partitions_share(GpbPartitions *partitions, GpbRangeForm form, const void *ranges, uint32 n)
{
	return share_ranges(partitions, form, ranges, n, true);
}

const GpbAskShare *
gpb_partitions_share_total(GpbPartitions *partitions, GpbRangeForm form, const void *ranges,
						   uint32 n)
{
	return share_ranges(partitions, form, ranges, n, false);
}

bool
gpb_partitions_begin_parts(GpbPartitions *partitions)
{
	if (partitions->bounded)
		begin_shares(partitions);
	return partitions->bounded;
}

void
gpb_partitions_part(GpbPartitions *partitions, GpbRangeForm form, const void *ranges, uint32 n)
{
	part_ranges(partitions, form, ranges, n, false);
}

const GpbAskShare *
gpb_partitions_parts(GpbPartitions *partitions)
{
	return parted_shares(partitions, false);
}

void
gpb_partitions_end(GpbPartitions *partitions)
{
	int			i;

	if (partitions == NULL)
		return;
	for (i = 0; i < partitions->n; i++)
	{
		index_close(partitions->open[i].index, NoLock);
		table_close(partitions->open[i].heap, NoLock);
	}
	if (partitions->child != NULL)
		ExecEndNode(partitions->child);
}
