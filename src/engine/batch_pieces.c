/*-------------------------------------------------------------------------
 *
 * batch_pieces.c
 *	  Engine: the devices that have the pieces of an index that was cut.
 *
 * The ranges of a run are cut at the bounds of the pieces' ranges, which part all keys, so that
 * each entry is in exactly one part of a range.  What falls to a piece is answered by a batch of
 * its own, with the device's engine; requests to all devices are in flight together, as those of
 * several partitions are (ask.c).  Its answers are merged into those of the run, as those of
 * partitions are merged.  If a device is lost, hangs, or has no memory, the CPU answers what falls
 * to its piece, and no other part of the run begins anew.
 *
 * A list is handed out piece after piece, so entries come in the order of keys as far as a batch
 * has them so.
 *
 * The batches of pieces stay from run to run, as long as the index is cut as it was.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"

#include "large_array.h"
#include "engine/batch_engine.h"
#include "mirror/mirror.h"

/* What falls to a range of the cut */
typedef struct GpbPieceShare
{
	GpbBatch   *batch;			/* NULL before it was first asked */
	const void *ranges;			/* the run's, if all are its own, or made */
	void	   *made;
	uint32		n;
	uint32	   *number;			/* of each, its number in the run; NULL: its own place */
	int64	   *answers;		/* to each, or NULL */
	bool		submitted;
} GpbPieceShare;

struct GpbBatchPieces
{
	MemoryContext context;		/* of what lives for a run */
	GpbMirrorCut cut;
	int			at;				/* of a list: the range whose entries are handed out */
	bool		listing;		/* has it been asked? */
	GpbPieceShare share[GPB_MOST_RANGES];
};

/* ---- cutting ranges ---- */

/* The number of the range of the cut that has a key */
static int
range_of_key(const GpbMirrorCut *cut, GpbKey key)
{
	int			i = 0;

	while (i + 1 < cut->n && key >= cut->range[i + 1].lo.key)
		i++;
	return i;
}

/* The number of the range of the cut that has a bound */
static int
range_of_bound(const GpbMirrorCut *cut, GpbBound bound)
{
	int			i = 0;

	while (i + 1 < cut->n && !gpb_bound_less(bound, cut->range[i + 1].lo))
		i++;
	return i;
}

/* The bytes of a range as a batch has it */
static Size
range_size(GpbRangeForm form)
{
	return form == GPB_RANGE_POINTS ? sizeof(GpbKey) :
		form == GPB_RANGE_KEYS ? sizeof(GpbKeyRange) : sizeof(GpbRange);
}

/* The first and the last range of the cut that have a part of range i of the run. */
static void
ranges_met(const GpbBatch *batch, const GpbMirrorCut *cut, uint32 i, int *first, int *last)
{
	if (batch->form == GPB_RANGE_BOUNDS)
	{
		const GpbRange *range = (const GpbRange *) batch->ranges + i;

		*first = *last = range_of_bound(cut, range->lo);
		while (*last + 1 < cut->n && gpb_bound_less(cut->range[*last + 1].lo, range->hi))
			(*last)++;
	}
	else
	{
		GpbKeyRange keys = gpb_batch_keys(batch, i);

		*first = range_of_key(cut, keys.lo);
		*last = keys.hi > keys.lo ? range_of_key(cut, keys.hi) : *first;
	}
}

/* Write what of range i of the run lies in range p of the cut, where the range meets it. */
static void
put_part(const GpbBatch *batch, const GpbMirrorCut *cut, uint32 i, int p, bool begins, bool ends,
		 void *into)
{
	const GpbRange *part = &cut->range[p];

	if (batch->form == GPB_RANGE_POINTS)
		*(GpbKey *) into = ((const GpbKey *) batch->ranges)[i];
	else if (batch->form == GPB_RANGE_KEYS)
	{
		GpbKeyRange *keys = (GpbKeyRange *) into;

		*keys = ((const GpbKeyRange *) batch->ranges)[i];
		if (!begins)
			keys->lo = part->lo.key;
		if (!ends)
			keys->hi = part->hi.key - 1;
	}
	else
	{
		GpbRange   *range = (GpbRange *) into;

		*range = ((const GpbRange *) batch->ranges)[i];
		if (!begins)
			range->lo = part->lo;
		if (!ends)
			range->hi = part->hi;
	}
}

