/*-------------------------------------------------------------------------
 *
 * dictionary_kept.c
 *	  The copies of dictionaries that a backend uses.
 *
 * They are kept by the index's OID as long as the backend lives, and belong to a file: an index
 * that has another file by now, as after REINDEX or TRUNCATE, has another copy.  A file that is
 * built anew in place, which happens to indexes that the transaction has made, is told of by
 * gpb_dictionary_forget().  Nobody has an index open when either happens.
 *
 * A copy is in shared memory, where a pin keeps it for this backend, if the dictionary is large
 * enough to be worth it and others may have the file too.  Else it is this backend's.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "index/dictionary.h"

/* Codes from which on a dictionary is shared: to read fewer takes each backend half a ms. */
#ifdef GPB_HOLD_POINTS
int			gpb_shared_codes = 1000;
#else
#define gpb_shared_codes 1000
#endif

typedef struct GpbKeptDictionary
{
	Oid			index;
	GpbDictionary *dictionary;
} GpbKeptDictionary;

static HTAB *kept_dictionaries = NULL;
/* The place that was asked for last: groups ask for the same one, value after value. */
static GpbKeptDictionary *last_kept = NULL;

/* ---- one copy ---- */

/* The columns of an index that have codes, as bits */
static uint32
coded_columns(Relation index)
{
	TupleDesc	descriptor = RelationGetDescr(index);
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	uint32		columns = 0;

	/* The index may be being built, by a worker at that: then no metapage tells the layout. */
	for (int c = 0; c < descriptor->natts - nkeys; c++)
	{
		if (gpb_type_has_dictionary(TupleDescAttr(descriptor, nkeys + c)->atttypid))
			columns |= (uint32) 1 << c;
	}
	return columns;
}

/* Begin what a backend has of a dictionary, without a copy. */
static GpbDictionary *
begin(Relation index, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "gpubtree dictionary",
												  ALLOCSET_SMALL_SIZES);
	GpbDictionary *dictionary = MemoryContextAllocZero(context, sizeof(GpbDictionary));

	dictionary->index = RelationGetRelid(index);
	dictionary->file = index->rd_node;
	dictionary->pinned = -1;
	dictionary->share_from = Max(gpb_shared_codes, 1);
	dictionary->context = context;
	return dictionary;
}

/* Begin a copy of our own.  It is there once all its memory is: the session may find it again. */
static void
begin_copy(Relation index, GpbDictionary *dictionary)
{
	MemoryContext context = dictionary->context;
	GpbDictionaryCopy *copy = MemoryContextAlloc(context, sizeof(GpbDictionaryCopy));

	gpb_copy_begin(copy, NULL, -1, context, coded_columns(index));
	dictionary->block = MemoryContextAlloc(context, 8 * sizeof(BlockNumber));
	dictionary->block_room = 8;
	dictionary->copy = copy;
	dictionary->ncodes = 0;
	dictionary->complete = false;
	dictionary->block[0] = GPB_DICTIONARY_BLOCK;
	dictionary->nblocks = 1;
}

GpbDictionary *
gpb_dictionary_begin(Relation index, MemoryContext parent)
{
	GpbDictionary *dictionary = begin(index, parent);

	begin_copy(index, dictionary);
	return dictionary;
}

void
gpb_dictionary_leave_shared(Relation index, GpbDictionary *dictionary)
{
	gpb_shared_exhausted(dictionary->pinned);
	begin_copy(index, dictionary);
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
}

const BlockNumber *
gpb_dictionary_blocks(const GpbDictionary *dictionary, int *n)
{
	*n = dictionary->nblocks;
	return dictionary->block;
}

/*
 * May other backends use this file's dictionary?  Not if the transaction has made the file, which
 * may be built anew in place, or go.
 */
static bool
may_share(Relation index)
{
	return index->rd_rel->relpersistence != RELPERSISTENCE_TEMP && index->rd_index->indisready &&
		index->rd_createSubid == InvalidSubTransactionId &&
		index->rd_newRelfilenodeSubid == InvalidSubTransactionId &&
		index->rd_firstRelfilenodeSubid == InvalidSubTransactionId;
}

uint32
gpb_dictionary_counted(Relation index, const GpbLayout *layout)
{
	GpbMeta		meta;

	gpb_read_meta(index, layout, &meta);
	return gpb_meta_codes(&meta);
}

/*
 * Use the shared copy, if there can be one.  Values of our own copy may be in use: that stays, and
 * is small.
 */
