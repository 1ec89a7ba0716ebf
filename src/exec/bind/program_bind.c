/*-------------------------------------------------------------------------
 *
 * program_bind.c
 *	  The constants of a program when a node runs.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "exec/compile/program_build.h"
#include "exec/compile/program_codes.h"
#include "exec/compile/program_words.h"
#include "exec/functions/zone.h"
#include "index/dictionary.h"

/*
 * May a row that is seen have a value that its entry has not, in a column whose codes the program
 * reads?  This is asked after the snapshot was taken: its rows are of transactions that had ended
 * then, and said so in the index before they made the entry.
 */
static bool
has_values_elsewhere(const GpbProgramConstants *constants)
{
	GpbLayout	layout;

	if (constants->columns == 0 || constants->of_rows)
		return false;
	layout = *gpb_layout(constants->index);
	return gpb_layout_has_dictionary(&layout) &&
		(gpb_dictionary_elsewhere(constants->index, &layout) & constants->columns) != 0;
}

GpbProgramConstants *
gpb_program_constants_init(const GpbProgramPlan *plan, Relation index, PlanState *ps)
{
	GpbProgramConstants *constants = palloc(sizeof(GpbProgramConstants));
	ListCell   *lc;

	constants->index = index;
	constants->n = list_length(plan->constants);
	constants->params = gpb_executor_params((Node *) plan->constants);
	constants->value = palloc(sizeof(ExprState *) * (constants->n + 1));
	constants->equal = palloc0(sizeof(ExprState *) * (constants->n + 1));
	constants->collation = palloc(sizeof(Oid) * (constants->n + 1));
	memcpy(constants->type, plan->constant_type, sizeof(constants->type));
	constants->columns = gpb_program_columns(&plan->program);
	constants->of_rows = false;
	constants->more = palloc0(sizeof(GpbMoreWords));
	constants->more->context = CurrentMemoryContext;
	foreach(lc, plan->constants)
	{
		int			i = foreach_current_index(lc);

		constants->value[i] = ExecInitExpr(lfirst(lc), ps);
		constants->collation[i] = exprCollation(lfirst(lc));
		if (constants->type[i].class == GPB_TABLE_CODES)
			constants->equal[i] = ExecInitExpr(gpb_code_equal_to(lfirst(lc)), ps);
	}
	return constants;
}

/* ---- tables ---- */

/*
 * Tables of codes that have more words than this are long ones, so that arrays and zones find room
 * in the program
 */
#define GPB_CODES_IN_PROGRAM	64

/* Words of tables in the program that were filled so far */
static int
used_words(const GpbTables *tables)
{
	int			used = 0;
	int			t;

	for (t = 0; t < GPB_MAX_TABLES; t++)
	{
		if (!gpb_is_long_table(tables, t))
			used += tables->length[t];
	}
	return used;
}

/*
 * Put words into a table in the program; false if there is no room.  A table without words stays at
 * the first one: behind the last one it would be a long table.
 */
static bool
fill_table(GpbTables *tables, int table, const int64 *words, int n)
{
	int			used = used_words(tables);

	if (n > GPB_MAX_TABLE_WORDS - used)
		return false;
	/* No code satisfies some conditions; then there is no array either. */
	if (n == 0)
		return true;
	tables->first[table] = used;
	tables->length[table] = n;
	memcpy(tables->word + used, words, sizeof(int64) * n);
	return true;
}

/*
 * Put words into a long table; false if there is no room.  The program gets their address at once:
 * one that is refused later may be a batch's all the same, which is never run then.
 */
static bool
fill_long_table(const GpbProgramConstants *constants, GpbTables *tables, int table,
				const int64 *words, uint32 n)
{
	GpbMoreWords *more = constants->more;

	if (n > GPB_MAX_MORE_WORDS - more->n)
		return false;
	if (more->n + n > more->room)
	{
		uint32		room = more->n + n;

		more->words = more->words == NULL ?
			MemoryContextAlloc(more->context, sizeof(int64) * room) :
			repalloc(more->words, sizeof(int64) * room);
		more->room = room;
	}
	memcpy(more->words + more->n, words, sizeof(int64) * n);
	tables->more = more->words;
	tables->first[table] = GPB_MAX_TABLE_WORDS + more->n;
	tables->length[table] = n;
	more->n += n;
	return true;
}

/* Fill the table of a condition on codes, or of their order, and set its constant. */
static const char *
bind_codes(const GpbProgramConstants *constants, int i, ExprContext *econtext,
		   GpbProgram *program)
{
	int			table = constants->type[i].table;
	GpbCodesTable made = {0};
	const char *refusal = NULL;

	program->constant[i] = 0;
	if (constants->of_rows)
		return constants->type[i].class == GPB_TABLE_CODES ? NULL :
			"the order of values that are not in the index";
	if (constants->type[i].class == GPB_TABLE_CODES)
		refusal = gpb_evaluate_codes(constants, i, econtext, &made);
	else
		gpb_evaluate_ranks(constants, i, econtext, &made);
	if (refusal != NULL)
		return refusal;
	program->constant[i] = made.negated;
	if (made.isnull)
		program->null_constants |= (uint64) 1 << i;
	if (!(made.n <= GPB_CODES_IN_PROGRAM &&
		  fill_table(&program->tables, table, made.words, made.n)) &&
		!fill_long_table(constants, &program->tables, table, made.words, made.n))
		refusal = "conditions and orders of more values than tables have room for";
	if (made.words != NULL)
		pfree(made.words);
	return refusal;
}

