/*-------------------------------------------------------------------------
 *
 * batch_list.c
 *	  The list of a batch: its memory, what of the entries it has, limits.
 *
 * A limited list keeps the ranks of the best entries that are known to be visible.  An entry behind
 * the last of these is behind so many that count, so it is not wanted, whether or not it is visible
 * itself.  An entry of unknown visibility says nothing about others.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"

#include "large_array.h"
#include "engine/batch_engine.h"

/* Make room to keep as many ranks as the limit, if that takes no more than a part of the memory. */
static void
begin_limit(GpbBatch *batch, GpbListing *listing)
{
	uint32		limit = batch->program.limit;

	if (limit == 0 || limit > batch->memory / 8 / sizeof(uint64))
		return;
	listing->limited = true;
	listing->best.rank = gpb_alloc_array(batch->context, limit * sizeof(uint64));
}

void
gpb_batch_list_begin(GpbBatch *batch)
{
	GpbListing *listing;
	Size		width = batch->match_width;

	if (gpb_program_judges(&batch->program))
	{
		listing = MemoryContextAllocZero(batch->context, sizeof(GpbListing));
		listing->evaluator = gpb_batch_evaluator(batch);
		begin_limit(batch, listing);
		width += listing->limited ? sizeof(uint64) : 0;
		batch->listing = listing;
	}
	/* The list gets half of the memory, and the sorted ranges the other half. */
	batch->most_matches = Max(batch->memory / 2 / width, GPB_LIST_INITIAL);
}

void
gpb_batch_list_start(GpbBatch *batch)
{
	GpbListing *listing = batch->listing;

	if (listing == NULL)
		return;
	listing->prune_from = 0;
	if (listing->limited)
		gpb_best_begin(&listing->best, batch->program.limit, listing->best.rank);
}

void
gpb_batch_list_reserve(GpbBatch *batch, uint64 n)
{
	GpbListing *listing = batch->listing;
	uint64		room;

	Assert(n <= batch->most_matches);
	if (n <= batch->room)
		return;
	room = Min(Max(n, 2 * batch->room), batch->most_matches);
	batch->matches = batch->matches == NULL ?
		gpb_alloc_array(batch->context, room * batch->match_width) :
		gpb_realloc_array(batch->matches, room * batch->match_width);
	if (listing != NULL && listing->limited)
		listing->rank = listing->rank == NULL ?
			gpb_alloc_array(batch->context, room * sizeof(uint64)) :
			gpb_realloc_array(listing->rank, room * sizeof(uint64));
	batch->room = room;
}

/* ---- adding ---- */

/*
 * Is an entry of this rank not wanted?  If it is, and it is known to be visible, it counts for the
 * limit from now on.
 */
static inline bool
is_behind(GpbBatch *batch, bool seen, GpbJudgement judgement, uint64 rank)
{
	GpbListBest *best = &batch->listing->best;

	if (gpb_best_is_behind(best, rank))
		return true;
	if (seen && judgement == GPB_JUDGED_LISTED)
		gpb_best_add(best, rank);
	return false;
}

void
gpb_batch_list_add(GpbBatch *batch, uint32 i, bool seen, GpbJudgement judgement, uint64 rank,
				   GpbKey key, const char *row)
{
	uint32		flags = judgement == GPB_JUDGED_FAULTED ? GPB_RANGE_ENTRY_FAULTED : 0;

	if (batch->listing != NULL && batch->listing->limited &&
		is_behind(batch, seen, judgement, rank))
		return;
	Assert(batch->nmatches < batch->most_matches);
	if (unlikely(batch->nmatches == batch->room))
		gpb_batch_list_reserve(batch, batch->nmatches + 1);
	if (batch->listing != NULL && batch->listing->limited)
		batch->listing->rank[batch->nmatches] = rank;
	if (seen && !batch->heap_rows)
		flags |= GPB_RANGE_ENTRY_VISIBLE;
	else if (!batch->heap_rows)
		batch->nunknown++;
	gpb_entry_record(gpb_batch_match(batch, batch->nmatches++), i, flags, key, row,
					 &batch->program.layout);
}

