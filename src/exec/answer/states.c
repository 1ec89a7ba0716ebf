/*-------------------------------------------------------------------------
 *
 * states.c
 *	  States: groups of a program, in a form that goes from one plan node to another.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "lib/stringinfo.h"

#include "exec/answer/states.h"

/* What a row begins with */
typedef struct GpbStatesHeader
{
	uint8		version;
	uint8		kind;			/* GpbStatesKind */
	uint8		number;
	uint8		narrow;
	uint32		n;
} GpbStatesHeader;

/* ---- writing ---- */

/* Begin a row: room for the bytea's length, and the header, whose n is set at the end. */
static void
begin_row(StringInfo row, GpbStatesKind kind, int number, bool narrow)
{
	GpbStatesHeader header = {GPB_STATES_VERSION, (uint8) kind, (uint8) number, narrow};

	initStringInfo(row);
	appendStringInfoSpaces(row, VARHDRSZ);
	appendBinaryStringInfo(row, (char *) &header, sizeof(header));
}

static bytea *
end_row(StringInfo row, uint32 n)
{
	memcpy(row->data + VARHDRSZ + offsetof(GpbStatesHeader, n), &n, sizeof(n));
	SET_VARSIZE(row->data, row->len);
	return (bytea *) row->data;
}

bytea *
gpb_states_refusal(const char *why)
{
	StringInfoData row;

	begin_row(&row, GPB_STATES_REFUSAL, 0, false);
	appendBinaryStringInfo(&row, why, (int) strlen(why));
	return end_row(&row, (uint32) strlen(why));
}

/* Has this group slot a code? */
static inline bool
is_code(const GpbStatesForm *form, int slot)
{
	return form->type[slot].class == GPB_WORDS_CODE;
}

bool
gpb_states_have_codes(const GpbStatesForm *form)
{
	for (int slot = 0; slot < form->nslots; slot++)
	{
		if (is_code(form, slot))
			return true;
	}
	return false;
}

/*
 * Append a group's record, with 0 in the place of codes, to the row, and the values of these to
 * *texts.
 */
static void
append_group(const GpbStatesForm *form, const GpbCodeSource *codes, const GpbGroup *group,
			 Size width, StringInfo row, StringInfo texts)
{
	int			at = row->len;

	appendBinaryStringInfo(row, (const char *) group, (int) width);
	for (int slot = 0; slot < form->nslots; slot++)
	{
		struct varlena *value;
		int32		length;

		if (!is_code(form, slot) || (group->nulls >> slot & 1) != 0)
			continue;
		value = (struct varlena *)
			DatumGetPointer(gpb_words_value(codes, form->type[slot], &group->words[slot]));
		length = (int32) VARSIZE(value) - VARHDRSZ;
		appendBinaryStringInfo(texts, (char *) &length, sizeof(length));
		appendBinaryStringInfo(texts, VARDATA(value), length);
		memset(row->data + at + offsetof(GpbGroup, words) + sizeof(int64) * slot, 0,
			   sizeof(int64));
	}
}

/* Are the exact sums of answers narrow? */
static bool
has_narrow_sums(const GpbAnswerFormat *format)
{
	return format->sum_words == GPB_NARROW_SUM_WORDS;
}

bytea *
gpb_states_make(const GpbStatesForm *form, const GpbCodeSource *codes,
				const GpbAnswerFormat *format, const GpbGroup *const *groups, int n)
{
	Size		width = sizeof(GpbGroup) + (form->nslots + format->words) * sizeof(int64);
	StringInfoData row;
	StringInfoData texts;

	begin_row(&row, GPB_STATES_GROUPS, form->number, has_narrow_sums(format));
	initStringInfo(&texts);
	for (int i = 0; i < n; i++)
		append_group(form, codes, groups[i], width, &row, &texts);
	appendBinaryStringInfo(&row, texts.data, texts.len);
	return end_row(&row, n);
}

/* The only row of a program without group slots */
static bytea *
total_row(const GpbStatesForm *form, const GpbAsk *ask)
{
	const GpbAnswerFormat *format = gpb_ask_format(ask);
	GpbGroup   *total = palloc0(sizeof(GpbGroup) + gpb_answer_width(format));

	memcpy(total->words, gpb_group_answer(ask), gpb_answer_width(format));
	return gpb_states_make(form, NULL, format, (const GpbGroup *const *) &total, 1);
}

bytea *
gpb_states_next(const GpbStatesForm *form, const GpbCodeSource *codes, GpbAsk *ask, uint64 *at)
{
	const GpbGroup *groups[GPB_STATES_TOGETHER];
	int			n = 0;

	if (form->nslots == 0)
		return (*at)++ == 0 ? total_row(form, ask) : NULL;
	while (n < GPB_STATES_TOGETHER && (groups[n] = gpb_ask_next_group(ask, at)) != NULL)
		n++;
	return n == 0 ? NULL : gpb_states_make(form, codes, gpb_ask_format(ask), groups, n);
}

