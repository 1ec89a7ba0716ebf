/*-------------------------------------------------------------------------
 *
 * build_merge.c
 *	  The sort of a build: in memory while its records fit, else by sorted runs that are merged.
 *
 * When the memory is full its records are sorted and written to a temporary file.  What comes in
 * order makes one run, however often the memory was full meanwhile.  A tree of losers merges the
 * runs; if they are too many for the memory to have a buffer for each, some are first merged to
 * longer ones.
 *
 * A file is written and read in units of UNIT_BYTES.  A unit has whole records of one run, so a run
 * begins with a unit and all its units but the last are full.
 *
 * Where several processes merge the same runs, each one a share of the records that is given by
 * ranks, each finds by binary search where in every run its share begins and ends.
 *
 *-------------------------------------------------------------------------
 */
#include "index/build.h"

#include "access/parallel.h"
#include "commands/tablespace.h"
#include "miscadmin.h"

#include "hold.h"

#define UNIT_BYTES		32768
#define UNIT_BLOCKS		(UNIT_BYTES / BLCKSZ)
/* The most units that are read at once */
#define MAX_READ_UNITS	32
/* Runs that can be merged at once, at least */
#define MIN_MERGED		8

typedef struct Run
{
	int64		first;			/* number of its first unit in its file */
	uint64		skip;			/* records of that unit that are not to be merged */
	uint64		count;			/* records to be merged */
	BufFile    *file;			/* means nothing in a file's directory */
} Run;

typedef struct RunList
{
	Run		   *runs;
	int			count;
	int			capacity;
} RunList;

/* A file to which runs are written */
typedef struct RunWriter
{
	const GpbRecordOrder *order;
	BufFile    *file;
	RunList    *list;
	int64		units;			/* units written */
	int			per_unit;
	int			in_unit;		/* records in the unit that is being filled */
	bool		is_open;		/* is the list's last run to be continued? */
	bool		is_first;		/* does the next record begin a sorted sequence? */
	char	   *unit;
	char	   *last;			/* the last record written */
} RunWriter;

/* A run that is being merged */
typedef struct RunReader
{
	uint64		word;			/* of the current record, its first */
	const char *record;			/* the current record */
	uint64		left;			/* records not passed yet, the current one included */
	int			in_unit;		/* records of its unit not passed yet, the current one included */
	int			units_left;		/* units in the buffer behind the current one */
	const char *unit;
	int64		next_unit;		/* of the file */
	BufFile    *file;
	char	   *buffer;
} RunReader;

struct GpbSorter
{
	GpbRecordOrder order;
	Size		bytes;
	SharedFileSet *files;
	const char *name;
	uint64		count;
	GpbMemorySort *memory;
	RunWriter	writer;			/* writer.file is NULL before something is written */
	RunList		list;
	List	   *opened;			/* BufFiles to be closed */
};

/* ---- writing runs ---- */

static Run *
list_add(RunList *list)
{
	if (list->count == list->capacity)
	{
		list->capacity = Max(2 * list->capacity, 16);
		list->runs = list->runs == NULL ? palloc(list->capacity * sizeof(Run)) :
			repalloc(list->runs, list->capacity * sizeof(Run));
	}
	memset(&list->runs[list->count], 0, sizeof(Run));
	return &list->runs[list->count++];
}

static inline int
records_per_unit(const GpbRecordOrder *order)
{
	return UNIT_BYTES / order->width;
}

static void
writer_begin(RunWriter *writer, const GpbRecordOrder *order, BufFile *file, RunList *list)
{
	memset(writer, 0, sizeof(*writer));
	writer->order = order;
	writer->file = file;
	writer->list = list;
	writer->per_unit = records_per_unit(order);
	writer->unit = palloc0(UNIT_BYTES);
	writer->last = palloc(order->width);
}

static void
writer_flush_unit(RunWriter *writer)
{
	if (writer->in_unit == 0)
		return;
	CHECK_FOR_INTERRUPTS();
	BufFileWrite(writer->file, writer->unit, UNIT_BYTES);
	writer->units++;
	writer->in_unit = 0;
}

