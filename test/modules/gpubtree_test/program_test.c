/*-------------------------------------------------------------------------
 *
 * program_test.c
 *	  gpubtree_test_program: a batch with a program, from SQL; gpubtree_test_ask: of several indexes.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "index/index.h"
#include "engine/batch_engine.h"
#include "exec/answer/merge_groups.h"

PG_FUNCTION_INFO_V1(gpb_test_program);
PG_FUNCTION_INFO_V1(gpb_test_ask);

static const char *const operators[] = {
	"filter", "and", "or", "not", "isnull", "istrue", "eq", "ne", "lt", "le", "gt", "ge",
	"distinct", "in", "incodes", "ranked", "select", "coalesce", "least", "greatest", "add",
	"subtract", "multiply", "divide", "modulo", "negate", "abs", "int2", "int4", "ladd",
	"lsubtract", "lmultiply", "lcarry", "uadd", "usubtract", "umultiply", "forder", "fadd",
	"fsubtract", "fmultiply", "frest", "fdivide", "fnegate", "fabs", "fleast", "fgreatest",
	"itof", "ftoi", "dtots", "tstod", "dadd", "dsubtract", "tsadd", "truncate", "floordivide",
	"dtomonth", "monthtod", "months", "addmonths", "tolocal", "oflocal"
};

StaticAssertDecl(lengthof(operators) == GPB_OPERATORS, "each operator has a name");

/* The next word of the text, or NULL. */
static char *
next_word(char **text)
{
	return strtok_r(NULL, " \n", text);
}

/* A slot: "0" the key, "1" an INCLUDE column, "c0" a constant, "t0" a temporary, "-" none */
static uint8
next_slot(char **text)
{
	char	   *word = next_word(text);

	if (word == NULL || word[0] == '-')
		return GPB_NO_SLOT;
	return (uint8) (word[0] == 'c' ? GPB_FIRST_CONSTANT + atoi(word + 1) :
					word[0] == 't' ? GPB_FIRST_TEMPORARY + atoi(word + 1) : atoi(word));
}

static int64
next_number(char **text)
{
	char	   *word = next_word(text);

	return word == NULL ? 0 : strtoll(word, NULL, 10);
}

/*
 * Read a program: "const VALUE", "step OPERATOR INTO A B C GUARD", "term SLOT KIND WANT FILTER",
 * "group SLOT", "byrange", "list", "limit N ORDER DESCENDING NULLSFIRST", one after the other.
 */
static void
read_program(GpbProgram *program, char *text)
{
	char	   *rest = text;
	char	   *word = strtok_r(text, " \n", &rest);

	for (; word != NULL; word = next_word(&rest))
	{
		if (strcmp(word, "const") == 0)
			program->constant[program->nconstants++] = next_number(&rest);
		else if (strcmp(word, "step") == 0)
		{
			GpbStep    *step = &program->step[program->nsteps++];
			const char *name = next_word(&rest);

			while (step->op < GPB_OPERATORS && strcmp(operators[step->op], name) != 0)
				step->op++;
			step->into = next_slot(&rest);
			step->a = next_slot(&rest);
			step->b = next_slot(&rest);
			step->c = next_slot(&rest);
			step->guard = next_slot(&rest);
		}
		else if (strcmp(word, "term") == 0)
		{
			GpbTerm    *term = &program->term[program->nterms++];

			term->slot = next_slot(&rest);
			term->kind = (uint8) next_number(&rest);
			term->want = (uint8) next_number(&rest);
			term->filter = next_slot(&rest);
		}
		else if (strcmp(word, "group") == 0)
			program->group[program->ngroups++] = next_slot(&rest);
		else if (strcmp(word, "byrange") == 0)
			program->by_range = true;
		else if (strcmp(word, "list") == 0)
			program->list_entries = true;
		else if (strcmp(word, "limit") == 0)
		{
			program->limit = (uint32) next_number(&rest);
			program->order = next_slot(&rest);
			program->descending = next_number(&rest) != 0;
			program->nulls_first = next_number(&rest) != 0;
		}
		else
			elog(ERROR, "unknown word \"%s\" in a program", word);
	}
}

/* A row of the result: the words of a group or an answer, without those of exact sums */
static void
put_words(ReturnSetInfo *result, int64 number, int64 nulls, const int64 *words, int n)
{
	Datum	   *elements = palloc((n + 2) * sizeof(Datum));
	Datum		value;
	bool		is_null = false;
	int			i;

	elements[0] = Int64GetDatum(number);
	elements[1] = Int64GetDatum(nulls);
	for (i = 0; i < n; i++)
		elements[i + 2] = Int64GetDatum(words[i]);
	value = PointerGetDatum(construct_array(elements, n + 2, INT8OID, 8, true, TYPALIGN_DOUBLE));
	tuplestore_putvalues(result->setResult, result->setDesc, &value, &is_null);
}

