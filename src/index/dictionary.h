/*-------------------------------------------------------------------------
 *
 * dictionary.h
 *	  The dictionary of an index: values of variable width in INCLUDE columns, as codes.
 *
 *	dictionary.c			from values to codes, and back
 *	dictionary_page.c		the pages: reading, appending, WAL
 *	dictionary_single.c		single values, of which the copy does not know yet
 *	dictionary_copy.c		a copy in memory: values by code, codes by value
 *	dictionary_kept.c		the copies that a backend uses
 *	dictionary_shared.c		copies in shared memory
 *	elsewhere.c				values that the dictionary has not
 *
 * A code is a number below GPB_DICTIONARY_CODES.  Each stands for one value of one column: its
 * bytes, which tell values apart as the equality of deterministic collations does.  Codes are given
 * in the order in which values come, and never taken back, whatever becomes of rows and of
 * transactions: what an entry or a program has for a code stays right as long as the file does.
 *
 * A value has its code on a page before any entry has the code, in WAL too.  So whoever has read an
 * entry finds its code, if need be after reading what was appended since.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_DICTIONARY_H
#define GPB_DICTIONARY_H

#include "storage/lwlock.h"

#include "index/index.h"

typedef struct GpbDictionary GpbDictionary;
typedef struct GpbSingleValues GpbSingleValues;

/* ---- dictionary_kept.c ---- */

/*
 * The copy of an index's dictionary that this backend uses, with what the pages had at some moment
 * since the index was opened: one in shared memory if there is one or can be.  It stays valid as
 * long as the index is open.  No page may be locked.
 */
extern GpbDictionary *gpb_dictionary(Relation index);
/*
 * The copy of the dictionary of an index that is being built, which is this backend's alone.  No
 * page may be locked.
 */
extern GpbDictionary *gpb_dictionary_of_build(Relation index);
/*
 * Forget the copy that this backend uses, and the shared one, whoever uses that: the index is built
 * anew in the same file, or its build has ended.
 */
extern void gpb_dictionary_forget(Relation index);

/* ---- dictionary_shared.c ---- */

extern void gpb_dictionary_define_settings(void);
extern void gpb_dictionary_request_shmem(void);
extern void gpb_dictionary_init_shmem(void);
/* Drop the shared copies of a file, or of all files of a database.  No LWLock may be held. */
extern void gpb_dictionary_drop_file(const RelFileNode *file);
extern void gpb_dictionary_drop_database(Oid database);
/* Has there ever been a shared copy?  Cheap. */
extern bool gpb_dictionary_was_shared(void);

#ifdef GPB_HOLD_POINTS
/* Codes from which on a dictionary is shared; settings of tests */
extern int	gpb_shared_codes;
extern int	gpb_shared_pieces;
#endif

/*
 * Codes that a copy must lack for single ones to be looked up on the pages: to read fewer takes
 * 2 ms.
 */
#ifdef GPB_HOLD_POINTS
extern int	gpb_far_codes;		/* a setting of tests */
#else
#define gpb_far_codes	20000
#endif

/* ---- dictionary.c ---- */

/*
 * The values of a row, with codes in the place of values of the dictionary's columns, in "coded".
 * New values are appended to the dictionary.  A value that is too long, or that comes when as many
 * are there as can be, has GPB_ELSEWHERE, and the index says so before anybody finds the entry.  No
 * page may be locked.
 */
extern Datum *gpb_dictionary_encode(Relation index, const GpbLayout *layout, const Datum *values,
									const bool *isnull, Datum *coded);
/* gpb_dictionary_encode() while the index is being built and has no metapage */
extern Datum *gpb_dictionary_build(Relation index, const GpbLayout *layout, const Datum *values,
								   const bool *isnull, Datum *coded);
/*
 * The number of codes that a build has given, for the metapage.  The build's copy is forgotten.
 */
extern uint32 gpb_dictionary_built(Relation index);
/*
 * The values of a row with codes, as of gpb_dictionary_encode(), but nothing is appended: a value
 * that is not there has GPB_ELSEWHERE.
 */
extern Datum *gpb_dictionary_recode(Relation index, const GpbLayout *layout, const Datum *values,
									const bool *isnull, Datum *coded);

