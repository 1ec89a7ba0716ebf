/*-------------------------------------------------------------------------
 *
 * scan_walk.c
 *	  The first and last rows of groups, by walking from group to group, when a node runs.
 *
 * A group is what has the same values in a prefix of the key columns.  From one group to the next
 * the tree is descended.  Core's scan of the index looks for the group's first row that the
 * snapshot sees, from the group's beginning forward or from its end backward, so entries of rows
 * that are gone, or not there yet, are passed over.  The descents take no predicate locks, so a
 * serializable transaction locks the whole index (rule M8).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "index/column_ranges.h"
#include "exec/scan/scan_node.h"
#include "exec/scan/scan_reader.h"

/* An end of a group, and where in the group it is looked for */
typedef struct GpbGroupEnd
{
	ScanDirection direction;
	GpbKeyRange *fields;		/* of the column behind the groups', in the order to try them */
	uint32		nfields;
} GpbGroupEnd;

struct GpbGroupWalk
{
	Relation	index;
	const GpbScanWalk *plan;
	GpbLayout	layout;
	const GpbColumnSets *sets;
	GpbRangeReader *reader;		/* of one group, or a part of it, at a time */
	GpbGroupEnd ends[2];
	int			nends;

	/* where the walk is */
	GpbKey		next;			/* the next group is looked for from here on */
	bool		finished;		/* there is no next group */
	bool		in_group;		/* a group is being looked at */
	GpbKey		group;			/* its least key */
	int			end;			/* the end that is being looked for */
	uint32		field;			/* and where: the next of its fields */
	bool		scanning;		/* the scan has begun there */
	bool		found;			/* and has returned a row */
	GpbKey		order;			/* of that row: the fields that decide the order */

	uint64		descents;		/* for EXPLAIN */
};

/* ---- begin ---- */

GpbGroupWalk *
gpb_group_walk_begin(Relation heap, Relation index, Snapshot snapshot, const GpbScanWalk *plan,
					 bool index_only)
{
	GpbGroupWalk *walk = palloc0(sizeof(GpbGroupWalk));

	walk->index = index;
	walk->plan = plan;
	walk->layout = *gpb_layout(index);
	PredicateLockRelation(index, snapshot);
	/* rows that are equal in the order are told by their entries */
	walk->reader = gpb_reader_begin(heap, index, snapshot, index_only, plan->ties);
	return walk;
}

/* Add the fields from lo to hi to those where an end is looked for, if there are any. */
static void
add_fields(GpbGroupEnd *end, GpbKey lo, GpbKey hi)
{
	if (lo <= hi)
		end->fields[end->nfields++] = (GpbKeyRange) {lo, hi};
}

/* Add a range of fields, but for NULL if that has a place of its own. */
static void
add_range(const GpbGroupWalk *walk, GpbGroupEnd *end, GpbKeyColumn column, GpbKeyRange fields)
{
	GpbKey		null = gpb_null_field(column);

	/* NULL is the first field or the last one. */
	if (walk->plan->nulls != GPB_WALK_NULLS_IN_PLACE && gpb_column_has_null(column))
	{
		if (fields.lo == null)
			fields.lo++;
		else if (fields.hi == null)
			fields.hi--;
	}
	add_fields(end, fields.lo, fields.hi);
}

/* Find out where in a group an end of it is looked for. */
static void
place_end(GpbGroupWalk *walk, ScanDirection direction)
{
	GpbGroupEnd *end = &walk->ends[walk->nends++];
	int			c = walk->plan->prefix;
	const GpbFieldSet *set = &walk->sets->column[c];
	GpbKeyColumn column = {0};
	GpbKeyRange all = {0, 0};
	const GpbKeyRange *ranges = &all;
	uint32		n = 1;
	GpbKey		null;
	bool		has_null;

	*end = (GpbGroupEnd) {direction, NULL, 0};
	if (c == walk->layout.nkeys)
		column.bits = 0;		/* a group is one key */
	else
	{
		column = walk->layout.key[c];
		all.hi = gpb_field_ones(column.bits);
		/* with NULLS LAST no field is above that of NULL, though it may have bits for more */
		if (gpb_column_has_null(column) && (column.flags & GPB_COLUMN_NULLS_FIRST) == 0)
			all.hi = gpb_null_field(column);
		if (!set->all)
		{
			ranges = set->ranges;
			n = set->n;
		}
	}
	end->fields = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(GpbKeyRange) * (n + 1));
	null = gpb_null_field(column);
	has_null = gpb_column_has_null(column) && n > 0 &&
		(ranges[0].lo == null || ranges[n - 1].hi == null);
	if (has_null && walk->plan->nulls == GPB_WALK_NULLS_FIRST)
		add_fields(end, null, null);
	for (uint32 i = 0; i < n; i++)
		add_range(walk, end, column,
				  ranges[ScanDirectionIsForward(direction) ? i : n - 1 - i]);
	if (has_null && walk->plan->nulls == GPB_WALK_NULLS_LAST)
		add_fields(end, null, null);
}

