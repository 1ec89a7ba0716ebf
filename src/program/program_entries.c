/*-------------------------------------------------------------------------
 *
 * program_entries.c
 *	  Entries of leaves, and single ones, put through a program on the CPU.
 *
 *-------------------------------------------------------------------------
 */
#include "program/program_entries.h"
#include "program/program_terms.h"

/* A set of slots */
typedef struct SlotSet
{
	uint64		word[2];
} SlotSet;

static inline void
set_add(SlotSet *set, int slot)
{
	if (slot != GPB_NO_SLOT)
		set->word[slot / 64] |= (uint64) 1 << (slot % 64);
}

static inline bool
set_has(const SlotSet *set, int slot)
{
	return (set->word[slot / 64] >> (slot % 64)) & 1;
}

/* ---- the order of work ---- */

/* Add the slots that a step reads. */
static void
add_step_slots(const GpbStep *step, SlotSet *slots)
{
	int			operands = gpb_operands(step->op);

	set_add(slots, step->a);
	if (operands > 1)
		set_add(slots, step->b);
	if (operands > 2)
		set_add(slots, step->c);
	if (step->op != GPB_OP_FILTER)
		set_add(slots, step->guard);
}

/* Add the slots that terms and groups read, or the order of a limited list. */
static void
add_result_slots(const GpbProgram *program, SlotSet *slots)
{
	int			i;

	if (gpb_program_judges(program) && program->limit > 0)
		set_add(slots, program->order);

	for (i = 0; i < program->nterms; i++)
	{
		set_add(slots, program->term[i].slot);
		set_add(slots, program->term[i].filter);
		set_add(slots, gpb_term_lower(&program->term[i]));
	}
	for (i = 0; i < program->ngroups; i++)
		set_add(slots, program->group[i]);
}

/* The slots that the program reads or writes */
static SlotSet
used_slots(const GpbProgram *program)
{
	SlotSet		used = {{0, 0}};
	int			i;

	add_result_slots(program, &used);
	for (i = 0; i < program->nsteps; i++)
	{
		add_step_slots(&program->step[i], &used);
		if (program->step[i].op != GPB_OP_FILTER)
			set_add(&used, program->step[i].into);
	}
	return used;
}

/* Plan to load the columns among the slots that are not loaded yet. */
static void
plan_loads(GpbEvaluator *evaluator, const SlotSet *slots, SlotSet *loaded)
{
	int			c;

	for (c = 0; c < GPB_MAX_COLUMNS; c++)
	{
		GpbEvaluatorOp *op = &evaluator->op[evaluator->nops];

		if (!set_has(slots, c) || set_has(loaded, c))
			continue;
		op->what = GPB_EVALUATE_LOAD;
		op->which = (uint8) c;
		evaluator->nops++;
		evaluator->column[evaluator->ncolumns++] = (uint8) c;
		set_add(loaded, c);
	}
}

/* Note at each filter which slots are read after it, going backward. */
static void
plan_filters(GpbEvaluator *evaluator)
{
	const GpbProgram *program = evaluator->program;
	SlotSet		later = {{0, 0}};
	uint16		loads_later = 0;
	int			i;

	add_result_slots(program, &later);
	for (i = evaluator->nops - 1; i >= 0; i--)
	{
		GpbEvaluatorOp *op = &evaluator->op[i];
		const GpbStep *step = &program->step[op->which];

		if (op->what == GPB_EVALUATE_LOAD)
		{
			loads_later |= (uint16) (1 << op->which);
			continue;
		}
		if (op->what == GPB_EVALUATE_FILTER)
		{
			op->loads_later = loads_later;
			op->later[0] = later.word[0];
			op->later[1] = later.word[1];
		}
		else
			later.word[step->into / 64] &= ~((uint64) 1 << (step->into % 64));
		add_step_slots(step, &later);
	}
}

/* Plan what is done with each strip. */
static void
plan_work(GpbEvaluator *evaluator)
{
	const GpbProgram *program = evaluator->program;
	SlotSet		loaded = {{0, 0}};
	SlotSet		results = {{0, 0}};
	int			i;

	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];
		SlotSet		slots = {{0, 0}};
		GpbEvaluatorOp *op;

		add_step_slots(step, &slots);
		plan_loads(evaluator, &slots, &loaded);
		op = &evaluator->op[evaluator->nops++];
		op->what = step->op == GPB_OP_FILTER ? GPB_EVALUATE_FILTER : GPB_EVALUATE_STEP;
		op->which = (uint8) i;
	}
	add_result_slots(program, &results);
	plan_loads(evaluator, &results, &loaded);
	plan_filters(evaluator);
}

