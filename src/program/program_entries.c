/*-------------------------------------------------------------------------
 *
 * program_entries.c
 *	  Entries of leaves, and single ones, put through a program on the CPU.
 *
 *-------------------------------------------------------------------------
 */
#include "program/program_entries.h"
#include "program/program_load.h"
#include "program/program_terms.h"

/* ---- memory ---- */

/* The number of slots that the program reads or writes; *columns becomes that of columns. */
static int
count_slots(const GpbProgram *program, int *columns)
{
	GpbSlotSet		used = gpb_used_slots(program);
	int			n = 0;
	int			s;

	*columns = 0;
	for (s = 0; s < GPB_SLOTS; s++)
	{
		n += gpb_slots_have(&used, s);
		*columns += s < GPB_FIRST_CONSTANT && gpb_slots_have(&used, s);
	}
	return n;
}

/* The bytes of what an evaluator has beside the values of slots */
#define EVALUATOR_ARRAYS \
	(GPB_STRIP * (sizeof(int64 *) + sizeof(int64) + 2 * sizeof(uint32) + sizeof(uint16) + \
				  sizeof(uint8)))

size_t
gpb_evaluator_size(const GpbProgram *program)
{
	int			columns;
	int			slots = count_slots(program, &columns);

	return ((sizeof(GpbEvaluator) + 63) & ~(size_t) 63) +
		(slots + columns) * GPB_STRIP_SLOT_BYTES + EVALUATOR_ARRAYS;
}

/* Cut n bytes off the memory. */
static void *
cut(char **memory, size_t n)
{
	void	   *at = *memory;

	*memory += n;
	return at;
}

static void
cut_slot(char **memory, GpbStripSlot *slot)
{
	slot->words = cut(memory, GPB_STRIP * sizeof(int64));
	slot->nulls = cut(memory, GPB_STRIP * sizeof(uint8));
	slot->has_nulls = false;
}

/* Repeat a constant for each entry of a strip. */
static void
fill_constant(const GpbProgram *program, int i, GpbStripSlot *slot)
{
	bool		is_null = (program->null_constants >> i) & 1;
	int			at;

	for (at = 0; at < GPB_STRIP; at++)
	{
		slot->words[at] = is_null ? 0 : program->constant[i];
		slot->nulls[at] = is_null;
	}
	slot->has_nulls = is_null;
}

GpbEvaluator *
gpb_evaluator_init(void *memory, const GpbProgram *program, const GpbAnswerFormat *format)
{
	GpbEvaluator *evaluator = (GpbEvaluator *) memory;
	char	   *rest = (char *) memory + ((sizeof(GpbEvaluator) + 63) & ~(size_t) 63);
	GpbSlotSet		used = gpb_used_slots(program);
	int			s;

	memset(evaluator, 0, sizeof(*evaluator));
	evaluator->program = program;
	evaluator->format = format;
	evaluator->strip.program = program;
	gpb_plan_work(program, &evaluator->work);
	for (s = 0; s < GPB_SLOTS; s++)
	{
		GpbStripSlot *slot = &evaluator->strip.slot[s];

		if (!gpb_slots_have(&used, s))
			continue;
		cut_slot(&rest, slot);
		if (s < GPB_FIRST_CONSTANT)
		{
			evaluator->leaf[s] = *slot;
			cut_slot(&rest, &evaluator->gathered[s]);
		}
		else if (s < GPB_FIRST_TEMPORARY)
			fill_constant(program, s - GPB_FIRST_CONSTANT, slot);
	}
	evaluator->answers = cut(&rest, GPB_STRIP * sizeof(int64 *));
	evaluator->weight = cut(&rest, GPB_STRIP * sizeof(int64));
	evaluator->number = cut(&rest, GPB_STRIP * sizeof(uint32));
	evaluator->leaf_number = cut(&rest, GPB_STRIP * sizeof(uint32));
	evaluator->position = cut(&rest, GPB_STRIP * sizeof(uint16));
	evaluator->keep = cut(&rest, GPB_STRIP * sizeof(uint8));
	return evaluator;
}

void
gpb_evaluator_begin(GpbEvaluator *evaluator, const GpbEvaluatorSink *sink)
{
	int			c;

	evaluator->sink = *sink;
	evaluator->outcome = GPB_EVALUATED;
	evaluator->counted = 0;
	evaluator->ngathered = 0;
	evaluator->weighted = false;
	for (c = 0; c < GPB_MAX_COLUMNS; c++)
		evaluator->gathered[c].has_nulls = false;
}

