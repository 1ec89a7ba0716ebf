/*-------------------------------------------------------------------------
 *
 * dictionary_copy.c
 *	  A backend's copy of the dictionary of an index, in memory.
 *
 * Copies are kept by the index's OID as long as the backend lives, and belong to a file: an index
 * that has another file by now, as after REINDEX or TRUNCATE, has its copy read anew.  A file that
 * is built anew in place, which happens to indexes that the transaction has made, is told of by
 * gpb_dictionary_forget().  Nobody has an index open when either happens.
 *
 * The file's pages only ever get more values, so a copy is never wrong, and may be short: who
 * misses a value or a code in it reads on, from where the copy ends.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "index/dictionary.h"

/* Memory for values is got in pieces of this size */
#define GPB_VALUES_PIECE	((Size) 64 * 1024)

/* A backend's copies are kept by the index's OID. */
typedef struct GpbKeptDictionary
{
	Oid			index;
	GpbDictionary *dictionary;
} GpbKeptDictionary;

static HTAB *kept_dictionaries = NULL;
/* The place that was asked for last: groups ask for the same one, value after value. */
static GpbKeptDictionary *last_kept = NULL;

/* ---- values of a copy ---- */

uint32
gpb_dictionary_hash(int column, const char *bytes, int length)
{
	return hash_combine(murmurhash32(column), hash_bytes((const unsigned char *) bytes, length));
}

uint32
gpb_dictionary_find(const GpbDictionary *dictionary, int column, const char *bytes, int length,
					uint32 hash)
{
	uint32		i;

	for (i = hash & (dictionary->nslots - 1); dictionary->slot[i] != 0;
		 i = (i + 1) & (dictionary->nslots - 1))
	{
		const GpbCopiedValue *value = &dictionary->value[dictionary->slot[i] - 1];

		if (value->hash == hash && value->column == column &&
			VARSIZE(value->value) - VARHDRSZ == length &&
			memcmp(VARDATA(value->value), bytes, length) == 0)
			return dictionary->slot[i] - 1;
	}
	return GPB_NO_CODE;
}

/* Enter a code into the hash table, which has room. */
static void
enter_code(GpbDictionary *dictionary, uint32 code)
{
	uint32		i = dictionary->value[code].hash & (dictionary->nslots - 1);

	while (dictionary->slot[i] != 0)
		i = (i + 1) & (dictionary->nslots - 1);
	dictionary->slot[i] = code + 1;
}

