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
	const GpbGroupTable *groups = &collected->groups;

	/* as it grows, the table takes up to all that is left of its memory */
	return groups->used - (Size) (groups->room - groups->n) * groups->width;
}

Size
gpb_collected_width(const GpbCollected *collected, bool narrow)
{
	return gpb_group_width(collected->program, narrow ? &collected->narrow : &collected->wide);
}

/* ---- merging ---- */

/* Groups that are merged between two looks whether the query is cancelled */
#define GPB_COLLECTED_TOGETHER	4096

/* Merge n groups whose sums have the form that those here have. */
static bool
merge_alike(GpbCollected *collected, const char *groups, uint64 n, Size width)
{
	for (uint64 at = 0; at < n; at += GPB_COLLECTED_TOGETHER)
	{
		CHECK_FOR_INTERRUPTS();
		if (!gpb_groups_merge_adjacent(&collected->groups, groups + at * width,
									   Min(n - at, GPB_COLLECTED_TOGETHER)))
			return false;
	}
	return true;
}

/* Merge n groups that have narrow sums, where those here are wide. */
static bool
merge_widened(GpbCollected *collected, const char *groups, uint64 n, Size width)
{
	int			nslots = collected->program->ngroups;

	for (uint64 i = 0; i < n; i++)
	{
		const GpbGroup *group = (const GpbGroup *) (groups + i * width);

		CHECK_FOR_INTERRUPTS();
		if (group->words[nslots] != 0 &&
			!gpb_groups_merge(&collected->groups, widen_group(collected, group)))
			return false;
	}
	return true;
}

bool
gpb_collected_merge(GpbCollected *collected, const char *groups, uint64 n, bool narrow)
{
	int			nslots = collected->program->ngroups;
	Size		width = gpb_collected_width(collected, narrow);

	narrow &= gpb_answer_has_float_sums(&collected->narrow);
	if (!narrow && !gpb_collected_widen(collected))
		return false;
	if (nslots > 0)
		return narrow && !collected->is_narrow ? merge_widened(collected, groups, n, width) :
			merge_alike(collected, groups, n, width);
	for (uint64 i = 0; i < n; i++)
	{
		const GpbGroup *total = (const GpbGroup *) (groups + i * width);

		if (total->words[0] != 0)
			gpb_answer_merge(&collected->format, collected->total, total->words);
	}
	return true;
}

void
gpb_collected_expect(GpbCollected *collected, uint64 n)
{
	if (collected->program->ngroups > 0)
		gpb_groups_expect(&collected->groups, (uint32) Min(n, PG_INT32_MAX));
}
