/*-------------------------------------------------------------------------
 *
 * pass.cu
 *	  Cutting a program into passes; see pass.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "pass.cuh"

static GpbPassColumn
make_column(const GpbProgram *program, const GpbAnswerColumn *in_answer)
{
	bool		nulls_first = (program->layout.flags & GPB_LAYOUT_NULLS_FIRST) != 0;
	int			c = in_answer->column;
	GpbPassColumn column;

	memset(&column, 0, sizeof(column));
	column.want = program->want[c] | GPB_WANT_COUNT;
	column.column = in_answer->column;
	column.kind = in_answer->kind;
	column.offset = in_answer->offset;
	column.is_narrow = column.kind == GPB_KIND_INT2 || column.kind == GPB_KIND_INT4;
	column.count = in_answer->count;
	column.sum = in_answer->sum;
	column.minmax = in_answer->minmax;
	column.float_sum = in_answer->float_sum;
	column.null_mask = c == 0 ? GPB_LOC_ORDER_BIT : (uint64) 1 << (GPB_LOC_NULL_SHIFT + c - 1);
	column.null_flip = c == 0 && nulls_first ? GPB_LOC_ORDER_BIT : 0;
	return column;
}

static GpbPass
empty_pass(const GpbProgram *program)
{
	GpbPass		pass;

	memset(&pass, 0, sizeof(pass));
	pass.dead_mask = program->ignore_dead_hints ? 0 : GPB_LOC_DEAD;
	pass.list_entries = program->list_entries;
	return pass;
}

/* Columns without a float8 sum come first, so that the first pass is a cheap one. */
int
gpb_make_passes(const GpbProgram *program, const GpbAnswerFormat *format, GpbPass *pass)
{
	int			npasses = 0;
	int			n = 0;			/* columns of the last pass so far */

	pass[0] = empty_pass(program);
	for (int c = 0; c < format->ncolumns; c++)
	{
		if (format->column[c].float_sum != 0)
			continue;
		if (n == 0)
			pass[npasses++] = empty_pass(program);
		pass[npasses - 1].column[n] = make_column(program, &format->column[c]);
		n = (n + 1) % GPB_PASS_COLUMNS;
	}
	for (int c = 0; c < format->ncolumns; c++)
	{
		if (format->column[c].float_sum == 0)
			continue;
		pass[npasses] = empty_pass(program);
		pass[npasses++].column[0] = make_column(program, &format->column[c]);
	}
	pass[0].is_first = true;
	return npasses > 0 ? npasses : 1;
}

GpbPassShape
gpb_pass_shape(const GpbPass *pass)
{
	if (pass->column[0].float_sum != 0)
		return GPB_PASS_FLOAT_SUM;
	return pass->column[1].want != 0 ? GPB_PASS_TWO : GPB_PASS_ONE;
}
