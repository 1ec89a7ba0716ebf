/*-------------------------------------------------------------------------
 *
 * aggregate_shard_rows.c
 *	  Rows of groups that shards return, as groups of the node's program.
 *
 * A row becomes a record as an engine would have made it of the same rows: the words of the group
 * and of the answer.  So what is merged with it need not know where it comes from.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/answer/item_number.h"
#include "exec/bind/program_bind_safe.h"
#include "exec/functions/core_aggregate.h"
#include "exec/partial/partial.h"
#include "page/numeric.h"
#include "program/answer.h"

/* The columns of a row: the state, which is NULL, the program's number, and those of groups */
#define SHARD_PROGRAM_COLUMN	1
#define SHARD_FIRST_COLUMN		2

/* Where a column of the rows goes */
typedef struct GpbShardPlace
{
	GpbShardPart part;
	Oid			type;			/* of the column's values */
	GpbWordType words;			/* of a group's value, or of an item's */
	int			slot;			/* of a group: its first */
	const GpbAnswerColumn *column;	/* of an item */
	GpbAnswerColumn state[GPB_PARTIAL_RESTS + 1];	/* of a state: that of each of its terms, or of
													 * each of an item's of numerics, with the words
													 * that it fills; all zeros: none */
	GpbPartialKind kind;		/* of the state */
	const GpbPartialType *values;	/* of the state: the type of its values */
	FuncExpr   *call;			/* of moments: what makes groups of them */
	const GpbTruncUnit *unit;	/* of the call */
	ExprState  *result;
} GpbShardPlace;

struct GpbShardRows
{
	int			program;
	int			first;			/* the first of its columns in a row, counted from 0 */
	bool		narrow;			/* exact sums are narrow: there are values that such do not hold */
	GpbAnswerFormat format;		/* of answers with such sums */
	Size		width;			/* of a record */
	GpbGroup   *group;			/* the row at hand */
	MemoryContext work;			/* of it */
	int64		first_moment;	/* of the bin at hand, if its moments are not NULL */
	int64		first_group;	/* of that moment, likewise */
	int			n;
	GpbShardPlace *place;
};

/* ---- begin ---- */

/* The column of an answer that has this number, of a term or of a plain program's column */
static const GpbAnswerColumn *
find_column(const GpbAnswerFormat *format, int number)
{
	for (int i = 0; i < format->ncolumns; i++)
	{
		if (format->column[i].column == number)
			return &format->column[i];
	}
	elog(ERROR, "an answer has no column %d", number);
}

/* Does a state before this one fill the column? */
static bool
is_filled(const GpbShardRows *rows, const GpbShardPlace *before, const GpbAnswerColumn *column)
{
	for (const GpbShardPlace *place = rows->place; place < before; place++)
	{
		for (int term = 0; term < lengthof(place->state); term++)
		{
			if (place->state[term].count == column->count)
				return true;
		}
	}
	return false;
}

/* Find out which columns of the answer a term of a state fills. */
static void
place_term(const GpbShardRows *rows, int number, int term, GpbShardPlace *place)
{
	const GpbAnswerColumn *column;

	if (number == GPB_NO_TERM)
		return;
	column = find_column(&rows->format, number);
	if (is_filled(rows, place, column))
		return;
	place->state[term] = *column;
	/* bounds of pairs, and bits, are other columns' affair */
	if (place->kind == GPB_PARTIAL_OF_PAIRS)
		place->state[term].minmax = 0;
	place->state[term].bits_and = place->state[term].bits_or = place->state[term].bits_xor = 0;
}

/*
 * Find out which columns of the answer a state of numerics fills: those of all items of the same
 * values, of which some may have terms that others lack.
 */
static void
place_numerics(const GpbShardRows *rows, const GpbSubprogram *sub, int column,
			   GpbShardPlace *place)
{
	place_term(rows, column, GPB_NUMERICS_UPPER, place);
	for (int i = 0; i < sub->nitems; i++)
	{
		const GpbItemTerms *terms = &sub->items[i].terms;

		if (sub->items[i].column != column)
			continue;
		place_term(rows, terms->lower, GPB_NUMERICS_LOWER, place);
		place_term(rows, terms->cross_upper, GPB_NUMERICS_CROSS_UPPER, place);
		place_term(rows, terms->cross_lower, GPB_NUMERICS_CROSS_LOWER, place);
	}
}

/*
 * Find out which columns of the answer a state fills: that of the item, which of pairs is of X, or
 * of Y alone, and those of its other terms.
 */
