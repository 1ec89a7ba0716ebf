/*-------------------------------------------------------------------------
 *
 * dictionary_single.c
 *	  Single values and codes, looked up on the dictionary's pages.
 *
 * To read a million values into a copy takes some 80 ms; to go through their pages and compare each
 * value with one takes a few.  So as long as the copy lacks very many, whoever wants a single code
 * reads a part of the pages into the copy, and looks for the value on those behind it.  The copy
 * becomes complete after as many look-ups as there are parts, by whomever, none of which took long.
 *
 * The value of a code is on the one page that has the code.  Which one that is the session knows
 * after it has gone from page to page once, which reads of each no more than its header.
 *
 * What is read is checked as when a copy is read, but for values that are there twice.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "hold.h"
#include "index/dictionary.h"

#ifdef GPB_HOLD_POINTS
int			gpb_far_codes = 20000;
#endif

/* Each look-up reads so much of the dictionary into the copy: one part of this many */
#define GPB_SINGLE_PARTS	32

/*
 * A session keeps the value of one code of this many; then it reads all, which does not take many
 * times as long as it took to look these up.
 */
#define GPB_CODES_A_SINGLE	128

typedef struct GpbSingleValue
{
	uint32		code;
	uint32		column;
	struct varlena *value;
} GpbSingleValue;

/* What a session knows of pages that the copy lacked when it began */
struct GpbSingleValues
{
	GpbDictionaryPlace *page;	/* where they begin; in their order, without a gap */
	int			npages;
	int			room;
	uint32		most;			/* values that are kept */
	HTAB	   *values;			/* GpbSingleValue by code */
};

bool
gpb_dictionary_is_far(Relation index, GpbDictionary *dictionary, const GpbLayout *layout)
{
	uint32		codes;

	if (dictionary->complete)
		return false;
	codes = gpb_dictionary_counted(index, layout);
	gpb_dictionary_look(dictionary);
	return codes > dictionary->ncodes && codes - dictionary->ncodes >= gpb_far_codes;
}

/* Read a part of the pages into the copy. */
static void
read_part(Relation index, GpbDictionary *dictionary, const GpbLayout *layout)
{
	uint32		part = gpb_dictionary_counted(index, layout) / GPB_SINGLE_PARTS + 1;

	gpb_dictionary_look(dictionary);
	gpb_dictionary_read_some(index, dictionary, layout, dictionary->ncodes + part);
}

/* Where the copy ends; it has all values before that. */
static GpbDictionaryPlace
end_of_copy(const GpbDictionaryCopy *copy)
{
	GpbDictionaryPlace end;

	if (copy->lock != NULL)
		LWLockAcquire(copy->lock, LW_SHARED);
	end = copy->end;
	if (copy->lock != NULL)
		LWLockRelease(copy->lock);
	return end;
}

/* ---- the code of a value ---- */

/*
 * Look for a value on a page, which is locked, from the place on, which moves behind it, or to the
 * end of the page.  Returns its code, or GPB_NO_CODE.
 */
static uint32
find_on_page(Relation index, Page page, uint32 columns, GpbDictionaryPlace *place,
			 const GpbDictionaryValue *sought)
{
	int			end = ((PageHeader) page)->pd_lower;
	const char *fault = NULL;

	while (place->offset < end)
	{
		const GpbDictionaryValue *value = gpb_dictionary_next(page, columns, place, &fault);

		if (value == NULL)
			gpb_corrupted(index, place->block, fault);
		if (value->length == sought->length && value->column == sought->column &&
			memcmp(value + 1, sought + 1, sought->length) == 0)
			return place->code - 1;
	}
	if (place->code != gpb_special(page)->high_key)
		gpb_corrupted(index, place->block, "a page of the dictionary has fewer values than codes");
	return GPB_NO_CODE;
}

/*
 * Look for a value on all pages from the place on.  Returns its code, or GPB_NO_CODE: then the
 * place is the dictionary's end, and *last the buffer of its page, locked as "lock" says.
 */