void
gpb_batch_list_judge(GpbBatch *batch, uint32 i, bool seen, GpbKey key, const char *row)
{
	GpbJudgement judgement = GPB_JUDGED_LISTED;
	uint64		rank = 0;

	if (batch->listing != NULL)
		judgement = gpb_judge_entry(&batch->program, key, row, &rank);
	if (judgement != GPB_JUDGED_DROPPED)
		gpb_batch_list_add(batch, i, seen, judgement, rank, key, row);
}

/* The rank of an entry of a limited list */
static uint64
record_rank(const GpbBatch *batch, const GpbRangeEntry *record)
{
	uint64		rank = GPB_FAULTED_RANK;

	if ((record->flags & GPB_RANGE_ENTRY_FAULTED) == 0)
		(void) gpb_judge_entry(&batch->program, gpb_entry_key(record, &batch->program.layout),
							   record->row, &rank);
	return rank;
}

void
gpb_batch_list_record(GpbBatch *batch, uint32 i, const GpbRangeEntry *record)
{
	bool		limited = batch->listing != NULL && batch->listing->limited;

	gpb_batch_list_add(batch, i, (record->flags & GPB_RANGE_ENTRY_VISIBLE) != 0,
					   (record->flags & GPB_RANGE_ENTRY_FAULTED) != 0 ? GPB_JUDGED_FAULTED :
					   GPB_JUDGED_LISTED, limited ? record_rank(batch, record) : 0,
					   gpb_entry_key(record, &batch->program.layout), record->row);
}

void
gpb_batch_list_reordered(GpbBatch *batch, uint64 from)
{
	GpbListing *listing = batch->listing;
	uint64		i;

	for (i = from; listing != NULL && listing->limited && i < batch->nmatches; i++)
		listing->rank[i] = record_rank(batch, gpb_batch_match(batch, i));
}

/* ---- dropping ---- */

void
gpb_batch_list_take_back(GpbBatch *batch, uint64 n, uint64 nunknown)
{
	gpb_batch_list_reset(batch, n, nunknown);
	if (batch->listing != NULL)
		batch->listing->best.n = 0;
}

void
gpb_batch_list_visible(GpbBatch *batch, GpbRangeEntry *entry)
{
	const GpbListing *listing = batch->listing;
	uint64		i = ((char *) entry - batch->matches) / batch->match_width;

	entry->flags |= GPB_RANGE_ENTRY_VISIBLE;
	if (listing != NULL && listing->limited && (entry->flags & GPB_RANGE_ENTRY_FAULTED) == 0)
		gpb_best_add(&batch->listing->best, listing->rank[i]);
}

/*
 * Keep those entries of the list from number "from" on that are not behind the limit, and, if
 * visible is set, only those that are visible.
 */
static void
keep_matches(GpbBatch *batch, uint64 from, bool visible)
{
	GpbListing *listing = batch->listing;
	bool		limited = listing != NULL && listing->limited;
	uint64		kept = from;
	uint64		i;

	for (i = from; i < batch->nmatches; i++)
	{
		GpbRangeEntry *entry = gpb_batch_match(batch, i);
		bool		is_visible = (entry->flags & GPB_RANGE_ENTRY_VISIBLE) != 0;

		if ((visible && !is_visible) ||
			(limited && gpb_best_is_behind(&listing->best, listing->rank[i])))
		{
			if (!is_visible && !batch->heap_rows)
				batch->nunknown--;
			continue;
		}
		if (kept != i)
		{
			memcpy(gpb_batch_match(batch, kept), entry, batch->match_width);
			if (limited)
				listing->rank[kept] = listing->rank[i];
		}
		kept++;
	}
	batch->nmatches = kept;
}

bool
gpb_batch_list_prune(GpbBatch *batch)
{
	const GpbListing *listing = batch->listing;

	if (listing == NULL || !listing->limited)
		return false;
	keep_matches(batch, listing->prune_from, false);
	return batch->nmatches <= batch->most_matches / 2;
}

void
gpb_batch_list_complete(GpbBatch *batch)
{
	bool		limited = batch->listing != NULL && batch->listing->limited;

	if (batch->nunknown > 0 || limited)
		keep_matches(batch, 0, !batch->heap_rows && batch->nunknown > 0);
	batch->nunknown = 0;
}