static void
place_state(const GpbShardRows *rows, const GpbSubprogram *sub, const GpbAggregateItem *item,
			GpbShardPlace *place)
{
	const GpbAggregate *known = gpb_find_aggregate(item->aggregate);
	bool		of_y = known->input == GPB_INPUT_Y;

	place->kind = gpb_input_is_pair(known->input) ? GPB_PARTIAL_OF_PAIRS :
		place->column->float_squares != 0 || place->column->squares != 0 ?
		GPB_PARTIAL_OF_MOMENTS : GPB_PARTIAL_OF_SUMS;
	place->values = gpb_partial_type(place->kind == GPB_PARTIAL_OF_PAIRS ? FLOAT8OID :
									 item->type.sql);
	if (item->type.sql == NUMERICOID)
	{
		place_numerics(rows, sub, item->column, place);
		return;
	}
	place_term(rows, item->column, of_y ? GPB_PARTIAL_Y : GPB_PARTIAL_X, place);
	if (!of_y)
		place_term(rows, item->terms.y, GPB_PARTIAL_Y, place);
	place_term(rows, item->terms.products, GPB_PARTIAL_PRODUCTS, place);
	place_term(rows, item->terms.rests, GPB_PARTIAL_RESTS, place);
}

/* The item that a column of the rows is about, an aggregate or the FILTER of a by-value one */
static const GpbAggregateItem *
find_item(const GpbSubprogram *sub, int number)
{
	return number < sub->nitems ? &sub->items[number] :
		&sub->values.items[number - sub->nitems].filter;
}

/* The first group slot of a program that has an expression of the query, or the value, behind it */
static int
find_slot(const GpbAggregatePlan *plan, const GpbSubprogram *sub, int number)
{
	if (number == plan->ngroups)
		return sub->ngroups;
	for (int slot = 0; slot < sub->ngroups; slot++)
	{
		if (sub->group[slot] == number)
			return slot;
	}
	elog(ERROR, "a program has no group number %d", number);
}

/* Find out where a column of the rows goes. */
static void
find_place(const GpbAggregatePlan *plan, const GpbSubprogram *sub, const GpbShardRows *rows,
		   const GpbShardColumn *from, GpbShardPlace *place)
{
	place->part = from->part;
	place->type = from->type;
	if (from->part < GPB_SHARD_ROWS)
	{
		place->words = from->number < plan->ngroups ? plan->group_types[from->number] :
			sub->values.type;
		place->slot = find_slot(plan, sub, from->number);
	}
	else if (from->part != GPB_SHARD_ROWS)
	{
		const GpbAggregateItem *item = find_item(sub, from->number);

		place->words = item->type;
		place->column = find_column(&rows->format, item->column);
		if (from->part == GPB_SHARD_STATE)
			place_state(rows, sub, item, place);
	}
}

/* Find out where all columns go; each bin has one for its first moment, and one for its last. */
static void
find_places(GpbAggregateScan *scan, GpbShardRows *rows)
{
	const GpbAggregatePlan *plan = &scan->plan;
	const GpbShardForm *form = &plan->shards[rows->program];
	List	   *bins = list_nth(plan->bins, rows->program);
	int			moments = 0;

	rows->n = form->n;
	rows->place = palloc0(sizeof(GpbShardPlace) * rows->n);
	for (int i = 0; i < rows->n; i++)
	{
		GpbShardPlace *place = &rows->place[i];

		find_place(plan, &scan->subs[rows->program], rows, &form->column[i], place);
		if (place->part != GPB_SHARD_FIRST && place->part != GPB_SHARD_LAST)
			continue;
		place->call = list_nth_node(FuncExpr, bins, moments++ / 2);
		place->unit =
			gpb_trunc_unit(DatumGetTextPP(linitial_node(Const, place->call->args)->constvalue));
		place->result = ExecInitExpr((Expr *) place->call, &scan->node.css.ss.ps);
	}
}

/*
 * Prepare to read the rows of a program, with narrow sums or wide ones.  Memory is of the query's
 * context, and what is prepared is so for all executions.
 */