/* No code */
#define GPB_NO_CODE		0xFFFFFFFF
/* In an entry: the value is in the table's row alone */
#define GPB_ELSEWHERE	0xFFFFFFFE

/*
 * The INCLUDE columns, as bits, of which an entry may have a value that is elsewhere, of all
 * entries whose rows a snapshot sees that was taken before.  No page may be locked.
 */
extern uint32 gpb_dictionary_elsewhere(Relation index, const GpbLayout *layout);
/*
 * Like gpb_dictionary_elsewhere(), for the planner, who need not know of entries that come
 * meanwhile: of an index without values that are elsewhere only the metapage is read.
 */
extern uint32 gpb_dictionary_planned_elsewhere(Relation index, const GpbLayout *layout);

/*
 * A column, counted from 1, of the row that an entry leads to, as the snapshot sees it; the value
 * is copied.  Returns false if the snapshot does not see the row.  The column is no expression.
 */
extern bool gpb_value_elsewhere(Relation heap, Relation index, Snapshot snapshot, ItemPointer tid,
								int attno, Datum *value, bool *isnull);
/*
 * A column, counted from 1, of the row that an entry leads to, which the snapshot is known to see;
 * the value is copied.  The column is no expression.
 */
extern Datum gpb_seen_value_elsewhere(Relation heap, Relation index, Snapshot snapshot,
									  const char *row, int attno, bool *isnull);

#ifdef GPB_HOLD_POINTS
extern int	gpb_dictionary_codes;	/* a setting of tests */
#else
#define gpb_dictionary_codes	GPB_DICTIONARY_CODES
#endif

/* The code of a value of an INCLUDE column, counted from 0; GPB_NO_CODE if no page has it. */
extern uint32 gpb_dictionary_code(Relation index, GpbDictionary *dictionary, int column,
								  Datum value);
/* Is there such a code? */
extern bool gpb_dictionary_has(Relation index, GpbDictionary *dictionary, int column,
							   uint32 code);

/*
 * Read all pages of the dictionary into a copy of its own in the current context, and so check
 * them: raises ERRCODE_INDEX_CORRUPTED.
 */
extern GpbDictionary *gpb_dictionary_read(Relation index);
/* The blocks that were read into a copy of our own; *n becomes their number. */
extern const BlockNumber *gpb_dictionary_blocks(const GpbDictionary *dictionary, int *n);
/* The codes of an index, as its metapage counts them: there are at least so many. */
extern uint32 gpb_dictionary_counted(Relation index, const GpbLayout *layout);

/* ---- copies; dictionary_copy.c ---- */

/* Memory of a copy is got in pieces of this size */
#define GPB_COPY_PIECE			((Size) 32 * 1024)
#define GPB_CODES_IN_PIECE		(GPB_COPY_PIECE / sizeof(void *))
#define GPB_CODE_PIECES \
	((GPB_DICTIONARY_CODES + GPB_CODES_IN_PIECE - 1) / GPB_CODES_IN_PIECE)
#define GPB_BUCKETS_IN_PIECE	(GPB_COPY_PIECE / sizeof(uint32))
#define GPB_BUCKET_PIECES \
	((GPB_DICTIONARY_CODES + GPB_BUCKETS_IN_PIECE - 1) / GPB_BUCKETS_IN_PIECE)

/* A value of a copy */
typedef struct GpbCopiedValue
{
	uint32		next;			/* code + 1 of the next one in its bucket; 0: there is none */
	uint32		hash;
	uint8		column;
	uint8		unused[3];
	int32		header[FLEXIBLE_ARRAY_MEMBER];	/* the value: a varlena with 4 bytes of header */
} GpbCopiedValue;

/*
 * Where reading goes on: at this offset of a page, all values before which were read.  The value
 * that comes next has the code.
 */
typedef struct GpbDictionaryPlace
{
	BlockNumber block;
	BlockNumber left;			/* the page before it, or GPB_NO_BLOCK */
	uint32		code;
	uint16		offset;
} GpbDictionaryPlace;

/*
 * Values in memory of a backend, or in shared memory.  Values whose codes are below ncodes never
 * change, and lie where they are as long as the copy does: who has read ncodes, and then a barrier,
 * reads them without a lock.  All else of a shared copy is under its lock, buckets and "next"
 * included.
 */
