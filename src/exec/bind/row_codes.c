/*-------------------------------------------------------------------------
 *
 * row_codes.c
 *	  Texts of rows, which no index has, in a program over codes.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/bind/program_bind_safe.h"
#include "exec/bind/row_codes.h"
#include "exec/shell/expressions.h"
#include "program/program_steps.h"

/* The words of each condition's table at first */
#define GPB_FIRST_ROOM		64

/* A condition on the codes of a column, which is one of the program's constants */
typedef struct GpbRowCondition
{
	int			constant;
	int			column;
	int			table;
	bool		known;			/* for some text it is not NULL */
	bool		unknown;		/* for some text it is */
} GpbRowCondition;

/* A text that has come, in a column that has conditions */
typedef struct GpbNewText
{
	uint32		code;
	int			column;
} GpbNewText;

struct GpbRowCodes
{
	const GpbProgramConstants *constants;
	GpbTexts   *texts;
	Size		limit;			/* bytes of texts */
	uint32		ntexts;			/* that have come */
	bool		may_fail;		/* evaluating the conditions may raise an error */
	uint32		conditional;	/* columns that have conditions, as bits */
	MemoryContext context;		/* of an execution */
	MemoryContext work;			/* of what is evaluated together */
	int			n;
	GpbRowCondition condition[GPB_MAX_TABLES];

	/*
	 * A table for each condition, one behind the other, and behind them one for each INCLUDE column
	 * that has any, with the texts that have come.  Each has "room" words: the first says that bits
	 * follow, from code 0 on.
	 */
	int64	   *words;
	uint32		room;

	GpbNewText *waiting;		/* texts of which the conditions are not known */
	int			nwaiting;
	int			most_waiting;
};

GpbRowCodes *
gpb_row_codes(const GpbProgramPlan *plan, const GpbProgramConstants *constants, GpbTexts *texts,
			  Size limit)
{
	GpbRowCodes *codes = palloc0(sizeof(GpbRowCodes));
	ListCell   *lc;

	codes->constants = constants;
	codes->texts = texts;
	codes->limit = limit;
	codes->context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree codes of rows",
										   ALLOCSET_SMALL_SIZES);
	codes->work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree conditions of rows",
										ALLOCSET_DEFAULT_SIZES);
	foreach(lc, plan->constants)
	{
		int			i = foreach_current_index(lc);
		GpbWordType type = constants->type[i];
		GpbRowCondition *condition = &codes->condition[codes->n];

		if (type.class != GPB_TABLE_CODES)
			continue;
		condition->constant = i;
		condition->column = type.column;
		condition->table = type.table;
		codes->conditional |= (uint32) 1 << type.column;
		codes->may_fail |= gpb_may_fail(lfirst(lc));
		codes->n++;
	}
	return codes;
}

void
gpb_row_codes_start(GpbRowCodes *codes)
{
	int			i;

	MemoryContextReset(codes->context);
	codes->ntexts = 0;
	codes->words = NULL;
	codes->room = 0;
	codes->waiting = NULL;
	codes->nwaiting = codes->most_waiting = 0;
	for (i = 0; i < codes->n; i++)
		codes->condition[i].known = codes->condition[i].unknown = false;
}

uint32
gpb_row_codes_columns(const GpbRowCodes *codes)
{
	return codes->constants->columns;
}

/* ---- tables ---- */

static inline int64 *
table_words(const GpbRowCodes *codes, int table)
{
	return codes->words + (Size) table * codes->room;
}

/* The word that has the bit of a code in such a table, which has room for it */
static inline int64 *
code_word(const GpbRowCodes *codes, int table, uint32 code)
{
	return &table_words(codes, table)[1 + code / GPB_CODES_IN_WORD];
}

static inline int64
code_bit(uint32 code)
{
	return (int64) ((uint64) 1 << code % GPB_CODES_IN_WORD);
}

/* The number of the table that has the texts which have come in a column */
static inline int
column_table(const GpbRowCodes *codes, int column)
{
	return codes->n + __builtin_popcount(codes->conditional & (((uint32) 1 << column) - 1));
}