static GpbShardRows *
begin_rows(GpbAggregateScan *scan, int number, bool narrow)
{
	MemoryContext caller = MemoryContextSwitchTo(scan->node.css.ss.ps.state->es_query_cxt);
	GpbProgram	program = *gpb_ask_program(scan->subs[number].ask);
	GpbShardRows *rows = palloc0(sizeof(GpbShardRows));

	program.narrow_sums = rows->narrow = narrow;
	gpb_answer_format(&program, &rows->format);
	rows->width = gpb_group_width(&program, &rows->format);
	rows->group = palloc0(rows->width);
	rows->work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree shard row",
									   ALLOCSET_DEFAULT_SIZES);
	rows->program = number;
	rows->first = SHARD_FIRST_COLUMN;
	for (int i = 0; i < number; i++)
		rows->first += scan->plan.shards[i].n;
	find_places(scan, rows);
	MemoryContextSwitchTo(caller);
	return rows;
}

/* ---- a row ---- */

/* Set the words of a group slot.  Returns false if no words say the value. */
static bool
set_group(GpbAggregateScan *scan, const GpbShardPlace *place, Datum value, bool isnull,
		  GpbGroup *group)
{
	int			n = gpb_type_words(place->words);
	struct varlena *bytes;

	for (int i = 0; i < n; i++)
		group->words[place->slot + i] = 0;
	if (isnull)
	{
		group->nulls |= (((uint32) 1 << n) - 1) << place->slot;
		return true;
	}
	if (place->words.class != GPB_WORDS_CODE)
		return gpb_datum_words(place->words, value, &group->words[place->slot]);
	bytes = PG_DETOAST_DATUM_PACKED(value);
	group->words[place->slot] = gpb_texts_number(scan->texts, VARDATA_ANY(bytes),
												 VARSIZE_ANY_EXHDR(bytes));
	return true;
}

/*
 * Set the 128 bits of a sum.  Returns false if it has more, or digits that the values cannot have.
 */
static bool
set_sum(const GpbShardPlace *place, Datum value, int64 *answer)
{
	int			scale = place->words.sql == NUMERICOID ? place->words.scale : 0;
	int64	   *sum = answer + place->column->sum;
	int128		number;

	if (place->type == INT8OID)
		number = DatumGetInt64(value);
	else if (!gpb_wide_numeric_fits(value, scale, &number))
		return false;
	if (place->type != INT8OID && number == GPB_WIDE_NUMERIC_NAN)
	{
		/* the sum is that of NaN, which is the greatest value */
		if (place->words.class != GPB_WORDS_NUMERIC || place->column->minmax == 0)
			return false;
		answer[place->column->minmax + 1] = GPB_NUMERIC_NAN;
		number = 0;
	}
	sum[0] = (int64) number;
	sum[1] = (int64) (number >> 64);
	return true;
}

/* Set the least or the greatest value. */
static bool
set_bound(const GpbShardPlace *place, Datum value, int64 *answer)
{
	int			greatest = place->part == GPB_SHARD_GREATEST;
	int64		words[2];

	if (!gpb_datum_words(place->words, value, words))
		return false;
	if (place->column->halves != 0)
		memcpy(answer + place->column->halves + 2 * greatest, words, sizeof(words));
	else
		answer[place->column->minmax + greatest] =
			place->column->kind == GPB_KIND_FLOAT8 ? gpb_float_order(words[0]) : words[0];
	return true;
}

/* Set the bounds of numerics.  Returns false if no words say them. */
static bool
set_numeric_bounds(const GpbShardPlace *place, const GpbPartialNumerics *numerics, int64 *answer)
{
	const GpbAnswerColumn *column = &place->state[GPB_NUMERICS_UPPER];
	Numeric		bounds[] = {numerics->least, numerics->greatest};

	for (int i = 0; i < lengthof(bounds); i++)
	{
		int64		words[2];

		if (!gpb_datum_words(place->words, NumericGetDatum(bounds[i]), words))
			return false;
		if (column->halves != 0)
			memcpy(answer + column->halves + 2 * i, words, sizeof(words));
		/* of values of 16 bytes they are those of the upper halves */
		if (column->minmax != 0)
			answer[column->minmax + i] = words[0];
	}
	return true;
}

/*
 * Set what a state of numerics says of the answer.  Sums of the halves of values of 16 bytes are
 * whatever makes the same sums of them.  Returns false if no words say it.
 */
static bool
set_numerics(const GpbShardPlace *place, const GpbPartialNumerics *numerics, int64 *answer)
{
	const GpbAnswerColumn *column = &place->state[GPB_NUMERICS_UPPER];
	GpbNumericsWords words = {0};
	bool		wide = gpb_type_is_wide(place->words);

	if (numerics->infinity || numerics->minus_infinity ||
		(column->count != 0 && !set_numeric_bounds(place, numerics, answer)))
		return false;
	if (!numerics->nan &&
		!gpb_numerics_words(numerics->sum, numerics->squares, numerics->count, place->words.scale,
							wide, &words))
		return false;
	for (int term = 0; term < lengthof(place->state); term++)
	{
		column = &place->state[term];
		if (column->count == 0)
			continue;
		answer[column->count] = numerics->count;
		if (column->sum != 0)
			memcpy(answer + column->sum, words.sum[term], sizeof(words.sum[term]));
		if (column->squares != 0)
			memcpy(answer + column->squares, words.squares[term], sizeof(words.squares[term]));
	}
	return true;
}