typedef struct GpbDictionaryCopy
{
	LWLock	   *lock;			/* NULL: the copy belongs to one backend */
	int			place;			/* of the shared copy (dictionary_shared.c) */
	uint64		serial;			/* which shared copy it is: its place may be another's later */
	MemoryContext context;		/* of a backend's copy */
	uint32		columns;		/* bit c: INCLUDE column c has codes */
	uint32		expected;		/* values that the pages had when the copy was begun, or 0 */
	pg_atomic_uint32 ncodes;	/* read so far */
	GpbDictionaryPlace end;		/* how far the pages were read; it has ncodes, too */

	char	   *free;			/* memory for values to come */
	Size		nfree;

	/* A hash table that grows bucket by bucket; a bucket has code + 1 of its first value, or 0 */
	uint32		nbuckets;
	uint32		bucket_mask;	/* a power of two less one: the least that is >= nbuckets - 1 */
	GpbCopiedValue **value[GPB_CODE_PIECES];	/* by code */
	uint32	   *bucket[GPB_BUCKET_PIECES];
} GpbDictionaryCopy;

/* What a backend has of a dictionary */
struct GpbDictionary
{
	Oid			index;
	RelFileNode file;
	GpbDictionaryCopy *copy;
	uint32		ncodes;			/* the copy had at least so many when this backend looked last */
	int			pinned;			/* place of the shared copy that stays for us; -1: there is none */
	uint64		serial;			/* of that copy */
	LocalTransactionId seen_by; /* our transaction that has made sure of the pin */
	uint32		elsewhere;		/* columns of which the pages say that values are elsewhere */
	bool		complete;		/* the copy has had all values that there were */
	GpbSingleValues *single;	/* values of codes that the copy lacked, or NULL */
	uint32		share_from;		/* codes of our own copy from which on we ask for a shared one */
	MemoryContext context;		/* of this, and of the copy if that is ours */
	BlockNumber *block;			/* blocks that were read into our own copy */
	int			nblocks;
	int			block_room;
};

/* What became of a value that was to be added */
typedef enum GpbAdded
{
	GPB_ADDED,
	GPB_ADDED_BEFORE,			/* it is there already */
	GPB_ADDED_NOWHERE			/* no shared memory is left; the copy is as it was */
} GpbAdded;

/* Begin a copy without values, of an index that has codes in these columns. */
static inline void
gpb_copy_begin(GpbDictionaryCopy *copy, LWLock *lock, int place, MemoryContext context,
			   uint32 columns)
{
	memset(copy, 0, sizeof(*copy));
	copy->lock = lock;
	copy->place = place;
	copy->context = context;
	copy->columns = columns;
	pg_atomic_init_u32(&copy->ncodes, 0);
	copy->end.block = GPB_DICTIONARY_BLOCK;
	copy->end.left = GPB_NO_BLOCK;
	copy->end.offset = GPB_PAGE_HEADER;
}

extern uint32 gpb_dictionary_hash(int column, const char *bytes, int length);
/* The code of a value in the copy, or GPB_NO_CODE.  The copy's lock is not held. */
extern uint32 gpb_dictionary_find(const GpbDictionary *dictionary, int column, const char *bytes,
								  int length, uint32 hash);
/*
 * Add the value that has the next code, as it lies on its page, with its gpb_dictionary_hash().
 * The lock of a shared copy is held exclusively.
 */
extern GpbAdded gpb_copy_add(GpbDictionaryCopy *copy, const GpbDictionaryValue *value,
							 uint32 hash);
/* Values that are added to a copy together, at most */
#define GPB_ADDED_TOGETHER		64
/* Fetch to the processor's cache what gpb_copy_add() will look at for values with these hashes. */
extern void gpb_copy_prefetch(const GpbDictionaryCopy *copy, const uint32 *hash, int n);
/* See how many codes the copy has by now. */
extern void gpb_dictionary_look(GpbDictionary *dictionary);

/* A value of a copy, which has the code and stays as long as the index is open. */
static inline const GpbCopiedValue *
gpb_copied_value(const GpbDictionaryCopy *copy, uint32 code)
{
	return copy->value[code / GPB_CODES_IN_PIECE][code % GPB_CODES_IN_PIECE];
}

