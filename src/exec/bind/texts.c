/*-------------------------------------------------------------------------
 *
 * texts.c
 *	  Numbers for values of variable width, in the place of the codes of an index's dictionary.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "exec/bind/texts.h"

/* Values for which there is room at first; a power of two */
#define GPB_FIRST_TEXTS		64

/* A value, and its hash */
typedef struct GpbText
{
	struct varlena *value;
	uint32		hash;
} GpbText;

/* Open addressing: a place has a number plus 1, or 0.  Half of the places are free at least. */
struct GpbTexts
{
	MemoryContext context;		/* of all that follows */
	uint32		n;
	uint32		room;			/* of text[]; a power of two */
	GpbText    *text;			/* by number */
	uint32	   *place;			/* twice as many as there is room for texts */
};

/* Get room for the first values. */
static void
make_room(GpbTexts *texts)
{
	texts->n = 0;
	texts->room = GPB_FIRST_TEXTS;
	texts->text = MemoryContextAlloc(texts->context, sizeof(GpbText) * texts->room);
	texts->place = MemoryContextAllocZero(texts->context, sizeof(uint32) * 2 * texts->room);
}

GpbTexts *
gpb_texts_begin(void)
{
	GpbTexts   *texts = palloc(sizeof(GpbTexts));

	texts->context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree texts",
										   ALLOCSET_DEFAULT_SIZES);
	make_room(texts);
	return texts;
}

void
gpb_texts_reset(GpbTexts *texts)
{
	if (texts->n == 0)
		return;
	MemoryContextReset(texts->context);
	make_room(texts);
}

/* The place of a value, or a free one where it would be */
static uint32 *
find_place(const GpbTexts *texts, const char *bytes, int length, uint32 hash)
{
	uint32		mask = 2 * texts->room - 1;
	uint32		at = hash & mask;

	for (; texts->place[at] != 0; at = (at + 1) & mask)
	{
		const GpbText *text = &texts->text[texts->place[at] - 1];

		if (text->hash == hash && VARSIZE(text->value) - VARHDRSZ == (Size) length &&
			memcmp(VARDATA(text->value), bytes, length) == 0)
			break;
	}
	return &texts->place[at];
}

/* Double the room, and put all values at their new places. */
static void
grow(GpbTexts *texts)
{
	uint32		mask;

	texts->room *= 2;
	texts->text = repalloc_huge(texts->text, sizeof(GpbText) * texts->room);
	pfree(texts->place);
	texts->place = MemoryContextAllocExtended(texts->context, sizeof(uint32) * 2 * texts->room,
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	mask = 2 * texts->room - 1;
	for (uint32 i = 0; i < texts->n; i++)
	{
		uint32		at = texts->text[i].hash & mask;

		while (texts->place[at] != 0)
			at = (at + 1) & mask;
		texts->place[at] = i + 1;
	}
}

uint32
gpb_texts_number(GpbTexts *texts, const char *bytes, int length)
{
	uint32		hash = hash_bytes((const unsigned char *) bytes, length);
	uint32	   *place = find_place(texts, bytes, length, hash);
	GpbText    *text;

	if (*place != 0)
		return *place - 1;
	if (texts->n == texts->room)
	{
		if (texts->room > PG_UINT32_MAX / 4)
			elog(ERROR, "too many values of groups");
		grow(texts);
		place = find_place(texts, bytes, length, hash);
	}
	text = &texts->text[texts->n];
	text->hash = hash;
	text->value = MemoryContextAlloc(texts->context, VARHDRSZ + length);
	SET_VARSIZE(text->value, VARHDRSZ + length);
	memcpy(VARDATA(text->value), bytes, length);
	*place = ++texts->n;
	return texts->n - 1;
}

Datum
gpb_texts_value(const GpbTexts *texts, uint32 number)
{
	Assert(number < texts->n);
	return PointerGetDatum(texts->text[number].value);
}

Size
gpb_texts_bytes(const GpbTexts *texts)
{
	return MemoryContextMemAllocated(texts->context, false);
}