/* Set what a partial state says of the answer.  Returns false if no words say it. */
static bool
set_state(const GpbShardPlace *place, Datum value, int64 *answer)
{
	bytea	   *bytes = DatumGetByteaPP(value);

	if (!gpb_partial_is(bytes, place->kind, place->values))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("a shard returned a partial state of another kind than it was asked for")));
	if (place->values->sql == NUMERICOID)
		return set_numerics(place, gpb_partial_read(bytes)->numerics, answer);
	for (int term = 0; term < lengthof(place->state); term++)
	{
		const GpbAnswerColumn *column = &place->state[term];

		if (column->count == 0)
			continue;
		/* another column of the row may have counted the same values, and added them */
		answer[column->count] = 0;
		if (column->sum != 0)
			answer[column->sum] = answer[column->sum + 1] = 0;
	}
	if (!gpb_partial_add_to_answer(bytes, place->state, answer))
		return false;
	for (int term = 0; term < lengthof(place->state); term++)
		gpb_answer_carry(&place->state[term], answer);
	return true;
}

/* Set what a column says of the answer, which is that of no rows otherwise. */
static bool
set_answer(const GpbShardPlace *place, Datum value, int64 *answer)
{
	switch (place->part)
	{
		case GPB_SHARD_ROWS:
			answer[0] = DatumGetInt64(value);
			return true;
		case GPB_SHARD_COUNT:
			answer[place->column->count] = DatumGetInt64(value);
			return true;
		case GPB_SHARD_SUM:
			return set_sum(place, value, answer);
		case GPB_SHARD_LEAST:
		case GPB_SHARD_GREATEST:
			return set_bound(place, value, answer);
		case GPB_SHARD_AND:
			answer[place->column->bits_and] = gpb_datum_word(place->words, value);
			return true;
		case GPB_SHARD_OR:
			answer[place->column->bits_or] = gpb_datum_word(place->words, value);
			return true;
		case GPB_SHARD_XOR:
			answer[place->column->bits_xor] = gpb_datum_word(place->words, value);
			return true;
		case GPB_SHARD_STATE:
			return set_state(place, value, answer);
		default:
			elog(ERROR, "column of kind %d in a shard's rows", place->part);
	}
}

/* The group of a moment */
static Datum
group_of(const GpbAggregateScan *scan, const GpbShardPlace *place, Datum moment, bool *isnull)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;

	econtext->caseValue_datum = moment;
	econtext->caseValue_isNull = false;
	return ExecEvalExpr(place->result, econtext, isnull);
}

/*
 * Set the words of a bin's group by its first moment, or look whether the last one's are the same.
 * Returns false if they are not, or if there are others between.
 */
static bool
set_moment(GpbAggregateScan *scan, GpbShardRows *rows, const GpbShardPlace *place, Datum moment,
		   bool isnull)
{
	GpbGroup   *group = rows->group;
	bool		is_last = place->part == GPB_SHARD_LAST;
	int64		words[2];
	Datum		value = 0;

	if (is_last && !isnull && (group->nulls >> place->slot & 1) == 0 &&
		gpb_shard_bin_reaches(place->call, place->unit, rows->first_group, DatumGetInt64(moment)))
		return true;
	if (!isnull)
		value = group_of(scan, place, moment, &isnull);
	if (!is_last)
	{
		rows->first_moment = DatumGetInt64(moment);
		rows->first_group = DatumGetInt64(value);
		return set_group(scan, place, value, isnull, group);
	}
	if (isnull || (group->nulls >> place->slot & 1) != 0)
		return isnull == ((group->nulls >> place->slot & 1) != 0);
	return gpb_datum_words(place->words, value, words) && words[0] == group->words[place->slot] &&
		gpb_shard_bin_is_steady(place->call, rows->first_moment, DatumGetInt64(moment));
}