/* Like gpb_dictionary_value(), of a code that the copy may lack or that is another column's */
extern Datum gpb_dictionary_read_value(Relation index, GpbDictionary *dictionary, int column,
									   uint32 code);

/*
 * The value of a code that an entry has in an INCLUDE column, counted from 0.  It lies in the copy,
 * as a varlena with a header of 4 bytes.  Raises ERRCODE_INDEX_CORRUPTED if there is no such code.
 * No page may be locked.
 */
static inline Datum
gpb_dictionary_value(Relation index, GpbDictionary *dictionary, int column, uint32 code)
{
	if (likely(code < dictionary->ncodes))
	{
		const GpbCopiedValue *value = gpb_copied_value(dictionary->copy, code);

		if (likely(value->column == column))
			return PointerGetDatum(value->header);
	}
	return gpb_dictionary_read_value(index, dictionary, column, code);
}

/*
 * Like gpb_entry_datum(), but what that has a code for becomes the value.  dictionary is NULL if
 * the index has none.  The snapshot sees the entry's row.
 */
static inline Datum
gpb_entry_value(Relation heap, Relation index, Snapshot snapshot, const GpbLayout *layout,
				GpbDictionary *dictionary, GpbKey key, const char *row, int attno, bool *isnull)
{
	Datum		value = gpb_entry_datum(layout, key, row, attno, isnull);

	if (dictionary == NULL || *isnull ||
		gpb_column_coding(layout, attno - 1) != GPB_CODING_DICTIONARY)
		return value;
	if (unlikely(DatumGetUInt32(value) == GPB_ELSEWHERE))
		return gpb_seen_value_elsewhere(heap, index, snapshot, row, attno, isnull);
	return gpb_dictionary_value(index, dictionary, attno - 1 - gpb_count_keys(layout),
								DatumGetUInt32(value));
}

/* ---- what dictionary_kept.c and dictionary_shared.c offer dictionary_page.c ---- */

/* Begin what a backend has of a dictionary, with a copy of its own, in a context below this one. */
extern GpbDictionary *gpb_dictionary_begin(Relation index, MemoryContext parent);
/* Note a block that is read into a copy of our own. */
extern void gpb_dictionary_add_block(GpbDictionary *dictionary, BlockNumber block);
/*
 * Go on with a copy of our own, which has no values yet, since there is no shared memory for the
 * other.  That stays as it is, for values of it are in use.  The copy's lock is not held.
 */
extern void gpb_dictionary_leave_shared(Relation index, GpbDictionary *dictionary);

/*
 * The shared copy of an index, pinned, which may have no values yet; NULL if there can be none.
 * codes is how many are to be expected, or 0.
 */
extern GpbDictionaryCopy *gpb_shared_pin(Relation index, uint32 columns, uint32 codes);
/*
 * Is the copy with this serial number, which was in this place, still pinned by this backend?  If
 * it is it stays so to the end of the transaction.
 */
extern bool gpb_shared_is_pinned(int place, uint64 serial);
/* Give up such a pin, if it is there. */
extern void gpb_shared_unpin(int place, uint64 serial);
/* Note that this shared copy can get no more values. */
extern void gpb_shared_exhausted(int place);
/* A piece of memory for a shared copy, whose lock is held; NULL if none is left. */
extern void *gpb_shared_piece(int place);

/* ---- dictionary_page.c ---- */

/* Make the first page, in a file that is empty; block 0 becomes a page of zeroes. */
extern void gpb_dictionary_create(Relation index);
/* Make a page without values. */
extern void gpb_dictionary_page_init(Page page, BlockNumber left, uint32 code);
/*
 * Read what was appended since the copy was read last.  No page may be locked.  layout is NULL
 * while the index is being built and has no metapage.  Raises ERRCODE_INDEX_CORRUPTED if the
 * dictionary ends before codes that the metapage counts.
 */
extern void gpb_dictionary_read_on(Relation index, GpbDictionary *dictionary,
								   const GpbLayout *layout);
/*
 * Read on, like gpb_dictionary_read_on(), until the copy has so many codes, or all that there are.
 */
extern void gpb_dictionary_read_some(Relation index, GpbDictionary *dictionary,
									 const GpbLayout *layout, uint32 codes);
/*
 * Append a value that the copy lacks, unless somebody else has done so meanwhile, or as many are
 * there as can be.  The copy has all that the pages have then.  layout as above.  No page may be
 * locked.
 */
