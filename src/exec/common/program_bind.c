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

#include "exec/common/program_build.h"
#include "exec/common/program_words.h"
#include "exec/common/zone.h"

/* Collect the executor's parameters in an expression. */
static bool
params_walker(Node *node, void *argument)
{
	Bitmapset **params = argument;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *) node)->paramid);
	return expression_tree_walker(node, params_walker, argument);
}

Bitmapset *
gpb_executor_params(Node *expression)
{
	Bitmapset  *params = NULL;

	(void) params_walker(expression, &params);
	return params;
}

GpbProgramConstants *
gpb_program_constants_init(const GpbProgramPlan *plan, PlanState *ps)
{
	GpbProgramConstants *constants = palloc(sizeof(GpbProgramConstants));
	ListCell   *lc;

	constants->n = list_length(plan->constants);
	constants->params = gpb_executor_params((Node *) plan->constants);
	constants->value = palloc(sizeof(ExprState *) * (constants->n + 1));
	constants->type = palloc(sizeof(Oid) * (constants->n + 1));
	foreach(lc, plan->constants)
	{
		int			i = foreach_current_index(lc);

		constants->value[i] = ExecInitExpr(lfirst(lc), ps);
		constants->type[i] = list_nth_oid(plan->constant_types, i);
	}
	return constants;
}

static int
compare_words(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/* Sort the list of a step with GPB_OP_IN; false if a constant of it is NULL. */
static bool
sort_list(GpbProgram *program, const GpbStep *step)
{
	int			first = step->b - GPB_FIRST_CONSTANT;
	int			n = step->c - step->b;
	int			i;

	for (i = first; i < first + n; i++)
	{
		if (program->null_constants >> i & 1)
			return false;
	}
	qsort(&program->constant[first], n, sizeof(int64), compare_words);
	return true;
}

/* The word of one constant; NULL, or why the program cannot be used */
static const char *
bind_constant(const GpbProgramConstants *constants, int i, ExprContext *econtext,
			  GpbProgram *program)
{
	bool		isnull;
	Datum		value;

	if (constants->type[i] == GPB_ZONE_OFFSET_TYPE)
		return gpb_zone_is_fixed(session_timezone, &program->constant[i]) ? NULL :
			"a time zone whose offset changes";
	value = ExecEvalExprSwitchContext(constants->value[i], econtext, &isnull);
	program->constant[i] = isnull ? 0 : gpb_datum_word(constants->type[i], value);
	if (isnull)
		program->null_constants |= (uint64) 1 << i;
	return NULL;
}

const char *
gpb_program_bind(const GpbProgramConstants *constants, ExprContext *econtext,
				 GpbProgram *program)
{
	int			i;

	program->null_constants = 0;
	for (i = 0; i < constants->n; i++)
	{
		const char *refusal = bind_constant(constants, i, econtext, program);

		if (refusal != NULL)
			return refusal;
	}
	for (i = 0; i < program->nsteps; i++)
	{
		if (program->step[i].op == GPB_OP_IN && !sort_list(program, &program->step[i]))
			return "a constant that the program cannot say";
	}
	return NULL;
}