/* Set the words of a row's group that a column says. */
static bool
set_slot(GpbAggregateScan *scan, GpbShardRows *rows, const GpbShardPlace *place, Datum value,
		 bool isnull)
{
	return place->part == GPB_SHARD_GROUP ?
		set_group(scan, place, value, isnull, rows->group) :
		set_moment(scan, rows, place, value, isnull);
}

/* Make the record of a row.  Returns false if no words say it. */
static bool
read_row(GpbAggregateScan *scan, GpbShardRows *rows, TupleTableSlot *row)
{
	GpbGroup   *group = rows->group;
	int64	   *answer = group->words + scan->subs[rows->program].program.ngroups;

	group->number = group->nulls = 0;
	gpb_answer_init(&rows->format, answer);
	for (int i = 0; i < rows->n; i++)
	{
		const GpbShardPlace *place = &rows->place[i];
		Datum		value = row->tts_values[rows->first + i];
		bool		isnull = row->tts_isnull[rows->first + i];

		if (place->part == GPB_SHARD_BIN)
			continue;
		if (!isnull)
			value = gpb_shard_value(place->type, value);
		if (place->part < GPB_SHARD_ROWS)
		{
			if (!set_slot(scan, rows, place, value, isnull))
				return false;
		}
		else if (!isnull && !set_answer(place, value, answer))
			return false;
	}
	return true;
}

/* ---- errors ---- */

/* What a foreign scan's wrapper does, within a context that names the shard */
typedef struct GpbNamedRoutine
{
	FdwRoutine	routine;		/* of the scan: ours, which call core's */
	const FdwRoutine *core;
	const char *partition;
	const char *server;
} GpbNamedRoutine;

static void
add_context(void *argument)
{
	const GpbNamedRoutine *shard = argument;

	errcontext("partition \"%s\" on server \"%s\"", shard->partition, shard->server);
}

/* Say which shard it is, whose errors are named. */
static void
name_shard(ForeignScanState *scan)
{
	if (IsA(scan, ForeignScanState))
		add_context((void *) scan->fdwroutine);
}

/* Do something of a scan's, a ForeignScanState or an AsyncRequest of one, within its context. */
#define IN_CONTEXT(scan, call) \
	do { \
		const GpbNamedRoutine *shard = (const GpbNamedRoutine *) (scan)->fdwroutine; \
		ErrorContextCallback context = {error_context_stack, add_context, (void *) shard}; \
		error_context_stack = &context; \
		call; \
		error_context_stack = context.previous; \
	} while (0)

static TupleTableSlot *
iterate(ForeignScanState *scan)
{
	TupleTableSlot *row;

	IN_CONTEXT(scan, row = shard->core->IterateForeignScan(scan));
	return row;
}

static void
rescan(ForeignScanState *scan)
{
	IN_CONTEXT(scan, shard->core->ReScanForeignScan(scan));
}

static void
request(AsyncRequest *areq)
{
	IN_CONTEXT((ForeignScanState *) areq->requestee, shard->core->ForeignAsyncRequest(areq));
}

static void
configure_wait(AsyncRequest *areq)
{
	IN_CONTEXT((ForeignScanState *) areq->requestee,
			   shard->core->ForeignAsyncConfigureWait(areq));
}

static void
notify(AsyncRequest *areq)
{
	IN_CONTEXT((ForeignScanState *) areq->requestee, shard->core->ForeignAsyncNotify(areq));
}

/* Let errors of a foreign scan name its partition and server. */
static void
name_errors(ForeignScanState *scan)
{
	const ForeignScan *plan = castNode(ForeignScan, scan->ss.ps.plan);
	const RangeTblEntry *rte = exec_rt_fetch(bms_next_member(plan->fs_relids, -1),
											 scan->ss.ps.state);
	GpbNamedRoutine *shard = palloc(sizeof(GpbNamedRoutine));

	shard->routine = *scan->fdwroutine;
	shard->core = scan->fdwroutine;
	shard->partition = get_rel_name(rte->relid);
	shard->server = GetForeignServer(plan->fs_server)->servername;
	shard->routine.IterateForeignScan = iterate;
	shard->routine.ReScanForeignScan = rescan;
	if (shard->core->ForeignAsyncRequest != NULL)
	{
		shard->routine.ForeignAsyncRequest = request;
		shard->routine.ForeignAsyncConfigureWait = configure_wait;
		shard->routine.ForeignAsyncNotify = notify;
	}
	scan->fdwroutine = &shard->routine;
}

/*
 * A plan below a node, which may be a shard's: add what it sends and may fail to the list, unless
 * another sends it too, and return the list.
 */