void
gpb_group_walk_start(GpbGroupWalk *walk, const GpbColumnSets *sets)
{
	walk->sets = sets;
	walk->nends = 0;
	walk->next = 0;
	walk->in_group = false;
	walk->finished = sets == NULL;
	if (sets == NULL)
		return;
	if (walk->plan->forward)
		place_end(walk, ForwardScanDirection);
	if (walk->plan->backward)
		place_end(walk, BackwardScanDirection);
}

/* ---- groups ---- */

/* The bits behind the columns before c */
static GpbKey
bits_behind(const GpbGroupWalk *walk, int c)
{
	return c == walk->layout.nkeys ? 0 :
		gpb_field_ones(walk->layout.key[c].shift + walk->layout.key[c].bits);
}

/*
 * Find the next group that has an entry, dead or not; false if there is none.  An entry may show
 * that the conditions admit nothing more of its group.
 */
static bool
find_group(GpbGroupWalk *walk)
{
	GpbKey		behind = bits_behind(walk, walk->plan->prefix);
	int			ncolumns = Min(walk->plan->prefix + 1, walk->layout.nkeys);
	GpbBound	entry;

	for (;;)
	{
		GpbKey		key;

		CHECK_FOR_INTERRUPTS();
		if (walk->finished || !gpb_fields_next(walk->sets, ncolumns, &walk->next) ||
			!gpb_first_entry(walk->index, &walk->layout, (GpbBound) {walk->next, 0}, &entry))
			return false;
		walk->descents++;
		key = entry.key;
		if (!gpb_fields_next(walk->sets, ncolumns, &key))
			return false;
		if ((key & ~behind) == (entry.key & ~behind))
			break;
		walk->next = key;
	}
	walk->group = entry.key & ~behind;
	/* the last of all groups ends with the greatest key */
	walk->finished = (walk->group | behind) == gpb_key_most(walk->layout.key_width);
	walk->next = (walk->group | behind) + !walk->finished;
	return true;
}

/* Begin to scan the group's part that is next; false if the end has no more parts. */
static bool
scan_part(GpbGroupWalk *walk)
{
	const GpbGroupEnd *end = &walk->ends[walk->end];
	int			c = walk->plan->prefix;
	int			shift = c < walk->layout.nkeys ? walk->layout.key[c].shift : 0;
	GpbKeyRange fields;
	GpbRange	range;

	if (walk->field == end->nfields)
		return false;
	fields = end->fields[walk->field++];
	range.lo = (GpbBound) {walk->group | fields.lo << shift, 0};
	range.hi = gpb_bound_behind(walk->group | fields.hi << shift | gpb_field_ones(shift),
								walk->layout.key_width);
	gpb_reader_start(walk->reader, range, end->direction);
	walk->descents++;
	return true;
}

/* ---- rows ---- */

/*
 * Is the row, to which the scan has come, one that is wanted?  If not, rows that are equal to the
 * first one are at an end.
 */
static bool
is_wanted(GpbGroupWalk *walk)
{
	GpbKey		order;

	if (!walk->plan->ties)
		return !walk->found;
	order = gpb_reader_key(walk->reader, &walk->layout) &
		~bits_behind(walk, walk->plan->prefix + walk->plan->ordered);
	if (!walk->found)
		walk->order = order;
	return order == walk->order;
}

/* Go on to the group's other end, or have the next group looked for. */
static void
leave_end(GpbGroupWalk *walk)
{
	walk->scanning = walk->found = false;
	walk->field = 0;
	walk->in_group = ++walk->end < walk->nends;
}

bool
gpb_group_walk_next(GpbGroupWalk *walk)
{
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!walk->in_group)
		{
			if (!find_group(walk))
				return false;
			walk->in_group = true;
			walk->end = 0;
			walk->field = 0;
			walk->scanning = walk->found = false;
		}
		if (!walk->scanning)
		{
			if (!scan_part(walk))
			{
				leave_end(walk);
				continue;
			}
			walk->scanning = true;
		}
		/* without ties one row is enough */
		if ((!walk->found || walk->plan->ties) && gpb_reader_next(walk->reader))
		{
			if (is_wanted(walk))
			{
				walk->found = true;
				return true;
			}
			leave_end(walk);
		}
		else if (walk->found)
			leave_end(walk);
		else
			walk->scanning = false;
	}
}

uint64
gpb_group_walk_descents(const GpbGroupWalk *walk)
{
	return walk->descents;
}

GpbRangeReader *
gpb_group_walk_reader(GpbGroupWalk *walk)
{
	return walk->reader;
}

void
gpb_group_walk_end(GpbGroupWalk *walk)
{
	gpb_reader_end(walk->reader);
	pfree(walk);
}