static void
use_shared(Relation index, GpbDictionary *dictionary, uint32 codes)
{
	GpbDictionaryCopy *copy = gpb_shared_pin(index, coded_columns(index), codes);

	if (copy == NULL)
		return;
	dictionary->pinned = copy->place;
	dictionary->serial = copy->serial;
	dictionary->seen_by = GPB_LOCAL_TRANSACTION(MyProc);
	dictionary->copy = copy;
	dictionary->complete = false;
	gpb_dictionary_look(dictionary);
}

/* ---- all copies ---- */

static void
free_dictionary(GpbDictionary *dictionary)
{
	int			pinned = dictionary->pinned;

	dictionary->pinned = -1;
	if (pinned >= 0)
		gpb_shared_unpin(pinned, dictionary->serial);
	MemoryContextDelete(dictionary->context);
}

/* on_shmem_exit callback: give up the pins of shared copies. */
static void
unpin_all(int code, Datum arg)
{
	HASH_SEQ_STATUS all;
	GpbKeptDictionary *kept;

	hash_seq_init(&all, kept_dictionaries);
	while ((kept = hash_seq_search(&all)) != NULL)
	{
		if (kept->dictionary != NULL && kept->dictionary->pinned >= 0)
			gpb_shared_unpin(kept->dictionary->pinned, kept->dictionary->serial);
	}
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
			free_dictionary(kept->dictionary);
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
		on_shmem_exit(unpin_all, (Datum) 0);
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

/* Forget what this backend has of an index's dictionary. */
static void
forget(GpbKeptDictionary *kept)
{
	GpbDictionary *dictionary = kept->dictionary;

	kept->dictionary = NULL;
	if (dictionary != NULL)
		free_dictionary(dictionary);
}

void
gpb_dictionary_forget(Relation index)
{
	forget(find_kept(RelationGetRelid(index)));
	gpb_dictionary_drop_file(&index->rd_node);
}

/*
 * Has somebody taken away the pin of the shared copy since the last transaction that used it?  Note
 * that this one has asked.
 */
static pg_noinline bool
has_lost_pin(GpbDictionary *dictionary)
{
	dictionary->seen_by = GPB_LOCAL_TRANSACTION(MyProc);
	return dictionary->pinned >= 0 &&
		!gpb_shared_is_pinned(dictionary->pinned, dictionary->serial);
}

/* The copy of this file that is kept, or NULL: then nothing is. */
static GpbDictionary *
kept_of_file(GpbKeptDictionary *kept, Relation index)
{
	GpbDictionary *dictionary = kept->dictionary;

	if (dictionary != NULL &&
		(!RelFileNodeEquals(dictionary->file, index->rd_node) ||
		 (dictionary->seen_by != GPB_LOCAL_TRANSACTION(MyProc) && has_lost_pin(dictionary))))
		forget(kept);
	return kept->dictionary;
}

/* Begin to use an index's dictionary. */
static GpbDictionary *
first_use(Relation index)
{
	uint32		codes = may_share(index) ? gpb_dictionary_counted(index, gpb_layout(index)) : 0;
	/* Nothing below raises an error once there is a pin. */
	GpbDictionary *dictionary = begin(index, CurrentMemoryContext);
	GpbKeptDictionary *kept = find_kept(RelationGetRelid(index));

	if (codes >= Max(gpb_shared_codes, 1))
		use_shared(index, dictionary, codes);
	if (dictionary->copy == NULL)
		begin_copy(index, dictionary);
	MemoryContextSetParent(dictionary->context, TopMemoryContext);
	kept->dictionary = dictionary;
	return dictionary;
}

GpbDictionary *
gpb_dictionary(Relation index)
{
	GpbDictionary *dictionary = kept_of_file(find_kept(RelationGetRelid(index)), index);

	if (unlikely(dictionary == NULL))
		return first_use(index);
	/* Our own copy has grown. */
	if (unlikely(dictionary->pinned < 0 && dictionary->ncodes >= dictionary->share_from))
	{
		dictionary->share_from = 2 * dictionary->ncodes;
		if (may_share(index))
			use_shared(index, dictionary, dictionary->ncodes);
	}
	return dictionary;
}

GpbDictionary *
gpb_dictionary_of_build(Relation index)
{
	GpbKeptDictionary *kept = find_kept(RelationGetRelid(index));

	if (kept_of_file(kept, index) == NULL)
		kept->dictionary = gpb_dictionary_begin(index, TopMemoryContext);
	return kept->dictionary;
}
