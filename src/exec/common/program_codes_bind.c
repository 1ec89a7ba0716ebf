/*-------------------------------------------------------------------------
 *
 * program_codes_bind.c
 *	  Conditions on values of a dictionary, evaluated when a node runs.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/common/program_codes.h"
#include "exec/common/program_words.h"
#include "index/dictionary.h"

/* Values after which memory is given back */
#define GPB_CODES_TOGETHER	1024

Datum
gpb_word_value(Relation index, Oid type, int64 word)
{
	if (gpb_is_code_type(type))
		return gpb_dictionary_value(index, gpb_dictionary(index), gpb_column_of_code_type(type),
									(uint32) word);
	return gpb_word_datum(type, word);
}

/* The codes of a column for which a condition is true, and those for which it is false */
typedef struct GpbCodeLists
{
	int			room;			/* of each list */
	int64	   *list[2];		/* false, true */
	int64		n[2];			/* codes that there are; of these the first have room */
	int64		nulls;
} GpbCodeLists;

/*
 * Evaluate the condition for the value of each code of the column, until neither list has room.
 */
static void
evaluate_all(ExprState *condition, ExprContext *econtext, const GpbDictionary *dictionary,
			 int column, GpbCodeLists *lists)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree codes",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(work);

	for (uint32 code = 0; code < dictionary->ncodes; code++)
	{
		bool		isnull;
		int			result;

		if (code % GPB_CODES_TOGETHER == 0)
		{
			CHECK_FOR_INTERRUPTS();
			MemoryContextReset(work);
		}
		if (dictionary->value[code].column != column)
			continue;
		econtext->caseValue_datum = PointerGetDatum(dictionary->value[code].value);
		econtext->caseValue_isNull = false;
		result = DatumGetBool(ExecEvalExpr(condition, econtext, &isnull));
		if (isnull)
		{
			lists->nulls++;
			continue;
		}
		if (lists->n[result] < lists->room)
			lists->list[result][lists->n[result]] = code;
		lists->n[result]++;
		if (lists->n[0] > lists->room && lists->n[1] > lists->room)
			break;
	}
	econtext->caseValue_datum = (Datum) 0;
	econtext->caseValue_isNull = true;
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
}

const char *
gpb_evaluate_codes(const GpbProgramConstants *constants, int i, ExprContext *econtext, int room,
				   int64 *words, int *n, bool *negated, bool *isnull)
{
	GpbCodeLists lists = {room, {palloc(sizeof(int64) * (room + 1)), words}, {0, 0}, 0};
	GpbDictionary *dictionary = gpb_dictionary(constants->index);

	gpb_dictionary_read_on(constants->index, dictionary);
	evaluate_all(constants->value[i], econtext, dictionary,
				 gpb_column_of_code_type(constants->type[i]), &lists);
	*negated = false;
	*n = 0;
	*isnull = lists.nulls > 0;
	if (lists.nulls > 0)
		return lists.n[0] + lists.n[1] > 0 ? "a condition that is NULL for some values" : NULL;
	if (lists.n[1] > room)
	{
		if (lists.n[0] > room)
			return "a condition that too many values satisfy, and fail";
		*negated = true;
		memcpy(words, lists.list[0], sizeof(int64) * lists.n[0]);
	}
	*n = (int) lists.n[*negated ? 0 : 1];
	pfree(lists.list[0]);
	return NULL;
}
