/*-------------------------------------------------------------------------
 *
 * word_rows.c
 *	  Rows made straight from the groups of a program.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/memutils.h"

#include "exec/common/item_final.h"
#include "exec/common/program_build.h"
#include "exec/common/word_rows.h"

/* How a column of the row follows from a group's record */
typedef enum GpbColumnWay
{
	GPB_COLUMN_WORD,			/* a word is the value, NULL if another word is 0 */
	GPB_COLUMN_GROUP,			/* the value of a group slot, as a word */
	GPB_COLUMN_TYPED,			/* likewise, but a word is no value of the type */
	GPB_COLUMN_NUMBER,			/* by the group's number */
	GPB_COLUMN_ITEM,			/* an aggregate that is computed */
	GPB_COLUMN_CONSTANT,		/* core puts NULL where nobody reads an output of a subquery */
	GPB_COLUMN_NULL				/* a column of the scan tuple that has no value */
} GpbColumnWay;

typedef struct GpbRowColumn
{
	int			from;			/* column of the scan tuple; -1: a constant */
	const Const *constant;
	GpbColumnWay way;
	int			word;			/* of those behind the header: the value, or the group slot's */
	int			counts;			/* the word that is 0 if the value is NULL */
	Oid			type;
	const GpbAggregateItem *item;
	const GpbAnswerColumn *answer;
} GpbRowColumn;

struct GpbWordRows
{
	TupleTableSlot *slot;
	MemoryContext memory;		/* of a row */
	const Datum *datums;
	int			ngroups;
	bool		allocates;		/* some column is not passed by value */
	const char *at;				/* groups that are not rows yet */
	const char *end;
	Size		width;
	int			ncolumns;
	GpbRowColumn column[FLEXIBLE_ARRAY_MEMBER];
};

/* ---- begin ---- */

/* Fill in what an expression of the target list is; false if neither a column nor a constant. */
static bool
find_source(const Expr *expr, GpbRowColumn *column)
{
	const Var  *var = (const Var *) expr;

	if (IsA(expr, Const))
	{
		column->from = -1;
		column->constant = (const Const *) expr;
		return true;
	}
	if (!IsA(expr, Var) || var->varno != INDEX_VAR || var->varattno <= 0)
		return false;
	column->from = var->varattno - 1;
	return true;
}

GpbWordRows *
gpb_word_rows_begin(CustomScanState *css)
{
	PlanState  *ps = &css->ss.ps;
	List	   *list = ps->plan->targetlist;
	bool		projects = ps->ps_ProjInfo != NULL;
	TupleTableSlot *slot = projects ? ps->ps_ProjInfo->pi_state.resultslot :
		css->ss.ss_ScanTupleSlot;
	int			n = slot->tts_tupleDescriptor->natts;
	GpbWordRows *rows;
	int			i;

	if (!TTS_IS_VIRTUAL(slot) || (projects && list_length(list) != n))
		return NULL;
	rows = palloc0(offsetof(GpbWordRows, column) + n * sizeof(GpbRowColumn));
	rows->slot = slot;
	rows->memory = ps->ps_ExprContext->ecxt_per_tuple_memory;
	rows->ncolumns = n;
	for (i = 0; i < n; i++)
	{
		rows->column[i].from = i;
		if (projects && !find_source(list_nth_node(TargetEntry, list, i)->expr, &rows->column[i]))
			return NULL;
	}
	return rows;
}

/* ---- start ---- */

/* Is an aggregate a word of the answer?  Then fill in which, and which one counts its values. */
static bool
item_is_word(const GpbAggregateItem *item, GpbRowColumn *column)
{
	const GpbAnswerColumn *answer = column->answer;
	bool		small = item->type == INT2OID || item->type == INT4OID;

	column->counts = 0;
	switch (item->function)
	{
		case GPB_COUNT_ENTRIES:
			column->word = 0;	/* which is no group's */
			return true;
		case GPB_COUNT_VALUES:
			column->word = answer->count;
			return true;
		case GPB_SUM:
			column->word = answer->sum;
			column->counts = answer->count;
			return small;
		case GPB_MIN:
		case GPB_MAX:
			column->word = answer->minmax + (item->function == GPB_MAX);
			column->counts = answer->count;
			return small || item->type == INT8OID;
		default:
			return false;
	}
}

static void
set_item(GpbWordRows *rows, const GpbAggregateItem *item, const GpbAnswerColumn *answer,
		 GpbRowColumn *column)
{
	column->item = item;
	column->answer = answer;
	column->way = item_is_word(item, column) ? GPB_COLUMN_WORD : GPB_COLUMN_ITEM;
	column->word += rows->ngroups;
	column->counts += rows->ngroups;
	rows->allocates |= column->way == GPB_COLUMN_ITEM;
}