static uint32
find_on_pages(Relation index, const GpbLayout *layout, uint32 columns, GpbDictionaryPlace *place,
			  const GpbDictionaryValue *sought, int lock, Buffer *last)
{
	for (;;)
	{
		Buffer		buffer = gpb_dictionary_lock(index, place, lock);
		uint32		code = find_on_page(index, BufferGetPage(buffer), columns, place, sought);
		BlockNumber right = gpb_special(BufferGetPage(buffer))->right;

		if (code == GPB_NO_CODE && right == GPB_NO_BLOCK)
		{
			gpb_dictionary_require(index, layout, place);
			*last = buffer;
			return GPB_NO_CODE;
		}
		UnlockReleaseBuffer(buffer);
		if (code != GPB_NO_CODE)
			return code;
		place->left = place->block;
		place->block = right;
		place->offset = GPB_PAGE_HEADER;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Whoever appends has looked at all values: at those of the copy, which has all before the place
 * that was asked for before it, then at those behind it with share locks, and at the last ones,
 * which came meanwhile, under the lock under which the value is appended.
 */
uint32
gpb_dictionary_single_code(Relation index, GpbDictionary *dictionary, const GpbLayout *layout,
						   int column, const char *bytes, int length, bool append)
{
	GpbPageValue sought;
	GpbDictionaryPlace place;
	uint32		columns;
	uint32		code;
	Buffer		last;

	read_part(index, dictionary, layout);
	place = end_of_copy(dictionary->copy);
	columns = dictionary->copy->columns;
	code = gpb_dictionary_find(dictionary, column, bytes, length,
							   gpb_dictionary_hash(column, bytes, length));
	if (code != GPB_NO_CODE)
		return code;
	gpb_page_value(&sought, column, bytes, length);
	code = find_on_pages(index, layout, columns, &place, &sought.value, BUFFER_LOCK_SHARE, &last);
	if (code != GPB_NO_CODE)
		return code;
	UnlockReleaseBuffer(last);
	if (!append)
		return GPB_NO_CODE;

	GPB_HOLD("dictionary-before-single-append");
	code = find_on_pages(index, layout, columns, &place, &sought.value, BUFFER_LOCK_EXCLUSIVE,
						 &last);
	if (code != GPB_NO_CODE)
		return code;
	if (place.code < gpb_dictionary_codes)
	{
		code = place.code;
		last = gpb_dictionary_put(index, last, layout, code, &sought.value);
	}
	UnlockReleaseBuffer(last);
	GPB_HOLD("dictionary-after-append");
	return code;
}

/* ---- the value of a code ---- */

/* Begin to know pages, of which the first is that of the copy's end, and values. */
static GpbSingleValues *
begin(GpbDictionary *dictionary, uint32 codes)
{
	MemoryContext context = dictionary->context;
	GpbSingleValues *single = MemoryContextAlloc(context, sizeof(GpbSingleValues));
	HASHCTL		control = {
		.keysize = sizeof(uint32),
		.entrysize = sizeof(GpbSingleValue),
		.hcxt = context
	};

	single->room = 64;
	single->page = MemoryContextAlloc(context, single->room * sizeof(GpbDictionaryPlace));
	single->page[0] = end_of_copy(dictionary->copy);
	single->npages = 1;
	single->most = codes / GPB_CODES_A_SINGLE + 1;
	single->values = hash_create("gpubtree single values", 64, &control,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return single;
}

/*
 * Note where the page begins that comes behind the last one known, which is the page "block": at
 * "right", with this code.
 */
static void
add_page(GpbSingleValues *single, BlockNumber block, BlockNumber right, uint32 code)
{
	GpbDictionaryPlace *page;

	if (single->npages == single->room)
	{
		single->page = repalloc(single->page, 2 * single->room * sizeof(GpbDictionaryPlace));
		single->room *= 2;
	}
	page = &single->page[single->npages++];
	page->block = right;
	page->left = block;
	page->code = code;
	page->offset = GPB_PAGE_HEADER;
}

/* The number of the last page known that begins with this code or one before it */
static int
page_of(const GpbSingleValues *single, uint32 code)
{
	int			low = 0;
	int			high = single->npages - 1;

	while (low < high)
	{
		int			middle = low + (high - low + 1) / 2;

		if (single->page[middle].code <= code)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/*
 * Lock the page that has a code, share, and put where it begins in *place.  Returns its buffer, or
 * InvalidBuffer if there is no such page.
 */
static Buffer
lock_page_of(Relation index, GpbSingleValues *single, uint32 code, GpbDictionaryPlace *place)
{
	int			n = page_of(single, code);

	for (;; n++)
	{
		GpbPageSpecial *special;
		Buffer		buffer;

		*place = single->page[n];
		buffer = gpb_dictionary_lock(index, place, BUFFER_LOCK_SHARE);
		special = gpb_special(BufferGetPage(buffer));
		if (code < special->high_key)
			return buffer;
		if (n + 1 == single->npages && special->right != GPB_NO_BLOCK)
			add_page(single, place->block, special->right, (uint32) special->high_key);
		UnlockReleaseBuffer(buffer);
		if (n + 1 == single->npages)
			return InvalidBuffer;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Copy the value of a code from its page, which is locked, and begins at the place. */
static struct varlena *
copy_value(Relation index, GpbDictionary *dictionary, Page page, GpbDictionaryPlace *place,
		   uint32 code, uint32 *column)
{
	const GpbDictionaryValue *value;
	const char *fault = NULL;
	struct varlena *copied;

	do
	{
		value = gpb_dictionary_next(page, dictionary->copy->columns, place, &fault);
		if (value == NULL)
			gpb_corrupted(index, place->block, fault);
	} while (place->code <= code);
	copied = MemoryContextAlloc(dictionary->context, VARHDRSZ + value->length);
	SET_VARSIZE(copied, VARHDRSZ + value->length);
	memcpy(VARDATA(copied), value + 1, value->length);
	*column = value->column;
	return copied;
}

/* Look a code up on its page and keep its value; NULL if there is no such page. */
static GpbSingleValue *
keep_value(Relation index, GpbDictionary *dictionary, uint32 code)
{
	GpbSingleValues *single = dictionary->single;
	GpbDictionaryPlace place;
	GpbSingleValue *kept;
	struct varlena *value;
	uint32		column;
	Buffer		buffer = lock_page_of(index, single, code, &place);

	if (!BufferIsValid(buffer))
		return NULL;
	value = copy_value(index, dictionary, BufferGetPage(buffer), &place, code, &column);
	UnlockReleaseBuffer(buffer);
	kept = hash_search(single->values, &code, HASH_ENTER, NULL);
	kept->column = column;
	kept->value = value;
	return kept;
}

const struct varlena *
gpb_dictionary_single_value(Relation index, GpbDictionary *dictionary, int column, uint32 code)
{
	GpbSingleValue *kept;

	if (dictionary->single == NULL)
	{
		const GpbLayout layout = *gpb_layout(index);

		read_part(index, dictionary, &layout);
		dictionary->single = begin(dictionary, gpb_dictionary_counted(index, &layout));
	}
	if (code < dictionary->single->page[0].code)
		return NULL;
	kept = hash_search(dictionary->single->values, &code, HASH_FIND, NULL);
	if (kept == NULL && hash_get_num_entries(dictionary->single->values) < dictionary->single->most)
		kept = keep_value(index, dictionary, code);
	return kept == NULL || kept->column != column ? NULL : kept->value;
}