/* An entry of a list as a row: its range, whether a step faulted, its values, 0 for NULL */
static void
put_entry(ReturnSetInfo *result, const GpbLayout *layout, const GpbRangeEntry *entry)
{
	uint64		locator = gpb_row_locator(entry->row);
	int64		words[GPB_MAX_COLUMNS];
	int			c;

	words[0] = gpb_locator_is_null(locator, layout->flags) ? 0 :
		gpb_key_value((uint64) gpb_entry_key(entry, layout), layout->key_width, layout->flags);
	for (c = 0; c < layout->ncolumns; c++)
		words[c + 1] = gpb_locator_column_is_null(locator, c) ? 0 :
			gpb_row_value(entry->row, layout->offset[c], layout->kind[c]);
	put_words(result, entry->number + 1, (entry->flags & GPB_RANGE_ENTRY_FAULTED) != 0, words,
			  layout->ncolumns + 1);
}

/* Put the entries of a part of a list, or of those only whose rows the caller finds in the heap. */
static void
put_part(ReturnSetInfo *result, const GpbLayout *layout, GpbRangeEntry *records, uint64 n,
		 GpbHeapVisit *visit)
{
	int			width = gpb_entry_record_width(layout);
	uint64		i;

	for (i = 0; i < n && visit == NULL; i++)
		put_entry(result, layout, gpb_entry_at(records, i, width));
	for (i = 0; i < n && visit != NULL; i += GPB_HEAP_BATCH)
	{
		GpbRangeEntry *entry;
		TupleTableSlot *slot;

		gpb_visit_start(visit, gpb_entry_at(records, i, width), (int) Min(n - i, GPB_HEAP_BATCH),
						false);
		while ((entry = gpb_visit_next(visit, NULL, NULL, &slot)) != NULL)
			put_entry(result, layout, entry);
	}
}

/* Put the whole list. */
static void
put_list(ReturnSetInfo *result, GpbBatch *batch)
{
	const GpbLayout *layout = &batch->program.layout;
	GpbHeapVisit *visit = NULL;
	GpbRangeEntry *records;
	uint64		n;

	if (batch->heap_rows)
		visit = gpb_visit_begin(batch->heap, batch->index, batch->snapshot, batch->match_width,
								NULL, NULL);
	while ((records = gpb_batch_matches(batch, &n)) != NULL)
		put_part(result, layout, records, n, visit);
	gpb_visit_end(visit);
}

/* Ranges of keys from two arrays */
static GpbKeyRange *
read_ranges(const GpbLayout *layout, ArrayType *lo_array, ArrayType *hi_array, int *n)
{
	bool		desc = (layout->flags & GPB_LAYOUT_DESC) != 0;
	GpbKeyRange *ranges;
	Datum	   *lo;
	Datum	   *hi;
	bool	   *nulls;
	int			i;

	deconstruct_array(lo_array, INT8OID, 8, true, TYPALIGN_DOUBLE, &lo, &nulls, n);
	deconstruct_array(hi_array, INT8OID, 8, true, TYPALIGN_DOUBLE, &hi, &nulls, n);
	ranges = palloc(Max(*n, 1) * sizeof(GpbKeyRange));
	for (i = 0; i < *n; i++)
	{
		ranges[i].lo = gpb_key_encode(DatumGetInt64(desc ? hi[i] : lo[i]), layout->key_width,
									  layout->flags);
		ranges[i].hi = gpb_key_encode(DatumGetInt64(desc ? lo[i] : hi[i]), layout->key_width,
									  layout->flags);
	}
	return ranges;
}

/*
 * gpubtree_test_program(index regclass, lo bigint[], hi bigint[], program text, mode text): mode is
 * "cpu" or "device", which must answer then, and may say "total".  Each row has the range's number, counted from 1, or 0;
 * the bits of NULL groups; the group's values; the words of the answer.  What the batch gave up for
 * is an error.  A program that lists has a row for each entry, see put_entry(); the mode may say
 * "rows", so that the heap is visited here, and "little" memory.
 */