/* Make room for one more value.  The copy is as it was if memory is lacking. */
static void
make_room(GpbDictionary *dictionary)
{
	uint32		room = 2 * dictionary->room;
	uint32	   *slot;
	uint32	   *old = dictionary->slot;

	if (dictionary->ncodes < dictionary->room)
		return;
	dictionary->value = repalloc_huge(dictionary->value, room * sizeof(GpbCopiedValue));
	slot = MemoryContextAllocExtended(dictionary->context, 2 * room * sizeof(uint32),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	dictionary->slot = slot;
	dictionary->nslots = 2 * room;
	dictionary->room = room;
	for (uint32 code = 0; code < dictionary->ncodes; code++)
		enter_code(dictionary, code);
	pfree(old);
}

/* Get the memory of a value, at a multiple of 8 bytes. */
static struct varlena *
value_memory(GpbDictionary *dictionary, Size bytes)
{
	struct varlena *value;

	bytes = MAXALIGN(bytes);
	if (bytes > dictionary->nfree)
	{
		dictionary->free = MemoryContextAlloc(dictionary->context, GPB_VALUES_PIECE);
		dictionary->nfree = GPB_VALUES_PIECE;
	}
	value = (struct varlena *) dictionary->free;
	dictionary->free += bytes;
	dictionary->nfree -= bytes;
	return value;
}

bool
gpb_dictionary_add(GpbDictionary *dictionary, int column, const char *bytes, int length)
{
	uint32		hash = gpb_dictionary_hash(column, bytes, length);
	GpbCopiedValue *value;

	if (gpb_dictionary_find(dictionary, column, bytes, length, hash) != GPB_NO_CODE)
		return false;
	make_room(dictionary);
	value = &dictionary->value[dictionary->ncodes];
	value->value = value_memory(dictionary, VARHDRSZ + length);
	SET_VARSIZE(value->value, VARHDRSZ + length);
	memcpy(VARDATA(value->value), bytes, length);
	value->hash = hash;
	value->column = column;
	enter_code(dictionary, dictionary->ncodes++);
	return true;
}

void
gpb_dictionary_add_block(GpbDictionary *dictionary, BlockNumber block)
{
	if (dictionary->nblocks == dictionary->block_room)
	{
		dictionary->block = repalloc(dictionary->block,
									 2 * dictionary->block_room * sizeof(BlockNumber));
		dictionary->block_room *= 2;
	}
	dictionary->block[dictionary->nblocks++] = block;
	dictionary->offset = GPB_PAGE_HEADER;
}

const BlockNumber *
gpb_dictionary_blocks(const GpbDictionary *dictionary, int *n)
{
	*n = dictionary->nblocks;
	return dictionary->block;
}

/* ---- copies ---- */

GpbDictionary *
gpb_dictionary_copy(Relation index, MemoryContext parent)
{
	TupleDesc	descriptor = RelationGetDescr(index);
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	MemoryContext context = AllocSetContextCreate(parent, "gpubtree dictionary",
												  ALLOCSET_DEFAULT_SIZES);
	GpbDictionary *dictionary = MemoryContextAllocZero(context, sizeof(GpbDictionary));

	dictionary->index = RelationGetRelid(index);
	dictionary->file = index->rd_node;
	/* The index may be being built, by a worker at that: then no metapage tells the layout. */
	for (int c = 0; c < descriptor->natts - nkeys; c++)
	{
		if (gpb_type_has_dictionary(TupleDescAttr(descriptor, nkeys + c)->atttypid))
			dictionary->columns |= (uint32) 1 << c;
	}
	dictionary->context = context;
	dictionary->room = 64;
	dictionary->value = MemoryContextAlloc(context, dictionary->room * sizeof(GpbCopiedValue));
	dictionary->nslots = 2 * dictionary->room;
	dictionary->slot = MemoryContextAllocZero(context, dictionary->nslots * sizeof(uint32));
	dictionary->block_room = 8;
	dictionary->block = MemoryContextAlloc(context, dictionary->block_room * sizeof(BlockNumber));
	gpb_dictionary_add_block(dictionary, GPB_DICTIONARY_BLOCK);
	return dictionary;
}

/* Drop the copies of indexes that are there no more. */
static void
drop_copies(void)
{
	HASH_SEQ_STATUS all;
	GpbKeptDictionary *kept;

	last_kept = NULL;
	hash_seq_init(&all, kept_dictionaries);
	while ((kept = hash_seq_search(&all)) != NULL)
	{
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(kept->index)))
			continue;
		if (kept->dictionary != NULL)
			MemoryContextDelete(kept->dictionary->context);
		hash_search(kept_dictionaries, &kept->index, HASH_REMOVE, NULL);
	}
}

/* Find the place of an index's copy, made at first use. */
static GpbKeptDictionary *
find_kept(Oid index)
{
	GpbKeptDictionary *kept;
	bool		found;

	if (last_kept != NULL && last_kept->index == index)
		return last_kept;
	if (kept_dictionaries == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(Oid),
			.entrysize = sizeof(GpbKeptDictionary),
			.hcxt = TopMemoryContext
		};

		kept_dictionaries = hash_create("gpubtree dictionaries", 16, &control,
										HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	kept = hash_search(kept_dictionaries, &index, HASH_FIND, NULL);
	if (kept == NULL)
	{
		drop_copies();
		kept = hash_search(kept_dictionaries, &index, HASH_ENTER, &found);
		kept->dictionary = NULL;
	}
	last_kept = kept;
	return kept;
}

void
gpb_dictionary_forget(Relation index)
{
	GpbKeptDictionary *kept = find_kept(RelationGetRelid(index));

	if (kept->dictionary != NULL)
		MemoryContextDelete(kept->dictionary->context);
	kept->dictionary = NULL;
}

GpbDictionary *
gpb_dictionary(Relation index)
{
	GpbKeptDictionary *kept = find_kept(RelationGetRelid(index));

	if (kept->dictionary != NULL && RelFileNodeEquals(kept->dictionary->file, index->rd_node))
		return kept->dictionary;
	gpb_dictionary_forget(index);
	kept->dictionary = gpb_dictionary_copy(index, TopMemoryContext);
	return kept->dictionary;
}
