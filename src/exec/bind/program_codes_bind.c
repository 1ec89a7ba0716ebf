/*-------------------------------------------------------------------------
 *
 * program_codes_bind.c
 *	  Conditions on values of a dictionary, and their order, evaluated when a node runs.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/bind/texts.h"
#include "exec/compile/program_codes.h"
#include "exec/compile/program_words.h"
#include "index/dictionary.h"
#include "program/program_steps.h"

/* Values after which memory is given back */
#define GPB_CODES_TOGETHER	1024

Datum
gpb_words_value(const GpbCodeSource *codes, GpbWordType type, const int64 *words)
{
	if (type.class != GPB_WORDS_CODE && type.class != GPB_WORDS_RANKED)
		return gpb_words_datum(type, words);
	if (codes->texts != NULL)
		return gpb_texts_value(codes->texts, (uint32) words[0]);
	/* below a rank it is the lower half */
	return gpb_dictionary_value(codes->index, codes->dictionary != NULL ? codes->dictionary :
								gpb_dictionary(codes->index), type.column, (uint32) words[0]);
}

/* What a condition is for the codes of a column */
typedef struct GpbJudgedCodes
{
	uint32		ncodes;			/* of all columns, when the evaluation began */
	uint64	   *bits[2];		/* a bit for each code for which it is false, or true */
	uint32		n[2];			/* their number */
	uint32		first[2];		/* the least and the greatest of them, if there is one */
	uint32		last[2];
	int64		nulls;
} GpbJudgedCodes;

/*
 * Evaluate the condition for the value of each code of the column.  The dictionary may get more of
 * them meanwhile, by a subquery in the condition; no row that the snapshot sees has one of these.
 */
static void
evaluate_all(ExprState *condition, ExprContext *econtext, const GpbDictionaryCopy *copy,
			 int column, GpbJudgedCodes *codes)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree codes",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(work);

	for (uint32 code = 0; code < codes->ncodes; code++)
	{
		bool		isnull;
		int			result;

		if (code % GPB_CODES_TOGETHER == 0)
		{
			CHECK_FOR_INTERRUPTS();
			MemoryContextReset(work);
		}
		if (gpb_copied_value(copy, code)->column != column)
			continue;
		econtext->caseValue_datum = PointerGetDatum(gpb_copied_value(copy, code)->header);
		econtext->caseValue_isNull = false;
		result = DatumGetBool(ExecEvalExpr(condition, econtext, &isnull));
		if (isnull)
		{
			codes->nulls++;
			continue;
		}
		if (codes->n[result]++ == 0)
			codes->first[result] = code;
		codes->last[result] = code;
		codes->bits[result][code / GPB_CODES_IN_WORD] |= (uint64) 1 << code % GPB_CODES_IN_WORD;
	}
	econtext->caseValue_datum = (Datum) 0;
	econtext->caseValue_isNull = true;
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
}

/* Words of a table that lists the codes for which the condition is "result" */
static int64
listed_words(const GpbJudgedCodes *codes, int result)
{
	return codes->n[result] == 0 ? 0 : 1 + (int64) codes->n[result];
}

/* Words of a table with a bit for each code between the first and the last of them */
static int64
bits_words(const GpbJudgedCodes *codes, int result)
{
	if (codes->n[result] == 0)
		return 0;
	return codes->last[result] / GPB_CODES_IN_WORD - codes->first[result] / GPB_CODES_IN_WORD + 2;
}

/* The words of the shorter one of these tables */
static int64
table_words(const GpbJudgedCodes *codes, int result)
{
	return Min(listed_words(codes, result), bits_words(codes, result));
}

/* Make a table of the codes for which the condition is "result"; NULL if it has no words. */
static int64 *
make_table(const GpbJudgedCodes *codes, int result)
{
	uint32		from = codes->first[result] / GPB_CODES_IN_WORD;
	uint32		n = 0;
	int64	   *words;

	if (codes->n[result] == 0)
		return NULL;
	words = palloc(sizeof(int64) * table_words(codes, result));
	if (bits_words(codes, result) <= listed_words(codes, result))
	{
		words[0] = (int64) from * GPB_CODES_IN_WORD;
		memcpy(words + 1, codes->bits[result] + from,
			   sizeof(int64) * (bits_words(codes, result) - 1));
		return words;
	}
	words[n++] = GPB_CODES_LISTED;
	for (uint32 code = codes->first[result]; code <= codes->last[result]; code++)
	{
		if ((codes->bits[result][code / GPB_CODES_IN_WORD] >> code % GPB_CODES_IN_WORD & 1) != 0)
			words[n++] = code;
	}
	return words;
}

