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

#include "exec/answer/item_final.h"
#include "exec/answer/word_rows.h"
#include "exec/compile/program_build.h"
#include "exec/compile/program_codes.h"

/* How a column of the row follows from a group's record */
typedef enum GpbColumnWay
{
	GPB_COLUMN_WORD,			/* a word is the value, NULL if another word is 0 */
	GPB_COLUMN_GROUP,			/* the value of a group slot, as a word */
	GPB_COLUMN_TYPED,			/* the value of a group slot, whose word is no value of the type */
	GPB_COLUMN_NUMBER,			/* by the group's number */
	GPB_COLUMN_ITEM				/* an aggregate that is computed */
} GpbColumnWay;

/* A column that is not the same in all rows; words are those behind a record's header */
typedef struct GpbRowColumn
{
	uint8		way;			/* GpbColumnWay */
	int16		at;				/* column of the row */
	int16		word;			/* the value, or the group slot's */
	int16		counts;			/* the word that is 0 if the value is NULL */
} GpbRowColumn;

/* What else is known of a column of the row */
typedef struct GpbRowSource
{
	int			from;			/* column of the scan tuple; -1: a constant */
	const Const *constant;		/* core puts NULL where nobody reads a subquery's output */
	GpbWordType type;
	const GpbAggregateItem *item;
	const GpbAnswerColumn *answer;
} GpbRowSource;

struct GpbWordRows
{
	GpbCodeSource codes;
	const char *at;				/* groups that are not rows yet */
	const char *end;
	Size		width;
	TupleTableSlot *slot;
	const Datum *datums;
	int			ngroups;
	bool		allocates;		/* some column is not passed by value */
	int			nvarying;
	GpbRowColumn *varying;
	MemoryContext memory;		/* of a row */
	int			ncolumns;
	GpbRowSource source[FLEXIBLE_ARRAY_MEMBER];
};

/* ---- begin ---- */

/* Fill in what an expression of the target list is; false if neither a column nor a constant. */
static bool
find_source(const Expr *expr, GpbRowSource *source)
{
	const Var  *var = (const Var *) expr;

	if (IsA(expr, Const))
	{
		source->from = -1;
		source->constant = (const Const *) expr;
		return true;
	}
	if (!IsA(expr, Var) || var->varno != INDEX_VAR || var->varattno <= 0)
		return false;
	source->from = var->varattno - 1;
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
	rows = palloc0(offsetof(GpbWordRows, source) + n * sizeof(GpbRowSource));
	rows->varying = palloc(n * sizeof(GpbRowColumn));
	rows->slot = slot;
	rows->memory = ps->ps_ExprContext->ecxt_per_tuple_memory;
	rows->ncolumns = n;
	for (i = 0; i < n; i++)
	{
		rows->source[i].from = i;
		if (projects && !find_source(list_nth_node(TargetEntry, list, i)->expr, &rows->source[i]))
			return NULL;
	}
	return rows;
}

/* ---- start ---- */

/* Is an aggregate a word of the answer?  Then fill in which, and which one counts its values. */
static bool
item_is_word(const GpbAggregateItem *item, const GpbAnswerColumn *answer, GpbRowColumn *column)
{
	bool		small = item->type.sql == INT2OID || item->type.sql == INT4OID;

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
			return small || item->type.sql == INT8OID;
		default:
			return false;
	}
}

/* Are values of the type the words themselves? */
static bool
type_is_word(GpbWordType type)
{
	return type.sql == INT2OID || type.sql == INT4OID || type.sql == INT8OID ||
		type.sql == DATEOID || type.sql == TIMESTAMPOID || type.sql == TIMESTAMPTZOID ||
		type.sql == FLOAT8OID;
}

/* Make a column vary; false if it is a column of the scan tuple that has no value. */
static bool
set_column(GpbRowSource *source, const GpbRowSources *sources, const GpbAsk *ask,
		   GpbRowColumn *column)
{
	int			g;

	if (source->from < sources->nitems)
	{
		source->item = &sources->items[source->from];
		source->answer = gpb_ask_column(ask, source->from);
		column->way = item_is_word(source->item, source->answer, column) ?
			GPB_COLUMN_WORD : GPB_COLUMN_ITEM;
		column->word += sources->ngroups;
		column->counts += sources->ngroups;
		return true;
	}
	if (source->from == sources->by_number)
	{
		column->way = GPB_COLUMN_NUMBER;
		return true;
	}
	for (g = 0; g < sources->ngroups; g++)
	{
		if (source->from != sources->column[g])
			continue;
		source->type = sources->type[g];
		column->way = type_is_word(source->type) ? GPB_COLUMN_GROUP : GPB_COLUMN_TYPED;
		column->word = g;
		return true;
	}
	return false;
}