/* ---- a strip ---- */

/* Load the column of slot s of the strip's entries. */
static inline void
load_column(GpbEvaluator *evaluator, GpbStripSource *source, int s)
{
	gpb_load_column(evaluator->program, source, s, &evaluator->leaf[s], &evaluator->strip.slot[s]);
}

/* Keep the positions on the leaf of the entries that a filter has kept. */
static void
keep_positions(GpbEvaluator *evaluator, GpbStripSource *source, int kept)
{
	const GpbLeafPick *pick = &source->pick;
	const uint8 *keep = evaluator->keep;
	uint16	   *position = evaluator->position;
	int			to = 0;
	int			i;

	for (i = 0; i < pick->n; i++)
	{
		position[to] = (uint16) gpb_pick_position(pick, i, pick->at == NULL);
		to += keep[i];
	}
	source->pick.at = position;
	source->pick.n = kept;
}

/* Keep the numbers of the entries that a filter has kept. */
static void
keep_numbers(GpbEvaluator *evaluator, int n)
{
	uint32	   *number = evaluator->number;
	int			to = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		number[to] = number[i];
		to += evaluator->keep[i];
	}
}

/* Drop the entries for which the slot is not true. */
static void
filter_strip(GpbEvaluator *evaluator, const GpbEvaluatorOp *op, int filter, GpbStripSource *source)
{
	GpbStrip   *strip = &evaluator->strip;
	int			n = strip->n;
	int			kept = gpb_strip_truths(strip->slot[filter].words, n, evaluator->keep);
	bool		of_leaf = source->page != NULL;
	int			w;

	strip->n = kept;
	if (kept == n || kept == 0)
		return;
	for (w = 0; w < 2; w++)
	{
		uint64		later = op->later.word[w];

		if (w == 0 && of_leaf)
			later &= ~(uint64) op->loads_later;
		for (; later != 0; later &= later - 1)
		{
			int			s = w * 64 + __builtin_ctzll(later);
			GpbStripSlot *slot = &strip->slot[s];

			/* Constants are the same for all entries. */
			if (s >= GPB_FIRST_CONSTANT && s < GPB_FIRST_TEMPORARY)
				continue;
			gpb_strip_compact_words(slot->words, evaluator->keep, n);
			if (slot->has_nulls)
				gpb_strip_compact_bytes(slot->nulls, evaluator->keep, n);
		}
	}
	if (of_leaf && (op->loads_later != 0 || evaluator->program->list_entries))
		keep_positions(evaluator, source, kept);
	if (source->number != NULL)
		keep_numbers(evaluator, n);
	if (source->weight != NULL)
		gpb_strip_compact_words(evaluator->weight, evaluator->keep, n);
}

/* Add the strip's entries, as often as each counts, to the answers that were found for them. */
static void
weigh_entries(GpbEvaluator *evaluator, const GpbStripSource *source)
{
	uint32		sums = 0;
	int			i;

	for (i = 0; i < evaluator->form.nsums; i++)
		sums |= (uint32) 1 << evaluator->form.sum[i];
	gpb_terms_weigh(&evaluator->strip, evaluator->format, source->weight, sums,
					evaluator->answers);
}

/* Let all entries of the strip be added to this answer. */
static void
answer_all(GpbEvaluator *evaluator, int64 *answer)
{
	int			i;

	for (i = 0; i < evaluator->strip.n; i++)
		evaluator->answers[i] = answer;
}