/* Like gpb_evaluate_codes(), of values that are to be equal to one, which is looked up. */
static void
look_up(const GpbProgramConstants *constants, int i, ExprContext *econtext, GpbCodesTable *table)
{
	Datum		value = ExecEvalExprSwitchContext(constants->equal[i], econtext, &table->isnull);
	uint32		code = table->isnull ? GPB_NO_CODE :
		gpb_dictionary_code(constants->index, gpb_dictionary(constants->index),
							constants->type[i].column, value);

	if (code == GPB_NO_CODE)
		return;
	table->words = palloc(sizeof(int64) * 2);
	table->words[table->n++] = GPB_CODES_LISTED;
	table->words[table->n++] = code;
}

const char *
gpb_evaluate_codes(const GpbProgramConstants *constants, int i, ExprContext *econtext,
				   GpbCodesTable *table)
{
	GpbDictionary *dictionary = gpb_dictionary(constants->index);
	GpbJudgedCodes codes = {0};

	if (constants->equal[i] != NULL)
	{
		look_up(constants, i, econtext, table);
		return NULL;
	}
	gpb_dictionary_read_on(constants->index, dictionary, gpb_layout(constants->index));
	codes.ncodes = dictionary->ncodes;
	for (int result = 0; result < 2; result++)
		codes.bits[result] = palloc0(sizeof(uint64) * (codes.ncodes / GPB_CODES_IN_WORD + 1));
	evaluate_all(constants->value[i], econtext, dictionary->copy, constants->type[i].column,
				 &codes);
	table->isnull = codes.nulls > 0;
	if (codes.nulls == 0)
	{
		table->negated = table_words(&codes, 0) < table_words(&codes, 1);
		table->n = (uint32) table_words(&codes, table->negated ? 0 : 1);
		table->words = make_table(&codes, table->negated ? 0 : 1);
	}
	pfree(codes.bits[0]);
	pfree(codes.bits[1]);
	return codes.nulls > 0 && codes.n[0] + codes.n[1] > 0 ?
		"a condition that is NULL for some values" : NULL;
}

/* ---- orders ---- */

/* How values are compared */
typedef struct GpbCodeOrder
{
	FmgrInfo	compare;
	Oid			collation;
	const GpbDictionaryCopy *copy;
} GpbCodeOrder;

/* qsort_arg comparator of codes by what they stand for; sorting many can be cancelled */
static int
compare_codes(const void *a, const void *b, void *arg)
{
	GpbCodeOrder *order = arg;
	const GpbCopiedValue *left = gpb_copied_value(order->copy, *(const uint32 *) a);
	const GpbCopiedValue *right = gpb_copied_value(order->copy, *(const uint32 *) b);

	CHECK_FOR_INTERRUPTS();
	return DatumGetInt32(FunctionCall2Coll(&order->compare, order->collation,
										   PointerGetDatum(left->header),
										   PointerGetDatum(right->header)));
}

/* Put the ranks of n codes, which are in order, into a table; "first" is the least of them. */
static void
fill_ranks(const uint32 *codes, uint32 n, uint32 first, int bits, int64 *words)
{
	uint32		in_word = 64 / bits;

	words[0] = (int64) ((uint64) (bits - 1) << GPB_RANK_BITS_AT | first);
	for (uint32 rank = 0; rank < n; rank++)
	{
		uint32		place = codes[rank] - first;

		words[1 + place / in_word] |= (int64) ((uint64) rank << place % in_word * bits);
	}
}

/* Make a table of the ranks of ncodes codes, which there are, and are sorted by number. */
static void
make_ranks(GpbCodeOrder *order, uint32 *codes, uint32 ncodes, GpbCodesTable *table)
{
	uint32		first = codes[0];
	int			bits = gpb_rank_bits(ncodes);

	table->n = 1 + (codes[ncodes - 1] - first) / (64 / bits) + 1;
	table->words = palloc0(sizeof(int64) * table->n);
	qsort_arg(codes, ncodes, sizeof(uint32), compare_codes, order);
	fill_ranks(codes, ncodes, first, bits, table->words);
}

void
gpb_evaluate_ranks(const GpbProgramConstants *constants, int i, ExprContext *econtext,
				   GpbCodesTable *table)
{
	GpbDictionary *dictionary = gpb_dictionary(constants->index);
	int			column = constants->type[i].column;
	GpbCodeOrder order;
	uint32	   *codes;
	uint32		ncodes = 0;
	bool		isnull;
	Datum		compare = ExecEvalExprSwitchContext(constants->value[i], econtext, &isnull);

	gpb_dictionary_read_on(constants->index, dictionary, gpb_layout(constants->index));
	codes = MemoryContextAllocHuge(CurrentMemoryContext,
								   sizeof(uint32) * (dictionary->ncodes + 1));
	for (uint32 code = 0; code < dictionary->ncodes; code++)
	{
		if (gpb_copied_value(dictionary->copy, code)->column == column)
			codes[ncodes++] = code;
	}
	fmgr_info(DatumGetObjectId(compare), &order.compare);
	order.collation = constants->collation[i];
	order.copy = dictionary->copy;
	if (ncodes > 0)
		make_ranks(&order, codes, ncodes, table);
	pfree(codes);
}
