/*-------------------------------------------------------------------------
 *
 * dictionary.h
 *	  The dictionary of an index: values of variable width in INCLUDE columns, as codes.
 *
 *	dictionary.c		from values to codes, and back
 *	dictionary_page.c	the pages: reading, appending, WAL
 *	dictionary_copy.c	a backend's copy, in memory
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

#include "index/index.h"

typedef struct GpbDictionary GpbDictionary;

/* ---- dictionary_copy.c ---- */

/*
 * This backend's copy of an index's dictionary, with what the pages had at some moment since the
 * index was opened.  It stays valid as long as the index is open.
 */
extern GpbDictionary *gpb_dictionary(Relation index);
/* Forget the copy, since the index is built anew in the same file. */
extern void gpb_dictionary_forget(Relation index);

/* ---- dictionary.c ---- */

/*
 * The values of a row, with codes in the place of values of the dictionary's columns, in "coded".
 * New values are appended to the dictionary.  Raises ERRCODE_PROGRAM_LIMIT_EXCEEDED if the row's
 * are too long, or too many values are there.  No page may be locked.
 */
extern Datum *gpb_dictionary_encode(Relation index, const GpbLayout *layout, const Datum *values,
									const bool *isnull, Datum *coded);
/* Likewise, while the index is being built and has no metapage. */
extern Datum *gpb_dictionary_build(Relation index, const GpbLayout *layout, const Datum *values,
								   const bool *isnull, Datum *coded);
/* The number of codes that a build has given, for the metapage */
extern uint32 gpb_dictionary_built(Relation index);
/* Likewise, but nothing is appended: a value that is not there has code GPB_NO_CODE. */
extern Datum *gpb_dictionary_recode(Relation index, const GpbLayout *layout, const Datum *values,
									const bool *isnull, Datum *coded);

#define GPB_NO_CODE		0xFFFFFFFF

/*
 * The value of a code that an entry has in an INCLUDE column, counted from 0.  It lies in the
 * backend's copy, as a varlena with a header of 4 bytes.  Raises ERRCODE_INDEX_CORRUPTED if there
 * is no such code.  No page may be locked.
 */
extern Datum gpb_dictionary_value(Relation index, GpbDictionary *dictionary, int column,
								  uint32 code);
/* The code of a value of an INCLUDE column, counted from 0; GPB_NO_CODE if no page has it. */
extern uint32 gpb_dictionary_code(Relation index, GpbDictionary *dictionary, int column,
								  Datum value);
/* Is there such a code? */
extern bool gpb_dictionary_has(Relation index, GpbDictionary *dictionary, int column,
							   uint32 code);

/*
 * Like gpb_entry_datum(), but what that has a code for becomes the value.  dictionary is NULL if
 * the index has none.
 */
static inline Datum
gpb_entry_value(Relation index, const GpbLayout *layout, GpbDictionary *dictionary, GpbKey key,
				const char *row, int attno, bool *isnull)
{
	Datum		value = gpb_entry_datum(layout, key, row, attno, isnull);

	if (dictionary != NULL && !*isnull &&
		gpb_column_coding(layout, attno - 1) == GPB_CODING_DICTIONARY)
		value = gpb_dictionary_value(index, dictionary, attno - 1 - gpb_count_keys(layout),
									 DatumGetUInt32(value));
	return value;
}

/*
 * Read all pages of the dictionary into a copy of its own in the current context, and so check
 * them: raises ERRCODE_INDEX_CORRUPTED.
 */
extern GpbDictionary *gpb_dictionary_read(Relation index);
/* The blocks that were read into a copy; *n becomes their number. */
extern const BlockNumber *gpb_dictionary_blocks(const GpbDictionary *dictionary, int *n);

/* ---- what the three files share; dictionary_copy.c ---- */

/* A value in the backend's copy */
typedef struct GpbCopiedValue
{
	struct varlena *value;
	uint32		hash;
	uint8		column;
} GpbCopiedValue;

struct GpbDictionary
{
	Oid			index;
	RelFileNode file;
	uint32		columns;		/* bit c: INCLUDE column c has codes */
	MemoryContext context;		/* of what follows */
	uint32		ncodes;			/* read so far */
	uint32		room;			/* in value */
	GpbCopiedValue *value;		/* by code */
	uint32	   *slot;			/* hash table with linear probing: code + 1, or 0 */
	uint32		nslots;			/* a power of two */
	char	   *free;			/* memory for values to come */
	Size		nfree;

	/* How far the pages were read: all of those before the last one, and of that up to "offset" */
	BlockNumber *block;
	int			nblocks;
	int			block_room;
	uint16		offset;
};

/* Make a copy without values, whose memory is in a context below this one. */
extern GpbDictionary *gpb_dictionary_copy(Relation index, MemoryContext parent);
extern uint32 gpb_dictionary_hash(int column, const char *bytes, int length);
/* The code of a value in the copy, or GPB_NO_CODE */
extern uint32 gpb_dictionary_find(const GpbDictionary *dictionary, int column, const char *bytes,
								  int length, uint32 hash);
/* Add the value that has the next code.  Returns false if it is there already. */
extern bool gpb_dictionary_add(GpbDictionary *dictionary, int column, const char *bytes,
							   int length);
/* Add a block to those that the copy has of the file. */
extern void gpb_dictionary_add_block(GpbDictionary *dictionary, BlockNumber block);

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
 * Append a value that the copy lacks, unless somebody else has done so meanwhile.  The copy has it
 * afterwards.  layout as above.
 */
extern void gpb_dictionary_append(Relation index, GpbDictionary *dictionary,
								  const GpbLayout *layout, int column, const char *bytes,
								  int length);

extern void gpb_redo_dictionary_page(XLogReaderState *record);
extern void gpb_redo_dictionary_value(XLogReaderState *record);

#endif							/* GPB_DICTIONARY_H */