/* Add the strip's entries to their groups. */
static GpbEvaluation
add_to_groups(GpbEvaluator *evaluator, const GpbStripSource *source)
{
	const GpbProgram *program = evaluator->program;
	const GpbStrip *strip = &evaluator->strip;
	const int64 *words[GPB_MAX_GROUP_SLOTS];
	const uint8 *nulls[GPB_MAX_GROUP_SLOTS];
	const uint32 *number = NULL;
	bool		same = !program->by_range || source->number == NULL;
	int			g;
	int			i;

	for (g = 0; g < program->ngroups; g++)
	{
		const GpbStripSlot *slot = &strip->slot[program->group[g]];

		words[g] = slot->words;
		nulls[g] = slot->has_nulls ? slot->nulls : NULL;
		same = same && nulls[g] == NULL && gpb_strip_same(words[g], strip->n);
	}
	if (program->by_range && source->number != NULL)
		number = source->number;
	else if (program->by_range)
	{
		for (i = 0; i < (same ? 1 : strip->n); i++)
			evaluator->leaf_number[i] = source->one_number;
		number = evaluator->leaf_number;
	}
	if (!gpb_groups_find(evaluator->sink.groups, same ? 1 : strip->n, words, nulls, number,
						 evaluator->answers))
		return GPB_EVALUATION_FULL;
	if (source->weight != NULL)
	{
		if (same)
			answer_all(evaluator, evaluator->answers[0]);
		weigh_entries(evaluator, source);
		return GPB_EVALUATED;
	}
	if (same ? gpb_terms_add(strip, evaluator->format, evaluator->answers[0]) :
		gpb_terms_scatter(strip, evaluator->format, evaluator->answers))
		return GPB_EVALUATED;
	return GPB_EVALUATION_UNHELD;
}

/* Add the strip's entries to the answers of their ranges, or to the one answer; sums are wide. */
static void
add_to_answers(GpbEvaluator *evaluator, const GpbStripSource *source)
{
	const GpbStrip *strip = &evaluator->strip;
	int64	   *answers = evaluator->sink.answers;
	size_t		words = evaluator->format->words;
	int			i;

	if (!evaluator->sink.by_number && source->weight != NULL)
	{
		answer_all(evaluator, answers);
		weigh_entries(evaluator, source);
	}
	else if (!evaluator->sink.by_number)
		(void) gpb_terms_add(strip, evaluator->format, answers);
	else if (source->number == NULL)
		(void) gpb_terms_add(strip, evaluator->format, answers + source->one_number * words);
	else
	{
		for (i = 0; i < strip->n; i++)
			evaluator->answers[i] = answers + source->number[i] * words;
		if (source->weight != NULL)
			weigh_entries(evaluator, source);
		else
			(void) gpb_terms_scatter(strip, evaluator->format, evaluator->answers);
	}
}

/* Put the entries of the source, n of them, through the program. */
static void
evaluate_strip(GpbEvaluator *evaluator, GpbStripSource *source, int n)
{
	GpbStrip   *strip = &evaluator->strip;
	int			i;

	strip->n = n;
	for (i = 0; i < evaluator->work.nops && strip->n > 0; i++)
	{
		const GpbEvaluatorOp *op = &evaluator->work.op[i];
		const GpbStep *step = &evaluator->program->step[op->which];

		if (op->what == GPB_EVALUATE_FILTER)
			filter_strip(evaluator, op, step->a, source);
		else if (op->what == GPB_EVALUATE_STEP)
		{
			if (!gpb_strip_step(strip, step))
			{
				evaluator->outcome = GPB_EVALUATION_FAULTED;
				return;
			}
		}
		else if (source->page != NULL)
			load_column(evaluator, source, op->which);
	}
	if (source->weight == NULL)
		evaluator->counted += strip->n;
	for (i = 0; i < strip->n && source->weight != NULL; i++)
		evaluator->counted += source->weight[i];
	if (strip->n == 0)
		return;
	if (evaluator->sink.groups == NULL)
		add_to_answers(evaluator, source);
	else
		evaluator->outcome = add_to_groups(evaluator, source);
}

/* ---- lists ---- */

/* The position on the leaf of entry i of the strip. */
static inline int
source_position(const GpbStripSource *source, int i)
{
	return gpb_pick_position(&source->pick, i, source->pick.at == NULL);
}

/*
 * Judge the strip's entries one by one, since a step faulted for one of them.  They passed the
 * filters before that step, and do so again.  Returns how many are to be listed.
 */
static int
judge_singly(const GpbEvaluator *evaluator, const GpbStripSource *source, uint8 *judged,
			 uint64 *rank)
{
	const GpbLayout *layout = &evaluator->program->layout;
	int			listed = 0;
	int			i;

	for (i = 0; i < evaluator->strip.n; i++)
	{
		int			at = source_position(source, i);
		uint64		ranked;
		GpbSpreadRow spread;

		judged[at] = gpb_judge_entry(evaluator->program,
									 gpb_leaf_key(source->page, layout->key_width,
												  source->row_width, at),
									 gpb_spread_row(source->page, source->row_width, at, &spread),
									 &ranked);
		rank[at] = ranked;
		listed += judged[at] != GPB_JUDGED_DROPPED;
	}
	return listed;
}