extern void gpb_dictionary_append(Relation index, GpbDictionary *dictionary,
								  const GpbLayout *layout, const GpbDictionaryValue *value,
								  uint32 hash);

/*
 * The value at a place on its page, which is locked and was checked; the place moves behind it.
 * Returns NULL, and in *fault what is wrong, if there is none.  columns says which ones have codes.
 */
static inline const GpbDictionaryValue *
gpb_dictionary_next(Page page, uint32 columns, GpbDictionaryPlace *place, const char **fault)
{
	int			room = ((PageHeader) page)->pd_lower - place->offset;
	const GpbDictionaryValue *value = (const GpbDictionaryValue *)
		((const char *) page + place->offset);

	if (room < (int) sizeof(GpbDictionaryValue) || value->length > GPB_DICTIONARY_ROW_BYTES ||
		room < GPB_DICTIONARY_BYTES(value->length))
		*fault = "a value of the dictionary is longer than its page";
	else if (value->column >= 32 || (columns >> value->column & 1) == 0)
		*fault = "a value of the dictionary has no column";
	else if (place->code >= gpb_special(page)->high_key)
		*fault = "a page of the dictionary has more values than codes";
	else
	{
		place->offset += GPB_DICTIONARY_BYTES(value->length);
		place->code++;
		return value;
	}
	return NULL;
}

/*
 * Lock the page of a place, and check that the place is on it.  Returns its buffer.  Raises
 * ERRCODE_INDEX_CORRUPTED.
 */
extern Buffer gpb_dictionary_lock(Relation index, const GpbDictionaryPlace *place, int lock);
/* Raise the same if a dictionary that ends at this place lacks codes that the metapage counts. */
extern void gpb_dictionary_require(Relation index, const GpbLayout *layout,
								   const GpbDictionaryPlace *end);
/*
 * Append a value, as it lies on a page, to the last page, whose buffer is exclusively locked, or to
 * a new one behind it, as the value with this code.  Returns the buffer of the last page, locked
 * likewise.
 */
extern Buffer gpb_dictionary_put(Relation index, Buffer buffer, const GpbLayout *layout,
								 uint32 code, const GpbDictionaryValue *value);

/* A value as it lies on a page, with room for the longest */
typedef union GpbPageValue
{
	GpbDictionaryValue value;
	char		bytes[GPB_DICTIONARY_BYTES(GPB_DICTIONARY_ROW_BYTES)];
} GpbPageValue;

static inline void
gpb_page_value(GpbPageValue *value, int column, const char *bytes, int length)
{
	Assert(length <= GPB_DICTIONARY_ROW_BYTES);
	memset(value->bytes, 0, GPB_DICTIONARY_BYTES(length));
	value->value.length = length;
	value->value.column = column;
	memcpy(&value->value + 1, bytes, length);
}

/* ---- dictionary_single.c ---- */

/* Does the copy lack so many codes that a single one is better looked up on the pages? */
extern bool gpb_dictionary_is_far(Relation index, GpbDictionary *dictionary,
								  const GpbLayout *layout);
/*
 * The code of a value, looked for on all pages that the copy lacks; it is appended if "append" and
 * there is room, and GPB_NO_CODE if not there.  Each call also reads a part of the pages into the
 * copy.  No page may be locked.
 */
extern uint32 gpb_dictionary_single_code(Relation index, GpbDictionary *dictionary,
										 const GpbLayout *layout, int column, const char *bytes,
										 int length, bool append);
/*
 * The value of a code that the copy lacks, which stays as long as the index is open; NULL if it is
 * time to read all, or if no page has the code.
 */
extern const struct varlena *gpb_dictionary_single_value(Relation index,
														 GpbDictionary *dictionary, int column,
														 uint32 code);

/*
 * Have the pages say that a column, counted from 0, has a value that is elsewhere.  layout as
 * above.  No page may be locked.
 */
extern void gpb_dictionary_note_elsewhere(Relation index, GpbDictionary *dictionary,
										  const GpbLayout *layout, int column);

extern void gpb_redo_dictionary_page(XLogReaderState *record);
extern void gpb_redo_dictionary_value(XLogReaderState *record);

#endif							/* GPB_DICTIONARY_H */
