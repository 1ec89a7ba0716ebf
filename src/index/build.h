/*-------------------------------------------------------------------------
 *
 * build.h
 *	  What the files of CREATE INDEX share: the sorter, the runs, the loader, parallel workers.
 *
 * All of them handle records.  A record is an entry as a leaf holds it: the key, in the layout's
 * width, and directly behind it the row.  Records are ordered by key and tie, and those of one
 * layout have one width.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BUILD_H
#define GPB_BUILD_H

#include "index/index.h"

#include "port/atomics.h"
#include "storage/buffile.h"
#include "storage/sharedfileset.h"

/* Take the next record, in index order.  It is valid during the call. */
typedef void (*GpbSink) (void *state, const char *record);

/* ---- build_sort.c: sorting in memory ---- */

/* A key has one word or two, and the tie is the last. */
#define GPB_SORT_MAX_WORDS		3

/* Where a word of a record lies: in 8 bytes, of which mask has those that belong to it */
typedef struct GpbSortWord
{
	int			offset;
	uint64		mask;
} GpbSortWord;

/* How records of a layout are compared: by their words, one after the other */
typedef struct GpbRecordOrder
{
	int			width;			/* bytes of a record, a multiple of 4 */
	int			key_width;
	int			nwords;
	GpbSortWord word[GPB_SORT_MAX_WORDS];
} GpbRecordOrder;

extern void gpb_record_order(const GpbLayout *layout, GpbRecordOrder *order);

static inline uint64
gpb_record_word(const GpbRecordOrder *order, const char *record, int word)
{
	uint64		bits;

	memcpy(&bits, record + order->word[word].offset, sizeof(bits));
	return bits & order->word[word].mask;
}

/*
 * Compare two records by their words from number "word" on.  Returns a number below, equal to or
 * above 0 as a is before, equal to or after b.
 */