/* Make room for a code in all tables. */
static void
grow_tables(GpbRowCodes *codes, uint32 code)
{
	int			ntables = codes->n + __builtin_popcount(codes->conditional);
	int64	   *before = codes->words;
	uint32		room = codes->room;
	int			i;

	codes->room = Max(Max(2 * room, GPB_FIRST_ROOM), 2 + code / GPB_CODES_IN_WORD);
	codes->words = MemoryContextAllocExtended(codes->context,
											  sizeof(int64) * ntables * codes->room,
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (i = 0; i < ntables && before != NULL; i++)
		memcpy(table_words(codes, i), before + (Size) i * room, sizeof(int64) * room);
	if (before != NULL)
		pfree(before);
}

/* ---- texts ---- */

/* Have a text wait for its conditions to be evaluated, if it has come for the first time. */
static void
note_text(GpbRowCodes *codes, int column, uint32 code)
{
	int64	   *word;

	if (code / GPB_CODES_IN_WORD + 2 > codes->room)
		grow_tables(codes, code);
	word = code_word(codes, column_table(codes, column), code);
	if ((*word & code_bit(code)) != 0)
		return;
	*word |= code_bit(code);
	if (codes->nwaiting == codes->most_waiting)
	{
		codes->most_waiting = Max(2 * codes->most_waiting, 64);
		codes->waiting = codes->waiting == NULL ?
			MemoryContextAlloc(codes->context, sizeof(GpbNewText) * codes->most_waiting) :
			repalloc(codes->waiting, sizeof(GpbNewText) * codes->most_waiting);
	}
	codes->waiting[codes->nwaiting++] = (GpbNewText) {code, column};
}

/* Numbers are given in ascending order, so a new text is told by its own. */
bool
gpb_row_code(GpbRowCodes *codes, int column, Datum value, int64 *code)
{
	struct varlena *plain = PG_DETOAST_DATUM_PACKED(value);
	uint32		number = gpb_texts_number(codes->texts, VARDATA_ANY(plain),
										  VARSIZE_ANY_EXHDR(plain));

	if ((Pointer) plain != DatumGetPointer(value))
		pfree(plain);
	if ((codes->conditional >> column & 1) != 0)
		note_text(codes, column, number);
	*code = number;
	if (number < codes->ntexts)
		return true;
	codes->ntexts = number + 1;
	return gpb_texts_bytes(codes->texts) <= codes->limit;
}

/* ---- conditions ---- */

/* Evaluate condition i for a text. */
static void
judge_text(GpbRowCodes *codes, int i, ExprContext *econtext, uint32 code)
{
	GpbRowCondition *condition = &codes->condition[i];
	bool		isnull;
	Datum		result;

	econtext->caseValue_datum = gpb_texts_value(codes->texts, code);
	econtext->caseValue_isNull = false;
	result = ExecEvalExpr(codes->constants->value[condition->constant], econtext, &isnull);
	condition->unknown |= isnull;
	condition->known |= !isnull;
	if (!isnull && DatumGetBool(result))
		*code_word(codes, i, code) |= code_bit(code);
}

/* Codes whose texts are to be judged */
typedef struct GpbTextsJudged
{
	GpbRowCodes *codes;
	ExprContext *econtext;
} GpbTextsJudged;

/* Evaluate the conditions for the texts that wait, of a GpbTextsJudged. */
static const char *
judge_texts(void *argument)
{
	GpbTextsJudged *texts = argument;
	GpbRowCodes *codes = texts->codes;
	MemoryContext caller = MemoryContextSwitchTo(codes->work);
	int			t;
	int			i;

	for (t = 0; t < codes->nwaiting; t++)
	{
		for (i = 0; i < codes->n; i++)
		{
			if (codes->condition[i].column == codes->waiting[t].column)
				judge_text(codes, i, texts->econtext, codes->waiting[t].code);
		}
	}
	MemoryContextSwitchTo(caller);
	return NULL;
}

/*
 * Let the program have the tables, and know of conditions that are NULL for all texts; those that
 * are so for some it cannot say, as of an index.
 */
static const char *
bind_conditions(const GpbRowCodes *codes, GpbProgram *program)
{
	int			i;

	program->tables.more = codes->words;
	for (i = 0; i < codes->n; i++)
	{
		const GpbRowCondition *condition = &codes->condition[i];

		if (condition->known && condition->unknown)
			return "a condition that is NULL for some values";
		if (condition->unknown)
			program->null_constants |= (uint64) 1 << condition->constant;
		program->tables.first[condition->table] = GPB_MAX_TABLE_WORDS + i * codes->room;
		program->tables.length[condition->table] = codes->room;
	}
	return NULL;
}

bool
gpb_row_codes_wait(const GpbRowCodes *codes)
{
	return codes->nwaiting > 0;
}

const char *
gpb_row_codes_judge(GpbRowCodes *codes, ExprContext *econtext, GpbProgram *program)
{
	GpbTextsJudged texts = {codes, econtext};
	const char *refusal;

	if ((Size) codes->n * codes->room > GPB_MAX_MORE_WORDS)
		return "conditions and orders of more values than tables have room for";
	refusal = codes->may_fail ?
		gpb_evaluate_safely(judge_texts, &texts, codes->constants->params, econtext) :
		judge_texts(&texts);
	econtext->caseValue_datum = (Datum) 0;
	econtext->caseValue_isNull = true;
	MemoryContextReset(codes->work);
	codes->nwaiting = 0;
	return refusal != NULL ? refusal : bind_conditions(codes, program);
}