/* Cut the ranges of the run. */
static void
share_out(GpbBatch *batch, GpbBatchPieces *pieces)
{
	const GpbMirrorCut *cut = &pieces->cut;
	Size		size = range_size(batch->form);
	int			first;
	int			last;
	uint32		i;
	int			p;

	for (p = 0; p < cut->n; p++)
		pieces->share[p].n = 0;
	for (i = 0; i < batch->n; i++)
	{
		ranges_met(batch, cut, i, &first, &last);
		for (p = first; p <= last; p++)
			pieces->share[p].n++;
	}
	/* most small runs are of one piece */
	for (p = 0, last = 0; p < cut->n; p++)
		last += pieces->share[p].n > 0;
	for (p = 0; p < cut->n; p++)
	{
		GpbPieceShare *share = &pieces->share[p];

		share->ranges = batch->ranges;
		share->number = NULL;
		if (share->n == 0 || last == 1)
			continue;
		share->ranges = share->made = gpb_alloc_array(pieces->context, share->n * size);
		share->number = gpb_alloc_array(pieces->context, share->n * sizeof(uint32));
		share->n = 0;
	}
	if (last == 1)
		return;
	for (i = 0; i < batch->n; i++)
	{
		ranges_met(batch, cut, i, &first, &last);
		for (p = first; p <= last; p++)
		{
			GpbPieceShare *share = &pieces->share[p];

			put_part(batch, cut, i, p, p == first, p == last,
					 (char *) share->made + share->n * size);
			share->number[share->n++] = i;
		}
	}
}

/* ---- the batches of pieces ---- */

/* The batch that answers for a range of the cut */
static GpbBatch *
require_batch(GpbBatch *batch, GpbBatchPieces *pieces, int p)
{
	GpbPieceShare *share = &pieces->share[p];
	GpbBatchWant *want;
	MemoryContext caller;

	if (share->batch != NULL)
		return share->batch;
	caller = MemoryContextSwitchTo(batch->context);
	want = palloc0(sizeof(GpbBatchWant));
	want->form = batch->form;
	want->program = batch->program;
	/* as a plan has it: the batch makes room for wide sums, and begins with narrow ones */
	want->program.narrow_sums = false;
	want->heap_rows = batch->heap_rows;
	want->memory = batch->memory;
	share->batch = gpb_batch_begin(batch->heap, batch->index, batch->snapshot, want,
								   GPB_ENGINE_DEVICE);
	share->batch->piece = &pieces->cut.range[p];
	if (!batch->program.narrow_sums)
		gpb_batch_use_wide_sums(share->batch);
	pfree(want);
	MemoryContextSwitchTo(caller);
	return share->batch;
}

/* Begin what falls to a piece, if anything does. */
static void
submit_share(GpbBatch *batch, GpbBatchPieces *pieces, int p)
{
	GpbPieceShare *share = &pieces->share[p];
	GpbBatch   *own;

	if (share->n == 0 || share->submitted)
		return;
	own = require_batch(batch, pieces, p);
	share->answers = NULL;
	if (batch->answers != NULL)
		share->answers = gpb_alloc_array(pieces->context, (Size) share->n * own->widest);
	share->submitted = true;
	(void) gpb_batch_submit(own, share->ranges, share->n, share->answers, batch->keep_since);
}

static void
submit_all(GpbBatch *batch, GpbBatchPieces *pieces)
{
	int			p;

	for (p = 0; p < pieces->cut.n; p++)
		submit_share(batch, pieces, p);
}

/* End the batches; what they counted is the run's from now on. */
static void
end_batches(GpbBatch *batch, GpbBatchPieces *pieces)
{
	int			p;

	for (p = 0; p < pieces->cut.n; p++)
	{
		GpbPieceShare *share = &pieces->share[p];

		share->submitted = false;
		if (share->batch == NULL)
			continue;
		gpb_batch_pieces_count(batch, &batch->counters, p);
		gpb_batch_end(share->batch);
		share->batch = NULL;
	}
}