bytea *
gpb_states_here(const GpbStatesForm *form, GpbAsk *ask)
{
	StringInfoData row;

	Assert(!gpb_states_have_codes(form));
	begin_row(&row, GPB_STATES_HERE, form->number, has_narrow_sums(gpb_ask_format(ask)));
	appendBinaryStringInfo(&row, (char *) &ask, sizeof(ask));
	return end_row(&row, 0);
}

/* ---- reading ---- */

void
gpb_states_open(const struct varlena *bytes, GpbStatesRow *row)
{
	GpbStatesHeader header;
	Size		length = VARSIZE_ANY_EXHDR(bytes);

	if (length < sizeof(header))
		elog(ERROR, "a row of states has only %zu bytes", length);
	memcpy(&header, VARDATA_ANY(bytes), sizeof(header));
	if (header.version != GPB_STATES_VERSION)
		elog(ERROR, "a row of states has version %d, not %d", header.version, GPB_STATES_VERSION);
	row->kind = header.kind;
	row->number = header.number;
	row->narrow = header.narrow != 0;
	row->n = header.n;
	row->bytes = VARDATA_ANY(bytes) + sizeof(header);
	row->length = length - sizeof(header);
	row->here = NULL;
	if (row->kind == GPB_STATES_HERE && row->length == sizeof(row->here))
		memcpy(&row->here, row->bytes, sizeof(row->here));
}

char *
gpb_states_reason(const GpbStatesRow *row)
{
	return pnstrdup(row->bytes, row->length);
}

/* Take bytes of a row from *at on.  Raises an error if it has no more so many. */
static const char *
take_bytes(const GpbStatesRow *row, Size *at, Size length)
{
	const char *bytes = row->bytes + *at;

	if (length > row->length - *at)
		elog(ERROR, "a row of states is of another program, or was cut short");
	*at += length;
	return bytes;
}

/* Put numbers in the place of the values of a group's codes, which are at *at in the row. */
static void
number_texts(const GpbStatesForm *form, const GpbStatesRow *row, GpbTexts *texts, Size *at,
			 GpbGroup *group)
{
	for (int slot = 0; slot < form->nslots; slot++)
	{
		int32		length;

		if (!is_code(form, slot) || (group->nulls >> slot & 1) != 0)
			continue;
		memcpy(&length, take_bytes(row, at, sizeof(length)), sizeof(length));
		group->words[slot] = gpb_texts_number(texts, take_bytes(row, at, length), length);
	}
}

char *
gpb_states_groups(const GpbStatesForm *form, const GpbStatesRow *row, Size width, GpbTexts *texts)
{
	Size		at = 0;
	char	   *groups;

	if (row->n > GPB_STATES_TOGETHER)
		elog(ERROR, "a row of states has %u groups", row->n);
	/* a copy, since the row's bytes are not aligned */
	groups = palloc(Max(width * row->n, 1));
	memcpy(groups, take_bytes(row, &at, width * row->n), width * row->n);
	for (uint32 i = 0; i < row->n; i++)
		number_texts(form, row, texts, &at, (GpbGroup *) (groups + width * i));
	if (at != row->length)
		elog(ERROR, "a row of states is of another program");
	return groups;
}

/* Merge the groups of an ask, where they are. */
static bool
merge_here(const GpbStatesRow *row, GpbCollected *collected)
{
	const char *first;
	uint64		at = 0;
	uint64		some;

	gpb_collected_expect(collected, gpb_ask_group_count(row->here));
	while ((some = gpb_ask_adjacent_groups(row->here, at, &first)) > 0)
	{
		if (!gpb_collected_merge(collected, first, some, row->narrow))
			return false;
		at += some;
	}
	return true;
}

bool
gpb_states_merge(const GpbStatesForm *form, const GpbStatesRow *row, GpbTexts *texts, GpbAsk *ask)
{
	GpbCollected *collected = gpb_ask_collected(ask);
	char	   *groups;
	bool		merged;

	if (row->here != NULL)
		return merge_here(row, collected);
	groups = gpb_states_groups(form, row, gpb_collected_width(collected, row->narrow), texts);
	merged = gpb_collected_merge(collected, groups, row->n, row->narrow);
	pfree(groups);
	return merged;
}

uint64
gpb_states_count(const GpbStatesRow *row)
{
	return row->here != NULL ? gpb_ask_group_count(row->here) : row->n;
}
