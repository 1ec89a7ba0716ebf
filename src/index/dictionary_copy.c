/*-------------------------------------------------------------------------
 *
 * dictionary_copy.c
 *	  A copy of the dictionary of an index, in memory: values by code, codes by value.
 *
 * The file's pages only ever get more values, so a copy is never wrong, and may be short: who
 * misses a value or a code in it reads on, from where the copy ends.
 *
 * Whatever a copy has in memory stays where it is, since others may be reading it: arrays are
 * pieces that are never moved, and the hash table grows by one bucket for each value, as Litwin's
 * linear hashing does, so that nobody waits for a whole table to be made anew.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "common/hashfn.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "index/dictionary.h"

/* Values of a bucket that are prefetched; few buckets have more. */
#define GPB_PREFETCHED_DEPTH	2

/* Buckets of a copy without values */
#define GPB_FIRST_BUCKETS	64

/* Memory, of a piece at most, is taken from a piece at a multiple of 8 bytes */
StaticAssertDecl(offsetof(GpbCopiedValue, header) + VARHDRSZ + GPB_DICTIONARY_ROW_BYTES <=
				 GPB_COPY_PIECE, "a value must fit a piece");

/* ---- look-up ---- */

uint32
gpb_dictionary_hash(int column, const char *bytes, int length)
{
	return hash_combine(murmurhash32(column), hash_bytes((const unsigned char *) bytes, length));
}

/* The value of a code that the copy has */
static inline GpbCopiedValue *
value_at(const GpbDictionaryCopy *copy, uint32 code)
{
	return copy->value[code / GPB_CODES_IN_PIECE][code % GPB_CODES_IN_PIECE];
}

/* Where a bucket is that the copy has */
static inline uint32 *
bucket_at(const GpbDictionaryCopy *copy, uint32 bucket)
{
	return &copy->bucket[bucket / GPB_BUCKETS_IN_PIECE][bucket % GPB_BUCKETS_IN_PIECE];
}

/* The bucket of a hash value: of those that are not there yet, the one that will be split. */
static inline uint32
bucket_of(const GpbDictionaryCopy *copy, uint32 hash)
{
	uint32		bucket = hash & copy->bucket_mask;

	return bucket < copy->nbuckets ? bucket : bucket & copy->bucket_mask >> 1;
}

/* Like gpb_dictionary_find(), with the lock of a shared copy held. */
static uint32
find(const GpbDictionaryCopy *copy, int column, const char *bytes, int length, uint32 hash)
{
	uint32		next = copy->nbuckets == 0 ? 0 : *bucket_at(copy, bucket_of(copy, hash));

	while (next != 0)
	{
		const GpbCopiedValue *value = value_at(copy, next - 1);

		if (value->hash == hash && value->column == column &&
			VARSIZE(value->header) - VARHDRSZ == length &&
			memcmp(VARDATA(value->header), bytes, length) == 0)
			return next - 1;
		next = value->next;
	}
	return GPB_NO_CODE;
}

uint32
gpb_dictionary_find(const GpbDictionary *dictionary, int column, const char *bytes, int length,
					uint32 hash)
{
	const GpbDictionaryCopy *copy = dictionary->copy;
	uint32		code;

	if (copy->lock == NULL)
		return find(copy, column, bytes, length, hash);
	LWLockAcquire(copy->lock, LW_SHARED);
	code = find(copy, column, bytes, length, hash);
	LWLockRelease(copy->lock);
	return code;
}

void
gpb_dictionary_look(GpbDictionary *dictionary)
{
	dictionary->ncodes = pg_atomic_read_u32(&dictionary->copy->ncodes);
	/* Pairs with the barrier in gpb_copy_add(): values of codes that are counted can be read. */
	pg_read_barrier();
}

/* ---- growth ---- */

/* A piece of memory; NULL if no shared memory is left. */
static void *
get_piece(GpbDictionaryCopy *copy)
{
	return copy->lock == NULL ? MemoryContextAlloc(copy->context, GPB_COPY_PIECE) :
		gpb_shared_piece(copy->place);
}

/* Make room for this bucket; false if there is no memory. */
static bool
reserve_bucket(GpbDictionaryCopy *copy, uint32 bucket)
{
	uint32		piece = bucket / GPB_BUCKETS_IN_PIECE;

	if (copy->bucket[piece] == NULL)
		copy->bucket[piece] = get_piece(copy);
	return copy->bucket[piece] != NULL;
}

/* Add a bucket, for which there is room: move values to it from the one that it is split from. */
static void
add_bucket(GpbDictionaryCopy *copy)
{
	uint32		bucket = copy->nbuckets++;
	uint32	   *from;
	uint32	   *to;

	if (bucket > copy->bucket_mask)
		copy->bucket_mask = copy->bucket_mask << 1 | 1;
	from = bucket_at(copy, bucket & copy->bucket_mask >> 1);
	to = bucket_at(copy, bucket);
	*to = 0;
	while (*from != 0)
	{
		GpbCopiedValue *value = value_at(copy, *from - 1);
		uint32		moved = *from;

		if ((value->hash & copy->bucket_mask) != bucket)
		{
			from = &value->next;
			continue;
		}
		*from = value->next;
		value->next = *to;
		*to = moved;
	}
}