Datum
gpb_test_program(PG_FUNCTION_ARGS)
{
	Relation	heap;
	Relation	index = gpb_open_index(PG_GETARG_OID(0), AccessShareLock, &heap);
	GpbLayout	layout = *gpb_layout(index);
	char	   *mode = text_to_cstring(PG_GETARG_TEXT_PP(4));
	bool		total = strstr(mode, "total") != NULL;
	GpbBatchWant want = {0};
	const GpbAnswerFormat *format;
	const char *why;
	GpbKeyRange *ranges;
	int			n;
	GpbBatch   *batch;
	int64	   *answers = NULL;
	int			i;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	read_program(&want.program, text_to_cstring(PG_GETARG_TEXT_PP(3)));
	want.form = GPB_RANGE_KEYS;
	want.heap_rows = strstr(mode, "rows") != NULL;
	want.memory = strstr(mode, "little") != NULL ? 65536 : 0;
	ranges = read_ranges(&layout, PG_GETARG_ARRAYTYPE_P(1), PG_GETARG_ARRAYTYPE_P(2), &n);
	batch = gpb_batch_begin(heap, index, GetActiveSnapshot(), &want,
							strstr(mode, "device") ? GPB_ENGINE_DEVICE : GPB_ENGINE_CPU);
	format = gpb_batch_format(batch);
	if (!total && want.program.ngroups == 0 && !want.program.list_entries)
		answers = palloc(gpb_batch_answer_width(batch) * Max(n, 1));
	gpb_batch_run(batch, ranges, (uint32) n, answers);
	if (want.program.list_entries)
		put_list((ReturnSetInfo *) fcinfo->resultinfo, batch);
	if (strstr(mode, "device") && gpb_batch_counters(batch)->requests == 0)
		elog(ERROR, "the device was not asked");
	if (gpb_batch_gave_up(batch, &why))
		ereport(ERROR, (errmsg("the batch gave up: %s", why)));
	if (want.program.list_entries)
		;						/* put already */
	else if (want.program.ngroups > 0)
	{
		const GpbGroup *group;
		uint64		at = 0;

		while ((group = gpb_batch_next_group(batch, &at)) != NULL)
			put_words((ReturnSetInfo *) fcinfo->resultinfo,
					  want.program.by_range ? group->number + 1 : 0, group->nulls,
					  group->words, want.program.ngroups + format->integers);
	}
	else if (total)
		put_words((ReturnSetInfo *) fcinfo->resultinfo, 0, 0, gpb_batch_total(batch),
				  format->integers);
	else
	{
		for (i = 0; i < n; i++)
			put_words((ReturnSetInfo *) fcinfo->resultinfo, i + 1, 0,
					  answers + (Size) i * format->words, format->integers);
	}
	gpb_batch_end(batch);
	index_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
	return (Datum) 0;
}

/* Put what was asked of all targets together. */
static void
put_answers(ReturnSetInfo *result, GpbAsk *ask, const GpbProgram *program, bool total, int n)
{
	int			words = gpb_ask_format(ask)->integers;
	int			i;

	if (program->ngroups > 0)
	{
		GpbGroupList groups;
		const GpbGroup *group;
		uint64		at = 0;

		gpb_merge_groups(ask, program, ((uint32) 1 << program->ngroups) - 1, 0, &groups);
		while ((group = gpb_group_list_next(&groups, &at)) != NULL)
			put_words(result, program->by_range ? group->number + 1 : 0, group->nulls,
					  group->words, program->ngroups + words);
	}
	else if (total)
		put_words(result, 0, 0, gpb_group_answer(ask), words);
	for (i = 0; i < n && program->ngroups == 0 && !total; i++)
		put_words(result, i + 1, 0, gpb_ask_answer(ask, i), words);
}

/*
 * gpubtree_test_ask(indexes regclass[], lo bigint[], hi bigint[], program text, mode text): like
 * gpubtree_test_program() of a program that lists nothing, with one question to all of the indexes,
 * whose columns have the same types.
 */
Datum
gpb_test_ask(PG_FUNCTION_ARGS)
{
	char	   *mode = text_to_cstring(PG_GETARG_TEXT_PP(4));
	bool		total = strstr(mode, "total") != NULL;
	PlanState	ps = {.state = CreateExecutorState()};
	GpbProgram	program = {0};
	GpbAskTarget *targets;
	GpbAskWant	want = {.program = &program, .form = GPB_RANGE_KEYS};
	GpbKeyRange *ranges;
	Datum	   *oids;
	bool	   *nulls;
	GpbAsk	   *ask;
	const char *why;
	int			n;
	int			i;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	read_program(&program, text_to_cstring(PG_GETARG_TEXT_PP(3)));
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), REGCLASSOID, 4, true, TYPALIGN_INT, &oids, &nulls,
					  &want.ntargets);
	targets = palloc(sizeof(GpbAskTarget) * want.ntargets);
	for (i = 0; i < want.ntargets; i++)
		targets[i].index = gpb_open_index(DatumGetObjectId(oids[i]), AccessShareLock,
										  &targets[i].heap);
	want.targets = targets;
	want.engine = strstr(mode, "device") ? GPB_ENGINE_DEVICE : GPB_ENGINE_CPU;
	program.layout = *gpb_layout(targets[0].index);
	ranges = read_ranges(&program.layout, PG_GETARG_ARRAYTYPE_P(1), PG_GETARG_ARRAYTYPE_P(2), &n);
	ps.state->es_snapshot = GetActiveSnapshot();
	ask = gpb_ask_begin(&ps, &want);
	why = total || program.ngroups > 0 ? gpb_ask_total(ask, ranges, (uint32) n) :
		gpb_ask_each(ask, ranges, (uint32) n);
	if (why != NULL)
		ereport(ERROR, (errmsg("no answer: %s", why)));
	put_answers((ReturnSetInfo *) fcinfo->resultinfo, ask, &program, total, n);
	gpb_ask_end(ask);
	for (i = 0; i < want.ntargets; i++)
	{
		index_close(targets[i].index, AccessShareLock);
		table_close(targets[i].heap, AccessShareLock);
	}
	FreeExecutorState(ps.state);
	return (Datum) 0;
}
