/*-------------------------------------------------------------------------
 *
 * collected.c
 *	  The answer of a program that is put together from elsewhere, not by a batch.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/answer/collected.h"

struct GpbCollected
{
	MemoryContext context;		/* of the groups */
	const GpbProgram *program;
	Size		limit;			/* bytes of groups */
	GpbAnswerFormat narrow;
	GpbAnswerFormat wide;
	bool		is_narrow;		/* the form that sums have now */
	GpbAnswerFormat format;		/* as that says, since it stays at its place */
	GpbGroupTable groups;		/* with group slots */
	int64	   *total;			/* without */
	GpbGroup   *widened;		/* room for a group with wide sums */
};

/* ---- memory of groups ---- */

static void *
groups_allocate(void *context, uint64 size)
{
	return MemoryContextAllocExtended((MemoryContext) context, size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

static void
groups_release(void *context, void *memory, uint64 size)
{
	pfree(memory);
}

/* Begin an empty table whose answers have this format. */
static void
begin_table(GpbCollected *collected, const GpbAnswerFormat *format, GpbGroupTable *table)
{
	GpbGroupMemory memory = {groups_allocate, groups_release, collected->context,
	collected->limit};

	if (collected->program->ngroups > 0)
		gpb_groups_init(table, collected->program, format, &memory);
}

/* ---- begin ---- */

/* The format of answers to the program, with sums of one form */
static void
make_format(const GpbProgram *program, bool narrow, GpbAnswerFormat *format)
{
	GpbProgram *begun = palloc(sizeof(GpbProgram));

	*begun = *program;
	begun->narrow_sums = narrow;
	gpb_answer_format(begun, format);
	pfree(begun);
}

GpbCollected *
gpb_collected_begin(const GpbProgram *program, Size memory)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree collected",
												  ALLOCSET_DEFAULT_SIZES);
	GpbCollected *collected = MemoryContextAllocZero(context, sizeof(GpbCollected));

	collected->context = AllocSetContextCreate(context, "gpubtree collected groups",
											   ALLOCSET_DEFAULT_SIZES);
	collected->program = program;
	collected->limit = memory;
	make_format(program, program->ngroups > 0, &collected->narrow);
	make_format(program, false, &collected->wide);
	collected->total = MemoryContextAlloc(context, gpb_answer_width(&collected->wide));
	collected->widened = MemoryContextAlloc(context, gpb_collected_width(collected, false));
	gpb_collected_reset(collected);
	return collected;
}

void
gpb_collected_reset(GpbCollected *collected)
{
	MemoryContextReset(collected->context);
	collected->is_narrow = gpb_answer_has_float_sums(&collected->narrow) &&
		collected->program->ngroups > 0;
	collected->format = collected->is_narrow ? collected->narrow : collected->wide;
	begin_table(collected, collected->is_narrow ? &collected->narrow : &collected->wide,
				&collected->groups);
	gpb_answer_init(&collected->wide, collected->total);
}

/* ---- wide sums ---- */

/* A group that has narrow sums, with wide ones; it is valid until the next call. */
static const GpbGroup *
widen_group(GpbCollected *collected, const GpbGroup *group)
{
	GpbGroup   *widened = collected->widened;

	memcpy(widened, group, gpb_group_width(collected->program, &collected->narrow));
	gpb_answer_widen(&collected->narrow, &collected->wide,
					 widened->words + collected->program->ngroups);
	return widened;
}

bool
gpb_collected_widen(GpbCollected *collected)
{
	GpbGroupTable wide;

	if (!collected->is_narrow)
		return true;
	begin_table(collected, &collected->wide, &wide);
	for (uint32 i = 0; i < collected->groups.n; i++)
	{
		if (!gpb_groups_merge(&wide, widen_group(collected,
												 gpb_groups_at(&collected->groups, i))))
			return false;
	}
	gpb_groups_reset(&collected->groups);
	collected->is_narrow = false;
	collected->format = collected->wide;
	collected->groups = wide;
	return true;
}