/*
 * Make the buckets of a copy without values, one for each that is expected, so that none is split
 * while these come; false if there is no memory.
 */
static bool
first_buckets(GpbDictionaryCopy *copy)
{
	uint32		n = Max(Min(copy->expected, GPB_DICTIONARY_CODES), GPB_FIRST_BUCKETS);

	for (uint32 bucket = 0; bucket < n; bucket++)
	{
		if (bucket % GPB_BUCKETS_IN_PIECE == 0 && !reserve_bucket(copy, bucket))
			return false;
		*bucket_at(copy, bucket) = 0;
	}
	copy->nbuckets = n;
	copy->bucket_mask = pg_nextpower2_32(n) - 1;
	return true;
}

/* Make room for a value of so many bytes, which are not taken yet; false if there is no memory. */
static bool
reserve_value(GpbDictionaryCopy *copy, uint32 code, Size bytes)
{
	uint32		piece = code / GPB_CODES_IN_PIECE;

	if (copy->value[piece] == NULL)
		copy->value[piece] = get_piece(copy);
	if (copy->nfree < bytes)
	{
		copy->free = get_piece(copy);
		copy->nfree = copy->free == NULL ? 0 : GPB_COPY_PIECE;
	}
	return copy->value[piece] != NULL && copy->free != NULL;
}

/*
 * The values of a large copy are in no cache, and to find that one is not there needs a bucket, the
 * place of its first value and that value, each of which tells where the next one is.  So all of
 * one kind are asked for before the first of the next kind is looked at.
 */
void
gpb_copy_prefetch(const GpbDictionaryCopy *copy, const uint32 *hash, int n)
{
	uint32		next[GPB_ADDED_TOGETHER];	/* like "next" of a value */

	Assert(n <= GPB_ADDED_TOGETHER);
	if (copy->nbuckets == 0)
		return;
	for (int i = 0; i < n; i++)
		__builtin_prefetch(bucket_at(copy, bucket_of(copy, hash[i])), 1);
	for (int i = 0; i < n; i++)
		next[i] = *bucket_at(copy, bucket_of(copy, hash[i]));
	for (int depth = 0; depth < GPB_PREFETCHED_DEPTH; depth++)
	{
		for (int i = 0; i < n; i++)
		{
			if (depth > 0 && next[i] != 0)
				next[i] = value_at(copy, next[i] - 1)->next;
			if (next[i] != 0)
				__builtin_prefetch(&copy->value[(next[i] - 1) / GPB_CODES_IN_PIECE]
								   [(next[i] - 1) % GPB_CODES_IN_PIECE]);
		}
		for (int i = 0; i < n; i++)
		{
			if (next[i] != 0)
				__builtin_prefetch(value_at(copy, next[i] - 1));
		}
	}
}

GpbAdded
gpb_copy_add(GpbDictionaryCopy *copy, const GpbDictionaryValue *added, uint32 hash)
{
	int			column = added->column;
	const char *bytes = (const char *) (added + 1);
	int			length = added->length;
	uint32		code = pg_atomic_read_u32(&copy->ncodes);
	Size		size = MAXALIGN(offsetof(GpbCopiedValue, header) + VARHDRSZ + length);
	GpbCopiedValue *value;
	uint32	   *bucket;

	if (find(copy, column, bytes, length, hash) != GPB_NO_CODE)
		return GPB_ADDED_BEFORE;
	Assert(code < GPB_DICTIONARY_CODES);
	if ((copy->nbuckets == 0 && !first_buckets(copy)) ||
		(copy->nbuckets == code && !reserve_bucket(copy, code)) ||
		!reserve_value(copy, code, size))
		return GPB_ADDED_NOWHERE;

	if (copy->nbuckets == code)
		add_bucket(copy);
	value = (GpbCopiedValue *) copy->free;
	copy->free += size;
	copy->nfree -= size;
	bucket = bucket_at(copy, bucket_of(copy, hash));
	value->next = *bucket;
	value->hash = hash;
	value->column = column;
	SET_VARSIZE(value->header, VARHDRSZ + length);
	memcpy(VARDATA(value->header), bytes, length);
	copy->value[code / GPB_CODES_IN_PIECE][code % GPB_CODES_IN_PIECE] = value;
	*bucket = code + 1;
	copy->end.code++;
	copy->end.offset += GPB_DICTIONARY_BYTES(length);
	/* Whoever reads the count and then its barrier finds the value. */
	pg_write_barrier();
	pg_atomic_write_u32(&copy->ncodes, code + 1);
	return GPB_ADDED;
}