/*
 * Judge the entries of the source, all of which are marked dropped.  Returns how many are to be
 * listed.
 */
static int
judge_strip(GpbEvaluator *evaluator, GpbStripSource *source, uint8 *judged, uint64 *rank)
{
	const GpbProgram *program = evaluator->program;
	GpbStrip   *strip = &evaluator->strip;
	const GpbStripSlot *order = &strip->slot[program->order];
	int			i;

	strip->n = source->pick.n;
	for (i = 0; i < evaluator->work.nops && strip->n > 0; i++)
	{
		const GpbEvaluatorOp *op = &evaluator->work.op[i];
		const GpbStep *step = &program->step[op->which];

		if (op->what == GPB_EVALUATE_FILTER)
			filter_strip(evaluator, op, step->a, source);
		else if (op->what == GPB_EVALUATE_LOAD)
			load_column(evaluator, source, op->which);
		else if (!gpb_strip_step(strip, step))
			return judge_singly(evaluator, source, judged, rank);
	}
	for (i = 0; i < strip->n; i++)
		judged[source_position(source, i)] = GPB_JUDGED_LISTED;
	for (i = 0; i < strip->n && program->limit > 0; i++)
		rank[source_position(source, i)] =
			gpb_list_rank(program->descending, program->nulls_first, order->words[i],
						  order->has_nulls && order->nulls[i]);
	return strip->n;
}

/* ---- the interface ---- */

/* The strip of the picked entries from number "first" on */
static GpbStripSource
strip_of_pick(const GpbLeafPick *pick, const void *page, int first)
{
	GpbStripSource source;

	memset(&source, 0, sizeof(source));
	source.page = (const char *) page;
	source.row_width = gpb_page_row_width(page);
	source.pick.at = pick->at == NULL ? NULL : pick->at + first;
	source.pick.first = pick->first + first;
	source.pick.n = pick->n - first < GPB_STRIP ? pick->n - first : GPB_STRIP;
	return source;
}

int
gpb_judge_leaf(GpbEvaluator *evaluator, const void *page, const GpbLeafPick *pick, uint8 *judged,
			   uint64 *rank)
{
	int			listed = 0;
	int			first;
	int			i;

	for (first = 0; first < pick->n; first += GPB_STRIP)
	{
		GpbStripSource source = strip_of_pick(pick, page, first);

		if (pick->at == NULL)
			memset(judged + source.pick.first, GPB_JUDGED_DROPPED, source.pick.n);
		for (i = 0; i < source.pick.n && pick->at != NULL; i++)
			judged[source.pick.at[i]] = GPB_JUDGED_DROPPED;
		listed += judge_strip(evaluator, &source, judged, rank);
	}
	return listed;
}

/* Fewer entries of a leaf than this are gathered with others. */
#define GPB_OWN_STRIP	16

void
gpb_evaluate_leaf(GpbEvaluator *evaluator, uint32 number, const void *page,
				  const GpbLeafPick *pick)
{
	const GpbLayout *layout = &evaluator->program->layout;
	int			row_width = gpb_page_row_width(page);
	int			first;
	int			i;

	for (i = 0; i < pick->n && pick->n < GPB_OWN_STRIP; i++)
	{
		int			at = gpb_pick_position(pick, i, pick->at == NULL);
		GpbSpreadRow spread;

		gpb_evaluate_entry(evaluator, number,
						   gpb_leaf_key(page, layout->key_width, row_width, at),
						   gpb_spread_row(page, row_width, at, &spread));
	}
	if (pick->n < GPB_OWN_STRIP)
		return;
	for (first = 0; first < pick->n && evaluator->outcome == GPB_EVALUATED; first += GPB_STRIP)
	{
		GpbStripSource source = strip_of_pick(pick, page, first);

		source.one_number = number;
		evaluate_strip(evaluator, &source, source.pick.n);
	}
}

void
gpb_evaluator_renew_constants(GpbEvaluator *evaluator)
{
	GpbSlotSet	used = gpb_used_slots(evaluator->program);
	int			i;

	for (i = 0; i < evaluator->program->nconstants; i++)
	{
		int			s = GPB_FIRST_CONSTANT + i;

		if (gpb_slots_have(&used, s))
			fill_constant(evaluator->program, i, &evaluator->strip.slot[s]);
	}
}