void
gpb_batch_pieces_count(const GpbBatch *batch, GpbBatchCounters *counters, int p)
{
	const GpbBatch *own = batch->pieces->share[p].batch;
	GpbBatchCounters more;

	if (own == NULL)
		return;
	more = *gpb_batch_counters(own);
	more.runs = more.ranges = 0;
	/* what is handed on, or merged, is counted there */
	if (batch->program.list_entries || batch->program.ngroups > 0)
		more.matches = 0;
	gpb_batch_counters_add(counters, &more);
}

int
gpb_batch_pieces_number(const GpbBatch *batch)
{
	return batch->pieces == NULL ? 0 : batch->pieces->cut.n;
}

/* Have the run use this cut; batches for another one end. */
void
gpb_batch_pieces_use(GpbBatch *batch, const GpbMirrorCut *cut)
{
	GpbBatchPieces *pieces = batch->pieces;
	MemoryContext context;

	if (pieces != NULL && pieces->cut.n == cut->n &&
		memcmp(pieces->cut.range, cut->range, sizeof(GpbRange) * cut->n) == 0)
		return;
	if (pieces != NULL)
		end_batches(batch, pieces);
	else
	{
		context = AllocSetContextCreate(batch->context, "gpubtree pieces", ALLOCSET_DEFAULT_SIZES);
		pieces = batch->pieces = MemoryContextAllocZero(batch->context, sizeof(GpbBatchPieces));
		pieces->context = context;
	}
	pieces->cut = *cut;
}

void
gpb_batch_pieces_end(GpbBatch *batch)
{
	if (batch->pieces != NULL)
		end_batches(batch, batch->pieces);
}

/* ---- what comes back ---- */

/* Name the engines of the pieces that were asked. */
static void
name_engines(GpbBatch *batch, const GpbBatchPieces *pieces)
{
	int			p;
	int			q;

	batch->device_name[0] = '\0';
	for (p = 0; p < pieces->cut.n; p++)
	{
		const char *name;

		if (pieces->share[p].n == 0 || pieces->share[p].batch == NULL)
			continue;
		name = pieces->share[p].batch->counters.engine;
		for (q = 0; q < p; q++)
		{
			if (pieces->share[q].n > 0 && pieces->share[q].batch != NULL &&
				strcmp(pieces->share[q].batch->counters.engine, name) == 0)
				break;
		}
		if (q < p)
			continue;
		if (batch->device_name[0] != '\0')
			strlcat(batch->device_name, ", ", sizeof(batch->device_name));
		strlcat(batch->device_name, name, sizeof(batch->device_name));
	}
}

/* Merge what a piece has in the ranges of its share into the run's answers. */
static void
merge_answers(GpbBatch *batch, const GpbPieceShare *share)
{
	int			words = batch->format.words;
	uint32		i;

	for (i = 0; i < share->n; i++)
	{
		const int64 *answer = share->answers + (Size) i * words;
		int64	   *into = gpb_batch_answer(batch, share->number == NULL ? i : share->number[i]);

		/* most ranges are of one piece */
		if (into[0] == 0)
			memcpy(into, answer, words * sizeof(int64));
		else
			gpb_answer_merge(&batch->format, into, answer);
	}
}

/* Merge the groups of a piece into the run's. */
static bool
merge_groups(GpbBatch *batch, const GpbPieceShare *share)
{
	int			width = batch->groups->width;
	GpbGroup   *copy = palloc(width);
	const GpbGroup *group;
	uint64		at = 0;
	bool		merged = true;

	while (merged && (group = gpb_batch_next_group(share->batch, &at)) != NULL)
	{
		memcpy(copy, group, width);
		if (batch->program.by_range && share->number != NULL)
			copy->number = share->number[group->number];
		merged = gpb_batch_program_merge(batch, copy, 1, 0);
	}
	pfree(copy);
	return merged;
}