/* ---- what there is ---- */

const GpbAnswerFormat *
gpb_collected_format(const GpbCollected *collected)
{
	return &collected->format;
}

GpbGroupTable *
gpb_collected_groups(GpbCollected *collected)
{
	return collected->program->ngroups > 0 ? &collected->groups : NULL;
}

int64 *
gpb_collected_total(GpbCollected *collected)
{
	return collected->total;
}

Size
gpb_collected_bytes(const GpbCollected *collected)
{
	return collected->groups.used;
}

Size
gpb_collected_width(const GpbCollected *collected, bool narrow)
{
	return gpb_group_width(collected->program, narrow ? &collected->narrow : &collected->wide);
}

/* ---- merging ---- */

/* Groups that are looked up together, so that the loads of one do not wait for those of another */
#define GPB_COLLECTED_TOGETHER	64

typedef struct GpbCollectedSome
{
	int			n;
	const GpbGroup *group[GPB_COLLECTED_TOGETHER];
	int64	   *into[GPB_COLLECTED_TOGETHER];
	int64		words[GPB_MAX_GROUP_SLOTS][GPB_COLLECTED_TOGETHER];
	uint8		nulls[GPB_MAX_GROUP_SLOTS][GPB_COLLECTED_TOGETHER];
} GpbCollectedSome;

/* Take those of n groups that have entries. */
static void
take_groups(int nslots, const char *groups, int n, Size width, GpbCollectedSome *some)
{
	some->n = 0;
	for (int i = 0; i < n; i++, groups += width)
	{
		const GpbGroup *group = (const GpbGroup *) groups;

		if (group->words[nslots] == 0)
			continue;
		some->group[some->n] = group;
		for (int slot = 0; slot < nslots; slot++)
		{
			some->words[slot][some->n] = group->words[slot];
			some->nulls[slot][some->n] = (group->nulls >> slot & 1) != 0;
		}
		some->n++;
	}
}

/* Find the answers into which the groups go. */
static bool
find_answers(GpbCollected *collected, GpbCollectedSome *some)
{
	const int64 *words[GPB_MAX_GROUP_SLOTS];
	const uint8 *nulls[GPB_MAX_GROUP_SLOTS];
	int			nslots = collected->program->ngroups;

	if (nslots == 0)
	{
		for (int i = 0; i < some->n; i++)
			some->into[i] = collected->total;
		return true;
	}
	for (int slot = 0; slot < nslots; slot++)
	{
		words[slot] = some->words[slot];
		nulls[slot] = some->nulls[slot];
	}
	return gpb_groups_find(&collected->groups, some->n, words, nulls, NULL, some->into);
}

bool
gpb_collected_merge(GpbCollected *collected, const char *groups, uint64 n, bool narrow)
{
	int			nslots = collected->program->ngroups;
	Size		width = gpb_collected_width(collected, narrow);
	GpbCollectedSome some;

	narrow &= gpb_answer_has_float_sums(&collected->narrow);
	if (!narrow && !gpb_collected_widen(collected))
		return false;
	for (uint64 at = 0; at < n; at += GPB_COLLECTED_TOGETHER)
	{
		CHECK_FOR_INTERRUPTS();
		take_groups(nslots, groups + at * width, (int) Min(n - at, GPB_COLLECTED_TOGETHER), width,
					&some);
		if (!find_answers(collected, &some))
			return false;
		for (int i = 0; i < some.n; i++)
		{
			const GpbGroup *group = some.group[i];

			if (narrow && !collected->is_narrow)
				group = widen_group(collected, group);
			gpb_answer_merge(&collected->format, some.into[i], group->words + nslots);
		}
	}
	return true;
}

void
gpb_collected_expect(GpbCollected *collected, uint64 n)
{
	if (collected->program->ngroups > 0)
		gpb_groups_reserve(&collected->groups, (uint32) Min(n, PG_INT32_MAX));
}