/* Fill the table of an array; *unknown: may a value that it lacks be equal to a NULL of it? */
static const char *
bind_array(ArrayType *array, int table, GpbProgram *program, bool *unknown)
{
	int			n;
	int64	   *words = gpb_array_words(array, &n, unknown);

	if (!fill_table(&program->tables, table, words, n))
		return psprintf("arrays of more than %d values", GPB_MAX_TABLE_WORDS);
	pfree(words);
	return NULL;
}

/* The zone of a constant; NULL if there is none of its name */
static pg_tz *
bound_zone(const GpbProgramConstants *constants, int i, ExprContext *econtext)
{
	bool		isnull;
	Datum		name = ExecEvalExprSwitchContext(constants->value[i], econtext, &isnull);

	return isnull ? session_timezone : gpb_zone_by_name(DatumGetTextPP(name));
}

/*
 * Fill the tables of zones, which share what arrays leave: first those that need less than a share,
 * as one without changes does.  Returns NULL, or why the program cannot be used.
 */
static const char *
bind_zones(const GpbProgramConstants *constants, ExprContext *econtext, GpbProgram *program)
{
	int64		words[GPB_MAX_TABLE_WORDS];
	int			left = 0;
	int			pass;
	int			i;

	for (i = 0; i < constants->n; i++)
		left += constants->type[i].class == GPB_TABLE_ZONE;
	for (pass = 0; pass < 2; pass++)
	{
		for (i = 0; i < constants->n; i++)
		{
			int			table = constants->type[i].table;
			pg_tz	   *zone;
			int			share;
			int			n;

			if (constants->type[i].class != GPB_TABLE_ZONE || program->tables.length[table] > 0)
				continue;
			zone = bound_zone(constants, i, econtext);
			share = (GPB_MAX_TABLE_WORDS - used_words(&program->tables)) / left;
			n = zone == NULL ? 0 : gpb_zone_words(zone, share, words);
			if (n == 0)
				return "a time zone that the program cannot say";
			if (pass == 0 && n == share)
				continue;
			(void) fill_table(&program->tables, table, words, n);
			left--;
		}
	}
	return NULL;
}

/* ---- constants ---- */

/*
 * The word of one constant; NULL, or why the program cannot be used.  Bit t of *empty is set if the
 * array of table t is empty.
 */
static const char *
bind_constant(const GpbProgramConstants *constants, int i, ExprContext *econtext,
			  GpbProgram *program, uint32 *empty)
{
	GpbWordType type = constants->type[i];
	const char *refusal = NULL;
	bool		isnull;
	Datum		value;

	program->constant[i] = 0;
	switch (type.class)
	{
		case GPB_TABLE_FILLED:
			program->constant[i] = (*empty >> type.table & 1) == 0;
			return NULL;
		case GPB_TABLE_ZONE:
			return NULL;
		case GPB_TABLE_CODES:
		case GPB_TABLE_RANKS:
			return bind_codes(constants, i, econtext, program);
		default:
			break;
	}
	value = ExecEvalExprSwitchContext(constants->value[i], econtext, &isnull);
	if (type.class == GPB_TABLE_ARRAY && !isnull)
	{
		ArrayType  *array = DatumGetArrayTypeP(value);

		if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == 0)
			*empty |= (uint32) 1 << type.table;
		refusal = bind_array(array, type.table, program, &isnull);
	}
	else if (!isnull)
		program->constant[i] = gpb_datum_word(type, value);
	if (isnull)
		program->null_constants |= (uint64) 1 << i;
	return refusal;
}

const char *
gpb_program_bind(const GpbProgramConstants *constants, ExprContext *econtext,
				 GpbProgram *program)
{
	uint32		empty = 0;
	int			i;

	if (has_values_elsewhere(constants))
		return "values that are not in the index";
	program->null_constants = 0;
	memset(&program->tables, 0, sizeof(program->tables));
	constants->more->n = 0;
	for (i = 0; i < constants->n; i++)
	{
		const char *refusal = bind_constant(constants, i, econtext, program, &empty);

		if (refusal != NULL)
			return refusal;
	}
	return bind_zones(constants, econtext, program);
}

void
gpb_program_copy_bound(GpbProgram *program, const GpbProgram *bound)
{
	program->null_constants = bound->null_constants;
	memcpy(program->constant, bound->constant, sizeof(program->constant));
	program->tables = bound->tables;
}
