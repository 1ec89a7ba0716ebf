/*-------------------------------------------------------------------------
 *
 * merge_groups.c
 *	  The groups of a grouping set, or of several targets, made of the groups of a program.
 *
 * They are found by hashing once more, in a table like that of a program's groups.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/answer/merge_groups.h"

/* Groups that are looked up together */
#define GPB_REGROUPED_TOGETHER	64

/* ---- memory: of the context that is the table's; it goes with that ---- */

static void *
table_allocate(void *context, uint64 size)
{
	return MemoryContextAllocHuge((MemoryContext) context, size);
}

static void
table_release(void *context, void *memory, uint64 size)
{
	pfree(memory);
}

static GpbGroupTable *
make_table(const GpbProgram *program, const GpbAnswerFormat *format)
{
	GpbGroupTable *table = palloc(sizeof(GpbGroupTable));
	GpbGroupMemory memory;

	memory.allocate = table_allocate;
	memory.release = table_release;
	memory.arg = CurrentMemoryContext;
	memory.limit = MaxAllocHugeSize;
	gpb_groups_init(table, program, format, &memory);
	return table;
}

/* ---- float8 ---- */

/* Has the float8 with these bits an equal with other bits, so that it is 0, or NaN? */
static bool
has_equals(int64 bits)
{
	return bits == gpb_float_bits(-0.0) ||
		(gpb_float_order(bits) == PG_INT64_MAX && bits != gpb_float_unorder(PG_INT64_MAX));
}

/*
 * Is there a float8 that may be equal to another one?  It is enough to find -0, and NaNs with other
 * bits than most.
 */
static bool
any_has_equals(const GpbGroupList *list, int nslots, uint32 floats)
{
	const GpbGroup *group;
	uint64		at = 0;
	int			i;

	while ((group = gpb_group_list_next(list, &at)) != NULL)
	{
		for (i = 0; i < nslots; i++)
		{
			if ((floats >> i & 1) != 0 && has_equals(group->words[i]))
				return true;
		}
	}
	return false;
}

/* ---- merging ---- */

/* Groups that are looked up together, and what is looked up: what identifies each in its slots */
typedef struct GpbRegrouped
{
	int			n;
	const GpbGroup *group[GPB_REGROUPED_TOGETHER];
	uint32		numbers[GPB_REGROUPED_TOGETHER];
	int64		words[GPB_MAX_GROUP_SLOTS][GPB_REGROUPED_TOGETHER];
	uint8		nulls[GPB_MAX_GROUP_SLOTS][GPB_REGROUPED_TOGETHER];
} GpbRegrouped;

/* Take as many groups as there are, and there is room for. */
static void
take_groups(const GpbGroupList *from, int nslots, uint32 kept, uint32 floats, uint64 *at,
			GpbRegrouped *some)
{
	int			i;

	some->n = 0;
	while (some->n < GPB_REGROUPED_TOGETHER)
	{
		const GpbGroup *group = gpb_group_list_next(from, at);

		if (group == NULL)
			break;
		some->group[some->n] = group;
		some->numbers[some->n] = group->number;
		for (i = 0; i < nslots; i++)
		{
			bool		is_kept = (kept >> i & 1) != 0;
			bool		is_null = (group->nulls >> i & 1) != 0;

			some->nulls[i][some->n] = is_kept && is_null;
			some->words[i][some->n] = !is_kept || is_null ? 0 :
				gpb_group_identity(floats, i, group->words[i]);
		}
		some->n++;
	}
}

/* Merge the answers into the table; into[i] becomes the answer into which the i-th went. */
static void
merge_groups(GpbGroupTable *table, const GpbRegrouped *some, int64 **into)
{
	int			nslots = table->program->ngroups;
	const int64 *words[GPB_MAX_GROUP_SLOTS];
	const uint8 *nulls[GPB_MAX_GROUP_SLOTS];
	int			i;

	for (i = 0; i < nslots; i++)
	{
		words[i] = some->words[i];
		nulls[i] = some->nulls[i];
	}
	if (!gpb_groups_find(table, some->n, words, nulls,
						 table->program->by_range ? some->numbers : NULL, into))
		elog(ERROR, "groups do not fit into memory");
	for (i = 0; i < some->n; i++)
		gpb_answer_merge(table->format, into[i], some->group[i]->words + nslots);
}

/* Give the float8 of merged groups values in the place of what identifies them. */
static void
restore_floats(const GpbGroupList *from, int nslots, uint32 floats, int64 **into)
{
	const GpbGroup *group;
	uint64		at = 0;
	uint64		n;
	int			i;

	for (n = 0; (group = gpb_group_list_next(from, &at)) != NULL; n++)
	{
		for (i = 0; i < nslots; i++)
		{
			if ((floats >> i & 1) != 0)
				into[n][i - nslots] = group->words[i];
		}
	}
}

void
gpb_merge_groups(GpbAsk *ask, const GpbProgram *program, uint32 kept, uint32 floats,
				 GpbGroupList *list)
{
	GpbGroupList from = {ask, NULL};
	int			nslots = program->ngroups;
	int64	  **into;
	GpbRegrouped *some;
	uint64		room = GPB_REGROUPED_TOGETHER;
	uint64		at = 0;
	uint64		n = 0;

	*list = from;
	floats &= kept;
	if (ask == NULL ||
		(gpb_ask_targets(ask) == 1 && kept == ((uint32) 1 << nslots) - 1 &&
		 !any_has_equals(list, nslots, floats)))
		return;
	list->table = make_table(program, gpb_ask_format(ask));
	/* where each group went is needed again only if floats are restored */
	if (floats != 0)
		room += gpb_group_list_count(&from);
	into = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int64 *) * room);
	some = palloc(sizeof(GpbRegrouped));
	do
	{
		CHECK_FOR_INTERRUPTS();
		take_groups(&from, nslots, kept, floats, &at, some);
		merge_groups(list->table, some, into + n);
		if (floats != 0)
			n += some->n;
	} while (some->n == GPB_REGROUPED_TOGETHER);
	/* Nothing is looked up any more, so words need not be what identifies a group. */
	if (floats != 0)
		restore_floats(&from, nslots, floats, into);
	pfree(some);
	pfree(into);
}

/* ---- the list ---- */

uint64
gpb_group_list_count(const GpbGroupList *list)
{
	if (list->table != NULL)
		return list->table->n;
	return list->ask == NULL ? 0 : gpb_ask_group_count(list->ask);
}

uint64
gpb_group_list_adjacent(const GpbGroupList *list, uint64 at, const char **first)
{
	if (list->table != NULL)
		return gpb_groups_adjacent(list->table, at, first);
	return list->ask == NULL ? 0 : gpb_ask_adjacent_groups(list->ask, at, first);
}

const GpbGroup *
gpb_group_list_next(const GpbGroupList *list, uint64 *at)
{
	if (list->table == NULL)
		return list->ask == NULL ? NULL : gpb_ask_next_group(list->ask, at);
	if (*at >= list->table->n)
		return NULL;
	return gpb_groups_at(list->table, (uint32) (*at)++);
}