/* A GpbSink: write a record. */
static void
writer_put(void *state, const char *record)
{
	RunWriter  *writer = (RunWriter *) state;
	int			width = writer->order->width;

	if (writer->is_first)
	{
		writer->is_first = false;
		if (!writer->is_open || gpb_record_cmp(writer->order, writer->last, record, 0) > 0)
		{
			Run		   *run;

			writer_flush_unit(writer);
			run = list_add(writer->list);
			run->first = writer->units;
			run->file = writer->file;
			writer->is_open = true;
		}
	}
	memcpy(writer->unit + writer->in_unit * width, record, width);
	writer->list->runs[writer->list->count - 1].count++;
	if (++writer->in_unit == writer->per_unit)
	{
		memcpy(writer->last, record, width);
		writer_flush_unit(writer);
	}
}

/* The sorted sequence has ended.  The next one makes a run of its own if it must. */
static void
writer_end_sequence(RunWriter *writer)
{
	int			width = writer->order->width;

	if (writer->in_unit > 0)
		memcpy(writer->last, writer->unit + (writer->in_unit - 1) * width, width);
	writer->is_first = true;
}

/* No record of the runs comes any more. */
static void
writer_end(RunWriter *writer)
{
	writer_flush_unit(writer);
	pfree(writer->unit);
	pfree(writer->last);
	writer->unit = NULL;
}

/* ---- merging ---- */