/* Are values of the type the words themselves? */
static bool
type_is_word(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID ||
		type == TIMESTAMPOID || type == TIMESTAMPTZOID || type == FLOAT8OID;
}

static void
set_group(GpbWordRows *rows, Oid type, int slot, GpbRowColumn *column)
{
	column->word = slot;
	column->type = type;
	column->way = type_is_word(type) ? GPB_COLUMN_GROUP : GPB_COLUMN_TYPED;
	rows->allocates |= column->way == GPB_COLUMN_TYPED;
}

void
gpb_word_rows_start(GpbWordRows *rows, const GpbRowSources *sources,
					const GpbRangeTotals *totals, const Datum *datums)
{
	int			i;
	int			g;

	rows->datums = datums;
	rows->ngroups = sources->ngroups;
	rows->width = sizeof(GpbGroup) +
		(rows->ngroups + gpb_range_totals_format(totals)->words) * sizeof(int64);
	rows->allocates = false;
	rows->at = rows->end = NULL;
	for (i = 0; i < rows->ncolumns; i++)
	{
		GpbRowColumn *column = &rows->column[i];

		column->way = column->from < 0 ? GPB_COLUMN_CONSTANT : GPB_COLUMN_NULL;
		if (column->from < 0)
			continue;
		if (column->from < sources->nitems)
			set_item(rows, &sources->items[column->from],
					 gpb_range_totals_column(totals, column->from), column);
		else if (column->from == sources->by_number)
			column->way = GPB_COLUMN_NUMBER;
		for (g = 0; g < sources->ngroups; g++)
		{
			if (column->from == sources->column[g])
				set_group(rows, sources->type[g], g, column);
		}
	}
}

void
gpb_word_rows_take(GpbWordRows *rows, const char *first, uint64 n)
{
	rows->at = first;
	rows->end = first + n * rows->width;
}

/* ---- rows ---- */

/* The value of a column that takes more than a word */
static pg_noinline Datum
make_column(const GpbWordRows *rows, const GpbRowColumn *column, const GpbGroup *group,
			bool *isnull)
{
	if (column->way == GPB_COLUMN_ITEM)
		return gpb_aggregate_final(column->item, column->answer, group->words + rows->ngroups,
								   isnull);
	*isnull = (group->nulls >> column->word & 1) != 0;
	return *isnull ? (Datum) 0 : gpb_word_datum(column->type, group->words[column->word]);
}

static inline void
make_row(GpbWordRows *rows, const GpbGroup *group)
{
	Datum	   *values = rows->slot->tts_values;
	bool	   *isnull = rows->slot->tts_isnull;
	int			i;

	for (i = 0; i < rows->ncolumns; i++)
	{
		const GpbRowColumn *column = &rows->column[i];

		switch (column->way)
		{
			case GPB_COLUMN_WORD:
				values[i] = Int64GetDatum(group->words[column->word]);
				isnull[i] = group->words[column->counts] == 0;
				break;
			case GPB_COLUMN_GROUP:
				values[i] = Int64GetDatum(group->words[column->word]);
				isnull[i] = (group->nulls >> column->word & 1) != 0;
				break;
			case GPB_COLUMN_NUMBER:
				values[i] = rows->datums[group->number];
				isnull[i] = false;
				break;
			case GPB_COLUMN_CONSTANT:
				values[i] = column->constant->constvalue;
				isnull[i] = column->constant->constisnull;
				break;
			case GPB_COLUMN_NULL:
				isnull[i] = true;
				break;
			default:
				values[i] = make_column(rows, column, group, &isnull[i]);
		}
	}
}

TupleTableSlot *
gpb_word_rows_next(GpbWordRows *rows)
{
	TupleTableSlot *slot = rows->slot;

	while (rows->at < rows->end)
	{
		const GpbGroup *group = (const GpbGroup *) rows->at;

		rows->at += rows->width;
		if (group->words[rows->ngroups] == 0)
			continue;
		/* A slot that has a row already needs to be told nothing of the next one. */
		if (TTS_SHOULDFREE(slot))
			ExecClearTuple(slot);	/* it was materialized */
		if (rows->allocates)
		{
			MemoryContext caller;

			MemoryContextReset(rows->memory);
			caller = MemoryContextSwitchTo(rows->memory);
			make_row(rows, group);
			MemoryContextSwitchTo(caller);
		}
		else
			make_row(rows, group);
		if (TTS_EMPTY(slot))
			ExecStoreVirtualTuple(slot);
		return slot;
	}
	return NULL;
}
