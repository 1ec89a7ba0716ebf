/*-------------------------------------------------------------------------
 *
 * program_strip_template.h
 *	  The loops of program_strip.c in one form; included once for each.
 *
 * GPB_FORM(name) is the name of a function of the form, GPB_FORM_TARGET the attribute that says for
 * which CPU it is compiled.  Both are undefined at the end.
 *
 *-------------------------------------------------------------------------
 */

static GPB_FORM_TARGET bool
GPB_FORM(values) (int op, const GpbStripStep *step)
{
	return any_step_values(op, step);
}

static GPB_FORM_TARGET bool
GPB_FORM(nulls) (int op, GpbStripStep *step)
{
	return any_step_nulls(op, step);
}

static GPB_FORM_TARGET int
GPB_FORM(truths) (const int64 *words, int n, uint8 *keep)
{
	return truths(words, n, keep);
}

static GPB_FORM_TARGET void
GPB_FORM(sum) (const int64 *words, const int64 *mask, int n, uint64 *low, int64 *high)
{
	if (mask == NULL)
		sum_words(words, NULL, false, n, low, high);
	else
		sum_words(words, mask, true, n, low, high);
}

static GPB_FORM_TARGET void
GPB_FORM(bounds) (const int64 *words, const int64 *mask, int n, bool floats, int64 *min, int64 *max)
{
	if (floats)
		bound_words(words, mask, mask != NULL, n, true, min, max);
	else if (mask == NULL)
		bound_words(words, NULL, false, n, false, min, max);
	else
		bound_words(words, mask, true, n, false, min, max);
}

static GPB_FORM_TARGET bool
GPB_FORM(narrow_squares) (const int64 *words, const int64 *mask, int n, uint64 *sum)
{
	return mask == NULL ? square_narrow_words(words, NULL, false, n, sum) :
		square_narrow_words(words, mask, true, n, sum);
}

static GPB_FORM_TARGET void
GPB_FORM(bits) (const int64 *words, const int64 *mask, int n, int64 *bits)
{
	combine_words(words, mask, mask != NULL, n, bits);
}

static GPB_FORM_TARGET bool
GPB_FORM(cut) (const int64 *words, const int64 *mask, int n, GpbStripPieces *pieces)
{
	return mask == NULL ? cut_words(words, NULL, false, n, pieces) :
		cut_words(words, mask, true, n, pieces);
}

static GPB_FORM_TARGET bool
GPB_FORM(same) (const int64 *words, int n)
{
	return same_words(words, n);
}

static const GpbStripLoops GPB_FORM(loops) = {
	.values = GPB_FORM(values),
	.nulls = GPB_FORM(nulls),
	.truths = GPB_FORM(truths),
	.sum = GPB_FORM(sum),
	.bounds = GPB_FORM(bounds),
	.narrow_squares = GPB_FORM(narrow_squares),
	.bits = GPB_FORM(bits),
	.cut = GPB_FORM(cut),
	.same = GPB_FORM(same)
};

#undef GPB_FORM
#undef GPB_FORM_TARGET