/* Give the slot what is the same in all rows, beside a row. */
static void
set_constants(GpbWordRows *rows)
{
	int			i;

	for (i = 0; i < rows->ncolumns; i++)
	{
		const Const *constant = rows->source[i].constant;

		rows->slot->tts_values[i] = constant == NULL ? (Datum) 0 : constant->constvalue;
		rows->slot->tts_isnull[i] = constant == NULL || constant->constisnull;
	}
}

void
gpb_word_rows_start(GpbWordRows *rows, const GpbRowSources *sources,
					const GpbAsk *ask, const Datum *datums)
{
	int			i;

	rows->codes = sources->codes;
	rows->datums = datums;
	rows->ngroups = sources->ngroups;
	rows->width = sizeof(GpbGroup) +
		(rows->ngroups + gpb_ask_format(ask)->words) * sizeof(int64);
	rows->allocates = false;
	rows->at = rows->end = NULL;
	rows->nvarying = 0;
	for (i = 0; i < rows->ncolumns; i++)
	{
		GpbRowColumn *column = &rows->varying[rows->nvarying];

		memset(column, 0, sizeof(*column));
		column->at = (int16) i;
		if (rows->source[i].from < 0 ||
			!set_column(&rows->source[i], sources, ask, column))
			continue;
		rows->nvarying++;
		rows->allocates |= column->way == GPB_COLUMN_ITEM || column->way == GPB_COLUMN_TYPED;
	}
	ExecClearTuple(rows->slot);
	set_constants(rows);
}

/* ---- rows ---- */

/* The value of a column that takes more than a word */
static pg_noinline Datum
make_column(const GpbWordRows *rows, const GpbRowColumn *column, const GpbGroup *group,
			bool *isnull)
{
	const GpbRowSource *source = &rows->source[column->at];

	if (column->way == GPB_COLUMN_ITEM)
		return gpb_aggregate_final(rows->codes.index, source->item, source->answer,
								   group->words + rows->ngroups, isnull);
	*isnull = (group->nulls >> column->word & 1) != 0;
	return *isnull ? (Datum) 0 :
		gpb_words_value(&rows->codes, source->type, &group->words[column->word]);
}

static pg_attribute_always_inline void
make_row(GpbWordRows *rows, const GpbGroup *group)
{
	Datum	   *values = rows->slot->tts_values;
	bool	   *isnull = rows->slot->tts_isnull;
	const GpbRowColumn *column = rows->varying;
	const GpbRowColumn *end = column + rows->nvarying;

	for (; column < end; column++)
	{
		int			at = column->at;

		switch (column->way)
		{
			case GPB_COLUMN_WORD:
				values[at] = Int64GetDatum(group->words[column->word]);
				isnull[at] = group->words[column->counts] == 0;
				break;
			case GPB_COLUMN_GROUP:
				values[at] = Int64GetDatum(group->words[column->word]);
				isnull[at] = (group->nulls >> column->word & 1) != 0;
				break;
			case GPB_COLUMN_NUMBER:
				values[at] = rows->datums[group->number];
				isnull[at] = false;
				break;
			default:
				values[at] = make_column(rows, column, group, &isnull[at]);
		}
	}
}

/* Make a row of which something is allocated; what the row before had of that goes. */
static pg_noinline void
make_row_in_memory(GpbWordRows *rows, const GpbGroup *group)
{
	MemoryContext caller;

	MemoryContextReset(rows->memory);
	caller = MemoryContextSwitchTo(rows->memory);
	make_row(rows, group);
	MemoryContextSwitchTo(caller);
}

/* The next row of the groups at hand; NULL if all have been made rows. */
static inline TupleTableSlot *
next_at_hand(GpbWordRows *rows)
{
	TupleTableSlot *slot = rows->slot;

	while (rows->at < rows->end)
	{
		const GpbGroup *group = (const GpbGroup *) rows->at;

		rows->at += rows->width;
		if (group->words[rows->ngroups] == 0)
			continue;
		/* A slot that has a row already needs to be told nothing of the next one. */
		if (unlikely(TTS_SHOULDFREE(slot)))
		{
			ExecClearTuple(slot);	/* it was materialized */
			set_constants(rows);
		}
		if (rows->allocates)
			make_row_in_memory(rows, group);
		else
			make_row(rows, group);
		if (TTS_EMPTY(slot))
			ExecStoreVirtualTuple(slot);
		return slot;
	}
	return NULL;
}

TupleTableSlot *
gpb_word_rows_next(GpbWordRows *rows, const GpbGroupList *groups, uint64 *at)
{
	for (;;)
	{
		TupleTableSlot *row = next_at_hand(rows);
		uint64		n;

		if (row != NULL)
			return row;
		n = gpb_group_list_adjacent(groups, *at, &rows->at);
		if (n == 0)
			return NULL;
		rows->end = rows->at + n * rows->width;
		*at += n;
	}
}
