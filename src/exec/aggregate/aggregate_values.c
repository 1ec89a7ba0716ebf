/*-------------------------------------------------------------------------
 *
 * aggregate_values.c
 *	  The groups of a program one of whose slots is a value, put together to the query's groups.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "exec/aggregate/aggregate_values_group.h"
#include "exec/compile/program_words.h"
#include "exec/price/price_constants.h"

struct GpbValuesScan
{
	int			slot;			/* the value's first: the number of the query's group slots */
	int			slots;			/* of both */
	uint32		floats;			/* bit i: group slot i is a float8 */
	bool		ordered;		/* records have to be in the order of values */
	GpbAnswerFormat format;		/* of the program */
	int			n;
	GpbValuesFinal *finals;

	/* the groups of the last run */
	MemoryContext context;
	GpbValuesRecord *records;
	uint64		nrecords;
	GpbValuesGroup of_group;	/* those of one group of the query */
};

Size
gpb_values_width(void)
{
	return sizeof(GpbValuesRecord);
}

Cost
gpb_values_cost(double groups)
{
	double		compares = log2(Max(groups, 2.0));

	return groups * (compares * GPB_RECORD_COMPARE_COST + GPB_RECORD_COST) * cpu_operator_cost;
}

/* ---- begin ---- */

GpbValuesScan *
gpb_values_begin(const GpbValuesPlan *plan, const GpbProgram *program, uint32 floats,
				 const GpbCodeSource *codes, PlanState *ps)
{
	GpbValuesScan *scan = palloc0(sizeof(GpbValuesScan));
	ListCell   *fraction = list_head(plan->fractions);
	int			i;

	scan->slot = program->ngroups - gpb_type_words(plan->type);
	scan->slots = program->ngroups;
	scan->floats = floats;
	scan->ordered = scan->slot > 0;
	gpb_answer_format(program, &scan->format);
	scan->n = plan->n;
	scan->finals = palloc0(sizeof(GpbValuesFinal) * plan->n);
	for (i = 0; i < plan->n; i++)
	{
		const GpbValuesItem *item = &plan->items[i];
		Expr	   *expression = NULL;

		if (gpb_function_is_percentile(item->each.function))
		{
			expression = lfirst(fraction);
			fraction = lnext(plan->fractions, fraction);
		}
		gpb_values_final_init(&scan->finals[i], item, plan->type, &scan->format, codes, expression,
							  ps);
		scan->ordered |= gpb_function_is_percentile(item->each.function) ||
			item->each.function == GPB_MODE;
	}
	return scan;
}

/* ---- records in order ---- */

static inline bool
slot_is_null(const GpbGroup *group, int slot)
{
	return (group->nulls >> slot & 1) != 0;
}

/* The order of two groups by one slot, with NULL last */
static inline int
compare_slot(const GpbGroup *a, const GpbGroup *b, int slot, uint32 floats)
{
	bool		null_a = slot_is_null(a, slot);
	bool		null_b = slot_is_null(b, slot);
	int64		word_a;
	int64		word_b;

	if (null_a || null_b)
		return null_a - null_b;
	word_a = gpb_group_identity(floats, slot, a->words[slot]);
	word_b = gpb_group_identity(floats, slot, b->words[slot]);
	return word_a < word_b ? -1 : word_a > word_b;
}

/* The order of two records by the first n slots, one at least */
static inline int
compare_records(const GpbValuesRecord *a, const GpbValuesRecord *b, int n, uint32 floats)
{
	int			i;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	for (i = 0; i < n; i++)
	{
		int			order = compare_slot(a->group, b->group, i, floats);

		if (order != 0)
			return order;
	}
	return 0;
}

#define ST_SORT sort_records
#define ST_ELEMENT_TYPE GpbValuesRecord
#define ST_COMPARE_ARG_TYPE const GpbValuesScan
#define ST_COMPARE(a, b, scan) compare_records(a, b, (scan)->slots, (scan)->floats)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

void
gpb_values_collect(GpbValuesScan *scan, const GpbGroupList *groups)
{
	const GpbGroup *group;
	uint64		room = gpb_group_list_count(groups);
	uint64		at = 0;
	int			i;

	scan->context = CurrentMemoryContext;
	scan->records = NULL;
	scan->nrecords = 0;
	for (i = 0; i < scan->n; i++)
		scan->finals[i].evaluated = false;
	scan->records = MemoryContextAllocHuge(scan->context,
										   sizeof(GpbValuesRecord) * Max(room, 1));
	while ((group = gpb_group_list_next(groups, &at)) != NULL)
	{
		GpbValuesRecord *record = &scan->records[scan->nrecords++];

		Assert(scan->nrecords <= room);
		record->group = group;
		record->first = slot_is_null(group, 0) ? PG_INT64_MAX :
			gpb_group_identity(scan->floats, 0, group->words[0]);
	}
	if (scan->ordered)
		sort_records(scan->records, scan->nrecords, scan);
}

/* ---- a group of the query ---- */

bool
gpb_values_next(GpbValuesScan *scan, uint64 *at)
{
	const GpbValuesRecord *record = scan->records + *at;
	uint64		n = 0;

	scan->of_group = (GpbValuesGroup) {record, 0, scan->slot, scan->slots, &scan->format};
	if (scan->slot == 0)
	{
		if (*at > 0)
			return false;
		scan->of_group.n = scan->nrecords;
		*at = Max(scan->nrecords, 1);
		return true;
	}
	while (*at + n < scan->nrecords &&
		   (n == 0 || compare_records(record, record + n, scan->slot, scan->floats) == 0))
		n++;
	scan->of_group.n = n;
	*at += n;
	return n > 0;
}

const GpbGroup *
gpb_values_any(const GpbValuesScan *scan)
{
	return scan->of_group.n > 0 ? scan->of_group.records[0].group : NULL;
}

void
gpb_values_add(const GpbValuesScan *scan, GpbAsk *ask)
{
	uint64		i;

	for (i = 0; i < scan->of_group.n; i++)
		gpb_group_add(ask, scan->of_group.records[i].group->words + scan->slots);
}

void
gpb_values_final(GpbValuesScan *scan, ExprContext *econtext, Datum *values, bool *isnull)
{
	int			i;

	for (i = 0; i < scan->n; i++)
		values[i] = gpb_values_final_value(&scan->finals[i], &scan->of_group, econtext,
										   scan->context,
										   &isnull[i]);
}