/* Go to the first record of the units that come next in the run's file. */
static void
reader_fill(RunReader *reader, const GpbRecordOrder *order, int buffer_units)
{
	int			per_unit = records_per_unit(order);
	int			units = (int) Min((reader->left + per_unit - 1) / per_unit, buffer_units);
	size_t		bytes = (size_t) units * UNIT_BYTES;

	CHECK_FOR_INTERRUPTS();
	if (BufFileSeekBlock(reader->file, (long) (reader->next_unit * UNIT_BLOCKS)) != 0 ||
		BufFileRead(reader->file, reader->buffer, bytes) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read a sorted run from a temporary file")));
	reader->next_unit += units;
	reader->unit = reader->buffer;
	reader->units_left = units - 1;
	reader->in_unit = per_unit;
	reader->record = reader->unit;
}

/* Go to the first record of a run, which is not empty. */
static void
reader_begin(RunReader *reader, const Run *run, const GpbRecordOrder *order, int buffer_units)
{
	reader->file = run->file;
	reader->left = run->skip + run->count;
	reader->next_unit = run->first;
	reader_fill(reader, order, buffer_units);
	reader->left -= run->skip;
	reader->in_unit -= run->skip;
	reader->record += run->skip * order->width;
	reader->word = gpb_record_word(order, reader->record, 0);
}

/* Go to the run's next record. */
static inline void
reader_next(RunReader *reader, const GpbRecordOrder *order, int buffer_units)
{
	if (--reader->left == 0)
		return;
	if (--reader->in_unit > 0)
		reader->record += order->width;
	else if (reader->units_left > 0)
	{
		reader->units_left--;
		reader->unit += UNIT_BYTES;
		reader->record = reader->unit;
		reader->in_unit = records_per_unit(order);
	}
	else
		reader_fill(reader, order, buffer_units);
	reader->word = gpb_record_word(order, reader->record, 0);
}

/* Is reader a's current record to come before that of b?  A reader at its end comes last. */
static inline bool
reader_wins(const GpbRecordOrder *order, const RunReader *a, const RunReader *b)
{
	if (a->left == 0 || b->left == 0)
		return a->left != 0;
	if (a->word != b->word)
		return a->word < b->word;
	return gpb_record_cmp(order, a->record, b->record, 1) < 0;
}

/*
 * Merge n runs into a sink.  tree[0] is the reader that wins, tree[i] the loser of the match at
 * node i, whose sides are nodes 2i and 2i + 1; reader r sits at node n + r.
 */
static void
merge_runs(const GpbRecordOrder *order, const Run *runs, int n, Size bytes,
		   GpbSink sink, void *state)
{
	int			buffer_units = (int) Min(Max(bytes / n / UNIT_BYTES, 1), MAX_READ_UNITS);
	RunReader  *readers = palloc0(n * sizeof(RunReader));
	int		   *tree = palloc(2 * n * sizeof(int));
	int			winner;

	for (int r = 0; r < n; r++)
	{
		readers[r].buffer = palloc((Size) buffer_units * UNIT_BYTES);
		reader_begin(&readers[r], &runs[r], order, buffer_units);
	}

	/* First note who wins at each node, then, going down, put who loses in its place. */
	for (int r = 0; r < n; r++)
		tree[n + r] = r;
	for (int i = n - 1; i > 0; i--)
		tree[i] = reader_wins(order, &readers[tree[2 * i + 1]], &readers[tree[2 * i]]) ?
			tree[2 * i + 1] : tree[2 * i];
	winner = n > 1 ? tree[1] : 0;
	for (int i = 1; i < n; i++)
		tree[i] = tree[i] == tree[2 * i] ? tree[2 * i + 1] : tree[2 * i];

	while (readers[winner].left > 0)
	{
		sink(state, readers[winner].record);
		reader_next(&readers[winner], order, buffer_units);
		for (int i = (n + winner) / 2; i > 0; i /= 2)
			if (reader_wins(order, &readers[tree[i]], &readers[winner]))
			{
				int			loser = winner;

				winner = tree[i];
				tree[i] = loser;
			}
	}

	for (int r = 0; r < n; r++)
		pfree(readers[r].buffer);
	pfree(readers);
	pfree(tree);
}

/* Merge runs to longer ones until all that are left can be merged at once. */
static void
merge_to_fit(GpbSorter *sorter)
{
	int			most = (int) Min(Max(sorter->bytes / UNIT_BYTES, MIN_MERGED), INT_MAX);

	while (sorter->list.count > most)
	{
		RunList		longer = {0};
		RunWriter	writer;
		List	   *read = sorter->opened;
		ListCell   *cell;

		PrepareTempTablespaces();
		writer_begin(&writer, &sorter->order, BufFileCreateTemp(false), &longer);
		sorter->opened = list_make1(writer.file);
		for (int from = 0; from < sorter->list.count; from += most)
		{
			writer.is_first = true;
			writer.is_open = false;
			merge_runs(&sorter->order, sorter->list.runs + from,
					   Min(most, sorter->list.count - from), sorter->bytes, writer_put, &writer);
			GPB_HOLD(IsParallelWorker() ? "build-worker-merges-runs" : "build-merges-runs");
		}
		writer_end(&writer);
		foreach(cell, read)
			BufFileClose((BufFile *) lfirst(cell));
		list_free(read);
		pfree(sorter->list.runs);
		sorter->list = longer;
	}
}

/* ---- shares of the records ---- */

/* Read a record of a run that skips none. */
static void
run_read(const GpbRecordOrder *order, const Run *run, uint64 i, char *record)
{
	int			per_unit = records_per_unit(order);
	int64		unit = run->first + i / per_unit;
	off_t		in_unit = (off_t) (i % per_unit) * order->width;

	if (BufFileSeekBlock(run->file, (long) (unit * UNIT_BLOCKS)) != 0 ||
		BufFileSeek(run->file, 0, in_unit, SEEK_CUR) != 0 ||
		BufFileRead(run->file, record, order->width) != order->width)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read a sorted run from a temporary file")));
}

/*
 * The number of a run's records that are before "record", or equal to it if or_equal says so.  It
 * is known to be from lo to hi.  "read" has room for a record.
 */
static uint64
run_rank(const GpbRecordOrder *order, const Run *run, uint64 lo, uint64 hi, const char *record,
		 bool or_equal, char *read)
{
	while (lo < hi)
	{
		uint64		middle = lo + (hi - lo) / 2;
		int			difference;

		run_read(order, run, middle, read);
		difference = gpb_record_cmp(order, read, record, 0);
		if (difference < 0 || (difference == 0 && or_equal))
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/*
 * Find how many records of each run are among the first "rank" of all.  Equal records are taken in
 * the order of their runs.
 *
 * For each run there are bounds, lo and hi, to its number.  The record in the middle of the widest
 * of these intervals has a rank, found by looking for it in each run between the bounds there, and
 * on one side of it all intervals end.
 */
static void
find_cut(const GpbRecordOrder *order, const RunList *list, uint64 rank, uint64 *lo)
{
	int			n = list->count;
	uint64	   *hi = palloc(n * sizeof(uint64));
	uint64	   *place = palloc(n * sizeof(uint64));
	char	   *pivot = palloc(order->width);
	char	   *read = palloc(order->width);

	for (int r = 0; r < n; r++)
	{
		lo[r] = 0;
		hi[r] = list->runs[r].count;
	}
	while (true)
	{
		int			widest = 0;
		uint64		before = 0;

		CHECK_FOR_INTERRUPTS();
		for (int r = 1; r < n; r++)
			if (hi[r] - lo[r] > hi[widest] - lo[widest])
				widest = r;
		if (lo[widest] == hi[widest])
			break;
		place[widest] = lo[widest] + (hi[widest] - lo[widest]) / 2;
		run_read(order, &list->runs[widest], place[widest], pivot);
		for (int r = 0; r < n; r++)
		{
			if (r != widest)
				place[r] = run_rank(order, &list->runs[r], lo[r], hi[r], pivot, r < widest, read);
			before += place[r];
		}
		if (before < rank)
		{
			place[widest]++;
			memcpy(lo, place, n * sizeof(uint64));
		}
		else
			memcpy(hi, place, n * sizeof(uint64));
	}
	pfree(hi);
	pfree(place);
	pfree(pivot);
	pfree(read);
}

/* Set the bounds of a cut, which has so many records of each run before it. */
static void
set_cut_bounds(const GpbRecordOrder *order, const RunList *list, const uint64 *before, GpbCut *cut)
{
	char	   *record = palloc(order->width);
	bool		has_before = false;
	bool		has_next = false;

	for (int r = 0; r < list->count; r++)
	{
		const Run  *run = &list->runs[r];

		if (before[r] > 0)
		{
			GpbBound	bound;

			run_read(order, run, before[r] - 1, record);
			bound = gpb_record_bound(order, record);
			if (!has_before || gpb_bound_less(cut->before, bound))
				cut->before = bound;
			has_before = true;
		}
		if (before[r] < run->count)
		{
			GpbBound	bound;

			run_read(order, run, before[r], record);
			bound = gpb_record_bound(order, record);
			if (!has_next || gpb_bound_less(bound, cut->next))
				cut->next = bound;
			has_next = true;
		}
	}
	pfree(record);
}

/* ---- the sorter ---- */

GpbSorter *
gpb_sorter_begin(const GpbRecordOrder *order, Size bytes, uint64 expected, SharedFileSet *files,
				 const char *name)
{
	GpbSorter  *sorter = palloc0(sizeof(GpbSorter));

	sorter->order = *order;
	sorter->bytes = bytes;
	sorter->files = files;
	sorter->name = name;
	sorter->memory = gpb_memory_sort_begin(order, bytes, expected);
	return sorter;
}

/* Write what is in memory to the sorter's file. */
static void
sorter_spill(GpbSorter *sorter)
{
	if (sorter->writer.file == NULL)
	{
		BufFile    *file;

		if (sorter->files != NULL)
			file = BufFileCreateFileSet(&sorter->files->fs, sorter->name);
		else
		{
			PrepareTempTablespaces();
			file = BufFileCreateTemp(false);
		}
		sorter->opened = lappend(sorter->opened, file);
		writer_begin(&sorter->writer, &sorter->order, file, &sorter->list);
		writer_end_sequence(&sorter->writer);
	}
	gpb_memory_sort_drain(sorter->memory, writer_put, &sorter->writer);
	writer_end_sequence(&sorter->writer);
}

void
gpb_sorter_put(GpbSorter *sorter, const GpbEntry *entry)
{
	const GpbRecordOrder *order = &sorter->order;
	char	   *place = gpb_memory_sort_place(sorter->memory);
	int			key_width = order->key_width;

	if (unlikely(place == NULL))
	{
		sorter_spill(sorter);
		place = gpb_memory_sort_place(sorter->memory);
	}
	/* Keys lie in memory with their low bytes first. */
	if (key_width == 8)
		memcpy(place, &entry->key, 8);
	else
		memcpy(place, &entry->key, key_width);
	memcpy(place + key_width, entry->row, GPB_LOCATOR_WIDTH);
	if (order->width > key_width + GPB_LOCATOR_WIDTH)
		memcpy(place + key_width + GPB_LOCATOR_WIDTH, entry->row + GPB_LOCATOR_WIDTH,
			   order->width - key_width - GPB_LOCATOR_WIDTH);
	gpb_memory_sort_add(sorter->memory);
	sorter->count++;
}

uint64
gpb_sorter_count(const GpbSorter *sorter)
{
	return sorter->count;
}

void
gpb_sorter_perform(GpbSorter *sorter)
{
	if (sorter->list.count == 0)
		return;					/* all in memory, where it is sorted while it is drained */
	if (gpb_memory_sort_count(sorter->memory) > 0)
		sorter_spill(sorter);
	if (sorter->writer.file != NULL)
		writer_end(&sorter->writer);
	gpb_memory_sort_end(sorter->memory);
	sorter->memory = NULL;
	merge_to_fit(sorter);
}

void
gpb_sorter_drain(GpbSorter *sorter, GpbSink sink, void *state)
{
	if (sorter->memory != NULL)
	{
		gpb_memory_sort_drain(sorter->memory, sink, state);
		gpb_memory_sort_end(sorter->memory);
		sorter->memory = NULL;	/* nor does the device keep anything while pages are synced */
	}
	else
		merge_runs(&sorter->order, sorter->list.runs, sorter->list.count, sorter->bytes,
				   sink, state);
}

void
gpb_sorter_export(GpbSorter *sorter, GpbSortedRunsFile *file)
{
	if (gpb_memory_sort_count(sorter->memory) > 0)
		sorter_spill(sorter);
	file->nruns = sorter->list.count;
	if (file->nruns == 0)
		return;
	writer_end(&sorter->writer);
	file->directory = sorter->writer.units;
	BufFileWrite(sorter->writer.file, sorter->list.runs, file->nruns * sizeof(Run));
	BufFileExportFileSet(sorter->writer.file);
}

void
gpb_sorter_import(GpbSorter *sorter, SharedFileSet *files, const char *name,
				  const GpbSortedRunsFile *file)
{
	BufFile    *opened;

	if (file->nruns == 0)
		return;
	opened = BufFileOpenFileSet(&files->fs, name, O_RDONLY, false);
	sorter->opened = lappend(sorter->opened, opened);
	if (BufFileSeekBlock(opened, (long) (file->directory * UNIT_BLOCKS)) != 0)
		elog(ERROR, "could not find the directory of sorted runs");
	for (int i = 0; i < file->nruns; i++)
	{
		Run		   *run = list_add(&sorter->list);

		if (BufFileRead(opened, run, sizeof(Run)) != sizeof(Run))
			elog(ERROR, "could not read the directory of sorted runs");
		run->file = opened;
		sorter->count += run->count;
	}
}

void
gpb_sorter_perform_share(GpbSorter *sorter, GpbCut *from, GpbCut *to)
{
	const GpbRecordOrder *order = &sorter->order;
	RunList    *list = &sorter->list;
	int			per_unit = records_per_unit(order);
	uint64	   *begin = palloc((list->count + 1) * sizeof(uint64));
	uint64	   *end = palloc((list->count + 1) * sizeof(uint64));
	int			kept = 0;

	if (list->count > 0)
	{
		find_cut(order, list, from->rank, begin);
		set_cut_bounds(order, list, begin, from);
		find_cut(order, list, to->rank, end);
		set_cut_bounds(order, list, end, to);
	}
	for (int r = 0; r < list->count; r++)
	{
		Run			run = list->runs[r];

		if (begin[r] == end[r])
			continue;
		run.first += begin[r] / per_unit;
		run.skip = begin[r] % per_unit;
		run.count = end[r] - begin[r];
		list->runs[kept++] = run;
	}
	list->count = kept;
	pfree(begin);
	pfree(end);
	gpb_sorter_perform(sorter);
}

void
gpb_sorter_end(GpbSorter *sorter)
{
	ListCell   *cell;

	foreach(cell, sorter->opened)
		BufFileClose((BufFile *) lfirst(cell));
	if (sorter->memory != NULL)
		gpb_memory_sort_end(sorter->memory);
	if (sorter->list.runs != NULL)
		pfree(sorter->list.runs);
	list_free(sorter->opened);
	pfree(sorter);
}