/* Put what was gathered through the program. */
static void
evaluate_gathered(GpbEvaluator *evaluator)
{
	GpbStripSource source;
	int			i;

	memset(&source, 0, sizeof(source));
	source.number = evaluator->number;
	if (evaluator->weighted)
		source.weight = evaluator->weight;
	for (i = 0; i < evaluator->work.ncolumns; i++)
	{
		int			c = evaluator->work.column[i];

		evaluator->strip.slot[c] = evaluator->gathered[c];
		evaluator->gathered[c].has_nulls = false;
	}
	evaluate_strip(evaluator, &source, evaluator->ngathered);
	evaluator->ngathered = 0;
	evaluator->weighted = false;
}

/* Make the value of a column the one that is gathered last; the word of a NULL is 0. */
static inline void
gather_value(GpbStripSlot *slot, int at, GpbValue value)
{
	slot->words[at] = value.word;
	slot->nulls[at] = value.is_null;
	slot->has_nulls |= value.is_null;
}

void
gpb_evaluate_entry(GpbEvaluator *evaluator, uint32 number, GpbKey key, const char *row)
{
	const GpbLayout *layout = &evaluator->program->layout;
	int			at = evaluator->ngathered;
	int			i;

	if (evaluator->outcome != GPB_EVALUATED)
		return;
	for (i = 0; i < evaluator->work.ncolumns; i++)
	{
		int			s = evaluator->work.column[i];
		bool		lower;
		int			c = gpb_slot_column(evaluator->program, s, &lower);
		GpbValue	value = gpb_entry_value(layout, c, lower, key, row);

		gather_value(&evaluator->gathered[s], at, value);
	}
	evaluator->number[at] = number;
	if (++evaluator->ngathered == GPB_STRIP)
		evaluate_gathered(evaluator);
}

void
gpb_evaluate_values(GpbEvaluator *evaluator, const GpbValue *values)
{
	int			at = evaluator->ngathered;
	int			i;

	if (evaluator->outcome != GPB_EVALUATED)
		return;
	for (i = 0; i < evaluator->work.ncolumns; i++)
	{
		int			s = evaluator->work.column[i];

		gather_value(&evaluator->gathered[s], at, values[s]);
	}
	evaluator->number[at] = 0;
	if (++evaluator->ngathered == GPB_STRIP)
		evaluate_gathered(evaluator);
}

/* ---- many entries with one value ---- */

/* Exact sums of float8 are no multiples of a value. */
const GpbValueForm *
gpb_evaluator_by_value(GpbEvaluator *evaluator)
{
	if (evaluator->program->list_entries || gpb_answer_has_float_sums(evaluator->format) ||
		!gpb_work_by_value(evaluator->program, &evaluator->work, &evaluator->form))
		return NULL;
	return &evaluator->form;
}

void
gpb_evaluate_value(GpbEvaluator *evaluator, uint32 number, int64 value, bool is_null,
				   int64 weight, const int64 *sums)
{
	const GpbValueForm *form = &evaluator->form;
	int			at = evaluator->ngathered;
	int			i;

	if (evaluator->outcome != GPB_EVALUATED)
		return;
	/* Those that are gathered besides, one by one, count once. */
	for (i = 0; i < GPB_STRIP && !evaluator->weighted; i++)
		evaluator->weight[i] = 1;
	gather_value(&evaluator->gathered[form->slot], at, (GpbValue) {is_null ? 0 : value, is_null});
	for (i = 0; i < form->nsums; i++)
		gather_value(&evaluator->gathered[form->sum[i]], at, (GpbValue) {sums[i], false});
	evaluator->number[at] = number;
	evaluator->weight[at] = weight;
	evaluator->weighted = true;
	if (++evaluator->ngathered == GPB_STRIP)
		evaluate_gathered(evaluator);
}

int
gpb_evaluator_load(GpbEvaluator *evaluator, const void *page, int first)
{
	GpbLeafPick pick = {NULL, 0, gpb_page_count(page)};
	GpbStripSource source;
	int			i;

	if (first >= pick.n)
		return 0;
	source = strip_of_pick(&pick, page, first);
	for (i = 0; i < evaluator->work.ncolumns; i++)
		load_column(evaluator, &source, evaluator->work.column[i]);
	return source.pick.n;
}

/* ---- the end ---- */

void
gpb_evaluate_rest(GpbEvaluator *evaluator)
{
	if (evaluator->outcome == GPB_EVALUATED && evaluator->ngathered > 0)
		evaluate_gathered(evaluator);
}