/* Complete what falls to a piece, and add it to the run. */
static GpbFillOutcome
take_share(GpbBatch *batch, GpbPieceShare *share)
{
	GpbBatch   *own = share->batch;

	gpb_batch_finish(own);
	share->submitted = false;
	if (gpb_batch_gave_up(own, NULL))
	{
		batch->evaluator->outcome = own->evaluator->outcome;
		return GPB_FILL_GAVE_UP;
	}
	if (own->format.words != batch->format.words)
	{
		/* a narrow sum did not hold a value there, so all are to be wide */
		gpb_batch_program_unheld(batch);
		return GPB_FILL_GAVE_UP;
	}
	if (batch->groups != NULL)
		return merge_groups(batch, share) ? GPB_FILL_DONE : GPB_FILL_GAVE_UP;
	if (batch->answers != NULL)
		merge_answers(batch, share);
	else
		gpb_answer_merge(&batch->format, batch->total, gpb_batch_total(own));
	return GPB_FILL_DONE;
}

/* ---- lists ---- */

/* Take a part of the list of a piece. */
static void
take_matches(GpbBatch *batch, const GpbPieceShare *share, const char *matches, uint64 n)
{
	uint64		i;

	for (i = 0; i < n; i++)
	{
		const GpbRangeEntry *entry = (const GpbRangeEntry *) (matches + i * batch->match_width);
		uint32		number = share->number == NULL ? entry->number : share->number[entry->number];

		if (batch->listing != NULL && batch->listing->limited)
			gpb_batch_list_record(batch, number, entry);
		else
		{
			GpbRangeEntry *into = gpb_batch_match(batch, batch->nmatches++);

			memcpy(into, entry, batch->match_width);
			into->number = number;
		}
	}
}

/* Go on with the list: hand the next part of a piece's list on. */
static GpbFillOutcome
pieces_list(GpbBatch *batch, GpbBatchPieces *pieces)
{
	for (; pieces->at < pieces->cut.n; pieces->at++)
	{
		GpbPieceShare *share = &pieces->share[pieces->at];
		char	   *matches;
		uint64		n;

		if (share->n == 0)
			continue;
		if (!pieces->listing)
			gpb_batch_run(require_batch(batch, pieces, pieces->at), share->ranges, share->n, NULL);
		pieces->listing = true;
		matches = (char *) gpb_batch_matches(share->batch, &n);
		name_engines(batch, pieces);
		if (matches != NULL)
		{
			gpb_batch_list_reserve(batch, batch->nmatches + n);
			take_matches(batch, share, matches, n);
			return GPB_FILL_FULL;
		}
		pieces->listing = false;
	}
	return GPB_FILL_DONE;
}

/* ---- the engine ---- */

static void
batch_pieces_start(GpbBatch *batch)
{
	GpbBatchPieces *pieces = batch->pieces;

	Assert(batch->first == 0);
	batch->state = pieces;
	batch->counters.engine = batch->device_name;
	pieces->at = 0;
	pieces->listing = false;
	share_out(batch, pieces);
}

static bool
batch_pieces_submit(GpbBatch *batch)
{
	submit_all(batch, (GpbBatchPieces *) batch->state);
	return true;
}

static GpbFillOutcome
batch_pieces_fill(GpbBatch *batch)
{
	GpbBatchPieces *pieces = (GpbBatchPieces *) batch->state;
	GpbFillOutcome outcome = GPB_FILL_DONE;
	int			p;

	if (batch->program.list_entries)
		return pieces_list(batch, pieces);
	submit_all(batch, pieces);
	for (p = 0; p < pieces->cut.n && outcome == GPB_FILL_DONE; p++)
	{
		if (pieces->share[p].n > 0)
			outcome = take_share(batch, &pieces->share[p]);
	}
	name_engines(batch, pieces);
	/* nothing is left in flight */
	if (outcome != GPB_FILL_DONE)
		end_batches(batch, pieces);
	return outcome;
}

static void
batch_pieces_end(GpbBatch *batch)
{
	GpbBatchPieces *pieces = (GpbBatchPieces *) batch->state;
	bool		in_flight = pieces->listing;
	int			p;

	batch->state = NULL;
	for (p = 0; p < pieces->cut.n; p++)
		in_flight = in_flight || pieces->share[p].submitted;
	if (in_flight)
		end_batches(batch, pieces);
	MemoryContextReset(pieces->context);
}

const GpbBatchEngine gpb_batch_pieces = {
	.name = "pieces",
	.stores_answers = false,
	.start = batch_pieces_start,
	.submit = batch_pieces_submit,
	.fill = batch_pieces_fill,
	.end = batch_pieces_end
};