static inline int
gpb_record_cmp(const GpbRecordOrder *order, const char *a, const char *b, int word)
{
	for (; word < order->nwords; word++)
	{
		uint64		x = gpb_record_word(order, a, word);
		uint64		y = gpb_record_word(order, b, word);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

/* The key of a record.  Keys lie in memory with their low bytes first. */
static inline GpbKey
gpb_record_key(const GpbRecordOrder *order, const char *record)
{
	GpbKey		key = 0;

	memcpy(&key, record, order->key_width);
	return key;
}

/* The record's place in the index's order. */
static inline GpbBound
gpb_record_bound(const GpbRecordOrder *order, const char *record)
{
	GpbBound	bound;

	bound.key = gpb_record_key(order, record);
	bound.tie = gpb_row_locator(record + order->key_width) & GPB_TIE_MASK;
	return bound;
}

typedef struct GpbMemorySort GpbMemorySort;

/*
 * Begin a sort of records that takes about "bytes" of memory, in the current context.  About
 * "expected" records will come, which a device may sort; 0: no device is asked.
 */
extern GpbMemorySort *gpb_memory_sort_begin(const GpbRecordOrder *order, Size bytes,
											uint64 expected);
/* Get the place for the next record, or NULL if there is none left. */
extern char *gpb_memory_sort_place(GpbMemorySort *sort);
/* The record at the place that gpb_memory_sort_place() returned is complete. */
extern void gpb_memory_sort_add(GpbMemorySort *sort);
/* The number of records it has. */
extern uint64 gpb_memory_sort_count(const GpbMemorySort *sort);
/* Give the records to the sink, sorted.  The sort is empty afterwards. */
extern void gpb_memory_sort_drain(GpbMemorySort *sort, GpbSink sink, void *state);
/* Give the memory back. */
extern void gpb_memory_sort_end(GpbMemorySort *sort);

/* ---- build_merge.c: sorting what does not fit ---- */

typedef struct GpbSorter GpbSorter;

/* Where the file of a sort's runs says which runs it has */
typedef struct GpbSortedRunsFile
{
	int64		directory;		/* its place in the file */
	int			nruns;
} GpbSortedRunsFile;

/*
 * Begin a sort that takes about "bytes" of memory, of about "expected" records, which a device may
 * sort; 0: no device is asked.  With a file set, all of it is written to the set's file "name" as
 * sorted runs, for another process to merge; without one, only what does not fit is, to a temporary
 * file.
 */
extern GpbSorter *gpb_sorter_begin(const GpbRecordOrder *order, Size bytes, uint64 expected,
								   SharedFileSet *files, const char *name);
extern void gpb_sorter_put(GpbSorter *sorter, const GpbEntry *entry);
/* The number of entries that came. */
extern uint64 gpb_sorter_count(const GpbSorter *sorter);
/* All entries are there: make ready for gpb_sorter_drain(). */
extern void gpb_sorter_perform(GpbSorter *sorter);
/* Give all records to the sink, in order.  This can be done once. */
extern void gpb_sorter_drain(GpbSorter *sorter, GpbSink sink, void *state);
/* Instead of both, of a sort with a file set: finish its file. */
extern void gpb_sorter_export(GpbSorter *sorter, GpbSortedRunsFile *file);
/* Add the records of a finished file to a sort that has no file set. */
extern void gpb_sorter_import(GpbSorter *sorter, SharedFileSet *files, const char *name,
							  const GpbSortedRunsFile *file);

/* A place among all records of a sort */
typedef struct GpbCut
{
	uint64		rank;			/* the number of records before it */
	GpbBound	before;			/* of the last record before it, unless it is at the beginning */
	GpbBound	next;			/* of the first one behind it, unless it is at the end */
} GpbCut;

/*
 * After the imports and instead of gpb_sorter_perform(), keep the records from rank *from to rank
 * *to alone, whose bounds are set, and make ready to drain these.
 */
extern void gpb_sorter_perform_share(GpbSorter *sorter, GpbCut *from, GpbCut *to);
extern void gpb_sorter_end(GpbSorter *sorter);

/* ---- build_scan.c ---- */

/*
 * Read the table, or this process's share of it if a parallel scan is given, and put its entries
 * into the sorter; for a unique index those of dead rows have the dead hint.  Returns the number of
 * rows read.
 */
extern double gpb_build_scan(Relation heap, Relation index, IndexInfo *info,
							 const GpbLayout *layout, bool progress, GpbSorter *sorter,
							 TableScanDesc scan);
/* About how many rows of the table the index is to have; where that is not known, not many. */
extern uint64 gpb_build_expected(Relation heap, const IndexInfo *info);

/* ---- build_load.c: writing the tree ---- */

typedef struct GpbLoad GpbLoad;

/* Begin to load the index, whose file is empty.  "runs" says whether leaves may get runs. */
extern GpbLoad *gpb_load_begin(Relation index, const GpbLayout *layout,
							   const GpbRecordOrder *order, bool runs);
/* A GpbSink: add a record, which must be at or after all those before. */
extern void gpb_load_record(void *load, const char *record);
/*
 * Write what is left and the metapage, which names the builder (gpb_meta_builder()).  The index is
 * complete, and the file is safe.
 */
extern void gpb_load_end(GpbLoad *load, uint64 builder);

/*
 * The leaves of a tree that several processes load.  Their places are those that one process would
 * give them.
 */
typedef struct GpbLeaves
{
	BlockNumber base;			/* block of the first */
	int			limit;			/* entries on each but the last */
	int			inner_limit;	/* entries on a page above the leaves */
	uint64		records;
	int64		count;
} GpbLeaves;

/* Plan the leaves for so many records, and extend the file to the last of them. */
extern void gpb_leaves_plan(Relation index, const GpbLayout *layout, uint64 records,
							GpbLeaves *leaves);
/*
 * Begin to load a share of the leaves, from number "first" on, whose first record is at the cut.
 * Separators of the leaves are written to a file.  all_done counts the records of all shares.
 */
extern GpbLoad *gpb_load_begin_share(Relation index, const GpbLayout *layout,
									 const GpbRecordOrder *order, const GpbLeaves *leaves,
									 int64 first, const GpbCut *cut, BufFile *separators,
									 pg_atomic_uint64 *all_done);
/* Write what is left of the share, which ends at the cut. */
extern void gpb_load_end_share(GpbLoad *load, const GpbCut *cut);
/* When all shares are loaded: begin to load what is above them, to be ended by gpb_load_end(). */
extern GpbLoad *gpb_load_begin_upper(Relation index, const GpbLayout *layout,
									 const GpbRecordOrder *order, const GpbLeaves *leaves,
									 pg_atomic_uint64 *all_done);
/* Add the next leaf, which has been written, by the separator before it. */
extern void gpb_load_leaf(GpbLoad *load, GpbBound separator);

/* ---- build_unique.c ---- */

typedef struct GpbUniqueLoad GpbUniqueLoad;

/* The records of live rows at the ends of what one process loads */
typedef struct GpbUniqueEnds
{
	bool		is_empty;		/* are there none? */
	GpbBound	last;
	char		first[GPB_WIDE_KEY + GPB_MAX_ROW_WIDTH];
} GpbUniqueEnds;

/* Begin to load a unique index through "load".  The table is named in errors. */
extern GpbUniqueLoad *gpb_unique_load_begin(Relation heap, Relation index,
											const GpbLayout *layout,
											const GpbRecordOrder *order, GpbLoad *load);
/*
 * A GpbSink: load a record.  Raises ERRCODE_UNIQUE_VIOLATION if it equals one before.  Records with
 * the dead hint, which is taken away, equal none.
 */
extern void gpb_unique_load_record(void *unique_load, const char *record);
/* The ends of what was loaded; valid until gpb_unique_load_end(). */
extern const GpbUniqueEnds *gpb_unique_load_ends(const GpbUniqueLoad *unique_load);
/*
 * A share of the records was loaded elsewhere, without duplicates within: raise the error if its
 * first one equals one before.
 */
extern void gpb_unique_load_share(GpbUniqueLoad *unique_load, const GpbUniqueEnds *ends);
extern void gpb_unique_load_end(GpbUniqueLoad *unique_load);
/* Load all records of a sort, of a unique index if is_unique is set; heap is named in errors. */
extern void gpb_build_drain(GpbSorter *sorter, Relation heap, Relation index, bool is_unique,
							const GpbLayout *layout, const GpbRecordOrder *order, GpbLoad *load);

/* ---- build_parallel.c ---- */

typedef struct GpbParallelBuild GpbParallelBuild;

/* What all processes of a build have read together */
typedef struct GpbBuildCounts
{
	double		heap_tuples;
	double		index_tuples;
} GpbBuildCounts;

/*
 * Read the table and sort its entries with parallel workers, this process being one of them; the
 * workers then wait to load the leaves.  Returns NULL if there are to be no workers, or none could
 * be had: then nothing was read.
 */
extern GpbParallelBuild *gpb_parallel_build(Relation heap, Relation index, IndexInfo *info,
											const GpbLayout *layout, GpbBuildCounts *counts);
/* Load the leaves, with the workers; gpb_load_end() is still to be called. */
extern GpbLoad *gpb_parallel_build_load(GpbParallelBuild *build);
/* Wait for the workers to end. */
extern void gpb_parallel_build_end(GpbParallelBuild *build);

#endif							/* GPB_BUILD_H */