static List *
begin_shard(PlanState *ps, List *sent)
{
	ListCell   *lc;

	if (!IsA(ps, ForeignScanState))
		return sent;
	name_errors((ForeignScanState *) ps);
	foreach(lc, castNode(ForeignScan, ps->plan)->fdw_exprs)
	{
		if (gpb_sent_may_fail(lfirst(lc)))
			sent = list_append_unique(sent, lfirst(lc));
	}
	return sent;
}

/* The foreign scans below a node are shards' where they are its child, or its Append's. */
void
gpb_shards_begin(GpbAggregateScan *scan)
{
	AppendState *append = (AppendState *) scan->node.child;
	List	   *sent = begin_shard(scan->node.child, NIL);

	for (int i = 0; IsA(append, AppendState) && i < append->as_nplans; i++)
		sent = begin_shard(append->appendplans[i], sent);
	scan->sent = ExecInitExprList(sent, &scan->node.css.ss.ps);
	scan->sent_params = gpb_executor_params((Node *) sent);
}

/* ---- what is sent ---- */

static const char *
evaluate_sent(void *argument)
{
	const GpbAggregateScan *scan = argument;
	ListCell   *lc;

	foreach(lc, scan->sent)
	{
		bool		isnull;

		(void) ExecEvalExpr(lfirst(lc), scan->node.css.ss.ps.ps_ExprContext, &isnull);
	}
	return NULL;
}

const char *
gpb_shards_try_sent(GpbAggregateScan *scan)
{
	return scan->sent == NIL ? NULL :
		gpb_evaluate_safely(evaluate_sent, scan, scan->sent_params,
							scan->node.css.ss.ps.ps_ExprContext);
}

/* ---- merging ---- */

/* A row that is merged */
typedef struct GpbShardRow
{
	const GpbAggregateScan *scan;
	const TupleTableSlot *slot;
} GpbShardRow;

/* Name the shard whose row it is: an Append returns the very row of its plan. */
static void
add_row_context(void *argument)
{
	const GpbShardRow *row = argument;
	AppendState *append = (AppendState *) row->scan->node.child;

	if (!IsA(append, AppendState))
		name_shard((ForeignScanState *) append);
	for (int i = 0; IsA(append, AppendState) && i < append->as_nplans; i++)
	{
		if (append->appendplans[i]->ps_ResultTupleSlot == row->slot)
			name_shard((ForeignScanState *) append->appendplans[i]);
	}
}

/* What reads the rows of a program: first with narrow sums, where groups have such */
static GpbShardRows *
rows_of(GpbAggregateScan *scan, int program)
{
	if (scan->shard_rows == NULL)
		scan->shard_rows = MemoryContextAllocZero(scan->node.css.ss.ps.state->es_query_cxt,
												  sizeof(GpbShardRows *) * scan->nsubs);
	if (scan->shard_rows[program] == NULL)
		scan->shard_rows[program] =
			begin_rows(scan, program, gpb_ask_program(scan->subs[program].ask)->ngroups > 0);
	return scan->shard_rows[program];
}

/* Make the record of a row, whose errors name the shard.  Returns false if no words say it. */
static bool
make_record(GpbAggregateScan *scan, GpbShardRows *rows, TupleTableSlot *row)
{
	GpbShardRow of_shard = {scan, row};
	ErrorContextCallback context = {error_context_stack, add_row_context, &of_shard};
	MemoryContext caller = MemoryContextSwitchTo(rows->work);
	bool		has_words;

	error_context_stack = &context;
	has_words = read_row(scan, rows, row);
	error_context_stack = context.previous;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(rows->work);
	return has_words;
}

const char *
gpb_shards_merge(GpbAggregateScan *scan, TupleTableSlot *row)
{
	GpbShardRows *rows;
	bool		has_words;

	slot_getallattrs(row);
	rows = rows_of(scan, DatumGetInt32(row->tts_values[SHARD_PROGRAM_COLUMN]));
	has_words = make_record(scan, rows, row);
	if (!has_words && rows->narrow)
	{
		/* from now on sums are wide, as those that it is merged with are */
		MemoryContextDelete(rows->work);
		rows = scan->shard_rows[rows->program] = begin_rows(scan, rows->program, false);
		has_words = make_record(scan, rows, row);
	}
	if (!has_words)
		return "a shard has a value for which the index has no room";
	scan->states++;
	if (!gpb_collected_merge(gpb_ask_collected(scan->subs[rows->program].ask),
							 (const char *) rows->group, 1, rows->narrow))
		return "more groups than hash_mem holds";
	return NULL;
}