/* ---- memory ---- */

/* Are the slot's values needed as arrays?  Those of lists are not. */
static int
count_slots(const GpbProgram *program, int *columns)
{
	SlotSet		used = used_slots(program);
	int			n = 0;
	int			s;

	*columns = 0;
	for (s = 0; s < GPB_SLOTS; s++)
	{
		n += set_has(&used, s);
		*columns += s < GPB_FIRST_CONSTANT && set_has(&used, s);
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
	SlotSet		used = used_slots(program);
	int			s;

	memset(evaluator, 0, sizeof(*evaluator));
	evaluator->program = program;
	evaluator->format = format;
	evaluator->strip.program = program;
	plan_work(evaluator);
	for (s = 0; s < GPB_SLOTS; s++)
	{
		GpbStripSlot *slot = &evaluator->strip.slot[s];

		if (!set_has(&used, s))
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

/* ---- loading columns of a leaf ---- */

/* The entries of a strip on a leaf; at is NULL as long as they lie one after the other. */
typedef struct StripSource
{
	const char *page;			/* NULL: the columns were loaded as entries were gathered */
	int			row_width;		/* of the page */
	GpbLeafPick pick;
	uint64		locators;		/* a bit is set if it is in any entry's locator */
	bool		has_locators;	/* is "locators" set? */
	const uint32 *number;		/* of the entries' ranges; NULL if all belong to one */
	uint32		one_number;
	const int64 *weight;		/* how often each counts; NULL: once */
} StripSource;

/* The bits that the locators of any of the entries have; contiguous is a constant. */
GPB_FN uint64
or_locators(const StripSource *source, int row_width, bool contiguous)
{
	GpbLeafPick pick = source->pick;
	const char *rows = gpb_page_row(source->page, row_width, 0);
	uint64		even = 0;
	uint64		odd = 0;
	int			i;

	for (i = 0; i + 1 < pick.n; i += 2)
	{
		even |= gpb_stored_locator(rows - gpb_pick_position(&pick, i, contiguous) * row_width,
								   row_width);
		odd |= gpb_stored_locator(rows - gpb_pick_position(&pick, i + 1, contiguous) * row_width,
								  row_width);
	}
	if (i < pick.n)
		even |= gpb_stored_locator(rows - gpb_pick_position(&pick, i, contiguous) * row_width,
								   row_width);
	return even | odd;
}

static uint64
source_locators(const StripSource *source)
{
	if (gpb_has_runs(source->row_width))
		return source->pick.at == NULL ? or_locators(source, GPB_RUN_ROW_WIDTH, true) :
			or_locators(source, GPB_RUN_ROW_WIDTH, false);
	return source->pick.at == NULL ? or_locators(source, source->row_width, true) :
		or_locators(source, source->row_width, false);
}

/* ---- keys of a leaf with runs ---- */

/* What is loaded of a key: see gpb_slot_column() */
typedef struct KeyField
{
	int			column;			/* of a key that has several, counted from 0; -1: the key */
	bool		lower;			/* of a wide key, which half */
} KeyField;

/* The value of a field of a key; *is_null is set if the field is a column's, and that is NULL. */
static int64
key_field(const GpbLayout *layout, KeyField field, GpbKey key, bool *is_null)
{
	*is_null = field.column >= 0 && gpb_key_column_is_null(layout, field.column, key);
	if (*is_null)
		return 0;
	if (field.column >= 0)
		return gpb_key_column_value(layout, field.column, key);
	return gpb_is_wide(layout->key_width) ? gpb_key_half(key, layout->flags, field.lower) :
		gpb_key_value((uint64) key, layout->key_width, layout->flags);
}

/* Load a field of the keys, which is the same for all entries of a run. */
static void
load_runs(const GpbLayout *layout, const StripSource *source, KeyField field, GpbStripSlot *slot)
{
	int			key_width = layout->key_width;
	const GpbLeafPick *pick = &source->pick;
	GpbKeyReader reader = gpb_read_keys(source->page, key_width, GPB_RUN_ROW_WIDTH,
										gpb_pick_position(pick, 0, pick->at == NULL));
	int			end;
	int			i;

	slot->has_nulls = false;
	for (i = 0; i < pick->n; i = end)
	{
		GpbKey		key = gpb_next_key(&reader, key_width, GPB_RUN_ROW_WIDTH,
									   gpb_pick_position(pick, i, pick->at == NULL));
		bool		is_null;
		int64		word = key_field(layout, field, key, &is_null);
		int			at;

		end = gpb_pick_run_end(&reader, pick, i);
		for (at = i; at < end; at++)
			slot->words[at] = word;
		if (field.column >= 0)
			memset(slot->nulls + i, is_null, end - i);
		slot->has_nulls |= is_null;
	}
}

/* ---- keys of other leaves ---- */

/* Load the keys as values; key_width, descending and contiguous are constants. */
GPB_FN void
load_key_values(const StripSource *source, int key_width, int flags, bool contiguous,
				int64 *words)
{
	const char *page = source->page;
	GpbLeafPick pick = source->pick;
	int			i;

	for (i = 0; i < pick.n; i++)
	{
		GpbKey		key = gpb_page_key(page, key_width, gpb_pick_position(&pick, i, contiguous));

		words[i] = gpb_key_value((uint64) key, key_width, flags);
	}
}

/* Load halves of wide keys; lower and contiguous are constants. */
GPB_FN void
load_key_halves(const StripSource *source, int flags, bool lower, bool contiguous, int64 *words)
{
	const char *page = source->page;
	GpbLeafPick pick = source->pick;
	int			i;

	for (i = 0; i < pick.n; i++)
	{
		GpbKey		key = gpb_page_key(page, GPB_WIDE_KEY,
									   gpb_pick_position(&pick, i, contiguous));

		words[i] = gpb_key_half(key, flags, lower);
	}
}

static void
load_wide_keys(const GpbLayout *layout, const StripSource *source, bool lower, int64 *words)
{
	if (source->pick.at == NULL && !lower)
		load_key_halves(source, layout->flags, false, true, words);
	else if (source->pick.at == NULL)
		load_key_halves(source, layout->flags, true, true, words);
	else
		load_key_halves(source, layout->flags, lower, false, words);
}

/*
 * Load the keys, or a half of each.  With NULLS FIRST each locator says whether its key is NULL.
 */
static void
load_keys(const GpbLayout *layout, const StripSource *source, bool lower, GpbStripSlot *slot)
{
	bool		ascending = (layout->flags & GPB_LAYOUT_DESC) == 0;
	int			i;

	if (gpb_has_runs(source->row_width))
		load_runs(layout, source, (KeyField) {-1, lower}, slot);
	else if (gpb_is_wide(layout->key_width))
		load_wide_keys(layout, source, lower, slot->words);
	else if (source->pick.at != NULL)
		load_key_values(source, layout->key_width, layout->flags, false, slot->words);
	else if (layout->key_width == 8 && ascending)
		load_key_values(source, 8, 0, true, slot->words);
	else if (layout->key_width == 4 && ascending)
		load_key_values(source, 4, 0, true, slot->words);
	else
		load_key_values(source, layout->key_width, layout->flags, true, slot->words);
	slot->has_nulls = false;
	if ((layout->flags & GPB_LAYOUT_NULLS_FIRST) == 0 &&
		(source->locators & GPB_LOC_ORDER_BIT) == 0)
		return;
	for (i = 0; i < source->pick.n; i++)
	{
		int			at = gpb_pick_position(&source->pick, i, source->pick.at == NULL);
		uint64		locator = gpb_page_locator(source->page, source->row_width, at);
		bool		is_null = gpb_locator_is_null(locator, layout->flags);

		slot->nulls[i] = is_null;
		slot->has_nulls |= is_null;
		if (is_null)
			slot->words[i] = 0;
	}
}

/* Load the values of an INCLUDE column; kind, contiguous and nulls are constants. */
GPB_FN void
load_values(const GpbLeafColumn *column, const GpbLeafPick *pick, int kind, bool contiguous,
			bool nulls, GpbStripSlot *slot)
{
	const GpbLeafColumn from = *column;
	int64	   *words = slot->words;
	uint8	   *null_bytes = slot->nulls;
	int			n = pick->n;
	int			i;

	for (i = 0; i < n; i++)
	{
		const char *row = from.rows - gpb_pick_position(pick, i, contiguous) * from.stride;
		int64		word = gpb_row_value(row, from.offset, kind);

		if (nulls)
		{
			bool		is_null = (gpb_row_locator(row) & from.null_bit) != 0;

			null_bytes[i] = is_null;
			word &= (int64) is_null - 1;
		}
		words[i] = word;
	}
}

/* Choose the loop by how the entries lie, and by whether any of the values may be NULL. */
GPB_FN void
load_kind(const GpbLeafColumn *column, const GpbLeafPick *pick, int kind, GpbStripSlot *slot)
{
	if (slot->has_nulls && pick->at == NULL)
		load_values(column, pick, kind, true, true, slot);
	else if (slot->has_nulls)
		load_values(column, pick, kind, false, true, slot);
	else if (pick->at == NULL)
		load_values(column, pick, kind, true, false, slot);
	else
		load_values(column, pick, kind, false, false, slot);
}

/* Load the values of a key column; the widths of keys, and contiguous, are constants. */
GPB_FN void
load_fields(const StripSource *source, GpbKeyColumn column, int key_width, bool contiguous,
			GpbStripSlot *slot)
{
	bool		may_be_null = gpb_column_has_null(column);
	GpbKey		null = gpb_null_field(column);
	int64	   *words = slot->words;
	uint8	   *nulls = slot->nulls;
	GpbLeafPick pick = source->pick;
	uint8		any = 0;
	int			i;

	for (i = 0; i < pick.n; i++)
	{
		GpbKey		key = gpb_page_key(source->page, key_width,
									   gpb_pick_position(&pick, i, contiguous));
		GpbKey		field = gpb_key_field(column, key);
		bool		is_null = may_be_null && field == null;

		nulls[i] = is_null;
		any |= is_null;
		words[i] = gpb_field_value(column, field) & ((int64) is_null - 1);
	}
	slot->has_nulls = any != 0;
}

/* Load key column number c, counted from 0, of a key that has several. */
static void
load_key_column(const GpbLayout *layout, const StripSource *source, int c, GpbStripSlot *slot)
{
	GpbKeyColumn column = layout->key[c];

	if (gpb_has_runs(source->row_width))
		load_runs(layout, source, (KeyField) {c, false}, slot);
	else if (source->pick.at != NULL)
		load_fields(source, column, layout->key_width, false, slot);
	else if (layout->key_width == 8)
		load_fields(source, column, 8, true, slot);
	else
		load_fields(source, column, layout->key_width, true, slot);
}

/* Choose the loop by the kind of an INCLUDE column's values, or of their lower halves. */
static void
load_kinds(const GpbLeafColumn *column, const GpbLeafPick *pick, int kind, GpbStripSlot *slot)
{
	switch (kind)
	{
		case GPB_KIND_INT2:
			load_kind(column, pick, GPB_KIND_INT2, slot);
			break;
		case GPB_KIND_INT4:
			load_kind(column, pick, GPB_KIND_INT4, slot);
			break;
		case GPB_KIND_INT128:
			load_kind(column, pick, GPB_KIND_INT128, slot);
			break;
		case GPB_KIND_INT128_LOWER:
			load_kind(column, pick, GPB_KIND_INT128_LOWER, slot);
			break;
		case GPB_KIND_BYTES16:
			load_kind(column, pick, GPB_KIND_BYTES16, slot);
			break;
		case GPB_KIND_BYTES16_LOWER:
			load_kind(column, pick, GPB_KIND_BYTES16_LOWER, slot);
			break;
		default:
			load_kind(column, pick, GPB_KIND_INT8, slot);
			break;
	}
}

/* Load the column of a slot, or the halves that it has, of the strip's entries. */
static void
load_column(GpbEvaluator *evaluator, StripSource *source, int s)
{
	const GpbLayout *layout = &evaluator->program->layout;
	GpbStripSlot *slot = &evaluator->strip.slot[s];
	bool		lower;
	int			c = gpb_slot_column(evaluator->program, s, &lower);
	int			kind;
	GpbLeafColumn column;

	if (!source->has_locators)
		source->locators = source_locators(source);
	source->has_locators = true;
	*slot = evaluator->leaf[s];
	if (c == 0)
	{
		load_keys(layout, source, lower, slot);
		return;
	}
	if (c > layout->ncolumns)
	{
		load_key_column(layout, source, c - layout->ncolumns - 1, slot);
		return;
	}
	column.rows = gpb_page_row(source->page, layout->row_width, 0);
	column.stride = layout->row_width;
	column.offset = layout->offset[c - 1];
	column.null_bit = (uint64) 1 << (GPB_LOC_NULL_SHIFT + c - 1);
	slot->has_nulls = (source->locators & column.null_bit) != 0;
	kind = layout->kind[c - 1];
	load_kinds(&column, &source->pick, lower ? gpb_lower_kind(kind) : kind, slot);
}

/* ---- a strip ---- */

/* Keep the positions on the leaf of the entries that a filter has kept. */
static void
keep_positions(GpbEvaluator *evaluator, StripSource *source, int kept)
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
filter_strip(GpbEvaluator *evaluator, const GpbEvaluatorOp *op, int filter, StripSource *source)
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
		uint64		later = op->later[w];

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
weigh_entries(GpbEvaluator *evaluator, const StripSource *source)
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
add_to_groups(GpbEvaluator *evaluator, const StripSource *source)
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
add_to_answers(GpbEvaluator *evaluator, const StripSource *source)
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
evaluate_strip(GpbEvaluator *evaluator, StripSource *source, int n)
{
	GpbStrip   *strip = &evaluator->strip;
	int			i;

	strip->n = n;
	for (i = 0; i < evaluator->nops && strip->n > 0; i++)
	{
		const GpbEvaluatorOp *op = &evaluator->op[i];
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
source_position(const StripSource *source, int i)
{
	return gpb_pick_position(&source->pick, i, source->pick.at == NULL);
}

/*
 * Judge the strip's entries one by one, since a step faulted for one of them.  They passed the
 * filters before that step, and do so again.  Returns how many are to be listed.
 */
static int
judge_singly(const GpbEvaluator *evaluator, const StripSource *source, uint8 *judged,
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
judge_strip(GpbEvaluator *evaluator, StripSource *source, uint8 *judged, uint64 *rank)
{
	const GpbProgram *program = evaluator->program;
	GpbStrip   *strip = &evaluator->strip;
	const GpbStripSlot *order = &strip->slot[program->order];
	int			i;

	strip->n = source->pick.n;
	for (i = 0; i < evaluator->nops && strip->n > 0; i++)
	{
		const GpbEvaluatorOp *op = &evaluator->op[i];
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
static StripSource
strip_of_pick(const GpbLeafPick *pick, const void *page, int first)
{
	StripSource source;

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
		StripSource source = strip_of_pick(pick, page, first);

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
		StripSource source = strip_of_pick(pick, page, first);

		source.one_number = number;
		evaluate_strip(evaluator, &source, source.pick.n);
	}
}

/* Put what was gathered through the program. */
static void
evaluate_gathered(GpbEvaluator *evaluator)
{
	StripSource source;
	int			i;

	memset(&source, 0, sizeof(source));
	source.number = evaluator->number;
	if (evaluator->weighted)
		source.weight = evaluator->weight;
	for (i = 0; i < evaluator->ncolumns; i++)
	{
		int			c = evaluator->column[i];

		evaluator->strip.slot[c] = evaluator->gathered[c];
		evaluator->gathered[c].has_nulls = false;
	}
	evaluate_strip(evaluator, &source, evaluator->ngathered);
	evaluator->ngathered = 0;
	evaluator->weighted = false;
}

/* Make the value of a column the one that is gathered last. */
static inline void
gather_value(GpbStripSlot *slot, int at, int64 word, bool is_null)
{
	slot->words[at] = is_null ? 0 : word;
	slot->nulls[at] = is_null;
	slot->has_nulls |= is_null;
}

/*
 * Make half of the key, or of an INCLUDE column that has halves, the value that is gathered last.
 */
static void
gather_half(const GpbLayout *layout, int c, bool lower, GpbKey key, const char *row, int at,
			GpbStripSlot *slot)
{
	uint64		locator = gpb_row_locator(row);
	int			kind;

	if (c == 0)
	{
		gather_value(slot, at, gpb_key_half(key, layout->flags, lower),
					 gpb_locator_is_null(locator, layout->flags));
		return;
	}
	kind = layout->kind[c - 1];
	gather_value(slot, at,
				 gpb_row_value(row, layout->offset[c - 1], lower ? gpb_lower_kind(kind) : kind),
				 gpb_locator_column_is_null(locator, c - 1));
}

void
gpb_evaluate_entry(GpbEvaluator *evaluator, uint32 number, GpbKey key, const char *row)
{
	const GpbLayout *layout = &evaluator->program->layout;
	uint64		locator = gpb_row_locator(row);
	int			at = evaluator->ngathered;
	int			i;

	if (evaluator->outcome != GPB_EVALUATED)
		return;
	for (i = 0; i < evaluator->ncolumns; i++)
	{
		int			s = evaluator->column[i];
		GpbStripSlot *slot = &evaluator->gathered[s];
		bool		lower;
		int			c = gpb_slot_column(evaluator->program, s, &lower);

		if (lower || (c == 0 && gpb_is_wide(layout->key_width)))
			gather_half(layout, c, lower, key, row, at, slot);
		else if (c == 0)
			gather_value(slot, at, gpb_key_value((uint64) key, layout->key_width,
													  layout->flags),
						 gpb_locator_is_null(locator, layout->flags));
		else if (c > layout->ncolumns)
			gather_value(slot, at, gpb_key_column_value(layout, c - layout->ncolumns - 1, key),
						 gpb_key_column_is_null(layout, c - layout->ncolumns - 1, key));
		else
			gather_value(slot, at, gpb_row_value(row, layout->offset[c - 1], layout->kind[c - 1]),
						 gpb_locator_column_is_null(locator, c - 1));
	}
	evaluator->number[at] = number;
	if (++evaluator->ngathered == GPB_STRIP)
		evaluate_gathered(evaluator);
}

/* ---- many entries with one value ---- */

/*
 * The column slots that steps, filters of terms, and groups read, and terms for more than sums.  A
 * sum that stands for many values is below NaN, as they are: see SUM_LIMIT in value_cells.c.
 */
static SlotSet
deciding_slots(const GpbProgram *program)
{
	SlotSet		slots = {{0, 0}};
	int			i;

	for (i = 0; i < program->nsteps; i++)
		add_step_slots(&program->step[i], &slots);
	for (i = 0; i < program->ngroups; i++)
		set_add(&slots, program->group[i]);
	for (i = 0; i < program->nterms; i++)
	{
		const GpbTerm *term = &program->term[i];
		int			sums = GPB_WANT_COUNT | GPB_WANT_SUM;

		if ((term->want & GPB_WANT_HALVES) == 0 && term->lower == GPB_BOUNDS_FIND_NAN)
			sums |= GPB_WANT_MINMAX;
		set_add(&slots, term->filter);
		if ((term->want & ~sums) == 0)
			continue;
		set_add(&slots, term->slot);
		set_add(&slots, gpb_term_lower(term));
	}
	return slots;
}

/*
 * Exact sums of float8 are no multiples of a value, and lower halves are in another slot than the
 * upper ones.
 */
const GpbValueForm *
gpb_evaluator_by_value(GpbEvaluator *evaluator)
{
	const GpbProgram *program = evaluator->program;
	GpbValueForm *form = &evaluator->form;
	SlotSet		deciding = deciding_slots(program);
	int			ndeciding = 0;
	int			i;

	form->nsums = 0;
	if (program->list_entries || program->nhalves > 0 ||
		gpb_answer_has_float_sums(evaluator->format))
		return NULL;
	for (i = 0; i < evaluator->ncolumns; i++)
	{
		if (set_has(&deciding, evaluator->column[i]))
		{
			form->slot = evaluator->column[i];
			ndeciding++;
		}
		else if (form->nsums == GPB_VALUE_SUMS)
			return NULL;
		else
			form->sum[form->nsums++] = evaluator->column[i];
	}
	return ndeciding == 1 ? form : NULL;
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
	gather_value(&evaluator->gathered[form->slot], at, value, is_null);
	for (i = 0; i < form->nsums; i++)
		gather_value(&evaluator->gathered[form->sum[i]], at, sums[i], false);
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
	StripSource source;
	int			i;

	if (first >= pick.n)
		return 0;
	source = strip_of_pick(&pick, page, first);
	for (i = 0; i < evaluator->ncolumns; i++)
		load_column(evaluator, &source, evaluator->column[i]);
	return source.pick.n;
}

/* ---- the end ---- */

void
gpb_evaluate_rest(GpbEvaluator *evaluator)
{
	if (evaluator->outcome == GPB_EVALUATED && evaluator->ngathered > 0)
		evaluate_gathered(evaluator);
}
